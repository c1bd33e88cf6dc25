// Compares plain data.

import { isTable } from "./toml.js";

/** Are two values equal, key by key? The order of keys does not count. */
export function isEqual(a, b) {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((value, index) => isEqual(value, b[index]));
  if (!isTable(a) || !isTable(b)) return Object.is(a, b);
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(key => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
  );
}

/** The dotted keys of a table with their values. */
export function flattened(table, path = "") {
  return Object.entries(table ?? {}).flatMap(([key, value]) =>
    isTable(value) ? flattened(value, `${path}${key}.`) : [[path + key, value]],
  );
}
