//! Frames of the link types that can be replayed: what is not on the wire, and what their headers say.

use std::net::IpAddr;

use etherparse::{EtherType, IpNumber, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use pcap_parser::Linktype;

/// The link types, for messages.
pub(super) const ALLOWED: &str = "allowed: Ethernet (1), Linux cooked (113, 276), loopback (0, 108), PPP (9), raw IP (101, \
     228, 229)";
/// Bytes of an Ethernet header and check sequence.
const ETHERNET_BYTES: u16 = 18;
const PPPOE_SESSION: EtherType = EtherType(0x8864);
/// Bytes of a PPPoE header with its PPP protocol (RFC 2516 §4).
const PPPOE_BYTES: usize = 8;
const ETHERNET_HEADER_BYTES: usize = 14;
const TCP_BYTES: usize = 20;
const UDP_BYTES: usize = 8;
/// Bytes of headers of IPv4 and TCP without options, where none were captured.
pub(super) const USUAL_HEADERS: usize = 40;

/// How frames are framed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Link {
    /// With their Ethernet header.
    Ethernet,
    /// IP packets alone.
    Ip,
    /// Linux cooked capture, versions 1 and 2.
    Cooked,
    Cooked2,
    /// A loopback device of BSD: 4 bytes of address family.
    Loopback,
    Ppp,
}

/// By number, as registered at tcpdump.org/linktypes. Raw IP is RAW, which BSDs write as 12, IPV4 and IPV6.
const LINKS: [(Linktype, Link); 10] = [
    (Linktype::ETHERNET, Link::Ethernet),
    (Linktype::RAW, Link::Ip),
    (Linktype(12), Link::Ip),
    (Linktype::IPV4, Link::Ip),
    (Linktype::IPV6, Link::Ip),
    (Linktype(113), Link::Cooked),
    (Linktype(276), Link::Cooked2),
    (Linktype(0), Link::Loopback),
    (Linktype(108), Link::Loopback),
    (Linktype(9), Link::Ppp),
];

/// Where a packet came from, as the capturing host noted it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Passage {
    /// It came to this host.
    In,
    /// This host sent it.
    Out,
    /// It went by, or was not noted.
    Unknown,
}

/// The hosts at both ends of a packet's way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Ends {
    pub from: IpAddr,
    pub to: IpAddr,
    pub passage: Passage,
}

/// The lengths of a frame's parts in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Parts {
    /// What the capture put before it and no wire carries.
    pub unsent: u16,
    /// Its framing on the wire as captured.
    pub link: u16,
    /// Its headers of IP and transport.
    pub headers: u16,
}

impl Link {
    pub(super) fn of(linktype: Linktype) -> Option<Self> {
        LINKS.iter().find(|(known, _)| *known == linktype).map(|(_, link)| *link)
    }

    /// Bytes of framing that are not captured.
    pub(super) fn framing_bytes(self) -> u16 {
        if self == Self::Ethernet { 0 } else { ETHERNET_BYTES }
    }

    /// Parts and ends of a frame, of which at least the beginning may be captured.
    pub(super) fn read(self, frame: &[u8]) -> (Parts, Option<Ends>) {
        let unsent = self.unsent_bytes(frame);
        let packet = frame.get(unsent..).unwrap_or_default();
        let passage = self.passage(frame);
        let short = |bytes: usize| u16::try_from(bytes).unwrap_or(u16::MAX);
        let (link, headers, ends) = match self.headers(frame, packet) {
            Some((link, headers, from, to)) => (link, headers, Some(Ends { from, to, passage })),
            None if self == Self::Ethernet => (ETHERNET_HEADER_BYTES, USUAL_HEADERS, None),
            None => (0, USUAL_HEADERS, None),
        };
        (Parts { unsent: short(unsent), link: short(link), headers: short(headers) }, ends)
    }

    fn unsent_bytes(self, frame: &[u8]) -> usize {
        match self {
            Self::Ethernet | Self::Ip => 0,
            Self::Cooked => 16,
            Self::Cooked2 => 20,
            Self::Loopback => 4,
            Self::Ppp => ppp_bytes(frame),
        }
    }

    fn passage(self, frame: &[u8]) -> Passage {
        let kind = match self {
            Self::Cooked => frame.get(1),
            Self::Cooked2 => frame.get(10),
            _ => None,
        };
        match kind {
            Some(0) => Passage::In,
            Some(4) => Passage::Out,
            _ => Passage::Unknown,
        }
    }

    /// Bytes before the IP header, those of the headers from there on, and the addresses.
    fn headers(self, frame: &[u8], packet: &[u8]) -> Option<(usize, usize, IpAddr, IpAddr)> {
        let sliced = match self {
            Self::Ethernet => LaxSlicedPacket::from_ethernet(packet).ok()?,
            Self::Cooked => LaxSlicedPacket::from_ether_type(ether_type(frame, 14)?, packet),
            Self::Cooked2 => LaxSlicedPacket::from_ether_type(ether_type(frame, 0)?, packet),
            Self::Ip | Self::Loopback | Self::Ppp => LaxSlicedPacket::from_ip(packet).ok()?,
        };
        let sliced = match sliced.ether_payload() {
            Some(within) if within.ether_type == PPPOE_SESSION => {
                LaxSlicedPacket::from_ip(within.payload.get(PPPOE_BYTES..)?).ok()?
            }
            _ => sliced,
        };
        let (start, ip_bytes, from, to): (_, _, IpAddr, IpAddr) = match sliced.net.as_ref()? {
            LaxNetSlice::Ipv4(ip) => {
                let (header, extensions) = (ip.header(), ip.extensions());
                let bytes =
                    header.slice().len() + extensions.auth.map_or(0, |auth| auth.slice().len());
                let (from, to) = (header.source_addr().into(), header.destination_addr().into());
                (header.slice().as_ptr().addr(), bytes, from, to)
            }
            LaxNetSlice::Ipv6(ip) => {
                let header = ip.header();
                let bytes = header.slice().len() + ip.extensions().slice().len();
                let (from, to) = (header.source_addr().into(), header.destination_addr().into());
                (header.slice().as_ptr().addr(), bytes, from, to)
            }
            LaxNetSlice::Arp(_) => return None,
        };
        let transport_bytes = match (&sliced.transport, sliced.ip_payload()) {
            (Some(TransportSlice::Tcp(tcp)), _) => tcp.header_slice().len(),
            (Some(TransportSlice::Udp(_)), _) => UDP_BYTES,
            // The capture ends within the header.
            (None, Some(cut)) if cut.ip_number == IpNumber::TCP && !cut.fragmented => TCP_BYTES,
            (None, Some(cut)) if cut.ip_number == IpNumber::UDP && !cut.fragmented => UDP_BYTES,
            _ => 0,
        };
        Some((start - packet.as_ptr().addr(), ip_bytes + transport_bytes, from, to))
    }
}

fn ether_type(frame: &[u8], at: usize) -> Option<EtherType> {
    Some(EtherType(u16::from_be_bytes(*frame.get(at..)?.first_chunk()?)))
}

/// Bytes before the packet: address and control, which may be left out, and a protocol number of one byte or
/// two (RFC 1661 §2, RFC 1662 §3.1).
fn ppp_bytes(frame: &[u8]) -> usize {
    let address = if frame.starts_with(&[0xff, 0x03]) || frame.is_empty() { 2 } else { 0 };
    let is_short = frame.get(address).is_some_and(|first| first % 2 == 1);
    address + if is_short { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What cannot be read has the framing of its link type, and usual headers.
    #[test]
    fn a_frame_that_is_not_ip_has_no_ends() {
        for (link, unsent, framing) in
            [(Link::Ethernet, 0, 14), (Link::Ip, 0, 0), (Link::Cooked, 16, 0)]
        {
            let (parts, ends) = link.read(&[0; 20]);
            let want = Parts { unsent, link: framing, headers: USUAL_HEADERS as u16 };
            assert_eq!((parts, ends.is_none()), (want, true));
        }
    }
}
