//! What a QUIC packet says, and how it lies in the transport header that all packets have.
//!
//! `seq` is the offset of its payload, `echo` the delay in its ACK frame, and `ack` how many arrivals that
//! frame reports. The rest is QUIC's own. The flag ACK is not set: nobody on the path can see that a packet is
//! an acknowledgement (RFC 9312 §2.4), so no modem treats it as one.

use sojourn_engine::packet::{Flags, Own, QuicNumbers, Segment};
use sojourn_engine::units::Time;

/// The packet elicits an acknowledgement (RFC 9002 §2).
const ELICITS: u32 = 1;
/// It has a long header.
const LONG: u32 = 1 << 1;
/// It carries an ACK frame.
const ACK: u32 = 1 << 2;

/// An ACK frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct AckFrame {
    /// It reports so many arrivals, from the first of the connection on.
    pub arrivals: u64,
    /// It does not tell of packets below this number.
    pub smallest: u64,
    /// How long it was held back.
    pub delay: Time,
}

/// A packet's header and frames.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Header {
    /// Packet number.
    pub number: u64,
    /// Where its bytes belong in the stream, or in the handshake.
    pub offset: u64,
    /// Bytes of the stream.
    pub len: u16,
    /// Bytes of the handshake. A packet carries one kind.
    pub crypto: u16,
    /// The stream ends with it.
    pub fin: bool,
    /// It elicits an acknowledgement.
    pub elicits: bool,
    /// It has a long header.
    pub is_long: bool,
    /// The ACK frame, if it has one.
    pub ack: Option<AckFrame>,
}

impl Header {
    /// The transport header of the packet.
    pub(super) fn segment(&self) -> Segment {
        let when = |bit: u32, is_set: bool| if is_set { bit } else { 0 };
        let kinds =
            when(ELICITS, self.elicits) | when(LONG, self.is_long) | when(ACK, self.ack.is_some());
        let ack = self.ack.unwrap_or(AckFrame { arrivals: 0, smallest: 0, delay: Time::ZERO });
        Segment {
            seq: self.offset,
            ack: ack.arrivals,
            echo: ack.delay,
            own: Own::of_quic(QuicNumbers {
                number: self.number,
                smallest: ack.smallest,
                kinds,
                crypto: self.crypto.into(),
            }),
            len: self.len,
            flags: Flags::FIN.when(self.fin),
            ..Segment::default()
        }
    }

    /// What a packet's transport header says.
    pub(super) fn of(segment: &Segment) -> Self {
        let QuicNumbers { number, smallest, kinds, crypto } = segment.own.quic();
        let has = |bit: u32| kinds & bit != 0;
        let ack = AckFrame { arrivals: segment.ack, smallest, delay: segment.echo };
        Self {
            number,
            offset: segment.seq,
            len: segment.len,
            crypto: crypto as u16,
            fin: segment.has(Flags::FIN),
            elicits: has(ELICITS),
            is_long: has(LONG),
            ack: has(ACK).then_some(ack),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let ack = AckFrame { arrivals: 3 << 33, smallest: (1 << 40) + 7, delay: Time::from_us(16) };
        let packet = Header {
            number: (5 << 32) + 9,
            offset: 1 << 50,
            len: 1400,
            fin: true,
            elicits: true,
            ack: Some(ack),
            ..Header::default()
        };
        let crypto = Header { crypto: 1100, is_long: true, ..Header::default() };
        for header in [packet, crypto, Header::default()] {
            assert_eq!(Header::of(&header.segment()), header);
        }
        assert!(!packet.segment().has(Flags::ACK));
    }
}
