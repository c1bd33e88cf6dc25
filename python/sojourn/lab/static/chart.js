// Line charts, drawn as SVG in the available width.

import { draw, make, show } from "./dom.js";
import { linearScale, logScale } from "./scale.js";

const HEIGHT = 220;
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
    const summary = this.figure.lines
      .map(line => `${line.name.slice(0, 1)}: ${line.summary}`)
      .join("; ");
    show(this.summary, `${summary}.`);
    if (this.width) show(this.place, drawing(this.figure, summary, this.width));
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
  for (const [index, line] of figure.lines.entries()) {
    svg.append(draw("path", { class: `line line-${index}`, d: path(line, x, y) }));
    svg.append(...marks(line, index, x, y));
  }
  return svg;
}

function scales(figure, width) {
  const isLog = figure.kind === "latency";
  const xs = figure.lines.flatMap(line => line.x).filter(value => value !== null);
  const ys = figure.lines.flatMap(line => line.y).filter(value => value !== null);
  const right = width - MARGIN.right;
  const low = isLog ? Math.max(0.01, Math.min(...xs) * 0.8) : 0;
  const high = isLog ? Math.max(...xs) * 1.2 : Math.max(...xs);
  const x = (isLog ? logScale : linearScale)(low, high, MARGIN.left, right);
  const top = Math.max(...ys) * 1.05 || 1;
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

/** The letter of a line, at its end. */
function marks(line, index, x, y) {
  const last = line.y.findLastIndex(value => value !== null);
  if (last < 0) return [];
  return [
    draw(
      "text",
      {
        class: `mark line-${index}`,
        x: x.at(line.x[last]) + 4,
        y: Math.min(
          HEIGHT - MARGIN.bottom - 3,
          Math.max(12, y.at(line.y[last]) + (index ? 14 : 0)),
        ),
      },
      line.name.slice(0, 1),
    ),
  ];
}
