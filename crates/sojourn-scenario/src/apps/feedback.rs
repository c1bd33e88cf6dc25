//! Reports on packets of a call: which arrived and when (transport-wide feedback, draft-holmer-rmcat-transport-wide-cc-extensions-01).
//!
//! The receiver sends one after another, as often as a part of the rate allows. It says of each packet whether it arrived
//! since the report before. A report that is lost is not sent again, and nobody knows of its packets.

use std::collections::VecDeque;

use super::gcc::Arrival;
use sojourn_engine::units::Time;

/// Bytes of a mean report on the wire: 68 B with IP and UDP, as libwebrtc counts them (`remote_estimator_proxy.cc`), in an
/// Ethernet frame.
pub(super) const REPORT_BYTES: u16 = 86;
/// Its part of the rate, of the 68 B.
const RATE_SHARE: f64 = 0.05;
const COUNTED_BITS: f64 = 68.0 * 8.0;
/// The time between reports, at first and its range.
const FIRST: Time = Time::from_ms(100);
const RANGE_S: [f64; 2] = [0.05, 0.25];
/// Arrivals are reported in steps of this.
const STEP_PS: u64 = 250_000_000;

/// So long the sender remembers packets (libwebrtc: `kSendTimeHistoryWindow`), and so many reports are under way at most.
const REMEMBERED: Time = Time::from_s(60);
const MOST_REPORTS: usize = 1200;

/// A packet that was sent.
struct Sent {
    number: u64,
    at: Time,
    bytes: u16,
    probe: Option<u32>,
    /// Was it in a report, or in one that was lost?
    is_reported: bool,
}

/// The packets of one direction and the reports on them.
#[derive(Default)]
pub(super) struct Feedback {
    sent: VecDeque<Sent>,
    /// What has arrived and was not reported, or whose report is under way.
    arrived: VecDeque<(u64, Time)>,
    unreported: usize,
    /// Reports under way: the number of each and its packets.
    reports: VecDeque<(u64, usize)>,
    /// When the next one is sent; none before a packet has arrived.
    due: Option<Time>,
    reported: Option<Time>,
}

/// How long the receiver waits between reports at a rate.
pub(super) fn interval(bps: u64) -> Time {
    let seconds = COUNTED_BITS / (RATE_SHARE * bps as f64);
    Time::from_secs_f64(seconds.clamp(RANGE_S[0], RANGE_S[1]))
}

impl Feedback {
    /// A packet with this number is sent.
    pub(super) fn send(&mut self, number: u64, at: Time, bytes: u16, probe: Option<u32>) {
        while self.sent.front().is_some_and(|first| first.at + REMEMBERED < at) {
            self.sent.pop_front();
        }
        self.sent.push_back(Sent { number, at, bytes, probe, is_reported: false });
    }

    /// A packet has arrived. By the receiver's clock it is `reading`, and the next report is sent so long after the last one.
    pub(super) fn arrive(&mut self, number: u64, now: Time, reading: Time, interval: Time) {
        let steps = reading.ps() / STEP_PS * STEP_PS;
        self.arrived.push_back((number, Time::from_ps(steps)));
        self.unreported += 1;
        let next = self.reported.map_or(now + FIRST, |at| (at + interval).max(now));
        self.due.get_or_insert(next);
    }

    /// When the next report is due.
    pub(super) fn due(&self) -> Time {
        self.due.unwrap_or(Time::NEVER)
    }

    /// The datagram with this number is a report on all that has arrived.
    pub(super) fn report(&mut self, number: u64, now: Time) {
        if self.reports.len() == MOST_REPORTS
            && let Some((_, count)) = self.reports.pop_front()
        {
            self.arrived.drain(..count);
        }
        self.reports.push_back((number, std::mem::take(&mut self.unreported)));
        (self.due, self.reported) = (None, Some(now));
    }

    /// The datagram with this number has arrived: if it is a report, what it says, and how many packets are missing.
    pub(super) fn hear(&mut self, number: u64, out: &mut Vec<Arrival>) -> Option<u32> {
        out.clear();
        let place = self.reports.iter().position(|(report, _)| *report == number)?;
        for lost in self.reports.drain(..place) {
            for (number, _) in self.arrived.drain(..lost.1) {
                if let Some(sent) = find(&mut self.sent, number) {
                    sent.is_reported = true;
                }
            }
        }
        let (_, count) = self.reports.pop_front()?;
        let mut newest = None;
        for (number, at) in self.arrived.drain(..count) {
            newest = newest.max(Some(number));
            // One that came after a later one that was reported was counted as lost.
            let Some(sent) = find(&mut self.sent, number) else { continue };
            sent.is_reported = true;
            out.push(Arrival {
                sent_ms: sent.at.ms_f64(),
                arrived_ms: at.ms_f64(),
                bytes: sent.bytes.into(),
                probe: sent.probe,
            });
        }
        let over = self.sent.partition_point(|sent| Some(sent.number) <= newest);
        Some(self.sent.drain(..over).filter(|sent| !sent.is_reported).count() as u32)
    }
}

fn find(sent: &mut VecDeque<Sent>, number: u64) -> Option<&mut Sent> {
    let place = sent.binary_search_by_key(&number, |sent| sent.number).ok()?;
    sent.get_mut(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_take_5_percent_of_the_rate_within_their_range() {
        // 68 * 8 / (0.05 * 100 000) = 0.1088 s; from 217.6 kbit/s on 50 ms, below 43.52 kbit/s 250 ms.
        let cases = [(100_000, 108_800), (217_600, 50_000), (5_000_000, 50_000), (30_000, 250_000)];
        for (bps, us) in cases {
            assert_eq!(interval(bps), Time::from_us(us), "{bps}");
        }
    }

    #[test]
    fn a_report_says_what_arrived_and_what_did_not() {
        let mut feedback = Feedback::default();
        let mut out = Vec::new();
        for number in 0..6 {
            feedback.send(number, Time::from_ms(number), 1000, None);
        }
        let arrive = |feedback: &mut Feedback, number: u64, us: u64| {
            feedback.arrive(number, Time::from_us(us), Time::from_us(us), Time::from_ms(50));
        };
        assert_eq!(feedback.due(), Time::NEVER);
        arrive(&mut feedback, 0, 20_300);
        // The first report comes 100 ms after the first packet.
        assert_eq!(feedback.due(), Time::from_us(120_300));
        arrive(&mut feedback, 2, 22_000);
        feedback.report(6, Time::from_us(120_300));
        assert_eq!(feedback.due(), Time::NEVER);
        arrive(&mut feedback, 3, 121_000);
        assert_eq!(feedback.due(), Time::from_us(170_300));
        assert_eq!(feedback.hear(5, &mut out), None, "no report");
        assert_eq!(feedback.hear(6, &mut out), Some(1), "packet 1");
        let arrived: Vec<_> = out.iter().map(|one| (one.sent_ms, one.arrived_ms)).collect();
        assert_eq!(arrived, [(0.0, 20.25), (2.0, 22.0)]);
        // The report on packet 3 is lost: nothing is known of it. Packet 1 comes late.
        feedback.report(7, Time::from_ms(170));
        arrive(&mut feedback, 1, 180_000);
        arrive(&mut feedback, 5, 181_000);
        feedback.report(8, Time::from_ms(230));
        assert_eq!(feedback.hear(8, &mut out), Some(1), "packet 4");
        assert_eq!(out.iter().map(|one| one.sent_ms).collect::<Vec<_>>(), [5.0]);
        assert!(feedback.sent.is_empty() && feedback.arrived.is_empty());
    }
}
