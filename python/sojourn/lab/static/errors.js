// Shows errors at the field they concern.

import { byId, make } from "./dom.js";

/** Shows the message and faults of an error, or clears the last ones if `error` is null. */
export function showError(error, names = []) {
  for (const old of document.querySelectorAll(".invalid")) old.classList.remove("invalid");
  for (const old of document.querySelectorAll(".error")) old.remove();
  for (const old of document.querySelectorAll("form [aria-invalid]"))
    old.removeAttribute("aria-invalid");
  const problem = byId("problem");
  problem.hidden = !error;
  problem.textContent = error ? error.message : "";
  for (const fault of error?.faults ?? []) showFault(fault, names);
}

function showFault({ path, message }, names) {
  if (!path) return;
  const place = `[data-path="${CSS.escape(pathOnPage(path, names))}"]`;
  const field = document.querySelector(place);
  if (!field) return;
  for (
    let around = field.closest("details");
    around;
    around = around.parentElement.closest("details")
  ) {
    around.open = true;
  }
  field.classList.add("invalid");
  field.querySelector("input:not([type=range]), select")?.setAttribute("aria-invalid", "true");
  field.append(make("p", { class: "error" }, message));
}

/** Converts the path of a scenario key to that of its field on the page. */
function pathOnPage(path, names) {
  const variant = names.findIndex(name => path.startsWith(`variant ${name}: `));
  const key = variant < 0 ? path : path.slice(`variant ${names[variant]}: `.length);
  const setting = `settings.${Math.max(0, variant)}`;
  return key
    .replace(/^(upstream|router\.(up|down)stream)\.queue/, `${setting}.queue`)
    .replace(/^router\.(up|down)stream\.rate_mbps/, `${setting}.share_percent`);
}
