//! CoDel-DT: CoDel that drops the arriving packet, by a predicted sojourn time. White 2014 §4.3;
//! CableLabs' ns-2 code (codeldt.cc), which is also the single-queue CoDel of Hong 2015 §4.1.
//!
//! It decides at the tail, where modems can drop cheaply. The sojourn time is predicted from the
//! backlog and either the shaper's tokens or the measured departure rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::codel_linux::CODEL_COUNT;
use super::departure_rate::ByRate;
use super::{
    Aqm, AqmAlgorithm, AqmParameters, Arrival, Buffer, Departure, DrainRate, Verdict,
    check_interval, latency_s,
};
use crate::record::Gauges;
use crate::rng::{Rng, Seed};
use crate::units::Time;
use sojourn_input::problem::{Fault, Faults, Remedy};

crate::series! {
    /// CoDel-DT: the sojourn time that it predicted for the last arrival, whether it was dropped or not.
    PREDICTED_SOJOURN = "predicted_sojourn", in "ms", from "White 2014, section 4.3";
}

/// How the sojourn time is predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Prediction {
    /// From the shaper's tokens and rates (the later ns-2 code).
    #[default]
    Shaper,
    /// From the measured departure rate (White 2014 §4.3: PIE's estimator).
    DepartureRate,
}

/// Parameters of CoDel-DT.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "CodelDt")]
pub struct Parameters {
    /// Acceptable sojourn time in ms, including request and grant (White 2014 §4.3: 20).
    #[schemars(range(min = 0.01, max = 10_000.0))]
    pub target_ms: f64,
    /// Time in ms within which the sojourn time must fall below the target (White 2014 §4.3: 150).
    #[schemars(range(min = 0.1, max = 100_000.0))]
    pub interval_ms: f64,
    /// Part of the target in ms that the prediction does not cover. The ns-2 code subtracts 6 ms
    /// for request and grant from the target. It must be less than `target_ms`.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub mac_allowance_ms: f64,
    /// How the sojourn time is predicted.
    pub prediction: Prediction,
    /// Bytes over which the departure rate is measured (PIE's ns-2 scripts: 10 000).
    #[schemars(range(min = 1500, max = 10_000_000))]
    pub rate_threshold_bytes: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            target_ms: 20.0,
            interval_ms: 150.0,
            mac_allowance_ms: 6.0,
            prediction: Prediction::Shaper,
            rate_threshold_bytes: 10_000,
        }
    }
}

impl AqmParameters for Parameters {
    fn start(&self, _seed: Seed) -> AqmAlgorithm {
        CodelDt::new(self).into()
    }

    fn check(&self, packet: Time) -> Faults {
        let Self { target_ms, mac_allowance_ms: allowance, .. } = self;
        let mut faults = Faults::from(check_interval(self.interval_ms, packet));
        if allowance >= target_ms {
            let allowed = format!("less than {target_ms}, the value of target_ms");
            let message = format!("found {allowance}; allowed: {allowed}");
            faults.add(Fault::new("mac_allowance_ms", message));
        }
        faults
    }

    fn target_ms(&self) -> Option<f64> {
        Some(self.target_ms)
    }

    fn obstacle(&self, buffer: Buffer) -> Option<(String, Remedy)> {
        buffer.too_small_to_measure(self.rate_threshold_bytes)
    }
}

/// CoDel-DT's parameters in its own units, and its state.
pub struct CodelDt {
    target_s: f64,
    interval: Time,
    prediction: Prediction,
    rate: ByRate,
    /// Predicted sojourn time of the last arrival.
    predicted_s: f64,
    /// Largest packet seen, in bytes. With no more than that waiting, nothing is dropped.
    largest: u64,
    dropping: bool,
    /// When the next packet is to be dropped, while the prediction is above target.
    drop_time: Option<Time>,
    last_drop: Option<Time>,
    count: u64,
}

/// The initial packet size (codeldt.cc).
const FIRST_LARGEST: u64 = 256;

impl CodelDt {
    /// The algorithm in its initial state.
    pub fn new(p: &Parameters) -> Self {
        Self {
            target_s: (p.target_ms - p.mac_allowance_ms) / 1e3,
            interval: Time::from_secs_f64(p.interval_ms / 1e3),
            prediction: p.prediction,
            rate: ByRate::new(p.rate_threshold_bytes),
            predicted_s: 0.0,
            largest: FIRST_LARGEST,
            dropping: false,
            drop_time: None,
            last_drop: None,
            count: 0,
        }
    }

    fn predict_s(&self, bytes: u64, drain_rate: &DrainRate) -> f64 {
        match self.prediction {
            Prediction::Shaper => drain_rate.drain_s(bytes as f64),
            Prediction::DepartureRate => {
                latency_s(bytes, drain_rate, Some(self.rate.latency_s(bytes)))
            }
        }
    }

    /// Was the last drop at least eight intervals ago, or was there none?
    fn is_stale(&self, now: Time) -> bool {
        self.last_drop.is_none_or(|at| now.since(at) >= self.interval.times(8))
    }

    fn after(&self, t: Time, count: u64) -> Time {
        t + self.interval.scaled(1.0 / (count as f64).sqrt())
    }

    fn drop_at(&mut self, now: Time, due: Time) -> Time {
        if self.dropping {
            self.count += 1;
            return self.after(due, self.count);
        }
        self.dropping = true;
        self.count = match self.count {
            n if n <= 2 || self.is_stale(now) => 1,
            n if n <= 128 => n - 2,
            n => (0.9844 * n as f64) as u64,
        };
        self.after(now, self.count)
    }
}

impl Aqm for CodelDt {
    fn on_arrival(&mut self, packet: &Arrival, drain_rate: &DrainRate, _rng: &mut Rng) -> Verdict {
        self.largest = self.largest.max(packet.size);
        self.predicted_s = self.predict_s(packet.backlog.bytes + packet.size, drain_rate);
        if self.predicted_s < self.target_s || packet.backlog.bytes <= self.largest {
            self.dropping = false;
            self.drop_time = None;
            return Verdict::Pass;
        }
        let Some(due) = self.drop_time else {
            let count = if self.is_stale(packet.now) { 1 } else { self.count.max(1) };
            self.drop_time = Some(self.after(packet.now, count));
            return Verdict::Pass;
        };
        if packet.now < due {
            return Verdict::Pass;
        }
        let next = self.drop_at(packet.now, due);
        self.drop_time = Some(next);
        self.last_drop = Some(next);
        Verdict::Drop
    }

    fn on_departure(&mut self, packet: &Departure) -> Verdict {
        self.rate.departed(packet);
        Verdict::Pass
    }

    fn gauges(&self, out: &mut Gauges) {
        out.show(CODEL_COUNT, if self.dropping { self.count as f64 } else { 0.0 });
        out.show(PREDICTED_SOJOURN, self.predicted_s * 1e3);
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets_for_tests::{arrival, departure};
    use super::*;
    use crate::count::Count;
    use crate::units::BitRate;

    fn drain_rate() -> DrainRate {
        let rate = BitRate::from_mbps(8.0);
        DrainRate::steady(rate, 1_000_000)
    }

    /// Packets of 1000 bytes every 0.1 ms at a constant backlog; times of the drops in ms.
    fn drop_times(law: &mut CodelDt, backlog: u64, from_ms: u64, ms: u64) -> Vec<f64> {
        let mut rng = Rng::named(1, "unused");
        let mut drops = Vec::new();
        for tick in 0..10 * ms {
            let now = Time::from_ms(from_ms) + Time::from_us(100 * tick);
            let backlog = Count { bytes: backlog, packets: backlog / 1000 };
            let packet = Arrival {
                now,
                size: 1000,
                backlog,
                share: 1.0,
                ecn: crate::packet::Ecn::NotEct,
                is_markable: false,
                flow: 0,
            };
            if law.on_arrival(&packet, &drain_rate(), &mut rng) == Verdict::Drop {
                drops.push((now - Time::from_ms(from_ms)).ms_f64());
            }
        }
        drops
    }

    #[test]
    fn drops_arrivals_by_codels_schedule() {
        // 30 000 bytes at 1 byte/us: 31 ms with the arrival, above 20 - 6 ms. First drop after an
        // interval, 150 ms; then the entry takes count 1: 150 ms later, then 150/sqrt(2) = 106.07.
        let drops = drop_times(&mut CodelDt::new(&Parameters::default()), 30_000, 0, 420);
        let expected = [150.0, 300.0, 406.1];
        assert_eq!(drops.len(), 3, "{drops:?}");
        for (got, want) in drops.iter().zip(expected) {
            assert!((got - want).abs() < 0.11, "{drops:?}");
        }
    }

    #[test]
    fn the_mac_allowance_comes_off_the_target() {
        // 13 000 + 1000 bytes are 14 ms, the target less 6 ms: not below it any more.
        assert!(drop_times(&mut CodelDt::new(&Parameters::default()), 12_999, 0, 400).is_empty());
        let mut law = CodelDt::new(&Parameters::default());
        assert_eq!(drop_times(&mut law, 13_000, 0, 200).len(), 1);
        let mut gauges = Gauges::default();
        law.gauges(&mut gauges);
        assert_eq!(gauges.get("predicted_sojourn"), Some(14.0));
    }

    #[test]
    fn a_recent_episode_shortens_the_first_wait_and_keeps_count_less_two() {
        let mut law = CodelDt::new(&Parameters::default());
        drop_times(&mut law, 30_000, 0, 700);
        let count = law.count;
        assert!(count > 3);
        drop_times(&mut law, 0, 700, 1);
        let drops = drop_times(&mut law, 30_000, 701, 150);
        let wait = 150.0 / (count as f64).sqrt();
        assert!((drops[0] - wait).abs() < 0.11, "{drops:?} {wait}");
        assert!(law.count >= count - 2);
    }

    #[test]
    fn nothing_is_dropped_while_one_packet_waits() {
        // Of 1000 bytes at 1 byte/us two take 2 ms, longer than a target of 1 ms.
        let law = || CodelDt { target_s: 0.001, ..CodelDt::new(&Parameters::default()) };
        assert_eq!(drop_times(&mut law(), 1000, 0, 420), [0.0; 0]);
        assert!(!drop_times(&mut law(), 1001, 0, 420).is_empty());
    }

    #[test]
    fn the_count_of_an_episode_is_that_of_the_last_one_less_two_or_its_126_of_128() {
        let now = Time::from_s(9);
        // Eight intervals are 1.2 s.
        let entered = |count, ago_ms| {
            let mut law = CodelDt { count, ..CodelDt::new(&Parameters::default()) };
            law.last_drop = Some(now - Time::from_ms(ago_ms));
            let next = law.drop_at(now, now);
            assert!(law.dropping);
            assert_eq!(next, law.after(now, law.count));
            law.count
        };
        for (count, want) in [
            (0, 1),
            (1, 1),
            (2, 1),
            (3, 1),
            (4, 2),
            (128, 126),
            (129, 126),
            (130, 127),
            (1000, 984),
        ] {
            assert_eq!(entered(count, 1199), want, "{count}");
        }
        assert_eq!(entered(9, 1200), 1);
        let mut law = CodelDt::new(&Parameters::default());
        assert_eq!((law.count, law.dropping, law.predicted_s), (0, false, 0.0));
        law.count = 9;
        law.drop_at(now, now);
        assert_eq!(law.count, 1);
        // While it drops the count grows, and the next drop follows the one that was due: 150 / sqrt(4) ms.
        law.count = 3;
        let next = law.drop_at(now + Time::from_ms(5), now);
        assert_eq!((law.count, next), (4, now + Time::from_ms(75)));
    }

    #[test]
    fn the_first_wait_is_shorter_after_a_recent_episode() {
        let now = Time::from_s(9);
        for (count, ago_ms, wait_ms) in [(4, 1199, 75), (4, 1200, 150), (0, 1, 150)] {
            let mut law = CodelDt { count, ..CodelDt::new(&Parameters::default()) };
            law.last_drop = Some(now - Time::from_ms(ago_ms));
            let packet = Arrival { now, ..arrival(30_000) };
            law.on_arrival(&packet, &drain_rate(), &mut Rng::named(1, "unused"));
            assert_eq!(law.drop_time, Some(now + Time::from_ms(wait_ms)), "{count} {ago_ms}");
        }
    }

    #[test]
    fn small_packets_count_as_256_bytes() {
        let drops = |backlog_bytes| {
            let mut law = CodelDt { target_s: 0.0001, ..CodelDt::new(&Parameters::default()) };
            let mut rng = Rng::named(1, "unused");
            let drops = (0..420).filter(|ms| {
                let packet =
                    Arrival { now: Time::from_ms(*ms), size: 64, ..arrival(backlog_bytes) };
                law.on_arrival(&packet, &drain_rate(), &mut rng) == Verdict::Drop
            });
            drops.count()
        };
        assert_eq!(drops(256), 0);
        assert!(drops(257) > 0);
    }

    #[test]
    fn the_wait_is_predicted_by_the_shaper_or_by_the_departure_rate() {
        // 14 000 B at 8 Mbps are 14 ms. 10 000 B leave in 9 ms beside the first, 1.11 MB/s: 12.6 ms.
        let p = |prediction| Parameters { prediction, ..Parameters::default() };
        let mut by_rate = CodelDt::new(&p(Prediction::DepartureRate));
        assert_eq!(by_rate.predict_s(14_000, &drain_rate()), 0.0);
        for ms in 0..10 {
            by_rate.on_departure(&departure(Time::from_ms(ms), Time::ZERO, 10_000));
        }
        assert!((by_rate.predict_s(14_000, &drain_rate()) - 0.0126).abs() < 1e-9);
        // In a bin the rate that was measured says little.
        let part = drain_rate().part(0.5);
        assert!((by_rate.predict_s(14_000, &part) - 0.028).abs() < 1e-12);
        let by_shaper = CodelDt::new(&p(Prediction::Shaper));
        assert!((by_shaper.predict_s(14_000, &drain_rate()) - 0.014).abs() < 1e-12);
    }

    #[test]
    fn the_count_is_shown_while_it_drops() {
        let mut law = CodelDt::new(&Parameters::default());
        let shown = |law: &CodelDt| {
            let mut gauges = Gauges::default();
            law.gauges(&mut gauges);
            gauges.get("codel_count")
        };
        assert_eq!(drop_times(&mut law, 30_000, 0, 320).len(), 2);
        assert_eq!((law.dropping, shown(&law)), (true, Some(2.0)));
        // An arrival below the target ends the episode.
        drop_times(&mut law, 5000, 320, 1);
        assert_eq!((law.dropping, law.drop_time, shown(&law)), (false, None, Some(0.0)));
    }
}
