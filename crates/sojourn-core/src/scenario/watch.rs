//! Directions that bulk traffic loads while nothing there notices the delay, so that no score can tell of it.

use super::schema::Scenario;
use super::traffic::Entry;
use crate::packet::Direction;

/// A direction in which homes have bulk traffic and no game, call or video call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Unwatched<'a> {
    /// Where the bulk traffic goes.
    pub direction: Direction,
    /// The first entry of the bulk traffic.
    pub traffic: &'a str,
}

/// What is said of such a direction, and what would measure it.
pub fn not_measured(direction: Direction, traffic: &str) -> String {
    let stream = match direction {
        Direction::Up => "upstream",
        Direction::Down => "downstream",
    };
    format!(
        "not measured: no traffic watches the {stream}, which traffic.{traffic} loads; a game or call with \
         direction = \"both\" would"
    )
}

impl Scenario {
    /// The directions of each group of homes that are loaded and not watched.
    pub fn unwatched(&self) -> Vec<Unwatched<'_>> {
        let ways = (0..self.groups().count())
            .flat_map(|group| Direction::BOTH.map(|direction| (group, direction)));
        let unwatched = |(group, direction): (usize, Direction)| {
            let entries =
                || self.traffic.iter().filter(move |(_, one)| self.group_of(one) == group);
            let loads = |entry: &Entry| {
                entry.app.loads(direction) && entry.app.bulk_from_s() < self.duration_s
            };
            let is_watched = entries().any(|(_, entry)| entry.app.watches(direction));
            let (traffic, _) = entries().find(|(_, entry)| !is_watched && loads(entry))?;
            Some(Unwatched { direction, traffic })
        };
        ways.filter_map(unwatched).collect()
    }
}
