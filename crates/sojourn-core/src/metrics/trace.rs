//! What a run keeps of single packets where the scenario asks for it: the outcome of each
//! (`metrics.packet_trace`), and what happens at a modem (`metrics.modem_trace`). Memory then grows
//! with the run.

use super::modem_trace::{ModemEventKind, ModemTrace};
use super::results::{Outcome, PacketRecord};
use crate::packet::{DATAGRAM, Direction, DropReason, Packet};
use crate::token_bucket::TokenBucket;
use crate::units::Time;

/// Numbers that a packet can carry: a packet is not under way while so many others are sent.
const NUMBERS: u64 = 1 << 24;

/// The traces of a run, one of them at least.
pub struct Trace {
    /// Packets sent so far.
    sent: u64,
    /// By slot of the connection table, the number of the connection among those of its entry.
    connections: Vec<u32>,
    packets: Option<Vec<PacketRecord>>,
    modem: Option<ModemTrace>,
}

impl Trace {
    /// A trace of all packets, of a modem, or of both; `None` for neither.
    pub fn new(packets: bool, modem: bool) -> Option<Box<Self>> {
        let packets = packets.then(Vec::new);
        let modem = modem.then(ModemTrace::default);
        let is_wanted = packets.is_some() || modem.is_some();
        let new = || Box::new(Self { sent: 0, connections: Vec::new(), packets, modem });
        is_wanted.then(new)
    }

    /// The `number`th connection of an entry is opened in this slot.
    pub fn opened(&mut self, slot: u32, number: u64) {
        let slot = slot as usize;
        if slot >= self.connections.len() {
            self.connections.resize(slot + 1, 0);
        }
        self.connections[slot] = number as u32;
    }

    /// A packet sets out: it gets its number.
    pub fn sent(&mut self, packet: &mut Packet) {
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
        (packet.flow != DATAGRAM).then(|| self.connections[packet.flow as usize])
    }

    /// The number of a packet under way: the last with what it carries of it.
    fn number(&self, packet: &Packet) -> u64 {
        let [a, b, c] = packet.number;
        let carried = u64::from(u32::from_le_bytes([a, b, c, 0]));
        let last = self.sent - 1;
        last - (last.wrapping_sub(carried) % NUMBERS)
    }

    fn record(&mut self, packet: &Packet) -> Option<&mut PacketRecord> {
        let number = self.number(packet);
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

    /// A packet is delivered or dropped.
    pub fn ended(&mut self, at: Time, packet: &Packet, outcome: Outcome) {
        if let Some(record) = self.record(packet) {
            record.ended = at;
            record.outcome = outcome;
        }
        match outcome {
            Outcome::Dropped(DropReason::Link) => {} // beyond the modem
            Outcome::Dropped(reason) => self.at_modem(at, ModemEventKind::Drop(reason), packet),
            Outcome::Delivered if passes_modem(packet) => {
                let number = self.number(packet);
                self.modem.iter_mut().for_each(|modem| modem.deliver(at, number));
            }
            Outcome::Delivered | Outcome::UnderWay => {}
        }
    }

    /// A packet comes to the modem that is traced, whose bucket of the sustained rate is this.
    pub fn arrives_at_modem(&mut self, now: Time, bucket: &TokenBucket, packet: &Packet) {
        let (number, connection) = (self.number(packet), self.connection(packet));
        if let Some(modem) = &mut self.modem {
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
        let number = self.number(packet);
        if let Some(modem) = &mut self.modem {
            modem.packet(at, kind, number, packet.size.into());
        }
    }

    /// The trace of the modem, if one is kept.
    pub fn modem(&mut self) -> Option<&mut ModemTrace> {
        self.modem.as_mut()
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
    use crate::packet::{Ecn, Segment};

    fn datagram() -> Packet {
        Packet {
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
            size: 100,
            direction: Direction::Up,
            ecn: Ecn::NotEct,
            number: [0; 3],
        }
    }

    /// Of the 24 bits that a packet carries, the number is the last one that ends so.
    #[test]
    fn numbers_are_known_beyond_what_packets_carry_of_them() {
        let mut trace = Trace::new(false, true).expect("it is asked for");
        trace.sent = NUMBERS - 2;
        let packets = [(); 4].map(|()| {
            let mut packet = datagram();
            trace.sent(&mut packet);
            packet
        });
        assert_eq!(packets[3].number, [1, 0, 0]);
        let numbers = packets.each_ref().map(|packet| trace.number(packet));
        assert_eq!(numbers, [NUMBERS - 2, NUMBERS - 1, NUMBERS, NUMBERS + 1]);
    }

    #[test]
    fn there_is_no_trace_unless_it_is_asked_for() {
        assert!(Trace::new(false, false).is_none());
    }
}
