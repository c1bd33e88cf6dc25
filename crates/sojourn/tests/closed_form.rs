//! Runs against arithmetic: each test says what the answer must be and why, and allows for sampling
//! error and for what the arithmetic leaves out, both named, and for nothing else.
//!
//! E1, E3 and so on are the numbers of the analytic checks in the design notes.

use crate::common::{HOME_QUEUES, flow, home, queue, scenario, series};
use crate::queue_kit::datagram;
use sojourn::Simulation;

use sojourn::access;
use sojourn::access::docsis::Modem;
use sojourn::access::{ServiceFlowContext, ShapedLink};
use sojourn::engine::dialect::Dialect;
use sojourn::engine::packet::{Direction, Flags, Packet};
use sojourn::engine::record::Recorder;
use sojourn::engine::record::{Outcome, PacketRecord};
use sojourn::engine::rng::{Rng, Seed};
use sojourn::engine::units::{BitRate, Time};
use sojourn::results::metrics::Results;
use sojourn::scenario::Scenario;
use sojourn::transport::{Endpoint, TcpOptions};

/// Asserts that `got` lies within `error` of `want`.
#[track_caller]
fn assert_near(got: f64, want: f64, error: f64, what: &str) {
    println!("{what}: {got:.5}, expected {want:.5} +- {error:.5}");
    assert!((got - want).abs() <= error, "{what}: {got}, expected {want} +- {error}");
}

// E7, E17: the latency of the MAC with nothing waiting.

/// A stream alone is never delayed by anything but the MAC. A packet waits for the next MAP (0 to
/// 2 ms), its request takes 4 ms to become a grant, and its burst of length b lies anywhere within
/// the interval of 2 ms: (0 to 2 ms) + 4 ms + (0 to 2 ms - b), so 4 to 8 ms - b.
///
/// Beyond that: 218 B on the channel of 100 Mbps take 17.44 us, on the link of 1 Gbps 1.744 us, and
/// the cable 1 ms. In the ns2 dialect b is the time on the channel; in the rfc dialect at least that
/// at the peak rate of 20 Mbps, 87.2 us.
///
/// The mean is 6 ms - b/2 and those. The packets come every 20 + 2 * 0.618... ms: an irrational
/// multiple (golden ratio) of the MAP interval, so the first wait runs through all phases evenly. The
/// second is random, with a deviation of 2/sqrt(12) = 0.577 ms; of 5650 packets in 120 s the mean is
/// off by 0.577/sqrt(5650) = 7.7 us; four times that is allowed.
#[test]
fn a_stream_alone_has_the_latency_of_request_and_grant() {
    for (dialect, burst_ms) in [("ns2", 0.01744), ("rfc", 0.0872)] {
        let results = Simulation::run(&scenario(&format!(
            "duration_s = 120
             cable = {{ timing.kind = 'documents', byte_count = 'ip' }}
             dialect = '{dialect}'
             upstream = {{ sustained_mbps = 5, peak_mbps = 20, burst_bytes = 10_000_000 }}
             downstream = {{ sustained_mbps = 20, peak_mbps = 50, burst_bytes = 10_000_000 }}
             servers.peer = {{ delay_ms = 0 }}
             traffic.game = {{ kind = 'stream', purpose = 'game', direction = 'up', server = 'peer',
                               interval_ms = 21.2360679774998 }}"
        )));
        let row = flow(&results, "game", "up");
        assert!(row.sent_packets > 5600);
        assert_eq!((row.dropped_overflow_packets, row.dropped_aqm_packets), (0, 0));
        assert!(row.sent_packets - row.delivered_packets <= 1, "one may be under way at the end");
        let fixed_ms = 0.01744 + 0.001744 + 1.0;
        let [min, mean, max] =
            [row.latency_min_ms, row.latency_mean_ms, row.latency_max_ms].map(Option::unwrap);
        println!("{dialect}: {min:.4} to {max:.4} ms");
        assert!(min >= fixed_ms + 4.0 && max <= fixed_ms + 8.0 - burst_ms + 1e-9);
        assert_near(mean, fixed_ms + 6.0 - burst_ms / 2.0, 4.0 * 0.0077, dialect);
    }
}

/// A packet alone takes one request, of its size, and one grant, all of which it uses; then there is
/// nothing to do and the modem sleeps.
#[test]
fn a_packet_alone_takes_one_request_and_one_grant() {
    for shaping in ["requests", "transmissions"] {
        let spec: access::Upstream = toml::from_str(&format!(
            "sustained_mbps = 5
             peak_mbps = 20
             burst_bytes = 10_000_000
             shaping = '{shaping}'"
        ))
        .unwrap();
        let mut modem = Modem::new(&spec, &ServiceFlowContext::lone(Dialect::Rfc, 1));
        let mut recorder = Recorder::default();
        assert_eq!(modem.next_wake(), Time::NEVER);
        modem.accept(Time::from_us(500), packet(Time::from_us(500)), &mut recorder);
        let mut sent = 0;
        while modem.next_wake() < Time::NEVER {
            sent += u32::from(modem.wake(modem.next_wake(), &mut recorder).is_some());
        }
        let counters = modem.counters();
        assert_eq!((sent, counters.requests, counters.grants), (1, 1, 1));
        assert_eq!((counters.granted_bytes, counters.unused_bytes), (1500, 0));
    }
}

// E3, D3: the rate shaper, through the whole network.

/// One endless upload into a buffer that is never full.
fn greedy_upload(shaping: &str, duration_s: u32) -> Scenario {
    scenario(&format!(
        "duration_s = {duration_s}
         dialect = 'ns2'
         upstream = {{ sustained_mbps = 5, peak_mbps = 20, burst_bytes = 10_000_000,
                       shaping = '{shaping}', queue.limit_bytes = 1_000_000_000 }}
         downstream = {{ sustained_mbps = 20, peak_mbps = 50, burst_bytes = 10_000_000 }}
         servers.files = {{ delay_ms = 9 }}
         traffic.upload = {{ kind = 'transfer', server = 'files' }}"
    ))
}

const SUSTAINED: f64 = 5e6 / 8.0;
const PEAK: f64 = 20e6 / 8.0;
const BURST: f64 = 10e6;

/// A greedy upload passes at the peak rate of 20 Mbps until the 10 MB of tokens are gone, after
/// 8 * 10 MB / (20 - 5 Mbps) = 5.333 s and 13.333 MB, and at the sustained rate of 5 Mbps from then
/// on; in t seconds no more than 10 MB + 5 Mbps * t.
///
/// What TCP's start costs is taken from the first 0.2 s of the run itself: `deficit`, what it fell
/// short of 20 Mbps, and `waste`, the tokens that came into a bucket that was still full: at most
/// 0.2 s of 5 Mbps, with what is under way at the end. So the peak phase ends at
/// (10 MB + deficit - waste) / (20 - 5 Mbps).
///
/// The series has values for 100 ms, which are 50 whole MAP intervals, as the 10 ms from the modem to
/// the server are 5. So a value varies by the packet that ends in the next one, 1500 B or 0.12 Mbps;
/// at the sustained rate by one more, as the 1250 B of an interval are asked for in this or the next.
#[test]
fn a_greedy_upload_has_its_peak_and_then_its_sustained_rate() {
    for shaping in ["requests", "transmissions"] {
        let duration_s = 20;
        let results = Simulation::run(&greedy_upload(shaping, duration_s));
        let row = flow(&results, "upload", "up");
        assert_eq!(row.dropped_overflow_packets, 0);
        let budget = BURST + SUSTAINED * f64::from(duration_s);
        let waste = budget - row.delivered_bytes as f64;
        println!("{shaping}: {} of {budget} bytes", row.delivered_bytes);
        assert!((0.0..=SUSTAINED * 0.2).contains(&waste), "{shaping}: {waste} bytes less");

        let row = series(&results, "upload up", "throughput");
        assert_eq!(row.interval_s, 0.1);
        let mbps: Vec<f64> = row.series.values.iter().copied().map(f64::from).collect();
        let bytes = |values: &[f64]| values.iter().sum::<f64>() * 1e6 / 8.0 * 0.1;
        let deficit = PEAK * 0.2 - bytes(&mbps[..2]);
        let peak_end = (BURST + deficit - waste) / (PEAK - SUSTAINED);
        let last = (peak_end * 10.0) as usize;
        for (index, value) in mbps.iter().enumerate() {
            // A packet under way takes 10 ms to its server: the change shows up to 12 ms later.
            let allowed = match index {
                0 | 1 => continue,
                _ if index < last => 19.88..=20.12,
                _ if index > last + 1 => 4.76..=5.24,
                _ => 4.76..=20.12,
            };
            assert!(
                allowed.contains(value),
                "{shaping}: {value} Mbps at {} s",
                index as f64 / 10.0
            );
        }
        // By the end of the peak phase: 10 MB + 5 Mbps * t, less the waste.
        let until = bytes(&mbps[..=last + 1]);
        let end_s = (last + 2) as f64 / 10.0;
        assert_near(until, BURST + SUSTAINED * end_s - waste, 3000.0, shaping);
    }
}

/// White 2014 appendix C, the hard bound: in any interval at most span * R + B bytes and at most
/// span * P + 1522 bytes, with R = 5 Mbps, B = 10 MB, P = 20 Mbps, when transmissions are shaped.
///
/// The shaper counts bytes when a piece of a packet begins; the trace has the ends of packets. Let
/// packets 1, 2, 3, ... end at e1 <= e2 <= e3. Pieces are sent one after the other, so all bytes of
/// packets i+1 to j begin at or after ei, and begin before ej. So they lie in an interval of length
/// ej - ei, and the sizes of packets i+1 to j (packet i itself left out, for it may have begun long
/// before) obey the bound as it stands. That holds for all i < j.
///
/// A packet is delivered 1 ms of cable and its time on a link of 1 Tbps after its end; the shortest
/// packet takes 3.2 us on the channel and the longest 12 ns on that link, so none waits there and
/// that time can be taken off exactly.
///
/// In terms of curves: with S(n) the bytes up to packet n, max over i < j of
/// (S(j) - rate * ej) - (S(i) - rate * ei) is the burst.
#[test]
fn no_interval_of_a_run_carries_more_than_the_bound() {
    let results = Simulation::run(&scenario(
        "duration_s = 20
         cable = { timing.kind = 'documents', byte_count = 'ip' }
         upstream = { sustained_mbps = 5, peak_mbps = 20, burst_bytes = 10_000_000 }
         downstream = { sustained_mbps = 20, peak_mbps = 50, burst_bytes = 10_000_000 }
         tcp.congestion_control = { kind = 'cubic', hystart = false }
         servers.near = { delay_ms = 0, rate_mbps = 1_000_000 }
         traffic.upload = { kind = 'transfer', server = 'near', connections = 3 }
         traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near' }
         traffic.burst = { kind = 'stream', purpose = 'data', server = 'near', packet_bytes = 1522,
                           interval_ms = 0.7, start_s = 9, stop_s = 9.5 }
         metrics.packet_trace = true",
    ));
    let ends: Vec<(Time, f64)> = delivered_up(&results)
        .map(|packet| {
            let on_link = BitRate::from_mbps(1e6).time_for(packet.size.into());
            (packet.ended - Time::from_ms(1) - on_link, packet.size.into())
        })
        .collect();
    assert!(ends.len() > 10_000);
    assert!(ends.is_sorted_by_key(|(end, _)| *end));
    let burst = greatest_burst(&ends, SUSTAINED);
    let peak_burst = greatest_burst(&ends, PEAK);
    println!("greatest bursts: {burst:.1} of {BURST}, {peak_burst:.3} of 1522 bytes");
    assert!(burst <= BURST + 1e-3 && peak_burst <= 1522.0 + 1e-3);
    // And the upload uses them up, or the bounds would not have been tested: all but two packets.
    assert!(burst >= BURST - 3000.0 && peak_burst >= 1400.0);
}

fn delivered_up(results: &Results) -> impl Iterator<Item = &PacketRecord> {
    let up = |p: &&PacketRecord| p.direction == Direction::Up && p.outcome == Outcome::Delivered;
    results.packets.iter().filter(up)
}

/// The greatest number of bytes, over all intervals, beyond what `rate` carries in it.
fn greatest_burst(ends: &[(Time, f64)], rate: f64) -> f64 {
    let (mut sum, mut least, mut burst) = (0.0, f64::MAX, f64::MIN);
    for (end, size) in ends {
        sum += size;
        let excess = sum - rate * end.secs_f64();
        burst = f64::max(burst, excess - least);
        least = f64::min(least, excess);
    }
    burst
}

// E1: the downstream as a queue.

fn packet(now: Time) -> Packet {
    Packet { sent_at: now, queued_at: now, direction: Direction::Down, ..datagram(0, 0, 1500) }
}

/// What a queue did: the waits of its packets in ms, and the packets waiting, summed over time.
struct Waits {
    waits_ms: Vec<f64>,
    packet_ms: f64,
    end_ms: f64,
}

/// Poisson arrivals of packets that take 2.4 ms each, at a load of `rho`, until all have left.
fn poisson_into_downstream(rho: f64, packets: usize) -> Waits {
    let spec: access::Downstream = toml::from_str(
        "sustained_mbps = 100
         peak_mbps = 100
         burst_bytes = 10_000_000
         channel_mbps = 5
         queue.limit_bytes = 1_000_000_000",
    )
    .unwrap();
    let service = Time::from_us(2400);
    let mut downstream = ShapedLink::downstream(&spec, &ServiceFlowContext::lone(Dialect::Rfc, 1));
    let mut recorder = Recorder::default();
    let mut rng = Rng::named(1, &format!("arrivals at {rho}"));
    let mut waits = Waits { waits_ms: Vec::new(), packet_ms: 0.0, end_ms: 0.0 };
    let (mut now, mut arrival, mut left) = (Time::ZERO, Time::ZERO, packets);
    while waits.waits_ms.len() < packets {
        let next = arrival.min(downstream.next_wake());
        waits.packet_ms += downstream.inside().packets as f64 * (next - now).ms_f64();
        now = next;
        let sent = if now < arrival {
            downstream.wake(now, &mut recorder)
        } else {
            left -= 1;
            let gap = service.scaled(-(1.0 - rng.uniform()).ln() / rho);
            arrival = if left > 0 { now + gap } else { Time::NEVER };
            downstream.accept(now, packet(now), &mut recorder)
        };
        if let Some(packet) = sent {
            let end = downstream.sent_at();
            waits.waits_ms.push((end - service - packet.queued_at).ms_f64());
        }
    }
    waits.end_ms = now.ms_f64();
    waits
}

/// Mean, and its standard error from the means of 30 batches.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let means: Vec<f64> = values.chunks_exact(values.len() / 30).map(mean).collect();
    let centre = mean(&means);
    let variance = means.iter().map(|m| (m - centre).powi(2)).sum::<f64>() / 29.0;
    (centre, (variance / 30.0).sqrt())
}

/// M/D/1 with 1500 B at 5 Mbps, s = 2.4 ms: the mean wait is rho * s / (2 (1 - rho)): 1.2 ms at 0.5,
/// 4.8 at 0.8, 10.8 at 0.9. Batches of 10 000 packets and more are long beside the memory of the
/// queue (about 1/(1 - rho)^2 = 100 packets), so the error of the mean follows from their spread;
/// 3.66 of it is the 99.9 % interval of Student's t with 29 degrees of freedom. The error itself must
/// be below 2 %, so that the interval means something.
///
/// Little's law on the same run: from empty to empty, packets waiting summed over time equal waits
/// summed over packets. Here the two are the same area cut two ways: they differ by rounding alone.
#[test]
fn the_downstream_is_an_m_d_1_queue() {
    for (rho, want_ms, packets) in [(0.5, 1.2, 300_000), (0.8, 4.8, 300_000), (0.9, 10.8, 900_000)]
    {
        let waits = poisson_into_downstream(rho, packets);
        let (mean, error) = mean_and_error(&waits.waits_ms);
        assert!(error < 0.02 * want_ms, "rho {rho}: the mean is off by {error} ms");
        assert_near(mean, want_ms, 3.66 * error, &format!("wait in ms at rho {rho}"));
        let length = waits.packet_ms / waits.end_ms;
        let all_ms: f64 = waits.waits_ms.iter().sum();
        assert_near(length, all_ms / waits.end_ms, 1e-6, &format!("packets waiting at rho {rho}"));
    }
}

// B1: the retries of a SYN.

/// The timeout starts at 3 s (ns-2) or 1 s (RFC 6298), doubles and stops growing at 60 s: 3, 6, 12,
/// 24, 48, 60, 60 s and 1, 2, 4, 8, 16, 32, 60 s between the tries.
#[test]
fn a_syn_is_tried_again_at_doubling_intervals() {
    for (dialect, want_s) in [
        (Dialect::Ns2, [0, 3, 9, 21, 45, 93, 153, 213]),
        (Dialect::Rfc, [0, 1, 3, 7, 15, 31, 63, 123]),
    ] {
        let config = TcpOptions::default().resolve(dialect);
        let mut end = Endpoint::new(&config, Seed::named(1, "test"));
        end.open();
        let mut now = Time::ZERO;
        let tries = want_s.map(|_| {
            let segment = end.poll(now, &config).expect("a SYN is due").segment;
            assert!(segment.has(Flags::SYN) && end.poll(now, &config).is_none());
            let tried = now;
            now = end.deadline();
            end.on_timer(now, &config);
            tried
        });
        assert_eq!(tries, want_s.map(Time::from_s));
    }
}

// E15: the unloaded page.

/// The page of White & Padden 2012 on an idle line: 100 kB of HTML from the first server, then 25
/// objects of 25 000 B from each of four over six connections each. The farthest server decides: 25
/// objects over 6 connections are 5 rounds.
///
/// A round trip to it takes 2 * (49 + 1) ms and the MAC, 6 ms on average (E7). An object of 18
/// segments (1460 B) takes the handshake and, from a window of 2 that doubles, 2 + 4 + 8 + 4 segments:
/// 5 round trips. The HTML of 69 segments takes the handshake and 2 + 4 + 8 + 16 + 32 + 7: 7 round
/// trips of 2 * (9 + 1) + 6 ms. In all 25 * 106 + 7 * 26 = 2832 ms.
///
/// What that leaves out: each of the 32 round trips waits for at least one packet at the downstream's
/// 50 Mbps (0.24 ms) and at most for those of the five connections beside it (1.2 ms more); and the
/// last round starts with whichever of six connections is the first to be done, which is luckier
/// than average with the MAC. The MAC has 2 ms of spread (deviation 0.8 ms), so the best of six is
/// some 1.3 deviations, or 1 ms, luckier per round trip at the most. So 32 * (0.24 - 1) to
/// 32 * 1.44 ms: -1 to +1.6 %.
///
/// The study itself has 2.756 s, 2.7 % less than the arithmetic. That is 103 ms a round trip where
/// this one has 106: its modem had another MAC, with two queues, that sends at the start of a MAP
/// interval (5 ms on average with nothing waiting), and its round-trip times may count some of it.
#[test]
fn the_unloaded_page_takes_the_round_trips_of_slow_start() {
    let results = Simulation::run(&scenario(
        "duration_s = 600
         dialect = 'ns2'
         upstream = { sustained_mbps = 5, peak_mbps = 20, burst_bytes = 10_000_000 }
         downstream = { sustained_mbps = 20, peak_mbps = 50, burst_bytes = 20_000_000 }
         servers.web1 = { delay_ms = 9 }
         servers.web2 = { delay_ms = 14 }
         servers.web3 = { delay_ms = 24 }
         servers.web4 = { delay_ms = 49 }
         traffic.web = { kind = 'web', servers = ['web1', 'web2', 'web3', 'web4'],
                         objects = { kind = 'fixed' } }",
    ));
    let row = flow(&results, "web", "down");
    assert_eq!(row.loss_percent, Some(0.0));
    let median_s = row.page_load_median_s.unwrap();
    println!(
        "median page load {median_s:.4} s (MAD {:.4}); White & Padden 2012: 2.756 s, {:+.2} %",
        row.page_load_mad_s.unwrap(),
        (median_s / 2.756 - 1.0) * 100.0
    );
    assert!((median_s / 2.756 - 1.0).abs() < 0.05, "far from the study");
    let arithmetic_s = 2.832;
    assert!((0.99..=1.016).contains(&(median_s / arithmetic_s)), "{median_s} s");
}

// White & Rice 2013: what is known of five queue managers.

/// Latencies of the game's packets sent after this time, in ms, ascending.
fn game_latencies_ms(results: &Results, after: Time) -> Vec<f64> {
    let game = results.traffic.iter().position(|name| name == "game").unwrap();
    let mut latencies: Vec<f64> = delivered_up(results)
        .filter(|packet| usize::from(packet.traffic) == game && packet.sent >= after)
        .map(|packet| (packet.ended - packet.sent).ms_f64())
        .collect();
    latencies.sort_by(f64::total_cmp);
    latencies
}

/// The picture of `scenarios/home.toml`, from 15 s on, when the 10 MB of tokens are long gone and the
/// buffers have filled:
///
/// - BufferBloat: 625 000 B at 5 Mbps are 1 s. CUBIC (ns-2: beta 0.8) goes down to 0.8 of a window
///   that is nearly all queue: 0.8 to 1 s with one upload, so the median is above 0.7 s in any case.
/// - Buffer Control: 31 250 B are 50 ms, the MAC adds at most 8 ms, the cable 1 ms: 59 ms, and 1.
/// - CoDel and DOCSIS-PIE hold their target of 10 ms for the queue; with the MAC (6 ms of which are
///   in the queue already) and the cable the median is below 30 ms, thrice the target.
/// - SFQ-CoDel: the game has a bin of its own and uses grants that the upload asked for, so it does
///   not even wait for a request: below 5 ms.
/// - A page needs some 20 round trips, and each has 1 s of queue in BufferBloat: at least 5 times the
///   load time of SFQ-CoDel.
#[test]
fn the_five_queue_managers_of_the_home_show_the_known_picture() {
    let warm = Time::from_s(15);
    let outcomes = HOME_QUEUES.map(|(name, keys)| {
        let mut scenario = home(keys, 60.0);
        scenario.metrics.packet_trace = true;
        let results = Simulation::run(&scenario);
        let latencies = game_latencies_ms(&results, warm);
        assert!(latencies.len() > 1900, "45 s of 50 packets, some lost");
        let p50 = latencies[latencies.len() / 2];
        let max = *latencies.last().unwrap();
        let mut pages: Vec<f64> = results
            .pages
            .iter()
            .filter(|page| page.start_s >= warm.secs_f64())
            .map(|page| page.load_time_s)
            .collect();
        pages.sort_by(f64::total_cmp);
        let page = pages.get(pages.len() / 2).copied();
        let sojourn = queue(&results, "upstream").sojourn_p50_ms.unwrap();
        println!(
            "{name}: game p50 {p50:.1}, max {max:.1} ms; page {page:?} s; queue {sojourn:.1} ms"
        );
        (p50, max, page)
    });
    let [bloat, control, codel, sfq, pie] = outcomes;
    assert!(bloat.0 > 700.0);
    assert!(control.1 <= 60.0);
    assert!(codel.0 < 30.0 && pie.0 < 30.0);
    assert!(sfq.0 < 5.0);
    let bloat_page = bloat.2.expect("a page is loaded in 45 s");
    assert!(bloat_page >= 5.0 * sfq.2.unwrap());
}
