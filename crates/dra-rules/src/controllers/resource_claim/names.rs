//! Names of claims that are made from templates, and the claims themselves.

use std::sync::Arc;

use super::{ClaimWrite, Features, Owner, Stop};
use crate::controllers::work::made_for;
use crate::reservation::claim_of_template;
use dra_model::{Claim, ClaimTemplate, Cluster, Key, Object, Str};

/// Room for a hyphen and the 5 characters that the API server adds, in a name of 63.
const LONGEST_BASE: usize = 57;

/// Returns what the name of a claim begins with that is made for `entry` of the pod or group `owner`. The API server adds 5 characters.
///
/// Mirrors `controller.go`, `handleClaim`, v1.37.2: where both together are too long, both are cut, in proportion, and no hyphen
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

/// Characters that the API server puts at the end of generated names. Mirrors apimachinery `util/rand/rand.go`, `alphanums`, v0.37.1:
/// no vowels and no digits that look like them, so that no words come out.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// Their number.
const SUFFIX: usize = 5;

/// The claim to create for `entry` of `owner`, whose status names the claim `replaced` so far, which is not the right one.
pub(super) fn from_template(
    cluster: &Cluster,
    features: Features,
    owner: &Owner,
    entry: &Str,
    template: &Str,
    replaced: &Str,
) -> Result<ClaimWrite, Stop> {
    let key = Key::new(owner.key.namespace.clone(), template.clone());
    let Some(template) = cluster.template(&key) else {
        return Err(Stop::Retry(format!(
            "resource claim template \"{template}\": resourceclaimtemplate.resource.k8s.io \"{template}\" not found"
        )));
    };
    check_features(template, features)?;
    let base = generated_name_base(&owner.key.name, entry);
    let name = free_name(cluster, owner, entry, replaced, &base);
    let key = Key::new(owner.key.namespace.clone(), name);
    let by = (owner.kind, &owner.key.name, &owner.uid);
    let mut claim = claim_of_template(template, key, entry, by);
    claim.metadata.generate_name = base.into();
    Ok(ClaimWrite::Create {
        claim: Arc::new(claim),
        template: Arc::clone(template),
    })
}

/// The name of a new claim. It depends only on the claim's purpose, so that a second attempt to create the same claim
/// finds the first. A name of another claim is skipped.
fn free_name(cluster: &Cluster, owner: &Owner, entry: &str, replaced: &str, base: &str) -> Str {
    let name = |attempt: u32| format!("{base}{}", suffix(&owner.uid, entry, replaced, attempt));
    let is_free = |name: &String| {
        let key = Key::new(owner.key.namespace.clone(), Str::from(name.as_str()));
        // The kubelet refuses a claim of the name of an earlier one.
        cluster.claim(&key).is_none() && name != replaced
    };
    let mut names = (0..).map(name);
    // No cluster has as many claims as there are attempts.
    names.find(is_free).unwrap_or_default().into()
}

/// Number of taken names after which an entry is treated as another writer's.
const ATTEMPTS: u32 = 8;

/// Returns whether the claim was made for an entry under a name that these rules do not give. Other writers have random
/// ones. A name can depend on an earlier claim, which only the status of the owner shows: without the owner the answer
/// is unknown.
pub fn is_made_elsewhere(cluster: &Cluster, claim: &Claim) -> bool {
    let Some((owner, entry)) = made_for(claim) else {
        return false;
    };
    let base = generated_name_base(&owner.key.name, &entry);
    let Some(end) = claim.metadata.name.strip_prefix(&base) else {
        return true;
    };
    let known = cluster.get(owner.kind, &owner.key);
    let statuses = match known.filter(|known| known.metadata().uid == owner.uid) {
        Some(Object::Pod(pod)) => pod.status.resource_claim_statuses.as_slice(),
        Some(Object::PodGroup(group)) => group.status.resource_claim_statuses.as_slice(),
        _ => return false,
    };
    let named = statuses.iter().filter(|status| status.name == entry);
    let named = named.filter_map(|status| status.resource_claim_name.as_deref());
    let mut replaced = std::iter::once("").chain(named);
    !replaced
        .any(|replaced| (0..ATTEMPTS).any(|attempt| suffix(&owner.uid, &entry, replaced, attempt) == end))
}

fn suffix(uid: &str, entry: &str, replaced: &str, attempt: u32) -> String {
    // FNV-1a, which is the same for every build and machine. No text has the byte between them.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let attempt = attempt.to_string();
    for text in [uid, entry, replaced, &attempt] {
        for byte in text.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    let letters = ALPHABET.len() as u64;
    let mut suffix = String::with_capacity(SUFFIX);
    for _ in 0..SUFFIX {
        suffix.push(char::from(ALPHABET[usize::try_from(hash % letters).unwrap_or(0)]));
        hash /= letters;
    }
    suffix
}

fn check_features(template: &ClaimTemplate, features: Features) -> Result<(), Stop> {
    let requests = || template.spec.spec.devices.requests.iter();
    if template.spec.spec.asks_for_admin_access() && !features.admin_access {
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
    fn a_name_depends_on_the_purpose_of_the_claim() {
        let known = suffix("uid", "gpu", "", 0);
        assert_eq!(known.len(), SUFFIX);
        assert!(known.bytes().all(|letter| ALPHABET.contains(&letter)), "{known}");
        assert_eq!(known, suffix("uid", "gpu", "", 0));
        let others = [
            suffix("uie", "gpu", "", 0),
            suffix("uid", "gpv", "", 0),
            suffix("uid", "gp", "u", 0),
            suffix("uid", "gpu", "", 1),
        ];
        for other in others {
            assert_ne!(known, other);
        }
        // Spread over what there is: of 2,000 names some dozen would meet by chance in a tenth of the space.
        let names: std::collections::BTreeSet<_> = (0..2000)
            .map(|pod| suffix(&format!("uid-{pod}"), "gpu", "", 0))
            .collect();
        assert!(names.len() > 1995, "{}", names.len());
    }

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
