//! The cable: token buckets, the modem with its request-grant MAC, and the CMTS.

pub mod classifier;
pub mod cmts;
pub mod congestion;
pub mod contention;
pub mod downstream;
pub mod framing;
pub mod modem;
pub mod port;
mod probe;
mod scheduler;
pub mod shaped_link;
pub mod shaper;
pub mod shared_channel;
mod staging;
pub mod subscriber;
pub mod upstream;

pub use cmts::Cmts;
pub use downstream::Downstream;
pub use modem::{MacCounters, Modem};
pub use shaped_link::ShapedLink;
pub use shared_channel::SharedChannel;
pub use subscriber::{Place, Subscriber};
pub use upstream::Upstream;
