//! Round trips of games and calls by what goes in bulk meanwhile, as tests of bufferbloat show them: a letter and its
//! numbers.

use serde::Serialize;

use super::grades::worst_round_trips;
use super::groups::Judged;
use super::thresholds::{ADDED_DELAY, UNDER_LOAD};
use crate::letters::letter;

/// Medians in ms; `None` where none was measured.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct RoundTrip {
    /// On DSLReports' scale from A+ to F, by what the load that adds most adds to the mean.
    pub letter: Option<&'static str>,
    /// Without bulk traffic.
    pub idle_ms: Option<f64>,
    /// While bulk traffic comes down alone.
    pub downloading_ms: Option<f64>,
    /// While bulk traffic goes up alone.
    pub uploading_ms: Option<f64>,
    /// While it goes both ways at once.
    pub both_ms: Option<f64>,
}

impl RoundTrip {
    /// Of a run and its idle line; `None` if no game or call measured it.
    pub(super) fn of(one: &Judged<'_>, idle: Option<&Judged<'_>>) -> Option<Self> {
        let idle_runs = idle.map(|line| line.group.runs.as_slice());
        let (medians, _) = worst_round_trips(&one.group.runs, idle_runs)?;
        let [idle_ms, downloading_ms, uploading_ms, both_ms] = medians;
        let added_ms = one.assessment(UNDER_LOAD).and_then(|found| found.value(ADDED_DELAY));
        Some(Self { letter: added_ms.map(letter), idle_ms, downloading_ms, uploading_ms, both_ms })
    }
}
