//! TCP options as a connection uses them, after defaults.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accecn::EcnMode;
use super::cc::{CongestionSpec, Connection};
use super::rules::{Recovery, Rules};
use sojourn_engine::dialect::Dialect;
use sojourn_engine::units::Time;

/// Transport protocol of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// TCP (RFC 9293).
    #[default]
    Tcp,
    /// QUIC (RFC 9000, RFC 9002): one stream in each direction, over UDP.
    Quic,
}

/// Bytes of the timestamps option with its padding (RFC 7323 appendix A).
pub(crate) const TIMESTAMPS_BYTES: u16 = 12;

/// TCP configuration, shared by all connections of a traffic entry.
#[derive(Clone, Debug)]
pub struct Config {
    /// Transport protocol.
    pub transport: Transport,
    /// Dialect of window growth, recovery and timers.
    pub dialect: Dialect,
    /// Congestion control.
    pub congestion_control: CongestionSpec,
    /// Loss recovery.
    pub recovery: Recovery,
    /// What the dialect has others do.
    pub rules: &'static Rules,
    /// Payload bytes of a full segment; with QUIC, of a full datagram.
    pub mss: u64,
    /// Header bytes with timestamps.
    pub header: u16,
    /// Bytes of the SACK option: a fixed part, and for each block.
    pub sack_bytes: (u16, u16),
    /// Do segments carry timestamps?
    pub timestamps: bool,
    /// Initial window in segments.
    pub initial_window: f64,
    /// Maximum window in segments.
    pub max_window: f64,
    /// In-order segments per acknowledgement.
    pub ack_every: u32,
    /// Maximum delay of an acknowledgement.
    pub delayed_ack: Time,
    /// Do delayed acknowledgements wait for whole multiples of that delay?
    pub delayed_ack_beats: bool,
    /// Does the window shrink after an idle time?
    pub restart_after_idle: bool,
    /// With FullTcp: does a last segment that is not full wait (Nagle's algorithm)?
    pub nagle: bool,
    /// The least time between interrupts of a host's network card; zero to handle each packet when it comes.
    pub interrupt_interval: Time,
    /// Maximum random delay before an event's transmissions.
    pub send_jitter: Time,
    /// Timeout before the first round-trip measurement.
    pub initial_rto: Time,
    /// Minimum timeout.
    pub min_rto: Time,
    /// Maximum timeout.
    pub max_rto: Time,
    /// Clock tick of round-trip measurements; zero for none.
    pub rtt_tick: Time,
    /// How it uses explicit congestion notification.
    pub ecn: EcnMode,
    /// What the end supports of it that accepts the connection.
    pub ecn_server: EcnMode,
    /// Do receivers report marks?
    pub ecn_feedback: bool,
    /// Does a sender read marks from the field ACE alone?
    pub ace_only: bool,
    /// Does the sender pace what it sends?
    pub pacing: bool,
    /// May the path change the order of packets? Then receivers report what came twice (D-SACK, RFC 2883), and senders
    /// adapt to reordering and undo needless reductions. Elsewhere all come in order, and a needless repetition, of a
    /// probe or after a timeout, is not reported. ns-2's ends know nothing of it.
    pub is_reordered: bool,
}

impl Config {
    /// The same, on a path that may change the order or does not.
    pub fn on_path(self, is_reordered: bool) -> Self {
        Self { is_reordered: is_reordered && self.dialect != Dialect::Ns2, ..self }
    }

    /// The MSS as the SYN's option says it (RFC 6691): with the bytes of the timestamps, which ns-2 does not
    /// take from it.
    pub fn mss_option(&self) -> u64 {
        let takes = self.timestamps && self.dialect != Dialect::Ns2;
        self.mss + if takes { TIMESTAMPS_BYTES.into() } else { 0 }
    }

    /// What its congestion control knows.
    pub(crate) fn connection(&self) -> Connection {
        let Self { dialect, mss, initial_window, max_window, .. } = *self;
        Connection { dialect, mss, initial_window, max_window }
    }

    /// Is it ns-2's two-way agent?
    pub fn is_full(&self) -> bool {
        self.recovery == Recovery::FullSack
    }
}
