//! Parameters of Low Latency DOCSIS.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::member_rate::RateEstimate;
use crate::aqm::docsis_pie::{self, DocsisPie};
use crate::aqm::immediate;
use crate::aqm::queue_protection::{QueueProtection, Thresholds};
use crate::aqm::virtual_queue::VirtualQueue;
use crate::units::{BitRate, Time};
use sojourn_input::problem::Fault;

/// How the queue delay of L is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// The time to send all waiting bytes at the rate of the aggregate (MULPI annex O, downstream).
    CoupledL,
    /// A virtual queue, which leaves out the wait for request and grant (MULPI annex O, upstream).
    VirtualQueue,
}

/// The rule by which Queue Protection moves packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProtectionRule {
    /// RFC 9957 §4.2.1: by delay and score, and whenever the score is at its cap of 5 s.
    #[default]
    Rfc9957,
    /// docsis-ns3 1.3: by delay and score alone.
    DocsisNs3,
}

/// What the state of an estimator is.
pub(super) enum DelayEstimate {
    Backlog,
    Virtual(VirtualQueue),
}

/// Parameters of the two service flows of an aggregate. Numbers of annexes are those of DOCSIS 3.1
/// MULPI, which docsis-ns3 follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "LowLatency")]
pub struct Parameters {
    /// DSCPs of packets that go to the low-latency flow, in addition to packets with ECT(1) or CE.
    /// Default: 46 (EF, RFC 3246) and 45 (NQB, RFC 9956 §5.1).
    #[schemars(length(max = 64), inner(range(min = 0, max = 63)))]
    pub dscp: Vec<u8>,
    /// Share of the low-latency flow in parts of 256, if both flows could use all of the capacity
    /// (Scheduling Weight, TLV 70.42.6: 230).
    #[schemars(range(min = 1, max = 255))]
    pub weight: u8,
    /// Maximum sustained rate of the low-latency flow itself in Mbps, within that of the aggregate
    /// (TLV 24.8). Default: that of the aggregate.
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub low_latency_mbps: Option<f64>,
    /// Maximum sustained rate of the classic flow itself in Mbps, within that of the aggregate (TLV
    /// 24.8). Default: that of the aggregate.
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub classic_mbps: Option<f64>,
    /// Whether marks of the low-latency flow follow the classic flow's drops (annex M).
    pub coupled: bool,
    /// Coupling factor k: packets of the low-latency flow are marked with k times the root of the
    /// classic drop probability (AQM Coupling Factor, TLV 70.42.5: 2.0).
    #[schemars(range(min = 0.0, max = 25.4))]
    pub coupling: f64,
    /// Enables the AQM algorithm of the classic flow, DOCSIS-PIE (TLV 24.40.1).
    pub classic_aqm: bool,
    /// Target queue delay of the classic flow in ms (RFC 8034 §4.1: 10; TLV 24.40.2).
    #[schemars(range(min = 0.1, max = 255.0))]
    pub classic_target_ms: f64,
    /// How the rate of the low-latency flow is estimated, which the delay estimate of the classic flow
    /// leaves out of the rate of the aggregate (annex O). Default: `mean`.
    pub rate_estimate: RateEstimate,
    /// Enables the immediate AQM of the low-latency flow (TLV 24.40.1).
    pub low_latency_aqm: bool,
    /// Estimated delay in us from which all packets of the low-latency flow are marked (MAXTH,
    /// annex N: 1000; TLV 24.40.4). The ramp below it never begins before the time that 4000 bytes
    /// take. At low rates, by default below 67 Mbps, this moves the whole ramp up.
    #[schemars(range(min = 0.0, max = 65_535.0))]
    pub low_latency_max_us: f64,
    /// Length of the ramp, on which the likelihood of a mark rises from 0 to 1: 2^x ns, where x is
    /// this exponent (annex N: 19, 524 us; TLV 24.40.5).
    #[schemars(range(min = 0, max = 25))]
    pub low_latency_range_exponent: u8,
    /// How the delay of the low-latency flow is estimated. Default: `virtual_queue` behind a modem's
    /// request and grant, otherwise `coupled_l` (annex O).
    pub estimator: Option<Estimator>,
    /// Enables Queue Protection (RFC 9957; TLV 70.42.7): packets of flows that build a queue move
    /// to the classic flow.
    pub queue_protection: bool,
    /// Rule by which Queue Protection moves packets to the classic flow. Default: `rfc9957`.
    pub protection_rule: ProtectionRule,
    /// Estimated delay in us above which Queue Protection moves packets (CRITICALqL, TLV 70.42.8).
    /// Default: the delay from which all packets are marked (docsis-ns3). RFC 9957 §4.1 takes
    /// `low_latency_max_us`, which is less at rates below about 67 Mbps.
    #[schemars(range(min = 0.0, max = 65_535.0))]
    pub critical_delay_us: Option<f64>,
    /// Greatest score of a flow in us that is allowed at that delay (CRITICALqLSCORE, RFC 9957 §4.1:
    /// 4000; TLV 70.42.9).
    #[schemars(range(min = 0.0, max = 65_535.0))]
    pub critical_score_us: f64,
    /// Scores fall at 2^x B/s, where x is this exponent (LG_AGING, RFC 9957 §4.1: 19; TLV 70.42.10).
    #[schemars(range(min = 0, max = 30))]
    pub aging_exponent: u8,
    /// Bytes that the low-latency flow may hold. Default: 10 ms at the sustained rate, and at least 20
    /// packets of 2000 bytes (docsis-ns3).
    #[schemars(range(min = 4000, max = 4_000_000_000_u64))]
    pub low_latency_buffer_bytes: Option<u64>,
    /// Bytes that the classic flow may hold. Default: 100 ms at the sustained rate (MULPI §C.1.2.17),
    /// and at least one packet.
    #[schemars(range(min = 2000, max = 4_000_000_000_u64))]
    pub classic_buffer_bytes: Option<u64>,
    /// Edges in ms, ascending, of the bins in which arriving packets are counted by estimated queue
    /// latency: the result `latency_histogram` (TLV 24.40.6). Default: no counts.
    #[schemars(length(max = 15), inner(range(min = 0.0, max = 655.35)))]
    pub latency_histogram_ms: Vec<f64>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            dscp: vec![46, 45],
            weight: 230,
            low_latency_mbps: None,
            classic_mbps: None,
            coupled: true,
            coupling: 2.0,
            classic_aqm: true,
            classic_target_ms: 10.0,
            rate_estimate: RateEstimate::default(),
            low_latency_aqm: true,
            low_latency_max_us: 1000.0,
            low_latency_range_exponent: 19,
            estimator: None,
            queue_protection: true,
            protection_rule: ProtectionRule::default(),
            critical_delay_us: None,
            critical_score_us: 4000.0,
            aging_exponent: 19,
            low_latency_buffer_bytes: None,
            classic_buffer_bytes: None,
            latency_histogram_ms: Vec::new(),
        }
    }
}

/// Bytes that both flows may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buffers {
    /// The low-latency flow.
    pub low: u64,
    /// The classic flow.
    pub classic: u64,
}

impl Parameters {
    /// Share of L.
    pub fn low_latency_weight(&self) -> f64 {
        f64::from(self.weight) / 256.0
    }

    /// The rate of the aggregate bounds those of its members.
    pub(super) fn check_member_rates(&self, rate: BitRate) -> Result<(), Fault> {
        let keys = ["low_latency_mbps", "classic_mbps"];
        for (key, own) in keys.into_iter().zip(self.member_rates()) {
            if let Some(own) = own.filter(|own| *own > rate) {
                let [own, most] = [own, rate].map(|rate| rate.bps() as f64 / 1e6);
                let message =
                    format!("found {own}; allowed: {most} or less, the rate of the aggregate");
                return Err(Fault::new(key, message));
            }
        }
        Ok(())
    }

    /// Own maximum sustained rates of L and C, where they have one.
    pub fn member_rates(&self) -> [Option<BitRate>; 2] {
        [self.low_latency_mbps, self.classic_mbps].map(|mbps| mbps.map(BitRate::from_mbps))
    }

    /// One bit for each code point of L.
    pub(super) fn code_points(&self) -> u64 {
        self.dscp.iter().fold(0, |bits, dscp| bits | 1 << (dscp & 63))
    }

    /// The estimator; `requests` where packets wait for request and grant.
    pub(super) fn estimate(&self, requests: bool) -> DelayEstimate {
        let default = if requests { Estimator::VirtualQueue } else { Estimator::CoupledL };
        match self.estimator.unwrap_or(default) {
            Estimator::CoupledL => DelayEstimate::Backlog,
            Estimator::VirtualQueue => DelayEstimate::Virtual(VirtualQueue::default()),
        }
    }

    pub(super) fn protection(&self) -> Option<QueueProtection> {
        let us = |us: f64| Time::from_secs_f64(us / 1e6);
        self.queue_protection.then(|| {
            QueueProtection::new(Thresholds {
                critical_delay: us(self.critical_delay_us.unwrap_or(self.low_latency_max_us)),
                critical_score: us(self.critical_score_us),
                lg_aging: self.aging_exponent.into(),
                cap_sanctions: self.protection_rule == ProtectionRule::Rfc9957,
            })
        })
    }

    /// Bytes that both members hold at most, at this rate of the aggregate.
    pub fn most_bytes(&self, rate: BitRate) -> u64 {
        let Buffers { low, classic } = self.buffers(rate);
        low + classic
    }

    /// The least delay from which all packets of L are marked, in us, at this rate of the aggregate; `None` where that of
    /// the parameters, or of their defaults, is greater.
    pub fn least_max_us(&self, rate: BitRate) -> Option<f64> {
        let [own, _] = self.member_rates();
        let low = own.map_or(rate, |own| own.min(rate));
        let lg_range = self.low_latency_range_exponent.into();
        let least_us = immediate::ramp(Time::ZERO, lg_range, low).max.secs_f64() * 1e6;
        let (max_us, usual_us) = (self.low_latency_max_us, Self::default().low_latency_max_us);
        Some(least_us).filter(|least| max_us != usual_us && max_us.max(usual_us) <= *least)
    }

    pub(super) fn aqm_of_classic(&self) -> Option<DocsisPie> {
        let target_ms = self.classic_target_ms;
        let spec = docsis_pie::Parameters { target_ms, ..docsis_pie::Parameters::default() };
        self.classic_aqm.then(|| DocsisPie::new(&spec))
    }

    /// Buffers at this rate of the aggregate.
    pub(super) fn buffers(&self, rate: BitRate) -> Buffers {
        let bytes_in = |ms| rate.bytes_in(Time::from_ms(ms)) as u64;
        let low = self.low_latency_buffer_bytes.unwrap_or_else(|| bytes_in(10).max(20 * 2000));
        let classic = self.classic_buffer_bytes.unwrap_or_else(|| bytes_in(100).max(2000));
        Buffers { low, classic }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_of_a_rate() {
        // 50 Mb/s: 10 ms are 62 500 B, 100 ms 625 000 B. 5 Mb/s: 6250 B are less than 20 * 2000.
        let of = |mbps| Parameters::default().buffers(BitRate::from_mbps(mbps));
        assert_eq!(of(50.0), Buffers { low: 62_500, classic: 625_000 });
        assert_eq!(of(5.0), Buffers { low: 40_000, classic: 62_500 });
        assert_eq!(of(0.1), Buffers { low: 40_000, classic: 2000 });
    }

    #[test]
    fn ef_and_nqb_are_low_latency() {
        assert_eq!(Parameters::default().code_points(), 1 << 46 | 1 << 45);
    }
}
