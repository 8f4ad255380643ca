//! Objects of kinds that the model does not hold, as far as they matter as owners of others.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Condition, Key, Meta, Node, NodeSelector, OwnerReference, Quantity, Str, Time, Tolerations};
use dra_values::json;

/// An object that may make others, or that other components keep for it, as a queue does.
#[derive(Clone, Debug, Default)]
pub struct Owner {
    /// Its API group; empty for the core group.
    pub group: Str,
    /// Its kind.
    pub kind: Str,
    /// Its name.
    pub key: Key,
    /// Identity over time.
    pub uid: Str,
    /// Time at which it was created.
    pub created: Option<Time>,
    /// Its own owners.
    pub references: Vec<OwnerReference>,
    /// The controller of the object itself.
    pub controller: Option<OwnerReference>,
    /// True if it makes no further pod when one of its pods goes.
    pub stops: bool,
    /// True if it is a Job that fails with the next pod that fails or is deleted.
    pub fails_next: bool,
    /// True if its user has it suspended, or inactive.
    pub is_suspended: bool,
    /// The LocalQueue of Kueue that it is to wait in, which its label names; of a PodGroup of another scheduler the queue in its spec.
    pub queue: Option<Str>,
    /// Name of what manages it in the place of its own controller, if it is a Job with such a name.
    pub managed_by: Option<Str>,
    /// True if it is a LeaderWorkerSet that creates the workers of a group once their leader is ready.
    pub awaits_leader: bool,
    /// True for a LeaderWorkerSet that recreates all pods of a group with the first that is gone.
    pub recreates_group: bool,
    /// True if its user has paused its rollout, or a DaemonSet leaves it to its user to delete pods (`OnDelete`).
    pub is_paused: bool,
    /// The revision that its pods are to have, if it is a StatefulSet that replaces no pod of another one before that is ready.
    pub update_revision: Option<Str>,
    /// Whether a StatefulSet creates a pod only once those before it are ready, if its policy is specified.
    pub in_order: Option<bool>,
    /// Number of replicas, if specified.
    pub replicas: Option<i64>,
    /// Number of pods that a Job runs at a time, if specified.
    pub at_once: Option<i64>,
    /// Number of pods of a Job that have to succeed, if specified.
    pub completions: Option<i64>,
    /// Seconds after which a Job fails, if specified.
    pub deadline: Option<i64>,
    /// Pods of a Job that have failed, and the number of them (`backoffLimit`) up to which it makes another after some time.
    pub failed: Option<(i64, i64)>,
    /// The indexes of a Job that it gives up; empty for none.
    pub failed_indexes: Str,
    /// Update strategy, if known.
    pub strategy: Option<Strategy>,
    /// Whether its pod template has a nodeName, so that no scheduler sees its pods.
    pub sets_node: bool,
    /// The nodeSelector of its pod template.
    pub node_selector: Vec<(Str, Str)>,
    /// What the containers of its pod template request, by container and resource; nothing where it has no template of its own.
    pub requests: Option<BTreeMap<(Str, Str), Quantity>>,
    /// The node affinity that its pod template requires, if it is a DaemonSet.
    pub affinity: Option<NodeSelector>,
    /// The tolerations of its pod template, if it is a DaemonSet.
    pub tolerations: Tolerations,
    /// Reported conditions.
    pub conditions: Vec<Condition>,
    /// Reported checks of a Workload of Kueue, with their state as the status and their name with that of their kind as the reason.
    pub checks: Vec<Condition>,
    /// How often Kueue has put a Workload back into its queue, and when it tries again.
    pub requeued: Option<(i64, Time)>,
    /// Reported state: `status.status`, `status.phase`, `status.jobDeploymentStatus` of a RayJob, or `status.state` of a queue of Volcano.
    pub state: Str,
    /// What `status.message` says of that state.
    pub message: Str,
    /// The nodes that it gathers before pods of it start.
    pub gathers: Option<Gathers>,
    /// True if pods of it have claims, as far as its template says so.
    pub has_claims: bool,
    /// Names of the claims and templates of these, as far as its template has them.
    pub claims: BTreeSet<Str>,
    /// Extended resources of its pods, as far as its template has them.
    pub extended: BTreeSet<Str>,
}

/// Update strategy of a Deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strategy {
    /// Old pods end before new ones are made.
    Recreate,
    /// Step by step.
    RollingUpdate {
        /// So many pods may be there beyond those that are wanted.
        surge: i64,
        /// So many of those that are wanted may be unavailable.
        unavailable: i64,
    },
}

/// The nodes that an object gathers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathers {
    /// Number of nodes it waits for.
    pub wanted: i64,
    /// Those that it has, with what it says of each.
    pub there: Vec<(Str, Str)>,
    /// The template of its claims.
    pub template: Str,
}

impl Owner {
    /// The condition of that type, if its status is this one.
    pub fn condition(&self, type_: &str, status: &str) -> Option<&Condition> {
        let mut all = self.conditions.iter();
        all.find(|condition| condition.type_ == type_ && condition.status == status)
    }

    /// The failure that it reports, with its state as the type; nothing where it does not say why.
    pub fn failure(&self) -> Option<Condition> {
        let is_failure = matches!(self.state.as_str(), "Failed" | "Error") && !self.message.is_empty();
        is_failure.then(|| Condition {
            type_: self.state.clone(),
            message: self.message.clone(),
            ..Condition::default()
        })
    }

    /// Returns whether it belongs to an object with one of these UIDs.
    pub fn refers_to(&self, uids: &BTreeSet<&Str>) -> bool {
        let mut references = self.references.iter();
        references.any(|owner| !owner.uid.is_empty() && uids.contains(&owner.uid))
    }

    /// True if it says that its work has ended. Pods of it may run on, as those of a RayJob without `shutdownAfterJobFinishes`.
    pub fn has_ended(&self) -> bool {
        const ENDED: [&str; 4] = ["Complete", "Succeeded", "Failed", "Finished"];
        let is_ended = |type_: &&str| self.state == **type_ || self.condition(type_, "True").is_some();
        ENDED.iter().any(is_ended)
    }

    /// A reference to it.
    pub fn reference(&self) -> OwnerReference {
        OwnerReference {
            api_version: format!("{}/", self.group).into(),
            kind: self.kind.clone(),
            name: self.key.name.clone(),
            uid: self.uid.clone(),
            controller: true,
        }
    }

    /// Returns whether the reference is to this object.
    pub fn is(&self, reference: &OwnerReference) -> bool {
        if !reference.uid.is_empty() && !self.uid.is_empty() {
            return self.uid == reference.uid;
        }
        self.group == reference.group() && self.kind == reference.kind && self.key.name == reference.name
    }

    /// Returns whether the required affinity of a DaemonSet lets its pods on the node, as far as that can be evaluated.
    pub fn attracts(&self, node: &Node) -> bool {
        let affinity = self.affinity.as_ref();
        affinity.is_none_or(|affinity| affinity.matches(&node.metadata).unwrap_or(true))
    }

    fn weight(&self) -> usize {
        let texts = self
            .conditions
            .iter()
            .chain(&self.checks)
            .map(|condition| size_of::<Condition>() + condition.message.len());
        let references = self.references.len() * size_of::<OwnerReference>();
        let labels = (self.node_selector.len() * 2 + self.extended.len()) * size_of::<Str>();
        let requests = self.requests.as_ref().map_or(0, BTreeMap::len);
        let requests = requests * (2 * size_of::<Str>() + size_of::<Quantity>());
        let nodes = self.gathers.iter().map(|gathers| gathers.there.len());
        let nodes = nodes.sum::<usize>() * 2 * size_of::<Str>();
        size_of::<Self>() + self.message.len() + texts.sum::<usize>() + references + labels + requests + nodes
    }
}

/// The owners that a source has, by group, kind, namespace and name.
#[derive(Clone, Debug, Default)]
pub struct Owners(BTreeMap<[Str; 4], Owner>);

impl OwnerReference {
    /// The API group of the owner; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

impl Owners {
    /// Adds the object that `json` is, of this version and kind. What has no metadata is no owner.
    pub fn add(&mut self, api_version: &str, kind: &str, json: &[u8]) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Read {
            metadata: Meta,
            spec: Value,
            status: Map<String, Value>,
        }
        let Ok(Read {
            metadata,
            spec,
            status,
        }) = json::from_slice::<Read>(json)
        else {
            return;
        };
        let status = Value::Object(status);
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let key = metadata.key();
        // A PodGroup of KAI has its conditions by pools of nodes.
        let conditions = [&status["conditions"], &status["schedulingConditions"]].into_iter();
        let conditions = conditions.filter_map(Value::as_array).flatten();
        let conditions = conditions.filter_map(|condition| Condition::deserialize(condition).ok());
        let checks = status["admissionChecks"].as_array().into_iter().flatten();
        let checks = checks.filter_map(|check| {
            let name = check["name"].as_str()?;
            Some(Condition {
                status: check["state"].as_str()?.into(),
                reason: format!("AdmissionCheck {name}").into(),
                ..Condition::deserialize(check).ok()?
            })
        });
        let text = |value: &Value| value.as_str().unwrap_or_default().into();
        let states = [
            &status["status"],
            &status["phase"],
            &status["jobDeploymentStatus"],
        ];
        let of_queue = Some(&status["state"]).filter(|_| kind == "Queue");
        let state = states.into_iter().chain(of_queue).find(|state| !state.is_null());
        let state = state.map(text).unwrap_or_default();
        let mut owner = Owner {
            group: group.into(),
            kind: kind.into(),
            uid: metadata.uid.clone(),
            created: metadata.creation_timestamp,
            references: metadata.owner_references.clone(),
            controller: metadata.controller().cloned(),
            stops: metadata.is_deleting() || stops(group, kind, &spec, &status),
            fails_next: (group, kind) == ("batch", "Job")
                && !has_own_limits(&spec)
                && spec["suspend"] != true
                && status["failed"].as_i64().unwrap_or(0) >= backoff_limit(&spec),
            is_suspended: spec["suspend"] == true || spec["active"] == false,
            queue: metadata.label(QUEUE).cloned().or_else(|| {
                let queue = spec["queue"].as_str().filter(|_| kind == "PodGroup")?;
                Some(queue.into())
            }),
            managed_by: spec["managedBy"]
                .as_str()
                .filter(|name| (group, kind) == ("batch", "Job") && *name != JOB_CONTROLLER)
                .map(Str::from),
            recreates_group: kind == "LeaderWorkerSet"
                && spec["leaderWorkerTemplate"]["restartPolicy"] != "None",
            awaits_leader: kind == "LeaderWorkerSet" && spec["startupPolicy"] == "LeaderReady",
            is_paused: group == "apps"
                && (spec["paused"] == true
                    || kind == "DaemonSet" && spec["updateStrategy"]["type"] == "OnDelete"),
            update_revision: status["updateRevision"]
                .as_str()
                .filter(|_| (group, kind) == ("apps", "StatefulSet"))
                .filter(|_| replaces_in_order(&spec))
                .map(Str::from),
            in_order: spec["podManagementPolicy"]
                .as_str()
                .map(|policy| policy != "Parallel"),
            replicas: spec["replicas"].as_i64(),
            at_once: spec["parallelism"].as_i64().map(|at_once| {
                spec["completions"]
                    .as_i64()
                    .map_or(at_once, |all| all.min(at_once))
            }),
            completions: spec["completions"].as_i64(),
            deadline: spec["activeDeadlineSeconds"].as_i64(),
            failed: status["failed"]
                .as_i64()
                .filter(|_| (group, kind) == ("batch", "Job"))
                .map(|failed| (failed, backoff_limit(&spec))),
            failed_indexes: text(&status["failedIndexes"]),
            strategy: (group == "apps" && kind == "Deployment")
                .then(|| Strategy::of(&spec["strategy"], spec["replicas"].as_i64())),
            sets_node: spec["template"]["spec"]["nodeName"].is_string(),
            node_selector: node_selector(&spec),
            requests: requests(&spec),
            affinity: affinity(group, kind, &spec),
            tolerations: tolerations(group, kind, &spec),
            conditions: conditions.collect(),
            checks: checks.collect(),
            requeued: status["requeueState"]["count"]
                .as_i64()
                .zip(Time::deserialize(&status["requeueState"]["requeueAt"]).ok()),
            state,
            message: text(&status["message"]),
            gathers: Gathers::of(group, kind, &spec, &status),
            key: key.clone(),
            ..Owner::default()
        };
        owner.add_wanted(&spec);
        let key = [group.into(), kind.into(), key.namespace, key.name];
        self.0.insert(key, owner);
    }

    /// All of them, by group, kind, namespace and name.
    pub fn iter(&self) -> impl Iterator<Item = &Owner> {
        self.0.values()
    }

    /// Those that this one is an owner of.
    pub fn owned_by<'o>(&'o self, owner: &'o Owner) -> impl Iterator<Item = &'o Owner> {
        let is_owned = move |other: &&Owner| {
            other.key.namespace == owner.key.namespace
                && other.references.iter().any(|reference| owner.is(reference))
        };
        self.iter().filter(is_owned)
    }

    /// Those in a namespace that gather nodes.
    pub fn gathering(&self, namespace: &Str) -> impl Iterator<Item = (&Owner, &Gathers)> {
        let all = self.of_kind(DOMAIN.0, DOMAIN.1, namespace);
        all.filter_map(|owner| Some((owner, owner.gathers.as_ref()?)))
    }

    /// Those of a kind in a namespace.
    pub fn of_kind(&self, group: &str, kind: &str, namespace: &Str) -> impl Iterator<Item = &Owner> {
        let first = [group.into(), kind.into(), namespace.clone(), Str::default()];
        let is_one = {
            let first = first.clone();
            move |key: &[Str; 4]| key[..3] == first[..3]
        };
        let from = self.0.range(first..);
        from.take_while(move |(key, _)| is_one(key))
            .map(|(_, owner)| owner)
    }

    /// About how many bytes they take.
    pub fn weight(&self) -> u64 {
        let of_one = |(key, owner): (&[Str; 4], &Owner)| {
            key.iter().map(|part| part.len()).sum::<usize>() + owner.weight()
        };
        self.0.iter().map(of_one).sum::<usize>() as u64
    }

    /// Adds all of `others`.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The owner that an object in `namespace` refers to, which may be in no namespace.
    pub fn find(&self, owner: &OwnerReference, namespace: &Str) -> Option<&Owner> {
        let key = |namespace: Str| {
            [
                owner.group().into(),
                owner.kind.clone(),
                namespace,
                owner.name.clone(),
            ]
        };
        let found = self.0.get(&key(namespace.clone()));
        found.or_else(|| self.0.get(&key(Str::default())))
    }
}

/// Returns what a pod template requires of nodes, by their labels.
fn node_selector(spec: &Value) -> Vec<(Str, Str)> {
    let labels = spec["template"]["spec"]["nodeSelector"].as_object();
    let text = |(key, value): (&String, &Value)| Some((key.as_str().into(), value.as_str()?.into()));
    labels.into_iter().flatten().filter_map(text).collect()
}

/// Returns what the containers of a pod template request. The API server makes a request of a limit alone.
fn requests(spec: &Value) -> Option<BTreeMap<(Str, Str), Quantity>> {
    let pod = spec["template"]["spec"].as_object()?;
    let lists = ["containers", "initContainers"].iter();
    let containers = lists.filter_map(|list| pod.get(*list)?.as_array()).flatten();
    let mut all = BTreeMap::new();
    for container in containers {
        let name = container["name"].as_str()?;
        for amounts in ["limits", "requests"] {
            let amounts = container["resources"][amounts].as_object();
            let amounts = amounts.into_iter().flatten();
            all.extend(amounts.filter_map(|(resource, amount)| {
                let amount = amount.as_str().map_or_else(|| amount.to_string(), str::to_owned);
                Some(((name.into(), resource.as_str().into()), amount.parse().ok()?))
            }));
        }
    }
    Some(all)
}

/// Returns the node affinity that a DaemonSet requires.
fn affinity(group: &str, kind: &str, spec: &Value) -> Option<NodeSelector> {
    let of_nodes = &spec["template"]["spec"]["affinity"]["nodeAffinity"];
    let required = &of_nodes["requiredDuringSchedulingIgnoredDuringExecution"];
    let required =
        Some(required).filter(|required| !required.is_null() && (group, kind) == ("apps", "DaemonSet"));
    NodeSelector::deserialize(required?).ok()
}

/// Returns what a DaemonSet tolerates of nodes, without what its controller adds.
fn tolerations(group: &str, kind: &str, spec: &Value) -> Tolerations {
    let listed = Some(&spec["template"]["spec"]["tolerations"]);
    let listed = listed.filter(|_| (group, kind) == ("apps", "DaemonSet"));
    listed
        .and_then(|listed| Tolerations::deserialize(listed).ok())
        .unwrap_or_default()
}

impl Owner {
    /// Adds what pod templates anywhere in a spec want of devices: each kind has its templates elsewhere.
    fn add_wanted(&mut self, spec: &Value) {
        match spec {
            Value::Object(fields) => {
                for (name, value) in fields {
                    match (name.as_str(), value) {
                        ("resourceClaims", Value::Array(entries)) => {
                            self.has_claims = true;
                            let names = entries.iter().flat_map(|entry| {
                                [&entry["resourceClaimName"], &entry["resourceClaimTemplateName"]]
                            });
                            self.claims.extend(names.filter_map(Value::as_str).map(Str::from));
                        }
                        ("requests" | "limits", Value::Object(amounts)) => {
                            let names = amounts.keys().filter(|name| name.contains('/'));
                            self.extended.extend(names.map(|name| name.as_str().into()));
                        }
                        _ => self.add_wanted(value),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.add_wanted(item)),
            _ => {}
        }
    }
}

/// The label with the name of a LocalQueue of Kueue, which resumes what it admits.
const QUEUE: &str = "kueue.x-k8s.io/queue-name";

/// The manager of a Job that Kubernetes itself runs. Mirrors `api/batch/v1/types.go`, `JobControllerName`, v1.37.2.
const JOB_CONTROLLER: &str = "kubernetes.io/job-controller";

impl Strategy {
    /// That of `spec["strategy"]`, where so many pods are wanted. Mirrors `deployment/util/deployment_util.go`, `ResolveFenceposts`, v1.37.2, with the defaults of the API server.
    pub fn of(strategy: &Value, replicas: Option<i64>) -> Self {
        if strategy["type"] == "Recreate" {
            return Self::Recreate;
        }
        let replicas = replicas.unwrap_or(1);
        let of = |field: &str, rounds_up: bool| {
            let part = |percent: i64| {
                let hundreds = percent.saturating_mul(replicas);
                hundreds.saturating_add(if rounds_up { 99 } else { 0 }) / 100
            };
            match &strategy["rollingUpdate"][field] {
                Value::Number(number) => number.as_i64().unwrap_or(0),
                Value::String(text) => {
                    let percent = text.strip_suffix('%').and_then(|number| number.parse().ok());
                    percent.map_or(0, part)
                }
                _ => part(25),
            }
        };
        let (surge, unavailable) = (of("maxSurge", true), of("maxUnavailable", false));
        Self::RollingUpdate {
            surge,
            // With neither there would be no step.
            unavailable: if surge == 0 {
                unavailable.max(1)
            } else {
                unavailable
            },
        }
    }
}

/// Group and kind of what gathers nodes for NVIDIA's driver.
const DOMAIN: (&str, &str) = ("resource.nvidia.com", "ComputeDomain");

impl Gathers {
    /// Of a ComputeDomain of NVIDIA's driver: its pods start once the nodes of all of them are ready.
    fn of(group: &str, kind: &str, spec: &Value, status: &Value) -> Option<Self> {
        if (group, kind) != DOMAIN {
            return None;
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().into();
        let nodes = status["nodes"].as_array().into_iter().flatten();
        Some(Self {
            wanted: spec["numNodes"].as_i64().unwrap_or(0),
            there: nodes
                .map(|node| (text(&node["name"]), text(&node["status"])))
                .collect(),
            template: text(&spec["channel"]["resourceClaimTemplate"]["name"]),
        })
    }
}

/// The failures that a Job allows, with the default of the API server.
fn backoff_limit(spec: &Value) -> i64 {
    spec["backoffLimit"].as_i64().unwrap_or(6)
}

/// Returns whether a StatefulSet gives all of its pods a new template, one after the other.
fn replaces_in_order(spec: &Value) -> bool {
    let update = &spec["updateStrategy"];
    spec["podManagementPolicy"] != "Parallel"
        && update["type"] != "OnDelete"
        && update["rollingUpdate"]["partition"].as_i64().unwrap_or(0) == 0
}

/// Returns whether a Job has further rules on which failures count, and where.
fn has_own_limits(spec: &Value) -> bool {
    !spec["podFailurePolicy"].is_null() || !spec["backoffLimitPerIndex"].is_null()
}

/// Returns whether the controller of such an object makes no pod in the place of one that goes: it has more than it wants, or may lose no further one.
///
/// Mirrors `job/job_controller.go`, `syncJob`, v1.37.2, which counts a pod that was deleted as one that failed.
fn stops(group: &str, kind: &str, spec: &Value, status: &Value) -> bool {
    let number = |value: &Value, default| value.as_i64().unwrap_or(default);
    match (group, kind) {
        ("apps", "ReplicaSet" | "StatefulSet") | ("", "ReplicationController") => {
            let wanted = number(&spec["replicas"], 1);
            wanted == 0 || number(&status["replicas"], 0) > wanted
        }
        ("batch", "Job") => {
            let conditions = status["conditions"].as_array().into_iter().flatten();
            let mut ends = conditions.filter(|condition| condition["status"] == "True");
            has_own_limits(spec)
                || spec["suspend"] == true
                || ends.any(|condition| condition["type"] != "Suspended")
                || number(&status["failed"], 0) >= backoff_limit(spec)
        }
        _ => false,
    }
}
