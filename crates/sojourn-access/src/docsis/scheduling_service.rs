//! Scheduling services of upstream service flows: what the CMTS grants without being asked, and how
//! a modem may ask (DOCSIS 3.1 MULPI §7.2.3, parameters §C.2.2.8).
//!
//! Left out: the queue indicator of UGS with the extra grants that it brings, dropping of packets
//! that do not fit into an unsolicited grant (they are sent in several), and the rules on
//! concatenation and fragmentation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_input::defaults::{number, yes};

use super::proactive_grants::ProactiveGrants;
use super::regularity::{Grid, Regularity};
use sojourn_engine::aqm::ProactiveRate;
use sojourn_engine::units::Time;
use sojourn_input::problem::Fault;

/// Unused grants after which the CMTS stops them, unless a scenario says otherwise. MULPI leaves
/// the detection to the CMTS.
const IDLE_GRANTS: u32 = 10;

/// The scheduling service of an upstream service flow, chosen by `kind`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SchedulingService {
    /// Best effort: the modem requests in contention and with its grants.
    #[default]
    BestEffort,
    /// Unsolicited grants (UGS): the CMTS gives a grant of a fixed size at fixed intervals, whether
    /// it is used or not. The modem never requests, and the flow's rates do not limit the grants.
    Ugs {
        /// Bytes of a grant, as the channel counts them: on a shared channel with the packet's MAC
        /// header (`upstream_channel.packet_overhead_bytes`).
        #[schemars(range(min = 1, max = 65_535))]
        unsolicited_grant_bytes: u32,
        /// Time between grants in us.
        #[schemars(range(min = 100, max = 10_000_000))]
        nominal_grant_interval_us: u32,
        /// Greatest delay of a grant after its nominal time, in us. The CMTS draws the delays at
        /// random, those of the same interval in their order.
        #[serde(default)]
        #[schemars(range(min = 0, max = 10_000_000))]
        tolerated_grant_jitter_us: u32,
        /// Grants in each interval.
        #[serde(default = "number::<u32, 1>")]
        #[schemars(range(min = 1, max = 127))]
        grants_per_interval: u32,
    },
    /// Unsolicited grants with activity detection (UGS-AD): when grants stay unused, the CMTS stops
    /// them and polls instead. After the first request, which gets an ordinary grant, the
    /// unsolicited grants resume.
    UgsWithActivityDetection {
        /// Bytes of a grant, as the channel counts them: on a shared channel with the packet's MAC
        /// header (`upstream_channel.packet_overhead_bytes`).
        #[schemars(range(min = 1, max = 65_535))]
        unsolicited_grant_bytes: u32,
        /// Time between grants in us.
        #[schemars(range(min = 100, max = 10_000_000))]
        nominal_grant_interval_us: u32,
        /// Greatest delay of a grant after its nominal time, in us. The CMTS draws the delays at
        /// random, those of the same interval in their order.
        #[serde(default)]
        #[schemars(range(min = 0, max = 10_000_000))]
        tolerated_grant_jitter_us: u32,
        /// Grants in each interval.
        #[serde(default = "number::<u32, 1>")]
        #[schemars(range(min = 1, max = 127))]
        grants_per_interval: u32,
        /// Time between polls in us. Default: `nominal_grant_interval_us`.
        #[serde(default)]
        #[schemars(range(min = 100, max = 10_000_000))]
        nominal_polling_interval_us: Option<u32>,
        /// Greatest delay of a poll after its nominal time, in us.
        #[serde(default)]
        #[schemars(range(min = 0, max = 10_000_000))]
        tolerated_poll_jitter_us: u32,
        /// Unused grants in a row after which the CMTS polls. MULPI leaves this to the CMTS.
        #[serde(default = "number::<u32, IDLE_GRANTS>")]
        #[schemars(range(min = 1, max = 1_000_000))]
        idle_grants: u32,
    },
    /// Real-time polling (rtPS): the modem may request at fixed intervals, without contention.
    RealTimePolling {
        /// Time between polls in us.
        #[schemars(range(min = 100, max = 10_000_000))]
        nominal_polling_interval_us: u32,
        /// Greatest delay of a poll after its nominal time, in us.
        #[serde(default)]
        #[schemars(range(min = 0, max = 10_000_000))]
        tolerated_poll_jitter_us: u32,
        /// Whether the modem also requests with its grants (bit 4 of the request policy).
        #[serde(default = "yes")]
        piggyback: bool,
    },
    /// Proactive grants (PGS) for the low-latency flow of `queue.scheduler.kind = "low_latency"`: a
    /// guaranteed rate in short intervals, in addition to the grants that both flows request.
    ProactiveGrants(ProactiveGrants),
    /// Non-real-time polling (nrtPS): polls at longer intervals, and requests in contention.
    NonRealTimePolling {
        /// Time between polls in us (MULPI: of the order of a second).
        #[schemars(range(min = 100, max = 10_000_000))]
        nominal_polling_interval_us: u32,
        /// Greatest delay of a poll after its nominal time, in us.
        #[serde(default)]
        #[schemars(range(min = 0, max = 10_000_000))]
        tolerated_poll_jitter_us: u32,
        /// Whether the modem also requests with its grants (bit 4 of the request policy).
        #[serde(default = "yes")]
        piggyback: bool,
    },
}

/// How a flow may request beside polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestPolicy {
    /// In contention; on a channel of its own, whenever it has no grant.
    pub contention: bool,
    /// With its grants.
    pub piggyback: bool,
}

impl SchedulingService {
    /// Is it best effort, with nothing unsolicited?
    pub fn is_best_effort(&self) -> bool {
        *self == Self::BestEffort
    }

    /// Proactive grants, if these are its service.
    pub fn proactive(&self) -> Option<&ProactiveGrants> {
        match self {
            Self::ProactiveGrants(keys) => Some(keys),
            _ => None,
        }
    }

    /// What a low-latency flow is granted unasked on this grid.
    pub fn proactive_rate(&self, grid: &Grid) -> Option<ProactiveRate> {
        self.proactive().map(|keys| keys.rate(grid))
    }

    /// Bytes of an unsolicited grant and when there is one.
    pub fn grants(&self) -> Option<(u64, Regularity)> {
        match *self {
            Self::Ugs {
                unsolicited_grant_bytes: bytes,
                nominal_grant_interval_us: interval_us,
                tolerated_grant_jitter_us: jitter_us,
                grants_per_interval,
            }
            | Self::UgsWithActivityDetection {
                unsolicited_grant_bytes: bytes,
                nominal_grant_interval_us: interval_us,
                tolerated_grant_jitter_us: jitter_us,
                grants_per_interval,
                ..
            } => {
                let times = Regularity::of_us(interval_us, jitter_us, grants_per_interval);
                Some((bytes.into(), times))
            }
            Self::BestEffort
            | Self::ProactiveGrants(_)
            | Self::RealTimePolling { .. }
            | Self::NonRealTimePolling { .. } => None,
        }
    }

    /// When there is a poll.
    pub fn polls(&self) -> Option<Regularity> {
        let (interval_us, jitter_us) = match *self {
            Self::BestEffort | Self::Ugs { .. } | Self::ProactiveGrants(_) => return None,
            Self::UgsWithActivityDetection {
                nominal_grant_interval_us,
                nominal_polling_interval_us,
                tolerated_poll_jitter_us,
                ..
            } => (
                nominal_polling_interval_us.unwrap_or(nominal_grant_interval_us),
                tolerated_poll_jitter_us,
            ),
            Self::RealTimePolling {
                nominal_polling_interval_us, tolerated_poll_jitter_us, ..
            }
            | Self::NonRealTimePolling {
                nominal_polling_interval_us,
                tolerated_poll_jitter_us,
                ..
            } => (nominal_polling_interval_us, tolerated_poll_jitter_us),
        };
        Some(Regularity::of_us(interval_us, jitter_us, 1))
    }

    /// Unused grants after which the CMTS polls, if it detects activity.
    pub fn idle_grants(&self) -> Option<u32> {
        match *self {
            Self::UgsWithActivityDetection { idle_grants, .. } => Some(idle_grants),
            Self::ProactiveGrants(ref keys) => Some(keys.idle_grants),
            _ => None,
        }
    }

    /// How the flow may request beside polls (MULPI §7.2.3: UGS and polling services must not use
    /// contention, nrtPS may).
    pub fn policy(&self) -> RequestPolicy {
        let (contention, piggyback) = match *self {
            Self::BestEffort | Self::ProactiveGrants(_) => (true, true),
            Self::Ugs { .. } | Self::UgsWithActivityDetection { .. } => (false, false),
            Self::RealTimePolling { piggyback, .. } => (false, piggyback),
            Self::NonRealTimePolling { piggyback, .. } => (true, piggyback),
        };
        RequestPolicy { contention, piggyback }
    }

    /// Do rates limit the flow? Unsolicited grants set their own (MULPI §C.2.2.7: rates do not
    /// apply to UGS).
    pub fn is_shaped(&self) -> bool {
        !matches!(self, Self::Ugs { .. } | Self::UgsWithActivityDetection { .. })
    }

    /// The rate of the unsolicited grants in Mbps.
    pub fn grants_mbps(&self) -> f64 {
        self.grants().map_or(0.0, |(bytes, Regularity { interval, per_interval, .. })| {
            let bits = (8 * bytes * u64::from(per_interval)) as f64;
            bits / (interval.ps() / 1_000_000) as f64 // per us, which are Mbps
        })
    }

    /// Tolerated jitter must stay within the interval. `terms` are the flow's sustained and minimum
    /// reserved rate in Mbps and its priority.
    pub(crate) fn check(&self, terms: (f64, f64, u8)) -> Result<(), Fault> {
        let grants = self.grants().map(|(_, times)| times);
        let pairs = [
            ("tolerated_grant_jitter_us", grants, "nominal_grant_interval_us"),
            ("tolerated_poll_jitter_us", self.polls(), "nominal_polling_interval_us"),
        ];
        for (key, times, interval) in pairs {
            let Some(Regularity { interval: most, jitter, .. }) = times else { continue };
            if jitter > most {
                let us = |time: Time| time.ps() / 1_000_000;
                let message =
                    format!("found {}; allowed: {} or less, the {interval}", us(jitter), us(most));
                return Err(Fault::new(key, message).under("scheduling"));
            }
        }
        match self {
            Self::ProactiveGrants(keys) => keys.check(terms.0),
            _ if self.is_shaped() => Ok(()),
            _ => self.check_terms(terms),
        }
    }

    /// Unsolicited grants are a rate of their own, neither reserved otherwise nor in a turn.
    fn check_terms(
        &self,
        (sustained_mbps, minimum_mbps, priority): (f64, f64, u8),
    ) -> Result<(), Fault> {
        let least = self.grants_mbps();
        if sustained_mbps < least {
            return Err(Fault::found(
                "sustained_mbps",
                sustained_mbps,
                format!("{least} or more, the rate of the unsolicited grants"),
            ));
        }
        let found = [
            ("minimum_mbps", minimum_mbps, minimum_mbps > 0.0),
            ("priority", f64::from(priority), priority > 0),
        ];
        match found.into_iter().find(|(.., is_set)| *is_set) {
            None => Ok(()),
            Some((key, value, _)) => {
                let message =
                    format!("found {value}; remove it: unsolicited grants come before all others");
                Err(Fault::new(key, message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(keys: &str) -> SchedulingService {
        toml::from_str(keys).unwrap()
    }

    const UGS: &str =
        "kind = 'ugs'\nunsolicited_grant_bytes = 228\nnominal_grant_interval_us = 10_000\n";

    /// MULPI §7.2.3: who gets grants, who is polled, and who may request how.
    #[test]
    fn services_differ_in_grants_polls_and_requests() {
        let of_us = Regularity::of_us;
        let detecting = UGS.replace("'ugs'", "'ugs_with_activity_detection'");
        for (keys, grants, polls, idle, (contention, piggyback), is_shaped) in [
            ("kind = 'best_effort'", None, None, None, (true, true), true),
            (UGS, Some(of_us(10_000, 0, 1)), None, None, (false, false), false),
            (
                &format!("{UGS}tolerated_grant_jitter_us = 500\ngrants_per_interval = 2"),
                Some(of_us(10_000, 500, 2)),
                None,
                None,
                (false, false),
                false,
            ),
            (
                &detecting,
                Some(of_us(10_000, 0, 1)),
                Some(of_us(10_000, 0, 1)),
                Some(10),
                (false, false),
                false,
            ),
            (
                &format!(
                    "{detecting}nominal_polling_interval_us = 500\ntolerated_poll_jitter_us = 7\nidle_grants = 3"
                ),
                Some(of_us(10_000, 0, 1)),
                Some(of_us(500, 7, 1)),
                Some(3),
                (false, false),
                false,
            ),
            (
                "kind = 'real_time_polling'\nnominal_polling_interval_us = 500",
                None,
                Some(of_us(500, 0, 1)),
                None,
                (false, true),
                true,
            ),
            (
                "kind = 'real_time_polling'\nnominal_polling_interval_us = 500\npiggyback = false",
                None,
                Some(of_us(500, 0, 1)),
                None,
                (false, false),
                true,
            ),
            (
                "kind = 'non_real_time_polling'\nnominal_polling_interval_us = 500",
                None,
                Some(of_us(500, 0, 1)),
                None,
                (true, true),
                true,
            ),
            (
                "kind = 'proactive_grants'\nguaranteed_grant_rate_mbps = 4",
                None,
                None,
                Some(100),
                (true, true),
                true,
            ),
        ] {
            let service = service(keys);
            assert_eq!(service.grants(), grants.map(|times| (228, times)), "{keys}");
            assert_eq!((service.polls(), service.idle_grants()), (polls, idle), "{keys}");
            let policy = service.policy();
            assert_eq!((policy.contention, policy.piggyback), (contention, piggyback), "{keys}");
            assert_eq!(service.is_shaped(), is_shaped);
            assert_eq!(service.is_best_effort(), keys.contains("best_effort"));
        }
        // 2 * 228 B in 10 ms.
        assert!(
            (service(&format!("{UGS}grants_per_interval = 2")).grants_mbps() - 0.3648).abs()
                < 1e-12
        );
        assert_eq!(service("kind = 'best_effort'").grants_mbps(), 0.0);
    }

    /// 228 B in 10 ms are 0.1824 Mbps.
    #[test]
    fn what_a_service_contradicts_is_refused() {
        let polling = "kind = 'real_time_polling'\nnominal_polling_interval_us = 500\ntolerated_poll_jitter_us = 501";
        let proactive = "kind = 'proactive_grants'\nguaranteed_grant_rate_mbps = 4";
        for (keys, terms, want) in [
            (UGS, (0.1824, 0.0, 0), None),
            (
                UGS,
                (0.1823, 0.0, 0),
                Some(("sustained_mbps", "found 0.1823; allowed: 0.1824 or more")),
            ),
            (UGS, (1.0, 0.5, 0), Some(("minimum_mbps", "found 0.5; remove it"))),
            (UGS, (1.0, 0.0, 1), Some(("priority", "found 1; remove it"))),
            (&format!("{UGS}tolerated_grant_jitter_us = 10_000"), (1.0, 0.0, 0), None),
            (
                &format!("{UGS}tolerated_grant_jitter_us = 10_001"),
                (1.0, 0.0, 0),
                Some((
                    "scheduling.tolerated_grant_jitter_us",
                    "found 10001; allowed: 10000 or less",
                )),
            ),
            (
                polling,
                (1.0, 0.0, 0),
                Some(("scheduling.tolerated_poll_jitter_us", "found 501; allowed: 500 or less")),
            ),
            (proactive, (4.0, 1.0, 1), None),
            (
                proactive,
                (3.9, 0.0, 0),
                Some(("scheduling.guaranteed_grant_rate_mbps", "found 4; allowed: 3.9 or less")),
            ),
            ("kind = 'best_effort'", (0.001, 0.5, 7), None),
        ] {
            let fault = service(keys).check(terms).err();
            assert_eq!(fault.is_some(), want.is_some(), "{keys} {terms:?}");
            let Some((fault, (path, message))) = fault.zip(want) else { continue };
            assert_eq!(fault.path, path);
            assert!(fault.message.starts_with(message), "{}", fault.message);
        }
    }
}
