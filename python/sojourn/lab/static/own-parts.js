// Parts of a user's own on the page: they come as files, or in a link, which asks first.

import { QUEUES } from "./catalog.js";
import { byId, make, show } from "./dom.js";
import { digestOf } from "./parts.js";

export class OwnParts {
  constructor(checker, workers, schema) {
    Object.assign(this, { checker, workers, schema, brought: new Map() });
  }

  /** Reads a part and lets scenarios choose it; returns its name, role and doc. */
  async take(bytes) {
    const part = await this.workers.inspect(bytes);
    const described = this.checker.take(part);
    this.workers.take({ ...part, name: described.name });
    this.schema.root = this.checker.ask({ verb: "schema" });
    const { name, role } = described;
    this.brought.set(name, bytes);
    if (role === "law") QUEUES[`part ${name}`] = { label: name, queue: { law: { kind: name } } };
    return described;
  }

  /** The parts that a scenario chooses. */
  of(text) {
    const isChosen = ([name]) => new RegExp(`\\bkind\\s*=\\s*["']${name}["']`).test(text);
    return [...this.brought].filter(isChosen).map(([, bytes]) => bytes);
  }

  /** Takes the parts of a link, if the user lets it. Returns whether all are here. */
  async admit(parts) {
    const known = await Promise.all([...this.brought.values()].map(digestOf));
    for (const bytes of parts) {
      const digest = await digestOf(bytes);
      if (digest && known.includes(digest)) continue;
      if (!(await isWanted(bytes, digest))) return false;
      await this.take(bytes);
    }
    return true;
  }
}

/** Asks whether the code of a link may run. */
function isWanted(bytes, digest) {
  const place = byId("question");
  return new Promise(resolve => {
    const answer = isYes => () => {
      place.hidden = true;
      resolve(isYes);
    };
    const digits = digest ? `, SHA-256 ${digest}…` : "";
    show(
      place,
      `This link brings code of its own: a part of ${bytes.length} bytes${digits}. It can compute, but reaches ` +
        "neither your files nor the network. Run it only if you trust who sent the link. ",
      make("button", { type: "button", click: answer(true) }, "Run the code"),
      " ",
      make("button", { type: "button", click: answer(false) }, "Leave it out"),
    );
    place.hidden = false;
  });
}
