//! What runs of Sojourn give: scores of what users notice, the tables of a run, and an answer in sentences; and the
//! answer on a log of a measured line, by the same letters.

mod causes;
mod letters;
pub mod measured;
pub mod metrics;
mod over_seeds;
mod remarks;
pub mod scores;
mod shares;
pub mod verdict;
mod words;

pub use letters::digits_of_letter;
pub use over_seeds::student_t;
pub use words::digits;
