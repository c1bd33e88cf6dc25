//! A packet: what travels. It is moved from stage to stage and never cloned, so it is in exactly one
//! place; every packet ends delivered, dropped for a named reason, or still inside when the run ends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Time;

/// Which way a packet travels: up from the home, or down to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Direction {
    /// From the home to the server.
    #[default]
    Up,
    /// From the server to the home.
    Down,
}

impl Direction {
    /// Both, upstream first.
    pub const BOTH: [Self; 2] = [Self::Up, Self::Down];

    /// The way back.
    pub const fn reversed(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }

    /// As it stands in results: `up` or `down`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum DropReason {
    /// The queue was at its limit.
    Overflow,
    /// The queue manager dropped it early, to signal congestion.
    Aqm,
    /// It was lost at random on the link of its server.
    Link,
    /// An acknowledgement whose place in the modem a newer one of its connection has taken.
    Superseded,
    /// Its modem asked for it in vain until it gave up.
    Contention,
}

impl DropReason {
    /// All reasons, in the order of their numbers.
    pub const ALL: [Self; 5] =
        [Self::Overflow, Self::Aqm, Self::Link, Self::Superseded, Self::Contention];

    /// As it stands in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overflow => "overflow",
            Self::Aqm => "aqm",
            Self::Link => "link",
            Self::Superseded => "superseded",
            Self::Contention => "contention",
        }
    }
}

/// One run of bytes that the receiver holds beyond its cumulative acknowledgement (RFC 2018 §3),
/// as offsets from that acknowledgement; both zero in an unused block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlock {
    /// First byte held.
    pub start: u32,
    /// One past the last byte held.
    pub end: u32,
}

/// Blocks in one acknowledgement: three fit beside the timestamps option (RFC 2018 §3).
pub const SACK_BLOCKS: usize = 3;

/// The transport header. A datagram uses `seq` alone, to count.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// Sequence number of the first payload byte; SYN and FIN take one number each.
    pub seq: u64,
    /// Next byte expected from the other side.
    pub ack: u64,
    /// Timestamp echoed from the segment that is acknowledged (RFC 7323 §3); zero for none.
    pub echo: Time,
    /// What is held beyond `ack`, most recent first.
    pub sack: [SackBlock; SACK_BLOCKS],
    /// Payload bytes.
    pub len: u16,
    /// Opens the connection.
    pub syn: bool,
    /// `ack` is valid.
    pub is_ack: bool,
    /// No more payload will follow.
    pub fin: bool,
    /// A marked segment has come (RFC 3168 §6.1: ECE).
    pub echoes_mark: bool,
    /// The window has been reduced (RFC 3168 §6.1: CWR).
    pub window_reduced: bool,
}

/// The ECN field of the IP header (RFC 3168 §5, RFC 9331 §4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// Its transport does not understand marks.
    #[default]
    NotEct = 0b00,
    /// Its transport understands marks and takes one for a loss.
    Ect0 = 0b10,
    /// Its transport expects many marks (L4S).
    Ect1 = 0b01,
    /// Marked: it has met congestion.
    Ce = 0b11,
}

impl Ecn {
    /// As it stands in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotEct => "not_ect",
            Self::Ect0 => "ect0",
            Self::Ect1 => "ect1",
            Self::Ce => "ce",
        }
    }
}

/// The `flow` of packets that belong to no connection.
pub const DATAGRAM: u32 = u32::MAX;

/// Bytes of a full Ethernet frame with a VLAN tag: what a modem must be able to pass.
pub const FULL_PACKET: u64 = 1522;

/// Bytes on the wire of the largest packet: a jumbo frame.
pub const LARGEST_PACKET: u16 = 9018;

/// A packet on the path.
#[derive(Debug)]
pub struct Packet {
    /// When its sender sent it.
    pub sent_at: Time,
    /// When it entered the queue it is in, or was last in.
    pub queued_at: Time,
    /// The transport header.
    pub segment: Segment,
    /// Hash of addresses, protocol and ports, made when its connection opened; queues that
    /// separate flows take their bin from it.
    pub tuple: u32,
    /// The connection it belongs to, as a slot number; [`DATAGRAM`] for none.
    pub flow: u32,
    /// Which use of that slot it belongs to: packets of a closed connection are told by it.
    pub generation: u16,
    /// The entry of the scenario's traffic list that caused it.
    pub traffic: u16,
    /// The server it comes from or goes to.
    pub server: u16,
    /// The home it comes from or goes to.
    pub home: u16,
    /// Which of that home's service flows of its direction it takes, 0 for the primary one: told by
    /// classifiers when its connection opened.
    pub service_flow: u8,
    /// Bytes on the wire, headers and framing included.
    pub size: u16,
    /// Which way it travels.
    pub direction: Direction,
    /// Whether it may be marked rather than dropped, and whether it was.
    pub ecn: Ecn,
    /// Its number among the packets sent in the run, modulo 2^24, where a trace is kept: by it the
    /// trace knows it again. Three bytes are what is free in a packet.
    pub number: [u8; 3],
}

impl Packet {
    /// A datagram, or a segment with payload.
    #[inline]
    pub fn carries_data(&self) -> bool {
        self.segment.len > 0 || self.flow == DATAGRAM
    }

    /// Does it do nothing but acknowledge?
    #[inline]
    pub fn is_bare_ack(&self) -> bool {
        let Segment { is_ack, len, syn, fin, .. } = self.segment;
        is_ack && len == 0 && !syn && !fin
    }

    /// May a queue mark it rather than drop it?
    #[inline]
    pub fn is_markable(&self) -> bool {
        self.ecn != Ecn::NotEct
    }

    /// Marks it: it has met congestion (RFC 3168 §5).
    #[inline]
    pub fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }

    /// A number of its flow that few others lie between: even for the slots of connections, odd for
    /// the datagrams of traffic entries.
    #[inline]
    pub fn flow_index(&self) -> usize {
        match self.flow {
            DATAGRAM => 2 * usize::from(self.traffic) + 1,
            slot => 2 * slot as usize,
        }
    }
}

// Packets are moved by value all the time; this keeps an innocent new field from doubling the cost.
const _: () = assert!(size_of::<Packet>() <= 96);
const _: () = assert!(size_of::<Option<Packet>>() == size_of::<Packet>());
