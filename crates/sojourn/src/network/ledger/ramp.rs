//! How soon traffic gets up to speed.

use sojourn_engine::units::Time;

/// A rate counts as reached at this share of it. White & Rice 2013 §4.4 says when uploads reach the
/// peak rate from plots of 100 ms bins and states no threshold; this one is ours.
pub(super) const REACHED_SHARE: f64 = 0.9;

/// Waits for the first sampling interval in which a rate is reached.
pub(crate) struct Ramp {
    threshold_mbps: f64,
    reached: Option<Time>,
}

impl Ramp {
    /// Waits for [`REACHED_SHARE`] of this rate.
    pub(crate) fn to(rate_mbps: f64) -> Self {
        Self { threshold_mbps: REACHED_SHARE * rate_mbps, reached: None }
    }

    /// From now on it waits for another rate, if it still waits.
    pub(crate) fn aim(&mut self, rate_mbps: f64) {
        self.threshold_mbps = REACHED_SHARE * rate_mbps;
    }

    /// The rate in the interval that ends now.
    pub(crate) fn sample(&mut self, now: Time, mbps: f64) {
        if self.reached.is_none() && mbps >= self.threshold_mbps {
            self.reached = Some(now);
        }
    }

    /// The end of the first interval in which the rate was reached.
    pub(crate) fn reached(&self) -> Option<Time> {
        self.reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_interval_at_nine_tenths_counts() {
        // 0.9 * 20 = 18.
        let mut ramp = Ramp::to(20.0);
        for (tenth, mbps) in (1..).zip([2.0, 17.9, 18.0, 3.0, 20.0]) {
            assert_eq!(ramp.reached().is_some(), tenth > 3);
            ramp.sample(Time::from_ms(100 * tenth), mbps);
        }
        assert_eq!(ramp.reached(), Some(Time::from_ms(300)));
    }
}
