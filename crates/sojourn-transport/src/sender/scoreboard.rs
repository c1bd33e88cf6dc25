//! What is under way, segment by segment: when each was last sent, and what became of it.
//!
//! Loss is detected by time (RACK, RFC 8985 §6.2): what was sent before something that has been delivered,
//! and is late by a reordering window, is lost; what was sent again may be lost again. Originals are
//! judged in the order of their numbers, which is that in which they were sent, and retransmissions in
//! theirs, so each is looked at once.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::ranges_of;
use crate::ranges::Ranges;
use crate::rate::RateSampler;
use sojourn_engine::packet::{SACK_BLOCKS, SackBlock};
use sojourn_engine::units::Time;

/// A segment that has been sent and is not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Sent {
    seq: u64,
    /// Sequence numbers that it takes, FIN included.
    len: u32,
    state: State,
    /// Was it ever sent again?
    is_repeated: bool,
    /// When it was last sent.
    at: Time,
    /// How many transmissions of any segment came before that one. RFC 8985 §6.2 says what was sent
    /// at one time by sequence numbers; here much is sent at one time, also again.
    order: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Under way for the first time.
    Original,
    /// Lost, and not sent again yet.
    Lost,
    /// Sent again, and under way.
    Again,
    /// The receiver holds it.
    Held,
}

impl Sent {
    fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }
}

/// The segment delivered last of all in the order of sending (RFC 8985 §6.2 step 2).
#[derive(Clone, Copy, Default)]
struct Latest {
    /// Its place among all transmissions, plus one: zero before the first.
    order: u64,
    /// How long it took.
    rtt: Time,
}

/// When an acknowledgement comes. What was sent again and seems to be delivered sooner than in the least round trip
/// was delivered before; so was what left later than the segment whose timestamp is echoed, which is never if that is
/// not asked.
pub(super) struct Arrival {
    /// Now.
    pub now: Time,
    /// The least round trip seen.
    pub min_rtt: Time,
    /// The timestamp.
    pub echo: Time,
}

/// What an acknowledgement delivers.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub(super) struct Delivery {
    /// Bytes newly acknowledged or held.
    pub bytes: u64,
    /// Bytes newly held.
    pub held: u64,
    /// Segments newly acknowledged or held.
    pub segments: u64,
    /// When those left that were newly acknowledged, and those that are newly held.
    acknowledged_sent: Span,
    held_sent: Span,
    /// Something acknowledged had been sent again.
    is_ambiguous: bool,
    /// One past the highest byte delivered before (RACK.fack), and how far below it an original was at most.
    pub was_highest: u64,
    pub late_by: u64,
}

impl Delivery {
    /// When the first and the last segment left that give a round trip: acknowledged ones, or else
    /// held ones, that were sent once (Karn). The last counts held ones before acknowledged ones.
    pub(super) fn timed(&self) -> Option<(Time, Time)> {
        let acknowledged = if self.is_ambiguous { None } else { self.acknowledged_sent.0 };
        let (first, _) = acknowledged.or(self.held_sent.0)?;
        let (_, last) = self.held_sent.0.or(acknowledged)?;
        Some((first, last))
    }
}

/// When the first and the last of some segments left.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
struct Span(Option<(Time, Time)>);

impl Span {
    fn add(&mut self, at: Time) {
        self.0 = Some((self.0.map_or(at, |(first, _)| first), at));
    }
}

/// Segments under way, in the order of their numbers.
#[derive(Default)]
pub(super) struct Scoreboard {
    segments: VecDeque<Sent>,
    /// How many have left at the front: the first has this number.
    gone: u64,
    held: Ranges,
    held_segments: u32,
    /// Bytes lost and not sent again, and segments.
    lost: u64,
    lost_segments: u32,
    latest: Latest,
    /// One past the highest byte delivered.
    highest: u64,
    /// Transmissions so far.
    sent: u64,
    /// The number of the first original that may have to be judged.
    judged: u64,
    /// Numbers of retransmissions, with their places among all transmissions.
    again: VecDeque<(u64, u64)>,
    /// Numbers of what is to be sent again; some may have been delivered since.
    to_send: BinaryHeap<Reverse<u64>>,
    /// Samples of the delivery rate, where the congestion control wants them.
    rate: Option<Box<RateSampler>>,
}

impl Scoreboard {
    /// From now on the rate of delivery is sampled.
    pub(super) fn sample_rate(&mut self) {
        self.rate = Some(Box::default());
    }

    /// The sampler of the delivery rate.
    pub(super) fn rate_mut(&mut self) -> Option<&mut RateSampler> {
        self.rate.as_deref_mut()
    }

    /// Bytes that the receiver holds beyond what it acknowledged.
    pub(super) fn held(&self) -> u64 {
        self.held.covered()
    }

    /// Segments that it holds so.
    pub(super) fn held_segments(&self) -> u32 {
        self.held_segments
    }

    /// Bytes lost and not sent again.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Was anything lost that has not been delivered since, sent again or not?
    pub(super) fn is_in_repair(&self) -> bool {
        let in_repair = |segment: &Sent| matches!(segment.state, State::Lost | State::Again);
        self.segments.iter().any(in_repair)
    }

    /// Segments under way that were sent again.
    pub(super) fn repeats(&self) -> u64 {
        self.segments.iter().filter(|segment| segment.state == State::Again).count() as u64
    }

    /// What was thought to be lost and has been sent only once is under way after all.
    pub(super) fn restore_lost(&mut self) {
        for segment in &mut self.segments {
            if segment.state == State::Lost && !segment.is_repeated {
                segment.state = State::Original;
                self.lost -= u64::from(segment.len);
                self.lost_segments -= 1;
            }
        }
        self.judged = self.gone;
    }

    /// Segments that are not acknowledged.
    pub(super) fn outstanding(&self) -> u64 {
        self.segments.len() as u64
    }

    /// Segments thought to be in the network.
    pub(super) fn under_way(&self) -> u64 {
        self.outstanding() - u64::from(self.held_segments) - u64::from(self.lost_segments)
    }

    /// When the first segment that is not acknowledged last left.
    pub(super) fn head_sent(&self) -> Option<Time> {
        self.segments.front().map(|segment| segment.at)
    }

    /// A new segment leaves.
    pub(super) fn send(&mut self, now: Time, seq: u64, len: u64) {
        if self.rate.is_some() {
            let in_flight = self.under_way();
            self.rate.iter_mut().for_each(|rate| rate.send(now, in_flight));
        }
        let (state, is_repeated, order) = (State::Original, false, self.count());
        self.segments.push_back(Sent { seq, len: len as u32, state, is_repeated, at: now, order });
    }

    /// The lowest segment that is lost and not sent again: where it begins, and its length.
    pub(super) fn next_lost(&mut self) -> Option<(u64, u64)> {
        while let Some(&Reverse(number)) = self.to_send.peek() {
            match self.get(number) {
                Some(segment) if segment.state == State::Lost => {
                    return Some((segment.seq, segment.len.into()));
                }
                _ => self.to_send.pop(),
            };
        }
        None
    }

    /// What [`Self::next_lost`] gave leaves again.
    pub(super) fn send_lost(&mut self, now: Time) {
        let Some(Reverse(number)) = self.to_send.pop() else { return };
        self.mark_again(number, now);
    }

    /// The place of the next transmission.
    fn count(&mut self) -> u64 {
        self.sent += 1;
        self.sent - 1
    }

    fn mark_again(&mut self, number: u64, now: Time) {
        let order = self.count();
        let Some(segment) = self.get_mut(number) else { return };
        let was = *segment;
        (segment.state, segment.at, segment.order) = (State::Again, now, order);
        segment.is_repeated = true;
        if was.state == State::Lost {
            self.lost -= u64::from(was.len);
            self.lost_segments -= 1;
        }
        self.again.push_back((number, order));
        if self.rate.is_some() {
            let in_flight = self.under_way().saturating_sub(1); // it counts already
            let place = (number - self.gone) as usize;
            self.rate.iter_mut().for_each(|rate| rate.send_again(place, now, in_flight));
        }
    }

    /// The last segment leaves again as a probe (RFC 8985 §7.3): where it begins, and its length.
    pub(super) fn send_last(&mut self, now: Time) -> Option<(u64, u64)> {
        let (offset, last) = self
            .segments
            .iter()
            .enumerate()
            .rev()
            .find(|(_, segment)| segment.state != State::Held)
            .map(|(offset, segment)| (offset, *segment))?;
        self.mark_again(self.gone + offset as u64, now);
        Some((last.seq, last.len.into()))
    }

    /// Takes in an acknowledgement of all below `ack`, with its blocks.
    pub(super) fn acknowledge(
        &mut self,
        at: &Arrival,
        ack: u64,
        blocks: &[SackBlock; SACK_BLOCKS],
    ) -> Delivery {
        let mut delivery = Delivery { was_highest: self.highest, ..Delivery::default() };
        if self.rate.is_some() {
            let in_flight = self.under_way();
            self.rate.iter_mut().for_each(|rate| rate.begin(in_flight));
        }
        for (start, end) in ranges_of(ack, blocks) {
            self.hold(at, (start, end), &mut delivery);
        }
        delivery.bytes = delivery.held;
        while let Some(first) = self.segments.front().copied().filter(|first| first.end() <= ack) {
            if first.state == State::Held {
                self.held_segments -= 1;
            } else {
                delivery.bytes += u64::from(first.len);
                delivery.segments += 1;
                match first.state {
                    State::Again => delivery.is_ambiguous = true,
                    _ => delivery.acknowledged_sent.add(first.at),
                }
                self.leave(0, &first, at, &mut delivery);
            }
            self.segments.pop_front();
            if let Some(rate) = &mut self.rate {
                rate.forget_first();
            }
            self.gone += 1;
        }
        self.held.remove_below(ack);
        self.judged = self.judged.max(self.gone);
        delivery
    }

    /// The receiver holds these bytes.
    fn hold(&mut self, at: &Arrival, (start, end): (u64, u64), delivery: &mut Delivery) {
        let mut from = start;
        while from < end {
            let (hole, next) = self.held.next_hole(from);
            let until = next.min(end);
            if hole >= until {
                break;
            }
            self.hold_hole(at, (hole, until), delivery);
            from = until;
        }
    }

    fn hold_hole(&mut self, at: &Arrival, (start, end): (u64, u64), delivery: &mut Delivery) {
        let first = self.segments.partition_point(|segment| segment.seq < start);
        for offset in first..self.segments.len() {
            let segment = self.segments[offset];
            if segment.end() > end {
                break;
            }
            self.leave(offset, &segment, at, delivery);
            delivery.segments += 1;
            if segment.state != State::Again {
                delivery.held_sent.add(segment.at);
            }
            self.segments[offset].state = State::Held;
            self.held_segments += 1;
            delivery.held += self.held.insert(segment.seq, segment.end());
        }
    }

    /// A segment is delivered.
    fn leave(&mut self, place: usize, segment: &Sent, at: &Arrival, delivery: &mut Delivery) {
        if let Some(rate) = &mut self.rate {
            rate.deliver(place, at.now);
        }
        if segment.state == State::Lost {
            self.lost -= u64::from(segment.len);
            self.lost_segments -= 1;
        }
        self.highest = self.highest.max(segment.end());
        if !segment.is_repeated {
            // RFC 8985 §6.2 step 3.
            let late_by = delivery.was_highest.saturating_sub(segment.seq);
            delivery.late_by = delivery.late_by.max(late_by);
        }
        let rtt = at.now.since(segment.at);
        let is_earlier = rtt < at.min_rtt || at.echo < segment.at;
        if segment.state == State::Again && is_earlier {
            return; // RFC 8985 §6.2 step 2: the original, not the retransmission, was delivered
        }
        if segment.order >= self.latest.order {
            self.latest = Latest { order: segment.order + 1, rtt };
        }
    }

    /// Marks what is lost by now (RFC 8985 §6.2 step 5). Gives the bytes newly lost, and when to look
    /// again if something is late but not by the reordering window yet.
    pub(super) fn detect(&mut self, now: Time, window: Time) -> (u64, Time) {
        let before = self.lost;
        let (mut look_again, allowed) = (Time::NEVER, self.latest.rtt + window);
        while let Some(segment) = self.get(self.judged).copied() {
            if segment.state == State::Original {
                match self.due(&segment, allowed) {
                    None => break,
                    Some(due) if due > now => {
                        look_again = due;
                        break;
                    }
                    Some(_) => self.lose(self.judged),
                }
            }
            self.judged += 1;
        }
        while let Some(&(number, order)) = self.again.front() {
            let under_way = self.get(number).copied();
            let is_it = |segment: &Sent| segment.state == State::Again && segment.order == order;
            if let Some(segment) = under_way.filter(is_it) {
                match self.due(&segment, allowed) {
                    None => break,
                    Some(due) if due > now => {
                        look_again = look_again.min(due);
                        break;
                    }
                    Some(_) => self.lose(number),
                }
            }
            self.again.pop_front();
        }
        (self.lost - before, look_again)
    }

    /// When a segment is lost by, if it was sent before the latest one delivered.
    fn due(&self, segment: &Sent, allowed: Time) -> Option<Time> {
        (self.latest.order > segment.order).then(|| segment.at + allowed)
    }

    fn lose(&mut self, number: u64) {
        if let Some(segment) = self.get_mut(number) {
            segment.state = State::Lost;
            let len = segment.len;
            self.lost += u64::from(len);
            self.lost_segments += 1;
            self.to_send.push(Reverse(number));
            if let Some(rate) = &mut self.rate {
                rate.lose((number - self.gone) as usize);
            }
        }
    }

    /// The retransmission timer expired: all that is not held is lost.
    pub(super) fn lose_all(&mut self) {
        for offset in 0..self.segments.len() {
            if matches!(self.segments[offset].state, State::Original | State::Again) {
                self.lose(self.gone + offset as u64);
            }
        }
        self.judged = self.gone + self.segments.len() as u64;
        self.again.clear();
    }

    fn get(&self, number: u64) -> Option<&Sent> {
        self.segments.get(number.checked_sub(self.gone)? as usize)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut Sent> {
        self.segments.get_mut(number.checked_sub(self.gone)? as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_ms;

    fn at(now_ms: u64) -> Arrival {
        Arrival { now: MS(now_ms), min_rtt: MS(50), echo: Time::NEVER }
    }

    fn blocks(held: &[(u32, u32)]) -> [SackBlock; SACK_BLOCKS] {
        let mut blocks = [SackBlock::default(); SACK_BLOCKS];
        for (block, (start, end)) in blocks.iter_mut().zip(held) {
            *block = SackBlock { start: *start, end: *end };
        }
        blocks
    }

    /// Five segments of 100 B, one a millisecond; the round trip is 50 ms.
    fn five() -> Scoreboard {
        let mut board = Scoreboard::default();
        (0..5).for_each(|i| board.send(MS(i), 1 + 100 * i, 100));
        board
    }

    #[test]
    fn what_was_sent_before_something_delivered_is_lost_after_the_window() {
        let mut board = five();
        // The third arrives: the first two were sent before it, and are late by then.
        let delivery = board.acknowledge(&at(52), 1, &blocks(&[(200, 300)]));
        assert_eq!((delivery.bytes, delivery.held, delivery.segments), (100, 100, 1));
        assert_eq!(delivery.timed(), Some((MS(2), MS(2))));
        // With a window of 12 ms the first is lost at 0 + 50 + 12, the second a millisecond later.
        assert_eq!(board.detect(MS(52), MS(12)), (0, MS(62)));
        assert_eq!(board.detect(MS(62), MS(12)), (100, MS(63)));
        assert_eq!(board.detect(MS(63), MS(12)), (100, Time::NEVER));
        assert_eq!(board.next_lost(), Some((1, 100)));
        board.send_lost(MS(63));
        assert_eq!(board.next_lost(), Some((101, 100)));
        assert_eq!(board.lost(), 100);
    }

    #[test]
    fn a_retransmission_is_lost_again_when_what_was_sent_after_it_arrives() {
        let mut board = five();
        board.acknowledge(&at(52), 1, &blocks(&[(200, 300)]));
        assert_eq!(board.detect(MS(52), Time::ZERO).0, 200);
        board.send_lost(MS(52));
        board.send_lost(MS(53));
        // The second retransmission arrives, and the first, sent before, has not.
        let delivery = board.acknowledge(&at(103), 1, &blocks(&[(100, 500)]));
        assert_eq!(delivery.bytes, 300);
        assert_eq!(board.detect(MS(103), Time::ZERO), (100, Time::NEVER));
        assert_eq!(board.next_lost(), Some((1, 100)));
    }

    #[test]
    fn an_acknowledgement_sooner_than_a_round_trip_is_of_the_original() {
        let mut board = five();
        board.acknowledge(&at(52), 1, &blocks(&[(200, 300)]));
        board.detect(MS(52), Time::ZERO);
        board.send_lost(MS(52));
        // 10 ms after it was sent again the first is acknowledged: the fourth is not judged by that.
        board.acknowledge(&at(62), 101, &blocks(&[(100, 200)]));
        assert_eq!(board.detect(MS(62), Time::ZERO), (0, Time::NEVER));
    }

    #[test]
    fn a_timeout_loses_all_that_is_not_held() {
        let mut board = five();
        board.acknowledge(&at(52), 1, &blocks(&[(200, 300)]));
        board.lose_all();
        assert_eq!((board.lost(), board.held()), (400, 100));
        let order: Vec<u64> = std::iter::from_fn(|| {
            let (seq, _) = board.next_lost()?;
            board.send_lost(MS(300));
            Some(seq)
        })
        .collect();
        assert_eq!(order, [1, 101, 301, 401]);
        assert_eq!(board.lost(), 0);
    }

    #[test]
    fn all_acknowledged_leaves_nothing() {
        let mut board = five();
        board.acknowledge(&at(52), 1, &blocks(&[(200, 300)]));
        board.detect(MS(52), Time::ZERO);
        board.send_lost(MS(52));
        let delivery = board.acknowledge(&at(110), 501, &blocks(&[]));
        assert_eq!(delivery.bytes, 400);
        assert_eq!((board.lost(), board.held(), board.next_lost()), (0, 0, None));
    }
}
