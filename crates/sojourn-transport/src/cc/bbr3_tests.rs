//! The draft's own list of cases (draft-ietf-ccwg-bbr, appendix): Startup ends at the link's rate, Drain,
//! DOWN and UP end by each of their causes, an idle time stands for a ProbeRTT, bursts of acknowledgements.
//!
//! A link of 1000 segments per second with a round trip of 40 ms: 40 segments are in flight where the
//! queue is empty. Lost segments are not sent again, and known to be lost when a later one is acknowledged.

use std::collections::VecDeque;

use super::bbr3::{Bbr3, Parameters, State};
use super::{CongestionControl, CongestionSpec, Restart, Window};
use crate::TcpOptions;
use crate::rate::{LossPhase, Rate, RateSample, RateSampler};
use sojourn_engine::dialect::Dialect;
use sojourn_engine::units::Time;

const MS: fn(u64) -> Time = Time::from_ms;
const RTT: Time = Time::from_ms(40);
const PER_SECOND: f64 = 1000.0;
const PRODUCT: f64 = 40.0;

/// A segment on its way.
struct Segment {
    sent_at: Time,
    acknowledged_at: Time,
    is_lost: bool,
}

/// A sender, a link with a queue, and the way back.
struct Path {
    bbr: Bbr3,
    window: Window,
    mss: f64,
    sampler: RateSampler,
    now: Time,
    under_way: VecDeque<Segment>,
    link_free: Time,
    next_send: Time,
    /// Segments that the queue holds.
    buffer: f64,
    /// The round trip of an empty queue.
    rtt: Time,
    /// Acknowledgements come at multiples of this.
    beat: Time,
    /// Until when there is something to send, and from when on again.
    silence: (Time, Time),
    /// Loss recovery lasts until so many are gone.
    recovers_until: u64,
    gone: u64,
    delivered: u64,
    /// Every state, when it began, and what was in flight then.
    states: Vec<(Time, State, u64)>,
}

impl Path {
    fn new(buffer: f64) -> Self {
        let kind = CongestionSpec::Bbr3(Parameters {});
        let options = TcpOptions { congestion_control: Some(kind), ..TcpOptions::default() };
        let config = options.resolve(Dialect::Linux);
        let mut window = Window { cwnd: config.initial_window, ssthresh: config.max_window };
        let mut bbr = Bbr3::new(&config.connection());
        bbr.on_established(&mut window, RTT, Time::ZERO);
        Self {
            bbr,
            window,
            mss: config.mss as f64,
            sampler: RateSampler::default(),
            now: Time::ZERO,
            under_way: VecDeque::new(),
            link_free: Time::ZERO,
            next_send: Time::ZERO,
            buffer,
            rtt: RTT,
            beat: Time::from_ps(1),
            silence: (Time::NEVER, Time::NEVER),
            recovers_until: 0,
            gone: 0,
            delivered: 0,
            states: vec![(Time::ZERO, State::Startup, 0)],
        }
    }

    fn in_flight(&self) -> u64 {
        self.under_way.len() as u64
    }

    /// When the next segment may leave.
    fn send_due(&self) -> Time {
        if self.in_flight() >= self.window.cwnd as u64 {
            return Time::NEVER;
        }
        let at = self.next_send.max(self.now);
        if at >= self.silence.0 && at < self.silence.1 { self.silence.1 } else { at }
    }

    fn send(&mut self) {
        let in_flight = self.in_flight();
        if in_flight == 0 {
            let is_app_limited = self.sampler.is_app_limited();
            self.bbr.on_restart(&mut self.window, &Restart::at(self.now, is_app_limited));
        }
        self.sampler.send(self.now, in_flight);
        let each = Time::from_secs_f64(1.0 / PER_SECOND);
        let waiting = self.link_free.since(self.now).secs_f64() * PER_SECOND;
        let is_lost = waiting > self.buffer;
        if !is_lost {
            self.link_free = self.link_free.max(self.now) + each;
        }
        let back = self.link_free.max(self.now) + self.rtt;
        let beats = back.ps().div_ceil(self.beat.ps());
        let acknowledged_at = Time::from_ps(beats * self.beat.ps());
        self.under_way.push_back(Segment { sent_at: self.now, acknowledged_at, is_lost });
        let rate = self.bbr.pacing_rate().unwrap_or(u64::MAX) as f64 / self.mss;
        self.next_send = self.next_send.max(self.now) + Time::from_secs_f64(1.0 / rate);
    }

    /// When something that was not lost is acknowledged next.
    fn acknowledgement_due(&self) -> Time {
        let first = self.under_way.iter().find(|segment| !segment.is_lost);
        first.map_or(Time::NEVER, |segment| segment.acknowledged_at)
    }

    fn acknowledge(&mut self) {
        let before = self.in_flight();
        self.sampler.begin(before);
        let mut rtt = Time::ZERO;
        while self.acknowledgement_due() <= self.now {
            let segment = self.under_way.pop_front().expect("one is due");
            self.gone += 1;
            if segment.is_lost {
                self.sampler.lose(0);
                self.recovers_until = self.gone + self.in_flight();
            } else {
                self.sampler.deliver(0, self.now);
                self.delivered += 1;
                rtt = self.now.since(segment.sent_at);
            }
            self.sampler.forget_first();
        }
        let is_recovering = self.gone < self.recovers_until;
        let in_flight = self.in_flight();
        let sample = RateSample {
            rtt,
            srtt: RTT,
            phase: if is_recovering { LossPhase::Recovery } else { LossPhase::Open },
            is_window_limited: before as f64 >= self.window.cwnd,
            max_window: 1e6,
            ..self.sampler.sample(self.now, Time::ZERO, in_flight)
        };
        self.bbr.on_sample(&mut self.window, &sample);
        self.sampler.clear_losses();
        if self.bbr.holds_back() || self.send_due() >= self.silence.1 {
            self.sampler.note_app_limited(in_flight);
        }
        if self.states.last().is_none_or(|last| last.1 != self.bbr.state) {
            self.states.push((self.now, self.bbr.state, in_flight));
        }
    }

    fn run_until(&mut self, end: Time) {
        loop {
            let (send, acknowledgement) = (self.send_due(), self.acknowledgement_due());
            let due = send.min(acknowledgement);
            if due > end {
                self.now = end;
                return;
            }
            self.now = due;
            if acknowledgement <= send { self.acknowledge() } else { self.send() }
        }
    }

    /// Runs until it is in this state; says when that began and what was in flight.
    fn run_to(&mut self, state: State, within_s: u64) -> (Time, u64) {
        let (from, end) = (self.states.len(), self.now + Time::from_s(within_s));
        loop {
            let later = self.states.iter().skip(from).find(|(_, other, _)| *other == state);
            if let Some(&(at, _, in_flight)) = later {
                return (at, in_flight);
            }
            assert!(self.now < end, "no {state:?} in {:?}", self.states);
            self.run_until(self.now + MS(1));
        }
    }
}

/// A sample with so much in flight, of a round that goes on.
fn sample(now: Time, in_flight: u64) -> RateSample<'static> {
    let rate = Rate { delivered: 40, interval: RTT, in_flight_then: 40, ..Rate::default() };
    let (newly_delivered, max_window) = (1, 1e6);
    RateSample { now, in_flight, newly_delivered, max_window, rate: Some(rate), ..sample_of_none() }
}

fn sample_of_none() -> RateSample<'static> {
    RateSample { delivered: 1_000_000, delivered_at: Time::ZERO, srtt: RTT, ..Default::default() }
}

/// A path on which Startup and Drain are over, and so is a first probe.
fn cycling(buffer: f64) -> Path {
    let mut path = Path::new(buffer);
    path.run_to(State::Down, 5);
    path
}

/// A plateau of three rounds ends Startup; by then the estimate is the link's rate within 2 %. Drain ends
/// when no more is in flight than the path holds: 40 segments, or the least that bursts need.
#[test]
fn startup_ends_at_the_rate_of_the_link_and_drain_empties_the_queue() {
    let mut path = Path::new(1000.0);
    let (at, in_flight) = path.run_to(State::Drain, 5);
    let bandwidth = path.bbr.max_bandwidth.get();
    assert!((bandwidth / PER_SECOND - 1.0).abs() < 0.02, "{bandwidth}");
    assert!(path.bbr.full.is_reached && path.bbr.bounds.inflight_long.is_infinite());
    // From 10 segments to 80 in three doublings, and three rounds of up to 160 ms of queue.
    assert!(at < MS(1000), "{at:?}");
    assert!(in_flight as f64 > PRODUCT, "{in_flight}");
    // With the queue empty and no loss to leave headroom for, DOWN ends as it begins.
    let (_, left) = path.run_to(State::Cruise, 2);
    assert!(left as f64 <= path.bbr.inflight(bandwidth), "{left} {bandwidth} {:?}", path.states);
    assert_eq!((path.bbr.pacing_gain(), path.bbr.cwnd_gain()), (1.0, 2.0));
}

/// Losses in a queue of four segments end Startup before three rounds without growth have passed, and
/// bound what may be in flight.
#[test]
fn startup_ends_by_loss() {
    let mut path = Path::new(4.0);
    path.run_to(State::Drain, 5);
    let bound = path.bbr.bounds.inflight_long;
    assert!(bound.is_finite() && bound >= 0.98 * PRODUCT, "{bound}");
    assert!((path.bbr.max_bandwidth.get() / PER_SECOND - 1.0).abs() < 0.02);
}

/// A sender whose queue does not drain leaves Drain after three rounds all the same.
#[test]
fn drain_ends_after_three_rounds() {
    let mut path = Path::new(1000.0);
    let (at, _) = path.run_to(State::Drain, 5);
    let mut rounds = 0;
    let mut delivered = 1_000_000;
    for tick in 1..=10 {
        delivered += 400;
        let mut stuck = RateSample { delivered, ..sample(at + MS(40 * tick), 400) };
        stuck.rate = stuck.rate.map(|rate| Rate { prior_delivered: delivered - 1, ..rate });
        path.bbr.on_sample(&mut path.window, &stuck);
        if path.bbr.state != State::Drain {
            rounds = tick;
            break;
        }
    }
    // The fourth round begins.
    assert_eq!((path.bbr.state, rounds), (State::Down, 4));
}

/// DOWN ends when the queue is empty and, where losses have set a bound, a headroom of 15 % is left.
#[test]
fn down_ends_in_cruise_when_there_is_headroom() {
    let mut path = cycling(1000.0);
    let (_, in_flight) = path.run_to(State::Cruise, 5);
    assert!(in_flight as f64 <= path.bbr.inflight(PER_SECOND), "{in_flight}");
    let mut path = cycling(4.0);
    let (_, in_flight) = path.run_to(State::Cruise, 5);
    let room = path.bbr.bounds.with_headroom(4.0);
    assert!(in_flight as f64 <= room, "{in_flight} of {room}");
}

/// If the queue never empties, DOWN ends when it is time to probe: after 2 to 3 s, if no 63 rounds and no
/// product of rounds passed before.
#[test]
fn down_ends_in_refill_when_it_is_time_to_probe() {
    let mut path = cycling(1000.0);
    let start = path.now;
    let mut at = start;
    while path.bbr.state == State::Down {
        at += MS(1);
        assert!(at < start + MS(3100), "still in DOWN");
        // The least round trip so far, so that no ProbeRTT is due.
        let shorter = RateSample { rtt: MS(39), ..sample(at, 400) };
        path.bbr.on_sample(&mut path.window, &shorter);
    }
    assert_eq!(path.bbr.state, State::Refill);
    assert!(at > start + MS(1900), "{at:?} after {start:?}");
}

/// A round of REFILL, then UP, which ends on a plateau where nothing is lost: the queue takes 0.25 of a
/// product and more. The next probe comes after 2 to 3 s, or 40 to 41 rounds as Reno would need.
#[test]
fn up_ends_on_a_plateau() {
    let mut path = cycling(1000.0);
    let (refilled, _) = path.run_to(State::Refill, 5);
    let (up, _) = path.run_to(State::Up, 2);
    assert!(up.since(refilled) < MS(60), "one round: {:?}", up.since(refilled));
    assert_eq!((path.bbr.pacing_gain(), path.bbr.cwnd_gain()), (1.25, 2.25));
    let (down, in_flight) = path.run_to(State::Down, 2);
    assert!(in_flight as f64 >= 1.2 * PRODUCT, "{in_flight}");
    assert!(path.bbr.bounds.inflight_long.is_infinite(), "nothing was lost");
    let (next, _) = path.run_to(State::Refill, 5);
    let wait = next.since(down);
    assert!((MS(1500)..MS(3100)).contains(&wait), "{wait:?}");
}

/// Losses of more than 2 % end UP: the long bound is what was in flight then, and 0.7 of the target at least.
#[test]
fn up_ends_by_loss() {
    let mut path = cycling(4.0);
    path.run_to(State::Up, 5);
    let (_, _) = path.run_to(State::Down, 2);
    let bound = path.bbr.bounds.inflight_long;
    assert!((0.7 * PRODUCT..1.5 * PRODUCT).contains(&bound), "{bound}");
}

/// The round trip of an empty queue, not seen for 5 s, is looked for: 200 ms and a round with half of a
/// product in flight. Then the window returns.
#[test]
fn probe_rtt_comes_after_five_seconds_and_lasts_200_ms() {
    let mut path = cycling(1000.0);
    // The path is longer from now on, so the least round trip is not seen again.
    path.rtt = MS(45);
    let (at, _) = path.run_to(State::ProbeRtt, 8);
    let before = path.window.cwnd;
    assert!(at > MS(5000) && at < MS(7000), "{at:?}");
    assert_eq!((path.bbr.pacing_gain(), path.bbr.cwnd_gain()), (1.0, 0.5));
    path.run_until(at + MS(150));
    assert!(path.in_flight() as f64 <= 0.5 * PRODUCT * 45.0 / 40.0 + 1.0, "{}", path.in_flight());
    let (over, _) = path.run_to(State::Cruise, 2);
    assert!((MS(200)..MS(400)).contains(&over.since(at)), "{:?}", over.since(at));
    assert!(path.window.cwnd >= before.min(PRODUCT), "{} {before}", path.window.cwnd);
}

/// A sender that was silent has emptied the queue by that: no ProbeRTT is due when it begins again, and what
/// it sends first is paced at the estimated rate.
#[test]
fn an_idle_time_stands_for_a_probe() {
    let mut path = cycling(1000.0);
    path.run_until(MS(2000));
    path.silence = (MS(2000), MS(9000));
    path.rtt = MS(41);
    path.run_until(MS(8999));
    assert_eq!(path.in_flight(), 0);
    let estimate = path.bbr.max_bandwidth.get();
    path.run_until(MS(9400));
    let later = path.states.iter().filter(|(at, ..)| *at > MS(8000));
    assert!(later.clone().all(|(_, state, _)| *state != State::ProbeRtt), "{:?}", path.states);
    assert!((estimate / PER_SECOND - 1.0).abs() < 0.02);
}

/// Acknowledgements of 20 ms at once: the window has room for what they add, or the link would be idle.
#[test]
fn aggregation_does_not_starve_the_link() {
    let mut path = cycling(1000.0);
    path.beat = MS(20);
    path.run_until(MS(4000));
    let before = path.delivered;
    path.run_until(MS(8000));
    assert!(path.bbr.extra.get() > 5.0, "{}", path.bbr.extra.get());
    let share = (path.delivered - before) as f64 / (4.0 * PER_SECOND);
    assert!(share > 0.9, "{share}");
}
