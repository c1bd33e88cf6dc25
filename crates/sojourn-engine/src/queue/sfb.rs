//! SFB, stochastic fair BLUE (Feng, Kandlur, Saha & Shin 2001, "Stochastic fair blue: a queue management algorithm for
//! enforcing fairness"; Linux 7.2 `sch_sfb`).
//!
//! A flow is hashed to one of 16 buckets on each of 8 levels. A bucket counts its packets in the queue and has a
//! probability as in BLUE: it rises while the bucket holds its target or more, and falls when it is empty. A packet is
//! signalled with the least probability of its eight buckets, so a flow shares that of another only if all eight are
//! shared (section III of the paper). A flow whose least probability is 1 does not respond, and is limited to a few
//! packets per second. Hashes are renewed from time to time; before that, buckets of the next ones learn.
//!
//! Above a half, packets are dropped even if they could be marked, more the higher it is.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow_table::mixed;
use super::{
    Discipline, Entry, Exit, FlowTable, Scheduler, SchedulerParameters, Setting, Waiting, no_law,
};
use crate::aqm::{AqmSpec, Threshold, Verdict};
use crate::count::Count;
use crate::packet::{DropReason, FULL_PACKET, Packet};
use crate::record::Gauges;
use crate::rng::Rng;
use crate::units::{BitRate, Time};
use sojourn_input::compare::at_least;
use sojourn_input::problem::Faults;

crate::series! {
    /// SFB: the largest probability of all buckets.
    MOST_PROBABILITY = "most_probability", in "1", from "Feng 2001, section III";
}

/// Levels, and buckets of each: 32 bits of a hash are eight of four.
const LEVELS: usize = 8;
const BUCKETS: usize = 16;
/// A probability of 1.
const ONE: u32 = 0xffff;

/// Parameters of SFB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Sfb")]
pub struct Parameters {
    /// Packets that a bucket holds at most: those of a flow all of whose buckets hold as many are dropped.
    #[schemars(range(min = 1, max = 65_535))]
    pub max_packets: u32,
    /// From so many packets on a bucket's probability rises.
    #[schemars(range(min = 1, max = 65_535))]
    pub target_packets: u32,
    /// What a probability rises by.
    #[schemars(range(min = 1e-5, max = 1.0))]
    pub increment: f64,
    /// What it falls by.
    #[schemars(range(min = 1e-5, max = 1.0))]
    pub decrement: f64,
    /// Packets per second of a flow that does not respond; 0 for none.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub penalty_rate_pps: u32,
    /// Packets of such flows that may come at once.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub penalty_burst_packets: u32,
    /// Time after which hashes are renewed in s; 0 for never.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub rehash_s: f64,
    /// How long before that the next buckets learn, in s.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub warmup_s: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            max_packets: 25,
            target_packets: 20,
            increment: 0.001,
            decrement: 1.0 / 6000.0,
            penalty_rate_pps: 10,
            penalty_burst_packets: 20,
            rehash_s: 600.0,
            warmup_s: 60.0,
        }
    }
}

impl SchedulerParameters for Parameters {
    fn start(&self, _setting: &Setting) -> Scheduler {
        let part = |fraction: f64| ((fraction * f64::from(ONE) + 0.5) as u32).max(1);
        Sfb {
            increment: part(self.increment),
            decrement: part(self.decrement),
            packets: VecDeque::new(),
            hashes: VecDeque::new(),
            bytes: 0,
            slots: Box::new([Slot::EMPTY; 2]),
            current: 0,
            is_seeded: false,
            learns: false,
            hashed_ms: 0,
            tokens: self.penalty_burst_packets,
            tokens_ms: 0,
            flows: FlowTable::default(),
            parameters: self.clone(),
        }
        .into()
    }

    fn threshold(&self, rate: BitRate) -> Option<Threshold> {
        let (target, bytes) = (f64::from(self.target_packets), FULL_PACKET as f64);
        let (twice, also) = (Some("max_packets"), Some(("decrement", self.increment)));
        Some(Threshold {
            twice,
            also,
            ..Threshold::of_packets("target_packets", target, bytes, rate)
        })
    }

    fn check(&self, law: &AqmSpec, _largest: u64) -> Faults {
        let mut faults = Faults::from(no_law("sfb", law));
        let (max, target) = (f64::from(self.max_packets), f64::from(self.target_packets));
        faults.add(at_least(("max_packets", max), ("target_packets", target)));
        if self.rehash_s > 0.0 {
            faults.add(at_least(("rehash_s", self.rehash_s), ("warmup_s", self.warmup_s)));
        }
        faults
    }
}

#[derive(Clone, Copy, Default)]
struct Bucket {
    packets: u16,
    probability: u16,
}

/// Buckets and the number that hashes are mixed with.
#[derive(Clone, Copy)]
struct Slot {
    salt: u32,
    buckets: [[Bucket; BUCKETS]; LEVELS],
}

impl Slot {
    const EMPTY: Self =
        Self { salt: 0, buckets: [[Bucket { packets: 0, probability: 0 }; BUCKETS]; LEVELS] };

    /// A new number, and the second draw that 128 bits take.
    fn salt(&mut self, rng: &mut Rng) {
        self.salt = (rng.bits() & 0xffff_ffff) as u32;
        rng.bits();
    }

    /// A hash of a flow; never 0, which stands for none.
    fn hash(&self, flow: u32) -> u32 {
        mixed(flow.wrapping_add(1).wrapping_mul(0x9e37_79b9).wrapping_add(self.salt)).max(1)
    }

    /// The buckets of a hash, one of each level.
    fn of(&mut self, hash: u32) -> impl Iterator<Item = &mut Bucket> {
        let levels = self.buckets.iter_mut().enumerate();
        levels.map(move |(level, buckets)| &mut buckets[(hash >> (4 * level)) as usize % BUCKETS])
    }
}

/// SFB.
pub struct Sfb {
    parameters: Parameters,
    increment: u32,
    decrement: u32,
    packets: VecDeque<Packet>,
    /// The hashes of each packet in both slots; 0 where a slot does not count it.
    hashes: VecDeque<[u32; 2]>,
    bytes: u64,
    slots: Box<[Slot; 2]>,
    /// The slot that decides.
    current: usize,
    is_seeded: bool,
    /// Does the other slot learn?
    learns: bool,
    hashed_ms: u64,
    /// Packets that flows which do not respond may still send.
    tokens: u32,
    tokens_ms: u64,
    flows: FlowTable,
}

fn ms(time: Time) -> u64 {
    time.ps() / 1_000_000_000
}

impl Sfb {
    /// Renews the hashes if it is time, or lets the next buckets learn.
    fn rehash(&mut self, now: Time, rng: &mut Rng) {
        if !std::mem::replace(&mut self.is_seeded, true) {
            self.slots.iter_mut().for_each(|slot| slot.salt(rng));
        }
        let Parameters { rehash_s, warmup_s, .. } = self.parameters;
        if rehash_s == 0.0 {
            return;
        }
        let at = |before_s: f64| self.hashed_ms + ((rehash_s - before_s) * 1e3) as u64;
        if ms(now) > at(0.0) {
            self.slots[self.current].salt(rng);
            self.current ^= 1;
            self.learns = false;
            self.hashed_ms = ms(now);
        } else if ms(now) > at(warmup_s) {
            self.learns = true;
        }
    }

    /// Moves the probabilities of a hash's buckets. Returns the least one and the least number of packets.
    fn learn(&mut self, slot: usize, hash: u32) -> (u32, u32) {
        let (mut probability, mut packets) = (ONE, u32::MAX);
        for bucket in self.slots[slot].of(hash) {
            let mut moved = u32::from(bucket.probability);
            if bucket.packets == 0 {
                moved = moved.saturating_sub(self.decrement);
            } else if u32::from(bucket.packets) >= self.parameters.target_packets {
                moved = (moved + self.increment).min(ONE);
            }
            bucket.probability = moved as u16;
            probability = probability.min(moved);
            packets = packets.min(bucket.packets.into());
        }
        (probability, packets)
    }

    /// Has a flow that does not respond sent all that it may?
    fn is_spent(&mut self, now: Time) -> bool {
        let Parameters { penalty_rate_pps: rate, penalty_burst_packets: burst, .. } =
            self.parameters;
        if rate == 0 || burst == 0 {
            return true;
        }
        if self.tokens == 0 {
            let age_ms = (ms(now) - self.tokens_ms).min(10_000);
            self.tokens = (age_ms * u64::from(rate) / 1000).min(burst.into()) as u32;
            self.tokens_ms = ms(now);
            if self.tokens == 0 {
                return true;
            }
        }
        self.tokens -= 1;
        false
    }

    /// What becomes of a packet, and its hashes.
    fn judge(&mut self, packet: &Packet, entry: &mut Entry) -> (Verdict, [u32; 2]) {
        self.rehash(entry.now, entry.rng);
        let flow = self.flows.hash(packet);
        let mut hashes = [0; 2];
        hashes[self.current] = self.slots[self.current].hash(flow);
        let (probability, packets) = self.learn(self.current, hashes[self.current]);
        if packets >= self.parameters.max_packets {
            return (Verdict::Drop, hashes);
        }
        if probability >= ONE {
            if self.learns {
                let other = self.current ^ 1;
                hashes[other] = self.slots[other].hash(flow);
                self.learn(other, hashes[other]);
            }
            let verdict = if self.is_spent(entry.now) { Verdict::Drop } else { Verdict::Pass };
            return (verdict, hashes);
        }
        let random = (entry.rng.bits() >> 48) as u32;
        let verdict = if random >= probability {
            Verdict::Pass
        } else if random < probability.saturating_sub(ONE / 2) * 2 {
            Verdict::Drop
        } else {
            Verdict::Signal
        };
        (verdict, hashes)
    }

    fn count(&mut self, hashes: [u32; 2], change: i16) {
        for (slot, hash) in self.slots.iter_mut().zip(hashes).filter(|(_, hash)| *hash != 0) {
            for bucket in slot.of(hash) {
                bucket.packets = bucket.packets.saturating_add_signed(change);
            }
        }
    }
}

impl Discipline for Sfb {
    fn enqueue(&mut self, mut packet: Packet, entry: &mut Entry) {
        let size = u64::from(packet.size);
        if !entry.limit.admits(self.backlog(), size) {
            return entry.counters.drop(entry.now, packet, DropReason::Overflow);
        }
        let (verdict, hashes) = self.judge(&packet, entry);
        if entry.counters.refuses(entry.now, verdict, &mut packet) {
            return entry.counters.drop(entry.now, packet, DropReason::Aqm);
        }
        self.count(hashes, 1);
        self.bytes += size;
        self.packets.push_back(packet);
        self.hashes.push_back(hashes);
    }

    fn dequeue(&mut self, _exit: &mut Exit) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        let hashes = self.hashes.pop_front().unwrap_or_default();
        self.count(hashes, -1);
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    fn backlog(&self) -> Count {
        Count { bytes: self.bytes, packets: self.packets.len() as u64 }
    }

    fn flow_target(&self) -> Option<u64> {
        Some(self.parameters.target_packets.into())
    }

    fn packets(&self) -> Waiting<'_> {
        Box::new(self.packets.iter())
    }

    fn set_flow_classifier(&mut self, flows: &FlowTable, _names: &[&str]) {
        self.flows = flows.clone();
    }

    fn gauges(&self, out: &mut Gauges) {
        let buckets = self.slots[self.current].buckets.iter().flatten();
        let most = buckets.map(|bucket| bucket.probability).max().unwrap_or_default();
        out.show(MOST_PROBABILITY, f64::from(most) / f64::from(ONE));
    }
}

#[cfg(test)]
#[path = "sfb_tests.rs"]
mod tests;
