//! Columns, held against the schemas and the pages that describe them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::fleet::OfCluster;
use super::{check, claims, convert, devices, reserved, status, taints, usage};
use crate::output::Column;
use dra_allocator::devices::RuledOut;
use dra_reports::ClusterStatus;

/// A table: the page that explains its columns, the items of its report, and the columns with the paths that they sort by.
struct Shown {
    page: &'static str,
    items: Option<(&'static str, &'static str)>,
    columns: Vec<(&'static str, Option<&'static str>)>,
}

impl Shown {
    /// A list, with the kind of its report and the field that has the items.
    fn list<T, C>(page: &'static str, items: (&'static str, &'static str), columns: &[Column<T, C>]) -> Self {
        Self {
            items: Some(items),
            ..Self::inner(page, columns)
        }
    }

    fn inner<T, C>(page: &'static str, columns: &[Column<T, C>]) -> Self {
        Self {
            page,
            items: None,
            columns: columns
                .iter()
                .map(|column| (column.header, column.path))
                .collect(),
        }
    }
}

fn tables() -> Vec<Shown> {
    vec![
        Shown::list("claims", ("ClaimList", "items"), claims::COLUMNS),
        Shown::list("reserved", ("ReservationList", "items"), reserved::Line::COLUMNS),
        Shown::list("devices", ("DeviceList", "items"), devices::COLUMNS),
        Shown::list("taints", ("TaintList", "items"), taints::COLUMNS),
        Shown::list("check", ("FindingList", "items"), check::COLUMNS),
        Shown::list("convert", ("ConversionPlan", "claims"), convert::plan::COLUMNS),
        Shown::list(
            "convert",
            ("ConversionVerification", "items"),
            convert::verify::COLUMNS,
        ),
        Shown::list(
            "convert",
            ("ConversionResult", "claims"),
            convert::carry_out::COLUMNS,
        ),
        Shown::list(
            "convert",
            ("RestorationResult", "claims"),
            convert::restore::COLUMNS,
        ),
        Shown::inner("convert", convert::runbook::GROUPS),
        Shown::inner("status", status::DRIVERS),
        Shown::inner("status", ClusterStatus::CLUSTERS),
        Shown::inner("check", check::Checked::CLUSTERS),
        Shown::inner("status", &usage::columns("NAMESPACE")),
    ]
}

#[expect(clippy::disallowed_methods, reason = "tests read files")]
fn read(file: &str) -> String {
    let path = format!("{}/docs/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn schema(file: &str) -> Value {
    serde_json::from_str(&read(&format!("reference/schema/{file}")))
        .unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Returns whether what `schema`, a part of `file`, describes may have a value where `path` leads.
fn describes(file: &str, schema: &Value, path: &[&str]) -> bool {
    let [step, rest @ ..] = path else {
        return true;
    };
    let further = match *step {
        "[0]" => schema.get("items"),
        field => schema["properties"].get(field),
    };
    if further.is_some_and(|further| describes(file, further, rest)) {
        return true;
    }
    let Some((of, pointer)) = schema["$ref"]
        .as_str()
        .map(|to| to.split_once('#').unwrap_or((to, "")))
    else {
        return false;
    };
    let file = if of.is_empty() { file } else { of };
    let document = self::schema(file);
    document
        .pointer(pointer)
        .is_some_and(|part| describes(file, part, path))
}

#[test]
fn a_column_sorts_by_a_field_that_the_schema_has() {
    let leads_somewhere = |kind: &str, items: &str, path: &str| {
        let file = format!("{kind}.json");
        let path = format!(".{items}[0]{path}").replace('[', ".[");
        let steps: Vec<&str> = path.split('.').skip(1).collect();
        describes(&file, &schema(&file), &steps)
    };
    for Shown { items, columns, .. } in tables() {
        let Some((kind, items)) = items else {
            continue;
        };
        for (header, path) in columns {
            let path = path.unwrap_or_else(|| panic!("{kind}: {header} has nothing to sort by"));
            assert!(
                leads_somewhere(kind, items, path),
                "{kind}: {header} sorts by {path}"
            );
        }
    }
    assert!(!leads_somewhere("DeviceList", "items", ".claims[0].nope"));
    assert!(!leads_somewhere("DeviceList", "items", ".node[0]"));
}

/// The columns that the tables of a page explain: those in the first cells of tables that are headed `Column`.
fn explained(page: &str) -> BTreeSet<String> {
    let text = read(&format!("reference/commands/{page}.md"));
    let mut names = BTreeSet::new();
    let mut inside = false;
    for line in text.lines() {
        let first = line.strip_prefix("| ").and_then(|row| row.split(" |").next());
        match first {
            Some("Column") => inside = true,
            Some(cell) if inside => names.extend(cell.split(", ").map(str::to_owned)),
            // The line below the headers.
            None if line.starts_with("|-") => {}
            _ => inside = false,
        }
    }
    names
}

#[test]
fn each_page_explains_the_columns_of_its_tables_and_no_others() {
    let tables = tables();
    let pages: BTreeSet<&str> = tables.iter().map(|table| table.page).collect();
    for page in pages {
        let of_page = tables.iter().filter(|table| table.page == page);
        let shown: BTreeSet<String> = of_page
            .flat_map(|table| table.columns.iter().map(|(header, _)| (*header).to_owned()))
            // Pictures have no header.
            .filter(|header| !header.is_empty())
            .collect();
        assert_eq!(explained(page), shown, "docs/reference/commands/{page}.md");
    }
}

#[test]
fn the_page_of_explain_has_each_check_that_rules_a_device_out() {
    let page = read("reference/commands/explain.md");
    let judge = include_str!("../../crates/dra-allocator/src/devices/judge.rs");
    let (_, variants) = judge.split_once("pub enum RuledOut {").expect("the checks");
    let (variants, _) = variants.split_once("\n}").expect("their end");
    let variants = variants.lines().filter_map(|line| line.trim().strip_suffix(','));
    let codes: Vec<&str> = variants
        .filter(|line| line.chars().all(char::is_alphanumeric))
        .collect();
    assert!(codes.contains(&<&str>::from(RuledOut::Tainted)), "{codes:?}");
    for code in codes {
        assert!(
            page.contains(&format!("`{code}`")),
            "docs/reference/commands/explain.md lacks {code}"
        );
    }
}
