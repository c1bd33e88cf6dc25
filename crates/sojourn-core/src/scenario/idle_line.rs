//! The idle line: a run of the same scenario without its bulk traffic, with which results are compared.

use serde_json::Value;

use super::schema::Scenario;
use super::variant::Variant;
use crate::apps::AppSpec;

/// Its name in tables.
pub const NAME: &str = "idle line";
/// Its name where films go on, which do not leave the line idle.
pub const WITHOUT_BULK: &str = "without uploads and downloads";
/// Keys that hardly change an idle line. Variants that differ in these alone share one.
const ASIDE: [&str; 3] = ["queue", "title", "description"];

/// The idle line of `variants`: the first of them that has bulk traffic, without that traffic.
///
/// It is `None` in these cases:
///
/// - no variant has bulk traffic;
/// - that variant has no other traffic;
/// - a variant with the same other traffic is an idle line already;
/// - `baseline` is false in a variant.
///
/// If the variants differ in more than queues and bulk traffic, its name says whose settings it has.
pub fn idle_line(variants: &[Variant]) -> Option<Variant> {
    let first = variants.iter().find(|variant| !is_idle(&variant.scenario))?;
    let mut scenario = first.scenario.clone();
    scenario.traffic.retain(|_, entry| !entry.app.is_bulk());
    let people = |scenario: &Scenario| {
        let mut names: Vec<_> = scenario.traffic.iter().collect();
        names.retain(|(_, entry)| !entry.app.is_bulk());
        names.into_iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    let is_there = variants.iter().any(|variant| {
        is_idle(&variant.scenario) && people(&variant.scenario) == people(&scenario)
    });
    let is_wanted = variants.iter().all(|variant| variant.scenario.baseline);
    if is_there || !is_wanted || scenario.traffic.is_empty() {
        return None;
    }
    let has_films = scenario.traffic.values().any(|entry| matches!(entry.app, AppSpec::Video(_)));
    let is_of_all = variants.iter().all(|other| line_of(other) == line_of(first));
    let mut name = match (has_films, is_of_all) {
        (false, true) => NAME.to_owned(),
        (false, false) => format!("{NAME} of {}", first.name),
        (true, true) => WITHOUT_BULK.to_owned(),
        (true, false) => format!("{} {WITHOUT_BULK}", first.name),
    };
    while variants.iter().any(|variant| variant.name == name) {
        name.push('\'');
    }
    Some(Variant {
        kept_name: name.clone(),
        name,
        scenario,
        notes: Vec::new(),
        changes: Vec::new(),
    })
}

/// Does no bulk traffic begin before the run ends?
fn is_idle(scenario: &Scenario) -> bool {
    scenario.traffic.values().all(|entry| entry.app.bulk_from_s() >= scenario.duration_s)
}

/// The settings of a variant that decide what its idle line is.
fn line_of(variant: &Variant) -> Value {
    let mut scenario = variant.scenario.clone();
    scenario.traffic.retain(|_, entry| !entry.app.is_bulk());
    without_asides(serde_json::to_value(scenario).unwrap_or_default())
}

fn without_asides(value: Value) -> Value {
    match value {
        Value::Object(table) => {
            let kept = table.into_iter().filter(|(key, _)| !ASIDE.contains(&key.as_str()));
            kept.map(|(key, value)| (key, without_asides(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_asides).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;

    const HOME: &str = "
        duration_s = 10
        upstream = { sustained_mbps = 5, peak_mbps = 5, burst_bytes = 3044 }
        downstream = { sustained_mbps = 20, peak_mbps = 20, burst_bytes = 3044 }
        servers.near.delay_ms = 9
        traffic.game = { kind = 'stream', purpose = 'game', direction = 'up', server = 'near' }
        traffic.upload = { kind = 'transfer', server = 'near' }
    ";

    fn idle_line_of(more: &str) -> Option<Variant> {
        idle_line(&load(&format!("{HOME}\n{more}"), "home.toml", &[]).unwrap())
    }

    #[test]
    fn it_has_the_same_people_and_no_bulk_traffic() {
        let idle = idle_line_of("").unwrap();
        assert_eq!(idle.name, "idle line");
        assert_eq!(idle.scenario.traffic.keys().collect::<Vec<_>>(), ["game"]);
    }

    #[test]
    fn there_is_none_where_it_says_nothing() {
        for none in [
            "baseline = false",
            "compare.a.baseline = false",
            "compare.a.traffic.upload.start_s = 10\ncompare.b.title = 'b'",
        ] {
            assert_eq!(idle_line_of(none), None, "{none}");
        }
        let late = load(HOME, "home.toml", &["traffic.upload.start_s=20".to_owned()]).unwrap();
        assert_eq!(idle_line(&late), None);
        let alone = HOME.replace("traffic.game", "#");
        assert_eq!(idle_line(&load(&alone, "home.toml", &[]).unwrap()), None);
    }

    #[test]
    fn its_name_says_of_what_it_is_where_lines_differ() {
        let queues =
            "compare.a.upstream.queue.limit_bytes = 9000\ncompare.b.traffic.upload.connections = 2";
        assert_eq!(idle_line_of(queues).unwrap().name, "idle line");
        let rates = "compare.slow.upstream.sustained_mbps = 4\ncompare.fast.title = ''";
        assert_eq!(idle_line_of(rates).unwrap().name, "idle line of slow");
        let film = "traffic.film = { kind = 'video', server = 'near' }";
        assert_eq!(idle_line_of(film).unwrap().name, "without uploads and downloads");
        let taken = "compare.'idle line'.title = ''";
        assert_eq!(idle_line_of(taken).unwrap().name, "idle line'");
    }
}
