//! From kubectl's connection flags and kubeconfig files to a client.
//!
//! kube's own loading is used for the pieces (reading and merging files, credentials, TLS) but not for the whole: it does not know
//! kubectl's override flags, fails on files that `KUBECONFIG` lists but that do not exist, and asks `NO_PROXY` about the proxy
//! rather than about the server. The order of precedence is that of client-go's `DirectClientConfig`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::client::{ClientBuilder, ConfigExt};
use kube::config::{AuthInfo, Cluster, ExecAuthCluster, Kubeconfig};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use serde_json::json;
use tower::buffer::BufferLayer;

use super::error::Error;
use super::proxy;
use super::request::Timing;

/// kubectl's connection flags, as the user gave them. Empty texts count as not given, as in kubectl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is kubectl's flag of its name")]
pub struct Connection {
    pub kubeconfig: Option<PathBuf>,
    pub context: Option<String>,
    pub cluster: Option<String>,
    pub user: Option<String>,
    pub server: Option<String>,
    pub tls_server_name: Option<String>,
    /// Without it the kubeconfig decides.
    pub insecure_skip_tls_verify: bool,
    pub certificate_authority: Option<PathBuf>,
    pub client_certificate: Option<PathBuf>,
    pub client_key: Option<PathBuf>,
    pub token: Option<String>,
    pub username: Option<String>,
    pub password: Option<String>,
    pub impersonate: Impersonation,
    /// How long one request may take; absent or zero is for ever.
    pub request_timeout: Option<Duration>,
    pub proxy_url: Option<String>,
    pub disable_compression: bool,
}

/// Whom to act as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impersonation {
    /// `--as`.
    pub user: Option<String>,
    /// `--as-uid`.
    pub uid: Option<String>,
    /// `--as-group`.
    pub groups: Vec<String>,
    /// `--as-user-extra`; keys may repeat.
    pub extra: Vec<(String, String)>,
}

/// What `--context`, `--cluster` and `--user` can name.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "as in the kubeconfig")]
pub struct ConfiguredNames {
    pub contexts: Vec<String>,
    pub clusters: Vec<String>,
    pub users: Vec<String>,
}

/// A cluster that requests can be sent to.
#[derive(Clone)]
pub(super) struct Target {
    /// Sends requests, with credentials.
    pub(super) client: kube::Client,
    /// Address of the API server.
    pub(super) server: String,
    /// Name of the kubeconfig's context; absent in a pod.
    pub(super) context: Option<String>,
    /// Namespace of the context.
    pub(super) namespace: String,
    /// Limit of a whole request.
    pub(super) request_timeout: Option<Duration>,
    /// Limits of everything else.
    pub(super) timing: Timing,
}

impl Connection {
    /// The namespace that objects without one are looked for in: that of the context, `default` where nothing says otherwise.
    pub fn current_namespace(&self) -> String {
        // Whatever keeps the configuration from being read is told by whoever connects.
        let configured = self.configuration().ok();
        configured.map_or_else(|| "default".to_owned(), |(config, _)| config.default_namespace)
    }

    /// The names in the kubeconfig.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn names(&self) -> Result<ConfiguredNames, Error> {
        let merged = self.kubeconfig_files().merged()?;
        Ok(ConfiguredNames {
            contexts: merged.contexts.into_iter().map(|named| named.name).collect(),
            clusters: merged.clusters.into_iter().map(|named| named.name).collect(),
            users: merged.auth_infos.into_iter().map(|named| named.name).collect(),
        })
    }

    /// Builds a client. Nothing is sent to the API server yet, but a credential plugin runs.
    ///
    /// # Errors
    /// Says which file, context or flag does not lead to a cluster.
    pub(super) async fn resolve(&self) -> Result<Target, Error> {
        let (config, context) = self.configuration()?;
        self.target(config, context).await
    }

    /// The configuration, and the name of the context it comes from.
    fn configuration(&self) -> Result<(kube::Config, Option<String>), Error> {
        let files = self.kubeconfig_files();
        let merged = files.merged()?;
        let nothing_configured = merged.clusters.is_empty() && merged.contexts.is_empty();
        if nothing_configured && given(self.server.as_deref()).is_none() {
            return Ok((self.in_cluster(&files)?, None));
        }
        let (name, context) = self.context(&merged, &files)?;
        let cluster = self.cluster(&merged, &files, context.as_ref())?;
        let user = self.user(&merged, &files, context.as_ref(), &cluster)?;
        let namespace = context
            .and_then(|context| context.namespace)
            .filter(|name| !name.is_empty());
        let config = configuration(&cluster, user, namespace.as_deref().unwrap_or("default"))?;
        Ok((config, name))
    }

    async fn target(&self, config: kube::Config, context: Option<String>) -> Result<Target, Error> {
        let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let namespace = config.default_namespace.clone();
        let plugin = config.auth_info.exec.clone();
        // A credential plugin may take its time, or ask the user something.
        let client = tokio::task::spawn_blocking(|| client(config)).await;
        let client = client.map_err(|error| Error::Credentials {
            server: server.clone(),
            message: error.to_string(),
        })?;
        let client = client.map_err(|source| Error::credentials(&source, &server, plugin.as_ref()))?;
        Ok(Target {
            client,
            server,
            context,
            namespace,
            request_timeout: self.request_timeout.filter(|limit| !limit.is_zero()),
            timing: Timing::default(),
        })
    }

    /// Inside a pod, with the flags that make sense there.
    fn in_cluster(&self, files: &Files) -> Result<kube::Config, Error> {
        let chosen = given(self.context.as_deref()).or(given(self.cluster.as_deref()));
        let mut config = match kube::Config::incluster() {
            Ok(config) if chosen.is_none() && !files.explicit => config,
            _ => return Err(files.no_cluster(chosen)),
        };
        override_credentials(self, &mut config.auth_info)?;
        Ok(config)
    }

    /// The files that say how to reach the cluster, which must not be written over.
    pub fn files(&self) -> Vec<PathBuf> {
        let certificates = [
            &self.certificate_authority,
            &self.client_certificate,
            &self.client_key,
        ];
        let mut files = self.kubeconfig_files().paths;
        files.extend(certificates.into_iter().flatten().cloned());
        files
    }

    fn kubeconfig_files(&self) -> Files {
        #[expect(
            clippy::disallowed_methods,
            reason = "kubectl's own variables say where its configuration lies"
        )]
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        if let Some(path) = self
            .kubeconfig
            .as_ref()
            .filter(|path| !path.as_os_str().is_empty())
        {
            return Files {
                paths: vec![path.clone()],
                explicit: true,
            };
        }
        if let Some(list) = variable("KUBECONFIG") {
            let paths: Vec<_> = std::env::split_paths(&list)
                .filter(|path| !path.as_os_str().is_empty())
                .collect();
            if !paths.is_empty() {
                return Files {
                    paths,
                    explicit: false,
                };
            }
        }
        let home = std::env::home_dir().unwrap_or_default();
        Files {
            paths: vec![home.join(".kube").join("config")],
            explicit: false,
        }
    }

    fn context(
        &self,
        merged: &Kubeconfig,
        files: &Files,
    ) -> Result<(Option<String>, Option<kube::config::Context>), Error> {
        let chosen = given(self.context.as_deref());
        let name = chosen.or(given(merged.current_context.as_deref()));
        let Some(name) = name else {
            // kubectl falls back to empty settings, which flags may complete.
            if given(self.server.as_deref()).is_some() || given(self.cluster.as_deref()).is_some() {
                return Ok((None, None));
            }
            return Err(Error::NoContext {
                files: files.to_string(),
                known: merged.contexts.iter().map(|known| known.name.clone()).collect(),
            });
        };
        let found = merged
            .contexts
            .iter()
            .find(|known| known.name == name)
            .and_then(|known| known.context.clone());
        match found {
            Some(context) => Ok((Some(name.to_owned()), Some(context))),
            None => Err(Error::unknown(
                "context",
                name,
                files,
                merged.contexts.iter().map(|known| &known.name),
            )),
        }
    }

    fn cluster(
        &self,
        merged: &Kubeconfig,
        files: &Files,
        context: Option<&kube::config::Context>,
    ) -> Result<Cluster, Error> {
        let name =
            given(self.cluster.as_deref()).or(context.and_then(|context| given(Some(&context.cluster))));
        let found = name.map(|name| {
            let known = merged.clusters.iter().find(|known| known.name == name);
            known.and_then(|known| known.cluster.clone()).ok_or(name)
        });
        let server = given(self.server.as_deref());
        let mut cluster = match found {
            Some(Ok(cluster)) => cluster,
            Some(Err(name)) if server.is_none() || given(self.cluster.as_deref()).is_some() => {
                let known = merged.clusters.iter().map(|known| &known.name);
                return Err(Error::unknown("cluster", name, files, known));
            }
            _ => Cluster::default(),
        };
        clear_empty(&mut cluster.certificate_authority_data);
        clear_empty(&mut cluster.certificate_authority);
        clear_empty(&mut cluster.tls_server_name);
        clear_empty(&mut cluster.proxy_url);
        if let Some(server) = server {
            cluster.server = Some(server.to_owned());
            // The name in the kubeconfig belongs to the kubeconfig's server.
            cluster.tls_server_name = None;
        }
        if let Some(name) = given(self.tls_server_name.as_deref()) {
            cluster.tls_server_name = Some(name.to_owned());
        }
        if let Some(path) = &self.certificate_authority {
            cluster.certificate_authority = Some(path.to_string_lossy().into_owned());
            cluster.certificate_authority_data = None;
        }
        if let Some(proxy) = given(self.proxy_url.as_deref()) {
            cluster.proxy_url = Some(proxy.to_owned());
        }
        if self.insecure_skip_tls_verify {
            cluster.insecure_skip_tls_verify = Some(true);
            cluster.certificate_authority = None;
            cluster.certificate_authority_data = None;
        }
        Ok(cluster)
    }

    fn user(
        &self,
        merged: &Kubeconfig,
        files: &Files,
        context: Option<&kube::config::Context>,
        cluster: &Cluster,
    ) -> Result<AuthInfo, Error> {
        let chosen = given(self.user.as_deref());
        let name = chosen.or(context.and_then(|context| given(context.user.as_deref())));
        let found = name.and_then(|name| {
            let known = merged.auth_infos.iter().find(|known| known.name == name);
            known.and_then(|known| known.auth_info.clone())
        });
        let mut user = match (found, chosen) {
            (Some(user), _) => user,
            (None, Some(name)) => {
                let known = merged.auth_infos.iter().map(|known| &known.name);
                return Err(Error::unknown("user", name, files, known));
            }
            (None, None) => AuthInfo::default(),
        };
        for text in [
            &mut user.client_certificate_data,
            &mut user.client_certificate,
            &mut user.client_key,
            &mut user.token_file,
        ] {
            clear_empty(text);
        }
        if let Some(exec) = user.exec.as_mut().filter(|exec| exec.provide_cluster_info) {
            let info = ExecAuthCluster::try_from(cluster).map_err(|source| Error::Certificates { source })?;
            exec.cluster = Some(info);
        }
        override_credentials(self, &mut user)?;
        Ok(user)
    }
}

/// Applies the flags that say who is asking.
fn override_credentials(flags: &Connection, user: &mut AuthInfo) -> Result<(), Error> {
    if let Some(token) = given(flags.token.as_deref()) {
        user.token = secret(json!({ "token": token })).token;
        user.token_file = None;
        user.exec = None;
        user.auth_provider = None;
        user.username = None;
        user.password = None;
    } else if let Some(token) = user.token_file.as_deref().and_then(untidy_token) {
        // Sent as a header, a trailing line break would be refused before it reaches the server.
        user.token = secret(json!({ "token": token })).token;
        user.token_file = None;
    }
    if let Some(name) = given(flags.username.as_deref()) {
        let password = flags.password.as_deref().unwrap_or_default();
        let basic = secret(json!({ "username": name, "password": password }));
        *user = AuthInfo {
            token: None,
            token_file: None,
            exec: None,
            auth_provider: None,
            ..user.clone()
        };
        user.username = basic.username;
        user.password = basic.password;
    }
    if let Some(path) = &flags.client_certificate {
        user.client_certificate = Some(path.to_string_lossy().into_owned());
        user.client_certificate_data = None;
    }
    if let Some(path) = &flags.client_key {
        user.client_key = Some(path.to_string_lossy().into_owned());
        user.client_key_data = None;
    }
    let Impersonation {
        user: name,
        uid,
        groups,
        extra,
    } = &flags.impersonate;
    if let Some(name) = given(name.as_deref()) {
        user.impersonate = Some(name.to_owned());
        // Whoever names another user does not mean the groups of the one in the file.
        user.impersonate_uid = None;
        user.impersonate_groups = None;
        user.impersonate_user_extra = None;
    }
    if let Some(uid) = given(uid.as_deref()) {
        user.impersonate_uid = Some(uid.to_owned());
    }
    if !groups.is_empty() {
        user.impersonate_groups = Some(groups.clone());
    }
    for (key, value) in extra {
        let extras = user.impersonate_user_extra.get_or_insert_default();
        extras.entry(key.clone()).or_default().push(value.clone());
    }
    let impersonates = user.impersonate_uid.is_some()
        || user.impersonate_groups.is_some()
        || user.impersonate_user_extra.is_some();
    if impersonates && user.impersonate.is_none() {
        return Err(Error::Flag {
            flag: "--as",
            message: "is needed with `--as-group`, `--as-uid` and `--as-user-extra`".to_owned(),
        });
    }
    Ok(())
}

/// The trimmed content of a token file that is not just a token.
fn untidy_token(path: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "a source's credentials")]
    let text = std::fs::read_to_string(path).ok()?;
    let token = text.trim();
    (token.len() != text.len()).then(|| token.to_owned())
}

/// Credentials with secrets, made the way a file makes them.
fn secret(fields: serde_json::Value) -> AuthInfo {
    serde_json::from_value(fields).unwrap_or_default()
}

fn configuration(cluster: &Cluster, user: AuthInfo, namespace: &str) -> Result<kube::Config, Error> {
    let address = cluster.server.as_deref().and_then(|server| given(Some(server)));
    let Some(address) = address else {
        return Err(Error::Server {
            server: String::new(),
            message: "the kubeconfig names no server for the cluster".to_owned(),
        });
    };
    let url = server_url(address)?;
    let mut config = kube::Config::new(url);
    namespace.clone_into(&mut config.default_namespace);
    config.accept_invalid_certs = cluster.insecure_skip_tls_verify.unwrap_or(false);
    config.tls_server_name.clone_from(&cluster.tls_server_name);
    let pem = ExecAuthCluster::try_from(cluster)
        .map_err(|source| Error::Certificates { source })?
        .certificate_authority_data;
    if let Some(pem) = pem {
        let certificates: Vec<_> = CertificateDer::pem_slice_iter(&pem)
            .filter_map(Result::ok)
            .map(|der| der.to_vec())
            .collect();
        if certificates.is_empty() && !config.accept_invalid_certs {
            return Err(Error::Server {
                server: address.to_owned(),
                message: "the certificate authority holds no PEM certificate".to_owned(),
            });
        }
        config.root_cert = Some(certificates);
    }
    config.proxy_url = proxy::for_server(cluster.proxy_url.as_deref(), &config.cluster_url)?;
    config.auth_info = user;
    Ok(config)
}

/// Reads an address as client-go does: `host:port` without a scheme means HTTP, as `kubectl --server` takes it.
fn server_url(address: &str) -> Result<http::Uri, Error> {
    let full = if address.contains("://") {
        address.to_owned()
    } else {
        format!("http://{address}")
    };
    let invalid = |message: String| Error::Server {
        server: address.to_owned(),
        message,
    };
    let url: http::Uri = full
        .parse()
        .map_err(|error| invalid(format!("is not a URL: {error}")))?;
    match url.scheme_str() {
        Some("http" | "https") if url.host().is_some_and(|host| !host.is_empty()) => Ok(url),
        _ => Err(invalid("is not an `https://HOST:PORT` address".to_owned())),
    }
}

/// Requests that wait for a connection; there is one for each kind at most, and a few more.
const BUFFERED: usize = 64;

fn client(mut config: kube::Config) -> Result<kube::Client, kube::Error> {
    // The server would spend a core on compressing what this machine then spends one on expanding.
    config.disable_compression = true;
    // Retries are bounded and explained by `request`.
    config.default_retry = false;
    // kube runs a credential plugin once for the header and once more for a client certificate. Where the header is enough,
    // the rest of the stack is built from a configuration without the plugin.
    let Some(authorization) = config.auth_layer()? else {
        return Ok(ClientBuilder::try_from(config)?.build());
    };
    let user = &mut config.auth_info;
    user.exec = None;
    user.auth_provider = None;
    user.token = None;
    user.token_file = None;
    user.username = None;
    user.password = None;
    // The layer takes only what can be cloned, which a buffered service can.
    let buffered = BufferLayer::new(BUFFERED);
    Ok(ClientBuilder::try_from(config)?
        .with_layer(&buffered)
        .with_layer(&authorization)
        .build())
}

/// Which kubeconfig files count.
pub(super) struct Files {
    paths: Vec<PathBuf>,
    /// Named by `--kubeconfig`: the file must exist.
    explicit: bool,
}

impl Files {
    fn merged(&self) -> Result<Kubeconfig, Error> {
        let mut merged = Kubeconfig::default();
        for path in &self.paths {
            if !path.exists() {
                if self.explicit {
                    return Err(Error::NoFile { path: path.clone() });
                }
                continue;
            }
            let failed = |source| Error::Kubeconfig {
                path: path.clone(),
                source,
            };
            let next = Kubeconfig::read_from(path).map_err(failed)?;
            merged = merged.merge(next).map_err(failed)?;
        }
        Ok(merged)
    }

    fn no_cluster(&self, chosen: Option<&str>) -> Error {
        let missing: Vec<&Path> = self
            .paths
            .iter()
            .map(PathBuf::as_path)
            .filter(|path| !path.exists())
            .collect();
        Error::NoKubeconfig {
            files: self.to_string(),
            exist: missing.len() < self.paths.len(),
            chosen: chosen.map(str::to_owned),
        }
    }
}

impl std::fmt::Display for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, path) in self.paths.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            write!(f, "`{}`", path.display())?;
        }
        Ok(())
    }
}

fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

fn clear_empty(text: &mut Option<String>) {
    if text.as_deref() == Some("") {
        *text = None;
    }
}
