//! What a person should know of a measured line.

use sojourn_logs::{Load, Log};

use super::Responsiveness;
use super::under_load::UnderLoad;
use crate::letters::letter;
use crate::verdict::words::{capitalised, digits, joined};

/// Below it a delay that load adds has the letter A, by DSLReports.
const A_MS: f64 = 30.0;
/// One direction has this part of the delay of both, and more.
const MOST: f64 = 0.75;
/// A tenth of the probes at rest is slower by as much: something waits without a load too.
const RESTLESS_MS: f64 = 30.0;
/// Where more probes are lost, the loss is named.
const LOST_PERCENT: f64 = 1.0;
/// The part of a rate that a shaper in the router leaves, so that its own queue is the longest.
const SHAPED: f64 = 0.9;

const UNTIMED: &str = "The log's lines have no times, so its probes are supposed to have left at a steady interval, one \
                       a second where it does not say more: ping and fping print times with -D.";

/// All of them, what matters most first.
pub(super) fn all(log: &Log, loads: &[UnderLoad], rpm: &[Responsiveness]) -> Vec<String> {
    let is_graded = loads.iter().any(|one| one.added_ms.is_some());
    let mut sentences: Vec<String> = graded(loads).into_iter().collect();
    if is_graded {
        sentences.extend(place(loads));
    }
    sentences.extend(at_rest(loads));
    sentences.extend(lost(loads));
    if is_graded {
        sentences.push(cure(loads));
    }
    sentences.extend(to_measure(log, loads));
    if !log.is_timed {
        sentences.push(UNTIMED.to_owned());
    }
    sentences.push(round_trips_a_minute(loads, rpm));
    sentences
}

/// What is left to say of loads that did not run when probes were sent, which are much faster during them than at rest.
pub(super) fn of_misplaced(loads: &[UnderLoad], rpm: &[Responsiveness]) -> Option<Vec<String>> {
    Some(vec![misplaced(loads)?, round_trips_a_minute(loads, rpm)])
}

fn misplaced(loads: &[UnderLoad]) -> Option<String> {
    let (load, ms) = added(loads).find(|(_, ms)| *ms <= -A_MS)?;
    Some(format!(
        "During {} probes are {} ms faster than at rest, so the times of the loads do not fit this log, and there is no \
         letter: say when they ran, in s after the first probe, of a log whose lines have times.",
        named(load),
        digits(-ms)
    ))
}

fn of(loads: &[UnderLoad], load: Load) -> Option<&UnderLoad> {
    loads.iter().find(|one| one.load == Some(load))
}

fn named(load: Load) -> &'static str {
    match load {
        Load::Idle => "no load",
        Load::Down => "a download",
        Load::Up => "an upload",
        Load::Both => "a download and an upload at once",
    }
}

fn added(loads: &[UnderLoad]) -> impl Iterator<Item = (Load, f64)> {
    loads.iter().filter_map(|one| Some((one.load?, one.added_ms?)))
}

fn graded(loads: &[UnderLoad]) -> Option<String> {
    let clauses: Vec<String> = added(loads)
        .map(|(load, ms)| {
            let verb = if load == Load::Both { "add" } else { "adds" };
            format!("{} {verb} {} ms ({})", named(load), digits(ms.max(0.0)), letter(ms))
        })
        .collect();
    (!clauses.is_empty()).then(|| {
        let clauses = capitalised(&joined(&clauses));
        format!("{clauses} to the mean round trip, on DSLReports' scale from A+ to F.")
    })
}

/// Which directions' queues are long.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Neither,
    Down,
    Up,
    Either,
    Unknown,
}

fn place_of(loads: &[UnderLoad]) -> Place {
    let long = |load| of(loads, load).and_then(|one| one.added_ms).is_some_and(|ms| ms >= A_MS);
    let of_both = of(loads, Load::Both).filter(|one| one.added_ms.is_some_and(|ms| ms >= A_MS));
    let of_ways = of_both.and_then(|one| Some((one.added_down_ms?, one.added_up_ms?)));
    match (long(Load::Down), long(Load::Up)) {
        (true, true) => Place::Either,
        (true, false) => Place::Down,
        (false, true) => Place::Up,
        (false, false) => match (of_both, of_ways) {
            (None, _) => Place::Neither,
            (Some(_), None) => Place::Unknown,
            (Some(_), Some((down, up))) if down >= MOST * (down + up) => Place::Down,
            (Some(_), Some((down, up))) if up >= MOST * (down + up) => Place::Up,
            (Some(_), Some(_)) => Place::Either,
        },
    }
}

fn place(loads: &[UnderLoad]) -> Option<String> {
    let text = match place_of(loads) {
        Place::Neither => return None,
        Place::Down => "The delay is downstream: packets to the home wait.",
        Place::Up => "The delay is upstream: packets from the home wait.",
        Place::Either => "The delay is in both directions.",
        Place::Unknown => {
            "Both directions were loaded and round trips alone are known, so the log does not say in which of them \
             packets wait: measure uploads and downloads one after the other."
        }
    };
    Some(text.to_owned())
}

fn at_rest(loads: &[UnderLoad]) -> Option<String> {
    let idle = of(loads, Load::Idle)?;
    let slow_ms = idle.rtt_p90_ms? - idle.rtt_p50_ms?;
    (slow_ms >= RESTLESS_MS).then(|| {
        format!(
            "Without a load one probe in ten takes {} ms more than the median too: other traffic, Wi-Fi or the line \
             itself delays it, which no queue manager for your own load cures.",
            digits(slow_ms)
        )
    })
}

fn is_lossy(one: &UnderLoad) -> bool {
    one.lost_percent.is_some_and(|lost| lost >= LOST_PERCENT)
}

/// Are packets lost under a load that are not without one?
fn loses(loads: &[UnderLoad]) -> bool {
    let is_loaded = |one: &&UnderLoad| one.load.is_some_and(|load| load != Load::Idle);
    loads.iter().filter(is_loaded).any(is_lossy) && !of(loads, Load::Idle).is_some_and(is_lossy)
}

fn lost(loads: &[UnderLoad]) -> Option<String> {
    let worst = loads.iter().filter(|one| is_lossy(one));
    let worst = worst.max_by(|one, other| {
        one.lost_percent.unwrap_or(0.0).total_cmp(&other.lost_percent.unwrap_or(0.0))
    })?;
    let when = worst.load.map_or_else(String::new, |load| format!(" during {}", named(load)));
    let lost = digits(worst.lost_percent.unwrap_or(0.0));
    Some(format!("{lost} % of the probes were lost{when}; delays are those of the others."))
}

fn cure(loads: &[UnderLoad]) -> String {
    let in_router = |rates: &[(&str, Option<f64>)]| {
        let known: Vec<String> = rates
            .iter()
            .filter_map(|(way, mbps)| Some(format!("{} Mbps {way}", digits(SHAPED * (*mbps)?))))
            .collect();
        let at = if known.is_empty() {
            "somewhat below the line's rates".to_owned()
        } else {
            format!("at {} (90 % of what the load had)", joined(&known))
        };
        format!("a router that shapes {at} with CAKE or FQ-CoDel")
    };
    let rate = |alone, way: fn(&UnderLoad) -> Option<f64>| {
        of(loads, alone).and_then(way).or_else(|| of(loads, Load::Both).and_then(way))
    };
    let down = ("down", rate(Load::Down, |one| one.down_mbps));
    let up = ("up", rate(Load::Up, |one| one.up_mbps));
    match place_of(loads) {
        Place::Neither if loses(loads) => {
            "Load adds less than 30 ms and loses packets instead: a very small buffer, a policer or an AQM that drops \
             much is at work. What would cure it: a larger buffer with an AQM, or a router that shapes below the rate."
                .to_owned()
        }
        Place::Neither => {
            "Load adds less than 30 ms, so nothing needs a cure: a queue manager, a shaper or a small buffer is at \
             work, or the load did not fill the line."
                .to_owned()
        }
        Place::Up => format!(
            "What would cure it: an AQM or a smaller buffer in the modem, which the provider sets, or {}.",
            in_router(&[up])
        ),
        Place::Down => format!(
            "What would cure it: an AQM or a smaller buffer at the provider's end, or {}.",
            in_router(&[down])
        ),
        Place::Either | Place::Unknown => format!(
            "What would cure it: an AQM or smaller buffers in the modem and at the provider's end, or {}.",
            in_router(&[down, up])
        ),
    }
}

fn to_measure(log: &Log, loads: &[UnderLoad]) -> Option<String> {
    let has = |load| of(loads, load).is_some_and(|one| one.added_ms.is_some());
    if !log.has_loads && log.summary.is_none() {
        return Some(format!(
            "{} does not say when a load ran, so there is no letter. Say when (--down FROM-TO and --up FROM-TO, in s, \
             or the fields of the page), or measure with flent (tcp_download, tcp_upload), Crusader or networkQuality -c.",
            log.format.name()
        ));
    }
    if !loads.iter().any(|one| one.added_ms.is_some()) {
        let lacks = match of(loads, Load::Idle).and_then(|one| one.rtt_p50_ms) {
            None => "ten answered round trips without a load",
            Some(_) => "ten answered round trips while a load ran",
        };
        return Some(format!(
            "There is no letter, as the log lacks {lacks}: let the probes run for 10 s before a load of 30 s or more."
        ));
    }
    let missing = match (has(Load::Down), has(Load::Up), has(Load::Both)) {
        (true, false, false) => "an upload (flent tcp_upload)",
        (false, true, false) => "a download (flent tcp_download)",
        _ => return None,
    };
    Some(format!("The letter may be worse with {missing}, which the log does not have."))
}

fn round_trips_a_minute(loads: &[UnderLoad], rpm: &[Responsiveness]) -> String {
    if rpm.is_empty() {
        return "Round trips per minute: not measured; networkQuality (macOS) and goresponsiveness measure them."
            .to_owned();
    }
    let clauses: Vec<String> = rpm
        .iter()
        .map(|one| {
            let own = of(loads, one.load).and_then(|load| load.own_p50_ms);
            let own = own.map_or_else(String::new, |ms| {
                format!(" (requests on its own connections take {} ms)", digits(ms))
            });
            format!("{} with {}{own}", digits(one.rpm), named(one.load))
        })
        .collect();
    format!("Round trips per minute: {}, by {}.", joined(&clauses), rpm[0].rule)
}
