//! A scheduler of your own: small packets go first. A bound keeps large ones from waiting for ever.
//!
//! `cargo run --release -p sojourn --example own_scheduler`

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn::engine::aqm::DrainRate;
use sojourn::engine::count::Count;
use sojourn::engine::packet::{DropReason, Packet};
use sojourn::engine::queue::{Discipline, Entry, Exit, Scheduler, SchedulerParameters, Setting};
use sojourn::engine::record::Gauges;
use sojourn::engine::units::Time;
use sojourn::input::problem::Problems;
use sojourn::{Parts, Simulation, Source};

/// Its keys in scenarios.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// The size in bytes up to which a packet is small.
    #[schemars(range(min = 64, max = 1500))]
    pub small_bytes: u16,
    /// How many small packets may pass one large one.
    #[schemars(range(min = 1, max = 1000))]
    pub most_in_a_row: u32,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { small_bytes: 300, most_in_a_row: 16 }
    }
}

impl SchedulerParameters for Parameters {
    fn start(&self, _setting: &Setting) -> Scheduler {
        let queues = [VecDeque::new(), VecDeque::new()];
        let (keys, backlog) = (self.clone(), Count::default());
        Scheduler::Outside(Box::new(SmallFirst { keys, queues, backlog, in_a_row: 0 }))
    }
}

struct SmallFirst {
    keys: Parameters,
    /// Of small and of large packets.
    queues: [VecDeque<Packet>; 2],
    backlog: Count,
    in_a_row: u32,
}

impl Discipline for SmallFirst {
    fn enqueue(&mut self, packet: Packet, entry: &mut Entry) {
        if !entry.limit.admits(self.backlog, packet.size.into()) {
            return entry.counters.drop(entry.now, packet, DropReason::Overflow);
        }
        self.backlog = self.backlog.plus(Count::of(&packet));
        self.queues[usize::from(packet.size > self.keys.small_bytes)].push_back(packet);
    }

    fn dequeue(&mut self, _exit: &mut Exit) -> Option<Packet> {
        let [small, large] = &mut self.queues;
        let is_small = large.is_empty() || self.in_a_row < self.keys.most_in_a_row;
        let packet = if is_small {
            small.pop_front().or_else(|| large.pop_front())
        } else {
            large.pop_front()
        }?;
        let passed_a_large_one = packet.size <= self.keys.small_bytes && !large.is_empty();
        self.in_a_row = if passed_a_large_one { self.in_a_row + 1 } else { 0 };
        self.backlog = self.backlog.without(packet.size.into());
        Some(packet)
    }

    fn backlog(&self) -> Count {
        self.backlog
    }

    fn next_update(&self) -> Time {
        Time::NEVER
    }

    fn update(&mut self, _now: Time, _drain_rate: &DrainRate) {}

    fn gauges(&self, out: &mut Gauges) {
        out.set("small_packets", "packets", self.queues[0].len() as f64);
    }
}

/// A game and an upload share a line.
pub const HOME: &str = "
    duration_s = 20
    upstream.sustained_mbps = 20
    downstream.sustained_mbps = 200
    servers.near.delay_ms = 10

    [traffic]
    game = { kind = 'stream', purpose = 'game' }
    upload = { kind = 'transfer', direction = 'up', start_s = 5 }

    [compare]
    fifo = { upstream.queue.scheduler.kind = 'fifo' }
    own = { upstream.queue.scheduler = { kind = 'small_first', small_bytes = 400 } }
";

fn main() -> Result<(), Problems> {
    let parts = Parts::default().scheduler::<Parameters>("small_first");
    for variant in Source::new(HOME, "home.toml").parts(&parts).load()? {
        let results = Simulation::run(&variant.scenario);
        let game_ms = results.flows[0].latency_p99_ms.unwrap_or(0.0);
        println!("{:4}  99 % of the game's packets within {game_ms:.1} ms", variant.name);
    }
    Ok(())
}
