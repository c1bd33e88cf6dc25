// Parts of a user's own: WebAssembly modules that the browser compiles. The simulator calls them through its one
// import. docs/how-to/wasm-parts.md has their interface.

import { limited } from "./part-limits.js";

const VERSIONS = [1, 2];
const MOST_DECLARATION_BYTES = 65_536;
const MOST_MODULE_BYTES = 1 << 20;
/** Of an instance on the command line, so also of one that is only asked what it is. */
export const INSPECTED_BYTES = 16 * 1024 * 1024;
/** Of all programs of a run. */
export const RUN_BYTES = 256 * 1024 * 1024;
const MOST_NUMBERS = 64;
const MOST_ANSWERS = 256;
const FLOAT_BYTES = 8;
/** Hooks by their numbers, as the simulator has them. */
const HOOKS = [
  "on_arrival",
  "on_departure",
  "on_update",
  "on_empty",
  "on_start",
  "on_ack",
  "on_loss",
  "on_ecn",
  "on_timeout",
  "on_established",
  "on_round_trip",
  "on_sample",
  "on_feedback",
  "on_mark",
  "on_restart",
  "on_undo",
  "on_wake",
  "on_timer",
  "on_open",
  "on_received",
  "on_acknowledged",
  "on_datagram",
  "on_lost",
  "on_probe",
];
const START = -1;
const GAUGES = -2;

/** Something is wrong with a part. */
export class PartError extends Error {
  constructor(message) {
    super(message);
    this.name = "PartError";
  }
}

/** Compiles a module and reads what it says of itself. It runs, so this belongs into a worker that can be ended. */
export async function inspect(bytes) {
  if (bytes.length > MOST_MODULE_BYTES)
    throw new PartError(`found ${bytes.length} bytes; allowed: ${MOST_MODULE_BYTES} at most`);
  const module = await compiled(bytes);
  const imports = WebAssembly.Module.imports(module).map(({ module, name }) => `${module}.${name}`);
  if (imports.length)
    throw new PartError(`found the imports ${imports.slice(0, 5).join(", ")}; allowed: a module without imports`);
  const functions = WebAssembly.Module.exports(module).filter(({ kind }) => kind === "function");
  const instance = new Program(module);
  return {
    bytes,
    functions: functions.map(({ name }) => name),
    interface: instance.interface,
    declaration: instance.declaration,
    digest: await digestOf(bytes),
  };
}

async function compiled(bytes) {
  await WebAssembly.compile(bytes).catch(error => {
    throw new PartError(`found no WebAssembly module: ${error.message}`);
  });
  try {
    return await WebAssembly.compile(limited(bytes, INSPECTED_BYTES));
  } catch ({ message }) {
    throw new PartError(message);
  }
}

/** As that of the command line: the beginning of SHA-256. Pages without encryption have none. */
export async function digestOf(bytes) {
  const digest = await globalThis.crypto?.subtle?.digest("SHA-256", bytes);
  const digits = Array.from(new Uint8Array(digest ?? []), byte => byte.toString(16).padStart(2, "0"));
  return digits.join("").slice(0, 16);
}

/** A module with its memory, in which all instances of a part live. */
class Program {
  constructor(module) {
    this.instances = 0;
    try {
      this.exports = new WebAssembly.Instance(module, {}).exports;
    } catch (error) {
      throw new PartError(error.message);
    }
    if (!(this.exports.memory instanceof WebAssembly.Memory)) throw new PartError("found no memory called memory");
    this.interface = this.get("sojourn_abi");
    if (!VERSIONS.includes(this.interface))
      throw new PartError(`sojourn_abi: found ${this.interface}; allowed: ${VERSIONS.join(", ")}`);
    this.floats = floatsOf(() => this.exports.memory);
    this.numbersAt = this.room("sojourn_numbers", MOST_NUMBERS);
    this.answersAt = this.room("sojourn_answers", MOST_ANSWERS);
  }

  /** Its instances together may have as much as each has on the command line. */
  checkMemory() {
    const mostBytes = INSPECTED_BYTES * Math.max(1, this.instances);
    if (this.exports.memory.buffer.byteLength <= mostBytes) return;
    const most = INSPECTED_BYTES / 1024 / 1024;
    throw new PartError(`found more than ${most} MiB of memory for each instance; allowed: ${most} MiB at most`);
  }

  get(name) {
    return this.run(name, () => this.function(name)());
  }

  function(name) {
    const found = this.exports[name];
    if (typeof found !== "function") throw new PartError(`found no function ${name}`);
    return found;
  }

  run(name, work) {
    try {
      return work();
    } catch (error) {
      throw error instanceof PartError ? error : new PartError(`${name}: ${error.message}`);
    }
  }

  /** The address of so many floats. */
  room(name, count) {
    const at = this.get(name) >>> 0;
    const isAligned = at % FLOAT_BYTES === 0;
    if (isAligned && at + count * FLOAT_BYTES <= this.exports.memory.buffer.byteLength) return at;
    throw new PartError(`${name}: found no room for ${count} floats at ${at}; allowed: a multiple of ${FLOAT_BYTES}`);
  }

  get declaration() {
    const name = "sojourn_declaration";
    const at = this.get(name) >>> 0;
    const bytes = new Uint8Array(this.exports.memory.buffer).subarray(at, at + MOST_DECLARATION_BYTES);
    const end = bytes.indexOf(0);
    if (end >= 0) return bytes.slice(0, end);
    const allowed = `${MOST_DECLARATION_BYTES} bytes at most, the last of them zero`;
    throw new PartError(`${name}: found no text with an end in the memory at ${at}; allowed: ${allowed}`);
  }

  /** Starts an instance: gets the halves of its seed, then its parameters. */
  start(from, at, count) {
    const seed = BigInt.asIntN(64, (BigInt(from[at]) << 32n) | BigInt(from[at + 1]));
    this.write(from, at + 2, count - 2);
    return this.run("sojourn_start", () => this.function("sojourn_start")(seed, this.numbersAt));
  }

  /** Calls a hook with floats of an array; returns how many it answers. */
  call(name, instance, from, at, count) {
    this.write(from, at, count);
    const found = this.run(name, () => this.exports[name](instance, this.numbersAt, this.answersAt));
    if (found >= 0 && found <= MOST_ANSWERS) return found;
    throw new PartError(`found ${found} answers; allowed: 0 to ${MOST_ANSWERS}`);
  }

  write(from, at, count) {
    copy(from, at, this.floats(), this.numbersAt / FLOAT_BYTES, count);
  }

  /** Copies answers into an array. */
  read(into, at, count) {
    copy(this.floats(), this.answersAt / FLOAT_BYTES, into, at, count);
  }
}

function copy(from, start, into, at, count) {
  for (let place = 0; place < count; place++) into[at + place] = from[start + place];
}

/** A function that returns the floats of a memory, whose buffer is another one after it has grown. */
function floatsOf(memoryOf) {
  let floats = new Float64Array();
  return () => {
    const { buffer } = memoryOf();
    if (floats.buffer !== buffer) floats = new Float64Array(buffer);
    return floats;
  };
}

/** The parts that a simulator may call. */
export class Parts {
  constructor() {
    this.parts = [];
    this.reset();
  }

  /** Takes the bytes of a module; returns its number. */
  add(bytes) {
    return this.parts.push({ bytes }) - 1;
  }

  /** Forgets all instances: a new run has new ones, whose programs may have so much memory together. */
  reset(mostBytes = RUN_BYTES) {
    this.mostBytes = mostBytes;
    this.programs = new Map();
    this.instances = [];
  }

  /** Bytes of memory that the instances have. */
  get memoryBytes() {
    return [...this.programs.values()].reduce((sum, { exports }) => sum + exports.memory.buffer.byteLength, 0);
  }

  /** The import of a simulator whose memory `memoryOf` returns. */
  imports(memoryOf) {
    const floats = floatsOf(memoryOf);
    const call = (whose, what, numbersAt, count, answersAt) => {
      const own = floats();
      const numbers = numbersAt / FLOAT_BYTES;
      try {
        if (what === START) return this.start(whose, own, numbers, count);
        const { program, instance } = this.instances[whose];
        const name = what === GAUGES ? "gauges" : HOOKS[what];
        const found = program.call(name, instance, own, numbers, count);
        program.checkMemory();
        program.read(own, answersAt / FLOAT_BYTES, found);
        return found;
      } catch (error) {
        const room = new Uint8Array(own.buffer, answersAt, MOST_ANSWERS * FLOAT_BYTES);
        return -Math.max(1, new TextEncoder().encodeInto(error.message, room).written);
      }
    };
    return { parts: { call } };
  }

  /** The module of a part. It cannot grow beyond its part of the memory, not even within a call. */
  module(number) {
    const mostBytes = Math.floor(this.mostBytes / this.parts.length);
    const part = this.parts[number];
    if (part.mostBytes !== mostBytes) {
      part.module = new WebAssembly.Module(limited(part.bytes, mostBytes));
      part.mostBytes = mostBytes;
    }
    return part.module;
  }

  /** Starts an instance of a part; returns its number. */
  start(number, from, at, count) {
    if (!this.programs.has(number)) this.programs.set(number, new Program(this.module(number)));
    const program = this.programs.get(number);
    program.instances += 1;
    return this.instances.push({ program, instance: program.start(from, at, count) }) - 1;
  }
}
