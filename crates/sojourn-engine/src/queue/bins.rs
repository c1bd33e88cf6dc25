//! Packets waiting in many bins that share one pool of memory.
//!
//! Each bin is a chain through the pool, so an empty bin costs a few words, and a packet is written
//! once, wherever it waits. A tournament finds the longest bin, so that an overflow need not search
//! for its victim. Lengths enter the tournament only when the longest bin is needed, so it costs
//! nothing while there is room.

use crate::count::Count;
use crate::packet::Packet;
use crate::tournament::Tournament;

const END: u32 = u32::MAX;

struct Slot {
    packet: Option<Packet>,
    before: u32,
    next: u32,
}

#[derive(Clone, Copy)]
struct Chain {
    head: u32,
    tail: u32,
    backlog: Count,
    /// Its share of the link, against those of the other bins.
    weight: f64,
    /// The number of its last change among those of all bins.
    changed_at: u64,
    /// Is it in the list of bins whose length has changed?
    is_changed: bool,
}

const EMPTY: Chain = Chain {
    head: END,
    tail: END,
    backlog: Count { bytes: 0, packets: 0 },
    weight: 1.0,
    changed_at: 0,
    is_changed: false,
};

/// Unit in which bins are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Measure {
    /// Bytes on the wire.
    Bytes,
    /// Packets.
    Packets,
    /// Packets; of several bins with as many, the one that changed last is the longest.
    PacketsThenLast,
}

/// The bits of a length that tell the last change from others.
const CHANGE_BITS: u32 = 40;

impl Measure {
    /// A number by which bins are compared; 0 for an empty one.
    #[inline]
    fn of(self, chain: &Chain) -> u64 {
        let Count { bytes, packets } = chain.backlog;
        match self {
            Self::Bytes => bytes,
            Self::Packets => packets,
            Self::PacketsThenLast if packets == 0 => 0,
            Self::PacketsThenLast => (packets << CHANGE_BITS) + chain.changed_at,
        }
    }
}

/// Bins and the pool they share.
pub(super) struct Bins {
    slots: Vec<Slot>,
    free: u32,
    chains: Vec<Chain>,
    total: Count,
    /// Weights of the bins that packets wait in.
    busy_weight: f64,
    measure: Measure,
    /// Keys are complements of lengths, so the least key is the longest bin. An empty bin does not
    /// compete.
    lengths: Tournament,
    /// Bins whose length has changed since the longest was last determined.
    changed: Vec<u32>,
    /// How often any bin has changed.
    changes: u64,
}

impl Bins {
    /// Creates `count` empty bins.
    pub(super) fn new(count: usize, measure: Measure) -> Self {
        Self {
            slots: Vec::new(),
            free: END,
            chains: vec![EMPTY; count],
            total: Count::default(),
            busy_weight: 0.0,
            measure,
            lengths: Tournament::new(count),
            changed: Vec::new(),
            changes: 0,
        }
    }

    /// How many bins there are.
    pub(super) fn count(&self) -> usize {
        self.chains.len()
    }

    /// Grows to at least `count` bins.
    pub(super) fn grow(&mut self, count: usize) {
        if count > self.chains.len() {
            self.chains.resize(count, EMPTY);
            self.lengths.grow(count);
        }
    }

    /// Backlog of one bin.
    pub(super) fn backlog_of(&self, bin: usize) -> Count {
        self.chains[bin].backlog
    }

    /// Backlog of all bins.
    pub(super) fn backlog(&self) -> Count {
        self.total
    }

    /// What waits in them.
    pub(super) fn all(&self) -> impl Iterator<Item = &Packet> {
        self.slots.iter().filter_map(|slot| slot.packet.as_ref())
    }

    /// The packet at the head of a bin.
    pub(super) fn head(&self, bin: usize) -> Option<&Packet> {
        self.slots.get(self.chains[bin].head as usize)?.packet.as_ref()
    }

    /// The packet at the head of a bin, for marking.
    pub(super) fn head_mut(&mut self, bin: usize) -> Option<&mut Packet> {
        self.slots.get_mut(self.chains[bin].head as usize)?.packet.as_mut()
    }

    /// The longest bin and its length in its measure, or `None` if all are empty. Ties go to the lower number.
    pub(super) fn longest(&mut self) -> Option<(usize, u64)> {
        for bin in self.changed.drain(..) {
            let chain = &mut self.chains[bin as usize];
            chain.is_changed = false;
            self.lengths.set(bin, !self.measure.of(chain));
        }
        self.lengths.first().map(|(bin, key)| (bin, !key))
    }

    /// Sets the weight of an empty bin.
    pub(super) fn set_weight(&mut self, bin: usize, weight: f64) {
        self.chains[bin].weight = weight;
    }

    /// What a bin gets of the link while those are busy that are busy now, itself included.
    #[inline]
    pub(super) fn share(&self, bin: usize) -> f64 {
        let Chain { weight, backlog, .. } = self.chains[bin];
        let busy = if backlog.packets == 0 { self.busy_weight + weight } else { self.busy_weight };
        weight / busy
    }

    /// Appends a packet to a bin.
    #[inline]
    pub(super) fn push_back(&mut self, bin: usize, packet: Packet) {
        let size = u64::from(packet.size);
        let before = self.chains[bin].tail;
        let slot = self.take_slot(Slot { packet: Some(packet), before, next: END });
        let chain = &mut self.chains[bin];
        match before {
            END => chain.head = slot,
            tail => self.slots[tail as usize].next = slot,
        }
        chain.tail = slot;
        if chain.backlog.packets == 0 {
            self.busy_weight += chain.weight;
        }
        chain.backlog = chain.backlog.with(size);
        self.total = self.total.with(size);
        self.note_change(bin);
    }

    /// Removes the packet at the head of a bin.
    #[inline]
    pub(super) fn pop_front(&mut self, bin: usize) -> Option<Packet> {
        let slot = self.chains[bin].head;
        let next = self.slots.get(slot as usize)?.next;
        self.chains[bin].head = next;
        match next {
            END => self.chains[bin].tail = END,
            head => self.slots[head as usize].before = END,
        }
        self.release(bin, slot)
    }

    /// Removes the packet at the tail of a bin.
    pub(super) fn pop_back(&mut self, bin: usize) -> Option<Packet> {
        let slot = self.chains[bin].tail;
        self.remove_slot(bin, slot)
    }

    /// The packets of a bin, from its head on.
    pub(super) fn packets(&self, bin: usize) -> impl Iterator<Item = &Packet> {
        self.slots_of(bin).filter_map(|slot| self.slots[slot as usize].packet.as_ref())
    }

    /// Removes the packet at a place of a bin, the head being place 0.
    pub(super) fn remove(&mut self, bin: usize, place: usize) -> Option<Packet> {
        let slot = self.slots_of(bin).nth(place)?;
        self.remove_slot(bin, slot)
    }

    fn slots_of(&self, bin: usize) -> impl Iterator<Item = u32> {
        let next = |slot: u32| self.slots.get(slot as usize).map(|_| slot);
        std::iter::successors(next(self.chains[bin].head), move |slot| {
            next(self.slots[*slot as usize].next)
        })
    }

    fn remove_slot(&mut self, bin: usize, slot: u32) -> Option<Packet> {
        let Slot { before, next, .. } = *self.slots.get(slot as usize)?;
        match before {
            END => self.chains[bin].head = next,
            before => self.slots[before as usize].next = next,
        }
        match next {
            END => self.chains[bin].tail = before,
            next => self.slots[next as usize].before = before,
        }
        self.release(bin, slot)
    }

    fn take_slot(&mut self, filled: Slot) -> u32 {
        if self.free == END {
            self.slots.push(filled);
            return (self.slots.len() - 1) as u32;
        }
        let slot = self.free;
        self.free = self.slots[slot as usize].next;
        self.slots[slot as usize] = filled;
        slot
    }

    /// Removes the packet from a slot that has left its chain, and updates the counts.
    #[inline]
    fn release(&mut self, bin: usize, slot: u32) -> Option<Packet> {
        let freed = &mut self.slots[slot as usize];
        freed.next = self.free;
        self.free = slot;
        let size = freed.packet.as_ref().map_or(0, |packet| packet.size.into());
        let chain = &mut self.chains[bin];
        chain.backlog = chain.backlog.without(size);
        self.total = self.total.without(size);
        // An exact zero: sums of fractions may leave a rest.
        if self.total.packets == 0 {
            self.busy_weight = 0.0;
        } else if chain.backlog.packets == 0 {
            self.busy_weight -= chain.weight;
        }
        self.note_change(bin);
        // Moved once, as the last step: splitting a packet and rebuilding it on the way costs
        // more than all the rest.
        self.slots[slot as usize].packet.take()
    }

    #[inline]
    fn note_change(&mut self, bin: usize) {
        self.changes += 1;
        let chain = &mut self.chains[bin];
        chain.changed_at = self.changes;
        if !std::mem::replace(&mut chain.is_changed, true) {
            self.changed.push(bin as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Sizes of the packets in each bin, the head first, and the order of changes.
    struct Model {
        bins: Vec<VecDeque<u16>>,
        changed_at: Vec<usize>,
    }

    impl Model {
        fn lengths(&self, measure: Measure) -> Vec<(usize, usize)> {
            let of = |(bin, at): (&VecDeque<u16>, &usize)| match measure {
                Measure::Bytes => (bin.iter().map(|size| usize::from(*size)).sum(), 0),
                Measure::Packets => (bin.len(), 0),
                Measure::PacketsThenLast => (bin.len(), *at),
            };
            self.bins.iter().zip(&self.changed_at).map(of).collect()
        }

        /// The longest bin; of several the first.
        fn longest(&self, measure: Measure) -> Option<usize> {
            let lengths = self.lengths(measure);
            let longest = lengths.iter().max().filter(|(length, _)| *length > 0)?;
            lengths.iter().position(|length| length == longest)
        }

        fn share(&self, bin: usize) -> f64 {
            let weight = |bin: usize| f64::from(1 << bin);
            let busy = (0..4).filter(|other| *other == bin || !self.bins[*other].is_empty());
            weight(bin) / busy.map(weight).sum::<f64>()
        }
    }

    /// Four bins of weights 1, 2, 4 and 8 are filled and emptied at both ends and in the middle.
    fn holds_what_its_model_holds(measure: Measure) {
        let mut bins = Bins::new(2, measure);
        bins.grow(4);
        (0..4).for_each(|bin| bins.set_weight(bin, f64::from(1 << bin)));
        let mut model = Model { bins: vec![VecDeque::new(); 4], changed_at: vec![0; 4] };
        let mut number = 1_u32;
        for step in 1..=3000 {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (bin, size) = ((number >> 16) as usize % 4, 100 + (number >> 24) as u16 % 3);
            let (chain, place) = (&mut model.bins[bin], step % 5);
            // It grows for a while, then falls empty, again and again.
            let grows = step / 50 % 2 == 0;
            let (found, expected) = match (number >> 20) % 8 {
                0..3 if grows => {
                    bins.push_back(bin, Packet::datagram(size));
                    chain.push_back(size);
                    (Some(size), Some(size))
                }
                0..4 => (bins.pop_front(bin).map(|packet| packet.size), chain.pop_front()),
                4 | 5 if !grows => (bins.pop_back(bin).map(|packet| packet.size), chain.pop_back()),
                _ if grows => {
                    bins.push_back(bin, Packet::datagram(size));
                    chain.push_back(size);
                    (Some(size), Some(size))
                }
                _ => (bins.remove(bin, place).map(|packet| packet.size), chain.remove(place)),
            };
            assert_eq!(found, expected, "step {step}");
            if found.is_some() {
                model.changed_at[bin] = step;
            }
            let bytes = |chain: &VecDeque<u16>| chain.iter().map(|size| u64::from(*size)).sum();
            for (bin, chain) in model.bins.iter().enumerate() {
                let backlog = Count { packets: chain.len() as u64, bytes: bytes(chain) };
                assert_eq!(bins.backlog_of(bin), backlog);
                assert!(bins.packets(bin).map(|packet| &packet.size).eq(chain));
                assert_eq!(bins.head(bin).map(|packet| packet.size), chain.front().copied());
                assert!((bins.share(bin) - model.share(bin)).abs() < 1e-12);
            }
            let all: Count = (0..4).map(|bin| bins.backlog_of(bin)).sum();
            assert_eq!(bins.backlog(), all);
            if step % 3 == 0 {
                let found = bins.longest();
                assert_eq!(found.map(|(bin, _)| bin), model.longest(measure), "step {step}");
                if let Some((bin, length)) = found.filter(|_| measure != Measure::PacketsThenLast) {
                    assert_eq!(length, model.lengths(measure)[bin].0 as u64);
                }
            }
        }
        // Places are used again: there are no more than packets waited at once.
        assert!(bins.slots.len() < 200, "{}", bins.slots.len());
    }

    #[test]
    fn bins_compared_by_bytes() {
        holds_what_its_model_holds(Measure::Bytes);
    }

    #[test]
    fn bins_compared_by_packets() {
        holds_what_its_model_holds(Measure::Packets);
    }

    #[test]
    fn of_bins_with_as_many_packets_the_last_that_changed_is_the_longest() {
        holds_what_its_model_holds(Measure::PacketsThenLast);
    }

    /// A bin is listed once as changed, however often it has been.
    #[test]
    fn changed_bins_are_listed_once() {
        let mut bins = Bins::new(2, Measure::Bytes);
        (0..9).for_each(|_| bins.push_back(1, Packet::datagram(100)));
        assert_eq!(bins.changed, [1]);
        assert_eq!(bins.longest(), Some((1, 900)));
        assert!(bins.changed.is_empty());
        assert!(bins.pop_front(1).is_some());
        assert_eq!(bins.changed, [1]);
        assert_eq!(bins.longest(), Some((1, 800)));
    }

    #[test]
    fn bins_that_come_later_compete_too() {
        let mut bins = Bins::new(1, Measure::Packets);
        bins.grow(300);
        bins.push_back(299, Packet::datagram(100));
        assert_eq!((bins.longest(), bins.count()), (Some((299, 1)), 300));
        bins.grow(2);
        assert_eq!(bins.count(), 300);
    }
}
