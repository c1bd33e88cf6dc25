//! The table of types in `docs/modem-config.md` is that of the code.

use std::fmt::Write as _;

use sojourn::access::modem_config::Leaf;
use sojourn::access::modem_config::{FILE, Kind, Row, Table};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/modem-config.md");
const START: &str = "<!-- types -->\n";
const END: &str = "<!-- end of types -->\n";

fn holds(row: &Row) -> String {
    match row.kind {
        Kind::Nested(_) => "TLVs".to_owned(),
        Kind::Digest => "16 bytes, computed".to_owned(),
        Kind::Leaf(Leaf::Number { bytes, min, max }) => {
            format!("{bytes} B: {min} to {max} {}", row.unit).trim_end().to_owned()
        }
        Kind::Leaf(leaf) => leaf.allowed(),
    }
}

fn rows(page: &mut String, table: Table, outer: &str) {
    for row in table.rows() {
        let number = format!("{outer}{}", row.number);
        let count = if row.repeats() { ", several" } else { "" };
        let (key, name, section) = (row.key, row.name, row.section);
        let holds = holds(row);
        writeln!(page, "| {number} | {name} | `{key}` | {holds}{count} | {section} |").unwrap();
        if let Kind::Nested(table) = row.kind {
            rows(page, table, &format!("{number}."));
        }
    }
}

#[test]
fn the_page_has_the_types_of_the_code() {
    let mut types =
        "\n| type | name | key | holds | section |\n| --- | --- | --- | --- | --- |\n".to_owned();
    rows(&mut types, FILE, "");
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(START).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let expected = format!("{before}{START}{types}\n{END}{after}");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(PAGE, &expected).unwrap();
    } else {
        assert!(page == expected, "renew it with UPDATE_SNAPSHOTS=1");
    }
}
