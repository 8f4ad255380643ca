//! Examples in the README and the book print what is shown, and links lead somewhere.
//!
//! A line that begins with `$` stands above its output: what a pipe gets, or a terminal of 80 columns in the tutorial, a how-to, and a section that
//! says so before. The commands of a page share a directory; `cat > FILE <<'EOF'` puts a file there. The other examples of the README and of the
//! command pages are run too, on the example `gpus`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use clap::builder::styling::{AnsiColor, Color};

use crate::support::command::dra;
use crate::support::generated;
use crate::support::process::Screen;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Pages whose examples without output need a cluster or a terminal, files, or objects with a problem.
const NEED_MORE: [&str; 9] = [
    "convert",
    "export",
    "report",
    "diff",
    "snapshot",
    "version",
    "completion",
    "simulate-allocation",
    "explain",
];

/// One example.
struct Shown {
    page: PathBuf,
    /// Files that the page writes first: names and contents.
    files: Vec<(String, String)>,
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
        let text = read(&self.page);
        let old = block(shown);
        assert!(text.contains(&old), "{}", self.title());
        std::fs::write(
            Path::new(ROOT).join(&self.page),
            text.replacen(&old, &block(printed), 1),
        )
        .expect("a page");
    }
}

/// The pages in the root directory.
const FRONT: [&str; 4] = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];

/// The table of contents of the book.
const SUMMARY: &str = "docs/SUMMARY.md";

/// Every page, from the root of the repository.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = FRONT.map(PathBuf::from).into();
    let mut directories = vec![PathBuf::from("docs")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(Path::new(ROOT).join(&directory)).expect("a directory") {
            let entry = entry.expect("an entry");
            let path = directory.join(entry.file_name());
            if entry.path().is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") && path != Path::new(SUMMARY) {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

fn read(page: &Path) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(page))
        .unwrap_or_else(|error| panic!("{}: {error}", page.display()))
}

/// True for pages whose outputs are all those of a terminal.
fn is_guide(page: &Path) -> bool {
    page.starts_with("docs/how-to") || page == Path::new("docs/tutorial.md")
}

/// True for pages whose examples without output are run.
fn is_run(page: &Path) -> bool {
    let is_here = page == Path::new("README.md") || page.starts_with("docs/reference/commands");
    let stem = page.file_stem().and_then(|stem| stem.to_str()).expect("a name");
    is_here && !NEED_MORE.contains(&stem)
}

fn examples(page: &Path) -> Vec<Shown> {
    let text = read(page);
    let mut shown: Vec<Shown> = Vec::new();
    let mut files: Vec<(String, String)> = Vec::new();
    let mut is_file = false;
    // The output goes on until a line that is not indented; the command of it is the last one.
    let mut inside = false;
    let mut is_screen = is_guide(page);
    let mut empty = 0;
    for line in text.lines() {
        if is_file {
            let line = line.strip_prefix("    ").unwrap_or(line);
            is_file = line != "EOF";
            if let Some((_, content)) = files.last_mut().filter(|_| is_file) {
                content.push_str(line);
                content.push('\n');
            }
            continue;
        }
        let Some(line) = line.strip_prefix("    ") else {
            if inside && line.is_empty() {
                empty += 1;
                continue;
            }
            inside = false;
            is_screen = is_guide(page) || (is_screen && !line.starts_with('#')) || line.contains(SCREEN);
            continue;
        };
        if let Some(name) = line.strip_prefix("$ cat > ") {
            let name = name.strip_suffix(" <<'EOF'").expect("a file in the page");
            files.push((name.to_owned(), String::new()));
            is_file = true;
            inside = false;
            continue;
        }
        let mut new = |command: &str, output| Shown {
            page: page.to_owned(),
            files: std::mem::take(&mut files),
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
    let text = read(Path::new("README.md"));
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
        let text = format!("{before}{}{indented}\n\n{after}", BESIDE.1);
        generated::check("README.md", &text);
        return;
    }
    assert_eq!(words(shown), words(headline));
}

/// Commands whose output the README shows as a picture.
const PICTURED: [&str; 2] = [
    "explain -A --from example:partitions",
    "status --from example:gpus",
];

#[test]
fn the_picture_of_the_readme_shows_real_output() {
    let shown = PICTURED.map(|line| {
        let run = dra(&line.split(' ').collect::<Vec<_>>())
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm")
            .run_on_screen(80, Screen::Stdout);
        format!("$ kubectl dra {line}\n{}", run.stdout.replace('\r', ""))
    });
    for (page, ink, paper) in [
        ("light", AnsiColor::Black, AnsiColor::BrightWhite),
        ("dark", AnsiColor::White, AnsiColor::Black),
    ] {
        let terminal = anstyle_svg::Term::new()
            .fg_color(Color::Ansi(ink))
            .bg_color(Color::Ansi(paper));
        let picture = terminal.render_svg(&shown.join("\n"));
        generated::check(&format!("docs/images/terminal-{page}.svg"), &picture);
    }
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
    let mut tried = BTreeSet::new();
    for page in pages() {
        for line in command_lines(&read(&page)) {
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
    let mut directories = BTreeMap::new();
    for example in shown {
        let words = words(&example.command);
        let mut args: Vec<&str> = words.iter().map(String::as_str).collect();
        if example.output.is_none() {
            if !is_run(&example.page) {
                continue;
            }
            if !args.contains(&"--from") {
                args.extend(["--from", "example:gpus"]);
            }
        }
        let directory = directories
            .entry(example.page.clone())
            .or_insert_with(|| tempfile::tempdir().expect("a temporary directory"))
            .path();
        for (name, content) in &example.files {
            std::fs::write(directory.join(name), content).expect("a file");
        }
        let dra = dra(&args).current_dir(directory);
        let run = if example.is_screen {
            let dra = dra.env("LANG", "C.UTF-8").env("NO_COLOR", "1");
            dra.run_on_screen(80, Screen::Stdout)
        } else {
            dra.run()
        };
        // A verdict is an answer too, be it bad or unknown.
        let answers: &[i32] = match args[0] {
            "check" | "explain" => &[0, 1, 4],
            "convert" | "diff" => &[0, 1],
            // One of several clusters cannot be read.
            "status" if args.contains(&"--fleet") => &[0, 4],
            // It has no terminal.
            "top" => &[2],
            // An expression with a mistake, and what is said about it.
            "cel" if example.output.is_some() => &[0, 1],
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

/// Lines of a page without examples.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.starts_with("    ")
    })
}

/// Levels of the headings of a page, and the names that links have for them.
fn headings(text: &str) -> Vec<(usize, String)> {
    let mut names: Vec<(usize, String)> = Vec::new();
    for line in prose(text) {
        let heading = line.trim_start_matches('#');
        let level = line.len() - heading.len();
        let Some(heading) = heading.strip_prefix(' ').filter(|_| level > 0) else {
            continue;
        };
        let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let name: String = heading.to_lowercase().chars().filter(is_kept).collect();
        let name = name.replace(' ', "-");
        // The second one of a name gets a number.
        let same = names.iter().filter(|(_, other)| *other == name).count();
        let name = if same == 0 { name } else { format!("{name}-{same}") };
        names.push((level, name));
    }
    names
}

/// Targets of the links of a page.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text).collect::<Vec<_>>().join("\n");
    let texts: String = prose.split('`').step_by(2).collect();
    let targets = texts.split("](").skip(1);
    targets
        .filter_map(|target| Some(target.split_once(')')?.0.to_owned()))
        .collect()
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

/// Says what is wrong with a link of a page.
pub(crate) fn broken(page: &Path, target: &str) -> Option<String> {
    const REPOSITORY: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/");
    let (target, fragment) = target.split_once('#').unwrap_or((target, ""));
    let file = if let Some(path) = target.strip_prefix(REPOSITORY) {
        let path = path
            .strip_prefix("blob/main/")
            .or_else(|| path.strip_prefix("tree/main/"));
        PathBuf::from(path?)
    } else if target.contains("://") {
        return None;
    } else if target.is_empty() {
        page.to_owned()
    } else {
        let file = normal(&page.parent().expect("a directory").join(target));
        if page.starts_with("docs") && (!file.starts_with("docs") || Path::new(ROOT).join(&file).is_dir()) {
            return Some("the book does not have it".to_owned());
        }
        file
    };
    if !Path::new(ROOT).join(&file).exists() {
        return Some(format!("{} does not exist", file.display()));
    }
    let is_there = fragment.is_empty() || headings(&read(&file)).iter().any(|(_, name)| name == fragment);
    (!is_there).then(|| format!("{} has no heading `{fragment}`", file.display()))
}

#[test]
fn every_link_leads_somewhere_and_no_heading_skips_a_level() {
    let mut found = Vec::new();
    let mut followed = 0;
    for page in pages() {
        let text = read(&page);
        let name = page.display();
        for target in links(&text) {
            followed += 1;
            found.extend(broken(&page, &target).map(|why| format!("{name}: {target}: {why}")));
        }
        let levels: Vec<usize> = headings(&text).iter().map(|(level, _)| *level).collect();
        if levels.first() != Some(&1) || levels.iter().filter(|level| **level == 1).count() != 1 {
            found.push(format!(
                "{name}: one heading of the first level, at the beginning"
            ));
        }
        if levels.windows(2).any(|pair| pair[1] > pair[0] + 1) {
            found.push(format!("{name}: a heading skips a level: {levels:?}"));
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
    assert!(followed > 300, "{followed}");
}

#[test]
fn broken_links_and_headings_are_found() {
    let page = Path::new("docs/how-to/upgrade.md");
    let why = |target: &str| broken(page, target);
    assert_eq!(why("../README.md#how-to"), None);
    assert_eq!(why("https://kubernetes.io/nowhere"), None);
    let deploy = concat!(env!("CARGO_PKG_REPOSITORY"), "/tree/main/deploy");
    assert_eq!(why(&format!("{deploy}/check")), None);
    let gone = "deploy/gone does not exist";
    assert_eq!(why(&format!("{deploy}/gone")).as_deref(), Some(gone));
    let gone = "docs/how-to/gone.md does not exist";
    assert_eq!(why("gone.md").as_deref(), Some(gone));
    let gone = "docs/README.md has no heading `gone`";
    assert_eq!(why("../README.md#gone").as_deref(), Some(gone));
    for outside in ["../../Cargo.toml", "../reference"] {
        assert_eq!(why(outside).as_deref(), Some("the book does not have it"));
    }
    let text = "# A `b`: c\n\n[x](y.md), `[no](z)` and [`v`](w.md#a)\n\n    # no\n\n```\n# no\n```\n\n## D\n\n## D\n";
    assert_eq!(links(text), ["y.md", "w.md#a"]);
    let names = ["a-b-c", "d", "d-1"].map(str::to_owned);
    assert_eq!(
        headings(text),
        [1, 2, 2].into_iter().zip(names).collect::<Vec<_>>()
    );
}

/// The pages of findings are listed by their codes; the other lines are written by hand.
#[test]
fn the_table_of_contents_has_every_page_once() {
    let findings = Path::new("docs/reference/findings");
    let mut entries = Vec::new();
    for page in pages().iter().filter(|page| page.starts_with(findings)) {
        let name = page.file_name().and_then(|name| name.to_str()).expect("a name");
        if name != "README.md" {
            let text = read(page);
            let title = text.lines().next().and_then(|line| line.strip_prefix("# "));
            let title = title.unwrap_or_else(|| panic!("{name} has a title"));
            entries.push(format!("  - [{title}](reference/findings/{name})\n"));
        }
    }
    let mut expected = String::new();
    for line in read(Path::new(SUMMARY)).lines() {
        if !line.contains("(reference/findings/DRA") {
            expected += &format!("{line}\n");
        }
        if line.ends_with("(reference/findings/README.md)") {
            expected.extend(entries.drain(..));
        }
    }
    generated::check(SUMMARY, &expected);
    let mut listed = links(&expected);
    listed.sort();
    let book = pages().into_iter().filter_map(|page| {
        let page = page.strip_prefix("docs").ok()?.to_str()?.replace('\\', "/");
        Some(page)
    });
    let mut book: Vec<String> = book.collect();
    book.sort();
    assert_eq!(listed, book);
}

/// Each row of `docs/reference/limits.md` that names a constant, or a field of a default, has its value.
#[test]
fn limits_are_those_of_the_code() {
    let root = Path::new(ROOT);
    let page = std::fs::read_to_string(root.join("docs/reference/limits.md")).expect("the page of limits");
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
