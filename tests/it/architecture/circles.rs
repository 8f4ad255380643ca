//! Files beside each other do not import each other in a circle.
//!
//! A file counts together with the folder of its name. What two neighbours both need has a file of its own below them, or is in the
//! `mod.rs` above.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::rust_crate::Crate;

/// Circles that stay, with the reason. The table only shrinks: an entry that is no circle any more fails.
const CIRCLES: &[(&str, &[&str], &str)] = &[
    (
        "crates/dra-allocator/src",
        &["deepest", "search"],
        "a search notes where it came furthest, which is a state of it",
    ),
    (
        "crates/dra-cel/src",
        &["check", "cost", "eval", "library", "plan", "value"],
        "a function of the library has type, cost and implementation in one table, and values call functions",
    ),
    (
        "crates/dra-cel/src",
        &["explain", "program"],
        "a program explains itself",
    ),
    (
        "crates/dra-cel/src/parse",
        &["builder", "macros"],
        "macros make nodes with the builder, which expands macros in the calls that it makes",
    ),
    (
        "crates/dra-cel/src/value",
        &["convert", "map", "text"],
        "keys of maps are converted and shown, and maps are converted and shown",
    ),
    (
        "crates/dra-values/src",
        &["decode", "repeated", "text"],
        "the interner keeps parts that are read once, and reading them interns",
    ),
    (
        "crates/dra-sources/src",
        &["bundle", "live"],
        "a cluster writes its own snapshot, which fails as reading a cluster does",
    ),
    (
        "crates/dra-sources/src/live",
        &["connect", "user"],
        "the user's part of a connection is a file of its own",
    ),
    (
        "crates/dra-sources/src/live",
        &["credentials", "error", "kubeconfig", "plugin"],
        "the error of the folder says what is wrong with each of them",
    ),
];

/// For each folder, which of its files imports which.
type Neighbours = BTreeMap<String, BTreeMap<String, BTreeMap<String, String>>>;

#[test]
fn no_files_import_each_other_in_a_circle() {
    let found = problems(Crate::all(), CIRCLES);
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn circles_are_found() {
    let krate = Crate::new(
        "src",
        [
            (
                "a/mod.rs",
                "mod b; mod c; mod d; pub use d::Y; pub use self::b::deep::X;",
            ),
            ("a/b/mod.rs", "use super::c::f;"),
            ("a/b/deep.rs", "use super::other;"),
            ("a/c.rs", "use super::X;"),
            ("a/d.rs", "use crate::a::X;"),
            ("e/f.rs", "use super::g::x;"),
            ("e/g.rs", "fn x() { super::f::y() }"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .to_vec(),
    );
    let known: [(&str, &[&str], &str); 2] = [
        ("src/e", &["f", "g"], "they belong together"),
        ("src/a", &["c", "d"], "they did once"),
    ];
    assert_eq!(
        problems(&[krate], &known),
        [
            "src/a: b and c import each other in a circle: src/a/b/mod.rs:1 imports c, src/a/c.rs:1 imports b; move what both need \
             into a file below them or into mod.rs",
            "src/a: c and d are no circle; take them out of `CIRCLES` of tests/it/architecture/circles.rs",
        ]
    );
}

fn problems(crates: &[Crate], known: &[(&str, &[&str], &str)]) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_circle = vec![false; known.len()];
    for (folder, imports) in crates.iter().flat_map(neighbours) {
        for circle in circles(&imports) {
            let same = known
                .iter()
                .position(|(at, files, _)| *at == folder && circle.iter().eq(files.iter()));
            if let Some(same) = same {
                is_circle[same] = true;
                continue;
            }
            let places: Vec<_> = circle
                .iter()
                .flat_map(|file| {
                    let inside = imports[file]
                        .iter()
                        .filter(|(imported, _)| circle.contains(*imported));
                    inside.map(|(imported, place)| format!("{place} imports {imported}"))
                })
                .collect();
            let circle: Vec<_> = circle.into_iter().collect();
            found.push(format!(
                "{folder}: {} import each other in a circle: {}; move what both need into a file below them or into mod.rs",
                circle.join(" and "),
                places.join(", "),
            ));
        }
    }
    for ((folder, files, _), _) in known.iter().zip(&is_circle).filter(|(_, is_circle)| !**is_circle) {
        found.push(format!(
            "{folder}: {} are no circle; take them out of `CIRCLES` of tests/it/architecture/circles.rs",
            files.join(" and ")
        ));
    }
    found
}

/// Returns which files of a folder import which others of it, and where they first do.
fn neighbours(krate: &Crate) -> Neighbours {
    let mut found = Neighbours::new();
    for file in krate.files.iter().filter(|file| !file.module.is_empty()) {
        for named in &file.named {
            for meaning in krate.meanings(&file.module_at(named.at), &named.path) {
                for module in &meaning.through {
                    let shared = file
                        .module
                        .iter()
                        .zip(module)
                        .take_while(|(own, other)| own == other);
                    let depth = shared.count();
                    let (Some(own), Some(other)) = (file.module.get(depth), module.get(depth)) else {
                        continue;
                    };
                    found
                        .entry(folder_of(krate, &file.module[..depth]))
                        .or_default()
                        .entry(own.clone())
                        .or_default()
                        .entry(other.clone())
                        .or_insert_with(|| format!("{}:{}", file.name, file.line(named.at)));
                }
            }
        }
    }
    found
}

fn folder_of(krate: &Crate, module: &[String]) -> String {
    std::iter::once(&krate.folder)
        .chain(module)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("/")
}

/// The largest sets of files each of which reaches every other.
fn circles(imports: &BTreeMap<String, BTreeMap<String, String>>) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = imports
        .keys()
        .map(|start| {
            let mut reached = BTreeSet::new();
            let mut open = vec![start];
            while let Some(file) = open.pop() {
                let next = imports.get(file).into_iter().flat_map(BTreeMap::keys);
                open.extend(next.filter(|next| reached.insert(*next)));
            }
            (start, reached)
        })
        .collect();
    let circle_of = |file: &String| -> BTreeSet<String> {
        let others = reached[file]
            .iter()
            .filter(|other| reached.get(**other).is_some_and(|reached| reached.contains(file)));
        others.map(|other| (*other).clone()).collect()
    };
    let circles: BTreeSet<BTreeSet<String>> = imports.keys().map(circle_of).collect();
    circles.into_iter().filter(|circle| circle.len() > 1).collect()
}
