//! Lines of fping: one a reply (`-l`, `-D`, `-C`), or all round trips of a host in one (`-C`, `-q`).

use crate::numeral::{leading, number};
use crate::reply::Reply;
use crate::stamp::stamp;

/// What a line says of a probe: `[1700000000.5] HOST : [7], 64 bytes, 12.5 ms (12.5 avg, 0% loss)`.
pub(crate) fn reply(line: &str) -> Option<Reply<'_>> {
    let (came, rest) = stamp(line);
    let (host, rest) = rest.split_once(": [")?;
    let (numbered, rest) = rest.split_once("], ")?;
    let host = host.split_whitespace().next_back()?;
    let number = Some(number(numbered)?);
    if rest.starts_with("timed out") {
        return Some(Reply { host, came, number, rtt_ms: None });
    }
    let of_size = leading(rest).and_then(|(_, rest)| rest.strip_prefix(" bytes, "));
    let (rtt_ms, rest) = leading(of_size.unwrap_or(rest))?;
    rest.starts_with(" ms").then_some(Reply { host, came, number, rtt_ms: Some(rtt_ms) })
}

/// The probes of a line that has all of a host: `HOST : 12.5 13.1 - 12.2`.
pub(crate) fn summary(line: &str) -> Vec<Reply<'_>> {
    let Some((host, rest)) = line.split_once(" : ") else { return Vec::new() };
    let Some(host) = one_word(host) else { return Vec::new() };
    let values: Option<Vec<_>> = rest
        .split_whitespace()
        .map(|word| if word == "-" { Some(None) } else { number(word).map(Some) })
        .collect();
    let reply = |rtt_ms| Reply { host, came: None, number: None, rtt_ms };
    values.unwrap_or_default().into_iter().map(reply).collect()
}

fn one_word(text: &str) -> Option<&str> {
    let word = text.trim_end();
    (!word.is_empty() && !word.contains(char::is_whitespace)).then_some(word)
}
