//! Semantic versions. Mirrors `library/semverlib.go` (apiserver v0.37.1).

use std::cmp::Ordering;
use std::sync::Arc;

use super::Binding::Guarded;
use super::{Declaration, overloads};
use crate::eval::Context;
use crate::value::{Fault, Outcome, Value, Version};
use dra_values::{Semver, SemverError};

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = overloads! {
    "string_to_semver": "semver(string) -> kubernetes.Semver" = Guarded(make),
    "string_bool_to_semver": "semver(string, bool) -> kubernetes.Semver" = Guarded(make),
    "is_semver_string": "isSemver(string) -> bool" = Guarded(is_semver),
    "is_semver_string_bool": "isSemver(string, bool) -> bool" = Guarded(is_semver),
    "semver_is_greater_than": "<kubernetes.Semver>.isGreaterThan(kubernetes.Semver) -> bool" = Guarded(|_, args| {
        Ok(Value::Bool(compare(args)? == Ordering::Greater))
    }),
    "semver_is_less_than": "<kubernetes.Semver>.isLessThan(kubernetes.Semver) -> bool" = Guarded(|_, args| {
        Ok(Value::Bool(compare(args)? == Ordering::Less))
    }),
    "semver_compare_to": "<kubernetes.Semver>.compareTo(kubernetes.Semver) -> int" = Guarded(|_, args| {
        Ok(Value::Int(compare(args)? as i64))
    }),
    // Go converts without looking, so a number beyond an int's becomes negative.
    "semver_major": "<kubernetes.Semver>.major() -> int" => |_, [Value::Semver(version)]| {
        Ok(Value::Int(version.major() as i64))
    },
    "semver_minor": "<kubernetes.Semver>.minor() -> int" => |_, [Value::Semver(version)]| {
        Ok(Value::Int(version.minor() as i64))
    },
    "semver_patch": "<kubernetes.Semver>.patch() -> int" => |_, [Value::Semver(version)]| {
        Ok(Value::Int(version.patch() as i64))
    },
};

fn read(args: &[Value<'_>]) -> Result<Result<Semver, SemverError>, Fault> {
    match args {
        [Value::String(text)] | [Value::String(text), Value::Bool(false)] => Ok(text.parse()),
        [Value::String(text), Value::Bool(true)] => Ok(Semver::parse_normalized(text)),
        _ => Err(Fault::no_such_overload()),
    }
}

fn make<'a>(_: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let version = read(args)?.map_err(|error| Fault::error(error.to_string()))?;
    Ok(Value::Semver(Version::Shared(Arc::new(version))))
}

fn is_semver<'a>(_: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(read(args)?.is_ok()))
}

fn compare(args: &[Value<'_>]) -> Result<Ordering, Fault> {
    match args {
        [Value::Semver(left), Value::Semver(right)] => Ok(Semver::cmp(left, right)),
        _ => Err(Fault::no_such_overload()),
    }
}
