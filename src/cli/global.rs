//! The flags that every command has, and what they mean together.
//!
//! Names, shorthands and semantics of the connection flags are kubectl's (cli-runtime `config_flags.go`, v0.37.1), where
//! an empty value is as good as none.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueHint};
use itertools::Itertools;

use crate::context::{FleetSetting, Member, Scope, Settings, SourceSetting};
use crate::output::{Format, Options};
use dra_model::Time;
use dra_reports::script::Carried;
use dra_sources::live::{Connection, Impersonation};
use dra_sources::{GateSetting, MinorVersion, VersionSettings};

use super::values;

const OUTPUT: &str = "Output";
/// The heading of the flags that have nothing to apply to with `--from`.
pub(super) const CONNECTION: &str = "Cluster connection";

/// All global flags.
#[derive(Debug, Args)]
pub(crate) struct GlobalArgs {
    #[command(flatten, next_help_heading = "Selection")]
    selection: SelectionArgs,
    #[command(flatten, next_help_heading = OUTPUT)]
    output: Options,
    #[command(flatten, next_help_heading = CONNECTION)]
    connection: ConnectionArgs,
    #[command(flatten, next_help_heading = "Kubernetes version and feature gates")]
    versions: VersionArgs,

    /// Give up after this duration, such as `90` or `1m30s`; 0 means never
    #[arg(long, value_name = "DURATION", value_parser = values::request_timeout, help_heading = OUTPUT)]
    timeout: Option<Duration>,
}

#[derive(Debug, Args)]
struct SelectionArgs {
    /// Namespace; the default depends on the command
    ///
    /// Commands that list objects default to the namespace of the context, commands that check the cluster to all namespaces.
    #[arg(long, short, value_name = "NAMESPACE", value_parser = values::namespace)]
    namespace: Option<String>,

    /// All namespaces, overrides -n
    #[arg(long, short = 'A')]
    all_namespaces: bool,

    /// Filter by labels, such as `a=b,c!=d`
    ///
    /// Separate requirements with commas: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`.
    // As text, since `devices` has a selector of another language under the same name.
    #[arg(long, short = 'l', value_name = "LABELS", value_parser = values::labels)]
    selector: Option<String>,

    /// Read a file, a directory, `-` or `example:NAME`
    ///
    /// Replaces the cluster; can be repeated. `-` reads standard input, `example:NAME` a built-in example, and `example:` lists the examples.
    /// Reads YAML and JSON: single objects, lists and multiple documents, optionally compressed with gzip or zstd. Objects without a namespace
    /// belong to the namespace of `-n`, or to `default`.
    #[arg(long, value_name = "SOURCE", value_hint = ValueHint::AnyPath)]
    from: Vec<String>,

    /// Read a directory with a snapshot of each of several clusters
    ///
    /// For `status`, `check`, and `explain` without a name. Each file or subdirectory is read as `--from` reads it, and names its cluster:
    /// `prod-a.json.zst` is the cluster `prod-a`.
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath, conflicts_with = "from")]
    fleet: Option<String>,

    /// With several clusters: number of clusters to read at a time
    #[arg(long, value_name = "NUMBER")]
    parallel: Option<NonZeroUsize>,

    /// Fail on a malformed object instead of skipping it with a warning
    #[arg(long)]
    strict: bool,

    /// Treat kinds missing from `--from` as empty
    ///
    /// By default a kind is known if a file contains objects of it, is a list of that kind, or is a snapshot. Results that depend on other
    /// kinds are unknown, as they are without permission to list them in a cluster.
    #[arg(long)]
    complete: bool,

    /// Warn instead of failing when a name does not exist
    ///
    /// By default a command exits with code 3 if a named object, namespace or node does not exist, and with 4 if a driver, a pool, a device
    /// or labels match nothing. Use it in scripts that clean up objects that may already be deleted.
    #[arg(long)]
    allow_missing: bool,

    /// Current time, such as `2026-08-01T12:00:00Z`
    ///
    /// By default that which a snapshot records. Other files are judged as of their newest time, if no ready node in them has reported in the
    /// 10 minutes before the command started.
    #[arg(long, value_name = "TIME", value_parser = values::instant)]
    now: Option<Time>,
}

/// The arguments behind the program's name, where they can be printed: without secrets, and in Unicode.
pub(crate) fn printable(args: &[OsString]) -> Vec<String> {
    const SECRETS: [&str; 2] = ["--token", "--password"];
    let words: Option<Vec<String>> = args
        .iter()
        .skip(1)
        .map(|word| word.to_str().map(str::to_owned))
        .collect();
    let words = words.unwrap_or_default();
    let is_secret = |word: &String| SECRETS.iter().any(|secret| word.starts_with(secret));
    if words.iter().any(is_secret) {
        Vec::new()
    } else {
        words
    }
}

#[derive(Debug, Args)]
struct ConnectionArgs {
    /// Path to the kubeconfig file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    kubeconfig: Option<OsString>,

    /// Kubeconfig context to use
    ///
    /// `status`, `check`, and `explain` without a name accept several, and read their clusters side by side.
    #[arg(long, value_name = "CONTEXT")]
    context: Vec<String>,

    /// Kubeconfig cluster to use
    #[arg(long, value_name = "CLUSTER")]
    cluster: Option<String>,

    /// Kubeconfig user to use
    #[arg(long, value_name = "USER")]
    user: Option<String>,

    /// Address of the API server
    #[arg(long, short, value_name = "URL")]
    server: Option<String>,

    /// Server name to verify the certificate against
    #[arg(long, value_name = "NAME")]
    tls_server_name: Option<String>,

    /// Skip verification of the server's certificate (insecure)
    #[arg(long)]
    insecure_skip_tls_verify: bool,

    /// Path to the certificate authority file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    certificate_authority: Option<OsString>,

    /// Path to the client certificate file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    client_certificate: Option<OsString>,

    /// Path to the client key file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    client_key: Option<OsString>,

    /// Bearer token for authentication
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,

    /// User name for basic authentication
    #[arg(long, value_name = "NAME")]
    username: Option<String>,

    /// Password for basic authentication
    #[arg(long, value_name = "PASSWORD")]
    password: Option<String>,

    /// User or service account to impersonate
    #[arg(long = "as", value_name = "USER")]
    impersonated_user: Option<String>,

    /// UID to impersonate
    #[arg(long = "as-uid", value_name = "UID")]
    impersonated_uid: Option<String>,

    /// Group to impersonate; can be repeated
    #[arg(long = "as-group", value_name = "GROUP")]
    impersonated_groups: Vec<String>,

    /// Extra user info to impersonate; can be repeated
    #[arg(long = "as-user-extra", value_name = "KEY=VALUE", value_parser = values::user_extra)]
    impersonated_extra: Vec<(String, String)>,

    /// Timeout of a single request; 0 means none
    #[arg(long, value_name = "DURATION", value_parser = values::request_timeout)]
    request_timeout: Option<Duration>,

    /// Proxy for requests
    #[arg(long, value_name = "URL", value_parser = values::ProxyUrl)]
    proxy_url: Option<String>,

    /// Disable compression of responses
    #[arg(long)]
    disable_compression: bool,

    /// Accepted for compatibility with kubectl; nothing is cached
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath, hide = true, help_heading = None)]
    cache_dir: Option<OsString>,
}

#[derive(Debug, Args)]
struct VersionArgs {
    /// Apply the rules of this release, such as `1.36.2`, instead of the server's
    #[arg(long, value_name = "VERSION", value_parser = values::kubernetes_version)]
    kubernetes_version: Option<(MinorVersion, Option<u32>)>,

    /// Feature gates of all components, such as `A=true,B=false`
    #[arg(long = "feature-gates", value_name = "GATES", value_delimiter = ',', value_parser = values::gate)]
    gates: Vec<GateSetting>,

    /// Feature gates of kube-scheduler
    #[arg(long = "scheduler-feature-gates", value_name = "GATES", value_delimiter = ',', value_parser = values::gate)]
    scheduler_gates: Vec<GateSetting>,

    /// Feature gates of kube-controller-manager
    #[arg(long = "kcm-feature-gates", value_name = "GATES", value_delimiter = ',', value_parser = values::gate)]
    controller_manager_gates: Vec<GateSetting>,

    /// Feature gates of kube-apiserver
    #[arg(long = "apiserver-feature-gates", value_name = "GATES", value_delimiter = ',', value_parser = values::gate)]
    api_server_gates: Vec<GateSetting>,

    /// Feature gates of the kubelets
    #[arg(long = "kubelet-feature-gates", value_name = "GATES", value_delimiter = ',', value_parser = values::gate)]
    kubelet_gates: Vec<GateSetting>,
}

impl GlobalArgs {
    /// The settings that the flags amount to.
    pub(crate) fn resolve(self) -> Settings {
        let (selection, output) = (self.selection, self.output);
        let contexts = self.connection.contexts();
        let connection = self.connection.resolve();
        let carried = Carried {
            connection: flags(&connection),
            source: selection.source().chain(self.versions.flags()).collect(),
            selection: selection.flags().collect(),
            typed: Vec::new(),
        };
        // The cluster of one of several contexts.
        let member = |context: &String| {
            let connection = Connection {
                context: Some(context.clone()),
                ..connection.clone()
            };
            Member {
                name: context.clone(),
                flag: format!("--context={context}"),
                carried: Carried {
                    connection: flags(&connection),
                    ..carried.clone()
                },
                source: SourceSetting::Cluster(Box::new(connection)),
            }
        };
        // A line for each cluster names it.
        let is_fleet = contexts.len() > 1 || output.format == Format::Ndjson;
        let fleet = match &selection.fleet {
            Some(directory) => Some(FleetSetting::Directory(directory.clone())),
            None if is_fleet && !contexts.is_empty() => {
                Some(FleetSetting::Contexts(contexts.iter().map(member).collect()))
            }
            None => None,
        };
        Settings {
            fleet,
            parallel: selection.parallel,
            strict: selection.strict,
            complete: selection.complete,
            allow_missing: selection.allow_missing,
            scope: selection.scope(),
            now: selection.now,
            // What is not labels here is the selector of a command that has its own.
            selector: selection
                .selector
                .and_then(|text| text.parse().ok())
                .unwrap_or_default(),
            source: if selection.from.is_empty() {
                SourceSetting::Cluster(Box::new(connection))
            } else {
                SourceSetting::Files(selection.from)
            },
            versions: self.versions.resolve(),
            timeout: self.timeout.filter(|timeout| !timeout.is_zero()),
            carried,
            output,
        }
    }
}

impl SelectionArgs {
    fn scope(&self) -> Scope {
        match given(self.namespace.clone()) {
            // As in kubectl: `-A` wins over `-n`.
            _ if self.all_namespaces => Scope::All,
            Some(namespace) => Scope::Namespace(namespace),
            None => Scope::Unset,
        }
    }

    /// The flags that select objects, as they are typed.
    fn flags(&self) -> impl Iterator<Item = String> {
        let namespace = match self.scope() {
            Scope::All => Some("--all-namespaces".to_owned()),
            Scope::Namespace(namespace) => Some(format!("--namespace={namespace}")),
            Scope::Unset => None,
        };
        let labels = self.selector.iter().map(|labels| format!("--selector={labels}"));
        namespace.into_iter().chain(labels)
    }

    /// The flags that say what is read and when that was, as they are typed.
    fn source(&self) -> impl Iterator<Item = String> {
        let from = self.from.iter().map(|from| format!("--from={from}"));
        let complete = self.complete.then(|| "--complete".to_owned());
        from.chain(complete)
            .chain(self.now.map(|now| format!("--now={now}")))
    }
}

impl VersionArgs {
    /// The flags, as they are typed.
    fn flags(&self) -> Vec<String> {
        let version = self.kubernetes_version.as_ref().map(|(minor, patch)| {
            let patch = patch.map_or_else(String::new, |patch| format!(".{patch}"));
            format!("--kubernetes-version={}.{}{patch}", minor.major, minor.minor)
        });
        let gates = [
            ("--feature-gates", &self.gates),
            ("--scheduler-feature-gates", &self.scheduler_gates),
            ("--kcm-feature-gates", &self.controller_manager_gates),
            ("--apiserver-feature-gates", &self.api_server_gates),
            ("--kubelet-feature-gates", &self.kubelet_gates),
        ];
        let gates = gates.into_iter().filter(|(_, gates)| !gates.is_empty());
        let gates = gates.map(|(flag, gates)| {
            let gates = gates.iter().map(|gate| format!("{}={}", gate.name, gate.enabled));
            format!("{flag}={}", gates.format(","))
        });
        version.into_iter().chain(gates).collect()
    }

    fn resolve(self) -> VersionSettings {
        VersionSettings {
            kubernetes: self.kubernetes_version.map(|(release, _)| release),
            patch: self.kubernetes_version.and_then(|(_, patch)| patch),
            gates: self.gates,
            scheduler_gates: self.scheduler_gates,
            controller_manager_gates: self.controller_manager_gates,
            api_server_gates: self.api_server_gates,
            kubelet_gates: self.kubelet_gates,
        }
    }
}

impl ConnectionArgs {
    /// The different contexts, in their order.
    fn contexts(&self) -> Vec<String> {
        let given = self.context.iter().filter(|context| !context.is_empty());
        given.unique().cloned().collect()
    }

    /// The connection. Of several contexts none is the one.
    fn resolve(self) -> Connection {
        let mut contexts = self.contexts();
        Connection {
            kubeconfig: given_path(self.kubeconfig),
            context: contexts.pop().filter(|_| contexts.is_empty()),
            cluster: given(self.cluster),
            user: given(self.user),
            server: given(self.server),
            tls_server_name: given(self.tls_server_name),
            insecure_skip_tls_verify: self.insecure_skip_tls_verify,
            certificate_authority: given_path(self.certificate_authority),
            client_certificate: given_path(self.client_certificate),
            client_key: given_path(self.client_key),
            token: given(self.token).map(Into::into),
            username: given(self.username),
            password: given(self.password).map(Into::into),
            impersonate: Impersonation {
                user: given(self.impersonated_user),
                uid: given(self.impersonated_uid),
                groups: self.impersonated_groups,
                extra: self.impersonated_extra,
            },
            request_timeout: self.request_timeout.filter(|timeout| !timeout.is_zero()),
            proxy_url: given(self.proxy_url),
            disable_compression: self.disable_compression,
        }
    }
}

/// The flags that say which cluster and who asks, as they are typed. Secrets are left out: they do not belong in a printed command.
fn flags(connection: &Connection) -> Vec<String> {
    let path = |path: &'_ Option<PathBuf>| path.as_deref().and_then(Path::to_str).map(str::to_owned);
    let Impersonation {
        user, uid, groups, ..
    } = &connection.impersonate;
    let single = [
        ("--kubeconfig", path(&connection.kubeconfig)),
        ("--context", connection.context.clone()),
        ("--cluster", connection.cluster.clone()),
        ("--user", connection.user.clone()),
        ("--server", connection.server.clone()),
        ("--tls-server-name", connection.tls_server_name.clone()),
        ("--certificate-authority", path(&connection.certificate_authority)),
        ("--client-certificate", path(&connection.client_certificate)),
        ("--client-key", path(&connection.client_key)),
        ("--as", user.clone()),
        ("--as-uid", uid.clone()),
    ];
    let single = single
        .into_iter()
        .filter_map(|(flag, value)| Some((flag, value?)));
    let groups = groups.iter().filter(|group| !group.is_empty());
    let groups = groups.map(|group| ("--as-group", group.clone()));
    let mut flags: Vec<String> = single
        .chain(groups)
        .map(|(flag, value)| format!("{flag}={value}"))
        .collect();
    if connection.insecure_skip_tls_verify {
        flags.push("--insecure-skip-tls-verify".to_owned());
    }
    flags
}

fn given(value: Option<String>) -> Option<String> {
    value.filter(|value| !value.is_empty())
}

fn given_path(value: Option<OsString>) -> Option<PathBuf> {
    value.filter(|value| !value.is_empty()).map(PathBuf::from)
}
