//! Manifests that are judged, and files of stored objects, as the API server would take them.

use serde_json::Value;

use crate::support::command::{dra, dra_snapshot};
use crate::support::process::{Invocation, Run};

const CLUSTER: &str = "tests/data/snapshots/bound-pods.yaml";

/// A command on a manifest, which is read from standard input, and a recorded cluster.
fn with(command: &[&str], manifest: &str) -> Invocation {
    let rest = ["-f", "-", "--from", CLUSTER, "--kubernetes-version", "1.37", "-q"];
    dra(&[command, &rest].concat()).stdin(manifest.as_bytes().to_vec())
}

fn fit(manifest: &str) -> Invocation {
    with(&["simulate", "allocation"], manifest)
}

/// A command on a file of stored objects.
fn on(command: &[&str], objects: &str) -> Invocation {
    let rest = ["--from", "-", "--complete", "--kubernetes-version", "1.37"];
    dra(&[command, &rest].concat()).stdin(objects.as_bytes().to_vec())
}

const WRONG: &str = r"
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: Big, namespace: team}
spec:
  devices:
    requests:
    - {name: gpu, exactly: {deviceClassName: gpu.example.com, count: -1, selectors: [{cel: {expression: device.nonsense}}]}}
    - {name: gpu, exactly: {}}
    constraints: [{requests: [nic], matchAttribute: model}]
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  resourceClaims: [{name: a, resourceClaimName: one, resourceClaimTemplateName: two}]
  containers: [{name: main, resources: {claims: [{name: b}]}}]
";

#[test]
fn what_the_api_server_would_refuse_is_refused_with_everything_that_is_wrong() {
    dra_snapshot!(fit(WRONG), @r#"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: the API server would reject the manifest
      stdin:2: `ResourceClaim/team/Big`: metadata.name: Invalid value: "Big": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')
      stdin:2: `ResourceClaim/team/Big`: spec.devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: "device.nonsense": compilation failed: ERROR: <input>:1:7: undefined field 'nonsense'
       | device.nonsense
       | ......^
      stdin:2: `ResourceClaim/team/Big`: spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero
      stdin:2: `ResourceClaim/team/Big`: spec.devices.requests[1].exactly.deviceClassName: Required value
      stdin:2: `ResourceClaim/team/Big`: spec.devices.requests[1]: Duplicate value: "gpu"
      stdin:2: `ResourceClaim/team/Big`: spec.devices.constraints[0].requests[0]: Invalid value: "nic": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'
      stdin:2: `ResourceClaim/team/Big`: spec.devices.constraints[0].matchAttribute: Invalid value: "model": a fully qualified name must be a domain and a name separated by a slash
      stdin:12: `Pod/p`: spec.resourceClaims[0]: Invalid value: "a": at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified
      stdin:12: `Pod/p`: spec.containers[0].resources.claims[0]: Not found: "b": must be one of the names in pod.spec.resourceClaims: a

    hint: fix the manifest; `kubectl apply --dry-run=server -f FILE` asks the API server
    "#);
    dra_snapshot!(with(&["explain"], WRONG), @r#"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: the API server would reject the manifest
      stdin:2: `ResourceClaim/team/Big`: metadata.name: Invalid value: "Big": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')
      stdin:2: `ResourceClaim/team/Big`: spec.devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: "device.nonsense": compilation failed: ERROR: <input>:1:7: undefined field 'nonsense'
       | device.nonsense
       | ......^
      stdin:2: `ResourceClaim/team/Big`: spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero
      stdin:2: `ResourceClaim/team/Big`: spec.devices.requests[1].exactly.deviceClassName: Required value
      stdin:2: `ResourceClaim/team/Big`: spec.devices.requests[1]: Duplicate value: "gpu"
      stdin:2: `ResourceClaim/team/Big`: spec.devices.constraints[0].requests[0]: Invalid value: "nic": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'
      stdin:2: `ResourceClaim/team/Big`: spec.devices.constraints[0].matchAttribute: Invalid value: "model": a fully qualified name must be a domain and a name separated by a slash
      stdin:12: `Pod/p`: spec.resourceClaims[0]: Invalid value: "a": at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified
      stdin:12: `Pod/p`: spec.containers[0].resources.claims[0]: Not found: "b": must be one of the names in pod.spec.resourceClaims: a

    hint: fix the manifest; `kubectl apply --dry-run=server -f FILE` asks the API server
    "#);
}

#[test]
fn fields_that_the_version_has_not_are_named() {
    dra_snapshot!(fit("{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: a}, spec: {devices: {requests: \
        [{name: r, deviceClassName: gpu, cuont: 2}]}}}"), @r#"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: the API server would reject the manifest
      stdin:1: `ResourceClaim/a`: unknown field "spec.devices.requests[0].cuont"
      stdin:1: `ResourceClaim/a`: unknown field "spec.devices.requests[0].deviceClassName" (a field of v1beta1; did you mean that version?)

    hint: fix the manifest; `kubectl apply --dry-run=server -f FILE` asks the API server
    "#);
    dra_snapshot!(fit("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {resourceClaims: \
        [{name: r, source: {resourceClaimTemplateName: x}}], containers: []}}"), @r#"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: the API server would reject the manifest
      stdin:1: `Pod/a`: unknown field "spec.resourceClaims[0].source": since Kubernetes 1.31 use `resourceClaimName` or `resourceClaimTemplateName` directly, without `source`

    hint: fix the manifest; `kubectl apply --dry-run=server -f FILE` asks the API server
    "#);
}

#[test]
fn fields_that_hold_something_else_are_named() {
    dra_snapshot!(fit("{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: a}, spec: {devices: {requests: \
        [{name: r, exactly: {deviceClassName: 5, count: two, capacity: {requests: {memory: 10GB}}}}]}}}"), @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: the API server would reject the manifest
      stdin:1: `ResourceClaim/a`: spec.devices.requests[0].exactly.capacity.requests[memory]: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
      stdin:1: `ResourceClaim/a`: spec.devices.requests[0].exactly.count: must be an integer, not a string
      stdin:1: `ResourceClaim/a`: spec.devices.requests[0].exactly.deviceClassName: must be a string, not a number

    hint: fix the manifest; `kubectl apply --dry-run=server -f FILE` asks the API server
    ");
    let slice = r#"{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "a"}, "spec": {"driver": "d.example.com",
        "nodeName": "n", "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "x", "capacity": {"memory": {"value": "10Gb"}, "slots": 4}}]}}"#;
    dra_snapshot!(on(&["devices"], slice), @"
    exit_code: 0
    ----- stdout -----

    ----- stderr -----
    warning: stdin:3: `ResourceSlice/a`: spec.devices[0].capacity[memory].value: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'; spec.devices[0].capacity[slots]: must be an object, not a number
    warning: only devices in use are listed: resourceslices could not be read: 1 malformed object
    No devices found; some objects could not be read
    ");
}

#[test]
fn stored_objects_with_unknown_fields_are_read_with_a_warning() {
    let slices = r"
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: a}
spec:
  driver: d.example.com
  nodeName: node
  pool: {name: node, generation: 1, resourceSliceCount: 1}
  devices: [{name: x, basic: {attributes: {}}}, {name: w, basic: {attributes: {}}}, {name: z, colour: red}]
";
    dra_snapshot!(on(&["devices"], slices), @r#"
    exit_code: 0
    ----- stdout -----
    NODE   DEVICE                 STATE   CLASSES   CLAIMS   PODS     TAINTS   HEALTH
    node   d.example.com/node/x   Free    <none>    <none>   <none>   <none>   <none>
    node   d.example.com/node/w   Free    <none>    <none>   <none>   <none>   <none>
    node   d.example.com/node/z   Free    <none>    <none>   <none>   <none>   <none>

    ----- stderr -----
    warning: stdin:2: `ResourceSlice/a`: ignoring unknown field "spec.devices[0].basic" (a field of v1beta1; did you mean that version?) (1 more like it)
    warning: stdin:2: `ResourceSlice/a`: ignoring unknown field "spec.devices[2].colour"
    "#);
}

#[test]
fn a_slice_without_driver_or_pool_is_no_object_of_any_cluster() {
    let slice = |spec: &str| {
        format!(
            "{{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {{name: a}}, spec: {spec}}}"
        )
    };
    dra_snapshot!(on(&["devices"], &slice("{pool: {name: node}, nodeName: node, devices: [{name: x}]}")), @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: the files contain objects that no API server returns
      stdin:1: `ResourceSlice/a`: spec.driver: Required value: no API server accepts a slice without driver and pool

    hint: fix the object in the file, or remove it
    ");
    dra_snapshot!(on(&["check"], &slice("{driver: d.example.com, nodeName: node}")), @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: the files contain objects that no API server returns
      stdin:1: `ResourceSlice/a`: spec.pool.name: Required value: no API server accepts a slice without driver and pool

    hint: fix the object in the file, or remove it
    ");
}

/// A template of pods that want a GPU.
const TEMPLATE: &str = "{metadata: {labels: {a: b}}, spec: {resourceClaims: [{name: gpu, resourceClaimTemplateName: three}], \
    containers: [{name: main, resources: {claims: [{name: gpu}]}}]}}";

const THREE: &str = "
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: three}, spec: {spec: {devices: {requests:
  [{name: gpu, exactly: {deviceClassName: gpu.example.com, count: 3}}]}}}}
";

/// The pods that are judged of a workload, and their results.
fn judged(head: &str, spec: &str) -> Vec<String> {
    let spec = spec.replace("TEMPLATE", TEMPLATE);
    let run: Run = with(
        &["simulate", "allocation", "-o", "json"],
        &format!("{{{head}, spec: {spec}}}{THREE}"),
    )
    .run();
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).expect("a report");
    if let Some(placements) = report["placements"].as_array() {
        return placements
            .iter()
            .map(|pod| {
                let text = |field: &str| pod[field].as_str().unwrap_or("-").to_owned();
                format!("{} {} {}", text("name"), text("result"), text("node"))
            })
            .collect();
    }
    vec![format!(
        "{} {}",
        report["targets"][0]["name"].as_str().unwrap_or("-"),
        report["result"]
    )]
}

#[test]
fn workloads_of_every_kind_are_judged_by_their_pods() {
    let one = |name: &str| vec![format!("{name} \"Fits\"")];
    assert_eq!(
        judged(
            "apiVersion: batch/v1, kind: Job, metadata: {generateName: sweep-}",
            "{template: TEMPLATE}"
        ),
        one("sweep-xxxxx-0")
    );
    assert_eq!(
        judged(
            "apiVersion: batch/v1, kind: CronJob, metadata: {name: nightly}",
            "{schedule: '@daily', jobTemplate: {spec: {template: TEMPLATE}}}"
        ),
        one("nightly-0")
    );
    assert_eq!(
        judged(
            "apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: mpi}",
            "{mpiReplicaSpecs: {Launcher: {template: {spec: {containers: []}}}, Worker: {replicas: 2, template: TEMPLATE}}}"
        ),
        [
            "mpi-launcher-0 Fits gpu-node-1",
            "mpi-worker-0 Fits gpu-node-2",
            "mpi-worker-1 Fits gpu-node-3"
        ]
    );
    assert_eq!(
        judged(
            "apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: lws}",
            "{replicas: 1, leaderWorkerTemplate: {size: 3, workerTemplate: TEMPLATE}}"
        ),
        [
            "lws-0 Fits gpu-node-2",
            "lws-1 Fits gpu-node-3",
            "lws-2 DoesNotFit -"
        ]
    );
    assert_eq!(
        judged(
            "apiVersion: apps/v1, kind: DaemonSet, metadata: {name: ds}",
            "{template: TEMPLATE}"
        ),
        [
            "ds-gpu-node-1 DoesNotFit -",
            "ds-gpu-node-2 Fits gpu-node-2",
            "ds-gpu-node-3 Fits gpu-node-3"
        ]
    );
}

#[test]
fn the_first_replica_that_does_not_fit_is_explained() {
    let workload = |replicas: u32| {
        format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web}}, spec: {{replicas: {replicas}, template: {TEMPLATE}}}}}{THREE}"
        )
    };
    let explained = |replicas: u32| {
        let run = with(&["explain", "-o", "json"], &workload(replicas)).run();
        let code = run.code;
        let report: Value = serde_json::from_str(&run.stdout).expect("a report");
        let notes = report["notes"].as_array().cloned().unwrap_or_default();
        let note = notes
            .iter()
            .filter_map(|note| note.as_str())
            .find(|note| note.starts_with("pod "));
        format!(
            "{:?} {} {}: {}",
            code,
            report["target"]["name"],
            report["verdict"],
            note.unwrap_or_default()
        )
    };
    insta::assert_snapshot!(explained(5), @r#"Some(1) "web-2" "DoesNotFit": pod 3 of 5; pods 1–2 fit, each assumed to be on its first fitting node by name"#);
    insta::assert_snapshot!(explained(2), @r#"Some(0) "web-1" "Fits": pod 2 of 2; pod 1 fits, assumed to be on its first fitting node by name"#);
}

#[test]
fn pods_beyond_all_bounds_are_refused() {
    dra_snapshot!(fit("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1000000, template: \
        {spec: {containers: []}}}}"), @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: stdin:1: `Deployment/web`: spec.template: cannot simulate 1000000 pods in one run

    hint: reduce the number of pods in the manifest; `simulate allocation --max` reports how many copies of a pod fit
    ");
    dra_snapshot!(fit("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: -1, template: \
        {spec: {containers: [], resourceClaims: [{name: x}]}}}}"), @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: the API server would reject the manifest
      stdin:1: `Deployment/web`: spec.replicas: Invalid value: -1: must be greater than or equal to 0

    hint: fix the manifest; `kubectl apply --dry-run=server -f FILE` asks the API server
    ");
}

#[test]
fn a_malformed_workload_beside_a_good_pod_is_refused() {
    let good = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: []}}";
    let said = |workload: &str| {
        let run = fit(&format!("{good}\n---\n{workload}")).run();
        assert_eq!(run.stdout, "", "{workload}");
        let problem = run.stderr.lines().nth(1).unwrap_or_default();
        format!("{:?} {}\n", run.code, problem.trim())
    };
    let workloads = [
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: w}, spec: {replicas: 2, template: []}}",
        "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: w}, spec: []}",
        "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: w}}",
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: w}, spec: {template: {spec: [], metadata: {}}}}",
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: w}, spec: {template: {spec: {containers: []}, metadata: []}}}",
        "{apiVersion: batch/v1, kind: CronJob, metadata: {name: w}, spec: {jobTemplate: {spec: null}}}",
        "{apiVersion: batch/v1, kind: Job, metadata: {name: w}, spec: {parallelism: '100', template: {spec: {containers: []}}}}",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: w}, spec: {replicas: [100], template: {spec: {containers: []}}}}",
        "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: w}, spec: {replicatedJobs: [{name: a, replicas: x, \
         template: {spec: {template: {spec: {containers: []}}}}}]}}",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: w, namespace: 5}, spec: {template: {spec: {containers: []}}}}",
        "{apiVersion: v1, kind: Pod, metadata: {name: w, namespace: [a]}, spec: {containers: []}}",
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: []}}",
        "{apiVersion: batch/v1, kind: Job, metadata: {name: w}, spec: {template: {spec: {containers: []}}}}\n---\n\
         {apiVersion: batch/v1, kind: Job, metadata: {name: w}, spec: {template: {spec: {containers: []}}}}",
    ];
    insta::assert_snapshot!(workloads.map(said).concat(), @"
    Some(2) stdin:3: `Deployment/w`: spec.template: must be an object, not a list
    Some(2) stdin:3: `StatefulSet/w`: spec: must be an object, not a list
    Some(2) stdin:3: `DaemonSet/w`: spec: Required value
    Some(2) stdin:3: `ReplicaSet/w`: spec.template.spec: must be an object, not a list
    Some(2) stdin:3: `ReplicaSet/w`: spec.template.metadata: must be an object, not a list
    Some(2) stdin:3: `CronJob/w`: spec.jobTemplate.spec: Required value
    Some(2) stdin:3: `Job/w`: spec.parallelism: must be an integer, not a string
    Some(2) stdin:3: `Deployment/w`: spec.replicas: must be an integer, not a list
    Some(2) stdin:3: `JobSet/w`: spec.replicatedJobs[0].replicas: must be an integer, not a string
    Some(2) stdin:3: metadata.namespace: must be a string
    Some(2) stdin:3: metadata.namespace: must be a string, not a list
    Some(2) stdin:3: `Pod/p`: appears more than once
    Some(2) stdin:5: `Job/w`: appears more than once
    ");
}

/// The API server gives each a name of its own.
#[test]
fn an_object_with_a_generated_name_replaces_none() {
    let pod = |metadata: &str| {
        format!("{{apiVersion: v1, kind: Pod, metadata: {metadata}, spec: {{containers: []}}}}")
    };
    let generated = pod("{generateName: web-}");
    let run = fit(&format!(
        "{generated}\n---\n{generated}\n---\n{}",
        pod("{name: web-0}")
    ))
    .run();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for name in [
        "pod/default/web-xxxxx",
        "pod/default/web-xxxxz",
        "pod/default/web-0",
    ] {
        assert!(run.stdout.contains(name), "{}", run.stdout);
    }
    assert!(!run.stderr.contains("as if replaced"), "{}", run.stderr);
}

#[test]
fn yaml_that_is_none_is_located() {
    let said = |(command, text): (&str, &str)| {
        let run = with(&command.split(' ').collect::<Vec<_>>(), text).run();
        assert_eq!(run.stdout, "", "{text}");
        let lines: Vec<&str> = run.stderr.lines().take(2).map(str::trim).collect();
        format!("{:?} {}\n", run.code, lines.join(" | "))
    };
    let good = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: []}\n";
    let texts = [
        "apiVersion: v1\nkind: Pod\nmetadata:\n\tname: x\n",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x, name: y}\n",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: *nothing}\n",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: {{ .Values.name }}}\n",
        "{{- if .Values.x }}\napiVersion: v1\nkind: Pod\n{{- end }}\n",
        "apiVersion: v1\nkind: Pod\nspec: {priority: .nan}\n",
        &format!("kind: {}", "[".repeat(300)),
        &format!("{good}---\nkind: [\n"),
        &format!("{good}---\nkind: List\nitems:\n- [\n"),
        "text\n",
        "# nothing\n",
    ];
    let commands = ["explain", "simulate allocation"].into_iter();
    let all = commands.flat_map(|command| texts.map(|text| said((command, text))));
    insta::assert_snapshot!(all.collect::<String>(), @r#"
    Some(2) error: the API server would reject the manifest | stdin:1: line 4, column 2: tabs disallowed within this context (block indentation)
    Some(2) error: the API server would reject the manifest | stdin:1: line 3: key `name` appears twice
    Some(2) error: the API server would reject the manifest | stdin:1: line 3: alias `*nothing` has no anchor
    Some(2) error: the API server would reject the manifest | stdin:1: line 3: a key is a mapping or a sequence
    Some(2) error: the API server would reject the manifest | stdin:1: line 1, column 3: "-" is only valid inside a block
    Some(2) error: the API server would reject the manifest | stdin:1: line 3: infinity and not-a-number have no JSON form
    Some(2) error: the API server would reject the manifest | stdin:1: line 1, column 269: recursion limit exceeded
    Some(2) error: the API server would reject the manifest | stdin:6: line 6, column 7: unclosed bracket '['
    Some(3) error: `stdin` is not valid YAML at line 8, column 3: unclosed bracket '[' | 
    Some(2) error: the API server would reject the manifest | stdin:1: not an object
    Some(3) error: `stdin` contains no objects | 
    Some(2) error: the API server would reject the manifest | stdin:1: line 4, column 2: tabs disallowed within this context (block indentation)
    Some(2) error: the API server would reject the manifest | stdin:1: line 3: key `name` appears twice
    Some(2) error: the API server would reject the manifest | stdin:1: line 3: alias `*nothing` has no anchor
    Some(2) error: the API server would reject the manifest | stdin:1: line 3: a key is a mapping or a sequence
    Some(2) error: the API server would reject the manifest | stdin:1: line 1, column 3: "-" is only valid inside a block
    Some(2) error: the API server would reject the manifest | stdin:1: line 3: infinity and not-a-number have no JSON form
    Some(2) error: the API server would reject the manifest | stdin:1: line 1, column 269: recursion limit exceeded
    Some(2) error: the API server would reject the manifest | stdin:6: line 6, column 7: unclosed bracket '['
    Some(3) error: `stdin` is not valid YAML at line 8, column 3: unclosed bracket '[' | 
    Some(2) error: the API server would reject the manifest | stdin:1: not an object
    Some(3) error: `stdin` contains no objects |
    "#);
}

#[test]
fn templates_of_workloads_are_held_to_the_rules_of_pods() {
    dra_snapshot!(fit("{apiVersion: batch/v1, kind: CronJob, metadata: {name: web}, spec: {jobTemplate: {spec: {template: \
        {spec: {containers: [{name: a, resources: {claims: [{name: other}]}}], resourceClaims: [{name: x, claim: z}, {name: X_}]}}}}}}"), @r#"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: the API server would reject the manifest
      stdin:1: `CronJob/web`: unknown field "spec.jobTemplate.spec.template.spec.resourceClaims[0].claim"

    hint: fix the manifest; `kubectl apply --dry-run=server -f FILE` asks the API server
    "#);
    dra_snapshot!(fit("{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {template: \
        {spec: {containers: [{name: a, resources: {claims: [{name: other}]}}], resourceClaims: [{name: x}]}}}}"), @r#"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: the API server would reject the manifest
      stdin:1: `Job/web`: spec.template.spec.resourceClaims[0]: Invalid value: "x": must specify one of: `resourceClaimName`, `resourceClaimTemplateName`
      stdin:1: `Job/web`: spec.template.spec.containers[0].resources.claims[0]: Not found: "other": must be one of the names in pod.spec.resourceClaims: x

    hint: fix the manifest; `kubectl apply --dry-run=server -f FILE` asks the API server
    "#);
}

#[test]
fn admin_access_needs_the_label_of_its_namespace() {
    let claim = "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: a}, spec: {devices: {requests: \
        [{name: r, exactly: {deviceClassName: gpu.example.com, adminAccess: true}}]}}}";
    dra_snapshot!(fit(claim), @r"
    exit_code: 2
    ----- stdout -----

    ----- stderr -----
    error: the API server would reject ResourceClaim/default/a: spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace

    hint: ask an administrator to add that label to the namespace
    ");
    let labelled = "{apiVersion: v1, kind: Namespace, metadata: {name: monitoring, labels: {resource.kubernetes.io/admin-access: 'true'}}}";
    let within = claim.replace("name: a}", "name: a, namespace: monitoring}");
    let run = fit(&format!("{labelled}\n---\n{within}")).run();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
fn manifests_in_older_versions_are_refused_where_the_api_server_refuses_them() {
    let cases = std::fs::read_to_string("tests/data/manifests.jsonl").expect("the cases are there");
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let version = case["object"]["apiVersion"].as_str().expect("an apiVersion");
        if !version.contains("/v1beta") {
            continue;
        }
        let run = fit(&case["object"].to_string()).run();
        let refused: Vec<&str> = run
            .stderr
            .lines()
            .filter_map(|line| line.split_once("`: ")?.1.split(": ").next())
            .collect();
        // The server says of some rules where the field is in the version that was written, of others where it is in later ones.
        let expected: Vec<String> = case["paths"]
            .as_array()
            .expect("paths")
            .iter()
            .filter_map(|path| Some(path.as_str()?.replace(".basic.", ".")))
            .collect();
        assert_eq!(refused, expected, "{}: {}", case["what"], run.stderr);
    }
}
