//! The split of each packet's one-way delay by what it waits for, from the events of its modem.
//!
//! Every instant from the packet's sending to its delivery belongs to one part, so the parts add up to
//! the latency, to the picosecond. The modem's bytes are counted in the order in which they are sent:
//! of each piece of a packet it is then known which request asked for its last byte, which MAP granted
//! it, and when all bytes before it had been asked for, granted and sent. A piece waits
//!
//! 1. for the modem's next chance to ask (request wait);
//! 2. where that chance did not go as far as this piece: while bytes before it have not been asked for
//!    (queue), then while the token buckets keep the modem from asking for its own (shaping);
//! 3. for the first MAP that can answer the request, two MAPs on (grant wait);
//! 4. where that MAP did not grant it: while bytes before it have not been granted (queue), then for a
//!    MAP that grants its own (shaping if tokens are what was lacking, else grant wait);
//! 5. for the place of the grant in the MAP interval (grant wait);
//! 6. for its turn within the grant (queue), and then for its tokens (shaping);
//!
//! and then is being sent (transmission). In the two-queue modem it waits before all this under the
//! queue manager (queue) and for tokens (shaping). Without a MAC only the sixth wait is there. Granted
//! bytes that are not used, as the packet was dropped that they were for, go to those behind it: these
//! may so find themselves asked for before they came.

use std::collections::HashMap;

use super::modem_trace::{ModemEvent, ModemEventKind};
use crate::units::Time;
use sojourn_input::named;

named! {
    /// What a packet's time is spent on.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    #[repr(u8)]
    pub enum Part {
        /// Waiting behind others.
        Queue = "queue",
        /// Waiting for a chance to ask for bandwidth, lost contention included.
        RequestWait = "request_wait",
        /// Waiting for the grant.
        GrantWait = "grant_wait",
        /// Waiting for tokens of the service flow's buckets, none of those before it in the way.
        Shaping = "shaping",
        /// Being sent, at the channel's rate.
        Transmission = "transmission",
        /// On the way from the modem to its server: cable, CMTS, the link to the server.
        Path = "path",
    }
}

/// The parts of a delivered packet's delay.
#[derive(Clone, Copy, Debug)]
pub struct Delay {
    /// Number of the packet in the run.
    pub packet: u64,
    /// Entry of the traffic list.
    pub traffic: u16,
    /// When it was sent.
    pub sent_at: Time,
    /// By [`Part`].
    pub parts: [Time; Part::ALL.len()],
}

impl Delay {
    /// The one-way delay.
    pub fn total(&self) -> Time {
        self.parts.iter().fold(Time::ZERO, |sum, part| sum + *part)
    }
}

/// Splits the delays of packets that came to their servers at these times, in the order of arrival.
/// Events are in the order of time.
pub fn split(events: &[ModemEvent], deliveries: &[(u64, Time)]) -> Vec<Delay> {
    let mut modem = Modem::default();
    let mut sent = HashMap::new();
    for event in events {
        if let Some(packet) = modem.follow(event) {
            sent.insert(packet.number, packet);
        }
    }
    let delay = |(number, at): &(u64, Time)| {
        let mut packet = sent.remove(number)?;
        packet.spend(Part::Path, *at);
        let Visit { traffic, parts, .. } = packet;
        let took = parts.iter().fold(Time::ZERO, |sum, part| sum + *part);
        Some(Delay { packet: *number, traffic, sent_at: at.since(took), parts })
    };
    deliveries.iter().filter_map(delay).collect()
}

/// A packet on its way through the modem.
struct Visit {
    number: u64,
    traffic: u16,
    /// When it came to the queue that the MAC sends from, and when it was taken from there.
    came: Time,
    taken: Time,
    /// Until then its time is split.
    until: Time,
    parts: [Time; Part::ALL.len()],
}

impl Visit {
    fn new(number: u64, traffic: u16, now: Time) -> Self {
        let parts = [Time::ZERO; Part::ALL.len()];
        Self { number, traffic, came: now, taken: now, until: now, parts }
    }

    /// What is not yet split of the time before `until` belongs to this part.
    fn spend(&mut self, part: Part, until: Time) {
        self.parts[part as usize] += until.since(self.until);
        self.until = self.until.max(until);
    }
}

/// A growing count of bytes over time.
#[derive(Default)]
struct Running(Vec<(Time, u64)>);

impl Running {
    fn add(&mut self, at: Time, bytes: u64) {
        let before = self.0.last().map_or(0, |(_, sum)| *sum);
        self.0.push((at, before + bytes));
    }

    /// When it came to `bytes`, which it has.
    fn reached(&self, bytes: u64) -> Time {
        let index = self.0.partition_point(|(_, sum)| *sum < bytes);
        self.0.get(index).filter(|_| bytes > 0).map_or(Time::ZERO, |(at, _)| *at)
    }
}

/// Moments at which the MAC could do something, and whether tokens were lacking.
#[derive(Default)]
struct Moments(Vec<(Time, bool)>);

impl Moments {
    fn add(&mut self, at: Time) {
        if self.0.last().is_none_or(|(last, _)| *last < at) {
            self.0.push((at, false));
        }
    }

    fn lack_tokens(&mut self) {
        self.0.iter_mut().last().into_iter().for_each(|moment| moment.1 = true);
    }

    /// The first at `at` or later.
    fn from(&self, at: Time) -> Time {
        let index = self.0.partition_point(|(moment, _)| *moment < at);
        self.0.get(index).map_or(Time::NEVER, |moment| moment.0)
    }

    /// The second after `at`.
    fn second_after(&self, at: Time) -> Time {
        let index = self.0.partition_point(|(moment, _)| *moment <= at) + 1;
        self.0.get(index).map_or(Time::NEVER, |moment| moment.0)
    }

    /// Were tokens lacking at the last one before `at`?
    fn lacked_tokens_before(&self, at: Time) -> bool {
        let index = self.0.partition_point(|(moment, _)| *moment < at);
        index > 0 && self.0[index - 1].1
    }
}

/// What the modem has done so far.
#[derive(Default)]
struct Modem {
    waiting: HashMap<u64, Visit>,
    asked: Running,
    granted: Running,
    chances: Moments,
    maps: Moments,
    begun: Moments,
    /// Bytes of grants sent or not used.
    used: u64,
    sending: Option<Visit>,
}

impl Modem {
    /// Takes in an event; gives the packet that has been sent with it.
    fn follow(&mut self, event: &ModemEvent) -> Option<Visit> {
        let (at, bytes) = (event.at, event.bytes);
        match (event.kind, event.packet) {
            (ModemEventKind::Arrive, Some(number)) => {
                let traffic = event.traffic.unwrap_or_default();
                self.waiting.insert(number, Visit::new(number, traffic, at));
            }
            (ModemEventKind::Hold, Some(number)) => {
                self.waiting.get_mut(&number)?.spend(Part::Queue, at);
            }
            (ModemEventKind::Release, Some(number)) => {
                let packet = self.waiting.get_mut(&number)?;
                packet.spend(Part::Shaping, at);
                packet.came = at;
            }
            (ModemEventKind::Drop(_), Some(number)) => {
                self.waiting.remove(&number);
            }
            (ModemEventKind::Dequeue, Some(number)) => {
                let packet = self.waiting.remove(&number)?;
                self.sending = Some(Visit { taken: at, ..packet });
            }
            (ModemEventKind::Sent, _) => {
                let mut packet = self.sending.take()?;
                packet.spend(Part::Transmission, at);
                return Some(packet);
            }
            (ModemEventKind::Request, _) => {
                self.asked.add(at, bytes);
                self.chances.add(at);
            }
            (ModemEventKind::Map, _) => {
                self.granted.add(at, bytes);
                self.maps.add(at);
            }
            (ModemEventKind::Withhold, _) => {
                self.chances.add(at);
                self.chances.lack_tokens();
            }
            (ModemEventKind::Defer, _) => self.maps.lack_tokens(),
            (ModemEventKind::Grant, _) => self.begun.add(at),
            (ModemEventKind::Piece, _) => self.begin_piece(at, bytes),
            (ModemEventKind::PieceEnd, _) => {
                self.sending.iter_mut().for_each(|packet| packet.spend(Part::Transmission, at));
            }
            (ModemEventKind::Unused, _) => self.used += bytes,
            _ => {}
        }
        None
    }

    /// A piece of the packet that was taken last begins to be sent: what did it wait for?
    fn begin_piece(&mut self, at: Time, bytes: u64) {
        let before = self.used;
        self.used += bytes;
        let Some(mut packet) = self.sending.take() else { return };
        if !self.maps.0.is_empty() {
            let granted_at = self.spend_until_granted(&mut packet, before);
            packet.spend(Part::GrantWait, self.begun.from(granted_at).min(at));
        }
        packet.spend(Part::Queue, packet.taken);
        packet.spend(Part::Shaping, at);
        self.sending = Some(packet);
    }

    /// Splits the time until the MAP that granted the last byte used so far, `before` bytes being before
    /// the piece; gives when that was.
    fn spend_until_granted(&self, packet: &mut Visit, before: u64) -> Time {
        let asked_at = self.asked.reached(self.used);
        packet.spend(Part::RequestWait, self.chances.from(packet.came).min(asked_at));
        packet.spend(Part::Queue, self.asked.reached(before));
        let lacks_tokens = self.chances.lacked_tokens_before(asked_at);
        packet.spend(if lacks_tokens { Part::Shaping } else { Part::Queue }, asked_at);

        let granted_at = self.granted.reached(self.used);
        packet.spend(Part::GrantWait, self.maps.second_after(asked_at).min(granted_at));
        packet.spend(Part::Queue, self.granted.reached(before));
        let lacks_tokens = self.maps.lacked_tokens_before(granted_at);
        packet.spend(if lacks_tokens { Part::Shaping } else { Part::GrantWait }, granted_at);
        granted_at
    }
}
