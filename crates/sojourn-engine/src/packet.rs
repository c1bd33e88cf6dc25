//! Packets. A packet is moved from stage to stage and never cloned, so it is in exactly one place.
//! Every packet ends delivered, dropped for a named reason, or still inside when the run ends.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Time;
use sojourn_input::named;

/// Direction of travel: upstream from the home, or downstream to it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Direction {
    /// From the home to the server (upstream).
    #[default]
    Up,
    /// From the server to the home (downstream).
    Down,
}

impl Direction {
    /// Both directions, upstream first.
    pub const BOTH: [Self; 2] = [Self::Up, Self::Down];

    /// The opposite direction.
    pub const fn reversed(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }

    /// Of what there is upstream and downstream, that of this direction.
    pub fn pick<T>(self, up: T, down: T) -> T {
        match self {
            Self::Up => up,
            Self::Down => down,
        }
    }

    /// Name in results: `up` or `down`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }

    /// Its name where the cable has it.
    pub const fn stream(self) -> &'static str {
        match self {
            Self::Up => "upstream",
            Self::Down => "downstream",
        }
    }
}

named! {
    /// The reason for which a packet was dropped.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    #[repr(u8)]
    pub enum DropReason {
        /// The queue was full.
        Overflow = "overflow",
        /// The AQM algorithm dropped it early, to signal congestion.
        Aqm = "aqm",
        /// Random loss on the link of its server.
        Link = "link",
        /// An acknowledgement that a newer one of its connection replaced in the modem.
        Superseded = "superseded",
        /// The modem gave up requesting bandwidth for it: its requests kept colliding.
        Contention = "contention",
    }
}

/// One run of bytes that the receiver holds beyond its cumulative acknowledgement (RFC 2018 §3),
/// as offsets from that acknowledgement; both zero in an unused block. A run that came twice and is below the
/// acknowledgement (RFC 2883 §4) has its distances from it, so that it starts above its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlock {
    /// First byte held.
    pub start: u32,
    /// One past the last byte held.
    pub end: u32,
}

impl SackBlock {
    /// Is it a run below the acknowledgement?
    pub fn is_below(&self) -> bool {
        self.start > self.end
    }

    /// Its first byte and one past its last, in an acknowledgement of all below `ack`; none if it is unused.
    pub fn bytes(&self, ack: u64) -> Option<(u64, u64)> {
        let (start, end) = (u64::from(self.start), u64::from(self.end));
        match start.cmp(&end) {
            Ordering::Less => Some((ack + start, ack + end)),
            Ordering::Equal => None,
            Ordering::Greater => Some((ack - start, ack - end)),
        }
    }
}

/// Blocks in one acknowledgement: three fit beside the timestamps option (RFC 2018 §3).
pub const SACK_BLOCKS: usize = 3;

/// What a QUIC packet says that no TCP segment does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QuicNumbers {
    /// Packet number (RFC 9000 §12.3).
    pub number: u64,
    /// The smallest number that its ACK frame reports.
    pub smallest: u64,
    /// What it carries, a bit each.
    pub kinds: u32,
    /// Bytes of the handshake.
    pub crypto: u32,
}

/// A frame of a video call, of which a datagram is a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// Its number in its direction, from 0.
    pub number: u32,
    /// How many datagrams it has; 0 if the datagram is no part of one.
    pub packets: u32,
}

/// What only packets of one kind say. All have the same few bytes for it, and who sends or receives such a packet
/// knows of which kind it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Own([u32; 2 * SACK_BLOCKS]);

impl Own {
    /// Of a TCP segment: what is held beyond `ack`, most recent first.
    #[inline]
    pub const fn of_blocks(blocks: [SackBlock; SACK_BLOCKS]) -> Self {
        let [a, b, c] = blocks;
        Self([a.start, a.end, b.start, b.end, c.start, c.end])
    }

    /// What is held beyond `ack`, of a TCP segment.
    #[inline]
    pub const fn blocks(&self) -> [SackBlock; SACK_BLOCKS] {
        let [a, b, c, d, e, f] = self.0;
        [
            SackBlock { start: a, end: b },
            SackBlock { start: c, end: d },
            SackBlock { start: e, end: f },
        ]
    }

    /// Of a QUIC packet.
    pub const fn of_quic(numbers: QuicNumbers) -> Self {
        let QuicNumbers { number, smallest, kinds, crypto } = numbers;
        let [high, low] = [(number >> 32) as u32, (number & 0xffff_ffff) as u32];
        Self([high, low, (smallest >> 32) as u32, (smallest & 0xffff_ffff) as u32, kinds, crypto])
    }

    /// That of a QUIC packet.
    pub const fn quic(&self) -> QuicNumbers {
        let [a, b, c, d, kinds, crypto] = self.0;
        let (number, smallest) = ((a as u64) << 32 | b as u64, (c as u64) << 32 | d as u64);
        QuicNumbers { number, smallest, kinds, crypto }
    }

    /// Of a datagram that is a part of a frame.
    pub const fn of_frame(frame: Frame) -> Self {
        Self([frame.number, frame.packets, 0, 0, 0, 0])
    }

    /// The frame of a datagram.
    pub const fn frame(&self) -> Frame {
        Frame { number: self.0[0], packets: self.0[1] }
    }
}

/// What a packet from outside says that no queue reads. It stands where others have what they echo.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Real {
    /// Sequence number of a TCP segment.
    pub seq: u32,
    /// Ports in the home and at the server; 0 where it has none.
    pub ports: [u16; 2],
}

impl Real {
    /// As it stands in a segment.
    pub const fn packed(self) -> Time {
        let [home, server] = self.ports;
        Time::from_ps(self.seq as u64 | (home as u64) << 32 | (server as u64) << 48)
    }

    /// That of a packet from outside.
    pub const fn of(segment: &Segment) -> Self {
        let bits = segment.echo.ps();
        Self { seq: bits as u32, ports: [(bits >> 32) as u16, (bits >> 48) as u16] }
    }
}

/// The transport header. A packet from outside has its handle in `seq`. A datagram has its number in `seq` and what it
/// echoes in `echo`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segment {
    /// Sequence number of the first payload byte; SYN and FIN take one number each.
    pub seq: u64,
    /// Next byte expected from the other side.
    pub ack: u64,
    /// Timestamp echoed from the segment that is acknowledged (RFC 7323 §3); zero for none.
    pub echo: Time,
    /// What only its kind of packet says.
    pub own: Own,
    /// Payload bytes.
    pub len: u16,
    /// Flags of the header.
    pub flags: Flags,
    /// Differentiated services code point (RFC 2474 §3). It is the IP header's, but there is room
    /// for it here.
    pub dscp: u8,
    /// Packets with a mark that the sender of this segment has received, from 5 on, modulo 256. Its low
    /// three bits are the field ACE (RFC 9768 §3.2.2).
    pub ce_packets: u8,
    /// Payload bytes in them, modulo 2^24, the low byte first (RFC 9768 §3.2.3: r.ceb).
    pub ce_bytes: [u8; 3],
}

impl Segment {
    /// Is this flag set, or one of these?
    #[inline]
    pub fn has(&self, flag: Flags) -> bool {
        self.flags.0 & flag.0 != 0
    }
}

/// Flags of a transport header (RFC 9293 §3.1), a bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags(u8);

impl Flags {
    /// Opens the connection.
    pub const SYN: Self = Self(1);
    /// `ack` is valid.
    pub const ACK: Self = Self(1 << 1);
    /// No more payload will follow.
    pub const FIN: Self = Self(1 << 2);
    /// The sender has no more to send for now (RFC 9293 §3.9.1.2). Dialect `linux` only.
    pub const PSH: Self = Self(1 << 3);
    /// Echoes a mark (RFC 3168 §6.1).
    pub const ECE: Self = Self(1 << 4);
    /// Reports that the sender reduced its window (RFC 3168 §6.1).
    pub const CWR: Self = Self(1 << 5);
    /// With CWR and ECE: the field ACE of accurate feedback (RFC 9768 §3.1).
    pub const AE: Self = Self(1 << 6);
    /// A header from outside says more than filters of acknowledgements read, such as RST or an option that they do
    /// not know: they leave the packet alone.
    pub const MORE: Self = Self(1 << 7);
    /// The three flags that are the field ACE after the handshake (RFC 9768 §3.1.1).
    pub const ACE: Self = Self::AE.and(Self::CWR).and(Self::ECE);

    /// This flag if `is_set`, else none.
    #[inline]
    pub fn when(self, is_set: bool) -> Self {
        if is_set { self } else { Self::default() }
    }

    /// The bits of all.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Those of these flags that are among others.
    #[inline]
    pub const fn only(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// These flags and those.
    #[inline]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Sets a flag, or clears it.
    #[inline]
    pub fn set(&mut self, flag: Self, is_set: bool) {
        self.0 = if is_set { self.0 | flag.0 } else { self.0 & !flag.0 };
    }
}

/// The ECN field of the IP header (RFC 3168 §5, RFC 9331 §4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not support ECN.
    #[default]
    NotEct = 0b00,
    /// The transport supports ECN and treats a mark as a loss.
    Ect0 = 0b10,
    /// The transport supports L4S and expects many marks.
    Ect1 = 0b01,
    /// Marked: it met congestion.
    Ce = 0b11,
}

impl Ecn {
    /// Name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotEct => "not_ect",
            Self::Ect0 => "ect0",
            Self::Ect1 => "ect1",
            Self::Ce => "ce",
        }
    }
}

/// The number of a packet that came when the trace was full.
pub const NO_NUMBER: [u8; 3] = [0xff; 3];

/// The `flow` of packets that belong to no connection.
pub const DATAGRAM: u32 = u32::MAX;

/// The `flow` of a packet from outside is one of these numbers, up to [`DATAGRAM`]: that of its conversation, which comes
/// behind the numbers of all traffic entries.
pub const OUTSIDE: u32 = 1 << 31;

/// Size in bytes of a full Ethernet frame with a VLAN tag, which a modem must be able to pass.
pub const FULL_PACKET: u64 = 1522;

/// The code point that is recommended for traffic that builds no queue (RFC 9956 §4).
pub const NQB: u8 = 45;

/// Bytes on the wire of the largest packet: a jumbo frame.
pub const LARGEST_PACKET: u16 = 9018;

/// A packet on the path.
#[derive(Debug)]
pub struct Packet {
    /// When its sender sent it.
    pub sent_at: Time,
    /// When it entered its current or last queue.
    pub queued_at: Time,
    /// The transport header.
    pub segment: Segment,
    /// Hash of addresses, protocol and ports, drawn when its connection opened. Queues that
    /// separate flows derive the bin from it.
    pub tuple: u32,
    /// Slot number of its connection; [`DATAGRAM`] for none, and from [`OUTSIDE`] on for packets from outside.
    pub flow: u32,
    /// Generation of that slot, which identifies packets of a closed connection.
    pub generation: u16,
    /// Number of the traffic entry that sent it.
    pub traffic: u16,
    /// The server it comes from or goes to.
    pub server: u16,
    /// The home it comes from or goes to.
    pub home: u16,
    /// Number of its service flow in its home and direction, 0 for the primary flow. Classifiers
    /// chose it when the connection opened, for each value of the ECN field.
    pub service_flow: u8,
    /// Bytes on the wire, including headers and framing.
    pub size: u16,
    /// Direction of travel.
    pub direction: Direction,
    /// Whether it may be marked instead of dropped, and whether it was.
    pub ecn: Ecn,
    /// Its number among the packets sent in the run, modulo 2^24, if a trace is kept: the trace
    /// identifies it by this number. Three bytes are free in a packet.
    pub number: [u8; 3],
}

impl Packet {
    /// Is it a datagram, or a segment with payload?
    #[inline]
    pub fn carries_data(&self) -> bool {
        self.segment.len > 0 || self.flow == DATAGRAM
    }

    /// Does it belong to a simulated connection?
    #[inline]
    pub fn is_of_connection(&self) -> bool {
        self.flow < OUTSIDE
    }

    /// Is it a real packet, from outside?
    #[inline]
    pub fn is_outside(&self) -> bool {
        (OUTSIDE..DATAGRAM).contains(&self.flow)
    }

    /// Is it an acknowledgement and nothing else?
    #[inline]
    pub fn is_bare_ack(&self) -> bool {
        let others = self.segment.has(Flags::SYN.and(Flags::FIN).and(Flags::MORE));
        self.segment.has(Flags::ACK) && self.segment.len == 0 && !others
    }

    /// May a queue mark it instead of dropping it?
    #[inline]
    pub fn is_markable(&self) -> bool {
        self.ecn != Ecn::NotEct
    }

    /// Its number in the trace, if it has one.
    #[inline]
    pub fn trace_number(&self) -> Option<u64> {
        let [a, b, c] = self.number;
        (self.number != NO_NUMBER).then(|| u32::from_le_bytes([a, b, c, 0]).into())
    }

    /// Marks it (RFC 3168 §5).
    #[inline]
    pub fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }

    /// An index of its flow, dense enough for arrays: even numbers for connection slots, odd
    /// numbers for the datagrams of traffic entries, then for conversations of packets from outside.
    #[inline]
    pub fn flow_index(&self) -> usize {
        match self.flow {
            DATAGRAM => 2 * usize::from(self.traffic) + 1,
            outside if outside >= OUTSIDE => 2 * (outside - OUTSIDE) as usize + 1,
            slot => 2 * slot as usize,
        }
    }
}

// Packets are moved by value all the time. This keeps a new field from doubling the cost unnoticed.
const _: () = assert!(size_of::<Packet>() <= 96);
const _: () = assert!(size_of::<Option<Packet>>() == size_of::<Packet>());

impl Packet {
    /// A datagram from the first home, of so many bytes.
    pub fn datagram(size: u16) -> Self {
        Self {
            sent_at: Time::ZERO,
            queued_at: Time::ZERO,
            segment: Segment::default(),
            tuple: 0,
            flow: DATAGRAM,
            generation: 0,
            traffic: 0,
            server: 0,
            home: 0,
            service_flow: 0,
            size,
            direction: Direction::Up,
            ecn: Ecn::NotEct,
            number: [0; 3],
        }
    }
}
