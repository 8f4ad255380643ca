//! Errors that end an attempt to schedule.

use std::fmt;

use dra_model::{DeviceId, Gate, Key, PoolId, Str};

/// An error that ends the attempt to schedule, on all nodes, if the scheduler meets it. It is displayed in the words of kube-scheduler.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{subject}{failure}")]
pub struct AttemptError {
    /// Subject of the error.
    pub subject: ErrorSubject,
    /// Failure.
    pub failure: Failure,
}

/// Subject of an [`AttemptError`]. It is displayed as what precedes the failure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum ErrorSubject {
    /// No claim in particular.
    #[error("")]
    Attempt,
    /// A request, or a subrequest by its own name.
    #[error("claim {claim}, request {1}: ", claim = Shown(.0))]
    Request(Key, Str),
    /// A subrequest.
    #[error("claim {claim}, subrequest {1}: ", claim = Shown(.0))]
    Subrequest(Key, Str),
    /// The selector of a request at that place.
    #[error("claim {claim}, request {1}, selector #{2}: ", claim = Shown(.0))]
    RequestSelector(Key, Str, usize),
    /// The constraint of a claim at that place.
    #[error("claim {claim}, constraint #{1}: ", claim = Shown(.0))]
    Constraint(Key, usize),
    /// The selector at that place of some request of a claim, and the device that it was tried on.
    #[error("claim {claim}: selector #{1}{device}: ", claim = Shown(.0), device = on(.2.as_ref()))]
    ClaimSelector(Key, usize, Option<DeviceId>),
    /// The selector of a class at that place, and the device that it was tried on.
    #[error("class {0}: selector #{1}{device}: ", device = on(.2.as_ref()))]
    ClassSelector(Str, usize, Option<DeviceId>),
}

fn on(device: Option<&DeviceId>) -> String {
    device.map_or_else(String::new, |device| format!(" on device {device}"))
}

/// Failure in an [`AttemptError`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Failure {
    /// An expression does not compile.
    #[error("CEL compile error: {0}")]
    Compile(Str),
    /// An expression failed on a device.
    #[error("CEL runtime error: {0}")]
    Runtime(Str),
    /// The same, of a key that the device does not have, where kube-scheduler adds advice.
    #[error("CEL runtime error: {0}{ADVICE}")]
    NoSuchKey(Str),
    /// A pool that all devices are wanted of is incomplete or invalid, in the words of kube-scheduler.
    #[error("{}", .0.1)]
    Pool(Box<(PoolId, Str)>),
    /// What needs this gate, which is off, in the words of kube-scheduler.
    #[error("has {what}, but the {0} feature is disabled", what = subject_of(*.0))]
    Disabled(Gate),
    /// Anything else, in the words of kube-scheduler.
    #[error("{0}")]
    Other(String),
}

/// What a request has that needs the gate.
fn subject_of(gate: Gate) -> &'static str {
    if gate == Gate::DRAPrioritizedList {
        "subrequests"
    } else {
        "capacity requests"
    }
}

impl AttemptError {
    pub(super) fn of_request(claim: Key, request: Str, what: String) -> Self {
        Self {
            subject: ErrorSubject::Request(claim, request),
            failure: Failure::Other(what),
        }
    }
}

impl From<String> for AttemptError {
    fn from(what: String) -> Self {
        Self {
            subject: ErrorSubject::Attempt,
            failure: Failure::Other(what),
        }
    }
}

/// Advice that upstream appends to errors about missing keys. Mirrors `cel/errors.go`, `EnhanceRuntimeError`.
const ADVICE: &str = ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields";

impl Failure {
    /// Returns what an expression failed with. In releases that `advise`, of a missing key with advice.
    pub(super) fn of_runtime(why: Str, advises: bool) -> Self {
        if advises && why.contains("no such key:") {
            Self::NoSuchKey(why)
        } else {
            Self::Runtime(why)
        }
    }
}

/// A claim as kube-scheduler names it: without a namespace, by its name.
pub(super) struct Shown<'k>(pub(super) &'k Key);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.namespace.is_empty() {
            write!(f, "{}", self.0.name)
        } else {
            write!(f, "{}", self.0)
        }
    }
}
