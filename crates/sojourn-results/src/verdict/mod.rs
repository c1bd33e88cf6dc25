//! Verdicts on runs: measured values, grades against thresholds with their sources, and an answer in
//! sentences. Pure functions from tables of results to plain data, for reports and pages alike.
//!
//! [`Facts`] are what a run contributes, [`verdict()`] judges groups of runs that differ in their seed,
//! side by side and against an idle line.

mod answer;
mod causes;
mod choice;
mod compared;
mod facts;
mod grades;
mod measures;
mod missing;
mod over_seeds;
mod pages;
mod rows;
mod shares;
mod thresholds;
mod words;

pub use answer::{Graded, Verdict, verdict};
pub use causes::{Cause, CausePart};
pub use compared::Group;
pub use facts::Facts;
pub use grades::{Assessment, Grade};
pub use measures::{Better, MEASURES, Measure};
pub use missing::Missing;
pub use over_seeds::{Value, over_seeds};
pub use pages::unfinished_s;
pub use rows::{Row, Rows};
pub use thresholds::{APPLICATIONS, Application, Threshold};
