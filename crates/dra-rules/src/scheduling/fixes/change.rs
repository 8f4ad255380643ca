//! A single change that may help, and what it does to the cluster.

use std::sync::Arc;

use crate::scheduling::placement::{change_claim, release, remove_pod};
use crate::scheduling::plain::{UNSCHEDULABLE, tells_removal, tells_unfit};
use dra_cel::Terms;
use dra_model::{
    AllocationMode, Change, Class, Cluster, DeviceRequest, Key, Kind, NO_EXECUTE, Node, Object, Pod, PoolId,
    Quantity, Resources, Slice, Str, Taint, Toleration, lookup,
};

/// A single change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fix {
    /// A claim is deallocated, once its consumers have ended.
    Release {
        /// The claim.
        claim: Key,
        /// True if it is in use.
        in_use: bool,
    },
    /// A claim is created again from its template, which requests something else by now.
    RenewClaim {
        /// The claim.
        claim: Key,
        /// The template.
        template: Key,
    },
    /// A request tolerates a device taint.
    Tolerate {
        /// The claim.
        claim: Key,
        /// `request` or `request/subrequest`.
        request: Str,
        /// Key of the taint.
        key: Str,
        /// Value of the taint; empty where it has none, or where the toleration of the pod that is to be here is for any.
        value: Str,
        /// Effect of the taint.
        effect: Str,
        /// The toleration of the key that is there, and does not tolerate the taint.
        other: Option<OtherToleration>,
    },
    /// The pod tolerates a taint of nodes.
    TolerateNode {
        /// Key of the taint.
        key: Str,
        /// Value of the taint.
        value: Str,
        /// Effect of the taint.
        effect: Str,
        /// True if the pod has a toleration of the key, which does not tolerate the taint.
        has_other: bool,
        /// True if the taint may keep the node for other pods.
        is_reserved: bool,
    },
    /// A request asks for fewer devices.
    Fewer {
        /// The claim.
        claim: Key,
        /// `request` or `request/subrequest`.
        request: Str,
        /// The number that it asks for then.
        count: i64,
    },
    /// A container asks for less of a resource of the node, or of an extended resource that a class stands behind.
    LessResource {
        /// The container; nothing if the pod asks for it as a whole.
        container: Option<Str>,
        /// The resource.
        resource: Str,
        /// The amount that it asks for then.
        amount: Quantity,
    },
    /// A container asks for no extended resource whose devices the claims request, too.
    DropExtended {
        /// The container.
        container: Str,
        /// The resource.
        resource: Str,
    },
    /// A container asks for the extended resource that is offered instead of one of a similar name that nothing offers.
    UseResource {
        /// The container.
        container: Str,
        /// The resource.
        resource: Str,
        /// The one that is offered.
        instead: Str,
    },
    /// A request asks for less of a capacity.
    LessCapacity {
        /// The claim.
        claim: Key,
        /// `request` or `request/subrequest`.
        request: Str,
        /// The capacity.
        capacity: Str,
        /// The amount that it asks for then.
        amount: Quantity,
    },
    /// A request has one term of a selector less.
    DropTerm {
        /// The claim.
        claim: Key,
        /// `request` or `request/subrequest`.
        request: Str,
        /// Place of the selector in the request.
        selector: usize,
        /// Place of the term among those that `&&` joins.
        place: usize,
        /// The term.
        term: String,
    },
    /// A request has another term in a selector.
    ReplaceTerm {
        /// The claim.
        claim: Key,
        /// `request` or `request/subrequest`.
        request: Str,
        /// Place of the selector in the request.
        selector: usize,
        /// The term.
        term: String,
        /// Replacement text.
        replacement: String,
        /// What is other about it.
        rewording: Rewording,
        /// The whole selector then.
        expression: Str,
    },
    /// A claim has one constraint less, or one compares another attribute.
    DropConstraint {
        /// The claim.
        claim: Key,
        /// Place of the constraint.
        place: usize,
        /// The attribute that it is about.
        attribute: Str,
        /// The one that is compared instead.
        instead: Option<Str>,
    },
    /// A request names another class.
    UseClass {
        /// The claim.
        claim: Key,
        /// `request` or `request/subrequest`.
        request: Str,
        /// The class.
        class: Str,
    },
    /// The pod has one label of its node selector less.
    DropNodeLabel {
        /// The label.
        key: Str,
    },
    /// The pod has no required affinity to nodes.
    DropNodeAffinity,
    /// The devices of a pool lose a taint.
    LiftTaint {
        /// The pool.
        pool: PoolId,
        /// Key of the taint.
        key: Str,
        /// Effect of the taint.
        effect: Str,
    },
    /// A DeviceTaintRule goes.
    DeleteRule {
        /// The rule.
        rule: Str,
    },
    /// A class offers a resource that nothing does.
    OfferResource {
        /// The class.
        class: Str,
        /// The resource.
        resource: Str,
    },
    /// A node takes pods again.
    Uncordon {
        /// The node.
        node: Str,
    },
    /// A node that cannot run pods can again.
    RestoreNode {
        /// The node.
        node: Str,
    },
    /// A node loses a taint.
    LiftNodeTaint {
        /// The node.
        node: Str,
        /// Key of the taint.
        key: Str,
        /// Effect of the taint.
        effect: Str,
    },
}

/// Actors that can make a change, in output order: requests of the pod, unused objects, other devices, objects used by others, and
/// last objects that were marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClassOfFix {
    /// The owner of the pod: what is meant, in a form that does not fail, or as the template has it by now.
    Same,
    /// The owner of the pod: a smaller request.
    Less,
    /// The owner of the pod: a different request.
    Other,
    /// Nothing is lost.
    Idle,
    /// The operator of a node or of devices, which take no pods for a time.
    Node,
    /// The owner of the pod: other devices than it is meant to have.
    Devices,
    /// Deletes pods of other owners.
    Victims,
    /// The owner of the pod: tolerates a problem.
    Tolerate,
    /// The operator of the cluster.
    Operator,
}

/// A toleration of a device taint's key that does not tolerate the taint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OtherToleration {
    /// That of the request, which does not match.
    OfRequest,
    /// That of another alternative of the request.
    OfAlternative,
    /// That of the pod, which is for taints of nodes alone.
    OfPod,
}

/// How a term of a selector differs from the one that it replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rewording {
    /// It is false, where that one failed, for devices without an attribute.
    Guarded,
    /// It has the names that devices have, or values of their types.
    Corrected,
    /// It has a value that devices have, in place of one that none has.
    Published,
}

/// A field that a change writes: of a request of a claim, or a resource of a container.
#[derive(PartialEq, Eq)]
enum Field<'f> {
    Count(&'f Key, &'f Str),
    Class(&'f Key, &'f Str),
    Capacity(&'f Key, &'f Str, &'f Str),
    Selector(&'f Key, &'f Str, usize),
    Constraint(&'f Key, usize),
    Resource(Option<&'f Str>, &'f Str),
}

impl Fix {
    /// Returns who can make the change.
    pub fn class(&self) -> ClassOfFix {
        match self {
            Self::Release { in_use: false, .. } => ClassOfFix::Idle,
            Self::Uncordon { .. } | Self::RestoreNode { .. } | Self::DeleteRule { .. } => ClassOfFix::Node,
            // What evicts pods is there for a time, and what an autoscaler left is of no use.
            Self::LiftNodeTaint { key, effect, .. } if effect == NO_EXECUTE || tells_removal(key) => {
                ClassOfFix::Node
            }
            Self::TolerateNode {
                has_other: false,
                effect,
                ..
            } if effect == NO_EXECUTE => ClassOfFix::Tolerate,
            Self::TolerateNode {
                is_reserved: true, ..
            }
            | Self::Tolerate { other: None, .. } => ClassOfFix::Tolerate,
            Self::Fewer { .. }
            | Self::LessResource { .. }
            | Self::LessCapacity { .. }
            | Self::ReplaceTerm {
                rewording: Rewording::Published,
                ..
            } => ClassOfFix::Less,
            Self::ReplaceTerm { .. }
            | Self::RenewClaim { .. }
            | Self::DropExtended { .. }
            | Self::UseResource { .. }
            | Self::DropConstraint { instead: Some(_), .. }
            | Self::Tolerate { other: Some(_), .. }
            | Self::TolerateNode { has_other: true, .. } => ClassOfFix::Same,
            Self::DropTerm { .. } | Self::DropConstraint { .. } => ClassOfFix::Devices,
            Self::UseClass { .. }
            | Self::DropNodeLabel { .. }
            | Self::DropNodeAffinity
            | Self::TolerateNode { has_other: false, .. } => ClassOfFix::Other,
            Self::LiftTaint { .. } | Self::OfferResource { .. } | Self::LiftNodeTaint { .. } => {
                ClassOfFix::Operator
            }
            Self::Release { in_use: true, .. } => ClassOfFix::Victims,
        }
    }

    /// Returns whether two changes are about the same thing, so that both together make no sense.
    pub(super) fn excludes(&self, other: &Self) -> bool {
        match (self, other) {
            // What is created again does not keep what was changed.
            (Self::RenewClaim { claim, .. }, edit) | (edit, Self::RenewClaim { claim, .. }) => {
                edit.edits_claim() == Some(claim)
            }
            // Several terms of a selector can go.
            (Self::DropTerm { .. }, Self::DropTerm { .. }) => false,
            _ => self.field().is_some_and(|field| Some(field) == other.field()),
        }
    }

    /// The field of an object that it writes, if others write it, too.
    fn field(&self) -> Option<Field<'_>> {
        Some(match self {
            Self::Fewer { claim, request, .. } => Field::Count(claim, request),
            Self::UseClass { claim, request, .. } => Field::Class(claim, request),
            Self::LessCapacity {
                claim,
                request,
                capacity,
                ..
            } => Field::Capacity(claim, request, capacity),
            // Both write the whole selector.
            Self::ReplaceTerm {
                claim,
                request,
                selector,
                ..
            }
            | Self::DropTerm {
                claim,
                request,
                selector,
                ..
            } => Field::Selector(claim, request, *selector),
            Self::DropConstraint { claim, place, .. } => Field::Constraint(claim, *place),
            Self::LessResource {
                container, resource, ..
            } => Field::Resource(container.as_ref(), resource),
            Self::DropExtended { container, resource }
            | Self::UseResource {
                container, resource, ..
            } => Field::Resource(Some(container), resource),
            _ => return None,
        })
    }

    /// Makes changes that were all found in the same `cluster` there and in `pod`, which is in the cluster, too.
    pub(super) fn apply_all<'f>(
        fixes: impl IntoIterator<Item = &'f Self>,
        cluster: &mut Cluster,
        pod: &mut Option<Arc<Pod>>,
    ) {
        // Terms and constraints are counted in the request and the claim as they are, so later ones go first.
        let mut ordered: Vec<&Self> = fixes.into_iter().collect();
        ordered.sort_by(|a, b| b.cmp(a));
        for fix in ordered {
            fix.apply(cluster, pod);
        }
    }

    fn apply(&self, cluster: &mut Cluster, pod: &mut Option<Arc<Pod>>) {
        match self {
            Self::Release { claim, .. } => {
                release(cluster, claim);
                // What else they request of their node is free then, too.
                let users = cluster.pods_of_claim(claim).filter(|user| user.node().is_some());
                for user in users.map(|user| user.key()).collect::<Vec<Key>>() {
                    cluster.apply(Change::Delete(Kind::Pod, user));
                }
            }
            Self::RenewClaim { claim, template } => {
                if let Some(template) = cluster.template(template).cloned() {
                    change_claim(cluster, claim, |claim| claim.spec = template.spec.spec.clone());
                }
            }
            Self::Tolerate {
                claim,
                request,
                key,
                value,
                effect,
                ..
            } => {
                let toleration = tolerating(key, value, effect);
                change_request(cluster, claim, request, |spec| spec.tolerations.push(toleration));
            }
            Self::Fewer {
                claim,
                request,
                count,
            } => change_request(cluster, claim, request, |spec| {
                spec.allocation_mode = AllocationMode::ExactCount;
                spec.count = *count;
            }),
            Self::LessCapacity {
                claim,
                request,
                capacity,
                amount,
            } => change_request(cluster, claim, request, |spec| {
                for (name, wanted) in spec
                    .capacity
                    .iter_mut()
                    .flat_map(|capacity| &mut capacity.requests)
                {
                    if name == capacity {
                        *wanted = amount.clone();
                    }
                }
            }),
            Self::UseClass {
                claim,
                request,
                class,
            } => change_request(cluster, claim, request, |spec| {
                spec.device_class_name = class.clone();
            }),
            Self::DropTerm {
                claim,
                request,
                selector,
                place,
                ..
            } => {
                change_request(cluster, claim, request, |spec| drop_term(spec, *selector, *place));
            }
            Self::ReplaceTerm {
                claim,
                request,
                selector,
                expression,
                ..
            } => change_request(cluster, claim, request, |spec| {
                let found = spec.selectors.get_mut(*selector);
                if let Some(cel) = found.and_then(|found| found.cel.as_mut()) {
                    cel.expression = expression.clone();
                }
            }),
            Self::DropConstraint {
                claim,
                place,
                instead,
                ..
            } => change_claim(cluster, claim, |claim| {
                let constraints = &mut claim.spec.devices.constraints;
                match (constraints.get_mut(*place), instead) {
                    (Some(constraint), Some(_)) => constraint.match_attribute.clone_from(instead),
                    (Some(_), None) => drop(constraints.remove(*place)),
                    (None, _) => {}
                }
            }),
            Self::TolerateNode {
                key, value, effect, ..
            } => {
                let toleration = tolerating(key, value, effect);
                change_pod(cluster, pod, |pod| pod.spec.tolerations.push(toleration));
            }
            Self::LessResource {
                container,
                resource,
                amount,
            } => change_resources(cluster, pod, container.as_deref(), |resources| {
                let before = lookup(&resources.requests, resource).cloned();
                // A limit that is greater than the request does not count for kube-scheduler.
                for (_, wanted) in resources
                    .requests
                    .iter_mut()
                    .chain(&mut resources.limits)
                    .filter(|(name, wanted)| name == resource && before.as_ref() == Some(wanted))
                {
                    *wanted = amount.clone();
                }
            }),
            Self::DropExtended { container, resource } => {
                change_resources(cluster, pod, Some(container), |resources| {
                    resources.requests.retain(|(name, _)| name != resource);
                    resources.limits.retain(|(name, _)| name != resource);
                });
            }
            Self::UseResource {
                container,
                resource,
                instead,
            } => change_resources(cluster, pod, Some(container), |resources| {
                let wanted = resources.requests.iter_mut().chain(&mut resources.limits);
                for (name, _) in wanted.filter(|(name, _)| name == resource) {
                    *name = instead.clone();
                }
            }),
            Self::DropNodeLabel { key } => change_pod(cluster, pod, |pod| {
                pod.spec.node_selector.retain(|(known, _)| known != key);
            }),
            Self::DropNodeAffinity => change_pod(cluster, pod, |pod| {
                if let Some(affinity) = &mut pod.spec.affinity
                    && let Some(nodes) = &mut affinity.node_affinity
                {
                    nodes.required_during_scheduling_ignored_during_execution = None;
                }
            }),
            Self::LiftTaint { pool, key, effect } => lift_taint(cluster, pool, key, effect),
            Self::DeleteRule { rule } => {
                cluster.apply(Change::Delete(Kind::DeviceTaintRule, Key::new("", rule.clone())));
            }
            Self::OfferResource { class, resource } => {
                if let Some(found) = cluster.class(class) {
                    let mut class = Class::clone(found);
                    class.spec.extended_resource_name = Some(resource.clone());
                    cluster.apply(Change::Put(Object::DeviceClass(Arc::new(class))));
                }
            }
            Self::Uncordon { node } => change_node(cluster, node, |node| {
                node.spec.unschedulable = false;
                // The node controller sees to that.
                node.spec.taints.retain(|taint| taint.key != UNSCHEDULABLE);
            }),
            Self::RestoreNode { node } => {
                change_node(cluster, node, |node| {
                    node.spec.taints.retain(|taint| !tells_unfit(&taint.key));
                });
                // Its kubelet ends what is to end there.
                let ending = cluster
                    .pods_of_node(node)
                    .filter(|pod| pod.metadata.is_deleting());
                let ending: Vec<Key> = ending.map(|pod| pod.key()).collect();
                for pod in ending {
                    remove_pod(cluster, &pod);
                }
            }
            Self::LiftNodeTaint { node, key, effect } => change_node(cluster, node, |node| {
                node.spec.taints.retain(|taint| !is(taint, key, effect));
            }),
        }
    }
}

fn is(taint: &Taint, key: &Str, effect: &Str) -> bool {
    taint.key == *key && taint.effect == *effect
}

/// A toleration of this value of a taint; of all where it is empty.
fn tolerating(key: &Str, value: &Str, effect: &Str) -> Toleration {
    let operator = if value.is_empty() { "Exists" } else { "Equal" };
    Toleration {
        operator: operator.into(),
        value: value.clone(),
        ..Toleration::of_key(key.clone(), effect.clone())
    }
}

fn change_request(cluster: &mut Cluster, key: &Key, name: &str, change: impl FnOnce(&mut DeviceRequest)) {
    change_claim(cluster, key, |claim| {
        let (base, sub) = name.split_once('/').unwrap_or((name, ""));
        let requests = &mut claim.spec.devices.requests;
        let Some(request) = requests.iter_mut().find(|request| request.name == base) else {
            return;
        };
        let spec = if sub.is_empty() {
            request.exactly.as_mut()
        } else {
            request.first_available.iter_mut().find(|spec| spec.name == sub)
        };
        if let Some(spec) = spec {
            change(spec);
        }
    });
}

fn change_pod(cluster: &mut Cluster, pod: &mut Option<Arc<Pod>>, change: impl FnOnce(&mut Pod)) {
    if let Some(pod) = pod {
        change(Arc::make_mut(pod));
        cluster.apply(Change::Put(Object::Pod(Arc::clone(pod))));
    }
}

/// Changes the requests and the limits of a container.
fn change_resources(
    cluster: &mut Cluster,
    pod: &mut Option<Arc<Pod>>,
    container: Option<&str>,
    change: impl Fn(&mut Resources),
) {
    change_pod(cluster, pod, |pod| {
        let spec = &mut pod.spec;
        let Some(container) = container else {
            if let Some(resources) = &mut spec.resources {
                change(resources);
            }
            return;
        };
        let containers = spec.containers.iter_mut().chain(&mut spec.init_containers);
        for found in containers.filter(|found| found.name == container) {
            change(&mut found.resources);
        }
    });
}

fn change_node(cluster: &mut Cluster, name: &Str, change: impl FnOnce(&mut Node)) {
    if let Some(node) = cluster.node(name) {
        let mut node = Node::clone(node);
        change(&mut node);
        cluster.apply(Change::Put(Object::Node(Arc::new(node))));
    }
}

fn lift_taint(cluster: &mut Cluster, pool: &PoolId, key: &Str, effect: &Str) {
    let slices: Vec<Arc<Slice>> = cluster.slices_of_pool(pool).cloned().collect();
    for slice in slices {
        let mut changed = Slice::clone(&slice);
        for device in &mut changed.spec.devices {
            device.taints.retain(|taint| !is(taint, key, effect));
        }
        cluster.apply(Change::Put(Object::ResourceSlice(Arc::new(changed))));
    }
}

/// The selector of a request without one of its terms; without any term the selector goes.
fn drop_term(spec: &mut DeviceRequest, selector: usize, place: usize) {
    let Some(cel) = spec
        .selectors
        .get_mut(selector)
        .and_then(|selector| selector.cel.as_mut())
    else {
        return;
    };
    match Terms::of(&cel.expression).without(place) {
        Some(rest) => cel.expression = rest.into(),
        None => {
            spec.selectors.remove(selector);
        }
    }
}
