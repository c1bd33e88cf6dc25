// What people feel: a row for each thing that is done, a column for each queue manager.

import { make, show } from "./dom.js";

export function verdicts(place, { runs, sentences, ungraded, verdicts: rows }) {
  const heads = runs.map(({ name }, index) =>
    make("th", { scope: "col" }, make("span", { class: `key line-${index}` }), name),
  );
  const body = rows.map(({ use, cells }) =>
    make("tr", {}, make("th", { scope: "row" }, use), ...cells.map(cell)),
  );
  const words = make("ul", { class: "sentences" }, ...sentences.map(text => make("li", {}, text)));
  show(
    place,
    runs.length > 1 ? words : null,
    make(
      "table",
      { class: "verdicts" },
      make("caption", { class: "hidden" }, "Grades by what is done and queue manager"),
      make("thead", {}, make("tr", {}, make("td"), ...heads)),
      make("tbody", {}, ...body),
    ),
    ungraded ? make("p", { class: "faint" }, ungraded) : null,
  );
}

function cell(judged) {
  if (!judged) return make("td", {}, "–");
  const { grade, mark, words } = judged;
  return make(
    "td",
    {},
    make("span", { class: `grade ${grade}` }, `${mark} ${grade}`),
    make("span", { class: "words" }, words),
  );
}
