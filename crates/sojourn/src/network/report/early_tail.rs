//! A warning where the first seconds make the tail: slow start fills a queue once, and the packets of
//! these seconds are the slowest per cent of the run.

use super::super::Simulation;
use sojourn_engine::packet::Direction;
use sojourn_engine::record::Latency;
use sojourn_engine::units::Time;
use sojourn_input::fault;
use sojourn_input::problem::{Remedy, Warning};
use sojourn_results::scores::qoe::GAME_ACCESS_MS;
use sojourn_scenario::Scenario;
use sojourn_scenario::apps::Quality;

/// How long bulk traffic may take to settle: as long as an upload must run to be graded.
const SETTLES_S: f64 = 10.0;
pub(super) const QUANTILE: f64 = 0.99;
/// Five values lie beyond the quantile of so many: fewer say nothing of a tail.
pub(super) const FEWEST: u64 = 500;
/// A tail is the beginning's if it is so many times that of the rest ...
pub(super) const TIMES: f64 = 2.0;
/// ... and longer by what a game has for the whole access network.
const LEAST_MS: f64 = GAME_ACCESS_MS;

/// Latencies of the first seconds of a run.
pub(crate) struct Early {
    at: Time,
    latencies: Vec<Latency>,
}

/// When the first seconds are over: 10 s after the first bulk traffic begins, or half of what the run
/// has left then. `None` if bulk traffic may end: what comes after it has another load.
pub(crate) fn ends_at(scenario: &Scenario) -> Option<Time> {
    let end_s = scenario.duration_s;
    let first_s = scenario.bulk_from_s();
    let first_s = if first_s.is_finite() { first_s } else { 0.0 };
    let settled_s = first_s + SETTLES_S.min((end_s - first_s).max(0.0) / 2.0);
    let is_load_kept = !scenario.traffic.values().any(|entry| entry.app.bulk_may_end(end_s));
    is_load_kept.then(|| Time::from_secs_f64(settled_s))
}

impl Early {
    /// What was measured up to now.
    pub(crate) fn of(run: &Simulation) -> Self {
        let latencies = watched(run).into_iter().map(|one| one.latency.clone()).collect();
        Self { at: run.now, latencies }
    }

    /// A warning, if the first seconds make a tail.
    pub(crate) fn warning(&self, run: &Simulation) -> Option<Warning> {
        let tail = |(number, Watched { what, latency: whole, is_judged }): (usize, Watched<'_>)| {
            if !is_judged {
                return None;
            }
            let rest = whole.since(&self.latencies[number]);
            let [whole, rest] = (rest.count() >= FEWEST)
                .then(|| [whole, &rest].map(|latency| latency.quantile_ms(QUANTILE)))?;
            let (whole, rest) = whole.zip(rest)?;
            (whole >= TIMES * rest && whole - rest >= LEAST_MS).then_some((what, whole, rest))
        };
        let mut tails = watched(run).into_iter().enumerate().filter_map(tail);
        let (what, whole, rest) = tails.next()?;
        let over = match run.scenario.metrics.from_s {
            0.0 => "over the whole run".to_owned(),
            from_s => format!("from {from_s} s on"),
        };
        let others =
            tails.map(|(what, whole, rest)| format!(", {what} {} and {}", ms(whole), ms(rest)));
        let (at_s, others) = (self.at.secs_f64(), others.collect::<String>());
        let (in_all, later) = (ms(whole), ms(rest));
        let remedy = Remedy::of("metrics.from_s", at_s);
        Some(
            fault!(EarlyTail, "metrics.from_s", remedy =>
                "the first {at_s} s make the tail: {what} is {in_all} {over} and {later} after {at_s} s{others}; \
                 {remedy} leaves them out", at_s, what)
            .with("whole_ms", whole)
            .with("rest_ms", rest),
        )
    }
}

struct Watched<'a> {
    what: String,
    latency: &'a Latency,
    /// Is it of the homes that answers are of, or of all?
    is_judged: bool,
}

/// What has a p99 that grades or tables beside an answer show: sojourn times of the measured queues that no game, call or test
/// watches, in the order of readings, and latencies of games.
fn watched(run: &Simulation) -> Vec<Watched<'_>> {
    let is_watched = Direction::BOTH.map(|way| run.scenario.is_watched(way));
    let queues = run.queues().into_iter().filter_map(|placed| {
        let meter = placed.queue.meter().filter(|_| !is_watched[placed.direction as usize])?;
        Some(Watched {
            what: format!("p99 of the {} queue", meter.name()),
            latency: meter.sojourn(),
            is_judged: placed.home.is_none_or(|home| run.scenario.is_judged_home(home)),
        })
    });
    let entries = run.scenario.traffic.iter().enumerate();
    let games = entries.filter(|(_, (_, one))| one.app.parameters().quality() == Quality::Game);
    let latencies = games.flat_map(|(index, (name, entry))| {
        Direction::BOTH.map(|direction| Watched {
            what: format!("p99 of traffic.{name} {}", direction.name()),
            latency: &run.ledger.account(index, direction).latency,
            is_judged: run.scenario.is_judged(entry),
        })
    });
    queues.chain(latencies).collect()
}

pub(super) fn ms(value: f64) -> String {
    if value < 10.0 { format!("{value:.1} ms") } else { format!("{value:.0} ms") }
}
