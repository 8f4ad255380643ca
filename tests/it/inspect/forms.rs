//! Every command that looks, in every form that its output can have, and with objects named in all the ways of kubectl.

use serde_json::Value;

use super::look;
use crate::support::command::dra_snapshot;
use crate::support::schema::assert_valid;

/// Lists with a snapshot in which they have rows.
const LISTS: [(&str, &str); 5] = [
    ("claims", "bound-pods"),
    ("reserved", "stale-reservations"),
    ("devices", "consumable-capacity"),
    ("taints", "device-taints-marked"),
    ("taints", "taint-rules-noexecute"),
];

/// Kinds that can be described, with a snapshot that has them.
const DESCRIBED: [(&str, &str); 6] = [
    ("claim/training/trainer-1-extra-zp8bf", "bound-pods"),
    ("pod/training/trainer-1", "bound-pods"),
    ("device/gpu-node-1/gpu-0", "bound-pods"),
    ("node/gpu-node-1", "bound-pods"),
    ("class/gpu.example.com", "bound-pods"),
    ("pool/gpu.example.com/gpu-node-1", "bound-pods"),
];

fn stdout(args: &[&str], snapshot: &str) -> String {
    look(args, snapshot).run().exits(0).stdout
}

/// The cells of a printed table: columns are at least two spaces apart.
fn cells(text: &str) -> Vec<Vec<String>> {
    let cut = |line: &str| -> Vec<String> {
        let cells = line.split("   ").map(str::trim).filter(|cell| !cell.is_empty());
        cells.map(str::to_owned).collect()
    };
    text.lines().filter(|line| !line.is_empty()).map(cut).collect()
}

/// Everything that stands as a row in the report.
fn rows_of(report: &Value) -> usize {
    ["items", "missing", "anyPod"]
        .iter()
        .filter_map(|field| report[field].as_array())
        .map(Vec::len)
        .sum()
}

fn assert_same_document(args: &[&str], snapshot: &str) -> Value {
    let json = assert_valid(&stdout(&[args, &["-o", "json"]].concat(), snapshot));
    let yaml: Value = serde_saphyr::from_str(&stdout(&[args, &["-o", "yaml"]].concat(), snapshot))
        .unwrap_or_else(|error| panic!("{args:?}: {error}"));
    assert_eq!(yaml, json, "{args:?}");
    json
}

#[test]
fn the_forms_of_a_list_agree() {
    for (command, snapshot) in LISTS {
        let args = &[command, "-A"][..];
        let report = assert_same_document(args, snapshot);
        let rows = rows_of(&report);
        assert!(rows > 1, "{command} has {rows} rows on {snapshot}");
        let table = cells(&stdout(args, snapshot));
        let wide = cells(&stdout(&[args, &["-o", "wide"]].concat(), snapshot));
        assert_eq!((table.len(), wide.len()), (rows + 1, rows + 1), "{command}");
        assert!(wide[0].starts_with(&table[0]), "{:?} {:?}", table[0], wide[0]);
        for format in ["table", "wide"] {
            let with = cells(&stdout(&[args, &["-o", format]].concat(), snapshot));
            let without = cells(&stdout(
                &[args, &["-o", format, "--no-headers"]].concat(),
                snapshot,
            ));
            assert_eq!(with[1..], without[..], "{command} {format}");
        }
        let names = stdout(&[args, &["-o", "name"]].concat(), snapshot);
        assert!(names.lines().count() > 0, "{command}");
        assert!(
            names
                .lines()
                .all(|name| name.contains('/') && !name.contains(' ')),
            "{names}"
        );
    }
}

#[test]
fn headers_are_left_out_only_where_there_could_be_some() {
    for (command, snapshot) in LISTS {
        for format in ["json", "yaml"] {
            let args = [command, "-A", "-o", format, "--no-headers"];
            let run = look(&args, snapshot).run().exits(2);
            let said = format!("`--no-headers` applies to tables, not to `-o {format}`");
            assert!(run.stderr.contains(&said), "{command}: {}", run.stderr);
        }
        // As kubectl does.
        let names = [command, "-A", "-o", "name"];
        let without = stdout(&[&names[..], &["--no-headers"]].concat(), snapshot);
        assert_eq!(stdout(&names, snapshot), without, "{command}");
    }
    for format in ["sarif", "junit", "github", "markdown"] {
        look(&["check", "-A", "-o", format, "--no-headers"], "bound-pods")
            .run()
            .exits(2);
    }
}

#[test]
fn every_column_can_be_sorted_by() {
    for (command, snapshot) in LISTS {
        let args = &[command, "-A", "-o", "wide"][..];
        let table = cells(&stdout(args, snapshot));
        for (number, column) in table[0].iter().enumerate() {
            let sorted = cells(&stdout(&[args, &["--sort-by", column]].concat(), snapshot));
            let ordered = |rows: &[Vec<String>]| {
                let mut rows = rows.to_vec();
                rows.sort();
                rows
            };
            assert_eq!(ordered(&sorted), ordered(&table), "{command} by {column}");
            if matches!(
                (command, column.as_str()),
                ("claims", "NAME" | "NAMESPACE") | ("devices", "DEVICE")
            ) {
                let column: Vec<_> = sorted[1..].iter().map(|row| &row[number]).collect();
                assert!(column.is_sorted(), "{command}: {column:?}");
            }
        }
        let wrong = look(&[args, &["--sort-by", ".no.such.field"]].concat(), snapshot).run();
        assert_eq!(wrong.code, Some(2), "{command}: {}", wrong.stderr);
    }
}

#[test]
fn a_column_of_two_words_can_be_sorted_by() {
    let findings = &["check", "--to-version", "1.35", "--fail-on", "never"][..];
    for (args, column, field, items) in [
        (findings, "FIX NOTE", "fixNote", "items"),
        (&["convert", "plan"][..], "to resolve", "wayOut", "claims"),
    ] {
        let run = look(
            &[args, &["-o", "json", "--sort-by", column]].concat(),
            "downgrade-groups-1.37",
        )
        .run();
        let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
        let items = report[items].as_array().expect("items");
        let values: Vec<_> = items.iter().map(|item| item[field].as_str()).collect();
        let known: Vec<_> = values.iter().flatten().collect();
        assert!(known.len() > 1 && known.is_sorted(), "{column}: {values:?}");
        assert!(
            values[known.len()..].iter().all(Option::is_none),
            "{column}: {values:?}"
        );
        let wrong = look(
            &[args, &["--sort-by", "NO SUCH"]].concat(),
            "downgrade-groups-1.37",
        )
        .run();
        assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
    }
}

#[test]
fn labels_choose_and_nothing_found_is_no_failure() {
    for (command, snapshot) in LISTS {
        if command == "devices" {
            continue;
        }
        let run = look(&[command, "-A", "-l", "no-such-label"], snapshot)
            .run()
            .exits(0);
        assert_eq!(run.stdout, "", "{command}");
        assert!(run.stderr.contains("No "), "{command}: {}", run.stderr);
    }
    dra_snapshot!(look(&["devices", "-l", "a=b"], "bound-pods"), @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `devices` has no flag `-l`

    hint: kubectl dra devices --help
    ");
    dra_snapshot!(look(&["claims", "-n", "nowhere"], "bound-pods"), @r#"
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    warning: namespace/nowhere not found; there are 3 namespaces: `default`, `inference`, `training`
    No claims found
    "#);
    dra_snapshot!(look(&["claims", "-n", "nowhere", "-o", "name"], "bound-pods"), @r#"
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    warning: namespace/nowhere not found; there are 3 namespaces: `default`, `inference`, `training`
    "#);
}

#[test]
fn descriptions_have_the_same_in_text_json_and_yaml() {
    for (object, snapshot) in DESCRIBED {
        let args = &["describe", object][..];
        let report = assert_same_document(args, snapshot);
        let text = stdout(args, snapshot);
        let name = object.rsplit('/').next().expect("a name");
        assert!(
            text.lines().next().is_some_and(|line| line.ends_with(name)),
            "{text}"
        );
        assert!(
            report["kind"]
                .as_str()
                .is_some_and(|kind| kind.ends_with("Description"))
        );
        assert_eq!(
            look(&[args, &["-o", "name"]].concat(), snapshot).run().code,
            Some(2)
        );
        assert_eq!(
            look(&[args, &["--no-headers"]].concat(), snapshot).run().code,
            Some(2)
        );
    }
    assert_same_document(&["status"], "bound-pods");
}

#[test]
fn objects_are_named_as_with_kubectl() {
    let claim = "trainer-1-extra-zp8bf";
    for args in [
        &["claims", "-n", "training", claim][..],
        &["claims", "-n", "training", &format!("claim/{claim}")],
        &["claims", "-n", "training", &format!("claims/{claim}")],
        &["claims", "-n", "training", &format!("resourceclaim/{claim}")],
        &["claims", "-n", "training", &format!("ResourceClaims/{claim}")],
        &[
            "claims",
            "-n",
            "training",
            &format!("resourceclaims.resource.k8s.io/{claim}"),
        ],
        &["claims", &format!("claim/training/{claim}")],
        &["claims", "-A", &format!("claim/training/{claim}")],
        &["claims", "-n", "default", &format!("claim/training/{claim}")],
    ] {
        let names = stdout(&[args, &["-o", "name"]].concat(), "bound-pods");
        assert_eq!(
            names,
            format!("resourceclaim.resource.k8s.io/{claim}\n"),
            "{args:?}"
        );
        let described: Vec<&str> = args[1..].to_vec();
        if described.contains(&"-A") || described.contains(&claim) {
            continue;
        }
        let text = stdout(&[&["describe"], &described[..]].concat(), "bound-pods");
        assert!(text.contains(claim), "{described:?}");
    }
    for (args, code) in [
        (&["claims", "no-such-claim"][..], 3),
        (&["claims", "pod/x"], 2),
        (&["claims", "claim/a/b/c"], 2),
        (&["claims", "claim//"], 2),
        (&["claims", "-A", "x"], 2),
        (&["reserved", "no-such-claim"], 3),
        (&["describe", "claim", "no-such-claim"], 3),
        (&["describe", "claim"], 2),
        (&["describe", "planet", "x"], 2),
        (&["describe", "node", "no-such-node"], 3),
        (&["describe", "pool/none"], 3),
    ] {
        let run = look(args, "bound-pods").run();
        assert_eq!(run.code, Some(code), "{args:?}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: "), "{args:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{args:?}");
    }
}

#[test]
fn several_objects_of_a_kind_are_described_one_after_the_other() {
    let run = look(
        &[
            "describe",
            "pool",
            "gpu.example.com/gpu-node-1",
            "nic.example.com/gpu-node-1",
        ],
        "bound-pods",
    )
    .run();
    dra_snapshot!(look(&["describe", "pool", "gpu-node-1"], "bound-pods"), @r#"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: 2 pools are named `gpu-node-1`

    hint: name one of them: gpu.example.com/gpu-node-1, nic.example.com/gpu-node-1
    "#);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}
