//! Rate controllers: programs in a home's router that set the rates of its shapers by the answers of their probes.
//! Each has a file.
//!
//! A controller knows what a program in a router knows: when a probe was answered, how long that took, and how many
//! bytes its own shapers have let pass. All is plain numbers, so that a program in another language gets the same.

pub mod autorate;
mod probes;

pub(crate) use probes::{Probes, entry_name};

use sojourn_engine::packet::Direction;
use sojourn_engine::record::{Definition, Gauges};
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;
use sojourn_input::kinds;
use sojourn_input::parts::Keys;
use sojourn_input::problem::Faults;

/// The least and the most that a controller sets, in bit/s: what CAKE takes.
pub const LEAST_BPS: f64 = 1e4;
/// The most.
pub const MOST_BPS: f64 = 1e11;

/// Bytes of a probe on the wire where nothing else is said: 56 of data, as those of ping(8), 8 of ICMP, 20 of IP and 14
/// of Ethernet.
pub const PROBE_BYTES: u16 = 98;
/// Time between probes in ms where nothing else is said: cake-autorate sends one to each of six reflectors in 0.3 s.
pub const PROBE_INTERVAL_MS: f64 = 50.0;

/// Rates of both shapers in bit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// That of packets from the home; none where there is no shaper, or where it stays as it is.
    pub up_bps: Option<f64>,
    /// That of packets to the home.
    pub down_bps: Option<f64>,
}

impl Rates {
    /// That of a direction.
    pub fn of(self, direction: Direction) -> Option<f64> {
        direction.pick(self.up_bps, self.down_bps)
    }
}

/// An answer to a probe.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Now, by the router's clock, in us.
    pub now_us: f64,
    /// The number of the probe, from 0.
    pub probe: u64,
    /// From the sending of the probe to the arrival of its answer, in us.
    pub rtt_us: f64,
    /// From the sending of the probe to its arrival at the server, whose clock says when, in us. Clocks differ and drift.
    pub up_us: f64,
    /// From then to the arrival of the answer, in us.
    pub down_us: f64,
    /// The rates of the shapers now.
    pub rates: Rates,
}

/// What a controller can look at each interval.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    /// Now, by the router's clock, in us.
    pub now_us: f64,
    /// The time since the last update, in us.
    pub interval_us: f64,
    /// Bytes that have left the shapers since then, up and down; none where there is no shaper.
    pub bytes: [Option<u64>; 2],
    /// Probes that have not been answered.
    pub waiting: u64,
    /// The rates of the shapers now.
    pub rates: Rates,
}

/// A controller. What it returns are the rates that it wants; one that is missing stays as it is.
pub trait Controller {
    /// A probe was answered.
    fn on_probe(&mut self, _answer: &Answer) -> Rates {
        Rates::default()
    }
    /// An interval is over.
    fn on_update(&mut self, _update: &Update) -> Rates {
        Rates::default()
    }
    /// Shows values over time, in the same order each time.
    fn gauges(&self, _out: &mut Gauges) {}
}

/// How a controller measures.
#[derive(Clone, Debug)]
pub struct Probing<'a> {
    /// The server that answers.
    pub server: &'a str,
    /// The time between probes.
    pub interval: Time,
    /// Bytes of a probe on the wire.
    pub bytes: u16,
    /// The time between updates; never for none.
    pub update: Time,
}

/// Parameters of a controller, which build it.
pub trait ControllerParameters: Keys {
    /// The controller of shapers that begin with these rates. All its random numbers come from `seed`.
    fn start(&self, rates: Rates, seed: Seed) -> Box<dyn Controller + Send>;
    /// How it measures.
    fn probing(&self) -> Probing<'_>;
    /// Its key `server`; empty where the scenario names none.
    fn server_mut(&mut self) -> &mut String;
    /// Names the defaults that depend on the rates that shapers begin with.
    fn fill(&mut self, _rates: Rates) {}
    /// Keys that are set and have no effect on shapers that begin with these rates; each message follows its key.
    fn remarks(&self, _rates: Rates) -> Faults {
        Faults::default()
    }
    /// The faults of keys that do not agree with each other.
    fn check(&self) -> Faults {
        Faults::default()
    }
}

kinds! {
    /// A program that sets the rates of a router's shapers, chosen by `kind`.
    pub enum ControllerSpec: ControllerParameters in "ControllerSpec" {
        /// The law of cake-autorate: rates fall with the delay of probes, and rise under load.
        Autorate(autorate::Parameters) = "autorate",
    }
}

/// The series of all controllers.
pub fn series() -> &'static [Definition] {
    probes::SERIES
}
