// The two queue settings that are compared.

import { make, newId, show } from "./dom.js";

const LETTERS = ["A", "B"];

/** The chosen queue settings, as in a request: a name and a queue for each. */
export class Settings {
  constructor(catalog, forms, schema, changed) {
    this.queues = catalog.queues;
    this.forms = forms;
    this.node = schema.at("upstream.queue");
    this.changed = changed;
    this.chosen = catalog.first_settings.map(key => this.fromCatalog(key));
    this.isCompared = true;
    this.element = make("div");
    this.build();
  }

  /** The settings for a request. */
  wanted() {
    const shown = this.isCompared ? this.chosen : this.chosen.slice(0, 1);
    return shown.map(({ label, queue }, index) => ({ name: `${LETTERS[index]}: ${label}`, queue }));
  }

  /** Sets A to the queue of a modem configuration file. */
  takeFile(queue) {
    this.chosen[0] = { key: "", label: "from the modem file", queue: structuredClone(queue) };
    this.build();
  }

  fromCatalog(key) {
    const { label, queue } = this.queues[key];
    return { key, label, queue: structuredClone(queue) };
  }

  build() {
    const compare = make("input", {
      type: "checkbox",
      change: () => {
        this.isCompared = compare.checked;
        this.build();
        this.changed();
      },
    });
    compare.checked = this.isCompared;
    show(
      this.element,
      this.setting(0),
      make(
        "label",
        { class: "check" },
        compare,
        " Compare with another, with the same traffic and seed",
      ),
      this.isCompared ? this.setting(1) : null,
    );
  }

  setting(index) {
    const chosen = this.chosen[index];
    const place = make("div");
    const rebuild = () =>
      show(place, this.forms.table(this.node, this.chosen[index].queue, `settings.${index}.queue`));
    const id = newId();
    const select = make(
      "select",
      {
        id,
        change: () => {
          this.chosen[index] = this.fromCatalog(select.value);
          rebuild();
          this.changed();
        },
      },
      ...Object.entries(this.queues).map(([key, { label }]) =>
        make("option", { value: key, selected: key === chosen.key }, label),
      ),
    );
    if (!chosen.key)
      select.prepend(make("option", { value: "", selected: true, disabled: true }, chosen.label));
    rebuild();
    const letter = LETTERS[index];
    return make(
      "div",
      { class: `setting line-${index}`, "data-path": `settings.${index}` },
      make(
        "div",
        { class: "choose" },
        make(
          "label",
          { for: id, class: "letter", "aria-label": `Queue management ${letter}` },
          letter,
        ),
        select,
      ),
      make("details", {}, make("summary", {}, `Parameters of ${letter}`), place),
    );
  }
}
