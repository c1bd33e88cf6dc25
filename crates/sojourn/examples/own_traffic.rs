//! A traffic model of your own: a sensor that reports at random times.
//!
//! `cargo run --release -p sojourn --example own_traffic`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn::engine::packet::Direction;
use sojourn::engine::rng::Rng;
use sojourn::engine::units::Time;
use sojourn::input::problem::Problems;
use sojourn::scenario::apps::{
    App, AppContext, AppParameters, Command, Event, Label, Load, Model, Quality, ServerKeys,
};
use sojourn::{Parts, Simulation, Source};

/// Its keys in scenarios.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// Server at the other end. Default: the first of `servers`.
    pub server: String,
    /// Mean time between reports in s.
    #[schemars(range(min = 0.001, max = 1_000.0))]
    pub mean_interval_s: f64,
    /// Size of a report in bytes on the wire.
    #[schemars(range(min = 64, max = 1500))]
    pub report_bytes: u16,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { server: String::new(), mean_interval_s: 0.1, report_bytes: 200 }
    }
}

impl AppParameters for Parameters {
    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        App::Outside(Box::new(Sensor { server: server(&self.server), keys: self.clone() }))
    }

    fn servers(&self) -> Vec<(String, &str)> {
        vec![("server".to_owned(), &self.server)]
    }

    fn server_keys(&mut self) -> ServerKeys<'_> {
        ServerKeys::One(&mut self.server)
    }

    fn largest_datagram(&self) -> u16 {
        self.report_bytes
    }

    fn quality(&self) -> Quality {
        Quality::Throughput
    }

    fn load(&self, seconds: f64) -> Load {
        Load {
            packets: seconds / self.mean_interval_s,
            packet_bytes: self.report_bytes.into(),
            direction: Some(Direction::Up),
            ..Load::default()
        }
    }
}

struct Sensor {
    server: u16,
    keys: Parameters,
}

impl Sensor {
    fn pause(&self, rng: &mut Rng) -> Time {
        Time::from_secs_f64(rng.exponential(self.keys.mean_interval_s))
    }
}

impl Model for Sensor {
    fn start(&self, rng: &mut Rng) -> Time {
        self.pause(rng)
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        if let Event::Timer = event {
            let (server, size) = (self.server, self.keys.report_bytes);
            context.ask(Command::Datagram {
                server,
                direction: Direction::Up,
                size,
                frame: None,
                label: Label::default(),
            });
            let next = context.now + self.pause(context.rng);
            context.ask(Command::Wake(next));
        }
    }
}

/// A sensor and a game share a line.
pub const HOME: &str = "
    duration_s = 60
    upstream.sustained_mbps = 20
    downstream.sustained_mbps = 200
    servers.near.delay_ms = 10

    [traffic]
    sensor = { kind = 'sensor', mean_interval_s = 0.05, dscp = 8 }
    game = { kind = 'stream', purpose = 'game' }
";

fn main() -> Result<(), Problems> {
    let parts = Parts::default().traffic::<Parameters>("sensor");
    for variant in Source::new(HOME, "home.toml").parts(&parts).load()? {
        let sensor = &Simulation::run(&variant.scenario).flows[0];
        println!("{} reports in {} s", sensor.delivered_packets, variant.scenario.duration_s);
    }
    Ok(())
}
