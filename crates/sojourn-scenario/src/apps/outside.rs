//! Real packets that come from outside the simulation, between a home and a server.
//!
//! They are those of the first home of the entry's group. Each is classified by its own header.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{App, AppContext, AppParameters, Event, Load, Model, Quality};
use crate::outside::Packets;
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;

/// This share of what a line carries is a little: real packets that take more are a load. Nobody knows how much more of it they
/// would have taken.
pub const LITTLE: f64 = 0.05;

/// Parameters of real packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Outside")]
pub struct Parameters {
    /// Server at the other end. Default: the first of `servers`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("x-role" = "line"))]
    pub server: String,
    /// Record of `sojourn emulate --record` whose packets of this entry are sent again when they came. The run
    /// then takes as long as the recorded one, whatever `duration_s` says. The path is relative to the scenario file, or
    /// to the working directory if the scenario does not come from a file.
    /// The resolved scenario has the absolute path. Default: packets come while the run goes on.
    #[serde(default)]
    pub record: Option<String>,
    /// Digest of the record's packets, 16 hexadecimal digits. It is filled in when the scenario is loaded. If it is set, a
    /// record with another digest is rejected.
    #[serde(default)]
    pub digest: Option<String>,
    /// Replay a record of another line, or with other traffic beside. Default: only what one may choose, such as queues,
    /// may differ from the scenario in which it was recorded.
    #[serde(default)]
    pub anyway: bool,
    /// The packets, once the record has been read.
    #[serde(skip)]
    #[schemars(skip)]
    pub packets: Packets,
}

impl Parameters {
    /// As it is without its record.
    pub(crate) fn forget_record(&mut self) {
        let server = std::mem::take(&mut self.server);
        *self =
            Self { server, record: None, digest: None, anyway: false, packets: Packets::default() };
    }
}

impl AppParameters for Parameters {
    one_server!();

    fn start(&self, _server: &dyn Fn(&str) -> u16) -> App {
        Real.into()
    }

    fn load(&self, _seconds: f64) -> Load {
        let packets = self.packets.all.len() as f64;
        let bytes: f64 = self.packets.all.iter().map(|one| f64::from(one.header.ip_bytes)).sum();
        let packet_bytes = bytes / packets.max(1.0);
        Load { packets, packet_bytes, ..Load::default() }
    }

    fn largest_datagram(&self) -> u16 {
        self.packets.all.iter().map(|one| one.header.ip_bytes).max().unwrap_or(0)
    }

    fn acts_on_its_own(&self) -> bool {
        true
    }

    fn quality(&self) -> Quality {
        Quality::Unscored
    }
}

/// Somebody else sends.
pub struct Real;

impl Model for Real {
    fn start(&self, _rng: &mut Rng) -> Time {
        Time::NEVER
    }

    fn on_event(&mut self, _event: Event, _context: &mut AppContext) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::{Header, Recorded};
    use sojourn_engine::packet::Direction;

    /// Packets of IPv4 of 1000 B, 2000 B and so on.
    fn parameters(packets: u16) -> Parameters {
        let one = |number: u16| {
            let size = 1000 * (number + 1);
            let mut bytes = vec![0; usize::from(size)];
            bytes[0] = 0x45;
            bytes[2..4].copy_from_slice(&size.to_be_bytes());
            let header = Header::read(&bytes).unwrap();
            let (at, number) = (Time::from_ms(number.into()), number.into());
            Recorded { at, number, direction: Direction::Up, header }
        };
        let packets = Packets { all: (0..packets).map(one).collect(), end: Time::from_s(1) };
        Parameters { packets, ..toml::from_str("server = 's'").unwrap() }
    }

    #[test]
    fn the_load_of_a_record_is_that_of_its_packets() {
        for (packets, mean_bytes) in [(0, 0.0), (1, 1000.0), (3, 2000.0)] {
            let load = parameters(packets).load(1.0);
            assert_eq!((load.packets, load.packet_bytes), (packets.into(), mean_bytes));
            assert_eq!(parameters(packets).largest_datagram(), 1000 * packets);
        }
    }
}
