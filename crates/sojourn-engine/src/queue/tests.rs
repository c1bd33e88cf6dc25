//! What tests of schedulers share, and tests of what all queues have.

use std::sync::{Arc, Mutex};

use super::*;
use crate::packet::{DATAGRAM, Ecn, Flags, Segment};
use crate::record::PacketEventKind;

/// What surrounds a scheduler that tests call directly.
pub(super) struct Bench {
    pub now: Time,
    pub limit: Limit,
    pub drain_rate: DrainRate,
    pub rng: Rng,
    pub recorder: Recorder,
    pub counts: Counted<QueueCounts>,
}

impl Bench {
    /// Room for so many packets before a line of 8 Mbps, which sends a byte in 1 us.
    pub(super) fn of(packets: u64) -> Self {
        Self {
            now: Time::ZERO,
            limit: Limit { bytes: u64::MAX, packets, exclusive: false },
            drain_rate: DrainRate::steady(BitRate::from_mbps(8.0), 100_000),
            rng: Rng::named(1, "bench"),
            recorder: Recorder::default(),
            counts: Counted::default(),
        }
    }

    /// A scheduler is built without an algorithm.
    pub(super) fn setting<'a>(&'a self, law: &'a AqmSpec) -> Setting<'a> {
        let (dialect, seed) = (Dialect::Rfc, Seed::named(1, "bench"));
        Setting { law, limit: &self.limit, dialect, seed }
    }

    pub(super) fn start(&self, parameters: &dyn SchedulerParameters) -> Scheduler {
        parameters.start(&self.setting(&AqmSpec::default()))
    }

    pub(super) fn entry(&mut self) -> Entry<'_> {
        let Self { now, limit, drain_rate, rng, recorder, counts } = self;
        let counters = Counters { ecn: true, recorder, counts };
        Entry { now: *now, drain_rate, limit, rng, counters }
    }

    pub(super) fn exit(&mut self) -> Exit<'_> {
        let Self { now, rng, recorder, counts, .. } = self;
        let counters = Counters { ecn: true, recorder, counts };
        Exit { now: *now, next_queue: NextQueue::default(), rng, counters, member: None }
    }
}

#[test]
fn a_limit_counts_the_arrival() {
    // Of 1000 B and three packets; ns-2 stays below both.
    for (exclusive, packets, bytes, size, is_in) in [
        (false, 2, 900, 100, true),
        (false, 2, 900, 101, false),
        (false, 3, 0, 1, false),
        (true, 1, 900, 99, true),
        (true, 1, 900, 100, false),
        (true, 2, 0, 1, false),
    ] {
        let limit = Limit { bytes: 1000, packets: 3, exclusive };
        let found = limit.admits(Count { packets, bytes }, size);
        assert_eq!(found, is_in, "{packets} of {bytes} B and one of {size} B, {exclusive}");
    }
    let measure = |bytes| Limit { bytes, packets: 3, exclusive: false }.measure();
    assert_eq!([measure(1000), measure(u64::MAX)], [Measure::Bytes, Measure::Packets]);
}

#[test]
fn an_unset_limit_is_250_ms_where_nothing_else_limits() {
    // 1 Mbps: 31 250 B. 3044 B, two full frames, are 250 ms at 97.408 kbps.
    let rates = [1_000_000, 97_500, 97_400, 1000].map(BitRate::from_bps);
    assert_eq!(rates.map(default_limit_bytes), [31_250, 3046, 3044, 3044]);
    let of = |bytes, packets, scheduler| {
        let (limit_bytes, limit_packets) = (bytes, packets);
        let spec = QueueSpec { limit_bytes, limit_packets, scheduler, ..QueueSpec::default() };
        let queue = Queue::new(&spec, 5000, Dialect::Rfc, "queue", 1);
        (spec.limits(5000), queue.buffer_bytes())
    };
    let (fifo, low) = (SchedulerSpec::default, || SchedulerSpec::LowLatency(Parameters::default()));
    assert_eq!(of(None, None, fifo()), ((5000, u64::MAX), 5000));
    assert_eq!(of(Some(9), None, fifo()), ((9, u64::MAX), 9));
    // A packet counts 1500 B.
    assert_eq!(of(None, Some(2), fifo()), ((u64::MAX, 2), 3000));
    assert_eq!(of(Some(2999), Some(2), fifo()), ((2999, 2), 2999));
    assert_eq!(of(None, None, low()), ((u64::MAX, u64::MAX), u64::MAX));
}

#[test]
fn aqm_is_switched_off_in_members_too() {
    let mut low = QueueSpec {
        law: AqmSpec::Codel(codel::Parameters::default()),
        scheduler: SchedulerSpec::LowLatency(Parameters::default()),
        ..QueueSpec::default()
    };
    low.switch_aqm_off();
    let off = Parameters { classic_aqm: false, low_latency_aqm: false, ..Parameters::default() };
    assert_eq!((low.law, low.scheduler), (AqmSpec::default(), SchedulerSpec::LowLatency(off)));
}

/// Of 10 Mbps with 38 B around each packet full packets of 1522 B are 9.756 Mbps.
#[test]
fn a_shaper_lets_pass_what_its_packets_leave() {
    let cake = |bandwidth_mbps| {
        let cake =
            cake::Parameters { bandwidth_mbps, overhead_bytes: 38, ..cake::Parameters::default() };
        QueueSpec { scheduler: SchedulerSpec::Cake(cake), ..QueueSpec::default() }.shaper_mbps()
    };
    let mbps = cake(Some(10.0)).unwrap();
    assert!((mbps - 9.75641).abs() < 1e-5, "{mbps}");
    assert_eq!(cake(None), None);
}

#[test]
fn books_mark_what_may_be_marked() {
    let mut bench = Bench::of(1);
    for (is_on, ecn, verdict, drops, marks) in [
        (true, Ecn::Ect0, Verdict::Pass, false, 0),
        (true, Ecn::Ect0, Verdict::Signal, false, 1),
        (true, Ecn::NotEct, Verdict::Signal, true, 1),
        (false, Ecn::Ect0, Verdict::Signal, true, 1),
        (true, Ecn::Ect1, Verdict::Drop, true, 1),
        (true, Ecn::Ce, Verdict::Signal, false, 2),
    ] {
        let mut packet = Packet { ecn, ..Packet::datagram(100) };
        let mut entry = bench.entry();
        entry.counters.ecn = is_on;
        assert_eq!(
            entry.counters.refuses(Time::ZERO, verdict, &mut packet),
            drops,
            "{ecn:?} {verdict:?}"
        );
        let is_marked = packet.ecn == Ecn::Ce;
        assert_eq!(is_marked, ecn == Ecn::Ce || verdict == Verdict::Signal && !drops);
        let events = bench.recorder.events.len() as u64;
        assert_eq!((bench.counts.all.marked, events), (marks, marks));
    }
}

/// A scheduler that writes down what it is asked.
#[derive(Clone, Default)]
struct Spy {
    asked: Arc<Mutex<Vec<String>>>,
    backlog: Count,
    ready_at: Time,
    next_update: Time,
}

impl Spy {
    fn note(&self, what: String) {
        self.asked.lock().unwrap().push(what);
    }

    fn in_queue(&self, spec: &QueueSpec) -> Queue {
        let mut queue = Queue::new(spec, 1000, Dialect::Rfc, "queue", 1);
        queue.scheduler = Scheduler::Outside(Box::new(self.clone()));
        queue
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

impl Discipline for Spy {
    fn enqueue(&mut self, packet: Packet, entry: &mut Entry) {
        assert_eq!(packet.queued_at, entry.now);
        self.note(format!("takes {} at {} ms", packet.size, entry.now.ms_f64()));
    }

    fn dequeue(&mut self, exit: &mut Exit) -> Option<Packet> {
        self.note(format!("gives at {} ms", exit.now.ms_f64()));
        (self.backlog.packets > 0).then(|| Packet::datagram(self.backlog.bytes as u16))
    }

    fn backlog(&self) -> Count {
        self.backlog
    }

    fn ready_at(&self) -> Time {
        self.ready_at
    }

    fn on_map(&mut self, granted: u64, ungranted: u64) {
        self.note(format!("hears of {granted} and {ungranted}"));
    }

    fn next_update(&self) -> Time {
        self.next_update
    }

    fn update(&mut self, now: Time, _: &DrainRate) {
        self.note(format!("is updated at {} ms", now.ms_f64()));
    }

    fn gauges(&self, out: &mut Gauges) {
        out.set("own", "1", 7.0);
    }
}

const ONE: Count = Count { packets: 1, bytes: 400 };

/// Linux and ns-2 ask until nothing comes.
#[test]
fn an_empty_queue_is_asked_once_more_when_its_link_was_free() {
    let mut recorder = Recorder::default();
    for (backlog, free, now, asked) in [
        (Count::default(), 4, 5, vec!["gives at 4 ms"]),
        (Count::default(), 5, 5, vec!["gives at 5 ms"]),
        (Count::default(), 6, 5, vec![]),
        (ONE, 4, 5, vec![]),
    ] {
        let spy = Spy { backlog, ..Spy::default() };
        let mut queue = spy.in_queue(&QueueSpec::default());
        queue.settle(Time::from_ms(free), Time::from_ms(now), &mut recorder);
        assert_eq!(spy.asked(), asked, "{free} {now}");
    }
}

#[test]
fn it_wakes_for_a_packet_when_link_and_shaper_are_free_and_for_updates() {
    let ms = Time::from_ms;
    for (backlog, free, wakes) in
        [(ONE, 10, 20), (ONE, 30, 30), (ONE, 60, 50), (Count::default(), 10, 50)]
    {
        let spy = Spy { backlog, ready_at: ms(20), next_update: ms(50), ..Spy::default() };
        assert_eq!(spy.in_queue(&QueueSpec::default()).next_wake(ms(free)), ms(wakes));
    }
}

#[test]
fn what_is_asked_of_a_queue_is_asked_of_its_scheduler_and_measured() {
    let spy = Spy { backlog: ONE, ..Spy::default() };
    let mut queue = spy.in_queue(&QueueSpec::default());
    let (mut recorder, line) = (Recorder::default(), DrainRate::steady(BitRate::from_bps(1), 0));
    let at = Time::from_ms(3);
    queue.enqueue(at, Packet::datagram(90), &line, &mut recorder);
    assert!(queue.dequeue(at, &mut recorder).is_some());
    let left = |queue: &Queue| queue.meter().unwrap().sojourn().count();
    assert_eq!(left(&queue), 1);
    assert!(queue.discard(at, &mut recorder).is_some());
    assert_eq!(left(&queue), 1, "it did not leave");
    queue.on_map(5, 6);
    queue.update(at, &line);
    let asked = [
        "takes 90 at 3 ms",
        "gives at 3 ms",
        "gives at 3 ms",
        "hears of 5 and 6",
        "is updated at 3 ms",
    ];
    assert_eq!(spy.asked(), asked);
    queue.sample(|gauges| gauges.set("link", "1", 8.0));
    let shown: Vec<_> =
        queue.series().map(|(_, series)| (series.metric, series.values[0])).collect();
    assert_eq!(shown[1..3], [("queue_bytes", 400.0), ("queue_packets", 1.0)]);
    assert_eq!(shown[6..], [("link", 8.0), ("own", 7.0)]);
    assert!(queue.unwatched().meter().is_none());
    // 1000 B may wait: a packet without bytes fits behind as many.
    for (bytes, has_room) in [(999, true), (1000, true), (1001, false)] {
        let spy = Spy { backlog: Count { packets: 1, bytes }, ..Spy::default() };
        assert_eq!(spy.in_queue(&QueueSpec::default()).has_room(), has_room);
    }
}

fn ack(flow: u32, number: u64) -> Packet {
    let segment = Segment { ack: number, flags: Flags::ACK, ..Segment::default() };
    Packet { flow, segment, ..Packet::datagram(64) }
}

#[test]
fn acknowledgements_have_a_limit_of_their_own_and_go_first() {
    let spy = Spy { backlog: ONE, ..Spy::default() };
    let spec = QueueSpec { limit_packets: Some(2), acks: Acks::Aggregated, ..QueueSpec::default() };
    let mut queue = spy.in_queue(&spec);
    let (mut recorder, line) = (Recorder::default(), DrainRate::steady(BitRate::from_bps(1), 0));
    for (flow, number) in [(1, 5), (2, 5), (3, 5), (2, 6), (2, 6)] {
        queue.enqueue(Time::ZERO, ack(flow, number), &line, &mut recorder);
    }
    // The third and the last find two others; the fourth takes the place of the second.
    assert_eq!(queue.counts().all.dropped_overflow, 2);
    let dropped: Vec<_> = recorder.events.iter().map(|event| (event.flow, event.kind)).collect();
    let [full, old] = [DropReason::Overflow, DropReason::Superseded].map(PacketEventKind::Dropped);
    assert_eq!(dropped, [(3, full), (2, old), (2, full)]);
    assert_eq!(queue.backlog(), Count { packets: 3, bytes: 528 });
    let sent = [0; 3].map(|_| queue.dequeue(Time::ZERO, &mut recorder).unwrap());
    assert_eq!(
        sent.map(|packet| (packet.flow, packet.segment.ack)),
        [(1, 5), (2, 6), (DATAGRAM, 0)]
    );
    assert_eq!(spy.asked(), ["gives at 0 ms"]);
    assert_eq!(queue.backlog(), ONE, "no acknowledgement is left");
    assert_eq!(queue.meter().unwrap().sojourn().count(), 3);
    // One that waits is replaced wherever it is by then.
    for (flow, number) in [(1, 7), (2, 7)] {
        queue.enqueue(Time::ZERO, ack(flow, number), &line, &mut recorder);
    }
    assert_eq!(queue.dequeue(Time::ZERO, &mut recorder).unwrap().flow, 1);
    queue.enqueue(Time::ZERO, ack(2, 8), &line, &mut recorder);
    assert_eq!(queue.backlog(), Count { packets: 2, bytes: 464 });
    assert_eq!(queue.dequeue(Time::ZERO, &mut recorder).unwrap().segment.ack, 8);
    // What carries data waits with all others.
    let data = Packet { segment: Segment { len: 9, ..ack(1, 1).segment }, ..Packet::datagram(99) };
    queue.enqueue(Time::ZERO, data, &line, &mut recorder);
    assert_eq!(spy.asked(), ["takes 99 at 0 ms"]);
}

/// Of one queue three flows are watched. A connection that takes over the number of another one is a flow of its own, unless flows
/// are service flows, which last.
#[test]
fn the_first_flows_are_watched_one_by_one() {
    let spec = QueueSpec {
        scheduler: SchedulerSpec::Fq(fq::Parameters::default()),
        ..QueueSpec::default()
    };
    let (mut recorder, line) = (Recorder::default(), DrainRate::steady(BitRate::from_mbps(8.0), 0));
    for (unit, names) in [
        (Unit::Connection, vec![("queue a 1", 1), ("queue b 1", 1), ("queue b 2", 1)]),
        (Unit::ServiceFlow, vec![("queue a 1", 4)]),
    ] {
        let mut queue = Queue::new(&spec, 100_000, Dialect::Rfc, "queue", 1);
        let table = FlowTable::of_homes(unit, &[vec![1.0]]);
        queue.set_flow_classifier(&table, &["a", "b"], 3);
        for (generation, traffic) in [(0, 0), (1, 1), (2, 1), (3, 1)] {
            let packet = || Packet { flow: 1, generation, traffic, ..Packet::datagram(100) };
            queue.enqueue(Time::ZERO, packet(), &line, &mut recorder);
            queue.enqueue(Time::ZERO, packet(), &line, &mut recorder);
            queue.sample(|_| ());
        }
        let mut shown: Vec<_> = queue
            .series()
            .filter(|(_, series)| series.metric == "bin")
            .map(|(name, series)| {
                (name, series.values.iter().filter(|value| value.is_finite()).count())
            })
            .collect();
        shown.sort();
        let shown: Vec<_> = shown.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(shown, names);
    }
}

/// Nobody would see it wait, so it need not.
#[test]
fn a_packet_passes_an_empty_queue_without_an_algorithm() {
    let passes = |spec: &QueueSpec, waiting: u16, size| {
        let mut queue = Queue::new(spec, 1000, Dialect::Rfc, "queue", 1);
        let (mut recorder, line) =
            (Recorder::default(), DrainRate::steady(BitRate::from_bps(1), 0));
        (0..waiting).for_each(|_| {
            queue.enqueue(Time::ZERO, Packet::datagram(64), &line, &mut recorder);
        });
        let mut packet = Packet::datagram(size);
        let passes = queue.lets_pass(Time::from_ms(2), &mut packet, &recorder);
        assert_eq!(queue.meter().unwrap().sojourn().count(), u64::from(passes));
        assert_eq!(packet.queued_at, if passes { Time::from_ms(2) } else { Time::ZERO });
        passes
    };
    let usual = QueueSpec::default;
    assert!(passes(&usual(), 0, 1000));
    assert!(!passes(&usual(), 0, 1001));
    assert!(!passes(&usual(), 1, 64));
    assert!(!passes(&QueueSpec { acks: Acks::Prioritised, ..usual() }, 0, 64));
    let law = AqmSpec::Codel(codel::Parameters::default());
    assert!(!passes(&QueueSpec { law, ..usual() }, 0, 64));
    let scheduler = SchedulerSpec::Fq(fq::Parameters::default());
    assert!(!passes(&QueueSpec { scheduler, ..usual() }, 0, 64));
}
