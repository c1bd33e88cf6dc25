//! Where the time goes of what users notice: the path, the queue of a direction, or the wait for grants.
//! Each part comes from counters of the run.

use super::rows::{Row, Rows};
use super::words::{digits, joined};
use crate::scores::qoe::GAME_ACCESS_MS;
use sojourn_engine::hop::Bottleneck;
use sojourn_engine::packet::Direction;
use sojourn_scenario::{Scenario, traffic};

/// From this share of collided requests on, requests wait because they collide.
const MANY_COLLISIONS: f64 = 0.2;

/// Who waits less than by this factor on the mean of a queue is not in it, or not behind the others.
const SURELY_PASSED: f64 = 1.3;

/// A place where packets spend time.
#[derive(Clone, PartialEq, Debug)]
pub enum Place {
    /// Cable, core and link of the server, with the wait for these links.
    Path,
    /// The queue of a direction, behind other packets and for tokens, by its name if there are several.
    Queue(Direction, Option<String>),
    /// Requests and their grants.
    Grants,
    /// Requests that are repeated, since this share of them collides.
    Contention(f64),
}

impl Place {
    fn words(&self) -> String {
        match self {
            Self::Path => "on the cable and on the links to its server".to_owned(),
            Self::Queue(_, Some(name)) => format!("in the queue '{name}'"),
            Self::Queue(direction, None) => format!("in the {} queue", direction.stream()),
            Self::Grants => "waiting for grants".to_owned(),
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
    /// Its mean latency in each direction in which it is measured.
    pub ways_ms: Vec<(Direction, f64)>,
    /// Where the largest part of it goes.
    pub place: Place,
    /// That part.
    pub ms: f64,
}

impl Cause {
    /// Its mean latency, of both ways together.
    pub fn total_ms(&self) -> f64 {
        self.ways_ms.iter().map(|(_, ms)| ms).sum()
    }

    /// It in a sentence.
    pub fn sentence(&self) -> String {
        let ways =
            self.ways_ms.iter().map(|(way, ms)| format!("{} ms {}", digits(*ms), way.name()));
        let of = match self.ways_ms.len() {
            1 => "these".to_owned(),
            _ => format!("these {}", digits(self.total_ms())),
        };
        format!(
            "traffic.{} takes {} on average; {} of {of} ms are spent {}.",
            self.traffic,
            joined(&ways.collect::<Vec<_>>()),
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
        let (name, target_ms) = (law.name(), law.parameters().target_ms()?);
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
    let mut ways_ms = Vec::new();
    for row in rows.flows.iter().filter(watched) {
        if row.is_scarce("delivered_packets") {
            return None;
        }
        let (mean_ms, least_ms) = (row.number("latency_mean_ms")?, row.number("latency_min_ms")?);
        let way = row.direction()?;
        ways_ms.push((way, mean_ms));
        let path_ms = path_ms(scenario, entry, way).min(least_ms);
        let waits_ms = mean_ms - path_ms;
        // The chance to ask comes anywhere within a MAP interval.
        let mean_chance_ms = scenario.upstream_channel.map_interval_ms / 2.0;
        let is_granted = has_grants(scenario, entry, way);
        let least_wait_ms = if is_granted { least_ms - path_ms + mean_chance_ms } else { 0.0 };
        let grants_ms = least_wait_ms.min(waits_ms);
        let behind = behind(scenario, rows, entry, way, is_granted);
        let most_ms = queued_ms(scenario, rows, entry, way).unwrap_or(f64::INFINITY);
        let behind_ms = (waits_ms - grants_ms).min(most_ms);
        let behind = match behind {
            Place::Queue(way, _) => {
                Place::Queue(way, longest_queue(scenario, rows, entry, way, behind_ms))
            }
            other => other,
        };
        parts.push((Place::Grants, grants_ms));
        parts.push((behind, behind_ms));
        parts.push((Place::Path, mean_ms - grants_ms - behind_ms));
    }
    let sum =
        |place: &Place| parts.iter().filter(|(other, _)| other == place).map(|(_, ms)| ms).sum();
    // The greatest part of one way: a path counts twice, and the queue that spoils a call once.
    let (place, _) = parts.iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(Cause { traffic: name.to_owned(), ways_ms, place: place.clone(), ms: sum(place) })
}

/// The rows of its own homes in a direction.
fn own<'a>(
    scenario: &'a Scenario,
    of: &'a [Row],
    entry: &traffic::Entry,
    way: Direction,
) -> impl Iterator<Item = &'a Row> + Clone {
    let homes = scenario.group(scenario.group_of(entry)).name;
    of.iter().filter(move |row| row.homes() == Some(homes) && row.direction() == Some(way))
}

/// The queues that packets of an entry may pass in a direction.
fn queues<'a>(
    scenario: &'a Scenario,
    rows: &'a Rows,
    entry: &'a traffic::Entry,
    way: Direction,
) -> impl Iterator<Item = &'a Row> {
    let homes = scenario.group(scenario.group_of(entry)).name;
    let own_servers = entry.app.parameters().servers();
    let is_own = move |queue: &str| {
        let server = queue.strip_prefix("server ").and_then(|rest| rest.strip_suffix(way.stream()));
        server.is_none_or(|name| own_servers.iter().any(|(_, own)| *own == name.trim_end()))
    };
    rows.queues.iter().filter(move |row| {
        row.direction() == Some(way)
            && row.member().is_none()
            && row.homes().is_none_or(|of| of == homes)
            && is_own(row.text("queue"))
    })
}

/// What packets wait in queues at most, if a link beyond the access network is what is slow: what 99 % of them
/// wait there. What they wait beyond that is for that link.
fn queued_ms(
    scenario: &Scenario,
    rows: &Rows,
    entry: &traffic::Entry,
    way: Direction,
) -> Option<f64> {
    let (_, server) = *entry.app.parameters().servers().first()?;
    let terms = scenario.group(scenario.group_of(entry)).terms(way);
    let server_mbps = scenario.servers.get(server)?.rate_mbps;
    let core = scenario.core.values().filter_map(|both| both.of(way));
    let slowest_mbps = core.map(Bottleneck::least_mbps).fold(server_mbps, f64::min);
    if slowest_mbps >= terms.peak_mbps {
        return None;
    }
    queues(scenario, rows, entry, way)
        .filter_map(|row| row.number("sojourn_p99_ms"))
        .reduce(|sum, one| sum + one)
}

/// What the wait beyond the least for grants is for. A modem that has little to send waits for grants too:
/// its requests collide, or else answers are slow.
fn behind(
    scenario: &Scenario,
    rows: &Rows,
    entry: &traffic::Entry,
    way: Direction,
    is_granted: bool,
) -> Place {
    let group = scenario.group_of(entry);
    let others = || scenario.traffic.values().filter(|other| scenario.group_of(other) == group);
    let stands = |is_elsewhere: bool| {
        queues(scenario, rows, entry, way).any(|row| {
            let is_own_queue = row.homes().is_some() && !row.text("queue").contains("router");
            (!is_elsewhere || !is_own_queue) && row.number("sojourn_p50_ms") > Some(GAME_ACCESS_MS)
        })
    };
    // Downloads fill the upstream queue with acknowledgements.
    if !is_granted || others().any(|other| other.app.is_bulk()) || stands(true) {
        return Place::Queue(way, None);
    }
    let flows = own(scenario, &rows.service_flows, entry, way);
    let count = |column| flows.clone().filter_map(|row| row.number(column)).sum::<f64>();
    let (requests, collisions) = (count("mac_requests"), count("mac_collisions"));
    if requests > 0.0 && collisions >= MANY_COLLISIONS * requests {
        Place::Contention(collisions / requests)
    } else if others().all(|other| other.app.watches(way)) && !stands(false) {
        Place::Grants
    } else {
        Place::Queue(way, None)
    }
}

/// The name of the queue on the way in which packets wait longest, if there are several and it is plain: they
/// wait as long as the entry does, or less.
fn longest_queue(
    scenario: &Scenario,
    rows: &Rows,
    entry: &traffic::Entry,
    way: Direction,
    wait_ms: f64,
) -> Option<String> {
    let queues: Vec<(&str, f64)> = queues(scenario, rows, entry, way)
        .filter_map(|row| Some((row.text("queue"), row.number("sojourn_mean_ms")?)))
        .collect();
    let plain = queues.iter().filter(|(_, mean_ms)| *mean_ms <= SURELY_PASSED * wait_ms);
    let (name, _) = plain.max_by(|one, other| one.1.total_cmp(&other.1))?;
    (queues.len() > 1).then(|| (*name).to_owned())
}

fn has_grants(scenario: &Scenario, entry: &traffic::Entry, way: Direction) -> bool {
    let upstream = scenario.group(scenario.group_of(entry)).upstream;
    way == Direction::Up && scenario.network().map_interval(upstream).is_some()
}

/// One way over cable, links of the core and link of the first server, in ms.
fn path_ms(scenario: &Scenario, entry: &traffic::Entry, way: Direction) -> f64 {
    let km = scenario.group(scenario.group_of(entry)).distance_km;
    let access = scenario.network().propagation(km);
    let servers = entry.app.parameters().servers();
    let server = servers.first().and_then(|(_, name)| scenario.servers.get(*name));
    let core_ms = scenario.core_delay_ms(way);
    access.ms_f64() + core_ms + server.map_or(0.0, |server| server.delay_ms)
}
