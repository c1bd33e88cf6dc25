//! Verdicts on runs: measured values, grades against thresholds with their sources, and an answer in
//! sentences. Pure functions from tables of results to plain data, for reports and pages alike.
//!
//! [`Facts`] are what a run contributes, [`verdict()`] judges groups of runs that differ in their seed,
//! side by side and against an idle line.

mod answer;
mod facts;
mod grades;
mod groups;
mod measures;
mod order;
mod round_trip;
mod sentences;
mod thresholds;

pub use crate::causes::{Cause, CausePart};
pub use crate::metrics::{Row, Rows, unfinished_s};
pub use crate::over_seeds::{Value, over_seeds};
pub use crate::shares::Share;
pub use answer::{Graded, Transfer, Verdict, verdict};
pub use facts::Facts;
pub use grades::Assessment;
pub use groups::Group;
pub use measures::{Better, MEASURES, Measure};
pub use order::{Answer, Price};
pub use round_trip::RoundTrip;
pub use thresholds::{APPLICATIONS, Application, Grade, Steps, Threshold};
