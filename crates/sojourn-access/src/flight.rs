//! What a packet spends its time on from when it leaves its service flow until it has crossed the cable or the
//! fibre: all of it is known when it leaves.

use sojourn_engine::packet::Packet;
use sojourn_engine::record::{Legs, Part, Recorder};
use sojourn_engine::units::Time;

use super::delay_line::DelayLine;

/// Until when a packet is what.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    /// When it left its queue, or its modem.
    pub came: Time,
    /// It waits for tokens until then.
    pub begins: Time,
    /// It is being sent until then, frames and symbols of the channel included.
    pub sent: Time,
    /// Its modem has put it in order again.
    pub ordered: Time,
    /// It has come over cable and interconnect.
    pub arrives: Time,
    /// Its random time on the interconnect is over.
    pub crossed: Time,
    /// Its modem passes it on.
    pub passes: Time,
}

impl Way {
    /// Of a packet that is sent from `begins` to `sent`, after it left its queue at `came`.
    #[inline(always)]
    pub(crate) fn sent(came: Time, begins: Time, sent: Time) -> Self {
        Self { came, begins, sent, ordered: sent, arrives: sent, crossed: sent, passes: sent }
    }

    /// It arrives then, and is at its end.
    #[inline(always)]
    pub(crate) fn arriving(self, arrives: Time) -> Self {
        Self { arrives, crossed: arrives, passes: arrives, ..self }
    }

    /// Of one that spends its time on nothing else.
    #[inline(always)]
    pub(crate) fn spend(&self, packet: &Packet, recorder: &mut Recorder) {
        let legs = [
            (Part::Shaping, self.begins),
            (Part::Transmission, self.sent),
            (Part::Propagation, self.arrives),
        ];
        recorder.delays.spends(packet, self.came, legs);
    }

    pub(crate) fn legs(&self) -> Legs<6> {
        [
            (Part::Shaping, self.begins),
            (Part::Transmission, self.sent),
            (Part::Resequencing, self.ordered),
            (Part::Propagation, self.arrives),
            (Part::Jitter, self.crossed),
            (Part::Stall, self.passes),
        ]
    }
}

/// A cable or a fibre: packets in transit, and their ways where these do not follow from when they arrive.
pub(crate) struct Medium {
    packets: DelayLine<Packet>,
    ways: Option<Box<DelayLine<Way>>>,
}

impl Medium {
    /// With nothing on it. Ways are kept if packets spend time on more than shaping, transmission and propagation.
    pub(crate) fn new(keeps_ways: bool) -> Self {
        let ways = keeps_ways.then(|| Box::new(DelayLine::new(Time::ZERO)));
        Self { packets: DelayLine::new(Time::ZERO), ways }
    }

    /// Takes a packet. Returns whether the next to arrive may be another than before.
    #[inline(always)]
    pub(crate) fn accept(&mut self, packet: Packet, way: Way, recorder: &mut Recorder) -> bool {
        match &mut self.ways {
            None => way.spend(&packet, recorder),
            Some(ways) => {
                recorder.delays.spends(&packet, way.came, way.legs());
                ways.accept(way.passes, way);
            }
        }
        self.packets.accept(way.passes, packet)
    }

    /// When the next packet arrives.
    #[inline]
    pub(crate) fn next_wake(&self) -> Time {
        self.packets.next_wake()
    }

    /// The next packet, and when it arrives.
    #[inline(always)]
    pub(crate) fn wake(&mut self) -> Option<(Time, Packet)> {
        if let Some(ways) = &mut self.ways {
            ways.wake();
        }
        self.packets.wake()
    }

    /// The packets in transit.
    pub(crate) fn items(&self) -> impl Iterator<Item = &Packet> {
        self.packets.items().map(|(_, packet)| packet)
    }

    /// The run ends: what its packets would spend after now is not counted. Says of one that arrives at some time what
    /// its way was.
    pub(crate) fn close(
        &self,
        now: Time,
        recorder: &mut Recorder,
        way_of: impl Fn(&Packet, Time) -> Way,
    ) {
        let mut ways = self.ways.iter().flat_map(|ways| ways.items());
        for (at, packet) in self.packets.items() {
            let way = ways.next().map_or_else(|| way_of(packet, *at), |(_, way)| *way);
            recorder.delays.takes_back(now, packet, way.came, way.legs());
        }
    }
}
