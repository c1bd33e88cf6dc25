//! Tables as columns: numbers in the blob as 64-bit floats, texts once each in the JSON.

use std::collections::HashMap;

use serde_json::{Value, json};
use sojourn::results::metrics::Results;
use sojourn::results::metrics::Visitor;
use sojourn::results::metrics::column::{Cells, Table};

/// Columns of 64-bit floats, one after the other.
#[derive(Default)]
pub(crate) struct Blob(Vec<u8>);

impl Blob {
    /// Appends a column and returns its place: the number of its first value, and how many it has.
    pub(crate) fn column(&mut self, values: impl Iterator<Item = f64>) -> Value {
        let first = self.0.len() / size_of::<f64>();
        values.for_each(|value| self.0.extend(value.to_le_bytes()));
        json!({ "first": first, "count": self.0.len() / size_of::<f64>() - first })
    }

    /// Texts as numbers of a list of them; -1 stands for none.
    pub(crate) fn texts<T: AsRef<str>>(
        &mut self,
        values: impl Iterator<Item = Option<T>>,
    ) -> Value {
        let mut numbers = HashMap::new();
        let mut texts = Vec::new();
        let codes = values.map(|text| match text {
            None => -1.0,
            Some(text) => *numbers.entry(text.as_ref().to_owned()).or_insert_with(|| {
                texts.push(text.as_ref().to_owned());
                (texts.len() - 1) as f64
            }),
        });
        let mut place = self.column(codes);
        place["texts"] = json!(texts);
        place
    }

    /// The bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// All tables of a run, by name. A cell without a value is NaN.
pub(crate) fn tables(results: &Results, blob: &mut Blob) -> Value {
    let mut tables = Tables { blob, found: serde_json::Map::new() };
    results.tables(&mut tables);
    Value::Object(tables.found)
}

struct Tables<'a> {
    blob: &'a mut Blob,
    found: serde_json::Map<String, Value>,
}

impl Visitor for Tables<'_> {
    fn table<Row: Table>(&mut self, rows: &[Row]) {
        let columns = Row::columns();
        let columns = columns.iter().map(|column| {
            (column.definition.name.to_owned(), cells((column.cells)(rows), self.blob))
        });
        let columns: serde_json::Map<_, _> = columns.collect();
        self.found.insert(Row::NAME.to_owned(), json!({ "rows": rows.len(), "columns": columns }));
    }
}

fn cells(cells: Cells<'_>, blob: &mut Blob) -> Value {
    match cells {
        Cells::Flag(values) => blob.column(values.map(|v| or_nan(v.map(u8::from)))),
        Cells::U16(values) => blob.column(values.map(or_nan)),
        Cells::U32(values) => blob.column(values.map(or_nan)),
        // Counts of bytes and packets are far below 2^53, from where floats have gaps.
        Cells::U64(values) => blob.column(values.map(|v| v.map_or(f64::NAN, |v| v as f64))),
        Cells::F32(values) => blob.column(values.map(or_nan)),
        Cells::F64(values) => blob.column(values.map(or_nan)),
        Cells::Text(values) => blob.texts(values),
    }
}

fn or_nan<T: Into<f64>>(value: Option<T>) -> f64 {
    value.map_or(f64::NAN, Into::into)
}
