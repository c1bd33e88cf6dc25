//! Proactive Grant Service of a low-latency flow: the CMTS grants a rate at short intervals, whether it
//! is asked or not (DOCSIS 3.1 MULPI §7.2.3.6, as docsis-ns3 follows it; TLVs 24.44 to 24.49).
//!
//! A packet waits for the next grant, not for request and grant. What does not fit into it is requested
//! with it. Grants that nobody needs are lost: that is the price. With activity detection the CMTS
//! stops them after some unused ones and polls until there is a request.
//!
//! Where a channel has frames, grants begin with them, and the interval is rounded down to whole frames
//! (docsis-ns3); on a channel of the modem's own the first one begins with a MAP interval. On a shared channel
//! a grant is rounded up to whole minislots, and packets may use all of it. Left out: the minislots of a
//! channel of the modem's own, which has a rate alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_input::defaults::number;

use super::regularity::{Grid, Regularity};
use sojourn_engine::aqm::ProactiveRate;
use sojourn_engine::units::{BitRate, Time};
use sojourn_input::problem::Fault;

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
    /// Whether the CMTS stops the grants while the flow is idle (TLV 24.49 disables this).
    #[serde(default)]
    pub activity_detection: bool,
    /// Guaranteed Request Interval in us (TLV 24.46): time between polls while the grants are stopped.
    /// Default: the interval of the grants.
    #[serde(default)]
    #[schemars(range(min = 100, max = 65_535))]
    pub guaranteed_request_interval_us: Option<u32>,
    /// Unused grants in a row after which the CMTS stops them. MULPI leaves this to the CMTS: 100 by
    /// default.
    #[serde(default = "number::<u32, 100>")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub idle_grants: u32,
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

    /// Rate and interval on this grid.
    pub fn rate(&self, grid: &Grid) -> ProactiveRate {
        let rate = BitRate::from_mbps(self.guaranteed_grant_rate_mbps);
        ProactiveRate { rate, interval: self.times(grid).interval }
    }

    fn times(&self, grid: &Grid) -> Regularity {
        let times = regular(self.guaranteed_grant_interval_us, grid.map_interval);
        Regularity { interval: grid.whole_frames(times.interval), ..times }
    }

    /// Bytes of a grant and its times.
    pub fn grants(&self, grid: &Grid) -> (u64, Regularity) {
        let ProactiveRate { rate, interval } = self.rate(grid);
        let bits = u128::from(rate.bps()) * u128::from(interval.ps());
        let with_headers = bits * u128::from(MEAN_PACKET + grid.overhead);
        // A byte takes 8 s at one bit per second.
        let byte = u128::from(Time::from_s(8).ps());
        let bytes = with_headers.div_ceil(u128::from(MEAN_PACKET) * byte) as u64;
        (bytes, self.times(grid))
    }

    /// Times of polls while the grants are stopped, if they ever are.
    pub fn polls(&self, grid: &Grid) -> Option<Regularity> {
        let us = self.guaranteed_request_interval_us.or(self.guaranteed_grant_interval_us);
        self.activity_detection.then(|| regular(us, grid.map_interval))
    }
}

#[cfg(test)]
mod tests {
    use super::super::framing::Framing;
    use super::super::upstream_channel::{Ofdma, Phy, UpstreamChannel};
    use super::*;
    use sojourn_testing::at_random;
    use sojourn_testing::proptest::prelude::*;

    fn grants(mbps: f64, interval_us: Option<u32>) -> ProactiveGrants {
        ProactiveGrants {
            guaranteed_grant_rate_mbps: mbps,
            guaranteed_grant_interval_us: interval_us,
            activity_detection: false,
            guaranteed_request_interval_us: None,
            idle_grants: 100,
        }
    }

    /// Bytes, minislots and interval of grants on an OFDMA channel with frames of 135 us, and its framing.
    fn on_ofdma(mbps: f64, interval_us: u32) -> (u64, u64, Time, Framing) {
        let phy = Phy::Ofdma(Ofdma::default());
        let framing =
            Framing::of(&UpstreamChannel { phy, channels: 1, ..UpstreamChannel::default() });
        let frame = framing.frame().map(|frame| frame.time);
        let grid =
            Grid { map_interval: framing.map_interval(), frame, overhead: 10, is_own: false };
        let (bytes, times) = grants(mbps, Some(interval_us)).grants(&grid);
        (bytes, framing.minislots_for(0, bytes), times.interval, framing)
    }

    /// 5 Mb/s in 2 ms, 14 whole frames of 135 us: 1181.25 B, with headers 1240.3, rounded up. With 8 B of segment header
    /// these are 21 minislots of 60 B, which hold 1252 B: 1.06 of the guaranteed rate, 1.009 of it with headers.
    #[test]
    fn a_grant_has_whole_minislots() {
        let (bytes, minislots, interval, framing) = on_ofdma(5.0, 2000);
        assert_eq!((bytes, minislots, interval), (1241, 21, Time::from_us(1890)));
        assert_eq!(framing.bytes_in(0, minislots), 1252);
    }

    at_random! {
        256;

        /// Packets of 200 B with 10 B of header get the guaranteed rate, and with a minislot less in each grant they would
        /// get less.
        #[test]
        fn whole_minislots_hold_the_guaranteed_rate_and_one_less_does_not(
            mbps in 0.1..100.0,
            interval_us in 135_u32..20_000,
        ) {
            let (_, minislots, interval, framing) = on_ofdma(mbps, interval_us);
            let mbps_in = |minislots| framing.bytes_in(0, minislots) as f64 * 8e-6 / interval.secs_f64();
            prop_assert!(mbps_in(minislots) * 200.0 / 210.0 >= mbps);
            prop_assert!(mbps_in(minislots - 1) * 200.0 / 210.0 < mbps);
        }
    }

    #[test]
    fn a_grant_carries_the_rate_of_its_interval_with_headers() {
        // 5 Mb/s in 1 ms are 625 B; with 10 B for each packet of 200 B 656.25, rounded up.
        let keys = |interval_us| grants(5.0, interval_us);
        let map_interval = Time::from_ms(2);
        let grid = |overhead, frame| Grid { map_interval, frame, overhead, is_own: true };
        assert_eq!(keys(Some(1000)).grants(&grid(0, None)).0, 625);
        assert_eq!(keys(Some(1000)).grants(&grid(10, None)).0, 657);
        // Without an interval there is one in each MAP interval.
        assert_eq!(keys(None).grants(&grid(0, None)).0, 1250);
        assert_eq!(keys(None).grants(&grid(0, None)).1.interval, map_interval);
        assert_eq!(keys(None).polls(&grid(0, None)), None);
        // Seven frames of 135 us: 945 us, in which 5 Mb/s with headers are 620.2 B. Less than a frame
        // is a frame.
        let framed = grid(10, Some(Time::from_us(135)));
        let (bytes, times) = keys(Some(1000)).grants(&framed);
        assert_eq!((bytes, times.interval), (621, Time::from_us(945)));
        assert_eq!(keys(Some(100)).grants(&framed).1.interval, Time::from_us(135));
    }
}
