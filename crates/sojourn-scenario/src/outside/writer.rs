//! Writes records of real packets: pcapng files (draft-ietf-opsawg-pcapng) with an interface for each end of a traffic entry
//! and times in nanoseconds, as all readers know them. What a time has beyond them is in a comment, so that a replay injects
//! each packet when it came.

use std::io::{self, Write};

use sojourn_engine::packet::Direction;
use sojourn_engine::units::Time;

use super::Header;
use super::line::Line;
use crate::apps::AppSpec;
use crate::schema::Scenario;

/// Types of blocks (section 11.1 of the draft).
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;
/// Options (sections 3.5, 4.1, 4.2, 4.3, 4.6).
const COMMENT: u16 = 1;
const APPLICATION: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;
const ISB_ENDTIME: u16 = 3;
/// Packets that begin with the IP header (LINKTYPE_RAW).
const RAW: u32 = 101;
/// A power of ten: nanoseconds.
pub(super) const NANOSECONDS: u8 = 9;
pub(super) const PS_PER_NS: u64 = 1000;
/// Behind the number of picoseconds in a comment.
pub(super) const PS_LATER: &str = " ps later";
/// Bytes of a comment; the length of an option has 16 bits.
const MOST_COMMENT: usize = 60_000;

/// Writes a record. Buffer what it writes to.
pub struct Writer<W> {
    out: W,
    /// The number of the first interface of each traffic entry that has some.
    interfaces: Vec<Option<u32>>,
    count: u32,
    has_payloads: bool,
    block: Vec<u8>,
}

/// The name of an end of an entry.
pub(super) fn interface_name(entry: &str, direction: Direction) -> String {
    format!("{entry} {}", direction.name())
}

impl<W: Write> Writer<W> {
    /// Begins the record of a run of this scenario, of headers alone or with payloads.
    ///
    /// # Errors Of the output.
    pub fn new(out: W, scenario: &Scenario, has_payloads: bool) -> io::Result<Self> {
        let mut writer =
            Self { out, interfaces: Vec::new(), count: 0, has_payloads, block: Vec::new() };
        writer.section(&Line::of(scenario).text())?;
        for (name, entry) in &scenario.traffic {
            // The packets of one with a record are in that, and its replay here leaves it as it is.
            let is_live = matches!(&entry.app, AppSpec::Real(of) if of.record.is_none());
            writer.interfaces.push(is_live.then_some(writer.count));
            for direction in Direction::BOTH.into_iter().filter(|_| is_live) {
                writer.interface(&interface_name(name, direction))?;
            }
        }
        Ok(writer)
    }

    /// Adds a packet that came at this time, at the end of a traffic entry where packets of this direction come.
    ///
    /// # Errors Of the output.
    pub fn packet(
        &mut self,
        at: Time,
        (entry, direction): (u32, Direction),
        header: &Header,
        packet: &[u8],
    ) -> io::Result<()> {
        let Some(first) = self.interfaces.get(entry as usize).copied().flatten() else {
            return Err(io::Error::other("the entry takes no packets from outside"));
        };
        let kept = if self.has_payloads { header.ip_bytes } else { header.header_bytes };
        let kept = &packet[..usize::from(kept).min(packet.len())];
        // Seen from the home.
        let flags: u32 = match direction {
            Direction::Up => 0b10,
            Direction::Down => 0b01,
        };
        self.number(first + direction as u32);
        self.time(at);
        self.number(kept.len() as u32);
        self.number(header.ip_bytes.into());
        self.padded(kept);
        self.option(EPB_FLAGS, &flags.to_le_bytes());
        self.ps_later(at);
        self.write_block(PACKET)
    }

    /// The run ends at this time. Returns the output.
    ///
    /// # Errors Of the output.
    pub fn finish(mut self, at: Time) -> io::Result<W> {
        for interface in 0..self.count {
            self.number(interface);
            self.time(at);
            let [high, low] = halves(at);
            self.option(ISB_ENDTIME, &[high.to_le_bytes(), low.to_le_bytes()].concat());
            self.ps_later(at);
            self.write_block(STATISTICS)?;
        }
        self.out.flush()?;
        Ok(self.out)
    }

    fn section(&mut self, comment: &str) -> io::Result<()> {
        self.number(0x1a2b_3c4d);
        self.number(1); // version 1.0
        self.block.extend([0xff; 8]); // of unknown length
        for part in comment.as_bytes().chunks(MOST_COMMENT) {
            self.option(COMMENT, part);
        }
        self.option(APPLICATION, format!("sojourn {}", env!("CARGO_PKG_VERSION")).as_bytes());
        self.write_block(SECTION)
    }

    fn interface(&mut self, name: &str) -> io::Result<()> {
        self.count += 1;
        self.number(RAW);
        self.number(0); // no limit of what is captured
        self.option(IF_NAME, name.as_bytes());
        self.option(IF_TSRESOL, &[NANOSECONDS]);
        self.write_block(INTERFACE)
    }

    fn number(&mut self, number: u32) {
        self.block.extend(number.to_le_bytes());
    }

    fn time(&mut self, at: Time) {
        halves(at).into_iter().for_each(|half| self.number(half));
    }

    fn ps_later(&mut self, at: Time) {
        let ps = at.ps() % PS_PER_NS;
        if ps > 0 {
            self.option(COMMENT, format!("{ps}{PS_LATER}").as_bytes());
        }
    }

    fn padded(&mut self, bytes: &[u8]) {
        self.block.extend(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.block.extend(code.to_le_bytes());
        self.block.extend((value.len() as u16).to_le_bytes());
        self.padded(value);
    }

    /// Writes what has been put together, which ends with options.
    fn write_block(&mut self, kind: u32) -> io::Result<()> {
        self.number(0); // end of options
        let length = (self.block.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length)?;
        self.out.write_all(&self.block)?;
        self.block.clear();
        self.out.write_all(&length)
    }
}

fn halves(at: Time) -> [u32; 2] {
    let ns = at.ps() / PS_PER_NS;
    [(ns >> 32) as u32, ns as u32]
}
