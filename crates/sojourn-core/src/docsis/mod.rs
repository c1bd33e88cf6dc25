//! The cable: token buckets, the modem with its request-grant MAC, and the CMTS.

pub mod congestion;
pub mod downstream;
pub mod modem;
pub mod shaper;
mod staging;

pub use downstream::Downstream;
pub use modem::Modem;
