//! Round trips of games and calls by what goes in bulk meanwhile, as tests of bufferbloat show them: a letter and its
//! numbers.

use serde::Serialize;

use super::grades::round_trips;
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
    /// Of a run and its idle line; `None` if no game or call measured it. Of several it is the same one in all settings: that
    /// to which load adds most with any, or else the first, games before calls.
    pub(super) fn of(
        one: &Judged<'_>,
        idle: Option<&Judged<'_>>,
        all: &[Judged<'_>],
    ) -> Option<Self> {
        let idle_runs = idle.map(|line| line.group.runs.as_slice());
        let added = |of: &Judged<'_>, name: &str| {
            let mut own = of.entries.iter().filter(|found| found.application == UNDER_LOAD);
            own.find(|found| found.traffic == name)?.value(ADDED_DELAY)
        };
        let most = |name: &str| all.iter().filter_map(|of| added(of, name)).reduce(f64::max);
        let names = one.group.runs[0].round_trips.keys();
        let is_worse = |a: Option<f64>, b: Option<f64>| a > b && a.map(letter) != b.map(letter);
        let name = names.reduce(|a, b| if is_worse(most(&b.1), most(&a.1)) { b } else { a })?;
        let (medians, _) = round_trips(&one.group.runs, idle_runs, name);
        let [idle_ms, downloading_ms, uploading_ms, both_ms] = medians;
        let added_ms = added(one, &name.1);
        Some(Self { letter: added_ms.map(letter), idle_ms, downloading_ms, uploading_ms, both_ms })
    }
}
