// Shows errors of the server at the field they concern.

import { byId, make } from "./dom.js";

/** Shows an error, or clears the last one if `error` is null. */
export function showError(error, names = []) {
  for (const old of document.querySelectorAll(".invalid")) old.classList.remove("invalid");
  for (const old of document.querySelectorAll(".error")) old.remove();
  for (const old of document.querySelectorAll("[aria-invalid]"))
    old.removeAttribute("aria-invalid");
  const problem = byId("problem");
  problem.hidden = !error;
  problem.textContent = error ? error.message : "";
  if (!error?.path) return;
  const field = document.querySelector(
    `[data-path="${CSS.escape(pathOnPage(error.path, names))}"]`,
  );
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
  field.append(make("p", { class: "error" }, error.message));
}

/** Converts the path of a scenario key to that of its field on the page. */
function pathOnPage(path, names) {
  const variant = names.findIndex(name => path.startsWith(`variant ${name}: `));
  const key = variant < 0 ? path : path.slice(`variant ${names[variant]}: `.length);
  return key.replace(/^upstream\.queue/, `settings.${Math.max(0, variant)}.queue`);
}
