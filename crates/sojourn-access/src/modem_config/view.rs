//! Typed view of a configuration file. Fields are the keys of `table`, which has their
//! ranges and sections of the specification. Settings that the file leaves out are `None` or empty.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use sojourn_engine::units::BitRate;

/// Settings of a modem and of its service flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModemConfig {
    /// Centre frequency of the downstream channel in Hz.
    pub downstream_frequency_hz: Option<u32>,
    /// Upstream channel ID.
    pub upstream_channel: Option<u8>,
    /// Whether devices behind the modem may use the network.
    pub network_access: Option<bool>,
    /// Name of the file with the modem's next software.
    pub software_upgrade_file: Option<String>,
    /// SNMP objects to set, in BER, as hexadecimal digits.
    pub snmp_mib_objects: Vec<String>,
    /// Baseline privacy settings, as hexadecimal digits.
    pub baseline_privacy: Option<String>,
    /// Whether baseline privacy is enabled.
    pub privacy_enable: Option<bool>,
    /// Maximum number of devices behind the modem.
    pub max_cpe: Option<u8>,
    /// Time at which the file was made, in s since 1 January 1900.
    pub tftp_timestamp_s: Option<u32>,
    /// Address of the modem for which the file was made.
    pub tftp_modem_address: Option<Ipv4Addr>,
    /// Address of the TFTP server with the modem's next software.
    pub software_upgrade_server: Option<Ipv4Addr>,
    /// Maximum number of classifiers of the modem.
    pub max_classifiers: Option<u16>,
    /// Whether DOCSIS 2.0 mode is enabled.
    pub docsis_2_mode: Option<bool>,
    /// Default target buffer of upstream service flows, in ms at the maximum sustained rate.
    pub default_upstream_target_buffer_ms: Option<u16>,
    /// Whether AQM is disabled in all upstream service flows.
    pub upstream_aqm_disable: Option<bool>,
    /// How far low latency support is disabled, 0 to 2; 0 is not at all.
    pub low_latency_disable: Option<u8>,
    /// Static multicast sessions at the CMTS, as hexadecimal digits.
    pub static_multicast: Vec<String>,
    /// Upstream aggregates with hierarchical QoS, as hexadecimal digits.
    pub upstream_hierarchical_aggregates: Vec<String>,
    /// Downstream aggregates with hierarchical QoS, as hexadecimal digits.
    pub downstream_hierarchical_aggregates: Vec<String>,
    /// Classifiers that select upstream service flows.
    pub upstream_classifiers: Vec<Classifier>,
    /// Classifiers that select downstream service flows.
    pub downstream_classifiers: Vec<Classifier>,
    /// Classifiers that select upstream packets to drop.
    pub upstream_drop_classifiers: Vec<DropClassifier>,
    /// Upstream service flows.
    pub upstream_service_flows: Vec<ServiceFlow>,
    /// Downstream service flows.
    pub downstream_service_flows: Vec<ServiceFlow>,
    /// Classes of service of DOCSIS 1.0, which files have instead of service flows.
    pub classes_of_service: Vec<ClassOfService>,
    /// Upstream aggregate service flows.
    pub upstream_aggregates: Vec<Aggregate>,
    /// Downstream aggregate service flows.
    pub downstream_aggregates: Vec<Aggregate>,
    /// Vendor-specific and other extension fields, as hexadecimal digits.
    pub extensions: Vec<String>,
    /// TLVs of unknown type.
    pub unknown: Vec<Unknown>,
}

/// A class of service of DOCSIS 1.0: rates in both directions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClassOfService {
    /// Its number in the file.
    pub class: Option<u8>,
    /// Maximum downstream rate in bit/s; 0 is no limit.
    pub max_downstream_rate_bps: Option<u32>,
    /// Maximum upstream rate in bit/s; 0 is no limit.
    pub max_upstream_rate_bps: Option<u32>,
    /// Priority of upstream traffic, 7 being the highest.
    pub upstream_priority: Option<u8>,
    /// Guaranteed upstream rate in bit/s.
    pub min_upstream_rate_bps: Option<u32>,
    /// The longest upstream transmission in bytes; 0 is no limit.
    pub max_upstream_burst_bytes: Option<u16>,
    /// Whether baseline privacy is enabled for it.
    pub privacy_enable: Option<bool>,
    /// TLVs of unknown type.
    pub unknown: Vec<Unknown>,
}

/// A service flow of either direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServiceFlow {
    /// Service flow reference, unique in the file over both directions.
    pub reference: u16,
    /// Service flow identifier at the CMTS.
    pub identifier: Option<u32>,
    /// Name of a service class whose parameters the CMTS knows.
    pub service_class: Option<String>,
    /// Parameter sets to which the values apply: 1 provisioned, 2 admitted, 4 active; 7 is all.
    pub qos_set: Option<u8>,
    /// Traffic priority, 7 being the highest. It decides between flows with equal parameters.
    pub traffic_priority: Option<u8>,
    /// Maximum sustained traffic rate, in [`Self::data_rate_unit`]; see [`Self::rates`].
    pub max_sustained_rate: Option<u32>,
    /// Maximum traffic burst in bytes: depth of the sustained rate's token bucket.
    pub max_burst_bytes: Option<u32>,
    /// Minimum reserved traffic rate, in [`Self::data_rate_unit`]; see [`Self::rates`].
    pub min_reserved_rate: Option<u32>,
    /// Packet size in bytes that shorter packets count as in the minimum reserved rate.
    pub min_reserved_packet_bytes: Option<u16>,
    /// Peak traffic rate, in [`Self::data_rate_unit`]; see [`Self::rates`].
    pub peak_rate: Option<u32>,
    /// Unit of the three rates. Default: bit/s.
    pub data_rate_unit: Option<DataRateUnit>,
    /// Time in s after which an unused flow is no longer active.
    pub active_timeout_s: Option<u16>,
    /// Time in s after which an inactive flow is no longer admitted.
    pub admitted_timeout_s: Option<u16>,
    /// Upstream: maximum size in bytes of packets concatenated into one burst.
    pub max_concatenated_burst_bytes: Option<u16>,
    /// Upstream: scheduling type, which says how the CMTS grants.
    pub scheduling: Option<Scheduling>,
    /// Upstream: request/transmission policy, 4 bytes as hexadecimal digits.
    pub request_policy: Option<String>,
    /// Upstream: nominal time between polls in us.
    pub polling_interval_us: Option<u32>,
    /// Upstream: tolerated delay of a poll in us.
    pub poll_jitter_us: Option<u32>,
    /// Upstream: size of unsolicited grants in bytes.
    pub grant_bytes: Option<u16>,
    /// Upstream: nominal time between unsolicited grants in us.
    pub grant_interval_us: Option<u32>,
    /// Upstream: tolerated delay of an unsolicited grant in us.
    pub grant_jitter_us: Option<u32>,
    /// Upstream: number of unsolicited grants in each interval.
    pub grants_per_interval: Option<u8>,
    /// Upstream: multiplier of the bytes in a request.
    pub request_multiplier: Option<u8>,
    /// Upstream: time between proactive grants in us.
    pub guaranteed_grant_interval_us: Option<u16>,
    /// Upstream: rate of proactive grants, in [`Self::data_rate_unit`].
    pub guaranteed_grant_rate: Option<u32>,
    /// Upstream: time between proactive request opportunities in us.
    pub guaranteed_request_interval_us: Option<u16>,
    /// Upstream: whether requests tell the whole queue.
    pub absolute_queue_depth_requests: Option<bool>,
    /// Upstream: whether proactive grants go on while the flow is idle.
    pub activity_detection_disable: Option<bool>,
    /// Downstream: maximum latency of a packet in us.
    pub max_latency_us: Option<u32>,
    /// Reference of the aggregate service flow that this flow belongs to.
    pub aggregate_reference: Option<u16>,
    /// Name of its profile in the interface for applications' traffic classes (IATC).
    pub iatc_profile: Option<String>,
    /// Overwrites the type of service (DSCP) of its packets.
    pub tos_overwrite: Option<TosOverwrite>,
    /// Buffer control: the size of its queue.
    pub buffer_control: Option<BufferControl>,
    /// AQM of its queue.
    pub aqm: Option<Aqm>,
    /// Its aggregate's identifier at the CMTS, as hexadecimal digits.
    pub aggregate_identifier: Option<String>,
    /// TLVs of unknown type.
    pub unknown: Vec<Unknown>,
}

impl ServiceFlow {
    /// Its rates in bit/s.
    pub fn rates(&self) -> Rates {
        let rates = [self.max_sustained_rate, self.min_reserved_rate, self.peak_rate];
        Rates::of(self.data_rate_unit, rates)
    }
}

/// An aggregate service flow of either direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Aggregate {
    /// Aggregate service flow reference, unique in the file over both directions.
    pub reference: u16,
    /// Aggregate service flow identifier at the CMTS.
    pub identifier: Option<u32>,
    /// Name of an aggregate QoS profile that the CMTS knows.
    pub profile: Option<String>,
    /// Traffic priority, 7 being the highest. It decides between flows with equal parameters.
    pub traffic_priority: Option<u8>,
    /// Maximum sustained traffic rate, in [`Self::data_rate_unit`]; see [`Self::rates`].
    pub max_sustained_rate: Option<u32>,
    /// Maximum traffic burst in bytes: depth of the sustained rate's token bucket.
    pub max_burst_bytes: Option<u32>,
    /// Minimum reserved traffic rate, in [`Self::data_rate_unit`]; see [`Self::rates`].
    pub min_reserved_rate: Option<u32>,
    /// Packet size in bytes that shorter packets count as in the minimum reserved rate.
    pub min_reserved_packet_bytes: Option<u16>,
    /// Peak traffic rate, in [`Self::data_rate_unit`]; see [`Self::rates`].
    pub peak_rate: Option<u32>,
    /// Unit of the three rates. Default: bit/s.
    pub data_rate_unit: Option<DataRateUnit>,
    /// Criteria that match service flows to this aggregate, as hexadecimal digits.
    pub match_criteria: Option<String>,
    /// Settings of its low-latency service flow.
    pub low_latency: Option<LowLatency>,
    /// TLVs of unknown type.
    pub unknown: Vec<Unknown>,
}

impl Aggregate {
    /// Its rates in bit/s.
    pub fn rates(&self) -> Rates {
        let rates = [self.max_sustained_rate, self.min_reserved_rate, self.peak_rate];
        Rates::of(self.data_rate_unit, rates)
    }
}

/// Rates of a service flow or an aggregate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Maximum sustained rate; `None` for no limit.
    pub max_sustained: Option<BitRate>,
    /// Minimum reserved rate; `None` for no reservation.
    pub min_reserved: Option<BitRate>,
    /// Peak rate; `None` for no limit.
    pub peak: Option<BitRate>,
}

impl Rates {
    /// A rate of zero means that none is set (CM-SP-MULPI C.2.2.7.2, C.2.2.7.4, C.2.2.7.10).
    fn of(unit: Option<DataRateUnit>, rates: [Option<u32>; 3]) -> Self {
        let bps_per_unit = unit.unwrap_or_default().bps();
        let [max_sustained, min_reserved, peak] = rates.map(|rate| {
            rate.filter(|rate| *rate > 0)
                .map(|rate| BitRate::from_bps(u64::from(rate) * bps_per_unit))
        });
        Self { max_sustained, min_reserved, peak }
    }
}

/// Unit of rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataRateUnit {
    /// Bit/s.
    #[default]
    Bps,
    /// 10^3 bit/s.
    Kbps,
    /// 10^6 bit/s.
    Mbps,
    /// 10^9 bit/s.
    Gbps,
}

impl DataRateUnit {
    /// The unit in bits per second.
    pub fn bps(self) -> u64 {
        1000_u64.pow(self as u32)
    }
}

/// How the CMTS grants an upstream service flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheduling {
    /// Left to the CMTS.
    Undefined,
    /// Best effort: the CMTS grants what the modem requests.
    BestEffort,
    /// Non-real-time polling: the CMTS polls for requests at irregular intervals.
    NonRealTimePolling,
    /// Real-time polling: the CMTS polls for requests at fixed intervals.
    RealTimePolling,
    /// Unsolicited grants at fixed intervals while there is traffic.
    UgsWithActivityDetection,
    /// Unsolicited grants at fixed intervals.
    Ugs,
    /// Proactive grants without requests, for low latency.
    ProactiveGrants,
}

/// Overwrites the type of service: the old value is ANDed with `and_mask`, then ORed with
/// `or_mask`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TosOverwrite {
    /// Bits that are kept.
    pub and_mask: u8,
    /// Bits that are set.
    pub or_mask: u8,
}

/// Buffer control of a service flow. The device chooses a size in the range, near the target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BufferControl {
    /// Minimum buffer size in bytes.
    pub minimum_bytes: Option<u32>,
    /// Target buffer size in bytes.
    pub target_bytes: Option<u32>,
    /// Maximum buffer size in bytes.
    pub maximum_bytes: Option<u32>,
    /// TLVs of unknown type.
    pub unknown: Vec<Unknown>,
}

/// AQM settings of a service flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Aqm {
    /// Whether AQM is disabled.
    pub disable: Option<bool>,
    /// Latency target of the AQM algorithm in ms.
    pub latency_target_ms: Option<u8>,
    /// The AQM algorithm.
    pub algorithm: Option<AqmAlgorithm>,
    /// Immediate AQM: latency in us above which every packet is marked.
    pub immediate_max_threshold_us: Option<u16>,
    /// Immediate AQM: exponent of the ramp's range, 2 to this power in ns.
    pub immediate_range_exponent: Option<u8>,
    /// Bin edges of the latency histogram, in 0.01 ms.
    pub latency_histogram: Option<Vec<u16>>,
    /// TLVs of unknown type.
    pub unknown: Vec<Unknown>,
}

/// An AQM algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AqmAlgorithm {
    /// The device's default.
    Default,
    /// DOCSIS-PIE (RFC 8034).
    DocsisPie,
    /// Immediate AQM, for low latency.
    Immediate,
}

/// The low-latency service flow of an aggregate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LowLatency {
    /// Service flow reference.
    pub reference: Option<u16>,
    /// Service flow identifier at the CMTS.
    pub identifier: Option<u32>,
    /// Service class of the classic service flow.
    pub classic_service_class: Option<String>,
    /// Service class of the low-latency service flow.
    pub low_latency_service_class: Option<String>,
    /// Coupling factor of the two AQM algorithms, in tenths.
    pub coupling_factor_tenths: Option<u8>,
    /// Scheduling weight of the low-latency queue, in 1/256.
    pub scheduling_weight: Option<u8>,
    /// Whether queue protection moves queue-building flows to the classic queue.
    pub queue_protection: Option<bool>,
    /// Latency in us above which queue protection judges flows.
    pub queue_protection_latency_us: Option<u16>,
    /// Queuing score in us above which a flow is moved.
    pub queue_protection_score_us: Option<u16>,
    /// Queuing scores drain at 2 to this power, in congestion-bytes per second.
    pub queue_protection_drain_exponent: Option<u8>,
    /// TLVs of unknown type.
    pub unknown: Vec<Unknown>,
}

/// A classifier: it selects packets for a service flow. Fields that are not set match every packet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Classifier {
    /// Classifier reference.
    pub reference: u8,
    /// Classifier identifier at the CMTS.
    pub identifier: Option<u16>,
    /// Service flow, by its reference in the file.
    pub flow_reference: Option<u16>,
    /// Service flow, by its identifier at the CMTS.
    pub flow_identifier: Option<u32>,
    /// Rule priority; classifiers with higher priority are evaluated first.
    pub priority: Option<u8>,
    /// Whether the classifier is active.
    pub active: Option<bool>,
    /// Match of IPv4 header and ports.
    pub ipv4: Option<Ipv4Match>,
    /// Match of the Ethernet header.
    pub ethernet: Option<EthernetMatch>,
    /// Match of the VLAN tag.
    pub vlan: Option<VlanMatch>,
    /// Match of the IPv6 header.
    pub ipv6: Option<Ipv6Match>,
    /// TLVs of unknown type.
    pub unknown: Vec<Unknown>,
}

/// A classifier that selects packets to drop. Fields that are not set match every packet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DropClassifier {
    /// Classifier reference.
    pub reference: u8,
    /// Classifier identifier at the CMTS.
    pub identifier: Option<u16>,
    /// Rule priority; classifiers with higher priority are evaluated first.
    pub priority: Option<u8>,
    /// Match of IPv4 header and ports.
    pub ipv4: Option<Ipv4Match>,
    /// Match of the Ethernet header.
    pub ethernet: Option<EthernetMatch>,
    /// Match of the VLAN tag.
    pub vlan: Option<VlanMatch>,
    /// Match of the IPv6 header.
    pub ipv6: Option<Ipv6Match>,
    /// TLVs of unknown type.
    pub unknown: Vec<Unknown>,
}

/// Match of IPv4 headers and of TCP and UDP ports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ipv4Match {
    /// Range of the type of service.
    pub tos: Option<TosRange>,
    /// IP protocol; 256 matches any, 257 matches TCP and UDP.
    pub protocol: Option<u16>,
    /// Source address.
    pub source: Option<Ipv4Addr>,
    /// Mask of the source address. Default: all bits.
    pub source_mask: Option<Ipv4Addr>,
    /// Destination address.
    pub destination: Option<Ipv4Addr>,
    /// Mask of the destination address. Default: all bits.
    pub destination_mask: Option<Ipv4Addr>,
    /// The lowest source port.
    pub source_port_start: Option<u16>,
    /// The highest source port.
    pub source_port_end: Option<u16>,
    /// The lowest destination port.
    pub destination_port_start: Option<u16>,
    /// The highest destination port.
    pub destination_port_end: Option<u16>,
    /// TLVs of unknown type.
    pub unknown: Vec<Unknown>,
}

/// Match of IPv6 headers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ipv6Match {
    /// Range of the traffic class.
    pub traffic_class: Option<TosRange>,
    /// Flow label.
    pub flow_label: Option<u32>,
    /// Next header; 256 matches any, 257 matches TCP and UDP.
    pub next_header: Option<u16>,
    /// Source address.
    pub source: Option<Ipv6Addr>,
    /// Prefix length of the source address. Default: all bits.
    pub source_prefix_bits: Option<u8>,
    /// Destination address.
    pub destination: Option<Ipv6Addr>,
    /// Prefix length of the destination address. Default: all bits.
    pub destination_prefix_bits: Option<u8>,
    /// TLVs of unknown type.
    pub unknown: Vec<Unknown>,
}

/// A packet matches if `low <= (tos & mask) <= high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TosRange {
    /// The lowest value.
    pub low: u8,
    /// The highest value.
    pub high: u8,
    /// Mask of the bits that count.
    pub mask: u8,
}

/// Match of Ethernet headers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EthernetMatch {
    /// Destination address, then its mask, as hexadecimal digits.
    pub destination: Option<String>,
    /// Source address, as hexadecimal digits.
    pub source: Option<String>,
    /// Kind of type, then the type, as hexadecimal digits.
    pub ethertype: Option<String>,
    /// TLVs of unknown type.
    pub unknown: Vec<Unknown>,
}

/// Match of VLAN tags.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VlanMatch {
    /// Range of the user priority.
    pub user_priority: Option<PriorityRange>,
    /// VLAN ID in the first 12 of 16 bits, as hexadecimal digits.
    pub identifier: Option<String>,
    /// TLVs of unknown type.
    pub unknown: Vec<Unknown>,
}

/// A range of user priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriorityRange {
    /// The lowest value.
    pub low: u8,
    /// The highest value.
    pub high: u8,
}

/// A TLV of unknown type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unknown {
    /// Its type.
    pub r#type: u8,
    /// Its value, as hexadecimal digits.
    pub hex: String,
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::modem_config::leaf::Leaf;
    use crate::modem_config::table::{FILE, Kind, Table};

    /// The largest value of each type.
    fn largest(leaf: Leaf) -> Vec<Value> {
        match leaf {
            Leaf::Number { max, .. } => vec![max.into()],
            Leaf::Numbers { most } => vec![vec![65_535; most].into()],
            Leaf::Flag => vec![true.into()],
            Leaf::Word(words) => words.iter().map(|(_, word)| Value::from(*word)).collect(),
            Leaf::Octets(names) => {
                let named = names.iter().map(|name| ((*name).to_owned(), Value::from(255)));
                vec![Value::Object(named.collect())]
            }
            Leaf::Text { .. } => vec!["a".into()],
            Leaf::Hex { max, .. } => vec!["ff".repeat(max).into()],
            Leaf::Ipv4 => vec!["255.255.255.255".into()],
            Leaf::Ipv6 => vec!["ffff::1".into()],
        }
    }

    /// Every key of a table, with the word of this turn where there are several.
    fn all_of(table: Table, turn: usize) -> Value {
        let mut settings = Map::new();
        for row in table.rows() {
            let value = match row.kind {
                Kind::Digest => continue,
                Kind::Nested(table) => all_of(table, turn),
                Kind::Leaf(leaf) => {
                    let values = largest(leaf);
                    values[turn % values.len()].clone()
                }
            };
            let value = if row.repeats() { json!([value]) } else { value };
            settings.insert(row.key.to_owned(), value);
        }
        settings.insert("unknown".to_owned(), json!([{"type": 254, "hex": "00"}]));
        Value::Object(settings)
    }

    fn without_empty(value: Value) -> Value {
        match value {
            Value::Object(table) => {
                let set = table.into_iter().filter(|(_, v)| !v.is_null() && *v != json!([]));
                set.map(|(key, value)| (key, without_empty(value))).collect()
            }
            Value::Array(items) => items.into_iter().map(without_empty).collect(),
            other => other,
        }
    }

    #[test]
    fn the_view_has_every_key_of_the_table_and_takes_its_largest_value() {
        for turn in 0..10 {
            let settings = all_of(FILE, turn);
            let view: ModemConfig = serde_json::from_value(settings.clone()).unwrap();
            assert_eq!(without_empty(serde_json::to_value(&view).unwrap()), settings);
        }
    }

    #[test]
    fn rates_have_units_and_zero_is_no_rate() {
        let flow = ServiceFlow {
            max_sustained_rate: Some(5),
            peak_rate: Some(0),
            data_rate_unit: Some(DataRateUnit::Gbps),
            ..ServiceFlow::default()
        };
        let five = Some(BitRate::from_bps(5_000_000_000));
        assert_eq!(flow.rates(), Rates { max_sustained: five, min_reserved: None, peak: None });
        let slow = Aggregate { min_reserved_rate: Some(128_000), ..Aggregate::default() };
        assert_eq!(slow.rates().min_reserved, Some(BitRate::from_bps(128_000)));
    }
}
