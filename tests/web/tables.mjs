// Runs scenarios in the module under node: `node tables.mjs MODULE CORE INPUT`.
// INPUT is JSON: `scenarios` are texts by name, `files` paths by the name that scenarios have for them.
// Prints JSON: for each scenario its fingerprint, warnings and verdict, and a digest of each column.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [, , wasm, script, input] = process.argv;
const { Core } = await import(pathToFileURL(script));
const core = await Core.of(await WebAssembly.compile(await readFile(wasm)));
const { scenarios, files } = JSON.parse(await readFile(input, "utf-8"));
for (const [name, path] of Object.entries(files)) core.ask({ verb: "keep", name }, await readFile(path));

function run(text) {
  core.ask({ verb: "check", text });
  core.ask({ verb: "start", text, variant: 0 });
  while (core.ask({ verb: "advance", events: 50_000 }).goes_on);
  const { value, blob } = core.exchange({ verb: "finish" });
  const { fingerprint, warnings, rows } = value;
  const tables = Object.entries(value.tables).map(([table, { columns }]) => [table, digests(columns, blob)]);
  const verdict = core.ask({ verb: "judge", text, runs: [{ number: 0, rows }] });
  return { fingerprint, warnings, tables: Object.fromEntries(tables), verdict };
}

function digests(columns, blob) {
  const digest = ({ first, count, texts }) =>
    createHash("sha256")
      .update(JSON.stringify(texts ?? []))
      .update(blob.subarray(first * 8, (first + count) * 8))
      .digest("hex");
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, digest(column)]));
}

const found = Object.entries(scenarios).map(([name, text]) => [name, run(text)]);
process.stdout.write(JSON.stringify(Object.fromEntries(found)));
