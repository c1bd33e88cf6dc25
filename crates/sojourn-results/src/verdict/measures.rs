//! The numbers of a run that tables show side by side, each computed from rows of its tables: the data of
//! `measures.json`.

use std::cmp::Ordering::Equal;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::thresholds::{APPLICATIONS, PAGE_LOAD};
use crate::metrics::{Row, Rows, page_load_of_all, rate_mbps};
use sojourn_engine::packet::Direction;
use sojourn_scenario::Scenario;
use sojourn_scenario::apps::AppSpec;

/// Which way a number is better.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The less.
    Lower,
    /// The more.
    Higher,
}

/// A number of a run: of several rows the worst, and of bulk traffic the rate of all together while any is under way.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measure {
    /// Its name, with its unit at the end.
    pub key: &'static str,
    /// Its name in words, without its unit.
    pub label: &'static str,
    /// Its unit; empty where there is none.
    pub unit: &'static str,
    /// Digits after the point that say something: smaller differences are none.
    pub digits: u8,
    /// Which way it is better.
    pub better: Better,
    /// The direction of the queues that it is of, if it is of queues.
    #[serde(default)]
    pub queues: Option<Direction>,
    #[serde(skip_serializing, flatten)]
    pub(super) of: Of,
}

/// Where a number is read and said; what is not set is any.
#[derive(Clone, PartialEq, Default, Debug, Deserialize)]
#[serde(default)]
pub(super) struct Of {
    column: &'static str,
    /// What has a grade that it is of; empty where nothing has.
    #[serde(rename = "use")]
    pub graded: &'static str,
    /// The quality of its flows.
    pub quality: &'static str,
    /// Does its traffic measure round trips? Of a game that sends one way nobody knows them.
    two_way: Option<bool>,
    /// Is it shown beside a low-latency queue alone? There the far tail is what it is about.
    near_low_latency: bool,
    /// Its bulk traffic as it is graded, in the direction of the payload, without acknowledgements.
    pub bulk: &'static str,
    /// The member of upstream low-latency aggregates.
    member: &'static str,
    /// Has it no grade of its own and is named if it differs by much?
    pub headline: bool,
    /// What bulk traffic slows if it is more, and what follows its number then.
    pub slowed: Option<(&'static str, &'static str)>,
    /// Is it named for a line without bulk traffic?
    pub alone: bool,
}

/// The value of a score of a model's own.
const OWN_SCORE: &str = "own_score";

/// All measures, in the order of tables.
pub static MEASURES: LazyLock<Vec<Measure>> =
    LazyLock::new(|| serde_json::from_str(include_str!("measures.json")).expect("a test reads it"));

impl Measure {
    /// The measure of this name.
    ///
    /// # Panics If there is none.
    pub fn named(key: &str) -> &'static Self {
        MEASURES.iter().find(|measure| measure.key == key).expect("a measure that there is")
    }

    /// The least of its bounds in grades and steps, if it has some: beside that a small difference is none.
    pub(super) fn least_bound(&self) -> Option<f64> {
        let of = APPLICATIONS.iter().find(|one| one.name == self.of.graded)?;
        let bounds = of.bounds(self.of.column);
        bounds.filter(|bound| *bound > 0.0).reduce(f64::min)
    }

    /// Is the second value worse than the first?
    pub(super) fn is_worse(&self, from: f64, to: f64) -> bool {
        (to < from) == (self.better == Better::Higher)
    }

    /// Its unit as it follows a number.
    pub(super) fn unit_after(&self) -> String {
        if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) }
    }

    /// Its value in a run, and `None` in it if nothing was measured; `None` if the run has no such rows.
    pub(super) fn value(&self, scenario: &Scenario, rows: &Rows) -> Option<Option<f64>> {
        let is_near = rows.queues.iter().any(|row| !row.text("member").is_empty());
        let all = if self.is_of_queues() { &rows.queues } else { &rows.flows };
        let is_shown = !self.of.near_low_latency || is_near;
        let mut found = all.iter().filter(|row| is_shown && self.is_of(scenario, row)).peekable();
        found.peek()?;
        if !self.of.bulk.is_empty() {
            return Some(rate_mbps(scenario, &found.collect::<Vec<_>>()));
        }
        if self.of.column == PAGE_LOAD {
            return Some(page_load_of_all(scenario, rows, found.map(Row::traffic)));
        }
        let column = self.of.column;
        if column == OWN_SCORE {
            // Scales rise or fall: the level says which is the worst.
            let level = |row: &&&Row| row.number("own_score_level");
            let worst = found.filter(|row| level(&row).is_some());
            let worst =
                worst.max_by(|one, other| level(&one).partial_cmp(&level(&other)).unwrap_or(Equal));
            return Some(worst.and_then(|row| row.number(OWN_SCORE)));
        }
        if found.clone().any(|row| row.is_unheard(column)) {
            return Some(None);
        }
        let values = found.filter_map(|row| row.number(column));
        Some(match self.better {
            Better::Lower => values.reduce(f64::max),
            Better::Higher => values.reduce(f64::min),
        })
    }

    fn is_of_queues(&self) -> bool {
        self.queues.is_some() || !self.of.member.is_empty()
    }

    fn is_of(&self, scenario: &Scenario, row: &Row) -> bool {
        if self.is_of_queues() {
            let way = self.queues.unwrap_or(Direction::Up);
            return row.direction() == Some(way) && row.text("member") == self.of.member;
        }
        let app = scenario.traffic.get(row.traffic()).map(|entry| &entry.app);
        if !self.of.bulk.is_empty() {
            let name = |app: &AppSpec| app.share_name(row.direction()?);
            return app.is_some_and(|app| name(app) == Some(self.of.bulk));
        }
        let is_two_way = app.is_none_or(AppSpec::is_two_way);
        row.text("quality") == self.of.quality
            && self.of.two_way.is_none_or(|way| way == is_two_way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(is_meant: impl Fn(&Measure) -> bool) -> Vec<&'static str> {
        MEASURES.iter().filter(|measure| is_meant(measure)).map(|measure| measure.key).collect()
    }

    #[test]
    fn measures_have_their_unit_after_a_number() {
        for (key, better, unit) in [
            ("upstream_queue_p50_ms", Better::Lower, " ms"),
            ("voice_mos", Better::Higher, ""),
            ("upload_mbps", Better::Higher, " Mbps"),
            ("game_loss_percent", Better::Lower, " %"),
        ] {
            let one = Measure::named(key);
            assert_eq!((one.better, one.unit_after()), (better, unit.to_owned()), "{key}");
        }
    }

    /// What keeps a use from good or fair is in a table: shares and what load adds are in those of grades, waits in that of delay
    /// parts, and of a game 10 % of round trips above 80 ms are an RTT p90 above that.
    #[test]
    fn what_decides_a_grade_has_a_column() {
        let of_grades = [
            "share_percent",
            "kept_video_rate_percent",
            "kept_call_rate_percent",
            "added_delay_ms",
            "wait_mean_ms",
        ];
        for (one, metric) in
            APPLICATIONS.iter().flat_map(|one| one.metrics().into_iter().map(move |it| (one, it)))
        {
            let column = metric
                .replace("queue_", "sojourn_")
                .replace("over_80_ms_round_trip_percent", "rtt_p90_ms");
            let is_it = |it: &&Measure| it.of.graded == one.name && it.of.column == column;
            let is_decisive = one.good.iter().chain(&one.fair).any(|of| of.metric == metric);
            let is_needed = is_decisive && !of_grades.contains(&metric);
            assert!(!is_needed || MEASURES.iter().any(|it| is_it(&it)), "{}: {metric}", one.name);
        }
    }

    /// A tenth of a ms, a hundredth of a Mbps and a whole round trip per minute, and a digit more of what is small where it is good.
    #[test]
    fn digits_are_those_of_the_unit() {
        for key in keys(|_| true) {
            let one = Measure::named(key);
            let is_small = key.starts_with("low_latency") || key.starts_with("response");
            let is_finer = is_small || key == "game_loss_percent";
            let digits = match one.unit {
                "RPM" => 0,
                "ms" | "%" => 1,
                _ => 2,
            };
            assert_eq!(one.digits, digits + u8::from(is_finer), "{key}");
        }
    }
}
