//! The few fields of IP headers that a line reads and writes.

use std::net::IpAddr;

use etherparse::{IpNumber, LaxIpSlice};
use sojourn::outside::{Ecn, Flags};

/// A packet that no router forwards: it is addressed to or comes from the link alone, as neighbours' and groups' messages do
/// (RFC 3927, RFC 4291, RFC 5771).
pub(crate) fn stays_on_link(packet: &[u8]) -> bool {
    match packet {
        [first, ..] if first >> 4 == 4 && packet.len() >= 20 => {
            let link_local = |address: &[u8]| address.starts_with(&[169, 254]);
            let (from, to) = (&packet[12..16], &packet[16..20]);
            let is_group = to.starts_with(&[224, 0, 0]) || to == [255; 4];
            is_group || link_local(from) || link_local(to)
        }
        [first, ..] if first >> 4 == 6 && packet.len() >= 40 => {
            let link_local = |address: &[u8]| address[0] == 0xfe && address[1] & 0xc0 == 0x80;
            let (from, to) = (&packet[8..24], &packet[24..40]);
            let is_group = to[0] == 0xff && to[1] & 0x0f <= 2;
            is_group || link_local(from) || link_local(to)
        }
        _ => false,
    }
}

/// Where a packet of IPv4 or IPv6 goes.
pub(crate) fn destination(packet: &[u8]) -> Option<IpAddr> {
    match packet.first()? >> 4 {
        4 => packet.get(16..)?.first_chunk::<4>().map(|octets| (*octets).into()),
        6 => packet.get(24..)?.first_chunk::<16>().map(|octets| (*octets).into()),
        _ => None,
    }
}

/// Writes ECN field and code point into the header, with the checksum of IPv4.
pub(crate) fn set_class(packet: &mut [u8], dscp: u8, ecn: Ecn) {
    let class = dscp << 2 | bits(ecn);
    match packet.first().map(|first| first >> 4) {
        Some(4) if packet.len() >= 20 => set_word(packet, 0, [packet[0], class], 10),
        Some(6) if packet.len() >= 40 => {
            packet[0] = 0x60 | class >> 4;
            packet[1] = class << 4 | packet[1] & 0x0f;
        }
        _ => {}
    }
}

/// Writes the flags AE, CWR and ECE of a segment of TCP, with its checksum.
pub(crate) fn set_ace(packet: &mut [u8], flags: Flags) {
    let Some(tcp) = tcp_at(packet) else { return };
    let bit = |flag: Flags, bit| if flags.only(flag) == flag { bit } else { 0 };
    let high = packet[tcp + 12] & !0x01 | bit(Flags::AE, 0x01);
    let low = packet[tcp + 13] & !0xc0 | bit(Flags::CWR, 0x80) | bit(Flags::ECE, 0x40);
    set_word(packet, tcp + 12, [high, low], tcp + 16);
}

/// Where the header of a segment begins, if the packet has all of it.
fn tcp_at(packet: &[u8]) -> Option<usize> {
    let (ip, _) = LaxIpSlice::from_slice(packet).ok()?;
    let payload = ip.payload();
    let is_tcp = payload.ip_number == IpNumber::TCP && !payload.fragmented;
    let begin = payload.payload.as_ptr().addr() - packet.as_ptr().addr();
    (is_tcp && payload.payload.len() >= TCP_BYTES).then_some(begin)
}

const TCP_BYTES: usize = 20;

/// Writes a word and what it changes in the checksum (RFC 1624, equation 3).
fn set_word(packet: &mut [u8], at: usize, word: [u8; 2], sum_at: usize) {
    let read = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    let (before, after) = (read(at), u16::from_be_bytes(word));
    let sum = !ones_sum(ones_sum(!read(sum_at), !before), after);
    if before != after {
        packet[at..at + 2].copy_from_slice(&word);
        packet[sum_at..sum_at + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

fn bits(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    }
}

/// A sum in one's complement.
fn ones_sum(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u16::from(carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checksum of a header by its definition (RFC 1071).
    fn checksum(header: &[u8]) -> u16 {
        let words = header.chunks(2).map(|word| u16::from_be_bytes([word[0], word[1]]));
        !words.fold(0, ones_sum)
    }

    fn ipv4(class: u8, to: [u8; 4]) -> Vec<u8> {
        let mut packet = vec![0x45, class, 0, 40, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1];
        packet.extend(to);
        let sum = checksum(&packet).to_be_bytes();
        packet[10..12].copy_from_slice(&sum);
        packet
    }

    #[test]
    fn every_class_of_ipv4_keeps_the_checksum() {
        for before in 0..=255 {
            for after in 0..=255_u8 {
                let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(after & 3)];
                let mut packet = ipv4(before, [10, 0, 0, 2]);
                set_class(&mut packet, after >> 2, ecn);
                // A sum over a header with its own checksum is that of nothing.
                assert_eq!((packet[1], checksum(&packet)), (after, 0), "{before} {after}");
            }
        }
    }

    #[test]
    fn flags_of_tcp_keep_its_checksum() {
        let mut packet = ipv4(0, [10, 0, 0, 2]);
        // Data offset 5 with AE; CWR, ECE and ACK. The sum here is that of the segment alone.
        packet.extend([1, 2, 3, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0x51, 0xd0, 9, 9, 0, 0, 0, 0]);
        let sum = checksum(&packet[20..]).to_be_bytes();
        packet[36..38].copy_from_slice(&sum);
        for flags in [Flags::default(), Flags::AE, Flags::CWR, Flags::ECE, Flags::ACE] {
            set_ace(&mut packet, flags);
            let [high, low] = [packet[32], packet[33]];
            let is = |flag: Flags| flags.only(flag) == flag;
            assert_eq!(
                (high & 1 == 1, low & 0x80 > 0, low & 0x40 > 0),
                (is(Flags::AE), is(Flags::CWR), is(Flags::ECE))
            );
            assert_eq!((high & !1, low & !0xc0, checksum(&packet[20..])), (0x50, 0x10, 0));
        }
    }

    #[test]
    fn the_class_of_ipv6_leaves_version_and_flow_label() {
        let mut packet = vec![0; 40];
        packet[..4].copy_from_slice(&[0x6a, 0xbc, 0xde, 0xf0]);
        set_class(&mut packet, 0x2e, Ecn::Ce);
        // 0x2e << 2 | 3 = 0xbb
        assert_eq!(packet[..4], [0x6b, 0xbc, 0xde, 0xf0]);
    }

    #[test]
    fn neighbours_and_groups_stay_on_the_link() {
        assert!(stays_on_link(&ipv4(0, [224, 0, 0, 22])));
        assert!(!stays_on_link(&ipv4(0, [224, 0, 1, 1])));
        assert!(!stays_on_link(&ipv4(0, [198, 18, 0, 2])));
        let ipv6 = |from: [u8; 2], to: [u8; 2]| {
            let mut packet = vec![0; 40];
            packet[0] = 0x60;
            packet[8..10].copy_from_slice(&from);
            packet[24..26].copy_from_slice(&to);
            stays_on_link(&packet)
        };
        assert!(ipv6([0, 0], [0xff, 0x02]));
        assert!(ipv6([0xfe, 0x80], [0x20, 0x01]));
        assert!(!ipv6([0x20, 0x01], [0xff, 0x0e]));
        assert!(!ipv6([0x20, 0x01], [0x20, 0x01]));
        assert!(!stays_on_link(&[]) && !stays_on_link(&[0x45]));
    }

    #[test]
    fn a_destination_is_read_of_both_versions() {
        assert_eq!(destination(&ipv4(0, [198, 18, 0, 3])), Some([198, 18, 0, 3].into()));
        let mut packet = vec![0; 40];
        packet[0] = 0x60;
        packet[39] = 3;
        assert_eq!(destination(&packet), Some("::3".parse().unwrap()));
        assert_eq!((destination(&packet[..39]), destination(&[])), (None, None));
    }
}
