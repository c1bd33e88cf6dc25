//! Parts of plain numbers: queue laws, congestion controls, traffic models and rate controllers that are written in
//! another language.
//!
//! A language provides a [`Program`]. Its [`Declaration`] says which parameters and hooks it has, and each of its
//! [`Instance`]s answers the hooks with numbers. This crate makes of it a part that scenarios choose by `kind` as
//! they choose built-in ones: with a schema, checked ranges, gauges as series and one rule for what goes wrong.

mod answers;
mod control;
mod controller;
mod declaration;
mod failure;
mod hook;
mod law;
mod parameter;
mod program;
mod reading;
mod register;
mod registered;
mod setting;
mod stored;
mod traffic;
mod values;

pub use declaration::{Declaration, Gauge, Scale, Score, Update, Way};
pub use failure::{Failure, Watch};
pub use hook::{COMMAND_NUMBERS, EXTENDED, Hook, Role, command, verdict};
pub use parameter::{Number, Parameter};
pub use program::{Cause, Instance, Program};
pub use register::register;
pub use setting::{Setting, digest_of};
pub use stored::{kept, stand_ins};
