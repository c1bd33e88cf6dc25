//! A capture file: it is refused, or its packets have sizes and times that can be replayed.
#![no_main]

use sojourn::engine::packet::{Direction, LARGEST_PACKET};
use sojourn::engine::units::Time;
use sojourn::scenario::capture::{How, parse};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (first, file) =
        bytes.split_first().map_or((u8::MAX, bytes), |(first, rest)| (*first, rest));
    let mut how = How::default();
    match first {
        0..128 => how.framing_bytes = Some(u16::from(first)),
        128..160 => how.home = serde_json::from_str("\"192.168.1.0/24\"").ok(),
        160..192 => how.mtu_bytes = Some(576),
        192..208 => how.direction = Some(Direction::Down),
        _ => {}
    }
    if let Ok(reading) = parse(file, &how) {
        let packets = &reading.capture.0;
        assert!(packets.iter().all(|packet| (1..=LARGEST_PACKET).contains(&packet.size)));
        assert!(packets.is_sorted_by_key(|packet| packet.at) && packets[0].at == Time::ZERO);
        assert!(packets[packets.len() - 1].at <= Time::from_s(1_000_000));
        let is_one_way = packets.iter().all(|packet| Some(packet.direction) == reading.direction);
        assert!(is_one_way || reading.home.is_some());
        // What was found leads to the same packets again.
        let how = How { direction: reading.direction, home: reading.home, ..how };
        assert!(parse(file, &how).is_ok_and(|again| again.capture == reading.capture));
    }
});
