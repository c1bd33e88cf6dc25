//! Results of a run: their rows, their columns with units and sources, and the tables that have them.

pub mod column;
pub(crate) mod results;
pub mod rows;
pub(crate) mod tables;

pub use results::{LatencyCells, Results, SeriesRow};
pub use tables::{Visitor, definitions};
