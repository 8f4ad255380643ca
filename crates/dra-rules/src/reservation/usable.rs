//! Usability of a claim for the kubelet that starts a pod.

use super::{ClaimName, NotOwner, PodGroups, is_reserved_for};
use dra_model::{Claim, Component, Environment, Evidence, Gate, Pod, Str};

/// The reason why the kubelet does not give the devices of a claim to a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, derive_more::Display)]
pub enum Unusable {
    /// The claim was created for another owner.
    #[display("was created for another owner ({_0})")]
    NotOwned(NotOwner),
    /// The claim has no devices.
    #[display("is not allocated")]
    NotAllocated,
    /// The same, and the pod got its node without kube-scheduler, as with `spec.nodeName`.
    #[display("is not allocated")]
    Bypassed,
    /// The same, and this scheduler bound the pod, which does not allocate claims.
    #[display("is not allocated, as scheduler {_0} bound the pod without allocating its claim")]
    BoundBy(Str),
    /// The claim is reserved for other consumers, or for none.
    #[display("is not reserved for the pod")]
    NotReserved,
}

impl Unusable {
    /// Returns why `pod` cannot use `claim`, which it names as `name`. Mirrors `kubelet/cm/dra/manager.go`,
    /// `prepareResources`, v1.37.2.
    pub fn of(pod: &Pod, name: &ClaimName<'_>, claim: &Claim, groups: PodGroups) -> Option<Self> {
        if let Err(why) = name.may_use(claim, groups) {
            return Some(Self::NotOwned(why));
        }
        if claim.status.allocation.is_none() {
            return Some(Self::NotAllocated);
        }
        (!is_reserved_for(pod, claim, groups)).then_some(Self::NotReserved)
    }

    /// Returns what becomes of a pod with a node because of it, by whether it may run, as [`may_run`](super::may_run) has it. The kubelet prepares claims when it creates the sandbox of a pod, and not again:
    /// mirrors `kubelet/kuberuntime/kuberuntime_manager.go`, `SyncPod`, v1.37.2.
    pub fn consequence(&self, may_run: bool) -> &'static str {
        match (may_run, self) {
            (true, Self::NotReserved) => {
                "the pod keeps running until its sandbox is recreated, but its devices may be allocated to others"
            }
            (true, Self::NotAllocated | Self::BoundBy(_) | Self::Bypassed | Self::NotOwned(_)) => {
                "the pod keeps running until its sandbox is recreated"
            }
            (false, Self::NotReserved) => {
                "the kubelet does not start it, and its devices may be allocated to others"
            }
            (false, Self::Bypassed) => {
                "the kubelet does not start it. The pod was created with spec.nodeName, which bypasses kube-scheduler (no event of it is there), and only kube-scheduler allocates claims"
            }
            (false, Self::NotAllocated | Self::BoundBy(_) | Self::NotOwned(_)) => {
                "the kubelet does not start it"
            }
        }
    }
}

impl PodGroups {
    /// Returns how kubelets treat claims of PodGroups. Without evidence they are assumed to have the same gate as
    /// kube-scheduler, which reserves for groups.
    pub fn of_kubelets(environment: &Environment) -> Self {
        let gate = Gate::DRAWorkloadResourceClaims;
        let kubelet = environment.gate(Component::Kubelet, gate);
        let reserves = environment.enabled(Component::Scheduler, gate);
        if kubelet.enabled || (reserves && !kubelet.evidence.is_of_now()) {
            Self::Accepted
        } else {
            Self::Ignored
        }
    }

    /// Returns whether only traces in objects tell that kubelets know claims of PodGroups: those may be left over where no group is there.
    pub fn of_kubelets_is_guessed(environment: &Environment) -> bool {
        let gate = Gate::DRAWorkloadResourceClaims;
        let mut components = [Component::Kubelet, Component::Scheduler].into_iter();
        Self::of_kubelets(environment) == Self::Accepted
            && !components.any(|component| {
                let state = environment.gate(component, gate);
                state.enabled && !matches!(state.evidence, Evidence::Objects(_))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::super::claim_name;
    use super::super::testing::{claim, pod};
    use super::*;
    use dra_model::GateState;

    #[test]
    fn a_claim_has_to_be_allocated_and_reserved_for_the_pod() {
        let own = pod(r#"{"metadata":{"namespace":"n","name":"p","uid":"u"},
                "spec":{"nodeName":"a","resourceClaims":[{"name":"c","resourceClaimName":"c"}]}}"#);
        let entry = &own.spec.resource_claims[0];
        for (status, expected) in [
            ("{}", Some(Unusable::NotAllocated)),
            (r#"{"allocation":{}}"#, Some(Unusable::NotReserved)),
            (
                r#"{"allocation":{},"reservedFor":[{"resource":"pods","name":"p","uid":"earlier"}]}"#,
                Some(Unusable::NotReserved),
            ),
            (
                r#"{"allocation":{},"reservedFor":[{"resource":"pods","name":"p","uid":"u"}]}"#,
                None,
            ),
        ] {
            let text = format!(r#"{{"metadata":{{"namespace":"n","name":"c"}},"status":{status}}}"#);
            let name = claim_name(&own, entry).unwrap();
            let found = Unusable::of(&own, &name, &claim(&text), PodGroups::Accepted);
            assert_eq!(found, expected, "{status}");
        }
    }

    #[test]
    fn kubelets_are_not_accused_by_a_default() {
        let gate = Gate::DRAWorkloadResourceClaims;
        let set = |component, enabled| {
            let evidence = Evidence::Flag;
            (component, gate, GateState { enabled, evidence })
        };
        let scheduler = set(Component::Scheduler, true);
        let off = set(Component::Kubelet, false);
        for (gates, expected) in [
            (vec![], PodGroups::Ignored),
            (vec![scheduler.clone()], PodGroups::Accepted),
            (vec![scheduler, off], PodGroups::Ignored),
            (vec![set(Component::Kubelet, true)], PodGroups::Accepted),
        ] {
            let environment = Environment {
                gates,
                ..Environment::default()
            };
            assert_eq!(PodGroups::of_kubelets(&environment), expected);
        }
    }
}
