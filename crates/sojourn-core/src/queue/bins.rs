//! Packets waiting in many bins that share one pool of memory.
//!
//! Each bin is a chain through the pool, so an empty bin costs a few words and a packet is written
//! once, wherever it waits.

use crate::aqm::Backlog;
use crate::packet::Packet;

const END: u32 = u32::MAX;

struct Slot {
    packet: Option<Packet>,
    next: u32,
}

#[derive(Clone, Copy)]
struct Chain {
    head: u32,
    tail: u32,
    backlog: Backlog,
}

/// The bins and the pool they share.
pub struct Bins {
    slots: Vec<Slot>,
    free: u32,
    chains: Vec<Chain>,
    total: Backlog,
}

impl Bins {
    /// `count` empty bins.
    pub fn new(count: usize) -> Self {
        let chain = Chain { head: END, tail: END, backlog: Backlog::default() };
        Self { slots: Vec::new(), free: END, chains: vec![chain; count], total: Backlog::default() }
    }

    /// What waits in one bin.
    pub fn backlog_of(&self, bin: usize) -> Backlog {
        self.chains[bin].backlog
    }

    /// What waits in all of them.
    pub fn backlog(&self) -> Backlog {
        self.total
    }

    /// Appends a packet to a bin.
    pub fn push_back(&mut self, bin: usize, packet: Packet) {
        let size = u64::from(packet.size);
        let slot = self.take_slot(packet);
        let chain = &mut self.chains[bin];
        if chain.tail == END {
            chain.head = slot;
        } else {
            self.slots[chain.tail as usize].next = slot;
        }
        chain.tail = slot;
        add(&mut chain.backlog, size);
        add(&mut self.total, size);
    }

    /// Takes the packet at the head of a bin.
    pub fn pop_front(&mut self, bin: usize) -> Option<Packet> {
        let chain = &mut self.chains[bin];
        if chain.head == END {
            return None;
        }
        let slot = chain.head;
        chain.head = self.slots[slot as usize].next;
        if chain.head == END {
            chain.tail = END;
        }
        Some(self.release(bin, slot))
    }

    /// Takes the packet at the tail of a bin. Walks the bin: for overflow alone.
    pub fn pop_back(&mut self, bin: usize) -> Option<Packet> {
        let chain = self.chains[bin];
        if chain.head == chain.tail {
            return self.pop_front(bin);
        }
        let mut before = chain.head;
        while self.slots[before as usize].next != chain.tail {
            before = self.slots[before as usize].next;
        }
        self.slots[before as usize].next = END;
        self.chains[bin].tail = before;
        Some(self.release(bin, chain.tail))
    }

    fn take_slot(&mut self, packet: Packet) -> u32 {
        if self.free == END {
            self.slots.push(Slot { packet: Some(packet), next: END });
            return (self.slots.len() - 1) as u32;
        }
        let slot = self.free;
        self.free = self.slots[slot as usize].next;
        self.slots[slot as usize] = Slot { packet: Some(packet), next: END };
        slot
    }

    fn release(&mut self, bin: usize, slot: u32) -> Packet {
        let freed = &mut self.slots[slot as usize];
        let packet = freed.packet.take().expect("a chained slot holds a packet");
        freed.next = self.free;
        self.free = slot;
        let size = u64::from(packet.size);
        remove(&mut self.chains[bin].backlog, size);
        remove(&mut self.total, size);
        packet
    }
}

fn add(backlog: &mut Backlog, size: u64) {
    backlog.bytes += size;
    backlog.packets += 1;
}

fn remove(backlog: &mut Backlog, size: u64) {
    backlog.bytes -= size;
    backlog.packets -= 1;
}
