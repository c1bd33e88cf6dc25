//! Flows that a queue watches one by one: each flow's bin, weight and remaining deficit.

use super::{Discipline, FlowKey, FlowTable, Scheduler};
use crate::packet::Packet;
use crate::record::{GaugeSeries, Series};

struct Watched {
    key: FlowKey,
    generation: u16,
    /// Has the connection closed and its number passed to another one?
    is_over: bool,
    name: String,
    series: GaugeSeries,
}

/// The first flows that came to a queue.
#[derive(Default)]
pub(super) struct Watch {
    most: usize,
    names: Vec<String>,
    table: FlowTable,
    flows: Vec<Watched>,
    samples: u64,
}

impl Watch {
    /// Will watch the first `most` flows of a table; `names` are those of the traffic entries.
    pub(super) fn new(most: usize, table: &FlowTable, names: &[&str]) -> Self {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        Self { most, names, table: table.clone(), ..Self::default() }
    }

    /// Records that a packet has come to the queue.
    #[inline]
    pub(super) fn note(&mut self, packet: &Packet) {
        if self.most > 0 {
            self.note_flow(packet);
        }
    }

    fn note_flow(&mut self, packet: &Packet) {
        let key = self.table.key(packet);
        let alike = |flow: &&mut Watched| flow.key.index == key.index && !flow.is_over;
        if let Some(known) = self.flows.iter_mut().find(alike) {
            known.is_over = self.table.has_connections() && known.generation != packet.generation;
            if !known.is_over {
                return;
            }
        }
        if self.flows.len() == self.most {
            return;
        }
        let traffic = key.traffic;
        let number = 1 + self.flows.iter().filter(|flow| flow.key.traffic == traffic).count();
        self.flows.push(Watched {
            key,
            generation: packet.generation,
            is_over: false,
            name: format!("{} {number}", self.names[usize::from(traffic)]),
            series: GaugeSeries::after(self.samples),
        });
    }

    /// Ends a sampling interval.
    pub(super) fn sample(&mut self, scheduler: &Scheduler) {
        for flow in self.flows.iter_mut().filter(|flow| !flow.is_over) {
            flow.series.sample(|gauges| scheduler.flow_gauges(flow.key, gauges));
        }
        self.samples += 1;
    }

    /// The time series of each flow, with its name.
    pub(super) fn series(&self) -> impl Iterator<Item = (&str, &Series)> {
        self.flows.iter().flat_map(|flow| flow.series.iter().map(|s| (flow.name.as_str(), s)))
    }
}
