//! A queue on a bench: literal packets in, packets out, and what it recorded.

pub mod drawer;

use sojourn::engine::aqm::DrainRate;
use sojourn::engine::count::Count;
use sojourn::engine::dialect::Dialect;
use sojourn::engine::packet::{DATAGRAM, Direction, Ecn, Packet, Segment};
use sojourn::engine::queue::{Queue, QueueSpec, SchedulerSpec};
use sojourn::engine::record::Recorder;
use sojourn::engine::record::{PacketEvent, PacketEventKind};
use sojourn::engine::rng::Rng;
use sojourn::engine::units::{BitRate, Time};

/// Traffic entries that packets may belong to, by name.
pub const TRAFFIC: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// A spec from TOML.
pub fn spec(keys: &str) -> QueueSpec {
    toml::from_str(keys).unwrap_or_else(|error| panic!("{error}\n{keys}"))
}

/// The `seq`th datagram of a traffic entry, of `size` bytes.
pub fn datagram(traffic: u16, seq: u64, size: u16) -> Packet {
    Packet {
        sent_at: Time::ZERO,
        queued_at: Time::ZERO,
        segment: Segment { seq, ..Segment::default() },
        // A hash that spreads: small numbers would collide in small numbers of bins.
        tuple: u32::from(traffic).wrapping_mul(0x9e37_79b1) >> 8,
        flow: DATAGRAM,
        generation: 0,
        traffic,
        server: 0,
        home: 0,
        service_flow: 0,
        size,
        direction: Direction::Up,
        ecn: Ecn::NotEct,
        number: [0; 3],
    }
}

/// The `seq`th packet of traffic entry 0, which schedulers with a low-latency queue send there.
pub fn low(seq: u64) -> Packet {
    Packet { ecn: Ecn::Ect1, ..datagram(0, seq, 1500) }
}

/// The `seq`th packet of traffic entry 1, which they put into the classic queue.
pub fn classic(seq: u64) -> Packet {
    datagram(1, seq, 1500)
}

/// A packet of a connection in this slot, with its own hash.
pub fn segment(slot: u32, tuple: u32, seq: u64, size: u16) -> Packet {
    Packet { flow: slot, tuple, ..datagram(0, seq, size) }
}

/// The packet of the flow of this number with an ECN field and a code point: all of them occur.
pub fn labelled(flow: usize, packet: Packet) -> Packet {
    let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][flow % 4];
    let dscp = [0, 45, 46, 8, 63][flow % 5];
    Packet { ecn, segment: Segment { dscp, ..packet.segment }, ..packet }
}

/// Do all packets of a flow leave in the order in which they came? Not where Queue Protection sends
/// some to another queue (RFC 9957 §5.5), nor where SFQ's hash changes.
pub fn keeps_order(spec: &QueueSpec) -> bool {
    match &spec.scheduler {
        SchedulerSpec::LowLatency(keys) => !keys.queue_protection,
        SchedulerSpec::Sfq(keys) => keys.perturb_s == 0.0,
        _ => true,
    }
}

/// A queue with its surroundings.
pub struct Rig {
    pub queue: Queue,
    pub recorder: Recorder,
    pub drain_rate: DrainRate,
    pub now: Time,
    pub sent: Count,
    pub out: Count,
}

impl Rig {
    /// An empty queue before an drain_rate of this rate.
    pub fn new(spec: &QueueSpec, dialect: Dialect, mbps: f64) -> Self {
        let mut queue = Queue::new(spec, u64::MAX, dialect, "upstream", 1);
        queue.name_traffic(&TRAFFIC, 0);
        let rate = BitRate::from_mbps(mbps);
        let buffer_bytes = queue.buffer_bytes();
        let drain_rate = DrainRate::steady(rate, buffer_bytes);
        let (recorder, now) = (Recorder::default(), Time::ZERO);
        Self { queue, recorder, drain_rate, now, sent: Count::default(), out: Count::default() }
    }

    /// A queue of these keys in the rfc dialect before 10 Mbps.
    pub fn of(keys: &str) -> Self {
        Self::new(&spec(keys), Dialect::Rfc, 10.0)
    }

    /// Lets time pass; the AQM algorithms are updated once if due, at its end.
    pub fn wait(&mut self, span: Time) {
        self.now += span;
        if self.queue.next_update() <= self.now {
            self.queue.update(self.now, &self.drain_rate);
            assert!(self.queue.next_update() > self.now, "an update asks for a later one");
        }
    }

    /// A packet arrives.
    pub fn put(&mut self, packet: Packet) {
        self.sent.add(&packet);
        self.queue.enqueue(self.now, packet, &self.drain_rate, &mut self.recorder);
    }

    /// The next packet leaves, at once or when the queue's own shaper lets it.
    pub fn take(&mut self) -> Option<Packet> {
        let ready = self.queue.ready_at();
        if ready > self.now && self.backlog().packets > 0 {
            self.wait(ready.since(self.now));
        }
        let packet = self.queue.dequeue(self.now, &mut self.recorder)?;
        self.out.add(&packet);
        Some(packet)
    }

    /// All leave now: traffic entry and number of each.
    pub fn drain(&mut self) -> Vec<(u16, u64)> {
        std::iter::from_fn(|| self.take()).map(|p| (p.traffic, p.segment.seq)).collect()
    }

    /// What waits.
    pub fn backlog(&self) -> Count {
        self.queue.backlog()
    }

    /// Dropped so far, of a traffic entry.
    pub fn dropped(&self, traffic: usize) -> u64 {
        self.drops().filter(|event| usize::from(event.traffic) == traffic).count() as u64
    }

    fn drops(&self) -> impl Iterator<Item = &PacketEvent> {
        let is_drop = |event: &&PacketEvent| matches!(event.kind, PacketEventKind::Dropped(_));
        self.recorder.events.iter().filter(is_drop)
    }

    /// How often something happened to packets of the first traffic entry.
    pub fn count(&self, kind: PacketEventKind) -> u64 {
        let is_one = |event: &&PacketEvent| event.traffic == 0 && event.kind == kind;
        self.recorder.events.iter().filter(is_one).count() as u64
    }

    /// What went in is what came out, was dropped or waits.
    pub fn assert_conserved(&self) {
        let dropped = self.drops().fold(Count::default(), |sum, event| sum.with(event.size.into()));
        assert_eq!(self.sent, self.out.plus(dropped).plus(self.backlog()));
    }

    /// The value of a gauge now.
    pub fn gauge(&mut self, metric: &str) -> f64 {
        self.queue.sample(|_| {});
        let series = self.queue.meter().unwrap().series().find(|series| series.metric == metric);
        f64::from(*series.and_then(|series| series.values.last()).expect("there is such a gauge"))
    }
}

/// Constant bit rates into the queue, and a link of `link_mbps` that empties it.
pub struct Load<'a> {
    /// Rate of each traffic entry in Mbps.
    pub mbps: &'a [f64],
    pub packet_bytes: u16,
    pub link_mbps: f64,
}

impl Load<'_> {
    /// What each entry gets, in Mbps, between `from_s` and `to_s`. From packet to packet it is half
    /// to one and a half times the mean, so that no entry falls into step with drops or another.
    pub fn throughputs(&self, rig: &mut Rig, from_s: f64, to_s: f64) -> Vec<f64> {
        let bits = 8.0 * f64::from(self.packet_bytes);
        let mut rng = Rng::named(1, "load");
        let mut gap = |mbps: f64| Time::from_secs_f64(bits / mbps * 1e-6 * (0.5 + rng.uniform()));
        let mut due: Vec<Time> = self.mbps.iter().map(|mbps| gap(*mbps)).collect();
        let mut sent = vec![0; self.mbps.len()];
        let mut got = vec![0_u64; self.mbps.len()];
        let (from, to) = (Time::from_secs_f64(from_s), Time::from_secs_f64(to_s));
        let link = BitRate::from_mbps(self.link_mbps);
        let mut free = Time::ZERO;
        loop {
            let (next, flow) = due.iter().zip(0..).map(|(at, n)| (*at, n)).min().unwrap();
            let leaves = if rig.backlog().packets > 0 { free.max(rig.now) } else { Time::NEVER };
            let update = rig.queue.next_update();
            let at = next.min(leaves).min(update);
            if at > to {
                break;
            }
            rig.wait(at.since(rig.now));
            if leaves == at && update != at {
                if let Some(packet) = rig.take() {
                    let inside = at >= from;
                    got[usize::from(packet.traffic)] += u64::from(packet.size) * u64::from(inside);
                    free = at + link.time_for(u64::from(packet.size));
                }
            } else if next == at && update != at {
                rig.put(datagram(flow, sent[usize::from(flow)], self.packet_bytes));
                sent[usize::from(flow)] += 1;
                due[usize::from(flow)] += gap(self.mbps[usize::from(flow)]);
            }
        }
        got.iter().map(|bytes| *bytes as f64 * 8e-6 / (to_s - from_s)).collect()
    }
}

/// Asserts that all of these are near those.
#[track_caller]
pub fn assert_all_near(got: &[f64], want: &[f64], error: f64) {
    println!("{got:.3?}, expected {want:.3?} +- {error}");
    let near = got.iter().zip(want).all(|(got, want)| (got - want).abs() <= error);
    assert!(near && got.len() == want.len(), "{got:.3?}, expected {want:.3?} +- {error}");
}
