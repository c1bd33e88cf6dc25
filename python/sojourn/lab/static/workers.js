// Workers, one for each variant. Each does the latest job that it was given.

/** Runs jobs in workers; `of(index)` is the worker of a variant. */
export class Workers {
  constructor(module) {
    Object.assign(this, { module, slots: [], files: new Map(), jobs: 0 });
  }

  /** Gives a job to a worker and returns a promise of its outcome; a newer job stops it. */
  run(index, job, onProgress = () => {}) {
    const slot = (this.slots[index] ??= this.start());
    slot.stop();
    const id = ++this.jobs;
    return new Promise((resolve, reject) => {
      slot.job = { id, resolve, reject, onProgress };
      slot.worker.postMessage({ kind: "job", id, ...job });
    });
  }

  /** Stops all jobs; their promises are rejected with `Stopped`. */
  stop() {
    for (const slot of this.slots) slot.stop();
  }

  /** Brings a file to all workers, those that start later too. */
  keep(name, content) {
    this.files.set(name, content);
    for (const { worker } of this.slots) worker.postMessage({ kind: "file", name, content });
  }

  start() {
    const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    const slot = { worker, job: undefined };
    slot.stop = () => {
      if (!slot.job) return;
      slot.job.reject(new Stopped());
      slot.job = undefined;
      worker.postMessage({ kind: "stop" });
    };
    worker.onmessage = ({ data }) => this.hear(slot, data);
    worker.onerror = () => this.fail(slot, new Error("A worker of the page has failed."));
    worker.postMessage({ kind: "module", module: this.module });
    for (const [name, content] of this.files) worker.postMessage({ kind: "file", name, content });
    return slot;
  }

  hear(slot, { kind, id, ...data }) {
    const { job } = slot;
    if (id === undefined || id !== job?.id) return;
    if (kind === "progress") return job.onProgress(data);
    if (kind === "failed") return this.fail(slot, Object.assign(new Error(data.error.message), data.error));
    slot.job = undefined;
    job.resolve(data);
  }

  /** A worker that has failed is replaced: its module has stopped for good. */
  fail(slot, error) {
    slot.job?.reject(error);
    slot.job = undefined;
    slot.worker.terminate();
    delete this.slots[this.slots.indexOf(slot)];
  }
}

/** A job was stopped, by the user or by a newer one. */
export class Stopped extends Error {
  constructor() {
    super("stopped");
    this.name = "Stopped";
  }
}
