//! Modems with configuration files: what is simulated of a file, what is listed, and the way back.

use crate::common::{flow, scenario as unchecked, sentences, service_flow};
use serde_json::json;
use sojourn::Simulation;
use sojourn::access::Protocol;
use sojourn::access::modem_config::view::{
    Aqm, AqmAlgorithm, BufferControl, Classifier, DropClassifier, Ipv4Match, Scheduling,
    ServiceFlow, TosOverwrite, TosRange, Unknown,
};
use sojourn::access::modem_config::{File, ModemConfig};
use sojourn::engine::aqm::AqmSpec;
use sojourn::input::problem::Problems;
use sojourn::scenario::provision::{Provision, modem_config};
use sojourn::scenario::{Scenario, Source, Variant, idle_keys};
use std::collections::BTreeSet;

const HOME: &[u8] = include_bytes!("../../../tests/data/modem-configs/home-5x20.cm");
const GIGABIT: &[u8] = include_bytes!("../../../tests/data/modem-configs/gigabit-voice.cm");

/// A scenario with another service than those of the files.
const BASE: &str = "
    duration_s = 5
    upstream = { sustained_mbps = 1, peak_mbps = 2, burst_bytes = 20_000, queue.limit_packets = 50 }
    downstream = { sustained_mbps = 3, peak_mbps = 4, burst_bytes = 20_000, queue.law.kind = 'codel' }
    servers.near = { delay_ms = 5 }
    traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near' }
    traffic.save = { kind = 'transfer', server = 'near' }
    ";

fn view(bytes: &[u8]) -> ModemConfig {
    File::decode(bytes, "modem.cfg").unwrap().view()
}

fn load(text: &str, sets: &[&str], config: &ModemConfig) -> Result<Vec<Variant>, Problems> {
    let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
    let modem = Provision { config, problems: &[], source: "modem.cfg" };
    Source::new(text, "home.toml").sets(&sets).overlay(Some(&modem)).load()
}

fn only(config: &ModemConfig) -> Variant {
    load(BASE, &[], config).unwrap_or_else(|problem| panic!("{problem}")).remove(0)
}

fn law(kind: serde_json::Value) -> AqmSpec {
    serde_json::from_value(kind).unwrap()
}

#[test]
fn a_home_has_the_service_of_its_file() {
    let Variant { scenario, notes, .. } = only(&view(HOME));
    let Scenario { upstream, downstream, .. } = &scenario;
    assert_eq!((upstream.sustained_mbps, upstream.peak_mbps), (5.0, Some(20.0)));
    assert_eq!(upstream.burst_bytes, Some(10_000_000));
    assert_eq!(upstream.buffer.minimum_bytes, Some(15_625));
    assert_eq!(upstream.buffer.target_bytes, Some(31_250));
    assert_eq!(upstream.buffer.maximum_bytes, Some(62_500));
    // White 2014 §9: AQM is on where the file does not say; and the scenario's own limit is gone.
    assert_eq!(upstream.queue.law, law(json!({ "kind": "docsis_pie" })));
    assert_eq!(upstream.queue.limit_packets, None);
    assert_eq!((downstream.sustained_mbps, downstream.peak_mbps), (20.0, Some(50.0)));
    // The CMTS's own queue manager is the scenario's.
    assert_eq!(downstream.queue.law, law(json!({ "kind": "codel" })));
    assert_eq!((upstream.priority, notes), (1, vec![]));
    // Of 5 s at 5 Mbps after a burst of 10 MB at up to 20 Mbps, which 12.5 MB last for, TCP has more
    // than the 1 Mbps of the scenario.
    let results = Simulation::run(&scenario);
    assert!(flow(&results, "save", "up").throughput_mbps > 5.0);
}

/// Groups of homes keep what the file does not set, and `--set` overrides both.
/// Who set a key that has no effect may leave it out; a file of a modem, nobody.
#[test]
fn a_key_of_the_file_that_has_no_effect_is_said_to_be_the_files() {
    let said = |sets: &[&str]| {
        let scenario = load(BASE, sets, &view(HOME)).unwrap().remove(0).scenario;
        let idle = idle_keys(&scenario).into_iter().map(|one| one.sentence());
        idle.filter(|said| said.contains("upstream.priority")).collect::<Vec<_>>()
    };
    let [of_file, own] = [&[][..], &["upstream.priority=3"]].map(said);
    assert!(of_file[0].ends_with(": modem.cfg sets it"), "{of_file:?}");
    assert!(!own[0].contains("modem.cfg"), "{own:?}");
}

#[test]
fn all_groups_of_homes_have_the_service_of_the_file() {
    let groups = "
        [homes.ours]
        [homes.fast.upstream]
        sustained_mbps = 50
        peak_mbps = 60
        queue = { limit_bytes = 99_000, law = { kind = 'none' } }
        [homes.fast.downstream]
        sustained_mbps = 8
        peak_mbps = 8
        weight = 2
        [cmts]
        [homes.other]
        upstream.sustained_mbps = 7
    ";
    let text = format!("{BASE}\n{groups}");
    let loaded = |sets: &[&str]| {
        let variants = load(&text, sets, &view(HOME)).unwrap_or_else(|problem| panic!("{problem}"));
        variants.into_iter().next().unwrap().scenario
    };
    let scenario = loaded(&[]);
    for index in 0..3 {
        let group = scenario.group(index);
        assert_eq!((group.upstream.sustained_mbps, group.upstream.peak_mbps), (5.0, Some(20.0)));
        assert_eq!(
            (group.downstream.sustained_mbps, group.downstream.peak_mbps),
            (20.0, Some(50.0))
        );
        assert_eq!(group.upstream.queue.law, law(json!({ "kind": "docsis_pie" })));
        assert_eq!(group.upstream.buffer.target_bytes, Some(31_250));
    }
    assert_eq!(scenario.group(1).downstream.weight, 2.0);
    let sets = ["upstream.queue.law.kind=pie", "homes.other.upstream.sustained_mbps=6"];
    let scenario = loaded(&sets);
    for index in 0..3 {
        assert_eq!(scenario.group(index).upstream.queue.law, law(json!({ "kind": "pie" })));
    }
    assert_eq!(scenario.group(2).upstream.sustained_mbps, 6.0);
    assert_eq!(scenario.group(1).upstream.sustained_mbps, 5.0);
}

#[test]
fn calls_take_the_flow_of_their_ports() {
    let Variant { scenario, notes, .. } = only(&view(GIGABIT));
    let Scenario { upstream, downstream, .. } = &scenario;
    assert_eq!((upstream.sustained_mbps, upstream.peak_mbps), (200.0, Some(250.0)));
    assert_eq!(upstream.queue.law, law(json!({ "kind": "docsis_pie", "target_ms": 15 })));
    let (name, calls) = upstream.flows.get_index(0).unwrap();
    assert_eq!((&**name, calls.sustained_mbps, calls.minimum_mbps), ("flow_2", 0.256, 0.128));
    // No peak rate and no burst in the file.
    assert_eq!((calls.priority, calls.peak_mbps, calls.burst_bytes), (5, Some(2.0), Some(3044)));
    assert_eq!(calls.queue.law, law(json!({ "kind": "none" })));
    let classifier = &calls.classifiers[0];
    assert_eq!((classifier.priority, classifier.protocol), (5, Some(Protocol::Udp)));
    assert_eq!(classifier.destination_ports, Some(vec![5004, 5005]));
    assert_eq!((downstream.sustained_mbps, downstream.peak_mbps), (1000.0, Some(1500.0)));
    assert_eq!(
        sentences(notes),
        ["modem.cfg: upstream_service_flows.1: the file sets no peak rate; using the \
             scenario's 2 Mbps"]
    );
    let results = Simulation::run(&scenario);
    let row = service_flow(&results, "home", "flow_2", "up");
    // The last packet may be on its way from the modem.
    let delivered = flow(&results, "call", "up").delivered_packets;
    assert!(delivered > 200 && (0..=1).contains(&(row.forwarded_packets - delivered)));
}

#[test]
fn defaults_and_switches_of_white_2014_section_9() {
    let primary = ServiceFlow {
        reference: 1,
        max_sustained_rate: Some(8_000_000),
        peak_rate: Some(9_000_000),
        ..ServiceFlow::default()
    };
    let config = |aqm: Option<Aqm>| ModemConfig {
        upstream_service_flows: vec![ServiceFlow { aqm, ..primary.clone() }],
        ..ModemConfig::default()
    };
    let set =
        |disable, latency_target_ms| Some(Aqm { disable, latency_target_ms, ..Aqm::default() });
    for (aqm, wanted) in [
        (None, json!({ "kind": "docsis_pie" })),
        (set(Some(false), Some(25)), json!({ "kind": "docsis_pie", "target_ms": 25 })),
        (set(None, Some(25)), json!({ "kind": "docsis_pie", "target_ms": 25 })),
        (set(Some(true), Some(25)), json!({ "kind": "none" })),
    ] {
        let scenario = only(&config(aqm)).scenario;
        assert_eq!(scenario.upstream.queue.law, law(wanted));
        // 250 ms at 8 Mbps is the queue's own default.
        assert_eq!(scenario.upstream.queue.limit_bytes, None);
    }
    let off = ModemConfig {
        upstream_aqm_disable: Some(true),
        // 8 Mbps for 50 ms: 50 000 B.
        default_upstream_target_buffer_ms: Some(50),
        ..config(None)
    };
    let scenario = only(&off).scenario;
    assert!(!scenario.upstream.aqm);
    assert_eq!(scenario.upstream.buffer.target_bytes, Some(50_000));
}

#[test]
fn what_cannot_be_simulated_is_listed() {
    let ugs = ServiceFlow {
        reference: 2,
        qos_set: Some(1),
        scheduling: Some(Scheduling::Ugs),
        grant_bytes: Some(200),
        max_sustained_rate: Some(1_000_000),
        peak_rate: Some(1_000_000),
        tos_overwrite: Some(TosOverwrite { and_mask: 255, or_mask: 0 }),
        aqm: Some(Aqm { algorithm: Some(AqmAlgorithm::Immediate), ..Aqm::default() }),
        buffer_control: Some(BufferControl {
            unknown: vec![Unknown { r#type: 9, hex: "00".to_owned() }],
            ..BufferControl::default()
        }),
        ..ServiceFlow::default()
    };
    let primary = ServiceFlow { reference: 1, ..ServiceFlow::default() };
    let classifier = |reference, flow, ipv4| Classifier {
        reference,
        flow_reference: Some(flow),
        ipv4: Some(ipv4),
        ..Classifier::default()
    };
    let address = Ipv4Match { source: Some([10, 0, 0, 1].into()), ..Ipv4Match::default() };
    let protocol = Ipv4Match { protocol: Some(47), ..Ipv4Match::default() };
    let tos = |mask| Ipv4Match {
        tos: Some(TosRange { low: 184, high: 184, mask }),
        ..Ipv4Match::default()
    };
    let config = ModemConfig {
        network_access: Some(false),
        max_cpe: Some(4),
        upstream_drop_classifiers: vec![DropClassifier::default()],
        upstream_service_flows: vec![primary, ugs],
        upstream_classifiers: vec![
            classifier(1, 2, address),
            classifier(2, 2, protocol),
            classifier(3, 2, tos(255)),
            // 184 = 46 * 4.
            classifier(4, 2, tos(252)),
            classifier(5, 1, tos(252)),
        ],
        ..ModemConfig::default()
    };
    let Variant { scenario, notes, .. } = only(&config);
    let found = &scenario.upstream.flows["flow_2"].classifiers;
    assert_eq!(found.len(), 3);
    assert_eq!(found[0].source.map(String::from), Some("10.0.0.1".to_owned()));
    assert_eq!(found[1].tos, Some(vec![184, 184, 255]));
    assert_eq!(found[2].dscp, Some(vec![46, 46, 63]));
    let wanted = [
        "network_access: false is not simulated; the home has network access",
        "upstream_drop_classifiers: is not simulated",
        "upstream_service_flows.0: the file sets no maximum sustained rate: unlimited, simulated as \
         100 Mbps, the rate of the channel",
        "upstream_service_flows.1.qos_set: has no active set; the flow is simulated as active",
        "upstream_service_flows.1.scheduling: ugs without grant_bytes or grant_interval_us; using \
         best_effort",
        "upstream_service_flows.1.grant_bytes: is not simulated",
        "upstream_service_flows.1.tos_overwrite: is not simulated",
        "upstream_service_flows.1.aqm.algorithm: immediate is not simulated; using docsis_pie",
        "upstream_service_flows.1.buffer_control.unknown: type 9 is not simulated",
        "upstream_classifiers.1: ignored: it matches a protocol other than TCP and UDP",
        "upstream_classifiers: those of the primary flow are ignored: it takes all packets that \
         match no other flow",
        "downstream_service_flows: none in the file; using the scenario's",
    ];
    assert_eq!(sentences(notes), wanted.map(|line| format!("modem.cfg: {line}")));
}

/// 24.15 is 6, UGS, with the policy that PacketCable uses, 0x17f: no requests, and rules on
/// concatenation, fragmentation and packets that do not fit (bits 5, 6 and 8). 200 B every 10 ms are
/// 0.16 Mbps, more than the file's own rate.
#[test]
fn a_file_sets_unsolicited_grants_and_polls() {
    let ugs = ServiceFlow {
        reference: 2,
        scheduling: Some(Scheduling::Ugs),
        grant_bytes: Some(200),
        grant_interval_us: Some(10_000),
        grant_jitter_us: Some(800),
        request_policy: Some("0000017f".to_owned()),
        max_sustained_rate: Some(100_000),
        peak_rate: Some(100_000),
        traffic_priority: Some(5),
        ..ServiceFlow::default()
    };
    let polled = ServiceFlow {
        reference: 3,
        scheduling: Some(Scheduling::NonRealTimePolling),
        polling_interval_us: Some(500_000),
        request_policy: Some("00000010".to_owned()),
        max_sustained_rate: Some(1_000_000),
        peak_rate: Some(1_000_000),
        ..ServiceFlow::default()
    };
    let primary = ServiceFlow {
        max_sustained_rate: Some(8_000_000),
        peak_rate: Some(9_000_000),
        ..ServiceFlow { reference: 1, ..ServiceFlow::default() }
    };
    let config = ModemConfig {
        upstream_service_flows: vec![primary, ugs, polled],
        ..ModemConfig::default()
    };
    let Variant { scenario, notes, .. } = only(&config);
    let flows = &scenario.upstream.flows;
    let (ugs, polled) = (&flows["flow_2"], &flows["flow_3"]);
    assert_eq!((ugs.sustained_mbps, ugs.priority), (0.16, 0));
    assert_eq!(
        json!(ugs.scheduling),
        json!({ "kind": "ugs", "unsolicited_grant_bytes": 200, "grants_per_interval": 1,
                "nominal_grant_interval_us": 10_000, "tolerated_grant_jitter_us": 800 })
    );
    assert_eq!(
        json!(polled.scheduling),
        json!({ "kind": "non_real_time_polling", "nominal_polling_interval_us": 500_000,
                "tolerated_poll_jitter_us": 0, "piggyback": false })
    );
    let wanted = [
        "upstream_service_flows.1.request_policy: bits 5, 6 and 8 are ignored",
        "upstream_service_flows.1: the maximum sustained rate of 0.1 Mbps is below the unsolicited \
         grants; using their 0.16 Mbps",
        "upstream_service_flows.1: priority has no effect with unsolicited grants",
        "downstream_service_flows: none in the file; using the scenario's",
    ];
    assert_eq!(sentences(notes), wanted.map(|line| format!("modem.cfg: {line}")));
}

/// The file wins over the scenario and its variants, `--set` over the file.
#[test]
fn sets_win_over_the_file_and_that_over_variants() {
    let text = format!("{BASE}[compare]\na.upstream.peak_mbps = 9\nb.duration_s = 6\n");
    let variants = load(&text, &["upstream.sustained_mbps=4"], &view(HOME)).unwrap();
    for (variant, duration_s) in variants.iter().zip([5.0, 6.0]) {
        let Scenario { upstream, .. } = &variant.scenario;
        assert_eq!((upstream.sustained_mbps, upstream.peak_mbps), (4.0, Some(20.0)));
        assert_eq!(variant.scenario.duration_s, duration_s);
    }
}

#[test]
fn a_fault_of_the_file_names_it() {
    let slow = ServiceFlow {
        reference: 1,
        max_sustained_rate: Some(2_000_000),
        peak_rate: Some(1_000_000),
        ..ServiceFlow::default()
    };
    let config = ModemConfig { upstream_service_flows: vec![slow], ..ModemConfig::default() };
    let problems = load(BASE, &[], &config).unwrap_err();
    assert_eq!(problems.first().line, None, "no line of the scenario has it");
    assert_eq!(
        problems.to_string(),
        "home.toml with modem.cfg: upstream.peak_mbps: found 1; allowed: 2 or more, the value of \
         sustained_mbps"
    );
}

/// The file of this view gives `base` the service of the scenario.
#[track_caller]
fn assert_reads_back(config: &ModemConfig, base: &str, scenario: &Scenario) {
    let bytes = File::from_view(config, None).unwrap().encode();
    let variant = load(base, &[], &view(&bytes)).unwrap().remove(0);
    assert_eq!(variant.notes, []);
    assert_eq!(variant.scenario.upstream, scenario.upstream);
    assert_eq!(variant.scenario.downstream, scenario.downstream);
}

/// What is written of a scenario gives that scenario's service when it is read.
#[test]
fn a_scenario_written_and_read_is_the_same() {
    let text = "
        duration_s = 5
        upstream.sustained_mbps = 5
        upstream.peak_mbps = 20
        upstream.burst_bytes = 100_000
        upstream.buffer.target_bytes = 40_000
        upstream.queue.law.kind = 'docsis_pie'
        upstream.minimum_mbps = 1
        upstream.priority = 2
        upstream.flows.flow_2 = { sustained_mbps = 0.5, peak_mbps = 0.6, burst_bytes = 3000, priority = 3,
                                  minimum_mbps = 0.1,
                                  match = [{ priority = 9, protocol = 'udp', dscp = [46, 46, 63] },
                                           { destination = '203.0.113.0/24', destination_ports = [53, 53] }] }
        upstream.flows.flow_3 = { sustained_mbps = 1, peak_mbps = 1, burst_bytes = 3044, match = [{ protocol = 'udp' }],
            scheduling = { kind = 'ugs_with_activity_detection', unsolicited_grant_bytes = 228,
                           nominal_grant_interval_us = 20_000, tolerated_grant_jitter_us = 800,
                           grants_per_interval = 2, nominal_polling_interval_us = 10_000 } }
        upstream.flows.flow_4 = { sustained_mbps = 1, peak_mbps = 1, burst_bytes = 3044, match = [{ dscp = [10, 10, 63] }],
            scheduling = { kind = 'real_time_polling', nominal_polling_interval_us = 5000, piggyback = false } }
        upstream.flows.flow_5 = { sustained_mbps = 1, peak_mbps = 1, burst_bytes = 3044,
            match = [{ ip = 6, protocol = 'tcp', destination = '2001:db8::/32', destination_ports = [443, 443],
                       dscp = [46, 46, 63] }, { ip = 6 }] }
        downstream = { sustained_mbps = 6000, peak_mbps = 8000, burst_bytes = 9_000_000 }
        servers.near = { delay_ms = 5 }
        traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near' }";
    let scenario = unchecked(text);
    let (config, notes) = modem_config(&scenario, &scenario.group(0));
    assert_eq!(
        notes,
        ["sustained", "peak"].map(|rate| format!(
            "downstream.{rate}_mbps: written in kbit/s, as bit/s have no room in 32 bits; modems and a CMTS \
             that do not know the data rate unit (TLV 41) read bit/s"
        ))
    );
    // The CMTS's AQM algorithm is the scenario's, unless the file disables AQM, as here.
    assert_reads_back(&config, BASE, &scenario);
}

#[test]
fn what_a_file_has_no_words_for_is_listed() {
    let text = "
        duration_s = 5
        upstream.sustained_mbps = 5
        upstream.peak_mbps = 20
        upstream.burst_bytes = 100_000
        upstream.queue = { limit_packets = 40, scheduler.kind = 'sfq', law.kind = 'codel' }
        upstream.flows.own = { sustained_mbps = 1, peak_mbps = 2, burst_bytes = 3000,
                               queue.law = { kind = 'docsis_pie', target_ms = 7.6 },
                               match = [{ server = 'near' }] }
        downstream = { sustained_mbps = 6, peak_mbps = 8, burst_bytes = 9_000_000 }
        servers.near = { delay_ms = 5 }
        traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near' }";
    let scenario = unchecked(text);
    let (config, notes) = modem_config(&scenario, &scenario.group(0));
    assert_eq!(
        notes,
        [
            "upstream.flows.own.match.0: not written: a file cannot match servers or traffic entries",
            "upstream.queue.limit_packets: not written: a file limits buffers in bytes only",
            "upstream.queue.scheduler: not written: a file sets no scheduler",
            "upstream.queue.law: not written: a file can only set docsis_pie",
            "upstream.flows.own.queue.law.target_ms: rounded to 8: a file has whole ms",
        ]
    );
    assert!(File::from_view(&config, None).is_ok());
}

/// A file configures modems. All else that homes may have is named, by the keys that the schema gives them.
#[test]
fn what_is_beside_the_modem_is_named() {
    let text = format!(
        "{BASE}
         [router]
         upstream = {{ rate_mbps = 0.9, queue.scheduler.kind = 'cake' }}
         controller.kind = 'autorate'
         [homes.plain]
         [homes.all]
         count = 2
         upstream.priority = 3
         downstream.priority = 3
         router.upstream.rate_mbps = 0.8
         distance_km = 7
         activity.time_constant_s = 5"
    );
    let variants = Source::new(&text, "home.toml").load();
    let scenario = variants.unwrap_or_else(|problem| panic!("{problem}")).remove(0).scenario;
    let beside = |group| {
        let (_, notes) = modem_config(&scenario, &scenario.group(group));
        let beside = notes.into_iter().filter(|note| note.contains("nothing else of their homes"));
        let path = |note: String| note.split(':').next().unwrap().to_owned();
        beside.map(path).collect::<BTreeSet<_>>()
    };
    assert_eq!(beside(0), BTreeSet::from(["router".to_owned()]));
    let schema = serde_json::to_value(sojourn::scenario::json_schema()).unwrap();
    let keys = schema["$defs"]["Homes"]["properties"].as_object().unwrap().keys();
    let keys = keys.filter(|key| !["count", "upstream", "downstream"].contains(&key.as_str()));
    assert_eq!(beside(1), keys.map(|key| format!("homes.all.{key}")).collect());
}

const AGGREGATES: &str = "
    duration_s = 5
    upstream.sustained_mbps = 20
    upstream.peak_mbps = 25
    upstream.burst_bytes = 100_000
    downstream.sustained_mbps = 100
    downstream.peak_mbps = 120
    downstream.burst_bytes = 1_000_000
    servers.near = { delay_ms = 5 }
    traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near', ecn = 'ect1' }
    ";

#[test]
fn an_aggregate_written_and_read_is_the_same() {
    let text = format!(
        "{AGGREGATES}
         [upstream.scheduling]
         kind = 'proactive_grants'
         guaranteed_grant_rate_mbps = 2.5
         guaranteed_grant_interval_us = 1000
         activity_detection = true
         [upstream.queue.scheduler]
         kind = 'low_latency'
         dscp = [45, 46, 40]
         weight = 200
         low_latency_mbps = 5
         classic_mbps = 18.5
         coupling = 1.5
         critical_delay_us = 2000
         critical_score_us = 3000
         aging_exponent = 18
         classic_target_ms = 15
         low_latency_max_us = 800
         low_latency_range_exponent = 17
         classic_buffer_bytes = 60_000
         latency_histogram_ms = [0.5, 1, 2.55, 655.35]
         [downstream.queue.scheduler]
         kind = 'low_latency'
         queue_protection = false
         low_latency_aqm = false"
    );
    let scenario = unchecked(&text);
    let (config, notes) = modem_config(&scenario, &scenario.group(0));
    assert_eq!(notes, [""; 0]);
    assert_eq!(config.upstream_aggregates.len(), 1);
    assert_eq!(config.upstream_aggregates[0].max_sustained_rate, Some(20_000_000));
    let low = &config.upstream_service_flows[1];
    assert_eq!(low.scheduling, Some(Scheduling::ProactiveGrants));
    assert_eq!(low.guaranteed_grant_rate, Some(2500));
    // 50, 100, 255 and 65 535 hundredths of a ms.
    let histogram = low.aqm.as_ref().and_then(|aqm| aqm.latency_histogram.as_deref());
    assert_eq!(histogram, Some([50, 100, 255, 65_535].as_slice()));
    assert_eq!(low.aqm.as_ref().unwrap().algorithm, Some(AqmAlgorithm::Immediate));
    assert_reads_back(&config, AGGREGATES, &scenario);
}

#[test]
fn what_an_aggregate_of_a_file_lacks_is_listed() {
    let text = format!("{AGGREGATES}\nupstream.queue.scheduler.kind = 'low_latency'");
    let scenario = unchecked(&text);
    let (mut config, _) = modem_config(&scenario, &scenario.group(0));
    config.upstream_service_flows[1].max_sustained_rate = Some(5_000_000);
    config.upstream_service_flows[1].aggregate_reference = None;
    config.low_latency_disable = Some(1);
    let notes = sentences(only(&config).notes);
    assert_eq!(
        notes,
        ["modem.cfg: upstream_aggregates.0: simulated as its classic flow, since \
          low_latency_disable is set"]
    );
    config.low_latency_disable = None;
    config.upstream_service_flows.pop();
    let notes = sentences(only(&config).notes);
    assert_eq!(
        notes[0],
        "modem.cfg: upstream_aggregates.0: not simulated: its low-latency flow is not there"
    );
}

/// 4.2 is 10 Mbps, 4.3 is 0.5 Mbps (0x07a120), 4.4 is 3, 4.5 is 64 kbps (0xfa00), 4.6 is 1522 B.
const CLASS: [u8; 27] = [
    4, 24, 1, 1, 1, 2, 4, 0, 0x98, 0x96, 0x80, 3, 4, 0, 0x07, 0xa1, 0x20, 4, 1, 3, 5, 4, 0, 0,
    0xfa, 0, 255,
];

#[test]
fn a_class_of_service_of_docsis_1_sets_the_rates() {
    let config = view(&CLASS);
    let Variant { scenario, notes, .. } = only(&config);
    let Scenario { upstream, downstream, .. } = &scenario;
    assert_eq!((upstream.sustained_mbps, upstream.peak_mbps), (0.5, Some(0.5)));
    assert_eq!((upstream.priority, upstream.minimum_mbps), (3, 0.064));
    assert_eq!((downstream.sustained_mbps, downstream.peak_mbps), (10.0, Some(10.0)));
    assert_eq!(notes, []);
    let mut further = config;
    further.classes_of_service.push(further.classes_of_service[0].clone());
    further.classes_of_service[0].max_upstream_burst_bytes = Some(1522);
    let notes = sentences(only(&further).notes);
    assert_eq!(
        notes,
        [
            "modem.cfg: classes_of_service.0.max_upstream_burst_bytes: is not simulated",
            "modem.cfg: classes_of_service.1: is not simulated; the first class holds all traffic",
        ]
    );
    let both = [&CLASS[..26], &[25, 4, 1, 2, 0, 1, 255]].concat();
    assert_eq!(
        File::decode(&both, "modem.cfg").unwrap_err().to_string(),
        "modem.cfg: byte 0, TLV 4: classes_of_service.0: found beside TLV 25, a service flow; allowed: \
         classes of service or service flows, not both"
    );
}

/// A transfer with ECT(0) and a flow for that field alone: its data take it, others do not.
#[test]
fn the_ecn_field_chooses_the_service_flow() {
    let run = |range: &str| {
        let text = format!(
            "duration_s = 2
             downstream = {{ sustained_mbps = 20, peak_mbps = 20 }}
             upstream.sustained_mbps = 5
             upstream.peak_mbps = 5
             upstream.flows.other = {{ sustained_mbps = 2, peak_mbps = 2, match = [{{ tos = {range} }}] }}
             servers.near = {{ delay_ms = 5 }}
             traffic.save = {{ kind = 'transfer', server = 'near', direction = 'up', dscp = 46,
                               tcp.ecn = 'classic' }}"
        );
        let results = Simulation::run(&unchecked(&text));
        let of = |name: &str| service_flow(&results, "home", name, "up").forwarded_packets;
        (of("primary"), of("other"))
    };
    // 46 * 4 + 2 = 186. The first packet and the acknowledgement that ends the handshake are not ECT.
    for range in ["[186, 186, 255]", "[2, 2, 3]"] {
        let (primary, other) = run(range);
        assert!((1..=2).contains(&primary) && other > 100, "{primary} {other}");
    }
    let (primary, other) = run("[184, 184, 255]");
    assert!(primary > 100 && (1..=2).contains(&other), "{primary} {other}");
}
