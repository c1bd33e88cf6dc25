//! The cable: token buckets, the modem with its request-grant MAC, and the CMTS.

pub mod congestion;
pub mod modem;
pub mod shaped_link;
pub mod shaper;
mod staging;
pub mod upstream;

pub use modem::Modem;
pub use shaped_link::ShapedLink;
pub use upstream::Upstream;
