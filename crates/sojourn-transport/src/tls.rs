//! Bytes of the handshake of TLS 1.3 (RFC 8446), over TCP or in QUIC: one round trip.

/// A ClientHello, without key shares that need two packets.
pub const CLIENT_HELLO: u64 = 300;
/// A ServerHello with a key share on curve 25519 (RFC 8446 §4.1.3), and the encrypted extensions with the
/// transport parameters of QUIC (RFC 9000 §18).
const SERVER_HELLO: u64 = 122 + 100;
/// A chain of an ECDSA P-256 certificate and an intermediate one: 1.5 to 2 kB (documentation of Node.js);
/// the signature that proves the key, and Finished with SHA-256 (RFC 8446 §4.4.3, §4.4.4).
const CERTIFICATES: u64 = 2000 + 80;
/// The client's last message of the handshake.
pub const FINISHED: u64 = 4 + 32;
/// What a server answers a ClientHello with.
pub const SERVER_FLIGHT: u64 = SERVER_HELLO + CERTIFICATES + FINISHED;
/// A resumed session has a key from the last one instead of certificates (RFC 8446 §2.2).
pub const RESUMED_FLIGHT: u64 = SERVER_HELLO + FINISHED;
