//! Directions that bulk traffic loads while nothing there notices the delay, so that no score can tell of it.

use super::schema::Scenario;
use super::traffic::Entry;
use crate::packet::Direction;

/// A direction in which homes have bulk traffic and no game, call or video call.
#[derive(Clone, PartialEq, Debug)]
pub struct Unwatched {
    /// Where the bulk traffic goes.
    pub direction: Direction,
    /// The entries of the bulk traffic: one at least.
    pub traffic: Vec<String>,
}

impl Unwatched {
    /// What is said of it, and what would measure it.
    pub fn sentence(&self) -> String {
        let stream = self.direction.stream();
        let first = &self.traffic[0];
        let load = match self.traffic.len() - 1 {
            0 => format!("traffic.{first} loads"),
            1 => format!("traffic.{first} and another entry load"),
            others => format!("traffic.{first} and {others} other entries load"),
        };
        format!(
            "not measured: no traffic watches the {stream}, which {load}; a game or call with direction = \
             \"both\" would"
        )
    }
}

impl Scenario {
    /// The directions that are loaded in some homes while nothing in these homes watches them.
    pub fn unwatched(&self) -> Vec<Unwatched> {
        let unwatched = |direction: Direction| {
            let watched = self.traffic.values().filter(|entry| entry.app.watches(direction));
            let watched: Vec<usize> = watched.map(|entry| self.group_of(entry)).collect();
            let loads = |entry: &Entry| {
                entry.app.loads(direction) && entry.app.bulk_from_s() < self.duration_s
            };
            let is_meant = |(_, entry): &(&String, &Entry)| {
                loads(entry) && !watched.contains(&self.group_of(entry))
            };
            let traffic: Vec<String> =
                self.traffic.iter().filter(is_meant).map(|(name, _)| name.clone()).collect();
            (!traffic.is_empty()).then_some(Unwatched { direction, traffic })
        };
        Direction::BOTH.into_iter().filter_map(unwatched).collect()
    }
}
