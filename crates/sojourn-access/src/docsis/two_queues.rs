//! The two-queue modem of White & Padden 2012 §2.2: a rate-shaping queue with the queue manager,
//! followed by a drop-tail transmit queue that requests bandwidth and sends.

use super::modem::{Modem, channel_rate, show_channel};
use super::request_grant::MacCounters;
use super::shaping_queue::ShapingQueue;
use crate::context::ServiceFlowContext;
use crate::service::Upstream;
use sojourn_engine::count::Count;
use sojourn_engine::packet::Packet;
use sojourn_engine::queue::{NextQueue, Queue, QueueSpec, default_limit_bytes};
use sojourn_engine::record::Recorder;
use sojourn_engine::units::{BitRate, Time};

/// How the two queues work together.
pub(crate) struct TwoQueues {
    /// The transmit queue's limit.
    pub transmit: QueueSpec,
    /// Does a full transmit queue hold packets back (§2.2.3, the second alternative)?
    pub back_pressure: bool,
    /// Does the queue manager look at both queues (§2.2.3, the first alternative)?
    pub sojourn_across_both: bool,
}

/// A rate-shaping queue in front of a modem; the two share its token buckets.
pub(crate) struct TwoQueueModem {
    shaping_queue: ShapingQueue,
    /// The part that requests and sends.
    modem: Modem,
}

impl TwoQueueModem {
    /// An idle modem with full token buckets.
    pub(crate) fn new(queues: &TwoQueues, spec: &Upstream, context: &ServiceFlowContext) -> Self {
        let buffer_bytes = default_limit_bytes(BitRate::from_mbps(spec.sustained_mbps));
        let managed = context.queue("upstream", &spec.queue, buffer_bytes);
        let transmit = context.plain_queue("transmit", &queues.transmit, buffer_bytes);
        let TwoQueues { back_pressure, sojourn_across_both, .. } = *queues;
        let modem = Modem::unshaped(transmit, spec, context);
        let shaping_queue = ShapingQueue::new(managed, back_pressure, sojourn_across_both)
            .in_modem(modem.mac.silent.clone());
        Self { shaping_queue, modem }
    }

    /// From now on it has other rates, and other parameters of the queue that has the queue manager.
    pub(crate) fn retune(&mut self, now: Time, spec: &Upstream) {
        self.modem.retune_rates(now, spec, channel_rate(spec));
        self.shaping_queue.retune(&spec.queue, &self.modem.mac.shaper);
    }

    /// Takes a packet from the home.
    pub(crate) fn accept(&mut self, now: Time, packet: Packet, recorder: &mut Recorder) {
        self.modem.mac.arrive(now, &packet, recorder);
        self.shaping_queue.accept(now, packet, &self.modem.mac.shaper, recorder);
    }

    /// Moves packets that the rate-shaping queue lets pass to the transmit queue.
    fn feed(&mut self, now: Time, recorder: &mut Recorder) {
        loop {
            let Self { shaping_queue, modem } = self;
            let transmit =
                NextQueue { sojourn: modem.last_sojourn(), backlog: modem.queue().backlog() };
            let has_room = modem.queue().has_room();
            let shaper = &mut modem.mac.shaper;
            let Some(packet) = shaping_queue.release(now, has_room, transmit, shaper, recorder)
            else {
                return modem.mac.probe.bucket(recorder, &modem.mac.shaper.sustained);
            };
            modem.enqueue(now, packet, recorder);
        }
    }

    /// The next wake time.
    #[inline]
    pub(crate) fn next_wake(&self) -> Time {
        self.modem.next_wake().min(self.shaping_queue.next_wake())
    }

    /// Does one thing that is due. Returns the packet whose last byte has been sent, if any. At
    /// equal times the order is: the end of a piece, the rate-shaping queue, the MAP, the start of
    /// a burst.
    pub(crate) fn wake(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        if self.modem.burst_is_due(now) {
            let sent = self.modem.continue_burst(now, recorder);
            self.feed(now, recorder);
            return sent;
        }
        if self.shaping_queue.next_wake() <= now {
            if self.modem.skips_maps() {
                self.shaping_queue.on_map(0, 0); // the MAPs that were skipped
            }
            self.shaping_queue.update(now, &self.modem.mac.shaper);
            self.feed(now, recorder);
            return None;
        }
        let sent = self.modem.wake(now, recorder);
        if let Some(granted) = self.modem.take_last_map() {
            self.shaping_queue.on_map(granted.bytes, granted.ungranted);
        }
        sent
    }

    /// When the CMTS has received what has been sent by now, without propagation.
    #[inline]
    pub(crate) fn received_at(&self, now: Time) -> Time {
        self.modem.received_at(now)
    }

    /// Packets and bytes it holds.
    pub(crate) fn inside(&self) -> Count {
        self.modem.inside().plus(self.shaping_queue.inside())
    }

    /// The run ends: what is in it, but in its queues, has spent its time until now.
    pub(crate) fn close(&self, now: Time, recorder: &mut Recorder) {
        self.shaping_queue.close(now, recorder);
        self.modem.mac.close(now, recorder);
    }

    /// Counters of the MAC.
    pub(crate) fn counters(&self) -> MacCounters {
        self.modem.counters()
    }

    /// Its queues, the one with the queue manager first.
    pub(crate) fn queues(&self) -> [&Queue; 2] {
        [self.shaping_queue.queue(), self.modem.queue()]
    }

    /// Samples its queues and the channel's free capacity for their time series.
    pub(crate) fn sample(&mut self, now: Time) {
        let mbps = self.modem.channel_mbps(now);
        self.shaping_queue.sample(|gauges| show_channel(gauges, mbps));
        self.modem.sample_queue();
    }
}

#[cfg(test)]
mod tests {
    use super::super::for_tests::*;
    use super::*;

    /// Seven packets of 1000 B come at 1 ms: when they are sent, and what happened.
    fn sent(
        back_pressure: bool,
        limit_packets: u64,
    ) -> (Vec<Time>, Vec<(Time, &'static str, u64)>) {
        let transmit = QueueSpec { limit_packets: Some(limit_packets), ..QueueSpec::default() };
        let queues = TwoQueues { transmit, back_pressure, sojourn_across_both: false };
        let mut modem =
            TwoQueueModem::new(&queues, &upstream("mac.grant_spread_percent = 0"), &context());
        let mut recorder = tracing();
        (0..7).for_each(|n| modem.accept(MS(1), packet(n, 1000), &mut recorder));
        assert_eq!(modem.inside(), Count { packets: 7, bytes: 7000 });
        let mut sent = Vec::new();
        while modem.next_wake() < Time::from_s(1) {
            let now = modem.next_wake();
            sent.extend(modem.wake(now, &mut recorder).map(|_| now));
        }
        assert_eq!(modem.inside(), Count::default());
        (sent, events(&mut recorder))
    }

    /// The bucket of the peak rate has 1522 B, so that the second packet is let through after 239 us and each other after 500.
    /// Those that have been by 2 ms, three, are requested then, the others at 4 ms; they are sent from the start of the
    /// interval, two MAPs later.
    #[test]
    fn packets_are_shaped_before_they_are_requested() {
        let (sent, events) = sent(false, 32);
        let of = |kind| events.iter().filter(move |(_, k, _)| *k == kind);
        assert_eq!(of("arrive").filter(|event| **event == (MS(1), "arrive", 1000)).count(), 7);
        let released: Vec<_> = of("release").map(|(at, ..)| *at).collect();
        assert_eq!(released, [0, 239, 739, 1239, 1739, 2239, 2739].map(|us| MS(1) + US(us)));
        let held: Vec<_> = of("hold").map(|(at, ..)| *at).collect();
        assert_eq!((held[0], &held[1..]), (MS(1), &released[..6]));
        let requests: Vec<_> = of("request").copied().collect();
        assert_eq!(requests, [(MS(2), "request", 3000), (MS(4), "request", 4000)]);
        let want = [6080, 6160, 6240, 8080, 8160, 8240, 8320].map(US);
        assert_eq!(sent, want);
    }

    /// The rate-shaping queue is updated and hears of MAPs, also of those that were skipped: 8 Mbps stay its estimate.
    #[test]
    fn the_algorithm_hears_of_maps_and_is_updated() {
        let (transmit, back_pressure) = (QueueSpec::default(), false);
        let queues = TwoQueues { transmit, back_pressure, sojourn_across_both: false };
        for is_busy in [false, true] {
            let mut recorder = Recorder::default();
            let mut modem = TwoQueueModem::new(&queues, &upstream(TRACKING), &context());
            let update = modem.next_wake();
            // Of a packet that waits MAPs leave nothing ungranted.
            if is_busy {
                modem.accept(update - MS(3), packet(0, 1000), &mut recorder);
            }
            while modem.next_wake() <= update {
                modem.wake(modem.next_wake(), &mut recorder);
            }
            assert_eq!(modem.modem.skips_maps(), !is_busy);
            modem.sample(update);
            assert_eq!(rate_estimate(modem.queues()[0]), 8.0);
            assert!(modem.queues()[1].series().all(|(_, series)| series.values.len() == 1));
        }
    }

    /// A transmit queue of two packets drops five, or holds them back.
    #[test]
    fn a_full_transmit_queue_drops_or_holds_back() {
        let (few, events) = sent(false, 2);
        let dropped = events.iter().filter(|(_, kind, _)| *kind == "drop").count();
        assert_eq!(few.len() + dropped, 7);
        assert!(dropped >= 3, "{events:?}");
        let (all, events) = sent(true, 2);
        assert_eq!(
            (all.len(), events.iter().filter(|(_, kind, _)| *kind == "drop").count()),
            (7, 0)
        );
        assert!(all.is_sorted() && all[6] > MS(10));
    }
}
