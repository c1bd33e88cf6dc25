//! SCReAM, version 2: from reports on packets to a window, and from that to a rate
//! (draft-ietf-ccwg-rfc8298bis-screamv2-01, whose sections are named here).
//!
//! A reference window bounds the bytes in flight (`window.rs`). It grows with what arrives, and falls with losses, with marks
//! and with the delay of the queue (`queue_delay.rs`). The rate of the media is that window in a round trip, less a reserve for
//! frames that are larger than others (`media_rate.rs`). Packets that the window holds back wait at the sender.
//!
//! Version 1 (RFC 8298) knows no L4S, and the draft replaces it. Of the options of §4.5 these are here: the reset after a drift of
//! clocks, losses that are too rare to be of a queue, and the compensation for flows that fill queues.
//!
//! Left out: a window for packets that change their order (§4.2.1.1), the scaling by variations of the delay (§4.2.1.4, off by default),
//! rate policers and the undershoot of the window (§4.5.2, §4.5.3).

mod media_rate;
mod queue_delay;
mod window;

use media_rate::MediaRate;
use queue_delay::QueueDelay;
use window::{Seen, Window};

use super::call_law::{Inside, Law, Rates, Report};

/// A virtual round trip: what has shorter ones slows down and grows as if it had these (§4.2.2).
const VIRTUAL_RTT_MS: f64 = 25.0;
/// Weight of a round trip in their mean (RFC 6298 §2).
const RTT_WEIGHT: f64 = 1.0 / 8.0;
/// Bytes in flight may exceed the reference window this many times (§4.3.1: `REF_WND_OVERHEAD_MAX`).
const OVERHEAD: f64 = 3.0;
/// After so long without a packet what is in flight is given up (public code of Ericsson: `isOkToTransmit`).
const GIVEN_UP_MS: f64 = 500.0;
/// No picture is taken while a packet waits for so long at the sender: frames are skipped (§3.3). The public code of Ericsson has
/// this limit (`kMaxRtpQueueDelay`).
const PATIENCE_MS: f64 = 100.0;

/// The control of a sender.
pub(super) struct Scream {
    rates: Rates,
    rtt_ms: Option<f64>,
    /// When the round trip began in which peaks are counted.
    round_ms: f64,
    in_flight: f64,
    /// The most in flight in this round trip and in the one before.
    peaks: [f64; 2],
    sent_ms: f64,
    delay: QueueDelay,
    window: Window,
    media: MediaRate,
}

impl Scream {
    /// The control of a call that begins with these rates, with so many frames a second of packets of so many bytes.
    pub(super) fn new(rates: Rates, frames_per_s: f64, packet_bytes: f64) -> Self {
        Self {
            rates,
            rtt_ms: None,
            round_ms: 0.0,
            in_flight: 0.0,
            peaks: [0.0; 2],
            sent_ms: 0.0,
            delay: QueueDelay::default(),
            window: Window::new(packet_bytes),
            media: MediaRate::new(rates, 1.0 / frames_per_s),
        }
    }

    /// The smoothed round trip.
    fn heard_rtt_ms(&mut self, sample_ms: f64) -> f64 {
        let rtt_ms = match self.rtt_ms {
            Some(rtt_ms) => (1.0 - RTT_WEIGHT) * rtt_ms + RTT_WEIGHT * sample_ms,
            // As libwebrtc begins: with the window of the rate at the start.
            None => {
                self.window.begin(self.rates.start_bps / 8e3 * sample_ms);
                sample_ms
            }
        };
        self.rtt_ms = Some(rtt_ms);
        rtt_ms
    }
}

impl Law for Scream {
    fn target_bps(&self) -> u64 {
        self.media.bps() as u64
    }

    fn pace_bps(&self) -> f64 {
        self.media.pace_bps()
    }

    fn hear(&mut self, now_ms: f64, report: &Report<'_>) {
        self.peaks[0] = self.peaks[0].max(self.in_flight);
        self.in_flight = (self.in_flight - report.bytes).max(0.0);
        let Some(newest) = report.arrivals.last() else { return };
        let rtt_ms = self.heard_rtt_ms(now_ms - newest.sent_ms);
        self.delay.hear(now_ms, report.arrivals, rtt_ms);
        self.window.count(now_ms, report, rtt_ms);
        let seen = Seen {
            now_ms,
            rtt_ms,
            peaks: self.peaks,
            is_most: self.media.bps() >= self.rates.most_bps,
        };
        self.window.update(&seen, &self.delay, report);
        let slowed = if self.delay.is_slowed(now_ms) { 0.5 } else { 1.0 };
        self.media.update(slowed * self.window.bytes(), self.window.packets(), rtt_ms);
        if now_ms - self.round_ms >= rtt_ms.max(VIRTUAL_RTT_MS) {
            self.delay.end_round(now_ms, self.window.end_round(), rtt_ms);
            self.peaks = [0.0, self.peaks[0]];
            self.round_ms = now_ms;
        }
    }

    fn film(&mut self, bytes: f64, waited_ms: f64) {
        self.media.film(bytes, waited_ms);
    }

    fn send(&mut self, now_ms: f64, bytes: f64) {
        if now_ms - self.sent_ms >= GIVEN_UP_MS {
            self.in_flight = 0.0;
        }
        self.sent_ms = now_ms;
        self.in_flight += bytes;
        self.peaks[0] = self.peaks[0].max(self.in_flight);
    }

    fn hold_ms(&self, now_ms: f64, bytes: f64) -> f64 {
        let fits = self.in_flight + bytes <= OVERHEAD * self.window.bytes();
        // Nothing is known of the line before the first report.
        let is_free = fits || self.rtt_ms.is_none();
        if is_free { 0.0 } else { (self.sent_ms + GIVEN_UP_MS - now_ms).max(0.0) }
    }

    fn patience_ms(&self) -> f64 {
        PATIENCE_MS
    }

    fn inside(&self) -> Option<Inside> {
        Some(Inside { window_bytes: self.window.bytes(), queue_ms: self.delay.ms() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::call_law::Arrival;
    use super::*;
    use sojourn_engine::packet::Ecn;

    const RATES: Rates = Rates { start_bps: 1e6, least_bps: 3e4, most_bps: 2.5e6 };

    fn report(scream: &mut Scream, now_ms: f64, sent_ms: f64, bytes: f64) {
        let arrived_ms = sent_ms + 40.0;
        let one = Arrival { sent_ms, arrived_ms, bytes, is_marked: false, probe: None };
        scream.hear(now_ms, &Report { arrivals: &[one], lost: 0, bytes, ecn: Ecn::NotEct });
    }

    #[test]
    fn three_windows_may_be_in_flight_and_no_more_without_a_report() {
        let mut scream = Scream::new(RATES, 30.0, 1250.0);
        // Before a report comes nothing is held back.
        (0..40).for_each(|number| scream.send(f64::from(number), 1250.0));
        assert_eq!(scream.hold_ms(40.0, 1250.0), 0.0);
        // 1 Mbit/s in 100 ms are 12 500 B, and 1250 B more with the report, which is no sooner than 100 round trips after
        // congestion: with 2 % of 12 500 B 12 656.25 B, as one of ten packets has come. 39 of 1250 B are in flight.
        report(&mut scream, 100.0, 0.0, 1250.0);
        assert_eq!(scream.inside().unwrap().window_bytes, 12_500.0 + 125.0 * (1.0 + 0.02 * 10.0));
        assert_eq!(scream.in_flight, 39.0 * 1250.0);
        // Three windows are 37 950 B. It waits until 500 ms after the last packet, and then that is forgotten.
        assert_eq!(scream.hold_ms(100.0, 1250.0), 439.0);
        assert_eq!(scream.hold_ms(539.0, 1250.0), 0.0);
        scream.send(539.0, 1250.0);
        assert_eq!((scream.in_flight, scream.hold_ms(540.0, 1250.0)), (1250.0, 0.0));
        // Reports on what was forgotten leave nothing in flight, not less.
        report(&mut scream, 600.0, 39.0, 39.0 * 1250.0);
        assert_eq!(scream.in_flight, 0.0);
    }

    /// What was sent in one round trip is in flight at the start of the next, in which nothing is sent.
    #[test]
    fn a_peak_is_of_what_is_in_flight_and_not_of_what_is_sent() {
        let mut scream = Scream::new(RATES, 30.0, 1250.0);
        (0..40).for_each(|number| scream.send(f64::from(number), 1250.0));
        report(&mut scream, 100.0, 0.0, 1250.0);
        assert_eq!(scream.peaks, [0.0, 40.0 * 1250.0]);
        report(&mut scream, 110.0, 1.0, 1250.0);
        assert_eq!(scream.peaks, [39.0 * 1250.0, 40.0 * 1250.0]);
    }
}
