//! IPv4 addresses and networks that classifiers match.

use std::fmt;
use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

/// An IPv4 address, written `203.0.113.5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Address(pub Ipv4Addr);

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let found = || format!("found {text:?}; allowed: an IPv4 address such as 203.0.113.5");
        text.parse().map(Self).map_err(|_| found())
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.0.to_string()
    }
}

/// An IPv4 network, written `203.0.113.0/24` or `203.0.113.0/255.255.255.0`, or a single address,
/// written `203.0.113.5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Network {
    address: Ipv4Addr,
    mask: Ipv4Addr,
}

impl Network {
    /// The network of all addresses that agree with this one in the bits of the mask.
    pub fn new(address: Ipv4Addr, mask: Ipv4Addr) -> Self {
        Self { address: address & mask, mask }
    }

    /// Is the address in the network?
    pub fn holds(&self, address: Address) -> bool {
        address.0 & self.mask == self.address
    }

    /// The network's address: bits outside the mask are zero.
    pub fn address(&self) -> Ipv4Addr {
        self.address
    }

    /// The mask.
    pub fn mask(&self) -> Ipv4Addr {
        self.mask
    }

    /// The prefix length, if the mask's bits are the first ones.
    fn prefix(&self) -> Option<u32> {
        let bits = self.mask.to_bits();
        (bits.leading_ones() == bits.count_ones()).then_some(bits.count_ones())
    }

    fn parse(text: &str) -> Option<Self> {
        let (address, mask) = text.split_once('/').unwrap_or((text, "32"));
        let mask = match mask.parse::<u32>() {
            Ok(prefix) if prefix <= 32 => {
                Ipv4Addr::from_bits(!(u32::MAX.checked_shr(prefix).unwrap_or(0)))
            }
            Ok(_) => return None,
            Err(_) => mask.parse().ok()?,
        };
        Some(Self::new(address.parse().ok()?, mask))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.prefix() {
            Some(32) => write!(f, "{}", self.address),
            Some(prefix) => write!(f, "{}/{prefix}", self.address),
            None => write!(f, "{}/{}", self.address, self.mask),
        }
    }
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| {
            format!("found {text:?}; allowed: an IPv4 address or a network such as 203.0.113.0/24")
        })
    }
}

impl From<Network> for String {
    fn from(network: Network) -> Self {
        network.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        Network::try_from(text.to_owned()).unwrap()
    }

    fn address(text: &str) -> Address {
        Address::try_from(text.to_owned()).unwrap()
    }

    #[test]
    fn networks_hold_what_agrees_in_the_bits_of_the_mask() {
        for (text, written, inside, outside) in [
            ("203.0.113.7/24", "203.0.113.0/24", "203.0.113.255", "203.0.112.255"),
            ("203.0.113.7", "203.0.113.7", "203.0.113.7", "203.0.113.6"),
            ("10.0.0.0/255.0.0.0", "10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
            ("10.0.0.5/255.0.0.255", "10.0.0.5/255.0.0.255", "10.9.9.5", "10.9.9.6"),
        ] {
            let network = network(text);
            assert_eq!(network.to_string(), written);
            assert!(network.holds(address(inside)) && !network.holds(address(outside)));
        }
        assert!(network("0.0.0.0/0").holds(address("255.255.255.255")));
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in ["", "203.0.113", "203.0.113.0/33", "203.0.113.0/x", "203.0.113.0/"] {
            let told = Network::try_from(text.to_owned()).unwrap_err();
            assert!(told.starts_with(&format!("found {text:?}; allowed: ")));
        }
    }
}
