//! The two ends of a line: names and addresses.

use std::net::{Ipv4Addr, Ipv6Addr};

/// What an end is called, and its addresses, all of the ranges for benchmarks (RFC 2544, RFC 5180).
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its name for programs.
    pub name: &'static str,
    /// Its address.
    pub ipv4: Ipv4Addr,
    /// Its address of IPv6.
    pub ipv6: Ipv6Addr,
}

/// The end at the router of a home.
pub const HOME: Place = Place {
    name: "home",
    ipv4: Ipv4Addr::new(198, 18, 0, 1),
    ipv6: Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 1),
};

/// The end of a server.
pub const SERVER: Place = Place {
    name: "server",
    ipv4: Ipv4Addr::new(198, 18, 0, 2),
    ipv6: Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 2),
};
