//! What games and calls can tell of traffic that fills a line: they must be in its homes, in its direction and
//! at its time.

use sojourn_input::fault;
use sojourn_input::problem::Warning;
use sojourn_input::words;
use std::ops::Range;

use super::apps::AppSpec;
use super::schema::Scenario;
use super::traffic::Entry;
use sojourn_engine::packet::Direction;

/// Bulk traffic is watched if this share of its time is.
const WATCHED: f64 = 0.5;
/// A game or call is under load if the line is loaded for this share of its time.
const UNDER_LOAD: f64 = 0.9;

/// A direction that is loaded in homes while no game, call or video call notices it.
#[derive(Clone, PartialEq, Debug)]
pub struct Unwatched {
    /// The direction.
    pub direction: Direction,
    /// The entries that load it: one at least.
    pub traffic: Vec<String>,
    /// Does something in the homes of the first one watch the direction, at other times?
    pub is_at_other_times: bool,
    /// The homes of the first one; empty if all traffic is of the same homes.
    pub homes: String,
}

impl Unwatched {
    /// What is said of it, and what would measure it.
    pub fn warning(&self) -> Warning {
        let stream = self.direction.stream();
        let first = &self.traffic[0];
        let load = match self.traffic.len() - 1 {
            0 => format!("traffic.{first} loads"),
            1 => format!("traffic.{first} and another entry load"),
            others => format!("traffic.{first} and {others} other entries load"),
        };
        let (of, with) = match self.homes.as_str() {
            "" => (String::new(), String::new()),
            homes => (format!(" of homes.{homes}"), format!("home = \"{homes}\" and ")),
        };
        let path = match self.homes.as_str() {
            "" => stream.to_owned(),
            homes => words::join(&words::join("homes", homes), stream),
        };
        let when = if self.is_at_other_times { " at that time" } else { "" };
        fault!(Unwatched, path =>
            "not measured: no traffic{of} watches the {stream} while {load} it; a game or call with \
             {with}direction = \"both\"{when} would")
        .with("traffic", &self.traffic)
    }
}

/// How much of its time a game or call is under the load of its own homes.
#[derive(Clone, PartialEq, Debug)]
pub enum Load {
    /// Its homes have no bulk traffic.
    None,
    /// The line is loaded for a part of its time.
    Part {
        /// An entry that loads it.
        traffic: String,
        /// From when on the line is loaded to the end, in s, if it is.
        from_s: Option<f64>,
    },
    /// Nearly all of it.
    Whole,
}

impl Scenario {
    /// The directions that bulk traffic loads in some of the judged homes while nothing in these homes watches them.
    pub fn unwatched(&self) -> Vec<Unwatched> {
        let unwatched = |direction: Direction| {
            let is_watched = |entry: &Entry, time: &Range<f64>| {
                let watched = self.own(entry).filter(|other| other.app.watches(direction));
                let times =
                    watched.map(|other| common(&self.counted(&other.app.watches_s()), time));
                covered_s(times.collect()) >= WATCHED * length_s(time)
            };
            let is_meant = |(_, entry): &(&String, &Entry)| {
                let time = self.counted(&entry.app.may_load_s());
                let is_loading = self.is_judged(entry) && entry.app.loads(direction);
                is_loading && length_s(&time) > 0.0 && !is_watched(entry, &time)
            };
            let meant: Vec<_> = self.traffic.iter().filter(is_meant).collect();
            let (_, first) = meant.first()?;
            let homes =
                if self.homes.len() > 1 { self.group(self.group_of(first)).name } else { "" };
            let traffic = meant.iter().map(|(name, _)| (*name).clone()).collect();
            let is_at_other_times = self.own(first).any(|other| other.app.watches(direction));
            Some(Unwatched { direction, traffic, is_at_other_times, homes: homes.to_owned() })
        };
        Direction::BOTH.into_iter().filter_map(unwatched).collect()
    }

    /// The directions in which a game, call or video call that may have a grade watches the delay while bulk traffic
    /// loads it. One game or call that goes one way has none.
    pub fn watched(&self) -> Vec<Direction> {
        let has_grade = |app: &AppSpec| app.is_two_way() || matches!(app, AppSpec::VideoCall(_));
        let watches = |way: &Direction| {
            let mut judged = self.traffic.values().filter(|entry| self.is_judged(entry));
            judged.any(|entry| entry.app.watches(*way) && has_grade(&entry.app))
        };
        let unwatched = self.unwatched();
        let is_unwatched = |way: &Direction| unwatched.iter().any(|one| one.direction == *way);
        Direction::BOTH.into_iter().filter(|way| watches(way) && !is_unwatched(way)).collect()
    }

    /// How much of its time a game or call is under the load of its own homes.
    pub fn load_of(&self, entry: &Entry) -> Load {
        let time = self.counted(&entry.app.watches_s());
        let mut bulk = self.traffic.iter().filter(|(_, other)| {
            self.group_of(other) == self.group_of(entry) && other.app.is_bulk()
        });
        let times = self.own(entry).map(|other| common(&other.app.surely_loads_s(), &time));
        if covered_s(times.collect()) >= UNDER_LOAD * length_s(&time) && length_s(&time) > 0.0 {
            return Load::Whole;
        }
        let Some((traffic, _)) = bulk.next() else { return Load::None };
        let endless = self.own(entry).map(|other| other.app.surely_loads_s());
        let from_s = endless
            .filter(|loads| loads.end >= time.end && loads.start < time.end)
            .map(|loads| loads.start)
            .reduce(f64::min);
        Load::Part { traffic: traffic.clone(), from_s }
    }

    /// Does bulk traffic of an entry load the line in the time that is counted, whatever comes of it?
    pub fn surely_counts(&self, entry: &Entry) -> bool {
        entry.app.is_bulk() && length_s(&self.counted(&entry.app.surely_loads_s())) > 0.0
    }

    /// The entries of the same homes.
    fn own(&self, entry: &Entry) -> impl Iterator<Item = &Entry> {
        let group = self.group_of(entry);
        self.traffic.values().filter(move |other| self.group_of(other) == group)
    }

    /// The part of a time that is measured, in s.
    fn counted(&self, time: &Range<f64>) -> Range<f64> {
        common(time, &(self.metrics.from_s..self.duration_s))
    }
}

fn common(one: &Range<f64>, other: &Range<f64>) -> Range<f64> {
    one.start.max(other.start)..one.end.min(other.end)
}

fn length_s(time: &Range<f64>) -> f64 {
    (time.end - time.start).max(0.0)
}

/// How long at least one of these times is, in s.
fn covered_s(mut times: Vec<Range<f64>>) -> f64 {
    times.sort_by(|one, other| one.start.total_cmp(&other.start));
    let mut until_s = f64::NEG_INFINITY;
    let new = |time: Range<f64>| {
        let new_s = length_s(&(time.start.max(until_s)..time.end));
        until_s = until_s.max(time.end);
        new_s
    };
    times.into_iter().map(new).sum()
}
