//! A program as a traffic model.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use sojourn_engine::packet::{Direction, Ecn, FULL_PACKET};
use sojourn_engine::record::Gauges;
use sojourn_engine::rng::Rng;
use sojourn_engine::units::Time;
use sojourn_scenario::apps::{
    Answer, App, AppContext, AppParameters, Arrived, Command, ConnectionId, Done, End, Event,
    Frame, Label, Load, LoadedPage, Model, OwnScore, Quality, ServerKeys,
};
use sojourn_transport::TcpOptions;

use super::answers::{LEAST_TIMER, Refused, Worker, between, field, is_now, us};
use super::declaration::{Declaration, Score, Way};
use super::hook::{COMMAND_NUMBERS, EXTENDED, Hook, command};
use super::registered::Registered;
use super::setting::in_short;
use super::values::Values;

/// What traffic of all programs has.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Common {
    /// Server at the other end. Default: the first of `servers`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    server: String,
    /// Time at which it starts, in s.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    start_s: f64,
    /// TCP options of its connections that differ from the scenario's `tcp`.
    #[serde(default)]
    tcp: TcpOptions,
}

/// The parameters of traffic.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Source {
    #[serde(flatten)]
    common: Common,
    #[serde(flatten)]
    values: Values,
}

impl Source {
    fn declaration(&self) -> &Declaration {
        self.values.part.declaration()
    }

    pub(crate) fn take(
        part: &Arc<Registered>,
        table: &mut Map<String, Value>,
    ) -> serde_json::Result<Self> {
        let (common, values) = Values::take_beside(part, table)?;
        Ok(Self { common, values })
    }
}

impl AppParameters for Source {
    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        App::Outside(Box::new(Traffic {
            server: server(&self.common.server),
            values: self.values.clone(),
            start: Time::from_secs_f64(self.common.start_s),
            worker: None,
            connections: BTreeMap::new(),
            acknowledged: 0,
            sent: Sent::default(),
            pages: Vec::new(),
        }))
    }

    fn servers(&self) -> Vec<(String, &str)> {
        vec![("server".to_owned(), &self.common.server)]
    }

    fn server_keys(&mut self) -> ServerKeys<'_> {
        ServerKeys::One(&mut self.common.server)
    }

    fn tcp(&self) -> Option<&TcpOptions> {
        let opens = self.declaration().has(Hook::OnOpen);
        opens.then_some(&self.common.tcp)
    }

    fn largest_datagram(&self) -> u16 {
        FULL_PACKET as u16
    }

    fn quality(&self) -> Quality {
        match &self.declaration().score {
            None => Quality::Throughput,
            Some(Score::Call) => Quality::Voice,
            Some(Score::Game) => Quality::Game,
            Some(Score::Frames) => Quality::VideoCall,
            Some(Score::Pages) => Quality::Pages,
            Some(Score::Own(_)) => Quality::Own,
        }
    }

    fn load(&self, _seconds: f64) -> Load {
        let direction = self.declaration().direction.map(|way| match way {
            Way::Up => Direction::Up,
            Way::Down => Direction::Down,
        });
        Load { connections: 1.0, opened: 1.0, direction, ..Load::default() }
    }

    fn plays_adaptively(&self) -> bool {
        self.declaration().score == Some(Score::Call)
    }

    fn sends_frames(&self) -> bool {
        self.declaration().score == Some(Score::Frames)
    }

    fn hears_datagrams(&self) -> bool {
        [Hook::OnDatagram, Hook::OnLost].into_iter().any(|hook| self.declaration().has(hook))
    }

    fn answer(&self) -> Option<Answer> {
        self.declaration().two_way.then_some(Answer::OwnPace)
    }

    fn start_s(&self) -> Option<f64> {
        Some(self.common.start_s)
    }
}

/// A traffic model of plain numbers.
struct Traffic {
    server: u16,
    values: Values,
    start: Time,
    /// Made at the first event, when the random stream is there.
    worker: Option<Worker>,
    /// Those that can be used, by the numbers that the part chose.
    connections: BTreeMap<u32, ConnectionId>,
    /// How often all that an end was to send was acknowledged.
    acknowledged: u64,
    sent: Sent,
    /// Pages loaded.
    pages: Vec<LoadedPage>,
}

/// Datagrams that were sent, and what the next ones are.
#[derive(Default)]
struct Sent {
    count: u64,
    /// Those that have not arrived, by the end that sent them, with the number of their frame.
    under_way: [VecDeque<(u64, Option<u32>)>; 2],
    frames: [Option<Frame>; 2],
    /// The last frames of each end.
    made: [BTreeMap<u32, MadeFrame>; 2],
    labels: [Label; 2],
}

/// A frame of which something was sent.
struct MadeFrame {
    /// Packets that it has.
    packets: u32,
    /// Those that have arrived: more where some were sent again.
    arrived: u32,
}

/// Frames that an end remembers: results know no frame once 32 newer ones have begun to come.
const REMEMBERED: usize = 1000;

impl Sent {
    fn add(&mut self, end: End) -> Result<(), Refused> {
        let frame = self.frames[end as usize].map(|frame| frame.number);
        let made = frame.and_then(|number| Some((number, self.made[end as usize].get(&number)?)));
        // One that is sent again, or parity, may come beside those that it needs.
        if let Some((number, MadeFrame { packets, arrived })) = made
            && *arrived >= 2 * packets
        {
            return Err(Refused(format!(
                "found another datagram of frame {number}, which has {packets} and of which {arrived} have \
                 come; allowed: a number of its own for each frame"
            )));
        }
        self.under_way[end as usize].push_back((self.count, frame));
        self.count += 1;
        Ok(())
    }

    /// The next datagrams of an end are parts of this frame.
    fn begin(&mut self, end: End, frame: Frame) -> Result<(), Refused> {
        let Frame { number, packets } = frame;
        let made = &mut self.made[end as usize];
        let before = made.entry(number).or_insert(MadeFrame { packets, arrived: 0 }).packets;
        if before != packets {
            return Err(Refused(format!(
                "found a datagram of frame {number} with {packets} as the number of its datagrams, and one \
                 with {before} before; allowed: the same with all, and a number of its own for each frame"
            )));
        }
        if made.len() > REMEMBERED {
            made.pop_first();
        }
        Ok(())
    }

    /// One has arrived: those that were sent before it, and have not, are missing.
    fn arrived(&mut self, direction: Direction, number: u64) -> Vec<u64> {
        let end = End::sending(direction) as usize;
        let under_way = &mut self.under_way[end];
        let missing = under_way.partition_point(|(one, _)| *one < number);
        let missing = under_way.drain(..missing).map(|(one, _)| one).collect();
        if let Some((_, frame)) = under_way.pop_front_if(|(one, _)| *one == number)
            && let Some(made) = frame.and_then(|frame| self.made[end].get_mut(&frame))
        {
            made.arrived += 1;
        }
        missing
    }
}

impl Traffic {
    /// The score by its own scale; none where the gauge has no value.
    fn own_score(&self) -> Option<OwnScore> {
        let part = &self.values.part;
        let Some(Score::Own(scale)) = &part.declaration().score else { return None };
        let place = part.declaration().gauges.iter().position(|of| of.name == scale.gauge)?;
        let mut shown = Gauges::default();
        self.worker.as_ref()?.gauges(&mut shown);
        let (metric, _) = part.gauges[place];
        let value = shown.get(metric).filter(|value| value.is_finite())?;
        Some(OwnScore { metric, value, level: scale.level(value) })
    }

    /// The hooks for an event, and their numbers.
    fn hooks(&mut self, event: Event, now: Time) -> Vec<(Hook, Vec<f64>)> {
        let at = us(now);
        vec![match event {
            Event::Timer => (Hook::OnTimer, vec![at]),
            Event::Opening(tag, id) => {
                self.connections.insert(tag, id);
                (Hook::OnOpen, vec![at, tag.into()])
            }
            Event::Received(tag, _, end) => (Hook::OnReceived, vec![at, tag.into(), number(end)]),
            Event::Acknowledged(tag, _, end) => {
                self.acknowledged += 1;
                (Hook::OnAcknowledged, vec![at, tag.into(), number(end)])
            }
            Event::Datagram(arrived) => return self.hear(&arrived, now),
            Event::Established(..)
            | Event::Message(..)
            | Event::Shapers(_)
            | Event::Carried(..) => return Vec::new(),
        }]
    }

    fn hear(&mut self, arrived: &Arrived, now: Time) -> Vec<(Hook, Vec<f64>)> {
        let at_end = number(End::sending(arrived.direction.reversed()));
        let missing = self.sent.arrived(arrived.direction, arrived.number).into_iter();
        let lost = missing.map(|missing| (Hook::OnLost, vec![us(now), at_end, missing as f64]));
        let numbers = vec![
            us(now),
            at_end,
            arrived.number as f64,
            arrived.size.into(),
            us(now.since(arrived.sent_at)),
            field(arrived.ecn),
            arrived.dscp.into(),
        ];
        lost.chain([(Hook::OnDatagram, numbers)]).collect()
    }

    /// Calls a hook that the part has.
    fn call(&mut self, hook: Hook, numbers: &[f64], context: &mut AppContext) {
        let Some(worker) = self.worker.as_mut().filter(|worker| worker.has(hook)) else { return };
        let mut orders = Orders {
            server: self.server,
            now: context.now,
            is_extended: self.values.part.declaration().interface == EXTENDED,
            connections: &mut self.connections,
            sent: &mut self.sent,
            pages: &mut self.pages,
        };
        let read = |answers: &[f64]| orders.read(hook, answers);
        if let Some(commands) = worker.call((hook, context.now), numbers, read) {
            commands.into_iter().for_each(|command| context.ask(command));
        }
    }
}

impl Model for Traffic {
    fn start(&self, _rng: &mut Rng) -> Time {
        self.start
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        let hooks = self.hooks(event, context.now);
        if self.worker.is_none() && !hooks.is_empty() {
            self.worker = Some(Worker::start(&self.values, context.rng.bits()));
        }
        for (hook, numbers) in hooks {
            self.call(hook, &numbers, context);
        }
    }

    fn done(&self, _now: Time) -> Done {
        let pages = self.pages.clone();
        let own = self.own_score();
        Done { pages, transfers_completed: Some(self.acknowledged), own, ..Done::default() }
    }

    fn gauges(&self, out: &mut Gauges) {
        match &self.worker {
            Some(worker) => worker.gauges(out),
            None => {
                let names = &self.values.part.gauges;
                names.iter().for_each(|(name, unit)| out.set(name, unit, f64::NAN));
            }
        }
    }
}

/// Reads commands.
struct Orders<'a> {
    server: u16,
    now: Time,
    is_extended: bool,
    connections: &'a mut BTreeMap<u32, ConnectionId>,
    sent: &'a mut Sent,
    pages: &'a mut Vec<LoadedPage>,
}

impl Orders<'_> {
    fn read(&mut self, hook: Hook, answers: &[f64]) -> Result<Vec<Command>, Refused> {
        let (rows, rest) = answers.as_chunks::<COMMAND_NUMBERS>();
        if !rest.is_empty() {
            let (found, each) = (answers.len(), COMMAND_NUMBERS);
            return Err(Refused(format!(
                "found {found} numbers of commands; allowed: {each} for each"
            )));
        }
        let mut commands = Vec::new();
        rows.iter().try_for_each(|row| self.read_one(hook, row, &mut commands))?;
        let is_again = |row: &[f64; COMMAND_NUMBERS]| row[..2] == [command::WAKE, us(self.now)];
        if hook == Hook::OnTimer && rows.iter().any(is_again) {
            return Err(is_now(us(self.now)));
        }
        Ok(commands)
    }

    fn read_one(
        &mut self,
        hook: Hook,
        row: &[f64; COMMAND_NUMBERS],
        out: &mut Vec<Command>,
    ) -> Result<(), Refused> {
        let [what, first, second, third] = *row;
        match what {
            command::WAKE => out.push(Command::Wake(self.later(hook, first)?)),
            command::OPEN => {
                let (server, tag) = (self.server, tag(first)?);
                out.push(Command::Open { server, tag });
            }
            command::SEND => {
                let bytes = amount("bytes to send", third)?;
                out.push(Command::Send(self.open(first)?, end(second)?, bytes));
            }
            command::EXPECT => {
                let bytes = amount("bytes to expect", third)?;
                out.push(Command::Expect(self.open(first)?, end(second)?, bytes));
            }
            command::CLOSE => {
                let id = self.open(first)?;
                self.connections.remove(&tag(first)?);
                out.extend([End::Home, End::Server].map(|end| Command::Close(id, end)));
            }
            command::DATAGRAM => {
                let end = end(first)?;
                let size =
                    integer("bytes of a datagram", second, [LEAST_DATAGRAM, FULL_PACKET as f64])?;
                self.sent.add(end)?;
                out.push(Command::Datagram {
                    server: self.server,
                    direction: end.outward(),
                    size: size as u16,
                    frame: self.sent.frames[end as usize],
                    label: self.sent.labels[end as usize],
                });
            }
            command::FRAME if self.is_extended => {
                let number = whole("number of a frame", second, u32::MAX)?;
                let packets = whole("packets of a frame", third, MOST_PACKETS)?;
                let frame = (packets > 0).then_some(Frame { number, packets });
                let end = end(first)?;
                frame.map_or(Ok(()), |frame| self.sent.begin(end, frame))?;
                self.sent.frames[end as usize] = frame;
            }
            command::LABEL if self.is_extended => {
                let dscp = (second != -1.0).then(|| whole("code point", second, 63)).transpose()?;
                let ecn = (third != -1.0).then(|| ecn(third)).transpose()?;
                self.sent.labels[end(first)? as usize] =
                    Label { dscp: dscp.map(|dscp| dscp as u8), ecn };
            }
            command::PAGE if self.is_extended => {
                let start = between("start of a page in us", first, [0.0, us(self.now)])?;
                let took = between("time of a page in us", second, [0.0, us(self.now) - start])?;
                let [start, took] = [start, took].map(|us| Time::from_secs_f64(us / 1e6));
                self.pages.push(LoadedPage::new(start, took));
            }
            other => {
                let most = if self.is_extended { command::PAGE } else { command::DATAGRAM };
                let message =
                    format!("found {} as a command; allowed: 1 to {most}", in_short(other));
                return Err(Refused(message));
            }
        }
        Ok(())
    }

    /// A time of the timer, which cannot be over.
    fn later(&self, hook: Hook, at_us: f64) -> Result<Time, Refused> {
        let at_us = between("time of the timer in us", at_us, [us(self.now), f64::MAX])?;
        let least = if hook == Hook::OnTimer { LEAST_TIMER } else { Time::from_ps(1) };
        Ok(Time::from_secs_f64(at_us / 1e6).max(self.now + least))
    }

    fn open(&self, number: f64) -> Result<ConnectionId, Refused> {
        let id = self.connections.get(&tag(number)?).copied();
        id.ok_or_else(|| {
            Refused(format!(
                "found {} as connection; allowed: one for which on_open has come",
                in_short(number)
            ))
        })
    }
}

/// Packets of a frame.
const MOST_PACKETS: u32 = 100_000;

fn whole(what: &str, number: f64, most: u32) -> Result<u32, Refused> {
    integer(what, number, [0.0, most.into()]).map(|number| number as u32)
}

fn integer(what: &str, number: f64, ends: [f64; 2]) -> Result<f64, Refused> {
    let number = between(what, number, ends)?;
    match number.fract() == 0.0 {
        true => Ok(number),
        false => {
            let found = in_short(number);
            Err(Refused(format!("found {found} as {what}; allowed: a whole number")))
        }
    }
}

/// The ECN field that a datagram may leave with.
fn ecn(number: f64) -> Result<Ecn, Refused> {
    match number {
        0.0 => Ok(Ecn::NotEct),
        1.0 => Ok(Ecn::Ect1),
        2.0 => Ok(Ecn::Ect0),
        other => Err(Refused(format!(
            "found {} as ECN field; allowed: 0 Not-ECT, 1 ECT(1), 2 ECT(0)",
            in_short(other)
        ))),
    }
}

/// The smallest datagram on the wire, in bytes: an Ethernet frame's least.
const LEAST_DATAGRAM: f64 = 64.0;

fn tag(number: f64) -> Result<u32, Refused> {
    whole("connection", number, u32::MAX)
}

/// Bytes to send or to expect; from 2^53 on without end.
fn amount(what: &str, bytes: f64) -> Result<u64, Refused> {
    const ENDLESS: f64 = 9_007_199_254_740_992.0;
    let bytes = if bytes == f64::INFINITY { ENDLESS } else { bytes };
    let bytes = between(what, bytes, [1.0, f64::MAX])?;
    Ok(if bytes >= ENDLESS { u64::MAX } else { bytes as u64 })
}

fn end(number: f64) -> Result<End, Refused> {
    match number {
        0.0 => Ok(End::Home),
        1.0 => Ok(End::Server),
        other => {
            let found = in_short(other);
            Err(Refused(format!("found {found} as an end; allowed: 0, the home, or 1, the server")))
        }
    }
}

fn number(end: End) -> f64 {
    match end {
        End::Home => 0.0,
        End::Server => 1.0,
    }
}
