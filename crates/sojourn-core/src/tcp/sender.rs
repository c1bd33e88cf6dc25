//! The sending half of a connection end: what is under way, what is lost, what goes next.
//!
//! With selective acknowledgements: RFC 6675, or ns-2's Sack1, which differs in how it forgets after
//! a timeout. Without: RFC 6582 (NewReno) or RFC 2581 (Reno). All share one picture of the sequence
//! space: what is acknowledged, what the receiver holds beyond that, up to where the holes count as
//! lost, and up to where they have been sent again.
//!
//! Left out: the rescue retransmission of RFC 6675 §4 (rule 4), D-SACK, Nagle's algorithm.

use super::options::{Config, Recovery};
use super::ranges::Ranges;
use crate::packet::{SACK_BLOCKS, SackBlock};
use crate::scenario::Dialect;

/// Duplicate acknowledgements, or segments held beyond a hole, that mean loss (RFC 6675 §2).
const DUP_THRESH: u32 = 3;

/// What an acknowledgement brought.
#[derive(Debug, Default, PartialEq)]
pub struct Progress {
    /// Bytes newly acknowledged.
    pub acknowledged: u64,
    /// Loss was found and fast recovery begins.
    pub loss_found: bool,
    /// The window may grow for this acknowledgement.
    pub may_grow: bool,
}

/// A segment to send.
#[derive(Debug, PartialEq)]
pub struct Outgoing {
    /// First byte.
    pub seq: u64,
    /// Payload bytes.
    pub len: u64,
    /// With FIN.
    pub fin: bool,
    /// It has been sent before.
    pub again: bool,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    /// Nothing is known to be lost.
    Open,
    /// Holes are being filled until the acknowledgement reaches this point.
    FastRecovery(u64),
    /// A timeout happened; what was sent by then ends here.
    AfterTimeout(u64),
}

/// The sequence space of the sender.
pub struct Sender {
    /// First byte not acknowledged. The SYN is byte 0, data starts at 1.
    una: u64,
    /// One past the highest byte sent.
    nxt: u64,
    /// One past the last byte of data to send.
    end: u64,
    /// A FIN follows the data.
    fin: bool,
    /// What the receiver holds beyond `una`.
    sacked: Ranges,
    /// Holes below this point count as lost.
    lost_below: u64,
    /// Holes below this point have been sent again.
    resent_below: u64,
    /// Bytes sent again and neither acknowledged nor held.
    resent_under_way: u64,
    /// Without SACK: bytes that duplicate acknowledgements say have arrived.
    dup_bytes: u64,
    dup_acks: u32,
    phase: Phase,
    /// What was acknowledged when the retransmission timer last expired.
    timed_out_at: u64,
    /// The first retransmission of a recovery does not wait for the window.
    retransmit_now: bool,
}

impl Sender {
    /// Nothing sent, nothing to send.
    pub fn new() -> Self {
        Self {
            una: 0,
            nxt: 0,
            end: 1,
            fin: false,
            sacked: Ranges::default(),
            lost_below: 0,
            resent_below: 0,
            resent_under_way: 0,
            dup_bytes: 0,
            dup_acks: 0,
            phase: Phase::Open,
            timed_out_at: 0,
            retransmit_now: false,
        }
    }

    /// Our SYN has been acknowledged.
    pub fn on_syn_acknowledged(&mut self) {
        self.una = self.una.max(1);
        self.nxt = self.nxt.max(1);
    }

    /// More data to send; `u64::MAX` for without end.
    pub fn append(&mut self, bytes: u64) {
        self.end = self.end.saturating_add(bytes);
    }

    /// A FIN is to follow the data.
    pub fn close(&mut self) {
        self.fin = true;
    }

    /// Is all data acknowledged that there was to send, FIN aside?
    pub fn all_data_acknowledged(&self) -> bool {
        self.una >= self.end && self.end > 1
    }

    /// Is our FIN acknowledged?
    pub fn fin_acknowledged(&self) -> bool {
        self.fin && self.una > self.end
    }

    /// Is anything under way?
    pub fn is_outstanding(&self) -> bool {
        self.nxt > self.una
    }

    /// One past the highest byte sent.
    pub fn highest_sent(&self) -> u64 {
        self.nxt
    }

    /// Bytes between what is acknowledged and what was sent (RFC 5681 §2: FlightSize).
    pub fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// Bytes thought to be in the network (RFC 6675 §2: pipe).
    pub fn pipe(&self) -> u64 {
        let arrived = self.sacked.covered() + self.dup_bytes;
        (self.flight() + self.resent_under_way).saturating_sub(arrived + self.lost())
    }

    /// Bytes of the holes that count as lost.
    fn lost(&self) -> u64 {
        if self.lost_below <= self.una {
            return 0;
        }
        (self.lost_below - self.una) - self.sacked.covered_below(self.lost_below)
    }

    /// The parts of the picture agree (debug builds only).
    fn debug_check(&self) {
        debug_assert!(self.una <= self.nxt && self.nxt <= self.limit(), "sent what is not there");
        debug_assert!(self.lost_below <= self.nxt && self.resent_below <= self.nxt);
        let held = self.sacked.first().map(|first| first.0);
        debug_assert!(held.is_none_or(|start| start > self.una), "the first byte missing is held");
        debug_assert_eq!(self.sacked.covered(), self.sacked.covered_below(self.nxt));
        debug_assert!(self.dup_bytes <= self.flight(), "more has arrived than is under way");
        let resent_below = self.resent_below.max(self.una);
        let resent_holes = resent_below - self.una - self.sacked.covered_below(resent_below);
        debug_assert_eq!(self.resent_under_way, resent_holes, "bytes sent again");
    }

    /// Takes in an acknowledgement.
    pub fn on_ack(
        &mut self,
        ack: u64,
        blocks: &[SackBlock; SACK_BLOCKS],
        is_pure: bool,
        config: &Config,
    ) -> Progress {
        if ack > self.nxt || ack < self.una {
            return Progress::default();
        }
        let newly_held = self.take_blocks(ack, blocks);
        let acknowledged = ack - self.una;
        let mut progress = Progress { acknowledged, ..Progress::default() };
        if acknowledged > 0 {
            self.advance(ack);
            progress.may_grow = self.after_advance(acknowledged, config);
        } else if is_pure && self.is_outstanding() {
            self.count_duplicate(newly_held, config);
        }
        if config.recovery == Recovery::Sack {
            self.update_loss_edge(config);
        }
        if self.phase == Phase::Open && self.is_loss_evident(config) {
            self.enter_fast_recovery(config);
            progress.loss_found = true;
            progress.may_grow = false;
        }
        self.debug_check();
        progress
    }

    fn take_blocks(&mut self, ack: u64, blocks: &[SackBlock; SACK_BLOCKS]) -> u64 {
        let mut fresh = 0;
        for block in blocks.iter().filter(|block| block.end > block.start) {
            let (start, end) = (ack + u64::from(block.start), ack + u64::from(block.end));
            let end = end.min(self.nxt);
            let edge = self.resent_below.clamp(start, end.max(start));
            let resent = self.sacked.insert(start, edge);
            self.resent_under_way -= resent.min(self.resent_under_way);
            fresh += resent + self.sacked.insert(edge, end);
        }
        fresh
    }

    fn advance(&mut self, ack: u64) {
        let resent_end = self.resent_below.clamp(self.una, ack);
        let held = self.sacked.remove_below(resent_end);
        let arrived = (resent_end - self.una) - held;
        self.resent_under_way -= arrived.min(self.resent_under_way);
        self.sacked.remove_below(ack);
        self.una = ack;
        self.resent_below = self.resent_below.max(ack);
        self.lost_below = self.lost_below.max(ack);
    }

    /// Goes on with, or ends, what recovery there is; says whether the window may grow.
    fn after_advance(&mut self, acknowledged: u64, config: &Config) -> bool {
        match self.phase {
            Phase::FastRecovery(until) => {
                if self.una >= until || config.recovery == Recovery::Reno {
                    self.leave_recovery();
                } else if config.recovery == Recovery::Newreno {
                    // RFC 6582 §3.2: the next hole is lost as well; the window deflates by what
                    // was acknowledged, less the one retransmission.
                    let deflation = acknowledged.saturating_sub(config.mss);
                    self.dup_bytes = self.dup_bytes.saturating_sub(deflation).min(self.flight());
                    self.lost_below = (self.una + config.mss).min(self.nxt);
                    self.retransmit_now = true;
                }
                false
            }
            Phase::AfterTimeout(until) => {
                if self.una >= until {
                    self.leave_recovery();
                }
                true
            }
            Phase::Open => {
                self.forget_duplicates();
                true
            }
        }
    }

    fn leave_recovery(&mut self) {
        self.phase = Phase::Open;
        self.retransmit_now = false;
        self.forget_duplicates();
    }

    fn forget_duplicates(&mut self) {
        self.dup_acks = 0;
        self.dup_bytes = 0;
    }

    fn count_duplicate(&mut self, newly_held: u64, config: &Config) {
        if config.recovery == Recovery::Sack {
            // RFC 6675 §2: a duplicate brings new selective acknowledgements.
            self.dup_acks += u32::from(newly_held > 0);
        } else if !matches!(self.phase, Phase::AfterTimeout(_)) {
            self.dup_acks += 1;
            self.dup_bytes = (self.dup_bytes + config.mss).min(self.flight());
        }
    }

    /// RFC 6675 §4, IsLost: a hole is lost if three ranges, or more than two segments, are held
    /// above it.
    fn update_loss_edge(&mut self, config: &Config) {
        let more_than_two = (u64::from(DUP_THRESH) - 1) * config.mss + 1;
        if let Some(edge) = self.sacked.edge_below(more_than_two, DUP_THRESH as usize) {
            self.lost_below = self.lost_below.max(edge);
        }
    }

    /// There is a lost hole that has not been sent again.
    fn is_loss_evident(&self, config: &Config) -> bool {
        let repeated = self.dup_acks >= DUP_THRESH && self.resent_below <= self.una;
        self.is_outstanding() && (repeated || self.next_lost(config).is_some())
    }

    fn enter_fast_recovery(&mut self, config: &Config) {
        self.phase = Phase::FastRecovery(self.nxt);
        let first_hole_end = self.sacked.next_hole(self.una).1.min(self.una + config.mss);
        self.lost_below = self.lost_below.max(first_hole_end.min(self.nxt));
        self.retransmit_now = true;
    }

    /// Has the timer given up the first segment under way before?
    pub fn was_given_up(&self) -> bool {
        matches!(self.phase, Phase::AfterTimeout(_)) && self.timed_out_at == self.una
    }

    /// The retransmission timer expired: all that is not known to have arrived is lost (RFC 6675
    /// §5.1). ns-2's Sack1 forgets what the receiver holds.
    pub fn on_timeout(&mut self, config: &Config) {
        if config.dialect == Dialect::Ns2 {
            self.sacked.clear();
        }
        self.forget_duplicates();
        self.phase = Phase::AfterTimeout(self.nxt);
        self.timed_out_at = self.una;
        self.lost_below = self.nxt;
        self.resent_below = self.una;
        self.resent_under_way = 0;
        self.retransmit_now = true;
        self.debug_check();
    }

    /// The segment to send next with a window of this many bytes, of which `reach` may lie beyond
    /// the acknowledgement; taken as sent.
    pub fn next(&mut self, window: u64, reach: u64, config: &Config) -> Option<Outgoing> {
        if let Some((seq, len)) = self.next_lost(config) {
            if !self.retransmit_now && self.pipe() + self.payload(seq, len) > window {
                return None;
            }
            self.retransmit_now = false;
            return Some(self.send_again(seq, len));
        }
        if self.nxt == self.limit() {
            let (seq, len) = self.next_suspect(config)?;
            let fits = self.pipe() + self.payload(seq, len) <= window;
            return fits.then(|| self.send_again(seq, len));
        }
        self.next_new(window, reach, config)
    }

    fn next_new(&mut self, window: u64, reach: u64, config: &Config) -> Option<Outgoing> {
        let len = (self.limit() - self.nxt).min(config.mss);
        let payload = self.payload(self.nxt, len);
        if self.nxt + payload > self.una + reach {
            return None;
        }
        let pipe = self.pipe();
        if pipe > 0 && pipe + payload > window {
            return None;
        }
        let len = self.with_fin(self.nxt, len, self.limit());
        let outgoing = self.outgoing(self.nxt, len, false);
        self.nxt += len;
        Some(outgoing)
    }

    fn send_again(&mut self, seq: u64, len: u64) -> Outgoing {
        self.resent_below = seq + len;
        self.resent_under_way += len;
        self.debug_check();
        self.outgoing(seq, len, true)
    }

    /// Bytes without the FIN: that takes no room in a window.
    fn payload(&self, seq: u64, len: u64) -> u64 {
        len - u64::from(seq + len > self.end)
    }

    /// Is there something to send that only the window holds back?
    pub fn has_more(&self) -> bool {
        self.nxt < self.limit() || self.lost_below > self.resent_below
    }

    /// One past the last sequence number to send, FIN included.
    fn limit(&self) -> u64 {
        self.end.saturating_add(u64::from(self.fin))
    }

    /// A FIN rides on the last segment rather than taking one of its own.
    fn with_fin(&self, seq: u64, len: u64, limit: u64) -> u64 {
        let ends_data = self.fin && seq + len == self.end && limit > self.end;
        len + u64::from(ends_data)
    }

    fn next_lost(&self, config: &Config) -> Option<(u64, u64)> {
        if self.lost_below <= self.resent_below.max(self.una) {
            return None;
        }
        let (start, end) = self.sacked.next_hole(self.resent_below.max(self.una));
        let end = end.min(self.lost_below);
        if start >= end {
            return None;
        }
        let len = (end - start).min(config.mss);
        Some((start, self.with_fin(start, len, end)))
    }

    /// RFC 6675 §4, NextSeg rule 3: with nothing new to send, a hole that too little is held above
    /// for it to count as lost.
    fn next_suspect(&self, config: &Config) -> Option<(u64, u64)> {
        if !matches!(self.phase, Phase::FastRecovery(_)) || config.recovery != Recovery::Sack {
            return None;
        }
        let (start, end) = self.sacked.next_hole(self.resent_below.max(self.una));
        let is_below_held = end < u64::MAX;
        is_below_held.then(|| (start, (end - start).min(config.mss)))
    }

    fn outgoing(&self, seq: u64, len: u64, again: bool) -> Outgoing {
        let payload = self.payload(seq, len);
        Outgoing { seq, len: payload, fin: payload < len, again }
    }
}
