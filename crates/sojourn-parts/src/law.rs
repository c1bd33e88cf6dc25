//! A program as the law of a queue.

use sojourn_engine::aqm::{
    Aqm, AqmAlgorithm, AqmParameters, Arrival, Departure, DrainRate, Verdict,
};
use sojourn_engine::count::Count;
use sojourn_engine::record::Gauges;
use sojourn_engine::rng::{Rng, Seed};
use sojourn_engine::units::Time;

use super::answers::{Refused, Worker, at_most, between, field, us};
use super::hook::{Hook, verdict};
use super::setting::in_short;
use super::values::Values;

impl AqmParameters for Values {
    fn start(&self, seed: Seed) -> AqmAlgorithm {
        AqmAlgorithm::Outside(Box::new(Law::new(self, seed)))
    }

    fn judges_sojourns(&self) -> bool {
        self.part.declaration().has(Hook::OnDeparture)
    }

    fn target_ms(&self) -> Option<f64> {
        self.get("target_ms")
    }
}

/// A law of plain numbers.
struct Law {
    worker: Worker,
    on_arrival: bool,
    on_departure: bool,
    on_empty: bool,
    interval: Time,
    /// With which probability arriving packets are signalled, until the next update.
    probability: f64,
}

impl Law {
    fn new(values: &Values, seed: Seed) -> Self {
        let worker = Worker::start(values, seed.open().bits());
        let update_us = values.part.declaration().update_us(&values.settings);
        Self {
            on_arrival: worker.has(Hook::OnArrival),
            on_departure: worker.has(Hook::OnDeparture),
            on_empty: worker.has(Hook::OnEmpty),
            interval: update_us.map_or(Time::NEVER, |us| Time::from_secs_f64(us / 1e6)),
            probability: 0.0,
            worker,
        }
    }

    fn judge(&mut self, hook: Hook, now: Time, numbers: &[f64]) -> Verdict {
        self.worker.call((hook, now), numbers, read_verdict).unwrap_or(Verdict::Pass)
    }
}

impl Aqm for Law {
    fn on_arrival(&mut self, packet: &Arrival, outlet: &DrainRate, rng: &mut Rng) -> Verdict {
        if self.probability > 0.0 && rng.uniform() < self.probability * packet.share {
            return Verdict::Signal;
        }
        if !self.on_arrival {
            return Verdict::Pass;
        }
        let Arrival { now, size, backlog, ecn, flow, .. } = *packet;
        let bytes = backlog.bytes as f64;
        let numbers =
            [us(now), size as f64, bytes, drain_us(bytes, outlet), field(ecn), flow.into()];
        self.judge(Hook::OnArrival, now, &numbers)
    }

    fn on_departure(&mut self, packet: &Departure) -> Verdict {
        if !self.on_departure {
            return Verdict::Pass;
        }
        let Departure { now, sojourn, size, left, ecn, flow, .. } = *packet;
        let bytes = left.bytes as f64;
        let numbers = [us(now), size as f64, bytes, us(sojourn), field(ecn), flow.into()];
        self.judge(Hook::OnDeparture, now, &numbers)
    }

    fn on_empty(&mut self, now: Time) {
        if self.on_empty {
            self.worker
                .call((Hook::OnEmpty, now), &[us(now)], |answers| at_most(answers, 0).map(|_| ()));
        }
    }

    fn update_interval(&self) -> Time {
        self.interval
    }

    /// What changes inside the part is not known, so no update is left out.
    fn update(&mut self, now: Time, backlog: Count, outlet: &DrainRate) -> bool {
        let bytes = backlog.bytes as f64;
        let rate = outlet.sustained.bps() as f64;
        let numbers = [us(now), bytes, drain_us(bytes, outlet), rate];
        let answer = self.worker.call((Hook::OnUpdate, now), &numbers, |answers| match answers {
            [probability] => between("probability", *probability, [0.0, 1.0]),
            _ => Err(Refused(format!("found {} answers; allowed: a probability", answers.len()))),
        });
        self.probability = answer.unwrap_or_default();
        answer.is_some()
    }

    fn gauges(&self, out: &mut Gauges) {
        self.worker.gauges(out);
    }
}

fn read_verdict(answers: &[f64]) -> Result<Verdict, Refused> {
    match at_most(answers, 1)?.first().copied().unwrap_or(verdict::PASS) {
        verdict::PASS => Ok(Verdict::Pass),
        verdict::MARK => Ok(Verdict::Signal),
        verdict::DROP => Ok(Verdict::Drop),
        other => Err(Refused(format!(
            "found {} as what to do with a packet; allowed: {} to pass, {} to mark, {} to drop it",
            in_short(other),
            verdict::PASS,
            verdict::MARK,
            verdict::DROP
        ))),
    }
}

fn drain_us(bytes: f64, outlet: &DrainRate) -> f64 {
    outlet.drain_s(bytes) * 1e6
}
