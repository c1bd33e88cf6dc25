// The grades: a row for each application, a column for each setting.

import { make, show } from "./dom.js";
import { LETTERS } from "./letters.js";

/** Shows what `judged` says about the settings with these names. */
export function verdicts(place, names, { sentences, ungraded, rows, delays }) {
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
