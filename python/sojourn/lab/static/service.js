// The service of the home: from the catalogue or from a modem configuration file.

import { DURATION, SERVICES } from "./catalog.js";
import { make, newId, show } from "./dom.js";
import { isEqual } from "./equal.js";

const SERVER_NAMES = {
  files: "files (uploads and downloads)",
  peer: "games and calls",
  web1: "web 1",
  web2: "web 2",
  web3: "web 3",
  web4: "web 4",
  video: "video",
  peers: "torrent peers",
};
const OWN = "own values, set below";

/** Edits the service of choices; `changed` is called after each change. */
export class Service {
  constructor(choices, forms, schema, changed) {
    Object.assign(this, { choices, forms, schema, changed, sustained: {} });
    this.notes = make("div", { class: "faint" });
    this.tables = make("div");
    this.run = make("div", { class: "fields" });
    this.select = this.choice();
    this.element = make("div", {}, this.select.parentElement, this.notes, this.tables);
    this.suggested = suggestion(choices.base);
    this.build();
  }

  /** Shows the service of a modem configuration file. */
  takeFile(name, { upstream, downstream, notes }) {
    const { queue, ...rest } = upstream;
    this.take({ upstream: rest, downstream });
    show(
      this.notes,
      make("p", {}, `Service from ${name}.`),
      notes.length ? make("ul", {}, ...notes.map(note => make("li", {}, note.message))) : null,
    );
  }

  take({ upstream, downstream }) {
    const { base } = this.choices;
    base.upstream = structuredClone(upstream);
    base.downstream = structuredClone(downstream);
    show(this.notes);
    // The duration suits the rates, unless the user has chosen one.
    const isChosen = base.duration_s !== this.suggested;
    this.suggested = suggestion(base);
    if (!isChosen) base.duration_s = this.suggested;
    this.build();
  }

  build() {
    const { base } = this.choices;
    this.sustained = {};
    this.keepPeaks();
    show(
      this.tables,
      folded("Upstream", this.table("upstream", ["queue", "flows", "aqm"])),
      folded("Downstream", this.table("downstream", ["flows", "aqm", "weight", "regulator"])),
      folded("Delay to the servers", this.servers()),
    );
    const fields = ["duration_s", "seed", "dialect"].map(key =>
      this.forms.field(key, this.schema.resolve(this.schema.root.properties[key]), base, key),
    );
    const isShort = base.duration_s === this.suggested && base.duration_s < DURATION.usualS;
    const why =
      `${base.duration_s} s instead of ${DURATION.usualS} s, because runs at these rates take longer.`;
    show(this.run, ...fields, isShort ? make("p", { class: "faint" }, why) : null);
    this.notify();
  }

  /** A name of the list stands for exactly these values. */
  notify() {
    const { upstream, downstream } = this.choices.base;
    const found = Object.entries(SERVICES).find(
      ([, service]) => isEqual(service.upstream, upstream) && isEqual(service.downstream, downstream),
    );
    this.select.value = found?.[0] ?? "";
  }

  /** Raises a peak rate below its sustained rate. Not the reverse: a typed 5 may become 50. */
  keepPeaks() {
    for (const direction of ["upstream", "downstream"]) {
      const { sustained_mbps: sustained, peak_mbps: peak } = this.choices.base[direction];
      const hasMoved = direction in this.sustained && sustained !== this.sustained[direction];
      this.sustained[direction] = sustained;
      if (hasMoved && sustained > peak) this.forms.set(`${direction}.peak_mbps`, sustained);
    }
  }

  table(key, omitted) {
    return this.forms.table(this.schema.at(key), this.choices.base[key], key, omitted);
  }

  servers() {
    const node = this.schema.resolve(this.schema.root.properties.servers.additionalProperties);
    return make(
      "div",
      {},
      ...Object.entries(this.choices.servers).map(([name, values]) =>
        make(
          "fieldset",
          {},
          make("legend", {}, SERVER_NAMES[name] ?? name),
          this.forms.table(node, values, `servers.${name}`, ["rate_mbps"]),
        ),
      ),
    );
  }

  choice() {
    const id = newId();
    const select = make(
      "select",
      {
        id,
        change: () => {
          this.take(SERVICES[select.value]);
          this.changed();
        },
      },
      ...Object.entries(SERVICES).map(([key, { label }]) => make("option", { value: key }, label)),
      make("option", { value: "", disabled: true }, OWN),
    );
    make("div", { class: "choose wide" }, make("label", { for: id }, "Service"), select);
    return select;
  }
}

/** The duration that suits the rates. */
export function suggestion({ upstream, downstream }) {
  const { usualS, quickMbps, quickS } = DURATION;
  const mbps = upstream.sustained_mbps + downstream.sustained_mbps;
  return Math.round(Math.min(usualS, Math.max(quickS, (usualS * quickMbps) / mbps)));
}

export function folded(title, form) {
  return make("details", {}, make("summary", {}, title), form);
}
