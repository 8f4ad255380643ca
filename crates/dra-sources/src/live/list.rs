//! Lists: one request per kind and namespace, decoded while the answer arrives.
//!
//! A list is asked for whole. Pages cost the server and the network a round trip each (kubectl's pages of 500 make most of its 20
//! seconds for 50,000 claims), and a page token may expire in between. What answers in pages all the same, as a proxy may, is asked for
//! the next one to the end. Nothing of the answer is held but the item being read: the
//! runtime's threads decrypt, a thread of the list's own cuts the body into items and hands each to a [`Sink`].
//!
//! No `resourceVersion` is sent, so the answer is consistent: never older than what the server had stored at the request.

use std::collections::HashSet;
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::fast::RandomState;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use tokio::sync::mpsc;

use super::Live;
use super::asked::misplaced;
use super::error::Error;
use super::request::{Answer, JSON, Patience, joined};
use crate::decode::{group_version, name_of};
use crate::files::{JsonEvent, JsonItem, JsonItems, JsonLimits, ListHead, named};
use crate::needs::{Observer, Want};
use dra_model::{Key, Kind};

/// Bytes of a body that are handed to the decoder together.
const BATCH: usize = 64 << 10;

/// Batches between network and decoder. More would only hold memory: the decoder is faster than the server.
const PIECES: usize = 8;

/// Takes the items of one list, in their order.
pub(super) trait Sink: Send + 'static {
    /// One item as it was received.
    fn item(&mut self, json: &[u8]);

    /// Something in the place of an item that is none, and what it is called.
    fn bad(&mut self, name: String, message: String);
}

/// A list to its end.
pub(super) struct Listed<S> {
    pub(super) sink: S,
    /// Version of the list, where a watch continues.
    pub(super) resource_version: String,
    /// What makes the list less than all objects, if it says so itself.
    pub(super) lacks: Option<String>,
}

/// Listed kind.
#[derive(Clone, Copy)]
pub(super) struct Listing<'l> {
    pub(super) kind: Kind,
    pub(super) version: &'static str,
    /// All without one.
    pub(super) namespace: Option<&'l str>,
    pub(super) want: &'l Want,
}

impl Listing<'_> {
    /// Returns what it is called in messages: `list resourceclaims.resource.k8s.io in namespace `a``.
    pub(super) fn name(&self) -> String {
        name(self.kind, self.namespace)
    }
}

/// Counts what all lists of a load have read.
pub(super) struct Meter {
    observer: Arc<dyn Observer>,
    objects: AtomicU64,
    bytes: AtomicU64,
}

impl Meter {
    pub(super) fn new(observer: Arc<dyn Observer>) -> Self {
        Self {
            observer,
            objects: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    fn add(&self, objects: u64, bytes: u64) {
        let objects = self.objects.fetch_add(objects, Ordering::Relaxed) + objects;
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.observer.progress(objects, bytes);
    }
}

/// Lists objects. An answer that ends early is asked for once more, into a fresh sink.
pub(super) async fn list<S: Sink>(
    live: &Live,
    listing: Listing<'_>,
    meter: &Arc<Meter>,
    sink: impl Fn() -> S,
) -> Result<Listed<S>, Error> {
    let mut patience = Patience::new(live.timing);
    loop {
        match pages(live, listing, meter, sink()).await {
            Ok(listed) => return Ok(listed),
            Err(error) => patience.again(error).await?,
        }
    }
}

/// Lists every object there is.
///
/// # Errors
/// As [`list`], and where the list says that it lacks some.
pub(super) async fn whole<S: Sink>(
    live: &Live,
    listing: Listing<'_>,
    meter: &Arc<Meter>,
    sink: impl Fn() -> S,
) -> Result<Listed<S>, Error> {
    let mut listed = list(live, listing, meter, sink).await?;
    match listed.lacks.take() {
        None => Ok(listed),
        Some(lacks) => Err(live.foreign(listing.name(), lacks)),
    }
}

/// Lists page by page, nearly always a single one.
async fn pages<S: Sink>(
    live: &Live,
    listing: Listing<'_>,
    meter: &Arc<Meter>,
    sink: S,
) -> Result<Listed<S>, Error> {
    let mut sink = Checked::new(listing, sink);
    let first = path(listing.kind, listing.version, listing.namespace, listing.want);
    let mut path = first.clone();
    // Of several versions the first one misses nothing.
    let mut version = None;
    let (mut token, mut idle) = (None, 0);
    // How many items there are by now, and how many there must be as a page said.
    let (mut count, mut expected) = (0, 0_u64);
    loop {
        let page = page(live, listing, &path, meter, sink).await;
        let page = page.map_err(|error| match error {
            // The server forgot the version of the first page, and continues only from there.
            Error::Refused {
                code: 410, message, ..
            } if token.is_some() => Error::Cut {
                what: listing.name(),
                message,
            },
            error => error,
        })?;
        sink = page.sink;
        let resource_version = version.get_or_insert(page.resource_version);
        idle = if page.items == 0 { idle + 1 } else { 0 };
        count += page.items;
        expected = expected.max(count.saturating_add(page.remaining));
        let Some(next) = page.next else {
            let missing = expected - count;
            let missing = (missing > 0)
                .then(|| format!("the list lacks {missing} of its items, and has no continue token"));
            return Ok(Listed {
                lacks: missing.or(sink.repeated),
                sink: sink.sink,
                resource_version: std::mem::take(resource_version),
            });
        };
        if idle > IDLE || token.as_ref() == Some(&next) {
            let message = "its pages form a loop".to_owned();
            return Err(live.foreign(listing.name(), message));
        }
        let separator = if first.contains('?') { '&' } else { '?' };
        path = format!("{first}{separator}continue={}", encoded(&next));
        token = Some(next);
    }
}

/// Pages in a row that may have nothing in them.
const IDLE: u32 = 100;

/// Hands on what may be an item of the list.
struct Checked<S> {
    sink: S,
    kind: Kind,
    version: &'static str,
    namespace: Option<String>,
    /// Hashes of the names of the items.
    seen: HashSet<u64, RandomState>,
    /// That an item is there twice. Whatever lists one twice may have left out another.
    repeated: Option<String>,
}

impl<S: Sink> Checked<S> {
    fn new(listing: Listing<'_>, sink: S) -> Self {
        Self {
            sink,
            kind: listing.kind,
            version: listing.version,
            namespace: listing.namespace.map(str::to_owned),
            seen: HashSet::default(),
            repeated: None,
        }
    }

    fn item(&mut self, item: &JsonItem<'_>) {
        let name = named(item.json).filter(|named| named.name.is_some());
        if let Some(name) = &name {
            let hash = self.seen.hasher().hash_one((&name.namespace, &name.name));
            if !self.seen.insert(hash) && self.repeated.is_none() {
                let name = name_of(item.json, self.kind).unwrap_or_default();
                self.repeated = Some(format!("the list has `{name}` more than once"));
            }
        }
        let namespace = self.namespace.as_deref();
        match misplaced(item.json, name.as_ref(), (self.kind, self.version), namespace) {
            None => self.sink.item(item.json),
            Some(why) => {
                let name = name_of(item.json, self.kind);
                self.sink.bad(name.unwrap_or_else(|| numbered(item.index)), why);
            }
        }
    }
}

/// Returns what an item without a name is called.
fn numbered(index: Option<u64>) -> String {
    format!("item {}", index.unwrap_or_default())
}

/// One answer to a list.
struct Page<S> {
    sink: Checked<S>,
    resource_version: String,
    /// Number of its items.
    items: u64,
    /// Number of items that it says are on later pages.
    remaining: u64,
    /// Token of the next page.
    next: Option<String>,
}

async fn page<S: Sink>(
    live: &Live,
    listing: Listing<'_>,
    path: &str,
    meter: &Arc<Meter>,
    sink: Checked<S>,
) -> Result<Page<S>, Error> {
    let what = &*listing.name();
    let answer = live.open(path, JSON, what).await?;
    let (pieces, inbox) = mpsc::channel(PIECES);
    let decoder = tokio::task::spawn_blocking({
        let meter = Arc::clone(meter);
        move || decode(inbox, sink, &meter)
    });
    // As a task of the runtime this runs on the thread that reads the connection, instead of waking another one for every piece.
    let receiver = joined(what, tokio::spawn(receive(answer, pieces)));
    let (received, decoded) = tokio::join!(receiver, decoder);
    received?;
    let cut = |message: String| Error::Cut {
        what: what.to_owned(),
        message,
    };
    match decoded {
        Ok(Ok(page)) => Ok(page),
        Ok(Err(NotAList::Early(message))) => Err(cut(message)),
        Ok(Err(NotAList::Other(message))) => Err(live.foreign(what, message)),
        // The thread panicked or the runtime ends.
        Err(error) => Err(cut(error.to_string())),
    }
}

/// Hands the body over in batches. The server sends every object in a chunk of its own, and each message costs two threads a turn.
async fn receive(mut answer: Answer, pieces: mpsc::Sender<Vec<u8>>) -> Result<(), Error> {
    let mut batch = Vec::with_capacity(BATCH);
    while let Some(piece) = answer.next().await? {
        if !batch.is_empty() && batch.len() + piece.len() > BATCH {
            // The decoder is gone only if it found something that no list holds, which it then says.
            if pieces
                .send(std::mem::replace(&mut batch, Vec::with_capacity(BATCH)))
                .await
                .is_err()
            {
                return Ok(());
            }
        }
        batch.extend_from_slice(&piece);
    }
    let _ = pieces.send(batch).await;
    Ok(())
}

/// The reason why a body is no list.
enum NotAList {
    /// It may be one, but ends within.
    Early(String),
    /// It is something else.
    Other(String),
}

fn decode<S: Sink>(
    mut inbox: mpsc::Receiver<Vec<u8>>,
    mut sink: Checked<S>,
    meter: &Meter,
) -> Result<Page<S>, NotAList> {
    let mut items = JsonItems::new(JsonLimits::default());
    let mut head: Option<ListHead> = None;
    while let Some(piece) = inbox.blocking_recv() {
        let mut feed = items.feed(&piece);
        let mut objects = 0;
        loop {
            match feed.next_event() {
                Ok(None) => break,
                Ok(Some(JsonEvent::Item(item))) => {
                    if item.list.is_none() {
                        return Err(NotAList::Other("the response is not a list".to_owned()));
                    }
                    sink.item(&item);
                    objects += 1;
                }
                Ok(Some(JsonEvent::Bad { index, message, .. })) => {
                    sink.sink.bad(numbered(index), message);
                }
                Ok(Some(JsonEvent::ListEnd(ended))) => {
                    if let Some(wrong) = oddity(ended, (sink.kind, sink.version), head.is_some()) {
                        return Err(NotAList::Other(wrong));
                    }
                    head = Some(ended.clone());
                }
                Err(error) => return Err(NotAList::Other(error.to_string())),
            }
        }
        meter.add(objects, piece.len() as u64);
    }
    items
        .finish()
        .map_err(|error| NotAList::Early(error.to_string()))?;
    match head {
        Some(head) => Ok(Page {
            sink,
            resource_version: head.resource_version.unwrap_or_default(),
            items: head.items,
            remaining: head.remaining_items.unwrap_or_default().unsigned_abs(),
            next: head.continue_token,
        }),
        None => Err(NotAList::Early("the response is empty".to_owned())),
    }
}

/// Returns why a list is not the one of `kind` in `version` that was asked for.
fn oddity(head: &ListHead, (kind, version): (Kind, &str), is_second: bool) -> Option<String> {
    let name = head.kind.as_deref().unwrap_or_default();
    let said = head.api_version.as_deref().unwrap_or_default();
    let is_asked_for = name.strip_suffix("List") == Some(kind.name())
        && (said.is_empty() || group_version(said) == (kind.group(), version));
    if is_second {
        Some("the response contains more than one list".to_owned())
    } else if !is_asked_for {
        Some(format!("the response is a `{name}` of `{said}`"))
    } else if !head.has_items || head.has_null_items {
        Some("the response is a list without `items`".to_owned())
    } else if head.is_odd {
        Some("the response is a list with invalid `metadata` or a duplicate `kind`".to_owned())
    } else {
        None
    }
}

/// The path and query that list `kind` in `version`, in one namespace or in all.
pub(super) fn path(kind: Kind, version: &str, namespace: Option<&str>, want: &Want) -> String {
    let mut path = collection(kind, version, namespace);
    let mut separator = '?';
    for (name, value) in [("labelSelector", &want.labels), ("fieldSelector", &want.fields)] {
        if !value.is_empty() {
            path.push_str(&format!("{separator}{name}={}", encoded(value)));
            separator = '&';
        }
    }
    path
}

/// The path of a kind's collection.
pub(super) fn collection(kind: Kind, version: &str, namespace: Option<&str>) -> String {
    let root = root(&kind.api_version(version));
    match namespace.filter(|_| kind.is_namespaced()) {
        Some(namespace) => format!("{root}/namespaces/{}/{}", encoded(namespace), kind.plural()),
        None => format!("{root}/{}", kind.plural()),
    }
}

/// The path of an object.
pub(super) fn object(kind: Kind, version: &str, key: &Key) -> String {
    let collection = collection(kind, version, Some(&key.namespace));
    format!("{collection}/{}", encoded(&key.name))
}

/// The path of a group's version.
pub(super) fn root(api_version: &str) -> String {
    match api_version.split_once('/') {
        None => format!("/api/{}", encoded(api_version)),
        Some((group, version)) => format!("/apis/{}/{}", encoded(group), encoded(version)),
    }
}

/// Returns what a list is called in messages: `list resourceclaims.resource.k8s.io in namespace "a"`.
pub(super) fn name(kind: Kind, namespace: Option<&str>) -> String {
    let resource = resource(kind);
    match namespace {
        Some(namespace) if kind.is_namespaced() => format!("list {resource} in namespace `{namespace}`"),
        _ => format!("list {resource}"),
    }
}

/// `resourceclaims.resource.k8s.io`, or `pods`.
pub(super) fn resource(kind: Kind) -> String {
    if kind.group().is_empty() {
        kind.plural().to_owned()
    } else {
        format!("{}.{}", kind.plural(), kind.group())
    }
}

/// The text as one part of a path or a query.
pub(super) fn encoded(text: &str) -> PercentEncode<'_> {
    const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'.')
        .remove(b'_')
        .remove(b'~');
    utf8_percent_encode(text, ENCODED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_api_with_escaped_selectors() {
        let want = Want {
            labels: "app in (a,b)".into(),
            fields: "metadata.name=x".into(),
            ..Want::default()
        };
        assert_eq!(
            path(Kind::Pod, "v1", Some("a/b"), &Want::default()),
            "/api/v1/namespaces/a%2Fb/pods"
        );
        assert_eq!(
            path(Kind::Node, "v1", Some("a"), &Want::default()),
            "/api/v1/nodes"
        );
        assert_eq!(
            path(Kind::ResourceClaim, "v1beta1", None, &want),
            "/apis/resource.k8s.io/v1beta1/resourceclaims?labelSelector=app%20in%20%28a%2Cb%29&fieldSelector=metadata.name%3Dx"
        );
        assert_eq!(
            name(Kind::ResourceClaim, None),
            "list resourceclaims.resource.k8s.io"
        );
    }
}
