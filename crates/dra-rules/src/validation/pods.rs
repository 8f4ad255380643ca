//! The fields of pods about claims. Other fields are ignored: they do not affect devices.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::checker::{Checker, Path, has, items, text};
use super::parts;

/// Mirrors `core/validation/validation.go`, `validatePodResourceClaims`, v1.37.2.
pub(super) fn spec(checker: &mut Checker<'_>, at: &Path<'_>, spec: &Value) {
    let at_claims = at.child("resourceClaims");
    let mut names = BTreeSet::new();
    for (index, claim) in items(spec, "resourceClaims").iter().enumerate() {
        let at = at_claims.index(index);
        let name = text(claim, "name");
        if name.is_empty() {
            checker.required(&at.child("name"), "");
        } else if names.insert(name) {
            parts::label(checker, &at.child("name"), name);
        } else {
            checker.duplicate(&at.child("name"), name);
        }
        let sources = ["resourceClaimName", "resourceClaimTemplateName"];
        match sources.map(|source| has(claim, source)) {
            [true, true] => checker.invalid_text(
                &at,
                name,
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
            ),
            [false, false] => checker.invalid_text(
                &at,
                name,
                "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            ),
            _ => {}
        }
        for source in sources.into_iter().filter(|source| has(claim, source)) {
            parts::subdomain(checker, &at.child(source), text(claim, source));
        }
    }
    let all = names.into_iter().collect::<Vec<_>>();
    let names: HashSet<&str> = all.iter().copied().collect();
    for field in ["containers", "initContainers", "ephemeralContainers"] {
        let at = at.child(field);
        for (index, container) in items(spec, field).iter().enumerate() {
            let at = at.index(index);
            let at = at.child("resources");
            used(
                checker,
                &at.child("claims"),
                &container["resources"],
                &names,
                &all,
            );
        }
    }
}

/// The claims that a container uses. Mirrors `core/validation/validation.go`, `validateResourceClaimNames`, v1.37.2.
fn used(checker: &mut Checker<'_>, at: &Path<'_>, resources: &Value, names: &HashSet<&str>, all: &[&str]) {
    // Claims used as a whole, and claims with individually used requests.
    let (mut whole, mut parts_of, mut requests) = (HashSet::new(), HashSet::new(), HashSet::new());
    for (index, claim) in items(resources, "claims").iter().enumerate() {
        let at = at.index(index);
        let (name, request) = (text(claim, "name"), text(claim, "request"));
        if name.is_empty() {
            checker.required(&at, "");
            continue;
        }
        if whole.contains(name) {
            checker.duplicate(&at, name);
        } else if request.is_empty() {
            if parts_of.contains(name) {
                checker.duplicate(&at, name);
            }
            whole.insert(name);
        } else {
            parts::label(checker, &at.child("request"), request);
            parts_of.insert(name);
            if !requests.insert((name, request)) {
                checker.duplicate(&at, &format!("{name}/{request}"));
            }
        }
        if !names.contains(name) {
            let which = match all {
                [] => " which is empty".to_owned(),
                all => format!(": {}", shown(all)),
            };
            let why = format!(": must be one of the names in pod.spec.resourceClaims{which}");
            checker.not_found(&at, name, &why);
        }
    }
}

fn shown(names: &[&str]) -> String {
    const MOST: usize = 10;
    let mut shown = names.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        shown.push_str(&format!(" and {} more", names.len() - MOST));
    }
    shown
}
