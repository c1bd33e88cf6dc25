//! IP addresses and networks that classifiers match.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// An IP address, written `203.0.113.5` or `2001:db8::5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Address(pub IpAddr);

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let found =
            || format!("found {text:?}; allowed: an IP address such as 203.0.113.5 or 2001:db8::5");
        text.parse().map(Self).map_err(|_| found())
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.0.to_string()
    }
}

/// An IP network, written `203.0.113.0/24`, `203.0.113.0/255.255.255.0` or `2001:db8::/32`, or a
/// single address, written `203.0.113.5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Network {
    /// Of version 4: its address and mask.
    V4(Ipv4Addr, Ipv4Addr),
    /// Of version 6: its address and mask.
    V6(Ipv6Addr, Ipv6Addr),
}

impl Network {
    /// The network of all addresses that agree with this one in the bits of the mask.
    pub fn new(address: Ipv4Addr, mask: Ipv4Addr) -> Self {
        Self::V4(address & mask, mask)
    }

    /// The network of all addresses that agree with this one in so many bits.
    pub fn of_prefix(address: Ipv6Addr, prefix: u32) -> Self {
        let mask = Ipv6Addr::from_bits(!(u128::MAX.checked_shr(prefix).unwrap_or(0)));
        Self::V6(address & mask, mask)
    }

    /// Is the address in the network?
    pub fn holds(&self, address: Address) -> bool {
        match (self, address.0) {
            (Self::V4(network, mask), IpAddr::V4(address)) => address & mask == *network,
            (Self::V6(network, mask), IpAddr::V6(address)) => address & mask == *network,
            _ => false,
        }
    }

    /// Address and mask of version 4.
    pub fn v4(&self) -> Option<(Ipv4Addr, Ipv4Addr)> {
        match *self {
            Self::V4(address, mask) => Some((address, mask)),
            Self::V6(..) => None,
        }
    }

    /// Address and prefix length of version 6.
    pub fn v6(&self) -> Option<(Ipv6Addr, u32)> {
        match *self {
            Self::V4(..) => None,
            Self::V6(address, mask) => Some((address, mask.to_bits().leading_ones())),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (address, mask) = match text.split_once('/') {
            Some((address, mask)) => (address, Some(mask)),
            None => (text, None),
        };
        match address.parse().ok()? {
            IpAddr::V4(address) => {
                let mask = mask.map_or(Some(Ipv4Addr::BROADCAST), mask_of)?;
                Some(Self::new(address, mask))
            }
            IpAddr::V6(address) => {
                let prefix = mask.map_or(Some(128), |mask| mask.parse().ok())?;
                (prefix <= 128).then(|| Self::of_prefix(address, prefix))
            }
        }
    }
}

/// A mask of version 4, as a prefix length or in full.
fn mask_of(text: &str) -> Option<Ipv4Addr> {
    match text.parse::<u32>() {
        Ok(prefix) if prefix <= 32 => {
            Some(Ipv4Addr::from_bits(!(u32::MAX.checked_shr(prefix).unwrap_or(0))))
        }
        Ok(_) => None,
        Err(_) => text.parse().ok(),
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::V4(address, Ipv4Addr::BROADCAST) => write!(f, "{address}"),
            Self::V4(address, mask) => {
                let bits = mask.to_bits();
                if bits.leading_ones() == bits.count_ones() {
                    write!(f, "{address}/{}", bits.count_ones())
                } else {
                    write!(f, "{address}/{mask}")
                }
            }
            Self::V6(address, mask) => match mask.to_bits().leading_ones() {
                128 => write!(f, "{address}"),
                prefix => write!(f, "{address}/{prefix}"),
            },
        }
    }
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| {
            format!(
                "found {text:?}; allowed: an IP address or a network such as 203.0.113.0/24 or \
                 2001:db8::/32"
            )
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
            ("2001:db8:1::7/32", "2001:db8::/32", "2001:db8:ffff::1", "2001:db9::1"),
            ("2001:db8::7", "2001:db8::7", "2001:db8::7", "203.0.113.7"),
        ] {
            let network = network(text);
            assert_eq!(network.to_string(), written);
            assert!(network.holds(address(inside)) && !network.holds(address(outside)));
        }
        assert!(network("0.0.0.0/0").holds(address("255.255.255.255")));
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in
            ["", "203.0.113", "2001:db8::/129", "203.0.113.0/33", "203.0.113.0/x", "203.0.113.0/"]
        {
            let reported = Network::try_from(text.to_owned()).unwrap_err();
            assert!(reported.starts_with(&format!("found {text:?}; allowed: ")));
        }
    }
}
