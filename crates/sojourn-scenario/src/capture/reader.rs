//! Reads the packets of pcap and pcapng files.

use pcap_parser::nom::IResult;
use pcap_parser::pcapng::{
    Block, EnhancedPacketBlock, InterfaceDescriptionBlock, OptionCode, parse_block_be,
    parse_block_le, parse_sectionheaderblock,
};
use pcap_parser::{
    LegacyPcapBlock, Linktype, PcapError, PcapHeader, parse_pcap_frame, parse_pcap_frame_be,
    parse_pcap_frame_modified, parse_pcap_header,
};

use super::home::Conversations;
use super::link::{self, Link, Passage};
use super::source::{IsIncomplete, Parsed, Source, Stop};
use super::split::{Frame, LARGEST_FRAME};

pub(super) const PS_PER_SECOND: i128 = 1_000_000_000_000;
/// Packets of a capture, which take 1 GB while it is read.
pub(super) const MOST_PACKETS: usize = 1 << 25;
/// A packet block of the first version of pcapng, which newer writers must not use.
const OLD_PACKET_BLOCK: u32 = 2;
/// Bytes of any block around its body: its type, and its length before and after.
const BLOCK_AROUND: u32 = 12;
pub(super) const ALLOWED: &str = "allowed: a complete pcap or pcapng file";

/// Collects the packets of a capture. Errors continue a sentence that starts with the file's name.
#[derive(Default)]
pub(super) struct Reader {
    /// Bytes added to each packet, instead of those of its link type.
    pub framing_bytes: Option<u16>,
    pub frames: Vec<Frame>,
    /// Packets by their ends; frames refer to these by index.
    pub conversations: Conversations,
}

/// A section of a pcapng file.
#[derive(Default)]
struct Section {
    is_big_endian: bool,
    interfaces: Vec<Interface>,
}

/// A pcapng interface.
struct Interface {
    linktype: Linktype,
    /// Clock ticks per second.
    resolution: i128,
    offset_s: i128,
}

type FrameParser = fn(&[u8]) -> IResult<&[u8], LegacyPcapBlock<'_>, PcapError<&[u8]>>;

impl Reader {
    /// Reads a file.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut source = Source::of(bytes);
        let section =
            source.next(|bytes| parsed(bytes, parse_sectionheaderblock(bytes)).map(|_| ((), 0)));
        if section.is_ok() {
            return self.pcapng(&mut source);
        }
        match source.next(|bytes| parsed(bytes, parse_pcap_header(bytes))) {
            Ok(header) => self.pcap(&mut source, &header),
            Err(_) => Err(format!("which does not start like a capture; {ALLOWED}")),
        }
    }

    fn pcap(&mut self, source: &mut Source, header: &PcapHeader) -> Result<(), String> {
        let parse_frame: FrameParser = match (header.is_bigendian(), header.is_modified_format()) {
            (true, _) => parse_pcap_frame_be,
            (_, true) => parse_pcap_frame_modified,
            _ => parse_pcap_frame,
        };
        let tick = if header.is_nanosecond_precision() { 1000 } else { 1_000_000 };
        // The upper half holds flags (section 4 of the draft).
        let linktype = Linktype(header.network.0 & 0xffff);
        while !source.is_at_end().map_err(|stop| self.torn(stop))? {
            let put = source.next(|bytes| {
                let (frame, length) = parsed(bytes, parse_frame(bytes))?;
                let fraction = i128::from(frame.ts_usec) * tick;
                if fraction >= PS_PER_SECOND {
                    return Err(IsIncomplete(false));
                }
                let at = i128::from(frame.ts_sec) * PS_PER_SECOND + fraction;
                let whole = (frame.origlen, Passage::Unknown);
                Ok((self.put(at, frame.data, whole, linktype), length))
            });
            put.map_err(|stop| self.torn(stop))??;
        }
        Ok(())
    }

    fn pcapng(&mut self, source: &mut Source) -> Result<(), String> {
        let mut section = Section::default();
        while !source.is_at_end().map_err(|stop| self.torn(stop))? {
            let put = source.next(|bytes| {
                let (block, length) = next_block(bytes, section.is_big_endian)?;
                Ok((self.block(block, &mut section), length))
            });
            put.map_err(|stop| self.torn(stop))??;
        }
        Ok(())
    }

    fn block(&mut self, block: Block, section: &mut Section) -> Result<(), String> {
        match block {
            Block::SectionHeader(header) => {
                *section = Section { is_big_endian: header.big_endian(), interfaces: Vec::new() };
            }
            Block::InterfaceDescription(block) => {
                section.interfaces.push(interface(&block, section.is_big_endian)?);
            }
            Block::EnhancedPacket(packet) => {
                let Some(interface) = section.interfaces.get(packet.if_id as usize) else {
                    return Err(self.at_fault("of an undescribed interface"));
                };
                let ticks = i128::from(packet.ts_high) << 32 | i128::from(packet.ts_low);
                let at = interface.offset_s * PS_PER_SECOND
                    + ticks * PS_PER_SECOND / interface.resolution;
                // Padding follows what was captured.
                let captured = packet.data.len().min(packet.caplen as usize);
                let length = (packet.origlen, passage(&packet, section.is_big_endian));
                self.put(at, &packet.data[..captured], length, interface.linktype)?;
            }
            Block::SimplePacket(_) => return Err(self.at_fault("without a time")),
            Block::Unknown(block) if block.block_type == OLD_PACKET_BLOCK => {
                return Err(self.at_fault("in a block of the first version of pcapng"));
            }
            _ => {}
        }
        Ok(())
    }

    fn put(
        &mut self,
        at: i128,
        frame: &[u8],
        (length, passage): (u32, Passage),
        linktype: Linktype,
    ) -> Result<(), String> {
        let Some(link) = Link::of(linktype) else {
            return Err(format!("whose packets have link type {}; {}", linktype.0, link::ALLOWED));
        };
        let (parts, ends) = link.read(frame);
        let framing = self.framing_bytes.unwrap_or(link.framing_bytes());
        let wire_bytes = i64::from(length) - i64::from(parts.unsent) + i64::from(framing);
        let number = self.frames.len() + 1;
        if number > MOST_PACKETS {
            return Err(format!("which has more packets; allowed: {MOST_PACKETS} or fewer"));
        }
        if !(1..=LARGEST_FRAME).contains(&wire_bytes) {
            return Err(format!(
                "whose packet {number} has {wire_bytes} bytes; allowed: 1 to {LARGEST_FRAME}"
            ));
        }
        let conversation = ends.map(|mut ends| {
            if ends.passage == Passage::Unknown {
                ends.passage = passage;
            }
            let entry = self.conversations.entry(ends);
            let index = entry.index() as u32;
            *entry.or_default() += 1;
            index
        });
        self.frames.push(Frame {
            at,
            wire_bytes: wire_bytes as u32,
            around: parts.link.saturating_add(framing),
            headers: parts.headers,
            conversation,
        });
        Ok(())
    }

    fn torn(&self, stop: Stop) -> String {
        let how = match stop {
            Stop::Cut => "ends",
            Stop::Damaged => "is damaged",
            Stop::Refused(reason) => return reason,
        };
        format!("which {how} after packet {}; {ALLOWED}", self.frames.len())
    }

    fn at_fault(&self, what: &str) -> String {
        format!("which has a packet {what} after packet {}; {ALLOWED}", self.frames.len())
    }
}

/// What the library parsed from the beginning of `bytes`, and how many of them that took.
fn parsed<'a, T>(bytes: &'a [u8], result: IResult<&'a [u8], T, PcapError<&'a [u8]>>) -> Parsed<T> {
    match result {
        Ok((rest, value)) => Ok((value, bytes.len() - rest.len())),
        Err(error) => Err(IsIncomplete(error.is_incomplete())),
    }
}

/// The block at the beginning of `bytes`, and how many of them it has.
pub(crate) fn next_block(bytes: &[u8], is_big_endian: bool) -> Parsed<Block<'_>> {
    // The parser takes these bytes off the length of any block.
    let length = block_length(bytes, is_big_endian);
    if length.is_some_and(|length| length < BLOCK_AROUND) {
        return Err(IsIncomplete(false));
    }
    let parse_block = if is_big_endian { parse_block_be } else { parse_block_le };
    parsed(bytes, parse_block(bytes))
}

/// The flags of a packet that say where it went (section 4.3.1 of the draft).
const PACKET_FLAGS: OptionCode = OptionCode(2);

fn passage(packet: &EnhancedPacketBlock, is_big_endian: bool) -> Passage {
    let flags = packet.options.iter().find(|option| option.code == PACKET_FLAGS);
    let bytes = flags.and_then(|flags| flags.value.first_chunk().copied());
    let number = if is_big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
    match bytes.map(number).unwrap_or_default() & 0b11 {
        0b01 => Passage::In,
        0b10 => Passage::Out,
        _ => Passage::Unknown,
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
