// Forms for a scenario that the choices cannot make: its service, servers, traffic and run.

import { make, newId, show } from "./dom.js";
import { flattened, isEqual } from "./equal.js";
import { MOST_VARIANTS } from "./letters.js";
import { folded } from "./service.js";
import { isTable, tomlValue } from "./toml.js";

const DIRECTIONS = { upstream: "Upstream", downstream: "Downstream" };

/** The forms of `scenario`, which they edit. */
export function scenarioForms(scenario, forms, schema) {
  const parts = Object.keys(DIRECTIONS)
    .filter(key => isTable(scenario[key]))
    .map(key => folded(DIRECTIONS[key], forms.table(schema.at(key), scenario[key], key, omitted(scenario))));
  const entries = Object.entries(scenario.traffic ?? {}).filter(([, entry]) => isTable(entry));
  parts.push(...entries.map(([name, entry]) => folded(`Traffic: ${name}`, traffic(name, entry, forms, schema))));
  parts.push(folded("Servers", servers(scenario.servers ?? {}, forms, schema)));
  parts.push(make("div", { class: "fields" }, ...run(scenario, forms, schema)));
  return make("div", {}, ...parts);
}

/** Where variants are compared, they are named for their queues: these are not changed behind a name. */
function omitted({ compare }) {
  return compare ? ["queue", "flows", "aqm"] : ["flows", "aqm"];
}

/** What differs from the scenario as it was opened, in a sentence; empty if nothing does. */
export function changesOf(scenario, opened) {
  const [now, before] = [scenario, opened].map(one => Object.fromEntries(flattened(one)));
  const changed = Object.keys({ ...before, ...now }).filter(key => !isEqual(now[key], before[key]));
  const changes = changed.map(key => `${key} = ${key in now ? tomlValue(now[key]) : "default"}`);
  return changes.length ? `Changed here: ${changes.join(", ")}.` : "";
}

function traffic(name, entry, forms, schema) {
  const node = schema.entry(entry.kind);
  return node ? forms.table(node, entry, `traffic.${name}`, ["home"]) : make("p", { class: "faint" }, "Edit it as text.");
}

function servers(of, forms, schema) {
  const node = schema.resolve(schema.root.properties.servers.additionalProperties);
  const tables = Object.entries(of).filter(([, values]) => isTable(values));
  return make(
    "div",
    {},
    ...tables.map(([name, values]) =>
      make("fieldset", {}, make("legend", {}, name), forms.table(node, values, `servers.${name}`)),
    ),
  );
}

function run(scenario, forms, schema) {
  return ["duration_s", "seed", "dialect"].map(key =>
    forms.field(key, schema.resolve(schema.root.properties[key]), scenario, key),
  );
}

/**
 * Which variants are shown: a checkbox for each. `shown` is the set of their names, which this edits.
 */
export function variantChoice(names, shown, changed) {
  const full = make("p", { class: "faint", hidden: true }, `At most ${MOST_VARIANTS} are shown at once.`);
  const rows = names.map(name => {
    const id = newId();
    const box = make("input", {
      id,
      type: "checkbox",
      change: () => {
        const isFull = box.checked && shown.size >= MOST_VARIANTS;
        const isLast = !box.checked && shown.size === 1;
        full.hidden = !isFull;
        if (isFull || isLast) {
          box.checked = !box.checked;
          return;
        }
        shown[box.checked ? "add" : "delete"](name);
        changed();
      },
    });
    box.checked = shown.has(name);
    return make("div", { class: "check" }, box, make("label", { for: id }, name));
  });
  const place = make("div");
  show(place, ...rows, full);
  return place;
}
