//! Frames of a capture, and the packets that segmentation offload joined in them.

use sojourn_engine::packet::{FULL_PACKET, LARGEST_PACKET};

use super::link::USUAL_HEADERS;

/// Bytes of the largest frame: twice what Linux joins at most, 8 times 65536 (GSO_MAX_SIZE).
pub(super) const LARGEST_FRAME: i64 = 1 << 20;
/// The largest IP packet of an Ethernet.
pub(super) const ETHERNET_MTU: u16 = 1500;
/// Bytes around an IP packet in the largest frame, with VLAN tag and check sequence.
const MOST_AROUND: u32 = FULL_PACKET as u32 - ETHERNET_MTU as u32;

/// A frame of a capture.
pub(super) struct Frame {
    /// In ps since the file's own epoch.
    pub at: i128,
    pub wire_bytes: u32,
    /// Of these the bytes around the IP packet.
    pub around: u16,
    /// And those of the headers that each of its packets has.
    pub headers: u16,
    /// Number of its ends.
    pub conversation: Option<u32>,
}

/// The MTU by which frames are split: the given one, or that of Ethernet if any frame is larger than any
/// packet.
pub(super) fn mtu(given: Option<u16>, frames: &[Frame]) -> Option<u16> {
    let is_joined = |frame: &Frame| frame.wire_bytes > u32::from(LARGEST_PACKET);
    given.or_else(|| frames.iter().any(is_joined).then_some(ETHERNET_MTU))
}

impl Frame {
    /// Is it several packets that the capturing host handed to its network card as one, or got so?
    pub(super) fn is_joined(&self, mtu: u16) -> bool {
        self.wire_bytes > u32::from(mtu) + MOST_AROUND
    }

    /// The sizes of its packets on the wire. Each has the headers, and all but the last fill the MTU.
    pub(super) fn sizes(&self, mtu: Option<u16>) -> impl Iterator<Item = u32> {
        let mtu = mtu.filter(|mtu| self.is_joined(*mtu)).map(u32::from);
        let around = u32::from(self.around).min(self.wire_bytes);
        let packet_bytes = self.wire_bytes - around;
        let headers =
            Some(u32::from(self.headers)).filter(|bytes| mtu.is_none_or(|mtu| bytes < &mtu));
        let headers = headers.unwrap_or(USUAL_HEADERS as u32).min(packet_bytes);
        let payload = packet_bytes - headers;
        let share = mtu.map_or(payload, |mtu| mtu - headers).max(1);
        let count = payload.div_ceil(share).max(1);
        (0..count).map(move |i| around + headers + share.min(payload - i * share))
    }
}
