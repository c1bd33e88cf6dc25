//! Tables that leave through the Arrow PyCapsule interface, without a copy.

use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{ArrowPrimitiveType, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, PrimitiveArray, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_schema::{Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// What a column is measured in, by the end of its name.
const UNITS: [(&str, &str); 7] = [
    ("_ms", "ms"),
    ("_s", "s"),
    ("mbps", "Mbps"),
    ("bytes", "B"),
    ("packets", "packets"),
    ("percent", "%"),
    ("per_hour", "1/h"),
];

/// A table for anything that speaks Arrow: `pyarrow.table(t)`, `polars.DataFrame(t)`.
#[pyclass(frozen, module = "sojourn._sojourn")]
#[derive(Clone)]
pub struct ArrowTable(RecordBatch);

#[pymethods]
impl ArrowTable {
    /// The table as an Arrow C stream of one batch, always in its own schema.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }
}

/// Turns rows into columns, one call a column.
pub struct Columns<'a, Row> {
    rows: &'a [Row],
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl<'a, Row> Columns<'a, Row> {
    /// No columns yet.
    pub fn of(rows: &'a [Row]) -> Self {
        Self { rows, fields: Vec::new(), arrays: Vec::new() }
    }

    /// A text.
    pub fn text(self, name: &str, value: impl Fn(&'a Row) -> &'a str) -> Self {
        let array = StringArray::from_iter_values(self.rows.iter().map(value));
        self.put(name, Arc::new(array), false)
    }

    /// A text out of a few, kept once each.
    pub fn word(self, name: &str, value: impl Fn(&'a Row) -> &'a str) -> Self {
        let mut words = StringDictionaryBuilder::<Int32Type>::new();
        self.rows.iter().for_each(|row| words.append_value(value(row)));
        self.put(name, Arc::new(words.finish()), false)
    }

    /// A text out of a few, kept once each, or null.
    pub fn maybe_word<Text: AsRef<str>>(
        self,
        name: &str,
        value: impl Fn(&'a Row) -> Option<Text>,
    ) -> Self {
        let mut words = StringDictionaryBuilder::<Int32Type>::new();
        self.rows.iter().for_each(|row| words.append_option(value(row)));
        self.put(name, Arc::new(words.finish()), true)
    }

    /// A number.
    pub fn number<T: ArrowPrimitiveType>(
        self,
        name: &str,
        value: impl Fn(&'a Row) -> T::Native,
    ) -> Self {
        let array = PrimitiveArray::<T>::from_iter_values(self.rows.iter().map(value));
        self.put(name, Arc::new(array), false)
    }

    /// Yes or no.
    pub fn flag(self, name: &str, value: impl Fn(&'a Row) -> bool) -> Self {
        let array: BooleanArray = self.rows.iter().map(|row| Some(value(row))).collect();
        self.put(name, Arc::new(array), false)
    }

    /// A number or null.
    pub fn maybe<T: ArrowPrimitiveType>(
        self,
        name: &str,
        value: impl Fn(&'a Row) -> Option<T::Native>,
    ) -> Self {
        let array: PrimitiveArray<T> = self.rows.iter().map(value).collect();
        self.put(name, Arc::new(array), true)
    }

    fn put(mut self, name: &str, array: ArrayRef, nullable: bool) -> Self {
        let field = Field::new(name, array.data_type().clone(), nullable);
        let unit = UNITS.iter().find(|(end, _)| name.ends_with(end));
        self.fields.push(match unit {
            Some((_, unit)) => field.with_metadata([("unit".into(), (*unit).into())].into()),
            None => field,
        });
        self.arrays.push(array);
        self
    }

    /// The table.
    pub fn table(self) -> ArrowTable {
        let schema = Arc::new(Schema::new(self.fields));
        ArrowTable(RecordBatch::try_new(schema, self.arrays).expect("columns are equally long"))
    }
}
