//! Tables that leave through the Arrow PyCapsule interface, without a copy.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{
    ArrayRef, BooleanArray, PrimitiveArray, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_schema::{Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use sojourn::results::metrics::column::{Cells, Column, Definition, Table, Texts, Values};

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

/// Rows as columns, each with its unit, meaning and source in its metadata.
pub(crate) fn arrow_table<Row: Table>(rows: &[Row]) -> ArrowTable {
    let (fields, arrays): (Vec<_>, Vec<_>) =
        Row::columns().iter().map(|column| field_and_array(rows, column)).unzip();
    let schema = Arc::new(Schema::new(fields));
    ArrowTable(RecordBatch::try_new(schema, arrays).expect("columns are equally long"))
}

fn field_and_array<Row: Table>(rows: &[Row], column: &Column<Row>) -> (Field, ArrayRef) {
    let Definition { name, unit, meaning, source } = column.definition;
    let array = array((column.cells)(rows), Row::TEXTS);
    let described = [("unit", unit), ("description", meaning), ("source", source)];
    let metadata = described.into_iter().filter(|(_, text)| !text.is_empty());
    let metadata = metadata.map(|(key, text)| (key.to_owned(), text.to_owned())).collect();
    let field = Field::new(name, array.data_type().clone(), column.nullable);
    (field.with_metadata(metadata), array)
}

fn array(cells: Cells<'_>, texts: Texts) -> ArrayRef {
    match cells {
        Cells::Flag(values) => Arc::new(values.collect::<BooleanArray>()),
        Cells::U16(values) => Arc::new(values.collect::<PrimitiveArray<UInt16Type>>()),
        Cells::U32(values) => Arc::new(values.collect::<PrimitiveArray<UInt32Type>>()),
        Cells::U64(values) => Arc::new(values.collect::<PrimitiveArray<UInt64Type>>()),
        Cells::F32(values) => Arc::new(values.collect::<PrimitiveArray<Float32Type>>()),
        Cells::F64(values) => Arc::new(values.collect::<PrimitiveArray<Float64Type>>()),
        Cells::Text(values) if texts == Texts::Repeated => repeated(values),
        Cells::Text(values) => Arc::new(values.collect::<StringArray>()),
    }
}

/// Texts that are kept once each.
fn repeated(values: Values<'_, Cow<'_, str>>) -> ArrayRef {
    let mut texts = StringDictionaryBuilder::<Int32Type>::new();
    values.for_each(|text| texts.append_option(text));
    Arc::new(texts.finish())
}
