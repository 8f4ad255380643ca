//! Single objects, read again: what a finding rests on that joins lists of different times.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::value::RawValue;

use super::discovery::{Served, Serving};
use super::error::Error;
use super::request::JSON;
use super::{Live, asked, discovery, list};
use dra_model::{Change, Key, Kind};

/// Requests at the same time.
const AT_ONCE: usize = 16;

/// Maximum number of objects to read again. With more defects than that, confirming each is not needed.
const MOST: usize = 2000;

/// Result of reading again.
#[derive(Debug, Default)]
pub struct Again {
    /// Current state of the objects, claims before pods: a pod missing in the latter was missing after the former were
    /// read.
    pub changes: Vec<Change>,
    /// Objects that could not be read.
    pub unread: BTreeSet<(Kind, Key)>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

impl Live {
    /// Reads `objects` again, one by one, kind by kind.
    ///
    /// # Errors
    /// When the server cannot be asked at all.
    pub async fn read_again(&self, objects: BTreeSet<(Kind, Key)>) -> Result<Again, Error> {
        let kinds: BTreeSet<Kind> = objects.iter().map(|(kind, _)| *kind).collect();
        let served = discovery::discover(self, &kinds).await?;
        let mut again = Again::default();
        let mut by_kind: BTreeMap<Kind, Vec<Key>> = BTreeMap::new();
        for (number, (kind, key)) in objects.into_iter().enumerate() {
            if number < MOST {
                by_kind.entry(kind).or_default().push(key);
            } else {
                again.unread.insert((kind, key));
            }
        }
        if !again.unread.is_empty() {
            again.warnings.push(format!(
                "only {MOST} of the objects behind the findings were read again; the other findings are not \
                confirmed"
            ));
        }
        for (kind, keys) in by_kind {
            let answers: Vec<_> = stream::iter(keys)
                .map(|key| self.read_one(kind, key, &served))
                .buffered(AT_ONCE)
                .try_collect()
                .await?;
            for (key, answer) in answers {
                match answer {
                    Ok(change) => again.changes.push(change),
                    Err(warning) => {
                        if !again.warnings.contains(&warning) {
                            again.warnings.push(warning);
                        }
                        again.unread.insert((kind, key));
                    }
                }
            }
        }
        Ok(again)
    }

    /// Returns the current state of one object, or why it is unknown.
    async fn read_one(
        &self,
        kind: Kind,
        key: Key,
        served: &Served,
    ) -> Result<(Key, Result<Change, String>), Error> {
        let version = match served.kind(kind) {
            Serving::Version(version) | Serving::Perhaps(version) => version,
            Serving::No => return Ok((key.clone(), Ok(Change::Delete(kind, key)))),
        };
        // Names in claims are anybody's words; without one the path would be that of the list.
        if key.name.is_empty() {
            return Ok((key.clone(), Ok(Change::Delete(kind, key))));
        }
        let path = list::object(kind, version, &key);
        let what = format!("read {}/{}", kind.name(), key.name);
        match self.get::<Box<RawValue>>(&path, JSON, &what).await {
            Ok(json) => {
                let object = asked::object(json.get().as_bytes(), (kind, version), &key);
                let why = |why| format!("cannot {what} again: {why}");
                Ok((key, object.map(Change::Put).map_err(why)))
            }
            Err(error) if error.says_gone(&key.name) => Ok((key.clone(), Ok(Change::Delete(kind, key)))),
            Err(error) if error.is_fatal() => Err(error),
            Err(error) => Ok((key, Err(format!("findings are not confirmed: {error}")))),
        }
    }
}
