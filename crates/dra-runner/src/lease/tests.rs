use std::sync::{Arc, Mutex};

use super::*;

/// One lease, kept as an API server keeps it.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    lease: Option<Value>,
    version: u64,
    /// Nothing can be asked.
    away: bool,
    /// The next write takes effect, and its answer is lost.
    loses_answer: bool,
}

fn refused(code: u16) -> Error {
    Error::Refused {
        what: "update lease/n/l".to_owned(),
        code,
        message: String::new(),
        retry_after: None,
    }
}

impl Memory {
    fn write(&self, mut lease: Value) -> Result<Value, Error> {
        let mut kept = self.0.lock().unwrap();
        if kept.away {
            return Err(refused(503));
        }
        let known = kept.lease.as_ref().map(|lease| &lease["metadata"]);
        if known != lease.get("metadata") {
            return Err(refused(409));
        }
        kept.version += 1;
        lease["metadata"] = json!({"resourceVersion": kept.version.to_string()});
        kept.lease = Some(lease.clone());
        if std::mem::take(&mut kept.loses_answer) {
            return Err(refused(500));
        }
        Ok(lease)
    }

    fn set(&self, change: impl FnOnce(&mut Kept)) {
        change(&mut self.0.lock().unwrap());
    }

    fn record(&self) -> Record {
        Record::of(self.0.lock().unwrap().lease.as_ref().unwrap())
    }
}

impl Store for Memory {
    async fn get(&self) -> Result<Option<Value>, Error> {
        let kept = self.0.lock().unwrap();
        if kept.away {
            return Err(refused(503));
        }
        Ok(kept.lease.clone())
    }

    async fn create(&self, spec: Value) -> Result<Value, Error> {
        self.write(json!({"spec": spec}))
    }

    async fn replace(&self, lease: &Value) -> Result<Value, Error> {
        self.write(lease.clone())
    }
}

fn now() -> Time {
    "2026-11-23T10:00:00.25Z".parse().unwrap()
}

fn later(seconds: u64) -> Time {
    now().after(Duration::from_secs(seconds))
}

/// Makes what `election` saw so much older.
fn age(election: &mut Election<Memory>, seconds: u64) {
    let (_, seen) = election.observed.as_mut().unwrap();
    *seen = seen.checked_sub(Duration::from_secs(seconds)).unwrap();
}

#[tokio::test]
async fn the_first_gets_it_and_others_wait_until_it_has_not_changed_for_its_duration() {
    let memory = Memory::default();
    let mut first = Election::new(memory.clone(), "first".to_owned());
    let mut second = Election::new(memory.clone(), "second".to_owned());
    assert!(first.attempt(now()).await.unwrap());
    assert_eq!(memory.record().acquired, "2026-11-23T10:00:00.250000Z");
    assert!(!second.attempt(now()).await.unwrap());
    age(&mut second, 14);
    assert!(!second.attempt(now()).await.unwrap());

    // It is renewed, whatever time its holder's clock says.
    assert!(first.attempt(later(1)).await.unwrap());
    age(&mut second, 14);
    assert!(!second.attempt(later(9999)).await.unwrap());
    let renewed = memory.record();
    assert_eq!(
        (&*renewed.acquired, &*renewed.renewed, renewed.transitions),
        ("2026-11-23T10:00:00.250000Z", "2026-11-23T10:00:01.250000Z", 0)
    );

    age(&mut second, 15);
    assert!(second.attempt(later(20)).await.unwrap());
    let taken = memory.record();
    assert_eq!((&*taken.holder, taken.transitions), ("second", 1));
    // A previous holder notices it by the version.
    assert!(!first.attempt(later(20)).await.unwrap());
    assert!(!first.is_leader());
}

#[tokio::test]
async fn of_two_who_find_it_expired_one_gets_it() {
    let memory = Memory::default();
    let mut gone = Election::new(memory.clone(), "gone".to_owned());
    assert!(gone.attempt(now()).await.unwrap());
    let mut one = Election::new(memory.clone(), "one".to_owned());
    assert!(!one.attempt(now()).await.unwrap());
    let read = one.lease.clone().unwrap();
    let mut other = Election::new(memory.clone(), "other".to_owned());
    assert!(!other.attempt(now()).await.unwrap());
    age(&mut other, 15);
    assert!(other.attempt(now()).await.unwrap());
    let mine = Record {
        holder: "one".to_owned(),
        ..Record::of(&read)
    };
    assert!(matches!(
        one.write(read, mine).await,
        Err(Error::Refused { code: 409, .. })
    ));
    assert_eq!(memory.record().holder, "other");
}

#[tokio::test]
async fn a_renewal_whose_answer_was_lost_is_found_and_what_others_wrote_stays() {
    let memory = Memory::default();
    let mut election = Election::new(memory.clone(), "me".to_owned());
    assert!(election.attempt(now()).await.unwrap());
    memory.set(|kept| kept.loses_answer = true);
    assert!(election.attempt(later(2)).await.unwrap());
    assert_eq!(memory.record().transitions, 0);

    // A strategy of coordinated election, which only the server knows.
    memory.set(|kept| kept.lease.as_mut().unwrap()["spec"]["strategy"] = json!("x"));
    election.lease = memory.get().await.unwrap();
    assert!(election.attempt(later(4)).await.unwrap());
    assert_eq!(memory.get().await.unwrap().unwrap()["spec"]["strategy"], "x");
}

#[tokio::test]
async fn a_released_lease_is_available_immediately_and_released_only_by_its_holder() {
    let memory = Memory::default();
    let mut first = Election::new(memory.clone(), "first".to_owned());
    let mut second = Election::new(memory.clone(), "second".to_owned());
    assert!(first.attempt(now()).await.unwrap());
    assert!(!second.attempt(now()).await.unwrap());
    second.release(now()).await.unwrap();
    assert_eq!(memory.record().holder, "first");
    first.release(now()).await.unwrap();
    assert_eq!((&*memory.record().holder, memory.record().seconds), ("", 1));
    assert!(second.attempt(now()).await.unwrap());
    assert_eq!(memory.record().transitions, 1);
}

#[tokio::test]
async fn inconsistent_records_are_not_believed_forever() {
    let memory = Memory::default();
    memory.set(|kept| {
        kept.lease = Some(
            json!({"metadata": {"resourceVersion": "1"}, "spec": {"holderIdentity": "x",
            "leaseDurationSeconds": i64::MAX, "leaseTransitions": i64::MAX, "renewTime": 5}}),
        );
    });
    let mut election = Election::new(memory.clone(), "me".to_owned());
    assert!(!election.attempt(now()).await.unwrap());
    age(&mut election, 3600);
    assert!(election.attempt(now()).await.unwrap());
    memory.set(|kept| kept.lease = Some(json!({"metadata": {"resourceVersion": "1"}})));
    assert!(
        election.attempt(now()).await.unwrap(),
        "a lease without a record is free"
    );
}

fn candidate(memory: &Memory, name: &str) -> Lease {
    let (retry, deadline) = (Duration::from_millis(5), Duration::from_millis(100));
    Lease::among(memory.clone(), name.to_owned(), retry, deadline, now)
}

#[tokio::test]
async fn a_holder_that_cannot_renew_loses_it_and_one_that_ends_gives_it_up() {
    let memory = Memory::default();
    let first = candidate(&memory, "first");
    let mut state = first.state.clone();
    state.wait_for(|state| *state == LeaseState::Held).await.unwrap();
    let second = candidate(&memory, "second");
    let mut waiting = second.state.clone();
    let waits = |state: &LeaseState| matches!(state, LeaseState::Waiting { holder, .. } if holder == "first");
    waiting.wait_for(waits).await.unwrap();
    first.release().await;
    waiting
        .wait_for(|state| *state == LeaseState::Held)
        .await
        .unwrap();

    memory.set(|kept| kept.away = true);
    waiting
        .wait_for(|state| *state == LeaseState::Lost)
        .await
        .unwrap();
    memory.set(|kept| kept.away = false);
    second.release().await;
    assert_eq!(
        memory.record().holder,
        "second",
        "what is lost cannot be given up"
    );
}

#[test]
fn identities_differ_and_look_like_others() {
    let (one, other) = (identity(), identity());
    assert_ne!(one, other);
    let (host, uuid) = one.rsplit_once('_').unwrap();
    assert!(!host.is_empty());
    let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12], "{uuid}");
}
