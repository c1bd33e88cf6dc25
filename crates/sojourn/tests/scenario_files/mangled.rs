//! Files, sets and values that are mangled at random: whatever they say, nothing panics.

use sojourn::scenario::Variant;
use sojourn::scenario::to_toml;
use sojourn_testing::at_random;
use sojourn_testing::proptest::prelude::*;

use super::{HOME, load_with, only};

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

at_random! {
    256;

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

#[rustfmt::skip]
const VALUES: &[&str] = &[
    "0", "1", "-1", "2", "5.0", "1e300", "-0.0", "nan", "inf", "9223372036854775807",
    "18446744073709551615", "99999999999999999999999", "true", "\"\"", "\"web1\"", "[]", "[1]",
    "[1, 2, 3, 4]", "{}", "{ kind = \"codel\" }", "{ kind = \"stream\" }", "{ kind = {} }",
    "{ a.b.c = 1 }", "1979-05-27T07:32:00Z", "07:32:00", "'''\n'''", "0x7f", "[[[[]]]]",
];

#[rustfmt::skip]
const PATHS: &[&str] = &[
    "duration_s", "seed", "dialect", "title", "cable.delay_ms", "upstream", "upstream.queue",
    "upstream.queue.limit_bytes", "upstream.queue.limit_packets", "upstream.queue.law",
    "upstream.burst_bytes", "upstream.sustained_mbps", "upstream.peak_mbps", "upstream.congestion",
    "upstream.congestion.levels_mbps", "downstream.channel_mbps", "servers", "cmts", "cmts.channel",
    "downstream.weight", "downstream.regulator",
    "servers.web1.delay_ms", "tcp", "tcp.mss_bytes", "tcp.max_window_segments", "tcp.min_rto_s",
    "tcp.max_rto_s", "traffic.web", "traffic.web.servers", "traffic.web.servers.1",
    "traffic.web.objects", "traffic.upload.pause_s", "traffic.upload.file_bytes",
    "traffic.upload.tcp.header_bytes", "traffic.call.stop_s", "traffic.call.packet_bytes",
    "compare", "compare.CoDel", "compare.CoDel.seed",
];
