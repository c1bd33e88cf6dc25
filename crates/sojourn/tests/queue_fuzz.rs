//! Queue managers under random operations. Random bytes are decoded into a queue manager with any
//! parameters that the schema allows and into what happens to it; see [`Operation`].

use crate::queue_kit::drawer::{Choices, Drawer};
use crate::queue_kit::{Rig, TRAFFIC, datagram, keeps_order, labelled, segment};
use sojourn::engine::dialect::Dialect;
use sojourn::engine::packet::{DATAGRAM, Packet};
use sojourn::engine::queue::QueueSpec;
use sojourn::engine::rng::Rng;
use sojourn::engine::units::{BitRate, Time};

/// Bytes of the largest packet that a scenario may have.
const LARGEST: u16 = 9018;
/// The longest run, in s.
const LONGEST_S: u64 = 1_000_000;
/// Datagrams of each traffic entry, and connections in the slots of their table.
const FLOWS: usize = TRAFFIC.len() + 40;

/// Bytes that are read as numbers; after the last one there are zeros.
struct Bytes(std::vec::IntoIter<u8>);

impl Bytes {
    /// The bytes of a sequence: some are short, so that all of it is near the start.
    fn of(seed: u64) -> Self {
        let mut rng = Rng::named(seed, "fuzz");
        let count = 1_u64 << (4 + rng.below(10));
        let bytes: Vec<_> = (0..count).map(|_| rng.bits() as u8).collect();
        Self(bytes.into_iter())
    }

    fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    fn byte(&mut self) -> u8 {
        self.0.next().unwrap_or(0)
    }

    fn number(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// Any order of magnitude up to `most` is as likely as any other.
    fn up_to(&mut self, most: u64) -> u64 {
        (self.number() >> (self.byte() % 64)).min(most)
    }
}

/// What may happen to a queue.
#[derive(Clone, Copy, Debug)]
enum Operation {
    /// So many packets of a flow come at the same time.
    Enqueue { flow: usize, size: u16, packets: u8 },
    /// So many may leave.
    Dequeue { packets: u8 },
    /// Time passes; an update that falls due is made at its end.
    Wait(Time),
    /// Time passes up to the next update, which is made.
    Update,
    /// The shaper has other tokens and rates.
    Shaper { tokens: u64, sustained: BitRate, more: u64 },
    /// A MAP of the modem.
    Map { granted: u64, ungranted: u64 },
    /// A value for the series.
    Sample,
}

impl Operation {
    fn decode(bytes: &mut Bytes) -> Self {
        match bytes.byte() % 16 {
            0..6 => Self::Enqueue {
                flow: usize::from(bytes.byte()) % FLOWS,
                size: (bytes.up_to(u64::from(LARGEST)) as u16).max(1),
                packets: bytes.byte() % 32,
            },
            6..10 => Self::Dequeue { packets: bytes.byte() % 32 },
            10 | 11 => Self::Wait(Time::from_ps(bytes.up_to(LONGEST_S * 1_000_000_000_000))),
            12 => Self::Update,
            13 => Self::Shaper {
                tokens: bytes.up_to(u32::MAX.into()),
                sustained: BitRate::from_bps(bytes.up_to(100_000_000_000).max(1000)),
                more: bytes.up_to(100_000_000_000),
            },
            14 => Self::Map { granted: bytes.up_to(1 << 32), ungranted: bytes.up_to(1 << 32) },
            _ => Self::Sample,
        }
    }
}

/// A queue manager and what it must keep to.
struct Subject {
    rig: Rig,
    most_bytes: u64,
    most_packets: u64,
    /// Number of the next packet to come, and of the last that left, of each flow.
    keeps_order: bool,
    next: [u64; FLOWS],
    last: [u64; FLOWS],
}

impl Subject {
    fn new(spec: &QueueSpec, dialect: Dialect) -> Self {
        let slack = u64::from(dialect == Dialect::Ns2);
        Self {
            rig: Rig::new(spec, dialect, 10.0),
            most_bytes: spec.limit_bytes.map_or(u64::MAX, |limit| limit - slack),
            most_packets: spec.limit_packets.map_or(u64::MAX, |limit| limit - slack),
            keeps_order: keeps_order(spec),
            next: [1; FLOWS],
            last: [0; FLOWS],
        }
    }

    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Enqueue { flow, size, packets } => {
                (0..packets).for_each(|_| self.enqueue(flow, size));
            }
            Operation::Dequeue { packets } => {
                (0..packets).take_while(|_| self.dequeue()).for_each(drop);
            }
            Operation::Wait(span) => self.wait(span),
            Operation::Update => {
                let due = self.rig.queue.next_update();
                if due != Time::NEVER {
                    self.wait(due.since(self.rig.now));
                }
            }
            Operation::Shaper { tokens, sustained, more } => {
                let drain_rate = &mut self.rig.drain_rate;
                drain_rate.tokens = tokens as f64;
                drain_rate.sustained = sustained;
                drain_rate.peak = BitRate::from_bps(sustained.bps() + more);
            }
            Operation::Map { granted, ungranted } => self.rig.queue.on_map(granted, ungranted),
            Operation::Sample => self.rig.queue.sample(|_| {}),
        }
        self.rig.assert_conserved();
    }

    fn wait(&mut self, span: Time) {
        if self.rig.now + span <= Time::from_s(LONGEST_S) {
            self.rig.wait(span);
        }
    }

    fn enqueue(&mut self, flow: usize, size: u16) {
        self.rig.put(packet(flow, self.next[flow], size));
        self.next[flow] += 1;
        let waiting = self.rig.backlog();
        let holds = waiting.bytes <= self.most_bytes && waiting.packets <= self.most_packets;
        assert!(holds, "{waiting:?} exceeds the limit");
    }

    /// Says whether there was a packet.
    fn dequeue(&mut self) -> bool {
        let Some(packet) = self.rig.take() else {
            // An AQM algorithm may drop heads until nothing is left, but not leave something behind.
            assert_eq!(self.rig.backlog().packets, 0, "something waits and nothing leaves");
            return false;
        };
        let last = &mut self.last[flow_of(&packet)];
        assert!(
            !self.keeps_order || packet.segment.seq > *last,
            "{} after {last}",
            packet.segment.seq
        );
        *last = packet.segment.seq;
        // The meter adds up sojourn times in 64 bits until it is sampled: 19 packets that waited for
        // the longest run would be too many.
        self.rig.queue.sample(|_| {});
        true
    }

    fn drain(mut self) {
        while self.dequeue() {}
        let left = self.rig.backlog();
        assert_eq!((left.packets, left.bytes), (0, 0));
        self.rig.assert_conserved();
    }
}

/// The flows: datagrams of all traffic entries, then connections of all of them; some have the same
/// hash, and some slots are far away.
fn packet(flow: usize, seq: u64, size: u16) -> Packet {
    let Some(connection) = flow.checked_sub(TRAFFIC.len()) else {
        return labelled(flow, datagram(flow as u16, seq, size));
    };
    let slot = connection as u32;
    let tuple = (slot / 2).wrapping_mul(0x9e37_79b1);
    let packet = segment(slot, tuple, seq, size);
    labelled(flow, Packet { traffic: (connection % TRAFFIC.len()) as u16, ..packet })
}

fn flow_of(packet: &Packet) -> usize {
    match packet.flow {
        DATAGRAM => packet.traffic.into(),
        slot => TRAFFIC.len() + slot as usize,
    }
}

/// A queue manager of all that the schema allows, with room for one packet.
fn spec(mut drawer: Drawer, dialect: Dialect) -> QueueSpec {
    let mut spec = drawer.queue();
    let slack = u64::from(dialect == Dialect::Ns2);
    spec.limit_bytes = spec.limit_bytes.map(|limit| limit.max(u64::from(LARGEST) + slack));
    spec.limit_packets = spec.limit_packets.map(|limit| limit.max(1 + slack));
    spec
}

/// Says on a failure what it was that failed.
struct Sequence {
    spec: QueueSpec,
    dialect: Dialect,
}

impl Drop for Sequence {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{:?}, {:?}", self.spec, self.dialect);
        }
    }
}

fn run(seed: u64) {
    let mut bytes = Bytes::of(seed);
    let dialect = dialect(&mut bytes);
    let spec = spec(Drawer::new(bytes.number()), dialect);
    operate(spec, dialect, bytes);
}

/// The bytes choose the parameters too; those of the operations come after.
pub fn run_bytes(bytes: &[u8]) {
    let (parameters, operations) = bytes.split_at(bytes.len().min(96));
    let mut operations = Bytes(Vec::from(operations).into_iter());
    let dialect = dialect(&mut operations);
    let choices = Choices::of(parameters);
    operate(spec(Drawer::usually(|_, _| None, 2, choices), dialect), dialect, operations);
}

fn dialect(bytes: &mut Bytes) -> Dialect {
    if bytes.byte().is_multiple_of(2) { Dialect::Rfc } else { Dialect::Ns2 }
}

/// Nothing happens to a queue that a scenario may not have, since its keys contradict each other.
fn operate(spec: QueueSpec, dialect: Dialect, mut bytes: Bytes) {
    if !spec.scheduler.parameters().check(&spec.law, LARGEST.into()).is_empty() {
        return;
    }
    let sequence = Sequence { spec, dialect };
    let mut subject = Subject::new(&sequence.spec, dialect);
    while !bytes.is_empty() {
        subject.apply(Operation::decode(&mut bytes));
    }
    subject.drain();
}

/// Bytes alone are a queue and what happens to it.
#[test]
fn bytes_choose_the_queue_too() {
    let bytes: Vec<u8> = (0..=255).cycle().take(1500).collect();
    (0..200).for_each(|start| run_bytes(&bytes[start..]));
    run_bytes(&[]);
}

mod at_random {
    #[test]
    fn no_sequence_of_operations_breaks_a_queue() {
        sojourn_testing::rounds(250, super::run);
    }
}
