// Builds the page: choices on one side, results on the other.

import { byId, make, show } from "./dom.js";
import { showError } from "./errors.js";
import { exports } from "./export.js";
import { Figures } from "./figures.js";
import { Forms } from "./form.js";
import { household } from "./household.js";
import { LatestRequest, post } from "./latest-request.js";
import { Picture } from "./picture.js";
import { Schema } from "./schema.js";
import { Service } from "./service.js";
import { Settings } from "./settings.js";
import { verdicts } from "./verdicts.js";

const { catalog, schema: root, palette } = await (await fetch("api/choices")).json();
for (const [index, color] of palette.entries()) {
  document.documentElement.style.setProperty(`--line-${index}`, color);
}

/** Was the last modem file rejected? Responses to earlier requests do not clear its error. */
let isFileRejected = false;
const schema = new Schema(root);
const forms = new Forms(schema, changed);
const counts = {};
const settings = new Settings(catalog, forms, schema, changed);
const service = new Service(catalog, forms, schema, changed, openModemFile);
const figures = new Figures(byId("figures"), catalog.activities);
const picture = new Picture(byId("picture"), catalog.activities, palette, onError);
const runs = new LatestRequest("api/run", {
  onStart: () => byId("results").setAttribute("aria-busy", "true"),
  onResponse,
  onError: error => {
    onError(error);
    picture.setStale(runs.isBehind);
  },
});

byId("household").append(household(catalog.activities, counts, changed));
byId("settings").append(settings.element);
byId("service").append(service.element);
byId("run").append(service.run);
byId("choices").addEventListener("submit", event => event.preventDefault());
// A file dropped outside its field must not replace the page.
for (const kind of ["dragover", "drop"])
  document.addEventListener(kind, event => event.preventDefault());
exports(byId("export"), labRequest, say, onError);
changed();

/** The choices, as a request to the server. */
function labRequest() {
  return {
    base: pruned(service.base),
    activities: { ...counts },
    settings: settings.wanted().map(pruned),
  };
}

function changed() {
  isFileRejected = false;
  service.keepPeaks();
  runs.send(labRequest());
  picture.setStale(true);
}

function onResponse(response, tookMs, request) {
  if (!isFileRejected) showError(null);
  byId("results").removeAttribute("aria-busy");
  const { duration_s: simulated } = response.runs[0];
  const times = response.runs.length > 1 ? `${response.runs.length} × ` : "";
  const grades = response.verdicts.map(
    ({ application, cells }) =>
      `${application} ${cells.map(cell => cell?.grade ?? "–").join(" and ")}`,
  );
  say(`Simulated ${times}${simulated} s in ${(tookMs / 1000).toFixed(2)} s: ${grades.join(", ")}.`);
  verdicts(byId("verdicts"), response);
  warnings(response.runs);
  figures.show(response.figures);
  picture.update(request, response.picture_until_s);
  picture.setStale(runs.isBehind);
}

function onError(error) {
  byId("results").removeAttribute("aria-busy");
  showError(
    error,
    settings.wanted().map(({ name }) => name),
  );
  say("No new results; showing the last valid results.");
}

function say(text) {
  byId("status").textContent = text;
}

function warnings(runs) {
  const lines = new Set(runs.flatMap(run => run.warnings));
  show(
    byId("warnings"),
    ...[...lines].map(line => make("p", { class: "warning" }, `Warning: ${line}`)),
  );
}

async function openModemFile(file) {
  try {
    const modem = await (await post(`api/modem?name=${encodeURIComponent(file.name)}`, file)).json();
    service.takeFile(file.name, modem);
    settings.takeFile(modem.upstream.queue);
    changed();
  } catch (error) {
    isFileRejected = true;
    error.message = `${file.name} was rejected: ${error.message}`;
    onError(error);
  }
}

/** Removes empty tables. */
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
