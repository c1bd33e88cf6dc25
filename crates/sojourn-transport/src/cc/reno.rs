//! Reno: RFC 5681, and the window of ns-2's one-way agents (tcp/tcp.cc).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Ack, CongestionControl, CongestionParameters, Connection, Controller, LinuxReno, Window,
};
use sojourn_engine::dialect::Dialect;
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;

/// Reno has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Reno")]
pub struct Parameters {}

impl CongestionParameters for Parameters {
    fn start(&self, connection: &Connection, _seed: Seed) -> Controller {
        match connection.dialect {
            Dialect::Linux => LinuxReno::default().into(),
            dialect => Reno { dialect }.into(),
        }
    }
}

/// Reno.
pub struct Reno {
    dialect: Dialect,
}

/// Segments one acknowledgement may add in slow start (RFC 3465 §2.2: L = 2).
const SLOW_START_LIMIT: f64 = 2.0;

/// What an acknowledgement counts for: the segments it acknowledges (RFC 3465), or one in ns-2.
pub(super) fn counted(dialect: Dialect, segments: f64) -> f64 {
    match dialect {
        Dialect::Rfc | Dialect::Linux => segments,
        Dialect::Ns2 => 1.0,
    }
}

/// Slow start. Returns the rest, which counts in congestion avoidance.
pub(super) fn slow_start(window: &mut Window, counted: f64, max_window: f64) -> f64 {
    if !window.in_slow_start() {
        return counted;
    }
    let step = counted.min(SLOW_START_LIMIT);
    window.cwnd = (window.cwnd + step).min(max_window);
    0.0
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let left = slow_start(window, counted(self.dialect, ack.segments), ack.max_window);
        // RFC 5681 §3.1 equation 3: about one segment per round trip.
        window.cwnd = (window.cwnd + left / window.cwnd).min(ack.max_window);
    }

    fn on_loss(&mut self, window: &mut Window, flight: f64, _now: Time) {
        match self.dialect {
            // RFC 5681 §3.1 equation 4.
            Dialect::Rfc | Dialect::Linux => {
                window.ssthresh = (flight / 2.0).max(2.0);
                window.cwnd = window.ssthresh;
            }
            // tcp.cc `slowdown`: half the window, the threshold in whole segments.
            Dialect::Ns2 => {
                let half = window.cwnd / 2.0;
                window.ssthresh = half.trunc().max(2.0);
                window.cwnd = half.max(1.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acked(segments: f64) -> Ack {
        Ack::of(Time::ZERO, segments, Time::from_ms(50))
    }

    #[test]
    fn slow_start_counts_bytes_or_acknowledgements() {
        // Ten segments acknowledged two at a time: x2 per round trip by bytes, x1.5 by packets.
        for (dialect, want) in [(Dialect::Rfc, 20.0), (Dialect::Ns2, 15.0)] {
            let mut window = Window { cwnd: 10.0, ssthresh: 1e9 };
            for _ in 0..5 {
                Reno { dialect }.on_ack(&mut window, &acked(2.0));
            }
            assert_eq!(window.cwnd, want);
        }
    }

    #[test]
    fn avoidance_adds_about_one_segment_a_round_trip() {
        let mut window = Window { cwnd: 100.0, ssthresh: 50.0 };
        for _ in 0..50 {
            Reno { dialect: Dialect::Rfc }.on_ack(&mut window, &acked(2.0));
        }
        // 50 * 2 / w with w from 100 to 101: between 100/101 and 1.
        assert!((0.99..1.0).contains(&(window.cwnd - 100.0)));
    }

    #[test]
    fn a_loss_halves_the_window() {
        let mut window = Window { cwnd: 41.0, ssthresh: 1e9 };
        Reno { dialect: Dialect::Ns2 }.on_loss(&mut window, 41.0, Time::ZERO);
        assert_eq!(window, Window { cwnd: 20.5, ssthresh: 20.0 });
        Reno { dialect: Dialect::Rfc }.on_loss(&mut window, 3.0, Time::ZERO);
        assert_eq!(window, Window { cwnd: 2.0, ssthresh: 2.0 });
    }

    #[test]
    fn a_window_does_not_vanish() {
        let mut window = Window { cwnd: 1.0, ssthresh: 1e9 };
        Reno { dialect: Dialect::Ns2 }.on_loss(&mut window, 1.0, Time::ZERO);
        assert_eq!(window, Window { cwnd: 1.0, ssthresh: 2.0 });
        window.cwnd = 9.0;
        Reno { dialect: Dialect::Rfc }.on_timeout(&mut window, 9.0, Time::ZERO);
        assert_eq!(window, Window { cwnd: 1.0, ssthresh: 4.5 });
    }

    /// Two segments for an acknowledgement of three, up to the receiver's window.
    #[test]
    fn slow_start_is_limited() {
        for (cwnd, segments, max_window, want) in
            [(9.0, 3.0, 99.0, 11.0), (9.0, 1.0, 99.0, 10.0), (9.0, 3.0, 10.0, 10.0)]
        {
            let mut window = Window { cwnd, ssthresh: 9.5 };
            Reno { dialect: Dialect::Rfc }
                .on_ack(&mut window, &Ack { max_window, ..acked(segments) });
            assert_eq!(window.cwnd, want);
        }
        let mut window = Window { cwnd: 10.0, ssthresh: 10.0 };
        Reno { dialect: Dialect::Rfc }.on_ack(&mut window, &Ack { max_window: 10.1, ..acked(2.0) });
        assert_eq!(window.cwnd, 10.1);
    }
}
