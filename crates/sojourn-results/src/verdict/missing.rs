//! Why something has no grade.

use super::rows::FEWEST_PACKETS;
use sojourn_engine::packet::Direction;
use sojourn_scenario::apps::Bulk;

/// A transfer needs some seconds to reach its rate.
pub(super) const SHORTEST_S: f64 = 10.0;

/// Why something has no grade.
#[derive(Clone, PartialEq, Debug)]
pub enum Missing {
    /// Nothing of it arrived where it is measured.
    Delivery,
    /// It goes one way, so that nobody knows the other one.
    OneWay {
        /// The traffic entry.
        traffic: String,
        /// The direction that it lacks.
        lacks: Direction,
    },
    /// The transfer is too short.
    TooShort(Bulk, Direction),
    /// The homes of the transfer have several service flows in its direction.
    SeveralFlows(Bulk, Direction),
    /// Too few pages were loaded.
    TooFewPages,
    /// A video has hardly begun to play.
    ShortVideo {
        /// The traffic entry.
        traffic: String,
    },
    /// Too few packets of a game or call arrived.
    TooFewPackets {
        /// The traffic entry.
        traffic: String,
    },
    /// A queue stands in this direction without load too.
    NotIdle(Direction),
    /// The line is loaded for a part of the time of games and calls.
    PartlyLoaded {
        /// An entry that loads it.
        traffic: String,
        /// From when on the line is loaded to the end, in s, if it is.
        from_s: Option<f64>,
    },
}

impl Missing {
    /// It in words.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Delivery => "not measured: no packet was delivered".to_owned(),
            Self::OneWay { traffic, lacks } => format!(
                "not measured: nothing of traffic.{traffic} goes {}; direction = \"both\" measures both ends",
                lacks.name()
            ),
            Self::TooShort(sort, way) => {
                format!("not measured: the {} ran for less than {SHORTEST_S} s", sort.word(*way))
            }
            Self::SeveralFlows(sort, way) => format!(
                "not measured: the home of the {} has several {} service flows",
                sort.word(*way),
                way.stream()
            ),
            Self::TooFewPackets { traffic } => {
                format!(
                    "not measured: fewer than {FEWEST_PACKETS} packets of traffic.{traffic} arrived"
                )
            }
            Self::PartlyLoaded { traffic, from_s } => {
                let what = format!(
                    "not measured: traffic.{traffic} does not load the line all the time of the game or call"
                );
                match from_s {
                    Some(from_s) => {
                        format!("{what}; metrics.from_s = {from_s} leaves out what is before")
                    }
                    None => what,
                }
            }
            Self::NotIdle(way) => format!(
                "not measured: packets wait in the {} queue without uploads and downloads too",
                way.stream()
            ),
            Self::ShortVideo { traffic } => {
                format!("not measured: traffic.{traffic} played for less than {SHORTEST_S} s")
            }
            Self::TooFewPages => "not measured: fewer than two pages were loaded".to_owned(),
        }
    }
}
