//! Grades and verdicts, on tables that are made up and on short runs.

mod bulk;
mod causes;
mod changing;
mod grades;
mod order;
mod pages;
pub(crate) mod properties;
mod readings;
mod sentences;
mod under_way;
mod values;
mod watched;

use crate::common::loaded;
use serde_json::{Value, json};
use sojourn::Simulation;
use sojourn::results::verdict::{
    Assessment, Facts, Grade, Group, Row, Rows, Verdict, unfinished_s, verdict,
};
use sojourn::scenario::{Scenario, Variant, idle_lines, load};

const HOME: &str = "
    duration_s = 60
    upstream = { sustained_mbps = 5, peak_mbps = 20, burst_bytes = 1_250_000 }
    downstream = { sustained_mbps = 20, peak_mbps = 50, burst_bytes = 100_000 }
    servers.near.delay_ms = 9
";

fn scenario(traffic: &str) -> Scenario {
    scenario_of(traffic, &[])
}

/// A home with this traffic and these keys set.
fn scenario_of(traffic: &str, sets: &[&str]) -> Scenario {
    loaded(&format!("{HOME}\n{traffic}"), sets)
}

const GAME: &str = "traffic.x = { kind = 'stream', purpose = 'game', server = 'near' }";
const PAGES: &str = "traffic.x = { kind = 'web', servers = ['near'], objects = { kind = 'fixed' }, \
                     users = 2, pause_s = 3600, start_spread_s = 1 }";
const UPLOAD: &str = "traffic.upload = { kind = 'transfer', server = 'near' }";

fn row(value: &Value) -> Row {
    Row(value.as_object().unwrap().clone())
}

/// A row of a flow in one direction.
fn flow(traffic: &str, direction: &str, more: &Value) -> Row {
    let mut flow = json!({"traffic": traffic, "direction": direction});
    flow.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    row(&flow)
}

/// The rows of what packets of an entry wait in a queue on the mean, 5 ms from where they arrive.
fn waited(traffic: &str, way: &str, ms: f64) -> Vec<Row> {
    let part = if way == "up" { "modem_queue" } else { "cmts_queue" };
    let of = |(part, mean_ms): (&str, f64)| {
        let values = json!({"part": part, "mean_ms": mean_ms, "sent_packets": 1000.0});
        flow(traffic, way, &values)
    };
    [(part, ms), ("propagation", 5.0), ("total", 5.0 + ms)].map(of).into()
}

/// The rows of a flow that goes both ways, with these values at both ends.
fn both_ways(traffic: &str, quality: &str, measures: &Value) -> Vec<Row> {
    let mut more = json!({"quality": quality, "latency_mean_ms": 10.0});
    more.as_object_mut().unwrap().extend(measures.as_object().unwrap().clone());
    ["up", "down"].map(|direction| flow(traffic, direction, &more)).into()
}

/// Facts of a run with one flow of this quality.
fn facts(traffic: &str, quality: &str, measures: &Value) -> Facts {
    let rows = Rows { flows: both_ways("x", quality, measures), ..Rows::default() };
    Facts::of(&scenario(traffic), &rows)
}

/// Facts of a run of this traffic with these rows of its flows.
fn of_flows(traffic: &str, flows: Vec<Row>) -> Facts {
    Facts::of(&scenario(traffic), &Rows { flows, ..Rows::default() })
}

/// The row of a transfer at this rate.
fn rate(traffic: &str, direction: &str, mbps: f64) -> Row {
    let rates = json!({"quality": "throughput", "throughput_mbps": mbps, "rate_mbps": mbps});
    flow(traffic, direction, &rates)
}

fn first_sentence(groups: &[Group]) -> String {
    verdict(groups, &[]).sentences.remove(0)
}

fn alone(facts: &Facts) -> Verdict {
    verdict(&[Group { name: "", variant: "", point: &[], runs: vec![facts] }], &[])
}

/// What is said of a run of these rows.
fn assessed(traffic: &str, sets: &[&str], rows: &Rows) -> Vec<Assessment> {
    alone(&Facts::of(&scenario_of(traffic, sets), rows)).groups.remove(0).assessments
}

fn named<'a>(all: &'a [Assessment], name: &str) -> Option<&'a Assessment> {
    all.iter().find(|one| one.application == name)
}

fn only(facts: &Facts) -> Assessment {
    alone(facts).groups.remove(0).assessments.remove(0)
}

/// The facts of a game at this latency beside an upload at this rate, or on an idle line.
fn game_and_upload(p90_ms: f64, mean_ms: f64, upload_mbps: Option<f64>) -> Facts {
    let uploads: Vec<_> = upload_mbps.into_iter().map(|mbps| ("upload", mbps)).collect();
    game_and_uploads(p90_ms, mean_ms, &uploads)
}

/// The facts of a game beside several uploads, each at its rate; nothing is known of a rate that is no number.
fn game_and_uploads(p90_ms: f64, mean_ms: f64, uploads: &[(&str, f64)]) -> Facts {
    let over = |limit: f64| if p90_ms > limit { 50.0 } else { 0.0 };
    let load = if uploads.is_empty() { "rtt_idle_mean_ms" } else { "rtt_up_mean_ms" };
    let game = json!({"rtt_p90_ms": p90_ms, load: mean_ms,
        "over_20_ms_access_percent": over(21.0), "over_80_ms_round_trip_percent": over(80.0),
        "loss_percent": 0.0});
    let mut flows = both_ways("x", "game", &game);
    let mut traffic = GAME.to_owned();
    for (name, mbps) in uploads {
        flows.push(rate(name, "up", *mbps));
        traffic.push('\n');
        traffic.push_str(&UPLOAD.replace("upload", name));
    }
    of_flows(&traffic, flows)
}

fn group<'a>(name: &'a str, facts: &'a Facts) -> Group<'a> {
    Group { name, variant: name, point: &[], runs: vec![facts] }
}

fn seeds<'a>(name: &'a str, runs: &'a [Facts]) -> Group<'a> {
    Group { name, variant: name, point: &[], runs: runs.iter().collect() }
}

/// Runs of the game with these 90 % quantiles, one a seed.
fn games<const N: usize>(rtts_ms: [f64; N]) -> [Facts; N] {
    games_of(rtts_ms.map(|p90_ms| json!({"rtt_p90_ms": p90_ms})))
}

/// Runs of the game with these values of its flows, one a seed.
fn games_of<const N: usize>(values: [Value; N]) -> [Facts; N] {
    std::array::from_fn(|seed| {
        let flows = both_ways("x", "game", &values[seed]);
        let scenario = scenario_of(GAME, &[&format!("seed={seed}")]);
        Facts::of(&scenario, &Rows { flows, ..Rows::default() })
    })
}

/// `facts` with these values of the game and of the upstream queue.
fn with(mut facts: Facts, measures: &[(&'static str, f64)]) -> Facts {
    facts.measures.extend(measures.iter().map(|(key, value)| (*key, Some(*value))));
    facts
}

/// The facts of a call with this mean opinion score and a page that takes so long, beside `uploads`.
fn call_and_uploads(mos: f64, page_s: f64, uploads: &[(&str, f64)], homes: u16) -> Facts {
    let call = json!({"mos": mos, "late_percent": 0.0, "loss_percent": 0.0});
    let mut flows = both_ways("x", "voice", &call);
    flows.push(row(&json!({"traffic": "w", "quality": "pages", "direction": "down",
        "page_load_median_s": page_s})));
    let mut traffic = format!("{GAME}\n{}", PAGES.replace("traffic.x", "traffic.w"));
    for (name, mbps) in uploads {
        flows.push(rate(name, "up", *mbps));
        traffic.push_str(&format!("\ntraffic.{name} = {{ kind = 'transfer', server = 'near'"));
        traffic.push_str(if homes > 1 { ", home = 'others' }" } else { " }" });
    }
    if homes > 1 {
        traffic.push_str(&format!("\nhomes.others.count = {homes}"));
    }
    let pages = [0.0, 10.0]
        .map(|start_s| row(&json!({"traffic": "w", "start_s": start_s, "load_time_s": page_s})));
    Facts::of(&scenario(&traffic), &Rows { flows, pages: pages.to_vec(), ..Rows::default() })
}

#[test]
fn facts_are_the_same_from_a_run_and_from_its_rows_as_json() {
    let text = format!("{HOME}\n{GAME}\n{UPLOAD}");
    let sets = ["duration_s=10".to_owned()];
    let mut variants = load(&text, "home.toml", &sets).unwrap();
    variants.extend(idle_lines(&variants));
    let judged: Vec<Facts> = variants
        .iter()
        .map(|variant| {
            let rows = Rows::from(&Simulation::run(&variant.scenario));
            let scenario = serde_json::to_string(&variant.scenario).unwrap();
            let again: Scenario = serde_json::from_str(&scenario).unwrap();
            let read: Rows = serde_json::from_str(&serde_json::to_string(&rows).unwrap()).unwrap();
            assert_eq!(Facts::of(&again, &read), Facts::of(&variant.scenario, &rows));
            Facts::of(&variant.scenario, &rows)
        })
        .collect();
    let found = verdict(&[group("", &judged[0]), group("idle line", &judged[1])], &[]);
    let first = &found.sentences[0];
    assert!(
        first.starts_with("The upload makes the game ") && first.contains("times slower"),
        "{first}"
    );
    assert!(serde_json::to_value(&found).unwrap()["groups"][1]["is_idle_line"] == json!(true));
}

/// The variants of a text and their idle lines, and the facts of a run of each.
fn run_with_idle_lines(text: &str) -> (Vec<Variant>, Vec<Facts>) {
    let mut variants = load(text, "line.toml", &[]).unwrap();
    variants.extend(idle_lines(&variants));
    let run = |variant: &Variant| {
        Facts::of(&variant.scenario, &Rows::from(&Simulation::run(&variant.scenario)))
    };
    let facts = variants.iter().map(run).collect();
    (variants, facts)
}

/// The verdict of a line of 10 Mbps with a game and an upload of these keys, and its idle line's.
fn of_line(game: &str, bulk: &str, more: &str) -> Verdict {
    let text = format!(
        "duration_s = 20
         upstream.sustained_mbps = 10
         downstream.sustained_mbps = 100
         servers.near.delay_ms = 9
         traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near', {game} }}
         traffic.bulk = {{ kind = 'transfer', server = 'near', {bulk} }}
         {more}"
    );
    let text = text.replace(
        if more.contains("upstream =") { "upstream.sustained_mbps = 10" } else { "\0" },
        "",
    );
    let (_, facts) = run_with_idle_lines(&text);
    verdict(&[group("", &facts[0]), group("idle line", &facts[1])], &[])
}

/// The grade of what is waited in a direction, if it has one, by who waits there or by its queue.
fn wait_grade(found: &Verdict, number: usize, stream: &str) -> Option<Grade> {
    let names = [format!("{stream} wait"), format!("{stream} queue")];
    let mut all = found.groups[number].assessments.iter();
    all.find(|one| names.iter().any(|name| name == one.application)).and_then(|one| one.grade)
}

/// The verdict on all variants of a scenario and their idle lines, after a run of each.
fn judged_by_name(text: &str) -> Verdict {
    let (variants, facts) = run_with_idle_lines(text);
    let groups: Vec<_> =
        variants.iter().zip(&facts).map(|(variant, facts)| group(&variant.name, facts)).collect();
    verdict(&groups, &[])
}

const LINE: &str = "
    duration_s = 20
    downstream.sustained_mbps = 20
    servers.near.delay_ms = 9
";
