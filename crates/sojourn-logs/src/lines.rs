//! What ping and fping print, a line for each reply, and the text of networkQuality.

use std::collections::{HashMap, HashSet};

use sojourn_input::problem::Fault;

use crate::log::{Format, IntervalFrom, Log, Probe, Untimed, median};
use crate::numbered::with_lost;
use crate::reply::Reply;
use crate::stamp::{COARSE_MS, Timeline, spread};
use crate::{FORMATS, fping, irtt, network_quality, ping, unusable};

const SUPPOSED_MS: f64 = 1_000.0;
/// A run begins with the number 0 or 1; what overtakes its first probes has lower ones than this.
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
        (
            Format::Ping,
            if [Format::Ping, Format::Irtt].contains(&format) { 0 } else { lines(&is_ping) },
        ),
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
        false => (Format::Fping, one_run(of_fping)),
        true if text.contains(irtt::OF_LINES) => (Format::Irtt, one_run(ping::replies(text))),
        true => (Format::Ping, one_run(ping::replies(text))),
    };
    let (format, replies) = match replies.iter().any(|reply| reply.rtt_ms.is_some()) {
        true => (format, replies),
        false => (Format::Fping, text.lines().flat_map(fping::summary).collect()),
    };
    let (sent, interval_ms) = ping::sent(text).or_else(|| irtt::sent(text)).unzip();
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
    let mut streams = streams(&replies, times_ms.as_deref(), interval_ms, format == Format::Fping);
    let bursts_ms = streams.iter_mut().filter_map(|stream| spread_bursts(stream));
    let burst_ms = bursts_ms.fold(0.0, f64::max);
    let sent = sent.filter(|_| streams.len() == 1);
    let mut log =
        Log::new(format, streams.into_iter().map(|probes| with_lost(probes, sent)).collect());
    log.doubts.extend((burst_ms > 0.0).then(|| {
        format!(
            "Lines came in bursts, {:.1} s after each other, since a pipe held them back: times are known to that. Let \
             the tool print them (-D), or write stdbuf -oL before it.",
            burst_ms / 1e3
        )
    }));
    log.has_hosts = log.streams.len() > 1;
    log.untimed = times_ms.is_none().then_some(Untimed { interval_ms, from });
    log.resolution_ms = burst_ms.max(if is_coarse { COARSE_MS } else { 0.0 });
    Ok(log)
}

/// Numbers go on where they go around, or where another run begins in the same file: tools mark a second answer to a
/// probe, so a number that comes again without a mark is of a new run.
fn one_run(mut replies: Vec<Reply<'_>>) -> Vec<Reply<'_>> {
    let mut runs: HashMap<&str, Run> = HashMap::new();
    for reply in &mut replies {
        let Some(number) = reply.number else { continue };
        let run = runs.entry(reply.host).or_default();
        let is_again = reply.rtt_ms.is_some() && run.answered.contains(&number.to_bits());
        let is_first = number <= 1.0 && (SECOND_RUN..NEARLY_AROUND).contains(&run.last);
        if !is_first && number < run.last - AROUND / 2.0 {
            run.begin(AROUND);
        } else if is_first || is_again {
            run.begin(run.most + 1.0 - number);
        } else if run.before >= AROUND && number > run.last + AROUND / 2.0 && number < AROUND {
            // It left before the numbers went around.
            reply.number = Some(run.before - AROUND + number);
            continue;
        }
        run.last = number;
        run.most = run.most.max(number);
        if reply.rtt_ms.is_some() {
            run.answered.insert(number.to_bits());
        }
        reply.number = Some(run.before + number);
    }
    replies
}

/// The numbers of one run of ping, or of one time around.
#[derive(Default)]
struct Run {
    /// By how much they go on from those before.
    before: f64,
    last: f64,
    most: f64,
    answered: HashSet<u64>,
}

impl Run {
    fn begin(&mut self, further: f64) {
        *self = Self { before: self.before + further, ..Self::default() };
    }
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
    has_all_hosts: bool,
) -> Vec<Vec<(Option<f64>, Probe)>> {
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
        stream.push((reply.number, reply.probe(sent_ms)));
    }
    streams
}

/// Lines of a burst are closer than this part of the mean distance; so many are, in so many bursts.
const CLOSE: f64 = 0.05;
const MOST_ARE: f64 = 0.8;
const FEWEST_BURSTS: usize = 3;
/// Each line of a burst stands for a mean distance before it, up to this factor.
const ALIKE: f64 = 2.0;

/// Spreads probes whose lines came in bursts over the time since the burst before. How long is it usually? Answers that
/// the line itself held came together too, but their round trips say that they left one by one.
fn spread_bursts(stream: &mut [(Option<f64>, Probe)]) -> Option<f64> {
    let came = |(_, probe): &(Option<f64>, Probe)| probe.sent_ms + probe.rtt_ms.unwrap_or(0.0);
    let last = stream.len().checked_sub(2)? + 1;
    let mean_ms = (came(&stream[last]) - came(&stream[0])) / last as f64;
    let is_close =
        |at: &usize| (came(&stream[at + 1]) - came(&stream[*at])).abs() < CLOSE * mean_ms;
    let close: Vec<usize> = (0..last).filter(is_close).collect();
    let ends: Vec<usize> = (0..last).filter(|at| !is_close(at)).chain([last]).collect();
    let times_ms: Vec<f64> = ends.iter().map(|end| came(&stream[*end])).collect();
    let bursts = || ends.windows(2).zip(times_ms.windows(2));
    let steps = bursts().map(|(two, at)| (at[1] - at[0]) / (two[1] - two[0]) as f64);
    let usual_ms = median(steps)?;
    let is_even = (mean_ms / ALIKE..mean_ms * ALIKE).contains(&usual_ms);
    let apart_ms: f64 =
        close.iter().map(|at| stream[at + 1].1.sent_ms - stream[*at].1.sent_ms).sum();
    let is_held = apart_ms > close.len() as f64 * mean_ms / ALIKE;
    let are_bursts = ends.len() >= FEWEST_BURSTS && close.len() as f64 > MOST_ARE * last as f64;
    if !are_bursts || !is_even || is_held {
        return None;
    }
    let burst_ms = median(times_ms.windows(2).map(|two| two[1] - two[0]));
    let first = ends[0];
    for (at, (_, probe)) in stream[..=first].iter_mut().enumerate() {
        probe.sent_ms = times_ms[0] - (first - at) as f64 * usual_ms;
    }
    for (two, at) in bursts() {
        let step_ms = (at[1] - at[0]) / (two[1] - two[0]) as f64;
        for (number, (_, probe)) in (1..).zip(&mut stream[two[0] + 1..=two[1]]) {
            probe.sent_ms = at[0] + f64::from(number) * step_ms;
        }
    }
    burst_ms
}
