//! The ways to an API server and the credentials for it, beyond a plain kubeconfig: proxies, OpenID Connect, service accounts in pods.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::cluster::Cluster;
use crate::support::cluster::faulty::Fault;
use crate::support::command::isolated;
use crate::support::process::{Invocation, Run};

/// A name that nothing resolves: only a proxy leads there.
const ELSEWHERE: &str = "https://cluster.invalid:6443";
const NOW: &str = "--now=2099-01-01T00:00:00Z";

/// A kubeconfig for the cluster, in `folder`.
fn kubeconfig(folder: &Path, cluster: &Value, user: &Value) -> std::path::PathBuf {
    let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}]});
    let path = folder.join("config");
    std::fs::write(&path, config.to_string()).expect("the folder is writable");
    path
}

/// What the tool prints as `system:serviceaccount:default:robot`, who may do nothing.
fn refused_as_robot(run: &Run) {
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(
        run.stderr.contains("system:serviceaccount:default:robot"),
        "{}",
        run.stderr
    );
}

#[test]
fn proxies_lead_to_the_server() {
    let cluster = Cluster::shared();
    let direct = cluster.kubectl_dra(["claims", "-A", NOW]).run().exits(0);
    let tunnel = cluster.tunnel();
    let elsewhere = |args: &[&str]| -> Invocation {
        cluster
            .kubectl_dra([
                "claims",
                "-A",
                NOW,
                "--server",
                ELSEWHERE,
                "--tls-server-name=localhost",
            ])
            .args(args)
    };
    let http = format!("http://{}", tunnel.address());
    let socks = format!("socks5://{}", tunnel.address());
    let bare = tunnel.address();
    let cases = [
        (elsewhere(&["--proxy-url", &http]), "http cluster.invalid:6443"),
        (elsewhere(&["--proxy-url", &socks]), "socks cluster.invalid:6443"),
        (
            elsewhere(&[]).env("HTTPS_PROXY", &http),
            "http cluster.invalid:6443",
        ),
        (
            elsewhere(&[]).env("https_proxy", &bare),
            "http cluster.invalid:6443",
        ),
        (
            elsewhere(&[])
                .env("HTTPS_PROXY", &socks)
                .env("NO_PROXY", "other.invalid"),
            "socks cluster.invalid:6443",
        ),
        // The flag wins.
        (
            elsewhere(&["--proxy-url", &socks]).env("HTTPS_PROXY", &http),
            "socks cluster.invalid:6443",
        ),
    ];
    for (number, (invocation, expected)) in cases.into_iter().enumerate() {
        let run = invocation.run().exits(0);
        assert_eq!(run.stdout, direct.stdout, "case {number}");
        let asked = tunnel.asked();
        assert!(
            !asked.is_empty() && asked.iter().all(|asked| asked == expected),
            "case {number}: {asked:?}"
        );
    }
}

#[test]
fn a_kubeconfig_names_a_proxy() {
    let cluster = Cluster::shared();
    let tunnel = cluster.tunnel();
    let folder = tempfile::tempdir().expect("a temporary directory");
    let config = kubeconfig(
        folder.path(),
        &json!({"server": ELSEWHERE, "tls-server-name": "localhost", "certificate-authority": cluster.certificate_authority(),
            "proxy-url": format!("socks5://{}", tunnel.address())}),
        &json!({"token": cluster.service_account_token("default", "robot")}),
    );
    let run = cluster
        .kubectl_dra(["claims", "-A"])
        .env("KUBECONFIG", &config)
        .run();
    refused_as_robot(&run);
    assert_eq!(
        tunnel.asked().first().map(String::as_str),
        Some("socks cluster.invalid:6443")
    );
}

#[test]
fn servers_that_need_no_proxy_are_asked_without_one() {
    let cluster = Cluster::shared();
    let tunnel = cluster.tunnel();
    let proxy = format!("http://{}", tunnel.address());
    // The local machine never needs one, as in client-go.
    cluster
        .kubectl_dra(["claims", "-A"])
        .env("HTTPS_PROXY", &proxy)
        .run()
        .exits(0);
    let excluded = cluster
        .kubectl_dra(["claims", "-A", "--server", ELSEWHERE])
        .env("HTTPS_PROXY", &proxy)
        .env("NO_PROXY", ".invalid")
        .run()
        .exits(3);
    assert!(
        excluded.stderr.contains(ELSEWHERE) && excluded.stderr.contains("the proxy settings"),
        "{}",
        excluded.stderr
    );
    assert_eq!(tunnel.asked(), [""; 0]);

    let refused = cluster
        .kubectl_dra([
            "claims",
            "--server",
            ELSEWHERE,
            "--proxy-url",
            "ftp://user:secret@proxy.invalid",
        ])
        .run()
        .exits(2);
    assert!(
        refused.stderr.contains("is not http, https or socks5"),
        "{}",
        refused.stderr
    );
}

#[test]
fn an_identity_token_is_sent_and_an_expired_one_is_reported() {
    let cluster = Cluster::shared();
    let folder = tempfile::tempdir().expect("a temporary directory");
    let run = |token: &str| {
        let config = kubeconfig(
            folder.path(),
            &json!({"server": cluster.server(), "certificate-authority": cluster.certificate_authority()}),
            &json!({"auth-provider": {"name": "oidc", "config": {"id-token": token}}}),
        );
        cluster.kubectl_dra(["claims"]).env("KUBECONFIG", &config).run()
    };
    // A service account's token has the form of an identity provider's, and the server knows it.
    refused_as_robot(&run(&cluster.service_account_token("default", "robot")));

    // {"alg":"none"} and {"exp":1}.
    let expired = run("eyJhbGciOiJub25lIn0.eyJleHAiOjF9.").exits(3);
    assert!(
        expired.stderr.contains("expired") && expired.stderr.contains(&cluster.server()),
        "{}",
        expired.stderr
    );
    let nonsense = run("nonsense").exits(3);
    assert!(nonsense.stderr.contains("not a valid JWT"), "{}", nonsense.stderr);
}

/// Pods find the server in their environment, and who they are in files at a fixed place.
#[test]
fn a_pod_needs_no_kubeconfig() {
    let cluster = Cluster::shared();
    let server = cluster.server();
    let (host, port) = server
        .trim_start_matches("https://")
        .rsplit_once(':')
        .expect("a host and a port");
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a writable folder");
    file("token", &cluster.service_account_token("default", "robot"));
    file("namespace", "training");
    std::fs::copy(cluster.certificate_authority(), folder.path().join("ca.crt")).expect("a writable folder");
    let program = env!("CARGO_BIN_EXE_kubectl-dra");
    // A mount namespace of its own, so that the files are at that place for this process only.
    let script = format!(
        "mkdir -p /var/run/secrets && mount -t tmpfs none /var/run/secrets && mkdir -p /var/run/secrets/kubernetes.io/serviceaccount \
         && cp {}/* /var/run/secrets/kubernetes.io/serviceaccount && exec {program} claims",
        folder.path().display()
    );
    let pod = |script: &str| {
        isolated("unshare", &["--mount", "--map-root-user", "sh", "-c", script])
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .at_home()
            .env("KUBERNETES_SERVICE_HOST", host)
            .env("KUBERNETES_SERVICE_PORT", port)
            .run()
    };
    if pod("mount -t tmpfs none /tmp").code != Some(0) {
        // Some containers forbid namespaces. What a pod without its files is told can be seen there, too.
        let run = isolated(program, &["claims"])
            .at_home()
            .env("KUBERNETES_SERVICE_HOST", host)
            .env("KUBERNETES_SERVICE_PORT", port)
            .run()
            .exits(3);
        assert!(run.stderr.contains("KUBECONFIG"), "{}", run.stderr);
        return;
    }
    let run = pod(&script);
    refused_as_robot(&run);
    assert!(
        run.stderr.contains(r#"in the namespace "training""#),
        "{}",
        run.stderr
    );
}

#[test]
fn a_terminal_shows_progress_and_a_pipe_does_not() {
    let cluster = Cluster::shared();
    let slow = cluster.faulty(|path, _| {
        if path.ends_with("/resourceclaims") {
            Fault::Stall(50)
        } else {
            Fault::None
        }
    });
    let flags = slow.flags();
    let command = format!(
        "{} claims -A --request-timeout=5s {} {}",
        env!("CARGO_BIN_EXE_kubectl-dra"),
        flags[0],
        flags[1]
    );
    // `script` gives it a terminal.
    let terminal = isolated("script", &["-qec", &command, "/dev/null"])
        .env("TERM", "xterm")
        .run()
        .exits(3);
    assert!(
        terminal.stdout.contains("reading http://"),
        "{:?}",
        terminal.stdout
    );
    let pipe = isolated("sh", &["-c", &command]).run().exits(3);
    assert!(
        !pipe.stderr.contains("reading http://") && !pipe.stderr.contains('\u{1b}'),
        "{}",
        pipe.stderr
    );
}
