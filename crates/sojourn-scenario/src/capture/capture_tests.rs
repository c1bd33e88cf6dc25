//! Captures of all forms, written byte by byte.

use std::io::Write as _;

use super::reader::ALLOWED;
use super::*;
use sojourn_engine::packet::Direction;
use sojourn_testing::at_random;
use sojourn_testing::proptest::prelude::*;

/// A pcap file of packets (seconds, ticks, size), with so much captured of each.
fn pcap(magic: u32, linktype: u32, captured: u32, packets: &[(u32, u32, u32)]) -> Vec<u8> {
    let mut words = vec![magic, 4 << 16 | 2, 0, 0, 65_535, linktype];
    for &(s, ticks, size) in packets {
        words.extend([s, ticks, captured, size]);
        words.extend(vec![0; captured as usize / 4]);
    }
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn swapped(bytes: &[u8]) -> Vec<u8> {
    let swap = |word: &[u8]| word.iter().rev().copied().collect::<Vec<_>>();
    // The version is two numbers of 16 bits, which the parser does not look at.
    bytes.chunks(4).flat_map(swap).collect()
}

const MICRO: u32 = 0xa1b2_c3d4;
const NANO: u32 = 0xa1b2_3c4d;

fn packets(bytes: &[u8], framing_bytes: Option<u16>) -> Vec<(u64, u16)> {
    let reading = parse(bytes, &How { framing_bytes, ..How::default() }).unwrap();
    reading.capture.0.iter().map(|packet| (packet.at.ps(), packet.size)).collect()
}

fn sentences(reading: &Reading) -> Vec<&str> {
    reading.notes.iter().map(|note| &*note.message).collect()
}

#[test]
fn pcap_keeps_times_and_sizes_on_the_wire() {
    let three = [(7, 999_999, 60), (8, 0, 1514), (8, 20, 9000)];
    // 1, 1 and 20 us after the one before.
    let want = [(0, 60), (1_000_000, 1514), (21_000_000, 9000)];
    let file = pcap(MICRO, 1, 8, &three);
    assert_eq!(packets(&file, None), want);
    assert_eq!(packets(&swapped(&file), None), want);
    let file = pcap(NANO, 1, 0, &[(1, 5, 100), (1, 7, 100)]);
    assert_eq!(packets(&file, None), [(0, 100), (2000, 100)]);
    assert_eq!(packets(&swapped(&file), None), [(0, 100), (2000, 100)]);
}

#[test]
fn framing_is_by_link_type_or_as_given() {
    for (linktype, framing) in [(1, 0), (0xf400_0001, 0), (101, 18), (12, 18), (228, 18), (229, 18)]
    {
        let file = pcap(MICRO, linktype, 0, &[(0, 0, 200)]);
        assert_eq!(packets(&file, None), [(0, 200 + framing)]);
        assert_eq!(packets(&file, Some(4)), [(0, 204)]);
    }
}

#[test]
fn packets_out_of_order_are_put_in_order() {
    let file = pcap(MICRO, 1, 0, &[(5, 9, 100), (5, 3, 200), (5, 9, 300)]);
    assert_eq!(packets(&file, None), [(0, 200), (6_000_000, 100), (6_000_000, 300)]);
}

fn refusal(bytes: &[u8]) -> String {
    match parse(bytes, &How::default()) {
        Err(Refusal::File(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_refused() {
    let file = pcap(MICRO, 1, 8, &[(0, 0, 60), (0, 1, 60)]);
    assert_eq!(refusal(&file[..file.len() - 1]), format!("which ends after packet 1; {ALLOWED}"));
    assert_eq!(refusal(&file[..50]), format!("which ends after packet 1; {ALLOWED}"));
    assert_eq!(refusal(b"GIF89a"), format!("which does not start like a capture; {ALLOWED}"));
    assert_eq!(refusal(&file[..24]), "which has no packets; allowed: at least 1 packet");
    assert_eq!(
        refusal(&pcap(MICRO, 105, 0, &[(0, 0, 60)])),
        "whose packets have link type 105; allowed: Ethernet (1), Linux cooked (113, 276), loopback (0, \
         108), PPP (9), raw IP (101, 228, 229)"
    );
    for size in [0, 1_048_577, u32::MAX] {
        assert_eq!(
            refusal(&pcap(MICRO, 1, 0, &[(0, 0, 60), (0, 0, size)])),
            format!("whose packet 2 has {size} bytes; allowed: 1 to 1048576")
        );
    }
    assert_eq!(
        refusal(&pcap(MICRO, 1, 0, &[(0, 0, 60), (1_000_001, 0, 60)])),
        "which lasts 1000001 s; allowed: 1000000 s or less"
    );
}

/// A block of pcapng: its type, its length around its body.
fn block(kind: u32, body: &[u32]) -> Vec<u32> {
    let length = 12 + 4 * body.len() as u32;
    [&[kind, length], body, &[length]].concat()
}

fn section() -> Vec<u32> {
    block(0x0a0d_0d0a, &[0x1a2b_3c4d, 1, u32::MAX, u32::MAX])
}

/// An interface with a clock of this resolution and offset in s.
fn clock(linktype: u32, resolution: u8, offset_s: u64) -> Vec<u32> {
    let (low, high) = (offset_s as u32, (offset_s >> 32) as u32);
    // Options: if_tsresol (9) of 1 byte, if_tsoffset (14) of 8.
    block(1, &[linktype, 0, 1 << 16 | 9, resolution.into(), 8 << 16 | 14, low, high, 0])
}

fn packet(interface: u32, ticks: u64, size: u32) -> Vec<u32> {
    block(6, &[interface, (ticks >> 32) as u32, ticks as u32, 4, size, 0])
}

fn words_of(blocks: &[Vec<u32>]) -> Vec<u8> {
    blocks.concat().into_iter().flat_map(u32::to_le_bytes).collect()
}

#[test]
fn pcapng_has_a_clock_and_a_link_type_for_each_interface() {
    let bytes = words_of(&[
        section(),
        clock(1, 9, 0),
        clock(101, 0x80 | 10, 3),
        packet(0, 4_000_000_000, 100),
        // 2^-10 s: 1025 ticks after 3 s are at 4.0009765625 s.
        packet(1, 1025, 200),
        block(4, &[0]),
        packet(0, 4_000_000_001, 300),
    ]);
    assert_eq!(packets(&bytes, None), [(0, 100), (1000, 300), (976_562_500, 218)]);
    let big = words_of(&[section(), clock(1, 6, 1), packet(0, 7, 90), packet(0, 9, 91)]);
    // Options of 16 bits swap within their words when all words do.
    let mut words: Vec<Vec<u8>> =
        big.chunks(4).map(|w| w.iter().rev().copied().collect()).collect();
    for word in [9, 11, 13] {
        words[word].rotate_left(2);
    }
    words[12].reverse();
    assert_eq!(packets(&words.concat(), None), [(0, 90), (2_000_000, 91)]);
}

#[test]
fn what_is_refused_of_pcapng() {
    let good = [section(), clock(1, 6, 0), packet(0, 0, 60)];
    let with = |block: Vec<u32>| refusal(&words_of(&[good.concat(), block]));
    let after_one = |what: &str| format!("which {what} after packet 1; {ALLOWED}");
    assert_eq!(with(packet(1, 0, 60)), after_one("has a packet of an undescribed interface"));
    assert_eq!(with(block(3, &[60, 0])), after_one("has a packet without a time"));
    assert_eq!(
        with(block(2, &[0, 0, 0, 4, 60, 0])),
        after_one("has a packet in a block of the first version of pcapng")
    );
    assert_eq!(with(clock(1, 20, 0)), format!("with a clock of 10^-20 s; {ALLOWED}"));
    let bytes = words_of(&good);
    assert_eq!(refusal(&bytes[..bytes.len() - 4]), format!("which ends after packet 0; {ALLOWED}"));
    let mut damaged = packet(0, 0, 60);
    *damaged.last_mut().unwrap() += 4;
    assert_eq!(with(damaged), after_one("is damaged"));
    // Process information of fewer bytes than any block has.
    for length in [0, 4, 8, 11] {
        assert_eq!(with(vec![0x8000_0001, length]), after_one("is damaged"), "{length}");
    }
}

fn how(home: &str) -> How {
    How { home: Some(serde_json::from_value(home.into()).unwrap()), ..How::default() }
}

/// A frame of Ethernet: IPv4 and UDP headers of a datagram with so many bytes of payload, none of them
/// captured.
fn udp(from: [u8; 4], to: [u8; 4], payload: usize) -> (Vec<u8>, u32) {
    let length = 28 + payload as u16;
    let mut ip = vec![0x45, 0, (length >> 8) as u8, length as u8, 0, 1, 0, 0, 64, 17, 0, 0];
    ip.extend([from, to].concat());
    ip.extend([0, 9, 0, 9, 0, 8, 0, 0]);
    ([vec![2; 6], vec![4; 6], vec![8, 0], ip].concat(), 14 + 28 + payload as u32)
}

/// A pcap file of frames, 1 ms apart: what is captured of each and its length on the wire.
fn pcap_of(linktype: u32, frames: &[(Vec<u8>, u32)]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>();
    let mut bytes = words(&[MICRO, 4 << 16 | 2, 0, 0, 65_535, linktype]);
    for (i, (frame, length)) in frames.iter().enumerate() {
        let us = 1000 * i as u32;
        bytes.extend(words(&[us / 1_000_000, us % 1_000_000, frame.len() as u32, *length]));
        bytes.extend(frame);
    }
    bytes
}

const HOME: [u8; 4] = [192, 168, 1, 5];
const PEER: [u8; 4] = [192, 168, 1, 9];
const SITE: [u8; 4] = [203, 0, 113, 7];
const OTHER: [u8; 4] = [198, 51, 100, 7];

/// `frame` as another link type has it: without its Ethernet header, after other bytes.
fn framed(header: &[u8], (frame, length): (Vec<u8>, u32)) -> (Vec<u8>, u32) {
    ([header, &frame[14..]].concat(), length - 14 + header.len() as u32)
}

fn sizes(reading: &Reading) -> Vec<(Direction, u16)> {
    reading.capture.0.iter().map(|packet| (packet.direction, packet.size)).collect()
}

#[test]
fn all_link_types_have_the_size_of_an_ethernet_frame() {
    let sll = |kind: u8| [&[0, kind, 0, 1, 0, 6][..], &[2; 8], &[8, 0]].concat();
    let sll2 = |kind: u8| [&[8, 0, 0, 0, 0, 0, 0, 2, 0, 1, kind, 6][..], &[2; 8]].concat();
    for (linktype, header) in [
        (113, sll(4)),
        (276, sll2(4)),
        (0, vec![2, 0, 0, 0]),
        (108, vec![0, 0, 0, 2]),
        (9, vec![0xff, 3, 0, 0x21]),
        (9, vec![0, 0x21]),
        (9, vec![0x21]),
        (101, vec![]),
    ] {
        let file = pcap_of(linktype, &[framed(&header, udp(HOME, SITE, 100))]);
        // 100 B of payload, 28 of headers, 18 of Ethernet.
        assert_eq!(packets(&file, None), [(0, 146)], "{linktype} {header:?}");
        assert_eq!(packets(&file, Some(4)), [(0, 132)], "{linktype} {header:?}");
    }
    // Between two public addresses only the capturing host shows which is the home.
    for (linktype, header) in [(113, sll as fn(u8) -> Vec<u8>), (276, sll2)] {
        let frames = [(4, SITE, OTHER, 1), (0, OTHER, SITE, 2), (2, OTHER, [224, 0, 0, 1], 3)];
        let frames = frames.map(|(kind, from, to, n)| framed(&header(kind), udp(from, to, n)));
        let reading = parse(&pcap_of(linktype, &frames), &How::default()).unwrap();
        assert_eq!(sizes(&reading), [(Direction::Up, 47), (Direction::Down, 48)]);
        assert_eq!(reading.home.as_ref().unwrap().to_string(), "203.0.113.7");
        assert_eq!(
            sentences(&reading),
            [
                "the home is 203.0.113.7 (the host that captured, by its packets in and out): 1 packet \
                 up and 1 down",
                "1 packet left out, which is not between the home and others"
            ]
        );
    }
}

#[test]
fn a_tag_or_a_tunnel_does_not_hide_the_addresses() {
    let (frame, length) = udp(HOME, SITE, 100);
    for between in [&[0x81, 0, 0, 10, 8, 0][..], &[0x88, 0x64, 0x11, 0, 0, 1, 0, 130, 0, 0x21]] {
        let frame = [&frame[..12], between, &frame[14..]].concat();
        let tagged = (frame, length + between.len() as u32 - 2);
        let size = tagged.1 as u16;
        let down = udp(SITE, HOME, 100);
        let reading = parse(&pcap_of(1, &[tagged, down]), &How::default()).unwrap();
        assert_eq!(sizes(&reading), [(Direction::Up, size), (Direction::Down, 142)]);
    }
}

/// Both directions of these conversations; what is said of the home.
fn found(ends: &[([u8; 4], [u8; 4])]) -> Result<(String, Vec<(Direction, u16)>), Refusal> {
    let frames: Vec<_> =
        ends.iter().flat_map(|(one, other)| [udp(*one, *other, 1), udp(*other, *one, 2)]).collect();
    let reading = parse(&pcap_of(1, &frames), &How::default())?;
    Ok((reading.home.as_ref().unwrap().to_string(), sizes(&reading)))
}

#[test]
fn the_home_is_found_where_it_is_clear() {
    let both = [(Direction::Up, 43), (Direction::Down, 44)];
    for (ends, home, want) in [
        (vec![(HOME, SITE)], "192.168.1.5", both.to_vec()),
        (vec![(HOME, SITE), (PEER, SITE)], "192.168.0.0/16", [both, both].concat()),
        // What stays in the home is left out.
        (vec![(HOME, SITE), (PEER, HOME)], "192.168.0.0/16", both.to_vec()),
        (vec![(SITE, OTHER), (SITE, [198, 51, 100, 8])], "203.0.113.7", [both, both].concat()),
        (vec![(HOME, PEER), (HOME, [10, 0, 0, 1])], "192.168.1.5", [both, both].concat()),
    ] {
        assert_eq!(found(&ends), Ok((home.to_owned(), want)));
    }
}

#[test]
fn a_home_that_is_not_clear_is_asked_for() {
    let unclear = |ends: &[_]| match found(ends) {
        Err(Refusal::Home(reason)) => reason,
        other => panic!("{other:?}"),
    };
    let reported = unclear(&[(SITE, OTHER)]);
    assert_eq!(
        reported,
        "missing; it is not clear which end of the packets is the home; allowed: an address or network, \
         such as 198.51.100.7 (2 packets), 203.0.113.7 (2 packets), or a direction for all packets instead"
    );
    unclear(&[(HOME, PEER)]);
    // A private address against a public one, and two public ones.
    unclear(&[(HOME, SITE), (OTHER, [198, 51, 100, 8])]);
    let file = pcap_of(1, &[udp(SITE, OTHER, 1), udp(OTHER, SITE, 2)]);
    let reading = parse(&file, &how("198.51.100.0/24")).unwrap();
    assert_eq!(sizes(&reading), [(Direction::Down, 43), (Direction::Up, 44)]);
    assert_eq!(reading.notes, []);
    let Err(Refusal::Home(reason)) = parse(&file, &how("10.0.0.1")) else { panic!() };
    assert_eq!(
        reason,
        "found 10.0.0.1, which is one end of no packet; allowed: one end of the packets, such as \
         198.51.100.7 (2 packets), 203.0.113.7 (2 packets)"
    );
    let Err(Refusal::Home(reason)) = parse(&pcap(MICRO, 1, 0, &[(0, 0, 60)]), &how("10.0.0.1"))
    else {
        panic!()
    };
    assert!(reason.ends_with("its packets have no addresses; allowed: a direction instead"));
}

/// IPv6 hosts have several addresses of one link.
#[test]
fn the_home_of_ipv6_is_a_link() {
    let v6 = |from: u128, to: u128| {
        let head = [&[0x60, 0, 0, 0, 0, 0, 59, 64][..], &from.to_be_bytes(), &to.to_be_bytes()];
        (head.concat(), 40)
    };
    let (site, other) = (0x2001_0db8_0001 << 80, 0x2001_0db8_0002 << 80);
    let home = 0x2001_0db8_0003 << 80;
    let frames = [v6(home | 1, site), v6(other, home | 2)];
    let reading = parse(&pcap_of(101, &frames), &How::default()).unwrap();
    assert_eq!(sizes(&reading), [(Direction::Up, 58), (Direction::Down, 58)]);
    assert_eq!(reading.home.unwrap().to_string(), "2001:db8:3::/64");
    let frames = [v6(home | 1, site), v6(site, home | 1)];
    assert!(matches!(parse(&pcap_of(101, &frames), &How::default()), Err(Refusal::Home(_))));
}

/// FNV-1a of times in ps and sizes, 8 bytes each: 0 and 43, 1 ms and 44.
const PLAIN: &str = "ea0b6a15f4842db3";

/// Captures of one direction have the digest that they had when all were uploads.
#[test]
fn captures_of_one_direction_are_as_before() {
    let one_way = [udp(SITE, OTHER, 1), udp([203, 0, 113, 8], [198, 51, 100, 8], 2)];
    for (file, direction) in [
        (pcap_of(1, &one_way), Some(Direction::Up)),
        (pcap(MICRO, 1, 0, &[(0, 0, 43), (0, 1000, 44)]), Some(Direction::Up)),
        (pcap_of(1, &[udp(SITE, HOME, 1), udp(SITE, HOME, 2)]), Some(Direction::Down)),
    ] {
        let reading = parse(&file, &How::default()).unwrap();
        assert_eq!((reading.direction, &reading.home), (direction, &None));
        assert_eq!(reading.capture.digest(), PLAIN);
    }
    let reading = parse(&pcap_of(1, &[udp(HOME, SITE, 1), udp(SITE, HOME, 2)]), &How::default());
    assert_ne!(reading.unwrap().capture.digest(), PLAIN);
    // A direction that is given holds for all.
    let how = How { direction: Some(Direction::Down), ..How::default() };
    let reading = parse(&pcap_of(1, &[udp(HOME, SITE, 1), udp(SITE, HOME, 2)]), &how).unwrap();
    assert_eq!(sizes(&reading), [(Direction::Down, 43), (Direction::Down, 44)]);
    assert_eq!(reading.capture.digest(), PLAIN);
}

/// 14 600 B of payload are ten segments of 1460 B in frames of 1514 B. With 12 B of options 1448 B are in
/// each, ten are full, and the last has 120 B in 186.
#[test]
fn joined_frames_are_split_with_the_headers_of_each() {
    let tcp = |words: u8, payload: usize| {
        let (mut frame, _) = udp(HOME, SITE, 4 * usize::from(words) - 8 + payload);
        frame[23] = 6;
        frame.truncate(34);
        let mut header = vec![0; 4 * usize::from(words)];
        header[12] = words << 4;
        frame.extend(header);
        let length = frame.len() + payload;
        (frame, length as u32)
    };
    let all = |words, payload| {
        let file = pcap_of(1, &[tcp(words, payload), tcp(5, 0)]);
        let reading = parse(&file, &How::default()).unwrap();
        let sizes: Vec<_> = reading.capture.0.iter().map(|packet| packet.size).collect();
        (sizes, sentences(&reading).into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let (sizes, notes) = all(5, 14_600);
    assert_eq!(sizes, [vec![1514; 10], vec![54]].concat());
    assert_eq!(
        notes[1],
        "1 frame of segmentation offload split into 10 packets of 1500 bytes or less"
    );
    assert_eq!(all(8, 14_600).0, [vec![1514; 10], vec![186, 54]].concat());
    // Whole up to 9018 B, where nothing shows offloading; split as well where it does, or if it is said.
    let (sizes, notes) = all(5, 2920);
    assert_eq!(sizes, [2974, 54]);
    assert!(notes[1].ends_with("if segmentation offload made them, mtu_bytes = 1500 splits them"));
    let file = pcap_of(1, &[tcp(5, 2920), tcp(5, 14_600), tcp(5, 1464)]);
    assert_eq!(packets(&file, None).len(), 2 + 10 + 1);
    let how = How { mtu_bytes: Some(1000), ..How::default() };
    let reading = parse(&pcap_of(1, &[tcp(5, 2920)]), &how).unwrap();
    // 960 B in each, then 40.
    let up = |size| (Direction::Up, size);
    assert_eq!(self::sizes(&reading), [up(1014), up(1014), up(1014), up(94)]);
    // Of headers that were not captured, 40 B of IPv4 and TCP are assumed.
    assert_eq!(packets(&pcap(MICRO, 1, 0, &[(0, 0, 54 + 14_600)]), None), [(0, 1514); 10]);
    // Each datagram has its own header of UDP: 19 972 B are 13 times 1472 and 836.
    let sizes = packets(&pcap_of(1, &[udp(HOME, SITE, 19_972)]), None);
    assert_eq!(sizes, [vec![(0, 1514); 13], vec![(0, 878)]].concat());
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn gzip_is_unpacked_by_what_it_is() {
    // Larger than a chunk.
    let many: Vec<_> = (0..9000).map(|n| udp(HOME, SITE, n % 1400)).collect();
    let file = pcap_of(1, &many);
    let packed = gzip(&file);
    assert_eq!(packets(&packed, None), packets(&file, None));
    // Files of two parts, as of `cat a.gz b.gz`.
    let parts = [gzip(&file[..1000]), gzip(&file[1000..])].concat();
    assert_eq!(packets(&parts, None), packets(&file, None));
    let pcapng = words_of(&[section(), clock(1, 6, 0), packet(0, 0, 60)]);
    assert_eq!(packets(&gzip(&pcapng), None), [(0, 60)]);
    for cut in [packed.len() - 1, packed.len() - 8] {
        assert_eq!(refusal(&packed[..cut]), format!("which ends after packet 9000; {ALLOWED}"));
    }
    let mut damaged = packed.clone();
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(refusal(&damaged), format!("which is damaged after packet 9000; {ALLOWED}"));
    for no_capture in [&[0; 1_000_000][..], b""] {
        let reported = refusal(&gzip(no_capture));
        assert_eq!(reported, format!("which does not start like a capture; {ALLOWED}"));
    }
    // A block that claims 1 GB of zeros is given up before that.
    let large = [words_of(&[section(), vec![0xbad, 1 << 30]]), vec![0; 1 << 27]].concat();
    assert_eq!(refusal(&gzip(&large)), format!("which is damaged after packet 0; {ALLOWED}"));
}

at_random! {
    256;

    #[test]
    fn no_mangled_capture_panics(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        form in 0..4_u8,
        is_packed in any::<bool>(),
        linktype in prop::sample::select(vec![0_u32, 1, 9, 101, 108, 113, 276]),
        is_home_given in any::<bool>(),
    ) {
        let frames = [udp(HOME, SITE, 100), udp(SITE, HOME, 12_000), udp(PEER, SITE, 1)];
        let mut bytes = match form {
            0 => words_of(&[section(), clock(1, 9, 5), packet(0, 5, 60), packet(0, 900, 1514)]),
            1 => pcap(MICRO, 1, 8, &[(0, 0, 60), (3, 5, 1514)]),
            _ => pcap_of(linktype, &frames),
        };
        if is_packed {
            bytes = gzip(&bytes);
        }
        for (at, value) in edits {
            *at.get_mut(&mut bytes) = value;
        }
        let how = if is_home_given { how("192.168.1.5") } else { How::default() };
        let _ = parse(&bytes, &how);
        let _ = parse(&bytes[..cut.index(bytes.len())], &how);
    }

    /// Frames that are split keep their payload, and no packet exceeds the MTU.
    #[test]
    fn split_frames_keep_their_payload(
        payloads in prop::collection::vec(1_usize..40_000, 1..20),
        mtu in 576_u16..9000,
    ) {
        let frames: Vec<_> = payloads.iter().map(|bytes| udp(HOME, SITE, *bytes)).collect();
        let how = How { mtu_bytes: Some(mtu), ..How::default() };
        let reading = parse(&pcap_of(1, &frames), &how).unwrap();
        let sizes: Vec<_> = reading.capture.0.iter().map(|packet| packet.size).collect();
        prop_assert!(sizes.iter().all(|size| (43..=mtu + 22).contains(size)));
        let payload: usize = sizes.iter().map(|size| usize::from(*size) - 42).sum();
        prop_assert_eq!(payload, payloads.iter().sum::<usize>());
    }
}
