//! `kubectl dra diff`: what differs between two states of a cluster.

use std::collections::{BTreeMap, BTreeSet};

use clap::ValueHint;

use crate::context::{Ctx, SourceSetting};
use crate::error::{Outcome, UsageError};
use crate::output::{Column, Doc, NONE, Page, Report, Table, Tone, UNKNOWN, View, when};
use dra_model::{Kind, Str};
use dra_reports::Selection;
use dra_reports::difference::{
    AmountChange, ClaimChange, ClaimChangeKind, DIFFERENCE_NEEDS, Difference, Existence, Held, PodChange,
    PodChangeKind, PoolChange, RuleChange, State, StateItem, difference,
};
use dra_reports::findings::{CheckRequest, Finding, FindingList};
use dra_reports::presence::{Presence, presence};
use dra_sources::Needs;

use super::{Accepts, check, objects, presence as named, shown};

pub(super) const ACCEPTS: Accepts = Accepts::REPORT;

const EXAMPLES: &str = "\
Examples:
  # Show what changed since a snapshot
  kubectl dra diff before.json.zst
  # Compare two snapshots
  kubectl dra diff before.json.zst after.json.zst
  # Compare the claims of one namespace, as JSON
  kubectl dra diff before.json.zst -n training -o json";

/// Show what differs between two states of the cluster
///
/// Compares claims and pods with their devices, published devices with their capacity and taints, pools, taint rules, nodes, classes, drivers
/// and the findings of `check`. Covers all namespaces by default. What could not be read in one of the states is unknown, never new or gone.
///
/// Exit code 1: something differs. 4: nothing differs, but a part could not be compared.
#[derive(Debug, clap::Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct Args {
    /// Older state: a file, a directory, `-` or `example:NAME`
    #[arg(value_name = "BEFORE", value_hint = ValueHint::AnyPath)]
    before: String,

    /// Newer state, the same way; default: the cluster, or `--from`
    #[arg(value_name = "AFTER", value_hint = ValueHint::AnyPath)]
    after: Option<String>,
}

/// Rows of a table before the rest is counted.
const FEW: usize = 20;

const PODS: &[Column<PodChange, Page>] = &[
    Column::inner("POD", |pod, cell| cell.path(&pod.namespace, &pod.name)),
    Column::inner("CHANGE", |pod, cell| {
        let (tone, change) = match pod.change {
            PodChangeKind::Got => (Tone::Good, "got devices"),
            PodChangeKind::Lost if pod.existence == Existence::Gone => (Tone::Bad, "gone"),
            PodChangeKind::Lost => (Tone::Bad, "lost devices"),
            PodChangeKind::Moved => (Tone::Notice, "moved"),
            PodChangeKind::Recreated => (Tone::Plain, "recreated"),
        };
        let recreated = pod.recreated && pod.change != PodChangeKind::Recreated;
        cell.toned(
            tone,
            if recreated {
                format!("{change}, recreated")
            } else {
                change.to_owned()
            },
        );
    }),
    Column::inner("BEFORE", |pod, cell| {
        cell.text(held(pod.before.as_ref(), *cell.context));
    }),
    Column::inner("AFTER", |pod, cell| {
        cell.text(held(pod.after.as_ref(), *cell.context));
    }),
];

const CLAIMS: &[Column<ClaimChange, Page>] = &[
    Column::inner("CLAIM", |claim, cell| cell.path(&claim.namespace, &claim.name)),
    Column::inner("CHANGE", |claim, cell| {
        let tone = match claim.change {
            ClaimChangeKind::Allocated => Tone::Good,
            ClaimChangeKind::Deallocated => Tone::Bad,
            ClaimChangeKind::Moved => Tone::Notice,
            ClaimChangeKind::Created | ClaimChangeKind::Deleted | ClaimChangeKind::Consumers => Tone::Plain,
        };
        cell.toned(tone, claim_words(claim));
    }),
    Column::inner("BEFORE", |claim, cell| {
        cell.text(held(claim.before.as_ref(), *cell.context));
    }),
    Column::inner("AFTER", |claim, cell| {
        cell.text(held(claim.after.as_ref(), *cell.context));
    }),
    Column::inner("CONSUMERS", |claim, cell| {
        let signs = [("-", &claim.consumers_removed), ("+", &claim.consumers_added)];
        cell.list(signs.into_iter().flat_map(|(sign, consumers)| {
            let consumers = consumers.iter();
            consumers.map(move |one| format!("{sign}{}/{}", one.kind.to_ascii_lowercase(), one.name))
        }));
    }),
];

fn claim_words(claim: &ClaimChange) -> String {
    let first = match claim.existence {
        Existence::New if claim.recreated => Some("recreated"),
        Existence::New => Some("new"),
        Existence::Gone if claim.recreated => Some("gone, recreated"),
        Existence::Gone => Some("gone"),
        Existence::Kept => None,
    };
    let second = match claim.change {
        ClaimChangeKind::Allocated => Some("allocated"),
        ClaimChangeKind::Deallocated if claim.existence == Existence::Kept => Some("deallocated"),
        ClaimChangeKind::Moved => Some("moved"),
        ClaimChangeKind::Consumers => Some("other consumers"),
        ClaimChangeKind::Deallocated | ClaimChangeKind::Created | ClaimChangeKind::Deleted => None,
    };
    let words: Vec<&str> = first.into_iter().chain(second).collect();
    words.join(", ")
}

/// Devices by pool, and their node unless the pools are called like it.
fn held(held: Option<&Held>, page: Page) -> String {
    let Some(Held { node, devices }) = held else {
        return NONE.to_owned();
    };
    let text = shown::devices(
        devices.iter().map(|one| (one.pool.as_str(), one.device.as_str())),
        page,
    );
    match node {
        Some(node) if devices.iter().any(|one| one.pool != *node) => format!("{text} on {node}"),
        Some(node) if devices.is_empty() => node.to_string(),
        _ => text,
    }
}

/// Devices that differ in the same way.
struct DeviceRow {
    existence: Existence,
    driver: Str,
    details: String,
    count: usize,
    devices: String,
}

impl DeviceRow {
    fn all(report: &Difference, page: Page) -> Vec<Self> {
        let mut alike: BTreeMap<_, Vec<(&str, &str)>> = BTreeMap::new();
        for device in &report.devices {
            let mut details: Vec<String> = device.capacity.iter().map(|one| amount(one, page)).collect();
            if let Some(previous) = &device.previous_node {
                let node = device.node.as_ref().map_or(UNKNOWN, |node| node.as_str());
                details.push(format!("node {previous} {} {node}", arrow(page)));
            }
            details.extend(device.taints_removed.iter().map(|taint| format!("-{taint}")));
            details.extend(device.taints_added.iter().map(|taint| format!("+{taint}")));
            let key = (&device.driver, device.existence, details.join(", "));
            let devices = alike.entry(key).or_default();
            devices.push((&device.pool, &device.device));
        }
        let rows = alike.into_iter();
        rows.map(|((driver, existence, details), devices)| Self {
            existence,
            driver: driver.clone(),
            details,
            count: devices.len(),
            devices: shown::devices(devices, page),
        })
        .collect()
    }
}

const DEVICES: &[Column<DeviceRow>] = &[
    Column::inner("DRIVER", |row, cell| cell.text(&row.driver)),
    Column::inner("CHANGE", |row, cell| {
        cell.toned(tone(row.existence), row.existence);
    }),
    Column::inner("COUNT", |row, cell| cell.text(row.count)),
    Column::inner("DEVICES", |row, cell| cell.text(&row.devices)),
    Column::inner("DETAILS", |row, cell| cell.text(&row.details)),
];

const POOLS: &[Column<PoolChange, Page>] = &[
    Column::inner("POOL", |pool, cell| cell.path(&pool.driver, &pool.pool)),
    Column::inner("CHANGE", |pool, cell| {
        cell.toned(tone(pool.existence), pool.existence);
    }),
    Column::inner("GENERATION", |pool, cell| {
        let (before, after) = (pool.generation_before, pool.generation_after);
        cell.text(from_to(before, after, *cell.context));
    }),
    Column::inner("COUNTERS", |pool, cell| {
        let page = *cell.context;
        cell.list(pool.counters.iter().map(|one| amount(one, page)));
    }),
];

const RULES: &[Column<RuleChange, Page>] = &[
    Column::inner("RULE", |rule, cell| cell.text(&rule.name)),
    Column::inner("CHANGE", |rule, cell| {
        cell.toned(tone(rule.existence), rule.existence);
    }),
    Column::inner("TAINT", |rule, cell| match &rule.previous_taint {
        Some(previous) => {
            let arrow = arrow(*cell.context);
            cell.text(format_args!("{previous} {arrow} {}", rule.taint));
        }
        None => cell.text(&rule.taint),
    }),
    Column::inner("DEVICES", |rule, cell| cell.known(rule.devices)),
];

/// Objects of a kind that only one of the states has.
struct ObjectRow {
    kind: &'static str,
    existence: Existence,
    names: Vec<String>,
}

impl ObjectRow {
    fn all(report: &Difference, page: Page) -> Vec<Self> {
        let mut alike: BTreeMap<(&'static str, Existence), Vec<&Str>> = BTreeMap::new();
        for object in &report.objects {
            alike
                .entry((object.kind, object.existence))
                .or_default()
                .push(&object.name);
        }
        let rows = alike.into_iter();
        rows.map(|((kind, existence), names)| Self {
            kind,
            existence,
            names: shown::folded(names, page),
        })
        .collect()
    }
}

const OBJECTS: &[Column<ObjectRow, Page>] = &[
    Column::inner("KIND", |row, cell| cell.text(row.kind)),
    Column::inner("CHANGE", |row, cell| {
        cell.toned(tone(row.existence), row.existence);
    }),
    Column::inner("NAMES", |row, cell| {
        let told = cell.context.told(FEW, row.names.len());
        cell.text(shown::first(&row.names, told));
    }),
];

const fn findings<'r>() -> [Column<(Existence, &'r Finding)>; 5] {
    [
        Column::inner("CHANGE", |(existence, _), cell| cell.text(existence)),
        Column::inner("SEVERITY", |(_, finding), cell| {
            cell.toned(check::tone(finding.severity), finding.severity);
        }),
        Column::inner("CODE", |(_, finding), cell| cell.text(finding.code)),
        Column::inner("OBJECT", |(_, finding), cell| cell.text(&finding.object)),
        Column::inner("MESSAGE", |(_, finding), cell| cell.text(&finding.message)),
    ]
}

fn tone(existence: Existence) -> Tone {
    match existence {
        Existence::New => Tone::Good,
        Existence::Gone => Tone::Bad,
        Existence::Kept => Tone::Notice,
    }
}

fn arrow(page: Page) -> &'static str {
    page.either("→", "->")
}

/// A value that both states have as `before → after`, otherwise the one that there is.
fn from_to<T: ToString>(before: Option<T>, after: Option<T>, page: Page) -> String {
    match (before, after) {
        (Some(before), Some(after)) if before.to_string() != after.to_string() => {
            format!("{} {} {}", before.to_string(), arrow(page), after.to_string())
        }
        (before, after) => after
            .or(before)
            .map_or_else(|| NONE.to_owned(), |one| one.to_string()),
    }
}

fn amount(change: &AmountChange, page: Page) -> String {
    let AmountChange { name, before, after } = change;
    format!("{name} {}", from_to(before.as_ref(), after.as_ref(), page))
}

fn state(state: &StateItem) -> String {
    let assumed = when(state.version_is_assumed, " (assumed)");
    let version = format!(
        "{}, Kubernetes {}{assumed}",
        state.source, state.kubernetes_version
    );
    match state.read_at {
        Some(time) => format!("{version}, {time}"),
        None => version,
    }
}

impl Report for Difference {
    const KIND: &'static str = "Difference";

    fn view(&self, page: Page) -> View {
        let mut doc = Doc::new();
        let tone = match (self.is_empty(), self.unknown.is_empty()) {
            (true, true) => Tone::Good,
            _ => Tone::Notice,
        };
        doc.verdict(page, tone, self.summary.capitalized());
        doc.field("Before", state(&self.before));
        doc.field("After", state(&self.after));
        doc.any("Unknown", &self.unknown);
        let mut tables = Tables {
            doc,
            page,
            is_whole: true,
        };
        tables.add("Pods", PODS, &page, &self.pods);
        tables.add("Claims", CLAIMS, &page, &self.claims);
        tables.add("Devices", DEVICES, &(), &DeviceRow::all(self, page));
        tables.add("Pools", POOLS, &page, &self.pools);
        tables.add("Taint Rules", RULES, &page, &self.rules);
        tables.add("Objects", OBJECTS, &page, &ObjectRow::all(self, page));
        let new = self.findings.new.iter().map(|finding| (Existence::New, finding));
        let gone = self
            .findings
            .gone
            .iter()
            .map(|finding| (Existence::Gone, finding));
        tables.add("Findings", &findings(), &(), &new.chain(gone).collect::<Vec<_>>());
        let Tables {
            mut doc, is_whole, ..
        } = tables;
        if !is_whole {
            doc.gap().more();
        }
        doc.into()
    }
}

/// The tables of the report, one below the other.
struct Tables {
    doc: Doc,
    page: Page,
    /// Whether all rows were shown so far.
    is_whole: bool,
}

impl Tables {
    fn add<T, C>(&mut self, title: &str, columns: &[Column<T, C>], context: &C, rows: &[T]) {
        if rows.is_empty() {
            return;
        }
        let (told, rest) = rows.split_at(self.page.told(FEW, rows.len()));
        self.is_whole &= rest.is_empty();
        self.doc.gap().section(title, |section| {
            section.table(Table::with(columns, self.page.detail(), context, told));
            if !rest.is_empty() {
                section.text(format_args!("{} more", rest.len()));
            }
        });
    }
}

pub(super) async fn run(ctx: &Ctx, args: Args) -> anyhow::Result<Outcome> {
    let Args { before, after } = args;
    let settings = ctx.settings();
    if after.is_some() {
        refuse_third_source(ctx)?;
    }
    let is_stdin = |name: &str| name == "-";
    if is_stdin(&before) && after.as_deref().is_some_and(is_stdin) {
        return Err(UsageError::new("standard input cannot be both states").into());
    }
    let selection = objects::selection(ctx, objects::Default::All);
    let needs = needs(ctx, &selection);
    let before = ctx.load_file(&before, &needs)?;
    let after_is_live = after.is_none() && matches!(settings.source, SourceSetting::Cluster(_));
    let after = match &after {
        Some(name) => ctx.load_file(name, &needs)?,
        None => ctx.load(needs).await?,
    };
    ctx.begin_computing();
    for mention in named::mentions(&selection, []) {
        // A namespace may have been created or deleted in between.
        if let (Presence::Absent(_), Presence::Absent(absence)) =
            (presence(&before, &mention), presence(&after, &mention))
        {
            named::end_or_warn(ctx, vec![absence])?;
        }
    }
    let (_, findings_before) = check::looked_at(ctx, &before, selection.clone());
    let (request, mut findings_after) = check::looked_at(ctx, &after, selection.clone());
    if after_is_live {
        findings_after = check::confirm(ctx, after.clone(), &request, findings_after).await?;
    }
    let state = |cluster, findings| State { cluster, findings };
    let report = difference(
        state(&before, &findings_before),
        state(&after, &findings_after),
        &selection,
    );
    warn(ctx, &report, [&findings_before, &findings_after]);
    let outcome = Outcome::of(!report.is_empty(), !report.unknown.is_empty());
    ctx.answer(report, outcome)
}

/// Two sources are named already.
fn refuse_third_source(ctx: &Ctx) -> Result<(), UsageError> {
    let settings = ctx.settings();
    if matches!(settings.source, SourceSetting::Files(_)) {
        return Err(UsageError::new(
            "`diff` compares two states, and AFTER and `--from` both name the newer one",
        ));
    }
    if settings.carried.connection.is_empty() {
        return Ok(());
    }
    let flags = settings.carried.connection.join(" ");
    let error = UsageError::new(format!(
        "`{flags}` names a cluster, but BEFORE and AFTER are files"
    ));
    Err(error.hint("remove AFTER to compare BEFORE with the cluster"))
}

fn needs(ctx: &Ctx, selection: &Selection) -> Needs {
    let kinds: BTreeSet<Kind> = CheckRequest::now(ctx.begun()).needs();
    let kinds = kinds.into_iter().chain(DIFFERENCE_NEEDS);
    // Claims of every namespace hold devices.
    let needs = Needs::kinds(kinds.filter(|kind| !Kind::OF_RIGHTS.contains(kind)));
    let needs = needs.at_least_in(selection.namespace.as_deref());
    needs.with_gates().pods_after_claims().optionally(Kind::OF_RIGHTS)
}

fn warn(ctx: &Ctx, report: &Difference, findings: [&FindingList; 2]) {
    for unknown in &report.unknown {
        ctx.warn(format!("unknown: {unknown}"));
    }
    let warnings = findings.into_iter().flat_map(|list| list.warnings.iter());
    warnings.for_each(|warning| ctx.warn(warning));
}
