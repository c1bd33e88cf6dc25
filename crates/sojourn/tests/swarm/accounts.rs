//! The accounts of a run, made again from the packet trace of a run that is twice as long: what was under way
//! at the end of the shorter one has come to its end there. Both have the same packets until then.

use std::collections::BTreeMap;

use sojourn::access::AccessSpec;
use sojourn::access::Group;
use sojourn::access::docsis::ModemSpec;
use sojourn::engine::packet::{Direction, DropReason};
use sojourn::engine::record::{ModemEvent, ModemEventKind as Kind};
use sojourn::engine::record::{Outcome, PacketRecord};
use sojourn::engine::units::Time;
use sojourn::results::metrics::Results;
use sojourn::results::metrics::rows::{ConnectionRow, FlowRow, QueueRow, ServiceFlowRow};
use sojourn::scenario::Scenario;

use super::oracles::{MOST_EVENTS, run};

/// A run, its packets that were sent until its end, in the order of sending, and the network.
struct Accounts<'a> {
    scenario: &'a Scenario,
    report: &'a Results,
    end: Time,
    sent: Vec<&'a PacketRecord>,
    /// All that were sent by then came to an end in the longer run.
    has_all: bool,
}

/// The report of a run says what its packets say, and these are the first ones of a longer run.
pub fn agree_with_the_trace(scenario: &Scenario) {
    let mut long = scenario.clone();
    long.metrics.packet_trace = true;
    long.metrics.modem_trace = true;
    long.metrics.connections = 10_000;
    // Rows are then of all packets.
    long.metrics.from_s = 0.0;
    let mut short = long.clone();
    short.duration_s /= 2.0;
    let (Some(report), Some(longer)) = (run(&short, MOST_EVENTS), run(&long, MOST_EVENTS)) else {
        return;
    };
    let end = Time::from_secs_f64(short.duration_s);
    let ended = longer.packets.iter().filter(|packet| packet.ended <= end);
    assert!(ended.eq(&report.packets), "the packets until {end:?} are not those of a longer run");
    let mut all: Vec<_> = longer.packets.iter().collect();
    all.sort_by_key(|packet| packet.number);
    let later = all.partition_point(|packet| packet.sent <= end);
    let has_all = all.get(later).is_some_and(|packet| packet.number == later as u64);
    let sent = all[..later].to_vec();
    let accounts = Accounts { scenario: &short, report: &report, end, sent, has_all };
    accounts.order();
    accounts.flows();
    accounts.traffic_classes();
    accounts.connections();
    accounts.tallies();
    accounts.service_flows();
    accounts.throughput();
    accounts.links();
    accounts.modem();
    accounts.little();
}

impl Accounts<'_> {
    fn packets(&self, traffic: &str, direction: &str) -> Vec<&PacketRecord> {
        let is_meant = |packet: &&&PacketRecord| {
            self.report.traffic[usize::from(packet.traffic)] == traffic
                && packet.direction.name() == direction
        };
        self.sent.iter().filter(is_meant).copied().collect()
    }

    fn by_reason(&self, packets: &[&PacketRecord], reason: DropReason) -> u64 {
        self.ended(packets, Outcome::Dropped(reason)).count() as u64
    }

    fn ended<'a>(
        &self,
        packets: &[&'a PacketRecord],
        outcome: Outcome,
    ) -> impl Iterator<Item = &'a PacketRecord> {
        let end = self.end;
        packets.iter().copied().filter(move |of| of.ended <= end && of.outcome == outcome)
    }

    fn lost(&self, packets: &[&PacketRecord]) -> u64 {
        let reasons = DropReason::ALL.iter().filter(|reason| **reason != DropReason::Superseded);
        reasons.map(|reason| self.by_reason(packets, *reason)).sum()
    }

    fn latencies(&self, packets: &[&PacketRecord]) -> Times {
        self.ended(packets, Outcome::Delivered).map(|of| of.ended.since(of.sent)).collect()
    }

    /// A packet comes to the access network, leaves its service flow and ends, in this order.
    fn order(&self) {
        for of in &self.sent {
            let reached = if of.reached_cmts == Time::NEVER { of.sent } else { of.reached_cmts };
            let forwarded = if of.forwarded == Time::NEVER { reached } else { of.forwarded };
            assert!(of.sent <= reached && reached <= forwarded && forwarded <= of.ended, "{of:?}");
            let is_delivered = of.outcome == Outcome::Delivered;
            assert!(!is_delivered || of.forwarded != Time::NEVER, "{of:?}");
        }
    }

    fn flows(&self) {
        let mut sent = 0;
        for row in &self.report.flows {
            let what = format!("{} {}", row.traffic, row.direction);
            let packets = self.packets(&row.traffic, row.direction);
            self.counts(row, &packets, &what);
            self.rates(row, &packets, &what);
            let times = self.latencies(&packets);
            times.agree(row.latency_mean_ms, row.latency_max_ms, &what);
            times.agree_least(row.latency_min_ms, &what);
            times.agree_quantiles(
                &[
                    (5000, row.latency_p50_ms),
                    (9000, row.latency_p90_ms),
                    (9900, row.latency_p99_ms),
                    (9990, row.latency_p999_ms),
                    (9999, row.latency_p9999_ms),
                ],
                &what,
            );
            sent += row.sent_packets;
        }
        assert!(!self.has_all || sent == self.sent.len() as u64, "packets without a row");
    }

    fn counts(&self, row: &FlowRow, packets: &[&PacketRecord], what: &str) {
        let of_row = [
            row.dropped_overflow_packets,
            row.dropped_aqm_packets,
            row.dropped_link_packets,
            row.superseded_packets,
            row.dropped_contention_packets,
        ];
        let dropped = DropReason::ALL.map(|reason| self.by_reason(packets, reason));
        assert_eq!(of_row, dropped, "{what}: dropped");
        let marked = packets.iter().filter(|of| of.marked);
        let (marked, of_ended) = (marked.clone().count(), marked.filter(|of| of.ended <= self.end));
        // When a packet was marked is not in the trace.
        assert!(row.marked_packets >= of_ended.count() as u64, "{what}: marked");
        if self.has_all {
            let sent = (packets.len() as u64, bytes(packets));
            assert_eq!((row.sent_packets, row.sent_bytes), sent, "{what}: sent");
            assert!(row.marked_packets <= marked as u64, "{what}: marked");
        }
    }

    fn rates(&self, row: &FlowRow, packets: &[&PacketRecord], what: &str) {
        let delivered: Vec<_> = self.ended(packets, Outcome::Delivered).collect();
        let found = (row.delivered_packets, row.delivered_bytes);
        assert_eq!(found, (delivered.len() as u64, bytes(&delivered)), "{what}: delivered");
        let mbps = |bytes: u64| bytes as f64 * 8e-6 / self.scenario.duration_s;
        near(row.throughput_mbps, mbps(bytes(&delivered)), what);
        near(row.goodput_mbps, mbps(self.payload(packets)), &format!("{what}: goodput"));
        self.losses(row.loss_percent, packets, what);
    }

    /// Of what ended, the share that was lost.
    fn losses(&self, found: Option<f64>, packets: &[&PacketRecord], what: &str) {
        let delivered = self.ended(packets, Outcome::Delivered).count() as u64;
        let lost = self.lost(packets);
        assert_eq!(found.is_some(), lost + delivered > 0, "{what}: loss");
        if let Some(found) = found {
            near(found, 100.0 * lost as f64 / (lost + delivered) as f64, what);
        }
    }

    /// What the connections did twice, they did twice together.
    fn tallies(&self) {
        for row in &self.report.flows {
            let is_its =
                |of: &&ConnectionRow| (&of.traffic, of.direction) == (&row.traffic, row.direction);
            let rows: Vec<_> = self.report.connections.iter().filter(is_its).collect();
            let sums = rows.iter().fold((0, 0), |(again, timeouts), of| {
                (again + of.retransmitted_packets, timeouts + of.timeouts)
            });
            let found = (row.retransmitted_packets, row.timeouts);
            // Those of which nothing came or was lost have no row.
            if rows.len() as u64 == row.connections {
                assert_eq!(found, sums, "{} {}: again, timeouts", row.traffic, row.direction);
            }
        }
    }

    /// Payload that came in order, and datagrams with all that is around them.
    fn payload(&self, packets: &[&PacketRecord]) -> u64 {
        let mut streams = BTreeMap::<_, Vec<&PacketRecord>>::new();
        let mut datagrams = 0;
        for of in packets {
            match of.connection {
                Some(number) => streams.entry(number).or_default().push(of),
                None if of.outcome == Outcome::Delivered && of.ended <= self.end => {
                    datagrams += u64::from(of.size);
                }
                None => {}
            }
        }
        datagrams + streams.values().map(|packets| self.in_order(packets)).sum::<u64>()
    }

    /// Bytes of a stream from its first one up to the first that has not come.
    fn in_order(&self, packets: &[&PacketRecord]) -> u64 {
        let first = packets.iter().filter(|of| of.segment.len > 0).map(|of| of.segment.seq).min();
        let Some(first) = first else { return 0 };
        let open = |of: &&PacketRecord| of.ended.secs_f64() <= self.closed_s(of);
        let mut came: Vec<_> = self
            .ended(packets, Outcome::Delivered)
            .filter(open)
            .map(|of| (of.segment.seq, of.segment.seq + u64::from(of.segment.len)))
            .collect();
        came.sort_unstable();
        let upto = came
            .iter()
            .fold(first, |upto, (from, to)| if *from <= upto { upto.max(*to) } else { upto });
        upto - first
    }

    /// When the connection of a packet was closed, or aborted: what comes later is heard by nobody.
    fn closed_s(&self, of: &PacketRecord) -> f64 {
        let traffic = &self.report.traffic[usize::from(of.traffic)];
        let is_its = |row: &&ConnectionRow| {
            row.traffic == *traffic && Some(row.connection) == of.connection.map(u64::from)
        };
        let row = self.report.connections.iter().find(is_its);
        row.and_then(|row| row.end_s).unwrap_or(f64::INFINITY)
    }

    fn traffic_classes(&self) {
        for row in &self.report.traffic_classes {
            let what = format!("{} {}", row.quality, row.direction);
            let of_class =
                |flow: &&FlowRow| (flow.quality, flow.direction) == (row.quality, row.direction);
            let flows: Vec<_> = self.report.flows.iter().filter(of_class).collect();
            let packets: Vec<_> =
                flows.iter().flat_map(|flow| self.packets(&flow.traffic, flow.direction)).collect();
            let times = self.latencies(&packets);
            assert_eq!(row.entries, flows.len() as u64, "{what}");
            assert_eq!(row.delivered_packets, times.0.len() as u64, "{what}");
            self.losses(row.loss_percent, &packets, &what);
            times.agree_quantiles(
                &[
                    (5000, row.latency_p50_ms),
                    (9000, row.latency_p90_ms),
                    (9900, row.latency_p99_ms),
                ],
                &what,
            );
        }
    }

    fn connections(&self) {
        for row in &self.report.connections {
            let what =
                format!("{} {} of connection {}", row.traffic, row.direction, row.connection);
            let mut packets = self.packets(&row.traffic, row.direction);
            packets.retain(|of| of.connection.map(u64::from) == Some(row.connection));
            let delivered: Vec<_> = self.ended(&packets, Outcome::Delivered).collect();
            let dropped: u64 = DropReason::ALL.iter().map(|r| self.by_reason(&packets, *r)).sum();
            assert_eq!(
                (
                    row.delivered_packets,
                    row.delivered_bytes,
                    row.dropped_packets,
                    row.payload_bytes
                ),
                (delivered.len() as u64, bytes(&delivered), dropped, self.in_order(&packets)),
                "{what}: {row:?}"
            );
        }
    }

    /// The counters of service flows, of all flows of a group together: the trace has no flows.
    fn service_flows(&self) {
        let mut first = 0;
        for group in self.scenario.groups() {
            let homes = first..first + group.count;
            first += group.count;
            for direction in Direction::BOTH {
                let is_its = |row: &&ServiceFlowRow| {
                    (&*row.homes, row.direction) == (group.name, direction.name())
                };
                let rows: Vec<_> = self.report.service_flows.iter().filter(is_its).collect();
                let is_its =
                    |of: &&&PacketRecord| homes.contains(&of.home) && of.direction == direction;
                let packets: Vec<_> = self.sent.iter().filter(is_its).copied().collect();
                self.service_flows_of(&rows, &packets);
            }
        }
    }

    fn service_flows_of(&self, rows: &[&ServiceFlowRow], packets: &[&PacketRecord]) {
        let sum = |of: fn(&ServiceFlowRow) -> u64| rows.iter().map(|row| of(row)).sum::<u64>();
        let what = format!("{} {}", rows[0].homes, rows[0].direction);
        for (counted, reason) in [
            (sum(|row| row.policed_drop_packets), DropReason::Overflow),
            (sum(|row| row.dropped_aqm_packets), DropReason::Aqm),
            (sum(|row| row.superseded_packets), DropReason::Superseded),
            (sum(|row| row.contention_dropped_packets), DropReason::Contention),
        ] {
            assert_eq!(counted, self.by_reason(packets, reason), "{what}: {}", reason.name());
        }
        // Some count a packet as soon as it begins to be sent.
        let least = packets.iter().filter(|of| of.forwarded <= self.end).count() as u64;
        let most = packets.iter().filter(|of| of.forwarded != Time::NEVER).count() as u64;
        let counted = sum(|row| row.forwarded_packets);
        assert!(
            !self.has_all || (least..=most).contains(&counted),
            "{what}: {counted} forwarded, not {least} to {most}"
        );
    }

    /// What was delivered in each interval of the series of an entry.
    fn throughput(&self) {
        for row in &self.report.series {
            let Some((traffic, direction)) = row.subject.rsplit_once(' ') else { continue };
            if row.series.metric != "throughput" || !["up", "down"].contains(&direction) {
                continue;
            }
            let packets = self.packets(traffic, direction);
            let interval = Time::from_secs_f64(row.interval_s);
            let mut bytes = vec![0; row.series.values.len()];
            for of in self.ended(&packets, Outcome::Delivered) {
                let place = (of.ended.ps() / interval.ps()) as usize;
                if let Some(bytes) = bytes.get_mut(place) {
                    *bytes += u64::from(of.size);
                }
            }
            for (number, (value, bytes)) in row.series.values.iter().zip(bytes).enumerate() {
                let mbps = bytes as f64 * 8e-6 / row.interval_s;
                assert!(
                    (f64::from(*value) - mbps).abs() <= 1e-5 * mbps.max(1.0),
                    "{} in interval {number}: {value} Mbps, {mbps} by the trace",
                    row.subject
                );
            }
        }
    }

    fn queue(&self, name: &str) -> &QueueRow {
        self.report.queues.iter().find(|row| row.queue == name).expect("there is such a queue")
    }

    /// Sojourn times before plain links: a packet is taken from the queue when it has come and the one
    /// before it has been sent.
    fn links(&self) {
        let mut first = 0;
        for group in self.scenario.groups() {
            for direction in Direction::BOTH {
                if self.has_all && is_plain_link(self.scenario, &group, direction) {
                    self.link(&group, first, direction);
                }
            }
            first += group.count;
        }
    }

    fn link(&self, group: &Group, home: u16, direction: Direction) {
        let part = if direction == Direction::Up { "upstream" } else { "downstream" };
        let name = if home == 0 { part.to_owned() } else { format!("{} {part}", group.name) };
        let is_on_it = |of: &&&PacketRecord| {
            of.home == home && of.direction == direction && of.forwarded != Time::NEVER
        };
        let mut packets: Vec<_> = self.sent.iter().filter(is_on_it).collect();
        packets.sort_by_key(|of| of.forwarded);
        let mut free = Time::ZERO;
        let mut times = Times::default();
        for of in packets {
            let came = if direction == Direction::Up { of.sent } else { of.reached_cmts };
            let taken = came.max(free);
            free = of.forwarded;
            if taken <= self.end {
                times.0.push(taken.since(came));
            }
        }
        times.sorted().agree_with_queue(self.queue(&name), &name);
    }

    /// Sojourn times in the modem that is traced. One with two queues holds packets between them.
    fn modem(&self) {
        let mut came = BTreeMap::new();
        let (mut managed, mut last) = (Times::default(), Times::default());
        for event in self.modem_events() {
            let Some(number) = event.packet else { continue };
            match event.kind {
                Kind::Arrive | Kind::Release => {
                    came.insert(number, event.at);
                }
                Kind::Hold => managed.0.push(event.at.since(came[&number])),
                Kind::Dequeue => last.0.push(event.at.since(came[&number])),
                _ => {}
            }
        }
        let has_two = matches!(self.scenario.group(0).upstream.modem, ModemSpec::TwoQueues { .. });
        if has_two && self.scenario.access.has_plant() {
            managed.sorted().agree_with_queue(self.queue("upstream"), "upstream");
            last.sorted().agree_with_queue(self.queue("transmit"), "transmit");
        } else if self.scenario.access.has_plant() {
            last.sorted().agree_with_queue(self.queue("upstream"), "upstream");
        }
    }

    /// Little's law: packets in the modem, added up over time, are their times in it.
    fn little(&self) {
        let (mut came, mut total) = (BTreeMap::new(), 0);
        let (mut area, mut until, mut inside) = (0, Time::ZERO, 0);
        for event in self.modem_events() {
            area += u128::from(event.at.since(until).ps()) * u128::from(inside);
            (until, inside) = (event.at, event.backlog.packets);
            let Some(number) = event.packet else { continue };
            match event.kind {
                Kind::Arrive => {
                    came.insert(number, event.at);
                }
                Kind::Drop(_) | Kind::Dequeue => {
                    let at = came.remove(&number).expect("it came");
                    total += u128::from(event.at.since(at).ps());
                }
                _ => {}
            }
        }
        area += u128::from(self.end.since(until).ps()) * u128::from(inside);
        total += came.values().map(|at| u128::from(self.end.since(*at).ps())).sum::<u128>();
        assert_eq!(area, total, "packets in the modem over time, and their times in it, in ps");
    }

    fn modem_events(&self) -> impl Iterator<Item = &ModemEvent> {
        self.report.modem_events.iter().filter(|event| event.at <= self.end)
    }
}

/// Has a home of a group one service flow alone in this direction, without a shaper, and a channel that is only its own?
fn is_plain_link(scenario: &Scenario, group: &Group, direction: Direction) -> bool {
    let queue = [&group.upstream.queue, &group.downstream.queue][direction as usize];
    let is_alone = match (&scenario.access, direction) {
        (AccessSpec::Fibre(_), _) => true,
        (AccessSpec::Docsis, Direction::Up) => {
            group.upstream.modem == ModemSpec::Link && group.upstream.flows.is_empty()
        }
        (AccessSpec::Docsis, Direction::Down) => {
            scenario.cmts.is_none() && group.downstream.flows.is_empty()
        }
    };
    is_alone && queue.shaper_mbps().is_none()
}

/// Times in ascending order.
#[derive(Default)]
struct Times(Vec<Time>);

impl FromIterator<Time> for Times {
    fn from_iter<T: IntoIterator<Item = Time>>(times: T) -> Self {
        Self(times.into_iter().collect()).sorted()
    }
}

impl Times {
    fn sorted(mut self) -> Self {
        self.0.sort_unstable();
        self
    }

    fn agree_with_queue(&self, row: &QueueRow, what: &str) {
        assert_eq!(row.departed_packets, self.0.len() as u64, "{what}: departed");
        self.agree(row.sojourn_mean_ms, row.sojourn_max_ms, what);
        self.agree_quantiles(
            &[
                (5000, row.sojourn_p50_ms),
                (9000, row.sojourn_p90_ms),
                (9900, row.sojourn_p99_ms),
                (9990, row.sojourn_p999_ms),
                (9999, row.sojourn_p9999_ms),
            ],
            what,
        );
    }

    fn agree(&self, mean_ms: Option<f64>, max_ms: Option<f64>, what: &str) {
        let sum: u128 = self.0.iter().map(|time| u128::from(time.ps())).sum();
        let mean = (!self.0.is_empty()).then(|| sum as f64 / self.0.len() as f64 / 1e9);
        assert_eq!(mean.is_some(), mean_ms.is_some(), "{what}");
        near(mean_ms.unwrap_or(0.0), mean.unwrap_or(0.0), &format!("{what}: mean"));
        assert_eq!(max_ms, self.0.last().map(|time| time.ms_f64()), "{what}: greatest");
    }

    fn agree_least(&self, min_ms: Option<f64>, what: &str) {
        assert_eq!(min_ms, self.0.first().map(|time| time.ms_f64()), "{what}: least");
    }

    /// To 0.1 % or 1 us of the least time that so many of 10 000 do not exceed.
    fn agree_quantiles(&self, quantiles: &[(usize, Option<f64>)], what: &str) {
        for (of_10_000, found) in quantiles {
            let place = (self.0.len() * of_10_000).div_ceil(10_000);
            let want = place.checked_sub(1).map(|place| self.0[place].ms_f64());
            assert_eq!(found.is_some(), want.is_some(), "{what}");
            let (Some(found), Some(want)) = (*found, want) else { continue };
            assert!(
                (found - want).abs() <= (0.001 * want).max(0.001) + 1e-9,
                "{what}: {found} ms is not exceeded by {of_10_000} of 10 000; by the trace {want} ms"
            );
        }
    }
}

fn bytes(packets: &[&PacketRecord]) -> u64 {
    packets.iter().map(|of| u64::from(of.size)).sum()
}

fn near(found: f64, want: f64, what: &str) {
    assert!(
        (found - want).abs() <= 1e-9 * want.abs().max(1.0),
        "{what}: {found}, by the trace {want}"
    );
}
