//! Browsers of today, which load pages over HTTP/1.1, HTTP/2 and HTTP/3.
//!
//! A page of a site that the browser has not visited begins with the look-up of its host's name: a datagram to the page's
//! first server, which answers as its resolver does. Then a connection is opened: with TCP and TLS 1.3 the request
//! leaves after two round trips, with QUIC after one. The objects follow as the page says what each waits for, over one
//! connection for all hosts of an origin, or with HTTP/1.1 over several, each of which carries an object at a time.
//! Servers answer after `server_ms`. When the last object has come, the page is loaded, its connections are closed, and
//! the next one follows after a pause.
//!
//! Left out: what a device needs to compute, caches, connections that later pages use again, and data in the first
//! packets of a handshake (0-RTT).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::web_page::{After, Http, Kind, Objects, Page, Protocol, Shares};
use super::{AppContext, Command, ConnectionId, Done, End, Event, Label, LoadedPage, Model};
use sojourn_engine::packet::Direction;
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;
use sojourn_transport::{Message, Transport, tls};

/// A name's look-up and its answer in Ethernet frames: messages of 47 and 110 bytes (RFC 1035 §4; RFC 6891 §6.1.2; an alias
/// and an address), with the headers of UDP, IPv4 and Ethernet.
const QUERY: u16 = 47 + 46;
pub(super) const ANSWER: u16 = 110 + 46;
/// Chromium asks again after a second, and then after twice the time.
const LOOKUP_TIMEOUT: Time = Time::from_s(1);
/// RFC 9113 §6.5.2 recommends that a connection carries no fewer streams at once, and servers allow as many.
const MOST_STREAMS: usize = 100;
/// Streams of the handshake of TLS over TCP.
const HELLO: u32 = u32::MAX;
const FLIGHT: u32 = u32::MAX - 1;
const FINISHED: u32 = u32::MAX - 2;

/// What a browser does, after defaults.
pub(super) struct Plan {
    pub objects: Objects,
    /// With the studies' objects: those of the document, and of each server.
    pub html_bytes: u64,
    pub sizes: Vec<Vec<u64>>,
    pub servers: Vec<u16>,
    pub protocol: Protocol,
    /// With HTTP/1.1, connections to a host.
    pub connections_per_host: usize,
    pub request_bytes: u64,
    pub lookup: Time,
    pub server: Time,
    pub resumed_share: f64,
    pub pause: Time,
    pub start: Time,
    pub start_spread: Time,
}

impl Plan {
    fn page(&self, rng: &mut Rng) -> Page {
        let http = |rng: &mut Rng, shares: Shares| match self.protocol {
            Protocol::H1 => Http::One,
            Protocol::H2 => Http::Two,
            Protocol::H3 => Http::Three,
            Protocol::Mixed => shares.draw(rng),
        };
        match self.objects {
            Objects::Almanac2025 {} => Page::almanac(&self.servers, http, rng),
            _ => Page::named(self.html_bytes, &self.sizes, &self.servers, http, rng),
        }
    }
}

/// What is due at a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// A user opens a page.
    Page(u32),
    /// A look-up may have been lost.
    LookUpAgain(Lookup, u32),
    /// The resolver answers.
    Resolve(Lookup),
    /// A server answers the request for an object.
    Respond { tag: u32, object: u32 },
}

/// The look-up of a host of a user's page, by the number of the page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Lookup {
    user: u32,
    page: u32,
    host: u32,
}

/// A host of the page.
#[derive(Clone, Default)]
struct Host {
    is_known: bool,
    /// Objects that wait for its address.
    waiting: Vec<u32>,
}

/// The connections of an origin, and the objects that wait for one: the most urgent first, then in the page's order.
#[derive(Clone, Default)]
struct Pool {
    tags: Vec<u32>,
    waiting: BTreeSet<(u8, u32)>,
}

/// A connection.
struct Connection {
    user: u32,
    origin: u32,
    id: Option<ConnectionId>,
    /// Its handshake is over, as far as requests wait for it.
    is_ready: bool,
    is_resumed: bool,
    under_way: usize,
}

/// A user, and the page that is being loaded.
#[derive(Default)]
struct User {
    number: u32,
    start: Time,
    page: Page,
    hosts: Vec<Host>,
    pools: Vec<Pool>,
    missing: usize,
    /// Objects that are missing of what is seen first.
    blocking: usize,
    first_render: Option<Time>,
}

/// Browsers of several users. The tag of a connection is a number of its own.
pub struct Browser {
    pub(super) plan: Plan,
    users: Vec<User>,
    due: BinaryHeap<Reverse<(Time, u64, Due)>>,
    planned: u64,
    has_begun: bool,
    connections: BTreeMap<u32, Connection>,
    opened: u32,
    datagrams: u64,
    /// Look-ups and answers that are under way, by the number of the datagram.
    lookups: BTreeMap<u64, Lookup>,
    pages: Vec<LoadedPage>,
}

impl Browser {
    pub(super) fn new(plan: Plan, users: u32) -> Self {
        Self {
            plan,
            users: (0..users).map(|_| User::default()).collect(),
            due: BinaryHeap::new(),
            planned: 0,
            has_begun: false,
            connections: BTreeMap::new(),
            opened: 0,
            datagrams: 0,
            lookups: BTreeMap::new(),
            pages: Vec::new(),
        }
    }

    fn plan(&mut self, at: Time, due: Due) {
        self.planned += 1;
        self.due.push(Reverse((at, self.planned, due)));
    }

    fn begin(&mut self, context: &mut AppContext) {
        self.has_begun = true;
        for user in 0..self.users.len() as u32 {
            let wait = self.plan.start_spread.scaled(context.rng.uniform());
            self.plan(self.plan.start + wait, Due::Page(user));
        }
    }

    fn act(&mut self, due: Due, context: &mut AppContext) {
        match due {
            Due::Page(user) => self.start_page(user, context),
            Due::LookUpAgain(lookup, times) if self.is_open(&lookup) => {
                self.look_up(lookup, times, context);
            }
            Due::LookUpAgain(..) => {}
            Due::Resolve(lookup) => self.send(lookup, Direction::Down, ANSWER, context),
            Due::Respond { tag, object } => self.respond(tag, object, context),
        }
    }

    fn start_page(&mut self, number: u32, context: &mut AppContext) {
        let page = self.plan.page(context.rng);
        let user = &mut self.users[number as usize];
        *user = User {
            number: user.number + 1,
            start: context.now,
            hosts: vec![Host::default(); page.hosts.len()],
            pools: vec![Pool::default(); page.origins.len()],
            missing: page.objects.len(),
            blocking: page.objects.iter().filter(|of| of.kind.blocks()).count(),
            first_render: None,
            page,
        };
        self.want(number, 0, context);
    }

    /// Nothing that an object waits for is missing: it is requested once its host's address is known.
    fn want(&mut self, number: u32, object: u32, context: &mut AppContext) {
        let user = &mut self.users[number as usize];
        let host = user.page.objects[object as usize].host;
        let state = &mut user.hosts[host as usize];
        if state.is_known {
            self.enqueue(number, object, context);
            return;
        }
        state.waiting.push(object);
        if state.waiting.len() == 1 {
            let page = user.number;
            self.look_up(Lookup { user: number, page, host }, 0, context);
        }
    }

    fn look_up(&mut self, lookup: Lookup, times: u32, context: &mut AppContext) {
        let patience = LOOKUP_TIMEOUT.times(1 << times.min(16));
        self.plan(context.now + patience, Due::LookUpAgain(lookup, times + 1));
        self.send(lookup, Direction::Up, QUERY, context);
    }

    fn send(&mut self, lookup: Lookup, direction: Direction, size: u16, context: &mut AppContext) {
        self.lookups.insert(self.datagrams, lookup);
        self.datagrams += 1;
        let server = self.plan.servers[0];
        let label = Label::default();
        context.ask(Command::Datagram { server, direction, size, frame: None, label });
    }

    /// Does a page still wait for this address?
    fn is_open(&self, lookup: &Lookup) -> bool {
        let user = &self.users[lookup.user as usize];
        user.number == lookup.page && !user.hosts[lookup.host as usize].is_known
    }

    fn on_datagram(&mut self, number: u64, direction: Direction, context: &mut AppContext) {
        let Some(lookup) = self.lookups.remove(&number) else { return };
        match direction {
            Direction::Up => self.plan(context.now + self.plan.lookup, Due::Resolve(lookup)),
            Direction::Down if self.is_open(&lookup) => {
                let host = &mut self.users[lookup.user as usize].hosts[lookup.host as usize];
                host.is_known = true;
                for object in std::mem::take(&mut host.waiting) {
                    self.enqueue(lookup.user, object, context);
                }
            }
            Direction::Down => {}
        }
    }

    fn enqueue(&mut self, number: u32, object: u32, context: &mut AppContext) {
        let user = &mut self.users[number as usize];
        let of = user.page.objects[object as usize];
        let origin = user.page.hosts[of.host as usize];
        user.pools[origin as usize].waiting.insert((of.kind.priority().0, object));
        self.dispatch(number, origin, context);
    }

    /// Requests what waits over connections that are free, and opens others as far as there may be more.
    fn dispatch(&mut self, number: u32, origin: u32, context: &mut AppContext) {
        let user = &mut self.users[number as usize];
        let of = user.page.origins[origin as usize];
        let pool = &mut user.pools[origin as usize];
        let (most_connections, most_objects) = match of.http {
            Http::One => (self.plan.connections_per_host * of.hosts as usize, 1),
            Http::Two | Http::Three => (1, MOST_STREAMS),
        };
        for tag in &pool.tags {
            let Some(connection) = self.connections.get_mut(tag) else { continue };
            while connection.is_ready
                && connection.under_way < most_objects
                && let Some((_, object)) = pool.waiting.pop_first()
                && let Some(id) = connection.id
            {
                connection.under_way += 1;
                let kind = user.page.objects[object as usize].kind;
                write(id, End::Home, object, self.plan.request_bytes, kind, context);
            }
        }
        let is_opening = |tag: &&u32| self.connections.get(tag).is_some_and(|of| !of.is_ready);
        let opening = pool.tags.iter().filter(is_opening).count();
        let wanted = pool.waiting.len().saturating_sub(opening);
        let more = wanted.min(most_connections - pool.tags.len());
        for _ in 0..more {
            let tag = self.opened;
            self.opened = self.opened.wrapping_add(1);
            pool.tags.push(tag);
            let is_resumed = context.rng.uniform() < self.plan.resumed_share;
            let (id, is_ready, under_way) = (None, false, 0);
            let connection =
                Connection { user: number, origin, id, is_ready, is_resumed, under_way };
            self.connections.insert(tag, connection);
            let over = if of.http == Http::Three { Transport::Quic } else { Transport::Tcp };
            let (server, unsent) = (of.server, None);
            context.ask(Command::OpenStreams { server, tag, over, is_resumed, unsent });
        }
    }

    fn on_opening(&mut self, tag: u32, id: ConnectionId, context: &mut AppContext) {
        let Some(connection) = self.connections.get_mut(&tag) else { return };
        connection.id = Some(id);
        let user = &self.users[connection.user as usize];
        if user.page.origins[connection.origin as usize].http == Http::Three {
            self.is_ready(tag, context); // QUIC has the handshake itself, and keeps what is to follow
        } else {
            write(id, End::Home, HELLO, tls::CLIENT_HELLO, Kind::Document, context);
        }
    }

    fn is_ready(&mut self, tag: u32, context: &mut AppContext) {
        let Some(connection) = self.connections.get_mut(&tag) else { return };
        connection.is_ready = true;
        let (user, origin) = (connection.user, connection.origin);
        self.dispatch(user, origin, context);
    }

    /// A message has come to the server.
    fn at_server(&mut self, tag: u32, id: ConnectionId, stream: u32, context: &mut AppContext) {
        let Some(connection) = self.connections.get(&tag) else { return };
        match stream {
            HELLO => {
                let is_resumed = connection.is_resumed;
                let bytes = if is_resumed { tls::RESUMED_FLIGHT } else { tls::SERVER_FLIGHT };
                write(id, End::Server, FLIGHT, bytes, Kind::Document, context);
            }
            FINISHED => {}
            object => self.plan(context.now + self.plan.server, Due::Respond { tag, object }),
        }
    }

    fn respond(&mut self, tag: u32, object: u32, context: &mut AppContext) {
        let Some(Connection { user, id: Some(id), .. }) = self.connections.get(&tag) else {
            return;
        };
        let of = self.users[*user as usize].page.objects[object as usize];
        write(*id, End::Server, object, of.bytes, of.kind, context);
    }

    /// A message has come to the browser.
    fn at_home(&mut self, tag: u32, id: ConnectionId, stream: u32, context: &mut AppContext) {
        if stream == FLIGHT {
            write(id, End::Home, FINISHED, tls::FINISHED, Kind::Document, context);
            return self.is_ready(tag, context);
        }
        let Some(connection) = self.connections.get_mut(&tag) else { return };
        connection.under_way -= 1;
        let (user, origin) = (connection.user, connection.origin);
        self.object_is_there(user, stream, context);
        if self.connections.contains_key(&tag) {
            self.dispatch(user, origin, context);
        }
    }

    fn object_is_there(&mut self, number: u32, object: u32, context: &mut AppContext) {
        let user = &mut self.users[number as usize];
        let mut over = vec![After::Object(object)];
        if object == 0 {
            over.push(After::Document);
        }
        if user.page.objects[object as usize].kind.blocks() {
            user.blocking -= 1;
            if user.blocking == 0 {
                user.first_render = Some(context.now - user.start);
                over.push(After::Render);
            }
        }
        user.missing -= 1;
        if user.missing == 0 {
            return self.page_is_there(number, context);
        }
        for after in over {
            let next = self.users[number as usize].page.after.remove(&after);
            for object in next.into_iter().flatten() {
                self.want(number, object, context);
            }
        }
    }

    fn page_is_there(&mut self, number: u32, context: &mut AppContext) {
        let user = &mut self.users[number as usize];
        let (start, first_render) = (user.start, user.first_render);
        self.pages.push(LoadedPage { start, took: context.now - start, first_render });
        for tag in user.pools.iter().flat_map(|pool| &pool.tags) {
            match self.connections.remove(tag) {
                Some(Connection { id: Some(id), is_ready: true, .. }) => {
                    context.ask(Command::Close(id, End::Server));
                    context.ask(Command::Close(id, End::Home));
                }
                Some(Connection { id: Some(id), .. }) => context.ask(Command::Abort(id)),
                _ => {}
            }
        }
        self.lookups.retain(|_, lookup| lookup.user != number);
        self.plan(context.now + self.plan.pause, Due::Page(number));
    }
}

/// Sends a message of a stream; those of the handshake are as urgent as the document.
fn write(
    id: ConnectionId,
    end: End,
    stream: u32,
    bytes: u64,
    kind: Kind,
    context: &mut AppContext,
) {
    let (urgency, incremental) = kind.priority();
    context.ask(Command::Write(id, end, Message { stream, bytes, urgency, incremental }));
}

impl Model for Browser {
    fn start(&self, _rng: &mut Rng) -> Time {
        self.plan.start
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        match event {
            Event::Timer if !self.has_begun => self.begin(context),
            Event::Opening(tag, id) => self.on_opening(tag, id, context),
            Event::Message(tag, id, End::Server, stream) => {
                self.at_server(tag, id, stream, context);
            }
            Event::Message(tag, id, End::Home, stream) => self.at_home(tag, id, stream, context),
            Event::Datagram(arrived) => {
                self.on_datagram(arrived.number, arrived.direction, context);
            }
            Event::Timer
            | Event::Established(..)
            | Event::Received(..)
            | Event::Acknowledged(..)
            | Event::Shapers(_)
            | Event::Carried(..) => {}
        }
        while let Some(Reverse((at, _, due))) = self.due.peek().copied()
            && at <= context.now
        {
            self.due.pop();
            self.act(due, context);
        }
        if let Some(Reverse((at, ..))) = self.due.peek() {
            context.ask(Command::Wake(*at));
        }
    }

    fn done(&self, _now: Time) -> Done {
        Done { pages: self.pages.clone(), ..Done::default() }
    }
}
