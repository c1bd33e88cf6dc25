//! One end of a QUIC connection: which packet leaves next, what an arriving one changes, and the timers
//! (RFC 9002 §6.2, appendix A).

use super::arrivals::Arrivals;
use super::congestion::Congestion;
use super::ecn::{Marks, Reported};
use super::handshake::Handshake;
use super::header::{AckFrame, Header};
use super::pacer::{self, Pacer};
use super::received::Received;
use super::rtt::Rtt;
use super::sent::{Record, Sent, State};
use super::sizes;
use super::stream::{Incoming, Outgoing, Piece};
use crate::accecn::EcnMode;
use crate::cc::{Restart, RoundTrip, Window};
use crate::config::Config;
use crate::endpoint::{Departure, SegmentEvents};
use crate::rate::RateSample;
use crate::sender_series::Shown;
use sojourn_engine::count::Tally;
use sojourn_engine::packet::{Ecn, Segment};
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;

/// Packets that a probe timeout sends (RFC 9002 §6.2.4: one, or two).
const PROBES: u32 = 2;
/// Room for the ranges of an ACK frame in the least datagram, beside headers.
const ACK_ROOM: u64 = 1000;
/// A packet with less than a full one's payload takes so much more at most: headers and an ACK frame with one
/// range.
const MOST_OVERHEAD: u64 = 80;

/// What a packet is to carry, besides an ACK frame.
#[derive(Clone, Copy, Debug)]
enum Content {
    Crypto(Piece),
    Stream(Piece),
    /// PING (RFC 9000 §19.2), a frame of one byte.
    Ping,
    Nothing,
}

impl Content {
    /// Was it sent before?
    fn is_again(&self) -> bool {
        matches!(self, Self::Crypto(piece) | Self::Stream(piece) if piece.again)
    }
}

/// Why a packet may leave.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Cause {
    /// A probe timeout.
    Probe,
    /// There is something to send.
    Data,
    /// An acknowledgement is due.
    Ack,
}

/// One end of a connection.
pub(crate) struct QuicEndpoint {
    /// It has opened the connection, or the other end's first packet has come.
    is_open: bool,
    handshake: Handshake,
    out: Outgoing,
    incoming: Incoming,
    record: Record,
    received: Received,
    rtt: Rtt,
    congestion: Congestion,
    /// If this end uses ECN.
    marks: Option<Box<Marks>>,
    pacer: Pacer,
    /// When pacing lets the next packet leave, if one waits for that.
    pace_due: Time,
    /// When something counts as lost, or is probed for.
    timer: Time,
    /// Probe timeouts since the last acknowledgement (RFC 9002 A.3: pto_count).
    timeouts_in_a_row: u32,
    probes_due: u32,
    /// Where the next probe begins, if it sends again what is under way.
    probe_from: u64,
    /// The first packet of a recovery does not wait for the window (RFC 9002 §7.3.2).
    may_exceed: bool,
    /// The client is to acknowledge an Initial packet, with a full datagram (RFC 9000 §14.1).
    acknowledges_initial: bool,
    /// Report when so many bytes have come.
    expected: u64,
    told_acknowledged: u64,
    total_to_send: u64,
    tally: Tally,
}

impl QuicEndpoint {
    /// An end that waits to be opened, by itself or by the other end.
    pub(crate) fn new(config: &Config, seed: Seed) -> Self {
        let congestion = Congestion::new(config, seed);
        Self {
            is_open: false,
            handshake: Handshake::new(),
            out: Outgoing::default(),
            incoming: Incoming::default(),
            record: Record::sampled(congestion.wants_samples),
            received: Received::new(),
            rtt: Rtt::new(),
            congestion,
            marks: (config.ecn_server != EcnMode::Off).then(Box::default),
            pacer: Pacer::default(),
            pace_due: Time::NEVER,
            timer: Time::NEVER,
            timeouts_in_a_row: 0,
            probes_due: 0,
            probe_from: 0,
            may_exceed: false,
            acknowledges_initial: false,
            expected: u64::MAX,
            told_acknowledged: 0,
            total_to_send: 0,
            tally: Tally::default(),
        }
    }

    /// Opens the connection from this end.
    pub(crate) fn open(&mut self, config: &Config) {
        self.is_open = true;
        self.marks = (config.ecn != EcnMode::Off).then(Box::default);
        self.handshake.open();
    }

    /// Its handshake resumes a session of TLS.
    pub(crate) fn resume(&mut self) {
        self.handshake.resume();
    }

    /// Bytes to send that have not been sent.
    pub(crate) fn unsent(&self) -> u64 {
        self.out.unsent()
    }

    /// Have all of these bytes been received, in whatever order?
    pub(crate) fn has(&self, from: u64, to: u64) -> bool {
        self.incoming.has(from, to)
    }

    /// Bytes received in order.
    pub(crate) fn received(&self) -> u64 {
        self.incoming.received()
    }

    /// Adds `bytes` to send; `u64::MAX` for an endless transfer.
    pub(crate) fn send(&mut self, bytes: u64) {
        self.note_app_limited();
        self.out.append(bytes);
        self.total_to_send = self.total_to_send.saturating_add(bytes);
    }

    /// Reports when `bytes` more than expected so far have been received.
    pub(crate) fn expect(&mut self, bytes: u64) {
        let base = if self.expected == u64::MAX { 0 } else { self.expected };
        self.expected = base.saturating_add(bytes);
    }

    /// Closes this end: nothing more to send.
    pub(crate) fn close(&mut self) {
        self.out.close();
    }

    /// Are both directions closed and acknowledged, as far as this end knows?
    pub(crate) fn is_done(&self) -> bool {
        self.out.fin_acknowledged() && self.incoming.is_complete()
    }

    /// The congestion window, in datagrams.
    pub(crate) fn window(&self) -> Window {
        self.congestion.window()
    }

    /// What it shows over time.
    pub(crate) fn shown<'a>(&'a self, config: &'a Config) -> Shown<'a> {
        self.congestion.shown(self.rtt.smoothed(), config)
    }

    /// Packets that carry something again, and probe timeouts, so far.
    pub(crate) fn tally(&self) -> Tally {
        self.tally
    }

    /// When `on_timer` is due.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.timer.min(self.received.deadline()).min(self.pace_due).min(self.congestion.wake_due)
    }

    /// Handles a packet that arrived with this ECN field. `own` is what the ACK frames of this end carry, and `theirs` those of the other one.
    pub(crate) fn on_segment(
        &mut self,
        now: Time,
        (segment, ecn): (&Segment, Ecn),
        (own, theirs): (&mut Arrivals, &mut Arrivals),
        config: &Config,
    ) -> SegmentEvents {
        let mut events = SegmentEvents::default();
        let header = Header::of(segment);
        self.is_open = true;
        // RFC 9001 §5.7: what has a short header cannot be read yet.
        if !header.is_long && !self.handshake.is_complete() {
            return events;
        }
        let is_handshake = !self.handshake.is_complete();
        let Header { number, elicits, .. } = header;
        if !self.received.on_packet(now, number, elicits, is_handshake, config) {
            return events;
        }
        own.push(number, self.counted(ecn, config));
        if is_handshake && !self.handshake.is_client() {
            // RFC 9000 §8.1: who acknowledges a connection identifier of the server has its address.
            self.handshake.on_datagram(header.ack.is_some() || header.offset > 0);
        }
        if let Some(frame) = &header.ack {
            self.on_ack(now, frame, theirs, config, &mut events);
        }
        if header.crypto > 0 {
            let is_initial = self.handshake.is_client() && header.offset == 0;
            self.acknowledges_initial |= is_initial;
            events.established = self.handshake.on_crypto(header.offset, header.crypto.into());
            if events.established {
                self.congestion.on_established(self.measured_rtt(), now);
            }
        } else if header.len > 0 || header.fin {
            let before = self.incoming.bytes();
            self.incoming.on_data(header.offset, header.len.into(), header.fin);
            let after = self.incoming.bytes();
            events.received_bytes = after - before;
            events.received_all = before < self.expected && after >= self.expected;
        }
        self.set_timer(now, config);
        events
    }

    fn on_ack(
        &mut self,
        now: Time,
        frame: &AckFrame,
        theirs: &mut Arrivals,
        config: &Config,
        events: &mut SegmentEvents,
    ) {
        let (mut bytes, mut elicited, mut largest) = (0, false, None);
        let before = self.record.under_way();
        self.record.sampler().into_iter().for_each(|sampler| sampler.begin(before));
        let mut reported = Reported::default();
        theirs.tell(frame, |number, ecn| {
            if let Some(marks) = &self.marks {
                marks.report(number, ecn, &mut reported);
            }
            let is_largest = self.record.largest_acknowledged() < Some(number);
            let sent = self.record.acknowledge(number);
            if is_largest {
                largest = sent.map(|sent| (number, sent.at));
            }
            let Some(sent) = sent else { return };
            elicited = true;
            self.record.deliver(number, now);
            self.congestion.on_delivered(sent.at);
            self.received.forget_below(sent.reported);
            self.stream_of(&sent).acknowledge(sent.offset, sent.len.into());
            if !self.congestion.is_before_recovery(sent.at) {
                bytes += u64::from(sent.size);
            }
        });
        // RFC 9002 §5.1: only if the largest number is new.
        if let Some((number, at)) = largest {
            events.rtt = self.measure(now, (number, at), frame.delay, config);
        }
        let next = self.record.next();
        let is_marked = self.marks.as_mut().is_some_and(|marks| marks.validate(&reported, next));
        // RFC 9002 B.7: a mark is a congestion of when the largest acknowledged packet left.
        if is_marked && largest.is_some_and(|(_, at)| self.congestion.on_mark(now, at)) {
            bytes = 0;
        }
        self.find_lost(now, config);
        let flight = self.record.under_way_bytes();
        self.congestion.on_ack(now, bytes, flight, &self.rtt, config);
        self.sample(now, events.rtt, config);
        self.congestion.note_wake();
        // RFC 9002 §6.2.1: a client keeps waiting longer until the server is sure of its address.
        if elicited && (self.handshake.is_complete() || !self.handshake.is_client()) {
            self.timeouts_in_a_row = 0;
        }
        if self.out.all_data_acknowledged() && self.told_acknowledged != self.total_to_send {
            self.told_acknowledged = self.total_to_send;
            events.acknowledged_all = true;
        }
    }

    /// The field of a packet that has arrived, as ACK frames count it.
    fn counted(&mut self, ecn: Ecn, config: &Config) -> Ecn {
        match &mut self.marks {
            Some(marks) if config.ecn_feedback => {
                marks.count(ecn);
                ecn
            }
            _ => Ecn::NotEct,
        }
    }

    /// The smoothed round-trip time; zero before the first is measured.
    fn measured_rtt(&self) -> Time {
        self.rtt.first_at().map_or(Time::ZERO, |_| self.rtt.smoothed())
    }

    /// The congestion control sets the window by the rate of delivery. Packets of the handshake count, but come before
    /// there is anything to set.
    fn sample(&mut self, now: Time, rtt: Time, config: &Config) {
        let (srtt, min_rtt, in_flight) =
            (self.measured_rtt(), self.rtt.min(), self.record.under_way());
        let is_complete = self.handshake.is_complete();
        let Some(sampler) = self.record.sampler() else { return };
        let sample = sampler.sample(now, min_rtt, in_flight);
        let sample = RateSample {
            rtt,
            srtt,
            may_be_delayed: sample.newly_delivered == 1,
            phase: self.congestion.phase(),
            is_window_limited: self.congestion.is_limited,
            next_departure: self.pacer.due(),
            max_window: config.max_window,
            ..sample
        };
        let holds_back = is_complete && self.congestion.on_sample(&sample);
        if let Some(sampler) = self.record.sampler() {
            sampler.clear_losses();
            if holds_back {
                sampler.note_app_limited(in_flight);
            }
        }
    }

    /// The application writes when there is nothing to send and the window has room: what leaves next says little of
    /// the path.
    fn note_app_limited(&mut self) {
        let under_way = self.record.under_way();
        let has_room = (under_way as f64) < self.congestion.window().cwnd;
        if let Some(sampler) = self.record.sampler()
            && has_room
            && !self.out.has_more()
        {
            sampler.note_app_limited(under_way);
        }
    }

    fn stream_of(&mut self, sent: &Sent) -> &mut Outgoing {
        if sent.is_crypto { &mut self.handshake.out } else { &mut self.out }
    }

    fn measure(
        &mut self,
        now: Time,
        (number, at): (u64, Time),
        reported_delay: Time,
        config: &Config,
    ) -> Time {
        let rtt = now.since(at);
        // RFC 9002 §5.3: no longer than the other end may hold an acknowledgement back.
        let delay = if self.handshake.is_complete() { config.delayed_ack } else { reported_delay };
        self.rtt.measured(now, rtt, reported_delay.min(delay));
        let (una, nxt) = (number + 1, self.record.next());
        let (srtt, min_rtt) = (self.rtt.smoothed(), self.rtt.min());
        let is_paced = config.pacing;
        let trip = RoundTrip { now, rtt, srtt, min_rtt, one_way: Time::ZERO, una, nxt, is_paced };
        self.congestion.on_round_trip(&trip);
        rtt
    }

    /// RFC 9002 §6.1, §7.6.
    fn find_lost(&mut self, now: Time, config: &Config) {
        let mut last_at = None;
        let Self { record, handshake, out, rtt, .. } = self;
        record.detect(now, rtt.loss_delay(), |sent| {
            last_at = Some(sent.at);
            let stream = if sent.is_crypto { &mut handshake.out } else { &mut *out };
            stream.lose(sent.offset, sent.len.into());
        });
        if let Some(at) = last_at {
            self.may_exceed |= self.congestion.on_loss(now, at);
        }
        let longest = self.rtt.persistent(config.delayed_ack);
        if self.record.settle(longest, self.rtt.first_at()) {
            self.congestion.on_persistent(now);
        }
    }

    /// Handles the timers that are due.
    pub(crate) fn on_timer(&mut self, now: Time, config: &Config) {
        self.received.on_timer(now);
        if now >= self.pace_due {
            self.pace_due = Time::NEVER;
        }
        if now >= self.congestion.wake_due {
            self.congestion.wake(now, self.record.under_way_bytes(), config);
        }
        if now < self.timer {
            return;
        }
        if self.record.loss_at() <= now {
            self.find_lost(now, config);
            self.congestion.note_wake();
        } else {
            self.tally.timeouts += 1;
            self.timeouts_in_a_row += 1;
            self.probes_due = if self.record.is_under_way() { PROBES } else { 1 };
            self.probe_from = 0;
        }
        self.set_timer(now, config);
    }

    /// RFC 9002 A.8: one timer for packets that are late and for probes.
    fn set_timer(&mut self, now: Time, config: &Config) {
        let is_complete = self.handshake.is_complete();
        self.timer = if self.record.loss_at() != Time::NEVER {
            self.record.loss_at()
        } else if self.record.is_under_way() {
            // An acknowledgement that ends the doubling may leave it in the past.
            (self.record.last_eliciting_at() + self.probe_timeout(config)).max(now)
        } else if self.handshake.is_client() && !is_complete {
            // RFC 9002 §6.2.2.1: the server may wait for leave to send more.
            now + self.probe_timeout(config)
        } else {
            Time::NEVER
        };
        if !self.handshake.may_send() {
            self.timer = Time::NEVER; // what comes from the client sets it again
        }
    }

    /// RFC 9002 §6.2.1: twice as long after each. The receiver delays nothing in the handshake.
    fn probe_timeout(&self, config: &Config) -> Time {
        let delay = if self.handshake.is_complete() { config.delayed_ack } else { Time::ZERO };
        let doubled = self.rtt.probe(delay).times(1 << self.timeouts_in_a_row.min(16));
        doubled.min(config.max_rto)
    }

    /// The next packet this end wants to send now. Ask until there is none.
    pub(crate) fn poll(&mut self, now: Time, config: &Config) -> Option<Departure> {
        if !self.is_open || !self.handshake.may_send() {
            return None;
        }
        if self.probes_due > 0 {
            self.probes_due -= 1;
            return self.packet(now, Cause::Probe, config);
        }
        if self.may_send_data(now, config)
            && let Some(departure) = self.packet(now, Cause::Data, config)
        {
            return Some(departure);
        }
        if self.received.wants_ack() { self.packet(now, Cause::Ack, config) } else { None }
    }

    /// Is there something that window and pacing let go?
    fn may_send_data(&mut self, now: Time, config: &Config) -> bool {
        self.pace_due = Time::NEVER;
        let (has_crypto, has_data) = (self.handshake.out.has_more(), self.has_data());
        if !has_crypto && !has_data {
            self.congestion.is_limited = false;
            return false;
        }
        if std::mem::take(&mut self.may_exceed) {
            return true;
        }
        let waiting = if has_crypto { self.handshake.out.waiting() } else { self.out.waiting() };
        let needed = waiting.saturating_add(MOST_OVERHEAD).min(config.mss);
        if self.record.under_way_bytes() + needed > self.congestion.bytes(config) {
            self.congestion.is_limited = true;
            return false;
        }
        if has_data && !has_crypto && config.pacing && now < self.pacer.due() {
            self.pace_due = self.pacer.due();
            return false;
        }
        true
    }

    fn has_data(&self) -> bool {
        self.handshake.is_complete() && self.out.has_more()
    }

    fn content(&mut self, cause: Cause, ack: u64, config: &Config) -> Content {
        if cause == Cause::Ack {
            return Content::Nothing;
        }
        let is_probe = cause == Cause::Probe;
        if let Some(piece) = self.handshake.next(ack, is_probe) {
            return Content::Crypto(piece);
        }
        let used = sizes::overhead(false, sizes::NUMBER_ROOM) + ack;
        let most = |offset| config.mss - used - sizes::stream_frame(offset);
        let reach = (config.max_window * config.mss as f64) as u64;
        let next = if self.handshake.is_complete() { self.out.next(reach, most) } else { None };
        match next {
            Some(piece) => Content::Stream(piece),
            None if !is_probe => Content::Nothing,
            None => self
                .out
                .unacknowledged(self.probe_from, most)
                .map_or(Content::Ping, Content::Stream),
        }
    }

    /// A packet, or none if there is nothing to send but window was left.
    fn packet(&mut self, now: Time, cause: Cause, config: &Config) -> Option<Departure> {
        let number = self.record.next();
        let number_bytes = sizes::packet_number(number, self.record.largest_acknowledged());
        let (mut ack, mut ack_bytes) = if self.received.has_news() {
            let (frame, bytes) = self.received.frame(now, ACK_ROOM);
            (Some(frame), bytes + self.marks.as_ref().map_or(0, |marks| marks.frame_bytes()))
        } else {
            (None, 0)
        };
        let mut content = self.content(cause, ack_bytes, config);
        if content.is_again() {
            // What was sent without an ACK frame may have no room for one.
            (ack, ack_bytes) = (None, 0);
            content = self.content(cause, 0, config);
        }
        if cause == Cause::Data && matches!(content, Content::Nothing) {
            self.congestion.is_limited = false; // the receiver's window is the limit
            return None;
        }
        if ack.is_some() {
            let is_bare = matches!(content, Content::Nothing);
            if self.received.acknowledged(is_bare) {
                content = Content::Ping;
            }
        }
        let mut header = Header { number, ack, ..Header::default() };
        let size = self.write(&mut header, &content, number_bytes + ack_bytes);
        if matches!(content, Content::Stream(_)) && !self.record.is_under_way() {
            let idle = now.since(self.record.last_eliciting_at());
            let is_app_limited = self.record.sampler().map(|sampler| sampler.is_app_limited());
            self.congestion.on_restart(&Restart { now, idle, is_app_limited });
            self.congestion.note_wake();
        }
        self.leave(now, &header, &content, size, config);
        let bytes = config.header + size;
        let ecn = self.marks.as_mut().map_or(Ecn::NotEct, |marks| marks.field(number));
        Some(Departure { segment: header.segment(), size: bytes, ecn })
    }

    /// Writes what a packet carries; gives the bytes of the datagram. `others` are those of its number and
    /// of the ACK frame.
    fn write(&mut self, header: &mut Header, content: &Content, others: u64) -> u16 {
        let is_handshake = !self.handshake.is_complete();
        header.is_long = is_handshake;
        header.elicits = !matches!(content, Content::Nothing);
        let mut is_initial = header.ack.is_some() && std::mem::take(&mut self.acknowledges_initial);
        let frame = match content {
            Content::Crypto(piece) => {
                header.is_long = self.handshake.is_long(piece.offset);
                is_initial |= self.handshake.is_initial(piece.offset);
                (header.offset, header.crypto) = (piece.offset, piece.len as u16);
                self.handshake.frame(piece.offset, piece.len)
            }
            Content::Stream(piece) => {
                let (payload, fin) = self.out.payload(piece);
                (header.offset, header.len, header.fin) = (piece.offset, payload as u16, fin);
                sizes::stream_frame(piece.offset) + payload
            }
            Content::Ping => 1,
            Content::Nothing => 0,
        };
        let bytes = sizes::overhead(header.is_long, 0) + others + frame;
        // A datagram is at most config.mss long, which is 16 bits.
        (if is_initial { bytes.max(sizes::INITIAL_DATAGRAM) } else { bytes }) as u16
    }

    /// Books a packet that leaves.
    fn leave(&mut self, now: Time, header: &Header, content: &Content, size: u16, config: &Config) {
        let state = if header.elicits { State::UnderWay } else { State::Bare };
        let reported = if header.ack.is_some() { self.received.next() } else { 0 };
        let mut sent = Sent { at: now, offset: 0, reported, len: 0, size, is_crypto: false, state };
        if let Content::Crypto(piece) | Content::Stream(piece) = content {
            sent.is_crypto = matches!(content, Content::Crypto(_));
            (sent.offset, sent.len) = (piece.offset, piece.len as u32);
            self.stream_of(&sent).sent(piece);
            self.tally.retransmissions += u64::from(piece.again);
            self.probe_from = piece.offset + piece.len;
        }
        self.record.send(sent);
        self.handshake.on_sent(size.into());
        if config.pacing && matches!(content, Content::Stream(_)) {
            let window = self.congestion.bytes(config);
            let stated = self.congestion.stated_rate();
            let rate = stated.unwrap_or_else(|| pacer::rate(window, self.rtt.smoothed()));
            let burst = self.congestion.burst(rate, config);
            self.pacer.sent(now, size.into(), burst, rate);
        }
        if header.elicits {
            self.set_timer(now, config);
        }
    }
}
