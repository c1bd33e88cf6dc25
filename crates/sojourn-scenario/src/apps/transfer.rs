//! File transfers over TCP: endless, repeating, in bursts, or for a limited time.
//!
//! White & Padden 2012 §3.2.1 use one endless upload; five uploads that start again when they end;
//! and a file of 18.75 MB every 30 s, which uses up and refills a burst of 10 MB at 5/20 Mbps. Hong
//! 2015 §4.3 uses a transfer from 500 to 1500 s.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_input::defaults::number;

use super::agenda::Agenda;
use super::check_stop;
use super::{
    App, AppContext, AppParameters, Command, ConnectionId, Done, End, Event, Load, Model, Quality,
};
use sojourn_engine::packet::Direction;
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;
use sojourn_input::problem::{Fault, Faults};
use sojourn_transport::TcpOptions;

/// Parameters of file transfers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Transfer")]
pub struct Parameters {
    /// Server at the other end. Default: the first of `servers`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("x-role" = "line"))]
    pub server: String,
    /// Direction of the file: `up` from the home or `down` to it.
    #[serde(default)]
    pub direction: Direction,
    /// Number of simultaneous connections.
    #[serde(default = "number::<u32, 1>")]
    #[schemars(range(min = 1, max = 10_000))]
    pub connections: u32,
    /// Size of a file in bytes. Default: one endless file.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub file_bytes: Option<u64>,
    /// Time from the end of a file to the start of the next one in s. Default: each connection
    /// sends one file only.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub pause_s: Option<f64>,
    /// Time from the start of a file to the start of the next one in s, in place of `pause_s`.
    /// All files use one connection, whatever `keep_connection` says; a file that is not finished in
    /// time delays the next ones.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub every_s: Option<f64>,
    /// Whether the next file uses the same connection, so that TCP keeps its state. ns-2's agents
    /// do that ("a single FTP/TCP session", White & Padden 2012 §3.2.1). With `false` each file has
    /// a connection of its own. It has an effect only with `pause_s`.
    #[serde(default)]
    pub keep_connection: bool,
    /// Time at which the first connection opens, in s.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: f64,
    /// Connections start at random times within this many seconds after `start_s`.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_spread_s: f64,
    /// Time at which all connections are aborted, in s; no file starts later. Packets in the
    /// network are still forwarded, but nothing is retransmitted. Default: never.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub stop_s: Option<f64>,
    /// TCP options of these connections that differ from the scenario's `tcp`.
    #[serde(default)]
    pub tcp: TcpOptions,
}

impl Parameters {
    /// Does each connection send one file after another?
    pub fn pauses(&self) -> bool {
        self.pause_s.or(self.every_s).is_some()
    }

    /// Checks the keys that set when the next file starts.
    fn check_next_start(&self) -> Result<(), Fault> {
        let refused =
            |key, found: f64, allowed| Err(Fault::found(key, found, format!("only {allowed}")));
        let with_files = "with file_bytes, since an endless file never ends";
        match (self.pause_s, self.every_s) {
            (Some(_), Some(every_s)) => refused("every_s", every_s, "without pause_s"),
            (Some(pause_s), None) if self.file_bytes.is_none() => {
                refused("pause_s", pause_s, with_files)
            }
            (None, Some(every_s)) if self.file_bytes.is_none() => {
                refused("every_s", every_s, with_files)
            }
            _ => Ok(()),
        }
    }
}

impl AppParameters for Parameters {
    one_server!();
    own_tcp!();

    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        Transfer {
            server: server(&self.server),
            sender: End::sending(self.direction),
            file_bytes: self.file_bytes,
            pause: self.pause_s.map(Time::from_secs_f64),
            every: self.every_s.map(Time::from_secs_f64),
            keeps_connection: self.every_s.is_some()
                || self.keep_connection && self.pause_s.is_some(),
            stop: self.stop_s.map_or(Time::NEVER, Time::from_secs_f64),
            agenda: Agenda::new(self.connections, self.start_s, self.start_spread_s),
            open: vec![None; self.connections as usize],
            unfinished: vec![Files::default(); self.connections as usize],
            completed: Files::default(),
            begun: 0,
        }
        .into()
    }

    fn load(&self, seconds: f64) -> Load {
        let connections = f64::from(self.connections);
        let files = match (self.file_bytes, self.pause_s.or(self.every_s)) {
            (Some(_), Some(gap_s)) => 1.0 + seconds / gap_s.max(1e-3),
            _ => 1.0,
        };
        Load {
            connections,
            opened: connections * files,
            stream_bytes: self.file_bytes.map_or(f64::INFINITY, |b| b as f64 * connections * files),
            direction: Some(self.direction),
            kept_bytes: 64.0 * connections,
            ..Load::default()
        }
    }

    fn acts_on_its_own(&self) -> bool {
        self.file_bytes.is_none() || self.stop_s.is_some()
    }

    fn quality(&self) -> Quality {
        Quality::Throughput
    }

    fn check(&self) -> Faults {
        let mut faults = Faults::from(self.check_next_start());
        faults.add(check_stop(self.start_s, self.stop_s));
        faults
    }
}

/// File transfers in operation. A connection's number is the tag of its events.
pub struct Transfer {
    server: u16,
    sender: End,
    file_bytes: Option<u64>,
    pause: Option<Time>,
    every: Option<Time>,
    keeps_connection: bool,
    stop: Time,
    /// When each connection begins its next file.
    agenda: Agenda,
    open: Vec<Option<ConnectionId>>,
    /// Unacknowledged files of each connection, by when they began; with `every` there may be several.
    unfinished: Vec<Files>,
    /// The finished ones, by how long they took.
    completed: Files,
    /// Files that were begun and not cut off.
    begun: u64,
}

/// Some files.
#[derive(Clone, Copy, Default)]
struct Files {
    count: u64,
    /// The sum of a time of each, in ps.
    sum_ps: u128,
}

impl Files {
    fn add(&mut self, count: u64, sum_ps: u128) {
        self.count += count;
        self.sum_ps += sum_ps;
    }
}

impl Transfer {
    /// Begins the files that are due and sets the timer.
    fn begin_due(&mut self, context: &mut AppContext) {
        while let Some(number) = self.agenda.take(context) {
            match self.open[number as usize] {
                Some(connection) => self.send(number, connection, context),
                None => context.ask(Command::Open { server: self.server, tag: number }),
            }
        }
        context.ask(Command::Wake(self.agenda.next().min(self.stop)));
    }

    fn send(&mut self, number: u32, connection: ConnectionId, context: &mut AppContext) {
        let bytes = self.file_bytes.unwrap_or(u64::MAX);
        context.ask(Command::Send(connection, self.sender, bytes));
        self.unfinished[number as usize].add(1, context.now.ps().into());
        self.begun += 1;
        if let Some(every) = self.every {
            self.agenda.set(number, context.now + every);
        }
    }

    fn finish(&mut self, number: u32, connection: ConnectionId, context: &mut AppContext) {
        let Files { count, sum_ps } = std::mem::take(&mut self.unfinished[number as usize]);
        self.completed.add(count, u128::from(count) * u128::from(context.now.ps()) - sum_ps);
        if !self.keeps_connection {
            self.open[number as usize] = None;
            context.ask(Command::Close(connection, End::Home));
            context.ask(Command::Close(connection, End::Server));
        }
        if let Some(pause) = self.pause {
            self.agenda.set(number, context.now + pause);
            self.begin_due(context);
        }
    }

    fn cut_all(&mut self, context: &mut AppContext) {
        let open = self.open.iter_mut().filter_map(Option::take);
        open.for_each(|connection| context.ask(Command::Abort(connection)));
        self.unfinished.fill(Files::default());
        self.begun = self.completed.count;
    }
}

impl Model for Transfer {
    fn start(&self, _rng: &mut Rng) -> Time {
        self.agenda.start()
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        match event {
            _ if context.now >= self.stop => self.cut_all(context),
            Event::Timer => self.begin_due(context),
            Event::Opening(number, connection) => {
                self.open[number as usize] = Some(connection);
                self.send(number, connection, context);
                context.ask(Command::Wake(self.agenda.next().min(self.stop)));
            }
            Event::Acknowledged(number, connection, end) if end == self.sender => {
                self.finish(number, connection, context);
            }
            Event::Established(..)
            | Event::Received(..)
            | Event::Acknowledged(..)
            | Event::Datagram(_)
            | Event::Message(..)
            | Event::Shapers(_)
            | Event::Carried(..) => {}
        }
    }

    fn done(&self, _now: Time) -> Done {
        let completed = self.file_bytes.map(|_| self.completed);
        Done {
            transfers_completed: completed.map(|files| files.count),
            transfers_s: completed.map(|files| files.sum_ps as f64 * 1e-12),
            ..Done::default()
        }
    }

    fn is_under_way(&self, _now: Time) -> bool {
        self.begun > self.completed.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_take_the_sum_of_their_times() {
        let file: Parameters = toml::from_str("server = 's'\nfile_bytes = 1000").unwrap();
        let App::Transfer(mut transfer) = file.start(&|_| 0) else { panic!("it is a transfer") };
        for seconds in [2, 3] {
            transfer.completed.add(1, Time::from_s(seconds).ps().into());
        }
        let done = transfer.done(Time::from_s(9));
        assert_eq!((done.transfers_completed, done.transfers_s), (Some(2), Some(5.0)));
    }
}
