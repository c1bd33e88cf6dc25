// Writes numbers as the page does: `node digits.mjs CURVES VALUES` prints a JSON list of texts for a JSON list of numbers.

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [, , curves, values] = process.argv;
const { digits } = await import(pathToFileURL(curves));
process.stdout.write(JSON.stringify(JSON.parse(await readFile(values)).map(digits)));
