//! A small API server without TLS, over objects that a test gives it, for faults and contradictions that a real one does not show.

use std::collections::BTreeMap;
use std::io::{BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::http::{Asked, answer};

/// A resource with its kind, and whether that lives in namespaces.
type Served = (&'static str, &'static str, bool);

/// Resources by group and version.
const SERVED: &[(&str, &[Served])] = &[
    (
        "v1",
        &[
            ("pods", "Pod", true),
            ("nodes", "Node", false),
            ("namespaces", "Namespace", false),
            ("events", "Event", true),
            ("resourcequotas", "ResourceQuota", true),
        ],
    ),
    (
        "resource.k8s.io/v1",
        &[
            ("resourceclaims", "ResourceClaim", true),
            ("resourceslices", "ResourceSlice", false),
            ("deviceclasses", "DeviceClass", false),
            ("resourceclaimtemplates", "ResourceClaimTemplate", true),
        ],
    ),
    (
        "resource.k8s.io/v1beta2",
        &[("devicetaintrules", "DeviceTaintRule", false)],
    ),
    ("scheduling.k8s.io/v1beta1", &[("podgroups", "PodGroup", true)]),
    (
        "policy/v1",
        &[("poddisruptionbudgets", "PodDisruptionBudget", true)],
    ),
];

/// Behavior of a watch.
#[derive(Clone, Debug)]
pub(crate) enum Watched {
    /// It is open and silent until the other side closes it.
    Quiet,
    /// It says this and ends.
    Says(&'static str),
    /// It is refused with this code.
    Refused(u16),
}

/// Changes the list of a resource that was asked for with this query, and says with which status it is sent.
type Listed = dyn Fn(&str, &str, &mut Value) -> u16 + Send + Sync;

/// Changes the answer to a request for one object, or to a patch of it, which have this method.
type Answered = dyn Fn(&str, &mut Value) + Send + Sync;

/// The objects as they are now, and what was asked.
struct State {
    objects: Vec<Value>,
    listed: Arc<Listed>,
    answered: Arc<Answered>,
    asked: Vec<String>,
    watches: BTreeMap<String, usize>,
}

/// The server. It serves until it is dropped.
pub(crate) struct Fake {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    has_ended: Arc<AtomicBool>,
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::SeqCst);
        // Whoever waits for a connection gets one.
        let _ = TcpStream::connect(self.address);
    }
}

impl Fake {
    /// Serves `objects`. `watched` says what the watch of a resource does that was opened so often before.
    pub(crate) fn with_watches(
        objects: impl IntoIterator<Item = Value>,
        watched: impl Fn(&str, usize) -> Watched + Send + Sync + 'static,
    ) -> Self {
        Self::new(objects, watched, |_, _, _| 200, |_, _| {})
    }

    /// Serves `objects`, in lists as `listed` makes them.
    pub(crate) fn with_lists(
        objects: impl IntoIterator<Item = Value>,
        listed: impl Fn(&str, &str, &mut Value) -> u16 + Send + Sync + 'static,
    ) -> Self {
        Self::new(objects, |_, _| Watched::Quiet, listed, |_, _| {})
    }

    /// Serves `objects`, each alone as `answered` makes it.
    pub(crate) fn with_answers(
        objects: impl IntoIterator<Item = Value>,
        answered: impl Fn(&str, &mut Value) + Send + Sync + 'static,
    ) -> Self {
        Self::new(objects, |_, _| Watched::Quiet, |_, _, _| 200, answered)
    }

    fn new(
        objects: impl IntoIterator<Item = Value>,
        watched: impl Fn(&str, usize) -> Watched + Send + Sync + 'static,
        listed: impl Fn(&str, &str, &mut Value) -> u16 + Send + Sync + 'static,
        answered: impl Fn(&str, &mut Value) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it listens");
        let has_ended = Arc::new(AtomicBool::new(false));
        let state = Arc::new(Mutex::new(State {
            objects: objects.into_iter().collect(),
            listed: Arc::new(listed),
            answered: Arc::new(answered),
            asked: Vec::new(),
            watches: BTreeMap::new(),
        }));
        let (serving, watched) = (Arc::clone(&state), Arc::new(watched));
        let ends = Arc::clone(&has_ended);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                // Small writes are not held back until earlier ones are acknowledged.
                let _ = stream.set_nodelay(true);
                let (state, watched) = (Arc::clone(&serving), Arc::clone(&watched));
                std::thread::spawn(move || connection(&state, &*watched, stream));
            }
        });
        Self {
            address,
            state,
            has_ended,
        }
    }

    /// The program's flags that lead here.
    pub(crate) fn flags(&self) -> [String; 2] {
        [
            "--kubeconfig=/dev/null".to_owned(),
            format!("--server=http://{}", self.address),
        ]
    }

    /// Methods and paths that were asked for, with their queries.
    pub(crate) fn asked(&self) -> Vec<String> {
        locked(&self.state).asked.clone()
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers the requests of a connection until one side ends it.
fn connection(
    state: &Mutex<State>,
    watched: &dyn Fn(&str, usize) -> Watched,
    stream: TcpStream,
) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let Asked {
            method, target, body, ..
        } = Asked::next(&mut lines)?;
        locked(state).asked.push(format!("{method} {target}"));
        let (path, query) = target.split_once('?').unwrap_or((target.as_str(), ""));
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        if query.contains("watch=true") {
            let resource = (*parts.last()?).to_owned();
            let before = {
                let mut state = locked(state);
                let count = state.watches.entry(resource.clone()).or_default();
                *count += 1;
                *count - 1
            };
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
            match watched(&resource, before) {
                Watched::Quiet => {
                    stream.write_all(head.as_bytes()).ok()?;
                    _ = lines.read(&mut [0]);
                }
                Watched::Says(text) => {
                    // All at once, so that no pause looks like patience.
                    let length = format!("Content-Length: {}\r\n\r\n", text.len());
                    let whole = head.replacen("\r\n\r\n", &format!("\r\n{length}"), 1) + text;
                    stream.write_all(whole.as_bytes()).ok()?;
                }
                Watched::Refused(code) => {
                    let (code, status) = failure(code, "too old resource version");
                    answer(&mut stream, code, "", status.to_string().as_bytes())?;
                }
            }
            return None;
        }
        let (code, said) = match method.as_str() {
            "GET" => get(&locked(state), &parts, query),
            "PATCH" => {
                let (code, mut said) = patch(&mut locked(state).objects, &parts, query, &body);
                if code == 200 {
                    (locked(state).answered)("PATCH", &mut said);
                }
                (code, said)
            }
            // Everything is allowed.
            _ => {
                let mut asked: Value = serde_json::from_slice(&body).unwrap_or_default();
                asked["status"] = json!({"allowed": true});
                (201, asked)
            }
        };
        answer(&mut stream, code, "", said.to_string().as_bytes())?;
    }
}

fn failure(code: u16, message: &str) -> (u16, Value) {
    let status =
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message});
    (code, status)
}

fn get(state: &State, parts: &[&str], query: &str) -> (u16, Value) {
    let answer = match parts {
        ["version"] => json!({"major": "1", "minor": "37", "gitVersion": "v1.37.1"}),
        ["api"] => json!({"kind": "APIVersions", "versions": ["v1"]}),
        ["apis"] => {
            let groups = SERVED.iter().filter_map(|(version, _)| {
                let (group, short) = version.split_once('/')?;
                let version = json!({"groupVersion": version, "version": short});
                Some(json!({"name": group, "versions": [version], "preferredVersion": version}))
            });
            json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups.collect::<Vec<_>>()})
        }
        _ => return served(state, parts, query),
    };
    (200, answer)
}

/// The version that a path is about, and the rest of it.
fn version_of<'p>(parts: &'p [&'p str]) -> (String, &'p [&'p str]) {
    match parts {
        ["api", version, rest @ ..] => ((*version).to_owned(), rest),
        ["apis", group, version, rest @ ..] => (format!("{group}/{version}"), rest),
        _ => (String::new(), &[]),
    }
}

fn served(state: &State, parts: &[&str], query: &str) -> (u16, Value) {
    let (version, rest) = version_of(parts);
    let Some((_, resources)) = SERVED.iter().find(|(served, _)| *served == version) else {
        return failure(404, &format!("{:?} not found", parts.last().unwrap_or(&"")));
    };
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some(*namespace), rest),
        rest => (None, rest),
    };
    let Some((resource, rest)) = rest.split_first() else {
        let resources: Vec<Value> = resources
            .iter()
            .map(|(name, kind, namespaced)| {
                json!({"name": name, "singularName": "", "namespaced": namespaced, "kind": kind,
                       "verbs": ["get", "list", "watch", "patch"]})
            })
            .collect();
        let list = json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": resources});
        return (200, list);
    };
    let Some((_, kind, _)) = resources.iter().find(|(name, ..)| name == resource) else {
        return failure(404, "the server could not find the requested resource");
    };
    let mut of_kind = state.objects.iter().filter(|object| {
        let place = object["metadata"]["namespace"].as_str();
        object["kind"] == *kind && namespace.is_none_or(|namespace| place == Some(namespace))
    });
    match rest {
        [] => {
            let items: Vec<&Value> = of_kind.collect();
            let mut list = json!({"apiVersion": version, "kind": format!("{kind}List"),
                "metadata": {"resourceVersion": "100"}, "items": items});
            ((state.listed)(resource, query, &mut list), list)
        }
        [name, ..] => match of_kind.find(|object| object["metadata"]["name"] == *name) {
            Some(found) => {
                let mut found = found.clone();
                (state.answered)("GET", &mut found);
                (200, found)
            }
            None => failure(404, &format!("{resource} \"{name}\" not found")),
        },
    }
}

/// Applies a JSON patch, whose lock is the first operation.
fn patch(objects: &mut [Value], parts: &[&str], query: &str, body: &[u8]) -> (u16, Value) {
    let (_, rest) = version_of(parts);
    let ["namespaces", namespace, _, name, ..] = rest else {
        return failure(404, "not found");
    };
    let found = objects.iter_mut().find(|object| {
        object["kind"] == "ResourceClaim"
            && object["metadata"]["namespace"] == *namespace
            && object["metadata"]["name"] == *name
    });
    let Some(found) = found else {
        return failure(404, &format!("resourceclaims \"{name}\" not found"));
    };
    let before = found["metadata"]["resourceVersion"].clone();
    let mut changed = found.clone();
    let operations: json_patch::Patch = serde_json::from_slice(body).expect("a JSON patch");
    if json_patch::patch(&mut changed, &operations).is_err() {
        return failure(422, "the patch cannot be applied");
    }
    if changed["metadata"]["resourceVersion"] != before {
        return failure(409, "the object has been modified");
    }
    let next = before
        .as_str()
        .and_then(|version| version.parse::<u64>().ok())
        .unwrap_or(0)
        + 1;
    changed["metadata"]["resourceVersion"] = json!(next.to_string());
    if !query.contains("dryRun") {
        *found = changed.clone();
    }
    (200, changed)
}
