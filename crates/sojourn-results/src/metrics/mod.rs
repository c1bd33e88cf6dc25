//! Results of a run: their rows, their columns with units and sources, and the tables that have them.

pub mod column;
pub mod results;
pub mod rows;
pub mod tables;
