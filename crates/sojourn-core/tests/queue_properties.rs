//! What holds of every scheduler with every law and all parameters that the schema allows: packets are
//! neither lost nor doubled, no flow is reordered, no limit is exceeded, nothing waits while the link
//! could send, and nothing panics.

mod queue_kit;

use proptest::prelude::*;
use queue_kit::{Rig, TRAFFIC, datagram, segment};
use serde_json::{Map, Value, json};
use sojourn_core::engine::rng::Rng;
use sojourn_core::packet::Packet;
use sojourn_core::queue::QueueSpec;
use sojourn_core::scenario::Dialect;
use sojourn_core::scenario::schema::json_schema;
use sojourn_core::units::Time;

/// Draws values that a schema allows.
struct Drawer {
    defs: Value,
    rng: Rng,
}

impl Drawer {
    fn new(seed: u64) -> Self {
        Self { defs: json_schema()["$defs"].take(), rng: Rng::named(seed, "parameters") }
    }

    fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.rng.below(list.len() as u64) as usize]
    }

    fn value(&mut self, schema: &Value) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().unwrap();
            return self.value(&self.defs[name].clone());
        }
        if let Some(options) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
            let option = self.one_of(options);
            return self.value(option);
        }
        if let Some(word) = schema.get("const") {
            return word.clone();
        }
        if let Some(words) = schema["enum"].as_array() {
            return self.one_of(words).clone();
        }
        match schema["type"].as_str().or_else(|| schema["type"][0].as_str()) {
            Some("object") => self.table(schema),
            Some("boolean") => json!(self.rng.below(2) == 1),
            Some("null") => Value::Null,
            Some("integer") => json!(self.number(schema).round() as u64),
            Some("number") => json!(self.number(schema)),
            other => panic!("{other:?} in {schema}"),
        }
    }

    /// Often an end of the range, else any order of magnitude in it.
    fn number(&mut self, schema: &Value) -> f64 {
        let bound = |key: &str| schema[key].as_f64().expect("every number has a range");
        let (min, max) = (bound("minimum"), bound("maximum"));
        let low = min.max(max * 1e-9);
        match self.rng.below(6) {
            0 => min,
            1 => max,
            _ => (low * (max / low).powf(self.rng.uniform())).clamp(min, max),
        }
    }

    /// About half of the keys that may be left out are.
    fn table(&mut self, schema: &Value) -> Value {
        let empty = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&empty);
        let mut table = Map::new();
        for (key, schema) in properties {
            if schema.get("const").is_some() || self.rng.below(2) == 0 {
                table.insert(key.clone(), self.value(schema));
            }
        }
        if schema["additionalProperties"].is_object() {
            for name in TRAFFIC {
                if self.rng.below(2) == 0 {
                    table.insert(name.to_owned(), self.value(&schema["additionalProperties"]));
                }
            }
        }
        Value::Object(table)
    }

    /// A scheduler and a law with any parameters, and limits that hold at least one packet.
    fn queue(&mut self) -> QueueSpec {
        let mut spec = json!({
            "scheduler": self.value(&json!({ "$ref": "#/$defs/SchedulerSpec" })),
            "law": self.value(&json!({ "$ref": "#/$defs/LawSpec" })),
        });
        let limits = self.rng.below(3);
        if limits != 0 {
            spec["limit_bytes"] = json!(u64::from(LARGEST) + 1 + self.rng.below(100_000));
        }
        if limits != 1 {
            spec["limit_packets"] = json!(2 + self.rng.below(100));
        }
        serde_json::from_value(spec).expect("the schema allows it")
    }
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
    match flow {
        0..6 => datagram(flow, seq, size),
        _ => segment(7 * u32::from(flow), u32::from(flow) / 7 * 99, seq, size),
    }
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
                // A law may drop heads until nothing is left, but not leave something behind.
                prop_assert_eq!(rig.backlog().packets, 0);
                break;
            };
            let last = &mut last[flow_of(&packet)];
            prop_assert!(packet.segment.seq > *last, "reordered");
            *last = packet.segment.seq;
        }
        rig.assert_conserved();
    }
    while rig.take().is_some() {}
    prop_assert_eq!((rig.backlog().packets, rig.backlog().bytes), (0, 0));
    rig.assert_conserved();
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn every_scheduler_with_every_law_keeps_its_promises(
        seed in any::<u64>(),
        ns2 in any::<bool>(),
        steps in steps(),
    ) {
        let spec = Drawer::new(seed).queue();
        let dialect = if ns2 { Dialect::Ns2 } else { Dialect::Rfc };
        check(&spec, dialect, &steps).map_err(|error| TestCaseError::fail(format!("{spec:?}: {error}")))?;
    }
}

/// The draws reach what they are to reach.
#[test]
fn the_draws_reach_every_scheduler_and_law() {
    let defs = json_schema()["$defs"].take();
    for (part, key) in [("SchedulerSpec", "scheduler"), ("LawSpec", "law")] {
        for option in defs[part]["oneOf"].as_array().unwrap() {
            let kind = &option["properties"]["kind"]["const"];
            let mut specs =
                (0..300).map(|seed| serde_json::to_value(Drawer::new(seed).queue()).unwrap());
            assert!(specs.any(|spec| spec[key]["kind"] == *kind), "{kind}");
        }
    }
}
