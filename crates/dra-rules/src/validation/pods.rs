//! The fields of pods about claims. Other fields are ignored: they do not affect devices.

use std::collections::{BTreeSet, HashSet};

use super::checker::{Checker, Place, has, text};
use super::parts;

/// Mirrors `core/validation/validation.go`, `validatePodResourceClaims`, v1.37.2.
pub(super) fn spec(checker: &mut Checker<'_>, at: &Place<'_>) {
    let claims = at.child("resourceClaims");
    let mut names = BTreeSet::new();
    for claim in claims.each() {
        let name = text(claim.value, "name");
        parts::needed(checker, &claim.child("name"), |checker, at| {
            if names.insert(name) {
                parts::label(checker, at);
            } else {
                checker.duplicate(at, name);
            }
        });
        let sources = ["resourceClaimName", "resourceClaimTemplateName"];
        match sources.map(|source| has(claim.value, source)) {
            [true, true] => checker.invalid_text(
                &claim,
                name,
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
            ),
            [false, false] => checker.invalid_text(
                &claim,
                name,
                "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            ),
            _ => {}
        }
        for source in sources.into_iter().filter(|source| has(claim.value, source)) {
            parts::subdomain(checker, &claim.child(source));
        }
    }
    let names = Vec::from_iter(names);
    for field in ["containers", "initContainers", "ephemeralContainers"] {
        for container in at.child(field).each() {
            used(checker, &container.child("resources").child("claims"), &names);
        }
    }
}

/// The claims that a container uses of those with `names`, which are sorted. Mirrors `core/validation/validation.go`,
/// `validateResourceClaimNames`, v1.37.2.
fn used(checker: &mut Checker<'_>, at: &Place<'_>, names: &[&str]) {
    // Claims used as a whole, and claims with individually used requests.
    let (mut whole, mut parts_of, mut requests) = (HashSet::new(), HashSet::new(), HashSet::new());
    for at in at.each() {
        let (name, request) = (text(at.value, "name"), text(at.value, "request"));
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
            parts::label(checker, &at.child("request"));
            parts_of.insert(name);
            if !requests.insert((name, request)) {
                checker.duplicate(&at, &format!("{name}/{request}"));
            }
        }
        if names.binary_search(&name).is_err() {
            let which = match names {
                [] => " which is empty".to_owned(),
                names => format!(": {}", shown(names)),
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
