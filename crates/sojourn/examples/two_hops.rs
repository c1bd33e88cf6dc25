//! The engine without scenarios: packets cross two hops in a loop of your own. The first is faster, so packets
//! wait at the second.
//!
//! `cargo run --release -p sojourn --example two_hops`

use sojourn::engine::capacity::Capacity;
use sojourn::engine::dialect::Dialect;
use sojourn::engine::hop::Hop;
use sojourn::engine::link::Link;
use sojourn::engine::packet::Packet;
use sojourn::engine::queue::{Queue, QueueSpec};
use sojourn::engine::record::Recorder;
use sojourn::engine::units::{BitRate, Time};

/// A link of this rate behind a queue that holds 200 kB.
fn hop(name: &str, mbps: f64) -> Hop {
    let queue = Queue::new(&QueueSpec::default(), 200_000, Dialect::Rfc, name, 1);
    let rate = Capacity::steady(BitRate::from_mbps(mbps));
    Hop::new(Link::new(rate, Time::from_ms(5)), Some(queue))
}

/// Sends 100 packets at once, and gives the delay of each.
pub fn delays() -> Vec<Time> {
    let (mut hops, mut recorder) =
        ([hop("first", 100.0), hop("second", 10.0)], Recorder::default());
    for _ in 0..100 {
        hops[0].accept(Time::ZERO, Time::ZERO, Packet::datagram(1250), &mut recorder);
    }
    let mut delays = Vec::new();
    loop {
        let due = hops.iter().map(Hop::next_wake).min().unwrap_or(Time::NEVER);
        if due == Time::NEVER {
            return delays;
        }
        // Not both: what leaves the first reaches the second, which is then woken in its turn.
        let number = hops.iter().position(|hop| hop.next_wake() == due).unwrap_or_default();
        match hops[number].wake(due, &mut recorder) {
            Some((at, packet)) if number == 0 => {
                hops[1].accept(due, at, packet, &mut recorder);
            }
            Some((at, packet)) => delays.push(at - packet.sent_at),
            None => {}
        }
    }
}

fn main() {
    let delays = delays();
    let of = |number: usize| delays[number].ms_f64();
    println!("{} packets arrive, after {} ms to {} ms", delays.len(), of(0), of(delays.len() - 1));
}
