//! A hop of a path: a link, behind a queue of its own where the scenario gives it one.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::aqm::DrainRate;
use crate::capacity::{Capacity, Trace};
use crate::count::Count;
use crate::ecn_path::EcnPath;
use crate::link::Link;
use crate::packet::{Direction, Packet};
use crate::queue::room::Room;
use crate::queue::{Queue, QueueSpec, default_limit_bytes};
use crate::record::{GaugeSeries, Gauges, Place, Recorder, Series, Stay};
use crate::rng::Seed;
use crate::units::{BitRate, Time};
use sojourn_input::parts::{self, Keys, Kinds, Outside};
use sojourn_input::problem::{Fault, Faults};

/// A link of a given rate behind a queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bottleneck {
    /// Rate in Mbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1_000_000.0), extend("x-live" = true))]
    pub rate_mbps: Option<f64>,
    /// Rates over time, instead of `rate_mbps`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Trace>,
    /// One-way delay of the link in ms.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub delay_ms: f64,
    /// Random packet loss on the link in percent, independent for each packet.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub loss_percent: f64,
    /// What the link does to the ECN field of packets and to TCP's flags of ECN, as faulty paths do. Its own queue is
    /// before that.
    pub ecn: EcnPath,
    /// Share of packets in percent, drawn for each, that the link holds back for `reorder_ms`, so that later ones pass
    /// them.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub reorder_percent: f64,
    /// Time in ms for which the packets of `reorder_percent` are held back, the same for each.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub reorder_ms: f64,
    /// Queue manager before the link.
    pub queue: QueueSpec,
    /// A hop from outside, in the place of the queue.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "parts::optional_kind")]
    #[schemars(skip)]
    pub hop: Option<HopSpec>,
}

/// A hop from outside; there are no others.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct HopSpec(Outside<dyn HopParameters>);

impl Kinds for HopSpec {
    type Parameters = dyn HopParameters;
    const DEFINITION: &'static str = "Hop";

    fn outside(part: Outside<dyn HopParameters>) -> Self {
        Self(part)
    }

    fn as_outside(&self) -> Option<&Outside<dyn HopParameters>> {
        Some(&self.0)
    }
}

impl HopSpec {
    /// Allows hops in the definitions of a scenario's schema.
    pub fn allow(definitions: &mut Value) {
        let keys = &mut definitions["Bottleneck"]["properties"];
        keys["hop"] = json!({ "$ref": format!("#/$defs/{}", Self::DEFINITION) });
        let description =
            "A hop of this program, in the place of `queue`: it holds packets before the link.";
        let hops = json!({ "description": description, "oneOf": [] });
        let table = definitions.as_object_mut();
        table.map(|table| table.entry(Self::DEFINITION).or_insert(hops));
    }
}

impl<'de> Deserialize<'de> for HopSpec {
    fn deserialize<D: Deserializer<'de>>(_from: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("found a hop that this program has not; allowed: no hop"))
    }
}

/// Parameters of a hop from outside, which build it.
pub trait HopParameters: Keys {
    /// The empty hop at the start of a run. It may have random numbers of its own.
    fn start(&self, seed: Seed) -> Box<dyn Stage + Send>;
    /// The faults of keys that do not agree with each other.
    fn check(&self) -> Faults {
        Faults::default()
    }
}

/// What holds packets before a link. Their time in it counts as time in the queue in whose place it is.
pub trait Stage {
    /// Takes a packet that arrives now, or drops it by [`Recorder::dropped`], as it may drop others later.
    fn accept(&mut self, now: Time, packet: Packet, recorder: &mut Recorder);
    /// When it is to be woken next: later than it was woken last.
    fn next_wake(&self) -> Time;
    /// Does what is due. Returns a packet that leaves now, and is asked again until it returns none.
    fn wake(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet>;
    /// Packets and bytes in it.
    fn inside(&self) -> Count;
    /// Shows values over time, in the same order each time. They become series of the hop.
    fn gauges(&self, _out: &mut Gauges) {}
}

/// Bottlenecks of both directions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bottlenecks {
    /// That of packets from the homes. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<Bottleneck>,
    /// That of packets to the homes. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downstream: Option<Bottleneck>,
}

impl Bottlenecks {
    /// That of a direction.
    pub fn of(&self, direction: Direction) -> Option<&Bottleneck> {
        direction.pick(self.upstream.as_ref(), self.downstream.as_ref())
    }

    /// Both with their directions, as far as there are any.
    pub fn both(&self) -> impl Iterator<Item = (Direction, &Bottleneck)> {
        Direction::BOTH.into_iter().filter_map(|way| Some((way, self.of(way)?)))
    }
}

impl Bottleneck {
    /// Checks that it has a rate, and its queue.
    pub fn check(&self, room: &Room) -> Faults {
        let mut faults = Faults::default();
        let found = match (&self.rate_mbps, &self.capacity) {
            (None, None) => Some("neither rate_mbps nor capacity"),
            (Some(_), Some(_)) => Some("both rate_mbps and capacity"),
            _ => None,
        };
        if let Some(found) = found {
            faults.add(Fault::new("", format!("found {found}; allowed: one of them")));
        }
        faults.add_under("capacity", self.capacity.as_ref().map(Trace::check).unwrap_or_default());
        if let Some(HopSpec(hop)) = &self.hop {
            faults.add_under("hop", hop.check());
            if self.queue != QueueSpec::default() {
                let message = "found a queue and a hop; allowed: one of them";
                faults.add(Fault::new("hop", message));
            }
        }
        if self.mean_rate() > BitRate::from_bps(0) {
            faults.add_under("queue", self.queue.check(room, self.mean_rate()));
        }
        faults.add(self.queue.check_no_member_rate());
        faults
    }

    /// Its rate, in the mean.
    pub fn mean_rate(&self) -> BitRate {
        let of_trace = self.capacity.as_ref().and_then(Trace::mean_mbps);
        BitRate::from_mbps(self.rate_mbps.or(of_trace).unwrap_or_default())
    }

    /// The least that its link and its queue's own shaper carry, in Mbps.
    pub fn least_mbps(&self) -> f64 {
        let of_trace = self.capacity.iter().flat_map(Trace::all).map(|step| step.mbps);
        let shaper = self.queue.shaper_mbps();
        of_trace.chain(self.rate_mbps).chain(shaper).fold(f64::INFINITY, f64::min)
    }

    /// The rate of the shaper that a program in the router can set, in Mbps: that of the queue's scheduler, or else that
    /// of the link; `None` where the link follows a trace.
    pub fn settable_mbps(&self) -> Option<f64> {
        let own = self.queue.scheduler.parameters().shaper();
        own.map(|(_, mbps)| mbps).or(self.rate_mbps)
    }

    /// What its link carries.
    pub fn capacity(&self) -> Capacity {
        Capacity::of(self.capacity.as_ref(), self.mean_rate())
    }

    /// Bytes that its queue holds, if the queue does not say.
    pub fn default_limit_bytes(&self) -> u64 {
        default_limit_bytes(self.mean_rate())
    }
}

/// Where packets are before a link.
#[expect(clippy::large_enum_variant, reason = "it is always in one box")]
enum Holder {
    Queue(Queue),
    Outside(OwnHop),
}

/// A hop from outside.
pub struct OwnHop {
    stage: Box<dyn Stage + Send>,
    /// Its name in results.
    name: String,
    is_measured: bool,
    series: GaugeSeries,
}

impl OwnHop {
    /// Its name in results.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is in it.
    pub fn inside(&self) -> Count {
        self.stage.inside()
    }

    /// Shows its values now.
    pub fn gauges(&self, out: &mut Gauges) {
        self.stage.gauges(out);
    }

    /// Its values over time.
    pub fn series(&self) -> impl Iterator<Item = &Series> {
        self.series.iter()
    }
}

impl Holder {
    fn accept(
        &mut self,
        (now, place): (Time, Place),
        packet: Packet,
        drain: &DrainRate,
        recorder: &mut Recorder,
    ) {
        match self {
            Self::Queue(queue) => queue.enqueue(now, packet, drain, recorder),
            Self::Outside(own) => {
                recorder.delays.works(Stay::whole(place.queue()));
                recorder.delays.enters(now, &packet, place.queue());
                own.stage.accept(now, packet, recorder);
            }
        }
    }

    /// Before a packet comes at `now` to a link that is free from `free` on.
    fn settle(&mut self, free: Time, now: Time, recorder: &mut Recorder) {
        if let Self::Queue(queue) = self {
            queue.settle(free, now, recorder);
        }
    }

    /// When something is to be done with a link behind it that is free from `free` on.
    fn next_wake(&self, free: Time) -> Time {
        match self {
            Self::Queue(queue) => queue.next_wake(free),
            Self::Outside(own) => own.stage.next_wake(),
        }
    }

    fn inside(&self) -> Count {
        match self {
            Self::Queue(queue) => queue.backlog(),
            Self::Outside(own) => own.stage.inside(),
        }
    }
}

/// What is before a link.
struct Ahead {
    holder: Holder,
    /// Packets that are known to come later, in order.
    coming: VecDeque<(Time, Packet)>,
    place: Place,
    /// Bytes that have left for the link.
    passed_bytes: u64,
}

impl Ahead {
    fn of(holder: Holder, place: Place) -> Option<Box<Self>> {
        Some(Box::new(Self { holder, coming: VecDeque::new(), place, passed_bytes: 0 }))
    }

    #[cold]
    fn next_wake(&self, free: Time) -> Time {
        let comes = self.coming.front().map_or(Time::NEVER, |(at, _)| *at);
        comes.min(self.holder.next_wake(free))
    }
}

/// A link, behind a queue of its own, behind a hop from outside or behind nothing.
pub struct Hop {
    ahead: Option<Box<Ahead>>,
    link: Link,
}

impl Hop {
    /// A link behind a queue, or behind nothing.
    pub fn new(link: Link, queue: Option<Queue>) -> Self {
        let place = link.place();
        let ahead =
            queue.and_then(|queue| Ahead::of(Holder::Queue(queue.placed(place.queue())), place));
        Self { ahead, link }
    }

    /// A link behind a hop from outside, with its name in results.
    pub fn behind(HopSpec(hop): &HopSpec, name: String, seed: Seed, link: Link) -> Self {
        let (stage, series) = (hop.start(seed), GaugeSeries::default());
        let own = OwnHop { stage, name, is_measured: true, series };
        Self { ahead: Ahead::of(Holder::Outside(own), link.place()), link }
    }

    /// The same without series of its own.
    pub fn unwatched(mut self) -> Self {
        match self.ahead.as_mut().map(|ahead| &mut ahead.holder) {
            Some(Holder::Outside(own)) => own.is_measured = false,
            Some(Holder::Queue(_)) | None => {}
        }
        self
    }

    /// Takes a packet that reaches it at `at`, now or later, and no earlier than the packet before it. Returns
    /// whether it may have to be woken earlier than before.
    #[inline(always)]
    pub fn accept(&mut self, now: Time, at: Time, packet: Packet, recorder: &mut Recorder) -> bool {
        if self.ahead.is_some() {
            self.accept_ahead(now, at, packet, recorder);
            true
        } else {
            self.link.accept(at, packet, recorder)
        }
    }

    #[cold]
    fn accept_ahead(&mut self, now: Time, at: Time, packet: Packet, recorder: &mut Recorder) {
        let drain_rate = self.drain_rate(now);
        let Some(ahead) = &mut self.ahead else { return };
        if at > now {
            return ahead.coming.push_back((at, packet));
        }
        ahead.holder.settle(self.link.busy_until(), now, recorder);
        ahead.holder.accept((now, ahead.place), packet, &drain_rate, recorder);
        self.send(now, recorder);
    }

    /// When it is to be woken next.
    #[inline]
    pub fn next_wake(&self) -> Time {
        let arrives = self.link.next_wake();
        match &self.ahead {
            None => arrives,
            Some(ahead) => arrives.min(ahead.next_wake(self.link.busy_until())),
        }
    }

    /// Does what is due. Returns the packet that arrives now, if there is one, with this time.
    #[inline(always)]
    pub fn wake(&mut self, now: Time, recorder: &mut Recorder) -> Option<(Time, Packet)> {
        if self.ahead.is_some() {
            self.work(now, recorder);
            if self.link.next_wake() > now {
                return None;
            }
        }
        self.link.wake()
    }

    #[cold]
    fn work(&mut self, now: Time, recorder: &mut Recorder) {
        let drain_rate = self.drain_rate(now);
        let Some(ahead) = &mut self.ahead else { return };
        if let Holder::Queue(queue) = &mut ahead.holder
            && queue.next_update() <= now
        {
            queue.update(now, &drain_rate);
        }
        while let Some((_, packet)) = ahead.coming.pop_front_if(|(at, _)| *at <= now) {
            ahead.holder.settle(self.link.busy_until(), now, recorder);
            ahead.holder.accept((now, ahead.place), packet, &drain_rate, recorder);
        }
        self.send(now, recorder);
    }

    /// Sends while the link is free; a packet that is lost takes no time on it.
    fn send(&mut self, now: Time, recorder: &mut Recorder) {
        let Self { ahead: Some(ahead), link } = self else { return };
        match &mut ahead.holder {
            Holder::Queue(queue) => {
                while link.busy_until() <= now
                    && let Some(packet) = queue.dequeue(now, recorder)
                {
                    ahead.passed_bytes += u64::from(packet.size);
                    link.accept(now, packet, recorder);
                }
            }
            Holder::Outside(OwnHop { stage, .. }) => {
                recorder.delays.works(Stay::whole(ahead.place.queue()));
                while stage.next_wake() <= now
                    && let Some(packet) = stage.wake(now, recorder)
                {
                    recorder.delays.leaves(now, &packet, ahead.place.queue());
                    ahead.passed_bytes += u64::from(packet.size);
                    link.accept(now, packet, recorder);
                }
                assert!(
                    stage.next_wake() > now,
                    "a hop from outside wants to be woken without end"
                );
            }
        }
    }

    fn drain_rate(&mut self, now: Time) -> DrainRate {
        let rate = self.link.rate(now);
        let buffer_bytes = self.queue().map_or(0, Queue::buffer_bytes);
        DrainRate::steady(rate, buffer_bytes)
    }

    /// Packets and bytes in it.
    pub fn inside(&self) -> Count {
        self.ahead.iter().fold(self.link.inside(), |inside, ahead| {
            let coming: Count = ahead.coming.iter().map(|(_, packet)| Count::of(packet)).sum();
            inside.plus(coming).plus(ahead.holder.inside())
        })
    }

    /// The run ends: what is on the link has spent its time until now, and what is in a queue will have. Packets
    /// that will only come to the hop are shown with when.
    pub fn close(
        &self,
        now: Time,
        recorder: &mut Recorder,
        mut comes: impl FnMut(&mut Recorder, &Packet, Time),
    ) {
        for (at, packet) in self.ahead.iter().flat_map(|ahead| &ahead.coming) {
            comes(recorder, packet, *at);
        }
        self.link.close(now, recorder, comes);
    }

    /// From now on it has another rate and other parameters of its queue, whose `default_bytes` are its limit if it
    /// sets none. A packet that is being sent keeps its rate.
    pub fn retune(&mut self, rate: Option<BitRate>, queue: Option<&QueueSpec>, default_bytes: u64) {
        if let Some(rate) = rate {
            self.link.set_rate(rate);
        }
        let holder = self.ahead.as_mut().map(|ahead| &mut ahead.holder);
        if let (Some(Holder::Queue(own)), Some(spec)) = (holder, queue) {
            own.retune(spec, default_bytes);
        }
    }

    /// From now on its shaper has this rate: that of its queue's scheduler if it has one, or else its link. A packet
    /// that is being sent keeps its rate, and what is on schedule stays so.
    pub fn shape(&mut self, rate: BitRate) {
        if let Some(Holder::Queue(queue)) = self.ahead.as_mut().map(|ahead| &mut ahead.holder)
            && queue.shape(rate)
        {
            return;
        }
        self.link.set_rate(rate);
    }

    /// Bytes that have left what is before its link.
    pub fn passed_bytes(&self) -> u64 {
        self.ahead.as_ref().map_or(0, |ahead| ahead.passed_bytes)
    }

    /// Its queue, if it has one.
    pub fn queue(&self) -> Option<&Queue> {
        match &self.ahead.as_ref()?.holder {
            Holder::Queue(queue) => Some(queue),
            Holder::Outside(_) => None,
        }
    }

    /// The hop from outside before its link, if it is measured.
    pub fn own(&self) -> Option<&OwnHop> {
        match &self.ahead.as_ref()?.holder {
            Holder::Outside(own) if own.is_measured => Some(own),
            Holder::Outside(_) | Holder::Queue(_) => None,
        }
    }

    /// Samples what is before its link for its series.
    pub fn sample(&mut self) {
        match self.ahead.as_mut().map(|ahead| &mut ahead.holder) {
            Some(Holder::Queue(queue)) => queue.sample(|_| ()),
            Some(Holder::Outside(own)) if own.is_measured => {
                own.series.sample(|out| own.stage.gauges(out));
            }
            Some(Holder::Outside(_)) | None => {}
        }
    }
}
