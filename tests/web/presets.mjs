// Runs each queue manager of the page's list in the module under node: `node presets.mjs MODULE STATIC`.
// Prints JSON: the fingerprint of each by its name, and the page's scenario without a queue.

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const DURATION_S = 5;

const [, , wasm, folder] = process.argv;
const part = name => import(pathToFileURL(`${folder}/${name}.js`));
const { Core } = await part("core");
const { QUEUES } = await part("catalog");
const { firstChoices, scenarioOf, settingOf } = await part("choices");
const { toml } = await part("toml");

const core = await Core.of(await WebAssembly.compile(await readFile(wasm)));
Object.assign(QUEUES, core.ask({ verb: "about" }).presets);
const choices = firstChoices();
choices.base.duration_s = DURATION_S;

function fingerprint(name) {
  const text = toml(scenarioOf({ ...choices, settings: [settingOf(name)] }));
  core.ask({ verb: "start", text, variant: 0 });
  while (core.ask({ verb: "advance", events: 1e6 }).goes_on);
  return core.ask({ verb: "finish" }).fingerprint;
}

const fingerprints = Object.fromEntries(Object.keys(QUEUES).map(name => [name, fingerprint(name)]));
const { upstream, ...rest } = scenarioOf(choices);
const { queue: _, ...service } = upstream;
delete rest.compare;
process.stdout.write(JSON.stringify({ fingerprints, scenario: { ...rest, upstream: service } }));
