//! How changes that help read, and the commands that make them.

use std::sync::Arc;

use super::report::{Explanation, FixChange, FixItem};
use crate::model::{Cluster, Key, Pod};
use crate::scheduling::{Fix, Fixes, Found};

impl Explanation {
    pub(super) fn add_fixes(&mut self, cluster: &Cluster, pod: Option<&Arc<Pod>>, fixes: &Fixes) {
        for found in &fixes.found {
            self.fixes.push(item(cluster, pod, found));
        }
        if fixes.found.is_empty() {
            self.notes
                .push("no change of those that are tried makes it fit".to_owned());
        } else if !fixes.complete {
            self.notes
                .push("there may be other changes that are as small".to_owned());
        }
    }
}

fn item(cluster: &Cluster, pod: Option<&Arc<Pod>>, found: &Found) -> FixItem {
    let mut changes: Vec<FixChange> = found
        .changes
        .iter()
        .map(|fix| change(cluster, pod, fix))
        .collect();
    let join = |part: fn(&FixChange) -> &str, with: &str| {
        let parts: Vec<&str> = changes.iter().map(part).collect();
        parts.join(with)
    };
    let target = join(|change| &change.target, ", ");
    let message = join(|change| &change.message, "; ");
    let commands: Option<Vec<&str>> = changes.iter().map(|change| change.command.as_deref()).collect();
    let command = commands.filter(|all| !all.is_empty()).map(|all| all.join(" && "));
    let kind = match changes.as_slice() {
        [one] => one.kind,
        _ => "Several",
    };
    if changes.len() == 1 {
        changes.clear();
    }
    FixItem {
        kind,
        target,
        message,
        command,
        proven: true,
        minimal: found.smallest,
        changes,
        nodes: found.nodes.clone(),
    }
}

fn change(cluster: &Cluster, pod: Option<&Arc<Pod>>, fix: &Fix) -> FixChange {
    let of = |kind: &'static str, target: String, message: String, command: Option<String>| FixChange {
        kind,
        target,
        message,
        command,
    };
    let request_of = |claim: &Key, request: &str| format!("claim/{claim} request {request}");
    let own = pod.map_or_else(String::new, |pod| format!("pod/{}", pod.key()));
    match fix {
        Fix::Release { claim, .. } => release(cluster, claim),
        Fix::Tolerate {
            claim,
            request,
            key,
            effect,
        } => of(
            "TolerateTaint",
            request_of(claim, request),
            format!(
                "tolerate the device taint {key}:{effect} in {}",
                request_of(claim, request)
            ),
            None,
        ),
        Fix::TolerateNode { key, effect } => of(
            "TolerateNodeTaint",
            own.clone(),
            format!("tolerate the node taint {key}:{effect} in {own}"),
            None,
        ),
        Fix::Fewer {
            claim,
            request,
            count,
        } => of(
            "FewerDevices",
            request_of(claim, request),
            format!("ask for {count} in {}", request_of(claim, request)),
            None,
        ),
        Fix::FewerExtended {
            container,
            resource,
            count,
        } => of(
            "FewerDevices",
            format!("{own} container {container}"),
            format!("ask for {count} of {resource} in container {container} of {own}"),
            None,
        ),
        Fix::LessCapacity {
            claim,
            request,
            capacity,
            amount,
        } => of(
            "LessCapacity",
            request_of(claim, request),
            format!("ask for {amount} of {capacity} in {}", request_of(claim, request)),
            None,
        ),
        Fix::DropTerm {
            claim,
            request,
            selector,
            term,
            ..
        } => of(
            "RelaxSelector",
            format!("{} selector #{selector}", request_of(claim, request)),
            format!("leave out `{term}` in {}", request_of(claim, request)),
            None,
        ),
        Fix::DropConstraint {
            claim,
            place,
            attribute,
        } => of(
            "DropConstraint",
            format!("claim/{claim} constraint #{place}"),
            format!("leave out the constraint on {attribute} in claim/{claim}"),
            None,
        ),
        Fix::UseClass {
            claim,
            request,
            class,
        } => of(
            "UseClass",
            request_of(claim, request),
            format!("name class {class} in {}", request_of(claim, request)),
            None,
        ),
        Fix::DropNodeLabel { key } => of(
            "RelaxNodeSelector",
            own.clone(),
            format!("leave out the node selector on {key} in {own}"),
            None,
        ),
        Fix::DropNodeAffinity => of(
            "RelaxNodeAffinity",
            own.clone(),
            format!("leave out the required node affinity in {own}"),
            None,
        ),
        Fix::LiftTaint { pool, key, effect } => of(
            "LiftTaint",
            format!("pool/{pool}"),
            format!("have the driver lift the taint {key}:{effect} from the devices of pool {pool}"),
            None,
        ),
        Fix::DeleteRule { rule } => of(
            "LiftTaint",
            format!("devicetaintrule/{rule}"),
            format!("delete devicetaintrule/{rule}"),
            Some(format!("kubectl delete devicetaintrule {rule}")),
        ),
        Fix::Uncordon { node } => of(
            "Uncordon",
            format!("node/{node}"),
            format!("let node/{node} take pods again"),
            Some(format!("kubectl uncordon {node}")),
        ),
        Fix::LiftNodeTaint { node, key, effect } => of(
            "LiftNodeTaint",
            format!("node/{node}"),
            format!("lift the taint {key}:{effect} from node/{node}"),
            Some(format!("kubectl taint node {node} {key}:{effect}-")),
        ),
    }
}

/// A claim is deallocated once its consumers are gone.
fn release(cluster: &Cluster, key: &Key) -> FixChange {
    let pods: Vec<String> = cluster.claim(key).map_or_else(Vec::new, |claim| {
        let entries = claim.status.reserved_for.iter().filter(|entry| entry.is_pod());
        entries.map(|entry| entry.name.to_string()).collect()
    });
    let others = cluster
        .claim(key)
        .is_some_and(|claim| claim.status.reserved_for.iter().any(|entry| !entry.is_pod()));
    let (message, command) = if pods.is_empty() && !others {
        // The controller deallocates what nobody uses only when it is deleted.
        (
            format!("delete claim/{key}, which nobody uses"),
            Some(format!(
                "kubectl delete resourceclaim {} -n {}",
                key.name, key.namespace
            )),
        )
    } else if others {
        (format!("end the consumers of claim/{key}"), None)
    } else {
        (
            format!("end the pods that use claim/{key}: {}", pods.join(", ")),
            Some(format!(
                "kubectl delete pod {} -n {}",
                pods.join(" "),
                key.namespace
            )),
        )
    };
    FixChange {
        kind: "ReleaseClaim",
        target: format!("claim/{key}"),
        message,
        command,
    }
}
