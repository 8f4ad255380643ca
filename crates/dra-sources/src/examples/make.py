#!/usr/bin/env python3
"""Makes a bundled example from what `kubectl get ... -o yaml` says of a cluster.

  make.py NAME FILE.yaml [GATE=true|false ...]

Writes NAME.json.zst beside this script: a snapshot as `kubectl dra snapshot --no-redact` writes it, with the time of the
newest timestamp in it. GATEs are those that kube-apiserver, kube-scheduler and kube-controller-manager ran with. Needs
PyYAML and zstd.
"""
import json
import pathlib
import re
import subprocess
import sys

import yaml

# The kinds of the model, in the order of snapshots.
KINDS = ["Namespace", "Node", "DeviceClass", "ResourceSlice", "DeviceTaintRule", "ResourceClaimTemplate", "ResourceClaim",
         "Pod", "PodGroup", "Workload", "PodDisruptionBudget", "ResourceQuota", "Event"]
# Where a kind without objects would be served.
VERSIONS = {"DeviceClass": "resource.k8s.io/v1", "ResourceSlice": "resource.k8s.io/v1",
            "DeviceTaintRule": "resource.k8s.io/v1", "ResourceClaimTemplate": "resource.k8s.io/v1",
            "ResourceClaim": "resource.k8s.io/v1", "PodGroup": "scheduling.k8s.io/v1beta1",
            "Workload": "scheduling.k8s.io/v1beta1", "PodDisruptionBudget": "policy/v1"}
COMPONENTS = ["kube-apiserver", "kube-scheduler", "kube-controller-manager"]


def main():
    name, file, *gates = sys.argv[1:]
    text = pathlib.Path(file).read_text()
    items = [item for item in yaml.safe_load(text)["items"] if item["kind"] in KINDS]
    items.sort(key=lambda item: (KINDS.index(item["kind"]), item["metadata"].get("namespace", ""), item["metadata"]["name"]))
    groups = any(gate == "GenericWorkload=true" for gate in gates)
    not_served = ["CompositePodGroup"] if groups else ["PodGroup", "Workload", "CompositePodGroup"]
    info = {
        "apiVersion": "dra.kubectl.io/v1", "kind": "SnapshotInfo", "metadata": {"name": "snapshot"},
        "tool": "make.py", "recordedAt": max(re.findall(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text)),
        "source": f"example {name}", "redacted": False,
        "kubernetes": {"version": "1.37.1", "gitVersion": "v1.37.1", "emulatedMinor": 37, "minCompatibilityMinor": 36},
        "featureGates": [{"component": component, "name": gate.split("=")[0], "enabled": gate.endswith("=true"),
                          "evidence": "Recorded"} for component in COMPONENTS for gate in gates],
        # A kind that is not listed would not be known to have no objects.
        "lists": [{"apiVersion": next((item["apiVersion"] for item in items if item["kind"] == kind),
                                      VERSIONS.get(kind, "v1")),
                   "kind": kind, "resourceVersion": "", "count": sum(item["kind"] == kind for item in items)}
                  for kind in KINDS if kind not in not_served],
        "gaps": [],
        "notServed": not_served,
    }
    lines = ",\n".join(json.dumps(item, separators=(",", ":")) for item in [info, *items])
    snapshot = '{"apiVersion":"v1","kind":"List","metadata":{},"items":[\n' + lines + "\n]}\n"
    target = pathlib.Path(__file__).parent / f"{name}.json.zst"
    packed = subprocess.run(["zstd", "-19", "--ultra", "-c"], input=snapshot.encode(), capture_output=True, check=True)
    target.write_bytes(packed.stdout)
    print(f"{target.name}: {len(items)} objects, {len(snapshot)} bytes, {len(packed.stdout)} compressed")


if __name__ == "__main__":
    main()
