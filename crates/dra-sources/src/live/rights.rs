//! Permissions of the user, checked in advance.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use serde_json::json;

use super::Live;
use super::error::Error;
use dra_model::{AccessReview, Kind};

/// A right that a user has or lacks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    /// Verb.
    pub verb: &'static str,
    /// API group; empty for that of pods.
    pub group: &'static str,
    /// Plural resource.
    pub resource: &'static str,
    /// Empty for the object itself.
    pub subresource: &'static str,
    /// Empty for all namespaces.
    pub namespace: String,
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.target())?;
        if self.namespace.is_empty() {
            f.write_str(" in all namespaces")
        } else {
            write!(f, " in namespace `{}`", self.namespace)
        }
    }
}

impl Right {
    /// The right to objects of `kind`, or to their subresource, in all namespaces.
    pub fn of(verb: &'static str, kind: Kind, subresource: &'static str) -> Self {
        Self {
            verb,
            group: kind.group(),
            resource: kind.plural(),
            subresource,
            namespace: String::new(),
        }
    }

    /// `resourceclaims/status`, as a rule names it.
    pub fn target(&self) -> String {
        if self.subresource.is_empty() {
            self.resource.to_owned()
        } else {
            format!("{}/{}", self.resource, self.subresource)
        }
    }
}

/// Rights that are missing.
#[derive(Debug, thiserror::Error)]
#[error("{} may not {}", user.as_deref().map_or("the user".to_owned(), |user| format!("user `{user}`")), .missing.iter().map(ToString::to_string).collect::<Vec<_>>().join(", nor "))]
pub struct MissingRights {
    user: Option<String>,
    missing: BTreeSet<Right>,
}

impl MissingRights {
    /// Returns what grants them, as a manifest with a ClusterRole of this name.
    pub fn manifest(&self, role: &str) -> String {
        let mut rules = BTreeSet::new();
        for right in &self.missing {
            rules.insert((right.group, right.target(), right.verb));
        }
        let mut text = format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {role}\nrules:\n"
        );
        for (group, target, verb) in rules {
            // Writing to a text does not fail.
            let _ = writeln!(
                text,
                "- apiGroups: [\"{group}\"]\n  resources: [\"{target}\"]\n  verbs: [\"{verb}\"]"
            );
        }
        let user = self.user.as_deref().unwrap_or("USER");
        let _ = write!(
            text,
            "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata:\n  name: {role}\n\
             roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: {role}\nsubjects:\n\
             - apiGroup: rbac.authorization.k8s.io\n  kind: User\n  name: {}",
            serde_json::Value::from(user)
        );
        text
    }
}

impl Live {
    /// Those of `rights` that the user lacks, if any.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn missing_rights(
        &self,
        rights: impl IntoIterator<Item = Right>,
    ) -> Result<Option<MissingRights>, Error> {
        let mut missing = BTreeSet::new();
        for right in rights {
            if !self.allowed(&right).await? {
                missing.insert(right);
            }
        }
        self.lacks(missing).await
    }

    /// Says who lacks these rights; nothing where there are none.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn lacks(&self, missing: BTreeSet<Right>) -> Result<Option<MissingRights>, Error> {
        if missing.is_empty() {
            return Ok(None);
        }
        Ok(Some(MissingRights {
            user: self.user_name().await,
            missing,
        }))
    }

    /// Returns whether the user has a right, as the server's authorizers see it.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn allowed(&self, right: &Right) -> Result<bool, Error> {
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {
                "namespace": right.namespace, "verb": right.verb, "group": right.group,
                "resource": right.resource, "subresource": right.subresource}}});
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        let review = self
            .ask(path, &review, "check the permissions of the user")
            .await?;
        Ok(review["status"]["allowed"] == true)
    }

    /// Returns what the server's authorizers say of others: to each of these questions. Nothing where the user may not ask.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn review(
        &self,
        questions: impl IntoIterator<Item = (String, Vec<String>, [String; 6])>,
    ) -> Result<Option<Vec<AccessReview>>, Error> {
        let mut reviews = Vec::new();
        for (user, groups, request) in questions {
            let [verb, group, resource, subresource, namespace, name] = &request;
            let review = json!({
                "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                "spec": {"user": user, "groups": groups, "resourceAttributes": {
                    "verb": verb, "group": group, "resource": resource, "subresource": subresource,
                    "namespace": namespace, "name": name}}});
            let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
            match self.ask(path, &review, "check the permissions of a driver").await {
                Ok(review) => reviews.push(AccessReview {
                    user,
                    request,
                    allowed: review["status"]["allowed"] == true,
                }),
                Err(Error::Refused { code: 403, .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(Some(reviews))
    }

    /// The name that the server knows the user by; nothing where it does not tell.
    pub async fn user_name(&self) -> Option<String> {
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
        let review = self.ask(path, &review, "get the name of the user").await.ok()?;
        Some(review["status"]["userInfo"]["username"].as_str()?.to_owned())
    }
}
