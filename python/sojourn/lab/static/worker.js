// A worker: it simulates one variant at a time, in slices, and can be stopped between two slices.

import { Core } from "./core.js";
import { inspect } from "./parts.js";

/** A slice takes about so long: progress is shown, and a stop is heeded. */
const SLICE_MS = 25;
const FIRST_SLICE_EVENTS = 5_000;
/** After so long a run says how long it will take. */
const ESTIMATE_AFTER_MS = 1000;

let core;
let starting;
/** The job that is wanted; another one, or none, stops the one in progress. */
let wanted;

const pause = new MessageChannel();
let resume;
pause.port1.onmessage = () => resume();

self.onmessage = async ({ data }) => {
  // What comes while the module starts waits for it.
  if (starting) core = await starting;
  switch (data.kind) {
    case "module":
      starting = Core.of(data.module);
      break;
    case "file":
      core.ask({ verb: "keep", name: data.name }, data.content);
      break;
    case "part":
      core.take(data.part);
      break;
    case "inspect":
      await inspected(data);
      break;
    case "job":
      wanted = data.id;
      await work(data);
      break;
    case "stop":
      wanted = undefined;
      break;
  }
};

/** Reads a part; the page ends this worker if that takes too long. */
async function inspected({ id, bytes }) {
  try {
    self.postMessage({ kind: "done", id, part: await inspect(bytes) });
  } catch ({ name, message }) {
    self.postMessage({ kind: "failed", id, error: { name, message } });
  }
}

async function work({ id, request, pictureFromS, partBytes }) {
  try {
    core.parts.reset(partBytes);
    core.ask({ verb: "start", ...request });
    if (!(await simulate(id))) return;
    const verb = pictureFromS === undefined ? { verb: "finish" } : { verb: "picture", from_s: pictureFromS };
    const { value, blob } = core.exchange(verb);
    self.postMessage({ kind: "done", id, value, blob, bytes: core.memoryBytes }, [blob.buffer]);
  } catch (error) {
    const { name, message, faults } = error;
    self.postMessage({ kind: "failed", id, error: { name, message, faults } });
  }
}

/** Runs to the end. Returns whether it got there. */
async function simulate(id) {
  const start = performance.now();
  let events = FIRST_SLICE_EVENTS;
  for (;;) {
    const before = performance.now();
    const { goes_on: goesOn, simulated_s: simulatedS } = core.ask({ verb: "advance", events });
    if (!goesOn) return true;
    const now = performance.now();
    const factor = Math.min(4, Math.max(0.25, SLICE_MS / Math.max(1, now - before)));
    events = Math.max(100, Math.round(events * factor));
    const elapsedMs = now - start;
    const isMeasured = elapsedMs > ESTIMATE_AFTER_MS;
    self.postMessage({ kind: "progress", id, simulatedS, elapsedMs, isMeasured, bytes: core.memoryBytes });
    await new Promise(resolve => {
      resume = resolve;
      pause.port2.postMessage(0);
    });
    if (wanted !== id) return false;
  }
}
