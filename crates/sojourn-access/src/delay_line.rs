//! Items in transit on a medium that only delays, where several senders know in advance when their
//! packets leave.

use std::collections::VecDeque;

use sojourn_engine::units::Time;

/// Items in transit, ordered by arrival. Those that arrive at the same time keep the order in which
/// they were accepted. Only the first is scheduled.
pub(crate) struct DelayLine<T> {
    delay: Time,
    under_way: VecDeque<(Time, T)>,
}

impl<T> DelayLine<T> {
    /// An empty line of this one-way delay.
    pub(crate) fn new(delay: Time) -> Self {
        Self { delay, under_way: VecDeque::new() }
    }

    /// Takes an item whose last byte leaves its sender at `leaves_at`. Returns whether the next to arrive may be
    /// another than before.
    #[inline(always)]
    pub(crate) fn accept(&mut self, leaves_at: Time, item: T) -> bool {
        let arrival = leaves_at + self.delay;
        match self.under_way.back() {
            Some((last, _)) if *last > arrival => self.insert(arrival, item),
            last => {
                let is_first = last.is_none();
                self.under_way.push_back((arrival, item));
                return is_first;
            }
        }
        true
    }

    /// Puts an item before those that arrive later.
    fn insert(&mut self, arrival: Time, item: T) {
        let later = self.under_way.iter().rev().take_while(|(other, _)| *other > arrival).count();
        self.under_way.insert(self.under_way.len() - later, (arrival, item));
    }

    /// When the next item arrives.
    #[inline]
    pub(crate) fn next_wake(&self) -> Time {
        self.under_way.front().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// The next item, and when it arrives.
    #[inline(always)]
    pub(crate) fn wake(&mut self) -> Option<(Time, T)> {
        self.under_way.pop_front()
    }

    /// The items in transit, and when they arrive.
    pub(crate) fn items(&self) -> impl Iterator<Item = &(Time, T)> {
        self.under_way.iter()
    }
}
