// The grades: a row for each application, a column for each setting.

import { make, show } from "./dom.js";
import { LETTERS } from "./letters.js";

/** Shows what `judged` says about the settings with these names. */
export function verdicts(place, names, { sentences, ungraded, rows, delays, roundTrips }) {
  const heads = names.map((name, index) =>
    make(
      "th",
      { scope: "col" },
      make("span", { class: `key line-${index}`, "aria-hidden": "true" }),
      names.length > 1 ? `${LETTERS[index]}: ${name}` : name,
    ),
  );
  const body = rows.map(({ application, cells }) =>
    make("tr", {}, make("th", { scope: "row" }, application), ...cells.map(cell)),
  );
  const foot = delays.map(({ heading, cells }) =>
    make("tr", {}, make("th", { scope: "row" }, heading), ...cells.map(text => make("td", {}, text))),
  );
  show(
    place,
    bufferbloat(names, roundTrips),
    make("ul", { class: "sentences" }, ...sentences.map(text => make("li", {}, text))),
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
            make("tfoot", {}, ...foot),
          ),
        )
      : null,
    ungraded ? make("p", { class: "faint" }, ungraded) : null,
  );
}

/** Bufferbloat in a letter and three numbers for each setting; null if no game's round trip was measured under load. */
function bufferbloat(names, roundTrips) {
  const table = bufferbloatRows(names, roundTrips);
  if (!table) return null;
  const [heads, ...body] = table.map(([first, ...cells], index) =>
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
      make("caption", { class: "faint" }, BUFFERBLOAT),
      make("thead", {}, heads),
      make("tbody", {}, ...body),
    ),
  );
}

export const BUFFERBLOAT = "Bufferbloat: the median round trip of games, and a letter from A+ to F";

/** The texts of that table: headings, and a row for each setting; undefined if there is none. */
export function bufferbloatRows(names, roundTrips) {
  const measured = names.map((name, index) => ({ name, ...roundTrips[index] }));
  if (!measured.some(one => one.downloading_ms || one.uploading_ms)) return undefined;
  const ms = value => (typeof value === "number" ? `${value.toFixed(0)} ms` : "not measured");
  return [
    ["setting", "letter", "idle", "while downloading", "while uploading"],
    ...measured.map((one, index) => [
      names.length > 1 ? `${LETTERS[index]}: ${one.name}` : one.name,
      roundTrips[index]?.letter ?? "not measured",
      ms(one.idle_ms),
      ms(one.downloading_ms),
      ms(one.uploading_ms),
    ]),
  ].filter((_, index) => index === 0 || roundTrips[index - 1]);
}

/** The grades in a few words, which stay beside the controls where the page is narrow. */
export function strip(place, names, { rows }) {
  const lines = names.map((_, index) =>
    make(
      "div",
      {},
      names.length > 1 ? make("b", { class: `letter line-${index}` }, LETTERS[index]) : null,
      ...rows.map(({ application, cells }) => {
        const one = cells[index];
        const grade = one?.grade ?? "–";
        return make("span", { class: `small ${grade}` }, `${application} ${one?.mark || grade}`);
      }),
    ),
  );
  show(place, ...lines);
}

function cell(assessment) {
  if (!assessment) return make("td", {}, make("span", { class: "words" }, "does not apply"));
  const { grade, mark, summary } = assessment;
  return make(
    "td",
    {},
    make("span", { class: `grade ${grade}` }, `${mark} ${grade}`),
    make("span", { class: "words" }, summary),
  );
}
