//! How changes that help read, and the commands that make them.

use std::sync::Arc;

use super::report::{ClusterVerdict, Explanation, FixChange, FixItem, Reason, command_or_note};
use crate::model::{Claim, Cluster, ConsumerReference, Key, Kind, Pod, Str};
use crate::quota::Refusal;
use crate::reservation::claim_names;
use crate::scheduling::{Fix, Fixes, Readiness};
use crate::script::{
    Command, NoCommand, Script, delete, delete_in, delete_pods, lift_node_taint, recreate_pod,
};

impl Explanation {
    /// What `pod` needs that was recreated in `cluster`, so that it fits there; `made` is what it is there. Nothing further where
    /// `fits` has nodes.
    pub(super) fn add_recreation(
        &mut self,
        cluster: &Cluster,
        made: &Arc<Pod>,
        fits: Vec<Str>,
        fixes: &Fixes,
    ) {
        let recreation = recreation(made);
        if !fits.is_empty() {
            self.fixes.push(item(vec![recreation], true, fits));
            return;
        }
        for found in &fixes.found {
            let more = found.changes.iter().map(|fix| change(cluster, Some(made), fix));
            let changes = std::iter::once(recreation.clone()).chain(more).collect();
            self.fixes
                .push(item(changes, found.smallest, found.nodes.clone()));
        }
    }

    /// What the driver of a device has to say before the pod is bound. Nothing can be simulated there.
    pub(super) fn add_binding(&mut self, claim: &Claim, state: &Readiness) {
        let Readiness::Pending { condition, device } = state else {
            return;
        };
        self.fixes.push(FixItem::unproven(
            "AwaitBinding",
            format!(
                "condition {condition} of device {device} in claim/{}",
                claim.key()
            ),
            None,
        ));
    }

    /// Why admission refuses `claim`. Whether a higher quota would help is not simulated.
    pub(super) fn add_refusal(&mut self, claim: &str, refusal: &Refusal<'_>) {
        let text = format!("{claim} cannot be created: it {refusal}");
        self.reasons.push(Reason::plain("QuotaExceeded", text));
        if self.verdict == ClusterVerdict::Fits {
            let summary = format!(
                "waits, as a quota keeps {claim} from being created; with it, it {}",
                self.summary
            );
            self.conclude(ClusterVerdict::Waits, summary);
        }
        let quota = &refusal.quota.metadata;
        let edit = Command::kubectl("edit")
            .object(Kind::ResourceQuota, &quota.name)
            .namespace(&quota.namespace);
        self.fixes.push(FixItem::unproven(
            "RaiseQuota",
            format!("resourcequota/{}", quota.key()),
            Some(edit.done()),
        ));
    }

    pub(super) fn add_fixes(&mut self, cluster: &Cluster, pod: Option<&Arc<Pod>>, fixes: &Fixes) {
        for found in &fixes.found {
            let changes = found.changes.iter().map(|fix| change(cluster, pod, fix));
            self.fixes
                .push(item(changes.collect(), found.smallest, found.nodes.clone()));
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

/// A pod that was given a claim of somebody else gets one of its own when it is created again.
fn recreation(pod: &Pod) -> FixChange {
    let key = pod.key();
    let (message, command) = match pod.metadata.controller() {
        Some(owner) => (
            format!(
                "delete pod/{key}, so that {} {} makes it again with claims of its own",
                owner.kind, owner.name
            ),
            delete_pods(&key.namespace, [&key.name]),
        ),
        None => (
            format!("delete pod/{key} and create it again, so that it gets claims of its own"),
            recreate_pod(&key),
        ),
    };
    single("RecreatePod", format!("pod/{key}"), message, Some(command))
}

fn single(
    kind: &'static str,
    target: String,
    message: String,
    command: Option<Result<Script, NoCommand>>,
) -> FixChange {
    let (command, note) = command_or_note(command);
    FixChange {
        kind,
        target,
        message,
        command,
        note,
    }
}

fn item(mut changes: Vec<FixChange>, smallest: bool, nodes: Vec<Str>) -> FixItem {
    let join = |part: fn(&FixChange) -> &str, with: &str| {
        let parts: Vec<&str> = changes.iter().map(part).collect();
        parts.join(with)
    };
    let target = join(|change| &change.target, ", ");
    let message = join(|change| &change.message, "; ");
    let commands: Option<Vec<Script>> = changes.iter().map(|change| change.command.clone()).collect();
    let command = commands.and_then(Script::all);
    let notes: Vec<&str> = changes
        .iter()
        .filter_map(|change| change.note.as_deref())
        .collect();
    let note = (!notes.is_empty()).then(|| notes.join("; "));
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
        note,
        proven: true,
        minimal: smallest,
        changes,
        nodes,
    }
}

fn change(cluster: &Cluster, pod: Option<&Arc<Pod>>, fix: &Fix) -> FixChange {
    let of = single;
    let request_of = |claim: &Key, request: &str| format!("claim/{claim} request {request}");
    let own = pod.map_or_else(String::new, |pod| format!("pod/{}", pod.key()));
    match fix {
        Fix::Release { claim, .. } => release(cluster, pod, claim),
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
            Some(delete(Kind::DeviceTaintRule, [rule])),
        ),
        Fix::Uncordon { node } => of(
            "Uncordon",
            format!("node/{node}"),
            format!("let node/{node} take pods again"),
            Some(Command::kubectl("uncordon").object(Kind::Node, node).done()),
        ),
        Fix::LiftNodeTaint { node, key, effect } => of(
            "LiftNodeTaint",
            format!("node/{node}"),
            format!("lift the taint {key}:{effect} from node/{node}"),
            Some(lift_node_taint(node, key, effect)),
        ),
    }
}

/// A claim is deallocated once its consumers are gone.
fn release(cluster: &Cluster, own: Option<&Arc<Pod>>, key: &Key) -> FixChange {
    let of = |message, command| single("ReleaseClaim", format!("claim/{key}"), message, command);
    let reserved = cluster
        .claim(key)
        .map_or(&[][..], |claim| claim.status.reserved_for.as_slice());
    let is_own = own.is_some_and(|pod| {
        pod.metadata.namespace == key.namespace && claim_names(pod).any(|name| name.name() == Some(&key.name))
    });
    let is_other = |entry: &&ConsumerReference| own.is_none_or(|pod| entry.uid != pod.metadata.uid);
    let users: Vec<&ConsumerReference> = reserved.iter().filter(is_other).collect();
    if users.iter().any(|entry| !entry.is_pod()) {
        return of(format!("end the consumers of claim/{key}"), None);
    }
    let pods: Vec<&str> = users.iter().map(|entry| entry.name.as_str()).collect();
    if !pods.is_empty() {
        let message = format!("end the pods that use claim/{key}: {}", pods.join(", "));
        return of(message, Some(delete_pods(&key.namespace, pods)));
    }
    if is_own {
        // The scheduler deallocates it in `PostFilter`. Without the claim the pod could not run at all.
        let message = format!("wait until the scheduler deallocates claim/{key}, which no other pod uses");
        return of(message, None);
    }
    // The controller deallocates what no pod uses only when it is deleted.
    let command = delete_in(&key.namespace, Kind::ResourceClaim, [&key.name]);
    of(format!("delete claim/{key}, which no pod uses"), Some(command))
}
