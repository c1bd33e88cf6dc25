//! Controls of calls: what sets the rate of what a camera films.
//!
//! Pictures, padding and probes are the same beside each law (`call_law.rs`).

use enum_dispatch::enum_dispatch;

use super::Mean;
use super::call_law::{Arrival, Inside, Law, Probe, Report};
use super::feedback::{Feedback, Heard, Reports};
use super::gcc::Gcc;
use super::pictures::{Picture, Sent};
use super::scream::Scream;
use sojourn_engine::packet::Ecn;
use sojourn_engine::units::{BitRate, Time};

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
