//! Links that only delay: transmission at the rate of their capacity, then a fixed delay. They may lose
//! packets at random.

use std::collections::VecDeque;

use crate::capacity::Capacity;
use crate::count::Count;
use crate::packet::{DropReason, Packet};
use crate::record::Recorder;
use crate::rng::Rng;
use crate::units::{BitRate, Time};

/// A link whose packets arrive in the order they were sent. The time of arrival is known when a
/// packet is sent, so packets in transit are a queue of which only the first is scheduled.
///
/// Left out: a limit to what may wait for the link. Servers' links are usually much faster than the access
/// network, so at most a burst of one window waits there; where more is sent, the estimate of a run's memory
/// counts it.
pub struct Link {
    capacity: Capacity,
    delay: Time,
    busy_until: Time,
    under_way: VecDeque<(Time, Packet)>,
    /// Probability of losing a packet, and its random numbers.
    loss: Option<(f64, Rng)>,
}

impl Link {
    /// A link of this capacity and one-way delay.
    pub fn new(capacity: Capacity, delay: Time) -> Self {
        Self { capacity, delay, busy_until: Time::ZERO, under_way: VecDeque::new(), loss: None }
    }

    /// The same link, losing each packet with probability `chance`.
    pub fn losing(mut self, chance: f64, rng: Rng) -> Self {
        self.loss = (chance > 0.0).then_some((chance, rng));
        self
    }

    /// Takes a packet that reaches the sending end at `now`, no earlier than the packet before it.
    /// A lost packet takes no time on the link.
    #[inline(always)]
    pub fn accept(&mut self, now: Time, packet: Packet, recorder: &mut Recorder) {
        if let Some((chance, rng)) = &mut self.loss
            && rng.uniform() < *chance
        {
            recorder.dropped(now, packet, DropReason::Link);
            return;
        }
        self.busy_until = self.capacity.done_at(self.busy_until.max(now), packet.size.into());
        self.under_way.push_back((self.busy_until + self.delay, packet));
    }

    /// When the last packet has been sent.
    #[inline]
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// The rate at which it sends now.
    pub fn rate(&mut self, now: Time) -> BitRate {
        self.capacity.rate(now)
    }

    /// When the next packet arrives.
    #[inline]
    pub fn next_wake(&self) -> Time {
        self.under_way.front().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// The packet that arrives now, with its time.
    #[inline]
    pub fn wake(&mut self) -> Option<(Time, Packet)> {
        self.under_way.pop_front()
    }

    /// Packets and bytes in transit.
    pub fn inside(&self) -> Count {
        self.under_way.iter().map(|(_, packet)| Count::of(packet)).sum()
    }
}
