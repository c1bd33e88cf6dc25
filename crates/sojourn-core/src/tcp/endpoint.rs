//! One end of a connection: handshake, timers, and the two halves put together.

use super::cc::{Ack, CongestionControl, CongestionParameters, Controller, Window};
use super::options::Config;
use super::receiver::Receiver;
use super::rtt::Rtt;
use super::sender::{Outgoing, Sender};
use crate::packet::Segment;
use crate::scenario::Dialect;
use crate::units::Time;

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    /// Waiting for a SYN.
    Listen,
    /// A SYN was sent.
    SynSent,
    /// A SYN came and was answered.
    SynReceived,
    /// Data may flow.
    Established,
}

/// What a segment brought about, for the application.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct News {
    /// The handshake is done at this end.
    pub established: bool,
    /// Payload bytes newly received in order.
    pub received_bytes: u64,
    /// All that was expected is there.
    pub received_all: bool,
    /// All that was to be sent is acknowledged.
    pub acknowledged_all: bool,
    /// Round-trip time measured with an acknowledgement of data; zero for none.
    pub rtt: Time,
}

/// What an end had to do twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Segments sent again, those of the handshake too.
    pub retransmissions: u64,
    /// Times the retransmission timer expired.
    pub timeouts: u64,
}

impl Tally {
    /// The sum of two tallies.
    pub fn plus(self, other: Self) -> Self {
        Self {
            retransmissions: self.retransmissions + other.retransmissions,
            timeouts: self.timeouts + other.timeouts,
        }
    }
}

/// One end of a connection.
pub struct Endpoint {
    state: State,
    sender: Sender,
    receiver: Receiver,
    rtt: Rtt,
    window: Window,
    controller: Controller,
    /// A SYN, or its answer, is to be sent.
    syn_due: bool,
    syns_sent: u32,
    /// When unacknowledged data is given up for lost.
    rto_due: Time,
    /// Without timestamps: the segment being timed, by its end, and when it was sent.
    timed: Option<(u64, Time)>,
    last_sent: Time,
    /// The window, not the application, holds sending back.
    is_window_limited: bool,
    /// Tell when the receiver has reached this.
    expected: u64,
    told_acknowledged: u64,
    total_to_send: u64,
    tally: Tally,
}

impl Endpoint {
    /// An end that waits to be opened from here or from there.
    pub fn new(config: &Config) -> Self {
        Self {
            state: State::Listen,
            sender: Sender::new(),
            receiver: Receiver::new(),
            rtt: Rtt::new(config),
            window: Window { cwnd: config.initial_window, ssthresh: config.max_window },
            controller: config.congestion_control.start(config),
            syn_due: false,
            syns_sent: 0,
            rto_due: Time::NEVER,
            timed: None,
            last_sent: Time::ZERO,
            is_window_limited: false,
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

    /// Has `bytes` more to send; `u64::MAX` for without end.
    pub fn send(&mut self, bytes: u64) {
        self.sender.append(bytes);
        self.total_to_send = self.total_to_send.saturating_add(bytes);
    }

    /// Will tell when `bytes` more have come than were expected so far.
    pub fn expect(&mut self, bytes: u64) {
        let base = if self.expected == u64::MAX { 1 } else { self.expected };
        self.expected = base + bytes;
    }

    /// Has nothing more to send.
    pub fn close(&mut self) {
        self.sender.close();
    }

    /// Both directions are closed and acknowledged, as far as this end knows.
    pub fn is_done(&self) -> bool {
        self.sender.fin_acknowledged() && self.receiver.is_complete()
    }

    /// The congestion window, in segments.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Smoothed round-trip time, zero before the first measurement.
    pub fn smoothed_rtt(&self) -> Time {
        self.rtt.smoothed()
    }

    /// What it had to do twice so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// When `on_timer` wants to be called.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.rto_due.min(self.receiver.deadline())
    }

    /// Takes in a segment that its other end sent at `sent_at`.
    pub fn on_segment(&mut self, now: Time, s: &Segment, sent_at: Time, config: &Config) -> News {
        let mut news = News::default();
        if s.syn {
            self.on_syn(now, s, sent_at, config, &mut news);
            return news;
        }
        if s.is_ack {
            self.on_ack(now, s, config, &mut news);
        }
        if s.len > 0 || s.fin {
            let before = self.receiver.next();
            self.receiver.on_data(now, s, sent_at, config);
            let after = self.receiver.next();
            news.received_bytes =
                after - before - u64::from(after > before && self.receiver.is_complete());
            if before < self.expected && after >= self.expected {
                news.received_all = true;
            }
        }
        news
    }

    fn on_syn(&mut self, now: Time, s: &Segment, sent_at: Time, config: &Config, news: &mut News) {
        self.receiver.on_syn(sent_at);
        match self.state {
            State::Listen | State::SynReceived => {
                self.state = State::SynReceived;
                self.syn_due = true;
            }
            State::SynSent if s.is_ack => self.establish(now, Some(s.echo), config, news),
            State::SynSent | State::Established => {}
        }
    }

    fn establish(&mut self, now: Time, echo: Option<Time>, config: &Config, news: &mut News) {
        self.state = State::Established;
        self.sender.on_syn_acknowledged();
        self.rto_due = Time::NEVER;
        if self.syns_sent > 1 {
            // RFC 5681 §3.1: one segment after a lost SYN (ns-2: bugfix_ss_).
            self.window.cwnd = 1.0;
            self.rtt.restart_after_lost_syn();
        } else if let Some(sent_at) = echo {
            self.rtt.measured(now.since(sent_at), config);
        }
        news.established = true;
    }

    fn on_ack(&mut self, now: Time, s: &Segment, config: &Config, news: &mut News) {
        match self.state {
            State::SynReceived if s.ack >= 1 => self.establish(now, Some(s.echo), config, news),
            State::Established => {}
            _ => return,
        }
        let is_pure = s.len == 0 && !s.fin;
        let flight = self.sender.flight() as f64 / config.mss as f64;
        let progress = self.sender.on_ack(s.ack, &s.sack, is_pure, config);
        if progress.acknowledged > 0 {
            news.rtt = self.measure(now, s, config);
            self.restart_rto(now, config);
        }
        if progress.loss_found {
            self.controller.on_loss(&mut self.window, flight, now);
            self.timed = None;
        } else if progress.may_grow && (self.is_window_limited || config.dialect == Dialect::Ns2) {
            let ack = Ack {
                now,
                segments: progress.acknowledged as f64 / config.mss as f64,
                srtt: self.rtt.smoothed(),
                min_rtt: self.rtt.min(),
                max_window: config.max_window,
            };
            self.controller.on_ack(&mut self.window, &ack);
        }
        if self.sender.all_data_acknowledged() && self.told_acknowledged != self.total_to_send {
            self.told_acknowledged = self.total_to_send;
            news.acknowledged_all = true;
        }
    }

    /// RFC 7323 §4.1 with timestamps: every acknowledgement of new data. RFC 6298 §3 without: one
    /// segment at a time, never one that was sent twice.
    fn measure(&mut self, now: Time, s: &Segment, config: &Config) -> Time {
        let sent_at = if config.timestamps {
            s.echo
        } else if let Some((_, sent_at)) = self.timed.filter(|&(end, _)| s.ack >= end) {
            self.timed = None;
            sent_at
        } else {
            return Time::ZERO;
        };
        let rtt = now.since(sent_at);
        self.rtt.measured(rtt, config);
        rtt
    }

    /// RFC 6298 §5.2-5.3.
    fn restart_rto(&mut self, now: Time, config: &Config) {
        self.rto_due =
            if self.sender.is_outstanding() { now + self.rtt.timeout(config) } else { Time::NEVER };
    }

    /// A deadline has passed.
    pub fn on_timer(&mut self, now: Time, config: &Config) {
        self.receiver.on_timer(now);
        if now < self.rto_due {
            return;
        }
        self.rto_due = Time::NEVER;
        self.tally.timeouts += 1;
        self.rtt.back_off();
        if self.state == State::Established {
            if config.dialect == Dialect::Rfc && self.sender.was_given_up() {
                // RFC 5681 §3.1: the threshold stays where the first timeout put it.
                self.window.cwnd = 1.0;
            } else {
                let flight = self.sender.flight() as f64 / config.mss as f64;
                self.controller.on_timeout(&mut self.window, flight, now);
            }
            self.sender.on_timeout(config);
            self.timed = None;
        } else {
            self.syn_due = true;
        }
    }

    /// The next segment this end wants to send now, and its size on the wire. Ask until there is
    /// none.
    pub fn poll(&mut self, now: Time, config: &Config) -> Option<(Segment, u16)> {
        if self.syn_due {
            return Some(self.syn(now, config));
        }
        if self.state != State::Established {
            return None;
        }
        self.restart_after_idle(now, config);
        let window = (self.window.cwnd * config.mss as f64) as u64;
        let reach = (config.max_window * config.mss as f64) as u64;
        if let Some(outgoing) = self.sender.next(window, reach, config) {
            return Some(self.data(now, &outgoing, config));
        }
        self.is_window_limited = self.sender.has_more();
        self.receiver.wants_ack().then(|| self.bare_ack(config))
    }

    fn syn(&mut self, now: Time, config: &Config) -> (Segment, u16) {
        self.syn_due = false;
        self.tally.retransmissions += u64::from(self.syns_sent > 0);
        self.syns_sent += 1;
        self.rto_due = now + self.rtt.timeout(config);
        let mut segment = Segment { syn: true, ..Segment::default() };
        if self.state == State::SynReceived {
            self.receiver.acknowledge(&mut segment, config);
        }
        (segment, config.header)
    }

    /// RFC 5681 §4.1: after a pause longer than the timeout the old window says nothing. ns-2's
    /// one-way agents reach the same end by a timer that runs on while nothing is under way.
    fn restart_after_idle(&mut self, now: Time, config: &Config) {
        let idle = now.since(self.last_sent);
        if !self.sender.is_outstanding() && idle > self.rtt.timeout(config) {
            self.window.cwnd = self.window.cwnd.min(config.initial_window);
        }
    }

    fn data(&mut self, now: Time, outgoing: &Outgoing, config: &Config) -> (Segment, u16) {
        let mut segment = Segment {
            seq: outgoing.seq,
            len: outgoing.len as u16,
            fin: outgoing.fin,
            ..Segment::default()
        };
        self.receiver.acknowledge(&mut segment, config);
        segment.sack = Default::default();
        self.last_sent = now;
        if outgoing.again {
            self.tally.retransmissions += 1;
            self.timed = None;
        } else if !config.timestamps && self.timed.is_none() {
            self.timed = Some((outgoing.seq + outgoing.len, now));
        }
        if self.rto_due == Time::NEVER {
            self.rto_due = now + self.rtt.timeout(config);
        }
        let size = config.header + segment.len;
        (segment, size)
    }

    fn bare_ack(&mut self, config: &Config) -> (Segment, u16) {
        let mut segment = Segment { seq: self.sender.highest_sent(), ..Segment::default() };
        self.receiver.acknowledge(&mut segment, config);
        let blocks = segment.sack.iter().filter(|block| block.end > 0).count() as u16;
        let (once, each) = config.sack_bytes;
        let options = if blocks > 0 { once + each * blocks } else { 0 };
        (segment, config.header + options)
    }
}
