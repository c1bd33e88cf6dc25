//! The law of cake-autorate (`lynxthecat/cake-autorate`, shell scripts for OpenWrt, 94238be of August 2026), with its
//! defaults.
//!
//! - **Delays.** Each answer is a sample for both directions: half its round trip, so that a queue in one direction counts
//!   half in both, or with `one_way` the times that both clocks say. Each reflector has a baseline in each direction, a
//!   moving average that falls at once and rises slowly. A delay is what a sample exceeds it by.
//! - **Detection.** A direction is bloated if 3 of the last 6 delays, of all reflectors, exceed 30 ms and the time of a
//!   full packet at the shaper's rate.
//! - **Rates.** At each answer, for each direction: if it is bloated, the shaper's rate falls to 0.99 of it, or to 0.75 with a
//!   mean delay of 60 ms, and not again for 300 ms. Otherwise, with a load of over 75 % of the shaper's rate, it rises by 4 %,
//!   or less with a mean delay of over 10 ms, once for each measurement of the load. Otherwise it goes 1 % toward the base
//!   rate in a second. It stays between a minimum and a maximum.
//!
//! The reflectors are at one server, and are asked in turn. Left out: answers that are handled over 500 ms late, which
//! a simulated program does not do; the choice of other reflectors, which needs several; the rest when the line stands
//! still, which changes no rate by default; the sleep without traffic, which only saves probes.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Answer, Controller, ControllerParameters, PROBE_BYTES, PROBE_INTERVAL_MS, Probing, Rates,
    Update,
};
use sojourn_engine::packet::Direction;
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;
use sojourn_input::compare::at_least;
use sojourn_input::fault;
use sojourn_input::problem::Faults;

/// Bits of a full packet.
const MTU_BITS: f64 = 12_000.0;
/// The minimum as a share of the base rate: 5 of 20 Mbps.
const LEAST_SHARE: f64 = 0.25;
/// The maximum upstream: 35 of 20 Mbps.
const MOST_SHARE_UP: f64 = 1.75;
/// The maximum downstream: 80 of 20 Mbps.
const MOST_SHARE_DOWN: f64 = 4.0;

/// Parameters of `autorate`. Defaults are those of cake-autorate, where no other source is named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Autorate")]
pub struct Parameters {
    /// Server that answers the probes. Default: the first of `servers`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub server: String,
    /// Time between probes in ms. cake-autorate sends one to each of six reflectors in 0.3 s.
    #[schemars(range(min = 1.0, max = 60_000.0))]
    pub probe_interval_ms: f64,
    /// Size of a probe and of its answer on the wire in bytes. Default: 98, of which 56 are data, as ping(8) sends.
    #[schemars(range(min = 1, max = 1518))]
    pub probe_bytes: u16,
    /// Time between measurements of the load in ms.
    #[schemars(range(min = 10.0, max = 60_000.0))]
    pub update_ms: f64,
    /// Reflectors that are asked in turn, each with a baseline of its own. All are at `server`.
    #[schemars(range(min = 1, max = 100))]
    pub reflectors: u32,
    /// Does it measure the delay of each direction, by the clock of the server? Clocks drift by `clock_drift_ppm`, and the
    /// baseline follows a rising sample slowly. Default: both directions have half of the round trip.
    pub one_way: bool,
    /// Base rate upstream in Mbps, to which the rate returns without load. Default: the shaper's rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 100_000.0))]
    pub base_up_mbps: Option<f64>,
    /// Least rate upstream in Mbps. Default: a quarter of the base rate, as 5 of 20 Mbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 100_000.0))]
    pub min_up_mbps: Option<f64>,
    /// Greatest rate upstream in Mbps. Default: 1.75 times the base rate, as 35 of 20 Mbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 100_000.0))]
    pub max_up_mbps: Option<f64>,
    /// Base rate downstream in Mbps. Default: the shaper's rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 100_000.0))]
    pub base_down_mbps: Option<f64>,
    /// Least rate downstream in Mbps. Default: a quarter of the base rate, as 5 of 20 Mbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 100_000.0))]
    pub min_down_mbps: Option<f64>,
    /// Greatest rate downstream in Mbps. Default: four times the base rate, as 80 of 20 Mbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 100_000.0))]
    pub max_down_mbps: Option<f64>,
    /// Weight of a sample above the baseline.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub baseline_rise: f64,
    /// Weight of a sample below the baseline.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub baseline_fall: f64,
    /// Delay in ms that counts as bloat, beside the time of a full packet at the shaper's rate.
    #[schemars(range(min = 0.1, max = 10_000.0))]
    pub bloat_ms: f64,
    /// Delays that are looked at.
    #[schemars(range(min = 1, max = 1000))]
    pub window: u32,
    /// So many of them must exceed `bloat_ms`.
    #[schemars(range(min = 1, max = 1000))]
    pub bloated: u32,
    /// Factor of the rate with a mean delay of `bloat_ms`.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub least_decrease: f64,
    /// Factor of the rate with a mean delay of `worst_ms` and more; in between it is linear.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub most_decrease: f64,
    /// Mean delay in ms with which the rate falls most.
    #[schemars(range(min = 0.1, max = 10_000.0))]
    pub worst_ms: f64,
    /// Time in ms after a decrease in which the rate neither falls nor rises.
    #[schemars(range(min = 0.0, max = 60_000.0))]
    pub refractory_ms: f64,
    /// Load in percent of the shaper's rate above which it rises.
    #[schemars(range(min = 1.0, max = 100.0))]
    pub high_load_percent: f64,
    /// Factor of the rate under load, with a mean delay of up to `calm_ms`.
    #[schemars(range(min = 1.0, max = 2.0))]
    pub most_increase: f64,
    /// Mean delay in ms from which on it rises less; with `bloat_ms` it does not rise.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub calm_ms: f64,
    /// Time in ms between steps toward the base rate.
    #[schemars(range(min = 1.0, max = 600_000.0))]
    pub return_ms: f64,
    /// Such a step in percent of the rate.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub return_percent: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            server: String::new(),
            probe_interval_ms: PROBE_INTERVAL_MS,
            probe_bytes: PROBE_BYTES,
            update_ms: 200.0,
            reflectors: 6,
            one_way: false,
            base_up_mbps: None,
            min_up_mbps: None,
            max_up_mbps: None,
            base_down_mbps: None,
            min_down_mbps: None,
            max_down_mbps: None,
            baseline_rise: 0.001,
            baseline_fall: 0.9,
            bloat_ms: 30.0,
            window: 6,
            bloated: 3,
            least_decrease: 0.99,
            most_decrease: 0.75,
            worst_ms: 60.0,
            refractory_ms: 300.0,
            high_load_percent: 75.0,
            most_increase: 1.04,
            calm_ms: 10.0,
            return_ms: 1000.0,
            return_percent: 1.0,
        }
    }
}

impl Parameters {
    /// Minimum, base and maximum of a direction, in Mbps, with their keys.
    fn given(&self, way: Direction) -> [(&'static str, Option<f64>); 3] {
        match way {
            Direction::Up => [
                ("min_up_mbps", self.min_up_mbps),
                ("base_up_mbps", self.base_up_mbps),
                ("max_up_mbps", self.max_up_mbps),
            ],
            Direction::Down => [
                ("min_down_mbps", self.min_down_mbps),
                ("base_down_mbps", self.base_down_mbps),
                ("max_down_mbps", self.max_down_mbps),
            ],
        }
    }

    fn limits(&self, way: Direction) -> Option<[f64; 3]> {
        let [(_, min), (_, base), (_, max)] = self.given(way);
        Some([min?, base?, max?])
    }
}

impl ControllerParameters for Parameters {
    fn start(&self, rates: Rates, _seed: Seed) -> Box<dyn Controller + Send> {
        let ways = Direction::BOTH.map(|way| {
            rates.of(way)?;
            Some(Way::new(self, self.limits(way)?))
        });
        Box::new(Autorate { p: self.clone(), ways })
    }

    fn probing(&self) -> Probing<'_> {
        Probing {
            server: &self.server,
            interval: Time::from_secs_f64(self.probe_interval_ms / 1e3),
            bytes: self.probe_bytes,
            update: Time::from_secs_f64(self.update_ms / 1e3),
        }
    }

    fn server_mut(&mut self) -> &mut String {
        &mut self.server
    }

    fn fill(&mut self, rates: Rates) {
        let fill = |bps: Option<f64>, limits: [&mut Option<f64>; 3], most: f64| {
            let Some(bps) = bps else { return };
            let [min, base, max] = limits;
            let base = *base.get_or_insert(bps / 1e6);
            min.get_or_insert(LEAST_SHARE * base);
            max.get_or_insert(most * base);
        };
        let Self { min_up_mbps: min, base_up_mbps: base, max_up_mbps: max, .. } = self;
        fill(rates.up_bps, [min, base, max], MOST_SHARE_UP);
        let Self { min_down_mbps: min, base_down_mbps: base, max_down_mbps: max, .. } = self;
        fill(rates.down_bps, [min, base, max], MOST_SHARE_DOWN);
    }

    fn remarks(&self, rates: Rates) -> Faults {
        let without = Direction::BOTH.into_iter().filter(|way| rates.of(*way).is_none());
        let set = without.flat_map(|way| self.given(way).map(|given| (way.stream(), given)));
        let set = set.filter(|(_, (_, mbps))| mbps.is_some());
        let remark = |(way, (key, _))| fault!(IdleKey, key => "has no effect: the router has no shaper {way} that it could set", way);
        set.map(remark).collect()
    }

    fn check(&self) -> Faults {
        let [[min_up, base_up, max_up], [min_down, base_down, max_down]] =
            Direction::BOTH.map(|way| self.given(way));
        let order = [
            (base_up, min_up),
            (max_up, base_up),
            (base_down, min_down),
            (max_down, base_down),
            (("worst_ms", Some(self.worst_ms)), ("bloat_ms", Some(self.bloat_ms))),
            (("bloat_ms", Some(self.bloat_ms)), ("calm_ms", Some(self.calm_ms))),
            (
                ("least_decrease", Some(self.least_decrease)),
                ("most_decrease", Some(self.most_decrease)),
            ),
            (("window", Some(self.window.into())), ("bloated", Some(self.bloated.into()))),
        ];
        let faults = order.into_iter().filter_map(|((key, more), (other, less))| {
            at_least((key, more?), (other, less?)).err()
        });
        faults.collect()
    }
}

/// The state of a direction.
struct Way {
    /// Minimum, base and maximum in bit/s.
    limits: [f64; 3],
    /// The baseline of each reflector in us, once it has answered.
    baselines: Vec<Option<f64>>,
    /// The last delays in us, and whether they are bloat.
    delays: VecDeque<(f64, bool)>,
    /// Over the last interval.
    achieved_bps: f64,
    /// Has the load been measured since the rate rose?
    is_measured: bool,
    decreased_us: f64,
    returned_us: f64,
}

impl Way {
    fn new(p: &Parameters, limits: [f64; 3]) -> Self {
        Self {
            limits: limits.map(|mbps| mbps * 1e6),
            baselines: vec![None; p.reflectors as usize],
            delays: (0..p.window).map(|_| (0.0, false)).collect(),
            achieved_bps: 0.0,
            is_measured: false,
            decreased_us: f64::NEG_INFINITY,
            returned_us: 0.0,
        }
    }

    /// Takes a sample of a reflector into account.
    fn sample(&mut self, p: &Parameters, reflector: usize, sample_us: f64, bps: f64) {
        let before = self.baselines[reflector].unwrap_or(sample_us);
        let weight = if sample_us > before { p.baseline_rise } else { p.baseline_fall };
        let baseline = weight * sample_us + (1.0 - weight) * before;
        self.baselines[reflector] = Some(baseline);
        let delay_us = sample_us - baseline;
        let most_us = 1e3 * p.bloat_ms + 1e6 * MTU_BITS / bps;
        self.delays.pop_front();
        self.delays.push_back((delay_us, delay_us > most_us));
    }

    /// The rate from now on.
    fn rate(&mut self, p: &Parameters, now_us: f64, bps: f64) -> f64 {
        let [min, base, max] = self.limits;
        let sum: f64 = self.delays.iter().fold(0.0, |sum, (delay_us, _)| sum + delay_us);
        let mean_ms = sum / f64::from(p.window) / 1e3;
        let bloated = self.delays.iter().filter(|(_, is_bloat)| *is_bloat).count();
        let is_calm = now_us - self.decreased_us >= 1e3 * p.refractory_ms;
        let rate = if bloated >= p.bloated as usize {
            if !is_calm {
                return bps;
            }
            self.decreased_us = now_us;
            let share = share(mean_ms, p.bloat_ms, p.worst_ms);
            bps * (p.least_decrease - (p.least_decrease - p.most_decrease) * share)
        } else if 100.0 * self.achieved_bps > p.high_load_percent * bps {
            if !is_calm || !self.is_measured {
                return bps;
            }
            self.is_measured = false;
            let share = share(mean_ms, p.calm_ms, p.bloat_ms);
            bps * (1.0 + (p.most_increase - 1.0) * (1.0 - share))
        } else {
            if now_us - self.returned_us < 1e3 * p.return_ms {
                return bps;
            }
            self.returned_us = now_us;
            let step = p.return_percent / 100.0;
            if bps > base { (bps * (1.0 - step)).max(base) } else { (bps * (1.0 + step)).min(base) }
        };
        rate.max(min).min(max)
    }
}

/// Where a value is between two ends, from 0 to 1.
fn share(value: f64, from: f64, to: f64) -> f64 {
    if value >= to { 1.0 } else { ((value - from) / (to - from)).max(0.0) }
}

struct Autorate {
    p: Parameters,
    ways: [Option<Way>; 2],
}

impl Controller for Autorate {
    fn on_probe(&mut self, answer: &Answer) -> Rates {
        let Self { p, ways } = self;
        let reflector = (answer.probe % u64::from(p.reflectors)) as usize;
        let samples = match p.one_way {
            true => [answer.up_us, answer.down_us],
            false => [answer.rtt_us / 2.0; 2],
        };
        let [up_bps, down_bps] = Direction::BOTH.map(|direction| {
            let (way, bps) = (ways[direction as usize].as_mut()?, answer.rates.of(direction)?);
            way.sample(p, reflector, samples[direction as usize], bps);
            Some(way.rate(p, answer.now_us, bps))
        });
        Rates { up_bps, down_bps }
    }

    fn on_update(&mut self, update: &Update) -> Rates {
        for (way, bytes) in self.ways.iter_mut().zip(update.bytes) {
            let (Some(way), Some(bytes)) = (way, bytes) else { continue };
            way.achieved_bps = 8e6 * bytes as f64 / update.interval_us;
            way.is_measured = true;
        }
        Rates::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rate after delays of so many ms each, of which none counts as bloat, under full load.
    fn after(p: &Parameters, delay_ms: f64) -> f64 {
        let mut way = Way::new(p, [1.0, 10.0, 100.0]);
        way.delays.iter_mut().for_each(|(delay_us, _)| *delay_us = 1e3 * delay_ms);
        (way.achieved_bps, way.is_measured) = (20e6, true);
        way.rate(p, 0.0, 20e6)
    }

    #[test]
    fn under_load_the_rate_rises_less_the_longer_the_mean_delay() {
        let p = Parameters {
            calm_ms: 4.0,
            bloat_ms: 12.0,
            most_increase: 1.04,
            ..Parameters::default()
        };
        for (delay_ms, percent) in [(0.0, 4.0), (4.0, 4.0), (6.0, 3.0), (8.0, 2.0), (12.0, 0.0)] {
            let want = 20e6 * (1.0 + percent / 100.0);
            assert!((after(&p, delay_ms) / want - 1.0).abs() < 1e-9, "{delay_ms} ms");
        }
    }
}
