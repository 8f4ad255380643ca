//! Attributes that an expression computes, with the gate `DRADerivedAttributes`.
//!
//! Mirrors `compile.go`, `isAllowedDerivedAttributeType` and `valToDeviceAttribute` (dynamic-resource-allocation v0.37.1).

use super::check::{Mode, Scope};
use super::types::Type;
use super::value::Value;
use super::value::list::List;
use dra_values::{AttributeValue, Str};

/// Says what is wrong with the type of an expression that computes an attribute.
pub(super) fn refuse_type(of: &Type, scope: &Scope) -> Result<(), String> {
    let takes_lists = scope.mode() == Mode::Stored || scope.has_list_type_attributes();
    let fits = is_scalar(of)
        || match of {
            Type::List(element) => takes_lists && is_scalar(element),
            _ => false,
        };
    if fits {
        return Ok(());
    }
    let lists = if takes_lists {
        " or a list of these scalars"
    } else {
        ""
    };
    Err(format!(
        "must evaluate to a primitive scalar (string, integer, boolean, semver){lists}, not {}",
        of.plain_text()
    ))
}

fn is_scalar(of: &Type) -> bool {
    match of {
        Type::Bool | Type::Int | Type::String | Type::Any | Type::Dyn => true,
        Type::Struct(name) => *name == "kubernetes.Semver",
        _ => false,
    }
}

/// The attribute that a value is.
pub(super) fn attribute(value: &Value<'_>) -> Result<AttributeValue, String> {
    Ok(match value {
        Value::Bool(value) => AttributeValue::Bool(*value),
        Value::Int(value) => AttributeValue::Int(*value),
        Value::String(text) => AttributeValue::String(Str::from(&**text)),
        Value::Type(name) => AttributeValue::String(Str::from(*name)),
        Value::Semver(version) => AttributeValue::Version(Str::from(version.to_string().as_str())),
        Value::Optional(Some(value)) if !matches!(**value, Value::List(_)) => return attribute(value),
        Value::List(list) => return list_attribute(list),
        other => return Err(format!("unsupported CEL return type: {}", other.native_type())),
    })
}

fn list_attribute(list: &List<'_>) -> Result<AttributeValue, String> {
    let Some(first) = list.get(0) else {
        return Ok(AttributeValue::Strings(Box::new([])));
    };
    Ok(match &first {
        Value::Bool(_) => AttributeValue::Bools(elements(list, "bool", |item| match item {
            Value::Bool(value) => Some(*value),
            _ => None,
        })?),
        Value::Int(_) => AttributeValue::Ints(elements(list, "int", |item| match item {
            Value::Int(value) => Some(*value),
            _ => None,
        })?),
        Value::String(_) | Value::Type(_) => {
            AttributeValue::Strings(elements(list, "string", |item| match item {
                Value::String(text) => Some(Str::from(&**text)),
                Value::Type(name) => Some(Str::from(*name)),
                _ => None,
            })?)
        }
        Value::Semver(_) => AttributeValue::Versions(elements(list, "semver", |item| match item {
            Value::Semver(version) => Some(Str::from(version.to_string().as_str())),
            _ => None,
        })?),
        other => return Err(format!("unsupported list element type: {}", other.native_type())),
    })
}

fn elements<T>(
    list: &List<'_>,
    wanted: &str,
    read: impl Fn(&Value<'_>) -> Option<T>,
) -> Result<Box<[T]>, String> {
    (0..list.len())
        .filter_map(|index| list.get(index).map(|item| (index, item)))
        .map(|(index, item)| {
            read(&item).ok_or_else(|| {
                format!(
                    "expected list element at index {index} to be {wanted}, got {}",
                    item.native_type()
                )
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_attributes() {
        for (value, expected) in [
            (Value::Int(3), Ok(AttributeValue::Int(3))),
            (Value::string("a"), Ok(AttributeValue::String("a".into()))),
            (Value::list(Vec::new()), Ok(AttributeValue::Strings(Box::new([])))),
            (
                Value::list(vec![Value::Int(1)]),
                Ok(AttributeValue::Ints(Box::new([1]))),
            ),
            (
                Value::list(vec![Value::Int(1), Value::Bool(true)]),
                Err("expected list element at index 1 to be int, got bool".to_owned()),
            ),
            (
                Value::Double(1.0),
                Err("unsupported CEL return type: float64".to_owned()),
            ),
        ] {
            assert_eq!(attribute(&value), expected);
        }
    }
}
