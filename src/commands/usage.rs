//! Display of usage: by owner, and idle claims.

use clap::ValueEnum;

use crate::output::{Cell, Column, Doc, Page, Table, Tone, UNKNOWN, age, counted};
use dra_model::{Quantity, Time, by_number};
use dra_reports::{DriverUsage, IdleClaim, Units, UsageBy, UsageGroup, UsageItem};

/// By what use is grouped, as it is typed.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum By {
    /// Namespace of the claim
    #[default]
    Namespace,
    /// Owner of the pod, such as a Job; otherwise the pod, or the claim
    Owner,
    /// Device class of the request
    Class,
    /// Node of the device
    Node,
}

impl From<By> for UsageBy {
    fn from(by: By) -> Self {
        match by {
            By::Namespace => Self::Namespace,
            By::Owner => Self::Owner,
            By::Class => Self::Class,
            By::Node => Self::Node,
        }
    }
}

/// The largest bar of a terminal, and one of a narrow terminal.
const BAR: usize = 20;
pub(super) const SHORT_BAR: usize = 10;

/// Draws `part` of `whole` as a bar that leaves room for the rest of a line. Scripts get no pictures.
pub(super) fn bar(part: &Quantity, whole: usize, cell: &mut Cell<'_, Page>) {
    let page = *cell.context;
    if !page.is_for_people() {
        return;
    }
    let columns = match page.width() {
        100.. => BAR,
        _ => SHORT_BAR,
    };
    cell.text(page.bar(thousandths(part), whole as u64 * 1000, columns));
}

fn thousandths(units: &Quantity) -> u64 {
    units.milli_value().max(0) as u64
}

/// Returns how much of the whole that is: `62%`. What is not nothing is not 0 %, and what is not all no more than 99 %.
pub(super) fn percent(part: &Quantity, whole: usize) -> String {
    let (part, whole) = (thousandths(part), whole as u64 * 1000);
    let exact = (part * 100 + whole / 2).checked_div(whole).unwrap_or(0);
    let most = if part < whole { 99 } else { 100 };
    match exact.min(most) {
        0 if part > 0 => "<1%".to_owned(),
        exact => format!("{exact}%"),
    }
}

/// Units with at most two decimals: `12`, `0.75`.
pub(super) fn decimal(units: &Quantity) -> String {
    let hundredths = thousandths(units).div_ceil(10);
    let (whole, rest) = (hundredths / 100, hundredths % 100);
    match rest {
        0 => whole.to_string(),
        _ => format!("{whole}.{rest:02}").trim_end_matches('0').to_owned(),
    }
}

/// Returns what is used of the counters or capacities that make up the units, the fullest first: `60Gi of 80Gi memory`.
pub(super) fn amounts(units: &Units) -> Vec<String> {
    const TOLD: usize = 3;
    let mut all: Vec<_> = units.measured().collect();
    let part = |used: &Quantity, total: &Quantity| {
        let total = total.as_approximate_float();
        if total > 0.0 {
            used.as_approximate_float() / total
        } else {
            0.0
        }
    };
    // Neither is a NaN. Equal ones keep the order of names.
    all.sort_by(|a, b| part(&b.used, &b.total).total_cmp(&part(&a.used, &a.total)));
    let all = all.into_iter().take(TOLD);
    all.map(|amount| format!("{} of {} {}", amount.used, amount.total, amount.name))
        .collect()
}

/// Usage of one driver by one group.
pub(super) struct Line<'r> {
    /// Empty below the first line of the group.
    group: String,
    item: &'r UsageItem,
    usage: Option<&'r DriverUsage>,
    is_first: bool,
}

impl<'r> Line<'r> {
    fn of(item: &'r UsageItem) -> Vec<Self> {
        let line = |usage, is_first| Line {
            group: item.group.to_string(),
            item,
            usage,
            is_first,
        };
        let used = item.drivers.iter().enumerate();
        let mut lines: Vec<Self> = used.map(|(place, usage)| line(Some(usage), place == 0)).collect();
        if lines.is_empty() {
            lines.push(line(None, true));
        }
        lines
    }

    /// Whose use it is.
    pub(super) fn group(&self) -> &UsageGroup {
        &self.item.group
    }

    fn idle(&self) -> Option<usize> {
        match self.usage {
            Some(usage) => usage.idle_devices,
            None => self.item.idle_claims.map(|_| 0),
        }
    }
}

/// The columns. On a terminal what a line above says is not repeated; in a pipe each line says everything.
pub(super) const fn columns<'r>(header: &'static str) -> [Column<Line<'r>, Page>; 8] {
    [
        Column::inner(header, |line, cell| {
            if line.is_first || !cell.context.is_terminal() {
                cell.text(&line.group);
            }
        }),
        Column::inner("DRIVER", |line, cell| {
            cell.option(line.usage.map(|usage| &usage.driver));
        }),
        Column::inner("IN USE", |line, cell| {
            cell.text(line.usage.map_or(0, |usage| usage.devices));
        }),
        Column::inner("", |line, cell| {
            if let Some(usage) = line.usage.filter(|usage| usage.of_units > 0) {
                bar(&usage.units, usage.of_units, cell);
            }
        }),
        Column::inner("SHARE", |line, cell| {
            let share = line.usage.filter(|usage| usage.of_units > 0);
            cell.option(share.map(|usage| percent(&usage.units, usage.of_units)));
        }),
        Column::inner("IDLE", |line, cell| match line.idle() {
            Some(idle) => cell.unless_zero(Tone::Notice, idle as u64),
            None => cell.text(UNKNOWN),
        }),
        Column::inner_wide("CLAIMS", |line, cell| cell.text(line.item.claims)),
        Column::inner("PENDING", |line, cell| {
            if line.is_first || !cell.context.is_terminal() {
                cell.unless_zero(Tone::Notice, line.item.pending_claims as u64);
            }
        }),
    ]
}

/// The header of the first column, and what there are several of.
fn words(by: UsageBy) -> (&'static str, &'static str, &'static str) {
    match by {
        UsageBy::Namespace => ("NAMESPACE", "namespace", "namespaces"),
        UsageBy::Owner => ("OWNER", "owner", "owners"),
        UsageBy::Class => ("CLASS", "class", "classes"),
        UsageBy::Node => ("NODE", "node", "nodes"),
    }
}

/// Groups that a terminal shows.
const GROUPS: usize = 8;

/// Usage by group under a title, as far as it is known; nothing where there is none.
pub(super) fn section(title: &str, by: UsageBy, items: Option<&[UsageItem]>, page: Page, doc: &mut Doc) {
    match items {
        None => doc.field(title, UNKNOWN),
        Some(items) => doc.section_if_any(title, |section| table(by, items, page, section)),
    };
}

/// The groups with the highest use first.
fn ordered(items: &[UsageItem]) -> Vec<&UsageItem> {
    // Units of different drivers do not compare; parts of all that there is do.
    let most = |item: &UsageItem| {
        let parts = item.drivers.iter().map(|usage| {
            let whole = (usage.of_units as u64 * 1000).max(1);
            thousandths(&usage.units).saturating_mul(1_000_000) / whole
        });
        let parts = parts.max().unwrap_or(0);
        (parts, item.pending_claims)
    };
    let mut ordered: Vec<&UsageItem> = items.iter().collect();
    let order = |item: &&UsageItem| (std::cmp::Reverse(most(item)), by_number(&item.group.to_string()));
    ordered.sort_by_cached_key(order);
    ordered
}

/// Usage by group and driver, the highest first, each line with its group.
pub(super) fn lines(items: &[UsageItem]) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = ordered(items).into_iter().flat_map(Line::of).collect();
    for line in &mut lines {
        line.is_first = true;
    }
    lines
}

/// The table of `lines`.
pub(super) fn table_of(by: UsageBy, lines: Vec<Line<'_>>, page: Page) -> Table {
    let (header, ..) = words(by);
    Table::with(&columns(header), page.detail(), &page, lines)
}

/// Usage by group, the highest first.
fn table(by: UsageBy, items: &[UsageItem], page: Page, doc: &mut Doc) {
    let (_, one, several) = words(by);
    let ordered = ordered(items);
    let (told, rest) = ordered.split_at(page.told(GROUPS, ordered.len()));
    let lines: Vec<Line<'_>> = told.iter().flat_map(|item| Line::of(item)).collect();
    doc.table(table_of(by, lines, page));
    if !rest.is_empty() {
        let (one, several) = (format!("more {one}"), format!("more {several}"));
        doc.remark(counted(rest.len(), &one, &several));
    }
}

/// Number of idle claims to print one by one.
const IDLE: usize = 3;

/// Claims without a running pod: their number, then the oldest allocations.
pub(super) fn idle(idle: Option<&[IdleClaim]>, now: Time, page: Page, doc: &mut Doc) {
    let Some(idle) = idle else {
        doc.field("Idle", UNKNOWN);
        return;
    };
    if idle.is_empty() {
        return;
    }
    let devices: usize = idle.iter().map(|claim| claim.devices).sum();
    let mut lines = vec![format!(
        "{} of {} without a running pod",
        counted(devices, "device", "devices"),
        counted(idle.len(), "claim", "claims")
    )];
    let mut oldest: Vec<&IdleClaim> = idle.iter().collect();
    oldest.sort_by_key(|claim| {
        (
            claim.allocation_timestamp.is_none(),
            claim.allocation_timestamp,
            claim.creation_timestamp,
        )
    });
    let told = page.told(IDLE, idle.len());
    lines.extend(oldest.iter().take(told).map(|claim| {
        let since = match claim.allocation_timestamp {
            Some(_) => format!("allocated {} ago", age(now, claim.allocation_timestamp)),
            None => format!(
                "created {} ago; its allocation time is not recorded",
                age(now, claim.creation_timestamp)
            ),
        };
        let devices = counted(claim.devices, "device", "devices");
        format!("claim/{}/{}: {devices}, {since}", claim.namespace, claim.name)
    }));
    let rest = idle.len().saturating_sub(told);
    if rest > 0 {
        lines.push(counted(rest, "more claim", "more claims"));
    }
    doc.list("Idle", lines);
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::Format;

    #[test]
    fn what_is_little_is_not_nothing_and_what_lacks_little_is_not_all() {
        let milli = |value| Quantity::new_milli(value, Format::DecimalSi);
        for (part, whole, share, number) in [
            (0, 8, "0%", "0"),
            (1, 8, "<1%", "0.01"),
            (750, 1, "75%", "0.75"),
            (1500, 24, "6%", "1.5"),
            (7999, 8, "99%", "8"),
            (8000, 8, "100%", "8"),
            (0, 0, "0%", "0"),
        ] {
            assert_eq!(percent(&milli(part), whole), share, "{part} of {whole}");
            assert_eq!(decimal(&milli(part)), number, "{part} of {whole}");
        }
    }
}
