//! Whom a claim's devices are counted for.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::ClaimNode;
use dra_model::{AllocatedDevice, Claim, Cluster, Str};

/// What use is told by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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

/// One of those that use is told by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// For whom `claim` has the device that `result` of its allocation says.
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

    /// For whom `claim` waits, where that is known before it has devices: once for each class that it names.
    pub(super) fn of_pending(cluster: &Cluster, by: UsageBy, claim: &Claim) -> Vec<Self> {
        match by {
            UsageBy::Namespace => vec![Self::Namespace(claim.metadata.namespace.clone())],
            UsageBy::Owner => vec![Self::owner(cluster, claim)],
            UsageBy::Class => {
                let classes = claim.spec.devices.requests.iter().flat_map(|request| {
                    let all = request.exactly.iter().chain(&request.first_available);
                    all.map(|request| Self::Class(request.device_class_name.clone()))
                });
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
        // A claim that somebody made by hand is that of its consumers, if they are all of one owner.
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

impl Serialize for UsageGroup {
    /// The fields that say who it is, which stand beside others.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Namespace(name) => map.serialize_entry("namespace", name)?,
            Self::Owner {
                namespace,
                kind,
                name,
            } => {
                map.serialize_entry("namespace", namespace)?;
                map.serialize_entry("kind", kind)?;
                map.serialize_entry("name", name)?;
            }
            Self::Class(name) => map.serialize_entry("class", name)?,
            Self::Node(name) => map.serialize_entry("node", name)?,
            Self::Nodes | Self::Unknown => {}
        }
        map.end()
    }
}
