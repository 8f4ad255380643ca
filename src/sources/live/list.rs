//! Lists: one request per kind and namespace, decoded while the answer arrives.
//!
//! A list is asked for whole. Pages cost the server and the network a round trip each (kubectl's pages of 500 make most of its 20
//! seconds for 50,000 claims), and a page token may expire in between. Nothing of the answer is held but the item being read: the
//! runtime's threads decrypt, a thread of the list's own cuts the body into items and hands each to a [`Sink`].
//!
//! No `resourceVersion` is sent, so the answer is consistent: never older than what the server had stored at the request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc;

use super::connect::Target;
use super::error::Error;
use super::request::{Answer, JSON, Patience};
use crate::model::Kind;
use crate::sources::files::{JsonEvent, JsonItems, JsonLimits};
use crate::sources::needs::{Observer, Want};

/// Bytes of a body that are handed to the decoder together.
const BATCH: usize = 64 << 10;

/// Batches between network and decoder. More would only hold memory: the decoder is faster than the server.
const PIECES: usize = 8;

/// Takes the items of one list, in their order.
pub(super) trait Sink: Send + 'static {
    /// One item as it was received.
    fn item(&mut self, json: &[u8]);

    /// Something in the place of an item that is none.
    fn bad(&mut self, index: u64, message: String);
}

/// A complete list.
pub(super) struct Listed<S> {
    pub(super) sink: S,
    /// Version of the list, where a watch continues.
    pub(super) resource_version: String,
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

/// Lists the objects at `path`. An answer that ends early is asked for once more, into a fresh sink.
pub(super) async fn list<S: Sink>(
    target: &Target,
    path: &str,
    what: &str,
    meter: &Arc<Meter>,
    sink: impl Fn() -> S,
) -> Result<Listed<S>, Error> {
    let mut patience = Patience::new(target.timing);
    loop {
        match attempt(target, path, what, meter, sink()).await {
            Ok(listed) => return Ok(listed),
            Err(error) => patience.again(error).await?,
        }
    }
}

async fn attempt<S: Sink>(
    target: &Target,
    path: &str,
    what: &str,
    meter: &Arc<Meter>,
    sink: S,
) -> Result<Listed<S>, Error> {
    let answer = target.open(path, JSON, what).await?;
    let (pieces, inbox) = mpsc::channel(PIECES);
    let decoder = tokio::task::spawn_blocking({
        let meter = Arc::clone(meter);
        move || decode(inbox, sink, &meter)
    });
    // As a task of the runtime this runs on the thread that reads the connection, instead of waking another one for every piece.
    let receiver = tokio::spawn(receive(answer, pieces));
    let (received, decoded) = tokio::join!(receiver, decoder);
    received.unwrap_or_else(|error| {
        Err(Error::Cut {
            what: what.to_owned(),
            message: error.to_string(),
        })
    })?;
    let cut = |message: String| Error::Cut {
        what: what.to_owned(),
        message,
    };
    match decoded {
        Ok(Ok(listed)) => Ok(listed),
        Ok(Err(NotAList::Early(message))) => Err(cut(message)),
        Ok(Err(NotAList::Other(message))) => Err(Error::Foreign {
            what: what.to_owned(),
            server: target.server.clone(),
            message,
        }),
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

/// Why a body is no list.
enum NotAList {
    /// It may be one, but ends within.
    Early(String),
    /// It is something else.
    Other(String),
}

fn decode<S: Sink>(
    mut inbox: mpsc::Receiver<Vec<u8>>,
    mut sink: S,
    meter: &Meter,
) -> Result<Listed<S>, NotAList> {
    let mut items = JsonItems::new(JsonLimits::default());
    let mut resource_version = None;
    while let Some(piece) = inbox.blocking_recv() {
        let mut feed = items.feed(&piece);
        let mut objects = 0;
        loop {
            match feed.next_event() {
                Ok(None) => break,
                Ok(Some(JsonEvent::Item(item))) => {
                    if item.list.is_none() {
                        return Err(NotAList::Other("the answer is not a list".to_owned()));
                    }
                    sink.item(item.json);
                    objects += 1;
                }
                Ok(Some(JsonEvent::Bad { index, reason, .. })) => {
                    sink.bad(index.unwrap_or(0), reason.to_string());
                }
                Ok(Some(JsonEvent::ListEnd(head))) => {
                    resource_version = Some(head.resource_version.clone().unwrap_or_default());
                }
                Err(error) => return Err(NotAList::Other(error.to_string())),
            }
        }
        meter.add(objects, piece.len() as u64);
    }
    items
        .finish()
        .map_err(|error| NotAList::Early(error.to_string()))?;
    match resource_version {
        Some(resource_version) => Ok(Listed {
            sink,
            resource_version,
        }),
        None => Err(NotAList::Early("the answer is empty".to_owned())),
    }
}

/// The path and query that list `kind` in `version`, in one namespace or in all.
pub(super) fn path(kind: Kind, version: &str, namespace: Option<&str>, want: &Want) -> String {
    let mut path = collection(kind, version, namespace);
    let mut separator = '?';
    for (name, value) in [("labelSelector", &want.labels), ("fieldSelector", &want.fields)] {
        if !value.is_empty() {
            path.push(separator);
            path.push_str(name);
            path.push('=');
            percent_encode(value, &mut path);
            separator = '&';
        }
    }
    path
}

/// The path of a kind's collection.
pub(super) fn collection(kind: Kind, version: &str, namespace: Option<&str>) -> String {
    let mut path = if kind.group().is_empty() {
        format!("/api/{version}")
    } else {
        format!("/apis/{}/{version}", kind.group())
    };
    if let Some(namespace) = namespace.filter(|_| kind.is_namespaced()) {
        path.push_str("/namespaces/");
        percent_encode(namespace, &mut path);
    }
    path.push('/');
    path.push_str(kind.plural());
    path
}

/// What a list is called in messages: `list resourceclaims.resource.k8s.io in namespace "a"`.
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

pub(super) fn percent_encode(text: &str, into: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            into.push(char::from(byte));
        } else {
            into.push('%');
            for nibble in [byte >> 4, byte & 15] {
                into.push(char::from(b"0123456789ABCDEF"[usize::from(nibble)]));
            }
        }
    }
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
