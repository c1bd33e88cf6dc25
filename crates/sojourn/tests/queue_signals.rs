//! What a queue signals of congestion, to transports by marks, to users by what it shows; and what it
//! does with bare acknowledgements.

use crate::common::{flow, home, queue, scenario, sentences, series};
use crate::queue_kit::{Load, Rig, TRAFFIC, datagram, segment};
use sojourn::Simulation;
use sojourn::engine::packet::{DropReason, Ecn, Flags, Own, Packet, SackBlock};
use sojourn::engine::record::PacketEventKind;
use sojourn::engine::units::Time;
use sojourn::input::problem::Code;

/// 300 packets of 1500 bytes at once; one leaves every 1.2 ms. Which of those that leave are marked,
/// by their numbers from 1, and how many are dropped early.
fn marks_under_excess(law: &str, ecn: Ecn) -> (Vec<usize>, u64) {
    let mut rig = Rig::of(&format!("limit_bytes = 1_000_000\n{law}"));
    (0..300).for_each(|seq| rig.put(Packet { ecn, ..datagram(0, seq, 1500) }));
    let mut marked = Vec::new();
    for number in 1..=240 {
        rig.wait(Time::from_us(1200));
        if rig.take().is_some_and(|packet| packet.ecn == Ecn::Ce) {
            marked.push(number);
        }
    }
    rig.assert_conserved();
    assert_eq!(rig.count(PacketEventKind::Marked), marked.len() as u64);
    (marked, rig.dropped(0))
}

#[test]
fn codel_marks_when_it_would_drop() {
    // Packet n leaves at 1.2 n ms, after as long a sojourn: the 5th (6.0 ms) is the first above 5 ms.
    // The first mark is due 100 ms later, at 106.0 ms, and on the 89th (106.8); the next after
    // 100 ms, at 206.8 ms, on the 173rd (207.6); the next at 206.8 + 70.7 = 277.5, on the 232nd.
    let law = "law = { kind = 'codel' }";
    let (marked, dropped) = marks_under_excess(law, Ecn::Ect0);
    assert_eq!((marked, dropped), (vec![89, 173, 232], 0));
    let (marked, dropped) = marks_under_excess(law, Ecn::Ect1);
    assert_eq!((marked.len(), dropped), (3, 0));
}

#[test]
fn without_ecn_at_either_end_codel_drops() {
    for (law, ecn) in [
        ("law = { kind = 'codel' }", Ecn::NotEct),
        ("ecn = false\nlaw = { kind = 'codel' }", Ecn::Ect0),
    ] {
        let (marked, dropped) = marks_under_excess(law, ecn);
        assert_eq!((marked.len(), dropped), (0, 3), "{law} {ecn:?}");
    }
}

/// Marks and early drops of 12 Mbps of ECN-capable packets before 10 Mbps, over 20 s.
fn signals(law: &str) -> (u64, u64) {
    let mut rig = Rig::of(&format!("limit_bytes = 250_000\nlaw = {{ {law} }}"));
    let mut seq = 0;
    for ms in 0..20_000 {
        rig.wait(Time::from_ms(1));
        // 3 packets of 500 bytes each ms are 12 Mbps, 1250 bytes each ms are 10.
        for _ in 0..3 {
            seq += 1;
            rig.put(Packet { ecn: Ecn::Ect0, ..datagram(0, seq, 500) });
        }
        for _ in 0..2 + ms % 2 {
            rig.take();
        }
    }
    let dropped = PacketEventKind::Dropped(DropReason::Aqm);
    (rig.count(PacketEventKind::Marked), rig.count(dropped))
}

#[test]
fn each_algorithm_marks_as_its_source_says() {
    // An unresponsive excess of a sixth: marks do not help, so a law that drops above a probability
    // of 0.1 comes to do so.
    let (marked, dropped) = signals("kind = 'pie'");
    assert!(marked > 0 && dropped > 0, "RFC 8033 §5.1: {marked} {dropped}");
    let (marked, dropped) = signals("kind = 'pie', max_mark_probability = 0.0");
    assert!(marked == 0 && dropped > 0, "never marks: {marked} {dropped}");
    let (marked, _) = signals("kind = 'pie_early'");
    assert!(marked > 0);
    let (marked, dropped) = signals("kind = 'docsis_pie'");
    assert!(marked == 0 && dropped > 0, "RFC 8034 §4.7: {marked} {dropped}");
    let (marked, dropped) = signals("kind = 'codel_dt'");
    assert!(marked == 0 && dropped > 0, "White 2014 §4.3: {marked} {dropped}");
    // Averages between 20 and 400 packets of 500 bytes are marked, those above are dropped.
    let thresholds = "min_threshold_packets = 20, max_threshold_packets = 400";
    let (marked, dropped) = signals(&format!("kind = 'red', {thresholds}, weight = 0.002"));
    assert!(marked > 0, "RFC 3168 §7: {marked} {dropped}");
    for law in ["blue", "gsp", "afd"] {
        let (marked, dropped) = signals(&format!("kind = '{law}'"));
        assert!(marked > 0 && dropped == 0, "{law} only signals: {marked} {dropped}");
    }
}

fn ack(slot: u32, ack: u64) -> Packet {
    let mut packet = segment(slot, slot, 0, 40);
    packet.segment.flags.set(Flags::ACK, true);
    packet.segment.ack = ack;
    packet
}

fn acks_out(rig: &mut Rig) -> Vec<(u32, u64)> {
    std::iter::from_fn(|| rig.take()).map(|p| (p.flow, p.segment.ack)).collect()
}

#[test]
fn prioritised_acknowledgements_go_first_and_in_order() {
    let mut rig = Rig::of("acks = 'prioritised'");
    rig.put(segment(9, 9, 1, 1500));
    [ack(1, 100), ack(2, 50), ack(1, 200)].into_iter().for_each(|packet| rig.put(packet));
    assert_eq!(rig.backlog().bytes, 1500 + 3 * 40);
    assert_eq!(acks_out(&mut rig), [(1, 100), (2, 50), (1, 200), (9, 0)]);
    rig.assert_conserved();
}

#[test]
fn a_newer_acknowledgement_takes_the_place_of_the_one_it_supersedes() {
    let mut rig = Rig::of("acks = 'aggregated'");
    rig.put(segment(9, 9, 1, 1500));
    [ack(1, 100), ack(2, 50), ack(1, 200)].into_iter().for_each(|packet| rig.put(packet));
    // A repeated number is a sign of loss, and so is what selective acknowledgements say.
    rig.put(ack(2, 50));
    let mut selective = ack(1, 300);
    let block = SackBlock { start: 10, end: 20 };
    selective.segment.own = Own::of_blocks([block, SackBlock::default(), SackBlock::default()]);
    rig.put(selective);
    rig.put(ack(1, 400));
    assert_eq!(acks_out(&mut rig), [(1, 300), (2, 50), (2, 50), (1, 400), (9, 0)]);
    assert_eq!(rig.dropped(0), 2, "100 by 200, and 200 by 300");
    rig.assert_conserved();
    // A slot that is used again: what waits is of another connection.
    rig.put(ack(1, 5));
    rig.put(Packet { generation: 1, ..ack(1, 6) });
    assert_eq!(acks_out(&mut rig), [(1, 5), (1, 6)]);
}

#[test]
fn acknowledgements_that_bypass_the_queue_keep_a_download_fast() {
    // One upload fills 625 kB before 5 Mbps, so a round trip takes a second; a window of 400 segments
    // then moves 400 * 1448 * 8 bits = 4.6 Mbps, and the whole 20 Mbps without that wait.
    let download = |acks: &str| {
        let mut home = home(&format!("limit_bytes = 625_000\nacks = '{acks}'"), 40.0);
        home.traffic.retain(|name, _| name == "upload");
        let download = format!(
            "kind = 'transfer'\nserver = '{}'\ndirection = 'down'\nstart_s = 10\n\
             tcp.max_window_segments = 400",
            home.servers.keys()[0]
        );
        home.traffic.insert("download".to_owned(), toml::from_str(&download).unwrap());
        let results = Simulation::run(&home);
        flow(&results, "download", "down").throughput_mbps * 40.0 / 30.0
    };
    let [in_order, first, newest] = ["in_order", "prioritised", "aggregated"].map(download);
    println!("{in_order:.2} {first:.2} {newest:.2} Mbps");
    assert!(in_order < 6.0 && first > 15.0 && newest > 15.0);
}

#[test]
fn watched_flows_show_bin_weight_and_deficit() {
    let mut rig = Rig::of(
        "scheduler = { kind = 'drr', quantum_bytes = 1500, weights = { b = 2.0 } }\n\
         law = { kind = 'codel' }",
    );
    rig.queue.name_traffic(&TRAFFIC, 2);
    rig.queue.sample(|_| {});
    for traffic in [1, 0, 2] {
        (0..3).for_each(|seq| rig.put(datagram(traffic, seq, 1000)));
    }
    // b goes first with 2 * 1500 bytes to send, of which 1000 are gone.
    assert_eq!(rig.take().map(|packet| packet.traffic), Some(1));
    rig.queue.sample(|_| {});
    let shown = |subject: &str, metric: &str| {
        let all: Vec<_> = rig.queue.series().collect();
        let found = all.iter().find(|(s, series)| s == subject && series.metric == metric);
        found.map(|(_, series)| series.values.clone())
    };
    assert_eq!(shown("upstream b 1", "weight").unwrap()[1], 2.0);
    assert_eq!(shown("upstream b 1", "deficit").unwrap()[1], 2000.0);
    assert_eq!(shown("upstream a 1", "deficit").unwrap()[1], 1500.0);
    assert_eq!(shown("upstream a 1", "bin_bytes").unwrap()[1], 3000.0);
    assert!(shown("upstream a 1", "codel_count").is_some());
    assert!(shown("upstream a 1", "weight").unwrap()[0].is_nan(), "it came after the first sample");
    assert!(shown("upstream c 1", "weight").is_none(), "two flows are watched");
}

#[test]
fn watched_flows_show_the_bins_that_abb_puts_them_in() {
    // 8 and 1 Mbps into 6: after some measurements the first is above the first break-point.
    let mut rig = Rig::of("scheduler = { kind = 'abb', bins = 2 }\nlimit_packets = 100");
    rig.queue.name_traffic(&TRAFFIC, 8);
    let load = Load { mbps: &[8.0, 1.0], packet_bytes: 1000, link_mbps: 6.0 };
    load.throughputs(&mut rig, 0.0, 10.0);
    rig.queue.sample(|_| {});
    let bin = |subject: &str| {
        let mut all = rig.queue.series();
        all.find(|(s, series)| s == subject && series.metric == "bin").unwrap().1.values[0]
    };
    assert_eq!((bin("upstream a 1"), bin("upstream b 1")), (1.0, 0.0));
}

#[test]
fn every_manager_counts_its_marks_and_drops_in_all_tables() {
    const CODEL: &str = "kind = 'codel', target_ms = 10";
    let mut signals = [0, 0, 0];
    for (scheduler, law) in [
        ("kind = 'fifo'", "kind = 'none'"),
        ("kind = 'fifo'", CODEL),
        ("kind = 'fifo'", "kind = 'docsis_pie'"),
        ("kind = 'fifo'", "kind = 'red'"),
        ("kind = 'sfq'", CODEL),
        ("kind = 'fq'", CODEL),
        ("kind = 'drr'", "kind = 'pie'"),
        ("kind = 'wfq'", "kind = 'pie'"),
        ("kind = 'scfq'", CODEL),
        ("kind = 'abb'", CODEL),
        ("kind = 'dualq'", "kind = 'none'"),
        ("kind = 'dualq', drop_early = true", "kind = 'none'"),
        ("kind = 'low_latency'", "kind = 'none'"),
    ] {
        let results = Simulation::run(&scenario(&format!(
            "duration_s = 4
             metrics.series_interval_ms = 10
             upstream = {{ sustained_mbps = 5, peak_mbps = 5, burst_bytes = 4000, queue = {{
               limit_bytes = 40_000, acks = 'prioritised',
               scheduler = {{ {scheduler} }}, law = {{ {law} }} }} }}
             downstream = {{ sustained_mbps = 100, peak_mbps = 100, burst_bytes = 4000 }}
             servers.near = {{ delay_ms = 9 }}
             traffic.marked = {{ kind = 'transfer', server = 'near', tcp = {{ ecn = 'l4s', congestion_control.kind = 'prague' }} }}
             traffic.dropped = {{ kind = 'transfer', server = 'near', tcp.ecn = 'off' }}
             traffic.down = {{ kind = 'transfer', server = 'near', direction = 'down' }}"
        )));
        let up: Vec<_> = results.flows.iter().filter(|row| row.direction == "up").collect();
        let of_flows = [
            up.iter().map(|row| row.marked_packets).sum::<u64>(),
            up.iter().map(|row| row.dropped_overflow_packets).sum(),
            up.iter().map(|row| row.dropped_aqm_packets).sum(),
        ];
        let row = queue(&results, "upstream");
        let of_queue = [row.marked_packets, row.dropped_overflow_packets, row.dropped_aqm_packets];
        assert_eq!(of_queue, of_flows, "{scheduler} {law}");
        let service = results.service_flows.iter().find(|row| row.direction == "up").unwrap();
        let of_service =
            [service.marked_packets, service.policed_drop_packets, service.dropped_aqm_packets];
        assert_eq!(of_service, of_flows, "{scheduler} {law}");
        let over_time = ["marks", "overflow_drops", "aqm_drops"]
            .map(|metric| series(&results, "upstream", metric).series.values.iter().sum::<f32>());
        assert_eq!(over_time.map(|sum| sum as u64), of_flows, "{scheduler} {law}");
        signals = [0, 1, 2].map(|kind| signals[kind] + of_flows[kind]);
    }
    assert!(signals.iter().all(|&count| count > 20), "{signals:?}");
}

/// An algorithm that never acted in a full queue is a warning, which names the buffer as it is: PIE of the draft
/// measures the rate over 16 384 bytes, and 6 packets of 1500 bytes are 9000.
#[test]
fn an_algorithm_that_cannot_act_is_a_warning_with_the_key_that_would_help() {
    let warnings = |queue: &str| {
        let results = Simulation::run(&scenario(&format!(
            "duration_s = 5
             upstream = {{ sustained_mbps = 5, peak_mbps = 5, burst_bytes = 9000, queue = {{ {queue} }} }}
             downstream = {{ sustained_mbps = 50, peak_mbps = 50, burst_bytes = 9000 }}
             servers.near.delay_ms = 9
             traffic.upload = {{ kind = 'transfer', server = 'near' }}
             traffic.game = {{ kind = 'stream', purpose = 'game', server = 'near' }}"
        )));
        sentences(results.warnings.into_iter().filter(|one| one.code == Code::AqmNeverActed))
    };
    for (limit, buffer, usual) in [
        ("limit_bytes = 12_000", "12000", "limit_bytes = 156250"),
        ("limit_packets = 6", "9000", "limit_packets = 103"),
    ] {
        let law = "{ kind = 'pie', estimate = 'draft_departure_rate' }";
        let reported = warnings(&format!("{limit}, law = {law}")).join("");
        let why = format!(
            "packets found the queue full; it measures the rate over rate_threshold_bytes = 16384, and the \
             buffer holds {buffer}; set upstream.queue.{usual}"
        );
        assert!(
            reported.starts_with("upstream: pie dropped and marked nothing")
                && reported.ends_with(&why),
            "{reported}"
        );
    }
    assert!(warnings("limit_bytes = 100_000, law = { kind = 'codel' }").is_empty());
    // The RFC's takes the rate of the line until it has measured one: in 30 000 bytes, 48 ms, it acts.
    assert!(warnings("limit_bytes = 30_000, law = { kind = 'pie', target_ms = 5 }").is_empty());
}

/// Each bin's algorithm sees its share of the line and of the buffer: with one to four flows of 10 Mbps in flow queues
/// delays stay near the targets of 15 and 10 ms. Before, a bin looked at a third of the whole buffer, which four never
/// filled: 226 ms.
#[test]
fn laws_in_bins_hold_their_delays_for_any_number_of_flows() {
    for scheduler in ["fq", "sfq", "drr", "wfq", "scfq"] {
        for (law, most_ms) in
            [("pie", 22.0), ("docsis_pie", 24.0), ("codel_dt", 20.0), ("red", 14.0), ("gsp", 22.0)]
        {
            for flows in [1, 2, 4] {
                let results = Simulation::run(&scenario(&format!(
                    "duration_s = 12
                     metrics.from_s = 4
                     upstream = {{ sustained_mbps = 10, modem.kind = 'link',
                                   queue = {{ scheduler.kind = '{scheduler}', law.kind = '{law}' }} }}
                     downstream = {{ sustained_mbps = 100 }}
                     servers.near.delay_ms = 10
                     traffic.up = {{ kind = 'transfer', server = 'near', connections = {flows} }}"
                )));
                let p50_ms = queue(&results, "upstream").sojourn_p50_ms.unwrap();
                assert!(p50_ms < most_ms, "{scheduler} {law}, {flows} flows: {p50_ms} ms");
                let up = results.flows.iter().find(|row| row.direction == "up").unwrap();
                assert!(
                    up.goodput_mbps > 9.3,
                    "{scheduler} {law}, {flows} flows: {}",
                    up.goodput_mbps
                );
            }
        }
    }
}
