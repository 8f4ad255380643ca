//! Recognition of objects by their own fields: of a known kind, of another kind, or not an object.
//!
//! A kind that differs from a known one only in its spelling is no other kind: leaving it out in silence would make a verdict of
//! what is left. The same goes for answers of a server that are no objects, such as tables and errors.

use super::bundle::is_info;
use super::decode::group_version;
use dra_model::Kind;

/// Recognized object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Recognized<'a> {
    /// Of a kind that the model holds, written in this group and version.
    Known {
        /// The kind.
        kind: Kind,
        /// Its API group.
        group: &'a str,
        /// The version, which may be one that is not read.
        version: &'a str,
    },
    /// Metadata of a snapshot.
    Info,
    /// Of a kind that decides nothing about devices.
    Other,
    /// Not understood.
    Unclear {
        /// The kind that is most likely meant; any kind can be meant without it.
        kind: Option<Kind>,
        /// The problem.
        why: String,
    },
}

/// Returns what an object with this `apiVersion` and `kind` is.
pub(crate) fn recognize<'a>(api_version: Option<&'a str>, kind: Option<&str>) -> Recognized<'a> {
    let Some(name) = kind.filter(|kind| !kind.is_empty()) else {
        return unclear(None, "has no `kind`".to_owned());
    };
    let Some(api_version) = api_version.filter(|version| !version.is_empty()) else {
        return unclear(meant(name), "has no `apiVersion`".to_owned());
    };
    let (group, version) = group_version(api_version);
    if let Some(kind) = Kind::find(group, name) {
        return Recognized::Known { kind, group, version };
    }
    if is_info(api_version, name) {
        return Recognized::Info;
    }
    let plain = plain_group(group);
    let meant = meant(name).filter(|kind| is_near(&plain, kind.group()));
    if let Some(kind) = meant {
        let right = qualified(kind);
        return unclear(
            Some(kind),
            format!("unknown kind `{name}` of `{api_version}`; did you mean {right}?"),
        );
    }
    if !is_kind(name) || !is_api_version(api_version) {
        return unclear(None, format!("invalid kind `{name}` of `{api_version}`"));
    }
    answer(&plain, name, api_version).unwrap_or(Recognized::Other)
}

/// The kind whose objects a list of this `apiVersion` and `kind` holds, if it is one of a single kind that the model holds.
pub(crate) fn listed(api_version: Option<&str>, kind: Option<&str>) -> Option<Kind> {
    let (group, _) = group_version(api_version?);
    Kind::find(group, kind?.strip_suffix("List")?)
}

fn unclear(kind: Option<Kind>, why: String) -> Recognized<'static> {
    Recognized::Unclear { kind, why }
}

/// Returns what a server, or kubectl, answers with that is no object.
fn answer(group: &str, name: &str, api_version: &str) -> Option<Recognized<'static>> {
    if group == "meta.k8s.io" {
        let why = format!("is a {name}, which does not contain the objects; use JSON or YAML");
        return Some(unclear(None, why));
    }
    let of_core = group.is_empty();
    if of_core && name == "Status" {
        let why = "is a response of the API server, possibly an error, not an object".to_owned();
        return Some(unclear(None, why));
    }
    let item = name.strip_suffix("List")?;
    if of_core && item.is_empty() {
        return Some(unclear(None, "is a list without `items`".to_owned()));
    }
    let kind = match recognize(Some(api_version), Some(item)) {
        Recognized::Known { kind, .. } => kind,
        Recognized::Unclear { kind, .. } => kind?,
        Recognized::Info | Recognized::Other => return None,
    };
    Some(unclear(
        Some(kind),
        format!("is a list of {} without `items`", kind.plural()),
    ))
}

/// The kind that `name` is a misspelling of: in another case, in plural, with blanks or hyphens.
fn meant(name: &str) -> Option<Kind> {
    let letters: String = name.chars().filter(|letter| letter.is_alphanumeric()).collect();
    Kind::all()
        .find(|kind| letters.eq_ignore_ascii_case(kind.name()) || letters.eq_ignore_ascii_case(kind.plural()))
}

fn plain_group(group: &str) -> String {
    group.trim().to_ascii_lowercase()
}

/// Returns whether an object of `group`, which is not `known`, can only be one of `known`. Custom resources live in domains of their own and
/// may have kinds of the same name; groups without a dot and those of `k8s.io` are Kubernetes' own, and have no second such kind.
fn is_near(group: &str, known: &str) -> bool {
    group == known || !group.contains('.') || group.ends_with(".k8s.io")
}

/// Returns whether Kubernetes accepts this as a kind.
fn is_kind(name: &str) -> bool {
    name.len() <= 253
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_api_version(text: &str) -> bool {
    text.matches('/').count() <= 1
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'/'))
}

fn qualified(kind: Kind) -> String {
    format!("{kind} of {}", kind.api_version(kind.versions()[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(api_version: &str, kind: &str) -> Recognized<'static> {
        let api_version: &'static str = api_version.to_owned().leak();
        recognize(Some(api_version), Some(kind))
    }

    /// The kinds that may be meant where it is not understood.
    fn gap(api_version: &str, kind: &str) -> Vec<Kind> {
        match of(api_version, kind) {
            Recognized::Unclear { kind, .. } => kind.map_or_else(|| Kind::all().collect(), |kind| vec![kind]),
            _ => Vec::new(),
        }
    }

    #[test]
    fn a_misspelled_kind_is_a_problem_of_that_kind() {
        for (api_version, kind, meant) in [
            ("v1", "pod", Kind::Pod),
            ("v1", "Pods", Kind::Pod),
            ("v1", "POD", Kind::Pod),
            ("v1", "Pod ", Kind::Pod),
            ("resource.k8s.io/v1", "resourceclaim", Kind::ResourceClaim),
            ("resource.k8s.io/v1", "ResourceClaims", Kind::ResourceClaim),
            ("resource.k8s.io/v1", "resource-claim", Kind::ResourceClaim),
            ("Resource.K8s.IO/v1", "ResourceClaim", Kind::ResourceClaim),
            (" resource.k8s.io/v1", "ResourceSlice", Kind::ResourceSlice),
            ("v1", "ResourceClaim", Kind::ResourceClaim),
            ("apps/v1", "Pod", Kind::Pod),
            ("resources.k8s.io/v1", "ResourceClaim", Kind::ResourceClaim),
            ("v1", "PodList", Kind::Pod),
            ("v1", "podList", Kind::Pod),
            ("resource.k8s.io/v1", "ResourceClaimList", Kind::ResourceClaim),
        ] {
            assert_eq!(gap(api_version, kind), [meant], "{kind} of {api_version}");
        }
    }

    #[test]
    fn what_is_no_object_is_a_problem_of_every_kind() {
        for (api_version, kind) in [
            ("v1", "List"),
            ("v1", "Status"),
            ("meta.k8s.io/v1", "Table"),
            ("meta.k8s.io/v1", "PartialObjectMetadata"),
            ("meta.k8s.io/v1", "PartialObjectMetadataList"),
            ("v1", "\u{3a1}od"),
            ("v1", "P od x"),
            ("a/b/c", "Thing"),
        ] {
            assert_eq!(
                gap(api_version, kind).len(),
                Kind::COUNT,
                "{kind} of {api_version}"
            );
        }
        for (api_version, kind) in [
            (None, None),
            (Some("v1"), None),
            (Some("v1"), Some("")),
            (None, Some("Thing")),
        ] {
            let found = recognize(api_version, kind);
            assert!(
                matches!(found, Recognized::Unclear { kind: None, .. }),
                "{found:?}"
            );
        }
        let found = recognize(None, Some("Pod"));
        assert!(
            matches!(
                found,
                Recognized::Unclear {
                    kind: Some(Kind::Pod),
                    ..
                }
            ),
            "{found:?}"
        );
    }

    #[test]
    fn other_kinds_are_no_problems() {
        for (api_version, kind) in [
            ("v1", "ConfigMap"),
            ("apps/v1", "Deployment"),
            ("resource.k8s.io/v1alpha3", "PodSchedulingContext"),
            ("scheduling.x-k8s.io/v1alpha1", "PodGroup"),
            ("scheduling.volcano.sh/v1beta1", "PodGroup"),
            ("kueue.x-k8s.io/v1beta1", "Workload"),
            ("example.com/v1", "pod"),
            ("example.com/v1", "AllowList"),
            ("metrics.k8s.io/v1beta1", "PodMetrics"),
            ("resource.example.com/v1", "ResourceClaim"),
        ] {
            assert_eq!(
                of(api_version, kind),
                Recognized::Other,
                "{kind} of {api_version}"
            );
        }
    }

    #[test]
    fn known_kinds_keep_their_version_and_lists_say_what_they_hold() {
        assert_eq!(
            of("resource.k8s.io/v9", "ResourceClaim"),
            Recognized::Known {
                kind: Kind::ResourceClaim,
                group: "resource.k8s.io",
                version: "v9"
            }
        );
        assert_eq!(of("dra.kubectl.io/v1", "SnapshotInfo"), Recognized::Info);
        assert_eq!(listed(Some("v1"), Some("PodList")), Some(Kind::Pod));
        assert_eq!(listed(Some("v1"), Some("List")), None);
        assert_eq!(listed(None, Some("PodList")), None);
        assert_eq!(listed(Some("apps/v1"), Some("PodList")), None);
    }
}
