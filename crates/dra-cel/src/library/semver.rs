//! Semantic versions. Mirrors `library/semverlib.go` (apiserver v0.37.1).

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Declaration, global, member};
use crate::eval::Context;
use crate::value::{Fault, Outcome, Value, Version};
use dra_values::{Semver, SemverError};

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = &[
    global("semver", "string_to_semver", "string", "kubernetes.Semver", make),
    global(
        "semver",
        "string_bool_to_semver",
        "string, bool",
        "kubernetes.Semver",
        make,
    ),
    global("isSemver", "is_semver_string", "string", "bool", is_semver),
    global(
        "isSemver",
        "is_semver_string_bool",
        "string, bool",
        "bool",
        is_semver,
    ),
    member(
        "isGreaterThan",
        "semver_is_greater_than",
        "kubernetes.Semver, kubernetes.Semver",
        "bool",
        |_, args| Ok(Value::Bool(compare(args)? == Ordering::Greater)),
    ),
    member(
        "isLessThan",
        "semver_is_less_than",
        "kubernetes.Semver, kubernetes.Semver",
        "bool",
        |_, args| Ok(Value::Bool(compare(args)? == Ordering::Less)),
    ),
    member(
        "compareTo",
        "semver_compare_to",
        "kubernetes.Semver, kubernetes.Semver",
        "int",
        |_, args| Ok(Value::Int(compare(args)? as i64)),
    ),
    member("major", "semver_major", "kubernetes.Semver", "int", |_, args| {
        part(args, Semver::major)
    }),
    member("minor", "semver_minor", "kubernetes.Semver", "int", |_, args| {
        part(args, Semver::minor)
    }),
    member("patch", "semver_patch", "kubernetes.Semver", "int", |_, args| {
        part(args, Semver::patch)
    }),
];

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

fn part<'a>(args: &[Value<'a>], part: fn(&Semver) -> u64) -> Outcome<'a> {
    match args {
        // Go converts without looking, so a number beyond an int's becomes negative.
        [Value::Semver(version)] => Ok(Value::Int(part(version) as i64)),
        _ => Err(Fault::no_such_overload()),
    }
}
