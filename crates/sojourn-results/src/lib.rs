//! What runs of Sojourn give: scores of what users notice, the tables of a run, and an answer in sentences.

pub mod metrics;
pub mod scores;
pub mod verdict;
