//! Clients that still write through API versions which a release on the way does not serve.

use std::collections::{BTreeMap, BTreeSet};

use super::Upgrade;
use super::words;
use crate::findings::finding::Subject;
use crate::findings::{Code, Finding, Look};
use dra_model::{Kind, Str, Time};

/// The first minor release that does not serve objects of `kind` in this version. Mirrors `api/resource/*/zz_generated.prerelease-lifecycle.go`
/// and the same of `api/scheduling`, `APILifecycleRemoved`, v0.37.1; `scheduling.k8s.io/v1alpha1` and `v1alpha2` were replaced earlier.
pub(super) fn removed_in(kind: Kind, api_version: &str) -> Option<u32> {
    Some(match (kind, api_version) {
        (Kind::DeviceTaintRule, "resource.k8s.io/v1alpha3") => 39,
        (Kind::DeviceTaintRule, "resource.k8s.io/v1beta2") => 42,
        (_, "resource.k8s.io/v1alpha3") => 34,
        (_, "resource.k8s.io/v1beta1") => 38,
        (_, "resource.k8s.io/v1beta2") => 39,
        (_, "scheduling.k8s.io/v1alpha1") => 36,
        (_, "scheduling.k8s.io/v1alpha2") => 37,
        _ => return None,
    })
}

/// Components of Kubernetes, which write through the versions of their own release.
const OWN: [&str; 4] = [
    "kube-apiserver",
    "kube-scheduler",
    "kube-controller-manager",
    "kubelet",
];

/// What a manager has written in one version.
#[derive(Default)]
struct Written {
    objects: BTreeSet<String>,
    last: Option<Time>,
}

pub(super) fn look(look: &mut Look<'_>, upgrade: &Upgrade) {
    if !look.wants(Code::ApiVersion) {
        return;
    }
    let mut objects = Code::ApiVersion
        .facts()
        .needs
        .iter()
        .flat_map(|kind| look.cluster.objects(*kind))
        .peekable();
    let is_asked = objects.peek().is_some();
    if is_asked && !objects.any(|object| object.metadata().managed.is_known) {
        look.found.unknown.add(words::NO_MANAGED_FIELDS.to_owned());
        return;
    }
    let mut found: BTreeMap<(&Str, &Str, u32), Written> = BTreeMap::new();
    for kind in Code::ApiVersion.facts().needs {
        for object in look.cluster.objects(*kind) {
            let metadata = object.metadata();
            for writer in metadata.managed.old_writers() {
                let Some(minor) =
                    removed_in(*kind, &writer.api_version).filter(|minor| upgrade.passes(*minor))
                else {
                    continue;
                };
                if OWN.contains(&writer.manager.as_str()) {
                    continue;
                }
                let written = found
                    .entry((&writer.manager, &writer.api_version, minor))
                    .or_default();
                written.objects.insert(Subject::of(*kind, metadata).to_string());
                written.last = written.last.max(writer.time);
            }
        }
    }
    let findings = found.into_iter().map(|((manager, version, minor), written)| {
        let message = words::old_writer(minor, version, &written.objects, written.last);
        Finding::new(Code::ApiVersion, Subject::manager(manager), message)
            .order(upgrade.step(minor))
            .advice(words::upgrade_writer(manager))
    });
    look.add_all(findings);
}
