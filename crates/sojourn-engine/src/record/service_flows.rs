//! The counters of service flows, as a modem's management information base names them
//! (DOCS-QOS3-MIB, docsQosServiceFlowStatsTable; White 2014 §9 for the drops of AQM). Homes of one
//! group share them, so that memory does not grow with their number.

use crate::count::Count;
use crate::packet::{Direction, DropReason, Packet};

/// What became of the packets of a service flow, in all homes of a group.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServiceFlowCounters {
    /// Sent on (docsQosServiceFlowPkts, docsQosServiceFlowOctets).
    pub forwarded: Count,
    /// Dropped, by reason; on the links of servers too, before a flow downstream or behind it upstream.
    pub dropped: [Count; DropReason::ALL.len()],
    /// Marked by an AQM algorithm.
    pub marked_packets: u64,
    /// Packets sent on that the sustained rate held back (docsQosServiceFlowPolicedDelayPkts): while
    /// they waited, its tokens and nothing else kept bytes of the flow from being sent.
    pub delayed_packets: u64,
}

/// The counters of all service flows.
pub struct ServiceFlowBook {
    counters: Vec<ServiceFlowCounters>,
    /// Of packets that do not count.
    uncounted: ServiceFlowCounters,
    /// Where those of a home's flows begin, up and down.
    first: Vec<[u32; 2]>,
}

impl ServiceFlowBook {
    /// One home with a flow each way.
    pub fn lone() -> Self {
        Self::new([(1, [1, 1])].into_iter())
    }

    /// All zero, of groups of so many homes with so many service flows up and down.
    pub fn new(groups: impl Iterator<Item = (u16, [usize; 2])>) -> Self {
        let uncounted = ServiceFlowCounters::default();
        let mut book = Self { counters: Vec::new(), uncounted, first: Vec::new() };
        for (homes, [upstream, downstream]) in groups {
            let up = book.counters.len();
            let down = up + upstream;
            book.counters.resize(down + downstream, ServiceFlowCounters::default());
            book.first.extend((0..homes).map(|_| [up as u32, down as u32]));
        }
        book
    }

    /// The counters of the flow that a packet takes if it counts, or those that nobody reads.
    #[inline]
    pub fn of_packet(&mut self, packet: &Packet, counts: bool) -> &mut ServiceFlowCounters {
        if !counts {
            return &mut self.uncounted;
        }
        let first = self.first[usize::from(packet.home)][packet.direction as usize];
        &mut self.counters[first as usize + usize::from(packet.service_flow)]
    }

    /// The counters of a flow of the group that a home belongs to.
    pub fn get(&self, home: usize, direction: Direction, flow: usize) -> &ServiceFlowCounters {
        &self.counters[self.first[home][direction as usize] as usize + flow]
    }
}
