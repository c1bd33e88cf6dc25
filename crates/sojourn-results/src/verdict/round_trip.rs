//! Round trips of games and calls by what goes in bulk meanwhile, as tests of bufferbloat show them: a letter and its
//! numbers.

use serde::Serialize;

use super::grades::{Assessment, round_trips};
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
    /// Of a run and its idle line; `None` if no game or call measured it. Of several it is the first that has the letter of the
    /// grade under load, games before calls.
    pub(super) fn of(one: &Judged<'_>, idle: Option<&Judged<'_>>) -> Option<Self> {
        let idle_runs = idle.map(|line| line.group.runs.as_slice());
        let letter_of = |found: &Assessment| found.value(ADDED_DELAY).map(letter);
        let worst = one.assessment(UNDER_LOAD).and_then(letter_of);
        let is_of = |name: &str| {
            let mut own = one.entries.iter().filter(|found| found.application == UNDER_LOAD);
            own.find(|found| found.traffic == name).and_then(letter_of)
        };
        let name = one.group.runs[0].round_trips.keys().find(|name| is_of(&name.1) == worst)?;
        let (medians, _) = round_trips(&one.group.runs, idle_runs, name);
        let [idle_ms, downloading_ms, uploading_ms, both_ms] = medians;
        let traffic = name.1.clone();
        Some(Self { letter: worst, traffic, idle_ms, downloading_ms, uploading_ms, both_ms })
    }
}
