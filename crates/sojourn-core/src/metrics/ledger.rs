//! The books of a run: every packet is entered when it is sent and struck off when it is delivered
//! or dropped, so that at the end what is missing must still be inside.

use super::results::{Fate, PacketRecord};
use super::{Latency, Series};
use crate::packet::{Direction, DropReason, Packet};
use crate::units::Time;

/// Packets and their bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl Count {
    #[inline]
    fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
    }

    /// The sum of two counts.
    pub fn plus(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

/// The account of one entry of the traffic list in one direction.
pub struct Account {
    /// Sent by its endpoints.
    pub sent: Count,
    /// Delivered to its endpoints.
    pub delivered: Count,
    /// Dropped, by reason.
    pub dropped: [Count; DropReason::ALL.len()],
    /// Marked by a queue manager (RFC 3168 §5).
    pub marked: Count,
    /// Delivered packets that carried payload.
    pub data_packets: u64,
    /// Payload bytes delivered in order to the application.
    pub goodput_bytes: u64,
    /// One-way latency from sending to delivery.
    pub latency: Latency,
    /// Bytes on the wire delivered, over time.
    pub throughput: Series,
    interval_bytes: u64,
}

impl Account {
    fn new() -> Self {
        Self {
            sent: Count::default(),
            delivered: Count::default(),
            dropped: Default::default(),
            marked: Count::default(),
            data_packets: 0,
            goodput_bytes: 0,
            latency: Latency::default(),
            throughput: Series::new("throughput", "Mbps"),
            interval_bytes: 0,
        }
    }

    /// All drops together.
    pub fn dropped_in_all(&self) -> Count {
        self.dropped.iter().fold(Count::default(), |sum, count| sum.plus(*count))
    }

    /// What was sent and neither delivered nor dropped.
    fn outstanding(&self) -> Count {
        let gone = self.delivered.plus(self.dropped_in_all());
        Count { packets: self.sent.packets - gone.packets, bytes: self.sent.bytes - gone.bytes }
    }
}

/// All accounts of a run.
pub struct Ledger {
    accounts: Vec<[Account; 2]>,
    trace: Option<Vec<PacketRecord>>,
}

impl Ledger {
    /// Empty accounts for `traffic` entries; with `trace`, every packet's fate is kept as well.
    pub fn new(traffic: usize, trace: bool) -> Self {
        Self {
            accounts: (0..traffic).map(|_| [Account::new(), Account::new()]).collect(),
            trace: trace.then(Vec::new),
        }
    }

    #[inline]
    fn account_of(&mut self, packet: &Packet) -> &mut Account {
        &mut self.accounts[usize::from(packet.traffic)][packet.direction as usize]
    }

    /// A packet sets out.
    #[inline]
    pub fn sent(&mut self, packet: &Packet) {
        self.account_of(packet).sent.add(packet);
    }

    /// A packet has come to its endpoint.
    #[inline]
    pub fn delivered(&mut self, now: Time, packet: &Packet) {
        let account = self.account_of(packet);
        account.delivered.add(packet);
        account.data_packets += u64::from(packet.carries_data());
        account.interval_bytes += u64::from(packet.size);
        account.latency.record(now.since(packet.sent_at));
        self.trace_fate(now, packet, Fate::Delivered);
    }

    /// A packet is dropped, and gone with this call.
    #[inline]
    pub fn dropped(&mut self, now: Time, packet: Packet, reason: DropReason) {
        self.account_of(&packet).dropped[reason as usize].add(&packet);
        self.trace_fate(now, &packet, Fate::Dropped(reason));
    }

    /// A packet is marked and goes on.
    pub fn marked(&mut self, packet: &Packet) {
        self.account_of(packet).marked.add(packet);
    }

    /// Payload has been handed to the application in order.
    #[inline]
    pub fn received(&mut self, traffic: u16, direction: Direction, bytes: u64) {
        self.accounts[usize::from(traffic)][direction as usize].goodput_bytes += bytes;
    }

    #[inline]
    fn trace_fate(&mut self, now: Time, packet: &Packet, fate: Fate) {
        if let Some(trace) = &mut self.trace {
            trace.push(PacketRecord::new(now, packet, fate));
        }
    }

    /// Ends a sampling interval of this length.
    pub fn sample(&mut self, interval: Time) {
        for account in self.accounts.iter_mut().flatten() {
            let bytes = std::mem::take(&mut account.interval_bytes);
            account.throughput.push(bytes as f64 * 8e-6 / interval.secs_f64());
        }
    }

    /// The account of a traffic entry in a direction.
    pub fn account(&self, traffic: usize, direction: Direction) -> &Account {
        &self.accounts[traffic][direction as usize]
    }

    /// Packets delivered that carried payload, of all accounts.
    pub fn data_packets(&self) -> u64 {
        self.accounts.iter().flatten().map(|account| account.data_packets).sum()
    }

    /// Conservation: what is on the books as still under way must be what the stages hold.
    ///
    /// # Panics
    /// If a packet was lost or doubled: the run's results would be worth nothing.
    pub fn assert_conserved(&self, inside: Count) {
        let outstanding = self
            .accounts
            .iter()
            .flatten()
            .fold(Count::default(), |sum, account| sum.plus(account.outstanding()));
        assert_eq!(outstanding, inside, "packets sent = delivered + dropped + inside is violated");
    }

    /// The packet trace, if one was kept.
    pub fn take_trace(&mut self) -> Vec<PacketRecord> {
        self.trace.take().unwrap_or_default()
    }
}
