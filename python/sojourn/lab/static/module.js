// Loads the simulator's module, once for the page and its workers: a small one first, and a fast one
// for a run that takes long.

import { Core } from "./core.js";

const SMALL = "sojourn.wasm";
export const FAST = "sojourn-fast.wasm";

/** More than a capture of an evening; a page keeps files in memory. */
export const MOST_FILES_BYTES = 256 * 1024 * 1024;

/** The module cannot be had. */
export class ModuleError extends Error {}

/** Compiles the module; throws `ModuleError`. */
export async function loadModule(name = SMALL) {
  const response = await fetch(new URL(name, import.meta.url)).catch(() => undefined);
  if (!response?.ok) {
    const message =
      `The simulator's module ${name} is missing beside the page. In a clone of Sojourn, ` +
      "`make web` builds it.";
    throw new ModuleError(message);
  }
  try {
    // A host that does not know the type application/wasm still serves the bytes.
    const isKnown = response.headers.get("content-type")?.startsWith("application/wasm");
    return await (isKnown
      ? WebAssembly.compileStreaming(response)
      : WebAssembly.compile(await response.arrayBuffer()));
  } catch (error) {
    throw new ModuleError(`This browser cannot load the simulator: ${error.message}`);
  }
}

/** The module on the page's own thread, for checks. After a defect it starts again. */
export class Checker {
  static async of(module) {
    return new Checker(module, await Core.of(module));
  }

  constructor(module, core) {
    Object.assign(this, { module, core, files: new Map(), parts: [] });
  }

  ask(request, blob) {
    return this.exchange(request, blob).value;
  }

  exchange(request, blob) {
    try {
      return this.core.exchange(request, blob);
    } catch (error) {
      if (error.name === "Defect") this.restart();
      throw error;
    }
  }

  /** Keeps a file that scenarios may name; throws if all that are kept are too large. */
  keep(name, content) {
    const files = new Map(this.files).set(name, content);
    const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0);
    if (bytes > MOST_FILES_BYTES)
      throw new Error(
        `found ${bytes} bytes in all files; allowed: ${MOST_FILES_BYTES} or less; reload the page to drop the others`,
      );
    this.files = files;
    this.core.ask({ verb: "keep", name }, content);
  }

  /** Takes a part that was inspected. It is described here, and called by workers alone. */
  take(part) {
    const described = this.core.take(part);
    this.parts.push(part);
    return described;
  }

  restart() {
    // Synchronous, so that the next question has somebody to answer it.
    this.core = Core.now(this.module);
    for (const part of this.parts) this.core.take(part);
    for (const [name, content] of this.files) this.core.ask({ verb: "keep", name }, content);
  }
}
