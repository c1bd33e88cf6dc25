//! Modem files that refer to what the CMTS knows: service classes, aggregate QoS profiles, defaults of low latency.

use crate::common::sentences;
use sojourn::access::modem_config::{File, ModemConfig};
use sojourn::engine::queue::SchedulerSpec;
use sojourn::input::problem::{Code, Problems, Warning};
use sojourn::scenario::provision::Provision;
use sojourn::scenario::{Source, Variant};

const LINE: &str = "
    duration_s = 5
    upstream.sustained_mbps = 1
    downstream.sustained_mbps = 3
    servers.near.delay_ms = 5
    traffic.call = { kind = 'stream', purpose = 'voice', server = 'near' }
    traffic.save = { kind = 'transfer', server = 'near' }
    ";
/// Two classes, a profile whose flows are of these, and defaults.
const KNOWN: &str = "
    [provisioning.service_classes.gold]
    max_sustained_rate = 50
    peak_rate = 60
    data_rate_unit = 'mbps'
    max_burst_bytes = 40_000
    aqm = { latency_target_ms = 15 }
    [provisioning.service_classes.quick]
    aqm = { immediate_max_threshold_us = 800 }
    [provisioning.aggregate_profiles.home]
    max_sustained_rate = 30
    data_rate_unit = 'mbps'
    low_latency = { classic_service_class = 'gold', low_latency_service_class = 'quick' }
    [provisioning.low_latency]
    coupling_factor_tenths = 15
    scheduling_weight = 100
    ";

fn file(settings: &str) -> ModemConfig {
    let file = File::from_toml(settings, "modem.toml", None);
    file.unwrap_or_else(|problems| panic!("{problems}")).view()
}

fn load(scenario: &str, settings: &str) -> Result<Variant, Problems> {
    let config = file(settings);
    let modem = Provision { config: &config, problems: &[], source: "modem.cfg" };
    let source = Source::new(scenario, "line.toml").overlay(Some(&modem));
    source.load().map(|mut variants| variants.remove(0))
}

/// What is said of the file.
fn of_file(notes: Vec<Warning>) -> Vec<String> {
    let notes = sentences(notes).into_iter();
    notes.filter(|note| note.starts_with("modem.cfg: ")).collect()
}

fn loaded(settings: &str) -> Variant {
    load(&format!("{LINE}{KNOWN}"), settings).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn a_flow_has_what_its_class_says_and_the_file_does_not() {
    let Variant { scenario, notes, .. } = loaded(
        "[[upstream_service_flows]]
         reference = 1
         service_class = 'gold'
         max_sustained_rate = 20_000
         data_rate_unit = 'kbps'
         aqm = { disable = false }
         [[downstream_service_flows]]
         reference = 2
         service_class = 'gold'
         peak_rate = 5
         data_rate_unit = 'gbps'",
    );
    // 20 Mbps of the file, 60 Mbps and 40 kB of the class.
    let up = &scenario.upstream;
    assert_eq!((up.sustained_mbps, up.peak_mbps), (20.0, Some(60.0)));
    assert_eq!(up.burst_bytes, Some(40_000));
    let law = serde_json::to_value(&up.queue.law).unwrap();
    assert_eq!((&law["kind"], &law["target_ms"]), (&"docsis_pie".into(), &15.0.into()));
    // 5 Gbit/s of the file do not fit into 32 bits of bit/s; beside the 50 Mbit/s of the class they do in kbit/s.
    let down = &scenario.downstream;
    assert_eq!((down.sustained_mbps, down.peak_mbps), (50.0, Some(5000.0)));
    assert_eq!(of_file(notes), [""; 0]);
}

#[test]
fn a_profile_gives_an_aggregate_with_its_flows() {
    let Variant { scenario, notes, .. } = loaded(
        "[[upstream_aggregates]]
         reference = 1
         profile = 'home'
         low_latency = { scheduling_weight = 200 }
         [[downstream_service_flows]]
         reference = 2
         service_class = 'gold'",
    );
    assert_eq!(scenario.upstream.sustained_mbps, 30.0);
    let SchedulerSpec::LowLatency(keys) = &scenario.upstream.queue.scheduler else {
        panic!("{:?}", scenario.upstream.queue.scheduler)
    };
    // The weight is the file's, the coupling the default of the CMTS, the rest that of the classes.
    assert_eq!((keys.weight, keys.coupling), (200, 1.5));
    assert_eq!((keys.classic_target_ms, keys.low_latency_max_us), (15.0, 800.0));
    let notes = of_file(notes);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("the file sets no peak rate; using the 100 Mbps"), "{notes:?}");
}

/// The classic flow belongs to the aggregate by each criterion, and by none if one of two is not met.
#[test]
fn flows_are_matched_to_an_aggregate() {
    let with = |criteria: &str| {
        loaded(&format!(
            "[[upstream_service_flows]]
             reference = 1
             service_class = 'gold'
             traffic_priority = 3
             application_id = 9
             [[upstream_service_flows]]
             reference = 2
             service_class = 'quick'
             [[upstream_aggregates]]
             reference = 1
             max_sustained_rate = 30_000_000
             match_criteria = {{ {criteria} }}
             low_latency = {{ reference = 2 }}
             [[downstream_service_flows]]
             reference = 3
             service_class = 'gold'"
        ))
    };
    let is_low_latency = |criteria: &str| {
        let scheduler = with(criteria).scenario.upstream.queue.scheduler;
        matches!(scheduler, SchedulerSpec::LowLatency(_))
    };
    for criteria in [
        "service_class = 'gold'",
        "traffic_priority = { low = 2, high = 3 }",
        "application_id = 9",
        "application_id = 9, service_class = 'gold'",
    ] {
        assert!(is_low_latency(criteria), "{criteria}");
    }
    for criteria in
        ["", "traffic_priority = { low = 4, high = 7 }", "application_id = 9, service_class = 'x'"]
    {
        assert!(!is_low_latency(criteria), "{criteria}");
    }
    let notes = sentences(with("application_id = 8").notes);
    assert!(notes.iter().any(|note| note.contains("no other flow belongs to it")), "{notes:?}");
}

#[test]
fn what_is_missing_is_named_once() {
    let settings = "
        [[upstream_service_flows]]
        reference = 1
        service_class = 'silver 2'
        max_sustained_rate = 5_000_000
        peak_rate = 6_000_000
        [[downstream_service_flows]]
        reference = 2
        service_class = 'silver 2'
        max_sustained_rate = 5_000_000
        peak_rate = 6_000_000
        [[downstream_aggregates]]
        reference = 1
        profile = 'home'";
    let own = |variant: Variant| {
        let notes = sentences(variant.notes).into_iter();
        notes.filter(|note| note.contains("does not know")).collect::<Vec<_>>()
    };
    let known = own(loaded(settings));
    assert_eq!(
        known,
        [
            "modem.cfg: upstream_service_flows.0.service_class: found \"silver 2\", which the CMTS of the scenario does \
          not know, so that only what the file itself says is simulated; known: \"gold\", \"quick\"; write \
          [provisioning.service_classes.\"silver 2\"] into the scenario, with settings such as max_sustained_rate = \
          50 and data_rate_unit = \"mbps\""
        ]
    );
    let nothing = own(load(LINE, settings).unwrap());
    assert_eq!(nothing.len(), 2, "{nothing:?}");
    assert!(nothing[1].contains("known: none; write [provisioning.aggregate_profiles.home]"));
}

#[test]
fn settings_of_the_cmts_are_checked() {
    let refused = |table: &str| {
        let text = format!("{LINE}[provisioning.{table}");
        let problems = Source::new(&text, "line.toml").load().map(drop).unwrap_err();
        problems.to_string()
    };
    let has = |table: &str, words: &str| {
        let message = refused(table);
        assert!(message.contains(words), "{message}");
    };
    has("service_classes.a]\nmax_sustained_rate = -1", "max_sustained_rate: found -1; allowed: ");
    has("service_classes.a]\nrate = 1", "service_classes.a.rate: unknown key");
    has("service_classes.a]\nreference = 1", "service_classes.a.reference: unknown key");
    has(
        "service_classes.a]\nrequest_policy = 'x'",
        "request_policy: found a string \"x\"; allowed: 4 bytes",
    );
    has(
        "service_classes.a]\ndata_rate_unit = 'Mbps'",
        "data_rate_unit: found \"Mbps\"; allowed: bps, kbps, mbps",
    );
    has(
        "service_classes.abcdefghijklmnop]",
        "found the name \"abcdefghijklmnop\"; allowed: 1 to 15 printable",
    );
    has("low_latency]\nscheduling_weight = 0", "low_latency.scheduling_weight: found 0; allowed: ");
    has(
        "aggregate_profiles.a]\nlow_latency = 1",
        "aggregate_profiles.a.low_latency: found 1; allowed: a table",
    );
}

#[test]
fn without_a_file_nothing_reads_it() {
    let variants = Source::new(&format!("{LINE}{KNOWN}"), "line.toml").load().unwrap();
    let idle = variants[0].notes.iter().find(|note| note.path == "provisioning").unwrap();
    assert_eq!(idle.code, Code::IdleKey);
    assert!(loaded("max_cpe = 1").notes.iter().all(|note| note.path != "provisioning"));
}
