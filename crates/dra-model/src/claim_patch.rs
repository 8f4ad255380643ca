//! The write of a claim: what its list was and becomes, and what goes with that. It is sent as a JSON patch.
//!
//! Each is locked: replacing the version with the one that was read makes the API server answer 409 when the object has changed since.

use serde::Serializer;
use serde_json::{Map, Value, json};

use super::{Claim, ConsumerReference, FINALIZER, Str};

/// One write of a claim, locked to the version that was read. It becomes JSON when it is sent or shown: of a large cluster most plans
/// are counted and shown in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimPatch {
    version: Str,
    before: Vec<ConsumerReference>,
    after: Vec<ConsumerReference>,
    /// Number of new entries at the end of the list.
    added: usize,
    change: ClaimChange,
}

/// Changes of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimChange {
    /// The list becomes another one.
    List {
        /// From then on not every pod may use the claim any more.
        ends_any_pod: bool,
    },
    /// List, if there is one, and allocation go.
    Release,
    /// Of the object, not of its status: only these finalizers are left.
    Finalizers(Vec<Str>),
}

impl ClaimPatch {
    fn of(claim: &Claim, change: ClaimChange) -> Self {
        let list = claim.status.reserved_for.clone();
        Self {
            version: claim.metadata.resource_version.clone(),
            after: match change {
                ClaimChange::Release => Vec::new(),
                ClaimChange::List { .. } | ClaimChange::Finalizers(_) => list.clone(),
            },
            before: list,
            added: 0,
            change,
        }
    }

    /// Makes `kept`, and behind it `added`, the whole list.
    pub fn list(
        claim: &Claim,
        kept: Vec<ConsumerReference>,
        added: Vec<ConsumerReference>,
        ends_any_pod: bool,
    ) -> Self {
        let mut after = kept;
        let new = added.len();
        after.extend(added);
        Self {
            version: claim.metadata.resource_version.clone(),
            before: claim.status.reserved_for.clone(),
            after,
            added: new,
            change: ClaimChange::List { ends_any_pod },
        }
    }

    /// Releases the devices: the API server accepts neither a list without an allocation nor a remaining allocation
    /// without a list, so both are removed together.
    pub fn release(claim: &Claim) -> Self {
        Self::of(claim, ClaimChange::Release)
    }

    /// Drops the finalizer of a claim that was released; nothing when it has no such finalizer.
    pub fn without_finalizer(claim: &Claim) -> Option<Self> {
        let finalizers = &claim.metadata.finalizers;
        let rest: Vec<Str> = finalizers
            .iter()
            .filter(|name| **name != FINALIZER)
            .cloned()
            .collect();
        (rest.len() != finalizers.len()).then(|| Self::of(claim, ClaimChange::Finalizers(rest)))
    }

    /// Returns what it changes.
    pub fn change(&self) -> &ClaimChange {
        &self.change
    }

    /// The list as it was read.
    pub fn before(&self) -> &[ConsumerReference] {
        &self.before
    }

    /// The list that it makes.
    pub fn after(&self) -> &[ConsumerReference] {
        &self.after
    }

    /// Entries that are new, by name.
    pub fn added(&self) -> &[ConsumerReference] {
        &self.after[self.after.len() - self.added..]
    }

    /// Returns whether it takes the devices back.
    pub fn releases(&self) -> bool {
        match self.change {
            ClaimChange::Release => true,
            ClaimChange::List { .. } | ClaimChange::Finalizers(_) => false,
        }
    }

    /// Returns whether it is a write of the status.
    pub fn is_of_status(&self) -> bool {
        match self.change {
            ClaimChange::List { .. } | ClaimChange::Release => true,
            ClaimChange::Finalizers(_) => false,
        }
    }

    /// Makes the change in `claim`, but for the version, which only the server knows.
    pub fn apply(&self, claim: &mut Claim) {
        match &self.change {
            ClaimChange::List { ends_any_pod } => {
                claim.status.reserved_for.clone_from(&self.after);
                if let Some(allocation) = claim.status.allocation.as_mut().filter(|_| *ends_any_pod) {
                    allocation.reserved_for_any_pod = false;
                }
            }
            ClaimChange::Release => {
                claim.status.reserved_for.clear();
                claim.status.allocation = None;
            }
            ClaimChange::Finalizers(rest) => claim.metadata.finalizers.clone_from(rest),
        }
    }

    /// Returns whether `claim` is as the patch makes it.
    pub fn is_done_in(&self, claim: &Claim) -> bool {
        let list = &claim.status.reserved_for;
        let allocation = claim.status.allocation.as_ref();
        match &self.change {
            ClaimChange::List { ends_any_pod } => {
                let is_for_any_pod = allocation.is_some_and(|allocation| allocation.reserved_for_any_pod);
                *list == self.after && !(*ends_any_pod && is_for_any_pod)
            }
            ClaimChange::Release => list.is_empty() && allocation.is_none(),
            ClaimChange::Finalizers(_) => !claim.metadata.finalizers.iter().any(|name| *name == FINALIZER),
        }
    }

    /// The JSON patch.
    pub fn to_json(&self) -> Value {
        Value::Array(self.operations())
    }

    /// The operations of the JSON patch; the first is the lock.
    pub fn operations(&self) -> Vec<Value> {
        let lock =
            json!({"op": "replace", "path": "/metadata/resourceVersion", "value": self.version.as_str()});
        let mut operations = vec![lock];
        match &self.change {
            ClaimChange::List { ends_any_pod } => {
                // Both operations do the same for a list that is there; only this one also creates it.
                let operation = if self.before.is_empty() { "add" } else { "replace" };
                let entries: Vec<_> = self.after.iter().map(ConsumerReference::to_json).collect();
                operations.push(json!({"op": operation, "path": "/status/reservedFor", "value": entries}));
                if *ends_any_pod {
                    operations.push(json!({"op": "remove", "path": "/status/allocation/reservedForAnyPod"}));
                }
            }
            ClaimChange::Release => {
                if !self.before.is_empty() {
                    operations.push(json!({"op": "remove", "path": "/status/reservedFor"}));
                }
                operations.push(json!({"op": "remove", "path": "/status/allocation"}));
            }
            ClaimChange::Finalizers(rest) if rest.is_empty() => {
                operations.push(json!({"op": "remove", "path": "/metadata/finalizers"}));
            }
            ClaimChange::Finalizers(rest) => {
                let rest: Vec<&str> = rest.iter().map(Str::as_str).collect();
                operations.push(json!({"op": "replace", "path": "/metadata/finalizers", "value": rest}));
            }
        }
        operations
    }
}

/// A write of single entries of a claim's `status.reservedFor`, locked to the version that was read. Entries that it does not add or
/// remove are not sent, so that they keep whatever this build does not know.
#[derive(Clone, Debug, PartialEq)]
pub struct ReservationPatch(Vec<Value>);

impl ReservationPatch {
    fn lock(claim: &Claim) -> Vec<Value> {
        let version = claim.metadata.resource_version.as_str();
        vec![json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version})]
    }

    /// Adds an entry at the end.
    pub fn add(claim: &Claim, consumer: &ConsumerReference) -> Self {
        let mut operations = Self::lock(claim);
        operations.push(if claim.status.reserved_for.is_empty() {
            json!({"op": "add", "path": "/status/reservedFor", "value": [consumer.to_json()]})
        } else {
            json!({"op": "add", "path": "/status/reservedFor/-", "value": consumer.to_json()})
        });
        Self(operations)
    }

    /// Removes every entry but those that remain, which stand in the claim in this order; with `deallocate` the allocation goes too.
    pub fn keep(claim: &Claim, remaining: &[ConsumerReference], deallocate: bool) -> Self {
        let mut operations = Self::lock(claim);
        let entries = &claim.status.reserved_for;
        if remaining.is_empty() && !entries.is_empty() {
            operations.push(json!({"op": "remove", "path": "/status/reservedFor"}));
        } else {
            let mut kept = remaining.iter().peekable();
            let mut gone = Vec::new();
            for (index, entry) in entries.iter().enumerate() {
                if kept.next_if(|next| *next == entry).is_none() {
                    gone.push(index);
                }
            }
            // From behind, so that the numbers of the others stay.
            operations.extend(
                gone.into_iter()
                    .rev()
                    .map(|index| json!({"op": "remove", "path": format!("/status/reservedFor/{index}")})),
            );
        }
        if deallocate && claim.status.allocation.is_some() {
            operations.push(json!({"op": "remove", "path": "/status/allocation"}));
        }
        Self(operations)
    }

    /// The JSON patch of the claim's status.
    pub fn to_json(&self) -> Value {
        Value::Array(self.0.clone())
    }
}

impl ConsumerReference {
    /// The entry as the API server has it, fields that this build does not know included.
    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        if !self.api_group.is_empty() {
            map.insert("apiGroup".to_owned(), json!(self.api_group.as_str()));
        }
        for (field, text) in [
            ("resource", &self.resource),
            ("name", &self.name),
            ("uid", &self.uid),
        ] {
            map.insert(field.to_owned(), json!(text.as_str()));
        }
        for (field, value) in self.unknown.iter().flat_map(|fields| fields.iter()) {
            map.insert(field.clone(), value.clone());
        }
        Value::Object(map)
    }

    /// A list as the API server has it, for files that are read again.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize_list<S: Serializer>(list: &[Self], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.iter().map(Self::to_json))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Object;

    fn claim(entries: &[&str], allocated: bool) -> Claim {
        let entries: Vec<Value> = entries
            .iter()
            .map(|name| json!({"resource": "pods", "name": name, "uid": format!("uid-{name}"), "since": 7}))
            .collect();
        let mut json = json!({
            "metadata": {"namespace": "a", "name": "c", "resourceVersion": "12"},
            "spec": {"devices": {}}, "status": {"reservedFor": entries}});
        if allocated {
            json["status"]["allocation"] = json!({"devices": {}});
        }
        match Object::from_json(crate::Kind::ResourceClaim, json.to_string().as_bytes()) {
            Ok(Object::ResourceClaim(claim)) => (*claim).clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn entries_come_and_go_one_by_one() {
        let lock = json!({"op": "replace", "path": "/metadata/resourceVersion", "value": "12"});
        let consumer = claim(&["new"], false).status.reserved_for[0].clone();
        let entry = json!({"resource": "pods", "name": "new", "uid": "uid-new", "since": 7});
        assert_eq!(
            ReservationPatch::add(&claim(&[], true), &consumer).to_json(),
            json!([lock, {"op": "add", "path": "/status/reservedFor", "value": [entry]}])
        );
        assert_eq!(
            ReservationPatch::add(&claim(&["x"], true), &consumer).to_json(),
            json!([lock, {"op": "add", "path": "/status/reservedFor/-", "value": entry}])
        );
        let full = claim(&["a", "b", "c", "d"], true);
        let kept = [1, 3].map(|index: usize| full.status.reserved_for[index].clone());
        assert_eq!(
            ReservationPatch::keep(&full, &kept, false).to_json(),
            json!([lock, {"op": "remove", "path": "/status/reservedFor/2"},
                   {"op": "remove", "path": "/status/reservedFor/0"}])
        );
        assert_eq!(
            ReservationPatch::keep(&full, &[], true).to_json(),
            json!([lock, {"op": "remove", "path": "/status/reservedFor"},
                   {"op": "remove", "path": "/status/allocation"}])
        );
        // A patch that removes what is not there is refused as a whole.
        assert_eq!(
            ReservationPatch::keep(&claim(&["a"], false), &[], true).to_json(),
            json!([lock, {"op": "remove", "path": "/status/reservedFor"}])
        );
        assert_eq!(
            ReservationPatch::keep(&claim(&[], true), &[], true).to_json(),
            json!([lock, {"op": "remove", "path": "/status/allocation"}])
        );
    }
}
