//! The sending half by the RFCs without selective acknowledgements: RFC 6582 (NewReno) or RFC 2581
//! (Reno). One picture of the sequence space serves both: what is acknowledged, up to where the bytes
//! beyond count as lost, and up to where they have been sent again.
//!
//! Left out: Nagle's algorithm.

use super::{Acknowledgement, DUP_THRESH, Moment, Outgoing, Progress, Sending, Space};
use crate::config::Config;
use crate::rules::Recovery;

#[derive(Clone, Copy, Default, PartialEq, Debug)]
enum Phase {
    /// No loss is known.
    #[default]
    Open,
    /// Holes are being filled until the acknowledgement reaches this point.
    FastRecovery(u64),
    /// After a timeout, until the data sent by then is acknowledged up to this point.
    AfterTimeout(u64),
}

/// The sender of the RFCs.
#[derive(Default)]
#[repr(C)]
pub(crate) struct RfcSender {
    space: Space,
    /// Bytes below this point count as lost.
    lost_below: u64,
    /// Bytes below this point have been sent again.
    resent_below: u64,
    /// Bytes sent again and not acknowledged.
    resent_under_way: u64,
    /// Bytes that duplicate acknowledgements say have arrived.
    dup_bytes: u64,
    dup_acks: u32,
    phase: Phase,
    /// The acknowledgement number when the retransmission timer last expired.
    timed_out_at: u64,
    /// The first retransmission of a recovery ignores the window.
    retransmit_now: bool,
    /// The end of the data outstanding at the last mark.
    slowed_until: u64,
}

impl RfcSender {
    /// Bytes believed to be in the network (RFC 6675 §2: pipe).
    pub(crate) fn pipe(&self) -> u64 {
        let under_way = self.space.flight() + self.resent_under_way;
        under_way.saturating_sub(self.dup_bytes + self.lost())
    }

    /// Bytes that count as lost.
    fn lost(&self) -> u64 {
        self.lost_below.saturating_sub(self.space.una)
    }

    /// Checks that the state is consistent (debug builds only).
    fn debug_check(&self) {
        debug_assert!(
            self.space.una <= self.space.nxt && self.space.nxt <= self.space.limit(),
            "sent data that does not exist"
        );
        debug_assert!(self.lost_below <= self.space.nxt && self.resent_below <= self.space.nxt);
        debug_assert!(self.dup_bytes <= self.space.flight(), "more has arrived than is under way");
        let resent = self.resent_below.saturating_sub(self.space.una);
        debug_assert_eq!(self.resent_under_way, resent, "bytes sent again");
    }

    fn advance(&mut self, ack: u64) {
        let resent_end = self.resent_below.clamp(self.space.una, ack);
        let arrived = resent_end - self.space.una;
        self.resent_under_way -= arrived.min(self.resent_under_way);
        self.space.una = ack;
        self.resent_below = self.resent_below.max(ack);
        self.lost_below = self.lost_below.max(ack);
    }

    /// Continues or ends a recovery. Returns whether the window may grow.
    fn after_advance(&mut self, acknowledged: u64, config: &Config) -> bool {
        match self.phase {
            Phase::FastRecovery(until) => {
                if self.space.una >= until || config.recovery == Recovery::Reno {
                    self.leave_recovery();
                } else {
                    // RFC 6582 §3.2: the next hole is lost as well; the window deflates by what
                    // was acknowledged, less the one retransmission.
                    let deflation = acknowledged.saturating_sub(config.mss);
                    self.dup_bytes =
                        self.dup_bytes.saturating_sub(deflation).min(self.space.flight());
                    self.lost_below = (self.space.una + config.mss).min(self.space.nxt);
                    self.retransmit_now = true;
                }
                false
            }
            Phase::AfterTimeout(until) => {
                if self.space.una >= until {
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
        self.forget_duplicates();
    }

    fn forget_duplicates(&mut self) {
        self.dup_acks = 0;
        self.dup_bytes = 0;
    }

    fn count_duplicate(&mut self, config: &Config) {
        if !matches!(self.phase, Phase::AfterTimeout(_)) {
            self.dup_acks += 1;
            self.dup_bytes = (self.dup_bytes + config.mss).min(self.space.flight());
        }
    }

    /// There is a lost hole that has not been sent again.
    fn is_loss_evident(&self, config: &Config) -> bool {
        let repeated = self.dup_acks >= DUP_THRESH && self.resent_below <= self.space.una;
        self.space.is_outstanding() && (repeated || self.next_lost(config).is_some())
    }

    fn enter_fast_recovery(&mut self, config: &Config) {
        self.phase = Phase::FastRecovery(self.space.nxt);
        let first_end = (self.space.una + config.mss).min(self.space.nxt);
        self.lost_below = self.lost_below.max(first_end);
        self.retransmit_now = true;
    }

    fn next_new(&mut self, window: u64, reach: u64, config: &Config) -> Option<Outgoing> {
        let len = (self.space.limit() - self.space.nxt).min(config.mss);
        let payload = self.space.payload(self.space.nxt, len);
        if self.space.nxt + payload > self.space.una + reach {
            return None;
        }
        let pipe = self.pipe();
        if pipe > 0 && pipe + payload > window {
            return None;
        }
        let len = self.space.with_fin(self.space.nxt, len, self.space.limit());
        let outgoing = self.space.outgoing(self.space.nxt, len, false);
        self.space.nxt += len;
        Some(outgoing)
    }

    fn send_again(&mut self, seq: u64, len: u64) -> Outgoing {
        self.resent_below = seq + len;
        self.resent_under_way += len;
        self.debug_check();
        self.space.outgoing(seq, len, true)
    }

    fn next_lost(&self, config: &Config) -> Option<(u64, u64)> {
        let (start, end) = (self.resent_below.max(self.space.una), self.lost_below);
        if start >= end {
            return None;
        }
        let len = (end - start).min(config.mss);
        Some((start, self.space.with_fin(start, len, end)))
    }
}

impl Sending for RfcSender {
    fn space(&self) -> &Space {
        &self.space
    }

    fn space_mut(&mut self) -> &mut Space {
        &mut self.space
    }

    fn learns_nothing(&self, ack: u64) -> bool {
        self.space.is_quiet_at(ack)
    }

    fn on_ack(&mut self, news: &Acknowledgement, _moment: &Moment, config: &Config) -> Progress {
        let Acknowledgement { ack, is_pure, .. } = *news;
        let acknowledged = ack - self.space.una;
        let mut progress = Progress { acknowledged, ..Progress::default() };
        if acknowledged > 0 {
            self.advance(ack);
            progress.may_grow = self.after_advance(acknowledged, config);
        } else if is_pure && self.space.is_outstanding() {
            self.count_duplicate(config);
        }
        if self.phase == Phase::Open && self.is_loss_evident(config) {
            self.enter_fast_recovery(config);
            progress.loss_found = true;
            // RFC 3168 §6.1.2: a loss and a mark in one window are one congestion event.
            progress.is_same_congestion = self.space.una < self.slowed_until;
            progress.may_grow = false;
        }
        self.debug_check();
        progress
    }

    /// RFC 3168 §6.1.2: at most once for the outstanding data, and not if a loss has done it
    /// already.
    fn on_mark(&mut self, ack: u64) -> bool {
        let slows = self.phase == Phase::Open && ack > self.slowed_until;
        if slows {
            self.slowed_until = self.space.nxt;
        }
        slows
    }

    fn was_given_up(&self) -> bool {
        matches!(self.phase, Phase::AfterTimeout(_)) && self.timed_out_at == self.space.una
    }

    /// Handles the retransmission timeout: all data that is not known to have arrived is lost (RFC
    /// 6675 §5.1).
    fn on_timeout(&mut self, _config: &Config) {
        self.forget_duplicates();
        self.phase = Phase::AfterTimeout(self.space.nxt);
        self.timed_out_at = self.space.una;
        self.lost_below = self.space.nxt;
        self.resent_below = self.space.una;
        self.resent_under_way = 0;
        self.retransmit_now = true;
        self.debug_check();
    }

    fn next(&mut self, cwnd: f64, _moment: &Moment, config: &Config) -> Option<Outgoing> {
        let window = (cwnd * config.mss as f64) as u64;
        if let Some((seq, len)) = self.next_lost(config) {
            if !self.retransmit_now && self.pipe() + self.space.payload(seq, len) > window {
                return None;
            }
            self.retransmit_now = false;
            return Some(self.send_again(seq, len));
        }
        if self.space.nxt == self.space.limit() {
            return None;
        }
        let reach = (config.max_window * config.mss as f64) as u64;
        self.next_new(window, reach, config)
    }

    fn has_more(&self) -> bool {
        self.space.nxt < self.space.limit() || self.lost_below > self.resent_below
    }
}
