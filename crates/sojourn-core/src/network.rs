//! stub while the engine is being written
use crate::metrics::results::{PacketRecord, Results};
use crate::scenario::Scenario;
use crate::units::Time;

/// A run.
pub struct Simulation {}

impl Simulation {
    /// A run of this scenario at time zero.
    pub fn new(_scenario: &Scenario) -> Self {
        todo!()
    }
    /// Handles up to `events` wake-ups; says whether the run goes on.
    pub fn advance(&mut self, _events: u64) -> bool {
        todo!()
    }
    /// Simulated time reached.
    pub fn now(&self) -> Time {
        todo!()
    }
    /// The packet trace so far, taken out so that memory stays bounded.
    pub fn drain_trace(&mut self) -> Vec<PacketRecord> {
        todo!()
    }
    /// The results.
    pub fn finish(self) -> Results {
        todo!()
    }
}
