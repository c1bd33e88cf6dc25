//! Bins with their AQM algorithms: the common part of all schedulers that distinguish flows.
//! Schedulers differ in a packet's bin, the next bin, and what is dropped when there is no room.

use super::bins::{Bins, Measure};
use super::rounds::Rounds;
use super::update_clock::UpdateClock;
use super::{Entry, Exit, Setting};
use crate::aqm::{Aqm, AqmAlgorithm, AqmSpec, Arrival, Departure, DrainRate};
use crate::count::Count;
use crate::dialect::Dialect;
use crate::packet::{DropReason, Packet};
use crate::record::Gauges;
use crate::rng::Seed;
use crate::units::Time;

/// What a scheduler leaves to its `aqm_bins`.
macro_rules! by_aqm_bins {
    () => {
        fn backlog(&self) -> crate::count::Count {
            self.aqm_bins.backlog()
        }

        fn packets(&self) -> super::Waiting<'_> {
            Box::new(self.aqm_bins.packets())
        }

        fn on_map(&mut self, granted: u64, ungranted: u64) {
            self.aqm_bins.on_map(granted, ungranted);
        }

        fn next_update(&self) -> crate::units::Time {
            self.aqm_bins.next_update()
        }

        fn update(&mut self, now: crate::units::Time, drain_rate: &crate::aqm::DrainRate) {
            self.aqm_bins.update(now, drain_rate);
        }

        fn retune(&mut self, spec: &crate::queue::QueueSpec) {
            self.aqm_bins.retune(&spec.law_of_bins());
        }
    };
}
pub(super) use by_aqm_bins;

crate::series! {
    /// Number of a watched flow's bin.
    BIN = "bin", in "1";
    /// Bytes that a watched flow's bin may still send in its turn.
    DEFICIT = "deficit", in "B", from "Shreedhar & Varghese 1996";
    /// Bytes in a watched flow's bin.
    BIN_BYTES = "bin_bytes", in "B";
}

/// The decision of the AQM algorithm on the head of a bin.
#[derive(Clone, Copy)]
pub(super) enum Head {
    /// It may leave: a packet of this many bytes.
    Passes(i64),
    /// It was dropped; the next head is to be judged.
    Dropped,
    /// The bin is empty.
    None,
}

/// Bins, with one AQM algorithm each or one for all.
pub(super) struct AqmBins {
    bins: Bins,
    algorithms: Vec<AqmAlgorithm>,
    /// For each algorithm: did the last update change nothing, and has no packet come since?
    at_rest: Vec<bool>,
    /// The numbers of those that are not.
    awake: Vec<u32>,
    clock: UpdateClock,
    spec: AqmSpec,
    seed: Seed,
    /// Does one algorithm judge all bins, by the backlog of all of them?
    shared: bool,
    /// Does an algorithm see its bin's share of the link and of the buffer? The ns-2 code gave each bin the whole.
    shares_link: bool,
}

impl AqmBins {
    /// Creates `count` empty bins with an AQM algorithm each. `measure` decides which bin is
    /// longest.
    pub(super) fn new(count: usize, measure: Measure, setting: &Setting) -> Self {
        Self::with(Bins::new(count, measure), count, false, setting)
    }

    /// Creates `count` empty bins with one AQM algorithm for all.
    pub(super) fn under_one_algorithm(count: usize, setting: &Setting) -> Self {
        Self::with(Bins::new(count, Measure::Bytes), 1, true, setting)
    }

    fn with(bins: Bins, count: usize, shared: bool, setting: &Setting) -> Self {
        let algorithms: Vec<AqmAlgorithm> = (0..count).map(|bin| setting.aqm(bin)).collect();
        let clock = UpdateClock::new(algorithms[0].update_interval());
        Self {
            bins,
            at_rest: vec![false; algorithms.len()],
            awake: (0..algorithms.len() as u32).collect(),
            clock,
            algorithms,
            spec: setting.law.clone(),
            seed: setting.seed,
            shared,
            // An algorithm that goes by sojourn times asks for neither rates nor its own backlog.
            shares_link: !shared
                && setting.dialect != Dialect::Ns2
                && !setting.law.parameters().judges_sojourns(),
        }
    }

    /// From now on its algorithms have other parameters, those of bins to come too.
    pub(super) fn retune(&mut self, spec: &AqmSpec) {
        if self.spec == *spec {
            return; // there may be thousands
        }
        self.algorithms.iter_mut().for_each(|aqm| aqm.retune(spec));
        self.spec = spec.clone();
    }

    /// Grows to at least `count` bins.
    pub(super) fn grow(&mut self, count: usize) {
        self.bins.grow(count);
        while self.algorithms.len() < count && !self.shared {
            let number = self.algorithms.len() as u32;
            let seed = self.seed.numbered(number.into());
            self.algorithms.push(self.spec.parameters().start(seed));
            self.awake.push(number);
            self.at_rest.push(false);
        }
    }

    /// How many bins there are.
    pub(super) fn count(&self) -> usize {
        self.bins.count()
    }

    /// Backlog of all bins.
    pub(super) fn backlog(&self) -> Count {
        self.bins.backlog()
    }

    /// What waits in them.
    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.bins.all()
    }

    /// Backlog of one bin.
    pub(super) fn backlog_of(&self, bin: usize) -> Count {
        self.bins.backlog_of(bin)
    }

    /// The packet at the head of a bin.
    pub(super) fn head(&self, bin: usize) -> Option<&Packet> {
        self.bins.head(bin)
    }

    /// The AQM algorithm of a bin, and the backlog that it looks at.
    #[inline]
    fn aqm_of(&mut self, bin: usize) -> (&mut AqmAlgorithm, Count) {
        if self.shared {
            (&mut self.algorithms[0], self.bins.backlog())
        } else {
            (&mut self.algorithms[bin], self.bins.backlog_of(bin))
        }
    }

    /// What the algorithm of a bin knows of the link. A bin whose packets wait beside those of others drains at its
    /// share of the line, and holds its share of the buffer: the line over the busy bins (RFC 8033 §4.3 takes the
    /// rate at which the queue drains; so does Linux' fq_pie, which measures delays).
    #[inline]
    fn outlet(&self, bin: usize, drain_rate: &DrainRate) -> DrainRate {
        if self.shares_link { drain_rate.part(self.bins.share(bin)) } else { *drain_rate }
    }

    /// Sets what a bin gets of the link, against the others.
    pub(super) fn set_weight(&mut self, bin: usize, weight: f64) {
        self.bins.set_weight(bin, weight);
    }

    /// A bin's length as a fraction of the longest bin's; 1 where each bin has its own algorithm.
    fn share(&mut self, bin: usize) -> f64 {
        if !self.shared {
            return 1.0;
        }
        // White 2014 §4.6: an empty bin is immune, and a single busy bin behaves as a single queue.
        let length = self.bins.backlog_of(bin).bytes as f64;
        self.bins.longest().map_or(1.0, |(_, longest)| length / longest as f64)
    }

    /// Asks the AQM algorithm, then appends or drops the packet. Returns whether it was appended.
    #[inline]
    pub(super) fn push(&mut self, bin: usize, mut packet: Packet, entry: &mut Entry) -> bool {
        let (now, size, share) = (entry.now, u64::from(packet.size), self.share(bin));
        self.clock.wake(now);
        self.stir(bin);
        let outlet = self.outlet(bin, entry.drain_rate);
        let (aqm, backlog) = self.aqm_of(bin);
        let is_markable = entry.counters.can_mark(&packet);
        let (ecn, flow) = (packet.ecn, packet.tuple);
        let arrival = Arrival { now, size, backlog, share, ecn, is_markable, flow };
        let verdict = aqm.on_arrival(&arrival, &outlet, entry.rng);
        if entry.counters.refuses(entry.now, verdict, &mut packet) {
            entry.counters.drop(entry.now, packet, DropReason::Aqm);
            return false;
        }
        self.bins.push_back(bin, packet);
        true
    }

    /// Asks the AQM algorithm about the head of a bin, and drops the head if it says so.
    #[inline]
    pub(super) fn judge_head(&mut self, bin: usize, exit: &mut Exit) -> Head {
        let Some(head) = self.bins.head(bin) else {
            self.emptied(bin, exit.now);
            return Head::None;
        };
        let (size, sojourn) = (u64::from(head.size), exit.sojourn(head));
        let (ecn, flow) = (head.ecn, head.tuple);
        let is_markable = exit.counters.can_mark(head);
        let left = exit.left(self.bins.backlog().without(size));
        let shares_link = self.shares_link;
        let (aqm, waiting) = self.aqm_of(bin);
        let alone = waiting.packets == 1;
        let own_left = if shares_link { waiting.without(size) } else { left };
        let now = exit.now;
        let departure =
            Departure { now, sojourn, size, left, own_left, alone, ecn, is_markable, flow };
        let verdict = aqm.on_departure(&departure);
        let head = self.bins.head_mut(bin).expect("it has a head");
        if !exit.counters.refuses(exit.now, verdict, head) {
            return Head::Passes(size as i64);
        }
        let packet = self.bins.pop_front(bin).expect("it has a head");
        exit.counters.drop(exit.now, packet, DropReason::Aqm);
        Head::Dropped
    }

    /// A packet has come to a bin, so its algorithm is updated again.
    fn stir(&mut self, bin: usize) {
        let number = if self.shared { 0 } else { bin };
        if std::mem::take(&mut self.at_rest[number]) {
            self.awake.push(number as u32);
        }
    }

    /// Appends a packet that waited in another bin; its algorithm has admitted it already.
    pub(super) fn take_over(&mut self, bin: usize, packet: Packet) {
        self.stir(bin);
        self.bins.push_back(bin, packet);
    }

    /// Removes the head of a bin.
    #[inline]
    pub(super) fn pop(&mut self, bin: usize) -> Option<Packet> {
        self.bins.pop_front(bin)
    }

    /// Informs the AQM algorithm of a bin that a packet was requested and none waits.
    pub(super) fn emptied(&mut self, bin: usize, now: Time) {
        let (aqm, waiting) = self.aqm_of(bin);
        if waiting.packets == 0 {
            aqm.on_empty(now);
        }
    }

    /// Drops a packet of this bin for lack of room.
    pub(super) fn overflow(&mut self, bin: usize, packet: Packet, entry: &mut Entry) {
        self.aqm_of(bin).0.on_overflow();
        entry.counters.drop(entry.now, packet, DropReason::Overflow);
    }

    /// Drops the tail of a bin for lack of room.
    pub(super) fn shed_tail(&mut self, bin: usize, entry: &mut Entry) {
        if let Some(victim) = self.bins.pop_back(bin) {
            self.overflow(bin, victim, entry);
        }
    }

    /// The longest bin.
    pub(super) fn longest(&mut self) -> Option<usize> {
        self.bins.longest().map(|(bin, _)| bin)
    }

    /// Before an arrival of `size` bytes: drops from the tail of the longest bin until it fits.
    pub(super) fn make_room(&mut self, size: u64, entry: &mut Entry) {
        while let Some((bin, victim)) = self.take_excess(size, entry) {
            self.overflow(bin, victim, entry);
        }
    }

    /// Removes the tail of the longest bin if otherwise there is no room for `size` bytes.
    pub(super) fn take_excess(&mut self, size: u64, entry: &Entry) -> Option<(usize, Packet)> {
        if entry.limit.admits(self.bins.backlog(), size) {
            return None;
        }
        let (bin, _) = self.bins.longest()?;
        Some((bin, self.bins.pop_back(bin)?))
    }

    /// After an arrival: drops from the head of the longest bin until the limit holds. `batch`
    /// turns its length in packets into the number of packets to drop at once.
    pub(super) fn shed(&mut self, entry: &mut Entry, batch: impl Fn(u64) -> u64) {
        while !entry.limit.holds(self.bins.backlog()) {
            let Some((bin, _)) = self.bins.longest() else { return };
            for _ in 0..batch(self.bins.backlog_of(bin).packets) {
                self.shed_head(bin, entry);
            }
        }
    }

    /// After an arrival: drops from the head of the longest bin, until half of its bytes are gone or `most` packets.
    pub(super) fn shed_bytes(&mut self, entry: &mut Entry, most: u64) {
        while !entry.limit.holds(self.bins.backlog()) {
            let Some((bin, _)) = self.bins.longest() else { return };
            let until = self.bins.backlog_of(bin).bytes.div_ceil(2);
            for _ in 0..most {
                self.shed_head(bin, entry);
                if self.bins.backlog_of(bin).bytes <= until {
                    break;
                }
            }
        }
    }

    /// After an arrival: drops the head of the longest bin if the limit does not hold. Returns the bin and the bytes.
    #[inline]
    pub(super) fn shed_longest(&mut self, entry: &mut Entry) -> Option<(usize, u64)> {
        if entry.limit.holds(self.bins.backlog()) {
            return None;
        }
        let (bin, _) = self.bins.longest()?;
        let size = self.bins.head(bin)?.size.into();
        self.shed_head(bin, entry);
        Some((bin, size))
    }

    /// Drops the head of a bin for lack of room.
    pub(super) fn shed_head(&mut self, bin: usize, entry: &mut Entry) {
        let Some(victim) = self.bins.pop_front(bin) else { return };
        self.aqm_of(bin).0.on_shed();
        entry.counters.drop(entry.now, victim, DropReason::Overflow);
    }

    /// Informs the AQM algorithms of a MAP on the link that all bins share.
    #[inline]
    pub(super) fn on_map(&mut self, granted: u64, ungranted: u64) {
        if self.algorithms[0].follows_maps() {
            self.algorithms.iter_mut().for_each(|aqm| aqm.on_map(granted, ungranted));
        }
    }

    /// When `update` is due next. All algorithms are updated together; one that was added later
    /// joins at its first update.
    pub(super) fn next_update(&self) -> Time {
        self.clock.next()
    }

    /// Runs the periodic update of the AQM algorithms.
    pub(super) fn update(&mut self, now: Time, drain_rate: &DrainRate) {
        let mut place = 0;
        while let Some(&number) = self.awake.get(place) {
            let bin = number as usize;
            let outlet = self.outlet(bin, drain_rate);
            let (aqm, backlog) = self.aqm_of(bin);
            if aqm.update(now, backlog, &outlet) || backlog.packets > 0 {
                place += 1;
            } else {
                self.at_rest[bin] = true;
                self.awake.swap_remove(place);
            }
        }
        self.clock.ticked(now, !self.awake.is_empty());
    }

    /// The bin that a hash selects.
    #[inline]
    pub(super) fn hashed(&self, tuple: u32) -> usize {
        tuple as usize % self.count()
    }

    /// Reports a flow's view of its bin, which takes turns.
    pub(super) fn flow_gauges(&self, bin: usize, rounds: &Rounds, out: &mut Gauges) {
        out.show(BIN, bin as f64);
        out.show(DEFICIT, rounds.deficit(bin) as f64);
        self.bin_gauges(bin, out);
    }

    /// Reports what is in a bin, and the state of its AQM algorithm.
    pub(super) fn bin_gauges(&self, bin: usize, out: &mut Gauges) {
        out.show(BIN_BYTES, self.bins.backlog_of(bin).bytes as f64);
        if !self.shared {
            self.algorithms[bin].gauges(out);
        }
    }

    /// Reports the state of the AQM algorithm, if there is one for all bins.
    pub(super) fn gauges(&self, out: &mut Gauges) {
        if self.shared {
            self.algorithms[0].gauges(out);
        }
    }
}

#[cfg(test)]
#[path = "aqm_bins_tests.rs"]
pub(super) mod tests;
