// The grades: a row for each application, a column for each setting.

import { digits } from "./curves.js";
import { make, show } from "./dom.js";
import { LETTERS } from "./letters.js";

export const NOT_MEASURED = "not measured";

/** Shows what `judged` says about the settings with these names. */
export function verdicts(place, names, judged) {
  const { sentences, ungraded, rows, columns, roundTrips, causes } = judged;
  const heads = columns.map(index =>
    make(
      "th",
      { scope: "col" },
      make("span", { class: `key line-${index}`, "aria-hidden": "true" }),
      named(names, index),
    ),
  );
  const body = rows.map(({ application, cells }) =>
    make("tr", {}, make("th", { scope: "row" }, application), ...columns.map(index => cell(cells[index]))),
  );
  show(
    place,
    bufferbloat(names, roundTrips),
    make("ul", { class: "sentences" }, ...sentences.map(text => make("li", {}, text))),
    ungraded ? make("p", { class: "faint" }, ungraded) : null,
    rows.length
      ? make(
          "div",
          { class: "scrolled", tabindex: 0, role: "region", "aria-label": "Grades" },
          make(
            "table",
            { class: "verdicts" },
            make("caption", { class: "hidden" }, "Grades by application and setting"),
            make("thead", {}, make("tr", {}, make("td"), ...heads)),
            make("tbody", {}, ...body),
          ),
        )
      : null,
    causes.length ? make("h3", {}, "Where the time goes") : null,
    make("ul", { class: "sentences" }, ...causes.map(text => make("li", {}, text))),
  );
}

/** The name of a setting, with its letter where there are several. */
export function named(names, index) {
  return names.length > 1 ? `${LETTERS[index]}: ${names[index]}` : names[index];
}

/** The words of a grade, or why there is none. */
export function gradeWords(assessment) {
  if (!assessment) return { grade: "", words: "does not apply" };
  const { grade, mark, summary } = assessment;
  return grade ? { grade: `${mark} ${grade}`, words: summary } : { grade: "not graded", words: summary };
}

/** Bufferbloat in a letter and its numbers for each setting; null if no round trip was measured under load. */
function bufferbloat(names, roundTrips) {
  const rows = bufferbloatRows(names, roundTrips);
  return rows ? tableOf(rows, BUFFERBLOAT) : null;
}

/** A table of bufferbloat from its texts, of which the first row has the headings. */
export function tableOf(rows, caption) {
  const [heads, ...body] = rows.map(([first, ...cells], index) =>
    make(
      "tr",
      {},
      make("th", { scope: index ? "row" : "col" }, first),
      ...cells.map(cell => make(index ? "td" : "th", index ? {} : { scope: "col" }, cell)),
    ),
  );
  return make(
    "div",
    { class: "scrolled", tabindex: 0, role: "region", "aria-label": "Bufferbloat" },
    make(
      "table",
      { class: "bufferbloat" },
      make("caption", { class: "faint" }, caption),
      make("thead", {}, heads),
      make("tbody", {}, ...body),
    ),
  );
}

export const BUFFERBLOAT =
  "Bufferbloat: the median round trip of games and calls, and a letter for what load adds to the mean, from A+ to F";

/** What is under way as tables name it, and the keys of its median. */
const LOADS = Object.entries({
  idle: "idle_ms",
  "while downloading": "downloading_ms",
  "while uploading": "uploading_ms",
  "both at once": "both_ms",
});

/** Headings of letters, and the cells of each line; both loads at once have a column if a line has them. */
export function letterRows(lines) {
  const loads = lines.some(one => one?.both_ms) ? LOADS : LOADS.slice(0, 3);
  const ms = value => (typeof value === "number" ? `${digits(value)} ms` : NOT_MEASURED);
  return [
    ["letter", ...loads.map(([name]) => name)],
    ...lines.map(one => one && [one.letter ?? NOT_MEASURED, ...loads.map(([, key]) => ms(one[key]))]),
  ];
}

/** The texts of that table: headings, and a row for each setting; undefined if there is none. */
export function bufferbloatRows(names, roundTrips) {
  const isLoaded = one => one.downloading_ms || one.uploading_ms || one.both_ms;
  if (!roundTrips.some(one => one?.idle_ms && isLoaded(one))) return undefined;
  const [heads, ...lines] = letterRows(roundTrips);
  const areSeveral = new Set(roundTrips.filter(one => one).map(one => one.traffic)).size > 1;
  const name = index => named(names, index) + (areSeveral ? ` (${roundTrips[index].traffic})` : "");
  const rows = lines.map((cells, index) => cells && [name(index), ...cells]);
  return [["setting", ...heads], ...rows.filter(cells => cells)];
}

/** Letter, numbers and grades in a few words, which stay beside the controls where the page is narrow. */
export function strip(place, names, { rows, roundTrips, settings }) {
  const lines = settings.map(index =>
    make(
      "div",
      {},
      names.length > 1 ? make("b", { class: `letter line-${index}` }, LETTERS[index]) : null,
      make("span", {}, inShort(roundTrips[index])),
      ...rows
        .filter(({ cells }) => cells[index])
        .map(({ application, cells }) => {
          const { grade, mark } = cells[index];
          return make("span", { class: `small ${grade ?? ""}` }, `${application} ${grade ? mark : "not graded"}`);
        }),
    ),
  );
  show(place, ...lines);
}

/** The letter and what was measured of its numbers. */
function inShort(roundTrip) {
  const { letter, idle_ms: idle, downloading_ms: down, uploading_ms: up, both_ms: both } = roundTrip ?? {};
  const numbers = Object.entries({ idle, down, up, both }).filter(([, ms]) => typeof ms === "number");
  const words = numbers.map(([name, ms]) => `${name} ${digits(ms)} ms`).join(", ");
  return letter ? `${letter} (${words})` : words;
}

function cell(assessment) {
  const { grade, words } = gradeWords(assessment);
  return make(
    "td",
    {},
    grade ? make("span", { class: `grade ${assessment.grade ?? ""}` }, grade) : null,
    make("span", { class: "words" }, words),
  );
}
