//! The sending half as RFC 8985 (RACK-TLP) and RFC 9937 (proportional rate reduction) have it.
//!
//! Loss is detected by the times of sending (scoreboard.rs), lost retransmissions too. In a recovery the
//! window shrinks to its threshold in proportion to what is delivered (prr.rs). A probe at the tail
//! makes losses known that nothing behind them would show.
//!
//! Dialect `linux` counts segments, not bytes: its reduction begins at the window and not at what was
//! under way, it moves the window itself, and the end of a recovery lets it grow.
//!
//! Where a path may change the order, the reordering window adapts, and what proves a reduction needless undoes it
//! (reordering.rs). Left out: F-RTO.

use super::prr::{Prr, Step};
use super::reordering::{Order, Reduction, Reordering, duplicate_in};
use super::scoreboard::{Arrival, Delivery, Scoreboard};
use super::{Acknowledgement, Counts, DUP_THRESH, Moment, Outgoing, Progress, Sending, Space};
use crate::cc::Window;
use crate::config::Config;
use crate::rate::{LossPhase, RateSample, RateSampler};
use crate::ticks;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::units::Time;

/// RFC 8985 §7.2: the probe timeout without a round-trip time.
const FIRST_PROBE: Time = Time::from_s(1);
/// RFC 8985 §7.2: how long a receiver may hold back the acknowledgement of a lone segment (TLP.max_ack_delay).
const LONE_ACK_DELAY: Time = Time::from_ms(200);
/// What Linux adds to short timers.
const SHORTEST_TIMER: Time = Time::from_ms(2);

#[derive(Clone, Copy, Default, PartialEq, Debug)]
enum Phase {
    /// Nothing is known to be lost.
    #[default]
    Open,
    /// Loss was found; the recovery ends when all that was sent by then is acknowledged.
    Recovery(u64),
    /// A timeout happened; what was sent by then ends here.
    AfterTimeout(u64),
}

/// A probe at the tail that has not been answered (RFC 8985 §7.1).
#[derive(Clone, Copy)]
struct Probe {
    /// All that was sent by then.
    end: u64,
    /// It was sent before.
    is_again: bool,
}

/// The sender.
#[derive(Default)]
#[repr(C)]
pub(crate) struct RackSender {
    space: Space,
    board: Scoreboard,
    phase: Phase,
    prr: Prr,
    /// What may be in the network in a recovery, in bytes.
    limit: u64,
    /// Bytes delivered by the acknowledgement at hand, and whether it is safe to send one more.
    delivered: u64,
    is_safe: bool,
    /// When something late is to be judged again; never if nothing is.
    judge_at: Deadline,
    /// When the tail is to be probed.
    probe_at: Deadline,
    /// A probe is to leave.
    probe_due: bool,
    probe: Option<Probe>,
    /// The first segment after a timeout does not wait for the window.
    retransmit_now: bool,
    /// What was acknowledged when the retransmission timer last expired.
    timed_out_at: u64,
    /// What was under way at the last mark ends here.
    slowed_until: u64,
    /// Where the path may change it.
    order: Option<Box<Order>>,
}

/// When a timer for that time fires: Linux adds 2 ms and rounds to its ticks.
fn timer(now: Time, at: Time, config: &Config) -> Time {
    if config.dialect == Dialect::Linux && at != Time::NEVER {
        ticks::fires_at(now, at.since(now) + SHORTEST_TIMER)
    } else {
        at
    }
}

/// What a reduction counts a segment for: its bytes, or one in dialect `linux`.
fn counted(len: u64, config: &Config) -> u64 {
    if config.dialect == Dialect::Linux { 1 } else { len }
}

/// A time that may be never, which is where it begins.
struct Deadline(Time);

impl Default for Deadline {
    fn default() -> Self {
        Self(Time::NEVER)
    }
}

impl RackSender {
    /// A sender without data.
    pub(crate) fn new(config: &Config) -> Self {
        Self { order: config.is_reordered.then(Box::default), ..Self::default() }
    }

    /// Bytes thought to be in the network (RFC 6675 §2: pipe).
    pub(crate) fn pipe(&self) -> u64 {
        self.space.flight() - self.board.held() - self.board.lost()
    }

    /// How late a segment may be before it counts as lost (RFC 8985 §6.2 step 4): where nothing has come late, not at
    /// all once three segments are held beyond a hole, or in a recovery.
    fn reordering_window(&self, moment: &Moment) -> Time {
        let usual = Reordering::default();
        let reordering = self.order.as_ref().map_or(&usual, |order| &order.reordering);
        let is_enough = self.board.held_segments() >= DUP_THRESH;
        if !reordering.is_seen && (is_enough || self.phase != Phase::Open) {
            Time::ZERO
        } else {
            reordering.window(moment.min_rtt, moment.srtt)
        }
    }

    /// What an acknowledgement says of segments that came late or twice; says whether it proves the last reduction
    /// needless. It newly acknowledges so many bytes.
    fn heed_order(
        &mut self,
        news: &Acknowledgement,
        (acknowledged, delivery): (u64, &Delivery),
        config: &Config,
    ) -> bool {
        let Some(order) = &mut self.order else { return false };
        order.reordering.note_late(delivery.late_by, config.mss);
        if let Some(duplicate) = duplicate_in(news.ack, &news.blocks) {
            // RFC 8985 §7.4.2: what a probe brought twice was not lost, and says nothing of the order.
            if self.probe.is_some_and(|probe| probe.is_again && probe.end == duplicate.1) {
                self.probe = None;
            } else {
                order.reordering.widen(self.space.una, self.space.nxt);
            }
            order.take_duplicate(duplicate, config.mss);
        }
        let Some(reduction) = &order.reduction else { return false };
        let is_original =
            acknowledged > 0 && config.timestamps && reduction.is_of_original(news.echo);
        let is_all_duplicate = reduction.is_all_duplicate();
        let is_late = is_original && self.may_reopen();
        let Some(order) = self.order.as_mut().filter(|_| is_late || is_all_duplicate) else {
            return false;
        };
        (self.phase, order.reduction) = (Phase::Open, None);
        if is_late {
            // Linux 6.18: that it came late makes reordering known, though it had been sent again.
            let una = self.space.una - acknowledged;
            order.reordering.note_late(delivery.was_highest.saturating_sub(una), config.mss);
            self.board.restore_lost();
        }
        true
    }

    /// May an original that came late end this phase? Linux waits while something sent again is under way in a recovery.
    fn may_reopen(&self) -> bool {
        match self.phase {
            Phase::Open => false,
            Phase::Recovery(until) => self.space.una >= until || self.board.repeats() == 0,
            Phase::AfterTimeout(_) => true,
        }
    }

    /// A reduction begins.
    fn begin_reduction(&mut self) {
        if let Some(order) = &mut self.order {
            order.reduction = Some(Reduction::new(self.space.una, self.board.repeats()));
        }
    }

    fn end_recovery(&mut self) {
        self.phase = Phase::Open;
        self.order.iter_mut().for_each(|order| order.reordering.end_recovery());
    }

    /// Judges what is late; says whether a recovery begins. What left after one began and is lost begins the next
    /// one as soon as the first has ended (RFC 6675 §5: RecoveryPoint; Linux 6.18). In dialect `linux` the window,
    /// which is not known here, is what the reduction begins at.
    fn detect(
        &mut self,
        moment: &Moment,
        (was_open, flight_before): (bool, u64),
        config: &Config,
    ) -> bool {
        let window = self.reordering_window(moment);
        let (lost, judge_at) = self.board.detect(moment.now, window);
        self.judge_at = Deadline(timer(moment.now, judge_at, config));
        if lost > 0 {
            self.is_safe = false;
        }
        let has_lost = || lost > 0 || (!was_open && self.board.is_in_repair());
        if self.phase != Phase::Open || !has_lost() {
            return false;
        }
        self.phase = Phase::Recovery(self.space.nxt);
        self.begin_reduction();
        let recover_flight = if config.dialect == Dialect::Linux { 0 } else { flight_before };
        self.prr = Prr { recover_flight, ..Prr::default() };
        self.probe_at = Deadline::default();
        self.probe = None;
        true
    }

    /// Ends a recovery that has reached its end; says whether the window may grow.
    fn after_advance(&mut self, progress: &mut Progress, config: &Config) -> bool {
        match self.phase {
            Phase::Open => true,
            Phase::Recovery(until) => {
                if self.space.una >= until {
                    self.end_recovery();
                    progress.ends_recovery = config.dialect == Dialect::Linux;
                }
                progress.ends_recovery
            }
            Phase::AfterTimeout(until) => {
                if self.space.una >= until {
                    self.end_recovery();
                }
                true
            }
        }
    }

    /// RFC 8985 §7.4: says whether the probe repaired a loss that nothing else showed.
    fn answer_probe(&mut self, ack: u64, acknowledged: u64, delivered: u64, is_pure: bool) -> bool {
        let Some(probe) = self.probe else { return false };
        if !probe.is_again {
            if ack >= probe.end {
                self.probe = None;
            }
            return false;
        }
        if acknowledged == 0 && delivered == 0 && is_pure && ack >= probe.end {
            self.probe = None; // a second acknowledgement: the original had arrived
            return false;
        }
        if ack > probe.end {
            self.probe = None;
            return true;
        }
        false
    }

    /// RFC 8985 §7.2: two round trips, and what a receiver may hold back.
    fn arm_probe(&mut self, moment: &Moment, config: &Config) {
        let is_wanted = self.phase == Phase::Open
            && self.space.is_outstanding()
            && self.board.held() == 0
            && self.probe.is_none();
        self.probe_at = Deadline(if !is_wanted {
            Time::NEVER
        } else if moment.srtt == Time::ZERO {
            moment.now + FIRST_PROBE
        } else {
            let is_lone = self.space.flight() <= config.mss;
            let ack_delay = match config.dialect {
                _ if is_lone => LONE_ACK_DELAY,
                Dialect::Linux => SHORTEST_TIMER,
                _ => Time::ZERO,
            };
            moment.now + moment.srtt.times(2) + ack_delay
        });
    }

    fn send_probe(&mut self, now: Time) -> Option<Outgoing> {
        let (seq, len) = self.board.send_last(now)?;
        self.order.iter_mut().for_each(|order| order.note_repeat(now));
        self.probe = Some(Probe { end: self.space.nxt, is_again: true });
        Some(self.space.outgoing(seq, len, true))
    }

    fn next_new(&mut self, moment: &Moment, limit: u64, config: &Config) -> Option<Outgoing> {
        if self.space.nxt == self.space.limit() {
            return None;
        }
        let len = (self.space.limit() - self.space.nxt).min(config.mss);
        let payload = self.space.payload(self.space.nxt, len);
        let reach = (config.max_window * config.mss as f64) as u64;
        if self.space.nxt + payload > self.space.una + reach {
            return None;
        }
        if !self.has_room(payload, limit, config) {
            return None;
        }
        let seq = self.space.nxt;
        let len = self.space.with_fin(seq, len, self.space.limit());
        let outgoing = self.space.outgoing(seq, len, false);
        self.board.send(moment.now, seq, len);
        self.space.nxt += len;
        self.prr.out += counted(len, config);
        self.arm_probe(moment, config);
        Some(outgoing)
    }

    /// Has a window of `limit` bytes, in dialect `linux` segments, room for so many bytes? If nothing
    /// is under way it has room for one segment of new data.
    fn has_room(&self, payload: u64, limit: u64, config: &Config) -> bool {
        if config.dialect == Dialect::Linux {
            return self.board.under_way() < limit;
        }
        let pipe = self.pipe();
        pipe == 0 || pipe + payload <= limit
    }

    fn next_lost(&mut self, moment: &Moment, limit: u64, config: &Config) -> Option<Outgoing> {
        let (seq, len) = self.board.next_lost()?;
        let is_over = match config.dialect {
            Dialect::Linux => self.board.under_way() >= limit,
            _ => self.pipe() + self.space.payload(seq, len) > limit,
        };
        if !self.retransmit_now && is_over {
            return None;
        }
        self.retransmit_now = false;
        self.board.send_lost(moment.now);
        self.order.iter_mut().for_each(|order| order.note_repeat(moment.now));
        self.prr.out += counted(len, config);
        Some(self.space.outgoing(seq, len, true))
    }

    /// After a mark Linux' window does not grow before all that was under way, and one more, is
    /// acknowledged (6.18: the state CWR).
    fn slows(&self, config: &Config) -> bool {
        config.dialect == Dialect::Linux && self.space.una <= self.slowed_until
    }
}

impl Sending for RackSender {
    fn space(&self) -> &Space {
        &self.space
    }

    fn space_mut(&mut self) -> &mut Space {
        &mut self.space
    }

    fn on_ack(&mut self, news: &Acknowledgement, moment: &Moment, config: &Config) -> Progress {
        let Acknowledgement { ack, blocks, is_pure, .. } = *news;
        let before = (self.phase == Phase::Open, self.pipe());
        // RFC 8985 §6.2 step 2 compares timestamps; Linux does not.
        let is_dated = self.order.is_some() && config.timestamps && config.dialect == Dialect::Rfc;
        let echo = if is_dated { news.echo } else { Time::NEVER };
        let arrival = Arrival { now: moment.now, min_rtt: moment.min_rtt, echo };
        let delivery = self.board.acknowledge(&arrival, ack, &blocks);
        let acknowledged = ack - self.space.una;
        self.space.una = ack;
        self.delivered = match config.dialect {
            Dialect::Linux => delivery.segments,
            _ => delivery.bytes,
        };
        self.is_safe = acknowledged > 0;
        let mut progress = Progress { acknowledged, ..Progress::default() };
        progress.delivered = delivery.segments;
        progress.timed = delivery.timed();
        if self.order.is_some() {
            progress.undoes = self.heed_order(news, (acknowledged, &delivery), config);
            progress.ends_recovery =
                progress.undoes && !before.0 && config.dialect == Dialect::Linux;
        }
        let is_wide = |order: &Order| order.reordering.is_wide && config.dialect == Dialect::Linux;
        if acknowledged > 0 {
            progress.may_grow = self.after_advance(&mut progress, config) && !self.slows(config);
        } else if delivery.segments > 0 && self.order.as_deref().is_some_and(is_wide) {
            // 6.18: where much comes late, the window grows for what is held too.
            progress.may_grow = self.phase == Phase::Open && !self.slows(config);
        }
        let repaired = self.answer_probe(ack, acknowledged, delivery.bytes, is_pure);
        let begins = self.detect(moment, before, config);
        if begins || (repaired && self.phase == Phase::Open) {
            progress.loss_found = true;
            // RFC 3168 §6.1.2: a loss and a mark in one window are one congestion.
            progress.is_same_congestion = self.space.una < self.slowed_until;
            progress.may_grow = false;
        }
        if acknowledged > 0 {
            self.arm_probe(moment, config);
        } else if self.board.held() > 0 {
            self.probe_at = Deadline::default();
        }
        progress
    }

    fn counts(&self) -> Counts {
        Counts {
            under_way: self.board.under_way(),
            outstanding: self.board.outstanding(),
            is_lost: self.board.lost() > 0,
            is_recovering: self.phase != Phase::Open,
            is_forced: self.retransmit_now || self.probe_due,
            head_sent: self.board.head_sent(),
        }
    }

    fn sample_rate(&mut self) {
        self.board.sample_rate();
    }

    fn sampler(&mut self) -> Option<&mut RateSampler> {
        self.board.rate_mut()
    }

    fn rate_sample(&mut self, moment: &Moment) -> Option<RateSample<'_>> {
        let phase = match self.phase {
            Phase::Open => LossPhase::Open,
            Phase::Recovery(_) => LossPhase::Recovery,
            Phase::AfterTimeout(_) => LossPhase::AfterTimeout,
        };
        let in_flight = self.board.under_way();
        let sampler = self.board.rate_mut()?;
        let sample = sampler.sample(moment.now, moment.min_rtt, in_flight);
        Some(RateSample { phase, srtt: moment.srtt, ..sample })
    }

    fn shrink(&mut self, window: &mut Window, config: &Config) {
        let Phase::Recovery(_) = self.phase else { return };
        if config.dialect == Dialect::Linux {
            if self.prr.recover_flight == 0 {
                self.prr.recover_flight = window.cwnd as u64;
            }
            let limit = self.prr.limit(Step {
                delivered: std::mem::take(&mut self.delivered),
                is_safe: self.is_safe,
                pipe: self.board.under_way(),
                threshold: window.ssthresh as u64,
                mss: 1,
            });
            window.cwnd = limit as f64;
        } else {
            self.limit = self.prr.limit(Step {
                delivered: std::mem::take(&mut self.delivered),
                is_safe: self.is_safe,
                pipe: self.pipe(),
                threshold: (window.ssthresh * config.mss as f64) as u64,
                mss: config.mss,
            });
        }
    }

    /// RFC 3168 §6.1.2: at most once for what was under way, and not where a loss has done it.
    fn on_mark(&mut self, ack: u64) -> bool {
        let slows = self.phase == Phase::Open && ack > self.slowed_until;
        if slows {
            self.slowed_until = self.space.nxt;
            self.order.iter_mut().for_each(|order| order.reduction = None);
        }
        slows
    }

    fn was_given_up(&self) -> bool {
        matches!(self.phase, Phase::AfterTimeout(_)) && self.timed_out_at == self.space.una
    }

    fn on_timeout(&mut self, _config: &Config) {
        if self.phase == Phase::Open {
            self.begin_reduction();
        }
        self.phase = Phase::AfterTimeout(self.space.nxt);
        self.timed_out_at = self.space.una;
        self.board.lose_all();
        self.retransmit_now = true;
        self.probe = None;
        (self.judge_at, self.probe_at) = (Deadline::default(), Deadline::default());
    }

    fn next(&mut self, cwnd: f64, moment: &Moment, config: &Config) -> Option<Outgoing> {
        let limit = match (config.dialect, self.phase) {
            (Dialect::Linux, _) => cwnd as u64,
            (_, Phase::Recovery(_)) => self.limit,
            _ => (cwnd * config.mss as f64) as u64,
        };
        if std::mem::take(&mut self.probe_due) {
            let fresh = self.next_new(moment, u64::MAX, config);
            if fresh.is_some() {
                self.probe = Some(Probe { end: self.space.nxt, is_again: false });
                self.probe_at = Deadline::default();
            }
            return fresh.or_else(|| self.send_probe(moment.now));
        }
        if self.board.next_lost().is_some() {
            return self.next_lost(moment, limit, config);
        }
        self.next_new(moment, limit, config)
    }

    fn has_more(&self) -> bool {
        self.space.nxt < self.space.limit() || self.board.lost() > 0
    }

    /// RFC 8985 §7.2: the tail is probed at the lesser of both times.
    fn probes_instead(&mut self) -> bool {
        let is_armed = self.probe_at.0 != Time::NEVER;
        self.probe_at = Deadline::default();
        self.probe_due |= is_armed;
        is_armed
    }

    fn deadline(&self) -> Time {
        self.judge_at.0.min(self.probe_at.0)
    }

    fn on_deadline(&mut self, moment: &Moment, config: &Config) -> bool {
        if moment.now >= self.probe_at.0 {
            self.probe_at = Deadline::default();
            self.probe_due = true;
        }
        if moment.now < self.judge_at.0 {
            return false;
        }
        self.delivered = 0;
        let pipe = self.pipe();
        self.detect(moment, (true, pipe), config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TcpOptions;
    use sojourn_engine::packet::{SACK_BLOCKS, SackBlock};

    const MSS: u64 = 1000;

    /// Twenty segments under way since 0 ms on a path that may change the order.
    fn twenty(dialect: Dialect) -> (RackSender, Config) {
        let config = TcpOptions::default().resolve(dialect);
        let config = Config { is_reordered: true, mss: MSS, ..config };
        let mut sender = RackSender::new(&config);
        sender.space.on_syn_acknowledged();
        sender.space.append(20 * MSS);
        assert!((0..20).all(|_| sender.next(99.0, &moment(0), &config).is_some()));
        (sender, config)
    }

    fn moment(now_ms: u64) -> Moment {
        let [now, srtt, min_rtt] = [now_ms, 50, 40].map(Time::from_ms);
        Moment { now, srtt, min_rtt }
    }

    /// An acknowledgement of so many segments with a block.
    fn acknowledge(
        sender: &mut RackSender,
        segments: u64,
        block: (u32, u32),
        config: &Config,
    ) -> Progress {
        let mut blocks = [SackBlock::default(); SACK_BLOCKS];
        (blocks[0].start, blocks[0].end) = block;
        let news =
            Acknowledgement { ack: 1 + segments * MSS, blocks, echo: Time::ZERO, is_pure: true };
        sender.on_ack(&news, &moment(40), config)
    }

    fn window(sender: &RackSender) -> Time {
        sender.order.as_ref().unwrap().reordering.window(Time::from_ms(40), Time::from_ms(50))
    }

    /// RFC 8985 section 7.4.2: a probe that brings the last segment twice is answered by the report of it, and the
    /// window of 10 ms stays. The report of another segment adds a step.
    #[test]
    fn the_duplicate_of_a_probe_says_nothing_of_the_order() {
        let (mut sender, config) = twenty(Dialect::Linux);
        sender.probe_due = true;
        assert_eq!(
            sender.next(99.0, &moment(30), &config).map(|sent| sent.seq),
            Some(1 + 19 * MSS)
        );
        acknowledge(&mut sender, 20, (0, 0), &config);
        assert!(sender.probe.is_some());
        acknowledge(&mut sender, 20, (1000, 0), &config);
        assert_eq!((sender.probe.is_some(), window(&sender)), (false, Time::from_ms(10)));
        acknowledge(&mut sender, 20, (2000, 1000), &config);
        assert_eq!(window(&sender), Time::from_ms(20));
    }

    /// What is held lets the window of Linux grow where segments came more than three late.
    #[test]
    fn the_window_grows_for_what_is_held_where_much_comes_late() {
        for (dialect, late_by, want) in [
            (Dialect::Linux, 3 * MSS, false),
            (Dialect::Linux, 4 * MSS, true),
            (Dialect::Rfc, 4 * MSS, false),
        ] {
            let (mut sender, config) = twenty(dialect);
            sender.order.as_mut().unwrap().reordering.note_late(late_by, MSS);
            let progress = acknowledge(&mut sender, 0, (1000, 2000), &config);
            assert_eq!((progress.may_grow, progress.loss_found), (want, false), "{dialect:?}");
        }
    }

    /// A mark slows down for the same window: what came before it is not undone.
    #[test]
    fn a_mark_ends_what_may_be_undone() {
        let (mut sender, config) = twenty(Dialect::Linux);
        sender.begin_reduction();
        sender.order.as_mut().unwrap().note_repeat(Time::ZERO);
        assert!(sender.on_mark(1));
        assert!(!acknowledge(&mut sender, 9, (2000, 1000), &config).undoes);
    }

    /// RFC 8985 section 6.2 step 4: after 16 recoveries the window is a step again.
    #[test]
    fn recoveries_without_a_duplicate_reset_the_window() {
        let (mut sender, config) = twenty(Dialect::Rfc);
        acknowledge(&mut sender, 1, (1000, 0), &config);
        for segments in 2..18 {
            assert_eq!(window(&sender), Time::from_ms(20));
            sender.phase = Phase::Recovery(1 + segments * MSS);
            acknowledge(&mut sender, segments, (0, 0), &config);
        }
        assert_eq!(window(&sender), Time::from_ms(10));
    }
}
