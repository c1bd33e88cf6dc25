//! Why something has no grade.

use super::shares::SHORTEST_S;
use crate::apps::bulk::Bulk;
use crate::packet::Direction;

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
    TooShort(Direction),
    /// The homes of the transfer have several service flows in its direction.
    SeveralFlows(Direction),
    /// Too few pages were loaded.
    TooFewPages,
}

impl Missing {
    /// It in words.
    pub(super) fn words(&self) -> String {
        let transfer = |direction: &Direction| Bulk::Transfer.word(*direction);
        match self {
            Self::Delivery => "not measured: no packet was delivered".to_owned(),
            Self::OneWay { traffic, lacks } => format!(
                "not measured: nothing of traffic.{traffic} goes {}; direction = \"both\" measures both ends",
                lacks.name()
            ),
            Self::TooShort(way) => {
                format!("not measured: the {} ran for less than {SHORTEST_S} s", transfer(way))
            }
            Self::SeveralFlows(way) => format!(
                "not measured: the home of the {} has several {} service flows",
                transfer(way),
                way.stream()
            ),
            Self::TooFewPages => "not measured: fewer than two pages were loaded".to_owned(),
        }
    }
}
