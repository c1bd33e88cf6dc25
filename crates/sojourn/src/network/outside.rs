//! Real packets: a program hands them over at the ends of a traffic entry of kind `outside`, and takes those that have
//! arrived. The simulation knows their headers and a number, the handle, for what it does not see.
//!
//! Every handle comes back once, arrived or lost, or its packet is still inside when the run ends.

use std::net::IpAddr;

use indexmap::IndexMap;

use super::Simulation;
use super::connections::Owner;
use super::program_load::ProgramLoad;
use sojourn_access::{Header as Classified, Protocol};
use sojourn_engine::address::Address;
pub use sojourn_engine::packet::{Direction, Ecn, Flags};
use sojourn_engine::packet::{DropReason, OUTSIDE, Own, Packet, Real, Segment};
use sojourn_engine::record::LostOutside;
use sojourn_engine::rng::Rng;
pub use sojourn_engine::units::Time;
use sojourn_scenario::Scenario;
use sojourn_scenario::apps::AppSpec;
pub use sojourn_scenario::outside::{
    Header, LARGEST_IP, NotIp, Record, Tcp, Writer, has_all_records,
};
use sojourn_scenario::outside::{Packets, Recorded};

/// A packet that has arrived at the other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrived {
    /// Its number.
    pub handle: u64,
    /// Its traffic entry.
    pub entry: u32,
    /// Which way it went.
    pub direction: Direction,
    /// Its ECN field as it has arrived: a queue may have marked it, a link of the scenario changed it.
    pub ecn: Ecn,
    /// Its code point as it has arrived.
    pub dscp: u8,
    /// Its flags AE, CWR and ECE if it is a segment of TCP that is no fragment: a link of the scenario may have cleared them.
    pub ace: Option<Flags>,
    /// When it arrived.
    pub at: Time,
}

/// A packet that will not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lost {
    /// Its number.
    pub handle: u64,
    /// Its traffic entry.
    pub entry: u32,
    /// Which way it went.
    pub direction: Direction,
    /// When it is lost: not before now, but a link may know it ahead.
    pub at: Time,
    /// Why.
    pub reason: DropReason,
}

/// So many conversations are remembered, and those before the last so many that have packets inside.
const MOST_CONVERSATIONS: usize = 1 << 14;

/// Numbers of protocols (IANA).
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Both directions of what two ends send each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Ends {
    entry: u16,
    protocol: u8,
    /// In the home and at the server.
    addresses: [IpAddr; 2],
    ports: Option<[u16; 2]>,
}

/// A conversation, and what its packets have in common.
struct Conversation {
    /// Counts the uses of its number.
    generation: u16,
    /// Packets inside.
    inside: u32,
    ends: Ends,
    /// Hashes of its addresses and ports, upstream and downstream.
    tuples: [u32; 2],
    /// The last acknowledgement upstream and downstream, without the wraps of its 32 bits.
    acks: [u64; 2],
    /// The service flows of packets upstream and downstream by the ECN field, and the code point of these.
    service_flows: [Option<(u8, [u8; 4])>; 2],
}

/// The real packets of a run.
#[derive(Default)]
pub(super) struct Outside {
    /// By entry, if it is of kind `outside`: who sends in the home.
    owners: Vec<Option<Owner>>,
    /// By entry likewise: when its packets are a load.
    loads: Vec<Option<ProgramLoad>>,
    /// Round trips measured while they were, which are neither idle nor under load.
    pub(super) unjudged_round_trips: u64,
    seed: u64,
    /// Numbers of the conversations of late, and of those before.
    recent: IndexMap<Ends, u32>,
    former: IndexMap<Ends, u32>,
    all: Vec<Conversation>,
    free: Vec<u32>,
    /// What nobody has taken yet; nobody does of a record.
    arrived: Vec<Arrived>,
    lost: Vec<Lost>,
    recorded: Vec<Source>,
    /// When the next packet of a record comes.
    next_recorded: Option<Time>,
}

/// The packets of a record at a traffic entry.
struct Source {
    entry: u32,
    packets: Packets,
    /// The number of those that have come.
    next: usize,
}

impl Source {
    fn head(&self) -> Option<&Recorded> {
        self.packets.all.get(self.next)
    }
}

/// The records that a scenario replays, with the numbers of their traffic entries.
fn sources(scenario: &Scenario) -> impl Iterator<Item = Source> {
    (0..).zip(scenario.traffic.values()).filter_map(|(entry, of)| match &of.app {
        AppSpec::Real(of) if of.record.is_some() => {
            Some(Source { entry, packets: of.packets.clone(), next: 0 })
        }
        _ => None,
    })
}

/// When the run of a scenario with records ends.
pub(super) fn recorded_until(scenario: &Scenario) -> Option<Time> {
    sources(scenario).map(|source| source.packets.end).max()
}

impl Outside {
    /// Nothing has come; the first apps of all entries are of these owners.
    pub(super) fn new(scenario: &Scenario, firsts: impl Iterator<Item = Owner>) -> Self {
        let is_outside = |entry: usize| matches!(scenario.traffic[entry].app, AppSpec::Real(_));
        let owners = firsts.enumerate().map(|(entry, owner)| is_outside(entry).then_some(owner));
        let seed = Rng::named(scenario.seed, "hashes of packets from outside").bits();
        let load = |(number, entry)| is_outside(number).then(|| ProgramLoad::of(scenario, entry));
        let loads = scenario.traffic.values().enumerate().map(load).collect();
        let (owners, recorded) = (owners.collect(), sources(scenario).collect());
        let mut new = Self { owners, loads, seed, recorded, ..Self::default() };
        new.find_next();
        new
    }

    /// Were a program's packets a load on the line of this home at any time of it?
    pub(super) fn loads(&self, home: u16, from: Time, to: Time) -> bool {
        let mut own = self
            .owners
            .iter()
            .zip(&self.loads)
            .filter_map(|two| Some((two.0.as_ref()?, two.1.as_ref()?)));
        own.any(|(owner, load)| owner.home == home && load.was_within(from, to))
    }

    /// For how long the packets of an entry were a load.
    pub(super) fn loaded(&self, entry: usize) -> Time {
        self.loads[entry].as_ref().map_or(Time::ZERO, ProgramLoad::total)
    }

    /// When the next packet of a record comes.
    pub(super) fn next_recorded(&self) -> Time {
        self.next_recorded.unwrap_or(Time::NEVER)
    }

    /// The source whose packet comes next.
    fn first_source(&self) -> Option<usize> {
        let heads = self.recorded.iter().enumerate();
        let heads =
            heads.filter_map(|(place, of)| of.head().map(|head| ((head.at, head.number), place)));
        heads.min().map(|(_, place)| place)
    }

    fn find_next(&mut self) {
        self.next_recorded =
            self.first_source().and_then(|place| Some(self.recorded[place].head()?.at));
    }

    /// The number of a conversation, which is dense.
    fn number_of(&mut self, ends: Ends) -> u32 {
        if let Some(number) = self.recent.get(&ends) {
            return *number;
        }
        let number = match self.former.swap_remove(&ends) {
            Some(number) => number,
            None => self.begin(ends),
        };
        if self.recent.len() >= MOST_CONVERSATIONS {
            self.forget();
        }
        self.recent.insert(ends, number);
        number
    }

    fn begin(&mut self, ends: Ends) -> u32 {
        let generation = |of: &Conversation| of.generation.wrapping_add(1);
        let new = |generation| Conversation {
            generation,
            inside: 0,
            ends,
            tuples: tuples(&ends, self.seed),
            acks: [1 << 33; 2],
            service_flows: [None; 2],
        };
        match self.free.pop() {
            Some(number) => {
                let place = number as usize;
                self.all[place] = new(generation(&self.all[place]));
                number
            }
            None => {
                self.all.push(new(0));
                self.all.len() as u32 - 1
            }
        }
    }

    /// Forgets the conversations of which nothing has come for long.
    fn forget(&mut self) {
        let Self { all, free, .. } = self;
        let mut former = std::mem::take(&mut self.recent);
        for (ends, number) in self.former.drain(..) {
            if all[number as usize].inside > 0 {
                former.insert(ends, number);
            } else {
                free.push(number);
            }
        }
        self.former = former;
    }
}

/// An acknowledgement without wraps: the nearest to the last one, and so large that what lies below it is a number too.
fn unwrapped(last: u64, ack: u32) -> u64 {
    const LEAST: u64 = 1 << 32;
    let next = last.wrapping_add_signed((ack.wrapping_sub(last as u32) as i32).into());
    if next < LEAST { next + LEAST } else { next }
}

/// Hashes of all that tells a conversation, one for each direction.
fn tuples(ends: &Ends, seed: u64) -> [u32; 2] {
    let ports = ends.ports.unwrap_or_default();
    let of_end = |end: usize| -> u64 {
        let address = match ends.addresses[end] {
            IpAddr::V4(address) => u128::from(address.to_bits()),
            IpAddr::V6(address) => address.to_bits(),
        };
        mixed(
            mixed(address as u64) ^ (address >> 64) as u64 ^ u64::from(ports[end]).rotate_left(40),
        )
    };
    [[0, 1], [1, 0]].map(|[from, to]| {
        let about = u64::from(ends.protocol) | u64::from(ends.entry) << 8;
        (mixed(seed ^ about ^ mixed(of_end(from) ^ seed) ^ of_end(to)) >> 32) as u32
    })
}

/// The finalizer of SplitMix64 (Steele, Lea & Flood 2014 §5).
fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

impl Simulation {
    /// The traffic entry of kind `outside` with this name. Packets of one with a record come from that alone.
    pub fn outside(&self, entry: &str) -> Option<u32> {
        let (number, _, entry) = self.scenario.traffic.get_full(entry)?;
        matches!(&entry.app, AppSpec::Real(of) if of.record.is_none()).then_some(number as u32)
    }

    /// A run at time zero that has no end but [`Self::finish`], whatever its scenario's `duration_s` says.
    pub fn endless(scenario: &Scenario) -> Self {
        Self::until(scenario, Time::NEVER, true)
    }

    /// When something happens next; [`Time::NEVER`] if nothing does.
    pub fn next_wake(&self) -> Time {
        self.wake.next().min(self.timers.next())
    }

    /// A packet comes from outside, which is done after all else that happens at `at`. Returns when it came: now, if that
    /// is later. Its home is the first of the entry's group.
    ///
    /// # Panics If the entry is of another kind, or the run is over.
    pub fn inject(
        &mut self,
        at: Time,
        entry: u32,
        direction: Direction,
        header: &Header,
        handle: u64,
    ) -> Time {
        let goes_on = self.run_until(at);
        assert!(goes_on, "a packet comes when the run is over");
        // At the start nothing has happened yet, not even what happens then.
        while self.next_wake() <= self.now {
            self.advance(1);
        }
        self.take_in(entry, direction, header, handle);
        self.now
    }

    /// The next packet of a record comes, when all else that happens then has been done.
    pub(super) fn send_recorded(&mut self) {
        let Some(place) = self.outside.first_source() else { return };
        let source = &mut self.outside.recorded[place];
        let (entry, packets, next) = (source.entry, source.packets.all.clone(), source.next);
        source.next += 1;
        self.outside.find_next();
        let Recorded { at, number, direction, ref header } = packets[next];
        self.now = at;
        self.take_in(entry, direction, header, number);
    }

    fn take_in(&mut self, entry: u32, direction: Direction, header: &Header, handle: u64) {
        let owner = self.outside.owners[entry as usize].expect("the entry is of kind outside");
        self.settle_lost();
        self.events += 1;
        self.fingerprint = super::mix(self.fingerprint, self.now, self.first_app + owner.app);
        let ends = Ends {
            entry: owner.traffic,
            protocol: header.protocol,
            addresses: in_home_first(direction, [header.source, header.destination]),
            ports: header.ports.map(|ports| in_home_first(direction, ports)),
        };
        if let Some(load) = &mut self.outside.loads[entry as usize] {
            load.came(direction, header.ip_bytes.into(), self.now);
        }
        let number = self.outside.number_of(ends);
        let service_flow = self.service_flow_outside(number, direction, (header.dscp, header.ecn));
        let of = &mut self.outside.all[number as usize];
        of.inside += 1;
        let segment = match header.tcp {
            Some(tcp) => {
                let last = &mut of.acks[direction as usize];
                if tcp.flags.only(Flags::ACK) != Flags::default() {
                    *last = unwrapped(*last, tcp.ack);
                }
                Segment {
                    ack: *last,
                    flags: tcp.flags,
                    own: Own::of_blocks(tcp.blocks),
                    ..Segment::default()
                }
            }
            None => Segment::default(),
        };
        let packet = Packet {
            sent_at: self.now,
            queued_at: self.now,
            segment: Segment {
                seq: handle,
                echo: Real {
                    seq: header.tcp.map_or(0, |tcp| tcp.seq),
                    ports: ends.ports.unwrap_or_default(),
                }
                .packed(),
                len: header.payload_bytes(),
                dscp: header.dscp,
                ..segment
            },
            tuple: of.tuples[direction as usize],
            flow: OUTSIDE + self.outside.owners.len() as u32 + number,
            generation: of.generation,
            traffic: owner.traffic,
            server: self.server_of(owner.traffic),
            home: owner.home,
            service_flow,
            size: self.byte_count.of_ip(header.ip_bytes),
            direction,
            ecn: header.ecn,
            number: [0; 3],
        };
        self.send(packet);
    }

    /// The conversation of a packet from outside, which cannot be forgotten while the packet is inside.
    fn conversation_of(&self, packet: &Packet) -> u32 {
        packet.flow - OUTSIDE - self.outside.owners.len() as u32
    }

    /// The service flow of a packet of a conversation by its own header fields.
    fn service_flow_outside(
        &mut self,
        number: u32,
        direction: Direction,
        (dscp, ecn): (u8, Ecn),
    ) -> u8 {
        let of = &self.outside.all[number as usize];
        match of.service_flows[direction as usize] {
            Some((known, flows)) if known == dscp => flows[ecn as usize],
            _ => {
                let flows = self.classified(&of.ends, direction, dscp);
                let of = &mut self.outside.all[number as usize];
                of.service_flows[direction as usize] = Some((dscp, flows));
                flows[ecn as usize]
            }
        }
    }

    fn classified(&self, ends: &Ends, direction: Direction, dscp: u8) -> [u8; 4] {
        let Ends { entry, protocol, addresses: [home, server], ports } = *ends;
        let name_of_server = self.scenario.servers.get_index(self.server_of(entry).into());
        let name_of_entry = self.scenario.traffic.get_index(entry.into());
        let up = Classified {
            ip: if home.is_ipv4() { 4 } else { 6 },
            protocol: match protocol {
                TCP => Some(Protocol::Tcp),
                UDP => Some(Protocol::Udp),
                _ => None,
            },
            server: name_of_server.map_or("", |(name, _)| name),
            traffic: name_of_entry.map_or("", |(name, _)| name),
            source: Some(Address(home)),
            destination: Some(Address(server)),
            source_port: ports.map(|[home, _]| home),
            destination_port: ports.map(|[_, server]| server),
            dscp,
            ecn: Ecn::NotEct,
        };
        let entry = &self.scenario.traffic[usize::from(entry)];
        self.scenario.service_flows(entry, &up)[direction as usize]
    }

    fn server_of(&self, entry: u16) -> u16 {
        let app = self.app_series[usize::from(entry)].0;
        self.instances[app as usize].datagrams.server
    }

    /// The service flow of a packet from outside whose ECN field another hop may have changed.
    pub(super) fn service_flow_again(&mut self, packet: &Packet) -> u8 {
        let number = self.conversation_of(packet);
        self.service_flow_outside(number, packet.direction, (packet.segment.dscp, packet.ecn))
    }

    /// A packet from outside has come to its other end.
    #[cold]
    pub(super) fn arrive_outside(&mut self, packet: &Packet) {
        let Packet { direction, ecn, traffic, ref segment, .. } = *packet;
        let number = self.conversation_of(packet);
        let of = &mut self.outside.all[number as usize];
        of.inside -= 1;
        if let Some(load) = &mut self.outside.loads[usize::from(traffic)] {
            load.arrived(packet.sent_at, self.now);
        }
        if !self.outside.recorded.is_empty() {
            return;
        }
        let is_tcp = of.ends.protocol == TCP && of.ends.ports.is_some();
        self.outside.arrived.push(Arrived {
            handle: segment.seq,
            entry: traffic.into(),
            direction,
            ecn,
            dscp: segment.dscp,
            ace: is_tcp.then(|| segment.flags.only(Flags::ACE)),
            at: self.now,
        });
    }

    /// What came when the run ends has set out, and what a record has then too.
    pub(super) fn let_last_packets_in(&mut self) {
        while self.outside.next_recorded() <= self.now {
            self.send_recorded();
            self.set_until();
            self.run_until(self.now);
        }
        if self.end == Time::NEVER {
            self.run_until(self.now);
        }
    }

    /// What has arrived since it was asked last goes to `into`, in the order of arrival.
    pub fn arrived(&mut self, into: &mut Vec<Arrived>) {
        into.append(&mut self.outside.arrived);
    }

    /// What was lost since it was asked last goes to `into`.
    pub fn lost(&mut self, into: &mut Vec<Lost>) {
        self.settle_lost();
        into.append(&mut self.outside.lost);
    }

    /// Strikes lost packets off their conversations.
    fn settle_lost(&mut self) {
        let Self { outside, ledger, .. } = self;
        let first = OUTSIDE + outside.owners.len() as u32;
        for lost in ledger.recorder.lost_outside.drain(..) {
            let LostOutside { handle, flow, traffic, direction, at, reason } = lost;
            outside.all[(flow - first) as usize].inside -= 1;
            if outside.recorded.is_empty() {
                outside.lost.push(Lost { handle, entry: traffic.into(), direction, at, reason });
            }
        }
    }
}

/// What is of source and destination, that of the home first.
fn in_home_first<T>(direction: Direction, [source, destination]: [T; 2]) -> [T; 2] {
    match direction {
        Direction::Up => [source, destination],
        Direction::Down => [destination, source],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn ends(number: u32) -> Ends {
        let addresses = [1, number].map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits)));
        Ends { entry: 0, protocol: UDP, addresses, ports: Some([number as u16, 9]) }
    }

    /// Many conversations of which few go on: those of late are remembered, and those that have packets inside.
    #[test]
    fn conversations_of_hours_take_little_memory() {
        let mut outside = Outside::default();
        let first = outside.number_of(ends(0));
        outside.all[first as usize].inside = 1;
        for number in 1..100_000 {
            outside.number_of(ends(number));
            assert_eq!(outside.number_of(ends(number)), outside.number_of(ends(number)));
        }
        assert!(outside.all.len() <= 2 * MOST_CONVERSATIONS + 2, "{}", outside.all.len());
        assert_eq!(outside.number_of(ends(0)), first);
        let latest = outside.number_of(ends(99_990));
        assert_eq!(outside.all[latest as usize].ends, ends(99_990));
        // The number of another one, which ended.
        assert!(outside.all[latest as usize].generation > 0);
    }

    #[test]
    fn acknowledgements_go_on_where_32_bits_wrap() {
        let mut last = 1 << 33;
        let mut before = 0;
        for ack in [5, 0x7000_0000, 0xe000_0000, 0x1000_0000, 0x2000_0000] {
            last = unwrapped(last, ack);
            assert!(last > before && last as u32 == ack, "{last}");
            before = last;
        }
        // Never so small that bytes below it would have no number.
        for _ in 0..100 {
            last = unwrapped(last, (last as u32).wrapping_sub(0x7fff_ffff));
            assert!(last >= 1 << 32);
        }
    }

    #[test]
    fn hashes_differ_by_all_that_tells_conversations() {
        let others = [
            ends(5),
            ends(2),
            Ends { protocol: TCP, ..ends(5) },
            Ends { ports: None, ..ends(5) },
            Ends { entry: 1, ..ends(5) },
        ];
        let mut hashes: Vec<u32> = others.iter().flat_map(|one| tuples(one, 7)).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 10);
    }
}
