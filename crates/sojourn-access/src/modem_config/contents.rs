//! What types hold that nothing simulated reads: names and values for display. In TOML and in the typed view they
//! stay bytes, so a value that does not fit here is shown as bytes too and is no problem of the file.
//!
//! Names are those of CableLabs' Assigned Names and Numbers (CL-SP-CANN-I22-230308, section 11.1) where it has the type,
//! with abbreviations written out. Lengths, and names below types 41, 56, 64, 65, 69, 73, 74, 79, 93 and 94, are those of
//! the symbol table of the `docsis` encoder (commit 94e8845), which has them from MULPIv3.0-I24, MULPIv3.1-I25 and
//! L2VPN-I13. Type 67, which the assigned numbers call as 61, has its name from CCAP-OSSI. The settings of type 17 are
//! those of DOCSIS 1.1 (BPI+ Appendix A.1.1), and SNMP objects are variables in BER (RFC 3416 section 3).

use serde_json::{Value, json};

use super::leaf::{Leaf, hex};
use super::tlvs::ANY;

/// A type that is shown with its contents.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    number: u8,
    name: &'static str,
    shape: Shape,
}

/// What such a type holds.
#[derive(Clone, Copy)]
enum Shape {
    Bytes,
    Leaf(Leaf, &'static str),
    /// A number of as many bytes as it has, up to 8.
    Number,
    /// An object identifier in BER.
    Object,
    /// An SNMP object and its value in BER.
    Variable,
    /// An object identifier in BER and a byte: 0 for writing allowed, 1 for not.
    WriteAccess,
    /// An IP address, and perhaps a port.
    Endpoint,
    Nested(&'static [Shown]),
    /// TLVs of types 1, 2 and so on with these names, which hold numbers.
    Listed(&'static [&'static str]),
    /// A vendor's fields, or those of all vendors.
    Extension,
}

const fn shown(number: u8, name: &'static str, shape: Shape) -> Shown {
    Shown { number, name, shape }
}

const fn number(bytes: usize, unit: &'static str) -> Shape {
    Shape::Leaf(Leaf::Number { bytes, min: 0, max: u32::MAX }, unit)
}

const fn of_leaf(leaf: Leaf) -> Shape {
    Shape::Leaf(leaf, "")
}

const TEXT: Shape = of_leaf(Leaf::Text { max: 254, zero: false });
const NAME: Shape = of_leaf(Leaf::Text { max: 254, zero: true });
const FLAG: Shape = of_leaf(Leaf::Flag);
const BYTE: Shape = number(1, "");
const IPV6: Shape = of_leaf(Leaf::Ipv6);
const VIEW: Shape = of_leaf(Leaf::Word(&[(1, "included"), (2, "excluded")]));
const ACCESS: Shape = of_leaf(Leaf::Word(&[(1, "read only"), (2, "read and write")]));

/// The name is in the table of types.
const OF_TABLE: &str = "";

/// Types at the top level of a file.
pub(super) const TOP: &[Shown] = &[
    shown(5, "Modem Capabilities Encoding", Shape::Listed(CAPABILITIES)),
    shown(8, "Vendor ID Encoding", Shape::Bytes),
    shown(10, "SNMP Write Access Control", Shape::WriteAccess),
    shown(11, OF_TABLE, Shape::Variable),
    shown(12, "Modem IP Address", of_leaf(Leaf::Ipv4)),
    shown(13, "Service(s) Not Available Response", Shape::Bytes),
    shown(14, "CPE Ethernet MAC Address", Shape::Bytes),
    shown(15, "Telephone Settings Option", Shape::Bytes),
    shown(17, OF_TABLE, Shape::Nested(PRIVACY)),
    shown(22, OF_TABLE, Shape::Nested(CLASSIFIER)),
    shown(23, OF_TABLE, Shape::Nested(CLASSIFIER)),
    shown(24, OF_TABLE, Shape::Nested(UPSTREAM_FLOW)),
    shown(25, OF_TABLE, Shape::Nested(DOWNSTREAM_FLOW)),
    shown(26, "Payload Header Suppression", Shape::Nested(SUPPRESSION)),
    shown(27, "HMAC-Digest", Shape::Bytes),
    shown(30, "Authorization Block", Shape::Bytes),
    shown(31, "Key Sequence Number", Shape::Bytes),
    shown(32, "Manufacturer Code Verification Certificate", Shape::Bytes),
    shown(33, "Co-signer Code Verification Certificate", Shape::Bytes),
    shown(34, "SNMPv3 Kickstart Value", Shape::Nested(KICKSTART)),
    shown(35, "Subscriber Management Control", Shape::Bytes),
    shown(36, "Subscriber Management CPE IPv4 List", Shape::Bytes),
    shown(37, "Subscriber Management Filter Groups", of_leaf(Leaf::Numbers { most: ANY / 2 })),
    shown(38, "SNMPv3 Notification Receiver", Shape::Nested(RECEIVER)),
    shown(40, "Enable Test Modes", FLAG),
    shown(41, "Downstream Channel List", Shape::Nested(CHANNEL_LIST)),
    shown(42, "Static Multicast MAC Address", Shape::Bytes),
    shown(43, OF_TABLE, Shape::Extension),
    shown(44, "Vendor Specific Capabilities", Shape::Bytes),
    shown(45, "Downstream Unencrypted Traffic (DUT) Filtering", Shape::Bytes),
    shown(46, "Transmit Channel Configuration (TCC)", Shape::Bytes),
    shown(47, "Service Flow SID Cluster Assignment", Shape::Bytes),
    shown(48, "Receive Channel Profile", Shape::Bytes),
    shown(49, "Receive Channel Configuration", Shape::Bytes),
    shown(50, "DSID Encodings", Shape::Bytes),
    shown(51, "Security Association Encoding", Shape::Bytes),
    shown(52, "Initializing Channel Timeout", Shape::Bytes),
    shown(53, "SNMPv1v2c Coexistence Configuration", Shape::Nested(COEXISTENCE)),
    shown(54, "SNMPv3 Access View Configuration", Shape::Nested(ACCESS_VIEW)),
    shown(55, "SNMP CPE Access Control", FLAG),
    shown(56, "Channel Assignment Configuration Settings", Shape::Nested(ASSIGNMENT)),
    shown(57, "CM Initialization Reason", Shape::Bytes),
    shown(58, "SW Upgrade IPv6 TFTP Server", IPV6),
    shown(59, "TFTP Server Provisioned Modem IPv6 Address", IPV6),
    shown(60, OF_TABLE, Shape::Nested(CLASSIFIER)),
    shown(61, "Subscriber Management CPE IPv6 Prefix List", Shape::Bytes),
    shown(62, "Upstream Drop Classifier Group ID", Shape::Bytes),
    shown(63, "Subscriber Management Control Max CPE IPv6 Prefix", number(2, "")),
    shown(64, OF_TABLE, Shape::Nested(MULTICAST)),
    shown(65, "L2VPN MAC Aging Encoding", Shape::Nested(&[shown(1, "L2VPN MAC Aging Mode", BYTE)])),
    shown(66, "Management Event Control Encoding", number(4, "")),
    shown(67, "Subscriber Management CPE IPv6 List", Shape::Bytes),
    shown(69, "MAC Address Learning Control Encoding", Shape::Nested(LEARNING)),
    shown(70, OF_TABLE, Shape::Nested(AGGREGATE)),
    shown(71, OF_TABLE, Shape::Nested(AGGREGATE)),
    shown(72, "Metro Ethernet Service Profile", Shape::Nested(METRO_ETHERNET)),
    shown(73, "Network Timing Profile", Shape::Nested(TIMING)),
    shown(74, "Energy Management Parameter Encoding", Shape::Nested(ENERGY)),
    shown(75, "Energy Management Mode Indicator", BYTE),
    shown(77, "DOCSIS Time Protocol Encoding", Shape::Bytes),
    shown(78, "Energy Management Identifier List for CM", Shape::Bytes),
    shown(79, "UNI Control Encoding", Shape::Nested(UNI)),
    shown(80, "Energy Management - DOCSIS Light Sleep Encodings", Shape::Bytes),
    shown(81, "Manufacturer CVC Chain", Shape::Bytes),
    shown(82, "Co-signer CVC Chain", Shape::Bytes),
    // The assigned numbers have two names for this type.
    shown(83, "DTP Mode Configuration, L2CP Management", Shape::Bytes),
    shown(84, "Diplexer Band Edge", Shape::Nested(DIPLEXER)),
    shown(85, "FDX Transmission Group Assignment", Shape::Bytes),
    shown(86, "FDX Reset", Shape::Bytes),
    shown(87, "CM Echo Cancellation Training Control", Shape::Bytes),
    shown(88, "QoS Framework for DOCSIS Encodings", Shape::Bytes),
    shown(89, "Extended SID Cluster Assignment", Shape::Bytes),
    shown(90, "Primary Service Flow Indicator", Shape::Bytes),
    shown(92, "Distributed HQoS Enable", Shape::Bytes),
    shown(93, OF_TABLE, Shape::Nested(HIERARCHICAL)),
    shown(94, OF_TABLE, Shape::Nested(HIERARCHICAL)),
    shown(95, "DHQoS ASF SID Bundle Assignment", Shape::Bytes),
    shown(96, "Advanced Diplexer Band Edge", Shape::Bytes),
    shown(97, "Advanced Band Plan Support", Shape::Bytes),
    shown(98, "DOCSIS Sync Capabilities", Shape::Bytes),
    shown(99, "DOCSIS CM System Information", Shape::Bytes),
    shown(100, "Sync DSID Assignment", Shape::Bytes),
    shown(101, "DOCSIS Sync Configurations", Shape::Bytes),
    shown(102, "PTP Address Configurations", Shape::Bytes),
    shown(103, "CM SSH Server Configuration Settings", Shape::Bytes),
    shown(104, "Security Configuration Settings", Shape::Bytes),
    shown(201, "ePS", Shape::Bytes),
    shown(202, "eRouter", Shape::Nested(ROUTER)),
    shown(216, "eMTA", Shape::Bytes),
    shown(217, "eSTB", Shape::Bytes),
    shown(219, "eTEA", Shape::Bytes),
    shown(220, "eDVA", Shape::Bytes),
    shown(221, "eSG", Shape::Bytes),
];

/// Types 5.1 to 5.62.
const CAPABILITIES: &[&str] = &[
    "Concatenation Support",
    "DOCSIS Version",
    "Fragmentation Support",
    "Payload Header Suppression Support",
    "IGMP Support",
    "Privacy Support",
    "Downstream SAID Support",
    "Upstream Service Flow Support",
    "Optional Filtering Support",
    "Transmit Pre-Equalizer Taps",
    "Number of Transmit Pre-Equalizer Taps",
    "DCC Support",
    "IP Filters Support",
    "LLC Filters Support",
    "Expanded Unicast SID Space",
    "Ranging Hold-off Support",
    "L2VPN Capability",
    "L2VPN eSAFE Host Capability",
    "Downstream Unencrypted Traffic (DUT) Filtering",
    "Upstream Frequency Range Support",
    "Upstream SC-QAM Symbol Rate Support",
    "Selectable Active Code Mode 2 Support",
    "Code Hopping Mode 2 Support",
    "Multiple Transmit SC-QAM Channel Support",
    "5.12 Msps Upstream Transmit SC-QAM Channel Support",
    "2.56 Msps Upstream Transmit SC-QAM Channel Support",
    "Total SID Cluster Support",
    "SID Clusters per Service Flow Support",
    "Multiple Receive SC-QAM Channel Support",
    "Total Downstream Service ID (DSID) Support",
    "Resequencing Downstream Service ID (DSID) Support",
    "Multicast Downstream Service ID (DSID) Support",
    "Multicast DSID Forwarding",
    "Frame Control Type Forwarding Capability",
    "DPV Capability",
    "Unsolicited Grant Service/Upstream Service Flow Support",
    "MAP and UCD Receipt Support",
    "Upstream Drop Classifier Support",
    "IPv6 Support",
    "Extended Upstream Transmit Power Capability",
    "Optional 802.1ad, 802.1ah, MPLS Classification Support",
    "D-ONU Capabilities",
    "Reserved",
    "Energy Management Capabilities",
    "C-DOCSIS Capability Encoding",
    "CM-STATUS-ACK",
    "Energy Management Preferences",
    "Extended Packet Length Support Capability",
    "Multiple Receive OFDM Channel Support",
    "Multiple Transmit OFDMA Channel Support",
    "Downstream OFDM Profile Support",
    "Downstream OFDM Channel Subcarrier QAM Modulation Support",
    "Upstream OFDMA Channel Subcarrier QAM Modulation Support",
    "Downstream Lower Band Edge Configuration",
    "Downstream Upper Band Edge Configuration",
    "Diplexer Upstream Upper Band Edge Configuration",
    "DOCSIS Time Protocol Mode",
    "DOCSIS Time Protocol Performance Support",
    "Pmax",
    "Diplexer Downstream Lower Band Edge Options",
    "Diplexer Downstream Upper Band Edge Options",
    "Diplexer Upstream Upper Band Edge Options",
];

/// Types 22, 23 and 60, and those below them.
const CLASSIFIER: &[Shown] = &[
    shown(7, "Dynamic Service Change Action", BYTE),
    shown(8, "Classifier Error Encodings", Shape::Bytes),
    shown(13, "CM Interface Mask (CMIM) Encoding", Shape::Bytes),
    shown(14, "IEEE 802.1ad S-VLAN Packet Classification Encodings", Shape::Listed(SERVICE_TAGS)),
    shown(15, "IEEE 802.1ah I-TAG Packet Classification Encodings", Shape::Listed(INSTANCE_TAGS)),
    shown(16, "ICMPv4/ICMPv6 Packet Classification Encodings", Shape::Listed(ICMP)),
    shown(17, "MPLS Classification Encodings", Shape::Listed(&["MPLS TC bits", "MPLS Label"])),
    shown(43, "Vendor-specific Classifier Parameters", Shape::Extension),
];
const ICMP: &[&str] = &["ICMPv4/ICMPv6 Type Start", "ICMPv4/ICMPv6 Type End"];
const SERVICE_TAGS: &[&str] =
    &["S-TPID", "S-VID", "S-PCP", "S-DEI", "C-TPID", "C-VID", "C-PCP", "C-CFI", "S-TCI", "C-TCI"];
const INSTANCE_TAGS: &[&str] = &[
    "I-TPID", "I-SID", "I-TCI", "I-PCP", "I-DEI", "I-UCA", "B-TPID", "B-TCI", "B-PCP", "B-DEI",
    "B-VID", "B-DA", "B-SA",
];

/// A type of service flows in both directions.
macro_rules! flow {
    ($($row:expr),*) => { &[
        shown(3, "Service Identifier", number(2, "")),
        shown(5, "Service Flow Error Encoding", Shape::Bytes),
        shown(31, "Service Flow Required Attribute Mask", Shape::Bytes),
        shown(32, "Service Flow Forbidden Attribute Mask", Shape::Bytes),
        shown(33, "Service Flow Attribute Aggregation Rule Mask", Shape::Bytes),
        shown(37, MESP_REFERENCE, number(2, "")),
        shown(38, "Serving Group Name", NAME),
        shown(43, "Vendor Specific QoS Parameters", Shape::Extension),
        $($row),*
    ] };
}
const UPSTREAM_FLOW: &[Shown] = flow!(
    shown(24, "Unsolicited Grant Time Reference", number(4, "")),
    shown(25, "Multiplier to Contention Request Backoff Window", BYTE)
);
const DOWNSTREAM_FLOW: &[Shown] = flow!(shown(17, "Downstream Resequencing", BYTE));
const MESP_REFERENCE: &str = "Metro Ethernet Service Profile (MESP) Reference";

/// Types 70 and 71, and those below them.
const AGGREGATE: &[Shown] = &[
    shown(36, "Aggregate Service Flow Reference", number(2, "")),
    shown(37, MESP_REFERENCE, number(2, "")),
    shown(43, "Vendor Specific QoS Parameters", Shape::Extension),
];
const HIERARCHICAL: &[Shown] = &[
    shown(1, "Service Flow Reference", number(2, "")),
    shown(7, "Traffic Priority", BYTE),
    shown(8, "Maximum Sustained Traffic Rate", number(4, "")),
    shown(9, "Maximum Traffic Burst", number(4, "B")),
    shown(10, "Minimum Reserved Traffic Rate", number(4, "")),
    shown(11, "Assumed Minimum Reserved Rate Packet Size", number(2, "B")),
    shown(47, "Enhanced HQoS Intra-ASF Scheduling Encoding", Shape::Nested(CONSTITUENT)),
];
const CONSTITUENT: &[Shown] = &[
    shown(1, "Constituent Service Flow Reference", number(2, "")),
    shown(3, "Constituent Service Flow SCN", NAME),
    shown(4, "Constituent Service Flow Priority", BYTE),
    shown(5, "Constituent Service Flow Weight", BYTE),
];

const SUPPRESSION: &[Shown] = &[
    shown(1, "Classifier Reference", BYTE),
    shown(2, "Classifier Identifier", number(2, "")),
    shown(3, "Service Flow Reference", number(2, "")),
    shown(4, "Service Flow Identifier", number(4, "")),
    shown(5, "Dynamic Service Change Action", BYTE),
    shown(6, "Payload Header Suppression Error Encodings", Shape::Bytes),
    shown(7, "Payload Header Suppression Field (PHSF)", Shape::Bytes),
    shown(8, "Payload Header Suppression Index (PHSI)", BYTE),
    shown(9, "Payload Header Suppression Mask (PHSM)", Shape::Bytes),
    shown(10, "Payload Header Suppression Size (PHSS)", number(1, "B")),
    shown(11, "Payload Header Suppression Verification (PHSV)", BYTE),
    shown(13, "Dynamic Bonding Change Action", BYTE),
    shown(43, "Vendor Specific PHS Parameters", Shape::Extension),
];

const CHANNEL_LIST: &[Shown] = &[
    shown(1, "Single Downstream Channel", Shape::Nested(SINGLE_CHANNEL)),
    shown(2, "Downstream Frequency Range", Shape::Nested(CHANNEL_RANGE)),
    shown(3, "Default Scanning Timeout", number(2, "")),
];
const SINGLE_CHANNEL: &[Shown] = &[
    shown(1, "Single Downstream Channel Timeout", number(2, "")),
    shown(2, "Single Downstream Channel Frequency", number(4, "Hz")),
];
const CHANNEL_RANGE: &[Shown] = &[
    shown(1, "Downstream Frequency Range Timeout", number(2, "")),
    shown(2, "Downstream Frequency Range Start", number(4, "Hz")),
    shown(3, "Downstream Frequency Range End", number(4, "Hz")),
    shown(4, "Downstream Frequency Range Step Size", number(4, "Hz")),
];

const ASSIGNMENT: &[Shown] = &[
    shown(1, "Transmit Channel Assignment", BYTE),
    shown(2, "Receive Channel Assignment", number(4, "Hz")),
];

const MULTICAST: &[Shown] = &[
    shown(1, "Static Multicast Group", Shape::Endpoint),
    shown(2, "Static Multicast Source", Shape::Endpoint),
    shown(3, "Static Multicast CMIM", Shape::Bytes),
];

const LEARNING: &[Shown] = &[
    shown(1, "MAC Address Learning Control", BYTE),
    shown(2, "MAC Address Learning Holdoff Timer", BYTE),
];

const METRO_ETHERNET: &[Shown] = &[
    shown(1, "MESP Reference", BYTE),
    shown(2, "MESP Bandwidth Profile (MESP-BP)", Shape::Nested(BANDWIDTH_PROFILE)),
    shown(3, "MESP Name", NAME),
];
const BANDWIDTH_PROFILE: &[Shown] = &[
    shown(1, "MESP-BP Committed Information Rate", number(4, "")),
    shown(2, "MESP-BP Committed Burst Size", number(4, "")),
    shown(3, "MESP-BP Excess Information Rate", number(4, "")),
    shown(4, "MESP-BP Excess Burst Size", number(4, "")),
    shown(5, "MESP-BP Coupling Flag", BYTE),
    shown(6, "MESP-BP Color Mode", Shape::Listed(COLOR_MODE)),
    shown(7, "MESP-BP Color Marking", Shape::Listed(COLOR_MARKING)),
];
const COLOR_MODE: &[&str] =
    &["MESP-BP-CM Color Identification Field", "MESP-BP-CM Color Identification Field Value"];
const COLOR_MARKING: &[&str] =
    &["MESP-BP-CR Color Marking Field", "MESP-BP-CR Color Marking Field Value"];

const TIMING: &[Shown] = &[
    shown(1, "Network Timing Profile Reference", number(2, "")),
    shown(2, "Network Timing Profile Name", NAME),
];

const ENERGY: &[Shown] = &[
    shown(1, "Energy Management Feature Control", number(4, "")),
    shown(2, "Energy Management 1x1 Mode", Shape::Nested(ENERGY_MODE)),
    shown(3, "Energy Management Cycle Period", number(2, "")),
    shown(4, "Energy Management DOCSIS Light Sleep Mode", Shape::Nested(ENERGY_MODE)),
];
const ENERGY_MODE: &[Shown] = &[
    shown(1, "Downstream Activity Detection Parameters", Shape::Listed(ACTIVITY)),
    shown(2, "Upstream Activity Detection Parameters", Shape::Listed(ACTIVITY)),
];
const ACTIVITY: &[&str] = &[
    "Entry Bitrate Threshold",
    "Entry Time Threshold",
    "Exit Bitrate Threshold",
    "Exit Time Threshold",
];

const UNI: &[Shown] = &[
    shown(1, "Context CMIM", Shape::Bytes),
    shown(2, "UNI Admin Status", BYTE),
    shown(3, "UNI Auto-Negotiation Status", BYTE),
    shown(4, "UNI Operating Speed", BYTE),
    shown(5, "UNI Duplex", BYTE),
    shown(6, "EEE Status", BYTE),
    shown(7, "Maximum Frame Size", number(2, "B")),
    shown(8, "Power over Ethernet Status", BYTE),
    shown(9, "Media Type", BYTE),
];

const DIPLEXER: &[Shown] = &[
    shown(1, "Diplexer Upstream Upper Band Edge", BYTE),
    shown(2, "Diplexer Downstream Lower Band Edge", BYTE),
    shown(3, "Diplexer Downstream Upper Band Edge", BYTE),
];

const ROUTER: &[Shown] = &[
    shown(1, "Initialization Mode", number(1, "")),
    shown(2, "TR-069 Management Server", Shape::Nested(MANAGEMENT)),
    shown(3, "Initialization Mode Override", FLAG),
    shown(10, "Router Advertisement Transmission Interval", number(2, "s")),
    shown(11, "SNMP MIB Object", Shape::Variable),
    shown(42, "Topology Mode", number(1, "")),
    shown(43, "Vendor Specific Information", Shape::Extension),
    shown(53, "SNMPv1v2c Coexistence Configuration", Shape::Nested(COEXISTENCE)),
    shown(54, "SNMPv3 Access View Configuration", Shape::Nested(ACCESS_VIEW)),
];

const MANAGEMENT: &[Shown] = &[
    shown(1, "Enable CWMP", FLAG),
    shown(2, "URL", TEXT),
    shown(3, "Username", TEXT),
    shown(4, "Password", TEXT),
    shown(5, "Connection Request Username", TEXT),
    shown(6, "Connection Request Password", TEXT),
    shown(7, "ACS Override", FLAG),
];

const PRIVACY: &[Shown] = &[
    shown(1, "Authorize Wait Timeout", number(4, "s")),
    shown(2, "Reauthorize Wait Timeout", number(4, "s")),
    shown(3, "Authorization Grace Time", number(4, "s")),
    shown(4, "Operational Wait Timeout", number(4, "s")),
    shown(5, "Rekey Wait Timeout", number(4, "s")),
    shown(6, "TEK Grace Time", number(4, "s")),
    shown(7, "Authorize Reject Wait Timeout", number(4, "s")),
    shown(8, "SA Map Wait Timeout", number(4, "s")),
    shown(9, "SA Map Max Retries", number(4, "")),
];

const KICKSTART: &[Shown] =
    &[shown(1, "Security Name", TEXT), shown(2, "Manager's Public Number", Shape::Bytes)];

const RECEIVER: &[Shown] = &[
    shown(1, "IPv4 Address", of_leaf(Leaf::Ipv4)),
    shown(2, "UDP Port Number", number(2, "")),
    shown(3, "Trap Type", number(2, "")),
    shown(4, "Timeout", number(2, "ms")),
    shown(5, "Retries", number(2, "")),
    shown(6, "Filtering Parameters", Shape::Object),
    shown(7, "Security Name", TEXT),
    shown(8, "IPv6 Address", IPV6),
];

const COEXISTENCE: &[Shown] = &[
    shown(1, "Community Name", TEXT),
    shown(2, "Transport Address Access", Shape::Nested(TRANSPORT)),
    shown(3, "Access View Type", ACCESS),
    shown(4, "Access View Name", TEXT),
];

const TRANSPORT: &[Shown] = &[
    shown(1, "Transport Address", Shape::Endpoint),
    shown(2, "Transport Address Mask", Shape::Endpoint),
];

const ACCESS_VIEW: &[Shown] = &[
    shown(1, "Name", TEXT),
    shown(2, "Subtree", Shape::Object),
    shown(3, "Mask", Shape::Bytes),
    shown(4, "Type", VIEW),
];

/// The type that names the vendor of an extension field.
const VENDOR: u8 = 8;
/// The vendor of the fields that all have in common (CM-SP-MULPI C.1.1.18).
const ALL_VENDORS: &[u8] = &[0xff, 0xff, 0xff];
const OF_A_VENDOR: &[Shown] = &[shown(VENDOR, "Vendor ID", Shape::Bytes)];
const OF_ALL_VENDORS: &[Shown] = &[
    shown(1, "CM Load Balancing Policy ID", number(4, "")),
    shown(2, "CM Load Balancing Priority", number(4, "")),
    shown(3, "CM Load Balancing Group ID", number(4, "")),
    shown(4, "CM Ranging Class ID Extension", Shape::Bytes),
    shown(5, "L2VPN Encoding", Shape::Bytes),
    shown(6, "Extended CMTS MIC Configuration Setting", Shape::Bytes),
    shown(7, "Source Address Verification Authorization", Shape::Bytes),
    shown(VENDOR, "Vendor ID", Shape::Bytes),
    shown(9, "Cable Modem Attribute Masks", Shape::Bytes),
    shown(10, "IP Multicast Join Authorization", Shape::Bytes),
    shown(11, "Service Type Identifier", NAME),
    shown(12, "DEMARC Auto-Configuration", Shape::Bytes),
];

/// What is known of a type among these.
pub(super) fn numbered(rows: &'static [Shown], number: u8) -> Option<&'static Shown> {
    rows.iter().find(|row| row.number == number)
}

impl Shown {
    /// The types in this one.
    pub(super) fn rows(&self) -> &'static [Shown] {
        match self.shape {
            Shape::Nested(rows) => rows,
            _ => &[],
        }
    }

    /// Puts name and contents of a TLV into its node, where they can be read: its value, or the TLVs in it.
    /// `path` is its type, and its value begins at `offset`.
    pub(super) fn fill(&self, node: &mut Value, bytes: &[u8], path: &str, offset: usize) {
        if self.name != OF_TABLE {
            node["name"] = self.name.into();
        }
        let of = |rows: &'static [Shown]| {
            children(bytes, |number| numbered(rows, number).copied(), path, offset)
        };
        let children = match self.shape {
            Shape::Bytes => return,
            Shape::Nested(rows) => of(rows),
            Shape::Listed(names) => {
                let name = |number: u8| names.get(usize::from(number).checked_sub(1)?);
                let known = |number| name(number).map(|name| shown(number, name, Shape::Number));
                children(bytes, known, path, offset)
            }
            Shape::Extension if vendor(bytes) == Some(ALL_VENDORS) => of(OF_ALL_VENDORS),
            Shape::Extension => of(OF_A_VENDOR),
            _ => {
                if let Some(value) = self.value(bytes) {
                    node["value"] = value;
                    if let Shape::Leaf(_, unit) = self.shape
                        && !unit.is_empty()
                    {
                        node["unit"] = unit.into();
                    }
                }
                return;
            }
        };
        if let Some(children) = children
            && let Some(node) = node.as_object_mut()
        {
            node.remove("value");
            node.insert("children".to_owned(), children.into());
        }
    }

    fn value(&self, bytes: &[u8]) -> Option<Value> {
        match self.shape {
            Shape::Leaf(leaf, _) => leaf.read(bytes).ok().or_else(|| leaf.read_kindly(bytes)),
            Shape::Number => Some(unsigned(bytes)?.into()),
            Shape::Object => Some(object(whole(bytes, OBJECT)?)?.into()),
            Shape::Variable => Some(variable(bytes)?.into()),
            Shape::WriteAccess => {
                let (access, object_bytes) = bytes.split_last()?;
                let access = ["allowed", "not allowed"].get(usize::from(*access))?;
                Some(format!("{} {access}", object(whole(object_bytes, OBJECT)?)?).into())
            }
            Shape::Endpoint => Some(endpoint(bytes)?.into()),
            Shape::Bytes | Shape::Nested(_) | Shape::Listed(_) | Shape::Extension => None,
        }
    }
}

/// The TLVs in a value as plain data, if they fill it.
fn children(
    bytes: &[u8],
    known: impl Fn(u8) -> Option<Shown>,
    path: &str,
    offset: usize,
) -> Option<Vec<Value>> {
    let mut nodes = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let (number, length) = (bytes[at], usize::from(*bytes.get(at + 1)?));
        let value = bytes.get(at + 2..at + 2 + length)?;
        let kind = format!("{path}.{number}");
        let mut node = json!({ "type": kind, "offset": offset + at, "value": hex(value) });
        if let Some(row) = known(number) {
            row.fill(&mut node, value, &kind, offset + at + 2);
        }
        nodes.push(node);
        at += 2 + length;
    }
    (!nodes.is_empty()).then_some(nodes)
}

/// The vendor of an extension field, whose first TLV it is (CM-SP-MULPI C.1.1.18).
fn vendor(bytes: &[u8]) -> Option<&[u8]> {
    match bytes {
        [VENDOR, 3, rest @ ..] => rest.get(..3),
        _ => None,
    }
}

/// An address of either version, and its port if there is one (CM-SP-MULPI C.1.2.13.2).
fn endpoint(bytes: &[u8]) -> Option<String> {
    let (address, port) = match bytes.len() {
        4 | 16 => (bytes, None),
        6 | 18 => bytes
            .split_last_chunk()
            .map(|(address, port)| (address, Some(u16::from_be_bytes(*port))))?,
        _ => return None,
    };
    let leaf = if address.len() == 4 { Leaf::Ipv4 } else { Leaf::Ipv6 };
    let text = leaf.read(address).ok()?.as_str()?.to_owned();
    Some(port.map_or_else(|| text.clone(), |port| format!("{text} port {port}")))
}

const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const NULL: u8 = 0x05;
const OBJECT: u8 = 0x06;
const SEQUENCE: u8 = 0x30;

/// `OBJECT = TYPE VALUE` of a variable in BER.
fn variable(bytes: &[u8]) -> Option<String> {
    let (name, value) = element(whole(bytes, SEQUENCE)?)
        .filter(|(kind, ..)| *kind == OBJECT)
        .map(|(_, name, rest)| (name, rest))?;
    let (kind, content, rest) = element(value)?;
    if !rest.is_empty() {
        return None;
    }
    Some(format!("{} = {}", object(name)?, typed(kind, content)?))
}

/// A value in BER with its type (RFC 2578 section 7.1).
fn typed(kind: u8, bytes: &[u8]) -> Option<String> {
    Some(match kind {
        INTEGER => format!("integer {}", signed(bytes)?),
        OCTETS => match std::str::from_utf8(bytes).ok().filter(|text| is_printable(text)) {
            Some(text) => format!("string \"{text}\""),
            None => format!("bytes {}", hex(bytes)),
        },
        NULL => "null".to_owned(),
        OBJECT => format!("object {}", object(bytes)?),
        0x40 => format!("address {}", Leaf::Ipv4.read(bytes).ok()?.as_str()?),
        0x41 => format!("counter {}", unsigned(bytes)?),
        0x42 => format!("gauge {}", unsigned(bytes)?),
        0x43 => format!("{} hundredths of a second", unsigned(bytes)?),
        0x46 => format!("counter {}", unsigned(bytes)?),
        _ => return None,
    })
}

fn is_printable(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// The content of an element of this type that fills the bytes.
fn whole(bytes: &[u8], kind: u8) -> Option<&[u8]> {
    element(bytes)
        .filter(|(found, _, rest)| *found == kind && rest.is_empty())
        .map(|(_, content, _)| content)
}

/// Type and content of the first element in BER, and what follows it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (kind, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(*first), rest),
        // A long length has the number of its bytes first.
        0x81..=0x84 => {
            let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (usize::try_from(unsigned(length)?).ok()?, rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*kind, content, rest))
}

/// An object identifier: the first number holds two arcs, the others one each, 7 bits a byte.
fn object(bytes: &[u8]) -> Option<String> {
    let mut arcs: Vec<u64> = Vec::new();
    let mut arc = 0_u64;
    for (index, byte) in bytes.iter().enumerate() {
        arc = arc.checked_mul(128)? | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            if arcs.is_empty() {
                let first = (arc / 40).min(2);
                arcs.push(first);
                arc -= 40 * first;
            }
            arcs.push(arc);
            arc = 0;
        } else if index + 1 == bytes.len() {
            return None;
        }
    }
    let texts: Vec<_> = arcs.iter().map(u64::to_string).collect();
    (!texts.is_empty()).then(|| texts.join("."))
}

fn unsigned(bytes: &[u8]) -> Option<u64> {
    // A counter of 64 bits has a zero byte before it if its first bit is set.
    let bytes = bytes.strip_prefix(&[0]).filter(|_| bytes.len() == 9).unwrap_or(bytes);
    let fits = (1..=8).contains(&bytes.len());
    fits.then(|| bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

fn signed(bytes: &[u8]) -> Option<i64> {
    let fits = (1..=8).contains(&bytes.len());
    fits.then(|| {
        let unused = 64 - 8 * bytes.len() as u32;
        let value = bytes.iter().fold(0_i64, |value, byte| value << 8 | i64::from(*byte));
        value << unused >> unused
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modem_config::FILE;

    fn shown_as(number: u8, bytes: &[u8]) -> Value {
        let mut node = json!({ "value": hex(bytes) });
        numbered(TOP, number).unwrap().fill(&mut node, bytes, &number.to_string(), 2);
        node
    }

    /// sysContact.0 (RFC 3418) is the object 1.3.6.1.2.1.1.4.0.
    const CONTACT: [u8; 10] = [OBJECT, 8, 0x2b, 6, 1, 2, 1, 1, 4, 0];

    fn variable_of(value: &[u8]) -> Vec<u8> {
        [&[SEQUENCE, (CONTACT.len() + value.len()) as u8], &CONTACT[..], value].concat()
    }

    #[test]
    fn snmp_objects_are_shown_with_type_and_value() {
        let value =
            |value: &[u8]| shown_as(11, &variable_of(value))["value"].as_str().unwrap().to_owned();
        assert_eq!(value(&[OCTETS, 3, b'n', b'o', b'c']), "1.3.6.1.2.1.1.4.0 = string \"noc\"");
        assert_eq!(value(&[OCTETS, 1, 7]), "1.3.6.1.2.1.1.4.0 = bytes 07");
        assert_eq!(value(&[INTEGER, 2, 0xff, 0x7f]), "1.3.6.1.2.1.1.4.0 = integer -129");
        assert_eq!(value(&[0x40, 4, 10, 0, 0, 1]), "1.3.6.1.2.1.1.4.0 = address 10.0.0.1");
        assert_eq!(value(&[0x42, 0x81, 2, 1, 0]), "1.3.6.1.2.1.1.4.0 = gauge 256");
        assert_eq!(value(&[OBJECT, 2, 0x88, 0x37]), "1.3.6.1.2.1.1.4.0 = object 2.999");
        // Type 10 has a byte after the object.
        let access = [&CONTACT[..], &[1]].concat();
        assert_eq!(shown_as(10, &access)["value"], "1.3.6.1.2.1.1.4.0 not allowed");
    }

    #[test]
    fn what_cannot_be_read_stays_bytes() {
        let whole = variable_of(&[INTEGER, 1, 5]);
        for length in 0..whole.len() {
            assert_eq!(shown_as(11, &whole[..length])["value"], hex(&whole[..length]));
        }
        assert_eq!(shown_as(11, &variable_of(&[0x7f, 1, 5]))["value"].as_str().unwrap().len(), 30);
        for number in [17, 34, 38, 43, 53, 54] {
            assert_eq!(shown_as(number, &[1, 9, 0])["value"], "010900");
            assert_eq!(shown_as(number, &[1])["value"], "01");
        }
        assert_eq!(object(&[0x2b, 0x86]), None);
        assert_eq!(object(&[0xff; 12]), None);
    }

    #[test]
    fn nested_types_are_named() {
        let grace = shown_as(17, &[3, 4, 0, 0, 2, 88]);
        assert_eq!(
            grace["children"],
            json!([{"type": "17.3", "offset": 2, "name": "Authorization Grace Time", "value": 600, "unit": "s"}])
        );
        assert!(grace.get("value").is_none());
        let community = shown_as(
            53,
            &[1, 6, b'p', b'u', b'b', b'l', b'i', b'c', 2, 8, 1, 6, 10, 0, 0, 1, 0, 161],
        );
        assert_eq!(community["children"][0]["value"], "public");
        assert_eq!(community["children"][1]["children"][0]["value"], "10.0.0.1 port 161");
        assert_eq!(community["children"][1]["children"][0]["offset"], 12);
    }

    #[test]
    fn every_assigned_type_has_a_name() {
        // CL-SP-CANN-I22-230308, section 11.1: 16 is not assigned, 105 to 200 and 203 to 215 are free.
        let assigned = (1..=104).filter(|number| *number != 16).chain([201, 202, 216, 217]);
        for number in assigned.chain(219..=221) {
            let in_table = FILE.numbered(number).is_some();
            let named = numbered(TOP, number).is_some_and(|row| !row.name.is_empty());
            assert!(in_table != named, "{number} has one name");
        }
        assert_eq!(CAPABILITIES.len(), 62);
    }

    #[test]
    fn types_below_others_have_names_and_values() {
        let named = |number: u8, bytes: &[u8]| {
            let node = shown_as(number, bytes)["children"][0].clone();
            (node["name"].as_str().unwrap_or_default().to_owned(), node["value"].clone())
        };
        let of = |name: &str, value: Value| (name.to_owned(), value);
        assert_eq!(named(5, &[2, 1, 3]), of("DOCSIS Version", json!(3)));
        assert_eq!(named(5, &[13, 2, 1, 0]), of("IP Filters Support", json!(256)));
        assert_eq!(named(5, &[63, 1, 1]), of("", json!("01")));
        for flow in [24, 25] {
            let mask = of("Service Flow Required Attribute Mask", json!("80000000"));
            assert_eq!(named(flow, &[31, 4, 0x80, 0, 0, 0]), mask);
        }
        for number in [24, 25, 70, 71] {
            assert_eq!(named(number, &[37, 2, 0, 9]), of(MESP_REFERENCE, json!(9)));
        }
        for classifier in [22, 23, 60] {
            let action = of("Dynamic Service Change Action", json!(1));
            assert_eq!(named(classifier, &[7, 1, 1]), action);
            let node = shown_as(classifier, &[16, 3, 2, 1, 8]);
            assert_eq!(node["children"][0]["children"][0]["name"], "ICMPv4/ICMPv6 Type End");
        }
        assert_eq!(named(56, &[1, 1, 3]), of("Transmit Channel Assignment", json!(3)));
        assert_eq!(shown_as(12, &[10, 0, 0, 1])["value"], "10.0.0.1");
        // 74.2.1.2, as the encoder's table has it.
        let energy = shown_as(74, &[2, 6, 1, 4, 2, 2, 0, 5]);
        let entry = &energy["children"][0]["children"][0]["children"][0];
        assert_eq!(entry["type"], "74.2.1.2");
        assert_eq!((&entry["name"], &entry["value"]), (&json!("Entry Time Threshold"), &json!(5)));
    }

    #[test]
    fn fields_of_all_vendors_are_named_and_those_of_one_are_not() {
        let field = |vendor: u8| {
            shown_as(43, &[8, 3, vendor, vendor, vendor, 3, 4, 0, 0, 0, 7])["children"].clone()
        };
        assert_eq!(field(0xff)[1]["name"], "CM Load Balancing Group ID");
        assert_eq!(field(0xff)[1]["value"], 7);
        assert_eq!(field(0)[0]["name"], "Vendor ID");
        assert!(field(0)[1].get("name").is_none());
        assert_eq!(field(0)[1]["value"], "00000007");
    }
}
