//! The packets of a record.

use std::net::IpAddr;
use std::sync::Arc;

use super::header::{Header, Tcp};
use sojourn_engine::packet::Direction;
use sojourn_engine::units::Time;
use sojourn_input::digest::digest;

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
