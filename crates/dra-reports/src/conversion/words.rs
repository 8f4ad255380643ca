//! The sentences of plans and of their steps. Nothing reads them again.

use dra_model::{ConsumerReference, Gap, Gate, Key, Meta, OwnerReference, Str, Taint};
use dra_rules::reservation::conversion::ClaimPlan;

use crate::listing::some;
use crate::words::{controller, counted};
use crate::{Sentence, warnings};

/// Why a group has to be stopped: the claim with that plan cannot be freed otherwise.
pub(super) fn must_stop(claim: &ClaimPlan) -> String {
    let why = claim.reason().unwrap_or_else(|| claim.code().to_string());
    format!("claim/{}: {why}", claim.key)
}

// Step 1.

pub(super) const STOP_GROUPS: &str = "Stop groups that cannot be kept, while the gates are on";

/// `3 groups`, `1 group`.
fn count(count: usize, one: &str) -> String {
    counted(count, one, &format!("{one}s"))
}

/// Groups that are stopped.
#[derive(Default)]
pub(super) struct Stopped {
    /// Names of those with pods.
    pub(super) with_pods: Vec<String>,
    /// Names of those without, which are only deleted.
    pub(super) without_pods: Vec<String>,
    /// Pods with a node.
    pub(super) running: usize,
    /// Pods without one.
    pub(super) pending: usize,
}

/// Which groups are stopped, and which are only deleted as they have no pods.
pub(super) fn stop(stopped: &Stopped) -> String {
    let named = |names: &[String]| {
        let word = if names.len() == 1 { "group" } else { "groups" };
        format!("{word} {}", some(names))
    };
    let mut parts = Vec::new();
    if !stopped.with_pods.is_empty() {
        let pending = match stopped.pending {
            0 => String::new(),
            pending => format!(", {pending} pending"),
        };
        let running = count(stopped.running, "running pod");
        parts.push(format!("Stop {} ({running}{pending})", named(&stopped.with_pods)));
    }
    if !stopped.without_pods.is_empty() {
        let verb = if parts.is_empty() { "Delete" } else { "delete" };
        parts.push(format!("{verb} {}", named(&stopped.without_pods)));
    }
    parts.join("; ")
}

pub(super) const WHY_STOP_GROUPS: &str = "older claim controllers create new claims without devices for the running pods, even if the PodGroup's claim was converted; \
     without the gate, no controller deallocates claims of PodGroups";

pub(super) const GATE_ON_FIRST: &str = "first turn DRAWorkloadResourceClaims on again in kube-scheduler and kube-controller-manager: without it no controller frees the \
     claims of these groups";

/// That a controller has to be paused, which has no command.
pub(super) fn pause(kind: &Str, namespace: &Str, name: &Str) -> String {
    let kind = kind.to_ascii_lowercase();
    format!("pause {kind}/{namespace}/{name}, and its owner, so that it does not recreate its pods")
}

pub(super) const SCALE_DOWN: &str = "scale the controllers of their pods to 0, or the pods are recreated and reserved for their group again; continue when these groups \
     have no pods left";

pub(super) const SCHEDULE_OR_DELETE: &str = "Schedule members that have no node yet, or delete them";

/// Which pods are to be scheduled or deleted.
pub(super) fn schedule(pods: &[String]) -> String {
    format!("Schedule or delete {}", some(pods))
}

pub(super) const WHY_SCHEDULE: &str = "the scheduler reserves claims for the group when it binds its members; afterwards members are scheduled one by one, without \
     their group";

pub(super) fn members_are_pending(group: &Key, pods: &[Str]) -> String {
    let pods = pods.iter().map(|pod| format!("pod/{}/{pod}", group.namespace));
    format!(
        "podgroup/{group}: wait until these pods have a node, or delete them; scale down the controller of one that is recreated: {}",
        pods.collect::<Vec<_>>().join(", ")
    )
}

pub(super) const LEAVE_MEMBERS_ALONE: &str =
    "do not start, scale up or restart other members of groups from here until the end";

// Steps 2 to 4.

pub(super) const CONVERT: &str = "Convert reservations for groups into lists of pods";

/// Numbers of claims.
pub(super) struct Converting {
    /// Those whose reservations become lists of pods.
    pub(super) converted: usize,
    /// Those that are released.
    pub(super) released: usize,
    /// Those that can be converted after step 1b.
    pub(super) later: usize,
}

/// How many claims are converted; nothing where there are none.
pub(super) fn converting(numbers: &Converting) -> String {
    let Converting {
        converted,
        released,
        later,
    } = *numbers;
    let mut parts = Vec::new();
    if converted > 0 {
        parts.push(format!(
            "convert {} while their pods run",
            count(converted, "claim")
        ));
    }
    if released > 0 {
        parts.push(format!("release {}", count(released, "unused claim")));
    }
    match (later, parts.is_empty()) {
        (0, _) => {}
        (later, true) => parts.push(format!("convert {} after step 1b", count(later, "claim"))),
        (later, false) => parts.push(format!("{later} more after step 1b")),
    }
    Sentence::from(parts.join("; ")).capitalized().to_string()
}

pub(super) const WHY_CONVERT: &str = "an older claim controller never removes the entry of a PodGroup: without this step the claim is never deallocated, and its namespace \
     is never deleted";

pub(super) const CLAIM_GATE_OFF: &str =
    "Turn DRAWorkloadResourceClaims off in kube-scheduler and kube-controller-manager";

pub(super) const WHY_CLAIM_GATE_OFF: &str =
    "with the gate on, the entry of the group is added again whenever a member starts or finishes";

pub(super) const RESTART_REPLICAS: &str =
    "restart every replica, and wait until the old processes have exited and their leases were taken over";

pub(super) const KEEP_GENERIC_WORKLOAD: &str =
    "keep GenericWorkload on: without it PodGroups cannot be deleted in step 5";

pub(super) const CONVERT_AGAIN: &str = "Convert entries that were added in between";

pub(super) const WHY_CONVERT_AGAIN: &str = "a scheduling attempt that began before the first conversion binds its pod without any entry, and kube-controller-manager adds \
     none for a member of a group";

pub(super) const REMOVE_FOREIGN: &str = "Remove entries of other kinds whose owner is gone";

pub(super) const WHY_REMOVE_FOREIGN: &str = "no Kubernetes controller removes them; in 1.35 and earlier, they keep all entries of the claim from being removed";

pub(super) fn ask_owner(entry: &ConsumerReference, claim: &Key) -> String {
    format!(
        "claim/{claim} is reserved for {}: ask its owner to remove the entry, or make sure that it is gone",
        crate::words::consumer(&claim.namespace, entry)
    )
}

/// Whose owners have to be asked.
pub(super) fn ask_owners(entries: &[(&ClaimPlan, &ConsumerReference)]) -> String {
    let consumer = |(claim, entry): &(&ClaimPlan, &ConsumerReference)| {
        let consumer = crate::words::consumer(&claim.key.namespace, entry);
        format!("{consumer} (claim/{})", claim.key)
    };
    let names: Vec<String> = entries.iter().map(consumer).collect();
    let (owner, entry) = if names.len() == 1 {
        ("owner", "its entry")
    } else {
        ("owners", "their entries")
    };
    format!("Ask the {owner} of {} to remove {entry}", some(&names))
}

pub(super) const VERIFY: &str = "Verify";

pub(super) const WHY_VERIFY: &str = "after this step, no component repairs a list";

// Step 5.

/// What could not be read, so that it has to be looked up.
pub(super) fn look_up(gap: &Gap) -> String {
    format!("check this yourself: {}", warnings::missing(gap))
}

pub(super) fn pause_owner(group: &Meta, owner: &OwnerReference) -> String {
    format!(
        "pause {} without stopping its pods: it recreates podgroup/{}",
        controller(group, owner),
        group.key()
    )
}

pub(super) const DELETE_COMPOSITES: &str =
    "where scheduling.k8s.io/v1alpha3 is served, delete CompositePodGroups too";

pub(super) const DELETE_GROUPS: &str = "Save and delete Workloads and PodGroups";

/// How many groups and workloads are deleted; nothing where there are none.
pub(super) fn delete_groups(groups: usize, workloads: usize) -> String {
    let named = [(groups, "PodGroup"), (workloads, "Workload")];
    let named = named.into_iter().filter(|(number, _)| *number > 0);
    let named: Vec<String> = named.map(|(number, kind)| count(number, kind)).collect();
    if named.is_empty() {
        String::new()
    } else {
        format!("Save and delete {}", named.join(" and "))
    }
}

pub(super) const WHY_DELETE_GROUPS: &str = "an older API server cannot read them: they are hidden and cannot be deleted, and with GenericWorkload on it never becomes ready. \
     Before step 2, this takes the devices from running pods";

pub(super) const DROP_FINALIZER: &str = "Remove the finalizer from PodGroups whose pods keep running";

pub(super) fn drop_finalizers(groups: usize) -> String {
    format!(
        "Remove the finalizer from {} with running pods",
        count(groups, "PodGroup")
    )
}

pub(super) const WHY_DROP_FINALIZER: &str = "the finalizer keeps a PodGroup as long as it has pods";

pub(super) const DROP_AFTER_VERIFY: &str = "only after `kubectl dra convert verify` of step 4 has found nothing: an entry for a PodGroup that is gone takes the devices from \
     running pods while the gate is on";

// Step 6.

pub(super) fn not_enforced(rule: &Str, taint: &Taint) -> String {
    format!(
        "from here on devicetaintrule/{rule} ({taint}) is not enforced: ask the driver's owner to taint the devices in their slices, or cordon \
         the nodes"
    )
}

pub(super) const DELETE_RULES: &str = "Save and delete DeviceTaintRules";

/// How many rules are deleted, and how many of them have an effect; nothing where there are none.
pub(super) fn delete_rules(rules: usize, enforced: usize) -> String {
    match (rules, enforced) {
        (0, _) => String::new(),
        (rules, 0) => format!("Save and delete {}", count(rules, "DeviceTaintRule")),
        (rules, enforced) => format!(
            "Save and delete {} ({enforced} enforced)",
            count(rules, "DeviceTaintRule")
        ),
    }
}

pub(super) const WHY_DELETE_RULES: &str = "1.36 does not serve them by default, so they cannot be deleted there; a 1.35 that serves them cannot read them, and its scheduler \
     never starts";

// Steps 7 and 8.

pub(super) fn gates_off(gates: &[Gate]) -> String {
    let gates: Vec<&str> = gates.iter().map(|gate| gate.name()).collect();
    format!("Turn {} off in every component", gates.join(" and "))
}

pub(super) const WHY_GATES_OFF: &str = "an older API server never becomes ready with GenericWorkload and groups, and a component does not start with an unknown gate";

pub(super) const REMOVE_GROUP_APIS: &str =
    "remove scheduling.k8s.io/v1beta1 and v1alpha3 from --runtime-config of kube-apiserver";

pub(super) fn remove_unknown_gates(minor: u32) -> String {
    format!("remove gates unknown to 1.{minor} from --feature-gates, or components will not start")
}

pub(super) const SOLVE_THE_REST: &str =
    "remaining errors of `check` are not about groups: resolve them as it says";

pub(super) fn replace_components(minor: u32) -> String {
    format!("Replace the components with those of 1.{minor}")
}

pub(super) const APISERVER_LAST: &str = "no component may be newer than the API server, so replace that last; drain a node before you replace its kubelet";

pub(super) const EACH_RELEASE: &str = "downgrade to each release in between";

/// What the steps have done that cannot be undone as it was.
pub(super) struct Undoing {
    /// Pods and PodGroups were stopped.
    pub(super) stopped: bool,
    /// Claims were released.
    pub(super) released: bool,
    /// PodGroups and Workloads were deleted.
    pub(super) groups: bool,
    /// DeviceTaintRules were deleted.
    pub(super) rules: bool,
}

pub(super) fn undoing(undoing: &Undoing) -> String {
    let named = |all: [(bool, &'static str); 2]| {
        let named = all.into_iter().filter(|(is, _)| *is).map(|(_, name)| name);
        named.collect::<Vec<_>>().join(" and ")
    };
    let deleted = named([
        (undoing.groups, "PodGroups and Workloads of step 5"),
        (undoing.rules, "DeviceTaintRules of step 6"),
    ]);
    let lost = named([
        (undoing.stopped, "pods and PodGroups stopped in step 1"),
        (undoing.released, "claims released in step 2"),
    ]);
    let mut text =
        "until here, gates can be turned on again, and `kubectl dra convert restore` restores the lists of claims"
            .to_owned();
    if !deleted.is_empty() {
        text += &format!("; {deleted} can only be recreated from the saved files, with other UIDs");
    }
    if !lost.is_empty() {
        text += &format!("; {lost} cannot be restored");
    }
    text
}

// Step 9.

pub(super) const CHECK_RESULT: &str = "Verify the result";

pub(super) const WHY_CHECK_RESULT: &str = "problems that are found now can still be repaired";
