// Limits to what a part may take of the browser. It could take gigabytes within one call, before anybody looks.

const TYPES = 1;
const TABLES = 4;
const MEMORIES = 5;
/** How the type of a function begins; others are those of objects that the browser collects. */
const FUNCTION = 0x60;
/** Value types that go on with a number. */
const REFERENCES = [0x63, 0x64];
const TABLE_ELEMENTS = [0x6f, 0x70];
const PAGE_BYTES = 65_536;
const MOST_TABLE_ELEMENTS = 10_000;
const HEADER_BYTES = 8;

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
    const kept =
      kind === TABLES
        ? limitedTable(new Reader(content))
        : kind === MEMORIES
          ? limitedOne(new Reader(content), [], Math.floor(mostBytes / PAGE_BYTES), "pages of memory")
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

function limitedTable(tables) {
  if (tables.bytes[0] === 0) return tables.bytes;
  const kind = tables.bytes[1];
  if (!TABLE_ELEMENTS.includes(kind)) throw new Error("found a table with typed elements; allowed: one of functions");
  return limitedOne(tables, [kind], MOST_TABLE_ELEMENTS, "elements of a table");
}

/** The only entry of a section, which begins with these bytes. */
function limitedOne(section, first, most, what) {
  const count = section.number();
  if (count === 0) return section.bytes;
  section.take(first.length);
  const flags = section.byte();
  const [size, own] = [section.number(), flags === 1 ? section.number() : most];
  if (count > 1 || flags > 1 || size > most) throw new Error(`found more than ${most} ${what}, or several; allowed: less`);
  return [1, ...first, 1, ...digits(size), ...digits(Math.min(own, most))];
}
