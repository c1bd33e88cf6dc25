//! The table of known TLV types: their names, contents and allowed values. Reading, writing,
//! display, messages and `docs/modem-config.md` follow it.
//!
//! Sections are those of CM-SP-MULPI Annex C; the docs page says where each is known from.

use std::fmt;

use super::leaf::Leaf;

/// What a TLV holds.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// A value.
    Leaf(Leaf),
    /// A digest over the other TLVs, which is computed, not set.
    Digest,
    /// Other TLVs.
    Nested(Table),
}

/// A type of TLV.
#[derive(Clone, Copy, PartialEq)]
pub struct Row {
    /// The type byte of a TLV.
    pub number: u8,
    /// Key in TOML, and name of the field in the typed view.
    pub key: &'static str,
    /// Name in the specification.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Unit of the number; empty if there is none.
    pub unit: &'static str,
    /// How many TLVs of this type may be side by side.
    pub most: usize,
    /// Is the TLV required?
    pub required: bool,
    /// Does nothing that is simulated depend on it?
    pub is_aside: bool,
    /// Section in Annex C.
    pub section: &'static str,
}

impl Row {
    const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    const fn most(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    const fn aside(mut self) -> Self {
        self.is_aside = true;
        self
    }

    /// May there be several?
    pub fn repeats(&self) -> bool {
        self.most > 1
    }

    /// What is allowed, as text.
    pub fn allowed(&self) -> String {
        match self.kind {
            Kind::Leaf(leaf) => leaf.allowed(),
            Kind::Digest => "16 bytes, computed".to_owned(),
            Kind::Nested(_) => "a table".to_owned(),
        }
    }
}

// A row contains its nested rows; printing all of them would make a failing test unreadable.
impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)
    }
}

/// The types that may be side by side, in groups.
#[derive(Clone, Copy, PartialEq)]
pub struct Table(&'static [&'static [Row]]);

impl Table {
    /// All types.
    pub fn rows(self) -> impl Iterator<Item = &'static Row> {
        self.0.iter().copied().flatten()
    }

    /// The type with this number.
    pub fn numbered(self, number: u8) -> Option<&'static Row> {
        self.rows().find(|row| row.number == number)
    }

    /// The type with this key.
    pub fn keyed(self, key: &str) -> Option<&'static Row> {
        self.rows().find(|row| row.key == key)
    }
}

/// Unit of a rate, which the data rate unit multiplies.
pub(crate) const RATE: &str = "bit/s";
/// Type number of a service flow's data rate unit.
pub(crate) const DATA_RATE_UNIT: u8 = 41;
/// The digest that the modem checks.
pub(crate) const CM_MIC: u8 = 6;
/// The digest that the CMTS checks.
pub(crate) const CMTS_MIC: u8 = 7;
/// The most service flows in each direction of a file; a limit of this simulator.
pub(crate) const MOST_SERVICE_FLOWS: usize = 32;

const ANY: usize = usize::MAX;

const fn row(
    number: u8,
    key: &'static str,
    name: &'static str,
    kind: Kind,
    section: &'static str,
) -> Row {
    Row { number, key, name, kind, unit: "", most: 1, required: false, is_aside: false, section }
}

const fn number(bytes: usize, min: u32, max: u32) -> Kind {
    Kind::Leaf(Leaf::Number { bytes, min, max })
}

const fn hex(min: usize, max: usize) -> Kind {
    Kind::Leaf(Leaf::Hex { min, max })
}

const fn text(max: usize) -> Kind {
    Kind::Leaf(Leaf::Text { max, zero: false })
}

const fn name(max: usize) -> Kind {
    Kind::Leaf(Leaf::Text { max, zero: true })
}

const fn octets(names: &'static [&'static str]) -> Kind {
    Kind::Leaf(Leaf::Octets(names))
}

const fn nested(groups: &'static [&'static [Row]]) -> Kind {
    Kind::Nested(Table(groups))
}

const FLAG: Kind = Kind::Leaf(Leaf::Flag);
const BYTE: Kind = number(1, 0, 255);
const SHORT: Kind = number(2, 0, 65_535);
const LONG: Kind = number(4, 0, u32::MAX);
const REFERENCE: Kind = number(2, 1, 65_535);
const IDENTIFIER: Kind = number(4, 1, u32::MAX);
const IPV4: Kind = Kind::Leaf(Leaf::Ipv4);
const IPV6: Kind = Kind::Leaf(Leaf::Ipv6);
const OPAQUE: Kind = hex(0, 255);

/// Types at the top level of a file.
#[rustfmt::skip]
pub const FILE: Table = Table(&[&[
    row(1, "downstream_frequency_hz", "Downstream Frequency", LONG, "C.1.1.1").aside().unit("Hz"),
    row(2, "upstream_channel", "Upstream Channel ID", BYTE, "C.1.1.2").aside(),
    row(3, "network_access", "Network Access Control", FLAG, "C.1.1.3").aside(),
    row(4, "classes_of_service", "DOCSIS 1.0 Class of Service", nested(&[&[
        row(1, "class", "Class ID", BYTE, "C.1.1.4").aside(),
        row(2, "max_downstream_rate_bps", "Maximum Downstream Rate", LONG, "C.1.1.4").unit("bit/s"),
        row(3, "max_upstream_rate_bps", "Maximum Upstream Rate", LONG, "C.1.1.4").unit("bit/s"),
        row(4, "upstream_priority", "Upstream Channel Priority", number(1, 0, 7), "C.1.1.4"),
        row(5, "min_upstream_rate_bps", "Guaranteed Minimum Upstream Channel Data Rate", LONG,
            "C.1.1.4").unit("bit/s"),
        row(6, "max_upstream_burst_bytes", "Maximum Upstream Channel Transmit Burst", SHORT,
            "C.1.1.4").aside().unit("B"),
        row(7, "privacy_enable", "Class-of-Service Privacy Enable", FLAG, "C.1.1.4").aside(),
    ]]), "C.1.1.4").most(16),
    row(CM_MIC, "cm_mic", "CM Message Integrity Check", Kind::Digest, "C.1.1.5").aside(),
    row(CMTS_MIC, "cmts_mic", "CMTS Message Integrity Check", Kind::Digest, "C.1.1.6").aside(),
    row(9, "software_upgrade_file", "SW Upgrade Filename", text(255), "C.1.2.3").aside(),
    row(11, "snmp_mib_objects", "SNMP MIB Object", OPAQUE, "C.1.2.5").aside().most(ANY),
    row(17, "baseline_privacy", "Baseline Privacy", OPAQUE, "C.3.1.1").aside(),
    row(18, "max_cpe", "Max Number of CPEs", BYTE, "C.1.1.7").aside(),
    row(19, "tftp_timestamp_s", "TFTP Server Timestamp", LONG, "C.1.1.8").aside().unit("s since 1900"),
    row(20, "tftp_modem_address", "TFTP Server Provisioned Modem IPv4 Address", IPV4, "C.1.1.9").aside(),
    row(21, "software_upgrade_server", "SW Upgrade IPv4 TFTP Server", IPV4, "C.1.2.7").aside(),
    row(22, "upstream_classifiers", "Upstream Packet Classification",
        nested(&[CLASSIFIER, CLASSIFIED_FLOW]), "C.2.1.1").most(255),
    row(23, "downstream_classifiers", "Downstream Packet Classification",
        nested(&[CLASSIFIER, CLASSIFIED_FLOW]), "C.2.1.3").most(255),
    row(24, "upstream_service_flows", "Upstream Service Flow",
        nested(&[COMMON_QOS, FLOW, UPSTREAM_FLOW]), "C.2.2.1").most(MOST_SERVICE_FLOWS),
    row(25, "downstream_service_flows", "Downstream Service Flow",
        nested(&[COMMON_QOS, FLOW, DOWNSTREAM_FLOW]), "C.2.2.2").most(MOST_SERVICE_FLOWS),
    row(28, "max_classifiers", "Maximum Number of Classifiers", SHORT, "C.1.1.16").aside(),
    row(29, "privacy_enable", "Privacy Enable", FLAG, "C.1.1.17").aside(),
    row(39, "docsis_2_mode", "Enable 2.0 Mode", FLAG, "C.1.1.20").aside(),
    row(43, "extensions", "DOCSIS Extension Field", OPAQUE, "C.1.1.18").aside().most(ANY),
    row(60, "upstream_drop_classifiers", "Upstream Drop Packet Classification",
        nested(&[CLASSIFIER]), "C.2.1.2").aside().most(255),
    row(64, "static_multicast", "CMTS Static Multicast Session Encoding", OPAQUE, "C.1.1.27").aside().most(ANY),
    row(68, "default_upstream_target_buffer_ms", "Default Upstream Target Buffer Configuration",
        SHORT, "C.1.2.17").unit("ms"),
    row(70, "upstream_aggregates", "Upstream Aggregate Service Flow",
        nested(&[COMMON_QOS, AGGREGATE]), "C.2.2.3").most(MOST_SERVICE_FLOWS),
    row(71, "downstream_aggregates", "Downstream Aggregate Service Flow",
        nested(&[COMMON_QOS, AGGREGATE]), "C.2.2.4").most(MOST_SERVICE_FLOWS),
    row(76, "upstream_aqm_disable", "CM Upstream AQM Disable", FLAG, "C.1.2.20"),
    row(91, "low_latency_disable", "Low Latency Disable", number(1, 0, 2), "C.1.1.32"),
    row(93, "upstream_hierarchical_aggregates", "Upstream Hierarchical QoS ASF", OPAQUE,
        "C.2.2").aside().most(ANY),
    row(94, "downstream_hierarchical_aggregates", "Downstream Hierarchical QoS ASF", OPAQUE,
        "C.2.2").aside().most(ANY),
]]);

/// Types in service flows and aggregates of both directions.
#[rustfmt::skip]
const COMMON_QOS: &[Row] = &[
    row(1, "reference", "Service Flow Reference", REFERENCE, "C.2.2.5.1").required(),
    row(2, "identifier", "Service Flow Identifier", IDENTIFIER, "C.2.2.5.2"),
    row(7, "traffic_priority", "Traffic Priority", number(1, 0, 7), "C.2.2.7.1"),
    row(8, "max_sustained_rate", "Maximum Sustained Traffic Rate", LONG, "C.2.2.7.2").unit(RATE),
    row(9, "max_burst_bytes", "Maximum Traffic Burst", number(4, 1522, u32::MAX), "C.2.2.7.3").unit("B"),
    row(10, "min_reserved_rate", "Minimum Reserved Traffic Rate", LONG, "C.2.2.7.4").unit(RATE),
    row(11, "min_reserved_packet_bytes", "Assumed Minimum Reserved Rate Packet Size", SHORT,
        "C.2.2.7.5").aside().unit("B"),
    row(27, "peak_rate", "Peak Traffic Rate", LONG, "C.2.2.7.10").unit(RATE),
    row(DATA_RATE_UNIT, "data_rate_unit", "Data Rate Unit Setting", Kind::Leaf(Leaf::Word(&[
        (0, "bps"), (1, "kbps"), (2, "mbps"), (3, "gbps"),
    ])), "C.2.2.7.16"),
];

/// Types in service flows of both directions.
#[rustfmt::skip]
const FLOW: &[Row] = &[
    row(4, "service_class", "Service Class Name", name(15), "C.2.2.5.4").aside(),
    row(6, "qos_set", "Quality of Service Parameter Set Type", number(1, 0, 7), "C.2.2.5.5").aside(),
    row(12, "active_timeout_s", "Timeout for Active QoS Parameters", SHORT, "C.2.2.7.6").aside().unit("s"),
    row(13, "admitted_timeout_s", "Timeout for Admitted QoS Parameters", SHORT,
        "C.2.2.7.7").aside().unit("s"),
    row(23, "tos_overwrite", "IP Type of Service (DSCP) Overwrite",
        octets(&["and_mask", "or_mask"]), "C.2.2.7.9").aside(),
    row(35, "buffer_control", "Buffer Control", nested(&[&[
        row(1, "minimum_bytes", "Minimum Buffer", LONG, "C.2.2.7.11").unit("B"),
        row(2, "target_bytes", "Target Buffer", LONG, "C.2.2.7.11.4").unit("B"),
        row(3, "maximum_bytes", "Maximum Buffer", LONG, "C.2.2.7.11").unit("B"),
    ]]), "C.2.2.7.11"),
    row(36, "aggregate_reference", "Aggregate Service Flow Reference", REFERENCE, "C.2.2.7"),
    row(39, "iatc_profile", "Service Flow to IATC Profile Name Reference", name(15), "C.2.2.7.14").aside(),
    row(40, "aqm", "AQM Encodings", nested(&[&[
        row(1, "disable", "SF AQM Disable", FLAG, "C.2.2.7.15.1"),
        row(2, "latency_target_ms", "Classic AQM Latency Target", number(1, 1, 255), "C.2.2.7.15.2").unit("ms"),
        row(3, "algorithm", "AQM Algorithm", Kind::Leaf(Leaf::Word(&[
            (0, "default"), (1, "docsis_pie"), (2, "immediate"),
        ])), "C.2.2.7.15.3"),
        row(4, "immediate_max_threshold_us", "Immediate AQM Max Threshold", SHORT,
            "C.2.2.7.15.4").unit("us"),
        row(5, "immediate_range_exponent", "Immediate AQM Range Exponent of Ramp Function",
            number(1, 0, 25), "C.2.2.7.15.5"),
        row(6, "latency_histogram", "Latency Histogram Encodings",
            Kind::Leaf(Leaf::Numbers { most: 15 }), "C.2.2.7.15.6").unit("0.01 ms"),
    ]]), "C.2.2.7.15"),
    row(47, "aggregate_identifier", "Aggregate Service Flow Identifier", OPAQUE, "C.2.2.7").aside(),
];

#[rustfmt::skip]
const UPSTREAM_FLOW: &[Row] = &[
    row(14, "max_concatenated_burst_bytes", "Maximum Concatenated Burst", SHORT,
        "C.2.2.8.1").aside().unit("B"),
    row(15, "scheduling", "Service Flow Scheduling Type", Kind::Leaf(Leaf::Word(&[
        (1, "undefined"), (2, "best_effort"), (3, "non_real_time_polling"),
        (4, "real_time_polling"), (5, "ugs_with_activity_detection"), (6, "ugs"),
        (7, "proactive_grants"),
    ])), "C.2.2.8.2"),
    row(16, "request_policy", "Request/Transmission Policy", hex(4, 4), "C.2.2.8.3"),
    row(17, "polling_interval_us", "Nominal Polling Interval", LONG, "C.2.2.8.4").unit("us"),
    row(18, "poll_jitter_us", "Tolerated Poll Jitter", LONG, "C.2.2.8.5").unit("us"),
    row(19, "grant_bytes", "Unsolicited Grant Size", SHORT, "C.2.2.8.6").unit("B"),
    row(20, "grant_interval_us", "Nominal Grant Interval", LONG, "C.2.2.8.7").unit("us"),
    row(21, "grant_jitter_us", "Tolerated Grant Jitter", LONG, "C.2.2.8.8").unit("us"),
    row(22, "grants_per_interval", "Grants per Interval", number(1, 0, 127), "C.2.2.8.9"),
    row(26, "request_multiplier", "Multiplier to Number of Bytes Requested", BYTE, "C.2.2.8").aside(),
    row(44, "guaranteed_grant_interval_us", "Guaranteed Grant Interval", SHORT,
        "C.2.2.8.14").unit("us"),
    row(45, "guaranteed_grant_rate", "Guaranteed Grant Rate", LONG, "C.2.2.8.13").unit(RATE),
    row(46, "guaranteed_request_interval_us", "Guaranteed Request Interval", SHORT,
        "C.2.2.8").unit("us"),
    row(48, "absolute_queue_depth_requests", "Absolute Queue Depth Request Enable", FLAG,
        "C.2.2.8").aside(),
    row(49, "activity_detection_disable", "PGS Activity Detection Disable", FLAG, "C.2.2.8"),
];

#[rustfmt::skip]
const DOWNSTREAM_FLOW: &[Row] = &[
    row(14, "max_latency_us", "Maximum Downstream Latency", LONG, "C.2.2.9.1").aside().unit("us"),
];

/// Types in aggregates of both directions.
#[rustfmt::skip]
const AGGREGATE: &[Row] = &[
    row(4, "profile", "AQP Name", name(15), "C.2.2.7").aside(),
    row(38, "match_criteria", "Service Flow to ASF Matching Criteria", OPAQUE, "C.2.2.7").aside(),
    row(42, "low_latency", "Low Latency ASF Encodings", nested(&[&[
        row(1, "reference", "Low Latency Service Flow Reference", REFERENCE, "C.2.2.7.17.1"),
        row(2, "identifier", "Low Latency Service Flow Identifier", IDENTIFIER, "C.2.2.7.17.2"),
        row(3, "classic_service_class", "Classic SF SCN", name(15), "C.2.2.7.17.3").aside(),
        row(4, "low_latency_service_class", "Low Latency SF SCN", name(15), "C.2.2.7.17.4").aside(),
        row(5, "coupling_factor_tenths", "AQM Coupling Factor", BYTE, "C.2.2.7.17.5").unit("0.1"),
        row(6, "scheduling_weight", "Scheduling Weight", number(1, 1, 255),
            "C.2.2.7.17.6").unit("1/256"),
        row(7, "queue_protection", "Queue Protection Enable", FLAG, "C.2.2.7.17.7"),
        row(8, "queue_protection_latency_us", "QPLatencyThreshold", SHORT,
            "C.2.2.7.17.8").unit("us"),
        row(9, "queue_protection_score_us", "QPQueuingScoreThreshold", SHORT,
            "C.2.2.7.17.9").unit("us"),
        row(10, "queue_protection_drain_exponent", "QPDrainRateExponent", BYTE, "C.2.2.7.17.10"),
    ]]), "C.2.2.7.17"),
];

/// Types in classifiers and drop classifiers.
#[rustfmt::skip]
const CLASSIFIER: &[Row] = &[
    row(1, "reference", "Classifier Reference", number(1, 1, 255), "C.2.1.4.1").required(),
    row(2, "identifier", "Classifier Identifier", REFERENCE, "C.2.1.4.2"),
    row(5, "priority", "Rule Priority", BYTE, "C.2.1.4.5"),
    row(9, "ipv4", "IPv4 Packet Classification", nested(&[&[
        row(1, "tos", "IPv4 Type of Service Range and Mask", TOS, "C.2.1.6.1"),
        row(2, "protocol", "IP Protocol", PROTOCOL, "C.2.1.6.2"),
        row(3, "source", "IPv4 Source Address", IPV4, "C.2.1.6.3"),
        row(4, "source_mask", "IPv4 Source Mask", IPV4, "C.2.1.6.4"),
        row(5, "destination", "IPv4 Destination Address", IPV4, "C.2.1.6.5"),
        row(6, "destination_mask", "IPv4 Destination Mask", IPV4, "C.2.1.6.6"),
        row(7, "source_port_start", "TCP/UDP Source Port Start", SHORT, "C.2.1.7.1"),
        row(8, "source_port_end", "TCP/UDP Source Port End", SHORT, "C.2.1.7.2"),
        row(9, "destination_port_start", "TCP/UDP Destination Port Start", SHORT, "C.2.1.7.3"),
        row(10, "destination_port_end", "TCP/UDP Destination Port End", SHORT, "C.2.1.7.4"),
    ]]), "C.2.1.6"),
    row(10, "ethernet", "Ethernet LLC Packet Classification", nested(&[&[
        row(1, "destination", "Destination MAC Address and Mask", hex(12, 12), "C.2.1.8.1"),
        row(2, "source", "Source MAC Address", hex(6, 6), "C.2.1.8.2"),
        row(3, "ethertype", "Ethertype/DSAP/MacType", hex(3, 3), "C.2.1.8.3"),
    ]]), "C.2.1.8"),
    row(11, "vlan", "IEEE 802.1P/Q Packet Classification", nested(&[&[
        row(1, "user_priority", "IEEE 802.1P User Priority", octets(&["low", "high"]),
            "C.2.1.9.1"),
        row(2, "identifier", "IEEE 802.1Q VLAN_ID", hex(2, 2), "C.2.1.9.2"),
    ]]), "C.2.1.9"),
    row(12, "ipv6", "IPv6 Packet Classification", nested(&[&[
        row(1, "traffic_class", "IPv6 Traffic Class Range and Mask", TOS, "C.2.1.10.1"),
        row(2, "flow_label", "IPv6 Flow Label", number(4, 0, 0xf_ffff), "C.2.1.10.2"),
        row(3, "next_header", "IPv6 Next Header Type", PROTOCOL, "C.2.1.10.3"),
        row(4, "source", "IPv6 Source Address", IPV6, "C.2.1.10.4"),
        row(5, "source_prefix_bits", "IPv6 Source Prefix Length", PREFIX, "C.2.1.10.5").unit("bit"),
        row(6, "destination", "IPv6 Destination Address", IPV6, "C.2.1.10.6"),
        row(7, "destination_prefix_bits", "IPv6 Destination Prefix Length", PREFIX,
            "C.2.1.10.7").unit("bit"),
    ]]), "C.2.1.10"),
];

/// Types in classifiers that select a service flow.
#[rustfmt::skip]
const CLASSIFIED_FLOW: &[Row] = &[
    row(3, "flow_reference", "Service Flow Reference", REFERENCE, "C.2.1.4.3"),
    row(4, "flow_identifier", "Service Flow Identifier", IDENTIFIER, "C.2.1.4.4"),
    row(6, "active", "Classifier Activation State", FLAG, "C.2.1.4.6"),
];

const TOS: Kind = octets(&["low", "high", "mask"]);
/// 256 matches any protocol, 257 both TCP and UDP.
const PROTOCOL: Kind = number(2, 0, 257);
const PREFIX: Kind = number(1, 0, 128);

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

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
