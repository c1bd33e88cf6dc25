//! Settings outside a file, with the keys that they have in TOML: their JSON Schema and their checks.

use serde_json::{Map, Value, json};

use super::leaf::Leaf;
use super::settings;
use super::table::{Kind, Row, Table};
use sojourn_input::problem::Fault;

/// The JSON Schema of a table of settings with those rows that `has` names.
pub fn schema(table: Table, has: fn(&Row) -> bool) -> Value {
    let properties: Map<String, Value> = table
        .rows()
        .filter(|row| has(row))
        .map(|row| (row.key.to_owned(), of_row(row, has)))
        .collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// What is wrong with settings of a table.
pub fn fault(table: Table, value: &Value) -> Option<Fault> {
    settings::nested(value, table).err().map(|fault| fault.fault)
}

fn of_row(row: &Row, has: fn(&Row) -> bool) -> Value {
    let mut schema = match row.kind {
        Kind::Nested(table) => schema(table, has),
        Kind::Leaf(leaf) => of_leaf(leaf),
        Kind::Digest => json!({}),
    };
    let unit = if row.unit.is_empty() { String::new() } else { format!(", in {}", row.unit) };
    schema["description"] = format!("{} (MULPI {}){unit}.", row.name, row.section).into();
    schema
}

fn of_leaf(leaf: Leaf) -> Value {
    let number = |min, max| json!({ "type": "integer", "minimum": min, "maximum": max });
    match leaf {
        Leaf::Number { min, max, .. } => number(min, max),
        Leaf::Numbers { most } => json!({
            "type": "array", "items": number(0, 65_535), "minItems": 1, "maxItems": most,
        }),
        Leaf::Flag => json!({ "type": "boolean" }),
        Leaf::Word(words) => {
            let one = |(byte, word): &(u8, &str)| json!({ "type": "string", "const": word, "description": format!("{byte} in a file.") });
            json!({ "oneOf": words.iter().map(one).collect::<Vec<_>>() })
        }
        Leaf::Octets(names) => {
            let octets = names.iter().map(|name| ((*name).to_owned(), number(0, 255)));
            let octets: Map<String, Value> = octets.collect();
            json!({ "type": "object", "properties": octets, "additionalProperties": false })
        }
        Leaf::Text { .. } | Leaf::Hex { .. } | Leaf::Ipv4 | Leaf::Ipv6 => {
            json!({ "type": "string" })
        }
    }
}
