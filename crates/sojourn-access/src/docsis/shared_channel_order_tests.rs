//! What the shared channel does when grants end and packets come.

use super::*;

/// The second packet comes while the first is sent: its request was not in that grant, and is in contention when it has ended.
#[test]
fn what_comes_during_a_grant_contends_after_it() {
    let mut run = Run::new(&fixed(), &[""], 1);
    run.put(MS(1), 0, 0, 1000);
    run.put(US(6100), 0, 1, 1000);
    run.run(MS(100));
    assert_eq!(run.events(&["request"]), [(MS(2), "request", 1010), (MS(8), "request", 1010)]);
    assert_eq!(run.received.len(), 2);
}

/// With a header of 7 B a part of a grant takes a minislot for a byte: of 1000 minislots 16 are for requests, 31 unsolicited and
/// one for a second part, so that 952 have 7616 B, and 7 of these are the first header.
#[test]
fn a_second_part_takes_the_minislots_of_a_byte() {
    let spec = UpstreamChannel { segment_header_bytes: 7, ..fixed() };
    let ugs = "scheduling = { kind = 'ugs', unsolicited_grant_bytes = 238, nominal_grant_interval_us = 2000 }";
    let mut run = Run::new(&spec, &["", ugs], 1);
    run.channel.flows[0].mac.shaper.sustained = deep_bucket();
    run.put(MS(1), 0, 0, 9000);
    run.run(MS(7));
    let maps: Vec<_> = run.events(&["map"]).iter().map(|(.., bytes)| *bytes).collect();
    assert_eq!(maps, [0, 0, 0, 7609]);
}

/// An algorithm at rest is updated again from when a packet comes.
#[test]
fn a_packet_wakes_an_algorithm_at_rest() {
    let mut run = Run::new(&fixed(), &["queue.law.kind = 'pie'"], 1);
    run.put(MS(1), 0, 0, 1000);
    run.run(Time::from_s(60));
    assert_eq!(run.channel.next_wake(), Time::NEVER);
    run.put(Time::from_s(60), 0, 1, 1000);
    let update = run.channel.flow(0).next_update();
    assert!(update < Time::NEVER && run.channel.updates.next() == update);
}
