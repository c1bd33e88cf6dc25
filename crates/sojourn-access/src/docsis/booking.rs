//! What unsolicited grants and polls take of the shared upstream channel: they come at fixed times, so
//! that a channel that cannot hold all of them would lose some for ever.

use super::framing::Framing;
use super::regularity::{Grid, Regularity};
use super::upstream_channel::UpstreamChannel;
use crate::service::{Upstream, flow_path};
use sojourn_input::fault;
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
                return Err(fault!(NotAllowed, "unsolicited_grant_bytes" =>
                    "found a grant of {minislots} minislots, and a MAP interval has {all}; allowed: {most} or \
                     fewer, so that it fits beside the request region", minislots, all, most)
                .under(&flow_path));
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

#[cfg(test)]
mod tests {
    use super::super::for_tests::{plain_channel, upstream};
    use super::*;

    /// 1000 minislots of 8 B in a MAP interval of 2 ms, of which requests have 16.
    fn channel() -> UpstreamChannel {
        UpstreamChannel { request_opportunities: Some(8), ..plain_channel() }
    }

    /// Minislots of grants and of polls of so many homes with this scheduling.
    fn booked(scheduling: &str, homes: u32) -> (f64, f64) {
        let spec = channel();
        let mut booking = Booking::new(&spec, 0);
        let service = upstream(&format!("scheduling = {{ {scheduling} }}"));
        booking.add(&service, homes, "upstream").unwrap();
        (booking.grants, booking.polls)
    }

    const UGS: &str = "kind = 'ugs', nominal_grant_interval_us = 2000, unsolicited_grant_bytes = ";

    #[test]
    fn grants_and_polls_take_their_share_of_each_map_interval() {
        assert_eq!(booked("kind = 'best_effort'", 5), (0.0, 0.0));
        // 238 B are 30 minislots.
        assert_eq!(booked(&format!("{UGS}238"), 1), (30.0, 0.0));
        assert_eq!(booked(&format!("{UGS}238, grants_per_interval = 3"), 2), (180.0, 0.0));
        let slow =
            "kind = 'ugs', unsolicited_grant_bytes = 238, nominal_grant_interval_us = 10_000";
        assert_eq!(booked(slow, 2), (12.0, 0.0));
        // Whoever takes the most is named, however little that is.
        let (spec, tenth) = (channel(), slow.replace("10_000", "1_000_000"));
        let mut booking = Booking::new(&spec, 0);
        booking.add(&upstream(&format!("scheduling = {{ {tenth} }}")), 1, "upstream").unwrap();
        assert_eq!(booking.greatest, (0.06, "upstream.scheduling".to_owned()));
        let polls = "kind = 'real_time_polling', nominal_polling_interval_us = 1000";
        assert_eq!(booked(polls, 3), (0.0, 12.0));
        // With activity detection the more of both.
        let detecting = |polling_us: u32| {
            let of_grants = "kind = 'ugs_with_activity_detection', unsolicited_grant_bytes = 238";
            let times = "nominal_grant_interval_us = 20_000, nominal_polling_interval_us";
            booked(&format!("{of_grants}, {times} = {polling_us}"), 1)
        };
        assert_eq!((detecting(2000), detecting(1000)), ((3.0, 0.0), (0.0, 4.0)));
        // 4 Mbps are 1000 B in each MAP interval, 1050 with 10 B for each 200: 132 minislots.
        assert_eq!(
            booked("kind = 'proactive_grants', guaranteed_grant_rate_mbps = 4", 2),
            (264.0, 0.0)
        );
    }

    /// 984 B are 123 minislots, of which eight are all that requests leave.
    #[test]
    fn all_that_is_booked_fits_beside_the_request_region() {
        let spec = channel();
        let service = upstream(&format!("scheduling = {{ {UGS}984 }}"));
        for (homes, fits) in [(8, true), (9, false)] {
            let mut booking = Booking::new(&spec, 0);
            booking.add(&service, homes, "homes.all.upstream").unwrap();
            let fault = booking.check().err();
            assert_eq!(fault.is_none(), fits);
            assert!(fault.is_none_or(|fault| fault.path == "homes.all.upstream.scheduling"
                && fault.message.contains("take 1107.0 of the 1000 minislots")));
        }
        // Polls count too: 868 minislots, and 117 of polls.
        let few = upstream(&format!("scheduling = {{ {UGS}6944 }}"));
        let polled =
            "scheduling = { kind = 'real_time_polling', nominal_polling_interval_us = 2000 }";
        for (homes, fits) in [(58, true), (59, false)] {
            let mut booking = Booking::new(&spec, 0);
            booking.add(&few, 1, "upstream").unwrap();
            booking.add(&upstream(polled), homes, "homes.many.upstream").unwrap();
            let fault = booking.check().err();
            assert_eq!(fault.is_none(), fits);
            assert!(fault.is_none_or(|fault| fault.path == "upstream.scheduling"
                && fault.message.contains("polls take 118.0")));
        }
    }

    /// Polls alone may be too many: 493 of two minislots.
    #[test]
    fn too_many_polls_are_told_of() {
        let spec = channel();
        let polled =
            "scheduling = { kind = 'real_time_polling', nominal_polling_interval_us = 2000 }";
        let mut booking = Booking::new(&spec, 0);
        booking.add(&upstream(polled), 1, "upstream").unwrap();
        booking.add(&upstream(polled), 492, "homes.many.upstream").unwrap();
        assert_eq!(booking.check().unwrap_err().path, "homes.many.upstream.scheduling");
    }

    /// 7872 B are 984 minislots.
    #[test]
    fn a_grant_fits_into_a_map_interval() {
        let spec = channel();
        let of = |bytes: u32| {
            let flow = format!(
                "flows.calls = {{ sustained_mbps = 1, scheduling = {{ {UGS}{bytes} }}, match = [] }}"
            );
            Booking::new(&spec, 0).add(&upstream(&flow), 1, "upstream").err()
        };
        assert!(of(7872).is_none());
        let fault = of(7873).unwrap();
        assert_eq!(fault.path, "upstream.flows.calls.scheduling.unsolicited_grant_bytes");
        assert!(fault.message.contains("985 minislots") && fault.message.contains("984 or fewer"));
    }
}
