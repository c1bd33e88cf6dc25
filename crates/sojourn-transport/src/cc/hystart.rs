//! HyStart++: leaves slow start when round-trip times grow, before a loss (RFC 9406).
//!
//! A round ends when as much is acknowledged as was outstanding at its start. Round-trip times come
//! from timestamps; without timestamps this is plain slow start.

use super::{Ack, Window};
use sojourn_engine::units::Time;

// RFC 9406 §4.3.
const MIN_RTT_THRESH: Time = Time::from_ms(4);
const MAX_RTT_THRESH: Time = Time::from_ms(16);
const MIN_RTT_DIVISOR: f64 = 8.0;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// Segments that one acknowledgement may add without pacing.
const LIMIT: f64 = 8.0;

/// Conservative slow start: the minimum round-trip time of the round in which it began, and its
/// rounds so far.
struct Conservative {
    baseline: Time,
    rounds: u32,
}

/// The first slow start of a connection.
pub(super) struct HyStart {
    /// Segments left in this round.
    left: f64,
    last_min: Time,
    current_min: Time,
    samples: u32,
    conservative: Option<Conservative>,
}

impl HyStart {
    /// The state before the first acknowledgement.
    pub(super) fn new() -> Self {
        Self {
            left: 0.0,
            last_min: Time::NEVER,
            current_min: Time::NEVER,
            samples: 0,
            conservative: None,
        }
    }

    /// Grows the window for an acknowledgement (§4.2). It leaves slow start by setting the
    /// threshold.
    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if ack.rtt > Time::ZERO {
            self.current_min = self.current_min.min(ack.rtt);
            self.samples += 1;
        }
        if self.samples >= N_RTT_SAMPLE {
            self.judge();
        }
        let step = ack.segments.min(LIMIT);
        let divisor = if self.conservative.is_some() { CSS_GROWTH_DIVISOR } else { 1.0 };
        window.cwnd = (window.cwnd + step / divisor).min(ack.max_window);
        self.left -= ack.segments;
        if self.left <= 0.0 {
            self.end_round(window, ack);
        }
    }

    fn judge(&mut self) {
        match &self.conservative {
            None if self.last_min < Time::NEVER => {
                let eighth = self.last_min.scaled(1.0 / MIN_RTT_DIVISOR);
                let threshold = eighth.clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if self.current_min >= self.last_min + threshold {
                    let baseline = self.current_min;
                    self.conservative = Some(Conservative { baseline, rounds: 0 });
                }
            }
            Some(css) if self.current_min < css.baseline => self.conservative = None,
            _ => {}
        }
    }

    fn end_round(&mut self, window: &mut Window, ack: &Ack) {
        self.left = ack.flight;
        self.last_min = std::mem::replace(&mut self.current_min, Time::NEVER);
        self.samples = 0;
        if let Some(css) = &mut self.conservative {
            css.rounds += 1;
            if css.rounds > CSS_ROUNDS {
                window.ssthresh = window.cwnd;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acknowledges a window's segments one by one with this round trip. The first of them ends the
    /// round before.
    fn round(hystart: &mut HyStart, window: &mut Window, rtt_ms: u64) {
        let flight = window.cwnd.round();
        for _ in 0..flight as u64 {
            let mut ack = Ack::of(Time::ZERO, 1.0, Time::from_ms(rtt_ms));
            ack.flight = window.cwnd;
            hystart.on_ack(window, &ack);
        }
    }

    #[test]
    fn it_doubles_while_round_trips_are_steady_and_slows_when_they_grow() {
        let mut hystart = HyStart::new();
        let mut window = Window { cwnd: 16.0, ssthresh: 1e9 };
        round(&mut hystart, &mut window, 40);
        assert_eq!(window.cwnd, 32.0);
        // 40/8 = 5 ms is the threshold: 44 ms is not enough.
        round(&mut hystart, &mut window, 44);
        assert_eq!(window.cwnd, 64.0);
        // 44/8 = 5.5 ms: at 50 ms the eighth acknowledgement of the round, the ninth here, begins the
        // conservative slow start: 8 whole steps and 56 quarters.
        round(&mut hystart, &mut window, 50);
        assert_eq!(window.cwnd, 86.0);
        // Five further rounds, then it is over.
        for _ in 0..12 {
            round(&mut hystart, &mut window, 50);
        }
        assert!(window.ssthresh <= window.cwnd);
    }

    #[test]
    fn a_round_trip_below_that_where_it_slowed_resumes_slow_start() {
        let mut hystart = HyStart::new();
        let mut window = Window { cwnd: 16.0, ssthresh: 1e9 };
        round(&mut hystart, &mut window, 40);
        round(&mut hystart, &mut window, 40);
        round(&mut hystart, &mut window, 60);
        assert!(hystart.conservative.is_some());
        (0..3).for_each(|_| round(&mut hystart, &mut window, 40));
        assert!(hystart.conservative.is_none());
    }

    fn ack(segments: f64, rtt_ms: u64, flight: f64) -> Ack {
        Ack { flight, ..Ack::of(Time::ZERO, segments, Time::from_ms(rtt_ms)) }
    }

    /// An eighth of 80 ms more, 4 ms at least and 16 at most.
    #[test]
    fn a_rise_has_bounds() {
        for (last_ms, current_ms, slows) in [
            (80, 89, false),
            (80, 90, true),
            (16, 19, false),
            (16, 20, true),
            (160, 175, false),
            (160, 176, true),
        ] {
            let (last_min, current_min) = (Time::from_ms(last_ms), Time::from_ms(current_ms));
            let mut hystart = HyStart { last_min, current_min, ..HyStart::new() };
            hystart.judge();
            assert_eq!(hystart.conservative.map(|css| css.baseline), slows.then_some(current_min));
        }
        // The first round has nothing to be compared with.
        let mut hystart = HyStart { current_min: Time::from_ms(9), ..HyStart::new() };
        hystart.judge();
        assert!(hystart.conservative.is_none());
    }

    /// Below the round trip at which it slowed, not with it.
    #[test]
    fn it_resumes_below_its_baseline() {
        for (current_ms, resumes) in [(49, true), (50, false), (60, false)] {
            let conservative = Some(Conservative { baseline: Time::from_ms(50), rounds: 0 });
            let current_min = Time::from_ms(current_ms);
            let mut hystart = HyStart { conservative, current_min, ..HyStart::new() };
            hystart.judge();
            assert_eq!(hystart.conservative.is_none(), resumes);
        }
    }

    /// Eight round trips are judged, of acknowledgements that measure one.
    #[test]
    fn eight_round_trips_are_judged() {
        let mut window = Window { cwnd: 20.0, ssthresh: 1e9 };
        let last_min = Time::from_ms(40);
        let mut hystart = HyStart { left: 99.0, last_min, ..HyStart::new() };
        hystart.on_ack(&mut window, &ack(1.0, 0, 9.0));
        assert_eq!((hystart.samples, hystart.current_min), (0, Time::NEVER));
        (0..7).for_each(|_| hystart.on_ack(&mut window, &ack(1.0, 60, 9.0)));
        assert!(hystart.conservative.is_none());
        hystart.on_ack(&mut window, &ack(1.0, 60, 9.0));
        assert!(hystart.conservative.is_some());
        // It began with the ninth acknowledgement: a quarter of a segment.
        assert_eq!(window.cwnd, 28.25);
    }

    /// Eight segments for an acknowledgement, a quarter of that while conservative, up to the receiver's window.
    #[test]
    fn steps_are_limited() {
        for (is_slow, max_window, want) in
            [(false, 1e4, 28.0), (true, 1e4, 22.0), (false, 25.0, 25.0)]
        {
            let conservative = is_slow.then_some(Conservative { baseline: Time::ZERO, rounds: 0 });
            let mut hystart = HyStart { left: 99.0, conservative, ..HyStart::new() };
            let mut window = Window { cwnd: 20.0, ssthresh: 1e9 };
            hystart.on_ack(&mut window, &Ack { max_window, ..ack(9.0, 50, 9.0) });
            assert_eq!((window.cwnd, hystart.left), (want, 90.0));
        }
    }

    /// A round is what was in flight; the sixth conservative one is not begun any more.
    #[test]
    fn conservative_slow_start_has_five_rounds() {
        for (rounds, ends) in [(4, false), (5, true)] {
            let conservative = Some(Conservative { baseline: Time::ZERO, rounds });
            let mut hystart = HyStart { left: 2.0, conservative, ..HyStart::new() };
            let mut window = Window { cwnd: 20.0, ssthresh: 1e9 };
            hystart.on_ack(&mut window, &ack(1.0, 50, 9.0));
            assert_eq!((hystart.left, hystart.samples), (1.0, 1));
            hystart.on_ack(&mut window, &ack(1.0, 60, 9.0));
            assert_eq!((hystart.left, hystart.samples), (9.0, 0));
            assert_eq!((hystart.last_min, hystart.current_min), (Time::from_ms(50), Time::NEVER));
            assert_eq!(window.ssthresh, if ends { 20.5 } else { 1e9 });
        }
    }
}
