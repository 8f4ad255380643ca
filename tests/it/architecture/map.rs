//! The map in docs/architecture.md and the tree are one.
//!
//! What a row of the map says of a folder is the first sentence of the folder's own documentation, so neither can become stale alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::PURE;
use crate::support::generated;
use crate::support::rust_crate::Crate;
use crate::support::rust_source::{find_word, without_comments_and_texts};

const PAGE: &str = "docs/architecture.md";
const GLOSSARY: &str = "docs/reference/glossary.md";

#[test]
fn the_map_has_the_first_sentence_of_each_directory() {
    let page = page();
    let found = problems(&page, &documented(Crate::all()), |path| {
        root().join(path).exists()
    });
    assert!(found.is_empty(), "\n{}", found.join("\n"));
    generated::check(PAGE, &with_sentences(&page, &documented(Crate::all())));
}

/// Pages send readers to files and folders of the repository.
#[test]
fn every_path_in_the_pages_exists() {
    let mut pages = vec![root().join("docs")];
    let mut missing = Vec::new();
    while let Some(page) = pages.pop() {
        if page.is_dir() {
            let inside = std::fs::read_dir(&page).expect("a folder of the book");
            pages.extend(inside.map(|entry| entry.expect("an entry").path()));
        } else if page.extension().is_some_and(|end| end == "md") {
            let text = std::fs::read_to_string(&page).expect("a page");
            let paths = text.split('`').skip(1).step_by(2).filter(|code| {
                let is_below = |folder| code.starts_with(folder);
                ["crates/", "src/", "tests/", "benches/"]
                    .into_iter()
                    .any(is_below)
                    && !code
                        .contains(|c: char| c.is_whitespace() || "*<{".contains(c) || c.is_ascii_uppercase())
            });
            let absent = paths.filter(|path| !root().join(path).exists());
            missing.extend(absent.map(|path| format!("{}: `{path}`", page.display())));
        }
    }
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
}

#[test]
fn every_file_is_part_of_the_crate() {
    let found: Vec<_> = Crate::all().iter().flat_map(orphans).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn files_that_no_module_names_are_found() {
    let files = [
        ("lib.rs", "mod a; // mod c;"),
        ("a/mod.rs", "#[cfg(test)]\nmod tests;\npub(crate) mod b;"),
        ("a/tests.rs", ""),
        ("a/b.rs", ""),
        ("a/d.rs", ""),
        ("c.rs", ""),
        ("main.rs", ""),
    ];
    let krate = Crate::new(
        "src",
        files
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .to_vec(),
    );
    assert_eq!(
        orphans(&krate),
        ["src/a/d.rs", "src/c.rs"]
            .map(|file| format!("{file}: no `mod` makes it part of the crate; delete it"))
    );
}

/// Files that the compiler never sees.
fn orphans(krate: &Crate) -> Vec<String> {
    let is_named = |module: &[String]| {
        let Some((name, around)) = module.split_last() else {
            return true;
        };
        krate
            .files
            .iter()
            .filter(|file| file.module == around)
            .any(|file| {
                let code = without_comments_and_texts(&file.text);
                code.contains(&format!("mod {name};"))
            })
    };
    let orphans = krate
        .files
        .iter()
        .filter(|file| file.name != "src/main.rs" && !is_named(&file.module));
    orphans
        .map(|file| format!("{}: no `mod` makes it part of the crate; delete it", file.name))
        .collect()
}

#[test]
fn the_first_invariant_names_the_pure_crates() {
    let page = page();
    let (_, invariant) = page
        .split_once("1. **The core does no I/O")
        .expect("the first invariant");
    let (names, _) = invariant.split_once(" take").expect("what the core takes");
    let named: BTreeSet<&str> = names.split('`').skip(1).step_by(2).collect();
    assert_eq!(named, PURE.iter().copied().collect(), "the crates in {PAGE}");
}

#[test]
fn stale_maps_are_found() {
    let krate = Crate::new(
        "src",
        [
            (
                "a/mod.rs",
                "//! What [`A`] is,\n//! in `x.y` and [here](z). More.\n",
            ),
            ("a/b/mod.rs", "//! What b is"),
            ("c.rs", "//! C: all of it.\n\n//! No more."),
            ("d.rs", "fn silent() {}"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .to_vec(),
    );
    let documented = documented(&[krate]);
    let page = "# A page\n\n| Directory | What it is | Start here |\n|---|---|---|\n| `src/a` | old | `A` |\n| `src/a/gone` | x | |\n\
                | `src/c.rs` | C: all of it | |\n| `tests/it` | tests | |\n\n| `src/a` | no map | |\n";
    assert_eq!(
        problems(page, &documented, |path| path == "tests/it"),
        [
            "docs/architecture.md: `src/a/gone` is not there; delete its row of the code map",
            "docs/architecture.md: `src/d.rs` has no row in the code map",
        ]
    );
    let new = with_sentences(page, &documented);
    assert_eq!(new, page.replace("| old |", "| What `A` is, in `x.y` and here |"));
}

#[test]
fn the_glossary_names_what_there_is() {
    let code: Vec<&str> = Crate::all_files().map(|file| file.code.as_str()).collect();
    let page = std::fs::read_to_string(root().join(GLOSSARY)).expect("the glossary");
    let found = words_without_code(&page, &code, |path| root().join(path).exists());
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn words_of_the_glossary_that_name_nothing_are_found() {
    let page = "| Word | Meaning | In the code |\n|---|---|---|\n| a | `x` | `A`, `B` |\n| b | y | `src/b` |\n| c | z | |\n";
    assert_eq!(
        words_without_code(page, &["struct A; fn f(b: B)"], |_| false),
        [
            "docs/reference/glossary.md: `B` for \"a\" is not defined",
            "docs/reference/glossary.md: `src/b` for \"b\" is not defined",
            "docs/reference/glossary.md: no code for \"c\"",
        ]
    );
}

/// Words of the glossary whose type, function or folder is not there.
fn words_without_code(page: &str, code: &[&str], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let rows = page
        .lines()
        .skip_while(|line| !line.starts_with("| Word | Meaning |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let is_defined = |name: &str| {
        code.iter().any(|code| {
            let mut places = code.match_indices(name);
            places.any(|(at, _)| {
                let is_whole = find_word(code, at, name) == Some(at);
                let keyword = code[..at].split_whitespace().next_back();
                is_whole
                    && ["struct", "enum", "type", "trait", "fn"]
                        .iter()
                        .any(|item| keyword == Some(*item))
            })
        })
    };
    let mut found = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let word = cells[0];
        let names = cells.last().map_or("", |cell| cell);
        if !names.contains('`') {
            found.push(format!("{GLOSSARY}: no code for \"{word}\""));
        }
        for name in names.split('`').skip(1).step_by(2) {
            let is_there = if name.contains('/') {
                exists(name)
            } else {
                is_defined(name)
            };
            if !is_there {
                found.push(format!("{GLOSSARY}: `{name}` for \"{word}\" is not defined"));
            }
        }
    }
    found
}

/// Returns what is wrong with the map but for the texts of its rows.
fn problems(page: &str, documented: &BTreeMap<String, String>, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let paths: Vec<&str> = rows(page).map(|(path, _)| path).collect();
    let gone = paths
        .iter()
        .filter(|path| !documented.contains_key(**path) && (path.starts_with("src/") || !exists(path)))
        .map(|path| format!("{PAGE}: `{path}` is not there; delete its row of the code map"));
    let missing = documented
        .keys()
        .filter(|path| path.matches('/').count() == 1 && !paths.contains(&path.as_str()))
        .map(|path| format!("{PAGE}: `{path}` has no row in the code map"));
    gone.chain(missing).collect()
}

/// The page with each row of the map saying what the folder itself says.
fn with_sentences(page: &str, documented: &BTreeMap<String, String>) -> String {
    let mut new = page.to_owned();
    for (path, row) in rows(page) {
        let Some(sentence) = documented.get(path) else {
            continue;
        };
        let cells: Vec<&str> = row.splitn(4, " | ").collect();
        if let [folder, _, rest @ ..] = &cells[..] {
            let rest = rest.join(" | ");
            new = new.replace(row, &format!("{folder} | {sentence} | {rest}"));
        }
    }
    new
}

/// The rows of the code map, with the paths that they are about.
fn rows(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.lines()
        .skip_while(|line| !line.starts_with("| Directory | What it is |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .filter_map(|row| Some((row.split('`').nth(1)?, row)))
}

/// Returns what the crates, their folders and the files at the top of the program say that they are, by path.
fn documented(crates: &[Crate]) -> BTreeMap<String, String> {
    let files = crates.iter().flat_map(|krate| &krate.files);
    files
        .filter(|file| !file.is_test)
        .filter_map(|file| {
            let is_program = file.name.starts_with("src/");
            let path = match file.name.strip_suffix("/src/lib.rs") {
                Some(krate) => krate,
                None => match file.name.strip_suffix("/mod.rs") {
                    Some(folder) => folder,
                    None if is_program && file.name.matches('/').count() == 1 => &file.name,
                    None => return None,
                },
            };
            Some((path.to_owned(), first_sentence(&file.text)))
        })
        .collect()
}

/// The first sentence of the `//!` lines, without its full stop and its links.
fn first_sentence(text: &str) -> String {
    let lines = text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(str::trim);
    let paragraph: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let sentence = paragraph
        .split_once(". ")
        .map_or(paragraph.as_str(), |(sentence, _)| sentence);
    let mut plain = String::new();
    let mut rest = sentence.trim_end_matches('.');
    while let Some((before, link)) = rest.split_once('[') {
        let (name, after) = link.split_once(']').unwrap_or((link, ""));
        plain.push_str(before);
        plain.push_str(name);
        let target = after.starts_with('(').then(|| after.find(')')).flatten();
        rest = &after[target.map_or(0, |end| end + 1)..];
    }
    plain.push_str(rest);
    plain
}

fn page() -> String {
    std::fs::read_to_string(root().join(PAGE))
        .expect("the page is there")
        .replace("\r\n", "\n")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
