//! The round trip of games on the idle line and under load, as tests of bufferbloat show it: a letter and three
//! numbers.

use serde::Serialize;

use super::groups::Judged;
use super::thresholds::{ADDED_DELAY, UNDER_LOAD};
use crate::letters::letter;
use sojourn_engine::packet::Direction;

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

impl RoundTrip {
    /// Of a run and its idle line; `None` if no game measured it.
    pub(super) fn of(one: &Judged<'_>, idle: Option<&Judged<'_>>) -> Option<Self> {
        let median_ms = |of: &Judged<'_>| of.group.mean("game_rtt_p50_ms");
        let loaded: Vec<Direction> = one.group.runs[0].loaded().collect();
        let found_ms = median_ms(one)?;
        let while_ms = |way| loaded.contains(&way).then_some(found_ms);
        let added_ms = one.assessment(UNDER_LOAD).and_then(|found| found.value(ADDED_DELAY));
        Some(Self {
            letter: added_ms.map(letter),
            idle_ms: if loaded.is_empty() { Some(found_ms) } else { idle.and_then(median_ms) },
            downloading_ms: while_ms(Direction::Down),
            uploading_ms: while_ms(Direction::Up),
        })
    }
}
