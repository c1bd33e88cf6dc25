//! Instructions per forwarded data packet, counted by callgrind: the same whatever else the machine
//! does, so that a step back shows at once.
//!
//! They differ a little between compilers; `--record` them again with a new one.

use std::collections::BTreeMap;
use std::process::{Command, ExitCode};

use crate::bits;
use crate::cases::Case;

/// How much more than recorded a packet may cost, in percent.
const BOUND_PERCENT: f64 = 5.0;

/// The cases that are guarded: each part of the path is in one of them.
const GUARDED: [&str; 25] = [
    "base DropTail",
    "Linux base DropTail",
    "1000 flows DropTail",
    "base ABB-3",
    "home CoDel",
    "home SFQ-CoDel",
    "home DOCSIS-PIE",
    "home CAKE",
    "home SFB",
    "home CHOKe",
    "home BLUE",
    "home GSP",
    "home AFD",
    "home WFQ",
    "home SCFQ",
    "home Linux-SFQ",
    "home FQ-PIE",
    "home LLD",
    "Linux home CoDel",
    "ledbat DropTail",
    "100 modems DropTail",
    "500 modems DropTail",
    "5000 modems DropTail",
    "group of 1 DropTail",
    "group of 4 DropTail",
];

/// Cases that may cost at most so many times as much as another one.
const RATIOS: [(&str, f64, &str); 16] = [
    ("Linux base DropTail", 1.35, "base DropTail"),
    ("Linux home CoDel", 1.3, "home CoDel"),
    ("1000 flows DropTail", 1.6, "base DropTail"),
    ("5000 modems DropTail", 1.4, "100 modems DropTail"),
    ("group of 4 DropTail", 1.8, "group of 1 DropTail"),
    ("home LLD", 1.3, "home DOCSIS-PIE"),
    ("home CAKE", 1.6, "home CoDel"),
    ("home SFB", 1.3, "home CoDel"),
    ("home CHOKe", 1.3, "home CoDel"),
    ("home BLUE", 1.3, "home CoDel"),
    ("home GSP", 1.3, "home CoDel"),
    ("home AFD", 1.3, "home CoDel"),
    ("home WFQ", 1.3, "home CoDel"),
    ("home SCFQ", 1.3, "home CoDel"),
    ("home Linux-SFQ", 1.3, "home CoDel"),
    ("home FQ-PIE", 1.3, "home CoDel"),
];

/// Instructions per data packet of the case of this name and scheme, where valgrind is installed.
pub(crate) fn per_packet(name: &str) -> Option<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=*counted_part*")
        .arg(std::env::current_exe().ok()?)
        .args(["--counted", name])
        .output()
        .ok()?;
    let packets: f64 = String::from_utf8(output.stdout).ok()?.trim().parse().ok()?;
    let reported = String::from_utf8(output.stderr).ok()?;
    let count = reported.lines().find_map(|line| line.split("Collected :").nth(1))?;
    Some(count.trim().parse::<f64>().ok()? / packets)
}

/// Counts the guarded cases, on as many threads as there are cores.
fn counts(cases: &[Case]) -> Option<BTreeMap<String, f64>> {
    let names: Vec<String> = cases.iter().map(Case::full_name).collect();
    for name in GUARDED {
        assert!(names.iter().any(|known| known == name), "no case is called {name}");
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts = BTreeMap::new();
    for some in GUARDED.chunks(threads) {
        let counted: Vec<Option<f64>> = std::thread::scope(|scope| {
            let running: Vec<_> =
                some.iter().map(|name| scope.spawn(move || per_packet(name))).collect();
            running.into_iter().map(|run| run.join().expect("it does not panic")).collect()
        });
        for (name, count) in some.iter().zip(counted) {
            let count = count?.round();
            println!("{name:<24} {count:>6} instructions a packet");
            counts.insert((*name).to_owned(), count);
        }
    }
    Some(counts)
}

/// Writes the counts to a file.
pub(crate) fn record(cases: &[Case], file: &str) -> ExitCode {
    let Some(counts) = counts(cases) else {
        eprintln!("instructions are counted by valgrind, which is not installed");
        return ExitCode::FAILURE;
    };
    let text = serde_json::to_string_pretty(&counts).expect("it is plain data") + "\n";
    match std::fs::write(file, text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&format!("{file}: {error}")),
    }
}

/// Fails where a count exceeds the recorded one by more than the bound, or its ratio to another one.
pub(crate) fn check(cases: &[Case], file: &str) -> ExitCode {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return fail(&format!("{file}: {error}")),
    };
    let recorded: BTreeMap<String, f64> = match serde_json::from_str(&text) {
        Ok(recorded) => recorded,
        Err(error) => return fail(&format!("{file}: {error}")),
    };
    let differing = bits::differing(cases);
    if !differing.is_empty() {
        return fail(&differing.join("\n"));
    }
    let Some(counts) = counts(cases) else {
        println!("instructions are not checked: valgrind is not installed");
        return ExitCode::SUCCESS;
    };
    let mut failed = 0;
    for (case, count) in &counts {
        let Some(was) = recorded.get(case) else {
            return fail(&format!("{file} has no {case}: --record it"));
        };
        if *count > was * (1.0 + BOUND_PERCENT / 100.0) {
            println!("{case}: {count} instructions a packet, but {was} recorded");
            failed += 1;
        }
    }
    for (case, most, other) in RATIOS {
        let ratio = counts[case] / counts[other];
        if ratio > most {
            println!("{case}: {ratio:.2} times the instructions of {other}, but {most} allowed");
            failed += 1;
        }
    }
    println!("{} passed, {failed} failed", counts.len() + RATIOS.len() - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn fail(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::FAILURE
}
