//! The two-queue modem of White & Padden 2012 §2.2: a rate-shaping queue with the queue manager,
//! followed by a drop-tail transmit queue that requests bandwidth and sends.

use super::modem::{Modem, show_channel};
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
        Self {
            shaping_queue: ShapingQueue::new(managed, back_pressure, sojourn_across_both),
            modem: Modem::unshaped(transmit, spec, context),
        }
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
