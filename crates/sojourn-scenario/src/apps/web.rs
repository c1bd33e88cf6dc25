//! Users who load web pages: White & Padden 2012 §3.2.3 and appendix A.
//!
//! The page's HTML comes from the first server. Then each server is asked for its share of the
//! objects over a few connections at a time. A connection closes after its object, and a new one
//! fetches the next. When the last object has come the page is loaded; after a pause the next page
//! starts. The page load time counts from the opening of the first connection.
//!
//! Left out, as in the studies: name look-ups, connections kept open between objects, caches. Pages
//! over HTTP/2 and HTTP/3, and those of today, are loaded by `browser.rs`, which has these but for
//! caches. The studies do not state the size of a request; 300 bytes is a small GET of today.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_input::defaults::number;

use super::agenda::Agenda;
use super::browser::{ANSWER, Browser, Plan};
pub use super::web_page::{Objects, Protocol};
use super::{
    App, AppContext, AppParameters, Command, Done, End, Event, Load, LoadedPage, Model, Quality,
};
use sojourn_engine::dialect::Dialect;
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;
use sojourn_input::problem::{Fault, Faults};
use sojourn_transport::{TcpOptions, Transport};

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

/// Scales the 614 402 + 102 400 bytes of appendix A to 7 MB.
const WHITE_2014_SCALE: f64 = 7e6 / 716_802.0;

/// Parameters of users who load web pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Web")]
pub struct Parameters {
    /// Servers of the page. The first one has the HTML. Default: all of `servers`.
    #[schemars(length(min = 1, max = 100))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-role" = "line"))]
    pub servers: Vec<String>,
    /// The version of HTTP. With all but `h1` and the page models of the studies, names are looked up, sessions of TLS 1.3
    /// begin, and a connection carries many objects, by the priorities of RFC 9218. It chooses the transport, TCP or QUIC.
    /// Default: `mixed` with objects of kind `almanac2025`, and else `h1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// Size of the HTML in bytes. Default: 100 000 with `fixed` objects (White & Padden 2012
    /// §3.2.3), and 102 400 times the scale with those of appendix A.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub html_bytes: Option<u64>,
    /// The objects of a page, chosen by `kind`. Default: those of appendix A, 3.7 times as large: 2.65
    /// MB with the HTML, the median page on a desktop in 2024 (HTTP Archive, Web Almanac 2024, Page
    /// Weight).
    #[serde(default)]
    pub objects: Objects,
    /// Number of simultaneous connections to each server with `h1`; of a page of kind `almanac2025`, to each host. Browsers
    /// open 6.
    #[serde(default = "number::<u32, 6>")]
    #[schemars(range(min = 1, max = 1000))]
    pub connections_per_server: u32,
    /// Time between the openings of a page's connections in ms. 0 opens them all at once.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub open_gap_ms: f64,
    /// Size of a request in bytes.
    #[serde(default = "number::<u64, 300>")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub request_bytes: u64,
    /// Time in ms that a resolver takes for a name, beside the round trip to the page's first server. Default: 30, which with a
    /// round trip of 20 ms is near the 52 ms that names of hosts at CDNs take in the median (Web Almanac 2025, CDN).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub lookup_ms: Option<f64>,
    /// Time in ms from the arrival of a request to its answer, where names are looked up. Default: 30, that of Lighthouse's
    /// simulated pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub server_ms: Option<f64>,
    /// Share of connections in percent that resume a session of TLS, so that servers send no certificates. Default: 0, as
    /// in the first visits that the published numbers are of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub resumed_percent: Option<f64>,
    /// Think time: from the end of a page to the start of the next one in s, with all protocols and objects. The studies state
    /// none; 5 s is the mean think time of Hong 2015 §4.2.3.
    #[serde(default = "number::<f64, 5>")]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub pause_s: f64,
    /// Number of independent users.
    #[serde(default = "number::<u32, 1>")]
    #[schemars(range(min = 1, max = 10_000))]
    pub users: u32,
    /// Earliest start of the first page in s.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_s: f64,
    /// Users start at random times within this many seconds after `start_s`.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub start_spread_s: f64,
    /// TCP options of these connections that differ from the scenario's `tcp`.
    #[serde(default)]
    pub tcp: TcpOptions,
}

fn scaled(bytes: u64, scale: f64) -> u64 {
    ((bytes as f64 * scale).round() as u64).max(1)
}

impl Parameters {
    fn html_bytes(&self) -> u64 {
        let by_source = || match self.objects {
            Objects::Fixed { .. } => 100_000,
            Objects::AppendixA { scale } => scaled(102_400, scale),
            Objects::White2014 {} => scaled(102_400, WHITE_2014_SCALE),
            Objects::Almanac2025 {} => 0, // drawn
        };
        self.html_bytes.unwrap_or_else(by_source)
    }

    /// Sizes of the objects on each server.
    fn sizes(&self) -> Vec<Vec<u64>> {
        let servers = self.servers.len();
        match self.objects {
            Objects::Fixed { per_server, bytes } => vec![vec![bytes; per_server as usize]; servers],
            Objects::AppendixA { scale } => dealt_out(servers, scale),
            Objects::White2014 {} => dealt_out(servers, WHITE_2014_SCALE),
            Objects::Almanac2025 {} => Vec::new(),
        }
    }

    fn protocol(&self) -> Protocol {
        let is_drawn = self.objects == Objects::Almanac2025 {};
        self.protocol.unwrap_or(if is_drawn { Protocol::Mixed } else { Protocol::H1 })
    }

    /// Are pages loaded as browsers of today do, not as in the studies?
    fn is_of_today(&self) -> bool {
        self.objects == Objects::Almanac2025 {} || self.protocol() != Protocol::H1
    }

    fn browser(&self, server: &dyn Fn(&str) -> u16) -> Browser {
        let ms = |ms: Option<f64>| Time::from_secs_f64(ms.unwrap_or(30.0) / 1e3);
        let plan = Plan {
            objects: self.objects.clone(),
            html_bytes: self.html_bytes(),
            sizes: self.sizes(),
            servers: self.servers.iter().map(|name| server(name)).collect(),
            protocol: self.protocol(),
            connections_per_host: self.connections_per_server as usize,
            request_bytes: self.request_bytes,
            lookup: ms(self.lookup_ms),
            server: ms(self.server_ms),
            resumed_share: self.resumed_percent.unwrap_or_default() / 100.0,
            pause: Time::from_secs_f64(self.pause_s),
            start: Time::from_secs_f64(self.start_s),
            start_spread: Time::from_secs_f64(self.start_spread_s),
        };
        Browser::new(plan, self.users)
    }

    /// Bytes that a browser of today keeps of a page, some 100 of each object.
    fn kept_bytes(&self) -> f64 {
        match (&self.objects, self.is_of_today()) {
            (Objects::Almanac2025 {}, _) => 100.0 * 500.0,
            (_, true) => 100.0 * self.sizes().iter().map(Vec::len).sum::<usize>() as f64,
            (_, false) => 0.0,
        }
    }

    /// Keys that only browsers of today read.
    fn of_today(&self) -> [(&'static str, Option<f64>); 3] {
        [
            ("lookup_ms", self.lookup_ms),
            ("server_ms", self.server_ms),
            ("resumed_percent", self.resumed_percent),
        ]
    }
}

/// The columns of appendix A, distributed over this many servers.
fn dealt_out(servers: usize, scale: f64) -> Vec<Vec<u64>> {
    let mut sizes = vec![Vec::new(); servers];
    for (column, objects) in APPENDIX_A.iter().enumerate() {
        sizes[column % servers].extend(objects.iter().map(|bytes| scaled(*bytes, scale)));
    }
    sizes
}

impl AppParameters for Parameters {
    several_servers!();
    own_tcp!();

    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        if self.is_of_today() {
            return self.browser(server).into();
        }
        let sizes = self.sizes();
        let connections = sizes.len() * self.connections_per_server as usize;
        let user = || User {
            page_start: Time::ZERO,
            loading_html: false,
            opened: connections,
            asked: vec![0; sizes.len()],
            missing: 0,
            fetching: vec![0; connections],
        };
        Web {
            servers: self.servers.iter().map(|name| server(name)).collect(),
            html_bytes: self.html_bytes(),
            connections_per_server: self.connections_per_server as usize,
            open_gap: Time::from_secs_f64(self.open_gap_ms / 1e3),
            request_bytes: self.request_bytes,
            pause: Time::from_secs_f64(self.pause_s),
            agenda: Agenda::new(self.users, self.start_s, self.start_spread_s),
            users: (0..self.users).map(|_| user()).collect(),
            sizes,
            pages: Vec::new(),
        }
        .into()
    }

    fn transport(&self) -> Option<Transport> {
        self.is_of_today().then(|| match self.protocol() {
            Protocol::H3 => Transport::Quic,
            Protocol::H1 | Protocol::H2 | Protocol::Mixed => Transport::Tcp,
        })
    }

    fn mixes_in_quic(&self) -> bool {
        self.is_of_today() && self.protocol() == Protocol::Mixed
    }

    fn largest_datagram(&self) -> u16 {
        if self.is_of_today() { ANSWER } else { 0 }
    }

    fn hears_datagrams(&self) -> bool {
        self.is_of_today()
    }

    fn check(&self) -> Faults {
        let mut faults = Faults::default();
        if !self.is_of_today() {
            for (key, value) in self.of_today().into_iter().filter_map(|(key, of)| Some((key, of?)))
            {
                let allowed = "only with protocol h2, h3 or mixed, or objects of kind almanac2025";
                faults.add(Fault::found(key, value, allowed));
            }
            return faults;
        }
        if self.open_gap_ms > 0.0 {
            let allowed = "0, or protocol h1 with the page models of the studies";
            faults.add(Fault::found("open_gap_ms", self.open_gap_ms, allowed));
        }
        if let (Some(bytes), Objects::Almanac2025 {}) = (self.html_bytes, &self.objects) {
            let allowed = "only with the page models of the studies; almanac2025 draws it";
            faults.add(Fault::found("html_bytes", bytes, allowed));
        }
        if let Some(transport) = self.tcp.transport {
            let found = if transport == Transport::Quic { "quic" } else { "tcp" };
            let found = format!("{found} with protocol {}", self.protocol().name());
            let allowed = "left out, since the protocol chooses it";
            faults.add(Fault::found("tcp.transport", found, allowed));
        }
        faults
    }

    /// White & Padden 2012 table 1: BSD TCP with SACK, which in ns-2 is FullTcp/Sack. The page load
    /// time in the paper excludes Nagle's algorithm (docs/transport.md).
    fn usual_tcp(&self, dialect: Dialect) -> TcpOptions {
        match dialect {
            Dialect::Ns2 => TcpOptions { nagle: Some(false), ..TcpOptions::full_sack() },
            Dialect::Rfc | Dialect::Linux => TcpOptions::default(),
        }
    }

    fn load(&self, seconds: f64) -> Load {
        let users = f64::from(self.users);
        let connections = match (&self.objects, self.protocol()) {
            // The largest pages have hundreds of objects.
            (Objects::Almanac2025 {}, Protocol::H1) => 100.0,
            (Objects::Almanac2025 {}, _) => 30.0,
            (_, Protocol::H2 | Protocol::H3) => self.servers.len() as f64,
            _ => f64::from(self.connections_per_server) * self.servers.len() as f64,
        };
        Load {
            connections: users * connections,
            opened: users * connections * (1.0 + seconds / self.pause_s.max(1e-2)),
            stream_bytes: f64::INFINITY,
            kept_bytes: users
                * (128.0 + 8.0 * connections + 8.0 * self.servers.len() as f64 + self.kept_bytes()),
            ..Load::default()
        }
    }

    fn quality(&self) -> Quality {
        Quality::Pages
    }
}

/// A user and the page being loaded.
struct User {
    page_start: Time,
    loading_html: bool,
    /// Connections opened since the HTML came.
    opened: usize,
    /// Objects requested so far, by server.
    asked: Vec<usize>,
    /// Objects that have not come yet.
    missing: usize,
    /// Size of the object that each of the user's connections fetches.
    fetching: Vec<u64>,
}

/// Users who load pages. A connection's tag is the user's number times the connections of a user,
/// plus the number of the connection, counted server by server.
pub struct Web {
    servers: Vec<u16>,
    html_bytes: u64,
    sizes: Vec<Vec<u64>>,
    connections_per_server: usize,
    open_gap: Time,
    request_bytes: u64,
    pause: Time,
    /// When each user starts the next page, or opens its next connection.
    agenda: Agenda,
    users: Vec<User>,
    pages: Vec<LoadedPage>,
}

impl Web {
    fn connections(&self) -> usize {
        self.servers.len() * self.connections_per_server
    }

    /// Starts the pages and opens the connections that are due, and sets the timer.
    fn start_due(&mut self, context: &mut AppContext) {
        while let Some(person) = self.agenda.take(context) {
            let person = person as usize;
            if self.users[person].opened < self.connections() {
                self.open_more(person, context);
            } else {
                self.start_page(person, context);
            }
        }
        self.agenda.ask(context);
    }

    fn start_page(&mut self, person: usize, context: &mut AppContext) {
        let user = &mut self.users[person];
        user.page_start = context.now;
        user.loading_html = true;
        user.missing = self.sizes.iter().map(Vec::len).sum();
        user.asked.fill(0);
        self.open(person, 0, self.html_bytes, context);
    }

    fn open(&mut self, person: usize, connection: usize, bytes: u64, context: &mut AppContext) {
        self.users[person].fetching[connection] = bytes;
        let tag = (person * self.connections() + connection) as u32;
        let server = self.servers[connection / self.connections_per_server];
        context.ask(Command::Open { server, tag });
    }

    /// Requests the next object of this connection's server, if there is one left.
    fn fetch_next(&mut self, person: usize, connection: usize, context: &mut AppContext) {
        let server = connection / self.connections_per_server;
        let next = self.users[person].asked[server];
        if let Some(&bytes) = self.sizes[server].get(next) {
            self.users[person].asked[server] += 1;
            self.open(person, connection, bytes, context);
        }
    }

    fn object_is_there(&mut self, person: usize, connection: usize, context: &mut AppContext) {
        if self.users[person].loading_html {
            self.users[person].loading_html = false;
            self.users[person].opened = 0;
            self.open_more(person, context);
            return;
        }
        self.users[person].missing -= 1;
        if self.users[person].missing == 0 {
            self.page_is_there(person, context);
        } else {
            self.fetch_next(person, connection, context);
        }
    }

    /// Opens the page's next connection, and all that follow without a gap: one to each server in
    /// turn, as §3.2.3 spreads the objects.
    fn open_more(&mut self, person: usize, context: &mut AppContext) {
        while self.users[person].opened < self.connections() {
            let number = self.users[person].opened;
            self.users[person].opened += 1;
            let (round, server) = (number / self.servers.len(), number % self.servers.len());
            self.fetch_next(person, server * self.connections_per_server + round, context);
            if self.open_gap > Time::ZERO && number + 1 < self.connections() {
                self.agenda.set(person as u32, context.now + self.open_gap);
                return self.agenda.ask(context);
            }
        }
    }

    fn page_is_there(&mut self, person: usize, context: &mut AppContext) {
        let connections = self.connections();
        let user = &mut self.users[person];
        user.opened = connections;
        self.pages.push(LoadedPage::new(user.page_start, context.now - user.page_start));
        self.agenda.set(person as u32, context.now + self.pause);
        self.agenda.ask(context);
    }

    fn on_connection(&mut self, tag: u32, event: Event, context: &mut AppContext) {
        let person = tag as usize / self.connections();
        let connection = tag as usize % self.connections();
        let size = self.users[person].fetching[connection];
        match event {
            Event::Opening(_, id) => context.request(id, self.request_bytes, size),
            Event::Received(_, id, End::Server) => {
                context.ask(Command::Send(id, End::Server, size));
                context.ask(Command::Close(id, End::Server));
            }
            Event::Received(_, id, End::Home) => {
                context.ask(Command::Close(id, End::Home));
                self.object_is_there(person, connection, context);
            }
            _ => {}
        }
    }
}

impl Model for Web {
    fn start(&self, _rng: &mut Rng) -> Time {
        self.agenda.start()
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        match event {
            Event::Timer => self.start_due(context),
            Event::Opening(tag, ..)
            | Event::Established(tag, ..)
            | Event::Received(tag, ..)
            | Event::Acknowledged(tag, ..) => self.on_connection(tag, event, context),
            Event::Message(..) | Event::Datagram(_) | Event::Shapers(_) | Event::Carried(..) => {}
        }
    }

    fn done(&self, _now: Time) -> Done {
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

    fn page(keys: &str) -> (u64, u64) {
        let web: Parameters =
            toml::from_str(&format!("servers = ['a', 'b', 'c', 'd']\n{keys}")).unwrap();
        (web.html_bytes(), web.sizes().concat().iter().sum())
    }

    #[test]
    fn percentages_are_shares() {
        for (percent, share) in [("0", 0.0), ("25", 0.25), ("100", 1.0)] {
            let keys = format!("servers = ['a']\nresumed_percent = {percent}");
            let web: Parameters = toml::from_str(&keys).unwrap();
            assert_eq!(web.browser(&|_| 0).plan.resumed_share, share);
        }
    }

    #[test]
    fn the_pages_of_the_studies() {
        // 100 objects of 25 kB; 614 402 B; and those and their HTML times 9.766 for 7 MB: the HTML
        // 1 000 000 and the objects 6 000 020, each rounded to a byte, so within 50 B.
        assert_eq!(page("objects = { kind = 'fixed' }"), (100_000, 2_500_000));
        assert_eq!(page("objects = { kind = 'appendix_a' }"), (102_400, 614_402));
        let (html, objects) = page("objects = { kind = 'white2014' }");
        assert!(html.abs_diff(1_000_000) < 10 && (html + objects).abs_diff(7_000_000) < 51);
        assert_eq!(page("html_bytes = 7\nobjects = { kind = 'appendix_a', scale = 2 }").0, 7);
    }
}
