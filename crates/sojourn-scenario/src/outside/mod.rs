//! Real packets: what a simulation needs of their headers.

mod header;

pub use header::{Header, LARGEST_IP, NotIp, Tcp};
