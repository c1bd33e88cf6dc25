//! Entries of the traffic table: what sends packets.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::apps::AppSpec;
use sojourn_engine::address::Address;
use sojourn_engine::packet::Ecn;
use sojourn_input::parts;

/// Keys of a traffic entry that do not depend on its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Labels {
    /// Group of homes in which the entry runs; it runs in each home of the group. Default: the
    /// first group.
    pub home: Option<String>,
    /// DSCP of the entry's packets in both directions (RFC 2474 §3): 46 is EF (RFC 3246), 45 is NQB
    /// (RFC 9956). No effect with kind `outside`, whose packets have their own.
    #[schemars(range(min = 0, max = 63))]
    #[schemars(extend("x-role" = "choice"))]
    pub dscp: u8,
    /// ECN field of the entry's datagrams (RFC 3168 §5, RFC 9331 §4.1). Default: `not_ect`. TCP
    /// chooses its own. No effect with kind `outside`, whose packets have their own.
    #[schemars(extend("x-role" = "choice"))]
    pub ecn: Option<EcnField>,
    /// Port of the entry's servers. Default: 443 for web and transfers, 5004 for voice, 3074 for
    /// games, 6881 for torrents, 9 for all others. The home's ports count up from 49 152. No effect with kind `outside`,
    /// whose packets have their own.
    #[schemars(range(min = 1, max = 65_535))]
    #[schemars(extend("x-role" = "choice"))]
    pub port: Option<u16>,
    /// IP address of the device in the home, for classifiers that match addresses. Default: no
    /// address. No effect with kind `outside`, whose packets have their own.
    #[schemars(with = "Option<String>")]
    #[schemars(extend("x-role" = "choice"))]
    pub address: Option<Address>,
}

/// The ECN field that a sender of datagrams sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EcnField {
    /// No ECN.
    NotEct,
    /// ECN of RFC 3168.
    Ect0,
    /// L4S (RFC 9331).
    Ect1,
}

/// An entry of the traffic table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>", into = "Map<String, Value>")]
pub struct Entry {
    /// The app it runs.
    pub app: AppSpec,
    /// Where it runs, and the header fields of its packets.
    pub labels: Labels,
}

impl Entry {
    /// The port of its servers.
    pub fn port(&self) -> u16 {
        self.labels.port.unwrap_or_else(|| self.app.default_port())
    }

    /// The ECN field of its datagrams.
    pub fn datagram_ecn(&self) -> Ecn {
        match self.labels.ecn {
            None | Some(EcnField::NotEct) => Ecn::NotEct,
            Some(EcnField::Ect0) => Ecn::Ect0,
            Some(EcnField::Ect1) => Ecn::Ect1,
        }
    }
}

impl TryFrom<Map<String, Value>> for Entry {
    type Error = serde_json::Error;

    fn try_from(mut table: Map<String, Value>) -> Result<Self, Self::Error> {
        let keys = ["home", "dscp", "ecn", "port", "address"];
        let labels = keys.map(|key| (key, table.shift_remove(key)));
        let given = labels.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        let labels = serde_json::from_value(given.collect())?;
        Ok(Self { app: parts::read(table.into())?, labels })
    }
}

impl From<Entry> for Map<String, Value> {
    fn from(entry: Entry) -> Self {
        let tables = [parts::write(&entry.app), serde_json::to_value(entry.labels)];
        tables
            .into_iter()
            .flatten()
            .filter_map(|table| Some(table.as_object()?.clone()))
            .flatten()
            .collect()
    }
}

impl JsonSchema for Entry {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Entry".into()
    }

    /// The schema of every kind of app, with the labels added to its keys.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = AppSpec::json_schema(generator);
        // Names what the labels need among the definitions.
        Labels::json_schema(generator);
        let kinds = schema.ensure_object().get_mut("oneOf").and_then(Value::as_array_mut);
        for kind in kinds.into_iter().flatten() {
            add_labels(kind);
        }
        schema
    }
}

/// Adds the keys of all entries to the schema of those of one kind of app.
pub(crate) fn add_labels(kind: &mut Value) {
    let labels = Labels::json_schema(&mut SchemaSettings::draft2020_12().into_generator());
    let labels = labels.get("properties").and_then(Value::as_object);
    if let Some(keys) = kind["properties"].as_object_mut() {
        keys.extend(labels.cloned().unwrap_or_default());
    }
}
