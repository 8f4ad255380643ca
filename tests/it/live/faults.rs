//! Output if the connection to the API server, or the server itself, is bad. The responses are those of the real one, until a proxy
//! spoils them.
//!
//! Whatever happens: no panic, no hang, no silence. A list that is incomplete is never taken for a list.

use crate::support::cluster::faulty::{Fault, Faulty};
use crate::support::cluster::{Cluster, User};
use crate::support::process::Run;
use dra_testing::effort::{by_effort, some_pairs};

const CLAIMS: &str = "/apis/resource.k8s.io/v1/resourceclaims";
const NOW: &str = "--now=2099-01-01T00:00:00Z";

/// Runs the tool through the proxy.
fn run(user: &User, faulty: &Faulty, args: &[&str]) -> Run {
    let run = user.kubectl_dra(args).args(faulty.flags()).args([NOW]).run();
    assert!(!run.stderr.contains("panicked"), "{args:?}: {}", run.stderr);
    assert_eq!(run.signal, None, "{args:?}");
    run
}

/// A proxy that spoils the list of all claims.
fn claims(cluster: &Cluster, script: impl Fn(usize) -> Fault + Send + Sync + 'static) -> Faulty {
    cluster.faulty(move |path, before| {
        if path == CLAIMS {
            script(before)
        } else {
            Fault::None
        }
    })
}

fn refusal(code: u16, message: &str) -> Fault {
    Fault::Refusal(code, "", message.to_owned())
}

#[test]
fn faults_that_pass_do_not_show() {
    let cluster = Cluster::shared();
    let direct = cluster
        .kubectl_dra(["claims", "-A", "-o", "wide", NOW])
        .run()
        .exits(0);
    let passing: [fn(usize) -> Fault; 7] = [
        |_| Fault::None,
        |before| match before {
            0 | 1 => Fault::Refusal(
                429,
                "Retry-After: 1\r\n",
                "storage is (re)initializing".to_owned(),
            ),
            _ => Fault::None,
        },
        |before| match before {
            0 => refusal(503, "etcdserver: leader changed"),
            _ => Fault::None,
        },
        |before| if before == 0 { Fault::Cut(0) } else { Fault::None },
        |before| if before == 0 { Fault::Cut(50) } else { Fault::None },
        |before| {
            if before == 0 {
                Fault::Short(99)
            } else {
                Fault::None
            }
        },
        |before| if before == 0 { Fault::Close } else { Fault::None },
    ];
    for (case, script) in passing.into_iter().enumerate() {
        let faulty = claims(cluster, script);
        let run = run(cluster, &faulty, &["claims", "-A", "-o", "wide"]).exits(0);
        assert_eq!(run.stdout, direct.stdout, "case {case}");
        assert_eq!(run.stderr, direct.stderr, "case {case}");
    }
}

#[test]
fn faults_that_stay_are_errors_where_nothing_can_be_said_and_gaps_elsewhere() {
    type Failing = fn(usize) -> Fault;
    let cluster = Cluster::shared();
    let lasting: [(Failing, &str, &str); 8] = [
        (
            |_| {
                refusal(
                    403,
                    "resourceclaims.resource.k8s.io is forbidden: User \"admin\" cannot list resource",
                )
            },
            "cannot list resource",
            "ask for the missing permission",
        ),
        (
            |_| {
                Fault::Refusal(
                    429,
                    "Retry-After: 1\r\n",
                    "storage is (re)initializing".to_owned(),
                )
            },
            "storage is (re)initializing",
            "a newer release may have written",
        ),
        (
            |_| {
                refusal(
                    500,
                    "no kind \"ResourceClaim\" is registered for version \"resource.k8s.io/v2\"",
                )
            },
            "no kind \"ResourceClaim\" is registered",
            "a newer release may have written",
        ),
        (|_| Fault::Cut(50), "the response ended early", "try again"),
        (|_| Fault::Short(50), "the response ended early", "try again"),
        (|_| Fault::Close, "the response ended early", "try again"),
        (|_| Fault::Stall(50), "no response for 10 s", "--request-timeout"),
        (|_| Fault::Silence, "no response for 10 s", "--request-timeout"),
    ];
    // Most of the time goes by waiting.
    std::thread::scope(|scope| {
        for (script, error, hint) in lasting {
            scope.spawn(move || lasts(cluster, script, error, hint));
        }
    });
}

fn lasts(cluster: &Cluster, script: fn(usize) -> Fault, error: &str, hint: &str) {
    let faulty = claims(cluster, script);
    // Far more than a busy machine needs for the answers that do come.
    let limit: &[&str] = if error.starts_with("no response") {
        &["--request-timeout=10s"]
    } else {
        &[]
    };
    let list = run(cluster, &faulty, &[&["claims", "-A"], limit].concat()).exits(3);
    assert_eq!(list.stdout, "");
    assert!(
        list.stderr.starts_with("error: ")
            && list
                .stderr
                .contains("cannot list resourceclaims.resource.k8s.io: ")
            && list.stderr.contains(error)
            && list.stderr.contains("hint: ")
            && list.stderr.contains(hint),
        "{error}: {}",
        list.stderr
    );
    // Devices can be shown, but not who has them.
    let status = run(cluster, &faulty, &[&["status"], limit].concat()).exits(0);
    let unknown = |line: &str| line.starts_with("Claims:") && line.ends_with(" <unknown>");
    assert!(status.stdout.lines().any(unknown), "{error}: {}", status.stdout);
    assert!(
        status.stderr.contains("resourceclaims"),
        "{error}: {}",
        status.stderr
    );
    let devices = run(cluster, &faulty, &[&["devices"], limit].concat()).exits(0);
    assert!(!devices.stdout.contains("Free"), "{error}: {}", devices.stdout);
    assert!(
        devices.stdout.contains(" Unknown "),
        "{error}: {}",
        devices.stdout
    );
    assert!(
        devices.stderr.contains("resourceclaims"),
        "{error}: {}",
        devices.stderr
    );
}

#[test]
fn responses_that_are_not_lists_are_distinguished() {
    let cluster = Cluster::shared();
    let html = claims(cluster, |_| {
        Fault::Text("<html><body>Log in</body></html>".to_owned())
    });
    let run_html = run(cluster, &html, &["claims", "-A"]).exits(3);
    assert!(
        run_html
            .stderr
            .contains("does not respond like a Kubernetes API server"),
        "{}",
        run_html.stderr
    );

    // One object that makes no sense does not hide the others, and is not hidden itself.
    let odd = claims(cluster, |_| {
        Fault::Replaced(r#""spec":{"devices""#, r#""spec":7,"spice":{"devices""#)
    });
    let run_odd = run(cluster, &odd, &["claims", "-A"]).exits(0);
    assert!(
        run_odd
            .stderr
            .contains("list resourceclaims.resource.k8s.io: `ResourceClaim/"),
        "{}",
        run_odd.stderr
    );
}

#[test]
fn a_server_that_does_not_answer_at_all_is_an_error_of_every_command() {
    let cluster = Cluster::shared();
    let silent = cluster.faulty(|_, _| Fault::Silence);
    let broken = cluster.faulty(|_, _| refusal(500, "etcdserver: no leader"));
    let expired = cluster.faulty(|_, _| refusal(401, "Unauthorized"));
    for args in [
        &["status"][..],
        &["claims"],
        &["devices"],
        &["describe", "pod/notebook"],
        &["snapshot"],
        &["version"],
    ] {
        let waited = run(cluster, &silent, &[args, &["--request-timeout=300ms"]].concat()).exits(3);
        assert!(
            waited.stderr.contains("no response for"),
            "{args:?}: {}",
            waited.stderr
        );
        let refused = run(cluster, &expired, args).exits(3);
        assert!(
            refused.stderr.contains("rejected the credentials") && refused.stderr.contains("log in again"),
            "{args:?}: {}",
            refused.stderr
        );
    }
    let run = run(cluster, &broken, &["claims"]).exits(3);
    assert!(run.stderr.contains("etcdserver: no leader"), "{}", run.stderr);
}

#[test]
fn who_may_not_discover_or_ask_for_the_version_may_still_list() {
    let cluster = Cluster::shared();
    let direct = cluster.kubectl_dra(["claims", "-A", NOW]).run().exits(0);
    for hidden in ["/apis", "/version"] {
        let faulty = cluster.faulty(move |path, _| match path {
            path if path == hidden => refusal(403, "forbidden"),
            _ => Fault::None,
        });
        let run = run(cluster, &faulty, &["claims", "-A"]).exits(0);
        assert_eq!(run.stdout, direct.stdout, "{hidden}");
    }
    // What is between here and the server drops the header that asks for all groups in one document.
    let plain = cluster.faulty(|path, _| match path {
        "/apis" => Fault::Text(
            r#"{"kind":"APIGroupList","groups":[{"name":"resource.k8s.io","versions":[{"version":"v1"}]}]}"#
                .to_owned(),
        ),
        _ => Fault::None,
    });
    let run = run(cluster, &plain, &["claims", "-A"]).exits(0);
    assert_eq!(run.stdout, direct.stdout);
}

/// Every kind is refused to every command, one at a time.
#[test]
fn no_single_permission_that_is_missing_ends_a_command_without_a_word() {
    let cluster = Cluster::shared();
    let resources = [
        "namespaces",
        "nodes",
        "pods",
        "events",
        "resourcequotas",
        "poddisruptionbudgets",
        "deviceclasses",
        "resourceslices",
        "devicetaintrules",
        "resourceclaimtemplates",
        "resourceclaims",
        "podgroups",
        "workloads",
        "compositepodgroups",
    ];
    let commands: [&[&str]; 12] = [
        &["status"],
        &["claims", "-A", "-o", "wide"],
        &["reserved", "-A"],
        &["devices", "-o", "wide"],
        &["taints", "-o", "wide"],
        &["describe", "claim/notebook-gpu"],
        &["describe", "pod/notebook"],
        &["describe", "device", "gpu.example.com/gpu-node-1/gpu-0"],
        &["describe", "node/gpu-node-1"],
        &["describe", "class/gpu.example.com"],
        &["describe", "pool/gpu.example.com/gpu-node-1"],
        &["snapshot"],
    ];
    let mut spoilt = 0;
    for (resource, args) in some_pairs(&resources, &commands) {
        let resource = *resource;
        let faulty = cluster.faulty(move |path, _| {
            let collection = path.split('?').next().unwrap_or_default();
            if collection.rsplit('/').next() == Some(resource) {
                refusal(
                    403,
                    &format!("{resource} is forbidden: User \"alice\" cannot list resource"),
                )
            } else {
                Fault::None
            }
        });
        let run = run(cluster, &faulty, args);
        let asked = faulty.asked();
        // Where evidence on gates is looked for in pods, none is no gap.
        let refused = asked.iter().any(|path| {
            path.split('?')
                .next()
                .unwrap_or_default()
                .ends_with(&format!("/{resource}"))
                && !path.contains("kube-system/pods?labelSelector")
        });
        assert!(
            matches!(run.code, Some(0 | 3)),
            "{args:?} without {resource}: {run:?}"
        );
        if refused {
            spoilt += 1;
            assert!(
                run.stderr.contains(resource),
                "{args:?} without {resource}: {run:?}"
            );
            assert!(
                run.code == Some(0)
                    || run.stderr.contains("hint: ")
                    || run.stderr.contains(&format!("to list {resource}")),
                "{args:?} without {resource}: {run:?}"
            );
        }
    }
    assert!(spoilt > by_effort(3, 40, 40), "only {spoilt} cases");
}
