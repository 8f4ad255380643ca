//! Writes that a policy or a webhook does not want: they say nothing of the rights, and nothing of other claims.

use http::Method;
use serde_json::{Value, json};

use super::faults::{NAMES, assert_converted, is_write, refusal_with, reset};
use super::{Records, cluster, convert, groups};
use crate::support::cluster::Cluster;
use crate::support::cluster::faulty::Fault;
use crate::support::wait::wait_for;

/// Refuses every write of the status of the claim `a`, and returns when that is in effect.
fn freeze(cluster: &Cluster) {
    let policy = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "frozen"}, "spec": {
        "matchConstraints": {"resourceRules": [{"apiGroups": ["resource.k8s.io"], "apiVersions": ["*"],
            "operations": ["UPDATE"], "resources": ["resourceclaims/status"]}]},
        "validations": [{"expression": "object.metadata.name != 'a'", "message": "it is frozen", "reason": "Forbidden"}]}});
    let binding = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "frozen"}, "spec": {"policyName": "frozen", "validationActions": ["Deny"]}});
    let path = "/apis/admissionregistration.k8s.io/v1";
    for (plural, object) in [
        ("validatingadmissionpolicies", policy),
        ("validatingadmissionpolicybindings", binding),
    ] {
        let made = cluster.request(&Method::POST, &format!("{path}/{plural}"), &object);
        assert!(made.is_success(), "{made:?}");
    }
    let status = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/a/status?dryRun=All";
    wait_for("the policy is in effect", || {
        let claim = cluster.get("claim/a");
        (cluster.request(&Method::PUT, status, &claim).status == 403).then_some(())
    });
}

fn thaw(cluster: &Cluster) {
    let path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/frozen";
    cluster.request(&Method::DELETE, path, &Value::Null);
    let status = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/a/status?dryRun=All";
    wait_for("the policy is not in effect", || {
        let claim = cluster.get("claim/a");
        cluster
            .request(&Method::PUT, status, &claim)
            .is_success()
            .then_some(())
    });
}

#[test]
fn a_claim_that_may_not_be_written_keeps_no_other_from_it() {
    let cluster = cluster();
    groups(&cluster, &NAMES, 2);
    freeze(&cluster);
    let records = Records::new();
    let run = convert(&cluster, &records.backup(), &["--concurrency=1"])
        .run()
        .exits(3);
    assert!(
        run.stderr.contains("Converted: 3 claims, Failed: 1 claim"),
        "{}",
        run.stderr
    );
    assert!(run.stdout.contains("it is frozen"), "{}", run.stdout);
    thaw(&cluster);
    convert(&cluster, &records.backup(), &[]).run().exits(0);
    assert_converted(&cluster, "after the second run");

    // A webhook with side effects lets no write be tried, and each be done.
    reset(&cluster);
    let faulty = cluster.faulty(|asked, _| {
        if asked.starts_with("PATCH ") && !is_write(asked) {
            refusal_with(
                400,
                "admission webhook \"w.example.com\" does not support dry run",
            )
        } else {
            Fault::None
        }
    });
    convert(&cluster, &Records::new().backup(), &[])
        .args(faulty.flags())
        .run()
        .exits(0);
    let tried = faulty
        .asked()
        .iter()
        .filter(|asked| asked.contains("dryRun"))
        .count();
    assert_eq!(tried, 1);
    assert_converted(&cluster, "without a trial");
}
