//! The path: its stages in the order a packet meets them, one match, one loop.
//!
//! ```text
//!  home                                                               servers
//!  apps, TCP ──> router ──> access network ──> core ──> link of the server ──> TCP, apps
//!      ^                                                                           │
//!      └──────── router <── access network <── core <── link of the server <───────┘
//! ```
//!
//! Every stage has three verbs: accept a packet, say when it next wants to be woken, wake. The loop
//! wakes the stage that is due and hands what comes out of it to the next one. At equal times the
//! stage that stands first in [`Stage`]'s order is woken first.

mod accounts;
mod apps;
mod build;
mod connections;
mod conversations;
mod hops;
mod ledger;
mod live;
mod observe;
pub mod outside;
mod program_load;
mod reading;
mod report;
mod shapers;
mod transport;
mod turns;
mod under_way;

pub use observe::{
    ConnectionObservation, GaugeObservation, HopObservation, Observation, QueueObservation,
    TrafficObservation,
};

use std::collections::VecDeque;

use apps::AppInstance;
use connections::Connections;
use conversations::Conversations;
use hops::{Hops, Then};
use ledger::Ledger;
use reading::Reading;
use report::early_tail::Early;
use sojourn_access::docsis::ByteCount;
use sojourn_access::{Access, AccessNetwork, Alarms, Extent, PlacedQueue};
use sojourn_engine::clock::Clock;
use sojourn_engine::count::Count;
use sojourn_engine::packet::{Direction, Packet};
use sojourn_engine::queue;
use sojourn_engine::record::{Definition, GaugeSeries, ModemTrace};
use sojourn_engine::units::Time;
use sojourn_engine::wake::{StageId, Wake};
use sojourn_input::fault;
use sojourn_input::problem::Warning;
use sojourn_results::metrics::Results;
use sojourn_scenario::Scenario;
use sojourn_scenario::apps::{Command, End, Event};
use sojourn_transport::Config;
use sojourn_transport::cc::Window;
use turns::Turns;

/// Definitions of all series that results can have. Parts from outside name others themselves.
pub fn series() -> Vec<Definition> {
    let senders = sojourn_transport::series();
    let (controllers, apps) =
        (sojourn_scenario::controllers::series(), sojourn_scenario::apps::series());
    let queues = queue::series();
    [ledger::account::SERIES, apps, senders, &sojourn_access::series(), &queues, controllers]
        .concat()
}

/// Warnings before a run: settings without effect, rates that cannot be kept. One home of each group is
/// built for them, and no app.
pub fn warnings(scenario: &Scenario) -> Vec<Warning> {
    let mut scenario = scenario.clone();
    scenario.fill();
    report::warnings_of_network(&build::access(&scenario, Extent::Samples), &scenario)
}

/// What packets pass and can be woken, and the sampler. Stages are numbered in this order, which also
/// decides the order at equal times; timers of apps and then of connections come after all of them.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Samples all time series.
    Sampler,
    /// A part of the access network. Parts toward the servers come here, behind the routers, and parts toward
    /// the homes after the other hops, before the routers.
    Access(Direction, u32),
    /// Another hop of a direction: a router, a link of the core or of a server.
    Hop(Direction, u32),
}

/// What is read between two events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pause {
    /// Counting begins.
    Counting,
    /// The first seconds are over, which may make the tail.
    Early,
    /// Half of the time that counts is over.
    Half,
}

/// A run: the network, the apps and the ledger.
pub struct Simulation {
    now: Time,
    end: Time,
    /// From when on what is measured counts.
    counts_from: Time,
    /// What the counters read then, if that is not the start.
    before_counting: Option<Box<Reading>>,
    /// The latencies of the first seconds.
    early: Option<Box<Early>>,
    /// What grades read of the first half of the time that counts.
    first_half: report::FirstHalf,
    /// When events stop for something to be read, in order; the run ends behind the last of them.
    pauses: VecDeque<(Time, Pause)>,
    /// The last instant before the next pause, or the end.
    until: Time,
    wake: Wake,
    /// Timers of apps, then of connections, two for each slot. They are many and rarely due, so they
    /// have a tournament of their own.
    timers: Wake,
    /// Every stage with its number in the fingerprint.
    stages: Vec<(StageId, Stage)>,
    events: u64,
    fingerprint: u64,

    instances: Vec<AppInstance>,
    turns: Vec<Option<Turns>>,
    /// What the first app of each entry shows.
    app_series: Vec<(u32, GaugeSeries)>,
    /// Do senders show anything?
    shows_senders: bool,
    /// The apps of each home that send in bulk.
    bulk: Vec<Vec<u32>>,
    /// In how many homes the bulk traffic of each entry has stopped.
    stopped: Vec<u32>,
    server_clocks: Vec<Clock>,
    /// TCP configuration of each traffic entry; behind them, those of QUIC for entries that have both.
    configs: Vec<Config>,
    /// The number of the latter, for each entry that has it.
    quic_configs: Vec<Option<u16>>,
    connections: Connections,
    conversations: Conversations,
    access: Access,
    /// What the sizes of packets count.
    byte_count: ByteCount,
    /// The other hops, upstream and downstream.
    hops: [Hops; 2],
    /// The first stages of the access network, upstream and downstream.
    access_stages: [StageId; 2],
    /// The number of the first app in the fingerprint.
    first_app: StageId,

    ledger: Ledger,
    sample_interval: Time,
    /// Events for apps, in the order in which they happened, and the commands of apps. Both are
    /// empty between wake-ups.
    pending_events: VecDeque<(u32, Event)>,
    commands: Vec<Command>,
    scenario: Scenario,
    changed: live::Changed,
    observed: observe::Observed,
    outside: outside::Outside,
}

const SAMPLER: StageId = 0;

impl Simulation {
    /// Simulated time reached.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The congestion window of an end of the connection in a slot, if that slot was ever used.
    pub fn window(&self, slot: u32, end: End) -> Option<Window> {
        self.connections.get(slot).map(|connection| connection.ends.window(end as usize))
    }

    /// Number of packets with payload and datagrams that have been delivered.
    pub fn forwarded_packets(&self) -> u64 {
        self.ledger.data_packets()
    }

    /// Handles up to `events` wake-ups. Returns whether the run goes on.
    pub fn advance(&mut self, events: u64) -> bool {
        for _ in 0..events {
            let (mut at, mut timer_at) = (self.wake.next(), self.timers.next());
            let mut due = at.min(timer_at);
            while due > self.until {
                if !self.pass() {
                    return false;
                }
                (at, timer_at) = (self.wake.next(), self.timers.next());
                due = at.min(timer_at);
            }
            assert!(due >= self.now, "time runs backwards");
            self.now = due;
            self.events += 1;
            if at <= timer_at {
                let (number, stage) = self.stages[self.wake.next_stage() as usize];
                self.fingerprint = mix(self.fingerprint, at, number);
                self.wake_stage(stage);
            } else {
                self.wake_timer(timer_at);
            }
        }
        true
    }

    /// Handles all wake-ups up to `at` and at it; then it is `at`, though nothing may happen there. A time that is past
    /// changes nothing, the end is the last time, and at the start nothing has happened yet. Returns whether the run goes on.
    pub fn run_until(&mut self, at: Time) -> bool {
        self.advance_until(at, u64::MAX);
        self.now < self.end
    }

    /// As [`Self::run_until`], with at most so many wake-ups. Returns whether it is `at`, or the end.
    pub fn advance_until(&mut self, at: Time, events: u64) -> bool {
        let at = at.min(self.end);
        if at == Time::ZERO {
            return true;
        }
        for _ in 0..events {
            while self.next_wake() > at && at > self.until && self.pass() {}
            if self.next_wake() > at {
                self.now = self.now.max(at);
                return true;
            }
            self.advance(1);
        }
        false
    }

    /// Does what is to be done before events that come later: reads something, or sends a packet of a record. Returns
    /// whether the run goes on.
    #[cold]
    fn pass(&mut self) -> bool {
        let at = self.outside.next_recorded();
        let pause = self.pauses.front().copied();
        match pause.filter(|(due, pause)| (*due, *pause >= Pause::Half) < (at, true)) {
            Some((due, pause)) => {
                self.pauses.pop_front();
                self.now = due;
                self.read(pause);
            }
            None if at < Time::NEVER => self.send_recorded(),
            None => {
                self.now = self.end;
                return false;
            }
        }
        self.set_until();
        true
    }

    fn read(&mut self, pause: Pause) {
        match pause {
            Pause::Counting => self.begin_counting(),
            Pause::Early => self.early = Some(Box::new(Early::of(self))),
            Pause::Half => self.read_half(),
        }
    }

    /// A run that ended at half of its time would have had the events of that instant.
    fn set_until(&mut self) {
        let last = |(at, pause): &(Time, Pause)| match pause {
            Pause::Half => *at,
            Pause::Counting | Pause::Early => at.since(Time::from_ps(1)),
        };
        let paused = self.pauses.front().map_or(self.end, last);
        self.until = paused.min(self.outside.next_recorded());
    }

    /// Reads what the run would report if it ended now.
    fn read_half(&mut self) {
        self.ledger.post();
        let whole = (self.end, self.scenario.duration_s);
        (self.end, self.scenario.duration_s) = (self.now, self.scenario.half_s());
        self.first_half = report::first_half(self);
        (self.end, self.scenario.duration_s) = whole;
    }

    fn begin_counting(&mut self) {
        self.before_counting = Some(Box::new(Reading::of(self)));
        let open = self.connections.open_ones();
        let open = open.map(|(slot, of)| (slot, of.owner.traffic, of.tallies()));
        self.ledger.begin(open);
        let shaped = self.instances.iter_mut().filter_map(|of| of.shaped.as_mut());
        shaped.for_each(|shaped| shaped.begin(self.now));
    }

    /// Runs to the end.
    pub fn run(scenario: &Scenario) -> Results {
        let mut simulation = Self::new(scenario);
        while simulation.advance(u64::MAX) {}
        simulation.finish()
    }

    fn wake_stage(&mut self, stage: Stage) {
        match stage {
            Stage::Access(direction, part) => self.wake_access(direction, part),
            Stage::Hop(direction, number) => self.wake_hop(direction, number),
            Stage::Sampler => self.sample(),
        }
    }

    /// Applications' timers come first, those of the ends of connections after them.
    fn wake_timer(&mut self, at: Time) {
        let timer = self.timers.next_stage();
        if let Some(end) = timer.checked_sub(self.instances.len() as StageId) {
            self.fingerprint = mix(self.fingerprint, at, !end);
            self.on_timer(end);
        } else {
            self.fingerprint = mix(self.fingerprint, at, self.first_app + timer);
            let rest_ends = self.rests_until(timer);
            self.timers.set(timer, rest_ends.unwrap_or(Time::NEVER));
            if rest_ends.is_none() {
                self.deliver(timer, Event::Timer);
            }
        }
    }

    /// When the home of an app becomes active, if it is at rest.
    fn rests_until(&mut self, app: StageId) -> Option<Time> {
        let instance = &self.instances[app as usize];
        let home = instance.owner.home;
        if instance.shaped.is_some() {
            return None; // routers do not rest
        }
        self.turns.get_mut(usize::from(home))?.as_mut()?.rests_until(self.now)
    }

    /// Sends a packet from its sender.
    fn send(&mut self, mut packet: Packet) {
        self.ledger.sent(&mut packet);
        let hops = &self.hops[packet.direction as usize];
        let hop = match packet.direction {
            Direction::Up => hops.router(&packet),
            Direction::Down => Some(hops.server(&packet)),
        };
        match hop {
            Some(number) => self.enter_hop(self.now, number, packet),
            None => self.enter_access(packet),
        }
    }

    #[inline]
    fn enter_access(&mut self, packet: Packet) {
        let mut alarms = Alarms::new(&mut self.wake, self.access_stages);
        if let Some((at, packet)) =
            self.access.accept(self.now, packet, &mut alarms, &mut self.ledger.recorder)
        {
            self.leave_access(at, packet);
        }
    }

    fn wake_access(&mut self, direction: Direction, part: u32) {
        let mut alarms = Alarms::new(&mut self.wake, self.access_stages);
        let crossed =
            self.access.wake(self.now, direction, part, &mut alarms, &mut self.ledger.recorder);
        if let Some((at, packet)) = crossed {
            self.leave_access(at, packet);
        }
    }

    /// A packet for a server goes on at time `at`, one for a home now.
    #[inline(always)]
    fn leave_access(&mut self, at: Time, packet: Packet) {
        let hops = &self.hops[packet.direction as usize];
        let hop = match packet.direction {
            Direction::Up => Some(hops.beyond_access(&packet)),
            Direction::Down => hops.router(&packet),
        };
        match hop {
            Some(number) => self.enter_hop(at, number, packet),
            None => self.arrive(End::Home, &packet),
        }
    }

    #[inline(always)]
    fn enter_hop(&mut self, at: Time, number: u32, packet: Packet) {
        let placed = self.hops[packet.direction as usize].get_mut(number);
        if placed.hop.accept(self.now, at, packet, &mut self.ledger.recorder) {
            self.wake.set(placed.stage, placed.hop.next_wake());
        }
    }

    fn wake_hop(&mut self, direction: Direction, number: u32) {
        let hops = &mut self.hops[direction as usize];
        let placed = hops.get_mut(number);
        let crossed = placed.hop.wake(self.now, &mut self.ledger.recorder);
        self.wake.set(placed.stage, placed.hop.next_wake());
        let Some((at, mut packet)) = crossed else { return };
        match hops.after(number, &packet) {
            Then::Hop(number) => self.enter_hop(at, number, packet),
            Then::Access => {
                packet.service_flow = self.service_flow(&packet);
                self.enter_access(packet);
            }
            Then::Receiver => self.arrive(End::sending(direction.reversed()), &packet),
        }
    }

    fn sample(&mut self) {
        self.access.sample(self.now);
        self.hops.iter_mut().for_each(Hops::sample);
        self.ledger.sample(self.now, self.sample_interval);
        self.sample_apps();
        if self.shows_senders {
            self.sample_senders();
        }
        self.wake.set(SAMPLER, self.now + self.sample_interval);
    }

    /// The app of the first home of each entry.
    fn sample_apps(&mut self) {
        for (first, series) in &mut self.app_series {
            series.sample(|gauges| self.instances[*first as usize].gauges(gauges));
        }
    }

    /// The senders of connections that are recorded.
    fn sample_senders(&mut self) {
        let watched = u64::from(self.scenario.metrics.watch_connections);
        for (slot, connection) in self.connections.open_ones() {
            let Some(account) = self.ledger.connections_mut().account_mut(slot) else { continue };
            let config = &self.configs[usize::from(connection.config)];
            for (end, way) in account.ways.iter_mut().enumerate() {
                let is_watched = account.number <= watched;
                way.sender.sample(|out| connection.ends.show(end, is_watched, config, out));
            }
        }
    }

    /// Packets and bytes in all stages.
    fn inside(&self) -> Count {
        let in_hops: Count = self.hops.iter().map(Hops::inside).sum();
        in_hops.plus(self.access.inside())
    }

    /// The run ends: all that is in stages has spent its time until now.
    fn close_delays(&mut self) {
        let Self { now, access, hops, ledger, .. } = self;
        let recorder = &mut ledger.recorder;
        access.close(*now, recorder);
        for placed in hops.iter().flat_map(Hops::all) {
            placed.hop.close(*now, recorder, |recorder, packet, at| {
                access.take_back(*now, packet, at, recorder);
            });
        }
    }

    /// The measured queues: those of the access network, then those of the other hops.
    fn queues(&self) -> Vec<PlacedQueue<'_>> {
        let mut queues = self.access.queues();
        for (direction, hops) in Direction::BOTH.into_iter().zip(&self.hops) {
            queues.extend(hops.all().filter_map(|placed| {
                let queue = placed.hop.queue().filter(|queue| queue.meter().is_some())?;
                Some(PlacedQueue { queue, direction, home: placed.home })
            }));
        }
        queues
    }

    /// A run that ends early is one of a shorter scenario. Says so if nothing of it counts.
    fn cut_short(&mut self) -> Option<Warning> {
        if self.now < self.end {
            (self.end, self.scenario.duration_s) = (self.now, self.now.secs_f64());
            // It is half of a time that is not over.
            self.first_half.clear();
        }
        let from_s = self.scenario.metrics.from_s;
        (from_s > 0.0 && self.before_counting.is_none()).then(|| {
            self.scenario.metrics.from_s = 0.0;
            fault!(NothingCounts, "metrics.from_s" =>
                "the run ended before metrics.from_s = {from_s}, so nothing of it counts", from_s)
        })
    }

    /// Ends the run where it is, and returns its results up to now.
    ///
    /// # Panics If a packet was lost or duplicated on the way.
    pub fn finish(mut self) -> Results {
        self.let_last_packets_in();
        self.close_delays();
        self.ledger.close(self.now, self.inside());
        let is_cut = self.now < self.end && self.end < Time::NEVER;
        let planned_s = is_cut.then_some(self.scenario.duration_s);
        let uncounted = self.cut_short();
        for (slot, connection) in self.connections.open_ones() {
            self.ledger.settle(slot, connection.owner.traffic, connection.tallies(), None);
        }
        let trace = self.ledger.recorder.take_trace();
        let cut = trace.iter().flat_map(|trace| trace.warnings()).collect::<Vec<_>>();
        let (packets, modem) = trace.map(|trace| trace.finish()).unwrap_or_default();
        let modem = modem.map(ModemTrace::finish).unwrap_or_default();
        let delays = self.ledger.recorder.take_delays();
        let mut results = report::results(&self, packets, modem, delays);
        results.warnings.extend(cut.into_iter().chain(uncounted));
        results.warnings.extend(self.warning_of_changes());
        (results.planned_s, results.changes) = (planned_s, self.changed.changes);
        results
    }
}

/// Adds an event to the fingerprint of the run.
#[inline]
fn mix(fingerprint: u64, at: Time, stage: StageId) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    (fingerprint.rotate_left(5) ^ at.ps() ^ u64::from(stage) << 48).wrapping_mul(ODD)
}
