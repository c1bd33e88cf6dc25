// Colours of lines and activities: those of the report and of all figures.

// Okabe & Ito 2008: colours that remain distinct with any colour vision. Yellow is omitted because it
// is faint on white, black because it is invisible in dark mode.
export const PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];

/** Sets the colours as custom properties, for style sheets. */
export function paint(root) {
  for (const [index, color] of PALETTE.entries()) root.style.setProperty(`--color-${index}`, color);
}
