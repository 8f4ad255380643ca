//! `kubectl dra version`: which program this is, which releases of Kubernetes it knows, and which one the server is.

use serde::Serialize;

use crate::context::{Ctx, beyond};
use crate::error::Outcome;
use crate::output::{Doc, Page, Report, View};
use dra_model::{Environment, Version};
use dra_sources::Needs;

use super::Accepts;

pub(super) const ACCEPTS: Accepts = Accepts::REPORT;

const EXAMPLES: &str = "\
Examples:
  # Print the client and server versions
  kubectl dra version
  # Print the client version only
  kubectl dra version --client";

/// Print the client and server versions
///
/// With `--from`, the version of the server that the file was saved from.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print only the client version, without contacting the server
    #[arg(long)]
    client: bool,
}

/// The report.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Versions {
    /// This program. Fields are named as in `kubectl version`.
    client_version: ClientVersion,
    /// The API server, or the one that the files were read from. Absent with `--client` and when the server cannot be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_version: Option<ServerVersion>,
}

/// Version reported by the server.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ServerVersion {
    /// As the server says it. Absent where the release is only assumed, as for a file that does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    git_version: Option<String>,
    /// The release whose rules are applied.
    #[schemars(regex(pattern = r"^[0-9]+\.[0-9]+\.[0-9]+$"))]
    kubernetes_version: String,
    /// The release that the server behaves like.
    #[schemars(regex(pattern = r"^[0-9]+\.[0-9]+$"))]
    emulated_version: String,
    /// The oldest release that the server stays compatible with.
    #[schemars(regex(pattern = r"^[0-9]+\.[0-9]+$"))]
    min_compatibility_version: String,
}

impl ServerVersion {
    fn of(environment: &Environment) -> Self {
        let minor = |minor: u32| format!("{}.{minor}", environment.version.major);
        Self {
            git_version: environment.git_version.clone(),
            kubernetes_version: environment.version.to_string(),
            emulated_version: minor(environment.emulated_minor),
            min_compatibility_version: minor(environment.min_compatibility_minor),
        }
    }
}

/// Field names as in `kubectl version`, where it has them.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ClientVersion {
    /// The version.
    #[schemars(regex(pattern = r"^v[0-9]+\.[0-9]+\.[0-9]+"))]
    git_version: String,
    /// The commit that the program was built from. Absent in builds that were not released.
    #[serde(skip_serializing_if = "Option::is_none")]
    git_commit: Option<&'static str>,
    /// Operating system and architecture, as in `linux/amd64`.
    #[schemars(regex(pattern = r"^[a-z0-9]+/[a-z0-9]+$"))]
    platform: String,
    /// The oldest release of Kubernetes whose rules are built in.
    oldest_kubernetes: String,
    /// The newest release of Kubernetes whose rules are built in.
    newest_kubernetes: String,
}

impl Report for Versions {
    const KIND: &'static str = "Version";

    fn view(&self, _: Page) -> View {
        let client = &self.client_version;
        let mut doc = Doc::new();
        doc.field("Client Version", &client.git_version);
        doc.some("Git Commit", client.git_commit);
        doc.field("Platform", &client.platform).field(
            "Kubernetes",
            format_args!("v{} to v{}", client.oldest_kubernetes, client.newest_kubernetes),
        );
        if let Some(server) = &self.server_version {
            match &server.git_version {
                Some(version) => doc.field("Server Version", version),
                None => doc.field(
                    "Server Version",
                    format_args!("v{} (assumed)", server.kubernetes_version),
                ),
            };
            if !server
                .kubernetes_version
                .starts_with(&format!("{}.", server.emulated_version))
            {
                doc.field("Emulated Version", format_args!("v{}", server.emulated_version));
            }
        }
        doc.into()
    }
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args { client } = args;
    let server = if client {
        Ok(None)
    } else {
        ctx.load(Needs::none()).await.map(Some)
    };
    let (server, failed) = match server {
        Ok(server) => (server, None),
        // The program's own version is known whatever the server says.
        Err(error) => (None, Some(error)),
    };
    if let Some(warning) = server.as_ref().and_then(|cluster| beyond(cluster.environment())) {
        ctx.warn(warning);
    }
    ctx.print(Versions {
        client_version: ClientVersion {
            git_version: format!("v{}", env!("CARGO_PKG_VERSION")),
            // Set by the release build; a build script for it would run at each change.
            git_commit: option_env!("KUBECTL_DRA_COMMIT").filter(|commit| !commit.is_empty()),
            platform: platform(),
            oldest_kubernetes: format!("1.{}", Version::OLDEST_MINOR),
            newest_kubernetes: format!("1.{}", Version::NEWEST_MINOR),
        },
        server_version: server.map(|cluster| ServerVersion::of(cluster.environment())),
    })?;
    failed.map_or(Ok(Outcome::Done), Err)
}

/// The platform in Go's words, as all Kubernetes tools name it.
fn platform() -> String {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        os => os,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        arch => arch,
    };
    format!("{os}/{arch}")
}
