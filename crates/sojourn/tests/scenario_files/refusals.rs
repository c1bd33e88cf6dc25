//! What is refused key by key, and in which words.

use super::{SMALL, load_with};

pub(super) fn refusal(text: &str) -> String {
    load_with(text, &[]).expect_err(text).to_string()
}

pub(super) fn refusal_of(sets: &[&str]) -> String {
    load_with(SMALL, sets).expect_err(&sets.join(" ")).to_string()
}

/// Asserts that the last of these settings is refused, at its own key, for this problem.
#[track_caller]
pub(super) fn assert_last_refused(sets: &[&str], problem: &str) {
    let last = sets[sets.len() - 1];
    let (key, _) = last.split_once('=').unwrap();
    assert_eq!(refusal_of(sets), format!("--set {last}: {key}: {problem}"));
}

/// The refusal of the small scenario with a line replaced by others.
pub(super) fn refusal_with(line: &str, by: &str) -> String {
    assert!(SMALL.contains(line), "{line}");
    refusal(&SMALL.replacen(line, by, 1))
}

#[test]
fn text_that_is_not_toml() {
    assert_eq!(
        refusal("duration_s = 10\ndialect = ns-2\n"),
        "home.toml: line 2, column 11: not valid TOML: found \"ns-2\" (invalid float, expected `nan`)"
    );
    assert_eq!(
        refusal("a = 1\r\nb = [1,\r\n"),
        "home.toml: line 2, column 8: not valid TOML: found the end of the line (unclosed array, expected `]`)"
    );
    assert_eq!(
        refusal("seed = 1\nseed = 2\n"),
        "home.toml: line 2, column 1: not valid TOML: found \"seed\" (duplicate key)"
    );
    assert_eq!(
        refusal("{ seed: 1 }"),
        "home.toml: line 1, column 1: not valid TOML: found \"{ seed: 1 }\" (invalid key-value pair, expected key)"
    );
}

#[test]
fn a_sweep_is_no_scenario() {
    assert_eq!(
        refusal("scenario = 'home.toml'\nseeds = 3\n[keys]\nseed = [1]"),
        "home.toml: scenario: found a sweep file; allowed: a scenario; `sojourn sweep` runs sweeps"
    );
}

#[test]
fn unknown_keys() {
    assert_eq!(
        refusal_with("[servers]", "queue.law = { kind = 'codel', targt_ms = 5 }\n[servers]"),
        "home.toml: downstream.queue.law.targt_ms: unknown key; allowed here: kind, target_ms, \
         interval_ms, mtu_bytes, variant, re_entry_intervals, ce_threshold_ms, ce_threshold_l4s (did you mean target_ms?)"
    );
    assert_eq!(
        refusal_with("duration_s = 10", "duration_s = 10\n'my key' = 1"),
        "home.toml: \"my key\": unknown key; allowed here: title, description, duration_s, seed, \
         dialect, clock_drift_ppm, access, cable, upstream, downstream, upstream_channel, cmts, \
         provisioning, homes, router, core, servers, tcp, traffic, metrics, baseline, compare"
    );
}

/// The message names the tables that have an unknown key, nearest first, or the part that has an unknown word as a kind.
#[test]
fn keys_and_kinds_of_other_tables() {
    for (set, meant) in [
        ("interrupt_interval_us=0", "tcp.interrupt_interval_us"),
        (
            "traffic.upload.interrupt_interval_us=0",
            "traffic.upload.tcp.interrupt_interval_us or tcp.interrupt_interval_us",
        ),
        ("host_jitter_us=50", "servers.NAME.host_jitter_us"),
        ("tcp.host_jitter_us=50", "servers.NAME.host_jitter_us"),
        ("modem.kind=link", "upstream.modem"),
        ("access.kind=link", "upstream.modem.kind = \"link\""),
        ("tcp.congestion_control=BBR", "{ kind = \"bbr1\" }"),
        ("servers.host_jitter_us=50", "servers.NAME.host_jitter_us"),
        ("traffic.server=files", "traffic.NAME.server"),
    ] {
        let refusal = refusal_of(&[set]);
        assert!(refusal.ends_with(&format!(" (did you mean {meant}?)")), "{refusal}");
    }
    let own = "upstream.queue.law={ kind = 'pie', interval_ms = 5 }";
    assert!(!refusal_of(&[own]).contains("did you mean"));
}

/// Names of Linux and of papers are answered with the keys that stand for them.
#[test]
fn names_that_others_use() {
    for (set, meant) in [
        (
            "upstream.queue.scheduler.kind=fq_codel",
            "scheduler.kind = \"fq\" and law.kind = \"codel\"",
        ),
        ("upstream.queue.law.kind=FQ-CoDel", "scheduler.kind = \"fq\" and law.kind = \"codel\""),
        ("upstream.queue.law={ kind = 'ared' }", "law = { kind = \"red\", adaptive = true }"),
        ("upstream.queue.scheduler={ kind = 'dualpi2' }", "scheduler.kind = \"dualq\""),
    ] {
        let refusal = refusal_of(&[set]);
        assert!(refusal.ends_with(&format!("; write {meant}")), "{refusal}");
    }
    let framing = refusal_of(&["upstream.queue.scheduler={ kind = 'cake', framing = 'docsis' }"]);
    assert!(
        framing.contains(
            "allowed: noatm, atm, ptm; write overhead_bytes = 18 and mpu_bytes = 64 where"
        )
    );
    assert!(!refusal_of(&["upstream.modem.kind=docsis"]).contains("write"));
}

/// In TOML a dotted key belongs to the table above it.
#[test]
fn keys_of_the_file_below_a_table() {
    for (key, path) in [
        ("upstream.queue.law.kind = 'codel'", "traffic.upload.upstream"),
        ("duration_s = 10", "traffic.upload.duration_s"),
    ] {
        let refusal = refusal_with("kind = \"transfer\"", &format!("kind = \"transfer\"\n{key}"));
        assert_begins(&refusal, &format!("home.toml: {path}: unknown key; allowed here: "));
        let name = path.rsplit('.').next().unwrap();
        let hint = format!("; if {name} is the file's, put it above the first line with [");
        assert!(refusal.ends_with(&hint), "{refusal}");
    }
}

#[test]
fn missing_keys() {
    assert_eq!(
        refusal_with("sustained_mbps = 5", ""),
        "home.toml: upstream.sustained_mbps: missing; allowed: a number from 0.001 to 100000 \
         (Maximum sustained traffic rate in Mbps)"
    );
    assert_begins(
        &refusal_with("kind = \"transfer\"", ""),
        "home.toml: traffic.upload.kind: missing; allowed: stream, transfer, web, ",
    );
    assert_eq!(
        refusal_with("kind = \"transfer\"", "kind = 'stream'"),
        "home.toml: traffic.upload.purpose: missing; allowed: voice, game, data (What the \
         stream is)"
    );
    assert_eq!(
        refusal(""),
        "home.toml: upstream: missing; allowed: a table (The modem's primary upstream service \
         flow)\n\
         home.toml: downstream: missing; allowed: a table (The home's primary downstream service \
         flow at the CMTS)\n\
         home.toml: traffic: missing; allowed: a table of 1 to 65535 entries (Traffic entries, by \
         name: what users and their devices do)"
    );
}

/// All faults of single keys at once, in the order of the file, each with its line; after them all
/// contradictions between keys.
#[test]
fn a_message_has_all_faults() {
    let text = "dialect = 'ns3'\nspeed = 1\n[upstream]\nsustained_mbps = -5\nqueue.limit = 7\n\
                [traffic.a]\nkind = 'stream'\n[traffic.b]\nkind = 'transfers'\n\
                [compare.X]\nseed = 0.5\n[compare.Y]\ntitle = 'Y'\nmetrics.watch_flows = -1\n";
    let problems = load_with(text, &[]).unwrap_err();
    let found: Vec<_> = problems.reported().map(|p| (p.line, &*p.path)).collect();
    let shared = [
        (Some(1), "dialect"),
        (Some(2), "speed"),
        (Some(4), "upstream.sustained_mbps"),
        (Some(5), "upstream.queue.limit"),
        (Some(6), "traffic.a.purpose"),
        (Some(9), "traffic.b.kind"),
    ];
    let own = [(None, "downstream"), (Some(11), "variant X: seed")];
    let of_y = [(Some(14), "variant Y: metrics.watch_flows")];
    let mut expected: Vec<_> = shared.into_iter().chain(own).chain(of_y).collect();
    expected.sort();
    let mut sorted = found.clone();
    sorted.sort();
    assert_eq!(sorted, expected, "{problems}");
    assert_eq!(problems.to_string().lines().count(), 9);

    let text = SMALL
        .replace("peak_mbps = 20", "peak_mbps = 4")
        .replace("server = \"files\"", "server = 'file'\nstop_s = 1\nstart_s = 2")
        .replace("[servers]", "queue.limit_bytes = 7\n[servers]");
    let problems = load_with(&text, &[]).unwrap_err();
    let found: Vec<_> = problems.reported().map(|p| (p.line, &*p.path)).collect();
    assert_eq!(
        found,
        [
            (Some(20), "traffic.upload.server"),
            (Some(21), "traffic.upload.stop_s"),
            (Some(6), "upstream.peak_mbps"),
            (Some(14), "downstream.queue.limit_bytes"),
        ],
        "{problems}"
    );
}

/// A file that is wrong throughout has a message that can be read.
#[test]
fn a_message_has_thirty_faults_at_most() {
    let entries: String = (0..100).map(|i| format!("[traffic.t{i}]\nkind = 'x'\n")).collect();
    let problems = load_with(&format!("{SMALL}{entries}"), &[]).unwrap_err();
    assert_eq!(problems.reported().count(), 30);
    assert_eq!(problems.rest().as_deref(), Some("and 70 more problems"));
}

/// Faults of the text itself: every one that the parser finds.
#[test]
fn all_faults_of_the_text() {
    let problems = load_with("a = nan\nb = 1e999\nc = 1979-05-27\n", &[]).unwrap_err();
    let found: Vec<_> = problems.reported().map(|p| (p.line, &*p.path)).collect();
    assert_eq!(found, [(Some(1), "a"), (Some(2), "b"), (Some(3), "c")]);
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
    assert_last_refused(&["seed=-1"], "found -1; allowed: a whole number, 0 or more");
    assert_last_refused(
        &["upstream.congestion.levels_mbps=[1,2,3]"],
        "found a list of 3 items; allowed: 4 items",
    );
    assert_eq!(
        refusal_of(&["upstream.congestion.levels_mbps=[1,2,0,4]"]),
        "--set upstream.congestion.levels_mbps=[1,2,0,4]: upstream.congestion.levels_mbps.2: \
         found 0; allowed: a number from 0.001 to 100000"
    );
    assert_last_refused(&["traffic={}"], "found an empty table; allowed: 1 to 65535 entries");
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
fn web_objects_without_bytes() {
    let web = |objects: &str| {
        let keys = format!("kind = 'web'\nservers = ['files']\nobjects = {objects}\n");
        refusal(&format!("{SMALL}[traffic.web]\n{keys}"))
    };
    assert_eq!(
        web("{ kind = 'fixed', bytes = 0 }"),
        "home.toml: traffic.web.objects.bytes: found 0; allowed: a whole number from 1 to 1000000000"
    );
    assert_eq!(
        web("{ kind = 'appendix_a', scale = 0 }"),
        "home.toml: traffic.web.objects.scale: found 0; allowed: a number from 0.001 to 10000"
    );
}

#[test]
fn random_values_without_a_mean() {
    let set = "traffic.web={ kind = 'web_sessions', servers = ['files'], \
               objects = { kind = 'pareto', mean = 4, shape = 1 } }";
    assert_eq!(
        refusal_of(&[set]),
        format!(
            "--set {set}: traffic.web.objects.shape: found 1; allowed: a number from 1.001 to 1000"
        )
    );
    let set = set.replace("kind = 'pareto', mean = 4, shape = 1", "kind = 'normal'");
    assert_eq!(
        refusal_of(&[&set]),
        format!(
            "--set {set}: traffic.web.objects.kind: found \"normal\"; allowed: constant, \
             exponential, pareto"
        )
    );
}

#[test]
fn sources_with_neither_a_rate_nor_a_range_of_rates() {
    for rates in ["[]", "[1, 2, 3]"] {
        let set =
            format!("traffic.mice={{ kind = 'on_off', server = 'files', mean_mbps = {rates} }}");
        let found = if rates == "[]" { "an empty list" } else { "a list of 3 items" };
        assert_eq!(
            refusal_of(&[&set]),
            format!("--set {set}: traffic.mice.mean_mbps: found {found}; allowed: 1 to 2 items")
        );
    }
}

#[test]
fn numbers_that_are_none() {
    for (value, found) in [("nan", "nan"), ("inf", "inf"), ("-inf", "-inf"), ("1e999", "1e999")] {
        assert_eq!(
            refusal_with("sustained_mbps = 5", &format!("sustained_mbps = {value}")),
            format!("home.toml: upstream.sustained_mbps: found {found}; allowed: a finite number")
        );
    }
    assert_last_refused(&["duration_s=nan"], "found nan; allowed: a finite number");
    assert_eq!(
        refusal_with("duration_s = 10", "duration_s = 99999999999999999999"),
        "home.toml: duration_s: found 99999999999999999999; allowed: at most \
         18446744073709551615"
    );
}

#[test]
fn wrong_types() {
    let found = |value| refusal_with("duration_s = 10", &format!("duration_s = {value}"));
    let allowed = "allowed: a number from 0.001 to 1000000";
    assert_eq!(found("'10'"), format!("home.toml: duration_s: found a string \"10\"; {allowed}"));
    assert_eq!(found("true"), format!("home.toml: duration_s: found true; {allowed}"));
    assert_eq!(
        found("{ s = 1 }"),
        format!("home.toml: duration_s: found a table of 1 entry; {allowed}")
    );
    assert_eq!(found("[1]"), format!("home.toml: duration_s: found a list of 1 item; {allowed}"));
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
    assert_last_refused(&["title=5"], "found 5; allowed: a string");
    assert_last_refused(
        &["metrics.packet_trace=yes"],
        "found a string \"yes\"; allowed: true, false",
    );
    assert_begins(
        &refusal_of(&["upstream.queue.law=codel"]),
        "--set upstream.queue.law=codel: upstream.queue.law: found a string \"codel\"; \
         allowed: a table with a kind: none, codel, ",
    );
    assert_begins(
        &refusal_of(&["traffic.upload.tcp.congestion_control=[]"]),
        "--set traffic.upload.tcp.congestion_control=[]: traffic.upload.tcp.congestion_control: \
         found an empty list; allowed: a table with a kind: reno, cubic, ledbat",
    );
    assert_last_refused(&["upstream=5"], "found 5; allowed: a table");
}

/// The list at the end of a message grows with every AQM algorithm and every kind of traffic.
fn assert_begins(message: &str, beginning: &str) {
    assert!(message.starts_with(beginning), "{message}");
}

#[test]
fn wrong_names() {
    assert_begins(
        &refusal_with("[servers]", "queue.law = { kind = 'codle' }\n[servers]"),
        "home.toml: downstream.queue.law.kind: found \"codle\"; allowed: none, codel, ",
    );
    assert_eq!(
        refusal_with("duration_s = 10", "duration_s = 10\ndialect = 'ns3'"),
        "home.toml: dialect: found \"ns3\"; allowed: rfc, ns2, linux (did you mean ns2?)"
    );
    assert_begins(
        &refusal_with("kind = \"transfer\"", "kind = 1"),
        "home.toml: traffic.upload.kind: found 1; allowed: stream, transfer, web, ",
    );
    assert_last_refused(
        &["upstream.shaping=both"],
        "found \"both\"; allowed: requests, transmissions",
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
        ("compare.Buffer Control.seed=5", "the key \"compare.Buffer Control.seed\""),
    ] {
        assert_eq!(refusal_of(&[set]), format!("--set {set}: found {found}; {allowed}"));
    }
    assert_eq!(
        refusal_of(&["upstream.peak_mbps.x=1"]),
        "--set upstream.peak_mbps.x=1: upstream.peak_mbps: found 20; allowed: a table or a list"
    );
    let levels = "upstream.congestion.levels_mbps=[1,2,3,4]";
    assert_last_refused(
        &[levels, "upstream.congestion.levels_mbps.4=1"],
        "no such item; allowed: 0 to 3",
    );
    assert_last_refused(
        &["traffic=[]", "traffic.x=1"],
        "no such item; allowed: nothing, the list is empty",
    );
    assert_last_refused(
        &["upstream.sustaned_mbps=1"],
        "unknown key; allowed here: sustained_mbps, peak_mbps, burst_bytes, minimum_mbps, \
         priority, shaping, modem, mac, scheduling, profile_bits, bonding_group, ranging_outages, stalls, \
         capacity, congestion, queue, buffer, aqm, flows (did you mean sustained_mbps?)",
    );
}

#[test]
fn variants_that_are_none() {
    let with = |compare: &str| refusal(&format!("compare{compare}\n{SMALL}"));
    let schema = "home.toml: compare";
    assert_eq!(
        with(" = {}"),
        format!("{schema}: found an empty table; allowed: 1 to 10000 entries")
    );
    assert_eq!(
        with(" = [1]"),
        format!("{schema}: found a list of 1 item; allowed: a table of 1 to 10000 entries")
    );
    assert_eq!(with(".A = 5"), format!("{schema}.A: found 5; allowed: a table"));
}

/// Messages and tables could not say what they are about.
#[test]
fn names_that_are_empty() {
    for name in ["", " "] {
        for (table, key) in [
            ("compare", "seed = 1"),
            ("traffic", "kind = 'transfer'"),
            ("homes", "count = 2"),
            ("upstream_channel.bonded", "extra_delay_ms = 1"),
        ] {
            assert_eq!(
                refusal(&format!("{table}.'{name}'.{key}\n{SMALL}")),
                format!(
                    "home.toml: {table}.\"{name}\": found an empty name; allowed: a name of at least 1 character"
                )
            );
        }
    }
}

#[test]
fn problems_say_whose_they_are() {
    let variants = "[compare.A]\nseed = 2\n[compare.'B b']\nupstream.peak_mbps = 1\n";
    let problems = load_with(&format!("{SMALL}{variants}"), &[]).unwrap_err();
    let problem = problems.first();
    assert_eq!(problem.source, "home.toml");
    assert_eq!(problem.path, "variant B b: upstream.peak_mbps");
    assert_eq!(problem.message, "found 1; allowed: 5 or more, the value of sustained_mbps");
    // What all variants share is no variant's.
    assert_eq!(
        refusal(&format!("{SMALL}{variants}").replace("sustained_mbps = 20", "sustained_mbps = 0")),
        "home.toml: downstream.sustained_mbps: found 0; allowed: a number from 0.001 to 100000"
    );
    let text = format!("{SMALL}[compare.A]\nseed = 2\n");
    let set = "compare.A.upstream.queue.limit_packets=0";
    assert_eq!(
        load_with(&text, &[set]).unwrap_err().to_string(),
        format!(
            "--set {set}: variant A: upstream.queue.limit_packets: found 0; \
             allowed: a whole number from 1 to 10000000"
        )
    );
}

/// Packets carry the numbers of servers and entries in 16 bits.
#[test]
fn more_servers_than_packets_can_name() {
    let more: String = (0..65_541).map(|n| format!("[servers.s{n}]\ndelay_ms = 5\n")).collect();
    let message = refusal(&format!("{SMALL}{more}"));
    assert!(message.starts_with("home.toml: servers: found a table"), "{message}");
    assert!(message.ends_with("65535 or fewer entries"), "{message}");
}

#[test]
fn more_variants_than_anybody_compares() {
    let more: String = (0..10_001).map(|n| format!("compare.v{n}.seed = {n}\n")).collect();
    let message = refusal(&format!("{more}{SMALL}"));
    assert!(message.starts_with("home.toml: compare: found a table"), "{message}");
}

/// Each variant is a scenario of its own: a file of 40 kB would take minutes and gigabytes. 2000 servers and
/// the 10 values of the small scenario, 502 times, are above a million.
#[test]
fn many_variants_of_a_long_scenario() {
    let servers: String = (0..2000).map(|n| format!("[servers.s{n}]\ndelay_ms = 1\n")).collect();
    let variants: String = (0..502).map(|n| format!("compare.v{n}.seed = {n}\n")).collect();
    assert_eq!(
        refusal(&format!("{variants}{SMALL}{servers}")),
        "home.toml: compare: found 502 variants of a scenario of 2010 values; allowed: 1000000 values or fewer \
         in all variants together"
    );
}

/// A terminal would obey them, and names with them pass for others.
#[test]
fn names_with_invisible_characters() {
    assert_eq!(
        refusal_of(&[r#"servers."a\u001b[2J".delay_ms=5"#]),
        r#"--set servers."a\u001b[2J".delay_ms=5: servers."a\u{1b}[2J": found a name with the invisible character U+001B; allowed: a name without"#
    );
    for hidden in ["0007", "009b", "200b", "200f", "202e", "2066", "2800", "fe0f", "feff"] {
        let found = format!("the invisible character U+{}; allowed: ", hidden.to_uppercase());
        for set in ["servers.\"a~\".delay_ms=5", "compare.\"a~\".seed=1"] {
            let set = set.replace('~', &format!("\\u{hidden}"));
            assert!(refusal_of(&[&set]).contains(&found), "{set}");
        }
    }
}

#[test]
fn names_with_letters_of_any_language() {
    assert!(load_with(SMALL, &[r#"servers."נתב ❤ é".delay_ms=5"#]).is_ok());
}
