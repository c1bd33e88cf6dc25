//! What packets of real programs cross.

use sojourn::engine::packet::{Direction, Ecn};
use sojourn::engine::units::Time;

/// A packet that has come to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrived {
    /// Its number, as `inject` had it.
    pub handle: u64,
    /// Which way it went.
    pub direction: Direction,
    /// Its ECN field now.
    pub ecn: Ecn,
    /// Its code point now.
    pub dscp: u8,
    /// When it came.
    pub at: Time,
}

/// A line with a clock of its own, which goes on when it is told to.
pub trait Line: Send + 'static {
    /// Up to which time all has happened.
    fn now(&self) -> Time;

    /// A packet enters at a time that is not before `now`; all that is due until then happens first. False if the line
    /// carries no such packet.
    fn inject(&mut self, at: Time, direction: Direction, packet: &[u8], handle: u64) -> bool;

    /// All that is due until then happens. False if the line cannot go on.
    fn run_until(&mut self, at: Time) -> bool;

    /// When something happens next, if nothing enters before.
    fn next_wake(&self) -> Time;

    /// Adds what has arrived since the last call.
    fn arrived(&mut self, into: &mut Vec<Arrived>);

    /// Adds the numbers of what was lost since the last call.
    fn lost(&mut self, into: &mut Vec<u64>);

    /// Is called now and then while nothing is due, for whoever watches.
    fn look(&mut self) {}
}
