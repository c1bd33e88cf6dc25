//! The window of BBR version 3.

use super::*;

/// Three bursts of two at least, or of three at 4 MB/s, and never less than four segments; UP has two more.
#[test]
fn the_window_has_room_for_three_bursts() {
    let (mut bbr, _) = steady(State::Down);
    assert_eq!((bbr.inflight(1000.0), bbr.with_room(5.0), bbr.target(100.0)), (125.0, 6.0, 100.0));
    assert_eq!(bbr.target(200.0), 125.0);
    bbr.rate = 4_000_000;
    assert_eq!(bbr.with_room(5.0), 9.0);
    bbr.rate = 100_000; // segments leave one by one
    assert_eq!((bbr.with_room(1.0), bbr.with_room(125.0)), (4.0, 125.0));
    bbr.state = State::Up;
    assert_eq!(bbr.with_room(125.0), 127.0);
    assert_eq!(new().0.product(1000.0, 2.0), 10.0);
}

#[test]
fn the_window_of_before_a_loss_is_kept() {
    for (was, state, prior_cwnd, want) in [
        (LossPhase::Open, State::Cruise, 130.0, 100.0),
        (LossPhase::Open, State::ProbeRtt, 130.0, 130.0),
        (LossPhase::Recovery, State::Cruise, 130.0, 130.0),
        (LossPhase::Recovery, State::Cruise, 40.0, 100.0),
    ] {
        let (mut bbr, mut window) = steady(state);
        (bbr.was, bbr.prior_cwnd) = (was, prior_cwnd);
        bbr.on_loss(&mut window, 50.0, Time::ZERO);
        assert_eq!((bbr.prior_cwnd, window.cwnd), (want, 100.0));
        bbr.prior_cwnd = prior_cwnd;
        bbr.on_timeout(&mut window, 50.0, Time::ZERO);
        assert_eq!((bbr.prior_cwnd, window.cwnd, bbr.was), (want, 1.0, LossPhase::AfterTimeout));
    }
}

/// Up to 250 segments, 281.25 and two in UP, and what is extra; before the pipe is full it grows by all that arrives.
#[test]
fn the_window_grows_by_what_arrives_up_to_its_target() {
    for (state, is_full, cwnd, delivered, extra, want) in [
        (State::Down, true, 100.0, 900, 0.0, 110.0),
        (State::Down, true, 245.0, 900, 0.0, 250.0),
        (State::Down, true, 245.0, 900, 3.5, 253.0),
        (State::Up, true, 280.0, 900, 0.0, 283.0),
        (State::Startup, false, 249.0, 900, 0.0, 259.0),
        (State::Startup, false, 250.0, 900, 0.0, 250.0),
        (State::Startup, false, 250.0, 10, 0.0, 250.0),
        (State::Startup, false, 250.0, 9, 0.0, 260.0),
        (State::ProbeRtt, true, 100.0, 900, 0.0, 62.0),
        (State::ProbeRtt, true, 100.0, 900, 90.0, 62.0),
    ] {
        let (mut bbr, mut window) = steady(state);
        (bbr.full.is_reached, window.cwnd) = (is_full, cwnd);
        bbr.extra.take(0, extra, 10);
        bbr.set_cwnd(&mut window, &RateSample { newly_delivered: 10, delivered, ..sample() });
        assert_eq!(window.cwnd, want, "{state:?} {cwnd} {extra}");
    }
}

/// Losses bound it, four segments remain, and a recovery that is over gives back the window of before it.
#[test]
fn the_window_has_bounds() {
    use LossPhase::{AfterTimeout, Open, Recovery};
    for (state, cwnd, long, short, (was, phase), want) in [
        (State::Startup, 100.0, 50.0, 50.0, (Open, Open), 100.0),
        (State::Drain, 100.0, 60.0, 70.0, (Open, Open), 60.0),
        (State::Up, 100.0, 70.0, 60.0, (Open, Open), 60.0),
        (State::Cruise, 100.0, 60.0, 70.0, (Open, Open), 51.0),
        (State::ProbeRtt, 100.0, 60.0, 50.0, (Open, Open), 50.0),
        (State::Down, 100.0, 2.0, 70.0, (Open, Open), 4.0),
        (State::Down, 1.0, 60.0, 70.0, (Open, Open), 4.0),
        (State::Down, 10.0, 1e3, 1e3, (Recovery, Open), 55.0),
        (State::Down, 10.0, 1e3, 1e3, (AfterTimeout, Open), 55.0),
        (State::Down, 10.0, 1e3, 1e3, (Recovery, Recovery), 10.0),
        (State::Down, 10.0, 1e3, 1e3, (Open, Open), 10.0),
        (State::Down, 900.0, 1e3, 1e3, (Open, Open), 90.0),
    ] {
        let (mut bbr, mut window) = steady(state);
        (bbr.bounds.inflight_long, bbr.bounds.inflight_short) = (long, short);
        (bbr.was, bbr.prior_cwnd, window.cwnd) = (was, 55.0, cwnd);
        bbr.set_cwnd(
            &mut window,
            &RateSample { phase, max_window: if cwnd > 500.0 { 90.0 } else { 1e6 }, ..sample() },
        );
        assert_eq!((window.cwnd, bbr.was), (want, phase), "{state:?} {cwnd}");
    }
}

#[test]
fn probe_rtt_gives_the_window_back() {
    for (is_full, want) in [(true, State::Cruise), (false, State::Startup)] {
        let (mut bbr, mut window) = steady(State::ProbeRtt);
        (bbr.full.is_reached, bbr.prior_cwnd, bbr.probe_rtt_until) =
            (is_full, 130.0, Some(MS(5100)));
        bbr.leave_probe_rtt(&mut window, MS(5101), 900);
        assert_eq!((bbr.state, window.cwnd), (want, 130.0));
        bbr.min_rtt.take(MS(10_101), MS(200));
        assert!(!bbr.min_rtt.is_expired);
        assert_eq!(bbr.cycle_at, if is_full { MS(5101) } else { Time::ZERO });
    }
    let (mut bbr, _) = steady(State::ProbeRtt);
    assert_eq!(bbr.probe_rtt_cwnd(), 62.5);
    bbr.bandwidth = 40.0;
    assert_eq!(bbr.probe_rtt_cwnd(), 4.0);
}
