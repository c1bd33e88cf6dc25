//! Packets on the cable or the fibre, with what their time is spent on until they arrive: all of it is known when
//! they leave their service flow.

use sojourn_engine::count::Count;
use sojourn_engine::packet::Packet;
use sojourn_engine::record::{Legs, Part, Recorder, until};
use sojourn_engine::units::Time;

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
    pub(crate) fn sent(came: Time, begins: Time, sent: Time) -> Self {
        Self { came, begins, sent, ordered: sent, arrives: sent, crossed: sent, passes: sent }
    }

    /// It arrives then, and is at its end.
    pub(crate) fn arriving(self, arrives: Time) -> Self {
        Self { arrives, crossed: arrives, passes: arrives, ..self }
    }

    #[inline]
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

/// A packet on its way.
pub(crate) struct Flight {
    pub packet: Packet,
    pub way: Way,
}

impl Flight {
    /// The packet, which has arrived.
    #[inline]
    pub(crate) fn land(self, recorder: &mut Recorder) -> Packet {
        recorder.delays.spends(&self.packet, self.way.came, self.way.legs());
        self.packet
    }

    /// The run ends: the packet has spent its time until now.
    pub(crate) fn close(&self, now: Time, recorder: &mut Recorder) {
        recorder.delays.spends(&self.packet, self.way.came, until(now, self.way.legs()));
    }

    pub(crate) fn count(&self) -> Count {
        Count::of(&self.packet)
    }
}
