//! The estimate of a run's memory, held against what the run allocates.

#[path = "swarm/network.rs"]
#[allow(dead_code, unreachable_pub, reason = "the swarm tests use more of it")]
mod network;
#[allow(dead_code, unreachable_pub, reason = "the tests of queues use more of it")]
mod queue_kit;

use peak_alloc::PeakAlloc;
use queue_kit::drawer::Choices;
use sojourn::Simulation;
use sojourn::engine::rng::Rng;
use sojourn::results::metrics::Results;
use sojourn::scenario::estimate;
use sojourn::scenario::{Scenario, load};
use std::sync::Mutex;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// What an estimate may say for each byte that is allocated, beside what every run has.
const FACTOR: f64 = 4.0;
/// What every run has; `sojourn` counts the program in too.
const FIXED_BYTES: f64 = 5e6;

fn scenario(duration_s: f64, more: &str) -> Scenario {
    let text = format!(
        "duration_s = {duration_s}
         upstream.sustained_mbps = 20
         upstream.peak_mbps = 40
         upstream.burst_bytes = 1_000_000
         downstream.sustained_mbps = 100
         downstream.peak_mbps = 200
         downstream.burst_bytes = 1_000_000
         servers.near.delay_ms = 5
         servers.far.delay_ms = 40
         {more}"
    );
    let variants = load(&text, "file", &[]).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    variants.into_iter().next().expect("there is one").scenario
}

/// Networks whose memory is of different kinds.
fn cases() -> Vec<(&'static str, Scenario)> {
    let upload =
        "traffic.upload = { kind = 'transfer', server = 'far', direction = 'up', connections = 4 }";
    let call =
        "traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near' }";
    let many = |more: &str| format!("homes.all = {{ count = 2000 }}\n{more}\n{call}");
    vec![
        ("a home", scenario(20.0, &format!("{upload}\n{call}"))),
        ("many homes", scenario(0.05, &many(""))),
        ("bins", scenario(0.05, &many("upstream.queue = { scheduler = { kind = 'sfq', bins = 512 }, law = { kind = 'codel' } }"))),
        ("other bins", scenario(0.05, &many("downstream.queue = { scheduler = { kind = 'fq', queues = 1024 }, law = { kind = 'pie' } }"))),
        (
            "steps of capacity",
            scenario(
                0.05,
                &many(&format!(
                    "upstream.congestion.steps = [{0}]
                     downstream.capacity.steps = [{0}]
                     router = {{ upstream.capacity.steps = [{0}] }}",
                    "{ for_s = 1, mbps = 9 },".repeat(500)
                )),
            ),
        ),
        ("aggregates", scenario(0.05, &many("upstream.queue.scheduler = { kind = 'low_latency' }"))),
        (
            "a shared channel",
            scenario(0.05, &many("upstream.modem = { kind = 'shared_channel' }\ncmts = { channel = { kind = 'rate', rate_mbps = 1000 } }")),
        ),
        (
            "connections",
            scenario(5.0, "traffic.torrent = { kind = 'torrent', servers = ['near', 'far'], connections = 5000 }"),
        ),
        (
            "accounts",
            scenario(
                400.0,
                "metrics.connections = 1000
                 traffic.torrent = { kind = 'torrent', servers = ['near'], connections = 1000, limit_mbps = 0.05 }",
            ),
        ),
        ("a trace of packets", scenario(20.0, &format!("{upload}\nmetrics.packet_trace = true"))),
        ("a trace of a modem", scenario(20.0, &format!("{upload}\nmetrics.modem_trace = true"))),
        (
            "a full buffer",
            scenario(
                60.0,
                "upstream.queue.limit_bytes = 100_000_000
                 traffic.flood = { kind = 'stream', purpose = 'data', server = 'near', packet_bytes = 200, interval_ms = 0.04 }",
            ),
        ),
        (
            "more than a server's link carries",
            scenario(
                10.0,
                "servers.slow = { delay_ms = 5, rate_mbps = 10 }
                 traffic.flood = { kind = 'stream', purpose = 'data', server = 'slow', direction = 'down', packet_bytes = 200, interval_ms = 0.01 }",
            ),
        ),
        (
            "more for a second than a server's link carries",
            scenario(
                20.0,
                "traffic.flood = { kind = 'stream', purpose = 'data', server = 'near', direction = 'down', packet_bytes = 500, interval_ms = 0.002, stop_s = 1 }",
            ),
        ),
        (
            "more to a server than its link carries",
            scenario(
                30.0,
                "servers.slow = { delay_ms = 5, rate_mbps = 1 }
                 traffic.flood = { kind = 'stream', purpose = 'data', server = 'slow', packet_bytes = 200, interval_ms = 0.05 }",
            ),
        ),
        (
            "a far server",
            scenario(
                10.0,
                "servers.moon = { delay_ms = 1300 }
                 traffic.flood = { kind = 'stream', purpose = 'data', server = 'moon', direction = 'down', packet_bytes = 200, interval_ms = 0.005 }",
            ),
        ),
        (
            "a window before a slow link",
            scenario(
                60.0,
                "servers.slow = { delay_ms = 5, rate_mbps = 50 }
                 tcp.max_window_segments = 1_000_000
                 tcp.congestion_control = { kind = 'cubic', hystart = false }
                 traffic.bulk = { kind = 'transfer', server = 'slow', direction = 'down' }",
            ),
        ),
        (
            "a full window",
            scenario(
                60.0,
                "servers.moon = { delay_ms = 1300 }
                 upstream.queue.limit_bytes = 30_000_000
                 traffic.bulk = { kind = 'transfer', server = 'moon', direction = 'down' }",
            ),
        ),
    ]
}

/// The tests' runs are one after the other, or each would count what the other allocates.
static ALONE: Mutex<()> = Mutex::new(());

/// Bytes that a run of so many events allocates at most, at any one time.
fn allocated(scenario: &Scenario, most_events: u64) -> f64 {
    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    let mut simulation = Simulation::new(scenario);
    simulation.advance(most_events);
    let results: Results = simulation.finish();
    let peak = ALLOCATED.peak_usage();
    drop(results);
    (peak - before) as f64
}

#[test]
fn estimates_are_not_below_what_is_allocated_nor_far_above() {
    let _alone = ALONE.lock();
    let mut wrong = Vec::new();
    for (name, scenario) in cases() {
        let (said, is) = (estimate(&scenario).bytes() as f64, allocated(&scenario, u64::MAX));
        println!("{name}: {:.2} MB estimated, {:.2} MB allocated", said / 1e6, is / 1e6);
        if said < is || said > FIXED_BYTES + FACTOR * is {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn twenty_thousand_homes_with_a_game_take_200_mb() {
    let _alone = ALONE.lock();
    let homes = scenario(
        0.2,
        "homes.all = { count = 20_000 }
         traffic.game = { kind = 'stream', purpose = 'game', server = 'near' }",
    );
    let is = allocated(&homes, u64::MAX);
    println!("{:.0} MB allocated", is / 1e6);
    assert!(is < 200e6, "{is}");
}

/// Of networks of all parts. Their runs are cut after so many events.
#[test]
fn estimates_of_random_networks_are_not_below_what_is_allocated() {
    let _alone = ALONE.lock();
    let mut checked = 0;
    for seed in 0..200 {
        let mut keys = network::keys(Choices::Random(Rng::named(seed, "memory")));
        let Ok(scenario) = network::scenario(&mut keys) else { continue };
        let (said, is) = (estimate(&scenario).bytes() as f64, allocated(&scenario, 50_000));
        println!("{seed}: {:.2} MB estimated, {:.2} MB allocated", said / 1e6, is / 1e6);
        assert!(said >= is, "seed {seed}: {said} estimated, {is} allocated");
        checked += 1;
    }
    assert!(checked >= 50, "{checked}");
}
