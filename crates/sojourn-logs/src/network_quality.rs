//! What `networkQuality` says, as JSON (`-c`) or as text: what the test found, without single probes.

use std::collections::BTreeMap;

use serde_json::Value;
use sojourn_input::problem::Fault;

use crate::log::{Format, Load, LoadSummary, Log, Summary};
use crate::numeral::leading;
use crate::{FEWEST, unusable};

pub(crate) type Document = BTreeMap<String, Value>;

/// A load, and what its keys have.
const LOADS: [(Load, &str); 3] = [(Load::Down, "dl_"), (Load::Up, "ul_"), (Load::Both, "")];
/// Round trips on new connections; those of a load are compared with those of the same kind at rest.
const KINDS: [&str; 2] = ["tcp_handshake_443", "h2_req_resp"];
/// The begin of a line of text, and its key in JSON with what the unit is there.
const LINES: [(&str, &str); 11] = [
    ("downlink capacity", "dl_throughput"),
    ("download capacity", "dl_throughput"),
    ("uplink capacity", "ul_throughput"),
    ("upload capacity", "ul_throughput"),
    ("downlink responsiveness", "dl_responsiveness"),
    ("download responsiveness", "dl_responsiveness"),
    ("uplink responsiveness", "ul_responsiveness"),
    ("upload responsiveness", "ul_responsiveness"),
    ("responsiveness", "responsiveness"),
    ("idle latency", "base_rtt"),
    ("base rtt", "base_rtt"),
];
const UNITS: [(&str, f64); 6] =
    [("RPM", 1.0), ("Gbps", 1e9), ("Mbps", 1e6), ("Kbps", 1e3), ("kbps", 1e3), ("milli", 1.0)];

/// The summary of a test that ran both directions at once, or one after the other (`-s`).
pub(crate) fn log(document: &Document) -> Result<Log, Fault> {
    let number = |key: &str| document.get(key).and_then(Value::as_f64);
    let numbers = |key: String| document.get(&key).map_or_else(Vec::new, numbers);
    let most = |kind: &&str| {
        LOADS.iter().map(|(_, way)| numbers(format!("lud_foreign_{way}{kind}")).len()).max()
    };
    let of_count = |least| KINDS.iter().find(|kind| most(kind) >= Some(least));
    let kind = of_count(FEWEST).or_else(|| of_count(1)).unwrap_or(&KINDS[0]);
    let mbps = |has_rate, key| number(key).filter(|_| has_rate).map(|bits| bits * 1e-6);
    let of = |(load, way): (Load, &str)| LoadSummary {
        load,
        foreign_ms: numbers(format!("lud_foreign_{way}{kind}")),
        own_ms: numbers(format!("lud_self_{way}h2_req_resp")),
        rpm: number(&format!("{way}responsiveness")),
        mbps: [mbps(load != Load::Up, "dl_throughput"), mbps(load != Load::Down, "ul_throughput")],
    };
    let is_known = |one: &LoadSummary| !one.foreign_ms.is_empty() || one.rpm.is_some();
    let loads: Vec<_> = LOADS.into_iter().map(of).filter(is_known).collect();
    let mut idle_ms = numbers(format!("il_{kind}"));
    if idle_ms.len() < 2 {
        idle_ms = number("base_rtt").into_iter().collect();
    }
    let delays = loads.iter().flat_map(|one| one.foreign_ms.iter().chain(&one.own_ms));
    let all = idle_ms.iter().chain(delays).copied().chain(loads.iter().filter_map(|one| one.rpm));
    let error = number("error_code").filter(|code| *code != 0.0);
    if all.into_iter().any(|value| value < 0.0) || loads.is_empty() {
        let found = error.map_or_else(
            || "no responsiveness, or values below 0".to_owned(),
            |code| format!("a test that ended with error {code} and has no responsiveness"),
        );
        return Err(unusable("responsiveness", &found, "what networkQuality -c writes"));
    }
    let mut log = Log::new(Format::NetworkQuality, Vec::new());
    log.doubts.extend(error.map(|code| {
        format!("The test ended with error {code}, so its numbers may be of a part of it alone.")
    }));
    let draft = document.get("draft_version").and_then(Value::as_u64);
    log.summary = Some(Summary { idle_ms, loads, draft });
    Ok(log)
}

/// Numbers under one key: a list, a single one, or none.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(all) => all.iter().filter_map(Value::as_f64).collect(),
        one => one.as_f64().into_iter().collect(),
    }
}

/// The document that text without `-c` has, if it is such: `Uplink capacity: 20.4 Mbps`, `Responsiveness: Low (103 RPM)`.
pub(crate) fn of_text(text: &str) -> Option<Document> {
    let line = |line: &str| {
        let (name, value) = line.split_once(':')?;
        let name = name.trim().to_lowercase();
        let (_, key) = LINES.iter().find(|(begin, _)| *begin == name)?;
        Some(((*key).to_owned(), Value::from(value_of(key, value)?)))
    };
    let found: Document = text.lines().filter_map(line).collect();
    found
        .keys()
        .any(|key| key.ends_with("throughput") || key.ends_with("responsiveness"))
        .then_some(found)
}

/// The number before the unit of its key.
fn value_of(key: &str, text: &str) -> Option<f64> {
    let words: Vec<&str> =
        text.split([' ', '(', ')', '|']).filter(|word| !word.is_empty()).collect();
    words.windows(2).find_map(|two| {
        let (_, unit) = UNITS.iter().find(|(unit, _)| two[1].starts_with(unit))?;
        let is_rpm = two[1].starts_with("RPM");
        let (number, _) = leading(two[0])?;
        (is_rpm == key.ends_with("responsiveness")).then_some(number * unit)
    })
}
