// The results as one HTML file, which opens offline and has no scripts.

import { LETTERS } from "./letters.js";
import { BUFFERBLOAT, bufferbloatRows, gradeWords, named } from "./verdicts.js";

const STYLE = `
:root { color-scheme: light dark; --text: #1b1b1b; --ground: #fff; --rule: #d9d9d9; }
@media (prefers-color-scheme: dark) { :root { --text: #e8e8e8; --ground: #16181b; --rule: #3a3d42; } }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif;
  color: var(--text); background: var(--ground); }
table { border-collapse: collapse; } th, td { border-bottom: 1px solid var(--rule); padding: 0.4rem 0.8rem;
  text-align: left; vertical-align: top; }
figure { margin: 1.5rem 0; } svg { max-width: 100%; height: auto; overflow: visible; }
svg text { fill: var(--text); font-size: 12px; } svg .grid { stroke: var(--rule); }
svg .line { fill: none; stroke-width: 2; } pre { overflow-x: auto; border: 1px solid var(--rule); padding: 1rem; }
`;

/** Of each kind of warning about a key the first sentence; those of idle lines are not the user's to set. */
export function warningsOf(variants, results) {
  const found = results.filter((_, index) => !variants[index].is_baseline).flatMap(({ value }) => value.warnings);
  const kind = ({ code, path, message }) => `${code} ${path || message}`;
  const first = new Map(found.toReversed().map(one => [kind(one), one.message]));
  return [...first.values()].toReversed();
}

/** The page for what is shown: verdict, figures, runs and the scenario. */
export function report({ title, text, variants, names, results, judged, drawings, palette }) {
  const { columns, causes } = judged;
  const heads = columns.map(index => `<th scope="col">${escaped(named(names, index))}</th>`);
  const body = judged.rows.map(
    ({ application, cells }) =>
      `<tr><th scope="row">${escaped(application)}</th>${columns.map(index => cell(cells[index])).join("")}</tr>`,
  );
  const warnings = warningsOf(variants, results);
  const runs = results.map(
    ({ value }, index) =>
      `<tr><td>${escaped(named(names, index))}</td><td>${value.duration_s} s</td>` +
      `<td>${escaped(value.seed)}</td><td><code>${value.fingerprint}</code></td></tr>`,
  );
  const lines = palette.map((color, index) => lineStyle(color, index, palette.length)).join("\n");
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title><style>${STYLE}${lines}</style></head><body>
<h1>${escaped(title)}</h1>
${bufferbloat(names, judged.roundTrips)}
<ul>${judged.sentences.map(item).join("")}</ul>
<table><thead><tr><td></td>${heads.join("")}</tr></thead><tbody>${body.join("")}</tbody></table>
${causes.length ? `<h2>Where the time goes</h2><ul>${causes.map(item).join("")}</ul>` : ""}
${warnings.length ? `<details><summary>Warnings: ${warnings.length}</summary><ul>${warnings.map(item).join("")}</ul></details>` : ""}
${drawings.map(figure).join("\n")}
<h2>Runs</h2>
<table><thead><tr><th>setting</th><th>duration</th><th>seed</th><th>fingerprint</th></tr></thead>
<tbody>${runs.join("")}</tbody></table>
<p>Simulated with Sojourn ${escaped(results[0].value.version)}. <code>sojourn run scenario.toml</code> gives the
same results for this scenario:</p>
<pre tabindex="0">${escaped(text)}</pre>
</body></html>
`;
}

function bufferbloat(names, roundTrips) {
  const [heads, ...rows] = bufferbloatRows(names, roundTrips) ?? [];
  if (!heads) return "";
  const line = (tag, cells) => `<tr>${cells.map(text => `<${tag}>${escaped(text)}</${tag}>`).join("")}</tr>`;
  return `<table><caption>${BUFFERBLOAT}</caption><thead>${line("th", heads)}</thead><tbody>${rows
    .map(row => line("td", row))
    .join("")}</tbody></table>`;
}

function cell(one) {
  const { grade, words } = gradeWords(one);
  return `<td>${grade ? `<strong>${escaped(grade)}</strong><br>` : ""}${escaped(words)}</td>`;
}

function item(sentence) {
  return `<li>${escaped(sentence)}</li>`;
}

function figure({ title, svg, words }) {
  const lines = words.map(text => `<br>${escaped(text)}`).join("");
  return `<figure><figcaption><strong>${escaped(title)}</strong>${lines}</figcaption>${svg.outerHTML}</figure>`;
}

function lineStyle(color, index, colors) {
  const dashes = ["none", "6 3", "2 3", "10 3 2 3"];
  return Array.from(
    { length: Math.ceil(LETTERS.length / colors) },
    (_, round) =>
      `svg .line.line-${index + round * colors} { stroke: ${color}; stroke-dasharray: ${dashes[(index + round) % dashes.length]}; }`,
  ).join("\n");
}

function escaped(text) {
  const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return String(text).replace(/[&<>"]/g, character => entities[character]);
}
