//! Overrides a scenario with the settings of a modem's configuration file.

use sojourn_input::problem::Warning;
use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::{Map, Value, json};

use super::channel_rate::channel_mbps;
use super::class_of_service;
use super::expand;
use super::low_latency::{self, Flow};
use super::notes::Notes;
use super::scheduling;
use crate::file::{DIRECTIONS, HOMES};
use crate::overlay::{Overlay, differences, merge};
use sojourn_access::DEFAULT_BURST_BYTES;
use sojourn_access::docsis::SchedulingService;
use sojourn_access::modem_config::ModemConfig;
use sojourn_access::modem_config::view::{
    Aqm, AqmAlgorithm, BufferControl, Classifier, Ipv4Match, Ipv6Match, ServiceFlow, TosRange,
};
use sojourn_engine::address::Network;
use sojourn_engine::packet::Direction;
use sojourn_engine::units::BitRate;

/// The rate of a flow without a maximum sustained rate, which is unlimited (DOCSIS MULPI
/// C.2.2.7.2), where no channel limits it: that of the fastest networks.
const UNLIMITED_MBPS: f64 = 10_000.0;
/// Bit of the active parameter set (DOCSIS MULPI C.2.2.5.5).
const ACTIVE: u8 = 4;
/// Keys of a file that do not affect how packets are treated.
const WITHOUT_EFFECT: [&str; 15] = [
    "downstream_frequency_hz",
    "upstream_channel",
    "software_upgrade_file",
    "software_upgrade_server",
    "snmp_mib_objects",
    "baseline_privacy",
    "privacy_enable",
    "max_cpe",
    "max_classifiers",
    "tftp_timestamp_s",
    "tftp_modem_address",
    "docsis_2_mode",
    "low_latency_disable",
    "static_multicast",
    "extensions",
];

/// A modem's configuration file that overrides scenarios.
pub struct Provision<'a> {
    /// The settings of the file.
    pub config: &'a ModemConfig,
    /// What is wrong with the file without effect on what is simulated.
    pub problems: &'a [Warning],
    /// The file's name in messages.
    pub source: &'a str,
}

/// One direction of a file.
struct DirectionSettings<'a> {
    /// Its table in scenarios, and the prefix of its keys in the file.
    way: Direction,
    /// Key of its service flows in the file.
    key: String,
    /// Its service flows, with one for the two of a low-latency aggregate.
    flows: Vec<Flow>,
    classifiers: &'a [Classifier],
    /// The rate of its channel, if the scenario says it.
    channel_mbps: Option<f64>,
}

impl Overlay for Provision<'_> {
    fn source(&self) -> &str {
        self.source
    }

    /// Overrides the service of all homes. Of what a group of homes changes in it, what the file does not set
    /// is kept.
    fn apply(&self, scenario: &mut Value) -> Vec<Warning> {
        let named = |problem: &Warning| format!("{}: {}", self.source, problem.message);
        let problems = self.problems.iter();
        let problems = problems.map(|one| Warning { message: named(one), ..one.clone() });
        let mut notes = Notes { source: self.source, warnings: problems.collect() };
        self.note_top_level(&mut notes);
        let before = scenario.clone();
        self.override_service(scenario, &mut notes);
        let after = DIRECTIONS.map(|direction| (direction, scenario[direction].clone()));
        let homes = scenario.get_mut(HOMES).and_then(Value::as_object_mut);
        for home in homes.into_iter().flatten().filter_map(|(_, home)| home.as_object_mut()) {
            let mut whole = before.clone();
            let own = after.iter().filter_map(|(key, _)| Some((*key, home.get(*key)?.clone())));
            merge(&mut whole, &own.collect());
            self.override_service(&mut whole, &mut notes);
            for (key, after) in &after {
                if home.get(*key).is_some_and(Value::is_object) {
                    home.insert(
                        (*key).to_owned(),
                        differences(after, &whole[key]).unwrap_or(json!({})),
                    );
                }
            }
        }
        notes.warnings
    }
}

impl Provision<'_> {
    /// Overrides `upstream` and `downstream`. The primary flow of each direction is the first of the file
    /// (DOCSIS MULPI, from memory).
    fn override_service(&self, scenario: &mut Value, notes: &mut Notes) {
        let config = &expand::expanded(self.config, &scenario["provisioning"], notes);
        let modem = scenario.pointer("/upstream/modem/kind").and_then(Value::as_str);
        let keeps_own_rates = modem.is_none_or(|kind| kind == "single_queue");
        let is_disabled = config.low_latency_disable.is_some_and(|how_far| how_far > 0);
        let of_class = class_of_service::flows(&config.classes_of_service, notes);
        let flows = |index: usize, own| match &of_class {
            Some(flows) => (class_of_service::KEY.to_owned(), std::slice::from_ref(&flows[index])),
            None => (format!("{}_service_flows", DIRECTIONS[index]), own),
        };
        let (up_key, up_flows) = flows(0, &config.upstream_service_flows[..]);
        let (down_key, down_flows) = flows(1, &config.downstream_service_flows[..]);
        let directions = [
            low_latency::Direction {
                way: Direction::Up,
                flows: up_flows,
                aggregates: &config.upstream_aggregates,
                classifiers: &config.upstream_classifiers,
                is_disabled,
                keeps_own_rates,
            },
            low_latency::Direction {
                way: Direction::Down,
                flows: down_flows,
                aggregates: &config.downstream_aggregates,
                classifiers: &config.downstream_classifiers,
                is_disabled,
                keeps_own_rates: false,
            },
        ];
        let keys = [up_key, down_key];
        let directions =
            directions.into_iter().zip(keys).map(|(direction, key)| DirectionSettings {
                key,
                flows: direction.merged(notes),
                way: direction.way,
                classifiers: direction.classifiers,
                channel_mbps: channel_mbps(direction.way, scenario),
            });
        let directions: Vec<_> = directions.collect();
        if let Some(scenario) = scenario.as_object_mut() {
            for direction in directions {
                let place = scenario.entry(direction.way.stream()).or_insert_with(|| json!({}));
                if let Some(table) = place.as_object_mut() {
                    self.override_direction(&direction, table, notes);
                }
            }
        }
    }

    /// Notes settings outside service flows and classifiers that are not simulated.
    fn note_top_level(&self, notes: &mut Notes) {
        let done = [
            "network_access",
            "default_upstream_target_buffer_ms",
            "upstream_aqm_disable",
            "upstream_service_flows",
            "downstream_service_flows",
            class_of_service::KEY,
            "upstream_classifiers",
            "downstream_classifiers",
            "upstream_aggregates",
            "downstream_aggregates",
        ];
        if self.config.network_access == Some(false) {
            notes.add("network_access", "false is not simulated; the home has network access");
        }
        notes.note_others(self.config, "", &[&done[..], &WITHOUT_EFFECT].concat());
    }

    fn override_direction(
        &self,
        direction: &DirectionSettings,
        table: &mut Map<String, Value>,
        notes: &mut Notes,
    ) {
        let Some((primary, further)) = direction.flows.split_first() else {
            return notes.add(&direction.key, "none in the file; using the scenario's");
        };
        let path = |flow: &Flow| format!("{}.{}", direction.key, flow.index);
        let queue = table.remove("queue").unwrap_or_else(|| json!({}));
        let scenario = table.clone();
        let keys = self.flow(direction, primary, &scenario, &queue, &path(primary), notes);
        table.remove("buffer");
        table.extend(keys);
        let mut flows = Map::new();
        for flow in further {
            let mut keys = self.flow(direction, flow, &scenario, &queue, &path(flow), notes);
            keys.insert("match".to_owned(), matches(direction, &flow.flow, notes).into());
            flows.insert(format!("flow_{}", flow.flow.reference), keys.into());
        }
        let to_primary = matches(direction, &primary.flow, notes).len();
        if to_primary > 0 {
            let path = format!("{}_classifiers", direction.way.stream());
            let text = "those of the primary flow are ignored: it takes all packets that match no \
                        other flow";
            notes.add(&path, text);
        }
        table.insert("flows".to_owned(), flows.into());
        if direction.way == Direction::Up {
            let is_off = self.config.upstream_aqm_disable == Some(true);
            table.insert("aqm".to_owned(), (!is_off).into());
        }
    }

    /// The keys of a service flow. Rates that the file does not set come from `scenario`, the
    /// direction's table in the scenario.
    fn flow(
        &self,
        direction: &DirectionSettings,
        flow: &Flow,
        scenario: &Map<String, Value>,
        queue: &Value,
        path: &str,
        notes: &mut Notes,
    ) -> Map<String, Value> {
        let mut keys = self.service(direction, &flow.flow, scenario, queue, path, notes);
        if let Some((scheduler, scheduling)) = &flow.aggregate {
            let mut queue = if direction.way == Direction::Up { json!({}) } else { queue.clone() };
            queue["scheduler"] = scheduler.clone();
            queue["law"] = json!({ "kind": "none" });
            keys.insert("queue".to_owned(), queue);
            if direction.way == Direction::Up {
                keys.insert("scheduling".to_owned(), scheduling.clone());
            }
        }
        keys
    }

    fn service(
        &self,
        direction: &DirectionSettings,
        flow: &ServiceFlow,
        scenario: &Map<String, Value>,
        queue: &Value,
        path: &str,
        notes: &mut Notes,
    ) -> Map<String, Value> {
        note_flow(flow, path, notes);
        let is_up = direction.way == Direction::Up;
        let grants_mbps = if is_up { grants_mbps(scheduling::read(flow).keys) } else { 0.0 };
        let burst_bytes = flow.max_burst_bytes.map_or(DEFAULT_BURST_BYTES as f64, f64::from);
        let rates = flow.rates();
        let of_file = rates.max_sustained.map(mbps);
        let Some(sustained) = of_file.or(Some(grants_mbps).filter(|grants| *grants > 0.0)) else {
            let text = "the file sets no maximum sustained rate: unlimited, simulated as";
            let (most, why) = match (rates.peak, direction.channel_mbps) {
                (Some(peak), _) => (mbps(peak), ", its peak rate"),
                (None, Some(channel)) => (channel, ", the rate of the channel"),
                (None, None) => (UNLIMITED_MBPS, ""),
            };
            notes.add_of(path, "max_sustained_rate", &format!("{text} {most} Mbps{why}"));
            let terms = [most, most, f64::from(u32::MAX)];
            return self.with_terms(direction, flow, terms, queue, path, notes);
        };
        if sustained < grants_mbps {
            let text = format!(
                "the maximum sustained rate of {sustained} Mbps is below the unsolicited grants; \
                 using their {grants_mbps} Mbps"
            );
            notes.add_of(path, "max_sustained_rate", &text);
        }
        let sustained = sustained.max(grants_mbps);
        let peak = rates.peak.map(mbps).unwrap_or_else(|| {
            let (peak, used) = peak_without(direction, scenario, sustained);
            if grants_mbps == 0.0 {
                notes.add_of(
                    path,
                    "peak_rate",
                    &format!("the file sets no peak rate; using {used}"),
                );
            }
            peak
        });
        let peak = peak.max(grants_mbps);
        self.with_terms(direction, flow, [sustained, peak, burst_bytes], queue, path, notes)
    }

    /// The keys of a service flow with this sustained rate, peak rate and burst.
    fn with_terms(
        &self,
        direction: &DirectionSettings,
        flow: &ServiceFlow,
        [sustained, peak, burst_bytes]: [f64; 3],
        queue: &Value,
        path: &str,
        notes: &mut Notes,
    ) -> Map<String, Value> {
        let rates = flow.rates();
        let mut keys = Map::new();
        keys.insert("sustained_mbps".to_owned(), sustained.into());
        keys.insert("peak_mbps".to_owned(), peak.into());
        keys.insert("burst_bytes".to_owned(), (burst_bytes as u64).into());
        keys.insert("minimum_mbps".to_owned(), rates.min_reserved.map_or(0.0, mbps).into());
        keys.insert("priority".to_owned(), flow.traffic_priority.unwrap_or_default().into());
        let buffer = self.buffer(direction, flow, sustained);
        let mut queue = self.queue(direction, flow, queue);
        if let (Some(buffer), Some(queue)) = (buffer, queue.as_object_mut()) {
            queue.remove("limit_bytes");
            queue.remove("limit_packets");
            keys.insert("buffer".to_owned(), buffer);
        }
        keys.insert("queue".to_owned(), queue);
        if direction.way == Direction::Up {
            add_scheduling(flow, &mut keys, path, notes);
        }
        keys
    }

    fn buffer(
        &self,
        direction: &DirectionSettings,
        flow: &ServiceFlow,
        sustained_mbps: f64,
    ) -> Option<Value> {
        let default_ms = self.config.default_upstream_target_buffer_ms;
        let default = default_ms.filter(|ms| *ms > 0 && direction.way == Direction::Up).map(|ms| {
            let bytes = sustained_mbps * 1e3 / 8.0 * f64::from(ms);
            BufferControl { target_bytes: Some(bytes as u32), ..BufferControl::default() }
        });
        let control = flow.buffer_control.as_ref().or(default.as_ref())?;
        let sizes = [
            ("minimum_bytes", control.minimum_bytes),
            ("target_bytes", control.target_bytes),
            ("maximum_bytes", control.maximum_bytes),
        ];
        Some(sizes.into_iter().filter_map(|(key, size)| Some((key, size?))).collect())
    }

    /// The queue manager. Upstream it is DOCSIS-PIE, unless the file disables AQM (White 2014 §9).
    /// Downstream it is the scenario's, with the AQM settings of the file.
    fn queue(&self, direction: &DirectionSettings, flow: &ServiceFlow, own: &Value) -> Value {
        let is_up = direction.way == Direction::Up;
        let law = match &flow.aqm {
            None if is_up && self.config.upstream_aqm_disable == Some(true) => {
                Some(json!({ "kind": "none" }))
            }
            None if is_up => Some(json!({ "kind": "docsis_pie" })),
            None => None,
            Some(Aqm { disable: Some(true), .. }) => Some(json!({ "kind": "none" })),
            Some(Aqm { latency_target_ms: None, .. }) => Some(json!({ "kind": "docsis_pie" })),
            Some(Aqm { latency_target_ms: Some(target), .. }) => {
                Some(json!({ "kind": "docsis_pie", "target_ms": target }))
            }
        };
        let mut queue = if is_up { json!({}) } else { own.clone() };
        if let (Some(queue), Some(law)) = (queue.as_object_mut(), law) {
            queue.insert("law".to_owned(), law);
        }
        queue
    }
}

fn mbps(rate: BitRate) -> f64 {
    rate.bps() as f64 / 1e6
}

/// The rate of a scheduling service's unsolicited grants in Mbps.
fn grants_mbps(service: Value) -> f64 {
    let service: Option<SchedulingService> = serde_json::from_value(service).ok();
    service.map_or(0.0, |service| service.grants_mbps())
}

/// The peak rate in Mbps of a flow for which the file sets none, and what it is: the scenario's, or
/// no limit (MULPI C.2.2.7.10), which is the channel's rate.
fn peak_without(
    direction: &DirectionSettings,
    scenario: &Map<String, Value>,
    sustained: f64,
) -> (f64, String) {
    let named = scenario.get("peak_mbps").and_then(Value::as_f64);
    match (named, direction.channel_mbps) {
        (Some(mbps), _) if mbps >= sustained => (mbps, format!("the scenario's {mbps} Mbps")),
        (None, Some(mbps)) if mbps >= sustained => {
            (mbps, format!("the {mbps} Mbps of the channel, as there is no limit"))
        }
        _ => (sustained, format!("the sustained rate of {sustained} Mbps")),
    }
}

/// Adds a flow's scheduling service. Unsolicited grants set their own rate and have no priority, so
/// that what the file says of these is left out.
fn add_scheduling(
    flow: &ServiceFlow,
    keys: &mut Map<String, Value>,
    path: &str,
    notes: &mut Notes,
) {
    let service = scheduling::read(flow).keys;
    if grants_mbps(service.clone()) > 0.0 {
        for key in ["minimum_mbps", "priority"] {
            let set = keys.remove(key).and_then(|value| value.as_f64());
            if set.is_some_and(|value| value > 0.0) {
                notes.add_of(path, key, &format!("{key} has no effect with unsolicited grants"));
            }
        }
    }
    keys.insert(
        "scheduling".to_owned(),
        if service.is_null() { json!({ "kind": "best_effort" }) } else { service },
    );
}

/// Notes settings of a flow that are not simulated.
fn note_flow(flow: &ServiceFlow, path: &str, notes: &mut Notes) {
    if flow.qos_set.is_some_and(|set| set & ACTIVE == 0) {
        notes.add(&format!("{path}.qos_set"), "has no active set; the flow is simulated as active");
    }
    let service = scheduling::read(flow);
    for (key, text) in service.notes {
        notes.add(&format!("{path}.{key}"), &text);
    }
    let done = [
        "reference",
        "identifier",
        "service_class",
        "application_id",
        "qos_set",
        "scheduling",
        "traffic_priority",
        "max_sustained_rate",
        "max_burst_bytes",
        "min_reserved_rate",
        "peak_rate",
        "data_rate_unit",
        "buffer_control",
        "aqm",
        "aggregate_reference",
    ];
    notes.note_others(flow, path, &[&done[..], service.done].concat());
    if let Some(aqm) = &flow.aqm {
        let path = format!("{path}.aqm");
        if aqm.algorithm == Some(AqmAlgorithm::Immediate) {
            notes.add(&format!("{path}.algorithm"), "immediate is not simulated; using docsis_pie");
        }
        notes.note_others(aqm, &path, &["disable", "latency_target_ms", "algorithm"]);
    }
    if let Some(buffer) = &flow.buffer_control {
        let done = ["minimum_bytes", "target_bytes", "maximum_bytes"];
        notes.note_others(buffer, &format!("{path}.buffer_control"), &done);
    }
}

/// The classifiers that select a flow. Those that cannot be simulated are noted and left out.
fn matches(direction: &DirectionSettings, flow: &ServiceFlow, notes: &mut Notes) -> Vec<Value> {
    let selects_flow = |classifier: &Classifier| match classifier.flow_reference {
        Some(reference) => reference == flow.reference,
        None => {
            classifier.flow_identifier.is_some() && classifier.flow_identifier == flow.identifier
        }
    };
    let mut found = Vec::new();
    for (index, classifier) in direction.classifiers.iter().enumerate() {
        if selects_flow(classifier) {
            let path = format!("{}_classifiers.{index}", direction.way.stream());
            match keys_of(classifier) {
                Ok(keys) => found.push(keys),
                Err(reason) => notes.add(&path, &format!("ignored: {reason}")),
            }
        }
    }
    found
}

/// The scenario's keys for a classifier. The error says why it is ignored.
fn keys_of(classifier: &Classifier) -> Result<Value, &'static str> {
    let Classifier { ethernet, vlan, ipv6, unknown, .. } = classifier;
    if classifier.active == Some(false) {
        return Err("it is not active");
    }
    if ethernet.is_some() || vlan.is_some() {
        return Err("it matches headers that are not simulated: Ethernet or VLAN");
    }
    if !unknown.is_empty() {
        return Err("it has unknown keys");
    }
    let mut keys = Map::new();
    keys.insert("priority".to_owned(), classifier.priority.unwrap_or_default().into());
    if let Some(ipv4) = &classifier.ipv4 {
        keys.extend(keys_of_ipv4(ipv4)?);
    }
    if let Some(ipv6) = ipv6 {
        keys.extend(keys_of_ipv6(ipv6)?);
    }
    Ok(keys.into())
}

fn keys_of_ipv4(ipv4: &Ipv4Match) -> Result<Map<String, Value>, &'static str> {
    let Ipv4Match { source, source_mask, destination, destination_mask, unknown, .. } = ipv4;
    if !unknown.is_empty() {
        return Err("it has unknown keys");
    }
    let mut keys = Map::new();
    keys.extend(protocol(ipv4.protocol)?);
    for (key, address, mask) in
        [("source", source, source_mask), ("destination", destination, destination_mask)]
    {
        if address.is_some() || mask.is_some() {
            let address = address.unwrap_or(Ipv4Addr::UNSPECIFIED);
            let network = Network::new(address, mask.unwrap_or(Ipv4Addr::BROADCAST));
            keys.insert(key.to_owned(), network.to_string().into());
        }
    }
    let ports = [
        ("source_ports", ipv4.source_port_start, ipv4.source_port_end),
        ("destination_ports", ipv4.destination_port_start, ipv4.destination_port_end),
    ];
    for (key, start, end) in ports {
        if start.is_some() || end.is_some() {
            let range = [start.unwrap_or_default(), end.unwrap_or(u16::MAX)];
            keys.insert(key.to_owned(), json!(range));
        }
    }
    keys.extend(tos(ipv4.tos)?);
    Ok(keys)
}

/// A classifier of IPv6 headers. Ports are in the part for IPv4 (DOCSIS MULPI C.2.1.7).
fn keys_of_ipv6(ipv6: &Ipv6Match) -> Result<Map<String, Value>, &'static str> {
    if !ipv6.unknown.is_empty() {
        return Err("it has unknown keys");
    }
    if ipv6.flow_label.is_some_and(|label| label != 0) {
        return Err("it matches the flow label");
    }
    let mut keys = Map::new();
    keys.insert("ip".to_owned(), 6.into());
    keys.extend(protocol(ipv6.next_header)?);
    for (key, address, prefix) in [
        ("source", ipv6.source, ipv6.source_prefix_bits),
        ("destination", ipv6.destination, ipv6.destination_prefix_bits),
    ] {
        if address.is_some() || prefix.is_some() {
            let address = address.unwrap_or(Ipv6Addr::UNSPECIFIED);
            let network = Network::of_prefix(address, prefix.unwrap_or(128).into());
            keys.insert(key.to_owned(), network.to_string().into());
        }
    }
    keys.extend(tos(ipv6.traffic_class)?);
    Ok(keys)
}

/// 256 is any protocol, 257 TCP and UDP: no others are simulated (DOCSIS MULPI C.2.1.6.2).
fn protocol(number: Option<u16>) -> Result<Option<(String, Value)>, &'static str> {
    let key = |name: &str| Some(("protocol".to_owned(), name.into()));
    match number {
        Some(6) => Ok(key("tcp")),
        Some(17) => Ok(key("udp")),
        None | Some(256 | 257) => Ok(None),
        Some(_) => Err("it matches a protocol other than TCP and UDP"),
    }
}

/// A range of the type of service or traffic class; of the DSCP alone if no bit of ECN is in it.
fn tos(range: Option<TosRange>) -> Result<Option<(String, Value)>, &'static str> {
    let Some(TosRange { low, high, mask }) = range else { return Ok(None) };
    if low > high {
        return Err("its lowest type of service is above the highest, so that no packet matches");
    }
    if (low | high | mask) & 0b11 != 0 {
        return Ok(Some(("tos".to_owned(), json!([low, high, mask]))));
    }
    Ok(Some(("dscp".to_owned(), json!([low >> 2, high >> 2, mask >> 2]))))
}
