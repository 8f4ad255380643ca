//! Admin access: who may ask for devices that others hold.
//!
//! The API server asks for a label of the namespace when a claim or template is created, and when a claim is allocated
//! (`registry/resource/utils.go`, `AuthorizedForAdmin` and `AuthorizedForAdminStatus`, v1.37.2). Nothing asks again later.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::finding::{Subject, scoped_key, some};
use super::{Code, Finding, Look};
use crate::script::{Command, patch};
use dra_model::{Bare, Claim, ClaimSpec, Component, DeviceId, Gate, Key, Kind, Meta, Str};

/// The label that allows admin access in a namespace, with the value `true`. Mirrors `api/resource/v1/types.go`,
/// `DRAAdminNamespaceLabelKey`, v1.37.2.
const LABEL: &str = "resource.kubernetes.io/admin-access";

/// A claim or template that asks for admin access.
struct Asker<'a> {
    kind: Kind,
    metadata: &'a Meta,
    holds: BTreeSet<DeviceId>,
    is_allocated: bool,
}

impl Asker<'_> {
    fn name(&self) -> String {
        let kind = if self.kind == Kind::ResourceClaim {
            "claim"
        } else {
            "template"
        };
        format!("{kind}/{}", self.metadata.name)
    }
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
        if allows(namespace) {
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
        look.found.unknown.add(format!(
            "whether admin access is allowed is unknown: there is no {}",
            some(unread.iter().map(|name| format!("namespace/{name}")))
        ));
    }
}

fn allows(namespace: &Bare) -> bool {
    namespace
        .metadata
        .label(LABEL)
        .is_some_and(|value| value == "true")
}

fn asks(spec: &ClaimSpec) -> bool {
    let mut requests = spec.devices.requests.iter();
    requests.any(|request| {
        let exactly = request.exactly.as_ref();
        exactly.is_some_and(|exactly| exactly.admin_access == Some(true))
    })
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
        let asks = asks(&claim.spec) || !holds.is_empty();
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
            asks(&template.spec.spec) && !template.metadata.is_deleting(),
            asker,
        )
    });
    let mut askers: BTreeMap<&Str, Vec<Asker<'a>>> = BTreeMap::new();
    for (_, asker) in claims.chain(templates).filter(|(asks, _)| *asks) {
        askers.entry(&asker.metadata.namespace).or_default().push(asker);
    }
    askers
}

/// A namespace in which the right to create claims is the right to look into devices of others.
fn open(look: &mut Look<'_>, namespace: &Bare, askers: &[Asker<'_>]) {
    let metadata = &namespace.metadata;
    let begins = format!(
        "has the label {LABEL}=true: whoever may create claims, templates or pods in it may ask for devices that others hold"
    );
    // What is hidden may ask.
    let is_known = [Kind::ResourceClaim, Kind::ResourceClaimTemplate]
        .into_iter()
        .all(|kind| !look.is_hidden(kind, &metadata.name));
    let finding = |message: String| {
        Finding::new(
            Code::AdminNamespace,
            Subject::of(Kind::Namespace, metadata),
            message,
        )
        .look(
            Command::kubectl("get")
                .args(&["rolebindings,clusterrolebindings", "-A", "-o", "wide"])
                .done(),
        )
        .joins([scoped_key(Kind::Namespace, &metadata.name)])
    };
    let found = if askers.is_empty() && is_known {
        let without = json!({"metadata": {"labels": {LABEL: null}}});
        finding(format!("{begins}. No claim or template in it does"))
            .fix(patch(
                Kind::Namespace,
                None,
                &metadata.name,
                &["--type=merge"],
                &without,
            ))
            .note("for a namespace from which nobody watches devices of others; an administrator of the cluster may set the label again")
    } else {
        let who = match askers {
            [] => String::new(),
            askers => format!(
                ", as {} {}",
                some(askers.iter().map(Asker::name)),
                if askers.len() == 1 { "does" } else { "do" }
            ),
        };
        finding(format!("{begins}{who}")).advice(
            "an administrator of the cluster sees to it that only those may create claims, templates and pods there, and change labels of \
             namespaces, who may look into all devices",
        )
    };
    look.add(found);
}

/// Something asks for, or has, what its namespace does not allow.
fn not_allowed(look: &mut Look<'_>, namespace: &Bare, asker: &Asker<'_>) {
    let name = &namespace.metadata.name;
    let lacks = format!("namespace/{name} does not have the label {LABEL}=true");
    let message = if !asker.holds.is_empty() {
        format!(
            "has admin access to {}, although {lacks}, or not any more: nothing takes the devices from it while its consumers are there",
            some(&asker.holds)
        )
    } else if asker.kind == Kind::ResourceClaimTemplate {
        format!(
            "asks for admin access, but {lacks}: the API server refuses every claim that is made from it, and its pods stay pending"
        )
    } else if asker.is_allocated {
        // Granted without admin access, which no release does.
        return;
    } else {
        format!(
            "asks for admin access, but {lacks}: the API server refuses its allocation, and its pods stay pending"
        )
    };
    let key: Key = asker.metadata.key();
    let who = if asker.holds.is_empty() {
        "an administrator of the cluster gives the namespace the label, if whoever may create claims in it may look into all devices; or \
         the owner makes it again without admin access"
    } else {
        "the owners of the pods that use it end them; or an administrator of the cluster gives the namespace the label again"
    };
    look.add(
        Finding::new(
            Code::AdminNotAllowed,
            Subject::of(asker.kind, asker.metadata),
            message,
        )
        .advice(who)
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
    fn the_label_decides_and_whoever_asks_is_named() {
        let yes = json!({(super::LABEL): "true"});
        let (unused, _) = told(namespace(&yes));
        assert_eq!(
            unused,
            [(
                Severity::Info,
                "DRA071 namespace/n has the label resource.kubernetes.io/admin-access=true: whoever may create claims, templates or pods in \
                 it may ask for devices that others hold. No claim or template in it does"
                    .to_owned(),
                true
            )]
        );
        let (used, _) = told(allocated(namespace(&yes)));
        assert_eq!(used.len(), 1, "{used:?}");
        assert!(
            used[0].1.ends_with("that others hold, as claim/c does") && !used[0].2,
            "{used:?}"
        );
        // Any other value is none.
        for labels in [json!({}), json!({(super::LABEL): "True"})] {
            assert!(told(namespace(&labels)).0.is_empty());
            let (items, _) = told(allocated(namespace(&labels)));
            assert_eq!(items.len(), 1, "{items:?}");
            assert!(
                items[0].1.starts_with(
                    "DRA072 resourceclaim/n/c has admin access to d/node-1/x, although namespace/n does not"
                ),
                "{items:?}"
            );
            let (items, _) = told(namespace(&labels).claim("c", &admin(), &json!({})));
            assert!(items[0].1.contains("refuses its allocation"), "{items:?}");
        }
    }

    #[test]
    fn a_namespace_that_is_not_there_is_unknown() {
        let (items, unknown) = told(allocated(World::default().class("d")));
        assert!(items.is_empty(), "{items:?}");
        assert_eq!(
            unknown,
            ["whether admin access is allowed is unknown: there is no namespace/n"]
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
