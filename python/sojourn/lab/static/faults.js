// What the server refused, beside the field that it is about.

import { byId, make } from "./dom.js";

/** Shows a fault; without one, that there is none any more. */
export function showFault(fault, names = []) {
  for (const old of document.querySelectorAll(".wrong")) old.classList.remove("wrong");
  for (const old of document.querySelectorAll(".fault")) old.remove();
  for (const old of document.querySelectorAll("[aria-invalid]"))
    old.removeAttribute("aria-invalid");
  const problem = byId("problem");
  problem.hidden = !fault;
  problem.textContent = fault ? fault.message : "";
  if (!fault?.path) return;
  const field = document.querySelector(
    `[data-path="${CSS.escape(pathOnPage(fault.path, names))}"]`,
  );
  if (!field) return;
  for (
    let around = field.closest("details");
    around;
    around = around.parentElement.closest("details")
  ) {
    around.open = true;
  }
  field.classList.add("wrong");
  field.querySelector("input:not([type=range]), select")?.setAttribute("aria-invalid", "true");
  field.append(make("p", { class: "fault" }, fault.message));
}

/** The core's path to a key, as the fields have it. */
function pathOnPage(path, names) {
  const variant = names.findIndex(name => path.startsWith(`variant ${name}: `));
  const key = variant < 0 ? path : path.slice(`variant ${names[variant]}: `.length);
  return key.replace(/^upstream\.queue/, `settings.${Math.max(0, variant)}.queue`);
}
