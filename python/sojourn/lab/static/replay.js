// One run's events at the modem, played forwards and backwards.

/** Rows of the time line, and the events that stand in them. */
export const ROWS = {
  arrives: ["arrive"], dropped: ["drop", "mark"], asks: ["request"], MAP: ["map"], grant: ["grant"], sends: ["piece"],
};

const ROW_OF = Object.fromEntries(Object.entries(ROWS).flatMap(([, kinds], row) => kinds.map(kind => [kind, row])));
const ENDS_PIECE = ["piece_end", "sent"];

export class Replay {
  constructor({ name, is_fifo: isFifo, waiting, sending, tokens, events }, activities) {
    Object.assign(this, { name, isFifo, first: { waiting, sending, tokens }, events, activities: activities.length });
    this.rewind();
    this.survey();
    this.rewind();
  }

  /** The state just after everything up to this time, in ms. */
  seek(ms) {
    if (ms < this.ms) this.rewind();
    this.ms = ms;
    const times = this.events.ms;
    while (this.next < times.length && times[this.next] <= ms) this.apply(this.next++);
  }

  /** How many packets of each activity wait. */
  counts() {
    const counts = new Array(this.activities).fill(0);
    for (const { activity } of this.waiting.values()) counts[activity]++;
    return counts;
  }

  /** The part of the time line between two times. */
  marksBetween(from, to) {
    return this.marks.slice(this.markFrom(from), this.markFrom(to));
  }

  /** The number of the first mark of this time or later. */
  markFrom(ms) {
    let low = 0;
    let high = this.marks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.marks[middle].ms < ms) low = middle + 1;
      else high = middle;
    }
    return low;
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

  /** Makes the time line, and finds the greatest values, for the scales. */
  survey() {
    const { ms, kind, activity, bytes, tokens } = this.events;
    Object.assign(this, { marks: [], most: this.waiting.size, mostOfOne: Math.max(...this.counts(), 1), mostTokens: 1500, mostBytes: 1 });
    const counts = this.counts();
    let piece;
    for (let index = 0; index < ms.length; index++) {
      const before = this.waiting.size;
      this.apply(index);
      if (activity[index] !== null) counts[activity[index]] += this.waiting.size - before;
      this.most = Math.max(this.most, this.waiting.size);
      this.mostOfOne = Math.max(this.mostOfOne, ...counts);
      this.mostTokens = Math.max(this.mostTokens, tokens[index]);
      if (piece && ENDS_PIECE.includes(kind[index])) piece = void (piece.end = ms[index]);
      const row = ROW_OF[kind[index]];
      if (row === undefined) continue;
      const mark = { ms: ms[index], row, kind: kind[index], activity: activity[index], bytes: bytes[index] };
      if (mark.kind === "piece") {
        mark.activity = this.sending?.activity;
        mark.end = mark.ms;
        piece = mark;
      }
      if (mark.kind !== "piece" && activity[index] === null) this.mostBytes = Math.max(this.mostBytes, mark.bytes);
      this.marks.push(mark);
    }
  }
}

/** Packets by their number, out of columns. */
function packets({ packet, activity, bytes }) {
  return new Map(packet.map((number, i) => [number, { activity: activity[i], bytes: bytes[i] }]));
}
