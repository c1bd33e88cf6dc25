// Runs the latest scenario. A scenario that comes during a run waits for it, but not for long, so
// that results follow a slider that moves.

import { Stopped } from "./workers.js";

const MAX_WAIT_MS = 1000;
const DEBOUNCE_MS = 30;
/** A run that takes longer on this page asks first. */
export const LONG_S = 30;
/** A run that takes longer than this gets the fast module, and starts again if no more is done than this share. */
const FAST_S = 5;
const LITTLE_DONE = 0.15;

export class Runner {
  /**
   * `on.start()`, `on.progress(share)`, `on.results(results, tookMs, scenario)`, `on.error(error)`,
   * and `on.long(estimateS)` once for a run that takes long.
   */
  constructor(workers, on) {
    Object.assign(this, { workers, on, pending: undefined, current: undefined, timer: undefined });
  }

  /** Is there a scenario without results yet? */
  get isBehind() {
    return this.pending !== undefined || this.current !== undefined;
  }

  /** Runs `{ text, variants }` soon. */
  send(scenario) {
    this.pending = scenario;
    const wait = this.current ? this.current.since + MAX_WAIT_MS - performance.now() : DEBOUNCE_MS;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.start(), Math.max(0, wait));
  }

  /** Stops the run and forgets the scenario that waits. */
  stop() {
    clearTimeout(this.timer);
    this.pending = undefined;
    this.current = undefined;
    this.workers.stop();
  }

  async start() {
    if (this.pending === undefined) return;
    const scenario = this.pending;
    this.pending = undefined;
    const shares = scenario.variants.map(() => 0);
    const current = { scenario, since: performance.now(), shares, isAsked: false };
    this.current = current;
    this.workers.stop();
    this.on.start(scenario);
    try {
      this.workers.admit(scenario.variants.map(variant => variant.memory_bytes));
      const runs = scenario.variants.map((variant, place) => this.one(scenario, variant, place, current));
      const results = await Promise.all(runs);
      if (this.current !== current) return;
      this.current = undefined;
      this.on.results(results, performance.now() - current.since, scenario);
    } catch (error) {
      if (this.current !== current || error instanceof Stopped) return;
      this.workers.stop();
      this.current = undefined;
      this.on.error(error);
    }
    if (this.pending !== undefined) this.send(this.pending);
  }

  async one({ text, modem }, variant, place, current) {
    const request = { text, modem, variant: variant.number };
    const { value, blob } = await this.workers.run(place, { request }, progress =>
      this.progressed(current, place, variant, progress),
    );
    return { ...variant, value, blob };
  }

  progressed(current, place, { duration_s: durationS }, { simulatedS, elapsedMs, isMeasured }) {
    if (this.current !== current) return;
    const share = simulatedS / durationS;
    current.shares[place] = share;
    this.on.progress(Math.min(...current.shares));
    const estimateS = elapsedMs / 1000 / share;
    if (isMeasured && estimateS > FAST_S) this.hasten(current);
    if (isMeasured && !current.isAsked && estimateS > LONG_S) {
      current.isAsked = true;
      this.on.long(estimateS);
    }
  }

  /** Starts a run again with the fast module, once that is there, unless too much of it is done or another one waits. */
  async hasten(current) {
    const isNew = await this.workers.hasten();
    if (!isNew || this.current !== current || this.pending) return;
    if (Math.max(...current.shares) < LITTLE_DONE) {
      this.pending = current.scenario;
      this.start();
    }
  }
}
