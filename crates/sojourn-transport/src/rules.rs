//! What the dialects do differently at the ends of TCP connections: a set of rules for each, which the code asks
//! by name.
//!
//! What a sender does about losses is not here: each dialect has senders of its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sojourn_engine::dialect::Dialect;

/// How TCP detects and retransmits lost segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// Selective acknowledgements (RFC 2018, RFC 6675; in ns-2 the agent Sack1).
    #[default]
    Sack,
    /// NewReno: duplicate acknowledgements, one hole repaired per round trip (RFC 6582).
    Newreno,
    /// Reno: duplicate acknowledgements, one hole repaired per window (RFC 2581).
    Reno,
    /// The ns-2 agent FullTcp/Sack with its handshake, timers and acknowledgements. Only for the
    /// `ns2` dialect.
    FullSack,
    /// The ns-2 agent TCP/Linux, after Linux 2.6.22. It detects lost retransmissions, and while it
    /// slows down it sends one segment for every two that arrive. Only for the `ns2` dialect.
    Linux,
}

impl Recovery {
    /// Does the receiver send SACK blocks (RFC 2018)?
    pub fn is_selective(self) -> bool {
        matches!(self, Self::Sack | Self::FullSack | Self::Linux)
    }
}

/// What a lost SYN leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterLostSyn {
    /// A window of one segment and a longer timeout (RFC 5681 §3.1, RFC 6298 §5.7).
    LongerTimeout,
    /// A window of one segment and the least threshold: the timeout of a SYN is like any other, and stays
    /// doubled until a measurement (ns-2.35 tcp.cc `timeout`).
    LeastThreshold,
    /// The initial window and the least threshold; the doubling ends (tcp-full.cc `recv`, `newack`).
    InitialWindow,
}

/// When round trips are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundTrips {
    /// From when the acknowledged segments left, whatever acknowledges them.
    ByDeparture,
    /// At acknowledgements of new data, by timestamps (RFC 7323 §4.1) or one segment at a time (RFC 6298 §3).
    ByAcknowledgement,
    /// At acknowledgements of new data, but the timer is set before the measurement is known (tcp-full.cc `newack`).
    AfterTimer,
}

/// When acknowledgements let the window grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// While the window is what limits sending (RFC 7661 §1).
    WhileLimited,
    /// While it was so in the last round trips (Linux net/ipv4/tcp_output.c `tcp_cwnd_validate`).
    WhileRecentlyLimited,
    /// Always.
    Always,
}

/// What an idle time does to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterIdle {
    /// The initial window, after more than a timeout (RFC 5681 §4.1).
    InitialWindow,
    /// Half for each timeout (Linux net/ipv4/tcp_output.c `tcp_cwnd_restart`).
    Halves,
    /// One segment: the timer keeps running while nothing is outstanding (ns-2.35 tcp.cc).
    OneSegment,
    /// The initial window, once there is more to send (tcp-full.cc `foutput`).
    InitialWindowToSend,
}

/// When a receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledging {
    /// After so many segments (RFC 5681 §4.2).
    BySegments,
    /// After so many segments, where a copy of the last one counts as a new one. The latest segment is echoed (ns-2.35
    /// tcp-sink.cc `recv`).
    BySink,
    /// After so many full segments' bytes (tcp-full.cc `need_send`).
    ByBytes,
    /// As Linux does: at once at first, later by segments and what follows; few of those about one hole.
    AsLinux,
}

/// The rules of a dialect.
#[derive(Debug, PartialEq)]
pub struct Rules {
    /// Does the end that opens a connection end the handshake with a segment of its own?
    pub ends_handshake_alone: bool,
    /// What a lost SYN leaves behind.
    pub after_lost_syn: AfterLostSyn,
    /// When round trips are measured.
    pub round_trips: RoundTrips,
    /// Does the timeout have the least timeout above the round trip, rather than be that at least?
    pub least_timeout_above: bool,
    /// When the window may grow.
    pub growth: Growth,
    /// Does it grow by whole segments delivered, rather than by bytes acknowledged?
    pub counts_deliveries: bool,
    /// Does a loss leave the window for its recovery to shrink?
    pub shrinks_stepwise: bool,
    /// Does a loss restart the timer?
    pub loss_restarts_timer: bool,
    /// Does the threshold stay where the first of several timeouts put it (RFC 5681 §3.1)?
    pub keeps_threshold: bool,
    /// Are segments sent in bursts, perhaps paced, rather than as soon as the window allows?
    pub schedules: bool,
    /// Does the timer begin again where the first outstanding segment is sent again?
    pub head_restarts_timer: bool,
    /// Does a retransmission end the timing of a segment (Karn's rule)? Elsewhere only losses and timeouts do.
    pub retransmission_ends_timing: bool,
    /// What an idle time does to the window.
    pub after_idle: AfterIdle,
    /// When the receiver acknowledges.
    pub acknowledging: Acknowledging,
}

/// The standards.
const RFC: Rules = Rules {
    ends_handshake_alone: false,
    after_lost_syn: AfterLostSyn::LongerTimeout,
    round_trips: RoundTrips::ByAcknowledgement,
    least_timeout_above: false,
    growth: Growth::WhileLimited,
    counts_deliveries: false,
    shrinks_stepwise: false,
    loss_restarts_timer: false,
    keeps_threshold: true,
    schedules: false,
    head_restarts_timer: false,
    retransmission_ends_timing: true,
    after_idle: AfterIdle::InitialWindow,
    acknowledging: Acknowledging::BySegments,
};

/// A Linux host.
const LINUX: Rules = Rules {
    round_trips: RoundTrips::ByDeparture,
    least_timeout_above: true,
    growth: Growth::WhileRecentlyLimited,
    counts_deliveries: true,
    shrinks_stepwise: true,
    schedules: true,
    head_restarts_timer: true,
    after_idle: AfterIdle::Halves,
    acknowledging: Acknowledging::AsLinux,
    ..RFC
};

/// The one-way agents of ns-2.
const NS2: Rules = Rules {
    after_lost_syn: AfterLostSyn::LeastThreshold,
    growth: Growth::Always,
    loss_restarts_timer: true,
    keeps_threshold: false,
    retransmission_ends_timing: false,
    after_idle: AfterIdle::OneSegment,
    acknowledging: Acknowledging::BySink,
    ..RFC
};

/// The two-way agent of ns-2, FullTcp.
const NS2_FULL: Rules = Rules {
    ends_handshake_alone: true,
    after_lost_syn: AfterLostSyn::InitialWindow,
    round_trips: RoundTrips::AfterTimer,
    after_idle: AfterIdle::InitialWindowToSend,
    acknowledging: Acknowledging::ByBytes,
    ..NS2
};

impl Rules {
    /// Those of a dialect with this recovery.
    pub fn of(dialect: Dialect, recovery: Recovery) -> &'static Self {
        match (dialect, recovery) {
            (_, Recovery::FullSack) => &NS2_FULL,
            (Dialect::Rfc, _) => &RFC,
            (Dialect::Linux, _) => &LINUX,
            (Dialect::Ns2, _) => &NS2,
        }
    }
}
