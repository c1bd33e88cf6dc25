//! Kinds of keys without effect, and the paths by which warnings name them.

use sojourn::input::problem::{Code, Warning};
use sojourn::scenario::load;

const TWO: &str = "
    duration_s = 2
    upstream = { sustained_mbps = 5, peak_mbps = 5, burst_bytes = 9000 }
    downstream.sustained_mbps = 20
    servers.near.delay_ms = 9
    homes = { a = {}, b = {} }
    traffic.up = { kind = 'transfer', server = 'near', home = 'a' }
    traffic.down = { kind = 'transfer', server = 'near', home = 'b', direction = 'down' }
";

/// The warnings of the scenario with these settings that are not of both without.
fn warnings(sets: &[&str]) -> Vec<Warning> {
    let all = |sets: &[&str]| {
        let sets: Vec<_> = sets.iter().map(|&set| set.to_owned()).collect();
        let variant = load(TWO, "two.toml", &sets).unwrap().remove(0);
        let mut all = [variant.notes, sojourn::warnings(&variant.scenario)].concat();
        all.sort_by(|one, other| one.path.cmp(&other.path));
        all
    };
    let before = all(&[]);
    all(sets).into_iter().filter(|one| !before.contains(one)).collect()
}

fn idle(sets: &[&str]) -> Vec<String> {
    let idle = warnings(sets).into_iter().filter(|one| one.code == Code::IdleKey);
    idle.map(|one| one.message).collect()
}

/// Settings, and the warnings that say what has no effect beside them.
#[test]
fn what_each_kind_says() {
    let cases: [(&[&str], &[&str]); 34] = [
        (
            &["upstream={sustained_mbps=5,priority=3,modem={kind=\"shared_channel\"}}"],
            &[
                "upstream.priority has no effect where all service flows of the channel have the same: leave it out",
            ],
        ),
        (
            &[
                "upstream={sustained_mbps=5,priority=3,modem={kind=\"shared_channel\"}}",
                "homes.b.upstream.priority=4",
            ],
            &[],
        ),
        (
            &[
                "upstream={sustained_mbps=5,minimum_mbps=1,modem={kind=\"shared_channel\"}}",
                "homes.b.upstream.modem.kind=link",
            ],
            &[
                "upstream.minimum_mbps has no effect where homes.b.upstream.modem.kind = \"link\"; set \
               homes.b.upstream.modem.kind = \"shared_channel\"",
            ],
        ),
        // What the rule proposes gives it no effect: all have the same priority.
        (
            &["downstream.priority=2"],
            &["downstream.priority has no effect where cmts is not set: leave it out"],
        ),
        (
            &["homes.a.downstream.priority=2"],
            &["homes.a.downstream.priority has no effect where cmts is not set; set cmts = {}"],
        ),
        (
            &["access.kind=fibre", "homes.a.downstream.priority=2"],
            &["homes.a.downstream.priority has no effect where cmts is not set: leave it out"],
        ),
        // The fastest clock is 50 ppm ahead.
        (&["traffic.up.stop_s=2.00009"], &[]),
        (
            &["traffic.up.stop_s=2.00011"],
            &["traffic.up.stop_s has no effect after the end of the run at 2 s: leave it out"],
        ),
        // 64 bytes are the least, and 1518 the most.
        (&["upstream.queue={limit_bytes=6400,limit_packets=100}"], &[]),
        (
            &["upstream.queue={limit_bytes=6399,limit_packets=100}"],
            &[
                "upstream.queue.limit_packets has no effect beside a limit of 6399 bytes, which fewer packets fill: 64 bytes \
               are the least: set less than 99",
            ],
        ),
        (
            &["servers.far.delay_ms=3"],
            &[
                "servers.far has no effect without traffic: name it in an entry of traffic, or leave it out",
            ],
        ),
        (&["servers.far.delay_ms=3", "traffic.down.server=far"], &[]),
        (
            &[
                "servers.far.delay_ms=3",
                "traffic.down={kind=\"transfer\",server=\"far\",start_s=9}",
            ],
            // Its entry sends nothing, and says so.
            &[],
        ),
        (&["cable.distance_km=9", "homes.a.distance_km=1"], &[]),
        (
            &["cable.distance_km=9", "homes.a.distance_km=1", "homes.b.distance_km=2"],
            &[
                "cable.distance_km has no effect beside homes.a.distance_km and one like it, which override it: \
               change those",
            ],
        ),
        (
            &["cable.delay_ms=9", "homes.a.distance_km=1", "traffic.down.home=a"],
            &[
                "cable.delay_ms has no effect beside homes.a.distance_km, which overrides it: change that",
            ],
        ),
        (
            &[
                "access={kind=\"fibre\",length_km=3}",
                "homes.a.distance_km=1",
                "homes.b.distance_km=2",
            ],
            &[
                "access.length_km has no effect beside homes.a.distance_km and one like it, which override it: \
               change those",
            ],
        ),
        (&["upstream.queue.limit_packets=5", "homes.a.upstream.queue.limit_packets=6"], &[]),
        // It must be set, whatever overrides it.
        (&["homes.a.upstream.sustained_mbps=3", "homes.b.upstream.sustained_mbps=2"], &[]),
        (
            &[
                "upstream.queue.limit_packets=5",
                "homes.a.upstream.queue.limit_packets=6",
                "homes.b.upstream.queue.limit_packets=7",
            ],
            &[
                "upstream.queue.limit_packets has no effect beside homes.a.upstream.queue.limit_packets and one like it, \
               which override it: change those",
            ],
        ),
        (
            &[
                "homes.a.upstream.queue.law.kind=pie",
                "homes.b.upstream.queue.law.kind=red",
                "upstream.queue.law.kind=codel",
            ],
            &[
                "upstream.queue.law has no effect beside homes.a.upstream.queue.law and one like it, which \
               override it: change those",
            ],
        ),
        (
            &[
                "tcp.mss_bytes=900",
                "traffic.up.tcp.mss_bytes=800",
                "traffic.down.tcp.mss_bytes=700",
            ],
            &[
                "tcp.mss_bytes has no effect beside traffic.up.tcp.mss_bytes and one like it, which override it: \
               change those",
            ],
        ),
        (&["tcp.mss_bytes=900", "traffic.up.tcp.mss_bytes=800"], &[]),
        (
            &["tcp={mss_bytes=900,ip=6}", "traffic={g={kind=\"stream\",purpose=\"game\"}}"],
            &["tcp.mss_bytes has no effect without traffic over TCP or QUIC: leave it out"],
        ),
        (
            &["dialect=ns2", "tcp.congestion_control={kind=\"cubic\",hystart=false}"],
            &["tcp.congestion_control.hystart has no effect where dialect = \"ns2\": leave it out"],
        ),
        (
            &[
                "tcp.congestion_control={kind=\"cubic\",hystart=false}",
                "traffic.up.tcp.dialect=ns2",
            ],
            &[],
        ),
        (
            &["traffic.up.tcp={dialect=\"ns2\",congestion_control={kind=\"cubic\",hystart=false}}"],
            &[
                "traffic.up.tcp.congestion_control.hystart has no effect where traffic.up.tcp.dialect = \"ns2\": \
               leave it out",
            ],
        ),
        (
            &["dialect=ns2", "tcp.delayed_ack_ms=7"],
            &[
                "tcp.delayed_ack_ms has no effect where traffic.down.tcp.ack_every_segments = 1: leave it out",
            ],
        ),
        (
            &["tcp.ace_bits=3"],
            &[
                "tcp.ace_bits has no effect where traffic.down.tcp.ecn = \"off\"; set traffic.down.tcp.ecn = \"accecn\"",
            ],
        ),
        (
            &["downstream.aqm=false"],
            &["downstream.aqm has no effect where downstream.queue.law.kind = \"none\" and \
               downstream.queue.scheduler.kind = \"fifo\": leave it out"],
        ),
        (
            &[
                "upstream={sustained_mbps=5,modem={kind=\"shared_channel\"}}",
                "cable.timing={kind=\"specification\",frame_symbols=9}",
            ],
            &[
                "cable.timing.frame_symbols has no effect where upstream.modem.kind = \"shared_channel\"; set \
               upstream.modem.kind = \"single_queue\"",
            ],
        ),
        (
            &["access.kind=fibre", "downstream.channel_mbps=90"],
            &["downstream.channel_mbps has no effect where access.kind = \"fibre\": leave it out"],
        ),
        (
            &["cable.timing={kind=\"specification\",frame_symbols=0,symbol_us=9}"],
            &[
                "cable.timing.symbol_us has no effect where cable.timing.frame_symbols = 0: leave it out",
            ],
        ),
        (
            &[
                "upstream.aqm=false",
                "upstream.flows.f={sustained_mbps=1,queue={law={kind=\"none\"},scheduler={kind=\"fifo\"}},match=[{}]}",
            ],
            &["upstream.aqm has no effect where upstream.flows.f.queue.law.kind = \"none\" and \
            upstream.flows.f.queue.scheduler.kind = \"fifo\" and upstream.queue.law.kind = \"none\" and \
            upstream.queue.scheduler.kind = \"fifo\": leave it out"],
        ),
    ];
    for (sets, want) in cases {
        assert_eq!(idle(sets), want, "{sets:?}");
    }
}

/// A warning of one group names the keys of that group, and those that it takes over where they stand.
#[test]
fn warnings_name_keys_where_a_reader_finds_them() {
    let capacity = "homes.b.upstream={capacity={steps=[{for_s=1,mbps=7}]},modem={kind=\"link\"}}";
    for (sets, code, want) in [
        (
            &["homes.b.router.upstream.rate_mbps=9"][..],
            Code::IdleRouter,
            &["homes.b.router.upstream"][..],
        ),
        (&["router.upstream.rate_mbps=9"], Code::IdleRouter, &["router.upstream"]),
        (&[capacity], Code::IdleKey, &["homes.b.upstream.capacity"]),
        (
            &[
                "upstream={sustained_mbps=5,burst_bytes=2000,modem={kind=\"shared_channel\"}}",
                "homes.b.upstream.sustained_mbps=4",
            ],
            Code::BurstOnSharedChannel,
            &["upstream.burst_bytes", "upstream.burst_bytes"],
        ),
        (
            &[
                "upstream={sustained_mbps=5,modem={kind=\"shared_channel\"}}",
                "homes.b.upstream.burst_bytes=2000",
            ],
            Code::BurstOnSharedChannel,
            &["homes.b.upstream.burst_bytes"],
        ),
        (
            &["homes.b.upstream.queue.scheduler={kind=\"choke\",min_threshold_packets=1}"],
            Code::SlowAverage,
            &["homes.b.upstream.queue.scheduler.min_threshold_packets"],
        ),
        (
            &["homes.b.downstream.stalls=[{start_s=0,length_s=9}]"],
            Code::OutageOfTheRun,
            &["homes.b.downstream.stalls.0"],
        ),
    ] {
        let found: Vec<_> = warnings(sets).into_iter().filter(|one| one.code == code).collect();
        let paths: Vec<_> = found.iter().map(|one| &*one.path).collect();
        assert_eq!(paths, want, "{sets:?}: {found:?}");
        for one in found {
            assert!(one.message.contains(&one.path), "{}", one.message);
        }
    }
}

/// Variants that differ in what no run reads are one.
#[test]
fn variants_of_overridden_keys_are_one() {
    let variants = "
        compare.slow.upstream.sustained_mbps = 4
        compare.fast.upstream.sustained_mbps = 5
    ";
    let sets = ["homes.a.upstream.sustained_mbps=3", "homes.b.upstream.sustained_mbps=2"];
    let load = |sets: &[&str]| {
        let sets: Vec<_> = sets.iter().map(|&set| set.to_owned()).collect();
        load(&format!("{TWO}{variants}"), "two.toml", &sets).unwrap()
    };
    assert_eq!(load(&sets[..1]).len(), 2);
    let one = load(&sets);
    assert_eq!(one.len(), 1);
    let note = &one[0].notes[0].message;
    assert!(
        note.starts_with("'slow' and 'fast' are equal: one run stands for all; upstream.sustained"),
        "{note}"
    );
}
