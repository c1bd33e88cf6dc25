//! Reports on packets of a call: which arrived, when, and with which marks.
//!
//! The receiver sends one after another. Each says which packets have arrived since the report before. A report that is lost is
//! not sent again, and nobody knows of its packets.

use std::collections::VecDeque;

use super::call_law::Arrival;
use sojourn_engine::units::Time;

/// How a receiver reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reports {
    /// Transport-wide feedback, as often as a part of the rate allows (draft-holmer-rmcat-transport-wide-cc-extensions-01).
    TransportWide,
    /// Feedback for congestion control (RFC 8888), with each frame.
    PerFrame,
}

/// Transport-wide: bytes of a mean report on the wire, 68 B with IP and UDP, as libwebrtc counts them
/// (`remote_estimator_proxy.cc`), in an Ethernet frame; its part of the rate, of the 68 B.
const MEAN_BYTES: u16 = 86;
const RATE_SHARE: f64 = 0.05;
const COUNTED_BITS: f64 = 68.0 * 8.0;
const RANGE_S: [f64; 2] = [0.05, 0.25];

/// Per frame: a report is due with the last packet of a frame, with so many packets, and after this time
/// (draft-ietf-ccwg-rfc8298bis-screamv2-01 §5).
const MOST_PACKETS: usize = 16;
const LONGEST: Time = Time::from_ms(40);
/// Its bytes on the wire: headers of RTCP, of its stream and its time, of UDP, IP and Ethernet, and two for each packet, in
/// words of four (RFC 8888 §3.1).
const HEADER_BYTES: usize = 20 + 8 + 20 + 18;

impl Reports {
    /// The longest time between two of them at a rate, if packets arrive.
    pub(super) fn interval(self, bps: u64) -> Time {
        match self {
            Self::TransportWide => {
                let seconds = COUNTED_BITS / (RATE_SHARE * bps as f64);
                Time::from_secs_f64(seconds.clamp(RANGE_S[0], RANGE_S[1]))
            }
            Self::PerFrame => LONGEST,
        }
    }

    /// How long the first one waits at most.
    fn first(self) -> Time {
        match self {
            Self::TransportWide => Time::from_ms(100),
            Self::PerFrame => LONGEST,
        }
    }

    /// Times of arrival are given in steps of this: 250 us, and 1/1024 s (RFC 8888 §3.1).
    const fn step_ps(self) -> u64 {
        match self {
            Self::TransportWide => 250_000_000,
            Self::PerFrame => 1_000_000_000_000 / 1024,
        }
    }

    /// Bytes on the wire of one on so many packets.
    fn bytes(self, packets: usize) -> u16 {
        match self {
            Self::TransportWide => MEAN_BYTES,
            Self::PerFrame => (HEADER_BYTES + 4 * packets.div_ceil(2)) as u16,
        }
    }

    /// How many there are in a second at a rate, with so many frames and packets of them, and their bytes.
    pub(super) fn load(self, bps: u64, frames_per_s: f64, packets_per_s: f64) -> (f64, f64) {
        let per_s = match self {
            Self::TransportWide => 1.0 / self.interval(bps).secs_f64(),
            Self::PerFrame => (packets_per_s / MOST_PACKETS as f64)
                .max(frames_per_s)
                .max(1.0 / LONGEST.secs_f64()),
        };
        (per_s, f64::from(self.bytes((packets_per_s / per_s) as usize)))
    }
}

/// So long the sender remembers packets (libwebrtc: `kSendTimeHistoryWindow`), and so many reports are under way at most.
const REMEMBERED: Time = Time::from_s(60);
const MOST_REPORTS: usize = 1200;

/// A packet that was sent.
struct Sent {
    number: u64,
    at: Time,
    bytes: u16,
    probe: Option<u32>,
    ends_frame: bool,
    /// Was it in a report, or in one that was lost?
    is_reported: bool,
}

/// A packet that has arrived, when by the receiver's clock, and whether it was marked.
#[derive(Clone, Copy)]
struct Came {
    number: u64,
    at: Time,
    is_marked: bool,
}

/// What a report says beside the arrivals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Heard {
    /// Packets that have not arrived.
    pub(super) lost: u32,
    /// Bytes of all packets up to the newest one, of which the report before did not know.
    pub(super) bytes: u64,
}

/// The packets of one direction and the reports on them.
pub(super) struct Feedback {
    how: Reports,
    sent: VecDeque<Sent>,
    /// What has arrived and was not reported, or whose report is under way.
    arrived: VecDeque<Came>,
    unreported: usize,
    /// Reports under way: the number of each and its packets.
    reports: VecDeque<(u64, usize)>,
    /// When the next one is sent; none before a packet has arrived.
    due: Option<Time>,
    reported: Option<Time>,
}

impl Feedback {
    /// None yet.
    pub(super) fn new(how: Reports) -> Self {
        Self {
            how,
            sent: VecDeque::new(),
            arrived: VecDeque::new(),
            unreported: 0,
            reports: VecDeque::new(),
            due: None,
            reported: None,
        }
    }

    /// How long the receiver waits between reports at a rate.
    pub(super) fn interval(&self, bps: u64) -> Time {
        self.how.interval(bps)
    }

    /// A packet with this number is sent.
    pub(super) fn send(
        &mut self,
        number: u64,
        at: Time,
        bytes: u16,
        probe: Option<u32>,
        ends_frame: bool,
    ) {
        while self.sent.front().is_some_and(|first| first.at + REMEMBERED < at) {
            self.sent.pop_front();
        }
        self.sent.push_back(Sent { number, at, bytes, probe, ends_frame, is_reported: false });
    }

    /// A packet has arrived, marked or not. By the receiver's clock it is `reading`, and the next report is sent so long after
    /// the last one.
    pub(super) fn arrive(
        &mut self,
        (number, is_marked): (u64, bool),
        now: Time,
        reading: Time,
        interval: Time,
    ) {
        let step_ps = self.how.step_ps();
        let at = Time::from_ps(reading.ps() / step_ps * step_ps);
        self.arrived.push_back(Came { number, at, is_marked });
        self.unreported += 1;
        let mut ends_frame = || find(&mut self.sent, number).is_some_and(|sent| sent.ends_frame);
        if self.how == Reports::PerFrame && (self.unreported >= MOST_PACKETS || ends_frame()) {
            self.due = Some(now);
        }
        let next = self.reported.map_or(now + self.how.first(), |at| (at + interval).max(now));
        self.due.get_or_insert(next);
    }

    /// When the next report is due.
    pub(super) fn due(&self) -> Time {
        self.due.unwrap_or(Time::NEVER)
    }

    /// The datagram with this number is a report on all that has arrived. Returns its bytes on the wire.
    pub(super) fn report(&mut self, number: u64, now: Time) -> u16 {
        if self.reports.len() == MOST_REPORTS
            && let Some((_, count)) = self.reports.pop_front()
        {
            self.arrived.drain(..count);
        }
        let packets = std::mem::take(&mut self.unreported);
        self.reports.push_back((number, packets));
        (self.due, self.reported) = (None, Some(now));
        self.how.bytes(packets)
    }

    /// The datagram with this number has arrived: if it is a report, what it says.
    pub(super) fn hear(&mut self, number: u64, out: &mut Vec<Arrival>) -> Option<Heard> {
        out.clear();
        let place = self.reports.iter().position(|(report, _)| *report == number)?;
        for lost in self.reports.drain(..place) {
            for Came { number, .. } in self.arrived.drain(..lost.1) {
                if let Some(sent) = find(&mut self.sent, number) {
                    sent.is_reported = true;
                }
            }
        }
        let (_, count) = self.reports.pop_front()?;
        let mut newest = None;
        for Came { number, at, is_marked } in self.arrived.drain(..count) {
            newest = newest.max(Some(number));
            // One that came after a later one that was reported was counted as lost.
            let Some(sent) = find(&mut self.sent, number) else { continue };
            sent.is_reported = true;
            out.push(Arrival {
                sent_ms: sent.at.ms_f64(),
                arrived_ms: at.ms_f64(),
                bytes: sent.bytes.into(),
                is_marked,
                probe: sent.probe,
            });
        }
        let over = self.sent.partition_point(|sent| Some(sent.number) <= newest);
        let add = |heard: Heard, sent: Sent| Heard {
            lost: heard.lost + u32::from(!sent.is_reported),
            bytes: heard.bytes + u64::from(sent.bytes),
        };
        Some(self.sent.drain(..over).fold(Heard { lost: 0, bytes: 0 }, add))
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
            assert_eq!(Reports::TransportWide.interval(bps), Time::from_us(us), "{bps}");
        }
    }

    /// 66 B and 4 B for two packets: with each frame, with 16 packets, and ten times in a second.
    #[test]
    fn reports_with_frames_are_as_many_and_large_as_what_they_are_on() {
        let loads = [((30.0, 120.0), (30.0, 74.0)), ((30.0, 960.0), (60.0, 98.0))];
        for ((frames_per_s, packets_per_s), want) in loads {
            assert_eq!(Reports::PerFrame.load(1_000_000, frames_per_s, packets_per_s), want);
        }
        let (per_s, bytes) = Reports::TransportWide.load(217_600, 30.0, 120.0);
        assert_eq!((per_s, bytes), (1.0 / Time::from_ms(50).secs_f64(), f64::from(MEAN_BYTES)));
    }

    #[test]
    fn a_report_says_what_arrived_and_what_did_not() {
        let mut feedback = Feedback::new(Reports::TransportWide);
        let mut out = Vec::new();
        for number in 0..6 {
            feedback.send(number, Time::from_ms(number), 1000, None, false);
        }
        let arrive = |feedback: &mut Feedback, number: u64, us: u64| {
            let at = Time::from_us(us);
            feedback.arrive((number, false), at, at, Time::from_ms(50));
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
        assert_eq!(feedback.hear(6, &mut out), Some(Heard { lost: 1, bytes: 3000 }), "packet 1");
        let arrived: Vec<_> = out.iter().map(|one| (one.sent_ms, one.arrived_ms)).collect();
        assert_eq!(arrived, [(0.0, 20.25), (2.0, 22.0)]);
        // The report on packet 3 is lost: nothing is known of it. Packet 1 comes late.
        feedback.report(7, Time::from_ms(170));
        arrive(&mut feedback, 1, 180_000);
        arrive(&mut feedback, 5, 181_000);
        feedback.report(8, Time::from_ms(230));
        assert_eq!(feedback.hear(8, &mut out), Some(Heard { lost: 1, bytes: 3000 }), "packet 4");
        assert_eq!(out.iter().map(|one| one.sent_ms).collect::<Vec<_>>(), [5.0]);
        assert!(feedback.sent.is_empty() && feedback.arrived.is_empty());
    }

    #[test]
    fn a_report_comes_with_each_frame_and_with_16_packets() {
        let mut feedback = Feedback::new(Reports::PerFrame);
        let mut out = Vec::new();
        for number in 0..20 {
            feedback.send(number, Time::ZERO, 1000, None, number == 1);
        }
        let arrive = |feedback: &mut Feedback, number: u64, us: u64| {
            let at = Time::from_us(us);
            feedback.arrive((number, number == 1), at, at, Time::from_ms(40));
            feedback.due()
        };
        // After 40 ms at the latest, but at once with the end of a frame. 2 packets take a word: 66 + 4 B.
        assert_eq!(arrive(&mut feedback, 0, 20_000), Time::from_us(60_000));
        assert_eq!(arrive(&mut feedback, 1, 21_000), Time::from_us(21_000));
        assert_eq!(feedback.report(20, Time::from_us(21_000)), 70);
        // 16 packets take 8 words.
        for number in 2..17 {
            assert_eq!(arrive(&mut feedback, number, 22_000), Time::from_us(61_000));
        }
        assert_eq!(arrive(&mut feedback, 17, 23_000), Time::from_us(23_000));
        assert_eq!(feedback.report(21, Time::from_us(23_000)), 98);
        assert_eq!(feedback.hear(20, &mut out), Some(Heard { lost: 0, bytes: 2000 }));
        let marks: Vec<_> = out.iter().map(|one| (one.arrived_ms, one.is_marked)).collect();
        // 20 and 21 ms are 20.48 and 21.5 steps of 1/1024 s.
        assert_eq!(marks, [(20.0 / 1.024, false), (21.0 / 1.024, true)]);
    }
}
