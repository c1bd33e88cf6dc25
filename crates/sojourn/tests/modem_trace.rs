//! The trace of a modem and the parts of delay that come from it, against arithmetic.

use crate::common::{HOME_QUEUES, home, scenario};
use sojourn::Simulation;
use sojourn::engine::packet::Direction;
use sojourn::engine::record::Outcome;
use sojourn::engine::record::{Delay, Part};
use sojourn::engine::record::{ModemEvent, ModemEventKind};
use sojourn::engine::units::Time;
use sojourn::results::metrics::Results;
use sojourn::scenario::Scenario;

fn traced(mut scenario: Scenario) -> Results {
    scenario.metrics.packet_trace = true;
    scenario.metrics.modem_trace = true;
    Simulation::run(&scenario)
}

/// A service of 5/20 Mbps with these keys, and a server at no distance but the cable's millisecond.
fn on(keys: &str) -> Scenario {
    scenario(&format!(
        "duration_s = 10
         cable = {{ timing.kind = 'documents', byte_count = 'ip' }}
         downstream = {{ sustained_mbps = 20, peak_mbps = 50, burst_bytes = 100_000 }}
         servers.near = {{ delay_ms = 0, rate_mbps = 1_000_000, host_jitter_us = 0 }}
         {keys}"
    ))
}

const SERVICE: &str = "sustained_mbps = 5, peak_mbps = 20, burst_bytes = 100_000";

/// Someone uploads, calls and browses: by two service flows, of which the primary one is traced.
const CROWD: &str = "
    traffic.upload = { kind = 'transfer', server = 'near', connections = 2 }
    traffic.bulk = { kind = 'transfer', server = 'near', file_bytes = 50_000, pause_s = 0.3,
                     tcp = { ecn = 'classic' } }
    traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near' }
    traffic.pages = { kind = 'web', servers = ['near'], html_bytes = 20_000,
                      objects = { kind = 'appendix_a' } }";

/// All kinds of modems, with queue managers that drop at both ends of the queue and in between.
fn all() -> Vec<(String, Scenario)> {
    let mut all = Vec::new();
    for dialect in ["ns2", "rfc"] {
        for (name, queue) in HOME_QUEUES {
            let mut home = home(queue, 15.0);
            home.dialect = toml::Value::from(dialect).try_into().unwrap();
            home.traffic.swap_remove("web"); // its TCP is ns-2's
            all.push((format!("{name} {dialect}"), home));
        }
    }
    let sfq = "queue = { scheduler = { kind = 'fq' }, law = { kind = 'codel' } }";
    for modem in [
        "{ kind = 'link' }",
        "{ kind = 'shared_channel' }",
        "{ kind = 'two_queues' }",
        "{ kind = 'two_queues', back_pressure = true }",
    ] {
        for queue in [sfq, "queue = { law = { kind = 'docsis_pie' } }, mac = {}"] {
            let upstream = format!("upstream = {{ {SERVICE}, modem = {modem}, {queue} }}\n");
            all.push((format!("{modem} {queue}"), on(&format!("{upstream}{CROWD}"))));
        }
    }
    let neighbours = "homes.ours = {}\nhomes.theirs = { count = 8 }
        upstream_channel = { channels = 1 }
        traffic.theirs = { kind = 'transfer', server = 'near', home = 'theirs' }";
    let shared = format!("upstream = {{ {SERVICE}, modem = {{ kind = 'shared_channel' }} }}");
    all.push(("neighbours".to_owned(), on(&format!("{shared}\n{neighbours}\n{CROWD}"))));
    all
}

/// The parts on which a packet spent time.
fn spent(delay: &Delay) -> Vec<(Part, Time)> {
    let parts = Part::ALL.into_iter().zip(delay.parts);
    parts.filter(|(_, time)| *time > Time::ZERO).collect()
}

/// Each instant of a packet's way is in one part: they add up to its latency to the picosecond, of every packet
/// that was delivered. Those of all packets of an entry are at most its counters, in which others are too.
#[test]
fn parts_add_up_to_the_latency_of_each_packet() {
    for (name, scenario) in all() {
        let results = traced(scenario);
        let delivered =
            results.packets.iter().filter(|packet| packet.outcome == Outcome::Delivered);
        let want: Vec<_> = delivered.map(|p| (p.number, p.ended.since(p.sent))).collect();
        let got: Vec<_> = results.delays.iter().map(|d| (d.packet, d.total())).collect();
        assert!(want.len() > 500, "{name}: {}", want.len());
        assert_eq!(got.len(), want.len(), "{name}");
        for (got, want) in got.iter().zip(&want) {
            assert_eq!(got, want, "{name}");
        }
        let totals = results.delay_parts.iter().filter(|row| row.part == "total");
        for total in totals {
            let parts = results.delay_parts.iter().filter(|row| {
                (&row.traffic, row.direction) == (&total.traffic, total.direction)
                    && row.part != "total"
            });
            let sum: f64 = parts.map(|row| row.mean_ms).sum();
            assert!((sum - total.mean_ms).abs() < 1e-6, "{name}: {sum}, {total:?}");
        }
        for row in results.delay_parts.iter().filter(|row| row.part != "total") {
            let index = results.traffic.iter().position(|name| *name == row.traffic).unwrap();
            let part = Part::ALL.into_iter().find(|part| part.name() == row.part).unwrap();
            let is_of = |of: &&Delay| {
                usize::from(of.traffic) == index && of.direction.name() == row.direction
            };
            let delays = results.delays.iter().filter(is_of);
            let traced_ms: f64 = delays.map(|delay| delay.parts[part as usize].ms_f64()).sum();
            let all_ms = row.mean_ms * row.sent_packets as f64;
            assert!(traced_ms <= all_ms * (1.0 + 1e-9) + 1e-6, "{name}: {traced_ms}, {row:?}");
        }
    }
}

/// Of packets that are all delivered the sums of the trace are the counters.
#[test]
fn sums_of_the_trace_are_the_counters() {
    let results = traced(on(&format!(
        "upstream = {{ {SERVICE} }}
         traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near', stop_s = 9 }}
         traffic.save = {{ kind = 'transfer', server = 'near', file_bytes = 100_000, pause_s = 1, stop_s = 9 }}"
    )));
    assert!(results.packets.iter().all(|packet| packet.outcome == Outcome::Delivered));
    let mut parts = 0;
    for (number, name) in results.traffic.iter().enumerate() {
        for direction in Direction::BOTH {
            for part in Part::ALL {
                let is_of =
                    |of: &&Delay| (usize::from(of.traffic), of.direction) == (number, direction);
                let times = results.delays.iter().filter(is_of).map(|of| of.parts[part as usize]);
                let sum_ms = times.fold(Time::ZERO, |sum, time| sum + time).ms_f64();
                let row = results.delay_parts.iter().find(|row| {
                    (&row.traffic, row.direction, row.part) == (name, direction.name(), part.name())
                });
                let counted_ms = row.map_or(0.0, |row| row.mean_ms * row.sent_packets as f64);
                assert!((sum_ms - counted_ms).abs() <= 1e-9 * sum_ms, "{name} {part:?}");
                parts += u32::from(row.is_some());
            }
        }
    }
    assert!(parts > 15, "{parts}");
}

/// The account of the trace: what waits is what came and neither left nor was dropped; bytes are not
/// sent that were not granted before, nor granted that were not requested.
#[test]
fn nothing_is_sent_without_a_grant_nor_granted_without_a_request() {
    for (name, scenario) in all() {
        let results = traced(scenario);
        let (mut asked, mut granted, mut used, mut waiting) = (0, 0, 0, 0);
        let mut last = Time::ZERO;
        for event in &results.modem_events {
            assert!(event.at >= last, "{name}");
            last = event.at;
            match event.kind {
                ModemEventKind::Arrive => waiting += 1,
                ModemEventKind::Drop(_) | ModemEventKind::Dequeue => waiting -= 1,
                ModemEventKind::Request => asked += event.bytes,
                ModemEventKind::Map => granted += event.bytes,
                ModemEventKind::Piece | ModemEventKind::Unused => used += event.bytes,
                _ => {}
            }
            assert_eq!(event.backlog.packets, waiting, "{name} at {:?}", event.at);
            assert!(granted <= asked, "{name}: {granted} of {asked} at {:?}", event.at);
            let has_mac = !name.contains("link");
            assert!(used <= granted || !has_mac, "{name}: {used} of {granted}");
        }
        assert!(used > 1_000_000, "{name}: {used}");
    }
}

fn packet(results: &Results, number: u64, kind: ModemEventKind) -> &ModemEvent {
    let is_meant = |e: &&ModemEvent| e.packet == Some(number) && e.kind == kind;
    results.modem_events.iter().find(is_meant).expect("it happened")
}

/// A lone packet of 200 B waits for the next MAP, at a whole multiple of 2 ms, is granted two MAPs on
/// (4 ms), sent at a random place of that interval, for 1600 bits / 100 Mbps = 16 us, and is 1 ms on
/// the cable and 1.6 ns on the link. Nothing is before it, and the buckets are full.
#[test]
fn a_packet_alone_waits_for_request_and_grant() {
    let results = traced(on(&format!(
        "upstream = {{ {SERVICE} }}
         traffic.game = {{ kind = 'stream', purpose = 'game', direction = 'up', server = 'near', packet_bytes = 200,
                           interval_ms = 21.236 }}"
    )));
    let (ms, ps) = (Time::from_ms, Time::from_ps);
    assert!(results.delays.len() > 400);
    let mut places = Vec::new();
    for delay in &results.delays {
        let sent = packet(&results, delay.packet, ModemEventKind::Arrive).at;
        let grant_wait = delay.parts[Part::GrantWait as usize];
        let want = [
            (Part::RequestWait, ms(2).since(ps(sent.ps() % ms(2).ps()))),
            (Part::GrantWait, grant_wait),
            (Part::Transmission, Time::from_us(16) + ps(1600)),
            (Part::Propagation, ms(1)),
        ];
        assert_eq!(spent(delay), want);
        let place = grant_wait.since(ms(4));
        assert!(grant_wait >= ms(4) && place < ms(2), "{grant_wait:?}");
        places.push(place.ms_f64());
    }
    // Uniform in 0 to 2 ms less the grant at the peak rate, 80 us: 0.96 ms in the mean, with a
    // standard error of 0.554 ms / sqrt(470) = 0.026 ms.
    let mean = places.iter().sum::<f64>() / places.len() as f64;
    assert!((mean - 0.96).abs() < 4.0 * 0.026, "{mean}");
}

/// Two packets at once share request and grant; the second waits in it for the first: 16 us at the
/// channel's rate, and then until the peak bucket of 1522 B has 1200 B for it. It had 322 B left and
/// has gained 96 us * 20 Mbps / 8 = 240 B: 638 B are lacking, 255.2 us.
#[test]
fn the_second_of_two_packets_waits_behind_the_first() {
    let results = traced(on(&format!(
        "upstream = {{ {SERVICE} }}
         traffic.a = {{ kind = 'stream', purpose = 'data', server = 'near', packet_bytes = 1200,
                        interval_ms = 100, start_s = 0.001 }}
         traffic.b = {{ kind = 'stream', purpose = 'data', server = 'near', packet_bytes = 1200,
                        interval_ms = 100, start_s = 0.001 }}"
    )));
    let pairs = results.delays.chunks_exact(2).filter(|pair| pair[0].traffic == 0);
    let mut count = 0;
    for pair in pairs {
        let part = |index: usize, part: Part| pair[index].parts[part as usize];
        for same in [Part::Transmission, Part::Propagation] {
            assert_eq!(part(0, same), part(1, same), "{same:?}");
        }
        assert_eq!(part(0, Part::ModemQueue) + part(0, Part::Shaping), Time::ZERO);
        let head = part(0, Part::RequestWait) + part(0, Part::GrantWait);
        assert_eq!(part(1, Part::RequestWait) + part(1, Part::GrantWait), Time::ZERO);
        assert_eq!(part(1, Part::ModemQueue), head + Time::from_us(96));
        assert_eq!(part(1, Part::Shaping), Time::from_ps(255_200_000));
        count += 1;
    }
    assert_eq!(count, 100);
}

/// Without a MAC: of two packets of 1000 B at once the second waits 0.4 ms for the first at the peak
/// rate of 20 Mbps. The bucket of 1522 B then has 522 B and 0.4 ms * 1 Mbps / 8 = 50 B: 428 B are
/// lacking, 3.424 ms at 1 Mbps. (The peak bucket has filled by then.)
#[test]
fn behind_a_link_there_are_queue_and_shaping_alone() {
    let results = traced(on("upstream = { sustained_mbps = 1, peak_mbps = 20, burst_bytes = 1522,
                      modem.kind = 'link' }
         traffic.a = { kind = 'stream', purpose = 'data', server = 'near', packet_bytes = 1000,
                       interval_ms = 100, start_s = 0 }
         traffic.b = { kind = 'stream', purpose = 'data', server = 'near', packet_bytes = 1000,
                       interval_ms = 100, start_s = 0 }"));
    let us = Time::from_us;
    let second: Vec<_> = results.delays.iter().filter(|delay| delay.traffic == 1).collect();
    assert_eq!(second.len(), 100);
    for delay in second {
        let want = [
            (Part::ModemQueue, us(400)),
            (Part::Shaping, us(3424)),
            (Part::Transmission, us(400) + Time::from_ps(8000)),
            (Part::Propagation, us(1000)),
        ];
        assert_eq!(spent(delay), want);
    }
}

/// In the two-queue modem, of two packets of 1000 B at once the second is taken when the first has its
/// tokens, at once, and then held itself: the bucket of 1522 B lacks 478 B, 3.824 ms at 1 Mbps. The next
/// MAP is 0.176 ms on, grants come two MAPs later and are sent from the start of the interval (White &
/// Padden 2012 §2.2.2), at 100 Mbps for 80 us. So the second is behind the first from 3.824 to 6.08 ms, and is
/// the head until 8 ms.
#[test]
fn before_a_transmit_queue_packets_wait_for_tokens() {
    let results = traced(on("upstream = { sustained_mbps = 1, peak_mbps = 20, burst_bytes = 1522,
                      modem = { kind = 'two_queues' } }
         traffic.a = { kind = 'stream', purpose = 'data', server = 'near', packet_bytes = 1000,
                       interval_ms = 100, start_s = 0 }
         traffic.b = { kind = 'stream', purpose = 'data', server = 'near', packet_bytes = 1000,
                       interval_ms = 100, start_s = 0 }"));
    let us = Time::from_us;
    for delay in &results.delays {
        let mut want = match delay.traffic {
            0 => vec![(Part::RequestWait, us(2000)), (Part::GrantWait, us(4000))],
            _ => vec![
                (Part::ModemQueue, us(2256)),
                (Part::GrantWait, us(1920)),
                (Part::Shaping, us(3824)),
            ],
        };
        want.push((Part::Transmission, us(80) + Time::from_ps(8000)));
        want.push((Part::Propagation, us(1000)));
        assert_eq!(spent(delay), want);
    }
    assert_eq!(results.delays.len(), 200);
}

/// On the shared channel a lone packet of 218 B is requested in contention at the next MAP, granted two
/// MAPs on and sent anywhere in the interval before the least request region of 12.5 us, for 8 minislots
/// or 25 us (shared_channel.rs has the arithmetic); bytes last a whole number of picoseconds.
#[test]
fn on_a_shared_channel_a_packet_alone_waits_for_request_and_grant() {
    let results = traced(on(&format!(
        "upstream = {{ {SERVICE}, modem = {{ kind = 'shared_channel' }} }}
         traffic.game = {{ kind = 'stream', purpose = 'game', direction = 'up', server = 'near',
                           interval_ms = 21.236 }}"
    )));
    let (ms, us) = (Time::from_ms, Time::from_us);
    assert!(results.delays.len() > 400);
    for delay in &results.delays {
        let sent = packet(&results, delay.packet, ModemEventKind::Arrive).at;
        let [request_wait, grant_wait, transmission] =
            [Part::RequestWait, Part::GrantWait, Part::Transmission]
                .map(|part| delay.parts[part as usize]);
        assert_eq!(request_wait + grant_wait + transmission + ms(1), delay.total());
        assert_eq!(request_wait, ms(2).since(Time::from_ps(sent.ps() % ms(2).ps())));
        assert!((us(4000)..=us(5963)).contains(&grant_wait), "{grant_wait:?}");
        assert!(us(25).since(transmission) < Time::from_ps(300), "{transmission:?}");
    }
}

/// The bucket's level: 100 000 B at first; a request of 200 B under shaping of requests leaves
/// 99 800 B, and 200 B come back at 5 Mbps in 320 us.
#[test]
fn the_level_is_that_of_the_sustained_bucket() {
    let results = traced(on(&format!(
        "dialect = 'ns2'
         upstream = {{ {SERVICE} }}
         traffic.game = {{ kind = 'stream', purpose = 'game', direction = 'up', server = 'near', packet_bytes = 200,
                           interval_ms = 50, start_s = 0.001 }}"
    )));
    let arrival = packet(&results, 0, ModemEventKind::Arrive);
    assert_eq!(arrival.at, Time::from_ms(1));
    let request = |e: &&ModemEvent| e.kind == ModemEventKind::Request;
    let request = results.modem_events.iter().find(request).unwrap();
    assert_eq!(request.bytes, 200);
    // The MAP that grants it comes 4 ms later.
    let granting = |e: &&ModemEvent| e.kind == ModemEventKind::Map && e.bytes > 0;
    let map = results.modem_events.iter().find(granting).unwrap();
    for (event, tokens) in [(arrival, 100_000.0), (request, 99_800.0), (map, 100_000.0)] {
        assert!((event.tokens - tokens).abs() < 1e-6, "{event:?}");
    }
}
