//! Counts of packets and bytes, and of retransmissions.

use crate::packet::Packet;

/// Packets and their bytes on the wire.
///
/// Sums stay in range: a run of the most events that are allowed, 10^13, with packets of 9018 bytes has
/// 10^17 bytes. Differences are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl Count {
    /// A single packet.
    pub fn of(packet: &Packet) -> Self {
        Self::default().with(packet.size.into())
    }

    /// Counts one more packet.
    #[inline]
    pub fn add(&mut self, packet: &Packet) {
        *self = self.with(packet.size.into());
    }

    /// The sum of two counts.
    #[inline]
    pub fn plus(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }

    /// The difference of two counts.
    #[inline]
    pub fn minus(self, other: Self) -> Self {
        Self { packets: self.packets - other.packets, bytes: self.bytes - other.bytes }
    }

    /// With one more packet, of `size` bytes.
    #[inline]
    pub fn with(self, size: u64) -> Self {
        Self { packets: self.packets + 1, bytes: self.bytes + size }
    }

    /// Without one of its packets, of `size` bytes. Panics if there is none, or not of this size.
    #[inline]
    pub fn without(self, size: u64) -> Self {
        let left = self.packets.checked_sub(1).zip(self.bytes.checked_sub(size));
        let (packets, bytes) = left.expect("what leaves has been counted");
        Self { packets, bytes }
    }
}

/// The sum of counts.
impl std::iter::Sum for Count {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), Self::plus)
    }
}

/// Retransmissions and timeouts of the TCP senders of a connection or a traffic entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Retransmitted segments, including those of the handshake.
    pub retransmissions: u64,
    /// Number of expired retransmission timers.
    pub timeouts: u64,
}

impl Tally {
    /// The sum of two tallies.
    pub fn plus(self, other: Self) -> Self {
        Self {
            retransmissions: self.retransmissions + other.retransmissions,
            timeouts: self.timeouts + other.timeouts,
        }
    }

    /// What came since it was as `earlier`, which may have what is not yet in this one.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            retransmissions: self.retransmissions.saturating_sub(earlier.retransmissions),
            timeouts: self.timeouts.saturating_sub(earlier.timeouts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_has_been_counted() {
        let two = Count::default().with(100).with(60);
        assert_eq!(two.without(100), Count { packets: 1, bytes: 60 });
        assert_eq!(two.without(100).without(60), Count::default());
        for (count, size) in [(Count::default(), 0), (Count { packets: 2, bytes: 60 }, 61)] {
            assert!(std::panic::catch_unwind(|| count.without(size)).is_err());
        }
    }
}
