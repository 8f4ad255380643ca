//! What the API server refuses in an object that somebody creates: names, limits, unions, expressions.
//!
//! Objects are looked at as JSON in the best version of their kind, since the model leaves out what only the server asks for. Every violation
//! is found that the server would tell, with the path and, as far as that makes sense, in the words of the server: all of one object at
//! once. Its defaults count as set. Fields of features that are off there count as well: the server would drop them, and who writes them wants
//! them.
//!
//! - `claims`, `slices`, `pods`: the kinds;
//! - `parts`: what several kinds have: selectors, taints, tolerations, configuration, node selectors;
//! - `checker`: paths and violations.

mod checker;
mod claims;
mod parts;
mod pods;
mod slices;

use serde_json::Value;

use self::checker::{Checker, Path};
use dra_cel::Environment;
use dra_model::{Cluster, DeviceRequest, Kind, Object};

/// What the API server would refuse.
#[derive(Clone, Debug, Default)]
pub struct Violations {
    /// The first of them, each with its path: `spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero`.
    pub list: Vec<String>,
    /// How many more there are.
    pub more: usize,
}

/// What the API server would refuse in `object` of `kind`, which is written in the kind's best version. Of a template of pods, `within` is the
/// path; of an object by itself it is empty. Expressions are compiled as `expressions` says.
pub fn validate(kind: Kind, object: &Value, within: &str, expressions: &Environment) -> Violations {
    let mut checker = Checker::new(expressions);
    let root = Path::Root(within);
    let spec = &object["spec"];
    let at = root.child("spec");
    if within.is_empty() && is_validated(kind) {
        parts::metadata(&mut checker, &root, object);
    }
    match kind {
        Kind::ResourceClaim => claims::spec(&mut checker, &at, spec),
        Kind::ResourceClaimTemplate => {
            parts::template_metadata(&mut checker, &at.child("metadata"), &spec["metadata"]);
            claims::spec(&mut checker, &at.child("spec"), &spec["spec"]);
        }
        Kind::DeviceClass => claims::class(&mut checker, &at, spec),
        Kind::ResourceSlice => slices::spec(&mut checker, &at, spec),
        Kind::DeviceTaintRule => slices::rule(&mut checker, &at, spec),
        Kind::Pod => pods::spec(&mut checker, &at, spec),
        _ => {}
    }
    checker.done()
}

fn is_validated(kind: Kind) -> bool {
    kind.group() == Kind::ResourceClaim.group() || kind == Kind::Pod
}

/// Whether the namespace of a claim, or of a template, lets it ask for admin access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdminAccess {
    /// It does, or nobody asks.
    Granted,
    /// It does not: the violation.
    Refused(String),
    /// The namespace, which is named, could not be read.
    Unknown(String),
}

/// The label of namespaces in which admin access may be asked for.
pub const ADMIN_ACCESS: &str = "resource.kubernetes.io/admin-access";

/// Whether `object` may ask for admin access where it does, on a cluster that has its namespace as it will be. Mirrors
/// `registry/resource/utils.go`, `AuthorizedForAdmin`, v1.37.2.
pub fn admin_access(cluster: &Cluster, object: &Object) -> AdminAccess {
    let (metadata, spec) = match object {
        Object::ResourceClaim(claim) => (&claim.metadata, &claim.spec),
        Object::ResourceClaimTemplate(template) => (&template.metadata, &template.spec.spec),
        _ => return AdminAccess::Granted,
    };
    let asks = |exactly: &DeviceRequest| exactly.admin_access == Some(true);
    let requests = &spec.devices.requests;
    let Some(place) = requests
        .iter()
        .position(|request| request.exactly.as_ref().is_some_and(asks))
    else {
        return AdminAccess::Granted;
    };
    let labelled = cluster.namespace(&metadata.namespace).map(|namespace| {
        namespace
            .metadata
            .label(ADMIN_ACCESS)
            .is_some_and(|value| value == "true")
    });
    match labelled {
        Some(true) => AdminAccess::Granted,
        Some(false) => AdminAccess::Refused(format!(
            "spec.devices.requests[{place}].adminAccess: Forbidden: admin access to devices requires the `{ADMIN_ACCESS}: true` label on the containing namespace"
        )),
        None => AdminAccess::Unknown(metadata.namespace.to_string()),
    }
}

#[cfg(test)]
mod tests;
