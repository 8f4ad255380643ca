//! IP addresses and networks. Mirrors `library/ip.go` and `library/cidr.go` (apiserver v0.37.1).

mod address;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use super::{Declaration, overloads};
use crate::value::{Fault, Value};
pub(super) use address::{Address, parse_address};
use dra_values::go_quote;

/// A network: an address, with bits beyond the prefix too, and the prefix's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Cidr {
    address: IpAddr,
    bits: u8,
}

impl Cidr {
    /// The length of the prefix.
    pub(crate) fn bits(&self) -> u8 {
        self.bits
    }

    /// The network without bits beyond the prefix.
    fn masked(self) -> Self {
        Self {
            address: mask(self.address, self.bits),
            bits: self.bits,
        }
    }

    fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.address.is_ipv4() && mask(address, self.bits) == self.masked().address
    }

    fn contains_network(&self, other: &Self) -> bool {
        self.bits <= other.bits && self.contains(other.address)
    }
}

fn mask(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            Ipv4Addr::from_bits(address.to_bits() & mask).into()
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            Ipv6Addr::from_bits(address.to_bits() & mask).into()
        }
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.bits)
    }
}

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = overloads! {
    "string_to_ip": "ip(string) -> net.IP" => |_, [Value::String(text)]| {
        let address = parse_ip(text).map_err(Fault::error)?;
        Ok(Value::Ip(Arc::new(address)))
    },
    "ip_is_canonical": "ip.isCanonical(string) -> bool" => |_, [Value::String(text)]| {
        let address = parse_ip(text).map_err(Fault::error)?;
        Ok(Value::Bool(address.to_string() == **text))
    },
    "ip_to_string": "string(net.IP) -> string" => |_, [Value::Ip(address)]| {
        Ok(Value::string(address.to_string()))
    },
    "cidr_to_string": "string(net.CIDR) -> string" => |_, [Value::Cidr(cidr)]| {
        Ok(Value::string(cidr.to_string()))
    },
    "is_ip": "isIP(string) -> bool" => |_, [Value::String(text)]| Ok(Value::Bool(parse_ip(text).is_ok())),
    "ip_family": "<net.IP>.family() -> int" => |_, [Value::Ip(address)]| {
        Ok(Value::Int(if address.is_ipv4() { 4 } else { 6 }))
    },
    "ip_is_unspecified": "<net.IP>.isUnspecified() -> bool" => |_, [Value::Ip(address)]| {
        Ok(Value::Bool(address.is_unspecified()))
    },
    "ip_is_loopback": "<net.IP>.isLoopback() -> bool" => |_, [Value::Ip(address)]| {
        Ok(Value::Bool(address.is_loopback()))
    },
    "ip_is_link_local_multicast": "<net.IP>.isLinkLocalMulticast() -> bool" => |_, [Value::Ip(address)]| {
        Ok(Value::Bool(match **address {
            IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
            IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
        }))
    },
    "ip_is_link_local_unicast": "<net.IP>.isLinkLocalUnicast() -> bool" => |_, [Value::Ip(address)]| {
        Ok(Value::Bool(is_link_local(address)))
    },
    "ip_is_global_unicast": "<net.IP>.isGlobalUnicast() -> bool" => |_, [Value::Ip(address)]| {
        let reserved = matches!(**address, IpAddr::V4(address) if address.is_broadcast())
            || address.is_unspecified()
            || address.is_loopback()
            || address.is_multicast()
            || is_link_local(address);
        Ok(Value::Bool(!reserved))
    },
    "string_to_cidr": "cidr(string) -> net.CIDR" => |_, [Value::String(text)]| {
        Ok(Value::Cidr(Arc::new(make_cidr(text)?)))
    },
    "is_cidr": "isCIDR(string) -> bool" => |_, [Value::String(text)]| Ok(Value::Bool(parse_cidr(text).is_ok())),
    "cidr_contains_ip_string":
        "<net.CIDR>.containsIP(string) -> bool" => |_, [Value::Cidr(cidr), Value::String(text)]| {
        // What is wrong with the address is not said.
        let address = parse_ip(text).map_err(|_| Fault::no_such_overload())?;
        Ok(Value::Bool(cidr.contains(address)))
    },
    "cidr_contains_ip_ip":
        "<net.CIDR>.containsIP(net.IP) -> bool" => |_, [Value::Cidr(cidr), Value::Ip(address)]| {
        Ok(Value::Bool(cidr.contains(**address)))
    },
    "cidr_contains_cidr_string":
        "<net.CIDR>.containsCIDR(string) -> bool" => |_, [Value::Cidr(cidr), Value::String(text)]| {
        Ok(Value::Bool(cidr.contains_network(&make_cidr(text)?)))
    },
    "cidr_contains_cidr":
        "<net.CIDR>.containsCIDR(net.CIDR) -> bool" => |_, [Value::Cidr(cidr), Value::Cidr(other)]| {
        Ok(Value::Bool(cidr.contains_network(other)))
    },
    "cidr_ip": "<net.CIDR>.ip() -> net.IP" => |_, [Value::Cidr(cidr)]| Ok(Value::Ip(Arc::new(cidr.address))),
    "cidr_prefix_length": "<net.CIDR>.prefixLength() -> int" => |_, [Value::Cidr(cidr)]| {
        Ok(Value::Int(i64::from(cidr.bits)))
    },
    "cidr_masked": "<net.CIDR>.masked() -> net.CIDR" => |_, [Value::Cidr(cidr)]| {
        Ok(Value::Cidr(Arc::new(cidr.masked())))
    },
};

fn is_link_local(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

fn make_cidr(text: &str) -> Result<Cidr, Fault> {
    parse_cidr(text).map_err(|message| {
        Fault::error(format!(
            "network address parse error during conversion from string: {message}"
        ))
    })
}

fn parse_ip(text: &str) -> Result<IpAddr, String> {
    let quoted = || go_quote(text);
    let parsed = parse_address(text).map_err(|error| {
        format!(
            "IP Address {} parse error during conversion from string: {error}",
            quoted()
        )
    })?;
    if parsed.zoned {
        return Err(format!("IP address {} with zone value is not allowed", quoted()));
    }
    refuse_mapped(parsed.address, text)?;
    Ok(parsed.address)
}

fn refuse_mapped(address: IpAddr, text: &str) -> Result<(), String> {
    match address {
        IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => Err(format!(
            "IPv4-mapped IPv6 address {} is not allowed",
            go_quote(text)
        )),
        _ => Ok(()),
    }
}

fn parse_cidr(text: &str) -> Result<Cidr, String> {
    let cidr = parse_prefix(text).map_err(|message| {
        format!(
            "network address parse error during conversion from string: netip.ParsePrefix({}): {message}",
            go_quote(text)
        )
    })?;
    refuse_mapped(cidr.address, text)?;
    Ok(cidr)
}

/// Mirrors `netip.ParsePrefix`.
fn parse_prefix(text: &str) -> Result<Cidr, String> {
    let (address, bits) = text.rsplit_once('/').ok_or("no '/'")?;
    let Address { address, zoned } = parse_address(address)?;
    if zoned {
        return Err("IPv6 zones cannot be present in a prefix".to_owned());
    }
    let bad = || format!("bad bits after slash: {}", go_quote(bits));
    if bits.len() > 1 && !matches!(bits.as_bytes().first(), Some(b'1'..=b'9')) {
        return Err(bad());
    }
    if bits.is_empty() || !bits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(bad());
    }
    let bits: i64 = bits.parse().map_err(|_| bad())?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    if bits > most {
        return Err("prefix length out of range".to_owned());
    }
    Ok(Cidr {
        address,
        bits: bits as u8,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_addresses_of_their_family() {
        for (network, address, expected) in [
            ("10.0.0.0/8", "10.1.2.3", true),
            ("10.0.0.0/8", "11.1.2.3", false),
            ("0.0.0.0/0", "11.1.2.3", true),
            ("::/0", "11.1.2.3", false),
            ("::/0", "2001:db8::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("10.1.2.3/32", "10.1.2.3", true),
        ] {
            assert_eq!(
                parse_cidr(network).unwrap().contains(parse_ip(address).unwrap()),
                expected
            );
        }
    }

    #[test]
    fn refuses_in_gos_words() {
        let prefix = "network address parse error during conversion from string: netip.ParsePrefix";
        for (text, message) in [
            ("10.0.0.0", "no '/'"),
            ("10.0.0.0/33", "prefix length out of range"),
            ("10.0.0.0/08", "bad bits after slash: \"08\""),
            ("10.0.0.0/", "bad bits after slash: \"\""),
            ("fe80::1%eth0/64", "IPv6 zones cannot be present in a prefix"),
            ("x/1", "ParseAddr(\"x\"): unable to parse IP"),
        ] {
            assert_eq!(
                parse_cidr(text).unwrap_err(),
                format!("{prefix}(\"{text}\"): {message}")
            );
        }
        assert_eq!(
            parse_cidr("::ffff:1.2.3.4/99").unwrap_err(),
            "IPv4-mapped IPv6 address \"::ffff:1.2.3.4/99\" is not allowed"
        );
        assert_eq!(
            parse_ip("fe80::1%a").unwrap_err(),
            "IP address \"fe80::1%a\" with zone value is not allowed"
        );
    }
}
