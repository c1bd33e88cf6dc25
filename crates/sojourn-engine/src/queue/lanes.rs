//! What schedulers with a low-latency queue L and a classic queue C share: a lane, and the weighted
//! round robin between two.

use std::collections::VecDeque;

use crate::aqm::marking::Spacer;
use crate::count::Count;
use crate::packet::Packet;
use crate::record::MemberCounts;
use crate::units::Time;

/// Bytes of the packet that weights of the round robin are counted in: 1500 and an Ethernet header.
pub(super) const MTU: f64 = 1514.0;

/// One of the two queues, with its spacing of signals.
#[derive(Default)]
pub(super) struct Lane {
    packets: VecDeque<Packet>,
    bytes: u64,
    /// Spaces its marks.
    pub marks: Spacer,
    /// Spaces its drops.
    pub drops: Spacer,
    /// Packets dropped at a limit.
    pub dropped_overflow: u64,
    /// Packets dropped early.
    pub dropped_aqm: u64,
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

    /// Packets dropped for either reason.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped_overflow + self.dropped_aqm
    }

    /// What it counts by itself.
    pub(super) fn counts(&self) -> MemberCounts {
        MemberCounts {
            backlog: self.backlog(),
            dropped_overflow: self.dropped_overflow,
            dropped_aqm: self.dropped_aqm,
            ..MemberCounts::default()
        }
    }

    /// Does nothing wait?
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// What waits.
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
