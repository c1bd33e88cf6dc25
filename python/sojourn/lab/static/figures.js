// The figures: queueing delay, and latency and throughput of a chosen activity.
// `curves.js` makes them from the tables of runs.

import { Chart } from "./chart.js";
import { make, newId, show } from "./dom.js";

const FIRST = {
  latency: ["game", "call", "web"],
  throughput: ["upload", "torrent", "video", "web"],
};

export class Figures {
  constructor(place) {
    this.queue = new Chart();
    this.panels = ["latency", "throughput"].map(kind => new Panel(kind));
    show(place, this.panels[0].element, this.queue.element, this.panels[1].element);
  }

  /** Shows figures; `groups` are the activities that they are of. */
  show(figures, groups) {
    const queue = figures.find(figure => figure.kind === "queue");
    this.queue.element.hidden = !queue;
    if (queue) this.queue.show(queue);
    for (const panel of this.panels)
      panel.show(figures.filter(figure => figure.kind === panel.kind), groups);
  }

  /** The drawings that are shown now, with their titles. */
  get drawings() {
    const charts = [this.panels[0].chart, this.queue, this.panels[1].chart];
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
        make("label", { for: id }, `Show ${kind} of`),
        this.select,
      ),
      this.chart.element,
    );
  }

  show(figures, groups) {
    this.figures = figures;
    const labels = Object.fromEntries(groups.map(({ name, label }) => [name, label]));
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
