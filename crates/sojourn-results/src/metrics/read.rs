//! Rows of a run's tables by the names of their columns, whether they come from a run or from a file.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::column::{Cells, Table};
use super::results::Results;
use sojourn_engine::packet::Direction;
use sojourn_engine::record::Part;

/// Five packets are beyond the 90 % quantile of so many: fewer say nothing of it.
pub(crate) const FEWEST_PACKETS: f64 = 50.0;
/// Where fewer frames arrive whole, the delay of these says nothing.
const MOST_INCOMPLETE_PERCENT: f64 = 50.0;

/// A row of a table: values by the names of columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Row(pub Map<String, Value>);

impl Row {
    /// A number; `None` for null, and for a column that there is not.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.0.get(column)?.as_f64()
    }

    /// A text; empty for null, and for a column that there is not.
    pub fn text(&self, column: &str) -> &str {
        self.0.get(column).and_then(Value::as_str).unwrap_or_default()
    }

    /// Are the packets of this column too few to say anything?
    pub(crate) fn is_scarce(&self, packets: &str) -> bool {
        self.number(packets).is_some_and(|packets| packets < FEWEST_PACKETS)
    }

    /// Has a column no value since next to nothing arrives here? Then the worst of several rows is not known.
    pub(crate) fn is_unheard(&self, column: &str) -> bool {
        match column {
            "frame_latency_p90_ms" => {
                self.number("frames_incomplete_percent") > Some(MOST_INCOMPLETE_PERCENT)
            }
            _ => self.number(column).is_none() && self.number("loss_percent") == Some(100.0),
        }
    }

    /// The traffic entry that it is of.
    pub(crate) fn traffic(&self) -> &str {
        self.text("traffic")
    }

    /// Where its packets go.
    pub(crate) fn direction(&self) -> Option<Direction> {
        let name = self.text("direction");
        Direction::BOTH.into_iter().find(|direction| direction.name() == name)
    }

    /// The part of the time that a row of delay parts is of; `None` for all of it.
    pub(crate) fn part(&self) -> Option<Part> {
        Part::ALL.into_iter().find(|part| part.name() == self.text("part"))
    }

    /// The group of homes that it is of, if it is of one.
    pub(crate) fn homes(&self) -> Option<&str> {
        Some(self.text("homes")).filter(|name| !name.is_empty())
    }
}

#[cfg(test)]
impl From<Value> for Row {
    /// A row that a test writes.
    fn from(values: Value) -> Self {
        let Value::Object(values) = values else { panic!("no table: {values}") };
        Self(values)
    }
}

/// The tables of a run that verdicts read. Columns are those of [`crate::metrics::rows`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// A row per traffic entry and direction.
    pub flows: Vec<Row>,
    /// A row per queue.
    pub queues: Vec<Row>,
    /// A row per page loaded.
    pub pages: Vec<Row>,
    /// A row per traffic entry, direction and part of the time.
    #[serde(default)]
    pub delay_parts: Vec<Row>,
    /// A row per value of the first half of the run that grades read.
    #[serde(default)]
    pub first_half: Vec<Row>,
}

impl From<&Results> for Rows {
    fn from(results: &Results) -> Self {
        Self {
            flows: rows_of(&results.flows),
            queues: rows_of(&results.queues),
            pages: rows_of(&results.pages),
            delay_parts: rows_of(&results.delay_parts),
            first_half: rows_of(&results.first_half),
        }
    }
}

/// The rows of any table.
pub(crate) fn rows_of<R: Table>(table: &[R]) -> Vec<Row> {
    let mut rows = vec![Row::default(); table.len()];
    for column in R::columns() {
        for (row, value) in rows.iter_mut().zip(values((column.cells)(table))) {
            row.0.insert(column.definition.name.to_owned(), value);
        }
    }
    rows
}

fn values(cells: Cells<'_>) -> Vec<Value> {
    match cells {
        Cells::Flag(values) => values.map(Value::from).collect(),
        Cells::U16(values) => values.map(Value::from).collect(),
        Cells::U32(values) => values.map(Value::from).collect(),
        Cells::U64(values) => values.map(Value::from).collect(),
        Cells::F32(values) => values.map(Value::from).collect(),
        Cells::F64(values) => values.map(Value::from).collect(),
        Cells::Text(values) => values.map(|text| text.map(Cow::into_owned).into()).collect(),
    }
}
