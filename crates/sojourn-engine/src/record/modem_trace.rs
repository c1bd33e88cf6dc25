//! What happens at the primary upstream service flow of the first home's modem, event by event.
//!
//! Packets come, wait, are dropped or marked, and leave the queue; the modem asks for bytes, a MAP
//! grants some, and it sends them piece by piece. Bytes are those on the channel: on a shared channel
//! with the headers that packets have there.

use super::queue_meter::Member;
use crate::count::Count;
use crate::packet::{DropReason, Packet};
use crate::token_bucket::TokenBucket;
use crate::units::Time;

/// What happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModemEventKind {
    /// A packet comes from the home.
    Arrive,
    /// It is dropped.
    Drop(DropReason),
    /// It is marked (RFC 3168 §5).
    Mark,
    /// Queue Protection sends it to the classic queue (RFC 9957 §4).
    Sanction,
    /// Two queues: it is taken from the rate-shaping queue, and held for tokens.
    Hold,
    /// Two queues: it has its tokens and goes to the transmit queue.
    Release,
    /// It is taken from the queue, to be sent.
    Dequeue,
    /// The modem asks for these bytes.
    Request,
    /// The token buckets do not let it ask for these bytes too.
    Withhold,
    /// A MAP takes effect that grants these bytes. While the modem is idle there are none.
    Map,
    /// Shared channel or aggregate: the token buckets do not let the CMTS grant these bytes too.
    Defer,
    /// The grant begins: so many bytes may be sent from now on.
    Grant,
    /// A piece of these bytes begins to be sent of the packet that was taken last.
    Piece,
    /// It is sent, and more of the packet is to come.
    PieceEnd,
    /// The last byte of the packet is sent.
    Sent,
    /// These granted bytes are not used.
    Unused,
}

impl ModemEventKind {
    /// As it stands in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrive => "arrive",
            Self::Drop(_) => "drop",
            Self::Mark => "mark",
            Self::Sanction => "sanction",
            Self::Hold => "hold",
            Self::Release => "release",
            Self::Dequeue => "dequeue",
            Self::Request => "request",
            Self::Withhold => "withhold",
            Self::Map => "map",
            Self::Defer => "defer",
            Self::Grant => "grant",
            Self::Piece => "piece",
            Self::PieceEnd => "piece_end",
            Self::Sent => "sent",
            Self::Unused => "unused",
        }
    }
}

/// One event: a row of the `modem_events` table.
#[derive(Clone, Copy, Debug)]
pub struct ModemEvent {
    /// When.
    pub at: Time,
    /// What.
    pub kind: ModemEventKind,
    /// Number of the packet among all that the run sent, from 0; `None` where it is not of one.
    pub packet: Option<u64>,
    /// Entry of the traffic list that it is of.
    pub traffic: Option<u16>,
    /// Number of its connection among those of its entry, from 1; `None` for a datagram.
    pub connection: Option<u32>,
    /// Which of two queues it waits in, if there are two.
    pub member: Option<Member>,
    /// Bytes of the packet, or those that were asked for, granted, sent or not used.
    pub bytes: u64,
    /// What the bucket of the sustained rate holds then, in bytes.
    pub tokens: f64,
    /// What waits in the modem's queues after the event, without a packet that is being sent.
    pub backlog: Count,
}

/// A packet that came to the modem.
struct Visitor {
    number: u64,
    traffic: u16,
    connection: Option<u32>,
    member: Option<Member>,
    waits: bool,
}

/// Events that are kept.
pub const MOST_EVENTS: usize = 1 << 24;

/// The events, as they are reported.
#[derive(Default)]
pub struct ModemTrace {
    /// The bucket of the sustained rate, as it was left.
    bucket: Option<TokenBucket>,
    events: Vec<ModemEvent>,
    /// In the order of their numbers.
    visitors: Vec<Visitor>,
    /// Since when nothing is kept.
    cut_at: Option<Time>,
}

impl ModemTrace {
    /// Keeps nothing from now on.
    pub fn cut(&mut self, now: Time) {
        self.cut_at = self.cut_at.or(Some(now));
    }

    /// Since when nothing is kept, and how many events are, if the trace was cut.
    pub fn cut_at(&self) -> Option<(Time, usize)> {
        self.cut_at.map(|at| (at, self.events.len()))
    }

    /// The bucket of the sustained rate, in which tokens only gather until it is reported again.
    pub fn bucket(&mut self, bucket: &TokenBucket) {
        self.bucket = Some(bucket.clone());
    }

    /// A packet comes.
    pub fn arrive(&mut self, now: Time, number: u64, connection: Option<u32>, packet: &Packet) {
        if self.cut_at.is_none() {
            let traffic = packet.traffic;
            self.visitors.push(Visitor { number, traffic, connection, member: None, waits: false });
        }
        self.packet(now, ModemEventKind::Arrive, number, packet.size.into());
    }

    /// A packet goes to one of two queues.
    pub fn goes_to(&mut self, number: u64, member: Member) {
        let index = self.visitors.binary_search_by_key(&number, |visitor| visitor.number);
        if let Ok(index) = index {
            self.visitors[index].member = Some(member);
        }
    }

    /// Something happens to a packet.
    pub fn packet(&mut self, at: Time, kind: ModemEventKind, number: u64, bytes: u64) {
        self.push(at, kind, Some(number), bytes);
    }

    /// Something happens that is of no single packet, now or, where it is known ahead, later.
    pub fn note(&mut self, at: Time, kind: ModemEventKind, bytes: u64) {
        self.push(at, kind, None, bytes);
    }

    fn push(&mut self, at: Time, kind: ModemEventKind, packet: Option<u64>, bytes: u64) {
        if self.events.len() == MOST_EVENTS {
            self.cut(at);
        }
        if self.cut_at.is_some() {
            return;
        }
        let (traffic, connection, backlog) = (None, None, Count::default());
        let tokens = self.bucket.as_ref().map_or(0.0, |bucket| bucket.tokens(at));
        self.events.push(ModemEvent {
            at,
            kind,
            packet,
            traffic,
            connection,
            member: None,
            bytes,
            tokens,
            backlog,
        });
    }

    /// The events in the order of time, each with whose packet it is of and what waits after it.
    pub fn finish(mut self) -> Vec<ModemEvent> {
        self.events.sort_by_key(|event| event.at);
        let Self { mut events, mut visitors, .. } = self;
        let mut backlog = Count::default();
        for event in &mut events {
            let index = |number| visitors.binary_search_by_key(&number, |visitor| visitor.number);
            if let Some(Ok(index)) = event.packet.map(index) {
                let visitor = &mut visitors[index];
                event.traffic = Some(visitor.traffic);
                event.connection = visitor.connection;
                event.member = visitor.member;
                visitor.follow(event, &mut backlog);
            }
            event.backlog = backlog;
        }
        events
    }
}

impl Visitor {
    /// Keeps the backlog.
    fn follow(&mut self, event: &ModemEvent, backlog: &mut Count) {
        match event.kind {
            ModemEventKind::Arrive => {
                self.waits = true;
                backlog.packets += 1;
                backlog.bytes += event.bytes;
            }
            ModemEventKind::Dequeue | ModemEventKind::Drop(_) if self.waits => {
                self.waits = false;
                backlog.packets -= 1;
                backlog.bytes -= event.bytes;
            }
            _ => {}
        }
    }
}
