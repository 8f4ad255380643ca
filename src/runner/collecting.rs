//! Deletes the claims of pods that are gone, where no garbage collector does.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::carrying::Carrier;
use crate::model::{Change, Claim, Cluster, Key, Kind, Str};
use crate::reservation::lost_pod;
use crate::sources::live::Error;

/// Claims that are looked at at once.
const AT_ONCE: usize = 8;

/// What fails is tried again after this time.
const PAUSE: Duration = Duration::from_secs(5);

/// Deletes until it is dropped. It has a task of its own, as nobody waits for it.
pub(super) struct Collector {
    sender: mpsc::UnboundedSender<Arc<Claim>>,
    task: JoinHandle<()>,
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Collector {
    pub(super) fn start(carrier: Carrier) -> Self {
        let (sender, inbox) = mpsc::unbounded_channel();
        let claims = futures::stream::unfold(inbox, async |mut inbox| {
            let claim: Arc<Claim> = inbox.recv().await?;
            Some((claim, inbox))
        });
        let task = tokio::spawn(async move {
            let carrier = &carrier;
            claims
                .for_each_concurrent(AT_ONCE, |claim| async move {
                    while collect(carrier, &claim).await.is_err() {
                        tokio::time::sleep(PAUSE).await;
                    }
                })
                .await;
        });
        Self { sender, task }
    }

    /// Looks at every claim.
    pub(super) fn look_at_all(&self, cluster: &Cluster) {
        for claim in cluster.claims() {
            self.look_at(cluster, claim);
        }
    }

    /// Looks at what a change has left behind: the claim that it shows, or those of the pod that it takes away.
    pub(super) fn look_behind(&self, cluster: &Cluster, change: &Left) {
        match change {
            Left::Claim(key) => {
                if let Some(claim) = cluster.claim(key) {
                    self.look_at(cluster, claim);
                }
            }
            Left::OfPod(uid) => {
                for claim in cluster.claims_of_owner(uid) {
                    self.look_at(cluster, claim);
                }
            }
        }
    }

    fn look_at(&self, cluster: &Cluster, claim: &Arc<Claim>) {
        if !claim.metadata.is_deleting() && lost_pod(cluster, claim).is_some() {
            // The task ends with this one.
            _ = self.sender.send(Arc::clone(claim));
        }
    }
}

/// What a change may leave behind.
pub(super) enum Left {
    /// A claim, which may come after the end of its pod.
    Claim(Key),
    /// The claims of the pod with this UID.
    OfPod(Str),
}

impl Left {
    /// What `change` may leave behind in `cluster`, which does not have it in it yet.
    pub(super) fn by(cluster: &Cluster, change: &Change) -> Option<Self> {
        let of_pod = |key: &Key, uid: Option<&Str>| {
            let before = &cluster.pod(key)?.metadata.uid;
            (Some(before) != uid).then(|| Self::OfPod(before.clone()))
        };
        match change {
            Change::Put(object) => match object.kind() {
                Kind::ResourceClaim => Some(Self::Claim(object.metadata().key())),
                Kind::Pod => of_pod(&object.metadata().key(), Some(&object.metadata().uid)),
                _ => None,
            },
            Change::Delete(Kind::Pod, key) => of_pod(key, None),
            Change::Delete(..) => None,
        }
    }
}

/// Deletes the claim unless the API server knows its pod: a watch may be behind.
async fn collect(carrier: &Carrier, claim: &Claim) -> Result<(), Error> {
    let Some(owner) = claim.metadata.owner_references.first() else {
        return Ok(());
    };
    carrier.limiter.wait().await;
    let pod = claim.metadata.beside(&owner.name);
    let found = carrier.writer.object(Kind::Pod, &pod).await?;
    if found.is_some_and(|pod| pod.metadata().uid == owner.uid) {
        return Ok(());
    }
    carrier.limiter.wait().await;
    let (key, uid) = (claim.key(), &claim.metadata.uid);
    match carrier.writer.delete(Kind::ResourceClaim, &key, uid).await {
        Ok(()) => {
            if !carrier.writer.is_dry_run() {
                carrier.operation.metrics.collected();
            }
            Ok(())
        }
        // Gone, or another one of the name, is what was wanted.
        Err(error) if error.says_gone(&key.name) => Ok(()),
        Err(Error::Refused { code: 409, .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ClusterBuilder, Environment, Object};

    fn object(kind: Kind, json: &str) -> Object {
        Object::from_json(kind, json.as_bytes()).unwrap()
    }

    fn pod(uid: &str) -> Object {
        let json = format!(r#"{{"metadata":{{"namespace":"n","name":"p","uid":"{uid}"}}}}"#);
        object(Kind::Pod, &json)
    }

    fn claim(owners: &str) -> Object {
        let json = format!(
            r#"{{"metadata":{{"namespace":"n","name":"c","uid":"c","ownerReferences":[{owners}]}}}}"#
        );
        object(Kind::ResourceClaim, &json)
    }

    const OWNER: &str = r#"{"apiVersion":"v1","kind":"Pod","name":"p","uid":"old"}"#;

    fn cluster(objects: impl IntoIterator<Item = Object>) -> Cluster {
        let mut builder = ClusterBuilder::default();
        for object in objects {
            builder.add(object);
        }
        builder.build(Environment::default()).0
    }

    #[test]
    fn a_claim_is_lost_with_its_only_owner() {
        let group = r#"{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","name":"g","uid":"g"}"#;
        let of_another_kind = r#"{"apiVersion":"example.com/v1","kind":"Pod","name":"p","uid":"old"}"#;
        for (owners, pod, expected) in [
            (OWNER, Some(pod("old")), false),
            (OWNER, Some(pod("new")), true),
            (OWNER, None, true),
            ("", None, false),
            (group, None, false),
            (of_another_kind, None, false),
            (&format!("{OWNER},{group}"), None, false),
        ] {
            let cluster = cluster(pod.into_iter().chain([claim(owners)]));
            let claim = cluster.claims().next().unwrap();
            assert_eq!(lost_pod(&cluster, claim).is_some(), expected, "{owners}");
        }
    }

    #[test]
    fn a_change_leaves_behind_what_it_takes_the_owner_from() {
        let cluster = cluster([pod("old"), claim(OWNER)]);
        let left = |change| match Left::by(&cluster, &change) {
            Some(Left::Claim(key)) => format!("claim {key}"),
            Some(Left::OfPod(uid)) => format!("pod {uid}"),
            None => String::new(),
        };
        assert_eq!(left(Change::Put(claim(OWNER))), "claim n/c");
        assert_eq!(left(Change::Put(pod("old"))), "");
        assert_eq!(left(Change::Put(pod("new"))), "pod old");
        assert_eq!(left(Change::Delete(Kind::Pod, Key::new("n", "p"))), "pod old");
        assert_eq!(left(Change::Delete(Kind::Pod, Key::new("n", "q"))), "");
    }
}
