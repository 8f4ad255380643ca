//! The target for printed commands: whatever a name is, a shell reads the arguments that were meant.

use dra_model::{Key, Kind};
use dra_reports::script::{self, Command, NoCommand, Script};

/// Three names in commands of each shape.
pub(super) fn command(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut names = text.splitn(3, '\u{1}');
    let mut next = || names.next().unwrap_or_default();
    let (a, b, c) = (next(), next(), next());
    let key = Key::new(b, a);
    let made: Vec<Result<Script, NoCommand>> = vec![
        Command::kubectl("get").object(Kind::Pod, a).namespace(b).done(),
        Command::dra("describe")
            .object(Kind::Node, c)
            .option("--driver", b)
            .done(),
        Command::dra("check").claim(b, a).done(),
        script::recreate_pod(&key),
        script::save_and_delete(Kind::PodGroup, &key),
        script::touch(Kind::ResourceClaim, &key),
        script::lift_node_taint(a, b, c),
    ];
    for script in made.into_iter().flatten() {
        let line = script.to_string();
        assert!(
            line.bytes().all(|byte| matches!(byte, b' '..=b'~')),
            "{line:?} is no line of printable ASCII"
        );
        let mut words = words(&line).into_iter();
        for run in script.runs() {
            for argument in &run.argv {
                assert_eq!(words.next().as_deref(), Some(argument.as_str()), "in {line}");
            }
            // What stands between commands: `>` with its file, `|` or `&&`.
            if let Some(file) = &run.stdout {
                assert_eq!(words.next().as_deref(), Some(">"), "in {line}");
                assert_eq!(words.next().as_deref(), Some(file.as_str()), "in {line}");
            }
            if run.then.is_some() {
                words.next();
            }
            for argument in &run.argv[1..] {
                let flag = argument.split('=').next().unwrap_or_default();
                let is_ours = flag
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte == b'A');
                assert!(
                    !argument.starts_with('-') || is_ours,
                    "{argument:?} is a flag in {line}"
                );
            }
        }
        assert_eq!(words.next(), None, "in {line}");
    }
}

/// The words of a line as a POSIX shell splits it: bare ones, quoted ones, and the output of `printf`.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("\"$(printf '") {
            let (format, after) = after.split_once("')\"").expect("the end of a substitution");
            let mut printed = printf(format);
            while printed.last() == Some(&b'\n') {
                printed.pop();
            }
            word.get_or_insert_default().extend(printed);
            rest = after;
        } else if let Some(after) = rest.strip_prefix('\'') {
            let (quoted, after) = after.split_once('\'').expect("the end of a quotation");
            word.get_or_insert_default().extend(quoted.bytes());
            rest = after;
        } else if let Some(after) = rest.strip_prefix('\\') {
            word.get_or_insert_default().extend(after.bytes().take(1));
            rest = &after[1..];
        } else if first == ' ' {
            words.extend(word.take());
            rest = &rest[1..];
        } else {
            let is_operator = matches!(rest.split(' ').next(), Some("|" | "&&" | ">")) && word.is_none();
            assert!(
                is_operator || first.is_ascii_alphanumeric() || "-._/:=,@+%".contains(first),
                "{first:?} stands bare in {line}"
            );
            word.get_or_insert_default().push(first as u8);
            rest = &rest[1..];
            if is_operator && rest.starts_with(first) {
                word.get_or_insert_default().push(first as u8);
                rest = &rest[1..];
            }
        }
    }
    words.extend(word);
    words
        .into_iter()
        .map(|word| String::from_utf8(word).expect("words are UTF-8"))
        .collect()
}

fn printf(format: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = format.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'\\' {
            let digits = std::str::from_utf8(&rest[..3]).expect("three digits");
            bytes.push(u8::from_str_radix(digits, 8).expect("an octal escape"));
            rest = &rest[3..];
        } else {
            assert_ne!(*first, b'%', "a conversion in {format}");
            bytes.push(*first);
        }
    }
    bytes
}
