//! Builds a run at time zero from its scenario.

use std::collections::VecDeque;
use std::ops::Range;

use super::connections::Connections;
use super::conversations::Conversations;
use super::hops::Hops;
use super::live::Changed;
use super::observe::Observed;
use super::outside::{self, Outside};
use super::report::early_tail;
use super::{Pause, SAMPLER, Simulation, Stage, accounts, apps, turns};
use sojourn_access::{Access, AccessNetwork, Extent, Site};
use sojourn_engine::packet::Direction;
use sojourn_engine::record::GaugeSeries;
use sojourn_engine::units::Time;
use sojourn_engine::wake::{StageId, Wake};
use sojourn_scenario::Scenario;
use sojourn_scenario::traffic::Entry;
use sojourn_transport::Config;

impl Simulation {
    /// A run at time zero. [`sojourn_scenario::load`] must have checked the scenario.
    pub fn new(scenario: &Scenario) -> Self {
        match outside::recorded_until(scenario) {
            Some(end) => Self::until(scenario, end, true),
            None => Self::until(scenario, Time::from_secs_f64(scenario.duration_s), false),
        }
    }

    /// A run that ends then; if it is open, nobody knew that when it was recorded.
    pub(super) fn until(scenario: &Scenario, end: Time, is_open: bool) -> Self {
        let mut scenario = scenario.clone();
        scenario.fill();
        let s = &scenario;
        let server_clocks = apps::server_clocks(s);
        let instances = apps::instances(s, &server_clocks);
        let firsts = apps::first_of_entries(s, &instances);
        let (configs, quic_configs) = configs(s);
        let mut simulation = Self {
            now: Time::ZERO,
            end,
            counts_from: Time::from_secs_f64(s.metrics.from_s),
            before_counting: None,
            early: None,
            first_half: Vec::new(),
            pauses: VecDeque::new(),
            until: Time::ZERO,
            wake: Wake::new(2),
            timers: Wake::new(64),
            stages: Vec::new(),
            events: 0,
            fingerprint: 0,
            conversations: Conversations::new(s, &firsts),
            outside: Outside::new(s, firsts.iter().map(|app| instances[*app as usize].owner)),
            bulk: apps::bulk_of_homes(s, &instances),
            stopped: vec![0; s.traffic.len()],
            instances,
            turns: turns::turns(s),
            app_series: firsts.into_iter().map(|app| (app, GaugeSeries::default())).collect(),
            shows_senders: shows_senders(s),
            server_clocks,
            configs,
            quic_configs,
            connections: Connections::default(),
            access: access(s, Extent::Whole),
            byte_count: s.network().byte_count(),
            hops: Direction::BOTH.map(|direction| Hops::new(s, direction)),
            access_stages: [0; 2],
            first_app: 0,
            ledger: accounts::ledger(s, if is_open { Time::NEVER } else { end }),
            sample_interval: Time::from_secs_f64(s.metrics.series_interval_ms / 1e3),
            pending_events: VecDeque::new(),
            commands: Vec::new(),
            scenario: s.clone(),
            changed: Changed::default(),
            observed: Observed::default(),
        };
        simulation.number_stages();
        simulation.set_first_wakes();
        simulation.set_pauses(is_open);
        simulation
    }

    fn set_pauses(&mut self, is_open: bool) {
        if self.counts_from > Time::ZERO {
            self.pauses.push_back((self.counts_from, Pause::Counting));
        }
        let early = early_tail::ends_at(&self.scenario);
        if let Some(at) = early.filter(|at| (self.counts_from..self.end).contains(at)) {
            self.pauses.push_back((at, Pause::Early));
        }
        if !is_open {
            self.pauses.push_back((Time::from_secs_f64(self.scenario.half_s()), Pause::Half));
        }
        self.pauses.make_contiguous().sort();
        self.set_until();
    }

    fn number_stages(&mut self) {
        let [up, down] = Direction::BOTH;
        self.add_stages(1, [(0, Stage::Sampler)]);
        let [[routers_up, hops_up], [routers_down, hops_down]] =
            [up, down].map(|direction| self.hops[direction as usize].numbers());
        self.add_hops(up, routers_up);
        self.add_parts(up);
        self.add_hops(up, hops_up);
        self.add_hops(down, hops_down);
        self.add_parts(down);
        self.add_hops(down, routers_down);
        self.wake.grow(self.stages.len());
        self.timers.grow(self.instances.len());
    }

    fn add_parts(&mut self, direction: Direction) {
        self.access_stages[direction as usize] = self.stages.len() as StageId;
        let parts = self.access.parts(direction);
        let numbered = |part| (self.access.number(direction, part), Stage::Access(direction, part));
        let stages: Vec<_> = (0..parts).map(numbered).collect();
        self.add_stages(self.access.number(direction, parts), stages);
    }

    fn add_hops(&mut self, direction: Direction, numbers: Range<u32>) {
        let count = numbers.end - numbers.start;
        for (stage, number) in (self.stages.len() as StageId..).zip(numbers.clone()) {
            self.hops[direction as usize].get_mut(number).stage = stage;
        }
        self.add_stages(count, (0..).zip(numbers.map(|number| Stage::Hop(direction, number))));
    }

    /// Adds stages with their numbers among `count` numbers that follow the ones taken so far.
    fn add_stages(&mut self, count: u32, stages: impl IntoIterator<Item = (StageId, Stage)>) {
        let first = self.first_app;
        self.stages.extend(stages.into_iter().map(|(number, stage)| (first + number, stage)));
        self.first_app += count;
    }

    fn set_first_wakes(&mut self) {
        self.wake.set(SAMPLER, self.sample_interval);
        for (place, (_, stage)) in (0..).zip(&self.stages) {
            let first = match *stage {
                Stage::Sampler => continue,
                Stage::Access(direction, part) => self.access.first_wake(direction, part),
                Stage::Hop(direction, number) => {
                    self.hops[direction as usize].get_mut(number).hop.next_wake()
                }
            };
            self.wake.set(place, first);
        }
        for (app, instance) in (0..).zip(&mut self.instances) {
            self.timers.set(app, instance.start());
        }
    }
}

/// The configurations of connections, and the numbers of those for QUIC beside TCP, by traffic entry.
fn configs(scenario: &Scenario) -> (Vec<Config>, Vec<Option<u16>>) {
    let Scenario { tcp, dialect, .. } = scenario;
    let apps = || scenario.traffic.values().map(|entry| &entry.app);
    let mut configs: Vec<Config> = apps().map(|app| app.tcp_config(tcp, *dialect)).collect();
    let quic = apps().map(|app| {
        let config = app.quic_config(tcp, *dialect)?;
        configs.push(config);
        Some(u16::try_from(configs.len() - 1).expect("the schema limits entries"))
    });
    let quic = quic.collect();
    let is_reordered = scenario.is_reordered();
    (configs.into_iter().map(|config| config.on_path(is_reordered)).collect(), quic)
}

/// Are there series of senders?
fn shows_senders(scenario: &Scenario) -> bool {
    let has_gauges = |entry: &Entry| {
        let config = entry.app.tcp_config(&scenario.tcp, scenario.dialect);
        config.congestion_control.parameters().has_gauges()
    };
    scenario.metrics.watch_connections > 0 || scenario.traffic.values().any(has_gauges)
}

/// The access network of a scenario.
pub(super) fn access(scenario: &Scenario, extent: Extent) -> Access {
    let site = Site {
        groups: scenario.groups().collect(),
        traffic: scenario.traffic.keys().map(String::as_str).collect(),
        watch_flows: scenario.metrics.watch_flows as usize,
        extent,
        dialect: scenario.dialect,
        seed: scenario.seed,
    };
    scenario.network().start(&site)
}
