//! Flows that are watched one by one: in which bin each is, with what weight, what it may still send.

use super::{Discipline, Scheduler};
use crate::metrics::{GaugeSeries, Series};
use crate::packet::Packet;

/// A flow, as schedulers know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowKey {
    /// Its number ([`Packet::flow_index`]).
    pub index: usize,
    /// Hash of its addresses and ports.
    pub tuple: u32,
    /// The traffic entry it belongs to.
    pub traffic: u16,
}

struct Watched {
    key: FlowKey,
    generation: u16,
    /// The connection is closed: its number has gone to another one.
    is_over: bool,
    name: String,
    series: GaugeSeries,
}

/// The first flows that came to a queue.
#[derive(Default)]
pub struct Watch {
    most: usize,
    names: Vec<String>,
    flows: Vec<Watched>,
    samples: u64,
}

impl Watch {
    /// Will watch the first `most` flows, of the traffic entries with these names.
    pub fn new(most: usize, names: &[&str]) -> Self {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        Self { most, names, ..Self::default() }
    }

    /// A packet has come to the queue.
    #[inline]
    pub fn note(&mut self, packet: &Packet) {
        if self.most > 0 {
            self.note_flow(packet);
        }
    }

    fn note_flow(&mut self, packet: &Packet) {
        let index = packet.flow_index();
        if let Some(known) = self.flows.iter_mut().find(|f| f.key.index == index && !f.is_over) {
            known.is_over = known.generation != packet.generation;
            if !known.is_over {
                return;
            }
        }
        if self.flows.len() == self.most {
            return;
        }
        let traffic = packet.traffic;
        let number = 1 + self.flows.iter().filter(|flow| flow.key.traffic == traffic).count();
        self.flows.push(Watched {
            key: FlowKey { index, tuple: packet.tuple, traffic },
            generation: packet.generation,
            is_over: false,
            name: format!("{} {number}", self.names[usize::from(traffic)]),
            series: GaugeSeries::after(self.samples),
        });
    }

    /// Ends a sampling interval.
    pub fn sample(&mut self, scheduler: &Scheduler) {
        for flow in self.flows.iter_mut().filter(|flow| !flow.is_over) {
            flow.series.sample(|gauges| scheduler.flow_gauges(flow.key, gauges));
        }
        self.samples += 1;
    }

    /// The series of each flow, under its name.
    pub fn series(&self) -> impl Iterator<Item = (&str, &Series)> {
        self.flows.iter().flat_map(|flow| flow.series.iter().map(|s| (flow.name.as_str(), s)))
    }
}
