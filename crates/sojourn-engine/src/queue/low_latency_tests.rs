//! The members of an aggregate of 8 Mbps: a byte takes 1 us, and the ramp of L is from 4000 us, that of two packets of
//! 2000 bytes, to 4524.288 us, 2^19 ns later.

use super::*;
use crate::aqm::ProactiveRate;
use crate::packet::Ecn;
use crate::queue::low_latency_parameters::{Estimator, ProtectionRule};
use crate::queue::tests::Bench;

const RATE: BitRate = BitRate::from_bps(8_000_000);
/// What is marked for certain, and what is not.
const LONG: u64 = 4525;
const SHORT: u64 = 4000;

/// Without Queue Protection.
fn open() -> Parameters {
    Parameters { queue_protection: false, ..Parameters::default() }
}

fn low(parameters: &Parameters) -> Low {
    let mut low = Low::new(parameters);
    low.set_rate(RATE, parameters);
    low
}

fn packet(size: u16) -> Packet {
    Packet { ecn: Ecn::Ect1, ..Packet::datagram(size) }
}

fn uncoupled(likelihood: f64) -> Coupling {
    Coupling { factor: None, likelihood }
}

/// A packet of this size comes to L, whose estimate is the delay of so many bytes. Says whether it was sanctioned.
fn put(low: &mut Low, coupling: &Coupling, bytes: u64, packet: Packet, bench: &mut Bench) -> bool {
    low.delay_with(bench.now, bytes);
    let waiting = low.lane.backlog();
    low.enqueue(packet, coupling, waiting, &mut bench.entry()).is_some()
}

/// MULPI annex N: p_CL = min(1, k sqrt(p)), where both are coupled.
#[test]
fn l_is_coupled_by_the_root() {
    let likelihoods = |parameters: &Parameters| {
        let mut coupling = Coupling::new(parameters);
        assert_eq!(coupling.likelihood(), 0.0);
        [0.04, 0.25, 0.36].map(|p| {
            coupling.follow(p);
            coupling.likelihood()
        })
    };
    assert_eq!(likelihoods(&Parameters::default()), [0.4, 1.0, 1.0]);
    let half = Parameters { coupling: 0.5, ..Parameters::default() };
    assert_eq!(likelihoods(&half), [0.1, 0.25, 0.3]);
    for off in [
        Parameters { coupled: false, ..Parameters::default() },
        Parameters { classic_aqm: false, ..Parameters::default() },
    ] {
        assert_eq!(likelihoods(&off), [0.0; 3]);
    }
}

/// Three packets with the larger of both likelihoods: a sum of more than 1 marks, and takes 1 off.
#[test]
fn marks_are_counted_by_what_asked_for_them() {
    let as_native = low(&open()).of_rate.ramp.likelihood(RATE.time_for(4262));
    for (bytes, coupled, marks) in [
        (SHORT, 0.0, [0, 0, 0]),
        (LONG, 0.0, [2, 0, 0]),
        (LONG, 0.9, [2, 0, 0]),
        (LONG, 1.0, [0, 0, 2]),
        (SHORT, 1.0, [0, 0, 2]),
        (SHORT, 0.6, [0, 1, 0]),
        // 262 / 524.288 is 0.49973: a sum of 1.4992.
        (4262, 0.4, [1, 0, 0]),
        (4262, as_native, [0, 1, 0]),
        (4262, 0.6, [0, 1, 0]),
    ] {
        let (mut low, mut bench) = (low(&open()), Bench::of(9));
        for waiting in 0..3 {
            put(&mut low, &uncoupled(coupled), bytes - waiting, packet(1), &mut bench);
        }
        let counts = low.lane.counts().all;
        let found = [counts.native_marks, counts.coupled_marks, counts.overload_marks];
        assert_eq!(found, marks, "{bytes} {coupled}");
        let mut shown = Gauges::default();
        low.gauges(&mut shown);
        let names = ["native_marks", "coupled_marks", "overload_marks"];
        assert_eq!(names.map(|name| shown.get(name)), marks.map(|count| Some(count as f64)));
        let sent = (0..3).filter(|_| low.pop(bench.now).unwrap().ecn == Ecn::Ce).count() as u64;
        assert_eq!((sent, bench.counts.all.marked), (counts.marks(), counts.marks()));
    }
    let without = Parameters { low_latency_aqm: false, ..open() };
    for (parameters, ecn) in [(open(), Ecn::NotEct), (without, Ecn::Ect1)] {
        let (mut low, mut bench) = (low(&parameters), Bench::of(9));
        for _ in 0..3 {
            put(&mut low, &uncoupled(1.0), LONG, Packet { ecn, ..packet(1) }, &mut bench);
        }
        assert_eq!((low.lane.counts().all.marks(), low.lane.backlog().packets), (0, 3));
    }
}

#[test]
fn the_estimate_is_the_time_of_what_waits_with_the_packet() {
    let (mut low, mut bench) = (low(&open()), Bench::of(9));
    low.estimate = open().estimate(false);
    assert_eq!(low.delay_with(bench.now, 300), Time::from_us(300));
    put(&mut low, &uncoupled(0.0), 0, packet(500), &mut bench);
    assert_eq!(low.delay_with(bench.now, 300), Time::from_us(800));
    let mut shown = Gauges::default();
    low.gauges(&mut shown);
    assert_eq!(shown.get("low_latency_delay"), Some(0.8));
    assert_eq!(shown.get("native_probability"), Some(0.0));
}

/// Behind a modem's request and grant a virtual queue drains while nothing comes: of 1000 B 400 are left after 600 us.
#[test]
fn a_virtual_queue_drains_between_arrivals() {
    let parameters = open();
    let mut low = Low::new(&parameters);
    low.set_request_loop(Loop { delay: Time::from_ms(10), proactive: None }, &parameters);
    low.set_rate(RATE, &parameters);
    assert_eq!(low.delay_with(Time::ZERO, 1000), Time::from_us(1000));
    assert_eq!(low.delay_with(Time::from_us(600), 1000), Time::from_us(1400));
}

#[test]
fn signals_are_shown_by_their_cause() {
    let mut low = low(&open());
    let bench = Bench::of(9);
    let causes =
        [cause(false, true), cause(false, false), cause(true, false), |of| &mut of.sanctioned];
    for (times, cause) in (1..).zip(causes) {
        (0..times).for_each(|_| low.lane.note(&packet(1), cause, &bench.recorder));
    }
    let mut shown = Gauges::default();
    low.gauges(&mut shown);
    let names = ["native_marks", "coupled_marks", "overload_marks", "sanctioned_packets"];
    assert_eq!(names.map(|name| shown.get(name)), [1.0, 2.0, 3.0, 4.0].map(Some));
}

/// L may hold 40 000 bytes, 20 packets of 2000, of which docsis-ns3 leaves 2000 free.
#[test]
fn there_is_room_for_a_packet_below_the_buffer_less_2000_bytes() {
    for (waiting, is_in) in [(37_999, true), (38_000, false)] {
        let (mut low, mut bench) = (low(&open()), Bench::of(9));
        low.lane.push(packet(waiting));
        assert!(!put(&mut low, &uncoupled(0.0), 100, packet(100), &mut bench));
        let counts = low.lane.counts().all;
        assert_eq!(
            (low.lane.backlog().packets == 2, counts.dropped_overflow),
            (is_in, u64::from(!is_in))
        );
        assert_eq!(bench.counts.all.dropped_overflow, counts.dropped_overflow);
        let mut shown = Gauges::default();
        low.gauges(&mut shown);
        assert_eq!(shown.get("low_latency_drops"), Some(counts.dropped_overflow as f64));
    }
    // The limit of both counts what waits in both.
    let (mut low, mut bench) = (low(&open()), Bench::of(2));
    low.delay_with(bench.now, 100);
    let waiting = Count { packets: 2, bytes: 0 };
    assert!(low.enqueue(packet(100), &uncoupled(0.0), waiting, &mut bench.entry()).is_none());
    assert_eq!(low.lane.counts().all.dropped_overflow, 1);
}

/// Behind request and grant the virtual queue decides too, while it is shorter than the 38 ms of the buffer.
#[test]
fn what_waits_for_its_grant_takes_no_room_in_the_virtual_queue() {
    for (delay, is_in) in [(37_999, true), (38_000, false)] {
        let parameters = open();
        let (mut low, mut bench) = (Low::new(&parameters), Bench::of(9));
        low.set_request_loop(Loop { delay: Time::from_ms(10), proactive: None }, &parameters);
        low.set_rate(RATE, &parameters);
        // 10 ms at 1000 B/ms.
        assert_eq!(low.of_rate.allowed, 10_000.0);
        low.lane.push(packet(60_000));
        let before = low.delay_with(bench.now, 0);
        assert_eq!(before, Time::ZERO);
        assert!(!put(&mut low, &uncoupled(0.0), delay, packet(100), &mut bench));
        assert_eq!(low.lane.counts().all.dropped_overflow, u64::from(!is_in));
        // What was dropped is given back: 100 us of what was estimated.
        let us = if is_in { delay } else { delay - 100 };
        assert_eq!(low.delay_with(bench.now, 0), Time::from_us(us));
        // It is empty that much later; when a packet leaves it has been brought up to date.
        bench.now = Time::from_us(400);
        assert!(low.pop(bench.now).is_some());
        assert_eq!(low.delay_with(bench.now, 0), Time::from_us(us - 400));
    }
}

/// When a packet leaves, what waited until then counts in the mean: at 0.5 ms 60 000 bytes have waited.
#[test]
fn the_virtual_queue_sees_what_waited_until_a_packet_left() {
    let parameters = Parameters { estimator: Some(Estimator::VirtualQueue), ..open() };
    let mut low = low(&parameters);
    assert_eq!(low.of_rate.allowed, 0.0);
    low.lane.push(packet(64_000));
    assert!(low.pop(Time::from_us(500)).is_some());
    // 64 000 / 128 = 500 bytes more than the none that may wait.
    assert_eq!(low.delay_with(Time::from_us(500), 0), Time::from_us(500));
}

#[test]
fn what_is_granted_without_a_request_may_wait_less_long() {
    let parameters = open();
    let mut low = Low::new(&parameters);
    let (rate, interval) = (BitRate::from_mbps(2.0), Time::from_ms(4));
    let proactive = Some(ProactiveRate { rate, interval });
    low.set_request_loop(Loop { delay: Time::from_ms(10), proactive }, &parameters);
    low.set_rate(RATE, &parameters);
    // 6 of 8 Mbps are requested: 7500 bytes in 10 ms, and 1000 come in 4 ms.
    assert_eq!(low.of_rate.allowed, 8500.0);
}

#[test]
fn l_has_its_own_rate_within_that_of_the_aggregate() {
    for (own, mbps, max_us) in
        [(None, 8.0, 4524.288), (Some(4.0), 4.0, 8524.288), (Some(9.0), 8.0, 4524.288)]
    {
        let low = low(&Parameters { low_latency_mbps: own, ..open() });
        assert_eq!(low.rate(), BitRate::from_mbps(mbps));
        assert_eq!(low.of_rate.ramp.max, Time::from_secs_f64(max_us / 1e6));
        assert_eq!(low.of_rate.buffer_bytes, 40_000);
    }
    // At 400 Mbps the ramp ends where it is set: 32 000 bits are 80 us, less than 2000 - 524.
    let mut fast = Low::new(&open());
    let parameters = Parameters { low_latency_max_us: 2000.0, ..open() };
    fast.set_rate(BitRate::from_mbps(400.0), &parameters);
    assert_eq!(fast.of_rate.ramp.max, Time::from_us(2000));
}

/// RFC 9957 §4.2.1: above the critical delay, which by default follows the end of the ramp, 4524.288 us. The score of
/// 4 ms is exceeded from the second packet on: each has 1500 / 2^19 s = 2861 us.
#[test]
fn a_packet_that_builds_the_queue_is_sanctioned_above_the_critical_delay() {
    let follows =
        Parameters { protection_rule: ProtectionRule::DocsisNs3, ..Parameters::default() };
    let fixed = Parameters { critical_delay_us: Some(6000.0), ..follows.clone() };
    for (parameters, bytes, sanctioned) in
        [(&follows, 4524, 0), (&follows, LONG, 2), (&fixed, LONG, 0), (&fixed, 6001, 2)]
    {
        let (mut low, mut bench) = (low(parameters), Bench::of(9));
        let moved = (0..3).filter(|_| {
            let bytes = bytes - low.lane.backlog().bytes;
            put(&mut low, &uncoupled(0.0), bytes, Packet { tuple: 77, ..packet(1500) }, &mut bench)
        });
        assert_eq!(moved.count(), sanctioned, "{bytes}");
        assert_eq!(low.lane.counts().all.sanctioned, sanctioned as u64);
        assert_eq!(low.lane.backlog().packets, 3 - sanctioned as u64);
        let noted = bench
            .recorder
            .events
            .iter()
            .filter(|event| event.kind == crate::record::PacketEventKind::Sanctioned);
        assert_eq!(noted.count(), sanctioned);
        let mut shown = Gauges::default();
        low.gauges(&mut shown);
        assert_eq!(shown.get("sanctioned_packets"), Some(sanctioned as f64));
        assert_eq!(shown.get("shared_bucket_packets"), Some(0.0));
    }
}

/// A packet that goes to C is taken out of the virtual queue.
#[test]
fn a_sanctioned_packet_is_given_back() {
    let parameters =
        Parameters { estimator: Some(Estimator::VirtualQueue), ..Parameters::default() };
    let (mut low, mut bench) = (low(&parameters), Bench::of(9));
    let flow = || Packet { tuple: 77, ..packet(1500) };
    assert!(!put(&mut low, &uncoupled(0.0), 5000, flow(), &mut bench));
    assert!(put(&mut low, &uncoupled(0.0), 1500, flow(), &mut bench));
    assert_eq!(low.delay_with(bench.now, 0), Time::from_us(5000));
}

/// At 8 Mbps 100 ms are 100 000 bytes.
#[test]
fn c_drops_what_does_not_fit_into_its_buffer() {
    let parameters = Parameters { classic_aqm: false, ..open() };
    let fill = |sizes: [u16; 2], waiting: Count, bench: &mut Bench| {
        let mut classic = Classic::new(&parameters);
        classic.buffer_bytes = 50_000;
        for size in sizes {
            classic.enqueue(Packet::datagram(size), RATE, waiting, &mut bench.entry());
        }
        let counts = classic.lane.counts().all;
        assert_eq!(counts.dropped_overflow, bench.counts.all.dropped_overflow);
        assert_eq!(counts.dropped_aqm, 0);
        assert_eq!(
            (classic.probability(), classic.delay(RATE)),
            (0.0, RATE.time_for(counts.backlog.bytes))
        );
        (counts.backlog.packets, counts.dropped_overflow)
    };
    let none = Count::default();
    assert_eq!(fill([49_000, 1000], none, &mut Bench::of(9)), (2, 0));
    assert_eq!(fill([49_000, 1001], none, &mut Bench::of(9)), (1, 1));
    assert_eq!(fill([49_000, 1000], Count { packets: 9, bytes: 0 }, &mut Bench::of(9)), (0, 2));
}

/// 60 of 100 packets wait, so that DOCSIS-PIE is active, and after some updates at 60 ms it drops.
#[test]
fn c_drops_early_and_counts_it() {
    let (mut classic, mut bench) = (Classic::new(&open()), Bench::of(1000));
    classic.buffer_bytes = 100_000;
    let put = |classic: &mut Classic, bench: &mut Bench| {
        let waiting = classic.lane.backlog();
        classic.enqueue(
            Packet { ecn: Ecn::Ect0, ..Packet::datagram(1000) },
            RATE,
            waiting,
            &mut bench.entry(),
        );
    };
    (0..60).for_each(|_| put(&mut classic, &mut bench));
    assert_eq!(classic.delay(RATE), Time::ZERO, "nothing has been estimated yet");
    let (changed, first) = classic.update(bench.now, RATE).expect("it has an algorithm");
    assert!(changed && first > 0.0);
    assert_eq!(classic.delay(RATE), Time::from_ms(60));
    assert_eq!(classic.probability(), first);
    (0..200).for_each(|_| {
        classic.update(bench.now, RATE);
    });
    (0..20).for_each(|_| put(&mut classic, &mut bench));
    let counts = classic.lane.counts().all;
    // Once it drops, its burst allowance of 142 ms lets all pass.
    assert_eq!((counts.dropped_aqm, counts.dropped_overflow), (1, 0));
    assert_eq!((bench.counts.all.dropped_aqm, bench.counts.all.marked), (1, 0));
    assert_eq!(counts.backlog.packets, 79);
}

/// Likelihoods are summed up to 0.85 before any drop. Between 0.6 and 0.65 that takes two packets, and an overflow begins
/// anew (RFC 8034 appendix A.1).
#[test]
fn an_overflow_of_c_counts_as_a_drop() {
    let (mut classic, mut bench) = (Classic::new(&open()), Bench::of(1000));
    classic.buffer_bytes = 100_000;
    let put = |classic: &mut Classic, bench: &mut Bench, size| {
        let waiting = classic.lane.backlog();
        classic.enqueue(Packet::datagram(size), RATE, waiting, &mut bench.entry());
    };
    (0..60).for_each(|_| put(&mut classic, &mut bench, 1000));
    while classic.probability() < 0.6 {
        classic.update(bench.now, RATE);
    }
    assert!(classic.probability() < 0.65);
    for overflows in 1..=20 {
        put(&mut classic, &mut bench, 1000);
        put(&mut classic, &mut bench, 60_000);
        assert_eq!(
            (bench.counts.all.dropped_overflow, bench.counts.all.dropped_aqm),
            (overflows, 0)
        );
    }
}
