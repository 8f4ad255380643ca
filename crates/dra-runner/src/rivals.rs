//! Detects another controller that does the same work.

use std::collections::HashSet;

use super::preflight::Rival;
use dra_model::{Change, Claim, Key, Kind, Object, Str, Time};
use dra_rules::controllers::{ClaimWrite, ControllerName, Engine, Owner, Work, is_made_elsewhere, is_marked};

/// Tells the writes of this replica from those of rivals.
#[derive(Default)]
pub(super) struct Rivals {
    /// UIDs of pods that it has begun to evict and that are still there.
    evicted: HashSet<Str>,
    /// Claims that it has begun to make and that no watch has shown yet.
    made: HashSet<Key>,
    /// Start of the time in which only this replica may write, by the API server's clock.
    pub(super) alone_from: Option<Time>,
}

impl Rivals {
    /// Takes note of what is about to be written.
    pub(super) fn begins(&mut self, work: &Work) {
        match work {
            Work::Evict { pod, .. } => _ = self.evicted.insert(pod.uid.clone()),
            Work::Carry(plan) => {
                let created = plan.writes.iter().filter_map(|write| match write {
                    ClaimWrite::Create { claim, .. } => Some(claim.key()),
                    _ => None,
                });
                self.made.extend(created);
            }
            _ => {}
        }
    }

    /// The rival that made the change, and the object that it wrote.
    pub(super) fn rival(
        &mut self,
        engine: &Engine,
        works: impl Fn(ControllerName) -> bool,
        change: &Change,
    ) -> Option<(Rival, Owner)> {
        let cluster = engine.cluster();
        let beside = |name, word, kind, key: Key, uid: &Str| {
            let object = format!("{word}/{key}");
            let uid = uid.clone();
            works(name).then_some((Rival::Beside { name, object }, Owner { kind, key, uid }))
        };
        match change {
            Change::Put(Object::ResourceClaim(claim)) => {
                // By now its owner may name another one, or be gone, so that nothing else shows whose name it is.
                if self.made.remove(&claim.key()) {
                    return None;
                }
                let known = cluster.claim(&claim.key());
                let (name, kind) = (ControllerName::ResourceClaim, Kind::ResourceClaim);
                let uid = &claim.metadata.uid;
                if known.is_none() && is_made_elsewhere(cluster, claim) {
                    return beside(name, "claim", kind, claim.key(), uid);
                }
                if known.is_some_and(|known| self.was_set_by_built_in(known, claim)) {
                    return beside(name, "the status of claim", kind, claim.key(), uid);
                }
            }
            Change::Put(Object::Pod(pod)) => {
                let known = cluster.pod(&pod.key())?;
                let is_new = known.metadata.uid == pod.metadata.uid && !is_marked(known) && is_marked(pod);
                if is_new && !self.evicted.contains(&pod.metadata.uid) {
                    let name = ControllerName::DeviceTaintEviction;
                    return beside(name, "pod", Kind::Pod, pod.key(), &pod.metadata.uid);
                }
            }
            Change::Delete(Kind::ResourceClaim, key) => _ = self.made.remove(key),
            Change::Delete(Kind::Pod, key) => {
                if let Some(pod) = cluster.pod(key) {
                    self.evicted.remove(&pod.metadata.uid);
                }
            }
            _ => {}
        }
        None
    }

    /// Reports whether kube-controller-manager has written the status of a claim since it was known, and since it may not. A reservation
    /// that it adds stands under its name; one that it removes leaves no trace of it. The change has to be seen as well, as the clocks of
    /// several API servers need not agree.
    fn was_set_by_built_in(&self, known: &Claim, claim: &Claim) -> bool {
        let (before, after) = (
            known.metadata.managed.status_set_by_built_in,
            claim.metadata.managed.status_set_by_built_in,
        );
        let is_later = |from: Time| after.is_some_and(|at| i64::from(at.get()) > from.unix_seconds());
        known.metadata.uid == claim.metadata.uid && after > before && self.alone_from.is_some_and(is_later)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use dra_model::{ClusterBuilder, Environment};
    use dra_rules::controllers::{Answer, Deviations, Features, Origin, Outcome, ResourceClaims};

    fn at(second: i64) -> Time {
        Time::from_unix_seconds(second)
    }

    fn object(kind: Kind, json: &Value) -> Object {
        Object::from_json(kind, json.to_string().as_bytes()).unwrap()
    }

    fn pod(named: Option<&str>) -> Object {
        let statuses: Vec<Value> = named
            .iter()
            .map(|named| json!({"name": "gpu", "resourceClaimName": named}))
            .collect();
        object(
            Kind::Pod,
            &json!({"metadata": {"namespace": "n", "name": "p", "uid": "p", "resourceVersion": "5"},
                "spec": {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]},
                "status": {"resourceClaimStatuses": statuses}}),
        )
    }

    fn claim(name: &str) -> Change {
        let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "p", "controller": true});
        Change::Put(object(
            Kind::ResourceClaim,
            &json!({"metadata": {"namespace": "n", "name": name, "uid": name, "resourceVersion": "6",
                "annotations": {"resource.kubernetes.io/pod-claim-name": "gpu"}, "ownerReferences": [owner]}}),
        ))
    }

    /// The engine of a pod whose claim is gone, what it does about that, and the name of the claim that it makes.
    fn replacing() -> (Engine, Rivals, String) {
        let mut builder = ClusterBuilder::default();
        builder.add(pod(Some("p-gpu-bbbbb")));
        builder.add(object(
            Kind::ResourceClaimTemplate,
            &json!({"metadata": {"namespace": "n", "name": "t", "uid": "t"}, "spec": {"spec": {}}}),
        ));
        let cluster = builder.build(Environment::default()).0;
        let features = Features {
            deviations: Deviations::ON,
            ..Features::of(cluster.environment())
        };
        let claims = ResourceClaims::start(&cluster, features);
        let mut engine = Engine::new(cluster, Some(claims), None);
        let asks = engine.next(at(0)).unwrap();
        let Work::Look(lookups) = asks.work else {
            panic!("{:?}", asks.work);
        };
        let absent = |lookup| (lookup, Answer::Absent);
        let answers = lookups.into_iter().map(absent).collect();
        engine.done(asks.id, Outcome::Answers(answers), at(0));
        let makes = engine.next(at(0)).unwrap();
        let Work::Carry(plan) = &makes.work else {
            panic!("{:?}", makes.work);
        };
        let Some(ClaimWrite::Create { claim, .. }) = plan.writes.first() else {
            panic!("{plan:?}");
        };
        let name = claim.metadata.name.to_string();
        let mut own = Rivals::default();
        own.begins(&makes.work);
        (engine, own, name)
    }

    fn is_rival(own: &mut Rivals, engine: &Engine, change: &Change) -> bool {
        own.rival(engine, |_| true, change).is_some()
    }

    #[test]
    fn a_claim_that_replaces_another_is_its_own_whatever_is_known_of_its_pod_by_then() {
        // The pod names the new claim already, or is gone, when the watch of claims shows it.
        let (mut engine, mut own, name) = replacing();
        engine.see(Change::Put(pod(Some(&name))), Origin::Simulation, at(1));
        assert!(!is_rival(&mut own, &engine, &claim(&name)));
        let (mut engine, mut own, name) = replacing();
        let gone = Change::Delete(Kind::Pod, Key::new("n", "p"));
        engine.see(gone, Origin::Watch, at(1));
        assert!(!is_rival(&mut own, &engine, &claim(&name)));
        // Another writer's is indistinguishable, too.
        assert!(!is_rival(&mut Rivals::default(), &engine, &claim(&name)));
    }

    #[test]
    fn a_claim_of_another_name_is_a_rivals() {
        let (engine, mut own, _) = replacing();
        assert!(is_rival(&mut own, &engine, &claim("p-gpu-zzzzz")));
    }
}
