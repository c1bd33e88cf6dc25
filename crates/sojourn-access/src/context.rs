//! What a service flow is built from: names for its queues and random streams, and the dialect it
//! follows.

use super::Site;
use super::docsis::timing::PlantTiming;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::queue::{Queue, QueueSpec};

/// What a service flow is built from.
#[derive(Clone, Copy, Debug)]
pub struct ServiceFlowContext<'a> {
    /// The dialect it follows.
    pub dialect: Dialect,
    /// Seed of the run.
    pub seed: u64,
    /// Prefix of the names of its queues and random streams; empty for the first home.
    pub home: &'a str,
    /// Name of the flow, empty for the primary one.
    pub flow: &'a str,
    /// Are its queues measured? Unmeasured queues take no memory for it.
    pub is_watched: bool,
    /// Names of the traffic entries, by the number that packets carry.
    pub traffic: &'a [&'a str],
    /// How many connections each queue watches one by one.
    pub watch_flows: usize,
    /// The timing of its request-grant loop, if it has one.
    pub timing: PlantTiming<'a>,
}

impl<'a> ServiceFlowContext<'a> {
    /// A service flow of a home with this name prefix.
    pub fn new(site: &'a Site, home: &'a str, flow: &'a str, is_watched: bool) -> Self {
        let Site { dialect, seed, watch_flows, .. } = *site;
        let traffic = &site.traffic;
        let timing = PlantTiming::DOCUMENTS;
        Self { dialect, seed, home, flow, is_watched, traffic, watch_flows, timing }
    }

    /// The primary flow of the only home.
    pub fn lone(dialect: Dialect, seed: u64) -> Self {
        let timing = PlantTiming::DOCUMENTS;
        let (home, flow, traffic) = ("", "", &[]);
        Self { dialect, seed, home, flow, is_watched: true, traffic, watch_flows: 0, timing }
    }

    /// The name of a part of it, such as `upstream`, `upstream voice` or `neighbours 2 upstream`.
    pub fn name(&self, part: &str) -> String {
        let words = [self.home, part, self.flow];
        let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
        words.join(" ")
    }

    /// An empty queue of this flow that knows the traffic entries by name.
    pub fn queue(&self, part: &str, spec: &QueueSpec, default_bytes: u64) -> Queue {
        let mut queue = self.plain_queue(part, spec, default_bytes);
        queue.name_traffic(self.traffic, if self.is_watched { self.watch_flows } else { 0 });
        queue
    }

    /// An empty queue of this flow that does not distinguish traffic entries.
    pub fn plain_queue(&self, part: &str, spec: &QueueSpec, default_bytes: u64) -> Queue {
        let queue = Queue::new(spec, default_bytes, self.dialect, &self.name(part), self.seed);
        if self.is_watched { queue } else { queue.unwatched() }
    }
}
