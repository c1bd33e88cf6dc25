//! Frames of video calls: when all packets of each have come.

use sojourn_engine::packet::{Frame, Packet};
use sojourn_engine::record::Latency;
use sojourn_engine::units::Time;

/// Frames that may be incomplete at a time. One that is still incomplete when so many newer frames have
/// begun to come stays so.
const PENDING: u32 = 32;

/// A frame of which something has come.
#[derive(Clone, Copy)]
struct Pending {
    number: u32,
    /// Packets that have not come.
    missing: u32,
    /// When its first packet was sent.
    sent_at: Time,
}

/// No frame yet.
const NONE: Pending = Pending { number: u32::MAX, missing: u32::MAX, sent_at: Time::ZERO };

/// The frames that come to one end.
#[derive(Clone)]
struct Screen {
    slots: [Pending; PENDING as usize],
    /// Frames numbered below this have begun to come, or never will.
    known: u32,
    /// Frames numbered below this do not count.
    first: u32,
}

/// The frames of an entry in one direction, in all its homes.
pub struct Frames {
    first_home: usize,
    screens: Vec<Screen>,
    latency: Latency,
    whole: u64,
}

impl Frames {
    /// No frame has come to any of `homes`, of which `first_home` is the first.
    pub fn new(first_home: usize, homes: usize) -> Self {
        let screen = Screen { slots: [NONE; PENDING as usize], known: 0, first: 0 };
        Self { first_home, screens: vec![screen; homes], latency: Latency::default(), whole: 0 }
    }

    /// A packet is sent whose frame does not count, nor does any before it.
    pub fn leave_out(&mut self, packet: &Packet) {
        let screen = &mut self.screens[usize::from(packet.home) - self.first_home];
        screen.first = packet.segment.own.frame().number + 1;
    }

    /// A packet of a frame has come.
    pub fn arrive(&mut self, now: Time, packet: &Packet) {
        let Frame { number, packets } = packet.segment.own.frame();
        let screen = &mut self.screens[usize::from(packet.home) - self.first_home];
        if number + PENDING < screen.known {
            return; // long given up
        }
        let slot = &mut screen.slots[(number % PENDING) as usize];
        screen.known = screen.known.max(number + 1);
        if slot.number != number {
            *slot = Pending { number, missing: packets, sent_at: packet.sent_at };
        }
        slot.sent_at = slot.sent_at.min(packet.sent_at);
        slot.missing = slot.missing.saturating_sub(1);
        if slot.missing == 0 && number >= screen.first {
            self.whole += 1;
            self.latency.record(now.since(slot.sent_at));
        }
    }

    /// Time from the sending of a frame's first packet to the arrival of its last one, of frames that
    /// came whole.
    pub fn latency(&self) -> &Latency {
        &self.latency
    }

    /// Frames that are over, and how many of them did not come whole.
    pub fn incomplete(&self) -> (u64, u64) {
        let over = |screen: &Screen| u64::from(screen.known.saturating_sub(PENDING + screen.first));
        let ended: u64 = self.screens.iter().map(over).sum();
        let recent = self.screens.iter().map(|screen| {
            let first = screen.known.saturating_sub(PENDING).max(screen.first);
            let is_recent = |slot: &&Pending| slot.missing == 0 && slot.number >= first;
            screen.slots.iter().filter(is_recent).count() as u64
        });
        (ended, ended - (self.whole - recent.sum::<u64>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_engine::packet::{Own, Segment};

    /// A packet of frame `number`, which has two.
    fn part(number: u32, sent_ms: u64) -> Packet {
        let own = Own::of_frame(Frame { number, packets: 2 });
        let segment = Segment { own, ..Segment::default() };
        Packet { sent_at: Time::from_ms(sent_ms), home: 3, segment, ..Packet::datagram(1000) }
    }

    #[test]
    fn a_frame_is_there_with_its_last_packet() {
        let mut frames = Frames::new(3, 1);
        frames.arrive(Time::from_ms(12), &part(0, 1));
        assert_eq!(frames.latency().count(), 0);
        // Of the next frame the first packet comes before the last one of this.
        frames.arrive(Time::from_ms(14), &part(1, 4));
        frames.arrive(Time::from_ms(15), &part(0, 2));
        assert_eq!((frames.latency().count(), frames.latency().max_ms()), (1, Some(14.0)));
        frames.arrive(Time::from_ms(19), &part(1, 4));
        assert_eq!((frames.latency().count(), frames.latency().max_ms()), (2, Some(15.0)));
    }

    #[test]
    fn frames_that_lack_a_packet_are_incomplete() {
        // Frame 2 comes in part, frame 3 not at all. They are over with the first packets of frames 34
        // and 35.
        let mut frames = Frames::new(3, 1);
        for number in (0..34).filter(|number| *number != 3) {
            for _ in 0..if number == 2 { 1 } else { 2 } {
                frames.arrive(Time::from_ms(100), &part(number, 0));
            }
        }
        assert_eq!(frames.incomplete(), (2, 0));
        frames.arrive(Time::from_ms(100), &part(34, 0));
        assert_eq!(frames.incomplete(), (3, 1));
        frames.arrive(Time::from_ms(100), &part(35, 0));
        assert_eq!(frames.incomplete(), (4, 2));
        // Too late for frame 2.
        frames.arrive(Time::from_ms(100), &part(2, 0));
        assert_eq!(frames.incomplete(), (4, 2));
        assert_eq!(frames.latency().count(), 32);
    }
}
