//! What schedulers have in common.

use super::tests::Bench;
use super::*;
use crate::aqm::{docsis_pie, pie, pie_linux};

fn with_bins() -> [SchedulerSpec; 6] {
    [
        SchedulerSpec::Fq(fq::Parameters::default()),
        SchedulerSpec::Sfq(sfq::Parameters::default()),
        SchedulerSpec::Drr(drr::Parameters::default()),
        SchedulerSpec::Wfq(wfq::Parameters::default()),
        SchedulerSpec::Scfq(scfq::Parameters::default()),
        SchedulerSpec::Abb(abb::Parameters::default()),
    ]
}

/// White 2014 appendix A: 4000 bytes granted in 16 ms are 2 Mbps, of which and of 8 Mbps the estimate is the mean.
#[test]
fn algorithms_hear_of_maps_and_are_updated() {
    let law = docsis_pie::Parameters { track_rate: true, ..docsis_pie::Parameters::default() };
    let law = AqmSpec::DocsisPie(law);
    let one_law = sfq::Parameters { one_law: true, ..sfq::Parameters::default() };
    let single = [SchedulerSpec::default(), SchedulerSpec::Sfq(one_law)];
    for spec in with_bins().into_iter().chain(single) {
        let mut bench = Bench::of(9);
        let mut scheduler = spec.parameters().start(&bench.setting(&law));
        let flow = FlowTable::connections().key(&Packet::datagram(100));
        scheduler.enqueue(Packet::datagram(100), &mut bench.entry());
        let estimate = |scheduler: &Scheduler| {
            let mut shown = Gauges::default();
            scheduler.gauges(&mut shown);
            scheduler.flow_gauges(flow, &mut shown);
            shown.get("rate_estimate")
        };
        let due = scheduler.next_update();
        assert_eq!(due, Time::from_ms(16), "{spec:?}");
        scheduler.on_map(4000, 1);
        scheduler.update(due, &bench.drain_rate);
        assert_eq!(estimate(&scheduler), Some(5.0), "{spec:?}");
        assert_eq!(scheduler.next_update(), Time::from_ms(32), "{spec:?}");
    }
}

/// Connections take turns, and those of one service flow do not where flows are service flows.
#[test]
fn flows_are_what_the_classifier_says() {
    let cake = SchedulerSpec::Cake(cake::Parameters::default());
    for spec in with_bins().into_iter().take(5).chain([cake]) {
        for unit in [Unit::ServiceFlow, Unit::Connection] {
            let mut bench = Bench::of(9);
            let mut scheduler = spec.parameters().start(&bench.setting(&AqmSpec::default()));
            scheduler.set_flow_classifier(&FlowTable::of_homes(unit, &[vec![1.0]]), &["all"]);
            for flow in [1, 1, 1, 2, 2, 2] {
                let packet = Packet { flow, tuple: flow, ..Packet::datagram(1500) };
                scheduler.enqueue(packet, &mut bench.entry());
            }
            let sent = std::iter::from_fn(|| scheduler.dequeue(&mut bench.exit()));
            let is_fifo = sent.map(|packet| packet.flow).eq([1, 1, 1, 2, 2, 2]);
            assert_eq!(is_fifo, unit == Unit::ServiceFlow, "{spec:?} {unit:?}");
        }
    }
}

/// Of a law that comes to rest: a queue without packets is not updated until one comes.
#[test]
fn queues_at_rest_are_not_updated() {
    let law = AqmSpec::Pie(pie::Parameters::default());
    for spec in [SchedulerSpec::default(), SchedulerSpec::Fq(fq::Parameters::default())] {
        let mut bench = Bench::of(9);
        let mut scheduler = spec.parameters().start(&bench.setting(&law));
        scheduler.enqueue(Packet::datagram(100), &mut bench.entry());
        for round in 1..=20 {
            assert_eq!(scheduler.next_update(), Time::from_ms(15 * round), "{spec:?}");
            scheduler.update(scheduler.next_update(), &bench.drain_rate);
        }
        assert!(scheduler.dequeue(&mut bench.exit()).is_some());
        for _ in 0..1000 {
            if scheduler.next_update() == Time::NEVER {
                break;
            }
            scheduler.update(scheduler.next_update(), &bench.drain_rate);
        }
        assert_eq!(scheduler.next_update(), Time::NEVER, "{spec:?}");
    }
}

/// A bin sends while a byte of its turn is left.
#[test]
fn a_turn_lasts_until_it_is_used_up() {
    let quantum_bytes = 1001;
    for (spec, order) in [
        (SchedulerSpec::Fq(fq::Parameters { quantum_bytes, ..Default::default() }), [1, 1, 2, 2]),
        (SchedulerSpec::Sfq(sfq::Parameters { quantum_bytes, ..Default::default() }), [1, 1, 2, 2]),
        (
            SchedulerSpec::Fq(fq::Parameters { quantum_bytes: 1000, ..Default::default() }),
            [1, 2, 1, 2],
        ),
        (
            SchedulerSpec::Sfq(sfq::Parameters { quantum_bytes: 1000, ..Default::default() }),
            [1, 2, 1, 2],
        ),
    ] {
        let mut bench = Bench::of(9);
        let mut scheduler = spec.parameters().start(&bench.setting(&AqmSpec::default()));
        for tuple in [1, 1, 2, 2] {
            scheduler.enqueue(Packet { tuple, ..Packet::datagram(1000) }, &mut bench.entry());
        }
        let sent = order.map(|_| scheduler.dequeue(&mut bench.exit()).unwrap().tuple);
        assert_eq!(sent, order, "{spec:?}");
    }
}

/// Service flows are distinguished by their numbers, whatever the hashes of their packets.
#[test]
fn hashed_schedulers_take_the_flows_that_they_are_given() {
    let table = FlowTable::of_homes(Unit::ServiceFlow, &[vec![1.0, 1.0]]);
    let [fq, sfq, ..] = with_bins();
    for spec in [fq, sfq] {
        let mut bench = Bench::of(9);
        let mut scheduler = spec.parameters().start(&bench.setting(&AqmSpec::default()));
        scheduler.set_flow_classifier(&table, &[]);
        for (service_flow, tuple) in [(0, 5), (0, 6), (1, 7)] {
            let packet = Packet { service_flow, tuple, ..Packet::datagram(100) };
            scheduler.enqueue(packet, &mut bench.entry());
        }
        let mut shown = Gauges::default();
        scheduler.gauges(&mut shown);
        let busy = shown.get("busy_queues").or(shown.get("busy_bins"));
        assert_eq!(busy, Some(2.0), "{spec:?}");
    }
}

/// Linux' fq_pie drops the arrival at a full queue, and fq_codel half of the longest queue's bytes.
#[test]
fn a_full_queue_of_linux_refuses_arrivals_if_its_law_judges_them() {
    let variant = fq::Variant::Linux;
    let parameters = fq::Parameters { variant, ..fq::Parameters::default() };
    let pie = AqmSpec::PieLinux(pie_linux::Parameters::default());
    let codel =
        AqmSpec::Codel(codel::Parameters { variant: codel::Variant::Linux, ..Default::default() });
    for (law, left) in [(pie, 4), (codel, 2)] {
        let mut bench = Bench::of(4);
        let mut scheduler = parameters.start(&bench.setting(&law));
        (0..5).for_each(|_| scheduler.enqueue(Packet::datagram(100), &mut bench.entry()));
        assert_eq!(scheduler.backlog().packets, left, "{law:?}");
        assert_eq!(bench.counts.all.dropped_overflow, 5 - left);
        assert_eq!(scheduler.dequeue(&mut bench.exit()).map(|packet| packet.size), Some(100));
    }
}

/// What the sources have.
#[test]
fn defaults_of_keys() {
    let abb = abb::Parameters::default();
    // Hong 2015 §5.2 and §5.1.
    assert_eq!((abb.bins, abb.interval_s, abb.smoothing, abb.idle_kbps), (3, 1.0, 0.4, 50.0));
    // A full frame without its check sequence, and with it and a tag.
    let quanta = [
        abb.quantum_bytes,
        fq::Parameters::default().quantum_bytes,
        fq_pie::Parameters::default().quantum_bytes,
        sfq::Parameters::default().quantum_bytes,
    ];
    assert_eq!((quanta, drr::Parameters::default().quantum_bytes), ([1514; 4], 1522));
    let fq_pie::Parameters { queues, target_ms, update_ms, max_mark_probability, .. } =
        fq_pie::Parameters::default();
    assert_eq!((queues, target_ms, update_ms, max_mark_probability), (1024, 15.0, 15.0, 0.1));
    assert_eq!((fq::Parameters::default().queues, sfq::Parameters::default().bins), (1024, 1024));
    let cake::Parameters { rtt_ms, overhead_bytes, mpu_bytes, .. } = cake::Parameters::default();
    assert_eq!((rtt_ms, overhead_bytes, mpu_bytes), (100.0, 0, 0));
    // MULPI, TLVs 70.42.6, 70.42.5, 24.40.2, 24.40.4, 24.40.5, 70.42.9 and 70.42.10.
    let low = Parameters::default();
    assert_eq!(
        (low.low_latency_weight(), low.coupling, low.classic_target_ms),
        (230.0 / 256.0, 2.0, 10.0)
    );
    assert_eq!((low.low_latency_max_us, low.low_latency_range_exponent), (1000.0, 19));
    assert_eq!((low.critical_score_us, low.aging_exponent), (4000.0, 19));
    let on = [low.coupled, low.classic_aqm, low.low_latency_aqm, low.queue_protection];
    assert_eq!(on, [true; 4]);
}

#[test]
fn bins_and_algorithms_that_are_there_from_the_start() {
    let one_law = sfq::Parameters { one_law: true, bins: 32, ..sfq::Parameters::default() };
    for (spec, bins) in [
        (SchedulerSpec::default(), (1, 1)),
        (SchedulerSpec::Drr(drr::Parameters::default()), (1, 1)),
        (SchedulerSpec::Fq(fq::Parameters::default()), (1024, 1024)),
        (SchedulerSpec::FqPie(fq_pie::Parameters { queues: 8, ..Default::default() }), (8, 8)),
        (SchedulerSpec::Sfq(sfq::Parameters { bins: 32, ..Default::default() }), (32, 32)),
        (SchedulerSpec::Sfq(one_law), (32, 1)),
        (SchedulerSpec::Abb(abb::Parameters::default()), (3, 3)),
    ] {
        assert_eq!(spec.parameters().bins(), bins, "{spec:?}");
    }
    let keeps = with_bins().map(|spec| spec.parameters().keeps_reserved_rates());
    assert_eq!(keeps, [false, false, true, false, false, false]);
    let weighs = with_bins().map(|spec| spec.parameters().weights().is_some());
    assert_eq!(weighs, [false, false, true, true, true, true]);
}
