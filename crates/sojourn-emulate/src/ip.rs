//! The few fields of IP headers that a line reads and writes.

use sojourn::engine::packet::Ecn;

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

/// Writes ECN field and code point into the header, with the checksum of IPv4 (RFC 1624, equation 3).
pub(crate) fn set_class(packet: &mut [u8], dscp: u8, ecn: Ecn) {
    let class = dscp << 2 | bits(ecn);
    match packet.first().map(|first| first >> 4) {
        Some(4) if packet.len() >= 20 => {
            let (before, after) = (u16::from(packet[1]), u16::from(class));
            let sum = u16::from_be_bytes([packet[10], packet[11]]);
            let sum = !ones_sum(ones_sum(!sum, !before), after);
            packet[1] = class;
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        Some(6) if packet.len() >= 40 => {
            packet[0] = 0x60 | class >> 4;
            packet[1] = class << 4 | packet[1] & 0x0f;
        }
        _ => {}
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
}
