//! The part of a cluster that determines one node's verdict.
//!
//! A verdict for a node depends on the pools that reach it, on the claims with devices of these pools, and on the pods
//! that run there. Judging a change on that part takes microseconds where the whole of a large cluster would take
//! milliseconds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dra_model::{Claim, Cluster, ClusterBuilder, Key, Node, Object, Pod, PoolId, Str};

/// For how many objects that are looked at a slice counts that is put into the part around a node: it is looked up and sorted.
const LOOKS_PER_SLICE: usize = 16;

/// The same for a device, whose holders are looked up.
const LOOKS_PER_DEVICE: usize = 4;

/// Pools by node.
pub struct Localities {
    of_node: BTreeMap<Str, BTreeSet<PoolId>>,
    /// Pools with slices that do not name one node.
    shared: BTreeSet<PoolId>,
}

impl Localities {
    /// Looks at the slices of `cluster`.
    pub fn of(cluster: &Cluster) -> Self {
        let mut localities = Self {
            of_node: BTreeMap::new(),
            shared: BTreeSet::new(),
        };
        for slice in cluster.slices() {
            match slice.spec.node_name.as_ref().filter(|name| !name.is_empty()) {
                Some(node) => {
                    localities
                        .of_node
                        .entry(node.clone())
                        .or_default()
                        .insert(slice.pool_id());
                }
                None => {
                    localities.shared.insert(slice.pool_id());
                }
            }
        }
        localities
    }

    /// The pools that may reach `node`.
    pub fn pools(&self, node: &Str) -> impl Iterator<Item = &PoolId> {
        let own = self.of_node.get(node).into_iter().flatten();
        own.chain(&self.shared)
    }

    /// Claims that hold devices of pools that may reach `node`.
    pub fn holders(&self, cluster: &Cluster, node: &Str) -> BTreeSet<Key> {
        let mut holders = BTreeSet::new();
        for id in self.pools(node) {
            for slice in cluster.slices_of_pool(id) {
                for device in &slice.spec.devices {
                    let device = id.device(&device.name);
                    holders.extend(cluster.claims_of_device(&device).map(|claim| claim.key()));
                }
            }
        }
        holders
    }

    /// The part of `cluster` that determines the verdict for `node`, with these claims and pods and the objects they
    /// name. Counts on the meter of `cluster`.
    pub fn around(
        &self,
        cluster: &Cluster,
        node: &Arc<Node>,
        claims: &[Arc<Claim>],
        pods: &[Arc<Pod>],
    ) -> Cluster {
        let mut builder = ClusterBuilder::default();
        builder.add(Object::Node(Arc::clone(node)));
        let mut looked_at = 0;
        // Slices of an older generation count where no newer one reaches the node.
        let pools = self.pools(&node.metadata.name);
        for slice in pools.flat_map(|id| cluster.slices_of_pool(id)) {
            looked_at += LOOKS_PER_SLICE + slice.spec.devices.len() * LOOKS_PER_DEVICE;
            builder.add(Object::ResourceSlice(Arc::clone(slice)));
        }
        for rule in cluster.rules() {
            looked_at += 1;
            builder.add(Object::DeviceTaintRule(Arc::clone(rule)));
        }
        for class in cluster.classes() {
            looked_at += 1;
            builder.add(Object::DeviceClass(Arc::clone(class)));
        }

        let mut keys = self.holders(cluster, &node.metadata.name);
        let in_namespace = |pod: &Pod, name: &Str| pod.metadata.beside(name);
        for pod in pods {
            let made = pod.status.resource_claim_statuses.iter();
            let made = made.filter_map(|status| status.resource_claim_name.as_ref());
            let named = pod
                .spec
                .resource_claims
                .iter()
                .filter_map(|entry| entry.resource_claim_name.as_ref());
            keys.extend(made.chain(named).map(|name| in_namespace(pod, name)));
            keys.extend(
                cluster
                    .claims_of_owner(&pod.metadata.uid)
                    .map(|claim| claim.key()),
            );
            for entry in &pod.spec.resource_claims {
                let template = entry.resource_claim_template_name.as_ref();
                let template = template.and_then(|name| cluster.template(&in_namespace(pod, name)));
                if let Some(found) = template {
                    builder.add(Object::ResourceClaimTemplate(Arc::clone(found)));
                }
            }
            if let Some(group) = pod.pod_group() {
                let key = in_namespace(pod, group);
                if let Some(group) = cluster.pod_group(&key) {
                    builder.add(Object::PodGroup(Arc::clone(group)));
                }
                let members = cluster
                    .pods_of_group(&key)
                    .filter(|member| !on_node(member, node));
                members.for_each(|member| builder.add(Object::Pod(Arc::clone(member))));
            }
        }
        cluster.meter().look(looked_at + keys.len());
        let held = keys.iter().filter_map(|key| cluster.claim(key));
        held.chain(claims)
            .for_each(|claim| builder.add(Object::ResourceClaim(Arc::clone(claim))));
        let running = cluster.pods_of_node(&node.metadata.name);
        running
            .chain(pods)
            .for_each(|pod| builder.add(Object::Pod(Arc::clone(pod))));
        let around = builder.build(cluster.environment().clone()).0;
        around.metered(Arc::clone(cluster.meter()))
    }
}

fn on_node(pod: &Pod, node: &Node) -> bool {
    pod.node() == Some(&node.metadata.name)
}
