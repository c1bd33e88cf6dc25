//! Packets in transit on a medium that only delays, where several senders know in advance when
//! their packets leave.

use std::collections::VecDeque;

use crate::count::Count;
use crate::packet::Packet;
use crate::units::Time;

/// Packets in transit, ordered by arrival. Packets that arrive at the same time keep the order in
/// which they were accepted. Only the first is scheduled.
pub struct DelayLine {
    delay: Time,
    under_way: VecDeque<(Time, Packet)>,
}

impl DelayLine {
    /// An empty line of this one-way delay.
    pub fn new(delay: Time) -> Self {
        Self { delay, under_way: VecDeque::new() }
    }

    /// Takes a packet whose last byte leaves its sender at `leaves_at`.
    #[inline]
    pub fn accept(&mut self, leaves_at: Time, packet: Packet) {
        let arrival = leaves_at + self.delay;
        if self.under_way.back().is_none_or(|(last, _)| *last <= arrival) {
            self.under_way.push_back((arrival, packet));
        } else {
            self.insert(arrival, packet);
        }
    }

    /// Puts a packet before those that arrive later.
    fn insert(&mut self, arrival: Time, packet: Packet) {
        let later = self.under_way.iter().rev().take_while(|(other, _)| *other > arrival).count();
        self.under_way.insert(self.under_way.len() - later, (arrival, packet));
    }

    /// When the next packet arrives.
    #[inline]
    pub fn next_wake(&self) -> Time {
        self.under_way.front().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// The next packet, and when it arrives.
    #[inline]
    pub fn wake(&mut self) -> Option<(Time, Packet)> {
        self.under_way.pop_front()
    }

    /// Packets and bytes in transit.
    pub fn inside(&self) -> Count {
        self.under_way.iter().map(|(_, packet)| Count::of(packet)).sum()
    }
}
