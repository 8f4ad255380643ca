//! Names of claims that are made from templates, and the claims themselves.

use std::sync::Arc;

use super::{ENTRY_ANNOTATION, Features, Owner, Stop};
use crate::model::{Claim, ClaimTemplate, Cluster, Key, Kind, Meta, OwnerReference, Str};

/// Room for a hyphen and the 5 characters that the API server adds, in a name of 63.
const LONGEST_BASE: usize = 57;

/// What the name of a claim begins with that is made for `entry` of the pod or group `owner`. The API server adds 5 characters.
///
/// Mirrors `controller.go`, `handleClaim`, v1.37.1: where both together are too long, both are cut, in proportion, and no hyphen
/// follows.
pub fn generated_name_base(owner: &str, entry: &str) -> String {
    let base = format!("{owner}-{entry}-");
    if base.len() <= LONGEST_BASE {
        return base;
    }
    let cut = |text: &str| -> String {
        let length = text.len() * LONGEST_BASE / base.len();
        // Names are ASCII; others are not cut in the middle of a character.
        text.char_indices()
            .take_while(|(at, c)| at + c.len_utf8() <= length)
            .map(|(_, c)| c)
            .collect()
    };
    format!("{}-{}", cut(owner), cut(entry))
}

/// The claim to create for `entry` of `owner`.
pub(super) fn from_template(
    cluster: &Cluster,
    features: Features,
    owner: &Owner,
    entry: &Str,
    template: &Str,
) -> Result<Arc<Claim>, Stop> {
    let key = Key::new(owner.key.namespace.clone(), template.clone());
    let Some(template) = cluster.template(&key) else {
        return Err(Stop::Retry(format!(
            "resource claim template \"{template}\": resourceclaimtemplate.resource.k8s.io \"{template}\" not found"
        )));
    };
    check_features(template, features)?;
    let made = &template.spec.metadata;
    let mut annotations: Vec<_> = made
        .annotations
        .iter()
        .filter(|(key, _)| key != ENTRY_ANNOTATION)
        .cloned()
        .collect();
    annotations.push((ENTRY_ANNOTATION.into(), entry.clone()));
    annotations.sort();
    let (api_version, kind) = match owner.kind {
        Kind::Pod => ("v1", "Pod"),
        _ => ("scheduling.k8s.io/v1beta1", "PodGroup"),
    };
    Ok(Arc::new(Claim {
        metadata: Meta {
            namespace: owner.key.namespace.clone(),
            generate_name: Some(generated_name_base(&owner.key.name, entry).into()),
            labels: made.labels.clone(),
            annotations,
            owner_references: vec![OwnerReference {
                api_version: api_version.into(),
                kind: kind.into(),
                name: owner.key.name.clone(),
                uid: owner.uid.clone(),
                controller: true,
            }],
            ..Meta::default()
        },
        spec: template.spec.spec.clone(),
        ..Claim::default()
    }))
}

fn check_features(template: &ClaimTemplate, features: Features) -> Result<(), Stop> {
    let requests = || template.spec.spec.devices.requests.iter();
    let admin = requests().any(|request| {
        let exactly = request.exactly.as_ref();
        exactly.is_some_and(|exactly| exactly.admin_access == Some(true))
    });
    if admin && !features.admin_access {
        return Err(Stop::Retry(
            "admin access is requested, but the feature is disabled".to_owned(),
        ));
    }
    if !features.prioritized_list && requests().any(|request| !request.first_available.is_empty()) {
        return Err(Stop::Retry(
            "template includes a prioritized list of subrequests, but the feature is disabled".to_owned(),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_in_proportion() {
        assert_eq!(generated_name_base("pod", "gpu"), "pod-gpu-");
        let fits = "p".repeat(51);
        assert_eq!(generated_name_base(&fits, "gpu").len(), 56);
        let long = "p".repeat(60);
        // 66 characters are too many: 60*57/66 = 51 and 4*57/66 = 3.
        assert_eq!(
            generated_name_base(&long, "gpus"),
            format!("{}-gpu", "p".repeat(51))
        );
        assert_eq!(
            generated_name_base(&"ü".repeat(40), "x"),
            format!("{}-", "ü".repeat(27))
        );
    }
}
