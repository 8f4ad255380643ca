//! The flags that every command has, and what they mean together.
//!
//! Names, shorthands and semantics of the connection flags are kubectl's (cli-runtime `config_flags.go`, v0.37.1), where
//! an empty value is as good as none.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use itertools::Itertools;

use crate::context::{FleetSetting, Member, Scope, Settings, SourceSetting};
use crate::output::{Color, Format, Options, SortBy};
use dra_model::Time;
use dra_reports::script::Carried;
use dra_sources::live::{Connection, Impersonation};
use dra_sources::{GateSetting, MinorVersion, VersionSettings};

use super::values;

const OUTPUT: &str = "Output";
const SELECTION: &str = "Selection";
pub(super) const CONNECTION: &str = "Cluster connection";
const VERSIONS: &str = "Kubernetes version and feature gates";

/// All global flags.
#[derive(Debug, Args)]
pub(crate) struct GlobalArgs {
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
    #[command(flatten)]
    versions: VersionArgs,

    /// Give up after this duration, such as `90` or `1m30s`; 0 means never
    #[arg(
        long,
        global = true,
        value_name = "DURATION",
        value_parser = values::request_timeout,
        help_heading = OUTPUT,
    )]
    timeout: Option<Duration>,
}

#[derive(Debug, Args)]
struct SelectionArgs {
    /// Namespace; the default depends on the command
    ///
    /// Commands that list objects default to the namespace of the context, commands that check the cluster to all namespaces.
    #[arg(
        long,
        short,
        global = true,
        value_name = "NAMESPACE",
        value_parser = values::namespace,
        help_heading = SELECTION,
    )]
    namespace: Option<String>,

    /// All namespaces, overrides -n
    #[arg(long, short = 'A', global = true, help_heading = SELECTION)]
    all_namespaces: bool,

    /// Filter by labels, such as `a=b,c!=d`
    ///
    /// Separate requirements with commas: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`.
    // As text, since `devices` has a selector of another language under the same name.
    #[arg(
        long,
        short = 'l',
        global = true,
        value_name = "LABELS",
        value_parser = values::labels,
        help_heading = SELECTION,
    )]
    selector: Option<String>,

    /// Read a file, a directory, `-` or `example:NAME`
    ///
    /// Replaces the cluster; can be repeated. `-` reads standard input, `example:NAME` a built-in example, and `example:` lists the examples.
    /// Reads YAML and JSON: single objects, lists and multiple documents, optionally compressed with gzip or zstd. Objects without a namespace
    /// belong to the namespace of `-n`, or to `default`.
    #[arg(
        long,
        global = true,
        value_name = "SOURCE",
        value_hint = ValueHint::AnyPath,
        conflicts_with_all = CONNECTION_FLAGS,
        help_heading = SELECTION,
    )]
    from: Vec<String>,

    /// Read a directory with a snapshot of each of several clusters
    ///
    /// For `status`, `check`, and `explain` without a name. Each file or subdirectory is read as `--from` reads it, and names its cluster:
    /// `prod-a.json.zst` is the cluster `prod-a`.
    #[arg(
        long,
        global = true,
        value_name = "DIRECTORY",
        value_hint = ValueHint::DirPath,
        conflicts_with = "from",
        conflicts_with_all = CONNECTION_FLAGS,
        help_heading = SELECTION,
    )]
    fleet: Option<String>,

    /// With several clusters: number of clusters to read at a time
    #[arg(long, global = true, value_name = "NUMBER", help_heading = SELECTION, hide_short_help = true)]
    parallel: Option<NonZeroUsize>,

    /// Fail on a malformed object instead of skipping it with a warning
    #[arg(long, global = true, help_heading = SELECTION)]
    strict: bool,

    /// Treat kinds missing from `--from` as empty
    ///
    /// By default a kind is known if a file contains objects of it, is a list of that kind, or is a snapshot. Results that depend on other
    /// kinds are unknown, as they are without permission to list them in a cluster.
    #[arg(long, global = true, help_heading = SELECTION, hide_short_help = true)]
    complete: bool,

    /// Warn instead of failing when a name does not exist
    ///
    /// By default a command exits with code 3 if a named object, namespace or node does not exist, and with 4 if a driver, a pool, a device
    /// or labels match nothing. Use it in scripts that clean up objects that may already be deleted.
    #[arg(long, global = true, help_heading = SELECTION, hide_short_help = true)]
    allow_missing: bool,

    /// Current time, such as `2026-08-01T12:00:00Z`
    #[arg(long, global = true, value_name = "TIME", value_parser = values::instant, help_heading = SELECTION)]
    now: Option<Time>,
}

#[derive(Debug, Args)]
struct OutputArgs {
    /// `table`, `wide`, `json`, `yaml` or `name`
    #[arg(long, short, global = true, value_enum, hide_possible_values = true, default_value = "table", hide_default_value = true, value_name = "FORMAT", help_heading = OUTPUT)]
    output: Format,

    /// Show everything, fitted to the terminal
    ///
    /// All evidence, rows and columns, where `-o wide` does not break lines.
    #[arg(long, global = true, help_heading = OUTPUT)]
    details: bool,

    /// Omit the header line
    #[arg(long, global = true, help_heading = OUTPUT)]
    no_headers: bool,

    /// Sort by a column such as `NODE` or a field such as `.node`
    ///
    /// Fields refer to the JSON items and accept kubectl's form, such as `{.devices[0].driver}`.
    #[arg(long, global = true, value_name = "COLUMN|PATH", help_heading = OUTPUT)]
    sort_by: Option<SortBy>,

    /// Watch for changes after printing the table
    #[arg(long, short, global = true, help_heading = OUTPUT)]
    watch: bool,

    /// Color mode
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN", help_heading = OUTPUT)]
    color: Color,

    /// Use ASCII characters only
    #[arg(long, global = true, help_heading = OUTPUT)]
    ascii: bool,

    /// Print only results and errors
    #[arg(long, short, global = true, help_heading = OUTPUT)]
    quiet: bool,

    /// Log level on stderr; 6 logs requests
    #[arg(long = "v", short = 'v', global = true, default_value_t = 0, value_name = "LEVEL", help_heading = OUTPUT)]
    verbosity: u8,
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

/// The ids of [`ConnectionArgs`]: with `--from` there is nothing that they could apply to.
pub(super) const CONNECTION_FLAGS: [&str; 20] = [
    "kubeconfig",
    "context",
    "cluster",
    "user",
    "server",
    "tls_server_name",
    "insecure_skip_tls_verify",
    "certificate_authority",
    "client_certificate",
    "client_key",
    "token",
    "username",
    "password",
    "impersonated_user",
    "impersonated_uid",
    "impersonated_groups",
    "impersonated_extra",
    "request_timeout",
    "proxy_url",
    "disable_compression",
];

#[derive(Clone, Debug, Args)]
struct ConnectionArgs {
    /// Path to the kubeconfig file
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = CONNECTION, hide_short_help = true)]
    kubeconfig: Option<OsString>,

    /// Kubeconfig context to use
    ///
    /// `status`, `check`, and `explain` without a name accept several, and read their clusters side by side.
    #[arg(long, global = true, value_name = "CONTEXT", help_heading = CONNECTION)]
    context: Vec<String>,

    /// Kubeconfig cluster to use
    #[arg(long, global = true, value_name = "CLUSTER", help_heading = CONNECTION, hide_short_help = true)]
    cluster: Option<String>,

    /// Kubeconfig user to use
    #[arg(long, global = true, value_name = "USER", help_heading = CONNECTION, hide_short_help = true)]
    user: Option<String>,

    /// Address of the API server
    #[arg(long, short, global = true, value_name = "URL", help_heading = CONNECTION, hide_short_help = true)]
    server: Option<String>,

    /// Server name to verify the certificate against
    #[arg(long, global = true, value_name = "NAME", help_heading = CONNECTION, hide_short_help = true)]
    tls_server_name: Option<String>,

    /// Skip verification of the server's certificate (insecure)
    #[arg(long, global = true, help_heading = CONNECTION, hide_short_help = true)]
    insecure_skip_tls_verify: bool,

    /// Path to the certificate authority file
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = CONNECTION, hide_short_help = true)]
    certificate_authority: Option<OsString>,

    /// Path to the client certificate file
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = CONNECTION, hide_short_help = true)]
    client_certificate: Option<OsString>,

    /// Path to the client key file
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = CONNECTION, hide_short_help = true)]
    client_key: Option<OsString>,

    /// Bearer token for authentication
    #[arg(long, global = true, value_name = "TOKEN", help_heading = CONNECTION, hide_short_help = true)]
    token: Option<String>,

    /// User name for basic authentication
    #[arg(long, global = true, value_name = "NAME", help_heading = CONNECTION, hide_short_help = true)]
    username: Option<String>,

    /// Password for basic authentication
    #[arg(long, global = true, value_name = "PASSWORD", help_heading = CONNECTION, hide_short_help = true)]
    password: Option<String>,

    /// User or service account to impersonate
    #[arg(long = "as", global = true, value_name = "USER", help_heading = CONNECTION, hide_short_help = true)]
    impersonated_user: Option<String>,

    /// UID to impersonate
    #[arg(long = "as-uid", global = true, value_name = "UID", help_heading = CONNECTION, hide_short_help = true)]
    impersonated_uid: Option<String>,

    /// Group to impersonate; can be repeated
    #[arg(long = "as-group", global = true, value_name = "GROUP", help_heading = CONNECTION, hide_short_help = true)]
    impersonated_groups: Vec<String>,

    /// Extra user info to impersonate; can be repeated
    #[arg(
        long = "as-user-extra",
        global = true,
        value_name = "KEY=VALUE",
        value_parser = values::user_extra,
        help_heading = CONNECTION,
        hide_short_help = true,
    )]
    impersonated_extra: Vec<(String, String)>,

    /// Timeout of a single request; 0 means none
    #[arg(
        long,
        global = true,
        value_name = "DURATION",
        value_parser = values::request_timeout,
        help_heading = CONNECTION,
        hide_short_help = true,
    )]
    request_timeout: Option<Duration>,

    /// Proxy for requests
    #[arg(
        long,
        global = true,
        value_name = "URL",
        value_parser = values::ProxyUrl,
        help_heading = CONNECTION,
        hide_short_help = true,
    )]
    proxy_url: Option<String>,

    /// Disable compression of responses
    #[arg(long, global = true, help_heading = CONNECTION, hide_short_help = true)]
    disable_compression: bool,

    /// Accepted for compatibility with kubectl; nothing is cached
    #[arg(long, global = true, value_name = "DIRECTORY", value_hint = ValueHint::DirPath, hide = true)]
    cache_dir: Option<OsString>,
}

#[derive(Debug, Args)]
struct VersionArgs {
    /// Apply the rules of this release, such as `1.36.2`, instead of the server's
    #[arg(
        long,
        global = true,
        value_name = "VERSION",
        value_parser = values::kubernetes_version,
        help_heading = VERSIONS,
        hide_short_help = true,
    )]
    kubernetes_version: Option<(MinorVersion, Option<u32>)>,

    /// Feature gates of all components, such as `A=true,B=false`
    #[arg(
        long = "feature-gates",
        global = true,
        value_name = "GATES",
        value_delimiter = ',',
        value_parser = values::gate,
        help_heading = VERSIONS,
        hide_short_help = true,
    )]
    gates: Vec<GateSetting>,

    /// Feature gates of kube-scheduler
    #[arg(
        long = "scheduler-feature-gates",
        global = true,
        value_name = "GATES",
        value_delimiter = ',',
        value_parser = values::gate,
        help_heading = VERSIONS,
        hide_short_help = true,
    )]
    scheduler_gates: Vec<GateSetting>,

    /// Feature gates of kube-controller-manager
    #[arg(
        long = "kcm-feature-gates",
        global = true,
        value_name = "GATES",
        value_delimiter = ',',
        value_parser = values::gate,
        help_heading = VERSIONS,
        hide_short_help = true,
    )]
    controller_manager_gates: Vec<GateSetting>,

    /// Feature gates of kube-apiserver
    #[arg(
        long = "apiserver-feature-gates",
        global = true,
        value_name = "GATES",
        value_delimiter = ',',
        value_parser = values::gate,
        help_heading = VERSIONS,
        hide_short_help = true,
    )]
    api_server_gates: Vec<GateSetting>,

    /// Feature gates of the kubelets
    #[arg(
        long = "kubelet-feature-gates",
        global = true,
        value_name = "GATES",
        value_delimiter = ',',
        value_parser = values::gate,
        help_heading = VERSIONS,
        hide_short_help = true,
    )]
    kubelet_gates: Vec<GateSetting>,
}

impl GlobalArgs {
    /// The flags that printed commands repeat.
    fn carried(&self) -> Carried {
        let SelectionArgs {
            namespace,
            all_namespaces,
            selector,
            from,
            fleet: _,
            parallel: _,
            strict: _,
            complete,
            allow_missing: _,
            now,
        } = &self.selection;
        let mut selection = Vec::new();
        if *all_namespaces {
            selection.push("--all-namespaces".to_owned());
        } else if let Some(namespace) = namespace.as_ref().filter(|namespace| !namespace.is_empty()) {
            selection.push(format!("--namespace={namespace}"));
        }
        selection.extend(selector.iter().map(|labels| format!("--selector={labels}")));
        let mut source: Vec<String> = from.iter().map(|from| format!("--from={from}")).collect();
        if *complete {
            source.push("--complete".to_owned());
        }
        source.extend(now.map(|now| format!("--now={now}")));
        source.extend(self.versions.flags());
        Carried {
            connection: self.connection.flags(),
            source,
            selection,
            typed: Vec::new(),
        }
    }

    /// The cluster of one of several contexts.
    fn member(&self, context: &str) -> Member {
        let connection = ConnectionArgs {
            context: vec![context.to_owned()],
            ..self.connection.clone()
        };
        Member {
            name: context.to_owned(),
            flag: format!("--context={context}"),
            carried: Carried {
                connection: connection.flags(),
                ..self.carried()
            },
            source: SourceSetting::Cluster(Box::new(connection.resolve())),
        }
    }

    /// The settings that the flags amount to.
    pub(crate) fn resolve(self) -> Settings {
        let contexts = self.connection.contexts();
        // A line for each cluster names it.
        let is_fleet = contexts.len() > 1 || self.output.output == Format::Ndjson;
        let fleet = match &self.selection.fleet {
            Some(directory) => Some(FleetSetting::Directory(directory.clone())),
            None if is_fleet && !contexts.is_empty() => Some(FleetSetting::Contexts(
                contexts.iter().map(|context| self.member(context)).collect(),
            )),
            None => None,
        };
        let carried = self.carried();
        let Self {
            selection,
            output,
            connection,
            versions,
            timeout,
        } = self;
        let SelectionArgs {
            namespace,
            all_namespaces,
            selector,
            from,
            fleet: _,
            parallel,
            strict,
            complete,
            allow_missing,
            now,
        } = selection;
        let OutputArgs {
            output: format,
            details,
            no_headers,
            sort_by,
            watch,
            color,
            ascii,
            quiet,
            verbosity,
        } = output;
        let scope = match given(namespace) {
            // As in kubectl: `-A` wins over `-n`.
            _ if all_namespaces => Scope::All,
            Some(namespace) => Scope::Namespace(namespace),
            None => Scope::Unset,
        };
        let source = if from.is_empty() {
            SourceSetting::Cluster(Box::new(connection.resolve()))
        } else {
            SourceSetting::Files(from)
        };
        Settings {
            source,
            fleet,
            parallel,
            strict,
            complete,
            allow_missing,
            scope,
            // What is not labels here is the selector of a command that has its own.
            selector: selector.and_then(|text| text.parse().ok()).unwrap_or_default(),
            watch,
            versions: versions.resolve(),
            now,
            timeout: timeout.filter(|timeout| !timeout.is_zero()),
            carried,
            output: Options {
                format,
                no_headers,
                sort_by,
                details,
                color,
                ascii,
                quiet,
                verbosity,
            },
        }
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
            format!("{flag}={}", gates.collect::<Vec<_>>().join(","))
        });
        version.into_iter().chain(gates).collect()
    }
}

impl ConnectionArgs {
    /// The different contexts, in their order.
    fn contexts(&self) -> Vec<String> {
        let given = self.context.iter().filter(|context| !context.is_empty());
        given.unique().cloned().collect()
    }

    /// The only context.
    fn context(&self) -> Option<String> {
        let mut contexts = self.contexts();
        contexts.pop().filter(|_| contexts.is_empty())
    }

    /// The flags that say which cluster and who asks, as they are typed. Secrets are left out: they do not belong in a printed command.
    fn flags(&self) -> Vec<String> {
        fn path(path: Option<&OsString>) -> Option<&str> {
            path.and_then(|path| path.to_str())
        }
        let context = self.context();
        let single = [
            ("--kubeconfig", path(self.kubeconfig.as_ref())),
            ("--context", context.as_deref()),
            ("--cluster", self.cluster.as_deref()),
            ("--user", self.user.as_deref()),
            ("--server", self.server.as_deref()),
            ("--tls-server-name", self.tls_server_name.as_deref()),
            (
                "--certificate-authority",
                path(self.certificate_authority.as_ref()),
            ),
            ("--client-certificate", path(self.client_certificate.as_ref())),
            ("--client-key", path(self.client_key.as_ref())),
            ("--as", self.impersonated_user.as_deref()),
            ("--as-uid", self.impersonated_uid.as_deref()),
        ];
        let single = single
            .into_iter()
            .filter_map(|(flag, value)| Some((flag, value?)));
        let groups = self
            .impersonated_groups
            .iter()
            .map(|group| ("--as-group", group.as_str()));
        let flags = single.chain(groups).filter(|(_, value)| !value.is_empty());
        let mut flags: Vec<String> = flags.map(|(flag, value)| format!("{flag}={value}")).collect();
        if self.insecure_skip_tls_verify {
            flags.push("--insecure-skip-tls-verify".to_owned());
        }
        flags
    }

    fn resolve(self) -> Connection {
        let context = self.context();
        let Self {
            kubeconfig,
            context: _,
            cluster,
            user,
            server,
            tls_server_name,
            insecure_skip_tls_verify,
            certificate_authority,
            client_certificate,
            client_key,
            token,
            username,
            password,
            impersonated_user,
            impersonated_uid,
            impersonated_groups,
            impersonated_extra,
            request_timeout,
            proxy_url,
            disable_compression,
            cache_dir: _,
        } = self;
        Connection {
            kubeconfig: given_path(kubeconfig),
            context,
            cluster: given(cluster),
            user: given(user),
            server: given(server),
            tls_server_name: given(tls_server_name),
            insecure_skip_tls_verify,
            certificate_authority: given_path(certificate_authority),
            client_certificate: given_path(client_certificate),
            client_key: given_path(client_key),
            token: given(token).map(Into::into),
            username: given(username),
            password: given(password).map(Into::into),
            impersonate: Impersonation {
                user: given(impersonated_user),
                uid: given(impersonated_uid),
                groups: impersonated_groups,
                extra: impersonated_extra,
            },
            request_timeout: request_timeout.filter(|timeout| !timeout.is_zero()),
            proxy_url: given(proxy_url),
            disable_compression,
        }
    }
}

impl VersionArgs {
    fn resolve(self) -> VersionSettings {
        let Self {
            kubernetes_version,
            gates,
            scheduler_gates,
            controller_manager_gates,
            api_server_gates,
            kubelet_gates,
        } = self;
        VersionSettings {
            kubernetes: kubernetes_version.map(|(release, _)| release),
            patch: kubernetes_version.and_then(|(_, patch)| patch),
            gates,
            scheduler_gates,
            controller_manager_gates,
            api_server_gates,
            kubelet_gates,
        }
    }
}

fn given(value: Option<String>) -> Option<String> {
    value.filter(|value| !value.is_empty())
}

fn given_path(value: Option<OsString>) -> Option<PathBuf> {
    value.filter(|value| !value.is_empty()).map(PathBuf::from)
}
