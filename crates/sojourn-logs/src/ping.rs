//! Lines of ping, as iputils, busybox, macOS and Windows print them.

use crate::reply::{Came, Reply, leading, number, stamp};

/// The word before a round trip, in small letters.
const WORDS: [&str; 4] = ["time", "zeit", "temps", "tiempo"];
/// Windows' lines of a lost probe begin so.
const LOST: [&str; 5] = [
    "Request timed out",
    "Zeit\u{fc}berschreitung",
    "D\u{e9}lai d",
    "Tiempo de espera agotado",
    "PING: transmit failed",
];

/// What a line says of a probe.
pub(crate) fn reply(line: &str) -> Option<Reply<'_>> {
    let (stamped, rest) = stamp(line);
    let lost = LOST.iter().any(|begin| rest.starts_with(begin));
    if lost || rest.contains("(DUP!)") {
        return lost.then_some(Reply { host: "", came: None, number: None, rtt_ms: None });
    }
    let rtt_ms = round_trip(rest)?;
    let came = stamped.or_else(|| time_of_day(rest).map(Came::TimeOfDay));
    let number = rest.split_once("seq=").and_then(|(_, rest)| leading(rest)).map(|(n, _)| n);
    Some(Reply { host: "", came, number, rtt_ms: Some(rtt_ms) })
}

fn round_trip(line: &str) -> Option<f64> {
    let places = line.match_indices(['=', '<']);
    places
        .filter_map(|(at, _)| {
            let word = line[..at].rsplit(|c: char| !c.is_alphabetic()).next()?.to_lowercase();
            let (ms, unit) = leading(&line[at + 1..])?;
            (WORDS.contains(&&*word) && unit.trim_start().starts_with("ms")).then_some(ms)
        })
        .next()
}

/// In ms, of `10:00:01.500000 ` at the beginning, as `ping --apple-time` prints it.
fn time_of_day(line: &str) -> Option<f64> {
    let mut parts = line.split_once(' ')?.0.splitn(3, ':').map(number);
    let mut next = || parts.next().flatten();
    let (hours, minutes, seconds) = (next()?, next()?, next()?);
    Some((hours * 3600.0 + minutes * 60.0 + seconds) * 1e3)
}

/// The interval of the probes by the last line of iputils: `100 packets transmitted, ... time 19800ms`.
pub(crate) fn interval_ms(text: &str) -> Option<f64> {
    let line = text.lines().rev().take(8).find(|line| line.contains(" packets transmitted, "))?;
    let (sent, _) = leading(line)?;
    let (ms, _) = leading(line.rsplit_once("time ")?.1)?;
    (sent >= 2.0 && ms > 0.0).then(|| ms / (sent - 1.0))
}
