//! Results of an evaluation other than a value.

use std::sync::Arc;

use super::Value;

/// The reason why there is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// An error in CEL's sense, which `&&`, `||` and the macros made of them can absorb.
    Error(Message),
    /// The evaluation is over: a limit was passed, or Go would have panicked.
    Abort(Message),
}

/// A message behind one pointer, so that results stay small.
pub(crate) type Message = Arc<String>;

/// A value or the lack of one.
pub(crate) type Outcome<'a> = Result<Value<'a>, Fault>;

impl Fault {
    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self::Error(Arc::new(message.into()))
    }

    pub(crate) fn abort(message: impl Into<String>) -> Self {
        Self::Abort(Arc::new(message.into()))
    }

    /// Returns what Go's recovered panics are reported as.
    pub(crate) fn panic(message: impl std::fmt::Display) -> Self {
        Self::abort(format!("internal error: {message}"))
    }

    /// A failed type assertion to an interface; `method` is the first missing method.
    pub(crate) fn conversion(go_type: &str, interface: &str, method: &str) -> Self {
        Self::panic(format!(
            "interface conversion: {go_type} is not {interface}: missing method {method}"
        ))
    }

    pub(crate) fn no_such_overload() -> Self {
        Self::error("no such overload")
    }

    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Error(message) | Self::Abort(message) => message,
        }
    }
}
