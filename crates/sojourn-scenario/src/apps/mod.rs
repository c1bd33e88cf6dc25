//! Apps: what users and their devices do. Each traffic model has a file.
//!
//! An app never handles a packet. It gets events (its timer, an opened connection, received data)
//! and answers with commands, which the network carries out.

/// In `impl AppParameters`: the key `server` names the only one.
macro_rules! one_server {
    () => {
        fn server_keys(&mut self) -> super::ServerKeys<'_> {
            super::ServerKeys::One(&mut self.server)
        }

        fn servers(&self) -> Vec<(String, &str)> {
            vec![("server".to_owned(), &self.server)]
        }
    };
}

/// In `impl AppParameters`: the key `servers` lists them.
macro_rules! several_servers {
    () => {
        fn server_keys(&mut self) -> super::ServerKeys<'_> {
            super::ServerKeys::Several(&mut self.servers)
        }

        fn servers(&self) -> Vec<(String, &str)> {
            let names = self.servers.iter().enumerate();
            names.map(|(i, name)| (format!("servers.{i}"), name.as_str())).collect()
        }
    };
}

/// In `impl AppParameters`: the table `tcp` has the options of its connections.
macro_rules! own_tcp {
    () => {
        fn tcp(&self) -> Option<&TcpOptions> {
            Some(&self.tcp)
        }
    };
}

mod agenda;
mod browser;
pub(crate) mod bulk;
mod call_law;
pub mod cloud_game;
mod control;
mod done;
pub(crate) mod draw;
mod feedback;
mod gcc;
pub mod on_off;
pub mod outside;
mod pictures;
pub mod replay;
pub mod responsiveness;
mod rpm;
mod scream;
pub mod stream;
pub mod torrent;
pub mod transfer;
pub mod two_way;
pub mod video;
pub mod video_call;
pub mod web;
mod web_page;
pub mod web_sessions;

pub use browser::Browser;
pub use bulk::Bulk;
pub use cloud_game::CloudGame;
pub use done::{Confidence, Done, LoadedPage, Mean, OwnScore, Responded, Viewing};

use auto_impl::auto_impl;
use enum_dispatch::enum_dispatch;

use sojourn_engine::clock::Clock;
use sojourn_engine::dialect::Dialect;
pub use sojourn_engine::packet::Frame;
use sojourn_engine::packet::{Direction, Ecn};
use sojourn_engine::record::{Definition, Gauges};
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;
use sojourn_input::compare::at_least;
use sojourn_input::parts::Keys;
use sojourn_input::problem::{Fault, Faults};
use sojourn_input::{kinds, named};
use sojourn_transport::{Config, Message, TcpOptions, Transport};

pub use on_off::OnOff;
pub use outside::Real;
pub use replay::Replay;
pub use responsiveness::Responsiveness;
pub use stream::Stream;
pub use torrent::Torrent;
pub use transfer::Transfer;
pub use two_way::Answer;
pub use video::Video;
pub use video_call::VideoCall;
pub use web::Web;
pub use web_sessions::WebSessions;

/// An end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The end in the home, which opened the connection.
    Home,
    /// The end at the server.
    Server,
}

impl End {
    /// The end that sends packets in this direction.
    pub const fn sending(direction: Direction) -> Self {
        match direction {
            Direction::Up => Self::Home,
            Direction::Down => Self::Server,
        }
    }

    /// The direction of packets from this end.
    pub const fn outward(self) -> Direction {
        match self {
            Self::Home => Direction::Up,
            Self::Server => Direction::Down,
        }
    }
}

/// A connection. The generation distinguishes it from earlier users of the slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConnectionId {
    /// Slot in the network's table.
    pub slot: u32,
    /// Counts the uses of the slot.
    pub generation: u16,
}

/// An event for an app.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The app's timer has expired.
    Timer,
    /// The connection that the app requested with this tag is being opened.
    Opening(u32, ConnectionId),
    /// The handshake is complete at the home's end.
    Established(u32, ConnectionId),
    /// An end has received all the bytes it was to expect.
    Received(u32, ConnectionId, End),
    /// All the bytes that an end was to send are acknowledged.
    Acknowledged(u32, ConnectionId, End),
    /// An end has received the message of this stream.
    Message(u32, ConnectionId, End, u32),
    /// A datagram has arrived, at an app that hears of it.
    Datagram(Arrived),
    /// Bytes that have left the shapers of the home's router, up and down, as far as it has these.
    Shapers([Option<u64>; 2]),
    /// Bytes that an end of a connection has received in order, as was asked.
    Carried(u32, u64),
}

/// A datagram that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// Its number among all that the app has sent in both directions, from 0.
    pub number: u64,
    /// Where it went.
    pub direction: Direction,
    /// Bytes on the wire.
    pub size: u16,
    /// When it was sent, by the clock of the app's device.
    pub sent_at: Time,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Its code point (RFC 2474).
    pub dscp: u8,
    /// What it answers, if it is sent back at once.
    pub answers: Option<Answered>,
}

/// What an answer says.
#[derive(Clone, Copy, Debug)]
pub struct Answered {
    /// When the datagram that it answers was sent, by the clock of the app's device.
    pub sent_at: Time,
    /// When that had arrived and the answer left, by the server's clock.
    pub left_at: Time,
}

/// The header fields of a datagram; none where they are those of its entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// Its code point (RFC 2474).
    pub dscp: Option<u8>,
    /// Its ECN field.
    pub ecn: Option<Ecn>,
}

/// A command of an app.
#[derive(Clone, Copy, Debug)]
pub enum Command {
    /// Open a connection to a server; events about it carry `tag`.
    Open {
        /// Index in the scenario's list of servers.
        server: u16,
        /// A number that the app chooses.
        tag: u32,
    },
    /// Open one that carries messages of many streams.
    OpenStreams {
        /// Index in the scenario's list of servers.
        server: u16,
        /// A number that the app chooses.
        tag: u32,
        /// What carries them.
        over: Transport,
        /// Does its handshake, if the transport has it, resume a session of TLS?
        is_resumed: bool,
        /// An end holds no more unsent than it sends in this time; without it no more than a frame.
        unsent: Option<Time>,
    },
    /// Send the message of a stream.
    Write(ConnectionId, End, Message),
    /// Send bytes; `u64::MAX` for an endless transfer.
    Send(ConnectionId, End, u64),
    /// Report when this many more bytes have been received.
    Expect(ConnectionId, End, u64),
    /// Ask how many bytes this end has received in order; [`Event::Carried`] follows at once.
    ReadReceived(ConnectionId, End),
    /// Send no more from this end.
    Close(ConnectionId, End),
    /// Abort the connection at both ends at once; packets in flight are discarded.
    Abort(ConnectionId),
    /// Send one datagram to or from a server.
    Datagram {
        /// Index in the scenario's list of servers.
        server: u16,
        /// Direction of the datagram.
        direction: Direction,
        /// Bytes on the wire.
        size: u16,
        /// The video frame that it is a part of.
        frame: Option<Frame>,
        /// Its header fields.
        label: Label,
    },
    /// Set the app's timer to this time. This replaces the earlier time.
    Wake(Time),
    /// Ask for what the shapers of the home's router have let pass; [`Event::Shapers`] follows at once.
    ReadShapers,
    /// Set the shaper of the home's router in a direction to this rate in bit/s.
    Shape(Direction, u64),
}

/// What an app gets together with an event.
pub struct AppContext<'a> {
    /// Now, by the clock of the app's device in the home.
    pub now: Time,
    /// The clock of its server, as the device measures it.
    pub server_clock: Clock,
    /// The ECN field of its datagrams.
    pub ecn: Ecn,
    /// The app's random stream.
    pub rng: &'a mut Rng,
    /// Commands, carried out in order.
    pub commands: &'a mut Vec<Command>,
}

#[cfg(test)]
impl<'a> AppContext<'a> {
    /// That of a device whose clock and server's clock are true.
    fn of_true_clock(now: Time, rng: &'a mut Rng, commands: &'a mut Vec<Command>) -> Self {
        Self { now, server_clock: Clock::TRUE, ecn: Ecn::NotEct, rng, commands }
    }
}

impl AppContext<'_> {
    /// How long a span takes, by the device's clock, that the sender in a direction measures by its own.
    pub fn sender_span(&self, direction: Direction, span: Time) -> Time {
        match direction {
            Direction::Up => span,
            Direction::Down => self.server_clock.span(span),
        }
    }

    /// Now, by the clock of the sender in a direction.
    pub fn sender_reading(&self, direction: Direction) -> Time {
        match direction {
            Direction::Up => self.now,
            Direction::Down => self.server_clock.reading(self.now),
        }
    }

    /// Adds a command.
    pub fn ask(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// Sends a request over a connection, and expects `answer_bytes` at the home.
    fn request(&mut self, id: ConnectionId, request_bytes: u64, answer_bytes: u64) {
        self.ask(Command::Send(id, End::Home, request_bytes));
        self.ask(Command::Expect(id, End::Server, request_bytes));
        self.ask(Command::Expect(id, End::Home, answer_bytes));
    }
}

/// A traffic model.
#[enum_dispatch]
#[auto_impl(Box)]
pub trait Model {
    /// When the app's timer first expires.
    fn start(&self, rng: &mut Rng) -> Time;
    /// Something happened.
    fn on_event(&mut self, event: Event, context: &mut AppContext);
    /// What it achieved up to now.
    fn done(&self, _now: Time) -> Done {
        Done::default()
    }
    /// Shows values over time, in the same order each time.
    fn gauges(&self, _out: &mut Gauges) {}
    /// From now on it has other parameters of its kind. What is planned stays.
    fn retune(&mut self, _spec: &AppSpec) {}
    /// Has it begun to send what it has not finished? It is asked after each event.
    fn is_under_way(&self, _now: Time) -> bool {
        true
    }
}

/// Every traffic model there is.
#[enum_dispatch(Model)]
#[non_exhaustive]
pub enum App {
    /// Datagrams at a steady pace.
    Stream,
    /// File transfers.
    Transfer,
    /// Web pages.
    Web,
    /// Web pages as browsers of today load them.
    Browser,
    /// Web sessions.
    WebSessions,
    /// Videos.
    Video,
    /// BitTorrent.
    Torrent,
    /// Sources that pause.
    OnOff,
    /// Replay of a packet capture.
    Replay,
    /// Video calls.
    VideoCall,
    /// Games that a server plays.
    CloudGame,
    /// Tests of responsiveness.
    Responsiveness(Box<Responsiveness>),
    /// Real packets.
    Real,
    /// One from outside.
    Outside(Box<dyn Model + Send>),
}

/// The series of all traffic models.
pub fn series() -> &'static [Definition] {
    video_call::SERIES
}

/// Parameters of a traffic model, which build apps.
pub trait AppParameters: Keys {
    /// The app. `server` maps a server's name to its index.
    fn start(&self, server: &dyn Fn(&str) -> u16) -> App;
    /// The servers it talks to: the key that names each, and the name.
    fn servers(&self) -> Vec<(String, &str)>;
    /// TCP options of the entry, if it opens connections.
    fn tcp(&self) -> Option<&TcpOptions> {
        None
    }
    /// TCP options of the model's source, where they differ from the dialect's defaults.
    fn usual_tcp(&self, _dialect: Dialect) -> TcpOptions {
        TcpOptions::default()
    }
    /// The transport of its connections, if its keys choose it and no TCP option may.
    fn transport(&self) -> Option<Transport> {
        None
    }
    /// Has it connections of QUIC beside those of its transport?
    fn mixes_in_quic(&self) -> bool {
        false
    }
    /// Size on the wire of its largest datagram in bytes; 0 if it sends none.
    fn largest_datagram(&self) -> u16 {
        0
    }
    /// How its service is scored.
    fn quality(&self) -> Quality;
    /// What it asks of the network in so many seconds.
    fn load(&self, seconds: f64) -> Load;
    /// Are its packets played by a buffer that adapts?
    fn plays_adaptively(&self) -> bool {
        false
    }
    /// Time between its packets in a direction, where it is constant.
    fn packet_interval(&self, _direction: Direction) -> Option<Time> {
        None
    }
    /// How its server answers, if its ends send datagrams to each other.
    fn answer(&self) -> Option<Answer> {
        None
    }
    /// Does it hear of datagrams that arrive?
    fn hears_datagrams(&self) -> bool {
        false
    }
    /// Does it slow down when queues mark its datagrams?
    fn heeds_marks(&self) -> bool {
        false
    }
    /// Are its datagrams parts of frames?
    fn sends_frames(&self) -> bool {
        false
    }
    /// Does it send inputs up, each of which a frame shows?
    fn sends_inputs(&self) -> bool {
        false
    }
    /// Does the router send it by itself? It is then no entry of the scenario's `traffic`.
    fn is_of_router(&self) -> bool {
        false
    }
    /// Does it go on while its user is away?
    fn acts_on_its_own(&self) -> bool {
        false
    }
    /// When it starts, in s, if its keys say so.
    fn start_s(&self) -> Option<f64> {
        None
    }
    /// Its keys that name servers.
    fn server_keys(&mut self) -> ServerKeys<'_>;
    /// The faults of keys that do not agree with each other.
    fn check(&self) -> Faults {
        Faults::default()
    }
}

/// The keys of an app that name servers; empty where the scenario names none.
pub enum ServerKeys<'a> {
    /// It has one server.
    One(&'a mut String),
    /// It has several servers.
    Several(&'a mut Vec<String>),
}

/// What an app asks of the network in one home, on average, for estimates before a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Load {
    /// Connections that are open at once.
    pub connections: f64,
    /// Connections that it opens in all.
    pub opened: f64,
    /// Packets that it sends by its timer, whatever the network does: datagrams, or data for a
    /// connection.
    pub packets: f64,
    /// Their mean size in bytes.
    pub packet_bytes: f64,
    /// Seconds in which it sends them; 0 if it does in the whole run.
    pub sending_s: f64,
    /// Bytes that its connections carry if the network does not limit them.
    pub stream_bytes: f64,
    /// The only direction in which these go; none where both carry them.
    pub direction: Option<Direction>,
    /// Bytes of memory that it takes beside its connections.
    pub kept_bytes: f64,
}

impl Load {
    /// Packets that it sends in a second by its timer, while it sends, in a run of so many seconds.
    pub fn packets_per_s(&self, seconds: f64) -> f64 {
        self.packets / if self.sending_s > 0.0 { self.sending_s } else { seconds }
    }

    /// Does it send in this direction?
    pub fn is_of(&self, way: Direction) -> bool {
        self.direction.is_none_or(|only| only == way)
    }
}

named! {
    /// How an app's service is scored.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Quality {
        /// E-model score of voice.
        Voice = "voice",
        /// Delay and loss of game packets.
        Game = "game",
        /// Page load times.
        Pages = "pages",
        /// Response times.
        Responses = "responses",
        /// Rate, stalls and level changes of video.
        Video = "video",
        /// Delay and loss of the frames of a video call.
        VideoCall = "video_call",
        /// Opinion score of a game that a server plays.
        CloudGame = "cloud_game",
        /// Round trips per minute under a test's own load.
        Responsiveness = "responsiveness",
        /// A score by a scale of a part's own.
        Own = "own",
        /// Throughput.
        Throughput = "throughput",
        /// Probes of a router, which no user notices.
        Probes = "probes",
        /// Nobody knows what its users notice: only delay, loss and rate.
        Unscored = "unscored",
    }
}

impl Quality {
    /// Is it about the delay and loss of single packets, or whatever a scale of its own says of them?
    pub fn is_of_packets(self) -> bool {
        matches!(self, Self::Voice | Self::Game | Self::VideoCall | Self::CloudGame | Self::Own)
    }

    /// Is it about when answers come, as pages and segments of films?
    pub fn is_of_answers(self) -> bool {
        matches!(self, Self::Pages | Self::Responses | Self::Video)
    }
}

/// Bytes on the wire of the smallest packet: an Ethernet frame.
const LEAST_PACKET: u64 = 64;

/// How long a source sends in a run of so many seconds, in s.
fn sending_s(start_s: Option<f64>, stop_s: Option<f64>, seconds: f64) -> f64 {
    (stop_s.unwrap_or(seconds).min(seconds) - start_s.unwrap_or_default()).max(0.0)
}

/// Lets a model act when it wants to be woken, until a time, and hands over what else it asks for. Returns when it wants to
/// be woken next.
#[cfg(test)]
fn at_timers(model: &mut impl Model, until: Time, mut on: impl FnMut(Time, Command)) -> Time {
    let mut rng = Rng::named(1, "model");
    let mut now = model.start(&mut rng);
    while now < until {
        let mut commands = Vec::new();
        let mut context = AppContext::of_true_clock(now, &mut rng, &mut commands);
        model.on_event(Event::Timer, &mut context);
        let at = std::mem::replace(&mut now, Time::NEVER);
        for command in commands {
            match command {
                Command::Wake(next) => now = next,
                other => on(at, other),
            }
        }
    }
    now
}

/// Checks that a source does not stop before it starts.
fn check_stop(start_s: f64, stop_s: Option<f64>) -> Result<(), Fault> {
    stop_s.map_or(Ok(()), |stop_s| at_least(("stop_s", stop_s), ("start_s", start_s)))
}

kinds! {
    /// What a traffic entry does, chosen by `kind`.
    pub enum AppSpec: AppParameters in "Entry" {
        /// Datagrams at a steady pace: a voice call, a game, or constant-bit-rate data.
        Stream(stream::Parameters) = "stream",
        /// File transfers over TCP: endless, repeating or in bursts, upload or download.
        Transfer(transfer::Parameters) = "transfer",
        /// Users who load web pages.
        Web(web::Parameters) = "web",
        /// Web sessions with random pages, objects and pauses.
        WebSessions(web_sessions::Parameters) = "web_sessions",
        /// Adaptive video streaming in segments.
        Video(video::Parameters) = "video",
        /// BitTorrent: many connections that send pieces under a common rate limit.
        Torrent(torrent::Parameters) = "torrent",
        /// On/off sources: they send at a steady rate and pause, for random times.
        OnOff(on_off::Parameters) = "on_off",
        /// Replay of a capture file's packets as datagrams.
        Replay(replay::Parameters) = "replay",
        /// Video calls: frames of several datagrams at a steady pace.
        VideoCall(video_call::Parameters) = "video_call",
        /// Games that a server plays and films, and remote play: frames down, inputs up.
        CloudGame(cloud_game::Parameters) = "cloud_game",
        /// Tests of responsiveness, as phones and speed tests have them: round trips per minute under their own load.
        Responsiveness(responsiveness::Parameters) = "responsiveness",
        /// Real packets, which come from programs (`sojourn emulate`) or from a record of these.
        Real(outside::Parameters) = "outside",
    }
}

impl AppSpec {
    /// What it is, in words: what a stream is for, and the kind of all others.
    pub fn word(&self) -> String {
        match self {
            Self::Stream(stream) => stream.purpose.name().to_owned(),
            Self::Outside(app) => app.kind().to_owned(),
            _ => self.name().replace('_', " "),
        }
    }

    /// When it starts, in s, if the scenario says so.
    pub fn start_s(&self) -> Option<f64> {
        match self {
            Self::Stream(app) => app.start_s,
            Self::VideoCall(app) => app.start_s,
            Self::CloudGame(app) => app.start_s,
            Self::Transfer(app) => Some(app.start_s),
            Self::Responsiveness(app) => Some(app.start_s),
            Self::Web(app) => Some(app.start_s),
            Self::WebSessions(app) => Some(app.start_s),
            Self::Video(app) => Some(app.start_s),
            Self::Torrent(app) => Some(app.start_s),
            Self::OnOff(app) => Some(app.start_s),
            Self::Replay(app) => Some(app.start_s),
            Self::Real(_) => None,
            Self::Outside(app) => app.start_s(),
        }
    }

    /// Default port of its servers, as registered with IANA: HTTPS, RTP (RFC 3551 §8), a game
    /// console's port, BitTorrent's first port, and discard (RFC 863); of Moonlight's video for games from afar.
    pub fn default_port(&self) -> u16 {
        match self {
            Self::Web(_)
            | Self::WebSessions(_)
            | Self::Video(_)
            | Self::Transfer(_)
            | Self::Responsiveness(_) => 443,
            Self::Stream(stream) => match stream.purpose {
                stream::Purpose::Voice => 5004,
                stream::Purpose::Game => 3074,
                stream::Purpose::Data => 9,
            },
            Self::VideoCall(_) => 5004,
            Self::CloudGame(_) => 47998,
            Self::Torrent(_) => 6881,
            Self::Outside(app) if app.tcp().is_some() => 443,
            Self::OnOff(_) | Self::Replay(_) | Self::Real(_) | Self::Outside(_) => 9,
        }
    }

    /// TCP configuration of its connections, in a scenario with these options and this dialect.
    pub fn tcp_config(&self, base: &TcpOptions, dialect: Dialect) -> Config {
        let own = self.parameters();
        let options = own.tcp().map_or_else(|| base.clone(), |tcp| tcp.or(base));
        let usual = own.usual_tcp(options.dialect.unwrap_or(dialect));
        let options = options.or(&usual);
        let transport = own.transport().or(options.transport);
        TcpOptions { transport, ..options }.resolve(dialect)
    }

    /// The same of its connections over QUIC, if it has these beside others.
    pub fn quic_config(&self, base: &TcpOptions, dialect: Dialect) -> Option<Config> {
        let own = self.parameters();
        let options = own.tcp().filter(|_| own.mixes_in_quic())?.or(base);
        Some(TcpOptions { transport: Some(Transport::Quic), ..options }.resolve(dialect))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_engine::rng::Seed;

    #[test]
    fn what_a_clock_measured_is_given_in_simulated_time() {
        // From 5 to 7 s, with a clock that is off by up to 2 ms then.
        let clock = Clock::drawn(Seed::named(1, "clock"), 1000.0);
        let [from, to] = [5, 7].map(|s| clock.reading(Time::from_s(s)));
        let took_s = (to - from).secs_f64();
        assert!((took_s - 2.0).abs() > 1e-5, "{took_s}");
        let viewing = Viewing {
            watched_s: took_s,
            rising_s: took_s,
            playing_s: took_s,
            stalled_s: took_s,
            ..Viewing::default()
        };
        let measured = vec![(from, to - from)];
        let done = Done {
            pages: vec![LoadedPage { start: from, took: to - from, first_render: Some(to - from) }],
            responses: measured,
            viewing: Some(viewing),
            ..Done::default()
        };
        let done = done.by(clock);
        let pages = done.pages.iter().flat_map(|page| {
            [page.took, page.first_render.unwrap()].map(|took| (page.start, took))
        });
        for (start, took) in pages.chain(done.responses) {
            assert!(
                (start.secs_f64() - 5.0).abs() < 1e-11 && (took.secs_f64() - 2.0).abs() < 1e-11
            );
        }
        let Viewing { watched_s, rising_s, playing_s, stalled_s, .. } = done.viewing.unwrap();
        for span_s in [watched_s, rising_s, playing_s, stalled_s] {
            assert!((span_s - 2.0).abs() < 1e-11, "{span_s}");
        }
    }
}
