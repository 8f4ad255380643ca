//! Small clusters from bytes: a few nodes, slices, classes, claims and pods whose names refer to each other, right or wrong.

use serde_json::{Value, json};

use super::bytes::Bytes;

/// The kinds that a cluster here can have, the version they are written in, and one more than the most objects there are.
pub(super) const MOST: &[(&str, &str, usize)] = &[
    ("v1", "Node", 3),
    ("resource.k8s.io/v1", "DeviceClass", 3),
    ("resource.k8s.io/v1", "ResourceSlice", 4),
    ("resource.k8s.io/v1beta2", "DeviceTaintRule", 3),
    ("resource.k8s.io/v1", "ResourceClaimTemplate", 3),
    ("resource.k8s.io/v1", "ResourceClaim", 5),
    ("v1", "Pod", 5),
    ("scheduling.k8s.io/v1beta1", "PodGroup", 3),
    // Two of them, always.
    ("v1", "Namespace", 0),
];

const NAMES: &[&str] = &["a", "b", "c", "d"];
const HOSTILE: &[&str] = &[
    "\u{1b}[2Jx",
    "x\u{202e}y",
    "$(touch pwned)",
    "--all",
    "a\nb",
    "",
    "'; rm -rf x; '",
    "\u{e0041}\u{2060}",
];
const COUNTS: &[i64] = &[1, 2, 3, 0, -1, 32, 33, i64::MAX, i64::MIN];
const QUANTITIES: &[&str] = &[
    "1",
    "10Gi",
    "80Gi",
    "0",
    "1m",
    "-5",
    "1e18",
    "9223372036854775807",
    "1n",
    "1E400",
    "nonsense",
];
const TIMES: &[&str] = &[
    "2026-11-21T10:00:00Z",
    "2026-11-21T11:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
];
const SELECTORS: &[&str] = &[
    "true",
    "device.driver == 'd'",
    "device.attributes['d'].fast",
    "device.attributes['d'].missing == 1",
    "device.capacity['d'].memory.compareTo(quantity('40Gi')) > 0",
    "syntax error(",
    "[1,2,3].map(x, x + x).size() > 0",
];
const EFFECTS: &[&str] = &["NoSchedule", "NoExecute", "None", "Other"];

/// The items of a cluster by kind, in the order of [`MOST`].
pub(super) struct SmallCluster {
    pub(super) items: Vec<Value>,
}

struct Maker<'a, 'b> {
    bytes: &'a mut Bytes<'b>,
    /// True if names may be what no server would accept.
    hostile: bool,
}

impl SmallCluster {
    /// The cluster that `bytes` describe.
    pub(super) fn of(bytes: &mut Bytes<'_>) -> Self {
        let hostile = bytes.one_in(3);
        let mut maker = Maker { bytes, hostile };
        let mut items = Vec::new();
        for name in ["a", "b"] {
            items.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "uid": format!("ns-{name}")}}));
        }
        for (api_version, kind, most) in MOST {
            for name in NAMES.iter().take(maker.bytes.below(*most)) {
                let mut item = maker.object(kind, name);
                item["apiVersion"] = json!(api_version);
                item["kind"] = json!(kind);
                items.push(item);
            }
        }
        Self { items }
    }

    /// The cluster as a snapshot that says what it read: every kind, and how many objects of each.
    pub(super) fn snapshot(&self) -> Vec<u8> {
        snapshot(&self.items, &self.lists(), &[])
    }

    /// Returns what the snapshot says of its lists.
    pub(super) fn lists(&self) -> Vec<Value> {
        let list = |(api_version, kind, _): &(&str, &str, usize)| {
            let count = self.items.iter().filter(|item| item["kind"] == **kind).count();
            json!({"apiVersion": api_version, "kind": kind, "resourceVersion": "1", "count": count})
        };
        MOST.iter().map(list).collect()
    }
}

/// A snapshot of `items` that says of itself what `lists` and `gaps` say.
pub(super) fn snapshot(items: &[Value], lists: &[Value], gaps: &[Value]) -> Vec<u8> {
    let info = json!({
        "apiVersion": "dra.kubectl.io/v1", "kind": "SnapshotInfo", "metadata": {"name": "snapshot"}, "tool": "fuzz",
        "recordedAt": "2026-11-21T10:30:00Z", "source": "random", "redacted": false,
        "kubernetes": {"version": "1.37.1"}, "featureGates": [], "lists": lists, "gaps": gaps, "notServed": [],
    });
    let items: Vec<&Value> = std::iter::once(&info).chain(items).collect();
    json!({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items})
        .to_string()
        .into_bytes()
}

impl Maker<'_, '_> {
    fn object(&mut self, kind: &str, name: &str) -> Value {
        match kind {
            "Node" => self.node(name),
            "DeviceClass" => self.class(name),
            "ResourceSlice" => self.slice(name),
            "DeviceTaintRule" => self.rule(name),
            "ResourceClaimTemplate" => self.template(name),
            "ResourceClaim" => self.claim(name),
            "Pod" => self.pod(name),
            _ => self.group(name),
        }
    }

    /// A name that objects here have, mostly.
    fn name(&mut self) -> &'static str {
        if self.hostile && self.bytes.one_in(4) {
            self.bytes.pick(HOSTILE)
        } else {
            self.bytes.pick(NAMES)
        }
    }

    fn namespace(&mut self) -> &'static str {
        self.bytes.pick(&["a", "a", "b"])
    }

    fn meta(&mut self, kind: &str, name: &str, namespaced: bool) -> Value {
        let name = if self.hostile && self.bytes.one_in(4) {
            self.bytes.pick(HOSTILE)
        } else {
            name
        };
        let mut meta = json!({
            "name": name, "uid": format!("{kind}-{name}"), "resourceVersion": "7",
            "creationTimestamp": self.bytes.pick(TIMES), "labels": {"l": self.name()},
        });
        if namespaced {
            meta["namespace"] = json!(self.namespace());
        }
        if self.bytes.one_in(8) {
            meta["deletionTimestamp"] = json!(self.bytes.pick(TIMES));
        }
        meta
    }

    fn taints(&mut self) -> Value {
        let taints: Vec<Value> = (0..self.bytes.below(3))
            .map(|_| {
                json!({"key": self.name(), "value": self.name(), "effect": self.bytes.pick(EFFECTS),
                       "timeAdded": self.bytes.pick(TIMES)})
            })
            .collect();
        json!(taints)
    }

    fn tolerations(&mut self) -> Value {
        let tolerations: Vec<Value> = (0..self.bytes.below(3))
            .map(|_| {
                let mut toleration =
                    json!({"operator": self.bytes.pick(&["Exists", "Equal"]), "key": self.name()});
                if self.bytes.one_in(2) {
                    toleration["effect"] = json!(self.bytes.pick(EFFECTS));
                }
                if self.bytes.one_in(3) {
                    toleration["tolerationSeconds"] = json!(self.bytes.pick(COUNTS));
                }
                toleration
            })
            .collect();
        json!(tolerations)
    }

    fn selectors(&mut self) -> Value {
        let selectors: Vec<Value> = (0..self.bytes.below(3))
            .map(|_| json!({"cel": {"expression": self.bytes.pick(SELECTORS)}}))
            .collect();
        json!(selectors)
    }

    fn node(&mut self, name: &str) -> Value {
        json!({"metadata": self.meta("node", name, false),
               "spec": {"unschedulable": self.bytes.one_in(4)},
               "status": {"allocatable": {"pods": "110", "cpu": self.bytes.pick(QUANTITIES)}}})
    }

    fn class(&mut self, name: &str) -> Value {
        let mut class =
            json!({"metadata": self.meta("class", name, false), "spec": {"selectors": self.selectors()}});
        if self.bytes.one_in(3) {
            class["spec"]["extendedResourceName"] = json!("example.com/gpu");
        }
        class
    }

    fn slice(&mut self, name: &str) -> Value {
        let devices: Vec<Value> = (0..self.bytes.below(4))
            .map(|number| {
                let mut device = json!({"name": NAMES[number]});
                if self.bytes.one_in(2) {
                    device["attributes"] = json!({"fast": {"bool": self.bytes.one_in(2)}, "model": {"string": self.name()}});
                }
                if self.bytes.one_in(2) {
                    device["capacity"] = json!({"memory": {"value": self.bytes.pick(QUANTITIES)}});
                }
                if self.bytes.one_in(3) {
                    device["taints"] = self.taints();
                }
                if self.bytes.one_in(4) {
                    device["consumesCounters"] =
                        json!([{"counterSet": "s", "counters": {"memory": {"value": self.bytes.pick(QUANTITIES)}}}]);
                }
                if self.bytes.one_in(4) {
                    device["allowMultipleAllocations"] = json!(true);
                }
                device
            })
            .collect();
        let mut spec = json!({
            "driver": "d", "pool": {"name": self.name(), "generation": self.bytes.pick(COUNTS),
                                    "resourceSliceCount": self.bytes.pick(COUNTS)},
            "devices": devices,
        });
        match self.bytes.below(4) {
            0 | 1 => spec["nodeName"] = json!(self.name()),
            2 => spec["allNodes"] = json!(true),
            _ => {
                spec["nodeSelector"] = json!({"nodeSelectorTerms": [{"matchExpressions": [
                    {"key": "l", "operator": "In", "values": [self.name()]}]}]});
            }
        }
        if self.bytes.one_in(4) {
            spec["sharedCounters"] =
                json!([{"name": "s", "counters": {"memory": {"value": self.bytes.pick(QUANTITIES)}}}]);
        }
        json!({"metadata": self.meta("slice", name, false), "spec": spec})
    }

    fn rule(&mut self, name: &str) -> Value {
        let mut spec = json!({"taint": {"key": self.name(), "effect": self.bytes.pick(EFFECTS),
                                        "timeAdded": self.bytes.pick(TIMES)}});
        match self.bytes.below(3) {
            0 => {}
            1 => spec["deviceSelector"] = json!({"driver": "d"}),
            _ => {
                spec["deviceSelector"] = json!({"driver": "d", "pool": self.name(), "device": self.name()});
            }
        }
        json!({"metadata": self.meta("rule", name, false), "spec": spec})
    }

    fn claim_spec(&mut self) -> Value {
        let requests: Vec<Value> = (0..=self.bytes.below(3))
            .map(|number| {
                let exactly = json!({
                    "deviceClassName": self.name(), "selectors": self.selectors(), "tolerations": self.tolerations(),
                    "allocationMode": self.bytes.pick(&["ExactCount", "ExactCount", "All"]),
                    "count": self.bytes.pick(COUNTS), "adminAccess": self.bytes.one_in(6),
                });
                if self.bytes.one_in(4) {
                    let mut first = exactly;
                    first["name"] = json!("sub");
                    json!({"name": NAMES[number], "firstAvailable": [first]})
                } else {
                    json!({"name": NAMES[number], "exactly": exactly})
                }
            })
            .collect();
        let mut devices = json!({ "requests": requests });
        if self.bytes.one_in(3) {
            devices["constraints"] = json!([{"matchAttribute": "d/model"}]);
        }
        json!({ "devices": devices })
    }

    fn template(&mut self, name: &str) -> Value {
        json!({"metadata": self.meta("template", name, true), "spec": {"spec": self.claim_spec()}})
    }

    fn claim(&mut self, name: &str) -> Value {
        let mut claim = json!({"metadata": self.meta("claim", name, true), "spec": self.claim_spec()});
        if self.bytes.one_in(3) {
            claim["metadata"]["finalizers"] = json!(["resource.kubernetes.io/delete-protection"]);
        }
        if self.bytes.one_in(3) {
            claim["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "Pod", "controller": true,
                "name": self.name(), "uid": format!("pod-{}", self.name())}]);
        }
        if self.bytes.one_in(2) {
            let results: Vec<Value> = (0..=self.bytes.below(2))
                .map(|number| {
                    json!({"request": NAMES[number], "driver": "d", "pool": self.name(), "device": self.name(),
                           "tolerations": self.tolerations()})
                })
                .collect();
            claim["status"]["allocation"] = json!({"devices": {"results": results}});
        }
        if self.bytes.one_in(2) {
            let entries: Vec<Value> = (0..=self.bytes.below(2))
                .map(|_| {
                    let name = self.name();
                    match self.bytes.below(4) {
                        0 => json!({"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": name, "uid": format!("group-{name}")}),
                        1 => json!({"apiGroup": "batch", "resource": self.name(), "name": name, "uid": "job"}),
                        _ => json!({"resource": "pods", "name": name, "uid": format!("pod-{name}")}),
                    }
                })
                .collect();
            claim["status"]["reservedFor"] = json!(entries);
        }
        claim
    }

    fn pod(&mut self, name: &str) -> Value {
        let mut pod = json!({
            "metadata": self.meta("pod", name, true),
            "spec": {"containers": [{"name": "c", "image": "i"}], "tolerations": self.tolerations()},
            "status": {"phase": self.bytes.pick(&["Pending", "Running", "Succeeded", "Failed"])},
        });
        if self.bytes.one_in(2) {
            pod["spec"]["nodeName"] = json!(self.name());
        }
        match self.bytes.below(3) {
            0 => {}
            1 => {
                pod["spec"]["resourceClaims"] = json!([{"name": "x", "resourceClaimName": self.name()}]);
            }
            _ => {
                let name = self.name();
                pod["spec"]["resourceClaims"] = json!([{"name": "x", "resourceClaimTemplateName": name}]);
                if self.bytes.one_in(2) {
                    pod["status"]["resourceClaimStatuses"] =
                        json!([{"name": "x", "resourceClaimName": self.name()}]);
                }
            }
        }
        if self.bytes.one_in(4) {
            pod["spec"]["schedulingGroup"] = json!({"podGroupName": self.name()});
        }
        if self.bytes.one_in(6) {
            pod["spec"]["schedulingGates"] = json!([{"name": self.name()}]);
        }
        pod
    }

    fn group(&mut self, name: &str) -> Value {
        json!({"metadata": self.meta("group", name, true), "spec": {"schedulingPolicy": {"basic": {}}}})
    }
}
