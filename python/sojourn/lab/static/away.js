// Taking it away: the scenario as a file, and the report.

import { make, show } from "./dom.js";
import { post } from "./asking.js";

/** Buttons that take `wished()` away; `say` tells people, `failed` gets what goes wrong. */
export function away(place, wished, say, failed) {
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
        attempt(copy, failed, async () => {
          text.value = await (await post("api/scenario", wished())).text();
          text.hidden = false;
          say(await copied(text));
        }),
    },
    "Copy as scenario",
  );
  const report = make(
    "button",
    {
      type: "button",
      click: () =>
        attempt(report, failed, async () => {
          say("The report is being drawn.");
          const page = await (await post("api/report", wished())).blob();
          download(page, "sojourn-report.html");
          say("The report was downloaded.");
        }),
    },
    "Download report",
  );
  show(
    place,
    make(
      "p",
      { class: "faint" },
      "A scenario is a text file; `sojourn run` gives the same results with it. ",
      "The report is one HTML file that opens without a network.",
    ),
    make("div", { class: "buttons" }, copy, report),
    text,
  );
}

async function attempt(button, failed, work) {
  button.disabled = true;
  try {
    await work();
  } catch (error) {
    failed(error);
  }
  button.disabled = false;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text.value);
    return "The scenario was copied.";
  } catch {
    text.select();
    return "The scenario is below, selected.";
  }
}

function download(blob, name) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
