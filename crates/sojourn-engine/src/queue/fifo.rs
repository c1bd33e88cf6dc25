//! First in, first out, with one AQM algorithm.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::update_clock::UpdateClock;
use super::{Discipline, Entry, Exit, QueueSpec, Scheduler, SchedulerParameters, Setting, Waiting};
use crate::aqm::{Aqm, AqmAlgorithm, Arrival, Departure, DrainRate};
use crate::count::Count;
use crate::packet::{DropReason, Packet};
use crate::record::{Gauges, Lapses, Rest};
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
            entry.counters.drop(entry.now, packet, DropReason::Overflow);
            return;
        }
        let is_markable = entry.counters.can_mark(&packet);
        let (now, ecn, flow) = (entry.now, packet.ecn, packet.tuple);
        let arrival = Arrival { now, size, backlog, share: 1.0, ecn, is_markable, flow };
        let verdict = self.aqm.on_arrival(&arrival, entry.drain_rate, entry.rng);
        if entry.counters.refuses(entry.now, verdict, &mut packet) {
            entry.counters.drop(entry.now, packet, DropReason::Aqm);
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
                is_markable: exit.counters.can_mark(head),
                flow: head.tuple,
            };
            let verdict = self.aqm.on_departure(&departure);
            let is_refused = exit.counters.refuses(exit.now, verdict, head);
            let packet = self.packets.pop_front();
            if !is_refused {
                return packet;
            }
            if let Some(packet) = packet {
                exit.counters.drop(exit.now, packet, DropReason::Aqm);
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

    fn packets(&self) -> Waiting<'_> {
        Box::new(self.packets.iter())
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

    fn retune(&mut self, spec: &QueueSpec) {
        self.aqm.retune(&spec.law);
    }

    fn gauges(&self, out: &mut Gauges) {
        self.aqm.gauges(out);
    }

    fn lapses(&self) -> Lapses {
        self.aqm.lapses()
    }

    fn rest(&self) -> Option<Rest> {
        self.aqm.rest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::NextQueue;
    use crate::queue::aqm_bins::tests::Spies;
    use crate::queue::tests::Bench;

    /// With an algorithm that logs its calls.
    fn fifo() -> (Fifo, Spies, Bench) {
        let (bench, spies) = (Bench::of(3), Spies::default());
        let Scheduler::Fifo(mut fifo) = bench.start(&Parameters {}) else { unreachable!() };
        assert!(fifo.is_open());
        fifo.aqm = spies.algorithm(0);
        assert!(!fifo.is_open());
        (fifo, spies, bench)
    }

    #[test]
    fn its_algorithm_sees_the_whole_line_and_all_that_waits() {
        let (mut fifo, spies, mut bench) = fifo();
        for size in [100, 200, 300, 400] {
            fifo.enqueue(Packet::datagram(size), &mut bench.entry());
        }
        assert_eq!(
            spies.log(),
            [
                "0 takes 100 behind 0, 0 B, share 1, 8000000 bps, 100000 B",
                "0 takes 200 behind 1, 100 B, share 1, 8000000 bps, 100000 B",
                "0 takes 300 behind 2, 300 B, share 1, 8000000 bps, 100000 B",
                "0 overflows",
            ]
        );
        assert_eq!(bench.counts.all.dropped_overflow, 1);
        bench.now = Time::from_ms(2);
        let mut exit = bench.exit();
        assert!(fifo.dequeue(&mut exit).is_some());
        // One packet of 50 bytes waits behind the queue, after 3 ms in there.
        let backlog = Count { packets: 1, bytes: 50 };
        exit.next_queue = NextQueue { sojourn: Time::from_ms(3), backlog };
        assert!(fifo.dequeue(&mut exit).is_some());
        exit.next_queue = NextQueue::default();
        assert!(fifo.dequeue(&mut exit).is_some());
        assert_eq!(
            spies.log(),
            [
                "0 sends 100 after 2 ms, left 2, 500 B, of its own 2, 500 B",
                "0 sends 200 after 5 ms, left 2, 350 B, of its own 2, 350 B",
                "0 sends 300 after 2 ms, left 0, 0 B, of its own 0, 0 B, alone",
            ]
        );
        // It is empty only where nothing waits behind it either.
        exit.next_queue.backlog = backlog;
        assert!(fifo.dequeue(&mut exit).is_none());
        assert!(spies.log().is_empty());
        exit.next_queue.backlog = Count::default();
        assert!(fifo.dequeue(&mut exit).is_none());
        assert_eq!(spies.log(), ["0 is empty at 2 ms"]);
        assert_eq!(fifo.backlog(), Count::default());
    }

    #[test]
    fn it_shows_its_algorithm_and_tells_it_of_maps() {
        let (mut fifo, spies, _) = fifo();
        fifo.on_map(7, 8);
        assert_eq!(spies.log(), ["0 is granted 7 of 15"]);
        let mut shown = Gauges::default();
        fifo.gauges(&mut shown);
        assert_eq!(shown.get("spy"), Some(0.0));
    }
}
