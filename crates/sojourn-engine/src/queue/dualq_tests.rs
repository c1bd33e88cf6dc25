//! DualQ by hand.

use super::*;
use crate::queue::tests::Bench;

fn dualq(parameters: &Parameters) -> DualQ {
    let Scheduler::DualQ(dualq) = Bench::of(1).start(parameters) else { unreachable!() };
    dualq
}

/// With this base probability, which does not move.
fn at(p: f64, parameters: &Parameters) -> DualQ {
    let mut dualq = dualq(parameters);
    let delay = Time::from_secs_f64(p / 100.0);
    dualq.base = match parameters.variant {
        Variant::Rfc9332 => Base::Exact(PiController::new(0.0, 100.0, 0.0, 1.0)),
        Variant::Linux => Base::Linux(LinuxPi::new(Time::ZERO, 100.0, 0.0, 1.0)),
    };
    dualq.base.update(delay);
    assert!((dualq.base.p() - p).abs() < 1e-4);
    dualq
}

fn linux() -> Parameters {
    Parameters { variant: Variant::Linux, ..Parameters::default() }
}

fn packet(ecn: Ecn) -> Packet {
    Packet { ecn, ..Packet::datagram(1000) }
}

fn put(dualq: &mut DualQ, bench: &mut Bench, packets: u64, ecn: Ecn) {
    (0..packets).for_each(|_| {
        let packet = Packet { queued_at: bench.now, ..packet(ecn) };
        dualq.enqueue(packet, &mut bench.entry());
    });
}

fn drain(dualq: &mut DualQ, bench: &mut Bench) -> usize {
    std::iter::from_fn(|| dualq.dequeue(&mut bench.exit())).count()
}

/// After one update at a delay of 115 ms: 0.15 * 0.1 + 3 * 0.115; of Linux 41 and 819 of 256, rounded down to whole steps.
#[test]
fn gains_and_targets_are_those_of_the_variant_or_of_keys() {
    let usual = Parameters::default;
    for (parameters, p, update_ms) in [
        (usual(), 0.36, 15),
        (Parameters { target_ms: Some(65.0), ..usual() }, 0.3525, 15),
        (Parameters { alpha_hz: Some(1.0), update_ms: Some(4.0), ..usual() }, 0.445, 4),
        (Parameters { beta_hz: Some(0.0), ..usual() }, 0.015, 15),
        (linux(), 0.383_926, 16),
        (Parameters { target_ms: Some(65.0), ..linux() }, 0.375_918, 16),
    ] {
        let (mut dualq, mut bench) = (dualq(&parameters), Bench::of(9));
        assert_eq!(dualq.next_update(), Time::from_ms(update_ms));
        put(&mut dualq, &mut bench, 1, Ecn::NotEct);
        dualq.update(Time::from_ms(115), &bench.drain_rate);
        assert!((dualq.base.p() - p).abs() < 3e-4, "{parameters:?}: {}", dualq.base.p());
        assert_eq!(dualq.next_update(), Time::from_ms(115 + update_ms));
    }
}

/// A delay of 100 s is beyond all bounds.
#[test]
fn the_base_probability_is_bounded() {
    for (overload, coupling, variant, most_p, most_marked) in [
        (Overload::Drop, None, Variant::Rfc9332, 1.0, 0.25),
        (Overload::Mark, None, Variant::Rfc9332, 0.5, 0.25),
        (Overload::Mark, Some(4.0), Variant::Rfc9332, 0.25, 0.0625),
        (Overload::Mark, Some(0.5), Variant::Rfc9332, 1.0, 1.0),
        (Overload::Drop, Some(4.0), Variant::Linux, 1.0, 0.0625),
        (Overload::Mark, None, Variant::Linux, 0.5, f64::INFINITY),
    ] {
        let parameters = Parameters { overload, coupling, variant, ..Parameters::default() };
        let (mut dualq, mut bench) = (dualq(&parameters), Bench::of(9));
        put(&mut dualq, &mut bench, 1, Ecn::Ect1);
        dualq.update(Time::from_s(100), &bench.drain_rate);
        assert!((dualq.base.p() - most_p).abs() < 1e-9, "{parameters:?}: {}", dualq.base.p());
        assert_eq!(dualq.max_mark_probability, most_marked, "{parameters:?}");
        let mut shown = Gauges::default();
        dualq.gauges(&mut shown);
        assert_eq!(shown.get("base_probability"), Some(dualq.base.p()));
        let coupled = (most_p * coupling.unwrap_or(2.0)).min(1.0);
        assert!((shown.get("coupled_probability").unwrap() - coupled).abs() < 1e-9);
        let named = Parameters { max_mark_probability: Some(0.7), ..parameters };
        assert_eq!(self::dualq(&named).max_mark_probability, 0.7);
    }
}

#[test]
fn the_ramp_of_l_is_that_of_the_variant_or_of_keys() {
    let usual = Parameters::default;
    for (parameters, min_us, max_us, packets) in [
        (usual(), 800, 1200, 1),
        (linux(), 1000, 1000, 0),
        (Parameters { native_min_us: Some(500.0), ..usual() }, 500, 900, 1),
        (
            Parameters { native_range_us: Some(50.0), native_packets: Some(7), ..linux() },
            1000,
            1050,
            7,
        ),
    ] {
        let (min, max) = (Time::from_us(min_us), Time::from_us(max_us));
        assert_eq!(parameters.ramp(), Ramp { min, max });
        assert_eq!(dualq(&parameters).native_packets, packets);
    }
}

/// p_C = p'^2, evenly: with 0.16 the seventh packet is the first, and with 0.25 the fifth, which is dropped: 1/k^2 is the
/// most that marks.
#[test]
fn signals_of_c_are_marks_up_to_a_quarter() {
    for (p, ecn, packets, marked, dropped) in [
        (0.4, Ecn::Ect0, 6, 0, 0),
        (0.4, Ecn::Ect0, 7, 1, 0),
        (0.4, Ecn::NotEct, 7, 0, 1),
        (0.5, Ecn::Ect0, 4, 0, 0),
        (0.5, Ecn::Ect0, 5, 0, 1),
    ] {
        let (mut dualq, mut bench) = (at(p, &Parameters::default()), Bench::of(9));
        put(&mut dualq, &mut bench, packets, ecn);
        assert_eq!(drain(&mut dualq, &mut bench) as u64, packets - dropped);
        let [low, classic] = dualq.members().unwrap().map(|member| member.all);
        assert_eq!((classic.classic_marks, classic.dropped_aqm), (marked, dropped), "{p} {ecn:?}");
        assert_eq!((bench.counts.all.marked, bench.counts.all.dropped_aqm), (marked, dropped));
        assert_eq!(low, MemberCounts::default());
        let mut shown = Gauges::default();
        dualq.gauges(&mut shown);
        let found =
            ["classic_marks", "classic_drops", "low_latency_drops"].map(|name| shown.get(name));
        assert_eq!(found, [Some(marked as f64), Some(dropped as f64), Some(0.0)]);
    }
}

/// p_CL = 2 p' marks L, or its ramp: at a delay of 1000 us 0.5. From 1 on it is overload, which drops p_C too.
#[test]
fn signals_of_l_are_counted_by_their_cause() {
    for (p, us, overload, marks, dropped) in [
        // 0.42 of ten packets, in sums of more than 1, and the last one is judged alone.
        (0.21, 0, Overload::Drop, [0, 4, 0], 0),
        (0.21, 1000, Overload::Drop, [4, 0, 0], 0),
        (0.31, 1000, Overload::Drop, [0, 6, 0], 0),
        (0.5, 0, Overload::Mark, [0, 0, 9], 0),
        // 0.25 of them are dropped, the fifth and the ninth, and of the eight that are left the first is not marked.
        (0.5, 0, Overload::Drop, [0, 0, 7], 2),
    ] {
        let parameters = Parameters { overload, ..Parameters::default() };
        let (mut dualq, mut bench) = (at(p, &parameters), Bench::of(10));
        put(&mut dualq, &mut bench, 10, Ecn::Ect1);
        bench.now = Time::from_us(us);
        assert_eq!(drain(&mut dualq, &mut bench) as u64, 10 - dropped);
        let [low, classic] = dualq.members().unwrap().map(|member| member.all);
        let found = [low.native_marks, low.coupled_marks, low.overload_marks];
        assert_eq!((found, low.dropped_aqm), (marks, dropped), "{p} {us} {overload:?}");
        assert_eq!((bench.counts.all.marked, bench.counts.all.dropped_aqm), (low.marks(), dropped));
        assert_eq!(classic, MemberCounts::default());
        let mut shown = Gauges::default();
        dualq.gauges(&mut shown);
        let names = ["native_marks", "coupled_marks", "overload_marks", "low_latency_drops"];
        let [native, coupled, overloaded] = marks.map(|count| count as f64);
        let wanted = [native, coupled, overloaded, dropped as f64].map(Some);
        assert_eq!(names.map(|name| shown.get(name)), wanted);
    }
}

#[test]
fn both_count_what_their_limit_drops() {
    let (mut dualq, mut bench) = (dualq(&Parameters::default()), Bench::of(2));
    for ecn in [Ecn::Ect1, Ecn::NotEct, Ecn::Ce, Ecn::Ect0, Ecn::Ect0] {
        put(&mut dualq, &mut bench, 1, ecn);
    }
    let dropped = dualq
        .members()
        .unwrap()
        .map(|member| (member.all.dropped_overflow, member.all.dropped_aqm));
    assert_eq!((dropped, bench.counts.all.dropped_overflow), ([(1, 0), (2, 0)], 3));
    let mut shown = Gauges::default();
    dualq.gauges(&mut shown);
    let found = ["low_latency_packets", "classic_packets"].map(|name| shown.get(name));
    assert_eq!(found, [Some(1.0); 2]);
}

/// Signals of the base controller come with arrivals, and none more as packets leave.
#[test]
fn early_drops_are_counted_as_they_arrive() {
    for spacing in [Spacing::Even, Spacing::Random] {
        let parameters = Parameters { drop_early: true, spacing: Some(spacing), ..linux() };
        let (mut dualq, mut bench) = (at(0.999, &parameters), Bench::of(100));
        put(&mut dualq, &mut bench, 50, Ecn::NotEct);
        // Four come in first, as less than 3028 bytes wait; then nearly all are dropped.
        let [_, classic] = dualq.members().unwrap().map(|member| member.all);
        assert!((40..=47).contains(&classic.dropped_aqm), "{classic:?}");
        assert_eq!(bench.counts.all.dropped_aqm, classic.dropped_aqm);
        assert_eq!(classic.backlog.packets, 50 - classic.dropped_aqm);
        assert_eq!(drain(&mut dualq, &mut bench) as u64, classic.backlog.packets);
        assert_eq!(bench.counts.all.dropped_aqm, classic.dropped_aqm);
    }
}

/// On a ramp of 1 ms from 0 on: half of the packets that waited 500 us, and nothing is drawn at its ends.
#[test]
fn linux_draws_on_the_ramp_of_l() {
    let parameters =
        Parameters { native_min_us: Some(0.0), native_range_us: Some(1000.0), ..linux() };
    for (us, least, most) in [(0, 0, 0), (500, 900, 1100), (1000, 2000, 2000), (1500, 2000, 2000)] {
        let (mut dualq, mut bench) = (dualq(&parameters), Bench::of(9));
        for _ in 0..2000 {
            put(&mut dualq, &mut bench, 1, Ecn::Ect1);
            bench.now += Time::from_us(us);
            assert_eq!(drain(&mut dualq, &mut bench), 1);
        }
        let [low, _] = dualq.members().unwrap().map(|member| member.all);
        assert!((least..=most).contains(&low.native_marks), "{us}: {low:?}");
        assert_eq!(low.marks(), low.native_marks);
        // A packet alone is too little for the base controller.
        let is_drawn = bench.rng.bits() != Rng::named(1, "bench").bits();
        assert_eq!(is_drawn, us == 500);
    }
    // What cannot be marked is dropped.
    let (mut dualq, mut bench) = (dualq(&parameters), Bench::of(9));
    put(&mut dualq, &mut bench, 1, Ecn::Ect1);
    bench.now += Time::from_ms(2);
    let exit = &mut bench.exit();
    exit.counters.ecn = false;
    assert!(dualq.dequeue(exit).is_none());
    assert_eq!(dualq.members().unwrap()[0].all.dropped_aqm, 1);
}

/// In the random numbers of Linux: L is marked by the coupled likelihood, C by two rolls, and overload drops L so too.
#[test]
fn linux_signals_by_its_draws() {
    for (p, ecn, overload, marked, dropped) in [
        (0.25, Ecn::Ect1, Overload::Drop, [0.0, 0.5, 0.0, 0.0], 0.0),
        (0.75, Ecn::Ect1, Overload::Drop, [0.0, 0.0, 0.4375, 0.0], 0.5625),
        (0.75, Ecn::Ect1, Overload::Mark, [0.0, 0.0, 1.0, 0.0], 0.0),
        (0.4, Ecn::Ect0, Overload::Drop, [0.0, 0.0, 0.0, 0.16], 0.0),
        (0.6, Ecn::Ect0, Overload::Drop, [0.0, 0.0, 0.0, 0.0], 0.36),
        (0.4, Ecn::NotEct, Overload::Drop, [0.0, 0.0, 0.0, 0.0], 0.16),
        (0.6, Ecn::Ect0, Overload::Mark, [0.0, 0.0, 0.0, 0.36], 0.0),
    ] {
        let (mut dualq, mut bench) = (at(p, &Parameters { overload, ..linux() }), Bench::of(9000));
        put(&mut dualq, &mut bench, 4000, ecn);
        drain(&mut dualq, &mut bench);
        let [low, classic] = dualq.members().unwrap().map(|member| member.all);
        let found =
            [low.native_marks, low.coupled_marks, low.overload_marks, classic.classic_marks];
        let all_dropped = low.dropped_aqm + classic.dropped_aqm;
        // Five deviations of 4000 draws are 0.04.
        let is_near = |found: u64, want: f64| (found as f64 / 4000.0 - want).abs() < 0.04;
        let near = found.into_iter().zip(marked).all(|(found, want)| is_near(found, want));
        assert!(
            near && is_near(all_dropped, dropped),
            "{p} {ecn:?} {overload:?}: {found:?} {all_dropped}"
        );
    }
}

/// Of halves the queues take turns; L has a head start of 50 ms, or what the key says, where it is time-shifted.
#[test]
fn queues_are_served_by_turns_or_by_time() {
    let half = Parameters { classic_weight_percent: Some(50.0), ..Parameters::default() };
    let service = Service::TimeShiftedFifo;
    let shifted = |time_shift_ms| Parameters { service, time_shift_ms, ..Parameters::default() };
    let (low, classic) = (Ecn::Ect1, Ecn::NotEct);
    for (parameters, apart_ms, order) in [
        (half, 0, [low, classic, low, classic]),
        (shifted(None), 50, [low, low, classic, classic]),
        (shifted(None), 51, [classic, classic, low, low]),
        (shifted(Some(5.0)), 5, [low, low, classic, classic]),
        (shifted(Some(5.0)), 6, [classic, classic, low, low]),
    ] {
        let (mut dualq, mut bench) = (dualq(&parameters), Bench::of(9));
        put(&mut dualq, &mut bench, 2, classic);
        bench.now = Time::from_ms(apart_ms);
        put(&mut dualq, &mut bench, 2, low);
        let sent = [0; 4].map(|_| {
            let exit = &mut bench.exit();
            let packet = dualq.dequeue(exit).expect("four wait");
            let member = if packet.ecn == low { Member::LowLatency } else { Member::Classic };
            assert_eq!(exit.member, Some(member));
            packet.ecn
        });
        assert_eq!(sent, order, "{parameters:?} {apart_ms}");
    }
}

#[test]
fn early_drops_are_for_linux() {
    for (drop_early, variant, faults) in [
        (false, Variant::Rfc9332, 0),
        (true, Variant::Rfc9332, 1),
        (false, Variant::Linux, 0),
        (true, Variant::Linux, 0),
    ] {
        let parameters = Parameters { drop_early, variant, ..Parameters::default() };
        let found = parameters.check(&AqmSpec::default(), 1522).into_iter().count();
        assert_eq!(found, faults, "{drop_early} {variant:?}");
    }
}

/// Linux drops above 1/k^2, which a probability of 1 is not where k is 1.
#[test]
fn linux_marks_up_to_its_limit() {
    let parameters = Parameters { coupling: Some(1.0), ..linux() };
    let (mut dualq, mut bench) = (dualq(&parameters), Bench::of(20));
    dualq.base.update(Time::from_s(100));
    assert_eq!(dualq.base.p(), 1.0);
    put(&mut dualq, &mut bench, 20, Ecn::Ect0);
    assert_eq!(drain(&mut dualq, &mut bench), 20);
    // Behind the last four there are less than 3028 B.
    assert_eq!(bench.counts.all.marked, 16);
}

#[test]
fn an_empty_queue_forgets_whose_turn_it_was() {
    let parameters = Parameters { classic_weight_percent: Some(50.0), ..Parameters::default() };
    let (mut dualq, mut bench) = (dualq(&parameters), Bench::of(9));
    for _ in 0..3 {
        put(&mut dualq, &mut bench, 1, Ecn::NotEct);
        put(&mut dualq, &mut bench, 1, Ecn::Ect1);
        let first = dualq.dequeue(&mut bench.exit()).expect("two wait");
        assert_eq!(first.ecn, Ecn::Ect1);
        assert_eq!(drain(&mut dualq, &mut bench), 1);
    }
}

/// Nothing waits and nothing changes; a packet that comes starts updates again.
#[test]
fn a_queue_at_rest_is_not_updated() {
    let (mut dualq, mut bench) = (dualq(&Parameters::default()), Bench::of(9));
    dualq.update(Time::from_ms(15), &bench.drain_rate);
    assert_eq!(dualq.next_update(), Time::NEVER);
    bench.now = Time::from_ms(40);
    put(&mut dualq, &mut bench, 1, Ecn::NotEct);
    assert_eq!(dualq.next_update(), Time::from_ms(45));
    // At its target nothing changes either, but something waits.
    dualq.update(Time::from_ms(40), &bench.drain_rate);
    assert_eq!(dualq.next_update(), Time::from_ms(55));
    // The delay of L counts too.
    drain(&mut dualq, &mut bench);
    put(&mut dualq, &mut bench, 1, Ecn::Ect1);
    dualq.update(Time::from_ms(155), &bench.drain_rate);
    assert!((dualq.base.p() - 0.36).abs() < 1e-9, "{}", dualq.base.p());
}
