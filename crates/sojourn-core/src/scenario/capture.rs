//! Packet captures that a scenario replays. They are read when the scenario is loaded, so that a
//! run reads no file.
//!
//! All forms of pcap and pcapng are read (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng). Only a
//! packet's time and its size on the wire count, not its captured bytes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use pcap_parser::pcapng::{
    Block, InterfaceDescriptionBlock, parse_block_be, parse_block_le, parse_sectionheaderblock,
};
use pcap_parser::{
    Linktype, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
};

use super::schema::Scenario;
use crate::apps::AppSpec;
use crate::apps::replay::{Capture, Captured, Parameters};
use crate::input::problem::{Fault, Faults};
use crate::input::words;
use crate::packet::LARGEST_PACKET;
use crate::units::Time;

/// Link types that can be replayed, with the bytes of framing that are not captured: Ethernet, and
/// raw IP by its names RAW (also the number that BSDs write), IPV4 and IPV6.
const FRAMING: [(Linktype, u16); 5] = [
    (Linktype::ETHERNET, 0),
    (Linktype::RAW, 18),
    (Linktype(12), 18),
    (Linktype::IPV4, 18),
    (Linktype::IPV6, 18),
];
const PS_PER_SECOND: i128 = 1_000_000_000_000;
/// The longest allowed run in seconds.
const LONGEST_S: i128 = 1_000_000;
/// Bytes of a capture file.
const MOST_BYTES: u64 = 1 << 31;
/// A packet block of the first version of pcapng, which newer writers must not use.
const OLD_PACKET_BLOCK: u32 = 2;
/// Bytes of any block around its body: its type, and its length before and after.
const BLOCK_AROUND: u32 = 12;
const ALLOWED: &str = "allowed: a complete pcap or pcapng file";

/// Where captures are read from.
pub trait Files {
    /// The content of a file.
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>>;
}

/// The files of this machine.
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        // Reading a pipe or a device might never end.
        if !std::fs::metadata(path)?.is_file() {
            return Err(std::io::Error::other("not a regular file"));
        }
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(std::io::Error::other(format!("more than {MOST_BYTES} bytes")));
        }
        Ok(bytes)
    }
}

/// The captures of one scenario file's runs, each read once.
pub(super) struct Captures<'a> {
    files: &'a dyn Files,
    directory: PathBuf,
    read: RefCell<BTreeMap<(PathBuf, Option<u16>), Capture>>,
}

impl<'a> Captures<'a> {
    /// Captures with paths relative to the directory of the scenario file `source`.
    pub fn beside(source: &str, files: &'a dyn Files) -> Self {
        let directory = Path::new(source).parent().unwrap_or(Path::new("")).to_owned();
        Self { files, directory, read: RefCell::default() }
    }

    /// Fills each replay of a scenario: its packets, their digest, and the path they came from.
    pub fn fill(&self, scenario: &mut Scenario) -> Faults {
        let mut faults = Faults::default();
        for (name, entry) in &mut scenario.traffic {
            if let AppSpec::Replay(replay) = &mut entry.app {
                faults.add(self.fill_one(replay, &words::join("traffic", name)));
            }
        }
        faults
    }

    fn fill_one(&self, replay: &mut Parameters, path: &str) -> Result<(), Fault> {
        let file = self.directory.join(&replay.file);
        let file = std::path::absolute(&file).unwrap_or(file);
        let capture = self.packets(&file, replay.framing_bytes).map_err(|reason| {
            Fault::new(format!("{path}.file"), format!("found {:?}, {reason}", replay.file))
        })?;
        let digest = capture.digest();
        if let Some(other) = replay.digest.as_ref().filter(|other| **other != digest) {
            let other = words::quoted(other);
            let message =
                format!("found {other}; allowed: {digest:?}, that of {:?}, or none", replay.file);
            return Err(Fault::new(format!("{path}.digest"), message));
        }
        replay.digest = Some(digest);
        replay.capture = capture;
        if let Some(file) = file.to_str() {
            file.clone_into(&mut replay.file);
        }
        Ok(())
    }

    fn packets(&self, file: &Path, framing: Option<u16>) -> Result<Capture, String> {
        let key = (file.to_owned(), framing);
        if let Some(capture) = self.read.borrow().get(&key) {
            return Ok(capture.clone());
        }
        let unreadable = |error| format!("which cannot be read ({error}); {ALLOWED}");
        let capture = parse(&self.files.read(file).map_err(unreadable)?, framing)?;
        self.read.borrow_mut().insert(key, capture.clone());
        Ok(capture)
    }
}

/// The packets of a capture file. An error continues a sentence that starts with the file's name.
pub fn parse(bytes: &[u8], framing: Option<u16>) -> Result<Capture, String> {
    let mut reader = Reader { framing, packets: Vec::new() };
    match parse_sectionheaderblock(bytes) {
        Ok(_) => reader.pcapng(bytes)?,
        Err(_) => reader.pcap(bytes)?,
    }
    reader.capture()
}

/// Collects the packets of a capture.
struct Reader {
    framing: Option<u16>,
    /// Times in ps since the file's own epoch, and sizes on the wire.
    packets: Vec<(i128, u16)>,
}

/// A pcapng interface.
struct Interface {
    linktype: Linktype,
    /// Clock ticks per second.
    resolution: i128,
    offset_s: i128,
}

impl Reader {
    fn pcap(&mut self, bytes: &[u8]) -> Result<(), String> {
        let Ok((mut rest, header)) = parse_pcap_header(bytes) else {
            return Err(format!("which does not start like a capture; {ALLOWED}"));
        };
        let parse_frame = match (header.is_bigendian(), header.is_modified_format()) {
            (true, _) => parse_pcap_frame_be,
            (_, true) => parse_pcap_frame_modified,
            _ => parse_pcap_frame,
        };
        let tick = if header.is_nanosecond_precision() { 1000 } else { 1_000_000 };
        let is_torn = |fraction: u32| i128::from(fraction) * tick >= PS_PER_SECOND;
        // The upper half holds flags (section 4 of the draft).
        let linktype = Linktype(header.network.0 & 0xffff);
        while !rest.is_empty() {
            let (after, frame) =
                parse_frame(rest).map_err(|error| self.torn(error.is_incomplete()))?;
            if is_torn(frame.ts_usec) {
                return Err(self.torn(false));
            }
            let at = i128::from(frame.ts_sec) * PS_PER_SECOND + i128::from(frame.ts_usec) * tick;
            self.put(at, frame.origlen, linktype)?;
            rest = after;
        }
        Ok(())
    }

    fn pcapng(&mut self, mut rest: &[u8]) -> Result<(), String> {
        let mut interfaces = Vec::new();
        let mut is_big_endian = false;
        while !rest.is_empty() {
            // The parser takes these bytes off the length of any block.
            if block_length(rest, is_big_endian).is_some_and(|length| length < BLOCK_AROUND) {
                return Err(self.torn(false));
            }
            let parse_block = if is_big_endian { parse_block_be } else { parse_block_le };
            let (after, block) =
                parse_block(rest).map_err(|error| self.torn(error.is_incomplete()))?;
            rest = after;
            match block {
                Block::SectionHeader(section) => {
                    interfaces.clear();
                    is_big_endian = section.big_endian();
                }
                Block::InterfaceDescription(block) => {
                    interfaces.push(interface(&block, is_big_endian)?);
                }
                Block::EnhancedPacket(packet) => {
                    let Some(interface) = interfaces.get(packet.if_id as usize) else {
                        return Err(self.at_fault("of an undescribed interface"));
                    };
                    let ticks = i128::from(packet.ts_high) << 32 | i128::from(packet.ts_low);
                    let at = interface.offset_s * PS_PER_SECOND
                        + ticks * PS_PER_SECOND / interface.resolution;
                    self.put(at, packet.origlen, interface.linktype)?;
                }
                Block::SimplePacket(_) => {
                    return Err(self.at_fault("without a time"));
                }
                Block::Unknown(block) if block.block_type == OLD_PACKET_BLOCK => {
                    return Err(self.at_fault("in a block of the first version of pcapng"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn put(&mut self, at: i128, size: u32, linktype: Linktype) -> Result<(), String> {
        let known = FRAMING.iter().find(|(known, _)| *known == linktype);
        let Some((_, framing)) = known else {
            let number = linktype.0;
            return Err(format!(
                "whose packets have link type {number}; allowed: Ethernet (1), raw IP (101, 228, 229)"
            ));
        };
        let size = u64::from(size) + u64::from(self.framing.unwrap_or(*framing));
        match u16::try_from(size).ok().filter(|size| (1..=LARGEST_PACKET).contains(size)) {
            Some(size) => {
                self.packets.push((at, size));
                Ok(())
            }
            None => Err(format!(
                "whose packet {} has {size} bytes; allowed: 1 to {LARGEST_PACKET} (turn off \
                 segmentation offload on the capturing host)",
                self.packets.len() + 1,
            )),
        }
    }

    /// The packets sorted by time and counted from the first. Captures of several queues of a
    /// network card are not always in order.
    fn capture(mut self) -> Result<Capture, String> {
        self.packets.sort_by_key(|(at, _)| *at);
        let (Some((first, _)), Some((last, _))) = (self.packets.first(), self.packets.last())
        else {
            return Err("which has no packets; allowed: at least 1 packet".to_owned());
        };
        if last - first > LONGEST_S * PS_PER_SECOND {
            let span_s = (last - first) / PS_PER_SECOND;
            return Err(format!("which lasts {span_s} s; allowed: {LONGEST_S} s or less"));
        }
        let captured = |(at, size): &(i128, u16)| Captured {
            at: Time::from_ps((at - first) as u64),
            size: *size,
        };
        Ok(Capture(self.packets.iter().map(captured).collect()))
    }

    fn torn(&self, is_incomplete: bool) -> String {
        let how = if is_incomplete { "ends" } else { "is damaged" };
        format!("which {how} after packet {}; {ALLOWED}", self.packets.len())
    }

    fn at_fault(&self, what: &str) -> String {
        format!("which has a packet {what} after packet {}; {ALLOWED}", self.packets.len())
    }
}

/// What a block says of its length (section 3.1 of the draft).
fn block_length(rest: &[u8], is_big_endian: bool) -> Option<u32> {
    let bytes = *rest.get(4..)?.first_chunk()?;
    Some(if is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
}

fn interface(block: &InterfaceDescriptionBlock, is_big_endian: bool) -> Result<Interface, String> {
    // The top bit selects a power of two or of ten (section 4.2 of the draft).
    let exponent = u32::from(block.if_tsresol & 0x7f);
    let base: i128 = if block.if_tsresol & 0x80 == 0 { 10 } else { 2 };
    let Some(resolution) = base.checked_pow(exponent).filter(|r| *r <= i128::from(u64::MAX)) else {
        return Err(format!("with a clock of {base}^-{exponent} s; {ALLOWED}"));
    };
    // The parser always reads this as little-endian.
    let offset = block.if_tsoffset;
    let offset_s = i128::from(if is_big_endian { offset.swap_bytes() } else { offset });
    Ok(Interface { linktype: block.linktype, resolution, offset_s })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at_random::at_random;
    use proptest::prelude::*;

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

    fn packets(bytes: &[u8], framing: Option<u16>) -> Vec<(u64, u16)> {
        let capture = parse(bytes, framing).unwrap();
        capture.0.iter().map(|packet| (packet.at.ps(), packet.size)).collect()
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
        for (linktype, framing) in
            [(1, 0), (0xf400_0001, 0), (101, 18), (12, 18), (228, 18), (229, 18)]
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
        parse(bytes, None).unwrap_err()
    }

    #[test]
    fn what_is_refused() {
        let file = pcap(MICRO, 1, 8, &[(0, 0, 60), (0, 1, 60)]);
        assert_eq!(
            refusal(&file[..file.len() - 1]),
            format!("which ends after packet 1; {ALLOWED}")
        );
        assert_eq!(refusal(&file[..50]), format!("which ends after packet 1; {ALLOWED}"));
        assert_eq!(refusal(b"GIF89a"), format!("which does not start like a capture; {ALLOWED}"));
        assert_eq!(refusal(&file[..24]), "which has no packets; allowed: at least 1 packet");
        assert_eq!(
            refusal(&pcap(MICRO, 113, 0, &[(0, 0, 60)])),
            "whose packets have link type 113; allowed: Ethernet (1), raw IP (101, 228, 229)"
        );
        for (size, found) in [(0, 0_u64), (9019, 9019), (u32::MAX, 4_294_967_295)] {
            assert_eq!(
                refusal(&pcap(MICRO, 1, 0, &[(0, 0, 60), (0, 0, size)])),
                format!(
                    "whose packet 2 has {found} bytes; allowed: 1 to 9018 (turn off segmentation \
                     offload on the capturing host)"
                )
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

    fn file(blocks: &[Vec<u32>]) -> Vec<u8> {
        blocks.concat().into_iter().flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn pcapng_has_a_clock_and_a_link_type_for_each_interface() {
        let bytes = file(&[
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
        let big = file(&[section(), clock(1, 6, 1), packet(0, 7, 90), packet(0, 9, 91)]);
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
        let with = |block: Vec<u32>| refusal(&file(&[good.concat(), block]));
        let after_one = |what: &str| format!("which {what} after packet 1; {ALLOWED}");
        assert_eq!(with(packet(1, 0, 60)), after_one("has a packet of an undescribed interface"));
        assert_eq!(with(block(3, &[60, 0])), after_one("has a packet without a time"));
        assert_eq!(
            with(block(2, &[0, 0, 0, 4, 60, 0])),
            after_one("has a packet in a block of the first version of pcapng")
        );
        assert_eq!(with(clock(1, 20, 0)), format!("with a clock of 10^-20 s; {ALLOWED}"));
        let bytes = file(&good);
        assert_eq!(
            refusal(&bytes[..bytes.len() - 4]),
            format!("which ends after packet 0; {ALLOWED}")
        );
        let mut damaged = packet(0, 0, 60);
        *damaged.last_mut().unwrap() += 4;
        assert_eq!(with(damaged), after_one("is damaged"));
        // Process information of fewer bytes than any block has.
        for length in [0, 4, 8, 11] {
            assert_eq!(with(vec![0x8000_0001, length]), after_one("is damaged"), "{length}");
        }
    }

    at_random! {
        256;

        #[test]
        fn no_mangled_capture_panics(
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
            cut in any::<prop::sample::Index>(),
            is_new in any::<bool>(),
        ) {
            let mut bytes = if is_new {
                file(&[section(), clock(1, 9, 5), packet(0, 5, 60), packet(0, 900, 1514)])
            } else {
                pcap(MICRO, 1, 8, &[(0, 0, 60), (3, 5, 1514)])
            };
            for (at, value) in edits {
                *at.get_mut(&mut bytes) = value;
            }
            let _ = parse(&bytes, None);
            let _ = parse(&bytes[..cut.index(bytes.len())], None);
        }
    }
}
