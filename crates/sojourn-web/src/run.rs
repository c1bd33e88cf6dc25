//! A run in slices.

use serde_json::{Value, json};
use sojourn::Simulation;
use sojourn::engine::units::Time;
use sojourn::results::metrics::Results;
use sojourn::results::verdict::Rows;
use sojourn::scenario::Variant;
use sojourn_parts::Watch;

use crate::columns::{Blob, tables};

/// A run, from its start to its results.
pub(crate) struct Run {
    variant: Variant,
    simulation: Option<Simulation>,
    watch: Watch,
    goes_on: bool,
    results: Option<Results>,
}

impl Run {
    /// Builds the simulation. A page shows no traces of packets, whose memory grows with the run;
    /// they change nothing else.
    pub(crate) fn new(mut variant: Variant, picture_until_s: Option<f64>) -> Self {
        let scenario = &mut variant.scenario;
        scenario.metrics.packet_trace = false;
        scenario.metrics.modem_trace = picture_until_s.is_some();
        if let Some(until_s) = picture_until_s {
            scenario.duration_s = scenario.duration_s.min(until_s);
            scenario.metrics.from_s = 0.0; // the shorter run may end before
        }
        let watch = Watch::default();
        let simulation = Some(watch.within(|| Simulation::new(&variant.scenario)));
        Self { variant, simulation, watch, goes_on: true, results: None }
    }

    /// Handles so many events. Replies how far it is.
    ///
    /// # Errors If a part fails.
    pub(crate) fn advance(&mut self, events: u64) -> Result<Value, String> {
        if let Some(simulation) = &mut self.simulation {
            self.goes_on = self.watch.within(|| simulation.advance(events));
        }
        if let Some(failure) = self.watch.failure() {
            return Err(failure.to_string());
        }
        let now = self.simulation.as_ref().map(Simulation::now);
        let end = Time::from_secs_f64(self.variant.scenario.duration_s);
        let now = if self.goes_on { now.unwrap_or(end).min(end) } else { end };
        Ok(json!({ "goes_on": self.goes_on, "simulated_s": now.secs_f64() }))
    }

    /// The results, once the run has come to its end.
    pub(crate) fn results(&mut self) -> Option<&Results> {
        if !self.goes_on
            && let Some(simulation) = self.simulation.take()
        {
            let mut results = simulation.finish();
            results.warnings.splice(0..0, self.variant.notes.iter().cloned());
            results.warnings.extend(self.watch.warnings());
            self.results = Some(results);
        }
        self.results.as_ref()
    }

    /// The variant that runs.
    pub(crate) fn variant(&self) -> &Variant {
        &self.variant
    }
}

/// Meta data and tables of a run.
pub(crate) fn shown(results: &Results, seed: u64, blob: &mut Blob) -> Value {
    json!({
        "version": results.version,
        // As text: JavaScript has no whole numbers from 2^53 on.
        "seed": seed.to_string(),
        "duration_s": results.duration_s,
        "events": results.events,
        "forwarded_packets": results.forwarded_packets,
        "fingerprint": format!("{:016x}", results.fingerprint),
        "warnings": results.warnings,
        "rows": Rows::from(results),
        "tables": tables(results, blob),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn::scenario::load;

    #[test]
    fn a_picture_of_the_time_before_counting_ends_where_it_is_to() {
        let text = include_str!("../../../scenarios/upload.toml");
        let mut variant = load(text, "upload.toml", &[]).unwrap().swap_remove(0);
        variant.scenario.metrics.from_s = 2.0;
        let mut run = Run::new(variant, Some(0.5));
        while run.advance(10_000).unwrap()["goes_on"] == true {}
        let results = run.results().unwrap();
        let last = results.modem_events.last().unwrap().at.secs_f64();
        assert!((0.4..=0.5).contains(&last), "{last}");
    }
}
