// The moving picture of the queues: a second of the run at a time, in slow motion.

import { Asking } from "./asking.js";
import { make, newId, show } from "./dom.js";
import { Player } from "./player.js";
import { QueueCanvas } from "./queue-canvas.js";
import { Replay } from "./replay.js";

/** Where the picture begins at first: after the burst of most services. */
const FIRST_S = 10;
const WORDS_EVERY_MS = 150;

export class Picture {
  /** `wished` gives the choices, `failed` gets what goes wrong. */
  constructor(place, activities, palette, wished, failed) {
    Object.assign(this, {
      activities,
      palette,
      wished,
      views: [],
      isSeen: false,
      isStale: true,
      toldAt: 0,
    });
    this.player = new Player(
      ms => this.show(ms),
      () => this.goOn(),
    );
    this.asking = new Asking("api/picture", { told: answer => this.told(answer), failed });
    this.build(place);
    this.watch(place);
  }

  /** The choices have changed; with them, a picture may begin up to `untilS`. */
  renew(untilS) {
    this.from.max = untilS;
    this.goTo(Math.min(this.startS, untilS));
  }

  build(place) {
    const id = newId();
    this.from = make("input", {
      id,
      type: "range",
      min: 0,
      max: 29,
      step: 0.5,
      input: () => this.goTo(Number(this.from.value)),
    });
    this.fromText = make("output", { for: id });
    this.clock = make("p", { class: "clock" });
    this.legend = make("ul", { class: "legend" });
    this.canvases = make("div", { class: "canvases" });
    // Told where someone steps; while it plays it would never be silent.
    this.live = make("p", { class: "hidden", role: "status" });
    show(
      place,
      make(
        "p",
        { class: "faint" },
        "Each square is a packet in the modem's queue, a small one a small packet; the next to be ",
        "sent is at the right. Below: what came, what was dropped, what the modem asked for, what ",
        "the MAPs granted, what was sent. ",
        "Space plays and pauses, the arrow keys step from event to event, Page Up and Down go 20 ms.",
      ),
      make(
        "div",
        { class: "player" },
        make("label", { for: id }, "Second of the run"),
        this.from,
        this.fromText,
      ),
      make(
        "div",
        {
          class: "stage",
          tabindex: 0,
          role: "group",
          "aria-label": "Moving picture of the queue",
          keydown: event => this.player.key(event),
        },
        this.player.element,
        this.clock,
        this.legend,
        this.canvases,
      ),
      this.live,
    );
    this.goTo(FIRST_S);
  }

  watch(place) {
    new IntersectionObserver(([{ isIntersecting }]) => {
      this.isSeen = isIntersecting;
      if (!isIntersecting) this.player.hold();
      else if (this.isStale) this.fetch();
      else if (this.player.isWanted) this.player.play(true);
    }).observe(place);
    new ResizeObserver(() => this.resize()).observe(this.canvases);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
      this.show(this.player.ms),
    );
  }

  fetch() {
    if (this.isSeen) this.asking.ask({ wish: this.wished(), from_s: this.startS });
  }

  told(answer) {
    this.isStale = false;
    this.fromS = answer.from_s;
    const colors = answer.activities.map((_, index) => this.palette[index % this.palette.length]);
    this.labels = answer.activities.map(name => this.activities[name].label.toLowerCase());
    this.views = answer.runs.map(run => this.view(new Replay(run, answer.activities), colors));
    show(
      this.legend,
      ...this.labels.map((label, index) => {
        const key = make("span", { class: "square" });
        key.style.background = colors[index];
        return make("li", {}, key, label);
      }),
    );
    show(this.canvases, ...this.views.map(view => view.element));
    this.resize();
    const times = new Set(answer.runs.flatMap(run => run.events.ms));
    this.player.load(
      (answer.to_s - answer.from_s) * 1000,
      [...times].sort((a, b) => a - b),
    );
  }

  view(replay, colors) {
    const drawn = new QueueCanvas(replay, colors);
    const words = make("p", { class: "faint" });
    const element = make("figure", {}, make("figcaption", {}, replay.name), drawn.canvas, words);
    return { replay, drawn, words, element };
  }

  resize() {
    for (const { drawn, element } of this.views) {
      const width = Math.floor(element.clientWidth);
      if (width) drawn.resize(width);
    }
    this.show(this.player.ms);
  }

  show(ms) {
    if (!this.views.length) return;
    this.clock.textContent = `${(this.fromS + ms / 1000).toFixed(6)} s`;
    const isQuiet = this.player.isPlaying && performance.now() - this.toldAt < WORDS_EVERY_MS;
    for (const { replay, drawn, words } of this.views) {
      replay.seek(ms);
      drawn.draw(ms);
      if (isQuiet) continue;
      words.textContent = this.wordsOf(replay);
      drawn.canvas.setAttribute("aria-label", `Queue of ${replay.name}: ${words.textContent}`);
    }
    if (isQuiet) return;
    this.toldAt = performance.now();
    if (!this.player.isPlaying)
      this.live.textContent = this.views
        .map(({ replay }) => `${replay.name}: ${this.wordsOf(replay)}`)
        .join(" ");
  }

  wordsOf(replay) {
    const counts = replay
      .counts()
      .map((count, index) => count && `${this.labels[index]} ${count}`)
      .filter(Boolean);
    const whose = counts.length ? ` (${counts.join(", ")})` : "";
    const sends = replay.sending
      ? ` Sends ${replay.sending.bytes} B of ${this.labels[replay.sending.activity]}.`
      : "";
    const bytes = count => `${(count / 1000).toFixed(1)} kB`;
    return (
      `${replay.waiting.size} packets wait, ${bytes(replay.bytes)}${whose}. ` +
      `Bucket ${bytes(replay.tokens)}.${sends} Dropped since the start: ${replay.drops}.`
    );
  }

  /** The next second, or the first one again. */
  goOn() {
    const next = this.fromS + this.player.length / 1000;
    this.goTo(next > Number(this.from.max) ? 0 : next);
  }

  /** Shows what begins at this time of the run. */
  goTo(startS) {
    this.startS = startS;
    this.from.value = startS;
    this.fromText.textContent = `${Number(startS.toFixed(3))} s`;
    this.isStale = true;
    this.fetch();
  }
}
