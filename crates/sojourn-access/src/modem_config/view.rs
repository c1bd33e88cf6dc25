//! Typed view of a configuration file, and with it the types that are known: a line of `tlvs!` is a
//! field and its row of the table. Settings that the file leaves out are `None` or empty. TLVs are
//! written in the order of the fields; the table lists them by number.
//!
//! Sections are those of CM-SP-MULPI Annex C; the docs page says where each is known from.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use sojourn_engine::units::BitRate;

use super::table::{CM_MIC, CMTS_MIC, Kind, MOST_SERVICE_FLOWS, Part, RATE, Row, Table};
use super::tlvs::*;

tlvs! {
    /// Settings of a modem and of its service flows.
    pub struct ModemConfig {
        /// Centre frequency of the downstream channel in Hz.
        1 downstream_frequency_hz: Option<u32> =
            row("Downstream Frequency", LONG, "C.1.1.1").aside().unit("Hz");
        /// Upstream channel ID.
        2 upstream_channel: Option<u8> = row("Upstream Channel ID", BYTE, "C.1.1.2").aside();
        /// Whether devices behind the modem may use the network.
        3 network_access: Option<bool> = row("Network Access Control", FLAG, "C.1.1.3").aside();
        /// Name of the file with the modem's next software.
        9 software_upgrade_file: Option<String> = row("SW Upgrade Filename", text(255), "C.1.2.3").aside();
        /// SNMP objects to set, in BER, as hexadecimal digits.
        11 snmp_mib_objects: Vec<String> = row("SNMP MIB Object", OPAQUE, "C.1.2.5").aside().most(ANY);
        /// Baseline privacy settings, as hexadecimal digits.
        17 baseline_privacy: Option<String> = row("Baseline Privacy", OPAQUE, "C.3.1.1").aside();
        /// Whether baseline privacy is enabled.
        29 privacy_enable: Option<bool> = row("Privacy Enable", FLAG, "C.1.1.17").aside();
        /// Maximum number of devices behind the modem.
        18 max_cpe: Option<u8> = row("Max Number of CPEs", BYTE, "C.1.1.7").aside();
        /// Time at which the file was made, in s since 1 January 1900.
        19 tftp_timestamp_s: Option<u32> =
            row("TFTP Server Timestamp", LONG, "C.1.1.8").aside().unit("s since 1900");
        /// Address of the modem for which the file was made.
        20 tftp_modem_address: Option<Ipv4Addr> =
            row("TFTP Server Provisioned Modem IPv4 Address", IPV4, "C.1.1.9").aside();
        /// Address of the TFTP server with the modem's next software.
        21 software_upgrade_server: Option<Ipv4Addr> =
            row("SW Upgrade IPv4 TFTP Server", IPV4, "C.1.2.7").aside();
        /// Maximum number of classifiers of the modem.
        28 max_classifiers: Option<u16> = row("Maximum Number of Classifiers", SHORT, "C.1.1.16").aside();
        /// Whether DOCSIS 2.0 mode is enabled.
        39 docsis_2_mode: Option<bool> = row("Enable 2.0 Mode", FLAG, "C.1.1.20").aside();
        /// Default target buffer of upstream service flows, in ms at the maximum sustained rate.
        68 default_upstream_target_buffer_ms: Option<u16> =
            row("Default Upstream Target Buffer Configuration", SHORT, "C.1.2.17").unit("ms");
        /// Whether AQM is disabled in all upstream service flows.
        76 upstream_aqm_disable: Option<bool> = row("CM Upstream AQM Disable", FLAG, "C.1.2.20");
        /// How far low latency support is disabled, 0 to 2; 0 is not at all.
        91 low_latency_disable: Option<u8> = row("Low Latency Disable", number(1, 0, 2), "C.1.1.32");
        /// Static multicast sessions at the CMTS, as hexadecimal digits.
        64 static_multicast: Vec<String> =
            row("CMTS Static Multicast Session Encoding", OPAQUE, "C.1.1.27").aside().most(ANY);
        /// Upstream aggregates with hierarchical QoS, as hexadecimal digits.
        93 upstream_hierarchical_aggregates: Vec<String> =
            row("Upstream Hierarchical QoS ASF", OPAQUE, "C.2.2").aside().most(ANY);
        /// Downstream aggregates with hierarchical QoS, as hexadecimal digits.
        94 downstream_hierarchical_aggregates: Vec<String> =
            row("Downstream Hierarchical QoS ASF", OPAQUE, "C.2.2").aside().most(ANY);
        /// Classifiers that select upstream service flows.
        22 upstream_classifiers: Vec<Classifier> =
            row("Upstream Packet Classification", nested(Classifier::ROWS), "C.2.1.1").most(255);
        /// Classifiers that select downstream service flows.
        23 downstream_classifiers: Vec<Classifier> =
            row("Downstream Packet Classification", nested(Classifier::ROWS), "C.2.1.3").most(255);
        /// Classifiers that select upstream packets to drop.
        60 upstream_drop_classifiers: Vec<DropClassifier> =
            row("Upstream Drop Packet Classification", nested(DropClassifier::ROWS), "C.2.1.2")
                .aside().most(255);
        /// Upstream service flows.
        24 upstream_service_flows: Vec<ServiceFlow> =
            row("Upstream Service Flow", nested_but(Part::Downstream, ServiceFlow::ROWS), "C.2.2.1")
                .most(MOST_SERVICE_FLOWS);
        /// Downstream service flows.
        25 downstream_service_flows: Vec<ServiceFlow> =
            row("Downstream Service Flow", nested_but(Part::Upstream, ServiceFlow::ROWS), "C.2.2.2")
                .most(MOST_SERVICE_FLOWS);
        /// Classes of service of DOCSIS 1.0, which files have instead of service flows.
        4 classes_of_service: Vec<ClassOfService> =
            row("DOCSIS 1.0 Class of Service", nested(ClassOfService::ROWS), "C.1.1.4").most(16);
        /// Upstream aggregate service flows.
        70 upstream_aggregates: Vec<Aggregate> =
            row("Upstream Aggregate Service Flow", nested(Aggregate::ROWS), "C.2.2.3")
                .most(MOST_SERVICE_FLOWS);
        /// Downstream aggregate service flows.
        71 downstream_aggregates: Vec<Aggregate> =
            row("Downstream Aggregate Service Flow", nested(Aggregate::ROWS), "C.2.2.4")
                .most(MOST_SERVICE_FLOWS);
        /// Vendor-specific and other extension fields, as hexadecimal digits.
        43 extensions: Vec<String> = row("DOCSIS Extension Field", OPAQUE, "C.1.1.18").aside().most(ANY);
    } computed {
        CM_MIC cm_mic = row("CM Message Integrity Check", Kind::Digest, "C.1.1.5").aside();
        CMTS_MIC cmts_mic = row("CMTS Message Integrity Check", Kind::Digest, "C.1.1.6").aside();
    }
}

/// Types at the top level of a file.
pub const FILE: Table = Table::new(ModemConfig::ROWS);

tlvs! {
    /// A class of service of DOCSIS 1.0: rates in both directions.
    pub struct ClassOfService {
        /// Its number in the file.
        1 class: Option<u8> = row("Class ID", BYTE, "C.1.1.4").aside();
        /// Maximum downstream rate in bit/s; 0 is no limit.
        2 max_downstream_rate_bps: Option<u32> =
            row("Maximum Downstream Rate", LONG, "C.1.1.4").unit("bit/s");
        /// Maximum upstream rate in bit/s; 0 is no limit.
        3 max_upstream_rate_bps: Option<u32> = row("Maximum Upstream Rate", LONG, "C.1.1.4").unit("bit/s");
        /// Priority of upstream traffic, 7 being the highest.
        4 upstream_priority: Option<u8> = row("Upstream Channel Priority", number(1, 0, 7), "C.1.1.4");
        /// Guaranteed upstream rate in bit/s.
        5 min_upstream_rate_bps: Option<u32> =
            row("Guaranteed Minimum Upstream Channel Data Rate", LONG, "C.1.1.4").unit("bit/s");
        /// The longest upstream transmission in bytes; 0 is no limit.
        6 max_upstream_burst_bytes: Option<u16> =
            row("Maximum Upstream Channel Transmit Burst", SHORT, "C.1.1.4").aside().unit("B");
        /// Whether baseline privacy is enabled for it.
        7 privacy_enable: Option<bool> = row("Class-of-Service Privacy Enable", FLAG, "C.1.1.4").aside();
    }
}

/// A service flow or an aggregate: what both have stands between two groups of its own lines.
macro_rules! with_rates {
    ($(#[$about:meta])* pub struct $name:ident { $($before:tt)* } { $($after:tt)* }) => { tlvs! {
        $(#[$about])*
        pub struct $name {
            $($before)*
            /// Traffic priority, 7 being the highest. It decides between flows with equal parameters.
            7 traffic_priority: Option<u8> = common("Traffic Priority", number(1, 0, 7), "C.2.2.7.1");
            /// Maximum sustained traffic rate, in [`Self::data_rate_unit`]; see [`Self::rates`].
            8 max_sustained_rate: Option<u32> =
                common("Maximum Sustained Traffic Rate", LONG, "C.2.2.7.2").unit(RATE);
            /// Maximum traffic burst in bytes: depth of the sustained rate's token bucket.
            9 max_burst_bytes: Option<u32> =
                common("Maximum Traffic Burst", number(4, 1522, u32::MAX), "C.2.2.7.3").unit("B");
            /// Minimum reserved traffic rate, in [`Self::data_rate_unit`]; see [`Self::rates`].
            10 min_reserved_rate: Option<u32> =
                common("Minimum Reserved Traffic Rate", LONG, "C.2.2.7.4").unit(RATE);
            /// Packet size in bytes that shorter packets count as in the minimum reserved rate.
            11 min_reserved_packet_bytes: Option<u16> =
                common("Assumed Minimum Reserved Rate Packet Size", SHORT, "C.2.2.7.5").aside().unit("B");
            /// Peak traffic rate, in [`Self::data_rate_unit`]; see [`Self::rates`].
            27 peak_rate: Option<u32> = common("Peak Traffic Rate", LONG, "C.2.2.7.10").unit(RATE);
            /// Unit of the three rates. Default: bit/s.
            41 data_rate_unit: Option<DataRateUnit> = common("Data Rate Unit Setting", word(&[
                (0, "bps"), (1, "kbps"), (2, "mbps"), (3, "gbps"),
            ]), "C.2.2.7.16");
            $($after)*
        }
    } };
}

with_rates! {
    /// A service flow of either direction.
    pub struct ServiceFlow {
        /// Service flow reference, unique in the file over both directions.
        1 reference: u16 = common("Service Flow Reference", REFERENCE, "C.2.2.5.1").required();
        /// Service flow identifier at the CMTS.
        2 identifier: Option<u32> = common("Service Flow Identifier", IDENTIFIER, "C.2.2.5.2");
        /// Name of a service class whose parameters the CMTS knows.
        4 service_class: Option<String> = row("Service Class Name", name(15), "C.2.2.5.4").aside();
        /// Parameter sets to which the values apply: 1 provisioned, 2 admitted, 4 active; 7 is all.
        6 qos_set: Option<u8> =
            row("Quality of Service Parameter Set Type", number(1, 0, 7), "C.2.2.5.5").aside();
    } {
        /// Time in s after which an unused flow is no longer active.
        12 active_timeout_s: Option<u16> =
            row("Timeout for Active QoS Parameters", SHORT, "C.2.2.7.6").aside().unit("s");
        /// Time in s after which an inactive flow is no longer admitted.
        13 admitted_timeout_s: Option<u16> =
            row("Timeout for Admitted QoS Parameters", SHORT, "C.2.2.7.7").aside().unit("s");
        /// Upstream: maximum size in bytes of packets concatenated into one burst.
        14 max_concatenated_burst_bytes: Option<u16> =
            upstream("Maximum Concatenated Burst", SHORT, "C.2.2.8.1").aside().unit("B");
        /// Upstream: scheduling type, which says how the CMTS grants.
        15 scheduling: Option<Scheduling> = upstream("Service Flow Scheduling Type", word(&[
            (1, "undefined"), (2, "best_effort"), (3, "non_real_time_polling"),
            (4, "real_time_polling"), (5, "ugs_with_activity_detection"), (6, "ugs"),
            (7, "proactive_grants"),
        ]), "C.2.2.8.2");
        /// Upstream: request/transmission policy, 4 bytes as hexadecimal digits.
        16 request_policy: Option<String> = upstream("Request/Transmission Policy", hex(4, 4), "C.2.2.8.3");
        /// Upstream: nominal time between polls in us.
        17 polling_interval_us: Option<u32> =
            upstream("Nominal Polling Interval", LONG, "C.2.2.8.4").unit("us");
        /// Upstream: tolerated delay of a poll in us.
        18 poll_jitter_us: Option<u32> = upstream("Tolerated Poll Jitter", LONG, "C.2.2.8.5").unit("us");
        /// Upstream: size of unsolicited grants in bytes.
        19 grant_bytes: Option<u16> = upstream("Unsolicited Grant Size", SHORT, "C.2.2.8.6").unit("B");
        /// Upstream: nominal time between unsolicited grants in us.
        20 grant_interval_us: Option<u32> =
            upstream("Nominal Grant Interval", LONG, "C.2.2.8.7").unit("us");
        /// Upstream: tolerated delay of an unsolicited grant in us.
        21 grant_jitter_us: Option<u32> = upstream("Tolerated Grant Jitter", LONG, "C.2.2.8.8").unit("us");
        /// Upstream: number of unsolicited grants in each interval.
        22 grants_per_interval: Option<u8> =
            upstream("Grants per Interval", number(1, 0, 127), "C.2.2.8.9");
        /// Upstream: multiplier of the bytes in a request.
        26 request_multiplier: Option<u8> =
            upstream("Multiplier to Number of Bytes Requested", BYTE, "C.2.2.8.12").aside();
        /// Upstream: time between proactive grants in us.
        44 guaranteed_grant_interval_us: Option<u16> =
            upstream("Guaranteed Grant Interval", SHORT, "C.2.2.8.14").unit("us");
        /// Upstream: rate of proactive grants, in [`Self::data_rate_unit`].
        45 guaranteed_grant_rate: Option<u32> =
            upstream("Guaranteed Grant Rate", LONG, "C.2.2.8.13").unit(RATE);
        /// Upstream: time between proactive request opportunities in us.
        46 guaranteed_request_interval_us: Option<u16> =
            upstream("Guaranteed Request Interval", SHORT, "C.2.2.8").unit("us");
        /// Upstream: whether requests tell the whole queue.
        48 absolute_queue_depth_requests: Option<bool> =
            upstream("Absolute Queue Depth Request Enable", FLAG, "C.2.2.8").aside();
        /// Upstream: whether proactive grants go on while the flow is idle.
        49 activity_detection_disable: Option<bool> =
            upstream("PGS Activity Detection Disable", FLAG, "C.2.2.8");
        /// Downstream: maximum latency of a packet in us.
        14 max_latency_us: Option<u32> =
            downstream("Maximum Downstream Latency", LONG, "C.2.2.9.1").aside().unit("us");
        /// Identifier of an application, by which an aggregate may match it.
        34 application_id: Option<u32> = row("Application Identifier", LONG, "C.2.2.5.9").aside();
        /// Reference of the aggregate service flow that this flow belongs to.
        36 aggregate_reference: Option<u16> =
            row("Aggregate Service Flow Reference", REFERENCE, "C.2.2.5.10");
        /// Name of its profile in the interface for applications' traffic classes (IATC).
        39 iatc_profile: Option<String> =
            row("Service Flow to IATC Profile Name Reference", name(15), "C.2.2.7.14").aside();
        /// Overwrites the type of service (DSCP) of its packets.
        23 tos_overwrite: Option<TosOverwrite> =
            row("IP Type of Service (DSCP) Overwrite", octets(&["and_mask", "or_mask"]), "C.2.2.7.9")
                .aside();
        /// Buffer control: the size of its queue.
        35 buffer_control: Option<BufferControl> =
            row("Buffer Control", nested(BufferControl::ROWS), "C.2.2.7.11");
        /// AQM of its queue.
        40 aqm: Option<Aqm> = row("AQM Encodings", nested(Aqm::ROWS), "C.2.2.7.15");
        /// Its aggregate's identifier at the CMTS, as hexadecimal digits.
        47 aggregate_identifier: Option<String> =
            row("Aggregate Service Flow Identifier", OPAQUE, "C.2.2.7").aside();
    }
}

impl ServiceFlow {
    /// Its rates in bit/s.
    pub fn rates(&self) -> Rates {
        let rates = [self.max_sustained_rate, self.min_reserved_rate, self.peak_rate];
        Rates::of(self.data_rate_unit, rates)
    }
}

with_rates! {
    /// An aggregate service flow of either direction.
    pub struct Aggregate {
        /// Aggregate service flow reference, unique in the file over both directions.
        1 reference: u16 = common("Service Flow Reference", REFERENCE, "C.2.2.5.1").required();
        /// Aggregate service flow identifier at the CMTS.
        2 identifier: Option<u32> = common("Service Flow Identifier", IDENTIFIER, "C.2.2.5.2");
        /// Name of an aggregate QoS profile that the CMTS knows.
        4 profile: Option<String> = row("AQP Name", name(15), "C.2.2.7.12").aside();
    } {
        /// Criteria that match service flows to this aggregate.
        38 match_criteria: Option<MatchCriteria> =
            row("Service Flow to ASF Matching Criteria", nested(MatchCriteria::ROWS), "C.2.2.7.13");
        /// Settings of its low-latency service flow.
        42 low_latency: Option<LowLatency> =
            row("Low Latency ASF Encodings", nested(LowLatency::ROWS), "C.2.2.7.17");
    }
}

impl Aggregate {
    /// Its rates in bit/s.
    pub fn rates(&self) -> Rates {
        let rates = [self.max_sustained_rate, self.min_reserved_rate, self.peak_rate];
        Rates::of(self.data_rate_unit, rates)
    }
}

tlvs! {
    /// What a service flow without an aggregate has to be like to belong to this one.
    pub struct MatchCriteria {
        /// Its application's identifier.
        1 application_id: Option<u32> =
            row("Service Flow to ASF Matching by Application Id", LONG, "C.2.2.7.13.1");
        /// The name of its service class.
        2 service_class: Option<String> =
            row("Service Flow to ASF Matching by Service Class Name", name(15), "C.2.2.7.13.2");
        /// Bounds of its traffic priority.
        3 traffic_priority: Option<PriorityRange> = row(
            "Service Flow to ASF Matching by Traffic Priority Range",
            octets(&["low", "high"]),
            "C.2.2.7.13.3",
        );
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

tlvs! {
    /// Buffer control of a service flow. The device chooses a size in the range, near the target.
    pub struct BufferControl {
        /// Minimum buffer size in bytes.
        1 minimum_bytes: Option<u32> = row("Minimum Buffer", LONG, "C.2.2.7.11.3").unit("B");
        /// Target buffer size in bytes.
        2 target_bytes: Option<u32> = row("Target Buffer", LONG, "C.2.2.7.11.4").unit("B");
        /// Maximum buffer size in bytes.
        3 maximum_bytes: Option<u32> = row("Maximum Buffer", LONG, "C.2.2.7.11.5").unit("B");
    }
}

tlvs! {
    /// AQM settings of a service flow.
    pub struct Aqm {
        /// Whether AQM is disabled.
        1 disable: Option<bool> = row("SF AQM Disable", FLAG, "C.2.2.7.15.1");
        /// Latency target of the AQM algorithm in ms.
        2 latency_target_ms: Option<u8> =
            row("Classic AQM Latency Target", number(1, 1, 255), "C.2.2.7.15.2").unit("ms");
        /// The AQM algorithm.
        3 algorithm: Option<AqmAlgorithm> = row("AQM Algorithm", word(&[
            (0, "default"), (1, "docsis_pie"), (2, "immediate"),
        ]), "C.2.2.7.15.3");
        /// Immediate AQM: latency in us above which every packet is marked.
        4 immediate_max_threshold_us: Option<u16> =
            row("Immediate AQM Max Threshold", SHORT, "C.2.2.7.15.4").unit("us");
        /// Immediate AQM: exponent of the ramp's range, 2 to this power in ns.
        5 immediate_range_exponent: Option<u8> =
            row("Immediate AQM Range Exponent of Ramp Function", number(1, 0, 25), "C.2.2.7.15.5");
        /// Bin edges of the latency histogram, in 0.01 ms.
        6 latency_histogram: Option<Vec<u16>> =
            row("Latency Histogram Encodings", numbers(15), "C.2.2.7.15.6")
                .unit("0.01 ms");
    }
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

tlvs! {
    /// The low-latency service flow of an aggregate.
    pub struct LowLatency {
        /// Service flow reference.
        1 reference: Option<u16> = row("Low Latency Service Flow Reference", REFERENCE, "C.2.2.7.17.1");
        /// Service flow identifier at the CMTS.
        2 identifier: Option<u32> = row("Low Latency Service Flow Identifier", IDENTIFIER, "C.2.2.7.17.2");
        /// Service class of the classic service flow.
        3 classic_service_class: Option<String> = row("Classic SF SCN", name(15), "C.2.2.7.17.3").aside();
        /// Service class of the low-latency service flow.
        4 low_latency_service_class: Option<String> =
            row("Low Latency SF SCN", name(15), "C.2.2.7.17.4").aside();
        /// Coupling factor of the two AQM algorithms, in tenths.
        5 coupling_factor_tenths: Option<u8> = row("AQM Coupling Factor", BYTE, "C.2.2.7.17.5").unit("0.1");
        /// Scheduling weight of the low-latency queue, in 1/256.
        6 scheduling_weight: Option<u8> =
            row("Scheduling Weight", number(1, 1, 255), "C.2.2.7.17.6").unit("1/256");
        /// Whether queue protection moves queue-building flows to the classic queue.
        7 queue_protection: Option<bool> = row("Queue Protection Enable", FLAG, "C.2.2.7.17.7");
        /// Latency in us above which queue protection judges flows.
        8 queue_protection_latency_us: Option<u16> =
            row("QPLatencyThreshold", SHORT, "C.2.2.7.17.8").unit("us");
        /// Queuing score in us above which a flow is moved.
        9 queue_protection_score_us: Option<u16> =
            row("QPQueuingScoreThreshold", SHORT, "C.2.2.7.17.9").unit("us");
        /// Queuing scores drain at 2 to this power, in congestion-bytes per second.
        10 queue_protection_drain_exponent: Option<u8> = row("QPDrainRateExponent", BYTE, "C.2.2.7.17.10");
    }
}

/// A classifier of either kind, with its own lines before and after the priority.
macro_rules! classifier {
    ($(#[$about:meta])* pub struct $name:ident { $($before:tt)* } { $($after:tt)* }) => { tlvs! {
        $(#[$about])*
        pub struct $name {
            /// Classifier reference.
            1 reference: u8 = common("Classifier Reference", number(1, 1, 255), "C.2.1.4.1").required();
            /// Classifier identifier at the CMTS.
            2 identifier: Option<u16> = common("Classifier Identifier", REFERENCE, "C.2.1.4.2");
            $($before)*
            /// Rule priority; classifiers with higher priority are evaluated first.
            5 priority: Option<u8> = common("Rule Priority", BYTE, "C.2.1.4.5");
            $($after)*
            /// Match of IPv4 header and ports.
            9 ipv4: Option<Ipv4Match> =
                common("IPv4 Packet Classification", nested(Ipv4Match::ROWS), "C.2.1.6");
            /// Match of the Ethernet header.
            10 ethernet: Option<EthernetMatch> =
                common("Ethernet LLC Packet Classification", nested(EthernetMatch::ROWS), "C.2.1.8");
            /// Match of the VLAN tag.
            11 vlan: Option<VlanMatch> =
                common("IEEE 802.1P/Q Packet Classification", nested(VlanMatch::ROWS), "C.2.1.9");
            /// Match of the IPv6 header.
            12 ipv6: Option<Ipv6Match> =
                common("IPv6 Packet Classification", nested(Ipv6Match::ROWS), "C.2.1.10");
        }
    } };
}

classifier! {
    /// A classifier: it selects packets for a service flow. Fields that are not set match every packet.
    pub struct Classifier {
        /// Service flow, by its reference in the file.
        3 flow_reference: Option<u16> = row("Service Flow Reference", REFERENCE, "C.2.1.4.3");
        /// Service flow, by its identifier at the CMTS.
        4 flow_identifier: Option<u32> = row("Service Flow Identifier", IDENTIFIER, "C.2.1.4.4");
    } {
        /// Whether the classifier is active.
        6 active: Option<bool> = row("Classifier Activation State", FLAG, "C.2.1.4.6");
    }
}

classifier! {
    /// A classifier that selects packets to drop. Fields that are not set match every packet.
    pub struct DropClassifier {} {}
}

tlvs! {
    /// Match of IPv4 headers and of TCP and UDP ports.
    pub struct Ipv4Match {
        /// Range of the type of service.
        1 tos: Option<TosRange> = row("IPv4 Type of Service Range and Mask", TOS, "C.2.1.6.1");
        /// IP protocol; 256 matches any, 257 matches TCP and UDP.
        2 protocol: Option<u16> = row("IP Protocol", PROTOCOL, "C.2.1.6.2");
        /// Source address.
        3 source: Option<Ipv4Addr> = row("IPv4 Source Address", IPV4, "C.2.1.6.3");
        /// Mask of the source address. Default: all bits.
        4 source_mask: Option<Ipv4Addr> = row("IPv4 Source Mask", IPV4, "C.2.1.6.4");
        /// Destination address.
        5 destination: Option<Ipv4Addr> = row("IPv4 Destination Address", IPV4, "C.2.1.6.5");
        /// Mask of the destination address. Default: all bits.
        6 destination_mask: Option<Ipv4Addr> = row("IPv4 Destination Mask", IPV4, "C.2.1.6.6");
        /// The lowest source port.
        7 source_port_start: Option<u16> = row("TCP/UDP Source Port Start", SHORT, "C.2.1.7.1");
        /// The highest source port.
        8 source_port_end: Option<u16> = row("TCP/UDP Source Port End", SHORT, "C.2.1.7.2");
        /// The lowest destination port.
        9 destination_port_start: Option<u16> = row("TCP/UDP Destination Port Start", SHORT, "C.2.1.7.3");
        /// The highest destination port.
        10 destination_port_end: Option<u16> = row("TCP/UDP Destination Port End", SHORT, "C.2.1.7.4");
    }
}

tlvs! {
    /// Match of IPv6 headers.
    pub struct Ipv6Match {
        /// Range of the traffic class.
        1 traffic_class: Option<TosRange> = row("IPv6 Traffic Class Range and Mask", TOS, "C.2.1.10.1");
        /// Flow label.
        2 flow_label: Option<u32> = row("IPv6 Flow Label", number(4, 0, 0xf_ffff), "C.2.1.10.2");
        /// Next header; 256 matches any, 257 matches TCP and UDP.
        3 next_header: Option<u16> = row("IPv6 Next Header Type", PROTOCOL, "C.2.1.10.3");
        /// Source address.
        4 source: Option<Ipv6Addr> = row("IPv6 Source Address", IPV6, "C.2.1.10.4");
        /// Prefix length of the source address. Default: all bits.
        5 source_prefix_bits: Option<u8> =
            row("IPv6 Source Prefix Length", PREFIX, "C.2.1.10.5").unit("bit");
        /// Destination address.
        6 destination: Option<Ipv6Addr> = row("IPv6 Destination Address", IPV6, "C.2.1.10.6");
        /// Prefix length of the destination address. Default: all bits.
        7 destination_prefix_bits: Option<u8> =
            row("IPv6 Destination Prefix Length", PREFIX, "C.2.1.10.7").unit("bit");
    }
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

tlvs! {
    /// Match of Ethernet headers.
    pub struct EthernetMatch {
        /// Destination address, then its mask, as hexadecimal digits.
        1 destination: Option<String> = row("Destination MAC Address and Mask", hex(12, 12), "C.2.1.8.1");
        /// Source address, as hexadecimal digits.
        2 source: Option<String> = row("Source MAC Address", hex(6, 6), "C.2.1.8.2");
        /// Kind of type, then the type, as hexadecimal digits.
        3 ethertype: Option<String> = row("Ethertype/DSAP/MacType", hex(3, 3), "C.2.1.8.3");
    }
}

tlvs! {
    /// Match of VLAN tags.
    pub struct VlanMatch {
        /// Range of the user priority.
        1 user_priority: Option<PriorityRange> =
            row("IEEE 802.1P User Priority", octets(&["low", "high"]), "C.2.1.9.1");
        /// VLAN ID in the first 12 of 16 bits, as hexadecimal digits.
        2 identifier: Option<String> = row("IEEE 802.1Q VLAN_ID", hex(2, 2), "C.2.1.9.2");
    }
}

/// A range of priorities.
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

    use std::collections::HashSet;

    use super::*;
    use crate::modem_config::leaf::Leaf;

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

    fn assert_unambiguous(table: Table) {
        let (mut numbers, mut keys) = (HashSet::new(), HashSet::from(["unknown"]));
        for row in table.rows() {
            assert!(numbers.insert(row.number), "{}", row.number);
            assert!(keys.insert(row.key), "{}", row.key);
            if let Kind::Nested(table) = row.kind {
                assert_unambiguous(table);
            }
        }
    }

    #[test]
    fn every_number_and_every_key_means_one_thing() {
        assert_unambiguous(FILE);
        // Padding and the end marker have no length.
        assert!(FILE.numbered(0).is_none() && FILE.numbered(255).is_none());
    }
}
