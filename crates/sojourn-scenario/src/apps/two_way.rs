//! Datagrams in one direction or in both, and what a home and a server say to each other with them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sojourn_engine::packet::Direction;

/// Directions in which a stream sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StreamDirection {
    /// From the home to the server.
    Up,
    /// From the server to the home.
    Down,
    /// Both: the ends send to each other and measure round-trip times.
    Both,
}

impl StreamDirection {
    /// Does it send in this direction?
    pub fn includes(self, direction: Direction) -> bool {
        match self {
            Self::Up => direction == Direction::Up,
            Self::Down => direction == Direction::Down,
            Self::Both => true,
        }
    }

    /// The only direction; none where the ends send to each other.
    pub fn only(self) -> Option<Direction> {
        Direction::BOTH.into_iter().find(|way| !self.includes(way.reversed()))
    }

    /// Do the ends send to each other?
    pub fn is_both(self) -> bool {
        self == Self::Both
    }
}

/// How the server of a two-way stream answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It sends at a pace of its own, as games and calls do.
    #[default]
    OwnPace,
    /// It returns each packet at once, as for a ping (RFC 862).
    EachPacket,
}
