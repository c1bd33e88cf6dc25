//! The sending half of an end of a connection: what is outstanding, what is lost, what to send
//! next.
//!
//! Four senders share the sequence space [`Space`]: the RFCs' sender, and in ns-2 that of the
//! one-way agents, of the agent TCP/Linux and of the two-way agent. They differ in all that happens
//! after a loss.

mod ns2;
mod prr;
mod rack;
mod reordering;
mod rfc;
mod scoreboard;

use enum_dispatch::enum_dispatch;

use super::cc::Window;
use super::config::Config;
use super::ranges::Ranges;
use super::rate::{RateSample, RateSampler};
use super::rules::Recovery;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::packet::{SACK_BLOCKS, SackBlock};
use sojourn_engine::units::Time;

use ns2::{FullSender, Ns2LinuxSender, Ns2Sender};
use rack::RackSender;
use rfc::RfcSender;

/// Duplicate acknowledgements, or segments held beyond a hole, that indicate a loss (RFC 5681 §3.2,
/// RFC 6675 §2; ns-2: numdupacks_).
const DUP_THRESH: u32 = 3;

/// What an acknowledgement changed.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Progress {
    /// Bytes newly acknowledged.
    pub acknowledged: u64,
    /// A loss was detected and a recovery begins.
    pub loss_found: bool,
    /// The sender has already slowed down for the window of that loss.
    pub is_same_congestion: bool,
    /// May the window grow for this acknowledgement?
    pub may_grow: bool,
    /// A recovery continues, during which ns-2 measures no round trips.
    pub is_partial: bool,
    /// Leaves the retransmission timer unchanged.
    pub keeps_timer: bool,
    /// Restarts the timer, even if nothing new is acknowledged.
    pub renews_timer: bool,
    /// Segments by which the window shrinks.
    pub deflation: f64,
    /// TCP/Linux: a recovery ends with this many segments outstanding.
    pub ends_loss_with: Option<u64>,
    /// Dialect `linux`: segments newly acknowledged or held.
    pub delivered: u64,
    /// Dialect `linux`: when the first and the last of them left that were sent once.
    pub timed: Option<(Time, Time)>,
    /// Dialect `linux`: a recovery has ended, and the window is at its threshold.
    pub ends_recovery: bool,
    /// The last reduction proved needless.
    pub undoes: bool,
}

/// What the clock says, and what it has measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// Now.
    pub now: Time,
    /// Smoothed round-trip time, zero before the first measurement.
    pub srtt: Time,
    /// Least round-trip time, zero before the first measurement.
    pub min_rtt: Time,
}

/// What a sender has sent, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    /// Thought to be in the network.
    pub under_way: u64,
    /// Not acknowledged.
    pub outstanding: u64,
    /// Is something lost that has not been sent again?
    pub is_lost: bool,
    /// Does a recovery go on, or what follows a timeout?
    pub is_recovering: bool,
    /// A segment leaves whatever the window is.
    pub is_forced: bool,
    /// When the first segment not acknowledged last left.
    pub head_sent: Option<Time>,
}

/// A segment to send.
#[derive(Debug, PartialEq)]
pub(crate) struct Outgoing {
    /// First byte.
    pub seq: u64,
    /// Payload bytes.
    pub len: u64,
    /// With FIN.
    pub fin: bool,
    /// It is a retransmission.
    pub again: bool,
}

/// The sequence space: what there is to send, and what was sent and acknowledged.
pub(crate) struct Space {
    /// First byte not acknowledged. The SYN is byte 0, data starts at 1.
    una: u64,
    /// One past the highest byte sent.
    nxt: u64,
    /// One past the last byte of data to send.
    end: u64,
    /// A FIN follows the data.
    fin: bool,
}

impl Default for Space {
    fn default() -> Self {
        Self { una: 0, nxt: 0, end: 1, fin: false }
    }
}

impl Space {
    /// Our SYN has been acknowledged.
    pub(crate) fn on_syn_acknowledged(&mut self) {
        self.una = self.una.max(1);
        self.nxt = self.nxt.max(1);
    }

    /// Adds data to send; `u64::MAX` for an endless transfer.
    pub(crate) fn append(&mut self, bytes: u64) {
        self.end = self.end.saturating_add(bytes);
    }

    /// Appends a FIN to the data.
    pub(crate) fn close(&mut self) {
        self.fin = true;
    }

    /// Is all data acknowledged, without regard to the FIN?
    pub(crate) fn all_data_acknowledged(&self) -> bool {
        self.una >= self.end && self.end > 1
    }

    /// Is our FIN acknowledged?
    pub(crate) fn fin_acknowledged(&self) -> bool {
        self.fin && self.una > self.end
    }

    /// Is there nothing to send, neither now nor before: no data and no FIN?
    #[inline]
    pub(crate) fn never_sends(&self) -> bool {
        self.end == 1 && !self.fin
    }

    /// Is any data outstanding?
    pub(crate) fn is_outstanding(&self) -> bool {
        self.nxt > self.una
    }

    /// Is nothing outstanding, and nothing more acknowledged by this?
    pub(crate) fn is_quiet_at(&self, ack: u64) -> bool {
        self.una == self.nxt && self.una == ack
    }

    /// One past the highest byte sent.
    pub(crate) fn highest_sent(&self) -> u64 {
        self.nxt
    }

    /// Bytes sent but not acknowledged (RFC 5681 §2: FlightSize).
    pub(crate) fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// Bytes of data that have not been sent.
    pub(crate) fn unsent(&self) -> u64 {
        self.end.saturating_sub(self.nxt)
    }

    /// Is the FIN all that is left to send?
    pub(crate) fn has_fin_to_send(&self) -> bool {
        self.fin && self.nxt == self.end
    }

    /// First byte not acknowledged.
    pub(crate) fn first_outstanding(&self) -> u64 {
        self.una
    }

    /// One past the last sequence number to send, including the FIN.
    fn limit(&self) -> u64 {
        self.end.saturating_add(u64::from(self.fin))
    }

    /// The payload bytes, without the FIN, which takes no room in a window.
    fn payload(&self, seq: u64, len: u64) -> u64 {
        len - u64::from(seq + len > self.end)
    }

    /// Adds the FIN to the last segment rather than sending it alone.
    fn with_fin(&self, seq: u64, len: u64, limit: u64) -> u64 {
        let ends_data = self.fin && seq + len == self.end && limit > self.end;
        len + u64::from(ends_data)
    }

    /// Is this a position that an acknowledgement may name now?
    pub(crate) fn was_sent(&self, ack: u64) -> bool {
        (self.una..=self.nxt).contains(&ack)
    }

    fn outgoing(&self, seq: u64, len: u64, again: bool) -> Outgoing {
        let payload = self.payload(seq, len);
        Outgoing { seq, len: payload, fin: payload < len, again }
    }
}

/// Adds the ranges that the blocks of an acknowledgement report. Returns how many bytes are new.
fn take_blocks(held: &mut Ranges, ack: u64, blocks: &[SackBlock; SACK_BLOCKS]) -> u64 {
    ranges_of(ack, blocks).map(|(start, end)| held.insert(start, end)).sum()
}

/// The ranges that the blocks of an acknowledgement report as held.
fn ranges_of(ack: u64, blocks: &[SackBlock; SACK_BLOCKS]) -> impl Iterator<Item = (u64, u64)> + '_ {
    let used = blocks.iter().filter(|block| block.end > block.start);
    used.map(move |block| (ack + u64::from(block.start), ack + u64::from(block.end)))
}

/// What a segment acknowledges.
pub(crate) struct Acknowledgement {
    /// The next position that the other end expects.
    pub ack: u64,
    /// What it holds beyond.
    pub blocks: [SackBlock; SACK_BLOCKS],
    /// The timestamp that it echoes.
    pub echo: Time,
    /// Does the segment carry nothing else?
    pub is_pure: bool,
}

/// A sender of any kind.
#[enum_dispatch]
pub(crate) trait Sending {
    /// The sequence space.
    fn space(&self) -> &Space;
    /// The sequence space, to add data.
    fn space_mut(&mut self) -> &mut Space;
    /// Handles an acknowledgement of what was sent (`Space::was_sent`).
    fn on_ack(&mut self, news: &Acknowledgement, moment: &Moment, config: &Config) -> Progress;
    /// Would it learn nothing from this acknowledgement if that is not a pure one?
    fn learns_nothing(&self, _ack: u64) -> bool {
        false
    }
    /// The window is known after an acknowledgement or a deadline: a recovery shrinks towards its
    /// threshold.
    fn shrink(&mut self, _window: &mut Window, _config: &Config) {}
    /// Segments in the network and outstanding, where the sender counts them.
    fn counts(&self) -> Counts {
        Counts::default()
    }
    /// An acknowledgement up to `ack` echoes a mark (RFC 3168 §6.1.2): is the sender to slow down?
    /// Once a window.
    fn on_mark(&mut self, ack: u64) -> bool;
    /// The congestion control wants samples of the delivery rate from now on.
    fn sample_rate(&mut self) {}
    /// What samples it, if that is wanted.
    fn sampler(&mut self) -> Option<&mut RateSampler> {
        None
    }
    /// The sample of the acknowledgement at hand.
    fn rate_sample(&mut self, _moment: &Moment) -> Option<RateSample<'_>> {
        None
    }
    /// The retransmission timer expired.
    fn on_timeout(&mut self, config: &Config);
    /// Has the timer expired for the first outstanding segment before?
    fn was_given_up(&self) -> bool;
    /// The segment to send next with a window of so many segments; taken as sent.
    fn next(&mut self, cwnd: f64, moment: &Moment, config: &Config) -> Option<Outgoing>;
    /// Is there something to send that only the window holds back?
    fn has_more(&self) -> bool;
    /// Does the random delay of `send_jitter_us` hold a transmission back?
    fn waits_for_jitter(&self) -> bool {
        false // the RFCs have none
    }
    /// The random delay has ended.
    fn on_jitter_over(&mut self) {}
    /// The retransmission timer is due before a probe of the tail, which is to leave in its place. Says whether one was.
    fn probes_instead(&mut self) -> bool {
        false
    }
    /// When `on_deadline` wants to be called, besides the retransmission timer.
    fn deadline(&self) -> Time {
        Time::NEVER
    }
    /// That time has come; says whether loss was found and a recovery begins.
    fn on_deadline(&mut self, _moment: &Moment, _config: &Config) -> bool {
        false
    }
}

/// The sender of a connection. All have their sequence space first and in the same place, so to read it costs no
/// branch.
#[enum_dispatch(Sending)]
#[expect(clippy::large_enum_variant, reason = "most senders are the first, without a step between")]
#[repr(C)]
pub(crate) enum Sender {
    /// By RFC 8985 and RFC 9937.
    Rack(RackSender),
    /// By the RFCs without selective acknowledgements.
    Rfc(RfcSender),
    /// The sender of ns-2's one-way agents.
    Ns2(Ns2Sender),
    /// The sender of ns-2's agent TCP/Linux.
    Ns2Linux(Ns2LinuxSender),
    /// The sender of ns-2's two-way agent.
    Full(FullSender),
}

impl Sender {
    /// A sender without data.
    pub(crate) fn new(config: &Config) -> Self {
        match (config.dialect, config.recovery) {
            (_, Recovery::FullSack) => FullSender::default().into(),
            (_, Recovery::Linux) => Ns2LinuxSender::default().into(),
            (Dialect::Rfc, Recovery::Sack) | (Dialect::Linux, _) => RackSender::new(config).into(),
            (Dialect::Rfc, _) => RfcSender::default().into(),
            (Dialect::Ns2, _) => Ns2Sender::default().into(),
        }
    }
}
