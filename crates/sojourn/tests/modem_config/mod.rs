//! Configuration files of modems: what is read from real ones, what is refused, and that nothing is
//! lost on the way there and back.

mod drawer;
mod page;
mod refusals;
mod round_trips;

use sojourn::access::modem_config::view::{Aqm, BufferControl, Classifier, Ipv4Match, Scheduling};
use sojourn::access::modem_config::view::{ModemConfig, ServiceFlow, Unknown};
use sojourn::access::modem_config::{File, Secret};
use sojourn::engine::units::BitRate;

const HOME: &[u8] = include_bytes!("../../../../tests/data/modem-configs/home-5x20.cm");
const GIGABIT: &[u8] = include_bytes!("../../../../tests/data/modem-configs/gigabit-voice.cm");
const SECRET: Secret = Secret(b"testkey");

fn decoded(bytes: &[u8]) -> File {
    File::decode(bytes, "modem.cfg").unwrap_or_else(|problem| panic!("{problem}"))
}

/// A flow in all parameter sets with these rates in bit/s.
fn flow(reference: u16, sustained: u32, burst_bytes: u32, peak: u32) -> ServiceFlow {
    ServiceFlow {
        reference,
        qos_set: Some(7),
        max_sustained_rate: Some(sustained),
        max_burst_bytes: Some(burst_bytes),
        peak_rate: Some(peak),
        ..ServiceFlow::default()
    }
}

/// The numbers are those of `tests/data/modem-configs/README.md`.
#[test]
fn the_home_file() {
    // 15 625, 31 250 and 62 500 bytes are 25, 50 and 100 ms at 5 Mbit/s.
    let buffer = BufferControl {
        minimum_bytes: Some(15_625),
        target_bytes: Some(31_250),
        maximum_bytes: Some(62_500),
        ..BufferControl::default()
    };
    let up = ServiceFlow {
        traffic_priority: Some(1),
        scheduling: Some(Scheduling::BestEffort),
        buffer_control: Some(buffer),
        ..flow(1, 5_000_000, 10_000_000, 20_000_000)
    };
    let expected = ModemConfig {
        network_access: Some(true),
        privacy_enable: Some(true),
        max_cpe: Some(4),
        upstream_service_flows: vec![up],
        downstream_service_flows: vec![flow(2, 20_000_000, 10_000_000, 50_000_000)],
        ..ModemConfig::default()
    };
    let view = decoded(HOME).view();
    assert_eq!(view, expected);
    let rates = view.upstream_service_flows[0].rates();
    assert_eq!(rates.max_sustained, Some(BitRate::from_bps(5_000_000)));
    assert_eq!(rates.peak, Some(BitRate::from_bps(20_000_000)));
    assert_eq!(rates.min_reserved, None);
}

#[test]
fn the_gigabit_file() {
    let aqm = |disable, latency_target_ms| {
        Some(Aqm { disable: Some(disable), latency_target_ms, ..Aqm::default() })
    };
    let voice = Classifier {
        reference: 1,
        flow_reference: Some(2),
        priority: Some(5),
        active: Some(true),
        ipv4: Some(Ipv4Match {
            protocol: Some(17),
            destination_port_start: Some(5004),
            destination_port_end: Some(5005),
            ..Ipv4Match::default()
        }),
        ..Classifier::default()
    };
    let up =
        ServiceFlow { aqm: aqm(false, Some(15)), ..flow(1, 200_000_000, 30_000_000, 250_000_000) };
    let calls = ServiceFlow {
        reference: 2,
        qos_set: Some(7),
        traffic_priority: Some(5),
        max_sustained_rate: Some(256_000),
        min_reserved_rate: Some(128_000),
        aqm: aqm(true, None),
        ..ServiceFlow::default()
    };
    let expected = ModemConfig {
        network_access: Some(true),
        max_cpe: Some(16),
        upstream_classifiers: vec![voice],
        upstream_service_flows: vec![up, calls],
        downstream_service_flows: vec![flow(3, 1_000_000_000, 330_000_000, 1_500_000_000)],
        ..ModemConfig::default()
    };
    assert_eq!(decoded(GIGABIT).view(), expected);
}

#[test]
fn the_tree_tells_types_and_offsets() {
    let file = decoded(HOME);
    // 3, 29 and 18 take 3 bytes each; the upstream flow is next.
    let up = &file.tlvs()[3];
    assert_eq!((up.number(), up.offset()), (24, 9));
    let tree = file.to_json();
    let types = |nodes: &serde_json::Value| {
        let nodes = nodes.as_array().unwrap().iter();
        nodes.map(|node| node["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(types(&tree), ["3", "29", "18", "24", "25", "6", "7"]);
    let flow = &tree[3]["children"];
    assert_eq!(types(flow), ["24.1", "24.6", "24.7", "24.8", "24.9", "24.27", "24.15", "24.35"]);
    // The flow's head takes 2 bytes, then come 4, 3 and 3: 9 + 2 + 10 = 21.
    let rate = serde_json::json!({
        "type": "24.8", "offset": 21, "name": "Maximum Sustained Traffic Rate",
        "key": "max_sustained_rate", "value": 5_000_000, "unit": "bit/s",
    });
    assert_eq!(flow[3], rate);
}

#[test]
fn digests_are_those_of_another_encoder() {
    for file in [HOME, GIGABIT].map(decoded) {
        file.verify(SECRET, "modem.cfg").unwrap();
        let problem = file.verify(Secret(b"guess"), "modem.cfg").unwrap_err();
        assert!(problem.path.ends_with(": cmts_mic"), "{problem}");
    }
    let mut changed = HOME.to_vec();
    // Max CPE, at byte 6, 5 instead of 4.
    changed[8] = 5;
    let problem = decoded(&changed).verify(SECRET, "modem.cfg").unwrap_err();
    assert!(problem.to_string().starts_with("modem.cfg: byte 89: cm_mic: found f81f5a86"));
    let bare = File::decode(&[3, 1, 1, 255], "modem.cfg").unwrap();
    let problem = bare.verify(SECRET, "modem.cfg").unwrap_err();
    // MD5 of the bytes 3, 1, 1.
    let digest = "a3ab4e9009b0f65a3ff916999853a257";
    assert_eq!(
        problem.to_string(),
        format!("modem.cfg: cm_mic: missing; allowed: {digest}, the digest of the TLVs")
    );
}

#[test]
fn rates_are_shown_in_their_unit() {
    // A downstream flow of 5 Gbit/s: 25.1 = 1, 25.8 = 5, 25.41 = 3.
    let bytes = [25, 13, 1, 2, 0, 1, 8, 4, 0, 0, 0, 5, 41, 1, 3, 255];
    let file = decoded(&bytes);
    assert_eq!(file.to_json()[0]["children"][1]["unit"], "Gbit/s");
    let rates = file.view().downstream_service_flows[0].rates();
    assert_eq!(rates.max_sustained, Some(BitRate::from_bps(5_000_000_000)));
}

/// Of a cable modem's file that was quoted in public: both flows, types in an odd order.
#[test]
fn types_may_come_in_any_order() {
    let bytes = [
        0x03, 1, 1, 0x12, 1, 2, 0x19, 0x16, 8, 4, 0x06, 0x68, 0x51, 0xe0, 6, 1, 7, 7, 1, 4, 1, 2,
        0, 0x65, 9, 4, 0, 0, 0x17, 0xc8, 0x18, 0x1d, 8, 4, 0x02, 0x03, 0xa0, 0, 9, 4, 0, 0, 0x1f,
        0x40, 14, 2, 0x1f, 0x40, 1, 2, 0, 1, 15, 1, 2, 7, 1, 4, 6, 1, 7, 39, 1, 1, 255,
    ];
    let file = decoded(&bytes);
    assert_eq!(file.encode(), bytes);
    let view = file.view();
    // 0x066851e0 = 6 * 16777216 + 104 * 65536 + 81 * 256 + 224.
    assert_eq!(view.downstream_service_flows[0].max_sustained_rate, Some(107_500_000));
    assert_eq!(view.downstream_service_flows[0].reference, 101);
    assert_eq!(view.upstream_service_flows[0].max_concatenated_burst_bytes, Some(8000));
    assert_eq!(view.docsis_2_mode, Some(true));
}

#[test]
fn unknown_types_are_kept() {
    let bytes = [200, 2, 1, 2, 24, 7, 99, 1, 5, 1, 2, 0, 1, 200, 0, 255];
    let file = decoded(&bytes);
    assert_eq!(file.encode(), bytes);
    let view = file.view();
    let unknown = |r#type, hex: &str| Unknown { r#type, hex: hex.to_owned() };
    assert_eq!(view.unknown, [unknown(200, "0102"), unknown(200, "")]);
    assert_eq!(view.upstream_service_flows[0].unknown, [unknown(99, "05")]);
    let shown = serde_json::json!({"type": "24.99", "offset": 6, "value": "05"});
    assert_eq!(file.to_json()[1]["children"][0], shown);
}
