//! Short form of a selector's results: equal devices as one, and suggestions.

use itertools::Itertools;

use super::{result, term};
use crate::commands::shown;
use crate::output::{Column, Doc, Page, Table, Tone, counted, span};
use dra_reports::{FailingItem, Selected, SelectedDevice, SelectorHint, SelectorReport};

/// Devices of one driver with the same result for the same reason.
struct Alike {
    driver: String,
    result: Selected,
    count: usize,
    devices: String,
    why: String,
}

const COLUMNS: &[Column<Alike>] = &[
    Column::inner("DRIVER", |row, cell| cell.toned(Tone::Strong, &row.driver)),
    Column::inner("RESULT", |row, cell| result(row.result, cell)),
    Column::inner("COUNT", |row, cell| cell.text(row.count)),
    Column::inner("DEVICES", |row, cell| cell.text(&row.devices)),
    Column::inner("WHY", |row, cell| cell.text(&row.why)),
];

/// A row for the devices of one driver with one result and one reason.
pub(super) fn table(report: &SelectorReport, page: Page) -> Table {
    let groups = report.devices.iter().into_group_map_by(|device| {
        let order = match device.result {
            Selected::Error => 0,
            Selected::Match => 1,
            Selected::NoMatch => 2,
        };
        (&device.driver, order, why(device))
    });
    let rows = groups
        .into_iter()
        .sorted_by(|(one, _), (next, _)| one.cmp(next))
        .filter_map(|((driver, _, why), devices)| {
            Some(Alike {
                driver: driver.to_string(),
                result: devices.first()?.result,
                count: devices.len(),
                devices: shown::devices(
                    devices
                        .iter()
                        .map(|device| (device.pool.as_str(), device.device.as_str())),
                    page,
                ),
                why,
            })
        });
    let rows: Vec<Alike> = rows.collect();
    Table::of(COLUMNS, rows)
}

/// What may be meant, and what came of trying it.
pub(super) fn hint(doc: &mut Doc, page: Page, hint: &SelectorHint, devices: usize) {
    const INDENT: usize = 4;
    doc.gap();
    doc.line(
        6,
        [
            span(Tone::Strong, "hint: "),
            span(Tone::Plain, hint.messages.join("; ")),
        ],
    );
    let lines = dra_cel::in_lines(&hint.expression, page.width().saturating_sub(INDENT));
    for line in lines {
        doc.line(
            INDENT,
            [span(Tone::Plain, " ".repeat(INDENT)), span(Tone::Plain, line)],
        );
    }
    let of = match devices {
        // Before, nothing could be evaluated.
        0 => String::new(),
        devices => format!(" of {devices}"),
    };
    let tried = format!("      tested: matches {}{of}, no errors", {
        if devices == 0 {
            counted(hint.matches, "device", "devices")
        } else {
            hint.matches.to_string()
        }
    });
    doc.hanging(6, tried);
}

/// The error, or what the first term that is not true has seen.
fn why(device: &SelectedDevice) -> String {
    if let Some(error) = &device.error {
        return error.clone();
    }
    let Some(first) = device.failing.first() else {
        return String::new();
    };
    let seen = seen(first);
    if seen.is_empty() { term(first) } else { seen }
}

/// `model is "H100-SXM5-80GB"`: values by their last name.
fn seen(item: &FailingItem) -> String {
    let values = item.seen.iter().filter_map(|seen| {
        let value = seen.value.as_ref()?;
        let name = seen.expression.rsplit(['.', '[']).next()?;
        let name = name.trim_matches(|one: char| !one.is_ascii_alphanumeric());
        Some(format!("{name} is {value}"))
    });
    values.unique().join(", ")
}
