// Household traffic: a count for each activity of the catalogue.

import { make, newId } from "./dom.js";

/** A row per activity that edits `counts`; `changed` is called after a change. */
export function household(activities, counts, changed) {
  const rows = Object.entries(activities).map(([name, activity]) => {
    counts[name] ??= activity.count;
    return row(name, activity, counts, changed);
  });
  return make("div", { class: "household" }, ...rows);
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
      counts[name] = Number(box.value);
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
