//! JSON of irtt: a round trip for each packet, times in ns.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::log::{Format, Log, Probe};

const MS: f64 = 1e-6;

#[derive(Deserialize)]
pub(crate) struct Document {
    round_trips: Vec<Trip>,
}

#[derive(Deserialize)]
struct Trip {
    #[serde(default, deserialize_with = "is_lost")]
    lost: bool,
    #[serde(default)]
    delay: Delay,
    #[serde(default)]
    timestamps: Timestamps,
}

impl Trip {
    fn sent(&self) -> Option<&Clocks> {
        self.timestamps.client.as_ref().map(|client| &client.send)
    }
}

#[derive(Default, Deserialize)]
struct Delay {
    send: Option<f64>,
    receive: Option<f64>,
    rtt: Option<f64>,
}

#[derive(Default, Deserialize)]
struct Timestamps {
    client: Option<Client>,
}

#[derive(Deserialize)]
struct Client {
    send: Clocks,
}

/// `--clock` may leave one of them out.
#[derive(Deserialize)]
struct Clocks {
    wall: Option<f64>,
    monotonic: Option<f64>,
}

/// "false", "true", "true_up" or "true_down".
fn is_lost<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    match Option::deserialize(from)? {
        None => Ok(false),
        Some(Value::String(name)) => Ok(name != "false"),
        Some(Value::Bool(lost)) => Ok(lost),
        Some(_) => Err(D::Error::custom("lost is no text")),
    }
}

/// Wall clock and monotonic one differ by more after a step of the wall clock, in ns.
const STEP_NS: f64 = 1e8;

/// The one stream of a file. The wall clock counts, as delays of one direction are by it, unless somebody set it.
pub(crate) fn log(document: Document) -> Log {
    let trips = &document.round_trips;
    let is_wall_steady = is_steady(trips.iter().filter_map(Trip::sent));
    let probes = trips.iter().filter_map(|trip| {
        let Clocks { wall, monotonic } = trip.sent()?;
        let (first, second) = if is_wall_steady { (wall, monotonic) } else { (monotonic, wall) };
        let sent_ms = first.or(*second)? * MS;
        if trip.lost {
            return Some(Probe::lost(sent_ms));
        }
        let ms = |delay: Option<f64>| delay.map(|ns| ns * MS);
        let Delay { send, receive, rtt } = trip.delay;
        Some(Probe { sent_ms, up_ms: ms(send), down_ms: ms(receive), rtt_ms: ms(rtt) })
    });
    Log::new(Format::Irtt, vec![probes.collect()])
}

/// Does the wall clock go with the monotonic one, which nobody sets, or is there none that goes?
fn is_steady<'a>(all: impl Iterator<Item = &'a Clocks>) -> bool {
    let both: Vec<(f64, f64)> =
        all.filter_map(|clocks| clocks.wall.zip(clocks.monotonic)).collect();
    let steps = both.windows(2).map(|two| (two[1].0 - two[0].0, two[1].1 - two[0].1));
    let (goes, differs) = steps.fold((true, false), |(goes, differs), (wall, monotonic)| {
        (goes && monotonic > 0.0, differs || (wall - monotonic).abs() > STEP_NS)
    });
    !(goes && differs)
}
