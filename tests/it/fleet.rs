//! Several clusters: each is answered as it is alone, and one that cannot be read does not keep the others from it.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier, Mutex};

use serde_json::{Value, json};

use crate::support::command::{dra, dra_snapshot, on_screen};
use crate::support::fake::Fake;
use crate::support::process::Run;
use crate::support::schema::assert_valid;
use dra_testing::effort::some_of;

const SNAPSHOTS: &str = "tests/data/snapshots";

/// Some hours after all snapshots were taken.
const NOW: &str = "2026-11-21T14:00:00Z";

/// Each command that reads several clusters.
const COMMANDS: [&[&str]; 3] = [&["status"], &["check"], &["explain", "-A"]];

/// Names of the recorded clusters.
fn recorded() -> Vec<String> {
    let files = std::fs::read_dir(SNAPSHOTS).expect("recorded clusters");
    let mut names: Vec<String> = files
        .filter_map(|file| {
            let name = file.expect("an entry").file_name().into_string().expect("UTF-8");
            name.strip_suffix(".yaml").map(str::to_owned)
        })
        .collect();
    names.sort();
    assert!(names.len() > 20, "{names:?}");
    names
}

/// A command at a fixed time. The flag that names its clusters comes last, as in printed commands.
fn at(command: &[&str], args: &[&str], clusters: &str) -> Vec<String> {
    [command, args, &["--now", NOW, clusters]]
        .concat()
        .into_iter()
        .map(str::to_owned)
        .collect()
}

fn run(args: &[String]) -> Run {
    dra(&args.iter().map(String::as_str).collect::<Vec<_>>()).run()
}

/// The exit code for several clusters with these ones.
fn worst(codes: impl IntoIterator<Item = i32>) -> i32 {
    let codes: Vec<i32> = codes.into_iter().collect();
    assert!(codes.iter().all(|code| [0, 1, 4].contains(code)), "{codes:?}");
    [1, 4].into_iter().find(|bad| codes.contains(bad)).unwrap_or(0)
}

fn lines(run: &Run) -> Vec<Value> {
    let lines = run.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn each_cluster_has_the_report_that_it_has_alone() {
    let names = recorded();
    for command in COMMANDS {
        let alone: Vec<(Value, i32)> = names
            .iter()
            .map(|name| {
                let file = format!("--from={SNAPSHOTS}/{name}.yaml");
                let run = run(&at(command, &["-o", "json"], &file));
                (assert_valid(&run.stdout), run.code.expect("an exit code"))
            })
            .collect();
        let fleet = |format| run(&at(command, &["-o", format], &format!("--fleet={SNAPSHOTS}")));
        let json = fleet("json").exits(worst(alone.iter().map(|(_, code)| *code)));
        let report = assert_valid(&json.stdout);
        assert_eq!(report["kind"], "Fleet");
        let expected: Vec<Value> = names
            .iter()
            .zip(&alone)
            .map(|(name, (report, _))| json!({"cluster": name, "report": report}))
            .collect();
        assert_eq!(report["clusters"], Value::from(expected.clone()), "{command:?}");
        assert_eq!(lines(&fleet("ndjson")), expected, "{command:?}");
        let yaml: Value = serde_saphyr::from_str(&fleet("yaml").stdout).expect("YAML");
        assert_eq!(yaml, report, "{command:?}");
    }
}

#[test]
fn each_block_is_what_the_command_prints_for_the_cluster_alone() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let place = directory.path().display();
    let names = recorded();
    let names: Vec<&String> = some_of(&names, 5).collect();
    for name in &names {
        let file = directory.path().join(format!("{name}.yaml"));
        std::fs::copy(format!("{SNAPSHOTS}/{name}.yaml"), file).expect("a copy");
    }
    for command in [COMMANDS[1], COMMANDS[2]] {
        // Without a format as on a terminal, too.
        for format in [None, Some("table"), Some("wide"), Some("markdown")] {
            let print = |clusters: String| {
                let format = format.map_or(vec![], |format| vec!["-o", format]);
                let args = at(command, &format, &clusters);
                if format.is_empty() {
                    let args: Vec<&str> = args.iter().map(String::as_str).collect();
                    on_screen(dra(&args), 80).stdout.replace('\r', "")
                } else {
                    run(&args).stdout
                }
            };
            let heading = |text: &str| match format {
                Some("markdown") => format!("## {text}\n\n"),
                _ => format!("{text}\n"),
            };
            let blocks = names.iter().map(|name| {
                let block = print(format!("--from={place}/{name}.yaml"));
                format!("{}{block}\n", heading(&format!("Cluster: {name}")))
            });
            let fleet = print(format!("--fleet={place}"));
            let (shown, table) = fleet
                .split_once(&heading("All clusters"))
                .expect("a table of all");
            assert_eq!(shown, blocks.collect::<String>(), "{command:?} {format:?}");
            for name in &names {
                assert!(table.contains(name.as_str()), "{name}: {table}");
            }
        }
    }
}

/// A directory with two clusters, of which one is a directory itself, a broken and an empty file, and what is no snapshot.
fn mixed() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| directory.path().join(name);
    std::fs::create_dir(path("whole")).expect("a directory");
    for (from, to) in [
        ("unschedulable-pods", "good.yaml"),
        ("bound-pods", "whole/objects.yaml"),
    ] {
        std::fs::copy(format!("{SNAPSHOTS}/{from}.yaml"), path(to)).expect("a copy");
    }
    std::fs::write(path("broken.json"), r#"{"kind": "List", "items": ["#).expect("a file");
    std::fs::write(path("empty.json"), "").expect("a file");
    std::fs::write(path("README.md"), "# Snapshots").expect("a file");
    std::fs::write(path(".partial.json"), "{").expect("a file");
    directory
}

#[test]
fn a_broken_file_is_reported_beside_the_answers_of_the_others() {
    let directory = mixed();
    let fleet = |args: &[&str]| {
        dra(args)
            .args(["--now", NOW, "--fleet", "."])
            .current_dir(directory.path())
    };
    dra_snapshot!(fleet(&["status"]), @"
    exit_code: 4
    ----- stdout -----
    CLUSTER   AS OF                  DEVICES     IN USE      FREE        PENDING     FINDINGS
    broken    <unknown>              <unknown>   <unknown>   <unknown>   <unknown>   not read: `./broken.json` is not valid JSON at line 1: the text ends in the middle of `items`, in or after item 0
    empty     <unknown>              <unknown>   <unknown>   <unknown>   <unknown>   not read: `./empty.json` contains no objects
    good      2026-11-21T14:00:00Z   37          6           18          10          5 errors, 6 warnings
    whole     2026-11-21T14:00:00Z   48          23          25          1           none

    ----- stderr -----
    warning: `./README.md` is not read: it is not a .yaml, .yml, .json, .ndjson or .jsonl file (plain, .gz or .zst)
    warning: broken: not read: `./broken.json` is not valid JSON at line 1: the text ends in the middle of `items`, in or after item 0
    warning: empty: not read: `./empty.json` contains no objects
    warning: good: ./good.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    warning: whole: ./whole does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    dra_snapshot!(fleet(&["explain", "-A", "-o", "wide", "-q"]), @r#"
    exit_code: 1
    ----- stdout -----
    Cluster: good
    x 13 pods are pending: 13 causes

    COUNT   VERDICT      OBJECTS                           CAUSE                                                                                                                                                           FIX                                                                                                                                                                                          NOTE                                                                                                                  FIX OF                            COMMAND
    1       Error        pod/default/cel-error             selector #0 on device gpu.example.com/gpu-node-1/gpu-6: no such key: firmware                                                                                   remove `device.attributes['gpu.example.com'].firmware == '1.2'` from request gpu of template/default/cel-error                                                                               deletes and recreates template/default/cel-error: later claims change, too                                            pod/default/cel-error             kubectl patch resourceclaimtemplate/cel-error --namespace=default --type=json -p '[{"op":"test","path":"/spec/spec/devices/requests/0/name","value":"gpu"},{"op":"test","path":"/spec/spec/devices/requests/0/exactly/selectors/0/cel/expression","value":"device.attributes['\''gpu.example.com'\''].firmware == '\''1.2'\''"},{"op":"remove","path":"/spec/spec/devices/requests/0/exactly/selectors/0"}]' --dry-run=client -o yaml | kubectl replace --force -f - && kubectl get pod/cel-error --namespace=default -o yaml | kubectl replace --force -f -
    1       DoesNotFit   pod/default/cel-mismatch          none of 21 devices of class gpu.example.com has model B200; published values: A100-SXM4-80GB and H100-SXM5-80GB                                                 remove `device.attributes['gpu.example.com'].model == 'B200'` from request gpu of template/default/cel-mismatch                                                                              deletes and recreates template/default/cel-mismatch: later claims change, too                                         pod/default/cel-mismatch          kubectl patch resourceclaimtemplate/cel-mismatch --namespace=default --type=json -p '[{"op":"test","path":"/spec/spec/devices/requests/0/name","value":"gpu"},{"op":"test","path":"/spec/spec/devices/requests/0/exactly/selectors/0/cel/expression","value":"device.attributes['\''gpu.example.com'\''].model == '\''B200'\''"},{"op":"remove","path":"/spec/spec/devices/requests/0/exactly/selectors/0"}]' --dry-run=client -o yaml | kubectl replace --force -f - && kubectl get pod/cel-mismatch --namespace=default -o yaml | kubectl replace --force -f -
    1       DoesNotFit   pod/default/constraint-conflict   no node has two available H100-SXM5-80GB devices with the same resource.kubernetes.io/pcieRoot                                                                  reduce request gpu of template/default/constraint-conflict from 2 to 1                                                                                                                       deletes and recreates template/default/constraint-conflict: later claims change, too                                  pod/default/constraint-conflict   kubectl patch resourceclaimtemplate/constraint-conflict --namespace=default --type=json -p '[{"op":"test","path":"/spec/spec/devices/requests/0/name","value":"gpu"},{"op":"add","path":"/spec/spec/devices/requests/0/exactly/count","value":1}]' --dry-run=client -o yaml | kubectl replace --force -f - && kubectl get pod/constraint-conflict --namespace=default -o yaml | kubectl replace --force -f -
    1       DoesNotFit   pod/default/not-enough-free       no node has 3 available H100-SXM5-80GB devices                                                                                                                  reduce request gpu of template/default/not-enough-free from 3 to 1                                                                                                                           deletes and recreates template/default/not-enough-free: later claims change, too                                      pod/default/not-enough-free       kubectl patch resourceclaimtemplate/not-enough-free --namespace=default --type=json -p '[{"op":"test","path":"/spec/spec/devices/requests/0/name","value":"gpu"},{"op":"add","path":"/spec/spec/devices/requests/0/exactly/count","value":1}]' --dry-run=client -o yaml | kubectl replace --force -f - && kubectl get pod/not-enough-free --namespace=default -o yaml | kubectl replace --force -f -
    1       DoesNotFit   pod/default/old-generation        no node has 2 available A100-SXM4-80GB devices; 3 more are in outdated slice gpu-node-4-old (generation 1, current 2), which kube-scheduler ignores             reduce request gpu of template/default/old-generation from 2 to 1                                                                                                                            deletes and recreates template/default/old-generation: later claims change, too                                       pod/default/old-generation        kubectl patch resourceclaimtemplate/old-generation --namespace=default --type=json -p '[{"op":"test","path":"/spec/spec/devices/requests/0/name","value":"gpu"},{"op":"add","path":"/spec/spec/devices/requests/0/exactly/count","value":1}]' --dry-run=client -o yaml | kubectl replace --force -f - && kubectl get pod/old-generation --namespace=default -o yaml | kubectl replace --force -f -
    1       DoesNotFit   pod/default/tainted               no node has 8 available H100-SXM5-80GB devices                                                                                                                  reduce request gpu of template/default/tainted from 8 to 4                                                                                                                                   deletes and recreates template/default/tainted: later claims change, too                                              pod/default/tainted               kubectl patch resourceclaimtemplate/tainted --namespace=default --type=json -p '[{"op":"test","path":"/spec/spec/devices/requests/0/name","value":"gpu"},{"op":"add","path":"/spec/spec/devices/requests/0/exactly/count","value":4}]' --dry-run=client -o yaml | kubectl replace --force -f - && kubectl get pod/tainted --namespace=default -o yaml | kubectl replace --force -f -
    1       DoesNotFit   pod/default/too-many              no node has 9 available devices of class gpu.example.com; 3 more are in outdated slice gpu-node-4-old (generation 1, current 2), which kube-scheduler ignores   reduce request gpu of template/default/too-many from 9 to 1                                                                                                                                  deletes and recreates template/default/too-many: later claims change, too                                             pod/default/too-many              kubectl patch resourceclaimtemplate/too-many --namespace=default --type=json -p '[{"op":"test","path":"/spec/spec/devices/requests/0/name","value":"gpu"},{"op":"add","path":"/spec/spec/devices/requests/0/exactly/count","value":1}]' --dry-run=client -o yaml | kubectl replace --force -f - && kubectl get pod/too-many --namespace=default -o yaml | kubectl replace --force -f -
    1       DoesNotFit   pod/default/wrong-node            claim/default/on-node-1 is allocated on node/gpu-node-1, which the pod's node selector or affinity excludes                                                     remove node selector kubernetes.io/hostname from pod/default/wrong-node                                                                                                                      deletes and recreates pod/default/wrong-node                                                                          pod/default/wrong-node            kubectl patch pod/wrong-node --namespace=default --type=json -p '[{"op":"test","path":"/spec/nodeSelector/kubernetes.io~1hostname","value":"gpu-node-2"},{"op":"remove","path":"/spec/nodeSelector/kubernetes.io~1hostname"}]' --dry-run=client -o yaml | kubectl replace --force -f -
    1       DoesNotFit   pod/default/two-requests          requests a and b both select index 6, and no node has two such devices                                                                                          remove `device.attributes['gpu.example.com'].index == 6` from request a of template/default/two-requests; delete pod/default/fills-node-1, which uses claim/default/fills-node-1-gpu-5c9lh   deletes and recreates template/default/two-requests: later claims change, too; no controller recreates it             pod/default/two-requests          kubectl patch resourceclaimtemplate/two-requests --namespace=default --type=json -p '[{"op":"test","path":"/spec/spec/devices/requests/0/name","value":"a"},{"op":"test","path":"/spec/spec/devices/requests/0/exactly/selectors/0/cel/expression","value":"device.attributes['\''gpu.example.com'\''].index == 6"},{"op":"remove","path":"/spec/spec/devices/requests/0/exactly/selectors/0"}]' --dry-run=client -o yaml | kubectl replace --force -f - && kubectl get pod/two-requests --namespace=default -o yaml | kubectl replace --force -f - && kubectl delete pod/fills-node-1 --namespace=default
    1       Error        pod/default/all-incomplete-pool   request gpu asks for all devices, but resource pool gpu.example.com/gpu-node-3 is currently being updated                                                       ask the driver's owner to publish all slices of pool/gpu.example.com/gpu-node-3                                                                                                              ask the owner of driver gpu.example.com to check the logs of its pods; a restart of the driver republishes the pool   pod/default/all-incomplete-pool   <none>
    1       Waits        pod/default/missing-claim         could not find ResourceClaim "default/nowhere"                                                                                                                  create claim/default/nowhere                                                                                                                                                                 ask the owner of the pod what the claim should request                                                                pod/default/missing-claim         <none>
    1       DoesNotFit   pod/default/missing-class         request gpu: device class tpu.example.com does not exist                                                                                                        create deviceclass/tpu.example.com                                                                                                                                                           ask an administrator for it (usually installed with the driver)                                                       pod/default/missing-class         <none>
    1       Waits        pod/default/missing-template      resourceclaimtemplate/default/no not found; pod/default/missing-template needs it for its claims                                                                create resourceclaimtemplate/default/no                                                                                                                                                      ask the owner of the pod what its claims should request                                                               pod/default/missing-template      <none>
    More: kubectl dra explain pod/cel-error --namespace=default --from=./good.yaml --now=2026-11-21T14:00:00Z

    Cluster: whole
    ok 1 claim without a pod fits

    COUNT   VERDICT   OBJECTS               CAUSE                  FIX      NOTE     FIX OF   COMMAND
    1       Fits      claim/default/spare   fits on 3 of 3 nodes   <none>   <none>   <none>   <none>

    All clusters
    CLUSTER   RESULT
    broken    not read: `./broken.json` is not valid JSON at line 1: the text ends in the middle of `items`, in or after item 0
    empty     not read: `./empty.json` contains no objects
    good      13 pods are pending: 13 causes
    whole     1 claim without a pod fits

    ----- stderr -----
    "#);
    dra_snapshot!(fleet(&["check", "--only", "DRA022,DRA030", "--sort-by", "OBJECT"]), @"
    exit_code: 1
    ----- stdout -----
    Cluster: good
    SEVERITY   CODE     CERTAINTY   OBJECT                            MESSAGE
    Warning    DRA030   Confirmed   pool/gpu.example.com/gpu-node-3   publishes 1 of 2 slices (generation 1): the driver is still publishing, or stopped halfway. kube-scheduler allocates none of its devices, and requests for all devices fail
    Error      DRA022   Possible    pod/default/missing-claim         references claim/default/nowhere, which does not exist: it stays pending
    Error      DRA022   Possible    pod/default/missing-template      references template/default/no, which does not exist: it stays pending

    Cluster: whole

    All clusters
    CLUSTER   RESULT
    broken    not read: `./broken.json` is not valid JSON at line 1: the text ends in the middle of `items`, in or after item 0
    empty     not read: `./empty.json` contains no objects
    good      2 errors, 1 warning in all namespaces
    whole     No findings in all namespaces

    ----- stderr -----
    warning: `./README.md` is not read: it is not a .yaml, .yml, .json, .ndjson or .jsonl file (plain, .gz or .zst)
    warning: broken: not read: `./broken.json` is not valid JSON at line 1: the text ends in the middle of `items`, in or after item 0
    warning: empty: not read: `./empty.json` contains no objects
    warning: good: ./good.yaml does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    warning: whole: ./whole does not record a Kubernetes version; assuming 1.37.1, the version of its newest kubelet (--kubernetes-version)
    ");
    let run = fleet(&["check", "-o", "json"]).run().exits(1);
    let report = assert_valid(&run.stdout);
    let clusters = report["clusters"].as_array().expect("clusters");
    let names: Vec<&str> = clusters
        .iter()
        .map(|cluster| cluster["cluster"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["broken", "empty", "good", "whole"]);
    for cluster in clusters {
        let is_read = ["good", "whole"].contains(&cluster["cluster"].as_str().expect("a name"));
        assert_eq!(cluster["report"].is_object(), is_read, "{cluster}");
        assert_eq!(cluster["error"].is_string(), !is_read, "{cluster}");
    }
    // Without a problem elsewhere it is missing data.
    std::fs::remove_file(directory.path().join("good.yaml")).expect("a file");
    fleet(&["check"]).run().exits(4);
    fleet(&["status"]).run().exits(4);
    for broken in ["broken.json", "empty.json"] {
        std::fs::remove_file(directory.path().join(broken)).expect("a file");
    }
    fleet(&["check"]).run().exits(0);
    std::fs::remove_dir_all(directory.path().join("whole")).expect("a directory");
    let run = fleet(&["status"]).run().exits(3);
    assert!(run.stderr.contains("contains no .yaml"), "{}", run.stderr);
}

/// A kubeconfig with a context for each of the servers.
fn kubeconfig(directory: &Path, servers: &[(&str, String)]) -> PathBuf {
    let clusters = servers
        .iter()
        .map(|(name, server)| json!({"name": name, "cluster": {"server": server}}));
    let contexts = servers
        .iter()
        .map(|(name, _)| json!({"name": name, "context": {"cluster": name, "user": "u"}}));
    let config = json!({"apiVersion": "v1", "kind": "Config", "users": [{"name": "u", "user": {}}],
        "clusters": clusters.collect::<Vec<_>>(), "contexts": contexts.collect::<Vec<_>>()});
    let path = directory.join("config");
    std::fs::write(&path, config.to_string()).expect("a file");
    path
}

/// Objects of a recorded cluster.
fn objects(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(format!("{SNAPSHOTS}/{name}.yaml")).expect("a recorded cluster");
    let list: Value = serde_saphyr::from_str(&text).expect("YAML");
    let objects = list["items"].as_array().expect("items").iter();
    objects
        .filter(|object| object["kind"] != "SnapshotInfo")
        .cloned()
        .collect()
}

fn address(server: &Fake) -> String {
    let [_, flag] = server.flags();
    flag.trim_start_matches("--server=").to_owned()
}

/// The address of a port where nothing listens.
fn closed() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    format!("http://{}", listener.local_addr().expect("an address"))
}

#[test]
fn contexts_are_read_each_on_its_own() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let pending = Fake::with_lists(objects("unschedulable-pods"), |_, _, _| 200);
    let bound = Fake::with_lists(objects("bound-pods"), |_, _, _| 200);
    let config = kubeconfig(
        directory.path(),
        &[
            ("pending", address(&pending)),
            ("down", closed()),
            ("bound", address(&bound)),
        ],
    );
    let ask = |args: &[&str]| {
        let kubeconfig = ["--kubeconfig".as_ref(), config.as_os_str()];
        dra(&[]).args(kubeconfig).args(args).run()
    };
    let contexts = [
        "--context",
        "pending",
        "--context",
        "down",
        "--context=bound",
        "--context=gone",
    ];
    let status = ask(&[&["status", "-o", "ndjson"], &contexts[..]].concat()).exits(4);
    let status = lines(&status);
    assert_eq!(status.len(), 4);
    for (line, name) in status.iter().zip(["pending", "down", "bound", "gone"]) {
        assert_eq!(line["cluster"], name);
        let is_read = ["pending", "bound"].contains(&name);
        assert_eq!(line["report"]["kind"] == "ClusterStatus", is_read, "{line}");
    }
    assert_eq!(status[0]["report"]["source"]["context"], "pending");
    let error = |line: &Value| line["error"].as_str().expect("a reason").to_owned();
    assert!(error(&status[1]).contains("Connection refused"), "{}", status[1]);
    assert!(
        error(&status[3]).contains("context `gone` does not exist"),
        "{}",
        status[3]
    );

    let run = ask(&[&["explain", "-A"], &contexts[..]].concat()).exits(1);
    let (_, block) = run.stdout.split_once("Cluster: pending\n").expect("a block");
    let (block, rest) = block.split_once("\nCluster: bound\n").expect("a block");
    let alone = ask(&["explain", "-A", "--context=pending"]).exits(1);
    assert_eq!(block, alone.stdout);
    assert!(block.contains("--context=pending"), "{block}");
    assert!(
        !block.contains("--context=bound") && !rest.contains("--context=pending"),
        "{}",
        run.stdout
    );
    for reason in ["down: not read: ", "gone: not read: "] {
        assert!(run.stderr.contains(reason), "{}", run.stderr);
    }

    // A context that is given twice is one, which every command reads; a line of JSON names it, too.
    let once = ask(&["claims", "-A", "--context", "bound", "--context", "bound"]).exits(0);
    assert_eq!(
        once.stdout,
        ask(&["claims", "-A", "--context", "bound"]).exits(0).stdout
    );
    let line = lines(&ask(&["status", "-o", "ndjson", "--context", "bound"]).exits(0));
    assert_eq!(line[0]["cluster"], "bound");
    assert_eq!(line[0]["report"]["drivers"], status[2]["report"]["drivers"]);
}

#[test]
fn a_silent_cluster_takes_its_own_time_only() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    // Connections are accepted by the kernel, and nobody answers.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let bound = Fake::with_lists(objects("bound-pods"), |_, _, _| 200);
    let silent = (
        "silent",
        format!("http://{}", silent.local_addr().expect("an address")),
        silent,
    );
    let servers = [(silent.0, silent.1.clone()), ("bound", address(&bound))];
    let config = kubeconfig(directory.path(), &servers);
    let run = dra(&["status", "-o", "ndjson", "--parallel=1", "--timeout=20s"])
        .args(["--context=silent", "--context=bound"])
        .args(["--kubeconfig".as_ref(), config.as_os_str()])
        .run()
        .exits(4);
    let lines = lines(&run);
    let error = lines[0]["error"].as_str().expect("a reason");
    assert!(error.contains("timed out after 20 s"), "{error}");
    assert_eq!(lines[1]["report"]["kind"], "ClusterStatus");
}

/// A server whose every list is reported to `listed`, and its name in the kubeconfig.
fn reporting(
    name: &'static str,
    listed: impl Fn(&'static str, &str) + Send + Sync + 'static,
) -> (&'static str, Fake) {
    let server = Fake::with_lists(objects("bound-pods"), move |resource, _, _| {
        listed(name, resource);
        200
    });
    (name, server)
}

#[test]
fn clusters_are_read_side_by_side_up_to_the_limit() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let status = |servers: &[(&'static str, Fake)], parallel: &str| {
        let addresses: Vec<_> = servers
            .iter()
            .map(|(name, server)| (*name, address(server)))
            .collect();
        let config = kubeconfig(directory.path(), &addresses);
        let contexts = servers.iter().map(|(name, _)| format!("--context={name}"));
        dra(&["status", "--parallel", parallel])
            .args(contexts)
            .args(["--kubeconfig".as_ref(), config.as_os_str()])
            .run()
            .exits(0)
    };
    // Each answers about nodes once the other is asked, too.
    let barrier = Arc::new(Barrier::new(2));
    let meeting = |name| {
        let barrier = Arc::clone(&barrier);
        reporting(name, move |_, resource| {
            if resource == "nodes" {
                barrier.wait();
            }
        })
    };
    status(&[meeting("a"), meeting("b")], "2");
    // One after the other.
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noting = |name| {
        let asked = Arc::clone(&asked);
        reporting(name, move |name, _| asked.lock().expect("no panic").push(name))
    };
    status(&[noting("a"), noting("b"), noting("c")], "1");
    let mut asked = asked.lock().expect("no panic").clone();
    assert!(asked.len() > 10, "{asked:?}");
    asked.dedup();
    assert_eq!(asked, ["a", "b", "c"]);
}

#[test]
fn what_is_about_one_cluster_refuses_several() {
    for args in [
        &["claims", "--context", "a", "--context", "b"][..],
        &["devices", "--fleet", SNAPSHOTS],
        &["snapshot", "--context", "a", "--context", "b"],
        &["convert", "plan", "--fleet", SNAPSHOTS],
        &["run", "--fleet", SNAPSHOTS],
        &["diff", "x", "--fleet", SNAPSHOTS],
        &["version", "--fleet", SNAPSHOTS],
        &["explain", "pod/a", "--fleet", SNAPSHOTS],
        &["explain", "-f", "a.yaml", "--context", "a", "--context", "b"],
        &["explain", "pool/a/b", "--fleet", SNAPSHOTS],
    ] {
        let run = dra(args).run().exits(2);
        assert!(
            run.stderr.contains("reads one cluster"),
            "{args:?}: {}",
            run.stderr
        );
        assert!(
            run.stderr
                .contains("hint: choose one with `--context NAME` or `--from FILE`"),
            "{args:?}: {}",
            run.stderr
        );
    }
    for (args, error) in [
        (
            &["check", "-o", "name"][..],
            "`check` does not support `-o name` for several clusters",
        ),
        (
            &["check", "-o", "sarif"],
            "does not support `-o sarif` for several clusters",
        ),
        (
            &["check", "-o", "junit"],
            "does not support `-o junit` for several clusters",
        ),
        (
            &["check", "-o", "github"],
            "does not support `-o github` for several clusters",
        ),
        (&["status", "-o", "name"], "`status` does not support `-o name`"),
        (
            &["status", "--from", "a"],
            "`--from` cannot be used with `--fleet`",
        ),
        (
            &["status", "--context", "a"],
            "`--context` cannot be used with `--fleet`",
        ),
        (
            &["check", "--only", "DRA001", "--skip", "DRA001"],
            "exclude every check",
        ),
        (&["status", "--parallel", "0"], "invalid value `0`"),
    ] {
        let run = dra(args).args(["--fleet", SNAPSHOTS]).run().exits(2);
        assert!(run.stderr.contains(error), "{args:?}: {}", run.stderr);
        assert_eq!(
            run.stderr.matches("error: ").count(),
            1,
            "{args:?}: {}",
            run.stderr
        );
    }
    for (args, error) in [
        (
            &["status", "--parallel", "2"][..],
            "`--parallel` applies to several clusters",
        ),
        (
            &["claims", "-o", "ndjson"],
            "`claims` does not support `-o ndjson`",
        ),
        (
            &[
                "status",
                "--context",
                "a",
                "--context",
                "b",
                "--server",
                "http://127.0.0.1:1",
            ],
            "`--cluster` and `--server` cannot be used with several contexts",
        ),
    ] {
        let run = dra(args).run().exits(2);
        assert!(run.stderr.contains(error), "{args:?}: {}", run.stderr);
    }
    let run = dra(&["status", "--fleet", "tests/data/none"]).run().exits(3);
    assert!(run.stderr.contains("tests/data/none"), "{}", run.stderr);
}
