//! What packets wait in a direction, as those notice it that wait there, and as its queues have it.

use super::{Row, Rows};
use crate::scores::qoe::GAME_ACCESS_MS;
use sojourn_engine::packet::Direction;
use sojourn_engine::record::Part;
use sojourn_scenario::Scenario;
use sojourn_scenario::apps::AppSpec;

/// The entries whose waits in a direction tell of it.
pub(crate) fn heard<'a>(scenario: &'a Scenario, rows: &Rows, way: Direction) -> Vec<&'a str> {
    let mut all = scenario.waiting(way);
    all.retain(|name| sends(scenario, rows, name, way));
    all
}

/// Does an entry send in a direction? Parts from outside need not say so beforehand.
fn sends(scenario: &Scenario, rows: &Rows, name: &str, way: Direction) -> bool {
    let is_sent = |row: &Row| row.traffic() == name && row.direction() == Some(way);
    let is_outside = matches!(scenario.traffic[name].app, AppSpec::Outside(_));
    let mut sent = rows.flows.iter().filter(|row| row.number("sent_packets") != Some(0.0));
    !is_outside || sent.any(is_sent)
}

/// What packets of these entries wait in a direction, behind others, for grants and for tokens, in the mean of that which waits
/// longest; `None` in it if that is not known. Those that wait for their own kind do not tell.
pub(crate) fn longest_wait_ms(
    scenario: &Scenario,
    rows: &Rows,
    heard: &[&str],
    way: Direction,
) -> Option<Option<f64>> {
    let waited_ms = |name: &&str| {
        let is_its = |row: &&Row| row.traffic() == *name && row.direction() == Some(way);
        let own = rows.delay_parts.iter().filter(is_its);
        own.clone().next().filter(|row| !row.is_scarce("sent_packets"))?;
        let waits = own.filter(|row| row.part().is_some_and(Part::is_wait));
        Some(waits.filter_map(|row| row.number("mean_ms")).sum::<f64>())
    };
    let light = heard.iter().filter(|name| scenario.traffic[**name].app.waits_behind_others(way));
    let worst = |one: Option<f64>, other: Option<f64>| Some(one?.max(other?));
    light.map(waited_ms).reduce(worst)
}

/// The waits in the longest queue of a direction, of members apart, if bulk traffic loads the direction or a
/// queue stands in it: one packet in ten waits longer there than a good game may in all. Films, pages and
/// acknowledgements make one too.
pub(crate) fn queue_values(
    rows: &Rows,
    direction: Direction,
    is_loaded: bool,
) -> Option<[(&'static str, Option<f64>); 3]> {
    let of_way = rows.queues.iter().filter(|row| row.direction() == Some(direction));
    let queues: Vec<&Row> = of_way.filter(|row| !row.is_scarce("departed_packets")).collect();
    let most =
        |of: &dyn Fn(&Row) -> Option<f64>| queues.iter().filter_map(|row| of(row)).reduce(f64::max);
    let stands = most(&|row| row.number("sojourn_p90_ms")) > Some(GAME_ACCESS_MS);
    let mean_ms = most(&|row| row.number("sojourn_mean_ms")).filter(|_| is_loaded || stands)?;
    let lost = |row: &Row| {
        let count = |column| row.number(column).unwrap_or_default();
        let dropped = count("dropped_overflow_packets") + count("dropped_aqm_packets");
        Some(100.0 * dropped / (dropped + row.number("departed_packets")?).max(1.0))
    };
    Some([
        ("queue_mean_ms", Some(mean_ms)),
        ("queue_p99_ms", most(&|row| row.number("sojourn_p99_ms"))),
        ("queue_lost_percent", Some(most(&lost).unwrap_or_default())),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A part from outside sends where it has sent, and others where they say so.
    #[test]
    fn who_has_sent_nothing_waits_for_nothing() {
        let text = "duration_s = 20
                    upstream.sustained_mbps = 5
                    downstream.sustained_mbps = 5
                    servers.near.delay_ms = 5
                    router.upstream.rate_mbps = 4
                    router.controller.kind = 'autorate'
                    traffic.game = { kind = 'stream', purpose = 'game', server = 'near' }";
        let scenario = sojourn_scenario::load(text, "test", &[]).unwrap().remove(0).scenario;
        let is_outside = |app: &AppSpec| matches!(app, AppSpec::Outside(_));
        let mut all = scenario.traffic.iter();
        let (mine, _) = all.find(|(_, entry)| is_outside(&entry.app)).expect("its probes");
        let rows = |sent_packets: f64| {
            let row = |(traffic, direction): (&str, &str)| {
                let values = json!({"traffic": traffic, "direction": direction,
                    "sent_packets": sent_packets});
                Row::from(values)
            };
            Rows {
                flows: [(mine.as_str(), "up"), ("game", "up")].map(row).into(),
                ..Rows::default()
            }
        };
        for (name, way, packets, want) in [
            (mine, Direction::Up, 0.0, false),
            (mine, Direction::Up, 1.0, true),
            (mine, Direction::Down, 1.0, false),
            (&"game".to_owned(), Direction::Up, 0.0, true),
        ] {
            assert_eq!(sends(&scenario, &rows(packets), name, way), want, "{name} {packets}");
        }
    }
}
