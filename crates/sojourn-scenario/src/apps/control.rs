//! Controls of calls: what sets the rate of what a camera films.
//!
//! A law (`gcc`, `scream`) is a function of plain numbers: times in ms by the clocks of the two ends, sizes in bytes on the
//! wire, and what reports say (`feedback.rs`). It says which rate it allows, how fast packets leave, and whether they may.
//! Pictures, padding and probes are the same beside each law.

use enum_dispatch::enum_dispatch;

use super::Mean;
use super::feedback::{Feedback, Heard, Reports};
use super::gcc::{Gcc, Probe};
use super::pictures::{Picture, Sent};
use super::scream::Scream;
use sojourn_engine::packet::Ecn;
use sojourn_engine::units::{BitRate, Time};

/// The rates of a call in bit/s: at the start, the least and the greatest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    pub(super) start_bps: f64,
    pub(super) least_bps: f64,
    pub(super) most_bps: f64,
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

/// Every law there is.
#[enum_dispatch(Law)]
#[expect(clippy::large_enum_variant, reason = "it is always in one box")]
pub(super) enum AnyLaw {
    Gcc,
    Scream,
}

/// The control of what a camera films.
pub(super) struct Controlled {
    pub(super) law: AnyLaw,
    pub(super) feedback: Feedback,
    picture: Picture,
    layers: u32,
    /// The probe being sent, with its packets and bytes so far.
    probe: Option<(Probe, f64, f64)>,
    /// Bytes of padding that are due.
    padding: f64,
    /// Heights of its pictures, as shares of the largest one's.
    pub(super) filmed: Mean,
}

impl Controlled {
    /// A law whose receiver reports so, and a picture in layers.
    pub(super) fn new(law: AnyLaw, reports: Reports, (picture, layers): (Picture, u32)) -> Self {
        Self {
            law,
            feedback: Feedback::new(reports),
            picture,
            layers,
            probe: None,
            padding: 0.0,
            filmed: Mean::default(),
        }
    }

    /// Bytes of the next frame, on average.
    pub(super) fn frame_bytes(&mut self, now: Time, interval_s: f64) -> f64 {
        let target_bps = self.law.target_bps() as f64;
        let Sent { bps, padding_bps, height } = self.picture.sent(self.layers, target_bps);
        self.padding += padding_bps / 8.0 * interval_s;
        self.filmed.add(f64::from(height) / f64::from(self.picture.height()));
        if self.probe.is_none() {
            let probe = self.law.next_probe(now.ms_f64());
            self.probe = probe.map(|probe| (probe, 0.0, 0.0));
        }
        bps / 8.0 * interval_s
    }

    /// Is a packet of padding due?
    pub(super) fn pads(&self, packet_bytes: u64) -> bool {
        self.probe.is_some() || self.padding >= packet_bytes as f64
    }

    /// One is sent.
    pub(super) fn pad(&mut self, packet_bytes: u64) {
        self.padding = (self.padding - packet_bytes as f64).max(0.0);
    }

    /// How long a packet of so many bytes may not be sent yet.
    pub(super) fn hold(&self, now: Time, size: u64) -> Time {
        Time::from_secs_f64(self.law.hold_ms(now.ms_f64(), size as f64) / 1e3)
    }

    /// A packet is sent, which ends its frame or not: how long the next one waits.
    pub(super) fn send(&mut self, number: u64, at: Time, size: u64, ends_frame: bool) -> Time {
        let probe = self.probe.map(|(probe, ..)| probe);
        let of_probe = probe.map(|probe| probe.number);
        self.feedback.send(number, at, size as u16, of_probe, ends_frame);
        self.law.send(at.ms_f64(), size as f64);
        if let Some((probe, packets, bytes)) = &mut self.probe {
            (*packets, *bytes) = (*packets + 1.0, *bytes + size as f64);
            if *packets >= probe.packets && *bytes >= probe.bytes {
                self.probe = None;
            }
        }
        let pace_bps = probe.map_or_else(|| self.law.pace_bps(), |probe| probe.bps);
        BitRate::from_bps(pace_bps as u64).time_for(size)
    }

    /// The datagram with this number has arrived: is it a report? What that says is kept in `arrivals`.
    pub(super) fn hear(
        &mut self,
        number: u64,
        now: Time,
        ecn: Ecn,
        arrivals: &mut Vec<Arrival>,
    ) -> bool {
        let Some(Heard { lost, bytes }) = self.feedback.hear(number, arrivals) else {
            return false;
        };
        self.law.hear(now.ms_f64(), &Report { arrivals, lost, bytes: bytes as f64, ecn });
        true
    }
}
