//! Packets that were sent and are not settled: what they carried, which are lost (RFC 9002 §6.1), and
//! whether congestion is persistent (RFC 9002 §7.6). Each packet has a number of its own, also if what it
//! carries was sent before, so their order is that of sending.

use std::collections::VecDeque;

use crate::rate::RateSampler;
use sojourn_engine::units::Time;

/// RFC 9002 §6.1.1: packets sent later that must have arrived (kPacketThreshold).
const PACKET_THRESHOLD: u64 = 3;

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// It elicits an acknowledgement, and none has come.
    UnderWay,
    /// It carries nothing but an ACK frame.
    Bare,
    /// It has arrived.
    Acknowledged,
    /// It is lost.
    Lost,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// When.
    pub at: Time,
    /// Where its bytes begin.
    pub offset: u64,
    /// One past the largest packet number that its ACK frame reported; zero without one.
    pub reported: u64,
    /// Its bytes, with the end of the stream counted for one.
    pub len: u32,
    /// Bytes of the datagram.
    pub size: u16,
    /// Do its bytes belong to the handshake?
    pub is_crypto: bool,
    /// What became of it.
    pub state: State,
}

/// Packets in the order of their numbers.
pub(super) struct Record {
    packets: VecDeque<Sent>,
    /// How many have left at the front: the first has this number.
    gone: u64,
    under_way_bytes: u64,
    under_way: u64,
    largest_acknowledged: Option<u64>,
    last_eliciting_at: Time,
    /// When a packet will be late enough to be lost.
    loss_at: Time,
    /// When the first of the packets left that are all lost up to here.
    lost_since: Option<Time>,
    /// If the congestion control wants samples of the delivery rate: what takes them, with a stamp for each packet.
    sampler: Option<Box<RateSampler>>,
}

impl Record {
    /// Nothing sent, and perhaps samples of the delivery rate to be taken.
    pub(super) fn sampled(wants_samples: bool) -> Self {
        Self { sampler: wants_samples.then(Box::default), ..Self::new() }
    }

    /// Nothing sent.
    pub(super) fn new() -> Self {
        Self {
            packets: VecDeque::new(),
            gone: 0,
            under_way_bytes: 0,
            under_way: 0,
            largest_acknowledged: None,
            last_eliciting_at: Time::ZERO,
            loss_at: Time::NEVER,
            lost_since: None,
            sampler: None,
        }
    }

    /// What samples the delivery rate.
    pub(super) fn sampler(&mut self) -> Option<&mut RateSampler> {
        self.sampler.as_deref_mut()
    }

    /// Packets under way that elicit an acknowledgement.
    pub(super) fn under_way(&self) -> u64 {
        self.under_way
    }

    /// A packet that was under way has arrived.
    pub(super) fn deliver(&mut self, number: u64, now: Time) {
        if let Some(sampler) = &mut self.sampler {
            sampler.deliver((number - self.gone) as usize, now);
        }
    }

    /// The number of the next packet.
    pub(super) fn next(&self) -> u64 {
        self.gone + self.packets.len() as u64
    }

    /// Bytes of datagrams under way.
    pub(super) fn under_way_bytes(&self) -> u64 {
        self.under_way_bytes
    }

    /// Is something under way that elicits an acknowledgement?
    pub(super) fn is_under_way(&self) -> bool {
        self.under_way > 0
    }

    /// The largest number that was acknowledged.
    pub(super) fn largest_acknowledged(&self) -> Option<u64> {
        self.largest_acknowledged
    }

    /// When something last left that elicits an acknowledgement.
    pub(super) fn last_eliciting_at(&self) -> Time {
        self.last_eliciting_at
    }

    /// When a packet will be late enough to be lost.
    pub(super) fn loss_at(&self) -> Time {
        self.loss_at
    }

    /// A packet leaves.
    pub(super) fn send(&mut self, packet: Sent) {
        let before = self.under_way;
        if packet.state == State::UnderWay {
            self.under_way += 1;
            self.under_way_bytes += u64::from(packet.size);
            self.last_eliciting_at = packet.at;
        } else if self.packets.is_empty() {
            self.gone += 1; // there is nothing to wait for
            return;
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.send_after(packet.at, before, before == 0);
        }
        self.packets.push_back(packet);
    }

    /// A packet is acknowledged: gives it, unless it was lost before or had nothing to acknowledge.
    pub(super) fn acknowledge(&mut self, number: u64) -> Option<Sent> {
        self.largest_acknowledged = self.largest_acknowledged.max(Some(number));
        let packet = self.packets.get_mut(number.checked_sub(self.gone)? as usize)?;
        match packet.state {
            State::Acknowledged | State::Lost => return None,
            State::Bare => {
                packet.state = State::Acknowledged;
                return None;
            }
            State::UnderWay => packet.state = State::Acknowledged,
        }
        self.under_way -= 1;
        self.under_way_bytes -= u64::from(packet.size);
        Some(*packet)
    }

    /// Finds what is lost by now (RFC 9002 A.10).
    pub(super) fn detect(&mut self, now: Time, loss_delay: Time, mut lost: impl FnMut(&Sent)) {
        self.loss_at = Time::NEVER;
        let Some(largest) = self.largest_acknowledged else { return };
        for (number, packet) in (self.gone..=largest).zip(&mut self.packets) {
            if packet.state != State::UnderWay {
                continue;
            }
            if packet.at + loss_delay > now && number + PACKET_THRESHOLD > largest {
                // What left later is not late either, and nearer to the largest.
                self.loss_at = packet.at + loss_delay;
                break;
            }
            packet.state = State::Lost;
            self.under_way -= 1;
            self.under_way_bytes -= u64::from(packet.size);
            if let Some(sampler) = &mut self.sampler {
                sampler.lose((number - self.gone) as usize);
            }
            lost(packet);
        }
    }

    /// Forgets what is settled at the front. Says whether all packets of longer than `persistent` are lost
    /// among those that left after the first round trip was measured (RFC 9002 §7.6.2).
    pub(super) fn settle(&mut self, persistent: Time, measured_at: Option<Time>) -> bool {
        let mut is_persistent = false;
        while let Some(packet) = self.packets.front().filter(|p| p.state != State::UnderWay) {
            match packet.state {
                State::Acknowledged => self.lost_since = None,
                State::Lost if measured_at.is_some_and(|at| packet.at > at) => {
                    let since = *self.lost_since.get_or_insert(packet.at);
                    is_persistent |= packet.at.since(since) > persistent;
                }
                State::Lost | State::Bare | State::UnderWay => {}
            }
            self.packets.pop_front();
            self.gone += 1;
            self.sampler.iter_mut().for_each(|sampler| sampler.forget_first());
        }
        if is_persistent {
            self.lost_since = None;
        }
        is_persistent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_ms;

    fn packet(at: Time) -> Sent {
        let (offset, reported, len, size) = (0, 0, 100, 140);
        Sent { at, offset, reported, len, size, is_crypto: false, state: State::UnderWay }
    }

    /// Packets at these times in ms.
    fn record(at_ms: &[u64]) -> Record {
        let mut record = Record::new();
        at_ms.iter().for_each(|ms| record.send(packet(MS(*ms))));
        record
    }

    fn detect(record: &mut Record, now: Time, delay: Time) -> usize {
        let mut lost = 0;
        record.detect(now, delay, |_| lost += 1);
        lost
    }

    /// RFC 9002 §6.1.1: number 3 acknowledged makes 0 lost, not 1 and 2.
    #[test]
    fn three_packets_later_one_is_lost() {
        let mut record = record(&[0, 1, 2, 3, 4]);
        record.acknowledge(2);
        assert_eq!(detect(&mut record, MS(50), MS(90)), 0);
        assert_eq!(record.loss_at(), MS(90));
        record.acknowledge(3);
        assert_eq!(detect(&mut record, MS(50), MS(90)), 1);
        assert_eq!((record.loss_at(), record.under_way_bytes()), (MS(91), 2 * 140));
        // What left after the largest acknowledged is never late by time (§6.1).
        assert_eq!(detect(&mut record, MS(500), MS(90)), 1);
        assert_eq!((record.loss_at(), record.is_under_way()), (Time::NEVER, true));
    }

    #[test]
    fn a_late_acknowledgement_of_a_lost_packet_counts_for_nothing() {
        let mut record = record(&[0, 1, 2, 3]);
        record.acknowledge(3);
        assert_eq!(detect(&mut record, MS(50), MS(90)), 1);
        assert!(record.acknowledge(0).is_none());
        record.settle(MS(1), None);
        assert!(record.acknowledge(0).is_none());
        assert_eq!(record.acknowledge(1).map(|sent| sent.at), Some(MS(1)));
    }

    /// RFC 9002 §7.6.3: packets at 0 to 6 s, probes at 8 and 12 s. The first and the last are acknowledged;
    /// what left from 1 to 8 s is lost, and these 7 s are longer than three probe timeouts of 2.
    #[test]
    fn all_lost_for_long_is_persistent() {
        let at = [0, 1000, 2000, 3000, 4000, 5000, 6000, 8000, 12_000];
        for (acknowledged, want) in [(None, true), (Some(4), false)] {
            let mut record = record(&at);
            record.acknowledge(0);
            acknowledged.map(|number| record.acknowledge(number));
            record.acknowledge(8);
            let lost = detect(&mut record, MS(12_200), MS(300));
            assert_eq!(lost, 7 - usize::from(acknowledged.is_some()));
            assert_eq!(record.settle(MS(6000), Some(MS(200))), want);
            assert_eq!(record.next(), 9);
        }
        // Before the first round trip was measured nothing counts (§7.6.2).
        let mut record = record(&at);
        record.acknowledge(8);
        detect(&mut record, MS(12_200), MS(300));
        assert!(!record.settle(MS(6000), Some(MS(2500))));
    }

    #[test]
    fn bare_packets_have_numbers_and_are_not_waited_for() {
        let mut record = Record::new();
        record.send(Sent { state: State::Bare, ..packet(MS(1)) });
        assert_eq!((record.next(), record.is_under_way()), (1, false));
        record.send(packet(MS(2)));
        record.send(Sent { state: State::Bare, ..packet(MS(3)) });
        assert_eq!((record.next(), record.under_way_bytes()), (3, 140));
        assert!(record.acknowledge(1).is_some() && record.acknowledge(2).is_none());
        record.settle(MS(1), None);
        assert_eq!((record.packets.len(), record.next()), (0, 3));
    }
}
