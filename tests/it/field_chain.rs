//! Clusters as people met them, in which something is broken on the way from the driver to its devices, or from the template to the claim: what
//! is broken first is named, in a pipe and on a terminal.

use crate::support::command::{dra, on_screen, seen};

/// Question about a file of `tests/data/field`, its exit code, required and forbidden parts of the answer.
struct Case {
    ask: &'static str,
    file: &'static str,
    code: i32,
    has: &'static [&'static str],
    has_not: &'static [&'static str],
}

const CASES: &[Case] = &[
    // The pods of the driver run, and publish nothing on two nodes.
    Case {
        ask: "explain pod/small-model",
        file: "09-no-slices-on-l4",
        code: 1,
        has: &[
            "driver gpu.nvidia.com publishes no devices for l4-pool-1, l4-pool-2",
            "dra-driver-nvidia-gpu-kubelet-plugin-l4-pool-1",
            "logs",
        ],
        has_not: &["1. leave out", "1: leave out"],
    },
    Case {
        ask: "explain node/l4-pool-1",
        file: "09-no-slices-on-l4",
        code: 1,
        has: &["driver gpu.nvidia.com", "publishes nothing"],
        has_not: &[],
    },
    Case {
        ask: "check",
        file: "09-no-slices-on-l4",
        code: 1,
        has: &["DRA038", "node/l4-pool-1, node/l4-pool-2"],
        has_not: &["No findings"],
    },
    // The pod has to be near another one, in a zone whose devices are in use.
    Case {
        ask: "explain pod/rag-0 -n=infer --complete --now=2026-11-30T12:00:00Z",
        file: "required-near-pods-of-a-full-zone",
        code: 1,
        has: &[
            "didn't match pod affinity rules: it has to be near pod/infer/cache-5kvch6hxz-x2x9z (app=cache), so in topology.kubernetes.io/zone \
             zone-a, where a1 and a2 lack devices for it",
            "Fits on a1 or a2 once any one of",
            "1. run another pod of deployment/infer/cache (app=cache) in a further topology.kubernetes.io/zone, or make the podAffinity of \
             pod/infer/rag-0 a preferred one",
        ],
        has_not: &["check the podAffinity"],
    },
    // The first pod of a driver's update cannot pull the new image.
    Case {
        ask: "explain statefulset/index -n=search --complete --now=2026-11-30T12:00:00Z",
        file: "update-of-a-driver-stopped-by-its-image",
        code: 1,
        has: &[
            "(container plugin: ImagePullBackOff: registry.k8s.io/dra-driver-nvidia/dra-driver-nvidia-gpu:v0.5.l: not found), so the update of \
             daemonset/dra-driver-nvidia-gpu/nvidia-dra-driver-gpu-kubelet-plugin has stopped at it",
            "StatefulSet index has 1 of 3 pods: it creates the next one once all of them are ready",
            "1. undo the update of daemonset/dra-driver-nvidia-gpu/nvidia-dra-driver-gpu-kubelet-plugin",
        ],
        has_not: &["podManagementPolicy", "ErrImagePull", "ask the owner"],
    },
    Case {
        ask: "explain pod/index-0 -n=search --emit-fix=1 --complete --now=2026-11-30T12:00:00Z",
        file: "update-of-a-driver-stopped-by-its-image",
        code: 0,
        has: &[
            "kubectl rollout undo daemonset/nvidia-dra-driver-gpu-kubelet-plugin --namespace=dra-driver-nvidia-gpu",
        ],
        has_not: &[],
    },
    // The second pod of a set runs and its startup probe has yet to succeed.
    Case {
        ask: "explain statefulset/db -n=vectors --complete --now=2026-11-30T12:00:00Z",
        file: "startup-probe-of-the-second-pod-of-three",
        code: 0,
        has: &[
            "the pod is running on g4 with gpu.nvidia.com/g4/gpu-0 and still starting: its startup probe has not succeeded yet",
            "StatefulSet db has 2 of 3 pods: it creates the next one once all of them are ready",
        ],
        has_not: &["Fix:"],
    },
    // A Job was over its deadline before there were devices for its pods.
    Case {
        ask: "explain job/sweep -n=sim --complete --now=2026-11-30T12:00:00Z",
        file: "job-whose-deadline-passed-while-it-waited",
        code: 0,
        has: &[
            "Job sweep has no pods: it has finished: Failed since 2026-11-30T11:20:02Z, DeadlineExceeded: Job was active longer than specified \
             deadline (activeDeadlineSeconds 7200)",
            "; no node was found for pod/sim/sweep-",
            " until then: default-scheduler",
            "6 cannot allocate all claims",
            "1. create job/sim/sweep anew, with a longer activeDeadlineSeconds",
        ],
        has_not: &["is pending"],
    },
    // What may set the binding conditions was scaled down.
    Case {
        ask: "explain pod/draft-0 -n=ai --complete --now=2026-11-30T12:00:00Z",
        file: "controller-of-a-fabric-scaled-to-zero",
        code: 1,
        has: &[
            "was not attached in time: FabricDeviceReady has not been set",
            "1. scale up deployment/composable-resource-operator-system/composable-resource-operator-controller-manager, which has 0 replicas",
            "2. ask the driver's owner why nothing sets condition FabricDeviceReady",
        ],
        has_not: &["its driver has not set", "deployment/ai/shop"],
    },
    // The last report of a missing node was written after one was found.
    Case {
        ask: "explain pod/api-nw7m5ktmt-6hqlf -n=serve --complete --now=2026-11-30T12:00:00Z",
        file: "runs-after-it-had-no-node",
        code: 0,
        has: &["the pod is running on"],
        has_not: &["FailedScheduling"],
    },
    // The refusal of a LimitRange names none.
    Case {
        ask: "explain deployment/llm -n=chat --complete --now=2026-11-30T12:00:00Z",
        file: "limit-range-below-a-deployment",
        code: 1,
        has: &[
            "maximum memory usage per Container is 64Gi, but limit is 96Gi",
            "1. change the pod template of deployment/chat/llm as the message says, or limitrange/chat/containers",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain deployment/server -n=llm --complete --now=2026-11-30T12:00:00Z",
        file: "secret-of-a-container-missing",
        code: 1,
        has: &["1. create secret/llm/hf-token, or have the pod use another one"],
        has_not: &["RestoreDriver", "1. fix container main"],
    },
    // A ComputeDomain that waits for no number of nodes is forming: NVIDIA's driver reports no error to the kubelet until it succeeds.
    Case {
        ask: "explain pod/bw-worker-0 -n=train --complete --now=2026-11-28T10:00:00Z",
        file: "domain-of-open-size-is-forming",
        code: 1,
        has: &[
            "the pod is bound to gb-1 and waits: ComputeDomain bw is not ready on gb-1",
            "1. wait until pod/dra-driver-nvidia-gpu/bw-x7k2p-dmn0 is ready, so that ComputeDomain bw has gb-1",
        ],
        has_not: &["correct the configuration", "×"],
    },
    Case {
        ask: "check --complete --now=2026-11-28T10:00:00Z",
        file: "domain-of-open-size-is-forming",
        code: 0,
        has: &["DRA081", "2 infos"],
        has_not: &["Error", "Warning"],
    },
    // Ten minutes later it has lasted too long for that.
    Case {
        ask: "explain pod/bw-worker-0 -n=train --complete --now=2026-11-28T10:10:00Z",
        file: "domain-of-open-size-is-forming",
        code: 1,
        has: &[
            "the pod is bound to gb-1, but ComputeDomain bw is not ready on gb-1",
            "1. get ComputeDomain bw ready on gb-1",
        ],
        has_not: &["waits:", "correct the configuration"],
    },
    // A node is in one ComputeDomain at most.
    Case {
        ask: "explain pod/nccl-worker-0 -n=train --complete --now=2026-11-28T10:00:00Z",
        file: "node-in-another-domain",
        code: 1,
        has: &[
            "the pod is bound to gb-6, but ComputeDomain nccl is not ready on gb-6",
            "gb-6 is in computedomain/team-a/legacy already, and a node can be in one only",
            "1. delete computedomain/team-a/legacy, which gb-6 is in, if no pods need it, or wait until they have ended",
        ],
        has_not: &["correct the configuration", "gave no reason"],
    },
    Case {
        ask: "check --complete --now=2026-11-28T10:00:00Z",
        file: "node-in-another-domain",
        code: 1,
        has: &["DRA081", "computedomain/team-a/legacy"],
        has_not: &[],
    },
    // A new version of the driver is rolled out: its pod on the node was created seconds ago.
    Case {
        ask: "explain pod/batch-7 -n=apps --complete --now=2026-11-28T10:00:00Z",
        file: "driver-is-replaced-just-now",
        code: 1,
        has: &[
            "the pod is bound to gpu-1 and waits: driver gpu.nvidia.com is not registered with the kubelet on gpu-1",
            "is starting (created at 2026-11-28T09:59:51Z)",
            "1. wait until driver gpu.nvidia.com has started on gpu-1",
        ],
        has_not: &["check why its pod", "ask the owner"],
    },
    Case {
        ask: "check --complete --now=2026-11-28T10:00:00Z",
        file: "driver-is-replaced-just-now",
        code: 0,
        has: &["DRA080", "1 info"],
        has_not: &["Error", "Warning"],
    },
    Case {
        ask: "explain pod/batch-7 -n=apps --complete --now=2026-11-28T10:06:00Z",
        file: "driver-is-replaced-just-now",
        code: 1,
        has: &[
            "is not ready",
            "1. ask the owner of driver gpu.nvidia.com to check why its pod on gpu-1 is not running",
        ],
        has_not: &["waits:", "is starting"],
    },
    // The driver of CPUs binds a claim to one container, and two have it.
    Case {
        ask: "explain pod/dpdk -n=rt --complete --now=2026-11-28T10:00:00Z",
        file: "claim-for-one-container-only",
        code: 1,
        has: &[
            "container stats has not started",
            "1. remove claim/rt/dpdk-cpus from container stats or container dataplane in the pod, or give one of them a claim of its own",
        ],
        has_not: &["about the node, not about the pod", "ask an administrator"],
    },
    // The label is gone by which the driver's DaemonSet selected the node of a pod that ends.
    Case {
        ask: "explain pod/llm-6d5f-aaaaa -n=serve --complete --now=2026-11-28T10:00:00Z",
        file: "label-of-the-driver-gone-while-a-pod-ends",
        code: 1,
        has: &[
            "has no pod there: its nodeSelector requires nvidia.com/gpu.deploy.dra-driver=true, which the node lacks",
            "label the node with nvidia.com/gpu.deploy.dra-driver=true, which its DaemonSet selects",
        ],
        has_not: &["--force"],
    },
    // A pod was deleted by force while its container did not end, and has the device.
    Case {
        ask: "explain pod/web-84f-new11 -n=serve --complete --now=2026-11-28T10:00:00Z",
        file: "container-of-a-force-deleted-pod-runs",
        code: 1,
        has: &[
            "pod/serve/web-84f-old99 was deleted by force, and the kubelet on gpu-1 could not end its containers",
            "1. ask an administrator to end the containers of pod/serve/web-84f-old99 on gpu-1",
            "do not release the device in the driver before",
        ],
        has_not: &["waiting will not help", "ask the owner of driver"],
    },
    // Without the events of that pod only the driver's word is left.
    Case {
        ask: "explain pod/web-84f-new11 -n=serve --complete --now=2026-11-28T10:00:00Z",
        file: "device-of-a-force-deleted-pod-is-held",
        code: 1,
        has: &[
            "1. ask the owner of driver gpu.nvidia.com to release",
            "make sure first that no container of an earlier pod still runs",
        ],
        has_not: &["waiting will not help", "web-84f-old99"],
    },
    // A pod that was created with spec.nodeName has passed kube-scheduler by.
    Case {
        ask: "explain pod/gpu-debug -n=debug --complete --now=2026-11-28T10:00:00Z",
        file: "node-name-set-by-hand",
        code: 1,
        has: &[
            "The pod was created with spec.nodeName, which bypasses kube-scheduler",
            "1. recreate the pod without spec.nodeName, with nodeSelector kubernetes.io/hostname: gpu-1",
        ],
        has_not: &[],
    },
    // One that kube-scheduler has placed has lost its devices otherwise.
    Case {
        ask: "explain pod/gpu-debug -n=debug --complete --now=2026-11-28T10:00:00Z",
        file: "claim-lost-its-devices-after-placing",
        code: 1,
        has: &["claim/debug/gpu-debug-gpu-7q7q7 is not allocated"],
        has_not: &["was created with spec.nodeName"],
    },
    // A quota refuses them.
    Case {
        ask: "explain pod/server --complete",
        file: "49-driver-pods-refused-by-quota",
        code: 1,
        has: &[
            "driver gpu.nvidia.com publishes no devices for gke-l4-1",
            "daemonset/dra-driver-nvidia-gpu/dra-driver-nvidia-gpu-kubelet-plugin",
            "17 times",
            "failed quota: critical-pods",
        ],
        has_not: &[],
    },
    Case {
        ask: "check --complete",
        file: "49-driver-pods-refused-by-quota",
        code: 1,
        has: &["DRA038", "failed quota: critical-pods"],
        has_not: &["No findings"],
    },
    // The devices are for nodes with a label that none has.
    Case {
        ask: "explain pod/w-0",
        file: "47-multihost-node-selector",
        code: 1,
        has: &["pool tpu.google.com/ici-a", "tpu.google.com/slice In [ici-a]"],
        has_not: &["no device of class"],
    },
    Case {
        ask: "check",
        file: "47-multihost-node-selector",
        code: 1,
        has: &[
            "DRA039",
            "pool/tpu.google.com/ici-a",
            "tpu.google.com/slice In [ici-a]",
        ],
        has_not: &["No findings"],
    },
    // Of a pod for two drivers, the container of this one crashes: of all nodes, and beside a node whose device is in use.
    Case {
        ask: "explain pod/app --complete",
        file: "container-of-one-driver-crashes",
        code: 1,
        has: &[
            "pending: driver gpu.nvidia.com publishes no devices for rockwei",
            "(container gpus: CrashLoopBackOff",
        ],
        has_not: &["only published device"],
    },
    Case {
        ask: "check --complete",
        file: "container-of-one-driver-crashes",
        code: 1,
        has: &["DRA038", "container gpus"],
        has_not: &["No findings"],
    },
    Case {
        ask: "explain pod/app --complete",
        file: "container-crashes-on-one-node",
        code: 1,
        has: &[
            "pending: no node has an available device of class gpu.nvidia.com; driver gpu.nvidia.com publishes no devices for n-2",
            "(container gpus: CrashLoopBackOff",
        ],
        has_not: &[],
    },
    // The DaemonSet of the driver does not tolerate the taint of the only node with devices.
    Case {
        ask: "explain pod/app --complete",
        file: "driver-does-not-tolerate-the-node",
        code: 1,
        has: &[
            "publishes no devices for gpu-1:",
            "taint gpu=true:NoSchedule",
            "let its DaemonSet tolerate the taint",
        ],
        has_not: &["cpu-1, cpu-2:"],
    },
    Case {
        ask: "explain pod/app --complete",
        file: "driver-tolerates-no-node",
        code: 1,
        has: &[
            "publishes no devices for gpu-1:",
            "kubelet-plugin has no pod there",
            "taint gpu=true:NoSchedule",
        ],
        has_not: &["no devices are published"],
    },
    // The API server refuses the claim.
    Case {
        ask: "explain pod/dcgm -n=mon --complete",
        file: "admin-access-without-label",
        code: 1,
        has: &[
            "the API server does not accept its claim",
            "kubectl label namespace/mon resource.kubernetes.io/admin-access=true",
        ],
        has_not: &["no reason was found", "unknown bug", "no action needed"],
    },
    Case {
        ask: "explain pod/c -n=team --complete",
        file: "webhook-denies-the-claim",
        code: 1,
        has: &[
            "the API server does not accept its claim: admission webhook",
            "label team is required",
        ],
        has_not: &["no reason was found", "unknown bug", "no action needed"],
    },
    // Nobody makes it.
    Case {
        ask: "explain pod/app --complete --now=2026-11-28T10:00:00Z",
        file: "no-claim-for-days",
        code: 1,
        has: &[
            "kube-controller-manager may not be running",
            "since 2026-11-20T09:03:00Z",
        ],
        has_not: &["no action needed"],
    },
    // The template is new, or the claim was there: how long the controller has had is unknown.
    Case {
        ask: "explain pod/app --complete --now=2026-11-28T10:00:00Z",
        file: "template-made-just-now",
        code: 1,
        has: &["the claim controller will create the claim from its template"],
        has_not: &["kube-controller-manager may not be running"],
    },
    Case {
        ask: "explain pod/app --complete --now=2026-11-28T10:00:00Z",
        file: "claim-of-a-waiting-pod-deleted",
        code: 1,
        has: &["the claim controller will create another claim"],
        has_not: &["kube-controller-manager may not be running"],
    },
    // A node is being added, and then is not there for long.
    Case {
        ask: "explain pod/train --complete --now=2026-11-28T09:40:00Z",
        file: "node-is-coming",
        code: 1,
        has: &["Unknown whether waiting helps: cluster-autoscaler reported TriggeredScaleUp"],
        has_not: &["Waiting will not help"],
    },
    Case {
        ask: "explain pod/train --complete --now=2026-11-28T11:40:00Z",
        file: "node-is-coming",
        code: 1,
        has: &["Waiting will not help"],
        has_not: &["a node is being added"],
    },
    // Channels of ComputeDomains are no GPUs.
    Case {
        ask: "explain pod/app --complete",
        file: "class-of-gpus-missing",
        code: 1,
        has: &[
            "device class gpu.nvidia.com does not exist",
            "create deviceclass/gpu.nvidia.com",
        ],
        has_not: &["use class"],
    },
    // What the kubelet said before it got further is over.
    Case {
        ask: "explain pod/app --complete",
        file: "image-missing-after-prepare",
        code: 1,
        has: &["container main has not started: ImagePullBackOff"],
        has_not: &["but driver gpu.nvidia.com is not registered"],
    },
    Case {
        ask: "explain pod/train --complete",
        file: "container-ends-for-its-device",
        code: 1,
        has: &[
            "exited with code 134",
            "gpu.nvidia.com/gpu-1/gpu-0 is reported unhealthy: XID 79",
        ],
        has_not: &[],
    },
    // What is meant has another name, or is elsewhere.
    Case {
        ask: "explain pod/app --complete",
        file: "template-misspelled",
        code: 1,
        has: &[
            "resourceclaimtemplate/default/singel-gpu not found",
            "did you mean resourceclaimtemplate/default/single-gpu?",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain pod/app -n=team-b --complete",
        file: "claim-in-another-namespace",
        code: 1,
        has: &[
            "exists, but a pod can only use those of its own namespace",
            "copy that of the other namespace, or create the pod in that namespace instead",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain pod/app --complete",
        file: "driver-misspelled-in-class",
        code: 1,
        has: &[
            "selects devices of driver gpu.nvida.com, which publishes none; did you mean driver gpu.nvidia.com?",
        ],
        has_not: &[],
    },
    // Its last consumer takes the claim with it, so that it has to be saved before.
    Case {
        ask: "explain pod/trainer-b -n=ml --emit-fix=1 --complete --now=2026-11-28T10:00:00Z",
        file: "claim-of-a-running-pod-deleted",
        code: 0,
        has: &["> resourceclaim.ml.shared-gpu.yaml && kubectl delete pod/trainer-a"],
        has_not: &["replace --force -f -"],
    },
    // A pod on a node that does not answer never ends.
    Case {
        ask: "explain pod/infer-6b8f9c7d5-m2n8s -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "node-lost-with-a-terminating-pod",
        code: 1,
        has: &[
            "pod/ml/infer-6b8f9c7d5-x7k2d, which uses claim/ml/the-gpu, is being deleted, but does not end: node/gpu-1 is not ready",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain claim/the-gpu -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "node-lost-with-a-terminating-pod",
        code: 0,
        has: &["is being deleted, but does not end: node/gpu-1 is not ready"],
        has_not: &[],
    },
    Case {
        ask: "explain pod/job-new -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "node-lost-holds-a-shared-device",
        code: 1,
        has: &[
            "pod/ml/job-old, which uses claim/ml/job-old-gpu-x2v7q, is being deleted, but does not end: node/host-1",
        ],
        has_not: &["no action needed"],
    },
    // A pod that runs, and is evicted.
    Case {
        ask: "explain pod/infer-6b8f9c7d5-x7k2d -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "taint-evicts-after-seconds",
        code: 1,
        has: &[
            "has taint gpu.nvidia.com/xid=79:NoExecute from its driver, which evicts the pod",
            "without tolerationSeconds",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain pod/infer-6b8f9c7d5-x7k2d -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "rule-evicts-again-and-again",
        code: 1,
        has: &[
            "from devicetaintrule/drain-gpu-1, which evicts the pod",
            "kubectl delete devicetaintrule/drain-gpu-1",
        ],
        has_not: &[],
    },
    // It does not finish by itself.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "cpu-held-by-a-deployment",
        code: 1,
        has: &["deployment/ml/web keeps its pods running until it is scaled down or deleted"],
        has_not: &[],
    },
    // Entries of pods that are gone.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "reservations-left-over",
        code: 1,
        has: &[
            "once the claim controller deallocates claim/ml/old-gpu: its pods are gone or have finished",
            "which are gone or have finished (tested: fits on gpu-1)",
        ],
        has_not: &["Unknown whether waiting helps", "claim/ml/far-nic"],
    },
    Case {
        ask: "explain claim/old-gpu -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "reservations-left-over",
        code: 0,
        has: &["pod/ml/worker-0, pod/ml/worker-1 are gone or have finished"],
        has_not: &[],
    },
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "reservations-of-one-that-lives",
        code: 1,
        has: &[
            "Fits on gpu-1 once pod/ml/worker-live finishes",
            "delete pod/ml/worker-live, which uses",
        ],
        has_not: &["worker-0"],
    },
    // The containers run, and the pod is not ready.
    Case {
        ask: "explain pod/infer-6b8f9c7d5-x7k2d -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "readiness-probe-fails",
        code: 1,
        has: &["is running on gpu-1, but it is not ready: Readiness probe failed"],
        has_not: &[],
    },
    Case {
        ask: "explain pod/infer -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "readiness-gate-false",
        code: 1,
        has: &[r#"but it is not ready: the status of pod readiness gate "gpu.example.com/warmed-up""#],
        has_not: &["failing probe"],
    },
    // The scheduler says itself what its gates are.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "alternatives-turned-off",
        code: 1,
        has: &[
            "pending: resource claim ml/train-gpu-x2v7q, request gpu: has subrequests, but the DRAPrioritizedList feature is disabled",
            "assumed off in kube-scheduler",
        ],
        has_not: &["unknown bug"],
    },
    Case {
        ask: "explain pod/gang-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "gang-cannot-be-placed",
        code: 1,
        has: &["podgroup/ml/gang needs 2 of its pods together, but only 1 fits"],
        has_not: &["unknown bug"],
    },
    // Names that no device has, beside those that devices have.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "capacity-of-another-domain",
        code: 1,
        has: &[
            r#"with `device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0` in request gpu of template/ml/one-gpu (tested: fits on gpu-1"#,
        ],
        has_not: &[],
    },
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "attribute-spelled-differently",
        code: 1,
        has: &[r#"with `device.attributes["gpu.nvidia.com"].productName == "NVIDIA H100 80GB HBM3"`"#],
        has_not: &[],
    },
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "compared-in-another-domain",
        code: 1,
        has: &[
            "compares; they have gpu.nvidia.com/productName",
            "to keep the alignment, compare gpu.nvidia.com/productName instead",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain pod/legacy -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "extended-resource-misspelled",
        code: 1,
        has: &["did you mean deviceclass/gpu.nvidia.com?"],
        has_not: &[],
    },
    Case {
        ask: "explain pod/legacy -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "extended-resource-too-many",
        code: 1,
        has: &["gpu-1: too few devices for the extended resources of the pod"],
        has_not: &["container-0-request-0", "()"],
    },
    // The old pod of a restart ends: the next one has to wait for it, and for nothing else.
    Case {
        ask: "explain pod/infer-6b8f9c7d5-m2n8s -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "predecessor-terminating",
        code: 1,
        has: &[
            "Fits on gpu-1 once pod/ml/infer-6b8f9c7d5-x7k2d finishes",
            "wait for the end of pod/ml/infer-6b8f9c7d5-x7k2d",
        ],
        has_not: &["aiting will not help", "use fewer replicas"],
    },
    // The same with a DaemonSet, and with a claim that a drained node holds.
    Case {
        ask: "explain pod/render-bbbbb -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "daemon-pod-terminating",
        code: 1,
        has: &["wait for the end of pod/ml/render-aaaaa"],
        has_not: &["aiting will not help", "maxSurge"],
    },
    // The same with a claim that a drained node holds.
    Case {
        ask: "explain pod/infer-6b8f9c7d5-m2n8s -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "drained-with-a-named-claim",
        code: 1,
        has: &[
            "Fits on gpu-2 once pod/ml/infer-6b8f9c7d5-x7k2d finishes",
            "1. wait for the end of pod/ml/infer-6b8f9c7d5-x7k2d",
        ],
        has_not: &["1. uncordon"],
    },
    // The template of a claim has changed since.
    Case {
        ask: "explain pod/train-6b8f9c7d5-x7k2d -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "template-changed-since",
        code: 1,
        has: &[
            "1. delete claim/ml/",
            "it is recreated from template/ml/one-gpu, which has changed since",
            "kubectl delete resourceclaim",
        ],
        has_not: &["reduce request gpu of template"],
    },
    // A toleration has another value than the taint.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "toleration-of-another-value",
        code: 1,
        has: &[
            "1. tolerate device taint gpu.nvidia.com/reserved=team-b:NoSchedule",
            "whose toleration of this key does not match the taint",
        ],
        has_not: &["1. delete pod"],
    },
    // Values that read alike are of two types.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "attribute-of-another-type",
        code: 1,
        has: &["eth0 has 0 of another type"],
        has_not: &[],
    },
    // A driver refuses what the template configures.
    Case {
        ask: "explain pod/infer-6b8f9c7d5-x7k2d -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "configuration-refused",
        code: 1,
        has: &["correct the configuration in template/ml/one-gpu if the driver's message is about that"],
        has_not: &[],
    },
    // A RuntimeClass puts a node selector back that was removed.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "selector-of-a-runtime-class",
        code: 1,
        has: &[
            "(not tested",
            "the RuntimeClass of the pod may add it to the new pod again",
        ],
        has_not: &["tested: fits"],
    },
    // No device has a capacity of that name.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "capacity-misnamed",
        code: 1,
        has: &["no device has capacity vram (did you mean memory?)"],
        has_not: &["is pending: has no"],
    },
    // A selector wants more than the most that there is.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "selector-for-more",
        code: 1,
        has: &["this is not true: device.capacity"],
        has_not: &[],
    },
    // No component evicts a pod whose eviction is due.
    Case {
        ask: "explain pod/infer-6b8f9c7d5-x7k2d -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "eviction-overdue",
        code: 1,
        has: &[
            "was due to evict the pod at 2026-11-28T09:30",
            "device-taint-eviction-controller of kube-controller-manager may not be running",
        ],
        has_not: &[],
    },
    // What `explain` says of it, `check` reports.
    Case {
        ask: "check --complete --now=2026-11-28T10:00:00Z",
        file: "eviction-overdue",
        code: 1,
        has: &["DRA089", "pod/ml/infer-6b8f9c7d5-x7k2d"],
        has_not: &["No findings"],
    },
    // A claim waits for what its pod waits for.
    Case {
        ask: "explain claim/dpdk-gpu-q8m4t -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "claim-of-a-pod-without-hugepages",
        code: 1,
        has: &[
            "claim/ml/dpdk-gpu-q8m4t: pod/ml/dpdk, which uses it, is pending: gpu-1 cannot take the pod",
            "Insufficient hugepages-1Gi",
            "Waiting will not help",
        ],
        has_not: &["fits on 1 of 1 nodes"],
    },
    Case {
        ask: "explain claim/debug-gpu-q8m4t -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "claim-of-a-pod-bound-by-hand",
        code: 1,
        has: &[
            "pod/ml/debug, which uses it: the pod is bound to gpu-1, but claim/ml/debug-gpu-q8m4t is not allocated",
        ],
        has_not: &["fits on 1 of 1 nodes"],
    },
    Case {
        ask: "explain claim/the-gpu -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "claim-of-two-pending-pods",
        code: 1,
        has: &[
            "pod/ml/train, which uses it, is pending: ",
            "pod/ml/tune, which uses the claim, is pending",
        ],
        has_not: &["fits on 1 of 1 nodes"],
    },
    Case {
        ask: "explain claim/render-gpu-q8m4t -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "binding-failed",
        code: 1,
        has: &[
            "pod/ml/render, which uses it, is pending: ",
            "once kube-scheduler deallocates claim/ml/render-gpu-q8m4t",
            "LinkTrainingFailed",
        ],
        has_not: &["delete pod/ml/render", "kubectl delete"],
    },
    Case {
        ask: "explain claim/the-gpu -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "claim-of-a-gone-node",
        code: 1,
        has: &[
            "pod/ml/train, which uses it, is pending: ",
            "once kube-scheduler deallocates claim/ml/the-gpu",
        ],
        has_not: &["kubectl delete", "no pod uses"],
    },
    // No controller creates a claim again that a user made.
    Case {
        ask: "explain pod/other -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "idle-claim-that-a-pod-names",
        code: 1,
        has: &[
            "delete and recreate claim/ml/the-gpu",
            "pod/ml/train waits for it (tested: fits on gpu-2)",
        ],
        has_not: &["kubectl delete"],
    },
    // No pod waits for these.
    Case {
        ask: "explain claim/infer-gpu-x2v7q -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "claim-of-a-bare-pod-deleted",
        code: 0,
        has: &[
            "allocated on gpu-1",
            "it stays until pod/ml/infer has finished, and is not recreated",
        ],
        has_not: &["is pending", "kubectl wait"],
    },
    Case {
        ask: "explain claim/shard-0-gpu-q8m4t -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "claim-of-an-earlier-pod",
        code: 0,
        has: &["nothing is allocated for it: it was created for an earlier pod/ml/shard-0"],
        has_not: &["fits on"],
    },
    // The driver has not attached the device yet.
    Case {
        ask: "explain pod/render -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "binding-pending",
        code: 1,
        has: &[
            "pod/ml/render is pending: ",
            "is not attached yet",
            "kube-scheduler deallocates the claim at 2026-11-28T10:05:00Z",
        ],
        has_not: &["fits on 1 of 2 nodes"],
    },
    Case {
        ask: "explain claim/render-gpu-q8m4t -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "binding-pending",
        code: 1,
        has: &[
            "pod/ml/render, which uses it, is pending: ",
            "is not attached yet",
        ],
        has_not: &["reserved for pod/ml/render"],
    },
    // Only the driver knows what its condition means.
    Case {
        ask: "explain pod/rdma -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "device-condition-false",
        code: 0,
        has: &[
            "condition NetworkReady of dra.net/gpu-1/eth1 as False",
            "carrier lost",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain claim/rdma-gpu-x2v7q -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "device-condition-false",
        code: 0,
        has: &[
            "condition NetworkReady of dra.net/gpu-1/eth1 as False",
            "carrier lost",
        ],
        has_not: &[],
    },
    // kube-scheduler names a filter that is not simulated: that is the cause on the nodes that fit otherwise.
    Case {
        ask: "explain pod/infer-6b8f9c7d5-m2n8s -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "spread-rejects-nodes",
        code: 1,
        has: &[
            "is pending: gpu-1 and gpu-2 have the devices and resources for it, but kube-scheduler rejects them: node(s) didn't match pod topology spread constraints",
            "gpu-3",
            "check the topologySpreadConstraints of pod/ml/infer-6b8f9c7d5-m2n8s",
        ],
        has_not: &["possible cause", "unknown bug"],
    },
    Case {
        ask: "simulate allocation pod/infer-6b8f9c7d5-m2n8s -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "spread-rejects-nodes",
        code: 0,
        has: &[
            "Fits on 2 of 3 nodes",
            "kube-scheduler rejected the pod for what is not simulated: node(s) didn't match pod topology spread constraints",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain pod/infer-6b8f9c7d5-m2n8s -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "anti-affinity-rejects-a-node",
        code: 1,
        has: &[
            "is pending: gpu-1 has the devices and resources for it, but kube-scheduler rejects it: node(s) didn't match pod anti-affinity rules",
            "check the podAntiAffinity",
        ],
        has_not: &["possible cause", "unknown bug"],
    },
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "volume-rejects-a-node",
        code: 1,
        has: &[
            "is pending: gpu-1 has the devices",
            "node(s) didn't match PersistentVolume's node affinity",
            "persistentvolumeclaim/ml/ckpt",
        ],
        has_not: &["possible cause", "unknown bug"],
    },
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "volume-in-use",
        code: 1,
        has: &[
            "ReadWriteOncePod access mode",
            "wait for the end of pod/ml/nb-0, which uses persistentvolumeclaim/ml/ckpt, too",
        ],
        has_not: &["possible cause", "unknown bug"],
    },
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "volume-unbound",
        code: 1,
        has: &[
            "rejects it: pod has unbound immediate PersistentVolumeClaims",
            "persistentvolumeclaim/ml/data",
            "quota exceeded",
        ],
        has_not: &["possible cause", "unknown bug"],
    },
    // The scheduler's own words are shown, and no prediction.
    Case {
        ask: "explain pod/render -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "binding-failed-for-a-pod",
        code: 1,
        has: &["Scheduler: running PreBind plugin", "LinkTrainingFailed"],
        has_not: &["Scheduler would say"],
    },
    // Its search timed out, and a fix shows what the limit is.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "constraint-behind-a-timeout",
        code: 1,
        has: &[
            "constraint #0 of claim/ml/train-gpu-q8m4t",
            "Scheduler: running",
            "timed out trying to allocate devices",
        ],
        has_not: &["the limiting factor is unknown", "Scheduler would say"],
    },
    // A node is being added, although waiting for a pod would help, too.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "node-is-coming-too",
        code: 1,
        has: &[
            "Fits on gpu-1 once pod/ml/nb-0 finishes; cluster-autoscaler reported TriggeredScaleUp at 2026-11-28T09:55:00Z, so a node is being added",
        ],
        has_not: &[],
    },
    // None is, as an event says that is no warning.
    Case {
        ask: "explain pod/infer-6b8f9c7d5-m2n8s -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "no-scale-up",
        code: 1,
        has: &[
            "NotTriggerScaleUp (cluster-autoscaler, 40×",
            "max node group size reached",
        ],
        has_not: &["a node is being added"],
    },
    // kube-scheduler is ending a pod for another one.
    Case {
        ask: "explain pod/serving -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "preemption-under-way",
        code: 1,
        has: &[
            "Fits on gpu-1 once pod/ml/batch-0 finishes",
            "preemption is under way: pod/ml/batch-0 is being deleted on gpu-1",
        ],
        has_not: &["no tested change makes it fit"],
    },
    Case {
        ask: "explain pod/batch-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "preemption-under-way",
        code: 0,
        has: &[
            "the pod is terminating on gpu-1",
            "has nominated its node for pod/ml/serving",
        ],
        has_not: &[],
    },
    // A pod without a node that was deleted waits for its finalizer and nothing else.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "pending-and-deleted",
        code: 1,
        has: &[
            "is being deleted",
            "finalizer workflows.argoproj.io/status",
            "remove finalizer",
        ],
        has_not: &["nb-0", "no node has", "is pending"],
    },
    Case {
        ask: "explain -A --complete --now=2026-11-28T10:00:00Z",
        file: "pending-and-deleted",
        code: 1,
        has: &["workflows.argoproj.io/status", "train"],
        has_not: &["no pod or claim is pending"],
    },
    Case {
        ask: "check --complete --now=2026-11-28T10:00:00Z",
        file: "pending-and-deleted",
        code: 1,
        has: &["DRA021", "pod/ml/train"],
        has_not: &[],
    },
    // Nodes publish pools of the same name, each for itself.
    Case {
        ask: "check --complete --now=2026-11-28T10:00:00Z",
        file: "pool-of-the-same-name",
        code: 1,
        has: &["DRA033", "gpu-1, gpu-2", "counts as in use on the others"],
        has_not: &["DRA030", "allocates none", "allocates no device"],
    },
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "pool-of-the-same-name",
        code: 1,
        has: &["pool/gpu.nvidia.com/default is a pool of its own on each of gpu-1, gpu-2"],
        has_not: &[],
    },
    Case {
        ask: "devices --now=2026-11-28T10:00:00Z",
        file: "pool-of-the-same-name",
        code: 0,
        has: &["ml/nb-0-gpu-x2v7q"],
        has_not: &["PoolIncomplete", "SliceIgnored"],
    },
    // The node of a pod does not exist.
    Case {
        ask: "explain pod/cam-6b8f9c7d5-x7k2d -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "pod-of-a-node-that-is-gone",
        code: 1,
        has: &[
            "node/host-1 does not exist",
            "wait until kube-controller-manager deletes the pod",
        ],
        has_not: &["is running on"],
    },
    Case {
        ask: "check --complete --now=2026-11-28T10:00:00Z",
        file: "pod-of-a-node-that-is-gone",
        code: 1,
        has: &["DRA018", "node/host-1 does not exist"],
        has_not: &[],
    },
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "pod-of-a-node-that-is-gone",
        code: 1,
        has: &["cam-6b8f9c7d5-x7k2d", "has lost its node"],
        has_not: &[],
    },
    // No component removes the reservation for a PodGroup.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "claim-of-a-pod-group-that-is-gone",
        code: 1,
        has: &["remove the reservation of claim/ml/llm-gpu-abc for podgroup/ml/llm"],
        has_not: &["kubectl delete", "dra.kubectl.io/checked"],
    },
    Case {
        ask: "explain pod/train -n=ml --now=2026-11-28T10:00:00Z",
        file: "claim-of-a-pod-group-that-is-gone",
        code: 1,
        has: &["podgroups could not be read"],
        has_not: &["kubectl delete"],
    },
    // A claim that is being deleted has a finalizer of another component.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "claim-deleted-with-a-finalizer",
        code: 1,
        has: &["remove finalizer billing.example.com/close-account from claim/ml/lease-7"],
        has_not: &["wait until"],
    },
    Case {
        ask: "explain claim/lease-7 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "claim-deleted-with-a-finalizer",
        code: 1,
        has: &["remove finalizer billing.example.com/close-account from claim/ml/lease-7"],
        has_not: &["wait until"],
    },
    // A driver stopped publishing halfway.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "pool-incomplete-for-days",
        code: 1,
        has: &[
            "publishes 1 of 2 slices (generation 3)",
            "the newest slice was created at 2026-11-20T",
            "ask the driver's owner to publish all slices of pool/gpu.nvidia.com/gpu-1",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain driver/gpu.nvidia.com --complete --now=2026-11-28T10:00:00Z",
        file: "pool-incomplete-for-days",
        code: 1,
        has: &["pool/gpu.nvidia.com/gpu-1 publishes 1 of 2 slices"],
        has_not: &[],
    },
    // The node of the devices has other labels than the allocation.
    Case {
        ask: "explain pod/cam-b -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "node-relabelled",
        code: 1,
        has: &[
            "claim/ml/cam is allocated for nodes with rack In [r1], and no node matches",
            "restore the labels of node/host-1",
        ],
        has_not: &[],
    },
    // A pod is being evicted with a long grace period.
    Case {
        ask: "explain pod/infer-6b8f9c7d5-x7k2d -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "evicted-with-a-long-grace-period",
        code: 0,
        has: &[
            "terminating on gpu-1, due at 2026-11-28T10:50:00Z",
            "DeletionByDeviceTaintManager",
        ],
        has_not: &[],
    },
    // The owner of a failed pod has created another one.
    Case {
        ask: "explain pod/infer-6b8f9c7d5-x7k2d -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "evicted-and-replaced",
        code: 1,
        has: &["see pod/ml/infer-6b8f9c7d5-m2n8s"],
        has_not: &["recreate the pod"],
    },
    // A quota refuses the pods of an extended resource.
    Case {
        ask: "explain -A --complete --now=2026-11-28T10:00:00Z",
        file: "quota-of-an-extended-resource",
        code: 1,
        has: &[
            "deployment/ml/infer: Deployment infer has no pods",
            "raise resourcequota/ml/team",
        ],
        has_not: &["no pod or claim is pending"],
    },
    // More is taken than requested.
    Case {
        ask: "explain pod/rerank -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "capacity-rounded-up",
        code: 1,
        has: &["the devices' request policy rounds 18Gi of memory up to 24Gi"],
        has_not: &[],
    },
    // Without its gate the pod would wait for a device.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "gated-and-no-device",
        code: 1,
        has: &["without its scheduling gates it does not fit either: no node has an available device"],
        has_not: &[],
    },
    // What has the device does not run.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "holder-that-never-starts",
        code: 1,
        has: &["which has devices, is not running: container main has not started: ImagePullBackOff"],
        has_not: &[],
    },
    // The pod fits, and a taint that it tolerates for a minute evicts it.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "fits-and-is-evicted",
        code: 1,
        has: &[
            "fits on 1 of 1 nodes, but would be evicted immediately",
            "it would be evicted once it has its devices",
            "gpu.nvidia.com/xid=79:NoExecute",
        ],
        has_not: &[],
    },
    // The pod asks for its device as a claim and as an extended resource.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "asked-twice",
        code: 1,
        has: &[
            "1. remove nvidia.com/gpu from container main of pod/ml/train, whose claims request such devices already",
        ],
        has_not: &["1. set extendedResourceName"],
    },
    // The scheduler says nothing of a gang before all of its pods are there.
    Case {
        ask: "explain pod/llm-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "gang-of-a-silent-scheduler",
        code: 1,
        has: &[
            "waiting for minCount pods from a gang",
            "GenericWorkload is assumed on",
        ],
        has_not: &["check that default-scheduler is running"],
    },
    // Two claims have the device of a pod that runs.
    Case {
        ask: "explain pod/a -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "device-in-two-claims",
        code: 0,
        has: &["gpu.nvidia.com/gpu-1/gpu-0 is allocated as a whole to 2 claims"],
        has_not: &[],
    },
    // The driver is down on the node with a free device.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "driver-crashes-elsewhere",
        code: 1,
        has: &["1. ask the owner of driver gpu.nvidia.com to publish its devices for gpu-2"],
        has_not: &["1. delete"],
    },
    // The pool of the free node lacks a slice for days.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "pool-of-the-free-node-incomplete",
        code: 1,
        has: &["1. ask the driver's owner to publish all slices of pool/gpu.nvidia.com/gpu-2"],
        has_not: &["1. delete"],
    },
    // A node was added for the pod, and its driver is starting.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "driver-starting-on-a-new-node",
        code: 1,
        has: &["1. wait until node/gpu-9, which was added less than 10 minutes ago, is ready for the pod"],
        has_not: &["1. delete"],
    },
    // A driver is restarted by the end of its pod: its DaemonSet is not stopped.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "driver-restart",
        code: 1,
        has: &["1. restart the pod of driver gpu.nvidia.com on gpu-1"],
        has_not: &["first stop"],
    },
    // The DaemonSet controller sets the node of each pod.
    Case {
        ask: "explain daemonset/burn -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "daemonset-on-a-cpu-node",
        code: 1,
        has: &["publishes no devices for cpu-1"],
        has_not: &["remove the required node affinity"],
    },
    // Of a rollout, the new pods matter.
    Case {
        ask: "explain deployment/infer -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "two-revisions",
        code: 1,
        has: &["pod/ml/infer-7c9d4f8b6-bbbbb", "ErrImagePull"],
        has_not: &["onegpu"],
    },
    // What an eviction has left is over.
    Case {
        ask: "explain deployment/infer -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "leftover-of-an-eviction",
        code: 0,
        has: &["pod/ml/infer-5d9c7b6f4-bbbbb: the pod is running"],
        has_not: &["Evicted"],
    },
    // A pod without claims does not run either.
    Case {
        ask: "explain deployment/router -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "crash-without-devices",
        code: 1,
        has: &["container main is not running: it exited with code 2"],
        has_not: &[],
    },
    // The devices of a driver that crashes stay published.
    Case {
        ask: "explain driver/gpu.nvidia.com -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "driver-crashes-and-devices-stay",
        code: 1,
        has: &[
            "publishes 1 device for 1 node, but cannot prepare devices for pods on gpu-1",
            "is crashing (container gpus: CrashLoopBackOff",
        ],
        has_not: &[],
    },
    Case {
        ask: "check -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "driver-crashes-and-devices-stay",
        code: 1,
        has: &["DRA038", "cannot prepare devices for pods on node/gpu-1"],
        has_not: &[],
    },
    Case {
        ask: "explain node/gpu-1 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "driver-crashes-and-devices-stay",
        code: 1,
        has: &["gpu.nvidia.com: cannot prepare devices here", "is crashing"],
        has_not: &[],
    },
    // A driver was uninstalled, and its slice is left.
    Case {
        ask: "explain driver/gpu.nvidia.com -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "slices-of-a-driver-that-is-gone",
        code: 1,
        has: &[
            "cannot prepare devices for pods on gpu-1",
            "is not registered with the kubelet",
        ],
        has_not: &[],
    },
    // A node that is not reachable keeps its slices.
    Case {
        ask: "explain driver/gpu.nvidia.com -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "driver-on-an-unreachable-node",
        code: 1,
        has: &["cannot prepare devices for pods on gpu-1: node/gpu-1 is not ready"],
        has_not: &[],
    },
    // An init container runs.
    Case {
        ask: "explain deployment/infer -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "init-container-for-long",
        code: 0,
        has: &["is starting on gpu-1: init container download-model is running"],
        has_not: &[],
    },
    // The pod of an allocated claim does not start.
    Case {
        ask: "explain claim/embed-5d9c7b6f4-q8v2n-gpu-x2v7q -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "daemon-of-the-driver-missing",
        code: 1,
        has: &[
            "pod/ml/embed-5d9c7b6f4-q8v2n, which uses it",
            "the driver refuses to prepare",
        ],
        has_not: &[],
    },
    // Two parts of one device have the same value, and its counters do not suffice for both.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "parts-that-share-counters",
        code: 1,
        has: &["that can be allocated together: their shared counters never suffice"],
        has_not: &["available or not"],
    },
    // The rollout goes on once the new pod that has a device is ready.
    Case {
        ask: "explain pod/qwen-7c9d4f8b6-m2n8s -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "rollout-waits-for-a-new-pod",
        code: 1,
        has: &[
            "Fits on gpu-1 once the rollout of Deployment qwen deletes",
            "after pod/ml/qwen-7c9d4f8b6-ddddd is ready",
        ],
        has_not: &["Unknown whether waiting helps"],
    },
    // All devices have two taints.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "tainted-twice",
        code: 1,
        has: &[
            "2 are tainted (ops.example.com/maintenance=yes:NoSchedule, sec.example.com/audit=yes:NoSchedule)",
        ],
        has_not: &[],
    },
    // Counters that others draw from keep two partitions of one device apart.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "counter-used-by-others",
        code: 1,
        has: &["those of claim/ml/embed-gpu-x2v7q leave too little of counter memory"],
        has_not: &["do not meet constraint"],
    },
    // The toleration of a node taint has another value.
    Case {
        ask: "explain pod/infer-5d9c7b6f4-m2n8s -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "node-toleration-of-another-value",
        code: 1,
        has: &[
            "1. tolerate node taint nvidia.com/gpu=present:NoSchedule in pod/ml/infer-5d9c7b6f4-m2n8s, whose toleration of this key does not match the taint",
        ],
        has_not: &[],
    },
    // The driver of the class is installed for other devices only.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "driver-of-the-class-publishes-nothing",
        code: 1,
        has: &[
            "none of the 2 published devices is of class gpu.nvidia.com: driver gpu.nvidia.com publishes none",
            "1. have driver gpu.nvidia.com publish devices",
        ],
        has_not: &[],
    },
    // Two Jobs have a part of their devices each.
    Case {
        ask: "explain pod/a-2-aaaa2 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "two-jobs-with-half-each",
        code: 1,
        has: &["if the pods of a Job need each other, neither Job ends"],
        has_not: &[],
    },
    // A claim that no pod uses fits on a cordoned node.
    Case {
        ask: "explain claim/x -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "claim-on-a-cordoned-node",
        code: 0,
        has: &[
            "the nodes where it fits are cordoned",
            "no pod uses the claim: it is allocated once one does",
        ],
        has_not: &[],
    },
    // A priority does not help.
    Case {
        ask: "explain pod/prod-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "priority-does-not-help",
        code: 1,
        has: &["kube-scheduler does not preempt pods for their devices"],
        has_not: &[],
    },
    // The taint that the scheduler speaks of is gone.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "taint-is-gone",
        code: 4,
        has: &["the state has changed since then"],
        has_not: &["unknown bug"],
    },
    // Less memory, a cordoned node and a Job that ends.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "four-nodes-four-reasons",
        code: 1,
        has: &[
            "1. reduce memory in container main of pod/ml/train from 400Gi to 312Gi",
            "find out first why it is cordoned",
        ],
        has_not: &["1. uncordon"],
    },
    // System pods have the CPUs.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "cpu-of-system-pods",
        code: 1,
        has: &["1. reduce cpu in container main of pod/ml/train from 7 to 6"],
        has_not: &["every device were available"],
    },
    // The pods of a StatefulSet share a claim and keep apart.
    Case {
        ask: "explain pod/vec-1 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "claim-shared-by-a-statefulset",
        code: 1,
        has: &["the pods of StatefulSet vec share claim/ml/vec-gpu"],
        has_not: &[],
    },
    // The template of another namespace belongs to a ComputeDomain there.
    Case {
        ask: "explain pod/nccl-0 -n=team --complete --now=2026-11-28T10:00:00Z",
        file: "computedomain-of-another-namespace",
        code: 1,
        has: &["1. create the ComputeDomain that makes resourceclaimtemplate/team/nccl-channel"],
        has_not: &[],
    },
    // What makes the template is being deleted.
    Case {
        ask: "explain pod/nccl-0 -n=team --complete --now=2026-11-28T10:00:00Z",
        file: "computedomain-being-deleted",
        code: 1,
        has: &["1. create computedomain/team/nccl again: it is being deleted"],
        has_not: &["wait until the controller"],
    },
    // A node that is not ready comes before the end of a pod.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "free-node-not-ready",
        code: 1,
        has: &["1. make node/gpu-2 ready"],
        has_not: &["1. delete"],
    },
    // Pods that are pending are counted where nothing is found.
    Case {
        ask: "check --complete --now=2026-11-28T10:00:00Z",
        file: "priority-does-not-help",
        code: 0,
        has: &["1 pod with claims is pending"],
        has_not: &[],
    },
    // A container keeps the pod running whose work is done.
    Case {
        ask: "explain job/etl -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "sidecar-of-a-finished-job",
        code: 1,
        has: &[
            "container main exited with code 0 at 2026-11-28T07:59:00Z, and the pod does not end before container istio-proxy",
            "1. end the process of container istio-proxy",
        ],
        has_not: &["make the pod ready"],
    },
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "sidecar-of-a-finished-job",
        code: 1,
        has: &[
            "; pod/ml/etl-4k2lp: container main exited with code 0",
            "1. in pod/ml/etl-4k2lp, end the process of container istio-proxy if it only accompanies container main (not tested)",
            "2. suspend job/ml/etl, which ends pod/ml/etl-4k2lp",
            "3. add a node like gpu-1",
        ],
        has_not: &["to run it again"],
    },
    // The pods of a Job fail one after the other.
    Case {
        ask: "explain job/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "job-that-retries",
        code: 1,
        has: &[
            "4 pods of Job train failed, the last pod/ml/train-ddddd (container main exited with code 134); it retries after a delay, up to backoffLimit 6",
            "kubectl logs pod/train-ddddd",
        ],
        has_not: &["the pod has finished"],
    },
    Case {
        ask: "explain -A -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "job-that-retries",
        code: 1,
        has: &["job/ml/train: 4 pods of Job train failed"],
        has_not: &[],
    },
    // The kubelet got further than its last warning.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "pulls-after-a-failure",
        code: 0,
        has: &["is starting on gpu-1: Pulling image"],
        has_not: &["is not registered"],
    },
    // The driver's pod on the new node waits in an init container.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "driver-waits-in-init-container",
        code: 1,
        has: &["is not ready: init container driver-validation is running"],
        has_not: &[],
    },
    // A node of the same type has no pod of the driver, as it lacks a label.
    Case {
        ask: "explain driver/gpu.nvidia.com --complete --now=2026-11-28T10:00:00Z",
        file: "replaced-node-without-label",
        code: 1,
        has: &[
            "publishes no devices for gpu-2",
            "its nodeSelector requires nvidia.com/gpu.present=true",
        ],
        has_not: &[],
    },
    // Roles and bindings of namespaces, which the file lacks, cannot allow slices.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "rbac-subject-in-another-namespace",
        code: 1,
        has: &[
            "uses serviceaccount/nvidia/nvidia-dra-driver-kubeletplugin, which is not allowed to create resourceslices",
        ],
        has_not: &["check the logs"],
    },
    // `kubectl get` of one namespace: the claim that has the device is in another.
    Case {
        ask: "explain pod/train -n=ml --now=2026-11-28T10:00:00Z",
        file: "only-one-namespace",
        code: 4,
        has: &["possible cause: claims of other namespaces hold the devices"],
        has_not: &[],
    },
    // The kubelet rejects the pods of a Job: they have no logs.
    Case {
        ask: "explain job/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "job-whose-pods-the-kubelet-rejects",
        code: 1,
        has: &[
            "the kubelet on gpu-1 rejected it: OutOfcpu",
            "fix why the kubelet rejects pod/ml/train-7xk2d",
        ],
        has_not: &["logs"],
    },
    // Of two classes with one extended resource the newer counts.
    Case {
        ask: "explain pod/legacy -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "two-classes-of-one-resource",
        code: 1,
        has: &["provides nvidia.com/gpu, which deviceclass/"],
        has_not: &[],
    },
    // The volume is bound to the node whose only device is in use, and a filter that is not simulated rejects the other.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "volume-where-the-device-is-in-use",
        code: 1,
        has: &[
            "gpu-b has the devices and resources for it, but kube-scheduler rejects it",
            "Fits on gpu-a once pod/ml/nb-0 finishes",
        ],
        has_not: &["Unknown whether waiting helps"],
    },
    // The driver on the free node started ten seconds ago.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "driver-started-just-now",
        code: 1,
        has: &["wait until the driver has published its devices for node/gpu-2"],
        has_not: &["1. delete", "1: delete"],
    },
    // The kubelet rejects the driver on a node that is short of disk space.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "node-short-of-disk-without-driver",
        code: 1,
        has: &["make node/gpu-2 ready; its devices are not published until then"],
        has_not: &["1. delete", "1: delete"],
    },
    // The cloud takes the node back.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "spot-node-about-to-go",
        code: 1,
        has: &["aws-node-termination-handler/spot-itn"],
        has_not: &["tolerate node taint", "remove taint"],
    },
    // Of two pods that have devices, one cannot pull its image.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "holder-cannot-pull",
        code: 1,
        has: &["scale deployment/ml/zeta from 1 to 0, which ends pod/ml/zeta-5d9c7b6f4-aaaaa"],
        has_not: &["1. scale deployment/ml/api", "1: scale deployment/ml/api"],
    },
    // A Job of the namespace comes before a Deployment of another.
    Case {
        ask: "explain pod/solve-x7k2d -n=sim --complete --now=2026-11-28T10:00:00Z",
        file: "holders-in-two-namespaces",
        code: 1,
        has: &["suspend job/sim/mesh, which ends pod/sim/mesh-4k2lp"],
        has_not: &["1. scale deployment/cad", "1: scale deployment/cad"],
    },
    // Equal values clash where they are to differ.
    Case {
        ask: "explain pod/nccl-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "distinct-with-one-nic",
        code: 1,
        has: &["distinctAttribute"],
        has_not: &["of another type"],
    },
    // The kubelet started eight seconds ago, and drivers register again.
    Case {
        ask: "explain pod/infer-5d9c7b6f4-aaaaa -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "kubelet-started-just-now",
        code: 1,
        has: &["wait until driver gpu.nvidia.com is registered with the kubelet on gpu-1"],
        has_not: &["kubectl delete"],
    },
    // The scheduler crashes, and heartbeats of nodes show for how long it has been silent.
    Case {
        ask: "explain pod/infer-5d9c7b6f4-bbbbb -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "scheduler-crashes",
        code: 1,
        has: &["default-scheduler has reported nothing about the pod since it was created"],
        has_not: &[],
    },
    // A pod that tolerates this taint is put on a node that is down.
    Case {
        ask: "explain pod/vec-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "out-of-service-taint-left",
        code: 1,
        has: &["remove taint node.kubernetes.io/out-of-service:NoExecute"],
        has_not: &["tolerate node taint"],
    },
    // The end of a pod that is being deleted gives back its CPU, too.
    Case {
        ask: "explain pod/infer-5d9c7b6f4-bbbbb -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "terminating-holds-cpu-and-device",
        code: 1,
        has: &["wait for the end of pod/ml/infer-5d9c7b6f4-aaaaa"],
        has_not: &["reduce cpu"],
    },
    // A container runs again that keeps ending.
    Case {
        ask: "explain pod/infer -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "restarts-again-and-again",
        code: 0,
        has: &[
            "container main was restarted 57 times; before, it exited with code 139 at 2026-11-28T09:53:30Z",
        ],
        has_not: &[],
    },
    // A taint keeps the DaemonSet of a ComputeDomain off the pod's node.
    Case {
        ask: "explain pod/nccl-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "computedomain-kept-off",
        code: 1,
        has: &[
            "daemonset/nvidia-dra-driver/computedomain-daemon-7b1c2f4a has no pod on gb-1: it does not tolerate the node's taint team=llm:NoSchedule",
            "1. let daemonset/nvidia-dra-driver/computedomain-daemon-7b1c2f4a tolerate taint team=llm:NoSchedule of gb-1",
        ],
        has_not: &["get all nodes of"],
    },
    // The device is prepared for a pod that does not end.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "prepared-for-a-terminating-pod",
        code: 1,
        has: &[
            "its device is prepared for claim/ml/gone-gpu-zzzzz of pod/ml/gone, which was to be gone at 2026-11-28T09:05:30Z",
            "1. find out what keeps pod/ml/gone from ending",
        ],
        has_not: &["act on the driver's message"],
    },
    // A pod has a gate, and lacks its template.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "gated-and-no-template",
        code: 1,
        has: &[
            "waiting for scheduling gates: [example.com/approve]",
            "without its scheduling gates it does not fit either",
            "resourceclaimtemplate/ml/one-gpuu",
        ],
        has_not: &[],
    },
    // Kueue has put the Job back into its queue.
    Case {
        ask: "explain job/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "kueue-requeues",
        code: 1,
        has: &["it was requeued 3 times, and Kueue tries it again after 2026-11-28T10:10:00Z"],
        has_not: &[],
    },
    // A volume is not provisioned in time.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "volume-not-provisioned",
        code: 1,
        has: &[
            "running PreBind plugin \"VolumeBinding\"",
            "persistentvolumeclaim/ml/scratch",
            "VolumeLimitExceeded",
        ],
        has_not: &["let kube-scheduler bind the pod"],
    },
    // The driver waits for a daemon of its own, which does not start.
    Case {
        ask: "explain pod/embed-5d9c7b6f4-q8v2n -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "daemon-of-the-driver-missing",
        code: 1,
        has: &[
            "Note: pod/nvidia-dra-driver/mps-control-daemon-0a1b2c-66d9c-x2k9v is not running: container main has not started: ImagePullBackOff",
            "1. get pod/nvidia-dra-driver/mps-control-daemon-0a1b2c-66d9c-x2k9v running",
        ],
        has_not: &["correct the configuration"],
    },
    // A volume claim that does not exist rejects the pod before devices are looked at.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "volume-claim-missing-and-in-use",
        code: 1,
        has: &[
            "kube-scheduler rejects it before it looks at devices: persistentvolumeclaim \"datasets\" not found; besides, no node has an available device",
            "1. create what is missing of persistentvolumeclaim/ml/datasets",
        ],
        has_not: &["(tested: fits"],
    },
    // A volume that another pod uses alone, and no device.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "volume-in-use-and-no-device",
        code: 1,
        has: &[
            "kube-scheduler rejects it before it looks at devices",
            "ReadWriteOncePod",
        ],
        has_not: &["(tested: fits"],
    },
    // A kubelet has just started on the node with a free device.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "free-node-publishes-again",
        code: 1,
        has: &["1. wait until drivers publish their devices for gpu-2 again"],
        has_not: &["1. delete"],
    },
    // A node was replaced, and lacks the label of the driver.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "replaced-node-without-label",
        code: 1,
        has: &[
            "driver gpu.nvidia.com publishes no devices for gpu-2",
            "1. label node/gpu-2 with nvidia.com/gpu.present=true",
        ],
        has_not: &["1. delete"],
    },
    // A reservation that is left over goes before a cordon.
    Case {
        ask: "explain pod/vec-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "reservation-and-cordon",
        code: 1,
        has: &["1. have the claim controller remove the reservation"],
        has_not: &["1. uncordon"],
    },
    // A claim is shared with a pod on a node without CPUs.
    Case {
        ask: "explain pod/b -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "shared-claim-and-no-cpu",
        code: 1,
        has: &["Insufficient cpu"],
        has_not: &["delete pod/ml/a, ", "no tested change"],
    },
    // A DaemonSet runs on a node that is not meant to have devices.
    Case {
        ask: "explain pod/dcgm-bbbbb -n=monitoring --complete --now=2026-11-28T10:00:00Z",
        file: "monitor-on-a-cpu-node",
        code: 1,
        has: &[
            "keep daemonset/monitoring/dcgm off cpu-1",
            "set nodeSelector nvidia.com/gpu.present=true in its pod template",
        ],
        has_not: &["publish its devices for cpu-1"],
    },
    // The driver of a class is written with capital letters.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "class-in-capitals",
        code: 1,
        has: &["gpu.nvidia.com"],
        has_not: &["have driver GPU.nvidia.com publish devices"],
    },
    // Devices of both drivers have the standard attribute.
    Case {
        ask: "explain pod/nccl-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "standard-attribute-instead",
        code: 1,
        has: &["compare resource.kubernetes.io/pcieRoot instead"],
        has_not: &["use a release of driver"],
    },
    // The kubelet is older than the control plane, and ignores the claims of extended resources. The pod runs.
    Case {
        ask: "explain pod/infer-1 -n=app --complete --now=2026-11-28T10:00:00Z",
        file: "old-kubelet-and-extended-resource",
        code: 1,
        has: &[
            "the pod is running on old-1, but the kubelet on old-1 (v1.35.8) has feature DRAExtendedResource off",
            "1. ask an administrator to upgrade the kubelet on old-1",
        ],
        has_not: &["√"],
    },
    Case {
        ask: "check --complete --now=2026-11-28T10:00:00Z",
        file: "old-kubelet-and-extended-resource",
        code: 1,
        has: &[
            "DRA085",
            "pod/app/infer-1",
            "runs on node/old-1: the kubelet on old-1 (v1.35.8)",
        ],
        has_not: &["pod/app/infer-0"],
    },
    Case {
        ask: "explain pod/infer-0 -n=app --complete --now=2026-11-28T10:00:00Z",
        file: "old-kubelet-and-extended-resource",
        code: 0,
        has: &["running on new-1"],
        has_not: &["DRAExtendedResource"],
    },
    Case {
        ask: "explain pod/infer-1 -n=app --feature-gates=DRAExtendedResource=true --complete --now=2026-11-28T10:00:00Z",
        file: "old-kubelet-and-extended-resource",
        code: 0,
        has: &["running on old-1"],
        has_not: &["off by default"],
    },
    Case {
        ask: "check --complete --now=2026-11-28T10:00:00Z",
        file: "old-kubelet-and-a-crash",
        code: 1,
        has: &["DRA085", "DRA088"],
        has_not: &[],
    },
    // The controller that attaches devices does not run: each attempt times out.
    Case {
        ask: "explain pod/train -n=hpc --complete --now=2026-11-28T10:00:00Z",
        file: "binding-timed-out-twice",
        code: 1,
        has: &[
            "1. ask the driver's owner why nothing sets condition FabricDeviceReady",
            "2 attempts timed out",
            "pod/composable-dra/composable-dra-7c9-zzzzz",
        ],
        has_not: &["1. wait"],
    },
    Case {
        ask: "check --complete --now=2026-11-28T10:00:00Z",
        file: "binding-timed-out-twice",
        code: 1,
        has: &["DRA027", "2 attempts of kube-scheduler timed out"],
        has_not: &["should have given up"],
    },
    // One node has all of its devices but a tainted one, another one has all and too little memory.
    Case {
        ask: "explain pod/pretrain -n=big --complete --now=2026-11-30T12:00:00Z",
        file: "all-devices-and-one-is-tainted",
        code: 1,
        has: &[
            "it requests all 8 devices of class gpu.nvidia.com of g5, but 1 is tainted (gpu-3: gpu.nvidia.com/xid=94:NoSchedule); \
             no other eligible node has all of its devices available",
        ],
        has_not: &["no other node"],
    },
    // Pods with a higher priority wait for the devices, too; the node with a free one is cordoned, and short of CPU.
    Case {
        ask: "explain pod/exp-1 -n=dev --complete --now=2026-11-30T12:00:00Z",
        file: "pods-of-higher-priority-wait-too",
        code: 1,
        has: &[
            "pod/dev/exp-1 is pending: none of the 2 eligible nodes has an available device of class gpu.nvidia.com",
            "3 pods with a higher priority wait for such devices, too, and come first: pod/crit/serve-a, pod/crit/serve-b, pod/crit/serve-c",
            "(tested: fits on g01, unless 3 pods with a higher priority come first)",
        ],
        has_not: &["g12 has", "(tested)", "g01)"],
    },
    // The first of them has no pod before it.
    Case {
        ask: "explain pod/serve-a -n=crit --complete --now=2026-11-30T12:00:00Z",
        file: "pods-of-higher-priority-wait-too",
        code: 1,
        has: &["(tested: fits on g01)"],
        has_not: &["higher priority wait", "unless"],
    },
    // The node with free devices is full of pods, or short of memory: one of its pods has no devices, and another node can take it.
    Case {
        ask: "explain pod/tune-3 -n=ml --complete --now=2026-11-30T12:00:00Z",
        file: "free-devices-on-a-node-full-of-pods",
        code: 1,
        has: &[
            "1. delete pod/web/front-",
            "which has no devices: deployment/web/front recreates it, and another node can take it (tested: fits on g6) \
             ask its owner first: it is in another namespace kubectl delete pod/front-",
            "2. delete pod/train/fit-g1-0, which uses claim/train/fit-g1-0-gpu-j4vc2 (tested: fits on g1) \
             ask its owner first: it is in another namespace; no controller recreates it",
        ],
        has_not: &["2. delete pod/web", "3. delete pod/web"],
    },
    Case {
        ask: "explain pod/ranker-0 -n=rec --complete --now=2026-11-30T12:00:00Z",
        file: "partition-where-memory-is-short",
        code: 1,
        has: &[
            "3. delete pod/etl/loader-l2cvrlhsl-kk2mm, which has no devices: deployment/etl/loader recreates it, and another node can take it (tested: fits on n5)",
        ],
        has_not: &["3. delete pod/jupyter"],
    },
    // Two claims of the pod are in use, on different nodes.
    Case {
        ask: "explain pod/mixer -n=render --complete --now=2026-11-30T12:00:00Z",
        file: "shared-claims-on-two-nodes",
        code: 1,
        has: &[
            "its claims are allocated on different nodes: claim/render/scene-gpu on g2 (used by pod/render/viewer-0), \
             claim/render/encode-gpu on g5 (used by pod/render/encoder-0)",
            "Fits on g2 once pod/render/encoder-0 finishes",
            "1. delete pod/render/encoder-0, which uses claim/render/encode-gpu (tested: fits on g2)",
        ],
        has_not: &["no tested change", "delete pod/render/viewer-0"],
    },
    // Without a selector the first alternatives would get what the last one requests.
    Case {
        ask: "explain deployment/summarize -n=lab --complete --now=2026-11-30T12:00:00Z",
        file: "alternatives-and-a-rule-for-firmware",
        code: 1,
        has: &["1. reduce request gpu/l4s of template/lab/any-gpu from 4 to 2"],
        has_not: &["2. remove `device", "3. remove `device"],
    },
    // A taint keeps a node for another team.
    Case {
        ask: "explain pod/finetune-a -n=nlp --complete --now=2026-11-30T12:00:00Z --details",
        file: "free-gpu-and-nic-on-different-roots",
        code: 1,
        has: &[
            "g1,g2 the remaining devices",
            "gpu.nvidia.com/*/gpu-2 has pci0000:80, dra.net/*/eth0 has pci0000:00",
            "1. remove the constraint on resource.kubernetes.io/pcieRoot",
            "2. delete pod/nlp/infer-g1-0",
            "tolerate node taint dedicated=vision:NoSchedule in pod/nlp/finetune-a (tested: fits on g5) find out first why the node has the taint",
        ],
        has_not: &["1. tolerate", "2. tolerate", "3. tolerate"],
    },
    Case {
        ask: "explain pod/finetune-a -n=nlp --complete --now=2026-11-30T12:00:00Z --output=json",
        file: "free-gpu-and-nic-on-different-roots",
        code: 1,
        has: &[r#"\"operator\":\"Equal\",\"value\":\"vision\""#],
        has_not: &[],
    },
    // A driver that publishes devices in use misses one.
    Case {
        ask: "check --complete --now=2026-11-28T10:00:00Z",
        file: "device-fell-off-the-bus",
        code: 1,
        has: &["1 warning", "DRA004", "the device is gone"],
        has_not: &["omits devices in use"],
    },
    Case {
        ask: "explain pod/bert-37 -n=training --complete --now=2026-11-28T10:00:00Z",
        file: "device-fell-off-the-bus",
        code: 1,
        has: &[
            "gpu.nvidia.com/gpu-37/gpu-2 is gone",
            "check the device on gpu-37",
        ],
        has_not: &["some drivers do not publish"],
    },
    // The pool is published anew at the moment.
    Case {
        ask: "check --complete --now=2026-11-28T10:00:00Z",
        file: "pool-being-published-anew",
        code: 0,
        has: &["DRA030"],
        has_not: &["DRA031", "1 warning"],
    },
    Case {
        ask: "explain pod/b -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "pool-being-published-anew",
        code: 1,
        has: &["1. wait until the driver has published all slices"],
        has_not: &["1. delete pod"],
    },
    // Nodes publish pools of one name.
    Case {
        ask: "explain pod/pod-b -n=default --complete --now=2026-11-28T10:00:00Z",
        file: "pool-name-on-three-nodes",
        code: 1,
        has: &[
            "several nodes publish pool/networkdriver.cilium.io/dx-dummy",
            "1. ask the driver's owner to give the pool of each node a name of its own",
        ],
        has_not: &["add a node like"],
    },
    // The driver found no device on a node that is labelled like others.
    Case {
        ask: "explain pod/m1 -n=models --complete --now=2026-11-28T10:00:00Z",
        file: "empty-slice-of-a-like-node",
        code: 1,
        has: &["publishes no devices for gke-l4-2"],
        has_not: &["1. add a node", "1. delete pod/models/m0"],
    },
    // The device plugin of a node hides devices that are free.
    Case {
        ask: "explain pod/old-job -n=legacy --complete --now=2026-11-28T10:00:00Z",
        file: "device-plugin-hides-free-devices",
        code: 1,
        has: &[
            "a device plugin offers nvidia.com/gpu on gpu-1",
            "4 available devices",
            "1. stop the device plugin that offers nvidia.com/gpu on gpu-1",
        ],
        has_not: &["1. reduce"],
    },
    Case {
        ask: "explain pod/vllm -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "device-plugin-beside-a-driver",
        code: 1,
        has: &[
            "pod/ml/notebook may use the same hardware",
            "1. move pod/ml/notebook off gpu-1, then stop the device plugin that offers nvidia.com/gpu on gpu-1",
        ],
        has_not: &[],
    },
    Case {
        ask: "check --complete --now=2026-11-28T10:00:00Z",
        file: "device-plugin-beside-a-driver",
        code: 1,
        has: &["DRA037", "pod/ml/notebook"],
        has_not: &[],
    },
    // A custom resource has no pod, as the API server does not accept it.
    Case {
        ask: "explain workflow/gpu-train-7hk2d -n=argo --complete --now=2026-12-01T12:00:00Z",
        file: "workflow-without-claim-entry",
        code: 1,
        has: &[
            "Workflow gpu-train-7hk2d has no pods: workflow-controller",
            "must be one of the names in pod.spec.resourceClaims which is empty",
            "1. change the pod template of workflow/argo/gpu-train-7hk2d as the message says",
            "it has failed, and does not try again",
        ],
        has_not: &["the reason is unknown"],
    },
    Case {
        ask: "explain wf/gpu-train-7hk2d -n=argo --complete --now=2026-12-01T12:00:00Z",
        file: "workflow-without-claim-entry",
        code: 3,
        has: &[
            "no object of kind `wf` is called gpu-train-7hk2d",
            "`workflow/argo/gpu-train-7hk2d`",
        ],
        has_not: &["namespace/wf"],
    },
    // The pod of a virtual machine runs, and the machine does not start in it.
    Case {
        ask: "explain vmi/gpu-vm -n=vms --complete --now=2026-12-01T12:00:00Z",
        file: "machine-fails-in-a-running-pod",
        code: 1,
        has: &[
            "virt-handler",
            "cannot limit locked memory of process 111",
            "the pod is running on vmhost-1",
        ],
        has_not: &["√"],
    },
    Case {
        ask: "explain vm/gpu-vm -n=vms --complete --now=2026-12-01T12:00:00Z",
        file: "machine-fails-in-a-running-pod",
        code: 1,
        has: &["cannot limit locked memory of process 111"],
        has_not: &["√"],
    },
    // A version in a selector has two numbers.
    Case {
        ask: "explain pod/infer-w2kq8 -n=ml --complete --now=2026-12-01T12:00:00Z",
        file: "version-with-two-parts",
        code: 1,
        has: &["1. replace `", "semver(\"580.95.0\")", "tested: fits on n1,n2"],
        has_not: &["1. remove"],
    },
    // Pods have from a device plugin what counts as free.
    Case {
        ask: "explain pod/train-c -n=team --complete --now=2026-11-30T12:00:00Z",
        file: "plugin-pods-on-free-devices",
        code: 1,
        has: &[
            "2 available devices of class gpu.nvidia.com on gpu-1 may be the hardware that pod/team/train-a and pod/team/train-b have from the device \
             plugin for nvidia.com/gpu",
            "Fits on gpu-1 once pod/team/train-a or pod/team/train-b finishes",
            "1. move pod/team/train-a and pod/team/train-b off gpu-1, then stop the device plugin that offers nvidia.com/gpu on gpu-1",
        ],
        has_not: &["1. stop"],
    },
    Case {
        ask: "devices --free --complete --now=2026-11-30T12:00:00Z",
        file: "plugin-pods-on-free-devices",
        code: 0,
        has: &[
            "devices of driver gpu.nvidia.com on gpu-1 that no claim holds may be in use: pod/team/train-a, pod/team/train-b have such hardware from \
             a device plugin (DRA037)",
        ],
        has_not: &[],
    },
    Case {
        ask: "status --complete --now=2026-11-30T12:00:00Z",
        file: "plugin-pods-on-free-devices",
        code: 0,
        has: &["that no claim holds may be in use: pod/team/train-a, pod/team/train-b"],
        has_not: &[],
    },
    Case {
        ask: "explain node/gpu-1 --complete --now=2026-11-30T12:00:00Z",
        file: "plugin-pods-on-free-devices",
        code: 0,
        has: &["that no claim holds may be in use: pod/team/train-a, pod/team/train-b"],
        has_not: &[],
    },
    Case {
        ask: "describe node/gpu-1 --complete --now=2026-11-30T12:00:00Z",
        file: "plugin-pods-on-free-devices",
        code: 0,
        has: &["DRA037"],
        has_not: &[],
    },
    Case {
        ask: "devices --free --complete --now=2026-11-28T10:00:00Z",
        file: "device-plugin-hides-free-devices",
        code: 0,
        has: &["Free"],
        has_not: &["may be in use"],
    },
    // The pod tolerates a taint of devices where only taints of nodes count.
    Case {
        ask: "explain pod/sim-0 -n=team-b --complete --now=2026-12-01T12:00:00Z",
        file: "pod-tolerates-a-device-taint-and-a-node-is-tainted",
        code: 1,
        has: &[
            "; devices of n2 have device taint example.com/reserved=team-b:NoSchedule, and the toleration of the pod counts for nodes only",
            "1. tolerate device taint example.com/reserved=team-b:NoSchedule in request gpu of template/team-b/gpu: tolerations of the pod are for taints of \
             nodes (tested: fits on n2;",
        ],
        has_not: &["1. tolerate node taint"],
    },
    Case {
        ask: "explain pod/sim-0 -n=team-b --emit-fix=1 --complete --now=2026-12-01T12:00:00Z",
        file: "pod-tolerates-a-device-taint-and-a-node-is-tainted",
        code: 0,
        has: &[r#""key":"example.com/reserved","operator":"Equal","value":"team-b""#],
        has_not: &["Exists"],
    },
    Case {
        ask: "explain pod/sim-0 -n=team-b --complete --now=2026-12-01T12:00:00Z",
        file: "pod-tolerates-one-of-two-values-of-device-taints",
        code: 1,
        has: &[
            "4 are tainted; devices of n2 have device taint example.com/reserved=team-b:NoSchedule",
            "1. tolerate device taint example.com/reserved=team-b:NoSchedule in request gpu of template/team-b/gpu: tolerations of the pod are for taints of \
             nodes (tested: fits on n2;",
        ],
        has_not: &[
            "tolerate device taint example.com/reserved=team-a",
            "fits on n1,n2",
        ],
    },
    // Nodes that cannot take the pod for two reasons, one of which is not that of the others.
    Case {
        ask: "explain pod/dual-7hq2x -n=train --complete --now=2026-12-01T12:00:00Z",
        file: "cpus-on-one-node-and-a-pair-on-the-other",
        code: 1,
        has: &["; without it the claims fit; g1: Insufficient cpu: needs 40, 34 of 64 left"],
        has_not: &[],
    },
    Case {
        ask: "explain pod/jupyter-0 -n=nb --complete --now=2026-12-01T12:00:00Z",
        file: "volume-on-one-node-and-the-model-on-the-other",
        code: 1,
        has: &[
            "didn't match PersistentVolume's node affinity; gpu-b: productName is \"NVIDIA A100-SXM4-80GB\"",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain pod/upf-0 -n=dpdk --complete --now=2026-12-01T12:00:00Z",
        file: "huge-pages-on-one-node-and-a-nic-on-the-other",
        code: 1,
        has: &[
            "Insufficient hugepages-1Gi: needs 8Gi, 0 of 0 left; n1: too few devices for request nic (1 in use)",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain pod/infer-6c9d-ccccc -n=serve --complete --now=2026-12-01T12:00:00Z",
        file: "spread-counts-a-zone-without-devices",
        code: 1,
        has: &["za-1 and zb-1 have the devices and resources for it"],
        has_not: &["constraints; zc-1"],
    },
    // What the pod waits for comes without any action, or has not come in time.
    Case {
        ask: "explain pod/web-222bb-nnnnn -n=web --complete --now=2026-12-01T12:00:00Z",
        file: "holder-is-being-deleted-in-time",
        code: 1,
        has: &[
            "pod/web/web-222bb-nnnnn is pending: no node has an available device of class gpu.nvidia.com; pod/web/web-111aa-ttttt, whose end is enough, \
             is being deleted, due at 2026-12-01T12:00:20Z",
            "1. wait for the end of pod/web/web-111aa-ttttt",
        ],
        has_not: &["× pod", "x pod"],
    },
    Case {
        ask: "explain -A --complete --now=2026-12-01T12:00:00Z",
        file: "holder-is-being-deleted-in-time",
        code: 1,
        has: &[
            "1 pod is pending: 1 cause",
            "is being deleted, due at 2026-12-01T12:00:20Z",
        ],
        has_not: &["× ", "x pod", "x 1 pod"],
    },
    Case {
        ask: "explain pod/web-222bb-nnnnn -n=web --complete --now=2026-12-01T12:05:00Z",
        file: "holder-is-being-deleted-in-time",
        code: 1,
        has: &[
            "pod/web/web-222bb-nnnnn is pending: no node has an available device of class gpu.nvidia.com Nodes:",
        ],
        has_not: &["‼ pod", "!! pod"],
    },
    Case {
        ask: "explain pod/frame-77-x2m9p -n=render --complete --now=2026-12-01T12:00:00Z",
        file: "node-was-added-and-its-driver-starts",
        code: 1,
        has: &[
            "pod/render/frame-77-x2m9p is pending: no node has an available device of class gpu.nvidia.com; the driver is starting on gpu-2, added at \
             2026-12-01T11:58:55Z",
            "reported TriggeredScaleUp at 2026-12-01T11:57:12Z, and gpu-2 was added since",
            "1. wait until node/gpu-2",
        ],
        has_not: &["is being added", "2. ", "× pod", "x pod"],
    },
    Case {
        ask: "explain pod/frame-77-x2m9p -n=render --complete --now=2026-12-01T12:30:00Z",
        file: "node-was-added-and-its-driver-starts",
        code: 1,
        has: &["publishes no devices for gpu-2"],
        has_not: &["is starting on gpu-2", "‼ pod", "!! pod"],
    },
    // A pod that holds what is lacking fits on another node, too.
    Case {
        ask: "explain pod/upf-0 -n=dpdk --complete --now=2026-12-01T12:00:00Z",
        file: "huge-pages-on-one-node-and-a-nic-on-the-other",
        code: 1,
        has: &[
            "1. recreate pod/dpdk/fw-0 on n2, which can take it, too (tested: fits on n1)",
            "2. set up hugepages-1Gi on node/n2",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain pod/upf-0 -n=dpdk --emit-fix=1 --complete --now=2026-12-01T12:00:00Z",
        file: "huge-pages-on-one-node-and-a-nic-on-the-other",
        code: 0,
        has: &[
            r#"{"op":"remove","path":"/spec/nodeName"},{"op":"add","path":"/spec/nodeSelector","value":{"kubernetes.io/hostname":"n2"}}"#,
        ],
        has_not: &[],
    },
    // The holder of a shared device has all of its memory, as it requests no amount.
    Case {
        ask: "explain pod/asr -n=apps --complete --now=2026-12-01T12:00:00Z",
        file: "holder-without-an-amount-has-all-memory",
        code: 1,
        has: &[
            "1. request at most 30Gi of memory in template/apps/vgpu (capacity.requests), and recreate pod/apps/ocr (not tested)",
            "2. add a node like v1n",
        ],
        has_not: &[],
    },
    // Each of two devices lacks another counter, and the pod has to be on their node.
    Case {
        ask: "explain pod/ranker -n=ai --complete --now=2026-12-01T12:00:00Z",
        file: "near-a-node-whose-slices-are-fragmented",
        code: 1,
        has: &[
            "memory-slice-2 in gpu-0-counter-set (needs 1, 0 of 1 left), used by devices of claim/ai/tag-a-gpu-q7x",
            "memory-slice-5 in gpu-0-counter-set (needs 1, 0 of 1 left), used by devices of claim/ai/tag-b-gpu-q7x",
            "delete pod/ai/tag-a, which uses claim/ai/tag-a-gpu-q7x (tested: fits on m1)",
            "delete pod/ai/tag-b, which uses claim/ai/tag-b-gpu-q7x (tested: fits on m1)",
        ],
        has_not: &["delete pod/ai/cache-0"],
    },
    // Pods have the same hardware from a device plugin as others from the driver.
    Case {
        ask: "explain pod/score -n=legacy --complete --now=2026-12-01T12:00:00Z",
        file: "plugin-and-driver-own-the-same-devices",
        code: 1,
        has: &["1. add a node like n1 (tested)", "2. delete pod/legacy/new-0"],
        has_not: &["1. move", "2. move"],
    },
    // The replacement may get the same device, or one of another node.
    Case {
        ask: "simulate eviction --complete --now=2026-12-01T12:00:00Z",
        file: "replacement-tolerates-and-has-a-choice",
        code: 0,
        has: &[
            "so they may be scheduled to such devices, and evicted again",
            "fits on n1,n2",
        ],
        has_not: &["again and again"],
    },
    // A node that publishes nothing has the labels of nodes with other devices.
    Case {
        ask: "explain pod/abl-3-v8v8x -n=research --complete --now=2026-12-01T12:00:00Z",
        file: "node-of-a-pool-of-other-devices-publishes-none",
        code: 1,
        has: &[
            "h100-3 has an available NVIDIA H100 80GB HBM3 device, but cannot take the pod: cordoned",
            "1. uncordon node/h100-3",
        ],
        has_not: &["publishes no devices for a100-8", "publish its devices"],
    },
    // A pod with a device from a device plugin fills the memory of it.
    Case {
        ask: "explain pod/vllm-6c5d9f7b8-p0q9r -n=serving --complete --now=2026-11-30T12:00:00Z",
        file: "plugin-pod-fills-the-device",
        code: 1,
        has: &[
            "the pod is bound to eks-g-1, where pod/legacy/triton-0 may use the same hardware, but container main is not running",
            "1. move pod/legacy/triton-0 off eks-g-1, then stop the device plugin that offers nvidia.com/gpu on eks-g-1",
        ],
        has_not: &["1. fix container"],
    },
    Case {
        ask: "explain pod/vllm-6c5d9f7b8-p0q9r -n=serving --complete --now=2026-11-30T12:00:00Z",
        file: "pod-of-a-plugin-that-is-gone",
        code: 1,
        has: &[
            "where pod/legacy/triton-0 may use the same hardware, but container main is not running",
            "1. move pod/legacy/triton-0 off eks-g-1 (not tested)",
        ],
        has_not: &["1. fix container", "stop the device plugin"],
    },
    // A container keeps exiting, and its device is reported unhealthy.
    Case {
        ask: "explain pod/embed-7c9db8954b-p0p0p -n=ml --complete --now=2026-11-30T12:00:00Z",
        file: "container-ends-on-an-unhealthy-device",
        code: 1,
        has: &[
            "the pod is bound to gpu-1, but gpu.nvidia.com/gpu-1/gpu-0 is reported unhealthy: XID 79: GPU has fallen off the bus; container main is \
             not running: it exited with code 1",
            "1. taint gpu.nvidia.com/gpu-1/gpu-0, so that new pods get other devices",
            "2. ask an administrator to repair the device, or to restart node/gpu-1",
            "3. fix container main",
        ],
        has_not: &["Note: gpu.nvidia.com/gpu-1/gpu-0", "Reason:"],
    },
    Case {
        ask: "explain -A --complete --now=2026-11-30T12:00:00Z",
        file: "container-ends-on-an-unhealthy-device",
        code: 1,
        has: &["pod/ml/embed-7c9db8954b-p0p0p: gpu.nvidia.com/gpu-1/gpu-0 is reported unhealthy: XID 79"],
        has_not: &[],
    },
    Case {
        ask: "explain pod/embed-7c9db8954b-p0p0p -n=ml --emit-fix=1 --complete --now=2026-11-30T12:00:00Z",
        file: "container-ends-on-an-unhealthy-device",
        code: 0,
        has: &[
            "kubectl dra simulate eviction --driver=gpu.nvidia.com --pool=gpu-1 --device=gpu-0 --key=unhealthy --emit-rule",
            "NoExecute",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain pod/vllm-6f7c9-tt8vd -n=infer --complete --now=2026-11-30T12:00:00Z",
        file: "health-of-the-kubelet-alone",
        code: 1,
        has: &[
            "but gpu.nvidia.com/gpu-1/gpu-0 is reported unhealthy: XID 79: GPU has fallen off the bus; container main is not running",
            "1. taint gpu.nvidia.com/gpu-1/gpu-0",
        ],
        has_not: &["1. recreate"],
    },
    // A rule taints all devices that the next pod could get.
    Case {
        ask: "explain pod/pod0 -n=apps --complete --now=2026-11-30T12:00:00Z",
        file: "no-untainted-device-for-the-next-pod",
        code: 1,
        has: &[
            "1. recreate the pod",
            "as things are, the new pod fits on no node: it stays pending until devicetaintrule/drain-example-gpus is deleted",
        ],
        has_not: &["the new pod gets another one"],
    },
    // What is evicted again tolerates nothing for a time.
    Case {
        ask: "simulate eviction --taint=gpu.nvidia.com/gpu-1/*=gpu.nvidia.com/xid=63:NoExecute --complete --now=2026-11-30T12:00:00Z",
        file: "tolerates-for-kube-scheduler-alone",
        code: 0,
        has: &[
            "evicted again",
            "replacements tolerate the taints without effect NoExecute, so they are scheduled and evicted again and again",
        ],
        has_not: &["for some time"],
    },
    Case {
        ask: "simulate eviction --driver=fabric.example.com --complete --now=2026-11-30T12:00:00Z",
        file: "claim-of-a-podgroup-on-tainted-devices",
        code: 0,
        has: &["keeps its devices as long as podgroup/hpc/mpi-workers exists"],
        has_not: &["for some time"],
    },
    // A pod that does not end keeps the name that a StatefulSet needs.
    Case {
        ask: "explain statefulset/vllm -n=llm --complete --now=2026-11-30T12:00:00Z",
        file: "silent-node-keeps-the-name-of-a-pod",
        code: 1,
        has: &[
            "pod/llm/vllm-0: the pod is stuck terminating on ip-10-1-56-237: node/ip-10-1-56-237 is not ready: its kubelet has stopped reporting",
        ],
        has_not: &["vllm-1", "once all of them are ready"],
    },
    Case {
        ask: "explain replicaset/vllm -n=llm --complete --now=2026-11-30T12:00:00Z",
        file: "replaced-pod-on-a-silent-node",
        code: 0,
        has: &["pod/llm/vllm-1: the pod is running on ip-10-1-56-240"],
        has_not: &["stuck terminating"],
    },
    // The driver says how far it is with a device.
    Case {
        ask: "explain pod/trainer -n=ai --complete --now=2026-11-30T12:00:00Z",
        file: "fabric-is-attaching",
        code: 1,
        has: &[
            "a100-0 is not attached yet: FabricDeviceReady is False (Attaching: Attaching a100-0 to w-1 through the fabric)",
            "at 2026-11-30T12:09:20Z",
        ],
        has_not: &["has not been set"],
    },
    // A rule for a pool taints devices of two drivers, as their pools have the name of the node.
    Case {
        ask: "simulate eviction --rule=tests/data/field/rule-of-a-pool-of-two-drivers.yml --complete --now=2026-11-30T12:00:00Z",
        file: "pool-of-two-drivers",
        code: 0,
        has: &[
            "devicetaintrule/gpu-2-firmware selects devices of 2 drivers (dra.net, gpu.nvidia.com), as it names none: set \
             spec.deviceSelector.driver, unless all are meant",
        ],
        has_not: &[],
    },
    Case {
        ask: "taints --complete --now=2026-11-30T12:00:00Z",
        file: "pool-of-two-drivers",
        code: 0,
        has: &["devicetaintrule/gpu-2-firmware selects devices of 2 drivers (dra.net, gpu.nvidia.com)"],
        has_not: &[],
    },
    Case {
        ask: "simulate eviction --pool=gpu-2 --driver=gpu.nvidia.com --complete --now=2026-11-30T12:00:00Z",
        file: "pool-of-two-drivers",
        code: 0,
        has: &["train/ft-0-k8x2p"],
        has_not: &["devicetaintrule/kubectl-dra-simulated selects"],
    },
    // Devices of both drivers have another standard attribute.
    Case {
        ask: "explain pod/rdma-0 -n=ai --complete --now=2026-11-28T10:00:00Z",
        file: "other-standard-attribute",
        code: 1,
        has: &["1. compare resource.kubernetes.io/pcieRoot instead of resource.kubernetes.io/numaNode"],
        has_not: &["1. remove the constraint"],
    },
    // A group of nodes is at zero.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "no-node-for-the-driver",
        code: 1,
        has: &["add a node with nvidia.com/gpu.present=true"],
        has_not: &["publish its devices for cpu-1"],
    },
    // A boolean is compared with a text.
    Case {
        ask: "explain pod/nccl-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "boolean-and-text",
        code: 1,
        has: &[
            "1. replace `device.attributes['dra.net'].rdma == 'true'` with `device.attributes['dra.net'].rdma == true`",
        ],
        has_not: &[],
    },
    // A version is compared with a text.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "version-and-text",
        code: 1,
        has: &["driverVersion.compareTo(semver("],
        has_not: &[],
    },
    // A decimal suffix in place of a binary one.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "quantity-that-no-device-has",
        code: 1,
        has: &[
            "1. replace `device.capacity['gpu.nvidia.com'].memory == quantity('80G')` with `device.capacity['gpu.nvidia.com'].memory == quantity('80Gi')`",
        ],
        has_not: &[],
    },
    // The profile of another model.
    Case {
        ask: "explain pod/embed -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "profile-of-another-model",
        code: 1,
        has: &[
            "1. replace `device.attributes['gpu.nvidia.com'].profile == '1g.10gb'` with `device.attributes['gpu.nvidia.com'].profile == '1g.12gb'`",
        ],
        has_not: &[],
    },
    // The name of a model is longer.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "name-of-a-model-in-short",
        code: 1,
        has: &["== 'NVIDIA H100 80GB HBM3'` in request gpu/h100"],
        has_not: &[],
    },
    // The words of the claim controller show its gate.
    Case {
        ask: "explain pod/llm-3 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "gang-member-without-template",
        code: 1,
        has: &[
            "resourceclaimtemplate/ml/one-gpuu not found",
            "did you mean resourceclaimtemplate/ml/one-gpu?",
        ],
        has_not: &["feature is disabled"],
    },
    // The silence of kube-scheduler shows its gate.
    Case {
        ask: "explain pod/llm-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "gang-member-without-template",
        code: 1,
        has: &["needs 4 of its pods together", "pod/ml/llm-3 is pending"],
        has_not: &["check that default-scheduler is running"],
    },
    // An autoscaler may not add a node.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "node-group-at-its-maximum",
        code: 1,
        has: &[
            "1. add a node with such devices: cluster-autoscaler adds none",
            "2. scale deployment/ml/prod",
        ],
        has_not: &[],
    },
    // Claims that no pod uses fill a quota.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "quota-full-of-unused-claims",
        code: 1,
        has: &["no pod uses claim/ml/test-0", "claim/ml/test-1"],
        has_not: &["claim/ml/infer"],
    },
    // The name of an extended resource has a slip.
    Case {
        ask: "explain pod/infer-5d9c7b6f4-m2n8s -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "extended-resource-with-a-slip",
        code: 1,
        has: &["1. replace nvidia.com/gpus with nvidia.com/gpu in container"],
        has_not: &[],
    },
    // A node is cordoned while its driver is upgraded.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "cordoned-by-a-driver-upgrade",
        code: 1,
        has: &["1. wait until node/gpu-2 is updated"],
        has_not: &["uncordon node/gpu-2"],
    },
    // The node with free devices is tainted, and the driver is kept off the other one on purpose.
    Case {
        ask: "explain pod/infer-5d9c7b6f4-w3r5h -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "gpu-node-tainted-beside-cpu-node",
        code: 1,
        has: &["gke-gpu-1 has an available device", "1. tolerate node taint"],
        has_not: &["publishes no devices"],
    },
    // A Job that retries nothing fails for good with its pod.
    Case {
        ask: "explain pod/quick -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "job-without-retries-holds-the-device",
        code: 1,
        has: &["suspend job/ml/longtrain, which ends"],
        has_not: &["first stop"],
    },
    // A disruption budget guards some of the holders.
    Case {
        ask: "explain pod/reindex -n=prod --complete --now=2026-11-28T10:00:00Z",
        file: "budget-guards-a-holder",
        code: 1,
        has: &[
            "1. suspend job/lab/old-experiment",
            "poddisruptionbudget/prod/api allows no further pod",
        ],
        has_not: &[],
    },
    // Of two holders, the one of the lower priority.
    Case {
        ask: "explain pod/report -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "holders-of-two-priorities",
        code: 1,
        has: &["1. scale deployment/ml/zoo"],
        has_not: &[],
    },
    // A rollout that ends no old pod before has that setting already.
    Case {
        ask: "explain pod/vllm-7c9d8b5f6-zt2wq -n=llm --complete --now=2026-11-28T10:00:00Z",
        file: "rollout-to-more-devices",
        code: 1,
        has: &["1. set strategy Recreate"],
        has_not: &["pod by pod"],
    },
    // The slice of a machine like others is empty.
    Case {
        ask: "explain pod/serve-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "slice-without-devices",
        code: 1,
        has: &[
            "its slices for the node have no devices",
            "1. ask the owner of driver",
        ],
        has_not: &[],
    },
    // A rule without a selector taints every device.
    Case {
        ask: "explain pod/infer-5d9c7b6f4-4v7zt -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "rule-for-every-device",
        code: 1,
        has: &["devicetaintrule/drain-gpu-2 taints all devices"],
        has_not: &[],
    },
    // A ready driver publishes nothing for a machine like others.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "node-registered-anew",
        code: 1,
        has: &["1. ask the owner of driver gpu.nvidia.com to publish its devices for gpu-2"],
        has_not: &["1. delete"],
    },
    // A taint that is removed once the driver runs keeps the driver off.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "startup-taint-keeps-the-driver-off",
        code: 1,
        has: &["1. make node/gpu-2 ready", "does not tolerate the taint"],
        has_not: &["1. delete"],
    },
    // What checks nodes has found one broken.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "node-quarantined",
        code: 1,
        has: &["1. make node/gpu-2 ready", "GpuXidError=True"],
        has_not: &["tolerate node taint", "remove taint"],
    },
    // The DaemonSet of the driver selects nodes by affinity, and none has the labels.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "driver-selects-by-affinity",
        code: 1,
        has: &["its node affinity requires"],
        has_not: &["install"],
    },
    // The driver's message has the name of the claim, and with it that of the pod.
    Case {
        ask: "explain pod/vllm-llama-server-7c9d-x9k2p -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "driver-refuses-every-claim",
        code: 1,
        has: &["1. ask the owner of driver gpu.nvidia.com to act on the driver's message"],
        has_not: &["get pod/ml/vllm"],
    },
    // A device file of the CDI specification is missing on the node.
    Case {
        ask: "explain pod/trans-7c9d-j1 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "cdi-host-device-gone",
        code: 1,
        has: &["failed to stat CDI host device", "1. ask the driver's owner"],
        has_not: &["no reason was found"],
    },
    // A hook of the container runtime fails.
    Case {
        ask: "explain pod/test -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "hook-of-an-old-toolkit",
        code: 1,
        has: &[
            "container main has not started: StartError",
            "1. ask an administrator",
        ],
        has_not: &["keeps exiting"],
    },
    // A container is ended for its use of memory.
    Case {
        ask: "explain pod/vllm-7c9d-a -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "out-of-memory",
        code: 1,
        has: &["OOMKilled", "1. raise the memory limit of container main"],
        has_not: &[],
    },
    // A claim that is being deleted keeps its devices.
    Case {
        ask: "explain claim/shared -n=old --complete --now=2026-11-28T10:00:00Z",
        file: "claim-kept-by-a-foreign-entry",
        code: 0,
        has: &["it keeps its devices, although it is being deleted"],
        has_not: &["nothing is allocated"],
    },
    // Only the sandbox of a pod is left.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "sandbox-cannot-be-removed",
        code: 1,
        has: &["cannot remove its sandbox"],
        has_not: &["stop its containers"],
    },
    // client-go has combined the events.
    Case {
        ask: "explain pod/app -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "combined-events",
        code: 1,
        has: &["the driver refuses to prepare claim/ml/app-g"],
        has_not: &["no reason was found"],
    },
    // A container lists an alternative of a request.
    Case {
        ask: "explain pod/infer -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "subrequest-in-a-container",
        code: 1,
        has: &["1. list a request that claim gpu has under resources.claims of container main"],
        has_not: &[],
    },
    // A node is cordoned while OpenShift updates it.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "cordoned-by-the-machine-config",
        code: 1,
        has: &[
            "1. wait until node/gpu-2 is updated",
            "machineconfiguration.openshift.io/state: Working",
        ],
        has_not: &["uncordon node/gpu-2"],
    },
    // Which pod of the Job ends makes no difference.
    Case {
        ask: "explain pod/nb-1 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "devices-of-one-job",
        code: 1,
        has: &[
            "1. add a node like gpu-1",
            "2. suspend job/ml/llm, which ends its 4 pods, pod/ml/llm-0",
        ],
        has_not: &[
            "3. suspend",
            "3. delete pod",
            "podgroup/ml/llm runs its pods together",
        ],
    },
    // A pool is incomplete for two seconds.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "pool-is-being-published",
        code: 1,
        has: &["1. wait until the driver has published all slices of pool/gpu.nvidia.com/gpu-2"],
        has_not: &["ask the driver's owner"],
    },
    // A volume is still attached to a dead node.
    Case {
        ask: "explain pod/nb-5d9c7b6f4-bbbbb -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "volume-attached-elsewhere",
        code: 1,
        has: &[
            "cannot mount its volumes: Multi-Attach error",
            "1. end the pod that uses the volume on another node",
            "node.kubernetes.io/out-of-service:NoExecute",
        ],
        has_not: &[],
    },
    // What claims hold does not show what there is.
    Case {
        ask: "status -n=ml --now=2026-11-28T10:00:00Z",
        file: "claims-without-slices",
        code: 0,
        has: &["Drivers: <unknown>"],
        has_not: &["0/0", "100%"],
    },
    // Another scheduler says in an event of type Normal why the pod waits.
    Case {
        ask: "explain pod/spark-exec-7 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "queue-of-yunikorn-full",
        code: 4,
        has: &["yunikorn (at 2026-11-28T09:05:00Z): Request 'a8f9' does not fit in queue 'root.ml'"],
        has_not: &["has reported nothing"],
    },
    // KAI says it in the group of the pod, by pools of nodes.
    Case {
        ask: "explain pod/train-x7k2p -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "group-of-kai-over-quota",
        code: 4,
        has: &["kai-scheduler (at 2026-11-28T09:10:00Z): NonPreemptibleOverQuota"],
        has_not: &["has reported nothing"],
    },
    // The DaemonSet of another vendor is called like a GPU.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "driver-of-another-vendor-crashes",
        code: 1,
        has: &["1. add a node like", "2. delete pod/ml/a"],
        has_not: &["publishes no devices", "is crashing"],
    },
    Case {
        ask: "explain driver/gpu.nvidia.com --complete --now=2026-11-28T10:00:00Z",
        file: "drivers-of-two-vendors",
        code: 0,
        has: &[
            "Pods Created By: daemonset/nvidia-dra-driver-gpu/nvidia-dra-driver-gpu-kubelet-plugin Nodes:",
        ],
        has_not: &["daemonset/amd"],
    },
    // A DaemonSet is called like the beginning of a word of the driver.
    Case {
        ask: "explain pod/dpdk -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "driver-called-like-its-beginning",
        code: 1,
        has: &[
            "publishes no devices for n-1, n-2: pod/dra-sriov-driver/dra-driver-sriov-kubeletplugin-dceaf is crashing",
        ],
        has_not: &["install the driver"],
    },
    // The kubelet rejects the pod of the driver.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "driver-pod-without-cpu",
        code: 1,
        has: &[
            "has failed: OutOfcpu: Pod was rejected",
            "1. ask the owner of driver gpu.nvidia.com to publish its devices for gpu-2",
        ],
        has_not: &["has no pod there"],
    },
    // The manifest is of a version that is not served by default; the objects of the cluster show nothing else.
    Case {
        ask: "explain -f=tests/data/field/manifest-of-v1beta1.yaml -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "node-for-an-old-manifest",
        code: 0,
        has: &[
            "ResourceClaimTemplate/ml/single-gpu: the API server does not serve resource.k8s.io/v1beta1 by default; write it as resource.k8s.io/v1",
        ],
        has_not: &["Pod/ml/beta-pod: the API server"],
    },
    // A webhook cannot be called for the pods of the driver.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "webhook-of-a-driver-pod-down",
        code: 1,
        has: &[
            "ask an administrator to start the pods of service/kyverno/kyverno-svc: the API server cannot call its webhook validate.kyverno.svc-fail",
        ],
        has_not: &["fix what the API server rejects"],
    },
    // The same, of claims.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "webhook-of-a-claim-down",
        code: 1,
        has: &[
            "the API server does not accept its claim: Internal error occurred: failed calling webhook",
            "1. start the pods of service/nvidia-dra-driver-gpu/nvidia-dra-driver-gpu-webhook",
        ],
        has_not: &["no reason was found", "unknown bug"],
    },
    // The standard of its namespace refuses the pods of a driver, whose DaemonSet does not select cpu-1.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "pod-security-refuses-a-driver",
        code: 1,
        has: &[
            "publishes no devices for gpu-1, gpu-2: the API server rejects",
            "pod-security.kubernetes.io/enforce=privileged",
        ],
        has_not: &["for cpu-1"],
    },
    // The same where it selects nodes by affinity.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "webhook-down-and-node-affinity",
        code: 1,
        has: &["publishes no devices for gpu-2: the API server rejects"],
        has_not: &["for cpu-1"],
    },
    // The kubelet says why it does not start the pod of a driver.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "runtime-of-a-driver-not-configured",
        code: 1,
        has: &[
            "is not ready: kubelet, 1370 times, last at 2026-11-28T09:57:00Z: Failed to create pod sandbox",
            "fix what keeps the kubelet from starting its pod",
        ],
        has_not: &["kubectl logs"],
    },
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "host-path-of-a-driver-missing",
        code: 1,
        has: &["hostPath type check failed: /var/run/cdi is not a directory"],
        has_not: &["kubectl logs"],
    },
    // There is no pod to explain again.
    Case {
        ask: "explain job/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "workload-deactivated-after-retries",
        code: 1,
        has: &["1. activate workload/ml/job-train-0a1b2"],
        has_not: &["explain pod/train"],
    },
    // The pod of an old revision names a template that is not there; the newer pod template names another one.
    Case {
        ask: "explain pod/vec-1 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "pod-of-a-revision-with-a-misspelled-template",
        code: 1,
        has: &[
            "resourceclaimtemplate/ml/one-gpuu not found",
            "StatefulSet vec has a newer pod template than this pod",
            "1. delete pod/ml/vec-1, which has an earlier pod template than its StatefulSet",
        ],
        has_not: &["create resourceclaimtemplate", "name one-gpu instead"],
    },
    // The newer pod template names the same: a new pod would lack it, too.
    Case {
        ask: "explain pod/vec-1 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "pod-of-a-revision-with-the-same-template",
        code: 1,
        has: &["1. name one-gpu instead, or create resourceclaimtemplate/ml/one-gpuu"],
        has_not: &["delete pod/ml/vec-1"],
    },
    // A DaemonSet whose user deletes its pods.
    Case {
        ask: "explain pod/probe-x7k2p -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "daemon-set-updated-on-delete",
        code: 1,
        has: &["1. delete pod/ml/probe-x7k2p, which has an earlier pod template than its DaemonSet"],
        has_not: &["create claim/ml/nic", "StatefulSet"],
    },
    // One old pod of two makes enough room.
    Case {
        ask: "explain pod/vllm-5f9-ccccc -n=serve --complete --now=2026-11-28T10:00:00Z",
        file: "rollout-of-two-without-room",
        code: 1,
        has: &[
            "1. set maxSurge 0 and maxUnavailable 1 in deployment/serve/vllm, which deletes an old pod before creating a new one",
        ],
        has_not: &["Recreate"],
    },
    // A node is being added, and the driver is starting there; it is kept off the other nodes.
    Case {
        ask: "explain pod/eval-0-c8mnd -n=serve --complete --now=2026-11-28T10:00:00Z",
        file: "new-node-whose-driver-starts",
        code: 1,
        has: &[
            "no devices are published",
            "May fit on gpu-a1 once the driver there has published its devices",
            "1. wait until node/gpu-a1",
        ],
        has_not: &["for cpu-1", "install the driver", "nodeSelector", "2."],
    },
    // No pod has to end meanwhile.
    Case {
        ask: "explain pod/eval-0-c8mnd -n=serve --complete --now=2026-11-28T10:00:00Z",
        file: "new-node-beside-one-in-use",
        code: 1,
        has: &[
            "Fits on gpu-a0 once pod/serve/busy finishes",
            "1. wait until node/gpu-a1",
        ],
        has_not: &["delete pod", "add a node"],
    },
    // Another scheduler takes nothing from the queue.
    Case {
        ask: "explain pod/infer-66d-4lqvn -n=batch --complete --now=2026-11-28T10:00:00Z",
        file: "queue-of-volcano-is-closed",
        code: 1,
        has: &[
            "queue infer of its PodGroup is Closed",
            "1. open queue infer, or create the pod in another queue",
            "vcctl queue operate --action=open",
        ],
        has_not: &["possible cause"],
    },
    Case {
        ask: "explain pod/segment-0 -n=vision --complete --now=2026-11-28T10:00:00Z",
        file: "queue-of-kai-does-not-exist",
        code: 1,
        has: &[
            "queue team-vision of its PodGroup does not exist",
            "1. create the pod in queue vision instead, or create queue team-vision",
            "label kai.scheduler/queue",
        ],
        has_not: &["possible cause"],
    },
    // A queue that is open is not the reason.
    Case {
        ask: "explain pod/infer-66d-4lqvn -n=batch --complete --now=2026-11-28T10:00:00Z",
        file: "queue-of-volcano-is-open",
        code: 4,
        has: &["according to the simulation it fits"],
        has_not: &["queue infer"],
    },
    // Another scheduler has said why: it decides, and not kube-scheduler's rules.
    Case {
        ask: "explain pod/infer-0 -n=team-b --complete --now=2026-11-30T12:00:00Z",
        file: "refused-by-a-rule-of-kai",
        code: 4,
        has: &[
            "infer-0: kai-scheduler (90×",
            "but does not have a queue label (kai.scheduler/queue).; according to the simulation it fits",
            "1. act on the message of scheduler kai-scheduler",
        ],
        has_not: &["bug"],
    },
    // Those who wait for a pod may be what its gate waits for.
    Case {
        ask: "explain pod/disagg-0-decode-3w -n=dyn --complete --now=2026-11-30T12:00:00Z",
        file: "gated-pod-of-a-compute-domain",
        code: 1,
        has: &[
            "pod/dyn/disagg-0-decode-1w and pod/dyn/disagg-0-decode-2w cannot start without this pod",
            "if its gate is kept until they are ready, waiting will not help",
        ],
        has_not: &[],
    },
    // What Kueue says about claims.
    Case {
        ask: "explain job/finetune -n=research --complete --now=2026-11-28T10:00:00Z",
        file: "kueue-refuses-a-named-claim",
        code: 1,
        has: &["1. recreate Job finetune with resourceClaimTemplateName instead of resourceClaimName"],
        has_not: &["act on Kueue's message"],
    },
    Case {
        ask: "explain job/tune-mig -n=research --complete --now=2026-11-28T10:00:00Z",
        file: "kueue-has-not-read-its-mapping",
        code: 1,
        has: &[
            "1. add the DeviceClass to deviceClassMappings in the configuration of kueue-controller-manager, and restart it",
            "if the class is there already, only restart it",
        ],
        has_not: &["act on Kueue's message", "recreate"],
    },
    // A pod group of Kueue lacks a pod.
    Case {
        ask: "explain pod/rank-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "pod-group-of-kueue-lacks-a-pod",
        code: 1,
        has: &[
            "Kueue waits for all pods of pod group train: 2 of 3 are there",
            "1. create 1 missing pod of pod group ml/train",
        ],
        has_not: &["removes its gate"],
    },
    // An autoscaler adds no nodes for claims.
    Case {
        ask: "explain pod/llm-84c-7mzkq -n=serve --complete --now=2026-11-28T10:00:00Z",
        file: "karpenter-ignores-claims",
        code: 1,
        has: &[
            "of class gpu.nvidia.com or any other; karpenter adds no node for pods with claims",
            "settings.ignoreDRARequests",
        ],
        has_not: &[],
    },
    // The label is on the template, and not on its claims.
    Case {
        ask: "explain pod/render-6d8-hh5vq -n=studio --complete --now=2026-11-28T10:00:00Z",
        file: "label-missing-on-generated-claims",
        code: 1,
        has: &[
            "1. change resourceclaimtemplate/studio/one-gpu as the message says: recreate it",
            "claims get the labels and annotations of spec.metadata",
        ],
        has_not: &[],
    },
    // A Job of MultiKueue has its pods in another cluster.
    Case {
        ask: "explain job/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "job-in-another-cluster",
        code: 0,
        has: &["has no pods here: kueue.x-k8s.io/multikueue runs it"],
        has_not: &["unknown"],
    },
    Case {
        ask: "explain -A --complete --now=2026-11-28T10:00:00Z",
        file: "job-in-another-cluster",
        code: 0,
        has: &["no pod or claim is pending"],
        has_not: &["job/train"],
    },
    // Kueue has admitted the Workload, and leaves a gate.
    Case {
        ask: "explain pod/train-x7k2p -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "gate-of-kueue-left",
        code: 1,
        has: &[
            "1. ask an administrator to check the log of kueue-controller-manager",
            "has been admitted since 2026-11-28T09:02:00Z",
        ],
        has_not: &["1. wait until"],
    },
    // The controller that makes the template has no node.
    Case {
        ask: "explain pod/nccl-0 -n=default --complete --now=2026-11-28T10:00:00Z",
        file: "controller-of-a-domain-pending",
        code: 1,
        has: &[
            "1. get the controller of computedomain/default/cd running: pod/nvidia-dra-driver-gpu/nvidia-dra-driver-gpu-controller-6b8f9c7d5-h2j4k is pending",
        ],
        has_not: &["wait until the controller"],
    },
    // Another scheduler binds a pod without its claim.
    Case {
        ask: "explain pod/quickstart-task-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "bound-without-a-claim-by-volcano",
        code: 1,
        has: &["first enable dynamic resource allocation in that scheduler"],
        has_not: &["restart"],
    },
    // The nodes of a driver are added when they are needed.
    Case {
        ask: "explain driver/gpu.nvidia.com --complete --now=2026-11-28T10:00:00Z",
        file: "nodes-scaled-to-zero",
        code: 4,
        has: &["which no node has"],
        has_not: &["correct its nodeSelector"],
    },
    // A driver that serves its nodes has none to fix.
    Case {
        ask: "explain driver/gpu.amd.com --complete --now=2026-11-28T10:00:00Z",
        file: "drivers-of-two-vendors",
        code: 0,
        has: &["publishes 1 device for 1 node"],
        has_not: &["check whether it should run"],
    },
    // A webhook cannot be called for the pods of a Job.
    Case {
        ask: "explain job/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "webhook-of-a-job-down",
        code: 1,
        has: &[
            "failed calling webhook",
            "1. start the pods of service/kueue-system/kueue-webhook-service",
        ],
        has_not: &[],
    },
    // The pod was deleted before it had a claim: its kubelet unprepares nothing.
    Case {
        ask: "explain pod/vm -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "deleted-before-its-claim",
        code: 1,
        has: &[
            "it was deleted before its claim gpu was created",
            "1. force-delete the pod",
        ],
        has_not: &["driver gpu.nvidia.com"],
    },
    Case {
        ask: "check --complete --now=2026-11-28T10:00:00Z",
        file: "deleted-before-its-claim",
        code: 1,
        has: &["DRA086"],
        has_not: &[],
    },
    // The kubelet does not remove a pod that has failed.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "failed-and-not-removed",
        code: 1,
        has: &[
            "the kubelet on gpu-1 has not removed it",
            "1. ask an administrator to check the logs of the kubelet on gpu-1",
        ],
        has_not: &["unprepare"],
    },
    // A pod that tolerates a taint for a time runs as its owner asked for.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "taint-tolerated-until-later",
        code: 0,
        has: &[
            "the pod is running on gpu-1",
            "which evicts the pod at 2026-11-28T11:00:00Z",
        ],
        has_not: &["delete devicetaintrule"],
    },
    // The pod fits, and tolerates the taint of its device for a time that is over.
    Case {
        ask: "explain deployment/web -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "evicted-as-soon-as-placed",
        code: 1,
        has: &[
            "but would be evicted immediately",
            "1. remove the toleration with tolerationSeconds",
        ],
        has_not: &[],
    },
    // What set the finalizer runs.
    Case {
        ask: "explain pod/worker-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "finalizer-of-a-running-kueue",
        code: 1,
        has: &["1. wait until pod/kueue-system/"],
        has_not: &["remove finalizer kueue.x-k8s.io/managed from the pod"],
    },
    // Nothing obeys a rule whose gate is off by default.
    Case {
        ask: "explain pod/train -n=ml --kubernetes-version=v1.36.2 --complete --now=2026-11-28T10:00:00Z",
        file: "rule-without-its-gate",
        code: 1,
        has: &[
            "gate DRADeviceTaintRules may be off in kube-controller-manager",
            "1. ask an administrator whether DRADeviceTaintRules is enabled",
        ],
        has_not: &["delete devicetaintrule/sick-gpu-0"],
    },
    Case {
        ask: "taints --kubernetes-version=v1.36.2 --complete --now=2026-11-28T10:00:00Z",
        file: "rule-without-its-gate",
        code: 0,
        has: &["DRADeviceTaintRules is off by default in this release"],
        has_not: &[],
    },
    Case {
        ask: "check --kubernetes-version=v1.36.2 --complete --now=2026-11-28T10:00:00Z",
        file: "rule-without-its-gate",
        code: 1,
        has: &["gate DRADeviceTaintRules may be off"],
        has_not: &[],
    },
    // The scheduler lacks a gate that the API server has on.
    Case {
        ask: "explain pod/mig -n=ml --kubernetes-version=v1.35.2 --complete --now=2026-11-28T10:00:00Z",
        file: "partitions-without-the-gate",
        code: 1,
        has: &[
            "1. ask an administrator to enable DRAPartitionableDevices in kube-scheduler, or to upgrade to 1.36",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain pod/legacy -n=ml --kubernetes-version=v1.35.2 --complete --now=2026-11-28T10:00:00Z",
        file: "extended-resource-without-the-gate",
        code: 1,
        has: &["1. ask an administrator to enable DRAExtendedResource in kube-scheduler"],
        has_not: &[],
    },
    // A container starts without its devices, as the kubelet has the feature off by default.
    Case {
        ask: "explain pod/legacy -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "kubelet-without-extended-resources",
        code: 1,
        has: &[
            "has feature DRAExtendedResource off by default",
            "1. ask an administrator to upgrade the kubelet on gpu-1",
        ],
        has_not: &["1. fix container"],
    },
    // kube-scheduler deletes what its earlier attempt left, and tries again.
    Case {
        ask: "explain pod/train-0 -n=ml --complete --now=2026-11-30T12:00:00Z",
        file: "extended-claim-of-an-earlier-attempt",
        code: 1,
        has: &[
            "claim/ml/train-0-extended-resources-8v2lq of an earlier attempt remains",
            "Fits on gpu-1 or gpu-2 once kube-scheduler deletes claim/ml/train-0-extended-resources-8v2lq",
            "1. wait until kube-scheduler deletes claim/ml/train-0-extended-resources-8v2lq",
        ],
        has_not: &["Unknown", "no tested change", "kubectl delete"],
    },
    // For an hour it has not.
    Case {
        ask: "explain pod/train-0 -n=ml --complete --now=2026-11-30T13:00:00Z",
        file: "extended-claim-of-an-earlier-attempt",
        code: 1,
        has: &["1. delete claim/ml/train-0-extended-resources-8v2lq"],
        has_not: &["wait until"],
    },
    Case {
        ask: "explain pod/train-0 -n=ml --complete --now=2026-11-30T12:00:00Z",
        file: "extended-claim-just-deleted",
        code: 0,
        has: &[
            "fits on 2 of 2 nodes",
            "kube-scheduler has just released a claim of an earlier attempt, and tries again: no action needed",
        ],
        has_not: &["unknown bug", "according to the simulation"],
    },
    Case {
        ask: "explain pod/train-0 -n=ml --complete --now=2026-11-30T13:00:00Z",
        file: "extended-claim-just-deleted",
        code: 4,
        has: &["according to the simulation it fits on 2 of 2 nodes"],
        has_not: &["unknown bug", "no action needed"],
    },
    // Devices that stand for CPU of the node are for one pod.
    Case {
        ask: "explain pod/encoder-6c9f-bbbbb -n=web --complete --now=2026-11-30T12:00:00Z",
        file: "cores-shared-by-two-pods",
        code: 1,
        has: &[
            "is pending: claim/web/encoder-cores is for one pod only, as its devices stand for resources of the node",
            "other pods of Deployment encoder use it",
            "1. give each pod of ReplicaSet encoder-6c9f a claim of its own, from a claim template, instead of claim/web/encoder-cores",
        ],
        has_not: &["add a node", "need the node of its devices"],
    },
    // One component lacks a gate that the others have on.
    Case {
        ask: "explain pod/ring-0-k0xx2 -n=ml --complete --now=2026-11-30T12:00:00Z",
        file: "group-claims-off-in-the-controller",
        code: 1,
        has: &[
            "kube-controller-manager does not create its claim, which needs DRAWorkloadResourceClaims: the gate is off there",
            "1. ask an administrator to enable DRAWorkloadResourceClaims in kube-controller-manager",
        ],
        has_not: &["Unknown"],
    },
    Case {
        ask: "check --complete --now=2026-11-30T12:00:00Z",
        file: "group-claims-off-in-the-controller",
        code: 1,
        has: &[
            "DRA076",
            "kube-controller-manager does not create its claim, which needs DRAWorkloadResourceClaims: the gate is off there; the same holds for 1 other pod",
        ],
        has_not: &["may not be running"],
    },
    // The kubelets lack a gate that the control plane has on.
    Case {
        ask: "explain pod/sim-0 -n=ml --complete --now=2026-11-30T12:00:00Z",
        file: "kubelets-without-optional-node-operations",
        code: 1,
        has: &[
            "skip node operations, which the kubelets of w-1, w-2 do not support: they do not declare feature DRAOptionalNodeOperations",
            "1. ask an administrator to enable DRAOptionalNodeOperations in the kubelets of w-1, w-2",
        ],
        has_not: &["is pending: skips"],
    },
    // The eviction counts no toleration without an effect.
    Case {
        ask: "explain pod/try-0 -n=lab --complete --now=2026-11-30T12:00:00Z",
        file: "evicting-rule-tolerated-without-effect",
        code: 1,
        has: &[
            "it is tolerated without effect NoExecute, which does not stop the eviction",
            "set effect: NoExecute in the toleration of ops.example.com/preview",
        ],
        has_not: &[],
    },
    Case {
        ask: "simulate eviction --rule=tests/data/field/rule-of-a-pool.yml --toleration-report --complete --now=2026-11-30T12:00:00Z",
        file: "toleration-without-an-effect",
        code: 0,
        has: &["no: without effect NoExecute", "forever"],
        has_not: &[],
    },
    // A rule for a device of one node taints that of another, too.
    Case {
        ask: "explain pod/infer-6c9f-ccccc -n=ml --complete --now=2026-11-30T12:00:00Z",
        file: "rule-without-a-pool",
        code: 1,
        has: &[
            "1. set spec.deviceSelector.pool of devicetaintrule/gpu-a-gpu-1-ecc, if it is meant for one pool: it taints device gpu-1 of pool/gpu.nvidia.com/gpu-a, pool/gpu.nvidia.com/gpu-b (tested: fits on gpu-b)",
        ],
        has_not: &["1. tolerate", "1. delete"],
    },
    Case {
        ask: "taints --complete --now=2026-11-30T12:00:00Z",
        file: "rule-without-a-selector-before-1.37.1",
        code: 0,
        has: &[
            "kube-scheduler before 1.37.1 applies devicetaintrule/burn-in, which has no selector, to every device",
        ],
        has_not: &[],
    },
    Case {
        ask: "taints --complete --now=2026-11-30T12:00:00Z --kubernetes-version=v1.37.2",
        file: "rule-without-a-selector-before-1.37.1",
        code: 0,
        has: &["rule/burn-in"],
        has_not: &["before 1.37.1"],
    },
    // The driver's controller may not set the condition.
    Case {
        ask: "explain pod/train-0 -n=ml --complete --now=2026-11-30T12:00:00Z",
        file: "status-of-devices-not-permitted",
        code: 1,
        has: &[
            "as user system:serviceaccount:nic-system:nic-controller cannot arbitrary-node:update resourceclaims/driver",
            "1. add a rule for arbitrary-node:update of resourceclaims/driver to a role of user system:serviceaccount:nic-system:nic-controller",
            "apiGroups: [resource.k8s.io], resources: [resourceclaims/driver], verbs: [arbitrary-node:update]",
        ],
        has_not: &["ask the driver's owner why"],
    },
    Case {
        ask: "check --details --complete --now=2026-11-30T12:00:00Z",
        file: "status-of-devices-not-permitted",
        code: 1,
        has: &[
            "DRA027",
            "add a rule for arbitrary-node:update of resourceclaims/driver",
        ],
        has_not: &["restart kube-scheduler"],
    },
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "kubelet-without-claims",
        code: 1,
        has: &[
            "has feature DynamicResourceAllocation off by default",
            "1. ask an administrator to upgrade the kubelet on gpu-2",
        ],
        has_not: &["1. fix container"],
    },
    // A gang that never gets as many pods as it needs, and one that fits in no domain of its topology.
    Case {
        ask: "explain pod/train-0-x -n=ml --feature-gates=GenericWorkload=true --complete --now=2026-11-28T10:00:00Z",
        file: "gang-larger-than-its-job",
        code: 1,
        has: &[
            "podgroup/ml/gang needs 4 pods before any is scheduled",
            "1. reduce minCount of podgroup/ml/gang from 4 to 3",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain pod/train-0-x -n=ml --feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true --complete --now=2026-11-28T10:00:00Z",
        file: "gang-larger-than-a-rack",
        code: 4,
        has: &[
            "1. remove the topology constraint from podgroup/ml/gang",
            "topology.example.com/rack",
        ],
        has_not: &[],
    },
    // Only an init container that has finished lists the claim.
    Case {
        ask: "explain pod/want -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "device-of-a-finished-init-container",
        code: 1,
        has: &["only init container convert, which has finished, lists claim"],
        has_not: &[],
    },
    Case {
        ask: "explain pod/srv-7c9d-a -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "device-of-a-finished-init-container",
        code: 0,
        has: &["only init container convert, which has finished"],
        has_not: &[],
    },
    // The daemon of a ComputeDomain crashes on the node.
    Case {
        ask: "explain pod/nccl-worker-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "domain-daemon-crashes",
        code: 1,
        has: &[
            "1. get pod/nvidia-dra-driver-gpu/computedomain-daemon-21966b51-bac5-cc20-k2m4x running",
            "fabric state not ready",
        ],
        has_not: &["get all nodes"],
    },
    Case {
        ask: "explain pod/nccl-1 -n=default --complete --now=2026-11-28T10:00:00Z",
        file: "domain-daemon-crashes-on-one-of-two-nodes",
        code: 1,
        has: &["-20ba1 running", "No matching network interface found"],
        has_not: &["get all nodes"],
    },
    // A probe fails: of a sidecar, and of a container that needs more time.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "sidecar-probe-fails",
        code: 1,
        has: &[
            "container proxy, which others wait for, is not healthy",
            "1. fix container proxy",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain deployment/vllm -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "startup-probe-too-short",
        code: 1,
        has: &["1. fix container main, whose probe fails", "failureThreshold"],
        has_not: &["memory limit"],
    },
    // One of the drivers of a claim refuses its device.
    Case {
        ask: "explain pod/nccl -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "one-of-two-drivers-refuses",
        code: 1,
        has: &["1. ask the owner of driver dra.net to act"],
        has_not: &["owner of driver gpu.nvidia.com"],
    },
    // No kubelet knows the driver, which runs on all nodes.
    Case {
        ask: "explain pod/a -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "driver-in-another-root",
        code: 1,
        has: &[
            "1. ask the owner of driver gpu.nvidia.com to check whether it registers in the directory of the kubelets",
        ],
        has_not: &["1. restart the pod"],
    },
    // Both pods with a claim lost its devices with a reboot.
    Case {
        ask: "explain deployment/svc -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "rebooted-with-a-shared-claim",
        code: 1,
        has: &["1. recreate the pods on this node that use the claim"],
        has_not: &["ask the owner of pod/ml/svc-7c9d-b"],
    },
    // The driver keeps others off a broken device.
    Case {
        ask: "explain deployment/llm -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "unhealthy-and-tainted",
        code: 1,
        has: &["1. recreate the pod", "the new pod gets another one"],
        has_not: &["gpu-0 first, or it may be allocated again"],
    },
    // A new node stays unregistered, and one that is updated stays cordoned.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "karpenter-does-not-register",
        code: 1,
        has: &[
            "Karpenter has not registered the node",
            "1. make node/gpu-2 ready",
        ],
        has_not: &["wait for the node that karpenter is adding"],
    },
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "kured-crashes",
        code: 1,
        has: &["1. ask an administrator to check pod/kube-system/kured-96fe1, which is not running"],
        has_not: &["no action needed"],
    },
    // What the driver runs upon does not start on the node.
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "paused-for-a-failed-upgrade",
        code: 1,
        has: &[
            "pod/gpu-operator/nvidia-driver-daemonset-e410b is crashing (container k8s-driver-manager: CrashLoopBackOff",
        ],
        has_not: &["check whether it should run on such nodes"],
    },
    Case {
        ask: "explain pod/train -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "kernel-driver-without-image",
        code: 1,
        has: &[
            "pod/gpu-operator/nvidia-driver-daemonset-e410b does not start (container nvidia-driver-ctr: ImagePullBackOff",
        ],
        has_not: &[],
    },
    // The workers of a leader are created once it is ready.
    Case {
        ask: "explain pod/vllm-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "leader-waits-for-workers",
        code: 1,
        has: &["1. set startupPolicy of LeaderWorkerSet vllm to LeaderCreated"],
        has_not: &[],
    },
    // The pods of a migration have one claim.
    Case {
        ask: "explain pod/virt-launcher-desktop-bbbbb -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "migration-with-a-shared-claim",
        code: 1,
        has: &["delete its VirtualMachineInstanceMigration"],
        has_not: &["check the podAntiAffinity"],
    },
    // No controller creates claims.
    Case {
        ask: "check --complete --now=2026-11-28T10:00:00Z",
        file: "claims-are-not-created",
        code: 1,
        has: &[
            "DRA076",
            "pod/ml/next",
            "kube-controller-manager may not be running",
        ],
        has_not: &[],
    },
    // Another scheduler has placed the pod without its claim.
    Case {
        ask: "explain pod/quickstart-task-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "bound-without-a-claim-by-volcano",
        code: 1,
        has: &["1. let scheduler volcano allocate claims, or let default-scheduler place the pod"],
        has_not: &["1. recreate the pod"],
    },
    // No node has the devices of both drivers.
    Case {
        ask: "explain pod/allreduce -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "gpu-here-nic-there",
        code: 1,
        has: &[
            "driver rdma.example.com publishes no devices for gpu-1, gpu-2: daemonset/rdma-driver/rdma-driver-kubelet-plugin has no pod there: its nodeSelector requires rdma.example.com/present=true",
        ],
        has_not: &[],
    },
    // A CronJob does nothing to the Jobs of its earlier runs.
    Case {
        ask: "explain pod/nightly-29400540-d2x7v -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "earlier-run-of-a-cronjob",
        code: 1,
        has: &["Fits on gpu-1 once pod/ml/nightly-29400480-f8k2m finishes"],
        has_not: &["Unknown whether waiting helps", "kubectl delete", "suspend job"],
    },
    // A claim that no pod uses takes what the quota allows.
    Case {
        ask: "explain pod/train-z5c8v -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "quota-used-by-an-idle-claim",
        code: 1,
        has: &[
            "delete claim/ml/reserved-for-demo, which no pod uses (not tested)",
            "raise resourcequota/ml/gpus",
        ],
        has_not: &["1. raise resourcequota", "1: raise resourcequota"],
    },
    // A quota counts the largest of several alternatives.
    Case {
        ask: "explain pod/flexible -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "list-counts-its-most-for-quota",
        code: 1,
        has: &[
            "it requests up to 4 gpu.nvidia.com.deviceclass.resource.k8s.io/devices (of alternatives the largest counts)",
        ],
        has_not: &[],
    },
    // A rule that selects nothing in particular taints every device.
    Case {
        ask: "explain pod/infer-5d9c7b6f4-4v7zt -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "rule-with-empty-selector",
        code: 1,
        has: &[
            "delete devicetaintrule/drain-gpu-2 (tested",
            "set spec.deviceSelector.pool of the rule instead",
        ],
        has_not: &["1. tolerate", "1: tolerate"],
    },
    // Pods of a group end together.
    Case {
        ask: "explain pod/qwen-0-1 -n=llm --complete --now=2026-11-28T10:00:00Z",
        file: "group-of-pods-holds-devices",
        code: 1,
        has: &[
            "scale leaderworkerset/llm/deepseek from 1 to 0",
            "delete pod/llm/sandbox-lee",
        ],
        has_not: &["delete pod/llm/deepseek", "3. delete", "3: delete"],
    },
    // A virtual machine is stopped, not its pod.
    Case {
        ask: "explain pod/virt-launcher-win-2-p4s7x -n=vms --complete --now=2026-11-28T10:00:00Z",
        file: "vm-behind-a-vm",
        code: 1,
        has: &[
            "stop virtualmachine/vms/win-1, which ends its pods, such as pod/vms/virt-launcher-win-1-k8d2f",
        ],
        has_not: &["kubectl delete"],
    },
    // A Job that has done its work is no problem.
    Case {
        ask: "explain job/done -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "job-is-done",
        code: 0,
        has: &["pod/ml/done-4k2lp: the pod has finished: Succeeded"],
        has_not: &["‼", "!!"],
    },
    // The quota admits no pod that requests as much.
    Case {
        ask: "explain statefulset/legacy -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "quota-below-one-pod",
        code: 1,
        has: &["request less in each pod, or raise resourcequota/ml/team, which has nothing in use"],
        has_not: &["delete pods"],
    },
    // Karpenter says why it adds no node, before pods of others end.
    Case {
        ask: "explain pod/train-b-9hq4z -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "nodepool-at-its-limit",
        code: 1,
        has: &[
            "add a node with such devices: karpenter adds none, because a NodePool has reached its limits",
            "pod/ml/train-a-k7dnw among them, and releases",
        ],
        has_not: &["1. suspend", "1: suspend"],
    },
    // A node for pods that may be interrupted is tolerated before pods of others end.
    Case {
        ask: "explain pod/distill-hv8sm -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "spot-taint",
        code: 1,
        has: &[
            "tolerate node taint kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
            "ask its owner first: it is in another namespace",
        ],
        has_not: &["1. scale", "1: scale"],
    },
    // Images have to be built for the node.
    Case {
        ask: "explain pod/sglang-5d9c7b6f4-d7x2m -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "devices-only-on-arm64",
        code: 1,
        has: &["only if the images of its containers are built for such nodes, too"],
        has_not: &[],
    },
    // A driver's pod exceeds its memory.
    Case {
        ask: "explain pod/b-w4m7q -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "driver-out-of-memory",
        code: 1,
        has: &[
            "exited with code 137 (OOMKilled)",
            "raise the memory limit of container gpus of pod/nvidia-dra-driver-gpu/nvidia-dra-driver-gpu-kubelet-plugin-34575",
        ],
        has_not: &["1. suspend", "1: suspend"],
    },
    // What a driver's container wrote at its end is the reason.
    Case {
        ask: "explain pod/upf-5d9c7b6f4-2k8dn -n=net --complete --now=2026-11-30T10:00:00Z",
        file: "driver-without-nri",
        code: 1,
        has: &["driver failed to start: failed to connect to NRI service"],
        has_not: &[],
    },
    // A driver's pod lacks its configuration.
    Case {
        ask: "explain pod/chat-5d9c7b6f4-d8k4w -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "driver-without-its-config",
        code: 1,
        has: &["CreateContainerConfigError: configmap \"dra-driver-config\" not found"],
        has_not: &[],
    },
    // The driver selects nodes by the accelerator of others.
    Case {
        ask: "explain pod/pretrain-7vk2d -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "driver-selects-another-accelerator",
        code: 1,
        has: &[
            "none of 2 devices of class gpu.nvidia.com has productName NVIDIA H100 80GB HBM3",
            "its nodeSelector requires cloud.google.com/gke-accelerator=nvidia-l4",
        ],
        has_not: &["1. remove", "1: remove"],
    },
    // A device plugin serves the node instead of the driver.
    Case {
        ask: "explain driver/gpu.nvidia.com --complete --now=2026-11-30T10:00:00Z",
        file: "plugin-here-driver-there",
        code: 0,
        has: &["driver/gpu.nvidia.com"],
        has_not: &["publishes no devices for dp-1: "],
    },
    // A device plugin gives the same hardware to other pods.
    Case {
        ask: "explain pod/llm-5d9c7b6f4-4kq8d -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "plugin-beside-the-driver",
        code: 1,
        has: &["node/gpu-1 offers 2 nvidia.com/gpu of a device plugin beside driver gpu.nvidia.com"],
        has_not: &[],
    },
    // A container cannot start as it gets no device.
    Case {
        ask: "explain pod/gpu-test -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "no-container-lists-the-claim",
        code: 1,
        has: &["list claim gpu under resources.claims of the container that needs its devices"],
        has_not: &["1. fix container", "1: fix container"],
    },
    // The kubelet ends a container for its hook.
    Case {
        ask: "explain pod/embedder-5d9c7b6f4-w2k8d -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "post-start-hook-fails",
        code: 1,
        has: &["container main has not started: PostStartHookError"],
        has_not: &["exited with code 137"],
    },
    // A Job that has failed creates no more pods.
    Case {
        ask: "explain job/tokenize -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "job-failed-by-evictions",
        code: 1,
        has: &["recreate job/ml/tokenize"],
        has_not: &["recreate the pod"],
    },
    // A pod of a higher priority does not end for this one.
    Case {
        ask: "explain pod/render-5d9c7b6f4-z2v8q -n=batch --complete --now=2026-11-30T10:00:00Z",
        file: "preempted-for-its-cpu",
        code: 1,
        has: &["reduce cpu in container main of pod/batch/render-5d9c7b6f4-z2v8q from 20 to 8"],
        has_not: &["1. scale", "1: scale"],
    },
    // A rule that evicts pods is looked at before it is tolerated.
    Case {
        ask: "explain pod/llm-5d9c7b6f4-7xd2m -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "maintenance-rule-left",
        code: 1,
        has: &[
            "delete devicetaintrule/maintenance-gpu-1",
            "find out first why the rule is there",
        ],
        has_not: &["1. tolerate", "1: tolerate"],
    },
    // A broken device is repaired before pods of others end.
    Case {
        ask: "explain pod/llm-0 -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "evicted-from-a-broken-device",
        code: 1,
        has: &[
            "ask an administrator to repair device/gpu.nvidia.com/gpu-1/gpu-0, reported unhealthy by taint gpu.nvidia.com/xid=79:NoExecute",
        ],
        has_not: &["1. scale", "1: scale"],
    },
    // A container may take long to start.
    Case {
        ask: "explain pod/vllm-5d9c7b6f4-k2d8v -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "model-is-loading",
        code: 0,
        has: &["the pod is running on gpu-1"],
        has_not: &["fix the container"],
    },
    // A network is missing that the pod names.
    Case {
        ask: "explain pod/nccl-5d9c7b6f4-k2d8v -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "network-of-the-pod-missing",
        code: 1,
        has: &[
            "create the NetworkAttachmentDefinition that the message names, or correct annotation k8s.v1.cni.cncf.io/networks",
        ],
        has_not: &["check the container runtime"],
    },
    // The kubelet says why the node is not ready.
    Case {
        ask: "explain pod/llm-5d9c7b6f4-m7q2x -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "node-is-shutting-down",
        code: 1,
        has: &["node/gpu-2 has condition Ready=False: node is shutting down"],
        has_not: &[],
    },
    // A taint that evicts pods is looked at before pods of others end.
    Case {
        ask: "explain pod/llm-0 -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "maintenance-taint-left",
        code: 1,
        has: &[
            "remove taint maintenance:NoExecute from node/gpu-1",
            "find out first why the node has the taint",
        ],
        has_not: &["1. scale", "1. tolerate", "1: scale", "1: tolerate"],
    },
    // A command that ends is restarted again and again.
    Case {
        ask: "explain pod/gpu-demo-5d9c7b6f4-k2d8v -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "command-that-ends",
        code: 1,
        has: &["give container main a command that keeps running, or run it in a Job"],
        has_not: &["which keeps exiting"],
    },
    // The API server rejects the pods of an owner.
    Case {
        ask: "explain deployment/chat -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "runtime-class-missing",
        code: 1,
        has: &["change the pod template of deployment/ml/chat as the message says, or create what it names"],
        has_not: &[],
    },
    // The image is built for a newer driver than that of the node.
    Case {
        ask: "explain pod/sglang-5d9c7b6f4-m4w8q -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "image-needs-a-newer-driver",
        code: 1,
        has: &["fix container main, which does not start"],
        has_not: &["its message is about the node"],
    },
    // A pod with the device has ended just now: the scheduler tries again.
    Case {
        ask: "explain pod/second -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "freed-just-now",
        code: 0,
        has: &["fits on 1 of 1 nodes"],
        has_not: &["bug"],
    },
    // A node has fewer devices than others of its type.
    Case {
        ask: "explain pod/ablate-4vq9m -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "node-has-lost-a-device",
        code: 1,
        has: &[
            "node/gpu-2 has 7 devices of driver gpu.nvidia.com, but node/gpu-1, which is of the same type, has 8: the others may be broken",
        ],
        has_not: &[],
    },
    // Other pods of the owner take what the pod needs on each node.
    Case {
        ask: "explain pod/triton-5d9c7b6f4-qz6vt -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "host-port-taken",
        code: 1,
        has: &[
            "port 8001 of the node is in use",
            "use fewer replicas, or add a node",
            "1. add a node like gpu-1",
        ],
        has_not: &["no tested change", "delete"],
    },
    // The devices are those of another namespace.
    Case {
        ask: "explain pod/convert-k2d8v -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "implicit-extended-resource-in-use",
        code: 1,
        has: &[
            "1. add a node like gpu-1",
            "2. scale deployment/prod/api from 2 to 1",
        ],
        has_not: &[],
    },
    // The driver publishes other devices than those of the class.
    Case {
        ask: "explain pod/finetune-7h2kx -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "partitions-not-set-up",
        code: 1,
        has: &[
            "none of the 16 published devices is of class mig.nvidia.com",
            "1. have driver gpu.nvidia.com publish devices of class mig.nvidia.com, or request another class",
        ],
        has_not: &["1. delete"],
    },
    // The kubelet ends the driver's container.
    Case {
        ask: "explain pod/rerank-5d9c7b6f4-8k2dm -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "driver-killed-by-its-probe",
        code: 1,
        has: &["exited with code 137: Liveness probe failed: timeout"],
        has_not: &[],
    },
    // Pods of the same Job use up the quota, and end.
    Case {
        ask: "explain pod/sweep-gk8rd -n=team-a --complete --now=2026-11-30T10:00:00Z",
        file: "parallel-job-and-a-quota",
        code: 1,
        has: &[
            "1. wait until a pod of Job sweep ends whose claim counts against resourcequota/team-a/gpus, or raise",
        ],
        has_not: &["delete"],
    },
    // A user has suspended a Job: that is what is wanted.
    Case {
        ask: "explain -A --complete --now=2026-11-30T10:00:00Z",
        file: "job-suspended-by-its-user",
        code: 0,
        has: &[],
        has_not: &["later"],
    },
    Case {
        ask: "explain job/later -n=ml --complete --now=2026-11-30T10:00:00Z",
        file: "job-suspended-by-its-user",
        code: 0,
        has: &["it is suspended: set spec.suspend to false to run it"],
        has_not: &["is pending"],
    },
    // A pod tolerates the taint of devices where only taints of nodes count.
    Case {
        ask: "explain pod/finetune-x4w8k -n=team-a --complete --now=2026-12-02T10:00:00Z",
        file: "pod-tolerates-the-taint-of-a-device",
        code: 1,
        has: &[
            "1. tolerate device taint example.com/team=a:NoSchedule in request gpu of template/team-a/one-gpu: tolerations of the pod are for taints of nodes",
        ],
        has_not: &["1. delete"],
    },
    // Pods that nothing recreates end after a node is added.
    Case {
        ask: "explain pod/jupyter-elif -n=jhub --complete --now=2026-12-02T10:00:00Z",
        file: "notebooks-of-a-hub",
        code: 1,
        has: &["1. add a node like gpu-1"],
        has_not: &["1. delete"],
    },
    // A queue has less than what is requested.
    Case {
        ask: "explain job/pretrain -n=team-a --complete --now=2026-12-02T10:00:00Z",
        file: "queue-has-less-than-requested",
        code: 1,
        has: &[
            "1. raise the quota of the ClusterQueue, or request less in workload/team-a/job-pretrain-3f9ac",
            "waiting will not help",
        ],
        has_not: &["wait until Kueue"],
    },
    // A driver publishes for nodes of other names.
    Case {
        ask: "explain pod/encode-5d9c7b6f4-c4t7m -n=vid --complete --now=2026-12-02T10:00:00Z",
        file: "slices-for-the-host-name",
        code: 1,
        has: &[
            "1. have driver fpga.acme.io publish its devices for nodes that exist, such as node/ip-10-0-1-11.eu-west-1.compute.internal: node/ip-10-0-1-11 does not",
        ],
        has_not: &[],
    },
    // A kubelet with a bug is silent.
    Case {
        ask: "explain pod/chat-5d9c7b6f4-d8k4w -n=ml --complete --now=2026-12-02T10:00:00Z",
        file: "kubelet-loses-the-driver",
        code: 4,
        has: &[
            "1. restart the kubelet of node/gpu-1, and upgrade it",
            "kubernetes/kubernetes#133920",
        ],
        has_not: &["delete pod"],
    },
    // A gate is off by a flag of the scheduler.
    Case {
        ask: "explain pod/upf-5d9c7b6f4-k2d8v -n=net --complete --now=2026-12-02T10:00:00Z",
        file: "gate-off-in-the-scheduler",
        code: 1,
        has: &[
            "until the claim changes or DRAConsumableCapacity is enabled",
            "1. ask an administrator to enable DRAConsumableCapacity in kube-scheduler",
        ],
        has_not: &[],
    },
    // What a pod requests is not in the template of its owner.
    Case {
        ask: "explain pod/retrain-5d9c7b6f4-k7d2x -n=ml --complete --now=2026-12-02T10:00:00Z",
        file: "memory-raised-by-an-autoscaler",
        code: 1,
        has: &[
            "the pod template of Deployment retrain does not request it",
            "VerticalPodAutoscaler",
        ],
        has_not: &["change the pod template there"],
    },
    Case {
        ask: "explain pod/detect-5d9c7b6f4-q2d8v -n=vision --complete --now=2026-12-02T10:00:00Z",
        file: "node-selector-of-the-namespace",
        code: 1,
        has: &["the pod template of Deployment detect does not request it"],
        has_not: &["change the pod template there"],
    },
    // A class reads an attribute that one of the devices lacks.
    Case {
        ask: "explain pod/nccl-0 -n=hpc --complete --now=2026-12-01T12:00:00Z",
        file: "class-reads-what-a-device-lacks",
        code: 1,
        has: &[
            "no such key: pciDevice",
            "1. ask an administrator to change the selector of deviceclass/efa.networking.k8s.aws to `",
            ".?pciDevice.orValue(\"\") == ",
        ],
        has_not: &[],
    },
    // A policy denies the claim.
    Case {
        ask: "explain pod/tune-5x8dq -n=dev-anna --complete --now=2026-12-02T10:00:00Z",
        file: "policy-denies-the-claim",
        code: 1,
        has: &["1. change resourceclaimtemplate/dev-anna/four-gpus as the message says"],
        has_not: &[],
    },
    Case {
        ask: "check --complete --now=2026-12-02T10:00:00Z",
        file: "policy-denies-the-claim",
        code: 1,
        has: &[
            "DRA076",
            "pod/dev-anna/tune-5x8dq needs a claim that the API server does not accept:",
        ],
        has_not: &[],
    },
    // An init container requests more than a node has.
    Case {
        ask: "explain pod/mixtral-5d9c7b6f4-c4t7m -n=ml --complete --now=2026-12-02T10:00:00Z",
        file: "init-container-wants-more-memory",
        code: 1,
        has: &[
            "1. reduce memory in container convert-weights",
            "from 192Gi to 128Gi",
        ],
        has_not: &["container main"],
    },
    // The one node with free devices comes after many full ones.
    Case {
        ask: "explain pod/llm-5d9c7b6f4-k2d8v -n=ml --complete --now=2026-12-02T10:00:00Z",
        file: "cordoned-beside-full-nodes",
        code: 1,
        has: &["1. uncordon node/gpu-9"],
        has_not: &["1. suspend"],
    },
    // The driver crashes on a node of another product than the request selects, whose free ones are on cordoned nodes.
    Case {
        ask: "explain pod/render-7-7c9db8954b-tt4xz -n=studio --complete --now=2026-11-30T12:00:00Z",
        file: "cordoned-beside-a-broken-node-of-another-product",
        code: 1,
        has: &["but cannot take the pod: cordoned", "1. uncordon node/a10-3"],
        has_not: &["publishes no devices", "ask the owner of driver"],
    },
    Case {
        ask: "explain pod/render-7-7c9db8954b-tt4xz -n=studio --complete --now=2026-11-30T12:00:00Z",
        file: "cordoned-beside-a-broken-node-of-that-product",
        code: 1,
        has: &[
            "driver gpu.nvidia.com publishes no devices for a10-5",
            "1. uncordon node/a10-3",
            "2. ask the owner of driver gpu.nvidia.com to publish its devices for a10-5",
        ],
        has_not: &[],
    },
    // A rule that is meant for one device has an empty selector.
    Case {
        ask: "explain deployment/chat -n=prod --complete --now=2026-11-30T12:00:00Z",
        file: "rule-for-one-device-with-empty-selector",
        code: 1,
        has: &[
            "4 are tainted (example.com/xid=79:NoExecute); devicetaintrule/xid79-h100-2-gpu-1 taints all devices, as its deviceSelector is empty",
            "1. delete devicetaintrule/xid79-h100-2-gpu-1 (tested",
            "set spec.deviceSelector.pool of the rule instead, and .device for one of them",
        ],
        has_not: &["unhealthy", "repair"],
    },
    // Pods of a set are evicted as soon as they have a device, for they tolerate its taint without effect.
    Case {
        ask: "explain deployment/gpu-burnin -n=burnin --complete --now=2026-11-30T12:00:00Z",
        file: "evicted-again-for-a-toleration-without-effect",
        code: 1,
        has: &[
            "a pod that gets one is evicted immediately: it tolerates taint gpu.nvidia.com/xid=63:NoExecute without effect NoExecute",
            "finishes, but would be evicted immediately",
            "1. set effect: NoExecute in the toleration of gpu.nvidia.com/xid in template/burnin/gpu-template",
        ],
        has_not: &["wait for the end", "no action needed"],
    },
    // The only pod that has a device cannot pull its image.
    Case {
        ask: "explain pod/train-b-8qq2m -n=team-b --complete --now=2026-11-30T12:00:00Z",
        file: "only-holder-cannot-pull",
        code: 1,
        has: &[
            "no node has an available device of class gpu.nvidia.com; pod/team-a/train-a-5kxwz, which has devices, is not running: container main has not \
             started: ImagePullBackOff",
            "Fits on gpu-1 once pod/team-a/train-a-5kxwz ends",
            "1. suspend job/team-a/train-a",
            "2. add a node like gpu-1",
        ],
        has_not: &["finishes"],
    },
    // A pod with a long grace period has the only device, and its owner recreates it.
    Case {
        ask: "explain pod/eval-7tbbq -n=ml --complete --now=2026-11-30T12:00:00Z",
        file: "holder-ends-within-a-long-grace-period",
        code: 1,
        has: &[
            "no action needed: it is being deleted, due at 2026-11-30T12:26:00Z",
            "its StatefulSet recreates it once it is gone",
        ],
        has_not: &[],
    },
    // Nodes of the same type lack the label by which the driver's DaemonSet selects the others.
    Case {
        ask: "explain pod/finetune-z4rkd -n=speech --complete --now=2026-11-30T12:00:00Z",
        file: "like-nodes-lack-the-label-of-the-driver",
        code: 1,
        has: &[
            "publishes no devices for pool-b-1, pool-b-2, pool-b-3",
            "1. label node/pool-b-1, node/pool-b-2, node/pool-b-3 with nvidia.com/dra-kubelet-plugin=true, which",
            "2. scale deployment/speech/",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain pod/finetune-z4rkd -n=speech --emit-fix=1 --complete --now=2026-11-30T12:00:00Z",
        file: "like-nodes-lack-the-label-of-the-driver",
        code: 0,
        has: &["kubectl label node/pool-b-1 node/pool-b-2 node/pool-b-3 nvidia.com/dra-kubelet-plugin=true"],
        has_not: &[],
    },
    // No node has devices, as the group of those that the driver selects is at zero.
    Case {
        ask: "explain pod/llama-6c5d9f7b8-j4k5l -n=serving --complete --now=2026-11-30T12:00:00Z",
        file: "node-group-of-the-driver-at-zero",
        code: 1,
        has: &[
            "which no node has; cluster-autoscaler adds no node with such devices",
            "1. add a node with nvidia.com/gpu.present=true",
            "scale up its node group by hand",
        ],
        has_not: &["label the nodes", "correct what it selects"],
    },
    // The node that matters comes before one of the control plane.
    Case {
        ask: "explain pod/train-c -n=team --complete --now=2026-11-30T12:00:00Z",
        file: "plugin-in-use-beside-a-control-plane",
        code: 1,
        has: &[
            "does not fit on either node: gpu-1: Insufficient nvidia.com/gpu: needs 1, 0 of 2 left; cp-1: untolerated taint",
        ],
        has_not: &[],
    },
    // A Job without retries fails with its pod.
    Case {
        ask: "simulate eviction --node=gpu-1 --complete --now=2026-12-02T10:00:00Z",
        file: "firmware-update-evicts",
        code: 0,
        has: &[
            "5 pods would be evicted within 30s: 2 are recreated; 1 is recreated but stays pending; 2 are not recreated",
            "not recreated by job/longrun",
        ],
        has_not: &[],
    },
    // Nodes of a ComputeDomain get ready one after the other.
    Case {
        ask: "explain job/nccl -n=ml --complete --now=2026-12-02T10:00:00Z",
        file: "compute-domain-is-forming",
        code: 0,
        has: &["none is pending"],
        has_not: &[],
    },
    Case {
        ask: "check --complete --now=2026-12-02T10:00:00Z",
        file: "compute-domain-is-forming",
        code: 0,
        has: &[],
        has_not: &["DRA081"],
    },
    // A driver refuses the claims of several namespaces for one reason.
    Case {
        ask: "explain -A --complete --now=2026-12-02T10:00:00Z",
        file: "driver-refuses-everything",
        code: 1,
        has: &["6 pods are pending: 1 cause"],
        has_not: &[],
    },
    // A StatefulSet does not replace a pod of an earlier revision that is not ready.
    Case {
        ask: "explain statefulset/llm -n=ml --complete --now=2026-12-02T10:00:00Z",
        file: "superseded-pod-of-a-statefulset",
        code: 1,
        has: &["1. delete pod/ml/llm-1, which has an earlier pod template than its StatefulSet"],
        has_not: &["fix container main"],
    },
    // Pods that are to end hold the devices of silent nodes.
    Case {
        ask: "explain pod/llm-5d9c7b6f4-blrdg -n=prod --complete --now=2026-12-02T10:00:00Z",
        file: "outage-of-a-zone",
        code: 1,
        has: &["1. make node/gpu-c1 ready"],
        has_not: &["1. add a node"],
    },
    // The kubelet has rejected pods, and runs their replacement.
    Case {
        ask: "explain -A --complete --now=2026-12-02T10:00:00Z",
        file: "rejected-once-and-replaced",
        code: 0,
        has: &[],
        has_not: &["UnexpectedAdmissionError"],
    },
    Case {
        ask: "check --complete --now=2026-12-02T10:00:00Z",
        file: "rejected-once-and-replaced",
        code: 0,
        has: &[],
        has_not: &["DRA086"],
    },
    // Pods of a Job have failed before the one that runs.
    Case {
        ask: "explain job/finetune -n=ml --complete --now=2026-12-02T10:00:00Z",
        file: "job-runs-after-failures",
        code: 0,
        has: &[
            "3 pods of Job finetune failed, the last pod/ml/finetune-",
            "out of shared memory",
        ],
        has_not: &[],
    },
    // A Job gives up some of its indexes.
    Case {
        ask: "explain job/eval -n=ml --complete --now=2026-12-02T10:00:00Z",
        file: "indexes-have-failed",
        code: 0,
        has: &["it does not run indexes 3,6 again"],
        has_not: &[],
    },
    // Pods of one owner have several problems.
    Case {
        ask: "explain deployment/serve -n=ml --complete --now=2026-12-02T10:00:00Z",
        file: "deployment-with-three-troubles",
        code: 1,
        has: &["first pod with a problem, of the 5 pods of Deployment serve; 2 more with one"],
        has_not: &[],
    },
    // The kubelet ends a container for its probe, which runs again.
    Case {
        ask: "explain pod/llama-5d9c7b6f4-8kd2m -n=ml --complete --now=2026-12-02T10:00:00Z",
        file: "killed-by-its-liveness-probe",
        code: 0,
        has: &[
            "container main was restarted 14 times; before, it exited with code 137",
            "Liveness probe failed",
        ],
        has_not: &[],
    },
    // A selector asks for what the devices of an older driver lack.
    Case {
        ask: "explain pod/compile-b2m7k -n=ml --complete --now=2026-12-02T10:00:00Z",
        file: "selector-fails-on-an-old-driver",
        code: 1,
        has: &[
            "(has(device.attributes['gpu.nvidia.com'].cudaDriverVersion) && device.attributes['gpu.nvidia.com'].cudaDriverVersion.compareTo(semver('13.0.0')) >= 0)",
        ],
        has_not: &["1. remove"],
    },
    // Devices of another node are in use, and the driver of this one crashes: both stand in the first line.
    Case {
        ask: "explain pod/eval-l8s4v -n=ml --complete --now=2026-12-02T10:00:00Z",
        file: "driver-older-than-its-kernel-module",
        code: 1,
        has: &[
            "pending: no node has 2 available devices of class gpu.nvidia.com; driver gpu.nvidia.com publishes no devices for gpu-1:",
        ],
        has_not: &[],
    },
    // What a reboot deleted is not written again by a driver that crashes.
    Case {
        ask: "explain pod/llm-5d9c7b6f4-7hk2x -n=ml --complete --now=2026-12-02T10:00:00Z",
        file: "driver-down-after-a-reboot",
        code: 1,
        has: &[
            "driver gpu.nvidia.com has not rewritten them: pod/nvidia-dra-driver-gpu/",
            "1. ask the owner of driver gpu.nvidia.com",
            "then recreate the pod",
        ],
        has_not: &[],
    },
    // A claim of several pods keeps its device: their replacements get it again.
    Case {
        ask: "simulate eviction --taint=gpu.nvidia.com/gpu-1/gpu-0=gpu.nvidia.com/xid=79:NoExecute --complete --now=2026-12-02T10:00:00Z",
        file: "shared-claim-of-a-tainted-device",
        code: 0,
        has: &[
            "3 are recreated and evicted again",
            "claim/ml/shared-gpu keeps its devices as long as a pod uses it",
        ],
        has_not: &["tolerate the taints for some time"],
    },
    // The container runtime of one node has CDI off.
    Case {
        ask: "explain pod/vision-5d9c7b6f4-9wq4v -n=ml --complete --now=2026-12-02T10:00:00Z",
        file: "containerd-of-one-node-without-cdi",
        code: 1,
        has: &[
            "gpu-2 has containerd 1.7.24, where CDI is off by default",
            "1. ask an administrator to enable CDI in containerd 1.7.24 on gpu-2",
        ],
        has_not: &[],
    },
    // One registry behind images of several teams.
    Case {
        ask: "explain -A --complete --now=2026-12-02T10:00:00Z",
        file: "registry-does-not-answer",
        code: 1,
        has: &[
            "12 pods are pending: 1 cause",
            "harbor.acme.io: dial tcp 10.40.0.9:443: i/o timeout",
            "registry harbor.acme.io is reachable",
        ],
        has_not: &[],
    },
    // The network interface of a device, in the words of the container runtime.
    Case {
        ask: "explain pod/allreduce-k2d8v -n=train --complete --now=2026-12-02T10:00:00Z",
        file: "sandbox-names-an-interface",
        code: 1,
        has: &[
            "sandbox with device dra.net/aks-nd96-1/pci-f628-00-02-0",
            "1. ask the owner of driver dra.net to check device",
        ],
        has_not: &[],
    },
    // Free devices of nodes that the pod does not select do not matter.
    Case {
        ask: "explain pod/segment-k2d8v -n=vision --complete --now=2026-12-03T10:00:00Z",
        file: "nodes-of-the-team-are-full",
        code: 1,
        has: &["pending: none of the 2 eligible nodes has an available device of class gpu.nvidia.com"],
        has_not: &["cannot take the pod"],
    },
    // Pods of a DaemonSet cannot share a claim with devices of one node.
    Case {
        ask: "explain pod/nic-probe-fdcf2 -n=netops --complete --now=2026-12-03T10:00:00Z",
        file: "daemonset-with-one-claim",
        code: 1,
        has: &[
            "other pods of DaemonSet nic-probe use it",
            "1. give each pod of DaemonSet nic-probe a claim of its own",
        ],
        has_not: &["maxSurge"],
    },
    // The strategy of one Deployment does not end the pods of another.
    Case {
        ask: "explain pod/llama-predictor-00002-deployment-5d9c7b6f4-q8v2z -n=serving --complete --now=2026-12-03T10:00:00Z",
        file: "revisions-in-two-deployments",
        code: 1,
        has: &["1. add a node like"],
        has_not: &["Recreate"],
    },
    // Slices that contradict each other take devices away.
    Case {
        ask: "explain pod/filter-5d9c7b6f4-4kd7m -n=dsp --complete --now=2026-12-03T10:00:00Z",
        file: "pool-with-a-device-twice",
        code: 1,
        has: &[
            "pool fpga.acme.io/edge-1 is invalid: duplicate device name card-0",
            "1. ask the driver's owner to correct the slices of pool/fpga.acme.io/edge-1",
        ],
        has_not: &[],
    },
    // The same of the driver.
    Case {
        ask: "explain driver/fpga.acme.io --complete --now=2026-12-03T10:00:00Z",
        file: "pool-with-a-device-twice",
        code: 1,
        has: &[
            "publishes 6 devices for 2 nodes, but pool/fpga.acme.io/edge-1 has several devices named card-0, card-1",
        ],
        has_not: &[],
    },
    // A Deployment is repaired, and paused.
    Case {
        ask: "explain pod/rerank-5d9c7b6f4-k7d2x -n=ml --complete --now=2026-12-03T10:00:00Z",
        file: "paused-before-its-repair",
        code: 1,
        has: &[
            "Deployment rerank has a newer pod template than this pod",
            "1. resume the rollout of deployment/ml/rerank",
        ],
        has_not: &[],
    },
    // A StatefulSet is repaired, and its pod is not deleted.
    Case {
        ask: "explain pod/llm-1 -n=ml --complete --now=2026-12-03T10:00:00Z",
        file: "updated-on-delete",
        code: 1,
        has: &[
            "StatefulSet llm has a newer pod template than this pod",
            "1. delete pod/ml/llm-1",
        ],
        has_not: &[],
    },
    // A template is named as a claim, and the other way round.
    Case {
        ask: "explain pod/edge-5d9c7b6f4-4kd7m -n=net --complete --now=2026-12-03T10:00:00Z",
        file: "template-named-as-a-claim",
        code: 1,
        has: &[
            "1. name template/net/one-nic, which exists, in resourceClaimTemplateName instead of resourceClaimName",
            "Deployment edge creates pod/net/",
        ],
        has_not: &[],
    },
    // The other way round.
    Case {
        ask: "explain pod/probe-0 -n=net --complete --now=2026-12-03T10:00:00Z",
        file: "claim-named-as-a-template",
        code: 1,
        has: &[
            "1. name claim/net/lab-nic, which exists, in resourceClaimName instead of resourceClaimTemplateName",
        ],
        has_not: &[],
    },
    // Kueue manages a Job that names no queue.
    Case {
        ask: "explain job/score -n=team-b --complete --now=2026-12-03T10:00:00Z",
        file: "job-without-a-queue",
        code: 1,
        has: &["1. name a LocalQueue in label kueue.x-k8s.io/queue-name"],
        has_not: &[],
    },
    // A LeaderWorkerSet recreates a group with the first of its pods.
    Case {
        ask: "simulate eviction --node=gpu-2 --key=acme.com/rma --complete --now=2026-12-03T10:00:00Z",
        file: "group-restarts-with-one-pod",
        code: 0,
        has: &[
            "1 more pod is recreated with the group of an evicted one",
            "its group is recreated, too: deepseek-0",
        ],
        has_not: &[],
    },
    // A node has lost a label.
    Case {
        ask: "explain pod/fw-5d9c7b6f4-9wq4v -n=net --complete --now=2026-12-03T10:00:00Z",
        file: "label-lost-by-a-node",
        code: 1,
        has: &["1. restore the labels of node/nic-1: pool=dpdk"],
        has_not: &[],
    },
    // A volume claim is being deleted, and in use.
    Case {
        ask: "explain pod/vec-0 -n=ml --complete --now=2026-12-03T10:00:00Z",
        file: "volume-claim-deleted-and-in-use",
        code: 1,
        has: &[
            "1. wait for the end of pod/ml/inspector, which still uses persistentvolumeclaim/ml/data-vec-0",
        ],
        has_not: &[],
    },
    // Nothing attaches a device.
    Case {
        ask: "explain pod/render-5d9c7b6f4-4kd7m -n=ml --complete --now=2026-12-03T10:00:00Z",
        file: "device-never-attached",
        code: 1,
        has: &[
            "1. scale up deployment/composable/composable-controller, which has 0 replicas",
            "2. ask the driver's owner why nothing sets condition composable.acme.io/Attached",
        ],
        has_not: &[],
    },
    // All selectors of a request have to hold.
    Case {
        ask: "explain pod/allreduce-k2d8v -n=train --complete --now=2026-12-03T10:00:00Z",
        file: "selectors-exclude-each-other",
        code: 1,
        has: &["they require ifName to be eth1 and eth2 at the same time"],
        has_not: &[],
    },
    // Without an amount a claim takes all of a capacity.
    Case {
        ask: "explain pod/cache-5d9c7b6f4-4kd7m -n=net --complete --now=2026-12-03T10:00:00Z",
        file: "share-without-an-amount",
        code: 1,
        has: &["requests no amount of bandwidth, so it has all of 25Gi: an amount in template/media/any-nic"],
        has_not: &[],
    },
    // A kubelet skips the claims behind one that is prepared for another pod.
    Case {
        ask: "explain pod/gateway-b -n=net --complete --now=2026-12-03T10:00:00Z",
        file: "claim-behind-a-shared-one",
        code: 1,
        has: &[
            "the kubelet on nic-1 skipped claim/net/gateway-b-own-a4ce7, behind claim/net/storage-net",
            "prepared for pod/net/gateway-a",
            "upgrade the kubelet on nic-1 to 1.34.4",
            "list claim storage-net last",
        ],
        has_not: &["without its checkpoint", "recreate the pod"],
    },
    Case {
        ask: "check --complete --now=2026-12-03T10:00:00Z",
        file: "claim-behind-a-shared-one",
        code: 1,
        has: &["DRA085", "issue/kubernetes/135901"],
        has_not: &["DRA083"],
    },
    // A taint that keeps no pod off.
    Case {
        ask: "explain node/gke-a100-1 --complete --now=2026-12-03T10:00:00Z",
        file: "soft-taint-of-an-autoscaler",
        code: 0,
        has: &["room for 4 of gpu.nvidia.com"],
        has_not: &["PreferNoSchedule", "must tolerate"],
    },
    // Devices that are shared have something left.
    Case {
        ask: "explain node/gpu-1 --complete --now=2026-12-03T10:00:00Z",
        file: "memory-here-and-cores-there",
        code: 0,
        has: &["room for a share of hami-core-gpu.project-hami.io (cores 60, memory 15Gi)"],
        has_not: &["no request"],
    },
    // Devices for all nodes, on one that the DaemonSet of their driver does not select.
    Case {
        ask: "explain node/app-1 --complete --now=2026-12-03T10:00:00Z",
        file: "network-device-on-a-node-without-its-driver",
        code: 1,
        has: &[
            "no driver of its devices is running there",
            "requires acme.io/fpga-client=true",
        ],
        has_not: &["room for"],
    },
    // A kubelet rejects what it cannot align, on each node.
    Case {
        ask: "explain -A --complete --now=2026-12-03T10:00:00Z",
        file: "cpus-of-whole-cores",
        code: 1,
        has: &[
            "9 pods failed: 1 cause",
            "the kubelet rejected it: SMTAlignmentError",
            "request whole cores in Deployment upf",
        ],
        has_not: &["recreate the pod"],
    },
    // The same for the CPUs of one NUMA node.
    Case {
        ask: "explain statefulset/du -n=ran --complete --now=2026-12-03T10:00:00Z",
        file: "cpus-of-two-numa-nodes",
        code: 1,
        has: &[
            "TopologyAffinityError",
            "request fewer CPUs or devices in StatefulSet du",
            "topology manager policy",
        ],
        has_not: &["recreate the pod"],
    },
    // A pod in the network of its node claims a network device.
    Case {
        ask: "explain job/nccl -n=train --complete --now=2026-12-03T10:00:00Z",
        file: "host-network-and-a-nic",
        code: 1,
        has: &["remove hostNetwork, or the claim of the network device, from Job nccl"],
        has_not: &["check the container runtime"],
    },
    // A ComputeDomain waits for more nodes than there are pods.
    Case {
        ask: "explain job/nccl -n=ml --complete --now=2026-12-03T10:00:00Z",
        file: "compute-domain-larger-than-its-job",
        code: 1,
        has: &[
            "all its pods are of Job nccl, which runs 3 pods",
            "recreate ComputeDomain nccl with numNodes 3",
        ],
        has_not: &["get all nodes"],
    },
    // The network of a node is not set up.
    Case {
        ask: "explain pod/edge-5d9c7b6f4-4kd7m -n=net --complete --now=2026-12-03T10:00:00Z",
        file: "node-without-a-route",
        code: 1,
        has: &[
            "1. set up the network of node/nic-2",
            "NetworkUnavailable=True: Node created without a route",
        ],
        has_not: &["make node/nic-2 ready"],
    },
    // An operator has taken the driver off a node for a change, which has failed.
    Case {
        ask: "explain pod/llm-5d9c7b6f4-q8v2z -n=ml --complete --now=2026-12-03T10:00:00Z",
        file: "paused-for-a-failed-mig-change",
        code: 1,
        has: &[
            "label nvidia.com/gpu.deploy.dra-driver=paused-for-mig-change keeps it off",
            "which has failed (nvidia.com/mig.config.state=failed)",
            "repair the change of the node",
        ],
        has_not: &["check whether it should run"],
    },
    // Others use the memory of a shared device.
    Case {
        ask: "explain deployment/ocr -n=ml --complete --now=2026-12-03T10:00:00Z",
        file: "out-of-memory-on-a-shared-gpu",
        code: 1,
        has: &[
            "give Deployment ocr a device of its own",
            "pod/ml/chat-5d9c7b6f4-4kd7m, pod/ml/rag-5d9c7b6f4-z2v8q have the same claim",
        ],
        has_not: &["raise the memory limit"],
    },
    // The installation of a kernel driver waits for a pod that ends only with the driver.
    Case {
        ask: "explain pod/llm-5d9c7b6f4-m9x2c -n=ml --complete --now=2026-12-03T10:00:00Z",
        file: "driver-manager-waits-for-the-pod",
        code: 1,
        has: &[
            "break a circle: pod/gpu-operator/nvidia-driver-daemonset-4e0da waits until this pod is gone",
            "NVIDIA/k8s-driver-manager#213",
            "deleting this pod by force ends the circle now",
        ],
        has_not: &["check why its pod"],
    },
    Case {
        ask: "explain pod/llm-5d9c7b6f4-p7q4z -n=ml --complete --now=2026-12-03T10:00:00Z",
        file: "driver-manager-waits-for-the-pod",
        code: 1,
        has: &[
            "publishes no devices for gpu-1: pod/gpu-operator/nvidia-driver-daemonset-4e0da waits until pod/ml/llm-5d9c7b6f4-m9x2c is gone",
        ],
        has_not: &[],
    },
    // Another pod has the port of the node that the pod of a driver needs.
    Case {
        ask: "explain driver/dra.cpu --complete --now=2026-12-03T10:00:00Z",
        file: "port-of-the-driver-taken",
        code: 1,
        has: &["it needs port 8080 of the node, which pod/monitoring/nic-exporter-"],
        has_not: &["didn't have free ports"],
    },
    // The image of a volume, rather than that of a container.
    Case {
        ask: "explain pod/qwen-5d9c7b6f4-4kd7m -n=ml --complete --now=2026-12-03T10:00:00Z",
        file: "image-volume-that-is-not-in-the-registry",
        code: 1,
        has: &[
            "the image of volume weights is not pulled",
            "correct the image of volume weights in Deployment qwen",
        ],
        has_not: &["fix container main"],
    },
    // What holds the devices has nothing left to do.
    Case {
        ask: "explain pod/eval-mistral-9xq4d-gpu-worker-b5x8k -n=ray --complete --now=2026-12-03T10:00:00Z",
        file: "rayjob-done-cluster-stays",
        code: 1,
        has: &[
            "pods of RayJob finetune-mistral, which has ended, hold them",
            "rayjob/ray/finetune-mistral keeps its pods running",
        ],
        has_not: &[],
    },
    // Room is being made, and nothing has to be changed for it.
    Case {
        ask: "explain -A --complete --now=2026-12-04T10:00:00Z",
        file: "preemption-within-grace",
        code: 1,
        has: &["wait until pod/batch/etl-k2d8v ends, which is due at 2026-12-04T10:01:40Z"],
        has_not: &["reduce cpu"],
    },
    // Components whose arguments name no gate, and groups of other schedulers.
    Case {
        ask: "check --to-version=1.36 --complete --now=2026-12-04T10:00:00Z",
        file: "groups-of-others-before-a-downgrade",
        code: 0,
        has: &[],
        has_not: &["DRA122"],
    },
    Case {
        ask: "explain job/backfill -n=ml --complete --now=2026-12-04T10:00:00Z",
        file: "nothing-wants-to-run",
        code: 0,
        has: &["spec.parallelism is 0"],
        has_not: &["unknown"],
    },
    // Nothing is left to share.
    Case {
        ask: "explain node/num-1 --complete --now=2026-12-03T10:00:00Z",
        file: "all-cpus-in-use",
        code: 1,
        has: &["node/num-1: no request for devices fits"],
        has_not: &["room for"],
    },
    // The cluster autoscaler tries to add a node, and the cloud has none.
    Case {
        ask: "explain job/eval -n=train --complete --now=2026-12-04T10:00:00Z",
        file: "scale-up-that-failed",
        code: 1,
        has: &[
            "1. add a node with such devices: cluster-autoscaler adds none, because its last attempt has failed",
            "associated with this pod failed: GCE out of resources",
        ],
        has_not: &["a node is being added", "wait for the node"],
    },
    // The cluster autoscaler was stopped before it removed a node.
    Case {
        ask: "explain pod/ocr-5d9c7b6f4-4kd7m -n=ml --complete --now=2026-12-04T10:00:00Z",
        file: "taint-of-a-stopped-autoscaler",
        code: 1,
        has: &[
            "the cluster autoscaler marked the node for removal at 2026-12-03T16:12:00Z",
            "1. remove taint ToBeDeletedByClusterAutoscaler:NoSchedule from node/l4-2",
            "check cluster-autoscaler first",
        ],
        has_not: &["is about to delete", "tolerate ToBeDeleted"],
    },
    // While the removal may still be under way, there is nothing to take off.
    Case {
        ask: "explain pod/ocr-5d9c7b6f4-4kd7m -n=ml --complete --now=2026-12-03T17:00:00Z",
        file: "taint-of-a-stopped-autoscaler",
        code: 1,
        has: &["marked the node for removal"],
        has_not: &["remove taint"],
    },
    Case {
        ask: "explain node/l4-2 --complete --now=2026-12-04T10:00:00Z",
        file: "taint-of-a-stopped-autoscaler",
        code: 1,
        has: &["the node is marked for removal"],
        has_not: &["is being deleted"],
    },
    // The kubelet changes the group of many files before it has devices prepared.
    Case {
        ask: "explain statefulset/llm -n=ml --complete --now=2026-12-04T10:00:00Z",
        file: "ownership-of-a-large-volume",
        code: 1,
        has: &[
            "changing the group of the files of a volume (fsGroup)",
            "processed 9412331 files",
            "1. wait until the kubelet has changed the group of the files",
            "fsGroupChangePolicy OnRootMismatch in StatefulSet llm",
        ],
        has_not: &["reported nothing"],
    },
    // The registry answers, and a node does not trust its certificate.
    Case {
        ask: "explain deployment/chat -n=ml --complete --now=2026-12-04T10:00:00Z",
        file: "node-does-not-trust-the-registry",
        code: 1,
        has: &[
            "let gpu-3 trust the certificate of registry registry.corp.example",
            "of the same owner runs on another node",
        ],
        has_not: &["is reachable"],
    },
    // A runtime class asks for devices that no claim has.
    Case {
        ask: "explain deployment/chat -n=ml --complete --now=2026-12-04T10:00:00Z",
        file: "runtime-class-beside-a-claim",
        code: 1,
        has: &["1. remove runtimeClassName from Deployment chat"],
        has_not: &["wrote no CDI file"],
    },
    // Programs say at their end what is wrong: the switches of the node.
    Case {
        ask: "explain deployment/llama -n=ml --complete --now=2026-12-04T10:00:00Z",
        file: "fabric-manager-of-one-node",
        code: 1,
        has: &["check nvidia-fabricmanager on hgx-2"],
        has_not: &["fix container main"],
    },
    // Another pod has the shared device for itself.
    Case {
        ask: "explain deployment/tts -n=ml --complete --now=2026-12-04T10:00:00Z",
        file: "exclusive-mode-on-a-shared-gpu",
        code: 1,
        has: &[
            "give Deployment tts a device of its own",
            "set the compute mode of the device to Default",
            "pod/ml/asr-5d9c7b6f4-z2v8q has the same claim",
        ],
        has_not: &["fix container main"],
    },
    // The image is for a newer driver.
    Case {
        ask: "explain job/train-yolo -n=vision --complete --now=2026-12-04T10:00:00Z",
        file: "image-for-a-newer-driver",
        code: 1,
        has: &["use an image in Job train-yolo with a CUDA version that the NVIDIA driver of ws-1 supports"],
        has_not: &["fix container main"],
    },
    // The image is for another architecture.
    Case {
        ask: "explain deployment/rag -n=ml --complete --now=2026-12-04T10:00:00Z",
        file: "image-of-the-other-architecture",
        code: 1,
        has: &[
            "use an image in Deployment rag that is built for arm64, too",
            "gb200-1 is arm64",
        ],
        has_not: &["fix container main"],
    },
    // What sets up the network of a node is crashing there.
    Case {
        ask: "explain pod/tts-5d9c7b6f4-4kd7m -n=ml --complete --now=2026-12-04T10:00:00Z",
        file: "agent-of-the-network-not-ready",
        code: 1,
        has: &[
            "1. make node/gpu-2 ready",
            "pod/kube-system/cilium-98682 is crashing",
            "unable to determine direct routing device",
        ],
        has_not: &["remove taint"],
    },
    // What initializes the nodes of a cloud is crashing, on another node.
    Case {
        ask: "explain pod/tts-5d9c7b6f4-4kd7m -n=ml --complete --now=2026-12-04T10:00:00Z",
        file: "cloud-controller-without-credentials",
        code: 1,
        has: &[
            "check the cloud controller manager",
            "pod/kube-system/openstack-cloud-controller-manager-x7k2p is crashing",
            "application credential expired",
        ],
        has_not: &["ask the owner of what sets taint"],
    },
    // What unmounts the volumes of a node is crashing there.
    Case {
        ask: "explain pod/vec-0 -n=ml --complete --now=2026-12-04T10:00:00Z",
        file: "volume-that-is-never-unmounted",
        code: 1,
        has: &["pod/csi-wekafs/csi-wekafs-node-e77ea is crashing"],
        has_not: &["force-delete"],
    },
    // The container runtime does not get the image of its sandboxes.
    Case {
        ask: "explain pod/tts-5d9c7b6f4-4kd7m -n=ml --complete --now=2026-12-04T10:00:00Z",
        file: "sandbox-image-behind-a-firewall",
        code: 1,
        has: &["let the container runtime of the node pull its sandbox image"],
        has_not: &["fix what keeps the kubelet from starting its pod"],
    },
    // A Job runs one pod less at a time; the others go on. Any of its pods will do.
    Case {
        ask: "explain pod/maxcut-5d9c7b6f4-k8k2d -n=demo --complete --now=2026-12-04T10:00:00Z",
        file: "job-that-uses-shared-devices",
        code: 1,
        has: &["lower spec.parallelism of job/chem/fold from 6 to 5, which ends one of its pods"],
        has_not: &["suspend job"],
    },
    // Free devices are on nodes that lack something else, behind many nodes without any.
    Case {
        ask: "explain pod/du-south-5d9c7b6f4-q7w2d -n=ran --complete --now=2026-12-04T10:00:00Z",
        file: "huge-pages-missing-beside-free-devices",
        code: 1,
        has: &[
            "tel-09 has an available device of class sriov-vf, but cannot take the pod: Insufficient hugepages-1Gi",
            "tel-09 +21",
            "1. set up hugepages-1Gi on node/tel-09",
        ],
        has_not: &[],
    },
    // The filter that is not simulated rejects nodes without free devices, too.
    Case {
        ask: "explain pod/tts-5d9c7b6f4-m9x2c -n=speech --complete --now=2026-12-04T10:00:00Z",
        file: "spread-over-a-zone-without-devices",
        code: 1,
        has: &["Unknown whether waiting helps: PodTopologySpread is not simulated"],
        has_not: &["Fits on"],
    },
    Case {
        ask: "explain pod/gpt-c-workers-0-0-b5x8k -n=train --complete --now=2026-12-04T10:00:00Z",
        file: "exclusive-racks-of-other-jobsets",
        code: 1,
        has: &["1. check the podAntiAffinity", "2. check the podAffinity"],
        has_not: &["Fits on"],
    },
    Case {
        ask: "simulate eviction --node=gpu-07 --key=acme.com/rma --complete --now=2026-12-04T10:00:00Z",
        file: "eviction-of-a-pod-with-a-local-volume",
        code: 0,
        has: &["VolumeZone; these filters may keep search/vecdb-0 from fitting"],
        has_not: &[],
    },
    // One alternative tolerates the taint that keeps the other off.
    Case {
        ask: "explain pod/nightly-k2d8v -n=batch --complete --now=2026-12-04T10:00:00Z",
        file: "toleration-in-one-alternative",
        code: 1,
        has: &[
            "5 are tainted (acme.com/reserved=batch:NoSchedule)",
            "1. tolerate device taint acme.com/reserved=batch:NoSchedule in request gpu/a100",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain pod/dcgm-exporter-q7w2d -n=monitoring --complete --now=2026-12-04T10:00:00Z",
        file: "admin-access-label-in-capitals",
        code: 1,
        has: &["whose label has the value \"True\""],
        has_not: &[],
    },
    // Pods of a node that does not answer are not gone.
    Case {
        ask: "simulate eviction --pool=gpu-1 --driver=gpu.nvidia.com --key=acme.com/rma --complete --now=2026-12-04T10:00:00Z",
        file: "eviction-on-a-silent-node",
        code: 0,
        has: &[
            "2 stay terminating, with devices, until the node responds",
            "statefulset/cache recreates it once it is gone",
        ],
        has_not: &["unknown whether statefulset/cache"],
    },
    Case {
        ask: "check --complete --now=2026-12-04T10:00:00Z",
        file: "eviction-on-a-silent-node",
        code: 1,
        has: &["2 pods with devices were running there"],
        has_not: &["do not start there"],
    },
    Case {
        ask: "explain pod/montecarlo-0 -n=risk --complete --now=2026-12-04T10:00:00Z",
        file: "requests-of-the-whole-pod",
        code: 1,
        has: &["1. reduce memory in spec.resources of pod/risk/montecarlo-0 from 600Gi to 496Gi"],
        has_not: &["in container"],
    },
    Case {
        ask: "explain pod/ocr-5d9c7b6f4-4kd7m -n=ml --complete --now=2026-12-04T10:00:00Z",
        file: "resource-of-an-absent-class",
        code: 1,
        has: &["class nvidia-gpu does not exist; the only one is gpu.nvidia.com"],
        has_not: &[],
    },
    // The pod waits for its group.
    Case {
        ask: "explain pod/p -n=default --complete --feature-gates=GenericWorkload=true",
        file: "podgroup-that-does-not-exist",
        code: 1,
        has: &["podgroup/default/train does not exist: its pods are scheduled once it is created"],
        has_not: &["fits on"],
    },
    // A pod of two seconds.
    Case {
        ask: "explain --all-namespaces --complete --now=2026-12-04T10:00:00Z",
        file: "claim-about-to-be-made",
        code: 1,
        has: &["no action needed: the claim controller will create the claim from its template"],
        has_not: &[],
    },
    // A file of two days ago: its pods wait no longer than until then. The gate is off by default, but the API server has kept the field.
    Case {
        ask: "explain pod/trainer-0 -n=gang --complete",
        file: "podgroup-of-another-name",
        code: 1,
        has: &[
            "podgroup/gang/trainer does not exist",
            "GenericWorkload is assumed on",
            "does not record when it was read; assuming 2026-11-28T09:58:00Z",
        ],
        has_not: &["fits on"],
    },
    // The pod that keeps it cannot end.
    Case {
        ask: "explain claim/shared -n=old-team",
        file: "claim-kept-by-a-pod-on-a-silent-node",
        code: 1,
        has: &[
            "pod/old-team/nb-0",
            "node/gpu-2 is not ready",
            "the claim is being deleted",
            "node.kubernetes.io/out-of-service",
        ],
        has_not: &["√"],
    },
    Case {
        ask: "explain job/pretrain -n=llm --complete",
        file: "quota-counts-all-as-32",
        code: 1,
        has: &[
            "allocationMode All counts as 32",
            "request fewer devices in the claim, or raise resourcequota/llm/gpu-quota",
        ],
        has_not: &["wait until"],
    },
    Case {
        ask: "simulate allocation --complete -f=tests/data/field/job-of-two-gpus.yaml",
        file: "quota-of-devices-is-used-up",
        code: 1,
        has: &["DoesNotFit", "quota/team/gpu-quota has 4 of 4 in use"],
        has_not: &[],
    },
    Case {
        ask: "devices --free --complete",
        file: "devices-of-a-deleted-node",
        code: 0,
        has: &["No devices found"],
        has_not: &["gpu-3"],
    },
    Case {
        ask: "status --complete",
        file: "devices-of-a-deleted-node",
        code: 0,
        has: &["2 of missing nodes"],
        has_not: &[],
    },
    // Drivers say what fails, and objects show why.
    Case {
        ask: "explain deployment/infer -n=task-runtime --complete",
        file: "claim-refused-since-a-reboot",
        code: 1,
        has: &[
            "the node rebooted at 2026-11-30T08:26:00Z",
            "1. recreate the pod",
            "kubectl delete pod/infer-6c9f7d5b84-zx8lq",
        ],
        has_not: &["1. ask the owner"],
    },
    // Its driver's pod has no word of the driver's name, and mounts the directory of its socket.
    Case {
        ask: "explain driver/hami-core-gpu.project-hami.io --complete",
        file: "claim-refused-since-a-reboot",
        code: 0,
        has: &["daemonset/hami-system/hami-dra-driver-kubelet-plugin"],
        has_not: &[],
    },
    // A driver that prepares a claim for one pod only, and two replicas with one claim: the workload has to change, and no try succeeds.
    Case {
        ask: "explain pod/ptp-be19d835c9-q8d7k -n=timing --complete --now=2026-12-01T12:00:00Z",
        file: "nic-claim-of-two-replicas",
        code: 1,
        has: &[
            "pod/timing/ptp-be19d835c9-4vtzn uses the claim, too",
            "1. give each pod of Deployment ptp a claim of its own: resourceClaimTemplateName in place of resourceClaimName ptp-nic",
        ],
        has_not: &["ask the owner", "retries"],
    },
    // A claim without pods is reserved for a Job that is gone. No controller takes its devices back, not even once the entry is removed.
    Case {
        ask: "explain pod/fit-q7mzl -n=sim --complete --now=2026-12-01T12:00:00Z",
        file: "gpu-held-for-a-job-that-is-gone",
        code: 1,
        has: &[
            "no node has an available device of class gpu.nvidia.com: held by claim/sim/sweep-shared, which no pod uses",
            "Waiting will not help: claim/sim/sweep-shared holds what it needs, and no controller of Kubernetes takes that back",
            "1. remove the reservation of claim/sim/sweep-shared for jobs.batch/sim/sweep-old, which no component removes (tested: fits on gpu-1)",
            "without the entry alone, the claim keeps its devices until it is deleted",
        ],
        has_not: &["Unknown whether", "stop the consumers"],
    },
    Case {
        ask: "explain pod/fit-q7mzl -n=sim --emit-fix=1 --complete --now=2026-12-01T12:00:00Z",
        file: "gpu-held-for-a-job-that-is-gone",
        code: 0,
        has: &["kubectl patch", "--subresource=status", "/status/allocation"],
        has_not: &[],
    },
    Case {
        ask: "explain claim/sweep-shared -n=sim --complete --now=2026-12-01T12:00:00Z",
        file: "gpu-held-for-a-job-that-is-gone",
        code: 0,
        has: &["no pod uses claim/sim/sweep-shared, and no controller of Kubernetes takes its devices back"],
        has_not: &[],
    },
    Case {
        ask: "check --complete --now=2026-12-01T12:00:00Z",
        file: "gpu-held-for-a-job-that-is-gone",
        code: 1,
        has: &["its devices stay allocated until its owner removes the entry and deletes the claim"],
        has_not: &[],
    },
    // The template of a Deployment has a nodeName: each new pod is like this one.
    Case {
        ask: "explain deployment/cam -n=edge --complete --now=2026-12-01T12:00:00Z",
        file: "node-name-in-a-deployment",
        code: 1,
        has: &[
            "The pod was created with spec.nodeName, which bypasses kube-scheduler",
            "1. replace nodeName in the pod template of Deployment cam with nodeSelector kubernetes.io/hostname: gpu-2",
        ],
        has_not: &["kubectl delete pod"],
    },
    // The kubelet restarts a model server that is still loading: the readiness probe, which fails, too, is no cause.
    Case {
        ask: "explain deployment/qwen -n=llm --complete --now=2026-12-01T12:00:00Z",
        file: "liveness-probe-during-the-start",
        code: 1,
        has: &["it is not ready: Liveness probe failed", "add a startupProbe"],
        has_not: &["it is not ready: Readiness probe", "which others wait for"],
    },
    // The only pod of a StatefulSet is stuck terminating: the next one takes its place.
    Case {
        ask: "explain statefulset/vec -n=db --complete --now=2026-12-01T12:00:00Z",
        file: "only-pod-of-a-set-on-a-silent-node",
        code: 1,
        has: &["StatefulSet vec has 0 of 1 pods: it creates the replacement of vec-0 once this pod is gone"],
        has_not: &["once all of them are ready"],
    },
    // After a reboot the driver's pod waits in an init container, for what waits for the end of this pod.
    Case {
        ask: "explain pod/llm-0 -n=inference --complete --now=2026-12-01T12:00:00Z",
        file: "driver-waits-since-a-reboot",
        code: 1,
        has: &[
            "driver gpu.nvidia.com is not registered with the kubelet on gpu-1: pod/nvidia-dra-driver-gpu/nvidia-dra-driver-gpu-kubelet-plugin-247e2 is not ready",
            "1. ask an administrator to break a circle: pod/gpu-operator/nvidia-driver-daemonset-x7k2p waits until this pod is gone",
        ],
        has_not: &["does not unprepare"],
    },
    // Docker by an old cri-dockerd: the image is not to blame.
    Case {
        ask: "explain deployment/smi -n=gpu-test2 --complete --now=2026-12-01T12:00:00Z",
        file: "docker-without-cdi",
        code: 1,
        has: &[
            "container ctr does not find its devices",
            "node2 has docker 29.4.0, and cri-dockerd before its release with Mirantis/cri-dockerd#522 starts containers without the devices that drivers prepare",
            "1. ask an administrator to update cri-dockerd on node2",
        ],
        has_not: &["1. fix container"],
    },
    // The scheduler that bound the pod is at fault.
    Case {
        ask: "explain pod/quickstart-task-0 -n=ml --complete --now=2026-11-28T10:00:00Z",
        file: "bound-without-a-claim-by-volcano",
        code: 1,
        has: &[
            "is not allocated, as scheduler volcano bound the pod without allocating its claim: the kubelet does not start it",
        ],
        has_not: &[],
    },
    // A node stays behind the others of its ComputeDomain, as the pod of the driver there does not get ready: it is that one's turn.
    Case {
        ask: "explain pod/imex-channel-injection -n=default --complete --now=2026-11-30T12:00:00Z",
        file: "domain-daemon-fails-its-probe",
        code: 1,
        has: &[
            "ComputeDomain imex-channel-injection is not ready on gb-1, and its pods do not start there until it is",
            "1. get ComputeDomain imex-channel-injection ready on gb-1, where pod/nvidia-dra-driver-gpu/computedomain-daemon-bb555a3a-a499-4c91-97a7-f07965c600ea-sb99v is not ready for it",
            "see: kubectl logs",
            "was restarted 9 times",
        ],
        has_not: &["until it has all", "correct the configuration"],
    },
    Case {
        ask: "explain pod/disagg-0-decode-1w -n=dyn --complete --now=2026-11-30T12:00:00Z",
        file: "domain-of-open-size-not-ready",
        code: 1,
        has: &[
            "ComputeDomain disagg-cd is not ready on gb-1",
            "1. get ComputeDomain disagg-cd ready on gb-1, where pod/nvidia-dra-driver-gpu/disagg-cd-xtskc-d1d1 is not ready for it",
        ],
        has_not: &["correct the configuration"],
    },
    Case {
        ask: "explain job/allreduce -n=nccl --complete --now=2026-11-30T12:00:00Z",
        file: "domain-daemon-just-started",
        code: 1,
        has: &[
            "waits: ComputeDomain nccl-cd is not ready on gb-1",
            "1. wait until ComputeDomain nccl-cd has gb-1",
        ],
        has_not: &["×", "correct the configuration"],
    },
    Case {
        ask: "check --complete --now=2026-11-30T12:00:00Z",
        file: "domain-daemon-just-started",
        code: 0,
        has: &[],
        has_not: &["Error", "correct the configuration"],
    },
    // An earlier call keeps the driver's lock: that is not about the configuration.
    Case {
        ask: "explain pod/virt-launcher-vm9-x2k4p -n=vms --complete --now=2026-11-30T12:00:00Z",
        file: "lock-of-a-driver-is-held",
        code: 1,
        has: &[
            "1. ask the owner of driver gpu.nvidia.com to check which earlier call keeps its lock",
            "pod/gpu-operator/nvidia-dcgm-exporter-qhftq may use it without a claim",
            "kubectl logs pod/dra-driver-nvidia-gpu-kubelet-plugin-v9v9v",
        ],
        has_not: &["correct the configuration", "delete pod/"],
    },
    // A volume is on another node, where a pod still uses it.
    Case {
        ask: "explain pod/serve-7c9db8954b-bbbbb -n=llm --complete --now=2026-11-30T12:00:00Z",
        file: "volume-of-a-pod-on-a-silent-node",
        code: 1,
        has: &[
            "Note: pod/llm/serve-7c9db8954b-aaaaa: node/ip-10-1-56-237 is not ready: its kubelet has stopped reporting",
            "1. end the pod that uses the volume on another node: pod/llm/serve-7c9db8954b-aaaaa",
            "a forced deletion does not stop the containers",
            "node.kubernetes.io/out-of-service:NoExecute",
        ],
        has_not: &["fix the volumes", "--force"],
    },
    Case {
        ask: "explain pod/serve-7c9db8954b-bbbbb -n=llm --complete --now=2026-11-30T12:00:00Z",
        file: "volume-of-a-running-pod",
        code: 1,
        has: &[
            "1. end the pod that uses the volume on another node: pod/llm/serve-7c9db8954b-aaaaa",
            "ReadWriteMany",
        ],
        has_not: &["fix the volumes", "out-of-service"],
    },
    // Two replicas share a claim that the driver binds to one container.
    Case {
        ask: "explain deployment/upf -n=telco --complete --now=2026-11-30T12:00:00Z",
        file: "claim-of-cpus-of-two-replicas",
        code: 1,
        has: &[
            "1. give each pod of Deployment upf a claim of its own: resourceClaimTemplateName in place of resourceClaimName upf-cpus",
            "pod/telco/upf-6c5d9f7b8-aa111 has the claim",
        ],
        has_not: &["fix container main"],
    },
    // What installs files for the driver was replaced after the driver's pod had started.
    Case {
        ask: "explain pod/gen-6c5d9f7b8-w8w8w -n=infer --complete --now=2026-11-30T12:00:00Z",
        file: "driver-older-than-its-toolkit",
        code: 1,
        has: &[
            "1. restart pod/dra-driver-nvidia-gpu/dra-driver-nvidia-gpu-kubelet-plugin-k0zx0",
            "pod/nvidia-gpu-operator/nvidia-container-toolkit-daemonset-9p9p9, which installs what it gives to containers, started at 2026-11-30T10:40:00Z",
            "pods on the node keep their devices",
        ],
        has_not: &["1. ask the owner"],
    },
    // A driver keeps a device for a deleted claim, and others are free.
    Case {
        ask: "explain pod/bert-0 -n=train --complete --now=2026-11-30T12:00:00Z",
        file: "device-of-a-deleted-claim-beside-free-ones",
        code: 1,
        has: &[
            "1. ask the owner of driver gpu.nvidia.com to release the devices of the earlier claim",
            "2. taint gpu.nvidia.com/h100-1/gpu-1 until its driver has released it, and then recreate pod/train/bert-0",
            "without the taint, the pod may get the same device again",
        ],
        has_not: &["restart"],
    },
    // The driver does not take a daemon's claim back, whose ComputeDomain was not read.
    Case {
        ask: "explain pod/nvbandwidth-cd-pvl9g-kq2zj -n=nvidia-dra-driver-gpu --complete --now=2026-11-30T12:00:00Z",
        file: "daemon-of-a-domain-that-is-gone",
        code: 1,
        has: &["is for the ComputeDomain with UID 0846944b-9e2b-4cf4-a700-bc7b12cd136a, which was not read"],
        has_not: &["--force", "finalizer"],
    },
    Case {
        ask: "explain pod/test-pod -n=gpu-test-mps --complete",
        file: "daemon-of-a-claim-is-refused",
        code: 1,
        has: &[
            "replicaset/nvidia-dra-driver-gpu/mps-control-daemon-",
            "gets no pod",
            "1. ask the owner of driver gpu.nvidia.com to grant the service account of its pods a SecurityContextConstraints",
        ],
        has_not: &["correct the configuration"],
    },
    Case {
        ask: "explain pod/llama-0 -n=vllm --complete",
        file: "driver-older-than-on-other-nodes",
        code: 1,
        has: &["1. restart pod/nvidia-dra-driver-gpu/", "worker-gpu-1"],
        has_not: &["1. ask the owner"],
    },
    // What kube-scheduler says shows which gates it has on.
    Case {
        ask: "explain pod/quote -n=rt --complete",
        file: "claim-of-cpus-is-for-one-pod",
        code: 1,
        has: &["cannot be shared across pods"],
        has_not: &["fits on 1 of 1", "unknown bug"],
    },
    Case {
        ask: "explain pod/rank-1 -n=ml --complete",
        file: "gang-takes-the-whole-first",
        code: 1,
        has: &["podgroup/ml/pair"],
        has_not: &["fits on 1 of 1", "unknown bug"],
    },
    Case {
        ask: "explain pod/fw-1 -n=net --complete",
        file: "counters-charged-twice-by-1.36",
        code: 1,
        has: &[
            "only by a known bug of kube-scheduler before 1.37.0 (kubernetes/kubernetes#140437)",
            "1. ask an administrator to upgrade kube-scheduler to 1.37.0 (tested",
        ],
        has_not: &[],
    },
    Case {
        ask: "explain job/bench-1 -n=team-a --complete",
        file: "workload-refused-before-a-restart",
        code: 1,
        has: &["1. delete workload/team-a/job-bench-1-4c0de if deviceClassMappings"],
        has_not: &["1. add the DeviceClass"],
    },
];

#[test]
fn the_first_broken_link_of_a_driver_is_named() {
    for case in CASES {
        let from = format!("--from=tests/data/field/{}.yaml", case.file);
        let args: Vec<&str> = case.ask.split_whitespace().chain([&*from]).collect();
        let piped = seen(dra(&args).run().exits(case.code));
        let shown = seen(on_screen(dra(&args), 80).exits(case.code));
        for text in [piped, shown] {
            // A screen folds lines.
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for fact in case.has {
                assert!(text.contains(fact), "{args:?} lacks {fact}: {text}");
            }
            for wrong in case.has_not {
                assert!(!text.contains(wrong), "{args:?} has {wrong}: {text}");
            }
        }
    }
}
