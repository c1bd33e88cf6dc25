//! Frames of video calls and of games from afar: when as many packets of each have come as it needs, and how long the picture
//! stands still.

use std::collections::VecDeque;

use super::GIVEN_UP_S;
use sojourn_engine::packet::{Frame, Packet};
use sojourn_engine::record::Latency;
use sojourn_engine::units::Time;

/// Frames that may be incomplete at a time. One that is still incomplete when so many newer frames have
/// begun to come stays so.
const PENDING: u32 = 32;

/// A picture stands still if it stays for three times the mean of so many frames before, and for this much longer than that
/// at least (W3C, Identifiers for WebRTC's Statistics API, `freezeCount`).
const MEAN_OF: usize = 30;
const FREEZE_TIMES: f64 = 3.0;
const FREEZE_MORE_S: f64 = 0.15;

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
    made: Made,
    shown: Shown,
}

/// The frames that set out for a screen.
#[derive(Clone, Copy, Default)]
struct Made {
    /// Their number.
    frames: u32,
    /// When the last one did, and after how long.
    last: Time,
    interval: Time,
}

impl Screen {
    /// The frame whose number all that count are above or at, of those that have begun to come.
    fn begun(&self) -> u32 {
        self.known.max(self.first)
    }

    /// Frames of which nothing has come until `end`, so that the user has given them up. The last ones may still come.
    fn given_up(&self, end: Time) -> u32 {
        let missing = self.made.frames.saturating_sub(self.begun());
        let (age, wait) = (end.since(self.made.last), Time::from_secs_f64(GIVEN_UP_S));
        if age > wait {
            return missing;
        }
        let recent = wait.since(age).ps() / self.made.interval.ps().max(1) + 1;
        missing.saturating_sub(u32::try_from(recent).unwrap_or(u32::MAX))
    }
}

/// What a screen shows: the newest frame that has come whole.
#[derive(Clone, Default)]
struct Shown {
    newest: Option<(u32, Time)>,
    began: Option<Time>,
    /// How long the last frames stayed, in s.
    stays_s: VecDeque<f64>,
    freezes: u64,
    frozen_s: f64,
}

impl Shown {
    /// A frame has come whole. One that is older than what is shown is not shown.
    fn show(&mut self, number: u32, now: Time, counts: bool) {
        if self.newest.is_some_and(|(newest, _)| newest >= number) {
            return;
        }
        let before = self.newest.replace((number, now));
        if counts {
            self.began.get_or_insert(now);
        }
        let Some((_, at)) = before else { return };
        let stay_s = now.since(at).secs_f64();
        if self.is_freeze(stay_s) && counts {
            (self.freezes, self.frozen_s) = (self.freezes + 1, self.frozen_s + stay_s);
        }
        self.stays_s.push_back(stay_s);
        if self.stays_s.len() > MEAN_OF {
            self.stays_s.pop_front();
        }
    }

    /// Is it one if a frame stays so long?
    fn is_freeze(&self, stay_s: f64) -> bool {
        let mean_s = self.stays_s.iter().sum::<f64>() / self.stays_s.len() as f64;
        stay_s >= (FREEZE_TIMES * mean_s).max(mean_s + FREEZE_MORE_S)
    }

    /// What it has shown until the end, where its last frame stays.
    fn until(&self, end: Time) -> Stood {
        let (Some(began), Some((_, at))) = (self.began, self.newest) else {
            return Stood::default();
        };
        let stay_s = end.since(at).secs_f64();
        let last_s = if self.is_freeze(stay_s) { stay_s } else { 0.0 };
        Stood {
            freezes: self.freezes + u64::from(last_s > 0.0),
            frozen_s: self.frozen_s + last_s,
            shown_s: end.since(began).secs_f64(),
        }
    }
}

/// How often and for how long pictures stood still.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Stood {
    /// How often.
    pub freezes: u64,
    /// For how long in all, in s.
    pub frozen_s: f64,
    /// Since the first frame, in s.
    pub shown_s: f64,
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
        let shown = Shown::default();
        let (slots, made) = ([NONE; PENDING as usize], Made::default());
        let screen = Screen { slots, known: 0, first: 0, made, shown };
        Self { first_home, screens: vec![screen; homes], latency: Latency::default(), whole: 0 }
    }

    /// A packet is sent, which may be a part of a frame.
    pub fn send(&mut self, packet: &Packet) {
        let Frame { number, packets } = packet.segment.own.frame();
        let made = &mut self.screens[usize::from(packet.home) - self.first_home].made;
        if packets > 0 && number >= made.frames {
            let interval = packet.sent_at.since(made.last);
            *made = Made { frames: number + 1, last: packet.sent_at, interval };
        }
    }

    /// A packet is sent whose frame does not count, nor does any before it.
    pub fn leave_out(&mut self, packet: &Packet) {
        self.send(packet);
        let Frame { number, packets } = packet.segment.own.frame();
        if packets > 0 {
            let screen = &mut self.screens[usize::from(packet.home) - self.first_home];
            screen.first = number + 1;
        }
    }

    /// A packet has come, which may be a part of a frame: if that is whole with it, when its first packet was sent.
    pub fn arrive(&mut self, now: Time, packet: &Packet) -> Option<Time> {
        let Frame { number, packets } = packet.segment.own.frame();
        let screen = &mut self.screens[usize::from(packet.home) - self.first_home];
        if packets == 0 || number + PENDING < screen.known {
            return None; // long given up
        }
        let slot = &mut screen.slots[(number % PENDING) as usize];
        screen.known = screen.known.max(number + 1);
        if slot.number != number {
            *slot = Pending { number, missing: packets, sent_at: packet.sent_at };
        }
        if slot.missing == 0 {
            return None; // one more than the frame needs
        }
        slot.sent_at = slot.sent_at.min(packet.sent_at);
        slot.missing -= 1;
        if slot.missing > 0 {
            return None;
        }
        let (sent_at, counts) = (slot.sent_at, number >= screen.first);
        screen.shown.show(number, now, counts);
        if counts {
            self.whole += 1;
            self.latency.record(now.since(sent_at));
        }
        Some(sent_at)
    }

    /// How often and for how long its pictures stood still until the end.
    pub fn stood(&self, end: Time) -> Stood {
        self.screens.iter().map(|screen| screen.shown.until(end)).fold(
            Stood::default(),
            |sum, one| Stood {
                freezes: sum.freezes + one.freezes,
                frozen_s: sum.frozen_s + one.frozen_s,
                shown_s: sum.shown_s + one.shown_s,
            },
        )
    }

    /// Time from the sending of a frame's first packet to the arrival of its last one, of frames that
    /// came whole.
    pub fn latency(&self) -> &Latency {
        &self.latency
    }

    /// Frames that are over at `end`, and how many of them did not come whole. Where nothing has come of frames for so long
    /// that they are given up, all before them are over too.
    pub fn incomplete(&self, end: Time) -> (u64, u64) {
        let (mut ended, mut whole) = (0, self.whole);
        for screen in &self.screens {
            let given_up = screen.given_up(end);
            if given_up > 0 {
                ended += u64::from(screen.begun() + given_up - screen.first);
                continue;
            }
            let over = screen.known.saturating_sub(PENDING);
            ended += u64::from(over.saturating_sub(screen.first));
            let first = over.max(screen.first);
            let is_recent = |slot: &&Pending| slot.missing == 0 && slot.number >= first;
            whole -= screen.slots.iter().filter(is_recent).count() as u64;
        }
        (ended, ended - whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_engine::packet::{Own, Segment};

    const END: Time = Time::from_ms(100);

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
        assert_eq!(frames.incomplete(END), (2, 0));
        frames.arrive(Time::from_ms(100), &part(34, 0));
        assert_eq!(frames.incomplete(END), (3, 1));
        frames.arrive(Time::from_ms(100), &part(35, 0));
        assert_eq!(frames.incomplete(END), (4, 2));
        // Too late for frame 2.
        frames.arrive(Time::from_ms(100), &part(2, 0));
        assert_eq!(frames.incomplete(END), (4, 2));
        assert_eq!(frames.latency().count(), 32);
    }

    /// 100 frames, one each 20 ms until 1.98 s. 70 come whole, and one packet of the next; then nothing does. At 2 s the last frame
    /// is 20 ms old, so that (400 - 20) / 20 + 1 = 20 frames may still come: of the 80 before them 10 did not come whole. A second
    /// later none is waited for.
    #[test]
    fn frames_that_never_come_are_incomplete_once_they_are_given_up() {
        let mut frames = Frames::new(3, 1);
        for number in 0..100 {
            let sent_ms = 20 * u64::from(number);
            for packet in 0..2 {
                frames.send(&part(number, sent_ms));
                if number < 70 || number == 70 && packet == 0 {
                    frames.arrive(Time::from_ms(sent_ms + 10), &part(number, sent_ms));
                }
            }
        }
        assert_eq!(frames.incomplete(Time::from_ms(2000)), (80, 10));
        assert_eq!(frames.incomplete(Time::from_ms(3000)), (100, 30));
        // Of a call that is well, the last ones are under way.
        for number in 70..99 {
            for _ in 0..2 {
                frames.arrive(Time::from_ms(2000), &part(number, 20 * u64::from(number)));
            }
        }
        assert_eq!(frames.incomplete(Time::from_ms(2000)), (99 - 32, 0));
    }
}
