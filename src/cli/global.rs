//! The flags that every command has, and what they mean together.
//!
//! Names, shorthands and semantics of the connection flags are kubectl's (cli-runtime `config_flags.go`, v0.37.1), where
//! an empty value is as good as none.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};

use crate::context::{Scope, Settings, SourceSetting};
use crate::output::{Color, Format, Options, SortBy};
use dra_model::Time;
use dra_sources::live::{Connection, Impersonation};
use dra_sources::{GateSetting, MinorVersion, VersionSettings};

use super::values;

const OUTPUT: &str = "Output";
const SELECTION: &str = "What to look at";
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

    /// End after this long, as in `90` or `1m30s`; 0 is never
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
    /// Namespace; by default that of the context, or all
    ///
    /// The description of a command says whether it looks at all namespaces unless one is given.
    #[arg(
        long,
        short,
        global = true,
        value_name = "NAMESPACE",
        value_parser = values::namespace,
        help_heading = SELECTION,
    )]
    namespace: Option<String>,

    /// All namespaces, even if one is given
    #[arg(long, short = 'A', global = true, help_heading = SELECTION)]
    all_namespaces: bool,

    /// Only objects with these labels, as in `a=b,c!=d`
    ///
    /// Requirements are joined by commas: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`.
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

    /// A file, a folder, `-` or `example:gpus`
    ///
    /// Instead of a cluster; may be repeated. `-` is standard input, `example:NAME` a small cluster that comes with the program. YAML and JSON,
    /// single objects, lists and several documents, also compressed with gzip or zstd. Objects that say no namespace are in that of `-n`, or
    /// else in `default`.
    #[arg(
        long,
        global = true,
        value_name = "SOURCE",
        value_hint = ValueHint::AnyPath,
        conflicts_with_all = CONNECTION_FLAGS,
        help_heading = SELECTION,
    )]
    from: Vec<String>,

    /// End at a malformed object instead of leaving it out with a warning
    #[arg(long, global = true, help_heading = SELECTION)]
    strict: bool,

    /// A kind of which `--from` says nothing has no objects
    ///
    /// Without it a kind is known when a file has objects of it, is a list of that kind alone, or is a snapshot. What depends on other
    /// kinds is unknown, as it is where a cluster may not be asked for them.
    #[arg(long, global = true, help_heading = SELECTION, hide_short_help = true)]
    complete: bool,

    /// A name that nothing has is a warning, no error
    ///
    /// Without it a command that judges ends with exit code 3 if an object, a namespace or a node that it was asked about does not exist,
    /// and with 4 if a driver, a pool, a device or labels select nothing. For scripts that clean up what may be gone already.
    #[arg(long, global = true, help_heading = SELECTION, hide_short_help = true)]
    allow_missing: bool,

    /// Time to count from, as in `2026-08-01T12:00:00Z`
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

    /// Leave out the line of column names
    #[arg(long, global = true, help_heading = OUTPUT)]
    no_headers: bool,

    /// Sort by a column, as in `NODE`, or by a field, as in `.node`
    ///
    /// Fields are those of the JSON items, also as in `{.devices[0].driver}`.
    #[arg(long, global = true, value_name = "COLUMN|PATH", help_heading = OUTPUT)]
    sort_by: Option<SortBy>,

    /// After the table, print what changes, until interrupted
    #[arg(long, short, global = true, help_heading = OUTPUT)]
    watch: bool,

    /// When to use color
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN", help_heading = OUTPUT)]
    color: Color,

    /// Draw with characters of ASCII only
    #[arg(long, global = true, help_heading = OUTPUT)]
    ascii: bool,

    /// Print nothing but the result and errors
    #[arg(long, short, global = true, help_heading = OUTPUT)]
    quiet: bool,

    /// How much to log on stderr; 6 shows the requests
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

#[derive(Debug, Args)]
struct ConnectionArgs {
    /// The kubeconfig file to use
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = CONNECTION, hide_short_help = true)]
    kubeconfig: Option<OsString>,

    /// The context of the kubeconfig to use
    #[arg(long, global = true, value_name = "CONTEXT", help_heading = CONNECTION)]
    context: Option<String>,

    /// The cluster of the kubeconfig to use
    #[arg(long, global = true, value_name = "CLUSTER", help_heading = CONNECTION, hide_short_help = true)]
    cluster: Option<String>,

    /// The user of the kubeconfig to use
    #[arg(long, global = true, value_name = "USER", help_heading = CONNECTION, hide_short_help = true)]
    user: Option<String>,

    /// The address of the API server
    #[arg(long, short, global = true, value_name = "URL", help_heading = CONNECTION, hide_short_help = true)]
    server: Option<String>,

    /// Name in the certificate, if it is not the host
    #[arg(long, global = true, value_name = "NAME", help_heading = CONNECTION, hide_short_help = true)]
    tls_server_name: Option<String>,

    /// Do not check the server's certificate: insecure
    #[arg(long, global = true, help_heading = CONNECTION, hide_short_help = true)]
    insecure_skip_tls_verify: bool,

    /// The certificate authority's file
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = CONNECTION, hide_short_help = true)]
    certificate_authority: Option<OsString>,

    /// The client certificate's file
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = CONNECTION, hide_short_help = true)]
    client_certificate: Option<OsString>,

    /// The client key's file
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = CONNECTION, hide_short_help = true)]
    client_key: Option<OsString>,

    /// The bearer token to authenticate with
    #[arg(long, global = true, value_name = "TOKEN", help_heading = CONNECTION, hide_short_help = true)]
    token: Option<String>,

    /// The user name for basic authentication
    #[arg(long, global = true, value_name = "NAME", help_heading = CONNECTION, hide_short_help = true)]
    username: Option<String>,

    /// The password for basic authentication
    #[arg(long, global = true, value_name = "PASSWORD", help_heading = CONNECTION, hide_short_help = true)]
    password: Option<String>,

    /// The user or service account to impersonate
    #[arg(long = "as", global = true, value_name = "USER", help_heading = CONNECTION, hide_short_help = true)]
    impersonated_user: Option<String>,

    /// The UID to impersonate
    #[arg(long = "as-uid", global = true, value_name = "UID", help_heading = CONNECTION, hide_short_help = true)]
    impersonated_uid: Option<String>,

    /// A group to impersonate; may be repeated
    #[arg(long = "as-group", global = true, value_name = "GROUP", help_heading = CONNECTION, hide_short_help = true)]
    impersonated_groups: Vec<String>,

    /// Extra information to impersonate; may be repeated
    #[arg(
        long = "as-user-extra",
        global = true,
        value_name = "KEY=VALUE",
        value_parser = values::user_extra,
        help_heading = CONNECTION,
        hide_short_help = true,
    )]
    impersonated_extra: Vec<(String, String)>,

    /// How long one request may take; 0 is for ever
    #[arg(
        long,
        global = true,
        value_name = "DURATION",
        value_parser = values::request_timeout,
        help_heading = CONNECTION,
        hide_short_help = true,
    )]
    request_timeout: Option<Duration>,

    /// The proxy that requests go through
    #[arg(
        long,
        global = true,
        value_name = "URL",
        value_parser = values::ProxyUrl,
        help_heading = CONNECTION,
        hide_short_help = true,
    )]
    proxy_url: Option<String>,

    /// Ask the server not to compress its answers
    #[arg(long, global = true, help_heading = CONNECTION, hide_short_help = true)]
    disable_compression: bool,

    /// Accepted because kubectl has it; nothing is cached
    #[arg(long, global = true, value_name = "DIRECTORY", value_hint = ValueHint::DirPath, hide = true)]
    cache_dir: Option<OsString>,
}

#[derive(Debug, Args)]
struct VersionArgs {
    /// Rules of this release, as in `1.36.2`, not the server's
    #[arg(
        long,
        global = true,
        value_name = "VERSION",
        value_parser = values::kubernetes_version,
        help_heading = VERSIONS,
        hide_short_help = true,
    )]
    kubernetes_version: Option<(MinorVersion, Option<u32>)>,

    /// Feature gates of all components, as in `A=true,B=false`
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
    /// The settings that the flags amount to.
    pub(crate) fn resolve(self) -> Settings {
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
            output: Options {
                format,
                no_headers,
                sort_by,
                details,
                typed: Vec::new(),
                color,
                ascii,
                quiet,
                verbosity,
            },
        }
    }
}

impl ConnectionArgs {
    fn resolve(self) -> Connection {
        let Self {
            kubeconfig,
            context,
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
            context: given(context),
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
