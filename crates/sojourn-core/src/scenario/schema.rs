//! The scenario: the one definition of its keys, units, ranges and defaults.
//!
//! Doc comments here are what users read in the JSON Schema; ranges are checked from there too.

use indexmap::IndexMap;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};

use super::homes::Homes;
use super::traffic::Entry;
use crate::access::AccessSpec;
use crate::access::docsis::downstream_channel::Cmts;
use crate::access::docsis::parameters::Cable;
use crate::access::docsis::upstream_channel::UpstreamChannel;
use crate::access::homes::Group;
use crate::access::service::{Downstream, Upstream};
use crate::address::Address;
use crate::dialect::Dialect;
use crate::metrics::options::Metrics;
use crate::tcp::TcpOptions;

/// The group of a scenario that names none.
const LONE_HOME: &str = "home";

/// Homes on cable modems, the servers they talk to, and what their people do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A line to head tables and reports.
    #[serde(default)]
    pub title: String,
    /// What the scenario is for and where its values come from.
    #[serde(default)]
    pub description: String,
    /// Simulated time in s.
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub duration_s: f64,
    /// Seed of all random streams.
    #[serde(default = "one")]
    pub seed: u64,
    /// Rules that the parts follow unless they say otherwise.
    #[serde(default)]
    pub dialect: Dialect,
    /// What the homes are connected by.
    #[serde(default)]
    pub access: AccessSpec,
    /// Propagation on the cable plant.
    #[serde(default)]
    pub cable: Cable,
    /// The modem's upstream service flow. Others are in its `flows`.
    pub upstream: Upstream,
    /// The downstream service flow at the CMTS. Others are in its `flows`.
    pub downstream: Downstream,
    /// The upstream channel of all modems of kind `shared_channel`.
    #[serde(default)]
    pub upstream_channel: UpstreamChannel,
    /// The downstream channel that all homes share. None given: each service flow has one to itself.
    #[serde(default)]
    pub cmts: Option<Cmts>,
    /// Groups of homes, by name. None given: one home, called `home`, with the above.
    #[serde(default)]
    pub homes: IndexMap<String, Homes>,
    /// Hosts beyond the CMTS, by name.
    #[serde(default)]
    pub servers: IndexMap<String, Server>,
    /// TCP of all connections; entries of the traffic list may differ in single keys.
    #[serde(default)]
    pub tcp: TcpOptions,
    /// Who does what, by name.
    #[schemars(extend("minProperties" = 1))]
    pub traffic: IndexMap<String, Entry>,
    /// What is measured.
    #[serde(default)]
    pub metrics: Metrics,
}

fn one() -> u64 {
    1
}

/// A host beyond the CMTS, on a link of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// One-way delay of its link in ms. The round trip of a packet is twice this, twice the cable's
    /// delay and the MAC's.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub delay_ms: f64,
    /// Rate of its link in Mbps.
    #[serde(default = "gigabit")]
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub rate_mbps: f64,
    /// Chance of a packet to be lost on its link, either way, in percent, each by itself.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub loss_percent: f64,
    /// Its IPv4 address, for classifiers that look at it.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub address: Option<Address>,
}

fn gigabit() -> f64 {
    1000.0
}

impl Scenario {
    /// All groups of homes, in their order; one home called `home` where the scenario names none.
    pub fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        (0..self.homes.len().max(1)).map(|index| self.group(index))
    }

    /// The group of this number.
    pub fn group(&self, index: usize) -> Group<'_> {
        let (upstream, downstream) = (&self.upstream, &self.downstream);
        match self.homes.get_index(index) {
            None => Group { name: LONE_HOME, count: 1, upstream, downstream },
            Some((name, homes)) => Group {
                name,
                count: homes.count,
                upstream: homes.upstream.as_ref().unwrap_or(upstream),
                downstream: homes.downstream.as_ref().unwrap_or(downstream),
            },
        }
    }

    /// How many homes there are.
    pub fn homes_in_all(&self) -> usize {
        self.groups().map(|group| usize::from(group.count)).sum()
    }

    /// The number of the group in whose homes an entry of the traffic list runs: the first, unless it
    /// names another.
    pub fn group_of(&self, entry: &Entry) -> usize {
        let name = entry.labels.home.as_deref();
        name.and_then(|name| self.homes.get_index_of(name)).unwrap_or_default()
    }
}

/// The JSON Schema (draft 2020-12) of a scenario, from the types of this module.
pub fn json_schema() -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    generator.into_root_schema_for::<Scenario>().to_value()
}
