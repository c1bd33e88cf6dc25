//! Scenario files: what is refused and in which words, what is laid over what, what comes out.

use proptest::prelude::*;
use sojourn_core::aqm::{LawSpec, codel, docsis_pie};
use sojourn_core::queue::{QueueSpec, SchedulerSpec, sfq};
use sojourn_core::scenario::file::{file_schema, to_toml};
use sojourn_core::scenario::{Dialect, Problem, Scenario, Variant, load};

const HOME: &str = include_str!("../../../scenarios/home.toml");

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

fn load_with(text: &str, sets: &[&str]) -> Result<Vec<Variant>, Problem> {
    let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
    load(text, "home.toml", &sets)
}

fn refusal(text: &str) -> String {
    load_with(text, &[]).expect_err(text).to_string()
}

fn refusal_of(sets: &[&str]) -> String {
    load_with(SMALL, sets)
        .expect_err(&sets.join(" "))
        .to_string()
}

/// The refusal of the small scenario with a line replaced by others.
fn refusal_with(line: &str, by: &str) -> String {
    assert!(SMALL.contains(line), "{line}");
    refusal(&SMALL.replacen(line, by, 1))
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

#[test]
fn text_that_is_not_toml() {
    assert_eq!(
        refusal("duration_s = 10\ndialect = ns-2\n"),
        "home.toml: line 2, column 11: found \"ns-2\" (invalid float, expected `nan`); \
         allowed: TOML"
    );
    assert_eq!(
        refusal("a = 1\r\nb = [1,\r\n"),
        "home.toml: line 2, column 8: found the end of the line (unclosed array, expected `]`); \
         allowed: TOML"
    );
    assert_eq!(
        refusal("seed = 1\nseed = 2\n"),
        "home.toml: line 2, column 1: found \"seed\" (duplicate key); allowed: TOML"
    );
    assert_eq!(
        refusal("{ \"duration_s\": 10 }"),
        "home.toml: line 1, column 1: found \"{\" (invalid key, expected key); allowed: TOML"
    );
}

#[test]
fn unknown_keys() {
    assert_eq!(
        refusal_with(
            "[servers]",
            "queue.law = { kind = 'codel', targt_ms = 5 }\n[servers]"
        ),
        "home.toml: downstream.queue.law.targt_ms: unknown key; allowed here: kind, target_ms, \
         interval_ms, mtu_bytes, variant (did you mean target_ms?)"
    );
    assert_eq!(
        refusal_with("duration_s = 10", "duration_s = 10\n'my key' = 1"),
        "home.toml: \"my key\": unknown key; allowed here: title, description, duration_s, seed, \
         dialect, cable, upstream, downstream, servers, tcp, traffic, metrics, compare"
    );
}

#[test]
fn missing_keys() {
    assert_eq!(
        refusal_with("duration_s = 10", ""),
        "home.toml: duration_s: missing; allowed: a number from 0.001 to 1000000 \
         (Simulated time in s)"
    );
    assert_eq!(
        refusal("duration_s = 1\nupstream = {}"),
        "home.toml: downstream: missing; allowed: a table (The downstream service flow at the \
         CMTS)"
    );
    assert_eq!(
        refusal_with("kind = \"transfer\"", ""),
        "home.toml: traffic.upload.kind: missing; allowed: stream, transfer, web"
    );
    assert_eq!(
        refusal_with("kind = \"transfer\"", "kind = 'stream'"),
        "home.toml: traffic.upload.purpose: missing; allowed: voice, game, data (What it is)"
    );
    assert_eq!(
        refusal(""),
        "home.toml: duration_s: missing; allowed: a number from 0.001 to 1000000 \
         (Simulated time in s)"
    );
}

#[test]
fn values_out_of_range() {
    assert_eq!(
        refusal_with("sustained_mbps = 5", "sustained_mbps = -5"),
        "home.toml: upstream.sustained_mbps: found -5; allowed: a number from 0.001 to 100000"
    );
    assert_eq!(
        refusal_with("burst_bytes = 10_000_000", "burst_bytes = 1521"),
        "home.toml: upstream.burst_bytes: found 1521; allowed: a whole number from 1522 to \
         4294967295"
    );
    assert_eq!(
        refusal_of(&["seed=-1"]),
        "--set seed=-1: seed: found -1; allowed: a whole number, 0 or more"
    );
    assert_eq!(
        refusal_of(&["upstream.congestion.levels_mbps=[1,2,0]"]),
        "--set upstream.congestion.levels_mbps=[1,2,0]: upstream.congestion.levels_mbps: \
         found a list of 3 items; allowed: 4 items"
    );
    assert_eq!(
        refusal_of(&["upstream.congestion.levels_mbps=[1,2,0,4]"]),
        "--set upstream.congestion.levels_mbps=[1,2,0,4]: upstream.congestion.levels_mbps.2: \
         found 0; allowed: a number from 0.001 to 100000"
    );
    assert_eq!(
        refusal_of(&["traffic={}"]),
        "--set traffic={}: traffic: found an empty table; allowed: 1 or more entries"
    );
}

#[test]
fn a_web_page_with_no_servers() {
    let web = "[traffic.web]\nkind = 'web'\nservers = []\nobjects = { kind = 'fixed' }\n";
    assert_eq!(
        refusal(&format!("{SMALL}{web}")),
        "home.toml: traffic.web.servers: found an empty list; allowed: 1 to 100 items"
    );
}

#[test]
fn numbers_that_are_none() {
    for (value, found) in [
        ("nan", "nan"),
        ("inf", "inf"),
        ("-inf", "-inf"),
        ("1e999", "1e999"),
    ] {
        assert_eq!(
            refusal_with("sustained_mbps = 5", &format!("sustained_mbps = {value}")),
            format!("home.toml: upstream.sustained_mbps: found {found}; allowed: a finite number")
        );
    }
    assert_eq!(
        refusal_of(&["duration_s=nan"]),
        "--set duration_s=nan: duration_s: found nan; allowed: a finite number"
    );
    assert_eq!(
        refusal_with("duration_s = 10", "duration_s = 99999999999999999999"),
        "home.toml: duration_s: found 99999999999999999999; allowed: whole numbers from \
         -9223372036854775808 to 18446744073709551615"
    );
}

#[test]
fn wrong_types() {
    let found = |value| refusal_with("duration_s = 10", &format!("duration_s = {value}"));
    let allowed = "allowed: a number from 0.001 to 1000000";
    assert_eq!(
        found("'10'"),
        format!("home.toml: duration_s: found a string \"10\"; {allowed}")
    );
    assert_eq!(
        found("true"),
        format!("home.toml: duration_s: found true; {allowed}")
    );
    assert_eq!(
        found("{ s = 1 }"),
        format!("home.toml: duration_s: found a table; {allowed}")
    );
    assert_eq!(
        found("[1]"),
        format!("home.toml: duration_s: found a list of 1 item; {allowed}")
    );
    assert_eq!(
        found("1979-05-27"),
        "home.toml: duration_s: found a date or time; allowed: numbers, strings, true, false, \
         lists, tables"
    );
    assert_eq!(
        refusal_with("burst_bytes = 10_000_000", "burst_bytes = 1e3"),
        "home.toml: upstream.burst_bytes: found 1000; allowed: a whole number from 1522 to \
         4294967295"
    );
    assert_eq!(
        refusal_of(&["title=5"]),
        "--set title=5: title: found 5; allowed: a string"
    );
    assert_eq!(
        refusal_of(&["metrics.packet_trace=yes"]),
        "--set metrics.packet_trace=yes: metrics.packet_trace: found a string \"yes\"; \
         allowed: true, false"
    );
    assert_eq!(
        refusal_of(&["upstream.queue.law=codel"]),
        "--set upstream.queue.law=codel: upstream.queue.law: found a string \"codel\"; \
         allowed: a table with a kind: none, codel, docsis_pie"
    );
    assert_eq!(
        refusal_of(&["traffic.upload.tcp.congestion_control=[]"]),
        "--set traffic.upload.tcp.congestion_control=[]: traffic.upload.tcp.congestion_control: \
         found an empty list; allowed: a table with a kind: reno, cubic"
    );
    assert_eq!(
        refusal_of(&["upstream=5"]),
        "--set upstream=5: upstream: found 5; allowed: a table"
    );
}

#[test]
fn wrong_names() {
    assert_eq!(
        refusal_with("[servers]", "queue.law = { kind = 'codle' }\n[servers]"),
        "home.toml: downstream.queue.law.kind: found \"codle\"; allowed: none, codel, docsis_pie"
    );
    assert_eq!(
        refusal_with("duration_s = 10", "duration_s = 10\ndialect = 'ns3'"),
        "home.toml: dialect: found \"ns3\"; allowed: rfc, ns2"
    );
    assert_eq!(
        refusal_with("kind = \"transfer\"", "kind = 1"),
        "home.toml: traffic.upload.kind: found 1; allowed: stream, transfer, web"
    );
    assert_eq!(
        refusal_of(&["upstream.shaping=both"]),
        "--set upstream.shaping=both: upstream.shaping: found \"both\"; \
         allowed: requests, transmissions"
    );
}

#[test]
fn bad_sets() {
    let allowed = "allowed: KEY=VALUE with a dotted TOML key, such as \
                   upstream.queue.limit_bytes=250000";
    for (set, found) in [
        ("dialect", "no equals sign"),
        ("", "no equals sign"),
        ("=5", "the key \"\""),
        ("a..b=5", "the key \"a..b\""),
        (
            "compare.Buffer Control.seed=5",
            "the key \"compare.Buffer Control.seed\"",
        ),
    ] {
        assert_eq!(
            refusal_of(&[set]),
            format!("--set {set}: found {found}; {allowed}")
        );
    }
    assert_eq!(
        refusal_of(&["upstream.peak_mbps.x=1"]),
        "--set upstream.peak_mbps.x=1: upstream.peak_mbps: found 20; allowed: a table or a list"
    );
    let levels = "upstream.congestion.levels_mbps=[1,2,3,4]";
    assert_eq!(
        refusal_of(&[levels, "upstream.congestion.levels_mbps.4=1"]),
        "--set upstream.congestion.levels_mbps.4=1: upstream.congestion.levels_mbps.4: \
         no such item; allowed: 0 to 3"
    );
    assert_eq!(
        refusal_of(&["traffic=[]", "traffic.x=1"]),
        "--set traffic.x=1: traffic.x: no such item; allowed: nothing, the list is empty"
    );
    assert_eq!(
        refusal_of(&["upstream.sustaned_mbps=1"]),
        "--set upstream.sustaned_mbps=1: upstream.sustaned_mbps: unknown key; allowed here: \
         sustained_mbps, peak_mbps, burst_bytes, shaping, mac, congestion, queue \
         (did you mean sustained_mbps?)"
    );
}

#[test]
fn rates_that_contradict_each_other() {
    assert_eq!(
        refusal_with("peak_mbps = 20", "peak_mbps = 4"),
        "home.toml: upstream.peak_mbps: found 4; allowed: 5 or more, by sustained_mbps"
    );
    assert_eq!(
        refusal_with("peak_mbps = 50", "peak_mbps = 19.5"),
        "home.toml: downstream.peak_mbps: found 19.5; allowed: 20 or more, by sustained_mbps"
    );
    assert_eq!(
        refusal_of(&["upstream.congestion.levels_mbps=[1, 2.5, 2, 4]"]),
        "--set upstream.congestion.levels_mbps=[1, 2.5, 2, 4]: \
         upstream.congestion.levels_mbps.2: found 2; allowed: 2.5 or more, as levels ascend"
    );
}

#[test]
fn servers_that_are_not_there() {
    assert_eq!(
        refusal_with("server = \"files\"", "server = 'file'"),
        "home.toml: traffic.upload.server: found \"file\"; allowed: files (did you mean files?)"
    );
    assert_eq!(
        refusal_with("files = { delay_ms = 9 }", ""),
        "home.toml: traffic.upload.server: found \"files\"; allowed: a name of the table \
         servers, but that has none"
    );
    let web = "[traffic.'my web']\nkind = 'web'\nservers = ['files', 'other']\n\
               objects.kind = 'appendix_a'\n";
    assert_eq!(
        refusal(&format!("{SMALL}{web}")),
        "home.toml: traffic.\"my web\".servers.1: found \"other\"; allowed: files"
    );
}

#[test]
fn limits_that_hold_no_packet() {
    assert_eq!(
        refusal_of(&["upstream.queue.limit_bytes=1521"]),
        "--set upstream.queue.limit_bytes=1521: upstream.queue.limit_bytes: found 1521; \
         allowed: 1522 or more, so that one packet fits"
    );
    assert_eq!(
        refusal_of(&["downstream.queue.limit_packets=1", "dialect=ns2"]),
        "--set downstream.queue.limit_packets=1: downstream.queue.limit_packets: found 1; \
         allowed: 2 or more, so that one packet fits below the limit, which the ns2 dialect \
         never reaches"
    );
    assert_eq!(
        refusal_of(&["upstream.queue.limit_bytes=1522", "dialect=ns2"]),
        "--set upstream.queue.limit_bytes=1522: upstream.queue.limit_bytes: found 1522; \
         allowed: 1523 or more, so that one packet fits below the limit, which the ns2 dialect \
         never reaches"
    );
    assert_eq!(
        refusal_of(&["tcp.mss_bytes=8000", "downstream.queue.limit_bytes=8051"]),
        "--set downstream.queue.limit_bytes=8051: downstream.queue.limit_bytes: found 8051; \
         allowed: 8052 or more, so that one packet fits"
    );
    assert_eq!(
        refusal_of(&["upstream.sustained_mbps=0.01"]),
        "home.toml: upstream.queue.limit_bytes: unset, which is 312 (250 ms at the sustained \
         rate); allowed: 1522 or more, so that one packet fits"
    );
    assert_eq!(
        refusal_of(&["tcp.mss_bytes=8000", "upstream.burst_bytes=8051"]),
        "--set upstream.burst_bytes=8051: upstream.burst_bytes: found 8051; allowed: 8052 or \
         more, the largest packet"
    );
    only(
        SMALL,
        &[
            "upstream.queue.limit_bytes=1522",
            "downstream.queue.limit_packets=1",
        ],
    );
    only(SMALL, &["upstream.queue.limit_bytes=1523", "dialect=ns2"]);
}

#[test]
fn traffic_that_contradicts_itself() {
    let call = "traffic.call={ kind = 'stream', purpose = 'voice', server = 'files', \
                start_s = 5, stop_s = 4.5 }";
    assert_eq!(
        refusal_of(&[call]),
        format!("--set {call}: traffic.call.stop_s: found 4.5; allowed: 5 or more, by start_s")
    );
    assert_eq!(
        refusal_of(&["traffic.upload.pause_s=16"]),
        "--set traffic.upload.pause_s=16: traffic.upload.pause_s: found 16; allowed: only with \
         file_bytes, as an endless file never ends"
    );
    only(
        SMALL,
        &[
            "traffic.upload.pause_s=16",
            "traffic.upload.file_bytes=18_750_000",
        ],
    );
}

#[test]
fn tcp_options_that_contradict_each_other() {
    assert_eq!(
        refusal_of(&["tcp.max_window_segments=5"]),
        "--set tcp.max_window_segments=5: tcp.max_window_segments: found 5; allowed: 10 or \
         more, by initial_window_segments"
    );
    assert_eq!(
        refusal_of(&["tcp.min_rto_s=3", "traffic.upload.tcp.max_rto_s=2"]),
        "--set traffic.upload.tcp.max_rto_s=2: traffic.upload.tcp.max_rto_s: found 2; \
         allowed: 3 or more, by min_rto_s"
    );
    assert_eq!(
        refusal_of(&["tcp.mss_bytes=8960", "traffic.upload.tcp.header_bytes=58"]),
        "--set tcp.mss_bytes=8960: tcp.mss_bytes: found 8960; allowed: 8948 or less, to stay \
         within 9018 with 70 of header and options"
    );
    // The ns-2 dialect starts with 2 segments.
    only(SMALL, &["tcp.max_window_segments=5", "dialect=ns2"]);
}

#[test]
fn variants_that_are_none() {
    let with = |compare: &str| refusal(&format!("compare{compare}\n{SMALL}"));
    let schema = "home.toml: compare";
    assert_eq!(
        with(" = {}"),
        format!("{schema}: found an empty table; allowed: 1 or more entries")
    );
    assert_eq!(
        with(" = [1]"),
        format!("{schema}: found a list of 1 item; allowed: a table of 1 or more entries")
    );
    assert_eq!(
        with(".A = 5"),
        format!("{schema}.A: found 5; allowed: a table")
    );
    assert_eq!(
        with(".'' = {}"),
        format!("{schema}: found a variant with an empty name; allowed: 1 or more characters")
    );
}

#[test]
fn problems_say_whose_they_are() {
    let variants = "[compare.A]\nseed = 2\n[compare.'B b']\nupstream.peak_mbps = 1\n";
    let problem = load_with(&format!("{SMALL}{variants}"), &[]).unwrap_err();
    assert_eq!(problem.source, "home.toml");
    assert_eq!(problem.path, "variant B b: upstream.peak_mbps");
    assert_eq!(
        problem.message,
        "found 1; allowed: 5 or more, by sustained_mbps"
    );
    // What all variants share is no variant's.
    assert_eq!(
        refusal(&format!("{SMALL}{variants}").replace("sustained_mbps = 20", "sustained_mbps = 0")),
        "home.toml: downstream.sustained_mbps: found 0; allowed: a number from 0.001 to 100000"
    );
    let text = format!("{SMALL}{variants}");
    let set = "compare.A.upstream.queue.limit_packets=0";
    assert_eq!(
        load_with(&text, &[set]).unwrap_err().to_string(),
        format!(
            "--set {set}: variant A: upstream.queue.limit_packets: found 0; \
             allowed: a whole number from 1 to 10000000"
        )
    );
}

fn codel_of_the_study() -> LawSpec {
    let studied = codel::Parameters {
        target_ms: 10.0,
        interval_ms: 150.0,
        ..Default::default()
    };
    LawSpec::Codel(studied)
}

#[test]
fn home_has_its_five_variants() {
    let variants = load_with(HOME, &[]).unwrap();
    let limit = |bytes| QueueSpec {
        limit_bytes: Some(bytes),
        ..Default::default()
    };
    let codel = QueueSpec {
        law: codel_of_the_study(),
        ..limit(625_000)
    };
    let bins = sfq::Parameters {
        bins: 32,
        quantum_bytes: 300,
    };
    let sfq_codel = QueueSpec {
        scheduler: SchedulerSpec::Sfq(bins),
        ..codel.clone()
    };
    let pie = QueueSpec {
        law: LawSpec::DocsisPie(docsis_pie::Parameters::default()),
        ..Default::default()
    };
    let expected = [
        ("BufferBloat", limit(625_000)),
        ("Buffer Control", limit(31_250)),
        ("CoDel", codel),
        ("SFQ-CoDel", sfq_codel),
        ("DOCSIS-PIE", pie),
    ];
    let found: Vec<_> = variants
        .iter()
        .map(|v| (&*v.name, v.scenario.upstream.queue.clone()))
        .collect();
    assert_eq!(found, expected);
    for Variant { scenario, .. } in &variants {
        assert_eq!(scenario.dialect, Dialect::Ns2);
        assert!(
            scenario
                .servers
                .keys()
                .eq(["files", "peer", "web1", "web2", "web3", "web4"])
        );
        assert!(
            scenario
                .traffic
                .keys()
                .eq(["game", "call", "web", "upload"])
        );
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
    let laws: Vec<_> = variants
        .iter()
        .map(|v| (&*v.name, &v.scenario.upstream.queue))
        .collect();
    let queue = |parameters| QueueSpec {
        limit_packets: Some(100),
        law: LawSpec::Codel(parameters),
        ..Default::default()
    };
    let merged = codel::Parameters {
        target_ms: 7.0,
        interval_ms: 70.0,
        ..Default::default()
    };
    assert_eq!(
        laws,
        [("Z", &queue(merged)), ("A", &queue(Default::default()))]
    );
}

#[test]
fn sets_win_over_variants() {
    let sets = [
        "upstream.queue.limit_bytes=50000",
        "compare.CoDel.seed=7",
        "title=short",
        "seed=3",
    ];
    let variants = load_with(HOME, &sets).unwrap();
    assert_eq!(variants.len(), 5);
    for Variant { scenario, .. } in &variants {
        assert_eq!(scenario.upstream.queue.limit_bytes, Some(50_000));
        assert_eq!((&*scenario.title, scenario.seed), ("short", 3));
    }
    assert_eq!(
        variants[2].scenario.upstream.queue.law,
        codel_of_the_study()
    );
}

#[test]
fn sets_change_and_add_variants() {
    let sets = ["compare.CoDel.seed=7", "compare.\"New = one\".dialect=rfc"];
    let variants = load_with(HOME, &sets).unwrap();
    let found: Vec<_> = variants
        .iter()
        .map(|v| (&*v.name, v.scenario.seed))
        .collect();
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
    assert!(matches!(scenario.upstream.queue.law, LawSpec::Codel(_)));
    assert_eq!(
        scenario.upstream.congestion.as_ref().unwrap().levels_mbps,
        [1.0, 2.0, 3.0, 4.0]
    );
    assert_eq!(scenario.seed, u64::MAX);
    assert_eq!(only(&to_toml(&scenario), &[]), scenario);
}

#[test]
fn what_is_written_loads_to_the_same() {
    for Variant { scenario, .. } in load_with(HOME, &[]).unwrap() {
        assert_eq!(only(&to_toml(&scenario), &[]), scenario);
    }
}

#[test]
fn the_schema_of_a_file_tells_of_variants() {
    let schema = file_schema();
    let compare = &schema["properties"]["compare"];
    assert_eq!(compare["additionalProperties"]["type"], "object");
    assert!(
        compare["description"]
            .as_str()
            .unwrap()
            .starts_with("Variants to run side by side")
    );
    assert_eq!(schema["properties"]["seed"]["default"], 1);
}

/// A stretch of bytes of the home scenario, moved to the borders of characters.
fn stretch(start: usize, len: usize) -> std::ops::Range<usize> {
    let border = |at: usize| (at..=HOME.len()).find(|i| HOME.is_char_boundary(*i));
    let start = border(start % HOME.len()).unwrap();
    start..border((start + len).min(HOME.len())).unwrap()
}

fn replaced(edits: &[(usize, usize, String)]) -> String {
    let mut text = HOME.to_owned();
    for (start, len, by) in edits {
        let range = stretch(*start, *len);
        // An earlier edit may have moved the borders.
        if text.get(range.clone()).is_some() {
            text.replace_range(range, by);
        }
    }
    text
}

proptest! {
    #[test]
    fn no_mangled_file_panics(
        edits in prop::collection::vec((any::<usize>(), 0..20_usize, "[\\PC\n\"'=.#{}\\[\\]]{0,6}"), 1..4)
    ) {
        let _ = load_with(&replaced(&edits), &[]);
    }

    #[test]
    fn no_replaced_value_panics(
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::sample::select(VALUES)), 1..4
        )
    ) {
        let mut lines: Vec<_> = HOME.lines().map(str::to_owned).collect();
        for (line, value) in edits {
            let line = line.get_mut(&mut lines);
            if let Some((key, _)) = line.split_once('=') {
                *line = format!("{key}= {value}");
            }
        }
        let _ = load_with(&lines.join("\n"), &[]);
    }

    #[test]
    fn no_set_panics(set in prop_oneof![
        "\\PC{0,20}",
        "(upstream|traffic|compare|CoDel|web|queue|law|kind|0|\"\"|[.=]){1,8}=\\PC{0,8}",
    ], value in prop::sample::select(VALUES)) {
        let _ = load_with(HOME, &[&set]);
        let _ = load_with(HOME, &[&format!("{set}={value}")]);
    }

    #[test]
    fn no_single_key_replaced_panics(
        path in prop::sample::select(PATHS), value in prop::sample::select(VALUES)
    ) {
        if let Ok(variants) = load_with(HOME, &[&format!("{path}={value}")]) {
            for Variant { scenario, .. } in variants {
                prop_assert_eq!(only(&to_toml(&scenario), &[]), scenario);
            }
        }
    }
}

const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "5.0",
    "1e300",
    "-0.0",
    "nan",
    "inf",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999999",
    "true",
    "\"\"",
    "\"web1\"",
    "[]",
    "[1]",
    "[1, 2, 3, 4]",
    "{}",
    "{ kind = \"codel\" }",
    "{ kind = \"stream\" }",
    "{ kind = {} }",
    "{ a.b.c = 1 }",
    "1979-05-27T07:32:00Z",
    "07:32:00",
    "'''\n'''",
    "0x7f",
    "[[[[]]]]",
];

const PATHS: &[&str] = &[
    "duration_s",
    "seed",
    "dialect",
    "title",
    "cable.delay_ms",
    "upstream",
    "upstream.queue",
    "upstream.queue.limit_bytes",
    "upstream.queue.limit_packets",
    "upstream.queue.law",
    "upstream.burst_bytes",
    "upstream.sustained_mbps",
    "upstream.peak_mbps",
    "upstream.congestion",
    "upstream.congestion.levels_mbps",
    "downstream.channel_mbps",
    "servers",
    "servers.web1.delay_ms",
    "tcp",
    "tcp.mss_bytes",
    "tcp.max_window_segments",
    "tcp.min_rto_s",
    "tcp.max_rto_s",
    "traffic.web",
    "traffic.web.servers",
    "traffic.web.servers.1",
    "traffic.web.objects",
    "traffic.upload.pause_s",
    "traffic.upload.file_bytes",
    "traffic.upload.tcp.header_bytes",
    "traffic.call.stop_s",
    "traffic.call.packet_bytes",
    "compare",
    "compare.CoDel",
    "compare.CoDel.seed",
];
