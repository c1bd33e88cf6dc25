// Limits to what a part may take of the browser. It could take gigabytes within one call, before anybody looks. What the
// command line does not run, such as SIMD, is refused here too, so that a part runs in both or in none.

const TYPES = 1;
const TABLES = 4;
const MEMORIES = 5;
const CODE = 10;
/** How the type of a function begins; others are those of objects that the browser collects. */
const FUNCTION = 0x60;
/** Value types that go on with a number. */
const REFERENCES = [0x63, 0x64];
const TABLE_ELEMENTS = [0x6f, 0x70];
const PAGE_BYTES = 65_536;
const MOST_TABLE_ELEMENTS = 10_000;
const HEADER_BYTES = 8;
const NUMBER_TYPES = [0x7f, 0x7e, 0x7d, 0x7c];

/** How many numbers or bytes follow an instruction, where any do: `n` numbers in LEB128, or bytes. */
const FOLLOW = new Map();
for (const code of [0x0c, 0x0d, 0x10, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x3f, 0x40, 0x41, 0x42, 0xd0, 0xd2])
  FOLLOW.set(code, { numbers: 1 });
FOLLOW.set(0x11, { numbers: 2 });
for (let code = 0x28; code <= 0x3e; code++) FOLLOW.set(code, { numbers: 2 });
FOLLOW.set(0x43, { bytes: 4 });
FOLLOW.set(0x44, { bytes: 8 });
/** Instructions that end after their byte, or after a type: from, to. */
const ALONE = [[0x00, 0x01], [0x05, 0x05], [0x0b, 0x0b], [0x0f, 0x0f], [0x1a, 0x1b], [0x45, 0xc4], [0xd1, 0xd1]];
const BLOCKS = [0x02, 0x03, 0x04];
const BRANCHES = 0x0e;
const TYPED_SELECT = 0x1c;
/** Those that convert with saturation, and move memory and tables: how many numbers follow each. */
const MORE = 0xfc;
const FOLLOW_MORE = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1];

/**
 * A valid module whose one table and one memory of `mostBytes` cannot grow beyond. Throws an `Error` if it has more
 * from the start, or what cannot be limited.
 */
export function limited(bytes, mostBytes) {
  const module = new Reader(bytes);
  const found = [...module.take(HEADER_BYTES)];
  while (module.at < bytes.length) {
    const kind = module.byte();
    const content = module.take(module.number());
    if (kind === TYPES) checkTypes(new Reader(content));
    if (kind === CODE) checkCode(new Reader(content));
    const kept =
      kind === TABLES
        ? limitedTables(new Reader(content))
        : kind === MEMORIES
          ? limitedMemory(new Reader(content), Math.floor(mostBytes / PAGE_BYTES))
          : content;
    found.push(kind, ...digits(kept.length));
    for (const byte of kept) found.push(byte);
  }
  return Uint8Array.from(found);
}

class Reader {
  constructor(bytes) {
    Object.assign(this, { bytes, at: 0 });
  }

  byte() {
    return this.bytes[this.at++];
  }

  take(count) {
    return this.bytes.subarray(this.at, (this.at += count));
  }

  /** Goes on by numbers in LEB128, with or without sign. */
  skip(count) {
    for (; count > 0; count--) while (this.byte() & 128);
  }

  /** A whole number from 0, in LEB128. */
  number() {
    const byte = this.byte();
    return byte < 128 ? byte : byte - 128 + 128 * this.number();
  }
}

function digits(number) {
  return number < 128 ? [number] : [(number % 128) + 128, ...digits(Math.floor(number / 128))];
}

function checkTypes(types) {
  for (let left = types.number(); left > 0; left--) {
    if (types.byte() !== FUNCTION) throw new Error("found types of objects; allowed: those of functions");
    for (const _ of ["arguments", "results"]) {
      for (let values = types.number(); values > 0; values--) if (REFERENCES.includes(types.byte())) types.number();
    }
  }
}

/** Functions have what the command line runs: numbers, and memory and tables that move. */
function checkCode(code) {
  for (let left = code.number(); left > 0; left--) {
    const body = new Reader(code.take(code.number()));
    for (let kinds = body.number(); kinds > 0; kinds--) {
      body.number();
      const type = body.byte();
      if (!NUMBER_TYPES.includes(type) && !TABLE_ELEMENTS.includes(type))
        throw new Error(`found values of type 0x${type.toString(16)}; allowed: numbers, no SIMD`);
    }
    while (body.at < body.bytes.length) skipInstruction(body);
  }
}

function skipInstruction(body) {
  const code = body.byte();
  const follow = FOLLOW.get(code);
  if (follow?.bytes) return void body.take(follow.bytes);
  if (follow) return body.skip(follow.numbers);
  if (BLOCKS.includes(code)) return body.skip(1);
  if (code === BRANCHES) return body.skip(body.number() + 1);
  if (code === TYPED_SELECT) return body.skip(body.number());
  if (ALONE.some(([from, to]) => from <= code && code <= to)) return;
  const more = code === MORE ? FOLLOW_MORE[body.number()] : undefined;
  if (more === undefined)
    throw new Error(
      `found the instruction 0x${code.toString(16)}; allowed: those that compilers of C and Rust use by default, no SIMD, threads or tail calls`,
    );
  body.skip(more);
}

function limitedTables(tables) {
  const count = tables.number();
  const found = [...digits(count)];
  for (let left = count; left > 0; left--) {
    const kind = tables.byte();
    if (!TABLE_ELEMENTS.includes(kind)) throw new Error("found a table with typed elements; allowed: one of functions");
    found.push(kind, ...limits(tables, MOST_TABLE_ELEMENTS, "elements of a table"));
  }
  return found;
}

function limitedMemory(section, most) {
  const count = section.number();
  if (count > 1) throw new Error(`found ${count} memories; allowed: one`);
  return count ? [1, ...limits(section, most, "pages of memory")] : [0];
}

/** The least and the most that one may have. */
function limits(section, most, what) {
  const flags = section.byte();
  if (flags > 1) throw new Error(`found ${what} that are shared or counted in 64 bits; allowed: others`);
  const [size, own] = [section.number(), flags === 1 ? section.number() : most];
  if (size > most) throw new Error(`found ${size} ${what}; allowed: ${most} at most`);
  return [1, ...digits(size), ...digits(Math.min(own, most))];
}
