//! Stochastic fair queueing: flows hashed to bins, bins served in turn, a law in each bin.
//!
//! With CoDel in the bins this is the SFQ-CoDel of White & Rice 2013 §2.2, after the ns-2 code of
//! Nichols with CableLabs' byte-based rounds. Bins that have just become busy go before the others,
//! as in FQ-CoDel; unlike there (RFC 8290 §4.2), a bin that runs empty leaves the schedule at once.
//!
//! Left out: the ns-2 code puts a newly busy bin behind the current one when that is the only other
//! busy bin; here it goes before. The difference is at most one round of the current bin.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bins::Bins;
use super::{Discipline, Entry, Scheduler, SchedulerParameters};
use crate::aqm::{Aqm, Arrival, Backlog, Departure, Law, LawParameters, LawSpec, Outlet, Verdict};
use crate::metrics::{Gauges, Ledger};
use crate::packet::{DropReason, Packet};
use crate::units::Time;

/// Parameters of stochastic fair queueing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Sfq")]
pub struct Parameters {
    /// Number of bins. White & Rice 2013 §3.2: 32. Hong 2015 §5.2: 1024.
    #[schemars(range(min = 1, max = 65_536))]
    pub bins: u32,
    /// Bytes a bin may send in a round (White & Rice 2013 §3.2: 300); 0 for one packet a round, as
    /// in the first SFQ-CoDel.
    #[schemars(range(min = 0, max = 65_535))]
    pub quantum_bytes: u32,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { bins: 1024, quantum_bytes: 1514 }
    }
}

impl SchedulerParameters for Parameters {
    fn start(&self, law: &LawSpec) -> Scheduler {
        let turn = || Turn { deficit: 0, scheduled: false };
        Sfq {
            quantum: i64::from(self.quantum_bytes),
            bins: Bins::new(self.bins as usize),
            turns: (0..self.bins).map(|_| turn()).collect(),
            laws: (0..self.bins).map(|_| law.start()).collect(),
            fresh: VecDeque::new(),
            rounds: VecDeque::new(),
        }
        .into()
    }
}

struct Turn {
    /// Bytes the bin may still send in this round.
    deficit: i64,
    scheduled: bool,
}

/// Stochastic fair queueing.
pub struct Sfq {
    /// Bytes per round, 0 for one packet.
    quantum: i64,
    bins: Bins,
    turns: Vec<Turn>,
    laws: Vec<Law>,
    /// Bins that became busy and have not used up their first quantum: served first.
    fresh: VecDeque<u32>,
    /// The other busy bins, in turn.
    rounds: VecDeque<u32>,
}

impl Sfq {
    fn schedule(&mut self, bin: usize) {
        let turn = &mut self.turns[bin];
        if !turn.scheduled {
            *turn = Turn { deficit: self.quantum.max(1), scheduled: true };
            self.fresh.push_back(bin as u32);
        }
    }

    /// The bin whose turn it is; bins that have used up their quantum go to the end of the round.
    fn current(&mut self) -> Option<usize> {
        loop {
            let list = if self.fresh.is_empty() { &mut self.rounds } else { &mut self.fresh };
            let bin = *list.front()? as usize;
            if self.turns[bin].deficit > 0 {
                return Some(bin);
            }
            list.pop_front();
            self.turns[bin].deficit += self.quantum.max(1);
            self.rounds.push_back(bin as u32);
        }
    }

    fn unschedule_current(&mut self) {
        let list = if self.fresh.is_empty() { &mut self.rounds } else { &mut self.fresh };
        let bin = list.pop_front().expect("the current bin is at the front of its list");
        self.turns[bin as usize].scheduled = false;
    }

    /// The busy bin with the most bytes, or packets where the limit is in packets.
    fn longest(&self, by_packets: bool) -> Option<usize> {
        let busy = self.fresh.iter().chain(&self.rounds).map(|&bin| bin as usize);
        busy.max_by_key(|&bin| {
            let backlog = self.bins.backlog_of(bin);
            if by_packets { backlog.packets } else { backlog.bytes }
        })
    }

    /// Drops from the tail of the longest bin until there is room; the arrival itself is let in.
    fn make_room(&mut self, size: u64, entry: &mut Entry) {
        while !entry.limit.admits(self.bins.backlog(), size) {
            let Some(bin) = self.longest(entry.limit.bytes == u64::MAX) else {
                return;
            };
            let Some(victim) = self.bins.pop_back(bin) else {
                return;
            };
            self.laws[bin].on_overflow();
            entry.ledger.dropped(entry.now, victim, DropReason::Overflow);
        }
    }
}

impl Discipline for Sfq {
    fn enqueue(&mut self, packet: Packet, entry: &mut Entry) {
        let bin = packet.tuple as usize % self.turns.len();
        let size = u64::from(packet.size);
        self.make_room(size, entry);
        if !entry.limit.admits(self.bins.backlog(), size) {
            entry.ledger.dropped(entry.now, packet, DropReason::Overflow);
            return;
        }
        let arrival = Arrival { now: entry.now, size, backlog: self.bins.backlog_of(bin) };
        if self.laws[bin].on_arrival(&arrival, entry.outlet, entry.rng) == Verdict::Drop {
            entry.ledger.dropped(entry.now, packet, DropReason::Aqm);
            return;
        }
        self.bins.push_back(bin, packet);
        self.schedule(bin);
    }

    fn dequeue(&mut self, now: Time, ledger: &mut Ledger) -> Option<Packet> {
        while let Some(bin) = self.current() {
            let Some(packet) = self.bins.pop_front(bin) else {
                self.laws[bin].on_empty();
                self.unschedule_current();
                continue;
            };
            let departure = Departure {
                now,
                sojourn: now.since(packet.queued_at),
                size: u64::from(packet.size),
                left: self.bins.backlog(),
                alone: self.bins.backlog_of(bin).packets == 0,
            };
            if self.laws[bin].on_departure(&departure) == Verdict::Drop {
                ledger.dropped(now, packet, DropReason::Aqm);
                continue;
            }
            let used = if self.quantum == 0 { 1 } else { i64::from(packet.size) };
            self.turns[bin].deficit -= used;
            return Some(packet);
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.bins.backlog()
    }

    fn next_update(&self) -> Time {
        // All bins start together and tick together.
        self.laws[0].next_update()
    }

    fn update(&mut self, now: Time, outlet: &Outlet) {
        for (bin, law) in self.laws.iter_mut().enumerate() {
            law.update(now, self.bins.backlog_of(bin), outlet);
        }
    }

    fn gauges(&self, out: &mut Gauges) {
        out.set("busy_bins", "1", (self.fresh.len() + self.rounds.len()) as f64);
    }
}
