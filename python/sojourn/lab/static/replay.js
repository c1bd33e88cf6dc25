// Replays the events at the modem of one run, forwards and backwards.

import { TimeLine } from "./time-line.js";

/** The smallest level at which the bucket is drawn as full: one packet. */
const LEAST_TOKENS = 1500;

export class Replay {
  constructor({ name, isFifo, waiting, sending, tokens, events }, activities) {
    Object.assign(this, {
      name,
      isFifo,
      first: { waiting, sending, tokens },
      events,
      activities: activities.length,
    });
    this.rewind();
    this.timeLine = new TimeLine(events, this.sending);
    this.survey();
    this.rewind();
  }

  /** Moves to the state after all events up to this time, in ms. */
  seek(ms) {
    if (ms < this.ms) this.rewind();
    this.ms = ms;
    const times = this.events.ms;
    while (this.next < times.length && times[this.next] <= ms) this.apply(this.next++);
  }

  /** The number of queued packets of each activity. */
  counts() {
    const counts = new Array(this.activities).fill(0);
    for (const { activity } of this.waiting.values()) counts[activity]++;
    return counts;
  }

  rewind() {
    const { waiting, sending, tokens } = this.first;
    this.waiting = packets(waiting);
    this.sending = packets(sending).values().next().value;
    Object.assign(this, { ms: -1, next: 0, tokens, bytes: 0, drops: 0, marked: 0 });
    for (const { bytes } of this.waiting.values()) this.bytes += bytes;
  }

  apply(index) {
    const { packet, activity, bytes, tokens, kind } = this.events;
    const number = packet[index];
    this.tokens = tokens[index];
    switch (kind[index]) {
      case "arrive":
        this.waiting.set(number, { activity: activity[index], bytes: bytes[index] });
        this.bytes += bytes[index];
        break;
      case "drop":
        this.drops++;
        this.leave(number);
        break;
      case "mark":
        this.marked++;
        break;
      case "dequeue":
        this.leave(number);
        this.sending = { activity: activity[index], bytes: bytes[index] };
        break;
      case "sent":
        this.sending = undefined;
        break;
    }
  }

  leave(number) {
    this.bytes -= this.waiting.get(number)?.bytes ?? 0;
    this.waiting.delete(number);
  }

  /** Finds the largest values, for the scales. */
  survey() {
    this.most = this.waiting.size;
    const counts = this.counts();
    this.mostOfOne = Math.max(1, ...counts);
    this.mostTokens = this.events.tokens.reduce((a, b) => Math.max(a, b), LEAST_TOKENS);
    for (const [index, activity] of this.events.activity.entries()) {
      const before = this.waiting.size;
      this.apply(index);
      this.most = Math.max(this.most, this.waiting.size);
      if (activity === null) continue;
      counts[activity] += this.waiting.size - before;
      this.mostOfOne = Math.max(this.mostOfOne, counts[activity]);
    }
  }
}

/** Packets by number, from columns. */
function packets({ packet, activity, bytes }) {
  return new Map(packet.map((number, i) => [number, { activity: activity[i], bytes: bytes[i] }]));
}
