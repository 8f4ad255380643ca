//! Checks of upstream's tests of the claim controller that depend on the API server: watches that say
//! nothing, and requests that fail.

use super::scene::{Scene, serve_a_marker, wait_for_claim};
use super::{GATES, Working, asked, nobody_works, told, worker};
use crate::support::cluster::Cluster;
use crate::support::cluster::faulty::{Fault, Gate};
use crate::support::wait::wait_for;

const CLAIMING: [&str; 2] = ["--controllers", "resourceclaim"];
const CREATES: &str = "dynamic_resource_allocation_resourceclaim_creates_total";

/// Returns what was asked about claims in a namespace: verb and code.
fn about_claims(cluster: &Cluster, namespace: &str) -> Vec<String> {
    let path = format!("/namespaces/{namespace}/resourceclaims");
    let asked = asked(cluster)
        .into_iter()
        .filter(|request| request.contains(&path));
    asked
        .map(|request| {
            let words: Vec<&str> = request.split(' ').collect();
            format!("{} {}", words[0], words[2])
        })
        .collect()
}

/// Waits until the controller has complained in the namespace.
fn wait_for_complaint(cluster: &Cluster, namespace: &str) {
    wait_for("the controller says what is missing", || {
        (!told(cluster, namespace, "FailedResourceClaimCreation").is_empty()).then_some(())
    });
}

/// The watches of claims and of pods say nothing for a while, and some requests are refused.
#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one program at work, and each namespace for itself"
)]
fn what_no_watch_has_shown() {
    let cluster = nobody_works();
    let user = worker(&cluster);
    let (claims, pods) = (Gate::default(), Gate::default());
    let by = user.faulty({
        let (claims, pods) = (claims.clone(), pods.clone());
        move |path, before| {
            let is_watch = path.contains("watch=true");
            let fails = |namespace: &str, request: &str| {
                path.starts_with(request) && path.contains(&format!("/namespaces/{namespace}/"))
            };
            let claim = "/apis/resource.k8s.io/v1/namespaces/failing/resourceclaims/c";
            let times_out = before < 2 && fails("failing", claim)
                || before == 0 && fails("late", "PATCH ") && path.contains("/status");
            if is_watch && path.contains("/v1/resourceclaims?") {
                Fault::Held(claims.clone())
            } else if is_watch && path.contains("/v1/pods?") {
                Fault::Held(pods.clone())
            } else if times_out {
                Fault::Refusal(500, "", "etcdserver: request timed out".to_owned())
            } else if before == 0
                && ["conflict-pod", "conflict-admin", "conflict-group"]
                    .iter()
                    .any(|namespace| fails(namespace, "POST /apis/resource.k8s.io/"))
            {
                Fault::Refusal(409, "", "fake conflict".to_owned())
            } else {
                Fault::None
            }
        }
    });
    // The API server cannot say whether there is the claim that a pod tells of.
    let mut failing = Scene::new(&cluster, "failing");
    failing.create_all(&["pod entry status=c".to_owned(), "template".to_owned()]);
    let working = Working::start(&user, Some(&by), GATES, &CLAIMING);
    claims.close();
    wait_for("its claim is made", || {
        (failing.statuses() == ["pod acme=new"]).then_some(())
    });
    let asked_for: Vec<String> = by
        .asked()
        .into_iter()
        .filter(|path| path.contains("/namespaces/failing/resourceclaims"))
        .map(|path| path[..path.find('?').unwrap_or(path.len())].to_owned())
        .collect();
    let get = "/apis/resource.k8s.io/v1/namespaces/failing/resourceclaims/c";
    assert_eq!(asked_for[..3], [get; 3], "{asked_for:?}");
    assert!(asked_for[3].starts_with("POST "), "{asked_for:?}");
    assert_eq!(asked_for.len(), 4);
    working.wait_for_metric(
        CREATES,
        &[&format!("{CREATES}{{status=\"success\",admin_access=\"false\",owner_api_group=\"\",owner_api_kind=\"Pod\"}} 1")],
    );

    // What was made here is known without a watch.
    let mut made = Scene::new(&cluster, "made");
    for words in ["template", "pod entry", "group entry"] {
        made.create(words);
    }
    for object in ["pod/made/p", "podgroup/made/g"] {
        wait_for_claim(&cluster, object);
        for number in ["1", "2"] {
            cluster.patch(
                object,
                &serde_json::json!({"metadata": {"labels": {"example.com/seen": number}}}),
            );
        }
    }
    serve_a_marker(&cluster, "marker-made", true);
    assert_eq!(about_claims(&cluster, "made"), ["create 201", "create 201"]);

    // What others made is asked for, and not made again.
    for (namespace, object, kind) in [
        ("server", "pod", "pod/server/p"),
        ("server-g", "group", "podgroup/server-g/g"),
    ] {
        let mut server = Scene::new(&cluster, namespace);
        server.create(&format!("{object} entry"));
        wait_for_complaint(&cluster, namespace);
        server.create(&format!("claim c for={object}"));
        cluster.patch_status(
            kind,
            &serde_json::json!({"status": {"resourceClaimStatuses": [{"name": "acme", "resourceClaimName": "c"}]}}),
        );
        wait_for("the claim is asked for", || {
            about_claims(&cluster, namespace)
                .contains(&"get 200".to_owned())
                .then_some(())
        });
        server.create("template");
        serve_a_marker(&cluster, &format!("marker-{namespace}"), true);
        assert_eq!(server.claims(), [format!("claim c for={object}")]);
        let asked = about_claims(&cluster, namespace);
        assert!(asked.iter().all(|request| request == "get 200"), "{asked:?}");
    }

    // The claim is there, and nobody could be told of it.
    let mut late = Scene::new(&cluster, "late");
    for words in ["template", "pod entry", "group entry"] {
        late.create(words);
    }
    wait_for("both are told of their claims", || {
        (late.statuses() == ["group acme=new", "pod acme=new"]).then_some(())
    });
    assert_eq!(about_claims(&cluster, "late"), ["create 201", "create 201"]);
    let tries = by
        .asked()
        .into_iter()
        .filter(|path| path.starts_with("PATCH ") && path.contains("/namespaces/late/"));
    assert_eq!(tries.count(), 4);

    // The API server refuses at first.
    let creates = |labels: &str| {
        let counted = working
            .metric(CREATES)
            .into_iter()
            .find(|line| line.contains(labels));
        counted.map_or(0, |line| {
            line.rsplit(' ')
                .next()
                .and_then(|count| count.parse::<u32>().ok())
                .unwrap_or(0)
        })
    };
    for (namespace, object, template, labels, kind) in [
        (
            "conflict-pod",
            "pod",
            "template",
            "admin_access=\"false\",owner_api_group=\"\",owner_api_kind=\"Pod\"",
            "Pod",
        ),
        (
            "conflict-admin",
            "pod",
            "template admin",
            "admin_access=\"true\",owner_api_group=\"\",owner_api_kind=\"Pod\"",
            "Pod",
        ),
        (
            "conflict-group",
            "group",
            "template",
            "admin_access=\"false\",owner_api_group=\"scheduling.k8s.io\",owner_api_kind=\"PodGroup\"",
            "PodGroup",
        ),
    ] {
        let of = |status: &str| creates(&format!("status=\"{status}\",{labels}"));
        let before = (of("success"), of("failure"));
        let mut conflict = Scene::new(&cluster, namespace);
        conflict.create(template);
        conflict.create(&format!("{object} entry"));
        wait_for("it has its claim", || {
            (conflict.statuses() == [format!("{object} acme=new")]).then_some(())
        });
        assert_eq!(
            (of("success"), of("failure")),
            (before.0 + 1, before.1 + 1),
            "{namespace}"
        );
        assert_eq!(conflict.claims().len(), 1);
        wait_for("the refusal is told", || {
            let told = told(&cluster, namespace, "FailedResourceClaimCreation");
            let expected = format!("{kind}ResourceClaim acme: ");
            let is_it = |told: &String| told.starts_with(&expected) && told.contains("fake conflict");
            told.iter().any(is_it).then_some(())
        });
    }

    // A pod that no watch has shown keeps what it has.
    claims.open();
    pods.close();
    let mut unseen = Scene::new(&cluster, "unseen");
    unseen.create_all(&[
        "pod entry".to_owned(),
        "claim c for=pod allocated reserved=pod".to_owned(),
    ]);
    wait_for("the pod is asked for", || {
        let asked = asked(&cluster);
        asked
            .iter()
            .any(|request| request == "get /api/v1/namespaces/unseen/pods/p 200")
            .then_some(())
    });
    working.wait_for_metric("workqueue_depth", &["workqueue_depth{name=\"resource_claim\"} 0"]);
    working.end();
    assert_eq!(unseen.claims(), ["claim c for=pod allocated reserved=pod"]);
    assert_eq!(about_claims(&cluster, "unseen"), [""; 0]);
}

/// An item that is refused comes again, later each time; a final error does not.
#[test]
fn what_is_refused_comes_again_and_what_is_final_does_not() {
    use std::sync::{Arc, Mutex};
    use std::time::{Duration, Instant};

    const REFUSALS: usize = 5;
    let cluster = nobody_works();
    let user = worker(&cluster);
    let tries: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let by = user.faulty({
        let tries = Arc::clone(&tries);
        move |path, before| {
            if !path.starts_with("POST /apis/resource.k8s.io/v1/namespaces/refused/resourceclaims") {
                return Fault::None;
            }
            tries.lock().expect("no panic").push(Instant::now());
            if before < REFUSALS {
                Fault::Refusal(422, "", "not today".to_owned())
            } else {
                Fault::None
            }
        }
    });
    let mut refused = Scene::new(&cluster, "refused");
    refused.create_all(&["pod entry".to_owned(), "template".to_owned()]);
    // Its entry means the claim of its group, of which these gates know nothing.
    let mut last = Scene::new(&cluster, "final");
    last.create_all(&[
        "pod entry member".to_owned(),
        "group entry".to_owned(),
        "template".to_owned(),
    ]);
    // And one that waits for its template for ever.
    let mut retried = Scene::new(&cluster, "retried");
    retried.create("pod entry");
    let gates = "GenericWorkload=true,DRAWorkloadResourceClaims=false";
    let working = Working::start(&user, Some(&by), gates, &CLAIMING);
    wait_for("it has its claim", || {
        (refused.statuses() == ["pod acme=new"]).then_some(())
    });
    let tries = tries.lock().expect("no panic").clone();
    assert_eq!(tries.len(), REFUSALS + 1);
    for (number, pair) in tries.windows(2).enumerate() {
        let pause = Duration::from_millis(5 << number);
        assert!(pair[1] - pair[0] >= pause, "{number}: {:?}", pair[1] - pair[0]);
    }
    let count = |namespace: &str| {
        let events = cluster.list(&format!("event/{namespace}"));
        let counts = events.iter().map(|event| event["count"].as_u64().unwrap_or(1));
        counts.sum::<u64>()
    };
    wait_for("the other is tried again and again", || {
        (count("retried") >= 5).then_some(())
    });
    let stderr = working.end().stderr;
    let logged = |stderr: &str, namespace: &str, why: &str| {
        let lines = stderr.lines();
        let about = lines.filter(|line| line.contains(&format!("{namespace}/")) && line.contains(why));
        about.count()
    };
    assert_eq!(logged(&stderr, "final", "feature is disabled"), 1, "{stderr}");
    let told = told(&cluster, "final", "FailedResourceClaimCreation");
    assert_eq!(told.len(), 1, "{told:?}\n{stderr}");
    assert_eq!(count("final"), 1, "{told:?}");
    assert!(told[0].contains("feature is disabled"), "{told:?}");
    assert_eq!(last.claims(), [""; 0]);

    // With the other gate off too, nothing can be said of the member at all.
    let mut quiet = Scene::new(&cluster, "quiet");
    quiet.create_all(&[
        "pod entry member".to_owned(),
        "group entry".to_owned(),
        "template".to_owned(),
    ]);
    let before = count("retried");
    let gates = "GenericWorkload=false,DRAWorkloadResourceClaims=false";
    let working = Working::start(&user, None, gates, &CLAIMING);
    wait_for("the other is tried again and again", || {
        (count("retried") >= before + 5).then_some(())
    });
    let stderr = working.end().stderr;
    let why = "GenericWorkload feature is disabled";
    assert_eq!(logged(&stderr, "quiet", why), 1, "{stderr}");
    assert_eq!(count("quiet"), 0);
    let mut about = asked(&cluster)
        .into_iter()
        .filter(|request| request.contains("/namespaces/quiet/"));
    assert_eq!(about.next(), None);
    assert_eq!(quiet.claims(), [""; 0]);
}
