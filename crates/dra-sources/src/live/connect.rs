//! From kubectl's connection flags and kubeconfig files to a client.
//!
//! kube's own loading is used for the pieces (reading and merging files, credentials, TLS) but not for the whole: it does not know
//! kubectl's override flags, fails on files that `KUBECONFIG` lists but that do not exist, and asks `NO_PROXY` about the proxy
//! rather than about the server. The order of precedence is that of client-go's `DirectClientConfig`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use kube::client::{ClientBuilder, ConfigExt};
use kube::config::{AuthInfo, Cluster, ExecAuthCluster, Kubeconfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tower::buffer::BufferLayer;

use super::Live;
use super::address::{Address, is_secure};
use super::credentials::{Credentials, Secret, check_identity, impersonation, pem, secret_of};

use super::error::Error;
use super::kubeconfig::Files;
use super::proxy;
use super::server_time::ServerTime;
use super::timing::Timing;
use super::user::{has_credentials, override_credentials};

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
    pub token: Option<Secret>,
    pub username: Option<String>,
    pub password: Option<Secret>,
    pub impersonate: Impersonation,
    /// Timeout of a single request; absent or zero means none.
    pub request_timeout: Option<Duration>,
    pub proxy_url: Option<String>,
    pub disable_compression: bool,
}

/// Impersonated user.
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

/// Names for `--context`, `--cluster` and `--user`.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "as in the kubeconfig")]
pub struct ConfiguredNames {
    pub contexts: Vec<String>,
    pub clusters: Vec<String>,
    pub users: Vec<String>,
}

impl Connection {
    /// The namespace that objects without one are looked for in: that of the context, `default` where nothing says otherwise.
    pub fn current_namespace(&self) -> String {
        // A configuration that cannot be read is reported when connecting.
        let configured = self.configuration().ok();
        configured.map_or_else(
            || "default".to_owned(),
            |(ready, _)| ready.config.default_namespace,
        )
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
    pub(super) async fn resolve(&self) -> Result<Live, Error> {
        let (ready, context) = self.configuration()?;
        let mut config = ready.config;
        let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let shown = server.clone();
        // A credential plugin may take its time, or ask the user something.
        let made = tokio::task::spawn_blocking(move || {
            let credentials = Credentials::take(&mut config.auth_info, &shown)?;
            let identity = check_identity(&mut config.auth_info);
            identity.map_err(|message| Error::no_credentials(&shown, message))?;
            let client = client(config).map_err(|source| Error::credentials(&source, &shown))?;
            Ok((client, credentials))
        })
        .await;
        let (client, credentials) =
            made.map_err(|error| Error::no_credentials(&server, error.to_string()))??;
        Ok(Live {
            client,
            credentials,
            headers: ready.headers,
            warning: ready.warning,
            server,
            context,
            request_timeout: self.request_timeout.filter(|limit| !limit.is_zero()),
            timing: Timing::default(),
            server_time: ServerTime::default(),
            claim_version: Arc::default(),
        })
    }

    /// The configuration, and the name of the context it comes from.
    pub(super) fn configuration(&self) -> Result<(Ready, Option<String>), Error> {
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
        if let Some(wrong) = namespace.as_deref().and_then(no_path_segment) {
            return Err(Error::Configured {
                what: "context",
                message: format!("its namespace {wrong}"),
            });
        }
        let config = to_server(&cluster, user, namespace.as_deref().unwrap_or("default"))?;
        Ok((self.ready(config)?, name))
    }

    /// Inside a pod, with the flags that make sense there.
    fn in_cluster(&self, files: &Files) -> Result<Ready, Error> {
        let chosen = given(self.context.as_deref()).or(given(self.cluster.as_deref()));
        let mut config = match kube::Config::incluster() {
            Ok(config) if chosen.is_none() && !files.explicit => config,
            _ => return Err(files.no_cluster(chosen)),
        };
        override_credentials(self, &mut config.auth_info)?;
        let namespace = config.default_namespace.trim().to_owned();
        config.default_namespace = namespace;
        self.ready(config)
    }

    /// Takes out of the configuration what is sent as headers, or not at all.
    fn ready(&self, mut config: kube::Config) -> Result<Ready, Error> {
        let user = &mut config.auth_info;
        let headers =
            impersonation(user).map_err(|(field, wrong)| self.impersonation_error(field, &wrong))?;
        let mut warning = None;
        if !is_secure(&config.cluster_url) {
            // Mirrors client-go `tools/clientcmd/client_config.go`, `ClientConfig`, v0.37.1: only a secure connection carries
            // credentials. A local proxy such as `kubectl proxy` has its own, and needs no word about it.
            let sent = std::mem::take(user);
            let flags = self.token.is_some() || self.username.is_some() || self.client_certificate.is_some();
            let local = config.cluster_url.host().is_some_and(proxy::is_local);
            if has_credentials(&sent) && (flags || !local) {
                warning = Some(
                    "like kubectl, sending no credentials to an http:// server; use https:// to send them"
                        .to_owned(),
                );
            }
        }
        Ok(Ready {
            config,
            headers,
            warning,
        })
    }

    /// Error for an impersonated name that cannot be sent, with the flag or kubeconfig field.
    fn impersonation_error(&self, field: &'static str, wrong: &str) -> Error {
        let flags = &self.impersonate;
        let flag = match field {
            "as" if flags.user.is_some() => Some("--as"),
            "as-uid" if flags.uid.is_some() => Some("--as-uid"),
            "as-groups" if !flags.groups.is_empty() => Some("--as-group"),
            "as-user-extra" if !flags.extra.is_empty() => Some("--as-user-extra"),
            _ => None,
        };
        match flag {
            Some(flag) => Error::Flag {
                flag,
                message: wrong.to_owned(),
            },
            None => Error::Configured {
                what: "user",
                message: format!("`{field}` {wrong}"),
            },
        }
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
        let flag = self
            .kubeconfig
            .as_ref()
            .filter(|path| !path.as_os_str().is_empty());
        let paths = if let Some(path) = flag {
            vec![path.clone()]
        } else if let Some(list) = std::env::var_os("KUBECONFIG").filter(|list| !list.is_empty()) {
            // As for kubectl, any bytes are a path, and a list of empty paths is one without files. Mirrors client-go
            // `tools/clientcmd/loader.go`, `NewDefaultClientConfigLoadingRules`, v0.37.1.
            std::env::split_paths(&list)
                .filter(|path| !path.as_os_str().is_empty())
                .collect()
        } else {
            let home = std::env::home_dir().unwrap_or_default();
            vec![home.join(".kube").join("config")]
        };
        Files {
            paths,
            explicit: flag.is_some(),
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
        let known = merged.contexts.iter().map(|known| (&known.name, &known.context));
        let context = find("context", name, files, known)?;
        Ok((Some(name.to_owned()), Some(context)))
    }

    fn cluster(
        &self,
        merged: &Kubeconfig,
        files: &Files,
        context: Option<&kube::config::Context>,
    ) -> Result<Cluster, Error> {
        let name =
            given(self.cluster.as_deref()).or(context.and_then(|context| given(Some(&context.cluster))));
        let known = merged.clusters.iter().map(|known| (&known.name, &known.cluster));
        let server = given(self.server.as_deref());
        let mut cluster = match name.map(|name| find("cluster", name, files, known)) {
            Some(Ok(cluster)) => cluster,
            Some(Err(error)) if server.is_none() || given(self.cluster.as_deref()).is_some() => {
                return Err(error);
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
        if let Some(proxy) = given(self.proxy_url.as_deref()) {
            cluster.proxy_url = Some(proxy.to_owned());
        }
        // Each of the two flags replaces all that the kubeconfig says of trust. Mirrors client-go
        // `tools/clientcmd/client_config.go`, `getCluster`, v0.37.1.
        if self.insecure_skip_tls_verify || self.certificate_authority.is_some() {
            cluster.insecure_skip_tls_verify = Some(self.insecure_skip_tls_verify);
            cluster.certificate_authority_data = None;
            let path = self.certificate_authority.as_ref();
            cluster.certificate_authority = path.map(|path| path.to_string_lossy().into_owned());
        }
        let trusted = cluster.certificate_authority.is_some() || cluster.certificate_authority_data.is_some();
        if trusted && cluster.insecure_skip_tls_verify == Some(true) {
            // Mirrors client-go `transport/transport.go`, `TLSConfigFor`, v0.37.1.
            if self.insecure_skip_tls_verify {
                return Err(Error::Flag {
                    flag: "--insecure-skip-tls-verify",
                    message: "cannot be used with `--certificate-authority`".to_owned(),
                });
            }
            return Err(Error::Trust {
                cluster: name.unwrap_or_default().to_owned(),
            });
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
        let known = merged
            .auth_infos
            .iter()
            .map(|known| (&known.name, &known.auth_info));
        let mut user = match name.map(|name| find("user", name, files, known)) {
            Some(Ok(user)) => user,
            Some(Err(error)) if chosen.is_some() => return Err(error),
            _ => AuthInfo::default(),
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
            // Why the authority cannot be read is said where it is needed.
            exec.cluster = ExecAuthCluster::try_from(cluster).ok();
        }
        override_credentials(self, &mut user)?;
        Ok(user)
    }
}

/// The context, cluster or user of that name.
fn find<'k, T: Clone + 'k>(
    what: &'static str,
    name: &str,
    files: &Files,
    known: impl Iterator<Item = (&'k String, &'k Option<T>)> + Clone,
) -> Result<T, Error> {
    let found = known.clone().find(|(known, _)| *known == name);
    found
        .and_then(|(_, value)| value.clone())
        .ok_or_else(|| Error::Unknown {
            what,
            name: name.to_owned(),
            files: files.to_string(),
            known: known.map(|(name, _)| name.clone()).collect(),
        })
}

/// The configuration for requests to `cluster`, by `user`.
fn to_server(cluster: &Cluster, mut user: AuthInfo, namespace: &str) -> Result<kube::Config, Error> {
    let address = cluster.server.as_deref().and_then(|server| given(Some(server)));
    let Some(address) = address else {
        return Err(Error::Server {
            server: String::new(),
            message: "the kubeconfig has no server for the cluster".to_owned(),
        });
    };
    let insecure = cluster.insecure_skip_tls_verify.unwrap_or(false);
    let authority = pem(
        cluster.certificate_authority_data.as_deref(),
        cluster.certificate_authority.as_deref(),
        "certificate-authority",
    )
    .map_err(|message| Error::Certificates { message })?;
    let identity = user.client_certificate.is_some() || user.client_certificate_data.is_some();
    let address = Address::read(address, authority.is_some() || identity || insecure)?;
    // As Go's HTTP client does with the user of an address, where nothing else says who asks.
    if let Some((name, password)) = address.user.as_ref().filter(|_| !has_credentials(&user)) {
        user.username = Some(name.clone());
        user.password = secret_of("password", password).password;
    }
    let invalid = |message: &str| Error::Server {
        server: address.url.to_string().trim_end_matches('/').to_owned(),
        message: message.to_owned(),
    };
    let mut config = kube::Config::new(address.url.clone());
    namespace.clone_into(&mut config.default_namespace);
    config.accept_invalid_certs = insecure;
    if let Some(name) = &cluster.tls_server_name {
        if ServerName::try_from(name.as_str()).is_err() {
            return Err(invalid(
                "`tls-server-name` is neither a host name nor an IP address",
            ));
        }
        config.tls_server_name = Some(name.clone());
    }
    if let Some(pem) = authority {
        let certificates: Vec<_> = CertificateDer::pem_slice_iter(&pem)
            .filter_map(Result::ok)
            .map(|der| der.to_vec())
            .collect();
        if certificates.is_empty() {
            return Err(invalid("the certificate authority contains no PEM certificate"));
        }
        config.root_cert = Some(certificates);
    }
    config.proxy_url = proxy::for_server(cluster.proxy_url.as_deref(), &config.cluster_url)?;
    config.auth_info = user;
    Ok(config)
}

/// A configuration, and what is sent with every request apart from it.
pub(super) struct Ready {
    config: kube::Config,
    headers: HeaderMap,
    warning: Option<String>,
}

/// Requests that wait for a connection; there is one for each kind at most, and a few more.
const BUFFERED: usize = 64;

fn client(mut config: kube::Config) -> Result<kube::Client, kube::Error> {
    // The server would spend a core on compressing what this machine then spends one on expanding.
    config.disable_compression = true;
    // Retries are bounded and explained by `request`.
    config.default_retry = false;
    // What is left of the credentials are certificates and an identity provider, whose tokens kube renews.
    let Some(authorization) = config.auth_layer()? else {
        return Ok(ClientBuilder::try_from(config)?.build());
    };
    config.auth_info.auth_provider = None;
    // The layer takes only what can be cloned, which a buffered service can.
    let buffered = BufferLayer::new(BUFFERED);
    Ok(ClientBuilder::try_from(config)?
        .with_layer(&buffered)
        .with_layer(&authorization)
        .build())
}

/// Returns why a text cannot be a part of a request's path. Mirrors apimachinery `pkg/api/validation/path/name.go`,
/// `IsValidPathSegmentName`, v0.37.1.
pub fn no_path_segment(text: &str) -> Option<&'static str> {
    if matches!(text, "." | "..") {
        Some("may not be `.` or `..`")
    } else if text.contains(['/', '%']) {
        Some("may not contain `/` or `%`")
    } else if text.chars().any(char::is_control) {
        Some("may not contain control characters")
    } else {
        None
    }
}

pub(super) fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

fn clear_empty(text: &mut Option<String>) {
    if text.as_deref() == Some("") {
        *text = None;
    }
}
