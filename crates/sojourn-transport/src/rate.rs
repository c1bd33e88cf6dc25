//! Delivery rate of a connection: the samples that BBR uses
//! (draft-cheng-iccrg-delivery-rate-estimation-02; Linux 6.18 counts segments as this does).
//!
//! Every segment remembers how much had been delivered when it left. When it arrives, what was delivered
//! since then, over the longer of the time that sending and that acknowledging took, is a sample of
//! the rate. The longer one, because acknowledgements may come compressed and sending may come in
//! bursts. A sample that was taken while the application had nothing to send is marked.
//!
//! Left out: samples of segments that a receiver discards after it reported them as held.

use std::collections::VecDeque;

use sojourn_engine::units::Time;

/// Where loss recovery stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossPhase {
    /// Nothing is known to be lost.
    #[default]
    Open,
    /// A loss is being repaired.
    Recovery,
    /// A timeout happened.
    AfterTimeout,
}

/// A segment that was judged lost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LostSegment {
    /// Its number: neighbours have neighbouring ones.
    pub number: u64,
    /// Segments in flight when it left, itself included.
    pub in_flight_then: u64,
    /// Segments lost since it left, itself included.
    pub lost_since: u64,
    /// Did the application have nothing more to send when it left?
    pub is_app_limited: bool,
}

/// What an acknowledgement says about the rate of delivery. Counts are of segments.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateSample<'a> {
    /// Now.
    pub now: Time,
    /// All that was delivered, and when something last was.
    pub delivered: u64,
    /// When something was last delivered.
    pub delivered_at: Time,
    /// All that was lost.
    pub lost: u64,
    /// Delivered by this acknowledgement.
    pub newly_delivered: u64,
    /// Judged lost with this acknowledgement.
    pub newly_lost: u64,
    /// Thought to be in the network before it, and after it.
    pub prior_in_flight: u64,
    /// Thought to be in the network after it.
    pub in_flight: u64,
    /// The rate, where one could be measured.
    pub rate: Option<Rate>,
    /// Round trip of what it acknowledges, if that was sent once; zero for none.
    pub rtt: Time,
    /// It may have waited for the timer of delayed acknowledgements.
    pub may_be_delayed: bool,
    /// Smoothed round-trip time, zero before the first measurement.
    pub srtt: Time,
    /// Minimum round-trip time, zero before the first measurement.
    pub min_rtt: Time,
    /// One-way delay, as that of [`Ack`](crate::cc::Ack).
    pub one_way: Time,
    /// Where loss recovery stands after it.
    pub phase: LossPhase,
    /// Was the window what limited sending?
    pub is_window_limited: bool,
    /// When pacing lets the next segments leave.
    pub next_departure: Time,
    /// What was judged lost since the last sample, also by timers.
    pub losses: &'a [LostSegment],
    /// Maximum window of the receiver in segments.
    pub max_window: f64,
}

/// A sample of the rate, from the segment that was sent last of those that an acknowledgement delivers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// Segments delivered since it left, and the time that took.
    pub delivered: u64,
    /// The time that took.
    pub interval: Time,
    /// What had been delivered when it left.
    pub prior_delivered: u64,
    /// Segments in flight when it left, itself included.
    pub in_flight_then: u64,
    /// Segments lost since it left.
    pub lost_since: u64,
    /// Did the application have nothing more to send when it left?
    pub is_app_limited: bool,
}

impl Rate {
    /// Segments per second.
    pub fn per_second(&self) -> f64 {
        self.delivered as f64 / self.interval.secs_f64()
    }
}

/// What a segment remembers of when it was last sent.
#[derive(Clone, Copy, Default)]
struct Stamp {
    delivered: u64,
    delivered_at: Time,
    /// When the first segment left of those that the sample is about.
    first_sent: Time,
    sent_at: Time,
    in_flight: u64,
    lost: u64,
    is_app_limited: bool,
}

/// The sampler of a connection: a stamp for each segment that is not acknowledged, in their order.
#[derive(Default)]
pub(crate) struct RateSampler {
    stamps: VecDeque<Stamp>,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    /// Samples are limited by the application until so much is delivered; zero if they are not.
    app_limited_until: u64,
    /// Before the acknowledgement at hand.
    delivered_before: u64,
    lost_before: u64,
    prior_in_flight: u64,
    /// The stamp of the segment sent last of those that the acknowledgement delivers.
    newest: Option<Stamp>,
    losses: Vec<LostSegment>,
    /// How many segments have been forgotten.
    gone: u64,
}

impl RateSampler {
    /// A new segment leaves, with so many in flight before it.
    pub(crate) fn send(&mut self, now: Time, in_flight: u64) {
        self.send_after(now, in_flight, self.stamps.is_empty());
    }

    /// A new segment leaves, perhaps the first after a silence.
    pub(crate) fn send_after(&mut self, now: Time, in_flight: u64, is_first: bool) {
        let stamp = self.stamp(now, in_flight, is_first);
        self.stamps.push_back(stamp);
    }

    /// The segment at this place leaves again.
    pub(crate) fn send_again(&mut self, place: usize, now: Time, in_flight: u64) {
        let stamp = self.stamp(now, in_flight, false);
        if let Some(old) = self.stamps.get_mut(place) {
            *old = stamp;
        }
    }

    /// draft §3.2: after a silence the clock of the sample begins with this segment.
    fn stamp(&mut self, now: Time, in_flight: u64, is_first: bool) -> Stamp {
        if is_first {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        Stamp {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            sent_at: now,
            in_flight: in_flight + 1,
            lost: self.lost,
            is_app_limited: self.app_limited_until > 0,
        }
    }

    /// An acknowledgement comes, with so many in flight before it.
    pub(crate) fn begin(&mut self, in_flight: u64) {
        self.prior_in_flight = in_flight;
        (self.delivered_before, self.lost_before) = (self.delivered, self.lost);
        self.newest = None;
    }

    /// The segment at this place is delivered (draft §3.3): of all that one acknowledgement delivers the
    /// one that was sent last counts.
    pub(crate) fn deliver(&mut self, place: usize, now: Time) {
        self.delivered += 1;
        self.delivered_at = now;
        let Some(&stamp) = self.stamps.get(place) else { return };
        if self.newest.is_none_or(|newest| stamp.sent_at >= newest.sent_at) {
            self.newest = Some(stamp);
            self.first_sent = stamp.sent_at;
        }
    }

    /// The first segment is acknowledged: nothing more will be asked about it.
    pub(crate) fn forget_first(&mut self) {
        self.stamps.pop_front();
        self.gone += 1;
    }

    /// The segment at this place is judged lost.
    pub(crate) fn lose(&mut self, place: usize) {
        self.lost += 1;
        if let Some(stamp) = self.stamps.get(place) {
            self.losses.push(LostSegment {
                number: self.gone + place as u64,
                in_flight_then: stamp.in_flight,
                lost_since: self.lost - stamp.lost,
                is_app_limited: stamp.is_app_limited,
            });
        }
    }

    /// The application has nothing more to send, and the window has room (draft §3.4).
    pub(crate) fn note_app_limited(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// Is what leaves now limited by the application?
    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited_until > 0
    }

    /// All of an acknowledgement is known: the sample (draft §3.3). One that took less than the least
    /// round trip is of a segment that had arrived before it was sent again.
    pub(crate) fn sample(&mut self, now: Time, min_rtt: Time, in_flight: u64) -> RateSample<'_> {
        if self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let rate = self.newest.and_then(|stamp| {
            let sending = stamp.sent_at.since(stamp.first_sent);
            let acknowledging = self.delivered_at.since(stamp.delivered_at);
            let interval = sending.max(acknowledging);
            (interval >= min_rtt && interval > Time::ZERO).then_some(Rate {
                delivered: self.delivered - stamp.delivered,
                interval,
                prior_delivered: stamp.delivered,
                in_flight_then: stamp.in_flight,
                lost_since: self.lost - stamp.lost,
                is_app_limited: stamp.is_app_limited,
            })
        });
        RateSample {
            now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            lost: self.lost,
            newly_delivered: self.delivered - self.delivered_before,
            newly_lost: self.lost - self.lost_before,
            prior_in_flight: self.prior_in_flight,
            in_flight,
            rate,
            min_rtt,
            losses: &self.losses,
            ..RateSample::default()
        }
    }

    /// The losses of a sample have been reported.
    pub(crate) fn clear_losses(&mut self) {
        self.losses.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_ms;

    /// Two segments leave at 0 and 10 ms and arrive a round trip of 100 ms later.
    fn two() -> RateSampler {
        let mut sampler = RateSampler::default();
        sampler.send(MS(0), 0);
        sampler.send(MS(10), 1);
        sampler
    }

    fn acknowledge(sampler: &mut RateSampler, now: u64, places: &[usize]) -> Option<Rate> {
        sampler.begin(0);
        places.iter().for_each(|&place| sampler.deliver(place, MS(now)));
        sampler.sample(MS(now), MS(50), 0).rate
    }

    #[test]
    fn the_first_sample_is_one_segment_in_a_round_trip() {
        let mut sampler = two();
        // One segment, from 0 to 100 ms.
        let rate = acknowledge(&mut sampler, 100, &[0]).unwrap();
        assert_eq!((rate.delivered, rate.interval, rate.prior_delivered), (1, MS(100), 0));
        assert_eq!((rate.per_second(), rate.in_flight_then), (10.0, 1));
        sampler.forget_first();
        // Two since the second left; it left when nothing was delivered: 0 to 110 ms.
        let rate = acknowledge(&mut sampler, 110, &[0]).unwrap();
        assert_eq!((rate.delivered, rate.interval, rate.in_flight_then), (2, MS(110), 2));
    }

    /// Ten segments, one each 10 ms, whose acknowledgements come all at 200 ms, the last ten at 201 ms. By
    /// the acknowledgements ten segments took 1 ms; they were sent in 100 ms.
    #[test]
    fn compressed_acknowledgements_do_not_raise_the_rate() {
        let mut sampler = RateSampler::default();
        (0..10).for_each(|i| sampler.send(MS(10 * i), i));
        acknowledge(&mut sampler, 200, &[9, 0, 1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        (0..10).for_each(|_| sampler.forget_first());
        sampler.send(MS(200), 0);
        (1..10).for_each(|i| sampler.send(MS(200 + 10 * i), i));
        // The last of them left 90 ms after the first, and all are acknowledged within 1 ms.
        assert_eq!(acknowledge(&mut sampler, 310, &[0]).unwrap().interval, MS(110));
        let rate = acknowledge(&mut sampler, 311, &(1..10).collect::<Vec<_>>()).unwrap();
        assert_eq!((rate.delivered, rate.interval), (10, MS(111)));
        assert!(rate.per_second() < 100.0);
    }

    /// What leaves again is stamped anew: the sample of a retransmission begins when it left, and the
    /// acknowledgement of its original, too soon after, gives none.
    #[test]
    fn a_retransmission_has_its_own_stamp() {
        let mut sampler = two();
        acknowledge(&mut sampler, 110, &[1]).unwrap();
        sampler.lose(0);
        let lost = LostSegment { in_flight_then: 1, lost_since: 1, ..LostSegment::default() };
        assert_eq!(sampler.losses, [lost]);
        sampler.send_again(0, MS(112), 0);
        // 112 - 10 = 102 ms from the segment delivered before to this one, 210 - 110 acknowledging.
        let rate = acknowledge(&mut sampler, 210, &[0]).unwrap();
        assert_eq!((rate.delivered, rate.interval, rate.lost_since), (1, MS(102), 0));

        let mut sampler = RateSampler::default();
        sampler.send(MS(0), 0);
        sampler.send_again(0, MS(300), 0);
        sampler.first_sent = MS(300);
        sampler.send_again(0, MS(300), 0);
        sampler.delivered_at = MS(300);
        sampler.send_again(0, MS(300), 0);
        assert_eq!(acknowledge(&mut sampler, 310, &[0]), None, "10 ms are less than the 50");
    }

    /// With two segments in flight the application ran dry: what leaves until they are delivered is
    /// marked, and what leaves afterwards is not.
    #[test]
    fn samples_are_app_limited_until_what_was_in_flight_is_delivered() {
        let mut sampler = two();
        sampler.note_app_limited(2);
        sampler.send(MS(50), 2);
        assert!(!acknowledge(&mut sampler, 100, &[0]).unwrap().is_app_limited);
        assert!(sampler.is_app_limited());
        assert!(!acknowledge(&mut sampler, 110, &[1]).unwrap().is_app_limited);
        assert!(sampler.is_app_limited(), "two of two: more than that must be delivered");
        assert!(acknowledge(&mut sampler, 150, &[2]).unwrap().is_app_limited);
        assert!(!sampler.is_app_limited());
    }
}
