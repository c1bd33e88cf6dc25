//! Reads records of real packets.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use pcap_parser::pcapng::{Block, OptionCode, PcapNGOption};
use sojourn_engine::packet::Direction;
use sojourn_engine::units::Time;
use sojourn_input::digest::digest;
use sojourn_input::words;

use super::line::Line;
use super::writer::interface_name;
use super::{Header, Tcp};
use crate::capture::{Source, Stop, next_block};
use crate::files::{Disk, Files, MOST_CAPTURE_BYTES};

/// Packets of a record, which take 3 GB.
const MOST_PACKETS: usize = 1 << 25;
const PICOSECONDS: u8 = 12;
const ALLOWED: &str = "allowed: a complete record of `sojourn emulate --record`";

/// A packet that came from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// When it came.
    pub at: Time,
    /// Its number among all packets of the record, from 0.
    pub number: u64,
    /// Which way it went.
    pub direction: Direction,
    /// Its headers.
    pub header: Header,
}

/// The packets of a traffic entry in the order in which they came. All runs of a file share them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packets {
    /// The packets.
    pub all: Arc<[Recorded]>,
    /// When their run ended.
    pub end: Time,
}

impl Packets {
    /// A digest of their times, sizes, directions and headers.
    pub fn digest(&self) -> String {
        digest(self.all.iter().flat_map(Recorded::numbers).chain([self.end.ps()]))
    }
}

impl Recorded {
    /// All of it.
    fn numbers(&self) -> [u64; 14] {
        let Header { ip_bytes, header_bytes, source, destination, protocol, ports, dscp, ecn, tcp } =
            &self.header;
        let [a, b] = [source, destination].map(|address| match address {
            IpAddr::V4(address) => [address.to_bits().into(), 4],
            IpAddr::V6(address) => [address.to_bits() as u64, (address.to_bits() >> 64) as u64],
        });
        let [from, to] = ports.unwrap_or_default();
        let sizes = u64::from(*ip_bytes) | u64::from(*header_bytes) << 16;
        let fields = [self.direction as u8, *protocol, *dscp, *ecn as u8];
        let ends = u64::from(from) | u64::from(to) << 16 | u64::from(ports.is_some()) << 32;
        let Tcp { seq, ack, flags, blocks } = tcp.unwrap_or_default();
        let of_tcp =
            u64::from(ack) | u64::from(flags.bits()) << 32 | u64::from(tcp.is_some()) << 40;
        let [c, d, e] = blocks.map(|block| u64::from(block.start) | u64::from(block.end) << 32);
        let fields = u64::from(u32::from_le_bytes(fields));
        [
            self.at.ps(),
            self.number,
            sizes,
            fields,
            ends,
            of_tcp,
            a[0],
            a[1],
            b[0],
            b[1],
            c,
            d,
            e,
            seq.into(),
        ]
    }
}

/// A record.
#[derive(Clone, Debug)]
pub struct Record {
    /// What it was recorded on.
    pub line: Line,
    /// By the names of the traffic entries.
    pub entries: IndexMap<String, Packets>,
}

/// A record while it is read.
#[derive(Default)]
struct Reader {
    comment: Vec<u8>,
    /// The entry and direction of each interface.
    interfaces: Vec<(usize, Direction)>,
    entries: IndexMap<String, Vec<Recorded>>,
    count: u64,
    last: Time,
    end: Option<Time>,
}

impl Record {
    /// Reads the file of this path.
    ///
    /// # Errors What is wrong with it, which continues a sentence that starts with the file's name.
    pub fn open(path: &Path) -> Result<Self, String> {
        Self::from(&Disk, path)
    }

    /// As [`Self::open`], from these files.
    pub(crate) fn from(files: &dyn Files, path: &Path) -> Result<Self, String> {
        let unreadable = |error| format!("which cannot be read ({error}); {ALLOWED}");
        Self::read(&files.read(path, MOST_CAPTURE_BYTES).map_err(unreadable)?)
    }

    /// Reads the content of a file.
    ///
    /// # Errors What is wrong with it, which continues a sentence that starts with the file's name.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut reader = Reader::default();
        let mut source = Source::of(bytes);
        while !source.is_at_end().map_err(|stop| reader.torn(stop))? {
            let block = source.next(|bytes| {
                let (block, length) = next_block(bytes, false)?;
                Ok((reader.block(block), length))
            });
            block.map_err(|stop| reader.torn(stop))??;
        }
        let text = String::from_utf8_lossy(&reader.comment);
        let Some(line) = Line::parse(&text) else {
            return Err(format!("which is no record of this version; {ALLOWED}"));
        };
        let end = reader.end.unwrap_or(reader.last).max(reader.last);
        let entries = reader.entries.into_iter();
        let entries = entries.map(|(name, all)| (name, Packets { all: all.into(), end }));
        Ok(Self { line, entries: entries.collect() })
    }

    /// The settings with which a scenario replays it from this file: of each entry that it has, as `key.path=value`.
    pub fn settings(&self, file: &str) -> Vec<String> {
        let of_entry = |name: &String| {
            let path = words::join("traffic", name);
            let mut settings = self.line.entry(&path);
            settings.push(format!("{path}.record={}", serde_json::Value::from(file)));
            settings
        };
        self.entries.keys().flat_map(of_entry).collect()
    }
}

impl Reader {
    fn block(&mut self, block: Block) -> Result<(), String> {
        match block {
            Block::SectionHeader(header) => {
                let comments = header.options.iter().filter(|of| of.code == OptionCode::Comment);
                comments.for_each(|of| self.comment.extend(value(of)));
            }
            Block::InterfaceDescription(interface) => {
                let name = interface.options.iter().find(|of| of.code == OptionCode::IfName);
                let name = name.map(|of| String::from_utf8_lossy(value(of)).into_owned());
                let is_ours = interface.if_tsresol == PICOSECONDS;
                let end =
                    name.as_deref().filter(|_| is_ours).and_then(end_of).ok_or_else(|| {
                        format!("which has an interface that is no end of traffic; {ALLOWED}")
                    })?;
                let entry = self.entries.entry(end.0.to_owned());
                self.interfaces.push((entry.index(), end.1));
                entry.or_default();
            }
            Block::EnhancedPacket(packet) => {
                let at = Time::from_ps(u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low));
                let interface = self.interfaces.get(packet.if_id as usize);
                let kept = packet.data.get(..packet.caplen as usize);
                let header = kept.and_then(|bytes| Header::read(bytes).ok());
                let (Some((entry, direction)), Some(header)) = (interface, header) else {
                    return Err(self.at_fault());
                };
                if at < self.last || self.count as usize == MOST_PACKETS {
                    return Err(self.at_fault());
                }
                let number = self.count;
                self.last = at;
                self.count += 1;
                self.entries[*entry].push(Recorded { at, number, direction: *direction, header });
            }
            Block::InterfaceStatistics(statistics) => {
                let end = statistics.options.iter().find(|of| of.code == OptionCode::IsbEndTime);
                if let Some([a, b, c, d, e, f, g, h]) = end.map(value) {
                    let [high, low] = [[*a, *b, *c, *d], [*e, *f, *g, *h]].map(u32::from_le_bytes);
                    self.end = Some(Time::from_ps(u64::from(high) << 32 | u64::from(low)));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn at_fault(&self) -> String {
        format!("which has a packet that cannot be replayed after packet {}; {ALLOWED}", self.count)
    }

    fn torn(&self, stop: Stop) -> String {
        match stop {
            Stop::Cut => format!("which ends after packet {}; {ALLOWED}", self.count),
            Stop::Damaged => format!("which is damaged after packet {}; {ALLOWED}", self.count),
            Stop::Refused(reason) => reason,
        }
    }
}

/// An option without its padding.
fn value<'a>(option: &'a PcapNGOption) -> &'a [u8] {
    let bytes: &[u8] = &option.value;
    &bytes[..usize::from(option.len).min(bytes.len())]
}

/// The traffic entry whose end has this name, and where its packets go.
fn end_of(name: &str) -> Option<(&str, Direction)> {
    let (entry, _) = name.rsplit_once(' ')?;
    let direction = Direction::BOTH.into_iter().find(|way| interface_name(entry, *way) == name)?;
    Some((entry, direction))
}
