//! DualQ: whom it serves, whom it marks, and what it does when overloaded.

use crate::common::{flow, queue, scenario, series};
use crate::queue_kit::{Rig, classic, datagram, low};
use sojourn::Simulation;
use sojourn::engine::packet::{Ecn, Packet};
use sojourn::engine::units::Time;

fn rig(keys: &str) -> Rig {
    Rig::of(&format!("limit_packets = 100_000\nscheduler = {{ kind = 'dualq', {keys} }}"))
}

/// Both queues hold this many packets.
fn filled(keys: &str, each: u64) -> Rig {
    let mut rig = rig(keys);
    for seq in 1..=each {
        rig.put(low(seq));
        rig.put(classic(seq));
    }
    rig
}

#[test]
fn the_round_robin_gives_each_queue_its_share() {
    // 1600 packets with 1/16 for C: 100 of them; with 25 %: 400; give or take the first turn.
    for (keys, want) in
        [("", 100), ("classic_weight_percent = 25", 400), ("variant = 'linux'", 160)]
    {
        let mut rig = filled(keys, 2000);
        let served = (0..1600).filter(|_| rig.take().unwrap().traffic == 1).count();
        assert!(served.abs_diff(want) <= 2, "{keys}: {served}, expected {want}");
    }
}

#[test]
fn what_a_queue_sends_alone_is_not_charged() {
    // L goes first, and after a packet of it the credit of C is 1500 * 6.25 nearer to its turn: of the next 16 packets
    // one is of C, whichever queue had the link before.
    for first in [low, classic] {
        let mut rig = rig("");
        (1..=101).for_each(|seq| rig.put(first(seq)));
        (1..=100).for_each(|_| assert!(rig.take().is_some()));
        for seq in 102..=200 {
            rig.put(low(seq));
            rig.put(classic(seq));
        }
        let turns: Vec<_> = (0..32).map(|_| rig.take().unwrap().traffic).collect();
        assert_eq!(turns[0], 0);
        assert_eq!(turns.iter().filter(|traffic| **traffic == 1).count(), 2, "{turns:?}");
    }
}

#[test]
fn a_queue_alone_has_the_link() {
    let mut rig = rig("");
    (1..=9).for_each(|seq| rig.put(classic(seq)));
    assert_eq!(rig.drain().len(), 9);
}

#[test]
fn time_shifted_fifo_serves_c_once_its_head_is_50_ms_older() {
    for (older_ms, first) in [(49, 0), (50, 0), (51, 1)] {
        let mut rig = rig("service = 'time_shifted_fifo'");
        rig.put(classic(1));
        rig.now += Time::from_ms(older_ms);
        rig.put(low(1));
        assert_eq!(rig.take().unwrap().traffic, first, "{older_ms}");
    }
}

/// How many of ten heads of L are marked that waited this long before so many others?
fn marks_after(keys: &str, others: u64, waited_us: u64) -> usize {
    let mut rig = rig(keys);
    let mut marked = 0;
    for round in 0..10 {
        (1..=others + 1).for_each(|n| rig.put(low((others + 1) * round + n)));
        rig.now += Time::from_us(waited_us);
        marked += usize::from(rig.take().unwrap().ecn == Ecn::Ce);
        // The others wait no longer than it takes.
        rig.now = rig.now.since(Time::from_us(waited_us));
        rig.drain();
    }
    marked
}

#[test]
fn l_marks_by_its_ramp_or_step() {
    // RFC 9332: at 1000 us one half, 0.5, 1.0, 1.5: yes to the 3rd, 5th, 7th and 9th.
    assert_eq!(marks_after("", 1, 800), 0);
    assert_eq!(marks_after("", 1, 1000), 4);
    assert_eq!(marks_after("", 0, 1000), 0, "one packet is no queue");
    // linux: a step at 1 ms, strictly more, that marks all, even a packet alone.
    assert_eq!(marks_after("variant = 'linux'", 2, 1000), 0);
    assert_eq!(marks_after("variant = 'linux'", 2, 1001), 10);
    assert_eq!(marks_after("variant = 'linux'", 0, 1001), 10);
}

#[test]
fn linux_signals_nothing_while_less_than_two_packets_are_left() {
    // p' = 1 drops all of C. Of 3028 B, 2 * 1514, that stay behind the judged packet, none is too little.
    for (left, dropped) in [(2 * 1514, 1), (2 * 1514 - 1, 0)] {
        let mut rig = at_p("variant = 'linux', target_ms = 15", 1.0);
        let [first, last] = [1514, left - 1514];
        (2..).zip([1500, first, last]).for_each(|(seq, size)| rig.put(datagram(1, seq, size)));
        rig.take();
        assert_eq!(rig.dropped(1), dropped, "{left} B are left");
    }
}

/// A rig with this base probability.
fn at_p(keys: &str, p: f64) -> Rig {
    // With alpha = p and beta = 0, a second over the target gives p.
    let mut rig = rig(&format!("alpha_hz = {p}, beta_hz = 0, {keys}"));
    rig.put(classic(1));
    rig.wait(Time::from_ms(1015));
    // Linux counts gains in 256ths, rounded down once more.
    let most_off = if keys.contains("linux") { 0.004 } else { 1e-6 };
    assert!((rig.gauge("base_probability") - p).abs() < most_off);
    rig.drain();
    rig
}

#[test]
fn c_is_signalled_by_the_square_and_l_by_twice_the_root() {
    // p' = 0.1: 100 of 10 000 in C, 2000 of 10 000 in L, whose delay is 0 here.
    let mut rig = at_p("", 0.1);
    assert!((rig.gauge("coupled_probability") - 0.2).abs() < 1e-6);
    assert!((rig.gauge("classic_probability") - 0.01).abs() < 1e-6);
    let marks = |rig: &mut Rig, ecn| {
        let packets = (1..=10_000).map(|seq| Packet { ecn, ..datagram(2, seq, 1500) });
        packets.for_each(|packet| rig.put(packet));
        let mut marked = 0;
        while let Some(packet) = rig.take() {
            marked += u64::from(packet.ecn == Ecn::Ce);
        }
        marked
    };
    assert!(marks(&mut rig, Ecn::Ect0).abs_diff(100) <= 1);
    assert!(marks(&mut rig, Ecn::Ect1).abs_diff(2000) <= 1);
    assert_eq!(rig.dropped(2), 0);
    assert!((rig.gauge("coupled_marks") - 2000.0).abs() <= 1.0);
    assert_eq!(rig.gauge("native_marks"), 0.0);
    assert_eq!(marks(&mut rig, Ecn::NotEct), 0);
    assert!(rig.dropped(2).abs_diff(100) <= 1);
    rig.assert_conserved();
}

/// With p_C = 0.01 a drop comes with each 100th packet, or the distance between drops has the mean and the
/// standard deviation of a geometric distribution, 100 and 99.5.
#[test]
fn signals_are_spaced_evenly_or_by_chance() {
    let distances = |keys: &str| {
        let mut rig = at_p(keys, 0.1);
        let (mut distances, mut judged, mut seq) = (Vec::new(), 0, 1);
        while judged < 200_000 {
            // Three are left, or sch_dualpi2 would signal nothing.
            while rig.backlog().packets < 4 {
                seq += 1;
                rig.put(datagram(2, seq, 1500));
            }
            let before = rig.dropped(2);
            rig.take();
            let dropped = rig.dropped(2) - before;
            judged += 1 + dropped;
            if dropped > 0 {
                distances.push(judged as f64);
            }
        }
        let each: Vec<f64> = distances.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = each.iter().sum::<f64>() / each.len() as f64;
        let variance = each.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / each.len() as f64;
        (mean, variance.sqrt())
    };
    let (mean, deviation) = distances("");
    assert!((mean - 100.0).abs() < 0.5 && deviation < 1.0, "{mean} {deviation}");
    // Of 2000 distances the mean is within 5 * 99.5 / sqrt(2000) = 11, and twice that of the deviation.
    let (mean, deviation) = distances("variant = 'linux'");
    assert!((mean - 100.0).abs() < 11.0, "{mean}");
    assert!((deviation - 99.5).abs() < 22.0, "{deviation}");
}

#[test]
fn linux_may_drop_as_packets_arrive() {
    // p' = 0.1: of 10 000 packets of C a hundredth is dropped and of L a fifth marked, give or take five
    // standard deviations: 5 sqrt(10 000 * 0.01 * 0.99) = 50, 5 sqrt(10 000 * 0.2 * 0.8) = 200.
    let early = "variant = 'linux', drop_early = true";
    for (keys, at_once) in [("variant = 'linux'", false), (early, true)] {
        let mut rig = at_p(keys, 0.1);
        let put = |rig: &mut Rig, packet: fn(u64) -> Packet| {
            (2..=10_001).for_each(|seq| rig.put(packet(seq)));
        };
        put(&mut rig, classic);
        put(&mut rig, low);
        let signals = |rig: &mut Rig| (rig.dropped(1), rig.gauge("coupled_marks") as u64);
        let before = signals(&mut rig);
        while rig.take().is_some() {}
        let after = signals(&mut rig);
        assert!(after.0.abs_diff(100) < 50 && after.1.abs_diff(2000) < 200, "{keys}: {after:?}");
        assert_eq!(before, if at_once { after } else { (0, 0) }, "{keys}");
        assert_eq!(rig.dropped(0), 0);
        rig.assert_conserved();
    }
    // The step of L is for packets that leave: after 1001 us all are marked, or after 1000 us none.
    assert_eq!(marks_after(early, 2, 1001), 10);
    assert_eq!(marks_after(early, 2, 1000), 0);
    // Less than 2 * 1514 B wait when the second packet comes, and not when the fourth does. Of C all
    // are dropped with p' = 1.
    let mut rig = at_p(&format!("{early}, target_ms = 15"), 1.0);
    (2..=5).for_each(|seq| rig.put(classic(seq)));
    assert_eq!((rig.backlog().packets, rig.dropped(1)), (3, 1));
}

#[test]
fn overload_drops_l_as_it_drops_c() {
    // p' = 0.7 is over 1/k: p_C = 0.49 of L is dropped, and what is left is marked.
    let mut rig = at_p("", 0.7);
    (1..=10_000).for_each(|seq| rig.put(low(seq)));
    let out: Vec<_> = std::iter::from_fn(|| rig.take()).collect();
    assert!(rig.dropped(0).abs_diff(4900) <= 1, "{}", rig.dropped(0));
    assert!(out.iter().filter(|packet| packet.ecn != Ecn::Ce).count() <= 1);
    // C drops even what could be marked: p_C is over 0.25.
    (1..=10_000).for_each(|seq| rig.put(Packet { ecn: Ecn::Ect0, ..classic(seq + 1) }));
    while rig.take().is_some() {}
    assert!(rig.dropped(1).abs_diff(4900) <= 1, "{}", rig.dropped(1));
}

#[test]
fn overload_may_mark_only() {
    let mut rig = rig("overload = 'mark', alpha_hz = 0.7, beta_hz = 0");
    rig.put(classic(1));
    rig.wait(Time::from_ms(1015));
    // 0.7 is cut to 1/k = 0.5.
    assert!((rig.gauge("base_probability") - 0.5).abs() < 1e-6);
    rig.drain();
    (1..=100).for_each(|seq| rig.put(low(seq)));
    assert_eq!(rig.drain().len(), 100);
}

#[test]
fn both_queues_share_one_limit() {
    let mut rig = Rig::of("limit_packets = 3\nscheduler.kind = 'dualq'");
    [classic(1), classic(2), low(1), low(2), classic(3)].into_iter().for_each(|p| rig.put(p));
    assert_eq!((rig.backlog().packets, rig.dropped(0), rig.dropped(1)), (3, 1, 1));
    rig.assert_conserved();
}

/// The share of packets dropped, and the greatest sojourn time in ms, in the last half of 60 s, of a load
/// of `x` times the link of 10 Mb/s that does not slow down.
fn overload(keys: &str, x: f64, packet: impl Fn(u64) -> Packet) -> (f64, f64) {
    let mut rig = rig(keys);
    // A packet of 1500 B every 1.2 ms leaves.
    let ticks = 50_000;
    let (mut sent, mut due, mut dropped_before, mut longest) = (0, 0.0, 0, Time::ZERO);
    let mut sent_before = 0;
    for tick in 0..ticks {
        if tick == ticks / 2 {
            (sent_before, dropped_before) = (sent, rig.dropped(0) + rig.dropped(1));
        }
        due += x;
        while due >= 1.0 {
            due -= 1.0;
            sent += 1;
            rig.put(packet(sent));
        }
        rig.wait(Time::from_us(1200));
        let left = rig.take();
        if tick >= ticks / 2
            && let Some(left) = left
        {
            longest = longest.max(rig.now.since(left.queued_at));
        }
    }
    let dropped = rig.dropped(0) + rig.dropped(1) - dropped_before;
    (dropped as f64 / (sent - sent_before) as f64, longest.ms_f64())
}

#[test]
fn a_load_that_does_not_slow_down_is_cut_to_the_link() {
    // RFC 9332 §4.2: of x times the link (x - 1)/x must go, whichever queue it is in, and the delay stays
    // near the target of 15 ms; drops by chance let it wander further.
    for (x, want) in [(1.4, 0.2857), (2.0, 0.5)] {
        for (keys, most_ms) in [("", 30.0), ("variant = 'linux'", 60.0)] {
            let (dropped, longest_ms) = overload(keys, x, classic);
            assert!((dropped - want).abs() < 0.01, "C, {keys} {x}: {dropped}");
            assert!(longest_ms < most_ms, "C, {keys} {x}: {longest_ms} ms");
            let (dropped, longest_ms) = overload(keys, x, low);
            assert!((dropped - want).abs() < 0.01, "L, {keys} {x}: {dropped}");
            assert!(longest_ms < most_ms, "L, {keys} {x}: {longest_ms} ms");
        }
    }
}

/// Datagrams at `x` times the 10 Mb/s of a link for two minutes: the mean p_C of the second one, and the
/// median sojourn time in ms of the queue that they go to.
fn overloaded(ecn: &str, x: f64, member: &str) -> (f64, f64) {
    let results = Simulation::run(&scenario(&format!(
        "duration_s = 120
         upstream = {{ sustained_mbps = 10, peak_mbps = 10, burst_bytes = 3044, modem.kind = 'link',
                       queue.scheduler.kind = 'dualq' }}
         downstream = {{ sustained_mbps = 10, peak_mbps = 10, burst_bytes = 3044 }}
         servers.near = {{ delay_ms = 5 }}
         traffic.load = {{ kind = 'stream', purpose = 'data', server = 'near', ecn = '{ecn}',
                           packet_bytes = 1000, interval_ms = {} }}",
        0.8 / x
    )));
    let values = &series(&results, "upstream", "classic_probability").series.values;
    let late = &values[values.len() / 2..];
    let mean = late.iter().sum::<f32>() / late.len() as f32;
    let row = queue(&results, &format!("upstream {member}"));
    (mean.into(), row.sojourn_p50_ms.unwrap())
}

#[test]
fn overload_drops_what_is_too_much() {
    // Of x times the rate a share of 1 - 1/x must go: 1/6, 2/7, 1/2. So long as the limit does not drop it,
    // p_C does, and the queue stays at its target of 15 ms. In L that takes p_C of 1/4 or more, from where
    // on packets of L are dropped.
    for (ecn, x, member) in [
        ("not_ect", 1.2, "classic"),
        ("not_ect", 1.4, "classic"),
        ("not_ect", 2.0, "classic"),
        ("ect1", 1.4, "low_latency"),
        ("ect1", 2.0, "low_latency"),
    ] {
        let (p, delay_ms) = overloaded(ecn, x, member);
        let want = 1.0 - 1.0 / x;
        assert!((p / want - 1.0).abs() < 0.03, "{ecn} {x}: {p} {want}");
        assert!((delay_ms - 15.0).abs() < 2.0, "{ecn} {x}: {delay_ms} ms");
    }
}

/// What ten flows of a kind had beside ten of the other kind.
struct Shared {
    mbps: f64,
    round_trip_ms: f64,
    /// Share of packets marked or dropped.
    signalled: f64,
}

impl Shared {
    /// Window of a flow in packets of 1514 B.
    fn window(&self) -> f64 {
        self.mbps / 10.0 * self.round_trip_ms * 1e3 / (8.0 * 1514.0)
    }
}

/// Ten Prague and ten Reno flows with this base round trip on a link of 100 Mb/s.
fn prague_beside_reno(base_ms: f64) -> [Shared; 2] {
    let text = format!(
        "duration_s = 40
         upstream = {{ sustained_mbps = 100, peak_mbps = 100, burst_bytes = 3000,
                      modem.kind = 'link',
                      queue = {{ limit_packets = 10_000, scheduler.kind = 'dualq' }} }}
         downstream = {{ sustained_mbps = 10_000, peak_mbps = 10_000, burst_bytes = 1_000_000 }}
         cable.delay_ms = 0.01
         servers.far = {{ delay_ms = {}, rate_mbps = 100_000 }}
         traffic.prague = {{ kind = 'transfer', server = 'far', direction = 'up', connections = 10,
                            tcp.congestion_control = {{ kind = 'prague', rtt_independence = false }} }}
         traffic.reno = {{ kind = 'transfer', server = 'far', direction = 'up', connections = 10,
                          tcp.congestion_control.kind = 'reno' }}",
        base_ms / 2.0 - 0.01
    );
    let results = Simulation::run(&scenario(&text));
    ["prague", "reno"].map(|name| {
        let row = flow(&results, name, "up");
        let signals = row.marked_packets + row.dropped_aqm_packets;
        Shared {
            mbps: row.throughput_mbps,
            round_trip_ms: row.latency_mean_ms.unwrap() + base_ms / 2.0,
            signalled: signals as f64 / row.sent_packets as f64,
        }
    })
}

#[test]
fn the_coupling_gives_prague_and_reno_the_ratio_of_the_rfc() {
    // RFC 9332 appendix C.2: W_C = 1.22 / sqrt(p_C), W_L = 2 / p_CL, p_C = (p_CL / k)^2 with k = 2, so the
    // rates are as r_L / r_C = R_C / (1.22 R_L) (10), with the round trips as they are: at a base of
    // 20 ms (20 + 15) / (1.22 * 20) = 1.43. With ten flows of a kind the base probability is steady, as
    // the equations have it; that of one flow of each kind swings with its window.
    let is_near = |got: f64, want: f64, error: f64, what: &str| {
        assert!((got / want - 1.0).abs() < error, "{what}: {got}, expected {want}");
    };
    for base_ms in [10.0, 20.0] {
        let [prague, reno] = prague_beside_reno(base_ms);
        let ratio = prague.mbps / reno.mbps;
        is_near(ratio, reno.round_trip_ms / (1.22 * prague.round_trip_ms), 0.15, "rates");
        is_near(prague.signalled, 2.0 * reno.signalled.sqrt(), 0.08, "coupling");
        is_near(prague.window() * prague.signalled, 2.0, 0.2, "Prague's window");
        is_near(reno.window() * reno.signalled.sqrt(), 1.22, 0.25, "Reno's window");
        is_near(reno.round_trip_ms - base_ms, 15.0, 0.1, "queue of C");
    }
}
