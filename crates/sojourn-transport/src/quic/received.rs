//! Packets that have come, and when they are acknowledged (RFC 9000 §13.2).
//!
//! An ACK frame reports all of them down to a smallest number, and refers to the log of arrivals by their count
//! (arrivals.rs).

use super::header::AckFrame;
use super::sizes;
use crate::config::Config;
use crate::moderation::Interrupts;
use crate::ranges::Ranges;
use sojourn_engine::units::Time;

/// Ranges that an end remembers, at most (RFC 9000 §13.2.3; 255 in Chromium).
const MOST_RANGES: usize = 255;
/// Of so many packets with nothing but an ACK frame one has a PING, so that the other end acknowledges
/// it and older ranges may be forgotten (RFC 9000 §13.2.4; 20 in Chromium and quic-go).
const BARE_PER_PING: u32 = 20;

/// What has come at an end.
pub(super) struct Received {
    /// Numbers of the packets that frames still tell of.
    numbers: Ranges,
    /// Below this number they do not.
    floor: u64,
    /// How many new ones have come.
    arrived: u64,
    /// One past the largest number, and when it came.
    next: u64,
    largest_at: Time,
    /// Packets that elicit an acknowledgement since the last frame.
    eliciting: u32,
    due: Time,
    is_due: bool,
    /// Packets with nothing but an ACK frame since the last one with more.
    bare: u32,
    interrupts: Interrupts,
}

impl Received {
    /// Nothing has come.
    pub(super) fn new() -> Self {
        Self {
            numbers: Ranges::default(),
            floor: 0,
            arrived: 0,
            next: 0,
            largest_at: Time::ZERO,
            eliciting: 0,
            due: Time::NEVER,
            is_due: false,
            bare: 0,
            interrupts: Interrupts::default(),
        }
    }

    /// A packet has come; says whether it is a new one (RFC 9000 §12.3). In the handshake
    /// acknowledgements are not delayed.
    pub(super) fn on_packet(
        &mut self,
        now: Time,
        number: u64,
        elicits: bool,
        is_handshake: bool,
        config: &Config,
    ) -> bool {
        if number < self.floor || self.numbers.insert(number, number + 1) == 0 {
            return false;
        }
        self.arrived += 1;
        // RFC 9000 §13.2.1: at once if it is out of order, or some are missing before it.
        let is_in_order = number == self.next;
        if number >= self.next {
            (self.next, self.largest_at) = (number + 1, now);
        }
        if self.numbers.count() > MOST_RANGES {
            self.forget_lowest();
        }
        if elicits {
            self.eliciting += 1;
            self.due = self.due.min(now + config.delayed_ack);
            // RFC 9000 §13.2.2: two packets at least, and all that were read together.
            let is_enough = is_handshake || !is_in_order || self.eliciting >= config.ack_every;
            match self.interrupts.arrive(now, config.interrupt_interval) {
                Some(handled) if is_enough && !is_handshake => self.due = self.due.min(handled),
                _ => self.is_due |= is_enough,
            }
        }
        true
    }

    fn forget_lowest(&mut self) {
        if let Some((_, end)) = self.numbers.first() {
            self.floor = end;
            self.numbers.remove_below(end);
        }
    }

    /// The other end knows of all below `end` (RFC 9000 §13.2.4). The highest range stays.
    pub(super) fn forget_below(&mut self, end: u64) {
        let highest = self.numbers.iter().next_back().map_or(0, |range| range.0);
        self.floor = self.floor.max(end.min(highest));
        self.numbers.remove_below(self.floor);
    }

    /// One past the largest number.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Is there something to acknowledge with a packet that leaves anyway?
    pub(super) fn has_news(&self) -> bool {
        self.eliciting > 0
    }

    /// Is an acknowledgement to leave now?
    pub(super) fn wants_ack(&self) -> bool {
        self.is_due
    }

    /// When a delayed one is due.
    pub(super) fn deadline(&self) -> Time {
        if self.is_due { Time::NEVER } else { self.due }
    }

    /// Handles the end of its delay.
    pub(super) fn on_timer(&mut self, now: Time) {
        self.is_due |= now >= self.due;
    }

    /// The ACK frame that a packet takes along, and its bytes, at most `room`. To make it fit, the oldest
    /// ranges are forgotten (RFC 9000 §13.2.3).
    pub(super) fn frame(&mut self, now: Time, room: u64) -> (AckFrame, u64) {
        let delay = sizes::reported_delay(now.since(self.largest_at));
        let mut bytes = sizes::ack_frame(delay, self.numbers.iter().rev());
        while bytes > room && self.numbers.count() > 1 {
            self.forget_lowest();
            bytes = sizes::ack_frame(delay, self.numbers.iter().rev());
        }
        (AckFrame { arrivals: self.arrived, smallest: self.floor, delay }, bytes)
    }

    /// A packet with an ACK frame leaves. Says whether one with nothing else is to elicit an acknowledgement.
    pub(super) fn acknowledged(&mut self, is_bare: bool) -> bool {
        (self.eliciting, self.due, self.is_due) = (0, Time::NEVER, false);
        self.bare = if is_bare { self.bare + 1 } else { 0 };
        let is_ping = self.bare >= BARE_PER_PING;
        if is_ping {
            self.bare = 0;
        }
        is_ping
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TcpOptions;
    use crate::config::Transport;
    use crate::quic::arrivals::Arrivals;
    use sojourn_engine::dialect::Dialect;
    use sojourn_engine::packet::Ecn;

    const MS: fn(u64) -> Time = Time::from_ms;

    fn config() -> Config {
        let transport = Some(Transport::Quic);
        let interrupt_interval_us = Some(0.0);
        TcpOptions { transport, interrupt_interval_us, ..TcpOptions::default() }
            .resolve(Dialect::Linux)
    }

    fn come(received: &mut Received, numbers: impl IntoIterator<Item = u64>) -> Arrivals {
        let mut arrivals = Arrivals::default();
        come_too(received, &mut arrivals, numbers);
        arrivals
    }

    fn come_too(
        received: &mut Received,
        arrivals: &mut Arrivals,
        numbers: impl IntoIterator<Item = u64>,
    ) {
        for number in numbers {
            assert!(received.on_packet(MS(1), number, true, false, &config()));
            arrivals.push(number, Ecn::NotEct);
        }
    }

    fn reported(arrivals: &mut Arrivals, frame: &AckFrame) -> Vec<u64> {
        let mut numbers = Vec::new();
        arrivals.tell(frame, |number, _| numbers.push(number));
        numbers
    }

    #[test]
    fn every_second_packet_or_after_25_ms_or_at_once_at_a_gap() {
        let mut received = Received::new();
        come(&mut received, [0]);
        assert_eq!((received.wants_ack(), received.deadline()), (false, MS(26)));
        come(&mut received, [1]);
        assert!(received.wants_ack());
        received.acknowledged(false);
        come(&mut received, [3]);
        assert!(received.wants_ack(), "2 is missing");
        received.acknowledged(false);
        come(&mut received, [2]);
        assert!(received.wants_ack(), "out of order");
        received.acknowledged(false);
        come(&mut received, [4]);
        received.on_timer(MS(25));
        assert!(!received.wants_ack());
        received.on_timer(MS(26));
        assert!(received.wants_ack());
        assert!(!received.on_packet(MS(30), 3, true, false, &config()), "3 has come before");
    }

    #[test]
    fn a_lost_frame_leaves_its_news_to_the_next_and_a_late_one_has_none() {
        let mut received = Received::new();
        let mut arrivals = come(&mut received, [0, 1, 5]);
        let (lost, _) = received.frame(MS(2), 1000);
        come_too(&mut received, &mut arrivals, [6, 3]);
        let (next, _) = received.frame(MS(2), 1000);
        assert_eq!(reported(&mut arrivals, &next), [0, 1, 5, 6, 3]);
        assert!(reported(&mut arrivals, &lost).is_empty());
    }

    /// 300 packets with a hole after each: 255 ranges stay, and the lowest 45 numbers are not reported.
    #[test]
    fn no_more_than_255_ranges_are_told() {
        let mut received = Received::new();
        let mut arrivals = come(&mut received, (0..300).map(|n| 2 * n));
        let (frame, bytes) = received.frame(MS(1), 1000);
        assert_eq!(frame.smallest, 2 * 44 + 1);
        let numbers = reported(&mut arrivals, &frame);
        assert_eq!((numbers.len(), numbers[0]), (255, 90));
        // Type; 598 in two bytes; delay; 254 ranges in two bytes; the first; 254 of two bytes.
        assert_eq!(bytes, 1 + 2 + 1 + 2 + 1 + 254 * 2);
        // In 100 bytes there is room for as many as leave 1 + 2 + 1 + 1 + 1 + 2n at most: 47.
        let (frame, bytes) = received.frame(MS(1), 100);
        assert_eq!((bytes, frame.smallest), (100, 598 - 2 * 47 - 1));
    }

    #[test]
    fn of_twenty_bare_ones_the_last_has_a_ping_and_its_acknowledgement_forgets() {
        let mut received = Received::new();
        come(&mut received, [0, 2, 4, 5]);
        let pings: Vec<u32> = (1..=40).filter(|_| received.acknowledged(true)).collect();
        assert_eq!(pings, [20, 40]);
        received.forget_below(3);
        assert_eq!(received.frame(MS(1), 1000).0.smallest, 3);
        // The highest range stays, even if all of it is known.
        received.forget_below(6);
        assert_eq!(received.frame(MS(1), 1000).0.smallest, 4);
    }
}
