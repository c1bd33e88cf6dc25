//! Warnings of directions that bulk traffic loads while no traffic there measures the delay.

use crate::apps::AppSpec;
use crate::metrics::rows::QueueRow;
use crate::packet::Direction;
use crate::scenario::Scenario;
use crate::scenario::watch::Unwatched;

/// A sentence for each such direction of each group of homes, with the key that would change it.
pub(super) fn warnings(scenario: &Scenario, queues: &[QueueRow]) -> Vec<String> {
    scenario.unwatched().iter().map(|found| warning(scenario, queues, found)).collect()
}

fn warning(scenario: &Scenario, queues: &[QueueRow], found: &Unwatched<'_>) -> String {
    let stream = match found.direction {
        Direction::Up => "upstream",
        Direction::Down => "downstream",
    };
    let homes = scenario.group(found.group).name;
    let own = queues.iter().filter(|row| {
        row.direction == found.direction.name()
            && row.homes.as_deref().is_none_or(|name| name == homes)
    });
    let p99_ms = own.filter_map(|row| row.sojourn_p99_ms).reduce(f64::max);
    let delay = p99_ms.map(|ms| format!(", where 1 % of packets wait over {ms:.0} ms"));
    let one_way = scenario.traffic.iter().find(|(_, entry)| {
        scenario.group_of(entry) == found.group
            && entry.app.watches(found.direction.reversed())
            && matches!(entry.app, AppSpec::Stream(_))
    });
    let remedy = match one_way {
        Some((name, _)) => format!("traffic.{name}.direction = \"both\" measures it"),
        None => "a game or call in these homes measures it".to_owned(),
    };
    format!(
        "no traffic watches the {stream}, which traffic.{} loads{}: {remedy}",
        found.traffic,
        delay.unwrap_or_default()
    )
}
