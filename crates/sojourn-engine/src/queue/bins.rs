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
        // Moved once, as the last step: taking a packet apart and rebuilding it on the way costs
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
