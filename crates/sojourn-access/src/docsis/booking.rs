//! What unsolicited grants and polls take of the shared upstream channel: they come at fixed times, so
//! that a channel that cannot hold all of them would lose some for ever.

use super::framing::Framing;
use super::regularity::{Grid, Regularity};
use super::upstream_channel::UpstreamChannel;
use crate::service::{Upstream, flow_path};
use sojourn_input::problem::Fault;
use sojourn_input::words;

/// Mean minislots of a MAP interval that are booked.
pub struct Booking<'a> {
    spec: &'a UpstreamChannel,
    framing: Framing,
    /// Bytes that a packet takes on the channel in addition to its own.
    overhead: u64,
    grants: f64,
    polls: f64,
    /// The path of the flow that takes most.
    greatest: (f64, String),
}

impl<'a> Booking<'a> {
    /// An empty channel. `uncounted` are bytes of Ethernet that the byte count leaves out.
    pub fn new(spec: &'a UpstreamChannel, uncounted: u32) -> Self {
        let framing = Framing::of(spec);
        let overhead = spec.overhead_bytes(uncounted);
        Self { spec, framing, overhead, grants: 0.0, polls: 0.0, greatest: (0.0, String::new()) }
    }

    /// Minislots of a MAP interval that requests in contention leave.
    fn most(&self) -> u64 {
        self.framing.minislots().saturating_sub(self.spec.least_region())
    }

    /// Books the flows of `count` homes whose upstream is at `path`. A grant must fit into a MAP
    /// interval.
    pub fn add(&mut self, upstream: &Upstream, count: u32, path: &str) -> Result<(), Fault> {
        for (name, flow) in upstream.flow_names().zip(upstream.service_flows()) {
            let flow_path = words::join(&flow_path(path, name), "scheduling");
            let profile = self.framing.profile(&self.spec.phy, flow.profile_bits);
            let proactive = flow.scheduling.proactive().map(|keys| keys.grants(&self.grid()));
            let grants = proactive
                .or_else(|| flow.scheduling.grants())
                .map(|(bytes, times)| (self.framing.minislots_for(profile, bytes), times));
            if let Some((minislots, _)) = grants
                && minislots > self.most()
            {
                let (all, most) = (self.framing.minislots(), self.most());
                let message = format!(
                    "found a grant of {minislots} minislots, and a MAP interval has {all}; allowed: \
                     {most} or fewer, so that it fits beside the request region"
                );
                return Err(Fault::new("unsolicited_grant_bytes", message).under(&flow_path));
            }
            let poll = u64::from(self.spec.request_minislots);
            let homes = f64::from(count);
            let grants = grants.map_or(0.0, |(each, times)| homes * self.share(each, times));
            let polls = flow.scheduling.polls();
            let polls = polls.map_or(0.0, |times| homes * self.share(poll, times));
            // With activity detection there are either grants or polls.
            let (grants, polls) = if grants > polls { (grants, 0.0) } else { (0.0, polls) };
            self.grants += grants;
            self.polls += polls;
            if grants + polls > self.greatest.0 {
                self.greatest = (grants + polls, flow_path);
            }
        }
        Ok(())
    }

    /// What proactive grants must fit to.
    fn grid(&self) -> Grid {
        Grid {
            map_interval: self.framing.map_interval(),
            frame: self.framing.frame().map(|frame| frame.time),
            overhead: self.overhead,
            is_own: false,
        }
    }

    /// Minislots of a MAP interval that something of this length takes.
    fn share(&self, minislots: u64, times: Regularity) -> f64 {
        let maps = self.framing.map_interval().ps() as f64 / times.interval.ps() as f64;
        minislots as f64 * f64::from(times.per_interval) * maps
    }

    /// All must fit beside the request region.
    pub fn check(&self) -> Result<(), Fault> {
        let (all, most) = (self.framing.minislots(), self.most());
        if self.grants + self.polls <= most as f64 {
            return Ok(());
        }
        let message = format!(
            "unsolicited grants of all homes take {:.1} of the {all} minislots of a MAP interval, and \
             polls take {:.1}; allowed: at most {most} together, since requests in contention have \
             the rest; lengthen the interval, or raise upstream_channel.channels",
            self.grants, self.polls
        );
        Err(Fault::new("", message).under(&self.greatest.1))
    }
}
