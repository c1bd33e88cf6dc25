//! Proactive Grant Service of a low-latency flow: the CMTS grants a rate at short intervals, whether it
//! is asked or not (DOCSIS 3.1 MULPI §7.2.3.6, as docsis-ns3 follows it; TLVs 24.44 to 24.49).
//!
//! A packet waits for the next grant, not for request and grant. What does not fit into it is requested
//! with it. Grants that nobody needs are lost: that is the price. With activity detection the CMTS
//! stops them after some unused ones and polls until there is a request.
//!
//! Left out: grants that begin with OFDMA frames, and the place of the first grant in a MAP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::regularity::Regularity;
use crate::aqm::proactive_rate::ProactiveRate;
use crate::input::problem::Fault;
use crate::units::{BitRate, Time};

/// Bytes of the packet for which headers are added to the rate (docsis-ns3: MeanPacketSize).
const MEAN_PACKET: u64 = 200;

/// Parameters of proactive grants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProactiveGrants {
    /// Guaranteed Grant Rate in Mbps (TLV 24.45).
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub guaranteed_grant_rate_mbps: f64,
    /// Guaranteed Grant Interval in us (TLV 24.44). Default: one MAP interval, as in docsis-ns3.
    #[serde(default)]
    #[schemars(range(min = 100, max = 65_535))]
    pub guaranteed_grant_interval_us: Option<u32>,
    /// Whether the CMTS stops the grants while nothing comes (TLV 24.49 disables it).
    #[serde(default)]
    pub activity_detection: bool,
    /// Guaranteed Request Interval in us (TLV 24.46): time between polls while the grants are stopped.
    /// Default: the interval of the grants.
    #[serde(default)]
    #[schemars(range(min = 100, max = 65_535))]
    pub guaranteed_request_interval_us: Option<u32>,
    /// Unused grants in a row after which the CMTS stops them. MULPI leaves this to the CMTS: 100 by
    /// default.
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub idle_grants: u32,
}

fn hundred() -> u32 {
    100
}

fn regular(us: Option<u32>, default: Time) -> Regularity {
    let interval = us.map_or(default, |us| Time::from_us(us.into()));
    Regularity { interval, jitter: Time::ZERO, per_interval: 1 }
}

impl ProactiveGrants {
    /// The rate of the aggregate bounds that of its member.
    pub(crate) fn check(&self, sustained_mbps: f64) -> Result<(), Fault> {
        if self.guaranteed_grant_rate_mbps <= sustained_mbps {
            return Ok(());
        }
        let message = format!(
            "found {}; allowed: {sustained_mbps} or less, the value of sustained_mbps",
            self.guaranteed_grant_rate_mbps
        );
        Err(Fault::new("guaranteed_grant_rate_mbps", message).under("scheduling"))
    }

    /// Rate and interval, with MAPs of this interval.
    pub fn rate(&self, map_interval: Time) -> ProactiveRate {
        let rate = BitRate::from_mbps(self.guaranteed_grant_rate_mbps);
        let interval = regular(self.guaranteed_grant_interval_us, map_interval).interval;
        ProactiveRate { rate, interval }
    }

    /// Bytes of a grant, for packets that take `overhead` bytes more on the channel, and its times.
    pub fn grants(&self, map_interval: Time, overhead: u64) -> (u64, Regularity) {
        let ProactiveRate { rate, interval } = self.rate(map_interval);
        let bits = u128::from(rate.bps()) * u128::from(interval.ps());
        let with_headers = bits * u128::from(MEAN_PACKET + overhead);
        let bytes = with_headers.div_ceil(u128::from(MEAN_PACKET) * 8_000_000_000_000) as u64;
        (bytes, regular(self.guaranteed_grant_interval_us, map_interval))
    }

    /// Times of polls while the grants are stopped, if they ever are.
    pub fn polls(&self, map_interval: Time) -> Option<Regularity> {
        let us = self.guaranteed_request_interval_us.or(self.guaranteed_grant_interval_us);
        self.activity_detection.then(|| regular(us, map_interval))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_carries_the_rate_of_its_interval_with_headers() {
        // 5 Mb/s in 1 ms are 625 B; with 10 B for each packet of 200 B 656.25, rounded up.
        let keys = |interval_us| ProactiveGrants {
            guaranteed_grant_rate_mbps: 5.0,
            guaranteed_grant_interval_us: interval_us,
            activity_detection: false,
            guaranteed_request_interval_us: None,
            idle_grants: 100,
        };
        let map = Time::from_ms(2);
        assert_eq!(keys(Some(1000)).grants(map, 0).0, 625);
        assert_eq!(keys(Some(1000)).grants(map, 10).0, 657);
        // Without an interval there is one in each MAP interval.
        assert_eq!(keys(None).grants(map, 0).0, 1250);
        assert_eq!(keys(None).grants(map, 0).1.interval, map);
        assert_eq!(keys(None).polls(map), None);
    }
}
