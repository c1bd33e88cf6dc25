// The two queue settings that are compared.

import { QUEUES } from "./catalog.js";
import { namesOf, settingOf } from "./choices.js";
import { make, newId, show } from "./dom.js";
import { LETTERS } from "./letters.js";

/** What a setting of the catalogue is, by where it is set: headings of the list. */
const WHERE = {
  modem: "In the modem: to buy or set",
  router: "In a router before the modem: to buy or set",
  laboratory: "In the modem: for a laboratory",
  elsewhere: "For other lines",
};
const SHARE = {
  type: "number",
  minimum: 1,
  maximum: 100,
  description: "What the router sends, of the service's rates, both ways. Less costs rate; more lets packets wait in the modem.",
};

/** Edits `choices.settings`; `changed` is called after each change. */
export class Settings {
  constructor(choices, forms, schema, changed) {
    Object.assign(this, { choices, forms, changed });
    this.node = schema.at("upstream.queue");
    this.second = choices.settings[1] ?? settingOf("docsis_pie");
    this.element = make("div");
    this.build();
  }

  build() {
    const { settings } = this.choices;
    const compare = make("input", {
      type: "checkbox",
      change: () => {
        if (compare.checked) settings[1] = this.second;
        else this.second = settings.pop();
        this.build();
        this.changed();
      },
    });
    compare.checked = settings.length > 1;
    this.names = settings.map(() => make("p", { class: "faint name" }));
    show(
      this.element,
      this.setting(0),
      make("label", { class: "check" }, compare, " Compare with another, with the same traffic and seed"),
      settings.length > 1 ? this.setting(1) : null,
    );
    this.notify();
  }

  /** Shows the names where they hold more than the list says, and what to know of a setting. */
  notify() {
    const names = namesOf(this.choices.settings);
    for (const [index, place] of this.names.entries()) {
      const { key, label } = this.choices.settings[index];
      const { only_for: home, note } = QUEUES[key] ?? {};
      const name = names[index] !== label && names[index];
      const laboratory = whereOf(key) === "laboratory" && "A laboratory setting, which nobody sells";
      const said = [name, home && `Only for ${home}`, laboratory, note];
      place.textContent = said.filter(Boolean).join(". ");
    }
  }

  /** The field of the share of the rates that a router sends; null without a router. */
  share(index) {
    const setting = this.choices.settings[index];
    if (setting.share_percent === undefined) return null;
    return this.forms.field("share_percent", SHARE, setting, `settings.${index}.share_percent`);
  }

  setting(index) {
    const { settings } = this.choices;
    const place = make("div");
    const rebuild = () =>
      show(
        place,
        this.share(index),
        this.forms.table(this.node, settings[index].queue, `settings.${index}.queue`),
      );
    const id = newId();
    const select = make(
      "select",
      {
        id,
        change: () => {
          settings[index] = settingOf(select.value);
          rebuild();
          this.changed();
        },
      },
      ...Object.entries(WHERE).map(([where, label]) => group(where, label, settings[index].key)),
    );
    if (!settings[index].key) {
      const own = { value: "", selected: true, disabled: true };
      select.prepend(make("option", own, settings[index].label));
    }
    rebuild();
    const letter = LETTERS[index];
    return make(
      "div",
      { class: `setting line-${index}`, "data-path": `settings.${index}` },
      make(
        "div",
        { class: "choose" },
        make("label", { for: id, class: "letter", "aria-label": `Queue management ${letter}` }, letter),
        select,
      ),
      this.names[index],
      make("details", {}, make("summary", {}, `Parameters of ${letter}`), place),
    );
  }
}

/** Where a setting of the catalogue is set. */
function whereOf(key) {
  const { where, only_for: home } = QUEUES[key] ?? { where: "own" };
  return where ?? (home ? "elsewhere" : "laboratory");
}

function group(where, label, chosen) {
  const keys = Object.keys(QUEUES).filter(key => whereOf(key) === where);
  const options = keys.map(key =>
    make("option", { value: key, selected: key === chosen }, QUEUES[key].label),
  );
  return options.length ? make("optgroup", { label }, ...options) : null;
}
