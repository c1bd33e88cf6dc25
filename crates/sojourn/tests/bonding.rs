//! Groups of upstream channels (`upstream_channel.bonded`), in closed form.

use crate::common::{flow, latencies, loaded, refused};
use sojourn::Simulation;
use sojourn::engine::packet::Direction;
use sojourn::input::problem::{Code, Warning};
use sojourn::results::metrics::Results;
use sojourn::results::metrics::rows::ChannelRow;

fn run(keys: &str) -> Results {
    requesting(8, keys)
}

/// With so many request opportunities in each MAP.
fn requesting(opportunities: u32, keys: &str) -> Results {
    let text = format!(
        "upstream.sustained_mbps = 900
         upstream.peak_mbps = 1000
         upstream.burst_bytes = 10_000_000
         upstream.modem.kind = 'shared_channel'
         downstream.sustained_mbps = 3000
         downstream.peak_mbps = 3000
         downstream.burst_bytes = 10_000_000
         servers.near = {{ delay_ms = 0, rate_mbps = 1_000_000 }}
         upstream_channel.request_opportunities = {opportunities}
         {keys}"
    );
    Simulation::run(&loaded(&text, &[]))
}

/// 120 Mbps, more than the channels carry.
const FLOOD: &str = "duration_s = 3
    traffic.flood = { kind = 'stream', purpose = 'data', server = 'near', packet_bytes = 1500,
                      interval_ms = 0.1 }\n";
/// Packets that meet no other.
const LONE: &str = "duration_s = 60
    traffic.flood = { kind = 'stream', purpose = 'game', server = 'near', packet_bytes = 218,
                      interval_ms = 20.618 }\n";
const FAST: &str = "upstream_channel.bonded.a = {}\n";
const HALF: &str = "upstream_channel.bonded.b.phy = { kind = 'sc_qam', symbol_rate_ksps = 2560 }\n";
const OFDMA: &str = "upstream_channel.bonded.c.phy = { kind = 'ofdma', subcarriers = 94 }\n";
const LATE: &str = "upstream_channel.bonded.b.extra_delay_ms = 6\n";

fn channel<'a>(results: &'a Results, name: &str) -> &'a ChannelRow {
    results.channels.iter().find(|row| row.channel == name).expect("there is such a channel")
}

fn part_ms(results: &Results, part: &str) -> f64 {
    results.delay_parts.iter().filter(|row| row.part == part).map(|row| row.mean_ms).sum()
}

fn mbps(keys: &str) -> f64 {
    flow(&run(keys), "flood", "up").throughput_mbps
}

/// Least, mean, 99th percentile and greatest.
fn of_latency(keys: &str) -> [f64; 4] {
    latencies(flow(&run(keys), "flood", "up"))
}

/// Alone in its group a channel is what `channels = 1` is: the same bytes at the same times where grants fill all of it.
#[test]
fn a_group_of_one_channel_is_that_channel() {
    let short = format!("{FLOOD}upstream_channel.channels = 1");
    let group = format!("{FLOOD}{FAST}");
    assert_eq!(mbps(&short), mbps(&group));
    assert_eq!(of_latency(&short), of_latency(&group));
}

/// Channels of 24.8 and 10.8 or 35 Mbps carry the sum, of one kind or two.
#[test]
fn rates_of_unlike_channels_add_up() {
    let one = mbps(&format!("{FLOOD}{FAST}"));
    for other in [HALF, OFDMA] {
        let two = mbps(&format!("{FLOOD}{other}"));
        let both = mbps(&format!("{FLOOD}{FAST}{other}"));
        assert!((both / (one + two) - 1.0).abs() < 0.01, "{one} + {two}: {both}");
    }
}

/// Four channels in phase are what `channels = 4` is, if their request regions together are as long: 2 opportunities each
/// instead of 8. A lone packet goes on one of them instead of all, and has another place in the MAP interval.
#[test]
fn four_channels_in_phase_are_the_short_form() {
    let four = "upstream_channel.bonded = { a = {}, b = {}, c = {}, d = {} }";
    let row = |opportunities: u32, keys: &str| {
        let results = requesting(opportunities, keys);
        let row = flow(&results, "flood", "up");
        (row.throughput_mbps, latencies(row))
    };
    let (short, group) = (row(8, FLOOD), row(2, &format!("{FLOOD}{four}")));
    assert!((group.0 / short.0 - 1.0).abs() < 0.01, "{} {}", group.0, short.0);
    let (short, group) = (row(8, LONE), row(2, &format!("{LONE}{four}")));
    for (short, group) in short.1.iter().zip(group.1) {
        assert!((short - group).abs() < 2.0, "{short} {group}");
    }
}

/// Of two equal channels in phase one is 6 ms late. In each MAP a flow's segment on the other comes first and has to wait for the
/// late one of the MAP before, which has come 6 ms after the interval has begun: 6 ms less the place of the packet in it, 5 ms in
/// the mean, and half of all packets. The rates still add up.
#[test]
fn packets_wait_for_the_late_channel() {
    let alone = mbps(&format!("{FLOOD}{FAST}"));
    let both = run(&format!("{FLOOD}{FAST}{LATE}"));
    let row = flow(&both, "flood", "up");
    assert!((row.throughput_mbps / (2.0 * alone) - 1.0).abs() < 0.01);
    let delivered = row.throughput_mbps / 120.0; // the part of what was sent
    let waits_ms = part_ms(&both, "resequencing") / delivered;
    assert!((waits_ms - 2.5).abs() < 0.15, "{waits_ms}");
}

/// On the late channel alone a request comes 6 ms later, three MAPs, and so does the packet. Places in the MAP interval are
/// random: of 2910 packets the mean is off by 0.58 ms / sqrt(2910) = 0.011 ms in each run, and so are those of requests.
#[test]
fn a_late_channel_delays_requests_and_packets() {
    let [soon, late] = ["", LATE].map(|keys| of_latency(&format!("{LONE}{HALF}{keys}"))[1]);
    assert!((late - soon - 12.0).abs() < 0.1, "{soon} {late}");
}

/// A packet does not wait for a channel with MAPs every 10 ms, if another of its group has one sooner.
#[test]
fn a_slow_map_delays_nobody_who_has_another() {
    let slow = "upstream_channel.bonded.b.map_interval_ms = 10\n";
    let [fast, both, slow] =
        [FAST, &format!("{FAST}{slow}"), slow].map(|keys| of_latency(&format!("{LONE}{keys}"))[1]);
    assert!(both < fast + 0.2 && slow > fast + 5.0, "{fast} {both} {slow}");
}

/// Packets of 1510 B every 0.3 ms are 6.67 in each MAP, half of them on each channel: segments of 5033 B or 22.9 codewords, of
/// which 1 % are lost on one channel, and with them what comes behind them. So 1 - 0.99^22.9 = 20.6 % of its segments have an error,
/// and 1 % have it in their first codeword. Of the packets that end in such a segment 11.1 % are lost (the mean of 1 - 0.99^n
/// over n = 0.5 to 23.4), and of those that begin in it and end in the next 20.6 %: (3.33 x 0.111 + 0.206) / 6.67 = 8.6 % of
/// all.
///
/// A lost segment holds back those behind it for the time-out, and no longer.
#[test]
fn lost_segments_cost_the_timeout() {
    let of = |ms: f64| {
        run(&format!(
            "duration_s = 60
             upstream_channel.resequencing_ms = {ms}
             {FAST}upstream_channel.bonded.b.noise.codeword_error_percent = 1
             traffic.flood = {{ kind = 'stream', purpose = 'data', server = 'near',
                                packet_bytes = 1500, interval_ms = 0.3 }}"
        ))
    };
    let (long, short) = (of(18.0), of(2.0));
    for results in [&long, &short] {
        let [a, b] = ["upstream a", "upstream b"].map(|name| channel(results, name));
        assert_eq!((a.lost_segments, a.given_up_segments), (Some(0), Some(0)));
        let (sent, lost) = (b.segments.unwrap() as f64, b.lost_segments.unwrap() as f64);
        assert!((lost / sent - 0.01).abs() < 0.0025, "{lost} of {sent}"); // 4 sqrt(0.01 / 30 000)
        assert!(b.lost_segments.unwrap() - b.given_up_segments.unwrap() <= 1, "the last may wait");
        let row = flow(results, "flood", "up");
        let share = row.dropped_link_packets as f64 / row.sent_packets as f64;
        assert!((share / 0.086 - 1.0).abs() < 0.08, "{share}");
    }
    let greatest = |results: &Results| latencies(flow(results, "flood", "up"))[3];
    assert!((greatest(&long) - greatest(&short) - 16.0).abs() < 2.0);
    assert!(part_ms(&long, "resequencing") > 2.0 * part_ms(&short, "resequencing"));
}

/// With a time-out above the skew TCP sees a longer way, and with a shorter one it loses what comes late.
#[test]
fn tcp_needs_a_timeout_above_the_skew() {
    let transfer = "duration_s = 10\ntraffic.flood = { kind = 'transfer', server = 'near' }\n";
    let even = "upstream_channel.bonded.b = {}";
    let short = format!("{LATE}upstream_channel.resequencing_ms = 1");
    let [even, waits, loses] =
        [even, LATE, &short].map(|keys| mbps(&format!("{transfer}{FAST}{keys}")));
    assert!(waits > 0.9 * even && loses < 0.5 * even, "{even} {waits} {loses}");
}

/// The order in which a group names its channels acts on nothing, to the picosecond. Other names are other random places in the MAP
/// intervals: rates stay within 1 %, and the mean delay of lone packets within 0.15 ms (0.58 ms / sqrt(2910), several times).
#[test]
fn names_and_their_order_do_not_matter() {
    let of = |keys: &str| [FLOOD, LONE].map(|traffic| of_latency(&format!("{traffic}{keys}")));
    let table = format!("{FAST}{HALF}{OFDMA}upstream.bonding_group = ");
    let all = of(&format!("{table}[]"));
    for group in ["['a', 'b', 'c']", "['c', 'a', 'b']"] {
        assert_eq!(of(&format!("{table}{group}")), all);
    }
    let renamed = [FAST, HALF, OFDMA].concat();
    let renamed = renamed.replace("bonded.a", "bonded.z").replace("bonded.c", "bonded.a");
    let [was, is] = [&table.replace("upstream.bonding_group = ", ""), &renamed]
        .map(|keys| (mbps(&format!("{FLOOD}{keys}")), of_latency(&format!("{LONE}{keys}"))[1]));
    assert!((is.0 / was.0 - 1.0).abs() < 0.01 && (is.1 - was.1).abs() < 0.15, "{was:?} {is:?}");
}

/// A channel is lost for a third of the time: what it carries then is missing, and comes back after it.
#[test]
fn a_channel_fails_and_returns() {
    let lost = "upstream_channel.bonded.b.outages = [{ start_s = 1, length_s = 1 }]";
    let [one, both, some] = ["", "upstream_channel.bonded.b = {}", lost]
        .map(|keys| mbps(&format!("{FLOOD}{FAST}{keys}")));
    let want = (2.0 * both + one) / 3.0;
    assert!((some / want - 1.0).abs() < 0.02, "{some} {want}");
}

/// A modem has one of three channels, and another has two: each has what its channels carry.
#[test]
fn homes_may_have_different_groups() {
    let service = "sustained_mbps = 900, peak_mbps = 1000, burst_bytes = 10_000_000,
                   modem.kind = 'shared_channel'";
    let stream = "kind = 'stream', purpose = 'data', server = 'near', packet_bytes = 1500,
                  interval_ms = 0.1";
    let results = run(&format!(
        "duration_s = 3
         upstream_channel.bonded = {{ a = {{}}, b = {{}}, c = {{}} }}
         homes.one = {{ count = 1, upstream = {{ {service}, bonding_group = ['a'] }} }}
         homes.two = {{ count = 1, upstream = {{ {service}, bonding_group = ['b', 'c'] }} }}
         traffic.one = {{ {stream}, home = 'one' }}
         traffic.two = {{ {stream}, home = 'two' }}"
    ));
    let [one, two] = ["one", "two"].map(|name| flow(&results, name, "up").throughput_mbps);
    assert!((two / one - 2.0).abs() < 0.02, "{one} {two}");
}

/// Two homes with channels of 25 Mbps: one has the first alone, and the other both.
const OLD_AND_NEW: &str = "
    upstream_channel.bonded = { a = {}, b = {} }
    homes.new = { count = 1, upstream = { SERVICE, bonding_group = ['a', 'b'] } }
    homes.old = { count = 1, upstream = { SERVICE, bonding_group = ['a'] } }\n";
const SERVICE: &str = "sustained_mbps = 900, peak_mbps = 1000, burst_bytes = 10_000_000,
                       modem.kind = 'shared_channel'";
const UPLOAD: &str =
    "kind = 'stream', purpose = 'data', server = 'near', packet_bytes = 1500, interval_ms = 0.1";

/// Old and new homes that fill their channels have the same, as many as there are: who has another channel leaves the one
/// that is shared. Four of five homes of the first kind have two thirds...
#[test]
fn homes_with_more_channels_leave_the_shared_one() {
    let network = OLD_AND_NEW.replace("SERVICE", SERVICE);
    let results = run(&format!(
        "duration_s = 3\n{network}
         traffic.new = {{ {UPLOAD}, home = 'new' }}
         traffic.old = {{ {UPLOAD}, home = 'old' }}"
    ));
    let [new, old] = ["new", "old"].map(|name| flow(&results, name, "up").throughput_mbps);
    assert!((new / old - 1.0).abs() < 0.05, "{new} {old}");
}

/// Of two channels of 25 Mbps each, of which `b` is lost for 1 of 4 s, a group with `a` alone has no more than that, one with
/// both has 1.75 times as much in this time, and so have both groups together.
#[test]
fn groups_are_due_what_their_channels_carry() {
    let network = OLD_AND_NEW.replace("SERVICE", SERVICE);
    let scenario = loaded(
        &format!(
            "duration_s = 4
             upstream.sustained_mbps = 900
             downstream.sustained_mbps = 900
             servers.near.delay_ms = 1
             {network}
             upstream_channel.bonded.b.outages = [{{ start_s = 1, length_s = 1 }}]
             traffic.new = {{ {UPLOAD}, home = 'new' }}"
        )
        .replace("bonded = { a = {}, b = {} }", "bonded.a = {}"),
        &[],
    );
    let time = 0.0..4.0;
    let up = Direction::Up;
    let places = |name: &str| scenario.groups().position(|group| group.name == name).unwrap();
    let (new, old) = (places("new"), places("old"));
    let mbit = |group| scenario.channel_mbit(&scenario.group(group), up, &time).unwrap();
    assert!((mbit(new) / mbit(old) - 1.75).abs() < 1e-9);
    assert!(
        (mbit(old) / scenario.channel_mbps(&scenario.group(old), up).unwrap() - 4.0).abs() < 1e-9
    );
    let sets = scenario.shared_mbit(up, &time, &[(new, 1.0), (old, 3.0)]);
    let mut both = vec![new, old];
    both.sort_unstable();
    let groups: Vec<_> = sets.iter().map(|(groups, _)| groups.clone()).collect();
    assert_eq!(groups, [both, vec![old]]);
    assert!((sets[0].1 - mbit(new)).abs() < 1e-9 && (sets[1].1 - mbit(old)).abs() < 1e-9);
}

/// The default burst is enough for the MAPs of a modem's own group, whatever those of other channels.
#[test]
fn a_default_burst_is_enough_for_its_own_group() {
    let network =
        OLD_AND_NEW.replace("SERVICE", "sustained_mbps = 20, modem.kind = 'shared_channel'");
    let results = run(&format!(
        "duration_s = 1\n{network}
         upstream_channel.bonded.b.map_interval_ms = 4
         traffic.up = {{ {UPLOAD}, home = 'new' }}"
    )
    .replace("bonded = { a = {}, b = {} }", "bonded.a = {}"));
    let is_of_burst = |one: &&Warning| one.code == Code::BurstOnSharedChannel;
    assert_eq!(results.warnings.iter().find(is_of_burst), None);
}

#[test]
fn impossible_groups_are_refused() {
    let table = "upstream.modem.kind = 'shared_channel'
        upstream_channel.bonded.a.extra_delay_ms = 0
        upstream_channel.bonded.b.extra_delay_ms = 0";
    for (keys, message) in [
        (
            "upstream.bonding_group = ['a', 'x']",
            "upstream.bonding_group.1: found \"x\"; allowed: channels of upstream_channel.bonded: a, b",
        ),
        (
            "upstream.bonding_group = ['a', 'a', 'b']",
            "upstream.bonding_group.1: found \"a\" again; allowed: each channel once",
        ),
        (
            "upstream.bonding_group = ['a']",
            "upstream_channel.bonded.b: found a channel that no modem uses; allowed: channels of a bonding_group",
        ),
        (
            "upstream_channel.channels = 2",
            "upstream_channel.channels: found beside bonded; allowed: only without the table of channels; use the \
             table",
        ),
        (
            "cable.upstream_noise.codeword_error_percent = 1",
            "cable.upstream_noise: found with upstream_channel.bonded; allowed: only without it; use the noise of \
             its channels",
        ),
        (
            "cable.timing.kind = 'documents'",
            "upstream_channel.bonded: found with cable.timing.kind documents; allowed: only with specification",
        ),
        (
            "upstream.profile_bits = 4",
            "upstream.profile_bits: found 4 with upstream_channel.bonded; allowed: only without it; use the phy of \
             its channels",
        ),
        (
            "upstream.scheduling = { kind = 'real_time_polling', nominal_polling_interval_us = 10_000 }",
            "upstream.scheduling: found unsolicited grants or polls with upstream_channel.bonded; allowed: \
             best_effort",
        ),
        (
            "upstream_channel.bonded.a.map_advance_us = 100",
            "upstream_channel.bonded.a.map_advance_us: found 100; allowed: 992.5 or more, the sum of the fixed \
             times and of the longest cable, there and back",
        ),
        (
            "upstream_channel.bonded.a.phy = { kind = 'sc_qam', symbol_rate_ksps = 0 }",
            "upstream_channel.bonded.a.phy.symbol_rate_ksps: found 0; allowed: a whole number from 160 to \
             5120",
        ),
    ] {
        let text = format!(
            "upstream.sustained_mbps = 5
             downstream.sustained_mbps = 5
             servers.near.delay_ms = 9
             traffic.up = {{ kind = 'transfer', server = 'near' }}
             {table}
             {keys}"
        );
        assert_eq!(refused(&text, &[]), format!("test.toml: {message}"));
    }
    let alone = "upstream.sustained_mbps = 5
        downstream.sustained_mbps = 5
        servers.near.delay_ms = 9
        traffic.up = { kind = 'transfer', server = 'near' }\n";
    for (keys, message) in [
        (
            "upstream_channel.resequencing_ms = 5",
            "upstream_channel.resequencing_ms: found 5 without bonded; allowed: only with a table of channels",
        ),
        (
            "upstream.bonding_group = ['a']",
            "upstream.bonding_group: found without upstream_channel.bonded and a modem of kind shared_channel; \
             allowed: only with both",
        ),
    ] {
        assert_eq!(refused(&format!("{alone}{keys}"), &[]), format!("test.toml: {message}"));
    }
}
