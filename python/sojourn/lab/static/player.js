// The clock of the animation, with its buttons and keys.

import { make, newId } from "./dom.js";

/** Slow-down factors relative to real time. */
const SPEEDS = [20, 50, 100, 200, 1000];
const FIRST_SPEED = 100;
const PAGE_MS = 20;

export class Player {
  /** `onTime` is called with each new time in ms, `onEnd` when the animation ends. */
  constructor(onTime, onEnd) {
    Object.assign(this, { onTime, onEnd, ms: 0, length: 0, times: [] });
    Object.assign(this, { isPlaying: false, isHeld: true });
    /** Has the user started it? It may be on hold all the same. */
    this.isWanted = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    const speed = newId();
    this.toggle = make("button", { type: "button", click: () => this.play(!this.isOn) });
    this.speed = make(
      "select",
      { id: speed },
      ...SPEEDS.map(times =>
        make("option", { value: times, selected: times === FIRST_SPEED }, `1/${times}`),
      ),
    );
    this.scrub = make("input", {
      type: "range",
      min: 0,
      step: 0.5,
      "aria-label": "Time within the animation in ms",
      input: () => this.at(Number(this.scrub.value)),
    });
    this.element = make(
      "div",
      { class: "player" },
      this.button("Back", "One event back", () => this.step(-1)),
      this.toggle,
      this.button("Step", "One event forward", () => this.step(1)),
      make("label", { for: speed }, "Speed"),
      this.speed,
      this.scrub,
    );
    this.label();
  }

  /** Loads an animation with its length and event times in ms, and continues at `ms`. */
  load(length, times, ms) {
    Object.assign(this, { length, times });
    this.scrub.max = length;
    this.at(ms, false);
    this.play(this.isWanted);
  }

  get isOn() {
    return this.isWanted && this.length > 0;
  }

  /** Handles keys of the animation, wherever the focus is in it. */
  key(event) {
    const isOwn = ["INPUT", "SELECT", "BUTTON"].includes(event.target.tagName);
    const act = isOwn ? undefined : this.keys()[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  keys() {
    return {
      " ": () => this.play(!this.isOn),
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      PageDown: () => this.at(this.ms + PAGE_MS),
      PageUp: () => this.at(this.ms - PAGE_MS),
      Home: () => this.at(0),
      End: () => this.at(this.length),
    };
  }

  play(isWanted) {
    this.isWanted = isWanted;
    if (isWanted && this.ms >= this.length) this.ms = 0;
    this.label();
    this.run();
  }

  /** Pauses the clock while `isHeld`; it continues afterwards if it was playing. */
  hold(isHeld) {
    this.isHeld = isHeld;
    this.run();
  }

  run() {
    const wasPlaying = this.isPlaying;
    this.isPlaying = this.isOn && !this.isHeld;
    if (this.isPlaying && !wasPlaying) this.tick(performance.now());
    else if (!this.isPlaying) cancelAnimationFrame(this.frame);
  }

  /** Moves to a time; the clock stops if the user chose the time. */
  at(ms, stops = true) {
    if (stops) this.play(false);
    this.ms = Math.min(this.length, Math.max(0, ms));
    this.scrub.value = this.ms;
    this.onTime(this.ms);
  }

  step(by) {
    const next =
      by > 0 ? this.times.find(ms => ms > this.ms) : this.times.findLast(ms => ms < this.ms);
    this.at(next ?? (by > 0 ? this.length : 0));
  }

  tick(before) {
    this.frame = requestAnimationFrame(now => {
      this.at(this.ms + (now - before) / Number(this.speed.value), false);
      if (this.ms < this.length) return this.tick(now);
      this.isPlaying = false;
      this.onEnd();
    });
  }

  label() {
    this.toggle.textContent = this.isOn ? "Pause" : "Play";
  }

  button(text, name, click) {
    return make(
      "button",
      { type: "button", "aria-label": `${text}: ${name.toLowerCase()}`, click },
      text,
    );
  }
}
