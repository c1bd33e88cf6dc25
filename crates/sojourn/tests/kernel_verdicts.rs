//! Queue managers held against the verdicts of Linux' own queue disciplines, packet by packet.
//!
//! Arrivals go through a shipped queue before a shipped link; the tests hold no rule of any manager. What a
//! discipline decided is stored as a hash for each thousand packets.

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
