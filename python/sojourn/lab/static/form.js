// Builds forms from the scenario's JSON Schema: names, units, ranges, defaults and help.

import { make, newId, show } from "./dom.js";
import { numberField } from "./number-field.js";
import { kindOf, named, variants } from "./schema.js";

/** Builds the forms of a page; `changed` is called after each change. */
export class Forms {
  constructor(schema, changed) {
    this.schema = schema;
    this.changed = changed;
  }

  /** Enters a number into the field of a path, as a user would. */
  set(path, value) {
    const box = document.querySelector(`[data-path="${path}"] input[type=number]`);
    box.value = value;
    box.dispatchEvent(new Event("input"));
  }

  /** The form of a table that edits `values`, without the keys in `omitted`. */
  table(node, values, path, omitted = []) {
    const fields = this.schema
      .keys(node)
      .filter(([key]) => key !== "kind" && !omitted.includes(key))
      .map(([key, inner]) => this.field(key, inner, values, `${path}.${key}`));
    return make("div", { class: "fields" }, ...fields.filter(field => field));
  }

  /** The field of a key; undefined if the page cannot edit it. */
  field(key, node, values, path) {
    const kind = kindOf(node);
    if (kind === "table") return this.inner(key, node, values, path);
    if (kind === "variant") return this.variant(key, node, values, path);
    if (!kind || (kind === "numbers" && !values[key])) return undefined;
    const names = { label: newId(), help: newId() };
    const set = value => {
      if (value === undefined) delete values[key];
      else values[key] = value;
      this.changed();
    };
    const controls = CONTROLS[kind](node, values[key], names, set);
    const { name, unit } = named(key);
    const label = make(
      "span",
      { class: "label", id: names.label },
      unit ? `${name} (${unit})` : name,
    );
    return make(
      "div",
      { class: `field ${kind}`, "data-path": path },
      label,
      ...controls,
      ...help(node, names.help, name),
    );
  }

  /** A nested table; an optional one is shown only if it is set. */
  inner(key, node, values, path) {
    if (node.optional && !values[key]) return undefined;
    const own = (values[key] ??= {});
    const form = this.table(node, own, path);
    if (!form.children.length) return undefined;
    return make("fieldset", {}, make("legend", {}, named(key).name), form);
  }

  /** A table that has one of several kinds. */
  variant(key, node, values, path) {
    const kinds = variants(node);
    const place = make("div");
    const current = () => values[key]?.kind ?? node.default?.kind;
    const rebuild = () => {
      const own = values[key] ?? {};
      show(place, this.table(this.schema.resolve(kinds[current()]), own, path));
    };
    const names = { label: newId(), help: newId() };
    const select = make(
      "select",
      {
        "aria-labelledby": names.label,
        change: () => {
          values[key] = { kind: select.value };
          rebuild();
          this.changed();
        },
      },
      ...Object.keys(kinds).map(kind => option(kind, current())),
    );
    if (!values[key]) values[key] = { ...node.default };
    rebuild();
    const described = {
      ...node,
      description: Object.entries(kinds)
        .map(([kind, choice]) => `${kind}: ${choice.description}`)
        .join("\n"),
    };
    const label = make("span", { class: "label", id: names.label }, named(key).name);
    return make(
      "fieldset",
      { "data-path": path },
      make(
        "div",
        { class: "field choice" },
        label,
        select,
        ...help(described, names.help, named(key).name),
      ),
      place,
    );
  }
}

const CONTROLS = {
  number: numberField,

  switch: (node, value, names, set) => {
    const box = make("input", {
      type: "checkbox",
      "aria-labelledby": names.label,
      change: () => set(box.checked),
    });
    box.checked = value ?? node.default ?? false;
    return [box];
  },

  choice: (node, value, names, set) => {
    const consts = node.oneOf.map(choice => choice.const);
    const current = value ?? node.default ?? "";
    const unset = node.optional ? [make("option", { value: "" }, "unset")] : [];
    const select = make(
      "select",
      {
        "aria-labelledby": names.label,
        change: () => set(select.value || undefined),
      },
      ...unset,
      ...consts.map(name => option(name, current)),
    );
    return [select];
  },

  numbers: (node, value, names, set) => {
    const box = make("input", {
      type: "text",
      inputmode: "decimal",
      "aria-labelledby": names.label,
      input: () =>
        set(
          box.value
            .split(/[\s,;]+/)
            .filter(Boolean)
            .map(Number),
        ),
    });
    box.value = value.join(", ");
    return [box];
  },
};

function option(name, current) {
  return make("option", { value: name, selected: name === current }, name.replaceAll("_", " "));
}

/** The help of a key: a button, and the text that it shows. */
function help(node, id, name) {
  const range = node.minimum === undefined ? "" : ` From ${node.minimum} to ${node.maximum}.`;
  const choices = (node.oneOf ?? [])
    .filter(choice => "const" in choice)
    .map(choice => `\n${choice.const}: ${choice.description}`)
    .join("");
  const text = make(
    "p",
    { id, class: "help", hidden: true },
    `${node.description ?? ""}${choices}${range}`,
  );
  const button = make(
    "button",
    {
      type: "button",
      class: "ask",
      "aria-label": `Help on ${name}`,
      "aria-expanded": "false",
      click: () => {
        text.hidden = !text.hidden;
        button.setAttribute("aria-expanded", String(!text.hidden));
      },
    },
    "?",
  );
  return [button, text];
}
