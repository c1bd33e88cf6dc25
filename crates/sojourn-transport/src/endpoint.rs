//! One end of a connection: handshake, timers, and the sending and receiving halves.

use super::accecn::{self, Agreed, Counters};
use super::cc::{
    Ack, CLOCKS_APART, CongestionControl, Controller, EcnFeedback, Restart, RoundTrip, Window,
};
use super::config::Config;
use super::departures::Departures;
use super::ecn_checks::{self, EcnChecks};
use super::idle;
use super::rate::RateSample;
use super::receiver::Receiver;
use super::rtt::Rtt;
use super::rules::{AfterIdle, AfterLostSyn, Growth, RoundTrips};
use super::sender::{Acknowledgement, Moment, Outgoing, Progress, Sender, Sending};
use super::sender_series::Shown;
use sojourn_engine::count::Tally;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::packet::{Ecn, Flags, Own, Segment};
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;

/// The most segments that TCP/Linux sends at once after recovering from a timeout (ns-linux-param.c
/// tcp_max_burst).
const LARGEST_BURST: u64 = 3;

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    /// Waiting for a SYN.
    Listen,
    /// It has sent a SYN.
    SynSent,
    /// It has received a SYN and answered it.
    SynReceived,
    /// Data may flow.
    Established,
}

/// What a segment changed, for the application.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SegmentEvents {
    /// The handshake is complete at this end.
    pub established: bool,
    /// Payload bytes newly received in order.
    pub received_bytes: u64,
    /// All expected data has been received.
    pub received_all: bool,
    /// All data to be sent is acknowledged.
    pub acknowledged_all: bool,
    /// Round-trip time measured with an acknowledgement of data; zero for none.
    pub rtt: Time,
    /// Age of the segment whose timestamp an acknowledgement of new data echoes; zero for none.
    pub echo_age: Time,
}

impl SegmentEvents {
    /// Has anything happened that an application waits for?
    #[inline]
    pub fn concern_app(&self) -> bool {
        self.established || self.received_all || self.acknowledged_all
    }
}

/// A segment to be sent.
#[derive(Debug)]
pub struct Departure {
    /// The segment.
    pub segment: Segment,
    /// Bytes on the wire.
    pub size: u16,
    /// May it be marked?
    pub ecn: Ecn,
}

/// Bytes in segments, as a real number.
fn segments(bytes: u64, config: &Config) -> f64 {
    bytes as f64 / config.mss as f64
}

/// The one-way delay that an acknowledgement measures, by the clocks of both ends.
fn one_way(s: &Segment, sent_at: Time, config: &Config) -> Time {
    if config.timestamps { (CLOCKS_APART + sent_at).since(s.echo) } else { Time::ZERO }
}

/// One end of a connection.
pub struct Endpoint {
    state: State,
    sender: Sender,
    receiver: Receiver,
    rtt: Rtt,
    window: Window,
    /// Where the path may change the order: the window before the last reduction.
    unreduced: Option<Window>,
    controller: Controller,
    /// Is a SYN or its answer to be sent?
    syn_due: bool,
    syns_sent: u32,
    /// When the retransmission timer expires.
    rto_due: Time,
    /// Without timestamps: the end of the segment being timed, and when it was sent.
    timed: Option<(u64, Time)>,
    last_sent: Time,
    /// ns-2: when the timer that keeps running while nothing is outstanding expires.
    idle_due: Time,
    /// When the random delay before waiting transmissions ends.
    jitter_over: Time,
    /// FullTcp ends the handshake with a bare acknowledgement, even with data to send.
    handshake_ack_due: bool,
    /// The feedback of marks that both ends support.
    ecn_agreed: Agreed,
    /// With accurate feedback: the other end's counters.
    marks_seen: accecn::Seen,
    /// When the last acknowledgement left that was read for it; an older one is passed over.
    marks_sent_at: Time,
    /// The ECN field of the other end's SYN, which the answer reports.
    syn_ecn: Ecn,
    /// With accurate feedback: whether path and peer keep to it.
    ecn_checks: EcnChecks,
    /// Must the next new segment report that the window was reduced (CWR)?
    reduction_due: bool,
    /// Does the window, not the application, limit sending?
    is_window_limited: bool,
    /// Does the congestion control want samples of the delivery rate?
    wants_samples: bool,
    /// Does it want single acknowledgements beside them?
    wants_acknowledgements: bool,
    /// Does it want to be woken, and when?
    has_timers: bool,
    wake_due: Time,
    /// Does it react to the share of marks?
    is_scalable: bool,
    /// Dialect `linux`: when segments may leave.
    departures: Departures,
    /// Report when the receiver has reached this sequence number.
    expected: u64,
    told_acknowledged: u64,
    total_to_send: u64,
    tally: Tally,
}

impl Endpoint {
    /// An end that waits to be opened, by itself or by the other end.
    pub fn new(config: &Config, seed: Seed) -> Self {
        let control = config.congestion_control.parameters();
        let controller = control.start(&config.connection(), seed);
        let mut sender = Sender::new(config);
        let wants_samples = control.wants_samples();
        if wants_samples {
            sender.sample_rate();
        }
        Self {
            state: State::Listen,
            sender,
            receiver: Receiver::new(),
            rtt: Rtt::new(config),
            window: Window { cwnd: config.initial_window, ssthresh: config.max_window },
            unreduced: None,
            controller,
            syn_due: false,
            syns_sent: 0,
            rto_due: Time::NEVER,
            timed: None,
            last_sent: Time::ZERO,
            idle_due: Time::NEVER,
            jitter_over: Time::NEVER,
            handshake_ack_due: false,
            ecn_agreed: Agreed::default(),
            marks_seen: accecn::Seen::default(),
            marks_sent_at: Time::ZERO,
            syn_ecn: Ecn::NotEct,
            ecn_checks: EcnChecks::default(),
            reduction_due: false,
            is_window_limited: false,
            wants_samples,
            wants_acknowledgements: control.wants_acknowledgements(),
            has_timers: control.has_timers(),
            wake_due: Time::NEVER,
            is_scalable: control.is_scalable(),
            departures: Departures::new(),
            expected: u64::MAX,
            told_acknowledged: 0,
            total_to_send: 0,
            tally: Tally::default(),
        }
    }

    /// Opens the connection from this end.
    pub fn open(&mut self) {
        self.state = State::SynSent;
        self.syn_due = true;
    }

    /// Adds `bytes` to send; `u64::MAX` for an endless transfer.
    pub fn send(&mut self, bytes: u64, config: &Config) {
        if self.wants_samples {
            self.note_app_limited(config);
        }
        self.sender.space_mut().append(bytes);
        self.total_to_send = self.total_to_send.saturating_add(bytes);
    }

    /// Reports when `bytes` more than expected so far have been received.
    pub fn expect(&mut self, bytes: u64) {
        let base = if self.expected == u64::MAX { 1 } else { self.expected };
        self.expected = base.saturating_add(bytes);
    }

    /// Closes this end: nothing more to send.
    pub fn close(&mut self) {
        self.sender.space_mut().close();
    }

    /// Are both directions closed and acknowledged, as far as this end knows?
    pub fn is_done(&self) -> bool {
        self.receiver.is_complete() && self.sender.space().fin_acknowledged()
    }

    /// Bytes to send that have not been sent.
    pub(crate) fn unsent(&self) -> u64 {
        self.sender.space().unsent()
    }

    /// Have so many bytes been received, in order? The SYN takes the first number.
    pub(crate) fn has(&self, bytes: u64) -> bool {
        self.receiver.next() > bytes
    }

    /// Bytes received in order.
    pub(crate) fn received(&self) -> u64 {
        self.receiver.next().saturating_sub(1) // after the SYN
    }

    /// The congestion window, in segments.
    pub fn window(&self) -> Window {
        self.window
    }

    /// The pacing rate in bytes per second that the congestion control sets.
    #[cfg(test)]
    pub(crate) fn pacing_rate(&self) -> Option<u64> {
        self.controller.pacing_rate()
    }

    /// Smoothed round-trip time, zero before the first measurement.
    pub fn smoothed_rtt(&self) -> Time {
        self.rtt.smoothed()
    }

    /// What it shows over time.
    pub(crate) fn shown<'a>(&'a self, config: &'a Config) -> Shown<'a> {
        let (window, srtt) = (self.window, self.rtt.smoothed());
        Shown { controller: &self.controller, window, srtt, config }
    }

    /// Retransmissions and timeouts so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// When `on_timer` is due.
    #[inline]
    pub fn deadline(&self) -> Time {
        let timers = self.rto_due.min(self.receiver.deadline()).min(self.jitter_over);
        let senders = self.sender.deadline().min(self.departures.deadline());
        timers.min(senders).min(self.wake_due)
    }

    /// Handles a segment that the other end sent at `sent_at` and that arrived with this ECN field.
    pub fn on_segment(
        &mut self,
        now: Time,
        s: &Segment,
        sent_at: Time,
        ecn: Ecn,
        config: &Config,
    ) -> SegmentEvents {
        let mut events = SegmentEvents::default();
        if s.has(Flags::SYN) {
            self.on_syn(now, s, (sent_at, ecn), config, &mut events);
            return events;
        }
        if s.has(Flags::ACK) {
            self.on_ack(now, s, sent_at, config, &mut events);
        }
        self.receiver.note_ecn(s, ecn == Ecn::Ce && config.ecn_feedback);
        if s.len > 0 || s.has(Flags::FIN) {
            let before = self.receiver.next();
            let srtt = self.rtt.smoothed();
            self.receiver.on_data(now, s, sent_at, srtt, config);
            let after = self.receiver.next();
            events.received_bytes =
                after - before - u64::from(after > before && self.receiver.is_complete());
            if before < self.expected && after >= self.expected {
                events.received_all = true;
            }
        }
        events
    }

    fn on_syn(
        &mut self,
        now: Time,
        s: &Segment,
        (sent_at, ecn): (Time, Ecn),
        config: &Config,
        events: &mut SegmentEvents,
    ) {
        self.receiver.on_syn(sent_at);
        match self.state {
            State::Listen | State::SynReceived => {
                if self.state == State::Listen {
                    self.agree(accecn::accepted(s, config.ecn_server), Counters::default());
                } else {
                    self.ecn_checks.on_further_syn(s);
                }
                self.syn_ecn = ecn;
                self.state = State::SynReceived;
                self.syn_due = true;
            }
            State::SynSent if s.has(Flags::ACK) => {
                self.agree(accecn::concluded(s, config.ecn), Counters::after_answer(ecn));
                self.ecn_checks.on_answer(s);
                self.establish(now, Some(s.echo), config, events)
            }
            State::SynSent | State::Established => {}
        }
    }

    fn agree(&mut self, agreed: Agreed, counters: Counters) {
        self.ecn_agreed = agreed;
        if agreed == Agreed::Accurate {
            self.receiver.count_marks(counters);
        }
    }

    fn establish(
        &mut self,
        now: Time,
        echo: Option<Time>,
        config: &Config,
        events: &mut SegmentEvents,
    ) {
        self.handshake_ack_due = config.rules.ends_handshake_alone && self.state == State::SynSent;
        self.state = State::Established;
        self.sender.space_mut().on_syn_acknowledged();
        self.rto_due = Time::NEVER;
        if self.syns_sent > 1 {
            self.restart_after_lost_syn(config);
        } else if let Some(sent_at) = echo {
            self.rtt.measured(sent_at, now, config);
        }
        self.controller.on_established(&mut self.window, self.rtt.smoothed(), now);
        if self.wants_samples {
            self.set_pacing_rate(config);
        }
        self.note_wake();
        events.established = true;
    }

    fn restart_after_lost_syn(&mut self, config: &Config) {
        match config.rules.after_lost_syn {
            AfterLostSyn::LongerTimeout => {
                self.window.cwnd = 1.0;
                self.rtt.restart_after_lost_syn();
            }
            AfterLostSyn::LeastThreshold => self.window = Window { cwnd: 1.0, ssthresh: 2.0 },
            AfterLostSyn::InitialWindow => {
                self.window.ssthresh = 2.0;
                self.rtt.end_backoff();
            }
        }
    }

    fn on_ack(
        &mut self,
        now: Time,
        s: &Segment,
        sent_at: Time,
        config: &Config,
        events: &mut SegmentEvents,
    ) {
        match self.state {
            State::SynReceived if s.ack >= 1 => {
                self.ecn_checks.on_handshake_end(s);
                self.establish(now, Some(s.echo), config, events);
            }
            State::Established => self.ecn_checks.on_counter(s, config),
            _ => return,
        }
        let is_pure = s.len == 0 && !s.has(Flags::FIN);
        if !is_pure && self.ecn_agreed == Agreed::Nothing && self.sender.learns_nothing(s.ack) {
            return; // data of the other end, while this end sends nothing
        }
        let flight = self.sender.space().flight();
        let mut is_marked = self.ecn_agreed == Agreed::Classic && s.has(Flags::ECE);
        if is_marked {
            self.react_to_mark(now, s, segments(flight, config));
        }
        let before = self.sender.space().first_outstanding();
        let moment = self.moment(now);
        let progress = if self.sender.space().was_sent(s.ack) {
            let (blocks, echo) = (s.own.blocks(), s.echo);
            let news = Acknowledgement { ack: s.ack, blocks, echo, is_pure };
            self.sender.on_ack(&news, &moment, config)
        } else {
            Progress::default()
        };
        self.window.cwnd = (self.window.cwnd - progress.deflation).max(1.0);
        if progress.acknowledged > 0 {
            events.echo_age = now.since(s.echo);
        }
        let is_progress = progress.acknowledged > 0 || progress.renews_timer;
        match config.rules.round_trips {
            RoundTrips::ByDeparture => {
                events.rtt = self.time(now, s, sent_at, &progress, config);
                if progress.acknowledged > 0 || self.is_sent_before_head(&progress) {
                    self.restart_rto(now, &progress, config);
                }
            }
            RoundTrips::ByAcknowledgement if is_progress => {
                events.rtt = self.measure(now, s, sent_at, &progress, config);
                self.restart_rto(now, &progress, config);
            }
            RoundTrips::AfterTimer if is_progress => {
                self.restart_rto(now, &progress, config);
                self.rtt.end_backoff();
                events.rtt = self.measure(now, s, sent_at, &progress, config);
            }
            RoundTrips::ByAcknowledgement | RoundTrips::AfterTimer => {}
        }
        if self.ecn_agreed == Agreed::Accurate && s.ack >= before && sent_at >= self.marks_sent_at {
            self.marks_sent_at = sent_at;
            is_marked = self.read_marks(now, s, segments(flight, config), &progress, config);
        }
        let is_undone = progress.undoes && self.undo();
        if progress.ends_recovery && !is_undone && !self.wants_samples {
            self.window.cwnd = self.window.ssthresh;
        }
        if self.wants_samples {
            self.sample(now, one_way(s, sent_at, config), &progress, config);
            if self.wants_acknowledgements && progress.may_grow && !is_marked {
                self.grow(now, s, sent_at, &progress, config);
            }
        } else if let Some(under_way) = progress.ends_loss_with {
            self.leave_loss(under_way);
        } else if progress.loss_found {
            if !progress.is_same_congestion {
                self.lose(segments(flight, config), now, config);
            }
            self.timed = None;
            if config.rules.loss_restarts_timer {
                self.rto_due = now + self.rtt.timeout(config);
            }
        } else if progress.may_grow && !is_marked {
            self.grow(now, s, sent_at, &progress, config);
        }
        self.shrink(config);
        self.set_pacing_rate(config);
        self.note_wake();
        if self.sender.space().all_data_acknowledged()
            && self.told_acknowledged != self.total_to_send
        {
            self.told_acknowledged = self.total_to_send;
            events.acknowledged_all = true;
        }
    }

    fn react_to_mark(&mut self, now: Time, s: &Segment, flight: f64) {
        if self.sender.on_mark(s.ack) {
            self.controller.on_mark(&mut self.window, flight, now);
            self.unreduced = None;
            self.reduction_due = true;
        }
    }

    /// Accurate feedback (RFC 9768): a scalable control learns of the share of marks, any other treats
    /// them as one echoed mark, and so does a scalable one whose packets have become Not-ECT (RFC 9331 §4.2). Says whether
    /// the window may not grow for it. What delivers nothing reports marks on acknowledgements alone, which say nothing
    /// of this end's data.
    fn read_marks(
        &mut self,
        now: Time,
        s: &Segment,
        flight: f64,
        progress: &Progress,
        config: &Config,
    ) -> bool {
        let packets = progress.delivered.max(progress.acknowledged.div_ceil(config.mss));
        let delivered = accecn::Delivered { packets, mss: config.mss };
        let marks = self.marks_seen.update(s, delivered, config.ace_only);
        let space = self.sender.space();
        let sent = (space.first_outstanding(), space.highest_sent());
        self.ecn_checks.on_delivered((packets, marks.packets), sent, config);
        if packets == 0 && flight == 0.0 || self.ecn_checks.ignores_marks() {
            return false;
        }
        if !self.is_scalable || self.ecn_checks.has_failed() {
            if marks.packets > 0 {
                self.react_to_mark(now, s, flight);
            }
            return marks.packets > 0;
        }
        let feedback = EcnFeedback {
            now,
            delivered: packets as f64,
            marked: marks.packets as f64,
            una: sent.0,
            nxt: sent.1,
            srtt: self.rtt.smoothed(),
            is_recovering: self.sender.counts().is_recovering || progress.ends_recovery,
        };
        self.controller.on_feedback(&mut self.window, &feedback);
        false
    }

    /// tcp-linux.cc `tcp_moderate_cwnd`: after a timeout, back to the threshold without a burst.
    fn leave_loss(&mut self, under_way: u64) {
        if self.window.cwnd < self.window.ssthresh {
            self.window.cwnd = self.window.ssthresh.min((under_way + LARGEST_BURST) as f64);
        }
    }

    /// Keeps the window of before a reduction. Linux 6.18 keeps three quarters of it as a threshold at least.
    fn keep_unreduced(&mut self, config: &Config) {
        let Window { cwnd, ssthresh } = self.window;
        let least = if config.dialect == Dialect::Linux { (cwnd * 0.75).trunc() } else { 0.0 };
        self.unreduced = Some(Window { cwnd, ssthresh: ssthresh.max(least) });
    }

    /// The last reduction was needless; says whether it is undone. One for a mark is not.
    fn undo(&mut self) -> bool {
        let before = self.unreduced.take();
        before.inspect(|before| self.controller.on_undo(&mut self.window, before)).is_some()
    }

    /// A loss was found.
    fn lose(&mut self, flight: f64, now: Time, config: &Config) {
        self.keep_unreduced(config);
        let before = self.window.cwnd;
        self.controller.on_loss(&mut self.window, flight, now);
        if config.rules.shrinks_stepwise {
            self.window.cwnd = before;
        }
        self.reduction_due = true;
    }

    /// A recovery shrinks the window, unless the congestion control sets it by itself.
    fn shrink(&mut self, config: &Config) {
        if !self.wants_samples {
            self.sender.shrink(&mut self.window, config);
        }
    }

    /// The congestion control sets the window by the rate of delivery.
    fn sample(&mut self, now: Time, one_way: Time, progress: &Progress, config: &Config) {
        if progress.loss_found {
            self.keep_unreduced(config);
            let flight = self.flight_segments(config);
            self.controller.on_loss(&mut self.window, flight, now);
        }
        let moment = self.moment(now);
        let is_window_limited = self.departures.is_window_limited();
        if let Some(sample) = self.sender.rate_sample(&moment) {
            let sample = RateSample {
                rtt: progress.timed.map_or(Time::ZERO, |(_, last)| now.since(last)),
                may_be_delayed: progress.delivered == 1 && progress.acknowledged < config.mss,
                one_way,
                is_window_limited,
                next_departure: self.departures.next_departure(),
                max_window: config.max_window,
                ..sample
            };
            self.controller.on_sample(&mut self.window, &sample);
        }
        let (holds_back, in_flight) =
            (self.controller.holds_back(), self.sender.counts().under_way);
        if let Some(sampler) = self.sender.sampler() {
            sampler.clear_losses();
            if holds_back {
                sampler.note_app_limited(in_flight);
            }
        }
    }

    /// The application writes when there is nothing to send and the window has room: what leaves next says
    /// little of the path. As Linux 6.18 asks when the application writes, not when acknowledgements come
    /// (draft-cheng-iccrg-delivery-rate-estimation-02 §4.1.2 asks then too): repairs of a loss at the end of a
    /// file count as samples of the path.
    fn note_app_limited(&mut self, config: &Config) {
        let counts = self.sender.counts();
        let has_room = counts.under_way < self.window.cwnd as u64;
        let is_idle = self.sender.space().unsent() < config.mss && !counts.is_lost;
        if has_room
            && is_idle
            && let Some(sampler) = self.sender.sampler()
        {
            sampler.note_app_limited(counts.under_way);
        }
    }

    /// Something leaves while nothing is in flight.
    fn note_restart(&mut self, now: Time) {
        let is_app_limited = self.sender.sampler().map(|sampler| sampler.is_app_limited());
        let restart = Restart { now, idle: now.since(self.last_sent), is_app_limited };
        self.controller.on_restart(&mut self.window, &restart);
        self.note_wake();
    }

    /// The congestion control was called: it may have set its timer.
    fn note_wake(&mut self) {
        if self.has_timers {
            self.wake_due = self.controller.due();
        }
    }

    /// The timer of the congestion control has come.
    fn wake(&mut self, now: Time, config: &Config) {
        let flight = self.flight_segments(config);
        self.controller.on_wake(&mut self.window, flight, now);
        self.set_pacing_rate(config);
        self.note_wake();
    }

    /// Is nothing in flight?
    fn rests(&self) -> bool {
        match self.wants_samples {
            true => self.sender.counts().under_way == 0,
            false => !self.sender.space().is_outstanding(),
        }
    }

    fn grow(
        &mut self,
        now: Time,
        s: &Segment,
        sent_at: Time,
        progress: &Progress,
        config: &Config,
    ) {
        if self.window_may_grow(config) {
            let ack = self.ack(now, s, sent_at, progress, config);
            self.controller.on_ack(&mut self.window, &ack);
        }
    }

    /// Does an acknowledgement tell only of what left before the first outstanding segment last did? It
    /// says nothing of that one then, and the timer waits on.
    fn is_sent_before_head(&self, progress: &Progress) -> bool {
        let head_sent = self.sender.counts().head_sent;
        progress.timed.zip(head_sent).is_some_and(|((first, _), head)| first < head)
    }

    fn set_pacing_rate(&mut self, config: &Config) {
        if config.rules.schedules {
            let (counts, srtt) = (self.sender.counts(), self.rtt.smoothed());
            let stated = self.controller.pacing_rate();
            self.departures.limit_bursts(self.controller.burst_limit());
            self.departures.set_rate(stated, &self.window, &counts, srtt, config);
        }
    }

    /// May a segment leave now, as far as more than the window is asked?
    fn may_leave(&mut self, now: Time, config: &Config) -> bool {
        if !config.rules.schedules {
            return true;
        }
        let (counts, srtt) = (self.sender.counts(), self.rtt.smoothed());
        let seen = (&counts, self.sender.space());
        self.departures.allows(now, &self.window, seen, srtt, config)
    }

    /// Round trips by when segments left, or by the echoed timestamp where all that is
    /// acknowledged was sent again.
    fn time(
        &mut self,
        now: Time,
        s: &Segment,
        sent_at: Time,
        progress: &Progress,
        config: &Config,
    ) -> Time {
        let echoed = (config.timestamps && progress.acknowledged > 0).then_some((s.echo, s.echo));
        let Some((first, last)) = progress.timed.or(echoed) else { return Time::ZERO };
        self.rtt.measured_span((first, last), now, config);
        self.note_round_trip(now, now.since(last), one_way(s, sent_at, config), config);
        now.since(first)
    }

    fn note_round_trip(&mut self, now: Time, rtt: Time, one_way: Time, config: &Config) {
        let space = self.sender.space();
        let trip = RoundTrip {
            now,
            rtt,
            srtt: self.rtt.smoothed(),
            min_rtt: self.rtt.min(),
            one_way,
            una: space.first_outstanding(),
            nxt: space.highest_sent(),
            is_paced: config.pacing,
        };
        self.controller.on_round_trip(&mut self.window, &trip);
    }

    fn flight_segments(&self, config: &Config) -> f64 {
        segments(self.sender.space().flight(), config)
    }

    /// A pace that a scalable control sets follows from its window, and to wait for it is to use the window.
    fn window_may_grow(&self, config: &Config) -> bool {
        match config.rules.growth {
            Growth::Always => true,
            Growth::WhileRecentlyLimited if !(config.pacing && self.is_scalable) => {
                self.departures.may_grow(&self.window)
            }
            Growth::WhileRecentlyLimited | Growth::WhileLimited => self.is_window_limited,
        }
    }

    /// An acknowledgement as congestion control sees it.
    fn ack(
        &self,
        now: Time,
        s: &Segment,
        sent_at: Time,
        progress: &Progress,
        config: &Config,
    ) -> Ack {
        Ack {
            now,
            segments: if config.rules.counts_deliveries {
                progress.delivered as f64
            } else {
                progress.acknowledged as f64 / config.mss as f64
            },
            flight: self.flight_segments(config) + self.departures.held() as f64,
            srtt: self.rtt.smoothed(),
            min_rtt: self.rtt.min(),
            rtt: if config.timestamps { now.since(s.echo) } else { Time::ZERO },
            one_way: one_way(s, sent_at, config),
            max_window: config.max_window,
        }
    }

    /// With timestamps (RFC 7323 §4.1): every acknowledgement of new data. Without (RFC 6298 §3):
    /// one segment at a time, never a retransmitted one. ns-2 measures nothing in a recovery.
    fn measure(
        &mut self,
        now: Time,
        s: &Segment,
        acknowledged_at: Time,
        progress: &Progress,
        config: &Config,
    ) -> Time {
        let sent_at = if progress.is_partial {
            self.rtt.end_backoff();
            return Time::ZERO;
        } else if config.timestamps {
            s.echo
        } else if let Some((_, sent_at)) = self.timed.filter(|&(end, _)| s.ack >= end) {
            self.timed = None;
            sent_at
        } else {
            return Time::ZERO;
        };
        self.rtt.measured(sent_at, now, config);
        self.note_round_trip(now, now.since(sent_at), one_way(s, acknowledged_at, config), config);
        now.since(sent_at)
    }

    /// RFC 6298 §5.2-5.3.
    fn restart_rto(&mut self, now: Time, progress: &Progress, config: &Config) {
        let due = now + self.rtt.timeout(config);
        if !self.sender.space().is_outstanding() {
            self.rto_due = Time::NEVER;
            self.idle_due = due;
        } else if !progress.keeps_timer {
            self.rto_due = due;
        }
    }

    /// Does anything to send still need a random delay?
    #[inline]
    pub fn needs_jitter(&self, config: &Config) -> bool {
        config.send_jitter > Time::ZERO
            && self.jitter_over == Time::NEVER
            && self.sender.waits_for_jitter()
    }

    /// Sets the random delay: the fraction `draw`, from 0 to 1, of `send_jitter_us`.
    pub fn draw_jitter(&mut self, now: Time, draw: f64, config: &Config) {
        self.jitter_over = now + config.send_jitter.scaled(draw);
    }

    /// Handles the timers that are due.
    pub fn on_timer(&mut self, now: Time, config: &Config) {
        self.receiver.on_timer(now);
        if now >= self.jitter_over {
            self.jitter_over = Time::NEVER;
            self.sender.on_jitter_over();
        }
        if now >= self.wake_due {
            self.wake(now, config);
        }
        if now >= self.sender.deadline() {
            self.on_sender_deadline(now, config);
            self.note_wake();
        }
        if now < self.rto_due {
            return;
        }
        if self.sender.probes_instead() {
            self.rto_due = now + self.rtt.timeout(config);
            return;
        }
        self.rto_due = Time::NEVER;
        self.tally.timeouts += 1;
        self.rtt.back_off();
        if self.state == State::Established {
            if config.rules.keeps_threshold && self.sender.was_given_up() {
                self.window.cwnd = 1.0;
            } else {
                if !self.sender.counts().is_recovering {
                    self.keep_unreduced(config);
                }
                let flight = self.flight_segments(config);
                self.controller.on_timeout(&mut self.window, flight, now);
                self.note_wake();
            }
            self.sender.on_timeout(config);
            self.timed = None;
            self.reduction_due = true;
        } else {
            self.syn_due = true;
        }
    }

    /// Something is late, or the tail is to be probed (RFC 8985).
    fn on_sender_deadline(&mut self, now: Time, config: &Config) {
        let flight = self.flight_segments(config);
        if self.sender.on_deadline(&self.moment(now), config) {
            self.lose(flight, now, config);
            self.timed = None;
        }
        self.shrink(config);
        self.rto_due = now + self.rtt.timeout(config);
    }

    fn moment(&self, now: Time) -> Moment {
        Moment { now, srtt: self.rtt.smoothed(), min_rtt: self.rtt.min() }
    }

    /// Is it an end that only receives, with no acknowledgement to send now? `poll` gives nothing then.
    #[inline]
    pub fn is_silent(&self) -> bool {
        let sends = self.syn_due || self.handshake_ack_due;
        let acknowledges = self.receiver.wants_ack() || self.receiver.flushes();
        !sends && !acknowledges && self.sender.space().never_sends()
    }

    /// The next segment this end wants to send now. Ask until there is none.
    pub fn poll(&mut self, now: Time, config: &Config) -> Option<Departure> {
        if self.syn_due {
            return Some(self.syn(now, config));
        }
        if self.state != State::Established {
            return None;
        }
        if std::mem::take(&mut self.handshake_ack_due) || self.receiver.flushes() {
            return Some(self.bare_ack(config));
        }
        if self.sender.space().never_sends() {
            return self.receiver.wants_ack().then(|| self.bare_ack(config));
        }
        self.restart_after_idle(now, config);
        let rests = self.rests();
        if self.may_leave(now, config)
            && let Some(outgoing) = self.sender.next(self.window.cwnd, &self.moment(now), config)
        {
            if rests {
                self.note_restart(now);
            }
            return Some(self.data(now, &outgoing, config));
        }
        self.departures.stop();
        self.is_window_limited = self.sender.has_more();
        self.receiver.wants_ack().then(|| self.bare_ack(config))
    }

    fn syn(&mut self, now: Time, config: &Config) -> Departure {
        self.syn_due = false;
        self.tally.retransmissions += u64::from(self.syns_sent > 0);
        let offers = ecn_checks::still_offers(self.syns_sent, config);
        self.syns_sent += 1;
        self.rto_due = now + self.rtt.timeout(config);
        let mut segment = Segment { flags: Flags::SYN, ..Segment::default() };
        if self.state == State::SynReceived {
            self.receiver.acknowledge(&mut segment, config);
        }
        let is_answer = segment.has(Flags::ACK);
        let (flags, ecn) = match is_answer {
            true => (accecn::answer(self.ecn_agreed, self.syn_ecn), self.field(false, config)),
            false if offers => (accecn::offer(config.ecn), self.control_field(config)),
            false => (Flags::default(), Ecn::NotEct),
        };
        segment.flags = segment.flags.and(flags);
        if is_answer || offers {
            self.ecn_checks.sends_syn(ecn);
        }
        Departure { segment, size: config.header, ecn }
    }

    /// After an idle time the window is out of date.
    fn restart_after_idle(&mut self, now: Time, config: &Config) {
        if !config.restart_after_idle || self.wants_samples || self.sender.space().is_outstanding()
        {
            return;
        }
        match config.rules.after_idle {
            AfterIdle::InitialWindow => {
                if now.since(self.last_sent) > self.rtt.timeout(config) {
                    self.window.cwnd = self.window.cwnd.min(config.initial_window);
                }
            }
            AfterIdle::Halves if self.sender.has_more() => {
                let idle = now.since(self.last_sent);
                let timeout = self.rtt.timeout(config);
                idle::shrink(&mut self.window, idle, timeout, config.initial_window);
            }
            AfterIdle::Halves => {}
            AfterIdle::InitialWindowToSend => {
                let has_idled = self.rtt.has_idled(self.last_sent, now, config);
                if has_idled && self.sender.has_more() {
                    self.window.cwnd = config.initial_window;
                }
            }
            AfterIdle::OneSegment => {
                if now >= self.idle_due {
                    self.idle_due = Time::NEVER;
                    self.window.cwnd = 1.0;
                    self.sender.on_timeout(config);
                }
            }
        }
    }

    fn data(&mut self, now: Time, outgoing: &Outgoing, config: &Config) -> Departure {
        let pushes = config.rules.schedules && self.departures.pushes(self.sender.space());
        let mut segment = Segment {
            seq: outgoing.seq,
            len: outgoing.len as u16,
            flags: Flags::FIN.when(outgoing.fin).and(Flags::PSH.when(pushes)),
            ..Segment::default()
        };
        self.receiver.acknowledge(&mut segment, config);
        segment.own = Own::default();
        self.last_sent = now;
        if outgoing.again {
            self.tally.retransmissions += 1;
            if config.rules.head_restarts_timer
                && outgoing.seq == self.sender.space().first_outstanding()
            {
                self.rto_due = Time::NEVER;
            }
            if config.rules.retransmission_ends_timing {
                self.timed = None;
            }
        } else if !config.timestamps && self.timed.is_none() {
            self.timed = Some((outgoing.seq + outgoing.len, now));
        }
        if self.rto_due == Time::NEVER {
            self.rto_due = now + self.rtt.timeout(config);
        }
        // RFC 3168 §6.1.4, §6.1.5: neither bare acknowledgements nor retransmissions.
        let is_fresh = !outgoing.again && segment.len > 0;
        if is_fresh && self.ecn_agreed == Agreed::Classic {
            segment.flags.set(Flags::CWR, std::mem::take(&mut self.reduction_due));
        }
        let size = config.header + segment.len;
        Departure { segment, size, ecn: self.field(is_fresh, config) }
    }

    fn bare_ack(&mut self, config: &Config) -> Departure {
        let mut segment = Segment { seq: self.sender.space().highest_sent(), ..Segment::default() };
        self.receiver.acknowledge(&mut segment, config);
        let blocks =
            segment.own.blocks().iter().filter(|block| block.start != block.end).count() as u16;
        let (once, each) = config.sack_bytes;
        let options = if blocks > 0 { once + each * blocks } else { 0 };
        let ecn = self.field(false, config);
        Departure { segment, size: config.header + options, ecn }
    }

    /// The ECN field of a segment after the handshake; `is_fresh` is data that was not sent before.
    fn field(&self, is_fresh: bool, config: &Config) -> Ecn {
        match self.ecn_agreed {
            Agreed::Nothing => Ecn::NotEct,
            Agreed::Classic if is_fresh && !self.is_scalable => Ecn::Ect0,
            Agreed::Classic => Ecn::NotEct,
            Agreed::Accurate if self.ecn_checks.has_failed() => Ecn::NotEct,
            Agreed::Accurate if is_fresh => config.ecn.codepoint(),
            Agreed::Accurate => self.control_field(config),
        }
    }

    /// The ECN field of what is neither new nor data. RFC 9331 §A.2.1 and RFC 8311 §4.3 let a scalable control
    /// mark it all, so that it shares the queue of the data.
    fn control_field(&self, config: &Config) -> Ecn {
        let is_ect = self.is_scalable && config.ecn.is_accurate();
        if is_ect { config.ecn.codepoint() } else { Ecn::NotEct }
    }
}
