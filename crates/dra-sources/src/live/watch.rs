//! Watches: what changes after a load, until the command ends.
//!
//! Each kind has a task of its own that keeps one watch open: it continues where the load or the last event ended,
//! reconnects when the connection ends, and lists anew when the server no longer knows the version it would continue
//! from (410). Differences of a new list are returned like any other change, so the consumer sees one continuous
//! sequence.
//!
//! The behavior on rejection is configured: see [`Persistence`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::asked::misplaced;
use super::discovery::{Serving, discover};
use super::error::Error;
use super::list::{self, Listing, Meter};
use super::request::{JSON, in_time, jittered};
use super::{Live, Objects, Unread};
use crate::decode::{Decoder, key_of, name_of};
use crate::files::{JsonEvent, JsonItems, JsonLimits, named};
use crate::needs::{Needs, Unobserved, Want};
use dra_model::{Change, Cluster, Key, Kind, NewerFields, Object, Str, json};

/// Time the server keeps a watch open. It closes watches after half an hour at most; sooner is kinder to servers behind
/// a load balancer.
const WATCH_SECONDS: u32 = 300;

/// The same for a watch that lasts. Two seconds before the end the server sends a bookmark, so that a watch which is silent for longer
/// than this has lost its connection, whatever lies between here and the server: proxies hide a dead server from what TCP can tell.
const LASTING_SECONDS: u32 = 30;

/// Changes that wait for the consumer.
const WAITING: usize = 1024;

/// Longest pause between tries to reconnect.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The same for a watch that lasts, which is to be in step soon after the server is back.
const LONGEST_LASTING_PAUSE: Duration = Duration::from_secs(5);

/// Number of consecutive watches that end before they prove to work, after which a watch must prove it. One may meet a
/// server that restarts, or a version that was compacted.
const FRUITLESS: u32 = 2;

/// Behavior of a watch that the server rejects: for its credentials, for a permission, or because it does not serve the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// Fails with the error, so that its user sees the problem immediately.
    UntilRefused,
    /// Retries with pauses and keeps the known state. Only credentials that are refused for five minutes on end are an
    /// error. A dead connection is noticed within 45 seconds.
    Lasting,
}

/// Message of a watch.
#[derive(Clone, Debug)]
pub enum Watched {
    /// Changes; changes that arrive together are reported together.
    Changes(Vec<Change>),
    /// An object cannot be read. What was known of it stays.
    Unreadable(Unreadable),
    /// Objects of this kind have fields that came with a later release than that of the cluster: they are not read.
    Newer(NewerFields),
    /// The watch of a kind is interrupted and will resume automatically. The same problem is reported once, until the
    /// watch is in sync again.
    Trouble(Trouble),
    /// The watch of a kind is open, for the first time or again.
    InStep(Kind),
}

/// An object that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Its kind.
    pub kind: Kind,
    /// Its name, if that can be read.
    pub name: Option<String>,
    /// The problem.
    pub reason: String,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kind, name, reason } = self;
        match name {
            Some(name) => write!(f, "`{name}`: {reason}"),
            None => write!(f, "an object of {}: {reason}", list::resource(*kind)),
        }
    }
}

/// An interruption of a watch.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// Kind of the watch.
    pub kind: Kind,
    /// The event.
    pub message: String,
    /// Until when changes of this kind were seen.
    pub since: Instant,
    /// True if the server refuses the watch, so that waiting alone does not help.
    pub refused: bool,
    /// True if watches open and show nothing, or no list is whole, so that what is known of the kind may be wrong however short that has been so.
    pub fruitless: bool,
}

/// Watches over some kinds. They end when it is dropped.
pub struct Watch {
    inbox: mpsc::Receiver<Result<Watched, Error>>,
    /// Received changes that were not returned yet.
    held: Vec<Change>,
    /// Time of the first held change.
    since: Instant,
    /// Message received after them that is not a change.
    after: Option<Result<Watched, Error>>,
    kinds: BTreeSet<Kind>,
    _tasks: JoinSet<()>,
}

impl Watch {
    /// The kinds that are watched: what was loaded and is served.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> {
        self.kinds.iter().copied()
    }

    /// Waits for the next change, and for those that follow it within `settle`. Cancelling loses nothing: the next call
    /// returns it.
    ///
    /// # Errors
    /// When the watch cannot continue, see [`Persistence`].
    pub async fn next(&mut self, settle: Duration) -> Result<Watched, Error> {
        if self.held.is_empty() {
            let told = match self.after.take() {
                Some(told) => told,
                None => match self.inbox.recv().await {
                    Some(told) => told,
                    // Every task ended, which happens only with a reported error.
                    None => return std::future::pending().await,
                },
            };
            match told? {
                Watched::Changes(changes) => {
                    self.held = changes;
                    self.since = Instant::now();
                }
                other => return Ok(other),
            }
        }
        // Repeated calls in between must not wait forever.
        tokio::time::sleep_until(self.since + settle).await;
        while self.held.len() < WAITING && self.after.is_none() {
            match self.inbox.try_recv() {
                Ok(Ok(Watched::Changes(more))) => self.held.extend(more),
                Ok(other) => self.after = Some(other),
                Err(_) => break,
            }
        }
        Ok(Watched::Changes(std::mem::take(&mut self.held)))
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
        persistence: Persistence,
    ) -> Result<Watch, Error> {
        let served = discover(self, &needs.kind_set()).await?;
        let (sender, inbox) = mpsc::channel(WAITING);
        let mut tasks = JoinSet::new();
        let mut kinds = BTreeSet::new();
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
            kinds.insert(kind);
            let mut watcher = Watcher {
                live: self.clone(),
                persistence,
                kind,
                version,
                want,
                decoder: Decoder::default(),
                newer: NewerFields::of(cluster.environment().version),
                known: cluster.versions(kind),
                resource_version: resource_version.clone(),
                partial: resource_version.is_empty(),
                unread: Unread::default(),
                unreadable: None,
                standing: Standing::Unopened,
                contact: Instant::now(),
                seen: Instant::now(),
                fruitless: 0,
                garbled: None,
                unauthorized: None,
                sender: sender.clone(),
            };
            tasks.spawn(async move {
                // The error that ends the watch is reported; without a listener there is nothing to report.
                if let Err(Over::Failed(error)) = watcher.run().await {
                    _ = watcher.sender.send(Err(error)).await;
                }
            });
        }
        Ok(Watch {
            inbox,
            held: Vec::new(),
            since: Instant::now(),
            after: None,
            kinds,
            _tasks: tasks,
        })
    }
}

/// One watch.
struct Watcher {
    live: Live,
    persistence: Persistence,
    kind: Kind,
    version: &'static str,
    want: Want,
    decoder: Decoder,
    /// Dropped data of returned objects.
    newer: NewerFields,
    /// Every object that the consumer knows of, with its version.
    known: BTreeMap<Key, Str>,
    resource_version: String,
    standing: Standing,
    /// Time at which the server last said something.
    contact: Instant,
    /// Time at which a watch that is believed last said something.
    seen: Instant,
    /// What is known is only a part of what there is.
    partial: bool,
    /// Objects that could not be read since they changed: what is known of them is what they were before.
    unread: Unread,
    /// Since when there are such objects, and the first one.
    unreadable: Option<(Instant, Unreadable)>,
    /// Number of watches in a row have ended before they showed that they work. Below [`FRUITLESS`] they are believed.
    fruitless: u32,
    /// Version of the last watch that ended within an event before its first change, so that neither silence nor a
    /// bookmark of that version proves anything.
    garbled: Option<String>,
    /// Since when the credentials are refused.
    unauthorized: Option<Instant>,
    sender: mpsc::Sender<Result<Watched, Error>>,
}

/// The last reported state.
#[derive(PartialEq, Eq)]
enum Standing {
    Unopened,
    InStep,
    Trouble(String),
}

/// The reason why a watch ended.
enum End {
    /// As watches do.
    Closed,
    /// The server no longer knows the version.
    Expired,
    /// Something failed.
    Failed(Error),
}

/// Result of one watch.
struct Followed {
    end: End,
    /// True if it was opened.
    opened: bool,
    /// True if it has shown that it works.
    proven: bool,
    /// True if a part of its data could not be decoded, so that a change may have been missed.
    gapped: bool,
}

impl Followed {
    /// It was never open.
    fn unopened(end: End) -> Self {
        Self {
            end,
            opened: false,
            proven: false,
            gapped: false,
        }
    }
}

/// The reason why there will be no further watch.
enum Over {
    /// No task listens.
    Unwanted,
    /// It cannot continue.
    Failed(Error),
}

/// Result of a piece of a watch.
#[derive(Default)]
struct Taken {
    changes: Vec<Change>,
    unreadable: Vec<Unreadable>,
    /// True if there is an event at all.
    heard: bool,
    /// True if an event shows that the watch works.
    proves: bool,
    /// True if one is a change.
    changed: bool,
    /// True if an event cannot be understood at all.
    gapped: bool,
    /// The reason why there will be no more.
    end: Option<End>,
}

impl Watcher {
    async fn run(&mut self) -> Result<(), Over> {
        let timing = self.live.timing;
        let longest = match self.persistence {
            Persistence::UntilRefused => LONGEST_PAUSE,
            Persistence::Lasting => LONGEST_LASTING_PAUSE,
        };
        let mut delay = timing.first_delay;
        let mut must_list = self.partial;
        loop {
            let begin = Instant::now();
            let end = if must_list {
                match self.list_anew().await? {
                    End::Closed => {
                        // Every listed kind is watched immediately.
                        must_list = false;
                        continue;
                    }
                    end => end,
                }
            } else {
                let followed = self.follow().await?;
                must_list = followed.gapped;
                if followed.proven && !matches!(followed.end, End::Failed(_)) {
                    delay = timing.first_delay;
                }
                self.judge(&followed);
                followed.end
            };
            let mut asked = Duration::ZERO;
            match end {
                End::Closed | End::Expired if self.fruitless >= FRUITLESS => {
                    must_list = true;
                    let message = format!(
                        "cannot watch {}: the API server closes each watch before it reports a change",
                        list::resource(self.kind)
                    );
                    self.tell_trouble(message, false).await?;
                }
                // The server ended it at the time that was asked for.
                End::Closed if begin.elapsed() > longest => continue,
                // Whatever ends watches early must not be asked without a pause.
                End::Closed => {}
                End::Expired => must_list = true,
                End::Failed(error) => {
                    must_list |= !goes_on_after(&error);
                    if let Error::Refused { retry_after, .. } = &error {
                        asked = retry_after.unwrap_or_default();
                    }
                    self.fail(error).await?;
                }
            }
            tokio::time::sleep(jittered(delay.max(asked).min(longest))).await;
            delay = (delay * 2).min(longest);
        }
    }

    /// Counts a watch that ended before it showed that it works.
    fn judge(&mut self, followed: &Followed) {
        match followed.end {
            _ if followed.proven => {}
            // What a watch says cannot be understood, and no other one will be.
            End::Failed(Error::Foreign { .. }) if followed.opened => self.fruitless = FRUITLESS,
            _ if self.garbled.is_some() => self.fruitless = FRUITLESS,
            End::Expired => self.fruitless += 1,
            End::Closed | End::Failed(_) if followed.opened => self.fruitless += 1,
            End::Closed | End::Failed(_) => {}
        }
    }

    /// The watch that is open works.
    async fn prove(&mut self) -> Result<(), Over> {
        self.fruitless = 0;
        self.seen = Instant::now();
        self.in_step().await
    }

    async fn in_step(&mut self) -> Result<(), Over> {
        if let Some((_, object)) = &self.unreadable {
            let message = format!("{} are out of date: {object}", list::resource(self.kind));
            return self.tell_trouble(message, false).await;
        }
        if self.standing == Standing::InStep {
            return Ok(());
        }
        self.standing = Standing::InStep;
        self.tell(Watched::InStep(self.kind)).await
    }

    /// Records and reports an error.
    async fn fail(&mut self, error: Error) -> Result<(), Over> {
        let unknown = matches!(
            error,
            Error::Unauthorized { .. } | Error::Credentials { .. } | Error::Plugin { .. }
        );
        let refused = unknown || matches!(error, Error::Refused { code: 403 | 404, .. });
        if refused && self.persistence == Persistence::UntilRefused {
            return Err(Over::Failed(error));
        }
        if unknown {
            let since = *self.unauthorized.get_or_insert_with(Instant::now);
            if since.elapsed() >= self.live.timing.unauthorized {
                return Err(Over::Failed(error));
            }
        } else if matches!(error, Error::Refused { .. }) {
            // A rejected user is known.
            self.unauthorized = None;
        }
        if matches!(error, Error::Refused { code: 404, .. }) {
            self.find_version().await;
        }
        self.tell_trouble(error.to_string(), refused).await
    }

    async fn tell_trouble(&mut self, message: String, refused: bool) -> Result<(), Over> {
        let standing = Standing::Trouble(message.clone());
        if self.standing == standing {
            return Ok(());
        }
        self.standing = standing;
        let trouble = Trouble {
            kind: self.kind,
            message,
            since: self.unreadable.as_ref().map_or(self.seen, |(since, _)| *since),
            refused,
            fruitless: self.fruitless >= FRUITLESS || self.partial || self.unreadable.is_some(),
        };
        self.tell(Watched::Trouble(trouble)).await
    }

    /// Where the kind is served in another version by now, as after an upgrade, that one is asked for from here on.
    async fn find_version(&mut self) {
        // What cannot be found out now is tried with the next refusal.
        let served = discover(&self.live, &BTreeSet::from([self.kind])).await;
        if let Ok(served) = served
            && let Serving::Version(version) = served.kind(self.kind)
        {
            self.version = version;
        }
    }

    async fn tell(&self, watched: Watched) -> Result<(), Over> {
        let sent = self.sender.send(Ok(watched)).await;
        sent.map_err(|_| Over::Unwanted)
    }

    /// The server said something.
    fn heard(&mut self) {
        self.contact = Instant::now();
        self.unauthorized = None;
        if self.fruitless < FRUITLESS {
            self.seen = self.contact;
        }
    }

    /// Keeps one watch open until it ends.
    async fn follow(&mut self) -> Result<Followed, Over> {
        let path = list::path(
            self.kind,
            self.version,
            self.want.namespace.as_deref(),
            &self.want,
        );
        let separator = if path.contains('?') { '&' } else { '?' };
        let timing = self.live.timing;
        let (limit, pause, seconds) = match self.persistence {
            Persistence::UntilRefused => (timing.first_byte, timing.watch_pause, WATCH_SECONDS),
            Persistence::Lasting => (timing.watch_opens, timing.lasting_watch_pause, LASTING_SECONDS),
        };
        let path = format!(
            "{path}{separator}watch=true&allowWatchBookmarks=true&timeoutSeconds={seconds}&resourceVersion={}",
            self.resource_version
        );
        let what = format!("watch {}", list::resource(self.kind));
        let opened = in_time(limit, &what, self.live.open(&path, JSON, &what)).await;
        let mut answer = match opened {
            Ok(answer) => answer.with_pause(pause),
            Err(Error::Refused { code: 410, .. }) => return Ok(Followed::unopened(End::Expired)),
            Err(error) => return Ok(Followed::unopened(End::Failed(error))),
        };
        self.heard();
        if self.fruitless < FRUITLESS {
            self.in_step().await?;
        }
        let mut events = JsonItems::new(JsonLimits::default());
        let (mut proven, mut shown, mut changed) = (false, false, false);
        let (mut gapped, mut received) = (false, false);
        // What is open and silent for so long waits for changes, as watches do.
        let quiet = Instant::now() + timing.watch_proof;
        let end = loop {
            let next = tokio::select! {
                biased;
                next = answer.next() => next,
                () = tokio::time::sleep_until(quiet), if !(proven || received || self.garbled.is_some()) => {
                    proven = true;
                    self.prove().await?;
                    continue;
                }
            };
            let piece = match next {
                Ok(Some(piece)) => piece,
                // Within the time that a lasting watch has, a server says something.
                Err(error @ Error::TimedOut { .. })
                    if self.persistence == Persistence::Lasting && self.contact.elapsed() >= pause =>
                {
                    break End::Failed(error);
                }
                // Watches end all the time, in the middle of an event too; what was not seen is sent again.
                Ok(None) | Err(Error::Cut { .. } | Error::TimedOut { .. }) => break End::Closed,
                Err(error) => break End::Failed(error),
            };
            received |= !piece.trim_ascii().is_empty();
            let taken = self.take(&mut events, &piece);
            if taken.heard {
                self.heard();
            } else if self.contact.elapsed() >= pause {
                // Blanks, or an event without end: the connection is there, and nothing is to be seen.
                (self.garbled, proven) = (Some(self.resource_version.clone()), false);
                let message = "it sends data, but no complete event".to_owned();
                break End::Failed(self.foreign(message));
            }
            gapped |= taken.gapped;
            shown |= taken.proves;
            changed |= taken.changed;
            let is_stuck = self.garbled.as_ref() == Some(&self.resource_version);
            if taken.changed || taken.proves && !is_stuck {
                proven = true;
                self.garbled = None;
                self.prove().await?;
            }
            self.hand_out(taken.changes, taken.unreadable).await?;
            if let Some(end) = taken.end {
                break end;
            }
        };
        if matches!(end, End::Closed) {
            if received && !shown || !changed && !events.is_between_objects() {
                (self.garbled, proven) = (Some(self.resource_version.clone()), false);
            } else if !proven && Instant::now() >= quiet {
                // It was open for long enough, and ended as watches do.
                (self.garbled, proven) = (None, true);
                self.prove().await?;
            }
        }
        Ok(Followed {
            end,
            opened: true,
            proven,
            gapped,
        })
    }

    async fn hand_out(&mut self, mut changes: Vec<Change>, unreadable: Vec<Unreadable>) -> Result<(), Over> {
        let mut is_news = false;
        for change in &mut changes {
            if let Change::Put(object) = change {
                is_news |= self.newer.drop_from_one(object);
            }
        }
        if is_news {
            self.tell(Watched::Newer(self.newer.clone())).await?;
        }
        if !changes.is_empty() {
            self.tell(Watched::Changes(changes)).await?;
        }
        for object in unreadable {
            self.unreadable
                .get_or_insert_with(|| (Instant::now(), object.clone()));
            self.tell(Watched::Unreadable(object)).await?;
        }
        if self.unreadable.is_some() {
            if self.unread.is_empty() {
                self.unreadable = None;
            }
            self.in_step().await?;
        }
        Ok(())
    }

    fn take(&mut self, events: &mut JsonItems, piece: &[u8]) -> Taken {
        let mut taken = Taken::default();
        let mut feed = events.feed(piece);
        loop {
            match feed.next_event() {
                Ok(None) => return taken,
                Ok(Some(JsonEvent::Item(item))) => {
                    taken.heard = true;
                    self.event(item.json, &mut taken);
                    if taken.end.is_some() {
                        return taken;
                    }
                }
                Ok(Some(JsonEvent::Bad { message, .. })) => {
                    taken.heard = true;
                    self.missed(&mut taken, None, message);
                }
                Ok(Some(JsonEvent::ListEnd(_))) => {}
                Err(error) => {
                    // To continue from the same version would bring the same again.
                    taken.end = Some(End::Failed(self.foreign(error.to_string())));
                    return taken;
                }
            }
        }
    }

    fn event(&mut self, json: &[u8], taken: &mut Taken) {
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
        let event = match json::from_slice::<Event<'_>>(json) {
            Ok(event) => event,
            Err(error) => {
                let name = name_of(json, self.kind);
                return self.missed(taken, name, error.to_string());
            }
        };
        let object = event.object.get().as_bytes();
        let is_change = matches!(&*event.type_, "ADDED" | "MODIFIED" | "DELETED");
        if is_change || event.type_ == "BOOKMARK" {
            let version = version_of(object);
            if version
                .as_deref()
                .is_some_and(|version| is_before(version, &self.resource_version))
            {
                taken.end = Some(End::Failed(self.foreign(format!(
                    "it reports version {} after {}",
                    version.unwrap_or_default(),
                    self.resource_version
                ))));
                return;
            }
            let is_shown = is_change && key_of(object).is_some_and(|key| !key.name.is_empty());
            taken.changed |= is_shown;
            taken.proves |= is_shown || !is_change && version.is_some();
            if let Some(version) = version {
                self.resource_version = version;
            }
        }
        match &*event.type_ {
            "ERROR" => {
                let Status { code, message } = json::from_slice(object).unwrap_or_default();
                let what = format!("watch {}", list::resource(self.kind));
                taken.end = Some(match code {
                    410 => End::Expired,
                    _ => End::Failed(Error::Refused {
                        what,
                        code,
                        message,
                        retry_after: None,
                    }),
                });
            }
            "BOOKMARK" => {}
            "DELETED" => {
                // Its name is all that counts, however broken the rest is.
                match key_of(object).filter(|key| !key.name.is_empty()) {
                    Some(key) => {
                        self.known.remove(&key);
                        self.unread.keys.remove(&key);
                        taken.changes.push(Change::Delete(self.kind, key));
                    }
                    None => {
                        let name = name_of(object, self.kind);
                        self.missed(taken, name, "has no name".to_owned());
                    }
                }
            }
            "ADDED" | "MODIFIED" => {
                match self.decode(object) {
                    Ok(object) => {
                        let metadata = object.metadata();
                        self.unread.keys.remove(&metadata.key());
                        self.known
                            .insert(metadata.key(), metadata.resource_version.clone());
                        taken.changes.push(Change::Put(object));
                    }
                    Err(why) => {
                        // It exists and was unknown before; a new list must treat it neither as deleted nor as known.
                        taken.gapped = true;
                        self.unread.add(object);
                        taken.unreadable.push(Unreadable {
                            kind: self.kind,
                            name: name_of(object, self.kind),
                            reason: why,
                        });
                    }
                }
            }
            other => {
                let reason = format!("an event of the unknown type `{other}`");
                self.missed(taken, name_of(object, self.kind), reason);
            }
        }
    }

    /// An event may have been about any object.
    fn missed(&mut self, taken: &mut Taken, name: Option<String>, reason: String) {
        taken.gapped = true;
        self.unread.nameless = true;
        taken.unreadable.push(Unreadable {
            kind: self.kind,
            name,
            reason,
        });
    }

    /// The object of an event, or why there is none.
    fn decode(&mut self, json: &[u8]) -> Result<Object, String> {
        let namespace = self.want.namespace.as_deref();
        let name = named(json).filter(|named| named.name.is_some());
        if let Some(why) = misplaced(json, name.as_ref(), (self.kind, self.version), namespace) {
            return Err(why);
        }
        self.decoder
            .decode(self.kind, self.kind.group(), self.version, json)
            .map_err(|error| error.to_string())
    }

    /// The server answers otherwise than an API server.
    fn foreign(&self, message: String) -> Error {
        let what = format!("watch {}", list::resource(self.kind));
        self.live.foreign(what, message)
    }

    /// Lists everything and tells what differs from what is known.
    async fn list_anew(&mut self) -> Result<End, Over> {
        let listing = Listing {
            kind: self.kind,
            version: self.version,
            namespace: self.want.namespace.as_deref(),
            want: &self.want,
        };
        let meter = Arc::new(Meter::new(Arc::new(Unobserved)));
        let sink = || Objects::new(self.kind, self.version);
        let listed = match list::whole(&self.live, listing, &meter, sink).await {
            Ok(listed) => listed,
            Err(error) => return Ok(End::Failed(error)),
        };
        self.heard();
        self.partial = false;
        self.resource_version = listed.resource_version;
        let sink = listed.sink;
        let changes = difference(self.kind, &mut self.known, sink.objects, &sink.unread);
        self.unread = sink.unread;
        if self.unread.is_empty() {
            self.unreadable = None;
        }
        let unreadable = sink.problems.into_iter().map(|problem| Unreadable {
            kind: self.kind,
            name: problem.object,
            reason: problem.message,
        });
        self.hand_out(changes, unreadable.collect()).await?;
        Ok(End::Closed)
    }
}

/// The version of `object`, where the next watch continues; nothing where it says none.
fn version_of(object: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Versioned {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        #[serde(rename = "resourceVersion")]
        resource_version: String,
    }
    let versioned: Versioned = json::from_slice(object).ok()?;
    Some(versioned.metadata.resource_version).filter(|version| !version.is_empty())
}

/// Returns whether a version is known to be older than another one: they are numbers, and what is none cannot be compared.
fn is_before(version: &str, other: &str) -> bool {
    let number = |text: &str| text.parse::<u128>().ok();
    matches!((number(version), number(other)), (Some(a), Some(b)) if a < b)
}

/// Returns whether a watch resumes at its version after this error. After any other error everything is listed.
fn goes_on_after(error: &Error) -> bool {
    match error {
        Error::Unreachable { .. } | Error::Cut { .. } | Error::TimedOut { .. } => true,
        // A server whose storage was set back knows only older versions.
        Error::Refused { code, message, .. } => {
            matches!(code, 429 | 500 | 502 | 503 | 504) && !message.contains("Too large resource version")
        }
        _ => false,
    }
}

/// Returns what changed between the `known` objects and `objects`, which are known afterwards. What could not be read stays what it was.
fn difference(
    kind: Kind,
    known: &mut BTreeMap<Key, Str>,
    objects: Vec<Object>,
    unread: &Unread,
) -> Vec<Change> {
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
    let (kept, gone): (BTreeMap<_, _>, BTreeMap<_, _>) = gone
        .into_iter()
        .partition(|(key, _)| unread.nameless || unread.keys.contains(key));
    known.extend(kept);
    changes.extend(gone.into_keys().map(|key| Change::Delete(kind, key)));
    changes
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    /// The loop of `run` waits for several things, and drops the wait for changes when another comes first.
    #[tokio::test]
    async fn who_stops_waiting_loses_nothing() {
        let (sender, inbox) = mpsc::channel(4);
        let mut watch = Watch {
            inbox,
            held: Vec::new(),
            since: Instant::now(),
            after: None,
            kinds: BTreeSet::new(),
            _tasks: JoinSet::new(),
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

    /// Trouble that came right after a change was dropped once.
    #[tokio::test]
    async fn errors_that_come_with_changes_are_reported_after_them() {
        let (sender, inbox) = mpsc::channel(4);
        let mut watch = Watch {
            inbox,
            held: Vec::new(),
            since: Instant::now(),
            after: None,
            kinds: BTreeSet::new(),
            _tasks: JoinSet::new(),
        };
        let change = |name: &str| {
            Ok(Watched::Changes(vec![Change::Delete(
                Kind::Pod,
                Key::new("n", name),
            )]))
        };
        sender.send(change("a")).await.unwrap();
        sender.send(Ok(Watched::InStep(Kind::Pod))).await.unwrap();
        sender.send(change("b")).await.unwrap();
        let mut told = Vec::new();
        for _ in 0..3 {
            let next = tokio::time::timeout(Duration::from_secs(5), watch.next(Duration::ZERO)).await;
            told.push(match next {
                Ok(Ok(Watched::Changes(changes))) => format!("{} change", changes.len()),
                Ok(Ok(other)) => format!("{other:?}"),
                Ok(Err(error)) => error.to_string(),
                Err(_) => "nothing".to_owned(),
            });
        }
        assert_eq!(told, ["1 change", "InStep(Pod)", "1 change"]);
    }

    #[test]
    fn a_new_list_reports_only_differences() {
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
            &Unread::default(),
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

    /// Whatever is there and cannot be read is not gone.
    #[test]
    fn a_new_list_leaves_alone_what_cannot_be_read() {
        let versions = || BTreeMap::from(["a", "b"].map(|name| (Key::new("n", name), Str::from("1"))));
        let mut known = versions();
        let mut unread = Unread {
            keys: [Key::new("n", "a")].into(),
            nameless: false,
        };
        let changes = difference(Kind::Pod, &mut known, Vec::new(), &unread);
        assert!(
            matches!(&changes[..], [Change::Delete(_, key)] if key.name == "b"),
            "{changes:?}"
        );
        assert_eq!(known.keys().map(|key| &*key.name).collect::<Vec<_>>(), ["a"]);

        unread.nameless = true;
        let mut known = versions();
        assert!(difference(Kind::Pod, &mut known, Vec::new(), &unread).is_empty());
        assert_eq!(known, versions());
    }
}
