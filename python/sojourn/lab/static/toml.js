// Writes scenarios as TOML: a section for each table, and tables with a `kind` on one line.

const BARE_KEY = /^[A-Za-z0-9_-]+$/;

/** A TOML document; keys without a value and empty tables are left out. */
export function toml(table) {
  return sections(without(table), []).join("").replace(/^\n/, "");
}

/** A value on one line. */
export function tomlValue(value) {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number") return number(value);
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  return `{ ${pairs(value).join(", ")} }`;
}

/** The number that a text says; a whole one that a float would round is a BigInt. */
export function numberOf(text) {
  const number = Number(text);
  const isRounded = /^\s*[+-]?\d+\s*$/.test(text) && !Number.isSafeInteger(number);
  return isRounded ? BigInt(text.replace("+", "")) : number;
}

function sections(table, path) {
  const inner = Object.entries(table).filter(([, value]) => isTable(value) && !("kind" in value));
  const own = Object.fromEntries(
    Object.entries(table).filter(([key]) => !inner.some(([name]) => name === key)),
  );
  const lines = pairs(own).map(line => `${line}\n`);
  const isNeeded = path.length && (lines.length || !inner.length);
  const heading = isNeeded ? [`\n[${path.map(key).join(".")}]\n`] : [];
  return [...heading, ...lines, ...inner.flatMap(([name, value]) => sections(value, [...path, name]))];
}

function pairs(table) {
  return Object.entries(table).map(([name, value]) => `${key(name)} = ${tomlValue(value)}`);
}

function number(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
  // TOML has whole numbers and floats; JavaScript writes large ones as 1e+21.
  return String(value).replace("e+", "e");
}

function key(name) {
  return BARE_KEY.test(name) ? name : quoted(name);
}

// JSON strings are valid TOML, except that TOML requires DEL to be escaped.
function quoted(text) {
  return JSON.stringify(text).replaceAll("\x7f", "\\u007f");
}

export function isTable(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** Without undefined and null. Empty tables stay: they may name a variant or a group of homes. */
function without(value) {
  if (Array.isArray(value)) return value.map(without);
  if (!isTable(value)) return value;
  const set = Object.entries(value).filter(([, inner]) => inner !== undefined && inner !== null);
  return Object.fromEntries(set.map(([name, inner]) => [name, without(inner)]));
}
