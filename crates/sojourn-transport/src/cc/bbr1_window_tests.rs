//! The window of BBR version 1.

use super::*;

/// 125 segments and three bursts of two are 131, in pairs 132; the phase that probes has two more.
#[test]
fn the_window_has_room_for_bursts_in_pairs() {
    let (mut bbr, _) = steady();
    assert_eq!(
        (bbr.with_room(125.0), bbr.with_room(126.0), bbr.with_room(127.0)),
        (132.0, 132.0, 134.0)
    );
    assert_eq!((bbr.inflight(1.0), bbr.inflight(1.25)), (132.0, 164.0)); // 156.25 are 157, and 6 are 163
    for (mode, phase, want) in [
        (Mode::ProbeBandwidth, 0, 134.0),
        (Mode::ProbeBandwidth, 1, 132.0),
        (Mode::Drain, 0, 132.0),
    ] {
        (bbr.mode, bbr.phase) = (mode, phase);
        assert_eq!(bbr.with_room(125.0), want);
    }
    bbr.min_rtt = None;
    assert_eq!(bbr.product(1000.0, 2.0), 10.0);
}

/// The window to return to is that of before a trouble, and not one that a trouble has made small.
#[test]
fn the_window_of_before_a_loss_is_kept() {
    for (was, mode, prior_cwnd, want) in [
        (LossPhase::Open, Mode::ProbeBandwidth, 80.0, 50.0),
        (LossPhase::Open, Mode::ProbeRtt, 80.0, 80.0),
        (LossPhase::Recovery, Mode::ProbeBandwidth, 80.0, 80.0),
        (LossPhase::Recovery, Mode::ProbeBandwidth, 40.0, 50.0),
    ] {
        let (mut bbr, mut window) = new();
        (bbr.was, bbr.mode, bbr.prior_cwnd, window.cwnd) = (was, mode, prior_cwnd, 50.0);
        bbr.on_loss(&mut window, 50.0, Time::ZERO);
        assert_eq!((bbr.prior_cwnd, window.cwnd), (want, 50.0));
    }
}

/// draft §4.2.3.4: in the first round of a recovery as much leaves as arrives; then the window of before returns.
#[test]
fn a_recovery_conserves_packets_for_a_round() {
    use LossPhase::{AfterTimeout, Open, Recovery};
    for (was, conserves, phase, newly_lost, want) in [
        (Open, false, Recovery, 9, (43.0, true)),
        (AfterTimeout, false, Recovery, 9, (43.0, true)),
        (Recovery, true, Recovery, 9, (91.0, true)),
        (Recovery, true, Recovery, 60, (43.0, true)),
        (Recovery, false, Recovery, 60, (40.0, false)),
        (Recovery, false, Recovery, 100, (1.0, false)),
        (Recovery, true, Open, 0, (120.0, false)),
        (AfterTimeout, false, Open, 0, (120.0, false)),
        (Open, false, Open, 9, (91.0, false)),
    ] {
        let (mut bbr, mut window) = steady();
        (bbr.was, bbr.conserves, bbr.prior_cwnd) = (was, conserves, 120.0);
        let (in_flight, newly_delivered, delivered) = (40, 3, 700);
        let counts = RateSample { in_flight, newly_delivered, delivered, ..RateSample::default() };
        let sample = RateSample { phase, newly_lost, ..counts };
        let settled = bbr.modulate(&mut window, &sample);
        assert_eq!((window.cwnd, settled), want, "{was:?} to {phase:?}");
        assert_eq!((bbr.was, bbr.conserves), (phase, want.1));
        let begins = phase == Recovery && was != Recovery;
        assert_eq!(bbr.next_round, if begins { 700 } else { 0 });
    }
}

/// draft §4.2.3: up to 250 segments and 6, and what comes of aggregation; before the pipe is full
/// 1002 * 0.125 * 2.887 = 361.6, so 362 and 6.
#[test]
fn the_window_grows_by_what_arrives_up_to_its_target() {
    let up_to = |is_full: bool, extra: u64, cwnd, total| {
        let (mut bbr, mut window) = steady();
        if !is_full {
            (bbr.mode, bbr.is_full) = (Mode::Startup, false);
            know(&mut bbr, 1002.0);
        }
        let burst = RateSample { newly_delivered: extra, ..delivered(100, false) };
        bbr.aggregation.take(&burst, 1000.0, true, 1e3);
        window.cwnd = cwnd;
        let arrived = RateSample { newly_delivered: 10, delivered: total, ..delivered(100, false) };
        bbr.set_cwnd(&mut window, &arrived);
        window.cwnd
    };
    for (is_full, extra, cwnd, delivered, want) in [
        (true, 0, 100.0, 700, 110.0),
        (true, 0, 255.0, 700, 256.0),
        (true, 0, 300.0, 700, 256.0),
        (true, 20, 270.0, 700, 276.0),
        (true, 150, 350.0, 700, 356.0), // 100 ms are worth 100
        (false, 20, 367.0, 700, 377.0),
        (false, 20, 368.0, 700, 368.0),
        (false, 0, 368.0, 10, 368.0),
        (false, 0, 368.0, 9, 378.0),
    ] {
        assert_eq!(up_to(is_full, extra, cwnd, delivered), want, "{extra} {cwnd} {delivered}");
    }
}

#[test]
fn the_window_has_bounds() {
    let arrived = RateSample { newly_delivered: 1, ..delivered(100, false) };
    let lost =
        RateSample { newly_delivered: 0, newly_lost: 9, phase: LossPhase::Recovery, ..arrived };
    let short = RateSample { max_window: 30.0, ..arrived };
    for (mode, cwnd, sample, want) in [
        (Mode::ProbeBandwidth, 1.0, &arrived, 4.0),
        (Mode::ProbeBandwidth, 100.0, &short, 30.0),
        (Mode::ProbeBandwidth, 100.0, &lost, 100.0),
        (Mode::ProbeRtt, 100.0, &arrived, 4.0),
        (Mode::ProbeRtt, 100.0, &lost, 4.0),
    ] {
        let (mut bbr, mut window) = steady();
        (bbr.mode, window.cwnd) = (mode, cwnd);
        bbr.set_cwnd(&mut window, sample);
        assert_eq!(window.cwnd, want, "{mode:?} {cwnd}");
    }
}
