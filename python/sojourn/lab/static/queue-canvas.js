// Draws the state of one queue: its packets by activity, the token bucket, recent events.

import { make } from "./dom.js";
import { ROWS } from "./time-line.js";

const QUEUE_PX = 120;
const ROW_PX = 20;
const LABEL_PX = 56;
const SIDE_PX = 74;
const FALL_PX = 26;
const FALL_MS = 6;
const LARGEST_CELL_PX = 15;
const SMALL_PACKET_BYTES = 500;
const SPAN_MS = 40;
/** With more events per ms than this, the time line shows a shorter time. */
const CROWDED = 15;
const STRIP_TOP = QUEUE_PX + FALL_PX + 14;
const HEIGHT = STRIP_TOP + Object.keys(ROWS).length * ROW_PX + 16;

export class QueueCanvas {
  constructor(replay, colors) {
    this.replay = replay;
    this.colors = colors;
    this.canvas = make("canvas", { role: "img", height: HEIGHT });
    const events = replay.events.ms;
    const crowd = events.length / ((events.at(-1) ?? 1) * CROWDED || 1);
    this.span = crowd > 1 ? SPAN_MS / crowd : SPAN_MS;
  }

  /** Fits the canvas to its width, in device pixels. */
  resize(width) {
    const ratio = window.devicePixelRatio || 1;
    this.width = width;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(HEIGHT * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${HEIGHT}px`;
    this.pen = this.canvas.getContext("2d");
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  draw(ms) {
    if (!this.pen) return;
    const style = getComputedStyle(document.documentElement);
    const [text, faint, rule, raised] = ["--text", "--faint", "--rule", "--raised"].map(name =>
      style.getPropertyValue(name),
    );
    Object.assign(this, { text, faint, rule, raised });
    this.pen.clearRect(0, 0, this.width, HEIGHT);
    this.pen.font = "12px system-ui, sans-serif";
    this.queue(ms);
    this.bucket();
    this.strip(ms);
  }

  queue(ms) {
    const { pen, replay } = this;
    const right = this.width - SIDE_PX;
    pen.fillStyle = this.raised;
    pen.fillRect(0, 0, right, QUEUE_PX);
    // If flows have their own queues, each activity gets a lane.
    const lanes = replay.isFifo ? 1 : replay.activities;
    const laneHeight = QUEUE_PX / lanes;
    const cell = cellSize(right, laneHeight, replay.isFifo ? replay.most : replay.mostOfOne);
    const rows = Math.max(1, Math.floor(laneHeight / cell));
    const filled = new Array(lanes).fill(0);
    for (const { activity, bytes } of replay.waiting.values()) {
      const lane = replay.isFifo ? 0 : activity;
      const place = filled[lane]++;
      const x = right - (Math.floor(place / rows) + 1) * cell;
      this.packet(x, lane * laneHeight + (place % rows) * cell, cell - 1, activity, bytes);
    }
    pen.strokeStyle = this.rule;
    for (let lane = 1; lane < lanes; lane++)
      this.line(0, lane * laneHeight, right, lane * laneHeight);
    this.falling(ms, Math.max(4, right - (Math.ceil(Math.max(...filled) / rows) + 1) * cell));
    const sends = replay.sending;
    pen.strokeStyle = this.faint;
    pen.strokeRect(right + 6.5, QUEUE_PX / 2 - 11.5, 22, 22);
    if (sends) this.packet(right + 8, QUEUE_PX / 2 - 10, 19, sends.activity, sends.bytes);
  }

  /** Recently dropped packets fall out of the queue. */
  falling(ms, x) {
    this.pen.font = "bold 15px system-ui, sans-serif";
    for (const { ms: at, kind, activity } of this.replay.timeLine.between(ms - FALL_MS, ms)) {
      if (kind !== "drop") continue;
      this.pen.fillStyle = this.colors[activity];
      this.pen.fillText("×", x, QUEUE_PX + 8 + ((ms - at) / FALL_MS) * (FALL_PX - 8));
    }
    this.pen.font = "12px system-ui, sans-serif";
  }

  packet(x, y, size, activity, bytes) {
    const inset = bytes < SMALL_PACKET_BYTES ? size / 4 : 0;
    this.pen.fillStyle = this.colors[activity];
    this.pen.fillRect(x + inset, y + inset, size - 2 * inset, size - 2 * inset);
  }

  bucket() {
    const { pen, replay } = this;
    const x = this.width - 30;
    const level = Math.max(0, replay.tokens / replay.mostTokens) * (QUEUE_PX - 2);
    pen.fillStyle = this.faint;
    pen.fillRect(x, QUEUE_PX - 1 - level, 22, level);
    pen.strokeStyle = this.faint;
    pen.strokeRect(x - 0.5, 0.5, 23, QUEUE_PX - 1);
    pen.fillStyle = this.text;
    pen.textAlign = "right";
    pen.fillText("tokens", this.width, QUEUE_PX + 14);
    pen.textAlign = "left";
  }

  strip(ms) {
    const { pen } = this;
    const from = ms - this.span * 0.75;
    const to = from + this.span;
    const x = at => LABEL_PX + ((at - from) / this.span) * (this.width - LABEL_PX);
    const bottom = STRIP_TOP + Object.keys(ROWS).length * ROW_PX;
    for (const [row, label] of Object.keys(ROWS).entries()) {
      const y = STRIP_TOP + row * ROW_PX;
      pen.fillStyle = this.text;
      pen.fillText(label, 0, y + 14);
      pen.strokeStyle = this.rule;
      this.line(LABEL_PX, y + ROW_PX, this.width, y + ROW_PX);
    }
    pen.save();
    pen.beginPath();
    pen.rect(LABEL_PX, STRIP_TOP, this.width - LABEL_PX, bottom - STRIP_TOP);
    pen.clip();
    for (const mark of this.replay.timeLine.between(from - this.span, to)) this.mark(mark, x, ms);
    pen.restore();
    pen.strokeStyle = this.text;
    this.line(x(ms), STRIP_TOP - 4, x(ms), bottom);
    pen.fillStyle = this.faint;
    pen.textAlign = "right";
    pen.fillText(
      `${this.span < 2 ? this.span.toFixed(1) : Math.round(this.span)} ms`,
      this.width,
      bottom + 13,
    );
    pen.textAlign = "center";
    pen.fillText("now", x(ms), bottom + 13);
    pen.textAlign = "left";
  }

  mark({ ms, end, row, kind, activity, bytes }, x, now) {
    const { pen } = this;
    const base = STRIP_TOP + (row + 1) * ROW_PX - 1;
    pen.globalAlpha = ms > now ? 0.35 : 1;
    pen.fillStyle = activity === null || activity === undefined ? this.text : this.colors[activity];
    if (kind === "piece") {
      pen.fillRect(x(ms), base - 12, Math.max(1.5, x(end) - x(ms) - 0.5), 12);
    } else if (kind === "drop") {
      pen.font = "bold 14px system-ui, sans-serif";
      pen.fillText("×", x(ms) - 4, base - 3);
      pen.font = "12px system-ui, sans-serif";
    } else if (kind === "arrive" || kind === "mark") {
      pen.fillRect(
        x(ms),
        base - (bytes < SMALL_PACKET_BYTES ? 6 : 13),
        2,
        bytes < SMALL_PACKET_BYTES ? 6 : 13,
      );
    } else {
      const height = 3 + (bytes / this.replay.timeLine.mostBytes) * 12;
      pen.fillRect(x(ms), base - height, bytes ? 3 : 1, height);
    }
    pen.globalAlpha = 1;
  }

  line(x1, y1, x2, y2) {
    this.pen.beginPath();
    this.pen.moveTo(x1, y1);
    this.pen.lineTo(x2, y2);
    this.pen.stroke();
  }
}

/** The largest cell size at which all packets fit. */
function cellSize(width, height, packets) {
  for (let size = Math.min(LARGEST_CELL_PX, height); size > 2; size--) {
    if (Math.floor(width / size) * Math.floor(height / size) >= packets) return size;
  }
  return 2;
}
