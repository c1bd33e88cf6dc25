//! People loading web pages: White & Padden 2012 §3.2.3 and appendix A.
//!
//! The page's HTML comes from the first server. Then each server is asked for its share of the
//! objects over a few connections at a time; a connection closes after its object and a new one
//! fetches the next. When the last object is there the page is loaded; after a pause the next page
//! is loaded. The load time counts from the opening of the first connection.
//!
//! Left out, as in the studies: name look-ups, connections kept open between objects, caches. The
//! size of a request is stated nowhere; 300 bytes is a small GET of today.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{App, AppParameters, Command, ConnectionId, Desk, Done, End, Event, Model, Quality};
use crate::engine::rng::Rng;
use crate::tcp::TcpOptions;
use crate::units::Time;

/// Object sizes in bytes by server, White & Padden 2012 appendix A: drawn once from a log-normal
/// distribution (log10 ~ N(3.34, 0.84)) and scaled to about 614 400 bytes in all.
#[rustfmt::skip]
const APPENDIX_A: [[u64; 25]; 4] = [
    [
        2997, 3225, 7679, 22, 4742, 1763, 224, 401, 1299, 11, 1859, 533, 7432, 49238, 1685,
        23627, 860, 79, 2591, 39, 734, 8342, 459, 233, 1077,
    ],
    [
        5009, 1643, 1048, 510, 6679, 769, 961, 132, 457, 3175, 5744, 2548, 2527, 420, 235, 256,
        175, 1961, 235, 10030, 3098, 6201, 740, 901, 5229,
    ],
    [
        7105, 6683, 1017, 116, 190, 2424, 22, 828, 91289, 91, 797, 4892, 297, 1652, 547, 6169,
        781, 276, 774, 147107, 182, 249, 449, 51, 2278,
    ],
    [
        355, 3815, 9498, 645, 544, 2931, 12393, 85, 12229, 826, 28522, 1595, 41, 4019, 1062,
        2457, 1144, 1127, 2662, 8649, 51108, 2511, 186, 4380, 3518,
    ],
];

/// The objects of a page beside its HTML.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Objects {
    /// As many objects of one size from each server (White & Padden 2012 §3.2.3: 25 of 25 000).
    Fixed {
        /// Objects from each server.
        #[serde(default = "twenty_five")]
        #[schemars(range(min = 1, max = 10_000))]
        per_server: u32,
        /// Size of an object in bytes.
        #[serde(default = "object_bytes")]
        #[schemars(range(min = 1, max = 1_000_000_000))]
        bytes: u64,
    },
    /// The table of White & Padden 2012 appendix A: 25 objects from each of four servers.
    AppendixA {
        /// Factor on all sizes.
        #[serde(default = "unity")]
        #[schemars(range(min = 0.001, max = 10_000.0))]
        scale: f64,
    },
}

fn twenty_five() -> u32 {
    25
}

fn object_bytes() -> u64 {
    25_000
}

fn unity() -> f64 {
    1.0
}

/// Parameters of people loading web pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Web")]
pub struct Parameters {
    /// The servers, the first of which has the HTML.
    #[schemars(length(min = 1, max = 100))]
    pub servers: Vec<String>,
    /// Size of the HTML in bytes (White & Padden 2012 §3.2.3: 100 000; appendix A: 102 400).
    #[serde(default = "html_bytes")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub html_bytes: u64,
    /// The objects.
    pub objects: Objects,
    /// Connections to each server at the same time.
    #[serde(default = "six")]
    #[schemars(range(min = 1, max = 1000))]
    pub connections_per_server: u32,
    /// Size of a request in bytes.
    #[serde(default = "request_bytes")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub request_bytes: u64,
    /// Time from the end of a page to the start of the next in s.
    #[serde(default = "five")]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub pause_s: f64,
    /// People doing this, each on their own.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1000))]
    pub users: u32,
    /// When the first page is asked for, in s.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: f64,
    /// People start at random times within this many seconds after `start_s`.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_spread_s: f64,
    /// TCP keys in which these connections differ from the scenario's.
    #[serde(default)]
    pub tcp: TcpOptions,
}

fn html_bytes() -> u64 {
    100_000
}

fn six() -> u32 {
    6
}

fn request_bytes() -> u64 {
    300
}

fn five() -> f64 {
    5.0
}

fn one() -> u32 {
    1
}

impl Parameters {
    /// Sizes of the objects on each server.
    fn sizes(&self) -> Vec<Vec<u64>> {
        let servers = self.servers.len();
        match self.objects {
            Objects::Fixed { per_server, bytes } => vec![vec![bytes; per_server as usize]; servers],
            Objects::AppendixA { scale } => {
                let mut sizes = vec![Vec::new(); servers];
                for (column, objects) in APPENDIX_A.iter().enumerate() {
                    let scaled =
                        objects.iter().map(|b| ((*b as f64 * scale).round() as u64).max(1));
                    sizes[column % servers].extend(scaled);
                }
                sizes
            }
        }
    }
}

impl AppParameters for Parameters {
    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        let sizes = self.sizes();
        let user = || User {
            next_start: Time::NEVER,
            page_start: Time::ZERO,
            loading_html: false,
            asked: vec![0; sizes.len()],
            missing: 0,
            fetching: vec![0; sizes.len() * self.connections_per_server as usize],
        };
        Web {
            servers: self.servers.iter().map(|name| server(name)).collect(),
            html_bytes: self.html_bytes,
            connections_per_server: self.connections_per_server as usize,
            request_bytes: self.request_bytes,
            pause: Time::from_secs_f64(self.pause_s),
            start: Time::from_secs_f64(self.start_s),
            spread: Time::from_secs_f64(self.start_spread_s),
            users: (0..self.users).map(|_| user()).collect(),
            sizes,
            planned: false,
            pages: Vec::new(),
        }
        .into()
    }

    fn servers(&self) -> Vec<(String, &str)> {
        self.servers.iter().enumerate().map(|(i, name)| (format!("servers.{i}"), &**name)).collect()
    }

    fn tcp(&self) -> Option<&TcpOptions> {
        Some(&self.tcp)
    }

    fn quality(&self) -> Quality {
        Quality::Pages
    }
}

/// One person and the page being loaded.
struct User {
    next_start: Time,
    page_start: Time,
    loading_html: bool,
    /// Objects asked for so far, by server.
    asked: Vec<usize>,
    /// Objects that are not there yet.
    missing: usize,
    /// Size of the object that each connection of this person fetches.
    fetching: Vec<u64>,
}

/// People loading pages. A connection's tag is the person's number times the connections of a
/// person, plus the number of the connection, counted server by server.
pub struct Web {
    servers: Vec<u16>,
    html_bytes: u64,
    sizes: Vec<Vec<u64>>,
    connections_per_server: usize,
    request_bytes: u64,
    pause: Time,
    start: Time,
    spread: Time,
    users: Vec<User>,
    planned: bool,
    pages: Vec<(Time, Time)>,
}

impl Web {
    fn connections(&self) -> usize {
        self.servers.len() * self.connections_per_server
    }

    fn plan(&mut self, desk: &mut Desk) {
        for user in &mut self.users {
            user.next_start = self.start + self.spread.scaled(desk.rng.uniform());
        }
        self.planned = true;
    }

    /// Starts the pages that are due and asks for the next timer.
    fn start_due(&mut self, desk: &mut Desk) {
        for person in 0..self.users.len() {
            if self.users[person].next_start <= desk.now {
                self.start_page(person, desk);
            }
        }
        self.ask_for_timer(desk);
    }

    fn ask_for_timer(&self, desk: &mut Desk) {
        let next = self.users.iter().map(|user| user.next_start).min().unwrap_or(Time::NEVER);
        desk.ask(Command::Wake(next));
    }

    fn start_page(&mut self, person: usize, desk: &mut Desk) {
        let user = &mut self.users[person];
        user.next_start = Time::NEVER;
        user.page_start = desk.now;
        user.loading_html = true;
        user.missing = self.sizes.iter().map(Vec::len).sum();
        user.asked.fill(0);
        self.open(person, 0, self.html_bytes, desk);
    }

    fn open(&mut self, person: usize, connection: usize, bytes: u64, desk: &mut Desk) {
        self.users[person].fetching[connection] = bytes;
        let tag = (person * self.connections() + connection) as u32;
        let server = self.servers[connection / self.connections_per_server];
        desk.ask(Command::Open { server, tag });
    }

    /// Asks for the next object of the server this connection belongs to, if there is one left.
    fn fetch_next(&mut self, person: usize, connection: usize, desk: &mut Desk) {
        let server = connection / self.connections_per_server;
        let next = self.users[person].asked[server];
        if let Some(&bytes) = self.sizes[server].get(next) {
            self.users[person].asked[server] += 1;
            self.open(person, connection, bytes, desk);
        }
    }

    fn object_is_there(&mut self, person: usize, connection: usize, desk: &mut Desk) {
        if self.users[person].loading_html {
            self.users[person].loading_html = false;
            for connection in 0..self.connections() {
                self.fetch_next(person, connection, desk);
            }
            return;
        }
        self.users[person].missing -= 1;
        if self.users[person].missing == 0 {
            self.page_is_there(person, desk);
        } else {
            self.fetch_next(person, connection, desk);
        }
    }

    fn page_is_there(&mut self, person: usize, desk: &mut Desk) {
        let user = &mut self.users[person];
        self.pages.push((user.page_start, desk.now - user.page_start));
        user.next_start = desk.now + self.pause;
        self.ask_for_timer(desk);
    }

    fn on_connection(&mut self, tag: u32, event: Event, desk: &mut Desk) {
        let person = tag as usize / self.connections();
        let connection = tag as usize % self.connections();
        let size = self.users[person].fetching[connection];
        match event {
            Event::Opening(_, id) => self.ask_for_object(id, size, desk),
            Event::Received(_, id, End::Server) => {
                desk.ask(Command::Send(id, End::Server, size));
                desk.ask(Command::Close(id, End::Server));
            }
            Event::Received(_, id, End::Home) => {
                desk.ask(Command::Close(id, End::Home));
                self.object_is_there(person, connection, desk);
            }
            _ => {}
        }
    }

    fn ask_for_object(&self, id: ConnectionId, size: u64, desk: &mut Desk) {
        desk.ask(Command::Send(id, End::Home, self.request_bytes));
        desk.ask(Command::Expect(id, End::Server, self.request_bytes));
        desk.ask(Command::Expect(id, End::Home, size));
    }
}

impl Model for Web {
    fn start(&self, _rng: &mut Rng) -> Time {
        self.start
    }

    fn on_event(&mut self, event: Event, desk: &mut Desk) {
        match event {
            Event::Timer => {
                if !self.planned {
                    self.plan(desk);
                }
                self.start_due(desk);
            }
            Event::Opening(tag, ..)
            | Event::Established(tag, ..)
            | Event::Received(tag, ..)
            | Event::Acknowledged(tag, ..) => self.on_connection(tag, event, desk),
        }
    }

    fn done(&self) -> Done {
        Done { pages: self.pages.clone(), ..Done::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_appendix_a_sums_as_printed() {
        // Server totals 121 151, 60 683, 276 266 and 156 302 bytes; 614 402 in all.
        let totals = APPENDIX_A.map(|objects| objects.iter().sum::<u64>());
        assert_eq!(totals, [121_151, 60_683, 276_266, 156_302]);
        assert_eq!(totals.iter().sum::<u64>(), 614_402);
    }
}
