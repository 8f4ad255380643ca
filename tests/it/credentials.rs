//! Credentials: what a kubeconfig, the connection flags and credential plugins hold stays out of every message, is never sent
//! without TLS, and whatever signs it is made of, nothing crashes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::command::dra;
use crate::support::process::Run;
use crate::support::wait::wait_for;
use dra_testing::effort::some_of;

/// Text that no output may contain, not even a long part of it.
const SECRET: &str = "hunter2-s3cr3t-t0ken";

/// Nothing listens there, and what is asked of it goes no further than a refused connection.
const NOWHERE: &str = "https://127.0.0.1:1";

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn write(folder: &TempDir, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a writable folder");
    path
}

/// A kubeconfig with one cluster and one user.
fn config(cluster: &Value, user: &Value) -> String {
    json!({"apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": user}]})
    .to_string()
}

/// Runs `claims` with a kubeconfig.
fn with(text: &str, args: &[&str]) -> Run {
    let folder = folder();
    let path = write(&folder, "config", text);
    dra(&["claims", "--request-timeout=5s"])
        .args(args)
        .env("KUBECONFIG", &path)
        .run()
}

/// Fails where a run crashed or shows a secret.
fn discreet(run: &Run, what: &str) {
    assert_eq!(run.signal, None, "{what}: {run:?}");
    assert!(matches!(run.code, Some(0..=4)), "{what}: {run:?}");
    for text in [&run.stdout, &run.stderr] {
        for part in [&SECRET[..7], &SECRET[8..14], &SECRET[15..]] {
            assert!(!text.contains(part), "{what}: {text}");
        }
        assert!(!text.contains("panicked"), "{what}: {text}");
    }
}

/// A server without TLS that answers everything with `answer`, and notes what it is sent.
fn server(answer: &str) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (log, answer) = (Arc::clone(&heard), answer.to_owned());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream);
            let mut head = String::new();
            while lines.read_line(&mut head).unwrap_or(0) > 2 {}
            log.lock().expect("no panic").push(head);
            let _ = (&stream).write_all(answer.as_bytes());
        }
    });
    (address, heard)
}

const FORBIDDEN: &str = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

#[test]
fn a_broken_kubeconfig_is_not_quoted() {
    let user = |lines: &str| format!("apiVersion: v1\nkind: Config\nusers:\n- name: u\n  user:\n{lines}\n");
    let cluster =
        |lines: &str| format!("apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster:\n{lines}\n");
    let cases = [
        user(&format!("    token: {SECRET}\n   password: {SECRET}")),
        user(&format!("    token: {SECRET}: {SECRET}")),
        user(&format!("    password: \"{SECRET}")),
        user(&format!("    password: [{SECRET}]")),
        user(&format!("    client-key-data: {{{SECRET}: {SECRET}}}")),
        user(&format!(
            "    exec: {{command: x, env: [{{name: A, value: [{SECRET}]}}]}}"
        )),
        user(&format!("    exec: {{command: x, args: {SECRET}}}")),
        user(&format!("    exec: {SECRET}")),
        user(&format!(
            "    auth-provider: {{name: oidc, config: {{id-token: [{SECRET}]}}}}"
        )),
        user(&format!("    auth-provider: {SECRET}")),
        user(&format!("    as-groups: {SECRET}")),
        user(&format!("    token: *{SECRET}")),
        user(&format!("    token: !{SECRET} {SECRET}\n    token: x")),
        user(&format!("\t{SECRET}")),
        cluster(&format!("    proxy-url: [http://u:{SECRET}@p]")),
        cluster(&format!("    server: {{https://u:{SECRET}@h: 1}}")),
        cluster(&format!("    insecure-skip-tls-verify: {SECRET}")),
        format!("{{\"users\": [{{\"name\": \"u\", \"user\": {{\"token\": \"{SECRET}"),
        format!("{{\"users\": [{{\"name\": \"u\", \"user\": {{\"token\": [\"{SECRET}\"]}}}}]}}"),
        format!("{{\"users\": [{{\"user\": {{\"token\": \"{SECRET}\"}}}}]}}"),
        SECRET.to_owned(),
        format!("users: {SECRET}"),
        format!("[{SECRET}]"),
        format!("{SECRET}\u{0}"),
    ];
    for text in cases {
        let run = with(&text, &[]).exits(3);
        discreet(&run, &text);
        assert!(
            run.stderr.contains("config") && run.stderr.contains("line "),
            "{text}: {}",
            run.stderr
        );
        // A second file that is broken, and one that is asked for.
        let folder = folder();
        let (sound, broken) = (
            write(&folder, "sound", config(&json!({"server": NOWHERE}), &json!({}))),
            write(&folder, "broken", &text),
        );
        let both = std::env::join_paths([&sound, &broken]).expect("paths without colons");
        let run = dra(&["claims"]).env("KUBECONFIG", &both).run().exits(3);
        discreet(&run, &text);
        assert!(run.stderr.contains("broken`"), "{}", run.stderr);
        let run = dra(&["claims", "-v", "9", "--kubeconfig"])
            .args([&broken])
            .run()
            .exits(3);
        discreet(&run, &text);
    }
    // Files that are no text, no file, or not to be read.
    let folder = folder();
    let bytes = write(
        &folder,
        "bytes",
        [&b"users: \xff\xfe"[..], SECRET.as_bytes()].concat(),
    );
    for path in [bytes.as_path(), folder.path()] {
        let run = dra(&["claims", "--kubeconfig"]).args([path]).run().exits(3);
        discreet(&run, "no text");
    }
}

#[test]
fn keys_and_certificates_that_cannot_be_used_are_named_and_not_shown() {
    let encoded = "aHVudGVyMi1zM2NyM3QtdDBrZW4=";
    let folder = folder();
    let not_pem = write(&folder, "key.pem", SECRET);
    let not_pem = not_pem.to_str().expect("a path in UTF-8");
    for (user, expected) in [
        (
            json!({"client-certificate-data": encoded, "client-key-data": SECRET}),
            "client-key-data",
        ),
        (
            json!({"client-certificate-data": SECRET, "client-key-data": encoded}),
            "client-certificate-data",
        ),
        (
            json!({"client-certificate-data": encoded, "client-key-data": encoded}),
            "no PEM certificate",
        ),
        (
            json!({"client-certificate-data": encoded}),
            "without a `client-key`",
        ),
        (
            json!({"client-key-data": encoded}),
            "without a `client-certificate`",
        ),
        (
            json!({"client-certificate": not_pem, "client-key": not_pem}),
            "no PEM certificate",
        ),
        (
            json!({"client-certificate": "/nonexistent", "client-key": not_pem}),
            "/nonexistent",
        ),
        (json!({"tokenFile": "/nonexistent/token"}), "/nonexistent/token"),
        (json!({"tokenFile": folder.path()}), "token file"),
        (
            json!({"auth-provider": {"name": "oidc", "config": {"id-token": SECRET}}}),
            "not a valid JWT",
        ),
        (
            json!({"auth-provider": {"name": "oidc", "config": {"id-token": format!("a.{SECRET}.c")}}}),
            "ID token",
        ),
        (
            json!({"auth-provider": {"name": "oidc", "config": {}}}),
            "id-token",
        ),
        (
            json!({"auth-provider": {"name": "gcp", "config": {"access-token": SECRET}}}),
            "gcp",
        ),
        (json!({"auth-provider": {"name": SECRET, "config": {}}}), "oidc"),
    ] {
        let run = with(&config(&json!({"server": NOWHERE}), &user), &["-v", "9"]).exits(3);
        discreet(&run, &user.to_string());
        assert!(!run.stderr.contains(&encoded[..10]), "{}", run.stderr);
        assert!(run.stderr.contains(expected), "{user}: {}", run.stderr);
    }
    for cluster in [
        json!({"server": NOWHERE, "certificate-authority-data": SECRET}),
        json!({"server": NOWHERE, "certificate-authority-data": encoded}),
        json!({"server": NOWHERE, "certificate-authority": not_pem}),
    ] {
        let run = with(&config(&cluster, &json!({})), &[]).exits(3);
        discreet(&run, &cluster.to_string());
        assert!(run.stderr.contains("certificate"), "{}", run.stderr);
    }
}

/// A user whose credentials come from a shell script.
fn scripted(script: &str) -> Value {
    json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh", "args": ["-c", script],
        "env": [{"name": "PASSWORD", "value": SECRET}], "interactiveMode": "IfAvailable"}})
}

#[test]
fn what_a_credential_plugin_prints_is_not_repeated() {
    let credential = |status: &str| {
        format!(
            r#"{{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{status}}}"#
        )
    };
    for (printed, expected) in [
        (SECRET.to_owned(), "not an ExecCredential"),
        (format!("token: {SECRET}: x"), "not an ExecCredential"),
        (String::new(), "kind"),
        (
            credential(&format!(r#"{{"token": ["{SECRET}"]}}"#)),
            "status.token",
        ),
        (credential(&format!(r#"{{"token": "{SECRET}"#)), "line 1"),
        (
            credential(&format!(r#"{{"{SECRET}": "{SECRET}"}}"#)),
            "neither a token",
        ),
        (credential("null"), "without a `status`"),
        (
            credential(&format!(r#"{{"clientKeyData": "{SECRET}"}}"#)),
            "only one",
        ),
        (
            credential(&format!(
                r#"{{"clientKeyData": "{SECRET}", "clientCertificateData": "{SECRET}"}}"#
            )),
            "certificate",
        ),
        (
            credential(&format!(r#"{{"token": "{SECRET}\\n"}}"#)),
            "line break",
        ),
        (credential(&format!(r#"{{"token": "{SECRET}\\u0000"}}"#)), "NUL"),
        (
            credential(&format!(
                r#"{{"token": "{SECRET}", "expirationTimestamp": "{SECRET}"}}"#
            )),
            "expirationTimestamp",
        ),
        (
            credential(&format!(r#"{{"token": "{SECRET}"}}"#)).replace("ExecCredential", SECRET),
            "kind",
        ),
        (
            credential(&format!(r#"{{"token": "{SECRET}"}}"#)).replace("k8s.io/v1", "k8s.io/v1beta1"),
            "version",
        ),
    ] {
        let script = format!("printf '%s' '{}'", printed.replace("\\\\", "\\"));
        let run = with(
            &config(&json!({"server": NOWHERE}), &scripted(&script)),
            &["-v", "9"],
        )
        .exits(3);
        discreet(&run, &printed);
        assert!(
            run.stderr.contains("plugin") || run.stderr.contains("credentials"),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains(expected), "{printed}: {}", run.stderr);
    }
    let run = with(
        &config(
            &json!({"server": NOWHERE}),
            &scripted(&format!("printf {SECRET}; exit 7")),
        ),
        &[],
    )
    .exits(3);
    discreet(&run, "a plugin that fails");
    assert!(
        run.stderr.contains("/bin/sh") && run.stderr.contains('7'),
        "{}",
        run.stderr
    );
    // Its own words go to the terminal, as with kubectl, and nowhere else.
    let words = with(
        &config(
            &json!({"server": NOWHERE}),
            &scripted("echo log in first >&2; exit 1"),
        ),
        &[],
    )
    .exits(3);
    assert_eq!(
        words.stderr.matches("log in first").count(),
        1,
        "{}",
        words.stderr
    );
    // One that is not there says how to get it.
    let mut missing = scripted("");
    missing["exec"]["command"] = json!("no-such-login");
    missing["exec"]["installHint"] = json!("install it with `brew install login`");
    let run = with(&config(&json!({"server": NOWHERE}), &missing), &[]).exits(3);
    discreet(&run, "no plugin");
    assert!(
        run.stderr.contains("no-such-login") && run.stderr.contains("brew install login"),
        "{}",
        run.stderr
    );
    // Wrong versions, wrong variables, no command.
    for (field, value) in [
        ("apiVersion", json!(SECRET)),
        ("command", json!("")),
        ("command", json!("a\u{0}b")),
        ("args", json!(["-c", "a\u{0}b"])),
        ("env", json!([{"name": "A=B", "value": SECRET}])),
        ("env", json!([{"name": "A", "value": format!("{SECRET}\u{0}")}])),
        ("interactiveMode", json!("Always")),
    ] {
        let mut user = scripted("true");
        user["exec"][field] = value;
        let run = with(&config(&json!({"server": NOWHERE}), &user), &[]).exits(3);
        discreet(&run, field);
    }
}

#[test]
fn without_tls_no_credentials_are_sent() {
    let folder = folder();
    let token = write(&folder, "token", SECRET);
    let ran = folder.path().join("ran");
    let plugin = format!("touch {}; echo {SECRET}", ran.display());
    let users = [
        json!({"token": SECRET}),
        json!({"tokenFile": token}),
        json!({"username": "me", "password": SECRET}),
        scripted(&plugin),
        json!({"auth-provider": {"name": "oidc", "config": {"id-token": SECRET}}}),
        json!({"client-certificate-data": SECRET, "client-key-data": SECRET}),
    ];
    for user in users {
        let (address, heard) = server(FORBIDDEN);
        let text = config(&json!({"server": format!("http://{address}")}), &user);
        for args in [
            &[][..],
            &["--token", SECRET],
            &["--username=me", "--password", SECRET],
            &["--as=alice"],
        ] {
            let run = with(&text, args).exits(3);
            discreet(&run, &user.to_string());
            let flags = args
                .iter()
                .any(|arg| arg.starts_with("--token") || arg.starts_with("--username"));
            assert_eq!(
                run.stderr.contains("sending no credentials"),
                flags,
                "{}",
                run.stderr
            );
        }
        let heard = heard.lock().expect("no panic").join("");
        assert!(heard.contains("GET /version"), "{heard}");
        assert!(!heard.to_lowercase().contains("authorization"), "{heard}");
        assert!(!heard.contains(SECRET), "{heard}");
        assert!(heard.contains("impersonate-user: alice"), "{heard}");
    }
    assert!(!ran.exists(), "a plugin is not asked for what is not sent");
}

#[test]
fn an_address_without_a_scheme_is_secure_where_tls_is_configured() {
    let (address, heard) = server(FORBIDDEN);
    let folder = folder();
    let authority = write(&folder, "ca.pem", AUTHORITY);
    let authority = authority.to_str().expect("a path in UTF-8");
    for args in [
        &["--certificate-authority", authority][..],
        &["--insecure-skip-tls-verify"],
    ] {
        let run = dra(&["claims", "--server", &address, "--token", SECRET])
            .args(args)
            .run()
            .exits(3);
        discreet(&run, "TLS");
        assert!(
            run.stderr.contains(&format!("https://{address}")),
            "{}",
            run.stderr
        );
    }
    let text = config(
        &json!({"server": address, "insecure-skip-tls-verify": true}),
        &json!({"token": SECRET}),
    );
    assert!(
        with(&text, &[]).exits(3).stderr.contains("https://"),
        "a kubeconfig"
    );
    assert!(
        !heard.lock().expect("no panic").join("").contains("HTTP/1.1"),
        "nothing is sent in the clear"
    );
    let run = dra(&["claims", "--server", &address]).run().exits(3);
    discreet(&run, "no TLS");
    assert!(heard.lock().expect("no panic").join("").contains("GET /version"));
}

/// A certificate authority that signed nothing.
const AUTHORITY: &str = include_str!("support/authority.pem");

#[test]
fn a_certificate_is_checked_or_it_is_not() {
    let folder = folder();
    let authority = write(&folder, "ca.pem", AUTHORITY);
    let authority = authority.to_str().expect("a path in UTF-8");
    let run = dra(&[
        "claims",
        "--server",
        NOWHERE,
        "--insecure-skip-tls-verify",
        "--certificate-authority",
        authority,
    ])
    .run();
    assert!(run.exits(2).stderr.contains("--certificate-authority"));
    let both =
        json!({"server": NOWHERE, "insecure-skip-tls-verify": true, "certificate-authority": authority});
    let run = with(&config(&both, &json!({})), &[]).exits(3);
    assert!(run.stderr.contains("insecure-skip-tls-verify"), "{}", run.stderr);
    // A flag replaces what the kubeconfig says of trust.
    for args in [
        &["--insecure-skip-tls-verify"][..],
        &["--certificate-authority", authority],
    ] {
        let run = with(&config(&both, &json!({})), args).exits(3);
        assert!(run.stderr.contains("cannot reach"), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn redirects_are_not_followed() {
    let (elsewhere, heard) = server(FORBIDDEN);
    let answer = format!(
        "HTTP/1.1 302 Found\r\nLocation: http://u:{SECRET}@{elsewhere}/x?token={SECRET}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    let (address, _) = server(&answer);
    let run = dra(&["claims", "--server", &format!("http://{address}")])
        .run()
        .exits(3);
    discreet(&run, "a redirect");
    assert!(run.stderr.contains("redirect"), "{}", run.stderr);
    assert_eq!(heard.lock().expect("no panic").len(), 0);
}

#[test]
fn a_password_in_an_address_is_not_shown() {
    let secret = SECRET;
    for address in [
        format!("https://user:{secret}@127.0.0.1:1"),
        format!("https://{secret}@127.0.0.1:1"),
        format!("https://127.0.0.1:1/x?token={secret}"),
        format!("https://127.0.0.1:1/#{secret}"),
        format!("user:{secret}@127.0.0.1:1"),
        format!("https://user:{secret}/@127.0.0.1:1"),
        format!("https://user:{secret}@ho st"),
        format!("ftp://user:{secret}@host"),
        format!("https://user:{secret}@host:nan"),
    ] {
        for output in ["table", "json"] {
            let run = dra(&["claims", "-v", "9", "-o", output, "--server", &address])
                .run()
                .exits(3);
            discreet(&run, &address);
        }
        discreet(
            &with(&config(&json!({"server": address}), &json!({})), &[]).exits(3),
            &address,
        );
    }
    for proxy in [
        format!("http://user:{secret}@127.0.0.1:1"),
        format!("socks5://user:{secret}@127.0.0.1:1"),
        format!("https://user:{secret}@127.0.0.1:1"),
        format!("ftp://user:{secret}@host"),
        format!("user:{secret}@127.0.0.1:1"),
        format!("http://user:{secret}/@127.0.0.1:1"),
        format!("http://user:{secret}@ho st"),
        format!("http://127.0.0.1:1?{secret}"),
        format!("{secret}://host"),
    ] {
        let server = ["claims", "--server", "https://cluster.invalid"];
        let flag = dra(&server).args(["--proxy-url", &proxy]).run();
        assert!(matches!(flag.code, Some(2 | 3)), "{flag:?}");
        let environment = dra(&server).env("HTTPS_PROXY", &proxy).run().exits(3);
        let file = with(
            &config(
                &json!({"server": "https://cluster.invalid", "proxy-url": proxy}),
                &json!({}),
            ),
            &[],
        )
        .exits(3);
        for run in [flag, environment, file] {
            if !proxy.starts_with(secret) {
                discreet(&run, &proxy);
            }
        }
    }
}

/// Texts that no header and no address can hold, or hardly.
fn bad_texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "\n",
        "\r",
        "\r\nX: y",
        "a\nb",
        "\u{1}",
        "\u{7f}",
        "\t",
        " ",
        "ü",
        "\u{1f600}",
        "\u{85}",
    ]
    .iter()
    .map(|odd| format!("{SECRET}{odd}{SECRET}"))
    .collect();
    texts.push(format!("{SECRET}\n"));
    texts.push(format!("\n{SECRET}"));
    texts.push(SECRET.repeat(2000));
    texts.push(String::new());
    texts
}

#[test]
fn no_text_crashes_the_program() {
    let folder = folder();
    // Nothing that is wrong with a text may be found out later than when a connection would be made.
    let flags = [
        "--token",
        "--username",
        "--password",
        "--tls-server-name",
        "--server",
        "--proxy-url",
        "--as",
        "--as-uid",
        "--as-group",
        "--as-user-extra",
        "-n",
        "-l",
        "--context",
        "--cluster",
        "--user",
        "--certificate-authority",
    ];
    for text in some_of(&bad_texts(), 4) {
        for flag in flags {
            let mut args = vec!["claims", "--request-timeout=5s", "--insecure-skip-tls-verify"];
            let value = if flag == "--as-user-extra" {
                format!("{text}={text}")
            } else {
                text.clone()
            };
            if flag != "--server" {
                args.extend(["--server", NOWHERE]);
            }
            if flag.starts_with("--as-") {
                args.extend(["--as", "me"]);
            }
            if flag == "--password" {
                args.extend(["--username", "me"]);
            }
            args.extend([flag, value.as_str()]);
            let run = dra(&args).run();
            assert_eq!(run.signal, None, "{flag} {text:?}: {run:?}");
            assert!(matches!(run.code, Some(2 | 3)), "{flag} {text:?}: {run:?}");
            if matches!(flag, "--token" | "--password") {
                discreet(&run, flag);
            }
        }
        let token = write(&folder, "token", text);
        let script = write(
            &folder,
            "told",
            json!({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"token": text}}).to_string(),
        );
        for user in [
            json!({"token": text}),
            json!({"tokenFile": token}),
            json!({"username": text, "password": text}),
            scripted(&format!("cat {}", script.display())),
            json!({"auth-provider": {"name": "oidc", "config": {"id-token": text}}}),
            json!({"token": "t", "as": text}),
            json!({"token": "t", "as": "me", "as-uid": text}),
            json!({"token": "t", "as": "me", "as-groups": [text]}),
            json!({"token": "t", "as": "me", "as-user-extra": {text.clone(): [text]}}),
        ] {
            let run = with(&config(&json!({"server": NOWHERE}), &user), &[]).exits(3);
            discreet(&run, &user.to_string());
        }
        for cluster in [
            json!({"server": text}),
            json!({"server": NOWHERE, "tls-server-name": text}),
        ] {
            let run = with(&config(&cluster, &json!({})), &[]);
            assert!(run.signal.is_none() && run.code == Some(3), "{cluster}: {run:?}");
        }
    }
    // Longer than an argument may be.
    for user in [
        json!({"token": SECRET.repeat(500_000)}),
        json!({"tokenFile": write(&folder, "token", SECRET.repeat(500_000))}),
        json!({"tokenFile": write(&folder, "long", SECRET.repeat(2_000_000))}),
        json!({"token": "t", "as": SECRET.repeat(500_000)}),
        json!({"token": "t", "as": "me", "as-user-extra": {SECRET.repeat(10_000): ["x"]}}),
    ] {
        let run = with(&config(&json!({"server": NOWHERE}), &user), &[]).exits(3);
        discreet(&run, "a long text");
    }
}

#[test]
fn names_do_not_lead_elsewhere() {
    let (address, heard) = server(FORBIDDEN);
    let server = format!("http://{address}");
    for namespace in [".", "..", "a/b", "a%2fb", "%2e%2e", "a\nb"] {
        let run = dra(&["claims", "--server", &server, "-n", namespace])
            .run()
            .exits(2);
        assert!(run.stderr.contains("namespace"), "{}", run.stderr);
        let path = config(&json!({"server": server}), &json!({})).replace(
            r#""user":"u"}"#,
            &format!(r#""user":"u","namespace":{}}}"#, json!(namespace)),
        );
        assert!(with(&path, &[]).exits(3).stderr.contains("namespace"));
    }
    for namespace in ["a?b#c", "ä b", "a&b=c"] {
        dra(&["claims", "--server", &server, "-n", namespace])
            .run()
            .exits(3);
    }
    let selector = "a in (b,c),d!=é";
    let _ = dra(&["claims", "--server", &server, "-l", selector]).run();
    let long = format!("app in ({})", vec!["x".repeat(60); 1500].join(","));
    let run = dra(&["claims", "--server", &server, "-l", &long]).run().exits(3);
    assert!(
        run.stderr.contains("address") || run.stderr.contains("403"),
        "{}",
        run.stderr
    );
    for head in heard.lock().expect("no panic").iter() {
        let path = head.split(' ').nth(1).unwrap_or_default();
        let known = path.starts_with("/version") || path.starts_with("/api");
        assert!(known && !path.contains("..") && !path.contains('#'), "{path}");
    }
}

/// A kubeconfig whose plugin runs this script. Each process that it starts writes its number into the file `$STARTED`.
fn hanging(folder: &TempDir, script: &str, interactive: &str) -> PathBuf {
    let started = folder.path().join("started");
    let user = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh",
        "args": ["-c", script], "interactiveMode": interactive,
        "env": [{"name": "STARTED", "value": started.to_str().expect("UTF-8")}]}});
    write(folder, "config", config(&json!({"server": NOWHERE}), &user))
}

/// The processes that a plugin has started, once it has started so many.
fn started(folder: &TempDir, count: usize) -> Vec<String> {
    wait_for("the plugin runs", || {
        let text = std::fs::read_to_string(folder.path().join("started")).unwrap_or_default();
        let ids: Vec<String> = text.lines().map(str::to_owned).collect();
        (ids.len() == count && text.ends_with('\n')).then_some(ids)
    })
}

/// Waits until none of the processes runs. One that has ended may wait for its parent to ask how.
fn have_ended(ids: &[String]) {
    let has_ended = |id: &String| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        stat.rsplit_once(')')
            .is_none_or(|(_, rest)| rest.starts_with(" Z"))
    };
    wait_for("what the plugin has started ends", || {
        ids.iter().all(has_ended).then_some(())
    });
}

/// Plugins that never come to an end, with how many processes each starts.
const HANGING: [(&str, usize); 4] = [
    ("echo $$ >>$STARTED; sleep 1000; echo", 1),
    (
        "echo $$ >>$STARTED; sleep 1000 & echo $! >>$STARTED; wait; echo",
        2,
    ),
    // It has let go of its children.
    (
        "(sleep 1000 & echo $! >>$STARTED); echo $$ >>$STARTED; sleep 1000; echo",
        2,
    ),
    // They do not want to end.
    (
        "trap '' TERM INT HUP; echo $$ >>$STARTED; sh -c 'echo $$ >>$STARTED; sleep 1000; sleep 1000'; sleep 1000; sleep 1000",
        2,
    ),
];

/// The pipes are the proof as well: no run comes to its end while a process holds them.
#[test]
fn a_plugin_that_hangs_ends_with_the_program() {
    for (script, count) in HANGING {
        for signal in [None, Some(Signal::INT), Some(Signal::TERM)] {
            let folder = folder();
            let path = hanging(&folder, script, "Never");
            let timeout = if signal.is_some() { "1h" } else { "1s" };
            let run = dra(&["status", "--timeout", timeout])
                .env("PATH", std::env::var_os("PATH").unwrap_or_default())
                .env("KUBECONFIG", &path)
                .start_unguarded();
            if let Some(signal) = signal {
                started(&folder, count);
                run.signal(signal);
            }
            let run = run.finish();
            let expected = if signal.is_some() { 130 } else { 3 };
            assert_eq!(run.code, Some(expected), "{script}: {run:?}");
            if signal.is_some() {
                have_ended(&started(&folder, count));
            }
        }
    }
}

/// At a terminal a plugin may ask, so that it stays in the group that has the terminal.
#[test]
fn a_plugin_that_may_ask_ends_with_the_program() {
    for (script, count) in [HANGING[0], HANGING[1], HANGING[3]] {
        let folder = folder();
        let path = hanging(&folder, script, "IfAvailable");
        let (run, _keyboard) = dra(&["status", "--timeout", "1h"])
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("KUBECONFIG", &path)
            .start_at_terminal();
        let ids = started(&folder, count);
        // Of the program alone, as that of whoever ends a job by its number.
        run.signal(Signal::TERM);
        run.finish().exits(130);
        have_ended(&ids);
    }
}

/// Once it is set, the file in the home directory is not read, as with kubectl.
#[test]
fn a_list_of_empty_paths_names_no_cluster() {
    let home = folder();
    std::fs::create_dir(home.path().join(".kube")).expect("a folder");
    let path = home.path().join(".kube/config");
    std::fs::write(&path, config(&json!({"server": NOWHERE}), &json!({}))).expect("a file");
    for (list, told) in [
        ("", NOWHERE),
        (":", "no cluster configured: KUBECONFIG names no file"),
        (":::", "no cluster configured: KUBECONFIG names no file"),
    ] {
        let run = dra(&["claims", "--request-timeout=5s"])
            .env("HOME", home.path())
            .env("KUBECONFIG", list)
            .run()
            .exits(3);
        assert!(run.stderr.contains(told), "{list}: {}", run.stderr);
    }
}

/// Any bytes are a path, as for kubectl; what is ignored would be another cluster.
#[cfg(unix)]
#[test]
fn settings_that_are_not_utf_8_are_used_or_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let folder = folder();
    let odd = OsStr::from_bytes(b"k\xff");
    std::fs::create_dir(folder.path().join(odd)).expect("a folder");
    let relative = Path::new(odd).join("config");
    let path = folder.path().join(&relative);
    std::fs::write(&path, config(&json!({"server": NOWHERE}), &json!({}))).expect("a file");
    // An address for documentation, which is nobody's; this machine itself needs no proxy.
    let other = write(
        &folder,
        "other",
        config(&json!({"server": "https://203.0.113.1"}), &json!({})),
    );
    let claims = || dra(&["claims", "--request-timeout=5s"]).current_dir(folder.path());
    let both = std::env::join_paths([&path, &other]).expect("paths without colons");
    for list in [path.as_os_str(), relative.as_os_str(), &both] {
        let run = claims().env("KUBECONFIG", list).run().exits(3);
        assert!(run.stderr.contains(NOWHERE), "{list:?}: {}", run.stderr);
    }
    let missing = claims()
        .env("KUBECONFIG", folder.path().join(odd).join("missing"))
        .run()
        .exits(3);
    assert!(missing.stderr.contains("does not exist"), "{}", missing.stderr);
    for (cluster, user) in [
        (
            json!({"server": NOWHERE, "certificate-authority": "ca.pem"}),
            json!({}),
        ),
        (json!({"server": NOWHERE}), json!({"tokenFile": "token"})),
        (
            json!({"server": NOWHERE}),
            json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin"}}),
        ),
    ] {
        std::fs::write(&path, config(&cluster, &user)).expect("a file");
        let run = claims().env("KUBECONFIG", &path).run().exits(3);
        assert!(
            run.stderr.contains("its own directory is not UTF-8"),
            "{cluster} {user}: {}",
            run.stderr
        );
    }
    for name in ["HTTPS_PROXY", "https_proxy", "NO_PROXY"] {
        let run = claims()
            .env("KUBECONFIG", &other)
            .env(name, OsStr::from_bytes(b"a\xff"))
            .run()
            .exits(3);
        assert!(run.stderr.contains("is not an http"), "{name}: {}", run.stderr);
    }
}
