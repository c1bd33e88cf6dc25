//! Stochastic fair queueing as Linux has it (7.2, `sch_sfq`).
//!
//! A bin that has just become busy joins the end of the round. A full queue takes the arrival, then drops from the bin
//! with most packets; of several, from the one that changed last. Waiting packets move when hashes change.
//!
//! Left out: RED in its bins, for which there is the queue's law; and its limit of flows at a time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aqm_bins::AqmBins;
use super::bins::Measure;
use super::sfq::check_quantum;
use super::{Scheduler, SchedulerParameters, Setting, Sfq};
use crate::aqm::AqmSpec;
use sojourn_input::problem::Faults;

/// Parameters of Linux' stochastic fair queueing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "SfqLinux")]
pub struct Parameters {
    /// Number of bins that flows are hashed to (tc-sfq(8), `divisor`: 1024).
    #[schemars(range(min = 1, max = 65_536))]
    pub bins: u32,
    /// Bytes that a bin may send in a round (tc-sfq(8), `quantum`: the MTU). 0 means one packet a round. Other values
    /// must be at least 64, the smallest frame.
    #[schemars(range(min = 0, max = 65_535))]
    pub quantum_bytes: u32,
    /// Time after which flows and their waiting packets are hashed to other bins, in s (tc-sfq(8), `perturb`); 0 for
    /// never.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub perturb_s: f64,
    /// Packets that a bin may hold (tc-sfq(8), `depth`: 127).
    #[schemars(range(min = 1, max = 10_000_000))]
    pub flow_limit_packets: u64,
    /// Drop from the head of a bin, not from its tail (tc-sfq(8), `headdrop`).
    pub head_drop: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            bins: 1024,
            quantum_bytes: 1514,
            perturb_s: 0.0,
            flow_limit_packets: 127,
            head_drop: false,
        }
    }
}

impl SchedulerParameters for Parameters {
    fn bins(&self) -> (u32, u32) {
        (self.bins, self.bins)
    }

    fn start(&self, setting: &Setting) -> Scheduler {
        let aqm_bins = AqmBins::new(self.bins as usize, Measure::PacketsThenLast, setting);
        let sfq = Sfq::new(aqm_bins, self.quantum_bytes, self.perturb_s);
        sfq.of_linux(self.flow_limit_packets, self.head_drop).into()
    }

    fn check(&self, _law: &AqmSpec, _largest: u64) -> Faults {
        check_quantum(self.quantum_bytes).into()
    }
}
