//! How late packets are read and delivered.

use hdrhistogram::Histogram;
use sojourn::outside::Time;

/// How long each packet had waited at most when it was read, and the wall clock after its write less its simulated arrival:
/// their sum, in ns to three digits.
#[derive(Clone, Debug)]
pub struct Lateness(Histogram<u64>);

const LONGEST_NS: u64 = 3_600_000_000_000;

impl Default for Lateness {
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("three digits of an hour fit"))
    }
}

impl Lateness {
    pub(crate) fn record(&mut self, late: Time) {
        self.0.saturating_record(late.ps() / 1000);
    }

    /// Packets delivered.
    pub fn packets(&self) -> u64 {
        self.0.len()
    }

    /// The lateness in ms that this share of packets does not exceed; none if none was delivered.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.value_at_quantile(share) as f64 * 1e-6)
    }

    /// The longest in ms.
    pub fn max_ms(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.max() as f64 * 1e-6)
    }
}
