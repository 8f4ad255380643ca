//! The controllers above an object, up to the last one that is known.

use std::collections::BTreeSet;

use super::gathering::gathering;
use super::name::OwnerName;
use dra_model::{Cluster, Key, Kind, Meta, Owner, OwnerReference, Pod, Str};

/// Maximum depth of owners to follow. References of files may form a loop.
const MOST_LINKS: usize = 16;

/// Kinds whose objects something else mostly makes, several of them: a rollout makes ReplicaSets, a CronJob makes Jobs.
const MADE: [(&str, &str); 3] = [("apps", "ReplicaSet"), ("batch", "Job"), ("ray.io", "RayCluster")];

/// The kinds that name what they make after themselves: group and kind of what is made, and the kind that makes it.
const MADE_BY: [(&str, &str, &str); 4] = [
    ("apps", "ReplicaSet", "Deployment"),
    ("apps", "ReplicaSet", "Rollout"),
    ("batch", "Job", "CronJob"),
    ("batch", "Job", "JobSet"),
];

/// The label of pods of a LeaderWorkerSet that has its name.
pub const LEADER_WORKER_SET: &str = "leaderworkerset.sigs.k8s.io/name";

/// Labels with the name of the owner's owner, and its group and kind: for the owner's kind.
const NAMED: [(&str, &str, &str, &str); 3] = [
    (
        "Job",
        "jobset.sigs.k8s.io/jobset-name",
        "jobset.x-k8s.io",
        "JobSet",
    ),
    (
        "StatefulSet",
        LEADER_WORKER_SET,
        "leaderworkerset.x-k8s.io",
        "LeaderWorkerSet",
    ),
    (
        "RayCluster",
        "ray.io/originated-from-cr-name",
        "ray.io",
        "RayService",
    ),
];

/// Labels with the hash at the end of a ReplicaSet's name, and who makes it.
const HASHED: [(&str, &str, &str); 2] = [
    ("pod-template-hash", "apps", "Deployment"),
    ("rollouts-pod-template-hash", "argoproj.io", "Rollout"),
];

/// An owner.
#[derive(Clone, Debug)]
struct Link {
    group: Str,
    kind: Str,
    namespace: Str,
    name: Str,
    uid: Str,
}

impl Link {
    fn new(owner: &OwnerReference, namespace: &Str) -> Self {
        Self {
            group: owner.group().into(),
            kind: owner.kind.clone(),
            namespace: namespace.clone(),
            name: owner.name.clone(),
            uid: owner.uid.clone(),
        }
    }

    /// Returns whether both are one object, or one was made anew in the place of the other.
    fn is(&self, other: &Self) -> bool {
        let has_uid = !self.uid.is_empty() && self.uid == other.uid;
        has_uid || self.is_beside(other) && self.name == other.name
    }

    fn is_beside(&self, other: &Self) -> bool {
        self.group == other.group && self.kind == other.kind && self.namespace == other.namespace
    }

    /// Returns whether this one may have been made by the other: it is of such a kind, and called after it.
    fn may_be_of(&self, other: &Self) -> bool {
        let is_made = MADE_BY.iter().any(|(group, kind, maker)| {
            (*group, *kind) == (self.group.as_str(), self.kind.as_str()) && *maker == other.kind.as_str()
        });
        let rest = self.name.strip_prefix(other.name.as_str());
        is_made && self.namespace == other.namespace && rest.is_some_and(|rest| rest.starts_with('-'))
    }

    fn reference(&self) -> OwnerReference {
        OwnerReference {
            api_version: format!("{}/", self.group).into(),
            kind: self.kind.clone(),
            name: self.name.clone(),
            uid: self.uid.clone(),
            controller: true,
        }
    }

    fn find<'c>(&self, cluster: &'c Cluster) -> Option<&'c Owner> {
        cluster
            .environment()
            .owners
            .find(&self.reference(), &self.namespace)
    }

    fn called(&self) -> OwnerName {
        OwnerName {
            kind: self.kind.clone(),
            name: self.name.clone(),
        }
    }
}

/// Common owners of two objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kinship {
    /// They have this owner, the highest one that is known.
    Same(OwnerName),
    /// These two may have the same owner: the owner is unknown.
    Unknown(OwnerName, OwnerName),
    /// None.
    Different,
}

/// The controllers above an object, the nearest first, and its PodGroup.
#[derive(Clone, Debug, Default)]
pub struct Lineage {
    links: Vec<Link>,
    /// The last link, where something else may have made it.
    open: Option<Link>,
}

impl Lineage {
    /// Those above a pod. Members of a PodGroup are scheduled together, and pods whose nodes are gathered start together.
    pub fn of_pod(cluster: &Cluster, pod: &Pod) -> Self {
        let mut lineage = Self::of(cluster, &pod.metadata);
        if let Some(name) = pod.pod_group() {
            let group = OwnerReference {
                api_version: Kind::PodGroup.group().into(),
                kind: Kind::PodGroup.name().into(),
                name: name.clone(),
                ..OwnerReference::default()
            };
            let group = Link {
                group: Kind::PodGroup.group().into(),
                ..Link::new(&group, &pod.metadata.namespace)
            };
            lineage.links.insert(0, group);
        }
        if let Some(domain) = gathering(cluster, pod) {
            let domain = Link {
                group: domain.group.clone(),
                kind: domain.kind.clone(),
                namespace: domain.key.namespace.clone(),
                name: domain.key.name.clone(),
                uid: domain.uid.clone(),
            };
            lineage.links.push(domain);
        }
        lineage
    }

    /// Those that the source contains, not only by name.
    pub fn known<'c>(&self, cluster: &'c Cluster) -> impl Iterator<Item = &'c Owner> {
        self.links.iter().filter_map(|link| link.find(cluster))
    }

    /// References to them.
    pub fn references(&self) -> Vec<OwnerReference> {
        self.links.iter().map(Link::reference).collect()
    }

    /// The UIDs of those that are known by more than their names, and that of `pod`.
    pub fn uids_with<'u>(&'u self, pod: &'u Pod) -> BTreeSet<&'u Str> {
        let known = self.links.iter().map(|link| &link.uid);
        known
            .filter(|uid| !uid.is_empty())
            .chain([&pod.metadata.uid])
            .collect()
    }

    /// Those above an object with this metadata, as far as the cluster has them, or labels and names tell.
    pub fn of(cluster: &Cluster, metadata: &Meta) -> Self {
        let mut lineage = Self::default();
        let namespace = &metadata.namespace;
        let mut labelled = metadata;
        let mut next = metadata.controller().cloned();
        while let Some(owner) = next.take().filter(|_| lineage.links.len() < MOST_LINKS) {
            let link = Link::new(&owner, namespace);
            let object = Kind::find(owner.group(), &owner.kind)
                .and_then(|kind| cluster.get(kind, &Key::new(namespace.clone(), owner.name.clone())));
            next = if let Some(object) = object {
                labelled = object.metadata();
                labelled.controller().cloned()
            } else if let Some(known) = cluster.environment().owners.find(&owner, namespace) {
                known.controller.clone()
            } else {
                let above = above(&owner, labelled);
                let is_made = MADE.contains(&(owner.group(), owner.kind.as_str()));
                lineage.open = Some(link.clone()).filter(|_| is_made && above.is_none());
                above
            };
            lineage.links.push(link);
        }
        lineage
    }

    /// Returns whether the owner, which is in this namespace, is above the object.
    pub fn has(&self, owner: &OwnerReference, namespace: &Str) -> bool {
        let owner = Link::new(owner, namespace);
        self.links.iter().any(|link| link.is(&owner))
    }

    /// Returns what this one and the other have in common.
    pub fn kinship(&self, other: &Self) -> Kinship {
        let shared = |link: &&Link| other.links.iter().any(|one| one.is(link));
        if let Some(highest) = self.links.iter().rev().find(shared) {
            return Kinship::Same(highest.called());
        }
        let beside = |open: &Option<Link>, links: &[Link]| {
            let open = open.as_ref()?;
            let mut links = links.iter();
            let sibling = links.find(|link| link.is_beside(open) || open.may_be_of(link))?;
            Some((open.called(), sibling.called()))
        };
        let ours = beside(&self.open, &other.links);
        match ours.or_else(|| beside(&other.open, &self.links)) {
            Some((one, other)) => Kinship::Unknown(one, other),
            None => Kinship::Different,
        }
    }
}

/// Returns who made an owner that the cluster does not have, by its name and the labels of what it made.
fn above(owner: &OwnerReference, made: &Meta) -> Option<OwnerReference> {
    let reference = |group: &str, kind: &str, name: &str| OwnerReference {
        api_version: format!("{group}/").into(),
        kind: kind.into(),
        name: name.into(),
        controller: true,
        ..OwnerReference::default()
    };
    let kind = owner.kind.as_str();
    let mut named = NAMED.iter().filter(|(of, ..)| *of == kind);
    if let Some((group, above, name)) =
        named.find_map(|(_, label, group, above)| Some((group, above, made.label(label)?)))
    {
        return Some(reference(group, above, name));
    }
    match (owner.group(), kind) {
        ("apps", "ReplicaSet") => HASHED.iter().find_map(|(label, group, above)| {
            let name = owner.name.strip_suffix(made.label(label)?.as_str())?;
            Some(reference(group, above, name.strip_suffix('-')?))
        }),
        // Mirrors `cronjob/cronjob_controllerv2.go`, `getJobName`, v1.37.2: minutes since 1970.
        ("batch", "Job") => {
            let (name, minutes) = owner.name.rsplit_once('-')?;
            let is_time = minutes.len() >= 8 && minutes.bytes().all(|byte| byte.is_ascii_digit());
            is_time.then(|| reference("batch", "CronJob", name))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use dra_model::{ClusterBuilder, Environment, Object, Owners};

    fn owner(api_version: &str, kind: &str, name: &str) -> Value {
        json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": format!("{name}-uid"), "controller": true})
    }

    /// Returns what two pods have in common that these own, and have these labels, where the source has these objects.
    fn kinship(one: (&Value, Value), other: (&Value, Value), known: &[Value]) -> Kinship {
        let mut owners = Owners::default();
        for object in known {
            let text = |field: &str| object[field].as_str().unwrap().to_owned();
            owners.add(&text("apiVersion"), &text("kind"), object.to_string().as_bytes());
        }
        let environment = Environment {
            owners: Arc::new(owners),
            ..Environment::default()
        };
        let cluster = ClusterBuilder::default().build(environment).0;
        let lineage = |name: &str, (owner, labels): (&Value, Value)| {
            let pod = json!({"metadata": {"namespace": "n", "name": name, "labels": labels, "ownerReferences": [owner]}});
            match Object::from_json(Kind::Pod, pod.to_string().as_bytes()).unwrap() {
                Object::Pod(pod) => Lineage::of_pod(&cluster, &pod),
                _ => unreachable!(),
            }
        };
        lineage("one", one).kinship(&lineage("other", other))
    }

    fn called(text: &str) -> OwnerName {
        let (kind, name) = text.split_once(' ').unwrap();
        OwnerName {
            kind: kind.into(),
            name: name.into(),
        }
    }

    fn known(of: &Value, above: Option<&Value>) -> Value {
        let mut object = json!({"apiVersion": of["apiVersion"], "kind": of["kind"],
            "metadata": {"namespace": "n", "name": of["name"], "uid": of["uid"]}});
        if let Some(above) = above {
            object["metadata"]["ownerReferences"] = json!([above]);
        }
        object
    }

    #[test]
    fn pods_of_one_top_owner_are_kin() {
        let none = || json!({});
        let set = |name: &str| owner("apps/v1", "ReplicaSet", name);
        let (old, new) = (set("web-6b8f"), set("web-7c9d"));
        let (web, api) = (
            owner("apps/v1", "Deployment", "web"),
            owner("apps/v1", "Deployment", "api"),
        );
        let same = |text: &str| Kinship::Same(called(text));
        // The same controller, however little is known of it.
        for one in [
            &old,
            &owner("batch/v1", "Job", "j"),
            &owner("x.example.com/v2", "Farm", "f"),
        ] {
            let text = format!(
                "{} {}",
                one["kind"].as_str().unwrap(),
                one["name"].as_str().unwrap()
            );
            assert_eq!(kinship((one, none()), (one, none()), &[]), same(&text));
        }
        // Followed as far as the source has them.
        let all = [known(&old, Some(&web)), known(&new, Some(&web))];
        assert_eq!(
            kinship((&old, none()), (&new, none()), &all),
            same("Deployment web")
        );
        let others = [known(&old, Some(&web)), known(&new, Some(&api))];
        assert_eq!(
            kinship((&old, none()), (&new, none()), &others),
            Kinship::Different
        );
        let alone = [known(&old, None), known(&new, None)];
        assert_eq!(
            kinship((&old, none()), (&new, none()), &alone),
            Kinship::Different
        );
        // Any kind, over several steps.
        let (one, two) = (
            owner("example.com/v1", "Ring", "r1"),
            owner("example.com/v1", "Ring", "r2"),
        );
        let farm = owner("example.com/v1", "Farm", "f");
        let all = [known(&one, Some(&farm)), known(&two, Some(&farm))];
        assert_eq!(kinship((&one, none()), (&two, none()), &all), same("Farm f"));
        // By the hash in labels and names.
        let hash = |hash: &str| json!({"pod-template-hash": hash});
        assert_eq!(
            kinship((&old, hash("6b8f")), (&new, hash("7c9d")), &[]),
            same("Deployment web")
        );
        assert_eq!(
            kinship((&old, hash("6b8f")), (&set("api-7c9d"), hash("7c9d")), &[]),
            Kinship::Different
        );
        // Without evidence it is unknown.
        let unknown = Kinship::Unknown(called("ReplicaSet web-6b8f"), called("ReplicaSet web-7c9d"));
        assert_eq!(kinship((&old, none()), (&new, none()), &[]), unknown);
        let half = [known(&old, Some(&web))];
        assert!(matches!(
            kinship((&old, none()), (&new, none()), &half),
            Kinship::Unknown(..)
        ));
        assert_eq!(
            kinship((&old, none()), (&owner("batch/v1", "Job", "j"), none()), &[]),
            Kinship::Different
        );
        // A circle ends.
        let circle = [known(&one, Some(&two)), known(&two, Some(&one))];
        assert!(matches!(
            kinship((&one, none()), (&two, none()), &circle),
            Kinship::Same(_)
        ));
    }

    #[test]
    fn jobs_are_followed_by_their_names_and_labels() {
        let job = |name: &str| owner("batch/v1", "Job", name);
        let set = |name: &str| json!({"jobset.sigs.k8s.io/jobset-name": name});
        let none = || json!({});
        let of = |one: &str, labels: Value, other: &str, others: Value| {
            kinship((&job(one), labels), (&job(other), others), &[])
        };
        assert_eq!(
            of("nightly-29384640", none(), "nightly-29386080", none()),
            Kinship::Same(called("CronJob nightly"))
        );
        assert_eq!(
            of("nightly-29384640", none(), "hourly-29386080", none()),
            Kinship::Different
        );
        assert_eq!(
            of("s-workers-0", set("s"), "s-driver-0", set("s")),
            Kinship::Same(called("JobSet s"))
        );
        assert!(matches!(of("a", none(), "b", none()), Kinship::Unknown(..)));
        let known_jobs = [known(&job("a"), None), known(&job("b"), None)];
        assert_eq!(
            kinship((&job("a"), none()), (&job("b"), none()), &known_jobs),
            Kinship::Different
        );
    }
}
