//! The CMTS's upstream scheduler: what a MAP grants to each service flow.
//!
//! Minimum reserved rates come first. The rest goes to the highest traffic priority first, and
//! among equal priorities in turns of a quantum (deficit round robin, Shreedhar & Varghese 1996
//! §3). A turn that does not fit into a MAP continues in the next one, so that in the long run all
//! flows get the same. Vendors' schedulers differ; the specification leaves this to them (DOCSIS
//! 3.1 MULPI §7.2.3).

use std::collections::VecDeque;

use super::framing::Framing;
use super::upstream_service_flow::UpstreamServiceFlow;
use sojourn_engine::units::Time;

/// Traffic priorities, 0 to 7.
const PRIORITIES: usize = 8;

/// The service flows that wait for grants.
pub(super) struct GrantScheduler {
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
            quantum: quantum_bytes,
            rings: Default::default(),
            reserved: Vec::new(),
            served: Vec::new(),
            granted: Vec::new(),
            left: 0,
        }
    }

    /// Is no flow waiting?
    pub(super) fn is_idle(&self) -> bool {
        self.rings.iter().all(VecDeque::is_empty)
    }

    /// Adds a service flow whose requests are known. It may be waiting already.
    pub(super) fn join(&mut self, number: u32, flow: &mut UpstreamServiceFlow) {
        if std::mem::replace(&mut flow.waits, true) {
            return;
        }
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
        flows: &[UpstreamServiceFlow],
    ) -> u64 {
        let mut most = 0;
        for number in self.rings.iter().flatten() {
            let flow = &flows[*number as usize];
            most += framing.minislots_for(flow.profile, flow.grantable(latest));
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
        flows: &mut [UpstreamServiceFlow],
    ) -> (&[u32], u64) {
        self.left = minislots;
        self.granted.clear();
        self.grant_reserved_rates(start, framing, flows);
        for priority in (0..PRIORITIES).rev() {
            self.take_turns(priority, start, framing, flows);
            self.part_with_served(priority, flows);
            for number in &self.rings[priority] {
                flows[*number as usize].is_pending = true;
            }
        }
        (&self.granted, minislots - self.left)
    }

    /// Grants what minimum reserved rates require. If that does not fit into the MAP, each flow gets
    /// the same share of it.
    fn grant_reserved_rates(
        &mut self,
        start: Time,
        framing: &Framing,
        flows: &mut [UpstreamServiceFlow],
    ) {
        let (mut required, left) = (0, self.left);
        for number in &self.reserved {
            let flow = &mut flows[*number as usize];
            required += framing.minislots_for(flow.profile, flow.reserved_need(start));
        }
        for place in 0..self.reserved.len() {
            let number = self.reserved[place];
            let flow = &mut flows[number as usize];
            let mut wanted = flow.reserved_need(start);
            if required > left {
                wanted = (u128::from(wanted) * u128::from(left) / u128::from(required)) as u64;
            }
            self.give(number, wanted, framing, flow);
        }
    }

    /// Removes flows that have all they may have, except those whose rates hold back a part of
    /// their request.
    fn part_with_served(&mut self, priority: usize, flows: &mut [UpstreamServiceFlow]) {
        for number in self.served.drain(..) {
            let flow = &mut flows[number as usize];
            flow.waits = flow.known_request() > flow.in_map;
            flow.is_pending = flow.waits;
            if flow.waits {
                self.rings[priority].push_back(number);
            } else if flow.reserved.is_some() {
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
        flows: &mut [UpstreamServiceFlow],
    ) {
        while let Some(&number) = self.rings[priority].front() {
            let flow = &mut flows[number as usize];
            let need = flow.need(start);
            if need == 0 {
                flow.deficit = 0;
                self.rings[priority].pop_front();
                self.served.push(number);
                continue;
            }
            if flow.deficit == 0 {
                flow.deficit = self.quantum;
            }
            let wanted = need.min(flow.deficit);
            let given = self.give(number, wanted, framing, flow);
            flow.deficit -= given;
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
