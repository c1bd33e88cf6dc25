//! Scenarios and results as the tests need them.

use sojourn::input::problem::Warning;
use sojourn::results::metrics::rows::{FlowRow, QueueRow, ServiceFlowRow};
use sojourn::results::metrics::{Results, SeriesRow};
use sojourn::scenario::{Scenario, load};

/// What warnings say.
pub fn sentences(warnings: impl IntoIterator<Item = Warning>) -> Vec<String> {
    warnings.into_iter().map(|warning| warning.message).collect()
}

/// A scenario from TOML. It is not checked: tests go to the edges. Its clocks are true, unless it says otherwise, so
/// that times can be written down.
pub fn scenario(text: &str) -> Scenario {
    let mut scenario: Scenario =
        toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    scenario.clock_drift_ppm.get_or_insert(0.0);
    scenario
}

/// The only variant of a text, with these settings and true clocks, checked and filled in as a file is.
#[track_caller]
pub fn loaded(text: &str, sets: &[&str]) -> Scenario {
    let sets = ["clock_drift_ppm = 0"].iter().chain(sets);
    let sets: Vec<String> = sets.map(|set| (*set).to_owned()).collect();
    let loaded = load(text, "test.toml", &sets);
    let mut variants = loaded.unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    assert_eq!(variants.len(), 1);
    variants.remove(0).scenario
}

/// The problems of a text that is refused with these settings.
#[track_caller]
pub fn refused(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    load(text, "test.toml", &sets).unwrap_err().to_string()
}

/// The queue managers of `scenarios/home.toml`: a name and the keys of `upstream.queue`.
pub const HOME_QUEUES: [(&str, &str); 5] = [
    ("BufferBloat", "limit_bytes = 625_000"),
    ("Buffer Control", "limit_bytes = 31_250"),
    (
        "CoDel",
        "limit_bytes = 625_000
         law = { kind = 'codel', target_ms = 10, interval_ms = 150 }",
    ),
    (
        "SFQ-CoDel",
        "limit_bytes = 625_000
         scheduler = { kind = 'sfq', bins = 32, quantum_bytes = 300 }
         law = { kind = 'codel', target_ms = 10, interval_ms = 150 }",
    ),
    ("DOCSIS-PIE", "law = { kind = 'docsis_pie' }"),
];

/// `scenarios/home.toml` for this many seconds, with one of its queue managers, and as in White & Rice
/// 2013: game and call send from the home alone, and clocks are true.
pub fn home(queue: &str, duration_s: f64) -> Scenario {
    let text = include_str!("../../../../scenarios/home.toml")
        .replace("kind = \"stream\"", "kind = \"stream\"\ndirection = \"up\"");
    let mut root: toml::Table = toml::from_str(&text).expect("it is TOML");
    root.remove("compare");
    let mut home: Scenario = root.try_into().expect("it is a scenario");
    home.upstream.queue = toml::from_str(queue).expect("it is a queue");
    home.duration_s = duration_s;
    home.clock_drift_ppm = Some(0.0);
    home
}

/// The row of a traffic entry in a direction.
pub fn flow<'a>(results: &'a Results, traffic: &str, direction: &str) -> &'a FlowRow {
    let is_meant = |row: &&FlowRow| row.traffic == traffic && row.direction == direction;
    results.flows.iter().find(is_meant).expect("the flow carried packets")
}

/// Least, mean, 99th percentile and greatest latency in ms.
pub fn latencies(row: &FlowRow) -> [f64; 4] {
    [row.latency_min_ms, row.latency_mean_ms, row.latency_p99_ms, row.latency_max_ms]
        .map(Option::unwrap)
}

/// The row of a service flow of a group of homes.
pub fn service_flow<'a>(
    results: &'a Results,
    homes: &str,
    name: &str,
    direction: &str,
) -> &'a ServiceFlowRow {
    let is_meant = |row: &&ServiceFlowRow| {
        (&*row.homes, &*row.service_flow, row.direction) == (homes, name, direction)
    };
    results.service_flows.iter().find(is_meant).expect("there is such a service flow")
}

/// The row of a queue.
pub fn queue<'a>(results: &'a Results, name: &str) -> &'a QueueRow {
    results.queues.iter().find(|row| row.queue == name).expect("there is such a queue")
}

/// A series by its subject and metric.
pub fn series<'a>(results: &'a Results, subject: &str, metric: &str) -> &'a SeriesRow {
    let is_meant = |row: &&SeriesRow| row.subject == subject && row.series.metric == metric;
    results.series.iter().find(is_meant).expect("there is such a series")
}
