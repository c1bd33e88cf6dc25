//! What a person should know of a measured line.

use sojourn_logs::{Clock, FEWEST, Format, IntervalFrom, LEAST_MBPS, Load, Log, Step};

use super::Responsiveness;
use super::under_load::UnderLoad;
use crate::letters::{A_MS, digits_of_letter, letter};
use crate::words::{around, capitalised, digits, joined};

/// Probes of a quiet line differ by less on average: what is slower at rest by more is delayed by something else.
const SLOWER_MS: f64 = 5.0;
/// One direction has this part of the delay of both, and more.
const MOST: f64 = 0.75;
/// A tenth of the probes at rest is slower by as much: something waits without a load too.
const RESTLESS_MS: f64 = 30.0;
/// Where more probes are lost, the loss is named.
const LOST_PERCENT: f64 = 1.0;
/// The part of a rate that a shaper in the router leaves, so that its own queue is the longest.
const SHAPED: f64 = 0.9;

/// Round trips of columns are doubtful below the one and above the other.
const PLAUSIBLE_MS: [f64; 2] = [0.05, 3_000.0];
/// So many steps of clocks are named one by one.
const MOST_STEPS: usize = 3;
const SAME_STEP_MS: f64 = 2_000.0;

/// All of them, what matters most first.
pub(super) fn all(
    log: &Log,
    loads: &[UnderLoad],
    rpm: &[Responsiveness],
    elsewhere: &[Load],
) -> Vec<String> {
    let silent = silent(loads);
    let is_graded = silent.is_none() && loads.iter().any(|one| one.added_ms.is_some());
    let is_asked = silent.is_none();
    let mut sentences: Vec<String> = silent.into_iter().chain(graded(loads)).collect();
    sentences.extend(lost(loads, is_graded));
    let few = of_few(loads).filter(|_| is_graded);
    let is_of_few = few.is_some() && place_of(loads) == Place::Neither;
    sentences.extend(few);
    if is_graded {
        sentences.extend(misnamed(loads));
        sentences.extend(place(loads));
    }
    sentences.extend(at_rest(loads));
    if is_graded && !is_of_few {
        sentences.push(cure(loads));
    }
    sentences.extend(to_measure(log, loads, elsewhere).filter(|_| is_asked));
    sentences.extend(single(log));
    sentences.push(round_trips_a_minute(loads, rpm));
    sentences
}

/// What the numbers depend on: the tool's own warnings, units, clocks, times and hosts.
pub(super) fn doubts(log: &Log, loads: &[UnderLoad], host: Option<usize>) -> Vec<String> {
    let of_host = host.map(|host| {
        format!(
            "The log has {} hosts; letter and numbers are those of host {host}, the worst. Hosts are never averaged.",
            log.streams.len()
        )
    });
    let all = log.doubts.iter().cloned().chain(unit(log, loads)).chain(steps(log)).chain(of_host);
    all.chain(untimed(log)).chain(light(log)).collect()
}

/// By the least of what ran: a load may delay probes for seconds. Where that is not known, one in ten may be at rest.
fn unit(log: &Log, loads: &[UnderLoad]) -> Option<String> {
    let usual = |one: &UnderLoad| one.load.map_or(one.rtt_p10_ms, |_| one.rtt_p50_ms);
    let usual_ms = loads.iter().filter(|_| log.format == Format::Csv).filter_map(usual);
    let usual_ms = usual_ms.reduce(f64::min)?;
    let [least, most] = PLAUSIBLE_MS;
    (!(least..=most).contains(&usual_ms)).then(|| {
        format!(
            "A usual round trip of {} ms is doubtful: look whether the column has the unit that its name says (ns, us, \
             ms or s).",
            digits(usual_ms)
        )
    })
}

fn steps(log: &Log) -> Vec<String> {
    let start_ms = log.start_ms();
    let sentence = |step: &Step| {
        let at = digits((step.after_ms - start_ms) / 1e3);
        match step.clock {
            Clock::Home if step.by_ms < 0.0 => format!(
                "The clock stepped back by {} s at {at} s: the times after that are corrected.",
                digits(-step.by_ms / 1e3)
            ),
            Clock::Home => format!(
                "The clock stepped forward by {} s at {at} s, or the probes paused so long: that time is left out.",
                digits(step.by_ms / 1e3)
            ),
            Clock::Server => format!(
                "The server's clock stepped by {} ms against the home's at {at} s: delays of one direction are compared \
                 only within the parts before and after that.",
                digits(step.by_ms)
            ),
        }
    };
    let mut steps = log.steps.clone();
    // Each stream sees a step of the server's clock at its own next probe.
    steps.dedup_by(|later, one| {
        later.clock == one.clock && later.after_ms - one.after_ms < SAME_STEP_MS
    });
    let mut sentences: Vec<String> = steps.iter().take(MOST_STEPS).map(sentence).collect();
    if steps.len() > MOST_STEPS {
        sentences.push(format!("Clocks stepped {} times in all.", steps.len()));
    }
    sentences
}

fn untimed(log: &Log) -> Option<String> {
    let untimed = log.untimed?;
    let interval_s = (10.0 * untimed.interval_ms).round() / 1e4;
    Some(match untimed.from {
        IntervalFrom::Nowhere => format!(
            "The log has no times, so {interval_s} s between probes are assumed. Give another interval (--interval, or \
             the field of the page), or have times printed: with -D by ping and fping, else with | ts %.s."
        ),
        IntervalFrom::Log => format!(
            "The log has no times; by its last lines there are {interval_s} s between probes."
        ),
        IntervalFrom::User => {
            format!("The log has no times; as you say, there are {interval_s} s between probes.")
        }
    })
}

fn light(log: &Log) -> Option<String> {
    let [down, up] = log.ways.each_ref().map(|way| way.light_mbps);
    let ways = [("down", down), ("up", up)];
    let rates =
        ways.iter().filter_map(|(way, mbps)| Some(format!("{} Mbps {way}", digits((*mbps)?))));
    let rates: Vec<String> = rates.collect();
    (!rates.is_empty()).then(|| {
        format!(
            "With {} the line was idle or lightly loaded, which is counted as idle: a load has {LEAST_MBPS} Mbps or more, \
             unless the file or you say when it ran.",
            joined(rates)
        )
    })
}

/// What is left to say where probes at rest were slower than under a load: something else than the load decides.
pub(super) fn of_misplaced(loads: &[UnderLoad], rpm: &[Responsiveness]) -> Option<Vec<String>> {
    let first = misplaced(loads)?;
    let rest = [at_rest(loads), Some(round_trips_a_minute(loads, rpm))];
    Some(std::iter::once(first).chain(rest.into_iter().flatten()).collect())
}

fn misplaced(loads: &[UnderLoad]) -> Option<String> {
    let (load, ms) = added(loads).find(|(_, ms)| *ms <= -SLOWER_MS)?;
    let shifts = of(loads, load).and_then(|one| shifts_ms(loads, one));
    let why = if shifts.is_some_and(|shifts| shifts.iter().all(|ms| *ms > -SLOWER_MS)) {
        "a few long probes raise that mean, since the median and the 90th percentile are not longer, so there is no \
         letter. Measure longer without a load."
    } else {
        "something else delays those probes, such as a load that the log does not have, or the times of the loads do \
         not fit this log, so there is no letter. Say when all loads ran, in s after the first probe."
    };
    Some(format!(
        "Without a load the mean round trip is {} ms longer than during {}: {why}",
        digits(-ms),
        named(load)
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
            format!("{} {verb} {} ms ({})", named(load), digits_of_letter(ms.max(0.0)), letter(ms))
        })
        .collect();
    (!clauses.is_empty()).then(|| {
        let clauses = capitalised(&joined(clauses));
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

/// By how much the median and the 90th percentile are longer than at rest.
fn shifts_ms(loads: &[UnderLoad], one: &UnderLoad) -> Option<[f64; 2]> {
    let idle = of(loads, Load::Idle)?;
    Some([one.rtt_p50_ms? - idle.rtt_p50_ms?, one.rtt_p90_ms? - idle.rtt_p90_ms?])
}

/// Does it add much to the mean alone, as few long probes do?
pub(super) fn is_of_few(loads: &[UnderLoad], one: &UnderLoad) -> bool {
    let is_as_at_rest = |ms: &f64| ms.abs() < SLOWER_MS;
    one.added_ms.is_some_and(|ms| ms >= A_MS)
        && shifts_ms(loads, one).is_some_and(|shifts| shifts.iter().all(is_as_at_rest))
}

fn of_few(loads: &[UnderLoad]) -> Option<String> {
    let few = loads.iter().filter(|one| is_of_few(loads, one)).filter_map(|one| one.load);
    around(few.map(|load| named(load).to_owned()), |loads| {
        format!(
            "A few long probes raise the mean during {loads}, since the median and the 90th percentile are as without \
             a load. So neither a direction nor a cure follows from it: measure longer."
        )
    })
}

fn is_long(loads: &[UnderLoad], one: &UnderLoad) -> bool {
    one.added_ms.is_some_and(|ms| ms >= A_MS) && !is_of_few(loads, one)
}

/// By the delays of both directions where they are known; else by the name of the load.
fn place_of_load(one: &UnderLoad) -> Place {
    // What a load shortens in one direction is a drift of the clocks.
    let is_plausible = |(down, up): &(f64, f64)| down.min(*up) >= (MOST - 1.0) * (down + up);
    match (one.added_down_ms.zip(one.added_up_ms).filter(is_plausible), one.load) {
        (Some((down, up)), _) if down >= MOST * (down + up) => Place::Down,
        (Some((down, up)), _) if up >= MOST * (down + up) => Place::Up,
        (Some(_), _) => Place::Either,
        (None, Some(Load::Down)) => Place::Down,
        (None, Some(Load::Up)) => Place::Up,
        (None, _) => Place::Unknown,
    }
}

/// Is the delay that it adds from the home?
pub(super) fn is_upstream(one: &UnderLoad) -> bool {
    place_of_load(one) == Place::Up
}

/// Of loads of one direction, if they add to the delay, and else of those of both.
fn place_of(loads: &[UnderLoad]) -> Place {
    let of_load = |load| of(loads, load).filter(|one| is_long(loads, one)).map(place_of_load);
    match (of_load(Load::Down), of_load(Load::Up)) {
        (Some(down), Some(up)) if down != up => Place::Either,
        (Some(place), _) | (None, Some(place)) => place,
        (None, None) => of_load(Load::Both).unwrap_or(Place::Neither),
    }
}

/// Loads of one direction whose delay is in the other one.
fn misnamed(loads: &[UnderLoad]) -> Option<String> {
    let clause = |one: &UnderLoad| {
        let (what, where_, other) = match (one.load?, place_of_load(one)) {
            (Load::Up, Place::Down) => ("an upload", "downstream", "a download"),
            (Load::Down, Place::Up) => ("a download", "upstream", "an upload"),
            _ => return None,
        };
        Some(format!("{what} is {where_}, which does not fit (was it {other}?)"))
    };
    around(loads.iter().filter(|one| is_long(loads, one)).filter_map(clause), |clauses| {
        format!("By the delays of each direction, the delay of {clauses}.")
    })
}

fn place(loads: &[UnderLoad]) -> Option<String> {
    let text = match place_of(loads) {
        Place::Neither => return None,
        Place::Down => "The delay is downstream: packets to the home wait.",
        Place::Up => "The delay is upstream: packets from the home wait.",
        Place::Either => "The delay is in both directions.",
        Place::Unknown => {
            "Both directions were loaded and only round trips are known, so the log does not say in which of them \
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
            "Even without a load one probe in ten takes {} ms longer than the median: other traffic, Wi-Fi or the line \
             itself delays it, which no queue manager for your own load cures.",
            digits(slow_ms)
        )
    })
}

/// Are so many probes lost that the others say nothing? Such a load may be the worst one.
pub(super) fn is_silent(one: &UnderLoad) -> bool {
    one.load.is_some() && one.answered < FEWEST && one.probes >= FEWEST
}

fn silent(loads: &[UnderLoad]) -> Option<String> {
    let clause = |one: &UnderLoad| match one.answered {
        0 => format!("no probe was answered{}", when(one.load)),
        few => format!("{few} of {} probes were answered{}, too few", one.probes, when(one.load)),
    };
    let silent = || loads.iter().filter(|one| is_silent(one));
    let of_load = match silent().all(|one| one.load == Some(Load::Idle)) {
        true => "",
        false => "the load leaves no room for them, or ",
    };
    around(silent().map(clause), |clauses| {
        format!(
            "{}, so there is no letter: {of_load}something drops them, such as a limit of ICMP. Measure again with \
             probes of another kind (irtt).",
            capitalised(&clauses)
        )
    })
}

/// ` during an upload`, or nothing where the log does not say what ran.
fn when(load: Option<Load>) -> String {
    match load {
        None => String::new(),
        Some(Load::Idle) => " without a load".to_owned(),
        Some(load) => format!(" during {}", named(load)),
    }
}

/// Of one figure no quantiles are known.
fn single(log: &Log) -> Option<String> {
    let is_single = log.summary.as_ref().is_some_and(|summary| summary.idle_ms.len() == 1);
    is_single.then(|| {
        "The file has one figure of the round trip at rest, and no distribution of it.".to_owned()
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

fn lost(loads: &[UnderLoad], is_graded: bool) -> Option<String> {
    let worst = loads.iter().filter(|one| is_lossy(one) && one.answered > 0 && !is_silent(one));
    let worst = worst.max_by(|one, other| {
        one.lost_percent.unwrap_or(0.0).total_cmp(&other.lost_percent.unwrap_or(0.0))
    })?;
    let lost = digits(worst.lost_percent.unwrap_or(0.0));
    let what = if is_graded { "letters and delays" } else { "delays" };
    let idle = of(loads, Load::Idle).filter(|one| one.load != worst.load && is_lossy(one));
    let too = idle.and_then(|one| one.lost_percent).map_or_else(String::new, |lost| {
        format!(" and {} %{}", digits(lost), when(Some(Load::Idle)))
    });
    Some(format!(
        "{lost} % of the probes were lost{}{too}; {what} are those of the others.",
        when(worst.load)
    ))
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
            format!("at {} (90 % of the load's rate in this log)", joined(known))
        };
        format!("a router that shapes {at} with CAKE or FQ-CoDel")
    };
    let rate = |alone, way: fn(&UnderLoad) -> Option<f64>| {
        [alone, Load::Both]
            .into_iter()
            .find_map(|load| way(of(loads, load)?).filter(|mbps| *mbps > 0.0))
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

fn to_measure(log: &Log, loads: &[UnderLoad], elsewhere: &[Load]) -> Option<String> {
    let has = |load| of(loads, load).is_some_and(|one| one.added_ms.is_some());
    if !log.has_loads && log.summary.is_none() {
        return Some(format!(
            "{} does not say when a load ran, so there is no letter. Say when (--down FROM-TO and --up FROM-TO, in s, \
             or the fields of the page), or measure with flent (tcp_download, tcp_upload), Crusader or networkQuality -c.",
            log.format.name()
        ));
    }
    if !loads.iter().any(|one| one.added_ms.is_some()) {
        if let Some(summary) = &log.summary {
            if summary.loads.iter().any(|one| !one.foreign_ms.is_empty()) {
                return Some(
                    "There is no letter, as this output has fewer than ten round trips without a load or while one ran: \
                     run the test again."
                        .to_owned(),
                );
            }
            return Some(
                "There is no letter, as this output has no round trips under load: networkQuality -c writes them."
                    .to_owned(),
            );
        }
        let lacks = match of(loads, Load::Idle).and_then(|one| one.rtt_p50_ms) {
            None => "ten answered round trips without a load",
            Some(_) => "ten answered round trips while a load ran",
        };
        return Some(format!(
            "There is no letter, as the log lacks {lacks}: let the probes run for 10 s before a load of 30 s or more."
        ));
    }
    let is_known = |load| has(load) || elsewhere.contains(&load) || elsewhere.contains(&Load::Both);
    if misnamed(loads).is_some() {
        return None;
    }
    let missing = match (is_known(Load::Down), is_known(Load::Up), has(Load::Both)) {
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
    format!("Round trips per minute: {}, by {}.", joined(clauses), rpm[0].rule)
}
