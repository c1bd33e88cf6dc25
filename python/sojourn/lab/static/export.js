// What can be taken away: a link, the scenario, results, a report, and the modem's file.

import { rows } from "./core.js";
import { make, show } from "./dom.js";
import { report } from "./report.js";

/** So many buttons at first need the scenario alone. */
const OF_SCENARIO = 3;
/** Tables that are too large to be of use in a JSON file. */
const LEFT_OUT = ["packets", "modem_events"];

export class Export {
  /**
   * `page` has `checker`, `say(text)` and `onError(error)`. The buttons are off while a value is wrong or
   * results are on their way.
   */
  constructor(place, page) {
    this.page = page;
    this.buttons = [
      this.button("Copy link", () => this.copy(location.href, "Link copied.")),
      this.button("Copy scenario", () => this.copy(this.shown.text, "Scenario copied.")),
      this.button("Download scenario", () => this.save("scenario.toml", this.shown.text, "application/toml")),
      this.button("Download results", () => this.save("results.json", this.results(), "application/json")),
      this.button("Download report", () => this.save("report.html", report(this.shown), "text/html")),
      this.button("Download modem file", () => this.modemFile()),
    ];
    this.why = make("p", { class: "faint", role: "status" });
    this.text = make("textarea", { readonly: true, rows: 3, hidden: true, "aria-label": "To copy by hand" });
    show(
      place,
      make(
        "p",
        { class: "faint" },
        make("code", {}, "sojourn run"),
        " gives the results of this page for its scenario, bit for bit. The report is one file ",
        "that opens offline. The modem file has the upstream and downstream service of setting A.",
      ),
      make("div", { class: "buttons" }, ...this.buttons),
      this.why,
      this.text,
    );
    this.set({ reason: "Loading." });
  }

  /** Takes what is shown, or the reason why nothing can be taken but perhaps the scenario with this text. */
  set({ shown, reason = "", text }) {
    if (shown) this.shown = shown;
    if (text !== undefined) this.shown = { ...this.shown, text };
    this.firstOff = text === undefined ? 0 : OF_SCENARIO;
    this.why.textContent = reason;
    if (reason) this.text.hidden = true;
    this.refresh();
  }

  refresh() {
    const isOff = this.why.textContent !== "";
    for (const [place, button] of this.buttons.entries()) button.disabled = isOff && place >= this.firstOff;
  }

  button(name, act) {
    const click = async () => {
      button.disabled = true;
      try {
        await act();
      } catch (error) {
        this.page.onError(error);
      }
      this.refresh();
    };
    const button = make("button", { type: "button", click }, name);
    return button;
  }

  async copy(text, done) {
    try {
      await navigator.clipboard.writeText(text);
      this.page.say(done);
    } catch {
      this.text.value = text;
      this.text.hidden = false;
      this.text.select();
      this.page.say("The browser does not allow copying; what to copy is selected below.");
    }
  }

  save(name, content, type) {
    const address = URL.createObjectURL(new Blob([content], { type }));
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    this.page.say(`${name} downloaded.`);
  }

  /** All tables of all runs, each as a list of rows. */
  results() {
    const runs = this.shown.results.map(({ name, value: { tables, ...meta }, blob }) => ({
      name,
      ...meta,
      tables: Object.fromEntries(
        Object.entries(tables)
          .filter(([table]) => !LEFT_OUT.includes(table))
          .map(([table, columns]) => [table, rows(columns, blob)]),
      ),
    }));
    return JSON.stringify({ scenario: this.shown.text, runs }, null, 1);
  }

  modemFile() {
    const { text, variants } = this.shown;
    const request = { verb: "write_modem", text, variant: variants[0].number };
    const { value, blob } = this.page.checker.exchange(request);
    this.save("modem.cm", blob, "application/octet-stream");
    const notes = value.notes.length ? ` Files cannot express: ${value.notes.join("; ")}.` : "";
    this.page.say(`modem.cm downloaded.${notes}`);
  }
}
