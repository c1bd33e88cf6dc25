//! Round trips of games and calls by what goes in bulk meanwhile, as tests of bufferbloat show them: a letter and its
//! numbers.

use serde::Serialize;

use super::grades::round_trips;
use super::groups::Judged;
use super::thresholds::{ADDED_DELAY, UNDER_LOAD};
use crate::letters::letter;

/// Medians in ms; `None` where none was measured.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RoundTrip {
    /// On DSLReports' scale from A+ to F, by what the load that adds most adds to the mean.
    pub letter: Option<&'static str>,
    /// The game or call.
    pub traffic: String,
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
    /// Of a run and its idle line; `None` if no game or call measured it. Of several it is the one that decides the grade under
    /// load, or else the first, games before calls.
    pub(super) fn of(one: &Judged<'_>, idle: Option<&Judged<'_>>) -> Option<Self> {
        let idle_runs = idle.map(|line| line.group.runs.as_slice());
        let worst = one.assessment(UNDER_LOAD);
        let added_ms = worst.and_then(|found| found.value(ADDED_DELAY));
        let mut names = one.group.runs[0].round_trips.keys();
        let is_worst = |name: &&(bool, String)| worst.is_none_or(|found| found.traffic == name.1);
        let name = names.find(is_worst)?;
        let (medians, _) = round_trips(&one.group.runs, idle_runs, name);
        let [idle_ms, downloading_ms, uploading_ms, both_ms] = medians;
        let (letter, traffic) = (added_ms.map(letter), name.1.clone());
        Some(Self { letter, traffic, idle_ms, downloading_ms, uploading_ms, both_ms })
    }
}
