//! When each of an app's actors (users, connections or sources) acts next.

use super::{AppContext, Command};
use sojourn_engine::units::Time;
use sojourn_engine::wake::Wake;

/// The actors of an app and their times. An app has one timer, that of the next actor.
pub(super) struct Agenda {
    due: Wake,
    actors: u32,
    start: Time,
    spread: Time,
    planned: bool,
}

impl Agenda {
    /// Actors that start at random times within `spread_s` seconds after `start_s`.
    pub(super) fn new(actors: u32, start_s: f64, spread_s: f64) -> Self {
        Self {
            due: Wake::new(actors as usize),
            actors,
            start: Time::from_secs_f64(start_s),
            spread: Time::from_secs_f64(spread_s),
            planned: false,
        }
    }

    /// When the app's first timer expires.
    pub(super) fn start(&self) -> Time {
        self.start
    }

    /// Sets when an actor acts next, replacing its earlier time.
    pub(super) fn set(&mut self, actor: u32, at: Time) {
        self.due.set(actor, at);
    }

    /// When the next actor is due.
    pub(super) fn next(&self) -> Time {
        self.due.next()
    }

    /// An actor that is due by now, the lowest number first at equal times. Each actor is returned
    /// once for each time that was set.
    pub(super) fn take(&mut self, context: &mut AppContext) -> Option<u32> {
        if !self.planned {
            self.plan(context);
        }
        (self.next() <= context.now).then(|| {
            let actor = self.due.next_stage();
            self.due.set(actor, Time::NEVER);
            actor
        })
    }

    /// Sets the app's timer.
    pub(super) fn ask(&self, context: &mut AppContext) {
        context.ask(Command::Wake(self.next()));
    }

    /// Draws each actor's start time, at the first timer.
    fn plan(&mut self, context: &mut AppContext) {
        for actor in 0..self.actors {
            self.due.set(actor, self.start + self.spread.scaled(context.rng.uniform()));
        }
        self.planned = true;
    }
}
