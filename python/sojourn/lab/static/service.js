// The service of the home: from the catalogue or from a modem configuration file.

import { make, newId, show } from "./dom.js";

const SERVERS = {
  files: "files (uploads and downloads)",
  peer: "games and calls",
  web1: "web 1",
  web2: "web 2",
  web3: "web 3",
  web4: "web 4",
  video: "video",
  peers: "torrent peers",
};

/** The scenario without traffic and queue settings. */
export class Service {
  /** `modemFile` is called with a dropped or chosen file. */
  constructor(catalog, forms, schema, changed, modemFile) {
    Object.assign(this, { catalog, forms, schema, changed, modemFile });
    this.base = {
      duration_s: catalog.duration_s,
      seed: 1,
      servers: structuredClone(catalog.servers),
      cable: {},
    };
    this.sustained = {};
    this.run = make("div", { class: "fields" });
    this.notes = make("div", { class: "faint" });
    this.tables = make("div");
    this.select = this.choice();
    this.element = make("div", {}, this.select.parentElement, this.drop(), this.notes, this.tables);
    this.take(catalog.services[catalog.first_service]);
  }

  /** Shows the form of the run: duration, seed and dialect. */
  runForm() {
    const root = this.schema.root;
    const fields = ["duration_s", "seed", "dialect"].map(key =>
      this.forms.field(key, this.schema.resolve(root.properties[key]), this.base, key),
    );
    const isShort = this.base.duration_s < this.catalog.duration_s;
    const why =
      `${this.base.duration_s} s instead of ${this.catalog.duration_s} s, because runs at these ` +
      "rates take longer.";
    show(this.run, ...fields, isShort ? make("p", { class: "faint" }, why) : null);
  }

  /** Sets the duration to suit the rates, unless the user has chosen one. */
  suggest({ upstream, downstream }) {
    const { duration_s: usual, quick_mbps: quick, quick_s: least } = this.catalog;
    if (this.suggested !== undefined && this.base.duration_s !== this.suggested) return;
    const mbps = upstream.sustained_mbps + downstream.sustained_mbps;
    this.suggested = Math.round(Math.min(usual, Math.max(least, (usual * quick) / mbps)));
    this.base.duration_s = this.suggested;
    this.runForm();
  }

  /** Shows the service of a modem configuration file. */
  takeFile(name, { upstream, downstream, notes }) {
    const { queue, ...rest } = upstream;
    this.take({ upstream: rest, downstream });
    this.select.value = "";
    show(
      this.notes,
      make("p", {}, `Service from ${name}.`),
      notes.length ? make("ul", {}, ...notes.map(note => make("li", {}, note))) : null,
    );
  }

  take({ upstream, downstream }) {
    this.base.upstream = structuredClone(upstream);
    this.base.downstream = structuredClone(downstream);
    this.suggest(this.base);
    show(this.notes);
    show(
      this.tables,
      this.folded("Upstream", this.table("upstream", ["queue", "flows", "aqm"])),
      this.folded("Downstream", this.table("downstream", ["flows", "aqm", "weight", "regulator"])),
      this.folded("Delay to the servers", this.servers()),
    );
  }

  /** Raises a peak rate below its sustained rate. Not the reverse: a typed 5 may become 50. */
  keepPeaks() {
    for (const direction of ["upstream", "downstream"]) {
      const { sustained_mbps: sustained, peak_mbps: peak } = this.base[direction];
      const hasMoved = sustained !== this.sustained[direction];
      this.sustained[direction] = sustained;
      if (hasMoved && sustained > peak) this.forms.set(`${direction}.peak_mbps`, sustained);
    }
  }

  table(key, omitted) {
    return this.forms.table(this.schema.at(key), this.base[key], key, omitted);
  }

  servers() {
    const node = this.schema.resolve(this.schema.root.properties.servers.additionalProperties);
    return make(
      "div",
      {},
      ...Object.entries(this.base.servers).map(([name, values]) =>
        make(
          "fieldset",
          {},
          make("legend", {}, SERVERS[name] ?? name),
          this.forms.table(node, values, `servers.${name}`, ["rate_mbps"]),
        ),
      ),
    );
  }

  folded(title, form) {
    return make("details", {}, make("summary", {}, title), form);
  }

  choice() {
    const id = newId();
    const select = make(
      "select",
      {
        id,
        change: () => {
          this.take(this.catalog.services[select.value]);
          this.changed();
        },
      },
      ...Object.entries(this.catalog.services).map(([key, { label }]) =>
        make("option", { value: key }, label),
      ),
      make("option", { value: "", disabled: true }, "modem configuration file"),
    );
    make("div", { class: "choose wide" }, make("label", { for: id }, "Service"), select);
    return select;
  }

  drop() {
    const id = newId();
    const input = make("input", {
      id,
      type: "file",
      change: () => {
        if (input.files.length) this.modemFile(input.files[0]);
        input.value = "";
      },
    });
    const place = make(
      "div",
      {
        class: "drop",
        dragover: event => {
          event.preventDefault();
          place.classList.add("over");
        },
        dragleave: () => place.classList.remove("over"),
        drop: event => {
          event.preventDefault();
          place.classList.remove("over");
          if (event.dataTransfer.files.length) this.modemFile(event.dataTransfer.files[0]);
        },
      },
      make("label", { for: id }, "Or open or drop a modem configuration file:"),
      input,
    );
    return place;
  }
}
