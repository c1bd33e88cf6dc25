//! The playout buffer of a voice call, which adapts to the network: after the delay manager of
//! WebRTC's NetEQ, the buffer of today's browsers (modules/audio_coding/neteq).
//!
//! Its target is a high quantile of what packets are late by, against the fastest of the last two
//! seconds. A packet that comes after its time is waited for: the gap is concealed, and all after it
//! is played that much later. The buffer goes back to its target by playing faster or slower. A packet that
//! comes after its time and after a later one is not waited for: its gap is concealed, and it is discarded.
//!
//! Left out: the optimiser for reordered packets, so that these do not move the target; the decision by pitch
//! when to stretch, comfort noise, and what several packets lost in a row cost beyond their share.

use std::collections::VecDeque;

use sojourn_engine::units::Time;

/// Delays are measured against the least of so long (NetEQ: kPacketHistorySizeMs).
const HISTORY: Time = Time::from_ms(2000);
/// How often the greatest lateness is registered (NetEQ: resample_interval_ms).
const REGISTER_EVERY: Time = Time::from_ms(500);
/// Width and number of the cells in which it is counted (NetEQ: kBucketSizeMs, kDelayBuckets).
const CELL: Time = Time::from_ms(20);
const CELLS: usize = 100;
/// Share of the registered values that come in time (NetEQ: quantile).
const QUANTILE: f64 = 0.95;
/// What a value is worth after the next one (NetEQ: forget_factor).
const FORGET: f64 = 0.983;
/// How fast the first values are forgotten (NetEQ: start_forget_weight).
const START_WEIGHT: f64 = 2.0;
/// The target before anything is registered (NetEQ: kStartDelayMs).
const START: Time = Time::from_ms(80);
/// How much faster or slower it may play: NetEQ stretches by one pitch period, 15 ms or less, and then
/// rests for 50 ms.
const STRETCH: f64 = 0.25;

/// After so many packets it is known how often a call has one.
const FIRST_PACKETS: usize = 100;

/// What came of a call, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Played {
    /// Packets that came, late ones included.
    pub packets: u64,
    /// Packets that came after their time.
    pub late_packets: u64,
    /// How long gaps were concealed because packets were late.
    pub concealed: Time,
    /// Sum over packets of the time from sending to playing, in ps.
    pub delay_sum_ps: u128,
}

impl Played {
    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            packets: self.packets + other.packets,
            late_packets: self.late_packets + other.late_packets,
            concealed: self.concealed + other.concealed,
            delay_sum_ps: self.delay_sum_ps + other.delay_sum_ps,
        }
    }

    /// Mean time from sending to playing in ms.
    pub fn delay_ms(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.delay_sum_ps as f64 / self.packets as f64 / 1e9)
    }
}

/// The buffer of one call.
#[derive(Default)]
pub struct Playout {
    /// Packets that are sent before this move the buffer and do not count.
    from: Time,
    /// Arrivals and delays of the last seconds that no later one undercuts, oldest first.
    least: VecDeque<(Time, Time)>,
    lateness: Lateness,
    /// From sending to playing: now, and where that is to go.
    delay: Time,
    goal: Time,
    last_arrival: Option<Time>,
    played: Played,
    /// Packets that were sent and that were dropped, and when the last one was sent.
    sent_packets: u64,
    dropped_packets: u64,
    last_sent: Time,
    /// The times between the first ones.
    spacings: Vec<Time>,
    /// The time between the last two, and when the latest packet was sent that has come.
    spacing: Time,
    newest: Time,
}

impl Playout {
    /// A buffer that counts the packets that are sent from this time on.
    pub fn counting_from(from: Time) -> Self {
        Self { from, ..Self::default() }
    }

    /// A packet sets out.
    pub fn send(&mut self, at: Time) {
        self.sent_packets += 1;
        self.spacing = at.since(self.last_sent);
        if (2..=FIRST_PACKETS as u64).contains(&self.sent_packets) {
            self.spacings.push(self.spacing);
        }
        self.last_sent = at;
    }

    /// The time between its packets: the median of its first ones, so that pauses do not count.
    pub fn interval(&self) -> Option<Time> {
        let mut spacings = self.spacings.clone();
        spacings.sort_unstable();
        spacings.get(spacings.len() / 2).copied()
    }

    /// A packet is dropped.
    pub fn drop_one(&mut self) {
        self.dropped_packets += 1;
    }

    /// How many packets are still under way at `end` for which the buffer would not have waited so
    /// long. A call has a packet every `interval`, and the last ones count as missing, as where paths keep the order.
    pub fn overdue_packets(&self, end: Time, interval: Time) -> u64 {
        let gone = self.played.packets + self.dropped_packets;
        let under_way = self.sent_packets.saturating_sub(gone);
        let wait = if self.last_arrival.is_some() { self.delay } else { START };
        let age = end.since(self.last_sent);
        if age > wait {
            return under_way;
        }
        under_way.saturating_sub(wait.since(age).ps() / interval.ps().max(1) + 1)
    }

    /// A packet comes that was sent at `sent_at`.
    pub fn arrive(&mut self, now: Time, sent_at: Time) {
        let delay = now.since(sent_at);
        match self.last_arrival.replace(now) {
            Some(last) => self.stretch(now.since(last)),
            None => self.delay = delay,
        }
        let is_passed = sent_at < self.newest;
        self.newest = self.newest.max(sent_at);
        let late = delay.since(self.delay);
        let gap = if is_passed { late.min(self.spacing) } else { late };
        if !is_passed {
            self.delay = self.delay.max(delay);
        }
        if sent_at >= self.from {
            self.played.late_packets += u64::from(gap > Time::ZERO);
            self.played.concealed += gap;
            self.played.packets += 1;
            self.played.delay_sum_ps += u128::from(self.delay.ps());
        }
        let least = self.least_with(now, delay);
        let lateness = if is_passed { Time::ZERO } else { delay.since(least) };
        self.goal = least + self.lateness.take(now, lateness);
    }

    /// What came of the call so far.
    pub fn played(&self) -> Played {
        self.played
    }

    /// The least delay of the last seconds, this one included.
    fn least_with(&mut self, now: Time, delay: Time) -> Time {
        while self.least.back().is_some_and(|&(_, earlier)| earlier >= delay) {
            self.least.pop_back();
        }
        self.least.push_back((now, delay));
        while now.since(self.least[0].0) > HISTORY {
            self.least.pop_front();
        }
        self.least[0].1
    }

    /// Moves towards the goal, as far as stretching for `elapsed` allows.
    fn stretch(&mut self, elapsed: Time) {
        let most = elapsed.scaled(STRETCH);
        self.delay = if self.delay > self.goal {
            self.delay.since(most).max(self.goal)
        } else {
            (self.delay + most).min(self.goal)
        };
    }
}

/// How late packets are, counted with forgetting.
struct Lateness {
    shares: [f32; CELLS],
    registered: u32,
    /// The greatest since the last registration, and when that one is due.
    greatest: Time,
    due: Option<Time>,
    target: Time,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { shares: [0.0; CELLS], registered: 0, greatest: Time::ZERO, due: None, target: START }
    }
}

impl Lateness {
    /// Takes in one value. Returns the target.
    fn take(&mut self, now: Time, late: Time) -> Time {
        self.greatest = self.greatest.max(late);
        let due = *self.due.get_or_insert(now + REGISTER_EVERY);
        if now >= due {
            self.register();
            self.due = Some(now + REGISTER_EVERY);
        }
        self.target
    }

    fn register(&mut self) {
        let cell = (self.greatest.ps() / CELL.ps()).min(CELLS as u64 - 1) as usize;
        self.greatest = Time::ZERO;
        self.registered += 1;
        let at_first = 1.0 - START_WEIGHT / f64::from(self.registered + 1);
        let forget = FORGET.min(at_first).max(0.0);
        self.shares.iter_mut().for_each(|share| *share *= forget as f32);
        self.shares[cell] += (1.0 - forget) as f32;
        self.target = self.quantile();
    }

    /// The end of the cell that holds the quantile.
    fn quantile(&self) -> Time {
        let mut beyond = 1.0;
        let cell = self.shares.iter().position(|share| {
            beyond -= f64::from(*share);
            beyond <= 1.0 - QUANTILE
        });
        Time::from_ps(CELL.ps() * (cell.unwrap_or(CELLS - 1) as u64 + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call with a packet every 20 ms and these delays in ms.
    fn call(delays_ms: impl IntoIterator<Item = u64>) -> Playout {
        let mut playout = Playout::default();
        for (number, delay) in (0..).zip(delays_ms) {
            let sent_at = Time::from_ms(20 * number);
            playout.arrive(sent_at + Time::from_ms(delay), sent_at);
        }
        playout
    }

    #[test]
    fn a_steady_call_is_played_one_cell_after_it_comes() {
        // It begins at 10 ms, goes for 10 + 80 by 5 ms a packet (11, 16, ...), and after 0.5 s comes
        // back to 10 + 20.
        let playout = call(std::iter::repeat_n(10, 1000));
        assert_eq!(playout.delay, Time::from_ms(30));
        assert_eq!(playout.played().late_packets, 0);
        let mean = playout.played().delay_ms().unwrap();
        assert!((30.0..31.5).contains(&mean), "{mean}");
    }

    /// Spurts of three packets, 20 ms apart, with pauses of 400 ms between them.
    #[test]
    fn the_interval_of_a_call_is_that_within_its_spurts() {
        let mut playout = Playout::default();
        assert_eq!(playout.interval(), None);
        for spurt in 0..50 {
            (0..3).for_each(|packet| playout.send(Time::from_ms(440 * spurt + 20 * packet)));
        }
        assert_eq!(playout.interval(), Some(Time::from_ms(20)));
    }

    #[test]
    fn a_late_packet_is_waited_for_and_the_rest_comes_in_time() {
        // After 10 s one packet has 130 ms, the next five 110, 90, ... as they were held together.
        let stall = [130, 110, 90, 70, 50, 30];
        let delays = std::iter::repeat_n(10, 500).chain(stall);
        let played = call(delays).played();
        // It was due after 30 ms.
        assert_eq!((played.late_packets, played.concealed), (1, Time::from_ms(100)));
    }

    /// It is due after 30 ms as all others, and they come after 10. Passed by the next one and 25 ms late, it is discarded
    /// and its 20 ms are concealed; passed and in time, it is played. Neither moves the buffer.
    #[test]
    fn a_late_packet_that_was_passed_is_discarded() {
        for (delay, want) in [(55, (1, Time::from_ms(20))), (29, (0, Time::ZERO))] {
            let mut playout = call(std::iter::repeat_n(10, 500));
            let [sent, next] = [10_000, 10_020].map(Time::from_ms);
            [sent, next].into_iter().for_each(|at| playout.send(at));
            for (at, delay) in [(next, 10), (sent, delay)] {
                playout.arrive(at + Time::from_ms(delay), at);
            }
            let played = playout.played();
            assert_eq!((played.late_packets, played.concealed), want);
            assert_eq!((playout.delay, played.packets), (Time::from_ms(30), 502));
        }
    }

    #[test]
    fn the_buffer_comes_back_at_a_quarter_of_the_time() {
        // 130 ms come back to 30 in 4 * 100 ms, which are 20 packets; after 10 of them it is at 80. One
        // value of 80 is worth 2/81 = 2.5 %, which does not move a target of 95 %.
        let quiet = || std::iter::repeat_n(10, 2000);
        let after = |packets| {
            let rest = (0..packets).map(|n| 110_u64.saturating_sub(20 * n).max(10));
            call(quiet().chain([130]).chain(rest)).delay
        };
        // The first six were held together with the late one, and stretch over no time.
        assert_eq!(after(6), Time::from_ms(130));
        assert_eq!(after(16), Time::from_ms(80));
        assert_eq!(after(26), Time::from_ms(30));
    }

    #[test]
    fn what_comes_late_often_raises_the_target() {
        // Every second half-second has a packet of 55 ms, 45 late: cell 2 of 40 to 60 ms.
        let delays = (0..3000).map(|n| if n % 50 == 0 { 55 } else { 10 });
        let playout = call(delays);
        assert_eq!(playout.lateness.target, Time::from_ms(60));
        assert_eq!(playout.delay, Time::from_ms(70));
    }

    #[test]
    fn forgetting_is_fast_at_first() {
        // Weights of NetEQ: the first value is all, then 1 - 2/3, 1 - 2/4, ... of the old stay.
        let mut lateness = Lateness::default();
        lateness.register();
        assert_eq!(lateness.shares[0], 1.0);
        lateness.greatest = Time::from_ms(25);
        lateness.register();
        assert!((f64::from(lateness.shares[0]) - 1.0 / 3.0).abs() < 1e-6);
        assert!((f64::from(lateness.shares[1]) - 2.0 / 3.0).abs() < 1e-6);
        assert_eq!(lateness.target, Time::from_ms(40));
    }

    #[test]
    fn a_value_is_worth_0_983_of_itself_after_the_next() {
        // From the 117th on 1 - 2 / (n + 1) is beyond 0.983. One value of cell 1 has 0.017, and 0.983 of that later.
        let mut lateness = Lateness::default();
        (0..200).for_each(|_| lateness.register());
        lateness.greatest = Time::from_ms(25);
        lateness.register();
        assert!((f64::from(lateness.shares[1]) - 0.017).abs() < 1e-6);
        assert!((f64::from(lateness.shares[0]) - 0.983).abs() < 1e-5);
        lateness.register();
        assert!((f64::from(lateness.shares[1]) - 0.017 * 0.983).abs() < 1e-6);
    }

    #[test]
    fn the_target_is_the_end_of_the_cell_of_the_95th_percentile() {
        let target = |shares: &[f32]| {
            let mut lateness = Lateness::default();
            lateness.shares[..shares.len()].copy_from_slice(shares);
            lateness.quantile()
        };
        assert_eq!(target(&[0.951, 0.049]), Time::from_ms(20));
        assert_eq!(target(&[0.949, 0.051]), Time::from_ms(40));
        assert_eq!(target(&[0.5, 0.44, 0.02, 0.04]), Time::from_ms(60));
        // What is later than all cells is in the last.
        assert_eq!(target(&[0.5]), Time::from_ms(2000));
        let mut lateness = Lateness { greatest: Time::from_ms(5000), ..Lateness::default() };
        lateness.register();
        assert_eq!(lateness.target, Time::from_ms(2000));
    }

    #[test]
    fn the_least_delay_is_that_of_the_last_two_seconds() {
        let mut playout = Playout::default();
        let ms = Time::from_ms;
        let mut least = |now, delay| playout.least_with(ms(now), ms(delay));
        assert_eq!(least(0, 10), ms(10));
        assert_eq!(least(1000, 30), ms(10));
        assert_eq!(least(1500, 20), ms(10));
        assert_eq!(least(2000, 40), ms(10));
        assert_eq!(least(2001, 40), ms(20));
        assert_eq!(least(3501, 50), ms(40));
    }

    #[test]
    fn what_never_came_is_overdue_at_the_end() {
        // 100 packets of 20 ms, the last sent at 1.98 s; the first 60 came after 10 ms, and the buffer
        // waits 30 ms. At 2 s the last is 20 ms old and the one before 40 ms: all but one are overdue.
        let mut playout = call(std::iter::repeat_n(10, 60));
        (0..100).for_each(|number| playout.send(Time::from_ms(20 * number)));
        let end = Time::from_ms(2000);
        assert_eq!(playout.delay, Time::from_ms(30));
        let interval = Time::from_ms(20);
        assert_eq!(playout.overdue_packets(end, interval), 39);
        (0..9).for_each(|_| playout.drop_one());
        assert_eq!(playout.overdue_packets(end, interval), 30);
        // Nothing ever came: the buffer begins with 80 ms, which 20, 40, 60 and 80 do not exceed.
        let mut silent = Playout::default();
        (0..100).for_each(|number| silent.send(Time::from_ms(20 * number)));
        assert_eq!(silent.overdue_packets(end, interval), 96);
        // In a call that is well, what is under way comes in time.
        let mut well = call(std::iter::repeat_n(10, 99));
        (0..100).for_each(|number| well.send(Time::from_ms(20 * number)));
        assert_eq!(well.overdue_packets(end, interval), 0);
    }

    #[test]
    fn what_is_sent_before_the_counting_moves_the_buffer_alone() {
        // Every second half-second has a packet of 55 ms: the buffer waits 70 ms after a minute, and all
        // that is sent from 50 s on comes in time.
        let mut playout = Playout::counting_from(Time::from_ms(50_000));
        for number in 0..3000 {
            let (sent_at, delay) =
                (Time::from_ms(20 * number), if number % 50 == 0 { 55 } else { 10 });
            playout.arrive(sent_at + Time::from_ms(delay), sent_at);
        }
        assert_eq!(playout.delay, Time::from_ms(70));
        let played = playout.played();
        assert_eq!((played.packets, played.late_packets, played.concealed), (500, 0, Time::ZERO));
        assert_eq!(played.delay_ms(), Some(70.0));
    }

    #[test]
    fn two_calls_together() {
        // 50 ms after the first packet of 40 ms the second comes after 70: the buffer is at 40 + 12.5 ms on its way to
        // 120, and 17.5 ms are concealed. Of 60 and 85 ms, 45 ms later, it is at 71.25, and 13.75 are.
        let both = call([40, 70]).played().plus(call([60, 85]).played());
        let want = Played {
            packets: 4,
            late_packets: 2,
            concealed: Time::from_us(17_500 + 13_750),
            delay_sum_ps: (40 + 70 + 60 + 85) * 1_000_000_000,
        };
        assert_eq!(both, want);
        assert_eq!(both.delay_ms(), Some(63.75));
    }
}
