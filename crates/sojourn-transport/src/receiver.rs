//! The receiving half of an end of a connection: delayed acknowledgements (RFC 5681 §4.2),
//! selective acknowledgements (RFC 2018, RFC 2883), and the timestamp to echo (RFC 7323 §4.3); also ns-2
//! tcp/tcp-sink.cc and tcp/tcp-full.cc.

use super::accecn::Counters;
use super::ack_policy::{self, Duplicates, InOrder};
use super::config::Config;
use super::moderation::{Interrupts, LONGEST_MERGED};
use super::ranges::Ranges;
use super::rules::Acknowledging;
use super::ticks;
use sojourn_engine::packet::{Flags, Own, SACK_BLOCKS, SackBlock, Segment};
use sojourn_engine::units::Time;

/// Received data, and what is to be acknowledged.
pub(crate) struct Receiver {
    /// The next byte expected.
    next: u64,
    /// Data received beyond the next expected byte.
    held: Ranges,
    /// A sequence number in each recently extended block, the most recent first.
    recent: [u64; SACK_BLOCKS],
    /// In-order segments received since the last acknowledgement.
    unacknowledged: u32,
    /// When a delayed acknowledgement is due.
    ack_due: Time,
    ack_now: bool,
    /// Timestamp to echo.
    echo: Time,
    /// The last acknowledgement number sent.
    acknowledged: u64,
    /// One past the other side's FIN.
    fin_end: Option<u64>,
    /// Dialect `linux`: segments with data received, duplicates of one hole, and the blocks of an
    /// acknowledgement that was held back and has to leave before the next.
    received: u32,
    duplicates: Duplicates,
    flushed: Option<[SackBlock; SACK_BLOCKS]>,
    /// Bytes that came twice, for the next acknowledgement.
    duplicate: Option<(u64, u64)>,
    /// A marked segment has come, and its sender has not yet reported that it slowed down.
    echoes_mark: bool,
    /// Counts marks, if both ends agreed on that.
    counters: Option<Counters>,
    interrupts: Interrupts,
}

impl Receiver {
    /// A receiver that has received nothing, not even a SYN.
    pub(crate) fn new() -> Self {
        Self {
            next: 0,
            held: Ranges::default(),
            recent: [u64::MAX; SACK_BLOCKS],
            unacknowledged: 0,
            ack_due: Time::NEVER,
            ack_now: false,
            echo: Time::ZERO,
            acknowledged: 0,
            fin_end: None,
            received: 0,
            duplicates: Duplicates::default(),
            flushed: None,
            duplicate: None,
            echoes_mark: false,
            counters: None,
            interrupts: Interrupts::default(),
        }
    }

    /// The next byte expected.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Handles the SYN, which is acknowledged at once.
    pub(crate) fn on_syn(&mut self, sent_at: Time) {
        self.next = self.next.max(1);
        self.echo = sent_at;
        self.ack_now = true;
    }

    /// Marks are to be counted, not echoed.
    pub(crate) fn count_marks(&mut self, counters: Counters) {
        self.counters = Some(counters);
    }

    /// Notes the ECN field of a segment that has come. RFC 9768 §3.2.2: every packet counts, but no bare
    /// acknowledgement is acknowledged for it. RFC 3168 §6.1.3 knows data alone.
    pub(crate) fn note_ecn(&mut self, segment: &Segment, is_marked: bool) {
        let is_data = segment.len > 0 || segment.has(Flags::FIN);
        match &mut self.counters {
            Some(counters) => self.ack_now |= counters.count(is_marked, segment.len) && is_data,
            None if is_data => self.note_mark(segment.has(Flags::CWR), is_marked),
            None => {}
        }
    }

    /// RFC 3168 §6.1.3: echoes a mark until the sender reports that it slowed down.
    fn note_mark(&mut self, window_reduced: bool, is_marked: bool) {
        self.echoes_mark = is_marked || (self.echoes_mark && !window_reduced);
    }

    /// Handles a segment with payload or FIN.
    /// `srtt` is this end's own round trip, zero if it has measured none.
    pub(crate) fn on_data(
        &mut self,
        now: Time,
        segment: &Segment,
        sent_at: Time,
        srtt: Time,
        config: &Config,
    ) {
        let end = segment.seq + u64::from(segment.len) + u64::from(segment.has(Flags::FIN));
        if segment.has(Flags::FIN) {
            self.fin_end = Some(end);
        }
        let is_sink = config.rules.acknowledging == Acknowledging::BySink;
        let was_due = self.ack_now;
        // RFC 7323 §4.3: the oldest unacknowledged segment. Sinks echo the latest.
        if segment.seq <= self.acknowledged || is_sink {
            self.echo = sent_at;
        }
        self.received = self.received.saturating_add(1);
        let reports_duplicates = config.is_reordered && config.recovery.is_selective();
        if reports_duplicates && (end <= self.next || self.holds((segment.seq, end))) {
            self.note_duplicate((segment.seq, end));
        }
        if segment.seq > self.next {
            self.flush_before((segment.seq, end));
            self.hold(segment.seq, end);
            self.answer_hole(now, srtt, config);
        } else if end > self.next || (end == self.next && is_sink) {
            self.take_in_order(now, segment, srtt, config);
        } else {
            self.ack_now = true;
        }
        if self.is_complete() {
            self.ack_now = true;
        }
        if config.interrupt_interval > Time::ZERO {
            self.merge(now, was_due, config);
        }
    }

    /// What waits for an interrupt is acknowledged with all that comes by then. A mark ends it, as segments with
    /// and without one are not merged.
    fn merge(&mut self, now: Time, was_due: bool, config: &Config) {
        let Some(handled) = self.interrupts.arrive(now, config.interrupt_interval) else { return };
        let is_full = self.next - self.acknowledged >= LONGEST_MERGED;
        if self.ack_now && !was_due && !is_full {
            self.ack_now = false;
            self.ack_due = self.ack_due.min(handled);
        }
    }

    /// Does it hold these bytes beyond a hole?
    fn holds(&self, (start, end): (u64, u64)) -> bool {
        self.held.containing(start).is_some_and(|run| end <= run.1)
    }

    /// Bytes came twice, which is reported at once (RFC 2883 §4). What waits for an interrupt is reported together if it
    /// is one run, as when it is merged.
    fn note_duplicate(&mut self, (start, end): (u64, u64)) {
        self.ack_now = true;
        let run = match self.duplicate {
            Some(run) if start <= run.1 && run.0 <= end => (run.0.min(start), run.1.max(end)),
            Some(_) => {
                self.flushed = Some(self.blocks());
                self.note_told();
                (start, end)
            }
            None => (start, end),
        };
        self.duplicate = Some(run);
    }

    /// An acknowledgement that was held back leaves before a segment that moves older blocks out of sight.
    fn flush_before(&mut self, (start, end): (u64, u64)) {
        if !self.duplicates.are_held_back() {
            return;
        }
        let mut reported = self.recent.iter().filter_map(|&at| self.held.containing(at));
        let count = reported.clone().count();
        let place = reported.position(|block| start <= block.1 && block.0 <= end);
        if ack_policy::hides_blocks(place.unwrap_or(count)) {
            self.flushed = Some(self.blocks());
            self.note_told();
        }
    }

    /// Keeps an out-of-order segment.
    fn hold(&mut self, start: u64, end: u64) {
        self.held.insert(start, end);
        // RFC 2018 §4: the block with this segment first, then those reported before.
        let block = self.held.containing(start).expect("just inserted");
        let mut recent = [u64::MAX; SACK_BLOCKS];
        recent[0] = start;
        let others = self.recent.iter().filter(|&&at| at < block.0 || at >= block.1);
        for (slot, at) in recent[1..].iter_mut().zip(others) {
            *slot = *at;
        }
        self.recent = recent;
    }

    /// A segment beyond a hole is acknowledged at once (RFC 5681 §4.2). Linux holds some back.
    fn answer_hole(&mut self, now: Time, srtt: Time, config: &Config) {
        let is_quick = !is_linux(config) || ack_policy::is_quick(self.received);
        if is_quick || self.duplicates.leaves_now(self.next) {
            self.ack_now = true;
        } else {
            self.ack_due = self.ack_due.min(now + ack_policy::compression(srtt));
        }
    }

    fn take_in_order(&mut self, now: Time, segment: &Segment, srtt: Time, config: &Config) {
        let had_hole = !self.held.is_empty();
        self.next = segment.seq + u64::from(segment.len) + u64::from(segment.has(Flags::FIN));
        if had_hole && is_linux(config) {
            self.fill_hole();
            if self.held.is_empty() || self.is_enough(segment, config) {
                self.ack_now = true;
            } else {
                self.answer_hole(now, srtt, config);
            }
            return;
        }
        if had_hole {
            // It fills a hole, or part of one: acknowledge at once (RFC 5681 §4.2).
            self.ack_now = true;
            self.fill_hole();
        }
        self.unacknowledged += 1;
        if self.is_enough(segment, config) {
            self.ack_now = true;
        } else if self.ack_due == Time::NEVER {
            self.ack_due = if is_linux(config) {
                ticks::fires_at(now, config.delayed_ack)
            } else if config.delayed_ack_beats {
                next_beat(now, config.delayed_ack)
            } else {
                now + config.delayed_ack
            };
        }
    }

    fn fill_hole(&mut self) {
        while let Some((start, end)) = self.held.first().filter(|r| r.0 <= self.next) {
            self.next = self.next.max(end);
            self.held.remove_below(self.next.max(start + 1));
        }
    }

    /// Has enough come for an acknowledgement?
    fn is_enough(&self, segment: &Segment, config: &Config) -> bool {
        let unacknowledged = self.next - self.acknowledged;
        match config.rules.acknowledging {
            Acknowledging::BySegments | Acknowledging::BySink => {
                self.unacknowledged >= config.ack_every
            }
            Acknowledging::ByBytes => unacknowledged >= u64::from(config.ack_every) * config.mss,
            Acknowledging::AsLinux => {
                let (pushes, len) = (segment.has(Flags::PSH), segment.len.into());
                let seen = InOrder { received: self.received, unacknowledged, pushes, len };
                ack_policy::acknowledges_now(&seen, config)
            }
        }
    }

    /// Has everything up to the other side's FIN been received?
    pub(crate) fn is_complete(&self) -> bool {
        self.fin_end == Some(self.next)
    }

    /// Is one to be sent with the blocks from before the last segment, and then perhaps another?
    #[inline]
    pub(crate) fn flushes(&self) -> bool {
        self.flushed.is_some()
    }

    /// Is an acknowledgement to be sent now?
    pub(crate) fn wants_ack(&self) -> bool {
        self.ack_now
    }

    /// When a delayed acknowledgement is due.
    pub(crate) fn deadline(&self) -> Time {
        self.ack_due
    }

    /// Handles the end of an acknowledgement's delay, if it is due.
    pub(crate) fn on_timer(&mut self, now: Time) {
        if now >= self.ack_due {
            self.ack_now = true;
        }
    }

    /// Writes the acknowledgement into a segment to be sent.
    pub(crate) fn acknowledge(&mut self, segment: &mut Segment, config: &Config) {
        segment.flags.set(Flags::ACK, true);
        segment.ack = self.next;
        segment.echo = self.echo;
        match &mut self.counters {
            Some(counters) if !segment.has(Flags::SYN) => counters.write(segment),
            _ => segment.flags.set(Flags::ECE, self.echoes_mark),
        }
        if let Some(blocks) = self.flushed.take() {
            segment.own = Own::of_blocks(blocks);
            return;
        }
        if config.recovery.is_selective() && (!self.held.is_empty() || self.duplicate.is_some()) {
            segment.own = Own::of_blocks(self.blocks());
        }
        self.ack_now = false;
        self.note_told();
    }

    /// An acknowledgement leaves, or is about to.
    fn note_told(&mut self) {
        self.acknowledged = self.next;
        self.unacknowledged = 0;
        self.ack_due = Time::NEVER;
        self.duplicate = None;
        self.duplicates.reported();
    }

    /// What it holds, as an acknowledgement says it, behind what came twice.
    fn blocks(&self) -> [SackBlock; SACK_BLOCKS] {
        let mut blocks = [SackBlock::default(); SACK_BLOCKS];
        let held = self.recent.iter().filter_map(|&at| self.held.containing(at));
        let runs = self.duplicate.into_iter().chain(held);
        for (block, reported) in blocks.iter_mut().zip(runs.filter_map(|run| self.block(run))) {
            *block = reported;
        }
        blocks
    }

    /// A run of bytes as a block; `None` if it ends 4 GiB beyond what is acknowledged, or farther.
    fn block(&self, (start, end): (u64, u64)) -> Option<SackBlock> {
        // What lies on both sides of the acknowledgement is reported up to it.
        let end = if start < self.next { end.min(self.next) } else { end };
        let offset = |at: u64| u32::try_from(at.abs_diff(self.next)).ok();
        Some(SackBlock { start: offset(start)?, end: offset(end)? })
    }
}

/// The next whole multiple of the interval, at which FullTcp's timer sends delayed acknowledgements
/// (tcp-full.cc `recv`).
fn next_beat(now: Time, interval: Time) -> Time {
    interval.times(now.ps() / interval.ps() + 1)
}

/// Does it acknowledge as Linux does?
fn is_linux(config: &Config) -> bool {
    config.rules.acknowledging == Acknowledging::AsLinux
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TcpOptions;
    use sojourn_engine::dialect::Dialect;

    fn data(seq: u64, len: u16) -> Segment {
        Segment { seq, len, ..Segment::default() }
    }

    fn unmerged() -> TcpOptions {
        TcpOptions { interrupt_interval_us: Some(0.0), ..TcpOptions::default() }
    }

    fn receiver() -> (Receiver, Config) {
        let mut receiver = Receiver::new();
        receiver.on_syn(Time::ZERO);
        let config = TcpOptions::default().resolve(Dialect::Rfc);
        receiver.acknowledge(&mut Segment::default(), &config);
        (receiver, config)
    }

    /// Blocks are offsets of 32 bits. A run that is farther ahead is left out: it is not reported as another.
    #[test]
    fn what_is_too_far_ahead_is_not_told() {
        let (mut receiver, config) = receiver();
        for seq in [1 << 32, 1001] {
            receiver.on_data(Time::ZERO, &data(seq, 100), Time::ZERO, Time::ZERO, &config);
        }
        let mut segment = Segment::default();
        receiver.acknowledge(&mut segment, &config);
        let near = SackBlock { start: 1000, end: 1100 };
        assert_eq!(segment.own.blocks(), [near, SackBlock::default(), SackBlock::default()]);
    }

    #[test]
    fn every_second_segment_is_acknowledged_or_the_first_after_the_delay() {
        let (mut receiver, config) = receiver();
        receiver.on_data(Time::ZERO, &data(1, 100), Time::ZERO, Time::ZERO, &config);
        assert!(!receiver.wants_ack());
        assert_eq!(receiver.deadline(), Time::from_ms(100));
        receiver.on_data(Time::ZERO, &data(101, 100), Time::ZERO, Time::ZERO, &config);
        assert!(receiver.wants_ack());
        receiver.acknowledge(&mut Segment::default(), &config);
        assert_eq!(receiver.deadline(), Time::NEVER);
        receiver.on_data(Time::from_ms(5), &data(201, 100), Time::ZERO, Time::ZERO, &config);
        receiver.on_timer(Time::from_ms(105));
        assert!(receiver.wants_ack());
    }

    /// A timer that beats every 200 ms: what comes at 230 ms waits until 400, at 400 until 600.
    #[test]
    fn acknowledgements_wait_for_the_next_beat() {
        let options = TcpOptions {
            delayed_ack_ms: Some(200.0),
            delayed_ack_beats: Some(true),
            ..TcpOptions::default()
        };
        let config = options.resolve(Dialect::Rfc);
        for (at_ms, due_ms) in [(230, 400), (400, 600)] {
            let (mut receiver, _) = receiver();
            receiver.on_data(Time::from_ms(at_ms), &data(1, 100), Time::ZERO, Time::ZERO, &config);
            assert_eq!(receiver.deadline(), Time::from_ms(due_ms));
        }
    }

    #[test]
    fn the_oldest_unacknowledged_timestamp_is_echoed_but_the_latest_in_ns2() {
        // RFC 7323 §4.3: (A) of two segments under one acknowledgement, that of the first; (B) of one
        // beyond a hole, the same as before; (C) of one that fills a hole, its own.
        let ms = Time::from_ms;
        for (dialect, want) in
            [(Dialect::Rfc, [ms(10), ms(10), ms(40)]), (Dialect::Ns2, [ms(20), ms(30), ms(40)])]
        {
            let (mut receiver, _) = receiver();
            let config = unmerged().resolve(dialect);
            let mut echo = |arrivals: &[(u64, u64)]| {
                for &(seq, sent_ms) in arrivals {
                    receiver.on_data(ms(50), &data(seq, 100), ms(sent_ms), Time::ZERO, &config);
                }
                let mut ack = Segment::default();
                receiver.acknowledge(&mut ack, &config);
                ack.echo
            };
            let echoed = [echo(&[(1, 10), (101, 20)]), echo(&[(301, 30)]), echo(&[(201, 40)])];
            assert_eq!(echoed, want, "{dialect:?}");
        }
    }

    #[test]
    fn blocks_are_reported_most_recent_first() {
        // RFC 2018 §5 with segments of 100 bytes: 1, 3, 5 and 7 are missing.
        let (mut receiver, config) = receiver();
        for seq in [101, 301, 501, 701] {
            receiver.on_data(Time::ZERO, &data(seq, 100), Time::ZERO, Time::ZERO, &config);
            assert!(receiver.wants_ack());
        }
        let mut ack = Segment::default();
        receiver.acknowledge(&mut ack, &config);
        assert_eq!(ack.ack, 1);
        let starts = ack.own.blocks().map(|block| (block.start, block.end));
        assert_eq!(starts, [(700, 800), (500, 600), (300, 400)]);
        // Filling the hole at 401 joins two blocks into the most recent one.
        receiver.on_data(Time::ZERO, &data(401, 100), Time::ZERO, Time::ZERO, &config);
        let mut ack = Segment::default();
        receiver.acknowledge(&mut ack, &config);
        let starts = ack.own.blocks().map(|block| (block.start, block.end));
        assert_eq!(starts, [(300, 600), (700, 800), (0, 0)]);
    }

    /// RFC 2883 §4.1.1, §4.2.1: what came twice is reported once and at once, below the acknowledgement or before the
    /// block that has it. Runs that touch are one; of two others the first leaves alone.
    #[test]
    fn what_came_twice_is_reported_first() {
        let (mut receiver, config) = receiver();
        let config = Config { is_reordered: true, ..config };
        let mut arrives = |seqs: &[u64]| {
            for seq in seqs {
                receiver.on_data(Time::ZERO, &data(*seq, 100), Time::ZERO, Time::ZERO, &config);
            }
            let mut reported = Vec::new();
            while receiver.flushes() || receiver.wants_ack() {
                let mut ack = Segment::default();
                receiver.acknowledge(&mut ack, &config);
                let runs = ack.own.blocks().into_iter().filter_map(|block| block.bytes(ack.ack));
                reported.push((ack.ack, runs.collect::<Vec<_>>()));
            }
            reported
        };
        arrives(&[1, 101, 201, 301]);
        assert_eq!(arrives(&[201]), [(401, vec![(201, 301)])]);
        assert_eq!(arrives(&[401]), [], "it is reported once");
        assert_eq!(arrives(&[601, 701]), [(501, vec![(601, 801)])]);
        assert_eq!(arrives(&[701]), [(501, vec![(701, 801), (601, 801)])]);
        assert_eq!(arrives(&[1, 101]), [(501, vec![(1, 201), (601, 801)])]);
        let two = [(501, vec![(1, 101), (601, 801)]), (501, vec![(301, 401), (601, 801)])];
        assert_eq!(arrives(&[1, 301]), two);
        // Its hole is filled before it leaves.
        assert_eq!(arrives(&[601, 501]), [(801, vec![(601, 701)])]);
        let unaware = Config { is_reordered: false, ..config.clone() };
        receiver.on_data(Time::ZERO, &data(1, 100), Time::ZERO, Time::ZERO, &unaware);
        let mut ack = Segment::default();
        receiver.acknowledge(&mut ack, &unaware);
        assert_eq!(ack.own, Own::default());
    }

    #[test]
    fn a_filled_hole_is_acknowledged_at_once_with_all_behind_it() {
        let (mut receiver, config) = receiver();
        receiver.on_data(Time::ZERO, &data(101, 100), Time::ZERO, Time::ZERO, &config);
        receiver.acknowledge(&mut Segment::default(), &config);
        receiver.on_data(Time::ZERO, &data(1, 100), Time::ZERO, Time::ZERO, &config);
        assert!(receiver.wants_ack());
        assert_eq!(receiver.next(), 201);
    }

    /// Segments of 100 bytes, every second one missing. Three acknowledgements leave at once and the fourth
    /// waits, with blocks 700, 500 and 300. A segment that makes a fifth block, which would hide that of 300, sends it off.
    #[test]
    fn what_was_held_back_leaves_before_its_blocks_are_hidden() {
        let mut receiver = Receiver::new();
        let config = unmerged().resolve(Dialect::Linux);
        receiver.received = 1000;
        let ms = Time::from_ms;
        let mut arrives = |seq| {
            receiver.on_data(ms(1), &data(seq, 100), Time::ZERO, ms(100), &config);
            let mut reported = Vec::new();
            while receiver.flushes() || receiver.wants_ack() {
                let mut ack = Segment::default();
                receiver.acknowledge(&mut ack, &config);
                reported.push(ack.own.blocks().map(|block| block.start).to_vec());
            }
            (reported, receiver.deadline())
        };
        assert_eq!(arrives(100), (vec![vec![100, 0, 0]], Time::NEVER));
        assert_eq!(arrives(300), (vec![vec![300, 100, 0]], Time::NEVER));
        assert_eq!(arrives(500), (vec![vec![500, 300, 100]], Time::NEVER));
        assert_eq!(arrives(700), (vec![], ms(2)));
        // It makes a block beside three, or extends the third of them.
        assert_eq!(arrives(900), (vec![vec![700, 500, 300]], ms(2)));
        assert_eq!(arrives(400), (vec![vec![900, 700, 500]], ms(2)));
        // One that extends the newest block, or the second, waits with the others.
        assert_eq!(arrives(800), (vec![], ms(2)));
        assert_eq!(arrives(1000), (vec![], ms(2)));
    }

    /// Segments of 1448 B each 100 us from 0: that at 0 is acknowledged at once, as the first ones are; those at
    /// 100 and 200 us together at 250 us, and those at 300 and 400 at 500 us.
    #[test]
    fn what_waits_for_an_interrupt_is_acknowledged_together() {
        let mut receiver = Receiver::new();
        receiver.on_syn(Time::ZERO);
        let config = TcpOptions::default().resolve(Dialect::Linux);
        receiver.acknowledge(&mut Segment::default(), &config);
        let mut reported = Vec::new();
        for tick in 0..12 {
            let now = Time::from_us(50 * tick);
            receiver.on_timer(now);
            if tick % 2 == 0 && tick < 9 {
                let segment = data(1 + 1448 * tick / 2, 1448);
                receiver.on_data(now, &segment, Time::ZERO, Time::ZERO, &config);
            }
            if receiver.wants_ack() {
                let mut ack = Segment::default();
                receiver.acknowledge(&mut ack, &config);
                reported.push((50 * tick, (ack.ack - 1) / 1448));
            }
        }
        assert_eq!(reported, [(0, 1), (250, 3), (500, 5)]);
    }
}
