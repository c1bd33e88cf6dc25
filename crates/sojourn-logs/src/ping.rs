//! Lines of ping, as iputils, busybox, macOS and Windows print them in any language: numbers are known by their shape.

use crate::irtt;
use crate::numeral::{leading, number};
use crate::reply::Reply;
use crate::stamp::stamp;

/// Units in ms; of Russian text in UTF-8, code pages 866 and 1251. The Spanish Windows writes `<1m`.
const UNITS: [(&str, f64); 10] = [
    ("ms", 1.0),
    ("\u{43c}\u{441}", 1.0),
    ("\u{ac}\u{e1}", 1.0),
    ("\u{ec}\u{f1}", 1.0),
    ("m ", 1.0),
    ("\u{b5}s", 1e-3),
    ("\u{3bc}s", 1e-3),
    ("us", 1e-3),
    ("ns", 1e-6),
    ("s ", 1e3),
];
/// One of them is in each line of a reply, but for Windows' replies over IPv6.
const MARKS: [&str; 4] = ["ttl=", "seq=", "seq ", "hlim="];
/// What is before the round trip there.
const WORDS: [&str; 8] =
    ["time", "zeit", "temps", "tiempo", "durata", "tempo", "czas", "\u{65f6}\u{95f4}"];
/// Windows' messages are longer than what a shell adds.
const SHORTEST_MESSAGE: usize = 6;

/// What the lines say of probes.
pub(crate) fn replies(text: &str) -> Vec<Reply<'_>> {
    let mut replies = Vec::new();
    let mut lines = text.lines().peekable();
    let are_numbered = text.lines().filter_map(reply).any(|reply| reply.number.is_some());
    // A log may begin after Windows' heading.
    let is_of_windows = text.contains("TTL=");
    let mut is_open = false;
    while let Some(line) = lines.next() {
        if let Some(reply) = reply(line) {
            is_open |= is_of_windows;
            replies.push(reply);
        } else if line.trim_end().ends_with(':') {
            is_open = lines.peek().is_some_and(|next| is_message(next));
        } else if is_open && !are_numbered && is_message(line) {
            let (came, _) = stamp(line);
            replies.push(Reply::new("", came, None, None));
        }
    }
    replies
}

/// Windows prints a message for each probe without an answer; its statistics are indented.
fn is_message(line: &str) -> bool {
    let (_, line) = stamp(line);
    let of_shell = line.contains('>') || line.starts_with('^') || line.starts_with("Control-");
    line.len() >= SHORTEST_MESSAGE
        && !line.starts_with(char::is_whitespace)
        && !line.contains("(DUP!)")
        && !of_shell
}

/// What a line says of a probe.
pub(crate) fn reply(line: &str) -> Option<Reply<'_>> {
    let (came, rest) = stamp(line);
    if rest.contains("(DUP!)") {
        return None;
    }
    if let Some(reply) = irtt::reply(came, rest) {
        return Some(reply);
    }
    let after = rest.split_once("seq=").or_else(|| rest.split_once("icmp_seq "));
    let number = after.and_then(|(_, rest)| leading(rest)).map(|(number, _)| number);
    let rtt_ms = round_trip(rest);
    (rtt_ms.is_some() || number.is_some()).then(|| Reply::new(host(rest), came, number, rtt_ms))
}

/// `64 bytes from NAME (192.0.2.1): icmp_seq=1 ...`: what is in parentheses, or the name.
fn host(line: &str) -> &str {
    let named = line.split_once(" from ").and_then(|(_, rest)| rest.split_once(": "));
    let name = named.map_or("", |(name, _)| name);
    name.rsplit_once('(').map_or(name, |(_, address)| address.trim_end_matches(')'))
}

/// The number of `time=12.5 ms`, `Zeit<1ms` or the like.
fn round_trip(line: &str) -> Option<f64> {
    let small = line.to_lowercase();
    let is_marked = MARKS.iter().any(|mark| small.contains(mark));
    line.match_indices(['=', '<']).find_map(|(at, _)| {
        let (number, rest) = leading(&line[at + 1..])?;
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        let (_, in_ms) = UNITS.iter().find(|(unit, _)| rest.starts_with(unit))?;
        let word = || line[..at].trim_end().rsplit(|c: char| !c.is_alphabetic()).next();
        let is_named = || word().is_some_and(|word| WORDS.contains(&&*word.to_lowercase()));
        (is_marked || is_named()).then_some(number * in_ms)
    })
}

/// How many probes were sent, and at which interval in ms, by the last lines of iputils in any language: `100 packets
/// transmitted, 98 received, 2% packet loss, time 19800ms`.
pub(crate) fn sent(text: &str) -> Option<(f64, Option<f64>)> {
    let is_total = |line: &&str| {
        let has_shape = line.contains('%') && line.matches(", ").count() >= 2;
        has_shape && leading(line).is_some_and(|(_, rest)| rest.starts_with(' '))
    };
    let mut totals = text.lines().filter(is_total);
    let (line, None) = (totals.next()?, totals.next()) else { return None };
    let (sent, _) = leading(line)?;
    let last =
        line.trim_end().strip_suffix("ms").and_then(|line| line.trim_end().rsplit(' ').next());
    let ms = last.and_then(number);
    Some((sent, ms.filter(|ms| *ms > 0.0 && sent >= 2.0).map(|ms| ms / (sent - 1.0))))
}
