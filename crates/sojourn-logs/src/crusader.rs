//! JSON that `crusader export` writes: probes, and bytes of each stream of each phase.

use serde::Deserialize;

use crate::log::{Format, Log, Probe, Rate};
use crate::rates::together;

#[derive(Deserialize)]
pub(crate) struct Document {
    stream_groups: Vec<Group>,
    pings: Vec<Ping>,
    /// Newer versions look after their server.
    server_overload: Option<bool>,
}

const OVERLOAD: &str = "Crusader says that its server was overloaded: delays and rates may be the server's, not the line's.";

/// The streams that one phase starts; with `both` the other direction runs too.
#[derive(Deserialize)]
struct Group {
    download: bool,
    streams: Vec<Stream>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Stream {
    Points(Vec<Point>),
    Data { data: Vec<Point> },
}

impl Stream {
    fn points(&self) -> &[Point] {
        let (Self::Points(points) | Self::Data { data: points }) = self;
        points
    }
}

/// How many bytes had come by then.
#[derive(Deserialize)]
struct Point {
    time: Span,
    bytes: f64,
}

#[derive(Deserialize)]
struct Ping {
    sent: Span,
    latency: Option<Latency>,
}

#[derive(Deserialize)]
struct Latency {
    total: Option<Span>,
    up: Option<Span>,
}

/// A time as serde writes it.
#[derive(Clone, Copy, Deserialize)]
struct Span {
    secs: f64,
    nanos: f64,
}

impl Span {
    fn ms(self) -> f64 {
        self.secs * 1e3 + self.nanos * 1e-6
    }
}

/// The probes and rates of a file.
pub(crate) fn log(document: Document) -> Log {
    let up_ms = |ping: &Ping| ping.latency.as_ref().and_then(|all| all.up).map(Span::ms);
    // The first version did not measure it.
    let has_ways = document.pings.iter().filter_map(up_ms).any(|ms| ms > 0.0);
    let probe = |ping: &Ping| {
        let sent_ms = ping.sent.ms();
        let Some(rtt_ms) = ping.latency.as_ref().and_then(|all| all.total).map(Span::ms) else {
            return Probe::lost(sent_ms);
        };
        let up_ms = up_ms(ping).filter(|_| has_ways);
        let down_ms = up_ms.map(|up| rtt_ms - up);
        Probe { up_ms, down_ms, ..Probe::answered(sent_ms, rtt_ms) }
    };
    let mut log = Log::new(Format::Crusader, vec![document.pings.iter().map(probe).collect()]);
    let way = |download| {
        let groups = document.stream_groups.iter().filter(|group| group.download == download);
        let streams = groups.flat_map(|group| &group.streams);
        together(streams.map(|stream| rates(stream.points())).collect())
    };
    log.ways = [way(true), way(false)];
    log.has_loads = true;
    log.doubts.extend(document.server_overload.filter(|is| *is).map(|_| OVERLOAD.to_owned()));
    log
}

/// From the first byte to the last: some versions begin the list of a stream with the test, long before its load.
fn rates(points: &[Point]) -> Vec<Rate> {
    let grows = |two: &[Point]| two[1].bytes > two[0].bytes;
    let first = points.windows(2).position(grows).unwrap_or(0);
    let end = points.windows(2).rposition(grows).map_or(0, |last| last + 2);
    let points = points.get(first..end).unwrap_or_default();
    let steps = points.windows(2).filter_map(|two| {
        let (from, to) = (&two[0], &two[1]);
        let ms = to.time.ms() - from.time.ms();
        let bytes = (to.bytes - from.bytes).max(0.0);
        (ms > 0.0).then(|| Rate { at_ms: to.time.ms(), mbps: bytes * 8e-3 / ms })
    });
    steps.collect()
}
