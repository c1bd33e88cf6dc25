//! The reference window: it grows with what arrives, and falls by losses, by marks and by the delay of the queue.

use super::VIRTUAL_RTT_MS;
use super::queue_delay::QueueDelay;
use crate::apps::call_law::Report;
use sojourn_engine::packet::Ecn;

/// The least window (§4.2.2: `MIN_REF_WND`), and so many packets at least (public code of Ericsson: `cwndMin`).
const LEAST_BYTES: f64 = 3000.0;
const LEAST_PACKETS: f64 = 2.0;
/// What a loss and a mark of classic ECN leave of it (§4.2.2: `BETA_LOSS`, `BETA_ECN`).
const LOSS: f64 = 0.7;
const CLASSIC_MARK: f64 = 0.8;
/// Weights of a share of marked packets in their mean, as it rises and as it falls, and the longest time of a share (§4.2.1.3).
const ATTACK: f64 = 1.0 / 8.0;
const DECAY: f64 = 1.0 / 128.0;
const SHARE_MS: f64 = 10.0;
/// Growth of the window in a round trip beside that by a packet, in parts of it, so many round trips after congestion; in
/// proportion before (§4.2.2: `MUL_INCREASE_FACTOR`, `POST_CONGESTION_DELAY_RTT`).
const GROWTH: f64 = 0.02;
const CAUTIOUS_RTTS: f64 = 100.0;
/// It grows up to this many times what was in flight, and a packet (§4.2.2: `BYTES_IN_FLIGHT_HEAD_ROOM`).
const HEAD_ROOM: f64 = 1.5;
/// How much slower it moves near the window of the last congestion (§4.2.2.1).
const NEAR: f64 = 8.0;
const SLOWEST: f64 = 0.1;
const SLOWER: f64 = 0.25;
/// Losses below this share are of no queue, where there is no delay above this part of the target (§4.5.2: `LOSS_RATE_THRESHOLD`).
const LOSS_SHARE: f64 = 0.01;
const NO_QUEUE: f64 = 1.0 / 4.0;

/// What its law goes by beside the report.
pub(super) struct Seen {
    pub(super) now_ms: f64,
    pub(super) rtt_ms: f64,
    /// The most bytes in flight in this round trip and in the one before.
    pub(super) peaks: [f64; 2],
    /// Has the media its greatest rate?
    pub(super) is_most: bool,
}

/// The window, and what it knows of losses and marks.
pub(super) struct Window {
    packet_bytes: f64,
    bytes: f64,
    /// Its size at the last congestion, from which on it has grown or not.
    inflection: f64,
    has_grown: bool,
    /// When it was reduced last.
    reacted_ms: f64,
    /// What has come since.
    is_lost: bool,
    is_marked: bool,
    /// Was something lost in this round trip?
    is_lossy: bool,
    loss_share: f64,
    /// The mean share of marked packets, and what was counted since it was set.
    marked_share: f64,
    delivered: f64,
    marked: f64,
    shared_ms: f64,
}

impl Window {
    pub(super) fn new(packet_bytes: f64) -> Self {
        Self {
            packet_bytes,
            bytes: LEAST_BYTES.max(LEAST_PACKETS * packet_bytes),
            inflection: 1.0,
            has_grown: true,
            reacted_ms: f64::NEG_INFINITY,
            is_lost: false,
            is_marked: false,
            is_lossy: false,
            loss_share: 0.0,
            marked_share: 0.0,
            delivered: 0.0,
            marked: 0.0,
            shared_ms: 0.0,
        }
    }

    /// It begins with so many bytes.
    pub(super) fn begin(&mut self, bytes: f64) {
        self.set(bytes);
    }

    pub(super) fn bytes(&self) -> f64 {
        self.bytes
    }

    /// How many packets it has room for.
    pub(super) fn packets(&self) -> f64 {
        self.bytes / self.packet_bytes
    }

    /// A round trip is over: was something lost in it?
    pub(super) fn end_round(&mut self) -> bool {
        std::mem::take(&mut self.is_lossy)
    }

    fn set(&mut self, bytes: f64) {
        self.bytes = bytes.max(LEAST_BYTES).max(LEAST_PACKETS * self.packet_bytes);
    }

    /// Counts the losses and the marks of a report.
    pub(super) fn count(&mut self, now_ms: f64, report: &Report<'_>, rtt_ms: f64) {
        // Over two round trips, or so many packets that four losses make the share of a queue (§4.5.2).
        let weight = (LOSS_SHARE / 4.0).min(0.5 / self.packets());
        let arrived = report.arrivals.len() as i32;
        for _ in 0..report.lost {
            self.loss_share += weight * (1.0 - self.loss_share);
        }
        self.loss_share *= (0..arrived).fold(1.0, |kept, _| kept * (1.0 - weight));
        self.is_lost |= report.lost > 0;
        self.is_lossy |= report.lost > 0;
        let marked = report.arrivals.iter().filter(|one| one.is_marked).count() as f64;
        self.is_marked |= marked > 0.0;
        (self.delivered, self.marked) = (self.delivered + f64::from(arrived), self.marked + marked);
        if now_ms - self.shared_ms >= rtt_ms.min(SHARE_MS) {
            let share = self.marked / self.delivered;
            let weight = if share >= self.marked_share { ATTACK } else { DECAY };
            let goal = if share >= self.marked_share { share } else { 0.0 };
            self.marked_share += weight * (goal - self.marked_share);
            (self.delivered, self.marked, self.shared_ms) = (0.0, 0.0, now_ms);
        }
    }

    /// Moves it by a report.
    pub(super) fn update(&mut self, seen: &Seen, delay: &QueueDelay, report: &Report<'_>) {
        let away = NEAR * (self.bytes - self.inflection) / self.inflection;
        let away = (away * away).clamp(SLOWEST, 1.0);
        if seen.now_ms - self.reacted_ms >= seen.rtt_ms.min(VIRTUAL_RTT_MS) {
            if let Some(bytes) = self.reduced(seen, delay, away, report.ecn) {
                if self.has_grown {
                    (self.inflection, self.has_grown) = (self.bytes, false);
                }
                self.set(bytes);
                self.reacted_ms = seen.now_ms;
            }
            (self.is_lost, self.is_marked) = (false, false);
        }
        let grown = self.bytes + self.growth(seen, away, report);
        let most = self.packet_bytes + HEAD_ROOM * seen.peaks[0].max(seen.peaks[1]);
        if grown > self.bytes && grown <= most && !seen.is_most {
            (self.bytes, self.has_grown) = (grown, true);
        }
    }

    /// What congestion leaves of it, if there is any (§4.2.2.1).
    fn reduced(&self, seen: &Seen, delay: &QueueDelay, away: f64, ecn: Ecn) -> Option<f64> {
        let (mean_ms, target_ms) = (delay.mean_ms(), delay.target_ms());
        let is_loss = self.loss_share > LOSS_SHARE || mean_ms > NO_QUEUE * target_ms;
        // It may react several times in a long round trip.
        let times = (seen.rtt_ms / VIRTUAL_RTT_MS).max(1.0);
        if self.is_lost && is_loss {
            return Some(LOSS * self.bytes);
        }
        if self.is_marked && ecn != Ecn::Ect1 {
            return Some(CLASSIC_MARK * self.bytes);
        }
        if self.is_marked {
            // Near the last congestion it falls less, as it grows less there, unless there is a queue.
            let near = if delay.ms() < NO_QUEUE * target_ms { away.max(SLOWER) } else { 1.0 };
            let since_ms = seen.now_ms - self.reacted_ms;
            let is_long = since_ms > CAUTIOUS_RTTS * seen.rtt_ms.max(VIRTUAL_RTT_MS);
            // It may have grown far above what is in flight, as the rate is at its most.
            let bytes = if is_long { self.bytes.min(seen.peaks[1]) } else { self.bytes };
            return Some((1.0 - near * self.marked_share / 2.0 / times) * bytes);
        }
        // Above half of the target the delay does what marks would, all of them at the target.
        let virtual_share = (2.0 * mean_ms / target_ms - 1.0).min(1.0);
        (virtual_share > 0.0).then(|| (1.0 - virtual_share / 2.0 / times) * self.bytes)
    }

    /// What it grows by with a report: a packet in a round trip, and more after some without congestion (§4.2.2.2).
    fn growth(&self, seen: &Seen, away: f64, report: &Report<'_>) -> f64 {
        let marked = report.arrivals.iter().filter(|one| one.is_marked);
        let unmarked = report.bytes - marked.map(|one| one.bytes).sum::<f64>();
        let cautious_ms = CAUTIOUS_RTTS * seen.rtt_ms.max(VIRTUAL_RTT_MS);
        let trust = ((seen.now_ms - self.reacted_ms) / cautious_ms).min(1.0);
        unmarked
            * (1.0 / self.packets()).min(1.0)
            * (seen.rtt_ms / VIRTUAL_RTT_MS).min(1.0)
            * away.max(SLOWER)
            * (1.0 + GROWTH * self.packets() * trust * away)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::call_law::Arrival;

    fn arrival(sent_ms: f64, way_ms: f64, is_marked: bool) -> Arrival {
        Arrival { sent_ms, arrived_ms: sent_ms + way_ms, bytes: 1250.0, is_marked, probe: None }
    }

    /// A queue whose mean delay is a quarter of this: one packet that met none, and one that did.
    fn queue(ms: f64) -> QueueDelay {
        let mut delay = QueueDelay::default();
        delay.hear(25.0, &[arrival(0.0, 30.0, false)], 100.0);
        delay.hear(50.0, &[arrival(25.0, 30.0 + ms, false)], 100.0);
        delay
    }

    /// A window of 20 packets of 1250 B, 25 000 B, after reports each 10 ms on 20 packets more, of which so many were lost
    /// and so many marked. The round trip takes 100 ms, and much was in flight.
    fn after(reports: u32, (lost, marked): (u32, usize), ecn: Ecn, delay: &QueueDelay) -> f64 {
        let mut window = Window::new(1250.0);
        window.begin(25e3);
        for number in 1..=reports {
            let now_ms = 1000.0 + 10.0 * f64::from(number);
            let arrivals: Vec<Arrival> =
                (lost as usize..20).map(|place| arrival(0.0, 30.0, place >= 20 - marked)).collect();
            let report = Report { arrivals: &arrivals, lost, bytes: 25e3, ecn };
            window.count(now_ms, &report, 100.0);
            let seen = Seen { now_ms, rtt_ms: 100.0, peaks: [1e5; 2], is_most: false };
            window.update(&seen, delay, &report);
        }
        window.bytes()
    }

    #[track_caller]
    fn near(found: f64, want: f64) {
        assert!((found / want - 1.0).abs() < 1e-9, "{found} instead of {want}");
    }

    #[test]
    fn it_is_never_less_than_3000_bytes_and_two_packets() {
        for (packet_bytes, least_bytes) in [(100.0, 3000.0), (1500.0, 3000.0), (2000.0, 4000.0)] {
            let mut window = Window::new(packet_bytes);
            assert_eq!(window.bytes(), least_bytes);
            window.begin(1.0);
            assert_eq!(window.bytes(), least_bytes);
        }
    }

    #[test]
    fn a_share_of_losses_of_no_queue_leaves_it() {
        let seen = Seen { now_ms: 0.0, rtt_ms: 100.0, peaks: [0.0; 2], is_most: false };
        let kept = |loss_share: f64| {
            let window = Window { is_lost: true, loss_share, ..Window::new(1250.0) };
            window.reduced(&seen, &queue(0.0), 1.0, Ecn::NotEct)
        };
        assert_eq!((kept(0.01), kept(0.011)), (None, Some(0.7 * 3000.0)));
    }

    #[test]
    fn it_grows_by_a_packet_and_2_percent_in_a_round_trip() {
        near(after(1, (0, 0), Ecn::NotEct, &queue(0.0)), 25e3 + 1250.0 + 0.02 * 25e3);
        // What was in flight bounds it: 1.5 times 100 000 B and a packet.
        assert!(after(1000, (0, 0), Ecn::NotEct, &queue(0.0)) <= 1.5e5 + 1250.0);
    }

    #[test]
    fn losses_take_30_percent_if_they_are_many_or_a_queue_is_there() {
        // After a reduction it grows with the same report by a packet alone, as nothing is trusted; near the last congestion,
        // which it is away from by 8 * (0.7 - 1) squared, more than 1, not slower.
        let grown = |bytes: f64| bytes + 25e3 * 1250.0 / bytes;
        // A loss weighs 1 / 400: four are less than 1 %, five 1 - (399 / 400)^5 = 1.24 %, times (399 / 400)^15 = 1.2 %.
        near(after(1, (4, 0), Ecn::NotEct, &queue(0.0)), 25e3 + 1250.0 + 0.02 * 25e3);
        near(after(1, (5, 0), Ecn::NotEct, &queue(0.0)), grown(0.7 * 25e3));
        // A mean of 16 ms is more than a quarter of 60 ms.
        near(after(1, (1, 0), Ecn::NotEct, &queue(64.0)), grown(0.7 * 25e3));
        // Not again within 25 ms: the third report after it is the first that may.
        let [third, fourth] = [3, 4].map(|n| after(n, (5, 0), Ecn::NotEct, &queue(0.0)));
        assert!(third > 0.7 * 25e3 && fourth < third, "{third} {fourth}");
    }

    #[test]
    fn marks_take_a_fifth_or_by_their_share() {
        // All 20 are marked, so nothing grows. Classic ECN knows no share.
        near(after(1, (0, 20), Ecn::Ect0, &queue(0.0)), 0.8 * 25e3);
        // The mean share is 1 / 8 after one report, and half of that goes, in four parts in a round trip of 100 ms.
        near(after(1, (0, 20), Ecn::Ect1, &queue(0.0)), 25e3 * (1.0 - 1.0 / 8.0 / 2.0 / 4.0));
        // A tenth of that with two of 20: and what the 18 others let grow, near the last congestion at a quarter.
        let left = 25e3 * (1.0 - 1.0 / 80.0 / 2.0 / 4.0);
        near(after(1, (0, 2), Ecn::Ect1, &queue(0.0)), left + 22_500.0 * 1250.0 / left);
    }

    #[test]
    fn a_delay_above_half_of_the_target_does_what_marks_do() {
        // 30 ms are half of the target; 45 ms as if half of the packets were marked.
        let grown = |bytes: f64| bytes + 25e3 * 1250.0 / bytes;
        near(after(1, (0, 0), Ecn::NotEct, &queue(120.0)), 25e3 + 1250.0 + 0.02 * 25e3);
        near(after(1, (0, 0), Ecn::NotEct, &queue(180.0)), grown(25e3 * (1.0 - 0.5 / 2.0 / 4.0)));
    }
}
