//! Who removes a scheduling gate of a pod, and what to look at meanwhile.
//!
//! A gate is the lock of the controller that set it: removing it starts a pod that the controller holds back, past a queue or before what it
//! needs is there. So only a gate without a domain in its name comes with a command.

use serde_json::json;

use super::items::FixItem;
use super::words::fixes as words;
use crate::remedy::Remedy;
use crate::script::describe;
use crate::script::{self, Command, NoCommand, Resource, Script};
use dra_model::names::is_within;
use dra_model::{Key, Kind, Pod, Str, Time};
use dra_rules::owners::{KUEUE, POD_GROUP, PREBUILT, Queued, Retry};
use dra_rules::reservation::manager;

/// The gate that Kueue puts on pods that it queues one by one; others it puts on pods of what it queues.
const ADMISSION: &str = "kueue.x-k8s.io/admission";

const WORKLOAD: Resource = Resource::called("workloads.kueue.x-k8s.io");

/// What has to happen for the gates of `pod` to go: those without a known owner together, then each of the others.
/// What is known of the Workload of Kueue in the place of the pod is `queued`.
/// `admitted` is the Workload if Kueue has admitted it, and since when.
pub(super) fn lifted(
    pod: &Pod,
    gates: &[Str],
    queued: Option<&Queued>,
    admitted: Option<(Key, Time)>,
    now: Time,
) -> Vec<FixItem> {
    let overdue = admitted.filter(|(_, since)| now.since(*since).as_secs() >= OVERDUE_SECONDS);
    let (owned, free): (Vec<_>, Vec<_>) = gates.iter().partition(|gate| gate.contains('/'));
    let removed = (!free.is_empty()).then(|| remove(pod, &free));
    let owned = owned.into_iter().filter_map(|gate| {
        let (domain, _) = gate.split_once('/')?;
        match &overdue {
            Some((workload, since)) if is_within(domain, KUEUE) => Some(unremoved(gate, workload, *since)),
            _ => Some(awaited(pod, gate, domain, queued)),
        }
    });
    removed.into_iter().chain(owned).collect()
}

/// Seconds after which Kueue has removed the gates of what it admitted.
const OVERDUE_SECONDS: u64 = 300;

/// A gate that Kueue should have removed.
fn unremoved(gate: &Str, workload: &Key, since: Time) -> FixItem {
    let (message, how) = words::overdue(gate, workload, since);
    FixItem::by_hand("AwaitGate", gate.as_str(), message, how).look(describe(WORKLOAD, workload))
}

/// A gate that the controller of `domain` removes.
fn awaited(pod: &Pod, gate: &Str, domain: &str, queued: Option<&Queued>) -> FixItem {
    let key = pod.key();
    let is_kueue = is_within(domain, KUEUE);
    let by_queue = queued.filter(|_| is_kueue);
    if let Some(queued) = by_queue.filter(|queued| queued.retry != Retry::Automatic) {
        return requeued(queued);
    }
    let ((message, who), look) = if by_queue.is_some() || gate == ADMISSION {
        (words::admitted(&key, gate), workload(pod, gate, queued))
    } else {
        let owner = pod.metadata.controller().map(manager);
        let look = if is_kueue {
            workload(pod, gate, None)
        } else {
            describe(Kind::Pod, &key)
        };
        (words::ungated(&key, gate, domain, owner.as_deref()), look)
    };
    FixItem::by_hand("AwaitGate", gate.as_str(), message, who).look(look)
}

/// What Kueue holds back that has no pods.
pub(super) fn requeued(queued: &Queued) -> FixItem {
    let workload = &queued.workload;
    let (message, who) = words::requeued(queued);
    let remedy = if queued.retry == Retry::WhenActive {
        let change = json!({"spec": {"active": true}});
        let (namespace, name) = (&workload.namespace, &workload.name);
        Remedy::command(script::patch(
            WORKLOAD,
            Some(namespace),
            name,
            &["--type=merge"],
            &change,
        ))
        .note(who)
    } else {
        Remedy::by_hand(who)
    };
    let look = match queued.retry {
        Retry::WithPods { .. } => {
            let get = Command::kubectl("get").arg("pods");
            let selector = format!("{POD_GROUP}={}", workload.name);
            get.option("--selector", &selector)
                .namespace(&workload.namespace)
                .done()
        }
        _ => describe(WORKLOAD, workload),
    };
    FixItem::unproven("AwaitGate", format!("workload/{workload}"), message, remedy).look(look)
}

/// Gates that no domain is known to own. The API server lets gates be removed, and none added.
fn remove(pod: &Pod, gates: &[&Str]) -> FixItem {
    let key = pod.key();
    let names: Vec<&str> = gates.iter().map(|gate| gate.as_str()).collect();
    let target = names.join(", ");
    let message = words::remove_gates(&target);
    let remedy = if pod.metadata.is_only_written() {
        Remedy::by_hand(words::gates_in_manifest(&key))
    } else {
        let all = pod.spec.scheduling_gates.iter().enumerate();
        // Behind what goes, places move up: the last goes first.
        let operations = all.rev().filter(|(_, gate)| gates.contains(&&gate.name));
        let operations = operations.flat_map(|(place, gate)| {
            let path = format!("/spec/schedulingGates/{place}");
            [
                json!({"op": "test", "path": format!("{path}/name"), "value": gate.name.as_str()}),
                json!({"op": "remove", "path": path}),
            ]
        });
        Remedy::command(script::change(Kind::Pod, &key, operations.collect())).note(words::GATES)
    };
    FixItem::unproven("RemoveGates", target, message, remedy).look(describe(Kind::Pod, &key))
}

/// The Workload that Kueue queues in the place of the pod, by the name that a label of the pod has, or else by the UID of what is queued.
fn workload(pod: &Pod, gate: &Str, queued: Option<&Queued>) -> Result<Script, NoCommand> {
    let metadata = &pod.metadata;
    let known = queued.map(|queued| &queued.workload.name);
    let named = known.or_else(|| metadata.label(PREBUILT).or_else(|| metadata.label(POD_GROUP)));
    let queued = metadata.controller().filter(|_| gate != ADMISSION);
    let describe = Command::kubectl("describe");
    let describe = match named {
        Some(name) => describe.object(WORKLOAD, name),
        None => {
            let uid = queued.map_or(&metadata.uid, |owner| &owner.uid);
            describe
                .arg("workloads.kueue.x-k8s.io")
                .option("--selector", &format!("kueue.x-k8s.io/job-uid={uid}"))
        }
    };
    describe.namespace(&metadata.namespace).done()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use dra_model::Object;

    /// Kind, command or note, and what to look at, of each fix for a pod with these gates.
    fn fixes(metadata: &Value, gates: &[&str]) -> Vec<(&'static str, String, String)> {
        let named: Vec<Value> = gates.iter().map(|name| json!({"name": name})).collect();
        let mut pod = json!({"metadata": {"namespace": "n", "name": "p", "uid": "u"}, "spec": {"schedulingGates": named}});
        for (field, value) in metadata.as_object().unwrap() {
            pod["metadata"][field] = value.clone();
        }
        let Ok(Object::Pod(pod)) = Object::from_json(Kind::Pod, pod.to_string().as_bytes()) else {
            panic!("no pod");
        };
        let gates: Vec<Str> = gates.iter().map(|name| Str::from(*name)).collect();
        let text = |fix: &FixItem| {
            let command = fix.command.as_ref().map(ToString::to_string);
            command.or_else(|| fix.note.clone()).unwrap_or_default()
        };
        lifted(&pod, &gates, None, None, dra_testing::now())
            .iter()
            .map(|fix| (fix.kind, text(fix), fix.look.as_ref().unwrap().to_string()))
            .collect()
    }

    #[test]
    fn only_gates_without_a_domain_are_removed_by_hand() {
        let all = fixes(
            &json!({}),
            &[
                "first",
                "kueue.x-k8s.io/admission",
                "second",
                "example.com/network",
            ],
        );
        let kinds: Vec<_> = all.iter().map(|(kind, ..)| *kind).collect();
        assert_eq!(kinds, ["RemoveGates", "AwaitGate", "AwaitGate"]);
        assert_eq!(
            all[0].1,
            "kubectl patch pod/p --namespace=n --type=json -p '[{\"op\":\"test\",\"path\":\"/spec/schedulingGates/2/name\",\"value\":\"second\"},\
             {\"op\":\"remove\",\"path\":\"/spec/schedulingGates/2\"},\
             {\"op\":\"test\",\"path\":\"/spec/schedulingGates/0/name\",\"value\":\"first\"},\
             {\"op\":\"remove\",\"path\":\"/spec/schedulingGates/0\"}]'"
        );
        assert!(all[1].1.starts_with("see the pod's Workload"), "{}", all[1].1);
        assert!(
            all[2]
                .1
                .starts_with("the controller of example.com removes the gate"),
            "{}",
            all[2].1
        );
        assert_eq!(all[2].2, "kubectl describe pod/p --namespace=n");
    }

    #[test]
    fn the_workload_is_found_by_its_name_or_by_what_it_is_for() {
        let look = |metadata: &Value, gate: &str| fixes(metadata, &[gate])[0].2.clone();
        let job = json!({"ownerReferences": [
            {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "job-uid", "controller": true}]});
        let by_uid = |uid: &str| {
            format!(
                "kubectl describe workloads.kueue.x-k8s.io --selector=kueue.x-k8s.io/job-uid={uid} --namespace=n"
            )
        };
        assert_eq!(look(&json!({}), ADMISSION), by_uid("u"));
        assert_eq!(look(&job, ADMISSION), by_uid("u"));
        assert_eq!(look(&job, "kueue.x-k8s.io/topology"), by_uid("job-uid"));
        assert_eq!(
            look(&json!({"labels": {POD_GROUP: "train"}}), ADMISSION),
            "kubectl describe workloads.kueue.x-k8s.io/train --namespace=n"
        );
    }
}
