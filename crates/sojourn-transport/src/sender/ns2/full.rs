//! The sending half of ns-2.35's two-way agent with selective acknowledgements, FullTcp/Sack
//! (tcp/tcp-full.cc), with the defaults of ns-default.tcl.
//!
//! It derives from 4.4BSD and counts bytes. Unlike the one-way agents it tries to send after every
//! event, treats every third duplicate as a loss, without limited transmit before it, and estimates
//! outstanding data in a recovery as the bytes sent minus those held. Nagle's algorithm holds a
//! segment that is not full, and also a FIN (close_on_empty_), until all data before it is
//! acknowledged.
//!
//! Left out: data on an acknowledgement before Nagle's algorithm would send it; the Tahoe, Reno and
//! Newreno agents; closing automatically when the other end has closed, since an end closes here
//! when its application says so.

use crate::config::Config;
use crate::ranges::Ranges;
use crate::sender::{
    Acknowledgement, DUP_THRESH, Moment, Outgoing, Progress, Sending, Space, take_blocks,
};
use sojourn_engine::units::Time;

/// The sender of FullTcp/Sack.
#[derive(Default)]
#[repr(C)]
pub(crate) struct FullSender {
    space: Space,
    /// The next sequence number, unless a hole goes first (t_seqno_). A timeout moves it back.
    cursor: u64,
    /// What the receiver is known to hold (sq_).
    sacked: Ranges,
    /// Holes below this have been retransmitted (h_seqno_).
    resent_below: u64,
    /// The end of the data sent before the last loss (recover_).
    recover: u64,
    /// Three duplicates have come, and nothing beyond `recover` is acknowledged (fastrecov_).
    is_recovering: bool,
    /// The pipe, not the window, limits sending (pipectrl_). A timeout does not change this.
    by_pipe: bool,
    /// Bytes believed to be outstanding in a recovery.
    pipe: i64,
    dup_acks: u32,
    /// It has slowed down for a mark, and not for a loss since then.
    is_marked: bool,
    /// The first segment is to be retransmitted at once, whatever the window.
    retransmit_now: bool,
    /// A timeout sends one segment, whatever the pipe. The end of the random delay does so too.
    is_forced: bool,
    /// Does a segment wait for the random delay (overhead_)?
    waits_for_jitter: bool,
}

impl FullSender {
    fn on_new(&mut self, ack: u64, config: &Config) -> Progress {
        let acknowledged = ack - self.space.una;
        let is_partial = self.is_recovering && ack < self.recover;
        self.space.una = ack;
        self.sacked.remove_below(ack);
        if is_partial {
            // Two segments have left the network: the acknowledged one and the lost one.
            self.pipe -= config.mss as i64;
        } else {
            self.is_recovering = false;
            self.by_pipe = false;
            self.dup_acks = 0;
        }
        Progress { acknowledged, may_grow: !is_partial, ..Progress::default() }
    }

    /// tcp-full.cc `dupack_action`. With bugFix_ all data sent before the last loss counts as one
    /// loss event.
    fn on_third_duplicate(&mut self, config: &Config) -> Progress {
        self.is_recovering = true;
        self.pipe = self.space.flight() as i64 - self.sacked.covered() as i64;
        let is_same_congestion = self.is_marked && self.space.una <= self.recover;
        if self.space.una <= self.recover && !is_same_congestion {
            return Progress::default();
        }
        self.is_marked = false;
        self.by_pipe = true;
        self.recover = self.space.nxt;
        self.resent_below = self.space.una + self.space.flight().min(config.mss);
        self.retransmit_now = true;
        Progress { loss_found: true, is_same_congestion, ..Progress::default() }
    }

    /// tcp-full.cc `nxt_tseq`.
    fn next_seq(&mut self) -> u64 {
        self.cursor = self.cursor.max(self.space.una);
        self.resent_below = self.resent_below.max(self.space.una);
        if self.space.una < self.recover {
            let (start, end) = self.sacked.next_hole(self.resent_below);
            if end < u64::MAX {
                self.resent_below = start;
                return start;
            }
        }
        self.cursor
    }

    /// tcp-full.cc `send_allowed`: `window` in bytes.
    fn may_send(&self, seq: u64, window: u64, config: &Config) -> bool {
        if self.by_pipe {
            let reach = config.max_window as u64 * config.mss;
            return seq < self.space.una + reach && self.pipe < window as i64;
        }
        seq < self.space.una + window
    }

    /// tcp-full.cc `foutput`: the segment at this position, if it may be sent.
    fn at(&self, seq: u64, window: u64, config: &Config) -> Option<(u64, u64)> {
        let Space { una, nxt, end, fin } = self.space;
        let ends = end.checked_sub(seq)?;
        let is_quiet = nxt == una;
        let room = if self.by_pipe { ends } else { (una + window).saturating_sub(seq) };
        let len = ends.min(room).min(config.mss);
        let with_fin = fin && len == ends && (is_quiet || nxt > end);
        let is_last = len == ends && (is_quiet || !config.nagle);
        let goes = with_fin || len == config.mss || (len > 0 && (is_last || seq < nxt));
        goes.then(|| (seq, len + u64::from(with_fin)))
    }
}

impl Sending for FullSender {
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
        let Acknowledgement { ack, blocks, is_pure, .. } = *news;
        take_blocks(&mut self.sacked, ack, &blocks);
        let is_new = ack > self.space.una;
        if self.is_recovering && (is_pure || is_new) {
            self.pipe -= config.mss as i64;
        }
        if is_new {
            return self.on_new(ack, config);
        }
        if is_pure && self.space.is_outstanding() {
            self.dup_acks += 1;
            if self.dup_acks == DUP_THRESH {
                return self.on_third_duplicate(config);
            }
        }
        Progress::default()
    }

    /// tcp.cc `ecn`.
    fn on_mark(&mut self, ack: u64) -> bool {
        let slows = ack > self.recover;
        if slows {
            self.recover = self.space.nxt;
            self.is_marked = true;
        }
        slows
    }

    /// tcp-full.cc `timeout_action`: goes back to the first unacknowledged segment.
    fn on_timeout(&mut self, _config: &Config) {
        self.sacked.clear();
        self.recover = self.space.nxt;
        self.cursor = self.space.una;
        self.is_recovering = false;
        self.is_marked = false;
        self.dup_acks = 0;
        self.retransmit_now = false;
        self.is_forced = true;
    }

    fn was_given_up(&self) -> bool {
        false // each timeout halves the threshold anew
    }

    fn next(&mut self, cwnd: f64, _moment: &Moment, config: &Config) -> Option<Outgoing> {
        if std::mem::take(&mut self.retransmit_now) {
            let len = self.space.flight().min(config.mss);
            return (len > 0).then(|| self.space.outgoing(self.space.una, len, true));
        }
        let window = cwnd.min(config.max_window) as u64 * config.mss;
        let seq = self.next_seq();
        let is_forced = std::mem::take(&mut self.is_forced);
        if !is_forced && !self.may_send(seq, window, config) {
            return None;
        }
        let (seq, len) = self.at(seq, window, config)?;
        if config.send_jitter > Time::ZERO && !is_forced {
            self.waits_for_jitter = true;
            return None;
        }
        let again = seq < self.space.nxt;
        if seq == self.resent_below {
            self.resent_below += len;
        }
        if seq == self.cursor {
            self.cursor += len;
        }
        self.pipe += len as i64;
        self.space.nxt = self.space.nxt.max(seq + len);
        Some(self.space.outgoing(seq, len, again))
    }

    fn has_more(&self) -> bool {
        self.cursor.max(self.space.una) < self.space.limit()
    }

    fn waits_for_jitter(&self) -> bool {
        self.waits_for_jitter
    }

    fn on_jitter_over(&mut self) {
        self.waits_for_jitter = false;
        self.is_forced = true;
    }
}
