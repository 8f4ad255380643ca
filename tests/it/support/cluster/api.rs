//! Requests to an API server, with objects as JSON values.
//!
//! The tests do not use the library's own types or client code here: what checks a tool must not share its
//! mistakes. Objects are named as on the command line: `pod/web-0` (namespace `default`),
//! `pod/inference/web-0`, `node/gpu-node-1`.

use std::path::Path;
use std::sync::OnceLock;

use http::{Method, Request};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::support::wait::{try_wait, wait_for};

/// A kind of object that the tests use.
struct Kind {
    /// As in a reference.
    short: &'static str,
    name: &'static str,
    plural: &'static str,
    api_version: &'static str,
    scope: Scope,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Cluster,
    Namespace,
}

const fn kind(
    short: &'static str,
    name: &'static str,
    plural: &'static str,
    api_version: &'static str,
    scope: Scope,
) -> Kind {
    Kind {
        short,
        name,
        plural,
        api_version,
        scope,
    }
}

const RESOURCE: &str = "resource.k8s.io/v1";
const SCHEDULING: &str = "scheduling.k8s.io/v1beta1";
const RBAC: &str = "rbac.authorization.k8s.io/v1";

const KINDS: &[Kind] = &[
    kind("namespace", "Namespace", "namespaces", "v1", Scope::Cluster),
    kind("configmap", "ConfigMap", "configmaps", "v1", Scope::Namespace),
    kind("node", "Node", "nodes", "v1", Scope::Cluster),
    kind("class", "DeviceClass", "deviceclasses", RESOURCE, Scope::Cluster),
    kind(
        "slice",
        "ResourceSlice",
        "resourceslices",
        RESOURCE,
        Scope::Cluster,
    ),
    kind(
        "rule",
        "DeviceTaintRule",
        "devicetaintrules",
        RESOURCE,
        Scope::Cluster,
    ),
    kind(
        "template",
        "ResourceClaimTemplate",
        "resourceclaimtemplates",
        RESOURCE,
        Scope::Namespace,
    ),
    kind(
        "claim",
        "ResourceClaim",
        "resourceclaims",
        RESOURCE,
        Scope::Namespace,
    ),
    kind("workload", "Workload", "workloads", SCHEDULING, Scope::Namespace),
    kind("podgroup", "PodGroup", "podgroups", SCHEDULING, Scope::Namespace),
    kind(
        "pdb",
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        "policy/v1",
        Scope::Namespace,
    ),
    kind("quota", "ResourceQuota", "resourcequotas", "v1", Scope::Namespace),
    kind("job", "Job", "jobs", "batch/v1", Scope::Namespace),
    kind(
        "deployment",
        "Deployment",
        "deployments",
        "apps/v1",
        Scope::Namespace,
    ),
    kind(
        "replicaset",
        "ReplicaSet",
        "replicasets",
        "apps/v1",
        Scope::Namespace,
    ),
    kind(
        "statefulset",
        "StatefulSet",
        "statefulsets",
        "apps/v1",
        Scope::Namespace,
    ),
    kind("pod", "Pod", "pods", "v1", Scope::Namespace),
    kind("event", "Event", "events", "v1", Scope::Namespace),
    kind(
        "serviceaccount",
        "ServiceAccount",
        "serviceaccounts",
        "v1",
        Scope::Namespace,
    ),
    kind(
        "lease",
        "Lease",
        "leases",
        "coordination.k8s.io/v1",
        Scope::Namespace,
    ),
    kind("clusterrole", "ClusterRole", "clusterroles", RBAC, Scope::Cluster),
    kind(
        "clusterrolebinding",
        "ClusterRoleBinding",
        "clusterrolebindings",
        RBAC,
        Scope::Cluster,
    ),
    kind("role", "Role", "roles", RBAC, Scope::Namespace),
    kind(
        "rolebinding",
        "RoleBinding",
        "rolebindings",
        RBAC,
        Scope::Namespace,
    ),
];

/// In which versions older releases serve DeviceTaintRules, newest first.
const OLDER_RULES: &[&str] = &["resource.k8s.io/v1beta2", "resource.k8s.io/v1alpha3"];

/// The kinds that [`Api::dump`] contains: what the tool reads.
const DUMPED: &[&str] = &[
    "namespace",
    "node",
    "class",
    "slice",
    "rule",
    "template",
    "claim",
    "workload",
    "podgroup",
    "pdb",
    "quota",
    "job",
    "pod",
    "event",
];

/// The answer to a raw request.
#[derive(Debug)]
pub(crate) struct Response {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The body; a string when it is not JSON.
    pub(crate) body: Value,
}

impl Response {
    /// Returns whether the request succeeded.
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// An API server as one user sees it. Every call blocks; what a test expects to succeed fails the test when
/// it does not, and [`Api::request`] is for what may fail.
#[derive(Clone)]
pub(crate) struct Api {
    client: kube::Client,
}

impl Api {
    /// Uses the only context of a kubeconfig file.
    pub(super) fn new(kubeconfig: &Path) -> Self {
        Self::connect(kubeconfig, None)
    }

    /// Uses the credentials of a kubeconfig file for another component, which listens on `port`.
    pub(super) fn at_port(kubeconfig: &Path, port: u16) -> Self {
        Self::connect(kubeconfig, Some(port))
    }

    fn connect(kubeconfig: &Path, port: Option<u16>) -> Self {
        let kubeconfig =
            Kubeconfig::read_from(kubeconfig).expect("the kubeconfig was written by the harness");
        let client = runtime().block_on(async {
            let config =
                kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
            let mut config = config.expect("the kubeconfig is complete");
            if let Some(port) = port {
                config.cluster_url = format!("https://127.0.0.1:{port}").parse().expect("a URL");
            }
            kube::Client::try_from(config)
        });
        Self {
            client: client.expect("the certificates are usable"),
        }
    }

    /// The client behind it, for what needs watches or typed objects; see [`runtime`].
    pub(crate) fn client(&self) -> kube::Client {
        self.client.clone()
    }

    /// Sends one request; errors are those of the transport.
    pub(crate) fn try_request(
        &self,
        method: &Method,
        path: &str,
        content_type: &str,
        body: Vec<u8>,
    ) -> Result<Response, kube::Error> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(http::header::CONTENT_TYPE, content_type)
            .header(http::header::ACCEPT, "application/json")
            .body(Body::from(body))
            .expect("paths are valid");
        runtime().block_on(async {
            let response = self.client.send(request).await?;
            let status = response.status().as_u16();
            let bytes = response.into_body().collect_bytes().await?;
            let body = serde_json::from_slice(&bytes)
                .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
            Ok(Response { status, body })
        })
    }

    /// Sends one request with a JSON body (null: none) and returns whatever the server answers.
    #[track_caller]
    pub(crate) fn request(&self, method: &Method, path: &str, body: &Value) -> Response {
        self.request_as(method, path, "application/json", body)
    }

    /// The same with a content type, which for a patch says of which kind it is.
    #[track_caller]
    pub(crate) fn request_as(
        &self,
        method: &Method,
        path: &str,
        content_type: &str,
        body: &Value,
    ) -> Response {
        let bytes = if body.is_null() {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        };
        self.try_request(method, path, content_type, bytes)
            .unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// The object, if it exists.
    #[track_caller]
    pub(crate) fn find(&self, reference: &str) -> Option<Value> {
        let path = path_of(reference);
        let response = self.request(&Method::GET, &path, &Value::Null);
        (response.status != 404).then(|| succeeded(&format!("GET {path}"), response))
    }

    /// The object, which must exist.
    #[track_caller]
    pub(crate) fn get(&self, reference: &str) -> Value {
        self.find(reference)
            .unwrap_or_else(|| panic!("{reference} does not exist"))
    }

    /// All objects of a kind (`"claim"`), or those of one namespace (`"claim/training"`). None where the
    /// server does not serve the kind; rules come in the version that it serves. Each carries `apiVersion` and `kind`.
    #[track_caller]
    pub(crate) fn list(&self, what: &str) -> Vec<Value> {
        let (short, namespace) = what
            .split_once('/')
            .map_or((what, None), |(short, rest)| (short, Some(rest)));
        let kind = kind_of(short);
        let older = if kind.short == "rule" { OLDER_RULES } else { &[] };
        let answer = std::iter::once(&kind.api_version)
            .chain(older)
            .find_map(|version| {
                let path = collection(kind, version, namespace);
                let response = self.request(&Method::GET, &path, &Value::Null);
                (response.status != 404).then(|| (version, succeeded(&format!("GET {path}"), response)))
            });
        let Some((version, mut list)) = answer else {
            return Vec::new();
        };
        let Value::Array(mut items) = list["items"].take() else {
            return Vec::new();
        };
        for item in &mut items {
            item["apiVersion"] = json!(version);
            item["kind"] = json!(kind.name);
        }
        items
    }

    /// Creates an object and returns what the server made of it. Without a namespace it goes to `default`.
    #[track_caller]
    pub(crate) fn create(&self, object: &Value) -> Value {
        let path = collection_for(object);
        succeeded(
            &format!("POST {path} {object}"),
            self.request(&Method::POST, &path, object),
        )
    }

    /// Creates objects in the given order.
    #[track_caller]
    pub(crate) fn create_all<'a>(&self, objects: impl IntoIterator<Item = &'a Value>) {
        for object in objects {
            self.create(object);
        }
    }

    /// Reads an object, changes it, and writes it back, again when somebody else was faster.
    #[track_caller]
    pub(crate) fn update(&self, reference: &str, change: impl FnMut(&mut Value)) -> Value {
        self.read_modify_write(reference, "", change)
    }

    /// The same for its status.
    #[track_caller]
    pub(crate) fn update_status(&self, reference: &str, change: impl FnMut(&mut Value)) -> Value {
        self.read_modify_write(reference, "/status", change)
    }

    #[track_caller]
    fn read_modify_write(&self, reference: &str, sub: &str, mut change: impl FnMut(&mut Value)) -> Value {
        let path = path_of(reference) + sub;
        let response = try_wait(|| {
            let mut object = self.get(reference);
            change(&mut object);
            let response = self.request(&Method::PUT, &path, &object);
            if response.status == 409 {
                Err(response)
            } else {
                Ok(response)
            }
        });
        succeeded(
            &format!("PUT {path}"),
            response.unwrap_or_else(|conflict| conflict),
        )
    }

    /// Changes an object by a merge patch.
    #[track_caller]
    pub(crate) fn patch(&self, reference: &str, patch: &Value) -> Value {
        self.merge_patch(&path_of(reference), patch)
    }

    /// Changes its status by a merge patch.
    #[track_caller]
    pub(crate) fn patch_status(&self, reference: &str, patch: &Value) -> Value {
        self.merge_patch(&(path_of(reference) + "/status"), patch)
    }

    #[track_caller]
    fn merge_patch(&self, path: &str, patch: &Value) -> Value {
        let response = self.request_as(&Method::PATCH, path, "application/merge-patch+json", patch);
        succeeded(&format!("PATCH {path} {patch}"), response)
    }

    /// Asks for the deletion of an object. A pod on a node then stays until its kubelet confirms, and a claim
    /// until its finalizer is gone.
    #[track_caller]
    pub(crate) fn delete(&self, reference: &str) {
        let path = path_of(reference);
        succeeded(
            &format!("DELETE {path}"),
            self.request(&Method::DELETE, &path, &Value::Null),
        );
    }

    /// Deletes an object at once, as if a kubelet had confirmed the end of the pod. It may be gone already.
    #[track_caller]
    pub(crate) fn delete_now(&self, reference: &str) {
        let path = path_of(reference) + "?gracePeriodSeconds=0";
        let response = self.request(&Method::DELETE, &path, &Value::Null);
        assert!(
            response.is_success() || response.status == 404,
            "DELETE {path}: {response:?}"
        );
    }

    /// Waits until an object exists and satisfies `condition`, and returns it.
    #[track_caller]
    pub(crate) fn wait(&self, reference: &str, what: &str, condition: impl Fn(&Value) -> bool) -> Value {
        let found = try_wait(|| match self.find(reference) {
            Some(object) if condition(&object) => Ok(object),
            other => Err(other),
        });
        found.unwrap_or_else(|last| {
            let last = last.map_or_else(|| "it does not exist".to_owned(), |object| format!("{object:#}"));
            panic!("gave up on {reference}: {what}\n{last}")
        })
    }

    /// Waits until an object is gone.
    #[track_caller]
    pub(crate) fn wait_gone(&self, reference: &str) {
        wait_for(&format!("{reference} is gone"), || {
            self.find(reference).is_none().then_some(())
        });
    }

    /// Returns what the tool could see, as one `kind: List`, like `kubectl get -o json` writes it, without
    /// `managedFields`.
    #[track_caller]
    pub(crate) fn dump(&self) -> Value {
        let mut items: Vec<Value> = DUMPED.iter().flat_map(|kind| self.list(kind)).collect();
        for item in &mut items {
            item["metadata"]
                .as_object_mut()
                .map(|metadata| metadata.remove("managedFields"));
        }
        json!({"apiVersion": "v1", "kind": "List", "items": items})
    }
}

/// The runtime behind all clients. A test is ordinary blocking code; one that wants to await something calls
/// `runtime().block_on(…)`.
pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        // More than one thread, since connections are driven in the background between two calls.
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("threads start")
    })
}

/// The path of an object, as in `/api/v1/namespaces/default/pods/web-0`.
#[track_caller]
pub(crate) fn path_of(reference: &str) -> String {
    let parts: Vec<&str> = reference.split('/').collect();
    let kind = kind_of(parts[0]);
    match (parts.as_slice(), kind.scope) {
        ([_, name], Scope::Cluster) => format!("{}/{name}", collection(kind, kind.api_version, None)),
        ([_, name], Scope::Namespace) => {
            format!("{}/{name}", collection(kind, kind.api_version, Some("default")))
        }
        ([_, namespace, name], Scope::Namespace) => {
            format!("{}/{name}", collection(kind, kind.api_version, Some(namespace)))
        }
        _ => panic!("`{reference}` is not KIND/NAME or KIND/NAMESPACE/NAME"),
    }
}

/// Returns how to refer to an object that is at hand.
#[track_caller]
pub(crate) fn reference(object: &Value) -> String {
    let name = object["kind"].as_str().unwrap_or_default();
    let kind = KINDS
        .iter()
        .find(|kind| kind.name == name)
        .unwrap_or_else(|| panic!("kind of {object}"));
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    match kind.scope {
        Scope::Cluster => format!("{}/{name}", kind.short),
        Scope::Namespace => {
            format!(
                "{}/{}/{name}",
                kind.short,
                metadata["namespace"].as_str().unwrap_or("default")
            )
        }
    }
}

#[track_caller]
fn collection_for(object: &Value) -> String {
    let name = object["kind"].as_str().unwrap_or_default();
    let kind = KINDS
        .iter()
        .find(|kind| kind.name == name)
        .unwrap_or_else(|| panic!("kind of {object}"));
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
    let namespace = (kind.scope == Scope::Namespace).then_some(namespace);
    collection(
        kind,
        object["apiVersion"].as_str().unwrap_or(kind.api_version),
        namespace,
    )
}

fn collection(kind: &Kind, api_version: &str, namespace: Option<&str>) -> String {
    let root = if api_version.contains('/') {
        "/apis"
    } else {
        "/api"
    };
    let namespace = namespace
        .map(|namespace| format!("/namespaces/{namespace}"))
        .unwrap_or_default();
    format!("{root}/{api_version}{namespace}/{}", kind.plural)
}

#[track_caller]
fn kind_of(short: &str) -> &'static Kind {
    KINDS.iter().find(|kind| kind.short == short).unwrap_or_else(|| {
        let known: Vec<&str> = KINDS.iter().map(|kind| kind.short).collect();
        panic!("no kind `{short}`; there are {}", known.join(" "))
    })
}

#[track_caller]
fn succeeded(what: &str, response: Response) -> Value {
    assert!(
        response.is_success(),
        "{what}: {} {:#}",
        response.status,
        response.body
    );
    response.body
}
