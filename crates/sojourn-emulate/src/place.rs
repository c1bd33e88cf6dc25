//! The ends of a line: names and addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an end is called, and its addresses, all of the ranges for benchmarks (RFC 2544, RFC 5180).
#[derive(Clone, Debug)]
pub struct Place {
    /// Its names for programs.
    pub names: Vec<String>,
    /// Its address.
    pub ipv4: Ipv4Addr,
    /// Its address of IPv6.
    pub ipv6: Ipv6Addr,
}

/// The host number of the server.
const SERVER: u16 = 2;

impl Place {
    /// The end of a server.
    pub fn server() -> Self {
        Self::new(SERVER, vec!["server".to_owned()])
    }

    /// The end at the router of a home, by its number from 0.
    pub fn home(number: u16, names: Vec<String>) -> Self {
        let host = number + 1;
        Self::new(if host < SERVER { host } else { host + 1 }, names)
    }

    /// The addresses with this host number.
    fn new(host: u16, names: Vec<String>) -> Self {
        let [high, low] = host.to_be_bytes();
        Self {
            names,
            ipv4: Ipv4Addr::new(198, 18, high, low),
            ipv6: Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, host),
        }
    }

    /// Is this one of its addresses?
    pub(crate) fn has(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(address) => address == self.ipv4,
            IpAddr::V6(address) => address == self.ipv6,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ends_have_addresses_of_their_own() {
        let text = |place: Place| format!("{} {}", place.ipv4, place.ipv6);
        let homes = [0, 1, 254].map(|number| text(Place::home(number, Vec::new())));
        assert_eq!(
            homes,
            ["198.18.0.1 2001:2::1", "198.18.0.3 2001:2::3", "198.18.1.0 2001:2::100"]
        );
        assert_eq!(text(Place::server()), "198.18.0.2 2001:2::2");
    }
}
