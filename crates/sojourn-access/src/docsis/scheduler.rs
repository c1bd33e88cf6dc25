//! The CMTS's upstream scheduler: what a MAP grants to each service flow.
//!
//! Minimum reserved rates come first. The rest goes to the highest traffic priority first, and
//! among equal priorities in turns of a quantum (deficit round robin, Shreedhar & Varghese 1996
//! §3). A turn that does not fit into a MAP continues in the next one, so that in the long run all
//! flows get the same. Where flows have different groups of channels, one lets a turn on a channel pass for each that it has
//! had on another, as far as others wait there: so each has its max-min part of all channels (as Yap et al. do with flags,
//! Scheduling packets over multiple interfaces while respecting user preferences, CoNEXT 2013). Vendors' schedulers differ; the specification leaves this to them (DOCSIS
//! 3.1 MULPI §7.2.3).

use std::collections::VecDeque;

use super::channel_flows::ChannelFlows;
use super::framing::Framing;
use super::upstream_service_flow::UpstreamServiceFlow;
use sojourn_engine::units::Time;

/// Traffic priorities, 0 to 7.
const PRIORITIES: usize = 8;
/// A flow lets no more turns pass one behind the other.
const MOST_TURNS: u64 = 64;

/// The service flows that wait for grants.
pub(super) struct GrantScheduler {
    /// The bit of its channel.
    channel: u64,
    quantum: u64,
    /// Waiting flows by priority, in the order of their turns.
    rings: [VecDeque<u32>; PRIORITIES],
    /// Waiting flows with a minimum reserved rate.
    reserved: Vec<u32>,
    /// Flows that have all they may have from the current MAP.
    served: Vec<u32>,
    /// Flows that the current MAP grants something, in order.
    granted: Vec<u32>,
    /// Minislots left in the current MAP.
    left: u64,
}

impl GrantScheduler {
    /// No waiting flows.
    pub(super) fn new(quantum_bytes: u64) -> Self {
        Self {
            channel: 1,
            quantum: quantum_bytes,
            rings: Default::default(),
            reserved: Vec::new(),
            served: Vec::new(),
            granted: Vec::new(),
            left: 0,
        }
    }

    /// Of the channel of this number, where flows may wait for several.
    pub(super) fn of_channel(self, number: u8) -> Self {
        Self { channel: 1 << number, ..self }
    }

    /// The flows that wait.
    pub(super) fn waiting(&self) -> impl Iterator<Item = u32> {
        self.rings.iter().flatten().copied()
    }

    /// Is no flow waiting?
    pub(super) fn is_idle(&self) -> bool {
        self.rings.iter().all(VecDeque::is_empty)
    }

    /// Adds a service flow whose requests are known. It may be waiting already.
    pub(super) fn join(&mut self, number: u32, flow: &mut UpstreamServiceFlow) {
        if flow.waits & self.channel > 0 {
            return;
        }
        flow.waits |= self.channel;
        self.rings[usize::from(flow.priority)].push_back(number);
        if flow.reserved.is_some() {
            self.reserved.push(number);
        }
    }

    /// The most minislots that all grants of a MAP can take, if they begin no later than `latest`,
    /// out of those available.
    pub(super) fn most(
        &self,
        latest: Time,
        minislots: u64,
        framing: &Framing,
        flows: &ChannelFlows,
    ) -> u64 {
        let mut most = 0;
        for number in self.rings.iter().flatten() {
            let flow = &flows[*number];
            most += framing.minislots_for(flow.profile, flow.grantable_here(latest));
            if most >= minislots {
                return minislots;
            }
        }
        most
    }

    /// Divides the minislots of a MAP whose grants begin at `start`, and sets each flow's `in_map`.
    /// Returns the flows with a grant, in order, and the number of minislots used.
    pub(super) fn share(
        &mut self,
        start: Time,
        minislots: u64,
        framing: &Framing,
        flows: &mut ChannelFlows,
    ) -> (&[u32], u64) {
        self.left = minislots;
        self.granted.clear();
        self.grant_reserved_rates(start, framing, flows);
        for priority in (0..PRIORITIES).rev() {
            self.take_turns(priority, start, framing, flows);
            self.part_with_served(priority, flows);
            for number in &self.rings[priority] {
                flows[*number].is_pending = true;
            }
        }
        (&self.granted, minislots - self.left)
    }

    /// Grants what minimum reserved rates require. If that does not fit into the MAP, each flow gets
    /// the same share of it.
    fn grant_reserved_rates(&mut self, start: Time, framing: &Framing, flows: &mut ChannelFlows) {
        let (mut required, left) = (0, self.left);
        for number in &self.reserved {
            let flow = &mut flows[*number];
            required += framing.minislots_for(flow.profile, flow.reserved_need(start));
        }
        for place in 0..self.reserved.len() {
            let number = self.reserved[place];
            let flow = &mut flows[number];
            let mut wanted = flow.reserved_need(start);
            if required > left {
                wanted = (u128::from(wanted) * u128::from(left) / u128::from(required)) as u64;
            }
            self.give(number, wanted, framing, flow);
        }
    }

    /// Removes flows that have all they may have, except those whose rates hold back a part of
    /// their request.
    fn part_with_served(&mut self, priority: usize, flows: &mut ChannelFlows) {
        for number in self.served.drain(..) {
            let flow = &mut flows[number];
            flow.is_pending = flow.known_request() > flow.in_map;
            if flow.is_pending {
                self.rings[priority].push_back(number);
                continue;
            }
            flow.waits &= !self.channel;
            if flow.reserved.is_some() {
                self.reserved.retain(|reserved| *reserved != number);
            }
        }
    }

    /// Takes turns among the flows of a priority until all have what they may have or the MAP is
    /// full.
    fn take_turns(
        &mut self,
        priority: usize,
        start: Time,
        framing: &Framing,
        flows: &mut ChannelFlows,
    ) {
        while let Some(&number) = self.rings[priority].front() {
            let flow = &mut flows[number];
            let need = flow.need(start);
            if need == 0 {
                flow.deficit = 0;
                self.rings[priority].pop_front();
                self.served.push(number);
                continue;
            }
            let channel = self.channel.trailing_zeros() as usize;
            if flow.deficit == 0 || flow.has_turn_elsewhere(channel) {
                if flow.passes_turn(channel, self.quantum) {
                    self.rings[priority].rotate_left(1);
                    continue;
                }
                (flow.deficit, flow.turn_on) = (self.quantum, channel);
            }
            let wanted = need.min(flow.deficit);
            let given = self.give(number, wanted, framing, flow);
            flow.deficit -= given;
            flow.granted_on(channel, given, MOST_TURNS * self.quantum);
            if given < wanted {
                return;
            }
            if flow.deficit == 0 {
                self.rings[priority].rotate_left(1);
            }
        }
    }

    /// Grants `bytes` more, or as many as fit. Returns their number.
    fn give(
        &mut self,
        number: u32,
        wanted: u64,
        framing: &Framing,
        flow: &mut UpstreamServiceFlow,
    ) -> u64 {
        let before = framing.minislots_for(flow.profile, flow.in_map);
        let room = before + self.left;
        let mut bytes = flow.in_map + wanted;
        if framing.minislots_for(flow.profile, bytes) > room {
            bytes = framing.bytes_in(flow.profile, room).max(flow.in_map);
        }
        let given = bytes - flow.in_map;
        if given > 0 {
            if flow.in_map == 0 {
                self.granted.push(number);
            }
            flow.in_map = bytes;
            self.left = room - framing.minislots_for(flow.profile, bytes);
        }
        given
    }
}

#[cfg(test)]
mod tests {
    use super::super::for_tests::{MS, packet, plain_framing, shared_flow};
    use super::*;
    use sojourn_engine::record::Recorder;

    /// Flows that have requested so many bytes, and a scheduler with turns of 1000 B that knows of them.
    fn asking(flows: &[(&str, u64)]) -> (GrantScheduler, ChannelFlows) {
        let mut scheduler = GrantScheduler::new(1000);
        let mut all = ChannelFlows::default();
        for (number, &(keys, bytes)) in (0..).zip(flows) {
            let mut flow = shared_flow(keys);
            flow.mac.flow.request(bytes, MS(2));
            flow.requests_arrive(MS(2));
            scheduler.join(number, &mut flow);
            all.push(flow);
        }
        (scheduler, all)
    }

    /// What a MAP with so many minislots of 8 B grants each flow, in the order of their first grants, and how many
    /// minislots that takes.
    fn share(
        scheduler: &mut GrantScheduler,
        flows: &mut ChannelFlows,
        (at_ms, minislots): (u64, u64),
    ) -> (Vec<(u32, u64)>, u64) {
        let (granted, used) = scheduler.share(MS(at_ms), minislots, &plain_framing(), flows);
        let take = |&number: &u32| (number, flows[number].take_grant(MS(at_ms)));
        (granted.iter().map(take).collect(), used)
    }

    #[test]
    fn turns_of_a_quantum_go_on_in_the_next_map() {
        let (mut scheduler, mut flows) = asking(&[("", 3000), ("", 2000)]);
        assert!(!scheduler.is_idle());
        // 1496 B: a turn of 1000 and 496 of the other, of whose turn 504 are left.
        assert_eq!(share(&mut scheduler, &mut flows, (2, 187)), (vec![(0, 1000), (1, 496)], 187));
        assert_eq!((flows[0].deficit, flows[1].deficit), (0, 504));
        assert!(flows.iter().all(|flow| flow.is_pending && flow.waits()));
        // They come first; then 1000 and 1000, of which the second flow has its last ones.
        assert_eq!(share(&mut scheduler, &mut flows, (4, 313)), (vec![(1, 1504), (0, 1000)], 313));
        assert_eq!(share(&mut scheduler, &mut flows, (6, 313)), (vec![(0, 1000)], 125));
        assert!(scheduler.is_idle() && flows.iter().all(|flow| !flow.is_pending && !flow.waits()));
        assert_eq!(flows[0].deficit, 0);
    }

    #[test]
    fn a_higher_priority_has_all_that_it_wants() {
        let (mut scheduler, mut flows) =
            asking(&[("", 3000), ("priority = 7", 3000), ("priority = 1", 3000)]);
        let (granted, _) = share(&mut scheduler, &mut flows, (2, 500));
        assert_eq!(granted, [(1, 3000), (2, 1000)]);
        assert!(!flows[1].waits() && flows[2].is_pending && flows[0].is_pending);
    }

    /// Reserved are 2522 B of one flow (a frame and 2 ms of 4 Mbps) and 2022 B of another (2 Mbps), in minislots of 8 B:
    /// 316 + 253 = 569. Of 400 each has 400/569: 1772 and 1421 B, in 222 and 178, and what
    /// fills the minislots of the first.
    #[test]
    fn reserved_rates_come_before_priorities() {
        let keys = [("minimum_mbps = 4", 3000), ("minimum_mbps = 2", 3000), ("priority = 7", 3000)];
        let (mut scheduler, mut flows) = asking(&keys);
        let (granted, used) = share(&mut scheduler, &mut flows, (2, 400));
        assert_eq!((granted, used), (vec![(0, 1776), (1, 1421)], 400));
        let (mut scheduler, mut flows) = asking(&keys);
        let (granted, used) = share(&mut scheduler, &mut flows, (2, 569 + 100));
        assert_eq!((granted, used), (vec![(0, 2528), (1, 2022), (2, 800)], 669));
        // Who has all that was requested has no reservation to be counted any more.
        assert_eq!(scheduler.reserved, [0, 1]);
        share(&mut scheduler, &mut flows, (4, 1000));
        assert!(scheduler.reserved.is_empty());
    }

    /// The buckets hold 2971 B of 3960, which are 3001 with headers: the flow waits on.
    #[test]
    fn what_the_rate_holds_back_waits_on() {
        let (mut scheduler, mut flows) = asking(&[("", 4000), ("minimum_mbps = 4", 1000)]);
        let mut recorder = Recorder::default();
        (0..4).for_each(|n| flows[0].accept(MS(1), packet(n, 990), &mut recorder));
        flows[0].mac.shaper.sustained.take(MS(2), 5000 - 2971);
        let (granted, used) = share(&mut scheduler, &mut flows, (2, 1000));
        assert_eq!((granted, used), (vec![(1, 1000), (0, 3001)], 501));
        assert!(flows[0].waits() && flows[0].is_pending && !scheduler.is_idle());
        assert!(!flows[1].waits() && scheduler.reserved.is_empty());
        scheduler.join(0, &mut flows[0]);
        assert_eq!(scheduler.rings[0], [0], "it waits already");
    }

    /// 1000 and 2004 B are 125 and 251 minislots, of which there may be fewer.
    #[test]
    fn the_most_that_a_map_grants_is_what_all_may_have() {
        let (scheduler, flows) = asking(&[("", 1000), ("priority = 7", 2004)]);
        for (minislots, want) in [(1000, 376), (377, 376), (376, 376), (300, 300)] {
            assert_eq!(scheduler.most(MS(2), minislots, &plain_framing(), &flows), want);
        }
        assert_eq!(
            GrantScheduler::new(1).most(MS(2), 0, &plain_framing(), &ChannelFlows::default()),
            0
        );
    }
}
