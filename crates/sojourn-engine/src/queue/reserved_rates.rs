//! Minimum reserved rates: which flow is served before all others, and when. DOCSIS MULPI
//! §C.2.2.7.4 defines what is reserved but not how.
//!
//! A flow with packets is due at once, and again when its reserved rate has paid for the bytes it
//! sent as due (the virtual clock of Zhang 1990). Bytes that it sends in its normal turn cost
//! nothing. A flow cannot save up what it did not use of its rate.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::{BitRate, Time};

#[derive(Clone, Copy)]
struct Reservation {
    rate: BitRate,
    /// When its next packet is due, if it has one.
    due: Time,
    /// Is it in the list?
    is_listed: bool,
}

/// The flows with a minimum reserved rate.
#[derive(Default)]
pub(super) struct ReservedRates {
    /// Indexed by flow; empty if no flow reserves a rate.
    flows: Vec<Option<Reservation>>,
    /// Flows with packets, ordered by when they were due at the last look; some may be empty by
    /// now.
    list: BinaryHeap<Reverse<(Time, u32)>>,
}

impl ReservedRates {
    /// Flows with these rates, none of which has packets.
    pub(super) fn new(rates: &[Option<BitRate>]) -> Self {
        let reserve = |rate| Reservation { rate, due: Time::ZERO, is_listed: false };
        let flows = rates.iter().map(|rate| rate.map(reserve)).collect();
        Self { flows, list: BinaryHeap::with_capacity(rates.len()) }
    }

    /// Records that a packet came to an empty flow.
    #[inline]
    pub(super) fn wakes(&mut self, flow: usize, now: Time) {
        let Some(Some(reserve)) = self.flows.get_mut(flow) else { return };
        reserve.due = reserve.due.max(now);
        if !reserve.is_listed {
            reserve.is_listed = true;
            self.list.push(Reverse((reserve.due, flow as u32)));
        }
    }

    /// The flow that has been due for longest. The caller must then `charge` it or make it `leave`.
    pub(super) fn first_due(&mut self, now: Time) -> Option<usize> {
        loop {
            let Reverse((listed, flow)) = *self.list.peek()?;
            let due = self.flows[flow as usize].map_or(listed, |reserve| reserve.due);
            if listed > now {
                return None;
            }
            if due == listed {
                return Some(flow as usize);
            }
            self.list.pop();
            self.list.push(Reverse((due, flow)));
        }
    }

    /// Charges a due flow for the bytes it has sent.
    pub(super) fn charge(&mut self, flow: usize, bytes: u64) {
        if let Some(reserve) = &mut self.flows[flow] {
            reserve.due += reserve.rate.time_for(bytes);
        }
    }

    /// Removes a due flow that has no packets.
    pub(super) fn leave(&mut self, flow: usize) {
        self.list.pop();
        if let Some(reserve) = &mut self.flows[flow] {
            reserve.is_listed = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: u64 = 1000;

    /// Flow 0 has no reserve, flow 1 one of 8 Mbps, so of a packet each ms, flow 2 one of 4 Mbps.
    fn reserved_rates() -> ReservedRates {
        ReservedRates::new(&[None, Some(BitRate::from_mbps(8.0)), Some(BitRate::from_mbps(4.0))])
    }

    #[test]
    fn each_is_due_as_often_as_its_rate_says() {
        let mut reserved_rates = reserved_rates();
        (0..3).for_each(|flow| reserved_rates.wakes(flow, Time::ZERO));
        let mut sent = [0; 3];
        for us in 0..10_000 {
            let now = Time::from_us(us);
            while let Some(flow) = reserved_rates.first_due(now) {
                reserved_rates.charge(flow, PACKET);
                sent[flow] += 1;
            }
        }
        // In 10 ms at 0, 1, ... 9 ms, and at 0, 2, ... 8.
        assert_eq!(sent, [0, 10, 5]);
    }

    #[test]
    fn unused_rate_is_not_made_up_for() {
        let mut reserved_rates = reserved_rates();
        reserved_rates.wakes(1, Time::ZERO);
        assert_eq!(reserved_rates.first_due(Time::ZERO), Some(1));
        reserved_rates.charge(1, PACKET);
        // It has nothing more, but nobody asks until it has again, 100 ms later.
        let late = Time::from_ms(100);
        reserved_rates.wakes(1, late);
        assert_eq!(reserved_rates.first_due(late), Some(1));
        reserved_rates.charge(1, PACKET);
        assert_eq!(reserved_rates.first_due(late), None);
        assert_eq!(reserved_rates.first_due(late + Time::from_ms(1)), Some(1));
        reserved_rates.leave(1);
        assert_eq!(reserved_rates.first_due(Time::from_s(1)), None);
    }
}
