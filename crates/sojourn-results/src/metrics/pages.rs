//! How long pages take, those included that were still loading when the run ended.

use super::{Row, Rows};
use crate::scores::qoe::median;
use sojourn_scenario::Scenario;
use sojourn_scenario::apps::AppSpec;

/// A page that began at a time that is known begins this near to it, beside what the clock of its device drifts in a pause.
const SAME_S: f64 = 1e-6;
/// Longer than that a page is poor, so one that has taken longer and is not loaded counts.
const POOR_PAGE_S: f64 = 6.9;
/// A single loaded page is not graded: it was loaded before the queue had filled.
const FEWEST_PAGES: usize = 2;

/// How long the pages of an entry take to load.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct PageLoad {
    /// The median is no less: as if unfinished pages had been loaded when the run ended. `None` if nothing is known.
    pub least_s: Option<f64>,
    /// It is no more: as if these never came. Endless if half of the pages are not loaded.
    pub most_s: f64,
    /// Are there enough pages for a grade?
    pub is_graded: bool,
}

impl PageLoad {
    /// The median; `None` if it depends on when unfinished pages would have been loaded.
    pub(crate) fn median_s(&self) -> Option<f64> {
        self.least_s.filter(|least_s| *least_s == self.most_s)
    }
}

/// The load time of an entry's pages.
///
/// A page that is not loaded at the end takes longer than until then, which counts unless it would lower the median.
/// Without a loaded page, nothing is known until an unfinished one has taken longer than the fair threshold.
pub(crate) fn page_load(scenario: &Scenario, rows: &Rows, traffic: &str) -> PageLoad {
    let mine = rows.pages.iter().filter(|row| row.traffic() == traffic);
    let loaded: Vec<f64> = mine.filter_map(|row| row.number("load_time_s")).collect();
    let typical_s = median(&loaded).unwrap_or_default();
    let unfinished = unfinished_s(scenario, rows, traffic);
    let counted: Vec<f64> = unfinished.into_iter().filter(|had_s| *had_s > typical_s).collect();
    let all = [&loaded[..], &counted].concat();
    let is_known = !loaded.is_empty() || counted.iter().any(|had_s| *had_s > POOR_PAGE_S);
    // A single page that is poor by itself is no better than none.
    let are_poor = all.iter().all(|took_s| *took_s > POOR_PAGE_S);
    let is_graded = is_known && (all.len() >= FEWEST_PAGES || loaded.is_empty() || are_poor);
    let most_s = median(&[loaded, vec![f64::INFINITY; counted.len()]].concat());
    let least_s = median(&all).filter(|_| is_known);
    PageLoad { least_s, most_s: most_s.unwrap_or(f64::INFINITY), is_graded }
}

/// The longest median in s of several entries: of those that a grade is of, if there are any. `None` if one is not known.
pub(crate) fn page_load_of_all<'a>(
    scenario: &Scenario,
    rows: &Rows,
    entries: impl Iterator<Item = &'a str>,
) -> Option<f64> {
    let all = entries.map(|traffic| page_load(scenario, rows, traffic));
    let (graded, others): (Vec<_>, Vec<_>) = all.partition(|one| one.is_graded);
    let all = if graded.is_empty() { others } else { graded };
    let medians: Option<Vec<f64>> = all.iter().map(PageLoad::median_s).collect();
    medians?.into_iter().reduce(f64::max)
}

/// How long each unfinished page of a traffic entry had been loading at the end, in s. Pages count that began
/// when counting had begun. That of a user who was there before and finished none of these is left out: when
/// it began is unknown.
///
/// A user opens the next page `pause_s` after the last one was loaded. The start of a user who has
/// not loaded any page is known to within `start_spread_s`; the latest possible time is used.
pub fn unfinished_s(scenario: &Scenario, rows: &Rows, traffic: &str) -> Vec<f64> {
    let Some(entry) = scenario.traffic.get(traffic) else { return Vec::new() };
    let AppSpec::Web(web) = &entry.app else { return Vec::new() };
    let mine = rows.pages.iter().filter(|row| row.traffic() == traffic);
    let of = |column| move |row| Row::number(row, column).unwrap_or_default();
    let starts: Vec<f64> = mine.clone().map(of("start_s")).collect();
    let took = mine.map(of("load_time_s"));
    let next = starts.iter().zip(took).map(|(start, took)| start + took + web.pause_s);
    let drift = scenario.clock_drift_ppm.unwrap_or_default() * 1e-6;
    let (firsts, waiting) = matched(&starts, next, SAME_S + drift * web.pause_s);
    let homes = scenario.group(scenario.group_of(entry)).count;
    let users = web.users as usize * usize::from(homes);
    let latest_s = web.start_s + web.start_spread_s;
    let idle_users = users.saturating_sub(firsts);
    let began = waiting.into_iter().chain(std::iter::repeat_n(latest_s, idle_users));
    let (from_s, end_s) = (scenario.metrics.from_s, scenario.duration_s);
    let counted = began.filter(|start_s| (from_s..end_s).contains(start_s));
    counted.map(|start_s| end_s - start_s).collect()
}

/// The number of starts that were not expected, and the expected starts that are missing.
fn matched(starts: &[f64], expected: impl Iterator<Item = f64>, same_s: f64) -> (usize, Vec<f64>) {
    let mut left = starts.to_vec();
    left.sort_by(f64::total_cmp);
    let mut missing = Vec::new();
    for time_s in expected {
        let place = left.partition_point(|start| *start < time_s - same_s);
        if left.get(place).is_some_and(|start| *start <= time_s + same_s) {
            left.remove(place);
        } else {
            missing.push(time_s);
        }
    }
    (left.len(), missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages start in any order; one that was expected is found within a microsecond of its time, once.
    #[test]
    fn expected_starts_are_found_once_and_near() {
        let found =
            |starts: &[f64], expected: &[f64]| matched(starts, expected.iter().copied(), SAME_S);
        assert_eq!(found(&[5.0, 1.0, 3.0], &[3.0, 4.0, 1.0]), (1, vec![4.0]));
        assert_eq!(found(&[9.0, 8.0, 7.0, 1.0], &[1.0, 9.0]), (2, vec![]));
        assert_eq!(found(&[2.0, 2.0], &[2.0, 5.0]), (1, vec![5.0]));
        assert_eq!(found(&[2.0], &[2.0, 2.0]), (0, vec![2.0]));
        for (expected, want) in [(2.0 + 5e-7, 0), (2.0 - 5e-7, 0), (2.0 + 2e-6, 1), (2.0 - 2e-6, 1)]
        {
            let (unexpected, missing) = found(&[2.0], &[expected]);
            assert_eq!((unexpected, missing.len()), (want, want), "{expected}");
        }
        assert_eq!(found(&[SAME_S], &[0.0]), (0, vec![]));
        assert_eq!(found(&[-SAME_S], &[0.0]), (0, vec![]));
        assert_eq!(found(&[], &[]), (0, vec![]));
    }
}
