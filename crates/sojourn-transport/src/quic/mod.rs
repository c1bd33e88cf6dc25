//! QUIC as a transport: RFC 9000 for packets and acknowledgements, RFC 9002 for loss recovery.
//!
//! A connection has one byte stream in each direction; `streams.rs` lays many streams on it. Congestion controls and
//! options are those of TCP.
//! An acknowledgement reports every packet that has come: it refers to the log of arrivals that the connection
//! keeps (arrivals.rs), so a packet needs no room for the ranges and nothing is copied.
//!
//! Left out: 0-RTT, migration, new keys, closing by CONNECTION_CLOSE or a timeout, path MTU discovery (datagrams of the
//! connection have the size that it would find), and the three spaces of packet numbers: handshake and data
//! are numbered together.

mod arrivals;
mod congestion;
mod ecn;
mod endpoint;
mod handshake;
mod header;
mod pacer;
mod received;
mod rtt;
mod sent;
mod sizes;
mod stream;

pub(crate) use arrivals::Arrivals;
pub(crate) use endpoint::QuicEndpoint;

/// UDP payload of a full datagram where the path takes 1500 bytes, by IPv6 too (RFC 8899; quinn and quic-go
/// find this size).
pub(crate) const DATAGRAM: u16 = 1500 - 40 - 8;
/// The least that a path must take (RFC 9000 §14).
pub(crate) const LEAST_DATAGRAM: u64 = sizes::INITIAL_DATAGRAM;
/// Headers below QUIC: IPv4 and UDP.
pub(crate) const LOWER_HEADERS: u16 = 20 + 8;

/// The initial window in whole datagrams (RFC 9002 §7.2).
pub(crate) fn initial_window(datagram_bytes: u64) -> f64 {
    let bytes = (10 * datagram_bytes).min((2 * datagram_bytes).max(14_720));
    (bytes / datagram_bytes) as f64
}

#[cfg(test)]
mod pair_tests;
