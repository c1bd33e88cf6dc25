//! Packets that tests of the algorithms change where it matters to them.

use super::{Arrival, Departure};
use crate::count::Count;
use crate::packet::Ecn;
use crate::units::Time;

fn of_1000_bytes(bytes: u64) -> Count {
    Count { bytes, packets: bytes.div_ceil(1000) }
}

/// 1000 bytes that come to so many of a classic flow, in packets of 1000.
pub(super) fn arrival(backlog_bytes: u64) -> Arrival {
    Arrival {
        now: Time::ZERO,
        size: 1000,
        backlog: of_1000_bytes(backlog_bytes),
        share: 1.0,
        ecn: Ecn::NotEct,
        is_markable: false,
        flow: 0,
    }
}

/// 1000 bytes that leave after this wait, with so many behind them, in packets of 1000.
pub(super) fn departure(now: Time, sojourn: Time, left_bytes: u64) -> Departure {
    let left = of_1000_bytes(left_bytes);
    Departure {
        now,
        sojourn,
        size: 1000,
        left,
        own_left: left,
        alone: left_bytes == 0,
        ecn: Ecn::NotEct,
        is_markable: false,
        flow: 0,
    }
}
