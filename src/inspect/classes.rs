//! Which classes a device belongs to.
//!
//! Evaluating a class's selectors is left to the caller, so that the listing knows nothing of CEL.

use crate::model::{Class, Cluster, Device, Slice, Str};

/// What the selectors of a class say of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// All match.
    Yes,
    /// One does not.
    No,
    /// One could not be evaluated, which keeps the class from being used on the device's node.
    Error(String),
}

/// The classes of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceClasses {
    /// Those it belongs to, by name.
    pub names: Vec<Str>,
    /// Those whose selectors fail on it, by name, with the error.
    pub errors: Vec<(Str, String)>,
}

/// The classes of `cluster` that `device` belongs to by what `matches` says.
pub fn classes(
    cluster: &Cluster,
    slice: &Slice,
    device: &Device,
    matches: &impl Fn(&Class, &Slice, &Device) -> Match,
) -> DeviceClasses {
    let mut found = DeviceClasses::default();
    for class in cluster.classes() {
        let name = || class.metadata.name.clone();
        match matches(class, slice, device) {
            Match::Yes => found.names.push(name()),
            Match::No => {}
            Match::Error(why) => found.errors.push((name(), why)),
        }
    }
    found
}
