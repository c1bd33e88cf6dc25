//! Inputs of games that a server plays: when the first frame is shown that was made after each has arrived.

use std::collections::VecDeque;

use sojourn_engine::packet::Packet;
use sojourn_engine::record::Latency;
use sojourn_engine::units::Time;

/// Inputs that may wait for a frame at a time. Of more the oldest is never shown.
const PENDING: usize = 4096;

/// An input that has arrived at the server.
#[derive(Clone, Copy)]
struct Input {
    sent_at: Time,
    arrived_at: Time,
}

/// The inputs of an entry in all its homes.
pub struct Inputs {
    first_home: usize,
    waiting: Vec<VecDeque<Input>>,
    shown: Latency,
    on_the_way: Latency,
}

impl Inputs {
    /// No input has come from any of `homes`, of which `first_home` is the first.
    pub fn new(first_home: usize, homes: usize) -> Self {
        let waiting = vec![VecDeque::new(); homes];
        Self { first_home, waiting, shown: Latency::default(), on_the_way: Latency::default() }
    }

    /// An input has arrived at the server.
    pub fn arrive(&mut self, now: Time, packet: &Packet) {
        let waiting = &mut self.waiting[usize::from(packet.home) - self.first_home];
        if waiting.len() == PENDING {
            waiting.pop_front();
        }
        waiting.push_back(Input { sent_at: packet.sent_at, arrived_at: now });
    }

    /// A frame that was made at `made_at` is shown now in a home.
    pub fn show(&mut self, now: Time, home: u16, made_at: Time) {
        let waiting = &mut self.waiting[usize::from(home) - self.first_home];
        while let Some(input) = waiting.front().copied()
            && input.arrived_at <= made_at
        {
            waiting.pop_front();
            self.shown.record(now.since(input.sent_at));
            self.on_the_way.record(input.arrived_at.since(input.sent_at) + now.since(made_at));
        }
    }

    /// Time from the sending of an input until a frame is shown that was made after it had arrived.
    pub fn shown(&self) -> &Latency {
        &self.shown
    }

    /// The part of that in which the input or the frame was on its way, without the wait for the frame.
    pub fn on_the_way(&self) -> &Latency {
        &self.on_the_way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_shown_by_the_first_frame_that_was_made_after_it() {
        let mut inputs = Inputs::new(2, 1);
        let input =
            |sent_ms| Packet { sent_at: Time::from_ms(sent_ms), home: 2, ..Packet::datagram(100) };
        // Two take 10 ms to the server. The frame of 12 ms is shown at 30 ms and has the first alone; the second one
        // waits from 14 until 28 ms, and its frame takes 20 ms. The frame between them never came.
        inputs.arrive(Time::from_ms(10), &input(0));
        inputs.arrive(Time::from_ms(14), &input(4));
        inputs.show(Time::from_ms(30), 2, Time::from_ms(12));
        assert_eq!((inputs.shown().count(), inputs.shown().max_ms()), (1, Some(30.0)));
        assert_eq!(inputs.on_the_way().max_ms(), Some(28.0)); // 10 and 18
        inputs.show(Time::from_ms(48), 2, Time::from_ms(28));
        assert_eq!((inputs.shown().count(), inputs.shown().max_ms()), (2, Some(44.0)));
        assert_eq!(inputs.on_the_way().max_ms(), Some(30.0)); // 10 and 20
    }
}
