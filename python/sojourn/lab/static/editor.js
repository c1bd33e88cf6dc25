// The scenario as text, checked as one types.

import { make, newId, show } from "./dom.js";

const CHECK_AFTER_MS = 150;

export class Editor {
  /**
   * `check(text)` returns the faults of a text; `changed(text)` is called with one that has none, and
   * `refused()` for one that has some.
   */
  constructor(place, { check, changed, refused }) {
    Object.assign(this, { check, changed, refused, timer: undefined, isFaulty: false });
    const id = newId();
    const status = newId();
    this.box = make("textarea", {
      id,
      rows: 22,
      spellcheck: "false",
      autocapitalize: "off",
      autocomplete: "off",
      "aria-describedby": status,
      input: () => this.typed(),
    });
    this.status = make("div", { id: status, role: "status" });
    show(
      place,
      make("label", { for: id }, "The scenario as TOML"),
      this.box,
      this.status,
      make(
        "p",
        { class: "faint" },
        "Every key is described in the reference of the documentation. A scenario that the choices can ",
        "make is shown as choices again.",
      ),
    );
  }

  get text() {
    return this.box.value;
  }

  /** Shows a text from elsewhere, unless the user is typing it. */
  show(text) {
    if (this.box.value === text) return this.mark([]);
    if (document.activeElement === this.box && this.isTyping) return this.mark([]);
    this.box.value = text;
    this.mark([]);
  }

  /** Shows a text with its faults, to be fixed. */
  refuse(text, faults) {
    this.box.value = text;
    this.mark(faults);
  }

  typed() {
    this.isTyping = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const faults = this.check(this.text);
      this.mark(faults);
      if (faults.length) this.refused();
      else this.changed(this.text);
      this.isTyping = false;
    }, CHECK_AFTER_MS);
  }

  /** Lists faults; each leads to its line. */
  mark(faults) {
    this.isFaulty = faults.length > 0;
    this.box.removeAttribute("aria-invalid");
    if (faults.length) this.box.setAttribute("aria-invalid", "true");
    show(
      this.status,
      faults.length
        ? make("ul", { class: "faults" }, ...faults.map(fault => make("li", {}, ...this.fault(fault))))
        : null,
    );
  }

  fault({ path, message, values }) {
    const line = values?.line ? values.line - 1 : lineOf(this.text, path);
    const text = path ? `${path}: ${message}` : message.replace(/^line \d+, /, "");
    if (line === undefined) return [text];
    const go = () => this.select(line);
    return [make("button", { type: "button", class: "line", click: go }, `Line ${line + 1}`), ` ${text}`];
  }

  select(line) {
    const lines = this.text.split("\n");
    const start = lines.slice(0, line).reduce((sum, { length }) => sum + length + 1, 0);
    this.box.focus();
    this.box.setSelectionRange(start, start + lines[line].length);
    const height = parseFloat(getComputedStyle(this.box).lineHeight);
    this.box.scrollTop = Math.max(0, (line - 4) * height);
  }
}

/** The line, from 0, where a key is set; undefined if it is not found. */
export function lineOf(text, path) {
  if (!path) return undefined;
  const [, variant, key] = /^(?:variant (.*?): )?(.*)$/.exec(path);
  const wanted = variant === undefined ? key : `compare.${variant}.${key}`;
  const lines = keyLines(text);
  const within = lines.filter(({ name }) => wanted === name || wanted.startsWith(`${name}.`));
  const shared = lines.filter(({ name }) => key === name || key.startsWith(`${name}.`));
  const best = longest(within.filter(({ name }) => name.split(".").length > 2)) ?? longest(shared) ?? longest(within);
  return best?.line;
}

function longest(found) {
  return found.reduce(
    (best, one) => (best === undefined || one.name.length > best.name.length ? one : best),
    undefined,
  );
}

/** The dotted names of tables and keys with their lines. A value of several lines has its first. */
function keyLines(text) {
  const found = [];
  let table = "";
  for (const [line, content] of text.split("\n").entries()) {
    const heading = /^\s*\[+\s*([^\]]+?)\s*\]+/.exec(content);
    const key = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=/.exec(content);
    if (heading) {
      table = plain(heading[1]);
      found.push({ name: table, line });
    } else if (key) {
      found.push({ name: table ? `${table}.${plain(key[1])}` : plain(key[1]), line });
    }
  }
  return found;
}

function plain(key) {
  return key.replace(/\s*\.\s*/g, ".").replace(/["']/g, "");
}
