//! What is found out before anything is written: rights, and whether a write would be accepted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::step::{is_of_policy, lacks_binding};
use super::task::Task;
use crate::model::{Component, Environment, Gate};
use crate::sources::live::{Error, Live, Right};

/// The first release that asks for `resourceclaims/binding`.
const BINDING_SINCE: u32 = 36;

/// Claims that are tried until one is not in the middle of a change.
const TRIALS: usize = 5;

/// Rights that are missing.
#[derive(Debug, thiserror::Error)]
#[error("{} may not {}", user.as_deref().map_or("the user".to_owned(), |user| format!("user `{user}`")), .missing.iter().map(ToString::to_string).collect::<Vec<_>>().join(", nor "))]
pub struct MissingRights {
    user: Option<String>,
    missing: BTreeSet<Right>,
}

impl MissingRights {
    /// What grants them, as a manifest.
    pub fn manifest(&self) -> String {
        let mut rules = BTreeSet::new();
        for right in &self.missing {
            rules.insert((right.target(), right.verb));
        }
        let mut text = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: kubectl-dra-convert\nrules:\n"
            .to_owned();
        for (target, verb) in rules {
            // Writing to a text does not fail.
            let _ = writeln!(
                text,
                "- apiGroups: [\"resource.k8s.io\"]\n  resources: [\"{target}\"]\n  verbs: [\"{verb}\"]"
            );
        }
        let user = self.user.as_deref().unwrap_or("USER");
        let _ = write!(
            text,
            "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata:\n  name: kubectl-dra-convert\n\
             roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: kubectl-dra-convert\nsubjects:\n\
             - apiGroup: rbac.authorization.k8s.io\n  kind: User\n  name: {}",
            serde_json::Value::from(user)
        );
        text
    }
}

/// What the tasks need: the status in each namespace, and who uses a claim in all at once. The API server asks its authorizers for
/// the latter without a namespace (`resourceclaim/strategy.go`, `AuthorizedForBinding`, v1.37.1), so a right in one is not enough.
fn wanted(environment: &Environment, tasks: &[Task]) -> BTreeSet<Right> {
    let right = |subresource: &'static str, namespace: &str| Right {
        verb: "patch",
        resource: "resourceclaims",
        subresource,
        namespace: namespace.to_owned(),
    };
    let mut rights = BTreeSet::new();
    for task in tasks {
        rights.insert(right("status", &task.key.namespace));
        if task.patch.releases() {
            rights.insert(right("", &task.key.namespace));
        }
    }
    let gate = environment.gate(
        Component::ApiServer,
        Gate::DRAResourceClaimGranularStatusAuthorization,
    );
    let known_off = !gate.enabled && gate.evidence.is_of_now();
    if !tasks.is_empty() && environment.emulated_minor >= BINDING_SINCE && !known_off {
        rights.insert(right("binding", ""));
    }
    rights
}

/// Asks for the rights, then lets the server try one of the writes without keeping it.
pub(super) async fn check(
    live: &Live,
    environment: &Environment,
    tasks: &[Task],
) -> Result<Result<(), MissingRights>, Error> {
    let mut missing = BTreeSet::new();
    let mut everywhere = BTreeMap::new();
    for right in wanted(environment, tasks) {
        // Who has a right in all namespaces is not asked about each of them.
        let anywhere = Right {
            namespace: String::new(),
            ..right.clone()
        };
        let has_all = match everywhere.get(&anywhere) {
            Some(known) => *known,
            None => {
                let allowed = live.allowed(&anywhere).await?;
                everywhere.insert(anywhere, allowed);
                allowed
            }
        };
        if !has_all && (right.namespace.is_empty() || !live.allowed(&right).await?) {
            missing.insert(right);
        }
    }
    if !missing.is_empty() {
        return Ok(Err(MissingRights {
            user: live.user_name().await,
            missing,
        }));
    }
    for task in tasks.iter().take(TRIALS) {
        match live.patch_claim(&task.key, &task.patch, true).await {
            // In the middle of a change, or gone: says nothing about rights.
            Err(Error::Refused { code: 404 | 409, .. }) => {}
            Err(Error::Refused { message, .. }) if lacks_binding(&message) => {
                let right = Right {
                    verb: "patch",
                    resource: "resourceclaims",
                    subresource: "binding",
                    namespace: String::new(),
                };
                return Ok(Err(MissingRights {
                    user: live.user_name().await,
                    missing: BTreeSet::from([right]),
                }));
            }
            // What passes by itself is for the writes to deal with.
            Ok(_)
            | Err(
                Error::Refused {
                    code: 429 | 500.., ..
                }
                | Error::Cut { .. }
                | Error::TimedOut { .. },
            ) => break,
            // A refusal of this one write; the others may be accepted.
            Err(Error::Refused { code: 422, .. }) => {}
            Err(Error::Refused {
                code: 403, message, ..
            }) if is_of_policy(&message) => {}
            // A webhook that would act all the same keeps every write from being tried, and none from being done.
            Err(Error::Refused {
                code: 400, message, ..
            }) if message.contains("does not support dry run") => break,
            Err(error) => return Err(error),
        }
    }
    Ok(Ok(()))
}
