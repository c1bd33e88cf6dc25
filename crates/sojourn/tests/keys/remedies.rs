//! Remedies of warnings help: with them the warning is gone, and what it promises comes. Each remedy of the code has a case.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use sojourn::input::problem::{Code, Warning};
use sojourn::results::metrics::Results;
use sojourn::scenario::changes::CHANGES;
use sojourn::scenario::load;

use super::{BESIDE, run, tables};
use crate::common::{flow, queue};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    code: String,
    path: String,
    promise: String,
    text: String,
}

/// A run of a case, with all that is said of it.
struct Ran {
    results: Results,
    warnings: Vec<Warning>,
}

impl Case {
    fn run(&self, sets: &[String]) -> Ran {
        let loaded = load(&self.text, &BESIDE, sets);
        let variant =
            loaded.unwrap_or_else(|why| panic!("{} {sets:?}: {why}", self.path)).remove(0);
        let results = run(&variant.scenario);
        let mut warnings = [&results.warnings[..], &variant.notes].concat();
        warnings.extend(variant.changes.iter().map(|changed| changed.warning()));
        Ran { results, warnings }
    }

    fn warning<'a>(&self, ran: &'a Ran) -> Option<&'a Warning> {
        let is_meant = |warning: &&Warning| {
            let code = serde_json::to_value(warning.code).unwrap();
            code == *self.code && warning.path == self.path
        };
        ran.warnings.iter().find(is_meant)
    }

    fn is_kept(&self, before: Results, after: Results) -> bool {
        let of = |results: &Results| {
            let (up, waiting) = (flow(results, "upload", "up"), queue(results, "upstream"));
            match self.promise.split_once(' ').unwrap().1 {
                "goodput" => up.goodput_mbps,
                "delay" => waiting.sojourn_mean_ms.unwrap(),
                "tail" => waiting.sojourn_p99_ms.unwrap(),
                "drops" => waiting.dropped_aqm_packets as f64,
                other => panic!("unknown promise of {other}"),
            }
        };
        match self.promise.split_once(' ').unwrap() {
            ("other", "tables") => tables(before) != tables(after),
            ("more", _) => of(&after) > 1.1 * of(&before),
            ("less", _) => of(&after) < 0.9 * of(&before),
            other => panic!("unknown promise {other:?}"),
        }
    }
}

fn cases() -> Vec<Case> {
    toml::from_str::<Table>(include_str!("remedies.toml")).unwrap().case
}

#[test]
fn remedies_do_what_they_promise() {
    for case in cases() {
        let before = case.run(&[]);
        let Some(warning) = case.warning(&before) else {
            panic!("no warning {} of {}: {:?}", case.code, case.path, before.warnings)
        };
        let sets = warning.remedy.sets();
        assert!(!sets.is_empty(), "{warning:?}");
        let after = case.run(&sets);
        assert!(case.warning(&after).is_none(), "{} stays with {sets:?}", case.path);
        let is_kept = case.is_kept(before.results, after.results);
        assert!(is_kept, "{} with {sets:?}: no {}", case.path, case.promise);
    }
}

#[test]
fn each_remedy_of_the_code_has_a_case() {
    let cases = cases();
    let with_case: BTreeSet<_> = cases.iter().map(|case| case.code.clone()).collect();
    assert_eq!(with_case, codes_with_remedy());
    for change in CHANGES {
        let key = change.key.rsplit('.').next().unwrap();
        let is_its = |case: &&Case| case.code == "changed-default" && case.path.ends_with(key);
        let count = CHANGES.iter().filter(|other| other.key == change.key).count();
        assert!(cases.iter().filter(is_its).count() >= count, "{} has no case", change.key);
    }
}

/// The codes of warnings that the sources give a remedy.
fn codes_with_remedy() -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for package in std::fs::read_dir(crates).unwrap() {
        crate::layers::collect(&package.unwrap().path().join("src"), &mut files);
    }
    files.retain(|file| !file.ends_with("sojourn-input/src/problem.rs"));
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        let faults = text.split("fault!(").skip(1).filter_map(|rest| rest.split("=>").next());
        let with_remedy = faults.filter(|head| head.split(',').any(|part| part.trim() == "remedy"));
        let mut named: Vec<_> =
            with_remedy.filter_map(|head| head.split(',').next().map(str::trim)).collect();
        if text.contains(".remedied(") {
            let made = text.split("of_code(Code::").skip(1);
            named.extend(made.filter_map(|rest| rest.split(',').next()));
        }
        let is_named = |code: &Code| named.contains(&&*format!("{code:?}"));
        let all = Code::ALL.iter().filter(|(code, ..)| is_named(code));
        codes.extend(all.map(|(_, name, _)| (*name).to_owned()));
    }
    codes
}

/// Captures for the cases: one way, both ways, and with packets larger than a frame.
pub(super) fn write_captures(directory: &Path) {
    const HOME: [u8; 4] = [192, 168, 0, 2];
    const FAR: [u8; 4] = [203, 0, 113, 8];
    const OTHERS: [[u8; 4]; 2] = [[198, 51, 100, 8], [192, 0, 2, 9]];
    let write = |name: &str, ways: [([u8; 4], [u8; 4]); 2], size: u32| {
        let mut bytes: Vec<u8> = [0xa1b2_3c4d, 4 << 16 | 2, 0, 0, 0, 101_u32]
            .into_iter()
            .flat_map(u32::to_le_bytes)
            .collect();
        for number in 0..100 {
            let (from, to) = ways[number as usize % 2];
            let head = [number / 50, number % 50 * 20_000_000, 28, size];
            bytes.extend(head.into_iter().flat_map(u32::to_le_bytes));
            bytes.extend([0x45, 0, (size >> 8) as u8, size as u8, 0, 0, 0, 0, 64, 17, 0, 0]);
            bytes.extend([from, to].concat());
            let length = size - 20;
            bytes.extend([4, 0, 4, 0, (length >> 8) as u8, length as u8, 0, 0]);
        }
        std::fs::write(directory.join(name), bytes).unwrap();
    };
    write("one_way.pcap", [(FAR, OTHERS[0]), (OTHERS[1], [198, 18, 0, 7])], 400);
    write("both_ways.pcap", [(HOME, FAR), (FAR, HOME)], 400);
    write("large.pcap", [(HOME, FAR), (FAR, HOME)], 4000);
}
