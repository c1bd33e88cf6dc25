//! Captures that are replayed: from the file through the loader and the whole network.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::flow;
use sojourn::Simulation;
use sojourn::input::problem::Problems;
use sojourn::scenario::apps::AppSpec;
use sojourn::scenario::apps::replay::Parameters;
use sojourn::scenario::to_toml;
use sojourn::scenario::{Scenario, Variant, load};

/// Times in ns after the epoch, and sizes on the wire.
pub(crate) const PACKETS: [(u64, u32); 6] = [
    (5_999_999_999, 60),
    (6_000_000_000, 1514),
    (6_000_000_777, 342),
    (6_250_000_000, 1514),
    (6_250_000_000, 98),
    (7_123_456_789, 64),
];

/// A directory of its own for a test, with the capture in it.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(directory.join("captures")).unwrap();
    write_pcap(&directory.join("captures/six.pcap"), &PACKETS);
    directory
}

/// pcap with times in ns, of Ethernet, without a byte of the packets themselves.
pub(crate) fn write_pcap(file: &Path, packets: &[(u64, u32)]) {
    let mut words = vec![0xa1b2_3c4d, 4 << 16 | 2, 0, 0, 0, 1];
    for (at, size) in packets {
        words.extend([(at / 1_000_000_000) as u32, (at % 1_000_000_000) as u32, 0, *size]);
    }
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    fs::write(file, bytes).unwrap();
}

fn text(keys: &str) -> String {
    format!(
        "duration_s = 10
         clock_drift_ppm = 0
         metrics.packet_trace = true
         upstream = {{ sustained_mbps = 20, peak_mbps = 20, burst_bytes = 100_000 }}
         downstream = {{ sustained_mbps = 38, peak_mbps = 38, burst_bytes = 100_000 }}
         servers.far = {{ delay_ms = 40 }}
         traffic.noise = {{ kind = 'replay', server = 'far', file = 'captures/six.pcap' {keys} }}"
    )
}

fn load_in(directory: &Path, text: &str) -> Result<Vec<Variant>, Problems> {
    load(text, directory.join("scenario.toml").to_str().unwrap(), &[])
}

fn loaded(directory: &Path, text: &str) -> Scenario {
    load_in(directory, text).unwrap_or_else(|problem| panic!("{problem}")).remove(0).scenario
}

fn replay(scenario: &Scenario) -> &Parameters {
    match &scenario.traffic["noise"].app {
        AppSpec::Replay(replay) => replay,
        other => panic!("{other:?}"),
    }
}

/// Times in ps and sizes of what was sent.
fn sent(scenario: &Scenario) -> Vec<(u64, u32)> {
    let results = Simulation::run(scenario);
    // The trace is in the order of arrival, which is that of sending.
    results.packets.iter().map(|packet| (packet.sent.ps(), packet.size.into())).collect()
}

#[test]
fn a_replay_has_the_sizes_and_gaps_of_its_capture() {
    let directory = directory("sizes");
    for (way, name) in [("up", "up"), ("down", "down")] {
        let keys = format!(", start_s = 1.5, direction = '{way}'");
        let scenario = loaded(&directory, &text(&keys));
        // A capture lacks the padding and CRC of short frames: on the cable they have 64 bytes.
        let after_first = PACKETS
            .map(|(ns, size)| (1_500_000_000_000 + (ns - PACKETS[0].0) * 1000, size.max(64)));
        assert_eq!(sent(&scenario), after_first);
        let results = Simulation::run(&scenario);
        // 64 + 1514 + 342 + 1514 + 98 + 64 = 3596.
        assert_eq!(flow(&results, "noise", name).delivered_bytes, 3596);
    }
}

#[test]
fn speed_divides_gaps_and_rounds_have_a_pause() {
    let scenario =
        loaded(&directory("rounds"), &text(", speed = 4, pause_s = 2, framing_bytes = 4"));
    // The last packet comes 1.12345679 s after the first, at four times the speed 0.2808641975 s.
    let round_ps = 280_864_197_500 + 2_000_000_000_000;
    // Rounds start every 2.2808641975 s: five fit into 10 s, the last from 9.12345679 s on.
    let mut want = Vec::new();
    for round in 0..5 {
        let packet = |(ns, size)| (round * round_ps + (ns - PACKETS[0].0) * 250, size + 4);
        want.extend(PACKETS.map(packet));
    }
    assert_eq!(sent(&scenario), want);
}

#[test]
fn the_resolved_scenario_has_path_and_digest_and_loads_from_anywhere() {
    let directory = directory("resolved");
    let scenario = loaded(&directory, &text(""));
    let file = directory.join("captures/six.pcap");
    assert_eq!(Path::new(&replay(&scenario).file), file);
    let resolved = to_toml(&scenario);
    assert_eq!(load(&resolved, "elsewhere.toml", &[]).unwrap()[0].scenario, scenario);

    // Another capture under the same name is another scenario: one byte more, one nanosecond more.
    let digest = replay(&scenario).digest.clone().unwrap();
    for change in [|p: &mut (u64, u32)| p.1 += 1, |p: &mut (u64, u32)| p.0 += 1] {
        let mut packets = PACKETS;
        change(&mut packets[5]);
        write_pcap(&file, &packets);
        let problem = load(&resolved, "elsewhere.toml", &[]).unwrap_err();
        let now = replay(&loaded(&directory, &text(""))).digest.clone().unwrap();
        assert_ne!(now, digest);
        assert_eq!(
            problem.to_string(),
            format!(
                "elsewhere.toml: traffic.noise.digest: found {digest:?}; allowed: {now:?}, that of \
                 {file:?}, or none"
            )
        );
    }
}

#[test]
fn variants_share_their_capture() {
    let variants = "\n[compare.A]\nseed = 2\n[compare.B]\ntraffic.noise.speed = 2\n";
    let variants = load_in(&directory("variants"), &(text("") + variants)).unwrap();
    let [a, b] = &variants[..] else { panic!("{variants:?}") };
    let captures = [a, b].map(|variant| &replay(&variant.scenario).capture.0);
    assert!(Arc::ptr_eq(captures[0], captures[1]));
}

#[test]
fn captures_that_are_refused() {
    let directory = directory("refused");
    let source = directory.join("scenario.toml").display().to_string();
    let bytes = fs::read(directory.join("captures/six.pcap")).unwrap();
    fs::write(directory.join("torn.pcap"), &bytes[..bytes.len() - 3]).unwrap();
    let refusal = |file: &str| {
        let text = text("").replace("captures/six.pcap", file);
        load_in(&directory, &text).unwrap_err().to_string()
    };
    let allowed = "allowed: a complete pcap or pcapng file";
    let prefix = format!("{source}: traffic.noise.file: found ");
    assert_eq!(
        refusal("torn.pcap"),
        format!("{prefix}\"torn.pcap\", which ends after packet 5; {allowed}")
    );
    assert_eq!(
        refusal("none.pcap"),
        format!(
            "{prefix}\"none.pcap\", which cannot be read (No such file or directory (os error 2)); \
             {allowed}"
        )
    );
    assert_eq!(
        refusal("captures"),
        format!("{prefix}\"captures\", which cannot be read (not a regular file); {allowed}")
    );
    assert!(refusal("/dev/zero").ends_with(
        "which cannot be read (not a regular file); allowed: a complete pcap or pcapng file"
    ));
}

#[test]
fn a_home_is_one_or_several_addresses_and_no_direction() {
    let directory = directory("home");
    let refusal = |keys: &str| load_in(&directory, &text(keys)).unwrap_err().to_string();
    for (keys, reported) in [
        (", home_address = 'x'", "noise: home_address: found \"x\"; allowed: an IP address or"),
        (", home_address = ['10.0.0.1', 'y']", "noise: home_address: found \"y\"; allowed: an IP"),
        (", home_address = []", "noise.home_address: found an empty list; allowed: 1 or more"),
        (
            ", home_address = '10.0.0.1', direction = 'up'",
            "noise.home_address: found it beside a direction for all packets; allowed: one of them",
        ),
        (", home = '10.0.0.1'", "; the home's address in a capture is home_address"),
    ] {
        assert!(refusal(keys).contains(reported), "{}", refusal(keys));
    }
}

/// A queue must be able to hold the largest packet of a capture, and a burst to pass it.
#[test]
fn the_largest_packet_needs_room() {
    let directory = directory("room");
    write_pcap(&directory.join("captures/six.pcap"), &[(0, 9018)]);
    let small = text("").replace("burst_bytes = 100_000", "burst_bytes = 9017");
    let problem = load_in(&directory, &small).unwrap_err();
    assert_eq!(problem.first().path, "upstream.burst_bytes");
    assert_eq!(
        problem.first().message,
        "found 9017; allowed: 9018 or more, the size of the largest packet"
    );
    assert_eq!(sent(&loaded(&directory, &text(""))), [(0, 9018)]);
}
