//! The sending half of ns-2.35's agent TCP/Linux (tcp/tcp-linux.cc, tcp/scoreboard1.cc), which
//! follows Linux 2.6.22.
//!
//! Unlike the other one-way agents it tries to send after every acknowledgement, and each
//! acknowledgement restarts its timer. A segment is lost when the receiver holds the fourth one
//! beyond it. A retransmission is lost when the receiver holds one that was sent later; it is then
//! sent again at once, into a queue that is still full. While it slows down, one segment leaves for
//! every two that arrive. A timeout marks all data as lost that the receiver does not hold, and
//! forgets nothing.
//!
//! Left out: D-SACK, F-RTO, and that ns-2 stops looking for losses at the last block of an
//! acknowledgement without new information. Beyond ns-2: bytes instead of packets, a FIN, and data
//! from the other end.

use crate::config::Config;
use crate::sender::{Acknowledgement, Moment, Outgoing, Progress, Sending, Space, ranges_of};
use sojourn_engine::packet::{SACK_BLOCKS, SackBlock};

/// Segments beyond one that mean its loss, counted to the furthest held.
const BEYOND: u64 = 4;

/// The state of a run of bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    /// Outstanding, sent once.
    UnderWay,
    /// The receiver holds it.
    Held,
    /// To be retransmitted.
    Lost,
    /// The `order`th retransmission, made when everything below `sent_below` had been sent.
    Resent { sent_below: u64, order: u64 },
}

/// Bytes in one state; at most one segment if that is `Resent`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    start: u64,
    end: u64,
    fate: Fate,
}

impl Run {
    fn len(&self) -> u64 {
        self.end - self.start
    }
}

/// The state of all bytes from the first unacknowledged one to the furthest held.
#[derive(Default)]
struct Scoreboard {
    /// In order and without gaps.
    runs: Vec<Run>,
    /// The other of two buffers that alternate, so that nothing is allocated.
    spare: Vec<Run>,
    /// One past the furthest byte held (fack_).
    held_below: u64,
    /// Bytes held, and bytes lost and not retransmitted.
    held: u64,
    lost: u64,
    /// Number of retransmitted segments (rtx_id_).
    resent: u64,
    /// One past the order of the retransmission that was acknowledged last (acked_rtx_id_).
    seen_below: u64,
}

impl Scoreboard {
    fn clear(&mut self) {
        self.runs.clear();
        *self = Self {
            runs: std::mem::take(&mut self.runs),
            spare: std::mem::take(&mut self.spare),
            ..Self::default()
        };
    }

    fn advance(&mut self, una: u64) {
        let whole = self.runs.partition_point(|run| run.end <= una);
        for index in 0..whole {
            let run = self.runs[index];
            self.discount(run);
            if let Fate::Resent { order, .. } = run.fate {
                self.seen_below = self.seen_below.max(order + 1);
            }
        }
        self.runs.drain(..whole);
        match self.runs.first_mut() {
            None => self.clear(),
            Some(first) => {
                let gone = Run { end: una.max(first.start), ..*first };
                first.start = gone.end;
                self.discount(gone);
            }
        }
    }

    /// Applies the blocks of an acknowledgement. Returns whether they reveal a loss.
    fn learn(&mut self, una: u64, blocks: &[(u64, u64)], mss: u64) -> bool {
        let furthest = blocks.last().map_or(0, |block| block.1);
        self.held_below = self.held_below.max(furthest);
        let known_below = self.runs.last().map_or(una, |run| run.end);
        if known_below < self.held_below {
            self.append(Run { start: known_below, end: self.held_below, fate: Fate::UnderWay });
        }
        let mut old = std::mem::replace(&mut self.runs, std::mem::take(&mut self.spare));
        let mut has_lost = false;
        let mut blocks = blocks.iter().copied().peekable();
        for &run in &old {
            let mut rest = run;
            while rest.start < rest.end {
                while blocks.next_if(|block| block.1 <= rest.start).is_some() {}
                let (start, end) = blocks.peek().copied().unwrap_or((u64::MAX, u64::MAX));
                let is_in_block = start <= rest.start;
                let piece =
                    Run { end: rest.end.min(if is_in_block { end } else { start }), ..rest };
                rest.start = piece.end;
                if is_in_block && piece.fate != Fate::Held {
                    self.hold(piece);
                } else {
                    has_lost |= self.judge(piece, mss);
                }
            }
        }
        old.clear();
        self.spare = old;
        has_lost
    }

    fn hold(&mut self, piece: Run) {
        if let Fate::Resent { order, .. } = piece.fate {
            self.seen_below = order + 1;
        }
        self.discount(piece);
        self.held += piece.len();
        self.append(Run { fate: Fate::Held, ..piece });
    }

    /// Enters bytes that no block covers. Returns whether they are found lost.
    fn judge(&mut self, piece: Run, mss: u64) -> bool {
        let lost_below = match piece.fate {
            Fate::Held | Fate::Lost => piece.start,
            Fate::UnderWay => self.held_below.saturating_sub(BEYOND * mss),
            Fate::Resent { sent_below, order } => {
                let is_passed =
                    sent_below < self.held_below || order + BEYOND + 1 < self.seen_below;
                if is_passed { piece.end } else { piece.start }
            }
        };
        let cut = lost_below.clamp(piece.start, piece.end);
        self.lost += cut - piece.start;
        self.append(Run { end: cut, fate: Fate::Lost, ..piece });
        self.append(Run { start: cut, ..piece });
        cut > piece.start
    }

    fn discount(&mut self, run: Run) {
        match run.fate {
            Fate::Held => self.held -= run.len(),
            Fate::Lost => self.lost -= run.len(),
            Fate::UnderWay | Fate::Resent { .. } => {}
        }
    }

    fn append(&mut self, run: Run) {
        match self.runs.last_mut() {
            _ if run.start == run.end => {}
            Some(last) if last.fate == run.fate => last.end = run.end,
            _ => self.runs.push(run),
        }
    }

    /// Marks all data up to `nxt` as lost that the receiver does not hold.
    fn give_up(&mut self, una: u64, nxt: u64) {
        let known_below = self.runs.last().map_or(una, |run| run.end);
        self.append(Run { start: known_below, end: nxt, fate: Fate::UnderWay });
        let mut old = std::mem::replace(&mut self.runs, std::mem::take(&mut self.spare));
        for run in old.drain(..) {
            let fate = if run.fate == Fate::Held { Fate::Held } else { Fate::Lost };
            self.append(Run { fate, ..run });
        }
        self.spare = old;
        self.lost = nxt - una - self.held;
        (self.resent, self.seen_below) = (0, 0);
    }

    /// The first segment that is lost.
    fn first_lost(&self, mss: u64) -> Option<(usize, Run)> {
        if self.lost == 0 {
            return None;
        }
        let index = self.runs.iter().position(|run| run.fate == Fate::Lost)?;
        let run = self.runs[index];
        Some((index, Run { end: run.end.min(run.start + mss), ..run }))
    }

    /// Records that the first lost segment was retransmitted.
    fn note_resent(&mut self, (index, piece): (usize, Run), sent_below: u64) {
        let fate = Fate::Resent { sent_below, order: self.resent };
        self.resent += 1;
        self.lost -= piece.len();
        if self.runs[index].end == piece.end {
            self.runs[index].fate = fate;
        } else {
            self.runs[index].start = piece.end;
            self.runs.insert(index, Run { fate, ..piece });
        }
    }
}

/// The state of loss recovery (icsk_ca_state).
#[derive(Clone, Copy, Default, PartialEq, Debug)]
enum State {
    /// Nothing is lost.
    #[default]
    Open,
    /// It has slowed down for a loss or a mark.
    Recovery,
    /// A timeout.
    Loss,
}

/// The sender of TCP/Linux.
#[derive(Default)]
#[repr(C)]
pub(crate) struct Ns2LinuxSender {
    space: Space,
    board: Scoreboard,
    state: State,
    /// The end of the data sent before the last loss (recover_).
    recover: u64,
    /// The window at the last transmission, in segments.
    cwnd: u64,
    /// Segments that may be outstanding while it slows down (next_pkts_in_flight_).
    halving: u64,
}

impl Ns2LinuxSender {
    fn segments_under_way(&self, config: &Config) -> u64 {
        (self.space.flight() - self.board.held - self.board.lost).div_ceil(config.mss)
    }

    fn slow_down(&mut self) {
        self.state = State::Recovery;
        self.recover = self.space.nxt;
        self.halving = self.cwnd;
    }

    fn send(&mut self, config: &Config) -> Option<Outgoing> {
        if let Some(lost) = self.board.first_lost(config.mss) {
            self.board.note_resent(lost, self.space.nxt);
            let (seq, len) = (lost.1.start, lost.1.len());
            return Some(self.space.outgoing(seq, len, true));
        }
        let (seq, limit) = (self.space.nxt, self.space.limit());
        let len = (limit - seq).min(config.mss);
        if len == 0 {
            return None;
        }
        let len = self.space.with_fin(seq, len, limit);
        self.space.nxt += len;
        Some(self.space.outgoing(seq, len, false))
    }
}

impl Sending for Ns2LinuxSender {
    fn space(&self) -> &Space {
        &self.space
    }

    fn space_mut(&mut self) -> &mut Space {
        &mut self.space
    }

    /// tcp-linux.cc `recv`, `tcp_fastretrans_alert`.
    fn on_ack(&mut self, news: &Acknowledgement, _moment: &Moment, config: &Config) -> Progress {
        let Acknowledgement { ack, blocks, .. } = *news;
        let is_limited = self.segments_under_way(config) >= self.cwnd;
        let acknowledged = ack - self.space.una;
        self.space.una = ack;
        self.board.advance(ack);
        let (held, count) = in_order(ack, &blocks);
        let has_lost = self.board.learn(ack, &held[..count], config.mss);
        let mut progress = Progress {
            acknowledged,
            renews_timer: true,
            may_grow: acknowledged > 0 && is_limited && self.state != State::Recovery,
            ..Progress::default()
        };
        if self.state != State::Open && ack >= self.recover {
            self.board.clear();
            self.state = State::Open;
            self.halving = 0;
            progress.ends_loss_with = Some(self.segments_under_way(config));
        } else if has_lost && self.state != State::Recovery {
            self.slow_down();
            progress.loss_found = true;
        }
        progress
    }

    fn on_mark(&mut self, _ack: u64) -> bool {
        let slows = self.state == State::Open;
        if slows {
            self.slow_down();
        }
        slows
    }

    /// tcp-linux.cc `enter_loss`.
    fn on_timeout(&mut self, _config: &Config) {
        if self.space.is_outstanding() {
            self.state = State::Loss;
            self.recover = self.space.nxt;
            self.halving = 0;
            self.board.give_up(self.space.una, self.space.nxt);
        }
    }

    fn was_given_up(&self) -> bool {
        false // each timeout reduces the threshold anew
    }

    /// tcp-linux.cc `send_much`.
    fn next(&mut self, cwnd: f64, _moment: &Moment, config: &Config) -> Option<Outgoing> {
        self.cwnd = cwnd as u64;
        let under_way = self.segments_under_way(config);
        self.halving = self.halving.min(under_way + 1);
        if under_way >= self.cwnd.max(self.halving) {
            return None;
        }
        let outgoing = self.send(config)?;
        self.halving = self.halving.min(under_way.max(1));
        Some(outgoing)
    }

    fn has_more(&self) -> bool {
        self.board.lost > 0 || self.space.nxt < self.space.limit()
    }
}

/// The ranges that an acknowledgement's blocks report as held, in ascending order, and their
/// number.
fn in_order(ack: u64, blocks: &[SackBlock; SACK_BLOCKS]) -> ([(u64, u64); SACK_BLOCKS], usize) {
    let mut held = [(0, 0); SACK_BLOCKS];
    let mut count = 0;
    for range in ranges_of(ack, blocks) {
        held[count] = range;
        count += 1;
    }
    held[..count].sort_unstable();
    (held, count)
}
