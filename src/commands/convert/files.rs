//! `kubectl dra convert --from IN --out OUT`: a conversion on the objects of a file, as a rehearsal.
//!
//! Only the fields that the plan names change; every other byte stays. The result is read again and compared with what was planned
//! before the file of `--out` appears, whole or not at all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::ValueHint;
use serde_json::Value;

use super::args::{PlanningArgs, SelectionArgs, needs};
use super::plan;
use crate::commands::places::Written;
use crate::commands::{places, presence};
use crate::context::{Ctx, SourceSetting};
use crate::error::{Outcome, UsageError};
use crate::output::counted;
use dra_model::{
    Change, Claim, ClaimChange, ClaimPatch, Cluster, ConsumerReference, FINALIZER, Key, Kind, Object, json,
};
use dra_reports::conversion::{ConversionPlan, plan_of, verification};
use dra_rules::reservation::conversion::Plan;
use dra_sources::bundle::save_text;
use dra_sources::destination::{Destination, FileIdentity};
use dra_sources::files::{Found, ReadError, ReadOptions, Source, read};
use dra_sources::rewrite::{Edit, Identity, rewrite};
use dra_sources::text_of;

/// A conversion on files.
// The command that it is part of calls its arguments the same, and groups of arguments need different names.
#[derive(Debug, clap::Args)]
#[group(id = "files")]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) selection: SelectionArgs,

    #[command(flatten)]
    pub(super) planning: PlanningArgs,

    /// With `--from`: write the objects as they would be here
    ///
    /// Compressed if the name ends in .gz or .zst. `-` is standard output, and the report then goes to standard error.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) out: Option<PathBuf>,

    /// With `--out`: also over the file of `--from`
    ///
    /// No other copy of it may exist.
    #[arg(long, requires = "out")]
    pub(super) force: bool,
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args {
        selection,
        planning,
        out,
        force,
    } = args;
    let (from, out) = places(ctx, out, force)?;
    let kinds = selection.kinds();
    let selection = selection.selection(ctx)?;
    let mut cluster = ctx.load(needs(&selection)).await?;
    let nothing = presence::demand_claims(ctx, &cluster, &selection).await?;
    let options = planning.options(kinds.clone(), cluster.environment())?;
    let plan = plan_of(&cluster, &selection, &options);
    let mut report = ConversionPlan::of(&cluster, &selection, &options, &plan);
    report.unknown.extend(nothing);
    plan::warn(ctx, &report);
    // The objects have standard output for themselves.
    let print = |report| match &out {
        Destination::Stdout => ctx.print_aside(plan::Planned::from(report)),
        Destination::File(_) => ctx.print(plan::Planned::from(report)),
    };
    if !report.unknown.is_empty() {
        print(report)?;
        return Ok(Outcome::Unknown);
    }
    let name = match &out {
        Destination::Stdout => "standard output".to_owned(),
        Destination::File(file) => file.named().display().to_string(),
    };
    write(ctx, &from, &out, &plan, &cluster)
        .with_context(|| format!("cannot convert `{from}` into `{name}`"))?;
    for planned in &plan.claims {
        let claim = cluster.claim(&planned.key).map(|claim| Claim::clone(claim));
        if let (Some(mut claim), Some(patch)) = (claim, planned.patch()) {
            patch.apply(&mut claim);
            if let Some(patch) = ClaimPatch::without_finalizer(&claim).filter(|_| patch.releases()) {
                patch.apply(&mut claim);
            }
            cluster.apply(Change::Put(Object::ResourceClaim(claim.into())));
        }
    }
    let proof = verification(&cluster, &selection, &kinds);
    let verdict = plan::verdict(&report.summary);
    print(report)?;
    ctx.printer().note(&format!(
        "wrote {name}: {}, {} left",
        if verdict.is_empty() {
            "nothing to convert"
        } else {
            &verdict
        },
        counted(proof.items.len(), "defect", "defects")
    ));
    Ok(if proof.items.is_empty() {
        Outcome::Done
    } else {
        Outcome::Findings
    })
}

/// The file to read and the file to write. Nothing is read or written before that is settled.
fn places(ctx: &Ctx, out: Option<PathBuf>, force: bool) -> anyhow::Result<(String, Destination)> {
    let SourceSetting::Files(names) = &ctx.settings().source else {
        return Err(UsageError::new("`--out` writes the objects of a file, so `--from` is needed").into());
    };
    let [name] = names.as_slice() else {
        return Err(UsageError::new("one `--from` at a time is converted into one file").into());
    };
    if name == "-" {
        return Err(
            UsageError::new("standard input cannot be converted, as it is read twice")
                .hint("save it into a file first")
                .into(),
        );
    }
    let path = Path::new(name);
    if path.is_dir() {
        return Err(UsageError::new(format!(
            "`{name}` is a directory, and one file is converted into another"
        ))
        .into());
    }
    if path.exists() && !path.is_file() {
        return Err(UsageError::new(format!(
            "`{name}` is no regular file and cannot be converted, as it is read twice"
        ))
        .hint("save what comes from it into a file first")
        .into());
    }
    let out = out.ok_or_else(|| {
        UsageError::new("a conversion of files is written into another one").hint("name it with `--out FILE`")
    })?;
    let out = Destination::of(&out)?;
    if !force {
        let written = Written::new().with("--out", &out);
        written
            .check(&places::from(ctx))
            .map_err(|error| error.hint("name another file, or pass `--force` to give the original up"))?;
    }
    if let (Destination::File(_), Some(file), Some(stdout)) =
        (&out, out.identity(), FileIdentity::of_stdout())
        && file == stdout
    {
        return Err(
            UsageError::new("`--out` names the file that the report goes to, as standard output")
                .hint("send standard output elsewhere, or pass `--out -` to have the objects there")
                .into(),
        );
    }
    Ok((name.clone(), out))
}

/// Writes the objects of `from` as they are once `plan` was carried out.
fn write(ctx: &Ctx, from: &str, out: &Destination, plan: &Plan, cluster: &Cluster) -> anyhow::Result<()> {
    let mut wanted: Wanted<'_> = plan
        .claims
        .iter()
        .filter_map(|claim| {
            let patch = claim.patch()?;
            let key = &claim.key;
            let identity = [&key.namespace, &key.name, &claim.uid].map(ToString::to_string);
            let released = cluster.claim(key).filter(|_| patch.releases());
            let wish = Wish {
                key,
                patch,
                finalizers: released.map(|claim| keeps(claim)).unwrap_or_default(),
                seen: 0,
            };
            Some((identity, wish))
        })
        .collect();
    let text = text_of(from)?;
    let rewritten = rewrite(&text, &mut |object: &Identity| {
        if !object.kind.is_empty() && object.kind != Kind::ResourceClaim.name() {
            return Vec::new();
        }
        let namespace = namespace_of(ctx, &object.namespace);
        let identity = [namespace, &object.name, &object.uid].map(ToOwned::to_owned);
        match wanted.get_mut(&identity) {
            Some(wish) => {
                wish.seen += 1;
                edits(wish)
            }
            None => Vec::new(),
        }
    })?;
    if let Some(Wish { key, seen, .. }) = wanted.values().find(|wish| wish.seen != 1) {
        anyhow::bail!(
            "claim/{key} is there {} in a form that can be changed",
            counted(*seen, "time", "times")
        );
    }
    prove(ctx, from, &text, &rewritten, &wanted)?;
    match out {
        Destination::Stdout => ctx.printer().manifest(&rewritten)?,
        Destination::File(file) => save_text(file, &rewritten)?,
    }
    Ok(())
}

/// The namespace of an object that says `namespace`, be it none.
fn namespace_of<'a>(ctx: &'a Ctx, namespace: &'a str) -> &'a str {
    if namespace.is_empty() {
        ctx.namespace_of_bare()
    } else {
        namespace
    }
}

/// Claims that are written, by namespace, name and UID.
type Wanted<'p> = BTreeMap<[String; 3], Wish<'p>>;

/// What becomes of one claim.
struct Wish<'p> {
    key: &'p Key,
    patch: &'p ClaimPatch,
    /// For each finalizer whether it stays; empty where all do.
    finalizers: Vec<bool>,
    /// How often the claim was found.
    seen: usize,
}

/// Which finalizers of a released claim stay: all but the one that protects its devices. Empty where that is not there.
fn keeps(claim: &Claim) -> Vec<bool> {
    let keep: Vec<bool> = claim
        .metadata
        .finalizers
        .iter()
        .map(|name| *name != FINALIZER)
        .collect();
    if keep.iter().all(|&keep| keep) {
        Vec::new()
    } else {
        keep
    }
}

/// Which entries of the old list stay, and what comes behind them.
fn changes(patch: &ClaimPatch) -> (Vec<bool>, Vec<Value>) {
    let mut rest = patch.after();
    let keep = patch
        .before()
        .iter()
        .map(|entry| match rest.split_first() {
            Some((first, others)) if first == entry => {
                rest = others;
                true
            }
            _ => false,
        })
        .collect();
    (keep, rest.iter().map(ConsumerReference::to_json).collect())
}

fn path(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

/// The changes of the text that carry out the claim's plan.
fn edits(wish: &Wish<'_>) -> Vec<Edit> {
    let mut edits = match wish.patch.change() {
        ClaimChange::Finalizers(_) => Vec::new(),
        ClaimChange::Release => {
            let list = (!wish.patch.before().is_empty()).then_some("reservedFor");
            let keys: Vec<_> = std::iter::once("allocation").chain(list).collect();
            vec![Edit::Remove {
                path: path(&["status"]),
                keys: path(&keys),
            }]
        }
        ClaimChange::List { ends_any_pod } => {
            let (keep, add) = changes(wish.patch);
            let list = Edit::List {
                path: path(&["status", "reservedFor"]),
                keep,
                add,
            };
            let field = ends_any_pod.then(|| Edit::Remove {
                path: path(&["status", "allocation"]),
                keys: path(&["reservedForAnyPod"]),
            });
            std::iter::once(list).chain(field).collect()
        }
    };
    if wish.finalizers.contains(&true) {
        edits.push(Edit::List {
            path: path(&["metadata", "finalizers"]),
            keep: wish.finalizers.clone(),
            add: Vec::new(),
        });
    } else if !wish.finalizers.is_empty() {
        edits.push(Edit::Remove {
            path: path(&["metadata"]),
            keys: path(&["finalizers"]),
        });
    }
    edits
}

/// Reads both texts and compares: the claims have changed as planned, and nothing else has.
fn prove(ctx: &Ctx, name: &str, old: &str, new: &str, wanted: &Wanted<'_>) -> anyhow::Result<()> {
    let (before, after) = (objects_of(name, old)?, objects_of(name, new)?);
    anyhow::ensure!(
        before.len() == after.len(),
        "there would be {} instead of {}",
        counted(after.len(), "object", "objects"),
        before.len()
    );
    for (old, new) in before.iter().zip(&after) {
        if old == new {
            continue;
        }
        let (mut expected, new): (Value, Value) = (json::from_slice(old)?, json::from_slice(new)?);
        let metadata = &expected["metadata"];
        let field = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
        let namespace = namespace_of(ctx, &field("namespace")).to_owned();
        let identity = [namespace, field("name"), field("uid")];
        if let Some(wish) = wanted.get(&identity) {
            carry_out(&mut expected, wish);
        }
        let [namespace, name, _] = identity;
        anyhow::ensure!(
            expected == new,
            "{namespace}/{name} would become something else than planned"
        );
    }
    Ok(())
}

/// Does to an object what the claim's plan says.
fn carry_out(object: &mut Value, wish: &Wish<'_>) {
    if !wish.finalizers.is_empty()
        && let Some(metadata) = object["metadata"].as_object_mut()
        && let Some(Value::Array(old)) = metadata.remove("finalizers")
    {
        let rest: Vec<Value> = old
            .into_iter()
            .zip(&wish.finalizers)
            .filter(|(_, keep)| **keep)
            .map(|(name, _)| name)
            .collect();
        if !rest.is_empty() {
            metadata.insert("finalizers".to_owned(), Value::Array(rest));
        }
    }
    let Some(status) = object["status"].as_object_mut() else {
        return;
    };
    match wish.patch.change() {
        ClaimChange::Finalizers(_) => {}
        ClaimChange::Release => {
            status.remove("reservedFor");
            status.remove("allocation");
        }
        ClaimChange::List { ends_any_pod } => {
            let old = match status.remove("reservedFor") {
                Some(Value::Array(old)) => old,
                _ => Vec::new(),
            };
            let (keep, add) = changes(wish.patch);
            let kept = old.into_iter().zip(keep).filter(|(_, keep)| *keep);
            let list = kept.map(|(entry, _)| entry).chain(add).collect();
            status.insert("reservedFor".to_owned(), Value::Array(list));
            let allocation = status.get_mut("allocation").and_then(Value::as_object_mut);
            if let Some(allocation) = allocation.filter(|_| *ends_any_pod) {
                allocation.remove("reservedForAnyPod");
            }
        }
    }
}

/// The objects of a text, as JSON.
fn objects_of(name: &str, text: &str) -> Result<Vec<Vec<u8>>, ReadError> {
    let source = Source::Text {
        name: name.into(),
        text: text.as_bytes().into(),
    };
    let mut objects = Vec::new();
    read(&[source], &ReadOptions::default(), |found| {
        if let Found::Item(item) = found {
            objects.push(item.json.to_vec());
        }
        Ok::<_, ReadError>(())
    })?;
    Ok(objects)
}
