// Workers, one for each variant. Each does the latest job that it was given.

import { FAST, loadModule, ModuleError } from "./module.js";
import { INSPECTED_BYTES, RUN_BYTES } from "./parts.js";

/** A worker with more memory is replaced once it has nothing to do: its memory does not shrink. */
const KEPT_BYTES = 50_000_000;

/** So long a part may keep a run from going on, or may take to say what it is. */
const MOST_SILENT_MS = 10_000;

/** Runs need more memory than a page has. */
export class MemoryError extends Error {
  constructor(needs, mostBytes) {
    const allowed = (mostBytes / 1e9).toFixed(1);
    super(`${needs} of memory; allowed on a page: ${allowed} GB; show fewer settings, or fewer homes and smaller buffers`);
  }
}

/** Runs jobs in workers, which together may have `mostBytes` of memory. */
export class Workers {
  constructor(module, mostBytes) {
    Object.assign(this, { module, mostBytes, slots: new Map(), files: new Map(), parts: [], jobs: 0 });
  }

  /**
   * Throws `MemoryError` if jobs of these needs cannot run at once. Their parts share what they leave, and workers of
   * more jobs than these are ended.
   */
  admit(needs) {
    for (const slot of [...this.slots.values()]) if (slot.index >= needs.length) this.end(slot);
    const bytes = needs.reduce((sum, need) => sum + need, 0);
    const leftBytes = Math.max(0, this.mostBytes - bytes - INSPECTED_BYTES);
    this.partBytes = Math.min(RUN_BYTES, Math.floor(leftBytes / needs.length));
    if (bytes <= this.mostBytes) return;
    const who = needs.length > 1 ? `The ${needs.length} settings need together` : "The setting needs";
    throw new MemoryError(`${who} up to ${(bytes / 1e9).toFixed(1)} GB`, this.mostBytes);
  }

  /**
   * Gives the jobs that follow the fast module. Returns whether that is new, so that it may pay to start
   * the present ones again; a host without it keeps the small one.
   */
  async hasten() {
    this.fast ??= loadModule(FAST).catch(error => {
      if (!(error instanceof ModuleError)) throw error;
      return this.module;
    });
    const fast = await this.fast;
    if (this.module === fast) return false;
    this.module = fast;
    for (const slot of [...this.slots.values()]) if (!slot.job) this.rest(slot);
    return true;
  }

  /** Gives a job to a worker and returns a promise of its outcome; a newer job stops it. */
  run(index, job, onProgress = () => {}) {
    this.slots.get(index)?.stop();
    if (!this.slots.has(index)) this.slots.set(index, this.start(index));
    const slot = this.slots.get(index);
    const id = ++this.jobs;
    return new Promise((resolve, reject) => {
      slot.job = { id, resolve, reject, onProgress, text: job.request?.text ?? "" };
      slot.worker.postMessage({ kind: "job", id, partBytes: this.partBytes, ...job });
      this.watch(slot);
    });
  }

  /** Ends a worker that is silent, in which a part may not come to an end. */
  watch(slot) {
    clearTimeout(slot.timer);
    if (!slot.job || !this.parts.length) return;
    const names = this.parts.map(({ name }) => name).filter(name => slot.job.text.includes(name));
    const who = names.length > 1 ? `One of the parts ${names.join(", ")}` : `The part ${names}`;
    const message = `${who} has not answered for ${MOST_SILENT_MS / 1000} s, and its run was ended.`;
    slot.timer = setTimeout(() => this.fail(slot, new Error(message)), MOST_SILENT_MS);
  }

  /** Reads a part in a worker of its own; returns a promise of what it is. */
  inspect(bytes) {
    const worker = newWorker();
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error(`found no end after ${MOST_SILENT_MS / 1000} s; allowed: less`));
      setTimeout(late, MOST_SILENT_MS);
      worker.onerror = () => reject(new Error("A worker of the page has failed."));
      worker.onmessage = ({ data }) => (data.part ? resolve(data.part) : reject(Object.assign(new Error(), data.error)));
      worker.postMessage({ kind: "inspect", bytes });
    }).finally(() => worker.terminate());
  }

  /** Brings a part to all workers, those that start later too. */
  take(part) {
    this.parts.push(part);
    for (const { worker } of this.slots.values()) worker.postMessage({ kind: "part", part });
  }

  /** Stops all jobs; their promises are rejected with `Stopped`. */
  stop() {
    for (const slot of [...this.slots.values()]) slot.stop();
  }

  /** Brings a file to all workers, those that start later too. */
  keep(name, content) {
    this.files.set(name, content);
    for (const { worker } of this.slots.values()) worker.postMessage({ kind: "file", name, content });
  }

  start(index) {
    const worker = newWorker();
    const slot = { worker, index, module: this.module, job: undefined, bytes: 0 };
    slot.stop = () => {
      if (!slot.job) return;
      slot.job.reject(new Stopped());
      slot.job = undefined;
      clearTimeout(slot.timer);
      // How much memory its parts have is not known.
      if (this.parts.length) return this.end(slot);
      worker.postMessage({ kind: "stop" });
      this.rest(slot);
    };
    worker.onmessage = ({ data }) => this.hear(slot, data);
    worker.onerror = () => this.fail(slot, new Error("A worker of the page has failed."));
    worker.postMessage({ kind: "module", module: this.module });
    for (const [name, content] of this.files) worker.postMessage({ kind: "file", name, content });
    for (const part of this.parts) worker.postMessage({ kind: "part", part });
    return slot;
  }

  hear(slot, { kind, id, bytes = 0, ...data }) {
    const { job } = slot;
    if (id === undefined || id !== job?.id) return;
    this.watch(slot);
    if (kind === "failed") return this.fail(slot, Object.assign(new Error(data.error.message), data.error));
    slot.bytes = bytes;
    if (this.bytes > this.mostBytes) return this.fail(slot, new MemoryError("The runs need more", this.mostBytes));
    if (kind === "progress") return job.onProgress(data);
    slot.job = undefined;
    clearTimeout(slot.timer);
    job.resolve(data);
    this.rest(slot);
  }

  /** Memory that the workers have. */
  get bytes() {
    return [...this.slots.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  rest(slot) {
    if (slot.bytes > KEPT_BYTES || slot.module !== this.module) this.end(slot);
  }

  /** A worker that has failed is replaced: its module has stopped for good. */
  fail(slot, error) {
    slot.job?.reject(error);
    slot.job = undefined;
    this.end(slot);
  }

  end(slot) {
    clearTimeout(slot.timer);
    slot.worker.terminate();
    this.slots.delete(slot.index);
  }
}

function newWorker() {
  return new Worker(new URL("worker.js", import.meta.url), { type: "module" });
}

/** A job was stopped, by the user or by a newer one. */
export class Stopped extends Error {
  constructor() {
    super("stopped");
    this.name = "Stopped";
  }
}
