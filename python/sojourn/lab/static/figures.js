// The figures: the queue, and latency and throughput of a chosen activity.
// `curves.js` makes them from the tables of runs.

import { Chart } from "./chart.js";
import { QUEUE } from "./curves.js";
import { make, newId, show } from "./dom.js";

const FIRST = {
  latency: ["game", "call", "video_call", "cloud_game", "web"],
  queue: QUEUE.map(({ name }) => name),
  throughput: ["upload", "torrent", "video", "web"],
};

const CHOICE = {
  latency: "Show latency of",
  queue: "Show of the queue",
  throughput: "Show throughput of",
};

export class Figures {
  constructor(place) {
    this.panels = ["latency", "queue", "throughput"].map(kind => new Panel(kind));
    show(place, ...this.panels.map(({ element }) => element));
  }

  /** Shows figures; `groups` are the activities that they are of. */
  show(figures, groups) {
    for (const panel of this.panels) {
      const choices = panel.kind === "queue" ? QUEUE : groups;
      panel.show(figures.filter(figure => figure.kind === panel.kind), choices);
    }
  }

  /** The drawings that are shown now, with their titles. */
  get drawings() {
    const charts = this.panels.map(({ chart }) => chart);
    return charts.filter(chart => chart.svg).map(({ figure, svg, words }) => ({ title: figure.title, svg, words }));
  }
}

/** Figures of one kind with a choice of the activity to show. */
class Panel {
  constructor(kind) {
    Object.assign(this, { kind, figures: [], wanted: undefined });
    const id = newId();
    this.select = make("select", {
      id,
      change: () => {
        this.wanted = this.select.value;
        this.draw();
      },
    });
    this.chart = new Chart();
    this.element = make(
      "div",
      {},
      make(
        "div",
        { class: "choose of" },
        make("label", { for: id }, CHOICE[kind]),
        this.select,
      ),
      this.chart.element,
    );
  }

  show(figures, choices) {
    this.figures = figures;
    const labels = Object.fromEntries(choices.map(({ name, label }) => [name, label]));
    const there = figures.map(figure => figure.activity);
    const first = [this.wanted, ...FIRST[this.kind], ...there].find(name => there.includes(name));
    show(
      this.select,
      ...there.map(name =>
        make("option", { value: name, selected: name === first }, labels[name]),
      ),
    );
    this.element.hidden = !there.length;
    this.draw();
  }

  draw() {
    const figure = this.figures.find(({ activity }) => activity === this.select.value);
    if (figure) this.chart.show(figure);
  }
}
