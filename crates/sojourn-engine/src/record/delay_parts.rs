//! What packets spend their time on, summed by traffic entry and direction.
//!
//! Every stage adds what it holds a packet for, as soon as it knows it. Each instant from a packet's sending
//! until it is delivered or dropped, or until the run ends, belongs to one part, so the parts add up to the
//! packets' time to the picosecond. The ledger asserts that in every run.
//!
//! A packet in a queue enters and leaves: its sum has the instant at which it leaves less that at which it
//! entered. Sums wrap around meanwhile, and are right once all that is still in queues has the end of the run.
//!
//! In a modem the packet that is to be sent next is the head of line: it waits for the MAC and not behind
//! others. A packet is the head from its arrival, or from when the packet before it has been sent, whichever is
//! later. What it waits for changes with what the MAC does (sojourn-access, `docsis/head_of_line.rs`).

use crate::packet::{Direction, Packet};
use crate::units::Time;
use sojourn_input::named;

named! {
    /// What a packet's time is spent on.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    #[repr(u8)]
    pub enum Part {
        /// In the queue of a home's router.
        RouterQueue = "router_queue",
        /// In the upstream queue of the access network, behind others.
        ModemQueue = "modem_queue",
        /// In the downstream queue of the access network.
        CmtsQueue = "cmts_queue",
        /// In the queue of a link of the core.
        CoreQueue = "core_queue",
        /// In the queue before a server's link, or behind others for that link.
        ServerQueue = "server_queue",
        /// At the head of the modem's queue, until it can request bandwidth.
        RequestWait = "request_wait",
        /// At the head of the modem's queue, since a request collided.
        Contention = "contention",
        /// At the head of the modem's queue, requested, until the grant begins.
        GrantWait = "grant_wait",
        /// Waiting for tokens of the service flow's buckets, behind nobody.
        Shaping = "shaping",
        /// The modem sends nothing, or passes nothing on.
        Stall = "stall",
        /// Being sent: on a link, or in the frames and symbols of a channel.
        Transmission = "transmission",
        /// On the way: cable, interconnect, links of the core and of servers.
        Propagation = "propagation",
        /// Random time on the path or the interconnect.
        Jitter = "jitter",
        /// At the host of a server.
        Host = "host",
        /// The delay of a router.
        Router = "router",
        /// At its receiver's modem, until those before it have come on other channels.
        Resequencing = "resequencing",
    }
}

impl Part {
    /// Do packets wait behind others in it?
    pub const fn is_queue(self) -> bool {
        use Part::{CmtsQueue, CoreQueue, ModemQueue, RouterQueue, ServerQueue};
        matches!(self, RouterQueue | ModemQueue | CmtsQueue | CoreQueue | ServerQueue)
    }

    /// Do packets wait in it, as in the sojourn time of a queue: behind others, for grants or for tokens?
    pub const fn is_wait(self) -> bool {
        use Part::{Contention, GrantWait, RequestWait, Shaping, Stall};
        self.is_queue() || matches!(self, RequestWait | Contention | GrantWait | Shaping | Stall)
    }
}

/// Number of parts.
pub const PARTS: usize = Part::ALL.len();

/// Where a link is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// At a home's router.
    Router,
    /// In the core network.
    Core,
    /// At a server.
    Server,
}

impl Place {
    /// The queue before the link.
    #[inline]
    pub fn queue(self) -> Part {
        match self {
            Self::Router => Part::RouterQueue,
            Self::Core => Part::CoreQueue,
            Self::Server => Part::ServerQueue,
        }
    }

    /// The delay of the link.
    #[inline]
    pub fn delay(self) -> Part {
        match self {
            Self::Router => Part::Router,
            Self::Core | Self::Server => Part::Propagation,
        }
    }
}

/// What packets spend their time on in a queue.
#[derive(Clone, Copy, Debug)]
pub struct Stay {
    /// The part.
    pub part: Part,
    /// Does the stage that holds the queue say what else they waited for in it?
    pub is_split: bool,
}

impl Stay {
    /// All of it is this part.
    pub fn whole(part: Part) -> Self {
        Self { part, is_split: false }
    }
}

/// Until when a packet spends its time on what, one part after the other.
pub type Legs<const N: usize> = [(Part, Time); N];

/// The sums of a traffic entry in a direction, in ps.
#[derive(Clone, Debug, Default)]
pub struct PartSums {
    ps: [u128; PARTS],
    /// Packets that have entered a part and not left it.
    inside: [u32; PARTS],
    /// Packets whose loss comes after the end of the run, but was known before: their time is counted until then.
    pub lost_after_end: u64,
    /// The sum of the times of their losses.
    pub lost_after_end_ps: u128,
}

impl PartSums {
    #[inline]
    fn add(&mut self, part: Part, ps: u64) {
        let sum = &mut self.ps[part as usize];
        *sum = sum.wrapping_add(ps.into());
    }

    #[inline]
    fn subtract(&mut self, part: Part, ps: u64) {
        let sum = &mut self.ps[part as usize];
        *sum = sum.wrapping_sub(ps.into());
    }

    /// What has entered and not left has spent its time until now.
    fn close(&mut self, now: Time) {
        for (sum, inside) in self.ps.iter_mut().zip(&mut self.inside) {
            let packets = u128::from(std::mem::take(inside));
            *sum = sum.wrapping_add(packets * u128::from(now.ps()));
        }
    }

    /// A part of the time.
    pub fn ps(&self, part: Part) -> u128 {
        self.ps[part as usize]
    }

    /// All of it.
    pub fn total_ps(&self) -> u128 {
        self.ps.iter().fold(0, |sum, ps| sum.wrapping_add(*ps))
    }
}

/// The parts of the time of one packet, in the trace.
type PacketParts = [u64; PARTS];

/// The parts of a delivered packet's delay.
#[derive(Clone, Copy, Debug)]
pub struct Delay {
    /// Number of the packet in the run.
    pub packet: u64,
    /// Entry of the traffic list.
    pub traffic: u16,
    /// Which way it went.
    pub direction: Direction,
    /// By [`Part`].
    pub parts: [Time; PARTS],
}

impl Delay {
    /// The one-way delay.
    pub fn total(&self) -> Time {
        self.parts.iter().fold(Time::ZERO, |sum, part| sum + *part)
    }
}

/// The sums of all traffic entries. Packets count that are sent from some instant on.
#[derive(Debug)]
pub struct DelayBook {
    from: Time,
    /// By entry and direction.
    sums: Vec<[PartSums; 2]>,
    /// The queue that is at work: what drops, drops from it.
    at_work: Stay,
    /// What it has dropped, if the stage that holds it says what that waited for.
    dropped: Vec<Packet>,
    /// The parts of single packets by their number, if they are traced.
    traced: Option<Vec<PacketParts>>,
}

impl DelayBook {
    /// All zero, for so many entries.
    pub fn new(from: Time, entries: usize, is_traced: bool) -> Self {
        let sums = vec![Default::default(); entries];
        let (at_work, dropped) = (Stay::whole(Part::ModemQueue), Vec::new());
        Self { from, sums, at_work, dropped, traced: is_traced.then(Vec::new) }
    }

    /// Does a packet count in tables?
    #[inline]
    pub(super) fn counts(&self, packet: &Packet) -> bool {
        packet.sent_at >= self.from
    }

    /// The sums of a packet, if it counts.
    #[inline]
    fn of(&mut self, packet: &Packet) -> Option<&mut PartSums> {
        if !self.counts(packet) {
            return None;
        }
        Some(&mut self.sums.get_mut(usize::from(packet.traffic))?[packet.direction as usize])
    }

    /// A packet enters a queue, which is at work.
    #[inline]
    pub fn enters(&mut self, now: Time, packet: &Packet, part: Part) {
        let Some(sums) = self.of(packet) else { return };
        sums.subtract(part, now.ps());
        sums.inside[part as usize] += 1;
        if self.traced.is_some() {
            self.trace(packet, part, now.ps().wrapping_neg());
        }
    }

    /// A packet leaves a queue that it has entered.
    #[inline]
    pub fn leaves(&mut self, now: Time, packet: &Packet, part: Part) {
        let Some(sums) = self.of(packet) else { return };
        sums.add(part, now.ps());
        let inside = &mut sums.inside[part as usize];
        *inside = inside.wrapping_sub(1);
        if self.traced.is_some() {
            self.trace(packet, part, now.ps());
        }
    }

    /// A packet spends its time from `since` on on these parts, in the order of time.
    #[inline(always)]
    pub fn spends<const N: usize>(&mut self, packet: &Packet, since: Time, legs: Legs<N>) {
        let Some(sums) = self.of(packet) else { return };
        let mut last = since;
        for (part, until) in legs {
            debug_assert!(until >= last, "legs are in the order of time");
            sums.add(part, until.ps().wrapping_sub(last.ps()));
            last = until;
        }
        if self.traced.is_some() {
            self.trace_legs(packet, since, &legs);
        }
    }

    /// A packet is counted to spend its time from `since` on on these parts. The run ends at `now`: what comes after
    /// it is not spent.
    pub fn takes_back<const N: usize>(
        &mut self,
        now: Time,
        packet: &Packet,
        since: Time,
        legs: Legs<N>,
    ) {
        let Some(sums) = self.of(packet) else { return };
        let mut last = since.max(now);
        for (part, until) in legs {
            sums.subtract(part, until.since(last).ps());
            last = last.max(until);
        }
    }

    /// So much of a packet's time was not spent on one part but on another.
    pub fn moves(&mut self, packet: &Packet, from: Part, to: Part, span: Time) {
        let Some(sums) = self.of(packet) else { return };
        sums.subtract(from, span.ps());
        sums.add(to, span.ps());
        if self.traced.is_some() {
            self.trace(packet, from, span.ps().wrapping_neg());
            self.trace(packet, to, span.ps());
        }
    }

    /// A queue is at work.
    #[inline]
    pub fn works(&mut self, stay: Stay) {
        self.at_work = stay;
    }

    /// The queue at work drops a packet.
    pub(super) fn drops(&mut self, at: Time, packet: &Packet) {
        self.leaves(at, packet, self.at_work.part);
    }

    /// And that packet is gone.
    pub(super) fn has_dropped(&mut self, packet: Packet) {
        if self.at_work.is_split {
            self.dropped.push(packet);
        }
    }

    /// A packet that the queue at work has dropped, whose time is to be split.
    #[inline]
    pub fn next_dropped(&mut self) -> Option<Packet> {
        self.dropped.pop()
    }

    /// The loss of a packet comes after the end of the run.
    pub(super) fn lost_after_end(&mut self, at: Time, packet: &Packet) {
        if let Some(sums) = self.of(packet) {
            sums.lost_after_end += 1;
            sums.lost_after_end_ps += u128::from(at.ps());
        }
    }

    #[cold]
    fn trace_legs(&mut self, packet: &Packet, since: Time, legs: &[(Part, Time)]) {
        let mut last = since;
        for (part, until) in legs {
            self.trace(packet, *part, until.since(last).ps());
            last = last.max(*until);
        }
    }

    #[cold]
    fn trace(&mut self, packet: &Packet, part: Part, ps: u64) {
        let (Some(traced), Some(number)) = (&mut self.traced, packet.trace_number()) else {
            return;
        };
        let number = number as usize;
        if traced.len() <= number {
            traced.resize(number + 1, [0; PARTS]);
        }
        let sum = &mut traced[number][part as usize];
        *sum = sum.wrapping_add(ps);
    }

    /// The parts of a traced packet that is delivered.
    pub(super) fn delay_of(&self, packet: &Packet) -> Option<Delay> {
        let (traced, number) = (self.traced.as_ref()?, packet.trace_number()?);
        let (traffic, direction) = (packet.traffic, packet.direction);
        let parts = traced.get(number as usize)?.map(Time::from_ps);
        self.counts(packet).then_some(Delay { packet: number, traffic, direction, parts })
    }

    /// The run is over: what is in queues has waited until now.
    pub fn close(&mut self, now: Time) {
        debug_assert!(self.dropped.is_empty(), "the time of dropped packets is split");
        self.sums.iter_mut().flatten().for_each(|sums| sums.close(now));
    }

    /// The sums of a traffic entry in a direction.
    pub fn sums(&self, traffic: usize, direction: Direction) -> &PartSums {
        &self.sums[traffic][direction as usize]
    }
}
