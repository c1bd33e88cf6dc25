//! What had not come when a run ended. A line that stops drops nothing, so its packets are neither late nor lost in the
//! tables; whoever waits for one has given it up by then.

use std::borrow::Cow;

use serde_json::json;

use super::{Row, Rows};
use crate::scores::voice_model::r_value;
use crate::scores::{GIVEN_UP_S, qoe};
use sojourn_scenario::Scenario;

const DROPPED: [&str; 4] = [
    "dropped_overflow_packets",
    "dropped_aqm_packets",
    "dropped_link_packets",
    "dropped_contention_packets",
];

/// The tables in which packets of games and calls that had not come within that time count as lost. They send at steady
/// rates, so those that wait beyond what such a time brings were sent before it. Scores of frames and of calls whose buffer
/// adapts count them already.
pub(crate) fn with_given_up<'a>(scenario: &Scenario, rows: &'a Rows) -> Cow<'a, Rows> {
    let all: Vec<_> = rows.flows.iter().map(|row| GivenUp::of(scenario, row)).collect();
    if all.iter().all(Option::is_none) {
        return Cow::Borrowed(rows);
    }
    let mut rows = rows.clone();
    for (row, given_up) in rows.flows.iter_mut().zip(all) {
        let Some(given_up) = given_up else { continue };
        let mos = given_up.mos(scenario, row).map(|mos| ("mos", mos));
        let values = [("loss_percent", given_up.loss_percent())].into_iter().chain(mos);
        row.0.extend(values.map(|(column, value)| (column.to_owned(), json!(value))));
    }
    Cow::Owned(rows)
}

/// The packets of an entry in a direction by what came of them, where some are given up.
struct GivenUp {
    delivered: f64,
    dropped: f64,
    given_up: f64,
}

impl GivenUp {
    fn of(scenario: &Scenario, row: &Row) -> Option<Self> {
        let entry = scenario.traffic.get(row.traffic())?;
        let sends_s = scenario.watches_s(entry);
        let count = |column: &&str| row.number(column);
        let (sent, delivered) = (count(&"sent_packets")?, count(&"delivered_packets")?);
        let dropped: f64 = DROPPED.iter().filter_map(count).sum();
        let given_up = sent - delivered - dropped - sent / sends_s * GIVEN_UP_S;
        (sends_s > 0.0 && given_up > 0.0).then_some(Self { delivered, dropped, given_up })
    }

    /// The share that is lost or given up.
    fn loss_percent(&self) -> f64 {
        let lost = self.dropped + self.given_up;
        100.0 * lost / (lost + self.delivered)
    }

    /// The opinion score of a call whose buffer does not adapt: its listener does not hear these packets either. Loss and
    /// delay add up in both models of R.
    fn mos(&self, scenario: &Scenario, row: &Row) -> Option<f64> {
        if scenario.traffic[row.traffic()].app.parameters().plays_adaptively() {
            return None;
        }
        let concealed = row.number("concealed_percent")? / 100.0;
        let ended = self.delivered + self.dropped;
        let unheard = (concealed * ended + self.given_up) / (ended + self.given_up);
        let r_of = |loss| r_value(scenario.metrics.voice_model, 0.0, loss);
        Some(qoe::mos(row.number("r_value")? + r_of(unheard) - r_of(concealed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call of 50 packets a second for 100 s, of which so many had come and been dropped: what has been sent in the last
    /// seconds may yet come.
    #[test]
    fn what_waits_longer_than_anybody_does_is_given_up() {
        let text = "duration_s = 100
                    upstream.sustained_mbps = 5
                    downstream.sustained_mbps = 5
                    servers.near.delay_ms = 5
                    traffic.call = { kind = 'stream', purpose = 'voice', server = 'near', interval_ms = 20, start_s = 0 }";
        let scenario = sojourn_scenario::load(text, "call", &[]).unwrap().remove(0).scenario;
        let of = |delivered: f64, dropped: f64| {
            let values = json!({
                "traffic": "call", "direction": "up", "sent_packets": 5000.0,
                "delivered_packets": delivered, "dropped_overflow_packets": dropped,
            });
            let row = Row::from(values);
            GivenUp::of(&scenario, &row).map(|of| (of.given_up, of.loss_percent()))
        };
        let waiting = 50.0 * GIVEN_UP_S;
        assert_eq!(of(5000.0, 0.0), None);
        assert_eq!(of(4000.0, 1000.0), None);
        assert_eq!(of(5000.0 - waiting, 0.0), None);
        // A quarter of those that are not younger: 245 dropped and 1000 given up.
        let ended = 5000.0 - waiting;
        assert_eq!(of(0.75 * ended, 245.0), Some((1000.0, 25.0)));
    }
}
