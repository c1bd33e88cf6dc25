// The prepared cases: each with what to see in it.

import { make, show } from "./dom.js";

/** Cards for cases with `name`, `title` and `description`; `open(name)` is called for one. */
export function gallery(place, cases, open) {
  const cards = cases.map(({ name, title, description }) =>
    make(
      "li",
      {},
      make("h3", {}, title),
      make("p", {}, description),
      make("button", { type: "button", "aria-label": `Open: ${title}`, click: () => open(name) }, "Open"),
    ),
  );
  show(place, make("ul", { class: "cards" }, ...cards));
}
