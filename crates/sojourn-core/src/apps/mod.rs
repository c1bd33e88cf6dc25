//! What people do: one file per traffic model.
//!
//! An app never touches a packet. It is told what happened (a timer, a connection that opened, data
//! that came) and answers with commands, which the network carries out.

mod agenda;
pub mod draw;
pub mod on_off;
pub mod replay;
pub mod stream;
pub mod torrent;
pub mod transfer;
pub mod video;
pub mod web;
pub mod web_sessions;

use std::ops::Add as _;

use enum_dispatch::enum_dispatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dialect::Dialect;
use crate::engine::rng::Rng;
use crate::input::compare::at_least;
use crate::input::problem::Fault;
use crate::packet::Direction;
use crate::tcp::{Config, TcpOptions};
use crate::units::Time;

pub use on_off::OnOff;
pub use replay::Replay;
pub use stream::Stream;
pub use torrent::Torrent;
pub use transfer::Transfer;
pub use video::Video;
pub use web::Web;
pub use web_sessions::WebSessions;

/// The end of a connection at which something is done or happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// In the home; it opened the connection.
    Home,
    /// At the server.
    Server,
}

impl End {
    /// The end that sends what goes this way.
    pub const fn sending(direction: Direction) -> Self {
        match direction {
            Direction::Up => Self::Home,
            Direction::Down => Self::Server,
        }
    }

    /// The way a packet takes that sets out from here.
    pub const fn outward(self) -> Direction {
        match self {
            Self::Home => Direction::Up,
            Self::Server => Direction::Down,
        }
    }
}

/// A connection, told from earlier users of the same slot by its generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConnectionId {
    /// Slot in the network's table.
    pub slot: u32,
    /// Which use of the slot.
    pub generation: u16,
}

/// What an app is told.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The time it asked for has come.
    Timer,
    /// The connection it asked for with this tag is being opened.
    Opening(u32, ConnectionId),
    /// The handshake is done at the home's end.
    Established(u32, ConnectionId),
    /// All the bytes an end was told to expect are there.
    Received(u32, ConnectionId, End),
    /// All the bytes an end was told to send are acknowledged.
    Acknowledged(u32, ConnectionId, End),
}

/// What an app wants done.
#[derive(Clone, Copy, Debug)]
pub enum Command {
    /// Open a connection to a server; events about it carry `tag`.
    Open {
        /// Index in the scenario's list of servers.
        server: u16,
        /// The app's own mark.
        tag: u32,
    },
    /// Send bytes, `u64::MAX` for without end.
    Send(ConnectionId, End, u64),
    /// Tell when this many more bytes have been received.
    Expect(ConnectionId, End, u64),
    /// No more will be sent from this end.
    Close(ConnectionId, End),
    /// Cut the connection at both ends at once: what is under way comes to nobody.
    Abort(ConnectionId),
    /// Send one datagram of this many bytes on the wire to or from a server.
    Datagram {
        /// Index in the scenario's list of servers.
        server: u16,
        /// Which way.
        direction: Direction,
        /// Bytes on the wire.
        size: u16,
    },
    /// Call again at this time; replaces the time asked for before.
    Wake(Time),
}

/// What the app has to work with when it is told something.
pub struct AppContext<'a> {
    /// Now.
    pub now: Time,
    /// The app's random stream.
    pub rng: &'a mut Rng,
    /// Commands, carried out in order.
    pub commands: &'a mut Vec<Command>,
}

impl AppContext<'_> {
    /// Adds a command.
    pub fn ask(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// Asks the server over a connection for so many bytes, and tells when all are there.
    fn request(&mut self, id: ConnectionId, request_bytes: u64, answer_bytes: u64) {
        self.ask(Command::Send(id, End::Home, request_bytes));
        self.ask(Command::Expect(id, End::Server, request_bytes));
        self.ask(Command::Expect(id, End::Home, answer_bytes));
    }
}

/// What an app did, for the results.
#[derive(Default)]
pub struct Done {
    /// Pages loaded: start and load time.
    pub pages: Vec<(Time, Time)>,
    /// Transfers of known size that were completed.
    pub transfers_completed: Option<u64>,
    /// How long each object of a web session took to come.
    pub responses: Vec<Time>,
    /// What viewers of videos saw.
    pub viewing: Option<Viewing>,
}

impl Done {
    /// What both did, the same app in two homes.
    pub fn and(mut self, other: Self) -> Self {
        self.pages.extend(other.pages);
        self.responses.extend(other.responses);
        Self {
            transfers_completed: either(
                self.transfers_completed,
                other.transfers_completed,
                u64::add,
            ),
            viewing: either(self.viewing, other.viewing, Viewing::plus),
            ..self
        }
    }
}

/// Both together, or the one there is.
fn either<T>(one: Option<T>, other: Option<T>, together: impl FnOnce(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(together(one, other)),
        (one, other) => one.or(other),
    }
}

/// What viewers saw, summed over all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Viewing {
    /// Segments played.
    pub played_segments: f64,
    /// Sum of their rates in Mbps.
    pub played_mbps: f64,
    /// Changes of the level.
    pub adaptations: f64,
    /// Time since each viewer began, in s.
    pub watched_s: f64,
    /// Time since playing first began, in s.
    pub playing_s: f64,
    /// How much of that it stood still, in s.
    pub stalled_s: f64,
}

impl Viewing {
    /// Mean rate of the video played in Mbps, none if nothing was played.
    pub fn rate_mbps(&self) -> Option<f64> {
        ratio(self.played_mbps, self.played_segments)
    }

    /// Changes of the level per viewer and hour.
    pub fn adaptations_per_hour(&self) -> Option<f64> {
        ratio(self.adaptations, self.watched_s / 3600.0)
    }

    /// Share of the time since playing first began in which it stood still, in percent.
    pub fn stalled_percent(&self) -> Option<f64> {
        ratio(100.0 * self.stalled_s, self.playing_s)
    }

    fn plus(self, other: Self) -> Self {
        Self {
            played_segments: self.played_segments + other.played_segments,
            played_mbps: self.played_mbps + other.played_mbps,
            adaptations: self.adaptations + other.adaptations,
            watched_s: self.watched_s + other.watched_s,
            playing_s: self.playing_s + other.playing_s,
            stalled_s: self.stalled_s + other.stalled_s,
        }
    }
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// A traffic model.
#[enum_dispatch]
pub trait Model {
    /// When the app wants its first timer.
    fn start(&self, rng: &mut Rng) -> Time;
    /// Something happened.
    fn on_event(&mut self, event: Event, context: &mut AppContext);
    /// What it did until now.
    fn done(&self, now: Time) -> Done;
}

/// Every traffic model there is.
#[enum_dispatch(Model)]
pub enum App {
    /// Datagrams at a steady pace.
    Stream,
    /// File transfers.
    Transfer,
    /// Web pages.
    Web,
    /// Web sessions.
    WebSessions,
    /// Videos.
    Video,
    /// BitTorrent.
    Torrent,
    /// Sources that pause.
    OnOff,
    /// A packet capture.
    Replay,
}

/// Makes an app from its parameters.
#[enum_dispatch]
pub trait AppParameters {
    /// The app; `server` gives the index of a server by its name.
    fn start(&self, server: &dyn Fn(&str) -> u16) -> App;
    /// The servers it talks to: the key that names each, and the name.
    fn servers(&self) -> Vec<(String, &str)>;
    /// TCP options of its own.
    fn tcp(&self) -> Option<&TcpOptions>;
    /// What it runs on by its source, where that is not the dialect's default.
    fn usual_tcp(&self, _dialect: Dialect) -> TcpOptions {
        TcpOptions::default()
    }
    /// Bytes on the wire of its largest datagram, 0 if it sends none.
    fn largest_datagram(&self) -> u16 {
        0
    }
    /// The quality score that fits it.
    fn quality(&self) -> Quality;
    /// Do its keys agree with each other?
    ///
    /// # Errors
    /// The first key at fault.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// How an app's service is scored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quality {
    /// E-model.
    Voice,
    /// Latency and loss.
    Game,
    /// Page load times.
    Pages,
    /// Response times.
    Responses,
    /// What was seen of a video.
    Video,
    /// Throughput.
    Throughput,
}

impl Quality {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Voice, Self::Game, Self::Pages, Self::Responses, Self::Video, Self::Throughput];

    /// As it stands in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Voice => "voice",
            Self::Game => "game",
            Self::Pages => "pages",
            Self::Responses => "responses",
            Self::Video => "video",
            Self::Throughput => "throughput",
        }
    }
}

/// A source must not stop before it starts.
fn check_stop(start_s: f64, stop_s: Option<f64>) -> Result<(), Fault> {
    stop_s.map_or(Ok(()), |stop_s| at_least(("stop_s", stop_s), ("start_s", start_s)))
}

/// A kind of traffic.
#[enum_dispatch(AppParameters)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AppSpec {
    /// Datagrams at a steady pace: a voice call, a game, constant bit rate.
    Stream(stream::Parameters),
    /// File transfers over TCP: endless, repeating or in bursts, up or down.
    Transfer(transfer::Parameters),
    /// A person loading web pages.
    Web(web::Parameters),
    /// Web sessions with pages, objects and pauses drawn at random.
    WebSessions(web_sessions::Parameters),
    /// A video in segments of a quality that adapts to the network.
    Video(video::Parameters),
    /// BitTorrent: many connections that send pieces under a common limit.
    Torrent(torrent::Parameters),
    /// Sources that send at a steady rate and pause, for random times.
    OnOff(on_off::Parameters),
    /// The packets of a capture file, as datagrams.
    Replay(replay::Parameters),
}

impl AppSpec {
    /// The port of its servers where the scenario names none, as IANA has them: HTTPS, RTP
    /// (RFC 3551 §8), a game console's, BitTorrent's first, and discard (RFC 863).
    pub fn default_port(&self) -> u16 {
        match self {
            Self::Web(_) | Self::WebSessions(_) | Self::Video(_) | Self::Transfer(_) => 443,
            Self::Stream(stream) => match stream.purpose {
                stream::Purpose::Voice => 5004,
                stream::Purpose::Game => 3074,
                stream::Purpose::Data => 9,
            },
            Self::Torrent(_) => 6881,
            Self::OnOff(_) | Self::Replay(_) => 9,
        }
    }

    /// TCP of its connections in a scenario with these options and this dialect.
    pub fn tcp_config(&self, base: &TcpOptions, dialect: Dialect) -> Config {
        let options = self.tcp().map_or_else(|| base.clone(), |own| own.or(base));
        let usual = self.usual_tcp(options.dialect.unwrap_or(dialect));
        options.or(&usual).resolve(dialect)
    }
}
