//! What a run contributes to a verdict.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::causes::{Cause, causes, idle_laws};
use super::measures::MEASURES;
use super::missing::{Missing, SHORTEST_S};
use super::pages::page_load;
use super::rows::{Row, Rows};
use super::shares::{Transfer, is_shared, transfers};
use super::thresholds::{
    APPLICATIONS, Application, CALL, GAME, GOOD_QUEUE_MS, PAGE_LOAD, QUEUE_LOST, QUEUE_MEAN,
    QUEUE_P99, SLOW_START_S, VIDEO, VIDEO_STALLED, VIDEO_START, queue_of,
};
use crate::scores::qoe::GAME_ACCESS_MS;
use sojourn_access::Group;
use sojourn_engine::packet::{Direction, Ecn};
use sojourn_scenario::apps::AppSpec;
use sojourn_scenario::apps::Bulk;
use sojourn_scenario::{Load, Roles, Scenario, Unwatched, is_idle, line_of, traffic};

/// Values by their names.
pub(super) type Values = BTreeMap<&'static str, Option<f64>>;

/// Bulk traffic, as sentences and comparisons see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Payload {
    /// Its sort.
    pub sort: Bulk,
    /// Which way its payload goes.
    pub direction: Direction,
}

/// A traffic entry.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What it is, in words: its purpose or its kind.
    pub kind: String,
    /// What it sends in bulk; `None` for other traffic.
    pub bulk: Option<Payload>,
    /// The number of homes that have it.
    pub homes: u16,
    /// Are there several of it: in several homes, or over several connections?
    pub is_several: bool,
    /// Was anything of it delivered?
    pub sent: bool,
    /// Has it a grade?
    pub graded: bool,
}

/// What is graded in a run, with its values: of several entries those of the worst.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Tested {
    pub application: &'static str,
    pub values: Values,
    /// Why it cannot have a grade, if it cannot.
    pub missing: Option<Missing>,
    /// Is something of it measured at both ends?
    pub has_both_ends: bool,
    /// What the summary adds, such as how pages were counted.
    pub note: &'static str,
}

/// What a run contributes to a verdict: its measures, what it has for grades, and what its traffic is.
#[derive(Clone, PartialEq, Debug)]
pub struct Facts {
    /// The seed.
    pub(super) seed: u64,
    /// The traffic entries.
    pub traffic: Vec<Entry>,
    /// The measures that apply, by key; `None` where nothing was measured.
    pub measures: Values,
    /// Load, line and choices: runs with another load do not answer the same question.
    pub(super) roles: Roles,
    /// The settings that decide what its idle line is.
    pub(super) line: String,
    /// Does no bulk traffic begin before the run ends?
    pub(super) is_idle: bool,
    /// The directions that are loaded while nothing watches the delay.
    pub(super) unwatched: Vec<Unwatched>,
    /// The directions whose queues games and calls judge.
    pub(super) watched: Vec<Direction>,
    /// The low-latency marks of entries that set their own.
    pub(super) marks: BTreeMap<String, &'static str>,
    pub(super) tests: Vec<Tested>,
    /// What each bulk entry got of its part.
    pub(super) transfers: Vec<Transfer>,
    /// The mean round trip of each game and call that measures it, in ms.
    pub(super) round_trips_ms: BTreeMap<String, f64>,
    /// The mean rate of each video, in Mbps.
    pub(super) video_mbps: BTreeMap<String, f64>,
    /// What service, channels and core carry in each direction, in Mbit: shares of other lines compare nothing.
    pub(super) carried_mbit: Vec<f64>,
    /// Does an upload bring grants that the packets of others use too?
    pub(super) brings_grants: bool,
    /// How much of its time each game and call that measures round trips is under the load of its own homes.
    pub(super) loads: BTreeMap<String, Load>,
    /// Where the time goes of what users notice.
    pub causes: Vec<Cause>,
    /// Why algorithms did nothing.
    pub(super) idle_laws: Vec<String>,
}

impl Facts {
    /// The facts of a run of this scenario with these tables.
    pub fn of(scenario: &Scenario, rows: &Rows) -> Self {
        let (roles, line, is_idle) =
            (Roles::of(scenario), line_of(scenario).to_string(), is_idle(scenario));
        let mut transfers = transfers(scenario, rows);
        transfers.retain(|one| {
            scenario.traffic.get(&one.name).is_some_and(|entry| scenario.is_judged(entry))
        });
        let seen = scenario.metrics.homes.as_deref().map(|homes| seen_from(scenario, rows, homes));
        let (scenario, rows) =
            seen.as_ref().map_or((scenario, rows), |(scenario, rows)| (scenario, rows));
        let tests: Vec<_> =
            APPLICATIONS.iter().filter_map(|one| tested(one, scenario, rows)).collect();
        let measures = MEASURES.iter().filter_map(|m| Some((m.key, m.value(scenario, rows)?)));
        Self {
            seed: scenario.seed,
            traffic: entries(scenario, rows),
            measures: measures.collect(),
            roles,
            line,
            is_idle,
            unwatched: scenario.unwatched(),
            watched: watched(scenario),
            marks: marks(scenario),
            tests,
            transfers,
            round_trips_ms: round_trips_ms(scenario, rows),
            video_mbps: video_mbps(rows),
            carried_mbit: carried_mbit(scenario),
            brings_grants: brings_grants(scenario),
            loads: loads(scenario),
            causes: causes(scenario, rows),
            idle_laws: idle_laws(scenario, rows),
        }
    }

    /// A value that an application is graded by.
    pub(super) fn tested(&self, application: &str, metric: &str) -> Option<f64> {
        let found = self.tests.iter().find(|test| test.application == application)?;
        found.values.get(metric).copied().flatten()
    }

    /// Is the queue of a direction not good?
    pub(super) fn stands(&self, direction: Direction) -> bool {
        self.tested(queue_of(direction), QUEUE_MEAN) > Some(GOOD_QUEUE_MS)
    }

    /// The directions in which bulk traffic goes.
    pub fn loaded(&self) -> impl Iterator<Item = Direction> {
        let loads = |direction| self.bulk().any(|(_, payload)| payload.direction == direction);
        Direction::BOTH.into_iter().filter(move |direction| loads(*direction))
    }

    /// The bulk entries of which something was delivered.
    pub(super) fn bulk(&self) -> impl Iterator<Item = (&Entry, Payload)> {
        self.traffic.iter().filter(|entry| entry.sent).filter_map(|one| Some((one, one.bulk?)))
    }
}

/// The traffic and the rows of one group of homes, with the queues that it shares.
fn seen_from(scenario: &Scenario, rows: &Rows, homes: &str) -> (Scenario, Rows) {
    let mut seen = scenario.clone();
    seen.traffic.retain(|_, entry| scenario.is_judged(entry));
    let of_traffic = |of: &[Row]| {
        of.iter().filter(|row| seen.traffic.contains_key(row.traffic())).cloned().collect()
    };
    let of_homes = |of: &[Row]| {
        of.iter().filter(|row| row.homes().is_none_or(|of| of == homes)).cloned().collect()
    };
    let rows = Rows {
        flows: of_traffic(&rows.flows),
        pages: of_traffic(&rows.pages),
        queues: of_homes(&rows.queues),
        delay_parts: of_traffic(&rows.delay_parts),
    };
    (seen, rows)
}

/// The directions in which a game, call or video call that may have a grade watches the delay while bulk traffic
/// loads it. One game or call that goes one way has none.
fn watched(scenario: &Scenario) -> Vec<Direction> {
    let has_grade = |app: &AppSpec| app.is_two_way() || matches!(app, AppSpec::VideoCall(_));
    let watches = |way: &Direction| {
        let mut judged = scenario.traffic.values().filter(|entry| scenario.is_judged(entry));
        judged.any(|entry| entry.app.watches(*way) && has_grade(&entry.app))
    };
    let unwatched = scenario.unwatched();
    let is_unwatched = |way: &Direction| unwatched.iter().any(|one| one.direction == *way);
    Direction::BOTH.into_iter().filter(|way| watches(way) && !is_unwatched(way)).collect()
}

/// The low-latency marks of entries that set their own: NQB, L4S.
fn marks(scenario: &Scenario) -> BTreeMap<String, &'static str> {
    let mark = |(name, entry): (&String, &traffic::Entry)| {
        let mark = match (entry.labels.dscp, entry.datagram_ecn()) {
            (NQB, _) => "NQB",
            (_, Ecn::Ect1) => "ECT(1)",
            _ => return None,
        };
        Some((name.clone(), mark))
    };
    scenario.traffic.iter().filter_map(mark).collect()
}

/// The code point of traffic that builds no queue (RFC 9956).
const NQB: u8 = 45;

fn entries(scenario: &Scenario, rows: &Rows) -> Vec<Entry> {
    let is_judged = |row: &&Row| APPLICATIONS.iter().any(|a| is_of(a, row));
    let mut graded: BTreeSet<&str> =
        rows.flows.iter().filter(is_judged).map(Row::traffic).collect();
    let is_shared =
        |entry: &traffic::Entry| Direction::BOTH.iter().any(|w| is_shared(&entry.app, *w));
    let shared = scenario.traffic.iter().filter(|(_, entry)| is_shared(entry));
    graded.extend(shared.map(|(name, _)| name.as_str()));
    let is_sent = |row: &&Row| row.number("throughput_mbps") != Some(0.0);
    let sent: BTreeSet<&str> = rows.flows.iter().filter(is_sent).map(Row::traffic).collect();
    let homes_of = |entry: &traffic::Entry| scenario.group(scenario.group_of(entry)).count;
    let payload =
        |app: &AppSpec| Some(Payload { sort: Bulk::of(app)?, direction: app.bulk_direction()? });
    let entry = |(name, entry): (&String, &traffic::Entry)| Entry {
        name: name.clone(),
        kind: entry.app.word(),
        bulk: payload(&entry.app),
        homes: homes_of(entry),
        is_several: homes_of(entry) > 1 || entry.app.transfers() > 1,
        sent: sent.contains(name.as_str()) || is_meant(scenario, &entry.app),
        graded: graded.contains(name.as_str()),
    };
    scenario.traffic.iter().map(entry).collect()
}

/// Does bulk traffic load the line in the time that is counted, whatever came of it?
fn is_meant(scenario: &Scenario, app: &AppSpec) -> bool {
    let time = app.surely_loads_s();
    app.is_bulk() && time.start.max(scenario.metrics.from_s) < time.end.min(scenario.duration_s)
}

fn is_of(application: &Application, row: &Row) -> bool {
    application.quality.is_some() && row.quality() == application.quality
}

fn tested(application: &Application, scenario: &Scenario, rows: &Rows) -> Option<Tested> {
    let is_queue = |way: &Direction| queue_of(*way) == application.name;
    if let Some(direction) = Direction::BOTH.into_iter().find(is_queue) {
        let values = queue_values(scenario, rows, direction)?;
        let (missing, has_both_ends) = (None, false);
        let application = application.name;
        return Some(Tested { application, values, missing, has_both_ends, note: "" });
    }
    let flows: Vec<&Row> = rows.flows.iter().filter(|row| is_of(application, row)).collect();
    if flows.is_empty() {
        return None;
    }
    let mut note = "";
    let mut missing = match application.name {
        GAME | CALL => other_end(&flows, scenario),
        _ => None,
    };
    if application.name == VIDEO {
        missing = flows.iter().find_map(|row| short_video(scenario, row));
    }
    let mut of_flow = |row: &Row, metric: &'static str| {
        if metric == VIDEO_STALLED && begins_too_late(row) {
            return row.number(metric).or(Some(100.0));
        }
        if metric != PAGE_LOAD {
            return row.number(metric);
        }
        let found = page_load(scenario, rows, row.traffic());
        if found.is_graded && found.unfinished > 0 {
            note = "counting pages unfinished at the end as loaded then";
        }
        if !found.is_graded {
            missing = Some(Missing::TooFewPages);
        }
        found.median_s.filter(|_| found.is_graded)
    };
    let worst = |(metric, at_least): (&'static str, bool)| {
        let values = flows.iter().filter_map(|row| of_flow(row, metric));
        (metric, values.reduce(if at_least { f64::min } else { f64::max }))
    };
    let values = application.metrics().into_iter().map(worst).collect();
    let has_both_ends = flows.iter().any(|row| is_two_way(scenario, row));
    Some(Tested { application: application.name, values, missing, has_both_ends, note })
}

/// A video that has played for so short a time that its stalls are unknown, unless it begins too late.
fn short_video(scenario: &Scenario, row: &Row) -> Option<Missing> {
    let AppSpec::Video(video) = &scenario.traffic.get(row.traffic())?.app else { return None };
    let wait_s = row.number(VIDEO_START)?;
    let latest_s = (video.start_s + video.start_spread_s - scenario.metrics.from_s).max(0.0);
    let is_short = scenario.counted_s() - latest_s - wait_s < SHORTEST_S;
    (is_short && !begins_too_late(row))
        .then(|| Missing::ShortVideo { traffic: row.traffic().to_owned() })
}

fn begins_too_late(row: &Row) -> bool {
    row.number(VIDEO_START) > Some(SLOW_START_S)
}

/// What keeps the other end of games or calls from being known: one that goes one way, or one of which few packets
/// arrived.
fn other_end(flows: &[&Row], scenario: &Scenario) -> Option<Missing> {
    let one_way = flows.iter().find_map(|row| {
        let app = &scenario.traffic.get(row.traffic())?.app;
        let lacks = Direction::BOTH.into_iter().find(|direction| !app.watches(*direction))?;
        Some(Missing::OneWay { traffic: row.traffic().to_owned(), lacks })
    });
    let scarce = || {
        let row = flows.iter().find(|row| row.is_scarce("delivered_packets"))?;
        Some(Missing::TooFewPackets { traffic: row.traffic().to_owned() })
    };
    one_way.or_else(scarce)
}

/// The waits in the longest queue of a direction, of members apart, if bulk traffic loads the direction or a
/// queue stands in it: one packet in ten waits longer there than a good game may in all. Films, pages and
/// acknowledgements make one too.
fn queue_values(scenario: &Scenario, rows: &Rows, direction: Direction) -> Option<Values> {
    let of_way = rows.queues.iter().filter(|row| row.direction() == Some(direction));
    let queues: Vec<&Row> = of_way.filter(|row| !row.is_scarce("departed_packets")).collect();
    let is_loaded = rows.flows.iter().any(|row| {
        let entry = scenario.traffic.get(row.traffic());
        row.direction() == Some(direction) && entry.is_some_and(|one| one.app.loads(direction))
    });
    let stands = queues.iter().any(|row| row.number("sojourn_p90_ms") > Some(GAME_ACCESS_MS));
    let most =
        |of: &dyn Fn(&Row) -> Option<f64>| queues.iter().filter_map(|row| of(row)).reduce(f64::max);
    let mean_ms = most(&|row| row.number("sojourn_mean_ms")).filter(|_| is_loaded || stands)?;
    let lost = |row: &Row| {
        let count = |column| row.number(column).unwrap_or_default();
        let dropped = count("dropped_overflow_packets") + count("dropped_aqm_packets");
        Some(100.0 * dropped / (dropped + row.number("departed_packets")?).max(1.0))
    };
    let p99_ms = most(&|row| row.number("sojourn_p99_ms"));
    Some(Values::from([
        (QUEUE_MEAN, Some(mean_ms)),
        (QUEUE_P99, p99_ms),
        (QUEUE_LOST, Some(most(&lost).unwrap_or_default())),
    ]))
}

fn video_mbps(rows: &Rows) -> BTreeMap<String, f64> {
    let rates = rows
        .flows
        .iter()
        .filter_map(|row| Some((row.traffic().to_owned(), row.number("video_rate_mbps")?)));
    rates.collect()
}

fn carried_mbit(scenario: &Scenario) -> Vec<f64> {
    let time = scenario.metrics.from_s..scenario.duration_s;
    let of = |way: Direction| {
        let core = scenario.core_mbit(way, &time).fold(f64::INFINITY, f64::min);
        let of_group = |(number, group): (usize, Group<'_>)| {
            let service = scenario.service_mbit(number, way, time.start, &time);
            let channel = scenario.channel_mbps(&group, way).unwrap_or(f64::INFINITY);
            service.min(core).min(channel * scenario.counted_s())
        };
        (0..).zip(scenario.groups()).map(of_group).collect::<Vec<f64>>()
    };
    let servers = scenario.servers.values().map(|server| server.rate_mbps);
    Direction::BOTH.into_iter().flat_map(of).chain(servers).collect()
}

fn brings_grants(scenario: &Scenario) -> bool {
    scenario.traffic.values().any(|entry| {
        let upstream = scenario.group(scenario.group_of(entry)).upstream;
        entry.app.loads(Direction::Up) && scenario.network().map_interval(upstream).is_some()
    })
}

fn loads(scenario: &Scenario) -> BTreeMap<String, Load> {
    let watching = scenario.traffic.iter().filter(|(_, entry)| entry.app.is_two_way());
    watching.map(|(name, entry)| (name.clone(), scenario.load_of(entry))).collect()
}

fn is_two_way(scenario: &Scenario, row: &Row) -> bool {
    scenario.traffic.get(row.traffic()).is_some_and(|entry| entry.app.is_two_way())
}

/// The mean of the round trips that each game and call measures, of both ends the greater one, as tables have.
fn round_trips_ms(scenario: &Scenario, rows: &Rows) -> BTreeMap<String, f64> {
    let mut most: BTreeMap<String, f64> = BTreeMap::new();
    for row in rows.flows.iter().filter(|row| is_two_way(scenario, row)) {
        let Some(mean_ms) = row.number("rtt_mean_ms") else { continue };
        let of_entry = most.entry(row.traffic().to_owned()).or_insert(mean_ms);
        *of_entry = of_entry.max(mean_ms);
    }
    most
}
