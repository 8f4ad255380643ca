//! Errors between this process and an API server, and their remedies.
//!
//! Each message names the operation and the server; [`Error::hint`] returns the remedy.

use std::path::PathBuf;
use std::time::Duration;

use super::credentials::provider_error;

/// The reason why a cluster could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is nothing that says where a cluster is.
    #[error("no cluster configured: {}, and this is not a pod", no_kubeconfig(files, *exist))]
    NoKubeconfig {
        /// The files that were looked for.
        files: String,
        /// True if one of them is there, but empty.
        exist: bool,
        /// A context or cluster that was asked for by name.
        chosen: Option<String>,
    },
    /// A kubeconfig that was asked for and is not there.
    #[error("kubeconfig `{}` does not exist", path.display())]
    NoFile {
        /// The file.
        path: PathBuf,
    },
    /// A kubeconfig that cannot be read.
    #[error("cannot read kubeconfig `{}`: {message}", path.display())]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// Place and kind of the mistake, without quoting it.
        message: String,
    },
    /// No context was chosen.
    #[error("no current context is set in {files}")]
    NoContext {
        /// The kubeconfig files.
        files: String,
        /// Contexts that exist.
        known: Vec<String>,
    },
    /// A context, cluster or user that does not exist.
    #[error("{what} `{name}` does not exist in {files}")]
    Unknown {
        /// `context`, `cluster` or `user`.
        what: &'static str,
        /// Its name.
        name: String,
        /// The kubeconfig files.
        files: String,
        /// Names that exist.
        known: Vec<String>,
    },
    /// A connection flag that makes no sense.
    #[error("`{flag}` {message}")]
    Flag {
        /// The flag.
        flag: &'static str,
        /// The problem.
        message: String,
    },
    /// A cluster that says both to check certificates and not to.
    #[error(
        "cluster `{cluster}` of the kubeconfig has both a certificate authority and `insecure-skip-tls-verify`"
    )]
    Trust {
        /// Its name.
        cluster: String,
    },
    /// Something of the kubeconfig that cannot be used.
    #[error("the kubeconfig's {what}: {message}")]
    Configured {
        /// `user` or `context`.
        what: &'static str,
        /// The field, and what is wrong.
        message: String,
    },
    /// An address that is none.
    #[error("server `{server}`: {message}")]
    Server {
        /// As configured, without user, password and query.
        server: String,
        /// The problem.
        message: String,
    },
    /// A proxy's address that is none.
    #[error("proxy `{proxy}` is not an http, https or socks5 address")]
    Proxy {
        /// Without its password.
        proxy: String,
    },
    /// Certificates that cannot be read.
    #[error("cannot read the cluster's certificate authority: {message}")]
    Certificates {
        /// The reason why not.
        message: String,
    },
    /// Credentials that cannot be had.
    #[error("cannot get credentials for `{server}`: {message}")]
    Credentials {
        /// The API server.
        server: String,
        /// The failure, without secrets.
        message: String,
    },
    /// A credential plugin that failed.
    #[error("credential plugin `{command}` failed: {message}")]
    Plugin {
        /// The program.
        command: String,
        /// Exit status, or why it did not start. Its output goes to the terminal and is not repeated.
        message: String,
        /// The kubeconfig's words for users who do not have it.
        install_hint: Option<String>,
    },
    /// A request that cannot be written down.
    #[error("cannot {what}: {message}")]
    Impossible {
        /// The operation.
        what: String,
        /// Problem with its names.
        message: String,
    },
    /// No connection.
    #[error("cannot reach the API server `{server}`: {message}")]
    Unreachable {
        /// The API server.
        server: String,
        /// The innermost reasons.
        message: String,
    },
    /// 401: the server does not know who asks.
    #[error("the API server `{server}` rejected the credentials: {message}")]
    Unauthorized {
        /// The API server.
        server: String,
        /// The server's words.
        message: String,
    },
    /// Any other refusal.
    #[error("cannot {what}: {message}")]
    Refused {
        /// The operation, such as `list pods`.
        what: String,
        /// HTTP status.
        code: u16,
        /// The server's words, with its reason where it gives one.
        message: String,
        /// Time to ask again, from the server.
        retry_after: Option<Duration>,
    },
    /// The server ended its answer too early.
    #[error("cannot {what}: the response ended early ({message})")]
    Cut {
        /// The operation.
        what: String,
        /// The failure.
        message: String,
    },
    /// No answer in time.
    #[error("cannot {what}: no response for {} s", after.as_secs_f64().ceil())]
    TimedOut {
        /// The operation.
        what: String,
        /// Time waited.
        after: Duration,
    },
    /// An answer that no API server gives.
    #[error("cannot {what}: `{server}` does not respond like a Kubernetes API server ({message})")]
    Foreign {
        /// The operation.
        what: String,
        /// The address.
        server: String,
        /// Difference of the response.
        message: String,
    },
}

impl Error {
    /// Returns why no client could be made.
    pub(super) fn credentials(source: &kube::Error, server: &str) -> Self {
        let message = match source {
            kube::Error::Auth(error) => provider_error(error),
            // TLS names the flaw of a certificate or key, and nothing of it.
            _ => innermost(source),
        };
        Self::no_credentials(server, message)
    }

    pub(super) fn no_credentials(server: &str, message: String) -> Self {
        Self::Credentials {
            server: server.to_owned(),
            message,
        }
    }

    /// The error of a request that got no answer; `what` names the operation.
    pub(super) fn transport(source: &kube::Error, server: &str, what: &str) -> Self {
        use std::io::ErrorKind;
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(source);
        while let Some(error) = cause {
            if let Some(auth) = error.downcast_ref::<kube::client::AuthError>() {
                return Self::no_credentials(server, provider_error(auth));
            }
            // A connection that stood and broke may stand again.
            let broken = error.downcast_ref::<std::io::Error>().is_some_and(|error| {
                matches!(
                    error.kind(),
                    ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof
                )
            });
            if broken || error.to_string() == "connection closed before message completed" {
                return Self::Cut {
                    what: what.to_owned(),
                    message: error.to_string(),
                };
            }
            cause = error.source();
        }
        Self::Unreachable {
            server: server.to_owned(),
            message: innermost(source),
        }
    }

    /// Returns whether asking the same again can help.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Refused { code, .. } => matches!(code, 429 | 500 | 502 | 503 | 504),
            Self::Cut { .. } => true,
            _ => false,
        }
    }

    /// Returns whether the server itself, rather than one kind of object, is out of reach.
    pub fn is_fatal(&self) -> bool {
        !matches!(
            self,
            Self::Refused { .. } | Self::Cut { .. } | Self::TimedOut { .. }
        )
    }

    /// Status and words of a refusal.
    pub fn refusal(&self) -> Option<(u16, &str)> {
        match self {
            Self::Refused { code, message, .. } => Some((*code, message)),
            _ => None,
        }
    }

    /// Returns whether the server says that there is no object of that name. Where it does not serve the path, its answer names none.
    pub fn says_gone(&self, name: &str) -> bool {
        matches!(self.refusal(), Some((404, message)) if message.contains(&format!("\"{name}\"")))
    }

    /// Returns whether the user lacks a right, in the words of the server's authorizers. Admission refuses with the same code.
    pub fn lacks_right(&self) -> bool {
        matches!(self.refusal(), Some((403, message)) if message.contains(" is forbidden: User "))
    }

    /// Returns what the user can do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoKubeconfig { .. } | Self::NoFile { .. } => {
                "set KUBECONFIG or pass --kubeconfig; to try it without a cluster, pass `--from example:gpus`"
                    .to_owned()
            }
            Self::NoContext { known, .. } if known.is_empty() => {
                "the kubeconfig has no contexts; pass --server, or create one with `kubectl config set-context`"
                    .to_owned()
            }
            Self::NoContext { known, .. } => {
                format!("choose one with --context or `kubectl config use-context`: {}", list(known))
            }
            Self::Unknown { known, .. } if known.is_empty() => return None,
            Self::Unknown { what, known, .. } => format!("existing {what}s: {}", list(known)),
            Self::Unreachable { message, .. } if message.contains("certificate") => {
                "the server's certificate is not trusted: pass --certificate-authority, or the name in the \
                certificate with --tls-server-name"
                    .to_owned()
            }
            Self::Unreachable { .. } => {
                "check the address, the network and the proxy settings; `kubectl cluster-info` uses the same connection"
                    .to_owned()
            }
            Self::Unauthorized { .. } => {
                "the token or certificate has expired or was revoked: log in again, or pass another --token".to_owned()
            }
            Self::Refused { code: 403, .. } => "ask for the missing permission, or limit the command to one \
                                               namespace with -n".to_owned(),
            Self::Refused { message, .. } if is_storage_message(message) => {
                "the API server cannot decode these objects, which a newer release may have written to etcd: \
                check its log, and remove or convert the objects"
                    .to_owned()
            }
            Self::TimedOut { .. } => {
                "the server may be overloaded, or the network may drop packets; change the timeout with \
                --request-timeout"
                    .to_owned()
            }
            Self::Cut { .. } => "the response was incomplete twice; try again".to_owned(),
            Self::Plugin { install_hint, .. } => return install_hint.clone(),
            Self::Refused { code: 400, message, .. } if message.contains("HTTPS server") => {
                "the server address must start with https://".to_owned()
            }
            Self::Foreign { .. } => "check --server and the proxy settings".to_owned(),
            Self::Kubeconfig { .. } => {
                "its content is not shown because it can contain secrets: `kubectl config view` shows it \
                without them".to_owned()
            }
            Self::Trust { .. } => {
                "remove one of them, or choose with --certificate-authority or --insecure-skip-tls-verify".to_owned()
            }
            Self::Configured { .. }
            | Self::Impossible { .. }
            | Self::Flag { .. }
            | Self::Server { .. }
            | Self::Proxy { .. }
            | Self::Certificates { .. }
            | Self::Credentials { .. }
            | Self::Refused { .. } => return None,
        })
    }
}

/// Returns whether the API server says that it cannot read its storage.
fn is_storage_message(message: &str) -> bool {
    [
        "storage is (re)initializing",
        "no kind",
        "not registered",
        "decode",
    ]
    .iter()
    .any(|words| message.contains(words))
}

fn no_kubeconfig(files: &str, exist: bool) -> String {
    if files.is_empty() {
        "KUBECONFIG names no file".to_owned()
    } else if exist {
        format!("{files} has no cluster")
    } else {
        format!("{files} does not exist")
    }
}

fn list(names: &[String]) -> String {
    const SHOWN: usize = 10;
    let mut text = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text.push_str(", …");
    }
    text
}

/// The innermost reasons of an error. The outer ones of HTTP stacks say only that an error occurred.
pub(super) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut chain = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        chain.push(error.to_string());
        cause = error.source();
    }
    // hyper says first that it is the client, and in which phase.
    chain.retain(|text| !text.starts_with("client error (") && !text.starts_with("error trying to connect"));
    let last = chain.pop().unwrap_or_default();
    match chain.pop() {
        // `tcp connect error: Connection refused`, unless one repeats the other.
        Some(before) if !before.contains(&last) && before.len() < 60 => format!("{before}: {last}"),
        Some(before) if before.contains(&last) && before.len() < 200 => before,
        _ => last,
    }
}
