//! `kubectl dra version`: which program this is, and which releases of Kubernetes it knows.

use serde::Serialize;

use crate::context::Ctx;
use crate::error::Outcome;
use crate::output::{Detail, Layout, Report, View};

use super::Accepts;

pub(super) const ACCEPTS: Accepts = Accepts::REPORT;

/// The releases whose rules are built in.
const OLDEST_KUBERNETES: &str = "1.34";
const NEWEST_KUBERNETES: &str = "1.37";

/// Print the version of this program
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only the version of this program, without asking a server for its own
    #[arg(long)]
    client: bool,
}

/// The report.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Versions {
    client_version: ClientVersion,
}

/// Field names as in `kubectl version`, where it has them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ClientVersion {
    git_version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_commit: Option<&'static str>,
    platform: String,
    oldest_kubernetes: &'static str,
    newest_kubernetes: &'static str,
}

impl Report for Versions {
    const KIND: &'static str = "Version";

    fn view(&self, _: Detail) -> View {
        let client = &self.client_version;
        let mut layout = Layout::new();
        layout.field("Client Version", &client.git_version);
        if let Some(commit) = client.git_commit {
            layout.field("Git Commit", commit);
        }
        layout.field("Platform", &client.platform).field(
            "Kubernetes",
            format_args!("v{} to v{}", client.oldest_kubernetes, client.newest_kubernetes),
        );
        layout.into()
    }
}

pub(super) fn run(ctx: &Ctx, Args { client: _ }: Args) -> anyhow::Result<Outcome> {
    ctx.print(Versions {
        client_version: ClientVersion {
            git_version: format!("v{}", env!("CARGO_PKG_VERSION")),
            // Set by the release build; a build script for it would run at each change.
            git_commit: option_env!("KUBECTL_DRA_COMMIT").filter(|commit| !commit.is_empty()),
            platform: platform(),
            oldest_kubernetes: OLDEST_KUBERNETES,
            newest_kubernetes: NEWEST_KUBERNETES,
        },
    })?;
    Ok(Outcome::Done)
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
