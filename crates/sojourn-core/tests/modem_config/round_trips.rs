//! There and back: bytes, tree, typed view, TOML.

use crate::at_random::at_random;
use proptest::prelude::*;
use sojourn_core::modem_config::table::{FILE, Kind, Table};
use sojourn_core::modem_config::{File, ModemConfig, Tlv};

use super::drawer::Drawer;
use super::{GIGABIT, HOME, SECRET, decoded};

#[test]
fn real_files_come_back_byte_for_byte() {
    for bytes in [HOME, GIGABIT] {
        let file = decoded(bytes);
        assert_eq!(file.encode(), bytes);
        // By way of the view and of TOML too: their types come in the order that both have.
        let by_view = File::from_view(&file.view(), Some(SECRET)).unwrap();
        assert_eq!(by_view.encode(), bytes);
        let by_toml = File::from_toml(&file.to_toml(), "modem.toml", Some(SECRET)).unwrap();
        assert_eq!(by_toml.encode(), bytes);
    }
}

#[test]
fn without_a_secret_there_is_no_cmts_mic() {
    let file = File::from_view(&decoded(HOME).view(), None).unwrap();
    let bytes = file.encode();
    // The TLVs up to the CM MIC take 107 bytes, which the end marker makes 108, a multiple of 4.
    assert_eq!(bytes.len(), 108);
    let numbers: Vec<_> = file.tlvs().iter().map(Tlv::number).collect();
    assert_eq!(numbers, [3, 29, 18, 24, 25, 6]);
    // The CM MIC is the same: it does not cover the CMTS MIC.
    assert_eq!(bytes[..107], HOME[..107]);
}

fn drawn(seed: u64) -> ModemConfig {
    let settings = Drawer::new(seed).settings();
    serde_json::from_value(settings.clone()).unwrap_or_else(|error| panic!("{error}: {settings}"))
}

at_random! {
    300;

    #[test]
    fn every_view_survives_the_bytes(seed in any::<u64>()) {
        let view = drawn(seed);
        match File::from_view(&view, Some(SECRET)) {
            Ok(file) => {
                let bytes = file.encode();
                prop_assert!(bytes.len().is_multiple_of(4));
                let read = File::decode(&bytes, "").map_err(|p| TestCaseError::fail(p.to_string()))?;
                prop_assert_eq!(&read, &file);
                prop_assert_eq!(read.view(), view);
                prop_assert!(read.verify(SECRET, "").is_ok());
            }
            // The one thing that the drawer does not see to.
            Err(problem) => {
                prop_assert!(problem.message.ends_with("in total; allowed: 255 or fewer"), "{}", problem);
            }
        }
    }

    #[test]
    fn every_view_survives_toml(seed in any::<u64>()) {
        let view = drawn(seed);
        let Ok(file) = File::from_view(&view, None) else { return Ok(()) };
        let read = File::from_toml(&file.to_toml(), "", None)
            .map_err(|problem| TestCaseError::fail(problem.to_string()))?;
        prop_assert_eq!(read.view(), view);
    }
}

fn seen(tlvs: &[Tlv], keys: &mut Vec<String>, outer: &str) {
    for tlv in tlvs {
        let Some(row) = tlv.row() else { continue };
        let path = format!("{outer}/{}", row.key);
        if let sojourn_core::modem_config::Content::Nested(inner) = tlv.content() {
            seen(inner, keys, &path);
        }
        keys.push(path);
    }
}

fn all(table: Table, keys: &mut Vec<String>, outer: &str) {
    for row in table.rows() {
        let path = format!("{outer}/{}", row.key);
        if let Kind::Nested(table) = row.kind {
            all(table, keys, &path);
        }
        keys.push(path);
    }
}

/// Most drawn files fit, and between them they have every type.
#[test]
fn the_draws_reach_every_type() {
    let files: Vec<_> =
        (0..200).filter_map(|seed| File::from_view(&drawn(seed), Some(SECRET)).ok()).collect();
    assert!(files.len() > 100, "{}", files.len());
    let (mut keys, mut expected) = (Vec::new(), Vec::new());
    files.iter().for_each(|file| seen(file.tlvs(), &mut keys, ""));
    all(FILE, &mut expected, "");
    // Of these a draw has no target; the links upstream stand for them.
    let unlinked = [
        "/downstream_classifiers/flow_reference",
        "/low_latency/reference",
        "/downstream_service_flows/aggregate_reference",
    ];
    expected.retain(|key| !unlinked.iter().any(|end| key.ends_with(end)));
    for key in expected {
        assert!(keys.contains(&key), "{key}");
    }
}
