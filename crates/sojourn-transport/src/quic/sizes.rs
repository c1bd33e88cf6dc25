//! Bytes of QUIC packets: variable-length integers, headers and frames (RFC 9000 §16, §17, §19).

use sojourn_engine::units::Time;

/// Authentication tag of a packet (RFC 9001 §5.3).
const TAG: u64 = 16;
/// Connection identifiers that both ends choose, as most servers do.
const CONNECTION_ID: u64 = 8;
/// RFC 9000 §17.3: flags and the other end's identifier, without the packet number.
const SHORT_HEADER: u64 = 1 + CONNECTION_ID;
/// RFC 9000 §17.2: flags, version, two identifiers with their lengths, and a length of two bytes.
const LONG_HEADER: u64 = 1 + 4 + 2 * (1 + CONNECTION_ID) + 2;
/// RFC 9000 §14.1: a datagram with an Initial packet has this size at least, and no other is larger before the
/// path is known.
pub(super) const INITIAL_DATAGRAM: u64 = 1200;
/// A unit of the delay in an ACK frame: 2^3 us (RFC 9000 §18.2: ack_delay_exponent).
const DELAY_UNIT: Time = Time::from_us(8);

/// Room that is left for a packet number, so that what a packet carries fits into a later one too.
pub(super) const NUMBER_ROOM: u64 = 4;

/// Bytes of a variable-length integer (RFC 9000 §16).
pub(super) fn varint(value: u64) -> u64 {
    match value {
        0..=63 => 1,
        64..=16_383 => 2,
        16_384..=1_073_741_823 => 4,
        _ => 8,
    }
}

/// Bytes of a packet number: it distinguishes twice as many as are not acknowledged (RFC 9000 §17.1, A.2).
pub(super) fn packet_number(number: u64, largest_acknowledged: Option<u64>) -> u64 {
    let unacknowledged = largest_acknowledged.map_or(number + 1, |largest| number - largest);
    match unacknowledged.saturating_mul(2) {
        0..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        0x1_0001..=0x100_0000 => 3,
        _ => 4,
    }
}

/// What a packet costs without frames.
pub(super) fn overhead(is_long: bool, number_bytes: u64) -> u64 {
    (if is_long { LONG_HEADER } else { SHORT_HEADER }) + number_bytes + TAG
}

/// Header of a STREAM frame that is the last in its packet (RFC 9000 §19.8): type, stream and offset.
pub(super) fn stream_frame(offset: u64) -> u64 {
    1 + 1 + if offset > 0 { varint(offset) } else { 0 }
}

/// Header of a CRYPTO frame (RFC 9000 §19.6): type, offset, and a length of two bytes.
pub(super) fn crypto_frame(offset: u64) -> u64 {
    1 + varint(offset) + 2
}

/// A delay as an ACK frame reports it: in whole units.
pub(super) fn reported_delay(delay: Time) -> Time {
    DELAY_UNIT.times(delay.ps() / DELAY_UNIT.ps())
}

/// Bytes of an ACK frame (RFC 9000 §19.3) with these ranges `[start, end)`, the highest first.
pub(super) fn ack_frame(delay: Time, mut ranges: impl Iterator<Item = (u64, u64)>) -> u64 {
    let Some((mut lowest, end)) = ranges.next() else { return 0 };
    let mut bytes = 1 + varint(end - 1) + varint(delay.ps() / DELAY_UNIT.ps());
    bytes += varint(end - 1 - lowest);
    let mut others = 0;
    for (start, end) in ranges {
        // RFC 9000 §19.3.1: a gap of n missing packets is reported as n - 1, a range of n as n - 1.
        bytes += varint(lowest - end - 1) + varint(end - 1 - start);
        lowest = start;
        others += 1;
    }
    bytes + varint(others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packet_numbers_are_as_long_as_in_the_rfcs_example() {
        // RFC 9000 A.2: 0xabe8b3 is acknowledged; 29 519 more need 16 bits, 65 611 more need 18.
        assert_eq!(packet_number(0xac_5c02, Some(0xab_e8b3)), 2);
        assert_eq!(packet_number(0xac_e8fe, Some(0xab_e8b3)), 3);
        assert_eq!((packet_number(127, None), packet_number(128, None)), (1, 2));
    }

    #[test]
    fn a_frame_of_ranges_has_two_integers_for_each() {
        // Type, largest 9, delay 25 ms / 8 us = 3125 in two bytes, no other ranges, 10 packets.
        assert_eq!(ack_frame(Time::from_ms(25), [(0, 10)].into_iter()), 1 + 1 + 2 + 1 + 1);
        // Largest 2000 takes two bytes; between 100 and 1990 a gap of 1890 - 1 takes two.
        let ranges = [(1990, 2001), (50, 100), (0, 49)];
        assert_eq!(
            ack_frame(Time::ZERO, ranges.into_iter()),
            1 + 2 + 1 + 1 + 1 + (2 + 1) + (1 + 1)
        );
    }

    #[test]
    fn integers_take_one_two_four_or_eight_bytes() {
        for (value, bytes) in [(63, 1), (64, 2), (16_383, 2), (16_384, 4), (1 << 30, 8)] {
            assert_eq!(varint(value), bytes, "{value}");
        }
        assert_eq!(reported_delay(Time::from_us(23)), Time::from_us(16));
    }
}
