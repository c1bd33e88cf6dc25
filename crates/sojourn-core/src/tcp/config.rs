//! TCP as a connection uses it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cc::CongestionSpec;
use crate::dialect::Dialect;
use crate::units::Time;

/// How lost segments are found and sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// Selective acknowledgements (RFC 2018, RFC 6675; the ns-2 agent Sack1).
    #[default]
    Sack,
    /// Duplicate acknowledgements, one hole per round trip (RFC 6582).
    Newreno,
    /// Duplicate acknowledgements, one hole per window (RFC 2581).
    Reno,
    /// The ns-2 agent FullTcp/Sack, with its handshake, timers and acknowledgements: for the ns-2
    /// dialect.
    FullSack,
    /// The ns-2 agent TCP/Linux, after Linux 2.6.22: what is sent again may be found lost again, and one
    /// segment leaves for two that arrive while it slows down. For the ns-2 dialect.
    Linux,
}

impl Recovery {
    /// Does the receiver say what it holds (RFC 2018)?
    pub fn is_selective(self) -> bool {
        matches!(self, Self::Sack | Self::FullSack | Self::Linux)
    }
}

/// TCP as a connection uses it; shared by all connections of a traffic entry.
#[derive(Clone, Debug)]
pub struct Config {
    /// Rules of growth, recovery and timers.
    pub dialect: Dialect,
    /// Congestion control.
    pub congestion_control: CongestionSpec,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Payload bytes of a full segment.
    pub mss: u64,
    /// Header bytes with timestamps.
    pub header: u16,
    /// Bytes of the SACK option: once, and per block.
    pub sack_bytes: (u16, u16),
    /// Are there timestamps?
    pub timestamps: bool,
    /// Segments.
    pub initial_window: f64,
    /// Segments.
    pub max_window: f64,
    /// Segments per acknowledgement.
    pub ack_every: u32,
    /// Longest delay of an acknowledgement.
    pub delayed_ack: Time,
    /// Does that delay end at whole multiples of itself?
    pub delayed_ack_beats: bool,
    /// Does the window shrink after a pause?
    pub restart_after_idle: bool,
    /// Does a last segment that is not full wait, with FullTcp?
    pub nagle: bool,
    /// Greatest random time before what an event lets it send.
    pub send_jitter: Time,
    /// Timeout before there is a round-trip time.
    pub initial_rto: Time,
    /// Least timeout.
    pub min_rto: Time,
    /// Greatest timeout.
    pub max_rto: Time,
    /// Clock tick of round-trip measurements, zero for none.
    pub rtt_tick: Time,
    /// Are data segments markable?
    pub ecn: bool,
}

impl Config {
    /// Is it ns-2's two-way agent?
    pub fn is_full(&self) -> bool {
        self.recovery == Recovery::FullSack
    }
}
