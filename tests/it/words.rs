//! Command lines as people type them, right, half right and wrong: each works, or is answered with a command that does.

use std::fmt::Write as _;

use crate::documentation::words;
use crate::support::command::dra;

/// Arguments of `kubectl dra`, for the example `gpus`.
const LINES: &[&str] = &[
    "get",
    "get claims",
    "get pods",
    "list",
    "ls",
    "claim",
    "resourceclaims",
    "rc",
    "slices",
    "resourceslices",
    "classes",
    "deviceclasses",
    "po",
    "pods",
    "pod notebook",
    "nodes",
    "node gpu-node-1",
    "top",
    "usage",
    "free",
    "gpus",
    "drain gpu-node-1",
    "why pod/trainer-1",
    "pending",
    "fit claim/spare",
    "evict",
    "taint",
    "health",
    "doctor",
    "lint",
    "validate",
    "downgrade",
    "upgrade",
    "migrate",
    "backup",
    "dump",
    "watch",
    "logs",
    "events",
    "delete",
    "apply",
    "controller",
    "drivers",
    "options",
    "cliams",
    "devicess",
    "explian",
    "claims",
    "claims spare",
    "claims claim/spare",
    "claims four-gpus",
    "claims web-0-gpu-bw6jz",
    "claims -n nope",
    "claims --status pending",
    "claims --states pending",
    "claims --namespaces default",
    "devices --driver nic.example.com --free",
    "devices --drivers nic.example.com",
    "devices --driver nic.exmaple.com",
    "devices gpu-node-1",
    "describe notebook",
    "describe claims",
    "describe pod notebook",
    "describe po/notebook",
    "describe no gpu-node-1",
    "describe rc/x",
    "simulate",
    "simulate drain",
    "simulate allocate",
    "simulate allocation claim spare",
    "simulate fit claim/spare",
    "simulate eviction gpu-node-1",
    "simulate eviction --nodes gpu-node-1",
    "check --to 1.36",
    "check --version 1.36",
    "check --severity error",
    "convert plan --to 1.36",
    "cel device.driver == x",
    "status --all",
    "taints --nodes gpu-node-1",
    "snapshot --file x.yaml",
    "version --short",
    "version --no-color",
    "run --once",
    "explain notebok",
    "explain gpu-node-1",
    "explain device/gpu-0",
    "simulate allocation notebook",
    "claims notebook",
    "check pods",
    "check --downgrade 1.36",
    "check --code DRA014",
    "check --explain reservation",
    "status pods",
    "taints gpu-node-1",
    "snapshot save",
    "describe gpu-node-1/gpu-0",
    "describe slice x",
    "status -o name",
    // Words of kubectl.
    "get claims -A",
    "get claim spare",
    "get rc",
    "get rc -n training",
    "get resourceclaims -A -o wide",
    "get resourceclaim/spare",
    "get claims spare",
    "list claims",
    "ls devices",
    "show devices",
    "get devices --free",
    "get gpus",
    "get slices",
    "get resourceslices",
    "get taints",
    "get devicetaintrules",
    "get deviceclasses",
    "get deviceclass gpu.example.com",
    "get pods -A",
    "get pod notebook -o yaml",
    "get nodes",
    "get events",
    "get all",
    "get podgroups",
    "delete pod notebook",
    "delete claim spare",
    "apply -f pod.yaml",
    "create -f pod.yaml",
    "edit resourceclaim spare",
    "patch resourceclaim spare",
    "label node gpu-node-1 a=b",
    "annotate pod notebook a=b",
    "logs notebook",
    "exec notebook -- ls",
    "cordon gpu-node-2",
    "uncordon gpu-node-2",
    "drain gpu-node-2",
    "drain node/gpu-node-2",
    "drain gpu-node-2 --ignore-daemonsets",
    "drain gpu-node-2 -o json",
    "drain",
    "evict gpu-node-1",
    "taint node gpu-node-1 a=b:NoSchedule",
    "top nodes",
    "rollout restart deployment/x",
    "auth can-i list pods",
    "config get-contexts",
    "api-resources",
    "wait pod notebook",
    "flags",
    "help",
    "help explain",
    // Abbreviations.
    "sim alloc claim/spare",
    "sim evict --node gpu-node-1",
    "sim ev --node gpu-node-2",
    "exp pod/notebook",
    "stat",
    "stat --by owner",
    "des pod notebook",
    "desc claim/spare",
    "dev --free",
    "tai",
    "res -A",
    "cl -A",
    "chk",
    "ch",
    "co",
    "conv plan",
    "conv ver",
    "de pod x",
    "snap",
    "ver",
    "comp bash",
    // Names as they are printed.
    "claims training/trainer-1-extra-zp8bf",
    "claims claim/training/trainer-1-extra-zp8bf",
    "claims resourceclaim/spare",
    "claims resourceclaim.resource.k8s.io/spare",
    "claims resourceclaim/default/spare",
    "claims -A --node node/gpu-node-1",
    "claims -A --device device/gpu.example.com/gpu-node-1/gpu-0",
    "claims -A --pod pod/training/trainer-1",
    "claims -A --driver driver/gpu.example.com",
    "devices node/gpu-node-1",
    "devices no/gpu-node-1 --free",
    "devices device/gpu.example.com/gpu-node-1/gpu-0",
    "devices gpu.example.com/gpu-node-1/gpu-0",
    "devices --node node/gpu-node-1",
    "devices --class class/gpu.example.com",
    "devices --class deviceclass/gpu.example.com",
    "describe claim/training/trainer-1-extra-zp8bf",
    "describe claim training/trainer-1-extra-zp8bf",
    "describe device/gpu.example.com/gpu-node-1/gpu-0",
    "describe pool/gpu.example.com/gpu-node-1",
    "describe node/gpu-node-1",
    "explain pod/training/trainer-1",
    "explain training/trainer-1",
    "explain resourceclaim/training/trainer-1-extra-zp8bf",
    "explain job/training/sweep",
    "explain job/sweep -n training",
    "explain driver/gpu.example.com",
    "explain deployment/default/nope",
    "simulate eviction --node node/gpu-node-1",
    "simulate eviction --driver driver/gpu.example.com",
    "simulate allocation resourceclaim/default/spare",
    "simulate allocation default/spare",
    "reserved training/trainer-1-extra-zp8bf",
    "convert plan claim/default/spare",
    // In any case.
    "claims -A --state Pending",
    "claims -A --state ALLOCATED",
    "claims -A --state Allocated,!Reserved",
    "claims -A --state bound",
    "claims -A -o JSON",
    "claims -A -o Name",
    "claims -A --color NEVER",
    "check --only DRA14",
    "check --only dra014",
    "check --only 14",
    "check --skip DRA10",
    "check --only DRA999",
    "check --explain DRA14",
    "check --explain 14",
    "check --fail-on Error",
    "status --by Owner",
    "devices --map --by CLASS",
    // Commands in the wrong place.
    "check DRA014",
    "check pod/notebook",
    "check claim/spare",
    "check gpu.example.com",
    "check 1.36",
    "check node/gpu-node-1",
    "check notebook",
    "verify",
    "plan",
    "plan --to-version 1.36",
    "restore",
    "rollback",
    "convert rollback",
    "convert undo",
    "downgrade 1.36",
    "upgrade 1.38",
    "allocation claim/spare",
    "eviction --node gpu-node-1",
    "fit claim/spare --node gpu-node-1",
    "fit -f nope.yaml",
    "schedule pod/notebook",
    r#"selector device.driver=="gpu.example.com""#,
    "match true",
    "eval true",
    "map",
    "free --node gpu-node-1",
    "pool gpu-node-1",
    "pools",
    "driver gpu.example.com",
    "class gpu.example.com",
    "pod/notebook",
    "po/notebook",
    "claim/spare",
    "node/gpu-node-1",
    "driver/gpu.example.com",
    "job/sweep",
    "device/gpu-node-1/gpu-0",
    "examples",
    "setup",
    "errors",
    "pending -n training",
    "stuck notebook",
    "devices free",
    "devices tainted",
    "devices map",
    "devices --free free",
    "devices gpu-99",
    "devices gpu-node-1/gpu-99",
    "devices node/gpu-node-9",
    "devices node/gpu-node-1 --node gpu-node-2",
    "describe rc spare",
    "describe devicetaintrule/x",
    "describe rule x",
    "describe job/sweep",
    "describe deployment x",
    "describe resourceclaimtemplate/x",
    "describe pod",
    "describe node",
    "describe",
    "describe pod a b",
    "describe default/notebook",
    "explain claim",
    "explain pod",
    "explain pods",
    "explain a b c",
    "explain pod/",
    "explain pod notebook -A",
    "simulate pod/notebook",
    "simulate node/gpu-node-1",
    "simulate claim/spare",
    "simulate allocation",
    "simulate eviction node/gpu-node-1",
    "simulate eviction gpu-node-1/gpu-0",
    "simulate eviction driver/gpu.example.com",
    "simulate eviction pool/gpu-node-1",
    "status owner",
    "status node",
    "status pod/notebook",
    "status training",
    "taints rule/x",
    "taints node/gpu-node-1",
    "snapshot -o f.json",
    "snapshot -o json",
    "snapshot f.json",
    "snapshot --output-file f.json",
    "version server",
    "run claims",
    // Flags.
    "claims -o jsonpath={.items[0].name}",
    "claims -o custom-columns=NAME:.name",
    "status -o go-template=x",
    "claims -o csv",
    "claims -o xml",
    "check -o name",
    "describe pod notebook -o name",
    "claims --no-headers -o json",
    "claims -f x.yaml",
    "claims --filename x.yaml",
    "claims --all",
    "claims -a",
    "claims --sort NAME",
    "claims --sort-by nope",
    "claims --label a=b",
    "claims --follow",
    "claims -w",
    "devices --nodes gpu-node-1",
    "devices --selector nope==",
    "explain --node gpu-node-1",
    "check --to-version latest",
    "check --to-version 1.20",
    "check --to-version 1.36 --only DRA010",
    "cel",
    "cel nope",
    "cel device.nope",
    "completion tcsh",
    "status --by nope",
    "status --from example:",
    "status --from example:gpu",
    "status --from nope.yaml",
    // What has no value, a wrong one, or lacks something.
    "claims --from",
    "claims -o",
    "claims -o yml",
    "claims -o text",
    "claims -n",
    "claims -v",
    "-version",
    "claims --state free",
    "claims --timeout soon",
    "devices --by pod",
    "devices --map --by team",
    "run --until 10",
    "check --to-version",
    "check --fail-on critical",
    "check --node gpu-node-1",
    "check --driver a --to-version 1.36",
    "check --only DRA060",
    "explain pod/notebook --emit-fix",
    "explain --watch",
    "explain --fix",
    "explain --wide",
    "status --sort-by NAME",
    "completion",
    "claims --verbose",
    "claims --pending",
    "devices --available",
    // Words that stand for something else.
    "evict pod/web-0",
    "get node gpu-node-1",
    "show node gpu-node-1",
    "describe driver/gpu.example.com",
    "describe template/x -n inference",
    "describe job/sweep -n training",
    "check saved.yaml",
    "check driver gpu.example.com",
    "check node gpu-node-1",
    "check all",
    "status gpu-node-1",
    "status saved.yaml",
    "explain svc/foo",
    "explain rule/x",
    "explain pod/a,pod/b",
    "explain pod default/notebook",
    "explain saved.yaml",
    "simulate allocation saved.yaml",
    "claims pod/web-0 -n inference",
    "convert plan 1.36",
    "convert plan --kind jobs --from example:downgrade",
    "convert aply --plan x",
    "taint node gpu-node-1 key=v:NoExecute",
    "simulate taint gpu-node-1",
    "help expalin",
    "watch --from example:gpus",
    "controller --from example:gpus",
    "STATUS",
    "who gpu-0",
    "templates",
    "status --from exmaple:pending",
    "status --from gpus",
    "status --from example",
    "-A claims",
    "-n training claims",
    "--from example:stale claims -A",
];

/// Commands in the hints of `stderr` that can be run as they are: those without a word in capitals to fill in.
fn commands(stderr: &str) -> Vec<Vec<String>> {
    let hints = stderr
        .lines()
        .filter_map(|line| line.strip_prefix("hint: kubectl dra "));
    let without_note = hints.map(|hint| hint.split("   (").next().unwrap_or(hint));
    without_note
        .filter(|hint| {
            let mut words = hint.split([' ', '/', '=']);
            !words.any(|word| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase()))
        })
        .map(words)
        .collect()
}

#[test]
fn every_line_works_or_is_answered_with_a_command_that_does() {
    let mut table = String::new();
    let mut dead_ends = Vec::new();
    for line in LINES {
        let mut args: Vec<&str> = line.split(' ').collect();
        if !line.contains("--from") {
            args.extend(["--from", "example:gpus"]);
        }
        let run = dra(&args).run();
        let code = run.code.expect("an exit code");
        let _ = writeln!(table, "$ kubectl dra {line}");
        if [0, 1, 4].contains(&code) {
            let rows = run.stdout.lines().count();
            let first = run
                .stdout
                .lines()
                .find(|line| !line.is_empty())
                .unwrap_or_default();
            let _ = writeln!(table, "{first}  (and {} more lines)", rows.saturating_sub(1));
        }
        for said in run.stderr.lines().filter(|line| !line.is_empty()) {
            let _ = writeln!(table, "{said}");
        }
        // A caret shows the place in an expression.
        let helps = ["hint: ", "Usage: ", "did you mean ", "[possible values: ", ".^"]
            .iter()
            .any(|help| run.stderr.contains(help));
        if ![0, 1, 4].contains(&code) && !helps {
            dead_ends.push(format!("{line}: {}", run.stderr));
        }
        for flag in ["--server", "--token", "--context", "--cluster", "--user"] {
            assert!(!run.stderr.contains(flag), "{line}: {}", run.stderr);
        }
        for command in commands(&run.stderr) {
            // It need not find a cluster, but it must be understood.
            let mut args: Vec<&str> = command.iter().map(String::as_str).collect();
            if !args.iter().any(|arg| arg.starts_with("--from")) {
                args.extend(["--kubeconfig", "/nonexistent"]);
            }
            // A file does not change.
            if args.contains(&"--watch") {
                args.retain(|arg| !arg.starts_with("--from") && *arg != "example:gpus");
                args.extend(["--kubeconfig", "/nonexistent"]);
            }
            let run = dra(&args).run();
            let is_understood = run.code != Some(2) || run.stderr.contains("hint: ");
            if !is_understood {
                dead_ends.push(format!("{line}: {command:?}: {}", run.stderr));
            }
        }
    }
    assert!(dead_ends.is_empty(), "{}", dead_ends.join("\n"));
    insta::assert_snapshot!(table);
}

#[test]
fn an_unknown_command_is_answered_with_the_name_and_flags_that_were_typed() {
    for (line, hint) in [
        (
            "drain gpu-node-2",
            "kubectl dra simulate eviction --node gpu-node-2",
        ),
        (
            "drain gpu-node-2 --ignore-daemonsets",
            "kubectl dra simulate eviction --node gpu-node-2",
        ),
        (
            "drain node/gpu-node-2",
            "kubectl dra simulate eviction --node gpu-node-2",
        ),
        ("downgrade 1.36", "kubectl dra check --to-version 1.36"),
        ("verify", "kubectl dra convert verify"),
        ("check DRA014", "kubectl dra check --explain DRA014"),
        ("fit claim/spare", "kubectl dra simulate allocation claim/spare"),
        ("devices free", "kubectl dra devices --free"),
        ("snapshot -o f.json", "kubectl dra snapshot --out f.json"),
        ("describe devicetaintrule/x", "kubectl dra taints"),
        ("claims -o jsonpath=x", "kubectl dra claims -o json | jq"),
        ("delete pod notebook", "kubectl delete pod notebook"),
        (
            "simulate eviction gpu-node-1/gpu-0",
            "kubectl dra simulate eviction --pool gpu-node-1 --device gpu-0",
        ),
        ("pod/notebook", "kubectl dra explain pod/notebook"),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let run = dra(&args).run().exits(2);
        assert!(
            run.stderr.contains(&format!("hint: {hint}")),
            "{line}: {}",
            run.stderr
        );
    }
}

#[test]
fn an_empty_example_name_lists_the_examples() {
    let run = dra(&["status", "--from", "example:"]).run().exits(0);
    for example in ["gpus", "pending", "downgrade"] {
        assert!(run.stdout.contains(&format!("\n  {example} ")), "{}", run.stdout);
    }
}
