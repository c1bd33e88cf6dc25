//! How much of the upstream channel other modems leave free over time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_input::defaults::number;

use sojourn_engine::capacity::{self, Trace};
use sojourn_engine::units::{BitRate, Time, whole};
use sojourn_input::compare::ascending;
use sojourn_input::problem::Fault;

/// Upstream capacity that other modems leave free. It follows either the pattern of the CableLabs
/// studies (`levels_mbps`) or your own `steps`. The pattern has four levels, and each of the twelve
/// changes from one level to another occurs once per cycle (White & Rice 2013 §3.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Congestion {
    /// The four levels of free capacity in Mbps, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 4, max = 4), inner(range(min = 0.001, max = 100_000.0)))]
    pub levels_mbps: Vec<f64>,
    /// Steps of free capacity, in place of `levels_mbps`. After the last step the first one follows
    /// again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 10_000))]
    pub steps: Vec<Step>,
    /// Time at each level in s. The pattern repeats after 12 of them (White 2014 §2.3: 10).
    #[serde(default = "number::<f64, 10>")]
    #[schemars(range(min = 0.1, max = 100_000.0))]
    pub step_s: f64,
    /// Random variation of the largest grant in a MAP around its mean, in percent (White & Padden
    /// 2012 §3.1.3: 20).
    #[serde(default = "number::<f64, 20>")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub grant_spread_percent: f64,
}

impl Congestion {
    /// The free capacity over time.
    pub fn trace(&self) -> Trace {
        let mbps = |level: &usize| self.levels_mbps.get(*level).copied().unwrap_or_default();
        let level = |level: &usize| capacity::Step::new(self.step_s, mbps(level));
        let own = |step: &Step| capacity::Step::new(step.for_s, step.mbps);
        let steps = match self.steps.as_slice() {
            [] => PATTERN.iter().map(level).collect(),
            steps => steps.iter().map(own).collect(),
        };
        Trace { steps, ..Trace::default() }
    }

    /// Checks that there are either levels or steps.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        let found = match (self.levels_mbps.is_empty(), self.steps.is_empty()) {
            (true, true) => "neither levels_mbps nor steps",
            (false, false) => "both levels_mbps and steps",
            _ => return ascending("levels_mbps", &self.levels_mbps, "levels"),
        };
        Err(Fault::found("", found, "one of them"))
    }
}

/// A period of constant free capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Duration of the step in s.
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub for_s: f64,
    /// Free capacity in Mbps.
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub mbps: f64,
}

/// Order of the four levels in a cycle, lowest = 0. Each of the twelve changes from one level to
/// another happens once, counting the change from the last step to the first. From CableLabs' ns-2
/// script; the papers' figure of it is lost.
const PATTERN: [usize; 12] = [1, 0, 1, 2, 0, 2, 1, 3, 0, 3, 2, 3];

/// Mean of the largest grant in bytes over time.
#[derive(Clone, Debug)]
enum Pattern {
    /// Constant: the channel is not congested.
    Steady(f64),
    /// The levels, and the time at each.
    Levels(Vec<f64>, Time),
    /// The steps, each with its end within the cycle.
    Steps(Vec<(Time, f64)>),
}

impl Pattern {
    fn at(&self, now: Time) -> f64 {
        match self {
            Self::Steady(grant) => *grant,
            Self::Levels(grants, step) => {
                let steps = now.ps() / step.ps() % PATTERN.len() as u64;
                grants[PATTERN[steps as usize]]
            }
            Self::Steps(steps) => {
                let cycle = steps.last().map_or(Time::NEVER, |(end, _)| *end);
                let within = Time::from_ps(now.ps() % cycle.ps());
                steps[steps.partition_point(|(end, _)| *end <= within)].1
            }
        }
    }
}

/// Free capacity of the channel over time, as the mean of the largest grant in a MAP.
#[derive(Clone, Debug)]
pub(crate) struct FreeCapacity {
    pattern: Pattern,
    /// Half-width of the uniform variation around the mean, as a fraction of the mean.
    spread: f64,
}

impl FreeCapacity {
    /// The pattern of the scenario. Without congestion: the constant rate `free` with this spread.
    pub(crate) fn of(
        congestion: Option<&Congestion>,
        free: BitRate,
        map_interval: Time,
        spread_percent: f64,
    ) -> Self {
        match congestion {
            None => Self::steady(free, map_interval, spread_percent),
            Some(c) if !c.steps.is_empty() => Self::in_any_steps(c, map_interval),
            Some(c) => {
                let levels: Vec<_> = c.levels_mbps.iter().map(|m| BitRate::from_mbps(*m)).collect();
                let step = Time::from_secs_f64(c.step_s);
                Self::in_steps(&levels, step, map_interval, c.grant_spread_percent)
            }
        }
    }

    /// Without congestion: the constant rate is `free` from now on.
    pub(crate) fn set_free(&mut self, free: BitRate, map_interval: Time) {
        if let Pattern::Steady(bytes) = &mut self.pattern {
            *bytes = grant_bytes(free, map_interval);
        }
    }

    /// A constant rate.
    pub(crate) fn steady(rate: BitRate, map_interval: Time, spread_percent: f64) -> Self {
        let pattern = Pattern::Steady(grant_bytes(rate, map_interval));
        Self { pattern, spread: spread_percent / 100.0 }
    }

    /// Four ascending levels in the studies' pattern.
    pub(crate) fn in_steps(
        levels: &[BitRate],
        step: Time,
        map_interval: Time,
        spread_percent: f64,
    ) -> Self {
        let grants = levels.iter().map(|rate| grant_bytes(*rate, map_interval)).collect();
        Self { pattern: Pattern::Levels(grants, step), spread: spread_percent / 100.0 }
    }

    /// The steps of a scenario.
    fn in_any_steps(spec: &Congestion, map_interval: Time) -> Self {
        let steps = spec.steps.iter().scan(0.0, |end_s, step| {
            *end_s += step.for_s;
            let rate = BitRate::from_mbps(step.mbps);
            Some((Time::from_secs_f64(*end_s), grant_bytes(rate, map_interval)))
        });
        let pattern = Pattern::Steps(steps.collect());
        Self { pattern, spread: spec.grant_spread_percent / 100.0 }
    }

    /// The largest grant of the MAP at `now` in bytes, for `draw` uniform in [0, 1). It has a
    /// fraction: at low rates a MAP interval carries less than a byte.
    pub(crate) fn greatest_grant(&self, now: Time, draw: f64) -> f64 {
        let mean = self.pattern.at(now);
        let width = whole(mean * self.spread);
        mean + whole(2.0 * width * draw) - width
    }
}

fn grant_bytes(rate: BitRate, map_interval: Time) -> f64 {
    rate.bytes_in(map_interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_change_of_level_happens_once_a_cycle() {
        let changes: HashSet<_> =
            (0..12).map(|step| (PATTERN[step], PATTERN[(step + 1) % 12])).collect();
        assert_eq!(changes.len(), 12);
        assert!(changes.iter().all(|(from, to)| from != to));
    }

    #[test]
    fn steps_follow_each_other_and_repeat() {
        // 8 Mbps are 2000 bytes in 2 ms, 2 Mbps 500; a cycle of 4 s.
        let spec: Congestion = toml::from_str(
            "steps = [{ for_s = 1, mbps = 8 }, { for_s = 3, mbps = 2 }]
             grant_spread_percent = 0",
        )
        .unwrap();
        let capacity = FreeCapacity::in_any_steps(&spec, Time::from_ms(2));
        let bytes = [0, 999, 1000, 3999, 4000, 4999, 5000]
            .map(|ms| capacity.greatest_grant(Time::from_ms(ms), 0.5).round());
        assert_eq!(bytes, [2000.0, 2000.0, 500.0, 500.0, 2000.0, 2000.0, 500.0]);
    }

    #[test]
    fn light_congestion_averages_ten_megabits() {
        // (2.5 + 5 + 12.5 + 20) / 4 = 10 Mbps, 2500 bytes in a MAP of 2 ms.
        let levels = [2.5, 5.0, 12.5, 20.0].map(BitRate::from_mbps);
        let map = Time::from_ms(2);
        let capacity = FreeCapacity::in_steps(&levels, Time::from_s(10), map, 20.0);
        let mean: f64 =
            (0..120).map(|s| capacity.greatest_grant(Time::from_s(s), 0.5)).sum::<f64>() / 120.0;
        assert!((mean - 2500.0).abs() < 1e-6);
        // Second level first: 1250 bytes, between 1000 and 1499.
        assert!((capacity.greatest_grant(Time::ZERO, 0.0) - 1000.0).abs() < 1e-6);
        assert!((capacity.greatest_grant(Time::ZERO, 0.9999) - 1499.0).abs() < 1e-6);
    }

    #[test]
    fn levels_or_steps_are_named() {
        let of = |keys: &str| toml::from_str::<Congestion>(keys).unwrap();
        let levels = of("levels_mbps = [1, 2, 3, 4]");
        assert_eq!((levels.step_s, levels.grant_spread_percent), (10.0, 20.0));
        assert!(levels.check().is_ok() && of("steps = [{ for_s = 1, mbps = 8 }]").check().is_ok());
        for keys in [
            "",
            "levels_mbps = [1, 2, 3, 4]\nsteps = [{ for_s = 1, mbps = 8 }]",
            "levels_mbps = [1, 3, 2, 4]",
        ] {
            assert!(of(keys).check().is_err(), "{keys}");
        }
    }

    /// 8 Mbps are 2000 B in 2 ms, give or take 10 %: from 1800 to 2199.
    #[test]
    fn a_steady_rate_varies_within_its_spread() {
        let (free, map) = (BitRate::from_mbps(8.0), Time::from_ms(2));
        let steady = FreeCapacity::of(None, free, map, 10.0);
        let levels: Congestion =
            toml::from_str("levels_mbps = [4, 8, 12, 16]\nstep_s = 1").unwrap();
        let levels = FreeCapacity::of(Some(&levels), free, map, 10.0);
        for (draw, want, of_levels) in
            [(0.0, 1800.0, 800.0), (0.5, 2000.0, 1000.0), (0.999, 2199.0, 1199.0)]
        {
            assert_eq!(steady.greatest_grant(Time::from_s(9), draw), want);
            // From 1 to 2 s the lowest level, 1000 B, give or take 20 %.
            assert_eq!(levels.greatest_grant(Time::from_ms(1500), draw), of_levels);
        }
        let steps: Congestion =
            toml::from_str("steps = [{ for_s = 1, mbps = 4 }]\ngrant_spread_percent = 50").unwrap();
        let steps = FreeCapacity::of(Some(&steps), free, map, 10.0);
        assert_eq!(steps.greatest_grant(Time::from_s(7), 0.0), 500.0);
    }
}
