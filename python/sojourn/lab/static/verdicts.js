// The grades: a row for each application, a column for each queue setting.

import { make, show } from "./dom.js";

export function verdicts(place, { runs, sentences, ungraded, verdicts: rows }) {
  const heads = runs.map(({ name }, index) =>
    make("th", { scope: "col" }, make("span", { class: `key line-${index}` }), name),
  );
  const body = rows.map(({ application, cells }) =>
    make("tr", {}, make("th", { scope: "row" }, application), ...cells.map(cell)),
  );
  const words = make("ul", { class: "sentences" }, ...sentences.map(text => make("li", {}, text)));
  show(
    place,
    runs.length > 1 ? words : null,
    make(
      "table",
      { class: "verdicts" },
      make("caption", { class: "hidden" }, "Grades by application and queue setting"),
      make("thead", {}, make("tr", {}, make("td"), ...heads)),
      make("tbody", {}, ...body),
    ),
    ungraded ? make("p", { class: "faint" }, ungraded) : null,
  );
}

function cell(assessment) {
  if (!assessment) return make("td", {}, "–");
  const { grade, mark, summary } = assessment;
  return make(
    "td",
    {},
    make("span", { class: `grade ${grade}` }, `${mark} ${grade}`),
    make("span", { class: "words" }, summary),
  );
}
