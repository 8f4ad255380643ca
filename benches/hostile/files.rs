//! The files: as much as fits of something that costs more to answer than to write.

use serde_json::{Value, json};

/// Objects that all files have, so that every command has something to look at.
fn base() -> Vec<Value> {
    vec![
        node("n"),
        class("c", "true"),
        slice("s", "n", &json!([{"name": "a"}])),
        claim("k", &json!([exactly("r", "c", 1)])),
        pod("p", &["k"]),
    ]
}

fn node(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
}

/// A node that takes pods.
fn able(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"pods": "9"}}})
}

/// A slice of the pool for all nodes, or for those that `selector` says.
fn slice_of_nodes(name: &str, pool: &str, selector: Option<Value>) -> Value {
    let mut slice = slice(name, pool, &json!([{"name": name}]));
    if let Some(spec) = slice["spec"].as_object_mut() {
        spec.remove("nodeName");
        match selector {
            Some(selector) => spec.insert("nodeSelector".to_owned(), selector),
            None => spec.insert("allNodes".to_owned(), json!(true)),
        };
    }
    slice
}

/// Every node but one.
fn other_than(node: usize) -> Value {
    json!({"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": [node.to_string()]}]}]})
}

/// Nodes that take pods, and slices that many of them reach; the claim wants more devices than there are if `hopeless`.
fn nodes_and_slices(size: usize, hopeless: bool, make: impl Fn(usize) -> Value) -> Vec<u8> {
    let mut items = base();
    items[0] = able("n");
    items.extend(fill(size / 2, |n| able(&n.to_string())));
    let mut slices = fill(size / 2, make);
    let count = slices.len();
    for slice in &mut slices {
        if slice["spec"]["pool"]["name"] == "x" {
            slice["spec"]["pool"]["resourceSliceCount"] = json!(count);
        }
    }
    items.extend(slices);
    if hopeless {
        items[CLAIM]["spec"]["devices"]["requests"] = json!([exactly("r", "c", 1_000_000)]);
    }
    json!({"apiVersion": "v1", "kind": "List", "items": items})
        .to_string()
        .into_bytes()
}

fn class(name: &str, expression: &str) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name},
           "spec": {"selectors": [{"cel": {"expression": expression}}]}})
}

fn slice(name: &str, node: &str, devices: &Value) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name},
           "spec": {"driver": "d", "nodeName": node, "devices": devices,
                    "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}}})
}

fn exactly(name: &str, class: &str, count: usize) -> Value {
    json!({"name": name, "exactly": {"deviceClassName": class, "allocationMode": "ExactCount", "count": count}})
}

fn claim(name: &str, requests: &Value) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
           "metadata": {"name": name, "namespace": "default", "uid": format!("u-{name}")},
           "spec": {"devices": {"requests": requests}}})
}

/// A claim that has this device, with these entries.
fn allocated(name: &str, device: &str, entries: &Value) -> Value {
    let mut claim = claim(name, &json!([exactly("r", "c", 1)]));
    claim["status"] = json!({"allocation": {"devices": {"results": [
        {"request": "r", "driver": "d", "pool": "n", "device": device}]}}, "reservedFor": entries});
    claim
}

fn pod(name: &str, claims: &[&str]) -> Value {
    let claims: Vec<Value> = (0..)
        .zip(claims)
        .map(|(number, claim)| json!({"name": format!("c{number}"), "resourceClaimName": claim}))
        .collect();
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", "uid": format!("u-{name}")},
           "spec": {"containers": [], "resourceClaims": claims}})
}

fn rule(name: &str, selector: &Value) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule", "metadata": {"name": name},
           "spec": {"deviceSelector": selector, "taint": {"key": "k", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}}})
}

/// As many values as fit into this many bytes.
fn fill(size: usize, value: impl Fn(usize) -> Value) -> Vec<Value> {
    let mut left = size;
    let mut values = Vec::new();
    for number in 0.. {
        let value = value(number);
        let Some(rest) = left.checked_sub(value.to_string().len() + 1) else {
            break;
        };
        left = rest;
        values.push(value);
    }
    values
}

/// The base, and these objects.
fn list(objects: Vec<Value>) -> Vec<u8> {
    let mut items = base();
    items.extend(objects);
    json!({"apiVersion": "v1", "kind": "List", "items": items})
        .to_string()
        .into_bytes()
}

/// The base with the object at this place changed.
fn changed(at: usize, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut items = base();
    change(&mut items[at]);
    json!({"apiVersion": "v1", "kind": "List", "items": items})
        .to_string()
        .into_bytes()
}

const SLICE: usize = 2;
const CLAIM: usize = 3;
const POD: usize = 4;

pub(crate) type Make = Box<dyn Fn(usize) -> Vec<u8>>;

/// Names of files, and what makes one of about this many bytes of text.
pub(crate) fn families() -> Vec<(String, Make)> {
    let mut families: Vec<(String, Make)> = Vec::new();
    let mut add = |name: String, make: Make| families.push((name, make));

    // Many objects of a kind.
    add(
        "nodes".to_owned(),
        Box::new(|size| list(fill(size, |n| node(&n.to_string())))),
    );
    add(
        "classes".to_owned(),
        Box::new(|size| list(fill(size, |n| class(&n.to_string(), "true")))),
    );
    add(
        "classes with attributes".to_owned(),
        Box::new(|size| {
            list(fill(size, |n| {
                class(&n.to_string(), &format!("device.attributes['d'].index < {n}"))
            }))
        }),
    );
    add(
        "slices of one pool".to_owned(),
        Box::new(|size| {
            list(fill(size, |n| {
                slice(&n.to_string(), "n", &json!([{"name": n.to_string()}]))
            }))
        }),
    );
    add(
        "slices of many pools".to_owned(),
        Box::new(|size| {
            list(fill(size, |n| {
                slice(&n.to_string(), &n.to_string(), &json!([{"name": "a"}]))
            }))
        }),
    );
    add(
        "slices of many nodes".to_owned(),
        Box::new(|size| {
            list(
                fill(size, |n| {
                    slice(&n.to_string(), &n.to_string(), &json!([{"name": "a"}]))
                })
                .into_iter()
                .enumerate()
                .flat_map(|(n, slice)| [node(&n.to_string()), slice])
                .take(size / 250)
                .collect(),
            )
        }),
    );
    for hopeless in [false, true] {
        let end = if hopeless { ", and a hopeless count" } else { "" };
        let name = |what: &str| format!("{what}{end}");
        add(
            name("slices for all nodes"),
            Box::new(move |size| {
                nodes_and_slices(size, hopeless, |n| {
                    slice_of_nodes(&n.to_string(), &n.to_string(), None)
                })
            }),
        );
        add(
            name("slices for all nodes of one pool"),
            Box::new(move |size| {
                nodes_and_slices(size, hopeless, |n| slice_of_nodes(&n.to_string(), "x", None))
            }),
        );
        add(
            name("slices with node selectors"),
            Box::new(move |size| {
                nodes_and_slices(size, hopeless, |n| {
                    slice_of_nodes(&n.to_string(), &n.to_string(), Some(other_than(n)))
                })
            }),
        );
        add(
            name("slices with node selectors of one pool"),
            Box::new(move |size| {
                nodes_and_slices(size, hopeless, |n| {
                    slice_of_nodes(&n.to_string(), "x", Some(other_than(n)))
                })
            }),
        );
    }
    add(
        "claims".to_owned(),
        Box::new(|size| {
            list(fill(size, |n| {
                claim(&n.to_string(), &json!([exactly("r", "c", 1)]))
            }))
        }),
    );
    add(
        "claims without requests".to_owned(),
        Box::new(|size| list(fill(size, |n| claim(&n.to_string(), &json!([]))))),
    );
    add(
        "claims that hold one device".to_owned(),
        Box::new(|size| {
            list(fill(size, |n| {
                allocated(
                    &n.to_string(),
                    "a",
                    &json!([{"resource": "pods", "name": "p", "uid": "u-p"}]),
                )
            }))
        }),
    );
    add(
        "claims that hold absent devices".to_owned(),
        Box::new(|size| {
            list(fill(size, |n| {
                allocated(&n.to_string(), &n.to_string(), &json!([]))
            }))
        }),
    );
    add(
        "claims of groups".to_owned(),
        Box::new(|size| {
            list(fill(size, |n| {
                allocated(
                    &n.to_string(),
                    "a",
                    &json!([
            {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "1"}]),
                )
            }))
        }),
    );
    add(
        "pods".to_owned(),
        Box::new(|size| list(fill(size, |n| pod(&n.to_string(), &[])))),
    );
    add(
        "pods of one claim".to_owned(),
        Box::new(|size| list(fill(size, |n| pod(&n.to_string(), &["k"])))),
    );
    add(
        "pods of a group".to_owned(),
        Box::new(|size| {
            let mut objects = fill(size / 2, |n| {
                let mut pod = pod(&n.to_string(), &["k"]);
                pod["spec"]["schedulingGroup"] = json!({"podGroupName": "g"});
                pod
            });
            objects.extend(fill(size / 2, |n| {
                allocated(
                    &format!("k{n}"),
                    "a",
                    &json!([
            {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "1"}]),
                )
            }));
            objects.push(
                json!({"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup",
                            "metadata": {"name": "g", "namespace": "default", "uid": "1"}, "spec": {}}),
            );
            list(objects)
        }),
    );
    add(
        "pods with many claims".to_owned(),
        Box::new(|size| {
            list(fill(size, |n| {
                let names: Vec<String> = (0..32).map(|claim| format!("k{}", claim * n)).collect();
                pod(
                    &n.to_string(),
                    &names.iter().map(String::as_str).collect::<Vec<_>>(),
                )
            }))
        }),
    );
    add(
        "rules".to_owned(),
        Box::new(|size| list(fill(size, |n| rule(&n.to_string(), &json!({"driver": "d"}))))),
    );
    add(
        "rules and devices".to_owned(),
        Box::new(|size| {
            let mut objects = fill(size / 2, |n| rule(&n.to_string(), &json!({"driver": "d"})));
            objects.push(slice(
                "t",
                "m",
                &json!(fill(size / 2, |n| json!({"name": n.to_string()}))),
            ));
            list(objects)
        }),
    );
    add(
        "rules and claims".to_owned(),
        Box::new(|size| {
            let mut objects = fill(size / 2, |n| rule(&n.to_string(), &json!({"driver": "d"})));
            objects.extend(fill(size / 2, |n| {
                allocated(
                    &n.to_string(),
                    "a",
                    &json!([{"resource": "pods", "name": "p", "uid": "u-p"}]),
                )
            }));
            list(objects)
        }),
    );
    add(
        "quotas".to_owned(),
        Box::new(|size| {
            list(fill(size, |n| {
                json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": n.to_string(), "namespace": "default"},
            "spec": {"hard": {"c.deviceclass.resource.k8s.io/devices": n.to_string()}}})
            }))
        }),
    );
    add(
        "templates".to_owned(),
        Box::new(|size| {
            list(fill(size, |n| {
                json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
            "metadata": {"name": n.to_string(), "namespace": "default"}, "spec": {"spec": {"devices": {"requests": [exactly("r", "c", 1)]}}}})
            }))
        }),
    );
    add(
        "events".to_owned(),
        Box::new(|size| {
            list(fill(size, |n| {
                json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": n.to_string(), "namespace": "default"},
            "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default", "uid": "u-p"}, "reason": "FailedScheduling", "message": "x"})
            }))
        }),
    );
    add(
        "other kinds".to_owned(),
        Box::new(|size| {
            list(fill(
                size,
                |n| json!({"apiVersion": "v1", "kind": format!("K{n}"), "metadata": {"name": "x"}}),
            ))
        }),
    );

    // Much in one object.
    add(
        "empty devices".to_owned(),
        Box::new(|size| {
            changed(SLICE, |slice| {
                slice["spec"]["devices"] = json!(vec![json!({}); size / 3]);
            })
        }),
    );
    add(
        "devices".to_owned(),
        Box::new(|size| {
            changed(SLICE, |slice| {
                slice["spec"]["devices"] = json!(fill(size, |n| json!({"name": n.to_string()})));
            })
        }),
    );
    add(
        "devices with taints".to_owned(),
        Box::new(|size| {
            changed(SLICE, |slice| {
                slice["spec"]["devices"] = json!(fill(
                    size,
                    |n| json!({"name": n.to_string(), "taints": [{"key": "k", "effect": "NoExecute"}]})
                ));
            })
        }),
    );
    add(
        "a device with taints".to_owned(),
        Box::new(|size| {
            changed(SLICE, |slice| {
                slice["spec"]["devices"][0]["taints"] = json!(fill(
                    size,
                    |n| json!({"key": n.to_string(), "effect": "NoSchedule"})
                ));
            })
        }),
    );
    add(
        "a device with attributes".to_owned(),
        Box::new(|size| {
            changed(SLICE, |slice| {
                slice["spec"]["devices"][0]["attributes"] =
                    fill(size, |n| json!({n.to_string(): {"int": n}}))
                        .into_iter()
                        .flat_map(|value| match value {
                            Value::Object(map) => map,
                            _ => serde_json::Map::new(),
                        })
                        .collect::<serde_json::Map<_, _>>()
                        .into();
            })
        }),
    );
    add(
        "devices with counters".to_owned(),
        Box::new(|size| {
            let mut objects = vec![slice(
                "t",
                "m",
                &json!(fill(
                    size / 2,
                    |n| json!({"name": n.to_string(), "consumesCounters": [
            {"counterSet": (n % 100).to_string(), "counters": {"x": {"value": "1"}}}]})
                )),
            )];
            let mut counters = slice("u", "m", &Value::Null);
            counters["spec"]["sharedCounters"] = json!(fill(
                size / 2,
                |n| json!({"name": n.to_string(), "counters": {"x": {"value": "7"}}})
            ));
            objects.push(counters);
            for object in &mut objects {
                object["spec"]["pool"]["resourceSliceCount"] = json!(2);
            }
            objects.push(node("m"));
            list(objects)
        }),
    );
    add(
        "devices with node selectors".to_owned(),
        Box::new(|size| {
            let mut objects = fill(size / 2, |n| node(&n.to_string()));
            let mut slice = slice(
                "t",
                "m",
                &json!(fill(
                    size / 2,
                    |n| json!({"name": n.to_string(), "nodeName": n.to_string()})
                )),
            );
            let spec = slice["spec"].as_object_mut().expect("an object");
            spec.remove("nodeName");
            spec.insert("perDeviceNodeSelection".to_owned(), json!(true));
            objects.push(slice);
            list(objects)
        }),
    );
    add(
        "a claim with requests".to_owned(),
        Box::new(|size| {
            changed(CLAIM, |claim| {
                claim["spec"]["devices"]["requests"] = json!(fill(size, |n| exactly(&n.to_string(), "c", 1)));
            })
        }),
    );
    add(
        "a claim with alternatives".to_owned(),
        Box::new(|size| {
            changed(CLAIM, |claim| {
                claim["spec"]["devices"]["requests"] = json!((0..32).map(|request| {
                json!({"name": format!("r{request}"), "firstAvailable": fill(size / 32, |n| json!({"name": n.to_string(), "deviceClassName": "c", "count": 2}))})
            }).collect::<Vec<_>>());
            })
        }),
    );
    add(
        "a claim with selectors".to_owned(),
        Box::new(|size| {
            changed(CLAIM, |claim| {
                claim["spec"]["devices"]["requests"][0]["exactly"]["selectors"] = json!(fill(
                    size,
                    |n| json!({"cel": {"expression": format!("device.driver == 'd' || {n} > 0")}})
                ));
            })
        }),
    );
    add(
        "a claim with constraints".to_owned(),
        Box::new(|size| {
            changed(CLAIM, |claim| {
                claim["spec"]["devices"]["constraints"] =
                    json!(fill(size, |n| json!({"matchAttribute": format!("d/{n}")})));
            })
        }),
    );
    add(
        "a claim with tolerations".to_owned(),
        Box::new(|size| {
            changed(CLAIM, |claim| {
                claim["spec"]["devices"]["requests"][0]["exactly"]["tolerations"] = json!(fill(
                    size,
                    |n| json!({"key": n.to_string(), "operator": "Exists"})
                ));
            })
        }),
    );
    add(
        "a claim with tolerations, a device with taints".to_owned(),
        Box::new(|size| {
            let mut objects = vec![slice(
                "t",
                "m",
                &json!([{"name": "a", "taints": fill(size / 2, |n| json!({"key": n.to_string(), "effect": "NoExecute"}))}]),
            )];
            let mut claim = allocated(
                "l",
                "a",
                &json!([{"resource": "pods", "name": "p", "uid": "u-p"}]),
            );
            claim["status"]["allocation"]["devices"]["results"][0]["pool"] = json!("m");
            claim["status"]["allocation"]["devices"]["results"][0]["tolerations"] = json!(fill(
                size / 2,
                |n| json!({"key": format!("x{n}"), "operator": "Exists", "tolerationSeconds": n})
            ));
            objects.push(claim);
            list(objects)
        }),
    );
    add(
        "a claim with results".to_owned(),
        Box::new(|size| {
            changed(CLAIM, |claim| {
                *claim = allocated("k", "a", &json!([]));
                claim["status"]["allocation"]["devices"]["results"] = json!(fill(
                    size,
                    |n| json!({"request": "r", "driver": "d", "pool": "n", "device": n.to_string()})
                ));
            })
        }),
    );
    add(
        "a claim with entries".to_owned(),
        Box::new(|size| {
            changed(CLAIM, |claim| {
                *claim = allocated(
                    "k",
                    "a",
                    &json!(fill(
                        size,
                        |n| json!({"resource": "pods", "name": n.to_string(), "uid": "u"})
                    )),
                );
            })
        }),
    );
    add(
        "a claim with entries of kinds".to_owned(),
        Box::new(|size| {
            changed(CLAIM, |claim| {
                *claim = allocated(
                    "k",
                    "a",
                    &json!(fill(
                        size,
                        |n| json!({"apiGroup": format!("g{n}"), "resource": format!("r{n}"), "name": "x", "uid": "u"})
                    )),
                );
            })
        }),
    );
    add(
        "a claim with status of devices".to_owned(),
        Box::new(|size| {
            changed(CLAIM, |claim| {
                *claim = allocated("k", "a", &json!([]));
                claim["status"]["devices"] = json!(fill(
                    size,
                    |n| json!({"driver": "d", "pool": "n", "device": n.to_string(), "conditions": []})
                ));
            })
        }),
    );
    add(
        "a pod with claims".to_owned(),
        Box::new(|size| {
            changed(POD, |pod| {
                pod["spec"]["resourceClaims"] = json!(fill(
                    size,
                    |n| json!({"name": n.to_string(), "resourceClaimName": "k"})
                ));
            })
        }),
    );
    add(
        "a pod with containers".to_owned(),
        Box::new(|size| {
            changed(POD, |pod| {
                pod["spec"]["containers"] = json!(fill(
                    size,
                    |n| json!({"name": n.to_string(), "resources": {"claims": [{"name": "c0", "request": "r"}]}})
                ));
            })
        }),
    );
    add(
        "a pod with tolerations".to_owned(),
        Box::new(|size| {
            changed(POD, |pod| {
                pod["spec"]["tolerations"] = json!(fill(
                    size,
                    |n| json!({"key": n.to_string(), "operator": "Exists"})
                ));
            })
        }),
    );
    add(
        "a pod with terms".to_owned(),
        Box::new(|size| {
            let mut items = base();
            items[POD]["spec"]["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
            fill(size / 2, |n| json!({"matchExpressions": [{"key": "x", "operator": "In", "values": [n.to_string()]}]}))}}});
            items.extend(fill(size / 2, |n| node(&n.to_string())));
            json!({"apiVersion": "v1", "kind": "List", "items": items})
                .to_string()
                .into_bytes()
        }),
    );
    add(
        "a node with taints".to_owned(),
        Box::new(|size| {
            changed(0, |node| {
                node["spec"]["taints"] = json!(fill(
                    size,
                    |n| json!({"key": n.to_string(), "effect": "NoSchedule"})
                ));
            })
        }),
    );
    add(
        "labels".to_owned(),
        Box::new(|size| {
            changed(POD, |pod| {
                pod["metadata"]["labels"] = (0..size / 14)
                    .map(|n| (format!("k{n}"), json!("v")))
                    .collect::<serde_json::Map<_, _>>()
                    .into();
            })
        }),
    );

    // Searches and selectors.
    add(
        "a hopeless count".to_owned(),
        Box::new(|size| {
            let mut items = base();
            let devices = fill(size, |n| json!({"name": n.to_string()}));
            items[CLAIM]["spec"]["devices"]["requests"] = json!([exactly("r", "c", devices.len() + 1)]);
            items[SLICE]["spec"]["devices"] = json!(devices);
            json!({"apiVersion": "v1", "kind": "List", "items": items})
                .to_string()
                .into_bytes()
        }),
    );
    add(
        "a large count".to_owned(),
        Box::new(|size| {
            let mut items = base();
            let devices = fill(
                size,
                |n| json!({"name": n.to_string(), "attributes": {"x": {"int": n % 32}}}),
            );
            items[CLAIM]["spec"]["devices"]["requests"] = json!([exactly("r", "c", 33)]);
            items[CLAIM]["spec"]["devices"]["constraints"] = json!([{"distinctAttribute": "d/x"}]);
            items[SLICE]["spec"]["devices"] = json!(devices);
            json!({"apiVersion": "v1", "kind": "List", "items": items})
                .to_string()
                .into_bytes()
        }),
    );
    for (name, expression) in [
        ("a selector that doubles a list", format!("[[1,2,3]]{}.all(x, x.size() > 0)", ".map(x, x+x)".repeat(25))),
        ("a selector with loops", "[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, a+b+c > 0)))".to_owned()),
        ("a selector with a pattern", "device.driver.matches('(x+x+)+y') || ['a','b','c'].all(x, (x + device.driver).matches('^(a|b|c|d|e)*f$'))".to_owned()),
        ("a selector that fails", "device.attributes['d'].absent == 1".to_owned()),
    ] {
        add(name.to_owned(), Box::new(move |size| {
            let mut objects = vec![class("c", &expression)];
            objects.push(slice("s", "n", &json!(fill(size, |n| json!({"name": n.to_string()})))));
            let mut items = base();
            items[1] = objects.swap_remove(0);
            items[SLICE] = objects.swap_remove(0);
            json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string().into_bytes()
        }));
    }

    // Text that is no object.
    add(
        "empty objects".to_owned(),
        Box::new(|size| [b"[".as_slice(), &b"{},".repeat(size / 3), b"{}]"].concat()),
    );
    add(
        "numbers".to_owned(),
        Box::new(|size| [b"[".as_slice(), &b"0,".repeat(size / 2), b"0]"].concat()),
    );
    add(
        "items before kind".to_owned(),
        Box::new(|size| {
            [
                br#"{"apiVersion":"v1","items":["#.as_slice(),
                &b"{},".repeat(size / 3),
                br#"{}],"kind":"PodList"}"#,
            ]
            .concat()
        }),
    );
    add(
        "pods before kind".to_owned(),
        Box::new(|size| {
            let items = fill(size, |n| json!({"metadata": {"name": n.to_string()}}));
            format!(
                r#"{{"apiVersion":"v1","items":{},"kind":"PodList"}}"#,
                Value::from(items)
            )
            .into_bytes()
        }),
    );
    add(
        "tiny values".to_owned(),
        Box::new(|size| {
            [
                br#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"x":["#.as_slice(),
                &b"0,".repeat(size / 2),
                b"0]}",
            ]
            .concat()
        }),
    );
    add(
        "tiny values in objects".to_owned(),
        Box::new(|size| {
            let object = [
                br#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"x":["#.as_slice(),
                &b"0,".repeat(200_000),
                b"0]}\n",
            ]
            .concat();
            object.repeat((size / object.len()).max(1))
        }),
    );
    add(
        "deep".to_owned(),
        Box::new(|size| [b"[".repeat(size / 2), b"]".repeat(size / 2)].concat()),
    );
    add("documents".to_owned(), Box::new(|size| b"{}\n".repeat(size / 3)));
    add(
        "escapes".to_owned(),
        Box::new(|size| {
            [
                br#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":""#.as_slice(),
                &b"\\u0000".repeat(size / 6),
                br#""}}"#,
            ]
            .concat()
        }),
    );
    add(
        "controls in a name".to_owned(),
        Box::new(|size| {
            changed(POD, |pod| {
                pod["metadata"]["name"] = json!("\u{1b}[2J".repeat(size / 10));
            })
        }),
    );
    add(
        "one key".to_owned(),
        Box::new(|size| {
            [
                br#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}"#.as_slice(),
                &br#","x":0"#.repeat(size / 6),
                b"}",
            ]
            .concat()
        }),
    );
    families
}

/// The same for YAML, which is not compressed.
pub(crate) fn yaml() -> Vec<(String, Make)> {
    let mut families: Vec<(String, Make)> = Vec::new();
    let mut add = |name: String, make: Make| families.push((name, make));
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n";
    add(
        "yaml documents".to_owned(),
        Box::new(move |size| format!("{pod}---\n").repeat(size / 50).into_bytes()),
    );
    add(
        "yaml empty documents".to_owned(),
        Box::new(|size| b"---\n".repeat(size / 4)),
    );
    add(
        "yaml aliases".to_owned(),
        Box::new(move |size| {
            let mut text = format!("{pod}x: &a [1,2,3,4,5,6,7,8,9]\ny:\n");
            text.push_str(&"- *a\n".repeat(size / 5));
            text.into_bytes()
        }),
    );
    add(
        "yaml anchors".to_owned(),
        Box::new(move |size| {
            let mut text = pod.to_owned();
            for number in 0..size / 16 {
                text.push_str(&format!("x{number}: &a{number} 0\n"));
            }
            text.into_bytes()
        }),
    );
    add(
        "yaml flow".to_owned(),
        Box::new(move |size| {
            format!("{pod}x: {}{}\n", "[".repeat(size / 2), "]".repeat(size / 2)).into_bytes()
        }),
    );
    add(
        "yaml block".to_owned(),
        Box::new(move |size| format!("{pod}x: {}\n", "- ".repeat(size / 2)).into_bytes()),
    );
    add(
        "yaml keys".to_owned(),
        Box::new(move |size| format!("{pod}{}", "? ".repeat(size / 2)).into_bytes()),
    );
    add(
        "yaml text".to_owned(),
        Box::new(move |size| format!("{pod}x: |\n{}", "  a\n".repeat(size / 4)).into_bytes()),
    );
    add(
        "yaml quotes".to_owned(),
        Box::new(move |size| format!("{pod}x: \"{}", "\\n\n ".repeat(size / 4)).into_bytes()),
    );
    add(
        "yaml numbers".to_owned(),
        Box::new(move |size| format!("{pod}x: [{}0]\n", "0,".repeat(size / 2)).into_bytes()),
    );
    add(
        "yaml comments".to_owned(),
        Box::new(move |size| format!("{pod}{}", "#\n".repeat(size / 2)).into_bytes()),
    );
    add(
        "yaml tags".to_owned(),
        Box::new(move |size| format!("{pod}x: [{}0]\n", "!a 0,".repeat(size / 5)).into_bytes()),
    );
    add(
        "yaml merges".to_owned(),
        Box::new(move |size| {
            format!("{pod}a: &a {{b: 1}}\nx:\n{}", "- <<: *a\n".repeat(size / 9)).into_bytes()
        }),
    );
    families
}
