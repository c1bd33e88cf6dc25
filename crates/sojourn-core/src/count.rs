//! Counts of packets and bytes, and of retransmissions.

use crate::packet::Packet;

/// Packets and their bytes on the wire.
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

    /// With one more packet, of `size` bytes.
    #[inline]
    pub fn with(self, size: u64) -> Self {
        Self { packets: self.packets + 1, bytes: self.bytes + size }
    }

    /// Without one of its packets, of `size` bytes.
    #[inline]
    pub fn without(self, size: u64) -> Self {
        Self { packets: self.packets - 1, bytes: self.bytes - size }
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
}
