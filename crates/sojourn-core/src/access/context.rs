//! Whose a service flow is: what names its queues and random streams, and which rules it follows.

use super::Site;
use crate::dialect::Dialect;
use crate::queue::{Queue, QueueSpec};

/// What a service flow is made for: whose it is, and which rules it follows.
#[derive(Clone, Copy, Debug)]
pub struct ServiceFlowContext<'a> {
    /// Rules that it follows.
    pub dialect: Dialect,
    /// Seed of the run.
    pub seed: u64,
    /// What the names of its queues and random streams begin with, empty for the first home.
    pub home: &'a str,
    /// Name of the flow, empty for the primary one.
    pub flow: &'a str,
    /// Are its queues measured? Else they take no memory for it.
    pub is_watched: bool,
    /// Names of the traffic entries, by the number that packets carry.
    pub traffic: &'a [&'a str],
    /// Of each queue, so many connections are watched one by one.
    pub watch_flows: usize,
}

impl<'a> ServiceFlowContext<'a> {
    /// A flow of a home of this name.
    pub fn new(site: &'a Site, home: &'a str, flow: &'a str, is_watched: bool) -> Self {
        let Site { dialect, seed, watch_flows, .. } = *site;
        Self { dialect, seed, home, flow, is_watched, traffic: &site.traffic, watch_flows }
    }

    /// The primary flow of the only home.
    pub fn lone(dialect: Dialect, seed: u64) -> Self {
        Self { dialect, seed, home: "", flow: "", is_watched: true, traffic: &[], watch_flows: 0 }
    }

    /// The name of a part of it, such as `upstream`, `upstream voice` or `neighbours 2 upstream`.
    pub fn name(&self, part: &str) -> String {
        let words = [self.home, part, self.flow];
        let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
        words.join(" ")
    }

    /// An empty queue in it, which knows the traffic by name.
    pub fn queue(&self, part: &str, spec: &QueueSpec, default_bytes: u64) -> Queue {
        let mut queue = self.plain_queue(part, spec, default_bytes);
        queue.name_traffic(self.traffic, if self.is_watched { self.watch_flows } else { 0 });
        queue
    }

    /// An empty queue in it for which all traffic is alike.
    pub fn plain_queue(&self, part: &str, spec: &QueueSpec, default_bytes: u64) -> Queue {
        let queue = Queue::new(spec, default_bytes, self.dialect, &self.name(part), self.seed);
        if self.is_watched { queue } else { queue.unwatched() }
    }
}
