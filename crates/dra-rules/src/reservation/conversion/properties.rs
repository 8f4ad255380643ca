//! Random clusters: whatever the plan writes, no pod that uses a claim loses it, and no other pod gets it.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use dra_model::{Change, ClusterBuilder, Environment, Evidence, GateState, MOST_CONSUMERS, Object};
use dra_testing::effort::by_effort;

const GROUPS: usize = 2;
const PODS: usize = 6;

/// A pod of the test.
#[derive(Clone, Debug)]
struct TestPod {
    group: Option<usize>,
    node: bool,
    phase: &'static str,
    deleting: bool,
    /// It names the claim, or a template whose claim this is, or one that is not there yet, or another claim.
    means: Means,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    Claim,
    Template,
    Later,
    Other,
}

/// An entry of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestEntry {
    Pod(usize),
    OldPod(usize),
    Group(usize),
    Job,
}

#[derive(Clone, Debug)]
struct World {
    /// Existence of each group, and a matching UID.
    groups: Vec<Option<bool>>,
    pods: Vec<TestPod>,
    entries: Vec<TestEntry>,
    /// The group that the claim was made for.
    owner: Option<usize>,
    deleting: bool,
    any_pod: bool,
    gate: Option<bool>,
    served: bool,
}

impl World {
    fn entry(entry: TestEntry) -> Value {
        match entry {
            TestEntry::Pod(number) => {
                json!({"resource": "pods", "name": format!("p{number}"), "uid": format!("up{number}")})
            }
            TestEntry::OldPod(number) => {
                json!({"resource": "pods", "name": format!("p{number}"), "uid": "old", "seen": number})
            }
            TestEntry::Group(number) => {
                json!({"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": format!("g{number}"), "uid": format!("ug{number}")})
            }
            TestEntry::Job => {
                json!({"apiGroup": "batch", "resource": "jobs", "name": "j", "uid": "uj", "since": {"x": [1]}})
            }
        }
    }

    fn build(&self) -> Cluster {
        let object =
            |kind, json: &Value| Object::from_json(kind, json.to_string().as_bytes()).expect("an object");
        let mut builder = ClusterBuilder::default();
        let mut metadata = json!({"namespace": "n", "name": "c", "uid": "uc", "resourceVersion": "7"});
        if let Some(owner) = self.owner {
            metadata["ownerReferences"] = json!([{"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
                "name": format!("g{owner}"), "uid": format!("ug{owner}"), "controller": true}]);
        }
        if self.deleting {
            metadata["deletionTimestamp"] = json!("2026-11-21T10:00:00Z");
        }
        let entries: Vec<_> = self.entries.iter().map(|entry| Self::entry(*entry)).collect();
        let mut status = json!({"allocation": {"reservedForAnyPod": self.any_pod}});
        if !entries.is_empty() {
            status["reservedFor"] = json!(entries);
        }
        builder.add(object(
            Kind::ResourceClaim,
            &json!({"metadata": metadata, "status": status}),
        ));
        if self.served {
            for (number, exists) in self.groups.iter().enumerate() {
                let Some(same) = exists else { continue };
                let uid = if *same {
                    format!("ug{number}")
                } else {
                    "newer".to_owned()
                };
                builder.add(object(
                    Kind::PodGroup,
                    &json!({"metadata": {"namespace": "n", "name": format!("g{number}"), "uid": uid}}),
                ));
            }
        }
        for (number, pod) in self.pods.iter().enumerate() {
            let mut metadata =
                json!({"namespace": "n", "name": format!("p{number}"), "uid": format!("up{number}")});
            if pod.deleting {
                metadata["deletionTimestamp"] = json!("2026-11-21T10:00:00Z");
            }
            let (claim, statuses) = match pod.means {
                Means::Claim => (json!({"name": "x", "resourceClaimName": "c"}), json!([])),
                Means::Template => (
                    json!({"name": "x", "resourceClaimTemplateName": "t"}),
                    json!([{"name": "x", "resourceClaimName": "c"}]),
                ),
                Means::Later => (json!({"name": "x", "resourceClaimTemplateName": "t"}), json!([])),
                Means::Other => (json!({"name": "x", "resourceClaimName": "d"}), json!([])),
            };
            builder.add(object(
                Kind::Pod,
                &json!({"metadata": metadata,
                    "spec": {"nodeName": if pod.node { "a" } else { "" },
                        "schedulingGroup": pod.group.map(|group| json!({"podGroupName": format!("g{group}")})),
                        "resourceClaims": [claim]},
                    "status": {"phase": pod.phase, "resourceClaimStatuses": statuses}}),
            ));
        }
        let on = |enabled| GateState {
            enabled,
            evidence: Evidence::Flag,
        };
        let mut environment = Environment::default();
        if self.served {
            environment
                .gates
                .push((Component::ApiServer, Gate::GenericWorkload, on(true)));
        } else {
            environment.not_served.push(Kind::PodGroup);
        }
        if let Some(enabled) = self.gate {
            for component in [Component::Scheduler, Component::ControllerManager] {
                environment
                    .gates
                    .push((component, Gate::DRAWorkloadResourceClaims, on(enabled)));
            }
        }
        builder.build(environment).0
    }

    /// The claim's own rule of who may use it by a template: its owner's members.
    fn resolves(&self, pod: &TestPod) -> bool {
        match pod.means {
            Means::Claim => true,
            Means::Template => self.owner.is_some() && pod.group == self.owner,
            Means::Later | Means::Other => false,
        }
    }

    /// Numbers of the pods that use the claim on a node.
    fn consumers(&self) -> Vec<usize> {
        let uses =
            |pod: &TestPod| pod.node && !matches!(pod.phase, "Succeeded" | "Failed") && self.resolves(pod);
        (0..PODS).filter(|number| uses(&self.pods[*number])).collect()
    }

    /// Returns whether a pod that has not ended means the claim, bound or not.
    fn anybody_could(&self) -> bool {
        self.pods.iter().any(|pod| {
            !matches!(pod.phase, "Succeeded" | "Failed")
                && matches!(pod.means, Means::Claim | Means::Template)
        })
    }

    /// Returns whether a pod that may belong to the claim's group runs without a claim for its template.
    fn anybody_was_given_another(&self) -> bool {
        self.pods.iter().any(|pod| {
            self.owner
                .is_some_and(|owner| pod.group.is_none_or(|group| group == owner))
                && pod.node
                && !matches!(pod.phase, "Succeeded" | "Failed")
                && pod.means == Means::Later
        })
    }
}

fn worlds() -> impl Strategy<Value = World> {
    let pod = (
        proptest::option::of(0..GROUPS),
        prop::bool::weighted(0.8),
        prop::sample::select(vec![
            "Running",
            "Running",
            "Running",
            "Pending",
            "Succeeded",
            "Failed",
        ]),
        prop::bool::weighted(0.2),
        prop::sample::select(vec![
            Means::Claim,
            Means::Claim,
            Means::Template,
            Means::Later,
            Means::Other,
        ]),
    )
        .prop_map(|(group, node, phase, deleting, means)| TestPod {
            group,
            node,
            phase,
            deleting,
            means,
        });
    let entry = prop_oneof![
        (0..PODS).prop_map(TestEntry::Pod),
        (0..PODS).prop_map(TestEntry::OldPod),
        (0..GROUPS).prop_map(TestEntry::Group),
        (0..GROUPS).prop_map(TestEntry::Group),
        Just(TestEntry::Job),
    ];
    (
        proptest::collection::vec(
            prop_oneof![4 => Just(Some(true)), 1 => Just(Some(false)), 1 => Just(None)],
            GROUPS,
        ),
        proptest::collection::vec(pod, PODS),
        proptest::collection::vec(entry, 0..4),
        prop_oneof![4 => Just(None), 1 => (0..GROUPS).prop_map(Some)],
        prop::bool::weighted(0.15),
        prop::bool::weighted(0.1),
        proptest::option::of(any::<bool>()),
        prop::bool::weighted(0.8),
    )
        .prop_map(
            |(groups, pods, mut entries, owner, deleting, any_pod, gate, served)| {
                // UIDs in a list are unique.
                let mut seen = Vec::new();
                entries.retain(|entry| {
                    let uid = World::entry(*entry)["uid"].clone();
                    let new = !seen.contains(&uid);
                    seen.push(uid);
                    new
                });
                World {
                    groups,
                    pods,
                    entries,
                    owner,
                    deleting,
                    any_pod,
                    gate,
                    served,
                }
            },
        )
}

fn options() -> impl Strategy<Value = Options> {
    (
        prop_oneof![
            2 => Just(Kinds::PodGroups),
            1 => Just(Kinds::All),
            1 => Just(Kinds::Named(["jobs.batch".to_owned()].into())),
        ],
        prop_oneof![
            2 => Just(None),
            1 => Just(Some(Target::Minor(36))),
            1 => Just(Some(Target::GateOff(Gate::DRAWorkloadResourceClaims))),
        ],
        any::<bool>(),
        prop_oneof![
            2 => Just(Release::Never),
            1 => Just(Release::Unused { entries: BTreeSet::new() }),
            1 => Just(Release::Unused { entries: ["jobs.batch/j".to_owned(), "podgroups.scheduling.k8s.io/g0".to_owned()].into() }),
        ],
    )
        .prop_map(|(kinds, target, include_generated, release)| Options {
            kinds,
            target,
            include_generated,
            release,
        })
}

/// The list that the patch makes, after its form was checked.
fn list_of(patch: &Value) -> &Vec<Value> {
    assert_eq!(
        patch[0],
        json!({"op": "replace", "path": "/metadata/resourceVersion", "value": "7"})
    );
    assert_eq!(patch[1]["path"], "/status/reservedFor");
    patch[1]["value"].as_array().expect("a list")
}

fn check(world: &World, options: &Options) -> Result<(), TestCaseError> {
    let mut cluster = world.build();
    let claim = cluster.claims().next().expect("the claim").clone();
    let plan = plan(&cluster, [&*claim], options);
    prop_assert!(plan.unknown.is_empty());
    let Some(planned) = plan.claims.first() else {
        let foreign = |entry: &TestEntry| matches!(entry, TestEntry::Group(_) | TestEntry::Job);
        prop_assert!(!world.entries.iter().any(foreign) && !world.any_pod);
        return Ok(());
    };
    let old: Vec<Value> = world.entries.iter().map(|entry| World::entry(*entry)).collect();
    let patch = match &planned.action {
        Action::Keep | Action::Refuse(_) => {
            prop_assert!(planned.add().is_empty() && planned.remove.is_empty());
            return Ok(());
        }
        Action::Release(_) => {
            prop_assert!(
                !world.anybody_could(),
                "devices are deallocated though a pod could use them"
            );
            prop_assert!(
                !world.anybody_was_given_another(),
                "devices are deallocated though a pod may run with them"
            );
            return Ok(());
        }
        Action::Convert(patch) => patch,
    };
    let json = patch.to_json();
    let new = list_of(&json);
    prop_assert!(!new.is_empty() && new.len() <= MOST_CONSUMERS);
    // What stays: pods, and kinds that were not selected, in their order and with every field.
    let selected = |entry: &Value| {
        let reference: ConsumerReference = serde_json::from_value(entry.clone()).expect("an entry");
        !reference.is_pod() && options.kinds.selects(&reference)
    };
    let kept: Vec<&Value> = old.iter().filter(|entry| !selected(entry)).collect();
    let (front, added) = new.split_at(kept.len());
    prop_assert_eq!(front.iter().collect::<Vec<_>>(), kept);
    // A new pod uses the claim on a node, and every pod that does has an entry.
    let consumers = world.consumers();
    for entry in added {
        let number: usize = entry["name"]
            .as_str()
            .and_then(|name| name[1..].parse().ok())
            .expect("a pod");
        prop_assert_eq!(entry, &World::entry(TestEntry::Pod(number)));
        prop_assert!(
            consumers.contains(&number),
            "an entry for a pod that does not use the claim"
        );
        prop_assert!(!world.deleting, "nothing can be added while the claim is deleted");
    }
    for number in &consumers {
        let own = World::entry(TestEntry::Pod(*number));
        prop_assert_eq!(
            new.iter().filter(|entry| **entry == own).count(),
            1,
            "a consumer without an entry"
        );
    }
    let waits = |number: usize| {
        let waiting = world.pods.iter().filter(|pod| {
            let done = matches!(pod.phase, "Succeeded" | "Failed") || pod.deleting;
            pod.group == Some(number) && !pod.node && !done
        });
        waiting.into_iter().any(|pod| pod.means != Means::Other)
    };
    for entry in &world.entries {
        if let TestEntry::Group(number) = entry
            && world.served
            && world.gate != Some(false)
            && selected(&World::entry(*entry))
        {
            prop_assert!(!waits(*number), "the scheduler would put the entry back");
        }
    }
    if options.target == Some(Target::Minor(36)) {
        prop_assert_eq!(world.owner, None);
    }
    // The end is one that components which know pods only can work with, but for what was there before.
    let mut after = Claim::clone(&claim);
    patch.apply(&mut after);
    let listed = after.status.reserved_for.iter().map(ConsumerReference::to_json);
    prop_assert_eq!(listed.collect::<Vec<_>>(), new.clone());
    cluster.apply(Change::Put(Object::ResourceClaim(after.into())));
    let claim = cluster.claims().next().expect("the claim").clone();
    for defect in verify(&cluster, &claim).expect("everything is known") {
        let was_there = match &defect {
            Defect::NonPodEntry(entry) => planned.kept.contains(entry),
            Defect::EntryWithoutConsumer(entry, _) => old.contains(&entry.to_json()),
            Defect::ReservedForAnyPod => planned.any_pod_stays,
            Defect::ConsumerNotListed { .. } => false,
        };
        prop_assert!(was_there, "{}", defect);
    }
    // A second run finds nothing more to write.
    let again = super::plan(&cluster, [&*claim], options);
    let writes = again
        .claims
        .iter()
        .any(|plan| matches!(plan.action, Action::Convert(_) | Action::Release(_)));
    prop_assert!(!writes, "{:?}", again);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(by_effort(300, 1_000, 10_000)))]

    #[test]
    fn no_pod_loses_a_claim_and_none_gets_one(world in worlds(), options in options()) {
        check(&world, &options)?;
    }
}

/// The property is not empty: such worlds are among the random ones, and each way to end is met.
#[test]
fn every_code_is_met_by_random_clusters() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut met = BTreeSet::new();
    for _ in 0..2000 {
        let world = worlds().new_tree(&mut runner).expect("a world").current();
        let options = options().new_tree(&mut runner).expect("options").current();
        let cluster = world.build();
        let claims = cluster.claims().map(|claim| &**claim);
        met.extend(
            plan(&cluster, claims, &options)
                .claims
                .iter()
                .map(ClaimPlan::code),
        );
    }
    let missing: Vec<_> = [
        Code::Convertible,
        Code::UnreservedConsumer,
        Code::Releasable,
        Code::KindNotSelected,
        Code::GeneratedForPodGroup,
        Code::ClaimDeleting,
        Code::NoLiveConsumer,
        Code::PodGroupUidMismatch,
        Code::PodGroupGone,
        Code::UnscheduledMembers,
        Code::UnknownKindUnused,
    ]
    .into_iter()
    .filter(|code| !met.contains(code))
    .collect();
    assert_eq!(missing, []);
}
