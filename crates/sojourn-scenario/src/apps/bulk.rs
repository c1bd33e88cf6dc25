//! Which traffic is bulk traffic. It may fill a line, and only its rate matters.
//!
//! Bulk traffic is: transfers in either direction (uploads, downloads), torrents, on/off sources,
//! streams of data, replayed captures and tests of responsiveness. The rest is traffic whose delay users notice: games, calls,
//! video calls, games from afar, pages, web sessions and videos. An idle line carries only the rest.

use std::ops::Range;

use serde::Serialize;

use super::{AppSpec, Quality};
use sojourn_engine::packet::Direction;

/// A sort of bulk traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bulk {
    /// Uploads and downloads.
    Transfer,
    /// Torrents.
    Torrent,
    /// Streams of data, sources that pause, replayed captures.
    Data,
    /// Tests of responsiveness.
    Test,
}

impl Bulk {
    /// The sort of an app; `None` if it is no bulk traffic.
    pub fn of(app: &AppSpec) -> Option<Self> {
        app.is_bulk().then_some(match app {
            AppSpec::Transfer(_) => Self::Transfer,
            AppSpec::Torrent(_) => Self::Torrent,
            AppSpec::Responsiveness(_) => Self::Test,
            _ => Self::Data,
        })
    }

    /// It in a word, if its payload goes in this direction.
    pub const fn word(self, direction: Direction) -> &'static str {
        match (self, direction) {
            (Self::Transfer, Direction::Up) => "upload",
            (Self::Transfer, Direction::Down) => "download",
            (Self::Torrent, _) => "torrent",
            (Self::Data, _) => "data traffic",
            (Self::Test, _) => "responsiveness test",
        }
    }
}

impl AppSpec {
    /// Is it bulk traffic?
    pub fn is_bulk(&self) -> bool {
        self.bulk_direction().is_some()
    }

    /// Where the payload of bulk traffic goes; `None` for other traffic.
    pub fn bulk_direction(&self) -> Option<Direction> {
        use super::stream::Purpose;
        match self {
            Self::Transfer(transfer) => Some(transfer.direction),
            Self::Torrent(torrent) => Some(torrent.direction),
            Self::OnOff(source) => Some(source.direction),
            // One of both directions counts as its upload.
            Self::Replay(replay) => Some(replay.direction.unwrap_or_default()),
            // One of both directions counts as its download.
            Self::Responsiveness(test) => Some(test.direction.only().unwrap_or(Direction::Down)),
            // With direction `both`, what comes back to the home are answers.
            Self::Stream(stream) if stream.purpose == Purpose::Data => {
                Some(stream.direction().only().unwrap_or(Direction::Up))
            }
            Self::Outside(app) => (app.quality() == Quality::Throughput)
                .then(|| app.load(1.0).direction.unwrap_or_default()),
            Self::Stream(_)
            | Self::Web(_)
            | Self::WebSessions(_)
            | Self::Video(_)
            | Self::VideoCall(_)
            | Self::CloudGame(_)
            | Self::Real(_) => None,
        }
    }

    /// Does it send data in bulk in this direction?
    pub fn loads(&self, direction: Direction) -> bool {
        match self {
            Self::Stream(stream) => self.is_bulk() && stream.direction().includes(direction),
            // A capture of a home loads both.
            Self::Replay(replay) => replay.direction.is_none_or(|only| only == direction),
            Self::Responsiveness(test) => test.direction.includes(direction),
            Self::Outside(app) => self.is_bulk() && app.load(1.0).is_of(direction),
            _ => self.bulk_direction() == Some(direction),
        }
    }

    /// Has its payload in a direction a part of the line? What pauses at random has none.
    pub fn has_share(&self, way: Direction) -> bool {
        self.loads(way) && matches!(self, Self::Transfer(_) | Self::Torrent(_) | Self::Stream(_))
    }

    /// What its payload in a direction is graded and measured as; `None` if it sends none there.
    pub fn share_name(&self, way: Direction) -> Option<&'static str> {
        Some(match (Bulk::of(self).filter(|_| self.loads(way))?, way) {
            (Bulk::Torrent, Direction::Down) => "torrent down",
            (Bulk::Data, Direction::Up) => "data up",
            (Bulk::Data, Direction::Down) => "data down",
            (Bulk::Test, _) => return None,
            (sort, way) => sort.word(way),
        })
    }

    /// Within how long after its start all bulk traffic of an entry begins, in s.
    pub fn bulk_spread_s(&self) -> f64 {
        match self {
            Self::Transfer(transfer) => transfer.start_spread_s,
            Self::Torrent(torrent) => torrent.start_spread_s,
            _ => 0.0,
        }
    }

    /// Do its users notice the delay of each packet in this direction?
    pub fn watches(&self, direction: Direction) -> bool {
        match self {
            Self::Stream(stream) => !self.is_bulk() && stream.direction().includes(direction),
            Self::VideoCall(call) => call.direction.includes(direction),
            Self::CloudGame(_) => true,
            Self::Outside(app) => app.quality().is_of_packets() && app.load(1.0).is_of(direction),
            _ => false,
        }
    }

    /// Is the delay in this direction part of what it is graded by: do its users notice that of each packet, or does it test it?
    pub fn tells(&self, direction: Direction) -> bool {
        self.watches(direction)
            || matches!(self, Self::Responsiveness(test) if test.direction.includes(direction))
    }

    /// Do its users wait for answers, whose packets go both ways?
    pub fn awaits(&self, _: Direction) -> bool {
        self.parameters().quality().is_of_answers()
    }

    /// Do its packets wait behind those of others in this direction? What connections bring waits behind itself, as pages, films
    /// and all that a test sends but its probes: grades of their own tell of it.
    pub fn waits_behind_others(&self, direction: Direction) -> bool {
        let is_light = direction == Direction::Up || matches!(self, Self::WebSessions(_));
        let sends_datagrams = self.parameters().tcp().is_none();
        sends_datagrams && self.watches(direction) || is_light && self.awaits(direction)
    }

    /// Does its rate follow the line, so that what it gets without bulk traffic depends on the queue?
    pub fn adapts(&self) -> bool {
        match self {
            Self::Video(_) => true,
            Self::VideoCall(call) => call.adapts(),
            _ => false,
        }
    }

    /// Do its ends measure round trips that its users notice?
    pub fn is_two_way(&self) -> bool {
        Direction::BOTH.into_iter().all(|direction| self.watches(direction))
    }

    /// When bulk traffic begins, in s; never for other traffic.
    pub fn bulk_from_s(&self) -> f64 {
        match self {
            Self::Responsiveness(test) => test.load_s(),
            _ if self.is_bulk() => self.start_s().unwrap_or_default(),
            _ => f64::INFINITY,
        }
    }

    /// From when until when it may load the line, in s: up to infinity if no key says when it ends.
    pub fn may_load_s(&self) -> Range<f64> {
        let stop_s = match self {
            Self::Transfer(transfer) => transfer.stop_s,
            Self::Stream(stream) => stream.stop_s,
            Self::Responsiveness(test) => Some(test.load_s() + test.limit_s),
            _ => None,
        };
        self.bulk_from_s()..stop_s.unwrap_or(f64::INFINITY)
    }

    /// When it loads the line without a pause, in s; empty unless it does so all the time that it may.
    pub fn surely_loads_s(&self) -> Range<f64> {
        match self {
            Self::Transfer(transfer) if transfer.file_bytes.is_some() => 0.0..0.0,
            // Nobody knows when one from outside pauses.
            Self::Outside(_) => 0.0..0.0,
            _ if self.ends_by_itself() => 0.0..0.0,
            _ => self.may_load_s(),
        }
    }

    /// From when until when it watches the line, in s; empty for what does not.
    pub fn watches_s(&self) -> Range<f64> {
        let (start_s, stop_s) = match self {
            Self::Stream(stream) if !self.is_bulk() => (stream.start_s, stream.stop_s),
            Self::VideoCall(call) => (call.start_s, call.stop_s),
            Self::CloudGame(game) => (game.start_s, game.stop_s),
            Self::Outside(app) if app.quality().is_of_packets() => (app.start_s(), None),
            _ => return 0.0..0.0,
        };
        start_s.unwrap_or_default()..stop_s.unwrap_or(f64::INFINITY)
    }

    /// From when until when it tells what is waited on the line, or its users wait for answers, in s; empty for other traffic.
    pub fn waits_s(&self) -> Range<f64> {
        match self {
            Self::Responsiveness(_) => self.may_load_s(),
            _ if self.awaits(Direction::Up) => self.start_s().unwrap_or_default()..f64::INFINITY,
            _ => self.watches_s(),
        }
    }

    /// May it be bulk traffic that is over before this time, in s?
    pub fn bulk_may_end(&self, before_s: f64) -> bool {
        self.is_bulk() && (self.may_load_s().end < before_s || self.ends_by_itself())
    }

    /// Does it send one file after another, with pauses?
    pub fn pauses(&self) -> bool {
        matches!(self, Self::Transfer(transfer) if transfer.pauses())
    }

    /// Is it bulk traffic that ends when all is sent?
    pub fn ends_by_itself(&self) -> bool {
        match self {
            Self::Transfer(transfer) => transfer.file_bytes.is_some() && !self.pauses(),
            Self::Replay(replay) => replay.pause_s.is_none(),
            Self::Responsiveness(_) => true,
            _ => false,
        }
    }

    /// The number of transfers at a time.
    pub fn transfers(&self) -> u32 {
        if let Self::Transfer(transfer) = self { transfer.connections } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::Quality;
    use serde_json::json;

    #[test]
    fn bulk_is_what_is_judged_by_its_rate() {
        let stream = |purpose: &str| json!({"kind": "stream", "server": "s", "purpose": purpose});
        let cases = [
            (json!({"kind": "transfer", "server": "s"}), Some("upload")),
            (json!({"kind": "transfer", "server": "s", "direction": "down"}), Some("download")),
            (json!({"kind": "torrent", "servers": ["s"]}), Some("torrent")),
            (json!({"kind": "responsiveness", "server": "s"}), Some("responsiveness test")),
            (stream("data"), Some("data traffic")),
            (stream("game"), None),
            (stream("voice"), None),
            (json!({"kind": "video", "server": "s"}), None),
        ];
        for (spec, word) in cases {
            let app: AppSpec = serde_json::from_value(spec.clone()).unwrap();
            assert_eq!(app.is_bulk(), word.is_some(), "{spec}");
            let by_rate = [Quality::Throughput, Quality::Responsiveness];
            assert_eq!(app.is_bulk(), by_rate.contains(&app.parameters().quality()), "{spec}");
            assert_eq!(app.bulk_from_s().is_finite(), app.is_bulk(), "{spec}");
            let reported =
                Bulk::of(&app).zip(app.bulk_direction()).map(|(sort, way)| sort.word(way));
            assert_eq!(reported, word, "{spec}");
        }
    }
}
