//! BBR version 3, law by law: a path of 1000 segments of 1000 B a second and 125 ms has 125 segments under way.

use super::*;
use crate::rate::Rate;
use sojourn_engine::dialect::Dialect;

#[path = "bbr3_window_tests.rs"]
mod window;

const MS: fn(u64) -> Time = Time::from_ms;
const PS: Time = Time::from_ps(1);

/// A flow that knows nothing.
fn new() -> (Bbr3, Window) {
    let connection =
        Connection { dialect: Dialect::Linux, mss: 1000, initial_window: 10.0, max_window: 1e4 };
    (Bbr3::new(&connection), Window { cwnd: 10.0, ssthresh: 1e6 })
}

/// One that knows the path, in bursts of two.
fn steady(state: State) -> (Bbr3, Window) {
    let (mut bbr, mut window) = new();
    bbr.max_bandwidth.take(&rate());
    (bbr.bandwidth, bbr.rate, bbr.has_rtt) = (1000.0, 990_000, true);
    bbr.min_rtt = MinRtt::new(Some(MS(125)), Time::ZERO);
    (bbr.state, bbr.full.is_reached) = (state, true);
    window.cwnd = 100.0;
    (bbr, window)
}

fn rate() -> Rate {
    Rate { delivered: 100, interval: MS(100), in_flight_then: 100, ..Rate::default() }
}

fn sample() -> RateSample<'static> {
    RateSample { delivered: 900, max_window: 1e6, rate: Some(rate()), ..RateSample::default() }
}

#[test]
fn gains_follow_the_state() {
    for (state, pacing, cwnd) in [
        (State::Startup, 2.77, 2.0),
        (State::Drain, 0.5, 2.0),
        (State::Down, 0.9, 2.0),
        (State::Cruise, 1.0, 2.0),
        (State::Refill, 1.0, 2.0),
        (State::Up, 1.25, 2.25),
        (State::ProbeRtt, 1.0, 0.5),
    ] {
        let (bbr, _) = steady(state);
        assert_eq!((bbr.pacing_gain(), bbr.cwnd_gain()), (pacing, cwnd));
        assert_eq!(bbr.holds_back(), state == State::ProbeRtt);
    }
}

/// 2.77 windows of 10 segments in 125 ms, or in 1 ms.
#[test]
fn the_first_rate_is_that_of_the_first_window() {
    let (mut bbr, mut window) = new();
    bbr.on_established(&mut window, Time::ZERO, MS(3));
    assert_eq!((bbr.rate, bbr.has_rtt, bbr.min_rtt.get()), (27_700_000, false, None));
    assert_eq!(bbr.extra_since, MS(3));
    bbr.on_established(&mut window, MS(125), MS(3));
    assert_eq!((bbr.rate, bbr.has_rtt, bbr.min_rtt.get()), (221_600, true, Some(MS(125))));
}

/// Only once the pipe is full the rate falls, to 1 % below the bandwidth.
#[test]
fn the_rate_does_not_fall_before_the_pipe_is_full() {
    for (rate, is_full, want) in
        [(500_000, false, 1_237_500), (2_000_000, false, 2_000_000), (2_000_000, true, 1_237_500)]
    {
        let (mut bbr, _) = steady(State::Up);
        (bbr.rate, bbr.full.is_reached) = (rate, is_full);
        bbr.set_rate(1.25);
        assert_eq!(bbr.pacing_rate(), Some(want));
    }
}

/// draft "UpdateRound": what left when 500 were delivered begins a round that 500 end.
#[test]
fn a_round_ends_with_what_left_in_it() {
    let (mut bbr, _) = steady(State::Cruise);
    bbr.next_round = 500;
    for (prior_delivered, want) in [(499, (0, 0, false, 500)), (500, (1, 1, true, 900))] {
        bbr.update_round(&RateSample {
            rate: Some(Rate { prior_delivered, ..rate() }),
            ..sample()
        });
        assert_eq!((bbr.rounds, bbr.rounds_since_probe, bbr.is_round_start, bbr.next_round), want);
    }
    bbr.update_round(&RateSample::default());
    assert_eq!((bbr.rounds, bbr.is_round_start), (1, false));
}

/// At 1000 segments a second 20 come at once, and 20 more 5 ms later: 40 - 5 = 35 are extra. When as many were expected as
/// came a new count begins. No more than the window counts, for ten rounds once the pipe is full.
#[test]
fn what_comes_at_once_is_extra() {
    let (mut bbr, _) = steady(State::Cruise);
    let extra = |bbr: &mut Bbr3, now: Time, newly_delivered: u64, rounds: u64| {
        bbr.rounds += rounds;
        bbr.update_aggregation(&RateSample { now, newly_delivered, ..sample() }, 100.0);
        (bbr.extra.get(), bbr.extra_delivered)
    };
    assert_eq!(extra(&mut bbr, MS(1000), 20, 0), (20.0, 20));
    assert_eq!(extra(&mut bbr, MS(1005) + Time::from_us(900), 20, 0), (35.0, 40));
    assert_eq!(extra(&mut bbr, MS(1040), 2, 10), (35.0, 2));
    assert_eq!(bbr.extra_since, MS(1040));
    assert_eq!(extra(&mut bbr, MS(1041), 2, 1), (3.0, 4));
    assert_eq!(extra(&mut bbr, MS(1041), 500, 0), (100.0, 504));
    bbr.full.is_reached = false;
    assert_eq!(extra(&mut bbr, MS(5000), 3, 1), (100.0, 3));
    assert_eq!(extra(&mut bbr, MS(9000), 3, 1), (3.0, 3));
}

/// More than 2 % lost of what a probe had in flight bounds it, once, to 0.7 of the target at least, and ends UP: to
/// 99 + (0.02 * 99 - 4) / 0.98 = 96.9, in whole segments. The first loss of a round keeps the window.
#[test]
fn too_many_losses_bound_what_is_in_flight() {
    for (state, is_probe_sample, lost_since, in_flight_then, is_app_limited, want) in [
        (State::Up, true, 2, 100, false, (f64::INFINITY, State::Up, false)),
        (State::Up, false, 5, 100, false, (f64::INFINITY, State::Up, false)),
        (State::Up, true, 5, 100, false, (96.0, State::Down, true)),
        (State::Refill, true, 5, 100, false, (96.0, State::Refill, true)),
        (State::Up, true, 5, 50, false, (70.0, State::Down, true)),
        (State::Up, true, 5, 100, true, (f64::INFINITY, State::Down, true)),
    ] {
        let (mut bbr, window) = steady(state);
        bbr.is_probe_sample = is_probe_sample;
        let lost = LostSegment { number: 9, in_flight_then, lost_since, is_app_limited };
        bbr.on_segment_lost(&lost, &window, &sample());
        assert_eq!((bbr.bounds.inflight_long, bbr.state, bbr.was_too_high), want);
        assert_eq!(bbr.is_probe_sample, is_probe_sample && !want.2);
        assert_eq!(bbr.prior_cwnd, 100.0);
        bbr.on_segment_lost(&lost, &Window { cwnd: 120.0, ..window }, &sample());
        // DOWN begins with a round of its own.
        assert_eq!(bbr.prior_cwnd, if want.1 == State::Down { 120.0 } else { 100.0 });
    }
}

/// Six separate losses of a round in a recovery, more than 2 % of what was in flight; or a full pipe.
#[test]
fn startup_ends_by_six_losses_or_a_plateau() {
    use LossPhase::{Open, Recovery};
    for (state, losses, phase, lost_since, is_start, is_full, want) in [
        (State::Startup, 6, Recovery, 3, true, false, (State::Drain, 125.0)),
        (State::Startup, 5, Recovery, 3, true, false, (State::Startup, f64::INFINITY)),
        (State::Startup, 6, Open, 3, true, false, (State::Startup, f64::INFINITY)),
        (State::Startup, 6, Recovery, 2, true, false, (State::Startup, f64::INFINITY)),
        (State::Startup, 6, Recovery, 3, false, false, (State::Startup, f64::INFINITY)),
        (State::Startup, 0, Open, 0, true, true, (State::Drain, f64::INFINITY)),
        (State::Up, 6, Recovery, 3, true, true, (State::Up, f64::INFINITY)),
    ] {
        let (mut bbr, _) = steady(state);
        (bbr.full.is_reached, bbr.rounds) = (is_full, 7);
        (bbr.bounds.separate_losses, bbr.bounds.is_round_start) = (losses, is_start);
        let rate = Some(Rate { lost_since, ..rate() });
        bbr.check_startup(&RateSample { phase, rate, ..sample() });
        assert_eq!((bbr.state, bbr.bounds.inflight_long), want);
        let ends = want.0 == State::Drain;
        assert_eq!(bbr.drain_round, if ends { 7 } else { 0 });
        assert_eq!((bbr.full.is_reached, bbr.full.is_now), (is_full || ends, ends && !is_full));
    }
    // What the last round delivered is more than 125.
    let (mut bbr, _) = steady(State::Startup);
    (bbr.bounds.separate_losses, bbr.bounds.is_round_start) = (6, true);
    bbr.bounds.inflight_latest = 200.0;
    let rate = Some(Rate { lost_since: 3, ..rate() });
    bbr.check_startup(&RateSample { phase: Recovery, rate, ..sample() });
    assert_eq!(bbr.bounds.inflight_long, 200.0);
}

/// Until 125 segments are left, or three rounds are over.
#[test]
fn drain_ends_with_an_empty_queue_or_after_three_rounds() {
    for (state, in_flight, rounds, want) in [
        (State::Drain, 126, 10, State::Drain),
        (State::Drain, 125, 7, State::Down),
        (State::Drain, 126, 11, State::Down),
        (State::Cruise, 125, 11, State::Cruise),
    ] {
        let (mut bbr, _) = steady(state);
        (bbr.drain_round, bbr.rounds) = (7, rounds);
        bbr.check_drain(&RateSample { in_flight, ..sample() });
        assert_eq!(bbr.state, want);
    }
}

/// draft "PickProbeWait": none or one of the rounds are over, and the wait is from 2 to 3 s.
#[test]
fn down_begins_a_cycle() {
    let (mut rounds, mut waits) = ([0; 2], Vec::new());
    for us in 1..300 {
        let (mut bbr, _) = steady(State::Up);
        (bbr.per_step, bbr.bounds.inflight_latest) = (5.0, 9.0);
        bbr.start_down(Time::from_us(us), 900);
        assert_eq!(
            (bbr.state, bbr.feedback, bbr.next_round),
            (State::Down, Feedback::Stopping, 900)
        );
        assert_eq!((bbr.cycle_at, bbr.per_step), (Time::from_us(us), f64::INFINITY));
        assert_eq!(bbr.bounds.inflight_latest, 0.0);
        rounds[bbr.rounds_since_probe as usize] += 1;
        waits.push(bbr.probe_wait);
    }
    assert!(rounds.iter().all(|times| *times > 100), "{rounds:?}");
    let (least, most) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
    assert!((MS(2000)..MS(2050)).contains(least) && (MS(2950)..=MS(3000)).contains(most));
}

#[test]
fn refill_and_up_begin_a_probe() {
    let (mut bbr, _) = steady(State::Cruise);
    (bbr.bounds.inflight_short, bbr.probe_rounds, bbr.towards_step) = (50.0, 3, 2.0);
    bbr.was_precautionary = true;
    bbr.start_refill(&sample());
    assert!(bbr.bounds.inflight_short.is_infinite() && !bbr.was_precautionary);
    assert_eq!((bbr.probe_rounds, bbr.towards_step, bbr.next_round), (0, 0.0, 900));
    assert_eq!((bbr.state, bbr.feedback), (State::Refill, Feedback::Refilling));
    (bbr.full.is_now, bbr.next_round) = (true, 0);
    bbr.start_up(&sample(), 100.0);
    assert_eq!((bbr.state, bbr.feedback, bbr.next_round), (State::Up, Feedback::Starting, 900));
    assert!(bbr.is_probe_sample && !bbr.full.is_now);
    // The bound grows by one for each window, half a window, a quarter, and no faster than one for each segment.
    assert_eq!((bbr.per_step, bbr.probe_rounds), (100.0, 1));
    for (rounds, want) in [(1, (50.0, 2)), (2, (25.0, 3)), (7, (1.0, 8)), (30, (1.0, 30))] {
        bbr.probe_rounds = rounds;
        bbr.steepen(100.0);
        assert_eq!((bbr.per_step, bbr.probe_rounds), want);
    }
}

/// A step is 10 segments: 25 are two and a half.
#[test]
fn the_long_bound_grows_while_it_limits() {
    for (is_window_limited, cwnd, newly_delivered, is_round_start, want) in [
        (true, 100.0, 25, false, (92.0, 5.0, 10.0)),
        (true, 90.0, 10, false, (91.0, 0.0, 10.0)),
        (true, 100.0, 9, false, (90.0, 9.0, 10.0)),
        (true, 89.0, 25, true, (90.0, 0.0, 10.0)),
        (false, 100.0, 25, true, (90.0, 0.0, 10.0)),
        (true, 100.0, 9, true, (90.0, 9.0, 50.0)),
    ] {
        let (mut bbr, _) = steady(State::Up);
        (bbr.per_step, bbr.probe_rounds, bbr.is_round_start) = (10.0, 1, is_round_start);
        bbr.bounds.inflight_long = 90.0;
        bbr.probe_upward(&RateSample { is_window_limited, newly_delivered, ..sample() }, cwnd);
        assert_eq!((bbr.bounds.inflight_long, bbr.towards_step, bbr.per_step), want);
    }
}

/// The samples of a probe come one round after it began and stop one after it ended. Then its bandwidth is that of the
/// cycle before, and a probe that was cut short for caution is made again, if nothing was lost.
#[test]
fn a_probe_is_judged_a_round_after_it() {
    use Feedback::{Coming, None as No, Refilling, Starting, Stopping};
    for (state, feedback, is_round_start, flags, want) in [
        (State::Up, Starting, true, (false, false, false), (Coming, true, false)),
        (State::Up, Starting, false, (false, false, false), (Starting, true, false)),
        (State::Down, Stopping, false, (false, true, false), (Stopping, true, false)),
        (State::Down, Stopping, true, (false, false, false), (No, false, true)),
        (State::ProbeRtt, Stopping, true, (false, true, false), (No, false, false)),
        (State::Down, Stopping, true, (true, false, false), (No, false, false)),
        (State::Down, Stopping, true, (false, true, true), (No, false, true)),
        (State::Down, Stopping, true, (false, true, false), (Refilling, false, true)),
        (State::Cruise, Refilling, true, (false, true, false), (Refilling, true, false)),
    ] {
        let (is_app_limited, was_precautionary, was_too_high) = flags;
        let (mut bbr, _) = steady(state);
        (bbr.feedback, bbr.is_round_start, bbr.is_probe_sample) = (feedback, is_round_start, true);
        (bbr.was_precautionary, bbr.was_too_high) = (was_precautionary, was_too_high);
        let rate = Some(Rate { is_app_limited, ..rate() });
        let is_again = bbr.adapt_long(&RateSample { rate, ..sample() }, 100.0);
        assert_eq!((bbr.feedback, bbr.is_probe_sample), (want.0, want.1), "{state:?}");
        let repeats = want.0 == Refilling && feedback == Stopping;
        assert_eq!((is_again, bbr.state), (repeats, if repeats { State::Refill } else { state }));
        // Of the cycle at hand a slower one counts two cycles later, and of the one before one later.
        bbr.max_bandwidth.take(&Rate { delivered: 10, ..self::rate() });
        bbr.max_bandwidth.advance();
        assert_eq!(bbr.max_bandwidth.get(), if want.2 { 100.0 } else { 1000.0 });
    }
}

/// A bound is never below what was in flight without loss; in UP it also grows.
#[test]
fn what_passed_without_loss_raises_a_bound() {
    for (state, bound, lost_since, want) in [
        (State::Cruise, 90.0, 0, 100.0),
        (State::Cruise, 110.0, 0, 110.0),
        (State::Cruise, 90.0, 3, 90.0),
        (State::Cruise, f64::INFINITY, 0, f64::INFINITY),
        (State::Up, 90.0, 0, 102.0),
        (State::Up, 90.0, 3, 90.0),
    ] {
        let (mut bbr, _) = steady(state);
        (bbr.bounds.inflight_long, bbr.per_step) = (bound, 10.0);
        let rate = Some(Rate { lost_since, ..rate() });
        let sample = RateSample { rate, is_window_limited: true, newly_delivered: 20, ..sample() };
        assert!(!bbr.adapt_long(&sample, 100.0));
        assert_eq!(bbr.bounds.inflight_long, want);
    }
}

/// After the wait, or as many rounds as Reno would need for the target, 63 at most.
#[test]
fn a_probe_is_due_after_its_wait_or_as_reno_would_probe() {
    let (mut bbr, _) = steady(State::Cruise);
    (bbr.cycle_at, bbr.probe_wait) = (MS(1000), MS(2500));
    for (now, rounds, cwnd, want) in [
        (MS(3500), 0, 100.0, false),
        (MS(3500) + PS, 0, 100.0, true),
        (MS(1000), 62, 100.0, false),
        (MS(1000), 63, 100.0, true),
        (MS(1000), 39, 40.0, false),
        (MS(1000), 40, 40.0, true),
    ] {
        bbr.rounds_since_probe = rounds;
        assert_eq!(bbr.is_time_to_probe(now, cwnd), want);
    }
}

/// DOWN, CRUISE, REFILL, UP: DOWN ends with 85 of 100 segments, or with 125 where nothing bounds them.
#[test]
fn the_cycle_has_four_states() {
    let (late, soon) = (MS(9000), MS(0));
    for (state, now, in_flight, bound, is_round_start, want) in [
        (State::Down, late, 500, f64::INFINITY, false, State::Refill),
        (State::Down, soon, 126, f64::INFINITY, false, State::Down),
        (State::Down, soon, 125, f64::INFINITY, false, State::Cruise),
        (State::Down, soon, 86, 100.0, false, State::Down),
        (State::Down, soon, 85, 100.0, false, State::Cruise),
        (State::Cruise, soon, 0, f64::INFINITY, true, State::Cruise),
        (State::Cruise, late, 0, f64::INFINITY, true, State::Refill),
        (State::Refill, late, 0, f64::INFINITY, false, State::Refill),
        (State::Refill, late, 0, f64::INFINITY, true, State::Up),
        (State::Up, late, 0, f64::INFINITY, true, State::Up),
    ] {
        for is_full in [true, false] {
            let (mut bbr, window) = steady(state);
            (bbr.bounds.inflight_long, bbr.is_round_start) = (bound, is_round_start);
            (bbr.probe_wait, bbr.full.is_reached) = (MS(2500), is_full);
            bbr.update_cycle(&RateSample { now, in_flight, ..sample() }, &window);
            assert_eq!(bbr.state, if is_full { want } else { state }, "{in_flight} of {bound}");
        }
    }
}

/// UP ends on a plateau, or for caution at a bound that was too high; while the bound limits it goes on searching.
#[test]
fn up_ends_on_a_plateau_or_at_a_bound_that_was_too_high() {
    for (was_too_high, in_flight, is_limited, bound, is_now, want) in [
        (true, 90, true, 90.0, false, (State::Down, true, false, false)),
        (true, 89, false, 90.0, false, (State::Up, false, true, false)),
        (false, 90, false, 90.0, false, (State::Up, false, false, false)),
        (false, 90, true, 100.0, true, (State::Up, false, false, false)),
        (false, 90, true, 101.0, true, (State::Down, false, false, true)),
        (false, 90, false, 100.0, true, (State::Down, false, false, true)),
        (false, 90, true, 101.0, false, (State::Up, false, false, false)),
    ] {
        let (mut bbr, window) = steady(State::Up);
        (bbr.was_too_high, bbr.full.is_now, bbr.bounds.inflight_long) =
            (was_too_high, is_now, bound);
        let sample = RateSample { in_flight, is_window_limited: is_limited, ..sample() };
        bbr.check_up(&sample, &window);
        let seen = (bbr.state, bbr.was_precautionary, bbr.was_too_high, bbr.full.is_now);
        assert_eq!(seen, want, "{in_flight} of {bound}");
    }
}

/// The least round trip of 5 s is looked for: 200 ms and a round with half of the 125 segments, 62.5, in flight.
#[test]
fn probe_rtt_lasts_200_ms_and_a_round() {
    let (mut bbr, mut window) = steady(State::Cruise);
    let mut step = |bbr: &mut Bbr3, now: Time, in_flight: u64, is_round_start: bool| {
        (bbr.is_round_start, bbr.next_round) = (is_round_start, 0);
        bbr.check_probe_rtt(&mut window, &RateSample { now, in_flight, ..sample() });
        (bbr.state, bbr.probe_rtt_until, bbr.is_probe_rtt_round_over, bbr.next_round)
    };
    (bbr.probe_rtt_until, bbr.is_probe_rtt_round_over) = (Some(MS(1)), true);
    assert_eq!(step(&mut bbr, MS(900), 63, true), (State::Cruise, Some(MS(1)), true, 0));
    (bbr.min_rtt.is_expired, bbr.is_restarting) = (true, true);
    assert_eq!(step(&mut bbr, MS(900), 63, true), (State::Cruise, Some(MS(1)), true, 0));
    assert!(!bbr.is_restarting);
    assert_eq!(step(&mut bbr, MS(1000), 63, true), (State::ProbeRtt, None, true, 900));
    assert_eq!((bbr.prior_cwnd, bbr.feedback), (100.0, Feedback::Stopping));
    let until = Some(MS(1300));
    assert_eq!(step(&mut bbr, MS(1100), 62, true), (State::ProbeRtt, until, false, 900));
    assert_eq!(step(&mut bbr, MS(1301), 62, false), (State::ProbeRtt, until, false, 0));
    assert_eq!(step(&mut bbr, MS(1300), 62, true), (State::ProbeRtt, until, true, 0));
    bbr.bounds.inflight_short = 50.0;
    assert_eq!(step(&mut bbr, MS(1300) + PS, 62, false), (State::Cruise, until, true, 900));
    assert!(bbr.bounds.inflight_short.is_infinite());
    bbr.is_restarting = true;
    bbr.check_probe_rtt(&mut window, &RateSample { rate: None, ..sample() });
    assert!(bbr.is_restarting);
}

/// What is sent after a silence is paced at the bandwidth; ProbeRTT may be over.
#[test]
fn a_silence_of_the_application_is_followed_at_the_bandwidth() {
    for (state, is_app_limited, want) in [
        (State::Up, true, (990_000, true, MS(101), State::Up)),
        (State::Up, false, (5, false, Time::ZERO, State::Up)),
        (State::Startup, true, (5, true, MS(101), State::Startup)),
        (State::ProbeRtt, true, (5, true, MS(101), State::Cruise)),
        (State::ProbeRtt, false, (5, false, Time::ZERO, State::ProbeRtt)),
    ] {
        let (mut bbr, mut window) = steady(state);
        (bbr.rate, bbr.probe_rtt_until) = (5, Some(MS(100)));
        bbr.on_restart(&mut window, &Restart::at(MS(101), is_app_limited));
        assert_eq!((bbr.rate, bbr.is_restarting, bbr.extra_since, bbr.state), want);
    }
}

/// Everything that a sample changes, and in which order: a loss of it bounds the rate that it sets.
#[test]
fn a_sample_moves_the_whole_model() {
    let (mut bbr, mut window) = new();
    bbr.on_established(&mut window, Time::ZERO, Time::ZERO);
    let first =
        RateSample { now: MS(125), rtt: MS(125), srtt: MS(125), newly_delivered: 10, ..sample() };
    bbr.on_sample(&mut window, &first);
    assert_eq!((bbr.bandwidth, bbr.min_rtt.get(), bbr.has_rtt), (1000.0, Some(MS(125)), true));
    assert_eq!((bbr.rounds, bbr.extra.get(), bbr.bounds.inflight_latest), (1, 10.0, 100.0));
    assert_eq!((bbr.rate, window.cwnd), (2_742_300, 20.0)); // 2.77 * 990 000
    bbr.rate = 9_000_000; // the first round trip is known
    bbr.on_sample(&mut window, &first);
    assert_eq!(bbr.rate, 9_000_000);

    let (mut bbr, mut window) = steady(State::Cruise);
    bbr.probe_wait = MS(2500);
    let losses =
        [LostSegment { number: 4, in_flight_then: 100, lost_since: 1, is_app_limited: false }];
    let slow = Rate { delivered: 50, prior_delivered: 900, ..rate() };
    let lossy = RateSample {
        now: MS(200),
        losses: &losses,
        rate: Some(slow),
        newly_delivered: 1,
        ..sample()
    };
    bbr.on_sample(&mut window, &lossy);
    // 0.7 of the bandwidth and of the window.
    assert_eq!((bbr.bandwidth, bbr.bounds.inflight_short, window.cwnd), (700.0, 70.0, 70.0));
    assert_eq!((bbr.rate, bbr.prior_cwnd), (693_000, 100.0));
    assert_eq!(bbr.bounds.inflight_latest, 50.0);
}

/// A loss in Startup or in Up that was none: bounds are the larger of those before and after it, and the state comes back, but
/// not in ProbeRTT.
#[test]
fn a_needless_reduction_restores_state_and_bounds() {
    for (was, now, want) in [
        (State::Startup, State::Drain, State::Startup),
        (State::Up, State::Down, State::Up),
        (State::Cruise, State::Down, State::Down),
        (State::Up, State::ProbeRtt, State::ProbeRtt),
    ] {
        let mut bbr = Bbr3 { state: now, unreduced: (was, [100.0, 50.0, 70.0]), ..Bbr3::default() };
        (bbr.bounds.bandwidth_short, bbr.bounds.inflight_short, bbr.bounds.inflight_long) =
            (90.0, 60.0, 49.0);
        let mut window = Window { cwnd: 64.0, ssthresh: 1.0 };
        bbr.on_undo(&mut window, &Window { cwnd: 99.0, ssthresh: 99.0 });
        assert_eq!((bbr.state, bbr.bounds.saved(), window.cwnd), (want, [100.0, 60.0, 70.0], 64.0));
        assert_eq!(bbr.is_probe_sample, want == State::Up);
    }
}
