//! The configuration file for a modem of a scenario.

use super::{low_latency, scheduling};
use sojourn_access::Group;
use sojourn_access::Protocol;
use sojourn_access::docsis::SchedulingService;
use sojourn_access::modem_config::ModemConfig;
use sojourn_access::modem_config::view::{
    Aqm, BufferControl, Classifier, DataRateUnit, Ipv4Match, Ipv6Match, ServiceFlow, TosRange,
};
use sojourn_access::{Buffer, Terms, flow_path};
use sojourn_engine::address::Network;
use sojourn_engine::aqm::AqmSpec;
use sojourn_engine::packet::Direction;
use sojourn_engine::queue::{QueueSpec, SchedulerSpec};

/// A service flow's parameters apply to all sets (DOCSIS MULPI C.2.2.5.5).
const PROVISIONED_ADMITTED_ACTIVE: u8 = 7;

/// A service flow of a scenario.
struct Flow<'a> {
    path: String,
    terms: Terms,
    priority: u8,
    /// `None` downstream.
    scheduling: Option<&'a SchedulingService>,
    buffer: &'a Buffer,
    queue: &'a QueueSpec,
    classifiers: &'a [sojourn_access::Classifier],
}

/// What a file does not say of a key of the scenario.
pub(super) struct Note {
    pub path: String,
    pub text: String,
}

fn add(notes: &mut Vec<Note>, path: String, text: impl Into<String>) {
    notes.push(Note { path, text: text.into() });
}

/// The configuration file for the homes of a group.
pub(super) fn written(group: &Group, notes: &mut Vec<Note>) -> ModemConfig {
    let (up, down) = (flows(group, Direction::Up), flows(group, Direction::Down));
    let upstream_classifiers = classifiers(&up, 1, notes);
    let downstream_classifiers = classifiers(&down, 1 + up.len() as u16, notes);
    let firsts = [1, 1 + up.len() as u16];
    let mut config = ModemConfig {
        network_access: Some(true),
        upstream_aqm_disable: (!group.upstream.aqm).then_some(true),
        upstream_classifiers,
        downstream_classifiers,
        upstream_service_flows: service_flows(&up, firsts[0], true, notes),
        downstream_service_flows: service_flows(&down, firsts[1], group.downstream.aqm, notes),
        ..ModemConfig::default()
    };
    // References of aggregates and their low-latency flows follow those of all flows.
    let mut next = firsts[1] + down.len() as u16;
    let ModemConfig {
        upstream_service_flows,
        upstream_aggregates,
        upstream_classifiers,
        downstream_service_flows,
        downstream_aggregates,
        downstream_classifiers,
        ..
    } = &mut config;
    let up_way = (upstream_service_flows, upstream_aggregates, upstream_classifiers);
    let down_way = (downstream_service_flows, downstream_aggregates, downstream_classifiers);
    for (flows, (written, aggregates, classifiers)) in [(&up, up_way), (&down, down_way)] {
        for (index, flow) in flows.iter().enumerate() {
            let SchedulerSpec::LowLatency(keys) = &flow.queue.scheduler else { continue };
            let references = (next, next + 1);
            next += 2;
            let (aggregate, low) =
                low_latency::write(keys, flow.scheduling, references, &mut written[index]);
            aggregates.push(aggregate);
            written.push(low);
            let first = u8::try_from(classifiers.len() + 1).unwrap_or(u8::MAX);
            classifiers.extend(low_latency::classifiers(keys, references.1, first));
        }
    }
    config
}

/// The flows of a direction, the primary one first.
fn flows<'a>(group: &Group<'a>, direction: Direction) -> Vec<Flow<'a>> {
    macro_rules! primary {
        ($table:expr, $path:literal, $scheduling:expr) => {
            Flow {
                path: $path.to_owned(),
                terms: $table.terms(),
                priority: $table.priority,
                scheduling: $scheduling,
                buffer: &$table.buffer,
                queue: &$table.queue,
                classifiers: &[],
            }
        };
    }
    let (primary, further) = match direction {
        Direction::Up => {
            let scheduling = Some(&group.upstream.scheduling);
            (primary!(group.upstream, "upstream", scheduling), &group.upstream.flows)
        }
        Direction::Down => {
            (primary!(group.downstream, "downstream", None), &group.downstream.flows)
        }
    };
    let path = primary.path.clone();
    let further = further.iter().map(|(name, flow)| Flow {
        path: flow_path(&path, name),
        terms: flow.terms(),
        priority: flow.priority,
        scheduling: (direction == Direction::Up).then_some(&flow.scheduling),
        buffer: &flow.buffer,
        queue: &flow.queue,
        classifiers: &flow.classifiers,
    });
    [primary].into_iter().chain(further).collect()
}

/// The flows as in a file, with references from `first` on.
fn service_flows(
    flows: &[Flow],
    first: u16,
    has_aqm: bool,
    notes: &mut Vec<Note>,
) -> Vec<ServiceFlow> {
    (first..)
        .zip(flows)
        .map(|(reference, flow)| service_flow(flow, reference, has_aqm, notes))
        .collect()
}

fn service_flow(flow: &Flow, reference: u16, has_aqm: bool, notes: &mut Vec<Note>) -> ServiceFlow {
    let terms = flow.terms;
    let (data_rate_unit, [sustained, peak, minimum]) = rates(terms, &flow.path, notes);
    let mut written = ServiceFlow {
        reference,
        qos_set: Some(PROVISIONED_ADMITTED_ACTIVE),
        traffic_priority: (flow.priority > 0).then_some(flow.priority),
        max_sustained_rate: Some(sustained),
        max_burst_bytes: u32::try_from(terms.burst_bytes).ok(),
        min_reserved_rate: (minimum > 0).then_some(minimum),
        peak_rate: Some(peak),
        data_rate_unit,
        buffer_control: buffer_control(flow, notes),
        aqm: aqm(flow, has_aqm, notes),
        ..ServiceFlow::default()
    };
    if let Some(service) = flow.scheduling {
        scheduling::write(service, &mut written);
    }
    written
}

/// Sustained, peak and minimum rate in bit/s, or in kbit/s where one does not fit into four bytes.
fn rates(terms: Terms, path: &str, notes: &mut Vec<Note>) -> (Option<DataRateUnit>, [u32; 3]) {
    let rates = [
        ("sustained_mbps", terms.sustained_mbps),
        ("peak_mbps", terms.peak_mbps),
        ("minimum_mbps", terms.minimum_mbps),
    ];
    let exceeds = |mbps: f64| mbps * 1e6 > f64::from(u32::MAX);
    let (unit, factor) = match rates.iter().any(|(_, mbps)| exceeds(*mbps)) {
        true => (Some(DataRateUnit::Kbps), 1e3),
        false => (None, 1e6),
    };
    for (key, _) in rates.iter().filter(|(_, mbps)| exceeds(*mbps)) {
        let text = "written in kbit/s, as bit/s have no room in 32 bits; modems and a CMTS that do not \
                    know the data rate unit (TLV 41) read bit/s";
        add(notes, format!("{path}.{key}"), text);
    }
    (unit, rates.map(|(_, mbps)| (mbps * factor).round() as u32))
}

fn buffer_control(flow: &Flow, notes: &mut Vec<Note>) -> Option<BufferControl> {
    let Flow { path, buffer, queue, .. } = flow;
    if queue.limit_packets.is_some() {
        let path = format!("{path}.queue.limit_packets");
        add(notes, path, "not written: a file limits buffers in bytes only");
    }
    let size = |bytes: Option<u64>| bytes.and_then(|bytes| u32::try_from(bytes).ok());
    let control = BufferControl {
        minimum_bytes: size(buffer.minimum_bytes),
        target_bytes: size(buffer.target_bytes.or(queue.limit_bytes)),
        maximum_bytes: size(buffer.maximum_bytes),
        unknown: Vec::new(),
    };
    (control != BufferControl::default()).then_some(control)
}

fn aqm(flow: &Flow, has_aqm: bool, notes: &mut Vec<Note>) -> Option<Aqm> {
    let Flow { path, queue, .. } = flow;
    if matches!(queue.scheduler, SchedulerSpec::LowLatency(_)) {
        return None; // low_latency.rs
    }
    if !matches!(queue.scheduler, SchedulerSpec::Fifo(_)) {
        let path = format!("{path}.queue.scheduler");
        add(notes, path, "not written: a file sets no scheduler");
    }
    let off = Aqm { disable: Some(true), ..Aqm::default() };
    match &queue.law {
        _ if !has_aqm => Some(off),
        AqmSpec::None(_) => Some(off),
        AqmSpec::DocsisPie(pie) => {
            let target_ms = pie.target_ms.round().max(1.0);
            if target_ms != pie.target_ms {
                let path = format!("{path}.queue.law.target_ms");
                add(notes, path, format!("rounded to {target_ms}: a file has whole ms"));
            }
            let latency_target_ms = Some(target_ms as u8);
            Some(Aqm { disable: Some(false), latency_target_ms, ..Aqm::default() })
        }
        _ => {
            let path = format!("{path}.queue.law");
            add(notes, path, "not written: a file can only set docsis_pie");
            None
        }
    }
}

/// The classifiers of all flows. References of flows start with `first`.
fn classifiers(flows: &[Flow], first: u16, notes: &mut Vec<Note>) -> Vec<Classifier> {
    let mut found: Vec<Classifier> = Vec::new();
    for (flow_reference, flow) in (first..).zip(flows) {
        for (index, classifier) in flow.classifiers.iter().enumerate() {
            let path = format!("{}.match.{index}", flow.path);
            if let Some(reason) = unwritable(classifier) {
                add(notes, path, format!("not written: {reason}"));
                continue;
            }
            if classifier.ip == Some(4) {
                let path = format!("{path}.ip");
                add(notes, path, "not written: a file can only name version 6");
            }
            let Ok(reference) = u8::try_from(found.len() + 1) else {
                add(notes, path, "not written: a file has at most 255 classifiers each way");
                continue;
            };
            found.push(Classifier {
                reference,
                flow_reference: Some(flow_reference),
                priority: Some(classifier.priority),
                active: Some(true),
                ipv4: ipv4(classifier),
                ipv6: is_v6(classifier).then(|| ipv6(classifier)),
                ..Classifier::default()
            });
        }
    }
    found
}

/// Why a file cannot hold a classifier.
pub(super) fn unwritable(classifier: &sojourn_access::Classifier) -> Option<&'static str> {
    let is_of_scenario = classifier.server.is_some() || classifier.traffic.is_some();
    is_of_scenario.then_some("a file cannot match servers or traffic entries")
}

/// Does it match IPv6 alone?
fn is_v6(classifier: &sojourn_access::Classifier) -> bool {
    let networks = [classifier.source, classifier.destination];
    classifier.ip == Some(6) || networks.iter().flatten().any(|network| network.v6().is_some())
}

pub(super) fn tos(classifier: &sojourn_access::Classifier) -> Option<TosRange> {
    if let Some(range) = &classifier.tos {
        let mask = range.get(2).copied().unwrap_or(u8::MAX);
        return Some(TosRange { low: *range.first()?, high: *range.get(1)?, mask });
    }
    let range = classifier.dscp.as_ref()?;
    let mask = range.get(2).copied().unwrap_or(0x3f);
    Some(TosRange { low: range.first()? << 2, high: range.get(1)? << 2, mask: mask << 2 })
}

fn protocol(classifier: &sojourn_access::Classifier) -> Option<u16> {
    classifier.protocol.map(|protocol| match protocol {
        Protocol::Tcp => 6,
        Protocol::Udp => 17,
    })
}

fn ipv6(classifier: &sojourn_access::Classifier) -> Ipv6Match {
    let v6 = |network: Option<Network>| network.and_then(|network| network.v6());
    let (source, destination) = (v6(classifier.source), v6(classifier.destination));
    Ipv6Match {
        traffic_class: tos(classifier),
        next_header: protocol(classifier),
        source: source.map(|(address, _)| address),
        source_prefix_bits: source.map(|(_, prefix)| prefix as u8),
        destination: destination.map(|(address, _)| address),
        destination_prefix_bits: destination.map(|(_, prefix)| prefix as u8),
        ..Ipv6Match::default()
    }
}

/// The part for IPv4; of a classifier of IPv6 only the ports (DOCSIS MULPI C.2.1.7).
fn ipv4(classifier: &sojourn_access::Classifier) -> Option<Ipv4Match> {
    let port = |range: &Option<Vec<u16>>, end: usize| range.as_ref()?.get(end).copied();
    let v4 = |network: Option<Network>| network.and_then(|network| network.v4());
    let (source, destination) = (v4(classifier.source), v4(classifier.destination));
    let sojourn_access::Classifier { source_ports, destination_ports, .. } = classifier;
    let is_v4 = !is_v6(classifier);
    let ipv4 = Ipv4Match {
        tos: tos(classifier).filter(|_| is_v4),
        protocol: protocol(classifier).filter(|_| is_v4),
        source: source.map(|(address, _)| address),
        source_mask: source.map(|(_, mask)| mask),
        destination: destination.map(|(address, _)| address),
        destination_mask: destination.map(|(_, mask)| mask),
        source_port_start: port(source_ports, 0),
        source_port_end: port(source_ports, 1),
        destination_port_start: port(destination_ports, 0),
        destination_port_end: port(destination_ports, 1),
        ..Ipv4Match::default()
    };
    (ipv4 != Ipv4Match::default()).then_some(ipv4)
}
