//! Conversions while the cluster goes on: members come and end, claims are deleted. In the end no pod that lives lacks its entry, and
//! no claim keeps its devices that no pod uses.

use serde_json::Value;

use super::{OFF, Records, cluster, convert, groups, member_of, turn_off};
use crate::support::cluster::Cluster;
use crate::support::cluster::kubelet::Phase;
use crate::support::cluster::reference;
use dra_testing::effort::by_effort;

/// Rounds for the effort. `KUBECTL_DRA_SOAK=200` makes it a soak.
fn rounds() -> usize {
    std::env::var_os("KUBECTL_DRA_SOAK").map_or(by_effort(1, 3, 20), |rounds| {
        rounds
            .to_str()
            .and_then(|rounds| rounds.parse().ok())
            .expect("a number of rounds")
    })
}

/// Pods that run and use the claim of their group, and the entries of that claim.
fn missing(cluster: &Cluster) -> Vec<String> {
    let claims = cluster.list("claim");
    let is_listed = |pod: &Value| {
        let name = &pod["spec"]["resourceClaims"][0]["resourceClaimName"];
        let claim = claims.iter().find(|claim| claim["metadata"]["name"] == *name);
        claim.is_none_or(|claim| {
            let entries = claim["status"]["reservedFor"].as_array();
            entries.is_some_and(|entries| entries.iter().any(|entry| entry["uid"] == pod["metadata"]["uid"]))
        })
    };
    let pods = cluster.list("pod");
    let lives = |pod: &&Value| {
        pod["spec"]["nodeName"].is_string()
            && !matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"))
    };
    let lost = pods.iter().filter(lives).filter(|pod| !is_listed(pod));
    lost.map(reference).collect()
}

#[test]
fn members_come_and_go_and_none_is_lost() {
    let cluster = cluster();
    let names = ["a", "b", "c"];
    groups(&cluster, &names, 2);
    for round in 0..rounds() {
        let doomed = format!("doomed-{round}");
        groups(&cluster, &[&doomed], 1);
        let process =
            convert(&cluster, &Records::new().backup(), &["--wait", "--timeout=10s"]).start_unguarded();
        for name in names {
            let member = 10 * (round + 1);
            cluster.create(&member_of(name, member));
            cluster.create(&member_of(name, member + 1));
            if round > 0 {
                cluster.set_phase(&format!("pod/{name}-{}", 10 * round), Phase::Succeeded);
            }
        }
        // Its pod still runs, so nothing can be added any more, and it goes when the pod does.
        cluster.delete(&format!("claim/{doomed}"));
        let run = process.finish();
        assert!(
            matches!(run.code, Some(0 | 1)),
            "round {round}: {}\n{}",
            run.stdout,
            run.stderr
        );
        cluster.run(&[]);
        for name in names {
            for member in [10 * (round + 1), 10 * (round + 1) + 1] {
                cluster.wait(&format!("pod/{name}-{member}"), "it has a node", |pod| {
                    pod["spec"]["nodeName"].is_string()
                });
            }
        }
        cluster.run_kubelets();
        if round > 0 {
            for name in names {
                cluster.delete_now(&format!("pod/{name}-{}", 10 * round));
            }
        }
        cluster.delete_now(&format!("pod/{doomed}-0"));
        cluster.delete(&format!("podgroup/{doomed}"));
        // Nodes and lists have room for so many only, so others leave while they still run.
        if round > 1 {
            for name in names {
                cluster.delete_now(&format!("pod/{name}-{}", 10 * (round - 1) + 1));
            }
        }
    }
    // The gate is still on, so the claim controller lets go of groups that are gone.
    for round in 0..rounds() {
        cluster.wait_gone(&format!("claim/doomed-{round}"));
    }
    // The second phase mends whatever a scheduling attempt left behind.
    turn_off(&cluster, &["DRAWorkloadResourceClaims"]);
    let last = cluster
        .kubectl_dra(["convert", "--yes", "--final", "--settle=3s"])
        .args(OFF)
        .run();
    assert_eq!(last.code, Some(0), "{}\n{}", last.stdout, last.stderr);
    assert_eq!(missing(&cluster), [""; 0]);
    cluster.kubectl_dra(["convert", "verify"]).run().exits(0);
    for pod in cluster.list("pod") {
        cluster.delete_now(&reference(&pod));
    }
    for name in names {
        cluster.wait(&format!("claim/{name}"), "it is free", |claim| {
            claim["status"]["allocation"].is_null()
        });
    }
}
