//! Why traffic that arrives measures nothing of what it is for.

use super::Row;
use super::read::FEWEST_PACKETS;
use crate::words::digits;
use sojourn_scenario::Scenario;
use sojourn_scenario::apps::AppSpec;

/// What a probe of a test of responsiveness takes of the line: 3000 bytes (`probe_percent`).
const PROBE_MBIT: f64 = 0.024;

/// A call of one's own whose datagrams arrive and belong to no frame.
pub(crate) fn frameless(entry: &str, flows: &[&Row]) -> Option<String> {
    let columns = ["frames_incomplete_percent", "frame_latency_p90_ms"];
    let has_none = |row: &&Row| columns.iter().all(|column| row.number(column).is_none());
    let arrives = |row: &&Row| row.number("delivered_packets") >= Some(FEWEST_PACKETS);
    (flows.iter().all(has_none) && flows.iter().any(arrives))
        .then(|| format!("no datagram of traffic.{entry} has the number of a frame (frame=)"))
}

/// A test of responsiveness with few intervals in which probes were answered: it was short, or probes were rare, since they may
/// take a part of what the slower direction gets.
pub(crate) fn unprobed(scenario: &Scenario, entry: &str, flows: &[&Row]) -> Option<String> {
    let AppSpec::Responsiveness(test) = &scenario.traffic.get(entry)?.app else { return None };
    let is_loaded = |way| scenario.traffic[entry].app.loads(way);
    let loads = || flows.iter().filter(|row| row.direction().is_some_and(is_loaded));
    let is_known = |row: &&&Row| ["medium", "high"].contains(&row.text("rpm_confidence"));
    if loads().all(|row| is_known(&row)) {
        return None;
    }
    let mbps = |row: &&Row| {
        let under_way_s = row.number("under_way_s").filter(|length_s| *length_s > 0.0)?;
        let mbit = row.number("goodput_mbps")? * scenario.counted_s();
        Some((mbit / under_way_s, row.direction()?))
    };
    let slower = loads().filter_map(mbps).min_by(|one, other| one.0.total_cmp(&other.0));
    let few =
        format!("traffic.{entry} had fewer than {} intervals with probes", test.average_intervals);
    // So much allows a probe of each of the two kinds in an interval.
    let percent = |mbps: f64| 200.0 * PROBE_MBIT / (mbps * test.interval_s);
    Some(match slower.filter(|(mbps, _)| percent(*mbps) > test.probe_percent) {
        None => {
            let ends_s = scenario.traffic[entry].app.start_s().unwrap_or_default() + test.limit_s;
            let longer =
                if ends_s < scenario.duration_s { "a larger limit_s" } else { "a longer run" };
            format!("{few}; {longer}, or a shorter interval_s, gives it more")
        }
        Some((mbps, way)) => format!(
            "{few}, since these may take {} % (probe_percent) of its goodput {}, {} Mbps",
            test.probe_percent,
            way.name(),
            digits(mbps)
        ),
    })
}
