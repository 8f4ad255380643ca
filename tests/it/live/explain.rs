//! Output of `explain` with the permissions of the built-in role `view`: visible facts of the namespace, and unknown ones.

use serde_json::{Value, json};

use crate::support::cluster::objects::{Manifest, claim_spec, gpu, namespace, pod, template};
use crate::support::cluster::{Cluster, Options, User};
use crate::support::process::Run;
use crate::support::schema::assert_valid;

fn explain(user: &User, pod: &str, more: &[&str]) -> Run {
    let pod = format!("pod/{pod}");
    user.kubectl_dra(["explain", &pod, "-n", "team"]).args(more).run()
}

#[test]
fn with_the_role_view_the_unknown_is_named() {
    let cluster = Cluster::start(&Options::default());
    cluster.add_gpu_nodes(1);
    let team = |object: Value| object.in_namespace("team");
    cluster.run(&[
        namespace("team"),
        team(template("one", claim_spec([gpu()]))),
        team(template("nine", claim_spec([gpu().count(9)]))),
        team(pod("runs").template_claim("gpu", "one")),
    ]);
    cluster.create_all(&[
        team(pod("too-many").template_claim("gpu", "nine")),
        team(pod("missing-claim").named_claim("gpu", "nowhere")),
        team(pod("missing-template").template_claim("gpu", "no")),
    ]);
    cluster.wait_unschedulable(["pod/team/too-many"]);
    // A later pod was seen, so the others were, too.
    let events = || cluster.list("event/team").into_iter();
    crate::support::wait::wait_for("the claim controller complains", || {
        events()
            .find(|event| event["reason"] == "FailedResourceClaimCreation")
            .map(drop)
    });

    let kinds = ["nodes", "deviceclasses", "resourceslices", "devicetaintrules"];
    for (user, elsewhere) in [
        (cluster.user("member").with_role_in("team", "view"), false),
        (cluster.user("viewer").with_role("view"), true),
    ] {
        let name = user.kubeconfig().display().to_string();
        // Where it cannot go is not known, but what the scheduler has said is.
        let run = explain(&user, "too-many", &[]).exits(4);
        assert!(
            run.stdout.contains("cannot allocate all claims"),
            "{name}: {}",
            run.stdout
        );
        assert!(
            run.stdout.contains("pod/team/too-many: unknown "),
            "{name}: {}",
            run.stdout
        );
        assert!(
            run.stderr.contains("kubectl-dra-viewer"),
            "{name}: {}",
            run.stderr
        );
        let json = assert_valid(&explain(&user, "too-many", &["-o", "json"]).exits(4).stdout);
        assert_eq!(json["verdict"], "Unknown", "{name}");
        assert_eq!(json["fixes"], json!([]), "{name}");
        let unknown = json["unknown"].to_string();
        // Those that are hidden for the same reason stand in one text, before it.
        let hidden: Vec<&str> = unknown
            .split("could not be read")
            .filter_map(|text| text.rsplit('"').next())
            .flat_map(|kinds| kinds.split([',', ' ']))
            .collect();
        for kind in kinds {
            assert!(hidden.contains(&kind), "{name}: {unknown}");
        }
        for kind in ["pods", "resourceclaims"] {
            // Who sees one namespace does not know what others hold.
            assert_eq!(hidden.contains(&kind), !elsewhere, "{name}: {unknown}");
        }

        // What shows in the namespace is told all the same.
        let run = explain(&user, "missing-claim", &[]).exits(1);
        assert!(
            run.stdout
                .contains("could not find ResourceClaim \"team/nowhere\""),
            "{name}: {}",
            run.stdout
        );
        assert!(
            run.stdout.contains("create claim/team/nowhere"),
            "{name}: {}",
            run.stdout
        );
        let run = explain(&user, "missing-template", &[]).exits(1);
        let template = "create resourceclaimtemplate/team/no";
        assert!(run.stdout.contains(template), "{name}: {}", run.stdout);
        assert!(
            run.stdout.contains("FailedResourceClaimCreation"),
            "{name}: {}",
            run.stdout
        );
        let run = explain(&user, "runs", &[]).exits(0);
        assert!(
            run.stdout.contains("the pod is running on gpu-node-1"),
            "{name}: {}",
            run.stdout
        );
    }
    // The same pod, when everything can be read.
    let run = cluster
        .kubectl_dra(["explain", "pod/too-many", "-n", "team"])
        .run()
        .exits(1);
    assert!(run.stdout.contains("from 9 to 7"), "{}", run.stdout);
}

/// A second scheduler's configuration is in a ConfigMap, as its Deployment mounts it: a snapshot keeps what it says.
#[test]
fn profiles_are_read_from_config_maps_of_kube_system() {
    let cluster = Cluster::start(&Options::default());
    cluster.add_gpu_nodes(1);
    let packed = |name: &str| {
        let mut pod = pod(name).template_claim("gpu", "one");
        pod["spec"]["schedulerName"] = json!("packed");
        pod
    };
    cluster.create_all(&[template("one", claim_spec([gpu()])), packed("waits")]);
    let doubt = |from: &[&str]| {
        let args = ["explain", "pod/waits", "-o", "json"];
        let run = cluster.kubectl_dra(args).args(from).run();
        let report = assert_valid(&run.stdout);
        let notes = report["notes"].to_string();
        (
            report["exactness"].clone(),
            notes.contains("scheduler packed is another scheduler"),
        )
    };
    assert_eq!(doubt(&[]), (json!("FitOnly"), true));

    let config = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n\
                  - schedulerName: packed\n- schedulerName: bare\n";
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"config.yaml": config},
        "metadata": {"name": "second-scheduler", "namespace": "kube-system"}});
    cluster.create_all(&[map]);
    assert_eq!(doubt(&[]), (json!("Exact"), false));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snapshot.yaml");
    let file = file.to_str().unwrap();
    cluster.kubectl_dra(["snapshot", "--out", file]).run().exits(0);
    assert_eq!(doubt(&["--from", file]), (json!("Exact"), false));
}
