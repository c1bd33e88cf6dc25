//! The handshake of QUIC with TLS 1.3 (RFC 9001 §4): one round trip, as streams of handshake bytes that are
//! sent again when they are lost.
//!
//! The datagrams with an Initial packet have 1200 bytes (RFC 9000 §14.1). Left out: Retry, 0-RTT, the bytes of session
//! tickets, key shares that need two datagrams.

use super::sizes;
use super::stream::{Incoming, Outgoing, Piece};
use crate::tls::{CLIENT_HELLO, FINISHED, RESUMED_FLIGHT, SERVER_FLIGHT};

/// HANDSHAKE_DONE (RFC 9000 §19.20), a frame of one byte.
const DONE: u64 = 1;
/// RFC 9000 §8.1: what a server may send for each byte received from an address that is not validated.
const AMPLIFICATION: u64 = 3;

/// The handshake of an end.
pub(super) struct Handshake {
    is_client: bool,
    /// Bytes of the server's answer to the ClientHello.
    flight: u64,
    /// Handshake bytes to send.
    pub out: Outgoing,
    incoming: Incoming,
    has_answered: bool,
    is_complete: bool,
    /// Bytes that the server may still send; none is counted at the client or to a valid address.
    allowance: u64,
}

impl Handshake {
    /// Nothing has happened.
    pub(super) fn new() -> Self {
        Self {
            is_client: false,
            flight: SERVER_FLIGHT,
            out: Outgoing::default(),
            incoming: Incoming::default(),
            has_answered: false,
            is_complete: false,
            allowance: 0,
        }
    }

    /// This end opens the connection.
    pub(super) fn open(&mut self) {
        self.is_client = true;
        self.allowance = u64::MAX;
        self.out.append(CLIENT_HELLO);
    }

    /// It resumes a session.
    pub(super) fn resume(&mut self) {
        self.flight = RESUMED_FLIGHT;
    }

    /// Is this the end that opens?
    pub(super) fn is_client(&self) -> bool {
        self.is_client
    }

    /// May data flow (RFC 9001 §4.1.1)?
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Handshake bytes have come; says whether they complete the handshake at this end.
    pub(super) fn on_crypto(&mut self, offset: u64, len: u64) -> bool {
        self.incoming.on_data(offset, len, false);
        let (answered_at, complete_at, answer) = if self.is_client {
            (self.flight, self.flight, FINISHED)
        } else {
            (CLIENT_HELLO, CLIENT_HELLO + FINISHED, self.flight)
        };
        if !self.has_answered && self.incoming.bytes() >= answered_at {
            self.has_answered = true;
            self.out.append(answer);
        }
        let completes = !self.is_complete && self.incoming.bytes() >= complete_at;
        if completes {
            self.is_complete = true;
            if !self.is_client {
                self.out.append(DONE);
            }
        }
        completes
    }

    /// Is a packet with these handshake bytes in the same datagram as an Initial packet, which the first of
    /// each end are?
    pub(super) fn is_initial(&self, offset: u64) -> bool {
        if self.is_client { offset < CLIENT_HELLO } else { offset == 0 }
    }

    /// Are these bytes sent with a long header? All but HANDSHAKE_DONE.
    pub(super) fn is_long(&self, offset: u64) -> bool {
        is_long(self.is_client, self.flight, offset)
    }

    /// The handshake bytes to send next, in a packet with other frames of `others` bytes; for a probe also
    /// what has been sent and is not acknowledged.
    pub(super) fn next(&mut self, others: u64, is_probe: bool) -> Option<Piece> {
        let (is_client, flight) = (self.is_client, self.flight);
        let most = |offset| room(is_client, flight, offset, others);
        let next = self.out.next(u64::MAX, most);
        next.or_else(|| if is_probe { self.out.unacknowledged(0, most) } else { None })
    }

    /// Bytes of the frame with so many handshake bytes.
    pub(super) fn frame(&self, offset: u64, len: u64) -> u64 {
        if self.is_long(offset) { sizes::crypto_frame(offset) + len } else { DONE }
    }

    /// A datagram has come: one of the client's first has the size of an Initial.
    pub(super) fn on_datagram(&mut self, validates: bool) {
        let allowed = AMPLIFICATION * sizes::INITIAL_DATAGRAM;
        self.allowance = if validates { u64::MAX } else { self.allowance.saturating_add(allowed) };
    }

    /// May a full datagram leave (RFC 9000 §8.1)?
    pub(super) fn may_send(&self) -> bool {
        self.allowance >= sizes::INITIAL_DATAGRAM
    }

    /// A datagram leaves.
    pub(super) fn on_sent(&mut self, bytes: u64) {
        if self.allowance != u64::MAX {
            self.allowance = self.allowance.saturating_sub(bytes);
        }
    }
}

fn is_long(is_client: bool, flight: u64, offset: u64) -> bool {
    is_client || offset < flight
}

/// Handshake bytes that a datagram has room for. The one with ServerHello holds an Initial packet and a
/// Handshake packet; HANDSHAKE_DONE is alone.
fn room(is_client: bool, flight: u64, offset: u64, others: u64) -> u64 {
    if !is_long(is_client, flight, offset) {
        return DONE;
    }
    let packets = if is_client || offset > 0 { 1 } else { 2 };
    let packet = sizes::overhead(true, sizes::NUMBER_ROOM);
    let used = packets * packet + others + sizes::crypto_frame(offset);
    let until = if is_client { u64::MAX } else { flight - offset };
    (sizes::INITIAL_DATAGRAM - used).min(until)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_sends_three_times_what_it_got() {
        let mut server = Handshake::new();
        assert!(!server.may_send());
        server.on_datagram(false);
        let sent = (0..9).take_while(|_| {
            let may = server.may_send();
            server.on_sent(1200);
            may
        });
        assert_eq!(sent.count(), 3);
        server.on_datagram(true);
        assert!((0..9).all(|_| server.may_send()));
    }

    /// 222 + 2080 + 36 = 2338 bytes. A datagram of 1200 loses 25 + 4 + 16 for a header (twice in the first)
    /// and 4 or 5 for the frame: 1106, 1150, 82.
    #[test]
    fn the_servers_flight_is_three_datagrams() {
        let mut server = Handshake::new();
        assert!(!server.on_crypto(0, CLIENT_HELLO));
        let pieces: Vec<u64> = std::iter::from_fn(|| {
            let piece = server.next(0, false)?;
            server.out.sent(&piece);
            Some(piece.len)
        })
        .collect();
        assert_eq!(pieces, [1106, 1150, 82]);
        assert!(server.on_crypto(CLIENT_HELLO, FINISHED));
        assert!(!server.on_crypto(CLIENT_HELLO, FINISHED));
    }
}
