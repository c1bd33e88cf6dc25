//! What types hold that nothing simulated reads: names and values for display. In TOML and in the typed view they
//! stay bytes, so a value that does not fit here is shown as bytes too and is no problem of the file.
//!
//! Names and contents are those of the summary of TLV encodings in CM-SP-MULPI Annex C; the settings of type 17 are
//! those of DOCSIS 1.1 (BPI+ Appendix A.1.1), and SNMP objects are variables in BER (RFC 3416 section 3).

use serde_json::{Value, json};

use super::leaf::{Leaf, hex};
use super::tlvs::ANY;

/// A type that is shown with its contents.
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
    /// An object identifier in BER.
    Object,
    /// An SNMP object and its value in BER.
    Variable,
    /// An object identifier in BER and a byte: 0 for writing allowed, 1 for not.
    WriteAccess,
    /// An IP address, and perhaps a port.
    Endpoint,
    Nested(&'static [Shown]),
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
const IPV6: Shape = of_leaf(Leaf::Ipv6);
const VIEW: Shape = of_leaf(Leaf::Word(&[(1, "included"), (2, "excluded")]));
const ACCESS: Shape = of_leaf(Leaf::Word(&[(1, "read only"), (2, "read and write")]));

/// The name is in the table of types.
const OF_TABLE: &str = "";
const VENDOR_SPECIFIC: &str = "Vendor Specific Parameters";
const IN_ANY: &[Shown] = &[shown(43, VENDOR_SPECIFIC, Shape::Extension)];

const TOP: &[Shown] = &[
    shown(10, "SNMP Write Access Control", Shape::WriteAccess),
    shown(11, OF_TABLE, Shape::Variable),
    shown(14, "CPE Ethernet MAC Address", Shape::Bytes),
    shown(17, OF_TABLE, Shape::Nested(PRIVACY)),
    shown(32, "Manufacturer Code Verification Certificate", Shape::Bytes),
    shown(33, "Co-signer Code Verification Certificate", Shape::Bytes),
    shown(34, "SNMPv3 Kickstart Value", Shape::Nested(KICKSTART)),
    shown(35, "Subscriber Management Control", Shape::Bytes),
    shown(36, "Subscriber Management CPE IPv4 List", Shape::Bytes),
    shown(37, "Subscriber Management Filter Groups", of_leaf(Leaf::Numbers { most: ANY / 2 })),
    shown(38, "SNMPv3 Notification Receiver", Shape::Nested(RECEIVER)),
    shown(43, OF_TABLE, Shape::Extension),
    shown(53, "SNMPv1v2c Coexistence Configuration", Shape::Nested(COEXISTENCE)),
    shown(54, "SNMPv3 Access View Configuration", Shape::Nested(ACCESS_VIEW)),
    shown(55, "SNMP CPE Access Control", FLAG),
    shown(58, "SW Upgrade IPv6 TFTP Server", IPV6),
    shown(59, "TFTP Server Provisioned Modem IPv6 Address", IPV6),
    shown(81, "Manufacturer CVC Chain", Shape::Bytes),
    shown(82, "Co-signer CVC Chain", Shape::Bytes),
    shown(202, "eRouter", Shape::Nested(ROUTER)),
];

const ROUTER: &[Shown] = &[
    shown(1, "Initialization Mode", number(1, "")),
    shown(2, "TR-069 Management Server", Shape::Nested(MANAGEMENT)),
    shown(3, "Initialization Mode Override", FLAG),
    shown(10, "Router Advertisement Transmission Interval", number(2, "s")),
    shown(11, "SNMP MIB Object", Shape::Variable),
    shown(42, "Topology Mode", number(1, "")),
    shown(43, VENDOR_SPECIFIC, Shape::Extension),
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

/// A type at the top level or, for a vendor's fields, of a service flow or classifier.
pub(super) fn numbered(number: u8, is_nested: bool) -> Option<&'static Shown> {
    let rows = if is_nested { IN_ANY } else { TOP };
    rows.iter().find(|row| row.number == number)
}

impl Shown {
    /// Puts name and contents of a TLV into its node, where they can be read: its value, or the TLVs in it.
    /// `path` is its type, and its value begins at `offset`.
    pub(super) fn fill(&self, node: &mut Value, bytes: &[u8], path: &str, offset: usize) {
        if self.name != OF_TABLE {
            node["name"] = self.name.into();
        }
        let rows = match self.shape {
            Shape::Bytes => return,
            Shape::Nested(rows) => rows,
            Shape::Extension if vendor(bytes) == Some(ALL_VENDORS) => OF_ALL_VENDORS,
            Shape::Extension => OF_A_VENDOR,
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
        if let Some(children) = children(bytes, rows, path, offset)
            && let Some(node) = node.as_object_mut()
        {
            node.remove("value");
            node.insert("children".to_owned(), children.into());
        }
    }

    fn value(&self, bytes: &[u8]) -> Option<Value> {
        match self.shape {
            Shape::Leaf(leaf, _) => leaf.read(bytes).ok().or_else(|| leaf.read_kindly(bytes)),
            Shape::Object => Some(object(whole(bytes, OBJECT)?)?.into()),
            Shape::Variable => Some(variable(bytes)?.into()),
            Shape::WriteAccess => {
                let (access, object_bytes) = bytes.split_last()?;
                let access = ["allowed", "not allowed"].get(usize::from(*access))?;
                Some(format!("{} {access}", object(whole(object_bytes, OBJECT)?)?).into())
            }
            Shape::Endpoint => Some(endpoint(bytes)?.into()),
            Shape::Bytes | Shape::Nested(_) | Shape::Extension => None,
        }
    }
}

/// The TLVs in a value as plain data, if they fill it.
fn children(bytes: &[u8], rows: &'static [Shown], path: &str, offset: usize) -> Option<Vec<Value>> {
    let mut nodes = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let (number, length) = (bytes[at], usize::from(*bytes.get(at + 1)?));
        let value = bytes.get(at + 2..at + 2 + length)?;
        let kind = format!("{path}.{number}");
        let mut node = json!({ "type": kind, "offset": offset + at, "value": hex(value) });
        if let Some(row) = rows.iter().find(|row| row.number == number) {
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

    fn shown_as(number: u8, bytes: &[u8]) -> Value {
        let mut node = json!({ "value": hex(bytes) });
        numbered(number, false).unwrap().fill(&mut node, bytes, &number.to_string(), 2);
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
