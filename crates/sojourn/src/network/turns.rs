//! Homes that are active and at rest by turns.

use sojourn_engine::rng::{Rng, Seed};
use sojourn_engine::units::Time;
use sojourn_scenario::Scenario;
use sojourn_scenario::homes::Activity;

/// The turns of a home: a Markov process of two states in equilibrium.
pub(super) struct Turns {
    rng: Rng,
    /// Mean lengths of a rest and of a time of activity, in s.
    means_s: [f64; 2],
    is_active: bool,
    /// The end of the current turn.
    until: Time,
}

impl Turns {
    fn new(activity: Activity, seed: Seed) -> Self {
        let Activity { share, time_constant_s } = activity;
        let mut rng = seed.open();
        let is_active = rng.uniform() < share;
        let means_s = [time_constant_s / share, time_constant_s / (1.0 - share)];
        // A stay that is under way lasts as long as one that begins.
        let until = Time::from_secs_f64(rng.exponential(means_s[usize::from(is_active)]));
        Self { rng, means_s, is_active, until }
    }

    /// When the rest of now ends; `None` in a time of activity. `now` never goes back.
    pub(super) fn rests_until(&mut self, now: Time) -> Option<Time> {
        while self.until <= now {
            self.is_active = !self.is_active;
            let mean_s = self.means_s[usize::from(self.is_active)];
            self.until += Time::from_secs_f64(self.rng.exponential(mean_s)).max(Time::from_ps(1));
        }
        (!self.is_active).then_some(self.until)
    }
}

/// Those of all homes, by the home's number; homes that are always active have none. Empty if none has.
pub(super) fn turns(scenario: &Scenario) -> Vec<Option<Turns>> {
    if scenario.homes.values().all(|group| group.activity.is_none()) {
        return Vec::new();
    }
    let groups = scenario.homes.iter().flat_map(|(name, group)| {
        let seed = Seed::named(scenario.seed, &format!("activity of homes {name}"));
        let turns = move |number| Some(Turns::new(group.activity?, seed.numbered(number)));
        (0..u64::from(group.count)).map(turns)
    });
    groups.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over `n` homes the share of active ones has a deviation of sqrt(p (1 - p) / n), and the product of the
    /// deviations of a home's states at a distance of t has a mean of p (1 - p) exp(-t / time constant).
    #[test]
    fn shares_and_correlations_are_those_of_the_process() {
        for share in [0.2, 0.5, 0.9] {
            let activity = Activity { share, time_constant_s: 10.0 };
            let homes = 20_000;
            let variance = share * (1.0 - share);
            let (mut first, mut later, mut product) = (0.0, 0.0, 0.0);
            for number in 0..homes {
                let mut turns = Turns::new(activity, Seed::named(1, "turns").numbered(number));
                let mut state = |at_s| f64::from(turns.rests_until(Time::from_s(at_s)).is_none());
                let (a, b) = (state(3), state(13));
                first += a;
                later += b;
                product += (a - share) * (b - share);
            }
            let n = homes as f64;
            let allowed = 4.0 * (variance / n).sqrt();
            assert!((first / n - share).abs() < allowed, "{share}: {first}");
            assert!((later / n - share).abs() < allowed, "{share}: {later}");
            let want = variance * (-1.0_f64).exp();
            // The product is at most the larger of p² and (1 - p)².
            let allowed = 4.0 * share.max(1.0 - share).powi(2) / n.sqrt();
            assert!((product / n - want).abs() < allowed, "{share}: {} for {want}", product / n);
        }
    }
}
