//! Groups of downstream channels (`cmts.bonded`), in closed form.

use crate::common::{flow, latencies, loaded, refused};
use sojourn::Simulation;
use sojourn::engine::packet::Direction;
use sojourn::results::metrics::Results;

fn run(keys: &str) -> Results {
    let text = format!(
        "upstream.sustained_mbps = 50
         downstream = {{ sustained_mbps = 900, regulator = false }}
         cable.byte_count = 'ip'
         cmts.framing = {{ ethernet_bytes = 0, mac_header_bytes = 0 }}
         servers.near = {{ delay_ms = 1, rate_mbps = 1_000_000, path_jitter_ms = 0, host_jitter_us = 0 }}
         {keys}"
    );
    Simulation::run(&loaded(&text, &[]))
}

/// 120 Mbps, more than the channels carry.
const FLOOD: &str = "duration_s = 3
    traffic.flood = { kind = 'stream', purpose = 'data', server = 'near', direction = 'down',
                      packet_bytes = 1500, interval_ms = 0.1 }\n";
/// Packets that meet no other.
const LONE: &str = "duration_s = 60
    traffic.flood = { kind = 'stream', purpose = 'data', server = 'near', direction = 'down',
                      packet_bytes = 1500, interval_ms = 1 }\n";
const FAST: &str = "cmts.bonded.a.channel = { kind = 'rate', rate_mbps = 40 }\n";
const EVEN: &str = "cmts.bonded.b.channel = { kind = 'rate', rate_mbps = 40 }\n";
const SLOW: &str = "cmts.bonded.b.channel = { kind = 'rate', rate_mbps = 24 }\n";
const LATE: &str = "cmts.bonded.b.extra_delay_ms = 6\n";

fn part_ms(results: &Results, part: &str) -> f64 {
    results.delay_parts.iter().filter(|row| row.part == part).map(|row| row.mean_ms).sum()
}

fn mbps(keys: &str) -> f64 {
    flow(&run(keys), "flood", "down").throughput_mbps
}

/// The table of one channel, or of four alike, is what the short form says, to the picosecond: the same packets at the same
/// times.
#[test]
fn a_table_of_channels_alike_is_the_short_form() {
    let kinds = ["{ kind = 'rate', rate_mbps = 20 }", "{ kind = 'ofdm', subcarriers = 60 }"];
    for (kind, traffic) in kinds.into_iter().flat_map(|kind| [(kind, FLOOD), (kind, LONE)]) {
        for count in [1, 4] {
            let short = kind.replace('}', &format!(", channels = {count} }}"));
            let row = |keys: &str| {
                let results = run(&format!("{traffic}{keys}"));
                let row = flow(&results, "flood", "down");
                (row.delivered_bytes, latencies(row))
            };
            let short_form = row(&format!("cmts.channel = {short}"));
            let table: String = ["a", "b", "c", "d"][..count]
                .iter()
                .map(|name| format!("cmts.bonded.{name}.channel = {kind}\n"))
                .collect();
            assert_eq!(short_form, row(&table), "{count} {kind}");
            assert_eq!(short_form, row(&format!("cmts.bonded.all.channel = {short}")));
        }
    }
}

/// Channels of 40 and 24 Mbps carry 64.
#[test]
fn rates_of_unlike_channels_add_up() {
    for (keys, want) in [(FAST, 40.0), (SLOW, 24.0), (&format!("{FAST}{SLOW}"), 64.0)] {
        let found = mbps(&format!("{FLOOD}{keys}"));
        assert!((found / want - 1.0).abs() < 0.01, "{found} {want}");
    }
}

/// A lone packet goes on the channel that brings it first: 1500 B take 0.3 ms at 40 Mbps and 0.5 ms at 24. With 0.25 ms more on
/// the fast one the slow one is first.
#[test]
fn a_lone_packet_takes_the_channel_that_brings_it_first() {
    let of = |keys: &str| latencies(flow(&run(&format!("{LONE}{keys}")), "flood", "down"))[1];
    let [fast, slow, both] = [FAST, SLOW, &format!("{FAST}{SLOW}")].map(of);
    let late = of(&format!("{FAST}{SLOW}cmts.bonded.a.extra_delay_ms = 0.25"));
    assert!((slow - fast - 0.2).abs() < 1e-6 && (both - fast).abs() < 1e-6, "{fast} {slow} {both}");
    assert!((late - slow).abs() < 1e-6, "{late} {slow}");
}

/// Of two equal channels one is 6 ms late. Packets go on both in turn, so half of them wait for one before that was sent on the
/// late channel at most the 0.3 ms of a packet earlier: 3 ms in the mean, or up to 0.15 less.
#[test]
fn packets_wait_for_the_late_channel() {
    let both = run(&format!("{FLOOD}{FAST}{EVEN}{LATE}"));
    let row = flow(&both, "flood", "down");
    assert!((row.throughput_mbps / 80.0 - 1.0).abs() < 0.01, "{}", row.throughput_mbps);
    let delivered = row.throughput_mbps / 120.0; // the part of what was sent
    let waits_ms = part_ms(&both, "resequencing") / delivered;
    assert!((2.8..3.05).contains(&waits_ms), "{waits_ms}");
}

/// Packets come every 1 ms on the first of two channels, and 0.2 % are lost there (codewords of 2000 B). The modem waits for a
/// lost one until 5 ms after the next has come: the six packets until then wait for 5, 4, 3, 2, 1 and 0 ms, 15 ms for each loss.
/// On a channel alone nothing waits.
#[test]
fn a_lost_packet_costs_the_timeout() {
    let noise = "cmts.bonded.a.noise = { codeword_error_percent = 0.2, codeword_bytes = 2000 }
        cmts.resequencing_ms = 5\n";
    let found = run(&format!("{LONE}{FAST}{EVEN}{noise}"));
    let row = flow(&found, "flood", "down");
    let [a, b] = ["downstream a", "downstream b"]
        .map(|name| found.channels.iter().find(|row| row.channel == name).unwrap());
    let lost = a.lost_segments.unwrap() as f64;
    assert_eq!(row.dropped_link_packets, a.lost_segments.unwrap());
    assert!(a.lost_segments.unwrap() - a.given_up_segments.unwrap() <= 1, "the last may wait");
    assert!((lost / row.sent_packets as f64 / 0.002 - 1.0).abs() < 0.4, "{lost}"); // 4 / sqrt(120)
    assert_eq!((b.segments, b.lost_segments, b.utilisation_percent), (Some(0), Some(0), 0.0));
    assert!((a.utilisation_percent - 30.0).abs() < 0.1); // 0.3 of 1 ms
    let each_ms = part_ms(&found, "resequencing") * row.sent_packets as f64 / lost;
    assert!((each_ms / 15.0 - 1.0).abs() < 0.06, "{each_ms}");
    let [least, _, _, greatest] = latencies(row);
    assert!((greatest - least - 5.0).abs() < 0.1, "{least} {greatest}");
    let alone = run(&format!("{LONE}{FAST}{noise}"));
    assert_eq!(part_ms(&alone, "resequencing"), 0.0);
    assert!(flow(&alone, "flood", "down").dropped_link_packets > 0);
}

/// With a time-out above the skew TCP sees a longer way, and with a shorter one it loses what comes late.
#[test]
fn tcp_needs_a_timeout_above_the_skew() {
    let transfer = "duration_s = 10
        traffic.flood = { kind = 'transfer', server = 'near', direction = 'down' }\n";
    let short = format!("{LATE}cmts.resequencing_ms = 1");
    let [even, waits, loses] =
        ["", LATE, &short].map(|keys| mbps(&format!("{transfer}{FAST}{EVEN}{keys}")));
    assert!(waits > 0.9 * even && loses < 0.8 * even, "{even} {waits} {loses}");
}

/// A channel is lost for one of three seconds, and nothing goes on it then.
#[test]
fn a_channel_fails_and_returns() {
    let lost = "cmts.bonded.b.outages = [{ start_s = 1, length_s = 1 }]";
    let found = mbps(&format!("{FLOOD}{FAST}{EVEN}{lost}"));
    assert!((found / (200.0 / 3.0) - 1.0).abs() < 0.02, "{found}");
}

/// Of two channels of 40 Mbps an old home has one and a new one both: the new one leaves the shared one, and each has 40.
#[test]
fn homes_with_more_channels_leave_the_shared_one() {
    let home = "downstream = { sustained_mbps = 900, regulator = false, bonding_group =";
    let stream = "kind = 'stream', purpose = 'data', server = 'near', direction = 'down',
                  packet_bytes = 1500, interval_ms = 0.1";
    let results = run(&format!(
        "duration_s = 3
         {FAST}{EVEN}
         homes.old = {{ {home} ['a'] }} }}
         homes.new = {{ {home} ['a', 'b'] }} }}
         traffic.old = {{ {stream}, home = 'old' }}
         traffic.new = {{ {stream}, home = 'new' }}"
    ));
    for name in ["old", "new"] {
        let found = flow(&results, name, "down").throughput_mbps;
        assert!((found / 40.0 - 1.0).abs() < 0.03, "{name}: {found}");
    }
}

/// Homes that fill their channels have their max-min parts, whether the queue is plain or takes turns among them. Of two channels
/// of 40 Mbps one old home has the first, and three new ones have both: 80 / 4 = 20 each. Of three old homes each has a third of the
/// first, and the new one the second. Of 40 and 24 Mbps three old homes have the slow one and one new home both: 64 / 4 = 16
/// would be more than a third of 24, so the new one has 40 and each old one 8.
#[test]
fn groups_of_several_homes_have_their_max_min_parts() {
    let home = "downstream = { sustained_mbps = 900, regulator = false, bonding_group =";
    let stream = "kind = 'stream', purpose = 'data', server = 'far', direction = 'down',
                  packet_bytes = 1500, interval_ms = 0.1";
    for (second, (old, on, mbps), (new, most)) in [
        (EVEN, (1, "a", 20.0), (3, 20.0)),
        (EVEN, (3, "a", 40.0 / 3.0), (1, 40.0)),
        (EVEN, (2, "a", 20.0), (2, 20.0)),
        (EVEN, (1, "b", 80.0 / 6.0), (5, 80.0 / 6.0)),
        (SLOW, (1, "b", 16.0), (3, 16.0)),
        (SLOW, (3, "b", 8.0), (1, 40.0)),
    ] {
        for scheduler in ["", "cmts.queue.scheduler.kind = 'drr'"] {
            let results = run(&format!(
                "duration_s = 5
                 servers.far = {{ delay_ms = 1, rate_mbps = 1_000_000, path_jitter_ms = 1 }}
                 {FAST}{second}{scheduler}
                 homes.old = {{ count = {old}, {home} ['{on}'] }} }}
                 homes.new = {{ count = {new}, {home} ['a', 'b'] }} }}
                 traffic.old = {{ {stream}, home = 'old' }}
                 traffic.new = {{ {stream}, home = 'new' }}"
            ));
            for (name, homes, want) in [("old", old, mbps), ("new", new, most)] {
                let found = flow(&results, name, "down").throughput_mbps / f64::from(homes);
                assert!(
                    (found / want - 1.0).abs() < 0.05,
                    "{scheduler} {old} {on} {new} {name}: {found} {want}"
                );
            }
        }
    }
}

/// Of two channels of 40 Mbps an old home has the first and two new ones have both: 80 / 3 each, whatever a home on a third
/// channel has, and in whichever order they stand.
#[test]
fn what_homes_have_on_other_channels_counts_for_nothing() {
    let home = |name: &str, homes: u32, group: &str| {
        format!(
            "homes.{name} = {{ count = {homes}, downstream = {{ sustained_mbps = 900, regulator = false,
                               bonding_group = [{group}] }} }}
             traffic.{name} = {{ kind = 'stream', purpose = 'data', server = 'near', direction = 'down', home = '{name}',
                                 packet_bytes = 1500, interval_ms = 0.1, interval_deviation_percent = 10 }}
            "
        )
    };
    let third = "cmts.bonded.c = { channel = { kind = 'rate', rate_mbps = 40 } }";
    let mut homes = [home("other", 1, "'c'"), home("old", 1, "'a'"), home("new", 2, "'a', 'b'")];
    for _ in 0..2 {
        let results = run(&format!("duration_s = 3\n{FAST}{EVEN}{third}\n{}", homes.concat()));
        for (name, homes, want) in
            [("other", 1, 40.0), ("old", 1, 80.0 / 3.0), ("new", 2, 80.0 / 3.0)]
        {
            let found = flow(&results, name, "down").throughput_mbps / f64::from(homes);
            assert!((found / want - 1.0).abs() < 0.05, "{name}: {found} {want}");
        }
        homes.reverse();
    }
}

/// Of 40 and 24 Mbps the second is lost for 1 of 4 s: a group with both is due 4 * 40 + 3 * 24 = 232 Mbit, and so are all homes
/// together; one with the second alone is due 72.
#[test]
fn groups_are_due_what_their_channels_carry() {
    let home = "downstream = { sustained_mbps = 900, bonding_group =";
    let keys = format!(
        "duration_s = 4
         {FAST}{SLOW}cmts.bonded.b.outages = [{{ start_s = 1, length_s = 1 }}]
         homes.new = {{ {home} ['a', 'b'] }} }}
         homes.old = {{ {home} ['b'] }} }}"
    );
    let scenario = loaded(&text(&keys), &[]);
    let (time, down) = (0.0..4.0, Direction::Down);
    let mbit =
        [0, 1].map(|group| scenario.channel_mbit(&scenario.group(group), down, &time).unwrap());
    assert!((mbit[0] - 232.0).abs() < 1e-3 && (mbit[1] - 72.0).abs() < 1e-3, "{mbit:?}");
    let sets = scenario.shared_mbit(down, &time, &[(0, 1.0), (1, 5.0)]);
    let want = [(vec![0, 1], mbit[0]), (vec![1], mbit[1])];
    for ((groups, mbit), want) in sets.iter().zip(want) {
        assert_eq!(*groups, want.0);
        assert!((mbit - want.1).abs() < 1e-9);
    }
    assert_eq!(sets.len(), 2);
    assert_eq!(scenario.channel_mbps(&scenario.group(1), down), Some(24.0));
}

#[test]
fn impossible_groups_are_refused() {
    for (keys, message) in [
        (
            "downstream.bonding_group = ['a', 'x']",
            "downstream.bonding_group.1: found \"x\"; allowed: channels of cmts.bonded: a, b",
        ),
        (
            "downstream.bonding_group = ['a', 'a', 'b']",
            "downstream.bonding_group.1: found \"a\" again; allowed: each channel once",
        ),
        (
            "downstream.bonding_group = ['a']",
            "cmts.bonded.b: found a channel that no modem uses; allowed: channels of a bonding_group",
        ),
        (
            "cable.downstream_noise.codeword_error_percent = 1",
            "cable.downstream_noise: found with cmts.bonded; allowed: only without it; use the noise of its channels",
        ),
        (
            "downstream.profile_bits = 8",
            "downstream.profile_bits: found 8 with cmts.bonded; allowed: only without it; use the modulation_bits of \
             its channels",
        ),
        (
            "cmts.bonded.a.channel = { kind = 'rate', rate_mbps = 0 }",
            "cmts.bonded.a.channel.rate_mbps: found 0; allowed: a number from 0.001 to 1000000",
        ),
        (
            "cmts.bonded.a.channel = { kind = 'sc_qam', channels = 64 }",
            "cmts.bonded: found 65 channels; allowed: 64 at most",
        ),
        (
            "cmts.bonded.a.outages = [{ start_s = 1, length_s = 2, every_s = 2 }]",
            "cmts.bonded.a.outages.0.every_s: found 2; allowed: more than 2, the value of length_s",
        ),
    ] {
        let own = if keys.starts_with("cmts.bonded.a") { "" } else { "cmts.bonded.a = {}\n" };
        let table = format!("cmts.bonded.b = {{}}\n{own}{keys}");
        assert_eq!(refused(&text(&table), &[]), format!("test.toml: {message}"));
    }
    for (keys, message) in [
        (
            "cmts.resequencing_ms = 5",
            "cmts.resequencing_ms: found 5 without bonded; allowed: only with a table of channels",
        ),
        (
            "downstream.bonding_group = ['a']",
            "downstream.bonding_group: found without cmts.bonded; allowed: only with it",
        ),
    ] {
        assert_eq!(refused(&text(keys), &[]), format!("test.toml: {message}"));
    }
}

fn text(keys: &str) -> String {
    format!(
        "upstream.sustained_mbps = 5
         downstream.sustained_mbps = 5
         servers.near.delay_ms = 9
         traffic.up = {{ kind = 'transfer', server = 'near' }}
         {keys}"
    )
}
