//! Queues: they own packets while these wait.
//!
//! A queue is a scheduler, which chooses the next bin, an AQM algorithm in each bin, and one limit
//! for all bins. Schedulers know AQM algorithms only by the trait `Aqm`, so every algorithm works
//! in every scheduler except `dualq` and `low_latency`, which have their own.

pub mod abb;
pub(crate) mod acks;
mod aqm_bins;
mod bins;
pub mod cake;
pub mod choke;
pub mod drr;
pub mod dualq;
pub mod fifo;
mod finish_tags;
mod flow_table;
pub mod fq;
pub mod fq_pie;
mod lanes;
pub mod low_latency;
mod low_latency_members;
pub(crate) mod low_latency_parameters;
mod member_rate;
mod plugs;
mod reserved_rates;
pub(crate) mod room;
mod rounds;
pub mod scfq;
#[cfg(test)]
mod schedulers_tests;
pub mod sfb;
pub mod sfq;
pub mod sfq_linux;
#[cfg(test)]
mod tests;
mod update_clock;
mod watch;
pub(crate) mod weights;
pub mod wfq;

pub use low_latency_parameters::Parameters;
pub use room::Room;

use std::borrow::Cow;

use auto_impl::auto_impl;
use enum_dispatch::enum_dispatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::aqm::{self, AqmAlgorithm, AqmSpec, DrainRate, Threshold, Verdict, codel};
use crate::count::Count;
use crate::dialect::Dialect;
use crate::packet::{DropReason, FULL_PACKET, Packet};
use crate::record::latency_histogram::LatencyHistogram;
use crate::record::queue_meter;
use crate::record::{
    Counted, Definition, Gauges, Lapses, Member, MemberCounts, Part, QueueCounts, QueueMeter,
    Recorder, Rest, Series, Stay,
};
use crate::rng::{Rng, Seed};
use crate::units::{BitRate, Time};
use sojourn_input::fault;
use sojourn_input::kinds;
use sojourn_input::parts::{self, Keys};
use sojourn_input::problem::{Fault, Faults, Remedy};

pub use abb::Abb;
use acks::{AckLane, Acks};
use bins::Measure;
pub use cake::Cake;
pub use choke::Choke;
pub use drr::Drr;
pub use dualq::DualQ;
pub use fifo::Fifo;
pub use flow_table::{FlowKey, FlowTable, Unit};
pub use fq::Fq;
pub use low_latency::LowLatency;
pub use scfq::Scfq;
pub use sfb::Sfb;
pub use sfq::Sfq;
use watch::Watch;
pub use weights::Weights;
pub use wfq::Wfq;

/// Definitions of all series that queues, schedulers and AQM algorithms show.
pub fn series() -> Vec<Definition> {
    let schedulers = [
        abb::SERIES,
        aqm_bins::SERIES,
        cake::SERIES,
        dualq::SERIES,
        flow_table::SERIES,
        fq::SERIES,
        lanes::SERIES,
        low_latency_members::SERIES,
        sfb::SERIES,
        sfq::SERIES,
    ];
    [queue_meter::SERIES, &aqm::SERIES.concat(), &schedulers.concat()].concat()
}

/// How much a queue may hold.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Bytes on the wire; `u64::MAX` for no limit in bytes.
    pub bytes: u64,
    /// Packets; `u64::MAX` for no limit in packets.
    pub packets: u64,
    /// Must the arriving packet stay below the limit? In ns-2 the limit itself is never reached
    /// (ns-2.35 queue/drop-tail.cc).
    pub exclusive: bool,
}

impl Limit {
    /// Is there room for a packet of `size` bytes?
    #[inline]
    pub fn admits(&self, backlog: Count, size: u64) -> bool {
        self.holds(Count { bytes: backlog.bytes + size, packets: backlog.packets + 1 })
    }

    /// Does this backlog stay within the limit?
    #[inline]
    pub fn holds(&self, backlog: Count) -> bool {
        if self.exclusive {
            backlog.bytes < self.bytes && backlog.packets < self.packets
        } else {
            backlog.bytes <= self.bytes && backlog.packets <= self.packets
        }
    }

    /// The unit of backlogs: bytes, unless only packets are limited.
    fn measure(&self) -> Measure {
        if self.bytes == u64::MAX { Measure::Packets } else { Measure::Bytes }
    }
}

/// What a scheduler is built from.
pub struct Setting<'a> {
    /// The AQM algorithm of its bins.
    pub law: &'a AqmSpec,
    /// The queue's limit.
    pub limit: &'a Limit,
    /// The dialect it follows.
    pub dialect: Dialect,
    /// The seed of its AQM algorithms, which have a number each.
    pub seed: Seed,
}

impl Setting<'_> {
    /// The AQM algorithm of the bin of this number.
    pub fn aqm(&self, bin: usize) -> AqmAlgorithm {
        self.law.parameters().start(self.seed.numbered(bin as u64))
    }
}

/// What a scheduler gets with each arriving packet.
pub struct Entry<'a> {
    /// Now.
    pub now: Time,
    /// How fast the shaper behind the queue lets it drain.
    pub drain_rate: &'a DrainRate,
    /// The queue's limit.
    pub limit: &'a Limit,
    /// The queue's random stream.
    pub rng: &'a mut Rng,
    /// Where it records what it does to packets.
    pub counters: Counters<'a>,
}

/// Where a scheduler records that it drops or marks a packet.
pub struct Counters<'a> {
    /// Mark packets of ECN transports instead of dropping them, where the algorithm allows it.
    pub ecn: bool,
    /// Of the run.
    pub recorder: &'a mut Recorder,
    /// The queue's own.
    pub counts: &'a mut Counted<QueueCounts>,
}

impl Counters<'_> {
    /// A shorter borrow, for a part of the work.
    pub fn reborrow(&mut self) -> Counters<'_> {
        Counters { ecn: self.ecn, recorder: self.recorder, counts: self.counts }
    }

    /// Drops a packet.
    #[cold]
    pub fn drop(&mut self, now: Time, packet: Packet, reason: DropReason) {
        self.counts.drop(self.recorder.counts(&packet), reason);
        self.recorder.dropped(now, packet, reason);
    }

    /// May this packet be marked?
    #[inline]
    pub fn can_mark(&self, packet: &Packet) -> bool {
        self.ecn && packet.is_markable()
    }

    /// Marks a packet that may be.
    #[inline]
    pub fn mark(&mut self, now: Time, packet: &mut Packet) {
        packet.mark();
        self.counts.add(self.recorder.counts(packet), |of| &mut of.marked);
        self.recorder.marked(now, packet);
    }

    /// Marks the packet if the verdict allows it. Returns whether it must be dropped instead.
    #[inline]
    pub fn refuses(&mut self, now: Time, verdict: Verdict, packet: &mut Packet) -> bool {
        match verdict {
            Verdict::Pass => false,
            Verdict::Signal if self.can_mark(packet) => {
                self.mark(now, packet);
                false
            }
            Verdict::Signal | Verdict::Drop => true,
        }
    }
}

/// What AQM algorithms may know of the queue behind theirs.
#[derive(Clone, Copy, Debug, Default)]
pub struct NextQueue {
    /// The time that the last packet to leave that queue spent in it.
    pub sojourn: Time,
    /// Its backlog.
    pub backlog: Count,
}

/// What a scheduler gets with each request for a packet.
pub struct Exit<'a> {
    /// Now.
    pub now: Time,
    /// The queue behind this one, if AQM algorithms look at both.
    pub next_queue: NextQueue,
    /// The queue's random stream.
    pub rng: &'a mut Rng,
    /// Where it records what it does to packets.
    pub counters: Counters<'a>,
    /// Which of two members the packet comes from. A scheduler that has members sets it.
    pub member: Option<Member>,
}

impl Exit<'_> {
    /// The sojourn time of a packet that leaves now, including the next queue's.
    #[inline]
    pub fn sojourn(&self, packet: &Packet) -> Time {
        self.now.since(packet.queued_at) + self.next_queue.sojourn
    }

    /// The backlog behind a packet that leaves now, with `waiting` left in this queue.
    #[inline]
    pub fn left(&self, waiting: Count) -> Count {
        waiting.plus(self.next_queue.backlog)
    }
}

/// The packets of a queue.
pub type Waiting<'a> = Box<dyn Iterator<Item = &'a Packet> + 'a>;

/// A scheduler: in which bin a packet waits, and which packet is next.
#[enum_dispatch]
#[auto_impl(Box)]
pub trait Discipline {
    /// Queues a packet, or drops it or others.
    fn enqueue(&mut self, packet: Packet, entry: &mut Entry);
    /// The next packet to send. Heads that an AQM algorithm drops are recorded.
    fn dequeue(&mut self, exit: &mut Exit) -> Option<Packet>;
    /// The next packet that a minimum reserved rate is due for. Only some schedulers keep such
    /// rates.
    #[doc(hidden)]
    fn dequeue_reserved(&mut self, _exit: &mut Exit) -> Option<Packet> {
        None
    }
    /// The two flows of a Low Latency DOCSIS aggregate, if it is one.
    #[doc(hidden)]
    fn aggregate(&self) -> Option<&LowLatency> {
        None
    }
    /// The two flows of a Low Latency DOCSIS aggregate, to be changed.
    #[doc(hidden)]
    fn aggregate_mut(&mut self) -> Option<&mut LowLatency> {
        None
    }
    /// What its low-latency and its classic queue did, if it has these.
    #[doc(hidden)]
    fn members(&self) -> Option<[Counted<MemberCounts>; 2]> {
        None
    }
    /// When it gives the next packet, if one waits and it has a shaper of its own.
    fn ready_at(&self) -> Time {
        Time::ZERO
    }
    /// Backlog of all bins.
    fn backlog(&self) -> Count;
    /// What waits, in any order. It is asked when a run ends; without an answer it is said to wait behind others.
    fn packets(&self) -> Waiting<'_> {
        Box::new(std::iter::empty())
    }
    /// Informs the AQM algorithms that a MAP brought a grant.
    fn on_map(&mut self, _granted: u64, _ungranted: u64) {}
    /// When `update` is due next; never where nothing is updated.
    fn next_update(&self) -> Time {
        Time::NEVER
    }
    /// Runs the periodic update of the AQM algorithms.
    fn update(&mut self, _now: Time, _drain_rate: &DrainRate) {}
    /// From now on its parameters and those of its AQM algorithms are others, of the same kinds. Packets and state stay.
    fn retune(&mut self, _spec: &QueueSpec) {}
    /// From now on its own shaper has this rate. Returns whether it has one.
    fn shape(&mut self, _rate: BitRate) -> bool {
        false
    }
    /// Sets what counts as a flow, and the names of the traffic entries by the number that packets
    /// carry.
    fn set_flow_classifier(&mut self, _flows: &FlowTable, _names: &[&str]) {}
    /// Reports state worth watching over time.
    fn gauges(&self, out: &mut Gauges);
    /// What its algorithm notes of itself, if there is one for all packets, or for those of the classic queue.
    fn lapses(&self) -> Lapses {
        Lapses::default()
    }
    /// The rest of that algorithm.
    fn rest(&self) -> Option<Rest> {
        None
    }
    /// From so many packets of a flow on it signals early, if it goes by these alone.
    fn flow_target(&self) -> Option<u64> {
        None
    }
    /// Reports state of one flow from which a packet has come; always the same gauges.
    fn flow_gauges(&self, _flow: FlowKey, _out: &mut Gauges) {}
}

/// Every scheduler.
#[enum_dispatch(Discipline)]
#[non_exhaustive]
pub enum Scheduler {
    /// First in, first out.
    Fifo,
    /// Stochastic fair queueing.
    Sfq,
    /// Flow queueing of FQ-CoDel.
    Fq,
    /// Common Applications Kept Enhanced.
    Cake,
    /// CHOKe.
    Choke,
    /// Stochastic fair BLUE.
    Sfb,
    /// Deficit round robin.
    Drr,
    /// Weighted fair queueing.
    Wfq,
    /// Self-clocked fair queueing.
    Scfq,
    /// Adaptive bandwidth binning.
    Abb,
    /// Two coupled queues.
    DualQ,
    /// The two service flows of a low-latency aggregate.
    LowLatency,
    /// One from outside.
    Outside(Box<dyn Discipline + Send>),
}

/// Parameters of a scheduler, which build it.
pub trait SchedulerParameters: Keys {
    /// The empty scheduler at the start of a run.
    fn start(&self, setting: &Setting) -> Scheduler;
    /// The AQM algorithm of its bins, if the queue's `law` is not.
    fn own_law(&self) -> Option<AqmSpec> {
        None
    }
    /// The weights of traffic entries, if it has any.
    fn weights(&self) -> Option<&Weights> {
        None
    }
    /// The faults of its parameters with this AQM algorithm, for packets of up to `_largest` bytes.
    fn check(&self, _law: &AqmSpec, _largest: u64) -> Faults {
        Faults::default()
    }
    /// Has it limits of its own, so that an unset limit of the queue is none?
    fn limits_itself(&self) -> bool {
        false
    }
    /// Bins that it has from the start, and AQM algorithms in them.
    fn bins(&self) -> (u32, u32) {
        (1, 1)
    }
    /// The delay above which it keeps signalling before a link of this rate, if one key sets it.
    fn threshold(&self, _rate: BitRate) -> Option<Threshold> {
        None
    }
    /// Keys that have no effect, or cannot do what they are for at this rate; each message follows its key.
    fn remarks(&self, _rate: BitRate) -> Faults {
        Faults::default()
    }
    /// Bytes that its own shaper counts for a packet of this size.
    fn counted_bytes(&self, size: u64) -> u64 {
        size
    }
    /// The rate of its own shaper, if it has one: the key and Mbps.
    fn shaper(&self) -> Option<(&'static str, f64)> {
        None
    }
    /// Does it keep minimum reserved rates?
    fn keeps_reserved_rates(&self) -> bool {
        false
    }
}

kinds! {
    /// The scheduler of a queue, chosen by `kind`: it decides which packet goes next.
    pub enum SchedulerSpec: SchedulerParameters in "SchedulerSpec" {
        /// A single first-in, first-out queue.
        Fifo(fifo::Parameters) = "fifo",
        /// Stochastic fair queueing (SFQ): flows are hashed to bins, and bins are served in turn.
        Sfq(sfq::Parameters) = "sfq",
        /// Stochastic fair queueing as Linux has it (`sch_sfq`).
        SfqLinux(sfq_linux::Parameters) = "sfq_linux",
        /// Flow queueing of FQ-CoDel (RFC 8290). Unlike `sfq`, it follows the RFC exactly.
        Fq(fq::Parameters) = "fq",
        /// FQ-PIE of Linux: `fq` with `pie`, both as the kernel has them. `law` must be unset.
        FqPie(fq_pie::Parameters) = "fq_pie",
        /// CAKE: a shaper, tins by code point, flows and hosts that are isolated, and COBALT in each flow (Linux
        /// `sch_cake`). It has its own AQM algorithm: `law` must be unset.
        Cake(cake::Parameters) = "cake",
        /// CHOKe: RED that compares each arrival with a packet drawn from the queue, and drops both if they are of one
        /// flow (Pan 2000; Linux `sch_choke`). `law` must be unset.
        Choke(choke::Parameters) = "choke",
        /// SFB, stochastic fair BLUE: flows share buckets, whose probability signals (Feng 2001; Linux `sch_sfb`). `law`
        /// must be unset.
        Sfb(sfb::Parameters) = "sfb",
        /// Deficit round robin (DRR) with a queue for each flow (Shreedhar & Varghese 1996).
        Drr(drr::Parameters) = "drr",
        /// Weighted fair queueing (WFQ): a queue for each flow, served in the order in which a fluid system that serves all
        /// flows at once would finish their packets (Parekh & Gallager 1993).
        Wfq(wfq::Parameters) = "wfq",
        /// Self-clocked fair queueing (SCFQ): as `wfq`, with the finish tag of the packet in service as virtual time
        /// (Golestani 1994).
        Scfq(scfq::Parameters) = "scfq",
        /// Adaptive bandwidth binning (ABB): flows with similar bandwidth share a bin (Hong 2015).
        Abb(abb::Parameters) = "abb",
        /// DualQ coupled AQM of L4S (RFC 9332). It has its own AQM algorithms: `law` must be unset.
        DualQ(dualq::Parameters) = "dualq",
        /// Low Latency DOCSIS: the low-latency and the classic service flow of one aggregate, coupled, with
        /// Queue Protection (RFC 9957). It has its own AQM algorithms: `law` must be unset.
        LowLatency(low_latency_parameters::Parameters) = "low_latency",
    }
}

impl Default for SchedulerSpec {
    fn default() -> Self {
        Self::Fifo(fifo::Parameters {})
    }
}

/// A queue manager: a limit, a scheduler and an AQM algorithm (`law`). With a limit alone it is
/// drop-tail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-role" = "choice"))]
pub struct QueueSpec {
    /// Bytes that the queue may hold. Default: 250 ms at the sustained rate (White 2014 §9); no
    /// limit in bytes if `limit_packets` is set. With the scheduler `low_latency` the default is no
    /// limit beyond its flows' own buffers; with `cake`, where `bandwidth_mbps` or `memlimit_bytes` is set, none beyond
    /// its memory.
    #[schemars(range(min = 1, max = 4_000_000_000_u64), extend("x-live" = true))]
    pub limit_bytes: Option<u64>,
    /// Packets that the queue may hold. Default: no limit in packets.
    #[schemars(range(min = 1, max = 10_000_000), extend("x-live" = true))]
    pub limit_packets: Option<u64>,
    /// The scheduler, chosen by `kind`: it decides which packet goes next.
    #[serde(serialize_with = "parts::write_kind", deserialize_with = "parts::kind")]
    pub scheduler: SchedulerSpec,
    /// The AQM algorithm, chosen by `kind`: it decides which packets are dropped early. Each bin of
    /// the scheduler has its own instance.
    #[serde(serialize_with = "parts::write_kind", deserialize_with = "parts::kind")]
    pub law: AqmSpec,
    /// Mark packets of ECN transports instead of dropping them when the AQM algorithm signals
    /// congestion (RFC 3168 §5). CoDel, FQ-CoDel (RFC 8290 §5.2), PIE (RFC 8033 §5.1), PI2 (RFC
    /// 9332 appendix A), RED, DualQ and the low-latency queue mark. CoDel-DT and DOCSIS-PIE (RFC
    /// 8034 §4.7) always drop.
    #[schemars(extend("x-live" = true))]
    pub ecn: bool,
    /// How the queue treats bare TCP acknowledgements.
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

impl QueueSpec {
    /// What its scheduler's own shaper lets pass in Mbps, if it has one, of full packets as links count them.
    pub fn shaper_mbps(&self) -> Option<f64> {
        let scheduler = self.scheduler.parameters();
        let counted = FULL_PACKET as f64 / scheduler.counted_bytes(FULL_PACKET) as f64;
        scheduler.shaper().map(|(_, mbps)| mbps * counted)
    }

    /// The delay above which it keeps signalling before a link of this rate, and whether its law or its scheduler does.
    pub fn threshold(&self, rate: BitRate) -> Option<(&'static str, Threshold)> {
        let of_law = || Some(("law", self.law.parameters().threshold(rate)?));
        let scheduler = self.scheduler.parameters().threshold(rate);
        scheduler.map(|threshold| ("scheduler", threshold)).or_else(of_law)
    }

    /// Keys that have no effect, or cannot do at this rate what they are for; each message follows its key.
    pub fn remarks(&self, rate: BitRate) -> Faults {
        let mut remarks = self.scheduler.parameters().remarks(rate).under("scheduler");
        remarks.add_under("law", self.law.parameters().remarks(rate));
        remarks.add(self.half_of_linux());
        remarks
    }

    /// The variant of Linux' flow queueing with the law of an RFC.
    fn half_of_linux(&self) -> Option<Fault> {
        let SchedulerSpec::Fq(fq::Parameters { variant: fq::Variant::Linux, .. }) = &self.scheduler
        else {
            return None;
        };
        let (key, name, value) = match &self.law {
            AqmSpec::Pie(_) => ("law.kind", "FQ-PIE", "pie_linux"),
            AqmSpec::Codel(law) if law.variant != codel::Variant::Linux => {
                ("law.variant", "FQ-CoDel", "linux")
            }
            _ => return None,
        };
        let remedy = Remedy::of(key, value);
        Some(fault!(HalfOfLinux, key, remedy =>
            "is not that of Linux, as scheduler.variant is: that is half of Linux' {name}; set {remedy}", name))
    }

    /// The AQM algorithm in the bins of its scheduler.
    fn law_of_bins(&self) -> Cow<'_, AqmSpec> {
        self.scheduler.parameters().own_law().map_or(Cow::Borrowed(&self.law), Cow::Owned)
    }

    /// Bytes and packets that it may hold, where `default_bytes` is for a queue that sets no limit.
    fn limits(&self, default_bytes: u64) -> (u64, u64) {
        let is_limited = self.limit_bytes.is_some() || self.limit_packets.is_some();
        let limits_itself = is_limited || self.scheduler.parameters().limits_itself();
        let default_bytes = if limits_itself { u64::MAX } else { default_bytes };
        (self.limit_bytes.unwrap_or(default_bytes), self.limit_packets.unwrap_or(u64::MAX))
    }

    /// The first key that gives a member of an aggregate a rate of its own, and that rate in Mbps.
    pub fn member_rate(&self) -> Option<(&'static str, f64)> {
        let SchedulerSpec::LowLatency(keys) = &self.scheduler else { return None };
        let rates =
            [("low_latency_mbps", keys.low_latency_mbps), ("classic_mbps", keys.classic_mbps)];
        rates.into_iter().find_map(|(key, mbps)| Some((key, mbps?)))
    }

    /// Refuses own rates of members where packets do not wait for request and grant.
    pub fn check_no_member_rate(&self) -> Result<(), Fault> {
        self.member_rate().map_or(Ok(()), |(key, _)| {
            let message = "found where nobody requests bandwidth; allowed: only upstream with \
                           modem.kind = \"single_queue\"";
            Err(Fault::new(key, message).under("queue.scheduler"))
        })
    }

    /// Refuses a shaper of its own where packets do not leave when the queue wants.
    pub fn check_no_shaper(&self) -> Result<(), Fault> {
        self.scheduler.parameters().shaper().map_or(Ok(()), |(key, _)| {
            let message = "found in a queue before the MAC of a modem or CMTS; allowed: in routers, core \
                           networks and servers, where a link is behind it";
            Err(Fault::new(key, message).under("queue.scheduler"))
        })
    }

    /// Refuses a scheduler that is an AQM algorithm itself where AQM algorithms are switched off.
    pub fn check_aqm_off(&self) -> Result<(), Fault> {
        use SchedulerSpec::{Cake, Choke, DualQ, FqPie, Sfb};
        let scheduler = self.scheduler.name();
        match &self.scheduler {
            Cake(_) | Choke(_) | DualQ(_) | FqPie(_) | Sfb(_) => Err(fault!(NotAllowed, "aqm" =>
                "found false with scheduler {scheduler}, which is an AQM algorithm itself; allowed: true, or another \
                 scheduler", scheduler)),
            _ => Ok(()),
        }
    }

    /// Leaves its scheduler without AQM algorithms.
    pub fn switch_aqm_off(&mut self) {
        self.law = AqmSpec::default();
        if let SchedulerSpec::LowLatency(keys) = &mut self.scheduler {
            (keys.classic_aqm, keys.low_latency_aqm) = (false, false);
        }
    }
}

/// A scheduler that has AQM algorithms of its own takes no other.
fn no_law(name: &str, law: &AqmSpec) -> Result<(), Fault> {
    if matches!(law, AqmSpec::None(_)) {
        return Ok(());
    }
    let message = format!(
        "found {name} with a law; allowed: {name} alone, since it has AQM algorithms of its own"
    );
    Err(Fault::new("kind", message))
}

/// Two full Ethernet frames: less could not hold one while another is being sent.
const LEAST_LIMIT_BYTES: u64 = 2 * FULL_PACKET;

/// Default limit of a queue in bytes: 250 ms at the sustained rate (White 2014 §9), and two full
/// frames at least, which matters below 97 kbit/s.
pub fn default_limit_bytes(sustained: BitRate) -> u64 {
    (sustained.bytes_in(Time::from_ms(250)) as u64).max(LEAST_LIMIT_BYTES)
}

/// A queue with its meter.
pub struct Queue {
    scheduler: Scheduler,
    limit: Limit,
    ecn: bool,
    acks: Option<AckLane>,
    rng: Rng,
    counts: Counted<QueueCounts>,
    /// Present only if the queue is measured.
    meter: Option<Box<QueueMeter>>,
    watch: Watch,
    /// What packets spend their time on in it; `None` if another stage that holds it says so.
    stay: Option<Stay>,
}

impl Queue {
    /// An empty queue. `default_bytes` is its limit if the scenario sets none. `name` names its
    /// random stream and its results.
    pub fn new(
        spec: &QueueSpec,
        default_bytes: u64,
        dialect: Dialect,
        name: &str,
        seed: u64,
    ) -> Self {
        let parameters = spec.scheduler.parameters();
        let (bytes, packets) = spec.limits(default_bytes);
        let limit = Limit { bytes, packets, exclusive: dialect == Dialect::Ns2 };
        let own = Seed::named(seed, &format!("{name} parts"));
        let setting = Setting { law: &spec.law, limit: &limit, dialect, seed: own };
        let scheduler = parameters.start(&setting);
        let meter = QueueMeter::new(name, scheduler.members().is_some());
        Self {
            scheduler,
            limit,
            ecn: spec.ecn,
            acks: AckLane::new(spec.acks),
            rng: Rng::named(seed, name),
            counts: Counted::default(),
            meter: Some(Box::new(meter)),
            watch: Watch::default(),
            stay: None,
        }
    }

    /// This queue, in which packets spend their time on this.
    pub fn placed(self, part: Part) -> Self {
        Self { stay: Some(Stay::whole(part)), ..self }
    }

    /// This queue, of which the stage that holds it says what packets waited for: those that leave, those that
    /// [`DelayBook::next_dropped`](crate::record::DelayBook::next_dropped) names and [`Self::packets`].
    pub fn split(self) -> Self {
        let stay = self.stay.map(|stay| Stay { is_split: true, ..stay });
        Self { stay, ..self }
    }

    /// This queue without its meter, which takes most of the memory of an idle queue.
    pub fn unwatched(self) -> Self {
        Self { meter: None, ..self }
    }

    /// This queue with these random numbers, for comparisons with others.
    pub fn drawing(self, rng: Rng) -> Self {
        Self { rng, ..self }
    }

    /// From now on it has the parameters of another spec of the same kinds. What waits stays, beyond a lower limit too.
    pub fn retune(&mut self, spec: &QueueSpec, default_bytes: u64) {
        (self.limit.bytes, self.limit.packets) = spec.limits(default_bytes);
        self.ecn = spec.ecn;
        self.scheduler.retune(spec);
    }

    /// From now on its scheduler's own shaper has this rate. Returns whether it has one.
    pub(crate) fn shape(&mut self, rate: BitRate) -> bool {
        self.scheduler.shape(rate)
    }

    /// Bytes that the queue may hold. A limit in packets counts 1500 bytes for each.
    pub fn buffer_bytes(&self) -> u64 {
        self.limit.bytes.min(self.limit.packets.saturating_mul(1500))
    }

    /// The keys of limits that are reached before so many bytes, with values that are not.
    pub fn limits_below(&self, bytes: u64) -> impl Iterator<Item = (&'static str, u64)> {
        let (limit, packets) = (&self.limit, bytes.div_ceil(1500));
        let all = [("limit_bytes", limit.bytes, bytes), ("limit_packets", limit.packets, packets)];
        all.into_iter().filter(|(_, now, least)| now < least).map(|(key, _, least)| (key, least))
    }

    /// Sets the names of the traffic entries, by the number that packets carry. Schedulers need
    /// them for weights, which are all 1 until then. The first `watch_flows` flows are watched one
    /// by one.
    pub fn name_traffic(&mut self, names: &[&str], watch_flows: usize) {
        self.set_flow_classifier(&FlowTable::connections(), names, watch_flows);
    }

    /// As [`Self::name_traffic`], for a scheduler whose flows are not connections.
    pub fn set_flow_classifier(&mut self, flows: &FlowTable, names: &[&str], watch_flows: usize) {
        self.scheduler.set_flow_classifier(flows, names);
        self.watch = Watch::new(watch_flows, flows, names);
    }

    /// Is there room for one more small packet?
    pub fn has_room(&self) -> bool {
        self.limit.admits(self.backlog(), 0)
    }

    /// Queues a packet, or drops it or others.
    #[inline]
    pub fn enqueue(
        &mut self,
        now: Time,
        mut packet: Packet,
        drain_rate: &DrainRate,
        recorder: &mut Recorder,
    ) {
        packet.queued_at = now;
        if let Some(stay) = self.stay {
            recorder.delays.works(stay);
            recorder.delays.enters(now, &packet, stay.part);
        }
        self.watch.note(&packet);
        if self.acks.is_some() && packet.is_bare_ack() {
            return self.enqueue_ack(now, packet, recorder);
        }
        let Self { limit, ecn, rng, counts, .. } = self;
        let counters = Counters { ecn: *ecn, recorder, counts };
        let entry = &mut Entry { now, drain_rate, limit, rng, counters };
        self.scheduler.enqueue(packet, entry);
    }

    /// A packet comes while nothing waits and would leave at once, unseen by any algorithm. Says whether it has passed.
    #[inline]
    pub fn lets_pass(&mut self, now: Time, packet: &mut Packet, recorder: &Recorder) -> bool {
        let Scheduler::Fifo(fifo) = &self.scheduler else { return false };
        let is_open = self.acks.is_none() && fifo.is_open();
        let passes = is_open && self.limit.admits(Count::default(), packet.size.into());
        if passes {
            packet.queued_at = now;
            self.note_departure(now, packet, None, recorder);
        }
        passes
    }

    fn enqueue_ack(&mut self, now: Time, packet: Packet, recorder: &mut Recorder) {
        let Some(acks) = &mut self.acks else { return };
        match acks.replace(packet) {
            Ok(old) => recorder.dropped(now, old, DropReason::Superseded),
            Err(packet) if self.limit.admits(acks.backlog(), packet.size.into()) => {
                acks.push(packet);
            }
            Err(packet) => {
                self.counts.drop(recorder.counts(&packet), DropReason::Overflow);
                recorder.dropped(now, packet, DropReason::Overflow);
            }
        }
    }

    /// Before a packet comes at `now`: a link behind it that has been free since `free` had asked an empty queue for
    /// one then, as Linux and ns-2 ask until nothing comes. To ask then costs no event, as nothing happens between.
    #[inline]
    pub fn settle(&mut self, free: Time, now: Time, recorder: &mut Recorder) {
        if free <= now && self.backlog().packets == 0 {
            self.dequeue(free, recorder);
        }
    }

    /// The next packet to send.
    #[inline]
    pub fn dequeue(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        self.dequeue_before(now, NextQueue::default(), recorder)
    }

    /// The next packet, which is to be dropped: it does not count among those that left.
    pub fn discard(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        let meter = self.meter.take();
        let packet = self.dequeue(now, recorder);
        self.meter = meter;
        packet
    }

    /// As `dequeue`, for a queue in front of another one that the AQM algorithms count in.
    #[inline]
    pub fn dequeue_before(
        &mut self,
        now: Time,
        next_queue: NextQueue,
        recorder: &mut Recorder,
    ) -> Option<Packet> {
        if let Some(ack) = self.acks.as_mut().and_then(AckLane::pop) {
            self.note_departure(now, &ack, None, recorder);
            self.note_exit(now, &ack, recorder);
            return Some(ack);
        }
        self.take(now, next_queue, recorder, Scheduler::dequeue)
    }

    /// Takes a packet out of the scheduler in one of its ways.
    #[inline]
    fn take(
        &mut self,
        now: Time,
        next_queue: NextQueue,
        recorder: &mut Recorder,
        dequeue: impl FnOnce(&mut Scheduler, &mut Exit) -> Option<Packet>,
    ) -> Option<Packet> {
        let Self { scheduler, rng, ecn, counts, stay, .. } = self;
        if let Some(stay) = *stay {
            recorder.delays.works(stay);
        }
        let counters = Counters { ecn: *ecn, recorder, counts };
        let exit = &mut Exit { now, next_queue, rng, counters, member: None };
        let packet = dequeue(scheduler, exit);
        let member = exit.member;
        if let Some(packet) = &packet {
            self.note_departure(now, packet, member, recorder);
            self.note_exit(now, packet, recorder);
        }
        packet
    }

    /// The next packet that a minimum reserved rate is due for.
    pub fn dequeue_reserved(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        self.take(now, NextQueue::default(), recorder, Scheduler::dequeue_reserved)
    }

    /// The next packet of one member of an aggregate.
    #[inline]
    pub fn dequeue_member(
        &mut self,
        low: bool,
        now: Time,
        recorder: &mut Recorder,
    ) -> Option<Packet> {
        self.take(now, NextQueue::default(), recorder, |scheduler, exit| {
            scheduler.aggregate_mut()?.dequeue_member(low, exit)
        })
    }

    /// The two flows of a Low Latency DOCSIS aggregate, if it is one.
    #[inline]
    pub fn aggregate(&self) -> Option<&LowLatency> {
        self.scheduler.aggregate()
    }

    /// The two flows of a Low Latency DOCSIS aggregate, to be changed.
    pub fn aggregate_mut(&mut self) -> Option<&mut LowLatency> {
        self.scheduler.aggregate_mut()
    }

    #[inline]
    fn note_departure(
        &mut self,
        now: Time,
        packet: &Packet,
        member: Option<Member>,
        recorder: &Recorder,
    ) {
        if let Some(meter) = &mut self.meter {
            meter.departed(recorder.counts(packet), now.since(packet.queued_at), member);
        }
    }

    #[inline]
    fn note_exit(&self, now: Time, packet: &Packet, recorder: &mut Recorder) {
        if let Some(stay) = self.stay {
            recorder.delays.leaves(now, packet, stay.part);
        }
    }

    /// What waits in the queue.
    #[inline]
    pub fn backlog(&self) -> Count {
        let waiting = self.scheduler.backlog();
        self.acks.as_ref().map_or(waiting, |acks| waiting.plus(acks.backlog()))
    }

    /// The packets that wait in it.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.acks.iter().flat_map(AckLane::packets).chain(self.scheduler.packets())
    }

    /// Informs the AQM algorithms that a MAP brought a grant and left `ungranted` requested bytes.
    #[inline]
    pub fn on_map(&mut self, granted: u64, ungranted: u64) {
        self.scheduler.on_map(granted, ungranted);
    }

    /// When `update` is due next.
    #[inline]
    pub fn next_update(&self) -> Time {
        self.scheduler.next_update()
    }

    /// When its own shaper lets the next packet leave, if it has one and a packet waits.
    pub fn ready_at(&self) -> Time {
        self.scheduler.ready_at()
    }

    /// When something is to be done with a link behind it that is free from `free` on.
    #[inline]
    pub fn next_wake(&self, free: Time) -> Time {
        let next = self.next_update();
        if self.backlog().packets > 0 { free.max(self.ready_at()).min(next) } else { next }
    }

    /// Runs the periodic update of the AQM algorithms.
    pub fn update(&mut self, now: Time, drain_rate: &DrainRate) {
        self.scheduler.update(now, drain_rate);
        if let Some(meter) = &mut self.meter {
            meter.follow(self.scheduler.rest());
        }
    }

    /// What its algorithm notes of itself.
    pub fn lapses(&self) -> Lapses {
        self.scheduler.lapses()
    }

    /// From so many packets of a flow on it signals early, if it goes by these alone.
    pub fn flow_target(&self) -> Option<u64> {
        self.scheduler.flow_target()
    }

    /// Its latency histogram, if it keeps one and is measured.
    pub fn latency_histogram(&self) -> Option<&LatencyHistogram> {
        self.meter().and(self.aggregate()?.latency_histogram())
    }

    /// What became of its packets that did not just pass.
    pub fn counts(&self) -> Counted<QueueCounts> {
        self.counts
    }

    /// What its low-latency and its classic queue did, if it has these.
    pub fn members(&self) -> Option<[Counted<MemberCounts>; 2]> {
        self.scheduler.members()
    }

    /// Sojourn times and time series of this queue, if it is measured.
    pub fn meter(&self) -> Option<&QueueMeter> {
        self.meter.as_deref()
    }

    /// All time series with their subjects: the queue's under its name, a watched flow's under the
    /// names of the queue and the flow.
    pub fn series(&self) -> impl Iterator<Item = (String, &Series)> {
        self.meter.iter().flat_map(|meter| {
            let queue = meter.name();
            let own = meter.series().map(|series| (queue.to_owned(), series));
            let flows = self.watch.series();
            let members = meter.member_series();
            let own = own.chain(
                members.map(move |(member, series)| (format!("{queue} {}", member.name()), series)),
            );
            own.chain(flows.map(move |(flow, series)| (format!("{queue} {flow}"), series)))
        })
    }

    /// Shows the state of its scheduler and of its law.
    pub fn gauges(&self, out: &mut Gauges) {
        self.scheduler.gauges(out);
    }

    /// Samples the queue and its link for their time series.
    pub fn sample(&mut self, show_link: impl FnOnce(&mut Gauges)) {
        let backlog = self.backlog();
        let Self { scheduler, counts, meter, watch, .. } = self;
        watch.sample(scheduler);
        let Some(meter) = meter else { return };
        meter.sample(backlog, counts.all, scheduler.members(), |gauges| {
            show_link(gauges);
            scheduler.gauges(gauges);
        });
    }
}
