//! What a run contributes to a verdict.

use std::collections::BTreeMap;

use serde::Serialize;

use super::measures::MEASURES;
use super::thresholds::{
    APPLICATIONS, Application, CALL, CALL_RATE, GAME, PAGE_LOAD, VIDEO_CALL, VIDEO_RATE,
    VIDEO_STALLED, VIDEO_START, WAIT_MEAN, waits_of,
};
use crate::causes::{Cause, causes};
use crate::metrics::read::{FEWEST_PACKETS, Row, Rows};
use crate::metrics::{
    ByLoad, SLOW_START_S, frameless, heard, longest_wait_ms, page_load, queue_values, round_trips,
    start_wait_s, unknown, unprobed, with_given_up,
};
use crate::remarks::{empty_queues, idle_laws, sanctioned};
use crate::shares::{Share, UNKNOWN_LOAD, kept_percent, transfers};
use crate::words::grouped;
use sojourn_engine::packet::Direction;
use sojourn_scenario::apps::{AppSpec, Bulk};
use sojourn_scenario::{Roles, Scenario, Unwatched, as_line, is_idle, line_of, traffic};

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
    /// Is it a real program, which no idle line has?
    #[serde(skip)]
    pub is_program: bool,
    /// Are there several of it: in several homes, or over several connections?
    pub is_several: bool,
    /// Was anything of it delivered?
    pub sent: bool,
    /// Has it a grade?
    pub graded: bool,
}

/// What an entry or a queue is graded as in a run, with its values: of both directions the worse.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct Tested {
    pub application: &'static str,
    /// The entry; empty for a queue.
    pub traffic: String,
    pub values: Values,
    /// Why it cannot have a grade, if it cannot.
    pub missing: Option<String>,
    /// Is something of it measured at both ends?
    pub has_both_ends: bool,
    /// The value that is the time of what had not come when the run ended, and the most that it may be: it takes longer.
    pub cut: Option<(&'static str, f64)>,
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
    /// The settings that decide what its idle line is, and those that it has as such a line itself.
    pub(super) lines: [String; 2],
    /// Does no bulk traffic begin before the run ends?
    pub(super) is_idle: bool,
    /// Did real programs send while it went on?
    pub(super) is_emulated: bool,
    /// The directions that are loaded while nothing watches the delay.
    pub(super) unwatched: Vec<Unwatched>,
    /// The directions that bulk traffic loads, each with whether games, calls and tests judge the delay there.
    pub(super) loads: Vec<(Direction, bool)>,
    pub(super) tests: Vec<Tested>,
    /// What each bulk entry got of its part.
    pub(super) transfers: Vec<Share>,
    /// The round trips of each game and call that measures them, by whether it is no game and by name.
    pub(super) round_trips: BTreeMap<(bool, String), ByLoad>,
    /// What its line carries.
    pub(super) carried_mbit: Vec<f64>,
    /// Where the time goes of what users notice.
    pub causes: Vec<Cause>,
    /// Why algorithms did nothing.
    pub(super) idle_laws: Vec<String>,
    /// What a reader must know of low-latency aggregates.
    pub(super) remarks: Vec<String>,
    /// The roles that it has with its low-latency aggregates uncoupled, if they are coupled.
    pub(super) uncoupled: Option<Roles>,
    /// The facts of its first half.
    pub(super) first_half: Option<Box<Facts>>,
}

impl Facts {
    /// The facts of a run of this scenario with these tables.
    pub fn of(scenario: &Scenario, rows: &Rows) -> Self {
        let rows = &*with_given_up(scenario, rows);
        let (whole, half_s) = (scenario, scenario.half_s());
        let half = rows.first_half(half_s, whole.counted_s());
        let half =
            half.map(|rows| Self::of(&Scenario { duration_s: half_s, ..scenario.clone() }, &rows));
        let mut transfers = transfers(scenario, rows);
        transfers.retain(|one| scenario.is_judged(&scenario.traffic[&one.traffic]));
        let is_starved = |one: &Share| one.way == Direction::Up && one.is_starved();
        let limits =
            scenario.member_limits().into_iter().filter(|_| transfers.iter().any(is_starved));
        let own = whole.queues_without_aqm().into_iter().chain(sanctioned(rows));
        let remarks = empty_queues(rows).into_iter().chain(own).chain(limits).collect();
        let kept = kept_rates(scenario, rows);
        let idle_laws = idle_laws(scenario, rows);
        let seen = scenario.metrics.homes.as_deref().map(|homes| seen_from(scenario, rows, homes));
        let (scenario, rows) =
            seen.as_ref().map_or((scenario, rows), |(scenario, rows)| (scenario, rows));
        let tests = APPLICATIONS.iter().flat_map(|one| tested(one, scenario, rows));
        let tests = tests.chain(kept).collect();
        let measures = MEASURES.iter().filter_map(|m| Some((m.key, m.value(scenario, rows)?)));
        let causes = causes(scenario, rows);
        Self {
            seed: scenario.seed,
            traffic: entries(scenario, rows),
            measures: measures.collect(),
            roles: Roles::of(whole),
            lines: [line_of(whole), as_line(whole)].map(|line| line.to_string()),
            is_idle: is_idle(whole),
            is_emulated: is_emulated(whole),
            unwatched: scenario.unwatched(|traffic, way| {
                let is_of = |row: &&Row| row.traffic() == traffic && row.direction() == Some(way);
                let goodputs =
                    rows.flows.iter().filter(is_of).map(|row| row.number("goodput_mbps"));
                goodputs.flatten().any(|mbps| mbps > 0.0)
            }),
            loads: loads(scenario),
            tests,
            transfers,
            round_trips: round_trips(scenario, rows),
            carried_mbit: scenario.carried_mbit(),
            // Parts of the delay are known of the whole run alone.
            first_half: half.map(|half| Box::new(Self { causes: causes.clone(), ..half })),
            causes,
            idle_laws,
            remarks,
            uncoupled: whole.uncoupled().map(|it| Roles::of(&it)),
        }
    }

    /// The mean time that packets of an entry wait in queues, of both directions together.
    pub(super) fn waited_ms(&self, traffic: &str) -> f64 {
        let own = self.causes.iter().filter(|cause| cause.traffic == traffic);
        own.flat_map(|cause| &cause.parts).filter(|one| one.part.is_queue()).map(|one| one.ms).sum()
    }

    /// The directions in which bulk traffic goes.
    pub fn loaded(&self) -> impl Iterator<Item = Direction> {
        let loads = |direction| self.bulk().any(|(_, payload)| payload.direction == direction);
        Direction::BOTH.into_iter().filter(move |direction| loads(*direction))
    }

    /// The real programs of which something was delivered.
    pub(super) fn programs(&self) -> impl Iterator<Item = &str> {
        let sent = self.traffic.iter().filter(|entry| entry.sent && entry.is_program);
        sent.map(|entry| entry.name.as_str())
    }

    /// The bulk entries of which something was delivered.
    pub(super) fn bulk(&self) -> impl Iterator<Item = (&Entry, Payload)> {
        self.traffic.iter().filter(|entry| entry.sent).filter_map(|one| Some((one, one.bulk?)))
    }
}

fn is_emulated(scenario: &Scenario) -> bool {
    let mut apps = scenario.traffic.values().map(|entry| &entry.app);
    apps.any(|app| matches!(app, AppSpec::Real(of) if of.record.is_none()))
}

/// What films and calls whose rates follow the line keep of what that makes of them: of both directions the less.
fn kept_rates(scenario: &Scenario, rows: &Rows) -> Vec<Tested> {
    let all = Direction::BOTH.into_iter().flat_map(|way| kept_percent(scenario, rows, way));
    let judged = all.filter(|(name, _)| scenario.is_judged(&scenario.traffic[name]));
    let tested = |(traffic, percents): (String, Vec<Option<f64>>)| {
        let is_film = matches!(scenario.traffic[&traffic].app, AppSpec::Video(_));
        let application = if is_film { VIDEO_RATE } else { CALL_RATE };
        let own = rows.flows.iter().filter(|row| row.traffic() == traffic);
        let missing = own.filter_map(|row| unknown(false, scenario, row)).next();
        let beside = || format!("{UNKNOWN_LOAD} traffic.{traffic}");
        let missing = percents.contains(&None).then(beside).or(missing);
        let known = percents.into_iter().flatten().reduce(f64::min);
        let least = known.filter(|_| missing.is_none());
        let metric = Application::named(application).good[0].metric;
        let values = Values::from([(metric, least)]);
        Tested { application, traffic, values, missing, ..Tested::default() }
    };
    grouped(judged).into_iter().map(tested).collect()
}

/// The traffic and the rows of one group of homes, with the queues that it shares.
fn seen_from(scenario: &Scenario, rows: &Rows, homes: &str) -> (Scenario, Rows) {
    let mut seen = scenario.clone();
    seen.traffic.retain(|_, entry| scenario.is_judged(entry));
    let is_seen = |row: &&Row| {
        let is_own = row.traffic().is_empty() || seen.traffic.contains_key(row.traffic());
        is_own && row.homes().is_none_or(|of| of == homes)
    };
    let of = |rows: &[Row]| rows.iter().filter(is_seen).cloned().collect();
    let [flows, pages, queues, delay_parts] =
        [&rows.flows, &rows.pages, &rows.queues, &rows.delay_parts].map(|rows| of(rows));
    let rows = Rows { flows, pages, queues, delay_parts, first_half: Vec::new() };
    (seen, rows)
}

fn entries(scenario: &Scenario, rows: &Rows) -> Vec<Entry> {
    let entry = |(name, entry): (&String, &traffic::Entry)| {
        let app = &entry.app;
        let own = || rows.flows.iter().filter(|row| row.traffic() == name);
        let is_graded = |row: &Row| APPLICATIONS.iter().any(|one| one.is_of(row));
        let payload = || Some(Payload { sort: Bulk::of(app)?, direction: app.bulk_direction()? });
        Entry {
            name: name.clone(),
            kind: app.word(),
            bulk: payload(),
            is_program: matches!(app, AppSpec::Real(_)),
            is_several: scenario.group(scenario.group_of(entry)).count > 1 || app.transfers() > 1,
            sent: own().any(|row| row.number("throughput_mbps") != Some(0.0))
                || scenario.surely_counts(entry),
            graded: own().any(is_graded) || Direction::BOTH.iter().any(|way| app.has_share(*way)),
        }
    };
    // Nobody notices what routers send by themselves.
    let own = scenario.traffic.iter().filter(|(_, one)| !one.app.parameters().is_of_router());
    own.map(entry).collect()
}

fn loads(scenario: &Scenario) -> Vec<(Direction, bool)> {
    let is_loaded = |way: &Direction| scenario.traffic.values().any(|entry| entry.app.loads(*way));
    let ways = Direction::BOTH.into_iter().filter(is_loaded);
    ways.map(|way| (way, scenario.is_watched(way))).collect()
}

fn tested(application: &Application, scenario: &Scenario, rows: &Rows) -> Vec<Tested> {
    if let Some(of) = waits_of(application.name) {
        return Vec::from_iter(waited(application, scenario, rows, of));
    }
    let flows = rows.flows.iter().filter(|row| application.is_of(row));
    let by_entry = grouped(flows.map(|row| (row.traffic(), row))).into_iter();
    by_entry.map(|(entry, flows)| of_entry(application, scenario, rows, entry, &flows)).collect()
}

/// The test of what is waited in a direction or, where nobody waits, of its queues.
fn waited(
    application: &Application,
    scenario: &Scenario,
    rows: &Rows,
    (way, is_of_queues): (Direction, bool),
) -> Option<Tested> {
    let is_loaded = loads(scenario).iter().any(|(of, _)| *of == way);
    let queues = queue_values(rows, way, is_loaded)?;
    let heard = heard(scenario, rows, way);
    let values = match is_of_queues {
        true => heard.is_empty().then(|| Values::from(queues))?,
        false => Values::from([(WAIT_MEAN, longest_wait_ms(scenario, rows, &heard, way)?)]),
    };
    let scarce = || format!("fewer than {FEWEST_PACKETS} packets of who waits were sent");
    let missing = values.values().all(Option::is_none).then(scarce);
    Some(Tested { application: application.name, values, missing, ..Tested::default() })
}

/// The test of an entry with these flows.
fn of_entry(
    application: &Application,
    scenario: &Scenario,
    rows: &Rows,
    entry: &str,
    flows: &[&Row],
) -> Tested {
    let name = application.name;
    let page = |row: &Row| Some(page_load(scenario, rows, row.traffic())).filter(|of| of.is_graded);
    let is_late = |row: &Row| start_wait_s(scenario, row) > Some(SLOW_START_S);
    let own = |row: &Row, metric| match metric {
        PAGE_LOAD => page(row)?.least_s,
        VIDEO_START => start_wait_s(scenario, row),
        VIDEO_STALLED if is_late(row) => row.number(metric).or(Some(100.0)),
        _ => row.number(metric),
    };
    let worst = |metric| {
        let values = flows.iter().filter_map(|row| own(row, metric));
        let values = values.filter(|_| !flows.iter().any(|row| row.is_unheard(metric)));
        let is_better_more = application.is_better_more(metric);
        (metric, values.reduce(if is_better_more { f64::min } else { f64::max }))
    };
    let most = |row: &&Row, metric: &str| match metric {
        PAGE_LOAD => page(row).filter(|of| of.median_s().is_none()).map(|of| of.most_s),
        VIDEO_START => (row.number(metric) != start_wait_s(scenario, row)).then_some(f64::INFINITY),
        _ => None,
    };
    let cut = |metric| {
        let most = flows.iter().filter_map(|row| most(row, metric)).reduce(f64::max);
        most.map(|most| (metric, most))
    };
    Tested {
        application: name,
        traffic: entry.to_owned(),
        values: application.metrics().into_iter().map(worst).collect(),
        missing: flows
            .iter()
            .find_map(|row| unknown([GAME, CALL].contains(&name), scenario, row))
            .or_else(|| frameless(entry, flows).filter(|_| name == VIDEO_CALL))
            .or_else(|| unprobed(scenario, entry, flows)),
        has_both_ends: scenario.traffic.get(entry).is_some_and(|of| of.app.is_two_way()),
        cut: application.metrics().into_iter().find_map(cut),
    }
}
