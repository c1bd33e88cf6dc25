//! DualQ coupled AQM (RFC 9332): a low-latency queue L and a classic queue C before one link.
//!
//! A base controller (PI2) turns the larger of both head delays into p'. Classic packets get a
//! signal with likelihood p_C = p'^2. Packets of L are marked with the larger of the coupled
//! likelihood p_CL = k p' and that of a native law, a ramp over their own sojourn time. All is decided
//! when packets leave (RFC 9332 appendix A.1).
//!
//! `variant = "linux"` has the constants of Linux' sch_dualpi2, and chooses packets at random as it
//! does. Left out: its limit on memory, packets that carry several segments, and `min_qlen_step`, which
//! looks at L as packets arrive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lanes::{
    CLASSIC_DROPS, CLASSIC_PACKETS, CLASSIC_PROBABILITY, COUPLED_MARKS, COUPLED_PROBABILITY,
    LOW_LATENCY_DROPS, LOW_LATENCY_PACKETS, Lane, MTU, NATIVE_MARKS, OVERLOAD_MARKS, Wrr, cause,
};
use super::update_clock::UpdateClock;
use super::{
    Discipline, Entry, Exit, NextQueue, QueueSpec, Scheduler, SchedulerParameters, SchedulerSpec,
    Setting, Waiting, no_law,
};
use crate::aqm::marking::{BASE_PROBABILITY, LinuxPi, PiController, Ramp, rolls};
use crate::aqm::{AqmSpec, DrainRate};
use crate::count::Count;
use crate::packet::{Ecn, FULL_PACKET, Packet};
use crate::record::{Counted, Gauges, Member, MemberCounts};
use crate::rng::Rng;
use crate::units::{BitRate, Time};
use sojourn_input::fault;
use sojourn_input::problem::{Fault, Faults, Remedy};

/// Halves of packets before one that comes while another waits: that one, and half of the one in service.
const HALF_PACKETS_BEFORE: u64 = 3;

crate::series! {
    /// DualQ: packets marked in the classic queue, since the run began.
    CLASSIC_MARKS = "classic_marks", in "packets";
}

/// Whose constants a DualQ follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// RFC 9332 appendix A.1: a ramp from 0.8 to 1.2 ms; updates every 15 ms.
    #[default]
    Rfc9332,
    /// Linux' sch_dualpi2: a step at 1 ms; updates every 16 ms; random signals; packets of L that
    /// cannot be marked are dropped; the base controller signals nothing while less than two packets
    /// wait, without the one that it looks at.
    Linux,
}

/// Which packets get the signals of a likelihood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// At equal distances (RFC 9332 appendix A.1: `recur()`).
    Even,
    /// At random, drawn for each packet (sch_dualpi2).
    Random,
}

/// Which queue is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Service {
    /// Weighted round robin by credit (RFC 9332 §4.2.2; sch_dualpi2).
    #[default]
    Wrr,
    /// Time-shifted first in, first out (RFC 9332 appendix A.2).
    TimeShiftedFifo,
}

/// What overload does to packets of L.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overload {
    /// Packets of L are dropped with probability p_C; the others are marked (RFC 9332 appendix
    /// A.2).
    #[default]
    Drop,
    /// All packets of L are marked. p' stays at 1/k or below, and only the limit drops packets.
    Mark,
}

/// Parameters of DualQ.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "DualQ")]
pub struct Parameters {
    /// Whose constants apply to keys that are unset: those of the RFC or of Linux.
    pub variant: Variant,
    /// Target delay of the classic queue in ms. Default: 15 (RFC 9332 appendix A.1).
    #[schemars(range(min = 0.1, max = 10_000.0), extend("x-live" = true))]
    pub target_ms: Option<f64>,
    /// Time between updates of the base probability in ms. Default: 15 (RFC 9332 figure 2); 16
    /// (linux).
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub update_ms: Option<f64>,
    /// Gain of the delay's distance from the target, in 1/s. Default: 0.15 (RFC 9332 figure 2: 0.1
    /// Tupdate/RTT_max^2); 41/256 (linux).
    #[schemars(range(min = 1e-6, max = 1000.0), extend("x-live" = true))]
    pub alpha_hz: Option<f64>,
    /// Gain of the delay's change, in 1/s. Default: 3 (RFC 9332 figure 2: 0.3/RTT_max); 819/256
    /// (linux).
    #[schemars(range(min = 0.0, max = 1000.0), extend("x-live" = true))]
    pub beta_hz: Option<f64>,
    /// Coupling factor k. Default: 2 (RFC 9332 §2.5.2.1).
    #[schemars(range(min = 0.1, max = 25.4), extend("x-live" = true))]
    pub coupling: Option<f64>,
    /// Sojourn time in us up to which L's own AQM marks nothing. Default: 800 (RFC 9332 figure 2);
    /// 1000 (linux).
    #[schemars(range(min = 0.0, max = 1_000_000.0), extend("x-live" = true))]
    pub native_min_us: Option<f64>,
    /// Range in us above `native_min_us` within which L's own likelihood of a mark rises to 1; 0 is
    /// a step. Default: 400 (RFC 9332 figure 2); 0 (linux).
    #[schemars(range(min = 0.0, max = 1_000_000.0), extend("x-live" = true))]
    pub native_range_us: Option<f64>,
    /// L's own AQM marks nothing while L holds this many packets or fewer. Default: 1 (RFC 9332
    /// figure 2); 0 (linux).
    #[schemars(range(min = 0, max = 1_000_000), extend("x-live" = true))]
    pub native_packets: Option<u64>,
    /// Likelihood of a signal in C from which packets of C are dropped instead of marked. Default:
    /// 1/k^2 (RFC 9332 appendix A.1).
    #[schemars(range(min = 0.0, max = 1.0), extend("x-live" = true))]
    pub max_mark_probability: Option<f64>,
    /// Which queue is served.
    pub service: Service,
    /// Share of C in the round robin, in percent. Default: 6.25, 1/16 (RFC 9332 §4.2.2); 10 (linux).
    #[schemars(range(min = 0.1, max = 99.9))]
    pub classic_weight_percent: Option<f64>,
    /// Head start of L in ms with `service = "time_shifted_fifo"`. Default: 50 (RFC 9332 appendix
    /// A.2).
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub time_shift_ms: Option<f64>,
    /// What overload does to packets of L.
    pub overload: Overload,
    /// Which packets get signals. Default: `even` (RFC 9332 appendix A.1); `random` (linux).
    pub spacing: Option<Spacing>,
    /// Whether signals of the base controller are given as packets arrive (`drop_enqueue` of
    /// sch_dualpi2), not as they leave. L's own AQM looks at packets that leave in either case.
    /// Only with `variant = "linux"`.
    pub drop_early: bool,
}

impl Parameters {
    /// The value of a key, or the default of the variant.
    fn or<T>(&self, key: Option<T>, rfc: T, linux: T) -> T {
        key.unwrap_or(match self.variant {
            Variant::Rfc9332 => rfc,
            Variant::Linux => linux,
        })
    }

    fn coupling(&self) -> f64 {
        self.coupling.unwrap_or(2.0)
    }

    fn native_packets(&self) -> u64 {
        self.or(self.native_packets, 1, 0)
    }

    /// The likelihood from which packets are dropped instead of marked.
    fn most_marked(&self) -> f64 {
        let coupling = self.coupling();
        let usual = match self.overload {
            // Where L is never dropped early, sch_dualpi2 drops nothing early that it can mark.
            Overload::Mark if self.variant == Variant::Linux => f64::INFINITY,
            _ => (1.0 / (coupling * coupling)).min(1.0),
        };
        self.max_mark_probability.unwrap_or(usual)
    }

    fn controller(&self, coupling: f64) -> Base {
        let alpha = self.or(self.alpha_hz, 0.15, 41.0 / 256.0);
        let beta = self.or(self.beta_hz, 3.0, 819.0 / 256.0);
        let most = match self.overload {
            Overload::Drop => 1.0,
            Overload::Mark => (1.0 / coupling).min(1.0),
        };
        let target_ms = self.target_ms.unwrap_or(15.0);
        match self.variant {
            Variant::Rfc9332 => Base::Exact(PiController::new(target_ms, alpha, beta, most)),
            Variant::Linux => {
                let target = Time::from_secs_f64(target_ms / 1e3);
                Base::Linux(LinuxPi::new(target, alpha, beta, most))
            }
        }
    }

    fn ramp(&self) -> Ramp {
        let us = |us: f64| Time::from_secs_f64(us / 1e6);
        let min = us(self.or(self.native_min_us, 800.0, 1000.0));
        Ramp { min, max: min + us(self.or(self.native_range_us, 400.0, 0.0)) }
    }

    fn turns(&self) -> Turns {
        match self.service {
            Service::Wrr => {
                let classic = self.or(self.classic_weight_percent, 6.25, 10.0);
                Turns::Wrr(Wrr::new(classic, 100.0 - classic))
            }
            Service::TimeShiftedFifo => {
                let shift_ms = self.time_shift_ms.unwrap_or(50.0);
                Turns::TimeShifted(Time::from_secs_f64(shift_ms / 1e3))
            }
        }
    }
}

impl SchedulerParameters for Parameters {
    fn start(&self, _setting: &Setting) -> Scheduler {
        let coupling = self.coupling();
        let interval = Time::from_secs_f64(self.or(self.update_ms, 15.0, 16.0) / 1e3);
        DualQ {
            low: Lane::default(),
            classic: Lane::default(),
            base: self.controller(coupling),
            coupling,
            native: self.ramp(),
            native_packets: self.native_packets(),
            max_mark_probability: self.most_marked(),
            overload: self.overload,
            is_linux: self.variant == Variant::Linux,
            is_random: self.or(self.spacing, Spacing::Even, Spacing::Random) == Spacing::Random,
            drop_early: self.drop_early,
            turns: self.turns(),
            clock: UpdateClock::new(interval),
        }
        .into()
    }

    fn check(&self, law: &AqmSpec, _largest: u64) -> Faults {
        let mut faults = Faults::default();
        faults.add(no_law("dualq", law));
        if self.drop_early && self.variant != Variant::Linux {
            let message = "found true with variant rfc9332, which signals as packets leave; \
                           allowed: false, or variant linux";
            faults.add(Fault::new("drop_early", message));
        }
        faults
    }

    fn remarks(&self, rate: BitRate) -> Faults {
        let wait = rate.time_for(HALF_PACKETS_BEFORE * FULL_PACKET / 2);
        let most = self.ramp().max;
        let is_marked = self.native_packets() == 0 && wait > most;
        let remark = is_marked.then(|| {
            let remedy = Remedy::of("native_packets", 1);
            fault!(TargetBelowPackets, "native_packets", remedy =>
                "is 0, so L's own AQM marks each packet that waits longer than {most_ms} ms, but a packet behind one that \
                 waits and one in service waits about {wait_ms:.1} ms at {mbps} Mbps; set {remedy:#}",
                most_ms = most.ms_f64(), wait_ms = wait.ms_f64(), mbps = rate.bps() as f64 / 1e6)
        });
        remark.into()
    }
}

/// The base controller.
enum Base {
    Exact(PiController),
    Linux(LinuxPi),
}

impl Base {
    fn p(&self) -> f64 {
        match self {
            Self::Exact(controller) => controller.p(),
            Self::Linux(controller) => f64::from(controller.p()) / f64::from(u32::MAX),
        }
    }

    fn retune(&mut self, other: Self) {
        match (self, other) {
            (Self::Exact(own), Self::Exact(other)) => own.retune(&other),
            (Self::Linux(own), Self::Linux(other)) => own.retune(&other),
            _ => {}
        }
    }

    fn update(&mut self, delay: Time) -> bool {
        match self {
            Self::Exact(controller) => controller.update(delay.secs_f64()),
            Self::Linux(controller) => controller.update(delay),
        }
    }
}

enum Turns {
    Wrr(Wrr),
    TimeShifted(Time),
}

/// Two coupled queues.
pub struct DualQ {
    low: Lane,
    classic: Lane,
    base: Base,
    coupling: f64,
    native: Ramp,
    native_packets: u64,
    max_mark_probability: f64,
    overload: Overload,
    is_linux: bool,
    is_random: bool,
    drop_early: bool,
    turns: Turns,
    clock: UpdateClock,
}

impl DualQ {
    /// The coupled likelihood for a base probability; overload makes it 1 or more.
    fn coupled(&self, p: f64) -> f64 {
        self.coupling * p
    }

    /// Is L served next? Something waits.
    fn serves_low(&self, now: Time) -> bool {
        if self.low.is_empty() || self.classic.is_empty() {
            return self.classic.is_empty();
        }
        match &self.turns {
            Turns::Wrr(wrr) => wrr.serves_low(),
            Turns::TimeShifted(shift) => {
                self.low.head_sojourn(now) + *shift >= self.classic.head_sojourn(now)
            }
        }
    }

    /// The likelihood of L's own AQM for a packet that leaves L, which held so many.
    fn native(&self, packet: &Packet, held: u64, exit: &Exit) -> f64 {
        if held > self.native_packets { self.native.likelihood(exit.sojourn(packet)) } else { 0.0 }
    }

    /// Marks a packet of C.
    fn mark_classic(&mut self, packet: &mut Packet, exit: &mut Exit) {
        self.classic.mark(exit.now, packet, |of| &mut of.classic_marks, &mut exit.counters);
    }

    /// Marks a packet of L for a base probability. Returns whether it must be dropped instead.
    fn judge_low(&mut self, packet: &mut Packet, p: f64, held: u64, exit: &mut Exit) -> bool {
        let coupled = self.coupled(p);
        let is_overloaded = coupled >= 1.0;
        if is_overloaded
            && self.overload == Overload::Drop
            && self.low.drops.chooses(p * p, self.is_random, exit.rng)
        {
            return true;
        }
        let native = self.native(packet, held, exit);
        let likelihood = native.max(coupled).min(1.0);
        if !self.low.marks.chooses(likelihood, self.is_random, exit.rng) {
            return false;
        }
        if !exit.counters.can_mark(packet) {
            return self.is_linux;
        }
        let cause = cause(is_overloaded, native > coupled);
        self.low.mark(exit.now, packet, cause, &mut exit.counters);
        false
    }

    /// Marks a packet of C for a base probability. Returns whether it must be dropped instead.
    fn judge_classic(&mut self, packet: &mut Packet, p: f64, exit: &mut Exit) -> bool {
        let classic = p * p;
        if !self.classic.drops.chooses(classic, self.is_random, exit.rng) {
            return false;
        }
        if classic >= self.max_mark_probability || !exit.counters.can_mark(packet) {
            return true;
        }
        self.mark_classic(packet, exit);
        false
    }

    /// Does less than two full packets wait, beside the one that is judged? sch_dualpi2's base controller signals
    /// nothing then.
    fn is_guarded(&self) -> bool {
        self.is_linux && (self.backlog().bytes as f64) < 2.0 * MTU
    }

    fn lane(&mut self, low: bool) -> &mut Lane {
        if low { &mut self.low } else { &mut self.classic }
    }

    fn charge(&mut self, low: bool, size: u16) {
        let other_waits = !self.lane(!low).is_empty();
        if let (Turns::Wrr(wrr), true) = (&mut self.turns, other_waits) {
            wrr.charge(low, size.into());
        }
    }

    /// As sch_dualpi2 does it, in the order of its random numbers: the base controller first, if it is asked, and
    /// then L's own step. `p` is in 2^-32.
    fn judge_as_linux(
        &mut self,
        low: bool,
        packet: &mut Packet,
        (asks_base, p): (bool, u32),
        held: u64,
        exit: &mut Exit,
    ) -> bool {
        let coupled = f64::from(p) * self.coupling;
        let is_overloaded = coupled > f64::from(u32::MAX);
        let can_mark = exit.counters.can_mark(packet);
        let twice = |rng: &mut Rng| rolls(p, rng) && rolls(p, rng);
        if !low {
            let signals = asks_base && twice(exit.rng);
            let base = f64::from(p) / f64::from(u32::MAX);
            if signals && (!can_mark || base * base > self.max_mark_probability) {
                return true;
            }
            if signals {
                self.mark_classic(packet, exit);
            }
            return false;
        }
        if asks_base && is_overloaded && self.overload == Overload::Drop && twice(exit.rng) {
            return true;
        }
        let marks = asks_base && (is_overloaded || rolls(coupled as u32, exit.rng));
        let native = self.native(packet, held, exit);
        let is_native = native >= 1.0 || native > 0.0 && exit.rng.uniform() < native;
        if !marks && !is_native {
            return false;
        }
        if !can_mark {
            return true;
        }
        let cause = cause(is_overloaded && marks, !marks);
        self.low.mark(exit.now, packet, cause, &mut exit.counters);
        false
    }

    /// Marks a packet of L or C, by the base controller if that is asked here. Returns whether it must be dropped instead.
    fn judge(
        &mut self,
        low: bool,
        packet: &mut Packet,
        asks_base: bool,
        held: u64,
        exit: &mut Exit,
    ) -> bool {
        let asks_base = asks_base && !self.is_guarded();
        if let (Base::Linux(controller), true) = (&self.base, self.is_random) {
            let p = controller.p();
            return self.judge_as_linux(low, packet, (asks_base, p), held, exit);
        }
        let p = if asks_base { self.base.p() } else { 0.0 };
        if low {
            self.judge_low(packet, p, held, exit)
        } else {
            self.judge_classic(packet, p, exit)
        }
    }

    /// Judges a packet that arrives as if it left at once: it has not waited, so that only the base
    /// controller signals.
    fn refuses(&mut self, low: bool, packet: &mut Packet, entry: &mut Entry) -> bool {
        let exit = &mut Exit {
            now: entry.now,
            next_queue: NextQueue::default(),
            rng: entry.rng,
            counters: entry.counters.reborrow(),
            member: None,
        };
        self.judge(low, packet, true, 0, exit)
    }

    /// Takes the next packet and judges it: the queue it comes from and whether it is to be dropped.
    fn take(&mut self, exit: &mut Exit) -> Option<(bool, bool, Packet)> {
        let low = self.serves_low(exit.now);
        let held = self.low.backlog().packets;
        let mut packet = self.lane(low).pop()?;
        let dropped = self.judge(low, &mut packet, !self.drop_early, held, exit);
        Some((low, dropped, packet))
    }
}

impl Discipline for DualQ {
    fn enqueue(&mut self, mut packet: Packet, entry: &mut Entry) {
        self.clock.wake(entry.now);
        // RFC 9332 §2.3: the classifier looks at the ECN field.
        let low = matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce);
        entry.counters.recorder.goes_to(&packet, low);
        if !entry.limit.admits(self.backlog(), packet.size.into()) {
            self.lane(low).overflow(entry.now, packet, &mut entry.counters);
        } else if self.drop_early && self.refuses(low, &mut packet, entry) {
            self.lane(low).drop_early(entry.now, packet, &mut entry.counters);
        } else {
            self.lane(low).push(packet);
        }
    }

    fn dequeue(&mut self, exit: &mut Exit) -> Option<Packet> {
        while let Some((low, dropped, packet)) = self.take(exit) {
            if !dropped {
                exit.member = Some(if low { Member::LowLatency } else { Member::Classic });
                self.charge(low, packet.size);
                return Some(packet);
            }
            self.lane(low).drop_early(exit.now, packet, &mut exit.counters);
        }
        if let Turns::Wrr(wrr) = &mut self.turns {
            wrr.reset();
        }
        None
    }

    fn backlog(&self) -> Count {
        self.low.backlog().plus(self.classic.backlog())
    }

    fn packets(&self) -> Waiting<'_> {
        Box::new(self.low.packets().chain(self.classic.packets()))
    }

    fn members(&self) -> Option<[Counted<MemberCounts>; 2]> {
        Some([self.low.counts(), self.classic.counts()])
    }

    fn next_update(&self) -> Time {
        self.clock.next()
    }

    fn update(&mut self, now: Time, _drain_rate: &DrainRate) {
        // RFC 9332 appendix A.2: the longer delay drives the base, so that L cannot overload unseen.
        let delay = self.low.head_sojourn(now).max(self.classic.head_sojourn(now));
        let changed = self.base.update(delay);
        self.clock.ticked(now, changed || self.backlog().packets > 0);
    }

    fn retune(&mut self, spec: &QueueSpec) {
        let SchedulerSpec::DualQ(p) = &spec.scheduler else { return };
        (self.coupling, self.native) = (p.coupling(), p.ramp());
        (self.native_packets, self.max_mark_probability) = (p.native_packets(), p.most_marked());
        self.base.retune(p.controller(self.coupling));
    }

    fn gauges(&self, out: &mut Gauges) {
        let p = self.base.p();
        let [low, classic] = [&self.low, &self.classic].map(|lane| lane.counts().all);
        out.show(BASE_PROBABILITY, p);
        out.show(CLASSIC_PROBABILITY, p * p);
        out.show(COUPLED_PROBABILITY, self.coupled(p).min(1.0));
        out.show(LOW_LATENCY_PACKETS, self.low.backlog().packets as f64);
        out.show(CLASSIC_PACKETS, self.classic.backlog().packets as f64);
        out.show(NATIVE_MARKS, low.native_marks as f64);
        out.show(COUPLED_MARKS, low.coupled_marks as f64);
        out.show(OVERLOAD_MARKS, low.overload_marks as f64);
        out.show(CLASSIC_MARKS, classic.classic_marks as f64);
        out.show(LOW_LATENCY_DROPS, self.low.dropped() as f64);
        out.show(CLASSIC_DROPS, self.classic.dropped() as f64);
    }
}

#[cfg(test)]
#[path = "dualq_tests.rs"]
mod tests;
