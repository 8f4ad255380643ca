//! Whether what a command line names is in the cluster, and what is there instead.
//!
//! A verdict about a name that does not exist proves nothing: a mistyped namespace would look clean.

use std::collections::BTreeSet;
use std::fmt;

use super::Selection;
use super::claim_filter::names_device;
use dra_cel::drivers_wanted;
use dra_model::{Cluster, DeviceId, Key, Kind, Object, PoolId, Selector, Str};
use dra_rules::scheduling::DevicePattern;

/// What a command line names.
#[derive(Clone, Debug)]
pub enum Mention {
    /// A namespace.
    Namespace(Str),
    /// An object, or for kinds without namespaces a key without one.
    Object(Kind, Key),
    /// A device: `DEVICE`, `POOL/DEVICE` or `DRIVER/POOL/DEVICE`.
    Device(String),
    /// A pool: `POOL` or `DRIVER/POOL`.
    Pool(String),
    /// A driver to select by.
    Driver(Str),
    /// Devices to select by driver, pool and name.
    Devices(DevicePattern),
    /// Labels to select by, among objects of these kinds.
    Labels(Selection, Vec<Kind>),
}

/// Whether a [`Mention`] is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is there.
    There,
    /// It is not there.
    Absent(Absence),
    /// It is not among what was read, which is not everything; the text says why.
    Unknown(String),
}

/// Something that is named and not there.
#[derive(Clone, Debug, PartialEq, Eq, derive_more::Display)]
#[display("{message}")]
pub struct Absence {
    /// What, in the words of a message: `node/gpu-9 not found`.
    pub message: String,
    /// The part of the name that is compared with [`Self::others`].
    pub name: String,
    /// What there is of the kind: names that may have been meant.
    pub others: Vec<String>,
    /// Objects of this name in other namespaces, in the form that names the namespace.
    pub elsewhere: Vec<String>,
    /// What [`Self::others`] are, one and several: `driver`, `drivers`.
    pub nouns: (&'static str, &'static str),
    /// Whether it selects among things, so that there is nothing to judge; otherwise it names one.
    pub selects: bool,
}

impl Mention {
    /// An object of a kind without namespaces.
    pub fn scoped(kind: Kind, name: impl Into<Str>) -> Self {
        Self::Object(kind, Key::new("", name))
    }
}

/// How a message calls it: `pod/default/a`.
impl fmt::Display for Mention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace(name) => write!(f, "namespace/{name}"),
            Self::Object(kind, key) if kind.is_namespaced() => write!(f, "{}/{key}", nouns(*kind).0),
            Self::Object(kind, key) => write!(f, "{}/{}", nouns(*kind).0, key.name),
            Self::Device(name) => write!(f, "device/{name}"),
            Self::Pool(name) => write!(f, "pool/{name}"),
            Self::Driver(name) => write!(f, "driver/{name}"),
            Self::Devices(pattern) => write!(f, "device/{pattern}"),
            Self::Labels(selection, _) => write!(f, "an object with the labels `{}`", selection.labels),
        }
    }
}

/// Whether `mention` is there. The kinds that could show it must have been read, as far as that was possible.
pub fn presence(cluster: &Cluster, mention: &Mention) -> Presence {
    match mention {
        Mention::Namespace(name) => namespace(cluster, name),
        Mention::Object(kind, key) => object(cluster, *kind, key),
        Mention::Device(name) => device(cluster, name),
        Mention::Pool(name) => pool(cluster, name),
        Mention::Driver(name) => driver(cluster, name),
        Mention::Devices(pattern) => devices(cluster, pattern),
        Mention::Labels(selection, kinds) => labels(cluster, selection, kinds),
    }
}

fn absent_unless_hidden(
    cluster: &Cluster,
    hidden_by: &[(Kind, &str)],
    absence: impl FnOnce() -> Absence,
) -> Presence {
    let gap = hidden_by
        .iter()
        .find_map(|(kind, namespace)| cluster.gap(*kind, namespace));
    match gap {
        Some(gap) => Presence::Unknown(gap.reason.clone()),
        None => Presence::Absent(absence()),
    }
}

/// An object in a namespace shows that it is there, whether or not the Namespace could be read.
fn namespace(cluster: &Cluster, name: &Str) -> Presence {
    if cluster.namespace(name).is_some() || cluster.has_object_in(name) {
        return Presence::There;
    }
    absent_unless_hidden(cluster, &[(Kind::Namespace, "")], || {
        absent_namespace(name, namespaces(cluster).iter().map(ToString::to_string))
    })
}

/// Namespaces that there are, and those of the objects that were read.
pub fn namespaces(cluster: &Cluster) -> BTreeSet<Str> {
    let listed = cluster
        .namespaces()
        .map(|namespace| namespace.metadata.name.clone());
    cluster
        .namespaces_of_objects()
        .into_iter()
        .chain(listed)
        .collect()
}

/// What is to be said of a namespace that is not one of `others`.
pub fn absent_namespace(name: &str, others: impl IntoIterator<Item = String>) -> Absence {
    Absence {
        message: format!("namespace/{name} not found"),
        name: name.to_owned(),
        others: others.into_iter().collect(),
        elsewhere: Vec::new(),
        nouns: ("namespace", "namespaces"),
        selects: false,
    }
}

/// The word for a kind on the command line, one and several.
fn nouns(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Node => ("node", "nodes"),
        Kind::DeviceClass => ("class", "classes"),
        Kind::ResourceClaim => ("claim", "claims"),
        Kind::Pod => ("pod", "pods"),
        Kind::DeviceTaintRule => ("devicetaintrule", "devicetaintrules"),
        _ => ("object", "objects"),
    }
}

fn object(cluster: &Cluster, kind: Kind, key: &Key) -> Presence {
    if cluster.has(kind, key) {
        return Presence::There;
    }
    absent_unless_hidden(cluster, &[(kind, &key.namespace)], || {
        let nouns = nouns(kind);
        let mut others = Vec::new();
        let mut elsewhere = Vec::new();
        for other in cluster.keys(kind) {
            if other.namespace == key.namespace {
                others.push(other.name.to_string());
            } else if other.name == key.name {
                elsewhere.push(format!("{}/{other}", nouns.0));
            }
        }
        elsewhere.extend(of_other_kinds(cluster, kind, key));
        Absence {
            message: format!("{} not found", Mention::Object(kind, key.clone())),
            name: key.name.to_string(),
            others,
            elsewhere,
            nouns,
            selects: false,
        }
    })
}

/// Objects of other kinds with that name, which may have been typed without its kind.
fn of_other_kinds(cluster: &Cluster, kind: Kind, key: &Key) -> Vec<String> {
    const KINDS: [Kind; 4] = [Kind::Pod, Kind::ResourceClaim, Kind::Node, Kind::DeviceClass];
    let others = KINDS.into_iter().filter(|other| *other != kind);
    others
        .map(|other| {
            let namespace = if other.is_namespaced() {
                key.namespace.clone()
            } else {
                Str::default()
            };
            let key = Key {
                namespace,
                name: key.name.clone(),
            };
            (other, key)
        })
        .filter(|(other, key)| cluster.has(*other, key))
        .map(|(other, key)| Mention::Object(other, key).to_string())
        .collect()
}

/// What can show a device.
const SHOW_DEVICES: [(Kind, &str); 2] = [(Kind::ResourceSlice, ""), (Kind::ResourceClaim, "")];

/// Devices that slices publish, and those that claims hold.
fn known_devices(cluster: &Cluster) -> impl Iterator<Item = DeviceId> + '_ {
    let published = cluster.pools().flat_map(|pool| {
        let ids: Vec<DeviceId> = pool
            .devices()
            .map(|(_, device)| pool.device_id(&device.name))
            .collect();
        ids
    });
    published.chain(cluster.allocated_devices().map(|(id, _)| id.clone()))
}

/// The flag that selects the devices of a node, where the name of one was typed in the place of a device's.
fn of_node(cluster: &Cluster, name: &str) -> Vec<String> {
    let is_node = cluster.has(Kind::Node, &Key::new("", name))
        || cluster
            .slices()
            .any(|slice| slice.spec.node_name.as_ref().is_some_and(|node| *node == *name));
    let flag = is_node.then(|| format!("--node {name}"));
    flag.into_iter().collect()
}

fn device(cluster: &Cluster, name: &str) -> Presence {
    if known_devices(cluster).any(|id| names_device(name, &id)) {
        return Presence::There;
    }
    absent_unless_hidden(cluster, &SHOW_DEVICES, || {
        // They are named as they were asked for.
        let slashes = name.matches('/').count();
        let others: BTreeSet<String> = known_devices(cluster)
            .map(|id| match slashes {
                0 => id.device.to_string(),
                1 => format!("{}/{}", id.pool, id.device),
                _ => id.to_string(),
            })
            .collect();
        Absence {
            message: format!("device/{name} not found"),
            name: name.to_owned(),
            others: others.into_iter().collect(),
            elsewhere: of_node(cluster, name),
            nouns: ("device", "devices"),
            selects: false,
        }
    })
}

fn pool(cluster: &Cluster, name: &str) -> Presence {
    // A name of a pool may have slashes, and that of a driver has none.
    let known: BTreeSet<PoolId> = known_devices(cluster).map(|id| id.pool_id()).collect();
    if known.iter().any(|id| id.pool == name || id.to_string() == name) {
        return Presence::There;
    }
    absent_unless_hidden(cluster, &SHOW_DEVICES, || Absence {
        message: format!("pool/{name} not found"),
        name: name.to_owned(),
        others: known.iter().map(|id| id.pool.to_string()).collect(),
        elsewhere: Vec::new(),
        nouns: ("pool", "pools"),
        selects: false,
    })
}

/// Every driver that an object names: slices, what claims hold, rules that taint its devices, and selectors of classes and requests
/// that only its devices pass. A driver whose slices are gone is still one that classes and waiting claims name.
pub fn drivers(cluster: &Cluster) -> BTreeSet<Str> {
    let mut drivers: BTreeSet<Str> = cluster.pools().map(|pool| pool.id.driver).collect();
    drivers.extend(cluster.allocated_devices().map(|(id, _)| id.driver.clone()));
    for rule in cluster.rules() {
        let selector = rule.spec.device_selector.as_ref();
        drivers.extend(selector.and_then(|selector| selector.driver.clone()));
    }
    let mut expressions: BTreeSet<&str> = BTreeSet::new();
    for class in cluster.classes() {
        expressions.extend(cel(&class.spec.selectors));
        let configured = class
            .spec
            .config
            .iter()
            .filter_map(|config| config.opaque.as_ref());
        drivers.extend(configured.map(|config| config.driver.clone()));
    }
    for claim in cluster.claims().filter(|claim| claim.status.allocation.is_none()) {
        for wish in claim.spec.asked() {
            expressions.extend(cel(&wish.selectors));
        }
    }
    for expression in expressions {
        drivers.extend(drivers_wanted(expression).into_iter().flatten().map(Str::from));
    }
    drivers
}

fn cel(selectors: &[Selector]) -> impl Iterator<Item = &str> {
    selectors
        .iter()
        .filter_map(|selector| Some(selector.cel.as_ref()?.expression.as_str()))
}

/// What can show a driver.
const SHOW_DRIVERS: [(Kind, &str); 3] = [
    (Kind::ResourceSlice, ""),
    (Kind::ResourceClaim, ""),
    (Kind::DeviceClass, ""),
];

/// Kinds that must be read to decide [`Mention::Driver`].
pub const DRIVER_NEEDS: [Kind; 4] = [
    Kind::ResourceSlice,
    Kind::ResourceClaim,
    Kind::DeviceClass,
    Kind::DeviceTaintRule,
];

fn driver(cluster: &Cluster, name: &Str) -> Presence {
    let drivers = drivers(cluster);
    if drivers.contains(name) {
        return Presence::There;
    }
    absent_unless_hidden(cluster, &SHOW_DRIVERS, || Absence {
        message: format!("no slice, claim, class or taint rule names the driver `{name}`"),
        name: name.to_string(),
        others: drivers.iter().map(ToString::to_string).collect(),
        elsewhere: Vec::new(),
        nouns: ("driver", "drivers"),
        selects: true,
    })
}

fn devices(cluster: &Cluster, pattern: &DevicePattern) -> Presence {
    if known_devices(cluster).any(|id| pattern.matches(&id)) {
        return Presence::There;
    }
    absent_unless_hidden(cluster, &SHOW_DEVICES, || {
        // The first part that leaves nothing is the one to look at.
        let of_driver = |id: &DeviceId| pattern.driver.as_ref().is_none_or(|driver| *driver == id.driver);
        let of_pool = |id: &PoolId| pattern.pool.as_ref().is_none_or(|pool| *pool == id.pool);
        let of_driver: Vec<DeviceId> = known_devices(cluster).filter(of_driver).collect();
        let has_pool = of_driver.iter().any(|id| of_pool(&id.pool_id()));
        let (nouns, name, others): (_, &Option<Str>, BTreeSet<Str>) = if of_driver.is_empty() {
            let all = known_devices(cluster).map(|id| id.driver);
            (("driver", "drivers"), &pattern.driver, all.collect())
        } else if !has_pool {
            let all = of_driver.into_iter().map(|id| id.pool);
            (("pool", "pools"), &pattern.pool, all.collect())
        } else {
            let left = of_driver.into_iter().filter(|id| of_pool(&id.pool_id()));
            (
                ("device", "devices"),
                &pattern.device,
                left.map(|id| id.device).collect(),
            )
        };
        Absence {
            message: format!("no device `{pattern}`: no slice publishes it, and no claim holds it"),
            name: name.as_ref().map(ToString::to_string).unwrap_or_default(),
            others: others.iter().map(ToString::to_string).collect(),
            elsewhere: Vec::new(),
            nouns,
            selects: true,
        }
    })
}

fn labels(cluster: &Cluster, selection: &Selection, kinds: &[Kind]) -> Presence {
    let candidates = || {
        let of_kind = |kind: &Kind| cluster.objects(*kind);
        let in_place = |object: &&Object| {
            let metadata = object.metadata();
            selection
                .namespace
                .as_ref()
                .is_none_or(|namespace| !object.kind().is_namespaced() || *namespace == metadata.namespace)
        };
        kinds.iter().flat_map(of_kind).filter(in_place)
    };
    if selection.labels.is_empty() || candidates().any(|object| selection.has_labels(object.metadata())) {
        return Presence::There;
    }
    let place = selection
        .namespace
        .as_ref()
        .map_or("", |namespace| namespace.as_str());
    let hidden_by: Vec<(Kind, &str)> = kinds.iter().map(|kind| (*kind, place)).collect();
    absent_unless_hidden(cluster, &hidden_by, || {
        let labels: BTreeSet<String> = candidates()
            .flat_map(|object| object.metadata().labels.iter())
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        Absence {
            message: format!("no object has the labels `{}`", selection.labels),
            name: selection.labels.to_string(),
            others: labels.into_iter().collect(),
            elsewhere: Vec::new(),
            nouns: ("label", "labels"),
            selects: true,
        }
    })
}
