//! What the simulation needs of a real packet, read from the bytes of its headers.
//!
//! Ports of fragments are not looked at, those of the first neither, so that all parts of a packet are treated alike, as
//! Linux' flow dissector does. Left out: what is within tunnels.

use std::net::IpAddr;

use etherparse::{IpNumber, LaxIpSlice, TcpOptionElement, TcpSlice, UdpHeaderSlice};

use sojourn_engine::packet::{Ecn, Flags, LARGEST_PACKET, SACK_BLOCKS, SackBlock};

/// Bytes around an IP packet on the wire.
const AROUND: u16 = 18;
/// The largest IP packet that the simulation carries.
pub const LARGEST_IP: u16 = LARGEST_PACKET - AROUND;
/// Bytes of a UDP header, and of the headers of ICMP.
const UDP_BYTES: usize = 8;

/// The headers of a real packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the IP packet, as its header says.
    pub ip_bytes: u16,
    /// Of these the headers, as far as they are known: IP with what extends it, and TCP, UDP or ICMP.
    pub header_bytes: u16,
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Protocol number of the payload, behind all headers that extend IPv6 (IANA: 6 is TCP, 17 UDP).
    pub protocol: u8,
    /// Source and destination port of TCP and UDP; none of a fragment.
    pub ports: Option<[u16; 2]>,
    /// Differentiated services code point.
    pub dscp: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// What filters of acknowledgements read; none of a fragment.
    pub tcp: Option<Tcp>,
}

/// What filters of acknowledgements read of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp {
    /// Sequence number of the first byte of its payload.
    pub seq: u32,
    /// The next sequence number that its sender expects.
    pub ack: u32,
    /// The flags; [`Flags::MORE`] if there is more than these and `blocks` say.
    pub flags: Flags,
    /// What is held beyond `ack`, or came twice, relative to it.
    pub blocks: [SackBlock; SACK_BLOCKS],
}

/// Why bytes are no packet that can be carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotIp {
    /// They are neither of IPv4 nor of IPv6.
    Version,
    /// They end before the IP header does, or its lengths contradict each other.
    Malformed,
    /// It has so many bytes, more than [`LARGEST_IP`].
    TooLarge(u32),
}

impl Header {
    /// Reads the headers of an IP packet, of which at least these must be there.
    ///
    /// # Errors What is wrong with the bytes. No bytes make it panic.
    pub fn read(packet: &[u8]) -> Result<Self, NotIp> {
        let [first, second, ..] = *packet else { return Err(NotIp::Malformed) };
        let tos = match first >> 4 {
            4 => second,
            6 => first << 4 | second >> 4,
            _ => return Err(NotIp::Version),
        };
        let (ip, _) = LaxIpSlice::from_slice(packet).map_err(|_| NotIp::Malformed)?;
        let payload = ip.payload();
        let before = payload.payload.as_ptr().addr() - packet.as_ptr().addr();
        let stated = stated_bytes(packet).filter(|bytes| *bytes as usize >= before);
        let stated = stated.ok_or(NotIp::Malformed)?;
        let ip_bytes = u16::try_from(stated).ok().filter(|bytes| *bytes <= LARGEST_IP);
        let ip_bytes = ip_bytes.ok_or(NotIp::TooLarge(stated))?;
        let transport = Transport::read(payload.ip_number, payload.payload, payload.fragmented);
        Ok(Self {
            ip_bytes,
            header_bytes: ip_bytes.min((before + transport.bytes) as u16),
            source: ip.source_addr(),
            destination: ip.destination_addr(),
            protocol: payload.ip_number.0,
            ports: transport.ports,
            dscp: tos >> 2,
            ecn: [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(tos & 3)],
            tcp: transport.tcp,
        })
    }

    /// Bytes behind its headers.
    pub fn payload_bytes(&self) -> u16 {
        self.ip_bytes - self.header_bytes
    }

    /// IP version.
    pub fn version(&self) -> u8 {
        if self.source.is_ipv4() { 4 } else { 6 }
    }
}

/// The length of a packet as its IP header says; none if it does not, as a jumbogram.
fn stated_bytes(packet: &[u8]) -> Option<u32> {
    let number = |at: usize| Some(u32::from(u16::from_be_bytes(*packet.get(at..)?.first_chunk()?)));
    match packet.first()? >> 4 {
        4 => number(2),
        _ => number(4)
            .filter(|bytes| *bytes > 0 || packet.get(6) == Some(&NO_NEXT))
            .map(|bytes| 40 + bytes),
    }
}

/// The number that says that nothing follows the header of IPv6 (RFC 8200 §4.7).
const NO_NEXT: u8 = 59;

/// What is behind the IP header.
#[derive(Default)]
struct Transport {
    bytes: usize,
    ports: Option<[u16; 2]>,
    tcp: Option<Tcp>,
}

impl Transport {
    fn read(protocol: IpNumber, payload: &[u8], is_fragment: bool) -> Self {
        match protocol {
            _ if is_fragment => Self::default(),
            IpNumber::TCP => {
                TcpSlice::from_slice(payload).map(|tcp| Self::of_tcp(&tcp)).unwrap_or_default()
            }
            IpNumber::UDP => UdpHeaderSlice::from_slice(payload)
                .map(|udp| Self {
                    bytes: UDP_BYTES,
                    ports: Some([udp.source_port(), udp.destination_port()]),
                    tcp: None,
                })
                .unwrap_or_default(),
            IpNumber::ICMP | IpNumber::IPV6_ICMP => {
                Self { bytes: payload.len().min(UDP_BYTES), ..Self::default() }
            }
            _ => Self::default(),
        }
    }

    fn of_tcp(header: &TcpSlice) -> Self {
        Self {
            bytes: header.header_slice().len(),
            ports: Some([header.source_port(), header.destination_port()]),
            tcp: Some(Tcp::of(header)),
        }
    }
}

/// Bits of bytes 12 and 13 of a TCP header that filters of acknowledgements do not know: reserved ones, URG, PSH, RST.
const UNKNOWN_BITS: [u8; 2] = [0b1110, 0b10_1100];

impl Tcp {
    fn of(header: &TcpSlice) -> Self {
        let bytes = header.header_slice();
        let ack = header.acknowledgment_number();
        let (blocks, are_all) = blocks(header, ack);
        let has_more = bytes[12] & UNKNOWN_BITS[0] | bytes[13] & UNKNOWN_BITS[1] != 0 || !are_all;
        let flags = [
            (Flags::SYN, header.syn()),
            (Flags::ACK, header.ack()),
            (Flags::FIN, header.fin()),
            (Flags::ECE, header.ece()),
            (Flags::CWR, header.cwr()),
            (Flags::AE, header.ns()),
            (Flags::MORE, has_more),
        ];
        let flags =
            flags.into_iter().fold(Flags::default(), |all, (flag, is)| all.and(flag.when(is)));
        Self { seq: header.sequence_number(), ack, flags, blocks }
    }
}

/// The SACK blocks, and whether these and timestamps are all that the options say.
fn blocks(header: &TcpSlice, ack: u32) -> ([SackBlock; SACK_BLOCKS], bool) {
    let mut blocks = [SackBlock::default(); SACK_BLOCKS];
    let mut count = 0;
    let mut are_all = true;
    for option in header.options_iterator() {
        match option {
            Ok(TcpOptionElement::Noop | TcpOptionElement::Timestamp(..)) => {}
            Ok(TcpOptionElement::SelectiveAcknowledgement(first, more)) => {
                for (start, end) in std::iter::once(first).chain(more.into_iter().flatten()) {
                    match blocks.get_mut(count) {
                        Some(block) => *block = relative(start, end, ack),
                        None => are_all = false,
                    }
                    count += 1;
                }
            }
            _ => are_all = false,
        }
    }
    (blocks, are_all)
}

/// A run of bytes as its distances from what is acknowledged (RFC 2018 §3, RFC 2883 §4).
fn relative(start: u32, end: u32, ack: u32) -> SackBlock {
    let is_below = (start.wrapping_sub(ack) as i32) < 0;
    let distance = |number: u32| match number.wrapping_sub(ack) {
        beyond if !is_below => beyond,
        beyond if beyond as i32 > 0 => 0, // it ends beyond
        beyond => beyond.wrapping_neg(),
    };
    SackBlock { start: distance(start), end: distance(end) }
}
