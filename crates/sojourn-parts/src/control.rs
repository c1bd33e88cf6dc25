//! A program as a congestion control.

use sojourn_engine::record::Gauges;
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;
use sojourn_transport::cc::{
    Ack, CongestionControl, CongestionParameters, Connection, Controller, Window,
};

use super::answers::{Refused, Worker, between, us};
use super::hook::Hook;
use super::values::Values;

/// A window has one segment at least, and as many at most.
const MOST_SEGMENTS: f64 = 1e6;
/// The lowest pacing rate in bit/s: one full packet in 1.5 s.
const LEAST_PACING_BPS: f64 = 8e3;
/// The highest one.
const MOST_PACING_BPS: f64 = 1e12;

impl CongestionParameters for Values {
    fn start(&self, connection: &Connection, seed: Seed) -> Controller {
        Controller::Outside(Box::new(Control::new(self, connection, seed)))
    }

    fn is_paced(&self) -> bool {
        self.part.declaration().paced
    }

    fn has_gauges(&self) -> bool {
        !self.part.gauges.is_empty()
    }
}

/// A congestion control of plain numbers.
struct Control {
    worker: Worker,
    on_mark: Hook,
    is_paced: bool,
    mss: f64,
    /// The window in segments that it wanted at first.
    initial: Option<f64>,
    /// In bytes per second.
    pacing: Option<u64>,
}

/// What a control answers: the window in segments, the pacing rate in bytes per second.
type Wanted = (Option<f64>, Option<u64>);

impl Control {
    fn new(values: &Values, connection: &Connection, seed: Seed) -> Self {
        let worker = Worker::start(values, seed.open().bits());
        let mut control = Self {
            on_mark: if worker.has(Hook::OnEcn) { Hook::OnEcn } else { Hook::OnLoss },
            is_paced: values.part.declaration().paced,
            mss: connection.mss as f64,
            initial: None,
            pacing: None,
            worker,
        };
        if control.worker.has(Hook::OnStart) {
            let numbers = [connection.initial_window * control.mss, control.mss];
            control.initial = control.call(Hook::OnStart, Time::ZERO, &numbers);
        }
        control
    }

    /// Calls a hook, and gives the window in segments that it wants, if it wants one.
    fn call(&mut self, hook: Hook, now: Time, numbers: &[f64]) -> Option<f64> {
        let (mss, is_paced) = (self.mss, self.is_paced);
        let read = |answers: &[f64]| read_wanted(answers, mss, is_paced);
        let (window, pacing) = self.worker.call((hook, now), numbers, read)?;
        self.pacing = pacing;
        window
    }

    /// As [`Self::call`], where the window shrinks: slow start, as senders know it, is over.
    fn shrink(&mut self, hook: Hook, now: Time, window: &mut Window, flight: f64) {
        let numbers = [us(now), window.cwnd * self.mss, flight * self.mss];
        if let Some(cwnd) = self.call(hook, now, &numbers) {
            *window = Window { cwnd, ssthresh: cwnd };
        }
    }
}

impl CongestionControl for Control {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(initial) = self.initial.take() {
            window.cwnd = initial;
        }
        let Ack { now, segments, flight, srtt, min_rtt, rtt, max_window, .. } = *ack;
        let rtt = if rtt == Time::ZERO { srtt } else { rtt };
        let bytes = [window.cwnd, flight, segments].map(|segments| segments * self.mss);
        let [cwnd, flight, acked] = bytes;
        let numbers = [us(now), cwnd, flight, acked, us(rtt), us(min_rtt)];
        if let Some(cwnd) = self.call(Hook::OnAck, now, &numbers) {
            window.cwnd = cwnd.min(max_window);
        }
    }

    fn on_loss(&mut self, window: &mut Window, flight: f64, now: Time) {
        self.shrink(Hook::OnLoss, now, window, flight);
    }

    fn on_mark(&mut self, window: &mut Window, flight: f64, now: Time) {
        self.shrink(self.on_mark, now, window, flight);
    }

    fn on_timeout(&mut self, window: &mut Window, flight: f64, now: Time) {
        self.shrink(Hook::OnTimeout, now, window, flight);
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.pacing
    }

    fn gauges(&self, out: &mut Gauges) {
        self.worker.gauges(out);
    }
}

fn read_wanted(answers: &[f64], mss: f64, is_paced: bool) -> Result<Wanted, Refused> {
    let window = answers.first().map(|bytes| {
        between("window in bytes", *bytes, [0.0, f64::MAX])
            .map(|bytes| (bytes / mss).clamp(1.0, MOST_SEGMENTS))
    });
    let bps = answers.get(1).copied().unwrap_or_default();
    let bps = between("pacing rate in bit/s", bps, [0.0, f64::MAX])?;
    if bps > 0.0 && !is_paced {
        let message = format!(
            "found {bps} as pacing rate in bit/s of a control that is not declared as paced"
        );
        return Err(Refused(message));
    }
    let pacing = (bps > 0.0).then(|| (bps.clamp(LEAST_PACING_BPS, MOST_PACING_BPS) / 8.0) as u64);
    Ok((window.transpose()?, pacing))
}
