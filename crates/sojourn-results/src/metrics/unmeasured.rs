//! Why traffic that arrives measures nothing of what it is for, or too little.

use super::Row;
use super::read::FEWEST_PACKETS;
use crate::shares::SHORTEST_S;
use crate::words::digits;
use sojourn_engine::packet::Direction;
use sojourn_scenario::Scenario;
use sojourn_scenario::apps::AppSpec;

/// What a probe of a test of responsiveness takes of the line: 3000 bytes (`probe_percent`).
const PROBE_MBIT: f64 = 0.024;
/// Later than that a film has begun too late.
pub(crate) const SLOW_START_S: f64 = 10.0;

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

/// Why a flow, of a game or call or not, is not known well enough for a grade: bulk traffic loads a direction in which nothing
/// of a game or call goes, few packets of it arrived, or a video has played for so short a time, or at the level to which it
/// rose, that its stalls are unknown, unless it begins too late.
pub(crate) fn unknown(is_of_packets: bool, scenario: &Scenario, row: &Row) -> Option<String> {
    let (name, app) = (row.traffic(), &scenario.traffic.get(row.traffic())?.app);
    let loads = |way: &Direction| scenario.traffic.values().any(|entry| entry.app.loads(*way));
    let is_missed = |way: &Direction| is_of_packets && !app.watches(*way) && loads(way);
    match (app, Direction::BOTH.into_iter().find(is_missed)) {
        (AppSpec::Video(_), _) => {
            let most_s = scenario.watched_s(name)? - SHORTEST_S;
            let wait_s = start_wait_s(scenario, row).filter(|wait_s| *wait_s <= SLOW_START_S)?;
            let short = || format!("traffic.{name} played for less than {SHORTEST_S} s");
            (wait_s > most_s).then(short).or_else(|| rising(scenario, row, most_s))
        }
        (_, Some(way)) => Some(format!(
            "nothing of traffic.{name} goes {}, where bulk traffic does; direction = \"both\" measures both ends",
            way.name()
        )),
        _ => (is_of_packets && row.is_scarce("delivered_packets"))
            .then(|| format!("fewer than {FEWEST_PACKETS} packets of traffic.{name} arrived")),
    }
}

/// A video whose quality rises for longer than that, of which a run that is longer by a second allows so much more.
fn rising(scenario: &Scenario, row: &Row, most_s: f64) -> Option<String> {
    let AppSpec::Video(video) = &scenario.traffic.get(row.traffic())?.app else { return None };
    row.number("video_whole_rate_mbps")?;
    let (name, duration_s) = (row.traffic(), scenario.duration_s);
    let (state, longer_s) = match row.number("video_rise_s") {
        Some(rise_s) if rise_s <= most_s => return None,
        Some(rise_s) => {
            let state = format!("rose for {} s, long beside this run", digits(rise_s));
            (state, duration_s + rise_s - most_s)
        }
        None => {
            let longer_s = (video.rises_until_s() + SHORTEST_S).max(2.0 * duration_s);
            ("rises".to_owned(), longer_s)
        }
    };
    let longer_s = longer_s.ceil();
    Some(format!(
        "traffic.{name} is still starting: its quality {state}; duration_s = {longer_s} may be enough"
    ))
}

/// How long a video lets wait: until the end of the run at least if it never begins.
pub(crate) fn start_wait_s(scenario: &Scenario, row: &Row) -> Option<f64> {
    let is_of_film = row.direction() == Some(Direction::Down);
    let watched_s = scenario.watched_s(row.traffic()).filter(|_| is_of_film);
    row.number("video_start_wait_s").or(watched_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A probe of each kind, of 3000 B, takes 9.6 % of 0.5 Mbps in a second. Upstream nothing was under way, so it has no goodput.
    #[test]
    fn probes_are_rare_by_the_direction_that_carried_something() {
        let text = "duration_s = 20
                    upstream.sustained_mbps = 5
                    downstream.sustained_mbps = 5
                    servers.near.delay_ms = 5
                    traffic.test = { kind = 'responsiveness', server = 'near', interval_s = 1, probe_percent = 5 }";
        let scenario = sojourn_scenario::load(text, "test", &[]).unwrap().remove(0).scenario;
        let row = |direction: &str, mbps: f64, under_way_s: f64| {
            let goodput_mbps = mbps * under_way_s / scenario.counted_s();
            let values = json!({
                "traffic": "test", "direction": direction, "rpm_confidence": "low",
                "goodput_mbps": goodput_mbps, "under_way_s": under_way_s,
            });
            Row::from(values)
        };
        let why = unprobed(&scenario, "test", &[&row("down", 0.5, 9.0), &row("up", 0.0, 0.0)]);
        let why = why.expect("it has too few");
        assert!(why.ends_with("of its goodput down, 0.500 Mbps"), "{why}");
    }
}
