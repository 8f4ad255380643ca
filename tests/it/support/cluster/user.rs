//! Users of a cluster: their rights, their kubeconfig, and the programs they run.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use http::Method;
use serde_json::{Value, json};

use super::api::Api;
use super::files::Files;
use crate::support::process::Invocation;
use crate::support::wait::wait_for;

/// A user of a cluster with a client certificate. Without further calls it may do nothing but discovery.
///
/// Everything an [`Api`] can do is done with this user's rights.
pub(crate) struct User {
    name: String,
    kubeconfig: PathBuf,
    api: Api,
    /// Client that grants permissions.
    admin: Api,
    programs: Programs,
}

impl Deref for User {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}

impl User {
    /// The cluster's administrator, a member of `system:masters`.
    pub(super) fn admin(files: &Files, port: u16, programs: Programs) -> Self {
        let kubeconfig = files.kubeconfig("admin", Some("system:masters"), port);
        let api = Api::new(&kubeconfig);
        Self {
            name: "admin".to_owned(),
            kubeconfig,
            admin: api.clone(),
            api,
            programs,
        }
    }

    /// A further user, without rights.
    pub(super) fn another(&self, name: &str, files: &Files, port: u16) -> Self {
        self.known_as(name, files.kubeconfig(name, None, port))
    }

    /// A service account, with a token.
    pub(super) fn account(&self, namespace: &str, name: &str, files: &Files, port: u16) -> Self {
        let token = self.service_account_token(namespace, name);
        let name = format!("system:serviceaccount:{namespace}:{name}");
        self.known_as(
            &name,
            files.kubeconfig_with(&name, &json!({"token": token}), port),
        )
    }

    /// A user of that name with what is in a kubeconfig.
    pub(super) fn known_as(&self, name: &str, kubeconfig: PathBuf) -> Self {
        Self {
            name: name.to_owned(),
            api: Api::new(&kubeconfig),
            kubeconfig,
            admin: self.admin.clone(),
            programs: self.programs.clone(),
        }
    }

    /// The user's kubeconfig file.
    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Gives the user a ClusterRole, such as the built-in `view`, in all namespaces.
    pub(crate) fn with_role(self, role: &str) -> Self {
        self.bind(None, role);
        self
    }

    /// Gives the user a ClusterRole in one namespace.
    pub(crate) fn with_role_in(self, namespace: &str, role: &str) -> Self {
        self.bind(Some(namespace), role);
        self
    }

    /// Allows what the rules of a new ClusterRole say, in all namespaces.
    pub(crate) fn allowed(self, rules: &Value) -> Self {
        let role = self.create_role(rules);
        self.with_role(&role)
    }

    /// Allows what the rules of a new ClusterRole say, in one namespace.
    pub(crate) fn allowed_in(self, namespace: &str, rules: &Value) -> Self {
        let role = self.create_role(rules);
        self.with_role_in(namespace, &role)
    }

    /// `kubectl-dra ARGS…` with the user's kubeconfig, ready to run.
    pub(crate) fn kubectl_dra<I>(&self, args: I) -> Invocation
    where
        I: IntoIterator<Item: AsRef<std::ffi::OsStr>>,
    {
        self.programs
            .invocation(&self.programs.bin.join("kubectl-dra"), &self.kubeconfig)
            .args(args)
    }

    /// `kubectl ARGS…` of the cluster's release with the user's kubeconfig, ready to run. The tool is its
    /// plugin: `kubectl(["dra", "claims"])`.
    pub(crate) fn kubectl<I>(&self, args: I) -> Invocation
    where
        I: IntoIterator<Item: AsRef<std::ffi::OsStr>>,
    {
        self.programs
            .invocation(&self.programs.bin.join("kubectl"), &self.kubeconfig)
            .args(args)
    }

    /// A line for a shell in which `kubectl` is the cluster's, with the user's kubeconfig, ready to run.
    pub(crate) fn shell(&self, line: &str) -> Invocation {
        self.programs
            .invocation(Path::new("/bin/sh"), &self.kubeconfig)
            .args(["-c", line])
    }

    /// A bearer token of a service account, which is created if need be.
    pub(crate) fn service_account_token(&self, namespace: &str, name: &str) -> String {
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}});
        let accounts = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
        // Other tests may want the same one at the same time.
        let created = self.request(&Method::POST, &accounts, &account);
        assert!(
            created.is_success() || created.status == 409,
            "{accounts}: {created:?}"
        );
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token");
        let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
        let answer = self.request(&Method::POST, &path, &request);
        answer.body["status"]["token"]
            .as_str()
            .unwrap_or_else(|| panic!("{path}: {answer:?}"))
            .to_owned()
    }

    fn create_role(&self, rules: &Value) -> String {
        let role = self.admin.create(
            &json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"generateName": format!("{}-", self.name)}, "rules": rules}),
        );
        role["metadata"]["name"]
            .as_str()
            .expect("created objects have a name")
            .to_owned()
    }

    fn bind(&self, namespace: Option<&str>, role: &str) {
        let kind = if namespace.is_some() {
            "RoleBinding"
        } else {
            "ClusterRoleBinding"
        };
        self.admin.create(
            &json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
            "metadata": {"generateName": format!("{}-", self.name), "namespace": namespace},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": self.name}]}),
        );
        // The authorizer learns of it by a watch, and a controller fills in the rules of `view` and the like.
        let role = self
            .admin
            .wait(&format!("clusterrole/{role}"), "it has rules", |role| {
                role["rules"].as_array().is_some_and(|rules| !rules.is_empty())
            });
        let rule = role["rules"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|rule| rule["resources"].is_array());
        let Some(rule) = rule else { return };
        let resource = rule["resources"][0].as_str().unwrap_or_default();
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {
            "resourceAttributes": {"namespace": namespace, "verb": rule["verbs"][0], "group": rule["apiGroups"][0],
                "resource": resource, "subresource": subresource, "name": rule["resourceNames"][0]}}});
        wait_for(
            &format!("{} has the rights of {}", self.name, role["metadata"]["name"]),
            || {
                let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
                let answer = self.request(&Method::POST, path, &review);
                (answer.body["status"]["allowed"] == true).then_some(())
            },
        );
    }
}

/// Paths of `kubectl`, the tool, and files next to kubectl.
#[derive(Clone)]
pub(super) struct Programs {
    home: PathBuf,
    bin: PathBuf,
}

impl Programs {
    /// Makes a folder to put into `PATH`.
    pub(super) fn install(files: &Files, control_plane: &Path) -> Self {
        let bin = files.path("bin");
        std::fs::create_dir(&bin).expect("the temporary folder is writable");
        let link = |name: &str, target: &Path| {
            std::os::unix::fs::symlink(target, bin.join(name)).expect("the temporary folder is writable");
        };
        link("kubectl", control_plane);
        link("kubectl-dra", Path::new(env!("CARGO_BIN_EXE_kubectl-dra")));
        // By this name kubectl looks for what completes a plugin's arguments.
        link(
            "kubectl_complete-dra",
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("completions/kubectl_complete-dra"),
        );
        Self {
            home: files.dir().to_owned(),
            bin,
        }
    }

    fn invocation(&self, program: &Path, kubeconfig: &Path) -> Invocation {
        Invocation::new(program)
            .env("PATH", format!("{}:/usr/bin:/bin", self.bin.display()))
            .env("HOME", &self.home)
            .env("KUBECONFIG", kubeconfig)
            // kubectl is over before it needs memory back, and spends half of its time on that.
            .env("GOGC", "off")
            .current_dir(&self.home)
    }
}
