//! The sending half of ns-2.35's one-way agents: Sack1 (tcp/tcp-sack1.cc), Newreno (tcp-newreno.cc)
//! and Reno (tcp-reno.cc), with the defaults of ns-default.tcl.
//!
//! They differ from the RFCs in common ways. Sending resumes only after certain events, not after
//! every acknowledgement. In a recovery, outstanding data is a count that each acknowledgement
//! decrements. A timeout goes back to the first unacknowledged segment and forgets what the
//! receiver holds. No fast retransmit happens until all data sent before the last loss is
//! acknowledged (bugFix_). Sack1 fills every hole below what is held, without waiting for three
//! segments above it.
//!
//! Left out: F-RTO, Quick-Start, D-SACK and the options that ns-default.tcl leaves off. Beyond
//! ns-2: bytes instead of packets, and a FIN.

use crate::config::Config;
use crate::ranges::Ranges;
use crate::rules::Recovery;
use crate::sender::{
    Acknowledgement, DUP_THRESH, Moment, Outgoing, Progress, Sending, Space, take_blocks,
};
use sojourn_engine::units::{Time, whole};

/// What last changed the window (last_cwnd_action_).
#[derive(Clone, Copy, Default, PartialEq, Debug)]
enum Action {
    #[default]
    None,
    /// Duplicate acknowledgements. The recovery of Reno and Newreno lasts as long as this does.
    Duplicates,
    Timeout,
    Mark,
}

/// What the last event allows to be sent.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
enum Permit {
    #[default]
    Nothing,
    /// One new segment beyond the window (limited transmit, singledup_).
    Limited,
    /// What the window has room for, up to this many segments.
    Burst(u32),
}

/// The random delay before a burst (overhead_).
#[derive(Clone, Copy, Default, PartialEq, Debug)]
enum Jitter {
    /// No burst waits.
    #[default]
    Idle,
    /// A burst waits. Further events do not lengthen the delay.
    Waits,
    /// The delay is over, and the burst is leaving.
    Over,
}

const ALL: Permit = Permit::Burst(u32::MAX);
/// Segments that Newreno sends on one acknowledgement in a recovery (tcp-newreno.cc `recv`).
const NEWRENO_BURST: Permit = Permit::Burst(2);

/// The sender of ns-2.
#[derive(Default)]
#[repr(C)]
pub(crate) struct Ns2Sender {
    space: Space,
    /// The segment to send next, unless a hole goes first (t_seqno_). A timeout moves it back.
    cursor: u64,
    /// What the receiver is known to hold since the window last moved outside a recovery.
    sacked: Ranges,
    /// Holes below this have been retransmitted (h_seqno_).
    resent_below: u64,
    /// The end of the data sent before the last loss (recover_).
    recover: u64,
    /// Is Sack1 in a recovery?
    is_recovering: bool,
    /// Segments that Sack1 believes to be outstanding in its recovery.
    pipe: i64,
    /// Segments that duplicate acknowledgements add to the window of Reno and Newreno (dupwnd_).
    inflation: u64,
    dup_acks: u32,
    last_action: Action,
    /// Nothing new has been acknowledged since a timeout.
    has_timed_out: bool,
    /// Newreno: this recovery has seen a partial acknowledgement.
    had_partial: bool,
    /// The first segment is to be retransmitted at once, whatever the window.
    retransmit_now: bool,
    permit: Permit,
    jitter: Jitter,
}

impl Ns2Sender {
    fn on_ack_sack(&mut self, ack: u64, held: u64, is_pure: bool, config: &Config) -> Progress {
        let is_new = ack > self.space.una;
        let mut progress = self.advance(ack);
        if self.is_recovering {
            self.pipe -= 1;
            self.permit = ALL;
            if self.space.una >= self.recover {
                self.is_recovering = false;
                self.recover = 1;
                self.leave_episode();
            } else if is_new {
                // A partial acknowledgement means that two segments have left the network.
                self.pipe -= 1;
                progress.is_partial = true;
            }
        } else if is_new {
            self.leave_episode();
            self.permit = ALL;
            progress.may_grow = true;
        } else if is_pure && held > 0 && !self.has_timed_out {
            self.dup_acks += 1;
            self.act_on_duplicate();
            if self.dup_acks == DUP_THRESH && self.may_retransmit(config) {
                self.is_recovering = true;
                self.pipe = self.segments_under_way(config) - i64::from(DUP_THRESH);
                self.resent_below = self.space.una + config.mss;
                self.begin_recovery(&mut progress);
            }
        }
        progress
    }

    fn on_ack_without_sack(&mut self, ack: u64, is_pure: bool, config: &Config) -> Progress {
        let is_new = ack > self.space.una;
        let is_newreno = config.recovery == Recovery::Newreno;
        let in_recovery = is_newreno && self.last_action == Action::Duplicates;
        if is_new && in_recovery && ack < self.recover {
            return self.on_partial(ack, config);
        }
        let mut progress = self.advance(ack);
        if is_new {
            if self.last_action == Action::Duplicates {
                self.last_action = Action::None;
            }
            self.inflation = 0;
            self.had_partial = false;
            self.leave_episode();
            self.permit = ALL;
            progress.may_grow = true;
        } else if is_pure {
            self.dup_acks += 1;
            self.act_on_duplicate();
            if self.dup_acks == DUP_THRESH && self.may_retransmit(config) {
                self.inflation = u64::from(DUP_THRESH);
                self.begin_recovery(&mut progress);
            } else if self.dup_acks > DUP_THRESH && self.last_action == Action::Duplicates {
                self.inflation += 1;
            }
            if self.dup_acks >= DUP_THRESH {
                self.permit = if is_newreno { NEWRENO_BURST } else { ALL };
            }
        }
        progress
    }

    /// tcp-newreno.cc `partialnewack`: sends the next hole, and deflates the window by what was
    /// acknowledged. Only the first partial acknowledgement restarts the timer (newreno_changes1_).
    fn on_partial(&mut self, ack: u64, config: &Config) -> Progress {
        let mut progress = self.advance(ack);
        let segments = progress.acknowledged.div_ceil(config.mss);
        if self.inflation > segments {
            self.inflation -= segments - 1;
        } else {
            progress.deflation = (segments - self.inflation) as f64;
            self.inflation = 1;
        }
        progress.is_partial = true;
        progress.keeps_timer = std::mem::replace(&mut self.had_partial, true);
        self.retransmit_now = true;
        if self.dup_acks >= DUP_THRESH {
            self.permit = NEWRENO_BURST;
        }
        progress
    }

    fn advance(&mut self, ack: u64) -> Progress {
        let acknowledged = ack - self.space.una;
        self.space.una = ack;
        self.cursor = self.cursor.max(ack);
        self.sacked.remove_below(ack);
        Progress { acknowledged, ..Progress::default() }
    }

    fn leave_episode(&mut self) {
        self.dup_acks = 0;
        self.has_timed_out = false;
        self.forget_held();
    }

    fn forget_held(&mut self) {
        self.sacked.clear();
        self.resent_below = 0;
    }

    fn act_on_duplicate(&mut self) {
        self.permit = if self.dup_acks < DUP_THRESH { Permit::Limited } else { Permit::Nothing };
    }

    /// The agents' bugFix_. Reno's variant may leave a recovery and enter the next one. The first
    /// data segment is exempt (bugfix_ss_).
    fn may_retransmit(&self, config: &Config) -> bool {
        let fell_out = config.recovery == Recovery::Reno && self.last_action == Action::Duplicates;
        let is_first = self.space.una == 1;
        self.space.una > self.recover || fell_out || is_first || self.is_marked()
    }

    /// Has it slowed down for a mark in this window?
    fn is_marked(&self) -> bool {
        self.last_action == Action::Mark && self.space.una <= self.recover
    }

    fn begin_recovery(&mut self, progress: &mut Progress) {
        progress.is_same_congestion = self.is_marked();
        if !progress.is_same_congestion {
            self.recover = self.space.nxt;
        }
        self.last_action = Action::Duplicates;
        self.retransmit_now = true;
        progress.loss_found = true;
    }

    fn segments_under_way(&self, config: &Config) -> i64 {
        self.space.flight().div_ceil(config.mss) as i64
    }

    /// The first hole below held data that has not been retransmitted.
    fn next_hole(&self, config: &Config) -> Option<(u64, u64)> {
        let (start, end) = self.sacked.next_hole(self.resent_below.max(self.space.una));
        (end < u64::MAX).then(|| (start, (end - start).min(config.mss)))
    }

    /// The segment at the cursor, if its first byte is less than `reach` segments beyond the
    /// acknowledgement.
    fn at_cursor(&self, reach: f64, config: &Config) -> Option<(u64, u64)> {
        let is_within = ((self.cursor - self.space.una) as f64) < reach * config.mss as f64;
        let is_again = self.cursor < self.space.nxt;
        let limit = if is_again { self.space.nxt } else { self.space.limit() };
        let len = (limit - self.cursor).min(config.mss);
        (is_within && len > 0).then_some((self.cursor, len))
    }

    fn send(&mut self, (seq, len): (u64, u64)) -> Outgoing {
        let len = self.space.with_fin(seq, len, self.space.limit());
        let again = seq < self.space.nxt;
        self.cursor = self.cursor.max(seq + len);
        self.space.nxt = self.space.nxt.max(seq + len);
        self.space.outgoing(seq, len, again)
    }

    /// tcp-sack1.cc and tcp.cc `send_much`: the segment, and whether it fills a hole.
    fn in_burst(&self, cwnd: f64, config: &Config) -> Option<((u64, u64), bool)> {
        if !self.is_recovering {
            let window = (whole(cwnd) + self.inflation as f64).min(config.max_window);
            return self.at_cursor(window, config).map(|segment| (segment, false));
        }
        if self.pipe >= cwnd as i64 {
            return None;
        }
        let hole = self.next_hole(config).map(|segment| (segment, true));
        hole.or_else(|| self.at_cursor(config.max_window, config).map(|segment| (segment, false)))
    }

    fn next_in_burst(&mut self, cwnd: f64, config: &Config) -> Option<Outgoing> {
        let (segment, is_hole) = self.in_burst(cwnd, config)?;
        if is_hole {
            self.resent_below = segment.0 + segment.1;
        }
        self.pipe += i64::from(self.is_recovering);
        Some(self.send(segment))
    }

    /// `send_much` with overhead_: sets a timer if there is anything to send.
    fn leave_to_timer(&mut self, cwnd: f64, config: &Config) {
        self.permit = Permit::Nothing;
        if self.in_burst(cwnd, config).is_some() {
            self.jitter = Jitter::Waits;
        }
    }
}

impl Sending for Ns2Sender {
    fn space(&self) -> &Space {
        &self.space
    }

    fn space_mut(&mut self) -> &mut Space {
        // New data from the application allows sending (tcp.cc `sendmsg`).
        self.permit = ALL;
        &mut self.space
    }

    fn learns_nothing(&self, ack: u64) -> bool {
        self.space.is_quiet_at(ack)
    }

    fn on_ack(&mut self, news: &Acknowledgement, _moment: &Moment, config: &Config) -> Progress {
        let Acknowledgement { ack, blocks, is_pure, .. } = *news;
        if config.recovery == Recovery::Sack {
            let held = take_blocks(&mut self.sacked, ack, &blocks);
            self.on_ack_sack(ack, held, is_pure, config)
        } else {
            self.on_ack_without_sack(ack, is_pure, config)
        }
    }

    /// tcp.cc `ecn`.
    fn on_mark(&mut self, ack: u64) -> bool {
        let slows = ack > self.recover || self.last_action == Action::Timeout;
        if slows {
            self.recover = self.space.nxt;
            self.last_action = Action::Mark;
        }
        slows
    }

    /// tcp.cc `timeout`: goes back to the first unacknowledged segment.
    fn on_timeout(&mut self, _config: &Config) {
        self.leave_episode();
        self.has_timed_out = true;
        self.is_recovering = false;
        self.retransmit_now = false;
        self.inflation = 0;
        self.cursor = self.space.una;
        self.recover = self.space.nxt;
        self.last_action = Action::Timeout;
        self.permit = ALL;
    }

    fn was_given_up(&self) -> bool {
        false // each timeout halves the threshold anew
    }

    fn next(&mut self, cwnd: f64, _moment: &Moment, config: &Config) -> Option<Outgoing> {
        self.cursor = self.cursor.max(self.space.una);
        if std::mem::take(&mut self.retransmit_now) {
            let len = self.space.flight().min(config.mss);
            return (len > 0).then(|| self.send((self.space.una, len)));
        }
        match self.permit {
            Permit::Nothing | Permit::Burst(0) => None,
            Permit::Limited => {
                self.permit = Permit::Nothing;
                let reach = whole(cwnd + f64::from(self.dup_acks)).min(config.max_window);
                self.at_cursor(reach, config).map(|segment| self.send(segment))
            }
            Permit::Burst(left) => {
                if config.send_jitter > Time::ZERO && self.jitter != Jitter::Over {
                    self.leave_to_timer(cwnd, config);
                    return None;
                }
                self.permit = Permit::Burst(left - 1);
                let segment = self.next_in_burst(cwnd, config);
                if segment.is_none() {
                    self.permit = Permit::Nothing;
                    self.jitter = Jitter::Idle;
                }
                segment
            }
        }
    }

    fn has_more(&self) -> bool {
        self.cursor < self.space.limit()
    }

    fn waits_for_jitter(&self) -> bool {
        self.jitter == Jitter::Waits
    }

    fn on_jitter_over(&mut self) {
        self.jitter = Jitter::Over;
        self.permit = ALL;
    }
}
