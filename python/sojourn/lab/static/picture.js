// The animation of the queues: one second of the run at a time, in slow motion.

import { make, newId, show } from "./dom.js";
import { LatestRequest } from "./latest-request.js";
import { Player } from "./player.js";
import { QueueCanvas } from "./queue-canvas.js";
import { Replay } from "./replay.js";

/** The initial start of the animation: after the burst of most services. */
const FIRST_S = 10;
const DESCRIBE_EVERY_MS = 150;
const OTHER_CHOICES = "Out of date; loading the animation of the new choices.";
const OTHER_SECOND = "Loading another second of the run.";

export class Picture {
  /** `onError` gets errors. */
  constructor(place, activities, palette, onError) {
    Object.assign(this, {
      activities,
      palette,
      /** The request of the results on the page, if there are any. */
      request: undefined,
      views: [],
      isSeen: false,
      /** The request and the start of the loaded animation. */
      frame: {},
      /** Have the choices changed since the last results? */
      isStale: true,
      describedAt: 0,
    });
    this.player = new Player(
      ms => this.show(ms),
      () => this.playNext(),
    );
    this.frames = new LatestRequest("api/picture", {
      onResponse: (response, _, frame) => this.load(response, frame),
      onError,
    });
    this.build(place);
    this.watch(place);
  }

  /** Takes the request of new results; an animation can start at up to `untilS`. */
  update(request, untilS) {
    this.request = request;
    this.from.max = untilS;
    this.goTo(Math.min(this.startS, untilS));
  }

  /** Sets whether the choices have changed since the shown results. */
  setStale(isStale) {
    this.isStale = isStale;
    this.mark();
  }

  /** Why the animation is out of date; empty if it is not. */
  get staleReason() {
    if (this.isStale || this.frame.request !== this.request) return OTHER_CHOICES;
    return this.frame.from_s === this.startS ? "" : OTHER_SECOND;
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
        "aria-label": "Animation of the queue",
        keydown: event => this.player.key(event),
      },
      this.player.element,
      this.clock,
      this.legend,
      this.canvases,
    );
    // Announces single steps to screen readers, but not a playing animation.
    this.live = make("p", { class: "hidden", role: "status" });
    show(
      place,
      make(
        "p",
        { class: "faint" },
        "Each square is a packet in the modem's queue; small packets are small squares. The next ",
        "packet to be sent is on the right. The rows below show arrivals, drops, bandwidth ",
        "requests, MAPs, grants and transmissions. Space plays and pauses, the arrow keys step ",
        "between events, Page Up and Page Down move by 20 ms.",
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
    const { request, from_s } = this.frame;
    const isLoaded = request === this.request && from_s === this.startS;
    if (this.request && this.isSeen && !isLoaded)
      this.frames.send({ request: this.request, from_s: this.startS });
  }

  /** Marks a stale animation; the clock stops while it is stale or not visible. */
  mark() {
    this.stage.setAttribute("aria-busy", String(this.staleReason !== ""));
    this.player.hold(this.staleReason !== "" || !this.isSeen);
    this.show(this.player.ms);
  }

  load(response, frame) {
    const isSameSecond = frame.from_s === this.frame.from_s;
    this.frame = frame;
    const colors = response.activities.map((_, index) => this.palette[index % this.palette.length]);
    this.labels = response.activities.map(name => this.activities[name].label.toLowerCase());
    this.views = response.runs.map(run => this.view(new Replay(run, response.activities), colors));
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
    const times = new Set(response.runs.flatMap(run => run.events.ms));
    this.player.load(
      (response.to_s - response.from_s) * 1000,
      [...times].sort((a, b) => a - b),
      isSameSecond ? this.player.ms : 0,
    );
    this.mark();
    // The choices may have changed in the meantime.
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
    this.clock.textContent = `${(this.frame.from_s + ms / 1000).toFixed(6)} s`;
    const isQuiet = this.player.isPlaying && performance.now() - this.describedAt < DESCRIBE_EVERY_MS;
    for (const { replay, drawn, words } of this.views) {
      replay.seek(ms);
      drawn.draw(ms);
      if (isQuiet) continue;
      words.textContent = this.staleReason || this.describe(replay);
      drawn.canvas.setAttribute("aria-label", `Queue of ${replay.name}: ${words.textContent}`);
    }
    if (isQuiet) return;
    this.describedAt = performance.now();
    if (!this.player.isPlaying && !this.staleReason)
      this.live.textContent = this.views
        .map(({ replay }) => `${replay.name}: ${this.describe(replay)}`)
        .join(" ");
  }

  describe(replay) {
    const counts = replay
      .counts()
      .map((count, index) => count && `${this.labels[index]} ${count}`)
      .filter(Boolean);
    const whose = counts.length ? ` (${counts.join(", ")})` : "";
    const sends = replay.sending
      ? ` Sending ${replay.sending.bytes} B of ${this.labels[replay.sending.activity]}.`
      : "";
    const bytes = count => `${(count / 1000).toFixed(1)} kB`;
    return (
      `${replay.waiting.size} packets in the queue, ${bytes(replay.bytes)}${whose}. ` +
      `Token bucket ${bytes(replay.tokens)}.${sends} Drops in this second: ${replay.drops}.`
    );
  }

  /** Continues with the next second, or with the first after the last. */
  playNext() {
    const next = this.frame.from_s + this.player.length / 1000;
    this.goTo(next > Number(this.from.max) ? 0 : next);
  }

  /** Shows the second that starts at this time of the run. */
  goTo(startS) {
    this.startS = startS;
    this.from.value = startS;
    this.fromText.textContent = `${Number(startS.toFixed(3))} s`;
    this.mark();
    this.fetch();
  }
}
