//! What a packet costs: CPU time and instructions per forwarded data packet.
//!
//! Method: each case runs whole, all metrics on, packet trace off, on one thread, in a process of its
//! own. CPU time is that of the process, from the first wake-up to the last; loading and reporting
//! are left out. A data packet is one delivered end to end with payload, so the cost of its
//! acknowledgement is in its price. Of five runs the fastest is given, since whatever else the
//! machine does only adds, and the slowest beside it, to show how much that was. Instructions are
//! counted by callgrind, where valgrind is installed, over a twentieth of the run, once all connections are past
//! their slow start, and with many modems over all that follows.
//!
//! `--out FILE` writes the figures as JSON. `--check FILE` counts the instructions of some cases and fails
//! where one has grown beyond its bound over those in the file, or costs too much more than another one, and where
//! this build gives other fingerprints than that of the tests;
//! `--record FILE` writes them. `--only TEXT` takes the cases in whose name and scheme the text occurs.

mod bits;
mod cases;
mod instructions;
mod measure;

use std::process::{Command, ExitCode};

use cases::Case;
use measure::Cost;
use serde_json::{Value, json};

const RUNS: usize = 5;
const IDLE_HOMES: u64 = 5000;

/// What the command line asks for.
#[derive(Default)]
struct Arguments {
    /// In a process of its own: one case, by its name and scheme.
    one: Option<String>,
    counted: Option<String>,
    idle: bool,
    only: String,
    out: Option<String>,
    check: Option<String>,
    record: Option<String>,
}

impl Arguments {
    fn read() -> Self {
        let mut read = Self::default();
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_default();
            match word.as_str() {
                "--one" => read.one = Some(value()),
                "--counted" => read.counted = Some(value()),
                "--idle" => read.idle = true,
                "--only" => read.only = value(),
                "--out" => read.out = Some(value()),
                "--check" => read.check = Some(value()),
                "--record" => read.record = Some(value()),
                _ => {} // what cargo adds
            }
        }
        read
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::read();
    let cases = cases::all();
    let named = |name: &String| {
        let case = cases.iter().find(|case| case.full_name() == *name);
        case.unwrap_or_else(|| panic!("there is no case {name}"))
    };
    if let Some(name) = &arguments.one {
        println!("{}", measure::run(&named(name).scenario).to_json());
    } else if let Some(name) = &arguments.counted {
        println!("{}", measure::run_counted(named(name)));
    } else if arguments.idle {
        let (bytes, us) = measure::idle(&cases::idle(IDLE_HOMES), IDLE_HOMES).unwrap_or_default();
        println!("{}", json!([bytes, us]));
    } else if let Some(file) = &arguments.check {
        return instructions::check(&cases, file);
    } else if let Some(file) = &arguments.record {
        return instructions::record(&cases, file);
    } else {
        let is_chosen = |case: &&Case| case.full_name().contains(&arguments.only);
        table(cases.iter().filter(is_chosen), arguments.out.as_deref());
    }
    ExitCode::SUCCESS
}

/// This program in a process of its own; what it prints, as JSON.
fn child(arguments: &[&str]) -> Option<Value> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new(program).args(arguments).output().ok()?;
    serde_json::from_slice(&output.stdout).ok()
}

fn table<'a>(cases: impl Iterator<Item = &'a Case>, out: Option<&str>) {
    println!("CPU time per forwarded data packet; fastest and slowest of {RUNS} runs");
    println!(
        "{:<11} {:<15} {:>7} {:>7} {:>7} {:>10} {:>7} {:>9} {:>7}",
        "case", "queue", "us/pkt", "slowest", "instr.", "packets/s", "events", "sim s/s", "MiB"
    );
    let mut rows = Vec::new();
    for case in cases {
        let name = case.full_name();
        let run = |_| child(&["--one", &name]).and_then(|cost| Cost::of_json(&cost));
        let mut costs: Vec<Cost> = (0..RUNS).filter_map(run).collect();
        costs.sort_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s));
        let (Some(best), Some(worst)) = (costs.first(), costs.last()) else {
            println!("{:<11} {:<15} failed", case.name, case.scheme);
            continue;
        };
        let instructions = instructions::per_packet(&name);
        let packets = best.data_packets as f64;
        println!(
            "{:<11} {:<15} {:>7.3} {:>7.3} {:>7} {:>10.0} {:>7.2} {:>9.0} {:>7.1}",
            case.name,
            case.scheme,
            best.us_per_packet(),
            worst.us_per_packet(),
            instructions.map_or("-".into(), |count| format!("{count:.0}")),
            packets / best.cpu_s,
            best.events as f64 / packets,
            best.sim_s / best.cpu_s,
            best.peak_rss_mib,
        );
        rows.push(json!({
            "case": case.name,
            "scheme": case.scheme,
            "us_per_packet": best.us_per_packet(),
            "slowest_us_per_packet": worst.us_per_packet(),
            "instructions_per_packet": instructions,
            "packets_per_s": packets / best.cpu_s,
            "events_per_packet": best.events as f64 / packets,
            "sim_s_per_s": best.sim_s / best.cpu_s,
            "peak_rss_mib": best.peak_rss_mib,
        }));
    }
    if let Some(idle) = child(&["--idle"]) {
        println!(
            "an idle home with four service flows each way takes {} bytes and {:.2} us of CPU a \
             simulated second",
            idle[0],
            idle[1].as_f64().unwrap_or_default(),
        );
    }
    if let Some(out) = out {
        let text = serde_json::to_string_pretty(&rows).expect("it is plain data") + "\n";
        let draft = format!("{out}.part");
        let written = std::fs::write(&draft, text).and_then(|()| std::fs::rename(&draft, out));
        written.unwrap_or_else(|error| eprintln!("{out}: {error}"));
    }
}
