//! The standard functions and operators. Mirrors `common/stdlib/standard.go` (cel-go v0.29).

use super::{Binding, Declaration, OLDEST, declare, global, member, regex};
use crate::ast::operators;
use crate::eval::Context;
use crate::value::numbers::{self, Trait};
use crate::value::{Fault, Outcome, Value, convert, equality};

/// An overload of a function all of whose overloads share one implementation.
macro_rules! shared {
    ($function:expr, $id:literal, $args:literal, $result:literal, $wanted:ident, $op:expr) => {
        declare(
            $function,
            $id,
            $args,
            $result,
            Binding::Shared(Some(Trait::$wanted), $op),
        )
    };
    ($function:expr, $id:literal, $args:literal, $result:literal, $op:expr) => {
        declare($function, $id, $args, $result, Binding::Shared(None, $op))
    };
}

/// The overloads of an order operator.
macro_rules! ordering {
    ($function:expr, $prefix:literal, $test:ident) => {
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
    (@ $function:expr, $test:ident; $($id:expr => $args:literal),*) => {
        &[$(declare($function, $id, $args, "bool", Binding::Shared(Some(Trait::Comparer), |_, args| {
            Ok(Value::Bool(numbers::compare(&args[0], &args[1])?.$test()))
        }))),*]
    };
}

const ADDITION: &[Declaration] = &[
    shared!(operators::ADD, "add_bytes", "bytes, bytes", "bytes", Adder, add),
    shared!(
        operators::ADD,
        "add_double",
        "double, double",
        "double",
        Adder,
        add
    ),
    shared!(
        operators::ADD,
        "add_duration_duration",
        "duration, duration",
        "duration",
        Adder,
        add
    ),
    shared!(
        operators::ADD,
        "add_duration_timestamp",
        "duration, timestamp",
        "timestamp",
        Adder,
        add
    ),
    shared!(
        operators::ADD,
        "add_timestamp_duration",
        "timestamp, duration",
        "timestamp",
        Adder,
        add
    ),
    shared!(operators::ADD, "add_int64", "int, int", "int", Adder, add),
    shared!(
        operators::ADD,
        "add_list",
        "list(A), list(A)",
        "list(A)",
        Adder,
        add
    ),
    shared!(
        operators::ADD,
        "add_string",
        "string, string",
        "string",
        Adder,
        add
    ),
    shared!(operators::ADD, "add_uint64", "uint, uint", "uint", Adder, add),
];

const ARITHMETIC: &[Declaration] = &[
    shared!(
        operators::DIVIDE,
        "divide_double",
        "double, double",
        "double",
        Divider,
        divide
    ),
    shared!(
        operators::DIVIDE,
        "divide_int64",
        "int, int",
        "int",
        Divider,
        divide
    ),
    shared!(
        operators::DIVIDE,
        "divide_uint64",
        "uint, uint",
        "uint",
        Divider,
        divide
    ),
    shared!(
        operators::MODULO,
        "modulo_int64",
        "int, int",
        "int",
        Modder,
        modulo
    ),
    shared!(
        operators::MODULO,
        "modulo_uint64",
        "uint, uint",
        "uint",
        Modder,
        modulo
    ),
    shared!(
        operators::MULTIPLY,
        "multiply_double",
        "double, double",
        "double",
        Multiplier,
        multiply
    ),
    shared!(
        operators::MULTIPLY,
        "multiply_int64",
        "int, int",
        "int",
        Multiplier,
        multiply
    ),
    shared!(
        operators::MULTIPLY,
        "multiply_uint64",
        "uint, uint",
        "uint",
        Multiplier,
        multiply
    ),
    shared!(
        operators::NEGATE,
        "negate_double",
        "double",
        "double",
        Negator,
        negate
    ),
    shared!(operators::NEGATE, "negate_int64", "int", "int", Negator, negate),
    shared!(
        operators::SUBTRACT,
        "subtract_double",
        "double, double",
        "double",
        Subtractor,
        subtract
    ),
    shared!(
        operators::SUBTRACT,
        "subtract_duration_duration",
        "duration, duration",
        "duration",
        Subtractor,
        subtract
    ),
    shared!(
        operators::SUBTRACT,
        "subtract_int64",
        "int, int",
        "int",
        Subtractor,
        subtract
    ),
    shared!(
        operators::SUBTRACT,
        "subtract_timestamp_duration",
        "timestamp, duration",
        "timestamp",
        Subtractor,
        subtract
    ),
    shared!(
        operators::SUBTRACT,
        "subtract_timestamp_timestamp",
        "timestamp, timestamp",
        "duration",
        Subtractor,
        subtract
    ),
    shared!(
        operators::SUBTRACT,
        "subtract_uint64",
        "uint, uint",
        "uint",
        Subtractor,
        subtract
    ),
];

/// Operators built into the evaluator, and those around containers.
const SPECIAL: &[Declaration] = &[
    declare(
        operators::CONDITIONAL,
        "conditional",
        "bool, A, A",
        "A",
        Binding::None,
    ),
    declare(operators::AND, "logical_and", "bool, bool", "bool", Binding::None),
    declare(operators::OR, "logical_or", "bool, bool", "bool", Binding::None),
    shared!(
        operators::NOT,
        "logical_not",
        "bool",
        "bool",
        |_, args| match &args[0] {
            Value::Bool(value) => Ok(Value::Bool(!value)),
            _ => Err(Fault::no_such_overload()),
        }
    ),
    declare(
        operators::NOT_STRICTLY_FALSE,
        "not_strictly_false",
        "bool",
        "bool",
        Binding::None,
    ),
    declare(operators::EQUALS, "equals", "A, A", "bool", Binding::None),
    declare(operators::NOT_EQUALS, "not_equals", "A, A", "bool", Binding::None),
    declare(operators::INDEX, "index_list", "list(A), int", "A", Binding::None),
    declare(operators::INDEX, "index_map", "map(A, B), A", "B", Binding::None),
    shared!(operators::IN, "in_list", "A, list(A)", "bool", contains),
    shared!(operators::IN, "in_map", "A, map(A, B)", "bool", contains),
];

/// The operators.
pub(super) const OPERATORS: &[&[Declaration]] = &[
    SPECIAL,
    ADDITION,
    ARITHMETIC,
    ordering!(operators::LESS, "less", is_lt),
    ordering!(operators::LESS_EQUALS, "less_equals", is_le),
    ordering!(operators::GREATER, "greater", is_gt),
    ordering!(operators::GREATER_EQUALS, "greater_equals", is_ge),
];

const fn size_of(id: &'static str, args: &'static str, member: bool) -> Declaration {
    let binding = Binding::Shared(Some(Trait::Sizer), |ctx, args| {
        i64::try_from(ctx.size(&args[0]))
            .map(Value::Int)
            .map_err(|_| numbers::int_overflow())
    });
    Declaration {
        member,
        ..declare("size", id, args, "int", binding)
    }
}

const fn string_test(function: &'static str, id: &'static str, op: super::Op) -> Declaration {
    Declaration {
        binding: Binding::Unguarded(op),
        ..member(function, id, "string, string", "bool", op)
    }
}

/// The functions.
pub(super) const FUNCTIONS: &[Declaration] = &[
    size_of("size_bytes", "bytes", false),
    size_of("bytes_size", "bytes", true),
    size_of("size_list", "list(A)", false),
    size_of("list_size", "list(A)", true),
    size_of("size_map", "map(A, B)", false),
    size_of("map_size", "map(A, B)", true),
    size_of("size_string", "string", false),
    size_of("string_size", "string", true),
    shared!("type", "type", "A", "type(A)", |_, args| Ok(Value::Type(
        args[0].type_name()
    ))),
    global("bool", "bool_to_bool", "bool", "bool", identity),
    global("bool", "string_to_bool", "string", "bool", |_, args| {
        convert::to_bool(&args[0])
    }),
    global("bytes", "bytes_to_bytes", "bytes", "bytes", identity),
    global("bytes", "string_to_bytes", "string", "bytes", |_, args| {
        convert::to_bytes(&args[0])
    }),
    global("double", "double_to_double", "double", "double", identity),
    global("double", "int64_to_double", "int", "double", |_, args| {
        convert::to_double(&args[0])
    }),
    global("double", "string_to_double", "string", "double", |_, args| {
        convert::to_double(&args[0])
    }),
    global("double", "uint64_to_double", "uint", "double", |_, args| {
        convert::to_double(&args[0])
    }),
    global(
        "duration",
        "duration_to_duration",
        "duration",
        "duration",
        identity,
    ),
    Declaration {
        minors: (OLDEST, 36),
        ..global("duration", "int64_to_duration", "int", "duration", |_, args| {
            convert::to_duration(&args[0])
        })
    },
    global(
        "duration",
        "string_to_duration",
        "string",
        "duration",
        |_, args| convert::to_duration(&args[0]),
    ),
    shared!("dyn", "to_dyn", "A", "dyn", identity),
    global("int", "int64_to_int64", "int", "int", identity),
    global("int", "double_to_int64", "double", "int", |_, args| {
        convert::to_int(&args[0])
    }),
    global("int", "duration_to_int64", "duration", "int", |_, args| {
        convert::to_int(&args[0])
    }),
    global("int", "string_to_int64", "string", "int", |_, args| {
        convert::to_int(&args[0])
    }),
    global("int", "timestamp_to_int64", "timestamp", "int", |_, args| {
        convert::to_int(&args[0])
    }),
    global("int", "uint64_to_int64", "uint", "int", |_, args| {
        convert::to_int(&args[0])
    }),
    global("string", "string_to_string", "string", "string", identity),
    global("string", "bool_to_string", "bool", "string", |_, args| {
        convert::to_string(&args[0])
    }),
    global("string", "bytes_to_string", "bytes", "string", |_, args| {
        convert::to_string(&args[0])
    }),
    global("string", "double_to_string", "double", "string", |_, args| {
        convert::to_string(&args[0])
    }),
    global("string", "duration_to_string", "duration", "string", |_, args| {
        convert::to_string(&args[0])
    }),
    global("string", "int64_to_string", "int", "string", |_, args| {
        convert::to_string(&args[0])
    }),
    global(
        "string",
        "timestamp_to_string",
        "timestamp",
        "string",
        |_, args| convert::to_string(&args[0]),
    ),
    global("string", "uint64_to_string", "uint", "string", |_, args| {
        convert::to_string(&args[0])
    }),
    global(
        "timestamp",
        "timestamp_to_timestamp",
        "timestamp",
        "timestamp",
        identity,
    ),
    global(
        "timestamp",
        "int64_to_timestamp",
        "int",
        "timestamp",
        |_, args| convert::to_timestamp(&args[0]),
    ),
    global(
        "timestamp",
        "string_to_timestamp",
        "string",
        "timestamp",
        |_, args| convert::to_timestamp(&args[0]),
    ),
    global("uint", "uint64_to_uint64", "uint", "uint", identity),
    global("uint", "double_to_uint64", "double", "uint", |_, args| {
        convert::to_uint(&args[0])
    }),
    global("uint", "int64_to_uint64", "int", "uint", |_, args| {
        convert::to_uint(&args[0])
    }),
    global("uint", "string_to_uint64", "string", "uint", |_, args| {
        convert::to_uint(&args[0])
    }),
    string_test("contains", "contains_string", |ctx, args| {
        strings(args, |text, part| {
            ctx.work((text.len() + part.len()) as u64 / 8)?;
            Ok(text.contains(part))
        })
    }),
    string_test("endsWith", "ends_with_string", |_, args| {
        strings(args, |text, part| Ok(text.ends_with(part)))
    }),
    string_test("startsWith", "starts_with_string", |_, args| {
        strings(args, |text, part| Ok(text.starts_with(part)))
    }),
    shared!("matches", "matches", "string, string", "bool", Matcher, matches),
    Declaration {
        member: true,
        ..shared!(
            "matches",
            "matches_string",
            "string, string",
            "bool",
            Matcher,
            matches
        )
    },
];

fn add<'a>(ctx: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    numbers::add(ctx, &args[0], &args[1])
}

fn subtract<'a>(_: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    numbers::subtract(&args[0], &args[1])
}

fn multiply<'a>(_: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    numbers::multiply(&args[0], &args[1])
}

fn divide<'a>(_: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    numbers::divide(&args[0], &args[1])
}

fn modulo<'a>(_: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    numbers::modulo(&args[0], &args[1])
}

fn negate<'a>(_: &mut Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    numbers::negate(&args[0])
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
