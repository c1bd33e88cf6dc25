//! JSON of flent (flent.org/data-format.html): probes and rates of each transfer, in series that are known by their names
//! and units.

use std::collections::{BTreeMap, BTreeSet};
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
    raw_values: Option<Series<Option<Vec<Raw>>>>,
    /// Values of each series at `x_values`, of which files without raw ones have no others.
    results: Option<Series<Vec<Option<f64>>>>,
    #[serde(default)]
    x_values: Vec<f64>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "UPPERCASE")]
struct Metadata {
    /// Of the test, such as `rrul`.
    name: Option<String>,
    series_meta: BTreeMap<String, SeriesMeta>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "UPPERCASE")]
struct SeriesMeta {
    units: Option<String>,
    /// What measured it, such as `PingRunner` or `NetperfDemoRunner`.
    runner: Option<String>,
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
                    if may_be_read(&name) {
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

/// The words of a name; digits before and behind them are left out: `TCP upload::12`, `tcp_12up`.
fn words(name: &str) -> impl Iterator<Item = String> {
    let name = name.to_lowercase();
    let parts: Vec<String> = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .map(|part| part.trim_matches(|c: char| c.is_ascii_digit()).to_owned())
        .collect();
    parts.into_iter()
}

/// What the kernel says of a socket (`TCP upload::1::tcp_rtt`) and what flent computes of several series is not read, and
/// neither are series of other things.
fn may_be_read(name: &str) -> bool {
    const WORDS: [&str; 9] =
        ["ping", "icmp", "tcp", "udp", "upload", "download", "up", "down", "bbr"];
    let small = name.to_lowercase();
    let of_socket = small.rsplit_once("::").is_some_and(|(_, end)| end.parse::<u32>().is_err());
    let computed = [" avg", " sum", " totals", " fairness"].iter().any(|end| small.ends_with(end));
    !of_socket && !computed && words(name).any(|word| WORDS.contains(&&*word))
}

impl Metadata {
    fn kind(&self, name: &str) -> Option<Kind> {
        let units = self.series_meta.get(name).and_then(|meta| meta.units.as_deref());
        let is_ping = words(name).any(|word| word == "ping" || word == "icmp");
        match units {
            Some("ms") => is_ping.then_some(Kind::Pings),
            Some(units) if !units.starts_with("Mbit") => None,
            None if is_ping => Some(Kind::Pings),
            _ => direction(name).or_else(|| direction(self.name.as_deref()?)),
        }
    }

    /// May raw values of this series of pings be counts? Only netperf counts; all other tools give ms.
    fn may_count(&self, name: &str) -> bool {
        let runner = self.series_meta.get(name).and_then(|meta| meta.runner.as_deref());
        self.kind(name) == Some(Kind::Pings)
            && runner.is_none_or(|runner| runner.to_lowercase().contains("netperf"))
    }

    /// Do its pings go to several hosts?
    fn has_hosts(&self) -> bool {
        self.name.as_ref().is_some_and(|name| name.starts_with("rtt_fair"))
    }
}

/// Of a name such as `TCP upload BE` or `tcp_nup`, if it has one alone.
fn direction(name: &str) -> Option<Kind> {
    let has = |known: [&str; 3]| words(name).any(|word| known.contains(&&*word));
    match (has(["download", "down", "ndown"]), has(["upload", "up", "nup"])) {
        (true, false) => Some(Kind::Download),
        (false, true) => Some(Kind::Upload),
        _ => None,
    }
}

/// The probes and rates of a file.
pub(crate) fn log(document: Document) -> Result<Log, Fault> {
    let metadata = &document.metadata;
    let sampled: BTreeMap<_, _> =
        document.results.map_or_else(Vec::new, |series| series.0).into_iter().collect();
    let raw = document.raw_values.map_or_else(Vec::new, |series| series.0);
    let raw = raw.into_iter().map(|(name, values)| (name, values.unwrap_or_default()));
    let mut series: Vec<(String, Vec<Raw>)> =
        raw.filter(|(_, values)| !values.is_empty()).collect();
    for (name, values) in &mut series {
        if let Some(of) = sampled.get(name).filter(|_| metadata.may_count(name)) {
            in_ms(values, of);
        }
    }
    let first = series.iter().flat_map(|(_, values)| values).filter_map(|raw| raw.t);
    let start = first.reduce(f64::min).unwrap_or(0.0);
    let has_raw: BTreeSet<String> = series.iter().map(|(name, _)| name.clone()).collect();
    for (name, values) in sampled {
        if !has_raw.contains(&name) {
            series.push((name, at_times(&document.x_values, start, &values)));
        }
    }
    let of = |kind| {
        let of_kind = series.iter().filter(move |(name, _)| metadata.kind(name) == Some(kind));
        of_kind.map(|(_, values)| values)
    };
    let mut log = Log::new(Format::Flent, of(Kind::Pings).map(|values| probes(values)).collect());
    if log.streams.iter().flatten().all(Probe::is_lost) {
        let allowed = "a test of flent with pings, such as rrul";
        return Err(unusable("raw_values", "no answered probe", allowed));
    }
    let way = |kind| together(of(kind).map(|values| rates(values)).collect());
    log.ways = [way(Kind::Download), way(Kind::Upload)];
    log.has_loads = true;
    log.has_hosts = metadata.has_hosts() && log.streams.len() > 1;
    log.has_losses =
        of(Kind::Pings).map(|values| values.iter().any(|raw| raw.seq.is_some())).collect();
    let is_whole = |t: f64| (t * 1e3 - (t * 1e3).round()).abs() < 1e-6;
    let times = series.iter().flat_map(|(_, of)| of.iter().take(50)).filter_map(|raw| raw.t);
    log.resolution_ms = f64::from(times.into_iter().all(is_whole));
    Ok(log)
}

/// A sampled series: values at times after the start of the test, in s.
fn at_times(times: &[f64], start: f64, values: &[Option<f64>]) -> Vec<Raw> {
    let known = times.iter().zip(values).filter(|(_, val)| val.is_some());
    known.map(|(t, val)| Raw { t: Some(start + t), val: *val, ..Raw::default() }).collect()
}

/// netperf waits for ever where a packet is lost, and counts that time as a round trip in the end.
const STOPPED_MS: f64 = 5_000.0;

/// Raw and sampled values are this near to each other where they are the same ones: a factor's logarithm.
const SAME: f64 = 0.1;

/// netperf counts round trips a second. Where raw values are these, the sampled ones, in ms, are their inverse. Where
/// they are near to each other as they are, they are the same.
fn in_ms(values: &mut [Raw], sampled: &[Option<f64>]) {
    let sampled = deciles(sampled.iter().copied().flatten());
    let counted = || values.iter().filter_map(|raw| raw.val);
    let far = |ours: Option<[f64; 3]>| {
        let pairs = ours?.into_iter().zip(sampled?);
        pairs.map(|(one, other)| (one / other).ln().abs()).reduce(f64::max)
    };
    let (as_it_is, inverse) =
        (far(deciles(counted())), far(deciles(counted().map(|val| 1e3 / val))));
    let is_inverse = |(as_it_is, inverse): (f64, f64)| as_it_is > SAME && inverse < as_it_is;
    if as_it_is.zip(inverse).is_some_and(is_inverse) {
        for raw in values {
            raw.val = raw.val.map(|val| 1e3 / val).filter(|ms| (0.0..STOPPED_MS).contains(ms));
        }
    }
}

/// What one, five and nine of ten values do not exceed.
fn deciles(values: impl Iterator<Item = f64>) -> Option<[f64; 3]> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    (!values.is_empty()).then(|| [1, 5, 9].map(|tenths| values[values.len() * tenths / 10]))
}

/// The time of a probe is that of its return, so it was sent a round trip before.
fn probes(values: &[Raw]) -> Vec<Probe> {
    let answers = values.iter().filter_map(|raw| {
        let (t, rtt_ms) = (raw.t?, raw.val?);
        let answer = Probe::answered(t * 1e3 - rtt_ms, rtt_ms);
        Some((raw.seq, Probe { up_ms: raw.owd_up, down_ms: raw.owd_down, ..answer }))
    });
    with_lost(answers.collect(), None)
}

fn rates(values: &[Raw]) -> Vec<Rate> {
    let rate = |raw: &Raw| Some(Rate { at_ms: raw.t? * 1e3, mbps: raw.val? });
    values.iter().filter_map(rate).collect()
}
