//! What a run contributes to a verdict.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::measures::MEASURES;
use super::pages::page_load;
use super::rows::{Row, Rows};
use super::thresholds::{
    APPLICATIONS, Application, CALL, GAME, PAGE, PAGE_LOAD, UPLOAD, UPLOAD_SHARE,
};
use super::uploads;
use crate::packet::Direction;
use crate::scenario::Scenario;

/// Values by their names.
pub(super) type Values = BTreeMap<&'static str, Option<f64>>;

/// A traffic entry.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What it is, in words: its purpose or its kind.
    pub kind: String,
    /// What bulk traffic is in a word; empty for other traffic.
    pub bulk: &'static str,
    /// Which way the payload of bulk traffic goes: up or down; empty for other traffic.
    pub bulk_direction: &'static str,
    /// The number of homes that have it.
    pub homes: u16,
    /// Are there several of it: in several homes, or over several connections?
    pub is_several: bool,
    /// Was anything of it delivered?
    pub sent: bool,
    /// Has it a grade?
    pub graded: bool,
}

/// What is graded in a run, with its values: of several entries those of the worst.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct Tested {
    pub application: &'static str,
    pub values: Values,
    /// What the summary adds, such as how pages were counted.
    pub note: &'static str,
}

/// What a run contributes to a verdict: its measures, what it has for grades, and what its traffic is.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Facts {
    /// The traffic entries.
    pub traffic: Vec<Entry>,
    /// The measures that apply, by key; `None` where nothing was measured.
    pub measures: Values,
    pub(super) tests: Vec<Tested>,
    /// The rate of each bulk entry in the direction of its payload, in Mbps.
    pub(super) bulk_mbps: BTreeMap<String, f64>,
    /// The mean one-way latency of each game and call, summed over its directions, in ms.
    pub(super) round_trips_ms: BTreeMap<String, f64>,
}

impl Facts {
    /// The facts of a run of this scenario with these tables.
    pub fn of(scenario: &Scenario, rows: &Rows) -> Self {
        let tests: Vec<_> =
            APPLICATIONS.iter().filter_map(|one| tested(one, scenario, rows)).collect();
        let measures = MEASURES.iter().filter_map(|m| Some((m.key, m.value(scenario, rows)?)));
        Self {
            traffic: entries(scenario, rows),
            measures: measures.collect(),
            tests,
            bulk_mbps: bulk_mbps(scenario, rows),
            round_trips_ms: round_trips_ms(rows),
        }
    }

    /// Is there nothing that fills the line?
    pub fn is_idle(&self) -> bool {
        self.bulk().next().is_none()
    }

    /// The bulk entries of which something was delivered.
    pub(super) fn bulk(&self) -> impl Iterator<Item = &Entry> {
        self.traffic.iter().filter(|entry| entry.sent && !entry.bulk.is_empty())
    }

    /// What people notice, by name.
    pub(super) fn people(&self) -> BTreeSet<&str> {
        let people = self.traffic.iter().filter(|entry| entry.bulk.is_empty());
        people.map(|entry| entry.name.as_str()).collect()
    }
}

fn entries(scenario: &Scenario, rows: &Rows) -> Vec<Entry> {
    let is_judged = |row: &&Row| APPLICATIONS.iter().any(|a| is_of(a, row));
    let mut graded: BTreeSet<&str> =
        rows.flows.iter().filter(is_judged).map(|row| row.text("traffic")).collect();
    graded.extend(uploads::unlimited(scenario));
    let is_sent = |row: &&Row| row.number("throughput_mbps") != Some(0.0);
    let sent: BTreeSet<&str> =
        rows.flows.iter().filter(is_sent).map(|row| row.text("traffic")).collect();
    let homes_of =
        |entry: &crate::scenario::traffic::Entry| scenario.group(scenario.group_of(entry)).count;
    let entry = |(name, entry): (&String, &crate::scenario::traffic::Entry)| Entry {
        name: name.clone(),
        kind: kind(entry),
        bulk: if entry.app.is_bulk() { entry.app.bulk_word() } else { "" },
        bulk_direction: entry.app.bulk_direction().map_or("", Direction::name),
        homes: homes_of(entry),
        is_several: homes_of(entry) > 1 || entry.app.transfers() > 1,
        sent: sent.contains(name.as_str()),
        graded: graded.contains(name.as_str()),
    };
    scenario.traffic.iter().map(entry).collect()
}

/// The purpose of an entry or else its kind, in words.
fn kind(entry: &crate::scenario::traffic::Entry) -> String {
    let keys = serde_json::to_value(&entry.app).unwrap_or_default();
    let word = keys.get("purpose").or_else(|| keys.get("kind"));
    word.and_then(serde_json::Value::as_str).unwrap_or_default().replace('_', " ")
}

fn is_of(application: &Application, row: &Row) -> bool {
    !application.quality.is_empty() && row.text("quality") == application.quality
}

fn tested(application: &Application, scenario: &Scenario, rows: &Rows) -> Option<Tested> {
    let flows: Vec<&Row> = rows.flows.iter().filter(|row| is_of(application, row)).collect();
    let shares = if application.name == UPLOAD {
        uploads::shares_percent(scenario, rows)
    } else {
        Vec::new()
    };
    if flows.is_empty() && shares.is_empty() {
        return None;
    }
    let is_without_share = flows.is_empty() && shares.iter().all(Option::is_none);
    let mut note = if is_without_share && uploads::are_beside_flows(scenario) {
        "its home has several upstream service flows"
    } else {
        ""
    };
    let mut of_flow = |row: &Row, metric: &'static str| {
        if application.name != PAGE || metric != PAGE_LOAD {
            return row.number(metric);
        }
        let found = page_load(scenario, rows, row.text("traffic"));
        if found.is_graded && found.unfinished > 0 {
            note = "counting pages unfinished at the end as loaded then";
        }
        found.median_s.filter(|_| found.is_graded)
    };
    let worst = |(metric, at_least): (&'static str, bool)| {
        let values: Vec<f64> = if metric == UPLOAD_SHARE {
            shares.iter().copied().flatten().collect()
        } else {
            flows.iter().filter_map(|row| of_flow(row, metric)).collect()
        };
        let merge = if at_least { f64::min } else { f64::max };
        (metric, values.into_iter().reduce(merge))
    };
    let values = application.metrics().into_iter().map(worst).collect();
    Some(Tested { application: application.name, values, note })
}

fn bulk_mbps(scenario: &Scenario, rows: &Rows) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for row in &rows.flows {
        let entry = scenario.traffic.get(row.text("traffic"));
        let direction = entry.and_then(|entry| entry.app.bulk_direction());
        let mbps = row.number("throughput_mbps");
        if let (Some(direction), Some(mbps)) = (direction, mbps)
            && row.text("direction") == direction.name()
        {
            *sums.entry(row.text("traffic").to_owned()).or_default() += mbps;
        }
    }
    sums
}

fn round_trips_ms(rows: &Rows) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    let qualities: Vec<_> =
        APPLICATIONS.iter().filter(|a| [GAME, CALL].contains(&a.name)).collect();
    for row in rows.flows.iter().filter(|row| qualities.iter().any(|a| is_of(a, row))) {
        if let Some(mean_ms) = row.number("latency_mean_ms") {
            *sums.entry(row.text("traffic").to_owned()).or_default() += mean_ms;
        }
    }
    sums
}
