//! The pictures of a call: how large they are at a rate, alone or in layers that are sent at once (simulcast).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The height of a call's largest picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Picture {
    /// 1920 x 1080.
    #[serde(rename = "1080p")]
    P1080,
    /// 1280 x 720.
    #[serde(rename = "720p")]
    P720,
    /// 960 x 540.
    #[serde(rename = "540p")]
    P540,
    /// 640 x 360.
    #[serde(rename = "360p")]
    P360,
    /// 480 x 270.
    #[serde(rename = "270p")]
    P270,
    /// 320 x 180.
    #[serde(rename = "180p")]
    P180,
}

/// Rates of a picture in kbit/s (libwebrtc: `simulcast.cc`, VP8 and H.264).
struct Row {
    height: u32,
    most: f64,
    target: f64,
    least: f64,
}

/// All pictures, from the largest.
const ROWS: [Row; 6] = [
    Row { height: 1080, most: 5000.0, target: 4000.0, least: 800.0 },
    Row { height: 720, most: 2500.0, target: 2500.0, least: 600.0 },
    Row { height: 540, most: 1200.0, target: 1200.0, least: 350.0 },
    Row { height: 360, most: 700.0, target: 500.0, least: 150.0 },
    Row { height: 270, most: 450.0, target: 350.0, least: 150.0 },
    Row { height: 180, most: 200.0, target: 150.0, least: 30.0 },
];

/// What a call sends of a rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Sent {
    /// The rate of all its layers in bit/s.
    pub(super) bps: f64,
    /// Padding, so that the rate can grow to where the next layer begins.
    pub(super) padding_bps: f64,
    /// The height of its largest picture.
    pub(super) height: u32,
}

impl Picture {
    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Its height.
    pub(super) fn height(self) -> u32 {
        self.row().height
    }

    /// Layers that it may have: each has half of the height of the one above it.
    pub(super) fn most_layers(self) -> u32 {
        match self {
            Self::P1080 | Self::P720 | Self::P540 => 3,
            Self::P360 | Self::P270 => 2,
            Self::P180 => 1,
        }
    }

    /// Its layers, from the lowest.
    fn layers(self, count: u32) -> impl Iterator<Item = &'static Row> {
        // 135 lines have the rates of 180.
        let of = move |halvings: u32| {
            let height = self.height() >> halvings;
            ROWS.iter().rev().find(|row| row.height >= height).unwrap_or(&ROWS[0])
        };
        (0..count).rev().map(of)
    }

    /// The most that so many layers of it take in bit/s.
    pub(super) fn most_bps(self, layers: u32) -> f64 {
        let lower = self.layers(layers).take(layers as usize - 1).map(|row| row.target);
        1e3 * (lower.sum::<f64>() + self.row().most)
    }

    /// What is sent of a rate. A layer is sent if those below it have their target and it its least rate; the highest of
    /// them has what is left (libwebrtc: `simulcast_rate_allocator.cc`). A picture alone becomes smaller instead.
    pub(super) fn sent(self, layers: u32, bps: f64) -> Sent {
        if layers == 1 {
            let fits = |row: &&Row| row.height <= self.height() && 1e3 * row.least <= bps;
            let height = ROWS.iter().find(fits).unwrap_or(&ROWS[5]).height;
            return Sent { bps, padding_bps: 0.0, height };
        }
        let (mut below, mut top): (f64, Option<&Row>) = (0.0, None);
        for row in self.layers(layers) {
            let with_target = below + top.map_or(0.0, |top| 1e3 * top.target);
            if top.is_some() && bps < with_target + 1e3 * row.least {
                let sent = bps.min(below + top.map_or(0.0, |top| 1e3 * top.most));
                let height = top.map_or(0, |top| top.height);
                return Sent { bps: sent, padding_bps: bps - sent, height };
            }
            (below, top) = (with_target, Some(row));
        }
        let most = below + top.map_or(0.0, |top| 1e3 * top.most);
        Sent { bps: bps.min(most), padding_bps: 0.0, height: top.map_or(0, |top| top.height) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_sent_from_below_and_gaps_are_padded() {
        // 180p: 30 to 200 kbit/s; with 150 for it 360p from 150 on, to 700; with 650 for both 720p from 600 on.
        let cases = [
            (100e3, 100e3, 0.0, 180),
            (250e3, 200e3, 50e3, 180),
            (300e3, 300e3, 0.0, 360),
            (1000e3, 850e3, 150e3, 360),
            (1250e3, 1250e3, 0.0, 720),
            (3150e3, 3150e3, 0.0, 720),
        ];
        for (rate, bps, padding_bps, height) in cases {
            let sent = Picture::P720.sent(3, rate);
            assert_eq!(sent, Sent { bps, padding_bps, height }, "{rate}");
        }
        assert_eq!(Picture::P720.most_bps(3), 3150e3);
        assert_eq!(Picture::P720.most_bps(1), 2500e3);
    }

    #[test]
    fn a_picture_alone_becomes_smaller() {
        let height = |bps| Picture::P720.sent(1, bps).height;
        assert_eq!(
            [2.5e6, 6e5, 5.9e5, 3.4e5, 1.49e5, 1e4].map(height),
            [720, 720, 540, 360, 180, 180]
        );
        assert_eq!(Picture::P180.sent(1, 2.5e6).height, 180);
    }
}
