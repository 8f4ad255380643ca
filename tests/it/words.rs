//! Command lines as people type them, right, half right and wrong: each works, or is told what does.

use std::fmt::Write as _;

use crate::support::command::dra;

/// What is typed behind `kubectl dra`, for the example `gpus`.
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
];

#[test]
fn what_people_type_is_understood_or_answered() {
    let mut table = String::new();
    for line in LINES {
        let mut args: Vec<&str> = line.split(' ').collect();
        args.extend(["--from", "example:gpus"]);
        let run = dra(&args).run();
        let code = run.code.expect("an exit code");
        let _ = writeln!(table, "$ kubectl dra {line}");
        if code == 0 {
            let rows = run.stdout.lines().count();
            let first = run.stdout.lines().next().unwrap_or_default();
            let _ = writeln!(table, "{first}  (and {} more lines)", rows.saturating_sub(1));
        }
        for said in run.stderr.lines().filter(|line| !line.is_empty()) {
            let _ = writeln!(table, "{said}");
        }
        let helps = run.stderr.contains("hint: ")
            || run.stderr.contains("Usage: ")
            || run.stderr.contains("there are ");
        assert!(code == 0 || helps, "{line} is a dead end: {}", run.stderr);
        for flag in ["--server", "--token", "--context", "--cluster", "--user"] {
            assert!(!run.stderr.contains(flag), "{line}: {}", run.stderr);
        }
    }
    insta::assert_snapshot!(table);
}
