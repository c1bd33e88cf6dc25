//! A home on the cable: its modem's upstream service flows, and its downstream ones at the CMTS.
//!
//! In the models of the studies each service flow has its own queue, token buckets and requests, and
//! the channel to itself: flows of a modem do not compete. Downstream they do where the scenario has a
//! CMTS, whose channel ([`super::Cmts`]) comes behind what is here.

use super::{Downstream, Upstream};
use crate::metrics::Count;
use crate::queue::{Queue, QueueSpec};
use crate::scenario::Dialect;
use crate::scenario::homes::{Group, ServiceFlow};
use crate::units::Time;
use indexmap::IndexMap;

/// What a service flow is made for.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
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
}

impl Place<'_> {
    /// The primary flow of the only home.
    pub fn lone(dialect: Dialect, seed: u64) -> Self {
        Self { dialect, seed, home: "", flow: "", is_watched: true }
    }

    /// The name of a part of it, such as `upstream`, `upstream voice` or `neighbours 2 upstream`.
    pub fn name(&self, part: &str) -> String {
        let words = [self.home, part, self.flow];
        let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
        words.join(" ")
    }

    /// An empty queue in it.
    pub fn queue(&self, part: &str, spec: &QueueSpec, default_bytes: u64) -> Queue {
        let queue = Queue::new(spec, default_bytes, self.dialect, &self.name(part), self.seed);
        if self.is_watched { queue } else { queue.unwatched() }
    }
}

/// A home's service flows, the primary one first each way.
pub struct Subscriber {
    /// From its modem.
    pub upstream: Vec<Upstream>,
    /// At the CMTS.
    pub downstream: Vec<Downstream>,
    is_watched: bool,
}

impl Subscriber {
    /// The `number`th home of a group, from 1. The first of each group is watched. `is_first` says
    /// that no other home precedes it in the network, `shares_channel` that all homes share the
    /// downstream channel.
    pub fn new(
        group: &Group,
        number: u16,
        is_first: bool,
        shares_channel: bool,
        dialect: Dialect,
        seed: u64,
    ) -> Self {
        let is_watched = number == 1;
        let home = match (is_first, is_watched) {
            (true, _) => String::new(),
            (false, true) => group.name.to_owned(),
            (false, false) => format!("{} {number}", group.name),
        };
        let place = |flow| Place { dialect, seed, home: &home, flow, is_watched };
        let upstream = group.upstream.service_flows();
        let downstream = group.downstream.service_flows();
        Self {
            upstream: flow_names(&group.upstream.flows)
                .zip(&upstream)
                .map(|(flow, spec)| Upstream::new(spec, &place(flow)))
                .collect(),
            downstream: flow_names(&group.downstream.flows)
                .zip(&downstream)
                .map(|(flow, spec)| Downstream::new(spec, shares_channel, &place(flow)))
                .collect(),
            is_watched,
        }
    }

    /// Tells the names of the traffic entries, by the number that packets carry. Single flows are
    /// watched in a watched home alone.
    pub fn name_traffic(&mut self, names: &[&str], watch_flows: usize) {
        let watch_flows = if self.is_watched { watch_flows } else { 0 };
        self.upstream.iter_mut().for_each(|flow| flow.name_traffic(names, watch_flows));
        self.downstream.iter_mut().for_each(|flow| flow.name_traffic(names, watch_flows));
    }

    /// Packets and bytes that its flows hold.
    pub fn inside(&self) -> Count {
        let upstream = self.upstream.iter().map(Upstream::inside);
        upstream
            .chain(self.downstream.iter().map(Downstream::inside))
            .fold(Count::default(), Count::plus)
    }

    /// Its queues, if it is watched: the upstream ones first, and of a flow the one with the queue
    /// manager.
    pub fn watched_queues(&self) -> Vec<&Queue> {
        if !self.is_watched {
            return Vec::new();
        }
        let upstream = self.upstream.iter().flat_map(Upstream::queues);
        upstream.chain(self.downstream.iter().filter_map(Downstream::queue)).collect()
    }

    /// Samples its queues for their series, if it is watched.
    pub fn sample(&mut self, now: Time) {
        if self.is_watched {
            self.upstream.iter_mut().for_each(|flow| flow.sample(now));
            self.downstream.iter_mut().for_each(Downstream::sample);
        }
    }
}

/// Names of the flows of a table, an empty one for the primary flow first.
fn flow_names(flows: &IndexMap<String, ServiceFlow>) -> impl Iterator<Item = &str> {
    [""].into_iter().chain(flows.keys().map(String::as_str))
}
