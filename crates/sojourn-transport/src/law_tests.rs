//! The table of laws: each congestion control against the law of its window or its rate, within 10 %, in dialects `rfc`
//! and `linux`; of `ns2` there are Reno, CUBIC and LEDBAT. Prague's laws are in `ecn_tests`, with its virtual round trip.
//!
//! A window is what is delivered in a round trip over a path without a queue, on which each n-th segment is lost or
//! marked, or each with probability 1/n.

use super::super::bursts::BurstLimit;
use super::super::cc::{bbr1, bbr3, cubic, dctcp, ledbat};
use super::*;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Signals {
    Even(u64),
    Random(u64),
}
use Signals::{Even, Random};

impl Signals {
    fn distance(self) -> u64 {
        let (Even(n) | Random(n)) = self;
        n
    }

    /// So many losses show a mean within a few per cent.
    fn enough(self) -> u64 {
        if let Random(_) = self { 400 } else { 60 }
    }

    fn chooser(self) -> Box<dyn FnMut() -> bool> {
        let (mut seen, mut rng) = (0, Rng::named(5, "signals"));
        Box::new(move || match self {
            Even(n) => {
                seen += 1;
                seen % n == 0
            }
            Random(n) => rng.uniform() * (n as f64) < 1.0,
        })
    }
}

fn of(control: CongestionSpec) -> TcpOptions {
    TcpOptions { congestion_control: Some(control), ..TcpOptions::default() }
}

/// A control at signals over a round trip, which are marks or losses.
#[derive(Clone, Debug)]
struct Case {
    control: CongestionSpec,
    dialect: Dialect,
    rtt_ms: u64,
    signals: Signals,
}

impl Case {
    /// Its window after a fourth of the time in which there are so many signals at a window of `law` segments.
    fn window(&self, law: f64, signals: u64) -> f64 {
        let options = TcpOptions { mss_bytes: Some(MSS as u16), ..of(self.control.clone()) };
        let config = resolved(&options, self.dialect);
        let mut is_chosen = self.signals.chooser();
        let is_marked = matches!(self.control, CongestionSpec::Dctcp(_));
        let delay = Time::from_us(self.rtt_ms * 500);
        let mut pair = Pair::new(config, delay, nothing(), nothing());
        if is_marked {
            pair.marker = is_chosen;
        } else {
            pair.pipes[CLIENT].loses = Box::new(move |segment| segment.len > 0 && is_chosen());
        }
        let round_trips = (signals * self.signals.distance()) as f64 / law;
        let end = Time::from_ms(self.rtt_ms).scaled(round_trips);
        pair.upload_endlessly();
        pair.run_until(end.scaled(0.25));
        let before = pair.reported[SERVER].received_bytes;
        pair.run_until(end);
        assert!(self.dialect == Dialect::Ns2 || pair.ends[CLIENT].tally().timeouts == 0);
        let segments = (pair.reported[SERVER].received_bytes - before) as f64 / MSS as f64;
        segments / round_trips / 0.75
    }

    fn check(&self, law: f64, signals: u64) {
        let window = self.window(law, signals);
        println!("{:.3} of {law:.1} segments: {self:?}", window / law);
        assert!((window / law - 1.0).abs() < 0.1, "{window} and {law} segments: {self:?}");
    }
}

/// A cycle of Reno takes n segments: W/2, W/2 + 1, ... W in as many round trips, and in one more, its recovery, W/2:
/// 3/8 W^2 + 5/4 W = n in W/2 + 2 round trips. Where n is large that is the root of 3/2 n. Independent losses make it
/// 1.31 / 1.225 as much (Mathis, Semke, Mahdavi & Ott 1997, appendix).
fn of_reno(signals: Signals) -> f64 {
    let n = signals.distance() as f64;
    let most = (-1.25 + (1.25_f64.powi(2) + 1.5 * n).sqrt()) / 0.75;
    let factor = if let Random(_) = signals { 1.31 / 1.5_f64.sqrt() } else { 1.0 };
    factor * n / (most / 2.0 + 2.0)
}

fn reno(dialect: Dialect, rtt_ms: u64, signals: Signals) {
    let control = CongestionSpec::Reno(reno::Parameters {});
    Case { control, dialect, rtt_ms, signals }.check(of_reno(signals), signals.enough());
}

/// RFC 9438 packet by packet: the larger of the cubic function and Reno's estimate, and no growth in the round trip
/// after a loss. By §4.3 the estimate grows as Reno does once it is above the window before the loss, which Linux leaves
/// out, and so does ns-2, which gives up a fifth at a loss. Both look a round trip ahead and count whole segments: their
/// window is back at the plateau as soon as less than one is missing. So a window before a loss is often just the last one,
/// and fast convergence rests. At even losses it stands still at any of several windows then, and only Reno's region has a
/// law.
fn of_cubic(dialect: Dialect, rtt_ms: u64, signals: Signals) -> f64 {
    const C: f64 = 0.4;
    let beta = if dialect == Dialect::Ns2 { 0.8 } else { 0.7 };
    let (rtt_s, mut is_lost) = (rtt_ms as f64 / 1e3, signals.chooser());
    let alpha = 3.0 * (1.0 - beta) / (1.0 + beta);
    let (mut w, mut plateau, mut reno, mut origin) = (4.0 * of_reno(signals), 0.0, 0.0, 0.0);
    let (mut t, mut k, mut packets, mut elapsed, mut prior) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for loss in 0..500 {
        let cubic = |t: f64| match dialect {
            Dialect::Linux | Dialect::Ns2 => origin + (C * (t + rtt_s - k).powi(3)).trunc(),
            _ => origin + C * (t - k).powi(3),
        };
        while !is_lost() {
            t += rtt_s / w;
            packets += if loss < 100 { 0.0 } else { 1.0 };
            elapsed += if loss < 100 { 0.0 } else { 1.0 / w };
            if t > 0.0 {
                reno += if dialect == Dialect::Rfc && reno >= prior { 1.0 } else { alpha } / w;
                w = reno.max(cubic(t)).max(2.0);
            }
        }
        w = if dialect == Dialect::Rfc { w } else { w.floor() };
        prior = w;
        plateau = if w < plateau { w * (1.0 + beta) / 2.0 } else { w };
        w *= beta;
        k = ((plateau - w).max(0.0) / C).cbrt();
        (origin, reno, t) = (plateau.max(w), w, -rtt_s);
    }
    packets / elapsed
}

fn cubic(dialect: Dialect, rtt_ms: u64, signals: Signals) {
    let control = CongestionSpec::Cubic(cubic::Parameters::default());
    let law = of_cubic(dialect, rtt_ms, signals);
    Case { control, dialect, rtt_ms, signals }.check(law, signals.enough());
}

/// A reaction takes p W / 2 less half a segment, as it is rounded down, and 1 / (p W) of a segment grows between two:
/// the window is 2/p, as the papers of DCTCP have it. Where even marks come just as far from each other as a window
/// is long, the pause after each covers all, and it stays at 1/p; acknowledgements that an interrupt merges end that.
fn dctcp(rtt_ms: u64, signals: Signals) {
    let control = CongestionSpec::Dctcp(dctcp::Parameters::default());
    let law = 2.0 * signals.distance() as f64;
    Case { control, dialect: Dialect::Linux, rtt_ms, signals }.check(law, 6000);
}

/// An endless upload over a line of a rate with an endless queue: the share of the line used, and the mean queue in ms,
/// both in the second half.
fn over_line(
    options: &TcpOptions,
    dialect: Dialect,
    (mbps, rtt_ms): (f64, u64),
    seconds: u64,
) -> (f64, f64) {
    let config = options.resolve(dialect);
    let mut pair = Pair::new(config, Time::from_us(rtt_ms * 500), nothing(), nothing());
    pair.pipes[CLIENT].service = Time::from_secs_f64(12e3 / mbps / 1e6);
    pair.upload_endlessly();
    let half_s = seconds as f64 / 2.0;
    pair.run_until(Time::from_secs_f64(half_s));
    let before = pair.reported[SERVER].received_bytes;
    let mut queue_ms = 0.0;
    for sample in 1..=1000 {
        pair.run_until(Time::from_secs_f64(half_s * (1.0 + f64::from(sample) / 1e3)));
        queue_ms += pair.pipes[CLIENT].free.since(pair.now).ms_f64() / 1e3;
    }
    let segments = (pair.reported[SERVER].received_bytes - before) as f64 / 1448.0;
    (segments * 0.012 / half_s / mbps, queue_ms)
}

/// RFC 6817: the line is full, and the queue is the target, here 25 ms. What waits for company or for its pace uses the
/// window, so that a cap of one segment more than what is under way does not hold it: in dialect `linux` the window
/// stood still from 15 Mbps on, and from 40 Mbps on if it is paced.
fn ledbat(dialect: Dialect, mbps: f64, is_paced: bool) {
    let control = CongestionSpec::Ledbat(ledbat::Parameters { target_ms: Some(25.0) });
    let options = TcpOptions { pacing: is_paced.then_some(true), ..of(control) };
    let (used, queue_ms) = over_line(&options, dialect, (mbps, 20), 40);
    println!("ledbat {dialect:?} {mbps} Mbps: {used:.3} of the line, {queue_ms:.1} ms");
    assert!(used > 0.98 && (queue_ms / 25.0 - 1.0).abs() < 0.1, "{dialect:?} {mbps}: {queue_ms}");
}

/// A line of so many Mbps, the round trip over it in ms, and what it loses.
#[derive(Clone, Copy, Debug)]
struct Path {
    mbps: f64,
    rtt_ms: u64,
    losses: Signals,
}

/// No loss within a run.
const NONE: Signals = Even(u64::MAX);

impl Path {
    fn rtt_s(self) -> f64 {
        self.rtt_ms as f64 / 1e3
    }

    /// Segments of 1500 bytes that it carries in a second.
    fn per_second(self) -> f64 {
        self.mbps * 1e6 / 12e3
    }

    /// Segments under way where there is no queue.
    fn product(self) -> f64 {
        self.per_second() * self.rtt_s()
    }

    /// A control in the second half of a minute. Losses come before the line.
    fn seen(self, control: CongestionSpec, probing_window: f64) -> Cycles {
        const HALF_MS: u64 = 30_000;
        let delay = Time::from_us(self.rtt_ms * 500);
        let mut pair = Pair::new(of(control).resolve(Dialect::Linux), delay, nothing(), nothing());
        let mut is_lost = self.losses.chooser();
        pair.pipes[CLIENT].service = Time::from_secs_f64(1.0 / self.per_second());
        pair.pipes[CLIENT].loses = Box::new(move |segment| segment.len > 0 && is_lost());
        pair.upload_endlessly();
        pair.run_until(Time::from_ms(HALF_MS));
        let before = pair.reported[SERVER].received_bytes;
        let mut seen = Cycles::default();
        let mut was = (true, true);
        for ms in HALF_MS..2 * HALF_MS {
            pair.run_until(Time::from_ms(ms));
            let rate = pair.ends[CLIENT].pacing_rate().expect("it paces") as f64 / 1448.0;
            let window = pair.ends[CLIENT].window().cwnd;
            let is = (rate > 1.1 * self.per_second(), window <= probing_window);
            seen.ups_s.extend((is.0 && !was.0).then_some(ms as f64 / 1e3));
            seen.probes_s.extend((is.1 && !was.1).then_some(ms as f64 / 1e3));
            seen.queue_ms += pair.pipes[CLIENT].free.since(pair.now).ms_f64() / HALF_MS as f64;
            was = is;
        }
        let segments = (pair.reported[SERVER].received_bytes - before) as f64 / 1448.0;
        seen.share = segments / self.per_second() / (HALF_MS as f64 / 1e3);
        seen
    }
}

/// What is seen of BBR: the share of the line that is delivered, the mean queue, when it began to pace above the line's
/// rate, and when its window fell to that with which it looks for the least round trip.
#[derive(Default)]
struct Cycles {
    share: f64,
    queue_ms: f64,
    ups_s: Vec<f64>,
    probes_s: Vec<f64>,
}

fn median_gap_s(times_s: &[f64]) -> f64 {
    let mut gaps: Vec<f64> = times_s.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_by(f64::total_cmp);
    gaps[gaps.len() / 2]
}

/// The ratios of what is seen to a law, each with the error that it may have. The queue is less than half a round trip
/// beyond what acknowledgements come late by.
fn agrees(path: Path, seen: &Cycles, laws: &[(&str, f64, f64, f64)]) {
    for &(what, is, law, error) in laws {
        println!("{what}: {:.3} of {law:.3}, {path:?}", is / law);
        assert!((is / law - 1.0).abs() < error, "{what}: {is} and {law}, {path:?}");
    }
    assert!(seen.queue_ms < path.rtt_ms as f64 / 2.0, "{} ms, {path:?}", seen.queue_ms);
}

fn error_with(losses: Signals) -> f64 {
    if losses == NONE { 0.02 } else { 0.05 }
}

/// draft-cardwell-iccrg-bbr-00 §4.3: paced at 0.99 of the rate on average, of which losses take their share, but for 200
/// ms and a round trip of each 10 s. The phases of a cycle are seven round trips and the one that probes: with 1.25 *
/// 0.99 - 1 of the product more each round trip, it takes as long as a quarter of the product and room for three bursts
/// need, less the one that leaves next.
fn bbr1(mbps: f64, rtt_ms: u64, losses: Signals) {
    let path = Path { mbps, rtt_ms, losses };
    let seen = path.seen(CongestionSpec::Bbr1(bbr1::Parameters::default()), 4.0);
    let rate = (path.per_second() * 1448.0) as u64;
    let burst = BurstLimit::of_bbr(rate).segments(rate, 1448) as f64;
    let probing = (0.25 * path.product() + 2.0 * burst + 2.0) / (0.2375 * path.product());
    let cycle_s = (7.0 + probing.max(1.0)) * path.rtt_s();
    let probe_s = 0.2 + path.rtt_s();
    let kept = 1.0 - 1.0 / losses.distance() as f64;
    let share = 0.99 * kept * (1.0 - probe_s / (10.0 + probe_s));
    let mut laws = vec![
        ("bbr1 share", seen.share, share, error_with(losses)),
        ("bbr1 cycle", median_gap_s(&seen.ups_s), cycle_s, 0.05),
    ];
    if losses == NONE {
        laws.push(("bbr1 least round trip", median_gap_s(&seen.probes_s), 10.0 + probe_s, 0.02));
    }
    agrees(path, &seen, &laws);
}

/// A cycle of draft-ietf-ccwg-bbr by rounds, in which the line is 1 a round trip: the share that it delivers and how long
/// it takes. A round with a loss in DOWN or CRUISE leaves the greatest rate that was sampled in it, and the next is paced
/// at 0.99 of that, so that even few losses slow it down until it probes: after 2 to 3 s, or as many rounds as Reno would
/// need. That a round loses more than 2 % and bounds what is in flight is not in it.
fn of_bbr3(path: Path) -> (f64, f64) {
    const CYCLES: u32 = 40;
    let (product, mut chooser) = (path.product(), path.losses.chooser());
    let mut is_lost = || f64::from(u8::from(chooser()));
    // The last packets, as many as a round has, and how many of them are lost.
    let (mut last, mut lost_of_last) = (VecDeque::new(), 0.0);
    let (mut queue, mut delivered, mut elapsed) = (0.0, 0.0, 0.0);
    // A round paced with this gain at a rate: the rate that it leaves where it adapts.
    let mut round = |gain: f64, rate: f64| {
        let length = 1.0 + queue;
        let sent = 0.99 * gain * rate * length;
        let packets = (sent * product).round() as usize;
        let (mut losses, mut fewest) = (0.0, f64::INFINITY);
        for _ in 0..packets {
            let lost = is_lost();
            last.push_back(lost);
            losses += lost;
            lost_of_last += lost - last.drain(..last.len().saturating_sub(packets)).sum::<f64>();
            fewest = fewest.min(lost_of_last);
        }
        let waiting = (queue + sent - losses / product - length).max(0.0);
        delivered += queue + sent - losses / product - waiting;
        (queue, elapsed) = (waiting, elapsed + length);
        let sampled = if waiting > 0.0 { 1.0 } else { (sent - fewest / product) / length };
        let adapted = if losses > 0.0 { sampled.min(1.0).max(0.7 * rate) } else { rate };
        (adapted, waiting > 0.0, length)
    };
    for _ in 0..CYCLES {
        // REFILL, and UP until three rounds have brought no quarter more.
        for gain in [1.0, 1.25, 1.25, 1.25, 1.25] {
            round(gain, 1.0);
        }
        let (mut rate, mut rounds, mut waited, mut drains) = (1.0, 0.5, 0.0, true);
        while rounds < product.min(63.0) && waited * path.rtt_s() < 2.5 {
            let (adapted, stands, length) = round(if drains { 0.9 } else { 1.0 }, rate);
            (rate, drains) = (adapted, drains && stands);
            (rounds, waited) = (rounds + 1.0, waited + length);
        }
    }
    (delivered / elapsed, elapsed * path.rtt_s() / f64::from(CYCLES))
}

/// With half of the window for 200 ms and a round trip of each 5 s, after which the wait for a probe begins anew: where
/// two do not fit in between, there is one.
fn bbr3(mbps: f64, rtt_ms: u64, losses: Signals) {
    let path = Path { mbps, rtt_ms, losses };
    let control = CongestionSpec::Bbr3(bbr3::Parameters::default());
    let seen = path.seen(control, 0.5 * path.product() + 2.0);
    let (of_cycle, cycle_s) = of_bbr3(path);
    let probe_s = 0.2 + path.rtt_s();
    let share = of_cycle * (1.0 - 0.5 * probe_s / (5.0 + probe_s));
    let mut laws = vec![("bbr3 share", seen.share, share, error_with(losses))];
    if losses == NONE {
        laws.push(("bbr3 least round trip", median_gap_s(&seen.probes_s), 5.0 + probe_s, 0.02));
        if 2.0 * cycle_s < 5.0 {
            laws.push(("bbr3 cycle", median_gap_s(&seen.ups_s), cycle_s, 0.05));
        } else {
            assert!((5..=9).contains(&seen.ups_s.len()), "{} in 30 s", seen.ups_s.len());
        }
    }
    agrees(path, &seen, &laws);
}

#[test]
fn controls_follow_their_laws() {
    for dialect in [Dialect::Rfc, Dialect::Linux] {
        reno(dialect, 20, Even(400));
        cubic(dialect, 20, Even(400));
        ledbat(dialect, 17.5, false);
    }
    cubic(Dialect::Rfc, 100, Even(4000));
    cubic(Dialect::Ns2, 20, Random(1000));
    ledbat(Dialect::Ns2, 17.5, false);
    cubic(Dialect::Linux, 100, Random(1000));
    dctcp(20, Even(20));
    dctcp(100, Random(20));
    bbr1(20.0, 20, Random(100));
    bbr3(20.0, 20, NONE);
    bbr3(20.0, 20, Random(1000));
}

/// The whole table.
fn laws() -> Vec<Box<dyn Fn()>> {
    let mut laws: Vec<Box<dyn Fn()>> = Vec::new();
    for rtt_ms in [20, 100] {
        for n in [100, 400, 2000, 8000] {
            for dialect in [Dialect::Rfc, Dialect::Linux, Dialect::Ns2] {
                laws.push(Box::new(move || reno(dialect, rtt_ms, Even(n))));
            }
            for dialect in [Dialect::Rfc, Dialect::Linux] {
                laws.push(Box::new(move || reno(dialect, rtt_ms, Random(n))));
            }
        }
        for n in [400, 1000, 4000, 20_000] {
            laws.push(Box::new(move || cubic(Dialect::Rfc, rtt_ms, Even(n))));
            for dialect in [Dialect::Rfc, Dialect::Linux, Dialect::Ns2] {
                laws.push(Box::new(move || cubic(dialect, rtt_ms, Random(n))));
            }
        }
        for n in [10, 20, 50, 100] {
            laws.push(Box::new(move || dctcp(rtt_ms, Random(n))));
        }
        for mbps in [20.0, 100.0] {
            for losses in [NONE, Even(1000), Random(1000), Even(100), Random(100)] {
                laws.push(Box::new(move || bbr1(mbps, rtt_ms, losses)));
                // A loss of 100 segments is more than 2 % of few.
                if losses.distance() >= 1000 || rtt_ms == 100 {
                    laws.push(Box::new(move || bbr3(mbps, rtt_ms, losses)));
                }
            }
        }
    }
    for n in [400, 1000, 4000, 20_000] {
        for dialect in [Dialect::Linux, Dialect::Ns2] {
            laws.push(Box::new(move || cubic(dialect, 20, Even(n))));
        }
    }
    for n in [10, 20, 50, 100] {
        laws.push(Box::new(move || dctcp(20, Even(n))));
    }
    for mbps in [5.0, 17.5, 40.0, 100.0] {
        for dialect in [Dialect::Rfc, Dialect::Linux, Dialect::Ns2] {
            laws.push(Box::new(move || ledbat(dialect, mbps, false)));
        }
        laws.push(Box::new(move || ledbat(Dialect::Linux, mbps, true)));
    }
    laws
}

at_random! {
    1;

    /// One of the table; `make swarm` draws the rest.
    #[test]
    fn swarm_of_laws(number in 0..laws().len()) {
        laws()[number]();
    }
}
