//! The router of a home: a shaper in each direction, and a program that sets their rates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::controllers::{ControllerSpec, LEAST_BPS, MOST_BPS, Rates};
use sojourn_engine::hop::Bottleneck;
use sojourn_engine::packet::Direction;
use sojourn_input::parts;

/// A router between the devices of a home and its modem.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Router {
    /// The shaper of packets from the home. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<Bottleneck>,
    /// The shaper of packets to the home. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downstream: Option<Bottleneck>,
    /// A program in the router that sends probes to a server and sets the rates of both shapers by what it measures:
    /// `rate_mbps`, or `bandwidth_mbps` of CAKE where that is set. They are what the shapers begin with. It knows the
    /// answers of its probes and the bytes that left the shapers, and nothing else. Default: none.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "parts::write_optional_kind",
        deserialize_with = "parts::optional_kind"
    )]
    pub controller: Option<ControllerSpec>,
}

impl Router {
    /// The shaper of a direction.
    pub fn of(&self, direction: Direction) -> Option<&Bottleneck> {
        direction.pick(self.upstream.as_ref(), self.downstream.as_ref())
    }

    /// Both with their directions, as far as there are any.
    pub fn both(&self) -> impl Iterator<Item = (Direction, &Bottleneck)> {
        Direction::BOTH.into_iter().filter_map(|way| Some((way, self.of(way)?)))
    }

    /// The rates that a controller can set, as they are at the start.
    pub fn settable(&self) -> Rates {
        let bps = |way| {
            let mbps = self.of(way)?.settable_mbps()?;
            Some((mbps * 1e6).round().clamp(LEAST_BPS, MOST_BPS))
        };
        Rates { up_bps: bps(Direction::Up), down_bps: bps(Direction::Down) }
    }

    /// Does its controller set this key of the shaper of a direction?
    pub(crate) fn sets(&self, direction: Direction, key: &str) -> bool {
        let Some(shaper) = self.of(direction).filter(|_| self.controller.is_some()) else {
            return false;
        };
        let own = shaper.queue.scheduler.parameters().shaper();
        own.map_or("rate_mbps", |(own, _)| own) == key
    }
}
