// The page: one scenario, from the address, the choices or the text, simulated as soon as it changes.

import { readHash, LinkError, Steps } from "./address.js";
import { QUEUES } from "./catalog.js";
import { choicesOf, firstChoices, groupsOf, namesOf, ownSetting, scenarioOf } from "./choices.js";
import { figures as drawn } from "./curves.js";
import { byId, make, show } from "./dom.js";
import { Editor } from "./editor.js";
import { showError } from "./errors.js";
import { Export } from "./export.js";
import { Figures } from "./figures.js";
import { fileField } from "./files.js";
import { Forms } from "./form.js";
import { gallery } from "./gallery.js";
import { faultOf, household } from "./household.js";
import { MOST_VARIANTS } from "./letters.js";
import { draftOf } from "./line-draft.js";
import { showLog } from "./line-log.js";
import { Checker, loadModule } from "./module.js";
import { OwnParts } from "./own-parts.js";
import { PALETTE, paint } from "./palette.js";
import { Picture } from "./picture.js";
import { plain } from "./plain.js";
import { Progress } from "./progress.js";
import { warningsOf } from "./report.js";
import { Runner } from "./runner.js";
import { changesOf, scenarioForms, variantChoice } from "./scenario-forms.js";
import { Schema } from "./schema.js";
import { Service } from "./service.js";
import { Settings } from "./settings.js";
import { toml } from "./toml.js";
import { strip, verdicts } from "./verdicts.js";
import { MemoryError, Workers } from "./workers.js";

const NO_NEWS = "No new results; showing the last valid results.";
const FIRST = { isFirst: true };
const COMMAND_LINE =
  "On the command line, `sojourn run scenario.toml` uses all cores and memory of the machine.";

class Page {
  constructor(checker, module) {
    const about = checker.ask({ verb: "about" });
    this.checker = checker;
    this.schema = new Schema(about.schema);
    Object.assign(QUEUES, about.presets);
    this.cases = about.gallery.map(one => caseOf(checker, one));
    this.workers = new Workers(module, about.most_bytes);
    this.parts = new OwnParts(checker, this.workers, this.schema);
    /** The scenario on the page: `text`, `scenario`, `choices` (if it is made of these), `name` of a case. */
    this.state = undefined;
    /** Files that were opened, for scenarios that replay them. */
    this.forms = new Forms(this.schema, () => this.changed());
    this.build();
  }

  build() {
    const onError = error => this.onError(error);
    this.steps = new Steps(() => this.openAddress());
    this.progress = new Progress(byId("progress"), () => this.onStopped());
    this.figures = new Figures(byId("figures"));
    this.picture = new Picture(byId("picture"), this.workers, PALETTE, onError);
    this.export = new Export(byId("export"), { checker: this.checker, say, onError });
    this.editor = new Editor(byId("editor"), {
      check: text => this.faultsOf(text),
      changed: text => this.open({ text }),
      refused: () => this.hold("Off while the text has a fault."),
    });
    this.runner = new Runner(this.workers, {
      start: () => this.onStart(),
      progress: share => this.progress.at(share),
      results: (...found) => this.onResults(...found),
      error: onError,
      long: estimateS => this.onLong(estimateS),
    });
    gallery(byId("gallery"), this.cases, name => this.open({ name }));
    byId("files").append(
      fileField(
        {
          scenario: (_, text) => this.open({ text }),
          modem: (name, bytes) => this.openModem(name, bytes),
          capture: (name, bytes) => this.openCapture(name, bytes),
          log: (name, bytes) => this.openLog(name, bytes),
          part: (_, bytes) => this.openPart(bytes),
        },
        error => this.refuse(error),
      ),
    );
    byId("choices").addEventListener("submit", event => event.preventDefault());
  }

  /** Opens what the address holds, or the first choices. What cannot be opened leaves the page as it was. */
  async openAddress() {
    let held = {};
    try {
      held = await readHash(location.hash);
      if (held.parts) await this.admit(held.parts);
      this.load(held.text === undefined && held.name === undefined ? FIRST : held);
    } catch (error) {
      if (this.state === undefined) this.load(FIRST);
      this.refuse(error, held.text);
    }
  }

  /** Takes the parts of a link, after a question. Throws `LinkError`. */
  async admit(parts) {
    if (this.state === undefined) this.load(FIRST);
    if (await this.parts.admit(parts)) return;
    throw new LinkError("The scenario of the link was not opened, since its code was left out.");
  }

  /** Opens a scenario from elsewhere: a text, or a prepared case by its name. */
  open(what) {
    try {
      this.load(what);
    } catch (error) {
      this.refuse(error, what.text);
    }
  }

  load({ text, name, isFirst = false }) {
    const of = isFirst ? toml(scenarioOf(firstChoices())) : (text === undefined ? this.case(name) : cleaned(text));
    const variants = this.check(of);
    const scenario = this.checker.ask({ verb: "document", text: of });
    const choices = isFirst ? firstChoices() : choicesOf(scenario);
    const opened = structuredClone(scenario);
    this.state = { text: of, scenario, opened, choices, name, shown: shownOf(variants) };
    this.buildForms();
    this.submit(of, variants, { name, isFirst });
  }

  case(name) {
    const found = this.cases.find(one => one.name === name);
    if (found) return found.text;
    const allowed = this.cases.map(one => one.name).join(", ");
    throw new LinkError(`There is no prepared case "${plain(name)}"; allowed: ${allowed}.`);
  }

  buildForms() {
    const { choices, scenario, shown } = this.state;
    const changed = () => this.changed();
    byId("choices").dataset.kind = choices ? "choices" : "scenario";
    for (const part of document.querySelectorAll("[data-of]"))
      part.hidden = part.dataset.of !== byId("choices").dataset.kind;
    this.settings = undefined;
    this.service = undefined;
    if (choices) {
      this.settings = new Settings(choices, this.forms, this.schema, changed);
      this.service = new Service(choices, this.forms, this.schema, changed);
      show(byId("household"), household(choices.counts, changed));
      show(byId("settings"), this.settings.element);
      show(byId("service"), this.service.element);
      show(byId("run"), this.service.run);
    } else {
      const names = this.variants.filter(one => !one.is_baseline).map(one => one.name);
      show(byId("variants"), names.length > 1 ? variantChoice(names, shown, () => this.resubmit()) : null);
      byId("variants-section").hidden = names.length < 2;
      show(byId("scenario-forms"), scenarioForms(scenario, this.forms, this.schema));
    }
    const { title, description } = scenario;
    byId("about-title").textContent = choices ? "" : plain(title) || "A scenario of your own";
    byId("about-text").textContent = choices ? "" : plain(description?.replace(/\s+/g, " ").trim());
    byId("about-changes").textContent = "";
    byId("about").hidden = Boolean(choices);
  }

  /** A control was changed. */
  changed() {
    const { choices, scenario } = this.state;
    const fault = choices && faultOf(choices.counts);
    if (fault) return this.onError(Object.assign(new Error(`${fault.label}: ${fault.message}`), { faults: [fault] }));
    if (!choices) byId("about-changes").textContent = changesOf(scenario, this.state.opened);
    this.service?.keepPeaks();
    this.service?.notify();
    this.settings?.notify();
    try {
      if (choices) this.state.scenario = scenarioOf(choices);
      const text = toml(choices ? this.state.scenario : scenario);
      this.submit(text, this.check(text));
    } catch (error) {
      this.onError(error);
    }
  }

  /** Other variants of the same scenario are shown. */
  resubmit() {
    const { text, name } = this.state;
    this.submit(text, this.variants, { name });
  }

  /** Runs a text that has been checked. */
  submit(text, variants, { name, isFirst = false } = {}) {
    const { choices, shown, scenario } = this.state;
    Object.assign(this.state, { text, name });
    this.showProblem(null);
    this.editor.show(text);
    if (!isFirst) this.steps.keep({ text, name, parts: this.parts.of(text) });
    const title = plain(scenario.title) || "this scenario";
    const isAlone = variants.filter(one => !one.is_baseline).length === 1;
    const isShown = one => choices || isAlone || one.is_baseline || shown.has(one.name);
    const chosen = variants
      .map((one, number) => ({ ...one, number }))
      .filter(isShown)
      .map(one => ({ ...one, name: one.name || title }));
    const groups = choices ? groupsOf(choices) : entriesOf(chosen);
    this.picture.setStale(true);
    this.export.set({ reason: "Waiting for the results." });
    this.runner.send({ text, variants: chosen.slice(0, MOST_VARIANTS), groups });
  }

  /** The variants of a text; throws `InputError`. */
  check(text) {
    this.variants = this.checker.ask({ verb: "check", text });
    return this.variants;
  }

  faultsOf(text) {
    try {
      this.checker.ask({ verb: "check", text });
      return [];
    } catch (error) {
      const faults = error.faults ?? [{ path: "", message: error.message }];
      return faults.map(fault => ({ ...fault, message: advised(fault) }));
    }
  }

  openModem(name, bytes) {
    this.checker.keep(name, bytes);
    const choices = this.state.choices ?? firstChoices();
    const text = toml(scenarioOf({ ...firstChoices(), settings: [ownSetting("the file's", {})] }));
    const modem = this.checker.ask({ verb: "read_modem", name, text });
    if (!this.state.choices) {
      this.state = { ...this.state, choices, scenario: scenarioOf(choices) };
      this.buildForms();
    }
    choices.settings[0] = ownSetting(name, structuredClone(modem.upstream.queue));
    this.service.takeFile(name, modem);
    this.settings.build();
    this.changed();
  }

  openCapture(name, bytes) {
    this.checker.keep(name, bytes);
    this.workers.keep(name, bytes);
    say(`${name} can be replayed now: traffic.NAME = { kind = "replay", file = "${name}", server = "..." }.`);
    // The scenario may have waited for it.
    if (this.editor.isFaulty) this.open({ text: this.editor.text });
  }

  /** A log of a measured line, which changes nothing of the scenario. */
  openLog(name, bytes) {
    const simulate = line => {
      this.open({ text: toml(draftOf(line)) });
      byId("verdict-title").scrollIntoView();
    };
    showLog(spans => this.checker.ask({ verb: "read_log", name, ...spans }, bytes), simulate);
    say(`${name} was read; nothing of it left this page.`);
    byId("log").scrollIntoView();
  }

  /** A part of the user's own: the lists and forms have it from now on. */
  async openPart(bytes) {
    const { name, role, doc } = await this.parts.take(bytes);
    this.buildForms();
    say(`The ${role} ${name} can be chosen now, as kind = "${name}". ${plain(doc)}`);
    // The scenario may have waited for it.
    if (this.editor.isFaulty) this.open({ text: this.editor.text });
  }

  onStart() {
    byId("results").setAttribute("aria-busy", "true");
    byId("long").hidden = true;
    this.progress.start();
  }

  onResults(results, tookMs, scenario) {
    this.finished();
    const names = scenario.variants.map(variant => variant.name);
    const judged = this.judge(scenario, results);
    const times = results.length > 1 ? `${results.length} × ` : "";
    const { duration_s: simulated } = results[0].value;
    say(
      make("span", { class: "answer" }, `${judged.sentences[0] ?? ""} `),
      `Simulated ${times}${simulated} s in ${(tookMs / 1000).toFixed(2)} s.`,
    );
    verdicts(byId("verdicts"), names, judged);
    strip(byId("strip"), names, judged);
    warnings(warningsOf(scenario.variants, results));
    this.figures.show(drawn(scenario.groups, results), scenario.groups);
    this.picture.update(scenario);
    if (this.runner.isBehind || this.problem || this.editor.isFaulty) return;
    this.picture.setStale(false);
    const { text } = scenario;
    const title = this.state.scenario.title || "Sojourn";
    const { drawings } = this.figures;
    this.export.set({ shown: { title, text, variants: scenario.variants, names, results, judged, drawings, palette: PALETTE } });
    document.documentElement.dataset.fingerprints = results.map(({ value }) => value.fingerprint).join(" ");
  }

  judge({ text }, results) {
    const runs = results.map(({ number, value }) => ({ number, rows: value.rows }));
    return judgedRows(this.checker.ask({ verb: "judge", text, runs }));
  }

  onStopped() {
    const reason = "Stopped before there were results. Any change runs again.";
    this.hold(reason);
    this.export.set({ reason, text: this.state.text });
    say(`Stopped. ${NO_NEWS}`);
  }

  onLong(estimateS) {
    const time = estimateS > 90 ? `${Math.round(estimateS / 60)} minutes` : `${Math.round(estimateS)} s`;
    byId("long").hidden = false;
    byId("long").textContent =
      `This scenario is large for a page: it takes about ${time} here. Wait, stop it, or simulate a shorter ` +
      `time. ${COMMAND_LINE}`;
  }

  finished() {
    byId("results").removeAttribute("aria-busy");
    byId("long").hidden = true;
    this.progress.end();
  }

  /** A value is wrong, or a run has failed. */
  onError(error) {
    this.showProblem(error);
    this.hold("Off while a value is wrong.");
  }

  /** The results stay, and nothing can be taken away. */
  hold(reason) {
    this.runner.stop();
    this.finished();
    say(NO_NEWS);
    this.export.set({ reason });
  }

  /** A link or file cannot be opened. What is on the page stays, and goes on. */
  refuse(error, text) {
    if (text !== undefined && error.faults) {
      // It can be fixed where it stands.
      byId("editor-details").open = true;
      this.editor.refuse(text, error.faults);
    }
    showError({ message: advised(error) });
  }

  showProblem(error) {
    this.problem = error ?? undefined;
    const { choices } = this.state ?? {};
    if (error) error.message = advised(error);
    showError(error, choices ? namesOf(choices.settings) : []);
  }
}

function say(...parts) {
  show(byId("status"), ...parts);
}

/** All warnings, folded. */
function warnings(lines) {
  const summary = make("summary", {}, `Warnings: ${lines.length}`);
  const folded = make("details", { class: "warning" }, summary, ...lines.map(line => make("p", {}, line)));
  show(byId("warnings"), lines.length ? folded : null);
}

/** The message of an error; one of a scenario too large for a page offers the command line. */
function advised(error) {
  const { message, faults = [error] } = error;
  const isTooLarge = error instanceof MemoryError || faults.some(({ code }) => code === "too-much-memory");
  return isTooLarge && !message.includes(COMMAND_LINE) ? `${message}. ${COMMAND_LINE}` : message;
}

/** The variants that are shown at first. */
function shownOf(variants) {
  const own = variants.filter(one => !one.is_baseline);
  return new Set(own.slice(0, MOST_VARIANTS - 1).map(({ name }) => name));
}

/** A text without byte-order mark and halves of characters, as its link has it. */
function cleaned(text) {
  return text.replace(/^\ufeff/, "").toWellFormed();
}

function caseOf(checker, { name, text }) {
  const { title, description } = checker.ask({ verb: "document", text });
  return { name, text, title, description: description.replace(/\s+/g, " ").trim() };
}

/** Each traffic entry by itself, for scenarios that the choices do not make. */
function entriesOf(variants) {
  const entries = Object.assign({}, ...variants.map(({ scenario }) => scenario.traffic));
  return Object.entries(entries).map(([name, { kind, direction }]) => {
    const isDown = ["web", "web_sessions", "video"].includes(kind);
    return { name, label: name, entries: [name], direction: direction ?? (isDown ? "down" : "up") };
  });
}

/** The grades as rows: an application with a cell for each setting. */
function judgedRows({ sentences, ungraded, groups, applications }) {
  const rows = applications.map(({ name: application }) => ({
    application,
    cells: groups.map(({ assessments }) => assessments.find(one => one.application === application)),
  }));
  const numbers = groups.map((_, index) => index);
  const wordsOf = index => JSON.stringify(groups[index].assessments.map(({ summary }) => summary));
  const isFirst = index => numbers.find(one => groups[one].is_idle_line && wordsOf(one) === wordsOf(index)) === index;
  const settings = numbers.filter(index => !groups[index].is_idle_line);
  return {
    sentences,
    ungraded,
    rows,
    /** The settings that are no idle lines. */
    settings,
    /** These, and of equal idle lines the first. */
    columns: numbers.filter(index => settings.includes(index) || isFirst(index)),
    roundTrips: groups.map(group => group.round_trip),
    causes: settings.flatMap(index =>
      groups[index].causes.map(cause => (settings.length > 1 ? `${groups[index].name}: ${cause}` : cause)),
    ),
  };
}

async function begin() {
  paint(document.documentElement);
  // Within a page of the documentation, which says what the case is about.
  document.documentElement.classList.toggle("embedded", window.top !== window.self);
  try {
    const module = await loadModule();
    const page = new Page(await Checker.of(module), module);
    await page.openAddress();
    document.documentElement.dataset.ready = "true";
  } catch (error) {
    say("");
    byId("problem").hidden = false;
    byId("problem").textContent = error.message;
  }
}

begin();
