//! Two ends of a QUIC connection joined by a pipe that delays and loses, without a rate: arithmetic on paper
//! gives the times.

use std::collections::VecDeque;

use sojourn_testing::proptest::prelude::*;

use super::header::Header;
use crate::accecn::EcnMode;
use crate::cc::{CongestionSpec, reno};
use crate::loss_cases::{self, any_loss, nothing};
use crate::{Config, Ends, TcpOptions, Transport};
use sojourn_engine::dialect::Dialect;
use sojourn_engine::ecn_path::EcnPath;
use sojourn_engine::packet::{Ecn, Segment};
use sojourn_engine::rng::{Rng, Seed};
use sojourn_engine::units::Time;
use sojourn_testing::at_random;

const CLIENT: usize = 0;
const SERVER: usize = 1;
const MS: fn(u64) -> Time = Time::from_ms;

type Loss = loss_cases::Loss<Header>;

/// A packet that an end sent: when, what it said, and its bytes.
type Seen = (Time, Header, u16);

/// Both ends and the pipe between them.
struct Pair {
    now: Time,
    config: Config,
    delay: Time,
    ends: Ends,
    loses: [Loss; 2],
    under_way: [VecDeque<(Time, Segment, Ecn)>; 2],
    seen: [Vec<Seen>; 2],
    /// The ECN fields of what the client sent, and what the path does to them.
    fields: Vec<Ecn>,
    path: EcnPath,
    /// Each n-th packet of the client that can be marked is marked.
    marks: Option<usize>,
    /// By end: when the handshake was complete, bytes received, and how often all came and was acknowledged.
    established: [Time; 2],
    received: [u64; 2],
    all: [(u32, u32); 2],
    /// When all was acknowledged that an end had to send.
    acknowledged_at: [Time; 2],
}

impl Pair {
    /// A client that opens a connection at time zero, over a round trip of 100 ms.
    fn new(config: Config, up: Loss, down: Loss) -> Self {
        Self {
            now: Time::ZERO,
            ends: Ends::open(&config, Seed::named(1, "test")),
            config,
            delay: MS(50),
            loses: [up, down],
            under_way: Default::default(),
            seen: Default::default(),
            fields: Vec::new(),
            path: EcnPath::Kept,
            marks: None,
            established: [Time::NEVER; 2],
            received: [0; 2],
            all: [(0, 0); 2],
            acknowledged_at: [Time::NEVER; 2],
        }
    }

    /// Each end sends a file, both at once, and closes.
    fn exchange(&mut self, bytes: [u64; 2]) {
        for end in [CLIENT, SERVER] {
            self.ends.send(end, bytes[end], &self.config);
            self.ends.expect(end, bytes[1 - end]);
            self.ends.close(end);
        }
    }

    fn pump(&mut self, end: usize) {
        while let Some(departure) = self.ends.poll(end, self.now, &self.config) {
            let header = Header::of(&departure.segment);
            assert_eq!(header.number, self.seen[end].len() as u64, "numbers count from 0");
            self.seen[end].push((self.now, header, departure.size));
            if !(self.loses[end])(&header) {
                let mut ecn = departure.ecn;
                if end == CLIENT {
                    self.fields.push(ecn);
                    let is_nth = self.marks.is_some_and(|n| self.fields.len().is_multiple_of(n));
                    ecn = if is_nth && ecn != Ecn::NotEct { Ecn::Ce } else { ecn };
                }
                let mut segment = departure.segment;
                assert!(self.path.passes(&mut segment, &mut ecn));
                self.under_way[end].push_back((self.now, segment, ecn));
            }
        }
    }

    fn arrive(&mut self, end: usize) {
        let (sent_at, segment, ecn) = self.under_way[1 - end].pop_front().expect("one is due");
        let as_sent = (sent_at, ecn);
        let events = self.ends.on_segment(end, self.now, &segment, as_sent, &self.config);
        if events.established {
            assert_eq!(self.established[end], Time::NEVER, "it is complete once");
            self.established[end] = self.now;
        }
        self.received[end] += events.received_bytes;
        self.all[end].0 += u32::from(events.received_all);
        if events.acknowledged_all {
            self.all[end].1 += 1;
            self.acknowledged_at[end] = self.now;
        }
    }

    /// Handles what is next, if there is anything: arrivals before timers, the client first.
    fn step(&mut self) -> bool {
        let arrival = |end: usize| {
            let first = self.under_way[1 - end].front();
            first.map_or(Time::NEVER, |(sent_at, ..)| *sent_at + self.delay)
        };
        let all = [arrival(0), arrival(1), self.ends.deadline(0), self.ends.deadline(1)];
        let next = *all.iter().min().expect("four of them");
        if next == Time::NEVER {
            return false;
        }
        assert!(next >= self.now, "time runs backwards");
        self.now = next;
        match all.iter().position(|at| *at == next).expect("it is one of them") {
            end @ (CLIENT | SERVER) => {
                self.arrive(end);
                self.pump(end);
            }
            timer => {
                self.ends.on_timer(timer - 2, self.now, &self.config);
                self.pump(timer - 2);
            }
        }
        true
    }

    /// Runs until both ends are done, which must be before `limit`.
    fn run(&mut self, limit: Time) {
        self.pump(CLIENT);
        while !self.ends.is_done() {
            assert!(self.step(), "nothing is under way, no timer runs, and it is not done");
            assert!(self.now < limit, "not done: {:?} {:?}", self.received, self.established);
        }
    }

    /// Packets with data of the client: when, and where they begin.
    fn data(&self) -> Vec<(u64, u64)> {
        let data = self.seen[CLIENT].iter().filter(|(_, header, _)| header.len > 0);
        data.map(|(at, header, _)| (at.ps() / MS(1).ps(), header.offset)).collect()
    }
}

/// Loses the first so many packets with data.
fn first_data(many: u32) -> Loss {
    let mut seen = 0;
    Box::new(move |header| {
        seen += u32::from(header.len > 0);
        header.len > 0 && seen <= many
    })
}

/// Loses the packets with these numbers.
fn numbers(lost: impl IntoIterator<Item = u64>) -> Loss {
    let lost: Vec<u64> = lost.into_iter().collect();
    Box::new(move |header| lost.contains(&header.number))
}

fn options() -> TcpOptions {
    TcpOptions {
        transport: Some(Transport::Quic),
        congestion_control: Some(CongestionSpec::Reno(reno::Parameters {})),
        interrupt_interval_us: Some(0.0),
        ..TcpOptions::default()
    }
}

/// The client uploads so many bytes.
fn upload(options: TcpOptions, bytes: u64, up: Loss, down: Loss) -> Pair {
    let mut pair = Pair::new(options.resolve(Dialect::Linux), up, down);
    pair.exchange([bytes, 0]);
    pair.run(Time::from_s(600));
    pair
}

/// A datagram of 1200 B and 28 B of IPv4 and UDP with the ClientHello; at 50 ms the server's three; at 100 ms
/// the client has completed the handshake, and the server at 150.
///
/// The server's third datagram: 2338 B are 1106 - 5 and 1150 B less, as its first acknowledges with 5 B, so
/// 87, and its second leaves 3 B of the room for a number; with a long header of 25, a number, a tag of 16 and a frame's header of 5 it has 134 B, and 28 more.
#[test]
fn the_handshake_takes_a_round_trip() {
    let pair = upload(options(), 1000, nothing(), nothing());
    assert_eq!(pair.established, [MS(100), MS(150)]);
    let sizes = |end: usize, until: Time| -> Vec<(u64, u16)> {
        let seen = pair.seen[end].iter().take_while(|(at, ..)| *at <= until);
        seen.map(|(at, _, size)| (at.ps() / MS(1).ps(), *size)).collect()
    };
    assert_eq!(sizes(SERVER, MS(50)), [(50, 1228), (50, 1225), (50, 162)]);
    // The first acknowledgement is of an Initial packet, so it has a full datagram; the second is a long
    // header, a number and a tag of 42 B and a frame of 5; Finished has 36 + 5 more.
    // The data: 1 + 8 + 1 + 16 B, 2 for the frame at offset 0, 1000; less than a window, so nothing waits.
    let want = [(0, 1228), (100, 1228), (100, 28 + 47), (100, 28 + 88), (100, 28 + 1028)];
    assert_eq!(sizes(CLIENT, MS(100)), want);
    // The one packet with data waits for a second one for 25 ms.
    assert_eq!(pair.acknowledged_at[CLIENT], MS(225));
}

/// RFC 9002 §6.2.2: 333 + 4 * 166.5 ms after a ClientHello that is lost it leaves again.
#[test]
fn a_lost_hello_is_sent_again_after_three_initial_round_trips() {
    let pair = upload(options(), 1000, numbers([0]), nothing());
    assert_eq!(pair.established[CLIENT], MS(999 + 100));
    // All of the server's flight lost: it probes at 50 + 999 ms with what the client's 1200 B let it send,
    // less the 2581 B of before.
    let pair = upload(options(), 1000, nothing(), numbers([0, 1, 2]));
    assert!(pair.established[CLIENT] > MS(1000), "{:?}", pair.established);
    assert!(pair.established[CLIENT] < MS(2000), "{:?}", pair.established);
}

/// Thirty packets without loss or pacing. Finished has some of the first window of 14 520 B, so nine leave with
/// it. Eight are acknowledged at 200 ms, two by two: the window is of 18 datagrams and one is under way. The
/// ninth waits for 25 ms, and makes the window 19.
#[test]
fn the_first_window_leaves_at_once_and_slow_start_doubles() {
    let config = TcpOptions { pacing: Some(false), ..options() };
    let pair = upload(config, 30 * 1400, nothing(), nothing());
    let at = |ms: u64| pair.data().iter().filter(|(at, _)| *at == ms).count();
    assert_eq!([at(100), at(200), at(225)], [9, 17, 2]);
}

/// Each second one of 400 packets is lost. All 200 holes are reported at once, and what they had leaves again
/// in one round trip, with new numbers.
#[test]
fn two_hundred_holes_are_repaired_in_one_round() {
    let config =
        TcpOptions { initial_window_segments: Some(500), pacing: Some(false), ..options() };
    // Packets 0 to 3 are of the handshake.
    let lost: Vec<u64> = (0..200).map(|n| 4 + 2 * n).collect();
    let pair = upload(config, 450 * 1400, numbers(lost.clone()), nothing());
    let first: Vec<u64> =
        (lost.iter()).map(|number| pair.seen[CLIENT][*number as usize].1.offset).collect();
    let data = pair.data();
    let again: Vec<u64> =
        data.iter().filter(|(at, _)| *at == 200).map(|(_, offset)| *offset).collect();
    assert_eq!(again, first);
    assert_eq!(pair.acknowledged_at[CLIENT], MS(300));
    assert_eq!(pair.ends.tallies()[CLIENT].timeouts, 0);
}

/// The only packet with data is lost. Finished is acknowledged at 200 ms: round trips of 100 ms twice make
/// a variation of 50 and of 37.5, so the probe timeout is 100 + 150 + 25 ms after 100 ms.
#[test]
fn a_lost_tail_is_probed_for_and_the_timeout_doubles() {
    let pair = upload(options(), 1000, first_data(1), nothing());
    assert_eq!(pair.data(), [(100, 0), (375, 0), (375, 0)]);
    assert_eq!(pair.acknowledged_at[CLIENT], MS(475));
    let tally = pair.ends.tallies()[CLIENT];
    assert_eq!((tally.timeouts, tally.retransmissions), (1, 2));
    // 375 + 2 * 275, then 4 * 275 later.
    let pair = upload(options(), 1000, first_data(5), nothing());
    let times: Vec<u64> = pair.data().iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [100, 375, 375, 925, 925, 2025, 2025]);
}

/// RFC 9002 §7.6: from 375 ms on, after the first round trip was measured, probes are lost: up to 925 ms that is
/// 550 ms and up to 2025 ms 1650 ms, of which three probe timeouts are 825.
#[test]
fn persistent_congestion_leaves_two_datagrams() {
    for (lost, want) in [(5, 5.0), (7, 2.0)] {
        let pair = upload(options(), 1000, first_data(lost), nothing());
        assert_eq!(pair.ends.window(CLIENT).cwnd, want);
    }
}

/// Acknowledgements that are lost cost nothing as long as later ones come: they tell of all.
#[test]
fn lost_acknowledgements_are_made_good_by_later_ones() {
    let mut turn = 0;
    let each_second: Loss = Box::new(move |header| {
        turn += 1;
        !header.elicits && turn % 2 == 0 && header.number < 100
    });
    let pair = upload(options(), 300 * 1400, nothing(), each_second);
    assert_eq!(pair.ends.tallies()[CLIENT].retransmissions, 0);
    assert_eq!(pair.received[SERVER], 300 * 1400);
}

/// A stream that goes on for long with loss: ranges are forgotten as the sender acknowledges PINGs.
#[test]
fn acknowledgements_stay_small_in_a_long_transfer() {
    let mut rng = Rng::named(3, "loss");
    let loss: Loss = Box::new(move |header| header.len > 0 && rng.uniform() < 0.02);
    let pair = upload(options(), 5000 * 1400, loss, nothing());
    let bare = pair.seen[SERVER].iter().filter(|(_, header, _)| !header.elicits);
    let largest = bare.map(|(.., size)| *size).max();
    // 100 losses and more in all; the window has a few dozens of packets, so at one time a few are reported.
    assert!(largest < Some(28 + 27 + 60), "{largest:?}");
    assert_eq!(pair.received[SERVER], 5000 * 1400);
}

fn any_options() -> impl Strategy<Value = (Dialect, TcpOptions)> {
    let control = prop_oneof![Just(None), Just(Some(CongestionSpec::Reno(reno::Parameters {})))];
    (
        prop::sample::select(vec![Dialect::Rfc, Dialect::Linux]),
        (control, any::<Option<bool>>()),
        (1200_u16..=1500, 1_u32..20, 1_u32..4, 1_u32..200),
    )
        .prop_map(|(dialect, (control, pacing), (mss, iw, ack_every, most))| {
            let options = TcpOptions {
                transport: Some(Transport::Quic),
                congestion_control: control,
                mss_bytes: Some(mss),
                pacing,
                initial_window_segments: Some(iw),
                max_window_segments: Some(iw + most),
                ack_every_segments: Some(ack_every),
                max_rto_s: Some(4.0),
                ..TcpOptions::default()
            };
            (dialect, options)
        })
}

at_random! {
    1000;

    /// Whatever is lost, what each end sends arrives whole and once, and both ends learn that it did and that
    /// the other has closed; packet numbers count from 0 without a gap (`Pair::pump`).
    ///
    /// The time: as in the test of TCP, a round trip succeeds with probability 0.49 at least, and at worst
    /// each packet needs timeouts of at most 4 s until one does.
    #[test]
    fn whatever_is_lost_all_arrives_whole_and_once(
        (dialect, options) in any_options(),
        upload in prop_oneof![0_u64..3000, 0_u64..300_000],
        answer in prop_oneof![Just(0_u64), 0_u64..30_000],
        rtt_ms in 1_u64..300,
        up in any_loss(),
        down in any_loss(),
    ) {
        let config = options.resolve(dialect);
        let packets = (upload + answer).div_ceil(1000);
        let limit = Time::from_s(4).scaled((packets + 30) as f64 / 0.49);
        let mut pair = Pair::new(config, up.loss(), down.loss());
        pair.delay = Time::from_us(500 * rtt_ms);
        pair.exchange([upload, answer]);
        pair.run(limit);
        prop_assert_eq!(pair.received, [answer, upload]);
        prop_assert!(pair.established.iter().all(|at| *at != Time::NEVER));
        let once = |bytes: u64| u32::from(bytes > 0);
        prop_assert_eq!(pair.all, [(once(answer), once(upload)), (once(upload), once(answer))]);
    }
}

/// An upload of 400 full packets without losses, of which each 20th is marked: the fields that the client sends, and its
/// window at the end.
fn with_ecn(options: TcpOptions, path: EcnPath) -> (Vec<Ecn>, f64) {
    let mut pair = Pair::new(options.resolve(Dialect::Linux), nothing(), nothing());
    (pair.path, pair.marks) = (path, Some(20));
    pair.exchange([400 * 1400, 0]);
    pair.run(Time::from_s(600));
    (pair.fields.clone(), pair.ends.window(CLIENT).cwnd)
}

/// RFC 9000 §13.4.2: what is counted right goes on as ECT(0), and marks slow it down. Where it is not, ten packets are
/// ECT(0), of which three are the handshake's, and those that leave until the first is acknowledged.
#[test]
fn ecn_goes_on_where_it_is_counted_right() {
    let classic = || TcpOptions { ecn: Some(EcnMode::Classic), ..options() };
    let (fields, window) = with_ecn(classic(), EcnPath::Kept);
    assert!(fields.iter().skip(30).all(|ecn| *ecn == Ecn::Ect0));
    assert!(window < 60.0, "{window}");
    for (options, path) in [
        (classic(), EcnPath::Bleached),
        (TcpOptions { ecn_feedback: Some(false), ..classic() }, EcnPath::Kept),
        (TcpOptions { ecn_server: Some(EcnMode::Off), ..classic() }, EcnPath::Kept),
    ] {
        let (fields, window) = with_ecn(options, path);
        let of_ect = fields.iter().filter(|ecn| **ecn == Ecn::Ect0).count();
        assert!((1..=10).contains(&of_ect), "{path:?} {of_ect}");
        assert!(fields.iter().skip(10).all(|ecn| *ecn == Ecn::NotEct));
        assert!(window > 100.0, "{window}");
    }
    let (fields, _) = with_ecn(options(), EcnPath::Kept);
    assert!(fields.iter().all(|ecn| *ecn == Ecn::NotEct));
}
