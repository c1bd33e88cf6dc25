//! What parts are called with, and what they answer.
//!
//! All is plain numbers: times in us, sizes in bytes, rates in bit/s.

use serde::{Deserialize, Serialize};

use sojourn_input::named;

/// The key for the digest of a part's source.
pub(crate) const DIGEST: &str = "digest";

named! {
    /// What a part is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Role {
        /// A queue's law: an AQM algorithm.
        Law = "law",
        /// A congestion control.
        Control = "control",
        /// A traffic model.
        Traffic = "traffic",
    }
}

impl Role {
    /// The hooks that it may have.
    pub const fn hooks(self) -> &'static [Hook] {
        use Hook::*;
        match self {
            Self::Law => &[OnArrival, OnDeparture, OnUpdate, OnEmpty],
            Self::Control => &[OnStart, OnAck, OnLoss, OnEcn, OnTimeout],
            Self::Traffic => &[OnTimer, OnOpen, OnReceived, OnAcknowledged],
        }
    }

    /// Keys that all such parts have, beside those that they declare.
    pub(crate) const fn reserved(self) -> &'static [&'static str] {
        match self {
            Self::Law | Self::Control => &["kind", DIGEST],
            Self::Traffic => &[
                "kind", DIGEST, "server", "start_s", "tcp", "home", "dscp", "ecn", "port",
                "address",
            ],
        }
    }

    /// The hooks that it must have.
    pub const fn required(self) -> &'static [Hook] {
        use Hook::*;
        match self {
            Self::Law => &[],
            Self::Control => &[OnAck, OnLoss, OnTimeout],
            Self::Traffic => &[OnTimer],
        }
    }
}

named! {
    /// When a part is called. Hooks that a part does not have are not called.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[repr(u8)]
    pub enum Hook {
        /// A law: a packet has arrived and there is room for it. `sojourn_us` is the time that the backlog will take to
        /// drain. Answers a verdict of [`verdict`]; nothing passes it.
        OnArrival = "on_arrival",
        /// A law: a packet is at the head and may leave, after `sojourn_us` in the queue. `backlog_bytes` wait behind it,
        /// in all bins of the link. Answers a verdict. After a drop the next head is judged.
        OnDeparture = "on_departure",
        /// A law: the time for an update has come. `sojourn_us` is the time that the backlog will take to drain. Answers
        /// the probability with which arriving packets are marked or dropped until the next update; nothing is 0. Those
        /// that are spared come to `OnArrival`.
        OnUpdate = "on_update",
        /// A law: the queue is empty and a packet was wanted. Answers nothing.
        OnEmpty = "on_empty",
        /// A control: the connection begins. Answers, as all hooks of controls, the window in bytes and the pacing rate
        /// in bit/s. A window that is missing stays as it is, and a pacing rate that is missing or 0 follows from the
        /// window.
        OnStart = "on_start",
        /// A control: new data was acknowledged outside loss recovery while the window limited sending.
        OnAck = "on_ack",
        /// A control: a loss was found.
        OnLoss = "on_loss",
        /// A control: a congestion mark was echoed. Without this hook `OnLoss` is called.
        OnEcn = "on_ecn",
        /// A control: the retransmission timer expired.
        OnTimeout = "on_timeout",
        /// Traffic: its timer expired, first when it starts. Answers, as all hooks of traffic, commands of [`command`] in
        /// rows of [`COMMAND_NUMBERS`] numbers.
        OnTimer = "on_timer",
        /// Traffic: a connection that it opened can be used.
        OnOpen = "on_open",
        /// Traffic: an end (0 the home, 1 the server) has received all that it was to expect.
        OnReceived = "on_received",
        /// Traffic: all that an end was to send is acknowledged.
        OnAcknowledged = "on_acknowledged",
    }
}

impl Hook {
    /// The numbers that it is called with, in order. `ecn` is the ECN field of the IP header: 0 Not-ECT, 1 ECT(1),
    /// 2 ECT(0), 3 CE. `flow` is a hash of the packet's flow.
    pub const fn numbers(self) -> &'static [&'static str] {
        match self {
            Self::OnArrival | Self::OnDeparture => {
                &["now_us", "bytes", "backlog_bytes", "sojourn_us", "ecn", "flow"]
            }
            Self::OnUpdate => &["now_us", "backlog_bytes", "sojourn_us", "rate_bps"],
            Self::OnEmpty | Self::OnTimer => &["now_us"],
            Self::OnStart => &["window_bytes", "mss_bytes"],
            Self::OnAck => {
                &["now_us", "window_bytes", "flight_bytes", "acked_bytes", "rtt_us", "min_rtt_us"]
            }
            Self::OnLoss | Self::OnEcn | Self::OnTimeout => {
                &["now_us", "window_bytes", "flight_bytes"]
            }
            Self::OnOpen => &["now_us", "connection"],
            Self::OnReceived | Self::OnAcknowledged => &["now_us", "connection", "end"],
        }
    }
}

/// What a law answers about a packet.
pub mod verdict {
    /// Let it through.
    pub const PASS: f64 = 0.0;
    /// Mark it if its transport supports ECN, and drop it otherwise (RFC 3168 §5).
    pub const MARK: f64 = 1.0;
    /// Drop it.
    pub const DROP: f64 = 2.0;
}

/// Numbers of a command of traffic: what to do, then its arguments; those that it does not need are 0.
pub const COMMAND_NUMBERS: usize = 4;

/// What traffic can do. Ends are 0 for the home and 1 for the server.
pub mod command {
    /// Set the timer: `at_us`. This replaces the earlier time.
    pub const WAKE: f64 = 1.0;
    /// Open a connection: `connection`, a number that the part chooses. `OnOpen` follows.
    pub const OPEN: f64 = 2.0;
    /// Send over a connection: `connection, end, bytes`.
    pub const SEND: f64 = 3.0;
    /// Report when an end has received so many more bytes: `connection, end, bytes`.
    pub const EXPECT: f64 = 4.0;
    /// Send no more, from both ends: `connection`.
    pub const CLOSE: f64 = 5.0;
    /// Send a datagram: `end, bytes`. The end is that which sends, and the bytes are those on the wire.
    pub const DATAGRAM: f64 = 6.0;
}
