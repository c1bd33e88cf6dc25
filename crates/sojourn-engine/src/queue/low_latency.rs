//! Low Latency DOCSIS: the low-latency service flow L and the classic service flow C of one aggregate
//! (DOCSIS 3.1 MULPI §7.7 and annexes M to P, as docsis-ns3 follows them; RFC 9957).
//!
//! Packets of scalable transports (ECT(1), CE) and of chosen code points go to L. An immediate AQM
//! marks them as they arrive, by an estimate of the queue delay and by what C's drops ask of scalable
//! senders: p_CL = k sqrt(p), with p of C's DOCSIS-PIE. Queue Protection sends packets of flows that
//! build the queue to C. C drops and never marks (RFC 8034 §4.7).
//!
//! Both are queues of their own (low_latency_members.rs); here is what makes them one aggregate: who takes a
//! packet, who is next, and what C asks of L.
//!
//! With a modem's request and grant both flows request for themselves, and grants are divided
//! (access/docsis/grant_split.rs). Elsewhere a round robin chooses.
//!
//! Own rates of the members are kept where packets wait for request and grant. Left out: traffic
//! priorities of the members.

use super::lanes::{CLASSIC_DROPS, CLASSIC_PACKETS, CLASSIC_PROBABILITY, COUPLED_PROBABILITY, Wrr};
use super::low_latency_members::{Classic, Coupling, Low};
use super::low_latency_parameters::Parameters;
use super::member_rate::MemberRate;
use super::update_clock::UpdateClock;
use super::{Discipline, Entry, Exit, Scheduler, SchedulerParameters, Setting, Waiting, no_law};
use crate::aqm::docsis_pie::{self, DocsisPie};
use crate::aqm::marking::BASE_PROBABILITY;
use crate::aqm::virtual_queue::Loop;
use crate::aqm::{Aqm, AqmSpec, DrainRate};
use crate::count::Count;
use crate::packet::{Ecn, Packet};
use crate::record::latency_histogram::LatencyHistogram;
use crate::record::{Counted, Gauges, Lapses, Member, MemberCounts, Rest};
use crate::units::{BitRate, Time};
use sojourn_input::compare::ascending;
use sojourn_input::problem::{Fault, Faults};

/// The two service flows of an aggregate.
pub struct LowLatency {
    parameters: Box<Parameters>,
    /// The rate of the aggregate.
    rate: BitRate,
    /// Code points that go to L, one bit each.
    code_points: u64,
    low: Low,
    classic: Classic,
    coupling: Coupling,
    turns: Wrr,
    clock: UpdateClock,
    /// What leaves L.
    low_rate: MemberRate,
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
            rate: BitRate::from_bps(1),
            code_points: parameters.code_points(),
            low: Low::new(parameters),
            classic: Classic::new(parameters),
            coupling: Coupling::new(parameters),
            turns: Wrr::new(1.0 - parameters.low_latency_weight(), parameters.low_latency_weight()),
            clock: UpdateClock::new(interval),
            low_rate: MemberRate::new(parameters.rate_estimate, interval),
            histogram: LatencyHistogram::of(&parameters.latency_histogram_ms).map(Box::new),
            parameters: Box::new(parameters.clone()),
        }
    }

    /// Share of L in grants.
    pub fn low_latency_weight(&self) -> f64 {
        self.parameters.low_latency_weight()
    }

    /// Own maximum sustained rates of L and C, where they have one.
    pub fn member_rates(&self) -> [Option<BitRate>; 2] {
        self.parameters.member_rates()
    }

    /// What waits in L.
    #[inline]
    pub fn low_latency_backlog(&self) -> Count {
        self.low.lane.backlog()
    }

    /// What waits in L, or in C.
    pub fn packets_of(&self, low: bool) -> impl Iterator<Item = &Packet> {
        if low { self.low.lane.packets() } else { self.classic.lane.packets() }
    }

    /// Counts of packets by estimated latency, if it keeps them.
    pub(super) fn latency_histogram(&self) -> Option<&LatencyHistogram> {
        self.histogram.as_deref()
    }

    /// Packets wait for request and grant behind this queue.
    pub fn set_request_loop(&mut self, request_loop: Loop) {
        self.low.set_request_loop(request_loop, &self.parameters);
        self.rate = BitRate::from_bps(1); // what depends on it is computed anew
    }

    /// The next packet of L, or of C.
    pub(super) fn dequeue_member(&mut self, low: bool, exit: &mut Exit) -> Option<Packet> {
        exit.member = Some(if low { Member::LowLatency } else { Member::Classic });
        if !low {
            return self.classic.lane.pop();
        }
        let packet = self.low.pop(exit.now)?;
        self.low_rate.sent(packet.size.into());
        Some(packet)
    }

    /// Follows the rate of the aggregate.
    #[inline]
    fn follow(&mut self, drain_rate: &DrainRate) {
        if self.rate != drain_rate.sustained {
            self.set_rate(drain_rate.sustained);
        }
    }

    #[cold]
    fn set_rate(&mut self, rate: BitRate) {
        self.rate = rate;
        self.low.set_rate(rate, &self.parameters);
        self.classic.buffer_bytes = self.parameters.buffers(rate).classic;
    }

    /// The classifier (RFC 9332 §2.3; RFC 9956 §5.1).
    #[inline]
    fn is_low(&self, packet: &Packet) -> bool {
        let is_scalable = matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce);
        is_scalable || self.code_points >> (packet.segment.dscp & 63) & 1 == 1
    }

    fn enqueue_low(&mut self, packet: Packet, entry: &mut Entry) {
        let delay = self.low.delay_with(entry.now, packet.size.into());
        if let Some(histogram) = &mut self.histogram
            && entry.counters.recorder.counts(&packet)
        {
            histogram.count(Member::LowLatency, delay);
        }
        let waiting = self.backlog();
        if let Some(sanctioned) = self.low.enqueue(packet, &self.coupling, waiting, entry) {
            self.classic.enqueue(sanctioned, self.rate, waiting, entry);
        }
    }

    fn enqueue_classic(&mut self, packet: Packet, entry: &mut Entry) {
        if let Some(histogram) = &mut self.histogram
            && entry.counters.recorder.counts(&packet)
        {
            histogram.count(Member::Classic, self.classic.delay(self.rate));
        }
        self.classic.enqueue(packet, self.rate, self.backlog(), entry);
    }

    /// What L leaves of the rate (MULPI annex O): r_C = min(AMSR - r_L, MSR_C), with r_L = min(W AMSR,
    /// MSR_L, what left L). One sample of that swings, and a PI controller whose delay swings loses its
    /// probability, as it goes up in smaller steps than down: so a mean is taken.
    fn classic_rate(&self) -> BitRate {
        let rate = self.rate.bps() as f64;
        let most = self.parameters.low_latency_weight() * rate;
        let most = most.min(self.low.rate().bps() as f64);
        let left = BitRate::from_bps(((rate - self.low_rate.bps().min(most)) as u64).max(1));
        let [_, own] = self.parameters.member_rates();
        own.map_or(left, |own| own.min(left))
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
        faults.add(no_law("low_latency", law));
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
        let is_low = self.is_low(&packet);
        entry.counters.recorder.goes_to(&packet, is_low);
        if is_low {
            self.enqueue_low(packet, entry);
        } else {
            self.enqueue_classic(packet, entry);
        }
    }

    fn dequeue(&mut self, exit: &mut Exit) -> Option<Packet> {
        match (self.low.lane.is_empty(), self.classic.lane.is_empty()) {
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

    fn aggregate(&self) -> Option<&LowLatency> {
        Some(self)
    }

    fn aggregate_mut(&mut self) -> Option<&mut LowLatency> {
        Some(self)
    }

    fn members(&self) -> Option<[Counted<MemberCounts>; 2]> {
        Some([self.low.lane.counts(), self.classic.lane.counts()])
    }

    fn backlog(&self) -> Count {
        self.low.lane.backlog().plus(self.classic.lane.backlog())
    }

    fn packets(&self) -> Waiting<'_> {
        Box::new(self.packets_of(true).chain(self.packets_of(false)))
    }

    fn next_update(&self) -> Time {
        self.clock.next()
    }

    fn update(&mut self, now: Time, drain_rate: &DrainRate) {
        self.follow(drain_rate);
        let was_used = self.low_rate.sample(now);
        let rate = self.classic_rate();
        let Some((changed, probability)) = self.classic.update(now, rate) else { return };
        self.coupling.follow(probability);
        self.clock.ticked(now, changed || was_used || self.backlog().packets > 0);
    }

    fn gauges(&self, out: &mut Gauges) {
        let p = self.classic.probability();
        out.show(CLASSIC_PROBABILITY, p);
        out.show(BASE_PROBABILITY, p.sqrt());
        out.show(COUPLED_PROBABILITY, self.coupling.likelihood());
        self.low.gauges(out);
        out.show(CLASSIC_PACKETS, self.classic.lane.backlog().packets as f64);
        out.show(CLASSIC_DROPS, self.classic.lane.dropped() as f64);
    }

    fn lapses(&self) -> Lapses {
        self.classic.aqm.as_ref().map_or(Lapses::default(), Aqm::lapses)
    }

    fn rest(&self) -> Option<Rest> {
        self.classic.aqm.as_ref()?.rest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Segment;
    use crate::queue::member_rate::RateEstimate;
    use crate::queue::tests::Bench;

    fn aggregate(parameters: &Parameters) -> LowLatency {
        let Scheduler::LowLatency(aggregate) = Bench::of(1).start(parameters) else {
            unreachable!()
        };
        aggregate
    }

    fn put(aggregate: &mut LowLatency, bench: &mut Bench, ecn: Ecn) {
        aggregate.enqueue(Packet { ecn, ..Packet::datagram(1000) }, &mut bench.entry());
    }

    /// Of 8 Mbps, and with a weight of a half. In 16 ms 4000 bytes are 2 Mbps.
    #[test]
    fn c_has_what_l_leaves() {
        for (sent, low_latency_mbps, classic_mbps, left) in [
            (0, None, None, 8.0),
            (4000, None, None, 6.0),
            (12_000, None, None, 4.0),
            (4000, Some(1.0), None, 7.0),
            (4000, Some(3.0), None, 6.0),
            (4000, None, Some(3.0), 3.0),
            (4000, None, Some(7.0), 6.0),
        ] {
            let (rate_estimate, weight) = (RateEstimate::Raw, 128);
            let parameters = Parameters {
                rate_estimate,
                weight,
                low_latency_mbps,
                classic_mbps,
                ..Default::default()
            };
            let mut aggregate = aggregate(&parameters);
            aggregate.low_rate.sent(sent);
            aggregate.update(Time::from_ms(16), &Bench::of(1).drain_rate);
            assert_eq!(aggregate.classic_rate(), BitRate::from_mbps(left), "{parameters:?}");
            assert_eq!(aggregate.rate, BitRate::from_mbps(8.0));
        }
        // There is always a rate.
        let all =
            Parameters { rate_estimate: RateEstimate::Raw, weight: 255, ..Default::default() };
        let mut aggregate = aggregate(&all);
        aggregate.low_rate.sent(16_000);
        aggregate.update(Time::from_ms(16), &Bench::of(1).drain_rate);
        assert_eq!(aggregate.classic_rate(), BitRate::from_bps(8_000_000 / 256));
        aggregate.set_rate(BitRate::from_bps(100));
        assert_eq!(aggregate.classic_rate(), BitRate::from_bps(1));
    }

    /// ECT(1), CE and code point 45 go to L, and what behind it waits for a grant makes its estimate longer: 6 ms at 8 Mbps are
    /// 6000 B that may wait.
    #[test]
    fn the_field_of_ecn_and_the_code_point_say_who_takes_a_packet() {
        let parameters = Parameters { latency_histogram_ms: vec![1.0, 2.0], ..Default::default() };
        let (mut aggregate, mut bench) = (aggregate(&parameters), Bench::of(99));
        for (ecn, dscp, is_low) in [
            (Ecn::NotEct, 0, false),
            (Ecn::Ect0, 44, false),
            (Ecn::Ect1, 0, true),
            (Ecn::Ce, 0, true),
            (Ecn::NotEct, 45, true),
            (Ecn::NotEct, 47, false),
        ] {
            let before = aggregate.low_latency_backlog().packets;
            let segment = Segment { dscp, ..Segment::default() };
            let packet = Packet { ecn, segment, ..Packet::datagram(100) };
            aggregate.enqueue(packet, &mut bench.entry());
            let taken = aggregate.low_latency_backlog().packets - before;
            assert_eq!(taken == 1, is_low, "{ecn:?} {dscp}");
        }
        let counted = aggregate.latency_histogram().unwrap();
        let counts =
            Member::ALL.map(|member| counted.of_member(member).packets.iter().sum::<u64>());
        assert_eq!(counts, [3, 3]);
        // The rate is computed anew with the loop.
        let rate = aggregate.rate;
        aggregate.set_request_loop(Loop { delay: Time::from_ms(6), proactive: None });
        assert!(aggregate.rate != rate);
    }

    #[test]
    fn an_aggregate_at_rest_is_not_updated() {
        let (mut aggregate, mut bench) = (aggregate(&Parameters::default()), Bench::of(9));
        assert_eq!(aggregate.next_update(), Time::from_ms(16));
        aggregate.update(Time::from_ms(16), &bench.drain_rate);
        assert_eq!(aggregate.next_update(), Time::NEVER);
        bench.now = Time::from_ms(40);
        put(&mut aggregate, &mut bench, Ecn::Ect1);
        assert_eq!(aggregate.next_update(), Time::from_ms(48));
        // It waits, then it has been sent, and then nothing is left to see.
        for (ms, next) in [(48, Time::from_ms(64)), (64, Time::from_ms(80)), (80, Time::NEVER)] {
            aggregate.update(Time::from_ms(ms), &bench.drain_rate);
            assert_eq!(aggregate.next_update(), next, "{ms}");
            aggregate.dequeue(&mut bench.exit());
        }
    }

    #[test]
    fn an_empty_aggregate_forgets_whose_turn_it_was() {
        let parameters = Parameters { weight: 128, ..Parameters::default() };
        let (mut aggregate, mut bench) = (aggregate(&parameters), Bench::of(9));
        for _ in 0..3 {
            put(&mut aggregate, &mut bench, Ecn::NotEct);
            put(&mut aggregate, &mut bench, Ecn::Ect1);
            let sent =
                [0; 3].map(|_| aggregate.dequeue(&mut bench.exit()).map(|packet| packet.ecn));
            assert_eq!(sent, [Some(Ecn::Ect1), Some(Ecn::NotEct), None]);
        }
    }

    #[test]
    fn gauges_and_counts_are_those_of_the_members() {
        let parameters = Parameters {
            classic_aqm: false,
            classic_buffer_bytes: Some(2000),
            ..Default::default()
        };
        let (mut aggregate, mut bench) = (aggregate(&parameters), Bench::of(9));
        (0..4).for_each(|_| put(&mut aggregate, &mut bench, Ecn::NotEct));
        put(&mut aggregate, &mut bench, Ecn::Ect1);
        assert_eq!(aggregate.low_latency_backlog().packets, 1);
        let mut shown = Gauges::default();
        aggregate.gauges(&mut shown);
        let names =
            ["classic_packets", "classic_drops", "low_latency_packets", "classic_probability"];
        assert_eq!(names.map(|name| shown.get(name)), [2.0, 2.0, 1.0, 0.0].map(Some));
        let [low, classic] = aggregate.members().unwrap().map(|member| member.all);
        assert_eq!(
            (low.backlog.packets, classic.backlog.packets, classic.dropped_overflow),
            (1, 2, 2)
        );
        for (is_low, member) in [(true, Member::LowLatency), (false, Member::Classic)] {
            let exit = &mut bench.exit();
            assert!(aggregate.dequeue_member(is_low, exit).is_some());
            assert_eq!(exit.member, Some(member));
        }
    }

    #[test]
    fn each_member_holds_the_largest_packet() {
        let faults = |low, classic| {
            let parameters = Parameters {
                low_latency_buffer_bytes: Some(low),
                classic_buffer_bytes: Some(classic),
                ..Parameters::default()
            };
            let faults = parameters.check(&AqmSpec::default(), 9000).into_iter();
            faults.map(|fault| fault.path).collect::<Vec<_>>().join(" ")
        };
        let law = AqmSpec::Codel(crate::aqm::codel::Parameters::default());
        assert_eq!(Parameters::default().check(&law, 1522).into_iter().count(), 1);
        // L leaves 2000 bytes free.
        assert_eq!(faults(11_000, 9000), "");
        assert_eq!(faults(10_999, 9000), "low_latency_buffer_bytes");
        assert_eq!(faults(11_000, 8999), "classic_buffer_bytes");
    }

    #[test]
    fn members_have_rates_within_that_of_the_aggregate() {
        let own = |low_latency_mbps, classic_mbps| {
            let parameters = Parameters { low_latency_mbps, classic_mbps, ..Parameters::default() };
            let checked = parameters.check_member_rates(BitRate::from_mbps(8.0));
            checked.map_err(|fault| fault.path)
        };
        assert_eq!(own(Some(8.0), Some(8.0)), Ok(()));
        assert_eq!(own(Some(8.1), Some(8.0)), Err("low_latency_mbps".into()));
        assert_eq!(own(None, Some(8.1)), Err("classic_mbps".into()));
    }
}
