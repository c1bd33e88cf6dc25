// Runs scenario files in the module under node: `node fingerprints.mjs MODULE CORE FILE...`.
// Prints JSON: for each file its variants, their fingerprints, and how long they took.

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [, , wasm, script, ...files] = process.argv;
const { Core } = await import(pathToFileURL(script));
const module = await WebAssembly.compile(await readFile(wasm));
const core = await Core.of(module);
const runs = {};
for (const file of files) {
  const text = await readFile(file, "utf-8");
  runs[file] = core.ask({ verb: "check", text }).map(({ name }, variant) => {
    const start = performance.now();
    core.ask({ verb: "start", text, variant });
    let slices = 0;
    while (core.ask({ verb: "advance", events: 50_000 }).goes_on) slices++;
    const { fingerprint, events } = core.ask({ verb: "finish" });
    return { name, fingerprint, events, slices, ms: performance.now() - start };
  });
}
process.stdout.write(JSON.stringify({ runs, imports: WebAssembly.Module.imports(module) }));
