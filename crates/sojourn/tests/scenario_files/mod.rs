//! Scenario files: what overrides what, and the resulting scenarios.

mod aliases;
mod contradictions;
mod defaults;
mod low_latency;
mod mangled;
mod refusals;
mod upstream_channel;

use crate::common::sentences;
use sojourn::engine::aqm::{AqmSpec, codel, docsis_pie};
use sojourn::engine::dialect::Dialect;
use sojourn::engine::queue::{QueueSpec, SchedulerSpec, sfq};
use sojourn::input::problem::Problems;
use sojourn::scenario::{Scenario, Variant, load};
use sojourn::scenario::{file_schema, to_toml};

const HOME: &str = include_str!("../../../../scenarios/home.toml");

const SMALL: &str = r#"
duration_s = 10

[upstream]
sustained_mbps = 5
peak_mbps = 20
burst_bytes = 10_000_000

[downstream]
sustained_mbps = 20
peak_mbps = 50
burst_bytes = 10_000_000

[servers]
files = { delay_ms = 9 }

[traffic.upload]
kind = "transfer"
server = "files"
"#;

fn load_with(text: &str, sets: &[&str]) -> Result<Vec<Variant>, Problems> {
    let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
    load(text, "home.toml", &sets)
}

fn only(text: &str, sets: &[&str]) -> Scenario {
    let mut variants = load_with(text, sets).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(variants.len(), 1);
    variants.remove(0).scenario
}

#[test]
fn a_small_scenario_loads() {
    let variants = load_with(SMALL, &[]).unwrap();
    assert_eq!(variants.len(), 1);
    assert_eq!(variants[0].name, "");
    assert_eq!(variants[0].scenario.upstream.sustained_mbps, 5.0);
}

fn codel_of_the_study() -> AqmSpec {
    let studied = codel::Parameters { target_ms: 10.0, interval_ms: 150.0, ..Default::default() };
    AqmSpec::Codel(studied)
}

#[test]
fn home_has_its_five_variants() {
    let variants = load_with(HOME, &[]).unwrap();
    let limit = |bytes| QueueSpec { limit_bytes: Some(bytes), ..Default::default() };
    let codel = QueueSpec { law: codel_of_the_study(), ..limit(625_000) };
    let bins = sfq::Parameters { bins: 32, quantum_bytes: 300, ..sfq::Parameters::default() };
    let sfq_codel = QueueSpec { scheduler: SchedulerSpec::Sfq(bins), ..codel.clone() };
    let pie = QueueSpec {
        law: AqmSpec::DocsisPie(docsis_pie::Parameters::default()),
        ..Default::default()
    };
    let expected = [
        ("BufferBloat", limit(625_000)),
        ("Buffer Control", limit(31_250)),
        ("CoDel", codel),
        ("SFQ-CoDel", sfq_codel),
        ("DOCSIS-PIE", pie),
    ];
    let found: Vec<_> =
        variants.iter().map(|v| (&*v.name, v.scenario.upstream.queue.clone())).collect();
    assert_eq!(found, expected);
    for Variant { scenario, .. } in &variants {
        assert_eq!(scenario.dialect, Dialect::Ns2);
        assert!(scenario.servers.keys().eq(["files", "peer", "web1", "web2", "web3", "web4"]));
        assert!(scenario.traffic.keys().eq(["game", "call", "web", "upload"]));
    }
}

#[test]
fn variants_merge_tables_and_replace_kinds() {
    let compare = "
        [upstream.queue]
        limit_packets = 100
        law = { kind = 'codel', target_ms = 7 }
        [compare.Z]
        upstream.queue.law = { interval_ms = 70 }
        [compare.A]
        upstream.queue.law = { kind = 'codel' }
    ";
    let variants = load_with(&format!("{SMALL}{compare}"), &[]).unwrap();
    let laws: Vec<_> = variants.iter().map(|v| (&*v.name, &v.scenario.upstream.queue)).collect();
    let queue = |parameters| QueueSpec {
        limit_packets: Some(100),
        law: AqmSpec::Codel(parameters),
        ..Default::default()
    };
    let merged = codel::Parameters { target_ms: 7.0, interval_ms: 70.0, ..Default::default() };
    assert_eq!(laws, [("Z", &queue(merged)), ("A", &queue(Default::default()))]);
}

#[test]
fn a_variant_that_became_a_kind_is_read_as_that_kind() {
    let law = |law: &str| format!("upstream.queue.law={{ kind = {law} }}");
    let former = law("'pie', variant = 'linux', target_ms = 9, rests = false");
    let now = law("'pie_linux', target_ms = 9");
    let [former, now] = [former, now].map(|set| load_with(SMALL, &[&set]).unwrap().remove(0));
    assert_eq!(former.scenario, now.scenario);
    assert_eq!(
        sentences(former.notes.clone()),
        [
            "upstream.queue.law: write kind = \"pie_linux\" for kind = \"pie\" with variant = \"linux\", without rests"
        ]
    );
    // A group of homes may change what its law is with one key.
    let far = ["homes.far.count=1", "homes.far.upstream.queue.law.variant=linux"];
    let pie = law("'pie'");
    let scenario = only(SMALL, &[&pie, far[0], far[1]]);
    let queue = &scenario.homes["far"].upstream.as_ref().unwrap().queue;
    assert_eq!(queue.law.name(), "pie_linux");
}

#[test]
fn sets_win_over_variants() {
    let sets =
        ["upstream.queue.limit_bytes=50000", "compare.CoDel.seed=7", "title=short", "seed=3"];
    let variants = load_with(HOME, &sets).unwrap();
    // With the same limit, BufferBloat and Buffer Control are one.
    assert_eq!(variants.len(), 4);
    for Variant { scenario, .. } in &variants {
        assert_eq!(scenario.upstream.queue.limit_bytes, Some(50_000));
        assert_eq!((&*scenario.title, scenario.seed), ("short", 3));
    }
    assert_eq!(variants[1].scenario.upstream.queue.law, codel_of_the_study());
}

#[test]
fn sets_change_and_add_variants() {
    let sets = ["compare.CoDel.seed=7", "compare.\"New = one\".dialect=rfc"];
    let variants = load_with(HOME, &sets).unwrap();
    let found: Vec<_> = variants.iter().map(|v| (&*v.name, v.scenario.seed)).collect();
    let expected = [
        ("BufferBloat", 1),
        ("Buffer Control", 1),
        ("CoDel", 7),
        ("SFQ-CoDel", 1),
        ("DOCSIS-PIE", 1),
        ("New = one", 1),
    ];
    assert_eq!(found, expected);
    assert_eq!(variants[5].scenario.dialect, Dialect::Rfc);
}

#[test]
fn homes_without_traffic_are_named() {
    let homes = "home = 'ours'\n[homes]\nours.count = 1\nthiers.count = 30";
    let notes = &load_with(&format!("{SMALL}\n{homes}"), &[]).unwrap()[0].notes;
    let reported =
        "homes.thiers has no traffic; home = \"thiers\" in a traffic table gives it some";
    assert_eq!(sentences(notes.clone()), [reported]);
}

#[test]
fn sets_take_values_of_all_types() {
    let scenario = only(
        SMALL,
        &[
            "dialect=ns2",
            "description=two words = one",
            "metrics.packet_trace = true",
            "upstream.queue.law={ kind = \"codel\", target_ms = 7 }",
            "upstream.congestion.levels_mbps=[1, 2.5, 3, 4]",
            "upstream.congestion.levels_mbps.1=2",
            "seed=18446744073709551615",
        ],
    );
    assert_eq!(scenario.dialect, Dialect::Ns2);
    assert_eq!(scenario.description, "two words = one");
    assert!(scenario.metrics.packet_trace);
    assert!(matches!(scenario.upstream.queue.law, AqmSpec::Codel(_)));
    assert_eq!(scenario.upstream.congestion.as_ref().unwrap().levels_mbps, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(scenario.seed, u64::MAX);
    assert_eq!(only(&to_toml(&scenario), &[]), scenario);
}

/// 1.2345678 Mb/s are 1 234 567.8 b/s, which the simulation rounds to 1 234 568.
#[test]
fn rates_are_stored_as_they_are_simulated() {
    let with = |rates: [&str; 5]| {
        let [service, link, app, free, traced] = rates;
        let sets = [
            format!("upstream.sustained_mbps={service}"),
            format!("servers.files.rate_mbps={link}"),
            format!("traffic.mice={{ kind = 'on_off', server = 'files', mean_mbps = [{app}, 1] }}"),
            format!("upstream.congestion.steps=[{{ for_s = 1, mbps = {free} }}]"),
            format!("router.upstream.capacity.steps=[{{ for_s = 1, mbps = {traced} }}]"),
        ];
        only(SMALL, &sets.each_ref().map(String::as_str))
    };
    let scenario = with(["1.2345678", "0.00123456", "0.33333333", "2.0000004", "3.0000006"]);
    assert_eq!(scenario, with(["1.234568", "0.001235", "0.333333", "2.0", "3.000001"]));
    assert!(to_toml(&scenario).contains("sustained_mbps = 1.234568\n"));
    // No reserved rate is none.
    assert_eq!(only(SMALL, &["upstream.minimum_mbps=0.0"]).upstream.minimum_mbps, 0.0);
}

#[test]
fn what_is_written_loads_to_the_same() {
    for Variant { scenario, .. } in load_with(HOME, &[]).unwrap() {
        assert_eq!(only(&to_toml(&scenario), &[]), scenario);
    }
}

#[test]
fn the_schema_of_a_file_describes_variants() {
    let schema = file_schema();
    let compare = &schema["properties"]["compare"];
    assert_eq!(compare["additionalProperties"]["type"], "object");
    assert!(
        compare["description"].as_str().unwrap().starts_with("Variants of the scenario to compare")
    );
    assert_eq!(schema["properties"]["seed"]["default"], 1);
}
