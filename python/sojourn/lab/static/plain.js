// Texts of files without invisible characters: controls, marks of direction, and those without width.
// The core refuses them in names of scenarios.

const HIDDEN = new RegExp(
  "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f" +
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ud800-\\udfff\\ufe00-\\ufe0f\\ufeff" +
    "\\uffa0\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]",
  "gu",
);

/** The text with invisible characters as escapes, such as `\u{202e}`. */
export function plain(text = "") {
  return text.replaceAll(HIDDEN, found => `\\u{${found.codePointAt(0).toString(16)}}`);
}
