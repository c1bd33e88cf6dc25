//! Which traffic is bulk traffic. It may fill a line, and only its rate matters.
//!
//! Bulk traffic is: transfers in either direction (uploads, downloads), torrents, on/off sources,
//! streams of data and replayed captures. The rest is traffic whose delay users notice: games, calls,
//! video calls, pages, web sessions and videos. An idle line carries only the rest.

use super::AppSpec;
use crate::packet::Direction;

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
            Self::Replay(replay) => Some(replay.direction),
            Self::Stream(stream) if stream.purpose == Purpose::Data => Some(
                // With direction `both`, what comes back to the home are answers.
                if stream.direction().includes(Direction::Up) {
                    Direction::Up
                } else {
                    Direction::Down
                },
            ),
            Self::Stream(_)
            | Self::Web(_)
            | Self::WebSessions(_)
            | Self::Video(_)
            | Self::VideoCall(_) => None,
        }
    }

    /// When bulk traffic begins, in s; never for other traffic.
    pub fn bulk_from_s(&self) -> f64 {
        match self {
            Self::Transfer(transfer) => transfer.start_s,
            Self::Torrent(torrent) => torrent.start_s,
            Self::OnOff(source) => source.start_s,
            Self::Replay(replay) => replay.start_s,
            Self::Stream(stream) if self.is_bulk() => stream.start_s.unwrap_or_default(),
            Self::Stream(_)
            | Self::Web(_)
            | Self::WebSessions(_)
            | Self::Video(_)
            | Self::VideoCall(_) => f64::INFINITY,
        }
    }

    /// The number of transfers at a time.
    pub fn transfers(&self) -> u32 {
        if let Self::Transfer(transfer) = self { transfer.connections } else { 1 }
    }

    /// Bulk traffic in a word.
    pub fn bulk_word(&self) -> &'static str {
        match (self, self.bulk_direction()) {
            (Self::Transfer(_), Some(Direction::Up)) => "upload",
            (Self::Transfer(_), _) => "download",
            (Self::Torrent(_), _) => "torrent",
            _ => "data traffic",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::{AppParameters as _, Quality};
    use serde_json::json;

    #[test]
    fn bulk_is_what_is_judged_by_its_rate() {
        let stream = |purpose: &str| json!({"kind": "stream", "server": "s", "purpose": purpose});
        let cases = [
            (json!({"kind": "transfer", "server": "s"}), Some("upload")),
            (json!({"kind": "transfer", "server": "s", "direction": "down"}), Some("download")),
            (json!({"kind": "torrent", "servers": ["s"]}), Some("torrent")),
            (stream("data"), Some("data traffic")),
            (stream("game"), None),
            (stream("voice"), None),
            (json!({"kind": "video", "server": "s"}), None),
        ];
        for (spec, word) in cases {
            let app: AppSpec = serde_json::from_value(spec.clone()).unwrap();
            assert_eq!(app.is_bulk(), word.is_some(), "{spec}");
            assert_eq!(app.is_bulk(), app.quality() == Quality::Throughput, "{spec}");
            assert_eq!(app.bulk_from_s().is_finite(), app.is_bulk(), "{spec}");
            assert!(word.is_none_or(|word| word == app.bulk_word()), "{spec}");
        }
    }
}
