//! What a low-latency service flow is granted without a request (DOCSIS 3.1 MULPI, Proactive Grant
//! Service).

use crate::units::{BitRate, Time};

/// A rate that is granted whether it is needed or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProactiveRate {
    /// Guaranteed Grant Rate (GGR).
    pub rate: BitRate,
    /// Guaranteed Grant Interval (GGI).
    pub interval: Time,
}
