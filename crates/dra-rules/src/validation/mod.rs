//! Validation of new objects as in the API server: names, limits, unions, expressions.
//!
//! Objects are validated as JSON in the best version of their kind, because the model omits fields that only the server
//! checks. Finds every violation that the server would report, with its path and, where possible, the server's message.
//! Defaults count as set. Fields of features that are off there count as well: the server would drop them, but their
//! author wants them.
//!
//! - `claims`, `slices`, `pods`: the kinds;
//! - `parts`: what several kinds have: selectors, taints, tolerations, configuration, node selectors;
//! - `checker`: values with their paths, and violations;
//! - `webhook`: refusals of what a webhook could not be asked about.

mod checker;
mod claims;
mod parts;
mod pods;
mod slices;
mod webhook;

use serde_json::Value;

use self::checker::{Checker, Place};
pub use self::webhook::Webhook;
use dra_cel::Environment;
use dra_model::{Bare, Cluster, DeviceRequest, Kind, Object};

/// Violations that the API server would report.
#[derive(Clone, Debug, Default)]
pub struct Violations {
    /// The first of them, each with its path: `spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero`.
    pub list: Vec<String>,
    /// Number of more.
    pub more: usize,
}

/// Returns what the API server would refuse in `object` of `kind`, which is written in the kind's best version. Of a
/// template of pods, `within` is the path; of a single object it is empty. Expressions are compiled as `expressions`
/// says.
pub fn validate(kind: Kind, object: &Value, within: &str, expressions: &Environment) -> Violations {
    let mut checker = Checker::new(expressions);
    let root = Place::root(within, object);
    let at = root.child("spec");
    if within.is_empty() && is_validated(kind) {
        parts::metadata(&mut checker, &root.child("metadata"));
    }
    match kind {
        Kind::ResourceClaim => claims::spec(&mut checker, &at),
        Kind::ResourceClaimTemplate => {
            parts::template_metadata(&mut checker, &at.child("metadata"));
            claims::spec(&mut checker, &at.child("spec"));
        }
        Kind::DeviceClass => claims::class(&mut checker, &at),
        Kind::ResourceSlice => slices::spec(&mut checker, &at),
        Kind::DeviceTaintRule => slices::rule(&mut checker, &at),
        Kind::Pod => pods::spec(&mut checker, &at),
        _ => {}
    }
    checker.done()
}

fn is_validated(kind: Kind) -> bool {
    kind.group() == Kind::ResourceClaim.group() || kind == Kind::Pod
}

/// Permission of a namespace for admin access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdminAccess {
    /// It does, or there is no request.
    Granted,
    /// It does not: the violation.
    Refused(String),
    /// The namespace, which is named, could not be read.
    Unknown(String),
}

/// Returns whether the namespace has the label that claims with admin access need.
pub fn allows_admin_access(namespace: &Bare) -> bool {
    let label = namespace.metadata.label(ADMIN_ACCESS);
    label.is_some_and(|value| value == "true")
}

/// The label of namespaces in which admin access may be asked for: `api/resource/v1/types.go`, `DRAAdminNamespaceLabelKey`, v1.37.2.
pub const ADMIN_ACCESS: &str = "resource.kubernetes.io/admin-access";

/// Returns whether `object` may ask for admin access where it does, on a cluster that has its namespace as it will be. Mirrors
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
    let labelled = cluster
        .namespace(&metadata.namespace)
        .map(|namespace| allows_admin_access(namespace));
    match labelled {
        Some(true) => AdminAccess::Granted,
        Some(false) => AdminAccess::Refused(format!(
            "spec.devices.requests[{place}].adminAccess: Forbidden: admin access to devices requires the `{ADMIN_ACCESS}: true` label on the containing namespace"
        )),
        None => AdminAccess::Unknown(metadata.namespace.to_string()),
    }
}

/// Returns whether a refusal of the API server is about this very write, which a webhook or a policy does not want, and not about rights.
/// Mirrors `webhook/errors/statuserror.go`, `ToStatusErr`, and `policy/validating/dispatcher.go`, `Dispatch`, v1.37.2.
pub fn is_of_policy(message: &str) -> bool {
    ["denied the request", "denied request: "]
        .iter()
        .any(|words| message.contains(words))
}

#[cfg(test)]
mod tests;
