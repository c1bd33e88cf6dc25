//! First in, first out, with one AQM algorithm.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::update_clock::UpdateClock;
use super::{Discipline, Entry, Exit, Scheduler, SchedulerParameters, Setting};
use crate::aqm::{Aqm, AqmAlgorithm, Arrival, Departure, DrainRate};
use crate::count::Count;
use crate::packet::{DropReason, Packet};
use crate::record::Gauges;
use crate::units::Time;

/// A single queue; it has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Fifo")]
pub struct Parameters {}

impl SchedulerParameters for Parameters {
    fn start(&self, setting: &Setting) -> Scheduler {
        let aqm = setting.aqm(0);
        let clock = UpdateClock::new(aqm.update_interval());
        Fifo { packets: VecDeque::new(), bytes: 0, aqm, clock }.into()
    }
}

/// A single queue.
pub struct Fifo {
    packets: VecDeque<Packet>,
    bytes: u64,
    aqm: AqmAlgorithm,
    clock: UpdateClock,
}

impl Fifo {
    /// Is it empty, and without an AQM algorithm that sees what comes?
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.packets.is_empty() && matches!(self.aqm, AqmAlgorithm::TailDrop(_))
    }
}

impl Discipline for Fifo {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, entry: &mut Entry) {
        self.clock.wake(entry.now);
        let backlog = self.backlog();
        let size = u64::from(packet.size);
        if !entry.limit.admits(backlog, size) {
            self.aqm.on_overflow();
            entry.books.drop(entry.now, packet, DropReason::Overflow);
            return;
        }
        let is_markable = entry.books.can_mark(&packet);
        let (now, ecn, flow) = (entry.now, packet.ecn, packet.tuple);
        let arrival = Arrival { now, size, backlog, share: 1.0, ecn, is_markable, flow };
        let verdict = self.aqm.on_arrival(&arrival, entry.drain_rate, entry.rng);
        if entry.books.refuses(entry.now, verdict, &mut packet) {
            entry.books.drop(entry.now, packet, DropReason::Aqm);
            return;
        }
        self.bytes += size;
        self.packets.push_back(packet);
    }

    #[inline(always)]
    fn dequeue(&mut self, exit: &mut Exit) -> Option<Packet> {
        let mut waiting = self.backlog();
        while let Some(head) = self.packets.front_mut() {
            let size = u64::from(head.size);
            waiting = waiting.without(size);
            self.bytes = waiting.bytes;
            let left = exit.left(waiting);
            let departure = Departure {
                now: exit.now,
                sojourn: exit.sojourn(head),
                size,
                left,
                own_left: left,
                alone: left.packets == 0,
                ecn: head.ecn,
                is_markable: exit.books.can_mark(head),
                flow: head.tuple,
            };
            let verdict = self.aqm.on_departure(&departure);
            let is_refused = exit.books.refuses(exit.now, verdict, head);
            let packet = self.packets.pop_front();
            if !is_refused {
                return packet;
            }
            if let Some(packet) = packet {
                exit.books.drop(exit.now, packet, DropReason::Aqm);
            }
        }
        if exit.left(self.backlog()).packets == 0 {
            self.aqm.on_empty(exit.now);
        }
        None
    }

    #[inline]
    fn backlog(&self) -> Count {
        Count { bytes: self.bytes, packets: self.packets.len() as u64 }
    }

    #[inline]
    fn on_map(&mut self, granted: u64, ungranted: u64) {
        self.aqm.on_map(granted, ungranted);
    }

    #[inline]
    fn next_update(&self) -> Time {
        self.clock.next()
    }

    fn update(&mut self, now: Time, drain_rate: &DrainRate) {
        let backlog = self.backlog();
        let changed = self.aqm.update(now, backlog, drain_rate);
        self.clock.ticked(now, changed || backlog.packets > 0);
    }

    fn gauges(&self, out: &mut Gauges) {
        self.aqm.gauges(out);
    }
}
