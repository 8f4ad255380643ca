//! Pods that have their node, and claims that have their devices: what may still keep one from running, and what the other holds.

use std::sync::Arc;

use super::report::{ClusterVerdict, Explanation, Holding, Reason};
use super::word;
use crate::model::{Claim, Cluster, Key, Kind, Pod, PodClaim, Str};
use crate::reservation::{ClaimName, ClaimNameError, PodGroups, Unusable, claim_name};

impl Holding {
    /// What `claim` holds, if it is allocated.
    pub(super) fn of(claim: &Claim) -> Option<Self> {
        claim.status.allocation.as_ref()?;
        let namespace = &claim.metadata.namespace;
        let consumer = |entry: &crate::model::ConsumerReference| {
            if entry.is_pod() {
                format!("pod/{namespace}/{}", entry.name)
            } else if entry.is_pod_group() {
                format!("podgroup/{namespace}/{}", entry.name)
            } else {
                entry.to_string()
            }
        };
        let selector = claim.status.allocation.as_ref()?.node_selector.as_ref();
        Some(Self {
            node: selector.and_then(|selector| selector.single_node()).cloned(),
            devices: claim
                .results()
                .iter()
                .map(|result| result.id().to_string())
                .collect(),
            consumers: claim.status.reserved_for.iter().map(consumer).collect(),
        })
    }

    fn text(&self) -> String {
        const NAMED: usize = 3;
        let names: Vec<&str> = self
            .devices
            .iter()
            .map(|device| device.rsplit('/').next().unwrap_or(device))
            .collect();
        let devices = match names.as_slice() {
            [] => "no device".to_owned(),
            all if all.len() <= NAMED => all.join(", "),
            all => format!("{} and {} more", all[..NAMED].join(", "), all.len() - NAMED),
        };
        let consumers = match self.consumers.as_slice() {
            [] => "nobody: it is idle".to_owned(),
            all => {
                let named: Vec<&str> = all.iter().take(NAMED).map(String::as_str).collect();
                match all.len() - named.len() {
                    0 => named.join(", "),
                    rest => format!("{} and {rest} more", named.join(", ")),
                }
            }
        };
        let place = self
            .node
            .as_ref()
            .map_or_else(String::new, |node| format!(" on {node}"));
        format!("allocated{place} ({devices}), used by {consumers}")
    }
}

impl Explanation {
    /// Says of a claim that has its devices what it holds rather than where it would fit.
    pub(super) fn hold(&mut self, claim: &Claim) {
        self.holds = Holding::of(claim);
        if let Some(holds) = &self.holds
            && self.verdict == ClusterVerdict::Fits
        {
            let text = holds.text();
            self.conclude(ClusterVerdict::Allocated, text);
        }
    }
}

/// Says of a pod that has its node what may still keep its devices from it.
pub(super) fn bound(report: &mut Explanation, cluster: &Cluster, pod: &Arc<Pod>, node: &Str) {
    report.conclude(ClusterVerdict::Bound, format!("the pod is bound to {node}"));
    let groups = PodGroups::of_kubelets(cluster.environment());
    let own = pod.spec.resource_claims.iter();
    let own = own.map(|entry| {
        (
            claim_name(pod, entry),
            entry.resource_claim_template_name.as_ref(),
        )
    });
    let extended = ClaimName::of_extended_resources(pod).map(|name| (Ok(name), None));
    // Without PodGroups it is not known whether traces of them are left over.
    let unread_groups = cluster
        .gap(Kind::PodGroup, "")
        .filter(|_| PodGroups::of_kubelets_is_guessed(cluster.environment()));
    let mut unread = None;
    for (name, template) in own.chain(extended) {
        let name = match name {
            Ok(name) => name,
            Err(why) => {
                let reasons = uncreated(cluster, pod, &why, template);
                report.reasons.extend(reasons);
                continue;
            }
        };
        let Some(key) = name.key() else { continue };
        match cluster.claim(&key) {
            Some(claim) => {
                let reason = unusable(pod, &name, claim, groups);
                if reason.is_none() && unusable(pod, &name, claim, PodGroups::Ignored).is_some() {
                    unread = unread.or(unread_groups);
                }
                report.reasons.extend(reason);
            }
            None => match cluster.gap(Kind::ResourceClaim, &key.namespace) {
                Some(gap) => unread = Some(gap),
                None => {
                    let text = format!("claim/{key} not found");
                    report.reasons.push(Reason::plain("ClaimMissing", text));
                }
            },
        }
    }
    if let Some(first) = report.reasons.first() {
        let summary = format!("the pod is bound to {node}, but {}", first.message);
        report.conclude(ClusterVerdict::Broken, summary);
    } else if let Some(gap) = unread {
        report.tell_unknown(gap);
        let kinds = gap.kind.plural();
        report.conclude(
            ClusterVerdict::Unknown,
            format!("the pod is bound to {node}; whether it has its devices is not known without {kinds}"),
        );
    } else {
        word::of_kubelet(report, cluster, pod, node);
    }
}

/// Why there is no claim for an entry of the pod. The scheduler, which would have waited for it, was passed by.
fn uncreated(cluster: &Cluster, pod: &Pod, why: &ClaimNameError, template: Option<&Str>) -> Vec<Reason> {
    let mut reasons = vec![Reason::plain("ClaimNotCreated", why.to_string())];
    if let Some(template) = template.map(|template| pod.metadata.beside(template))
        && is_missing(cluster, &template)
    {
        reasons.insert(0, template_missing(&template, &pod.key()));
    }
    reasons
}

fn is_missing(cluster: &Cluster, template: &Key) -> bool {
    let kind = Kind::ResourceClaimTemplate;
    cluster.template(template).is_none() && cluster.gap(kind, &template.namespace).is_none()
}

/// That there is no template for claims of the pod.
pub(super) fn template_missing(template: &Key, pod: &Key) -> Reason {
    let text =
        format!("resource claim template {template} not found, from which claims of pod/{pod} are made");
    Reason::plain("TemplateMissing", text)
}

/// The template of the first of `entries` whose template does not exist.
pub(super) fn missing_template<'e>(
    cluster: &Cluster,
    pod: &Pod,
    entries: impl IntoIterator<Item = &'e PodClaim>,
) -> Option<Key> {
    let names = entries.into_iter();
    let mut keys = names
        .filter_map(|entry| entry.resource_claim_template_name.as_ref())
        .map(|name| pod.metadata.beside(name));
    keys.find(|key| is_missing(cluster, key))
}

/// Why the pod cannot use the claim, as a reason.
fn unusable(pod: &Pod, name: &ClaimName<'_>, claim: &Claim, groups: PodGroups) -> Option<Reason> {
    let why = Unusable::of(pod, name, claim, groups)?;
    let code = match why {
        Unusable::NotOwned(_) => "ClaimNotOwned",
        Unusable::NotAllocated => "NotAllocated",
        Unusable::NotReserved => "NotReserved",
    };
    let text = format!("claim/{} {why}: {}", claim.key(), Unusable::consequence(pod));
    Some(Reason::plain(code, text))
}
