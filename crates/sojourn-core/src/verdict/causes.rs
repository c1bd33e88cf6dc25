//! Where the time goes of what users notice: the path, the queue of a direction, or the wait for grants.
//! Each part comes from counters of the run.

use super::rows::{Row, Rows};
use super::words::digits;
use crate::access::AccessSpec;
use crate::access::docsis::parameters::ModemSpec;
use crate::apps::AppParameters as _;
use crate::packet::Direction;
use crate::scenario::{Scenario, traffic};

/// From this share of collided requests on, requests wait because they collide.
const MANY_COLLISIONS: f64 = 0.2;

/// A place where packets spend time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Place {
    /// Cable and link of the server.
    Path,
    /// The queue of a direction, behind other packets and for tokens.
    Queue(Direction),
    /// Requests and their grants.
    Grants,
    /// Requests that are repeated, since this share of them collides.
    Contention(f64),
}

impl Place {
    fn words(self) -> String {
        match self {
            Self::Path => "on the cable and on the link of its server".to_owned(),
            Self::Queue(direction) => format!("in the {} queue", direction.stream()),
            Self::Grants => "in waiting for grants".to_owned(),
            Self::Contention(share) => {
                format!("in asking again, since {:.0} % of requests collide", 100.0 * share)
            }
        }
    }
}

/// Where the mean latency of a traffic entry goes, over the directions in which it is measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Cause {
    /// The entry.
    pub traffic: String,
    /// Its mean latency, of both ways together where both are measured.
    pub total_ms: f64,
    /// Are both ways measured?
    pub is_round_trip: bool,
    /// Where the largest part of it goes.
    pub place: Place,
    /// That part.
    pub ms: f64,
}

impl Cause {
    /// It in a sentence.
    pub fn sentence(&self) -> String {
        let what = if self.is_round_trip { "round trip" } else { "delay of one way" };
        format!(
            "traffic.{} has a mean {what} of {} ms, {} of them {}.",
            self.traffic,
            digits(self.total_ms),
            digits(self.ms),
            self.place.words()
        )
    }
}

/// Of each entry whose users notice the delay of its packets.
pub(super) fn causes(scenario: &Scenario, rows: &Rows) -> Vec<Cause> {
    scenario.traffic.iter().filter_map(|(name, entry)| cause(scenario, rows, name, entry)).collect()
}

/// Why algorithms did nothing: a sentence for each that dropped and marked no packet.
pub(super) fn idle_laws(scenario: &Scenario, rows: &Rows) -> Vec<String> {
    let told = rows.queues.iter().filter(|row| row.member().is_none()).filter_map(|row| {
        let direction = row.direction()?;
        let law = scenario.only_law(row.homes()?, direction)?;
        let (name, target_ms) = (law.name()?, law.target_ms()?);
        let acts = row.number("dropped_aqm_packets")? + row.number("marked_packets")?;
        let p99_ms = row.number("sojourn_p99_ms").filter(|_| acts == 0.0)?;
        Some(format!(
            "{name} dropped nothing {}: 99 % of packets left its queue within {} ms, and its target is {} ms.",
            direction.stream(),
            digits(p99_ms),
            digits(target_ms)
        ))
    });
    told.collect()
}

fn cause(scenario: &Scenario, rows: &Rows, name: &str, entry: &traffic::Entry) -> Option<Cause> {
    let watched = |row: &&Row| {
        row.traffic() == name && row.direction().is_some_and(|way| entry.app.watches(way))
    };
    let mut parts: Vec<(Place, f64)> = Vec::new();
    let path_ms = path_ms(scenario, entry);
    for row in rows.flows.iter().filter(watched) {
        let (mean_ms, least_ms) = (row.number("latency_mean_ms")?, row.number("latency_min_ms")?);
        let way = row.direction()?;
        let path_ms = path_ms.min(least_ms);
        let waits_ms = mean_ms - path_ms;
        parts.push((Place::Path, path_ms));
        // The chance to ask comes anywhere within a MAP interval.
        let mean_chance_ms = scenario.upstream_channel.map_interval_ms / 2.0;
        let is_granted = has_grants(scenario, entry, way);
        let least_wait_ms = if is_granted { least_ms - path_ms + mean_chance_ms } else { 0.0 };
        let grants_ms = least_wait_ms.min(waits_ms);
        parts.push((Place::Grants, grants_ms));
        let behind = if is_granted && !is_loaded(scenario, entry, way) {
            for_grants(scenario, rows, entry)
        } else {
            Place::Queue(way)
        };
        parts.push((behind, waits_ms - grants_ms));
    }
    let total_ms = parts.iter().map(|(_, ms)| ms).sum();
    let sum =
        |place: Place| parts.iter().filter(|(other, _)| *other == place).map(|(_, ms)| ms).sum();
    let sums = parts.iter().map(|(place, _)| (*place, sum(*place)));
    let (place, ms) =
        sums.reduce(|most: (Place, f64), one| if one.1 > most.1 { one } else { most })?;
    let is_round_trip = entry.app.is_two_way();
    Some(Cause { traffic: name.to_owned(), total_ms, is_round_trip, place, ms })
}

/// Does anything of its own homes load this direction?
fn is_loaded(scenario: &Scenario, entry: &traffic::Entry, way: Direction) -> bool {
    let group = scenario.group_of(entry);
    let mut own = scenario.traffic.values().filter(|other| scenario.group_of(other) == group);
    own.any(|other| other.app.loads(way))
}

/// What the wait of a modem is for that has little to send: its requests collide, or else answers are slow.
fn for_grants(scenario: &Scenario, rows: &Rows, entry: &traffic::Entry) -> Place {
    let homes = scenario.group(scenario.group_of(entry)).name;
    let flows = rows.service_flows.iter();
    let own =
        flows.filter(|row| row.homes() == Some(homes) && row.direction() == Some(Direction::Up));
    let count = |column| own.clone().filter_map(|row| row.number(column)).sum::<f64>();
    let (requests, collisions) = (count("mac_requests"), count("mac_collisions"));
    if requests > 0.0 && collisions >= MANY_COLLISIONS * requests {
        return Place::Contention(collisions / requests);
    }
    Place::Grants
}

fn has_grants(scenario: &Scenario, entry: &traffic::Entry, way: Direction) -> bool {
    let modem = &scenario.group(scenario.group_of(entry)).upstream.modem;
    way == Direction::Up && scenario.access == AccessSpec::Docsis && *modem != ModemSpec::Link
}

/// One way over cable and link of the first server, in ms.
fn path_ms(scenario: &Scenario, entry: &traffic::Entry) -> f64 {
    let km = scenario.group(scenario.group_of(entry)).distance_km;
    let access = match &scenario.access {
        AccessSpec::Docsis => scenario.cable.delay(km),
        AccessSpec::Fibre(fibre) => fibre.propagation(km),
    };
    let servers = entry.app.servers();
    let server = servers.first().and_then(|(_, name)| scenario.servers.get(*name));
    access.ms_f64() + server.map_or(0.0, |server| server.delay_ms)
}
