//! What a file sets, typed. Fields are the keys of [`super::table`], where their ranges and sections
//! of the specification are; what a file leaves out is `None` or empty.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use crate::units::BitRate;

/// Settings of a modem and of its service flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModemConfig {
    /// Centre frequency of the downstream channel.
    pub downstream_frequency_hz: Option<u32>,
    /// Number of the upstream channel.
    pub upstream_channel: Option<u8>,
    /// May devices behind the modem use the network?
    pub network_access: Option<bool>,
    /// File with the modem's next software.
    pub software_upgrade_file: Option<String>,
    /// SNMP objects to set, in BER, as hexadecimal digits.
    pub snmp_mib_objects: Vec<String>,
    /// Settings of baseline privacy, as hexadecimal digits.
    pub baseline_privacy: Option<String>,
    /// Is baseline privacy on?
    pub privacy_enable: Option<bool>,
    /// How many devices behind the modem may use the network.
    pub max_cpe: Option<u8>,
    /// When the file was made, since 1 January 1900.
    pub tftp_timestamp_s: Option<u32>,
    /// Address of the modem that the file is for.
    pub tftp_modem_address: Option<Ipv4Addr>,
    /// Where the modem's next software is.
    pub software_upgrade_server: Option<Ipv4Addr>,
    /// How many classifiers the modem may have.
    pub max_classifiers: Option<u16>,
    /// May the modem use what came with DOCSIS 2.0?
    pub docsis_2_mode: Option<bool>,
    /// Default of upstream buffers, as time at the maximum sustained rate.
    pub default_upstream_target_buffer_ms: Option<u16>,
    /// Is AQM off in all upstream service flows?
    pub upstream_aqm_disable: Option<bool>,
    /// Is low latency off?
    pub low_latency_disable: Option<bool>,
    /// Which upstream packets go into which service flow.
    pub upstream_classifiers: Vec<Classifier>,
    /// Which downstream packets go into which service flow.
    pub downstream_classifiers: Vec<Classifier>,
    /// Which upstream packets are dropped.
    pub upstream_drop_classifiers: Vec<DropClassifier>,
    /// Upstream service flows.
    pub upstream_service_flows: Vec<ServiceFlow>,
    /// Downstream service flows.
    pub downstream_service_flows: Vec<ServiceFlow>,
    /// Upstream aggregate service flows.
    pub upstream_aggregates: Vec<Aggregate>,
    /// Downstream aggregate service flows.
    pub downstream_aggregates: Vec<Aggregate>,
    /// Extensions and settings of vendors, as hexadecimal digits.
    pub extensions: Vec<String>,
    /// What is not known.
    pub unknown: Vec<Unknown>,
}

/// A service flow of either direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServiceFlow {
    /// Its number in the file, its own in both directions.
    pub reference: u16,
    /// Its number at the CMTS.
    pub identifier: Option<u32>,
    /// Name of a class whose parameters the CMTS knows.
    pub service_class: Option<String>,
    /// For which sets the parameters hold: 1 provisioned, 2 admitted, 4 active; 7 is all.
    pub qos_set: Option<u8>,
    /// Priority among flows whose parameters are alike; 7 is the highest.
    pub traffic_priority: Option<u8>,
    /// In [`Self::data_rate_unit`]; see [`Self::rates`].
    pub max_sustained_rate: Option<u32>,
    /// Depth of the token bucket of the maximum sustained rate.
    pub max_burst_bytes: Option<u32>,
    /// In [`Self::data_rate_unit`]; see [`Self::rates`].
    pub min_reserved_rate: Option<u32>,
    /// A shorter packet counts as one of this size in the minimum reserved rate.
    pub min_reserved_packet_bytes: Option<u16>,
    /// In [`Self::data_rate_unit`]; see [`Self::rates`].
    pub peak_rate: Option<u32>,
    /// Unit of the three rates, bit/s if there is none.
    pub data_rate_unit: Option<DataRateUnit>,
    /// How long an unused flow stays active.
    pub active_timeout_s: Option<u16>,
    /// How long an inactive flow stays admitted.
    pub admitted_timeout_s: Option<u16>,
    /// Upstream: the longest row of packets sent as one.
    pub max_concatenated_burst_bytes: Option<u16>,
    /// Upstream: how the CMTS grants.
    pub scheduling: Option<Scheduling>,
    /// Upstream: which opportunities the modem may use, 4 bytes as hexadecimal digits.
    pub request_policy: Option<String>,
    /// Upstream: time between polls.
    pub polling_interval_us: Option<u32>,
    /// Upstream: how late a poll may be.
    pub poll_jitter_us: Option<u32>,
    /// Upstream: size of unsolicited grants.
    pub grant_bytes: Option<u16>,
    /// Upstream: time between unsolicited grants.
    pub grant_interval_us: Option<u32>,
    /// Upstream: how late an unsolicited grant may be.
    pub grant_jitter_us: Option<u32>,
    /// Upstream: unsolicited grants in each interval.
    pub grants_per_interval: Option<u8>,
    /// Upstream: what a byte of a request stands for.
    pub request_multiplier: Option<u8>,
    /// Downstream: how long a packet may wait.
    pub max_latency_us: Option<u32>,
    /// The aggregate that it is part of.
    pub aggregate_reference: Option<u16>,
    /// What becomes of the type of service of its packets.
    pub tos_overwrite: Option<TosOverwrite>,
    /// Size of its queue.
    pub buffer_control: Option<BufferControl>,
    /// Its queue management.
    pub aqm: Option<Aqm>,
    /// What is not known.
    pub unknown: Vec<Unknown>,
}

impl ServiceFlow {
    /// Its rates.
    pub fn rates(&self) -> Rates {
        let rates = [self.max_sustained_rate, self.min_reserved_rate, self.peak_rate];
        Rates::of(self.data_rate_unit, rates)
    }
}

/// An aggregate of service flows of either direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Aggregate {
    /// Its number in the file, its own in both directions.
    pub reference: u16,
    /// Its number at the CMTS.
    pub identifier: Option<u32>,
    /// Name of a profile that the CMTS knows.
    pub profile: Option<String>,
    /// Priority among flows whose parameters are alike; 7 is the highest.
    pub traffic_priority: Option<u8>,
    /// In [`Self::data_rate_unit`]; see [`Self::rates`].
    pub max_sustained_rate: Option<u32>,
    /// Depth of the token bucket of the maximum sustained rate.
    pub max_burst_bytes: Option<u32>,
    /// In [`Self::data_rate_unit`]; see [`Self::rates`].
    pub min_reserved_rate: Option<u32>,
    /// A shorter packet counts as one of this size in the minimum reserved rate.
    pub min_reserved_packet_bytes: Option<u16>,
    /// In [`Self::data_rate_unit`]; see [`Self::rates`].
    pub peak_rate: Option<u32>,
    /// Unit of the three rates, bit/s if there is none.
    pub data_rate_unit: Option<DataRateUnit>,
    /// Which service flows are part of it, as hexadecimal digits.
    pub match_criteria: Option<String>,
    /// Its low-latency service flow.
    pub low_latency: Option<LowLatency>,
    /// What is not known.
    pub unknown: Vec<Unknown>,
}

impl Aggregate {
    /// Its rates.
    pub fn rates(&self) -> Rates {
        let rates = [self.max_sustained_rate, self.min_reserved_rate, self.peak_rate];
        Rates::of(self.data_rate_unit, rates)
    }
}

/// Rates of a service flow or an aggregate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Without bound where there is none.
    pub max_sustained: Option<BitRate>,
    /// Nothing is reserved where there is none.
    pub min_reserved: Option<BitRate>,
    /// Without bound where there is none.
    pub peak: Option<BitRate>,
}

impl Rates {
    /// A rate of zero is none (CM-SP-MULPI C.2.2.7.2, C.2.2.7.4, C.2.2.7.10).
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
    /// In bits per second.
    pub fn bps(self) -> u64 {
        1000_u64.pow(self as u32)
    }
}

/// How the CMTS grants an upstream service flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheduling {
    /// As the CMTS likes.
    Undefined,
    /// What the modem requests.
    BestEffort,
    /// Requests in polls, sometimes.
    NonRealTimePolling,
    /// Requests in polls, at fixed intervals.
    RealTimePolling,
    /// Grants at fixed intervals while there is traffic.
    UgsWithActivityDetection,
    /// Grants at fixed intervals.
    Ugs,
    /// Grants without requests, for low latency.
    ProactiveGrants,
}

/// New type of service: the old one, and `and_mask`, or `or_mask`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TosOverwrite {
    /// Bits that stay.
    pub and_mask: u8,
    /// Bits that are set.
    pub or_mask: u8,
}

/// Size of a service flow's queue: the device takes what it can of the range, near the target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BufferControl {
    /// The least that will do.
    pub minimum_bytes: Option<u32>,
    /// What is wanted.
    pub target_bytes: Option<u32>,
    /// The most that will do.
    pub maximum_bytes: Option<u32>,
    /// What is not known.
    pub unknown: Vec<Unknown>,
}

/// Queue management of a service flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Aqm {
    /// Is it off?
    pub disable: Option<bool>,
    /// Latency that the law aims at.
    pub latency_target_ms: Option<u8>,
    /// The law.
    pub algorithm: Option<AqmAlgorithm>,
    /// Latency from which on immediate AQM marks everything.
    pub immediate_max_threshold_us: Option<u16>,
    /// Immediate AQM's ramp spans 2 to this power, in ns.
    pub immediate_range_exponent: Option<u8>,
    /// Edges of the latency histogram, as hexadecimal digits.
    pub latency_histogram: Option<String>,
    /// What is not known.
    pub unknown: Vec<Unknown>,
}

/// A law of queue management.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AqmAlgorithm {
    /// That of the device.
    Default,
    /// DOCSIS-PIE, RFC 8034.
    DocsisPie,
    /// Immediate AQM, for low latency.
    Immediate,
}

/// The low-latency service flow of an aggregate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LowLatency {
    /// Its number in the file.
    pub reference: Option<u16>,
    /// Its number at the CMTS.
    pub identifier: Option<u32>,
    /// Class of the other service flow.
    pub classic_service_class: Option<String>,
    /// Class of the low-latency service flow.
    pub low_latency_service_class: Option<String>,
    /// Coupling of the two laws, in tenths.
    pub coupling_factor_tenths: Option<u8>,
    /// Share of the low-latency queue, of 256.
    pub scheduling_weight: Option<u8>,
    /// Are queue-building flows sent to the other queue?
    pub queue_protection: Option<bool>,
    /// Latency from which on flows are judged.
    pub queue_protection_latency_us: Option<u32>,
    /// Queuing score from which on a flow must go.
    pub queue_protection_score_us: Option<u32>,
    /// Scores drain at 2 to this power, in congestion-bytes per second.
    pub queue_protection_drain_exponent: Option<u8>,
    /// What is not known.
    pub unknown: Vec<Unknown>,
}

/// Which packets go into a service flow. What is not set matches every packet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Classifier {
    /// Its number in the file.
    pub reference: u8,
    /// Its number at the CMTS.
    pub identifier: Option<u16>,
    /// The service flow, by its number in the file.
    pub flow_reference: Option<u16>,
    /// The service flow, by its number at the CMTS.
    pub flow_identifier: Option<u32>,
    /// Classifiers with higher priority are asked first.
    pub priority: Option<u8>,
    /// Is it used?
    pub active: Option<bool>,
    /// By IPv4 header and ports.
    pub ipv4: Option<Ipv4Match>,
    /// By Ethernet header.
    pub ethernet: Option<EthernetMatch>,
    /// By VLAN tag.
    pub vlan: Option<VlanMatch>,
    /// By IPv6 header.
    pub ipv6: Option<Ipv6Match>,
    /// What is not known.
    pub unknown: Vec<Unknown>,
}

/// Which packets are dropped. What is not set matches every packet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DropClassifier {
    /// Its number in the file.
    pub reference: u8,
    /// Its number at the CMTS.
    pub identifier: Option<u16>,
    /// Classifiers with higher priority are asked first.
    pub priority: Option<u8>,
    /// By IPv4 header and ports.
    pub ipv4: Option<Ipv4Match>,
    /// By Ethernet header.
    pub ethernet: Option<EthernetMatch>,
    /// By VLAN tag.
    pub vlan: Option<VlanMatch>,
    /// By IPv6 header.
    pub ipv6: Option<Ipv6Match>,
    /// What is not known.
    pub unknown: Vec<Unknown>,
}

/// IPv4 headers and ports of TCP and UDP.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ipv4Match {
    /// Range of the type of service.
    pub tos: Option<TosRange>,
    /// IP protocol; 256 is any, 257 is TCP and UDP.
    pub protocol: Option<u16>,
    /// Source address.
    pub source: Option<Ipv4Addr>,
    /// Bits of the source address that count, all if there is none.
    pub source_mask: Option<Ipv4Addr>,
    /// Destination address.
    pub destination: Option<Ipv4Addr>,
    /// Bits of the destination address that count, all if there is none.
    pub destination_mask: Option<Ipv4Addr>,
    /// The lowest source port.
    pub source_port_start: Option<u16>,
    /// The highest source port.
    pub source_port_end: Option<u16>,
    /// The lowest destination port.
    pub destination_port_start: Option<u16>,
    /// The highest destination port.
    pub destination_port_end: Option<u16>,
    /// What is not known.
    pub unknown: Vec<Unknown>,
}

/// IPv6 headers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ipv6Match {
    /// Range of the traffic class.
    pub traffic_class: Option<TosRange>,
    /// Flow label.
    pub flow_label: Option<u32>,
    /// Protocol; 256 is any, 257 is TCP and UDP.
    pub next_header: Option<u16>,
    /// Source address.
    pub source: Option<Ipv6Addr>,
    /// First bits of the source address that count, all if there is none.
    pub source_prefix_bits: Option<u8>,
    /// Destination address.
    pub destination: Option<Ipv6Addr>,
    /// First bits of the destination address that count, all if there is none.
    pub destination_prefix_bits: Option<u8>,
    /// What is not known.
    pub unknown: Vec<Unknown>,
}

/// A packet matches if `low <= (tos & mask) <= high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TosRange {
    /// The lowest.
    pub low: u8,
    /// The highest.
    pub high: u8,
    /// Bits that count.
    pub mask: u8,
}

/// Ethernet headers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EthernetMatch {
    /// Destination address, then the bits of it that count, as hexadecimal digits.
    pub destination: Option<String>,
    /// Source address, as hexadecimal digits.
    pub source: Option<String>,
    /// Kind of type, then the type, as hexadecimal digits.
    pub ethertype: Option<String>,
    /// What is not known.
    pub unknown: Vec<Unknown>,
}

/// VLAN tags.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VlanMatch {
    /// Range of the user priority.
    pub user_priority: Option<PriorityRange>,
    /// VLAN, in the first 12 of 16 bits, as hexadecimal digits.
    pub identifier: Option<String>,
    /// What is not known.
    pub unknown: Vec<Unknown>,
}

/// A range of user priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriorityRange {
    /// The lowest.
    pub low: u8,
    /// The highest.
    pub high: u8,
}

/// A TLV whose type is not known.
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
