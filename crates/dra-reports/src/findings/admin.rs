//! Admin access: who can request devices that other claims hold.
//!
//! The API server checks a label of the namespace when a claim or template is created, and when a claim is allocated
//! (`registry/resource/utils.go`, `AuthorizedForAdmin` and `AuthorizedForAdminStatus`, v1.37.2). It never checks again later.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::finding::{Subject, scoped_key};
use super::words::{self, Forbidden};
use super::{Code, Finding, Look};
use crate::script::{Command, merge};
use dra_model::{Bare, Claim, Component, DeviceId, Gate, Key, Kind, Meta, Str};
use dra_rules::validation::{ADMIN_ACCESS, allows_admin_access};

/// A claim or template that requests admin access.
struct Asker<'a> {
    kind: Kind,
    metadata: &'a Meta,
    holds: BTreeSet<DeviceId>,
    is_allocated: bool,
}

pub(super) fn look(look: &mut Look<'_>) {
    let cluster = look.cluster;
    // Without the gate the API server drops the field.
    if !look.wants_any(&[Code::AdminNamespace, Code::AdminNotAllowed])
        || look.is_hidden(Kind::Namespace, "")
        || !cluster
            .environment()
            .enabled(Component::ApiServer, Gate::DRAAdminAccess)
    {
        return;
    }
    let askers = askers(look);
    for namespace in cluster.namespaces() {
        let askers = askers
            .get(&namespace.metadata.name)
            .map_or(&[][..], Vec::as_slice);
        if allows_admin_access(namespace) {
            open(look, namespace, askers);
        } else {
            for asker in askers {
                not_allowed(look, namespace, asker);
            }
        }
    }
    let unread: Vec<&Str> = askers
        .into_keys()
        .filter(|name| cluster.namespace(name).is_none())
        .collect();
    if look.wants(Code::AdminNotAllowed) && !unread.is_empty() {
        look.found.unknown.add(words::unknown_namespaces(&unread));
    }
}

fn held(claim: &Claim) -> BTreeSet<DeviceId> {
    let results = claim.results().iter();
    results
        .filter(|result| result.admin_access)
        .map(dra_model::AllocatedDevice::id)
        .collect()
}

fn askers<'a>(look: &Look<'a>) -> BTreeMap<&'a Str, Vec<Asker<'a>>> {
    let claims = look.cluster.claims().map(|claim| {
        let holds = held(claim);
        let asks = claim.spec.asks_for_admin_access() || !holds.is_empty();
        let asker = Asker {
            kind: Kind::ResourceClaim,
            metadata: &claim.metadata,
            holds,
            is_allocated: claim.status.allocation.is_some(),
        };
        (asks && !claim.metadata.is_deleting(), asker)
    });
    let templates = look.cluster.templates().map(|template| {
        let asker = Asker {
            kind: Kind::ResourceClaimTemplate,
            metadata: &template.metadata,
            holds: BTreeSet::new(),
            is_allocated: false,
        };
        (
            template.spec.spec.asks_for_admin_access() && !template.metadata.is_deleting(),
            asker,
        )
    });
    let mut askers: BTreeMap<&Str, Vec<Asker<'a>>> = BTreeMap::new();
    for (_, asker) in claims.chain(templates).filter(|(asks, _)| *asks) {
        askers.entry(&asker.metadata.namespace).or_default().push(asker);
    }
    askers
}

/// A namespace where the right to create claims is the right to access devices of others.
fn open(look: &mut Look<'_>, namespace: &Bare, askers: &[Asker<'_>]) {
    let metadata = &namespace.metadata;
    // What is hidden may request it.
    let is_known = [Kind::ResourceClaim, Kind::ResourceClaimTemplate]
        .into_iter()
        .all(|kind| !look.is_hidden(kind, &metadata.name));
    let asking: Vec<(Kind, Key)> = askers
        .iter()
        .map(|asker| (asker.kind, asker.metadata.key()))
        .collect();
    let finding = Finding::new(
        Code::AdminNamespace,
        Subject::of(Kind::Namespace, metadata),
        words::admin_is_open(ADMIN_ACCESS, &asking, is_known),
    )
    .look(
        Command::kubectl("get")
            .args(&["rolebindings,clusterrolebindings", "-A", "-o", "wide"])
            .done(),
    )
    .joins([scoped_key(Kind::Namespace, &metadata.name)]);
    look.add(if askers.is_empty() && is_known {
        let without = json!({"metadata": {"labels": {ADMIN_ACCESS: null}}});
        finding
            .fix(merge(Kind::Namespace, &metadata.key(), &without))
            .note(words::ADMIN_IS_UNUSED)
    } else {
        finding.advice(words::ADMIN_IS_USED)
    });
}

/// A claim or template requests, or has, what its namespace does not allow.
fn not_allowed(look: &mut Look<'_>, namespace: &Bare, asker: &Asker<'_>) {
    let name = &namespace.metadata.name;
    let what = if !asker.holds.is_empty() {
        Forbidden::Held(&asker.holds)
    } else if asker.kind == Kind::ResourceClaimTemplate {
        Forbidden::Template
    } else if asker.is_allocated {
        // Granted without admin access, which no release does.
        return;
    } else {
        Forbidden::Claim
    };
    let key: Key = asker.metadata.key();
    look.add(
        Finding::new(
            Code::AdminNotAllowed,
            Subject::of(asker.kind, asker.metadata),
            words::admin_is_forbidden(ADMIN_ACCESS, name, &what),
        )
        .advice(words::allow_admin(&what))
        .look(
            Command::kubectl("get")
                .object(Kind::Namespace, name)
                .args(&["--show-labels"])
                .done(),
        )
        .joins([(asker.kind, key), scoped_key(Kind::Namespace, name)]),
    );
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::tests::ask;
    use super::super::{Fix, Question, Severity};
    use dra_model::{Component, Evidence, Gate, GateState, Kind};
    use dra_testing::{World, holding};

    fn namespace(labels: &Value) -> World {
        World::default().class("d").with(
            Kind::Namespace,
            &json!({"metadata": {"name": "n", "labels": labels}}),
        )
    }

    fn admin() -> Value {
        json!({"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "d", "adminAccess": true,
            "allocationMode": "ExactCount", "count": 1}}]}})
    }

    fn allocated(world: World) -> World {
        let mut status = holding(&["x"], &["p"]);
        status["allocation"]["devices"]["results"][0]["adminAccess"] = json!(true);
        world
            .node("node-1", &json!({}))
            .slice("node-1", &json!([{"name": "x"}]))
            .claim("c", &admin(), &status)
            .pod("p", &["c"])
    }

    fn told(world: World) -> (Vec<(Severity, String, bool)>, Vec<String>) {
        let list = ask(&world.build(), Question::Now);
        let items = list.items.into_iter().map(|finding| {
            let is_command = matches!(finding.fix, Some(Fix::Command(_)));
            let text = format!("{} {} {}", finding.code, finding.object, finding.message);
            (finding.severity, text, is_command)
        });
        (items.collect(), list.unknown)
    }

    #[test]
    fn the_label_decides_and_who_requests_access_is_named() {
        let yes = json!({(super::ADMIN_ACCESS): "true"});
        let (unused, _) = told(namespace(&yes));
        assert_eq!(
            unused,
            [(
                Severity::Info,
                "DRA071 namespace/n has the label resource.kubernetes.io/admin-access=true: users who can create claims, templates or pods in \
                 it can request devices that other claims hold. No claim or template in it does"
                    .to_owned(),
                true
            )]
        );
        let (used, _) = told(allocated(namespace(&yes)));
        assert_eq!(used.len(), 1, "{used:?}");
        assert!(
            used[0].1.ends_with("that other claims hold; claim/n/c does so") && !used[0].2,
            "{used:?}"
        );
        // Any other value is none.
        for labels in [json!({}), json!({(super::ADMIN_ACCESS): "True"})] {
            assert!(told(namespace(&labels)).0.is_empty());
            let (items, _) = told(allocated(namespace(&labels)));
            assert_eq!(items.len(), 1, "{items:?}");
            assert!(
                items[0].1.starts_with(
                    "DRA072 resourceclaim/n/c has admin access to d/node-1/x, but namespace/n does not"
                ),
                "{items:?}"
            );
            let (items, _) = told(namespace(&labels).claim("c", &admin(), &json!({})));
            assert!(items[0].1.contains("rejects its allocation"), "{items:?}");
        }
    }

    #[test]
    fn a_missing_namespace_is_unknown() {
        let (items, unknown) = told(allocated(World::default().class("d")));
        assert!(items.is_empty(), "{items:?}");
        assert_eq!(
            unknown,
            ["it is unknown whether admin access is allowed: namespace/n not found"]
        );
        let off = allocated(namespace(&json!({}))).knowing(|environment| {
            let state = GateState {
                enabled: false,
                evidence: Evidence::Flag,
            };
            environment
                .gates
                .push((Component::ApiServer, Gate::DRAAdminAccess, state));
        });
        assert!(told(off).0.is_empty());
    }
}
