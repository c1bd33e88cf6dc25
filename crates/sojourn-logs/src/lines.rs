//! What ping and fping print: a line for each reply.

use std::collections::HashMap;

use sojourn_input::problem::Fault;

use crate::log::{Format, Log, Probe};
use crate::numbered::with_lost;
use crate::reply::{Came, Reply};
use crate::{FORMATS, fping, ping, unusable};

const SUPPOSED_MS: f64 = 1_000.0;
const DAY_MS: f64 = 86_400_000.0;

/// The probes of the lines. Without times a steady interval is supposed.
pub(crate) fn read(text: &str) -> Result<Log, Fault> {
    let of_fping: Vec<_> = text.lines().filter_map(fping::reply).collect();
    let (format, replies) = match of_fping.is_empty() {
        false => (Format::Fping, of_fping),
        true => (Format::Ping, text.lines().filter_map(ping::reply).collect()),
    };
    let (format, replies) = match replies.iter().any(|reply| reply.rtt_ms.is_some()) {
        true => (format, replies),
        false => (Format::Fping, text.lines().flat_map(fping::summary).collect()),
    };
    if replies.is_empty() {
        return Err(unusable("", "no line of a reply", FORMATS));
    }
    let interval_ms = ping::interval_ms(text).unwrap_or(SUPPOSED_MS);
    let is_timed = replies.iter().all(|one| one.rtt_ms.is_none() || one.came.is_some());
    let mut log = Log::new(format, streams(&replies, is_timed, interval_ms));
    log.is_timed = is_timed;
    Ok(log)
}

fn streams(replies: &[Reply<'_>], is_timed: bool, interval_ms: f64) -> Vec<Vec<Probe>> {
    let are_numbered = replies.iter().any(|one| one.rtt_ms.is_some() && one.number.is_some());
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut streams: Vec<Vec<(Option<f64>, Probe)>> = Vec::new();
    let (mut last_ms, mut day_ms) = (f64::NEG_INFINITY, 0.0);
    for reply in replies {
        if reply.rtt_ms.is_none() && are_numbered {
            continue; // its number is missing
        }
        let place = *places.entry(reply.host).or_insert(streams.len());
        if place == streams.len() {
            streams.push(Vec::new());
        }
        let stream = &mut streams[place];
        let rtt_ms = reply.rtt_ms.unwrap_or(0.0);
        let sent_ms = match reply.came.filter(|_| is_timed) {
            Some(Came::At(ms)) => ms - rtt_ms,
            Some(Came::TimeOfDay(ms)) => {
                if ms + day_ms < last_ms - DAY_MS / 2.0 {
                    day_ms += DAY_MS;
                }
                last_ms = ms + day_ms;
                last_ms - rtt_ms
            }
            None if is_timed => stream.last().map_or(0.0, |(_, last)| last.sent_ms + interval_ms),
            None => reply.number.unwrap_or(stream.len() as f64) * interval_ms,
        };
        let probe = reply.rtt_ms.map_or(Probe::lost(sent_ms), |ms| Probe::answered(sent_ms, ms));
        stream.push((reply.number, probe));
    }
    streams.into_iter().map(with_lost).collect()
}
