//! Low Latency DOCSIS: the low-latency service flow L and the classic service flow C of one aggregate
//! (DOCSIS 3.1 MULPI §7.7 and annexes M to P, as docsis-ns3 follows them; RFC 9957).
//!
//! Packets of scalable transports (ECT(1), CE) and of chosen code points go to L. An immediate AQM
//! marks them as they arrive, by an estimate of the queue delay and by what C's drops ask of scalable
//! senders: p_CL = k sqrt(p), with p of C's DOCSIS-PIE. Queue Protection sends packets of flows that
//! build the queue to C. C drops and never marks (RFC 8034 §4.7).
//!
//! With a modem's request and grant both flows request for themselves, and grants are divided
//! (access/docsis/grant_split.rs). Elsewhere a round robin chooses.
//!
//! Own rates of the members are kept where packets wait for request and grant. Left out: traffic
//! priorities of the members.

use super::lanes::{Lane, Wrr};
use super::low_latency_parameters::{Buffers, ClassicAqm, DelayEstimate, Parameters};
use super::member_rate::MemberRate;
use super::update_clock::UpdateClock;
use super::{Discipline, Entry, Exit, Scheduler, SchedulerParameters, Setting};
use crate::aqm::docsis_pie::{self, DocsisPie};
use crate::aqm::immediate;
use crate::aqm::marking::Ramp;
use crate::aqm::queue_protection::QueueProtection;
use crate::aqm::virtual_queue::Loop;
use crate::aqm::{Aqm, AqmSpec, Arrival, DrainRate, Verdict};
use crate::count::Count;
use crate::packet::{DropReason, Ecn, Packet};
use crate::record::latency_histogram::LatencyHistogram;
use crate::record::{Gauges, Member, MemberCounts};
use crate::units::{BitRate, Time};
use sojourn_input::compare::ascending;
use sojourn_input::problem::{Fault, Faults};

/// Marks and drops, by their cause.
#[derive(Default)]
struct Signals {
    native: u64,
    coupled: u64,
    overload: u64,
    sanctioned: u64,
}

/// What depends on the rate of the aggregate.
struct OfRate {
    rate: BitRate,
    /// The rate that L may have of it (MAX_RATE: the smaller one of the aggregate's and its own).
    low: BitRate,
    ramp: Ramp,
    buffers: Buffers,
    /// Bytes of L that may wait for request and grant.
    allowed: f64,
}

/// The two service flows of an aggregate.
pub struct LowLatency {
    parameters: Box<Parameters>,
    low: Lane,
    classic: Lane,
    /// Code points that go to L, one bit each.
    code_points: u64,
    of_rate: OfRate,
    estimate: DelayEstimate,
    request_loop: Option<Loop>,
    protection: Option<Box<QueueProtection>>,
    classic_aqm: Option<ClassicAqm>,
    /// Likelihood of a mark in L that C asks for (p_CL).
    coupled: f64,
    /// Estimated delay of L when its last packet came.
    delay: Time,
    low_rate: MemberRate,
    turns: Wrr,
    clock: UpdateClock,
    signals: Signals,
    histogram: Option<Box<LatencyHistogram>>,
}

impl LowLatency {
    /// Two empty queues.
    pub(super) fn new(parameters: &Parameters) -> Self {
        let interval = match parameters.classic_aqm {
            true => DocsisPie::new(&docsis_pie::Parameters::default()).update_interval(),
            false => Time::NEVER,
        };
        Self {
            low: Lane::default(),
            classic: Lane::default(),
            code_points: parameters.code_points(),
            of_rate: OfRate {
                rate: BitRate::from_bps(1),
                low: BitRate::from_bps(1),
                ramp: Ramp { min: Time::NEVER, max: Time::NEVER },
                buffers: Buffers { low: 0, classic: 0 },
                allowed: 0.0,
            },
            estimate: parameters.estimate(false),
            request_loop: None,
            protection: parameters.protection().map(Box::new),
            classic_aqm: parameters.aqm_of_classic(),
            coupled: 0.0,
            delay: Time::ZERO,
            low_rate: MemberRate::new(parameters.rate_estimate, interval),
            turns: Wrr::new(1.0 - parameters.low_latency_weight()),
            clock: UpdateClock::new(interval),
            signals: Signals::default(),
            histogram: LatencyHistogram::of(&parameters.latency_histogram_ms).map(Box::new),
            parameters: Box::new(parameters.clone()),
        }
    }

    /// Follows the rate of the aggregate.
    #[inline]
    fn follow(&mut self, drain_rate: &DrainRate) {
        if self.of_rate.rate != drain_rate.sustained {
            self.set_rate(drain_rate.sustained);
        }
    }

    #[cold]
    fn set_rate(&mut self, rate: BitRate) {
        let Parameters { low_latency_max_us, low_latency_range_exponent, .. } = *self.parameters;
        let max = Time::from_secs_f64(low_latency_max_us / 1e6);
        let [own, _] = self.parameters.member_rates();
        let low = own.map_or(rate, |own| own.min(rate));
        let ramp = immediate::ramp(max, low_latency_range_exponent.into(), low);
        if let Some(protection) = &mut self.protection
            && self.parameters.critical_delay_us.is_none()
        {
            protection.set_critical_delay(ramp.max);
        }
        let allowed = self.request_loop.map_or(0.0, |of_loop| of_loop.allowed_bytes(low));
        let buffers = self.parameters.buffers(rate);
        self.of_rate = OfRate { rate, low, ramp, buffers, allowed };
    }

    /// The classifier (RFC 9332 §2.3; RFC 9956 §5.1).
    #[inline]
    fn is_low(&self, packet: &Packet) -> bool {
        let is_scalable = matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce);
        is_scalable || self.code_points >> (packet.segment.dscp & 63) & 1 == 1
    }

    /// The estimated delay of L with this packet (MULPI annex O).
    #[inline]
    fn delay_with(&mut self, now: Time, size: u64) -> Time {
        let OfRate { low: rate, allowed, .. } = self.of_rate;
        let waiting = self.low.backlog().bytes;
        match &mut self.estimate {
            DelayEstimate::Backlog => rate.time_for(waiting + size),
            DelayEstimate::Virtual(queue) => {
                queue.advance(now, waiting, rate, allowed);
                queue.add(size, rate)
            }
        }
    }

    /// A packet that was estimated does not wait in L.
    fn give_back(&mut self, size: u64) {
        if let DelayEstimate::Virtual(queue) = &mut self.estimate {
            queue.give_back(size, self.of_rate.low);
        }
    }

    /// MULPI annex N: the larger of both likelihoods marks. Other packets than those of ECN transports
    /// are neither marked nor dropped.
    #[inline]
    fn mark(&mut self, packet: &mut Packet, native: f64, entry: &mut Entry) {
        if !(entry.books.can_mark(packet) && self.parameters.low_latency_aqm) {
            return;
        }
        if !self.low.marks.says_signal(native.max(self.coupled)) {
            return;
        }
        *match (self.coupled >= 1.0, native > self.coupled) {
            (true, _) => &mut self.signals.overload,
            (false, true) => &mut self.signals.native,
            (false, false) => &mut self.signals.coupled,
        } += 1;
        entry.books.mark(entry.now, packet);
    }

    /// Is there room in L? (docsis-ns3: the buffer less a packet of 2000 B)
    fn low_has_room(&self, packet: &Packet, delay: Time, entry: &Entry) -> bool {
        let most = self.of_rate.buffers.low.saturating_sub(2000);
        let backlog = self.low.backlog();
        let fits = backlog.bytes < most
            || matches!(self.estimate, DelayEstimate::Virtual(_))
                && delay < self.of_rate.low.time_for(most);
        fits && entry.limit.admits(self.backlog(), packet.size.into())
    }

    fn enqueue_low(&mut self, mut packet: Packet, entry: &mut Entry) {
        let (now, size) = (entry.now, u64::from(packet.size));
        let delay = self.delay_with(now, size);
        self.delay = delay;
        if let Some(histogram) = &mut self.histogram {
            histogram.count(Member::LowLatency, delay);
        }
        let native = self.of_rate.ramp.likelihood(delay);
        self.mark(&mut packet, native, entry);
        if let Some(protection) = &mut self.protection
            && protection.sanctions(now, packet.tuple, size, delay, native)
        {
            self.signals.sanctioned += 1;
            self.give_back(size);
            entry.books.recorder.sanctioned(&packet);
            return self.enqueue_classic(packet, entry);
        }
        if self.low_has_room(&packet, delay, entry) {
            self.low.push(packet);
        } else {
            self.give_back(size);
            self.low.dropped_overflow += 1;
            entry.books.drop(entry.now, packet, DropReason::Overflow);
        }
    }

    /// What C's AQM algorithm may know: a buffer and a rate of its own.
    fn classic_drain(&self, rate: BitRate) -> DrainRate {
        let buffer_bytes = self.of_rate.buffers.classic;
        DrainRate { tokens: 0.0, sustained: rate, peak: rate, buffer_bytes }
    }

    /// Counts a packet of C by what its AQM algorithm estimated last, or by what waits.
    fn count_classic(&mut self) {
        let Some(histogram) = &mut self.histogram else { return };
        let by_backlog = || self.of_rate.rate.time_for(self.classic.backlog().bytes);
        let delay = self.classic_aqm.as_ref().map_or_else(by_backlog, |aqm| aqm.pie.delay());
        histogram.count(Member::Classic, delay);
    }

    fn enqueue_classic(&mut self, packet: Packet, entry: &mut Entry) {
        let (backlog, size) = (self.classic.backlog(), u64::from(packet.size));
        let fits = backlog.bytes + size <= self.of_rate.buffers.classic;
        let drain = self.classic_drain(self.of_rate.rate);
        if !(fits && entry.limit.admits(self.backlog(), size)) {
            if let Some(aqm) = &mut self.classic_aqm {
                aqm.pie.on_overflow();
            }
            self.classic.dropped_overflow += 1;
            return entry.books.drop(entry.now, packet, DropReason::Overflow);
        }
        let arrival = Arrival { now: entry.now, size, backlog, share: 1.0 };
        if let Some(aqm) = &mut self.classic_aqm
            && aqm.pie.on_arrival(&arrival, &drain, entry.rng) != Verdict::Pass
        {
            self.classic.dropped_aqm += 1;
            return entry.books.drop(entry.now, packet, DropReason::Aqm);
        }
        self.classic.push(packet);
    }

    fn take_low(&mut self, now: Time) -> Option<Packet> {
        if let DelayEstimate::Virtual(queue) = &mut self.estimate {
            let waiting = self.low.backlog().bytes;
            queue.advance(now, waiting, self.of_rate.low, self.of_rate.allowed);
        }
        let packet = self.low.pop()?;
        self.low_rate.sent(packet.size.into());
        Some(packet)
    }

    /// What L leaves of the rate (MULPI annex O): r_C = min(AMSR - r_L, MSR_C), with r_L = min(W AMSR,
    /// MSR_L, what left L). One sample of that swings, and a PI controller whose delay swings loses its
    /// probability, as it goes up in smaller steps than down: so a mean is taken.
    fn classic_rate(&self) -> BitRate {
        let rate = self.of_rate.rate.bps() as f64;
        let most = self.parameters.low_latency_weight() * rate;
        let most = most.min(self.of_rate.low.bps() as f64);
        let left = BitRate::from_bps(((rate - self.low_rate.bps().min(most)) as u64).max(1));
        let [_, own] = self.parameters.member_rates();
        own.map_or(left, |own| own.min(left))
    }

    /// MULPI annex N: p_CL = min(1, k p'), with p' = sqrt(p).
    fn couple(&mut self) {
        self.coupled = self.classic_aqm.as_ref().map_or(0.0, |aqm| {
            aqm.coupling.map_or(0.0, |k| (k * aqm.pie.probability().sqrt()).min(1.0))
        });
    }
}

impl SchedulerParameters for Parameters {
    fn start(&self, _setting: &Setting) -> Scheduler {
        LowLatency::new(self).into()
    }

    fn limits_itself(&self) -> bool {
        true
    }

    fn check(&self, law: &AqmSpec, largest: u64) -> Faults {
        let mut faults =
            Faults::from(ascending("latency_histogram_ms", &self.latency_histogram_ms, "edges"));
        if !matches!(law, AqmSpec::None(_)) {
            let message = "found low_latency with a law; allowed: low_latency alone, since it has \
                           AQM algorithms of its own";
            faults.add(Fault::new("kind", message));
        }
        let buffers = [
            ("low_latency_buffer_bytes", self.low_latency_buffer_bytes, largest + 2000),
            ("classic_buffer_bytes", self.classic_buffer_bytes, largest),
        ];
        for (key, bytes, least) in buffers {
            if let Some(bytes) = bytes.filter(|bytes| *bytes < least) {
                let message =
                    format!("found {bytes}; allowed: {least} or more, so that one packet fits");
                faults.add(Fault::new(key, message));
            }
        }
        faults
    }
}

impl Discipline for LowLatency {
    fn enqueue(&mut self, packet: Packet, entry: &mut Entry) {
        self.clock.wake(entry.now);
        self.follow(entry.drain_rate);
        if self.is_low(&packet) {
            self.enqueue_low(packet, entry);
        } else {
            self.count_classic();
            self.enqueue_classic(packet, entry);
        }
    }

    fn dequeue(&mut self, exit: &mut Exit) -> Option<Packet> {
        let (low, classic) = (self.low.is_empty(), self.classic.is_empty());
        match (low, classic) {
            (true, true) => {
                self.turns.reset();
                None
            }
            (false, true) => self.dequeue_member(true, exit),
            (true, false) => self.dequeue_member(false, exit),
            (false, false) => {
                let serves_low = self.turns.serves_low();
                let packet = self.dequeue_member(serves_low, exit)?;
                self.turns.charge(serves_low, packet.size.into());
                Some(packet)
            }
        }
    }

    fn dequeue_member(&mut self, low: bool, exit: &mut Exit) -> Option<Packet> {
        exit.member = Some(if low { Member::LowLatency } else { Member::Classic });
        if low { self.take_low(exit.now) } else { self.classic.pop() }
    }

    fn members(&self) -> Option<[MemberCounts; 2]> {
        let Signals { native, coupled, overload, sanctioned } = self.signals;
        let low = MemberCounts {
            native_marks: native,
            coupled_marks: coupled,
            overload_marks: overload,
            sanctioned,
            ..self.low.counts()
        };
        Some([low, self.classic.counts()])
    }

    fn low_latency_weight(&self) -> Option<f64> {
        Some(self.parameters.low_latency_weight())
    }

    fn member_rates(&self) -> [Option<BitRate>; 2] {
        self.parameters.member_rates()
    }

    fn low_latency_backlog(&self) -> Count {
        self.low.backlog()
    }

    fn set_request_loop(&mut self, request_loop: Loop) {
        self.request_loop = Some(request_loop);
        self.estimate = self.parameters.estimate(true);
        self.of_rate.rate = BitRate::from_bps(1); // what depends on it is computed anew
    }

    fn latency_histogram(&self) -> Option<&LatencyHistogram> {
        self.histogram.as_deref()
    }

    fn backlog(&self) -> Count {
        self.low.backlog().plus(self.classic.backlog())
    }

    fn next_update(&self) -> Time {
        self.clock.next()
    }

    fn update(&mut self, now: Time, drain_rate: &DrainRate) {
        self.follow(drain_rate);
        let was_used = self.low_rate.sample(now);
        let drain = self.classic_drain(self.classic_rate());
        let backlog = self.classic.backlog();
        let Some(aqm) = &mut self.classic_aqm else { return };
        let changed = aqm.pie.update(backlog, &drain);
        self.couple();
        self.clock.ticked(now, changed || was_used || self.backlog().packets > 0);
    }

    fn gauges(&self, out: &mut Gauges) {
        let p = self.classic_aqm.as_ref().map_or(0.0, |aqm| aqm.pie.probability());
        out.set("classic_probability", "1", p);
        out.set("base_probability", "1", p.sqrt());
        out.set("coupled_probability", "1", self.coupled);
        out.set("native_probability", "1", self.of_rate.ramp.likelihood(self.delay));
        out.set("low_latency_delay", "ms", self.delay.ms_f64());
        out.set("low_latency_packets", "packets", self.low.backlog().packets as f64);
        out.set("classic_packets", "packets", self.classic.backlog().packets as f64);
        out.set("native_marks", "packets", self.signals.native as f64);
        out.set("coupled_marks", "packets", self.signals.coupled as f64);
        out.set("overload_marks", "packets", self.signals.overload as f64);
        out.set("low_latency_drops", "packets", self.low.dropped() as f64);
        out.set("classic_drops", "packets", self.classic.dropped() as f64);
        out.set("sanctioned_packets", "packets", self.signals.sanctioned as f64);
        if let Some(protection) = &self.protection {
            protection.gauges(out);
        }
    }
}
