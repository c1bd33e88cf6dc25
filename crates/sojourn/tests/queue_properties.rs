//! What holds for every scheduler with every AQM algorithm and all parameters that the schema allows: packets are
//! neither lost nor doubled, no flow is reordered, no limit is exceeded, nothing waits while the link
//! could send, and nothing panics.

use crate::queue_kit::drawer::Drawer;
use crate::queue_kit::{Rig, datagram, keeps_order, labelled, segment};
use sojourn::engine::dialect::Dialect;
use sojourn::engine::packet::Packet;
use sojourn::engine::queue::QueueSpec;
use sojourn::engine::units::Time;
use sojourn::scenario::json_schema;
use sojourn_testing::at_random;
use sojourn_testing::proptest::prelude::*;

/// A scheduler and an AQM algorithm with any parameters, and limits that hold at least one packet.
fn queue(seed: u64) -> QueueSpec {
    let mut drawer = Drawer::new(seed);
    let mut spec = drawer.queue();
    let limits = drawer.choices.below(3);
    spec.limit_bytes =
        (limits != 0).then(|| u64::from(LARGEST) + 1 + drawer.choices.below(100_000));
    spec.limit_packets = (limits != 1).then(|| 2 + drawer.choices.below(100));
    spec
}

const LARGEST: u16 = 1522;

#[derive(Clone, Debug)]
struct Step {
    /// After so many us.
    wait: u16,
    /// Packets of this size that come.
    arrivals: u8,
    size: u16,
    flow: u16,
    /// Packets that may leave.
    departures: u8,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let wait = prop_oneof![4 => 0_u16..300, 1 => 0_u16..20_000];
    let step = (wait, 0_u8..8, 64..=LARGEST, 0_u16..9, 0_u8..8).prop_map(
        |(wait, arrivals, size, flow, departures)| Step { wait, arrivals, size, flow, departures },
    );
    prop::collection::vec(step, 1..150)
}

/// Six flows of datagrams and three connections, of which two share a hash.
fn packet(flow: u16, seq: u64, size: u16) -> Packet {
    let packet = match flow {
        0..6 => datagram(flow, seq, size),
        _ => segment(7 * u32::from(flow), u32::from(flow) / 7 * 99, seq, size),
    };
    labelled(flow.into(), packet)
}

/// The flow of a packet, as [`packet`] numbers them.
fn flow_of(packet: &Packet) -> usize {
    if packet.carries_data() { packet.traffic.into() } else { packet.flow as usize / 7 }
}

fn check(spec: &QueueSpec, dialect: Dialect, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut rig = Rig::new(spec, dialect, 10.0);
    let slack = u64::from(dialect == Dialect::Ns2);
    let most = (
        spec.limit_bytes.map_or(u64::MAX, |limit| limit - slack),
        spec.limit_packets.map_or(u64::MAX, |limit| limit - slack),
    );
    let (mut next, mut last) = ([1_u64; 9], [0_u64; 9]);
    for step in steps {
        rig.wait(Time::from_us(step.wait.into()));
        for _ in 0..step.arrivals {
            let seq = &mut next[usize::from(step.flow)];
            rig.put(packet(step.flow, *seq, step.size));
            *seq += 1;
            let waiting = rig.backlog();
            prop_assert!(waiting.bytes <= most.0 && waiting.packets <= most.1, "{waiting:?}");
        }
        for _ in 0..step.departures {
            let Some(packet) = rig.take() else {
                // An AQM algorithm may drop heads until nothing is left, but not leave something behind.
                prop_assert_eq!(rig.backlog().packets, 0);
                break;
            };
            let last = &mut last[flow_of(&packet)];
            prop_assert!(!keeps_order(spec) || packet.segment.seq > *last, "reordered");
            *last = packet.segment.seq;
        }
        rig.assert_conserved();
    }
    while rig.take().is_some() {}
    prop_assert_eq!((rig.backlog().packets, rig.backlog().bytes), (0, 0));
    rig.assert_conserved();
    Ok(())
}

at_random! {
    300;

    #[test]
    fn every_scheduler_with_every_algorithm_keeps_its_promises(
        seed in any::<u64>(),
        ns2 in any::<bool>(),
        steps in steps(),
    ) {
        let spec = queue(seed);
        let dialect = if ns2 { Dialect::Ns2 } else { Dialect::Rfc };
        check(&spec, dialect, &steps).map_err(|error| TestCaseError::fail(format!("{spec:?}: {error}")))?;
    }
}

/// The draws reach what they are to reach.
#[test]
fn the_draws_reach_every_scheduler_and_algorithm() {
    let defs = json_schema()["$defs"].take();
    for (part, key) in [("SchedulerSpec", "scheduler"), ("AqmSpec", "law")] {
        for option in defs[part]["oneOf"].as_array().unwrap() {
            let kind = &option["properties"]["kind"]["const"];
            let mut specs = (0..300).map(|seed| serde_json::to_value(queue(seed)).unwrap());
            assert!(specs.any(|spec| spec[key]["kind"] == *kind), "{kind}");
        }
    }
}
