//! Segments on two channels that come in another order than they were sent in, or not at all.

use super::super::for_tests::*;
use super::*;
use sojourn_engine::rng::Rng;

/// The flow's only resequencer, what has gone on, and when.
struct Run {
    cmts: Resequencer,
    recorder: Recorder,
    passed: Vec<(Time, u8)>,
}

impl Run {
    fn new(timeout_ms: u64) -> Self {
        let mut cmts = Resequencer::new(MS(timeout_ms), 2);
        cmts.grow(1);
        Self { cmts, recorder: tracing(), passed: Vec::new() }
    }

    fn run(&mut self, until: Time) {
        while self.cmts.next_wake() <= until {
            let now = self.cmts.next_wake();
            let packet = self.cmts.wake(now, &mut self.recorder);
            self.passed.extend(packet.map(|packet| (now, packet.number[0])));
        }
    }

    /// A segment that arrives then, or never, with the packets that end in it, which have the numbers of the segments in which
    /// they began, and arrive with it.
    fn send(&mut self, arrives: Time, packets: &[(u8, u64)]) {
        let ended = self.cmts.next_number(0);
        let is_lost = arrives == Time::NEVER;
        for &(number, began) in packets {
            let (packet, received) = (packet(number, 100), arrives);
            let carried = Carried { packet, began, ended, since: Time::ZERO, received, arrives };
            self.cmts.carry(0, carried);
        }
        self.cmts.send(0, Segment { arrives, is_damaged: is_lost, channel: 0 });
    }

    fn lost(&self) -> usize {
        self.recorder.events.len()
    }
}

#[test]
fn what_comes_early_waits_for_what_is_before_it() {
    let mut run = Run::new(18);
    run.send(MS(7), &[(0, 0)]);
    run.send(MS(3), &[(1, 1)]);
    run.send(MS(9), &[(2, 2)]);
    assert_eq!((run.cmts.next_wake(), run.cmts.inside().packets), (MS(7), 3));
    run.run(MS(100));
    assert_eq!(run.passed, [(MS(7), 0), (MS(7), 1), (MS(9), 2)]);
    assert_eq!((run.cmts.inside().packets, run.cmts.given_up[0], run.lost()), (0, 0, 0));
}

/// The second segment comes at 3 ms: at 3 + 18 ms the CMTS goes on without the first. The packet that began in the first is
/// lost with it, and the next has all of its bytes.
#[test]
fn a_lost_segment_holds_what_is_behind_it_until_the_timeout() {
    let mut run = Run::new(18);
    run.send(Time::NEVER, &[]);
    run.send(MS(3), &[(1, 0), (2, 1)]);
    run.send(MS(5), &[(3, 1)]);
    run.run(MS(100));
    assert_eq!(run.passed, [(MS(21), 2), (MS(21), 3)]);
    assert_eq!((run.cmts.given_up[0], run.lost()), (1, 1));
}

/// Nothing tells the CMTS of a lost segment until one behind it comes.
#[test]
fn a_lost_segment_at_the_end_is_waited_for() {
    let mut run = Run::new(18);
    run.send(Time::NEVER, &[]);
    assert_eq!(run.cmts.next_wake(), Time::NEVER);
    run.send(MS(50), &[(1, 1)]);
    run.run(MS(100));
    assert_eq!(run.passed, [(MS(68), 1)]);
}

/// One that comes 6 ms after the next is not waited for if the time-out is 5 ms, and is if it is 6.
#[test]
fn a_late_segment_is_lost() {
    for (timeout_ms, want, given_up) in
        [(5, vec![(MS(8), 1)], 1), (6, vec![(MS(9), 0), (MS(9), 1)], 0)]
    {
        let mut run = Run::new(timeout_ms);
        run.send(MS(9), &[(0, 0)]);
        run.send(MS(3), &[(1, 1)]);
        run.run(MS(100));
        assert_eq!((run.passed, run.cmts.given_up[0]), (want, given_up));
    }
}

/// A packet may have its first byte, others and its last one in three segments: without the middle one it is lost.
#[test]
fn a_packet_needs_all_of_its_segments() {
    let mut run = Run::new(1);
    run.send(MS(1), &[]);
    run.send(Time::NEVER, &[]);
    run.send(MS(2), &[(0, 0), (1, 2)]);
    run.run(MS(100));
    assert_eq!((run.passed, run.recorder.events.len()), (vec![(MS(3), 1)], 1));
}

/// Segments in the order of their numbers arrive at random times, some never. A model without events: a segment is passed when
/// it and those before it are there, or when the first behind it is there and the time-out over.
#[test]
fn random_segments_go_on_as_in_a_model_without_events() {
    let mut rng = Rng::named(7, "segments");
    for round in 0..300 {
        let timeout = MS(1 + rng.below(12));
        let arrivals: Vec<Time> = (0..40_u64)
            .map(|number| match rng.below(10) {
                0 => Time::NEVER,
                _ => US(1000 * number + rng.below(9000)),
            })
            .collect();
        let mut run = Run::new(1);
        run.cmts = Resequencer::new(timeout, 2);
        run.cmts.grow(1);
        // All are sent before the first can arrive.
        let arrivals: Vec<Time> = arrivals.iter().map(|at| *at + US(1)).collect();
        for (number, arrives) in (0..).zip(&arrivals) {
            let packets: &[(u8, u64)] =
                if *arrives == Time::NEVER { &[] } else { &[(number, number.into())] };
            run.send(*arrives, packets);
        }
        run.run(Time::from_s(10));
        let (mut turn, mut want, mut given_up) = (Time::ZERO, Vec::new(), 0);
        for (number, arrives) in arrivals.iter().enumerate() {
            let behind = arrivals[number + 1..].iter().min().copied().unwrap_or(Time::NEVER);
            let gives_up = behind.max(turn.since(timeout)) + timeout;
            if *arrives <= gives_up.max(turn) && *arrives != Time::NEVER {
                turn = turn.max(*arrives);
                want.push((turn, number as u8));
            } else if gives_up < Time::from_s(10) {
                turn = turn.max(gives_up);
                given_up += 1;
            } else {
                break;
            }
        }
        assert_eq!((&run.passed, run.cmts.given_up[0]), (&want, given_up), "{round}");
        assert!(run.passed.is_sorted_by_key(|(at, number)| (*at, *number)));
    }
}
