//! What a control of a call is: a function of plain numbers.
//!
//! Times are in ms by the clocks of the two ends, sizes in bytes on the wire. From what reports say (`feedback.rs`) it says which
//! rate it allows, how fast packets leave, and whether they may.

use enum_dispatch::enum_dispatch;

use sojourn_engine::packet::Ecn;

/// The rates of a call in bit/s: at the start, the least and the greatest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    pub(super) start_bps: f64,
    pub(super) least_bps: f64,
    pub(super) most_bps: f64,
}

/// A probe to be sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Probe {
    pub(super) number: u32,
    pub(super) bps: f64,
    pub(super) packets: f64,
    pub(super) bytes: f64,
}

/// A packet that has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// When it was sent, by the sender's clock.
    pub(super) sent_ms: f64,
    /// When it arrived, by the receiver's clock.
    pub(super) arrived_ms: f64,
    /// Its size on the wire.
    pub(super) bytes: f64,
    /// Had a queue marked it?
    pub(super) is_marked: bool,
    /// The number of its probe, if it is a part of one.
    pub(super) probe: Option<u32>,
}

/// What a report says.
pub(super) struct Report<'a> {
    /// What has arrived, in that order.
    pub(super) arrivals: &'a [Arrival],
    /// So many have not arrived.
    pub(super) lost: u32,
    /// The bytes of all packets up to the newest one, of which the report before did not know.
    pub(super) bytes: f64,
    /// The ECN field that they were sent with.
    pub(super) ecn: Ecn,
}

/// What a law that keeps a window shows of itself.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Inside {
    pub(super) window_bytes: f64,
    pub(super) queue_ms: f64,
}

/// What sets the rate of a sender.
#[enum_dispatch]
pub(super) trait Law {
    /// The rate that it allows, in whole bit/s.
    fn target_bps(&self) -> u64;
    /// The rate at which packets leave in bit/s.
    fn pace_bps(&self) -> f64;
    /// A report has come.
    fn hear(&mut self, now_ms: f64, report: &Report<'_>);
    /// The probe that is due.
    fn next_probe(&mut self, _now_ms: f64) -> Option<Probe> {
        None
    }
    /// A picture of so many bytes was taken. The oldest packet has waited so long.
    fn film(&mut self, _bytes: f64, _waited_ms: f64) {}
    /// A packet is sent.
    fn send(&mut self, _now_ms: f64, _bytes: f64) {}
    /// How long a packet of so many bytes may not be sent yet if no report comes before.
    fn hold_ms(&self, _now_ms: f64, _bytes: f64) -> f64 {
        0.0
    }
    /// A picture is taken if the oldest packet has waited for less than this, or if none waits.
    fn patience_ms(&self) -> f64 {
        0.0
    }
    /// What it shows of itself beside its rate.
    fn inside(&self) -> Option<Inside> {
        None
    }
}
