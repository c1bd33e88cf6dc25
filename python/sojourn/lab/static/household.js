// Household traffic: a count for each activity of the catalogue.

import { ACTIVITIES } from "./catalog.js";
import { make, newId } from "./dom.js";

/** A row per activity that edits `counts`; `changed` is called after a change. */
export function household(counts, changed) {
  const rows = Object.entries(ACTIVITIES).map(([name, activity]) =>
    row(name, activity, counts, changed),
  );
  return make("div", { class: "household" }, ...rows);
}

/** What is wrong with the counts: a fault with its path and the label on the page, or nothing. */
export function faultOf(counts) {
  for (const [name, { label, most }] of Object.entries(ACTIVITIES)) {
    const count = counts[name];
    if (!Number.isInteger(count) || count < 0 || count > most) {
      const found = Number.isNaN(count) ? "nothing" : count;
      return {
        path: `activities.${name}`,
        label,
        message: `found ${found}; allowed: a whole number from 0 to ${most}`,
      };
    }
  }
  const isSomebody = Object.values(counts).some(count => count > 0);
  const none = "found nobody; allowed: at least one count above 0";
  return isSomebody ? undefined : { path: "activities", label: "Household", message: none };
}

function row(name, { label, most }, counts, changed) {
  const id = newId();
  const box = make("input", {
    id,
    type: "number",
    min: 0,
    max: most,
    step: 1,
    value: counts[name],
    input: () => {
      counts[name] = box.value === "" ? NaN : Number(box.value);
      changed();
    },
  });
  const step = (by, sign, verb) =>
    make(
      "button",
      {
        type: "button",
        class: "step",
        "aria-label": `${verb} ${label.toLowerCase()}`,
        click: () => {
          box.value = Math.min(most, Math.max(0, Number(box.value) + by));
          counts[name] = Number(box.value);
          changed();
        },
      },
      sign,
    );
  return make(
    "div",
    { class: "activity", "data-path": `activities.${name}` },
    make("label", { for: id }, label),
    step(-1, "−", "Fewer"),
    box,
    step(1, "+", "More"),
  );
}
