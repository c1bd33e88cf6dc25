//! The tables of results: those of [`super::rows`], and those whose rows are kept in other forms.

use serde::Serialize;

use super::column::{Definition, Table, columns};
use super::results::{LatencyCells, Results, SeriesRow};
use super::rows::{
    ChannelRow, ConnectionRow, DelayPartRow, FirstHalfRow, FlowRow, LatencyHistogramRow, PageRow,
    QueueRow, ServiceFlowRow, TrafficClassRow,
};
use sojourn_engine::packet::{DATAGRAM, Flags, OUTSIDE, Real, Segment};
use sojourn_engine::record::{Member, ModemEvent, ModemEventKind, PacketRecord};
use sojourn_engine::units::Time;

/// Whoever wants the tables of a run, whatever their rows are.
pub trait Visitor {
    /// The rows of a table.
    fn table<Row: Table>(&mut self, rows: &[Row]);
}

/// What a table has.
#[derive(Debug, Serialize)]
pub struct TableDefinition {
    /// Its name.
    pub name: &'static str,
    /// What a row is.
    pub about: &'static str,
    /// Its columns in their order.
    pub columns: Vec<Definition>,
}

impl Results {
    /// Shows all tables, in the order of [`definitions`].
    pub fn tables(&self, visitor: &mut impl Visitor) {
        visitor.table(&self.flows);
        visitor.table(&self.traffic_classes);
        visitor.table(&self.connections);
        visitor.table(&self.service_flows);
        visitor.table(&self.channels);
        visitor.table(&self.queues);
        visitor.table(&self.latency_histogram);
        visitor.table(&self.pages);
        visitor.table(&self.latencies.iter().flat_map(latency_cells).collect::<Vec<_>>());
        visitor.table(&self.series.iter().flat_map(series_points).collect::<Vec<_>>());
        visitor
            .table(&self.packets.iter().map(|of| PacketOf { of, run: self }).collect::<Vec<_>>());
        visitor.table(
            &self.modem_events.iter().map(|of| EventOf { of, run: self }).collect::<Vec<_>>(),
        );
        visitor.table(&self.delay_parts);
        visitor.table(&self.first_half);
    }
}

/// What all tables have.
pub fn definitions() -> Vec<TableDefinition> {
    vec![
        definition::<FlowRow>(),
        definition::<TrafficClassRow>(),
        definition::<ConnectionRow>(),
        definition::<ServiceFlowRow>(),
        definition::<ChannelRow>(),
        definition::<QueueRow>(),
        definition::<LatencyHistogramRow>(),
        definition::<PageRow>(),
        definition::<LatencyCell>(),
        definition::<SeriesPoint>(),
        definition::<PacketOf>(),
        definition::<EventOf>(),
        definition::<DelayPartRow>(),
        definition::<FirstHalfRow>(),
    ]
}

fn definition<Row: Table>() -> TableDefinition {
    let columns = Row::columns();
    TableDefinition {
        name: Row::NAME,
        about: Row::ABOUT,
        columns: columns.iter().map(|column| column.definition).collect(),
    }
}

/// A cell of the distribution of a flow's latency.
struct LatencyCell<'a> {
    of: &'a LatencyCells,
    edge_ms: f64,
    packets: u64,
}

fn latency_cells(of: &LatencyCells) -> impl Iterator<Item = LatencyCell<'_>> {
    of.cells.iter().map(move |&(edge_ms, packets)| LatencyCell { of, edge_ms, packets })
}

columns! {
    /// The distribution of the one-way latency of each flow: packets by cell, of those sent from metrics.from_s
    /// on.
    "latencies" of LatencyCell<'_>, Repeated {
        /// Entry of the scenario's traffic list.
        traffic: &str => |cell| cell.of.traffic.as_str();
        /// up: from the home to a server; down: to the home.
        direction: &str => |cell| cell.of.direction;
        /// One-way latency: the upper edge of a cell of the distribution.
        latency_ms: f64, in "ms" => |cell| cell.edge_ms;
        /// Packets in that cell.
        packets: u64, in "packets" => |cell| cell.packets;
    }
}

/// A value of a series.
struct SeriesPoint<'a> {
    of: &'a SeriesRow,
    index: usize,
}

impl SeriesPoint<'_> {
    fn time_s(&self) -> f64 {
        (self.of.offset + self.index + 1) as f64 * self.of.interval_s
    }

    fn value(&self) -> Option<f32> {
        Some(self.of.series.values[self.index]).filter(|value| !value.is_nan())
    }
}

fn series_points(of: &SeriesRow) -> impl Iterator<Item = SeriesPoint<'_>> {
    (0..of.series.values.len()).map(move |index| SeriesPoint { of, index })
}

columns! {
    /// Values over time, one for each sampling interval.
    "series" of SeriesPoint<'_>, Repeated {
        /// What a series is of: a queue, a traffic entry and direction.
        subject: &str => |point| point.of.subject.as_str();
        /// What is sampled, in the unit of the column unit.
        metric: &str => |point| point.of.series.metric;
        /// Unit of the value.
        unit: &str => |point| point.of.series.unit;
        /// End of the interval.
        time_s: f64, in "s" => SeriesPoint::time_s;
        /// Mean over the interval, or state at its end; null where there was nothing to measure.
        value: Option<f32> => SeriesPoint::value;
    }
}

/// A packet of the trace.
struct PacketOf<'a> {
    of: &'a PacketRecord,
    run: &'a Results,
}

impl<'a> PacketOf<'a> {
    fn traffic(&self) -> &'a str {
        &self.run.traffic[usize::from(self.of.traffic)]
    }

    fn server(&self) -> &'a str {
        &self.run.servers[usize::from(self.of.server)]
    }

    /// The port of the entry; a packet from outside has its own.
    fn server_port(&self) -> Option<u16> {
        match self.real() {
            Some(Real { ports: [_, server], .. }) => Some(server).filter(|port| *port > 0),
            None => Some(self.run.ports[usize::from(self.of.traffic)]),
        }
    }

    fn home_port(&self) -> Option<u16> {
        self.real().map(|real| real.ports[0]).filter(|port| *port > 0)
    }

    fn handle(&self) -> Option<u64> {
        self.is_outside().then_some(self.of.segment.seq)
    }

    fn real(&self) -> Option<Real> {
        self.is_outside().then(|| Real::of(&self.of.segment))
    }

    fn seq(&self) -> u64 {
        match self.real() {
            Some(real) if self.is_tcp() => real.seq.into(),
            _ => self.of.segment.seq,
        }
    }

    /// A number of TCP: those of simulated connections do not wrap.
    fn number(&self, number: u64) -> u64 {
        if self.is_outside() { number & u64::from(u32::MAX) } else { number }
    }

    fn is_outside(&self) -> bool {
        (OUTSIDE..DATAGRAM).contains(&self.of.flow)
    }

    fn is_of_connection(&self) -> bool {
        self.of.flow < OUTSIDE
    }

    /// Has it the header of TCP, of which a packet from outside always has a flag?
    fn is_tcp(&self) -> bool {
        match self.is_outside() {
            true => self.of.segment.flags != Flags::default(),
            false => self.is_of_connection() && !self.is_quic(),
        }
    }

    fn flow(&self) -> Option<u32> {
        self.is_of_connection().then_some(self.of.flow)
    }

    /// A segment of TCP is a SYN or acknowledges something; a packet of QUIC has no flags that a path sees.
    fn is_quic(&self) -> bool {
        let flags = [Flags::SYN, Flags::ACK];
        self.is_of_connection() && flags.iter().all(|flag| !self.of.segment.has(*flag))
    }

    fn packet_number(&self) -> Option<u64> {
        self.is_quic().then(|| self.of.segment.own.quic().number)
    }

    fn ack(&self) -> Option<u64> {
        self.of.segment.has(Flags::ACK).then_some(self.number(self.of.segment.ack))
    }

    /// A datagram has no length of its own: UDP's and IPv4's headers are in its size.
    fn payload_bytes(&self) -> u16 {
        match self.of.flow {
            DATAGRAM => self.of.size.saturating_sub(28),
            _ => self.of.segment.len,
        }
    }

    fn flags(&self) -> Option<String> {
        let all = [
            (Flags::SYN, "syn"),
            (Flags::ACK, "ack"),
            (Flags::FIN, "fin"),
            (Flags::ECE, "ece"),
            (Flags::CWR, "cwr"),
            (Flags::AE, "ae"),
        ];
        let set = all.iter().filter(|(flag, _)| self.of.segment.has(*flag)).map(|(_, name)| *name);
        self.is_tcp().then(|| set.collect::<Vec<_>>().join(" "))
    }

    fn echo_s(&self) -> Option<f64> {
        let timestamps = self.run.timestamps.get(usize::from(self.of.traffic));
        let has_timestamps = !self.is_outside() && self.is_tcp() && timestamps == Some(&true);
        has_timestamps.then(|| self.of.segment.echo.secs_f64())
    }

    /// As sequence numbers: `2921-4381 7301-8761`; first what came twice, if something did.
    fn sack(&self) -> Option<String> {
        if self.is_quic() {
            return None;
        }
        let Segment { ack, own, .. } = &self.of.segment;
        let used = own.blocks().into_iter().filter_map(|block| block.bytes(*ack));
        let blocks: Vec<_> = used
            .map(|(start, end)| format!("{}-{}", self.number(start), self.number(end)))
            .collect();
        (!blocks.is_empty()).then(|| blocks.join(" "))
    }
}

/// A time, unless it was never.
fn seconds(time: Time) -> Option<f64> {
    (time != Time::NEVER).then(|| time.secs_f64())
}

columns! {
    /// Headers, times and outcome of every packet that ended, in that order. Empty unless the scenario
    /// sets metrics.packet_trace.
    "packets" of PacketOf<'_>, Repeated {
        /// Number of the packet among those sent in the run, from 0.
        packet: u64 => |packet| packet.of.number;
        /// Entry of the scenario's traffic list.
        traffic: &str => PacketOf::traffic;
        /// up: from the home to a server; down: to the home.
        direction: &str => |packet| packet.of.direction.name();
        /// The home that it comes from or goes to: its number in the network, from 1.
        home: u16 => |packet| packet.of.home + 1;
        /// The server that it comes from or goes to.
        server: &str => PacketOf::server;
        /// The number of a real packet among all that came, from 0; null for simulated ones.
        handle: Option<u64> => PacketOf::handle;
        /// Port in the home of a real packet; null for simulated ones, which have none, and where there are no ports.
        home_port: Option<u16> => PacketOf::home_port;
        /// Port of the server; null where there are no ports.
        server_port: Option<u16> => PacketOf::server_port;
        /// Slot of its connection; null for datagrams and real packets.
        flow: Option<u32> => PacketOf::flow;
        /// Number of its connection among those of its entry, from 1; null for datagrams.
        connection: Option<u32> => |packet| packet.of.connection;
        /// Sequence number, or the count of datagrams; with QUIC the offset in the stream.
        seq: u64, from "RFC 9293, section 3.1" => PacketOf::seq;
        /// Packet number of QUIC, which nothing on the path can read; null for others.
        packet_number: Option<u64>, from "RFC 9000, section 12.3" => PacketOf::packet_number;
        /// The next sequence number that its sender expects; null for QUIC.
        ack: Option<u64>, from "RFC 9293, section 3.1" => PacketOf::ack;
        /// Flags that are set: syn, ack, fin, ece, cwr, ae; null for what is not TCP.
        flags: Option<String> => PacketOf::flags;
        /// Payload that it carries.
        payload_bytes: u16, in "B" => PacketOf::payload_bytes;
        /// Bytes on the wire.
        size_bytes: u16, in "B" => |packet| packet.of.size;
        /// Timestamp that it echoes, as simulated time.
        echo_s: Option<f64>, in "s", from "RFC 7323, section 3" => PacketOf::echo_s;
        /// Runs of bytes held beyond ack; null for QUIC.
        sack: Option<String>, from "RFC 2018" => PacketOf::sack;
        /// Differentiated services code point.
        dscp: u16, from "RFC 2474, section 3" => |packet| packet.of.segment.dscp.into();
        /// The ECN field as it was sent.
        ecn: &str, from "RFC 3168, section 5" => |packet| packet.of.ecn.name();
        /// When its sender sent it.
        sent_s: f64, in "s" => |packet| packet.of.sent.secs_f64();
        /// Downstream: when it came to the CMTS; null if it was lost before.
        reached_cmts_s: Option<f64>, in "s" => |packet| seconds(packet.of.reached_cmts);
        /// When its last byte left its service flow, at the modem upstream, at the CMTS downstream;
        /// null if it was dropped before.
        forwarded_s: Option<f64>, in "s" => |packet| seconds(packet.of.forwarded);
        /// When it was delivered or dropped.
        ended_s: f64, in "s" => |packet| packet.of.ended.secs_f64();
        /// A queue has marked it.
        marked: bool => |packet| packet.of.marked;
        /// low_latency or classic: the queue that it took where there are two, the last one if it passes
        /// several such pairs; null where there is one.
        member: Option<&str> => |packet| packet.of.member.map(Member::name);
        /// Queue Protection sent it from the low-latency queue to the classic one.
        sanctioned: bool, from "RFC 9957, section 4" => |packet| packet.of.sanctioned;
        /// delivered, or why it was dropped.
        outcome: &str => |packet| packet.of.outcome.name();
    }
}

/// An event at the modem.
struct EventOf<'a> {
    of: &'a ModemEvent,
    run: &'a Results,
}

impl<'a> EventOf<'a> {
    fn traffic(&self) -> Option<&'a str> {
        self.of.traffic.map(|entry| self.run.traffic[usize::from(entry)].as_str())
    }

    fn reason(&self) -> Option<&'a str> {
        match self.of.kind {
            ModemEventKind::Drop(reason) => Some(reason.name()),
            _ => None,
        }
    }
}

columns! {
    /// What happens at the primary upstream service flow of the first home's modem, event by event in
    /// the order of time. Empty unless the scenario sets metrics.modem_trace.
    "modem_events" of EventOf<'_>, Repeated {
        /// When it happens.
        time_s: f64, in "s" => |event| event.of.at.secs_f64();
        /// What happens. Of a packet: arrive, drop, mark, sanction (it goes to the classic queue), hold and
        /// release (two-queue modem), dequeue, piece, piece_end, sent. Of the MAC: request, withhold, map, defer, grant, unused.
        event: &str => |event| event.of.kind.name();
        /// Number of the packet among those sent in the run; null where it is not of one.
        packet: Option<u64> => |event| event.of.packet;
        /// Entry of the scenario's traffic list that the packet is of.
        traffic: Option<&str> => EventOf::traffic;
        /// Number of its connection among those of its entry, from 1; null for datagrams.
        connection: Option<u32> => |event| event.of.connection;
        /// low_latency or classic: the queue of the packet where there are two.
        member: Option<&str> => |event| event.of.member.map(Member::name);
        /// Bytes of the packet, or those that were requested, withheld, granted, sent or not used.
        bytes: u64, in "B" => |event| event.of.bytes;
        /// Why the packet was dropped.
        reason: Option<&str> => EventOf::reason;
        /// What the bucket of the sustained rate holds then.
        tokens_bytes: f64, in "B" => |event| event.of.tokens;
        /// Packets that wait in the modem after the event, without one that is being sent.
        backlog_packets: u64, in "packets" => |event| event.of.backlog.packets;
        /// Their bytes.
        backlog_bytes: u64, in "B" => |event| event.of.backlog.bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_engine::packet::{Own, Packet, QuicNumbers, SackBlock};
    use sojourn_engine::record::Series;

    #[derive(Default)]
    struct Names(Vec<&'static str>);

    impl Visitor for Names {
        fn table<Row: Table>(&mut self, _rows: &[Row]) {
            self.0.push(Row::NAME);
        }
    }

    #[test]
    fn every_table_is_shown_in_the_order_of_its_definition() {
        let mut shown = Names::default();
        Results::default().tables(&mut shown);
        let defined: Vec<_> = definitions().iter().map(|table| table.name).collect();
        assert_eq!((shown.0.len(), shown.0), (14, defined));
    }

    #[test]
    fn a_value_of_a_series_is_at_the_end_of_its_interval() {
        // Three intervals of half a second are before the first one.
        let mut series = Series::new("backlog", "B");
        series.values = vec![7.0, f32::NAN, 9.0];
        let row = SeriesRow { subject: "upstream".to_owned(), series, offset: 3, interval_s: 0.5 };
        let points: Vec<_> =
            series_points(&row).map(|point| (point.time_s(), point.value())).collect();
        assert_eq!(points, [(2.0, Some(7.0)), (2.5, None), (3.0, Some(9.0))]);
    }

    /// A run with a TCP entry that has timestamps, one of QUIC, and one of datagrams.
    fn run() -> Results {
        Results {
            traffic: ["tcp", "quic", "game"].map(str::to_owned).to_vec(),
            servers: ["near", "far"].map(str::to_owned).to_vec(),
            ports: vec![80, 443, 0],
            timestamps: vec![true, false, false],
            ..Results::default()
        }
    }

    fn record(traffic: u16, flow: u32, segment: Segment) -> PacketRecord {
        let packet = Packet { traffic, flow, server: 1, segment, ..Packet::datagram(128) };
        PacketRecord::new(7, None, &packet)
    }

    #[test]
    fn a_tcp_segment_shows_its_header() {
        let (run, block) = (run(), |start, end| SackBlock { start, end });
        let segment = |flags| Segment {
            ack: 1000,
            len: 62,
            echo: Time::from_ms(1500),
            own: Own::of_blocks([block(500, 900), block(2000, 2500), block(0, 0)]),
            flags,
            ..Segment::default()
        };
        let syn_ack = record(0, 3, segment(Flags::SYN.and(Flags::ACK)));
        let packet = PacketOf { of: &syn_ack, run: &run };
        assert_eq!(
            (packet.traffic(), packet.server(), packet.server_port()),
            ("tcp", "far", Some(80))
        );
        assert_eq!(
            (packet.flow(), packet.ack(), packet.packet_number()),
            (Some(3), Some(1000), None)
        );
        assert_eq!((packet.payload_bytes(), packet.echo_s()), (62, Some(1.5)));
        assert_eq!(packet.flags().as_deref(), Some("syn ack"));
        assert_eq!(packet.sack().as_deref(), Some("1500-1900 3000-3500"));
        // Without the flag ACK there is no acknowledgement, and without blocks nothing is held.
        let bare = Segment { own: Own::default(), ..segment(Flags::SYN) };
        let packet = PacketOf { of: &record(0, 3, bare), run: &run };
        assert_eq!((packet.ack(), packet.sack()), (None, None));
        assert_eq!(packet.flags().as_deref(), Some("syn"));
        // One byte may be held, or reported again.
        let one = Own::of_blocks([block(0, 1), block(0, 0), block(0, 0)]);
        let packet =
            PacketOf { of: &record(0, 3, Segment { own: one, ..segment(Flags::ACK) }), run: &run };
        assert_eq!(packet.sack().as_deref(), Some("1000-1001"));
    }

    #[test]
    fn quic_and_datagrams_lack_what_only_tcp_has() {
        let run = run();
        let numbers = QuicNumbers { number: 42, smallest: 1 << 20, ..QuicNumbers::default() };
        let segment = Segment { own: Own::of_quic(numbers), len: 62, ..Segment::default() };
        let quic = record(1, 3, segment.clone());
        let packet = PacketOf { of: &quic, run: &run };
        assert_eq!((packet.flow(), packet.packet_number()), (Some(3), Some(42)));
        assert_eq!((packet.flags(), packet.sack(), packet.echo_s()), (None, None, None));
        assert_eq!(packet.payload_bytes(), 62);
        // 8 bytes of UDP and 20 of IPv4 are no payload; an entry of QUIC or TCP may send datagrams too.
        for traffic in [0, 1, 2] {
            let datagram = record(traffic, DATAGRAM, segment.clone());
            let packet = PacketOf { of: &datagram, run: &run };
            assert_eq!((packet.payload_bytes(), packet.flow()), (100, None));
            assert_eq!((packet.packet_number(), packet.echo_s()), (None, None));
            assert_eq!((packet.ack(), packet.flags()), (None, None));
        }
    }

    #[test]
    fn real_packets_have_their_own_numbers() {
        let run = run();
        let echo = Real { seq: 7, ports: [40_000, 443] }.packed();
        // 2^32 + 1000 is acknowledged: 1000 in the header.
        let ack = (1 << 32) + 1000;
        let tcp = Segment { seq: 12, echo, ack, flags: Flags::ACK, len: 9, ..Segment::default() };
        let real = record(0, OUTSIDE + 3, tcp.clone());
        let packet = PacketOf { of: &real, run: &run };
        assert_eq!((packet.handle(), packet.seq(), packet.ack()), (Some(12), 7, Some(1000)));
        assert_eq!((packet.home_port(), packet.server_port()), (Some(40_000), Some(443)));
        assert_eq!((packet.flow(), packet.echo_s(), packet.payload_bytes()), (None, None, 9));
        assert_eq!(packet.flags().as_deref(), Some("ack"));
        let echo = Real::default().packed();
        let ping = record(0, OUTSIDE + 4, Segment { flags: Flags::default(), echo, ..tcp });
        let packet = PacketOf { of: &ping, run: &run };
        assert_eq!((packet.handle(), packet.seq(), packet.ack()), (Some(12), 12, None));
        assert_eq!((packet.home_port(), packet.server_port(), packet.flags()), (None, None, None));
    }

    #[test]
    fn what_never_was_has_no_time() {
        assert_eq!([Time::from_ms(250), Time::NEVER].map(seconds), [Some(0.25), None]);
    }
}
