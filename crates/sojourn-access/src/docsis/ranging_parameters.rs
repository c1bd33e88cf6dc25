//! Scenario keys of ranging on bonded upstream channels (ranging.rs).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sojourn_input::fault;
use sojourn_input::problem::Faults;

/// How modems range on the channels of a table, and when they give one up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RangingSpec {
    /// Time between the ranging opportunities of a modem on a channel, in s (station maintenance). Shorter than T4. Default:
    /// 20 (Cisco's guide to the uBR7100: about 25; 30 at most).
    #[schemars(range(min = 0.001, max = 1000.0))]
    pub interval_s: f64,
    /// How long a modem waits for the answer to a ranging request, in ms (T3). Default: 200 (as modems' logs are
    /// explained).
    #[schemars(range(min = 0.01, max = 10_000.0))]
    pub t3_ms: f64,
    /// How long a modem waits for a ranging opportunity, in s (T4): longer than `interval_s` and `retry_interval_s`. Default:
    /// 30 (a modem's log; others are explained with 30 to 35).
    #[schemars(range(min = 0.001, max = 10_000.0))]
    pub t4_s: f64,
    /// Ranging requests without an answer after which a modem gives a channel up (MULPI Annex B, and ARRIS' C4: 16).
    #[schemars(range(min = 1, max = 1024))]
    pub retries: u32,
    /// Time between the opportunities of a modem whose last request was not heard, in s, T3 at least. Default: 1 (Cisco's
    /// CMTSs, from memory: not checked).
    #[schemars(range(min = 0.001, max = 1000.0))]
    pub retry_interval_s: f64,
    /// How long a modem that had given up all of its channels takes to register when it has ranged again, in s. Default: 30
    /// (from memory: not checked).
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub registration_s: f64,
}

impl Default for RangingSpec {
    fn default() -> Self {
        Self {
            interval_s: 20.0,
            t3_ms: 200.0,
            t4_s: 30.0,
            retries: 16,
            retry_interval_s: 1.0,
            registration_s: 30.0,
        }
    }
}

impl RangingSpec {
    /// A modem has an opportunity before T4, and an answer is due before it is asked again.
    pub(super) fn check(&self) -> Faults {
        let mut faults = Faults::default();
        let Self { interval_s, t3_ms, t4_s, retry_interval_s, .. } = *self;
        for (key, least_s) in [("interval_s", interval_s), ("retry_interval_s", retry_interval_s)] {
            if t4_s <= least_s {
                faults.add(fault!(NotAllowed, "t4_s" =>
                    "found {t4_s}; allowed: more than {least_s}, the value of {key}", t4_s, least_s, key));
            }
        }
        if retry_interval_s < t3_ms / 1e3 {
            faults.add(fault!(NotAllowed, "retry_interval_s" =>
                "found {retry_interval_s}; allowed: {t3_s} or more, which is t3_ms",
                retry_interval_s, t3_s = t3_ms / 1e3));
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_must_fit() {
        let paths = |spec: RangingSpec| -> Vec<_> {
            spec.check().into_iter().map(|fault| fault.path).collect()
        };
        let of = |interval_s, t3_ms, t4_s, retry_interval_s| RangingSpec {
            interval_s,
            t3_ms,
            t4_s,
            retry_interval_s,
            ..RangingSpec::default()
        };
        assert!(paths(RangingSpec::default()).is_empty());
        assert_eq!(paths(of(30.0, 200.0, 30.0, 0.2)), ["t4_s"]);
        assert_eq!(paths(of(2.0, 200.0, 3.0, 3.0)), ["t4_s"]);
        assert_eq!(paths(of(20.0, 201.0, 30.0, 0.2)), ["retry_interval_s"]);
    }
}
