//! What packets of real programs cross.

use sojourn::outside::{Arrived, Direction, Lost, Time};

/// A line with a clock of its own, which goes on when it is asked to.
pub trait Line: Send + 'static {
    /// Up to which time all has happened.
    fn now(&self) -> Time;

    /// A packet from or to a home, by its number, enters at a time that is not before `now`; all that is due until then
    /// happens first. False if the line carries no such packet.
    fn inject(
        &mut self,
        at: Time,
        home: usize,
        direction: Direction,
        packet: &[u8],
        handle: u64,
    ) -> bool;

    /// All that is due until then happens. False if the line cannot go on.
    fn run_until(&mut self, at: Time) -> bool;

    /// When something happens next, if nothing enters before.
    fn next_wake(&self) -> Time;

    /// Adds what has arrived since the last call.
    fn arrived(&mut self, into: &mut Vec<Arrived>);

    /// Adds what was lost since the last call.
    fn lost(&mut self, into: &mut Vec<Lost>);

    /// Is called now and then while nothing is due, for whoever watches.
    fn look(&mut self) {}
}
