//! Named formats of strings. Mirrors `library/format.go` (apiserver v0.37.1) and what is behind it: the names of
//! `model::names`, and `strfmt` (kube-openapi).

use std::sync::LazyLock;

use super::Binding::Guarded;
use super::regex::Regex;
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

fn is_uuid(text: &str) -> bool {
    static UUID: LazyLock<Result<Regex, String>> = LazyLock::new(|| {
        Regex::new("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$")
    });
    UUID.as_ref().is_ok_and(|uuid| uuid.is_match(text))
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

/// Upstream looks at the range of the hour and of the minutes after matching.
fn is_time(text: &str) -> bool {
    static TIME: LazyLock<Result<Regex, String>> = LazyLock::new(|| {
        Regex::new("^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})$")
    });
    TIME.as_ref().is_ok_and(|time| time.is_match(text))
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
