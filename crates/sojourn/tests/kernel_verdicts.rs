//! Queue managers held against the verdicts of Linux' own queue disciplines, packet by packet.
//!
//! Arrivals go through a shipped queue before a shipped link; the tests hold no rule of any manager. What a
//! discipline decided is stored as a hash for each thousand packets.
//!
//! # Witnesses
//!
//! Each rule was switched off alone. What notices it is the first case, with its first packet that differs, counted from 0,
//! or, where no case does, a unit test beside the code, with its arithmetic. The DRR of these cases has no rule of its own.
//!
//! | CoDel (`codel`, `fq_codel`) | noticed by |
//! | --- | --- |
//! | one Newton step | codel-const-default 222 |
//! | late after the interval, not at its end | `the_first_drop_comes_after_more_than_an_interval_above_target` |
//! | late at the target | `a_packet_at_the_target_is_late_and_one_pushed_out_counts` |
//! | a packet of the MTU left is enough | codel-ecn-ecn 31 651 |
//! | an early head ends the time above target | codel-const-default 17 938 |
//! | an empty queue ends the time above target | `lone_packets_that_are_late_are_no_standing_queue` |
//! | an empty queue ends the episode | `an_empty_queue_ends_an_episode_by_what_was_dropped_before_it` |
//! | the episode goes on where its first drop left nothing | `an_empty_queue_ends_an_episode_by_what_was_dropped_before_it` |
//! | the head after the first drop leaves | `the_head_after_the_first_drop_leaves_and_one_after_another_drop_moves_the_next` |
//! | another drop moves the next one if the next head is late | `the_head_after_the_first_drop_leaves_and_one_after_another_drop_moves_the_next` |
//! | a mark moves the next one at once | `a_mark_moves_the_next_one_at_once` |
//! | the count goes on after a recent episode | codel-const-default 18 024 |
//! | it goes on from what the last episode added | codel-const-default 18 185 |
//! | recent is 16 intervals | codel-step-default 34 606 |
//! | nothing is recent before the first episode | `the_count_goes_on_after_a_recent_episode_of_several_drops` |
//! | what is pushed out counts | `a_packet_at_the_target_is_late_and_one_pushed_out_counts` |
//! | a gap is a tick at least | `a_gap_is_a_tick_at_least` |
//!
//! | `fq_codel` and `fq_pie`: queues | noticed by |
//! | --- | --- |
//! | a new queue that runs empty leaves where none is old | `a_new_queue_of_linux_that_runs_empty_leaves_where_none_is_old` |
//! | a new queue that runs empty takes an old turn | fq_codel-mix-default 15 |
//! | half of the bytes are pushed out | `an_overflow_of_linux_takes_half_of_the_bytes_and_64_packets_at_most` |
//! | 64 packets at most are pushed out | `an_overflow_of_linux_takes_half_of_the_bytes_and_64_packets_at_most` |
//! | a full queue refuses the arrival | `a_full_queue_of_linux_refuses_arrivals_if_its_law_judges_them` |
//! | new queues go first | fq_codel-mix-default 15 |
//! | a queue without credit moves on | fq_codel-mix-default 15 |
//!
//! | PIE (`pie`, `fq_pie`) | noticed by |
//! | --- | --- |
//! | the first update comes after half a second | pie-const-default 303 |
//! | no delay once the queue is empty | pie-mix-default 76 605 |
//! | a probability is not limited to 1 | pie-const-default 1 647 |
//! | 2 % more above 250 ms | pie-const-default 947 |
//! | decay by 1/64 | pie-step-default 27 956 |
//! | decay only at no delay | pie-mix-default 9 943 |
//! | decay only while nothing waits | pie-step-default 26 608 |
//! | departures use up the allowance | pie-const-default 697 |
//! | the controller runs through the allowance | pie-step-default 5 557 |
//! | the allowance comes back | pie-step-default 5 555 |
//! | nothing is dropped at a short delay and a small probability | pie-game-default 2 039 |
//! | nothing is dropped below two packets | pie-const-default 1 640 |
//! | not before a sum of 0.85 | pie-const-default 697 |
//! | surely from a sum of 8.5 on | pie-mix-default 32 277 |
//! | a draw ends the sum | pie-ecn-ecn 1 031 |
//! | no sum without a probability | pie-game-default 1 787 |
//! | a drop ends the sum | pie-mix-default 32 275 |
//! | an overflow ends the sum | `the_sum_of_probabilities_spaces_drops` |
//! | smaller steps at small probabilities | pie-const-default 577 |
//! | half steps below 0.1 | pie-const-default 653 |
//! | a step is 2 % at most from 0.1 on | pie-const-default 826 |
//! | marks end at their probability | pie-ecn-ecn 1 148 |
//! | a fall below zero is zero, a rise past the range is one | `the_probability_stays_above_zero_and_wraps_to_one` |
//!
//! | `dualpi2` | noticed by |
//! | --- | --- |
//! | no signal below two packets | dualpi2-lover-default 5 307 |
//! | two draws decide about C | dualpi2-lover-default 5 266 |
//! | L's step is a step at 1 ms | dualpi2-lover-default 12 |
//! | L is marked by twice the base | dualpi2-lover-default 5 327 |
//! | overload drops L | dualpi2-lover-default 5 318 |
//! | C is dropped from 1/4 on | dualpi2-lover-default 5 329 |
//! | the longer delay drives the base | dualpi2-lover-default 12 082 |
//! | credit between L and C | dualpi2-lover-default 5 248 |
//! | credit is that of the start when nothing waits | dualpi2-lover-default 1 712 |
//! | a draw that equals the probability signals | `a_roll_marks_up_to_its_probability` |
//! | a packet of L that cannot be marked is dropped | `linux_draws_on_the_ramp_of_l` |
//! | the probability is in whole parts | dualpi2-lover-default 5 369 |
//!
//! | CAKE | noticed by |
//! | --- | --- |
//! | roots below 16 from a table | cake-mix-unlimited 362 |
//! | four packets are no delay | `a_queue_of_four_packets_is_not_late` |
//! | the count goes down gap by gap | cake-mix-unlimited 2 700 |
//! | what is late catches up without a mark | cake-mix-unlimited 77 554 |
//! | remembered for an interval | cake-mix-unlimited 262 |
//! | BLUE drops | `blue_drops_where_a_draw_is_below_its_probability` |
//! | BLUE rises once a target | `an_overflow_begins_an_episode_at_once` |
//! | BLUE falls in an empty queue | `an_empty_queue_is_remembered_until_its_state_is_at_rest` |
//! | an overflow begins an episode | `an_overflow_begins_an_episode_at_once` |
//! | an empty queue ends the episode | `an_empty_queue_is_remembered_until_its_state_is_at_rest` |
//! | an empty queue brings the count down | cake-mix-unlimited 54 200 |
//! | a flow is remembered | cake-mix-unlimited 54 200 |
//! | the target is 1.5 packets at least | `targets_follow_the_time_of_a_frame` |
//! | all tins have one interval | `all_tins_have_the_same_interval` |
//! | a quantum of the rate over 4096 | cake-mix-shaped10M 27 |
//! | a draw rounds the quantum | cake-mix-unlimited 289 |
//! | a host with many flows has shorter turns | cake-mix-unlimited 63 |
//! | the first look is at flows that are remembered | cake-mix-unlimited 54 200 |
//! | a sparse flow that is empty waits a turn as such | cake-mix-unlimited 63 |
//! | the last packet of a flow is not dropped | cake-mix-unlimited 1 549 |
//! | memory counts as Linux does | `memory_is_what_four_intervals_fill` |
//! | the shaper does not catch up after idling | cake-mix-shaped10M 1 |
//! | a tin is on schedule from when it is busy | `a_shaper_sends_at_its_rate_and_saves_up_nothing` |
//! | tins of a shaper by schedule | cake-game-shaped10M 10 |
//! | tins take turns by weight | cake-game-unlimited 10 |
//!
//! | RED, and that of CHOKe | noticed by |
//! | --- | --- |
//! | idle time ages the average by a table | `an_idle_time_ages_the_average_by_its_cells` |
//! | a short idle time by a line | `an_idle_time_ages_the_average_by_its_cells` |
//! | half of an odd average is rounded down | `an_idle_time_ages_the_average_by_its_cells` |
//! | the first packet after idling does not move the average | `an_idle_time_ages_the_average_by_its_cells` |
//! | the first one between the thresholds draws alone | red-const-default 90 |
//! | signals are spaced by a sum | red-const-default 103 |
//! | below the threshold the spacing begins anew | choke-ecn-ecn 2 490 |
//! | above the upper threshold all are signalled | red-const-default 221 |
//! | above the upper threshold the spacing begins anew | red-const-default 252 |
//!
//! | CHOKe | noticed by |
//! | --- | --- |
//! | an arrival meets one that is drawn | choke-mix-default 454 |
//! | a place that is empty is drawn again | choke-mix-default 462 |
//! | after three draws it is the head | choke-mix-default 51 943 |
//! | places of dropped packets stay | choke-mix-default 454 |
//! | a threshold itself is below | choke-mix-default 3 179 |
//! | above the upper threshold what can is marked | `above_the_upper_threshold_packets_are_marked_where_they_may_be` |
//! | the average counts what waits before the arrival | choke-mix-default 454 |
//! | an empty queue ages the average | `above_the_upper_threshold_packets_are_marked_where_they_may_be` |
//!
//! | SFB | noticed by |
//! | --- | --- |
//! | empty buckets forget | sfb-mix-default 17 491 |
//! | full buckets learn | sfb-mix-default 602 |
//! | a flow has so many packets at most | sfb-mix-default 379 |
//! | a flow that does not respond has a penalty rate | `a_flow_that_does_not_respond_has_its_burst` |
//! | from one half on a part is dropped unmarked | sfb-ecn-default 4 296 |
//! | hashes are renewed | `hashes_are_renewed_after_their_time_and_the_next_ones_learn_before` |
//! | the next buckets learn before | `hashes_are_renewed_after_their_time_and_the_next_ones_learn_before` |
//!
//! | SFQ | noticed by |
//! | --- | --- |
//! | a new bin joins the end | sfq-mix-default 190 |
//! | a bin leaves with its last packet | sfq-mix-default 12 |
//! | the longest bin loses its tail | `an_overflow_drops_from_the_tail_or_the_head` |
//! | of bins as long the one that changed last | sfq-mix-default 686 |
//! | where all hold one the next to be served loses it | `a_flow_of_linux_that_lost_its_only_packet_goes_to_the_end` |
//! | a bin has so many packets at most | `a_flow_has_its_limit` |
//! | the deficit of a turn | sfq-mix-default 6 |
//!
//! # Clocks that begin at 0
//!
//! The kernel's clock is long past 0 when a queue begins, so a time of 0 in its state is long ago.
//!
//! | clock | witness, or why it needs none |
//! | --- | --- |
//! | CoDel, `drop_next` | `the_count_goes_on_after_a_recent_episode_of_several_drops` |
//! | CoDel, `first_above` | none: it is unset, not 0 |
//! | PIE, `left_at` | none: it is unset; `idle_updates` count from the start, as the kernel's timer does: pie-const-default 303 |
//! | `dualpi2`, `delay_old_ns` | none: without a queue it is 0 after any update |
//! | CAKE, `next` of a flow | none: without a count only memory of the flow asks for it, and a first late packet sets it to now |
//! | CAKE, `changed` of BLUE | `blue_rises_by_a_256th_and_falls_by_a_4096th_once_a_target`: an overflow in the first 5 ms counts |
//! | CAKE, `next` of tin and shaper | cake-mix-shaped10M 1, `a_shaper_sends_at_its_rate_and_saves_up_nothing` |
//! | RED and CHOKe, `idle_since_us` | none: the average is 0, and ages to 0 |
//! | SFB, `hashed_ms` and `tokens_ms` | `hashes_are_renewed_after_their_time_and_the_next_ones_learn_before`; the kernel's begin with the queue too |
//! | SFQ, hashes | `hashes_change_at_whole_multiples_of_their_interval`; the kernel's timer begins with the queue too |

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use sojourn::engine::capacity::Capacity;
use sojourn::engine::dialect::Dialect;
use sojourn::engine::hop::Hop;
use sojourn::engine::link::Link;
use sojourn::engine::packet::{Ecn, Packet, Segment};
use sojourn::engine::queue::Queue;
use sojourn::engine::record::{PacketEventKind, Recorder};
use sojourn::engine::rng::Rng;
use sojourn::engine::units::{BitRate, Time};

use super::queue_kit::spec;

/// What became of a packet: a letter as in the reference data, and how long it waited in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fate {
    code: char,
    wait_ns: Option<u64>,
}

struct Arrival {
    at: Time,
    size: u16,
    flow: u32,
    ecn: Ecn,
    dscp: u8,
}

fn unpacked(path: &Path) -> String {
    let file = std::fs::File::open(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

fn arrivals(text: &str) -> Vec<Arrival> {
    let mut at_ns = 0;
    let read = |line: &str| {
        let fields: Vec<u64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        at_ns += fields[0];
        let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0][fields[3] as usize];
        let (size, flow) = (fields[1] as u16, fields[2] as u32);
        Arrival { at: Time::from_ps(1000 * at_ns), size, flow, ecn, dscp: fields[4] as u8 }
    };
    text.lines().skip(1).map(read).collect()
}

/// Sends the arrivals through a queue of these keys before a link of this rate.
fn fates(keys: &str, mbps: u64, arrivals: &[Arrival]) -> Vec<Fate> {
    let rate = BitRate::from_mbps(mbps as f64);
    // The reference hashes the number of a flow there.
    let is_sfb = keys.contains("'sfb'");
    let mut queue = Queue::new(&spec(keys), u64::MAX, Dialect::Rfc, "queue", 1);
    queue.name_traffic(&["a", "b", "c"], 0);
    let queue = queue.drawing(Rng::split_mix(20_240_601));
    let mut hop = Hop::new(Link::new(Capacity::steady(rate), Time::ZERO), Some(queue));
    let mut recorder = Recorder::default();
    let number: HashMap<Time, usize> =
        arrivals.iter().enumerate().map(|(number, arrival)| (arrival.at, number)).collect();
    assert_eq!(number.len(), arrivals.len(), "times name packets");
    let mut fates = vec![Fate { code: 'R', wait_ns: None }; arrivals.len()];
    let mut marked: HashMap<usize, char> = HashMap::new();
    let mut delivered = Vec::new();
    let mut note = |recorder: &mut Recorder, now: Time, arriving: Option<usize>| {
        for event in std::mem::take(&mut recorder.events) {
            let packet = number[&event.sent_at];
            let is_arriving = arriving == Some(packet);
            let wait_ns = Some(now.since(event.sent_at).ps() / 1000);
            match event.kind {
                PacketEventKind::Marked => {
                    marked.insert(packet, if is_arriving { 'm' } else { 'M' });
                }
                PacketEventKind::Dropped(_) if is_arriving => {
                    fates[packet] = Fate { code: 'E', wait_ns: None };
                }
                PacketEventKind::Dropped(_) if arriving.is_some() => {
                    fates[packet] = Fate { code: 'P', wait_ns };
                }
                PacketEventKind::Dropped(_) => fates[packet] = Fate { code: 'Q', wait_ns },
                PacketEventKind::Sanctioned => {}
            }
        }
    };
    let until = |hop: &mut Hop, end: Time, delivered: &mut Vec<_>, recorder: &mut Recorder| {
        let now = hop.next_wake();
        if now > end || hop.inside().packets == 0 && end == Time::NEVER {
            return None;
        }
        delivered
            .extend(hop.wake(now, recorder).map(|(at, packet)| (at, packet.sent_at, packet.size)));
        Some(now)
    };
    for (number, of) in arrivals.iter().enumerate() {
        while let Some(now) = until(&mut hop, of.at, &mut delivered, &mut recorder) {
            note(&mut recorder, now, None);
        }
        let tuple = if is_sfb { of.flow } else { (37 * of.flow + 11) % 1024 };
        let (traffic, server) = ((of.flow % 3) as u16, of.flow as u16);
        let segment = Segment { dscp: of.dscp, ..Segment::default() };
        let packet = Packet {
            sent_at: of.at,
            flow: of.flow,
            tuple,
            ecn: of.ecn,
            traffic,
            server,
            segment,
            ..Packet::datagram(of.size)
        };
        hop.accept(of.at, of.at, packet, &mut recorder);
        note(&mut recorder, of.at, Some(number));
    }
    while let Some(now) = until(&mut hop, Time::NEVER, &mut delivered, &mut recorder) {
        note(&mut recorder, now, None);
    }
    for (at, sent_at, size) in delivered {
        let packet = number[&sent_at];
        let service_ps = u64::from(size) * 8 * 1_000_000 / mbps;
        let wait_ns = Some((at.since(sent_at).ps() - service_ps) / 1000);
        fates[packet] = Fate { code: *marked.get(&packet).unwrap_or(&'D'), wait_ns };
    }
    fates
}

fn kernel(text: &str) -> Vec<Fate> {
    let read = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        Fate { code: fields[0].chars().next().unwrap(), wait_ns: fields[1].parse().ok() }
    };
    text.lines().skip(1).map(read).collect()
}

/// FNV-1a of each thousand packets' fates, as hexadecimal digits.
fn hashes(fates: &[Fate]) -> String {
    let hash = |fates: &[Fate]| {
        let bytes = fates.iter().flat_map(|fate| {
            let wait = fate.wait_ns.unwrap_or(u64::MAX).to_le_bytes();
            std::iter::once(fate.code as u8).chain(wait)
        });
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    };
    let words: Vec<String> =
        fates.chunks(1000).map(|part| format!("{:016x}", hash(part))).collect();
    words.join(" ")
}

const CODEL: &str = "law = { kind = 'codel', variant = 'linux' }
                     limit_packets = 1000";
const FQ_CODEL: &str = "law = { kind = 'codel', variant = 'linux' }
                        scheduler = { kind = 'fq', variant = 'linux' }
                        limit_packets = 10_240";
const PIE: &str = "law = { kind = 'pie_linux', first_update_ms = 480 }
                   limit_packets = 1000";
const FQ_PIE: &str = "law = { kind = 'pie_linux', first_update_ms = 480 }
                      scheduler = { kind = 'fq', variant = 'linux' }
                      limit_packets = 10_240";
const DUALPI2: &str = "scheduler = { kind = 'dualq', variant = 'linux' }
                       limit_packets = 10_000";
const CAKE: &str = "scheduler.kind = 'cake'";
const SHAPED: &str = "scheduler = { kind = 'cake', bandwidth_mbps = 10 }";
const RED: &str = "law = { kind = 'red_linux', min_threshold_packets = 30, weight = 0.03125,
                           max_threshold_packets = 90, mean_packet_bytes = 1000, max_p = 0.02 }
                   limit_bytes = 400_000";
const CHOKE: &str = "scheduler = { kind = 'choke', min_threshold_packets = 83,
                                   max_threshold_packets = 250, burst_packets = 138 }
                     limit_packets = 1000";
const SFB: &str = "scheduler.kind = 'sfb'
                   limit_packets = 1000";
const SFQ: &str = "scheduler = { kind = 'sfq_linux' }
                   limit_packets = 127";
const DRR: &str = "scheduler = { kind = 'drr', quantum_bytes = 1514, flow_limit_packets = 1000 }
                   limit_packets = 100_000";

/// Case, keys of the queue, and whether it marks.
const CASES: &[(&str, &str, bool)] = &[
    ("codel-const_10M-default", CODEL, false),
    ("codel-mix_10M-default", CODEL, false),
    ("codel-step_10M-default", CODEL, false),
    ("codel-game_10M-default", CODEL, false),
    ("codel-ecn_10M-ecn", CODEL, true),
    ("codel-game_10M-ecn", CODEL, true),
    ("fq_codel-mix_10M-default", FQ_CODEL, true),
    ("fq_codel-ecn_10M-default", FQ_CODEL, true),
    ("fq_codel-game_10M-default", FQ_CODEL, true),
    ("pie-const_10M-default", PIE, false),
    ("pie-mix_10M-default", PIE, false),
    ("pie-step_10M-default", PIE, false),
    ("pie-game_10M-default", PIE, false),
    ("pie-ecn_10M-ecn", PIE, true),
    ("pie-step_10M-ecn", PIE, true),
    ("fq_pie-mix_10M-default", FQ_PIE, false),
    ("fq_pie-ecn_10M-default", FQ_PIE, true),
    ("fq_pie-game_10M-default", FQ_PIE, true),
    ("dualpi2-lover_10M-default", DUALPI2, true),
    ("dualpi2-ecn_10M-default", DUALPI2, true),
    ("dualpi2-mix_10M-default", DUALPI2, true),
    ("dualpi2-step_10M-default", DUALPI2, true),
    ("dualpi2-game_10M-default", DUALPI2, true),
    ("cake-mix_10M-unlimited", CAKE, true),
    ("cake-ecn_10M-unlimited", CAKE, true),
    ("cake-game_10M-unlimited", CAKE, true),
    ("cake-mix_10M-shaped10M", SHAPED, true),
    ("cake-game_10M-shaped10M", SHAPED, true),
    ("red-const_10M-default", RED, false),
    ("red-mix_10M-default", RED, false),
    ("choke-mix_10M-default", CHOKE, false),
    ("choke-const_10M-default", CHOKE, false),
    ("choke-ecn_10M-ecn", CHOKE, true),
    ("sfb-mix_10M-default", SFB, true),
    ("sfb-ecn_10M-default", SFB, true),
    ("sfq-mix_10M-default", SFQ, false),
    ("sfq-game_10M-default", SFQ, false),
    ("drr-mix_10M-default", DRR, false),
    ("drr-ecn_10M-default", DRR, false),
    ("drr-game_10M-default", DRR, false),
];

fn stored() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/kernel")
}

/// A shaper stands before a link that is faster.
fn mbps(case: &str) -> u64 {
    if case.contains("shaped") { 100 } else { 10 }
}

fn arrivals_of(case: &str, root: &Path) -> Vec<Arrival> {
    let trace = case.split('-').nth(1).unwrap();
    arrivals(&unpacked(&root.join(format!("arrivals/{trace}.csv.gz"))))
}

/// Every packet of the kernel's cases has the kernel's verdict, at the kernel's time.
#[test]
fn queues_of_linux_decide_as_linux_does() {
    let root = stored();
    let text = std::fs::read_to_string(root.join("verdicts.txt")).unwrap();
    let theirs: HashMap<&str, &str> =
        text.lines().filter_map(|line| line.split_once('\t')).collect();
    assert_eq!(theirs.len(), CASES.len());
    for &(case, keys, marks) in CASES {
        let ours = fates(&format!("ecn = {marks}\n{keys}"), mbps(case), &arrivals_of(case, &root));
        let (ours, theirs) = (hashes(&ours), theirs[case]);
        let differs =
            ours.split(' ').zip(theirs.split(' ')).position(|(ours, theirs)| ours != theirs);
        assert_eq!(differs, None, "{case}: among these thousand packets is the first that differs");
        assert_eq!(ours.len(), theirs.len(), "{case}");
    }
}

#[test]
fn fq_pie_is_fq_with_pie() {
    let arrivals = arrivals_of("fq_pie-game_10M-default", &stored());
    let of = |keys: &str| fates(&format!("{keys}\nlimit_packets = 10_240"), 10, &arrivals);
    let both = "law = { kind = 'pie_linux' }
                scheduler = { kind = 'fq', variant = 'linux' }";
    assert!(of("scheduler.kind = 'fq_pie'") == of(both));
}

/// Reads the reference data in the folder KERNEL, says what differs, and stores the kernel's verdicts for the test above.
#[test]
#[ignore = "needs the reference data, of which only hashes are stored"]
fn verdicts_are_stored() {
    let root =
        PathBuf::from(std::env::var("KERNEL").expect("KERNEL is the folder of the reference data"));
    let mut text = String::new();
    for &(case, keys, marks) in CASES {
        let arrivals = arrivals_of(case, &root);
        let theirs = kernel(&unpacked(&root.join(format!("cases/{case}/pkts.csv.gz"))));
        let ours = fates(&format!("ecn = {marks}\n{keys}"), mbps(case), &arrivals);
        let differing: Vec<usize> = (0..ours.len()).filter(|&n| ours[n] != theirs[n]).collect();
        let first = differing.first().map(|&n| (n, ours[n], theirs[n]));
        println!("{case}: {} of {} differ, first {first:?}", differing.len(), ours.len());
        text += &format!("{case}\t{}\n", hashes(&theirs));
    }
    std::fs::write(stored().join("verdicts.txt"), text).unwrap();
}
