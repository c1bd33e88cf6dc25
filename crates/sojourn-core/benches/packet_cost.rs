//! What a packet costs: CPU time per forwarded data packet.
//!
//! Method: each case runs whole, all metrics on, packet trace off, on one thread. CPU time is that of
//! the process (not the clock on the wall), from the first wake-up to the last; loading and
//! reporting are left out. A data packet is one delivered end to end with payload, so the cost of
//! its acknowledgement is in its price. Of five runs the fastest is given, since whatever else the
//! machine does only adds, and the slowest beside it, to show how much that was.

use rustix::time::{ClockId, clock_gettime};
use sojourn_core::network::Simulation;
use sojourn_core::scenario::{Scenario, load};

const RUNS: usize = 5;
/// Modems on one upstream channel.
const MODEMS: [u32; 4] = [1, 10, 100, 500];
const CASES: [(&str, &str); 2] = [
    ("home", include_str!("../../../scenarios/home.toml")),
    ("eleven-uploads", include_str!("../../../scenarios/eleven-uploads.toml")),
];

struct Cost {
    cpu_s: f64,
    events: u64,
    data_packets: u64,
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn run(scenario: &Scenario) -> Cost {
    let mut simulation = Simulation::new(scenario);
    let start = cpu_seconds();
    while simulation.advance(u64::MAX) {}
    let cpu_s = cpu_seconds() - start;
    let results = simulation.finish();
    Cost { cpu_s, events: results.events, data_packets: results.forwarded_packets }
}

/// So many modems with an upload each, which together fill four bonded channels.
fn neighbourhood(modems: u32) -> Scenario {
    let text = format!(
        "duration_s = 20
         upstream = {{ sustained_mbps = 100, peak_mbps = 100, burst_bytes = 10_000,
                       modem.kind = 'shared_channel', queue.limit_bytes = 200_000 }}
         downstream = {{ sustained_mbps = 100, peak_mbps = 100, burst_bytes = 10_000 }}
         homes.all = {{ count = {modems} }}
         servers.near = {{ delay_ms = 9, rate_mbps = 10_000 }}
         traffic.save = {{ kind = 'transfer', server = 'near', start_spread_s = 1 }}"
    );
    load(&text, "neighbourhood", &[]).expect("it is valid").swap_remove(0).scenario
}

/// What an idle home with four service flows each way on the shared channel takes of memory, in
/// bytes, where the system tells.
fn idle_home_bytes() -> Option<u64> {
    const HOMES: u64 = 5000;
    let flow =
        "sustained_mbps = 1\npeak_mbps = 2\nburst_bytes = 3000\nqueue.law.kind = 'docsis_pie'";
    let mut text = format!(
        "duration_s = 1\nhomes.all = {{ count = {HOMES} }}\nservers.near = {{ delay_ms = 9 }}
         traffic.save = {{ kind = 'transfer', server = 'near', start_s = 2 }}
         upstream.modem.kind = 'shared_channel'\n"
    );
    for way in ["upstream", "downstream"] {
        for table in ["", ".flows.a", ".flows.b", ".flows.c"] {
            for key in flow.lines() {
                text += &format!("{way}{table}.{key}\n");
            }
        }
    }
    let scenario = load(&text, "idle", &[]).expect("it is valid").swap_remove(0).scenario;
    let before = resident_bytes()?;
    let simulation = Simulation::new(&scenario);
    let taken = resident_bytes()?.saturating_sub(before);
    drop(simulation);
    Some(taken / HOMES)
}

/// Memory of this process, as Linux tells it: pages of 4 kB.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split(' ').nth(1)?.parse::<u64>().ok().map(|pages| 4096 * pages)
}

fn print_case(case: &str, scheme: &str, scenario: &Scenario) {
    let mut costs: Vec<Cost> = (0..RUNS).map(|_| run(scenario)).collect();
    costs.sort_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s));
    let packets = costs[0].data_packets as f64;
    let (fastest, slowest) = (costs[0].cpu_s, costs[RUNS - 1].cpu_s);
    println!(
        "{case:<15} {scheme:<15} {:>8.3} {:>8.3} {:>12.0} {:>9.2} {:>10.0}",
        fastest * 1e6 / packets,
        slowest * 1e6 / packets,
        packets / fastest,
        costs[0].events as f64 / packets,
        scenario.duration_s / fastest,
    );
}

fn main() {
    println!("CPU time per forwarded data packet; fastest and slowest of {RUNS} runs");
    println!(
        "{:<15} {:<15} {:>8} {:>8} {:>12} {:>9} {:>10}",
        "case", "queue", "us/pkt", "slowest", "packets/s", "events", "sim s/s"
    );
    for (case, text) in CASES {
        let variants = load(text, case, &[]).expect("the scenarios of the project are valid");
        for variant in variants {
            let scheme = if variant.name.is_empty() { "DropTail" } else { &variant.name };
            print_case(case, scheme, &variant.scenario);
        }
    }
    for modems in MODEMS {
        print_case(&format!("{modems} modems"), "DropTail", &neighbourhood(modems));
    }
    if let Some(bytes) = idle_home_bytes() {
        println!("an idle home with four service flows each way takes {bytes} bytes");
    }
}
