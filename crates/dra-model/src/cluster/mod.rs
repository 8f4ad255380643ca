//! The state of a cluster: objects by kind, indexes derived from them, and gaps.
//!
//! A [`Cluster`] forks at the cost of its changes, so simulations work on forks. All changes go through [`Cluster::apply`], which
//! keeps objects and indexes together: no other code writes an index.

pub(crate) mod evidence;
mod index;
mod layered;
mod pools;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

pub use pools::Pool;

use self::index::{Bulk, Entry, Indexes};
use self::layered::Layered;
use super::{
    AccessReview, Bare, Claim, ClaimTemplate, Class, DeviceId, DisruptionBudget, Environment, Event, Gap,
    Key, Kind, Meta, Meter, Node, ObjectReference, Owner, Owners, Pod, PodGroup, PoolId, Quota, Role,
    RoleBinding, Slice, Str, TaintRule,
};
use crate::kind::kinds;
use dra_values::decode::{alone, weighed};
use dra_values::json;
use dra_values::json::Head;

macro_rules! object {
    ($($name:ident($object:ident) $singular:literal $plural:literal $group:literal [$($version:literal),+] $namespaced:literal;)+) => {
        /// An object of any kind that the model holds.
        #[derive(Clone, Debug)]
        #[expect(missing_docs, reason = "each variant is the kind of its name")]
        pub enum Object {
            $($name(Arc<$object>)),+
        }

        impl Object {
            /// The object's kind.
            pub fn kind(&self) -> Kind {
                match self {
                    $(Self::$name(_) => Kind::$name),+
                }
            }

            /// The object's metadata.
            pub fn metadata(&self) -> &Meta {
                match self {
                    $(Self::$name(object) => &object.metadata),+
                }
            }

            fn metadata_mut(&mut self) -> &mut Meta {
                match self {
                    $(Self::$name(object) => &mut Arc::make_mut(object).metadata),+
                }
            }

            fn of_kind(kind: Kind, json: &[u8], head: Head<'_>, weight: &mut usize) -> Result<Self, serde_json::Error> {
                Ok(match kind {
                    $(Kind::$name => Self::$name(read(json, head, weight)?)),+
                })
            }
        }

        /// Returns what an object takes without its lists and texts.
        fn size_of_kind(kind: Kind) -> usize {
            match kind {
                $(Kind::$name => size_of::<$object>()),+
            }
        }
    };
}

kinds!(object);

/// Memory of an object's place in a cluster and its indexes, about, in bytes.
const OF_A_PLACE: usize = 512;

/// Reads one from JSON; `weight` becomes the memory of its lists and texts, in bytes.
fn read<'a, T: serde::Deserialize<'a>>(
    json: &'a [u8],
    head: Head<'_>,
    weight: &mut usize,
) -> Result<Arc<T>, serde_json::Error> {
    // One check of the whole text costs less than one of each text in it.
    let text = std::str::from_utf8(json).map_err(|error| {
        serde::de::Error::custom(format!("invalid UTF-8 at byte {}", error.valid_up_to()))
    })?;
    // Shared parts are read separately; a fault is located in the object only if there is one.
    let (object, memory) = match weighed(|| json::object(text, head)) {
        (Ok(object), memory) => (object, memory),
        (Err(_), _) => {
            let (object, memory) = weighed(|| alone(|| json::object(text, head)));
            (object?, memory)
        }
    };
    *weight = memory;
    Ok(Arc::new(object))
}

impl Object {
    /// Reads an object of `kind` from JSON in the shape of its best version.
    ///
    /// # Errors
    /// Names the place where the JSON is not of that shape.
    pub fn from_json(kind: Kind, json: &[u8]) -> Result<Self, serde_json::Error> {
        Ok(Self::read(kind, None, json)?.0)
    }

    /// The object, with the memory of its lists and texts, in bytes.
    fn read(
        kind: Kind,
        api_version: Option<(&str, &str)>,
        json: &[u8],
    ) -> Result<(Self, usize), serde_json::Error> {
        let head = Head {
            kind: kind.name(),
            api_version,
        };
        let weight = &mut 0;
        let object = Self::of_kind(kind, json, head, weight)?;
        Ok((object, *weight))
    }

    /// The same of an object that says no other group and version of itself, with the memory that it takes, about, in bytes.
    ///
    /// # Errors
    /// As [`Self::from_json`].
    pub fn weighed_from_json(
        kind: Kind,
        api_version: (&str, &str),
        json: &[u8],
    ) -> Result<(Self, usize), serde_json::Error> {
        let (object, weight) = Self::read(kind, Some(api_version), json)?;
        Ok((object, weight + size_of_kind(kind) + OF_A_PLACE))
    }

    /// Puts an object that says no namespace into `namespace`, if its kind lives in namespaces.
    pub fn put_into(&mut self, namespace: &Str) {
        if !self.kind().is_namespaced() || !self.metadata().namespace.is_empty() {
            return;
        }
        self.metadata_mut().namespace = namespace.clone();
    }

    /// Returns whether two objects say the same, as far as the model reads it.
    pub fn says_the_same(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }

    fn entries(&self, add: impl FnMut(Entry)) {
        match self {
            Self::Pod(pod) => index::of_pod(pod, add),
            Self::PodGroup(group) => index::of_group(group, add),
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
    /// By kind, in the order of [`Kind`].
    objects: [Layered<Key, Object>; Kind::COUNT],
    indexes: Indexes,
    environment: Arc<Environment>,
    /// The same for all forks.
    meter: Arc<Meter>,
}

/// The key of a cluster-scoped object.
fn scoped(name: &str) -> Key {
    Key::new(Str::default(), name)
}

/// Reads of one kind: by key, and all in order.
/// The objects of one kind, of all that come.
macro_rules! only {
    ($variant:ident, $objects:expr) => {
        $objects.filter_map(|object| match object {
            Object::$variant(object) => Some(object),
            _ => None,
        })
    };
}

macro_rules! reads {
    ($($variant:ident $get:ident $all:ident $type:ty, $key:ty, $what:literal;)*) => {
        $(
            #[doc = concat!("The ", $what, " of that name.")]
            pub fn $get(&self, key: &$key) -> Option<&Arc<$type>> {
                match self.of_kind(Kind::$variant).get(key.as_key().as_ref())? {
                    Object::$variant(object) => Some(object),
                    _ => None,
                }
            }

            #[doc = concat!("Every ", $what, ", in order.")]
            pub fn $all(&self) -> impl Iterator<Item = &Arc<$type>> {
                only!($variant, self.of_kind(Kind::$variant).iter().map(|(_, object)| object))
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
        Namespace namespace namespaces Bare, str, "namespace";
        Node node nodes Node, str, "node";
        DeviceClass class classes Class, str, "device class";
        ResourceSlice slice slices Slice, str, "resource slice";
        DeviceTaintRule rule rules TaintRule, str, "device taint rule";
        ResourceClaimTemplate template templates ClaimTemplate, Key, "claim template";
        ResourceClaim claim claims Claim, Key, "claim";
        Pod pod pods Pod, Key, "pod";
        PodGroup pod_group pod_groups PodGroup, Key, "pod group";
        Workload workload workloads Bare, Key, "workload";
        CompositePodGroup composite_pod_group composite_pod_groups Bare, Key, "composite pod group";
        PodDisruptionBudget budget budgets DisruptionBudget, Key, "disruption budget";
        ResourceQuota quota quotas Quota, Key, "resource quota";
        Event event events Event, Key, "event";
        ClusterRole cluster_role cluster_roles Role, str, "cluster role";
        ClusterRoleBinding cluster_role_binding cluster_role_bindings RoleBinding, str, "cluster role binding";
        Role role roles Role, Key, "role";
        RoleBinding role_binding role_bindings RoleBinding, Key, "role binding";
    }

    /// Versions, gates, time and gaps of this state.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Notes what the API server said of who may do what.
    pub fn learn_reviews(&mut self, reviews: impl IntoIterator<Item = AccessReview>) {
        Arc::make_mut(&mut self.environment).reviews.extend(reviews);
    }

    /// The controller of an object, if it is known.
    pub fn owner(&self, metadata: &Meta) -> Option<&Owner> {
        let owners = &self.environment.owners;
        owners.find(metadata.controller()?, &metadata.namespace)
    }

    /// Adds what was read of owners.
    pub fn learn_owners(&mut self, owners: Owners) {
        let environment = Arc::make_mut(&mut self.environment);
        Arc::make_mut(&mut environment.owners).extend(owners);
    }

    /// Returns what is left of the work that evaluating expressions on this cluster and its forks may take.
    pub fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// The same cluster with another meter.
    #[must_use]
    pub fn metered(self, meter: impl Into<Arc<Meter>>) -> Self {
        Self {
            meter: meter.into(),
            ..self
        }
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
        self.of_kind(kind).len()
    }

    /// Keys of the objects of `kind`, with the version that each was read in.
    pub fn versions(&self, kind: Kind) -> BTreeMap<Key, Str> {
        let version = |object: &Object| object.metadata().resource_version.clone();
        let objects = self.of_kind(kind).iter();
        objects
            .map(|(key, object)| (key.clone(), version(object)))
            .collect()
    }

    fn of_kind(&self, kind: Kind) -> &Layered<Key, Object> {
        &self.objects[kind as usize]
    }

    /// The object of that kind and name.
    pub fn get(&self, kind: Kind, key: &Key) -> Option<&Object> {
        self.of_kind(kind).get(key)
    }

    /// Returns whether there is an object of that kind and name.
    pub fn has(&self, kind: Kind, key: &Key) -> bool {
        self.of_kind(kind).get(key).is_some()
    }

    /// Objects of `kind`, in order.
    pub fn objects(&self, kind: Kind) -> impl Iterator<Item = &Object> {
        self.of_kind(kind).iter().map(|(_, object)| object)
    }

    /// Keys of the objects of `kind`, in order.
    pub fn keys(&self, kind: Kind) -> impl Iterator<Item = &Key> {
        self.of_kind(kind).iter().map(|(key, _)| key)
    }

    /// Reports each object of a kind that `other` has not or has changed, and what `other` has in its place. Of forks of one cluster
    /// that costs as much as their changes.
    pub fn differences<'a>(
        &'a self,
        other: &'a Self,
        kind: Kind,
        report: impl FnMut(Option<&'a Object>, Option<&'a Object>),
    ) {
        let are_same = |one: &Object, other: &Object| std::ptr::eq(one.metadata(), other.metadata());
        self.of_kind(kind)
            .differences(other.of_kind(kind), are_same, report);
    }

    fn in_namespace(&self, kind: Kind, namespace: &Str) -> impl Iterator<Item = &Object> {
        let namespace = namespace.clone();
        let first = Key::new(namespace.clone(), Str::default());
        let objects = self
            .of_kind(kind)
            .stretch(&first, move |key| key.namespace == namespace);
        objects.map(|(_, object)| object)
    }

    /// Returns whether any object is in the namespace.
    pub fn has_object_in(&self, namespace: &Str) -> bool {
        let mut kinds = Kind::all().filter(|kind| kind.is_namespaced());
        kinds.any(|kind| self.in_namespace(kind, namespace).next().is_some())
    }

    /// The namespaces of all objects.
    pub fn namespaces_of_objects(&self) -> BTreeSet<Str> {
        let kinds = Kind::all().filter(|kind| kind.is_namespaced());
        let keys = kinds.flat_map(|kind| self.keys(kind));
        keys.map(|key| key.namespace.clone()).collect()
    }

    /// Claims of one namespace.
    pub fn claims_in(&self, namespace: &Str) -> impl Iterator<Item = &Arc<Claim>> {
        only!(ResourceClaim, self.in_namespace(Kind::ResourceClaim, namespace))
    }

    /// Pods of one namespace.
    pub fn pods_in(&self, namespace: &Str) -> impl Iterator<Item = &Arc<Pod>> {
        only!(Pod, self.in_namespace(Kind::Pod, namespace))
    }

    /// Disruption budgets of one namespace.
    pub fn budgets_in(&self, namespace: &Str) -> impl Iterator<Item = &Arc<DisruptionBudget>> {
        only!(
            PodDisruptionBudget,
            self.in_namespace(Kind::PodDisruptionBudget, namespace)
        )
    }

    /// Pods of the claim's namespace that mention the claim in spec or status. Whether they may use it is a question for the
    /// reservation rules.
    pub fn pods_of_claim(&self, claim: &Key) -> impl Iterator<Item = &Arc<Pod>> {
        self.indexes.pods_of_claim(claim).filter_map(|key| self.pod(key))
    }

    /// Pods that say they are members of the group.
    pub fn pods_of_group(&self, group: &Key) -> impl Iterator<Item = &Arc<Pod>> {
        self.indexes.pods_of_group(group).filter_map(|key| self.pod(key))
    }

    /// Pods of the template's namespace whose claims are made from it.
    pub fn pods_of_template(&self, template: &Key) -> impl Iterator<Item = &Arc<Pod>> {
        let keys = self.indexes.pods_of_template(template);
        keys.filter_map(|key| self.pod(key))
    }

    /// PodGroups of the claim's namespace that mention the claim in spec or status.
    pub fn groups_of_claim(&self, claim: &Key) -> impl Iterator<Item = &Arc<PodGroup>> {
        let keys = self.indexes.groups_of_claim(claim);
        keys.filter_map(|key| self.pod_group(key))
    }

    /// PodGroups of the template's namespace whose claims are made from it.
    pub fn groups_of_template(&self, template: &Key) -> impl Iterator<Item = &Arc<PodGroup>> {
        let keys = self.indexes.groups_of_template(template);
        keys.filter_map(|key| self.pod_group(key))
    }

    /// Pods bound to the node.
    pub fn pods_of_node(&self, node: &Str) -> impl Iterator<Item = &Arc<Pod>> {
        self.indexes.pods_of_node(node).filter_map(|key| self.pod(key))
    }

    /// Claims whose allocation names the device, admin access included.
    pub fn claims_of_device(&self, device: &DeviceId) -> impl Iterator<Item = &Arc<Claim>> {
        self.indexes
            .claims_of_device(device)
            .filter_map(|key| self.claim(key))
    }

    /// Claims that the object with this UID controls.
    pub fn claims_of_owner(&self, uid: &Str) -> impl Iterator<Item = &Arc<Claim>> {
        self.indexes
            .claims_of_owner(uid)
            .filter_map(|key| self.claim(key))
    }

    /// Allocated devices with the claims that hold them, ordered by device. A device that several claims hold comes several times.
    pub fn allocated_devices(&self) -> impl Iterator<Item = (&DeviceId, &Arc<Claim>)> {
        self.indexes
            .allocated_devices()
            .filter_map(|(device, key)| Some((device, self.claim(key)?)))
    }

    /// The same, for the devices of one pool, published or not.
    pub fn allocated_devices_of_pool(&self, pool: &PoolId) -> impl Iterator<Item = (&DeviceId, &Arc<Claim>)> {
        self.indexes
            .allocated_devices_of_pool(pool)
            .filter_map(|(device, key)| Some((device, self.claim(key)?)))
    }

    /// Events about the object of that kind, oldest first. Those of an earlier object of its name have another UID. An event without
    /// UID counts, and so does one about a node whose UID is the node's name, as kubelets write them.
    pub fn events_of(&self, kind: Kind, metadata: &Meta) -> Vec<&Arc<Event>> {
        let is_named = |uid: &Str| kind == Kind::Node && *uid == metadata.name;
        self.events_about(kind.name(), &metadata.key(), &metadata.uid, is_named)
    }

    /// The same about an object of a kind that may not be one of the model's.
    pub fn events_of_owner(&self, owner: &Owner) -> Vec<&Arc<Event>> {
        self.events_about(&owner.kind, &owner.key, &owner.uid, |_| false)
    }

    fn events_about(
        &self,
        kind: &str,
        key: &Key,
        uid: &Str,
        is_named: impl Fn(&Str) -> bool,
    ) -> Vec<&Arc<Event>> {
        let object = ObjectReference {
            kind: kind.into(),
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            ..ObjectReference::default()
        };
        let is_meant = |said: &Str| said.is_empty() || said == uid || is_named(said);
        let mut events: Vec<_> = self
            .indexes
            .events_of_object(&object)
            .filter_map(|key| self.event(key))
            .filter(|event| is_meant(&event.involved_object.uid))
            .collect();
        events.sort_by_key(|event| event.last_seen());
        events
    }

    /// The pool `id`, if a slice of it exists.
    pub fn pool(&self, id: &PoolId) -> Option<Pool<'_>> {
        Pool::new(id.clone(), self.slices_of_pool(id).collect())
    }

    /// The slices of the pool `id`, of every generation, by name.
    pub fn slices_of_pool(&self, id: &PoolId) -> impl Iterator<Item = &Arc<Slice>> {
        let names = self.indexes.slices_of_pool(id);
        names.filter_map(|name| self.slice(name))
    }

    /// Every pool, by driver and name.
    pub fn pools(&self) -> impl Iterator<Item = Pool<'_>> {
        let mut rest = self.indexes.pool_slices().peekable();
        std::iter::from_fn(move || {
            let (id, _) = *rest.peek()?;
            let mut slices = Vec::new();
            while let Some((_, name)) = rest.next_if(|(next, _)| *next == id) {
                slices.extend(self.slice(name));
            }
            Some(Pool::new(id.clone(), slices))
        })
        .flatten()
    }

    /// Makes `change` part of this state, in objects and indexes. Returns what the object was before.
    pub fn apply(&mut self, change: Change) -> Option<Object> {
        let (before, after) = match change {
            Change::Put(object) => {
                let objects = &mut self.objects[object.kind() as usize];
                (
                    objects.insert(object.metadata().key(), object.clone()),
                    Some(object),
                )
            }
            Change::Delete(kind, key) => (self.objects[kind as usize].remove(&key), None),
        };
        let (mut gone, mut added) = (Vec::new(), Vec::new());
        if let Some(before) = &before {
            before.entries(|entry| gone.push(entry));
        }
        if let Some(after) = &after {
            after.entries(|entry| added.push(entry));
        }
        // Most changes are of statuses that no index has, and an entry that stays would be looked for twice.
        if gone != added {
            for entry in gone {
                self.indexes.remove(entry);
            }
            for entry in added {
                self.indexes.add(entry);
            }
        }
        before
    }
}

/// Collects the objects of a source and builds a [`Cluster`] from all of them.
#[derive(Default)]
pub struct ClusterBuilder {
    objects: Vec<Object>,
}

impl ClusterBuilder {
    /// Adds an object. Of two objects with the same kind and name the last one stays; see [`Self::build`].
    pub fn add(&mut self, object: Object) {
        self.objects.push(object);
    }

    /// Returns what was added, in order.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The same, to be changed in what is not their identity.
    pub fn objects_mut(&mut self) -> &mut [Object] {
        &mut self.objects
    }

    /// Takes out the objects that are not to stay.
    pub fn retain(&mut self, is_to_stay: impl FnMut(&Object) -> bool) {
        self.objects.retain(is_to_stay);
    }

    /// Objects of the same kind that have a UID in common and no name: the kind, the name of the one and of the other.
    pub fn with_same_uid(&self) -> Vec<(Kind, Key, Key)> {
        let mut first: HashMap<(Kind, &Str), &Object> = HashMap::with_capacity(self.objects.len());
        let mut found = Vec::new();
        for object in &self.objects {
            let metadata = object.metadata();
            if metadata.uid.is_empty() {
                continue;
            }
            let known = first.entry((object.kind(), &metadata.uid)).or_insert(object);
            if !std::ptr::eq(*known, object) && known.metadata().key() != metadata.key() {
                found.push((object.kind(), known.metadata().key(), metadata.key()));
            }
        }
        found
    }

    /// The cluster, and the identities that more than one object had, in order. What objects of one identity say differently is a gap
    /// of the cluster.
    pub fn build(self, mut environment: Environment) -> (Cluster, Vec<Twin>) {
        let mut cluster = Cluster::default();
        // By kind, to be sorted once.
        let mut lists: BTreeMap<Kind, Vec<(Key, Object)>> = BTreeMap::new();
        for object in self.objects {
            let list = lists.entry(object.kind()).or_default();
            list.push((object.metadata().key(), object));
        }
        let mut duplicates: Vec<Twin> = Vec::new();
        let mut bulk = Bulk::default();
        for (kind, mut list) in lists {
            // Servers list in order, and so do files made from what they list.
            if !list.is_sorted_by(|(a, _), (b, _)| a < b) {
                list.sort_by(|(a, _), (b, _)| a.cmp(b));
                // Walking backwards keeps the last object of each key, as a stable sort left them in the order of the source.
                list.reverse();
                list.dedup_by(|(again, other), (kept, object)| {
                    let same = again == kept;
                    if same {
                        let contradicts = !other.says_the_same(object);
                        match duplicates.last_mut() {
                            Some(twin) if twin.kind == kind && twin.key == *kept => {
                                twin.contradicts |= contradicts;
                            }
                            _ => duplicates.push(Twin {
                                kind,
                                key: kept.clone(),
                                contradicts,
                            }),
                        }
                    }
                    same
                });
                list.reverse();
            }
            for (_, object) in &list {
                object.entries(|entry| bulk.add(entry));
            }
            cluster.objects[kind as usize] = list.into_iter().collect();
        }
        duplicates.sort();
        for twin in duplicates.iter().filter(|twin| twin.contradicts) {
            let reason = "several objects have the same name but different content".to_owned();
            environment.gaps.push(Gap {
                namespace: twin.key.namespace.clone(),
                ..Gap::of_kind(twin.kind, reason)
            });
        }
        environment.gaps.sort();
        environment.gaps.dedup();
        cluster.indexes = bulk.build();
        cluster.environment = Arc::new(environment);
        (cluster, duplicates)
    }
}

/// An identity that several objects of a source have. The last of them stays.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Twin {
    /// Their kind.
    pub kind: Kind,
    /// Their namespace and name.
    pub key: Key,
    /// True if they differ in something that the model reads, so that one of them is wrong.
    pub contradicts: bool,
}

// Large clusters have many claims and pods. The memory allocator has size classes of 448 and 768 bytes, and the next ones are up to a sixth
// larger. Of these bytes `Arc` takes 16, and the allocator up to 7 for the alignment.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(
        size_of::<Claim>() <= 448 - 24,
        "a claim takes the next size class"
    );
    assert!(size_of::<Pod>() <= 768 - 24, "a pod takes the next size class");
};

#[cfg(test)]
mod tests;
