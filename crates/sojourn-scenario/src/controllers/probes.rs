//! The probes of a controller: traffic of the router's own, which runs its controller.

use std::collections::VecDeque;

use serde::{Serialize, Serializer};

use super::{Answer, Controller, ControllerSpec, LEAST_BPS, MOST_BPS, Probing, Rates, Update};
use crate::apps::{
    Answer as Server, App, AppContext, AppParameters, AppSpec, Arrived, Command, Event, Label,
    Load, Model, Quality, ServerKeys,
};
use crate::traffic::{Entry, Labels};
use sojourn_engine::packet::Direction;
use sojourn_engine::record::Gauges;
use sojourn_engine::rng::{Rng, Seed};
use sojourn_engine::series;
use sojourn_engine::units::Time;
use sojourn_input::parts::{self, Outside};

series! {
    /// Rate that the controller of a router has set for packets from the home.
    SHAPER_UP = "shaper_up", in "Mbps";
    /// Rate that the controller of a router has set for packets to the home.
    SHAPER_DOWN = "shaper_down", in "Mbps";
}

/// What an entry of probes is called.
const KIND: &str = "router controller";

/// The name of the entry of a group's probes; `None` for the only group.
pub(crate) fn entry_name(group: Option<&str>) -> String {
    group.map_or(KIND.to_owned(), |group| format!("{group} {KIND}"))
}

/// A controller and the shapers that it sets.
#[derive(Clone, Debug)]
pub(crate) struct Probes {
    controller: ControllerSpec,
    /// What the shapers begin with.
    rates: Rates,
}

impl Serialize for Probes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        parts::write_kind(&self.controller, serializer)
    }
}

impl Probes {
    /// The traffic entry of a controller in the homes of a group.
    pub(crate) fn entry(controller: ControllerSpec, rates: Rates, group: Option<&str>) -> Entry {
        let labels = Labels { home: group.map(str::to_owned), ..Labels::default() };
        let app = AppSpec::Outside(Outside::new(KIND, Box::new(Self { controller, rates })));
        Entry { app, labels }
    }

    fn probing(&self) -> Probing<'_> {
        self.controller.parameters().probing()
    }
}

impl AppParameters for Probes {
    fn start(&self, server: &dyn Fn(&str) -> u16) -> App {
        let Probing { server: name, interval, bytes, update } = self.probing();
        App::Outside(Box::new(Prober {
            parameters: self.clone(),
            controller: None,
            server: server(name),
            bytes,
            interval,
            next_probe: None,
            update,
            updated_at: Time::ZERO,
            next_update: Time::NEVER,
            passed: [0; 2],
            sent: 0,
            waiting: VecDeque::new(),
            rates: self.rates,
        }))
    }

    fn servers(&self) -> Vec<(String, &str)> {
        vec![("server".to_owned(), self.probing().server)]
    }

    fn server_keys(&mut self) -> ServerKeys<'_> {
        ServerKeys::One(self.controller.parameters_mut().server_mut())
    }

    fn largest_datagram(&self) -> u16 {
        self.probing().bytes
    }

    fn quality(&self) -> Quality {
        Quality::Probes
    }

    fn load(&self, seconds: f64) -> Load {
        let Probing { interval, bytes, .. } = self.probing();
        let packets = 2.0 * (seconds / interval.secs_f64() + 1.0);
        Load { packets, packet_bytes: bytes.into(), ..Load::default() }
    }

    fn answer(&self) -> Option<Server> {
        Some(Server::EachPacket)
    }

    fn hears_datagrams(&self) -> bool {
        true
    }

    fn is_of_router(&self) -> bool {
        true
    }
}

/// The probes of a router, and its controller.
struct Prober {
    parameters: Probes,
    /// Made at the first event, when the random stream is there.
    controller: Option<Box<dyn Controller + Send>>,
    server: u16,
    bytes: u16,
    interval: Time,
    next_probe: Option<Time>,
    /// The time between updates.
    update: Time,
    updated_at: Time,
    next_update: Time,
    /// What the shapers had let pass then.
    passed: [u64; 2],
    sent: u64,
    /// When the probes were sent that have not been answered, with their numbers.
    waiting: VecDeque<(Time, u64)>,
    rates: Rates,
}

impl Prober {
    /// Sends what is due, and looks at the counters where an interval is over.
    fn act(&mut self, context: &mut AppContext) {
        let now = context.now;
        let next = match self.next_probe {
            Some(at) => at,
            None => self.begin(context),
        };
        if self.next_update <= now {
            context.ask(Command::ReadShapers);
            self.next_update += self.update;
        }
        if next <= now {
            let (server, size) = (self.server, self.bytes);
            let label = Label::default();
            let probe =
                Command::Datagram { server, direction: Direction::Up, size, frame: None, label };
            context.ask(probe);
            self.waiting.push_back((now, self.sent));
            self.sent += 1;
            self.next_probe = Some(next + self.interval);
        }
        let next = self.next_probe.map_or(Time::NEVER, |at| at.min(self.next_update));
        context.ask(Command::Wake(next));
    }

    fn begin(&mut self, context: &mut AppContext) -> Time {
        let Probes { controller, rates } = &self.parameters;
        let seed = Seed::named(context.rng.bits(), "controller");
        self.controller = Some(controller.parameters().start(*rates, seed));
        self.updated_at = context.now;
        self.next_update = context.now + self.update;
        let phase = self.interval.scaled(context.rng.uniform());
        *self.next_probe.insert(context.now + phase)
    }

    /// A probe has come back. One that was sent earlier may still come.
    fn answered(&mut self, arrived: &Arrived, context: &mut AppContext) {
        let Some(answers) = arrived.answers else { return };
        let is_it = |(sent_at, _): &(Time, u64)| *sent_at == answers.sent_at;
        let Some(place) = self.waiting.iter().position(is_it) else { return };
        let Some((sent_at, probe)) = self.waiting.remove(place) else { return };
        let now = context.now;
        let answer = Answer {
            now_us: now.us_f64(),
            probe,
            rtt_us: now.since(sent_at).us_f64(),
            up_us: difference_us(answers.left_at, sent_at),
            down_us: difference_us(now, answers.left_at),
            rates: self.rates,
        };
        let wanted = self.controller.as_mut().map(|one| one.on_probe(&answer));
        self.want(wanted.unwrap_or_default(), context);
    }

    fn updated(&mut self, passed: [Option<u64>; 2], context: &mut AppContext) {
        let since = context.now.since(self.updated_at);
        let before = self.passed;
        let update = Update {
            now_us: context.now.us_f64(),
            interval_us: since.us_f64(),
            bytes: [0, 1].map(|way| passed[way].map(|bytes| bytes - before[way])),
            waiting: self.waiting.len() as u64,
            rates: self.rates,
        };
        (self.updated_at, self.passed) = (context.now, passed.map(Option::unwrap_or_default));
        let wanted = self.controller.as_mut().map(|one| one.on_update(&update));
        self.want(wanted.unwrap_or_default(), context);
    }

    /// Asks for other rates, where there are shapers.
    fn want(&mut self, wanted: Rates, context: &mut AppContext) {
        for way in Direction::BOTH {
            let own = way.pick(&mut self.rates.up_bps, &mut self.rates.down_bps);
            let (Some(now), Some(bps)) = (&mut *own, wanted.of(way)) else { continue };
            let bps = bps.round().clamp(LEAST_BPS, MOST_BPS);
            if bps != *now {
                *now = bps;
                context.ask(Command::Shape(way, bps as u64));
            }
        }
    }
}

/// From one reading of a clock to that of another, which may be earlier.
fn difference_us(to: Time, from: Time) -> f64 {
    if to >= from { to.since(from).us_f64() } else { -from.since(to).us_f64() }
}

impl Model for Prober {
    /// The first probe comes at a random point of the first interval: routers did not start together.
    fn start(&self, _rng: &mut Rng) -> Time {
        Time::ZERO
    }

    fn on_event(&mut self, event: Event, context: &mut AppContext) {
        match event {
            Event::Timer => self.act(context),
            Event::Datagram(arrived) if arrived.direction == Direction::Down => {
                self.answered(&arrived, context);
            }
            Event::Shapers(passed) => self.updated(passed, context),
            _ => {}
        }
    }

    fn gauges(&self, out: &mut Gauges) {
        let rates = [(SHAPER_UP, self.rates.up_bps), (SHAPER_DOWN, self.rates.down_bps)];
        for (series, bps) in rates {
            if let Some(bps) = bps {
                out.show(series, bps / 1e6);
            }
        }
        if let Some(controller) = &self.controller {
            controller.gauges(out);
        }
    }

    fn is_under_way(&self, _now: Time) -> bool {
        false
    }
}
