// The events at one modem over time, in rows.

/** Rows of the time line, and the events in them. */
export const ROWS = {
  arrives: ["arrive"],
  dropped: ["drop", "mark"],
  requests: ["request"],
  MAP: ["map"],
  grant: ["grant"],
  sends: ["piece"],
};

const ROW_OF = Object.fromEntries(
  Object.values(ROWS).flatMap((kinds, row) => kinds.map(kind => [kind, row])),
);

export class TimeLine {
  /** `sending` is the packet in transmission at the start, if any. */
  constructor(events, sending) {
    this.marks = [];
    /** The most bytes requested or granted at once. */
    this.mostBytes = 1;
    this.sender = sending?.activity;
    this.piece = undefined;
    for (let index = 0; index < events.ms.length; index++) this.add(events, index);
  }

  /** The marks between two times in ms. */
  between(from, to) {
    return this.marks.slice(this.firstFrom(from), this.firstFrom(to));
  }

  add(events, index) {
    const [ms, kind] = [events.ms[index], events.kind[index]];
    const [activity, bytes] = [events.activity[index], events.bytes[index]];
    if (kind === "dequeue") this.sender = activity;
    if (this.piece && (kind === "piece_end" || kind === "sent")) {
      this.piece.end = ms;
      this.piece = undefined;
    }
    if (!(kind in ROW_OF)) return;
    const mark = { ms, row: ROW_OF[kind], kind, activity, bytes };
    this.marks.push(mark);
    if (kind === "piece") this.piece = Object.assign(mark, { activity: this.sender, end: ms });
    else if (activity === null) this.mostBytes = Math.max(this.mostBytes, bytes);
  }

  /** The index of the first mark at this time or later. */
  firstFrom(ms) {
    let low = 0;
    let high = this.marks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.marks[middle].ms < ms) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
