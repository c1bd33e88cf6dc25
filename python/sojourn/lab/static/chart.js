// Line charts, drawn as SVG in the available width.

import { draw, make, show } from "./dom.js";
import { LETTERS } from "./letters.js";
import { linearScale, logScale } from "./scale.js";

const HEIGHT = 220;
const LETTER_PX = 13;
const MARGIN = { left: 46, right: 22, top: 10, bottom: 38 };

/** A figure that is redrawn when its data or width changes. */
export class Chart {
  constructor() {
    this.title = make("figcaption");
    this.place = make("div", { class: "chart" });
    this.summary = make("p", { class: "faint" });
    this.element = make("figure", {}, this.title, this.place, this.summary);
    this.width = 0;
    new ResizeObserver(([entry]) => {
      const width = Math.floor(entry.contentRect.width);
      if (width && width !== this.width) {
        this.width = width;
        this.redraw();
      }
    }).observe(this.place);
  }

  show(figure) {
    this.figure = figure;
    this.redraw();
  }

  redraw() {
    if (!this.figure) return;
    show(this.title, this.figure.title);
    const { lines } = this.figure;
    const isOne = lines.length === 1;
    this.words = lines.map(line => `${isOne ? "" : `${LETTERS[line.index]}: `}${line.summary}`);
    show(this.summary, `${this.words.join("; ")}.`);
    if (!this.width) return;
    this.svg = drawing(this.figure, this.words.join("; "), this.width);
    show(this.place, this.svg);
  }
}

function drawing(figure, summary, width) {
  const { x, y } = scales(figure, width);
  const svg = draw(
    "svg",
    {
      width,
      height: HEIGHT,
      viewBox: `0 0 ${width} ${HEIGHT}`,
      role: "img",
      "aria-label": `${figure.title}. ${summary}.`,
    },
    ...axes(figure, x, y, width),
  );
  for (const line of figure.lines)
    svg.append(draw("path", { class: `line line-${line.index}`, d: path(line, x, y) }));
  if (figure.lines.length > 1) svg.append(...marks(figure.lines, x, y));
  return svg;
}

function scales(figure, width) {
  const isLog = figure.kind === "latency";
  const xs = figure.lines.flatMap(line => line.x).filter(value => value !== null);
  const ys = figure.lines.flatMap(line => line.y).filter(value => value !== null);
  const right = width - MARGIN.right;
  const low = isLog ? Math.max(0.01, xs.reduce((a, b) => Math.min(a, b)) * 0.8) : 0;
  const high = isLog ? xs.reduce((a, b) => Math.max(a, b)) * 1.2 : xs.reduce((a, b) => Math.max(a, b));
  const x = (isLog ? logScale : linearScale)(low, high, MARGIN.left, right);
  const top = ys.reduce((a, b) => Math.max(a, b)) * 1.05 || 1;
  const y = linearScale(0, isLog ? 100 : top, HEIGHT - MARGIN.bottom, MARGIN.top);
  return { x, y };
}

function axes(figure, x, y, width) {
  const bottom = HEIGHT - MARGIN.bottom;
  const right = width - MARGIN.right;
  const parts = [];
  for (const tick of y.ticks(4)) {
    parts.push(
      draw("line", { class: "grid", x1: MARGIN.left, x2: right, y1: y.at(tick), y2: y.at(tick) }),
    );
    parts.push(
      draw("text", { x: MARGIN.left - 6, y: y.at(tick) + 4, "text-anchor": "end" }, `${tick}`),
    );
  }
  for (const tick of x.ticks(Math.max(3, width / 70))) {
    parts.push(
      draw("line", { class: "grid", x1: x.at(tick), x2: x.at(tick), y1: MARGIN.top, y2: bottom }),
    );
    parts.push(draw("text", { x: x.at(tick), y: bottom + 15, "text-anchor": "middle" }, `${tick}`));
  }
  parts.push(
    draw(
      "text",
      { x: (MARGIN.left + right) / 2, y: HEIGHT - 5, "text-anchor": "middle" },
      figure.x,
    ),
  );
  parts.push(
    draw(
      "text",
      {
        x: 11,
        y: (MARGIN.top + bottom) / 2,
        "text-anchor": "middle",
        transform: `rotate(-90 11 ${(MARGIN.top + bottom) / 2})`,
      },
      figure.y,
    ),
  );
  return parts;
}

function path(line, x, y) {
  let pen = "M";
  let d = "";
  for (const [index, value] of line.y.entries()) {
    if (value === null) {
      pen = "M";
      continue;
    }
    d += `${pen}${x.at(line.x[index]).toFixed(1)} ${y.at(value).toFixed(1)}`;
    pen = "L";
  }
  return d;
}

/** The letter of each line, at its end, where no other letter is. */
function marks(lines, x, y) {
  const lowest = HEIGHT - MARGIN.bottom - 3;
  const placed = [];
  const isFree = (left, top) =>
    placed.every(other => Math.abs(other.left - left) > LETTER_PX || Math.abs(other.top - top) >= LETTER_PX);
  return lines.flatMap(line => {
    const last = line.y.findLastIndex(value => value !== null);
    if (last < 0) return [];
    const left = x.at(line.x[last]) + 4;
    const wanted = Math.min(lowest, Math.max(LETTER_PX, y.at(line.y[last])));
    let top = wanted;
    while (!isFree(left, top) && top < lowest) top += 1;
    if (!isFree(left, top)) top = wanted;
    while (!isFree(left, top) && top > LETTER_PX) top -= 1;
    placed.push({ left, top });
    return [draw("text", { class: `mark line-${line.index}`, x: left, y: top }, LETTERS[line.index])];
  });
}
