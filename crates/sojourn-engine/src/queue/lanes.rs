//! What schedulers with a low-latency queue L and a classic queue C share: a lane, and the weighted
//! round robin between two.

use std::collections::VecDeque;

use super::Counters;
use crate::aqm::marking::Spacer;
use crate::count::Count;
use crate::packet::{DropReason, Packet};
use crate::record::{Counted, MemberCounts, Recorder};
use crate::units::Time;

crate::series! {
    /// DualQ, Low Latency DOCSIS: probability of dropping or marking a classic packet.
    CLASSIC_PROBABILITY = "classic_probability", in "1", from "RFC 9332, section 2.1";
    /// DualQ, Low Latency DOCSIS: probability of marking a low-latency packet that follows the classic queue.
    COUPLED_PROBABILITY = "coupled_probability", in "1", from "RFC 9332, section 2.1";
    /// DualQ, Low Latency DOCSIS: packets in the low-latency queue.
    LOW_LATENCY_PACKETS = "low_latency_packets", in "packets";
    /// DualQ, Low Latency DOCSIS: packets in the classic queue.
    CLASSIC_PACKETS = "classic_packets", in "packets";
    /// DualQ, Low Latency DOCSIS: marks by the law of the low-latency queue itself, since the run began.
    NATIVE_MARKS = "native_marks", in "packets";
    /// DualQ, Low Latency DOCSIS: low-latency packets marked as the classic queue asks, since the run began.
    COUPLED_MARKS = "coupled_marks", in "packets";
    /// DualQ, Low Latency DOCSIS: low-latency packets marked while the coupled probability is 1, since the run began.
    OVERLOAD_MARKS = "overload_marks", in "packets";
    /// DualQ, Low Latency DOCSIS: packets dropped in the low-latency queue, since the run began.
    LOW_LATENCY_DROPS = "low_latency_drops", in "packets";
    /// DualQ, Low Latency DOCSIS: packets dropped in the classic queue, since the run began.
    CLASSIC_DROPS = "classic_drops", in "packets";
}

/// Bytes of the packet that weights of the round robin are counted in: 1500 and an Ethernet header.
pub(super) const MTU: f64 = 1514.0;

/// What is done to a packet, by the count of it.
pub(super) type Done = fn(&mut MemberCounts) -> &mut u64;

/// The cause of a mark in L.
pub(super) fn cause(is_overloaded: bool, is_native: bool) -> Done {
    match (is_overloaded, is_native) {
        (true, _) => |of| &mut of.overload_marks,
        (false, true) => |of| &mut of.native_marks,
        (false, false) => |of| &mut of.coupled_marks,
    }
}

/// One of the two queues, with its spacing of signals.
#[derive(Default)]
pub(super) struct Lane {
    packets: VecDeque<Packet>,
    bytes: u64,
    /// Spaces its marks.
    pub marks: Spacer,
    /// Spaces its drops.
    pub drops: Spacer,
    counts: Counted<MemberCounts>,
}

impl Lane {
    /// Appends a packet.
    #[inline]
    pub(super) fn push(&mut self, packet: Packet) {
        self.bytes += u64::from(packet.size);
        self.packets.push_back(packet);
    }

    /// Removes the first packet.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    /// Counts what is done to a packet.
    pub(super) fn note(&mut self, packet: &Packet, what: Done, recorder: &Recorder) {
        self.counts.add(recorder.counts(packet), what);
    }

    /// Marks a packet that may be, for this cause.
    pub(super) fn mark(
        &mut self,
        now: Time,
        packet: &mut Packet,
        cause: Done,
        counters: &mut Counters,
    ) {
        self.note(packet, cause, counters.recorder);
        counters.mark(now, packet);
    }

    /// Drops a packet at a limit.
    pub(super) fn overflow(&mut self, now: Time, packet: Packet, counters: &mut Counters) {
        self.note(&packet, |of| &mut of.dropped_overflow, counters.recorder);
        counters.drop(now, packet, DropReason::Overflow);
    }

    /// Drops a packet early.
    pub(super) fn drop_early(&mut self, now: Time, packet: Packet, counters: &mut Counters) {
        self.note(&packet, |of| &mut of.dropped_aqm, counters.recorder);
        counters.drop(now, packet, DropReason::Aqm);
    }

    /// Packets dropped for either reason.
    pub(super) fn dropped(&self) -> u64 {
        self.counts.all.dropped_overflow + self.counts.all.dropped_aqm
    }

    /// What it counts, and what waits in it.
    pub(super) fn counts(&self) -> Counted<MemberCounts> {
        let all = MemberCounts { backlog: self.backlog(), ..self.counts.all };
        Counted { all, ..self.counts }
    }

    /// Does nothing wait?
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// What waits.
    /// What waits in it.
    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter()
    }

    #[inline]
    pub(super) fn backlog(&self) -> Count {
        Count { bytes: self.bytes, packets: self.packets.len() as u64 }
    }

    /// How long the head has waited; nothing if there is none.
    pub(super) fn head_sojourn(&self, now: Time) -> Time {
        self.packets.front().map_or(Time::ZERO, |head| now.since(head.queued_at))
    }
}

/// Weighted round robin by credit (sch_dualpi2).
pub(super) struct Wrr {
    /// In the same unit; whole numbers keep the credit exact.
    classic_weight: f64,
    low_weight: f64,
    credit: f64,
}

impl Wrr {
    /// A round robin by these weights of C and L.
    pub(super) fn new(classic_weight: f64, low_weight: f64) -> Self {
        let mut wrr = Self { classic_weight, low_weight, credit: 0.0 };
        wrr.reset();
        wrr
    }

    /// Is it the turn of L? Both wait.
    #[inline]
    pub(super) fn serves_low(&self) -> bool {
        self.credit <= 0.0
    }

    /// Forgets who has had how much: nothing waits.
    #[inline]
    pub(super) fn reset(&mut self) {
        // Below zero while L has the larger weight, so that L goes first.
        self.credit = MTU * (self.classic_weight - self.low_weight);
    }

    /// A packet of this queue is sent while the other one waits.
    #[inline]
    pub(super) fn charge(&mut self, from_low: bool, size: f64) {
        self.credit += size * if from_low { self.classic_weight } else { -self.low_weight };
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::*;

    /// Which queue has each of so many turns, where both always wait; C is 0.
    fn turns(classic: f64, low: f64, packets: usize) -> Vec<u8> {
        let mut wrr = Wrr::new(classic, low);
        let turn = |_| {
            let serves_low = wrr.serves_low();
            wrr.charge(serves_low, MTU);
            u8::from(serves_low)
        };
        (0..packets).map(turn).collect()
    }

    #[test]
    fn the_heavier_queue_goes_first_and_as_often_as_it_is_heavier() {
        assert_eq!(turns(50.0, 50.0, 4), [1, 0, 1, 0]);
        // Nine of ten: the credit is 80 packets below zero at first, and ten nearer with each.
        assert_eq!(turns(10.0, 90.0, 12), [1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1]);
        assert_eq!(turns(75.0, 25.0, 8), [0, 0, 1, 0, 0, 0, 1, 0]);
        let mut wrr = Wrr::new(10.0, 90.0);
        (0..9).for_each(|_| wrr.charge(true, MTU));
        assert!(!wrr.serves_low());
        wrr.reset();
        assert!(wrr.serves_low());
    }

    #[test]
    fn a_lane_counts_what_waits() {
        let mut lane = Lane::default();
        assert_eq!(lane.head_sojourn(Time::from_ms(5)), Time::ZERO);
        for (ms, size) in [(1, 100), (2, 200)] {
            lane.push(Packet { queued_at: Time::from_ms(ms), ..Packet::datagram(size) });
        }
        assert_eq!(lane.head_sojourn(Time::from_ms(5)), Time::from_ms(4));
        let mut bench = Bench::of(9);
        let counters = &mut bench.entry().counters;
        (0..3).for_each(|_| lane.overflow(Time::ZERO, Packet::datagram(1), counters));
        (0..4).for_each(|_| lane.drop_early(Time::ZERO, Packet::datagram(1), counters));
        let counts = lane.counts().all;
        assert_eq!((counts.dropped_overflow, counts.dropped_aqm, lane.dropped()), (3, 4, 7));
        assert_eq!((bench.counts.all.dropped_overflow, bench.counts.all.dropped_aqm), (3, 4));
        for left in [Count { packets: 1, bytes: 200 }, Count::default()] {
            assert!(lane.pop().is_some());
            assert_eq!((lane.backlog(), lane.is_empty()), (left, left.packets == 0));
        }
    }
}
