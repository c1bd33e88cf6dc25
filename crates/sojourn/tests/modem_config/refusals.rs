//! What is refused, where, and in which words.

use crate::common::sentences;
use sojourn::access::modem_config::File;

use super::{HOME, decoded};

/// The first problem, whatever its weight.
fn refusal(bytes: &[u8]) -> String {
    match File::open(bytes, "modem.cfg") {
        Ok(file) => file.problems("modem.cfg").first().expect("a problem").to_string(),
        Err(problem) => problem.to_string(),
    }
}

fn toml_refusal(text: &str) -> String {
    File::from_toml(text, "modem.toml", None).expect_err(text).to_string()
}

/// A file with this and the end marker.
fn ended(tlvs: &[&[u8]]) -> Vec<u8> {
    let mut bytes = tlvs.concat();
    bytes.push(255);
    bytes
}

/// A service flow of type 24 or 25 with this reference.
fn flow(number: u8, reference: u8) -> Vec<u8> {
    vec![number, 4, 1, 2, 0, reference]
}

#[test]
fn files_that_end_early() {
    let end = "found the end of the file; allowed: a TLV or the end marker, 255";
    assert_eq!(refusal(&[]), format!("modem.cfg: byte 0: {end}"));
    assert_eq!(refusal(&[3, 1, 1]), format!("modem.cfg: byte 3: {end}"));
    assert_eq!(
        refusal(&[3, 1, 1, 18]),
        "modem.cfg: byte 3, TLV 18: max_cpe: found type 18 without a length; allowed: one byte of \
         length"
    );
    assert_eq!(
        refusal(&[3, 1, 1, 18, 2, 9]),
        "modem.cfg: byte 3, TLV 18: max_cpe: found a length of 2, but 1 bytes remain; allowed: 1 \
         or less; the file was cut off, or a length is wrong"
    );
    // Every part of a real file; its end marker is at 125.
    for length in 0..=125 {
        assert!(refusal(&HOME[..length]).starts_with("modem.cfg: byte "), "{length}");
    }
    assert_eq!(decoded(&HOME[..126]).encode(), HOME[..126]);
}

#[test]
fn an_aggregate_slower_than_its_member() {
    // Flow 4 has 25 Mb/s, and aggregate 1 has 20 of them: in bit/s, and with the unit Mbit/s.
    let flow = [24, 14, 1, 2, 0, 4, 36, 2, 0, 1, 8, 4, 0x01, 0x7d, 0x78, 0x40];
    for aggregate in [
        &[70, 10, 1, 2, 0, 1, 8, 4, 0x01, 0x31, 0x2d, 0x00][..],
        &[70, 13, 1, 2, 0, 1, 8, 4, 0, 0, 0, 20, 41, 1, 2],
    ] {
        assert_eq!(
            refusal(&ended(&[&flow, aggregate])),
            "modem.cfg: byte 10, TLV 24.8: upstream_service_flows.0.max_sustained_rate: found 25000000 bps in \
             service flow 4; allowed: 20000000 or less, the rate of its aggregate 1"
        );
    }
}

#[test]
fn a_weight_of_nothing() {
    let refused = refusal(&ended(&[&[70, 9, 1, 2, 0, 1, 42, 3, 6, 1, 0]]));
    let path = "modem.cfg: byte 8, TLV 70.42.6: \
     upstream_aggregates.0.low_latency.scheduling_weight: found 0";
    assert!(refused.starts_with(path), "{refused}");
}

#[test]
fn values_past_the_end_of_what_holds_them() {
    // 24 has 6 bytes, of which the first TLV takes 4; 24.8 says 4 bytes and the flow has none left,
    // though the file has.
    let bytes = ended(&[&[24, 6, 1, 2, 0, 1, 8, 4], &[0, 0, 0, 1]]);
    assert_eq!(
        refusal(&bytes),
        "modem.cfg: byte 6, TLV 24.8: upstream_service_flows.0.max_sustained_rate: found a length of 4, but \
         0 bytes remain; allowed: 0 or less; the file was cut off, or a length is wrong"
    );
    assert_eq!(
        refusal(&ended(&[&[24, 5, 1, 2, 0, 1, 8]])),
        "modem.cfg: byte 6, TLV 24.8: upstream_service_flows.0.max_sustained_rate: found type 8 without a \
         length; allowed: one byte of length"
    );
    assert_eq!(
        refusal(&ended(&[&[99, 0], &[98, 3, 1]])),
        "modem.cfg: byte 2, TLV 98: unknown.1: found a length of 3, but 2 bytes remain; allowed: \
         2 or less; the file was cut off, or a length is wrong"
    );
}

#[test]
fn values_of_the_wrong_length_or_out_of_range() {
    assert_eq!(
        refusal(&ended(&[&[3, 2, 0, 1]])),
        "modem.cfg: byte 0, TLV 3: network_access: found 2 bytes; allowed: 1 byte"
    );
    assert_eq!(
        refusal(&ended(&[&[18, 1, 4], &[3, 1, 2]])),
        "modem.cfg: byte 3, TLV 3: network_access: found 2; allowed: true, false"
    );
    let flow = |inner: &[u8]| [&[24, inner.len() as u8 + 4, 1, 2, 0, 1], inner].concat();
    assert_eq!(
        refusal(&ended(&[&flow(&[7, 1, 8])])),
        "modem.cfg: byte 6, TLV 24.7: upstream_service_flows.0.traffic_priority: found 8; allowed: a whole \
         number from 0 to 7"
    );
    assert_eq!(
        refusal(&ended(&[&flow(&[15, 1, 0])])),
        "modem.cfg: byte 6, TLV 24.15: upstream_service_flows.0.scheduling: found 0; allowed: undefined, \
         best_effort, non_real_time_polling, real_time_polling, ugs_with_activity_detection, ugs, \
         proactive_grants"
    );
    assert_eq!(
        refusal(&ended(&[&flow(&[35, 4, 2, 2, 1, 0])])),
        "modem.cfg: byte 8, TLV 24.35.2: upstream_service_flows.0.buffer_control.target_bytes: found 2 bytes; \
         allowed: 4 bytes"
    );
    assert_eq!(
        refusal(&ended(&[&[6, 1, 0]])),
        "modem.cfg: byte 0, TLV 6: cm_mic: found 1 byte; allowed: 16 bytes"
    );
}

#[test]
fn more_of_a_type_than_there_may_be() {
    assert_eq!(
        refusal(&ended(&[&[3, 1, 1], &[3, 1, 1]])),
        "modem.cfg: byte 3, TLV 3: network_access: second TLV 3; allowed: one"
    );
    let flows: Vec<_> = (1..=33).map(|reference| flow(25, reference)).collect();
    let most: Vec<&[u8]> = flows.iter().take(32).map(Vec::as_slice).collect();
    assert_eq!(decoded(&ended(&most)).view().downstream_service_flows.len(), 32);
    let more: Vec<&[u8]> = flows.iter().map(Vec::as_slice).collect();
    // 32 flows of 6 bytes come before.
    assert_eq!(
        refusal(&ended(&more)),
        "modem.cfg: byte 192, TLV 25: downstream_service_flows: found 33 TLVs 25 or more; \
         allowed: 32"
    );
}

#[test]
fn references() {
    assert_eq!(
        refusal(&ended(&[&[3, 1, 1], &[24, 3, 6, 1, 7]])),
        "modem.cfg: byte 3, TLV 24: upstream_service_flows.0.reference: missing; allowed: a whole number \
         from 1 to 65535"
    );
    assert_eq!(
        refusal(&ended(&[&flow(24, 1), &flow(24, 2), &flow(25, 2)])),
        "modem.cfg: byte 14, TLV 25.1: downstream_service_flows.0.reference: found 2, which \
         upstream_service_flows.1.reference already uses; allowed: another number"
    );
    let classifier = |number, flow| [number, 7, 1, 1, 1, 3, 2, 0, flow];
    assert_eq!(
        refusal(&ended(&[&classifier(22, 2), &flow(24, 1), &flow(25, 2)])),
        "modem.cfg: byte 5, TLV 22.3: upstream_classifiers.0.flow_reference: found 2; allowed: a reference of \
         upstream_service_flows: 1"
    );
    assert_eq!(
        refusal(&ended(&[&classifier(23, 2), &flow(24, 2)])),
        "modem.cfg: byte 5, TLV 23.3: downstream_classifiers.0.flow_reference: found 2; allowed: a reference \
         of downstream_service_flows: none"
    );
    assert_eq!(
        refusal(&ended(&[&classifier(22, 1), &classifier(22, 1), &flow(24, 1)])),
        "modem.cfg: byte 11, TLV 22.1: upstream_classifiers.1.reference: found 1, which \
         upstream_classifiers.0.reference already uses; allowed: another number"
    );
    // Each direction may count its classifiers anew.
    decoded(&ended(&[&classifier(22, 1), &classifier(23, 2), &flow(24, 1), &flow(25, 2)]));
    assert_eq!(
        refusal(&ended(&[&[24, 8, 1, 2, 0, 1, 36, 2, 0, 7]])),
        "modem.cfg: byte 6, TLV 24.36: upstream_service_flows.0.aggregate_reference: found 7; allowed: a \
         reference of upstream_aggregates: none"
    );
    assert_eq!(
        refusal(&ended(&[&flow(24, 1), &[70, 10, 1, 2, 0, 1, 42, 4, 1, 2, 0, 9]])),
        "modem.cfg: byte 14, TLV 70.42.1: upstream_aggregates.0.low_latency.reference: found 9; allowed: a \
         reference of upstream_service_flows: 1"
    );
}

/// The flow has five bytes before its rates, reference and head; a rate takes six.
#[test]
fn what_must_ascend() {
    let flow = |tlvs: &[&[u8]]| {
        let inner = [&[1, 2, 0, 1], &*tlvs.concat()].concat();
        ended(&[&[24, inner.len() as u8], &inner])
    };
    let (sustained, slower): (&[u8], &[u8]) = (&[8, 4, 0, 0, 20, 0], &[27, 4, 0, 0, 10, 0]);
    assert_eq!(
        refusal(&flow(&[sustained, slower])),
        "modem.cfg: byte 12, TLV 24.27: upstream_service_flows.0.peak_rate: found 2560; allowed: 5120 or \
         more, the value of max_sustained_rate"
    );
    assert_eq!(
        refusal(&flow(&[sustained, &[10, 4, 0, 0, 20, 1]])),
        "modem.cfg: byte 6, TLV 24.8: upstream_service_flows.0.max_sustained_rate: found 5120; allowed: 5121 or \
         more, the value of min_reserved_rate"
    );
    // A peak rate of zero is none.
    decoded(&flow(&[sustained, &[27, 4, 0, 0, 0, 0]]));
    assert_eq!(
        refusal(&flow(&[&[35, 12, 3, 4, 0, 0, 9, 0, 1, 4, 0, 0, 10, 0]])),
        "modem.cfg: byte 8, TLV 24.35.3: upstream_service_flows.0.buffer_control.maximum_bytes: found 2304; \
         allowed: 2560 or more, the value of buffer_control.minimum_bytes"
    );
    let ports: &[u8] = &[23, 13, 1, 1, 1, 9, 8, 9, 2, 31, 65, 10, 2, 31, 64];
    assert_eq!(
        refusal(&ended(&[ports])),
        "modem.cfg: byte 11, TLV 23.9.10: downstream_classifiers.0.ipv4.destination_port_end: found 8000; allowed: \
         8001 or more, the value of ipv4.destination_port_start"
    );
}

#[test]
fn what_is_no_modem_file() {
    assert_eq!(
        refusal(&[254, 1, 1, 64, 0, 2, 1, 2, 254, 1, 255]),
        "modem.cfg: byte 0: found type 254, with which files for PacketCable adapters begin; \
         allowed: files for cable modems"
    );
    assert_eq!(
        refusal(&[3, 1, 1, 255, 0, 7]),
        "modem.cfg: byte 5: found 7 after the end marker; allowed: zeros"
    );
    assert_eq!(
        refusal(&[3, 1, 1, 0, 255]),
        "modem.cfg: byte 3: found padding, 0; allowed: a TLV or the end marker, 255"
    );
}

#[test]
fn toml_that_is_refused() {
    assert_eq!(
        toml_refusal("max_cpee = 4"),
        "modem.toml: max_cpee: unknown key; allowed here: downstream_frequency_hz, \
         upstream_channel, network_access, classes_of_service, software_upgrade_file, snmp_mib_objects, \
         baseline_privacy, max_cpe, tftp_timestamp_s, tftp_modem_address, software_upgrade_server, \
         upstream_classifiers, downstream_classifiers, upstream_service_flows, \
         downstream_service_flows, max_classifiers, privacy_enable, docsis_2_mode, extensions, \
         upstream_drop_classifiers, static_multicast, default_upstream_target_buffer_ms, \
         upstream_aggregates, downstream_aggregates, upstream_aqm_disable, low_latency_disable, \
         upstream_hierarchical_aggregates, downstream_hierarchical_aggregates, unknown, faulty (did \
         you mean max_cpe?)"
    );
    assert_eq!(
        toml_refusal("max_cpe = 4\nmax_cpe = 5"),
        "modem.toml: line 2, column 1: not valid TOML: found \"max_cpe\" (duplicate key)"
    );
    assert_eq!(
        toml_refusal("max_cpe = 256"),
        "modem.toml: max_cpe: found 256; allowed: a whole number from 0 to 255"
    );
    assert_eq!(
        toml_refusal("[[upstream_service_flows]]\nreference = 1\naqm = { disable = 1 }"),
        "modem.toml: upstream_service_flows.0.aqm.disable: found 1; allowed: true, false"
    );
    assert_eq!(
        toml_refusal("upstream_service_flows = 1"),
        "modem.toml: upstream_service_flows: found 1; allowed: a list"
    );
    assert_eq!(
        toml_refusal("upstream_service_flows = [1]"),
        "modem.toml: upstream_service_flows.0: found 1; allowed: a table"
    );
    assert_eq!(
        toml_refusal("[[upstream_service_flows]]\nqos_set = 7"),
        "modem.toml: upstream_service_flows.0.reference: missing; allowed: a whole number from 1 \
         to 65535"
    );
    assert_eq!(
        toml_refusal(
            "[[upstream_service_flows]]\nreference = 1\n[[downstream_service_flows]]\nreference = 1"
        ),
        "modem.toml: downstream_service_flows.0.reference: found 1, which \
         upstream_service_flows.0.reference already uses; allowed: another number"
    );
    assert_eq!(
        toml_refusal("cm_mic = '00'"),
        "modem.toml: cm_mic: found a digest; allowed: unset, since digests are computed when a \
         file is written"
    );
}

#[test]
fn unknown_types_that_are_refused() {
    assert_eq!(
        toml_refusal("unknown = [{ type = 24, hex = '' }]"),
        "modem.toml: unknown.0.type: found 24, the known type upstream_service_flows; allowed: \
         unknown types"
    );
    assert_eq!(
        toml_refusal("unknown = [{ type = 255, hex = '' }]"),
        "modem.toml: unknown.0.type: found 255; allowed: a whole number from 1 to 254"
    );
    assert_eq!(
        toml_refusal("unknown = [{ type = 99, hex = 'f' }]"),
        "modem.toml: unknown.0.hex: found a string \"f\"; allowed: 0 to 255 bytes as hexadecimal \
         digits"
    );
    assert_eq!(
        toml_refusal("unknown = [{ type = 99 }]"),
        "modem.toml: unknown.0: found a table of 1 entry; allowed: a table of type, hex"
    );
}

/// A value has one byte of length.
#[test]
fn more_than_a_length_can_tell() {
    let flow = |bytes: usize| {
        let hex = "00".repeat(bytes);
        format!(
            "upstream_service_flows = [{{ reference = 1, unknown = [{{ type = 99, hex = '{hex}' }}] }}]"
        )
    };
    // The reference takes 4 bytes and the head of the unknown TLV 2: 255 - 6 = 249.
    assert!(File::from_toml(&flow(249), "modem.toml", None).is_ok());
    assert_eq!(
        toml_refusal(&flow(250)),
        "modem.toml: upstream_service_flows.0: found 256 bytes in total; allowed: 255 or fewer"
    );
}

/// Text in any encoding is no modem's file.
#[test]
fn text_is_recognised() {
    let latin: &[u8] = b"Main\n{\n\tNetworkAccess 1;\n\t/* caf\xe9 */\n}\n";
    let utf_16 = |bytes: fn(u16) -> [u8; 2]| {
        "\u{feff}a = 1 # caf\u{e9}\r\n".encode_utf16().flat_map(bytes).collect::<Vec<_>>()
    };
    let (little, big) = (utf_16(u16::to_le_bytes), utf_16(u16::to_be_bytes));
    for text in [latin, "# café\n".as_bytes(), &little, &big] {
        let problem = File::open(text, "modem.cfg").unwrap_err().to_string();
        assert!(problem.starts_with("modem.cfg: found a text file; allowed: "), "{problem}");
    }
    // An end marker alone, an adapter's file, and a type whose value is text are no text.
    for bytes in [&[255, 254][..], &[254, 255, 0, 1], &[9, 3, b'a', b'b', b'c', 255]] {
        assert!(File::open(bytes, "modem.cfg").is_ok(), "{bytes:?}");
    }
}

/// What a modem reads without doubt, or what nothing here depends on, is noted.
#[test]
fn problems_without_effect() {
    let noted = |bytes: &[u8]| {
        let file = decoded(bytes);
        assert_eq!(file.encode(), bytes);
        sentences(file.notes())
    };
    // The service class "au" has no zero byte at its end.
    let named = ended(&[&[24, 8, 1, 2, 0, 1, 4, 2, 97, 117]]);
    assert_eq!(
        noted(&named),
        [
            "byte 6, TLV 24.4: upstream_service_flows.0.service_class: found \"au\" without a zero byte at its \
          end; allowed: 1 to 15 printable ASCII characters, ended by a zero byte in the file"
        ]
    );
    assert_eq!(
        decoded(&named).view().upstream_service_flows[0].service_class.as_deref(),
        Some("au")
    );
    assert_eq!(
        noted(&flow(24, 1)),
        ["byte 6: found the end of the file; allowed: a TLV or the end marker, 255"]
    );
    for (bytes, place) in [
        (ended(&[&[6, 1, 0]]), "byte 0, TLV 6: cm_mic: "),
        (ended(&[&[18, 2, 0, 4]]), "byte 0, TLV 18: max_cpe: "),
        (ended(&[&[18, 1, 4], &[18, 1, 4]]), "byte 3, TLV 18: max_cpe: "),
        (ended(&[&[60, 3, 1, 5, 1]]), "byte 2, TLV 60.1: upstream_drop_classifiers.0.reference: "),
        (ended(&[&[18, 1, 4], &[0, 0], &flow(24, 1)]), "byte 3: found padding"),
        (vec![18, 1, 4, 255, 0, 9], "byte 5: found 9"),
    ] {
        let notes = noted(&bytes);
        assert!(notes[0].starts_with(place), "{notes:?}");
    }
    // A setting that cannot be read is not one.
    assert_eq!(decoded(&ended(&[&[18, 2, 0, 4]])).view().max_cpe, None);
}

/// What a modem would do with these is not clear, and it matters.
#[test]
fn problems_with_effect() {
    for bytes in [
        vec![],
        vec![0, 0],
        vec![3, 1, 1, 18],
        ended(&[&[24, 8, 1, 2, 0, 1, 8, 2, 1, 1]]),
        ended(&[&[24, 8, 1, 2, 0, 1, 8, 4, 1, 1]]),
        ended(&[&flow(24, 1), &flow(24, 1)]),
        [&flow(24, 1), &[6, 16, 1, 2][..]].concat(),
    ] {
        let file = File::open(&bytes, "modem.cfg").unwrap();
        assert_eq!(file.encode(), bytes);
        let problem = File::decode(&bytes, "modem.cfg").unwrap_err();
        assert!(problem.to_string().starts_with("modem.cfg: byte "), "{problem}");
    }
}

#[test]
fn the_tree_has_what_can_be_read_and_each_problem_at_its_place() {
    // 24 says 20 bytes and has 6; its rate says 4 and has none.
    let file = File::open(&[18, 1, 4, 24, 20, 1, 2, 0, 1, 8, 4], "modem.cfg").unwrap();
    let tree = file.to_json();
    let flow = &tree[1];
    assert_eq!(flow["children"][0]["value"], 1);
    assert_eq!(
        (&flow["children"][1]["type"], &flow["children"][1]["value"]),
        (&"24.8".into(), &"".into())
    );
    let problems = [&tree[0], flow, &flow["children"][0], &flow["children"][1], &tree[2]]
        .map(|node| node["problems"].as_array().map_or(0, Vec::len));
    assert_eq!(problems, [0, 1, 0, 1, 1]);
    assert_eq!(tree[2]["name"], "End of Data");
    // A PacketCable adapter's file: type 64 has two bytes of length.
    let adapter = [254, 1, 1, 64, 0, 2, 1, 2, 254, 1, 255];
    let tree = File::open(&adapter, "modem.cfg").unwrap();
    assert_eq!(tree.encode(), adapter);
    assert_eq!(tree.to_json()[1]["value"], "0102");
}
