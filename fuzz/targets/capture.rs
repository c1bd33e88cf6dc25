//! A capture file: it is refused, or its packets have sizes and times that can be replayed.
#![no_main]

use sojourn_core::packet::LARGEST_PACKET;
use sojourn_core::scenario::capture::parse;
use sojourn_core::units::Time;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (framing, file) = match bytes.split_first() {
        Some((first, rest)) if *first < 128 => (Some(u16::from(*first)), rest),
        Some((_, rest)) => (None, rest),
        None => (None, bytes),
    };
    if let Ok(capture) = parse(file, framing) {
        let packets = &capture.0;
        assert!(packets.iter().all(|packet| (1..=LARGEST_PACKET).contains(&packet.size)));
        assert!(packets.is_sorted_by_key(|packet| packet.at) && packets[0].at == Time::ZERO);
        assert!(packets[packets.len() - 1].at <= Time::from_s(1_000_000));
    }
});
