//! BBR version 1, law by law: a path of 1000 segments of 1000 B a second and 125 ms has 125 segments under way.

use super::*;
use crate::rate::Rate;
use sojourn_engine::dialect::Dialect;

#[path = "bbr1_window_tests.rs"]
mod window;

const MS: fn(u64) -> Time = Time::from_ms;
const PS: Time = Time::from_ps(1);

/// A flow that knows nothing.
fn new() -> (Bbr1, Window) {
    let connection =
        Connection { dialect: Dialect::Linux, mss: 1000, initial_window: 10.0, max_window: 1e4 };
    (Bbr1::new(&connection), Window { cwnd: 10.0, ssthresh: 1e6 })
}

/// One that knows the path and keeps its bandwidth, in bursts of two.
fn steady() -> (Bbr1, Window) {
    let (mut bbr, mut window) = new();
    know(&mut bbr, 1000.0);
    (bbr.min_rtt, bbr.rate, bbr.has_rtt) = (Some(MS(125)), 990_000, true);
    (bbr.mode, bbr.phase, bbr.is_full) = (Mode::ProbeBandwidth, 2, true);
    window.cwnd = 100.0;
    (bbr, window)
}

fn know(bbr: &mut Bbr1, per_second: f64) {
    bbr.bandwidth = WindowedMax::default();
    bbr.bandwidth.take(0, per_second, 10);
}

/// A sample of 100 segments delivered in so many ms.
fn delivered(in_ms: u64, is_app_limited: bool) -> RateSample<'static> {
    let interval = MS(in_ms);
    let rate = Rate { delivered: 100, interval, is_app_limited, ..Rate::default() };
    RateSample { rate: Some(rate), max_window: 1e6, ..RateSample::default() }
}

/// draft §4.1.1.5: of samples that the application limits only those not below the estimate count.
#[test]
fn an_application_that_sends_little_does_not_lower_the_bandwidth() {
    let (mut bbr, _) = new();
    bbr.update_bandwidth(&delivered(100, false));
    assert_eq!(bbr.bandwidth(), 1000.0);
    // Twelve rounds later a slower sample would have taken its place, had it counted.
    bbr.rounds += 12;
    bbr.update_bandwidth(&delivered(200, true));
    assert_eq!(bbr.bandwidth(), 1000.0);
    bbr.update_bandwidth(&delivered(50, true));
    assert_eq!(bbr.bandwidth(), 2000.0);
    bbr.rounds += 10; // and one that begins: eleven
    bbr.update_bandwidth(&delivered(200, false));
    assert_eq!(bbr.bandwidth(), 500.0);
    // As much again is as new: seven rounds later it is eight old, and not sixteen.
    for (rounds, in_ms, is_app_limited) in [(7, 200, true), (7, 400, false)] {
        bbr.rounds += rounds;
        bbr.update_bandwidth(&delivered(in_ms, is_app_limited));
        assert_eq!(bbr.bandwidth(), 500.0);
    }
}

/// draft §4.1.1.3: what left when 500 were delivered begins a round that 500 end.
#[test]
fn a_round_ends_with_what_left_in_it() {
    let (mut bbr, _) = steady();
    (bbr.next_round, bbr.conserves) = (500, true);
    for (prior_delivered, want) in [(499, (0, false, 500, true)), (500, (1, true, 900, false))] {
        let mut sample = RateSample { delivered: 900, ..delivered(100, false) };
        sample.rate = sample.rate.map(|rate| Rate { prior_delivered, ..rate });
        bbr.update_bandwidth(&sample);
        assert_eq!((bbr.rounds, bbr.is_round_start, bbr.next_round, bbr.conserves), want);
    }
    bbr.update_bandwidth(&RateSample::default());
    assert_eq!((bbr.rounds, bbr.is_round_start), (1, false));
}

/// Rounds of 100 ms deliver 100 segments and lose 25, though samples say 2000 a second: from the second interval on
/// 1000 count. After 48 rounds the link is probed again, unless it is not probed at all. A timeout is a loss too.
#[test]
fn a_policed_flow_has_the_rate_of_the_policer() {
    for (newly_lost, timed_out, mode) in [
        (25, false, Mode::ProbeBandwidth),
        (0, true, Mode::ProbeBandwidth),
        (25, false, Mode::Startup),
        (0, false, Mode::ProbeBandwidth),
    ] {
        let (mut bbr, _) = new();
        (bbr.mode, bbr.phase) = (mode, 1);
        let run = |bbr: &mut Bbr1, rounds: std::ops::Range<u64>| {
            for round in rounds {
                (bbr.timed_out, bbr.phase_at) = (timed_out, Time::ZERO);
                let (delivered_at, lost) = (MS(100 * round), 25 * round);
                let now = delivered_at;
                let all =
                    RateSample { now, delivered_at, lost, newly_lost, ..delivered(50, false) };
                bbr.update_bandwidth(&RateSample { delivered: 100 * round, ..all });
                assert!(!bbr.timed_out);
                bbr.next_round = 0;
            }
        };
        run(&mut bbr, 0..7);
        assert_eq!(bbr.bandwidth(), 2000.0);
        run(&mut bbr, 7..8);
        let is_policed = timed_out || newly_lost > 0;
        let used = if is_policed { 1000.0 } else { 2000.0 };
        assert_eq!((bbr.bandwidth(), bbr.bandwidth.get()), (used, 2000.0));
        if is_policed && mode == Mode::ProbeBandwidth {
            assert_eq!((bbr.pacing_gain(), bbr.cwnd_gain()), (1.0, 2.0));
        }
        run(&mut bbr, 8..55);
        assert_eq!((bbr.bandwidth(), bbr.phase), (used, 1));
        run(&mut bbr, 55..56);
        let is_over = is_policed && mode == Mode::ProbeBandwidth;
        assert_eq!((bbr.bandwidth() == 2000.0, bbr.phase != 1), (is_over || !is_policed, is_over));
        assert_eq!(bbr.phase_at, if is_over { MS(5500) } else { Time::ZERO });
    }
}

/// draft §4.3.2: Drain paces with what takes away Startup's queue, Linux' 88/256 = 0.344; ProbeRTT and a policed
/// flow with 1.
#[test]
fn gains_follow_the_mode() {
    let (mut bbr, _) = new();
    let mut gains = |mode, phase| {
        (bbr.mode, bbr.phase) = (mode, phase);
        (bbr.pacing_gain(), bbr.cwnd_gain())
    };
    assert_eq!(gains(Mode::Startup, 0), (2.88671875, 2.88671875));
    assert_eq!(gains(Mode::Drain, 0), (0.34375, 2.88671875));
    assert_eq!(gains(Mode::ProbeBandwidth, 0), (1.25, 2.0));
    assert_eq!(gains(Mode::ProbeBandwidth, 1), (0.75, 2.0));
    assert!((2..8).all(|phase| gains(Mode::ProbeBandwidth, phase) == (1.0, 2.0)));
    assert_eq!(gains(Mode::ProbeRtt, 0), (1.0, 1.0));
}

/// In 10.5 ms ten segments arrive; a burst of two leaves, of which only a gain above one takes note.
#[test]
fn what_arrives_until_the_next_departure_is_not_in_the_network() {
    let (mut bbr, _) = steady();
    let next_departure = MS(100) + Time::from_us(10_500);
    let sample = RateSample { now: MS(100), next_departure, ..RateSample::default() };
    for (phase, in_flight, want) in [(0, 100, 92.0), (1, 100, 90.0), (2, 100, 90.0), (0, 5, 0.0)] {
        bbr.phase = phase;
        assert_eq!(bbr.in_network(in_flight, &sample), want);
    }
}

/// draft §4.3.4.3: any phase may be the first but the one that drains.
#[test]
fn probing_begins_in_any_phase_but_the_one_that_drains() {
    let (mut bbr, _) = new();
    let mut seen = [0; 8];
    for us in 1..1000 {
        bbr.probe_bandwidth(Time::from_us(us));
        assert_eq!((bbr.mode, bbr.phase_at), (Mode::ProbeBandwidth, Time::from_us(us)));
        seen[bbr.phase] += 1;
    }
    assert_eq!(seen[1], 0);
    assert_eq!(seen.iter().filter(|times| **times > 100).count(), 7, "{seen:?}");
}

/// draft §4.3.4.4: a phase lasts longer than a round trip. The one that probes has also filled the path, 164 segments
/// and 2, or lost something; the one that drains ends earlier when no more than 132 are left.
#[test]
fn a_phase_ends_after_a_round_trip_or_with_its_purpose() {
    let (start, over) = (MS(1000), MS(1125) + PS);
    for (phase, at, newly_lost, prior_in_flight, want) in [
        (2, MS(1125), 0, 0, 2),
        (2, over, 0, 0, 3),
        (7, over, 0, 0, 0),
        (0, over, 0, 163, 0),
        (0, over, 0, 164, 1),
        (0, over, 1, 0, 1),
        (0, MS(1125), 1, 200, 0),
        (1, start, 0, 133, 1),
        (1, start, 0, 132, 2),
        (1, over, 0, 133, 2),
        (1, MS(1125), 0, 133, 1),
    ] {
        let (mut bbr, _) = steady();
        (bbr.phase, bbr.phase_at) = (phase, start);
        let sample =
            RateSample { delivered_at: at, newly_lost, prior_in_flight, ..delivered(100, false) };
        bbr.update_phase(&sample);
        let phase_at = if want == phase { start } else { at };
        assert_eq!((bbr.phase, bbr.phase_at), (want, phase_at), "{phase} {at:?} {prior_in_flight}");
        (bbr.phase, bbr.mode) = (2, Mode::Drain);
        bbr.update_phase(&RateSample { delivered_at: MS(9000), ..sample });
        assert_eq!(bbr.phase, 2);
    }
}

/// draft §4.3.2.1: 1250 are a quarter more than 1000, and 1249 are not.
#[test]
fn three_rounds_without_a_quarter_more_fill_the_pipe() {
    let (mut bbr, _) = new();
    let rounds = [
        (1000.0, true, false, (1000.0, 0, false)),
        (1249.0, true, false, (1000.0, 1, false)),
        (1249.0, false, false, (1000.0, 1, false)),
        (1249.0, true, true, (1000.0, 1, false)),
        (1249.0, true, false, (1000.0, 2, false)),
        (1250.0, true, false, (1250.0, 0, false)),
        (1250.0, true, false, (1250.0, 1, false)),
        (1250.0, true, false, (1250.0, 2, false)),
        (1250.0, true, false, (1250.0, 3, true)),
        (9999.0, true, false, (1250.0, 3, true)),
    ];
    for (per_second, is_round_start, is_app_limited, want) in rounds {
        know(&mut bbr, per_second);
        bbr.is_round_start = is_round_start;
        bbr.check_full(&delivered(100, is_app_limited));
        assert_eq!((bbr.full_bandwidth, bbr.full_rounds, bbr.is_full), want);
    }
}

/// draft §4.3.3: until no more than 132 segments are in the network.
#[test]
fn a_full_pipe_is_drained() {
    for (mode, is_full, in_flight, want) in [
        (Mode::Startup, false, 0, Mode::Startup),
        (Mode::Startup, true, 133, Mode::Drain),
        (Mode::Startup, true, 132, Mode::ProbeBandwidth),
        (Mode::Drain, true, 133, Mode::Drain),
        (Mode::Drain, true, 132, Mode::ProbeBandwidth),
        (Mode::ProbeRtt, true, 0, Mode::ProbeRtt),
    ] {
        let (mut bbr, _) = steady();
        (bbr.mode, bbr.is_full) = (mode, is_full);
        bbr.check_drain(&RateSample { in_flight, ..RateSample::default() });
        assert_eq!(bbr.mode, want, "{in_flight}");
    }
}

/// draft §4.1.2.3: a shorter round trip counts at once, any that waited for no timer where the least is older than
/// 10 s. It is then looked for in ProbeRTT, but not when a silence has emptied the path.
#[test]
fn the_least_round_trip_is_of_ten_seconds() {
    let (at, old) = (Time::from_s(1), Time::from_s(11) + PS);
    let (keeps, probes) = (Mode::ProbeBandwidth, Mode::ProbeRtt);
    for (now, rtt_ms, may_be_delayed, is_restarting, want) in [
        (Time::from_s(11), 126, false, false, (125, at, keeps)),
        (Time::from_s(11), 125, false, false, (125, at, keeps)),
        (Time::from_s(11), 124, true, false, (124, Time::from_s(11), keeps)),
        (old, 130, true, false, (125, at, probes)),
        (old, 130, false, false, (130, old, probes)),
        (old, 0, false, false, (125, at, probes)),
        (old, 130, false, true, (130, old, keeps)),
    ] {
        let (mut bbr, mut window) = steady();
        (bbr.min_rtt_at, bbr.is_restarting, bbr.probe_rtt_until) = (at, is_restarting, Some(at));
        let rtt = MS(rtt_ms);
        let sample = RateSample { now, rtt, may_be_delayed, in_flight: 4, ..delivered(100, false) };
        bbr.update_min_rtt(&mut window, &RateSample { rate: None, ..sample });
        assert_eq!((bbr.min_rtt, bbr.min_rtt_at, bbr.mode), (Some(MS(want.0)), want.1, want.2));
        let is_begun = want.2 == probes;
        assert_eq!(bbr.probe_rtt_until, Some(if is_begun { now + MS(200) } else { at }));
        assert_eq!(bbr.prior_cwnd, if is_begun { 100.0 } else { 0.0 });
        assert_eq!(bbr.is_restarting, is_restarting);
        bbr.update_min_rtt(&mut window, &sample);
        assert!(!bbr.is_restarting);
    }
    let (mut bbr, mut window) = new();
    bbr.update_min_rtt(&mut window, &RateSample { rtt: MS(300), ..RateSample::default() });
    assert_eq!((bbr.min_rtt, bbr.mode), (Some(MS(300)), Mode::Startup));
}

/// draft §4.3.5: 200 ms from when four segments are left, and a round.
#[test]
fn probe_rtt_lasts_200_ms_and_a_round() {
    let (mut bbr, mut window) = steady();
    (bbr.mode, bbr.prior_cwnd, bbr.is_probe_rtt_round_over) = (Mode::ProbeRtt, 80.0, true);
    let mut step = |bbr: &mut Bbr1, now: Time, in_flight, is_round_start| {
        bbr.is_round_start = is_round_start;
        let sample = RateSample { now, in_flight, delivered: 700, ..RateSample::default() };
        bbr.probe_rtt(&mut window, &sample);
        (bbr.probe_rtt_until, bbr.is_probe_rtt_round_over, bbr.mode)
    };
    assert!(bbr.holds_back());
    let until = Some(MS(1200));
    assert_eq!(step(&mut bbr, MS(990), 5, true), (None, true, Mode::ProbeRtt));
    assert_eq!(step(&mut bbr, MS(1000), 4, true), (until, false, Mode::ProbeRtt));
    assert_eq!(bbr.next_round, 700);
    assert_eq!(step(&mut bbr, MS(1201), 4, false), (until, false, Mode::ProbeRtt));
    assert_eq!(step(&mut bbr, MS(1199), 4, true), (until, true, Mode::ProbeRtt));
    assert_eq!(step(&mut bbr, MS(1201), 4, false), (until, true, Mode::ProbeBandwidth));
    assert!(!bbr.holds_back());
}

/// draft §4.3.5: after ProbeRTT the minimum is as new, and the window what it was.
#[test]
fn probe_rtt_ends_after_its_time_and_gives_the_window_back() {
    let (mut bbr, mut window) = new();
    (bbr.mode, bbr.is_full, bbr.prior_cwnd) = (Mode::ProbeRtt, true, 80.0);
    bbr.probe_rtt_until = Some(MS(10_200));
    window.cwnd = 4.0;
    bbr.leave_probe_rtt(&mut window, MS(10_200));
    assert_eq!((bbr.mode, window.cwnd), (Mode::ProbeRtt, 4.0));
    bbr.leave_probe_rtt(&mut window, MS(10_201));
    assert_eq!((bbr.mode, window.cwnd), (Mode::ProbeBandwidth, 80.0));
    assert_eq!((bbr.min_rtt_at, bbr.phase_at), (MS(10_201), MS(10_201)));
    // A pipe that was never full is searched on.
    (bbr.mode, bbr.is_full) = (Mode::ProbeRtt, false);
    bbr.leave_probe_rtt(&mut window, MS(10_201));
    assert_eq!(bbr.mode, Mode::Startup);
}

#[test]
fn a_timeout_forgets_the_full_pipe_and_leaves_one_segment() {
    let (mut bbr, mut window) = new();
    bbr.full_bandwidth = 1000.0;
    window.cwnd = 50.0;
    bbr.on_timeout(&mut window, 50.0, Time::from_s(1));
    assert_eq!((bbr.full_bandwidth, window.cwnd, bbr.prior_cwnd), (0.0, 1.0, 50.0));
    assert_eq!((bbr.was, bbr.timed_out), (LossPhase::AfterTimeout, true));
    // A second one does not take the small window for the one to return to.
    bbr.on_timeout(&mut window, 1.0, Time::from_s(2));
    assert_eq!(bbr.prior_cwnd, 50.0);
}

/// 10 segments in 1 ms, and in 125 ms: 10 000 and 80 a second, times 2.88671875 * 990 B.
#[test]
fn the_first_rate_is_that_of_the_first_window() {
    let (mut bbr, mut window) = new();
    bbr.on_established(&mut window, Time::ZERO, MS(3));
    assert_eq!((bbr.min_rtt, bbr.min_rtt_at, bbr.rate), (None, MS(3), 28_578_515));
    // The first round trip corrects it, and later ones do not.
    bbr.set_rate(10.0, Time::ZERO);
    assert_eq!(bbr.rate, 28_578_515);
    for cwnd in [10.0, 900.0] {
        bbr.set_rate(cwnd, MS(125));
        assert_eq!(bbr.rate, 228_628);
    }
    bbr.on_established(&mut window, MS(125), MS(3));
    assert_eq!((bbr.min_rtt, bbr.rate), (Some(MS(125)), 228_628));
}

/// draft §4.2.1: only once the pipe is full the rate falls, to 1 % below the bandwidth.
#[test]
fn the_rate_does_not_fall_before_the_pipe_is_full() {
    for (rate, is_full, want) in
        [(500_000, false, 990_000), (2_000_000, false, 2_000_000), (2_000_000, true, 990_000)]
    {
        let (mut bbr, _) = steady();
        (bbr.rate, bbr.is_full) = (rate, is_full);
        bbr.set_rate(100.0, MS(125));
        assert_eq!(bbr.pacing_rate(), Some(want));
    }
}

/// draft §4.3.4.5: what is sent after a silence is paced at the bandwidth; ProbeRTT may be over.
#[test]
fn a_silence_of_the_application_is_followed_at_the_bandwidth() {
    for (mode, is_app_limited, want) in [
        (Mode::ProbeBandwidth, true, (990_000, true, Mode::ProbeBandwidth)),
        (Mode::ProbeBandwidth, false, (5, false, Mode::ProbeBandwidth)),
        (Mode::Startup, true, (5, true, Mode::Startup)),
        (Mode::ProbeRtt, true, (5, true, Mode::ProbeBandwidth)),
        (Mode::ProbeRtt, false, (5, false, Mode::ProbeRtt)),
    ] {
        let (mut bbr, mut window) = steady();
        (bbr.mode, bbr.phase, bbr.rate) = (mode, 0, 5);
        bbr.probe_rtt_until = Some(MS(100));
        bbr.on_restart(&mut window, &Restart::at(MS(101), is_app_limited));
        assert_eq!((bbr.rate, bbr.is_restarting, bbr.mode), want);
    }
}

/// Two bursts of 20, 4 ms apart: 4 of the 40 are expected, unless the clock begins anew with a silence.
#[test]
fn aggregation_is_counted_anew_after_a_silence() {
    for (is_silent, want) in [(false, 36), (true, 20)] {
        let (mut bbr, mut window) = steady();
        for now in [MS(500), MS(504)] {
            if is_silent {
                bbr.on_restart(&mut window, &Restart::at(now, true));
            }
            let burst =
                RateSample { newly_delivered: 20, delivered_at: now, ..delivered(100, false) };
            bbr.aggregation.take(&burst, 1000.0, false, 1e3);
        }
        assert_eq!(bbr.aggregation.extra(), want);
    }
}

/// Everything that a sample changes: bandwidth and aggregation, the phase, the search for a full pipe and its end, the
/// round trip, the rate and the window.
#[test]
fn a_sample_moves_the_whole_model() {
    let (mut bbr, mut window) = new();
    bbr.on_established(&mut window, MS(125), Time::ZERO);
    let at = |ms, in_flight| {
        let (now, delivered_at, next_departure) = (MS(ms), MS(ms), MS(ms));
        let times = RateSample { now, delivered_at, next_departure, ..delivered(100, false) };
        RateSample { newly_delivered: 10, rtt: MS(120), srtt: MS(125), in_flight, ..times }
    };
    bbr.on_sample(&mut window, &at(1000, 200));
    assert_eq!((bbr.bandwidth(), bbr.aggregation.extra()), (1000.0, 10));
    assert_eq!((bbr.full_bandwidth, bbr.min_rtt), (1000.0, Some(MS(120))));
    // 1000 * 990 B * 2.88671875.
    assert_eq!((bbr.rate, window.cwnd, bbr.mode), (2_857_851, 20.0, Mode::Startup));
    (1..4).for_each(|n| bbr.on_sample(&mut window, &at(1000 + n, 200)));
    assert_eq!((bbr.is_full, bbr.mode), (true, Mode::Drain));
    bbr.on_sample(&mut window, &at(1010, 100));
    assert_eq!(bbr.mode, Mode::ProbeBandwidth);
    bbr.phase = 2;
    bbr.on_sample(&mut window, &at(1131, 100));
    assert_eq!(bbr.phase, 3);
}

/// The search for a full pipe begins anew, and so does that for a policer.
#[test]
fn a_needless_reduction_says_nothing_of_the_path() {
    let mut bbr = Bbr1 { full_bandwidth: 9.0, full_rounds: 2, ..Bbr1::default() };
    let mut window = Window { cwnd: 50.0, ssthresh: 1.0 };
    bbr.on_undo(&mut window, &Window { cwnd: 99.0, ssthresh: 99.0 });
    assert_eq!((bbr.full_bandwidth, bbr.full_rounds, window.cwnd), (0.0, 0, 50.0));
}
