//! What a run keeps of single packets where the scenario asks for it: the outcome of each
//! (`metrics.packet_trace`), and what happens at a modem (`metrics.modem_trace`). Memory then grows
//! with the run, until a trace is full: what comes later is not in it, and a warning says so.

use super::modem_trace::{ModemEventKind, ModemTrace};
use super::queue_meter::Member;
use crate::packet::{Direction, DropReason, Ecn, NO_NUMBER, Packet, Segment};
use crate::token_bucket::TokenBucket;
use crate::units::Time;
use sojourn_input::fault;
use sojourn_input::problem::Warning;

/// Packets of a trace. A packet carries its number in 24 bits; one number says that it has none.
pub const MOST_PACKETS: u64 = (1 << 24) - 1;

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It came to its endpoint.
    Delivered,
    /// It was dropped.
    Dropped(DropReason),
    /// Neither until now.
    UnderWay,
}

impl Outcome {
    /// As it stands in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Dropped(reason) => reason.name(),
            Self::UnderWay => "under_way",
        }
    }
}

/// One line of the packet trace.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketRecord {
    /// Its number among all packets of the run, from 0, in the order of sending.
    pub number: u64,
    /// When it was sent.
    pub sent: Time,
    /// Downstream: when it came to the CMTS; never if it was lost before.
    pub reached_cmts: Time,
    /// When its last byte left its service flow: at the modem upstream, at the CMTS downstream; never
    /// if it was dropped before.
    pub forwarded: Time,
    /// When it was delivered or dropped; never while it is under way.
    pub ended: Time,
    /// Its transport header.
    pub segment: Segment,
    /// Slot of its connection; [`crate::packet::DATAGRAM`] for none, and a conversation's number for a packet from outside.
    pub flow: u32,
    /// Number of the connection among those of its entry, from 1; `None` for a datagram.
    pub connection: Option<u32>,
    /// Entry of the traffic list.
    pub traffic: u16,
    /// The home it comes from or goes to, by its number in the network from 0.
    pub home: u16,
    /// The server it goes to or comes from, by its number in the scenario from 0.
    pub server: u16,
    /// Bytes on the wire.
    pub size: u16,
    /// Which way it went.
    pub direction: Direction,
    /// Its ECN field as it was sent.
    pub ecn: Ecn,
    /// A queue marked it.
    pub marked: bool,
    /// The last that it waited in of the queues of which there are two.
    pub member: Option<Member>,
    /// Queue Protection sent it to the classic queue (RFC 9957 §4).
    pub sanctioned: bool,
    /// What became of it.
    pub outcome: Outcome,
}

impl PacketRecord {
    /// The line of a packet that is being sent.
    pub fn new(number: u64, connection: Option<u32>, packet: &Packet) -> Self {
        Self {
            number,
            sent: packet.sent_at,
            reached_cmts: Time::NEVER,
            forwarded: Time::NEVER,
            ended: Time::NEVER,
            segment: packet.segment.clone(),
            flow: packet.flow,
            connection,
            traffic: packet.traffic,
            home: packet.home,
            server: packet.server,
            size: packet.size,
            direction: packet.direction,
            ecn: packet.ecn,
            marked: false,
            member: None,
            sanctioned: false,
            outcome: Outcome::UnderWay,
        }
    }
}

/// The traces of a run, one of them at least.
pub struct Trace {
    /// Packets sent so far.
    sent: u64,
    /// By slot of the connection table, the number of the connection among those of its entry.
    connections: Vec<u32>,
    packets: Option<Vec<PacketRecord>>,
    modem: Option<ModemTrace>,
    /// When the first packet was sent that has no number.
    full_at: Option<Time>,
}

impl Trace {
    /// A trace of all packets, of a modem, or of both; `None` for neither.
    pub fn new(packets: bool, modem: bool) -> Option<Box<Self>> {
        let packets = packets.then(Vec::new);
        let modem = modem.then(ModemTrace::default);
        let is_wanted = packets.is_some() || modem.is_some();
        let new =
            || Box::new(Self { sent: 0, connections: Vec::new(), packets, modem, full_at: None });
        is_wanted.then(new)
    }

    /// The `number`th connection of an entry is opened in this slot.
    pub fn opened(&mut self, slot: u32, number: u64) {
        let slot = slot as usize;
        if slot >= self.connections.len() {
            self.connections.resize(slot + 1, 0);
        }
        self.connections[slot] = u32::try_from(number).expect("a trace is full before");
    }

    /// A packet sets out: it gets its number, unless the trace is full.
    pub fn sent(&mut self, packet: &mut Packet) {
        if self.sent == MOST_PACKETS {
            packet.number = NO_NUMBER;
            if self.full_at.is_none() {
                self.full_at = Some(packet.sent_at);
                self.modem.iter_mut().for_each(|modem| modem.cut(packet.sent_at));
            }
            return;
        }
        let number = self.sent;
        self.sent += 1;
        let [a, b, c, ..] = number.to_le_bytes();
        packet.number = [a, b, c];
        let connection = self.connection(packet);
        if let Some(packets) = &mut self.packets {
            packets.push(PacketRecord::new(number, connection, packet));
        }
    }

    /// The connection of a packet that is being sent.
    fn connection(&self, packet: &Packet) -> Option<u32> {
        packet.is_of_connection().then(|| self.connections[packet.flow as usize])
    }

    fn record(&mut self, packet: &Packet) -> Option<&mut PacketRecord> {
        let number = packet.trace_number()?;
        self.packets.as_mut()?.get_mut(number as usize)
    }

    /// A packet for a home comes to the CMTS.
    pub fn reached_access(&mut self, now: Time, packet: &Packet) {
        if let Some(record) = self.record(packet) {
            record.reached_cmts = now;
        }
    }

    /// The last byte of a packet leaves its service flow at this time.
    pub fn forwarded(&mut self, at: Time, packet: &Packet) {
        if let Some(record) = self.record(packet) {
            record.forwarded = at;
        }
    }

    /// A queue marks a packet.
    pub fn marked(&mut self, now: Time, packet: &Packet) {
        if let Some(record) = self.record(packet) {
            record.marked = true;
        }
        self.at_modem(now, ModemEventKind::Mark, packet);
    }

    /// A packet goes to one of two queues.
    pub fn goes_to(&mut self, packet: &Packet, member: Member) {
        if let Some(record) = self.record(packet) {
            record.member = Some(member);
        }
        if passes_modem(packet)
            && let (Some(modem), Some(number)) = (&mut self.modem, packet.trace_number())
        {
            modem.goes_to(number, member);
        }
    }

    /// Queue Protection sends a packet to the classic queue.
    pub fn sanctioned(&mut self, now: Time, packet: &Packet) {
        self.goes_to(packet, Member::Classic);
        if let Some(record) = self.record(packet) {
            record.sanctioned = true;
        }
        self.at_modem(now, ModemEventKind::Sanction, packet);
    }

    /// A packet is delivered or dropped.
    pub fn ended(&mut self, at: Time, packet: &Packet, outcome: Outcome) {
        if let Some(record) = self.record(packet) {
            record.ended = at;
            record.outcome = outcome;
        }
        match outcome {
            Outcome::Dropped(DropReason::Link) => {} // beyond the modem
            Outcome::Dropped(reason) => self.at_modem(at, ModemEventKind::Drop(reason), packet),
            Outcome::Delivered | Outcome::UnderWay => {}
        }
    }

    /// A packet comes to the modem that is traced, whose bucket of the sustained rate is this.
    pub fn arrives_at_modem(&mut self, now: Time, bucket: &TokenBucket, packet: &Packet) {
        let connection = self.connection(packet);
        if let (Some(modem), Some(number)) = (&mut self.modem, packet.trace_number()) {
            modem.bucket(bucket);
            modem.arrive(now, number, connection, packet);
        }
    }

    /// Something happens to a packet, if it is one of the primary service flow of the modem that is
    /// traced.
    pub fn at_modem(&mut self, at: Time, kind: ModemEventKind, packet: &Packet) {
        if !passes_modem(packet) {
            return;
        }
        if let (Some(modem), Some(number)) = (&mut self.modem, packet.trace_number()) {
            modem.packet(at, kind, number, packet.size.into());
        }
    }

    /// The trace of the modem, if one is kept.
    pub fn modem(&mut self) -> Option<&mut ModemTrace> {
        self.modem.as_mut()
    }

    /// What a user must know of traces that became full.
    pub fn warnings(&self) -> Vec<Warning> {
        let full = |key: &str, at: Time, kept: u64, what: &str| {
            let key = format!("metrics.{key}");
            fault!(TraceFull, &key =>
                "{key}: the trace is full at {at_s:.3} s, with {kept} {what}; what comes later is not in it",
                at_s = at.secs_f64(), kept)
        };
        let packets = self.packets.as_ref().and(self.full_at);
        let packets = packets.map(|at| full("packet_trace", at, self.sent, "packets"));
        let modem = self.modem.as_ref().and_then(ModemTrace::cut_at);
        let modem = modem.map(|(at, events)| full("modem_trace", at, events as u64, "events"));
        packets.into_iter().chain(modem).collect()
    }

    /// The packets that ended, in the order in which they did, and what happened at the modem.
    pub fn finish(self) -> (Vec<PacketRecord>, Option<ModemTrace>) {
        let mut packets = self.packets.unwrap_or_default();
        packets.retain(|record| record.outcome != Outcome::UnderWay);
        packets.sort_by_key(|record| record.ended);
        (packets, self.modem)
    }
}

/// Does a packet take the service flow that is traced?
fn passes_modem(packet: &Packet) -> bool {
    matches!(packet, Packet { home: 0, service_flow: 0, direction: Direction::Up, .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last packets that have a number, and those after them: their outcomes are not written to
    /// the records of others.
    #[test]
    fn a_full_trace_says_when_and_keeps_what_it_has() {
        let mut trace = Trace::new(false, true).expect("it is asked for");
        trace.sent = MOST_PACKETS - 2;
        let packets = [1, 2, 3, 4].map(|s| {
            let mut packet = Packet { sent_at: Time::from_s(s), ..Packet::datagram(100) };
            trace.sent(&mut packet);
            packet
        });
        let numbers = packets.each_ref().map(Packet::trace_number);
        assert_eq!(numbers, [Some(MOST_PACKETS - 2), Some(MOST_PACKETS - 1), None, None]);
        let warnings: Vec<_> = trace.warnings().into_iter().map(|one| one.message).collect();
        assert_eq!(
            warnings,
            [
                "metrics.modem_trace: the trace is full at 3.000 s, with 0 events; what comes later is not \
              in it"
            ]
        );
    }

    #[test]
    fn there_is_no_trace_unless_it_is_asked_for() {
        assert!(Trace::new(false, false).is_none());
    }
}
