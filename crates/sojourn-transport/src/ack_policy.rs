//! When Linux acknowledges (6.18): each segment at first, then every second one or where a burst ends;
//! selective acknowledgements that say little new wait for a moment.

use super::config::Config;
use sojourn_engine::units::Time;

/// Segments at the start of a connection that are each acknowledged at once (measured on 6.18).
const QUICK: u32 = 196;
/// Duplicate acknowledgements that leave at once before later ones are compressed (SACK compression).
const FIRST_DUPLICATES: u32 = 3;
/// Blocks, newest first, that the sender is expected to learn of without a flush
/// (TCP_SACK_BLOCKS_EXPECTED in net/ipv4/tcp_input.c).
const BLOCKS_EXPECTED: usize = 2;
/// Acknowledgements that may be replaced by one.
const MOST_COMPRESSED: u32 = 44;
/// The longest compression, and the share of the round trip that bounds it: a twentieth.
const LONGEST: Time = Time::from_ms(1);
const RTT_SHARE: f64 = 0.05;

/// What a receiver in order knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InOrder {
    /// Segments with data received so far, this one included.
    pub received: u32,
    /// Bytes not acknowledged.
    pub unacknowledged: u64,
    /// The segment has PSH: its sender has no more to send for now.
    pub pushes: bool,
    /// The segment's bytes.
    pub len: u64,
}

/// Is a connection at its start, of which so many segments with data have come?
pub(crate) fn is_quick(received: u32) -> bool {
    received <= QUICK
}

/// Is it acknowledged at once? Otherwise when the delay ends.
pub(crate) fn acknowledges_now(seen: &InOrder, config: &Config) -> bool {
    let enough = u64::from(config.ack_every - 1) * config.mss;
    is_quick(seen.received) || seen.unacknowledged > enough || seen.pushes || seen.len < config.mss
}

/// How long a duplicate acknowledgement may wait.
pub(crate) fn compression(srtt: Time) -> Time {
    if srtt == Time::ZERO { LONGEST } else { srtt.scaled(RTT_SHARE).min(LONGEST) }
}

/// A segment extends the block at this place, newest first, or makes a block while there are so many: may
/// what was held back lose blocks then, as an acknowledgement has room for three?
pub(crate) fn hides_blocks(place: usize) -> bool {
    place >= BLOCKS_EXPECTED
}

/// Duplicate acknowledgements of one hole.
#[derive(Default)]
pub(crate) struct Duplicates {
    /// The byte that is missing.
    at: u64,
    sent: u32,
    held_back: u32,
}

impl Duplicates {
    /// A segment beyond a hole at `next` has come: does its acknowledgement leave at once?
    pub(crate) fn leaves_now(&mut self, next: u64) -> bool {
        if self.held_back >= MOST_COMPRESSED {
            return true;
        }
        if self.at != next {
            (self.at, self.sent) = (next, 0);
        }
        let leaves = self.sent < FIRST_DUPLICATES;
        if leaves {
            self.sent += 1;
        } else {
            self.held_back += 1;
        }
        leaves
    }

    /// Has an acknowledgement been held back and not reported since?
    pub(crate) fn are_held_back(&self) -> bool {
        self.held_back > 0
    }

    /// An acknowledgement leaves, which reports all.
    pub(crate) fn reported(&mut self) {
        self.held_back = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TcpOptions;
    use sojourn_engine::dialect::Dialect;

    #[test]
    fn every_second_segment_or_the_end_of_a_burst() {
        let config = TcpOptions::default().resolve(Dialect::Linux);
        let seen = InOrder { received: 500, unacknowledged: 1448, pushes: false, len: 1448 };
        assert!(!acknowledges_now(&seen, &config));
        for now in [
            InOrder { unacknowledged: 2896, ..seen },
            InOrder { pushes: true, ..seen },
            InOrder { len: 500, ..seen },
            InOrder { received: 196, ..seen },
        ] {
            assert!(acknowledges_now(&now, &config), "{now:?}");
        }
    }

    #[test]
    fn three_duplicates_leave_and_then_one_of_45() {
        let mut duplicates = Duplicates::default();
        let leave: Vec<u32> = (0..50).filter(|_| duplicates.leaves_now(1000)).collect();
        // Three at once, 44 held back; from then on each, until one is reported.
        assert_eq!(leave, [0, 1, 2, 47, 48, 49]);
        duplicates.reported();
        assert!(!duplicates.leaves_now(1000));
        assert!(duplicates.leaves_now(2000));
        assert_eq!(compression(Time::from_ms(10)), Time::from_us(500));
        assert_eq!(compression(Time::from_ms(100)), Time::from_ms(1));
    }
}
