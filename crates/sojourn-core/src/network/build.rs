//! Builds a run at time zero from its scenario.

use std::collections::VecDeque;

use super::connections::Connections;
use super::conversations::Conversations;
use super::{Numbers, SAMPLER, Simulation, Stage, apps, books};
use crate::access::docsis::parameters::PlantSpec;
use crate::access::docsis::plant::Docsis;
use crate::access::fibre::Fibre;
use crate::access::{Access, AccessNetwork, AccessSpec, Extent, Site};
use crate::apps::Model;
use crate::engine::rng::Rng;
use crate::engine::wake::{StageId, Wake};
use crate::link::Link;
use crate::packet::Direction;
use crate::scenario::Scenario;
use crate::scenario::schema::Server;
use crate::units::{BitRate, Time};

impl Simulation {
    /// A run at time zero. [`crate::scenario::load`] must have checked the scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let mut scenario = scenario.clone();
        scenario.fill();
        let s = &scenario;
        let instances = apps::instances(s);
        let mut simulation = Self {
            now: Time::ZERO,
            end: Time::from_secs_f64(s.duration_s),
            wake: Wake::new(2),
            timers: Wake::new(64),
            stages: Vec::new(),
            events: 0,
            fingerprint: 0,
            conversations: Conversations::new(s, &apps::first_of_entries(s, &instances)),
            instances,
            configs: s
                .traffic
                .values()
                .map(|entry| entry.app.tcp_config(&s.tcp, s.dialect))
                .collect(),
            connections: Connections::default(),
            access: access(s, Extent::Whole),
            links: Direction::BOTH.map(|direction| server_links(s, direction)),
            numbers: Numbers::default(),
            ledger: books::ledger(s),
            sample_interval: Time::from_secs_f64(s.metrics.series_interval_ms / 1e3),
            pending_events: VecDeque::new(),
            commands: Vec::new(),
            scenario: s.clone(),
        };
        simulation.number_stages();
        simulation.set_first_wakes();
        simulation
    }

    fn number_stages(&mut self) {
        let servers = u16::try_from(self.links[0].len()).expect("the schema limits servers");
        let part = |direction| move |part| Stage::Access(direction, part);
        let link = |direction| move |server| Stage::Link(direction, server);
        let [up, down] = Direction::BOTH;
        let parts = Direction::BOTH.map(|direction| self.access.parts(direction));
        let stages = &mut self.stages;
        stages.push(Stage::Sampler);
        self.numbers.access[0] = stages.len() as StageId;
        stages.extend((0..parts[0]).map(part(up)));
        self.numbers.links[0] = stages.len() as StageId;
        stages.extend((0..servers).map(link(up)));
        self.numbers.links[1] = stages.len() as StageId;
        stages.extend((0..servers).map(link(down)));
        self.numbers.access[1] = stages.len() as StageId;
        stages.extend((0..parts[1]).map(part(down)));
        self.numbers.apps = stages.len() as StageId;
        stages.extend((0..).take(self.instances.len()).map(Stage::App));
        self.wake.grow(stages.len());
    }

    fn set_first_wakes(&mut self) {
        self.wake.set(SAMPLER, self.sample_interval);
        for (number, stage) in (0..).zip(&self.stages) {
            let at = match *stage {
                Stage::Access(direction, part) => self.access.first_wake(direction, part),
                Stage::App(app) => {
                    let instance = &mut self.instances[app as usize];
                    instance.app.start(&mut instance.rng)
                }
                Stage::Sampler | Stage::Link(..) => continue,
            };
            self.wake.set(number, at);
        }
    }
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
    match &scenario.access {
        AccessSpec::Docsis => {
            let Scenario { cable, upstream_channel, cmts, .. } = scenario;
            let spec = PlantSpec { cable, upstream_channel, cmts: cmts.as_ref() };
            Docsis::new(&spec, &site).into()
        }
        AccessSpec::Fibre(spec) => Fibre::new(spec, &site).into(),
    }
}

/// The links of all servers in one direction.
fn server_links(scenario: &Scenario, direction: Direction) -> Vec<Link> {
    let link = |(name, server): (&String, &Server)| {
        let losses = Rng::named(scenario.seed, &format!("losses {} {name}", direction.name()));
        let rate = BitRate::from_mbps(server.rate_mbps);
        Link::new(rate, Time::from_secs_f64(server.delay_ms / 1e3))
            .losing(server.loss_percent / 100.0, losses)
    };
    scenario.servers.iter().map(link).collect()
}
