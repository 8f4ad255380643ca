//! The command line as data: lines that are understood, lines that are not, and what they amount to.

use std::time::Duration;

use crate::context::{FleetSetting, Scope, SourceSetting};
use crate::error::Failure;
use crate::output::{Color, Format, Tone};
use dra_sources::live::{Connection, Impersonation};
use dra_sources::{GateSetting, MinorVersion};

use super::*;

mod damaged;
mod man;
mod mutations;

fn parse_line(line: &str) -> anyhow::Result<Invocation> {
    parse(
        std::iter::once("kubectl-dra")
            .chain(line.split_whitespace())
            .map(OsString::from),
    )
}

fn settings(line: &str) -> Settings {
    match parse_line(line) {
        Ok(Invocation::Run(settings, _)) => *settings,
        other => panic!("{line}: {other:?}"),
    }
}

fn connection(line: &str) -> Connection {
    match settings(line).source {
        SourceSetting::Cluster(connection) => *connection,
        SourceSetting::Files(files) => panic!("{line}: {files:?}"),
    }
}

#[test]
fn the_command_line_is_consistent() {
    command_line().debug_assert();
}

#[test]
fn lines_that_kubectl_users_type_are_understood() {
    for line in [
        "version --client",
        "version -o json",
        "version --output=yaml",
        "-n x -A version",
        "version -n=x -nx --namespace x --namespace=x",
        "--all-namespaces=true version",
        "version -s https://h:6443 --server=https://h",
        "version --context c --cluster d --user u --kubeconfig /k",
        "version --as x --as-group a --as-group b --as-uid 7 --as-user-extra k=v --as-user-extra k=w",
        "version --token t --username n --password p",
        "version --certificate-authority a --client-certificate b --client-key c --tls-server-name d",
        "version --insecure-skip-tls-verify --disable-compression --proxy-url http://p --cache-dir /c",
        "version --request-timeout 10 --request-timeout=1m30s",
        "version --kubernetes-version v1.36.1 --feature-gates A=true,B=false --feature-gates C=1",
        "version --scheduler-feature-gates A=true --kcm-feature-gates A=true",
        "version --apiserver-feature-gates A=true --kubelet-feature-gates A=true",
        "version --from a.yaml --from - --from example:gpus --strict --now 2026-08-01T12:00:00Z",
        "version -q -v 6 --color never",
        "version -v=6 --v=6 -v6 --v 6",
        "completion bash",
        "completion kubectl",
    ] {
        settings(line);
    }
    for line in [
        "",
        "--help",
        "-h",
        "--version",
        "-V",
        "help",
        "help version",
        "version --help",
        "version -h",
    ] {
        assert!(matches!(parse_line(line), Ok(Invocation::Show(_))), "{line}");
    }
}

#[test]
fn lines_that_make_no_sense_are_usage_errors() {
    for line in [
        "nope",
        "version extra",
        "version --nope",
        "completion",
        "completion tcsh",
        "version -o xml",
        "version -o name",
        "version --no-headers",
        "version --sort-by NAME",
        "version -w",
        "version -l a=b",
        "completion bash -o json",
        "version -l a===b",
        "version --sort-by .a[",
        "version --request-timeout soon",
        "version --feature-gates A",
        "version --feature-gates A=maybe",
        "version --kubernetes-version new",
        "version --now yesterday",
        "version --proxy-url ftp://p",
        "version --as-user-extra k",
        "version --color sometimes",
        "version -v much",
        "version --all-namespaces=maybe",
        "version -n",
    ] {
        let error = parse_line(line).expect_err(line);
        assert_eq!(Failure::of(&error), Failure::Usage, "{line}: {error:#}");
    }
}

#[test]
fn what_has_no_effect_with_files_is_refused_and_the_rest_is_not() {
    for flag in [
        "--kubeconfig x",
        "--context x",
        "--cluster x",
        "--user x",
        "-s x",
        "--tls-server-name x",
        "--insecure-skip-tls-verify",
        "--certificate-authority x",
        "--client-certificate x",
        "--client-key x",
        "--token x",
        "--username x",
        "--password x",
        "--as x",
        "--as-uid x",
        "--as-group x",
        "--as-user-extra k=v",
        "--request-timeout 1s",
        "--proxy-url http://x",
        "--disable-compression",
    ] {
        for line in [
            format!("version --from a {flag}"),
            format!("{flag} version --from a"),
        ] {
            let error = parse_line(&line).expect_err(&line);
            assert_eq!(Failure::of(&error), Failure::Usage, "{line}: {error:#}");
        }
    }
    for flag in [
        "-n x",
        "-A",
        "--strict",
        "--kubernetes-version 1.36",
        "--feature-gates A=true",
        "--cache-dir x",
    ] {
        settings(&format!("version --from a {flag}"));
    }
}

#[test]
fn every_connection_flag_has_a_conflict_with_files() {
    let command = command_line();
    let connection = |arg: &&clap::Arg| arg.get_help_heading() == Some("Cluster connection");
    let flags: Vec<_> = command.get_arguments().filter(connection).collect();
    assert_eq!(flags.len(), 20);
    for files in ["from", "fleet"] {
        let files = command.get_arguments().find(|arg| arg.get_id() == files);
        let conflicts = command.get_arg_conflicts_with(files.expect("a flag"));
        for flag in &flags {
            assert!(conflicts.contains(flag), "{flag}");
        }
    }
}

#[test]
fn flags_amount_to_settings() {
    let settings = settings(
        "--from a -n x version --from b -q -v 3 --color always -o json --strict --now 2026-08-01T12:00:00Z \
         --kubernetes-version 1.36 --feature-gates A=true,B=false --kcm-feature-gates C=true --scheduler-feature-gates D=F",
    );
    assert!(matches!(settings.source, SourceSetting::Files(files) if files == ["a", "b"]));
    assert_eq!(settings.scope, Scope::Namespace("x".to_owned()));
    assert!(settings.strict && settings.output.quiet);
    assert_eq!(
        (settings.output.format, settings.output.color),
        (Format::Json, Color::Always)
    );
    assert_eq!(settings.output.verbosity, 3);
    assert_eq!(
        settings.now.map(dra_model::Time::unix_seconds),
        Some(1_785_585_600)
    );
    let gate = |name: &str, enabled| GateSetting {
        name: name.to_owned(),
        enabled,
    };
    assert_eq!(
        settings.versions.kubernetes,
        Some(MinorVersion { major: 1, minor: 36 })
    );
    assert_eq!(settings.versions.gates, [gate("A", true), gate("B", false)]);
    assert_eq!(settings.versions.controller_manager_gates, [gate("C", true)]);
    assert_eq!(settings.versions.scheduler_gates, [gate("D", false)]);
}

#[test]
fn several_contexts_and_a_directory_are_a_fleet() {
    let contexts = |line: &str| match settings(line).fleet {
        Some(FleetSetting::Contexts(members)) => members,
        other => panic!("{line}: {other:?}"),
    };
    let members = contexts(
        "--context a --as x status -n n --context b --context= --context a --now 2026-08-01T12:00:00Z",
    );
    let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let second = &members[1];
    assert_eq!(second.flag, "--context=b");
    assert_eq!(second.carried.connection, ["--context=b", "--as=x"]);
    assert_eq!(second.carried.selection, ["--namespace=n"]);
    assert_eq!(second.carried.source, ["--now=2026-08-01T12:00:00Z"]);
    let SourceSetting::Cluster(connection) = &second.source else {
        panic!("{second:?}");
    };
    assert_eq!(connection.context.as_deref(), Some("b"));
    assert_eq!(connection.impersonate.user.as_deref(), Some("x"));
    // A line for one context names it.
    assert_eq!(contexts("status -o ndjson --context a").len(), 1);
    for line in [
        "status --context a",
        "status --context a --context a",
        "status -o ndjson",
        "claims --context a",
    ] {
        assert!(settings(line).fleet.is_none(), "{line}");
    }
    let directory = settings("check --fleet d --parallel 7 --timeout 1m");
    assert!(matches!(directory.fleet, Some(FleetSetting::Directory(directory)) if directory == "d"));
    assert_eq!(directory.parallel.map(std::num::NonZeroUsize::get), Some(7));
    for line in [
        "check --fleet d --from f",
        "check --fleet d --context a",
        "check --fleet d --kubeconfig k",
        "check --parallel 2",
        "check --parallel 0 --fleet d",
        "check --context a --context b --cluster c",
        "check --context a --context b -s https://h",
        "claims --context a --context b",
        "claims --fleet d",
    ] {
        let error = parse_line(line).expect_err(line);
        assert_eq!(Failure::of(&error), Failure::Usage, "{line}: {error:#}");
    }
}

#[test]
fn connection_flags_mean_what_they_mean_to_kubectl() {
    let all = connection(
        "version --kubeconfig k --context c --cluster d --user u -s s --tls-server-name t --insecure-skip-tls-verify \
         --certificate-authority ca --client-certificate cc --client-key ck --token to --username un --password pw \
         --as iu --as-uid ii --as-group g1 --as-group g2 --as-user-extra k=v --request-timeout 90 --proxy-url http://p \
         --disable-compression",
    );
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        all,
        Connection {
            kubeconfig: Some("k".into()),
            context: some("c"),
            cluster: some("d"),
            user: some("u"),
            server: some("s"),
            tls_server_name: some("t"),
            insecure_skip_tls_verify: true,
            certificate_authority: Some("ca".into()),
            client_certificate: Some("cc".into()),
            client_key: Some("ck".into()),
            token: some("to").map(Into::into),
            username: some("un"),
            password: some("pw").map(Into::into),
            impersonate: Impersonation {
                user: some("iu"),
                uid: some("ii"),
                groups: vec!["g1".to_owned(), "g2".to_owned()],
                extra: vec![("k".to_owned(), "v".to_owned())],
            },
            request_timeout: Some(Duration::from_secs(90)),
            proxy_url: some("http://p"),
            disable_compression: true,
        }
    );
    // Empty values are as good as none, a timeout of zero is none, and a repeated context is one.
    let none = connection("version --kubeconfig= --context= --token= --as= --proxy-url= --request-timeout 0");
    assert_eq!(none, Connection::default());
    assert_eq!(
        connection("version --context a --context= --context a").context,
        some("a")
    );
    assert_eq!(settings("version -n a -A").scope, Scope::All);
    assert_eq!(
        settings("version -n a --all-namespaces=false").scope,
        Scope::Namespace("a".to_owned())
    );
    assert_eq!(settings("version --namespace=").scope, Scope::Unset);
}

#[test]
fn completion_gets_its_words_as_they_are() {
    for line in ["__complete -n x --nope", "__complete"] {
        let Ok(Invocation::Complete(words)) = parse_line(line) else {
            panic!("{line}")
        };
        assert_eq!(
            words,
            line.split_whitespace()
                .skip(1)
                .map(OsString::from)
                .collect::<Vec<_>>()
        );
    }
    assert!(parse_line("version __complete").is_err());
    let linked = parse(["/bin/kubectl_complete-dra", "cl"].map(OsString::from));
    assert!(matches!(linked, Ok(Invocation::Complete(words)) if words == ["cl"]));
}

#[test]
fn help_shows_only_flags_that_the_command_takes() {
    let mut command = command_line();
    command.build();
    let visible = |subcommand: &str, flag: &str| {
        let subcommand = command.find_subcommand(subcommand).expect(subcommand);
        let flag = subcommand
            .get_arguments()
            .find(|arg| arg.get_id() == flag)
            .expect(flag);
        !flag.is_hide_set()
    };
    assert!(visible("version", "output") && visible("version", "namespace"));
    for (subcommand, flag) in [
        ("version", "watch"),
        ("version", "sort_by"),
        ("completion", "output"),
    ] {
        assert!(!visible(subcommand, flag), "{subcommand} {flag}");
    }
    let names: Vec<_> = command.get_subcommands().map(clap::Command::get_name).collect();
    for (name, _) in ACCEPTED {
        assert!(names.contains(name), "`{name}` is called as its file is");
    }
}

/// The commands below `command`, each with the names that call it.
fn all_commands(command: &clap::Command) -> Vec<(String, clap::Command)> {
    let mut all = Vec::new();
    for subcommand in command.get_subcommands() {
        let name = subcommand.get_name().to_owned();
        let below = all_commands(subcommand);
        all.push((name.clone(), subcommand.clone()));
        all.extend(
            below
                .into_iter()
                .map(|(path, command)| (format!("{name} {path}"), command)),
        );
    }
    all
}

/// Values that cannot be completed: numbers, times, free text, and new names.
const FREE: &[&str] = &[
    "ADDRESS",
    "CEL",
    "COLUMN|PATH",
    "DURATION",
    "EXPR",
    "GROUP",
    "KEY",
    "KEY=VALUE",
    "KEY[=VALUE]",
    "LABELS",
    "STEP",
    "LEVEL",
    "NAME",
    "NAME=NUMBER",
    "NAMESPACE/NAME",
    "NUMBER",
    "PASSWORD",
    "RESOURCE.GROUP",
    "ENTRY",
    "STEPS",
    "TIME",
    "TOKEN",
    "UID",
    "URL",
];

#[test]
fn every_argument_completes_or_takes_free_text() {
    let mut root = command_line();
    root.build();
    for (path, command) in all_commands(&root) {
        for arg in command.get_arguments().filter(|arg| argv::takes_value(arg)) {
            let value = arg
                .get_value_names()
                .unwrap_or_default()
                .first()
                .map(|name| name.as_str());
            let value = value.unwrap_or_else(|| arg.get_id().as_str());
            let is_offered = !arg.get_possible_values().is_empty()
                || arg.get_value_hint() != clap::ValueHint::Unknown
                || crate::commands::lookup(value).is_some();
            assert!(
                is_offered != FREE.contains(&value),
                "`{path}` offers nothing for {value} of {}",
                arg.get_id()
            );
        }
    }
}

#[test]
fn every_command_has_examples_that_are_understood() {
    let root = command_line();
    let whole = std::iter::once((String::new(), root.clone()));
    for (path, command) in whole.chain(all_commands(&root)) {
        if [help::HELP, help::OPTIONS].contains(&path.as_str()) {
            continue;
        }
        let text = command.get_before_help().map(help::set).unwrap_or_default();
        let (_, examples) = text
            .split_once("\n\nExamples:\n")
            .unwrap_or_else(|| panic!("`{path}` has no examples"));
        for line in examples.lines() {
            assert!(line.chars().count() <= 80, "`{path}`: a terminal breaks {line}");
        }
        // A line that ends in a backslash or a pipe continues.
        let joined = examples.replace(" \\\n   ", "").replace("|\n   ", "|");
        let lines: Vec<&str> = joined.lines().filter(|line| !line.starts_with("  #")).collect();
        assert!(!lines.is_empty(), "{path}");
        for line in lines.iter().filter(|line| line.contains("kubectl dra")) {
            let ours = line.split(['|', '>']).next().unwrap_or_default();
            let words = shell_words(ours);
            assert_eq!(words[..2], ["kubectl", "dra"], "{line}");
            assert!(
                path.is_empty() || ours.contains(&format!("dra {path}")) || ours.contains("--from"),
                "{line} of {path}"
            );
            let run = parse(words.into_iter().skip(1).map(OsString::from));
            assert!(matches!(run, Ok(Invocation::Run(..))), "{line}: {run:?}");
        }
    }
}

/// The words of a line; words in single quotes may contain spaces.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

#[test]
fn the_first_page_lists_each_command_once_and_fits_80_columns() {
    let mut root = help::kept(command_line()).term_width(80);
    root.build();
    let page = help::set(&root.clone().render_help());
    for command in root.get_subcommands() {
        let name = command.get_name();
        let lines = page.lines().filter(|line| {
            let mut words = line.strip_prefix("  ").unwrap_or_default().split(' ');
            words.next() == Some(name)
        });
        let expected = command.get_subcommands().count().max(1);
        let expected = if name == "convert" { 1 } else { expected };
        assert_eq!(lines.count(), expected, "{name} in\n{page}");
    }
    for line in page.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn help_is_toned_without_a_change_of_its_text() {
    let mut root = help::kept(command_line()).term_width(80);
    root.build();
    let whole = std::iter::once((String::new(), root.clone()));
    for (path, mut command) in whole.chain(all_commands(&root)) {
        let page = help::set(&command.render_help());
        let toned: Vec<_> = toned(&page).filter(|(_, text)| !text.is_empty()).collect();
        let text: String = toned.iter().map(|(_, text)| *text).collect();
        assert_eq!(text, page);
        assert!(toned.contains(&(Tone::Strong, "Usage:")), "{page}");
        let is_word = [help::HELP, help::OPTIONS].contains(&path.as_str());
        assert!(
            is_word || toned.contains(&(Tone::Strong, "Examples:\n")),
            "{page}"
        );
    }
}

#[test]
fn help_of_a_command_fits_on_a_screen() {
    let mut root = help::kept(command_line()).term_width(80);
    root.build();
    let whole = std::iter::once((String::new(), root.clone()));
    for (path, mut command) in whole.chain(all_commands(&root)) {
        let lines = help::set(&command.render_help()).lines().count();
        assert!(lines < 60, "`{path}`: {lines} lines");
    }
}

#[test]
fn help_breaks_no_line_within_what_is_copied() {
    let pages = |columns: usize| {
        let mut root = help::kept(command_line()).term_width(columns);
        root.build();
        let whole = std::iter::once((String::new(), root.clone()));
        let pages = whole.chain(all_commands(&root));
        pages
            .flat_map(|(_, mut command)| [command.render_help(), command.render_long_help()])
            .map(|text| help::set(&text))
            .collect::<Vec<String>>()
    };
    let wide = pages(100_000);
    let is_example = |line: &&str| line.starts_with("  kubectl ") || line.starts_with("  # ");
    let examples = wide.iter().flat_map(|page| page.lines()).filter(is_example);
    assert!(examples.count() > 50);
    for columns in [30, 50, 80] {
        for (narrow, wide) in pages(columns).iter().zip(&wide) {
            for line in wide.lines().filter(is_example) {
                assert!(
                    narrow.lines().any(|known| known == line),
                    "{columns}: {line}\n{narrow}"
                );
            }
            for line in wide.lines() {
                for quoted in line.split('`').skip(1).step_by(2) {
                    assert!(
                        narrow.contains(&format!("`{quoted}`")),
                        "{columns}: {quoted}\n{narrow}"
                    );
                }
            }
        }
    }
}
