//! Lines are what they say, in real shells.

#![expect(clippy::disallowed_methods, reason = "what was written is read")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command as Process;

use proptest::prelude::*;

use super::*;
use dra_model::{DeviceId, Key, PoolId};
use dra_testing::effort::{by_effort, some_of};

/// What names are made of that break out, where something lets them.
pub(crate) const NASTY: &[&str] = &[
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned",
    "&& touch pwned",
    "| touch pwned",
    ">pwned",
    "'",
    "\"",
    "\\",
    "\n",
    "\t",
    "!",
    "!!",
    "*",
    "~",
    "#",
    "=",
    "--all",
    "-n",
    "-f",
    "--",
    " ",
    "%s",
    "%",
    "ä",
    "日本",
    "{a,b}",
    "$IFS",
    "${HOME}",
    "\u{202e}gpj",
    "\u{200b}",
    "\u{7f}",
    "\u{1b}[2J",
    "\r",
    "&",
    "<pwned",
    "(",
    ")",
    "[a]",
    "?",
    "^",
    "a=b",
    ":",
    ",",
    "@",
    "+",
    ".",
    "..",
    "x-",
];

/// Runs `scripts` in each shell that there is, where `kubectl` notes its arguments, and compares them with what was meant.
pub(crate) fn assert_exact(scripts: &[Script]) {
    let mut shells = 0;
    for shell in ["/bin/sh", "/bin/bash", "/bin/dash"] {
        if Path::new(shell).exists() {
            assert_exact_in(shell, scripts, |script| script.to_string());
            // Broken into lines it is the same; a character may take more than there is. How lines go on is no matter of the shell.
            if shells == 0 {
                const COLUMNS: usize = 40;
                assert_exact_in(shell, scripts, |script| joined(&script.within(COLUMNS), COLUMNS));
            }
            shells += 1;
        }
    }
    assert!(shells > 0 || cfg!(windows), "no shell");
}

/// The lines as one text. None has more than so many columns unless it has one word.
fn joined(lines: &[String], columns: usize) -> String {
    let is_word =
        |line: &String| !line.trim().trim_end_matches(" \\").contains(' ') || line.contains(['\'', '"', '>']);
    assert!(
        lines.iter().all(|line| line.len() <= columns || is_word(line)),
        "{lines:?}"
    );
    lines.join("\n")
}

fn assert_exact_in(shell: &str, scripts: &[Script], text: impl Fn(&Script) -> String) {
    const NOTE: &str = "kubectl() { case \" $* \" in *' - '*) cat > /dev/null;; esac; printf '%s\\0' kubectl \"$@\" '' >&3; }\n";
    let folder = tempfile::tempdir().unwrap();
    let lines: String = scripts
        .iter()
        .map(|script| format!("{}\n", text(script)))
        .collect();
    assert!(
        lines.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n')),
        "not safe on a terminal"
    );
    let broken = lines.matches("\\\n").count();
    assert_eq!(lines.lines().count(), scripts.len() + broken, "one line each");
    std::fs::write(folder.path().join("lines"), format!("{NOTE}{lines}")).unwrap();
    let run = Process::new(shell)
        .args(["-c", "exec 3> noted; . ./lines"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(
        run.status.success() && run.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let mut expected = Vec::new();
    let mut files = BTreeSet::from(["lines".to_owned(), "noted".to_owned()]);
    for run in scripts.iter().flat_map(|script| &script.runs) {
        for argument in &run.argv {
            expected.extend_from_slice(argument.as_bytes());
            expected.push(0);
        }
        expected.push(0);
        files.extend(run.stdout.clone());
    }
    let noted = std::fs::read(folder.path().join("noted")).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&noted),
        String::from_utf8_lossy(&expected),
        "{shell}: {lines}"
    );
    let found = folder.path().read_dir().unwrap();
    let found: BTreeSet<String> = found
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(found, files, "{shell}");
}

/// Whatever begins with `-` is a flag that this program says itself.
pub(crate) fn assert_own_flags(argv: &[String]) {
    const OWN: &[&str] = &[
        "-A",
        "-f",
        "-o",
        "-p",
        "-",
        "--device",
        "--driver",
        "--dry-run",
        "--emit-rule",
        "--field-selector",
        "--force",
        "--for",
        "--key",
        "--kind",
        "--local",
        "--namespace",
        "--node",
        "--only",
        "--overwrite",
        "--pool",
        "--selector",
        "--subresource",
        "--taint",
        "--type",
        "--yes",
    ];
    for argument in argv.iter().filter(|argument| argument.starts_with('-')) {
        let flag = argument
            .split_once('=')
            .map_or(argument.as_str(), |(flag, _)| flag);
        assert!(OWN.contains(&flag), "{argument:?} in {argv:?}");
    }
}

fn key(name: &str) -> Key {
    Key::new(name, name)
}

/// Every kind of command with the word wherever one can be.
fn with_word(word: &str) -> Vec<Result<Script, NoCommand>> {
    let pool = PoolId {
        driver: word.into(),
        pool: word.into(),
    };
    let device = DeviceId {
        driver: word.into(),
        pool: word.into(),
        device: word.into(),
    };
    vec![
        delete(Kind::ResourceSlice, [word, "a"]),
        delete_pods(word, [word, "a"]),
        delete_pods("n", [word]),
        recreate_pod(&key(word)),
        save_and_delete(Kind::PodGroup, &key(word)),
        save_and_delete(Kind::DeviceTaintRule, &key(word)),
        touch(Kind::ResourceClaim, &key(word)),
        lift_node_taint(word, "a.b/c", "NoExecute"),
        lift_node_taint("n", word, "NoExecute"),
        lift_node_taint("n", "a", word),
        describe_pool(&pool),
        describe_device(&device),
        taint_device(&device, "k"),
        evict_from_device(&device, "k"),
        taint_driver(word, Some(word)),
        change(Kind::Pod, &key(word), vec![serde_json::json!({"value": word})]),
        remake(
            Kind::ResourceClaimTemplate,
            &key(word),
            vec![serde_json::json!({"value": word})],
        ),
        save_without_finalizers(Kind::ResourceClaim, &key(word)),
        patch(
            Resource::called("jobs.batch"),
            Some(word),
            word,
            &["--type=json"],
            &serde_json::json!([{"value": word}]),
        ),
        Command::dra("convert")
            .claim(word, word)
            .option("--kind", word)
            .done(),
        Command::kubectl("get")
            .arg("pods")
            .option("--field-selector", &field_selector("spec.nodeName", word))
            .done(),
    ]
}

#[test]
fn five_hundred_hostile_names_stay_words() {
    let mut names = BTreeSet::new();
    for first in NASTY {
        names.insert((*first).to_owned());
        for (number, second) in NASTY.iter().enumerate() {
            if (number + first.len()) % 4 == 0 {
                names.insert(format!("{first}{second}"));
                names.insert(format!("a{first}b{second}c"));
            }
        }
    }
    names.insert("x".repeat(5_000));
    assert!(names.len() > 500, "{}", names.len());
    let mut scripts = Vec::new();
    let names: Vec<String> = names.into_iter().collect();
    for name in some_of(&names, 50) {
        for script in with_word(name).into_iter().flatten() {
            for run in &script.runs {
                assert_own_flags(&run.argv);
            }
            scripts.push(script);
        }
    }
    assert!(scripts.len() > by_effort(500, 5_000, 5_000), "{}", scripts.len());
    assert_exact(&scripts);
}

#[test]
fn a_word_is_as_plain_as_it_can_be() {
    for (word, expected) in [
        ("gpu-0.a_b", "node/gpu-0.a_b"),
        ("a b", "'node/a b'"),
        ("it's", r"'node/it'\''s'"),
        ("$(touch x)!", "'node/$(touch x)!'"),
        ("größe", r#"node/gr"$(printf '\303\266\303\237e')""#),
        ("a\nb!%s'c", r#"node/a"$(printf '\012b\041\045s\047c')""#),
    ] {
        let script = Command::kubectl("get").object(Kind::Node, word).done().unwrap();
        assert_eq!(script.to_string(), format!("kubectl get {expected}"));
    }
}

#[test]
fn what_would_mean_something_else_gives_no_command_but_a_note() {
    let note = |script: Result<Script, NoCommand>| script.unwrap_err().to_string();
    let long = "x".repeat(200_000);
    for (name, why) in [
        (
            "",
            "no command: \"\" cannot be given as the name of a node, since it is empty",
        ),
        (
            ".",
            "no command: \".\" cannot be given as the name of a node, since it stands for a directory",
        ),
        (
            "..",
            "no command: \"..\" cannot be given as the name of a node, since it stands for a directory",
        ),
        (
            "a/b",
            "no command: \"a/b\" cannot be given as the name of a node, since a name has no `/`",
        ),
        (
            "a\0b",
            "no command: \"a\\x00b\" cannot be given as the name of a node, since an argument has no NUL characters",
        ),
        (
            "a\n",
            "no command: \"a\\n\" cannot be given as the name of a node, since a shell drops the line feed at its end",
        ),
        (
            &long,
            &format!(
                "no command: \"{}\"… cannot be given as the name of a node, since it is too long",
                "x".repeat(80)
            ),
        ),
    ] {
        assert_eq!(note(Command::kubectl("get").object(Kind::Node, name).done()), why);
    }
    // What kubectl would take for a label or a taint.
    for name in ["a=b", "a:b", "a-"] {
        assert!(
            touch(Kind::ResourceClaim, &Key::new("n", name)).is_err(),
            "{name}"
        );
        assert!(lift_node_taint(name, "k", "NoExecute").is_err(), "{name}");
        assert!(delete(Kind::Node, [name]).is_ok(), "{name}");
    }
    for taint in ["--all", "a=b", "a:b", "", "$(x)"] {
        assert!(lift_node_taint("n", taint, "NoExecute").is_err(), "{taint}");
        assert!(lift_node_taint("n", "k", taint).is_err(), "{taint}");
    }
    // A pattern for many devices.
    for name in ["*", "a=b"] {
        let device = |driver: &str, pool: &str, device: &str| DeviceId {
            driver: driver.into(),
            pool: pool.into(),
            device: device.into(),
        };
        for device in [
            device(name, "p", "x"),
            device("d", name, "x"),
            device("d", "p", name),
        ] {
            assert!(taint_device(&device, "k").is_err(), "{device}");
            assert!(describe_device(&device).is_ok(), "{device}");
        }
    }
    // More than a system takes at once.
    let names: Vec<String> = (0..4_000).map(|number| format!("{number:0200}")).collect();
    assert!(delete(Kind::Node, names).is_err());
}

#[test]
fn a_line_breaks_between_words_only() {
    let script = |names: &[&str]| {
        Command::kubectl("delete")
            .objects(Kind::Pod, names)
            .done()
            .unwrap()
    };
    let both = script(&["a", "b"]).then(Then::And, script(&["c"]));
    assert_eq!(
        joined(&both.within(80), 80),
        "kubectl delete pod/a pod/b && kubectl delete pod/c"
    );
    assert_eq!(
        joined(&both.within(40), 40),
        "kubectl delete pod/a pod/b && \\\n  kubectl delete pod/c"
    );
    assert_eq!(
        joined(&both.within(30), 30),
        "kubectl delete pod/a pod/b \\\n  && kubectl delete pod/c"
    );
    assert_eq!(both.within(6), both.within(20));
    let long = script(&[
        "a-name-that-no-line-has-room-for-1234567890",
        "with a space in it",
        "b",
    ]);
    assert_eq!(
        long.within(24),
        [
            "kubectl delete \\",
            "  pod/a-name-that-no-line-has-room-for-1234567890 \\",
            "  'pod/with a space in it' \\",
            "  pod/b",
        ]
    );
}

#[test]
fn the_arguments_stand_beside_the_line() {
    let json = |script: &Script| serde_json::to_value(script).unwrap();
    assert_eq!(
        json(&delete_pods("n s", ["a b"]).unwrap()),
        serde_json::json!({
            "command": "kubectl delete 'pod/a b' '--namespace=n s'",
            "argv": ["kubectl", "delete", "pod/a b", "--namespace=n s"],
        })
    );
    let saved = save_and_delete(Kind::DeviceTaintRule, &Key::new("", "r")).unwrap();
    let script = delete_pods("n", ["p"]).unwrap();
    let all = Script::all([saved, recreate_pod(&Key::new("n", "p")).unwrap(), script]).unwrap();
    assert_eq!(
        json(&all),
        serde_json::json!({
            "command": "kubectl get devicetaintrule/r -o yaml > devicetaintrule-r.yaml && kubectl delete devicetaintrule/r && \
                        kubectl get pod/p --namespace=n -o yaml | kubectl replace --force -f - && kubectl delete pod/p --namespace=n",
            "script": [
                {
                    "argv": ["kubectl", "get", "devicetaintrule/r", "-o", "yaml"],
                    "stdout": "devicetaintrule-r.yaml",
                    "then": "And",
                },
                {"argv": ["kubectl", "delete", "devicetaintrule/r"], "then": "And"},
                {"argv": ["kubectl", "get", "pod/p", "--namespace=n", "-o", "yaml"], "then": "Pipe"},
                {"argv": ["kubectl", "replace", "--force", "-f", "-"], "then": "And"},
                {"argv": ["kubectl", "delete", "pod/p", "--namespace=n"]},
            ],
        })
    );
    assert_eq!(Script::all([]), None);
}

#[test]
fn objects_of_one_name_are_saved_into_files_of_their_own() {
    let keys = [
        ("a", "g"),
        ("b", "g"),
        ("a-b", "g"),
        ("a", "b-g"),
        ("a", "b.g"),
        ("a-b", "b.g"),
        ("a", "b.b.g"),
    ];
    let kinds = [Kind::PodGroup, Kind::Workload, Kind::CompositePodGroup];
    let mut files = BTreeSet::new();
    for kind in kinds {
        for (namespace, name) in keys {
            let saved = save_and_delete(kind, &Key::new(namespace, name)).unwrap();
            let json = serde_json::to_value(&saved).unwrap();
            files.insert(json["script"][0]["stdout"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(files.len(), kinds.len() * keys.len(), "{files:?}");
    assert!(
        files.iter().any(|file| file.ends_with("podgroup.a-b.b.g.yaml")),
        "{files:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(by_effort(2, 8, 80)))]

    #[test]
    fn any_text_stays_a_word(words in proptest::collection::vec(
        prop_oneof![
            any::<String>(),
            proptest::collection::vec(proptest::sample::select(NASTY), 1..5).prop_map(|parts| parts.concat()),
            "[ -~\n\t]{1,20}",
        ],
        100..200,
    )) {
        let scripts: Vec<Script> = words
            .iter()
            .filter_map(|word| Command::kubectl("get").option("--selector", word).object(Kind::Pod, word).done().ok())
            .collect();
        // A name with `/`, a NUL or a line feed at its end is no argument.
        prop_assert!(scripts.len() * 3 > words.len());
        assert_exact(&scripts);
    }
}
