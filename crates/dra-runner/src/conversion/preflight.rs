//! Checks before anything is written: permissions, and whether a write would be accepted.

use std::collections::{BTreeMap, BTreeSet};

use super::step::lacks_binding;
use super::task::Task;
use dra_model::{Environment, Kind};
use dra_rules::reservation::asks_for_binding;
use dra_rules::validation::is_of_policy;
use dra_sources::live::{Error, Live, Right};

/// Claims that are tried until one is not in the middle of a change.
const TRIALS: usize = 5;

fn right(subresource: &'static str, namespace: &str) -> Right {
    Right {
        namespace: namespace.to_owned(),
        ..Right::of("patch", Kind::ResourceClaim, subresource)
    }
}

/// Returns the permissions that the tasks need: the status in each namespace, and the binding in all namespaces. The
/// API server asks its authorizers for the latter without a namespace (`resourceclaim/strategy.go`,
/// `AuthorizedForBinding`, v1.37.2), so a right in one is not enough.
fn wanted(environment: &Environment, tasks: &[Task]) -> BTreeSet<Right> {
    let mut rights = BTreeSet::new();
    for task in tasks {
        rights.insert(right("status", &task.key.namespace));
        if task.patch.releases() {
            rights.insert(right("", &task.key.namespace));
        }
    }
    if !tasks.is_empty() && asks_for_binding(environment) {
        rights.insert(right("binding", ""));
    }
    rights
}

/// Asks for the rights, then lets the server try one of the writes without keeping it.
pub(super) async fn check(
    live: &Live,
    environment: &Environment,
    tasks: &[Task],
) -> Result<(), super::Error> {
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
    if let Some(missing) = live.lacks(missing).await? {
        return Err(missing.into());
    }
    for task in tasks.iter().take(TRIALS) {
        let Err(error) = live.patch_claim(&task.key, &task.patch, true).await else {
            break;
        };
        match error.refusal() {
            // Being changed or deleted: no evidence about permissions.
            Some((404 | 409, _)) => {}
            Some((_, message)) if lacks_binding(message) => {
                let missing = live.lacks(BTreeSet::from([right("binding", "")])).await?;
                return missing.map_or(Ok(()), |missing| Err(missing.into()));
            }
            // Temporary conditions are handled by the writes.
            Some((429 | 500.., _)) => break,
            None if matches!(error, Error::Cut { .. } | Error::TimedOut { .. }) => break,
            // A refusal of this one write; the others may be accepted.
            Some((422, _)) => {}
            Some((403, message)) if is_of_policy(message) => {}
            // A webhook that would act all the same keeps every write from being tried, and none from being done.
            Some((400, message)) if message.contains("does not support dry run") => break,
            _ => return Err(error.into()),
        }
    }
    Ok(())
}
