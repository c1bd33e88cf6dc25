//! JSON of flent: probes and rates of each transfer, in series that are known by their names.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use sojourn_input::problem::Fault;

use crate::log::{Format, Log, Probe, Rate};
use crate::numbered::with_lost;
use crate::rates::together;
use crate::unusable;

#[derive(Deserialize)]
pub(crate) struct Document {
    raw_values: Option<Series<Vec<Raw>>>,
    /// Values of each series at `x_values`, in files without raw ones.
    results: Option<Series<Vec<Option<f64>>>>,
    #[serde(default)]
    x_values: Vec<f64>,
}

/// Series by name, in the order of the file.
struct Series<T>(Vec<(String, T)>);

/// A raw value: when it was there, in s, and a delay in ms or a rate in Mbps.
#[derive(Default, Deserialize)]
struct Raw {
    t: Option<f64>,
    val: Option<f64>,
    owd_up: Option<f64>,
    owd_down: Option<f64>,
    seq: Option<f64>,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Series<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Series<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("series by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Series<T>, A::Error> {
                let mut series = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if Kind::of(&name).is_some() {
                        series.push((name, map.next_value()?));
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Series(series))
            }
        }
        from.deserialize_map(Entries(PhantomData))
    }
}

/// What a series has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pings,
    Download,
    Upload,
}

impl Kind {
    /// By its name, such as `Ping (ms) ICMP`, `TCP upload BE` or `TCP download::3`. What the kernel says of a socket
    /// (`TCP upload::1::tcp_rtt`) and what flent computes of several series is neither.
    fn of(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        let of_socket = name.rsplit_once("::").is_some_and(|(_, end)| end.parse::<u32>().is_err());
        let computed =
            [" avg", " sum", " totals", " fairness"].iter().any(|end| name.ends_with(end));
        if of_socket || computed {
            return None;
        }
        let has = |word: &str| name.split(|c: char| !c.is_alphanumeric()).any(|part| part == word);
        if has("ping") {
            Some(Self::Pings)
        } else if has("download") || has("down") {
            Some(Self::Download)
        } else if has("upload") || has("up") {
            Some(Self::Upload)
        } else {
            None
        }
    }
}

/// The probes and rates of a file.
pub(crate) fn log(document: Document) -> Result<Log, Fault> {
    let mut series = document.raw_values.map_or_else(Vec::new, |series| series.0);
    let sampled = document.results.map_or_else(Vec::new, |series| series.0);
    for (name, values) in &mut series {
        if let Some((_, of)) = sampled.iter().find(|(other, _)| other == name) {
            in_ms(values, of);
        }
    }
    if series.is_empty() {
        series = at_times(&document.x_values, sampled);
    }
    let of = |kind| {
        series
            .iter()
            .filter(move |(name, _)| Kind::of(name) == Some(kind))
            .map(|(_, values)| values)
    };
    let mut log = Log::new(Format::Flent, of(Kind::Pings).map(|values| probes(values)).collect());
    if log.streams.iter().flatten().all(Probe::is_lost) {
        let allowed = "a test of flent with pings, such as rrul";
        return Err(unusable("raw_values", "no answered probe", allowed));
    }
    let way = |kind| together(of(kind).map(|values| rates(values)).collect());
    log.ways = [way(Kind::Download), way(Kind::Upload)];
    log.has_loads = true;
    log.has_losses = of(Kind::Pings).flatten().any(|raw| raw.seq.is_some());
    let is_whole = |t: f64| (t * 1e3 - (t * 1e3).round()).abs() < 1e-6;
    let times = series.iter().flat_map(|(_, of)| of.iter().take(50)).filter_map(|raw| raw.t);
    log.resolution_ms = f64::from(times.into_iter().all(is_whole));
    Ok(log)
}

/// Series of files without raw values, in which all have values at the same times.
fn at_times(times: &[f64], series: Vec<(String, Vec<Option<f64>>)>) -> Vec<(String, Vec<Raw>)> {
    let raw = |(t, val): (&f64, Option<f64>)| Raw { t: Some(*t), val, ..Raw::default() };
    let values_of = |values: Vec<Option<f64>>| times.iter().zip(values).map(raw).collect();
    series.into_iter().map(|(name, values)| (name, values_of(values))).collect()
}

/// netperf counts round trips a second. Where raw values are these, the sampled ones, in ms, are their inverse.
fn in_ms(values: &mut [Raw], sampled: &[Option<f64>]) {
    let counted = median(values.iter().filter_map(|raw| raw.val));
    let Some((counted, ms)) = counted.zip(median(sampled.iter().copied().flatten())) else {
        return;
    };
    let distance = |one: f64| (one / ms).ln().abs();
    if distance(1e3 / counted) < distance(counted) {
        for raw in values {
            raw.val = raw.val.filter(|val| *val > 0.0).map(|val| 1e3 / val);
        }
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The time of a probe is that of its return, so it was sent a round trip before.
fn probes(values: &[Raw]) -> Vec<Probe> {
    let answers = values.iter().filter_map(|raw| {
        let (t, rtt_ms) = (raw.t?, raw.val?);
        let answer = Probe::answered(t * 1e3 - rtt_ms, rtt_ms);
        Some((raw.seq, Probe { up_ms: raw.owd_up, down_ms: raw.owd_down, ..answer }))
    });
    with_lost(answers.collect())
}

fn rates(values: &[Raw]) -> Vec<Rate> {
    let rate = |raw: &Raw| Some(Rate { at_ms: raw.t? * 1e3, mbps: raw.val? });
    values.iter().filter_map(rate).collect()
}
