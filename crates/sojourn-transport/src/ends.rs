//! Both ends of a connection, of either transport protocol.

use super::cc::Window;
use super::config::{Config, Transport};
use super::endpoint::{Departure, Endpoint, SegmentEvents};
use super::quic::{Arrivals, QuicEndpoint};
use super::sender_series::{SenderState, Shown};
use super::streams::{Message, Streams};
use sojourn_engine::count::Tally;
use sojourn_engine::packet::{Ecn, Segment};
use sojourn_engine::record::Gauges;
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;

/// The end that opens the connection and the other one, which all methods have by number: 0 and 1; and the streams that
/// they carry, if there are many.
pub struct Ends {
    pair: Pair,
    streams: Option<Box<Streams>>,
}

/// Both ends of a connection.
#[expect(clippy::large_enum_variant, reason = "most connections are TCP's, without a step between")]
enum Pair {
    Tcp([Endpoint; 2]),
    Quic(Box<QuicPair>),
}

/// Both ends of a QUIC connection, and what the ACK frames of each carry.
struct QuicPair {
    ends: [QuicEndpoint; 2],
    arrivals: [Arrivals; 2],
}

/// A call of the end, of whichever kind it is.
macro_rules! of_end {
    ($ends:expr, $end:expr, $name:ident => $call:expr) => {
        match &mut $ends.pair {
            Pair::Tcp(ends) => {
                let $name = &mut ends[$end];
                $call
            }
            Pair::Quic(pair) => {
                let $name = &mut pair.ends[$end];
                $call
            }
        }
    };
}

impl Pair {
    fn open(config: &Config, seed: Seed, is_resumed: bool) -> Self {
        let [of_first, of_other] = [0, 1].map(|end| seed.numbered(end));
        match config.transport {
            Transport::Tcp => {
                let mut first = Endpoint::new(config, of_first);
                first.open();
                Self::Tcp([first, Endpoint::new(config, of_other)])
            }
            Transport::Quic => {
                let mut first = QuicEndpoint::new(config, of_first);
                first.open(config);
                let mut ends = [first, QuicEndpoint::new(config, of_other)];
                if is_resumed {
                    ends.iter_mut().for_each(QuicEndpoint::resume);
                }
                Self::Quic(Box::new(QuicPair { ends, arrivals: Default::default() }))
            }
        }
    }

    fn send(&mut self, end: usize, bytes: u64, config: &Config) {
        match self {
            Self::Tcp(ends) => ends[end].send(bytes, config),
            Self::Quic(pair) => pair.ends[end].send(bytes),
        }
    }

    /// Bytes that an end is to send and has not sent.
    fn unsent(&self, end: usize) -> u64 {
        match self {
            Self::Tcp(ends) => ends[end].unsent(),
            Self::Quic(pair) => pair.ends[end].unsent(),
        }
    }

    /// Has an end received all of these bytes, and may it use them? TCP gives them in order.
    fn has(&self, end: usize, from: u64, to: u64) -> bool {
        match self {
            Self::Tcp(ends) => ends[end].has(to),
            Self::Quic(pair) => pair.ends[end].has(from, to),
        }
    }

    /// Bytes that an end has received in order.
    fn received(&self, end: usize) -> u64 {
        match self {
            Self::Tcp(ends) => ends[end].received(),
            Self::Quic(pair) => pair.ends[end].received(),
        }
    }

    fn shown<'a>(&'a self, end: usize, config: &'a Config) -> Shown<'a> {
        match self {
            Self::Tcp(ends) => ends[end].shown(config),
            Self::Quic(pair) => pair.ends[end].shown(config),
        }
    }
}

impl Ends {
    /// Two ends, of which the first opens the connection.
    pub fn open(config: &Config, seed: Seed) -> Self {
        Self { pair: Pair::open(config, seed, false), streams: None }
    }

    /// The same for a connection with many streams. `is_resumed` leaves out what a resumed session of TLS does not send,
    /// where TLS is the transport's. With `replenish` the ends hold no more unsent than they send in this time
    /// (TCP_REPLENISH_TIME).
    pub fn open_streams(
        config: &Config,
        seed: Seed,
        is_resumed: bool,
        replenish: Option<Time>,
    ) -> Self {
        let streams = Box::new(Streams::new(replenish));
        Self { pair: Pair::open(config, seed, is_resumed), streams: Some(streams) }
    }

    /// Handles a segment at an end that the other end sent at `sent_at`, and that arrived with this ECN field. With many
    /// streams the events say that something was received if a message has come.
    #[inline]
    pub fn on_segment(
        &mut self,
        end: usize,
        now: Time,
        segment: &Segment,
        (sent_at, ecn): (Time, Ecn),
        config: &Config,
    ) -> SegmentEvents {
        let mut events = match &mut self.pair {
            Pair::Tcp(ends) => ends[end].on_segment(now, segment, sent_at, ecn, config),
            Pair::Quic(pair) => {
                let QuicPair { ends, arrivals: [first, second] } = &mut **pair;
                let logs = if end == 0 { (first, second) } else { (second, first) };
                ends[end].on_segment(now, (segment, ecn), logs, config)
            }
        };
        if self.streams.is_some() && segment.len > 0 {
            events.received_all = self.has_message(end, segment, config);
        }
        events
    }

    /// Has a message come with a segment?
    #[cold]
    fn has_message(&mut self, end: usize, segment: &Segment, config: &Config) -> bool {
        let Self { pair, streams } = self;
        let has = |from, to| pair.has(end, from, to);
        streams.as_mut().is_some_and(|streams| streams.arrive(end, segment, has, config))
    }

    /// The next segment that an end wants to send now. Ask until there is none.
    #[inline]
    pub fn poll(&mut self, end: usize, now: Time, config: &Config) -> Option<Departure> {
        if self.streams.is_some() {
            self.send_frames(end, config);
        }
        of_end!(self, end, it => it.poll(now, config))
    }

    /// Hands over the frames of streams that are to be sent soon.
    #[cold]
    fn send_frames(&mut self, end: usize, config: &Config) {
        let Self { pair, streams: Some(streams) } = self else { return };
        let most_unsent = streams.most_unsent(|| pair.shown(end, config).state().bytes_per_s());
        while let Some(bytes) = streams.next_frame(end, (pair.unsent(end), most_unsent), config) {
            pair.send(end, bytes, config);
        }
    }

    /// Has an end nothing to send now, for certain?
    #[inline]
    pub fn is_silent(&self, end: usize) -> bool {
        let is_written = self.streams.as_ref().is_none_or(|streams| streams.has_written_all(end));
        match &self.pair {
            Pair::Tcp(ends) => is_written && ends[end].is_silent(),
            Pair::Quic(_) => false,
        }
    }

    /// When `on_timer` is due at an end.
    #[inline]
    pub fn deadline(&self, end: usize) -> Time {
        match &self.pair {
            Pair::Tcp(ends) => ends[end].deadline(),
            Pair::Quic(pair) => pair.ends[end].deadline(),
        }
    }

    /// Handles the timers of an end that are due.
    pub fn on_timer(&mut self, end: usize, now: Time, config: &Config) {
        of_end!(self, end, it => it.on_timer(now, config));
    }

    /// Adds `bytes` to send at an end; `u64::MAX` for an endless transfer.
    pub fn send(&mut self, end: usize, bytes: u64, config: &Config) {
        self.pair.send(end, bytes, config);
    }

    /// Reports when `bytes` more than expected so far have been received at an end.
    pub fn expect(&mut self, end: usize, bytes: u64) {
        of_end!(self, end, it => it.expect(bytes));
    }

    /// Adds a message to send at an end of a connection with many streams; one without them has no messages.
    pub fn write(&mut self, end: usize, message: Message) {
        if let Some(streams) = &mut self.streams {
            streams.write(end, message);
        }
    }

    /// The stream of a message that has come to an end, once for each.
    pub fn next_message(&mut self, end: usize) -> Option<u32> {
        self.streams.as_mut()?.next_message(end)
    }

    /// Does it carry messages of many streams?
    pub fn has_streams(&self) -> bool {
        self.streams.is_some()
    }

    /// Bytes that an end has received in order, of all that the other one sent.
    pub fn received(&self, end: usize) -> u64 {
        self.pair.received(end)
    }

    /// Closes an end: nothing more to send.
    pub fn close(&mut self, end: usize) {
        of_end!(self, end, it => it.close());
    }

    /// Does anything to send at an end still need a random delay? Only ns-2 has it.
    #[inline]
    pub fn needs_jitter(&self, end: usize, config: &Config) -> bool {
        match &self.pair {
            Pair::Tcp(ends) => ends[end].needs_jitter(config),
            Pair::Quic(_) => false,
        }
    }

    /// Sets the random delay of an end: the fraction `draw`, from 0 to 1, of `send_jitter_us`.
    pub fn draw_jitter(&mut self, end: usize, now: Time, draw: f64, config: &Config) {
        match &mut self.pair {
            Pair::Tcp(ends) => ends[end].draw_jitter(now, draw, config),
            Pair::Quic(_) => {} // it has none
        }
    }

    /// The congestion window of an end, in segments.
    pub fn window(&self, end: usize) -> Window {
        match &self.pair {
            Pair::Tcp(ends) => ends[end].window(),
            Pair::Quic(pair) => pair.ends[end].window(),
        }
    }

    /// The sender of an end as it is now.
    pub fn sender(&self, end: usize, config: &Config) -> SenderState {
        self.pair.shown(end, config).state()
    }

    /// Shows the gauges of the sender of an end, with those that all senders have if it is watched.
    pub fn show(&self, end: usize, is_watched: bool, config: &Config, out: &mut Gauges) {
        self.pair.shown(end, config).show(is_watched, out);
    }

    /// Have both ends closed, and do both know it?
    pub fn is_done(&self) -> bool {
        match &self.pair {
            Pair::Tcp(ends) => ends.iter().all(Endpoint::is_done),
            Pair::Quic(pair) => pair.ends.iter().all(QuicEndpoint::is_done),
        }
    }

    /// Retransmissions and timeouts of both ends.
    pub fn tallies(&self) -> [Tally; 2] {
        match &self.pair {
            Pair::Tcp(ends) => [ends[0].tally(), ends[1].tally()],
            Pair::Quic(pair) => [pair.ends[0].tally(), pair.ends[1].tally()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TcpOptions;
    use sojourn_engine::dialect::Dialect;
    use std::collections::VecDeque;

    fn message(stream: u32, bytes: u64) -> Message {
        Message { stream, bytes, urgency: 3, incremental: false }
    }

    const ONE_WAY: Time = Time::from_ms(50);

    /// When each message comes to the home, after the server has written them all, over a path that delays each packet and
    /// loses the one with this number among those of data from the server.
    fn arrivals(transport: Transport, messages: u32, lost: Option<u32>) -> Vec<Time> {
        let options = TcpOptions { transport: Some(transport), ..TcpOptions::default() };
        let options = TcpOptions { pacing: Some(false), ..options };
        let config = options.resolve(Dialect::Linux);
        let mut ends = Ends::open_streams(&config, Seed::named(1, "streams"), false, None);
        let mut under_way: VecDeque<(Time, Time, usize, Departure)> = VecDeque::new();
        let (mut now, mut written, mut sent) = (Time::ZERO, None, 0);
        let mut come = vec![Time::NEVER; messages as usize];
        ends.write(0, message(HELLO, 100));
        while come.contains(&Time::NEVER) {
            for from in [0, 1] {
                while let Some(departure) = ends.poll(from, now, &config) {
                    let is_data = written.is_some() && from == 1 && departure.segment.len > 0;
                    sent += u32::from(is_data);
                    if !(is_data && lost == Some(sent)) {
                        under_way.push_back((now + ONE_WAY, now, 1 - from, departure));
                    }
                }
            }
            let arrival = under_way.front().map_or(Time::NEVER, |next| next.0);
            let timers = [0, 1].map(|end| ends.deadline(end));
            now = arrival.min(timers[0]).min(timers[1]);
            for end in [0, 1] {
                if timers[end] <= now {
                    ends.on_timer(end, now, &config);
                }
            }
            while let Some((_, sent_at, to, departure)) = under_way.pop_front_if(|of| of.0 <= now) {
                let as_sent = (sent_at, departure.ecn);
                ends.on_segment(to, now, &departure.segment, as_sent, &config);
            }
            if ends.next_message(1) == Some(HELLO) {
                (0..messages).for_each(|stream| ends.write(1, message(stream, SIZE)));
                written = Some(now);
            }
            while let Some(stream) = ends.next_message(0) {
                come[stream as usize] = now.since(written.expect("they were written"));
            }
        }
        come
    }

    const HELLO: u32 = 1000;
    const SIZE: u64 = 1350;

    /// Eight messages leave at once and come after one way, 50 ms. Each is about as long as a packet's payload: 1353 bytes with
    /// HTTP/3's framing, in packets of some 1417. The third packet has bytes 2834 to 4251, of the third message (2706 to
    /// 4059) and of the fourth. It is lost, the server learns that from those behind it and sends it again: it comes after
    /// three ways. With QUIC the third and the fourth message wait for it, with TCP all that follow too. The mean of what eight
    /// messages take is (6 * 50 + 2 * 150) / 8 = 75 ms with QUIC, and (2 * 50 + 6 * 150) / 8 = 125 ms with TCP.
    #[test]
    fn one_lost_packet_holds_up_all_streams_of_tcp_and_few_of_quic() {
        let ms = |come: &[Time]| come.iter().map(|time| time.ms_f64().round()).collect::<Vec<_>>();
        for transport in [Transport::Tcp, Transport::Quic] {
            let whole = ms(&arrivals(transport, 8, None));
            assert_eq!(whole, [50.0; 8], "{transport:?}");
        }
        let [tcp, quic] = [Transport::Tcp, Transport::Quic].map(|of| ms(&arrivals(of, 8, Some(3))));
        assert_eq!(tcp, [50.0, 50.0, 150.0, 150.0, 150.0, 150.0, 150.0, 150.0]);
        assert_eq!(quic, [50.0, 50.0, 150.0, 150.0, 50.0, 50.0, 50.0, 50.0]);
    }
}
