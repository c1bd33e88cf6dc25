//! A modem's file with what it leaves to the CMTS: settings of service classes and aggregate QoS profiles, the flows
//! of an aggregate that are given by their classes alone or by match, and defaults of low latency.
//!
//! What the file says goes first, then the class or profile (DOCSIS MULPI C.2.2.5.4: parameters of the file override
//! those of its class). A flow belongs to an aggregate if it meets all of the aggregate's matching criteria; that all
//! are needed where there are several was not checked against the specification.

use indexmap::IndexMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::catalog::{AGGREGATE_PROFILES, SERVICE_CLASSES};
use super::notes::Notes;
use sojourn_access::modem_config::ModemConfig;
use sojourn_access::modem_config::view::{Aggregate, MatchCriteria, ServiceFlow};
use sojourn_engine::packet::Direction;

/// Rates that the data rate unit is of.
const RATES: [&str; 4] =
    ["max_sustained_rate", "min_reserved_rate", "peak_rate", "guaranteed_grant_rate"];
const UNIT: &str = "data_rate_unit";
const UNITS: [&str; 4] = ["bps", "kbps", "mbps", "gbps"];

/// The file as the CMTS would have it; `known` is the scenario's table of what that knows.
pub(super) fn expanded(config: &ModemConfig, known: &Value, notes: &mut Notes) -> ModemConfig {
    let mut config = config.clone();
    let mut cmts = Cmts { known, missing: IndexMap::new() };
    let used = |config: &ModemConfig| {
        let flows = config.upstream_service_flows.iter().chain(&config.downstream_service_flows);
        flows.map(|flow| flow.reference).max().unwrap_or(0)
    };
    let mut last = used(&config);
    let ModemConfig {
        upstream_service_flows,
        downstream_service_flows,
        upstream_aggregates,
        downstream_aggregates,
        ..
    } = &mut config;
    cmts.direction(Direction::Up, upstream_service_flows, upstream_aggregates, &mut last);
    cmts.direction(Direction::Down, downstream_service_flows, downstream_aggregates, &mut last);
    for ((table, name), path) in &cmts.missing {
        notes.add(path, &cmts.missing_text(table, name));
    }
    config
}

struct Cmts<'a> {
    known: &'a Value,
    /// What files name and the scenario lacks, by table and name, with the key of who named it first.
    missing: IndexMap<(&'static str, String), String>,
}

impl<'a> Cmts<'a> {
    fn direction(
        &mut self,
        way: Direction,
        flows: &mut Vec<ServiceFlow>,
        aggregates: &mut [Aggregate],
        last: &mut u16,
    ) {
        let key = format!("{}_service_flows", way.stream());
        for (index, flow) in flows.iter_mut().enumerate() {
            self.give_class(flow, &format!("{key}.{index}.service_class"));
        }
        for (index, aggregate) in aggregates.iter_mut().enumerate() {
            let path = format!("{}_aggregates.{index}", way.stream());
            let profile = aggregate.profile.clone();
            if let Some(settings) =
                self.named(AGGREGATE_PROFILES, profile, &format!("{path}.profile"))
            {
                fill(aggregate, settings);
            }
            if let (Some(low), Some(settings)) =
                (&mut aggregate.low_latency, self.known["low_latency"].as_object())
            {
                fill(low, settings);
            }
            if let Some(criteria) = &aggregate.match_criteria {
                let free = flows.iter_mut().filter(|flow| flow.aggregate_reference.is_none());
                free.filter(|flow| is_matched(criteria, flow))
                    .for_each(|flow| flow.aggregate_reference = Some(aggregate.reference));
            }
            self.add_flows(aggregate, flows, &path, last);
        }
    }

    /// Adds the flows of a low-latency aggregate that are given by their classes alone.
    fn add_flows(
        &mut self,
        aggregate: &mut Aggregate,
        flows: &mut Vec<ServiceFlow>,
        path: &str,
        last: &mut u16,
    ) {
        let reference = aggregate.reference;
        let Some(low) = &mut aggregate.low_latency else { return };
        let mut made = |cmts: &mut Self, class: Option<String>, key: &str| {
            let path = format!("{path}.low_latency.{key}");
            let settings = cmts.named(SERVICE_CLASSES, class.clone(), &path)?;
            *last = last.checked_add(1)?;
            let mut flow = ServiceFlow {
                reference: *last,
                service_class: class,
                qos_set: Some(7),
                aggregate_reference: Some(reference),
                ..ServiceFlow::default()
            };
            fill(&mut flow, settings);
            Some(flow)
        };
        let has_classic = flows.iter().any(|flow| {
            flow.aggregate_reference == Some(reference) && Some(flow.reference) != low.reference
        });
        if !has_classic {
            flows.extend(made(self, low.classic_service_class.clone(), "classic_service_class"));
        }
        if low.reference.is_none() {
            let class = low.low_latency_service_class.clone();
            let flow = made(self, class, "low_latency_service_class");
            low.reference = flow.as_ref().map(|flow| flow.reference);
            flows.extend(flow);
        }
    }

    fn give_class(&mut self, flow: &mut ServiceFlow, path: &str) {
        if let Some(settings) = self.named(SERVICE_CLASSES, flow.service_class.clone(), path) {
            fill(flow, settings);
        }
    }

    /// The settings of this name. Keeps in mind that there are none.
    fn named(
        &mut self,
        table: &'static str,
        name: Option<String>,
        path: &str,
    ) -> Option<&'a Map<String, Value>> {
        let name = name?;
        let settings = self.known[table][&name].as_object();
        if settings.is_none() {
            self.missing.entry((table, name)).or_insert_with(|| path.to_owned());
        }
        settings
    }

    fn missing_text(&self, table: &str, name: &str) -> String {
        let there = self.known[table].as_object().into_iter().flatten();
        let there: Vec<_> = there.map(|(name, _)| format!("{name:?}")).collect();
        let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        let key = if name.chars().all(is_bare) { name.to_owned() } else { format!("{name:?}") };
        format!(
            "found {name:?}, which the CMTS of the scenario does not know, so that only what the file itself says is \
             simulated; known: {there}; write [provisioning.{table}.{key}] into the scenario, with settings such as \
             max_sustained_rate = 50 and data_rate_unit = \"mbps\""
        )
    }
}

/// Does a flow meet all criteria of an aggregate? Without any it does not.
fn is_matched(criteria: &MatchCriteria, flow: &ServiceFlow) -> bool {
    let MatchCriteria { application_id, service_class, traffic_priority, .. } = criteria;
    let all = [
        application_id.map(|id| flow.application_id == Some(id)),
        service_class.as_ref().map(|class| flow.service_class.as_ref() == Some(class)),
        traffic_priority
            .map(|range| (range.low..=range.high).contains(&flow.traffic_priority.unwrap_or(0))),
    ];
    let mut all = all.into_iter().flatten().peekable();
    all.peek().is_some() && all.all(|is_met| is_met)
}

/// Gives a part of a file the settings that it does not have. Settings that are of no use are refused when the
/// scenario is checked.
fn fill<T: Serialize + DeserializeOwned>(own: &mut T, settings: &Map<String, Value>) {
    let mut settings = settings.clone();
    let Ok(Value::Object(mut table)) = serde_json::to_value(&*own) else { return };
    to_bps(&mut settings);
    to_bps(&mut table);
    add(&mut table, &settings);
    in_one_unit(&mut table);
    if let Ok(filled) = serde_json::from_value(table.into()) {
        *own = filled;
    }
}

fn add(table: &mut Map<String, Value>, settings: &Map<String, Value>) {
    for (key, value) in settings {
        match (table.get_mut(key), value) {
            (Some(Value::Object(own)), Value::Object(value)) => add(own, value),
            (None | Some(Value::Null), _) => {
                table.insert(key.clone(), value.clone());
            }
            _ => {}
        }
    }
}

/// Writes rates in bit/s, without a unit.
fn to_bps(table: &mut Map<String, Value>) {
    let unit = table.shift_remove(UNIT);
    let unit = UNITS.iter().position(|word| unit.as_ref().is_some_and(|unit| unit == word));
    let factor = 1000_u64.pow(unit.unwrap_or(0) as u32);
    for key in RATES {
        if let Some(rate) = table.get(key).and_then(Value::as_u64) {
            table.insert(key.to_owned(), rate.saturating_mul(factor).into());
        }
    }
}

/// Writes rates in the smallest unit in which all of them fit into a file.
fn in_one_unit(table: &mut Map<String, Value>) {
    let most = RATES.iter().filter_map(|key| table.get(*key)?.as_u64()).max().unwrap_or(0);
    let unit =
        (0..UNITS.len()).find(|unit| most / 1000_u64.pow(*unit as u32) < u64::from(u32::MAX));
    let Some(unit) = unit.filter(|unit| *unit > 0) else { return };
    let factor = 1000_u64.pow(unit as u32);
    for key in RATES {
        if let Some(rate) = table.get(key).and_then(Value::as_u64) {
            table.insert(key.to_owned(), ((rate + factor / 2) / factor).into());
        }
    }
    table.insert(UNIT.to_owned(), UNITS[unit].into());
}
