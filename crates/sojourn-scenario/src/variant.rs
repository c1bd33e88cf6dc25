//! What a scenario file describes: one run, or several variants of it.

use super::changes::Changed;
use super::schema::Scenario;
use sojourn_input::problem::Warning;

/// One run of a scenario file.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Its name: that in the `compare` table, with what overrides the keys that it is named for; empty
    /// where there is no such table.
    pub name: String,
    /// What of its name in the `compare` table holds: all of it, or nothing if every key of the variant
    /// is overridden.
    pub kept_name: String,
    /// The scenario in full.
    pub scenario: Scenario,
    /// What a user must know of its files: what a modem's configuration file sets that cannot be simulated, and
    /// what captures have.
    pub notes: Vec<Warning>,
    /// Defaults that it relies on and that are others than in the last release.
    pub changes: Vec<Changed>,
}
