//! Output of `explain` without an argument: everything pending, by cause.

use crate::output::{Column, Doc, Page, Report, Table, Tone, View, counted, list_or_none, present, span};
use dra_model::{Kind, by_number};
use dra_reports::allocation::Target;
use dra_reports::explanation::{ClusterVerdict, RISKY};
use dra_reports::script::{Command, Script};
use dra_reports::{CauseItem, ExplanationList, Started, instruction};

use super::report::{name, plain, tone_of};
use super::words::unless;
use crate::commands::fleet::{Asked, OfCluster};
use crate::commands::shown;

/// Causes that a terminal shows.
const CAUSES: usize = 8;

/// Pods of a cause that are named before the rest is counted.
const NAMED: usize = 2;

const COLUMNS: &[Column<CauseItem>] = &[
    Column::inner("COUNT", |item, cell| cell.text(item.count())),
    Column::inner("VERDICT", |item, cell| {
        cell.text(format_args!("{:?}", item.verdict));
    }),
    Column::inner("OBJECTS", |item, cell| {
        cell.list(item.pods.iter().chain(&item.claims).chain(&item.owners).map(name));
    }),
    Column::inner("CAUSE", |item, cell| cell.text(&item.cause)),
    Column::inner("FIX", |item, cell| match &item.fix {
        Some(fix) => cell.text(&fix.message),
        None => cell.text(crate::output::NONE),
    }),
    Column::inner("NOTE", |item, cell| {
        cell.option(item.fix.as_ref().and_then(|fix| fix.note.as_deref()));
    }),
    Column::inner("FIX OF", |item, cell| match &item.fix {
        Some(_) => cell.text(name(&item.explained)),
        None => cell.text(crate::output::NONE),
    }),
    Column::inner("COMMAND", |item, cell| {
        let command = item.fix.as_ref().and_then(|fix| fix.command.as_ref());
        cell.text(list_or_none(command));
    }),
];

impl Report for ExplanationList {
    const KIND: &'static str = "ExplanationList";

    fn view(&self, page: Page) -> View {
        let mut doc = Doc::new();
        let (tone, text) = verdict(self);
        doc.headline(page, tone, text, "").gap();
        // Lines as long as they are have room for a table.
        if page.is_wide() && !page.is_terminal() {
            doc.table(Table::of(COLUMNS, &self.items));
        } else {
            doc.first(
                page,
                CAUSES,
                &self.items,
                |doc, item| cause(item, page, doc),
                |rest| {
                    let causes = counted(rest.len(), "more cause", "more causes");
                    format!("{causes} of {}", objects(rest.iter().map(CauseItem::count).sum()))
                },
            );
        }
        remarks(self, page, &mut doc);
        doc.into()
    }
}

fn none(list: &ExplanationList) -> String {
    match &list.namespace {
        Some(namespace) => {
            format!("no pod or claim is pending for devices in namespace {namespace} (-A: all namespaces)")
        }
        None => "no pod or claim is pending for devices".to_owned(),
    }
}

/// The verdict, and its tone.
fn verdict(list: &ExplanationList) -> (Tone, String) {
    let of = |is: fn(&CauseItem) -> bool| -> Vec<&CauseItem> {
        list.items.iter().filter(|item| is(item)).collect()
    };
    let waiting = of(CauseItem::waits);
    let unknown = of(CauseItem::is_unknown);
    let fitting = of(|item| item.verdict == ClusterVerdict::Fits);
    let mut parts = Vec::new();
    if !waiting.is_empty() {
        let causes = counted(waiting.len(), "cause", "causes");
        parts.push(format!("{}: {causes}", states(&waiting).join(", ")));
    }
    if !unknown.is_empty() {
        let cause = if unknown.len() == 1 {
            "the cause is unknown"
        } else {
            "the causes are unknown"
        };
        parts.push(format!("{}; {cause}", states(&unknown).join(", ")));
    }
    if !fitting.is_empty() {
        let count: usize = fitting.iter().map(|item| item.count()).sum();
        parts.push(match counted_pods(&fitting) {
            pods if pods == count => counted(pods, "pending pod fits", "pending pods fit"),
            _ => format!(
                "{} {}",
                objects_of(&fitting),
                if count == 1 { "fits" } else { "fit" }
            ),
        });
    }
    let tone = match () {
        () if waiting.iter().any(|item| item.next.is_none() && !item.passes) => Tone::Bad,
        () if !waiting.is_empty() => Tone::Notice,
        () if list.is_incomplete() => Tone::Notice,
        () => Tone::Good,
    };
    let text = match (parts.is_empty(), list.is_incomplete()) {
        (false, _) => parts.join("; "),
        (true, true) => "unknown whether anything is pending for devices".to_owned(),
        (true, false) => none(list),
    };
    (tone, text)
}

impl OfCluster for ExplanationList {
    const CLUSTERS: &'static [Column<Asked<Self>, Page>] = &[
        Asked::CLUSTER,
        Column::inner("RESULT", |asked, cell| asked.result(cell, |list| verdict(list).1)),
    ];
    const HAS_BLOCKS: bool = true;
}

/// The objects of `items` with what they do: `2 pods are pending`, `1 running pod has a problem`.
fn states(items: &[&CauseItem]) -> Vec<String> {
    let mut started = Started::default();
    for item in items {
        started += item.started;
    }
    let pods = counted_pods(items) - started.count();
    let pending: usize = pods
        + items
            .iter()
            .map(|item| item.claims.len() + item.owners.len())
            .sum::<usize>();
    let are = if pending == 1 { "is" } else { "are" };
    let pending = (pending > 0).then(|| format!("{} {are} pending", objects_with(pods, items)));
    let Started {
        running,
        terminating,
        failed,
    } = started;
    let others = present([
        (
            running,
            "running pod has a problem",
            "running pods have a problem",
        ),
        (
            terminating,
            "terminating pod has a problem",
            "terminating pods have a problem",
        ),
        (failed, "pod failed", "pods failed"),
    ]);
    pending.into_iter().chain(others).collect()
}

fn counted_pods(items: &[&CauseItem]) -> usize {
    items.iter().map(|item| item.pods.len()).sum()
}

fn remarks(list: &ExplanationList, page: Page, doc: &mut Doc) {
    let mut say = |text: String| {
        doc.remark(text);
    };
    if list.pods_without_devices > 0 {
        let pods = counted(list.pods_without_devices, "pending pod", "pending pods");
        say(format!("Not explained: {pods} without device requests"));
    }
    if list.not_explained > 0 {
        say(format!(
            "Not explained, because their requests differ too much: {}; name one",
            objects(list.not_explained)
        ));
    }
    let first = list.items.first().filter(|item| item.waits());
    if page.told(CAUSES, list.items.len()) < list.items.len() {
        doc.more();
    } else if let Some(command) = first.and_then(|item| explain(&item.explained)) {
        doc.command("More: ", &command);
    }
}

/// The command that tells more of it, if its name can be written.
fn explain(target: &Target) -> Option<Script> {
    let kind = match target.kind.as_str() {
        "Pod" => Kind::Pod,
        "ResourceClaim" => Kind::ResourceClaim,
        _ => return None,
    };
    let command = Command::dra("explain").here().object(kind, &target.name);
    command.namespace(&target.namespace).done().ok()
}

/// A cause with its pods, and what helps.
fn cause(item: &CauseItem, page: Page, doc: &mut Doc) {
    let tone = if item.passes {
        Tone::Notice
    } else {
        tone_of(item.verdict)
    };
    let who = match (
        item.pods.as_slice(),
        item.claims.as_slice(),
        item.owners.as_slice(),
    ) {
        ([only], [], []) | ([], [only], []) | ([], [], [only]) => name(only),
        _ => objects_of(&[item]),
    };
    doc.line(
        4,
        [
            span(tone, format!("{} ", page.sign(tone))),
            span(Tone::Strong, who),
            plain(format!(": {}", item.cause)),
        ],
    );
    if item.count() > 1 {
        let all = [&item.pods, &item.claims, &item.owners];
        let names: Vec<String> = all.into_iter().flat_map(|of| numbered(of)).collect();
        let told = page.told(NAMED, names.len());
        doc.hanging(4, format!("    {}", shown::first(&names, told)));
    }
    if let Some(next) = &item.next {
        doc.hanging(4, format!("    {next}"));
    }
    if let Some(fix) = &item.fix {
        let of_one = if item.count() > 1 {
            format!(" for {}", name(&item.explained))
        } else {
            String::new()
        };
        let proof = if fix.proven { "tested" } else { "not tested" };
        let more = match item.more_fixes {
            0 => String::new(),
            more => format!("; {more} more"),
        };
        let risky = if fix.risky {
            format!("; {RISKY}")
        } else {
            String::new()
        };
        let unless = unless(fix);
        let (label, message) = instruction(&fix.message);
        doc.line(
            9,
            [
                span(Tone::Strong, format!("    {label:<5}")),
                plain(format!("{message} ({proof}{unless}{of_one}{risky}{more})")),
            ],
        );
        if let Some(note) = &fix.note {
            doc.hanging(9, format!("         {note}"));
        }
        if (page.is_wide() || page.is_web())
            && let Some(command) = &fix.command
        {
            doc.command("         ", command);
        }
    }
}

/// Names in the order of their numbers.
fn numbered(targets: &[Target]) -> Vec<String> {
    let mut names: Vec<String> = targets.iter().map(name).collect();
    names.sort_by_cached_key(|name| by_number(name));
    names
}

fn objects_of(items: &[&CauseItem]) -> String {
    objects_with(counted_pods(items), items)
}

/// The claims and owners of `items` besides so many pods.
fn objects_with(pods: usize, items: &[&CauseItem]) -> String {
    let claims = items.iter().map(|item| item.claims.len()).sum();
    let owners = items.iter().map(|item| item.owners.len()).sum();
    let objects = present([
        (pods, "pod", "pods"),
        (claims, "claim without a pod", "claims without a pod"),
        (owners, "owner without pods", "owners without pods"),
    ]);
    objects.join(" and ")
}

fn objects(count: usize) -> String {
    counted(count, "pod or claim", "pods and claims")
}
