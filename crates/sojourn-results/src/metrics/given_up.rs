//! What had not come when a run ended. A line that stops drops nothing, so its packets are neither late nor lost in the
//! tables; whoever waits for one has given it up by then.

use std::borrow::Cow;

use serde_json::json;

use super::{Row, Rows};
use sojourn_scenario::Scenario;

/// A game or a call that waits longer for a packet has failed (`grades.json`).
pub(crate) const GIVEN_UP_S: f64 = 0.4;
const DROPPED: [&str; 4] = [
    "dropped_overflow_packets",
    "dropped_aqm_packets",
    "dropped_link_packets",
    "dropped_contention_packets",
];

/// The tables in which packets of games and calls that had not come within that time count as lost. They send at steady
/// rates, so those that wait beyond what such a time brings were sent before it.
pub(crate) fn with_given_up<'a>(scenario: &Scenario, rows: &'a Rows) -> Cow<'a, Rows> {
    let percents: Vec<_> = rows.flows.iter().map(|row| given_up_percent(scenario, row)).collect();
    if percents.iter().all(Option::is_none) {
        return Cow::Borrowed(rows);
    }
    let mut rows = rows.clone();
    for (row, percent) in rows.flows.iter_mut().zip(percents) {
        row.0.extend(percent.map(|percent| ("loss_percent".to_owned(), json!(percent))));
    }
    Cow::Owned(rows)
}

/// The share that is lost or given up, if any is given up.
fn given_up_percent(scenario: &Scenario, row: &Row) -> Option<f64> {
    let entry = scenario.traffic.get(row.traffic())?;
    let sends_s = scenario.watches_s(entry);
    let count = |column: &&str| row.number(column);
    let (sent, delivered) = (count(&"sent_packets")?, count(&"delivered_packets")?);
    let dropped: f64 = DROPPED.iter().filter_map(count).sum();
    let given_up = sent - delivered - dropped - sent / sends_s * GIVEN_UP_S;
    let lost = dropped + given_up;
    (sends_s > 0.0 && given_up > 0.0).then(|| 100.0 * lost / (lost + delivered))
}
