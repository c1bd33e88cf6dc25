//! The accounts of single TCP connections: the first of each traffic entry, so that memory does not
//! grow with simulated time. Connections beyond those are in the account of their entry alone.

use std::collections::BTreeMap;

use super::account::THROUGHPUT;
use sojourn_engine::count::Count;
use sojourn_engine::count::Tally;
use sojourn_engine::packet::{Direction, Packet};
use sojourn_engine::record::PacketEventKind;
use sojourn_engine::record::{GaugeSeries, Series, TimeMean};
use sojourn_engine::units::{Time, mbps};

/// What went one way of a connection.
pub(crate) struct Way {
    /// Delivered to its end.
    pub delivered: Count,
    /// Payload delivered in order to the application, in bytes.
    pub payload_bytes: u64,
    /// Packets dropped, for any reason.
    pub dropped_packets: u64,
    /// Packets that a queue marked.
    pub marked_packets: u64,
    /// Bytes on the wire delivered, over time, from the start of the run.
    pub throughput: Series,
    /// What its sender shows, from the start of the run.
    pub sender: GaugeSeries,
    rtts: TimeMean,
    echoes: TimeMean,
    interval_bytes: u64,
    /// Payload that does not count.
    payload_before: u64,
    /// What the sender of this way did twice, as far as has been reported, and before the counting.
    tally: Tally,
    tally_before: Tally,
}

impl Way {
    fn new(throughput: Series, intervals: u64) -> Self {
        Self {
            sender: GaugeSeries::after(intervals),
            delivered: Count::default(),
            payload_bytes: 0,
            dropped_packets: 0,
            marked_packets: 0,
            throughput,
            rtts: TimeMean::default(),
            echoes: TimeMean::default(),
            interval_bytes: 0,
            payload_before: 0,
            tally: Tally::default(),
            tally_before: Tally::default(),
        }
    }

    #[inline]
    pub(super) fn delivered(&mut self, packet: &Packet) {
        self.delivered.add(packet);
        self.show(packet);
    }

    /// A delivered packet is in the series.
    #[inline]
    pub(super) fn show(&mut self, packet: &Packet) {
        self.interval_bytes += u64::from(packet.size);
    }

    /// Something happened to a packet that counts.
    pub(super) fn post(&mut self, kind: PacketEventKind) {
        match kind {
            PacketEventKind::Dropped(_) => self.dropped_packets += 1,
            PacketEventKind::Marked => self.marked_packets += 1,
            PacketEventKind::Sanctioned => {}
        }
    }

    /// Payload was delivered that does not count.
    pub(super) fn receive_before(&mut self, bytes: u64) {
        self.payload_before += bytes;
    }

    /// Was payload delivered, whether it counts or not?
    pub(crate) fn carried_payload(&self) -> bool {
        self.payload_bytes + self.payload_before > 0
    }

    #[inline]
    pub(super) fn round_trip(&mut self, rtt: Time) {
        self.rtts.add(rtt);
    }

    #[inline]
    pub(super) fn echo(&mut self, age: Time) {
        self.echoes.add(age);
    }

    /// What the sender of this way did twice, once the connection is settled.
    pub(crate) fn tally(&self) -> Tally {
        self.tally.since(self.tally_before)
    }

    /// Mean in ms of the round-trip times that the sender of this way measured.
    pub(crate) fn rtt_mean_ms(&self) -> Option<f64> {
        self.rtts.ms()
    }

    /// Mean in ms over acknowledgements of new data of the age of the segment that they echo.
    pub(crate) fn rtt_echo_mean_ms(&self) -> Option<f64> {
        self.echoes.ms()
    }
}

/// The account of one connection.
pub(crate) struct ConnectionAccount {
    /// The traffic entry it belongs to.
    pub traffic: u16,
    /// The home that opened it: its number within its group, from 1.
    pub home: u16,
    /// Its number among those of its entry, from 1, in the order of opening.
    pub number: u64,
    /// When it was opened.
    pub start: Time,
    /// When both sides were closed; `None` while it is open.
    pub end: Option<Time>,
    /// Up and down.
    pub ways: [Way; 2],
}

/// Whose account the packets of a slot of the connection table go to.
#[derive(Clone, Copy)]
struct Tenant {
    generation: u16,
    /// Index of the account, [`NO_ACCOUNT`] for none.
    account: u32,
}

const NO_ACCOUNT: u32 = u32::MAX;
const NOBODY: Tenant = Tenant { generation: 0, account: NO_ACCOUNT };

/// The accounts of the first connections of each traffic entry.
pub(crate) struct ConnectionBook {
    /// Accounts kept of an entry.
    limit: u64,
    /// Connections opened so far, by entry.
    opened: Vec<u64>,
    /// By slot of the connection table.
    tenants: Vec<Tenant>,
    /// Accounts of connections that have left their slot to another, by slot and generation.
    former: BTreeMap<(u32, u16), u32>,
    accounts: Vec<ConnectionAccount>,
    /// The series of a connection that has not begun: all of them keep step with it.
    idle: Series,
    /// Sampling intervals that have ended.
    intervals: u64,
}

impl ConnectionBook {
    /// An empty book that keeps the first `limit` connections of each of so many entries.
    pub(crate) fn new(traffic: usize, limit: u64) -> Self {
        Self {
            limit,
            opened: vec![0; traffic],
            tenants: Vec::new(),
            former: BTreeMap::new(),
            accounts: Vec::new(),
            idle: Series::of(THROUGHPUT),
            intervals: 0,
        }
    }

    /// A connection of an entry of this home is opened in this slot of the connection table.
    pub(crate) fn opened(
        &mut self,
        now: Time,
        slot: u32,
        generation: u16,
        traffic: u16,
        home: u16,
    ) {
        if slot as usize >= self.tenants.len() {
            self.tenants.resize(slot as usize + 1, NOBODY);
        }
        let opened = &mut self.opened[usize::from(traffic)];
        *opened += 1;
        let is_kept = *opened <= self.limit;
        let account = if is_kept { self.accounts.len() as u32 } else { NO_ACCOUNT };
        let tenant = Tenant { generation, account };
        let before = std::mem::replace(&mut self.tenants[slot as usize], tenant);
        if before.account != NO_ACCOUNT {
            self.former.insert((slot, before.generation), before.account);
        }
        if is_kept {
            let ways = Direction::BOTH.map(|_| Way::new(self.idle.clone(), self.intervals));
            let number = *opened;
            let account = ConnectionAccount { traffic, home, number, start: now, end: None, ways };
            self.accounts.push(account);
        }
    }

    /// What the connection in a slot did twice, up and down; `end` if it is closed with this.
    pub(crate) fn settle(&mut self, slot: u32, tallies: [Tally; 2], end: Option<Time>) {
        let index = self.tenants[slot as usize].account as usize;
        if let Some(account) = self.accounts.get_mut(index) {
            account.end = end;
            for (way, tally) in account.ways.iter_mut().zip(tallies) {
                way.tally = tally;
            }
        }
    }

    /// Counting begins; so far the connection in a slot did this twice.
    pub(crate) fn begin(&mut self, slot: u32, tallies: [Tally; 2]) {
        let index = self.tenants[slot as usize].account as usize;
        if let Some(account) = self.accounts.get_mut(index) {
            for (way, tally) in account.ways.iter_mut().zip(tallies) {
                way.tally_before = tally;
            }
        }
    }

    /// The account of a connection in a direction, if it is kept.
    #[inline]
    pub(super) fn way(
        &mut self,
        slot: u32,
        generation: u16,
        direction: Direction,
    ) -> Option<&mut Way> {
        // The slot of datagrams lies beyond every table.
        let tenant = self.tenants.get(slot as usize)?;
        let index = if tenant.generation == generation {
            tenant.account
        } else {
            *self.former.get(&(slot, generation))?
        };
        let account = self.accounts.get_mut(index as usize)?;
        Some(&mut account.ways[direction as usize])
    }

    #[inline]
    pub(super) fn way_of(&mut self, packet: &Packet) -> Option<&mut Way> {
        self.way(packet.flow, packet.generation, packet.direction)
    }

    /// Ends a sampling interval of this length.
    pub(crate) fn sample(&mut self, interval: Time) {
        self.idle.push(0.0);
        self.intervals += 1;
        for way in self.accounts.iter_mut().flat_map(|account| &mut account.ways) {
            let bytes = std::mem::take(&mut way.interval_bytes);
            way.throughput.push(mbps(bytes, interval));
        }
    }

    /// The account of the connection that a slot of the connection table has now, if it is kept.
    pub(crate) fn account_of(&self, slot: u32) -> Option<&ConnectionAccount> {
        self.accounts.get(self.tenants.get(slot as usize)?.account as usize)
    }

    /// As [`Self::account_of`], to be changed.
    pub(crate) fn account_mut(&mut self, slot: u32) -> Option<&mut ConnectionAccount> {
        let tenant = self.tenants.get(slot as usize)?;
        self.accounts.get_mut(tenant.account as usize)
    }

    /// Connections that an entry opened, kept here or not.
    pub(crate) fn opened_by(&self, traffic: usize) -> u64 {
        self.opened[traffic]
    }

    /// The accounts, in the order of opening.
    pub(crate) fn accounts(&self) -> &[ConnectionAccount] {
        &self.accounts
    }
}
