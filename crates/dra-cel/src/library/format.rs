//! Named formats of strings. Mirrors `library/format.go` (apiserver v0.37.1) and what is behind it: the names of
//! `model::names`, and `strfmt` (kube-openapi).

use super::Binding::Guarded;
use super::url::parse_request_uri;
use super::{Declaration, overloads};
use crate::value::{Fault, Value, time};
use dra_values::names::{is_label, label, label_value, qualified_name, subdomain, too_long};

/// A format.
#[derive(Debug)]
pub(crate) struct NamedFormat {
    pub(crate) name: &'static str,
    /// The size of the regular expression that stands for the effort of a validation.
    pub(crate) regex_size: u64,
    validate: fn(&str) -> Vec<String>,
}

/// The formats, and for each the function without arguments that yields it.
macro_rules! formats {
    ($($key:literal: $name:literal, $regex_size:literal => $validate:expr;)*) => {
        static FORMATS: &[(&str, NamedFormat)] = &[$((
            $key,
            NamedFormat {
                name: $name,
                regex_size: $regex_size,
                validate: $validate,
            },
        )),*];

        const CONSTANTS: &[Declaration] = &[$(Declaration::new(
            concat!("format.", $key),
            concat!("format.", $key, "() -> kubernetes.NamedFormat"),
            Guarded(|_, _| called($key).ok_or_else(Fault::no_such_overload)),
        )),*];
    };
}

formats! {
    "dns1123Label": "DNS1123Label", 30 => |text| label(text.as_bytes());
    "dns1123Subdomain": "DNS1123Subdomain", 60 => |text| subdomain(text.as_bytes());
    "dns1035Label": "DNS1035Label", 30 => |text| old_label(text.as_bytes());
    "qualifiedName": "QualifiedName", 60 => qualified_name;
    "dns1123LabelPrefix": "DNS1123LabelPrefix", 30 => |text| label(&prefix(text));
    "dns1123SubdomainPrefix": "DNS1123SubdomainPrefix", 60 => |text| subdomain(&prefix(text));
    "dns1035LabelPrefix": "DNS1035LabelPrefix", 30 => |text| old_label(&prefix(text));
    "labelValue": "LabelValue", 40 => label_value;
    "uri": "URI", 1_103 => |text| parse_request_uri(text).err().into_iter().collect();
    "uuid": "uuid", 70 => |text| unless(is_uuid(text), "does not match the UUID format");
    "byte": "byte", 84 => |text| unless(is_base64(text), "invalid base64");
    "date": "date", 71 => |text| unless(is_date(text), "invalid date");
    "datetime": "datetime", 71 => |text| unless(is_date_time(text), "invalid datetime");
}

/// The format called `key`.
fn called(key: &str) -> Option<Value<'static>> {
    let (_, format) = FORMATS.iter().find(|(other, _)| *other == key)?;
    Some(Value::Format(format))
}

/// The functions.
pub(super) const FUNCTIONS: &[&[Declaration]] = &[
    overloads! {
        "format-validate": "<kubernetes.NamedFormat>.validate(string) -> optional(list(string))" =>
            |ctx, [Value::Format(format), Value::String(text)]| {
            ctx.work(text.len() as u64 + 64)?;
            let problems = (format.validate)(text);
            if problems.is_empty() {
                return Ok(Value::Optional(None));
            }
            Ok(Value::some(Value::list(
                problems.into_iter().map(Value::string).collect(),
            )))
        },
        "format-named": "format.named(string) -> optional(kubernetes.NamedFormat)" =>
            |_, [Value::String(name)]| Ok(called(name).map_or(Value::Optional(None), Value::some)),
    },
    CONSTANTS,
];

fn unless(valid: bool, problem: &str) -> Vec<String> {
    if valid {
        Vec::new()
    } else {
        vec![problem.to_owned()]
    }
}

/// A name for something to be appended to. As upstream, a trailing dash removes the character before it.
fn prefix(text: &str) -> Vec<u8> {
    match text.as_bytes() {
        [front @ .., _, b'-'] => [front, b"a"].concat(),
        bytes => bytes.to_vec(),
    }
}

fn old_label(bytes: &[u8]) -> Vec<String> {
    let mut problems = Vec::new();
    if bytes.len() > 63 {
        problems.push(too_long(63));
    }
    if !is_label(bytes) || !bytes[0].is_ascii_lowercase() {
        problems.push(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character (e.g. 'my-name', or 'abc-123', regex used for \
             validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
                .to_owned(),
        );
    }
    problems
}

/// `(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`
fn is_uuid(text: &str) -> bool {
    let mut rest = text;
    for (position, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if position > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        match rest.split_at_checked(length) {
            Some((digits, behind)) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => rest = behind,
            _ => return false,
        }
    }
    rest.is_empty()
}

/// Standard Base64 of at least one byte.
fn is_base64(text: &str) -> bool {
    let digits = text
        .strip_suffix("==")
        .or_else(|| text.strip_suffix('='))
        .unwrap_or(text);
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte))
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && time::parse_timestamp(&format!("{text}T00:00:00Z")).is_some()
}

/// Mirrors `strfmt.IsDateTime`, which has an idea of its own of what is valid.
fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else {
        return false;
    };
    is_date(date) && is_time(time)
}

/// `^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$` with the hour and minutes in range.
fn is_time(text: &str) -> bool {
    let is_pair = |text: &str, max: &str| {
        text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit()) && text <= max
    };
    let mut rest = text;
    for (suffix, max) in [(":", "23"), (":", "59"), ("", "59")] {
        match rest.split_at_checked(2) {
            Some((pair, behind)) if is_pair(pair, max) && behind.starts_with(suffix) => {
                rest = &behind[suffix.len()..];
            }
            _ => return false,
        }
    }
    let is_zone = |text: &str| {
        text == "z"
            || text
                .strip_prefix(['+', '-'])
                .and_then(|zone| zone.split_once(':'))
                .is_some_and(|(hours, minutes)| is_pair(hours, "99") && is_pair(minutes, "99"))
    };
    if is_zone(rest) {
        return true;
    }
    // A fraction begins with any character but a newline.
    let mut characters = rest.chars();
    if matches!(characters.next(), None | Some('\n')) {
        return false;
    }
    let fraction = characters.as_str();
    let zone = fraction.trim_start_matches(|character: char| character.is_ascii_digit());
    zone.len() < fraction.len() && is_zone(zone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_take_what_is_theirs() {
        for (format, text, valid) in [
            ("dns1123Label", "my-name", true),
            ("dns1123Label", "my.name", false),
            ("dns1123Label", "-a", false),
            ("dns1123LabelPrefix", "my-", true),
            ("dns1035Label", "1a", false),
            ("qualifiedName", "example.com/Name_1", true),
            ("qualifiedName", "/Name", false),
            ("labelValue", "", true),
            ("uri", "http://h", true),
            ("uri", "nope", false),
            ("uuid", "123e4567-E89b12d3-a456-426614174000", true),
            ("uuid", "123e4567", false),
            ("byte", "QQ==", true),
            ("byte", "QQ=", false),
            ("byte", "", false),
            ("date", "2024-02-29", true),
            ("date", "2023-02-29", false),
            ("datetime", "2024-02-29T23:59:59.5z", true),
            ("datetime", "2024-02-29t23:59:59+99:99", true),
            ("datetime", "2024-02-29T24:00:00Z", false),
            ("datetime", "2024-02-29T12:00:00", false),
        ] {
            let (_, found) = FORMATS.iter().find(|(name, _)| *name == format).unwrap();
            assert_eq!((found.validate)(text).is_empty(), valid, "{format} of {text}");
        }
    }
}
