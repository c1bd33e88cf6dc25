//! JSON of irtt: a round trip for each packet, times in ns.

use serde::Deserialize;

use crate::log::{Format, Log, Probe};

const MS: f64 = 1e-6;

#[derive(Deserialize)]
pub(crate) struct Document {
    round_trips: Vec<Trip>,
}

#[derive(Deserialize)]
struct Trip {
    /// "false", "true", "true_up" or "true_down".
    #[serde(default)]
    lost: Option<String>,
    #[serde(default)]
    delay: Delay,
    #[serde(default)]
    timestamps: Timestamps,
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

#[derive(Deserialize)]
struct Clocks {
    wall: f64,
}

/// The one stream of a file.
pub(crate) fn log(document: Document) -> Log {
    let probes = document.round_trips.iter().filter_map(|trip| {
        let sent_ms = trip.timestamps.client.as_ref()?.send.wall * MS;
        if trip.lost.as_ref().is_some_and(|lost| lost != "false") {
            return Some(Probe::lost(sent_ms));
        }
        let ms = |delay: Option<f64>| delay.map(|ns| ns * MS);
        let Delay { send, receive, rtt } = trip.delay;
        Some(Probe { sent_ms, up_ms: ms(send), down_ms: ms(receive), rtt_ms: ms(rtt) })
    });
    Log::new(Format::Irtt, vec![probes.collect()])
}
