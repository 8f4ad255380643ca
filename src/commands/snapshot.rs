//! `kubectl dra snapshot`: a cluster's state in one file.

use std::path::PathBuf;

use clap::ValueHint;

use crate::context::Ctx;
use crate::error::{Outcome, UsageError};
use dra_model::Cluster;
use dra_reports::presence::Mention;
use dra_sources::bundle::{Compression, SnapshotInfo};
use dra_sources::destination::{Destination, Readers};
use dra_sources::live::SnapshotRequest;

use super::{Accepts, objects, places, presence};

pub(super) const ACCEPTS: Accepts = Accepts::NOTHING;

const EXAMPLES: &str = "\
Examples:
  # Save the whole cluster
  kubectl dra snapshot --out cluster.json.zst
  # Read the file later, without the cluster
  kubectl dra status --from cluster.json.zst
  # Save one namespace and the cluster-scoped objects
  kubectl dra snapshot -n team --out team.json.gz";

/// Save the state of the cluster to a file
///
/// Every read command accepts the file with `--from` and answers as it would with the cluster, so that someone without access can help.
/// It contains everything that affects devices: namespaces, nodes, device classes, resource slices, taint rules, claims and their
/// templates, pods, pod groups, workloads, disruption budgets, quotas and events, of all namespaces unless `-n` names one, the versions and
/// feature gates of the cluster, and what could not be read.
///
/// Data that may be secret is removed: opaque driver configuration (a hash remains, to compare two), environment, commands and probes of
/// containers, annotations other than `resource.kubernetes.io`. Names, labels and event messages remain. The file is a `kind: List` that
/// kubectl and jq can read, readable only by you.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES, aliases = ["dump", "capture", "backup", "save", "must-gather"])]
pub(crate) struct Args {
    /// File to write, compressed if it ends in .gz or .zst; default: standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    out: Option<PathBuf>,

    /// Include roles and bindings, so that `check` can check permissions
    #[arg(long)]
    rbac: bool,

    /// Keep all data of the API server, including secrets
    #[arg(long)]
    no_redact: bool,
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args { out, rbac, no_redact } = args;
    if !ctx.is_live() {
        return Err(UsageError::needs_cluster("`snapshot`")
            .hint("remove `--from` to record the current cluster")
            .into());
    }
    let namespace = objects::namespace(ctx, objects::Default::All);
    let out = places::out(ctx, out.as_deref())?;
    let live = ctx.live().await?;
    if let Some(namespace) = namespace.as_deref() {
        let mention = Mention::Namespace(namespace.into());
        presence::demand_all(ctx, &Cluster::default(), &[mention]).await?;
    }
    let folder = out.folder();
    let request = SnapshotRequest {
        namespace: namespace.as_deref(),
        rights: rbac,
        redact: !no_redact,
        compression: Compression::of_destination(&out),
        directory: &folder,
        now: ctx.begun(),
        versions: &ctx.settings().versions,
    };
    let observer = ctx.observer(&format!("reading {}", live.name()));
    let taken = live.snapshot(&request, observer).await?;
    ctx.warn_all(&taken.warnings);
    for gap in &taken.gaps {
        ctx.warn(format!("{} are missing: {}", gap.kind.plural(), gap.reason));
    }
    let mut snapshot = taken.snapshot;
    match &out {
        Destination::File(file) => {
            let summary = summary(snapshot.info());
            snapshot.save(file, Readers::Owner)?;
            ctx.printer()
                .note(&format!("wrote {}: {summary}", file.named().display()));
        }
        Destination::Stdout => ctx.printer().json(|out| snapshot.copy_to(out))?,
    }
    Ok(Outcome::Done)
}

/// `3 Nodes, 12 ResourceClaims`, as far as there are any.
fn summary(info: &SnapshotInfo) -> String {
    let counts: Vec<String> = info
        .lists
        .iter()
        .filter(|list| list.count > 0)
        .map(|list| format!("{} {}", list.count, list.kind))
        .collect();
    if counts.is_empty() {
        "no objects".to_owned()
    } else {
        counts.join(", ")
    }
}
