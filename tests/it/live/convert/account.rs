//! The service account of docs/examples, with the rights that the manifest grants and no others.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::cluster::{Cluster, User};
use crate::support::wait::wait_for;

const NAMESPACE: &str = "kube-system";
const NAME: &str = "pre-downgrade";
const ROLE: &str = "clusterrole/pre-downgrade";

/// A file of docs/examples.
pub(super) fn example(file: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples");
    Path::new(folder).join(file).display().to_string()
}

/// The account in a cluster.
pub(super) struct Account<'a> {
    cluster: &'a Cluster,
    /// The account with a token that lasts.
    pub(super) user: User,
    /// Rules of the manifest.
    rules: Vec<Value>,
}

impl<'a> Account<'a> {
    /// Applies the manifest, and returns when its rights are in effect.
    pub(super) fn create(cluster: &'a Cluster) -> Self {
        cluster
            .kubectl(["apply", "-f", &example("pre-downgrade-job.yaml")])
            .run()
            .exits(0);
        let rules = cluster.get(ROLE)["rules"].clone();
        let account = Self {
            cluster,
            user: cluster.service_account(NAMESPACE, NAME),
            rules: rules.as_array().expect("rules").clone(),
        };
        account.give_back();
        account
    }

    /// The account with a token that the API server refuses once `lifetime` is over.
    pub(super) fn passing(&self, lifetime: std::time::Duration) -> User {
        self.cluster.passing_service_account(NAMESPACE, NAME, lifetime)
    }

    /// Takes the right to a resource away, and returns when that is in effect.
    pub(super) fn withdraw(&self, resource: &str) {
        let (gone, rest): (Vec<&Value>, Vec<&Value>) = self
            .rules
            .iter()
            .partition(|rule| rule["resources"][0] == resource);
        self.cluster.update(ROLE, |role| role["rules"] = json!(rest));
        for rule in &gone {
            self.wait_allowed(rule, false);
        }
        assert_eq!(gone.len(), 1, "the manifest has one rule for {resource}");
    }

    /// Gives all rights, and returns when they are in effect.
    pub(super) fn give_back(&self) {
        self.cluster
            .update(ROLE, |role| role["rules"] = json!(self.rules));
        for rule in &self.rules {
            self.wait_allowed(rule, true);
        }
    }

    /// Waits until the authorizer knows whether the account has the right.
    fn wait_allowed(&self, rule: &Value, expected: bool) {
        let resource = rule["resources"][0].as_str().expect("a resource");
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let namespace = if rule["resourceNames"].is_array() {
            NAMESPACE
        } else {
            ""
        };
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
            "user": format!("system:serviceaccount:{NAMESPACE}:{NAME}"),
            "resourceAttributes": {"verb": rule["verbs"][0], "group": rule["apiGroups"][0], "resource": resource,
                "subresource": subresource, "name": rule["resourceNames"][0], "namespace": namespace}}});
        wait_for(&format!("{resource}/{subresource}: {expected}"), || {
            let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
            let answer = self.cluster.request(&http::Method::POST, path, &review);
            (answer.body["status"]["allowed"] == expected).then_some(())
        });
    }
}
