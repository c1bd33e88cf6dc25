// Exports the scenario as a file, and the report.

import { make, show } from "./dom.js";
import { post } from "./latest-request.js";

/** Buttons that export `labRequest()`; `say` shows a status, `onError` gets errors. */
export function exports(place, labRequest, say, onError) {
  const text = make("textarea", {
    readonly: true,
    rows: 14,
    hidden: true,
    spellcheck: "false",
    "aria-label": "The scenario as TOML",
  });
  const copy = make(
    "button",
    {
      type: "button",
      click: () =>
        attempt(copy, onError, async () => {
          text.value = await (await post("api/scenario", labRequest())).text();
          text.hidden = false;
          say(await copied(text));
        }),
    },
    "Copy scenario",
  );
  const report = make(
    "button",
    {
      type: "button",
      click: () =>
        attempt(report, onError, async () => {
          say("Creating the report …");
          const page = await (await post("api/report", labRequest())).blob();
          download(page, "sojourn-report.html");
          say("Report downloaded.");
        }),
    },
    "Download report",
  );
  show(
    place,
    make(
      "p",
      { class: "faint" },
      "The scenario is a text file; `sojourn run` reproduces these results from it. ",
      "The report is one HTML file that opens offline.",
    ),
    make("div", { class: "buttons" }, copy, report),
    text,
  );
}

async function attempt(button, onError, work) {
  button.disabled = true;
  try {
    await work();
  } catch (error) {
    onError(error);
  }
  button.disabled = false;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text.value);
    return "Scenario copied.";
  } catch {
    text.select();
    return "Copying is blocked; the scenario is selected below.";
  }
}

function download(blob, name) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
