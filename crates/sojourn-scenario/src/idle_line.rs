//! Idle lines: runs of the same scenario without its bulk traffic, with which results are compared. Where the judged
//! homes (`metrics.homes`) have some, that of others is part of the line, and goes on. Real packets are
//! left out as bulk traffic is: nobody knows whether they leave a line idle.

use serde_json::Value;

use super::schema::Scenario;
use super::traffic::Entry;
use super::variant::Variant;
use crate::apps::AppSpec;

/// Its name in tables.
pub const NAME: &str = "idle line";
/// Its name where films go on, which do not leave the line idle.
pub const WITHOUT_BULK: &str = "without uploads and downloads";
/// Keys of a scenario that do not change an idle line.
const ASIDE: [&str; 4] = ["title", "description", "seed", "baseline"];
/// The key of what hardly does, wherever it is, unless films fill the queue.
const QUEUE: &str = "queue";
/// Tables whose keys are names, which may be any word.
const OF_NAMES: [&str; 6] = ["homes", "core", "servers", "traffic", "flows", "bonded"];

/// The idle lines of `variants`: each variant that has bulk traffic without that traffic, once for all variants
/// that differ in queues and bulk traffic alone. Where films go on, the rate that they have is that of the queue, and
/// variants that differ in queues have lines of their own.
///
/// A variant has none in these cases:
///
/// - it has no bulk traffic;
/// - it has no other traffic;
/// - another variant is its idle line already;
/// - its `baseline` is false.
///
/// If there are several lines, the name of each says whose settings it has.
pub fn idle_lines(variants: &[Variant]) -> Vec<Variant> {
    let lines: Vec<Value> = variants.iter().map(|variant| line_of(&variant.scenario)).collect();
    let is_only = lines.iter().all(|line| *line == lines[0]);
    let there = variants.iter().zip(&lines).filter(|(variant, _)| is_idle(&variant.scenario));
    let mut known: Vec<Value> = there.map(|(_, line)| line.clone()).collect();
    let mut found: Vec<Variant> = Vec::new();
    for (variant, line) in variants.iter().zip(lines) {
        let scenario = without_bulk(&variant.scenario);
        let is_wanted = scenario.baseline && scenario.judged().next().is_some();
        if is_wanted && !known.contains(&line) {
            known.push(line);
            let name = name_of(variant, &scenario, is_only, variants);
            let kept_name = name.clone();
            let (notes, changes) = (Vec::new(), Vec::new());
            found.push(Variant { name, kept_name, scenario, notes, changes, origin: None });
        }
    }
    found
}

/// A name that no variant has.
fn name_of(of: &Variant, idle: &Scenario, is_only: bool, taken: &[Variant]) -> String {
    let mut name = match (has_adaptive(idle), is_only) {
        (false, true) => NAME.to_owned(),
        (false, false) => format!("{NAME} of {}", of.name),
        (true, true) => WITHOUT_BULK.to_owned(),
        (true, false) => format!("{} {WITHOUT_BULK}", of.name),
    };
    while taken.iter().any(|variant| variant.name == name) {
        name.push('\'');
    }
    name
}

/// The traffic that its idle line has not: the bulk traffic of the judged homes or, if they have none, of all.
fn left_out(scenario: &Scenario) -> impl Fn(&Entry) -> bool {
    let is_own = scenario.judged().any(|(_, entry)| may_load(&entry.app));
    move |entry| may_load(&entry.app) && (!is_own || scenario.is_judged(entry))
}

fn may_load(app: &AppSpec) -> bool {
    app.is_bulk() || matches!(app, AppSpec::Real(_))
}

fn without_bulk(scenario: &Scenario) -> Scenario {
    let (mut idle, is_left_out) = (scenario.clone(), left_out(scenario));
    idle.traffic.retain(|_, entry| !is_left_out(entry));
    idle
}

fn has_adaptive(scenario: &Scenario) -> bool {
    scenario.judged().any(|(_, entry)| entry.app.adapts())
}

/// Does no bulk traffic begin before the run ends?
pub fn is_idle(scenario: &Scenario) -> bool {
    let is_left_out = left_out(scenario);
    let mut bulk = scenario.traffic.values().filter(|entry| is_left_out(entry));
    bulk.all(|entry| entry.app.is_bulk() && entry.app.bulk_from_s() >= scenario.duration_s)
}

/// The settings of a scenario that decide what its idle line is.
pub fn line_of(scenario: &Scenario) -> Value {
    as_line(&without_bulk(scenario))
}

/// Those that it has as an idle line itself: what it sends is then all that is left of another one.
pub fn as_line(idle: &Scenario) -> Value {
    let idle = idle.with_all_homes();
    let has_adaptive = has_adaptive(&idle);
    let mut line = serde_json::to_value(idle).unwrap_or_default();
    if let Value::Object(table) = &mut line {
        table.retain(|key, _| !ASIDE.contains(&key.as_str()));
    }
    if !has_adaptive {
        leave_out_queues(&mut line, false);
    }
    line
}

fn leave_out_queues(value: &mut Value, has_names: bool) {
    match value {
        Value::Object(table) => {
            table.retain(|key, _| has_names || key != QUEUE);
            for (key, inner) in table {
                leave_out_queues(inner, !has_names && OF_NAMES.contains(&key.as_str()));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| leave_out_queues(item, false)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;

    const HOME: &str = "
        duration_s = 10
        upstream = { sustained_mbps = 5, peak_mbps = 5, burst_bytes = 3044 }
        downstream = { sustained_mbps = 20, peak_mbps = 20, burst_bytes = 3044 }
        servers.near.delay_ms = 9
        traffic.game = { kind = 'stream', purpose = 'game', direction = 'up', server = 'near' }
        traffic.upload = { kind = 'transfer', server = 'near' }
    ";

    fn idle_lines_of(more: &str) -> Vec<Variant> {
        idle_lines(&load(&format!("{HOME}\n{more}"), "home.toml", &[]).unwrap())
    }

    fn names_of(more: &str) -> Vec<String> {
        idle_lines_of(more).into_iter().map(|idle| idle.name).collect()
    }

    #[test]
    fn real_packets_are_on_no_idle_line() {
        let idle = idle_lines_of("traffic.mine.kind = 'outside'");
        assert_eq!(idle[0].scenario.traffic.keys().collect::<Vec<_>>(), ["game"]);
        let real = HOME.replace("kind = 'transfer', server = 'near'", "kind = 'outside'");
        let variants = load(&real, "home.toml", &[]).unwrap();
        assert!(!is_idle(&variants[0].scenario));
        assert_eq!(idle_lines(&variants).len(), 1);
    }

    #[test]
    fn it_has_the_same_people_and_no_bulk_traffic() {
        let idle = &idle_lines_of("")[0];
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
            assert_eq!(idle_lines_of(none), [], "{none}");
        }
        let late = load(HOME, "home.toml", &["traffic.upload.start_s=20".to_owned()]).unwrap();
        assert_eq!(idle_lines(&late), []);
        let alone = HOME.replace("traffic.game", "#");
        assert_eq!(idle_lines(&load(&alone, "home.toml", &[]).unwrap()), []);
    }

    #[test]
    fn each_line_has_its_own_and_is_named_after_its_first_variant() {
        let queues =
            "compare.a.upstream.queue.limit_bytes = 9000\ncompare.b.traffic.upload.connections = 2";
        assert_eq!(names_of(queues), ["idle line"]);
        let rates = "compare.slow.upstream.sustained_mbps = 4\ncompare.fast.title = ''";
        assert_eq!(names_of(rates), ["idle line of slow", "idle line of fast"]);
        let delays = "compare.far.servers.near.delay_ms = 60\ncompare.close.title = ''\n\
                      compare.late.traffic.upload.start_s = 2";
        assert_eq!(names_of(delays), ["idle line of far", "idle line of close"]);
        let film = "traffic.film = { kind = 'video', server = 'near' }";
        assert_eq!(names_of(film), ["without uploads and downloads"]);
        let both = ["a without uploads and downloads", "b without uploads and downloads"];
        assert_eq!(names_of(&format!("{film}\n{queues}")), both);
        let taken = "compare.'idle line'.title = ''";
        assert_eq!(names_of(taken), ["idle line'"]);
    }

    #[test]
    fn neighbours_keep_their_bulk_traffic_and_their_films_make_no_second_line() {
        let more = "
            homes = { ours = {}, others = {} }
            traffic.save = { kind = 'transfer', server = 'near', home = 'others' }
            traffic.film = { kind = 'video', server = 'near', home = 'others' }
            compare.a.upstream.queue.limit_bytes = 9000
            compare.b.title = ''
        ";
        let lines = idle_lines_of(&more.replace("homes =", "metrics.homes = 'ours'\nhomes ="));
        let [line] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!(line.name, "idle line");
        assert_eq!(line.scenario.traffic.keys().collect::<Vec<_>>(), ["game", "save", "film"]);
        let own = more.replace("homes =", "metrics.homes = 'ours'\nhomes =");
        let variants = load(&format!("{HOME}\n{own}"), "home.toml", &[]).unwrap();
        assert_eq!(as_line(&line.scenario), line_of(&variants[0].scenario));
        assert_eq!(idle_lines_of(more).len(), 2);
        // Where they alone have bulk traffic, it is what the line is idle without.
        let others = "metrics.homes = 'ours'\nhomes = { ours = {}, others = {} }\nbaseline = true";
        let theirs = HOME.replace("'transfer',", "'transfer', home = 'others',");
        let variants = load(&format!("{others}\n{theirs}"), "home.toml", &[]).unwrap();
        assert_eq!(idle_lines(&variants)[0].scenario.traffic.keys().collect::<Vec<_>>(), ["game"]);
    }

    #[test]
    fn a_variant_may_be_the_idle_line_of_its_own_line_alone() {
        let idle = "compare.idle.traffic.upload.start_s = 10\ncompare.near.title = ''\n\
                    compare.far.servers.near.delay_ms = 60";
        assert_eq!(names_of(idle), ["idle line of far"]);
    }

    /// A name is no key, whatever word it is.
    #[test]
    fn entries_may_be_named_as_keys_are() {
        for name in ["seed", "queue", "title"] {
            let text = HOME.replace("traffic.upload", &format!("traffic.{name}"));
            let scenario = &load(&text, "home.toml", &[]).unwrap()[0].scenario;
            assert_ne!(as_line(scenario), line_of(scenario), "{name}");
        }
    }
}
