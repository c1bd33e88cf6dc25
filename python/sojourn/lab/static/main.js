// Puts the page together: choices on one side, what comes of them on the other.

import { Asking, post } from "./asking.js";
import { away } from "./away.js";
import { byId, make, show } from "./dom.js";
import { showFault } from "./faults.js";
import { Figures } from "./figures.js";
import { Forms } from "./form.js";
import { Picture } from "./picture.js";
import { people } from "./people.js";
import { Schema } from "./schema.js";
import { Service } from "./service.js";
import { Settings } from "./settings.js";
import { verdicts } from "./verdicts.js";

const { catalog, schema: root, palette } = await (await fetch("api/choices")).json();
for (const [index, color] of palette.entries()) {
  document.documentElement.style.setProperty(`--line-${index}`, color);
}

/** Was the last modem's file refused? Answers to what was asked before do not change that. */
let isFileRefused = false;
const schema = new Schema(root);
const forms = new Forms(schema, changed);
const counts = {};
const settings = new Settings(catalog, forms, schema, changed);
const service = new Service(catalog, forms, schema, changed, takeModem);
const figures = new Figures(byId("figures"), catalog.activities);
const picture = new Picture(byId("picture"), catalog.activities, palette, failed);
const asking = new Asking("api/run", {
  asked: () => byId("results").setAttribute("aria-busy", "true"),
  told,
  failed: fault => {
    failed(fault);
    picture.doubt(asking.isBehind);
  },
});

byId("people").append(people(catalog.activities, counts, changed));
byId("settings").append(settings.element);
byId("service").append(service.element);
byId("run").append(service.run);
byId("choices").addEventListener("submit", event => event.preventDefault());
// A file that misses its place must not take the page's.
for (const kind of ["dragover", "drop"])
  document.addEventListener(kind, event => event.preventDefault());
away(byId("away"), wished, say, failed);
changed();

/** The choices, as the server wants them. */
function wished() {
  return {
    base: pruned(service.base),
    activities: { ...counts },
    settings: settings.wanted().map(pruned),
  };
}

function changed() {
  isFileRefused = false;
  service.keepPeaks();
  asking.ask(wished());
  picture.doubt(true);
}

function told(answer, tookMs, wish) {
  if (!isFileRefused) showFault(null);
  byId("results").removeAttribute("aria-busy");
  const { duration_s: simulated } = answer.runs[0];
  const times = answer.runs.length > 1 ? `${answer.runs.length} × ` : "";
  const grades = answer.verdicts.map(
    ({ use, cells }) => `${use} ${cells.map(cell => cell?.grade ?? "–").join(" and ")}`,
  );
  say(`Simulated ${times}${simulated} s in ${(tookMs / 1000).toFixed(2)} s: ${grades.join(", ")}.`);
  verdicts(byId("verdicts"), answer);
  warnings(answer.runs);
  figures.show(answer.figures);
  picture.renew(wish, answer.picture_until_s);
  picture.doubt(asking.isBehind);
}

function failed(fault) {
  byId("results").removeAttribute("aria-busy");
  showFault(
    fault,
    settings.wanted().map(({ name }) => name),
  );
  say("Nothing new was simulated; the results are those of the last choices that can be.");
}

function say(text) {
  byId("status").textContent = text;
}

function warnings(runs) {
  const lines = new Set(runs.flatMap(run => run.warnings));
  show(
    byId("warnings"),
    ...[...lines].map(line => make("p", { class: "warning" }, `Before you trust this: ${line}`)),
  );
}

async function takeModem(file) {
  try {
    const told = await (await post(`api/modem?name=${encodeURIComponent(file.name)}`, file)).json();
    service.takeFile(file.name, told);
    settings.takeFile(told.upstream.queue);
    changed();
  } catch (fault) {
    isFileRefused = true;
    fault.message = `${file.name} is not taken: ${fault.message}`;
    failed(fault);
  }
}

/** Without tables that hold nothing. */
function pruned(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, pruned(inner)]);
  return Object.fromEntries(entries.filter(([key, inner]) => key === "queue" || !isEmpty(inner)));
}

function isEmpty(value) {
  return (
    value !== null &&
    typeof value === "object" &&
    !Array.isArray(value) &&
    !Object.keys(value).length
  );
}
