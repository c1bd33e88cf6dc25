// The animation of the queues: one second of the run at a time, in slow motion.

import { column } from "./core.js";
import { make, newId, show } from "./dom.js";
import { LETTERS } from "./letters.js";
import { Player } from "./player.js";
import { QueueCanvas } from "./queue-canvas.js";
import { Replay } from "./replay.js";
import { Stopped } from "./workers.js";

/** The initial start of the animation: after the burst of most services. */
const FIRST_S = 10;
const SHOWN_S = 1;
const MOST_SHOWN = 2;
const DESCRIBE_EVERY_MS = 150;
const OTHER_CHOICES = "Out of date: the animation of the new choices follows their results.";
const OTHER_SECOND = "Loading another second of the run.";

export class Picture {
  /** `workers` run the second that is shown, `onError` gets errors. */
  constructor(place, workers, palette, onError) {
    Object.assign(this, {
      workers,
      palette,
      onError,
      /** The scenario of the results on the page, if there are any. */
      scenario: undefined,
      /** The places of the variants that are shown. */
      chosen: [0, 1],
      views: [],
      isSeen: false,
      /** What is loaded: the scenario, the start of the second, and the variants. */
      frame: {},
      /** Have the choices changed since the last results? */
      isStale: true,
      describedAt: 0,
    });
    this.player = new Player(
      ms => this.show(ms),
      () => this.playNext(),
    );
    this.build(place);
    this.watch(place);
  }

  /** Takes the scenario of new results: `{ text, variants, groups }`. */
  update(scenario) {
    this.scenario = scenario;
    const { variants } = scenario;
    this.chosen = this.chosen.map((place, index) => (place < variants.length ? place : index));
    const untilS = Math.min(...variants.map(({ picture_until_s: until }) => until));
    this.from.max = untilS;
    show(this.pairs, ...(variants.length > MOST_SHOWN ? this.selects(variants) : []));
    this.goTo(Math.min(this.startS, untilS));
  }

  /** Sets whether the choices have changed since the shown results. */
  setStale(isStale) {
    this.isStale = isStale;
    this.mark();
    if (!isStale) this.fetch();
  }

  /** With many variants, two of them are shown. */
  selects(variants) {
    return this.chosen.map((place, index) => {
      const select = make(
        "select",
        {
          "aria-label": index ? "Second queue" : "First queue",
          change: () => {
            this.chosen[index] = Number(select.value);
            this.mark();
            this.fetch();
          },
        },
        ...variants.map(({ name }, number) =>
          make("option", { value: number, selected: number === place }, `${LETTERS[number]}: ${name}`),
        ),
      );
      return select;
    });
  }

  /** The places of the variants that are wanted, each once. */
  get wanted() {
    const places = this.chosen.filter(place => place < this.scenario.variants.length);
    return [...new Set(places)];
  }

  /** Why the animation is out of date; empty if it is not. */
  get staleReason() {
    if (this.isStale || this.frame.scenario !== this.scenario) return OTHER_CHOICES;
    return this.isLoaded ? "" : OTHER_SECOND;
  }

  get isLoaded() {
    const { scenario, fromS, places } = this.frame;
    if (!this.scenario || scenario !== this.scenario || fromS !== this.startS) return false;
    return String(places) === String(this.wanted);
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
    this.pairs = make("div", { class: "player" });
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
      this.pairs,
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

  async fetch() {
    if (!this.scenario || !this.isSeen || this.isStale || this.isLoaded) return;
    const { text, variants } = this.scenario;
    const frame = { scenario: this.scenario, fromS: this.startS, places: this.wanted };
    const isAsked = this.asked && ["scenario", "fromS"].every(key => this.asked[key] === frame[key]);
    if (isAsked && String(this.asked.places) === String(frame.places)) return;
    this.asked = frame;
    const request = place => ({
      text,
      variant: variants[place].number,
      picture_until_s: frame.fromS + SHOWN_S,
    });
    try {
      const runs = await Promise.all(
        frame.places.map(place =>
          this.workers.run(place, { request: request(place), pictureFromS: frame.fromS }),
        ),
      );
      if (this.asked === frame) this.load(runs, frame);
    } catch (error) {
      if (!(error instanceof Stopped) && this.asked === frame) this.onError(error);
    } finally {
      if (this.asked === frame) this.asked = undefined;
    }
  }

  /** Marks a stale animation; the clock stops while it is stale or not visible. */
  mark() {
    this.stage.setAttribute("aria-busy", String(this.staleReason !== ""));
    this.player.hold(this.staleReason !== "" || !this.isSeen);
    this.show(this.player.ms);
  }

  load(runs, frame) {
    const isSameSecond = frame.fromS === this.frame.fromS;
    this.frame = frame;
    const { groups, variants } = frame.scenario;
    const colors = groups.map((_, index) => this.palette[index % this.palette.length]);
    this.labels = groups.map(({ label }) => label.toLowerCase());
    // All show the same time: as long as that with the most events has.
    const toS = Math.min(...runs.map(({ value }) => value.to_s));
    const named = runs.map((run, index) => [run, frame.places[index]]);
    this.views = named.map(([run, place]) => {
      const name = variants.length > 1 ? `${LETTERS[place]}: ${variants[place].name}` : variants[place].name;
      const lengthMs = (toS - frame.fromS) * 1000;
      return this.view(new Replay(replayed(run, name, groups, lengthMs), groups), colors);
    });
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
    const times = new Set(this.views.flatMap(({ replay }) => Array.from(replay.events.ms)));
    this.player.load(
      (toS - frame.fromS) * 1000,
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
    this.clock.textContent = `${(this.frame.fromS + ms / 1000).toFixed(6)} s`;
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
    const next = this.frame.fromS + this.player.length / 1000;
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

/** What a replay needs of a run: columns, with the number of an activity for each packet. */
function replayed({ value, blob }, name, groups, lengthMs) {
  const activities = value.traffic.map(entry => {
    const found = groups.findIndex(({ entries }) => entries.includes(entry));
    return found < 0 ? null : found;
  });
  const columns = table =>
    Object.fromEntries(Object.entries(table).map(([key, place]) => [key, Array.from(column(place, blob))]));
  const withActivity = ({ traffic, ...rest }) => ({
    ...rest,
    activity: traffic.map(number => (number < 0 ? null : activities[number])),
  });
  const all = withActivity(columns(value.events));
  const within = all.ms.findLastIndex(ms => ms <= lengthMs) + 1;
  const events = Object.fromEntries(
    Object.entries(all).map(([key, values]) => [key, values.slice(0, within)]),
  );
  return {
    name,
    isFifo: value.is_fifo,
    tokens: value.tokens,
    waiting: withActivity(columns(value.waiting)),
    sending: withActivity(columns(value.sending)),
    events,
  };
}
