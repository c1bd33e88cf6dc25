//! Self-clocked fair queueing (Golestani 1994): virtual time is the tag of the packet in service. So nothing of a fluid
//! system is computed, and the link's rate does not matter.
//!
//! A packet is in service from when it leaves the queue until the next one does. A packet that comes to an empty queue
//! sets virtual time back to zero (Golestani 1994: at the end of a busy period). If the link still sends the packet before
//! it, that changes no order: no tag is later than that of the packet in service, so all flows start from it alike.
//!
//! Left out: minimum reserved rates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finish_tags::{Clock, FinishTags};
use super::weights::Weights;
use super::{Scheduler, SchedulerParameters, Setting};

/// Parameters of self-clocked fair queueing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Scfq")]
pub struct Parameters {
    /// Packets that a flow may have waiting. Default: no limit per flow; the queue's limit holds for
    /// all flows together.
    #[schemars(range(min = 2, max = 10_000_000))]
    pub flow_limit_packets: Option<u64>,
    /// Weights of flows, by name of the traffic entry (the service shares of Golestani 1994).
    /// Default: 1 for each entry.
    pub weights: Weights,
}

impl SchedulerParameters for Parameters {
    fn start(&self, setting: &Setting) -> Scheduler {
        Scfq::new(&self.weights, self.flow_limit_packets, setting).into()
    }

    fn weights(&self) -> Option<&Weights> {
        Some(&self.weights)
    }
}

/// Self-clocked fair queueing.
pub type Scfq = FinishTags<InService>;

/// The tag of the packet in service.
#[derive(Default)]
pub struct InService(f64);

impl Clock for InService {
    #[inline]
    fn time(&self) -> f64 {
        self.0
    }

    /// A drop may have brought a tag forward to before that of the packet in service; time does not go back.
    #[inline]
    fn sends(&mut self, tag: f64) {
        self.0 = self.0.max(tag);
    }

    fn restarts(&mut self) -> bool {
        self.0 = 0.0;
        true
    }
}
