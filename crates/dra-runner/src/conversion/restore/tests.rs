//! Combined content of both records about each claim, and its gaps if they are damaged.

#![expect(clippy::disallowed_methods, reason = "what was written is read")]

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::*;

/// Journal content, and the derived list before, lists after, and whether the devices may be released.
type Case<'a> = (&'a str, &'a [&'a str], &'a str, &'a [&'a str], bool);

/// `g` is a PodGroup, `p0` a pod.
fn list(names: &str) -> Vec<Value> {
    let entry = |name: &str| {
        let resource = if name.starts_with('p') {
            "pods"
        } else {
            "podgroups"
        };
        json!({"resource": resource, "name": name, "uid": format!("u-{name}")})
    };
    names.split_whitespace().map(entry).collect()
}

fn references(names: &str) -> Vec<ConsumerReference> {
    serde_json::from_value(json!(list(names))).expect("a list")
}

fn write(uid: &str, action: &str, before: &str, after: &str) -> Entry {
    Entry::Write(Write {
        time: String::new(),
        action: serde_json::from_value(json!(action)).expect("an action"),
        namespace: "n".into(),
        name: "c".into(),
        uid: uid.into(),
        resource_version: "1".into(),
        before: references(before),
        after: references(after),
        patch: Vec::new(),
    })
}

/// Returns what the journal says of a claim: writes as `ACTION: BEFORE > AFTER`, everything else is what came of the last one.
fn noted(uid: &str, lines: &[&str]) -> Vec<Entry> {
    let entry = |line: &&str| match line.split_once(" > ").zip(line.split_once(": ")) {
        Some(((_, after), (action, rest))) => {
            let before = rest.split('>').next().expect("a list");
            write(uid, action, before, after)
        }
        None => Entry::Result {
            time: String::new(),
            uid: uid.into(),
            answer: (*line).to_owned().into(),
        },
    };
    lines.iter().map(entry).collect()
}

fn old(entries: &[Entry]) -> Old {
    let mut wanted: BTreeMap<Str, Vec<Value>> = BTreeMap::new();
    for entry in entries {
        if let Entry::Write(write) = entry {
            wanted
                .entry(write.uid.clone())
                .or_insert_with(|| write.before.iter().map(ConsumerReference::to_json).collect());
        }
    }
    let folder = tempfile::tempdir().expect("a directory");
    let claims = wanted.into_iter().map(|(uid, then)| ("c".into(), uid, then));
    let backup = backup_with(folder.path(), claims);
    let journal = journal_of(folder.path(), &lines_of(entries));
    let mut claims = saved(&backup, &journal).expect("ours");
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].doubt, None);
    claims.remove(0)
}

fn names(list: &[ConsumerReference]) -> String {
    let names: Vec<&str> = list.iter().map(|entry| entry.name.as_str()).collect();
    names.join(" ")
}

#[test]
fn what_comes_back_is_the_list_before_the_first_write_that_happened() {
    let cases: [Case<'_>; 11] = [
        (
            "one write",
            &["Convert: g > p0", "version 2"],
            "g",
            &["p0"],
            false,
        ),
        ("killed meanwhile", &["Convert: g > p0"], "g", &["p0"], false),
        (
            "somebody else was faster",
            &[
                "Convert: g > p0",
                "conflict",
                "Convert: g p1 > p1 p0",
                "version 3",
            ],
            "g p1",
            &["p1 p0"],
            false,
        ),
        (
            "not sent, and sent by a later run",
            &[
                "Convert: g > p0",
                "not sent",
                "Convert: g p1 > p1 p0",
                "version 3",
            ],
            "g p1",
            &["p1 p0"],
            false,
        ),
        (
            "the group came back after a write without an answer",
            &[
                "Convert: g > p0",
                "no answer",
                "Convert: p0 g > p0 p1",
                "version 3",
            ],
            "g",
            &["p0", "p0 p1"],
            false,
        ),
        (
            "the same after a kill, and the pod has ended",
            &["Convert: p0 g > p0", "Convert: p0 > p0 p1"],
            "p0 g",
            &["p0", "p0 p1"],
            false,
        ),
        (
            "nothing happened",
            &["Convert: g > p0", "not sent"],
            "g",
            &["g"],
            false,
        ),
        (
            "released",
            &["Release: g > ", "version 2", "Finalizer: > ", "version 3"],
            "g",
            &[],
            true,
        ),
        ("perhaps released", &["Release: g > "], "g", &[], true),
        (
            "a pod came before the release",
            &["Release: g > ", "conflict", "Convert: g > p0", "version 2"],
            "g",
            &["p0"],
            false,
        ),
        (
            "allocated again after the release",
            &["Release: g > ", "version 2", "Convert: h > p0", "version 5"],
            "h",
            &["p0"],
            false,
        ),
    ];
    for (what, lines, before, after, released) in cases {
        let old = old(&noted("u", lines));
        let lists: Vec<String> = old.after.iter().map(|list| names(list)).collect();
        assert_eq!(
            (names(&old.before).as_str(), old.released),
            (before, released),
            "{what}"
        );
        assert_eq!(lists, after, "{what}");
    }
}

#[test]
fn a_deleted_claim_proves_nothing_about_the_next_one_of_its_name() {
    let first = noted("u", &["Convert: g > p0", "version 2"]);
    let next = noted("v", &["Convert: h > p1", "version 5"]);
    let old = old(&[first, next].concat());
    assert_eq!((old.uid.as_str(), names(&old.before).as_str()), ("v", "h"));
    assert_eq!(old.after.len(), 1);
}

/// A backup of claims, each with its name, its UID and its list.
fn backup_with(folder: &Path, claims: impl Iterator<Item = (Str, Str, Vec<Value>)>) -> PathBuf {
    let items: Vec<Value> = claims
        .map(|(name, uid, then)| {
            json!({"kind": "ResourceClaim", "metadata": {"namespace": "n", "name": name, "uid": uid},
                   "status": {"reservedFor": then}})
        })
        .collect();
    let backup = folder.join("backup");
    let text = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    std::fs::write(&backup, text).expect("written");
    backup
}

fn backup_of(folder: &Path, claims: &[(&str, &str, &str)]) -> PathBuf {
    let claims = claims.iter();
    backup_with(
        folder,
        claims.map(|(name, uid, then)| ((*name).into(), (*uid).into(), list(then))),
    )
}

/// The lines of a journal with these entries.
fn lines_of(entries: &[Entry]) -> Vec<String> {
    let start = Entry::Start {
        time: String::new(),
        head: super::super::Head::default(),
    };
    let line = |entry: &Entry| serde_json::to_string(entry).expect("JSON") + "\n";
    std::iter::once(&start).chain(entries).map(line).collect()
}

fn journal_of(folder: &Path, lines: &[String]) -> PathBuf {
    let journal = folder.join("journal");
    std::fs::write(&journal, lines.concat()).expect("written");
    journal
}

/// The doubts about what the records say, by name of the claim.
fn doubts_of(backup: &Path, journal: &Path) -> Vec<(String, Option<Doubt>)> {
    let all = saved(backup, journal).expect("ours").into_iter();
    let mut all: Vec<_> = all.map(|old| (old.key.name.to_string(), old.doubt)).collect();
    all.sort();
    all
}

/// The doubts, by name of the claim, where the journal has these lines and the backup the claims `a`, `b` and `c` with `g` each.
fn doubts(lines: &[String]) -> Vec<(String, Option<Doubt>)> {
    let folder = tempfile::tempdir().expect("a directory");
    let backup = backup_of(
        folder.path(),
        &[("a", "ua", "g"), ("b", "ub", "g"), ("c", "uc", "g")],
    );
    doubts_of(&backup, &journal_of(folder.path(), lines))
}

/// A journal that converts the three claims, `b` in two writes.
fn lines() -> Vec<String> {
    let of = |name: &str, steps: &[&str]| -> Vec<Entry> {
        let mut entries = noted(&format!("u{name}"), steps);
        for entry in &mut entries {
            if let Entry::Write(write) = entry {
                write.name = name.into();
            }
        }
        entries
    };
    let entries = [
        of("a", &["Convert: g > p0", "version 2"]),
        of("b", &["Convert: g > p0", "version 2"]),
        of("c", &["Convert: g > p0", "version 2"]),
        of("b", &["Convert: p0 > p0 p1", "version 3"]),
    ];
    lines_of(&entries.concat())
}

fn told(a: Option<Doubt>, b: Option<Doubt>, c: Option<Doubt>) -> Vec<(String, Option<Doubt>)> {
    vec![("a".to_owned(), a), ("b".to_owned(), b), ("c".to_owned(), c)]
}

#[test]
fn a_damaged_journal_leaves_no_claim_untold() {
    const NONE: Option<Doubt> = Some(Doubt::NotInJournal);
    let whole = lines();
    assert_eq!(doubts(&whole), told(None, None, None));
    assert_eq!(doubts(&[]), told(NONE, NONE, NONE), "empty");
    assert_eq!(doubts(&whole[..1]), told(NONE, NONE, NONE), "begun");
    assert_eq!(doubts(&whole[..3]), told(None, NONE, NONE), "cut between lines");
    assert_eq!(
        doubts(&whole[..6]),
        told(None, None, None),
        "without the last answers"
    );
    let mut cut = whole[..4].to_vec();
    cut[3].truncate(30);
    assert_eq!(doubts(&cut), told(None, NONE, NONE), "cut within a line");
    let mut hole = whole.clone();
    hole.drain(3..5);
    assert_eq!(doubts(&hole), told(None, Some(Doubt::OtherList), None), "a hole");
    let twice: Vec<String> = whole
        .iter()
        .flat_map(|line| [line.clone(), line.clone()])
        .collect();
    let of = |lines: &[String]| {
        doubts(lines)
            .into_iter()
            .map(|(name, _)| name)
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&twice), ["a", "b", "c"], "each line twice");
    let mut turned = whole.clone();
    turned[1..].reverse();
    assert_eq!(of(&turned), ["a", "b", "c"], "turned round");
    // The last write of `b` comes first: its list is not what the claim had.
    assert_eq!(doubts(&turned)[1].1, Some(Doubt::OtherList));
}

#[test]
fn records_of_two_conversions_fit_nowhere() {
    let folder = tempfile::tempdir().expect("a directory");
    let journal = journal_of(folder.path(), &lines());
    // A backup that was cut, and one of other claims.
    let all = |backup: &Path| doubts_of(backup, &journal);
    let backup = backup_of(folder.path(), &[("a", "ua", "g")]);
    let lost = Some(Doubt::NotInBackup);
    assert_eq!(all(&backup), told(None, lost, lost));
    let backup = backup_of(folder.path(), &[("x", "ux", "g")]);
    let mut expected = told(lost, lost, lost);
    expected.push(("x".to_owned(), Some(Doubt::NotInJournal)));
    assert_eq!(all(&backup), expected);
    // The list of another time.
    let backup = backup_of(
        folder.path(),
        &[("a", "ua", "h"), ("b", "ub", "g"), ("c", "uc", "g")],
    );
    assert_eq!(all(&backup), told(Some(Doubt::OtherList), None, None));
    let backup = backup_of(folder.path(), &[]);
    assert!(matches!(
        saved(&backup, &journal),
        Err(RecordError::Foreign { .. })
    ));
    let text = std::fs::read(backup_of(folder.path(), &[("a", "ua", "g")])).expect("there");
    for length in [0, 1, text.len() / 2, text.len() - 1] {
        let cut = folder.path().join("cut");
        std::fs::write(&cut, &text[..length]).expect("written");
        let error = saved(&cut, &journal).expect_err("cut");
        assert!(
            matches!(error, RecordError::Foreign { .. }),
            "{length}: {error:?}"
        );
    }
}
