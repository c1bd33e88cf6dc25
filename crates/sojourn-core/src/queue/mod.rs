//! Queues: what owns packets while they wait.
//!
//! A queue is a scheduler (which bin is next) with a law (`aqm`) in each bin and one limit for all
//! of them. Schedulers know laws only by their trait, so any law works in any scheduler.

pub mod abb;
pub mod acks;
mod aqm_bins;
mod bins;
pub mod drr;
pub mod fifo;
mod flow_table;
pub mod fq;
mod plugs;
mod reserved_rates;
pub mod room;
mod rounds;
pub mod sfq;
mod update_clock;
mod watch;
pub mod weights;

use enum_dispatch::enum_dispatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::aqm::{AqmSpec, DrainRate, Verdict};
use crate::count::Count;
use crate::dialect::Dialect;
use crate::engine::rng::Rng;
use crate::input::problem::Fault;
use crate::metrics::{Gauges, Ledger, QueueMeter, Series};
use crate::packet::{DropReason, Packet};
use crate::units::{BitRate, Time};

pub use abb::Abb;
use acks::{AckLane, Acks};
use bins::Measure;
pub use drr::Drr;
pub use fifo::Fifo;
pub use flow_table::{FlowKey, FlowTable, Unit};
pub use fq::Fq;
pub use sfq::Sfq;
use watch::Watch;
pub use weights::Weights;

/// How much a queue may hold.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Bytes on the wire, `u64::MAX` for no such limit.
    pub bytes: u64,
    /// Packets, `u64::MAX` for no such limit.
    pub packets: u64,
    /// ns-2 counts the arriving packet as the first that does not fit: the limit itself is never
    /// reached (ns-2.35 queue/drop-tail.cc).
    pub exclusive: bool,
}

impl Limit {
    /// Is there room for a packet of `size` bytes?
    #[inline]
    pub fn admits(&self, backlog: Count, size: u64) -> bool {
        self.holds(Count { bytes: backlog.bytes + size, packets: backlog.packets + 1 })
    }

    /// Is this much allowed to wait?
    #[inline]
    pub fn holds(&self, backlog: Count) -> bool {
        if self.exclusive {
            backlog.bytes < self.bytes && backlog.packets < self.packets
        } else {
            backlog.bytes <= self.bytes && backlog.packets <= self.packets
        }
    }

    /// What is counted: bytes, unless the limit is in packets alone.
    fn measure(&self) -> Measure {
        if self.bytes == u64::MAX { Measure::Packets } else { Measure::Bytes }
    }
}

/// What a scheduler is made for.
pub struct Setting<'a> {
    /// The law of its bins.
    pub law: &'a AqmSpec,
    /// The queue's limit.
    pub limit: &'a Limit,
    /// Which rules it follows where they differ.
    pub dialect: Dialect,
}

/// What a scheduler is handed with each packet.
pub struct Entry<'a> {
    /// Now.
    pub now: Time,
    /// What lies behind the queue.
    pub drain_rate: &'a DrainRate,
    /// The queue's limit.
    pub limit: &'a Limit,
    /// The queue's random stream.
    pub rng: &'a mut Rng,
    /// Packets that may be marked are, rather than dropped, where the law allows it.
    pub ecn: bool,
    /// Where drops and marks are told.
    pub ledger: &'a mut Ledger,
}

impl Entry<'_> {
    /// Is the packet to be dropped by this verdict? Marks it if that is enough.
    #[inline]
    pub fn refuses(&mut self, verdict: Verdict, packet: &mut Packet) -> bool {
        refuses(self.now, verdict, packet, self.ecn, self.ledger)
    }
}

#[inline]
fn refuses(
    now: Time,
    verdict: Verdict,
    packet: &mut Packet,
    ecn: bool,
    ledger: &mut Ledger,
) -> bool {
    match verdict {
        Verdict::Pass => false,
        Verdict::Signal if ecn && packet.is_markable() => {
            packet.mark();
            ledger.marked(now, packet);
            false
        }
        Verdict::Signal | Verdict::Drop => true,
    }
}

/// What the laws of a queue may be told of the queue behind it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NextQueue {
    /// How long the packet that left it last was in it.
    pub sojourn: Time,
    /// What waits there.
    pub backlog: Count,
}

/// What a scheduler is handed when a packet is asked for.
pub struct Exit<'a> {
    /// Now.
    pub now: Time,
    /// The queue behind this one, where the laws look at both.
    pub next_queue: NextQueue,
    /// Packets that may be marked are, rather than dropped, where the law allows it.
    pub ecn: bool,
    /// Where drops and marks are told.
    pub ledger: &'a mut Ledger,
}

impl Exit<'_> {
    /// Is the packet to be dropped by this verdict? Marks it if that is enough.
    #[inline]
    pub fn refuses(&mut self, verdict: Verdict, packet: &mut Packet) -> bool {
        refuses(self.now, verdict, packet, self.ecn, self.ledger)
    }

    /// The sojourn time of a packet that leaves now.
    #[inline]
    pub fn sojourn(&self, packet: &Packet) -> Time {
        self.now.since(packet.queued_at) + self.next_queue.sojourn
    }

    /// What is left behind a packet that leaves now, `waiting` being what is left in this queue.
    #[inline]
    pub fn left(&self, waiting: Count) -> Count {
        waiting.plus(self.next_queue.backlog)
    }
}

/// Which packet waits where, and which is next.
#[enum_dispatch]
pub trait Discipline {
    /// Takes a packet in, or drops it or others.
    fn enqueue(&mut self, packet: Packet, entry: &mut Entry);
    /// The next packet to send; heads that a law drops are told to the ledger.
    fn dequeue(&mut self, exit: &mut Exit) -> Option<Packet>;
    /// The next packet that a minimum reserved rate is due for; only some know of such rates.
    fn dequeue_reserved(&mut self, _exit: &mut Exit) -> Option<Packet> {
        None
    }
    /// What waits in all bins.
    fn backlog(&self) -> Count;
    /// A MAP brought a grant: tells the laws.
    fn on_map(&mut self, _granted: u64, _ungranted: u64) {}
    /// When `update` wants to be called next.
    fn next_update(&self) -> Time;
    /// The periodic part of the laws.
    fn update(&mut self, now: Time, drain_rate: &DrainRate);
    /// Tells what is a flow, and the names of the traffic entries, by the number that packets carry.
    fn set_flow_classifier(&mut self, _flows: &FlowTable, _names: &[&str]) {}
    /// State worth watching over time.
    fn gauges(&self, out: &mut Gauges);
    /// What is worth watching of one flow, of which a packet has come: always the same gauges.
    fn flow_gauges(&self, _flow: FlowKey, _out: &mut Gauges) {}
}

/// Every scheduler there is.
#[enum_dispatch(Discipline)]
pub enum Scheduler {
    /// First in, first out.
    Fifo,
    /// Stochastic fair queueing.
    Sfq,
    /// Flow queueing of FQ-CoDel.
    Fq,
    /// Deficit round robin.
    Drr,
    /// Adaptive bandwidth binning.
    Abb,
}

/// Makes an empty scheduler from its parameters.
#[enum_dispatch]
pub trait SchedulerParameters {
    /// The scheduler at the start of a run.
    fn start(&self, setting: &Setting) -> Scheduler;
    /// The weights of traffic entries, if it has such.
    fn weights(&self) -> Option<&Weights> {
        None
    }
    /// Can it do anything sensible with this law, and packets of so many bytes?
    ///
    /// # Errors
    /// The first key at fault.
    fn check(&self, _law: &AqmSpec, _largest: u64) -> Result<(), Fault> {
        Ok(())
    }
    /// Does it keep minimum reserved rates?
    fn keeps_reserved_rates(&self) -> bool {
        false
    }
}

/// Which packet goes next, by its `kind`.
#[enum_dispatch(SchedulerParameters)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SchedulerSpec {
    /// First in, first out.
    Fifo(fifo::Parameters),
    /// Stochastic fair queueing: flows hashed to bins, bins served in turn.
    Sfq(sfq::Parameters),
    /// The flow queueing of FQ-CoDel (RFC 8290): as SFQ, by the letter of the RFC.
    Fq(fq::Parameters),
    /// Deficit round robin with a queue for each flow (Shreedhar & Varghese 1996).
    Drr(drr::Parameters),
    /// Adaptive bandwidth binning: flows that got as much share a bin (Hong 2015).
    Abb(abb::Parameters),
}

impl Default for SchedulerSpec {
    fn default() -> Self {
        Self::Fifo(fifo::Parameters {})
    }
}

/// A queue manager: a limit, a scheduler and a law. With nothing but a limit it is drop-tail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QueueSpec {
    /// Bytes the queue may hold. With neither limit: 250 ms at the sustained rate (White 2014 §9).
    #[schemars(range(min = 1, max = 4_000_000_000_u64))]
    pub limit_bytes: Option<u64>,
    /// Packets the queue may hold.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub limit_packets: Option<u64>,
    /// Which packet goes next.
    pub scheduler: SchedulerSpec,
    /// What is dropped early; one instance of the law for each bin of the scheduler.
    pub law: AqmSpec,
    /// Where the law signals congestion, packets of transports with ECN are marked rather than
    /// dropped (RFC 3168 §5). CoDel, FQ-CoDel (RFC 8290 §5.2), PIE (RFC 8033 §5.1) and RED do;
    /// CoDel-DT and DOCSIS-PIE (RFC 8034 §4.7) always drop.
    pub ecn: bool,
    /// What becomes of bare TCP acknowledgements.
    pub acks: Acks,
}

impl Default for QueueSpec {
    fn default() -> Self {
        Self {
            limit_bytes: None,
            limit_packets: None,
            scheduler: SchedulerSpec::default(),
            law: AqmSpec::default(),
            ecn: true,
            acks: Acks::default(),
        }
    }
}

/// Limit of a queue in bytes where the scenario gives none: 250 ms at the sustained rate (White 2014
/// §9).
pub fn default_limit_bytes(sustained: BitRate) -> u64 {
    sustained.bytes_in(Time::from_ms(250)) as u64
}

/// A queue with its meter.
pub struct Queue {
    scheduler: Scheduler,
    limit: Limit,
    ecn: bool,
    acks: Option<AckLane>,
    rng: Rng,
    /// Of a home that is watched.
    meter: Option<Box<QueueMeter>>,
    watch: Watch,
}

impl Queue {
    /// An empty queue. `default_bytes` is its limit where the scenario names none; `name` keys its
    /// random stream and its results.
    pub fn new(
        spec: &QueueSpec,
        default_bytes: u64,
        dialect: Dialect,
        name: &str,
        seed: u64,
    ) -> Self {
        let unlimited = spec.limit_bytes.is_none() && spec.limit_packets.is_none();
        let limit = Limit {
            bytes: spec.limit_bytes.unwrap_or(if unlimited { default_bytes } else { u64::MAX }),
            packets: spec.limit_packets.unwrap_or(u64::MAX),
            exclusive: dialect == Dialect::Ns2,
        };
        Self {
            scheduler: spec.scheduler.start(&Setting { law: &spec.law, limit: &limit, dialect }),
            limit,
            ecn: spec.ecn,
            acks: AckLane::new(spec.acks),
            rng: Rng::named(seed, name),
            meter: Some(Box::new(QueueMeter::new(name))),
            watch: Watch::default(),
        }
    }

    /// The same queue without a meter, which takes most of an idle queue's memory.
    pub fn unwatched(self) -> Self {
        Self { meter: None, ..self }
    }

    /// Bytes the queue may hold; a limit in packets counts them at 1500 bytes.
    pub fn buffer_bytes(&self) -> u64 {
        self.limit.bytes.min(self.limit.packets.saturating_mul(1500))
    }

    /// Tells the names of the traffic entries, by the number that packets carry: for schedulers with
    /// weights, which until then are all 1, and for the first `watch_flows` flows, which are watched
    /// one by one.
    pub fn name_traffic(&mut self, names: &[&str], watch_flows: usize) {
        self.set_flow_classifier(&FlowTable::connections(), names, watch_flows);
    }

    /// The same, with what is a flow to the scheduler, where that is not a connection.
    pub fn set_flow_classifier(&mut self, flows: &FlowTable, names: &[&str], watch_flows: usize) {
        self.scheduler.set_flow_classifier(flows, names);
        self.watch = Watch::new(watch_flows, flows, names);
    }

    /// Is there room for one more packet, if it is small?
    pub fn has_room(&self) -> bool {
        self.limit.admits(self.backlog(), 0)
    }

    /// Takes a packet in, or drops it or others.
    #[inline]
    pub fn enqueue(
        &mut self,
        now: Time,
        mut packet: Packet,
        drain_rate: &DrainRate,
        ledger: &mut Ledger,
    ) {
        packet.queued_at = now;
        self.watch.note(&packet);
        if self.acks.is_some() && packet.is_bare_ack() {
            return self.enqueue_ack(now, packet, ledger);
        }
        let Self { limit, ecn, rng, .. } = self;
        let entry = &mut Entry { now, drain_rate, limit, rng, ecn: *ecn, ledger };
        self.scheduler.enqueue(packet, entry);
    }

    fn enqueue_ack(&mut self, now: Time, packet: Packet, ledger: &mut Ledger) {
        let Some(acks) = &mut self.acks else { return };
        match acks.replace(packet) {
            Ok(old) => ledger.dropped(now, old, DropReason::Superseded),
            Err(packet) if self.limit.admits(acks.backlog(), packet.size.into()) => {
                acks.push(packet);
            }
            Err(packet) => ledger.dropped(now, packet, DropReason::Overflow),
        }
    }

    /// The next packet to send.
    #[inline]
    pub fn dequeue(&mut self, now: Time, ledger: &mut Ledger) -> Option<Packet> {
        self.dequeue_before(now, NextQueue::default(), ledger)
    }

    /// As `dequeue`, for a queue before another one, which the laws count in.
    #[inline]
    pub fn dequeue_before(
        &mut self,
        now: Time,
        next_queue: NextQueue,
        ledger: &mut Ledger,
    ) -> Option<Packet> {
        let ack = self.acks.as_mut().and_then(AckLane::pop);
        let exit = &mut Exit { now, next_queue, ecn: self.ecn, ledger };
        let packet = ack.or_else(|| self.scheduler.dequeue(exit))?;
        self.note_departure(now, &packet);
        Some(packet)
    }

    /// The next packet that a minimum reserved rate is due for.
    pub fn dequeue_reserved(&mut self, now: Time, ledger: &mut Ledger) -> Option<Packet> {
        let exit = &mut Exit { now, next_queue: NextQueue::default(), ecn: self.ecn, ledger };
        let packet = self.scheduler.dequeue_reserved(exit)?;
        self.note_departure(now, &packet);
        Some(packet)
    }

    #[inline]
    fn note_departure(&mut self, now: Time, packet: &Packet) {
        if let Some(meter) = &mut self.meter {
            meter.departed(now.since(packet.queued_at));
        }
    }

    /// What waits.
    #[inline]
    pub fn backlog(&self) -> Count {
        let waiting = self.scheduler.backlog();
        self.acks.as_ref().map_or(waiting, |acks| waiting.plus(acks.backlog()))
    }

    /// A MAP of the modem brought a grant, and left so many bytes that were asked for ungranted.
    #[inline]
    pub fn on_map(&mut self, granted: u64, ungranted: u64) {
        self.scheduler.on_map(granted, ungranted);
    }

    /// When `update` wants to be called next.
    #[inline]
    pub fn next_update(&self) -> Time {
        self.scheduler.next_update()
    }

    /// The periodic part of the laws.
    pub fn update(&mut self, now: Time, drain_rate: &DrainRate) {
        self.scheduler.update(now, drain_rate);
    }

    /// Sojourn times, and a place for the series that are sampled from this queue, unless it is
    /// unwatched.
    pub fn meter(&self) -> Option<&QueueMeter> {
        self.meter.as_deref()
    }

    /// All series with their subjects: those of the queue under its name, those of a watched flow
    /// under that and the flow's.
    pub fn series(&self) -> impl Iterator<Item = (String, &Series)> {
        self.meter.iter().flat_map(|meter| {
            let queue = meter.name();
            let own = meter.series().map(|series| (queue.to_owned(), series));
            let flows = self.watch.series();
            own.chain(flows.map(move |(flow, series)| (format!("{queue} {flow}"), series)))
        })
    }

    /// Samples the queue for its series, with what its link has to show.
    pub fn sample(&mut self, show_link: impl FnOnce(&mut Gauges)) {
        let backlog = self.backlog();
        let Self { scheduler, meter, watch, .. } = self;
        watch.sample(scheduler);
        let Some(meter) = meter else { return };
        meter.sample(backlog, |gauges| {
            show_link(gauges);
            scheduler.gauges(gauges);
        });
    }
}
