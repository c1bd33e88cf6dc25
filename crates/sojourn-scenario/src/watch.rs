//! What games, calls and tests can tell of traffic that fills a line: they must be in its homes, in its direction and at its
//! time.

use sojourn_input::fault;
use sojourn_input::problem::Warning;
use sojourn_input::words;
use std::ops::Range;

use super::schema::Scenario;
use super::traffic::Entry;
use crate::apps::AppSpec;
use sojourn_engine::packet::Direction;

/// Bulk traffic is watched if this share of its time is.
const WATCHED: f64 = 0.5;

/// Does an app hear what is waited in a direction?
type Hears = fn(&AppSpec, Direction) -> bool;

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

impl Scenario {
    /// The directions that bulk traffic loads in some of the judged homes while nothing in these homes watches them, of a
    /// run in which these entries brought data in a direction: a part from outside need not say which way it sends.
    pub fn unwatched(&self, brought: impl Fn(&str, Direction) -> bool) -> Vec<Unwatched> {
        let unwatched = |direction: Direction| {
            let mut meant = self.missed(direction, AppSpec::tells);
            meant.retain(|(name, _)| brought(name, direction));
            let (_, first) = meant.first().filter(|(_, first)| first.app.loads(direction))?;
            let homes =
                if self.homes.len() > 1 { self.group(self.group_of(first)).name } else { "" };
            let traffic = meant.iter().map(|(name, _)| (*name).clone()).collect();
            let is_at_other_times = self.own(first).any(|other| other.app.tells(direction));
            Some(Unwatched { direction, traffic, is_at_other_times, homes: homes.to_owned() })
        };
        Direction::BOTH.into_iter().filter_map(unwatched).collect()
    }

    /// What may fill a direction of the judged homes, while nothing there hears it for long enough: bulk traffic or, where
    /// none loads it, traffic of which nobody notices each packet.
    fn missed(&self, way: Direction, hears: Hears) -> Vec<(&String, &Entry)> {
        let time = |entry: &Entry| match entry.app.is_bulk() {
            true => self.counted(&entry.app.may_load_s()),
            false => self.counted(&(0.0..f64::INFINITY)),
        };
        let is_missed = |entry: &Entry| {
            let time = time(entry);
            let own = self.own(entry).filter(|other| hears(&other.app, way));
            let heard = own.map(|other| common(&self.counted(&other.app.waits_s()), &time));
            length_s(&time) > 0.0 && covered_s(heard.collect()) < WATCHED * length_s(&time)
        };
        let (loading, others): (Vec<_>, Vec<_>) =
            self.judged().partition(|(_, entry)| entry.app.loads(way));
        let others = others.into_iter().filter(|(_, entry)| !entry.app.tells(way)).collect();
        let fills = if loading.is_empty() { others } else { loading };
        fills.into_iter().filter(|(_, entry)| is_missed(entry)).collect()
    }

    /// The entries that hear all that fills a direction of the judged homes; none if something is missed.
    fn hearers(&self, way: Direction, hears: Hears) -> Vec<&str> {
        let all = self.judged().filter(|(_, entry)| hears(&entry.app, way));
        let are_whole = self.missed(way, hears).is_empty();
        all.filter(|_| are_whole).map(|(name, _)| name.as_str()).collect()
    }

    /// Does a game, a call or another measure of the delay tell what bulk traffic does to a direction?
    pub fn is_watched(&self, way: Direction) -> bool {
        !self.hearers(way, AppSpec::tells).is_empty()
    }

    /// The entries whose packets know what is waited in a direction: those that tell of each packet or, without them, those
    /// whose users wait for answers.
    pub fn waiting(&self, way: Direction) -> Vec<&str> {
        let tell = self.hearers(way, AppSpec::tells);
        if tell.is_empty() { self.hearers(way, AppSpec::awaits) } else { tell }
    }

    /// The entries of the judged homes.
    pub(crate) fn judged(&self) -> impl Iterator<Item = (&String, &Entry)> {
        self.traffic.iter().filter(|(_, entry)| self.is_judged(entry))
    }

    /// Does bulk traffic of an entry load the line in the time that is counted, whatever comes of it?
    pub fn surely_counts(&self, entry: &Entry) -> bool {
        entry.app.is_bulk() && length_s(&self.counted(&entry.app.surely_loads_s())) > 0.0
    }

    /// From when until when bulk traffic of an entry is under way in the time that counts, and for how long of that in s,
    /// if that was measured. `None` if it never is.
    pub fn under_way(&self, entry: &Entry, measured_s: Option<f64>) -> Option<(Range<f64>, f64)> {
        let loads = entry.app.may_load_s();
        let time = self.counted(&(loads.start + entry.app.bulk_spread_s()..loads.end));
        let under_way_s = measured_s.unwrap_or(f64::INFINITY).min(length_s(&time));
        let end_s = if entry.app.ends_by_itself() { time.start + under_way_s } else { time.end };
        (under_way_s > 0.0).then_some((time.start..end_s, under_way_s))
    }

    /// For how much of the time that counts an entry watches the delay of its packets, in s.
    pub fn watches_s(&self, entry: &Entry) -> f64 {
        length_s(&self.counted(&entry.app.watches_s()))
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
pub fn covered_s(mut times: Vec<Range<f64>>) -> f64 {
    times.sort_by(|one, other| one.start.total_cmp(&other.start));
    let mut until_s = f64::NEG_INFINITY;
    let new = |time: Range<f64>| {
        let new_s = length_s(&(time.start.max(until_s)..time.end));
        until_s = until_s.max(time.end);
        new_s
    };
    times.into_iter().map(new).sum()
}
