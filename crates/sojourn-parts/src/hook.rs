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
        /// A rate controller: a program in a router that sets its shapers.
        Controller = "controller",
    }
}

impl Role {
    /// The hooks that it may have.
    pub const fn hooks(self) -> &'static [Hook] {
        use Hook::*;
        match self {
            Self::Law => &[OnArrival, OnDeparture, OnUpdate, OnEmpty],
            Self::Control => &[
                OnStart,
                OnAck,
                OnLoss,
                OnEcn,
                OnTimeout,
                OnEstablished,
                OnRoundTrip,
                OnSample,
                OnFeedback,
                OnMark,
                OnRestart,
                OnUndo,
                OnWake,
            ],
            Self::Traffic => &[OnTimer, OnOpen, OnReceived, OnAcknowledged, OnDatagram, OnLost],
            Self::Controller => &[OnProbe, OnUpdate],
        }
    }

    /// Hooks of which it must have one.
    pub const fn one_of(self) -> &'static [Hook] {
        match self {
            Self::Control => &[Hook::OnAck, Hook::OnSample, Hook::OnFeedback],
            Self::Law | Self::Traffic | Self::Controller => &[],
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
            Self::Controller => &["kind", DIGEST, "server", "probe_interval_ms", "probe_bytes"],
        }
    }

    /// The first version of the interface that has it.
    pub const fn interface(self) -> u32 {
        if matches!(self, Self::Controller) { EXTENDED } else { 1 }
    }

    /// The hooks that it must have.
    pub const fn required(self) -> &'static [Hook] {
        use Hook::*;
        match self {
            Self::Law | Self::Controller => &[],
            Self::Control => &[OnLoss, OnTimeout],
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
        /// A controller: the time for an update has come. `up_bytes` and `down_bytes` have left the shapers in `interval_us`.
        /// Answers, as all hooks of controllers, the rates up and down in bit/s; one that is missing stays as it is.
        ///
        /// A law: the same. `sojourn_us` is the time that the backlog will take to drain. Answers
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
        /// A control: the handshake is complete, with its round trip.
        OnEstablished = "on_established",
        /// A control: an acknowledgement measures a round trip. This comes first of all that it changes.
        OnRoundTrip = "on_round_trip",
        /// A control: an acknowledgement came, and all that it says about deliveries and losses is known. A control with
        /// this hook sets the window by itself, in a recovery too, and paces.
        OnSample = "on_sample",
        /// A control: an acknowledgement delivers something, and says how much of it was marked. A control with this hook
        /// reacts to the share of marks, and not to a mark as to a loss.
        OnFeedback = "on_feedback",
        /// A control: as `OnEcn`, by the name that it has among built-in controls.
        OnMark = "on_mark",
        /// A control: something leaves while nothing is in flight.
        OnRestart = "on_restart",
        /// A control: the last reduction proved needless. Without this hook window and threshold are raised to what they
        /// were before it.
        OnUndo = "on_undo",
        /// A control: the time that it asked for has come.
        OnWake = "on_wake",
        /// Traffic: its timer expired, first when it starts. Answers, as all hooks of traffic, commands of [`command`] in
        /// rows of [`COMMAND_NUMBERS`] numbers.
        OnTimer = "on_timer",
        /// Traffic: a connection that it opened can be used.
        OnOpen = "on_open",
        /// Traffic: an end (0 the home, 1 the server) has received all that it was to expect.
        OnReceived = "on_received",
        /// Traffic: all that an end was to send is acknowledged.
        OnAcknowledged = "on_acknowledged",
        /// Traffic: a datagram has arrived at an end.
        OnDatagram = "on_datagram",
        /// Traffic: an end has noticed that a datagram is missing, by one that was sent later.
        OnLost = "on_lost",
        /// A controller: a probe was answered after `rtt_us`, of which the clock of the server says how much it took up
        /// and down.
        OnProbe = "on_probe",
    }
}

impl Hook {
    /// The numbers that it is called with in a part of this role, in order. `ecn` is the ECN field of the IP header:
    /// 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE. `flow` is a hash of the packet's flow.
    pub const fn numbers(self, role: Role) -> &'static [&'static str] {
        match self {
            Self::OnUpdate if matches!(role, Role::Controller) => &[
                "now_us",
                "interval_us",
                "up_bytes",
                "down_bytes",
                "up_bps",
                "down_bps",
                "waiting",
            ],
            Self::OnProbe => {
                &["now_us", "rtt_us", "up_us", "down_us", "up_bps", "down_bps", "probe"]
            }
            Self::OnArrival | Self::OnDeparture => {
                &["now_us", "bytes", "backlog_bytes", "sojourn_us", "ecn", "flow"]
            }
            Self::OnUpdate => &["now_us", "backlog_bytes", "sojourn_us", "rate_bps"],
            Self::OnEmpty | Self::OnTimer => &["now_us"],
            Self::OnStart => &["window_bytes", "mss_bytes", "max_window_bytes"],
            Self::OnAck => &[
                "now_us",
                "window_bytes",
                "flight_bytes",
                "acked_bytes",
                "rtt_us",
                "min_rtt_us",
                "threshold_bytes",
                "srtt_us",
                "one_way_us",
            ],
            Self::OnLoss | Self::OnEcn | Self::OnMark | Self::OnTimeout => {
                &["now_us", "window_bytes", "flight_bytes", "threshold_bytes"]
            }
            Self::OnEstablished => &["now_us", "window_bytes", "threshold_bytes", "srtt_us"],
            Self::OnRoundTrip => &[
                "now_us",
                "window_bytes",
                "threshold_bytes",
                "rtt_us",
                "srtt_us",
                "min_rtt_us",
                "one_way_us",
                "una_bytes",
                "nxt_bytes",
            ],
            Self::OnSample => &[
                "now_us",
                "window_bytes",
                "threshold_bytes",
                "flight_bytes",
                "prior_flight_bytes",
                "delivered_bytes",
                "delivered_at_us",
                "acked_bytes",
                "lost_bytes",
                "newly_lost_bytes",
                "rate_bps",
                "interval_bytes",
                "interval_us",
                "is_app_limited",
                "delivered_then_bytes",
                "flight_then_bytes",
                "lost_since_bytes",
                "rtt_us",
                "srtt_us",
                "min_rtt_us",
                "one_way_us",
                "may_be_delayed",
                "recovery",
                "is_window_limited",
                "next_departure_us",
            ],
            Self::OnFeedback => &[
                "now_us",
                "window_bytes",
                "threshold_bytes",
                "delivered_bytes",
                "marked_bytes",
                "srtt_us",
                "una_bytes",
                "nxt_bytes",
                "is_recovering",
            ],
            Self::OnRestart => {
                &["now_us", "window_bytes", "threshold_bytes", "idle_us", "is_app_limited"]
            }
            Self::OnUndo => &[
                "now_us",
                "window_bytes",
                "threshold_bytes",
                "previous_window_bytes",
                "previous_threshold_bytes",
            ],
            Self::OnWake => &["now_us", "window_bytes", "threshold_bytes", "flight_bytes"],
            Self::OnOpen => &["now_us", "connection"],
            Self::OnReceived | Self::OnAcknowledged => &["now_us", "connection", "end"],
            Self::OnDatagram => &["now_us", "end", "number", "bytes", "delay_us", "ecn", "dscp"],
            Self::OnLost => &["now_us", "end", "number"],
        }
    }
}

impl Hook {
    /// How many of its numbers come first: a method of Python that names its arguments otherwise has these.
    pub const fn first(self, role: Role) -> usize {
        match self {
            Self::OnUpdate if matches!(role, Role::Controller) => 4,
            Self::OnProbe => 4,
            Self::OnStart => 2,
            Self::OnAck => 6,
            Self::OnLoss | Self::OnEcn | Self::OnMark | Self::OnTimeout => 3,
            Self::OnDatagram | Self::OnLost => 3,
            hook if hook.interface() == 1 => hook.numbers(role).len(),
            _ => 1,
        }
    }

    /// The first version of the interface that has it.
    pub const fn interface(self) -> u32 {
        match self {
            Self::OnEstablished
            | Self::OnRoundTrip
            | Self::OnSample
            | Self::OnFeedback
            | Self::OnMark
            | Self::OnRestart
            | Self::OnUndo
            | Self::OnWake
            | Self::OnDatagram
            | Self::OnLost
            | Self::OnProbe => EXTENDED,
            _ => 1,
        }
    }
}

/// The version of the interface with all hooks of controls. Those of version 1 are called as they were.
pub const EXTENDED: u32 = 2;

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
    /// Datagrams from an end are parts of a frame from now on: `end, number, packets`; of none with 0 packets.
    pub const FRAME: f64 = 7.0;
    /// Datagrams from an end have these header fields from now on: `end, dscp, ecn`; -1 for those of the entry.
    pub const LABEL: f64 = 8.0;
    /// A page is loaded: `start_us, took_us`.
    pub const PAGE: f64 = 9.0;
}
