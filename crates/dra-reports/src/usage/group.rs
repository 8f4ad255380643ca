//! The group that a claim's devices are counted for.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::ClaimNode;
use dra_model::{AllocatedDevice, Claim, Cluster, Str};

/// What usage is grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub enum UsageBy {
    /// The namespace of the claim.
    #[default]
    Namespace,
    /// Who made the pod that the claim is for, or else the pod, or else the claim.
    Owner,
    /// The class that the request names.
    Class,
    /// The node that reaches the device.
    Node,
}

/// A group of usage.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, schemars::JsonSchema)]
#[schemars(with = "View<'_>")]
pub enum UsageGroup {
    /// A namespace.
    Namespace(Str),
    /// An object of a namespace, by its kind.
    Owner {
        /// Its namespace.
        namespace: Str,
        /// Its kind.
        kind: Str,
        /// Its name.
        name: Str,
    },
    /// A class.
    Class(Str),
    /// A node.
    Node(Str),
    /// Devices that every node reaches, or several do.
    Nodes,
    /// What the object does not say.
    Unknown,
}

impl UsageGroup {
    /// The group of the device that `result` allocates to `claim`.
    pub(crate) fn of(cluster: &Cluster, by: UsageBy, claim: &Claim, result: &AllocatedDevice) -> Self {
        match by {
            UsageBy::Namespace => Self::Namespace(claim.metadata.namespace.clone()),
            UsageBy::Owner => Self::owner(cluster, claim),
            UsageBy::Class => Self::class(claim, result),
            UsageBy::Node => match ClaimNode::of(claim) {
                ClaimNode::One(name) => Self::Node(name.clone()),
                ClaimNode::Any | ClaimNode::Several => Self::Nodes,
                ClaimNode::None => Self::Unknown,
            },
        }
    }

    /// The groups of a pending `claim`, if known before it has devices: one for each class that it names.
    pub(super) fn of_pending(cluster: &Cluster, by: UsageBy, claim: &Claim) -> Vec<Self> {
        match by {
            UsageBy::Namespace => vec![Self::Namespace(claim.metadata.namespace.clone())],
            UsageBy::Owner => vec![Self::owner(cluster, claim)],
            UsageBy::Class => {
                let asked = claim.spec.asked();
                let classes = asked.map(|request| Self::Class(request.device_class_name.clone()));
                let mut classes: Vec<Self> = classes.collect();
                classes.sort_unstable();
                classes.dedup();
                classes
            }
            UsageBy::Node => Vec::new(),
        }
    }

    fn owner(cluster: &Cluster, claim: &Claim) -> Self {
        let namespace = &claim.metadata.namespace;
        let owner = |kind: &str, name: &Str| Self::Owner {
            namespace: namespace.clone(),
            kind: kind.into(),
            name: name.clone(),
        };
        let of_pod = |name: &Str, uid: &Str| {
            let pod = cluster.pod(&claim.metadata.beside(name));
            let pod = pod.filter(|pod| pod.metadata.uid == *uid);
            let maker = pod.and_then(|pod| pod.metadata.controller());
            maker.map_or_else(|| owner("Pod", name), |maker| owner(&maker.kind, &maker.name))
        };
        match claim.metadata.controller() {
            Some(maker) if maker.kind == "Pod" => return of_pod(&maker.name, &maker.uid),
            Some(maker) => return owner(&maker.kind, &maker.name),
            None => {}
        }
        // A claim that was created by hand belongs to the owner of its consumers, if they have the same one.
        let mut owners = claim.status.reserved_for.iter().map(|entry| {
            if entry.is_pod() {
                of_pod(&entry.name, &entry.uid)
            } else {
                let kind = crate::Consumer(entry).kind();
                owner(&kind, &entry.name)
            }
        });
        match owners.next() {
            Some(first) if owners.all(|other| other == first) => first,
            _ => owner("ResourceClaim", &claim.metadata.name),
        }
    }

    fn class(claim: &Claim, result: &AllocatedDevice) -> Self {
        let asked = claim.asked_for(&result.request);
        asked.map_or(Self::Unknown, |asked| {
            Self::Class(asked.device_class_name.clone())
        })
    }

    /// What a picture calls it: the last part of its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Namespace(name) | Self::Class(name) | Self::Node(name) | Self::Owner { name, .. } => name,
            Self::Nodes => "<several>",
            Self::Unknown => "<unknown>",
        }
    }
}

impl fmt::Display for UsageGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner {
                namespace,
                kind,
                name,
            } => write!(f, "{namespace}/{kind}/{name}"),
            _ => f.write_str(self.name()),
        }
    }
}

/// The fields that say who it is, which stand beside others.
#[serde_with_macros::skip_serializing_none]
#[derive(Default, Serialize, schemars::JsonSchema)]
struct View<'a> {
    /// The namespace, or that of the owner.
    namespace: Option<&'a Str>,
    /// The kind of the owner.
    kind: Option<&'a Str>,
    /// The name of the owner.
    name: Option<&'a Str>,
    /// The class.
    class: Option<&'a Str>,
    /// The node, with `usageBy` `Node`. Absent for devices that several nodes reach.
    node: Option<&'a Str>,
}

impl Serialize for UsageGroup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut view = View::default();
        match self {
            Self::Namespace(name) => view.namespace = Some(name),
            Self::Owner {
                namespace,
                kind,
                name,
            } => {
                view.namespace = Some(namespace);
                view.kind = Some(kind);
                view.name = Some(name);
            }
            Self::Class(name) => view.class = Some(name),
            Self::Node(name) => view.node = Some(name),
            Self::Nodes | Self::Unknown => {}
        }
        view.serialize(serializer)
    }
}
