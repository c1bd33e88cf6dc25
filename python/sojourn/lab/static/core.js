// The simulator: a WebAssembly module that takes requests and replies with JSON and columns.
// It runs in pages, workers and node alike.

import { Parts } from "./parts.js";
import { plain } from "./plain.js";

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

/** What is wrong with a scenario or file: a list of faults with `source`, `path` and `message`. */
export class InputError extends Error {
  constructor(faults) {
    const shown = faults.map(one => ({ ...one, path: plain(one.path), message: plain(one.message) }));
    super(shown.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("\n"));
    this.name = "InputError";
    this.faults = shown;
  }
}

/** A defect of the simulator, which has stopped. */
export class Defect extends Error {
  constructor(message) {
    super(`A defect in Sojourn, please report it: ${message}`);
    this.name = "Defect";
  }
}

/** An instance of the module. */
export class Core {
  /** From a compiled `WebAssembly.Module`. */
  static async of(module) {
    const core = new Core();
    core.exports = (await WebAssembly.instantiate(module, core.imports)).exports;
    return core;
  }

  /** The same at once, where one cannot wait. */
  static now(module) {
    const core = new Core();
    core.exports = new WebAssembly.Instance(module, core.imports).exports;
    return core;
  }

  constructor() {
    this.parts = new Parts();
    this.imports = this.parts.imports(() => this.exports.memory);
  }

  /** Bytes of memory that it holds, and its parts. */
  get memoryBytes() {
    return this.exports.memory.buffer.byteLength + this.parts.memoryBytes;
  }

  /** Takes a part that was inspected; returns its name, role and doc. */
  take({ bytes, declaration, functions, interface: version, digest }) {
    return this.ask({ verb: "part", number: this.parts.add(bytes), functions, interface: version, digest }, declaration);
  }

  /** The value that answers a request; throws `InputError` or `Defect`. */
  ask(request, blob = new Uint8Array()) {
    return this.exchange(request, blob).value;
  }

  /** The value, and a copy of the blob that came with it. */
  exchange(request, blob = new Uint8Array()) {
    const json = ENCODER.encode(JSON.stringify(request, wellFormed));
    try {
      const at = this.exports.reserve(4 + json.length + blob.length);
      const { buffer } = this.exports.memory;
      new DataView(buffer).setUint32(at, json.length, true);
      new Uint8Array(buffer).set(json, at + 4);
      new Uint8Array(buffer).set(blob, at + 4 + json.length);
      this.exports.handle();
    } catch (error) {
      throw new Defect(this.text("defect") || String(error));
    }
    const { value, faults } = JSON.parse(this.text("reply"), exact);
    if (faults) throw new InputError(faults);
    return { value, blob: this.bytes("blob") };
  }

  text(part) {
    return DECODER.decode(this.bytes(part));
  }

  bytes(part) {
    const at = this.exports[`${part}_at`]();
    return new Uint8Array(this.exports.memory.buffer).slice(at, at + this.exports[`${part}_size`]());
  }
}

/** UTF-8 has no halves of characters. */
function wellFormed(_, value) {
  return typeof value === "string" ? value.toWellFormed() : value;
}

/** Whole numbers that a float would round come as texts. */
function exact(_, value) {
  return typeof value?.$integer === "string" ? BigInt(value.$integer) : value;
}

/** A column: its numbers, or its texts by number. */
export function column({ first, count, texts }, blob) {
  const numbers = new Float64Array(blob.buffer, first * 8, count);
  return texts ? Array.from(numbers, number => texts[number] ?? null) : numbers;
}

/** The rows of a table, as objects; a cell without a value is null. */
export function rows({ rows: count, columns }, blob) {
  const read = Object.entries(columns).map(([name, place]) => [name, column(place, blob)]);
  return Array.from({ length: count }, (_, row) =>
    Object.fromEntries(
      read.map(([name, cells]) => [name, Number.isNaN(cells[row]) ? null : cells[row]]),
    ),
  );
}
