//! The state of a cluster: objects by kind, indexes derived from them, and what is not known.
//!
//! A [`Cluster`] forks at the cost of its changes, so simulations work on forks. All changes go through [`Cluster::apply`], which
//! keeps objects and indexes together: no other code writes an index.

mod index;
mod layered;
mod pools;

use std::sync::Arc;

pub use pools::Pool;

use self::index::{Bulk, Entry, Indexes};
use self::layered::Layered;
use super::{
    Bare, Claim, ClaimTemplate, Class, DeviceId, DisruptionBudget, Environment, Event, Gap, Key, Kind, Meta,
    Node, ObjectReference, Pod, PodGroup, PoolId, Quota, Slice, Str, TaintRule,
};

/// An object of any kind that the model holds.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each variant is the kind of its name")]
pub enum Object {
    Namespace(Arc<Bare>),
    Node(Arc<Node>),
    DeviceClass(Arc<Class>),
    ResourceSlice(Arc<Slice>),
    DeviceTaintRule(Arc<TaintRule>),
    ResourceClaimTemplate(Arc<ClaimTemplate>),
    ResourceClaim(Arc<Claim>),
    Pod(Arc<Pod>),
    PodGroup(Arc<PodGroup>),
    Workload(Arc<Bare>),
    CompositePodGroup(Arc<Bare>),
    PodDisruptionBudget(Arc<DisruptionBudget>),
    ResourceQuota(Arc<Quota>),
    Event(Arc<Event>),
}

impl Object {
    /// Reads an object of `kind` from JSON in the shape of its best version.
    ///
    /// # Errors
    /// Names the place where the JSON is not of that shape.
    pub fn from_json(kind: Kind, json: &[u8]) -> Result<Self, serde_json::Error> {
        fn read<'a, T: serde::Deserialize<'a>>(json: &'a [u8]) -> Result<Arc<T>, serde_json::Error> {
            // One check of the whole text costs less than one of each text in it.
            let text = std::str::from_utf8(json).map_err(|error| {
                serde::de::Error::custom(format!("no UTF-8 at byte {}", error.valid_up_to()))
            })?;
            serde_json::from_str(text).map(Arc::new)
        }
        Ok(match kind {
            Kind::Namespace => Self::Namespace(read(json)?),
            Kind::Node => Self::Node(read(json)?),
            Kind::DeviceClass => Self::DeviceClass(read(json)?),
            Kind::ResourceSlice => Self::ResourceSlice(read(json)?),
            Kind::DeviceTaintRule => Self::DeviceTaintRule(read(json)?),
            Kind::ResourceClaimTemplate => Self::ResourceClaimTemplate(read(json)?),
            Kind::ResourceClaim => Self::ResourceClaim(read(json)?),
            Kind::Pod => Self::Pod(read(json)?),
            Kind::PodGroup => Self::PodGroup(read(json)?),
            Kind::Workload => Self::Workload(read(json)?),
            Kind::CompositePodGroup => Self::CompositePodGroup(read(json)?),
            Kind::PodDisruptionBudget => Self::PodDisruptionBudget(read(json)?),
            Kind::ResourceQuota => Self::ResourceQuota(read(json)?),
            Kind::Event => Self::Event(read(json)?),
        })
    }

    /// The object's kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Namespace(_) => Kind::Namespace,
            Self::Node(_) => Kind::Node,
            Self::DeviceClass(_) => Kind::DeviceClass,
            Self::ResourceSlice(_) => Kind::ResourceSlice,
            Self::DeviceTaintRule(_) => Kind::DeviceTaintRule,
            Self::ResourceClaimTemplate(_) => Kind::ResourceClaimTemplate,
            Self::ResourceClaim(_) => Kind::ResourceClaim,
            Self::Pod(_) => Kind::Pod,
            Self::PodGroup(_) => Kind::PodGroup,
            Self::Workload(_) => Kind::Workload,
            Self::CompositePodGroup(_) => Kind::CompositePodGroup,
            Self::PodDisruptionBudget(_) => Kind::PodDisruptionBudget,
            Self::ResourceQuota(_) => Kind::ResourceQuota,
            Self::Event(_) => Kind::Event,
        }
    }

    /// The object's metadata.
    pub fn metadata(&self) -> &Meta {
        match self {
            Self::Namespace(object) | Self::Workload(object) | Self::CompositePodGroup(object) => {
                &object.metadata
            }
            Self::Node(object) => &object.metadata,
            Self::DeviceClass(object) => &object.metadata,
            Self::ResourceSlice(object) => &object.metadata,
            Self::DeviceTaintRule(object) => &object.metadata,
            Self::ResourceClaimTemplate(object) => &object.metadata,
            Self::ResourceClaim(object) => &object.metadata,
            Self::Pod(object) => &object.metadata,
            Self::PodGroup(object) => &object.metadata,
            Self::PodDisruptionBudget(object) => &object.metadata,
            Self::ResourceQuota(object) => &object.metadata,
            Self::Event(object) => &object.metadata,
        }
    }

    fn entries(&self, add: impl FnMut(Entry)) {
        match self {
            Self::Pod(pod) => index::of_pod(pod, add),
            Self::ResourceClaim(claim) => index::of_claim(claim, add),
            Self::ResourceSlice(slice) => index::of_slice(slice, add),
            Self::Event(event) => index::of_event(event, add),
            _ => {}
        }
    }
}

/// A change of the cluster.
#[derive(Clone, Debug)]
pub enum Change {
    /// The object exists and looks like this.
    Put(Object),
    /// The object does not exist. Cluster-scoped objects have an empty namespace.
    Delete(Kind, Key),
}

/// Objects, indexes and knowledge of a cluster.
///
/// Iterators yield objects by namespace and name, so equal clusters read equally whatever order they were loaded in.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    namespaces: Layered<Key, Arc<Bare>>,
    nodes: Layered<Key, Arc<Node>>,
    classes: Layered<Key, Arc<Class>>,
    slices: Layered<Key, Arc<Slice>>,
    rules: Layered<Key, Arc<TaintRule>>,
    templates: Layered<Key, Arc<ClaimTemplate>>,
    claims: Layered<Key, Arc<Claim>>,
    pods: Layered<Key, Arc<Pod>>,
    pod_groups: Layered<Key, Arc<PodGroup>>,
    workloads: Layered<Key, Arc<Bare>>,
    composite_pod_groups: Layered<Key, Arc<Bare>>,
    budgets: Layered<Key, Arc<DisruptionBudget>>,
    quotas: Layered<Key, Arc<Quota>>,
    events: Layered<Key, Arc<Event>>,
    indexes: Indexes,
    environment: Arc<Environment>,
}

/// The key of a cluster-scoped object.
fn scoped(name: &str) -> Key {
    Key {
        namespace: Str::default(),
        name: name.into(),
    }
}

/// Reads of one kind: by key, and all in order.
macro_rules! reads {
    ($($get:ident $all:ident $type:ty, $key:ty, $what:literal;)*) => {
        $(
            #[doc = concat!("The ", $what, " of that name.")]
            pub fn $get(&self, key: &$key) -> Option<&Arc<$type>> {
                self.$all.get(key.as_key().as_ref())
            }

            #[doc = concat!("Every ", $what, ", in order.")]
            pub fn $all(&self) -> impl Iterator<Item = &Arc<$type>> {
                self.$all.iter().map(|(_, object)| object)
            }
        )*
    };
}

/// What a map is asked with: a full key, or the name of a cluster-scoped object.
trait AsKey {
    fn as_key(&self) -> std::borrow::Cow<'_, Key>;
}

impl AsKey for Key {
    fn as_key(&self) -> std::borrow::Cow<'_, Key> {
        std::borrow::Cow::Borrowed(self)
    }
}

impl AsKey for str {
    fn as_key(&self) -> std::borrow::Cow<'_, Key> {
        std::borrow::Cow::Owned(scoped(self))
    }
}

impl Cluster {
    reads! {
        namespace namespaces Bare, str, "namespace";
        node nodes Node, str, "node";
        class classes Class, str, "device class";
        slice slices Slice, str, "resource slice";
        rule rules TaintRule, str, "device taint rule";
        template templates ClaimTemplate, Key, "claim template";
        claim claims Claim, Key, "claim";
        pod pods Pod, Key, "pod";
        pod_group pod_groups PodGroup, Key, "pod group";
        workload workloads Bare, Key, "workload";
        composite_pod_group composite_pod_groups Bare, Key, "composite pod group";
        budget budgets DisruptionBudget, Key, "disruption budget";
        quota quotas Quota, Key, "resource quota";
        event events Event, Key, "event";
    }

    /// Versions, gates, time and gaps of this state.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The gap that keeps `kind` from being known completely in `namespace` (empty: in all), if there is one.
    pub fn gap(&self, kind: Kind, namespace: &str) -> Option<&Gap> {
        self.environment
            .gaps
            .iter()
            .find(|gap| gap.hides(kind, namespace))
    }

    /// Number of objects of `kind`.
    pub fn count(&self, kind: Kind) -> usize {
        match kind {
            Kind::Namespace => self.namespaces.len(),
            Kind::Node => self.nodes.len(),
            Kind::DeviceClass => self.classes.len(),
            Kind::ResourceSlice => self.slices.len(),
            Kind::DeviceTaintRule => self.rules.len(),
            Kind::ResourceClaimTemplate => self.templates.len(),
            Kind::ResourceClaim => self.claims.len(),
            Kind::Pod => self.pods.len(),
            Kind::PodGroup => self.pod_groups.len(),
            Kind::Workload => self.workloads.len(),
            Kind::CompositePodGroup => self.composite_pod_groups.len(),
            Kind::PodDisruptionBudget => self.budgets.len(),
            Kind::ResourceQuota => self.quotas.len(),
            Kind::Event => self.events.len(),
        }
    }

    /// Keys of the objects of `kind`, with the version that each was read in.
    pub fn versions(&self, kind: Kind) -> std::collections::BTreeMap<Key, Str> {
        macro_rules! of {
            ($map:ident) => {
                self.$map
                    .iter()
                    .map(|(key, object)| (key.clone(), object.metadata.resource_version.clone()))
                    .collect()
            };
        }
        match kind {
            Kind::Namespace => of!(namespaces),
            Kind::Node => of!(nodes),
            Kind::DeviceClass => of!(classes),
            Kind::ResourceSlice => of!(slices),
            Kind::DeviceTaintRule => of!(rules),
            Kind::ResourceClaimTemplate => of!(templates),
            Kind::ResourceClaim => of!(claims),
            Kind::Pod => of!(pods),
            Kind::PodGroup => of!(pod_groups),
            Kind::Workload => of!(workloads),
            Kind::CompositePodGroup => of!(composite_pod_groups),
            Kind::PodDisruptionBudget => of!(budgets),
            Kind::ResourceQuota => of!(quotas),
            Kind::Event => of!(events),
        }
    }

    /// Claims of one namespace.
    pub fn claims_in(&self, namespace: &Str) -> impl Iterator<Item = &Arc<Claim>> {
        in_namespace(&self.claims, namespace)
    }

    /// Pods of one namespace.
    pub fn pods_in(&self, namespace: &Str) -> impl Iterator<Item = &Arc<Pod>> {
        in_namespace(&self.pods, namespace)
    }

    /// Disruption budgets of one namespace.
    pub fn budgets_in(&self, namespace: &Str) -> impl Iterator<Item = &Arc<DisruptionBudget>> {
        in_namespace(&self.budgets, namespace)
    }

    /// Pods of the claim's namespace that mention the claim in spec or status. Whether they may use it is a question for the
    /// reservation rules.
    pub fn pods_of_claim(&self, claim: &Key) -> impl Iterator<Item = &Arc<Pod>> {
        let namespace = claim.namespace.clone();
        self.indexes.pods_of_claim(claim).filter_map(move |name| {
            self.pods.get(&Key {
                namespace: namespace.clone(),
                name: name.clone(),
            })
        })
    }

    /// Pods that say they are members of the group.
    pub fn pods_of_group(&self, group: &Key) -> impl Iterator<Item = &Arc<Pod>> {
        let namespace = group.namespace.clone();
        self.indexes.pods_of_group(group).filter_map(move |name| {
            self.pods.get(&Key {
                namespace: namespace.clone(),
                name: name.clone(),
            })
        })
    }

    /// Pods bound to the node.
    pub fn pods_of_node(&self, node: &Str) -> impl Iterator<Item = &Arc<Pod>> {
        self.indexes
            .pods_of_node(node)
            .filter_map(|key| self.pods.get(key))
    }

    /// Claims whose allocation names the device, admin access included.
    pub fn claims_of_device(&self, device: &DeviceId) -> impl Iterator<Item = &Arc<Claim>> {
        self.indexes
            .claims_of_device(device)
            .filter_map(|key| self.claims.get(key))
    }

    /// Claims that the object with this UID controls.
    pub fn claims_of_owner(&self, uid: &Str) -> impl Iterator<Item = &Arc<Claim>> {
        self.indexes
            .claims_of_owner(uid)
            .filter_map(|key| self.claims.get(key))
    }

    /// Allocated devices with the claims that hold them, ordered by device. A device that several claims hold comes several times.
    pub fn allocated_devices(&self) -> impl Iterator<Item = (&DeviceId, &Arc<Claim>)> {
        self.indexes
            .allocated_devices()
            .filter_map(|(device, key)| Some((device, self.claims.get(key)?)))
    }

    /// The same, for the devices of one pool, published or not.
    pub fn allocated_devices_of_pool(&self, pool: &PoolId) -> impl Iterator<Item = (&DeviceId, &Arc<Claim>)> {
        self.indexes
            .allocated_devices_of_pool(pool)
            .filter_map(|(device, key)| Some((device, self.claims.get(key)?)))
    }

    /// Events about objects of that kind and name, whatever their UID, oldest first.
    pub fn events_of(&self, kind: &str, key: &Key) -> Vec<&Arc<Event>> {
        let object = ObjectReference {
            kind: kind.into(),
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            uid: Str::default(),
        };
        let mut events: Vec<_> = self
            .indexes
            .events_of_object(&object)
            .filter_map(|key| self.events.get(key))
            .collect();
        events.sort_by_key(|event| event.last_seen());
        events
    }

    /// The pool `id`, if a slice of it exists.
    pub fn pool(&self, id: &PoolId) -> Option<Pool<'_>> {
        let slices = self
            .indexes
            .slices_of_pool(id)
            .filter_map(|name| self.slices.get(&scoped(name)));
        Pool::new(id.clone(), slices.collect())
    }

    /// Every pool, by driver and name.
    pub fn pools(&self) -> impl Iterator<Item = Pool<'_>> {
        let mut rest = self.indexes.pool_slices().peekable();
        std::iter::from_fn(move || {
            let (id, _) = *rest.peek()?;
            let mut slices = Vec::new();
            while let Some((_, name)) = rest.next_if(|(next, _)| *next == id) {
                slices.extend(self.slices.get(&scoped(name)));
            }
            Some(Pool::new(id.clone(), slices))
        })
        .flatten()
    }

    /// Makes `change` part of this state, in objects and indexes. Returns what the object was before.
    pub fn apply(&mut self, change: Change) -> Option<Object> {
        let (before, after) = match change {
            Change::Put(object) => (self.put(object.clone()), Some(object)),
            Change::Delete(kind, key) => (self.delete(kind, &key), None),
        };
        if let Some(before) = &before {
            before.entries(|entry| self.indexes.remove(entry));
        }
        if let Some(after) = after {
            after.entries(|entry| self.indexes.add(entry));
        }
        before
    }

    fn put(&mut self, object: Object) -> Option<Object> {
        let key = object.metadata().key();
        match object {
            Object::Namespace(object) => self.namespaces.insert(key, object).map(Object::Namespace),
            Object::Node(object) => self.nodes.insert(key, object).map(Object::Node),
            Object::DeviceClass(object) => self.classes.insert(key, object).map(Object::DeviceClass),
            Object::ResourceSlice(object) => self.slices.insert(key, object).map(Object::ResourceSlice),
            Object::DeviceTaintRule(object) => self.rules.insert(key, object).map(Object::DeviceTaintRule),
            Object::ResourceClaimTemplate(object) => self
                .templates
                .insert(key, object)
                .map(Object::ResourceClaimTemplate),
            Object::ResourceClaim(object) => self.claims.insert(key, object).map(Object::ResourceClaim),
            Object::Pod(object) => self.pods.insert(key, object).map(Object::Pod),
            Object::PodGroup(object) => self.pod_groups.insert(key, object).map(Object::PodGroup),
            Object::Workload(object) => self.workloads.insert(key, object).map(Object::Workload),
            Object::CompositePodGroup(object) => self
                .composite_pod_groups
                .insert(key, object)
                .map(Object::CompositePodGroup),
            Object::PodDisruptionBudget(object) => {
                self.budgets.insert(key, object).map(Object::PodDisruptionBudget)
            }
            Object::ResourceQuota(object) => self.quotas.insert(key, object).map(Object::ResourceQuota),
            Object::Event(object) => self.events.insert(key, object).map(Object::Event),
        }
    }

    fn delete(&mut self, kind: Kind, key: &Key) -> Option<Object> {
        match kind {
            Kind::Namespace => self.namespaces.remove(key).map(Object::Namespace),
            Kind::Node => self.nodes.remove(key).map(Object::Node),
            Kind::DeviceClass => self.classes.remove(key).map(Object::DeviceClass),
            Kind::ResourceSlice => self.slices.remove(key).map(Object::ResourceSlice),
            Kind::DeviceTaintRule => self.rules.remove(key).map(Object::DeviceTaintRule),
            Kind::ResourceClaimTemplate => self.templates.remove(key).map(Object::ResourceClaimTemplate),
            Kind::ResourceClaim => self.claims.remove(key).map(Object::ResourceClaim),
            Kind::Pod => self.pods.remove(key).map(Object::Pod),
            Kind::PodGroup => self.pod_groups.remove(key).map(Object::PodGroup),
            Kind::Workload => self.workloads.remove(key).map(Object::Workload),
            Kind::CompositePodGroup => self
                .composite_pod_groups
                .remove(key)
                .map(Object::CompositePodGroup),
            Kind::PodDisruptionBudget => self.budgets.remove(key).map(Object::PodDisruptionBudget),
            Kind::ResourceQuota => self.quotas.remove(key).map(Object::ResourceQuota),
            Kind::Event => self.events.remove(key).map(Object::Event),
        }
    }
}

fn in_namespace<'a, T>(map: &'a Layered<Key, Arc<T>>, namespace: &Str) -> impl Iterator<Item = &'a Arc<T>> {
    let namespace = namespace.clone();
    let first = Key {
        namespace: namespace.clone(),
        name: Str::default(),
    };
    map.stretch(&first, move |key| key.namespace == namespace)
        .map(|(_, object)| object)
}

/// Collects the objects of a source and builds a [`Cluster`] from them at once.
#[derive(Default)]
pub struct ClusterBuilder {
    objects: Vec<Object>,
}

impl ClusterBuilder {
    /// Adds an object. Of two objects with the same kind and name the last one stays; see [`Self::build`].
    pub fn add(&mut self, object: Object) {
        self.objects.push(object);
    }

    /// Number of objects so far.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there is no object yet.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The cluster, and the identities that more than one object had, in order.
    pub fn build(self, environment: Environment) -> (Cluster, Vec<(Kind, Key)>) {
        let mut lists = Lists::default();
        for object in self.objects {
            lists.add(object);
        }
        lists.build(environment)
    }
}

/// Objects by kind, to be sorted once.
#[derive(Default)]
struct Lists {
    cluster: Cluster,
    seen: std::collections::BTreeMap<Kind, Vec<(Key, Object)>>,
}

impl Lists {
    fn add(&mut self, object: Object) {
        self.seen
            .entry(object.kind())
            .or_default()
            .push((object.metadata().key(), object));
    }

    fn build(mut self, environment: Environment) -> (Cluster, Vec<(Kind, Key)>) {
        let mut duplicates = Vec::new();
        let mut bulk = Bulk::default();
        for (kind, mut list) in std::mem::take(&mut self.seen) {
            list.sort_by(|(a, _), (b, _)| a.cmp(b));
            // Walking backwards keeps the last object of each key, as a stable sort left them in the order of the source.
            list.reverse();
            list.dedup_by(|(again, _), (kept, _)| {
                let same = again == kept;
                if same && duplicates.last() != Some(&(kind, kept.clone())) {
                    duplicates.push((kind, kept.clone()));
                }
                same
            });
            list.reverse();
            for (_, object) in &list {
                object.entries(|entry| bulk.add(entry));
            }
            self.cluster.fill(kind, list);
        }
        duplicates.sort();
        self.cluster.indexes = bulk.build();
        self.cluster.environment = Arc::new(environment);
        (self.cluster, duplicates)
    }
}

impl Cluster {
    fn fill(&mut self, kind: Kind, list: Vec<(Key, Object)>) {
        macro_rules! fill {
            ($map:ident, $variant:ident) => {
                self.$map = list
                    .into_iter()
                    .filter_map(|(key, object)| match object {
                        Object::$variant(object) => Some((key, object)),
                        _ => None,
                    })
                    .collect()
            };
        }
        match kind {
            Kind::Namespace => fill!(namespaces, Namespace),
            Kind::Node => fill!(nodes, Node),
            Kind::DeviceClass => fill!(classes, DeviceClass),
            Kind::ResourceSlice => fill!(slices, ResourceSlice),
            Kind::DeviceTaintRule => fill!(rules, DeviceTaintRule),
            Kind::ResourceClaimTemplate => fill!(templates, ResourceClaimTemplate),
            Kind::ResourceClaim => fill!(claims, ResourceClaim),
            Kind::Pod => fill!(pods, Pod),
            Kind::PodGroup => fill!(pod_groups, PodGroup),
            Kind::Workload => fill!(workloads, Workload),
            Kind::CompositePodGroup => fill!(composite_pod_groups, CompositePodGroup),
            Kind::PodDisruptionBudget => fill!(budgets, PodDisruptionBudget),
            Kind::ResourceQuota => fill!(quotas, ResourceQuota),
            Kind::Event => fill!(events, Event),
        }
    }
}

#[cfg(test)]
mod tests;
