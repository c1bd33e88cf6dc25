//! Interrupts of a host's network card: at most one in an interval, which handles all that has come by then, so
//! that what comes in between is merged (GRO) and acknowledged together.
//!
//! The first packet after a quiet interval is handled at once, so a slow flow is acknowledged as without this. Linux'
//! drivers of Intel's cards allow bulk traffic 4000 interrupts a second (documentation of `e1000`,
//! InterruptThrottleRate 3). Left out: that connections of a host share its interrupts, and that an application
//! waits for them to read.

use sojourn_engine::units::Time;

/// The longest segment that GRO makes, in bytes.
pub(crate) const LONGEST_MERGED: u64 = 65_536;

/// When the card of one end of a connection raises interrupts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Interrupts {
    /// The card raises none before.
    next: Time,
    /// Something has come that the next one handles.
    is_waiting: bool,
}

impl Interrupts {
    /// A packet comes: when an interrupt handles it, if not at once.
    pub(crate) fn arrive(&mut self, now: Time, interval: Time) -> Option<Time> {
        if self.is_waiting && now >= self.next {
            self.next += interval;
            self.is_waiting = false;
        }
        if now >= self.next {
            self.next = now + interval;
            return None;
        }
        self.is_waiting = true;
        Some(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first is handled when it comes, at 100 us. What comes at 200 and 300 us waits for 350, and 600 us is
    /// just too late for the interrupt at 600.
    #[test]
    fn an_interrupt_handles_what_has_come_since_the_last() {
        let handled = |every_us: u64| {
            let mut card = Interrupts::default();
            let at = |us: u64| {
                card.arrive(Time::from_us(us), Time::from_us(250))
                    .map_or(us, |at| at.ps() / 1_000_000)
            };
            (1..7).map(|n| n * every_us).map(at).collect::<Vec<_>>()
        };
        assert_eq!(handled(100), [100, 350, 350, 600, 600, 850]);
        assert_eq!(handled(250), [250, 500, 750, 1000, 1250, 1500]);
        assert_eq!(handled(1000), [1000, 2000, 3000, 4000, 5000, 6000]);
    }
}
