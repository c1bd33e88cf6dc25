//! From the packets of a capture to those that are replayed.

use std::net::IpAddr;

use super::home::{Found, candidates, direction, find};
use super::reader::{MOST_PACKETS, PS_PER_SECOND, Reader};
use super::split::{self, ETHERNET_MTU, Frame};
use crate::apps::replay::{Capture, Captured, Home, Parameters};
use sojourn_engine::packet::{Direction, LARGEST_PACKET};
use sojourn_engine::units::Time;
use sojourn_input::fault;
use sojourn_input::problem::{Code, Remedy, Warning};

/// The longest allowed run in seconds.
const LONGEST_S: i128 = 1_000_000;
/// The addresses that a message lists.
const MOST_CANDIDATES: usize = 6;

/// How a capture is to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct How {
    /// Bytes added to each packet instead of those of its link type.
    pub framing_bytes: Option<u16>,
    /// The direction of all packets.
    pub direction: Option<Direction>,
    /// What gives each packet its direction.
    pub home: Option<Home>,
    /// Bytes of the largest IP packet; larger ones are split.
    pub mtu_bytes: Option<u16>,
}

impl How {
    /// As an entry says.
    pub fn of(replay: &Parameters) -> Self {
        Self {
            framing_bytes: replay.framing_bytes,
            direction: replay.direction,
            home: replay.home_address.clone(),
            mtu_bytes: replay.mtu_bytes,
        }
    }
}

/// A capture that has been read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The packets that are replayed.
    pub capture: Capture,
    /// Their direction, if no home gives each its own.
    pub direction: Option<Direction>,
    /// The home that gives the directions.
    pub home: Option<Home>,
    /// What a user must know.
    pub notes: Vec<Warning>,
}

/// Why a capture cannot be replayed.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// It is this, which continues a sentence that starts with the file's name.
    File(String),
    /// What is wrong with the home; the file's name follows.
    Home(String),
}

/// Reads a capture file.
///
/// # Errors Why it cannot be replayed.
pub fn parse(bytes: &[u8], how: &How) -> Result<Reading, Refusal> {
    let mut reader = Reader { framing_bytes: how.framing_bytes, ..Reader::default() };
    reader.read(bytes).map_err(Refusal::File)?;
    // Captures of several queues of a network card are not always in order.
    reader.frames.sort_by_key(|frame| frame.at);
    check_span(&reader.frames).map_err(Refusal::File)?;
    let (ways, note) = ways(&reader, how)?;
    let mut notes = Vec::from_iter(note);
    let sent: Vec<_> =
        reader.frames.iter().filter_map(|frame| Some((frame, ways.of(frame)?))).collect();
    let left_out = reader.frames.len() - sent.len();
    if left_out > 0 {
        let packets = counted(left_out, "packet");
        let are = if left_out == 1 { "is" } else { "are" };
        let text = format!("{packets} left out, which {are} not between the home and others");
        notes.push(
            Warning::of_code(Code::CapturePacketsLeftOut, "", text).with("packets", left_out),
        );
    }
    let Some((first, way)) = sent.first().copied() else {
        return Err(without_packets(&reader, how));
    };
    let is_one_way = left_out == 0 && sent.iter().all(|(_, other)| *other == way);
    let (direction, home) = match &ways {
        Ways::All(direction) => (Some(*direction), how.home.clone()),
        Ways::Each(..) if how.home.is_none() && is_one_way => (Some(way), None),
        Ways::Each(home, _) => (None, Some(home.clone())),
    };
    let capture = packets(&sent, first.at, split::mtu(how.mtu_bytes, &reader.frames), &mut notes)?;
    Ok(Reading { capture, direction, home, notes })
}

/// There are packets, and not for longer than a run may last.
fn check_span(frames: &[Frame]) -> Result<(), String> {
    let (Some(first), Some(last)) = (frames.first(), frames.last()) else {
        return Err("which has no packets; allowed: at least 1 packet".to_owned());
    };
    let span_ps = last.at - first.at;
    if span_ps > LONGEST_S * PS_PER_SECOND {
        let span_s = span_ps / PS_PER_SECOND;
        return Err(format!("which lasts {span_s} s; allowed: {LONGEST_S} s or less"));
    }
    Ok(())
}

/// What gives packets their directions.
enum Ways {
    /// All have this one.
    All(Direction),
    /// Each has that of its ends as this home sees them, if any, by their number.
    Each(Home, Vec<Option<Direction>>),
}

impl Ways {
    fn by(home: Home, reader: &Reader) -> Self {
        let of_each = reader.conversations.keys().map(|ends| direction(&home, ends)).collect();
        Self::Each(home, of_each)
    }

    fn of(&self, frame: &Frame) -> Option<Direction> {
        match self {
            Self::All(direction) => Some(*direction),
            Self::Each(_, directions) => directions[frame.conversation? as usize],
        }
    }

    /// Packets up and down.
    fn counts(&self, reader: &Reader) -> [usize; 2] {
        Direction::BOTH
            .map(|way| reader.frames.iter().filter(|frame| self.of(frame) == Some(way)).count())
    }
}

/// The directions, and what was found out about them.
fn ways(reader: &Reader, how: &How) -> Result<(Ways, Option<Warning>), Refusal> {
    if let Some(direction) = how.direction {
        return Ok((Ways::All(direction), None));
    }
    if let Some(home) = &how.home {
        return Ok((Ways::by(home.clone(), reader), None));
    }
    match find(&reader.conversations) {
        Found::Home(home, reason) => {
            let named = home.to_string();
            let ways = Ways::by(home, reader);
            let [up, down] = ways.counts(reader);
            let packets = counted(up, "packet");
            let note = fault!(CaptureHome, "" =>
                "the home is {home} ({reason}): {packets} up and {down} down", home = named, reason, down);
            Ok((ways, Some(note.with("up", up))))
        }
        Found::OneWay => {
            let remedy = Remedy::of("direction", "down");
            Ok((
                Ways::All(Direction::Up),
                Some(fault!(CaptureOneWay, "", remedy =>
                    "no packet has an answer, and nothing shows which end is the home: all are sent up; {remedy} \
                     sends them down")),
            ))
        }
        Found::Nothing => Ok((Ways::All(Direction::Up), None)),
        Found::OneOf(hosts) => Err(Refusal::Home(format!(
            "missing; it is not clear which end of the packets is the home; allowed: an address or network, such \
             as {}, or a direction for all packets instead",
            listed(&hosts)
        ))),
    }
}

fn without_packets(reader: &Reader, how: &How) -> Refusal {
    let found =
        how.home.as_ref().map_or_else(String::new, |home| format!("found {home}, which is "));
    let hosts = candidates(&reader.conversations);
    let allowed = if hosts.is_empty() {
        "its packets have no addresses; allowed: a direction instead".to_owned()
    } else {
        format!("allowed: one end of the packets, such as {}", listed(&hosts))
    };
    Refusal::Home(format!("{found}one end of no packet; {allowed}"))
}

fn listed(hosts: &[(IpAddr, u64)]) -> String {
    let reported = hosts.iter().take(MOST_CANDIDATES);
    let reported = reported
        .map(|(host, packets)| format!("{host} ({})", counted(*packets as usize, "packet")));
    reported.collect::<Vec<_>>().join(", ")
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The packets, counted from the first frame, with frames of segmentation offload split.
fn packets(
    sent: &[(&Frame, Direction)],
    start: i128,
    mtu: Option<u16>,
    notes: &mut Vec<Warning>,
) -> Result<Capture, Refusal> {
    let mut captured = Vec::with_capacity(sent.len());
    for (frame, direction) in sent {
        let at = Time::from_ps((frame.at - start) as u64);
        for size in frame.sizes(mtu) {
            let Some(size) = u16::try_from(size).ok().filter(|size| *size <= LARGEST_PACKET) else {
                return Err(Refusal::File(format!(
                    "which has a packet of {size} bytes with its framing; allowed: {LARGEST_PACKET} or less"
                )));
            };
            captured.push(Captured { at, size, direction: *direction });
        }
        if captured.len() > MOST_PACKETS {
            return Err(Refusal::File(format!(
                "which has more packets; allowed: {MOST_PACKETS} or fewer"
            )));
        }
    }
    let large = |mtu| sent.iter().filter(|(frame, _)| frame.is_joined(mtu)).count();
    match mtu {
        Some(mtu) if large(mtu) > 0 => {
            let joined = large(mtu);
            let packets = captured.len() - (sent.len() - joined);
            let frames = counted(joined, "frame");
            let note = fault!(CaptureFramesSplit, "" =>
                "{frames} of segmentation offload split into {packets} packets of {mtu} bytes or less", packets, mtu);
            notes.push(note.with("frames", joined));
        }
        None if large(ETHERNET_MTU) > 0 => {
            let remedy = Remedy::of("mtu_bytes", ETHERNET_MTU);
            let packets = counted(large(ETHERNET_MTU), "packet");
            notes.push(
                fault!(CaptureLargePackets, "", remedy =>
                    "{packets} larger than an Ethernet frame replayed whole; if segmentation offload made them, \
                     {remedy} splits them")
                .with("packets", large(ETHERNET_MTU)),
            );
        }
        _ => {}
    }
    Ok(Capture(captured.into()))
}
