//! Both ends of a connection, of either transport protocol.

use super::cc::Window;
use super::config::{Config, Transport};
use super::endpoint::{Departure, Endpoint, SegmentEvents};
use super::quic::{Arrivals, QuicEndpoint};
use super::sender_series::SenderState;
use sojourn_engine::count::Tally;
use sojourn_engine::packet::{Ecn, Segment};
use sojourn_engine::record::Gauges;
use sojourn_engine::rng::Seed;
use sojourn_engine::units::Time;

/// The end that opens the connection and the other one, which all methods have by number: 0 and 1.
#[expect(clippy::large_enum_variant, reason = "most connections are TCP's, without a step between")]
pub enum Ends {
    /// TCP.
    Tcp([Endpoint; 2]),
    /// QUIC.
    Quic(Box<QuicPair>),
}

/// Both ends of a QUIC connection, and what the ACK frames of each carry.
pub struct QuicPair {
    ends: [QuicEndpoint; 2],
    arrivals: [Arrivals; 2],
}

/// A call of the end, of whichever kind it is.
macro_rules! of_end {
    ($ends:expr, $end:expr, $name:ident => $call:expr) => {
        match $ends {
            Ends::Tcp(ends) => {
                let $name = &mut ends[$end];
                $call
            }
            Ends::Quic(pair) => {
                let $name = &mut pair.ends[$end];
                $call
            }
        }
    };
}

impl Ends {
    /// Two ends, of which the first opens the connection.
    pub fn open(config: &Config, seed: Seed) -> Self {
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
                let ends = [first, QuicEndpoint::new(config, of_other)];
                Self::Quic(Box::new(QuicPair { ends, arrivals: Default::default() }))
            }
        }
    }

    /// Handles a segment at an end that the other end sent at `sent_at`, and that arrived with this ECN field.
    #[inline]
    pub fn on_segment(
        &mut self,
        end: usize,
        now: Time,
        segment: &Segment,
        (sent_at, ecn): (Time, Ecn),
        config: &Config,
    ) -> SegmentEvents {
        match self {
            Self::Tcp(ends) => ends[end].on_segment(now, segment, sent_at, ecn, config),
            Self::Quic(pair) => {
                let QuicPair { ends, arrivals: [first, second] } = &mut **pair;
                let logs = if end == 0 { (first, second) } else { (second, first) };
                ends[end].on_segment(now, (segment, ecn), logs, config)
            }
        }
    }

    /// The next segment that an end wants to send now. Ask until there is none.
    #[inline]
    pub fn poll(&mut self, end: usize, now: Time, config: &Config) -> Option<Departure> {
        of_end!(self, end, it => it.poll(now, config))
    }

    /// Has an end nothing to send now, for certain?
    #[inline]
    pub fn is_silent(&self, end: usize) -> bool {
        match self {
            Self::Tcp(ends) => ends[end].is_silent(),
            Self::Quic(_) => false,
        }
    }

    /// When `on_timer` is due at an end.
    #[inline]
    pub fn deadline(&self, end: usize) -> Time {
        match self {
            Self::Tcp(ends) => ends[end].deadline(),
            Self::Quic(pair) => pair.ends[end].deadline(),
        }
    }

    /// Handles the timers of an end that are due.
    pub fn on_timer(&mut self, end: usize, now: Time, config: &Config) {
        of_end!(self, end, it => it.on_timer(now, config));
    }

    /// Adds `bytes` to send at an end; `u64::MAX` for an endless transfer.
    pub fn send(&mut self, end: usize, bytes: u64, config: &Config) {
        match self {
            Self::Tcp(ends) => ends[end].send(bytes, config),
            Self::Quic(pair) => pair.ends[end].send(bytes),
        }
    }

    /// Reports when `bytes` more than expected so far have been received at an end.
    pub fn expect(&mut self, end: usize, bytes: u64) {
        of_end!(self, end, it => it.expect(bytes));
    }

    /// Closes an end: nothing more to send.
    pub fn close(&mut self, end: usize) {
        of_end!(self, end, it => it.close());
    }

    /// Does anything to send at an end still need a random delay? Only ns-2 has it.
    #[inline]
    pub fn needs_jitter(&self, end: usize, config: &Config) -> bool {
        match self {
            Self::Tcp(ends) => ends[end].needs_jitter(config),
            Self::Quic(_) => false,
        }
    }

    /// Sets the random delay of an end: the fraction `draw`, from 0 to 1, of `send_jitter_us`.
    pub fn draw_jitter(&mut self, end: usize, now: Time, draw: f64, config: &Config) {
        match self {
            Self::Tcp(ends) => ends[end].draw_jitter(now, draw, config),
            Self::Quic(_) => {} // it has none
        }
    }

    /// The congestion window of an end, in segments.
    pub fn window(&self, end: usize) -> Window {
        match self {
            Self::Tcp(ends) => ends[end].window(),
            Self::Quic(pair) => pair.ends[end].window(),
        }
    }

    /// The sender of an end as it is now.
    pub fn sender(&self, end: usize, config: &Config) -> SenderState {
        let shown = match self {
            Self::Tcp(ends) => ends[end].shown(config),
            Self::Quic(pair) => pair.ends[end].shown(config),
        };
        shown.state()
    }

    /// Shows the gauges of the sender of an end, with those that all senders have if it is watched.
    pub fn show(&self, end: usize, is_watched: bool, config: &Config, out: &mut Gauges) {
        let shown = match self {
            Self::Tcp(ends) => ends[end].shown(config),
            Self::Quic(pair) => pair.ends[end].shown(config),
        };
        shown.show(is_watched, out);
    }

    /// Have both ends closed, and do both know it?
    pub fn is_done(&self) -> bool {
        match self {
            Self::Tcp(ends) => ends.iter().all(Endpoint::is_done),
            Self::Quic(pair) => pair.ends.iter().all(QuicEndpoint::is_done),
        }
    }

    /// Retransmissions and timeouts of both ends.
    pub fn tallies(&self) -> [Tally; 2] {
        match self {
            Self::Tcp(ends) => [ends[0].tally(), ends[1].tally()],
            Self::Quic(pair) => [pair.ends[0].tally(), pair.ends[1].tally()],
        }
    }
}
