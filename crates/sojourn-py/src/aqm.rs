//! Parts of queue managers in isolation, for figures of their behaviour.

use std::fmt::Display;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn::engine::aqm::Derandomiser;
use sojourn::engine::aqm::{Aqm, AqmAlgorithm, Arrival, Departure, DrainRate, Verdict};
use sojourn::engine::count::Count;
use sojourn::engine::packet::Ecn;
use sojourn::engine::queue::default_limit_bytes;
use sojourn::engine::record::Gauges;
use sojourn::engine::rng::{Rng, Seed};
use sojourn::engine::units::{BitRate, Time};

use crate::panics::caught;
use crate::variant::Variant;

/// The number of arrivals up to and including each drop, for this many drops at a constant drop
/// probability, with the derandomiser of PIE and DOCSIS-PIE.
#[pyfunction]
pub(crate) fn derandomiser_runs(probability: f64, drops: usize, seed: u64) -> PyResult<Vec<u64>> {
    if !(probability > 0.0 && probability <= 1.0) {
        return Err(refused("probability", probability, "above 0, up to 1"));
    }
    let mut derandomiser = Derandomiser::default();
    let mut rng = Rng::named(seed, "de-randomiser");
    Ok((0..drops).map(|_| run_length(&mut derandomiser, probability, &mut rng)).collect())
}

fn refused(key: &str, found: impl Display, allowed: &str) -> PyErr {
    PyValueError::new_err(format!("{key}: found {found}; allowed: {allowed}"))
}

fn run_length(derandomiser: &mut Derandomiser, probability: f64, rng: &mut Rng) -> u64 {
    derandomiser.reset();
    let mut length = 0;
    loop {
        length += 1;
        derandomiser.accumulate(probability);
        if derandomiser.says_drop(probability, rng) {
            return length;
        }
    }
}

/// Packet size of the open loop in bytes: DOCSIS-PIE's mean packet, and a sixteenth of the bytes
/// over which PIE measures its departure rate, so that neither size adds a factor.
const OPEN_LOOP_BYTES: u64 = 1024;

const MOST_PACKETS: u64 = 1_000_000;

/// Runs an AQM algorithm whose drops have no effect: the downstream algorithm of a scenario in
/// front of its link, with a constant backlog of `backlog` packets, through `arrivals` arrivals and
/// departures.
///
/// Returns the numbers of the arrivals, from 0, that it would have dropped, and its drop
/// probability after each update, if it has one.
#[pyfunction]
pub(crate) fn open_loop(
    variant: &Variant,
    backlog: u64,
    arrivals: u64,
) -> PyResult<(Vec<u64>, Vec<f64>)> {
    for (key, found) in [("backlog", backlog), ("arrivals", arrivals)] {
        if !(1..=MOST_PACKETS).contains(&found) {
            return Err(refused(key, found, "1 to 1000000"));
        }
    }
    caught(|| OpenLoop::new(variant, backlog).run(arrivals))
}

struct OpenLoop {
    aqm: AqmAlgorithm,
    next_update: Time,
    rng: Rng,
    drain_rate: DrainRate,
    backlog: Count,
    probabilities: Vec<f64>,
}

impl OpenLoop {
    fn new(variant: &Variant, backlog: u64) -> Self {
        let link = &variant.scenario.downstream;
        let rate = BitRate::from_mbps(link.sustained_mbps);
        let buffer_bytes = link.queue.limit_bytes.unwrap_or_else(|| default_limit_bytes(rate));
        let seed = Seed::named(variant.scenario.seed, "open loop");
        let aqm = link.queue.law.parameters().start(seed);
        Self {
            next_update: aqm.update_interval(),
            aqm,
            rng: seed.open(),
            drain_rate: DrainRate::steady(rate, buffer_bytes),
            backlog: Count { bytes: backlog * OPEN_LOOP_BYTES, packets: backlog },
            probabilities: Vec::new(),
        }
    }

    fn run(mut self, arrivals: u64) -> (Vec<u64>, Vec<f64>) {
        let gap = self.drain_rate.sustained.time_for(OPEN_LOOP_BYTES);
        let sojourn = gap.times(self.backlog.packets);
        let dropped = (0..arrivals).filter(|n| self.exchange(gap.times(*n), sojourn)).collect();
        (dropped, self.probabilities)
    }

    /// The controller's drop probability, which DOCSIS-PIE shows only while it is not inactive.
    fn probability(&self) -> Option<f64> {
        if let AqmAlgorithm::DocsisPie(law) = &self.aqm {
            return Some(law.probability());
        }
        let mut gauges = Gauges::default();
        self.aqm.gauges(&mut gauges);
        gauges.get("drop_probability")
    }

    /// A packet leaves and another arrives. Returns whether the arrival is dropped.
    fn exchange(&mut self, now: Time, sojourn: Time) -> bool {
        while self.next_update <= now {
            self.aqm.update(self.next_update, self.backlog, &self.drain_rate);
            self.next_update += self.aqm.update_interval();
            self.probabilities.extend(self.probability());
        }
        let (size, left) = (OPEN_LOOP_BYTES, self.backlog);
        let ecn = Ecn::NotEct;
        self.aqm.on_departure(&Departure {
            now,
            sojourn,
            size,
            left,
            own_left: left,
            alone: false,
            ecn,
            is_markable: false,
            flow: 0,
        });
        let backlog = self.backlog;
        let arrival = Arrival { now, size, backlog, share: 1.0, ecn, is_markable: false, flow: 0 };
        self.aqm.on_arrival(&arrival, &self.drain_rate, &mut self.rng) != Verdict::Pass
    }
}
