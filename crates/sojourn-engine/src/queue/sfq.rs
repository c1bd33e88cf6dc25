//! Stochastic fair queueing (McKenney 1990): flows are hashed to bins, bins are served in turn, and each bin has an
//! AQM algorithm.
//!
//! With CoDel it is the SFQ-CoDel of White & Rice 2013 §2.2, after the ns-2 code of Nichols with
//! CableLabs' byte-based rounds. Bins that have just become busy go before the others, as in
//! FQ-CoDel; but a bin that runs empty leaves the schedule at once, unlike RFC 8290 §4.2. With one
//! PIE for all bins it is the SFQ-PIE of White 2014 §4.6.
//!
//! Differences from the ns-2 code: there a bin goes before the others until it is first served,
//! here until it has used up its first quantum; and of several longest bins ns-2 spares the one
//! that was cut last.
//!
//! Left out of Linux' `sch_sfq`: RED in its bins, for which there is the queue's law; and its limit of flows at a time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aqm_bins::{AqmBins, Head};
use super::bins::Measure;
use super::flow_table::mixed;
use super::rounds::Rounds;
use super::{
    Books, Discipline, Entry, Exit, FlowKey, FlowTable, Scheduler, SchedulerParameters, Setting,
};
use crate::aqm::AqmSpec;
use crate::aqm::DrainRate;
use crate::count::Count;
use crate::dialect::Dialect;
use crate::packet::{DropReason, Packet};
use crate::record::Gauges;
use crate::rng::Rng;
use crate::units::Time;
use sojourn_input::problem::{Fault, Faults};

/// Bytes of the smallest Ethernet frame.
const SMALLEST_PACKET: u32 = 64;

/// The most packets of a flow in Linux (`SFQ_MAX_DEPTH`).
const LINUX_DEPTH: u64 = 127;

/// Whose rules it follows where they differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// White & Rice 2013: a bin that has just become busy goes before the others. A full queue drops from the tail of
    /// the longest bin before it takes an arrival.
    #[default]
    White2013,
    /// Linux 7.2, `sfq`: a bin that has just become busy joins the end of the round. A full queue takes the arrival,
    /// then drops from the bin with most packets; of several, from the one that changed last.
    Linux,
}

/// Parameters of stochastic fair queueing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Sfq")]
pub struct Parameters {
    /// Number of bins that flows are hashed to (White & Rice 2013 §3.2: 32; Hong 2015 §5.2: 1024).
    #[schemars(range(min = 1, max = 65_536))]
    pub bins: u32,
    /// Bytes that a bin may send in a round (White & Rice 2013 §3.2: 300). 0 means one packet a
    /// round, as in the first SFQ-CoDel. Other values must be at least 64, the smallest frame.
    #[schemars(range(min = 0, max = 65_535))]
    pub quantum_bytes: u32,
    /// Use one AQM algorithm for all bins (White 2014 §4.6, SFQ-PIE). It looks at the backlog of
    /// all bins. Its drop probability is multiplied by the bin's length divided by the length of
    /// the longest bin. Algorithms without a drop probability treat all bins alike. With `false`,
    /// each bin has its own algorithm.
    pub one_law: bool,
    /// Whose rules it follows where they differ.
    pub variant: Variant,
    /// Time after which flows are hashed to other bins, in s (tc-sfq(8), `perturb`); 0 for never. Waiting packets
    /// stay where they are, so later ones of their flow may overtake them. With `variant = "linux"` they move too.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub perturb_s: f64,
    /// Packets that a bin may hold (tc-sfq(8), `depth`). Default: no limit; with `variant = "linux"` 127.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub flow_limit_packets: Option<u64>,
    /// Drop from the head of a bin, not from its tail (tc-sfq(8), `headdrop`). Only with `variant = "linux"`.
    pub head_drop: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            bins: 1024,
            quantum_bytes: 1514,
            one_law: false,
            variant: Variant::default(),
            perturb_s: 0.0,
            flow_limit_packets: None,
            head_drop: false,
        }
    }
}

impl SchedulerParameters for Parameters {
    fn bins(&self) -> (u32, u32) {
        (self.bins, if self.one_law { 1 } else { self.bins })
    }

    fn start(&self, setting: &Setting) -> Scheduler {
        let bins = self.bins as usize;
        let is_linux = self.variant == Variant::Linux;
        let aqm_bins = if self.one_law {
            AqmBins::under_one_algorithm(bins, setting)
        } else if is_linux {
            AqmBins::new(bins, Measure::PacketsThenLast, setting)
        } else {
            AqmBins::new(bins, setting.limit.measure(), setting)
        };
        Sfq {
            flows: FlowTable::default(),
            aqm_bins,
            rounds: Rounds::new(bins, i64::from(self.quantum_bytes)),
            hashing: Hashing::new(self.perturb_s),
            by_packet: self.quantum_bytes == 0,
            ns2: setting.dialect == Dialect::Ns2,
            is_linux,
            flow_limit: self.flow_limit_packets.unwrap_or(if is_linux {
                LINUX_DEPTH
            } else {
                u64::MAX
            }),
            head_drop: self.head_drop,
        }
        .into()
    }

    fn check(&self, law: &AqmSpec, _largest: u64) -> Faults {
        let mut faults = Faults::default();
        let is_linux = self.variant == Variant::Linux;
        if self.one_law && is_linux {
            let message = "found true with variant = \"linux\"; allowed: false, since Linux' SFQ has no \
                           algorithm for all bins";
            faults.add(Fault::new("one_law", message));
        } else if self.one_law && law.parameters().judges_sojourns() {
            let message = "found true with an AQM algorithm that judges each packet by its sojourn time; \
                           allowed: false, since packets of sparse flows would switch it off";
            faults.add(Fault::new("one_law", message));
        }
        if self.head_drop && !is_linux {
            let message = "found true with variant = \"white2013\", which drops from the tail; allowed: \
                           false, or variant = \"linux\"";
            faults.add(Fault::new("head_drop", message));
        }
        if (1..SMALLEST_PACKET).contains(&self.quantum_bytes) {
            let message = format!(
                "found {}; allowed: 0 (one packet a round), or {SMALLEST_PACKET} (the smallest frame) \
                 or more",
                self.quantum_bytes
            );
            faults.add(Fault::new("quantum_bytes", message));
        }
        faults
    }
}

/// How flows are hashed, which may change from time to time.
struct Hashing {
    interval: Time,
    next: Time,
    /// What hashes are mixed with, once they have been changed.
    salt: Option<u32>,
}

impl Hashing {
    fn new(perturb_s: f64) -> Self {
        let interval = if perturb_s > 0.0 { Time::from_secs_f64(perturb_s) } else { Time::NEVER };
        Self { interval, next: interval, salt: None }
    }

    /// Changes the hashes if that has become due. Returns whether it did.
    #[inline]
    fn perturb(&mut self, now: Time, rng: &mut Rng) -> bool {
        let is_due = now >= self.next;
        if is_due {
            self.next = self.interval.times(now.ps() / self.interval.ps() + 1);
            self.salt = Some(rng.bits() as u32);
        }
        is_due
    }

    fn of(&self, flow: u32) -> u32 {
        self.salt.map_or(flow, |salt| mixed(flow.wrapping_add(salt)))
    }
}

/// Stochastic fair queueing.
pub struct Sfq {
    aqm_bins: AqmBins,
    rounds: Rounds,
    hashing: Hashing,
    /// Is a round one packet of each bin?
    by_packet: bool,
    ns2: bool,
    is_linux: bool,
    flow_limit: u64,
    head_drop: bool,
    flows: FlowTable,
}

impl Sfq {
    fn bin(&self, flow: u32) -> usize {
        self.aqm_bins.hashed(self.hashing.of(flow))
    }

    fn is_full(&self, bin: usize) -> bool {
        self.aqm_bins.backlog_of(bin).packets >= self.flow_limit
    }

    fn schedule(&mut self, bin: usize) {
        // ns-2 queue/sfqcodel.cc: behind the current bin if that is the only other busy one.
        if self.is_linux || self.ns2 && self.rounds.busy() == 1 {
            self.rounds.join_last(bin);
        } else {
            self.rounds.join_first(bin);
        }
    }

    /// Changes the hashes if that has become due.
    #[inline]
    fn perturb(&mut self, now: Time, rng: &mut Rng, books: &mut Books) {
        if self.hashing.perturb(now, rng) && self.is_linux {
            self.rehash(now, books);
        }
    }

    /// Moves all packets to the bins of new hashes; those that find their bin full are dropped (`sfq_rehash`).
    fn rehash(&mut self, now: Time, books: &mut Books) {
        let mut waiting = Vec::new();
        while let Some(bin) = self.rounds.first() {
            waiting.extend(std::iter::from_fn(|| self.aqm_bins.pop(bin)));
            self.rounds.retire_current();
        }
        for packet in waiting {
            let bin = self.bin(self.flows.hash(&packet));
            if self.is_full(bin) {
                books.drop(now, packet, DropReason::Overflow);
            } else {
                self.aqm_bins.take_over(bin, packet);
                self.rounds.join_last(bin);
            }
        }
    }

    /// Drops packets as Linux does, until the limit holds.
    fn shed(&mut self, entry: &mut Entry) {
        while !entry.limit.holds(self.aqm_bins.backlog()) {
            let (Some(longest), Some(first)) = (self.aqm_bins.longest(), self.rounds.first())
            else {
                return;
            };
            if self.aqm_bins.backlog_of(longest).packets > 1 {
                self.shed_one(longest, entry);
            } else {
                // All hold one: the next to be served loses it and its turn.
                self.shed_one(first, entry);
                self.rounds.retire_current();
            }
        }
    }

    fn shed_one(&mut self, bin: usize, entry: &mut Entry) {
        if self.head_drop {
            self.aqm_bins.shed_head(bin, entry);
        } else {
            self.aqm_bins.shed_tail(bin, entry);
        }
    }
}

impl Discipline for Sfq {
    fn enqueue(&mut self, packet: Packet, entry: &mut Entry) {
        self.perturb(entry.now, entry.rng, &mut entry.books);
        let bin = self.bin(self.flows.hash(&packet));
        let size = u64::from(packet.size);
        if !self.is_linux {
            self.aqm_bins.make_room(size, entry);
        }
        if self.is_full(bin) && self.head_drop {
            self.aqm_bins.shed_head(bin, entry);
        }
        let has_room = self.is_linux || entry.limit.admits(self.aqm_bins.backlog(), size);
        if self.is_full(bin) || !has_room {
            self.aqm_bins.overflow(bin, packet, entry);
        } else if self.aqm_bins.push(bin, packet, entry) {
            self.schedule(bin);
            if self.is_linux {
                self.shed(entry);
            }
        }
    }

    fn dequeue(&mut self, exit: &mut Exit) -> Option<Packet> {
        self.perturb(exit.now, exit.rng, &mut exit.books);
        while let Some(bin) = self.rounds.current(|_| 1) {
            match self.aqm_bins.judge_head(bin, exit) {
                Head::Passes(size) => {
                    self.rounds.charge(bin, if self.by_packet { 1 } else { size });
                    let packet = self.aqm_bins.pop(bin);
                    if self.is_linux && self.aqm_bins.backlog_of(bin).packets == 0 {
                        self.rounds.retire_current();
                    }
                    return packet;
                }
                Head::Dropped => {}
                Head::None => self.rounds.retire_current(),
            }
        }
        None
    }

    fn backlog(&self) -> Count {
        self.aqm_bins.backlog()
    }

    fn on_map(&mut self, granted: u64, ungranted: u64) {
        self.aqm_bins.on_map(granted, ungranted);
    }

    fn next_update(&self) -> Time {
        self.aqm_bins.next_update()
    }

    fn update(&mut self, now: Time, drain_rate: &DrainRate) {
        self.aqm_bins.update(now, drain_rate);
    }

    fn set_flow_classifier(&mut self, flows: &FlowTable, _names: &[&str]) {
        self.flows = flows.clone();
    }

    fn gauges(&self, out: &mut Gauges) {
        out.set("busy_bins", "1", self.rounds.busy() as f64);
        self.aqm_bins.gauges(out);
    }

    fn flow_gauges(&self, flow: FlowKey, out: &mut Gauges) {
        self.aqm_bins.flow_gauges(self.bin(flow.hash), &self.rounds, out);
    }
}
