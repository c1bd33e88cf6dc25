//! Measures one run, in a process of its own.

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use sojourn::Simulation;
use sojourn::engine::units::Time;
use sojourn::scenario::Scenario;

use crate::cases::Case;

/// What a run cost.
pub(crate) struct Cost {
    pub cpu_s: f64,
    pub sim_s: f64,
    pub events: u64,
    pub data_packets: u64,
    pub peak_rss_mib: f64,
}

impl Cost {
    pub(crate) fn us_per_packet(&self) -> f64 {
        self.cpu_s * 1e6 / self.data_packets as f64
    }

    pub(crate) fn to_json(&self) -> Value {
        json!([self.cpu_s, self.sim_s, self.events, self.data_packets, self.peak_rss_mib])
    }

    pub(crate) fn of_json(value: &Value) -> Option<Self> {
        Some(Self {
            cpu_s: value[0].as_f64()?,
            sim_s: value[1].as_f64()?,
            events: value[2].as_u64()?,
            data_packets: value[3].as_u64()?,
            peak_rss_mib: value[4].as_f64()?,
        })
    }
}

/// CPU time of this process, which no other load changes much, unlike that on the wall.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// A figure of this process in KiB, as Linux reports it.
fn status_kib(key: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Runs it whole, all metrics on. Loading and reporting are not in the time.
pub(crate) fn run(scenario: &Scenario) -> Cost {
    let mut simulation = Simulation::new(scenario);
    let start = cpu_seconds();
    while simulation.advance(u64::MAX) {}
    let cpu_s = cpu_seconds() - start;
    let results = simulation.finish();
    Cost {
        cpu_s,
        sim_s: scenario.duration_s,
        events: results.events,
        data_packets: results.forwarded_packets,
        peak_rss_mib: status_kib("VmHWM:").unwrap_or_default() as f64 / 1024.0,
    }
}

/// The part of a run whose instructions are counted: callgrind switches counting on and off by this
/// function's name.
#[inline(never)]
fn counted_part(simulation: &mut Simulation, end: Time) {
    while simulation.now() < end && simulation.advance(256) {}
}

/// Runs it until it has settled, and counts its part that follows; gives the data packets of that.
pub(crate) fn run_counted(case: &Case) -> u64 {
    let part = |share: f64| Time::from_secs_f64(share * case.scenario.duration_s);
    let mut simulation = Simulation::new(&case.scenario);
    while simulation.now() < part(case.settled) && simulation.advance(256) {}
    let before = simulation.forwarded_packets();
    counted_part(&mut simulation, part(case.settled + case.counted));
    simulation.forwarded_packets() - before
}

/// Bytes of memory and microseconds of CPU time per simulated second that a home takes, where the
/// system reports.
pub(crate) fn idle(scenario: &Scenario, homes: u64) -> Option<(u64, f64)> {
    let before = status_kib("VmRSS:")?;
    let mut simulation = Simulation::new(scenario);
    let taken = status_kib("VmRSS:")?.saturating_sub(before) * 1024;
    let start = cpu_seconds();
    while simulation.advance(u64::MAX) {}
    let cpu_us = (cpu_seconds() - start) * 1e6;
    Some((taken / homes, cpu_us / scenario.duration_s / homes as f64))
}
