//! Paths that change the order of segments: RACK's window that adapts, reports of duplicates, and undone reductions.

use super::*;
use crate::cc::Window;

/// Reno without end over 1 ms a segment and 100 ms, with 110 segments at most, so that always some wait. Those of these
/// numbers are held back when they are first sent.
fn held_back(dialect: Dialect, has_timestamps: bool, held: &[(u64, Time)]) -> Pair {
    held_back_if(true, dialect, has_timestamps, held)
}

/// The same, and whether the ends know that the path changes the order.
fn held_back_if(
    is_reordered: bool,
    dialect: Dialect,
    has_timestamps: bool,
    held: &[(u64, Time)],
) -> Pair {
    let options = TcpOptions {
        max_window_segments: Some(110),
        timestamps: Some(has_timestamps),
        ..options(Recovery::Sack)
    };
    let config = Config { is_reordered, ..resolved(&options, dialect) };
    let mut pair = Pair::new(config, RTT.scaled(0.5), nothing(), nothing());
    pair.pipes[CLIENT].service = Time::from_ms(1);
    let held = held.to_vec();
    let mut highest = 0;
    pair.pipes[CLIENT].holds = Box::new(move |_, segment| {
        let is_first = segment.seq >= highest;
        highest = highest.max(segment.seq + 1);
        let number = (segment.seq.max(1) - 1) / MSS;
        let hold = held.iter().find(|(of, _)| is_first && *of == number && segment.len > 0);
        hold.map_or(Time::ZERO, |(_, hold)| *hold)
    });
    pair.upload_endlessly();
    pair
}

const MS: fn(u64) -> Time = Time::from_ms;
const BOTH: [Dialect; 2] = [Dialect::Rfc, Dialect::Linux];

/// Runs until segment `number` is at the other end; gives the segments sent again so far, and the window.
fn until(pair: &mut Pair, number: u64) -> (u64, Window) {
    pair.pump(CLIENT);
    while pair.pipes[CLIENT].contiguous(u64::MAX) < number * MSS {
        assert!(pair.step());
    }
    (pair.pipes[CLIENT].data_resent, pair.ends[CLIENT].window())
}

/// Ten segments pass the first that is held back for 10 ms, so it is sent again after three; its original undoes that, by
/// its timestamp. The next ones within a quarter of the round trip, 25 ms, are waited for.
#[test]
fn after_one_needless_repetition_late_segments_are_waited_for() {
    for dialect in BOTH {
        let held = [(2400, MS(10)), (2600, MS(10)), (2700, MS(20)), (2800, MS(3))];
        let mut pair = held_back(dialect, true, &held);
        let (resent, before) = until(&mut pair, 2399);
        assert_eq!((resent, before.cwnd), (0, 110.0));
        let (resent, window) = until(&mut pair, 2590);
        assert_eq!((resent, window.cwnd), (1, 110.0), "{dialect:?}");
        assert!(window.ssthresh >= before.ssthresh.min(82.0), "{dialect:?} {window:?}");
        let (resent, window) = until(&mut pair, 3000);
        assert_eq!((resent, window.cwnd), (1, 110.0), "{dialect:?}");
        assert_eq!(pair.timeouts, [0, 0]);
    }
}

/// Without timestamps the report that both have come undoes it, a round trip after the repetition. That does not make
/// reordering known (RFC 8985 section 6.2 step 3), so the next one costs a repetition too, but nothing of the window.
#[test]
fn the_report_of_a_duplicate_undoes_a_reduction() {
    for dialect in BOTH {
        let mut pair = held_back(dialect, false, &[(2400, MS(10)), (2700, MS(10))]);
        let mut least = f64::INFINITY;
        for number in 2400..2560 {
            least = least.min(until(&mut pair, number).1.cwnd);
        }
        assert!(least < 100.0, "{dialect:?}");
        let (resent, window) = until(&mut pair, 2690);
        assert_eq!((resent, window.cwnd), (1, 110.0), "{dialect:?}");
        let (resent, window) = until(&mut pair, 3000);
        assert_eq!((resent, window.cwnd), (2, 110.0), "{dialect:?}");
    }
}

/// Where the path is taken to keep the order, each of them costs half of the window.
#[test]
fn where_order_is_kept_each_late_segment_is_a_loss() {
    for dialect in BOTH {
        let held = [(2400, MS(10)), (2600, MS(10))];
        let mut pair = held_back_if(false, dialect, true, &held);
        let (resent, window) = until(&mut pair, 2720);
        assert_eq!(resent, 2, "{dialect:?}");
        assert!(window.cwnd < 70.0, "{window:?}");
    }
}

/// Segments late by 40 ms are beyond a step of 25. The first makes reordering known, and the report of its second
/// copy another step; the others are waited for then.
#[test]
fn a_report_of_a_duplicate_adds_a_step() {
    for dialect in BOTH {
        let held = [(2400, MS(40)), (3000, MS(40)), (3400, MS(40)), (3800, MS(40))];
        let mut pair = held_back(dialect, true, &held);
        assert_eq!(until(&mut pair, 2990).0, 1, "{dialect:?}");
        assert_eq!(until(&mut pair, 4000).0, 1, "{dialect:?}");
    }
}

/// A segment is lost, and another one is late behind it: that reduction stays.
#[test]
fn a_loss_is_not_undone() {
    for dialect in BOTH {
        let mut pair = held_back(dialect, true, &[(2405, MS(10))]);
        pair.pipes[CLIENT].loses = data(&[2400]);
        let (_, before) = until(&mut pair, 2399);
        let (resent, window) = until(&mut pair, 2520);
        assert!((1..=2).contains(&resent), "{dialect:?} {resent}");
        assert!(window.cwnd <= before.cwnd / 2.0 + 2.0, "{dialect:?} {window:?}");
        assert_eq!(pair.timeouts, [0, 0]);
    }
}

/// What is sent from segment 2700 on until some time is on its way until then, repetitions too, and keeps its order: the
/// timer expires. The originals come before what is sent again, and undo the reduction.
#[test]
fn originals_undo_a_needless_timeout() {
    for (dialect, stall) in [(Dialect::Rfc, MS(1500)), (Dialect::Linux, MS(600))] {
        let mut pair = held_back(dialect, true, &[]);
        let mut ends = None;
        pair.pipes[CLIENT].holds = Box::new(move |leaves, segment| {
            let begins = (segment.seq > 2700 * MSS).then_some(leaves + stall);
            ends = ends.or(begins);
            ends.map_or(Time::ZERO, |ends: Time| ends.since(leaves))
        });
        let (resent, window) = until(&mut pair, 3000);
        assert!(pair.ends[CLIENT].tally().timeouts > 0);
        assert!(resent < 5, "{dialect:?} {resent}");
        assert_eq!(window.cwnd, 110.0, "{dialect:?}");
    }
}

/// A segment that two others pass is not sent again, and makes reordering known: the next one, which ten pass, is not
/// either.
#[test]
fn a_late_original_makes_reordering_known() {
    for dialect in BOTH {
        let held = [(2400, Time::from_us(2500)), (2600, MS(10))];
        let mut pair = held_back(dialect, true, &held);
        assert_eq!(until(&mut pair, 2800).0, 0, "{dialect:?}");
    }
}

/// After a loss of before, which stays, a needless reduction gives back the threshold too: of `linux` three quarters of
/// the window, which are more.
#[test]
fn an_undo_gives_back_window_and_threshold() {
    for dialect in BOTH {
        let mut pair = held_back(dialect, true, &[(3600, MS(10))]);
        pair.pipes[CLIENT].loses = data(&[1500]);
        let (_, before) = until(&mut pair, 3599);
        let (resent, window) = until(&mut pair, 3800);
        assert!(resent == 2 && window.cwnd >= before.cwnd, "{dialect:?} {window:?}");
        let want = match dialect {
            Dialect::Linux => (before.cwnd * 0.75).trunc(),
            _ => before.ssthresh,
        };
        assert!((want - 0.5..want + 2.0).contains(&window.ssthresh), "{before:?} {window:?}");
        assert!(before.ssthresh < 60.0 && before.cwnd > 75.0, "{before:?}");
    }
}

/// A mark halves the window, and a segment that comes late in the same round trip is no second congestion. That it
/// was none gives nothing back, nor does what a loss before took.
#[test]
fn a_mark_is_not_undone() {
    for dialect in BOTH {
        let mut pair = held_back(dialect, true, &[(2405, MS(10))]);
        (pair.config.ecn, pair.config.ecn_server) = (EcnMode::Classic, EcnMode::Classic);
        pair.pipes[CLIENT].loses = data(&[1500]);
        pair.marks = vec![2399];
        let (_, before) = until(&mut pair, 2399);
        let (resent, window) = until(&mut pair, 2600);
        assert_eq!(resent, 2, "{dialect:?}");
        assert!(window.cwnd < before.cwnd / 2.0 + 3.0, "{dialect:?} {before:?} {window:?}");
    }
}

/// A late segment begins a recovery, and the timer expires in it, as what is sent from then on stalls. The original undoes
/// both: the window is that of before the first.
#[test]
fn a_timeout_in_a_needless_recovery_is_undone_with_it() {
    for (dialect, stall) in [(Dialect::Rfc, MS(1500)), (Dialect::Linux, MS(600))] {
        let mut pair = held_back(dialect, true, &[]);
        let (mut ends, mut highest) = (None, 0);
        pair.pipes[CLIENT].holds = Box::new(move |leaves, segment| {
            let is_repeat = segment.seq < std::mem::replace(&mut highest, segment.seq);
            let number = segment.seq.max(1) / MSS;
            if number < 2690 {
                return Time::ZERO;
            }
            let ends = *ends.get_or_insert(leaves + stall);
            let is_late = is_repeat || number == 2690 || number > 2720;
            if is_late { Time::since(ends, leaves) } else { Time::ZERO }
        });
        let (_, before) = until(&mut pair, 2689);
        let (_, window) = until(&mut pair, 3000);
        assert!(pair.ends[CLIENT].tally().timeouts > 0);
        assert_eq!((before.cwnd, window.cwnd), (110.0, 110.0), "{dialect:?}");
    }
}

/// An acknowledgement that was passed by later ones has older counters of marks, which would look like a wrap.
#[test]
fn counters_of_a_late_acknowledgement_are_passed_over() {
    let mut pair = held_back(Dialect::Linux, true, &[]);
    (pair.config.ecn, pair.config.ecn_server) = (EcnMode::Accecn, EcnMode::Accecn);
    pair.pipes[SERVER].kept = Some(Vec::new());
    pair.marks = vec![1500];
    let (_, before) = until(&mut pair, 2399);
    let kept = pair.pipes[SERVER].kept.take().expect("they are kept");
    let is_early = |(_, segment, _): &&(Time, Segment, Ecn)| segment.ack > 1000 * MSS;
    let has_come = |(at, ..): &&(Time, Segment, Ecn)| *at + RTT.scaled(0.5) <= pair.now;
    let (sent_at, early, _) = kept.iter().find(is_early).expect("one of them");
    let (.., last, _) = kept.iter().rfind(has_come).expect("some");
    let late = Segment { ack: last.ack, ..early.clone() };
    pair.ends[CLIENT].on_segment(pair.now, &late, *sent_at, Ecn::NotEct, &pair.config);
    let window = pair.ends[CLIENT].window();
    assert!(window.cwnd >= before.cwnd && before.cwnd < 80.0, "{before:?} {window:?}");
}
