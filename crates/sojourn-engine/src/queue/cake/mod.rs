//! CAKE, Common Applications Kept Enhanced (Høiland-Jørgensen, Täht & Morton 2018, "Piece of CAKE"; tc-cake(8);
//! Linux 7.2 `sch_cake`): a shaper, tins by code point, flows that are isolated from each other and from those of
//! other hosts, and COBALT in each flow.
//!
//! A packet finds its tin and in it its flow's queue. A flow that becomes busy is sparse until it has used up a quantum,
//! and then it is bulk: of bulk flows those of a host with many get less each. A flow that runs empty is remembered
//! until its law has come to rest.
//!
//! A host is a device: each traffic entry of a home is one, and so is each server. Hosts do not collide, flows do, in
//! sets of eight as in Linux. Left out: `ingress`, `autorate-ingress`, `wash`, `nat` (hosts are known), `fwmark`, and the
//! kernel's splitting of bursts, as packets come one by one.

mod acks;
mod cobalt;
mod lists;
mod tins;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bins::{Bins, Measure};
use super::{
    Discipline, Entry, Exit, FlowTable, QueueSpec, Scheduler, SchedulerParameters, SchedulerSpec,
    Setting, Waiting, no_law,
};
use crate::aqm::{AqmSpec, Threshold};
use crate::count::Count;
use crate::packet::{Direction, DropReason, Packet};
use crate::record::{Gauges, Lapses};
use crate::rng::Rng;
use crate::units::{BitRate, Time};
use sojourn_input::fault;
use sojourn_input::problem::Faults;

pub use acks::AckFilter;
use cobalt::Cobalt;
use lists::Links;
pub use tins::Diffserv;
use tins::{Pace, Tin};

crate::series! {
    /// CAKE: flows that are new, in all tins.
    SPARSE_FLOWS = "sparse_flows", in "1", from "Linux 7.2, sch_cake";
    /// CAKE: flows that have used up a quantum, in all tins.
    BULK_FLOWS = "bulk_flows", in "1", from "Linux 7.2, sch_cake";
}

/// Queues of a tin.
const QUEUES: usize = 1024;
/// Queues among which a flow may choose if its own is taken.
const WAYS: usize = 8;
/// The interval of its law over the target.
const INTERVAL_OVER_TARGET: i64 = 20;
/// The memory of a shaper, and the least of one, in bytes: 10 240 full packets, and 4 MiB.
pub const MOST_MEMORY: u64 = 10_240 * 1514;
const LEAST_MEMORY: u64 = 4 << 20;

/// Between whom bandwidth is shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowIsolation {
    /// Nobody: one queue.
    Flowblind,
    /// Hosts that send.
    Srchost,
    /// Hosts that are sent to.
    Dsthost,
    /// Pairs of hosts.
    Hosts,
    /// Flows.
    Flows,
    /// Hosts that send, and their flows.
    DualSrchost,
    /// Hosts that are sent to, and their flows.
    DualDsthost,
    /// Flows, less for those of a host on either side that has many.
    #[default]
    TripleIsolate,
}

impl FlowIsolation {
    /// Do the flows of a host count, as senders and as receivers?
    fn counts(self) -> [bool; 2] {
        let source = matches!(self, Self::DualSrchost | Self::TripleIsolate);
        [source, matches!(self, Self::DualDsthost | Self::TripleIsolate)]
    }
}

/// How the link behind a shaper puts packets into cells or frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Framing {
    /// As they are.
    #[default]
    Noatm,
    /// In cells of 53 bytes with 48 of payload.
    Atm,
    /// With a byte more for each 64.
    Ptm,
}

/// Parameters of CAKE, with the names of tc-cake(8).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Cake")]
pub struct Parameters {
    /// The shaper's rate. Without one there is no shaper: the link behind is the limit, and tins take turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 100_000.0), extend("x-live" = true))]
    pub bandwidth_mbps: Option<f64>,
    /// The tins.
    pub diffserv: Diffserv,
    /// Between whom bandwidth is shared.
    pub flow_isolation: FlowIsolation,
    /// Acknowledgements that it drops.
    pub ack_filter: AckFilter,
    /// The round trip that it is set for, in ms: the interval of its law, and 20 times the target.
    #[schemars(range(min = 0.1, max = 10_000.0), extend("x-live" = true))]
    pub rtt_ms: f64,
    /// Bytes added to the size of each packet for the shaper: what the link behind adds. `docsis` of tc is 18 for
    /// packets counted without Ethernet.
    #[schemars(range(min = -64, max = 256), extend("x-live" = true))]
    pub overhead_bytes: i32,
    /// The least that a packet counts for the shaper, in bytes; 64 with `docsis`.
    #[schemars(range(min = 0, max = 256), extend("x-live" = true))]
    pub mpu_bytes: u32,
    /// Cells or frames of the link behind.
    pub framing: Framing,
    /// Memory in bytes as Linux counts it, a packet having the next power of two and 256. Default: with a shaper, what
    /// four intervals fill at its rate, between 4 MiB and 10 240 full packets; without one, the queue's limit applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 10_000, max = 4_000_000_000_u64))]
    pub memlimit_bytes: Option<u64>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            bandwidth_mbps: None,
            diffserv: Diffserv::default(),
            flow_isolation: FlowIsolation::default(),
            ack_filter: AckFilter::default(),
            rtt_ms: 100.0,
            overhead_bytes: 0,
            mpu_bytes: 0,
            framing: Framing::default(),
            memlimit_bytes: None,
        }
    }
}

impl Parameters {
    fn rate(&self) -> u64 {
        self.bandwidth_mbps.map_or(0, |mbps| tins::bytes_per_s(BitRate::from_mbps(mbps)))
    }

    fn tins(&self) -> Vec<Tin> {
        let interval = (self.rtt_ms * 1e6) as i64;
        self.diffserv.tins(self.rate(), (interval / INTERVAL_OVER_TARGET).max(1000), interval)
    }

    fn memory(&self) -> u64 {
        let four_intervals = (self.rate() as f64 * self.rtt_ms * 4.0 / 1e3) as u64;
        let shaped = four_intervals.clamp(LEAST_MEMORY, MOST_MEMORY);
        let usual = if self.bandwidth_mbps.is_some() { shaped } else { MOST_MEMORY };
        self.memlimit_bytes.unwrap_or(usual)
    }

    /// The bytes that the shaper counts.
    fn counted(&self, size: u64) -> u64 {
        let size =
            size.saturating_add_signed(self.overhead_bytes.into()).max(self.mpu_bytes.into());
        match self.framing {
            Framing::Noatm => size,
            Framing::Atm => size.div_ceil(48) * 53,
            Framing::Ptm => size + size.div_ceil(64),
        }
    }
}

impl SchedulerParameters for Parameters {
    fn start(&self, _setting: &Setting) -> Scheduler {
        let tins = self.tins();
        let count = tins.len() * QUEUES;
        Cake {
            flows: vec![Flow::IDLE; count],
            links: Links::new(count),
            bins: Bins::new(count, Measure::Bytes),
            hosts: [(); 2].map(|()| vec![Vec::new(); tins.len()]),
            tins,
            current: 0,
            next: 0,
            memory: 0,
            most_memory: self.memory(),
            needless_drops: 0,
            entries: 1,
            table: FlowTable::default(),
            parameters: self.clone(),
        }
        .into()
    }

    fn check(&self, law: &AqmSpec, _largest: u64) -> Faults {
        Faults::from(no_law("cake", law))
    }

    fn limits_itself(&self) -> bool {
        self.bandwidth_mbps.is_some() || self.memlimit_bytes.is_some()
    }

    fn bins(&self) -> (u32, u32) {
        let queues = (self.diffserv.count() * QUEUES) as u32;
        (queues, queues)
    }

    fn threshold(&self, _rate: BitRate) -> Option<Threshold> {
        Some(Threshold::of_delay("rtt_ms", self.rtt_ms, INTERVAL_OVER_TARGET as f64))
    }

    fn remarks(&self, _rate: BitRate) -> Faults {
        let usual = Self::default();
        let keys = [
            ("overhead_bytes", self.overhead_bytes != usual.overhead_bytes),
            ("mpu_bytes", self.mpu_bytes != usual.mpu_bytes),
            ("framing", self.framing != usual.framing),
        ];
        let is_idle = self.bandwidth_mbps.is_none();
        let set = keys.into_iter().filter(|(_, is_set)| is_idle && *is_set);
        set.map(|(key, _)| {
            fault!(IdleKey, key =>
            "has no effect on a rate without bandwidth_mbps: it counts in the turns of flows alone")
        })
        .collect()
    }

    fn counted_bytes(&self, size: u64) -> u64 {
        self.counted(size)
    }

    fn shaper(&self) -> Option<(&'static str, f64)> {
        self.bandwidth_mbps.map(|mbps| ("bandwidth_mbps", mbps))
    }
}

/// Where a flow is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Set {
    /// In no list.
    None,
    /// Among the new flows.
    Sparse,
    /// Sparse and empty, but in the turns of the old flows.
    SparseWait,
    /// Among the old flows.
    Bulk,
    /// Empty, and remembered until its law is at rest.
    Decaying,
}

#[derive(Clone, Copy)]
struct Flow {
    set: Set,
    /// Whose packets it has: a hash.
    tag: u32,
    /// The hosts that send and that are sent to.
    hosts: [usize; 2],
    deficit: i64,
    cobalt: Cobalt,
}

impl Flow {
    const IDLE: Self =
        Self { set: Set::None, tag: 0, hosts: [0; 2], deficit: 0, cobalt: Cobalt::NEW };
}

/// CAKE.
pub struct Cake {
    parameters: Parameters,
    tins: Vec<Tin>,
    /// Queues of all tins, and what waits in them.
    flows: Vec<Flow>,
    links: Links,
    bins: Bins,
    /// Bulk flows of each host, as sender and as receiver, in each tin.
    hosts: [Vec<Vec<u16>>; 2],
    /// The tin whose turn it is.
    current: usize,
    /// From when on the shaper lets a packet leave, in ns.
    next: i64,
    memory: u64,
    most_memory: u64,
    /// Packets that BLUE dropped though they had waited no longer than the target.
    needless_drops: u64,
    /// Traffic entries, of which each home has as many devices.
    entries: usize,
    table: FlowTable,
}

fn ns(time: Time) -> i64 {
    (time.ps() / 1000) as i64
}

/// What Linux counts for a packet in memory.
fn truesize(size: u64) -> u64 {
    256 + (size + 384).next_power_of_two().max(512)
}

impl Cake {
    /// The shaper's pace: that of the first tin, which may have all of the rate.
    fn pace(&self) -> Pace {
        self.tins[0].pace
    }

    fn tin_of(flow: usize) -> usize {
        flow / QUEUES
    }

    /// The hosts that a packet is from and goes to, each numbered among its kind.
    fn hosts_of(&self, packet: &Packet) -> [usize; 2] {
        let device = usize::from(packet.home) * self.entries + usize::from(packet.traffic);
        let server = usize::from(packet.server);
        match packet.direction {
            Direction::Up => [device, server],
            Direction::Down => [server, device],
        }
    }

    /// The queue of a packet: that of its flow, or a free one near it, or else that of another flow.
    fn place(&mut self, tin: usize, packet: &Packet) -> usize {
        let hosts = self.hosts_of(packet);
        let [source, destination] = hosts.map(|host| host as u32);
        let tag = match self.parameters.flow_isolation {
            FlowIsolation::Flowblind => 0,
            FlowIsolation::Srchost => source,
            FlowIsolation::Dsthost => destination,
            // Multiplicative hashing by 2^32 over the golden ratio (Knuth, TAOCP 3 §6.4).
            FlowIsolation::Hosts => (source.wrapping_mul(0x9e37_79b9) >> 7) ^ destination,
            _ => self.table.hash(packet),
        };
        let own = tag as usize % QUEUES;
        let at = |way: usize| tin * QUEUES + own / WAYS * WAYS + (own + way) % WAYS;
        let mut ways = (0..WAYS).map(at);
        let found = ways.clone().find(|&flow| self.flows[flow].tag == tag);
        let found = found.or_else(|| ways.find(|&flow| self.flows[flow].set == Set::None));
        let flow = found.unwrap_or(at(0));
        if self.flows[flow].set == Set::None || found.is_none() {
            self.count_bulk(flow, -1);
            self.flows[flow].hosts = hosts;
            self.count_bulk(flow, 1);
        }
        self.flows[flow].tag = tag;
        flow
    }

    /// A flow has become bulk, or no longer is.
    fn count_bulk(&mut self, flow: usize, change: i16) {
        if self.flows[flow].set != Set::Bulk {
            return;
        }
        let tin = Self::tin_of(flow);
        for side in 0..2 {
            let host = self.flows[flow].hosts[side];
            let hosts = &mut self.hosts[side][tin];
            if host >= hosts.len() {
                hosts.resize(host + 1, 0);
            }
            hosts[host] = hosts[host].saturating_add_signed(change);
        }
    }

    /// Moves a flow to another set; lists are the caller's.
    fn move_to(&mut self, flow: usize, set: Set) {
        let of = |tin: &mut Tin, set: Set, change: i32| match set {
            Set::Sparse | Set::SparseWait => tin.sparse = tin.sparse.saturating_add_signed(change),
            Set::Bulk => tin.bulk = tin.bulk.saturating_add_signed(change),
            Set::Decaying | Set::None => {}
        };
        let tin = &mut self.tins[Self::tin_of(flow)];
        of(tin, self.flows[flow].set, -1);
        of(tin, set, 1);
        self.count_bulk(flow, -1);
        self.flows[flow].set = set;
        self.count_bulk(flow, 1);
    }

    /// The bytes of a flow's turn: fewer if its host has many bulk flows. A draw keeps the rounding fair.
    fn quantum(&self, flow: usize, rng: &mut Rng) -> i64 {
        let tin = Self::tin_of(flow);
        let mut load = 1;
        for (side, counts) in self.parameters.flow_isolation.counts().into_iter().enumerate() {
            if counts {
                let host = self.flows[flow].hosts[side];
                load = load.max(self.hosts[side][tin].get(host).copied().unwrap_or_default());
            }
        }
        let dither = rng.bits() >> 48;
        ((self.tins[tin].flow_quantum * (65_535 / u64::from(load)) + dither) >> 16) as i64
    }

    fn take(&mut self, flow: usize) -> Option<Packet> {
        let packet = self.bins.pop_front(flow)?;
        self.forget(flow, &packet);
        Some(packet)
    }

    /// A packet has left a flow's queue.
    fn forget(&mut self, flow: usize, packet: &Packet) {
        let size = u64::from(packet.size);
        self.tins[Self::tin_of(flow)].backlog_bytes -= size;
        self.memory -= truesize(size);
    }

    /// Drops from the longest queue while there is no room.
    fn shed(&mut self, now: i64, entry: &mut Entry) {
        while self.memory > self.most_memory || !entry.limit.holds(self.bins.backlog()) {
            let Some((flow, _)) = self.bins.longest() else { return };
            let terms = self.tins[Self::tin_of(flow)].terms;
            self.flows[flow].cobalt.on_overflow(&terms, now);
            let Some(victim) = self.take(flow) else { return };
            entry.counters.drop(entry.now, victim, DropReason::Overflow);
        }
    }

    fn filter_acks(&mut self, flow: usize, new: &Packet, entry: &mut Entry) {
        let waiting = self.bins.packets(flow);
        let Some(place) = acks::superfluous(self.parameters.ack_filter, waiting, new) else {
            return;
        };
        if let Some(old) = self.bins.remove(flow, place) {
            self.forget(flow, &old);
            entry.counters.drop(entry.now, old, DropReason::Superseded);
        }
    }

    /// A packet has come to this flow's queue: an empty one begins as sparse, before all that are bulk.
    fn begin(&mut self, flow: usize, rng: &mut Rng) {
        let tin = Self::tin_of(flow);
        match self.flows[flow].set {
            Set::Sparse | Set::Bulk => {}
            Set::SparseWait => self.move_to(flow, Set::Bulk),
            Set::None | Set::Decaying => {
                self.unlink(flow);
                self.links.append(&mut self.tins[tin].fresh, flow);
                self.move_to(flow, Set::Sparse);
                self.flows[flow].deficit = self.quantum(flow, rng);
            }
        }
    }

    /// The tin that is served next. With a shaper: the last one that is on schedule, or else the first that will be.
    /// Without one they take turns.
    fn choose_tin(&mut self, now: i64) -> Option<usize> {
        if !self.pace().is_some() {
            return self.next_turn();
        }
        let mut best = None;
        for (number, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.is_busy()) {
            let wait = tin.next - now;
            if best.is_none_or(|(_, least)| wait <= 0 || wait <= least) {
                best = Some((number, wait));
            }
        }
        best.map(|(number, _)| number)
    }

    fn next_turn(&mut self) -> Option<usize> {
        if !self.tins.iter().any(Tin::is_busy) {
            return None;
        }
        loop {
            let tin = &mut self.tins[self.current];
            if tin.deficit >= 0 && tin.is_busy() {
                return Some(self.current);
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.quantum;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }

    /// The flow of a tin that is served next, and where it stands; `looks_back` is for the first one that is asked:
    /// one that is remembered.
    fn choose_flow(&mut self, tin: usize, looks_back: &mut bool, rng: &mut Rng) -> Option<usize> {
        loop {
            let Tin { fresh, old, decaying, .. } = &self.tins[tin];
            let remembered = decaying.first();
            let first = remembered.filter(|_| std::mem::take(looks_back));
            *looks_back = false;
            let flow = first.or_else(|| fresh.first()).or_else(|| old.first()).or(remembered)?;
            if self.flows[flow].deficit > 0 {
                return Some(flow);
            }
            self.unlink(flow);
            if self.flows[flow].set == Set::Sparse {
                let is_empty = self.bins.backlog_of(flow).packets == 0;
                self.move_to(flow, if is_empty { Set::SparseWait } else { Set::Bulk });
            }
            self.flows[flow].deficit += self.quantum(flow, rng);
            self.links.append(&mut self.tins[tin].old, flow);
        }
    }

    /// Takes a flow out of its list.
    fn unlink(&mut self, flow: usize) {
        let Tin { fresh, old, decaying, .. } = &mut self.tins[Self::tin_of(flow)];
        let list = match self.flows[flow].set {
            Set::None => return,
            Set::Sparse => fresh,
            Set::SparseWait | Set::Bulk => old,
            Set::Decaying => decaying,
        };
        self.links.remove(list, flow);
    }

    /// A flow was found empty: it is remembered until its law has come to rest.
    fn rest(&mut self, flow: usize, now: i64) {
        let tin = Self::tin_of(flow);
        let terms = self.tins[tin].terms;
        let is_remembered = self.flows[flow].cobalt.on_empty(&terms, now);
        self.unlink(flow);
        if is_remembered {
            self.move_to(flow, Set::Decaying);
            self.links.append(&mut self.tins[tin].decaying, flow);
        } else {
            self.move_to(flow, Set::None);
        }
    }

    fn change(&mut self, p: Parameters) {
        self.tins.iter_mut().zip(p.tins()).for_each(|(tin, other)| tin.retune(&other));
        self.most_memory = p.memory();
        self.parameters = p;
    }

    /// Charges a packet to its flow, its tin and the shaper.
    fn charge(&mut self, flow: usize, size: u64, now: i64) {
        let (counted, pace) = (self.parameters.counted(size), self.pace());
        let tin = &mut self.tins[Self::tin_of(flow)];
        if pace.is_some() {
            let of_tin = tin.pace.of(counted);
            tin.next = if tin.next < now { tin.next + of_tin } else { tin.next.max(now + of_tin) };
            self.next += pace.of(counted);
        }
        tin.deficit -= counted as i64;
        self.flows[flow].deficit -= counted as i64;
    }

    /// When the shaper lets the next packet leave.
    fn due(&self) -> i64 {
        if self.pace().is_some() { self.next } else { 0 }
    }
}

impl Discipline for Cake {
    fn enqueue(&mut self, packet: Packet, entry: &mut Entry) {
        let now = ns(entry.now);
        let tin = self.parameters.diffserv.tin(packet.segment.dscp);
        let flow = self.place(tin, &packet);
        if self.tins[tin].backlog_bytes == 0 {
            self.tins[tin].next = self.tins[tin].next.max(now);
            if self.bins.backlog().packets == 0 {
                self.next = self.next.max(now);
            }
        }
        let size = u64::from(packet.size);
        self.filter_acks(flow, &packet, entry);
        self.tins[tin].backlog_bytes += size;
        self.memory += truesize(size);
        self.bins.push_back(flow, packet);
        self.begin(flow, entry.rng);
        self.shed(now, entry);
    }

    fn dequeue(&mut self, exit: &mut Exit) -> Option<Packet> {
        let now = ns(exit.now);
        let mut looks_back = true;
        loop {
            if self.bins.backlog().packets == 0 || self.due() > now {
                return None;
            }
            let tin = self.choose_tin(now)?;
            let Some(flow) = self.choose_flow(tin, &mut looks_back, exit.rng) else { continue };
            let terms = self.tins[tin].terms;
            while let Some(head) = self.bins.head_mut(flow) {
                let sojourn = now - ns(head.queued_at);
                let is_markable = exit.counters.can_mark(head);
                let cobalt = &mut self.flows[flow].cobalt;
                let judged = cobalt.judge(&terms, now, sojourn, is_markable, exit.rng);
                let is_needless = judged.is_dropped && !cobalt.is_late();
                if judged.is_marked {
                    exit.counters.mark(exit.now, head);
                }
                let is_last = self.bins.backlog_of(flow).packets == 1;
                let packet = self.take(flow)?;
                if !judged.is_dropped || is_last {
                    self.charge(flow, packet.size.into(), now);
                    return Some(packet);
                }
                self.needless_drops += u64::from(is_needless);
                exit.counters.drop(exit.now, packet, DropReason::Aqm);
            }
            self.rest(flow, now);
        }
    }

    fn ready_at(&self) -> Time {
        Time::from_ps(1000 * self.due().max(0) as u64)
    }

    fn backlog(&self) -> Count {
        self.bins.backlog()
    }

    fn packets(&self) -> Waiting<'_> {
        Box::new(self.bins.all())
    }

    fn set_flow_classifier(&mut self, flows: &FlowTable, names: &[&str]) {
        self.table = flows.clone();
        self.entries = names.len().max(1);
    }

    /// As `tc qdisc change`: the tins have another pace, and what is on schedule stays so.
    fn retune(&mut self, spec: &QueueSpec) {
        let SchedulerSpec::Cake(p) = &spec.scheduler else { return };
        self.change(p.clone());
    }

    fn shape(&mut self, rate: BitRate) -> bool {
        let Some(mbps) = self.parameters.bandwidth_mbps else { return false };
        let other = rate.bps() as f64 / 1e6;
        if other != mbps {
            let parameters = self.parameters.clone();
            self.change(Parameters { bandwidth_mbps: Some(other), ..parameters });
        }
        true
    }

    fn gauges(&self, out: &mut Gauges) {
        let sum = |of: fn(&Tin) -> u32| self.tins.iter().map(|tin| f64::from(of(tin))).sum();
        out.show(SPARSE_FLOWS, sum(|tin| tin.sparse));
        out.show(BULK_FLOWS, sum(|tin| tin.bulk));
    }

    fn lapses(&self) -> Lapses {
        Lapses { needless_drops: self.needless_drops, ..Lapses::default() }
    }
}

#[cfg(test)]
mod tests;
