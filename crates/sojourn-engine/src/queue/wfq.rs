//! Weighted fair queueing: packet-by-packet generalized processor sharing (Parekh & Gallager 1993 §III; with equal
//! weights it is the fair queueing of Demers, Keshav & Shenker 1989).
//!
//! Virtual time is that of a fluid system with the same arrivals, in which all flows with a backlog are served at the same
//! time, each in proportion to its weight: dv/dt = C / (sum of their weights), from one event of the fluid system to the
//! next (Parekh & Gallager 1993 §III-A). C is the drain rate that the queue gets with each arrival.
//!
//! The papers' link always sends at C. Here its rate may vary and its packets may wait for grants, so the fluid system is
//! kept in step: when the link asks for a packet, the fluid system has served all that left before; until then it serves
//! no more than that. On a link of constant rate C both hold anyway. So C decides only where virtual time is within the
//! packet that is being sent.
//!
//! Left out: the promptness parameter of Demers, Keshav & Shenker 1989 §2.2, and minimum reserved rates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finish_tags::{Clock, FinishTags};
use super::weights::Weights;
use super::{Scheduler, SchedulerParameters, Setting};
use crate::aqm::DrainRate;
use crate::tournament::{ABSENT, Tournament};
use crate::units::Time;

/// Parameters of weighted fair queueing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Wfq")]
pub struct Parameters {
    /// Packets that a flow may have waiting. Default: no limit per flow; the queue's limit holds for
    /// all flows together.
    #[schemars(range(min = 2, max = 10_000_000))]
    pub flow_limit_packets: Option<u64>,
    /// Weights of flows, by name of the traffic entry (Parekh & Gallager 1993 §II). Default: 1 for
    /// each entry.
    pub weights: Weights,
}

impl SchedulerParameters for Parameters {
    fn start(&self, setting: &Setting) -> Scheduler {
        Wfq::new(&self.weights, self.flow_limit_packets, setting).into()
    }

    fn weights(&self) -> Option<&Weights> {
        Some(&self.weights)
    }
}

/// Weighted fair queueing.
pub type Wfq = FinishTags<Fluid>;

/// The fluid system.
pub struct Fluid {
    time: f64,
    /// When it was computed last.
    since: Time,
    /// Bytes that the fluid system has yet to serve.
    backlog: f64,
    /// The weight of each flow that it has yet to serve; 0 for the others.
    weights: Vec<f64>,
    /// Their sum.
    weight: f64,
    /// The virtual times at which it will have served all of a flow.
    ends: Tournament,
}

impl Default for Fluid {
    fn default() -> Self {
        let (since, weights, ends) = (Time::ZERO, Vec::new(), Tournament::new(1));
        Self { time: 0.0, since, backlog: 0.0, weights, weight: 0.0, ends }
    }
}

impl Fluid {
    /// Serves bytes, down to `waiting` at most: what has not left the queue is not served.
    #[inline]
    fn serve(&mut self, bytes: f64, waiting: u64) {
        let waiting = waiting as f64;
        let mut bytes = bytes.min(self.backlog - waiting);
        if bytes <= 0.0 {
            return;
        }
        self.backlog -= bytes;
        while let Some((flow, end)) = self.first_to_end() {
            let until_end = (end - self.time) * self.weight;
            // An empty system has no flow, whatever the roundings were.
            if until_end > bytes && self.backlog > 0.0 {
                self.time += bytes / self.weight;
                return;
            }
            bytes -= until_end;
            self.time = end;
            self.retire(flow);
        }
        self.backlog = waiting;
    }

    fn first_to_end(&self) -> Option<(usize, f64)> {
        self.ends.first().map(|(flow, key)| (flow, f64::from_bits(key)))
    }

    fn retire(&mut self, flow: usize) {
        self.ends.set(flow as u32, ABSENT);
        self.weight -= std::mem::take(&mut self.weights[flow]);
        // An exact zero: sums of fractions may leave a rest.
        if self.first_to_end().is_none() {
            self.weight = 0.0;
        }
    }
}

impl Clock for Fluid {
    #[inline]
    fn advance(&mut self, now: Time, drain_rate: &DrainRate, waiting: u64) {
        self.serve(drain_rate.bytes_in(now.since(self.since)), waiting);
        self.since = now;
    }

    #[inline]
    fn catch_up(&mut self, now: Time, waiting: u64) {
        self.serve(f64::INFINITY, waiting);
        self.since = now;
    }

    #[inline]
    fn time(&self) -> f64 {
        self.time
    }

    #[inline]
    fn joined(&mut self, flow: usize, size: u64, weight: f64, end: f64) {
        if flow >= self.weights.len() {
            self.weights.resize(flow + 1, 0.0);
            self.ends.grow(flow + 1);
        }
        self.weight += weight - std::mem::replace(&mut self.weights[flow], weight);
        self.ends.set(flow as u32, end.to_bits());
        self.backlog += size as f64;
    }

    /// What was served of the packet counts for those behind it, as far as there are any.
    fn dropped(&mut self, flow: usize, size: u64, end: f64) {
        let before = self.ends.key(flow as u32);
        if before == ABSENT {
            return;
        }
        let unserved = (f64::from_bits(before) - self.time) * self.weights[flow];
        self.backlog -= unserved.min(size as f64);
        if end > self.time {
            self.ends.set(flow as u32, end.to_bits());
        } else {
            self.retire(flow);
        }
    }

    fn restarts(&mut self) -> bool {
        let is_idle = self.first_to_end().is_none();
        if is_idle {
            (self.time, self.backlog) = (0.0, 0.0);
        }
        is_idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::BitRate;

    /// Lets half a us pass on a line of a byte in 1 us, as often as it says.
    fn pass(fluid: &mut Fluid, halves: u64, waiting: u64) {
        let line = DrainRate::steady(BitRate::from_mbps(8.0), 0);
        fluid.advance(fluid.since + Time::from_ps(500_000).times(halves), &line, waiting);
    }

    #[test]
    fn it_serves_parts_of_bytes() {
        let mut fluid = Fluid::default();
        fluid.joined(0, 1000, 1.0, 1000.0);
        for (halves, time) in [(1, 0.5), (1, 1.0), (1997, 999.5)] {
            pass(&mut fluid, halves, 0);
            assert_eq!((fluid.time(), fluid.backlog), (time, 1000.0 - time));
            assert!(!fluid.restarts());
        }
        // No more than what has left the queue.
        fluid.joined(0, 500, 1.0, 1500.0);
        pass(&mut fluid, 800, 400);
        assert_eq!((fluid.time(), fluid.backlog), (1100.0, 400.0));
        pass(&mut fluid, 2000, 0);
        assert_eq!((fluid.time(), fluid.backlog, fluid.weight), (1500.0, 0.0, 0.0));
        assert!(fluid.restarts());
        assert_eq!(fluid.time(), 0.0);
    }

    /// Of 400 bytes each flow has 100 until the first ends, and the other one the rest.
    #[test]
    fn a_flow_that_ends_leaves_its_share_to_the_others() {
        let mut fluid = Fluid::default();
        fluid.joined(0, 100, 1.0, 100.0);
        fluid.joined(1, 1000, 1.0, 1000.0);
        pass(&mut fluid, 800, 0);
        assert_eq!((fluid.time(), fluid.weight, fluid.backlog), (300.0, 1.0, 700.0));
    }

    /// Two flows, of which each has 200 of 400 bytes that were sent.
    #[test]
    fn what_is_dropped_need_not_be_served() {
        let mut fluid = Fluid::default();
        (0..2).for_each(|flow| fluid.joined(flow, 1000, 1.0, 1000.0));
        pass(&mut fluid, 800, 1000);
        assert_eq!((fluid.time(), fluid.backlog, fluid.weight), (200.0, 1600.0, 2.0));
        // 800 of its 1000 bytes were unserved.
        fluid.dropped(1, 1000, 0.0);
        assert_eq!((fluid.backlog, fluid.weight, fluid.weights[1]), (800.0, 1.0, 0.0));
        pass(&mut fluid, 200, 0);
        assert_eq!((fluid.time(), fluid.backlog), (300.0, 700.0));
        // Of two packets one is dropped, whole, and the other one takes its place.
        fluid.joined(1, 500, 2.0, 550.0);
        fluid.joined(1, 600, 2.0, 850.0);
        assert_eq!((fluid.backlog, fluid.weight), (1800.0, 3.0));
        fluid.dropped(1, 500, 600.0);
        assert_eq!((fluid.backlog, fluid.weight), (1300.0, 3.0));
        assert_eq!(fluid.first_to_end(), Some((1, 600.0)));
        // What is left of a flow and was served already: it has no backlog any more.
        let mut alone = Fluid::default();
        alone.joined(0, 1000, 1.0, 1000.0);
        pass(&mut alone, 800, 0);
        alone.dropped(0, 600, 400.0);
        assert_eq!((alone.backlog, alone.weight, alone.restarts()), (0.0, 0.0, true));
        // A flow without unserved bytes has none to lose.
        pass(&mut fluid, 10_000, 0);
        fluid.dropped(1, 600, 0.0);
        assert_eq!((fluid.backlog, fluid.weight), (0.0, 0.0));
    }
}
