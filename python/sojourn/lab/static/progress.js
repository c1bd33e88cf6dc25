// How far a run is, with a button that stops it.

import { make, show } from "./dom.js";

/** A run that is done sooner shows no progress, so that the page does not flicker. */
const SHOW_AFTER_MS = 300;

export class Progress {
  /** `onStop` is called when the user stops the run. */
  constructor(place, onStop) {
    this.bar = make("progress", { max: 1, value: 0, "aria-label": "Progress of the simulation" });
    this.stop = make("button", { type: "button", click: onStop }, "Stop");
    this.element = make("div", { class: "progress" }, this.bar, this.stop);
    this.isOn(false);
    show(place, this.element);
  }

  start() {
    this.bar.value = 0;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.isOn(true), SHOW_AFTER_MS);
  }

  at(share) {
    this.bar.value = share;
  }

  end() {
    clearTimeout(this.timer);
    this.isOn(false);
  }

  isOn(isOn) {
    this.element.classList.toggle("off", !isOn);
    this.stop.disabled = !isOn;
  }
}
