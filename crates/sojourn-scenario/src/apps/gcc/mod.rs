//! Google congestion control of calls: from reports on packets to a rate (draft-ietf-rmcat-gcc-02, as libwebrtc has it).
//!
//! Two parts each allow a rate, and the lower one counts. The delay part fits a line to the delays of groups of packets,
//! and has three laws of its own: over-use (`trend.rs`), the measured rate (`throughput.rs`) and what follows from both
//! (`delay_part.rs`). The loss part (`loss_part.rs`) goes by packets that did not arrive. Probes (`probes.rs`) measure
//! what the line carries when the call begins.
//!
//! A law is a function of what reports say: times in ms by the clocks of the two ends, sizes, and what is missing.
//!
//! Left out: the estimator of loss that libwebrtc has used in trials since 2022 (`loss_based_bwe_v2.cc`), probes while the
//! sender has little to send or after a drop of the rate, and the window that holds the encoder back without reports.

mod delay_part;
mod loss_part;
mod probes;
mod throughput;
mod trend;

use super::call_law::{Arrival, Law, Probe, Rates, Report};
use delay_part::DelayPart;
use loss_part::LossPart;
use probes::Probes;
use throughput::Throughput;
use trend::{Groups, Trend};

/// The sender leaves its packets this much faster than the target, so that a frame is out before the next one
/// (draft-ietf-rmcat-gcc-02 §4 has packets leave within 5 ms; libwebrtc's pacer 2.5 times the target).
const PACING: f64 = 2.5;
/// After so long without a report the line is another one (libwebrtc: `kStreamTimeOut`).
const TIMEOUT_MS: f64 = 2000.0;

/// What the detector of over-use says of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Usage {
    /// Delays stay as they are.
    Normal,
    /// They grow: the line carries less than is sent.
    Over,
    /// They fall: a queue empties.
    Under,
}

/// The control of a sender.
pub(super) struct Gcc {
    groups: Groups,
    trend: Trend,
    throughput: Throughput,
    delay_part: DelayPart,
    loss_part: LossPart,
    probes: Probes,
    heard_ms: f64,
}

impl Gcc {
    /// The control of a call that begins with these rates.
    pub(super) fn new(rates: Rates) -> Self {
        Self {
            groups: Groups::default(),
            trend: Trend::default(),
            throughput: Throughput::default(),
            delay_part: DelayPart::new(rates),
            loss_part: LossPart::new(rates),
            probes: Probes::new(rates),
            heard_ms: 0.0,
        }
    }
}

impl Law for Gcc {
    fn target_bps(&self) -> u64 {
        self.loss_part.target_bps() as u64
    }

    fn pace_bps(&self) -> f64 {
        PACING * self.target_bps() as f64
    }

    fn next_probe(&mut self, now_ms: f64) -> Option<Probe> {
        self.probes.next(now_ms)
    }

    fn hear(&mut self, now_ms: f64, report: &Report<'_>) {
        let (arrivals, lost) = (report.arrivals, report.lost);
        if now_ms - self.heard_ms > TIMEOUT_MS {
            (self.groups, self.trend) = (Groups::default(), Trend::default());
        }
        self.heard_ms = now_ms;
        let Some(newest) = arrivals.last() else { return };
        // What it took for each packet, without its wait for the report.
        let took = |one: &Arrival| now_ms - one.sent_ms - (newest.arrived_ms - one.arrived_ms);
        let rtt_ms = arrivals.iter().map(took).fold(f64::INFINITY, f64::min);
        let mut probed_bps = None;
        for one in arrivals {
            self.throughput.add(one.arrived_ms, one.bytes);
            probed_bps = self.probes.hear(one).or(probed_bps);
            if let Some(delta) = self.groups.add(one.sent_ms, one.arrived_ms) {
                self.trend.add(delta, one.arrived_ms);
            }
        }
        let measured_bps = self.throughput.bps();
        let usage = self.trend.usage();
        let probed_bps = probed_bps.filter(|_| usage != Usage::Over);
        self.delay_part.update(now_ms, usage, (measured_bps, probed_bps), rtt_ms);
        let counts = (lost, lost + arrivals.len() as u32);
        if let Some(bps) = probed_bps {
            self.loss_part.set(bps);
        }
        self.loss_part.update(now_ms, counts, self.delay_part.bps(), rtt_ms);
        self.probes.allowed(now_ms, self.loss_part.target_bps());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_engine::packet::Ecn;

    /// Reports each 50 ms on a packet of `bytes` each 5 ms, whose delay grows by `slope` ms in each ms from 1 s on.
    fn target_after(seconds: f64, bytes: f64, slope: f64, start_bps: f64) -> f64 {
        let mut gcc = Gcc::new(Rates { start_bps, least_bps: 3e4, most_bps: 2.5e6 });
        let mut now_ms = 0.0;
        while now_ms < seconds * 1e3 {
            let packet = |number: u32| {
                let sent_ms = now_ms + 5.0 * f64::from(number);
                let delay_ms = 20.0 + slope * (sent_ms - 1000.0).max(0.0);
                Arrival {
                    sent_ms,
                    arrived_ms: sent_ms + delay_ms,
                    bytes,
                    is_marked: false,
                    probe: None,
                }
            };
            let packets: Vec<Arrival> = (0..10).map(packet).collect();
            now_ms += 50.0;
            let heard_ms = packets[9].arrived_ms + 20.0;
            let report =
                Report { arrivals: &packets, lost: 0, bytes: 10.0 * bytes, ecn: Ecn::NotEct };
            gcc.hear(heard_ms.max(now_ms), &report);
        }
        gcc.target_bps() as f64
    }

    #[test]
    fn a_line_without_a_queue_lets_the_rate_grow_by_8_percent_a_second() {
        // 625 B each 5 ms are 1 Mbit/s, so 1.5 times that and 10 kbit/s are the most. From 300 kbit/s growth lasts
        // ln(1.51 / 0.3) / ln(1.08) = 21 s; after 10 s the rate is 300 * 1.08^10 = 648 kbit/s, and reports wait 70 ms.
        let after_10_s = target_after(10.0, 625.0, 0.0, 3e5);
        assert!((after_10_s / 648e3 - 1.0).abs() < 0.02, "{after_10_s}");
        assert_eq!(target_after(30.0, 625.0, 0.0, 3e5), 1.51e6);
    }

    #[test]
    fn a_queue_that_grows_brings_the_rate_below_what_arrives() {
        // 1 Mbit/s is sent, and each ms the delay grows by 0.25 ms: 800 kbit/s arrive, of which the rate becomes 85 %.
        // Nothing slows down here, so it stays there.
        let bps = target_after(30.0, 625.0, 0.25, 1e6);
        assert!((bps / (0.85 * 800e3) - 1.0).abs() < 0.02, "{bps}");
    }
}
