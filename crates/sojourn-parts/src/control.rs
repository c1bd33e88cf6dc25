//! A program as a congestion control.

use sojourn_engine::record::Gauges;
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;
use sojourn_transport::EcnMode;
use sojourn_transport::bursts::BurstLimit;
use sojourn_transport::cc::{
    Ack, CongestionControl, CongestionParameters, Connection, Controller, EcnFeedback, Restart,
    RoundTrip, Window, one_way_us,
};
use sojourn_transport::rate::{LossPhase, RateSample};

use super::answers::{LEAST_TIMER, Refused, Worker, at_most, between, is_now, us};
use super::hook::{EXTENDED, Hook};
use super::setting::in_short;
use super::values::Values;

/// A window has one segment at least, and as many at most.
const MOST_SEGMENTS: f64 = 1e6;
/// The lowest pacing rate in bit/s: one full packet in 1.5 s.
const LEAST_PACING_BPS: f64 = 8e3;
/// The highest one.
const MOST_PACING_BPS: f64 = 1e12;
/// The longest burst in us.
const MOST_BURST_US: f64 = 1e6;

impl CongestionParameters for Values {
    fn start(&self, connection: &Connection, seed: Seed) -> Controller {
        Controller::Outside(Box::new(Control::new(self, connection, seed)))
    }

    fn wants_samples(&self) -> bool {
        self.part.declaration().has(Hook::OnSample)
    }

    fn wants_acknowledgements(&self) -> bool {
        self.part.declaration().has(Hook::OnAck)
    }

    fn is_scalable(&self) -> bool {
        self.part.declaration().has(Hook::OnFeedback)
    }

    fn needs_timestamps(&self) -> bool {
        self.part.declaration().timestamps
    }

    fn has_timers(&self) -> bool {
        self.part.declaration().has(Hook::OnWake)
    }

    fn is_paced(&self) -> bool {
        self.part.declaration().paces()
    }

    fn usual_ecn(&self) -> EcnMode {
        match self.part.declaration().ecn {
            Some(ecn) => ecn,
            None if self.is_scalable() => EcnMode::Accecn,
            None => EcnMode::Off,
        }
    }

    fn has_gauges(&self) -> bool {
        !self.part.gauges.is_empty()
    }
}

/// A congestion control of plain numbers.
struct Control {
    worker: Worker,
    is_extended: bool,
    on_mark: Hook,
    is_paced: bool,
    mss: f64,
    max_window: f64,
    /// The window in segments that it was to begin with, and the one that it wants.
    given: f64,
    initial: Option<f64>,
    /// The threshold in segments that it wants at first.
    initial_threshold: Option<f64>,
    /// In bytes per second.
    pacing: Option<u64>,
    burst: Option<BurstLimit>,
    holds_back: bool,
    /// When it wants to be woken.
    due: Time,
}

/// What a control answers.
#[derive(Default)]
struct Wanted {
    /// In segments.
    window: Option<f64>,
    /// In segments.
    threshold: Option<f64>,
    /// In bytes per second.
    pacing: Option<u64>,
    burst: Option<BurstLimit>,
    holds_back: bool,
    wake: Option<Time>,
}

/// What becomes of the threshold of slow start where the part says nothing of it.
#[derive(Clone, Copy, PartialEq)]
enum Threshold {
    Stays,
    /// The window shrinks: slow start, as senders know it, is over.
    IsWindow,
}

impl Control {
    fn new(values: &Values, connection: &Connection, seed: Seed) -> Self {
        let worker = Worker::start(values, seed.open().bits());
        let marks = [Hook::OnMark, Hook::OnEcn];
        let mut control = Self {
            on_mark: marks.into_iter().find(|hook| worker.has(*hook)).unwrap_or(Hook::OnLoss),
            is_extended: values.part.declaration().interface == EXTENDED,
            is_paced: values.part.declaration().paces(),
            mss: connection.mss as f64,
            max_window: connection.max_window,
            given: connection.initial_window,
            initial: None,
            initial_threshold: None,
            pacing: None,
            burst: None,
            holds_back: false,
            due: Time::NEVER,
            worker,
        };
        let start = [connection.initial_window, 1.0, connection.max_window];
        let numbers = start.map(|segments| segments * control.mss);
        if let Some(wanted) = control.call(Hook::OnStart, Time::ZERO, &numbers) {
            (control.initial, control.initial_threshold) = (wanted.window, wanted.threshold);
        }
        control
    }

    fn bytes(&self, segments: f64) -> f64 {
        segments * self.mss
    }

    fn counted(&self, segments: u64) -> f64 {
        self.bytes(segments as f64)
    }

    /// Calls a hook, if the part has it, and keeps what it wants beside the window.
    fn call(&mut self, hook: Hook, now: Time, numbers: &[f64]) -> Option<Wanted> {
        if !self.worker.has(hook) {
            return None;
        }
        let (mss, is_paced, is_extended) = (self.mss, self.is_paced, self.is_extended);
        let place = usize::from(hook != Hook::OnStart);
        let given = numbers.get(place).copied();
        let has_wake = self.worker.has(Hook::OnWake);
        let read = |answers: &[f64]| {
            let answers = at_most(answers, if is_extended { 7 } else { 2 })?;
            let is_changed = answers.first().is_some_and(|window| Some(*window) != given);
            let wanted = read_wanted(answers, mss, is_paced, (hook, now))?;
            if !has_wake && wanted.wake.is_some_and(|at| at < Time::NEVER) {
                return Err(Refused(
                    "found a time to be woken and no on_wake; allowed: both".to_owned(),
                ));
            }
            Ok((wanted, is_changed))
        };
        let (wanted, is_changed) = self.worker.call((hook, now), numbers, read)?;
        let is_changed = is_changed || wanted.pacing.is_some();
        if is_changed || matches!(hook, Hook::OnAck | Hook::OnSample | Hook::OnFeedback) {
            self.worker.has_set("window_bytes", is_changed);
        }
        (self.pacing, self.burst) = (wanted.pacing, wanted.burst);
        self.holds_back = wanted.holds_back;
        self.due = wanted.wake.unwrap_or(self.due);
        Some(wanted)
    }

    /// Calls a hook that may set window and threshold.
    fn set(
        &mut self,
        (hook, threshold): (Hook, Threshold),
        now: Time,
        window: &mut Window,
        numbers: &[f64],
    ) {
        let Some(wanted) = self.call(hook, now, numbers) else { return };
        if let Some(cwnd) = wanted.window {
            let is_bounded = self.is_extended || hook == Hook::OnAck;
            window.cwnd = if is_bounded { cwnd.min(self.max_window) } else { cwnd };
            if threshold == Threshold::IsWindow {
                window.ssthresh = cwnd;
            }
        }
        if let Some(ssthresh) = wanted.threshold {
            window.ssthresh = ssthresh;
        }
    }

    /// Loss, mark or timeout.
    fn shrink(&mut self, hook: Hook, now: Time, window: &mut Window, flight: f64) {
        let [cwnd, flight, ssthresh] =
            [window.cwnd, flight, window.ssthresh].map(|segments| self.bytes(segments));
        self.set((hook, Threshold::IsWindow), now, window, &[us(now), cwnd, flight, ssthresh]);
    }

    /// The window with which it wants to begin.
    fn begin(&mut self, window: &mut Window) {
        if let Some(initial) = self.initial.take() {
            window.cwnd = initial;
        }
    }

    fn both(&self, window: &Window) -> [f64; 2] {
        [window.cwnd, window.ssthresh].map(|segments| self.bytes(segments))
    }
}

/// A time that is zero where nothing was measured.
fn known(time: Time) -> f64 {
    if time == Time::ZERO { f64::NAN } else { us(time) }
}

fn flag(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}

fn phase(phase: LossPhase) -> f64 {
    match phase {
        LossPhase::Open => 0.0,
        LossPhase::Recovery => 1.0,
        LossPhase::AfterTimeout => 2.0,
    }
}

impl CongestionControl for Control {
    fn on_established(&mut self, window: &mut Window, srtt: Time, now: Time) {
        // After a lost SYN the window is another one.
        if self.is_extended && window.cwnd == self.given {
            self.begin(window);
            window.ssthresh = self.initial_threshold.unwrap_or(window.ssthresh);
        }
        let [cwnd, ssthresh] = self.both(window);
        let numbers = [us(now), cwnd, ssthresh, known(srtt)];
        self.set((Hook::OnEstablished, Threshold::Stays), now, window, &numbers);
    }

    fn on_round_trip(&mut self, window: &mut Window, trip: &RoundTrip) {
        if !self.worker.has(Hook::OnRoundTrip) {
            return;
        }
        let RoundTrip { now, rtt, srtt, min_rtt, one_way, una, nxt, .. } = *trip;
        let [cwnd, ssthresh] = self.both(window);
        let numbers = [
            us(now),
            cwnd,
            ssthresh,
            known(rtt),
            known(srtt),
            known(min_rtt),
            one_way_us(one_way),
            una as f64,
            nxt as f64,
        ];
        self.set((Hook::OnRoundTrip, Threshold::Stays), now, window, &numbers);
    }

    fn on_sample(&mut self, window: &mut Window, sample: &RateSample) {
        let [cwnd, ssthresh] = self.both(window);
        let rate = sample.rate;
        let of_rate = |count: u64| rate.map_or(f64::NAN, |_| self.counted(count));
        let then = rate.unwrap_or_default();
        let per_second = rate.map_or(f64::NAN, |rate| rate.per_second());
        let numbers = [
            us(sample.now),
            cwnd,
            ssthresh,
            self.counted(sample.in_flight),
            self.counted(sample.prior_in_flight),
            self.counted(sample.delivered),
            us(sample.delivered_at),
            self.counted(sample.newly_delivered),
            self.counted(sample.lost),
            self.counted(sample.newly_lost),
            8.0 * self.bytes(per_second),
            of_rate(then.delivered),
            rate.map_or(f64::NAN, |rate| us(rate.interval)),
            rate.map_or(f64::NAN, |rate| flag(rate.is_app_limited)),
            of_rate(then.prior_delivered),
            of_rate(then.in_flight_then),
            of_rate(then.lost_since),
            known(sample.rtt),
            known(sample.srtt),
            known(sample.min_rtt),
            one_way_us(sample.one_way),
            flag(sample.may_be_delayed),
            phase(sample.phase),
            flag(sample.is_window_limited),
            us(sample.next_departure),
        ];
        self.set((Hook::OnSample, Threshold::Stays), sample.now, window, &numbers);
    }

    fn on_feedback(&mut self, window: &mut Window, feedback: &EcnFeedback) {
        let EcnFeedback { now, delivered, marked, una, nxt, srtt, is_recovering } = *feedback;
        let [cwnd, ssthresh] = self.both(window);
        let numbers = [
            us(now),
            cwnd,
            ssthresh,
            self.bytes(delivered),
            self.bytes(marked),
            known(srtt),
            una as f64,
            nxt as f64,
            flag(is_recovering),
        ];
        self.set((Hook::OnFeedback, Threshold::Stays), now, window, &numbers);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !self.is_extended {
            self.begin(window);
        }
        let Ack { now, segments, flight, srtt, min_rtt, rtt, one_way, .. } = *ack;
        let latest = if rtt == Time::ZERO { srtt } else { rtt };
        let [cwnd, ssthresh] = self.both(window);
        let [flight, acked] = [flight, segments].map(|segments| self.bytes(segments));
        let numbers = [
            us(now),
            cwnd,
            flight,
            acked,
            us(latest),
            us(min_rtt),
            ssthresh,
            known(srtt),
            one_way_us(one_way),
        ];
        self.set((Hook::OnAck, Threshold::Stays), now, window, &numbers);
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

    fn on_undo(&mut self, window: &mut Window, before: &Window) {
        if !self.worker.has(Hook::OnUndo) {
            window.raise_to(before);
            return;
        }
        let [cwnd, ssthresh] = self.both(window);
        let [previous, threshold] = self.both(before);
        let now = self.worker.now();
        let numbers = [us(now), cwnd, ssthresh, previous, threshold];
        self.set((Hook::OnUndo, Threshold::Stays), now, window, &numbers);
    }

    fn on_restart(&mut self, window: &mut Window, restart: &Restart) {
        let Restart { now, idle, is_app_limited } = *restart;
        let [cwnd, ssthresh] = self.both(window);
        let is_app_limited = is_app_limited.map_or(f64::NAN, flag);
        let numbers = [us(now), cwnd, ssthresh, us(idle), is_app_limited];
        self.set((Hook::OnRestart, Threshold::Stays), now, window, &numbers);
    }

    fn on_wake(&mut self, window: &mut Window, flight: f64, now: Time) {
        self.due = Time::NEVER;
        let [cwnd, ssthresh] = self.both(window);
        let numbers = [us(now), cwnd, ssthresh, self.bytes(flight)];
        self.set((Hook::OnWake, Threshold::Stays), now, window, &numbers);
    }

    fn due(&self) -> Time {
        self.due
    }

    fn holds_back(&self) -> bool {
        self.holds_back
    }

    fn burst_limit(&self) -> Option<BurstLimit> {
        self.burst
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.pacing
    }

    fn gauges(&self, out: &mut Gauges) {
        self.worker.gauges(out);
    }
}

/// The answers in order; those that are missing or NaN say nothing.
fn read_wanted(
    answers: &[f64],
    mss: f64,
    is_paced: bool,
    (hook, now): (Hook, Time),
) -> Result<Wanted, Refused> {
    let said =
        |place: usize| answers.get(place).copied().filter(|answer| place < 2 || !answer.is_nan());
    let segments = |what: &str, place: usize| {
        let read = |bytes| {
            between(what, bytes, [0.0, f64::MAX])
                .map(|bytes| (bytes / mss).clamp(1.0, MOST_SEGMENTS))
        };
        said(place).map(read).transpose()
    };
    let bps = between("pacing rate in bit/s", said(1).unwrap_or_default(), [0.0, f64::MAX])?;
    if bps > 0.0 && !is_paced {
        let message = format!(
            "found {} as pacing rate in bit/s of a control that is not declared as paced; \
             allowed: none, or a class with paced = True, a module with \"paced\": true",
            in_short(bps)
        );
        return Err(Refused(message));
    }
    Ok(Wanted {
        window: segments("window in bytes", 0)?,
        pacing: (bps > 0.0).then(|| (bps.clamp(LEAST_PACING_BPS, MOST_PACING_BPS) / 8.0) as u64),
        threshold: segments("threshold of slow start in bytes", 2)?,
        burst: read_burst(said(3), said(4), mss)?,
        holds_back: read_flag("holds_back", said(5).unwrap_or_default())?,
        wake: said(6).map(|at_us| read_wake(at_us, hook, now)).transpose()?,
    })
}

/// A limit has a time; how many bytes may leave together whatever time they take is a segment where it does not say.
fn read_burst(
    time_us: Option<f64>,
    least_bytes: Option<f64>,
    mss: f64,
) -> Result<Option<BurstLimit>, Refused> {
    let Some(time_us) = time_us else { return Ok(None) };
    let time_us = between("time of a burst in us", time_us, [0.0, MOST_BURST_US])?;
    let bytes = between("bytes of a burst", least_bytes.unwrap_or(mss), [0.0, f64::MAX])?;
    let least = (bytes / mss).clamp(1.0, MOST_SEGMENTS) as u64;
    Ok(Some(BurstLimit { time: Time::from_secs_f64(time_us / 1e6), least }))
}

fn read_flag(what: &str, found: f64) -> Result<bool, Refused> {
    match found {
        0.0 | 1.0 => Ok(found == 1.0),
        _ => Err(Refused(format!("found {} as {what}; allowed: 0 or 1", in_short(found)))),
    }
}

/// A time to be woken, which cannot be over; infinity is never.
fn read_wake(at_us: f64, hook: Hook, now: Time) -> Result<Time, Refused> {
    if hook == Hook::OnStart && at_us.is_finite() {
        return Err(Refused(format!(
            "found {} as time of the timer in us, when there is no time yet; allowed: in on_established and later",
            in_short(at_us)
        )));
    }
    let at_us = between("time of the timer in us", at_us, [us(now), f64::INFINITY])?;
    if hook == Hook::OnWake && at_us == us(now) {
        return Err(is_now(at_us));
    }
    let least = if hook == Hook::OnWake { LEAST_TIMER } else { Time::from_ps(1) };
    Ok(Time::from_secs_f64(at_us / 1e6).max(now + least))
}
