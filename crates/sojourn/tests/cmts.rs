//! The downstream channel that homes share: tiers, framing and bonding, against arithmetic.

use crate::common::{flow, loaded, queue, refused, sentences};
use sojourn::Simulation;
use sojourn::input::problem::Code;
use sojourn::results::metrics::Results;
use sojourn_testing::at_random;
use sojourn_testing::proptest::prelude::*;

/// Three homes on 35 Mbps without framing, each flooded with 40 Mbps.
const TIERS: &str = "
    duration_s = 20
    cable = { timing.kind = 'documents', byte_count = 'ip' }
    upstream = { sustained_mbps = 10, peak_mbps = 10, burst_bytes = 3000 }
    downstream = { sustained_mbps = 50, peak_mbps = 50, burst_bytes = 3000 }
    servers.near = { delay_ms = 5 }
    cmts.channel = { kind = 'rate', rate_mbps = 35 }
    cmts.framing = { ethernet_bytes = 0, mac_header_bytes = 0 }
    ";

fn run(text: &str) -> Results {
    Simulation::run(&loaded(text, &[]))
}

fn flood(home: &str, mbps: f64) -> String {
    let interval_ms = 1000.0 * 8e-3 / mbps;
    format!(
        "traffic.{home} = {{ kind = 'stream', purpose = 'data', server = 'near', home = '{home}',
                             direction = 'down', packet_bytes = 1000, interval_ms = {interval_ms} }}\n"
    )
}

fn tiers(keys: &str, homes: [&str; 3]) -> [f64; 3] {
    let names = ["low", "middle", "high"];
    let mut text = format!("{TIERS}{keys}\n");
    for (name, downstream) in names.iter().zip(homes) {
        text += &format!("homes.{name} = {{ downstream = {{ {downstream} }} }}\n");
        text += &flood(name, 40.0);
    }
    let results = run(&text);
    names.map(|name| flow(&results, name, "down").throughput_mbps)
}

fn assert_near(found: [f64; 3], wanted: [f64; 3]) {
    for (found, wanted) in found.iter().zip(wanted) {
        assert!((found / wanted - 1.0).abs() < 0.01, "{found} Mbps for {wanted}");
    }
}

const CAPS: [&str; 3] = [
    "sustained_mbps = 8, peak_mbps = 8",
    "sustained_mbps = 16, peak_mbps = 16",
    "sustained_mbps = 32, peak_mbps = 32",
];
const WEIGHTS: [&str; 3] = [
    "regulator = false, weight = 1",
    "regulator = false, weight = 2",
    "regulator = false, weight = 4",
];

/// Hong 2015 table 3.1. Caps of 8, 16 and 32 Mbps on 35: the lowest has its 8, and the other two half of
/// the 27 that are left, less than their caps.
#[test]
fn conventional_tiers_are_caps_and_then_equal_shares() {
    for kind in ["drr", "wfq", "scfq"] {
        let keys = format!("cmts.queue.scheduler.kind = '{kind}'");
        assert_near(tiers(&keys, CAPS), [8.0, 13.5, 13.5]);
    }
}

/// Hong 2015 table 3.1. 35 Mbps by weights of 1, 2 and 4: 5, 10 and 20.
#[test]
fn new_tiers_are_shares_by_weight() {
    for kind in ["drr", "wfq", "scfq"] {
        for unit in ["service_flow", "connection"] {
            let keys = format!("cmts.queue.scheduler.kind = '{kind}'\ncmts.unit = '{unit}'");
            assert_near(tiers(&keys, WEIGHTS), [5.0, 10.0, 20.0]);
        }
    }
    // By traffic entry, and both together: 1, 4 and 16 of 21.
    let squared = "cmts.queue.scheduler = { kind = 'drr', weights = { middle = 2, high = 4 } }";
    let part = 35.0 / 21.0;
    assert_near(tiers(squared, WEIGHTS), [part, 4.0 * part, 16.0 * part]);
}

/// The token-bucket bound of White 2014 appendix C, which a flood meets: in 20 s at 6 Mbps 15 MB, and the
/// burst; a packet may be missing at the end, and the first comes after 5 ms and the cable's 1 ms.
#[test]
fn a_regulator_caps_the_rate_exactly() {
    let burst = 50_000.0;
    let text = format!(
        "{TIERS}homes.one = {{ downstream = {{ sustained_mbps = 6, peak_mbps = 30, burst_bytes = \
         {burst} }} }}\n{}",
        flood("one", 20.0)
    );
    let results = run(&text);
    let bytes = flow(&results, "one", "down").delivered_bytes as f64;
    let bound = 20.0 * 6e6 / 8.0 + burst;
    assert!(bytes <= bound && bytes > bound - 0.007 * 6e6 / 8.0 - 2000.0, "{bytes} of {bound}");
    // The packets wait in the regulator, not at the channel: it is the bottleneck.
    assert!(queue(&results, "downstream").sojourn_p50_ms.unwrap() > 100.0);
    assert_eq!(queue(&results, "cmts").sojourn_max_ms, Some(0.0));
    let row = results.service_flows.iter().find(|row| row.direction == "down").unwrap();
    let sent = flow(&results, "one", "down");
    assert_eq!(row.policed_drop_packets, sent.dropped_overflow_packets);
    // The burst passes for 8 * 50 kB / (20 - 6) Mbps = 28.57 ms: 71 packets of 1000 B, and all but the
    // last of them are alone with their tokens.
    let at_once = row.forwarded_packets - row.policed_delay_packets;
    assert!((70..=72).contains(&at_once), "{at_once}");
}

/// Hong 2015: 1500 bytes are counted and 1524 sent. 38 Mbps carry 38 * 1500 / 1524 = 37.40 Mbps.
#[test]
fn framing_costs_what_is_not_counted() {
    let text = "
        duration_s = 20
        cable.byte_count = 'ip'
        upstream = { sustained_mbps = 10, peak_mbps = 10, burst_bytes = 3000 }
        downstream = { sustained_mbps = 50, peak_mbps = 50, burst_bytes = 3000, regulator = false }
        servers.near = { delay_ms = 5 }
        cmts.channel = { kind = 'rate', rate_mbps = 38 }
        cmts.framing.mac_header_bytes = 6
        traffic.one = { kind = 'stream', purpose = 'data', server = 'near', direction = 'down',
                        packet_bytes = 1500, interval_ms = 0.25 }";
    let mbps = flow(&run(text), "one", "down").throughput_mbps;
    assert!((mbps / (38.0 * 1500.0 / 1524.0) - 1.0).abs() < 1e-3, "{mbps} Mbps");
}

/// Four channels carry four times as much, and a packet that is alone takes as long as on one:
/// (1500 + 24) * 8 / 37.985 Mbps = 0.32097 ms, after 5 ms and 0.012 ms to the CMTS, and 1 ms of cable.
#[test]
fn a_bonded_packet_takes_one_of_the_channels() {
    let text = |interval_ms: f64| {
        format!(
            "duration_s = 10
             cable = {{ timing.kind = 'documents', byte_count = 'ip' }}
             upstream = {{ sustained_mbps = 10, peak_mbps = 10, burst_bytes = 3000 }}
             downstream = {{ sustained_mbps = 50, peak_mbps = 50, burst_bytes = 3000, regulator = false }}
             servers.near = {{ delay_ms = 5 }}
             cmts.channel = {{ kind = 'sc_qam', channels = 4 }}
             cmts.framing.mac_header_bytes = 6
             traffic.one = {{ kind = 'stream', purpose = 'data', server = 'near', direction = 'down',
                              packet_bytes = 1500, interval_ms = {interval_ms} }}"
        )
    };
    let alone = run(&text(10.0));
    let latency = flow(&alone, "one", "down").latency_max_ms.unwrap();
    assert!((latency - 6.333).abs() < 0.007, "{latency} ms");
    // 200 Mbps come; 4 * 37.985 * 1500 / 1524 = 149.55 Mbps are sent.
    let mbps = flow(&run(&text(0.06)), "one", "down").throughput_mbps;
    assert!((mbps / 149.55 - 1.0).abs() < 2e-3, "{mbps} Mbps");
}

#[test]
fn what_contradicts_the_channel_is_refused() {
    let service = "duration_s = 1
         upstream = { sustained_mbps = 10, peak_mbps = 10, burst_bytes = 3000 }
         servers.near = { delay_ms = 5 }
         traffic.one = { kind = 'transfer', server = 'near' }\n";
    let rates = "sustained_mbps = 50, peak_mbps = 50, burst_bytes = 3000";
    let channel = "cmts.channel = { kind = 'rate', rate_mbps = 35 }";
    let flow = format!("flows.x = {{ {rates}, weight = 2 }}");
    for (downstream, keys, problem) in [
        (
            "regulator = false",
            "",
            "downstream.regulator: found false; allowed: only where cmts is set",
        ),
        ("weight = 2", "", "downstream.weight: found 2; allowed: only where cmts is set"),
        (&flow, "", "downstream.flows.x.weight: found 2; allowed: only where cmts is set"),
        (
            "channel_mbps = 9",
            channel,
            "downstream.channel_mbps: found 9 with cmts; allowed: unset, since cmts.channel sets \
             the rate",
        ),
        (
            "",
            "cmts.channel = { kind = 'ofdm', spacing = '30_khz' }",
            "cmts.channel.spacing: found \
          \"30_khz\"; allowed: 25_khz, 50_khz (did you mean 50_khz?)",
        ),
        (
            "",
            "cmts.channel = { kind = 'sc_qam', channels = 0 }",
            "cmts.channel.channels: found 0; \
          allowed: a whole number from 1 to 64",
        ),
        (
            "",
            "cmts = { channel.kind = 'sc_qam', queue.limit_bytes = 1000 }",
            "cmts.queue.limit_bytes: \
          found 1000; allowed: 1522 or more, so that one packet fits",
        ),
        (
            "",
            "cmts = { channel.kind = 'sc_qam', queue.scheduler = { kind = 'drr', weights.two = 2 } }",
            "cmts.queue.scheduler.weights.two: unknown traffic entry; allowed: one",
        ),
    ] {
        let text = format!("{service}downstream = {{ {rates}, {downstream} }}\n{keys}");
        let found = refused(&text, &[]);
        assert_eq!(found, format!("test.toml: {problem}"));
    }
}

/// Three floods of 40 Mbps on 35. Without reserved rates a third each, 11.667. With 15 Mbps reserved to one, it
/// goes first with these and takes its turns in the other 20, of which each has 6.667; so with two reserved rates,
/// also of a flow behind its regulator.
#[test]
fn a_minimum_reserved_rate_goes_first() {
    let drr = "cmts.queue.scheduler.kind = 'drr'";
    let open = "regulator = false";
    let third = 35.0 / 3.0;
    assert_near(tiers(drr, [open; 3]), [third; 3]);
    let reserved = "regulator = false, minimum_mbps = 15";
    let part = 20.0 / 3.0;
    assert_near(tiers(drr, [open, reserved, open]), [part, 15.0 + part, part]);
    let regulated = "sustained_mbps = 10, peak_mbps = 10, minimum_mbps = 10";
    // 15 and 10 are reserved; 10 are left for the two that may have more.
    assert_near(tiers(drr, [open, reserved, regulated]), [5.0, 20.0, 10.0]);
    // No other scheduler knows of it, nor a round robin of connections; both say so.
    for keys in ["", "cmts.queue.scheduler.kind = 'drr'\ncmts.unit = 'connection'"] {
        let text = format!(
            "{TIERS}{keys}\nhomes.one = {{ downstream = {{ {reserved} }} }}\n{}",
            flood("one", 40.0)
        );
        let warnings = run(&text).warnings;
        let path = "homes.one.downstream.minimum_mbps";
        assert!(warnings.iter().any(|one| (one.code, &*one.path) == (Code::IdleKey, path)));
    }
}

/// A call beside two floods of 40 Mbps, one of them of a higher priority: in its turn it has a call's
/// share of nothing, with its own rate reserved it waits for one packet and is sent at once.
#[test]
fn a_promise_goes_before_priorities() {
    let text = |minimum_mbps: f64| {
        format!(
            "{TIERS}cmts.queue.scheduler.kind = 'drr'
             [homes.one.downstream.flows]
             call = {{ sustained_mbps = 1, peak_mbps = 1, burst_bytes = 3000,
                       minimum_mbps = {minimum_mbps}, match = [{{ traffic = 'call' }}] }}
             first = {{ sustained_mbps = 50, peak_mbps = 50, burst_bytes = 3000, priority = 5,
                        match = [{{ traffic = 'more' }}] }}
             [traffic]
             call = {{ kind = 'stream', purpose = 'data', server = 'near', direction = 'down',
                       packet_bytes = 250, interval_ms = 20 }}
             one = {{ kind = 'stream', purpose = 'data', server = 'near', direction = 'down',
                      packet_bytes = 1000, interval_ms = 0.2 }}
             more = {{ kind = 'stream', purpose = 'data', server = 'near', direction = 'down',
                       packet_bytes = 1000, interval_ms = 0.2 }}"
        )
    };
    assert!(flow(&run(&text(0.0)), "call", "down").delivered_packets < 5);
    // 250 bytes in 20 ms are 0.1 Mbps. A packet of 1000 bytes takes 0.229 ms of 35 Mbps, one of 250 bytes
    // 0.057; 5 ms to the CMTS and 1 ms of cable.
    let results = run(&text(0.1));
    let call = flow(&results, "call", "down");
    assert_eq!(call.delivered_packets, 1000);
    let slowest = call.latency_max_ms.unwrap();
    assert!(slowest < 6.0 + 0.229 + 0.057 + 0.01, "{slowest} ms");
}

#[test]
fn warns_of_more_reserved_than_the_channel_carries() {
    let text = format!(
        "{TIERS}cmts.queue.scheduler.kind = 'drr'
         homes.all = {{ count = 4, downstream.minimum_mbps = 10 }}\n{}",
        flood("all", 40.0)
    );
    let warnings = sentences(run(&text).warnings).join("\n");
    assert!(
        warnings.contains("the minimum_mbps of all downstream service flows add up to 40, but"),
        "{warnings}"
    );
    assert!(warnings.contains("carries at most 35.0"), "{warnings}");
}

/// On a channel of 35 Mbps that two floods of 30 Mbps want: the flow of the higher priority gets all that
/// it sends, the other what is left, and a third of the highest priority waits for one packet at most:
/// 1500 * 8 / 35 Mbps = 0.343 ms and its own 0.050 ms beside 1.017 ms of links and cable.
#[test]
fn a_higher_priority_goes_first() {
    let text = format!(
        "{TIERS}
         homes.low.downstream.flows.data = {{ sustained_mbps = 1000, peak_mbps = 1000,
             burst_bytes = 10_000, priority = 3, match = [{{ traffic = 'more' }}] }}
         homes.low.downstream.flows.voice = {{ sustained_mbps = 1000, peak_mbps = 1000,
             burst_bytes = 10_000, priority = 7, match = [{{ traffic = 'call' }}] }}
         homes.low.downstream.regulator = false
         {}
         traffic.more = {{ kind = 'stream', purpose = 'data', server = 'near', direction = 'down',
                           home = 'low', packet_bytes = 1500, interval_ms = 0.4 }}
         traffic.call = {{ kind = 'stream', purpose = 'voice', direction = 'down', home = 'low' }}",
        flood("low", 30.0)
    );
    let results = run(&text);
    let mbps = |entry| flow(&results, entry, "down").throughput_mbps;
    println!("{:.3} {:.3} {:.3}", mbps("low"), mbps("more"), mbps("call"));
    assert!((mbps("more") - 30.0).abs() < 0.01);
    let left = 35.0 - 30.0 - mbps("call");
    assert!((mbps("low") - left).abs() < 0.02, "{left}");
    let call = flow(&results, "call", "down");
    assert!(call.sent_packets - call.delivered_packets <= 1);
    for name in ["cmts priority 0", "cmts priority 3", "cmts priority 7"] {
        assert!(queue(&results, name).sojourn_mean_ms.is_some());
    }
    let wait = queue(&results, "cmts priority 7").sojourn_max_ms.unwrap();
    assert!(wait <= 0.343, "{wait} ms");
}

/// A scheduler without weights cannot weigh, which the results say.
#[test]
fn warns_of_weights_without_effect() {
    let text = |scheduler: &str| {
        format!(
            "{TIERS}cmts.queue.scheduler.kind = '{scheduler}'
             homes.low = {{ downstream.weight = 2 }}
             homes.more = {{}}\n{}",
            flood("low", 1.0)
        )
    };
    let reported = |scheduler: &str| {
        let warnings = run(&text(scheduler)).warnings;
        warnings.iter().any(|warning| warning.path == "homes.low.downstream.weight")
    };
    assert!(reported("fifo") && reported("sfq"));
    assert!(["drr", "wfq", "scfq", "abb"].iter().all(|scheduler| !reported(scheduler)));
}

at_random! {
    40;

    /// Whatever the channel and its queue, packets are conserved (`Simulation::run` asserts it), those of
    /// a connection stay in order, so that nothing is sent twice where nothing is lost, and the counters
    /// of service flows are those of the accounts.
    #[test]
    fn any_shared_channel_conserves_packets(
        mbps in 2.0..60.0_f64,
        channels in 1_u32..6,
        unit in prop::sample::select(vec!["service_flow", "connection"]),
        scheduler in prop::sample::select(vec!["fifo", "sfq", "fq", "drr", "abb"]),
        law in prop::sample::select(vec!["none", "codel", "docsis_pie"]),
        regulators in any::<[bool; 3]>(),
        minimum_mbps in 0.0..1.0_f64,
        seed in 0_u32..1000,
    ) {
        let rate_mbps = mbps / f64::from(channels);
        let mut text = format!(
            "duration_s = 3\nseed = {seed}
             upstream = {{ sustained_mbps = 5, peak_mbps = 10, burst_bytes = 20_000 }}
             downstream = {{ sustained_mbps = 8, peak_mbps = 16, burst_bytes = 20_000 }}
             servers.near = {{ delay_ms = 3 }}
             cmts = {{ unit = '{unit}', channel = {{ kind = 'rate', rate_mbps = {rate_mbps}, channels = {channels} }},
                       queue = {{ scheduler.kind = '{scheduler}', law.kind = '{law}' }} }}\n"
        );
        for (index, regulator) in regulators.iter().enumerate() {
            text += &format!(
                "homes.h{index} = {{ count = {}, downstream = {{ regulator = {regulator}, weight = {},
                                     flows.calls = {{ sustained_mbps = 1, peak_mbps = 2, burst_bytes = 3000,
                                                      minimum_mbps = {minimum_mbps},
                                                      match = [{{ protocol = 'udp' }}] }} }} }}
                 traffic.load{index} = {{ kind = 'transfer', server = 'near', home = 'h{index}',
                                          direction = 'down', connections = 2 }}
                 traffic.call{index} = {{ kind = 'stream', purpose = 'voice', server = 'near',
                                          home = 'h{index}', direction = 'down' }}\n",
                index + 1, index + 1,
            );
        }
        let results = run(&text);
        let down: Vec<_> = results.flows.iter().filter(|row| row.direction == "down").collect();
        let rows: Vec<_> = results.service_flows.iter().filter(|row| row.direction == "down").collect();
        let dropped: u64 = down.iter().map(|r| r.dropped_overflow_packets + r.dropped_aqm_packets).sum();
        let counted: u64 = rows.iter().map(|r| r.policed_drop_packets + r.dropped_aqm_packets).sum();
        prop_assert_eq!(dropped, counted);
        let passed: u64 = rows.iter().map(|r| r.forwarded_packets).sum();
        let delivered: u64 = down.iter().map(|r| r.delivered_packets).sum();
        prop_assert!(0 < delivered && delivered <= passed);
        if dropped == 0 {
            prop_assert_eq!(down.iter().map(|row| row.retransmitted_packets).sum::<u64>(), 0);
        }
        let carried: f64 = down.iter().map(|row| row.throughput_mbps).sum();
        prop_assert!(carried <= mbps * 1.001, "{} of {} Mbps", carried, mbps);
    }
}
