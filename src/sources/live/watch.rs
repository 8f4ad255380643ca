//! Watches: what changes after a load, until the command ends.
//!
//! Each kind has a task of its own that keeps one watch open: it continues where the load or the last event ended, reconnects when the
//! connection ends, and lists anew when the server no longer knows the version it would continue from (410). What a new list
//! differs in from what was known is handed out like any other change, so the consumer sees one continuous story.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::connect::Target;
use super::discovery::{Serving, discover};
use super::error::Error;
use super::list::{self, Meter};
use super::request::JSON;
use super::{Live, Objects};
use crate::model::{Change, Cluster, Key, Kind, Object, Str};
use crate::sources::decode::Decoder;
use crate::sources::files::{JsonEvent, JsonItems, JsonLimits};
use crate::sources::needs::{Needs, Unobserved, Want};

/// How long the server keeps a watch open. It ends watches after half an hour at most anyway; sooner is kinder to servers behind
/// a load balancer.
const WATCH_SECONDS: u32 = 300;

/// Changes that wait for the consumer.
const WAITING: usize = 1024;

/// Longest pause between tries to reconnect.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What a watch has to tell.
#[derive(Clone, Debug)]
pub enum Watched {
    /// Something changed; several changes that came together are told together.
    Changes(Vec<Change>),
    /// The watch is interrupted and will go on by itself.
    Trouble(String),
}

/// Watches over some kinds. They end when it is dropped.
pub struct Watch {
    inbox: mpsc::Receiver<Result<Watched, Error>>,
    /// Changes that were received and not handed out yet.
    held: Vec<Change>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Watch {
    /// Waits for the next change, and for those that follow it within `settle`. Who stops waiting loses nothing: it is told the next time.
    ///
    /// # Errors
    /// When the watch cannot go on: the credentials are no longer accepted, or the right to watch is missing.
    pub async fn next(&mut self, settle: Duration) -> Result<Watched, Error> {
        if self.held.is_empty() {
            let Some(first) = self.inbox.recv().await else {
                // Every task ended, which they do only with an error, which was told.
                return std::future::pending().await;
            };
            match first? {
                Watched::Changes(changes) => self.held = changes,
                trouble @ Watched::Trouble(_) => return Ok(trouble),
            }
        }
        tokio::time::sleep(settle).await;
        while self.held.len() < WAITING {
            match self.inbox.try_recv() {
                Ok(Ok(Watched::Changes(more))) => self.held.extend(more),
                Ok(Ok(Watched::Trouble(_))) | Err(_) => break,
                Ok(Err(error)) => return Err(error),
            }
        }
        Ok(Watched::Changes(std::mem::take(&mut self.held)))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Live {
    /// Watches the kinds of `needs` from where a load of them ended. `cluster` and `versions` are that load's.
    ///
    /// # Errors
    /// When the server cannot be asked what it serves.
    pub async fn watch(
        &self,
        needs: &Needs,
        cluster: &Cluster,
        versions: &BTreeMap<Kind, String>,
    ) -> Result<Watch, Error> {
        let served = discover(&self.target, &needs.kind_set()).await?;
        let (sender, inbox) = mpsc::channel(WAITING);
        let mut tasks = Vec::new();
        for (kind, want) in needs.wants() {
            // What could not be listed cannot be watched either.
            let Some(resource_version) = versions.get(&kind) else {
                continue;
            };
            let (Serving::Version(version) | Serving::Perhaps(version)) = served.kind(kind) else {
                continue;
            };
            let mut want = want.clone();
            // Where only one namespace could be listed, only that can be watched.
            if want.namespace.is_none()
                && let Some(gap) = cluster.gap(kind, "").filter(|gap| !gap.except.is_empty())
            {
                want.namespace = Some(gap.except.to_string());
            }
            let mut watcher = Watcher {
                target: self.target.clone(),
                kind,
                version,
                want,
                decoder: Decoder::default(),
                known: cluster.versions(kind),
                resource_version: resource_version.clone(),
                sender: sender.clone(),
            };
            tasks.push(tokio::spawn(async move { watcher.run().await }));
        }
        Ok(Watch {
            inbox,
            held: Vec::new(),
            tasks,
        })
    }
}

/// One watch.
struct Watcher {
    target: Target,
    kind: Kind,
    version: &'static str,
    want: Want,
    decoder: Decoder,
    /// Every object that the consumer knows of, with its version.
    known: BTreeMap<Key, Str>,
    resource_version: String,
    sender: mpsc::Sender<Result<Watched, Error>>,
}

/// Why a watch ended.
enum End {
    /// As watches do.
    Closed,
    /// The server no longer knows the version.
    Expired,
    /// No task listens.
    Unwanted,
    /// Something failed.
    Failed(Error),
}

impl Watcher {
    async fn run(&mut self) {
        let mut delay = self.target.timing.first_delay;
        let mut must_list = false;
        loop {
            let begin = tokio::time::Instant::now();
            let end = if must_list {
                self.list_anew().await
            } else {
                self.follow().await
            };
            match end {
                End::Closed => {
                    must_list = false;
                    if begin.elapsed() > LONGEST_PAUSE {
                        delay = self.target.timing.first_delay;
                        continue;
                    }
                    // Whatever ends watches at once must not be asked without a pause.
                }
                End::Expired => {
                    must_list = true;
                    continue;
                }
                End::Unwanted => return,
                End::Failed(error) => {
                    let lost = matches!(
                        error,
                        Error::Unauthorized { .. }
                            | Error::Credentials { .. }
                            | Error::Refused { code: 403 | 404, .. }
                    );
                    let told = if lost {
                        Err(error)
                    } else {
                        Ok(Watched::Trouble(error.to_string()))
                    };
                    if self.sender.send(told).await.is_err() || lost {
                        return;
                    }
                }
            }
            tokio::time::sleep(delay).await;
            delay = (delay * 2).min(LONGEST_PAUSE);
        }
    }

    /// Keeps one watch open until it ends.
    async fn follow(&mut self) -> End {
        let path = list::path(
            self.kind,
            self.version,
            self.want.namespace.as_deref(),
            &self.want,
        );
        let separator = if path.contains('?') { '&' } else { '?' };
        let path = format!(
            "{path}{separator}watch=true&allowWatchBookmarks=true&timeoutSeconds={WATCH_SECONDS}&resourceVersion={}",
            self.resource_version
        );
        let what = format!("watch {}", list::resource(self.kind));
        let mut answer = match self.target.open(&path, JSON, &what).await {
            Ok(answer) => answer.with_pause(self.target.timing.watch_pause),
            Err(Error::Refused { code: 410, .. }) => return End::Expired,
            Err(error) => return End::Failed(error),
        };
        let mut events = JsonItems::new(JsonLimits::default());
        loop {
            let piece = match answer.next().await {
                Ok(Some(piece)) => piece,
                // Watches end all the time, in the middle of an event too; what was not seen is sent again.
                Ok(None) | Err(Error::Cut { .. } | Error::TimedOut { .. }) => return End::Closed,
                Err(error) => return End::Failed(error),
            };
            let (changes, end) = self.take(&mut events, &piece);
            if !changes.is_empty() && self.sender.send(Ok(Watched::Changes(changes))).await.is_err() {
                return End::Unwanted;
            }
            if let Some(end) = end {
                return end;
            }
        }
    }

    /// The changes in a piece of the answer, and why there will be no more.
    fn take(&mut self, events: &mut JsonItems, piece: &[u8]) -> (Vec<Change>, Option<End>) {
        let mut changes = Vec::new();
        let mut feed = events.feed(piece);
        loop {
            match feed.next_event() {
                Ok(None) => return (changes, None),
                Ok(Some(JsonEvent::Item(item))) => match self.event(item.json) {
                    Ok(change) => changes.extend(change),
                    Err(end) => return (changes, Some(end)),
                },
                Ok(Some(JsonEvent::Bad { .. } | JsonEvent::ListEnd(_))) => {}
                Err(error) => {
                    let error = Error::Cut {
                        what: format!("watch {}", list::resource(self.kind)),
                        message: error.to_string(),
                    };
                    return (changes, Some(End::Failed(error)));
                }
            }
        }
    }

    fn event(&mut self, json: &[u8]) -> Result<Option<Change>, End> {
        #[derive(Deserialize)]
        struct Event<'a> {
            #[serde(rename = "type", borrow)]
            type_: std::borrow::Cow<'a, str>,
            #[serde(borrow)]
            object: &'a RawValue,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Status {
            code: u16,
            message: String,
        }
        let Ok(event) = serde_json::from_slice::<Event<'_>>(json) else {
            return Ok(None);
        };
        let object = event.object.get().as_bytes();
        match &*event.type_ {
            "ERROR" => {
                let Status { code, message } = serde_json::from_slice(object).unwrap_or_default();
                if code == 410 {
                    return Err(End::Expired);
                }
                let what = format!("watch {}", list::resource(self.kind));
                Err(End::Failed(Error::Refused {
                    what,
                    code,
                    message,
                    retry_after: None,
                }))
            }
            "BOOKMARK" => {
                self.note_version(object);
                Ok(None)
            }
            type_ => {
                self.note_version(object);
                // An object that cannot be read stays what it was; a load would name it.
                let Ok(object) = self
                    .decoder
                    .decode(self.kind, self.kind.group(), self.version, object)
                else {
                    return Ok(None);
                };
                let key = object.metadata().key();
                if type_ == "DELETED" {
                    self.known.remove(&key);
                    return Ok(Some(Change::Delete(self.kind, key)));
                }
                self.known.insert(key, object.metadata().resource_version.clone());
                Ok(Some(Change::Put(object)))
            }
        }
    }

    /// Moves to the version of `object`, where the next watch continues.
    fn note_version(&mut self, object: &[u8]) {
        #[derive(Deserialize)]
        struct Versioned {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        struct Metadata {
            #[serde(rename = "resourceVersion")]
            resource_version: String,
        }
        if let Ok(versioned) = serde_json::from_slice::<Versioned>(object) {
            self.resource_version = versioned.metadata.resource_version;
        }
    }

    /// Lists everything and tells what differs from what is known.
    async fn list_anew(&mut self) -> End {
        let namespace = self.want.namespace.as_deref();
        let path = list::path(self.kind, self.version, namespace, &self.want);
        let what = list::name(self.kind, namespace);
        let meter = Arc::new(Meter::new(Arc::new(Unobserved)));
        let sink = || Objects::new(self.kind, self.version);
        let listed = match list::list(&self.target, &path, &what, &meter, sink).await {
            Ok(listed) => listed,
            Err(error) => return End::Failed(error),
        };
        self.resource_version = listed.resource_version;
        let changes = difference(self.kind, &mut self.known, listed.sink.objects);
        if !changes.is_empty() && self.sender.send(Ok(Watched::Changes(changes))).await.is_err() {
            return End::Unwanted;
        }
        End::Closed
    }
}

/// What changed between the `known` objects and `objects`, which are known afterwards.
fn difference(kind: Kind, known: &mut BTreeMap<Key, Str>, objects: Vec<Object>) -> Vec<Change> {
    let mut gone = std::mem::take(known);
    let mut changes = Vec::new();
    for object in objects {
        let key = object.metadata().key();
        let version = object.metadata().resource_version.clone();
        let before = gone.remove(&key);
        known.insert(key, version.clone());
        if before != Some(version) {
            changes.push(Change::Put(object));
        }
    }
    changes.extend(gone.into_keys().map(|key| Change::Delete(kind, key)));
    changes
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    /// The loop of `run` waits for several things at once, and drops the wait for changes when another comes first.
    #[tokio::test]
    async fn who_stops_waiting_loses_nothing() {
        let (sender, inbox) = mpsc::channel(4);
        let mut watch = Watch {
            inbox,
            held: Vec::new(),
            tasks: Vec::new(),
        };
        let change = |name: &str| Change::Delete(Kind::Pod, Key::new("n", name));
        let told = Watched::Changes(vec![change("a")]);
        sender.send(Ok(told)).await.unwrap();
        let settle = Duration::from_millis(20);
        assert!(watch.next(settle).now_or_never().is_none());
        let told = Watched::Changes(vec![change("b")]);
        sender.send(Ok(told)).await.unwrap();
        let Watched::Changes(changes) = watch.next(settle).await.unwrap() else {
            panic!("changes are told");
        };
        let names = |change: &Change| match change {
            Change::Delete(_, key) => key.name.to_string(),
            Change::Put(object) => object.metadata().name.to_string(),
        };
        assert_eq!(changes.iter().map(names).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn a_new_list_tells_only_what_differs() {
        let object = |name: &str, version: &str| {
            let json = format!(
                r#"{{"metadata":{{"namespace":"a","name":"{name}","resourceVersion":"{version}"}}}}"#
            );
            Object::from_json(Kind::ResourceClaim, json.as_bytes()).unwrap()
        };
        let mut known: BTreeMap<Key, Str> = [("same", "1"), ("changed", "1"), ("gone", "1")]
            .map(|(n, v)| (Key::new("a", n), v.into()))
            .into();
        let changes = difference(
            Kind::ResourceClaim,
            &mut known,
            vec![object("same", "1"), object("changed", "2"), object("new", "3")],
        );
        let told: Vec<String> = changes
            .iter()
            .map(|change| match change {
                Change::Put(object) => format!("put {}", object.metadata().name),
                Change::Delete(_, key) => format!("delete {}", key.name),
            })
            .collect();
        assert_eq!(told, ["put changed", "put new", "delete gone"]);
        assert_eq!(known.len(), 3);
    }
}
