//! FQ-PIE of Linux (7.2 `sch_fq_pie`), by one name: [`super::fq`] with variant `linux`, and
//! [`crate::aqm::pie_linux`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Scheduler, SchedulerParameters, Setting, fq, no_law};
use crate::aqm::{AqmSpec, pie_linux};
use sojourn_input::problem::Faults;

/// Parameters of FQ-PIE. Others are those of `fq` with `pie_linux`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "FqPie")]
pub struct Parameters {
    /// Number of queues that flows are hashed to (tc-fq_pie(8): 1024).
    #[schemars(range(min = 1, max = 65_536))]
    pub queues: u32,
    /// Bytes that a queue may send in a round.
    #[schemars(range(min = 64, max = 65_535))]
    pub quantum_bytes: u32,
    /// Target queue delay in ms.
    #[schemars(range(min = 0.01, max = 10_000.0), extend("x-live" = true))]
    pub target_ms: f64,
    /// Time between updates in ms.
    #[schemars(range(min = 0.1, max = 10_000.0))]
    pub update_ms: f64,
    /// Drop probability above which packets are dropped even if they could be marked (`ecn_prob`).
    #[schemars(range(min = 0.0, max = 1.0), extend("x-live" = true))]
    pub max_mark_probability: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            queues: 1024,
            quantum_bytes: 1514,
            target_ms: 15.0,
            update_ms: 15.0,
            max_mark_probability: 0.1,
        }
    }
}

impl Parameters {
    fn law(&self) -> AqmSpec {
        let Self { target_ms, update_ms, max_mark_probability, .. } = *self;
        let usual = pie_linux::Parameters::default();
        AqmSpec::PieLinux(pie_linux::Parameters {
            target_ms,
            update_ms,
            max_mark_probability,
            ..usual
        })
    }
}

impl SchedulerParameters for Parameters {
    fn start(&self, setting: &Setting) -> Scheduler {
        let (law, variant) = (self.law(), fq::Variant::Linux);
        let flows =
            fq::Parameters { queues: self.queues, quantum_bytes: self.quantum_bytes, variant };
        flows.start(&Setting { law: &law, ..*setting })
    }

    fn own_law(&self) -> Option<AqmSpec> {
        Some(self.law())
    }

    fn check(&self, law: &AqmSpec, _largest: u64) -> Faults {
        Faults::from(no_law("fq_pie", law))
    }

    fn bins(&self) -> (u32, u32) {
        (self.queues, self.queues)
    }
}
