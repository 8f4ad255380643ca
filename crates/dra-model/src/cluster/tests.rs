use proptest::prelude::*;

use super::*;

fn object(kind: Kind, json: &serde_json::Value) -> Object {
    Object::from_json(kind, json.to_string().as_bytes()).unwrap()
}

fn claim(name: &str, devices: &[&str]) -> Object {
    let results: Vec<_> = devices
        .iter()
        .map(|device| serde_json::json!({"request": "r", "driver": "d", "pool": "p", "device": device}))
        .collect();
    object(
        Kind::ResourceClaim,
        &serde_json::json!({
            "metadata": {"name": name, "namespace": "n"},
            "status": {"allocation": {"devices": {"results": results}}},
        }),
    )
}

fn entries(claims: &[&str]) -> serde_json::Value {
    claims
        .iter()
        .map(|claim| serde_json::json!({"name": claim, "resourceClaimName": claim, "resourceClaimTemplateName": claim}))
        .collect()
}

fn group(name: &str, claims: &[&str]) -> Object {
    let json = serde_json::json!({
        "metadata": {"name": name, "namespace": "n"},
        "spec": {"resourceClaims": entries(claims)},
    });
    object(Kind::PodGroup, &json)
}

fn pod(name: &str, claims: &[&str], node: Option<&str>) -> Object {
    let claims = entries(claims);
    object(
        Kind::Pod,
        &serde_json::json!({
            "metadata": {"name": name, "namespace": "n"},
            "spec": {"resourceClaims": claims, "nodeName": node},
        }),
    )
}

fn slice(name: &str, generation: i64, count: i64, devices: &[&str]) -> Object {
    let devices: Vec<_> = devices
        .iter()
        .map(|device| serde_json::json!({"name": device}))
        .collect();
    object(
        Kind::ResourceSlice,
        &serde_json::json!({
            "metadata": {"name": name},
            "spec": {"driver": "d", "nodeName": "node-1", "devices": devices,
                     "pool": {"name": "p", "generation": generation, "resourceSliceCount": count}},
        }),
    )
}

fn cluster(objects: impl IntoIterator<Item = Object>) -> Cluster {
    let mut builder = ClusterBuilder::default();
    for object in objects {
        builder.add(object);
    }
    builder.build(Environment::default()).0
}

/// Everything that the indexes answer, as text.
fn answers(cluster: &Cluster) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for (device, claim) in cluster.allocated_devices() {
        writeln!(text, "{device} {}", claim.key()).unwrap();
    }
    for claim in cluster.claims() {
        let pods: Vec<_> = cluster
            .pods_of_claim(&claim.key())
            .map(|pod| pod.key().to_string())
            .collect();
        writeln!(text, "{} {pods:?}", claim.key()).unwrap();
        // Templates have the names of claims here.
        let key = claim.key();
        let pods = cluster.pods_of_template(&key).map(|pod| pod.key());
        writeln!(text, "{:?}", pods.collect::<Vec<_>>()).unwrap();
        let of_claim = cluster.groups_of_claim(&key);
        let of_template = cluster.groups_of_template(&key);
        let groups: Vec<_> = of_claim
            .chain(of_template)
            .map(|group| group.metadata.key())
            .collect();
        writeln!(text, "{groups:?}").unwrap();
    }
    for node in ["a", "b"] {
        let pods: Vec<_> = cluster
            .pods_of_node(&node.into())
            .map(|pod| pod.key().to_string())
            .collect();
        writeln!(text, "{node} {pods:?}").unwrap();
    }
    for pool in cluster.pools() {
        let slices: Vec<_> = pool
            .slices
            .iter()
            .map(|slice| slice.metadata.name.to_string())
            .collect();
        writeln!(
            text,
            "{} {} {slices:?} {}",
            pool.id,
            pool.generation,
            pool.outdated.len()
        )
        .unwrap();
    }
    text
}

#[derive(Clone, Debug)]
enum Step {
    Claim(u8, Vec<u8>),
    Pod(u8, Vec<u8>, bool),
    Group(u8, Vec<u8>),
    Slice(u8, i64),
    Delete(u8, u8),
    Fork,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0u8..5, prop::collection::vec(0u8..4, 0..3)).prop_map(|(name, devices)| Step::Claim(name, devices)),
        (0u8..5, prop::collection::vec(0u8..5, 0..3), any::<bool>())
            .prop_map(|(name, c, n)| Step::Pod(name, c, n)),
        (0u8..4, prop::collection::vec(0u8..5, 0..3)).prop_map(|(name, claims)| Step::Group(name, claims)),
        (0u8..4, 1i64..3).prop_map(|(name, generation)| Step::Slice(name, generation)),
        (0u8..4, 0u8..5).prop_map(|(kind, name)| Step::Delete(kind, name)),
        Just(Step::Fork),
    ]
}

proptest! {
    /// The indexes after any changes are those of a cluster built from the same objects, in forks and in what they forked from.
    #[test]
    fn indexes_equal_a_rebuild(steps in prop::collection::vec(step(), 0..40)) {
        let name = |n: u8| format!("x{n}");
        let names = |list: &[u8]| list.iter().map(|n| name(*n)).collect::<Vec<_>>();
        let refs = |list: &[String]| list.iter().map(String::as_str).map(ToOwned::to_owned).collect::<Vec<_>>();
        let mut current = Cluster::default();
        let mut forks = Vec::new();
        for step in steps {
            let change = match step {
                Step::Claim(n, devices) => {
                    let devices = refs(&names(&devices));
                    Change::Put(claim(&name(n), &devices.iter().map(String::as_str).collect::<Vec<_>>()))
                }
                Step::Pod(n, claims, bound) => {
                    let claims = refs(&names(&claims));
                    let claims: Vec<_> = claims.iter().map(String::as_str).collect();
                    Change::Put(pod(&name(n), &claims, Some(if bound { "a" } else { "b" })))
                }
                Step::Group(n, claims) => {
                    let claims = refs(&names(&claims));
                    let claims: Vec<_> = claims.iter().map(String::as_str).collect();
                    Change::Put(group(&name(n), &claims))
                }
                Step::Slice(n, generation) => Change::Put(slice(&name(n), generation, 1, &["g"])),
                Step::Delete(kind, n) => match kind {
                    0 => Change::Delete(Kind::ResourceClaim, Key::new("n", name(n))),
                    1 => Change::Delete(Kind::Pod, Key::new("n", name(n))),
                    2 => Change::Delete(Kind::PodGroup, Key::new("n", name(n))),
                    _ => Change::Delete(Kind::ResourceSlice, Key::new("", name(n))),
                },
                Step::Fork => {
                    forks.push(current.clone());
                    continue;
                }
            };
            current.apply(change);
        }
        forks.push(current);
        for state in forks {
            let objects = state.claims().cloned().map(Object::ResourceClaim)
                .chain(state.pods().cloned().map(Object::Pod))
                .chain(state.pod_groups().cloned().map(Object::PodGroup))
                .chain(state.slices().cloned().map(Object::ResourceSlice));
            prop_assert_eq!(answers(&state), answers(&cluster(objects)));
        }
    }
}

#[test]
fn the_last_of_equal_objects_is_kept_and_the_identity_is_reported() {
    let mut builder = ClusterBuilder::default();
    for devices in [&["a"][..], &["b"], &["c"]] {
        builder.add(claim("twice", devices));
    }
    builder.add(claim("once", &["d"]));
    let (cluster, duplicates) = builder.build(Environment::default());
    let twin = |contradicts| Twin {
        kind: Kind::ResourceClaim,
        key: Key::new("n", "twice"),
        contradicts,
    };
    assert_eq!(duplicates, [twin(true)]);
    assert!(cluster.gap(Kind::ResourceClaim, "n").is_some());
    assert!(cluster.gap(Kind::ResourceClaim, "m").is_none());
    assert_eq!(
        cluster.claim(&Key::new("n", "twice")).unwrap().results()[0].device,
        "c"
    );
    assert_eq!(cluster.claims().count(), 2);
    assert_eq!(cluster.allocated_devices().count(), 2);
}

#[test]
fn a_pool_is_its_newest_generation() {
    let cluster = cluster([
        slice("old", 1, 1, &["a"]),
        slice("new-1", 2, 2, &["b"]),
        slice("new-2", 2, 2, &["c", "b"]),
    ]);
    let pool = cluster.pools().next().unwrap();
    assert_eq!(
        (pool.generation, pool.slices.len(), pool.outdated.len()),
        (2, 2, 1)
    );
    assert!(pool.is_complete());
    assert_eq!(pool.duplicate_devices(), ["b"]);
    assert!(pool.device("a").is_none());
    assert_eq!(cluster.pool(&pool.id).unwrap().slices.len(), 2);
}

#[test]
fn lists_of_one_namespace_end_at_its_border() {
    let in_namespace = |namespace: &str, name: &str| {
        object(
            Kind::ResourceClaim,
            &serde_json::json!({"metadata": {"name": name, "namespace": namespace}}),
        )
    };
    let cluster = cluster([
        in_namespace("a", "z"),
        in_namespace("b", "a"),
        in_namespace("b", "b"),
        in_namespace("c", "a"),
    ]);
    let names: Vec<_> = cluster
        .claims_in(&"b".into())
        .map(|claim| claim.metadata.name.to_string())
        .collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn an_error_in_a_repeated_part_names_its_place_in_the_object() {
    let claim = br#"{"spec": {"devices": {"requests": [
        {"name": 1}
    ]}}}"#;
    let error = crate::with_interner(&mut crate::Interner::default(), || {
        Object::from_json(Kind::ResourceClaim, claim)
    });
    assert_eq!(
        error.unwrap_err().to_string(),
        "invalid type: integer `1`, expected a string at line 2 column 18"
    );
}
