//! What the sentences of findings say, typed.

use std::collections::BTreeSet;
use std::fmt;

use dra_model::{DeviceId, DeviceRequest, Key, Str};
use dra_rules::kubelet::KeptOff;

/// A device that has yet to report conditions.
pub(super) struct Unbound<'a> {
    pub(super) id: DeviceId,
    pub(super) missing: Vec<&'a Str>,
}

/// What nodes have in common.
#[derive(Clone)]
pub(super) enum Similar<'a> {
    /// The type of their machine.
    Type(&'a Str),
    /// Labels.
    Labels(Vec<&'a (Str, Str)>),
}

/// Why a node should have devices of a driver: so many of so many nodes like it have some.
#[derive(Clone)]
pub(super) struct Likeness<'a> {
    pub(super) with: usize,
    pub(super) of: usize,
    pub(super) similar: Similar<'a>,
}

/// The pod of a driver's DaemonSet on a node: whether it is ready, or what keeps it off.
pub(super) enum PluginPod<'a> {
    There(&'a Key, bool),
    Missing(Option<KeptOff>),
}

/// A request with the name that results have: `REQUEST` or `REQUEST/SUBREQUEST`.
pub(super) struct Request<'a> {
    pub(super) name: &'a Str,
    pub(super) alternative: Option<&'a Str>,
    pub(super) asked: &'a DeviceRequest,
}

impl fmt::Display for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        self.alternative.map_or(Ok(()), |name| write!(f, "/{name}"))
    }
}

/// What has to change for an object to have other requests: specs are immutable.
pub(super) enum Changed {
    /// The controller that creates it.
    Owner(String),
    /// The template of a claim, or else the object itself.
    Object(String),
}

/// What is wrong with a selector.
pub(super) enum Fault {
    NoExpression,
    Invalid(String),
    Fails(String),
}

/// A driver that cannot write the status of its devices.
pub(super) struct Lacking {
    pub(super) driver: Str,
    /// Service accounts that it runs with.
    pub(super) accounts: BTreeSet<Key>,
    /// Where, empty for everywhere.
    pub(super) namespaces: Vec<Str>,
    /// The verbs that would do.
    pub(super) verbs: Vec<String>,
    /// A claim or a slice shows that it writes the status.
    pub(super) is_shown: bool,
}

/// Why a release does not start with the value of a gate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GateFault {
    Unknown,
    LockedTo(bool),
}
