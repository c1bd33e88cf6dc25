//! Plugs that keep a flow's packets in order when it moves to another bin (Hong 2015 §5.1.4).
//!
//! At a reclassification every bin gets a plug behind its last packet. A bin whose plug has reached
//! its head waits, whatever has come in behind the plug. Once all plugs are at the heads they are
//! pulled. So everything that came before the plugs leaves before anything that came after.
//!
//! A plug is stored as the number of packets ahead of it.

use crate::units::Time;

/// The plugs of the bins, and the time they cost.
pub(super) struct Plugs {
    /// Packets ahead of each bin's plug.
    ahead: Vec<u64>,
    /// Packets ahead of all plugs together; `None` while there are no plugs.
    all_ahead: Option<u64>,
    disrupted_since: Option<Time>,
    disrupted: Time,
}

impl Plugs {
    /// No plugs in `bins` bins.
    pub(super) fn new(bins: usize) -> Self {
        Self { ahead: vec![0; bins], all_ahead: None, disrupted_since: None, disrupted: Time::ZERO }
    }

    /// Plugs every bin behind the packets it holds.
    pub(super) fn plug(&mut self, packets: impl Fn(usize) -> u64) {
        for (bin, ahead) in self.ahead.iter_mut().enumerate() {
            *ahead = packets(bin);
        }
        self.all_ahead = Some(self.ahead.iter().sum());
    }

    /// Are there plugs?
    #[inline]
    pub(super) fn are_in(&self) -> bool {
        self.all_ahead.is_some()
    }

    /// Is the plug of this bin at its head?
    #[inline]
    pub(super) fn hold(&self, bin: usize) -> bool {
        self.are_in() && self.ahead[bin] == 0
    }

    /// Records that a packet has come into a bin.
    #[inline]
    pub(super) fn pushed(&mut self, bin: usize, now: Time) {
        if self.hold(bin) {
            self.disrupted_since.get_or_insert(now);
        }
    }

    /// Records that the head of a bin has left; `left` packets remain in the bin.
    #[inline]
    pub(super) fn popped(&mut self, bin: usize, left: u64, now: Time) {
        self.advance(bin);
        if self.hold(bin) && left > 0 {
            self.disrupted_since.get_or_insert(now);
        }
    }

    /// Records that the tail of a bin was dropped; `left` packets remain in the bin.
    pub(super) fn cut(&mut self, bin: usize, left: u64) {
        if self.ahead[bin] > left {
            self.advance(bin);
        }
    }

    #[inline]
    fn advance(&mut self, bin: usize) {
        if let Some(all) = &mut self.all_ahead {
            *all -= 1;
            self.ahead[bin] -= 1;
        }
    }

    /// Pulls the plugs if all of them are at the heads. Returns whether they were.
    #[inline]
    pub(super) fn pull(&mut self, now: Time) -> bool {
        if self.all_ahead != Some(0) {
            return false;
        }
        self.all_ahead = None;
        if let Some(since) = self.disrupted_since.take() {
            self.disrupted += now.since(since);
        }
        true
    }

    /// Disruption time (Hong 2015 §5.1.4): from the first plug at its head with a packet behind it
    /// until the plugs are pulled.
    pub(super) fn disrupted(&self) -> Time {
        self.disrupted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disruption_clock_by_hand() {
        // Bins of 2, 1 and 0 packets, plugged at 0. The plug of bin 2 is at its head at once, but
        // nothing is behind it until 10 ms: the clock starts there. Bin 1 joins at 20 ms, bin 0 runs
        // out at 40 ms: 30 ms.
        let ms = Time::from_ms;
        let mut plugs = Plugs::new(3);
        plugs.plug(|bin| [2, 1, 0][bin]);
        assert!(plugs.hold(2) && !plugs.hold(0) && !plugs.hold(1));
        plugs.pushed(0, ms(5)); // behind a plug that is not at the head
        plugs.pushed(2, ms(10));
        plugs.popped(1, 0, ms(20));
        assert!(plugs.hold(1));
        plugs.popped(0, 2, ms(30));
        assert!(!plugs.pull(ms(30)));
        plugs.popped(0, 1, ms(40));
        assert!(plugs.pull(ms(40)));
        assert_eq!(plugs.disrupted(), ms(30));
        assert!(!plugs.hold(0) && !plugs.pull(ms(50)));
    }

    /// A packet that is behind its plug when that comes to the head starts the clock.
    #[test]
    fn what_waits_behind_a_plug_at_the_head_is_disrupted() {
        let ms = Time::from_ms;
        let mut plugs = Plugs::new(2);
        plugs.plug(|_| 1);
        plugs.popped(0, 1, ms(10));
        plugs.popped(1, 0, ms(30));
        assert!(plugs.pull(ms(30)));
        assert_eq!(plugs.disrupted(), ms(20));
    }

    #[test]
    fn a_plug_stays_behind_the_packets_it_was_behind() {
        let mut plugs = Plugs::new(1);
        plugs.plug(|_| 3);
        plugs.pushed(0, Time::ZERO);
        plugs.cut(0, 3); // the packet behind the plug
        plugs.cut(0, 2); // one ahead of it
        plugs.popped(0, 1, Time::ZERO);
        assert!(!plugs.hold(0));
        plugs.popped(0, 0, Time::ZERO);
        assert!(plugs.pull(Time::ZERO));
        assert_eq!(plugs.disrupted(), Time::ZERO);
    }
}
