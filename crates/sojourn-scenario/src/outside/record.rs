//! Reads records of real packets.

use std::path::Path;

use indexmap::IndexMap;
use pcap_parser::pcapng::{Block, OptionCode, PcapNGOption};
use sojourn_engine::packet::Direction;
use sojourn_engine::units::Time;
use sojourn_input::words;

use super::Header;
use super::line::Line;
use super::packets::{Packets, Recorded};
use super::writer::{NANOSECONDS, PS_LATER, PS_PER_NS, interface_name};
use crate::capture::{Source, Stop, next_block};
use crate::files::{Disk, Files, MOST_CAPTURE_BYTES};

/// Packets of a record, which take 3 GB.
const MOST_PACKETS: usize = 1 << 25;
/// The resolution of times in records of former versions.
const PICOSECONDS: u8 = 12;
const ALLOWED: &str = "allowed: a complete record of `sojourn emulate --record`";

/// A record.
#[derive(Clone, Debug)]
pub struct Record {
    /// What it was recorded on.
    pub line: Line,
    /// By the names of the traffic entries.
    pub entries: IndexMap<String, Packets>,
}

/// An end of an entry.
struct Interface {
    entry: usize,
    direction: Direction,
    /// Picoseconds of its unit of time.
    unit_ps: u64,
}

/// A record while it is read.
#[derive(Default)]
struct Reader {
    comment: Vec<u8>,
    interfaces: Vec<Interface>,
    entries: IndexMap<String, Vec<Recorded>>,
    count: u64,
    last: Time,
    /// When the run ended, and for how many interfaces that is said: behind the last packet, for each.
    end: Time,
    ended: usize,
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
        if reader.ended < reader.interfaces.len() || reader.interfaces.is_empty() {
            return Err(reader.torn(Stop::Cut));
        }
        let end = reader.end.max(reader.last);
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

impl Interface {
    /// A time and what is beyond its unit; none if it is too large.
    fn time(&self, [high, low]: [u32; 2], options: &[PcapNGOption<'_>]) -> Option<Time> {
        let ps = (u64::from(high) << 32 | u64::from(low)).checked_mul(self.unit_ps)?;
        let mut comments = options.iter().filter(|of| of.code == OptionCode::Comment);
        let later = |of| std::str::from_utf8(value(of)).ok()?.strip_suffix(PS_LATER)?.parse().ok();
        let later_ps: u64 = comments.find_map(later).unwrap_or_default();
        ps.checked_add(later_ps).map(Time::from_ps)
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
                let unit_ps = match interface.if_tsresol {
                    NANOSECONDS => Some(PS_PER_NS),
                    PICOSECONDS => Some(1),
                    _ => None,
                };
                let end = name.as_deref().and_then(end_of);
                let (end, unit_ps) = end.zip(unit_ps).ok_or_else(|| {
                    format!("which has an interface that is no end of traffic; {ALLOWED}")
                })?;
                let entry = self.entries.entry(end.0.to_owned());
                self.interfaces.push(Interface { entry: entry.index(), direction: end.1, unit_ps });
                entry.or_default();
            }
            Block::EnhancedPacket(packet) => {
                let interface = self.interfaces.get(packet.if_id as usize);
                let at = interface
                    .and_then(|of| of.time([packet.ts_high, packet.ts_low], &packet.options));
                let kept = packet.data.get(..packet.caplen as usize);
                let header = kept.and_then(|bytes| Header::read(bytes).ok());
                let (Some(at), Some(interface), Some(header)) = (at, interface, header) else {
                    return Err(self.at_fault());
                };
                let Interface { entry, direction, .. } = *interface;
                if at < self.last || self.count as usize == MOST_PACKETS {
                    return Err(self.at_fault());
                }
                let number = self.count;
                self.last = at;
                self.count += 1;
                self.entries[entry].push(Recorded { at, number, direction, header });
            }
            Block::InterfaceStatistics(statistics) => {
                let end = statistics.options.iter().find(|of| of.code == OptionCode::IsbEndTime);
                let interface = self.interfaces.get(statistics.if_id as usize);
                if let (Some([a, b, c, d, e, f, g, h]), Some(of)) = (end.map(value), interface) {
                    let halves = [[*a, *b, *c, *d], [*e, *f, *g, *h]].map(u32::from_le_bytes);
                    self.end =
                        of.time(halves, &statistics.options).ok_or_else(|| self.at_fault())?;
                    self.ended += 1;
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
            Stop::Cut if self.interfaces.is_empty() => {
                format!("which is no pcapng file, or ends within its head; {ALLOWED}")
            }
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
