//! The round trip of games on the idle line and under load, as tests of bufferbloat show it: a letter and three
//! numbers.

use std::collections::BTreeMap;

use serde::Serialize;

use super::grades::{Assessment, letter};
use super::over_seeds::Value;
use super::thresholds::{ADDED_DELAY, UNDER_LOAD};

const MEDIAN: &str = "game_rtt_p50_ms";
/// Measures of bulk traffic, up and down: where a run has one, its round trips are of a loaded line.
const BULK: [[&str; 3]; 2] = [
    ["upload_mbps", "torrent_mbps", "data_up_mbps"],
    ["download_mbps", "torrent_down_mbps", "data_down_mbps"],
];

/// Medians in ms; `None` where none was measured.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct RoundTrip {
    /// On DSLReports' scale from A+ to F, by what load adds to the mean.
    pub letter: Option<&'static str>,
    /// Without bulk traffic.
    pub idle_ms: Option<f64>,
    /// While bulk traffic comes down.
    pub downloading_ms: Option<f64>,
    /// While bulk traffic goes up. If it does both, the two are of the same time.
    pub uploading_ms: Option<f64>,
}

type Measures = BTreeMap<&'static str, Value>;

impl RoundTrip {
    /// Of a run and its idle line; `None` if no game measured it.
    pub(super) fn of(own: &Measures, idle: &Measures, assessments: &[Assessment]) -> Option<Self> {
        let median = |measures: &Measures| measures.get(MEDIAN)?.mean;
        let loaded_ms = median(own)?;
        let [is_up, is_down] = BULK.map(|keys| keys.iter().any(|key| own.contains_key(key)));
        let under_load = assessments.iter().find(|one| one.application == UNDER_LOAD);
        let added_ms = under_load.and_then(|one| *one.values.get(ADDED_DELAY)?);
        Some(Self {
            letter: added_ms.map(letter),
            idle_ms: if is_up || is_down { median(idle) } else { Some(loaded_ms) },
            downloading_ms: is_down.then_some(loaded_ms),
            uploading_ms: is_up.then_some(loaded_ms),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measures(found: &[(&'static str, f64)]) -> Measures {
        let value = |mean| Value { mean: Some(mean), half_width: None };
        found.iter().map(|(key, mean)| (*key, value(*mean))).collect()
    }

    #[test]
    fn a_direction_without_load_is_not_measured() {
        let idle = measures(&[(MEDIAN, 23.0)]);
        let of = |found: &[_]| RoundTrip::of(&measures(found), &idle, &[]);
        let three = |found: &[_]| {
            let one = of(found).unwrap();
            [one.idle_ms, one.downloading_ms, one.uploading_ms]
        };
        assert_eq!(three(&[(MEDIAN, 24.0)]), [Some(24.0), None, None]);
        let up = [(MEDIAN, 260.0), ("upload_mbps", 9.8)];
        assert_eq!(three(&up), [Some(23.0), None, Some(260.0)]);
        let down = [(MEDIAN, 60.0), ("data_down_mbps", 1.0)];
        assert_eq!(three(&down), [Some(23.0), Some(60.0), None]);
        let both = [up.as_slice(), &down[1..]].concat();
        assert_eq!(three(&both), [Some(23.0), Some(260.0), Some(260.0)]);
        assert_eq!(of(&[("upload_mbps", 9.8)]), None);
    }
}
