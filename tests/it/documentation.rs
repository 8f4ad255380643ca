//! Examples in the README and the command pages print what is shown.
//!
//! A line that begins with `$` stands above its output: what a pipe gets, or a terminal of 80 columns in a section that says so before. The other
//! examples are run too, on the example `gpus`.

use std::path::{Path, PathBuf};

use crate::support::command::dra;
use crate::support::process::Screen;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Pages whose examples without output need a cluster or a terminal, files, or objects with a problem.
const NEED_MORE: [&str; 6] = [
    "convert",
    "snapshot",
    "version",
    "completion",
    "simulate-allocation",
    "explain",
];

/// One example.
struct Shown {
    page: PathBuf,
    /// Arguments of `kubectl dra`.
    command: String,
    /// Output below; absent if none is shown.
    output: Option<String>,
    /// True if it is what a terminal shows.
    is_screen: bool,
}

/// Text that marks the output in the rest of a section as that of a terminal.
const SCREEN: &str = "terminal of 80 columns";

impl Shown {
    fn title(&self) -> String {
        format!("{}: kubectl dra {}", self.page.display(), self.command)
    }

    /// Puts what is printed in the place of what the page shows.
    fn rewrite(&self, shown: &str, printed: &str) {
        let block = |output: &str| {
            let lines = output.trim_end().lines();
            let lines = lines.map(|line| {
                if line.is_empty() {
                    String::new()
                } else {
                    format!("    {line}")
                }
            });
            let lines: Vec<String> = lines.collect();
            format!("    $ kubectl dra {}\n{}\n", self.command, lines.join("\n"))
        };
        let text = std::fs::read_to_string(&self.page).expect("a page");
        let old = block(shown);
        assert!(text.contains(&old), "{}", self.title());
        std::fs::write(&self.page, text.replacen(&old, &block(printed), 1)).expect("a page");
    }
}

fn pages() -> Vec<PathBuf> {
    let folder = Path::new(ROOT).join("docs/commands");
    let mut pages: Vec<_> = std::fs::read_dir(folder)
        .expect("the pages of the commands")
        .map(|entry| entry.expect("a page").path())
        .collect();
    pages.sort();
    pages.insert(0, Path::new(ROOT).join("README.md"));
    pages
}

fn examples(page: &Path) -> Vec<Shown> {
    let text = std::fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
    let mut shown: Vec<Shown> = Vec::new();
    // The output goes on until a line that is not indented; the command of it is the last one.
    let mut inside = false;
    let mut is_screen = false;
    let mut empty = 0;
    for line in text.lines() {
        let Some(line) = line.strip_prefix("    ") else {
            if inside && line.is_empty() {
                empty += 1;
                continue;
            }
            inside = false;
            is_screen = (is_screen && !line.starts_with('#')) || line.contains(SCREEN);
            continue;
        };
        let new = |command: &str, output| Shown {
            page: page.to_owned(),
            command: command.to_owned(),
            output,
            is_screen,
        };
        if let Some(command) = line.strip_prefix("$ kubectl dra ") {
            shown.push(new(command, Some(String::new())));
            inside = true;
            empty = 0;
        } else if inside && (empty == 0 || !line.starts_with("kubectl dra ")) {
            let output = shown.last_mut().and_then(|last| last.output.as_mut());
            let output = output.expect("a command above its output");
            output.push_str(&"\n".repeat(std::mem::take(&mut empty)));
            output.push_str(line);
            output.push('\n');
        } else if let Some(command) = line.strip_prefix("kubectl dra ") {
            shown.push(new(command, None));
            inside = false;
        }
    }
    shown
}

/// The words of a command line up to a comment or a pipe, as a shell takes them.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '#' | '|') if word.is_none() => break,
            // With the number of the stream, as in `2>`.
            (None, '>') => {
                word.take_if(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
                break;
            }
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[test]
fn a_line_is_cut_as_a_shell_does_it() {
    assert_eq!(
        words(r#"devices --selector 'device.attributes["a b"].x == 1' "it's" # all of them"#),
        [
            "devices",
            "--selector",
            r#"device.attributes["a b"].x == 1"#,
            "it's"
        ]
    );
    assert_eq!(
        words("reserved -A -o json | jq '.items[]'"),
        ["reserved", "-A", "-o", "json"]
    );
    assert_eq!(words("run --for 10m 2> log"), ["run", "--for", "10m"]);
    assert_eq!(words("cel 'a > 1' > log"), ["cel", "a > 1"]);
}

/// Headline of the README, between the words for the two programs.
const BESIDE: (&str, &str) = ("    kubectl:      ", "    kubectl dra:  ");

#[test]
fn the_readme_begins_with_the_real_answers_of_kubectl_and_of_this_program() {
    let path = Path::new(ROOT).join("README.md");
    let text = std::fs::read_to_string(&path).expect("the README");
    let run = dra(&["explain", "pod/tainted", "--from", "example:pending"])
        .env("LANG", "C.UTF-8")
        .run()
        .exits(1);
    let scheduler = text.lines().find_map(|line| line.strip_prefix(BESIDE.0));
    let scheduler = scheduler.expect("what kubectl shows");
    let printed = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        printed.contains(scheduler),
        "{scheduler} is not in\n{}",
        run.stdout
    );
    // The headline ends at the first empty line.
    let (before, after) = text.split_once(BESIDE.1).expect("what this program shows");
    let (shown, after) = after.split_once("\n\n").expect("a paragraph");
    let headline = run.stdout.split("\n\n").next().unwrap_or_default();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    if std::env::var_os("UPDATE_GENERATED").is_some() && words(shown) != words(headline) {
        let mut lines = vec![String::new()];
        for word in words(headline) {
            match lines.last_mut() {
                Some(line) if line.len() + word.len() < 60 => line.push_str(&format!("{word} ")),
                _ => lines.push(format!("{word} ")),
            }
        }
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        let indented = lines.join(&format!("\n{}", " ".repeat(BESIDE.1.len())));
        std::fs::write(&path, format!("{before}{}{indented}\n\n{after}", BESIDE.1)).expect("the README");
        return;
    }
    assert_eq!(words(shown), words(headline));
}

/// Command lines in the text of a page: lines of code, and words in backticks.
fn command_lines(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| {
        let line = line.trim().trim_start_matches("$ ");
        line.strip_prefix("kubectl dra ")
    });
    let quoted = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter_map(|part| part.strip_prefix("kubectl dra "));
    let is_whole = |line: &&str| {
        // Words in capitals stand for others, and a page may break a line.
        let mut words = line.split([' ', '=', '/', '[', ']']);
        !line.contains(['…', '\n', '\\'])
            && !words.any(|word| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase()))
    };
    lines.chain(quoted).filter(is_whole).map(str::to_owned).collect()
}

#[test]
fn every_command_line_of_every_page_is_understood() {
    let mut pages: Vec<PathBuf> = ["docs", "docs/findings"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(Path::new(ROOT).join(folder)).expect("pages"))
        .map(|entry| entry.expect("a page").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .chain(self::pages())
        .chain(["CONTRIBUTING.md"].map(|name| Path::new(ROOT).join(name)))
        .collect();
    pages.sort();
    let mut tried = std::collections::BTreeSet::new();
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("a page");
        for line in command_lines(&text) {
            let (line, _) = line.split_once(" 2>").unwrap_or((&line, ""));
            let words = words(line);
            // A rejected line may be the subject of a page.
            if words.is_empty() || !tried.insert(words.clone()) {
                continue;
            }
            let mut args: Vec<&str> = words.iter().map(String::as_str).collect();
            args.push("--help");
            let run = dra(&args).run();
            // Text names a flag without its value.
            let is_named = args.iter().rev().nth(1).is_some_and(|last| {
                last.starts_with("--") && run.stderr.contains(&format!("`{last}` needs a value"))
            });
            assert!(
                run.code == Some(0) || is_named,
                "{}: kubectl dra {line}: {}",
                page.display(),
                run.stderr
            );
        }
    }
    assert!(tried.len() > 100, "{}", tried.len());
}

#[test]
fn every_example_prints_what_is_shown() {
    let shown: Vec<Shown> = pages().iter().flat_map(|page| examples(page)).collect();
    let with_output = shown.iter().filter(|example| example.output.is_some()).count();
    assert!(
        with_output >= 8 && shown.len() - with_output >= 20,
        "{with_output} of {} examples",
        shown.len()
    );
    for example in shown {
        let words = words(&example.command);
        let mut args: Vec<&str> = words.iter().map(String::as_str).collect();
        let stem = example
            .page
            .file_stem()
            .and_then(|stem| stem.to_str())
            .expect("a name");
        if example.output.is_none() {
            if NEED_MORE.contains(&stem) {
                continue;
            }
            if !args.contains(&"--from") {
                args.extend(["--from", "example:gpus"]);
            }
        }
        let dra = dra(&args);
        let run = if example.is_screen {
            let run = dra.env("LANG", "C.UTF-8").env("NO_COLOR", "1");
            run.run_on_screen(80, Screen::Stdout)
        } else {
            dra.run()
        };
        // A verdict is an answer too, be it bad or unknown.
        let answers: &[i32] = match args[0] {
            "check" | "explain" => &[0, 1, 4],
            "convert" => &[0, 1],
            _ => &[0],
        };
        assert!(
            run.code.is_some_and(|code| answers.contains(&code)),
            "{}: {}",
            example.title(),
            run.stderr
        );
        if let Some(output) = &example.output {
            let printed = run.stdout.replace("\r\n", "\n");
            if std::env::var_os("UPDATE_GENERATED").is_some() && printed.trim_end() != output.trim_end() {
                example.rewrite(output, &printed);
                continue;
            }
            assert_eq!(printed.trim_end(), output.trim_end(), "{}", example.title());
        }
    }
}

/// Each row of `docs/limits.md` that names a constant, or a field of a default, has its value.
#[test]
fn limits_are_those_of_the_code() {
    let root = Path::new(ROOT);
    let page = std::fs::read_to_string(root.join("docs/limits.md")).expect("the page of limits");
    let mut compared = 0;
    for row in page
        .lines()
        .filter(|row| row.contains("`src/") || row.contains("`crates/"))
    {
        let place = row
            .trim_end_matches([' ', '|'])
            .rsplit('|')
            .next()
            .expect("a last cell");
        let parts: Vec<_> = place
            .split('`')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .collect();
        let [file, name, value] = parts[..] else {
            panic!("{row}: the last cell names a file, a constant and its value");
        };
        let code = std::fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let is_it = |line: &str| {
            let line = line.trim();
            let constant = line.split_once(" = ").filter(|(before, _)| {
                before.split(' ').any(|word| word.trim_end_matches(':') == name) && before.contains("const ")
            });
            let field = line.split_once(": ").filter(|(before, _)| *before == name);
            let written = constant
                .or(field)
                .map(|(_, after)| after.trim_end_matches([';', ',']));
            written == Some(value)
        };
        assert!(code.lines().any(is_it), "{file} has no {name} that is {value}");
        compared += 1;
    }
    assert!(compared > 25, "{compared}");
}
