//! Probes: short trains of packets at a higher rate, and what of it arrives (libwebrtc: `probe_controller.cc`,
//! `probe_bitrate_estimator.cc`).

use std::collections::VecDeque;

use crate::apps::call_law::{Arrival, Probe, Rates};

/// The first two probes are so many times the rate at the start; each later one twice what the call has then.
const FIRST: [f64; 2] = [3.0, 6.0];
const FURTHER: f64 = 2.0;
/// A probe that finds this part of its rate is followed by another one.
const ENOUGH: f64 = 0.7;
/// So long is what a probe allows waited for.
const WAIT_MS: f64 = 1000.0;
/// A probe has so many packets at least, and lasts so long.
const PACKETS: f64 = 5.0;
const LENGTH_MS: f64 = 15.0;
/// Of these, this part has to arrive.
const ARRIVED: f64 = 0.8;
/// Nothing longer is measured, nor what arrives so much faster than it was sent.
const LONGEST_MS: f64 = 1000.0;
const MOST_FASTER: f64 = 2.0;
/// Where less than this arrives of what was sent, the line is full: the rate stays below what arrives.
const FULL: f64 = 0.9;
const UTILISATION: f64 = 0.95;

/// What has arrived of a probe.
#[derive(Clone, Copy)]
struct Train {
    probe: Probe,
    packets: f64,
    bytes: f64,
    first: Arrival,
    /// The one that was sent last, and when one arrived last.
    last: Arrival,
    arrived_ms: f64,
}

/// All probes of a call.
pub(super) struct Probes {
    most_bps: f64,
    /// Those that wait to be sent.
    due: VecDeque<Probe>,
    /// Those that were sent last.
    sent: VecDeque<Probe>,
    numbers: u32,
    train: Option<Train>,
    /// What the rate has to exceed for another one, and until when.
    further: Option<(f64, f64)>,
}

impl Probes {
    pub(super) fn new(rates: Rates) -> Self {
        let mut probes = Self {
            most_bps: rates.most_bps,
            due: VecDeque::new(),
            sent: VecDeque::new(),
            numbers: 0,
            train: None,
            further: None,
        };
        FIRST.into_iter().for_each(|times| probes.plan(times * rates.start_bps));
        probes
    }

    fn plan(&mut self, bps: f64) {
        if self.due.back().is_some_and(|last| last.bps >= self.most_bps) {
            return;
        }
        let (number, bps) = (self.numbers, bps.min(self.most_bps));
        let bytes = bps / 8.0 * LENGTH_MS / 1e3;
        self.due.push_back(Probe { number, bps, packets: PACKETS, bytes });
        self.numbers += 1;
    }

    /// The probe to be sent now.
    pub(super) fn next(&mut self, now_ms: f64) -> Option<Probe> {
        let probe = self.due.pop_front()?;
        self.sent.push_back(probe);
        if self.sent.len() > FIRST.len() {
            self.sent.pop_front();
        }
        let is_last = self.due.is_empty() && probe.bps < self.most_bps;
        self.further = is_last.then_some((ENOUGH * probe.bps, now_ms + WAIT_MS));
        Some(probe)
    }

    /// The call has this rate now.
    pub(super) fn allowed(&mut self, now_ms: f64, bps: f64) {
        if self.further.is_some_and(|(above_bps, until_ms)| bps > above_bps && now_ms < until_ms) {
            self.further = None;
            self.plan(FURTHER * bps);
        }
    }

    /// A packet has arrived; what its probe has found so far.
    pub(super) fn hear(&mut self, one: &Arrival) -> Option<f64> {
        let probe = *self.sent.iter().find(|probe| Some(probe.number) == one.probe)?;
        let train = match &mut self.train {
            Some(train) if train.probe.number == probe.number => {
                train.add(one);
                train
            }
            train => train.insert(Train {
                probe,
                packets: 1.0,
                bytes: one.bytes,
                first: *one,
                last: *one,
                arrived_ms: one.arrived_ms,
            }),
        };
        train.bps()
    }
}

impl Train {
    fn add(&mut self, one: &Arrival) {
        (self.packets, self.bytes) = (self.packets + 1.0, self.bytes + one.bytes);
        if one.sent_ms > self.last.sent_ms {
            self.last = *one;
        }
        self.arrived_ms = self.arrived_ms.max(one.arrived_ms);
    }

    /// The rate in bit/s between its first packet and its last one.
    fn bps(&self) -> Option<f64> {
        let Probe { packets, bytes, .. } = self.probe;
        let is_enough = self.packets >= ARRIVED * packets && self.bytes >= ARRIVED * bytes;
        let sent_ms = self.last.sent_ms - self.first.sent_ms;
        let arrived_ms = self.arrived_ms - self.first.arrived_ms;
        let is_measured = |ms: f64| ms > 0.0 && ms <= LONGEST_MS;
        if !is_enough || !is_measured(sent_ms) || !is_measured(arrived_ms) {
            return None;
        }
        let sent_bps = 8e3 * (self.bytes - self.last.bytes) / sent_ms;
        let arrived_bps = 8e3 * (self.bytes - self.first.bytes) / arrived_ms;
        let bps = if arrived_bps < FULL * sent_bps { UTILISATION * arrived_bps } else { sent_bps };
        (arrived_bps <= MOST_FASTER * sent_bps).then(|| bps.min(arrived_bps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: Rates = Rates { start_bps: 3e5, least_bps: 3e4, most_bps: 2.5e6 };

    /// What a probe finds whose packets of 1250 B are sent and arrive so far apart.
    fn found(sent_ms: f64, arrived_ms: f64) -> Option<f64> {
        let mut probes = Probes::new(RATES);
        let probe = probes.next(0.0)?;
        let packet = |number: f64| Arrival {
            sent_ms: number * sent_ms,
            arrived_ms: 30.0 + number * arrived_ms,
            bytes: 1250.0,
            is_marked: false,
            probe: Some(probe.number),
        };
        let found = [0.0, 1.0, 2.0, 3.0].map(|number| probes.hear(&packet(number)));
        assert_eq!(found[..3], [None; 3], "4 of 5 packets have to arrive");
        found[3]
    }

    #[test]
    fn a_probe_finds_the_lower_of_what_is_sent_and_what_arrives() {
        // 10 kbit each 10 ms are 1 Mbit/s, and each 20 ms 500 kbit/s, of which 95 % are taken.
        assert_eq!(found(10.0, 10.0), Some(1e6));
        assert_eq!(found(10.0, 20.0), Some(0.95 * 5e5));
        // 9.5 ms: 1.0526 Mbit/s arrive, but 1 Mbit/s was sent. Twice as fast is no measure.
        assert_eq!(found(10.0, 9.5), Some(1e6));
        assert_eq!(found(10.0, 4.9), None);
    }

    #[test]
    fn probes_go_on_while_they_find_enough() {
        let mut probes = Probes::new(RATES);
        let rates = [probes.next(0.0), probes.next(60.0)].map(|probe| probe.unwrap().bps);
        assert_eq!(rates, [0.9e6, 1.8e6]);
        probes.allowed(100.0, 0.7 * 1.8e6);
        assert_eq!(probes.next(100.0), None, "not more than 70 %");
        probes.allowed(200.0, 1.3e6);
        let third = probes.next(200.0).unwrap();
        assert_eq!((third.bps, third.packets, third.bytes), (2.5e6, 5.0, 2.5e6 / 8.0 * 0.015));
        // That was the most.
        probes.allowed(300.0, 2.5e6);
        assert_eq!(probes.next(300.0), None);
    }
}
