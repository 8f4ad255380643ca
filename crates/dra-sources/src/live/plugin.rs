//! Credential plugins: programs of the kubeconfig that print who asks (`exec`).
//!
//! What a plugin writes to stderr reaches the terminal as it is, as with kubectl, so that it can ask for a login. What it writes to
//! stdout holds credentials: no error repeats a part of it. Mirrors client-go `plugin/pkg/client/auth/exec/exec.go`, v0.37.1.

use std::io::{IsTerminal as _, Read as _};
use std::process::{Command, Stdio};

use http::HeaderValue;
use jiff::{SignedDuration, Timestamp};
use kube::config::{ExecConfig, ExecInteractiveMode};
use serde::Deserialize;
use serde_json::json;

use super::credentials::{Secret, bearer};
use super::error::Error;
use super::kubeconfig::mistake;
use super::processes::Running;

/// The most that a plugin may print. A token has some kilobytes.
const LARGEST: u64 = 16 << 20;

/// Credentials are asked for again this long before they expire.
const AHEAD: SignedDuration = SignedDuration::from_secs(60);

/// The versions of the protocol.
const VERSIONS: [&str; 2] = [
    "client.authentication.k8s.io/v1",
    "client.authentication.k8s.io/v1beta1",
];

/// A plugin as the kubeconfig has it.
#[derive(Clone)]
pub(super) struct Plugin(pub(super) ExecConfig);

/// Output of a plugin.
pub(super) struct Told {
    /// Its token.
    pub(super) header: Option<HeaderValue>,
    /// Certificate and key, as PEM.
    pub(super) certificate: Option<(Secret, Secret)>,
    expires: Option<Timestamp>,
}

impl Told {
    /// Returns whether to ask again. A certificate is part of the connection and stays.
    pub(super) fn has_expired(&self) -> bool {
        let due = self.expires.map(|expires| expires.saturating_sub(AHEAD));
        self.header.is_some() && due.is_some_and(|due| matches!(due, Ok(due) if Timestamp::now() >= due))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecCredential {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    api_version: String,
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    expiration_timestamp: Option<String>,
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

/// Names that an error about the output may show.
const FIELDS: &[&str] = &[
    "apiVersion",
    "clientCertificateData",
    "clientKeyData",
    "expirationTimestamp",
    "kind",
    "spec",
    "status",
    "token",
];

impl Plugin {
    /// The program's name, for errors. Its arguments may hold secrets.
    pub(super) fn name(&self) -> String {
        self.0.command.clone().unwrap_or_default()
    }

    pub(super) fn failed(&self, message: impl Into<String>) -> Error {
        Error::Plugin {
            command: self.name(),
            message: message.into(),
            install_hint: None,
        }
    }

    /// Runs the program and reads what it prints.
    pub(super) fn run(&self) -> Result<Told, Error> {
        let printed = self.printed()?;
        let text = std::str::from_utf8(&printed).map_err(|_| self.failed("its output is not text"))?;
        let credential: ExecCredential = serde_saphyr::from_str(text).map_err(|error| {
            let mistake = mistake(text, &error, FIELDS);
            self.failed(format!("its output is not an ExecCredential ({mistake})"))
        })?;
        let version = self.version()?;
        if credential.kind != "ExecCredential" {
            return Err(self.failed("the `kind` of its output is not ExecCredential"));
        }
        if credential.api_version != version {
            return Err(self.failed(format!(
                "its output does not have version `{version}` from the kubeconfig"
            )));
        }
        let Some(status) = credential.status else {
            return Err(self.failed("it printed an ExecCredential without a `status`"));
        };
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let certificate = match (
            given(status.client_certificate_data),
            given(status.client_key_data),
        ) {
            (Some(certificate), Some(key)) => Some((certificate.into(), key.into())),
            (None, None) => None,
            _ => {
                return Err(self.failed("it printed only one of `clientCertificateData` and `clientKeyData`"));
            }
        };
        let header = match given(status.token) {
            None => None,
            Some(token) => Some(
                bearer(&token).map_err(|wrong| self.failed(format!("the token that it printed {wrong}")))?,
            ),
        };
        if header.is_none() && certificate.is_none() {
            return Err(self.failed("it printed neither a token nor a certificate with its key"));
        }
        let expires = match given(status.expiration_timestamp) {
            None => None,
            Some(text) => Some(
                text.parse()
                    .map_err(|_| self.failed("the `expirationTimestamp` in its output is not a time"))?,
            ),
        };
        Ok(Told {
            header,
            certificate,
            expires,
        })
    }

    fn version(&self) -> Result<&'static str, Error> {
        let wanted = self.0.api_version.as_deref().unwrap_or_default();
        VERSIONS
            .into_iter()
            .find(|version| *version == wanted)
            .ok_or_else(|| {
                self.failed(format!(
                    "the kubeconfig's `exec.apiVersion` must be {}",
                    VERSIONS.join(" or ")
                ))
            })
    }

    /// Returns what the program prints.
    fn printed(&self) -> Result<Vec<u8>, Error> {
        let ExecConfig {
            command, args, env, ..
        } = &self.0;
        let Some(program) = command.as_deref().filter(|command| !command.is_empty()) else {
            return Err(self.failed("the kubeconfig's `exec` has no `command`"));
        };
        let mut command = Command::new(program);
        command.args(args.iter().flatten());
        for variable in env.iter().flatten() {
            if let (Some(name), Some(value)) = (variable.get("name"), variable.get("value")) {
                if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                    return Err(
                        self.failed("the kubeconfig's `exec.env` contains an invalid environment variable")
                    );
                }
                command.env(name, value);
            }
        }
        let terminal = std::io::stdin().is_terminal();
        let interactive = match self.0.interactive_mode {
            Some(ExecInteractiveMode::Never) => false,
            Some(ExecInteractiveMode::Always) if !terminal => {
                return Err(self.failed("it needs to prompt, but standard input is not a terminal"));
            }
            _ => terminal,
        };
        let mut spec = json!({ "interactive": interactive });
        if let Some(cluster) = self.0.cluster.as_ref().filter(|_| self.0.provide_cluster_info) {
            spec["cluster"] = serde_json::to_value(cluster).unwrap_or_default();
        }
        let info = json!({"kind": "ExecCredential", "apiVersion": self.version()?, "spec": spec});
        command
            .env("KUBERNETES_EXEC_INFO", info.to_string())
            .stdin(if interactive {
                Stdio::inherit()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let (mut child, _running) = Running::start(command, interactive).map_err(|error| Error::Plugin {
            command: program.to_owned(),
            message: error.to_string(),
            install_hint: self.0.install_hint.clone(),
        })?;
        let mut printed = Vec::new();
        let read = match child.stdout.take() {
            Some(stdout) => stdout.take(LARGEST + 1).read_to_end(&mut printed).map(|_| ()),
            None => Ok(()),
        };
        if printed.len() as u64 > LARGEST {
            let _ = child.kill();
        }
        let status = child.wait().map_err(|error| self.failed(error.to_string()))?;
        if printed.len() as u64 > LARGEST {
            return Err(self.failed(format!("it printed more than {} MiB", LARGEST >> 20)));
        }
        read.map_err(|error| self.failed(error.to_string()))?;
        if !status.success() {
            return Err(self.failed(format!("{status}; see its output above")));
        }
        Ok(printed)
    }
}
