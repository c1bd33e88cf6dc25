//! When each of an app's actors - its people, connections or sources - is to act next.

use super::{AppContext, Command};
use crate::engine::wake::Wake;
use crate::units::Time;

/// The actors of an app and when each is due. An app has one timer: that of whoever is due first.
pub struct Agenda {
    due: Wake,
    actors: u32,
    start: Time,
    spread: Time,
    planned: bool,
}

impl Agenda {
    /// Actors who begin at random times within `spread_s` seconds after `start_s`.
    pub fn new(actors: u32, start_s: f64, spread_s: f64) -> Self {
        Self {
            due: Wake::new(actors as usize),
            actors,
            start: Time::from_secs_f64(start_s),
            spread: Time::from_secs_f64(spread_s),
            planned: false,
        }
    }

    /// When the app wants its first timer.
    pub fn start(&self) -> Time {
        self.start
    }

    /// An actor is to act at this time, and not at the time set before.
    pub fn set(&mut self, actor: u32, at: Time) {
        self.due.set(actor, at);
    }

    /// When the next one is due.
    pub fn next(&self) -> Time {
        self.due.next().0
    }

    /// Who is due by now, the lowest number first at equal times. Each is given once for each time
    /// that was set.
    pub fn take(&mut self, context: &mut AppContext) -> Option<u32> {
        if !self.planned {
            self.plan(context);
        }
        let (at, actor) = self.due.next();
        (at <= context.now).then(|| {
            self.due.set(actor, Time::NEVER);
            actor
        })
    }

    /// Asks for the app's timer.
    pub fn ask(&self, context: &mut AppContext) {
        context.ask(Command::Wake(self.next()));
    }

    /// Draws when each begins, at the first timer.
    fn plan(&mut self, context: &mut AppContext) {
        for actor in 0..self.actors {
            self.due.set(actor, self.start + self.spread.scaled(context.rng.uniform()));
        }
        self.planned = true;
    }
}
