//! The command line from outside: help, errors, exit codes, streams and completion.

use rustix::process::Signal;

use crate::support::command::{dra, dra_snapshot, isolated};
use crate::support::generated;
use crate::support::schema::assert_schema;

#[test]
fn version_names_the_program_and_the_releases_it_knows() {
    dra_snapshot!(["version", "--client"], @r"
    exit_code: 0
    ----- stdout -----
    Client Version:  v[VERSION]
    Platform:        [PLATFORM]
    Kubernetes:      v1.34 to v1.37

    ----- stderr -----
    ");
    dra_snapshot!(["version", "--client", "-o", "yaml"], @r#"
    exit_code: 0
    ----- stdout -----
    apiVersion: dra.kubectl.io/v1
    kind: Version
    featureGates: []
    warnings: []
    clientVersion:
      gitVersion: v[VERSION]
      platform: [PLATFORM]
      oldestKubernetes: "1.34"
      newestKubernetes: "1.37"

    ----- stderr -----
    "#);
    dra_snapshot!(["--version"], @r"
    exit_code: 0
    ----- stdout -----
    kubectl-dra [VERSION]

    ----- stderr -----
    ");
}

#[test]
fn version_warns_where_the_server_is_newer_than_the_rules() {
    dra_snapshot!(["version", "--from", "example:gpus", "--kubernetes-version", "1.38"], @r"
    exit_code: 0
    ----- stdout -----
    Client Version:  v[VERSION]
    Platform:        [PLATFORM]
    Kubernetes:      v1.34 to v1.37
    Server Version:  v1.38.0 (assumed)

    ----- stderr -----
    warning: Kubernetes 1.38 is newer than 1.37, the newest release that this build supports; using the rules of 1.37
    ");
}

#[test]
fn version_is_what_its_schema_says() {
    let report = assert_schema!(["version", "--client", "-o", "json"]);
    assert_eq!(report["kind"], "Version");
    let report = assert_schema!(["version", "--from", "example:gpus", "-o", "json"]);
    assert_eq!(report["serverVersion"]["gitVersion"], "v1.37.1");
}

#[test]
fn version_prints_the_client_version_without_a_server() {
    dra_snapshot!(["version", "--kubeconfig", "/nonexistent"], @r"
    exit_code: 3
    ----- stdout -----
    Client Version:  v[VERSION]
    Platform:        [PLATFORM]
    Kubernetes:      v1.34 to v1.37

    ----- stderr -----
    error: cannot connect: kubeconfig `/nonexistent` does not exist

    hint: set KUBECONFIG or pass --kubeconfig; to try it without a cluster, pass `--from example:gpus`
    ");
    dra_snapshot!(["version", "--from", "example:gpus", "--kubernetes-version", "1.36"], @r"
    exit_code: 0
    ----- stdout -----
    Client Version:  v[VERSION]
    Platform:        [PLATFORM]
    Kubernetes:      v1.34 to v1.37
    Server Version:  v1.36.0 (assumed)

    ----- stderr -----
    ");
}

#[test]
fn an_example_that_is_not_there_is_answered_with_those_that_are() {
    dra_snapshot!(["claims", "--from", "example:gpu"], @"
    exit_code: 3
    ----- stdout -----

    ----- stderr -----
    error: unknown example `gpu`

    hint: did you mean `example:gpus`?
    ");
}

#[test]
fn a_subcommands_help_shows_its_flags_under_kubectls_name() {
    dra_snapshot!(["completion", "-h"], @r"
    exit_code: 0
    ----- stdout -----
    Print a shell completion script

    Examples:
      # Complete `kubectl dra`, in every shell that completes kubectl
      kubectl dra completion kubectl > ~/.local/bin/kubectl_complete-dra
      chmod +x ~/.local/bin/kubectl_complete-dra
      # Complete `kubectl-dra` in bash
      kubectl dra completion bash \
        > ~/.local/share/bash-completion/completions/kubectl-dra

    Usage: kubectl dra completion [OPTIONS] <SHELL>

    Arguments:
      <SHELL>  Shell, or kubectl [possible values: bash, zsh, fish, powershell, kubectl]

    Options:
      -h, --help  Print help (more: `kubectl dra help completion`)

    Global options (all: `kubectl dra options`):
      -n, --namespace <NAMESPACE>  Namespace; the default depends on the command
      -A, --all-namespaces         All namespaces, overrides -n
          --from <SOURCE>          Read a file, a directory, `-` or `example:NAME`

    For `kubectl dra …`, save the script for `kubectl` as an executable named `kubectl_complete-dra` in
    a directory of your PATH; kubectl's own completion runs it. The other scripts complete
    `kubectl-dra …`, called directly.

    ----- stderr -----
    ");
}

#[test]
fn options_shows_every_shared_flag() {
    let help = dra(&["options"]).run().exits(0).stdout;
    for flag in [
        "--kubeconfig",
        "--context",
        "--cluster",
        "--user",
        "--server",
        "--tls-server-name",
        "--insecure-skip-tls-verify",
        "--certificate-authority",
        "--client-certificate",
        "--client-key",
        "--token",
        "--username",
        "--password",
        "--as ",
        "--as-uid",
        "--as-group",
        "--as-user-extra",
        "--request-timeout",
        "--proxy-url",
        "--disable-compression",
        "--kubernetes-version",
        "--feature-gates",
        "--scheduler-feature-gates",
        "--kcm-feature-gates",
        "--apiserver-feature-gates",
        "--kubelet-feature-gates",
    ] {
        assert!(help.contains(flag), "{flag} is not in\n{help}");
    }
    assert!(
        !help.contains("--cache-dir"),
        "a flag that does nothing is shown in\n{help}"
    );
}

#[test]
fn without_arguments_there_is_help_as_with_kubectl() {
    let none = dra(&[]).run().exits(0);
    let asked = dra(&["-h"]).run();
    assert_eq!(none.stdout, asked.stdout);
    assert!(none.stderr.is_empty());
}

#[test]
fn what_cannot_be_understood_is_said_on_stderr_with_code_2() {
    dra_snapshot!(["versoin"], @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: unknown command `versoin`

    hint: kubectl dra version
    ");
    dra_snapshot!(["--from", "a.yaml", "version", "--context", "prod"], @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `--from` cannot be used with `--context`

    hint: kubectl dra version --from a.yaml
    ");
    dra_snapshot!(["version", "--selector", "a in b"], @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value `a in b` for `--selector`: found `b`, expected `(`

    hint: kubectl dra version --selector app=web
    ");
    dra_snapshot!(["version", "--watch"], @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `version` does not support `--watch`

    hint: kubectl dra version
    ");
    dra_snapshot!(["version", "-o", "name"], @"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: `version` does not support `-o name`

    hint: supported formats: `table`, `wide`, `json`, `yaml`, `markdown`, `html`
    ");
}

#[test]
fn a_reader_that_has_enough_is_no_failure() {
    for args in [
        &["--help"][..],
        &["completion", "bash"],
        &["version", "--client", "-o", "json"],
        &["__complete", ""],
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let run = dra(args).stdout_to(writer).run().exits(0);
        assert_eq!(run.stderr, "", "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_a_failure() {
    for args in [
        &["version", "--client"][..],
        &["version", "--client", "-o", "json"],
        &["completion", "zsh"],
        &["-h"],
    ] {
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("Linux has it");
        let run = dra(args).stdout_to(full).run().exits(3);
        assert_eq!(
            run.stderr, "error: cannot write to standard output: No space left on device (os error 28)\n",
            "{args:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_command_that_waits_with_130_and_without_a_word() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let pipe = folder.path().join("claims.yaml");
    let name = pipe.to_str().expect("a path in UTF-8");
    isolated("mkfifo", &[name]).run().exits(0);
    let process = dra(&["claims", "--from", name]).start_unguarded();
    // A named pipe can be opened for writing once somebody reads it: then the program waits for claims.
    let _open = std::fs::OpenOptions::new()
        .write(true)
        .open(&pipe)
        .expect("the program reads");
    process.signal(Signal::INT);
    let run = process.finish().exits(130);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
}

#[test]
fn colour_is_only_there_when_it_is_wanted() {
    // A table with headers in bold on one stream, an error in red on the other.
    let table: &[&str] = &["claims", "-A", "--from", "example:gpus"];
    let error: &[&str] = &["version", "--watch"];
    let is_coloured = |args: &[&str], flag: &str, environment: &[(&str, &str)]| {
        let plain = dra(&[args, &["--color", flag]].concat());
        let run = environment
            .iter()
            .fold(plain, |invocation, (name, value)| invocation.env(name, value))
            .run();
        run.stdout.contains('\u{1b}') || run.stderr.contains('\u{1b}')
    };
    for (flag, environment, expected) in [
        ("auto", &[][..], false),
        ("auto", &[("CLICOLOR_FORCE", "1")], true),
        ("auto", &[("CLICOLOR_FORCE", "0")], false),
        ("auto", &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        ("auto", &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")], true),
        ("auto", &[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")], true),
        ("always", &[("NO_COLOR", "1")], true),
        ("never", &[("CLICOLOR_FORCE", "1")], false),
    ] {
        for args in [table, error] {
            assert_eq!(
                is_coloured(args, flag, environment),
                expected,
                "{args:?} --color {flag} {environment:?}"
            );
        }
    }
}

#[test]
fn committed_completions_are_those_that_the_program_prints() {
    for (shell, file) in [
        ("bash", "kubectl-dra.bash"),
        ("zsh", "_kubectl-dra"),
        ("fish", "kubectl-dra.fish"),
        ("powershell", "_kubectl-dra.ps1"),
        ("kubectl", "kubectl_complete-dra"),
    ] {
        let run = dra(&["completion", shell]).run().exits(0);
        generated::check(&format!("completions/{file}"), &run.stdout);
    }
}

#[cfg(unix)]
#[test]
fn kubectls_completion_script_gives_candidates_and_a_directive() {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_kubectl-dra"))
        .parent()
        .expect("a folder")
        .display();
    let path = format!("{folder}:/usr/bin:/bin");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/completions/kubectl_complete-dra");
    dra_snapshot!(isolated(script, &["-n", "x", "ver"]).env("PATH", &path), @r"
    exit_code: 0
    ----- stdout -----
    version	Print the client and server versions
    :4

    ----- stderr -----
    ");
    dra_snapshot!(isolated(script, &["version", "--output", ""]).env("PATH", &path), @"
    exit_code: 0
    ----- stdout -----
    table	Human-readable table or text
    wide	Table with more columns
    json	JSON (schemas in docs/reference/schema)
    yaml	YAML with the same content
    markdown	Markdown for a comment or an issue
    html	Web page in one file
    :4

    ----- stderr -----
    ");
}
