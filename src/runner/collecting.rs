//! Deletes the claims of pods that are gone, where no garbage collector does.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::carrying::Carrier;
use super::clock::reached;
use super::refusal::is_outage;
use super::report::Trouble;
use crate::controllers::{ControllerName, Subject};
use crate::model::{Change, Claim, Cluster, Key, Kind, Str};
use crate::reservation::lost_pod;
use crate::sources::live::Error;

/// Claims that are looked at at once.
const AT_ONCE: usize = 8;

/// What fails is tried again after this time, behind those that have not failed.
const PAUSE: Duration = Duration::from_secs(5);

/// That the API server cannot do anything is told of a claim once it has failed so often: it mostly passes.
const OFTEN: u32 = 3;

/// Deletes until it is dropped. It has a task of its own, as nobody waits for it.
pub(super) struct Collector {
    sender: mpsc::UnboundedSender<Arc<Claim>>,
    troubles: mpsc::UnboundedReceiver<Trouble>,
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
        let (told, troubles) = mpsc::unbounded_channel();
        let task = tokio::spawn(work(carrier, inbox, told));
        Self {
            sender,
            troubles,
            task,
        }
    }

    /// The next claim that cannot be deleted: once for each reason.
    pub(super) async fn trouble(&mut self) -> Trouble {
        match self.troubles.recv().await {
            Some(trouble) => trouble,
            // The task has ended, which it does only with this one.
            None => std::future::pending().await,
        }
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

/// Looks at the claims that come, and tells what fails.
async fn work(
    carrier: Carrier,
    mut inbox: mpsc::UnboundedReceiver<Arc<Claim>>,
    told: mpsc::UnboundedSender<Trouble>,
) {
    let mut claims = Claims::default();
    let mut out = FuturesUnordered::new();
    loop {
        while out.len() < AT_ONCE
            && let Some(claim) = claims.next(Instant::now())
        {
            let carrier = &carrier;
            out.push(async move {
                let tried = collect(carrier, &claim).await;
                (claim, tried)
            });
        }
        let again = claims.next_due().filter(|_| out.len() < AT_ONCE);
        tokio::select! {
            claim = inbox.recv() => match claim {
                Some(claim) => claims.add(claim),
                None => return,
            },
            Some((claim, tried)) = out.next() => match tried {
                Ok(()) => {
                    carrier.operation.health.collected(&Subject::Claim(claim.key()));
                    claims.done(&claim);
                }
                Err(error) => {
                    let operation = &carrier.operation;
                    operation.metrics.not_collected();
                    let why = error.to_string();
                    let subject = Subject::Claim(claim.key());
                    if error.lacks_right() {
                        operation.health.may_not_collect(&subject, &why);
                    }
                    let is_its_own = !is_outage(&error);
                    if let Some(why) = claims.failed(claim.clone(), why, is_its_own, Instant::now()) {
                        let trouble = Trouble {
                            controller: ControllerName::ResourceClaim,
                            subject,
                            why: format!("its pod is gone, and it is tried again every {} s: {why}", PAUSE.as_secs()),
                        };
                        // Whoever listens ends together with this.
                        _ = told.send(trouble);
                    }
                }
            },
            () = reached(again) => {}
        }
    }
}

/// Claims to be looked at, each once.
#[derive(Default)]
struct Claims {
    /// UIDs of all that are not done.
    known: HashSet<Str>,
    fresh: VecDeque<Arc<Claim>>,
    /// What failed, in the order in which it is tried again, with when.
    failed: VecDeque<(Instant, Arc<Claim>)>,
    /// By UID: how often it failed, and what was told of it.
    failures: HashMap<Str, (u32, HashSet<String>)>,
}

impl Claims {
    fn add(&mut self, claim: Arc<Claim>) {
        if self.known.insert(claim.metadata.uid.clone()) {
            self.fresh.push_back(claim);
        }
    }

    /// The next one to be tried at `now`.
    fn next(&mut self, now: Instant) -> Option<Arc<Claim>> {
        if let Some(claim) = self.fresh.pop_front() {
            return Some(claim);
        }
        if self.next_due()? > now {
            return None;
        }
        self.failed.pop_front().map(|(_, claim)| claim)
    }

    /// When the first of those that failed is tried again.
    fn next_due(&self) -> Option<Instant> {
        self.failed.front().map(|(due, _)| *due)
    }

    fn done(&mut self, claim: &Claim) {
        self.known.remove(&claim.metadata.uid);
        self.failures.remove(&claim.metadata.uid);
    }

    /// The claim goes to the end. What is to be told of it, if that is news.
    fn failed(&mut self, claim: Arc<Claim>, why: String, is_its_own: bool, now: Instant) -> Option<String> {
        let (times, told) = self.failures.entry(claim.metadata.uid.clone()).or_default();
        *times += 1;
        let is_told = (is_its_own || *times >= OFTEN) && told.insert(why.clone());
        self.failed.push_back((now + PAUSE, claim));
        is_told.then_some(why)
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
    fn what_fails_goes_to_the_end_and_is_told_once() {
        let of = |name: &str| {
            let json = format!(r#"{{"metadata":{{"namespace":"n","name":"{name}","uid":"{name}"}}}}"#);
            match object(Kind::ResourceClaim, &json) {
                Object::ResourceClaim(claim) => claim,
                _ => panic!("a claim"),
            }
        };
        let name = |claim: Option<Arc<Claim>>| claim.map(|claim| claim.metadata.name.to_string());
        let next = |claims: &mut Claims, at| name(claims.next(at));
        let mut claims = Claims::default();
        let now = Instant::now();
        for name in ["a", "b", "a"] {
            claims.add(of(name));
        }
        assert_eq!(next(&mut claims, now).as_deref(), Some("a"));
        let fails = |claims: &mut Claims, why: &str, is_its_own| {
            claims.failed(of("a"), why.to_owned(), is_its_own, now)
        };
        assert_eq!(fails(&mut claims, "no", true).as_deref(), Some("no"));
        assert_eq!(next(&mut claims, now).as_deref(), Some("b"));
        claims.done(&of("b"));
        claims.add(of("a"));
        assert_eq!(next(&mut claims, now), None, "it is known");
        assert_eq!(claims.next_due(), Some(now + PAUSE));
        assert_eq!(next(&mut claims, now + PAUSE).as_deref(), Some("a"));
        assert_eq!(fails(&mut claims, "no", true), None, "it was told");
        assert_eq!(next(&mut claims, now + PAUSE).as_deref(), Some("a"));
        assert_eq!(fails(&mut claims, "never", true).as_deref(), Some("never"));

        // What the API server cannot do is told once it stays so.
        claims.done(&of("a"));
        let told: Vec<bool> = (0..4)
            .map(|_| fails(&mut claims, "busy", false).is_some())
            .collect();
        assert_eq!(told, [false, false, true, false]);
        claims.add(of("b"));
        assert_eq!(next(&mut claims, now).as_deref(), Some("b"));
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
