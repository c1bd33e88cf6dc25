//! Keys that may change in a run: those that the schema marks with `x-live`, as far as a scenario gives them a value.

use std::sync::{Arc, LazyLock};

use indexmap::IndexMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::apps::AppSpec;
use super::check::{check, check_hops};
use super::file::HOMES;
use super::node::Node;
use super::parts::Parts;
use super::rates::in_whole_bits;
use super::router::Router;
use super::schema::Scenario;
use crate::apps::stream::Purpose;
use sojourn_engine::hop::{Bottleneck, Bottlenecks};
use sojourn_engine::packet::Direction;
use sojourn_engine::queue::QueueSpec;
use sojourn_input::fault;
use sojourn_input::parts::{self, Kinds};
use sojourn_input::problem::{Fault, Faults};
use sojourn_input::schema_check::Checker;
use sojourn_input::words;

/// Marks such a key in the schema.
pub const MARK: &str = "x-live";

/// Checks values; keys of parts from outside do not change in a run.
static CHECKER: LazyLock<Arc<Checker>> =
    LazyLock::new(|| Parts::default().checker(false).expect("no built-in kind comes twice"));

/// The table of a scenario in which a key is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The service of a direction: of the homes of this group, or of all whose group has no own.
    Service(Option<usize>, Direction),
    /// The shaper of a router in a direction: of the homes of this group, or of all whose group has no own.
    Router(Option<usize>, Direction),
    /// The link of the core of this number in a direction.
    Core(usize, Direction),
    /// The server of this number.
    Server(usize),
    /// The traffic entry of this number.
    Traffic(usize),
}

/// What of a place a key belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Own,
    Queue,
    Law,
    Scheduler,
}

#[derive(Clone, Debug)]
struct Knob {
    place: Place,
    /// A further service flow of the place.
    flow: Option<String>,
    of: Of,
    key: String,
    schema: &'static Value,
}

/// The keys of a scenario that may change in a run.
#[derive(Clone, Debug)]
pub struct LiveKeys(IndexMap<String, Knob>);

impl LiveKeys {
    /// Those of a resolved scenario.
    pub fn of(scenario: &Scenario) -> Self {
        let value = serde_json::to_value(scenario).unwrap_or_default();
        let mut found = Vec::new();
        below(&Node::root(), &value, &mut Vec::new(), &mut found);
        let knobs = found.into_iter().filter_map(|(path, schema)| {
            let knob = Knob::at(&path, schema, scenario).filter(|knob| knob.acts(scenario))?;
            Some((path.iter().fold(String::new(), |above, key| words::join(&above, key)), knob))
        });
        Self(knobs.collect())
    }

    /// Their paths.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The value of a key in this scenario.
    ///
    /// # Errors If it cannot change in a run.
    pub fn value(&self, scenario: &Scenario, path: &str) -> Result<Value, Fault> {
        Ok(self.knob(path)?.put(&mut scenario.clone(), &Value::Null))
    }

    /// Changes keys of the scenario, all of them or none. Returns the tables in which they are.
    ///
    /// # Errors All faults of the keys, or else those of the scenario with them.
    pub fn change(
        &self,
        scenario: &mut Scenario,
        changes: &mut [(String, Value)],
    ) -> Result<Vec<Place>, Faults> {
        let mut faults = Faults::default();
        let mut knobs = Vec::new();
        for (path, value) in &mut *changes {
            match self.knob(path) {
                Ok(knob) => {
                    faults.add(knob.check(value, path));
                    knobs.push(knob);
                }
                Err(fault) => faults.add(fault),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut before = Vec::new();
        for (knob, (path, value)) in knobs.iter().zip(&mut *changes) {
            if path.ends_with("_mbps") {
                let mut table = serde_json::json!({ "mbps": value });
                in_whole_bits(&mut table);
                *value = table["mbps"].take();
            }
            before.push(knob.put(scenario, value));
        }
        let faults = match knobs.iter().all(|knob| knob.is_of_hop()) {
            true => check_hops(scenario),
            false => check(scenario),
        };
        if faults.is_empty() {
            return Ok(knobs.into_iter().map(|knob| knob.place.clone()).collect());
        }
        for (knob, value) in knobs.iter().zip(&before).rev() {
            knob.put(scenario, value);
        }
        Err(faults)
    }

    fn knob(&self, path: &str) -> Result<&Knob, Fault> {
        self.0.get(path).ok_or_else(|| {
            let allowed = self.paths().collect::<Vec<_>>().join(", ");
            let allowed = if allowed.is_empty() { "none in this scenario" } else { &allowed };
            let fault = fault!(NotAllowed, path =>
                "cannot change in this run; allowed: keys that may, where the scenario gives them a value: {allowed}",
                allowed);
            let known: Vec<_> = self.paths().collect();
            fault.meaning_one_of(&words::closest(path, &known).map(str::to_owned).into_iter().collect::<Vec<_>>())
        })
    }
}

/// Finds marked keys that have a value.
fn below(
    node: &Node,
    value: &Value,
    path: &mut Vec<String>,
    found: &mut Vec<(Vec<String>, &'static Value)>,
) {
    let Value::Object(table) = value else { return };
    for (key, value) in table.iter().filter(|(_, value)| !value.is_null()) {
        let Some(schema) = node.below(key) else { continue };
        path.push(key.clone());
        if schema[MARK] == true {
            found.push((path.clone(), schema));
        } else if let Some(its) = Node::of(schema, value) {
            below(&its, value, path, found);
        }
        path.pop();
    }
}

impl Knob {
    fn at(path: &[String], schema: &'static Value, scenario: &Scenario) -> Option<Self> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let (group, path) = match *path {
            [HOMES, name, ..] => (Some(scenario.homes.get_index_of(name)?), &path[2..]),
            _ => (None, &*path),
        };
        let direction = |stream: &str| {
            Direction::BOTH.into_iter().find(|direction| direction.stream() == stream)
        };
        let (place, rest) = match *path {
            ["router", way, ..] => (Place::Router(group, direction(way)?), &path[2..]),
            ["core", name, way, ..] => {
                (Place::Core(scenario.core.get_index_of(name)?, direction(way)?), &path[3..])
            }
            ["servers", name, ..] => {
                (Place::Server(scenario.servers.get_index_of(name)?), &path[2..])
            }
            ["traffic", name, ..] => {
                (Place::Traffic(scenario.traffic.get_index_of(name)?), &path[2..])
            }
            [way, ..] => (Place::Service(group, direction(way)?), &path[1..]),
            [] => return None,
        };
        let (flow, rest) = match *rest {
            ["flows", name, ..] => (Some(name.to_owned()), &rest[2..]),
            _ => (None, rest),
        };
        let (of, key) = match *rest {
            [key] => (Of::Own, key),
            ["queue", key] => (Of::Queue, key),
            ["queue", "law", key] => (Of::Law, key),
            ["queue", "scheduler", key] => (Of::Scheduler, key),
            _ => return None,
        };
        Some(Self { place, flow, of, key: key.to_owned(), schema })
    }

    /// Does something of the scenario go by it in a run?
    fn acts(&self, scenario: &Scenario) -> bool {
        let groups = || scenario.homes.values();
        match self.place {
            Place::Service(group, way) => {
                let own = |homes: &crate::homes::Homes| match way {
                    Direction::Up => homes.upstream.is_some(),
                    Direction::Down => homes.downstream.is_some(),
                };
                let is_of_all = group.is_some() || scenario.homes.is_empty();
                let is_switched_off =
                    way == Direction::Up && self.of == Of::Law && !self.upstream(scenario).aqm;
                // Without a regulator the shared channel's queue is all there is.
                let is_unregulated = way == Direction::Down
                    && scenario.cmts.is_some()
                    && !self.downstream(scenario).regulator;
                (is_of_all || !groups().all(own)) && !is_switched_off && !is_unregulated
            }
            Place::Router(group, way) => {
                let is_of_all = group.is_some() || scenario.homes.is_empty();
                let is_trace = self.bottleneck(scenario).is_none_or(|of| of.hop.is_some());
                let own = |homes: &crate::homes::Homes| {
                    homes.router.as_ref().is_some_and(|router| router.of(way).is_some())
                };
                let router = match group {
                    None => scenario.router.as_ref(),
                    Some(group) => scenario.homes[group].router.as_ref(),
                };
                let is_set = router.is_some_and(|router| router.sets(way, &self.key));
                (is_of_all || !groups().all(own)) && !is_trace && !is_set
            }
            Place::Core(..) => self.bottleneck(scenario).is_some_and(|of| of.hop.is_none()),
            Place::Server(_) => true,
            // How calls and games are scored depends on the pace of their packets.
            Place::Traffic(number) => match &scenario.traffic[number].app {
                AppSpec::Stream(stream) => stream.purpose == Purpose::Data,
                _ => true,
            },
        }
    }

    fn is_of_hop(&self) -> bool {
        matches!(self.place, Place::Router(..) | Place::Core(..) | Place::Server(_))
    }

    fn check(&self, value: &Value, path: &str) -> Faults {
        match value {
            Value::Null => Fault::found(path, "nothing", "a value").into(),
            value => CHECKER.check_node(self.schema, value, path),
        }
    }

    fn upstream<'a>(&self, scenario: &'a Scenario) -> &'a sojourn_access::Upstream {
        let Place::Service(group, _) = self.place else { return &scenario.upstream };
        let own = group.and_then(|group| scenario.homes[group].upstream.as_ref());
        own.unwrap_or(&scenario.upstream)
    }

    fn downstream<'a>(&self, scenario: &'a Scenario) -> &'a sojourn_access::Downstream {
        let Place::Service(group, _) = self.place else { return &scenario.downstream };
        let own = group.and_then(|group| scenario.homes[group].downstream.as_ref());
        own.unwrap_or(&scenario.downstream)
    }

    fn bottleneck<'a>(&self, scenario: &'a Scenario) -> Option<&'a Bottleneck> {
        match self.place {
            Place::Router(None, way) => scenario.router.as_ref()?.of(way),
            Place::Router(Some(group), way) => scenario.homes[group].router.as_ref()?.of(way),
            Place::Core(number, way) => scenario.core[number].of(way),
            _ => None,
        }
    }

    /// Puts a value into the scenario, and returns the one that it had.
    fn put(&self, scenario: &mut Scenario, value: &Value) -> Value {
        let value = value.clone();
        let key = &*self.key;
        match (self.of, &self.place) {
            (Of::Law, _) => self.queue(scenario).map(|queue| swap(&mut queue.law, key, value)),
            (Of::Scheduler, _) => {
                self.queue(scenario).map(|queue| swap(&mut queue.scheduler, key, value))
            }
            (Of::Queue, _) => self.queue(scenario).map(|queue| match key {
                "limit_bytes" => exchange(&mut queue.limit_bytes, value),
                "limit_packets" => exchange(&mut queue.limit_packets, value),
                _ => exchange(&mut queue.ecn, value),
            }),
            (Of::Own, Place::Service(..)) => {
                self.rates(scenario).map(|(sustained, peak)| match key {
                    "sustained_mbps" => exchange(sustained, value),
                    _ => exchange(peak, value),
                })
            }
            (Of::Own, Place::Server(number)) => {
                Some(exchange(&mut scenario.servers[*number].rate_mbps, value))
            }
            (Of::Own, Place::Traffic(number)) => {
                Some(swap(&mut scenario.traffic[*number].app, key, value))
            }
            (Of::Own, Place::Router(..) | Place::Core(..)) => {
                self.bottleneck_mut(scenario).map(|link| exchange(&mut link.rate_mbps, value))
            }
        }
        .unwrap_or_default()
    }

    fn bottleneck_mut<'a>(&self, scenario: &'a mut Scenario) -> Option<&'a mut Bottleneck> {
        let ((upstream, downstream), way) = match self.place {
            Place::Router(group, way) => {
                let router = match group {
                    None => &mut scenario.router,
                    Some(group) => &mut scenario.homes[group].router,
                };
                let Router { upstream, downstream, .. } = router.as_mut()?;
                ((upstream, downstream), way)
            }
            Place::Core(number, way) => {
                let Bottlenecks { upstream, downstream } = &mut scenario.core[number];
                ((upstream, downstream), way)
            }
            _ => return None,
        };
        match way {
            Direction::Up => upstream.as_mut(),
            Direction::Down => downstream.as_mut(),
        }
    }

    fn queue<'a>(&self, scenario: &'a mut Scenario) -> Option<&'a mut QueueSpec> {
        match self.place {
            Place::Service(group, Direction::Up) => {
                let own = group.map(|group| &mut scenario.homes[group].upstream);
                let table = own.map_or(Some(&mut scenario.upstream), Option::as_mut)?;
                match &self.flow {
                    Some(name) => Some(&mut table.flows.get_mut(name)?.queue),
                    None => Some(&mut table.queue),
                }
            }
            Place::Service(group, Direction::Down) => {
                let own = group.map(|group| &mut scenario.homes[group].downstream);
                let table = own.map_or(Some(&mut scenario.downstream), Option::as_mut)?;
                match &self.flow {
                    Some(name) => Some(&mut table.flows.get_mut(name)?.queue),
                    None => Some(&mut table.queue),
                }
            }
            Place::Server(number) => scenario.servers[number].queue.as_mut(),
            Place::Router(..) | Place::Core(..) => Some(&mut self.bottleneck_mut(scenario)?.queue),
            Place::Traffic(_) => None,
        }
    }

    /// The sustained and the peak rate of a service flow.
    fn rates<'a>(&self, scenario: &'a mut Scenario) -> Option<(&'a mut f64, &'a mut Option<f64>)> {
        macro_rules! rates_of {
            ($way:ident, $group:ident) => {{
                let own = $group.map(|group| &mut scenario.homes[group].$way);
                let table = own.map_or(Some(&mut scenario.$way), Option::as_mut)?;
                match &self.flow {
                    Some(name) => {
                        let flow = table.flows.get_mut(name)?;
                        Some((&mut flow.sustained_mbps, &mut flow.peak_mbps))
                    }
                    None => Some((&mut table.sustained_mbps, &mut table.peak_mbps)),
                }
            }};
        }
        match self.place {
            Place::Service(group, Direction::Up) => rates_of!(upstream, group),
            Place::Service(group, Direction::Down) => rates_of!(downstream, group),
            _ => None,
        }
    }
}

/// Gives a key another value, which its schema allows, and returns its former one.
fn exchange<T: Serialize + DeserializeOwned>(own: &mut T, value: Value) -> Value {
    let before = serde_json::to_value(&*own).unwrap_or_default();
    if let Ok(value) = serde_json::from_value(value) {
        *own = value;
    }
    before
}

/// The same for a key of a kind.
fn swap<K: Kinds + DeserializeOwned>(own: &mut K, key: &str, value: Value) -> Value {
    let Ok(mut table) = parts::write(own) else { return Value::Null };
    let before = std::mem::replace(&mut table[key], value);
    if let Ok(other) = serde_json::from_value(table) {
        *own = other;
    }
    before
}
