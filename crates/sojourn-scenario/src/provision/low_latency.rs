//! Low-latency aggregates of modem files: an aggregate with its low-latency and its classic service
//! flow, to a scenario's service flow with the scheduler `low_latency`, and back (DOCSIS 3.1 MULPI
//! §C.2.2.7.17; defaults as docsis-ns3 has them).

use serde_json::{Map, Value, json};

use super::notes::Notes;
use sojourn_access::docsis::ProactiveGrants;
use sojourn_access::docsis::SchedulingService;
use sojourn_access::modem_config::view::{
    Aggregate, Aqm, AqmAlgorithm, BufferControl, Classifier, DataRateUnit, Ipv4Match, LowLatency,
    Scheduling, ServiceFlow, TosRange,
};
use sojourn_engine::packet;
use sojourn_engine::queue::Parameters;

/// Bits of the type of service that are the code point, and those that are ECN.
const DSCP_BITS: u8 = 0b1111_1100;
const ECN_BITS: u8 = 0b11;
/// Keys of a low-latency flow that are simulated.
const DONE: [&str; 15] = [
    "reference",
    "identifier",
    "service_class",
    "application_id",
    "qos_set",
    "data_rate_unit",
    "aggregate_reference",
    "scheduling",
    "request_policy",
    "guaranteed_grant_interval_us",
    "guaranteed_grant_rate",
    "guaranteed_request_interval_us",
    "activity_detection_disable",
    "buffer_control",
    "aqm",
];

/// A service flow of a direction, which may stand for an aggregate.
pub(super) struct Flow {
    /// Its number in the file.
    pub index: usize,
    /// Itself; of an aggregate the classic flow, with the rates of the aggregate.
    pub flow: ServiceFlow,
    /// Keys of `queue.scheduler` and `scheduling`, of an aggregate.
    pub aggregate: Option<(Value, Value)>,
}

/// A direction of a file.
pub(super) struct Direction<'a> {
    pub way: packet::Direction,
    pub flows: &'a [ServiceFlow],
    pub aggregates: &'a [Aggregate],
    pub classifiers: &'a [Classifier],
    /// Is low latency support disabled (TLV 91)?
    pub is_disabled: bool,
    /// Do the scenario's modems keep own rates of an aggregate's members?
    pub keeps_own_rates: bool,
}

impl Direction<'_> {
    /// The flows, with one for the two of an aggregate.
    pub(super) fn merged(&self, notes: &mut Notes) -> Vec<Flow> {
        let plain = |(index, flow): (usize, &ServiceFlow)| Flow {
            index,
            flow: flow.clone(),
            aggregate: None,
        };
        let mut flows: Vec<Flow> = self.flows.iter().enumerate().map(plain).collect();
        for (number, aggregate) in self.aggregates.iter().enumerate() {
            let path = format!("{}_aggregates.{number}", self.way.stream());
            if let Err(reason) = self.merge(aggregate, &path, &mut flows, notes) {
                notes.add(&path, &format!("not simulated: {reason}"));
            }
        }
        flows
    }

    fn merge(
        &self,
        aggregate: &Aggregate,
        path: &str,
        flows: &mut Vec<Flow>,
        notes: &mut Notes,
    ) -> Result<(), &'static str> {
        let Some(keys) = &aggregate.low_latency else { return Err("it has no low_latency") };
        let position = |reference: Option<u16>, flows: &[Flow]| {
            flows.iter().position(|of| Some(of.flow.reference) == reference)
        };
        let low = position(keys.reference, flows).ok_or("its low-latency flow is not there")?;
        let low = flows.remove(low);
        let classic = flows
            .iter_mut()
            .find(|of| of.flow.aggregate_reference == Some(aggregate.reference))
            .ok_or("no other flow belongs to it, by its aggregate_reference or match_criteria")?;
        let own = self.own_rates(aggregate, &low.flow, &classic.flow, notes);
        notes.note_others(
            &low.flow,
            &format!("{}_service_flows.{}", self.way.stream(), low.index),
            &[&DONE[..], &RATES].concat(),
        );
        notes.note_others(
            keys,
            &format!("{path}.low_latency"),
            &[
                "reference",
                "identifier",
                "classic_service_class",
                "low_latency_service_class",
                "coupling_factor_tenths",
                "scheduling_weight",
                "queue_protection",
                "queue_protection_latency_us",
                "queue_protection_score_us",
                "queue_protection_drain_exponent",
            ],
        );
        take_rates(aggregate, &mut classic.flow);
        if self.is_disabled {
            notes.add(path, "simulated as its classic flow, since low_latency_disable is set");
            return Ok(());
        }
        let dscp = self.code_points(low.flow.reference, notes);
        let scheduler = scheduler(keys, &low.flow, &classic.flow, dscp, own);
        let scheduling = proactive_grants(&low.flow, path, notes);
        classic.flow.aqm = None;
        classic.flow.buffer_control = None;
        classic.aggregate = Some((scheduler, scheduling));
        Ok(())
    }

    /// Rates in Mbps of both members where they are lower than that of the aggregate.
    fn own_rates(
        &self,
        aggregate: &Aggregate,
        low: &ServiceFlow,
        classic: &ServiceFlow,
        notes: &mut Notes,
    ) -> [Option<f64>; 2] {
        let whole = aggregate.rates().max_sustained;
        [(low, "low-latency"), (classic, "classic")].map(|(flow, which)| {
            let (whole, own) = (whole?.bps(), flow.rates().max_sustained?.bps());
            if own >= whole {
                return None;
            }
            if self.keeps_own_rates {
                return Some(own as f64 / 1e6);
            }
            let text = format!(
                "the maximum sustained rate of the {which} flow {} is not simulated; the aggregate's \
                 {} Mbps hold",
                flow.reference,
                whole as f64 / 1e6
            );
            let path = format!("{}_service_flows", self.way.stream());
            notes.add_of(&path, &flow.reference.to_string(), &text);
            None
        })
    }

    /// The code points that classifiers send to the low-latency flow; the default ones without any
    /// classifier.
    fn code_points(&self, reference: u16, notes: &mut Notes) -> Option<Vec<u8>> {
        let mut found = None;
        for (index, classifier) in self.classifiers.iter().enumerate() {
            if classifier.flow_reference != Some(reference) || classifier.active == Some(false) {
                continue;
            }
            let list = found.get_or_insert_with(Vec::new);
            match classifier.ipv4.as_ref().and_then(|ipv4| ipv4.tos) {
                Some(TosRange { low, high, mask }) if mask == DSCP_BITS && low <= high => {
                    list.extend((low >> 2)..=(high >> 2));
                }
                // ECT(1) and CE are low-latency anyhow.
                Some(TosRange { low: 1, high: 1 | 3, mask: ECN_BITS })
                | Some(TosRange { low: 3, high: 3, mask: ECN_BITS }) => {}
                _ => {
                    let path = format!("{}_classifiers.{index}", self.way.stream());
                    let text = "ignored: a low-latency flow is chosen by code points and ECN only";
                    notes.add(&path, text);
                }
            }
        }
        found
    }
}

const RATES: [&str; 6] = [
    "max_sustained_rate",
    "max_burst_bytes",
    "min_reserved_rate",
    "min_reserved_packet_bytes",
    "peak_rate",
    "traffic_priority",
];

/// The classic flow gets the rates of the aggregate, where it has any.
fn take_rates(aggregate: &Aggregate, flow: &mut ServiceFlow) {
    if aggregate.max_sustained_rate.is_none() {
        return;
    }
    flow.max_sustained_rate = aggregate.max_sustained_rate;
    flow.peak_rate = aggregate.peak_rate;
    flow.min_reserved_rate = aggregate.min_reserved_rate;
    flow.data_rate_unit = aggregate.data_rate_unit;
    flow.max_burst_bytes = aggregate.max_burst_bytes.or(flow.max_burst_bytes);
    flow.traffic_priority = aggregate.traffic_priority.or(flow.traffic_priority);
}

/// The keys of the scheduler that a file sets.
fn scheduler(
    keys: &LowLatency,
    low: &ServiceFlow,
    classic: &ServiceFlow,
    dscp: Option<Vec<u8>>,
    [own_of_low, own_of_classic]: [Option<f64>; 2],
) -> Value {
    let is_on = |aqm: &Option<Aqm>| aqm.as_ref().is_none_or(|aqm| aqm.disable != Some(true));
    let of_low = low.aqm.clone().unwrap_or_default();
    let of_classic = classic.aqm.clone().unwrap_or_default();
    let buffer =
        |flow: &ServiceFlow| flow.buffer_control.as_ref().and_then(|control| control.target_bytes);
    let set = [
        ("dscp", dscp.map(|list| json!(list))),
        ("weight", keys.scheduling_weight.filter(|weight| *weight > 0).map(Value::from)),
        ("low_latency_mbps", own_of_low.map(Value::from)),
        ("classic_mbps", own_of_classic.map(Value::from)),
        (
            "coupling",
            keys.coupling_factor_tenths
                .filter(|tenths| *tenths < 255)
                .map(|tenths| json!(f64::from(tenths) / 10.0)),
        ),
        ("queue_protection", keys.queue_protection.map(Value::from)),
        ("critical_delay_us", keys.queue_protection_latency_us.map(Value::from)),
        ("critical_score_us", keys.queue_protection_score_us.map(Value::from)),
        ("aging_exponent", keys.queue_protection_drain_exponent.map(Value::from)),
        ("classic_aqm", Some(is_on(&classic.aqm).into())),
        ("classic_target_ms", of_classic.latency_target_ms.map(Value::from)),
        ("low_latency_aqm", Some(is_on(&low.aqm).into())),
        ("low_latency_max_us", of_low.immediate_max_threshold_us.map(Value::from)),
        ("low_latency_range_exponent", of_low.immediate_range_exponent.map(Value::from)),
        ("latency_histogram_ms", histogram_ms(&of_low, &of_classic)),
        ("low_latency_buffer_bytes", buffer(low).map(Value::from)),
        ("classic_buffer_bytes", buffer(classic).map(Value::from)),
    ];
    let mut table = Map::from_iter([("kind".to_owned(), json!("low_latency"))]);
    table.extend(set.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    table.into()
}

/// Edges of the latency histogram (TLV 24.40.6), the same for both flows.
fn histogram_ms(low: &Aqm, classic: &Aqm) -> Option<Value> {
    let edges = low.latency_histogram.as_ref().or(classic.latency_histogram.as_ref())?;
    Some(edges.iter().map(|hundredths| f64::from(*hundredths) / 100.0).collect())
}

/// Edges of the latency histogram in hundredths of a millisecond.
fn histogram_edges(keys: &Parameters) -> Option<Vec<u16>> {
    let edges = keys.latency_histogram_ms.iter().map(|ms| (ms * 100.0).round() as u16);
    (!keys.latency_histogram_ms.is_empty()).then(|| edges.collect())
}

/// Proactive grants of the low-latency flow; otherwise it requests.
fn proactive_grants(low: &ServiceFlow, path: &str, notes: &mut Notes) -> Value {
    let best_effort = json!({ "kind": "best_effort" });
    match (low.scheduling, low.guaranteed_grant_rate.filter(|rate| *rate > 0)) {
        (Some(Scheduling::ProactiveGrants), Some(rate)) => {
            let unit = low.data_rate_unit.unwrap_or_default().bps();
            let mut keys = json!({
                "kind": "proactive_grants",
                "guaranteed_grant_rate_mbps": (u64::from(rate) * unit) as f64 / 1e6,
                "activity_detection": low.activity_detection_disable == Some(false),
            });
            let intervals = [
                ("guaranteed_grant_interval_us", low.guaranteed_grant_interval_us),
                ("guaranteed_request_interval_us", low.guaranteed_request_interval_us),
            ];
            for (key, us) in intervals {
                if let Some(us) = us.filter(|us| *us > 0) {
                    keys[key] = us.into();
                }
            }
            keys
        }
        (None | Some(Scheduling::Undefined | Scheduling::BestEffort), _) => best_effort,
        (Some(_), _) => {
            let text = format!(
                "the scheduling of the low-latency flow {} is simulated as best_effort",
                low.reference
            );
            notes.add_of(path, "scheduling", &text);
            best_effort
        }
    }
}

/// The aggregate and the low-latency flow of a service flow with this scheduler. `classic` gets what is
/// its own, and what it has in common moves to the aggregate.
pub(super) fn write(
    keys: &Parameters,
    service: Option<&SchedulingService>,
    (aggregate_reference, reference): (u16, u16),
    classic: &mut ServiceFlow,
) -> (Aggregate, ServiceFlow) {
    let us = |us: f64| Some(us.round() as u16);
    let aggregate = Aggregate {
        reference: aggregate_reference,
        traffic_priority: classic.traffic_priority.take(),
        max_sustained_rate: classic.max_sustained_rate.take(),
        max_burst_bytes: classic.max_burst_bytes.take(),
        min_reserved_rate: classic.min_reserved_rate.take(),
        peak_rate: classic.peak_rate.take(),
        data_rate_unit: classic.data_rate_unit.take(),
        low_latency: Some(LowLatency {
            reference: Some(reference),
            coupling_factor_tenths: Some(coupling_tenths(keys)),
            scheduling_weight: Some(keys.weight),
            queue_protection: Some(keys.queue_protection),
            queue_protection_latency_us: keys.critical_delay_us.and_then(us),
            queue_protection_score_us: us(keys.critical_score_us),
            queue_protection_drain_exponent: Some(keys.aging_exponent),
            ..LowLatency::default()
        }),
        ..Aggregate::default()
    };
    let buffer = |bytes: Option<u64>| {
        let target_bytes = bytes.and_then(|bytes| u32::try_from(bytes).ok());
        target_bytes
            .map(|bytes| BufferControl { target_bytes: Some(bytes), ..BufferControl::default() })
    };
    if let Some(mbps) = keys.classic_mbps {
        (classic.max_sustained_rate, classic.data_rate_unit) = kbps(mbps);
    }
    classic.aggregate_reference = Some(aggregate_reference);
    classic.scheduling = None;
    classic.request_policy = None;
    classic.buffer_control = buffer(keys.classic_buffer_bytes);
    classic.aqm = Some(Aqm {
        disable: Some(!keys.classic_aqm),
        latency_target_ms: Some(keys.classic_target_ms.round().clamp(1.0, 255.0) as u8),
        latency_histogram: histogram_edges(keys),
        ..Aqm::default()
    });
    let mut low = ServiceFlow {
        reference,
        qos_set: classic.qos_set,
        aggregate_reference: Some(aggregate_reference),
        buffer_control: buffer(keys.low_latency_buffer_bytes),
        aqm: Some(Aqm {
            disable: Some(!keys.low_latency_aqm),
            algorithm: Some(AqmAlgorithm::Immediate),
            immediate_max_threshold_us: us(keys.low_latency_max_us),
            immediate_range_exponent: Some(keys.low_latency_range_exponent),
            latency_histogram: histogram_edges(keys),
            ..Aqm::default()
        }),
        ..ServiceFlow::default()
    };
    if let Some(mbps) = keys.low_latency_mbps {
        (low.max_sustained_rate, low.data_rate_unit) = kbps(mbps);
    }
    if let Some(SchedulingService::ProactiveGrants(grants)) = service {
        write_grants(grants, &mut low);
    }
    (aggregate, low)
}

/// A rate as files have it, and its unit.
fn kbps(mbps: f64) -> (Option<u32>, Option<DataRateUnit>) {
    (Some((mbps * 1e3).round() as u32), Some(DataRateUnit::Kbps))
}

/// A file has no key for `coupled = false`; a factor of 0 is the same.
fn coupling_tenths(keys: &Parameters) -> u8 {
    if keys.coupled { (keys.coupling * 10.0).round() as u8 } else { 0 }
}

fn write_grants(grants: &ProactiveGrants, low: &mut ServiceFlow) {
    let short = |us: Option<u32>| us.and_then(|us| u16::try_from(us).ok());
    low.scheduling = Some(Scheduling::ProactiveGrants);
    (low.guaranteed_grant_rate, low.data_rate_unit) = kbps(grants.guaranteed_grant_rate_mbps);
    low.guaranteed_grant_interval_us = short(grants.guaranteed_grant_interval_us);
    low.guaranteed_request_interval_us = short(grants.guaranteed_request_interval_us);
    low.activity_detection_disable = Some(!grants.activity_detection);
}

/// The classifiers that send code points to the low-latency flow, and one for ECT(1) and CE.
pub(super) fn classifiers(keys: &Parameters, reference: u16, first: u8) -> Vec<Classifier> {
    let code_points = keys.dscp.iter().map(|dscp| {
        let tos = dscp << 2;
        TosRange { low: tos, high: tos, mask: DSCP_BITS }
    });
    let ecn = [1, 3].map(|ecn| TosRange { low: ecn, high: ecn, mask: ECN_BITS });
    let ranges = code_points.chain(ecn);
    (first..)
        .zip(ranges)
        .map(|(number, tos)| Classifier {
            reference: number,
            flow_reference: Some(reference),
            priority: Some(255),
            active: Some(true),
            ipv4: Some(Ipv4Match { tos: Some(tos), ..Ipv4Match::default() }),
            ..Classifier::default()
        })
        .collect()
}
