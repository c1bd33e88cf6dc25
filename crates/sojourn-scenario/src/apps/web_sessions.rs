//! Random web sessions: the model of ns-2 (ns-2.35 webcache/webtraf.cc) as Hong 2015 §4.2.3 used
//! it.
//!
//! A session loads one page after another, each from a randomly chosen server. The objects of a
//! page are requested one after the other with random gaps, whether those before have come or not.
//! Each object has a TCP connection of its own: a request of one packet, then the object. When all
//! have come the user thinks, and then requests the next page. An object's response time counts
//! from the opening of its connection to its last byte.
//!
//! With constants instead of random values this is the probe of Hong 2015 §4.2.3: one object of 20
//! kB and a think time of 10 s.
//!
//! With `pushed` a session has one connection for its whole duration, on which the server sends
//! objects without requests. An object's response time then counts until all that was sent is
//! acknowledged. The published scripts of the group of Hong 2015 build their probe in this way: an
//! on/off source on one of ns-2's one-way agents (yhfudev/bash-mrnative,
//! projtools/common/flows-util.tcl `create_wrt_flow`).
//!
//! Left out: in ns-2 the server opens another connection, with another handshake, for the response,
//! since one-way agents need it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_input::defaults::number;

use super::agenda::Agenda;
use super::draw::Draw;
use super::{
    App, AppContext, AppParameters, Command, ConnectionId, Done, End, Event, Load, Model, Quality,
};
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;
use sojourn_input::problem::{Fault, Faults};
use sojourn_transport::TcpOptions;

/// Parameters of web sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WebSessions")]
pub struct Parameters {
    /// Servers of the pages. One is chosen at random for each page. Default: all of `servers`.
    #[schemars(length(min = 1, max = 100))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-role" = "line"))]
    pub servers: Vec<String>,
    /// Number of independent sessions.
    #[serde(default = "number::<u32, 1>")]
    #[schemars(range(min = 1, max = 10_000))]
    pub sessions: u32,
    /// Number of pages in a session. Default: sessions never end.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub pages: Option<u64>,
    /// Think time in s, from the end of a page to the start of the next one (Hong 2015 §4.2.3:
    /// Pareto, mean 5, shape 2).
    #[serde(default = "think")]
    pub think_s: Draw,
    /// Number of objects of a page, rounded up (Hong 2015 §4.2.3: Pareto, mean 4, shape 1.2).
    #[serde(default = "objects")]
    pub objects: Draw,
    /// Time in s from the request for an object to the next request (Hong 2015 §4.2.3: Pareto, mean
    /// 0.5, shape 1.5).
    #[serde(default = "gap")]
    pub gap_s: Draw,
    /// Size of an object in units of `unit_bytes`, rounded up (Hong 2015 §4.2.3: Pareto, mean 20,
    /// shape 1.5).
    #[serde(default = "object_units")]
    pub object_units: Draw,
    /// Bytes in a unit of `object_units`. Hong 2015 §4.2.3 says KB, but ns-2 counts packets; the
    /// 0.13 Mbps for each session in that section fit packets of 1460 bytes.
    #[serde(default = "number::<u64, 1460>")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub unit_bytes: u64,
    /// The server sends objects without requests, over one connection for each session. Response
    /// times then end at the acknowledgement. Only with a single server.
    #[serde(default)]
    pub pushed: bool,
    /// Size of a request in bytes: one packet in ns-2.
    #[serde(default = "number::<u64, 1000>")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub request_bytes: u64,
    /// Earliest start of the sessions in s.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: f64,
    /// Sessions start at random times within this many seconds after `start_s` (Hong 2015 §4.2.3).
    #[serde(default = "number::<f64, 1>")]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_spread_s: f64,
    /// TCP options of these connections that differ from the scenario's `tcp`.
    #[serde(default)]
    pub tcp: TcpOptions,
}

fn think() -> Draw {
    Draw::Pareto { mean: 5.0, shape: 2.0 }
}

fn objects() -> Draw {
    Draw::Pareto { mean: 4.0, shape: 1.2 }
}

fn gap() -> Draw {
    Draw::Pareto { mean: 0.5, shape: 1.5 }
}

fn object_units() -> Draw {
    Draw::Pareto { mean: 20.0, shape: 1.5 }
}

impl AppParameters for Parameters {
    several_servers!();
    own_tcp!();

    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        let session = || Session {
            server: 0,
            to_ask: 0,
            missing: 0,
            pages_left: self.pages,
            pushing: Pushing::default(),
        };
        WebSessions {
            servers: self.servers.iter().map(|name| server(name)).collect(),
            think: self.think_s,
            objects: self.objects,
            gap: self.gap_s,
            object_units: self.object_units,
            unit_bytes: self.unit_bytes,
            request_bytes: self.request_bytes,
            is_pushed: self.pushed,
            agenda: Agenda::new(self.sessions, self.start_s, self.start_spread_s),
            sessions: (0..self.sessions).map(|_| session()).collect(),
            fetches: Vec::new(),
            free: Vec::new(),
            responses: Vec::new(),
        }
        .into()
    }

    fn load(&self, seconds: f64) -> Load {
        let sessions = f64::from(self.sessions);
        let objects = if self.pushed { 1.0 } else { self.objects.mean().max(1.0) };
        let pages = self.pages.map_or(f64::INFINITY, |pages| pages as f64);
        let pages = pages.min(1.0 + seconds / (self.think_s.mean() + self.gap_s.mean()).max(1e-2));
        Load {
            connections: sessions * objects,
            opened: sessions * objects * pages,
            stream_bytes: f64::INFINITY,
            kept_bytes: sessions * (256.0 + 16.0 * objects * pages),
            ..Load::default()
        }
    }

    fn quality(&self) -> Quality {
        Quality::Responses
    }

    fn check(&self) -> Faults {
        let mut faults = Faults::default();
        for (key, draw) in [("objects", &self.objects), ("object_units", &self.object_units)] {
            if draw.mean() == 0.0 {
                faults.add(Fault::found(key, "a mean of 0", "more than 0"));
            }
        }
        if self.pushed && self.servers.len() > 1 {
            faults.add(Fault::found("pushed", "true", "only with a single server"));
        }
        faults
    }
}

/// A session and its current page.
struct Session {
    server: u16,
    /// Objects of the page still to be requested.
    to_ask: u64,
    /// Objects of the page that have not come yet.
    missing: u64,
    pages_left: Option<u64>,
    pushing: Pushing,
}

/// State of a session whose server pushes objects.
#[derive(Default)]
struct Pushing {
    connection: Option<ConnectionId>,
    /// Bytes that wait for the connection.
    waiting: u64,
    /// When each object in transit was sent.
    since: Vec<Time>,
}

/// An object in transit.
struct Fetch {
    session: u32,
    bytes: u64,
    since: Time,
}

/// Web sessions in operation. A connection's tag is the index of its object in `fetches`, or, with
/// pushed objects, the number of its session.
pub struct WebSessions {
    servers: Vec<u16>,
    think: Draw,
    objects: Draw,
    gap: Draw,
    object_units: Draw,
    unit_bytes: u64,
    request_bytes: u64,
    is_pushed: bool,
    /// When each session requests its next object.
    agenda: Agenda,
    sessions: Vec<Session>,
    fetches: Vec<Fetch>,
    /// Free indices in `fetches`.
    free: Vec<u32>,
    responses: Vec<(Time, Time)>,
}

impl WebSessions {
    fn ask_due(&mut self, context: &mut AppContext) {
        while let Some(number) = self.agenda.take(context) {
            if self.sessions[number as usize].to_ask == 0 {
                self.begin_page(number, context);
            }
            self.ask_for_object(number, context);
        }
        self.agenda.ask(context);
    }

    fn begin_page(&mut self, number: u32, context: &mut AppContext) {
        let session = &mut self.sessions[number as usize];
        session.server = self.servers[context.rng.below(self.servers.len() as u64) as usize];
        session.to_ask = self.objects.count(context.rng);
        session.missing = session.to_ask;
        session.pages_left = session.pages_left.map(|left| left - 1);
    }

    fn ask_for_object(&mut self, number: u32, context: &mut AppContext) {
        let bytes = self.object_units.count(context.rng) * self.unit_bytes;
        let session = &mut self.sessions[number as usize];
        session.to_ask -= 1;
        if session.to_ask > 0 {
            self.agenda.set(number, context.now + self.gap.time(context.rng));
        }
        let server = session.server;
        if self.is_pushed {
            session.pushing.since.push(context.now);
            session.pushing.waiting = session.pushing.waiting.saturating_add(bytes);
            if session.pushing.connection.is_some() {
                self.push(number, context);
            } else if session.pushing.since.len() == 1 {
                context.ask(Command::Open { server, tag: number });
            }
        } else {
            let tag = self.place(Fetch { session: number, bytes, since: context.now });
            context.ask(Command::Open { server, tag });
        }
    }

    /// Sends the waiting objects over the connection.
    fn push(&mut self, number: u32, context: &mut AppContext) {
        let pushing = &mut self.sessions[number as usize].pushing;
        let bytes = std::mem::take(&mut pushing.waiting);
        if let Some(connection) = pushing.connection.filter(|_| bytes > 0) {
            context.ask(Command::Send(connection, End::Server, bytes));
        }
    }

    fn place(&mut self, fetch: Fetch) -> u32 {
        if let Some(tag) = self.free.pop() {
            self.fetches[tag as usize] = fetch;
            return tag;
        }
        self.fetches.push(fetch);
        self.fetches.len() as u32 - 1
    }

    fn object_is_there(&mut self, tag: u32, context: &mut AppContext) {
        let Fetch { session: number, since, .. } = self.fetches[tag as usize];
        self.free.push(tag);
        self.responses.push((since, context.now - since));
        self.came(number, 1, context);
    }

    /// Handles the acknowledgement of everything that was pushed.
    fn all_is_acknowledged(&mut self, number: u32, context: &mut AppContext) {
        let since = &mut self.sessions[number as usize].pushing.since;
        let objects = since.len() as u64;
        self.responses.extend(since.drain(..).map(|since| (since, context.now - since)));
        self.came(number, objects, context);
    }

    /// Records that `objects` of the page have come. After the last one the user begins to think.
    fn came(&mut self, number: u32, objects: u64, context: &mut AppContext) {
        let session = &mut self.sessions[number as usize];
        session.missing -= objects;
        if session.missing == 0 && session.pages_left != Some(0) {
            self.agenda.set(number, context.now + self.think.time(context.rng));
            self.agenda.ask(context);
        }
    }
}

impl Model for WebSessions {
    fn start(&self, _rng: &mut Rng) -> Time {
        self.agenda.start()
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        match event {
            Event::Timer => self.ask_due(context),
            Event::Opening(number, id) if self.is_pushed => {
                self.sessions[number as usize].pushing.connection = Some(id);
                self.push(number, context);
            }
            Event::Acknowledged(number, _, End::Server) if self.is_pushed => {
                self.all_is_acknowledged(number, context);
            }
            Event::Opening(tag, id) => {
                context.request(id, self.request_bytes, self.fetches[tag as usize].bytes);
            }
            Event::Received(tag, id, End::Server) => {
                context.ask(Command::Send(id, End::Server, self.fetches[tag as usize].bytes));
                context.ask(Command::Close(id, End::Server));
            }
            Event::Received(tag, id, End::Home) => {
                context.ask(Command::Close(id, End::Home));
                self.object_is_there(tag, context);
            }
            Event::Established(..)
            | Event::Acknowledged(..)
            | Event::Datagram(_)
            | Event::Message(..)
            | Event::Shapers(_)
            | Event::Carried(..) => {}
        }
    }

    fn done(&self, _now: Time) -> Done {
        Done { responses: self.responses.clone(), ..Done::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page without objects would end at once, and for ever.
    #[test]
    fn objects_and_their_units_have_a_mean() {
        let refused = |key: &str, value: u32| {
            let text = format!("{key} = {{ kind = 'constant', value = {value} }}");
            let sessions: Parameters = toml::from_str(&text).unwrap();
            !sessions.check().is_empty()
        };
        for key in ["objects", "object_units"] {
            assert_eq!([0, 1].map(|value| refused(key, value)), [true, false], "{key}");
        }
    }
}
