//! JSON of `networkQuality -c`: what the test found, without single probes.

use serde::{Deserialize, Deserializer};
use sojourn_input::problem::Fault;

use crate::log::{Format, Load, LoadSummary, Log, Summary};
use crate::unusable;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Document {
    base_rtt: Option<f64>,
    dl_throughput: Option<f64>,
    ul_throughput: Option<f64>,
    responsiveness: Option<f64>,
    dl_responsiveness: Option<f64>,
    ul_responsiveness: Option<f64>,
    draft_version: Option<u64>,
    #[serde(deserialize_with = "numbers")]
    il_tcp_handshake_443: Vec<f64>,
    #[serde(deserialize_with = "numbers")]
    lud_foreign_tcp_handshake_443: Vec<f64>,
    #[serde(deserialize_with = "numbers")]
    lud_foreign_dl_tcp_handshake_443: Vec<f64>,
    #[serde(deserialize_with = "numbers")]
    lud_foreign_ul_tcp_handshake_443: Vec<f64>,
    #[serde(deserialize_with = "numbers")]
    lud_self_h2_req_resp: Vec<f64>,
    #[serde(deserialize_with = "numbers")]
    lud_self_dl_h2_req_resp: Vec<f64>,
    #[serde(deserialize_with = "numbers")]
    lud_self_ul_h2_req_resp: Vec<f64>,
}

/// The summary of a test that ran both directions at once, or one after the other (`-s`).
pub(crate) fn log(document: Document) -> Result<Log, Fault> {
    let mbps = |rate: Option<f64>| rate.map(|bits| bits * 1e-6);
    let [down, up] = [mbps(document.dl_throughput), mbps(document.ul_throughput)];
    let of =
        |load, foreign_ms, own_ms, rpm, mbps| LoadSummary { load, foreign_ms, own_ms, rpm, mbps };
    let loads = [
        of(
            Load::Down,
            document.lud_foreign_dl_tcp_handshake_443,
            document.lud_self_dl_h2_req_resp,
            document.dl_responsiveness,
            [down, None],
        ),
        of(
            Load::Up,
            document.lud_foreign_ul_tcp_handshake_443,
            document.lud_self_ul_h2_req_resp,
            document.ul_responsiveness,
            [None, up],
        ),
        of(
            Load::Both,
            document.lud_foreign_tcp_handshake_443,
            document.lud_self_h2_req_resp,
            document.responsiveness,
            [down, up],
        ),
    ];
    let is_known = |one: &LoadSummary| !one.foreign_ms.is_empty() || one.rpm.is_some();
    let loads: Vec<_> = loads.into_iter().filter(is_known).collect();
    let mut idle_ms = document.il_tcp_handshake_443;
    if idle_ms.is_empty() {
        idle_ms.extend(document.base_rtt);
    }
    let delays = loads.iter().flat_map(|one| one.foreign_ms.iter().chain(&one.own_ms));
    let all = idle_ms.iter().chain(delays).copied().chain(loads.iter().filter_map(|one| one.rpm));
    if all.into_iter().any(|value| value < 0.0) || loads.is_empty() {
        let found = "no responsiveness, or values below 0";
        return Err(unusable("responsiveness", found, "what networkQuality -c writes"));
    }
    let mut log = Log::new(Format::NetworkQuality, Vec::new());
    log.has_losses = false;
    log.summary = Some(Summary { idle_ms, loads, draft: document.draft_version });
    Ok(log)
}

/// Numbers under one key: a list, a single one, or none.
fn numbers<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Numbers {
        One(f64),
        Several(Vec<Option<f64>>),
    }
    Ok(match Option::deserialize(from)? {
        None => Vec::new(),
        Some(Numbers::One(one)) => vec![one],
        Some(Numbers::Several(several)) => several.into_iter().flatten().collect(),
    })
}
