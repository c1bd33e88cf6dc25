//! Wording of messages about user input.

use serde_json::Value;

/// The most characters of what was found that a message repeats.
const LONGEST: usize = 40;

/// A text, truncated if it is long.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

/// A string in quotes, truncated if it is long.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => escaped(text),
        Some((end, _)) => format!("{}...", escaped(&text[..end])),
    }
}

/// In quotes, with escapes for what nobody sees: `Debug` shows some of it as it is.
fn escaped(text: &str) -> String {
    let shown = |c: char| {
        if is_hidden(c) { c.escape_unicode().to_string() } else { c.to_string() }
    };
    format!("{text:?}").chars().map(shown).collect()
}

/// Describes a value that was found.
pub fn found(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => format!("a string {}", quoted(text)),
        Value::Array(items) => match items.len() {
            0 => "an empty list".to_owned(),
            1 => "a list of 1 item".to_owned(),
            n => format!("a list of {n} items"),
        },
        Value::Object(table) => match table.len() {
            0 => "an empty table".to_owned(),
            1 => "a table of 1 entry".to_owned(),
            n => format!("a table of {n} entries"),
        },
    }
}

/// The first character that nobody sees: a control, a mark of direction, or one without width. Names
/// with it pass for others, and a terminal obeys it. Python and the live page know the same ones.
pub(crate) fn hidden(text: &str) -> Option<char> {
    text.chars().find(|c| is_hidden(*c))
}

fn is_hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}'
        | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The path of a key in the table or list at `path`, in the form that `--set` accepts.
pub fn join(path: &str, key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let key =
        if !key.is_empty() && key.chars().all(is_bare) { key.to_owned() } else { escaped(key) };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

/// A path below the table or list at another.
pub(crate) fn below(outer: &str, inner: &str) -> String {
    let parts = [outer, inner].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(".")
}

/// A description up to its first full stop.
pub(crate) fn first_sentence(description: &str) -> String {
    let line = description.replace('\n', " ");
    let end = line.find(". ").unwrap_or(line.len());
    line[..end].trim_end_matches('.').to_owned()
}

/// The end of a message that suggests a name.
pub fn did_you_mean(name: &str) -> String {
    format!(" (did you mean {name}?)")
}

/// The name that `word` most likely misspells, if any is close.
pub fn closest<'a>(word: &str, names: &[&'a str]) -> Option<&'a str> {
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    if let Some(name) = names.iter().find(|name| name.eq_ignore_ascii_case(word)) {
        return Some(name);
    }
    let lower = word.to_ascii_lowercase();
    let distances = names.iter().map(|name| {
        let distance = strsim::levenshtein(word, name).min(strsim::levenshtein(&lower, name));
        (distance, *name)
    });
    let (distance, name) = distances.min_by_key(|(distance, _)| *distance)?;
    if distance <= (name.len() / 3).max(1) {
        return Some(name);
    }
    // A key without its unit, as `sustained` of `sustained_mbps`.
    let begins = |name: &&str| name.strip_prefix(word).is_some_and(|rest| rest.starts_with('_'));
    names.iter().copied().find(|name| !word.is_empty() && begins(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelling_finds_its_key() {
        let names = ["kind", "target_ms", "interval_ms", "seed"];
        assert_eq!(closest("targt_ms", &names), Some("target_ms"));
        assert_eq!(closest("interval", &names), Some("interval_ms"));
        assert_eq!(closest("sed", &names), Some("seed"));
        assert_eq!(closest("burst", &names), None);
        assert_eq!(closest("sustained", &["peak_mbps", "sustained_mbps"]), Some("sustained_mbps"));
        assert_eq!(closest("sus", &["sustained_mbps"]), None);
        assert_eq!(closest("docsis-pie", &["pie", "docsis_pie"]), Some("docsis_pie"));
        assert_eq!(closest("BBR1", &["bbr1", "reno"]), Some("bbr1"));
        assert_eq!(closest("BBR", &["reno", "bbr1", "bbr3"]), Some("bbr1"));
        assert_eq!(closest("", &names), None);
        assert_eq!(closest("x", &[]), None);
    }

    #[test]
    fn long_strings_are_cut_between_characters() {
        assert_eq!(quoted(&"é".repeat(41)), format!("\"{}\"...", "é".repeat(40)));
        assert_eq!(cut(&"9".repeat(41)), format!("{}...", "9".repeat(40)));
        assert_eq!(cut("99"), "99");
    }

    /// `Debug` takes fillers and the blank of braille for letters.
    #[test]
    fn what_nobody_sees_is_quoted_as_escapes() {
        let found = "pie\u{2800}\u{3164}\u{fe0f}\u{202e}\0\"";
        let shown = r#""pie\u{2800}\u{3164}\u{fe0f}\u{202e}\0\"""#;
        assert_eq!(quoted(found), shown);
        assert_eq!(join("compare", found), format!("compare.{shown}"));
    }

    #[test]
    fn a_sentence_ends_at_a_full_stop_before_a_space() {
        assert_eq!(first_sentence("G.711 in\nms. Unset: 5."), "G.711 in ms");
        assert_eq!(first_sentence("What it is."), "What it is");
        assert_eq!(first_sentence(""), "");
    }
}
