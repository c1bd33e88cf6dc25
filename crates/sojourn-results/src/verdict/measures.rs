//! The numbers of a run that tables show side by side, each computed from rows of its tables.

use serde::Serialize;

use super::pages::page_load;
use super::rows::{Row, Rows};
use super::thresholds::PAGE_LOAD;
use sojourn_engine::packet::Direction;
use sojourn_engine::record::Member;
use sojourn_scenario::Scenario;
use sojourn_scenario::apps::Bulk;
use sojourn_scenario::apps::Quality;

/// Which way a number is better.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The less.
    Lower,
    /// The more.
    Higher,
}

/// The rows that a measure is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Of {
    /// Flows of a quality.
    Flows(Quality),
    /// Games that measure round trips.
    TwoWayGames,
    /// Games that send one way, of which nobody knows the round trip.
    OneWayGames,
    /// Games that measure round trips, in a scenario with a low-latency queue: there the far tail is what it is about.
    TwoWayGamesNearLowLatency,
    /// Games that send one way, in such a scenario.
    OneWayGamesNearLowLatency,
    /// Bulk traffic of a sort in the direction of its payload, without acknowledgements.
    Bulk(Bulk, Direction),
    /// The queues in a direction of homes whose users notice delay, and those that homes share.
    Queues(Direction),
    /// Upstream members of a low-latency aggregate.
    Members(Member),
}

/// How several rows become one number: the worst counts, and rates are summed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Merge {
    Max,
    Min,
    Sum,
}

/// A number of a run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Measure {
    /// Its name, with its unit at the end.
    pub key: &'static str,
    /// Its name in words, without its unit.
    pub label: &'static str,
    /// Its unit; empty where there is none.
    pub unit: &'static str,
    /// Digits after the point that tables show.
    pub digits: u8,
    /// Which way it is better.
    pub better: Better,
    /// The direction of the queues that it is of, if it is of queues.
    pub queues: Option<Direction>,
    #[serde(skip)]
    of: Of,
    #[serde(skip)]
    column: &'static str,
    #[serde(skip)]
    merge: Merge,
}

const fn measure(
    (key, label, unit, digits): (&'static str, &'static str, &'static str, u8),
    of: Of,
    column: &'static str,
    merge: Merge,
) -> Measure {
    let better = if matches!(merge, Merge::Max) { Better::Lower } else { Better::Higher };
    let queues = if let Queues(direction) = of { Some(direction) } else { None };
    Measure { key, label, unit, digits, better, queues, of, column, merge }
}

/// A delay.
const fn ms(key: &'static str, label: &'static str, of: Of, column: &'static str) -> Measure {
    measure((key, label, "ms", 1), of, column, Max)
}

/// The rate of bulk traffic.
const fn mbps(key: &'static str, label: &'static str, of: Of) -> Measure {
    measure((key, label, "Mbps", 2), of, "throughput_mbps", Sum)
}

/// Where fewer frames arrive whole, the delay of these says nothing.
const MOST_INCOMPLETE_PERCENT: f64 = 50.0;

use Member::{Classic, LowLatency};
use Merge::{Max, Min, Sum};
use Of::{
    Flows, Members, OneWayGames, OneWayGamesNearLowLatency, Queues, TwoWayGames,
    TwoWayGamesNearLowLatency,
};
use Quality::{Game, Pages, Responses, Video, VideoCall, Voice};

/// All measures, in the order of tables.
pub const MEASURES: [Measure; 30] = [
    ms("game_rtt_p50_ms", "game RTT p50", TwoWayGames, "rtt_p50_ms"),
    ms("game_rtt_p90_ms", "game RTT p90", TwoWayGames, "rtt_p90_ms"),
    ms("game_rtt_p99_ms", "game RTT p99", TwoWayGames, "rtt_p99_ms"),
    ms("game_rtt_p999_ms", "game RTT p99.9", TwoWayGamesNearLowLatency, "rtt_p999_ms"),
    ms("game_latency_p50_ms", "game p50", OneWayGames, "latency_p50_ms"),
    ms("game_latency_p90_ms", "game p90", OneWayGames, "latency_p90_ms"),
    ms("game_latency_p99_ms", "game p99", OneWayGames, "latency_p99_ms"),
    ms("game_latency_p999_ms", "game p99.9", OneWayGamesNearLowLatency, "latency_p999_ms"),
    ms("game_latency_p9999_ms", "game p99.99", OneWayGamesNearLowLatency, "latency_p9999_ms"),
    measure(("game_loss_percent", "game loss", "%", 2), Flows(Game), "loss_percent", Max),
    measure(("voice_mos", "voice MOS", "", 2), Flows(Voice), "mos", Min),
    measure(("page_load_median_s", "page load", "s", 2), Flows(Pages), PAGE_LOAD, Max),
    measure(
        ("response_median_s", "web response", "s", 3),
        Flows(Responses),
        "response_median_s",
        Max,
    ),
    measure(("video_rate_mbps", "video", "Mbps", 2), Flows(Video), "video_rate_mbps", Min),
    measure(
        ("video_stalled_percent", "video stalled", "%", 1),
        Flows(Video),
        "video_stalled_percent",
        Max,
    ),
    measure(
        ("video_call_incomplete_percent", "video call incomplete", "%", 1),
        Flows(VideoCall),
        "frames_incomplete_percent",
        Max,
    ),
    ms("video_call_latency_p90_ms", "video call p90", Flows(VideoCall), "frame_latency_p90_ms"),
    mbps("upload_mbps", "upload", Of::Bulk(Bulk::Transfer, Direction::Up)),
    mbps("torrent_mbps", "torrent", Of::Bulk(Bulk::Torrent, Direction::Up)),
    mbps("data_up_mbps", "data up", Of::Bulk(Bulk::Data, Direction::Up)),
    mbps("download_mbps", "download", Of::Bulk(Bulk::Transfer, Direction::Down)),
    mbps("torrent_down_mbps", "torrent down", Of::Bulk(Bulk::Torrent, Direction::Down)),
    mbps("data_down_mbps", "data down", Of::Bulk(Bulk::Data, Direction::Down)),
    ms("upstream_queue_p50_ms", "up queue p50", Queues(Direction::Up), "sojourn_p50_ms"),
    ms("upstream_queue_p99_ms", "up queue p99", Queues(Direction::Up), "sojourn_p99_ms"),
    ms("downstream_queue_p50_ms", "down queue p50", Queues(Direction::Down), "sojourn_p50_ms"),
    ms("downstream_queue_p99_ms", "down queue p99", Queues(Direction::Down), "sojourn_p99_ms"),
    ms("low_latency_queue_p99_ms", "low-latency p99", Members(LowLatency), "sojourn_p99_ms")
        .digits(2),
    ms("low_latency_queue_p999_ms", "low-latency p99.9", Members(LowLatency), "sojourn_p999_ms")
        .digits(2),
    ms("classic_queue_p99_ms", "classic p99", Members(Classic), "sojourn_p99_ms"),
];

impl Measure {
    const fn digits(self, digits: u8) -> Self {
        Self { digits, ..self }
    }

    /// The measure of this name.
    ///
    /// # Panics If there is none.
    pub fn named(key: &str) -> &'static Self {
        MEASURES.iter().find(|measure| measure.key == key).expect("a measure that there is")
    }

    /// Its unit as it follows a number.
    pub(super) fn unit_after(&self) -> String {
        if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) }
    }

    /// Its value in a run, and `None` in it if nothing was measured; `None` if the run has no such rows.
    pub(super) fn value(&self, scenario: &Scenario, rows: &Rows) -> Option<Option<f64>> {
        let mut found = self.rows(scenario, rows).peekable();
        found.peek()?;
        let values = found.filter_map(|row| match self.column {
            // As grades have it: pages that did not load before the end count.
            PAGE_LOAD => page_load(scenario, rows, row.traffic()).median_s,
            "frame_latency_p90_ms" => row.number(self.column).filter(|_| {
                row.number("frames_incomplete_percent") <= Some(MOST_INCOMPLETE_PERCENT)
            }),
            column => row.number(column),
        });
        Some(match self.merge {
            Merge::Max => values.reduce(f64::max),
            Merge::Min => values.reduce(f64::min),
            Merge::Sum => values.reduce(|sum, value| sum + value),
        })
    }

    fn rows<'a>(
        &self,
        scenario: &'a Scenario,
        rows: &'a Rows,
    ) -> Box<dyn Iterator<Item = &'a Row> + 'a> {
        let is_near_low_latency = || rows.queues.iter().any(|row| row.member().is_some());
        let games = move |is_two_way: bool| {
            let entry = |row: &Row| scenario.traffic.get(row.traffic());
            of_quality(rows, Quality::Game).filter(move |row| {
                entry(row).is_none_or(|entry| entry.app.is_two_way()) == is_two_way
            })
        };
        match self.of {
            Flows(quality) => Box::new(of_quality(rows, quality)),
            TwoWayGames => Box::new(games(true)),
            OneWayGames => Box::new(games(false)),
            TwoWayGamesNearLowLatency if is_near_low_latency() => Box::new(games(true)),
            OneWayGamesNearLowLatency if is_near_low_latency() => Box::new(games(false)),
            TwoWayGamesNearLowLatency | OneWayGamesNearLowLatency => Box::new(std::iter::empty()),
            Of::Bulk(sort, direction) => Box::new(rows.flows.iter().filter(move |row| {
                let entry = scenario.traffic.get(row.traffic());
                row.direction() == Some(direction)
                    && entry.is_some_and(|entry| {
                        Bulk::of(&entry.app) == Some(sort) && entry.app.loads(direction)
                    })
            })),
            Queues(direction) => {
                Box::new(rows.queues.iter().filter(move |row| {
                    row.direction() == Some(direction) && row.member().is_none()
                }))
            }
            Members(member) => Box::new(rows.queues.iter().filter(move |row| {
                row.member() == Some(member) && row.direction() == Some(Direction::Up)
            })),
        }
    }
}

fn of_quality(rows: &Rows, quality: Quality) -> impl Iterator<Item = &Row> {
    rows.flows.iter().filter(move |row| row.quality() == Some(quality))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(is_meant: impl Fn(&Measure) -> bool) -> Vec<&'static str> {
        MEASURES.iter().filter(|measure| is_meant(measure)).map(|measure| measure.key).collect()
    }

    #[test]
    fn measures_have_their_unit_after_a_number() {
        for (key, better, unit) in [
            ("upstream_queue_p50_ms", Better::Lower, " ms"),
            ("voice_mos", Better::Higher, ""),
            ("upload_mbps", Better::Higher, " Mbps"),
            ("game_loss_percent", Better::Lower, " %"),
        ] {
            let one = Measure::named(key);
            assert_eq!((one.better, one.unit_after()), (better, unit.to_owned()), "{key}");
        }
    }

    /// A tenth of a ms and a hundredth of a Mbps, and a digit more of what is small where it is good.
    #[test]
    fn digits_are_those_of_the_unit() {
        for key in keys(|_| true) {
            let one = Measure::named(key);
            let is_small = key.starts_with("low_latency") || key.starts_with("response");
            let is_finer = is_small || key == "game_loss_percent";
            let digits = if matches!(one.unit, "ms" | "%") { 1 } else { 2 };
            assert_eq!(one.digits, digits + u8::from(is_finer), "{key}");
        }
    }
}
