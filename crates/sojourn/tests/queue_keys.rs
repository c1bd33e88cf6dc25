//! Warnings of keys of a queue that have no effect, or that cannot hold a delay at the line's rate.

use crate::common::{flow, loaded, sentences};
use sojourn::Simulation;
use sojourn::input::problem::Code;

/// Warnings of a queue in a modem without request and grant.
fn warnings(mbps: u32, queue: &str) -> Vec<String> {
    let text = format!(
        "duration_s = 5
         upstream = {{ sustained_mbps = {mbps}, modem.kind = 'link', queue = {{ {queue} }} }}
         downstream.sustained_mbps = 50
         servers.near = {{ delay_ms = 5 }}
         traffic.upload = {{ kind = 'transfer', server = 'near' }}"
    );
    sentences(sojourn::warnings(&loaded(&text, &[])))
}

#[test]
fn keys_without_effect() {
    for (queue, key, why) in [
        (
            "law = { kind = 'red', bottom = 0.1 }",
            "law.bottom",
            "where upstream.queue.law.adaptive = false; set upstream.queue.law.adaptive = true",
        ),
        (
            "law = { kind = 'red', min_threshold_packets = 9, target_delay_ms = 9 }",
            "law.target_delay_ms",
            "beside upstream.queue.law.min_threshold_packets: leave one of them out",
        ),
        (
            "scheduler = { kind = 'sfb', rehash_s = 0, warmup_s = 9 }",
            "scheduler.warmup_s",
            "where upstream.queue.scheduler.rehash_s = 0: leave it out",
        ),
        (
            "scheduler = { kind = 'cake', overhead_bytes = 18 }",
            "scheduler.overhead_bytes",
            "on a rate without bandwidth_mbps: it counts in the turns of flows alone",
        ),
        (
            "scheduler = { kind = 'cake', framing = 'atm' }",
            "scheduler.framing",
            "on a rate without bandwidth_mbps: it counts in the turns of flows alone",
        ),
        (
            "scheduler = { kind = 'sfq', one_law = true }",
            "scheduler.one_law",
            "where upstream.queue.law.kind = \"none\": leave it out",
        ),
    ] {
        assert_eq!(warnings(20, queue), [format!("upstream.queue.{key} has no effect {why}")]);
    }
    let half = |law: &str| {
        warnings(
            20,
            &format!("scheduler = {{ kind = 'fq', variant = 'linux' }}, law = {{ {law} }}"),
        )
    };
    assert_eq!(
        half("kind = 'pie'"),
        [
            "upstream.queue.law.kind is not that of Linux, as scheduler.variant is: that is half of Linux' FQ-PIE; set \
          law.kind = \"pie_linux\""
        ]
    );
    assert!(half("kind = 'pie_linux'").is_empty());
    assert!(half("kind = 'codel', variant = 'linux'").is_empty());
}

/// Five packets of 1514 bytes take 61 ms at 1 Mbps, and five of 500 take 20; 20 packets of 1522 fill 250 ms at 1 Mbps
/// with the second flow.
#[test]
fn delays_that_a_slow_line_cannot_hold() {
    let managers = ["law.kind = 'red'", "scheduler.kind = 'choke'", "scheduler.kind = 'sfb'"];
    for queue in
        managers.into_iter().chain(["law.kind = 'afd'", "law.kind = 'blue'", "law.kind = 'gsp'"])
    {
        assert!(warnings(10, queue).is_empty(), "{queue}");
    }
    let [red, choke, sfb] = managers.map(|queue| warnings(1, queue));
    assert_eq!(
        red,
        [
            "upstream.queue.law.target_delay_ms is 5, but the lower threshold is 5 packets of 500 bytes at least, which \
          take 20 ms at 1 Mbps; set min_threshold_packets to 2 for a lower one"
        ]
    );
    assert_eq!(
        choke,
        [
            "upstream.queue.scheduler.target_delay_ms is 15, but the lower threshold is 5 packets of 1514 bytes at least, \
          which take 61 ms at 1 Mbps; set min_threshold_packets to 2 for a lower one"
        ]
    );
    // Whether flows fill the buffer before SFB's target, a run counts.
    assert!(sfb.is_empty(), "{sfb:?}");
}

/// By the rule of `tc` a lower threshold of one packet has an average that never moves.
#[test]
fn an_average_that_never_moves() {
    let found = warnings(10, "scheduler = { kind = 'choke', min_threshold_packets = 1 }");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with(
            "upstream.queue.scheduler.min_threshold_packets gives the average a weight"
        )
    );
    assert!(found[0].ends_with("set min_threshold_packets to 2 or more"), "{found:?}");
    assert!(warnings(10, "scheduler = { kind = 'choke', min_threshold_packets = 2 }").is_empty());
}

/// A packet and a half of 1522 bytes take 4.6 ms at 4 Mbps and 1 ms at 18.264 Mbps. Prague in L then gets less than CUBIC in
/// C, and with the remedy more than before; above that rate it has its part without.
#[test]
fn a_step_of_dualq_below_the_time_of_packets() {
    let linux = |keys: &str| format!("scheduler = {{ kind = 'dualq', variant = 'linux' {keys} }}");
    assert_eq!(
        warnings(4, &linux("")),
        [
            "upstream.queue.scheduler.native_packets is 0, so L's own AQM marks each packet that waits longer than 1 ms, but \
             a packet behind one that waits and one in service waits about 4.6 ms at 4 Mbps; set native_packets to 1"
        ]
    );
    for keys in [", native_packets = 1", ", native_min_us = 4567", ", native_range_us = 3567"] {
        assert!(warnings(4, &linux(keys)).is_empty(), "{keys}");
    }
    assert!(warnings(4, "scheduler.kind = 'dualq'").is_empty());
    assert_eq!([18, 19].map(|mbps| warnings(mbps, &linux("")).len()), [1, 0]);
    let prague_over_cubic = |mbps, delay_ms, keys: &str| {
        let text = format!(
            "duration_s = 25
             metrics.from_s = 5
             upstream = {{ sustained_mbps = {mbps}, modem.kind = 'link', queue.{} }}
             downstream.sustained_mbps = 100
             servers.near.delay_ms = {delay_ms}
             traffic.low = {{ kind = 'transfer', server = 'near', tcp.congestion_control.kind = 'prague' }}
             traffic.classic = {{ kind = 'transfer', server = 'near' }}",
            linux(keys)
        );
        let results = Simulation::run(&loaded(&text, &[]));
        let [low, classic] = ["low", "classic"].map(|name| flow(&results, name, "up").goodput_mbps);
        low / classic
    };
    for (mbps, delay_ms) in [(1, 30), (2, 5), (4, 10), (8, 20), (12, 5), (16, 20)] {
        let [before, after] =
            ["", ", native_packets = 1"].map(|keys| prague_over_cubic(mbps, delay_ms, keys));
        println!("{mbps} Mbps, {delay_ms} ms: {before:.2}, with the remedy {after:.2}");
        assert!(before < 0.8 && after > 1.3 * before, "{mbps} {delay_ms}: {before} {after}");
    }
    assert!(prague_over_cubic(26, 10, "") > 0.9);
}

/// Queues of routers, the core and servers are looked at too, each once.
#[test]
fn queues_elsewhere() {
    let text = "duration_s = 5
        upstream.sustained_mbps = 20
        downstream.sustained_mbps = 50
        homes = { a = {}, b = {} }
        router.upstream = { rate_mbps = 9, queue.scheduler = { kind = 'cake', mpu_bytes = 64 } }
        core.x.downstream = { rate_mbps = 40, queue.law = { kind = 'gsp', threshold_ms = 9, threshold_bytes = 20_000 } }
        servers.near = { delay_ms = 5, rate_mbps = 40, queue.law = { kind = 'red', top = 0.2 } }
        traffic.game = { kind = 'stream', purpose = 'game', server = 'near', home = 'a' }";
    let found = sojourn::warnings(&loaded(text, &[]));
    let idle = found.iter().filter(|one| one.code == Code::IdleKey);
    let keys: Vec<_> = idle.map(|one| &*one.path).collect();
    assert_eq!(
        keys,
        [
            "router.upstream.queue.scheduler.mpu_bytes",
            "core.x.downstream.queue.law.threshold_ms",
            "servers.near.queue.law.top",
        ]
    );
}
