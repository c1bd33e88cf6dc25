//! Ranging of modems on bonded upstream channels, and channels that fail, in closed form.

use crate::common::{flow, latencies, loaded, refused};
use sojourn::Simulation;
use sojourn::results::metrics::Results;
use sojourn::results::metrics::rows::ChannelRow;

fn text(keys: &str) -> String {
    format!(
        "upstream.sustained_mbps = 900
         upstream.peak_mbps = 1000
         upstream.burst_bytes = 10_000_000
         upstream.modem.kind = 'shared_channel'
         downstream.sustained_mbps = 900
         servers.near = {{ delay_ms = 0, rate_mbps = 1_000_000 }}
         upstream_channel.request_opportunities = 8
         {keys}"
    )
}

fn run(keys: &str) -> Results {
    Simulation::run(&loaded(&text(keys), &[]))
}

/// More than the channels carry, for 40 s.
const FLOOD: &str = "duration_s = 40
    traffic.flood = { kind = 'stream', purpose = 'data', server = 'near', packet_bytes = 1500, interval_ms = 0.2 }\n";
const ONE: &str = "upstream_channel.bonded.a.extra_delay_ms = 0\n";
const BOTH: &str = "upstream_channel.bonded.a.extra_delay_ms = 0
    upstream_channel.bonded.b.extra_delay_ms = 0\n";
/// A packet every 20.618 ms.
const LONE: &str = "duration_s = 40
    traffic.flood = { kind = 'stream', purpose = 'game', server = 'near', direction = 'up', packet_bytes = 218,
                      interval_ms = 20.618 }\n";
/// Four tries 0.25 s apart and T3: 0.85 s from an opportunity, which is up to 1 s away. T4 is 3 s.
const RANGING: &str =
    "upstream_channel.ranging = { interval_s = 1, t3_ms = 100, t4_s = 3, retries = 4,
    retry_interval_s = 0.25, registration_s = 2 }\n";

fn channel<'a>(results: &'a Results, name: &str) -> &'a ChannelRow {
    results.channels.iter().find(|row| row.channel == name).expect("there is such a channel")
}

fn part_ms(results: &Results, part: &str) -> f64 {
    results.delay_parts.iter().filter(|row| row.part == part).map(|row| row.mean_ms).sum()
}

fn mbps(results: &Results) -> f64 {
    flow(results, "flood", "up").throughput_mbps
}

/// A ranging request takes 288 symbols, 5 minislots of 64, and in each MAP interval of 2 ms there is one of the 160. Requests have 16,
/// and a grant 2.6 for preamble, guard time and parity: of 141 minislots 5 are 3.5 %. With OFDMA it takes a symbol of 11 minislots
/// wide frames, 2 of 165 in a MAP interval of 15 frames; 16 are for requests: 1.3 %.
#[test]
fn station_maintenance_takes_its_minislots() {
    let ranging =
        "upstream_channel.ranging = { interval_s = 0.002, retry_interval_s = 0.5, t4_s = 1 }\n";
    let ofdma = "upstream_channel.bonded.a.phy = { kind = 'ofdma', subcarriers = 94 }\n";
    for (channel, share) in [(ONE, 0.035), (ofdma, 0.013)] {
        let [without, with] =
            ["", ranging].map(|keys| mbps(&run(&format!("{FLOOD}{channel}{keys}"))));
        let taken = 1.0 - with / without;
        assert!((taken / share - 1.0).abs() < 0.1, "{taken} {share}");
    }
    let results = run(&format!("{FLOOD}{ONE}{RANGING}"));
    let row = channel(&results, "upstream a");
    assert_eq!((row.ranging_requests, row.t3_timeouts), (Some(40), Some(0)));
    assert_eq!((row.t3_exceeded, row.t4_timeouts), (Some(0), Some(0)));
    assert_eq!(channel(&run(&format!("{FLOOD}{ONE}")), "upstream a").ranging_requests, None);
}

/// One of two channels is not heard for 2 s. Half of the segments are lost, 500 each second, until the modem notices 0.85 to 1.85 s
/// later; then it goes on with the other one. When the channel is back it ranges again.
#[test]
fn a_channel_that_is_not_heard_is_given_up() {
    let lost = "upstream_channel.bonded.b.signal_losses = [{ start_s = 10, length_s = 2 }]\n";
    let [one, both] = [ONE, BOTH].map(|table| mbps(&run(&format!("{FLOOD}{table}{RANGING}"))));
    let found = run(&format!("{FLOOD}{BOTH}{RANGING}{lost}"));
    let row = channel(&found, "upstream b");
    assert_eq!((row.t3_exceeded, row.t4_timeouts), (Some(1), Some(0)));
    let notices_s = row.lost_segments.unwrap() as f64 / 500.0;
    assert!((0.85..1.87).contains(&notices_s), "{notices_s}");
    assert_eq!(channel(&found, "upstream a").lost_segments, Some(0));
    // Until it notices every packet has a part in a lost segment; then one channel is left for 0 to 12 s of ranging again.
    let [least, most] = [12.0, 2.0]
        .map(|out_s| (both * (40.0 - out_s) + one * (out_s - notices_s).max(0.0)) / 40.0);
    assert!((0.99 * least..1.01 * most).contains(&mbps(&found)), "{} {least} {most}", mbps(&found));
    // Who does not range never notices.
    let never = run(&format!("{FLOOD}{BOTH}{lost}"));
    let lost_s = channel(&never, "upstream b").lost_segments.unwrap() as f64 / 500.0;
    assert!((lost_s - 2.0).abs() < 0.01, "{lost_s}");
}

/// Without MAPs for 10 s of 40 a modem that has two channels has one. It loses the other one after 1 to 3 s of T4 since the last
/// opportunity, and ranges again when MAPs are back, in one of the first four broadcast opportunities. If MAPs are back before T4,
/// ranging changes nothing: 1.5 s are less than T4 after an opportunity that was up to 1 s ago.
#[test]
fn a_channel_without_maps_is_lost_by_t4() {
    let [one, both] = [ONE, BOTH].map(|table| mbps(&run(&format!("{FLOOD}{table}{RANGING}"))));
    let lost = |length_s: f64, t4_s: f64| {
        let outage = format!(
            "upstream_channel.bonded.b.outages = [{{ start_s = 10, length_s = {length_s} }}]\n"
        );
        run(&format!(
            "{FLOOD}{BOTH}{outage}{}",
            RANGING.replace("t4_s = 3", &format!("t4_s = {t4_s}"))
        ))
    };
    let found = lost(10.0, 3.0);
    let row = channel(&found, "upstream b");
    assert_eq!((row.t3_exceeded, row.t4_timeouts), (Some(0), Some(1)));
    let out_s = (both - mbps(&found)) / (both - one) * 40.0;
    assert!((9.95..11.7).contains(&out_s), "{out_s}");
    let [short, never] = [3.0, 30.0].map(|t4_s| lost(1.5, t4_s));
    assert_eq!(channel(&short, "upstream b").t4_timeouts, Some(0));
    assert_eq!(mbps(&short), mbps(&never));
    assert_eq!(latencies(flow(&short, "flood", "up")), latencies(flow(&never, "flood", "up")));
    let out_s = (both - mbps(&never)) / (both - one) * 40.0;
    assert!((out_s - 1.5).abs() < 0.05, "{out_s}");
}

/// A modem with one channel that is not heard for 2 s gives it up D later, is silent until it has ranged again, and then registers
/// for 2 s. Packets come every 20.618 ms. The first waits for L, 2 s of registration after the signal is back at least, and all
/// that come in D or later wait in a stall for what is left of L - D: (L^2 - D^2) / 2 of them and of seconds each 20.618 ms.
#[test]
fn a_modem_without_channels_waits_for_ranging() {
    let lost = "upstream_channel.bonded.a.signal_losses = [{ start_s = 10, length_s = 2 }]\n";
    let found = run(&format!("{LONE}{ONE}{RANGING}{lost}"));
    let row = channel(&found, "upstream a");
    assert_eq!((row.t3_exceeded, row.t4_timeouts), (Some(1), Some(0)));
    let flood = flow(&found, "flood", "up");
    assert_eq!(flood.sent_packets - flood.delivered_packets, 0);
    let waits_s = latencies(flood)[3] / 1e3;
    let stalls_s = part_ms(&found, "stall") / 1e3 * flood.sent_packets as f64;
    let notices_s = (waits_s * waits_s - stalls_s * 2.0 * 0.020618).sqrt();
    assert!((0.85..1.87).contains(&notices_s), "{notices_s}");
    assert!((3.98..6.5).contains(&waits_s), "{waits_s}");
    assert!(part_ms(&found, "contention") > 0.0);
}

/// Half of the lone packets that a modem requests for contend on the failed channel. They learn at the MAP that could have granted
/// them that they were not heard, 1 to 5 ms later, and contend again: some ms more in the mean, half of those again, and no
/// packet is given up. One that has given the channel up does as with one channel.
#[test]
fn requests_go_over_the_channels_that_remain() {
    let lost = "upstream_channel.bonded.b.signal_losses = [{ start_s = 1, length_s = 1000 }]\n";
    let given_up = RANGING.replace("retries = 4", "retries = 1");
    let [one, both, noticed] = [ONE, &format!("{BOTH}{lost}"), &format!("{BOTH}{lost}{given_up}")]
        .map(|keys| run(&format!("{LONE}{keys}")));
    let mean = |results: &Results| latencies(flow(results, "flood", "up"))[1];
    let later_ms = mean(&both) - mean(&one);
    assert!((0.5..5.0).contains(&later_ms), "{later_ms}");
    assert!(part_ms(&both, "contention") > 0.5 && part_ms(&noticed, "contention") < 0.05);
    assert!((mean(&noticed) - mean(&one)).abs() < 0.2);
    let of = |results: &Results| flow(results, "flood", "up").dropped_contention_packets;
    assert_eq!([&one, &both, &noticed].map(of), [0, 0, 0]);
}

/// Three homes of one channel and two of both, of which one channel after the other fails again and again: the run's own sums hold,
/// of packets and of time, and the homes of both channels use both.
#[test]
fn homes_of_all_groups_go_on() {
    let up = |mbps: u32| {
        format!(
            "upstream = {{ sustained_mbps = {mbps}, modem.kind = 'shared_channel', bonding_group ="
        )
    };
    let (old, new) = (up(5), up(30));
    let results = run(&format!(
        "duration_s = 60
         {BOTH}{RANGING}
         upstream_channel.bonded.a.signal_losses = [{{ start_s = 5, length_s = 3, every_s = 20 }}]
         upstream_channel.bonded.b.outages = [{{ start_s = 8, length_s = 4, every_s = 15 }}]
         upstream_channel.bonded.b.noise = {{ burst_interval_s = 2, burst_ms = 300 }}
         homes.old = {{ count = 3, {old} ['a'] }} }}
         homes.new = {{ count = 2, {new} ['a', 'b'] }} }}
         traffic.old = {{ kind = 'transfer', server = 'near', home = 'old' }}
         traffic.new = {{ kind = 'transfer', server = 'near', home = 'new' }}
         traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near', home = 'new' }}"
    ));
    let [a, b] = ["upstream a", "upstream b"].map(|name| channel(&results, name));
    assert!(a.t3_exceeded.unwrap() >= 10 && b.t4_timeouts.unwrap() >= 6, "{a:?} {b:?}");
    assert!(b.t3_timeouts.unwrap() > 0 && b.segments.unwrap() > 10_000, "{b:?}");
    assert!(part_ms(&results, "stall") > 0.0);
}

#[test]
fn impossible_ranging_is_refused() {
    let message = |keys: &str| refused(&text(&format!("{FLOOD}{keys}")), &[]);
    for (keys, want) in [
        (
            "upstream_channel.bonded.a.signal_losses = []\nupstream_channel.ranging.interval_s = 0",
            "upstream_channel.ranging.interval_s: found 0; allowed: a number from 0.001 to 1000",
        ),
        (
            "upstream_channel.bonded.a.signal_losses = []\nupstream_channel.ranging.t4_s = 20",
            "upstream_channel.ranging.t4_s: found 20; allowed: more than 20, the value of interval_s",
        ),
        (
            "upstream_channel.bonded.a.signal_losses = []\nupstream_channel.ranging.retry_interval_s = 0.1",
            "upstream_channel.ranging.retry_interval_s: found 0.1; allowed: 0.2 or more, which is t3_ms",
        ),
        (
            "upstream_channel.ranging.t4_s = 30",
            "upstream_channel.ranging: found without bonded; allowed: only with a table of channels, of which there may be \
             one",
        ),
        (
            "upstream_channel.bonded.a.signal_losses = [{ start_s = 1, length_s = 2, every_s = 2 }]",
            "upstream_channel.bonded.a.signal_losses.0.every_s: found 2; allowed: more than 2, the value of length_s",
        ),
        (
            "upstream.bonding_group = ['a']\nupstream_channel.bonded.a.extra_delay_ms = 0
             upstream_channel.bonded.b.signal_losses = [{ start_s = 1, length_s = 2 }]",
            "upstream_channel.bonded.b: found a channel that no modem uses; allowed: channels of a bonding_group",
        ),
    ] {
        assert_eq!(message(keys), format!("test.toml: {want}"));
    }
}
