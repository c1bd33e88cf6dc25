//! What the CMTS knows by name, and the files of modems refer to.

use std::borrow::Cow;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use sojourn_access::modem_config::{FILE, Kind, Row, Table, settings_fault, settings_schema};
use sojourn_input::fault;
use sojourn_input::problem::{Fault, Faults, Warning};
use sojourn_input::words;

/// The longest name in a file (DOCSIS MULPI C.2.2.5.4).
const LONGEST_NAME: usize = 15;

/// What the CMTS knows, for modem files that refer to it. Each table has the keys that its settings have in
/// `sojourn config show --toml`; what a file itself says goes first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Provisioning {
    /// Service classes, by the name that service flows (type 24.4, 25.4) or low-latency aggregates have.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(extend("maxProperties" = 1000))]
    pub service_classes: IndexMap<String, ServiceClass>,
    /// Aggregate QoS profiles, by the name that aggregate service flows (type 70.4, 71.4) have.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(extend("maxProperties" = 1000))]
    pub aggregate_profiles: IndexMap<String, AggregateProfile>,
    /// What holds for low-latency aggregates where neither the file nor the profile says it.
    #[serde(skip_serializing_if = "LowLatencyDefaults::is_empty")]
    pub low_latency: LowLatencyDefaults,
}

impl Provisioning {
    /// Is nothing known?
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A warning if no modem's file reads what is known.
    pub(crate) fn unused(&self, has_file: bool) -> Option<Warning> {
        let is_idle = !has_file && !self.is_empty();
        is_idle.then(|| {
            fault!(IdleKey, "provisioning" =>
                "provisioning has no effect without a modem's file: name one with --config, or leave it out")
        })
    }

    /// All faults of names and settings.
    pub(crate) fn check(&self) -> Faults {
        let classes =
            self.service_classes.iter().map(|(name, class)| (SERVICE_CLASSES, name, &class.0));
        let profiles = self.aggregate_profiles.iter();
        let profiles = profiles.map(|(name, profile)| (AGGREGATE_PROFILES, name, &profile.0));
        let named = classes.chain(profiles).flat_map(|(table, name, settings)| {
            let path = words::join(table, name);
            let of = if table == SERVICE_CLASSES { flows() } else { aggregates() };
            let is_printed = name.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
            let fits = is_printed && (1..=LONGEST_NAME).contains(&name.len());
            let allowed =
                format!("1 to {LONGEST_NAME} printable ASCII characters, as in a modem's file");
            let name =
                (!fits).then(|| Fault::found(path.clone(), format!("the name {name:?}"), allowed));
            name.into_iter().chain(misfit(of, settings).map(|fault| fault.under(&path)))
        });
        let defaults = misfit(low_latency(), &self.low_latency.0);
        named.chain(defaults.map(|fault| fault.under("low_latency"))).collect()
    }
}

fn misfit(table: Table, settings: &Map<String, Value>) -> Option<Fault> {
    settings_fault(table, &Value::Object(settings.clone()))
}

pub(super) const SERVICE_CLASSES: &str = "service_classes";
pub(super) const AGGREGATE_PROFILES: &str = "aggregate_profiles";

/// Keys that are of one flow, not of many.
const OF_ONE: [&str; 3] = ["reference", "identifier", "aggregate_reference"];
/// Names of service classes, which the CMTS gives to the flows of an aggregate.
const NAMES: [&str; 2] = ["classic_service_class", "low_latency_service_class"];

/// What is simulated of the settings that many flows may have.
fn is_shared(row: &Row) -> bool {
    !OF_ONE.contains(&row.key)
        && (!row.is_aside || NAMES.contains(&row.key))
        && row.key != "match_criteria"
}

fn within(table: Table, key: &str) -> Table {
    match table.keyed(key).map(|row| row.kind) {
        Some(Kind::Nested(table)) => table,
        _ => table,
    }
}

fn flows() -> Table {
    within(FILE, "upstream_service_flows")
}

fn aggregates() -> Table {
    within(FILE, "upstream_aggregates")
}

fn low_latency() -> Table {
    within(aggregates(), "low_latency")
}

/// A table of settings that many flows may have.
macro_rules! settings {
    ($(#[doc = $about:literal])+ $name:ident, $table:ident) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Map<String, Value>);

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut schema = settings_schema($table(), is_shared);
                schema["description"] = concat!($($about),+).trim().into();
                Schema::try_from(schema).expect("it is a table")
            }
        }
    };
}

settings! {
    /// Settings of the service flows of a class.
    ServiceClass, flows
}
settings! {
    /// Settings of the aggregate service flows of a profile.
    AggregateProfile, aggregates
}
settings! {
    /// Settings of low-latency aggregates.
    LowLatencyDefaults, low_latency
}

impl LowLatencyDefaults {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
