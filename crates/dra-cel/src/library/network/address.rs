//! Reads IP addresses as Go's `net/netip`, `ParseAddr`, does, and refuses in its words.

use std::net::{IpAddr, Ipv6Addr};

use dra_values::go_quote;

/// An address, and whether a zone was given with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::library) struct Address {
    pub(in crate::library) address: IpAddr,
    pub(in crate::library) zoned: bool,
}

/// The problem, with the remaining text.
type Problem<'t> = (&'static str, &'t str);

/// Reads an address.
pub(in crate::library) fn parse_address(text: &str) -> Result<Address, String> {
    let parsed = match text.bytes().find(|byte| matches!(byte, b'.' | b':' | b'%')) {
        Some(b'.') => parse_v4(text).map(|fields| Address {
            address: IpAddr::from(fields),
            zoned: false,
        }),
        Some(b':') => parse_v6(text),
        Some(_) => Err(("missing IPv6 address", "")),
        None => Err(("unable to parse IP", "")),
    };
    parsed.map_err(|(message, rest)| {
        let place = if rest.is_empty() {
            String::new()
        } else {
            format!(" (at {})", go_quote(rest))
        };
        format!("ParseAddr({}): {message}{place}", go_quote(text))
    })
}

fn parse_v4(text: &str) -> Result<[u8; 4], Problem<'_>> {
    let bytes = text.as_bytes();
    let mut fields = [0_u8; 4];
    let (mut value, mut digits, mut field) = (0_u32, 0, 0);
    for (position, byte) in bytes.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return Err(("IPv4 field has octet with leading zero", ""));
                }
                value = value * 10 + u32::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return Err(("IPv4 field has value >255", ""));
                }
            }
            b'.' => {
                if digits == 0 || position == bytes.len() - 1 {
                    return Err(("IPv4 field must have at least one digit", &text[position..]));
                }
                if field == 3 {
                    return Err(("IPv4 address too long", ""));
                }
                fields[field] = value as u8;
                field += 1;
                value = 0;
                digits = 0;
            }
            _ => return Err(("unexpected character", &text[position..])),
        }
    }
    if field < 3 {
        return Err(("IPv4 address too short", ""));
    }
    fields[3] = value as u8;
    Ok(fields)
}

fn parse_v6(text: &str) -> Result<Address, Problem<'_>> {
    let (mut rest, zoned) = match text.split_once('%') {
        Some((_, "")) => return Err(("zone must be a non-empty string", "")),
        Some((address, _)) => (address, true),
        None => (text, false),
    };
    let mut bytes = [0_u8; 16];
    let mut filled = 0;
    let mut gap = None;
    if let Some(behind) = rest.strip_prefix("::") {
        gap = Some(0);
        rest = behind;
        if rest.is_empty() {
            return Ok(Address {
                address: Ipv6Addr::UNSPECIFIED.into(),
                zoned,
            });
        }
    }
    while filled < 16 {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits > 4 {
            return Err(("each group must have 4 or less digits", rest));
        }
        if digits == 0 {
            return Err(("each colon-separated field must have at least one digit", rest));
        }
        if rest.as_bytes().get(digits) == Some(&b'.') {
            if gap.is_none() && filled != 12 {
                return Err((
                    "embedded IPv4 address must replace the final 2 fields of the address",
                    rest,
                ));
            }
            if filled + 4 > 16 {
                return Err((
                    "too many hex fields to fit an embedded IPv4 at the end of the address",
                    rest,
                ));
            }
            bytes[filled..filled + 4].copy_from_slice(&parse_v4(rest)?);
            rest = "";
            filled += 4;
            break;
        }
        let group = u16::from_str_radix(&rest[..digits], 16).unwrap_or(0);
        bytes[filled..filled + 2].copy_from_slice(&group.to_be_bytes());
        filled += 2;
        rest = &rest[digits..];
        if rest.is_empty() {
            break;
        }
        let Some(behind) = rest.strip_prefix(':') else {
            return Err(("unexpected character, want colon", rest));
        };
        if behind.is_empty() {
            return Err(("colon must be followed by more characters", rest));
        }
        rest = behind;
        if let Some(behind) = rest.strip_prefix(':') {
            if gap.is_some() {
                return Err(("multiple :: in address", rest));
            }
            gap = Some(filled);
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
    }
    if !rest.is_empty() {
        return Err(("trailing garbage after address", rest));
    }
    match gap {
        None if filled < 16 => return Err(("address string too short", "")),
        Some(_) if filled == 16 => {
            return Err(("the :: must expand to at least one field of zeros", ""));
        }
        Some(gap) => {
            bytes.copy_within(gap..filled, 16 - (filled - gap));
            bytes[gap..16 - (filled - gap)].fill(0);
        }
        None => {}
    }
    Ok(Address {
        address: Ipv6Addr::from(bytes).into(),
        zoned,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_addresses() {
        for (text, shown, zoned) in [
            ("1.2.3.4", "1.2.3.4", false),
            ("::", "::", false),
            ("::1", "::1", false),
            ("1::", "1::", false),
            ("2001:DB8:0:0:1::2", "2001:db8::1:0:0:2", false),
            ("fe80::1%eth0", "fe80::1", true),
            ("::%a", "::", true),
            ("::ffff:1.2.3.4", "::ffff:1.2.3.4", false),
            ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304", false),
        ] {
            let Address {
                address,
                zoned: has_zone,
            } = parse_address(text).unwrap();
            assert_eq!((address.to_string().as_str(), has_zone), (shown, zoned));
        }
    }

    #[test]
    fn refuses_in_gos_words() {
        for (text, message) in [
            ("", "unable to parse IP"),
            ("abc", "unable to parse IP"),
            ("%x", "missing IPv6 address"),
            ("1.2.3", "IPv4 address too short"),
            ("1.2.3.4.5", "IPv4 address too long"),
            ("1..3.4", "IPv4 field must have at least one digit (at \".3.4\")"),
            ("1.2.3.", "IPv4 field must have at least one digit (at \".\")"),
            ("1.2.3.256", "IPv4 field has value >255"),
            ("1.2.3.04", "IPv4 field has octet with leading zero"),
            ("1.2.3.x", "unexpected character (at \"x\")"),
            ("1:2", "address string too short"),
            ("::1::", "multiple :: in address (at \":\")"),
            (
                "12345::",
                "each group must have 4 or less digits (at \"12345::\")",
            ),
            (
                ":1",
                "each colon-separated field must have at least one digit (at \":1\")",
            ),
            ("1:2:", "colon must be followed by more characters (at \":\")"),
            (
                "1:g",
                "each colon-separated field must have at least one digit (at \"g\")",
            ),
            ("1:2g", "unexpected character, want colon (at \"g\")"),
            ("1:2:3:4:5:6:7:8:9", "trailing garbage after address (at \"9\")"),
            (
                "1:2:3:4:5:6:7::8",
                "the :: must expand to at least one field of zeros",
            ),
            ("::1%", "zone must be a non-empty string"),
            (
                "1:2.3.4.5",
                "embedded IPv4 address must replace the final 2 fields of the address (at \"2.3.4.5\")",
            ),
        ] {
            let expected = format!("ParseAddr({}): {message}", go_quote(text));
            assert_eq!(parse_address(text).map(|_| ()), Err(expected));
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_standard_library(text in "[0-9a-f:.]{0,20}") {
            prop_assert_eq!(parse_address(&text).ok().map(|parsed| parsed.address), text.parse().ok());
        }
    }
}
