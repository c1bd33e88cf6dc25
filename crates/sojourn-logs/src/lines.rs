//! What ping and fping print, a line for each reply, and the text of networkQuality.

use std::collections::HashMap;

use sojourn_input::problem::Fault;

use crate::log::{Format, IntervalFrom, Log, Probe, Untimed};
use crate::numbered::with_lost;
use crate::reply::Reply;
use crate::stamp::{COARSE_MS, Timeline, spread};
use crate::{FORMATS, fping, network_quality, ping, unusable};

const SUPPOSED_MS: f64 = 1_000.0;
/// A run of ping begins with the number 0 or 1; what overtakes its first probes has lower ones than this.
const SECOND_RUN: f64 = 6.0;
/// Numbers of ICMP have 16 bits.
const AROUND: f64 = 65_536.0;
/// Beyond it, the number begins again for that.
const NEARLY_AROUND: f64 = 65_000.0;

/// The probes of the lines. Without times a steady interval is supposed.
pub(crate) fn read(text: &str) -> Result<Log, Fault> {
    let mut log = match network_quality::of_text(text) {
        Some(document) => network_quality::log(&document)?,
        None => of_probes(text)?,
    };
    log.doubts.extend(unread(text, log.format));
    Ok(log)
}

/// Of lines of probes that another tool wrote than the one whose lines are read.
fn unread(text: &str, format: Format) -> Option<String> {
    let is_ping = |line: &&str| ping::reply(line).is_some();
    let is_fping = |line: &&str| fping::reply(line).is_some() || fping::summary(line).len() > 1;
    let lines = |is: &dyn Fn(&&str) -> bool| text.lines().filter(is).count();
    let counts = [
        (Format::Ping, if format == Format::Ping { 0 } else { lines(&is_ping) }),
        (Format::Fping, if format == Format::Fping { 0 } else { lines(&is_fping) }),
    ];
    let others = counts.into_iter().filter(|(_, count)| *count > 0);
    let said = |(other, count): (Format, usize)| {
        format!("{count} {} of {}", if count == 1 { "line" } else { "lines" }, other.name())
    };
    let others: Vec<_> = others.map(said).collect();
    (!others.is_empty()).then(|| {
        format!(
            "The file also has {}, which were not read: {} alone counts. Give a file of each tool.",
            others.join(" and "),
            format.name()
        )
    })
}

fn of_probes(text: &str) -> Result<Log, Fault> {
    let of_fping: Vec<_> = text.lines().filter_map(fping::reply).collect();
    let (format, replies) = match of_fping.is_empty() {
        false => (Format::Fping, of_fping),
        true => (Format::Ping, one_run(ping::replies(text))),
    };
    let (format, replies) = match replies.iter().any(|reply| reply.rtt_ms.is_some()) {
        true => (format, replies),
        false => (Format::Fping, text.lines().flat_map(fping::summary).collect()),
    };
    let (sent, interval_ms) = ping::sent(text).unzip();
    if replies.is_empty() {
        let found = sent.map_or_else(
            || "no line of a reply".to_owned(),
            |sent| format!("no answer to any of {sent} probes"),
        );
        return Err(unusable("", &found, FORMATS));
    }
    let (interval_ms, from) = match interval_ms.flatten() {
        Some(ms) => (ms, IntervalFrom::Log),
        None => (SUPPOSED_MS, IntervalFrom::Nowhere),
    };
    let mut times_ms = times(&replies);
    let is_coarse = times_ms.as_mut().is_some_and(|times| spread(times));
    let streams =
        streams(&replies, times_ms.as_deref(), interval_ms, sent, format == Format::Fping);
    let mut log = Log::new(format, streams);
    log.has_hosts = log.streams.len() > 1;
    log.untimed = times_ms.is_none().then_some(Untimed { interval_ms, from });
    log.resolution_ms = if is_coarse { COARSE_MS } else { 0.0 };
    Ok(log)
}

/// Numbers go on where they go around, or where another run of ping begins in the same file.
fn one_run(mut replies: Vec<Reply<'_>>) -> Vec<Reply<'_>> {
    let mut runs: HashMap<&str, (f64, f64)> = HashMap::new();
    for reply in &mut replies {
        let Some(number) = reply.number else { continue };
        let (ran, last) = runs.entry(reply.host).or_default();
        if number <= 1.0 && (SECOND_RUN..NEARLY_AROUND).contains(last) {
            *ran += *last + 1.0 - number;
        } else if number < *last - AROUND / 2.0 {
            *ran += AROUND;
        } else if *ran >= AROUND && number > *last + AROUND / 2.0 && number < AROUND {
            // It left before the numbers went around.
            reply.number = Some(*ran - AROUND + number);
            continue;
        }
        *last = number;
        reply.number = Some(*ran + number);
    }
    replies
}

/// When each line was printed, if all replies have times; other lines are as late as the one before.
fn times(replies: &[Reply<'_>]) -> Option<Vec<f64>> {
    let mut timeline = Timeline::default();
    let mut last_ms = None;
    let time = |reply: &Reply<'_>| match (reply.came, reply.rtt_ms) {
        (Some(came), _) => Some(*last_ms.insert(timeline.ms(came))),
        (None, Some(_)) => None,
        (None, None) => Some(last_ms.unwrap_or(f64::NAN)),
    };
    let times: Option<Vec<f64>> = replies.iter().map(time).collect();
    times.map(|mut times| {
        let first = times.iter().copied().find(|ms| !ms.is_nan()).unwrap_or(0.0);
        times.iter_mut().filter(|ms| ms.is_nan()).for_each(|ms| *ms = first);
        times
    })
}

/// The probes of each host. Lost ones of a single host have no host.
fn streams(
    replies: &[Reply<'_>],
    times_ms: Option<&[f64]>,
    interval_ms: f64,
    sent: Option<f64>,
    has_all_hosts: bool,
) -> Vec<Vec<Probe>> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    // A lost probe of ping is reported by any router, that of fping has its host.
    for reply in replies.iter().filter(|reply| reply.rtt_ms.is_some() || has_all_hosts) {
        let next = places.len();
        places.entry(reply.host).or_insert(next);
    }
    let mut streams: Vec<Vec<(Option<f64>, Probe)>> = vec![Vec::new(); places.len()];
    for (at, reply) in replies.iter().enumerate() {
        let place = if places.len() == 1 { Some(&0) } else { places.get(reply.host) };
        let Some(stream) = place.and_then(|place| streams.get_mut(*place)) else { continue };
        let rtt_ms = reply.rtt_ms.unwrap_or(0.0);
        let sent_ms = match times_ms {
            Some(times) => times[at] - rtt_ms,
            None => reply.number.unwrap_or(stream.len() as f64) * interval_ms,
        };
        let probe = reply.rtt_ms.map_or(Probe::lost(sent_ms), |ms| Probe::answered(sent_ms, ms));
        stream.push((reply.number, probe));
    }
    let sent = sent.filter(|_| streams.len() == 1);
    streams.into_iter().map(|probes| with_lost(probes, sent)).collect()
}
