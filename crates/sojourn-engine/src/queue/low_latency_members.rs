//! The members of a Low Latency DOCSIS aggregate: the low-latency flow L, the classic flow C, and what C asks
//! of L.

use super::Entry;
use super::lanes::{
    COUPLED_MARKS, LOW_LATENCY_DROPS, LOW_LATENCY_PACKETS, Lane, NATIVE_MARKS, OVERLOAD_MARKS,
    cause,
};
use super::low_latency_parameters::{DelayEstimate, Parameters};
use crate::aqm::docsis_pie::DocsisPie;
use crate::aqm::immediate;
use crate::aqm::marking::Ramp;
use crate::aqm::queue_protection::QueueProtection;
use crate::aqm::virtual_queue::Loop;
use crate::aqm::{Aqm, Arrival, DrainRate, Verdict};
use crate::count::Count;
use crate::packet::Packet;
use crate::record::Gauges;
use crate::units::{BitRate, Time};

crate::series! {
    /// Low Latency DOCSIS: probability of a mark by the low-latency queue's own delay.
    NATIVE_PROBABILITY = "native_probability", in "1", from "DOCSIS 3.1 MULPI, annexes M to P";
    /// Low Latency DOCSIS: estimate of the low-latency queue's delay.
    LOW_LATENCY_DELAY = "low_latency_delay", in "ms";
    /// Low Latency DOCSIS: packets that Queue Protection moved to the classic queue, since the run began.
    SANCTIONED_PACKETS = "sanctioned_packets", in "packets", from "RFC 9957, section 4";
}

/// Room of docsis-ns3 that L leaves for a packet.
const ROOM: u64 = 2000;

/// The likelihood of a mark in L that the drops of C ask for (MULPI annex N): p_CL = min(1, k p'), with
/// p' = sqrt(p).
pub(super) struct Coupling {
    /// The coupling factor k, if C has an AQM algorithm and the flows are coupled.
    factor: Option<f64>,
    likelihood: f64,
}

impl Coupling {
    /// C drops nothing yet.
    pub(super) fn new(parameters: &Parameters) -> Self {
        let is_coupled = parameters.classic_aqm && parameters.coupled;
        Self { factor: is_coupled.then_some(parameters.coupling), likelihood: 0.0 }
    }

    /// C drops with this likelihood.
    pub(super) fn follow(&mut self, probability: f64) {
        self.likelihood = self.factor.map_or(0.0, |k| (k * probability.sqrt()).min(1.0));
    }

    /// p_CL.
    pub(super) fn likelihood(&self) -> f64 {
        self.likelihood
    }
}

/// What of L depends on the rate of the aggregate.
struct OfRate {
    /// The rate that L may have of it (MAX_RATE: the smaller one of the aggregate's and its own).
    rate: BitRate,
    ramp: Ramp,
    buffer_bytes: u64,
    /// Bytes that may wait for request and grant.
    allowed: f64,
}

/// The low-latency flow.
pub(super) struct Low {
    pub lane: Lane,
    has_aqm: bool,
    of_rate: OfRate,
    estimate: DelayEstimate,
    request_loop: Option<Loop>,
    protection: Option<Box<QueueProtection>>,
    /// Estimated delay when its last packet came.
    delay: Time,
}

impl Low {
    /// An empty queue.
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            lane: Lane::default(),
            has_aqm: parameters.low_latency_aqm,
            of_rate: OfRate {
                rate: BitRate::from_bps(1),
                ramp: Ramp { min: Time::NEVER, max: Time::NEVER },
                buffer_bytes: 0,
                allowed: 0.0,
            },
            estimate: parameters.estimate(false),
            request_loop: None,
            protection: parameters.protection().map(Box::new),
            delay: Time::ZERO,
        }
    }

    /// Its packets wait for request and grant.
    pub(super) fn set_request_loop(&mut self, request_loop: Loop, parameters: &Parameters) {
        self.request_loop = Some(request_loop);
        self.estimate = parameters.estimate(true);
    }

    /// Follows the rate of the aggregate.
    pub(super) fn set_rate(&mut self, rate: BitRate, parameters: &Parameters) {
        let max = Time::from_secs_f64(parameters.low_latency_max_us / 1e6);
        let [own, _] = parameters.member_rates();
        let low = own.map_or(rate, |own| own.min(rate));
        let ramp = immediate::ramp(max, parameters.low_latency_range_exponent.into(), low);
        if let Some(protection) = &mut self.protection
            && parameters.critical_delay_us.is_none()
        {
            protection.set_critical_delay(ramp.max);
        }
        let allowed = self.request_loop.map_or(0.0, |of_loop| of_loop.allowed_bytes(low));
        let buffer_bytes = parameters.buffers(rate).low;
        self.of_rate = OfRate { rate: low, ramp, buffer_bytes, allowed };
    }

    /// The rate that it may have.
    pub(super) fn rate(&self) -> BitRate {
        self.of_rate.rate
    }

    /// The estimated delay with a packet of this size, which comes now (MULPI annex O).
    #[inline]
    pub(super) fn delay_with(&mut self, now: Time, size: u64) -> Time {
        let OfRate { rate, allowed, .. } = self.of_rate;
        let waiting = self.lane.backlog().bytes;
        self.delay = match &mut self.estimate {
            DelayEstimate::Backlog => rate.time_for(waiting + size),
            DelayEstimate::Virtual(queue) => {
                queue.advance(now, waiting, rate, allowed);
                queue.add(size, rate)
            }
        };
        self.delay
    }

    /// Queues the packet whose delay was estimated last, or drops it. Returns it if Queue Protection
    /// sanctions it. `waiting` is the backlog of both flows.
    pub(super) fn enqueue(
        &mut self,
        mut packet: Packet,
        coupling: &Coupling,
        waiting: Count,
        entry: &mut Entry,
    ) -> Option<Packet> {
        let size = u64::from(packet.size);
        let native = self.of_rate.ramp.likelihood(self.delay);
        self.mark(&mut packet, native, coupling.likelihood(), entry);
        if let Some(protection) = &mut self.protection
            && protection.sanctions(entry.now, packet.tuple, size, self.delay, native)
        {
            self.lane.note(&packet, |of| &mut of.sanctioned, entry.counters.recorder);
            self.give_back(size);
            entry.counters.recorder.sanctioned(entry.now, &packet);
            return Some(packet);
        }
        if self.has_room() && entry.limit.admits(waiting, size) {
            self.lane.push(packet);
        } else {
            self.give_back(size);
            self.lane.overflow(entry.now, packet, &mut entry.counters);
        }
        None
    }

    /// MULPI annex N: the larger of both likelihoods marks. Other packets than those of ECN transports
    /// are neither marked nor dropped.
    #[inline]
    fn mark(&mut self, packet: &mut Packet, native: f64, coupled: f64, entry: &mut Entry) {
        if !(entry.counters.can_mark(packet) && self.has_aqm) {
            return;
        }
        if !self.lane.marks.says_signal(native.max(coupled)) {
            return;
        }
        let cause = cause(coupled >= 1.0, native > coupled);
        self.lane.mark(entry.now, packet, cause, &mut entry.counters);
    }

    /// A packet that was estimated does not wait here.
    fn give_back(&mut self, size: u64) {
        if let DelayEstimate::Virtual(queue) = &mut self.estimate {
            queue.give_back(size, self.of_rate.rate);
        }
    }

    /// Is there room, for the packet whose delay was estimated last? (docsis-ns3)
    fn has_room(&self) -> bool {
        let most = self.of_rate.buffer_bytes.saturating_sub(ROOM);
        self.lane.backlog().bytes < most
            || matches!(self.estimate, DelayEstimate::Virtual(_))
                && self.delay < self.of_rate.rate.time_for(most)
    }

    /// The next packet.
    pub(super) fn pop(&mut self, now: Time) -> Option<Packet> {
        if let DelayEstimate::Virtual(queue) = &mut self.estimate {
            let waiting = self.lane.backlog().bytes;
            queue.advance(now, waiting, self.of_rate.rate, self.of_rate.allowed);
        }
        self.lane.pop()
    }

    /// Reports state worth watching over time.
    pub(super) fn gauges(&self, out: &mut Gauges) {
        let counts = self.lane.counts().all;
        out.show(NATIVE_PROBABILITY, self.of_rate.ramp.likelihood(self.delay));
        out.show(LOW_LATENCY_DELAY, self.delay.ms_f64());
        out.show(LOW_LATENCY_PACKETS, self.lane.backlog().packets as f64);
        out.show(NATIVE_MARKS, counts.native_marks as f64);
        out.show(COUPLED_MARKS, counts.coupled_marks as f64);
        out.show(OVERLOAD_MARKS, counts.overload_marks as f64);
        out.show(LOW_LATENCY_DROPS, self.lane.dropped() as f64);
        out.show(SANCTIONED_PACKETS, counts.sanctioned as f64);
        if let Some(protection) = &self.protection {
            protection.gauges(out);
        }
    }
}

/// The classic flow.
pub(super) struct Classic {
    pub lane: Lane,
    pub buffer_bytes: u64,
    pub aqm: Option<DocsisPie>,
}

impl Classic {
    /// An empty queue.
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self { lane: Lane::default(), buffer_bytes: 0, aqm: parameters.aqm_of_classic() }
    }

    /// Queues a packet or drops it. `waiting` is the backlog of both flows, `rate` that of the aggregate.
    pub(super) fn enqueue(
        &mut self,
        packet: Packet,
        rate: BitRate,
        waiting: Count,
        entry: &mut Entry,
    ) {
        let (backlog, size) = (self.lane.backlog(), u64::from(packet.size));
        let drain = self.drain(rate);
        if !(backlog.bytes + size <= self.buffer_bytes && entry.limit.admits(waiting, size)) {
            if let Some(pie) = &mut self.aqm {
                pie.on_overflow();
            }
            return self.lane.overflow(entry.now, packet, &mut entry.counters);
        }
        let arrival = Arrival {
            now: entry.now,
            size,
            backlog,
            share: 1.0,
            ecn: packet.ecn,
            is_markable: false,
            flow: packet.tuple,
        };
        if let Some(pie) = &mut self.aqm
            && pie.on_arrival(&arrival, &drain, entry.rng) != Verdict::Pass
        {
            return self.lane.drop_early(entry.now, packet, &mut entry.counters);
        }
        self.lane.push(packet);
    }

    /// The delay that its AQM algorithm estimated last, or that of what waits.
    pub(super) fn delay(&self, rate: BitRate) -> Time {
        let by_backlog = || rate.time_for(self.lane.backlog().bytes);
        self.aqm.as_ref().map_or_else(by_backlog, DocsisPie::delay)
    }

    /// Runs the periodic update of its AQM algorithm, which has this rate. Returns whether that changed, and
    /// its likelihood of a drop.
    pub(super) fn update(&mut self, now: Time, rate: BitRate) -> Option<(bool, f64)> {
        let drain = self.drain(rate);
        let backlog = self.lane.backlog();
        let pie = self.aqm.as_mut()?;
        let changed = pie.update(now, backlog, &drain);
        Some((changed, pie.probability()))
    }

    /// The likelihood of a drop.
    pub(super) fn probability(&self) -> f64 {
        self.aqm.as_ref().map_or(0.0, DocsisPie::probability)
    }

    /// What its AQM algorithm may know: a buffer and a rate of its own.
    fn drain(&self, rate: BitRate) -> DrainRate {
        DrainRate::steady(rate, self.buffer_bytes)
    }
}

#[cfg(test)]
#[path = "low_latency_tests.rs"]
mod tests;
