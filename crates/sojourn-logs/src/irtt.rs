//! What irtt says: in JSON a round trip for each packet, times in ns; and the lines that it prints.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::log::{Format, Log, Probe};
use crate::numeral::leading;
use crate::reply::Reply;
use crate::stamp::Came;

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

/// What only its lines have: how the delay changed since the packet before.
pub(crate) const OF_LINES: &str = " ipdv=";
/// Delays of both directions add up to the round trip but for rounding, which may be coarse where clocks differ much: in
/// ms, and of the round trip.
const ROUNDED: (f64, f64) = (0.1, 0.02);

/// What a line says of a probe: `seq=7 rtt=21.5ms rd=10.1ms sd=11.4ms ipdv=98.3\u{b5}s`, with `LATE` or without delays of
/// one direction.
pub(crate) fn reply(came: Option<Came>, line: &str) -> Option<Reply<'_>> {
    let numbered = line.trim_start().strip_prefix("seq=").filter(|rest| rest.contains(OF_LINES))?;
    let of = |name: &str| {
        let (_, rest) = line.split_once(name)?;
        duration_ms(rest.split_whitespace().next()?)
    };
    let (number, _) = leading(numbered)?;
    let rtt_ms = of(" rtt=")?;
    let ways_ms = of(" sd=").zip(of(" rd=")).map(|(up, down)| [up, down]);
    let is_whole =
        |[up, down]: &[f64; 2]| (up + down - rtt_ms).abs() <= ROUNDED.0.max(ROUNDED.1 * rtt_ms);
    let ways_ms = ways_ms.filter(is_whole);
    Some(Reply { ways_ms, ..Reply::new("", came, Some(number), Some(rtt_ms)) })
}

/// How many packets were sent, and at which interval in ms, by its last lines: `duration: 10.1s (wait 71ms)`, `packets
/// sent/received: 100/98 (2.00% loss)`.
pub(crate) fn sent(text: &str) -> Option<(f64, Option<f64>)> {
    let after = |name: &str| text.lines().find_map(|line| line.trim().strip_prefix(name));
    let (sent, _) = leading(after("packets sent/received: ")?)?;
    let interval_ms = || {
        let mut words = after("duration: ")?.split_whitespace();
        let all_ms = duration_ms(words.next()?)?;
        let wait_ms = words.nth(1).and_then(|word| duration_ms(word.trim_end_matches(')')));
        Some((all_ms - wait_ms.unwrap_or(0.0)) / (sent - 1.0)).filter(|ms| *ms > 0.0 && sent >= 2.0)
    };
    Some((sent, interval_ms()))
}

/// `1m2.5s`, `-3.4ms` or the like.
fn duration_ms(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 7] = [
        ("ms", 1.0),
        ("\u{b5}s", 1e-3),
        ("us", 1e-3),
        ("ns", 1e-6),
        ("s", 1e3),
        ("m", 6e4),
        ("h", 3.6e6),
    ];
    let (sign, mut rest) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let mut sum_ms = 0.0;
    while !rest.is_empty() {
        let (value, after) = leading(rest)?;
        let (unit, ms) = UNITS.iter().find(|(unit, _)| after.starts_with(unit))?;
        (sum_ms, rest) = (sum_ms + value * ms, &after[unit.len()..]);
    }
    (!text.is_empty()).then_some(sign * sum_ms)
}
