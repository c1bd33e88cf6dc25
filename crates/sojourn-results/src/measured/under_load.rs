//! What a load did to the probes that were sent meanwhile.

use std::collections::BTreeMap;

use serde::Serialize;
use sojourn_logs::{Clock, FEWEST, Load, LoadSummary, Log, Probe, Summary, Way};

use crate::scores::qoe::{mean, median};

const MOST_PARTS: usize = 10_000;

/// The probes of a load. Delays are in ms, rates in Mbps.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct UnderLoad {
    /// The number of the host, from 1, where the log has several.
    pub host: Option<usize>,
    /// What ran; `None` where the log does not say it.
    pub load: Option<Load>,
    /// Probes that were answered.
    pub answered: usize,
    /// Probes that are known, answered or not.
    #[serde(skip)]
    pub probes: usize,
    /// Share of the probes without an answer, where the log has those.
    pub lost_percent: Option<f64>,
    /// Tenth of the round trips.
    pub rtt_p10_ms: Option<f64>,
    /// Median.
    pub rtt_p50_ms: Option<f64>,
    /// What nine of ten do not exceed.
    pub rtt_p90_ms: Option<f64>,
    /// What 99 of 100 do not exceed.
    pub rtt_p99_ms: Option<f64>,
    /// What the load adds to the mean round trip.
    pub added_ms: Option<f64>,
    /// What it adds to the mean delay from the home.
    pub added_up_ms: Option<f64>,
    /// What it adds to the mean delay to the home.
    pub added_down_ms: Option<f64>,
    /// Median round trip of requests on the load's own connections.
    pub own_p50_ms: Option<f64>,
    /// Mean rate to the home.
    pub down_mbps: Option<f64>,
    /// Mean rate from the home.
    pub up_mbps: Option<f64>,
}

/// The probes of each stream.
type Streams<'a> = Vec<Vec<&'a Probe>>;
type Delay = fn(&Probe) -> Option<f64>;

/// Each load of a log with its probes, the idle line first; of several hosts one by one.
pub(super) fn all(log: &Log) -> Vec<UnderLoad> {
    if let Some(summary) = &log.summary {
        return of_summary(summary);
    }
    let places: Vec<usize> = (0..log.streams.len()).collect();
    if log.has_hosts {
        return places.iter().flat_map(|place| of_host(log, Some(place + 1), &[*place])).collect();
    }
    of_host(log, None, &places)
}

/// The round trips of each stream as all quantiles count them; `None` for what they leave out.
pub fn trips_ms(log: &Log) -> Vec<Vec<Option<f64>>> {
    let all: Vec<usize> = (0..log.streams.len()).collect();
    let together: Vec<&[usize]> =
        if log.has_hosts { all.chunks(1).collect() } else { vec![all.as_slice()] };
    let moved = together.into_iter().flat_map(|places| {
        let idle = by_load(log, places).remove(&Some(Load::Idle)).unwrap_or_default();
        shifts(&idle, places.len(), |probe| probe.rtt_ms)
    });
    let trips = |(probes, by_ms): (&Vec<Probe>, Option<f64>)| {
        probes.iter().map(|probe| Some(probe.rtt_ms? + by_ms?)).collect()
    };
    log.streams.iter().zip(moved).map(trips).collect()
}

/// The probes of some streams while each load ran.
fn by_load<'a>(log: &'a Log, places: &[usize]) -> BTreeMap<Option<Load>, Streams<'a>> {
    let mut probes: BTreeMap<Option<Load>, Streams<'_>> = BTreeMap::new();
    for (at, place) in places.iter().enumerate() {
        for probe in &log.streams[*place] {
            let load = log.load_at(probe.sent_ms);
            if load.is_some() || !log.has_loads {
                let none = || vec![Vec::new(); places.len()];
                probes.entry(load).or_insert_with(none)[at].push(probe);
            }
        }
    }
    probes
}

fn of_host(log: &Log, host: Option<usize>, places: &[usize]) -> Vec<UnderLoad> {
    let probes = by_load(log, places);
    let idle = probes.get(&Some(Load::Idle)).cloned().unwrap_or_default();
    let has_losses: Vec<bool> = places.iter().map(|place| log.has_losses[*place]).collect();
    let of_load = |(load, streams): (&Option<Load>, &Streams<'_>)| UnderLoad {
        host,
        lost_percent: lost_percent(streams, &has_losses),
        ..of_probes(log, *load, streams, &idle)
    };
    probes.iter().map(of_load).collect()
}

/// Of the streams whose lost probes are known.
fn lost_percent(streams: &Streams<'_>, has_losses: &[bool]) -> Option<f64> {
    let known = streams.iter().zip(has_losses).filter(|(_, known)| **known);
    let probes: Vec<_> = known.flat_map(|(stream, _)| stream).collect();
    let lost = probes.iter().filter(|probe| probe.is_lost()).count();
    (!probes.is_empty()).then(|| 100.0 * lost as f64 / probes.len() as f64)
}

fn of_probes(
    log: &Log,
    load: Option<Load>,
    streams: &Streams<'_>,
    idle: &Streams<'_>,
) -> UnderLoad {
    let trips = aligned(streams, idle, |probe| probe.rtt_ms);
    let answered = streams.iter().flatten().filter(|probe| !probe.is_lost()).count();
    let is_loaded = load.is_some_and(|load| load != Load::Idle);
    let added = |streams, idle, delay| added_ms(streams, idle, delay).filter(|_| is_loaded);
    let [parts, idle_parts] = [streams, idle].map(|streams| between_steps(log, streams));
    let [down_mbps, up_mbps] = log.ways.each_ref().map(|way| mean_mbps(log, way, load));
    UnderLoad {
        load,
        answered,
        probes: streams.iter().flatten().count(),
        added_ms: added(streams, idle, |probe| probe.rtt_ms),
        added_up_ms: added(&parts, &idle_parts, |probe| probe.up_ms),
        added_down_ms: added(&parts, &idle_parts, |probe| probe.down_ms),
        down_mbps,
        up_mbps,
        ..of_trips(trips)
    }
}

/// Each stream in parts in which no clock steps: delays of one direction are compared within one. Where clocks step all
/// the time none are.
fn between_steps<'a>(log: &Log, streams: &Streams<'a>) -> Streams<'a> {
    let of_server = log.steps.iter().filter(|step| step.clock == Clock::Server);
    let steps: Vec<f64> = of_server.map(|step| step.after_ms).collect();
    if steps.len() * streams.len() > MOST_PARTS {
        return Vec::new();
    }
    let parts = streams.iter().flat_map(|probes| {
        let mut parts = vec![Vec::new(); steps.len() + 1];
        for probe in probes {
            parts[steps.partition_point(|after| *after < probe.sent_ms)].push(*probe);
        }
        parts
    });
    parts.collect()
}

fn known(probes: &[&Probe], delay: Delay) -> Vec<f64> {
    probes.iter().filter_map(|probe| delay(probe)).collect()
}

/// The delays of a stream at rest, if there are enough.
fn at_rest(idle: &Streams<'_>, place: usize, delay: Delay) -> Option<Vec<f64>> {
    let values = idle.get(place).map(|probes| known(probes, delay))?;
    (values.len() >= FEWEST).then_some(values)
}

/// By how much delays of each of so many streams are moved. Paths of different lengths are laid on each other by their
/// medians at rest; where some streams have none, the others count.
fn shifts(idle: &Streams<'_>, count: usize, delay: Delay) -> Vec<Option<f64>> {
    let rest = |place| at_rest(idle, place, delay).and_then(|values| median(&values));
    let rests: Vec<Option<f64>> = (0..count).map(rest).collect();
    match mean(&rests.iter().copied().flatten().collect::<Vec<_>>()) {
        None => vec![Some(0.0); count],
        Some(usual) => rests.into_iter().map(|rest| Some(usual - rest?)).collect(),
    }
}

/// Delays of all streams, laid on each other.
fn aligned(streams: &Streams<'_>, idle: &Streams<'_>, delay: Delay) -> Vec<f64> {
    let moved = streams.iter().zip(shifts(idle, streams.len(), delay));
    let moved = moved.filter_map(|(probes, by_ms)| Some((probes, by_ms?)));
    moved
        .flat_map(|(probes, by_ms)| {
            known(probes, delay).into_iter().map(move |value| value + by_ms)
        })
        .collect()
}

/// What is added to the mean delay that each stream has at rest.
fn added_ms(streams: &Streams<'_>, idle: &Streams<'_>, delay: Delay) -> Option<f64> {
    let mut added = Vec::new();
    for (place, probes) in streams.iter().enumerate() {
        if let Some(rest) = at_rest(idle, place, delay).and_then(|values| mean(&values)) {
            added.extend(known(probes, delay).into_iter().map(|value| value - rest));
        }
    }
    mean(&added).filter(|_| added.len() >= FEWEST)
}

/// Of the rates that count nothing else than the load.
fn mean_mbps(log: &Log, way: &Way, load: Option<Load>) -> Option<f64> {
    let of_load =
        way.rates.windows(2).filter(|two| two.iter().all(|rate| log.load_at(rate.at_ms) == load));
    mean(&of_load.map(|two| two[1].mbps).collect::<Vec<_>>())
}

fn of_summary(summary: &Summary) -> Vec<UnderLoad> {
    let enough = |values: &[f64]| values.len() >= FEWEST;
    // A single one at rest is a figure of the test, not an answer.
    let is_known = enough(&summary.idle_ms) || summary.idle_ms.len() == 1;
    let rest = mean(&summary.idle_ms).filter(|_| is_known);
    let idle = UnderLoad {
        load: Some(Load::Idle),
        rtt_p50_ms: median(&summary.idle_ms).filter(|_| is_known),
        ..of_trips(summary.idle_ms.clone())
    };
    let of_load = |one: &LoadSummary| UnderLoad {
        added_ms: mean(&one.foreign_ms)
            .zip(rest)
            .filter(|_| enough(&one.foreign_ms))
            .map(|(loaded, rest)| loaded - rest),
        own_p50_ms: median(&one.own_ms).filter(|_| enough(&one.own_ms)),
        down_mbps: one.mbps[0],
        up_mbps: one.mbps[1],
        load: Some(one.load),
        ..of_trips(one.foreign_ms.clone())
    };
    [idle].into_iter().chain(summary.loads.iter().map(of_load)).collect()
}

/// The quantiles of round trips, of which few say nothing.
fn of_trips(mut trips_ms: Vec<f64>) -> UnderLoad {
    trips_ms.sort_by(f64::total_cmp);
    let at = |share| quantile(&trips_ms, share).filter(|_| trips_ms.len() >= FEWEST);
    UnderLoad {
        answered: trips_ms.len(),
        rtt_p10_ms: at(0.1),
        rtt_p50_ms: at(0.5),
        rtt_p90_ms: at(0.9),
        rtt_p99_ms: at(0.99),
        ..UnderLoad::default()
    }
}

/// The value at this share of the way through sorted values, between the two nearest ones.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(low + (high - low) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_values() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), Some(3.0));
        assert_eq!(quantile(&[1.0, 2.0, 4.0, 8.0], 0.5), Some(3.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
