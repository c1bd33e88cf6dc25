//! Settings drawn from all that the table of types allows.

use serde_json::{Map, Value, json};
use sojourn::access::modem_config::Leaf;
use sojourn::access::modem_config::{FILE, Kind, Row, Table};
use sojourn::engine::rng::Rng;

/// References are made to fit after they are drawn.
const REFERENCES: [&str; 3] = ["reference", "flow_reference", "aggregate_reference"];

/// Numbers of one table that ascend.
const ASCENDING: [&[&str]; 5] = [
    &["min_upstream_rate_bps", "max_upstream_rate_bps"],
    &["min_reserved_rate", "max_sustained_rate", "peak_rate"],
    &["minimum_bytes", "target_bytes", "maximum_bytes"],
    &["source_port_start", "source_port_end"],
    &["destination_port_start", "destination_port_end"],
];

/// Draws settings.
pub(super) struct Drawer(Rng);

impl Drawer {
    pub(super) fn new(seed: u64) -> Self {
        Self(Rng::named(seed, "settings"))
    }

    /// Settings of a file, in which all references fit.
    pub(super) fn settings(&mut self) -> Value {
        let mut settings = self.table(FILE);
        self.keep_one_kind_of_service(&mut settings);
        let mut next = 1;
        for key in ["upstream_service_flows", "downstream_service_flows"] {
            number(&mut settings, key, &mut next);
        }
        for key in ["upstream_classifiers", "downstream_classifiers", "upstream_drop_classifiers"] {
            number(&mut settings, key, &mut 1);
        }
        number(&mut settings, "upstream_aggregates", &mut 1);
        number(&mut settings, "downstream_aggregates", &mut 1000);
        self.link(
            &mut settings,
            "upstream_classifiers",
            "flow_reference",
            "upstream_service_flows",
        );
        self.link(
            &mut settings,
            "upstream_service_flows",
            "aggregate_reference",
            "upstream_aggregates",
        );
        bound_members(&mut settings);
        settings
    }

    /// A file has classes of service or service flows.
    fn keep_one_kind_of_service(&mut self, settings: &mut Value) {
        let others: &[&str] = match self.below(4) {
            0 => &["upstream_service_flows", "downstream_service_flows"],
            _ => &["classes_of_service"],
        };
        if let Some(table) = settings.as_object_mut() {
            others.iter().for_each(|key| drop(table.remove(*key)));
        }
    }

    /// Points the key of each entry of a list at some entry of another.
    fn link(&mut self, settings: &mut Value, from: &str, key: &str, to: &str) {
        let targets = settings[to].as_array().cloned().unwrap_or_default();
        if targets.is_empty() {
            return;
        }
        for entry in settings.get_mut(from).and_then(Value::as_array_mut).into_iter().flatten() {
            let target = &targets[self.below(targets.len() as u64) as usize];
            entry[key] = target["reference"].clone();
        }
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    /// About two thirds of the keys.
    fn table(&mut self, table: Table) -> Value {
        let mut settings = Map::new();
        for row in table.rows() {
            if row.kind != Kind::Digest && !REFERENCES.contains(&row.key) && self.below(3) > 0 {
                let value = self.row(row);
                settings.insert(row.key.to_owned(), value);
            }
        }
        ASCENDING.iter().for_each(|keys| ascend(&mut settings, keys));
        // Types from 200 to 254 are nowhere known.
        let unknown = (0..self.below(3)).map(|_| {
            let length = self.below(4) as usize;
            json!({"type": 200 + self.below(55), "hex": "c7".repeat(length)})
        });
        let unknown: Vec<_> = unknown.collect();
        if !unknown.is_empty() {
            settings.insert("unknown".to_owned(), Value::Array(unknown));
        }
        Value::Object(settings)
    }

    pub(super) fn row(&mut self, row: &Row) -> Value {
        if row.repeats() {
            let count = 1 + self.below(3);
            (0..count).map(|_| self.one(row)).collect()
        } else {
            self.one(row)
        }
    }

    fn one(&mut self, row: &Row) -> Value {
        match row.kind {
            Kind::Nested(table) => self.table(table),
            Kind::Leaf(leaf) => self.leaf(leaf),
            Kind::Digest => unreachable!("digests are not set"),
        }
    }

    fn leaf(&mut self, leaf: Leaf) -> Value {
        match leaf {
            Leaf::Number { min, max, .. } => match self.below(4) {
                0 => min.into(),
                1 => max.into(),
                _ => (u64::from(min) + self.below(u64::from(max - min) + 1)).into(),
            },
            Leaf::Numbers { most } => {
                let length = 1 + self.below(most as u64);
                (0..length).map(|_| Value::from(self.below(1 << 16))).collect()
            }
            Leaf::Flag => (self.below(2) == 1).into(),
            Leaf::Word(words) => words[self.below(words.len() as u64) as usize].1.into(),
            Leaf::Octets(names) => names
                .iter()
                .map(|name| ((*name).to_owned(), Value::from(self.below(256))))
                .collect(),
            Leaf::Text { max, .. } => {
                "~".repeat(1 + self.below(max.min(20) as u64) as usize).into()
            }
            Leaf::Hex { min, max } => {
                let most = max.min(min + 20);
                let length = min as u64 + self.below((most - min) as u64 + 1);
                (0..length).map(|_| format!("{:02x}", self.below(256))).collect::<String>().into()
            }
            Leaf::Ipv4 => std::net::Ipv4Addr::from(self.0.bits() as u32).to_string().into(),
            Leaf::Ipv6 => {
                let halves = u128::from(self.0.bits()) << 64 | u128::from(self.0.bits());
                std::net::Ipv6Addr::from(halves).to_string().into()
            }
        }
    }
}

/// Brings what there is at these keys into order.
fn ascend(settings: &mut Map<String, Value>, keys: &[&str]) {
    let there: Vec<&str> = keys.iter().copied().filter(|key| settings.contains_key(*key)).collect();
    let mut numbers: Vec<_> = there.iter().map(|key| settings[*key].as_u64()).collect();
    numbers.sort_unstable();
    for (key, number) in there.into_iter().zip(numbers) {
        settings.insert(key.to_owned(), number.into());
    }
}

/// The maximum sustained rate of a flow or aggregate in bit/s, if one is set.
fn bps(settings: &Value) -> Option<u64> {
    let units = ["bps", "kbps", "mbps", "gbps"];
    let unit = units.iter().position(|unit| settings["data_rate_unit"] == *unit).unwrap_or(0);
    let rate = settings["max_sustained_rate"].as_u64()?;
    Some(rate.saturating_mul(1000_u64.pow(unit as u32))).filter(|bps| *bps > 0)
}

/// Aggregates have no rate that is below one of their members.
fn bound_members(settings: &mut Value) {
    let flows = settings["upstream_service_flows"].as_array().cloned().unwrap_or_default();
    let aggregates = settings.get_mut("upstream_aggregates").and_then(Value::as_array_mut);
    for aggregate in aggregates.into_iter().flatten() {
        let own = flows.iter().filter(|flow| flow["aggregate_reference"] == aggregate["reference"]);
        if own.filter_map(bps).max() > bps(aggregate)
            && let Some(table) = aggregate.as_object_mut()
        {
            table.remove("max_sustained_rate");
        }
    }
}

/// Gives each entry of a list a number of its own.
fn number(settings: &mut Value, key: &str, next: &mut u64) {
    let Some(entries) = settings.get_mut(key).and_then(Value::as_array_mut) else {
        return;
    };
    for entry in entries {
        entry["reference"] = (*next).into();
        *next += 1;
    }
}
