//! Queue managers held against the verdicts of Linux' own queue disciplines, packet by packet.
//!
//! Arrivals go through a shipped queue before a shipped link; the tests hold no rule of any manager. What a
//! discipline decided is stored as a hash for each thousand packets.

use std::collections::HashMap;
use std::io::Read;

use sojourn::engine::capacity::Capacity;
use sojourn::engine::dialect::Dialect;
use sojourn::engine::hop::Hop;
use sojourn::engine::link::Link;
use sojourn::engine::packet::{DropReason, Ecn, Packet};
use sojourn::engine::queue::Queue;
use sojourn::engine::record::{PacketEventKind, Recorder};
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
}

fn unpacked(path: &std::path::Path) -> String {
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
        Arrival { at: Time::from_ps(1000 * at_ns), size, flow, ecn }
    };
    text.lines().skip(1).map(read).collect()
}

/// Sends the arrivals through a queue of these keys before a link of 10 Mbps.
fn fates(keys: &str, arrivals: &[Arrival]) -> Vec<Fate> {
    let rate = BitRate::from_mbps(10.0);
    let mut queue = Queue::new(&spec(keys), u64::MAX, Dialect::Rfc, "queue", 1);
    queue.name_traffic(&["all"], 0);
    let mut hop = Hop::new(Link::new(Capacity::steady(rate), Time::ZERO), Some(queue));
    let mut recorder = Recorder::default();
    let number: HashMap<Time, usize> =
        arrivals.iter().enumerate().map(|(number, arrival)| (arrival.at, number)).collect();
    assert_eq!(number.len(), arrivals.len(), "times name packets");
    let mut fates = vec![Fate { code: 'R', wait_ns: None }; arrivals.len()];
    let mut marked: HashMap<usize, char> = HashMap::new();
    let mut note = |recorder: &mut Recorder, now: Time, arriving: Option<usize>, fates: &mut [Fate]| {
        for event in std::mem::take(&mut recorder.events) {
            let packet = number[&event.sent_at];
            let waited = Some(now.since(event.sent_at).ps() / 1000);
            match event.kind {
                PacketEventKind::Marked => {
                    let code = if arriving == Some(packet) { 'm' } else { 'M' };
                    marked.insert(packet, code);
                }
                PacketEventKind::Dropped(reason) => {
                    fates[packet] = match (reason, arriving == Some(packet)) {
                        (_, true) => Fate { code: 'E', wait_ns: None },
                        (DropReason::Overflow, false) => Fate { code: 'P', wait_ns: waited },
                        (_, false) => Fate { code: 'Q', wait_ns: waited },
                    };
                }
                PacketEventKind::Sanctioned => {}
            }
        }
        marked.clone()
    };
    let mut delivered = Vec::new();
    let mut all_marked = HashMap::new();
    let end = Time::from_s(10_000);
    for (number, arrival) in
        arrivals.iter().enumerate().map(|(number, arrival)| (Some(number), arrival.at)).chain([(None, end)])
    {
        while hop.next_wake() <= arrival {
            let now = hop.next_wake();
            if now == Time::NEVER || now > end {
                break;
            }
            if let Some((at, packet)) = hop.wake(now, &mut recorder) {
                delivered.push((at, packet.sent_at, packet.size));
            }
            all_marked = note(&mut recorder, now, None, &mut fates);
            if number.is_none() && hop.inside().packets == 0 {
                break;
            }
        }
        let Some(number) = number else { break };
        let of = &arrivals[number];
        let packet = Packet {
            sent_at: of.at,
            tuple: (37 * of.flow + 11) % 1024,
            ecn: of.ecn,
            ..Packet::datagram(of.size)
        };
        hop.accept(of.at, of.at, packet, &mut recorder);
        all_marked = note(&mut recorder, of.at, Some(number), &mut fates);
    }
    for (at, sent_at, size) in delivered {
        let packet = number[&sent_at];
        let service_ps = u64::from(size) * 8 * 100_000;
        let wait_ns = Some((at.since(sent_at).ps() - service_ps) / 1000);
        fates[packet] = Fate { code: *all_marked.get(&packet).unwrap_or(&'D'), wait_ns };
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

#[test]
#[ignore = "development"]
fn develop() {
    let root = std::path::PathBuf::from(std::env::var("KERNEL").unwrap());
    let codel = "law = { kind = 'codel', variant = 'linux' }\nlimit_packets = 1000";
    let fq = "scheduler = { kind = 'fq', variant = 'linux' }\nlimit_packets = 10240\nlaw = { kind = 'codel', variant = 'linux' }";
    for (case, keys) in [
        ("codel-const_10M-default", format!("ecn = false\n{codel}")),
        ("codel-mix_10M-default", format!("ecn = false\n{codel}")),
        ("codel-step_10M-default", format!("ecn = false\n{codel}")),
        ("codel-game_10M-default", format!("ecn = false\n{codel}")),
        ("codel-ecn_10M-ecn", codel.to_owned()),
        ("codel-game_10M-ecn", codel.to_owned()),
        ("fq_codel-mix_10M-default", fq.to_owned()),
        ("fq_codel-ecn_10M-default", fq.to_owned()),
        ("fq_codel-game_10M-default", fq.to_owned()),
    ] {
        let trace = case.split('-').nth(1).unwrap();
        let arrivals = arrivals(&unpacked(&root.join(format!("arrivals/{trace}.csv.gz"))));
        let theirs = kernel(&unpacked(&root.join(format!("cases/{case}/pkts.csv.gz"))));
        let ours = fates(&keys, &arrivals);
        let differing: Vec<usize> = (0..ours.len()).filter(|&n| ours[n] != theirs[n]).collect();
        let first = differing.first().map(|&n| (n, ours[n], theirs[n]));
        println!("{case}: {} of {} differ, first {first:?}", differing.len(), ours.len());
    }
}
