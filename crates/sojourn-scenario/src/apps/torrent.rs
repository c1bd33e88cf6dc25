//! BitTorrent: many connections that send pieces of a file under a common rate limit.
//!
//! White & Rice 2013 §3.6 have 32 simultaneous uploads and pieces of 256 000 B. White 2014 §2.2.1
//! has 100 uploads and limits them together to half the sustained rate, as clients do. Both studies
//! sent with LEDBAT. Here the default is LEDBAT too, and `tcp` may choose another.
//!
//! The studies do not say what follows a piece. Here the connection stays open, as between peers.
//! Its next piece begins when the last byte of the previous one is acknowledged: a pause of one
//! round trip, in which a peer would request it. Nor do the studies say how the limit works. Here
//! the client gives the connections blocks of 16 KiB in turn, no sooner than the limit allows, and
//! skips connections that wait for the end of their piece. It does not make up later for what it
//! could not give out.
//!
//! Left out: choking, peers that come and go, and the downloads in exchange for the uploads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_input::defaults::number;

use super::agenda::Agenda;
use super::{
    App, AppContext, AppParameters, Command, ConnectionId, Done, End, Event, Load, Model, Quality,
};
use sojourn_engine::dialect::Dialect;
use sojourn_engine::packet::Direction;
use sojourn_engine::rng::Rng;
use sojourn_engine::units::{BitRate, Time};
use sojourn_transport::TcpOptions;
use sojourn_transport::cc::{CongestionSpec, ledbat};

/// Bytes that a peer requests at a time: 2^14 (BitTorrent's BEP 3, "peer messages").
const BLOCK_BYTES: u64 = 1 << 14;

/// Parameters of BitTorrent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Torrent")]
pub struct Parameters {
    /// Servers that stand for the peers. Connections are assigned to them in turn. Default: all of `servers`.
    #[schemars(length(min = 1, max = 100))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-role" = "line"))]
    pub servers: Vec<String>,
    /// Direction of the pieces: `up` from the home or `down` to it.
    #[serde(default)]
    pub direction: Direction,
    /// Number of simultaneous connections (White & Rice 2013 §3.6: 32; White 2014 §2.2.1: 100).
    #[serde(default = "number::<u32, 32>")]
    #[schemars(range(min = 1, max = 10_000))]
    pub connections: u32,
    /// Size of a piece in bytes (White & Rice 2013 §3.6).
    #[serde(default = "number::<u64, 256_000>")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub piece_bytes: u64,
    /// Payload rate limit of all connections together in Mbps (White 2014 §2.2.1: half the
    /// sustained rate). Default: no limit.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 100_000.0))]
    #[schemars(extend("x-role" = "choice"))]
    pub limit_mbps: Option<f64>,
    /// Earliest start of the connections in s.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: f64,
    /// Connections open at random times within this many seconds after `start_s`.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_spread_s: f64,
    /// TCP options of these connections that differ from the scenario's `tcp`. The studies used
    /// LEDBAT.
    #[serde(default)]
    pub tcp: TcpOptions,
}

impl AppParameters for Parameters {
    several_servers!();
    own_tcp!();

    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        Torrent {
            servers: self.servers.iter().map(|name| server(name)).collect(),
            sender: End::sending(self.direction),
            piece_bytes: self.piece_bytes,
            limit: self.limit_mbps.map(BitRate::from_mbps),
            agenda: Agenda::new(self.connections, self.start_s, self.start_spread_s),
            peers: (0..self.connections).map(|_| Peer::default()).collect(),
            turn: 0,
            next_block: Time::ZERO,
            pieces: 0,
        }
        .into()
    }

    /// White & Rice 2013 §3.6, White 2014 §2.2.1: LEDBAT.
    fn usual_tcp(&self, _dialect: Dialect) -> TcpOptions {
        let ledbat = CongestionSpec::Ledbat(ledbat::Parameters::default());
        TcpOptions { congestion_control: Some(ledbat), ..TcpOptions::default() }
    }

    fn load(&self, seconds: f64) -> Load {
        let connections = f64::from(self.connections);
        Load {
            connections,
            opened: connections,
            stream_bytes: self.limit_mbps.map_or(f64::INFINITY, |mbps| mbps * seconds * 1e6 / 8.0),
            kept_bytes: 64.0 * connections,
            ..Load::default()
        }
    }

    fn acts_on_its_own(&self) -> bool {
        true
    }

    fn quality(&self) -> Quality {
        Quality::Throughput
    }
}

/// A connection and its piece.
#[derive(Default)]
struct Peer {
    connection: Option<ConnectionId>,
    /// Bytes of the piece not yet given to the connection.
    left: u64,
}

/// BitTorrent in operation. A peer's number is the tag of its connection.
pub struct Torrent {
    servers: Vec<u16>,
    sender: End,
    piece_bytes: u64,
    limit: Option<BitRate>,
    /// When each connection opens.
    agenda: Agenda,
    peers: Vec<Peer>,
    /// The connection whose turn for a block it is.
    turn: usize,
    /// When the limit allows the next block.
    next_block: Time,
    pieces: u64,
}

impl Torrent {
    fn open_due(&mut self, context: &mut AppContext) {
        while let Some(number) = self.agenda.take(context) {
            let server = self.servers[number as usize % self.servers.len()];
            context.ask(Command::Open { server, tag: number });
        }
    }

    fn begin_piece(&mut self, number: u32, connection: ConnectionId) {
        self.peers[number as usize] = Peer { connection: Some(connection), left: self.piece_bytes };
    }

    /// Gives out the blocks that the limit allows by now, and sets the timer for the next.
    fn hand_out(&mut self, context: &mut AppContext) {
        let mut waiting = self.next_in_turn();
        while let Some((number, connection)) = waiting.filter(|_| self.next_block <= context.now) {
            let peer = &mut self.peers[number];
            let bytes = self.limit.map_or(peer.left, |_| peer.left.min(BLOCK_BYTES));
            peer.left -= bytes;
            context.ask(Command::Send(connection, self.sender, bytes));
            self.turn = number + 1;
            self.next_block =
                context.now + self.limit.map_or(Time::ZERO, |rate| rate.time_for(bytes));
            waiting = self.next_in_turn();
        }
        let block = waiting.map_or(Time::NEVER, |_| self.next_block);
        context.ask(Command::Wake(block.min(self.agenda.next())));
    }

    /// The next connection in turn that can take a block.
    fn next_in_turn(&self) -> Option<(usize, ConnectionId)> {
        let count = self.peers.len();
        let in_turn = (self.turn..self.turn + count).map(|number| number % count);
        let mut ready = in_turn.filter(|number| self.peers[*number].left > 0);
        ready.find_map(|number| Some((number, self.peers[number].connection?)))
    }
}

impl Model for Torrent {
    fn start(&self, _rng: &mut Rng) -> Time {
        self.agenda.start()
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        match event {
            Event::Timer => self.open_due(context),
            Event::Established(number, connection) => self.begin_piece(number, connection),
            Event::Acknowledged(number, connection, end) if end == self.sender => {
                if self.peers[number as usize].left == 0 {
                    self.pieces += 1;
                    self.begin_piece(number, connection);
                }
            }
            Event::Opening(..)
            | Event::Received(..)
            | Event::Acknowledged(..)
            | Event::Datagram(_)
            | Event::Message(..)
            | Event::Shapers(_)
            | Event::Carried(..) => return,
        }
        self.hand_out(context);
    }

    fn done(&self, _now: Time) -> Done {
        Done { transfers_completed: Some(self.pieces), ..Done::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The model alone with connections that are acknowledged when `acknowledge` is called.
    struct Bench {
        torrent: Torrent,
        rng: Rng,
        wake: Time,
        /// When which connection was handed how many bytes.
        handed: Vec<(Time, u32, u64)>,
    }

    fn id(number: u32) -> ConnectionId {
        ConnectionId { slot: number, generation: 0 }
    }

    impl Bench {
        fn new(keys: &str) -> Self {
            let spec: Parameters = toml::from_str(&format!("servers = ['peer']\n{keys}")).unwrap();
            let App::Torrent(torrent) = spec.start(&|_| 0) else {
                unreachable!("parameters of a torrent start one");
            };
            let mut bench =
                Self { torrent, rng: Rng::named(1, ""), wake: Time::ZERO, handed: Vec::new() };
            bench.tell(Time::ZERO, Event::Timer);
            for number in 0..spec.connections {
                bench.tell(Time::ZERO, Event::Established(number, id(number)));
            }
            bench
        }

        fn tell(&mut self, now: Time, event: Event) {
            let mut commands = Vec::new();
            let mut context = AppContext::of_true_clock(now, &mut self.rng, &mut commands);
            self.torrent.on_event(event, &mut context);
            for command in commands {
                match command {
                    Command::Send(id, End::Home, bytes) => self.handed.push((now, id.slot, bytes)),
                    Command::Wake(at) => self.wake = at,
                    _ => {}
                }
            }
        }

        fn acknowledge(&mut self, now: Time, number: u32) {
            self.tell(now, Event::Acknowledged(number, id(number), End::Home));
        }

        fn run_until(&mut self, end: Time) {
            while self.wake <= end {
                self.tell(self.wake, Event::Timer);
            }
        }
    }

    /// 16.384 Mbps: a block of 16 384 B takes 8 ms. Three connections in turn, from the first that
    /// opens; 40 000 B are blocks of 16 384, 16 384 and 7232 B, and the last takes 3.53125 ms.
    #[test]
    fn a_limit_hands_out_blocks_in_turn() {
        let mut bench = Bench::new("connections = 3\nlimit_mbps = 16.384\npiece_bytes = 40_000");
        bench.run_until(Time::from_s(1));
        let us = |us| Time::from_us(us);
        let mut want: Vec<_> =
            (0..6_u32).map(|n| (us(8000 * u64::from(n)), n % 3, BLOCK_BYTES)).collect();
        want.extend([(us(48_000), 0, 7232)]);
        want.extend([(Time::from_ps(51_531_250_000), 1, 7232)]);
        want.extend([(Time::from_ps(55_062_500_000), 2, 7232)]);
        assert_eq!(bench.handed, want);
        assert_eq!(bench.wake, Time::NEVER, "all wait for the end of their pieces");

        // The next piece begins with the acknowledgement, without credit for the time between.
        bench.handed.clear();
        bench.acknowledge(Time::from_s(1), 1);
        bench.acknowledge(Time::from_s(1), 0);
        bench.run_until(Time::from_s(1) + us(8000));
        assert_eq!(
            bench.handed,
            [(Time::from_s(1), 1, BLOCK_BYTES), (Time::from_s(1) + us(8000), 0, BLOCK_BYTES)]
        );
        assert_eq!(bench.torrent.done(Time::from_s(2)).transfers_completed, Some(2));
    }

    /// What is acknowledged while the rest of the piece waits for the limit is no end of a piece.
    #[test]
    fn a_piece_ends_with_its_last_byte() {
        let mut bench = Bench::new("connections = 1\nlimit_mbps = 16.384");
        bench.acknowledge(Time::from_ms(4), 0);
        assert_eq!(bench.torrent.done(Time::from_ms(4)).transfers_completed, Some(0));
        // 256 000 = 15 * 16 384 + 10 240 B: 16 blocks, the last at 120 ms.
        bench.run_until(Time::from_s(1));
        assert_eq!(bench.handed.len(), 16);
        assert_eq!(bench.handed[15], (Time::from_ms(120), 0, 10_240));
        bench.acknowledge(Time::from_s(1), 0);
        assert_eq!(bench.torrent.done(Time::from_s(1)).transfers_completed, Some(1));
    }

    #[test]
    fn without_a_limit_a_piece_is_handed_over_whole() {
        let mut bench = Bench::new("connections = 2");
        assert_eq!(bench.handed, [(Time::ZERO, 0, 256_000), (Time::ZERO, 1, 256_000)]);
        bench.acknowledge(Time::from_ms(9), 1);
        assert_eq!(bench.handed[2..], [(Time::from_ms(9), 1, 256_000)]);
    }
}
