// Builds forms from the scenario's JSON Schema: names, units, ranges, defaults and help.

import { make, newId, show } from "./dom.js";
import { numberField } from "./number-field.js";
import { kindOf, named, variants } from "./schema.js";
import { numberOf } from "./toml.js";

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

  /**
   * The form of a table that edits `values`, without the keys in `omitted`. `attach` puts `values` into
   * the scenario: it is called before each change, since a table of defaults need not be there.
   */
  table(node, values, path, omitted = [], attach = () => {}) {
    const fields = this.schema
      .keys(node)
      .filter(([key]) => key !== "kind" && !omitted.includes(key))
      .map(([key, inner]) => this.field(key, inner, values, join(path, key), attach));
    return make("div", { class: "fields" }, ...fields.filter(field => field));
  }

  /** The field of a key; undefined if the page cannot edit it. */
  field(key, node, values, path, attach = () => {}) {
    const kind = kindOf(node);
    if (kind === "table") return this.inner(key, node, values, path, attach);
    if (kind === "variant") return this.variant(key, node, values, path, attach);
    if (!kind || (kind === "numbers" && !values[key])) return undefined;
    const names = { label: newId(), help: newId() };
    const set = value => {
      attach();
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
  inner(key, node, values, path, attach) {
    if (node.optional && !values[key]) return undefined;
    const own = values[key] ?? {};
    const form = this.table(node, own, path, [], () => {
      attach();
      values[key] = own;
    });
    if (!form.children.length) return undefined;
    return make("fieldset", {}, make("legend", {}, named(key).name), form);
  }

  /** A table that has one of several kinds. */
  variant(key, node, values, path, attach) {
    const kinds = variants(node);
    const place = make("div");
    const current = () => values[key]?.kind ?? node.default?.kind;
    const rebuild = () => {
      const own = values[key] ?? { ...node.default };
      const attached = () => {
        attach();
        values[key] = own;
      };
      const kind = kinds[current()];
      show(place, kind ? this.table(this.schema.resolve(kind), own, path, [], attached) : null);
    };
    const names = { label: newId(), help: newId() };
    const select = make(
      "select",
      {
        "aria-labelledby": names.label,
        change: () => {
          attach();
          values[key] = { kind: select.value };
          rebuild();
          this.changed();
        },
      },
      ...Object.keys(kinds).map(kind => option(kind, current())),
    );
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

function join(path, key) {
  return path ? `${path}.${key}` : key;
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
            .map(numberOf),
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
  const { minimum, maximum } = node;
  const to = maximum === undefined ? "on" : `to ${maximum}`;
  const range = minimum === undefined ? "" : ` From ${minimum} ${to}.`;
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
