//! The plant with all its parts, packet by packet. Packets of 1000 B and a cable of 1 ms.

use super::super::downstream_channel;
use super::super::for_tests::{MS, SERVICE, US, packet};
use super::super::parameters::{ByteCount, Cable};
use super::super::upstream_channel::{GrantPlace, UpstreamChannel};
use super::*;
use crate::service::{Downstream, Upstream};
use crate::{Alarms, Extent};
use sojourn_engine::dialect::Dialect;
use sojourn_engine::record::{DelayBook, Recorder, ServiceFlowBook, Trace};
use sojourn_engine::wake::Wake;

#[path = "plant_link_tests.rs"]
mod link;

/// Homes on a plant: for each group its number of homes, the keys of its service up and down, and its distance.
struct Homes<'a> {
    cable: Cable,
    channel: UpstreamChannel,
    cmts: Option<downstream_channel::Cmts>,
    groups: Vec<(u16, &'a str, &'a str, Option<f64>)>,
}

impl Homes<'_> {
    fn of<'a>(groups: &[(u16, &'a str, &'a str, Option<f64>)]) -> Homes<'a> {
        let channel = UpstreamChannel {
            request_opportunities: Some(8),
            backoff_start: Some(3),
            grant_place: Some(GrantPlace::Start),
            ..super::super::for_tests::plain_channel()
        };
        let cable = Cable { byte_count: Some(ByteCount::Ethernet), ..Cable::default() };
        Homes { cable, channel, cmts: None, groups: groups.to_vec() }
    }

    /// What `of` says of the plant.
    fn with<T>(&self, of: impl FnOnce(&PlantSpec, &Site) -> T) -> T {
        let up = |keys: &str| -> Upstream { toml::from_str(&format!("{SERVICE}{keys}")).unwrap() };
        let down = |keys: &str| -> Downstream {
            toml::from_str(&format!("sustained_mbps = 100\n{keys}")).unwrap()
        };
        let services: Vec<_> = self
            .groups
            .iter()
            .map(|(_, keys, downstream, _)| (up(keys), down(downstream)))
            .collect();
        let groups = self.groups.iter().zip(&services).map(
            |((count, _, _, distance_km), (upstream, downstream))| Group {
                name: "homes",
                count: *count,
                upstream,
                downstream,
                distance_km: *distance_km,
                router: None,
                base: None,
            },
        );
        let (extent, dialect) = (Extent::Whole, Dialect::Rfc);
        let site = Site {
            groups: groups.collect(),
            traffic: vec!["all"],
            watch_flows: 0,
            extent,
            dialect,
            seed: 1,
        };
        let Self { cable, channel, cmts, .. } = self;
        of(&PlantSpec { cable, upstream_channel: channel, cmts: cmts.as_ref() }, &site)
    }

    fn start(&self) -> Net {
        let plant = self.with(Docsis::new);
        let up = plant.parts(Direction::Up);
        let mut wake = Wake::new((up + plant.parts(Direction::Down)) as usize);
        for direction in Direction::BOTH {
            let first = if direction == Direction::Up { 0 } else { up };
            for part in 0..plant.parts(direction) {
                wake.set(first + part, plant.first_wake(direction, part));
            }
        }
        let flows = self.groups.iter().map(|(count, ..)| (*count, [4, 4]));
        let trace = Trace::new(false, true);
        let delays = DelayBook::new(Time::ZERO, 1, false);
        let book = ServiceFlowBook::new(flows);
        let recorder = Recorder::new(book, delays, trace, Time::NEVER);
        Net { plant, wake, first: [0, up], recorder, arrived: Vec::new() }
    }
}

const LINK: &str = "modem.kind = 'link'\n";
const SHARED: &str = "modem.kind = 'shared_channel'\n";

/// A plant at work, and the packets that have crossed it: when, and their numbers.
struct Net {
    plant: Docsis,
    wake: Wake,
    first: [u32; 2],
    recorder: Recorder,
    arrived: Vec<(Time, u8)>,
}

impl Net {
    fn run(&mut self, until: Time) {
        while self.wake.next() <= until {
            let (now, stage) = (self.wake.next(), self.wake.next_stage());
            let direction = if stage < self.first[1] { Direction::Up } else { Direction::Down };
            let part = stage - self.first[direction as usize];
            let mut alarms = Alarms::new(&mut self.wake, self.first);
            let crossed = self.plant.wake(now, direction, part, &mut alarms, &mut self.recorder);
            self.arrived.extend(crossed.map(|(at, packet)| (at, packet.number[0])));
        }
    }

    /// A packet of 1000 B of this home's flow.
    fn put(&mut self, at: Time, direction: Direction, (home, service_flow): (u16, u8), number: u8) {
        self.run(at);
        let packet = Packet { home, service_flow, direction, ..packet(number, 1000) };
        let mut alarms = Alarms::new(&mut self.wake, self.first);
        let crossed = self.plant.accept(at, packet, &mut alarms, &mut self.recorder);
        self.arrived.extend(crossed.map(|(at, packet)| (at, packet.number[0])));
    }

    fn up(&mut self, at: Time, home: u16, number: u8) {
        self.put(at, Direction::Up, (home, 0), number);
    }

    fn down(&mut self, at: Time, home: u16, number: u8) {
        self.put(at, Direction::Down, (home, 0), number);
    }

    /// What has crossed by then.
    fn all(&mut self) -> Vec<(Time, u8)> {
        self.run(MS(500));
        assert_eq!(self.plant.inside(), Count::default());
        let mut arrived = std::mem::take(&mut self.arrived);
        arrived.sort_by_key(|(_, number)| *number);
        arrived
    }
}

/// 8 us on a channel of 1 Gbps, ten times the rate, and the cable; the second waits for the first.
#[test]
fn packets_to_a_home_pass_its_flow_and_the_cable() {
    let mut net = Homes::of(&[(1, "", "", None)]).start();
    net.down(MS(1), 0, 0);
    net.down(MS(1), 0, 1);
    net.run(US(1500));
    assert_eq!(net.plant.inside(), Count { packets: 2, bytes: 2000 });
    // The bucket of the peak rate, 1522 B, lacks 478 B of the second packet, less 100 that have come: 30.24 us.
    let [first, second] = net.all()[..] else { panic!() };
    assert_eq!((first, second.1), ((US(2008), 0), 1));
    assert!((US(2046)..US(2048)).contains(&second.0), "{second:?}");
    assert_eq!(net.plant.propagation(0), MS(1));
}

/// A modem's packet leaves with its last byte, 80 us after its grant began, and is 1 ms on the cable.
#[test]
fn packets_from_a_home_pass_its_modem_and_the_cable() {
    for (keys, least, most) in [
        ("", US(6080), US(7580)),
        ("modem.kind = 'two_queues'", US(6080), US(6080)),
        (LINK, US(1500), US(1500)), // at the peak rate
        (SHARED, US(6032 + 254), US(6032 + 254)),
    ] {
        let mut net = Homes::of(&[(1, keys, "", None)]).start();
        net.up(MS(1), 0, 0);
        assert_eq!(net.plant.inside().packets, u64::from(keys != LINK), "{keys}");
        let [(at, 0)] = net.all()[..] else { panic!("{keys}") };
        let left = at.since(MS(1));
        assert!(left + Time::from_ps(1010) >= least && left <= most, "{keys}: {left:?}");
        let counters = net.plant.mac_counters(0, 0);
        assert_eq!(counters.map(|counters| counters.requests), (keys != LINK).then_some(1));
        assert!(net.plant.mac_counters(0, 1).is_none());
        let places: Vec<_> =
            net.plant.queues().iter().map(|queue| (queue.direction, queue.home)).collect();
        let up = if keys.contains("two") { 2 } else { 1 };
        assert_eq!(places[..up], vec![(Direction::Up, Some(0)); up]);
        assert_eq!(places[up..], [(Direction::Down, Some(0))]);
        assert_eq!(net.plant.channels(MS(10)).len(), usize::from(keys == SHARED));
    }
}

/// Of homes at 0 and 80 km on a shared channel the farther one's packets come 400 us later, with its grant at the same time.
#[test]
fn farther_homes_are_later_on_a_shared_channel() {
    let homes = Homes::of(&[(1, SHARED, "", Some(0.0)), (2, SHARED, "", Some(80.0))]);
    let mut net = homes.start();
    assert_eq!(
        (0..3).map(|home| net.plant.propagation(home)).collect::<Vec<_>>(),
        [US(0), US(400), US(400)]
    );
    net.up(US(1700), 2, 0); // enters at 2.1 ms, after the MAP
    net.up(MS(11), 0, 1);
    let [(far, 0), (near, 1)] = net.all()[..] else { panic!() };
    let grant = US(32 + 254);
    // Requested at 4 ms and granted at 8 ms.
    assert!(far <= MS(8) + grant && far + Time::from_ps(1010) >= MS(8) + grant, "{far:?}");
    assert!(near <= MS(16) + grant && near + Time::from_ps(1010) >= MS(16) + grant, "{near:?}");
    assert_eq!(net.plant.mac_counters(2, 0).unwrap().requests, 1);
    assert_eq!(net.plant.mac_counters(1, 0).unwrap().requests, 0);
}

/// Packets of links of different lengths arrive in the order of their times, and no order is kept where one link is alone.
#[test]
fn packets_of_several_links_are_put_in_order() {
    let mut net = Homes::of(&[(1, LINK, "", Some(80.0)), (1, LINK, "", Some(0.0))]).start();
    net.up(MS(1), 0, 0);
    net.up(MS(1), 1, 1);
    net.run(MS(100));
    assert_eq!(net.arrived, [(US(1500), 1), (US(1900), 0)]);
    for (groups, parts) in [
        (vec![(1, LINK, "", None)], 1),
        (vec![(2, LINK, "", None)], 3),
        (vec![(2, "", "", None)], 2),
        (vec![(1, "", "", Some(1.0)), (1, "", "", Some(2.0))], 3),
        (vec![(1, SHARED, "", Some(1.0)), (1, SHARED, "", Some(2.0))], 1),
        (vec![(1, SHARED, "", Some(1.0)), (1, "", "", Some(2.0))], 3),
        (vec![(1, SHARED, "", None), (1, "", "", None)], 2),
    ] {
        assert_eq!(Homes::of(&groups).start().plant.parts(Direction::Up), parts, "{groups:?}");
    }
    let mut jittered = Homes::of(&[(1, "", "", None)]);
    jittered.cable.interconnect.jitter_us = 1.0;
    assert_eq!(jittered.start().plant.parts(Direction::Up), 2);
    // With the specification's timing a modem's bursts are received later than those of a shared channel.
    let mut mixed = Homes::of(&[(1, SHARED, "", None), (1, "", "", None)]);
    mixed.cable.fill(false);
    assert_eq!(mixed.start().plant.parts(Direction::Up), 3);
}

/// A home's flows have their own modems and links.
#[test]
fn each_service_flow_has_its_own_part() {
    let flows = "flows.calls = { sustained_mbps = 8, match = [] }\n";
    for modem in ["", SHARED, LINK] {
        let keys = format!("{modem}{flows}");
        let mut net = Homes::of(&[(2, &keys, flows, None)]).start();
        for (flow, number) in [(0, 0), (1, 1)] {
            net.put(MS(1), Direction::Up, (1, flow), number);
            net.put(MS(1), Direction::Down, (1, flow), number + 2);
        }
        let arrived = net.all();
        assert_eq!(arrived.len(), 4, "{modem}");
        // On their own channels of 1 Gbps and 80 Mbps.
        assert_eq!((arrived[2].0, arrived[3].0), (US(2008), US(2100)));
        if modem != LINK {
            let requests = |home, flow| net.plant.mac_counters(home, flow).unwrap().requests;
            assert_eq!(
                [requests(0, 0), requests(0, 1), requests(1, 0), requests(1, 1)],
                [0, 0, 1, 1]
            );
        }
        let places: Vec<_> =
            net.plant.queues().iter().map(|queue| (queue.direction, queue.home)).collect();
        let of_first = [Direction::Up, Direction::Up, Direction::Down, Direction::Down]
            .map(|way| (way, Some(0)));
        assert_eq!(places, of_first, "only the first home is watched");
    }
}

fn with_cmts(regulated: [bool; 2]) -> Homes<'static> {
    let keys = |is_regulated| if is_regulated { "" } else { "regulator = false\n" };
    let [first, second] = regulated.map(keys);
    let mut homes = Homes::of(&[(1, "", first, None), (1, "", second, None)]);
    homes.cmts = toml::from_str("channel = { kind = 'rate', rate_mbps = 8 }").ok();
    homes
}

/// On a channel of 8 Mbps a packet and its header of 10 B take 1010 us, one behind the other, for whatever home.
#[test]
fn homes_share_the_channel_of_a_cmts() {
    for regulated in [[true, true], [true, false], [false, false]] {
        let mut net = with_cmts(regulated).start();
        net.down(MS(1), 0, 0);
        net.down(MS(1), 1, 1);
        assert_eq!(net.plant.inside().packets, 2);
        net.down(US(1500), 1, 2);
        let arrived = net.all();
        assert_eq!(arrived, [(US(3010), 0), (US(4020), 1), (US(5030), 2)], "{regulated:?}");
        // The flows, the channel and the cable; flows that pass no regulator have numbers too.
        let own = regulated.iter().filter(|is| **is).count() as u32;
        assert_eq!(net.plant.parts(Direction::Down), own + 2);
        let numbers: Vec<_> =
            (0..=own + 2).map(|part| net.plant.number(Direction::Down, part)).collect();
        assert_eq!(numbers[own as usize..], [2, 3, 4]);
        assert_eq!(numbers[..own as usize], [0, 1][..own as usize]);
        assert_eq!(net.plant.number(Direction::Up, 7), 7);
        let shared = net.plant.queues().iter().filter(|queue| queue.home.is_none()).count();
        assert_eq!(shared, 1);
    }
}

/// A regulator lets 1522 B pass at once, and then a packet of 1000 B in 80 us at 100 Mbps; the channel is faster.
#[test]
fn a_regulator_keeps_the_rate_in_front_of_the_channel() {
    let mut homes = with_cmts([true, true]);
    homes.cmts = toml::from_str("channel = { kind = 'rate', rate_mbps = 8080 }").ok();
    let mut net = homes.start();
    (0..4).for_each(|number| net.down(MS(1), 0, number));
    let at: Vec<_> = net.all().iter().map(|(at, _)| *at).collect();
    // The second lacks 478 B, 38.24 us.
    let want = [0, 38_240, 118_240, 198_240].map(|ns| MS(2) + US(1) + Time::from_ps(ns * 1000));
    assert_eq!(at, want);
}

/// All packets are lost where all codewords are; what crosses the interconnect takes its delay too.
#[test]
fn noise_and_the_interconnect_are_on_the_cable() {
    for modem in ["", LINK] {
        let mut homes = Homes::of(&[(1, modem, "", None)]);
        homes.cable.upstream_noise.codeword_error_percent = 100.0;
        homes.cable.downstream_noise.codeword_error_percent = 100.0;
        let mut net = homes.start();
        net.up(MS(1), 0, 0);
        net.down(MS(1), 0, 1);
        assert_eq!((net.all(), net.recorder.events.len()), (vec![], 2));
        let mut homes = Homes::of(&[(1, modem, "", None)]);
        homes.cable.interconnect.delay_us = 300.0;
        let mut net = homes.start();
        net.up(MS(1), 0, 0);
        net.down(MS(1), 0, 1);
        let arrived = net.all();
        assert_eq!(arrived[1], (US(2308), 1));
        assert!(arrived[0].0 >= US(2800), "{arrived:?}");
    }
}

/// What a stalled modem receives comes when the stall is over.
#[test]
fn a_stalled_modem_hands_packets_over_later() {
    let mut net =
        Homes::of(&[(1, "", "stalls = [{ start_s = 0.002, length_s = 0.005 }]", None)]).start();
    net.down(US(500), 0, 0);
    net.down(MS(1), 0, 1);
    assert_eq!(net.all(), [(US(1508), 0), (MS(7), 1)]);
}

/// Samples are of the queues of the first home of each group, and of the channels.
#[test]
fn samples_are_taken_of_watched_queues_and_channels() {
    for (groups, channel_series) in [(vec![(2, "", "", None)], 0), (vec![(2, SHARED, "", None)], 2)]
    {
        let mut homes = Homes::of(&groups);
        homes.cmts = toml::from_str("channel = { kind = 'rate', rate_mbps = 8 }").ok();
        let mut net = homes.start();
        net.plant.sample(MS(100));
        let queues = net.plant.queues();
        assert_eq!(queues.len(), 3);
        for queue in queues {
            let counts: Vec<_> =
                queue.queue.series().map(|(_, series)| series.values.len()).collect();
            assert!(!counts.is_empty() && counts.iter().all(|count| *count == 1), "{counts:?}");
        }
        assert_eq!(net.plant.channel_series().len(), channel_series);
    }
}

/// Each key without effect and each rate that cannot be kept has its warning.
#[test]
fn a_plant_warns_before_a_run() {
    let warnings = |homes: &Homes| homes.with(Docsis::new).warnings();
    let of = |up: &'static str, down: &'static str| Homes::of(&[(2, up, down, None)]);
    let plain = |up, down| Homes { channel: UpstreamChannel::default(), ..of(up, down) };
    let cmts = |keys: &str| toml::from_str::<downstream_channel::Cmts>(keys).ok();
    let drr = "unit = 'service_flow'\nqueue.scheduler.kind = 'drr'\nchannel = { kind = 'rate', rate_mbps = 50, channels = 2 }";
    for (homes, cmts, want) in [
        (plain("", ""), None, vec![]),
        (of("", ""), None, vec!["upstream_channel has no effect"]),
        (plain("", "minimum_mbps = 50"), cmts(drr), vec![]),
        (
            plain("", "minimum_mbps = 51"),
            cmts(drr),
            vec![
                "the minimum_mbps of all downstream service flows add up to 102, but the channel carries at most 100.0",
            ],
        ),
        // 984 minislots of 8 B in 2 ms are 31.488 Mbps.
        (
            of("modem.kind = 'shared_channel'\nminimum_mbps = 8", ""),
            None,
            vec!["upstream.burst_bytes is 5000"],
        ),
        (
            of("modem.kind = 'shared_channel'\nminimum_mbps = 15.75\nflows = {}", ""),
            None,
            vec![
                "the minimum_mbps of all upstream service flows add up to 31.5, but the channel carries at most 31.5",
                "upstream.burst_bytes is 5000",
            ],
        ),
    ] {
        let homes = Homes { cmts, ..homes };
        let seen = warnings(&homes);
        assert_eq!(seen.len(), want.len(), "{seen:?} {want:?}");
        assert!(
            seen.iter().zip(&want).all(|(seen, want)| seen.message.starts_with(want)),
            "{seen:?} {want:?}"
        );
    }
}

/// Warnings of a plant that name this.
fn warnings_of(homes: &Homes, key: &str) -> Vec<String> {
    let warnings = homes.with(Docsis::new).warnings().into_iter();
    warnings.filter(|one| one.path.contains(key)).map(|one| one.message).collect()
}

/// In 4 ms 8 Mbps bring 4000 B, and a frame has 1522 B: a burst of 5522 B is enough.
#[test]
fn a_burst_is_enough_for_two_map_intervals() {
    assert_eq!(super::super::warnings::enough_burst(8.0, MS(2)), 5522);
    for (burst_bytes, warns) in [(5521, true), (5522, false)] {
        let keys = format!(
            "modem.kind = 'shared_channel'\nflows.a = {{ sustained_mbps = 8, burst_bytes = {burst_bytes}, match = [] }}"
        );
        let homes = Homes::of(&[(1, &keys, "", None)]);
        let seen = warnings_of(&homes, "flows.a");
        assert_eq!(seen.len(), usize::from(warns));
        assert!(seen.iter().all(|text| text.contains("4.0 ms apart; set upstream.flows.a.burst_bytes to 5522")));
    }
}

/// Request and grant take 8 ms with MAPs every 2 ms: three intervals and one. A target below that is warned of, unless a
/// packet takes longer itself.
#[test]
fn a_target_below_the_grant_wait_is_warned_of() {
    let law =
        |target_ms: u32| format!("queue.law = {{ kind = 'blue', threshold_ms = {target_ms} }}\n");
    for (modem, target_ms, warns) in [
        ("", 7, true),
        ("", 8, false),
        (LINK, 7, false),
        ("modem.kind = 'two_queues'\n", 7, false),
        (SHARED, 7, true),
        (SHARED, 8, false),
        (
            "scheduling = { kind = 'ugs', unsolicited_grant_bytes = 228, nominal_grant_interval_us = 10_000 }\n",
            7,
            false,
        ),
    ] {
        let keys = format!("{modem}{}", law(target_ms));
        let homes = Homes::of(&[(1, &keys, "", None)]);
        let seen = warnings_of(&homes, "threshold_ms");
        assert_eq!(seen.len(), usize::from(warns), "{keys} {seen:?}");
        assert!(seen.iter().all(|text| text.contains("alone take about 8.0 ms")), "{seen:?}");
    }
}
