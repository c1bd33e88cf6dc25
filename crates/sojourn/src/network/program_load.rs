//! When the packets of a real program are a load. Which way they go and when is not known beforehand: what is measured
//! while they take more than a little of the line is measured neither on an idle line nor under the scenario's load.

use std::collections::VecDeque;
use std::ops::Range;

use sojourn_engine::packet::Direction;
use sojourn_engine::units::{BitRate, Time};
use sojourn_scenario::Scenario;
use sojourn_scenario::apps::outside::LITTLE;
use sojourn_scenario::traffic::Entry;

use super::under_way::REMEMBERED;

/// What comes within it may come at once.
const AT_ONCE: Time = Time::from_ms(100);
/// A line is never slower, in bits per second.
const SLOWEST_BPS: f64 = 1.0;

/// When a program's packets were a load.
pub(super) struct ProgramLoad {
    /// Upstream and downstream.
    ways: [Meter; 2],
    /// When they were, the latest last: until the bucket is empty, and the last of them has arrived.
    times: VecDeque<Range<Time>>,
    /// For how long, without the last of these.
    sum: Time,
}

/// A bucket that a little of the line empties.
struct Meter {
    little: BitRate,
    /// When it was empty last.
    since: Time,
    /// When it will be.
    empties: Time,
    is_load: bool,
}

impl Meter {
    /// A packet comes. Since when it and those before it are a load, if they are.
    fn came(&mut self, bytes: u64, now: Time) -> Option<Time> {
        if self.empties <= now {
            (self.since, self.empties, self.is_load) = (now, now, false);
        }
        self.empties += self.little.time_for(bytes);
        self.is_load |= self.empties > now + AT_ONCE;
        self.empties = self.empties.min(now + AT_ONCE);
        self.is_load.then_some(self.since)
    }
}

impl ProgramLoad {
    /// That of an entry from which nothing has come.
    pub(super) fn of(scenario: &Scenario, entry: &Entry) -> Self {
        let group = scenario.group_of(entry);
        let meter = |way| {
            let little_bps = (LITTLE * 1e6 * scenario.line_mbps(group, way)).max(SLOWEST_BPS);
            let little = BitRate::from_bps(little_bps as u64);
            Meter { little, since: Time::ZERO, empties: Time::ZERO, is_load: false }
        };
        Self { ways: Direction::BOTH.map(meter), times: VecDeque::new(), sum: Time::ZERO }
    }

    /// A packet comes.
    pub(super) fn came(&mut self, way: Direction, bytes: u64, now: Time) {
        let meter = &mut self.ways[way as usize];
        let Some(since) = meter.came(bytes, now) else { return };
        let until = meter.empties;
        match self.times.back_mut().filter(|last| since <= last.end) {
            Some(last) => (last.start, last.end) = (last.start.min(since), last.end.max(until)),
            None => {
                self.sum += self.last();
                while self.times.front().is_some_and(|time| time.end + REMEMBERED < now) {
                    self.times.pop_front();
                }
                self.times.push_back(since..until);
            }
        }
    }

    /// A packet has arrived.
    pub(super) fn arrived(&mut self, sent_at: Time, now: Time) {
        if let Some(last) = self.times.back_mut().filter(|last| last.start <= sent_at) {
            last.end = last.end.max(now);
        }
    }

    /// Were they at any time of it?
    pub(super) fn was_within(&self, from: Time, to: Time) -> bool {
        self.times.iter().rev().any(|time| time.start <= to && from <= time.end)
    }

    /// For how long.
    pub(super) fn total(&self) -> Time {
        self.sum + self.last()
    }

    fn last(&self) -> Time {
        self.times.back().map_or(Time::ZERO, |time| time.end.since(time.start))
    }
}
