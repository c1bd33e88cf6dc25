//! Results of a run: their rows, their columns with units and sources, and the tables that have them.

pub mod column;
mod first_half;
mod given_up;
mod pages;
pub(crate) mod read;
pub(crate) mod results;
pub mod rows;
pub(crate) mod tables;
mod under_way;
mod unmeasured;
mod waits;

pub(crate) use given_up::with_given_up;
pub use pages::unfinished_s;
pub(crate) use pages::{page_load, page_load_of_all};
pub use read::{Row, Rows};
pub use results::{Change, LatencyCells, Results, SeriesRow};
pub use tables::{Visitor, definitions};
pub(crate) use under_way::{ByLoad, rate_mbps, round_trips};
pub(crate) use unmeasured::{SLOW_START_S, frameless, start_wait_s, unknown, unprobed};
pub(crate) use waits::{heard, longest_wait_ms, queue_values};
