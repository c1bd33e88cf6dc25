//! Lines of fping: one a reply (`-l`, `-D`, `-C`), or all round trips of a host in one (`-C`, `-q`); in JSON too (`-J`).

use serde::Deserialize;

use crate::numeral::{leading, number};
use crate::reply::Reply;
use crate::stamp::{Came, stamp};

/// What a line says of a probe: `[1700000000.5] HOST : [7], 64 bytes, 12.5 ms (12.5 avg, 0% loss)`.
pub(crate) fn reply(line: &str) -> Option<Reply<'_>> {
    let (came, rest) = stamp(line);
    if let Some(event) = event(rest) {
        return event.reply(came);
    }
    let (host, rest) = rest.split_once(": [")?;
    let (numbered, rest) = rest.split_once("], ")?;
    let host = host.split_whitespace().next_back()?;
    let number = Some(number(numbered)?);
    if rest.starts_with("timed out") {
        return Some(Reply::new(host, came, number, None));
    }
    let of_size = leading(rest).and_then(|(_, rest)| rest.strip_prefix(" bytes, "));
    let (rtt_ms, rest) = leading(of_size.unwrap_or(rest))?;
    rest.starts_with(" ms").then_some(Reply::new(host, came, number, Some(rtt_ms)))
}

/// The probes of a line that has all of a host: `HOST : 12.5 13.1 - 12.2`.
pub(crate) fn summary(line: &str) -> Vec<Reply<'_>> {
    if let Some(Event { all: Some(All { host, values }), .. }) = event(stamp(line).1) {
        return values.into_iter().map(|rtt_ms| Reply::new(host, None, None, rtt_ms)).collect();
    }
    let Some((host, rest)) = line.split_once(" : ") else { return Vec::new() };
    let Some(host) = one_word(host) else { return Vec::new() };
    let values: Option<Vec<_>> = rest
        .split_whitespace()
        .map(|word| if word == "-" { Some(None) } else { number(word).map(Some) })
        .collect();
    let reply = |rtt_ms| Reply::new(host, None, None, rtt_ms);
    values.unwrap_or_default().into_iter().map(reply).collect()
}

fn one_word(text: &str) -> Option<&str> {
    let word = text.trim_end();
    (!word.is_empty() && !word.contains(char::is_whitespace)).then_some(word)
}

/// A line of JSON, which has one of them.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    resp: Option<One<'a>>,
    #[serde(borrow)]
    timeout: Option<One<'a>>,
    #[serde(borrow, rename = "vSum")]
    all: Option<All<'a>>,
}

#[derive(Deserialize)]
struct One<'a> {
    host: &'a str,
    seq: f64,
    rtt: Option<f64>,
    /// In s since 1970, with `-D`.
    timestamp: Option<f64>,
}

#[derive(Deserialize)]
struct All<'a> {
    host: &'a str,
    values: Vec<Option<f64>>,
}

impl<'a> Event<'a> {
    fn reply(self, came: Option<Came>) -> Option<Reply<'a>> {
        let rtt_ms = self.resp.as_ref().and_then(|one| one.rtt);
        let one = self.resp.or(self.timeout)?;
        let own = one.timestamp.map(|s| Came::At(s * 1e3));
        Some(Reply::new(one.host, own.or(came), Some(one.seq), rtt_ms))
    }
}

fn event(line: &str) -> Option<Event<'_>> {
    let line = line.trim();
    line.starts_with('{').then(|| serde_json::from_str(line).ok()).flatten()
}

/// Is it JSON with a probe or all of a host on a line?
pub(crate) fn is_json(text: &str) -> bool {
    text.lines()
        .filter_map(event)
        .any(|event| event.resp.is_some() || event.timeout.is_some() || event.all.is_some())
}
