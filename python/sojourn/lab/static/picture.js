// The moving picture of the queues: a second of the run at a time, in slow motion.

import { Asking } from "./asking.js";
import { make, newId, show } from "./dom.js";
import { Player } from "./player.js";
import { QueueCanvas } from "./queue-canvas.js";
import { Replay } from "./replay.js";

/** Where the picture begins at first: after the burst of most services. */
const FIRST_S = 10;
const WORDS_EVERY_MS = 150;
const OTHER_CHOICES = "Out of date, until the picture of the new choices is there.";
const OTHER_SECOND = "Another second of the run is on its way.";

export class Picture {
  /** `failed` gets what goes wrong. */
  constructor(place, activities, palette, failed) {
    Object.assign(this, {
      activities,
      palette,
      /** What the results on the page are of; nothing until there are any. */
      wish: undefined,
      views: [],
      isSeen: false,
      /** The wish and the second that the picture is of. */
      glance: {},
      /** Have the choices changed since there were results? */
      isDoubted: true,
      toldAt: 0,
    });
    this.player = new Player(
      ms => this.show(ms),
      () => this.goOn(),
    );
    this.asking = new Asking("api/picture", {
      told: (answer, _, glance) => this.told(answer, glance),
      failed,
    });
    this.build(place);
    this.watch(place);
  }

  /** There are results of a new wish; a picture of it may begin up to `untilS`. */
  renew(wish, untilS) {
    this.wish = wish;
    this.from.max = untilS;
    this.goTo(Math.min(this.startS, untilS));
  }

  /** Have the choices changed since the results that the page shows? */
  doubt(isDoubted) {
    this.isDoubted = isDoubted;
    this.mark();
  }

  /** Why the picture is not what was asked for; nothing if it is. */
  get old() {
    if (this.isDoubted || this.glance.wish !== this.wish) return OTHER_CHOICES;
    return this.glance.from_s === this.startS ? "" : OTHER_SECOND;
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
    this.stage = make(
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
    );
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
      this.stage,
      this.live,
    );
    this.goTo(FIRST_S);
  }

  watch(place) {
    new IntersectionObserver(([{ isIntersecting }]) => {
      this.isSeen = isIntersecting;
      this.mark();
      this.fetch();
    }).observe(place);
    new ResizeObserver(() => this.resize()).observe(this.canvases);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
      this.show(this.player.ms),
    );
  }

  fetch() {
    const { wish, from_s } = this.glance;
    const isThere = wish === this.wish && from_s === this.startS;
    if (this.wish && this.isSeen && !isThere)
      this.asking.ask({ wish: this.wish, from_s: this.startS });
  }

  /** Says whether what is shown is old; the clock does not run over what is, or is not seen. */
  mark() {
    this.stage.setAttribute("aria-busy", String(this.old !== ""));
    this.player.hold(this.old !== "" || !this.isSeen);
    this.show(this.player.ms);
  }

  told(answer, glance) {
    const isSameSecond = glance.from_s === this.glance.from_s;
    this.glance = glance;
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
      isSameSecond ? this.player.ms : 0,
    );
    this.mark();
    // Something else may have been asked for meanwhile.
    this.fetch();
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
    this.clock.textContent = `${(this.glance.from_s + ms / 1000).toFixed(6)} s`;
    const isQuiet = this.player.isPlaying && performance.now() - this.toldAt < WORDS_EVERY_MS;
    for (const { replay, drawn, words } of this.views) {
      replay.seek(ms);
      drawn.draw(ms);
      if (isQuiet) continue;
      words.textContent = this.old || this.wordsOf(replay);
      drawn.canvas.setAttribute("aria-label", `Queue of ${replay.name}: ${words.textContent}`);
    }
    if (isQuiet) return;
    this.toldAt = performance.now();
    if (!this.player.isPlaying && !this.old)
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
    const next = this.glance.from_s + this.player.length / 1000;
    this.goTo(next > Number(this.from.max) ? 0 : next);
  }

  /** Shows what begins at this time of the run. */
  goTo(startS) {
    this.startS = startS;
    this.from.value = startS;
    this.fromText.textContent = `${Number(startS.toFixed(3))} s`;
    this.mark();
    this.fetch();
  }
}
