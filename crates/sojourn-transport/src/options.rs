//! TCP options of a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accecn::EcnMode;
use super::cc::{CongestionSpec, reno};
use super::config::{Config, TIMESTAMPS_BYTES, Transport};
use super::quic;
use super::rules::{Recovery, Rules};
use sojourn_engine::dialect::Dialect;
use sojourn_engine::units::Time;
use sojourn_input::parts;

/// TCP options of the scenario or of one traffic entry. An entry's unset keys come from the
/// scenario's `tcp`; keys unset there too come from the dialect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-role" = "choice"))]
pub struct TcpOptions {
    /// Transport protocol of the connections: `tcp`, or `quic` (RFC 9000, RFC 9002), which uses
    /// only the keys `dialect`, `congestion_control`, `mss_bytes`, `header_bytes`, the windows,
    /// `ack_every_segments`, `delayed_ack_ms`, `interrupt_interval_us`, `max_rto_s`, `ecn`, `ecn_server`,
    /// `ecn_feedback` and `pacing`.
    /// Default: `tcp`.
    pub transport: Option<Transport>,
    /// Dialect of window growth, loss recovery and timers. Default: the scenario's dialect.
    pub dialect: Option<Dialect>,
    /// Congestion control, chosen by `kind`. Default: `cubic`; `reno` with recovery `full_sack`;
    /// `ledbat` for torrents.
    #[serde(serialize_with = "parts::write_optional_kind")]
    #[serde(deserialize_with = "parts::optional_kind")]
    pub congestion_control: Option<CongestionSpec>,
    /// Loss recovery. Default: `sack`; in the `ns2` dialect `full_sack` for web and video.
    pub recovery: Option<Recovery>,
    /// Maximum segment size (MSS) in bytes, the value of the SYN's option. With timestamps a full
    /// segment has 12 bytes less payload (RFC 6691 §3), except in the `ns2` dialect. Default: 1460,
    /// and 1440 for IPv6, so that a packet has 1500 bytes. With transport `quic` it is the UDP
    /// payload of the largest datagram including QUIC's headers: at least 1200 (RFC 9000 §14). The
    /// default of 1452 gives packets of 1500 bytes in IPv6 and 1480 in IPv4.
    #[schemars(range(min = 64, max = 8960))]
    pub mss_bytes: Option<u16>,
    /// IP version, 4 or 6, with headers of 20 or 40 bytes. With both, full packets have 1500 bytes
    /// unless `mss_bytes` is set. The scenario's `tcp.ip` also sets the version of datagrams; their
    /// entries set their size. Default: 4.
    #[schemars(range(min = 4, max = 6))]
    pub ip: Option<u8>,
    /// Bytes of IP and TCP headers in every segment, without TCP options; with transport `quic` of
    /// IP and UDP headers. For those of Ethernet see `cable.byte_count`. Default: 40 for IPv4 and 60
    /// for IPv6; with transport `quic` 28 and 48.
    #[schemars(range(min = 1, max = 200))]
    pub header_bytes: Option<u16>,
    /// Send timestamps on every segment (RFC 7323). They take 12 bytes, 10 in the `ns2` dialect.
    /// Default: `true`; in the `ns2` dialect only for `ledbat`.
    pub timestamps: Option<bool>,
    /// Initial window in segments. Default: 10 (RFC 6928); 2 in the `ns2` dialect and for `ledbat`
    /// (RFC 6817 §2.5). With transport `quic` 14 720 bytes in datagrams, 2 at least and 10 at most (RFC 9002
    /// §7.2).
    #[schemars(range(min = 1, max = 1000))]
    pub initial_window_segments: Option<u32>,
    /// Maximum window in segments, which the receiver sets. Default: 10 000.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub max_window_segments: Option<u32>,
    /// In-order segments per acknowledgement; 1 disables delayed acknowledgements. Segments that one
    /// interrupt brings (`interrupt_interval_us`) have one acknowledgement all the same, as in Linux
    /// with quick acknowledgements. Default: 2 (RFC 5681 §4.2); 1 in the `ns2` dialect.
    #[schemars(range(min = 1, max = 100))]
    pub ack_every_segments: Option<u32>,
    /// Maximum delay of an acknowledgement in ms (RFC 5681 §4.2: below 500). Default: 100; 40 in the
    /// `linux` dialect; 25 with transport `quic` (RFC 9000 §18.2: max_ack_delay).
    #[schemars(range(min = 1.0, max = 500.0))]
    pub delayed_ack_ms: Option<f64>,
    /// Send delayed acknowledgements at whole multiples of `delayed_ack_ms`, as BSD does (Stevens,
    /// TCP/IP Illustrated 1 §19.3: every 200 ms). On average they then wait for half of that time.
    /// Default: `false`; `true` with recovery `full_sack`.
    pub delayed_ack_beats: Option<bool>,
    /// Reduce the window after an idle time longer than the timeout (RFC 5681 §4.1; ns-2's
    /// slow_start_restart_). Default: `true`.
    pub restart_after_idle: Option<bool>,
    /// Nagle's algorithm (RFC 9293 §3.7.4): a last segment that is not full waits until all data
    /// before it is acknowledged. It has an effect only with recovery `full_sack`. Default: `true`;
    /// `false` for web.
    pub nagle: Option<bool>,
    /// The least time in us between interrupts of a host's network card. What comes within it is merged (GRO) and
    /// acknowledged at its end, by one acknowledgement. 0 handles each packet when it comes. Default: 250 in the
    /// `linux` dialect (4000 interrupts a second, as Linux' drivers have for bulk traffic), otherwise 0.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub interrupt_interval_us: Option<f64>,
    /// Maximum random delay in us before an event's transmissions, in the `ns2` dialect. It is
    /// drawn uniformly from 0 and avoids phase effects (ns-2's overhead_; Floyd & Jacobson 1991).
    /// Fast retransmits are not delayed. Default: 0.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub send_jitter_us: Option<f64>,
    /// Retransmission timeout in s before the first round-trip measurement, including the SYN's. It
    /// doubles with each retry. Default: 1 (RFC 6298 §2.1); 3 in the `ns2` dialect.
    #[schemars(range(min = 0.1, max = 60.0))]
    pub initial_rto_s: Option<f64>,
    /// Minimum retransmission timeout in s. Default: 1 (RFC 6298 §2.4); 0.2 in the `ns2`
    /// dialect, and in the `linux` dialect, which adds it to the round trip.
    #[schemars(range(min = 0.001, max = 60.0))]
    pub min_rto_s: Option<f64>,
    /// Maximum retransmission timeout in s. Default: 60 (RFC 6298 §2.5); 120 with recovery
    /// `linux` and in the `linux` dialect. With transport `quic` the maximum probe timeout; default 60.
    #[schemars(range(min = 1.0, max = 3600.0))]
    pub max_rto_s: Option<f64>,
    /// Clock tick of round-trip measurements in ms, with ns-2's arithmetic in whole ticks. 0
    /// disables both. Not in the `linux` dialect. Default: 0; 10 in the `ns2` dialect; 1 with recovery
    /// `linux`.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub rtt_tick_ms: Option<f64>,
    /// Explicit congestion notification (ECN): queues may then mark packets instead of dropping them.
    /// `classic` treats an echoed mark as a loss (RFC 3168); `accecn` counts marks (RFC 9768); `l4s`
    /// counts them and sends ECT(1) (RFC 9331), for `dctcp` and `prague` alone. With transport `quic`, which always
    /// counts them (RFC 9000 §13.4), it is `off` or `classic`. Default: `off`; `accecn` for `dctcp` and `l4s` for
    /// `prague`.
    pub ecn: Option<EcnMode>,
    /// What the servers' ends support of ECN, where that is not the same as `ecn`: `off`, `classic`, or counters with
    /// `accecn` and `l4s` alike. Both ends then use what both support (RFC 9768 §3.1.1), and a
    /// scalable congestion control without counters sends Not-ECT (RFC 9331 §4.2). Default: as `ecn`.
    pub ecn_server: Option<EcnMode>,
    /// Whether receivers report marks. Those of `false` agree to ECN and report none, so that senders slow down for
    /// losses alone; QUIC notices (RFC 9000 §13.4.2), TCP does not. Default: `true`.
    pub ecn_feedback: Option<bool>,
    /// With `ecn = "accecn"` or `"l4s"`: size in bits of the counter that a sender reads. 24 is the
    /// byte counter of the AccECN option, 3 the field ACE alone, which wraps when few
    /// acknowledgements arrive (RFC 9768 §3.2.2.5.2). Allowed: 3, 24. Default: 24.
    #[schemars(range(min = 3, max = 24))]
    pub ace_bits: Option<u8>,
    /// Whether to spread the packets of a window over the round trip (Linux: 200 % of the window
    /// per round trip in slow start, 120 % after it; transport `quic`: 125 %, RFC 9002 §7.7). Only
    /// in the `linux` dialect or with transport `quic`. Defaults: 1. `true` with transport `quic`;
    /// 2. `true` for BBR, which cannot do without it; 3. `true` for `prague`; 4. else `false`, as
    /// on a Linux host without the queueing discipline `fq`.
    pub pacing: Option<bool>,
}

/// 4000 interrupts a second.
const BULK_INTERRUPTS_US: f64 = 250.0;

impl TcpOptions {
    /// FullTcp/Sack with Reno, the only congestion control it has in ns-2.
    pub fn full_sack() -> Self {
        Self {
            recovery: Some(Recovery::FullSack),
            congestion_control: Some(CongestionSpec::Reno(reno::Parameters {})),
            ..Self::default()
        }
    }

    /// These options, with unset ones from `base`.
    pub fn or(&self, base: &Self) -> Self {
        Self {
            transport: self.transport.or(base.transport),
            dialect: self.dialect.or(base.dialect),
            congestion_control: self
                .congestion_control
                .clone()
                .or_else(|| base.congestion_control.clone()),
            recovery: self.recovery.or(base.recovery),
            mss_bytes: self.mss_bytes.or(base.mss_bytes),
            ip: self.ip.or(base.ip),
            header_bytes: self.header_bytes.or(base.header_bytes),
            timestamps: self.timestamps.or(base.timestamps),
            initial_window_segments: self.initial_window_segments.or(base.initial_window_segments),
            max_window_segments: self.max_window_segments.or(base.max_window_segments),
            ack_every_segments: self.ack_every_segments.or(base.ack_every_segments),
            delayed_ack_ms: self.delayed_ack_ms.or(base.delayed_ack_ms),
            delayed_ack_beats: self.delayed_ack_beats.or(base.delayed_ack_beats),
            restart_after_idle: self.restart_after_idle.or(base.restart_after_idle),
            nagle: self.nagle.or(base.nagle),
            interrupt_interval_us: self.interrupt_interval_us.or(base.interrupt_interval_us),
            send_jitter_us: self.send_jitter_us.or(base.send_jitter_us),
            initial_rto_s: self.initial_rto_s.or(base.initial_rto_s),
            min_rto_s: self.min_rto_s.or(base.min_rto_s),
            max_rto_s: self.max_rto_s.or(base.max_rto_s),
            rtt_tick_ms: self.rtt_tick_ms.or(base.rtt_tick_ms),
            ecn: self.ecn.or(base.ecn),
            ecn_server: self.ecn_server.or(base.ecn_server),
            ecn_feedback: self.ecn_feedback.or(base.ecn_feedback),
            ace_bits: self.ace_bits.or(base.ace_bits),
            pacing: self.pacing.or(base.pacing),
        }
    }

    /// The IP version.
    pub fn version(&self) -> u8 {
        self.ip.unwrap_or(4)
    }

    /// The configuration of a connection with these options.
    pub fn resolve(&self, scenario: Dialect) -> Config {
        let dialect = self.dialect.unwrap_or(scenario);
        if self.transport == Some(Transport::Quic) {
            return self.resolve_quic(dialect);
        }
        let ns2 = dialect == Dialect::Ns2;
        let linux = dialect == Dialect::Linux;
        let recovery = self.recovery.unwrap_or_default();
        let by_dialect = |rfc: f64, in_ns2: f64| if ns2 { in_ns2 } else { rfc };
        let today = |rfc: f64, in_linux: f64| if linux { in_linux } else { rfc };
        let usual = match recovery {
            Recovery::FullSack => CongestionSpec::Reno(reno::Parameters {}),
            _ => CongestionSpec::default(),
        };
        let congestion_control = self.congestion_control.clone().unwrap_or(usual);
        let is_linux = recovery == Recovery::Linux;
        let control = congestion_control.parameters();
        let (paces, usual_ecn) = (linux && control.is_paced(), control.usual_ecn());
        let is_ledbat = matches!(congestion_control, CongestionSpec::Ledbat(_));
        let timestamps = self.timestamps.unwrap_or(!ns2 || control.needs_timestamps());
        let option_bytes = match (timestamps, ns2) {
            (false, _) => 0,
            (true, false) => TIMESTAMPS_BYTES,
            (true, true) => 10,
        };
        // RFC 8200 §3: an IPv6 header has 40 bytes, 20 more than one of IPv4.
        let longer = if self.version() == 6 { 20 } else { 0 };
        let mss_option = self.mss_bytes.unwrap_or(1460 - longer);
        let seconds = |s: Option<f64>, default: f64| Time::from_secs_f64(s.unwrap_or(default));
        let ecn = self.ecn.unwrap_or(usual_ecn);
        Config {
            transport: Transport::Tcp,
            dialect,
            congestion_control,
            recovery,
            rules: Rules::of(dialect, recovery),
            mss: u64::from(mss_option - if ns2 { 0 } else { option_bytes }),
            header: self.header_bytes.unwrap_or(40 + longer) + option_bytes,
            // RFC 2018 §3: two bytes of kind and length and two of padding, then eight for each
            // block. In ns-2: only the blocks (tcp-sink.cc `append_ack`), or no padding
            // (tcp-full.cc `build_options`).
            sack_bytes: match (ns2, recovery) {
                (false, _) => (4, 8),
                (true, Recovery::FullSack) => (2, 8),
                (true, _) => (0, 8),
            },
            timestamps,
            // RFC 6817 §2.5: INIT_CWND is 2 segments.
            initial_window: f64::from(
                self.initial_window_segments.unwrap_or(if ns2 || is_ledbat { 2 } else { 10 }),
            ),
            max_window: f64::from(self.max_window_segments.unwrap_or(10_000)),
            ack_every: self.ack_every_segments.unwrap_or(if ns2 { 1 } else { 2 }),
            delayed_ack: seconds(self.delayed_ack_ms.map(|ms| ms / 1e3), today(0.1, 0.04)),
            delayed_ack_beats: self.delayed_ack_beats.unwrap_or(recovery == Recovery::FullSack),
            restart_after_idle: self.restart_after_idle.unwrap_or(true),
            nagle: self.nagle.unwrap_or(true),
            interrupt_interval: self.interrupts(dialect),
            send_jitter: seconds(self.send_jitter_us.map(|us| us / 1e6), 0.0),
            initial_rto: seconds(self.initial_rto_s, by_dialect(1.0, 3.0)),
            min_rto: seconds(self.min_rto_s, today(by_dialect(1.0, 0.2), 0.2)),
            max_rto: seconds(self.max_rto_s, if is_linux || linux { 120.0 } else { 60.0 }),
            rtt_tick: seconds(
                self.rtt_tick_ms.map(|ms| ms / 1e3),
                if is_linux { 0.001 } else { by_dialect(0.0, 0.01) },
            ),
            ecn,
            ecn_server: self.ecn_server.unwrap_or(ecn),
            ecn_feedback: self.ecn_feedback.unwrap_or(true),
            ace_only: self.ace_bits == Some(3),
            pacing: self.pacing.unwrap_or(paces),
            is_reordered: false,
        }
    }

    fn interrupts(&self, dialect: Dialect) -> Time {
        let usual_us = if dialect == Dialect::Linux { BULK_INTERRUPTS_US } else { 0.0 };
        Time::from_secs_f64(self.interrupt_interval_us.unwrap_or(usual_us) / 1e6)
    }

    /// The configuration of a QUIC connection. What only TCP has is off.
    fn resolve_quic(&self, dialect: Dialect) -> Config {
        let seconds = |s: Option<f64>, default: f64| Time::from_secs_f64(s.unwrap_or(default));
        let mss = u64::from(self.mss_bytes.unwrap_or(quic::DATAGRAM));
        // RFC 8200 §3: an IPv6 header has 40 bytes, 20 more than one of IPv4.
        let longer = if self.version() == 6 { 20 } else { 0 };
        let initial_window =
            self.initial_window_segments.map_or_else(|| quic::initial_window(mss), f64::from);
        let ecn = self.ecn.unwrap_or_default();
        Config {
            transport: Transport::Quic,
            dialect,
            congestion_control: self.congestion_control.clone().unwrap_or_default(),
            recovery: Recovery::Sack,
            rules: Rules::of(dialect, Recovery::Sack),
            mss,
            header: self.header_bytes.unwrap_or(quic::LOWER_HEADERS + longer),
            sack_bytes: (0, 0),
            timestamps: false,
            initial_window,
            max_window: f64::from(self.max_window_segments.unwrap_or(10_000)),
            // RFC 9000 §13.2.2, §18.2.
            ack_every: self.ack_every_segments.unwrap_or(2),
            delayed_ack: seconds(self.delayed_ack_ms.map(|ms| ms / 1e3), 0.025),
            delayed_ack_beats: false,
            restart_after_idle: false,
            nagle: false,
            interrupt_interval: self.interrupts(dialect),
            send_jitter: Time::ZERO,
            initial_rto: Time::ZERO,
            min_rto: Time::ZERO,
            max_rto: seconds(self.max_rto_s, 60.0),
            rtt_tick: Time::ZERO,
            ecn,
            ecn_server: self.ecn_server.unwrap_or(ecn),
            ecn_feedback: self.ecn_feedback.unwrap_or(true),
            ace_only: false,
            pacing: self.pacing.unwrap_or(true),
            is_reordered: false,
        }
    }
}
