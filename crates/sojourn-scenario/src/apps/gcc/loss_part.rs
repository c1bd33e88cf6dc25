//! What losses allow: growth below 2 %, less above 10 % (draft-ietf-rmcat-gcc-02 §6, with the times of libwebrtc's
//! `send_side_bandwidth_estimation.cc`).

use std::collections::VecDeque;

use crate::apps::call_law::Rates;

/// Losses below the first leave room for growth; above the second the rate falls by half of them.
const LOW: f64 = 0.02;
const HIGH: f64 = 0.10;
/// Growth of the least rate of the last second, and what is added to it, in bit/s.
const INCREASE: f64 = 1.08;
const ADDED_BPS: f64 = 1000.0;
const INCREASE_MS: f64 = 1000.0;
/// It falls no sooner again than so long after a round trip.
const DECREASE_MS: f64 = 300.0;
/// Losses are counted each second, and of so many packets.
const REPORT_MS: f64 = 1000.0;
const FEWEST: u32 = 20;
/// As long the delay part counts alone at the start, if nothing was lost.
const START_MS: f64 = 2000.0;

/// The loss part of the control, and the rate that both parts allow.
pub(super) struct LossPart {
    rates: Rates,
    bps: f64,
    /// Rates that were the least since then, of the last second.
    history: VecDeque<(f64, f64)>,
    first_ms: Option<f64>,
    counted_ms: f64,
    lost: u32,
    expected: u32,
    loss: Option<f64>,
    decreased_ms: f64,
    has_decreased: bool,
}

impl LossPart {
    pub(super) fn new(rates: Rates) -> Self {
        Self {
            rates,
            bps: rates.start_bps,
            history: VecDeque::new(),
            first_ms: None,
            counted_ms: 0.0,
            lost: 0,
            expected: 0,
            loss: None,
            decreased_ms: f64::NEG_INFINITY,
            has_decreased: false,
        }
    }

    pub(super) fn target_bps(&self) -> f64 {
        self.bps
    }

    /// A probe has found this rate.
    pub(super) fn set(&mut self, bps: f64) {
        self.bps = bps.clamp(self.rates.least_bps, self.rates.most_bps);
        self.history.clear();
    }

    /// A report has come on packets, of which some were lost. The delay part allows `most_bps`.
    pub(super) fn update(
        &mut self,
        now_ms: f64,
        (lost, expected): (u32, u32),
        most_bps: f64,
        rtt_ms: f64,
    ) {
        let first_ms = *self.first_ms.get_or_insert(now_ms);
        (self.lost, self.expected) = (self.lost + lost, self.expected + expected);
        if now_ms - self.counted_ms >= REPORT_MS && self.expected >= FEWEST {
            self.loss = Some(f64::from(self.lost) / f64::from(self.expected));
            (self.lost, self.expected, self.counted_ms) = (0, 0, now_ms);
            self.has_decreased = false;
        }
        let is_start = now_ms - first_ms < START_MS && self.loss.unwrap_or_default() == 0.0;
        let bps = if is_start { most_bps.max(self.bps) } else { self.allowed(now_ms, rtt_ms) };
        if is_start {
            self.history.clear();
        }
        self.bps = bps.min(most_bps).clamp(self.rates.least_bps, self.rates.most_bps);
    }

    fn allowed(&mut self, now_ms: f64, rtt_ms: f64) -> f64 {
        while self.history.front().is_some_and(|(at_ms, _)| now_ms - at_ms > INCREASE_MS) {
            self.history.pop_front();
        }
        while self.history.back().is_some_and(|(_, bps)| *bps >= self.bps) {
            self.history.pop_back();
        }
        self.history.push_back((now_ms, self.bps));
        let Some(loss) = self.loss else { return self.bps };
        let is_time = now_ms - self.decreased_ms >= DECREASE_MS + rtt_ms;
        if loss <= LOW {
            self.history[0].1 * INCREASE + ADDED_BPS
        } else if loss > HIGH && is_time && !self.has_decreased {
            (self.decreased_ms, self.has_decreased) = (now_ms, true);
            self.bps * (1.0 - 0.5 * loss)
        } else {
            self.bps
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: Rates = Rates { start_bps: 1e6, least_bps: 3e4, most_bps: 1e7 };

    /// The rate after so many reports, one each 50 ms on 100 packets of which `lost` were lost.
    fn after(reports: u32, lost: u32) -> f64 {
        let mut part = LossPart::new(RATES);
        for number in 1..=reports {
            part.update(50.0 * f64::from(number), (lost, 100), 1e7, 100.0);
        }
        part.target_bps()
    }

    #[test]
    fn many_losses_cut_the_rate_by_half_of_their_share() {
        // The first count comes after 1 s, with the 20th report. Until then nothing is known to be lost, and the delay part
        // counts alone. 20 % are lost: a tenth less with each count.
        assert_eq!(after(19, 20), 1e7);
        for (count, want) in [(1, 0.9), (2, 0.81), (3, 0.729)] {
            let bps = after(20 * count, 20);
            assert!((bps / (want * 1e7) - 1.0).abs() < 1e-12, "{bps} {want}");
        }
        // 5 % change nothing.
        assert_eq!(after(60, 5), 1e7);
    }

    #[test]
    fn few_losses_let_it_grow_by_8_percent_in_a_second() {
        let mut part = LossPart::new(RATES);
        let heard = |part: &mut LossPart, from: u32, to: u32, most_bps: f64| {
            for number in from..to {
                part.update(50.0 * f64::from(number), (1, 100), most_bps, 100.0);
            }
        };
        heard(&mut part, 1, 60, 1e6);
        assert_eq!(part.target_bps(), 1e6);
        // From now on the delay part allows more: 8 % and 1 kbit/s above the least rate of the second before.
        heard(&mut part, 60, 61, 1e7);
        assert_eq!(part.target_bps(), 1.081e6);
        heard(&mut part, 61, 80, 1e7);
        assert_eq!(part.target_bps(), 1.081e6);
        heard(&mut part, 80, 82, 1e7);
        assert_eq!(part.target_bps(), 1.081e6 * 1.08 + 1e3);
    }
}
