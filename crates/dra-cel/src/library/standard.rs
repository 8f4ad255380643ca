//! The standard functions and operators. Mirrors `common/stdlib/standard.go` (cel-go v0.29).

use super::Binding::{self, Guarded, Shared, Unguarded};
use super::{Declaration, OLDEST, overloads, regex};
use crate::eval::Context;
use crate::value::numbers::{self, Trait};
use crate::value::{Fault, Outcome, Value, convert, equality};

/// The overloads of an order operator.
macro_rules! ordering {
    ($function:literal, $prefix:literal, $test:ident) => {
        ordering!(@ $function, $test;
            concat!($prefix, "_bool") => "bool, bool",
            concat!($prefix, "_int64") => "int, int",
            concat!($prefix, "_int64_double") => "int, double",
            concat!($prefix, "_int64_uint64") => "int, uint",
            concat!($prefix, "_uint64") => "uint, uint",
            concat!($prefix, "_uint64_double") => "uint, double",
            concat!($prefix, "_uint64_int64") => "uint, int",
            concat!($prefix, "_double") => "double, double",
            concat!($prefix, "_double_int64") => "double, int",
            concat!($prefix, "_double_uint64") => "double, uint",
            concat!($prefix, "_string") => "string, string",
            concat!($prefix, "_bytes") => "bytes, bytes",
            concat!($prefix, "_timestamp") => "timestamp, timestamp",
            concat!($prefix, "_duration") => "duration, duration"
        )
    };
    (@ $function:literal, $test:ident; $($id:expr => $args:literal),*) => {
        &[$(Declaration::new(
            $id,
            concat!($function, "(", $args, ") -> bool"),
            Shared(Some(Trait::Comparer), |_, args| {
                Ok(Value::Bool(numbers::compare(&args[0], &args[1])?.$test()))
            }),
        )),*]
    };
}

const ADD: Binding = Shared(Some(Trait::Adder), |ctx, args| {
    numbers::add(ctx, &args[0], &args[1])
});
const SUBTRACT: Binding = Shared(Some(Trait::Subtractor), numbers::subtract);
const MULTIPLY: Binding = Shared(Some(Trait::Multiplier), numbers::multiply);
const DIVIDE: Binding = Shared(Some(Trait::Divider), numbers::divide);
const MODULO: Binding = Shared(Some(Trait::Modder), numbers::modulo);
const NEGATE: Binding = Shared(Some(Trait::Negator), numbers::negate);
const SIZE: Binding = Shared(Some(Trait::Sizer), |ctx, args| {
    i64::try_from(ctx.size(&args[0]))
        .map(Value::Int)
        .map_err(|_| numbers::int_overflow())
});
const MATCHES: Binding = Shared(Some(Trait::Matcher), matches);

const TO_BOOL: Binding = Guarded(|_, args| convert::to_bool(&args[0]));
const TO_BYTES: Binding = Guarded(|_, args| convert::to_bytes(&args[0]));
const TO_DOUBLE: Binding = Guarded(|_, args| convert::to_double(&args[0]));
const TO_DURATION: Binding = Guarded(|_, args| convert::to_duration(&args[0]));
const TO_INT: Binding = Guarded(|_, args| convert::to_int(&args[0]));
const TO_STRING: Binding = Guarded(|_, args| convert::to_string(&args[0]));
const TO_TIMESTAMP: Binding = Guarded(|_, args| convert::to_timestamp(&args[0]));
const TO_UINT: Binding = Guarded(|_, args| convert::to_uint(&args[0]));

/// The operators.
pub(super) const OPERATORS: &[&[Declaration]] = &[
    // Those built into the evaluator, and those around containers.
    overloads! {
        "conditional": "_?_:_(bool, A, A) -> A" = Binding::None,
        "logical_and": "_&&_(bool, bool) -> bool" = Binding::None,
        "logical_or": "_||_(bool, bool) -> bool" = Binding::None,
        "logical_not": "!_(bool) -> bool" = Shared(None, not),
        "not_strictly_false": "@not_strictly_false(bool) -> bool" = Binding::None,
        "equals": "_==_(A, A) -> bool" = Binding::None,
        "not_equals": "_!=_(A, A) -> bool" = Binding::None,
        "index_list": "_[_](list(A), int) -> A" = Binding::None,
        "index_map": "_[_](map(A, B), A) -> B" = Binding::None,
        "in_list": "@in(A, list(A)) -> bool" = Shared(None, contains),
        "in_map": "@in(A, map(A, B)) -> bool" = Shared(None, contains),
    },
    overloads! {
        "add_bytes": "_+_(bytes, bytes) -> bytes" = ADD,
        "add_double": "_+_(double, double) -> double" = ADD,
        "add_duration_duration": "_+_(duration, duration) -> duration" = ADD,
        "add_duration_timestamp": "_+_(duration, timestamp) -> timestamp" = ADD,
        "add_timestamp_duration": "_+_(timestamp, duration) -> timestamp" = ADD,
        "add_int64": "_+_(int, int) -> int" = ADD,
        "add_list": "_+_(list(A), list(A)) -> list(A)" = ADD,
        "add_string": "_+_(string, string) -> string" = ADD,
        "add_uint64": "_+_(uint, uint) -> uint" = ADD,
        "divide_double": "_/_(double, double) -> double" = DIVIDE,
        "divide_int64": "_/_(int, int) -> int" = DIVIDE,
        "divide_uint64": "_/_(uint, uint) -> uint" = DIVIDE,
        "modulo_int64": "_%_(int, int) -> int" = MODULO,
        "modulo_uint64": "_%_(uint, uint) -> uint" = MODULO,
        "multiply_double": "_*_(double, double) -> double" = MULTIPLY,
        "multiply_int64": "_*_(int, int) -> int" = MULTIPLY,
        "multiply_uint64": "_*_(uint, uint) -> uint" = MULTIPLY,
        "negate_double": "-_(double) -> double" = NEGATE,
        "negate_int64": "-_(int) -> int" = NEGATE,
        "subtract_double": "_-_(double, double) -> double" = SUBTRACT,
        "subtract_duration_duration": "_-_(duration, duration) -> duration" = SUBTRACT,
        "subtract_int64": "_-_(int, int) -> int" = SUBTRACT,
        "subtract_timestamp_duration": "_-_(timestamp, duration) -> timestamp" = SUBTRACT,
        "subtract_timestamp_timestamp": "_-_(timestamp, timestamp) -> duration" = SUBTRACT,
        "subtract_uint64": "_-_(uint, uint) -> uint" = SUBTRACT,
    },
    ordering!("_<_", "less", is_lt),
    ordering!("_<=_", "less_equals", is_le),
    ordering!("_>_", "greater", is_gt),
    ordering!("_>=_", "greater_equals", is_ge),
];

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = overloads! {
    "size_bytes": "size(bytes) -> int" = SIZE,
    "bytes_size": "<bytes>.size() -> int" = SIZE,
    "size_list": "size(list(A)) -> int" = SIZE,
    "list_size": "<list(A)>.size() -> int" = SIZE,
    "size_map": "size(map(A, B)) -> int" = SIZE,
    "map_size": "<map(A, B)>.size() -> int" = SIZE,
    "size_string": "size(string) -> int" = SIZE,
    "string_size": "<string>.size() -> int" = SIZE,
    "type": "type(A) -> type(A)" = Shared(None, |_, args| Ok(Value::Type(args[0].type_name()))),
    "bool_to_bool": "bool(bool) -> bool" = Guarded(identity),
    "string_to_bool": "bool(string) -> bool" = TO_BOOL,
    "bytes_to_bytes": "bytes(bytes) -> bytes" = Guarded(identity),
    "string_to_bytes": "bytes(string) -> bytes" = TO_BYTES,
    "double_to_double": "double(double) -> double" = Guarded(identity),
    "int64_to_double": "double(int) -> double" = TO_DOUBLE,
    "string_to_double": "double(string) -> double" = TO_DOUBLE,
    "uint64_to_double": "double(uint) -> double" = TO_DOUBLE,
    "duration_to_duration": "duration(duration) -> duration" = Guarded(identity),
    "int64_to_duration" [OLDEST, 36]: "duration(int) -> duration" = TO_DURATION,
    "string_to_duration": "duration(string) -> duration" = TO_DURATION,
    "to_dyn": "dyn(A) -> dyn" = Shared(None, identity),
    "int64_to_int64": "int(int) -> int" = Guarded(identity),
    "double_to_int64": "int(double) -> int" = TO_INT,
    "duration_to_int64": "int(duration) -> int" = TO_INT,
    "string_to_int64": "int(string) -> int" = TO_INT,
    "timestamp_to_int64": "int(timestamp) -> int" = TO_INT,
    "uint64_to_int64": "int(uint) -> int" = TO_INT,
    "string_to_string": "string(string) -> string" = Guarded(identity),
    "bool_to_string": "string(bool) -> string" = TO_STRING,
    "bytes_to_string": "string(bytes) -> string" = TO_STRING,
    "double_to_string": "string(double) -> string" = TO_STRING,
    "duration_to_string": "string(duration) -> string" = TO_STRING,
    "int64_to_string": "string(int) -> string" = TO_STRING,
    "timestamp_to_string": "string(timestamp) -> string" = TO_STRING,
    "uint64_to_string": "string(uint) -> string" = TO_STRING,
    "timestamp_to_timestamp": "timestamp(timestamp) -> timestamp" = Guarded(identity),
    "int64_to_timestamp": "timestamp(int) -> timestamp" = TO_TIMESTAMP,
    "string_to_timestamp": "timestamp(string) -> timestamp" = TO_TIMESTAMP,
    "uint64_to_uint64": "uint(uint) -> uint" = Guarded(identity),
    "double_to_uint64": "uint(double) -> uint" = TO_UINT,
    "int64_to_uint64": "uint(int) -> uint" = TO_UINT,
    "string_to_uint64": "uint(string) -> uint" = TO_UINT,
    "contains_string": "<string>.contains(string) -> bool" = Unguarded(|ctx, args| {
        strings(args, |text, part| {
            ctx.work((text.len() + part.len()) as u64 / 8)?;
            Ok(text.contains(part))
        })
    }),
    "ends_with_string": "<string>.endsWith(string) -> bool" = Unguarded(|_, args| {
        strings(args, |text, part| Ok(text.ends_with(part)))
    }),
    "starts_with_string": "<string>.startsWith(string) -> bool" = Unguarded(|_, args| {
        strings(args, |text, part| Ok(text.starts_with(part)))
    }),
    "matches": "matches(string, string) -> bool" = MATCHES,
    "matches_string": "<string>.matches(string) -> bool" = MATCHES,
};

fn not<'a>(_: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Bool(value) => Ok(Value::Bool(!value)),
        _ => Err(Fault::no_such_overload()),
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "functions of the library have one signature"
)]
fn identity<'a>(_: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(args[0].clone())
}

fn contains<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    match &args[1] {
        Value::List(list) => equality::list_contains(ctx, list, &args[0]).map(Value::Bool),
        Value::Map(map) => Ok(Value::Bool(map.contains(&args[0])?)),
        _ => Err(Fault::no_such_overload()),
    }
}

fn strings<'a>(args: &[Value<'a>], test: impl FnOnce(&str, &str) -> Result<bool, Fault>) -> Outcome<'a> {
    match args {
        [Value::String(text), Value::String(part)] => test(text, part).map(Value::Bool),
        _ => Err(Fault::no_such_overload()),
    }
}

fn matches<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::String(text), Value::String(pattern)] => {
            let compiled = regex::compile(ctx, pattern).map_err(Fault::error)?;
            Ok(Value::Bool(compiled.is_match(text)))
        }
        _ => Err(Fault::no_such_overload()),
    }
}
