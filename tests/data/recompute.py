#!/usr/bin/env python3
"""Recomputes what the listing commands print, from the objects alone, and compares cell by cell.

    recompute.py OBJECTS.json NOW OUTPUTS

OBJECTS.json is a List of Kubernetes objects, NOW the time that the commands were given, and OUTPUTS a folder with
what they printed: for each of `claims`, `reserved`, `devices` and `taints` a file `COMMAND.txt` (`-A -o wide`) and a
file `COMMAND.json` (`-A -o json`).

The script is written from the documentation of the commands (docs/reference/commands) and of Kubernetes, not from the
program, so that both can be wrong only in different ways. It needs Python 3 and its standard library. Of CEL it
understands `device.driver == 'NAME'` joined by `&&`, and says so of anything else.
"""

import json
import re
import sys
from datetime import datetime, timezone
from fractions import Fraction
from pathlib import Path

NONE, UNKNOWN = "<none>", "<unknown>"


# Objects


class World:
    """The objects, by kind and name."""

    def __init__(self, items, now):
        self.now = now
        self.by_kind = {}
        for item in items:
            meta = item["metadata"]
            key = (meta.get("namespace", ""), meta["name"])
            self.by_kind.setdefault(item["kind"], {})[key] = item

    def all(self, kind):
        return [item for _, item in sorted(self.by_kind.get(kind, {}).items())]

    def get(self, kind, namespace, name):
        return self.by_kind.get(kind, {}).get((namespace, name))


def namespace_of(item):
    return item["metadata"].get("namespace", "")


def name_of(item):
    return item["metadata"]["name"]


def uid_of(item):
    return item["metadata"].get("uid", "")


def results_of(claim):
    allocation = claim.get("status", {}).get("allocation") or {}
    return allocation.get("devices", {}).get("results") or []


def reserved_for(claim):
    return claim.get("status", {}).get("reservedFor") or []


def device_of(result):
    return (result["driver"], result["pool"], result["device"])


def controller_of(item):
    for owner in item["metadata"].get("ownerReferences") or []:
        if owner.get("controller"):
            return owner
    return None


# Time and quantities


def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def age(then, now):
    """kubectl's AGE."""
    if then is None:
        return UNKNOWN
    seconds = int((now - instant(then)).total_seconds())
    if seconds < -1:
        return "<invalid>"
    seconds = max(seconds, 0)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return f"{minutes}m" + (f"{seconds % 60}s" if seconds % 60 else "")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h" + (f"{minutes % 60}m" if minutes % 60 else "")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return f"{days}d" + (f"{hours % 24}h" if hours % 24 else "")
    if days < 730:
        return f"{days}d"
    raise SystemExit(f"recompute.py: ages of years are not supported: {then}")


BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
DECIMAL = {"n": -3, "u": -2, "m": -1, "": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}


def quantity(value):
    """The amount, and whether it is written with binary suffixes."""
    text = str(value)
    match = re.fullmatch(r"([+-]?[0-9]+(?:\.[0-9]*)?)([A-Za-z]*)", text)
    if not match:
        raise SystemExit(f"recompute.py: the quantity {text} is not supported")
    number, suffix = Fraction(match[1]), match[2]
    if suffix in BINARY:
        return number * 1024 ** BINARY[suffix], True
    return number * Fraction(1000) ** DECIMAL[suffix], False


def written(amount, binary):
    """The canonical text: the largest suffix that leaves no fraction."""
    if amount == 0:
        return "0"
    if binary and abs(amount) >= 1024 and amount.denominator == 1:
        for suffix, power in sorted(BINARY.items(), key=lambda pair: -pair[1]):
            if amount % 1024**power == 0:
                return f"{amount // 1024**power}{suffix}"
        return str(amount)
    for suffix, power in sorted(DECIMAL.items(), key=lambda pair: -pair[1]):
        scaled = amount / Fraction(1000) ** power
        if scaled.denominator == 1:
            return f"{scaled}{suffix}"
    raise SystemExit(f"recompute.py: {amount} is too small a quantity")


def less(total, amounts):
    amount, binary = quantity(total)
    return written(amount - sum(quantity(one)[0] for one in amounts), binary)


# Claims and pods


def state_of(claim):
    """What `kubectl get resourceclaims` shows."""
    words = []
    deleted = "deletionTimestamp" in claim["metadata"]
    if deleted:
        words.append("deleted")
    if claim.get("status", {}).get("allocation") is None:
        if not deleted:
            words.append("pending")
    else:
        words.append("allocated")
        if reserved_for(claim):
            words.append("reserved")
    return ",".join(words)


def single_node(selector):
    terms = selector.get("nodeSelectorTerms") or []
    if len(terms) != 1 or terms[0].get("matchExpressions"):
        return None
    fields = terms[0].get("matchFields") or []
    if len(fields) == 1 and fields[0]["key"] == "metadata.name" and fields[0]["operator"] == "In":
        values = fields[0]["values"]
        return values[0] if len(values) == 1 else None
    return None


def node_of_claim(claim):
    """The node, and the word for it."""
    allocation = claim.get("status", {}).get("allocation")
    if allocation is None:
        return None, NONE
    selector = allocation.get("nodeSelector")
    if selector is None:
        return None, "<any>"
    node = single_node(selector)
    return node, node or "<several>"


def consumer_kind(entry):
    group, resource = entry.get("apiGroup", ""), entry["resource"]
    if (group, resource) == ("", "pods"):
        return "Pod"
    if (group, resource) == ("scheduling.k8s.io", "podgroups"):
        return "PodGroup"
    return f"{resource}.{group}" if group else resource


def claims_named_by(pod):
    """Names of the claims of a pod, and whether the owner must be checked."""
    statuses = {one["name"]: one.get("resourceClaimName") for one in pod["status"].get("resourceClaimStatuses") or []}
    for entry in pod["spec"].get("resourceClaims") or []:
        if "resourceClaimName" in entry:
            yield entry["resourceClaimName"], False
        elif "resourceClaimTemplateName" in entry and statuses.get(entry["name"]):
            yield statuses[entry["name"]], True
    extended = pod["status"].get("extendedResourceClaimStatus")
    if extended:
        yield extended["resourceClaimName"], False


def is_evicted_with(pod, claim):
    """Whether the eviction controller takes an eviction of the claim for one of the pod."""
    if not is_bound(pod) or "deletionTimestamp" in pod["metadata"] or namespace_of(pod) != namespace_of(claim):
        return False
    # From 1.37.2 on it looks at the claim for extended resources too, whose owner it always checks.
    extended = (pod["status"].get("extendedResourceClaimStatus") or {}).get("resourceClaimName")
    named = any(
        name == name_of(claim) and (not (check or name == extended) or owns(pod, claim))
        for name, check in claims_named_by(pod)
    )
    listed = any(
        entry["uid"] == uid_of(pod) or (consumer_kind(entry) == "PodGroup" and entry["name"] == group_of(pod))
        for entry in reserved_for(claim)
    )
    return named and listed


def is_counted(pod, claim):
    """Whether the pod counts where it is unknown whether the gates of PodGroups are on: by its own entry, with a claim that is no group's."""
    own = any(entry["uid"] == uid_of(pod) for entry in reserved_for(claim))
    owner = controller_of(claim)
    return own and (owner is None or owner["kind"] == "Pod")


def group_of(pod):
    return (pod["spec"].get("schedulingGroup") or {}).get("podGroupName")


def owns(pod, claim):
    """Whether the claim was made for the pod, or for its group."""
    owner = controller_of(claim)
    if owner is None:
        return False
    if owner["uid"] == uid_of(pod):
        return True
    return (
        owner["kind"] == "PodGroup"
        and owner["apiVersion"].startswith("scheduling.k8s.io/")
        and owner["name"] == group_of(pod)
    )


def resolves(pod, claim):
    if namespace_of(pod) != namespace_of(claim):
        return False
    return any(
        name == name_of(claim) and (not check or owns(pod, claim)) for name, check in claims_named_by(pod)
    )


def is_terminal(pod):
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def is_bound(pod):
    return bool(pod["spec"].get("nodeName"))


def is_done(pod):
    """None of its containers runs or ever will."""
    return is_terminal(pod) or ("deletionTimestamp" in pod["metadata"] and not is_bound(pod))


def consumers(world, claim):
    """Pods that use the claim on a node."""
    return [
        pod
        for pod in world.all("Pod")
        if is_bound(pod) and not is_terminal(pod) and resolves(pod, claim)
    ]


def users(world, claim):
    """Consumers, and pods that are reserved without a node yet."""
    reserved = {entry["uid"] for entry in reserved_for(claim)}
    return [
        pod
        for pod in world.all("Pod")
        if not is_done(pod) and (is_bound(pod) or uid_of(pod) in reserved) and resolves(pod, claim)
    ]


# Devices and taints


class Pool:
    """The newest generation of a pool."""

    def __init__(self, slices):
        newest = max(one["spec"]["pool"]["generation"] for one in slices)
        self.slices = [one for one in slices if one["spec"]["pool"]["generation"] == newest]
        self.expected = self.slices[0]["spec"]["pool"]["resourceSliceCount"]
        names = [device["name"] for _, device in self.devices()]
        self.valid = len(names) == len(set(names))
        # The scheduler does not look at slices with compatibility groups: their gate is off unless somebody says otherwise.
        self.ignored = any(
            consumption.get("compatibilityGroups")
            for _, device in self.devices()
            for consumption in device.get("consumesCounters") or []
        )

    def devices(self):
        for one in self.slices:
            for device in one["spec"].get("devices") or []:
                yield one, device


def pools_of(world):
    grouped = {}
    for one in world.all("ResourceSlice"):
        grouped.setdefault((one["spec"]["driver"], one["spec"]["pool"]["name"]), []).append(one)
    return {key: Pool(slices) for key, slices in sorted(grouped.items())}


def holders_of(world):
    """The claims that have each device, with the part of the allocation that says so."""
    holders = {}
    for claim in world.all("ResourceClaim"):
        for result in results_of(claim):
            holders.setdefault(device_of(result), []).append((claim, result))
    return holders


def takes(result):
    return not result.get("adminAccess", False)


def rule_is_about(rule, device):
    selector = rule["spec"].get("deviceSelector")
    if selector is None:
        return False
    return all(
        selector.get(field) in (None, value) for field, value in zip(("driver", "pool", "device"), device)
    )


def taints_of(world, pools, device):
    """Taints of a device, those of its slice first, each with the name of its rule."""
    found = []
    pool = pools.get(device[:2])
    for _, published in pool.devices() if pool else ():
        if published["name"] == device[2]:
            found += [(taint, None) for taint in published.get("taints") or []]
            break
    for rule in world.all("DeviceTaintRule"):
        if rule_is_about(rule, device):
            found.append((rule["spec"]["taint"], name_of(rule)))
    return found


def taint_text(taint):
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"


def class_matches(device_class, driver):
    for selector in device_class["spec"].get("selectors") or []:
        for term in selector["cel"]["expression"].split("&&"):
            match = re.fullmatch(r"\s*device\.driver\s*==\s*(?:'([^']*)'|\"([^\"]*)\")\s*", term)
            if not match:
                raise SystemExit(f"recompute.py: the selector {term.strip()} is not supported")
            if (match[1] or match[2]) != driver:
                return False
    return True


def tolerates(toleration, taint):
    if toleration.get("effect", "") not in ("", taint["effect"]):
        return False
    if toleration.get("key", "") not in ("", taint["key"]):
        return False
    operator = toleration.get("operator", "") or "Equal"
    if operator == "Equal":
        return toleration.get("value", "") == taint.get("value", "")
    return operator == "Exists"


FOREVER = float("inf")


def tolerated_for(tolerations, taint):
    """Seconds, FOREVER, or None for not at all."""
    fitting = [one for one in tolerations if tolerates(one, taint)]
    if taint["effect"] != "NoExecute":
        # No pod is evicted, so there is nothing to wait for.
        return FOREVER if fitting else None
    # Eviction counts only tolerations that say NoExecute.
    seconds = [one.get("tolerationSeconds") for one in fitting if one.get("effect") == "NoExecute"]
    if not seconds:
        return None
    if None in seconds:
        return FOREVER
    return min(max(one, 0) for one in seconds)


def sooner(a, b):
    order = lambda tolerance: -1 if tolerance is None else tolerance
    return min(a, b, key=order)


# The listings: rows for the table, items for JSON


def joined(values):
    values = list(values)
    return ",".join(values) if values else NONE


def unique(values):
    return list(dict.fromkeys(values))


def request_text(request):
    def amount(one):
        mode = one.get("allocationMode", "ExactCount")
        if mode == "ExactCount":
            text = f":{one['count']}" if one.get("count", 1) > 1 else ""
        else:
            text = ":all" if mode == "All" else f":{mode}"
        return text + ("(admin)" if one.get("adminAccess") else "")

    if "exactly" in request:
        return request["name"] + amount(request["exactly"])
    alternatives = "|".join(one["name"] + amount(one) for one in request.get("firstAvailable") or [])
    return f"{request['name']}:({alternatives})" if alternatives else request["name"]


def claims(world):
    pools = pools_of(world)
    rows, items = [], []
    for claim in world.all("ResourceClaim"):
        node, node_text = node_of_claim(claim)
        entries = reserved_for(claim)
        owner = controller_of(claim)
        requests = claim["spec"].get("devices", {}).get("requests") or []
        exact = [
            one
            for request in requests
            for one in ([request["exactly"]] if "exactly" in request else request.get("firstAvailable") or [])
        ]
        found = [
            taint_text(taint) for result in results_of(claim) for taint, _ in taints_of(world, pools, device_of(result))
        ]
        rows.append(
            [
                namespace_of(claim),
                name_of(claim),
                state_of(claim),
                node_text,
                joined(r["device"] + ("" if takes(r) else "(admin)") for r in results_of(claim)),
                joined(f"{consumer_kind(entry).lower()}/{entry['name']}" for entry in entries),
                age(claim["metadata"].get("creationTimestamp"), world.now),
                joined(map(request_text, requests)),
                joined(unique(one["deviceClassName"] for one in exact)),
                joined(unique(f"{r['driver']}/{r['pool']}" for r in results_of(claim))),
                joined(unique(found)),
                f"{owner['kind']}/{owner['name']}" if owner else NONE,
            ]
        )
        item = {
            "namespace": namespace_of(claim),
            "name": name_of(claim),
            "uid": uid_of(claim),
            "state": state_of(claim),
            "devices": [
                {
                    key: result[key]
                    for key in ("request", "driver", "pool", "device", "shareID", "adminAccess")
                    if result.get(key)
                }
                for result in results_of(claim)
            ],
            "consumers": [
                {"kind": consumer_kind(entry), "name": entry["name"], "uid": entry["uid"]} for entry in entries
            ],
        }
        if node:
            item["node"] = node
        if owner:
            item["owner"] = {"kind": owner["kind"], "name": owner["name"], "uid": owner["uid"]}
        items.append(item)
    header = "NAMESPACE NAME STATE NODE DEVICES CONSUMERS AGE REQUESTS CLASSES POOLS TAINTS OWNER".split()
    return header, rows, {"items": items}


def judged(world, claim, entry):
    """What an entry is, and whether a pod uses the claim by it."""
    kind = consumer_kind(entry)
    namespace = namespace_of(claim)
    if kind == "Pod":
        pod = world.get("Pod", namespace, entry["name"])
        if pod is None:
            return "Gone", False
        if uid_of(pod) != entry["uid"]:
            return "OtherUID", False
        if is_done(pod):
            return "Done", False
        waits = not is_bound(pod) or pod["status"].get("phase") == "Pending"
        return ("Pending" if waits else "Running"), True
    live = consumers(world, claim)
    if kind != "PodGroup":
        return "UnknownKind", bool(live)
    if not world.all("PodGroup"):
        # The feature gate for PodGroups is off unless somebody says otherwise: they are not served.
        return "Group", bool(live)
    group = world.get("PodGroup", namespace, entry["name"])
    if group is None:
        return "Gone", False
    if uid_of(group) != entry["uid"]:
        return "OtherUID", False
    return "Group", any(group_of(pod) == entry["name"] for pod in live)


def is_covered(claim, pod):
    return any(
        entry["uid"] == uid_of(pod)
        or (consumer_kind(entry) == "PodGroup" and entry["name"] == group_of(pod))
        for entry in reserved_for(claim)
    )


def reserved(world):
    rows, items, missing_rows, missing = [], [], [], []
    for claim in world.all("ResourceClaim"):
        for entry in reserved_for(claim):
            status, consumer = judged(world, claim, entry)
            rows.append(
                [
                    namespace_of(claim),
                    name_of(claim),
                    consumer_kind(entry).lower(),
                    entry["name"],
                    entry["uid"],
                    status,
                    "yes" if consumer else "no",
                ]
            )
            items.append(
                {
                    "namespace": namespace_of(claim),
                    "claim": name_of(claim),
                    "claimUID": uid_of(claim),
                    "apiGroup": entry.get("apiGroup", ""),
                    "resource": entry["resource"],
                    "name": entry["name"],
                    "uid": entry["uid"],
                    "status": status,
                    "consumer": consumer,
                }
            )
        for pod in consumers(world, claim):
            if not is_covered(claim, pod):
                place = [namespace_of(claim), name_of(claim)]
                missing_rows.append([*place, "pod", name_of(pod), uid_of(pod), "Missing", "yes"])
                missing.append(dict(zip(("namespace", "claim", "pod", "podUID"), [*place, name_of(pod), uid_of(pod)])))
    header = "NAMESPACE CLAIM KIND NAME UID STATUS CONSUMER".split()
    return header, rows + missing_rows, {"items": items, "missing": missing}


HEALTH = ["Unhealthy", "BindingFailed", "BindingPending", "Unknown", "Healthy"]


def health_of(world, device, holders):
    """The worst of what drivers and kubelets report."""
    words = set()
    for claim, result in holders:
        reports = [
            one
            for one in claim["status"].get("devices") or []
            if device_of(one) == device and one.get("shareID") == result.get("shareID")
        ]
        conditions = [condition for one in reports for condition in one.get("conditions") or []]
        true = {one["type"] for one in conditions if one["status"] == "True"}
        for condition in conditions:
            if condition["type"] in ("Ready", "Healthy"):
                words.add({"True": "Healthy", "False": "Unhealthy"}.get(condition["status"], "Unknown"))
        if true.intersection(result.get("bindingFailureConditions") or []):
            words.add("BindingFailed")
        if not true.issuperset(result.get("bindingConditions") or []):
            words.add("BindingPending")
    for pod in world.all("Pod"):
        for container in pod["status"].get("containerStatuses") or []:
            if container.get("allocatedResourcesStatus"):
                raise SystemExit("recompute.py: health from kubelets is not supported")
    return min(words, key=HEALTH.index) if words else None


def node_of_device(one, device):
    spec = device if one["spec"].get("perDeviceNodeSelection") else one["spec"]
    if spec.get("nodeName"):
        return spec["nodeName"], spec["nodeName"]
    if spec.get("allNodes"):
        return None, "<any>"
    if "nodeSelector" in spec:
        node = single_node(spec["nodeSelector"])
        return node, node or "<several>"
    return None, UNKNOWN


def counters_of(pool, driver, pool_name, holders):
    """Every counter of the pool: what there is, and what allocated devices take."""
    counters = {}
    for one in pool.slices:
        for group in one["spec"].get("sharedCounters") or []:
            for name, counter in group["counters"].items():
                counters[group["name"], name] = (counter["value"], [])
    for _, device in pool.devices():
        if any(takes(result) for _, result in holders.get((driver, pool_name, device["name"]), [])):
            for consumption in device.get("consumesCounters") or []:
                for name, counter in consumption["counters"].items():
                    if (consumption["counterSet"], name) in counters:
                        counters[consumption["counterSet"], name][1].append(counter["value"])
    return counters


def left_of(counter):
    total, taken = counter
    return quantity(total)[0] - sum(quantity(one)[0] for one in taken)


def is_exhausted(counters, device):
    wanted = {}
    for consumption in device.get("consumesCounters") or []:
        for name, counter in consumption["counters"].items():
            key = (consumption["counterSet"], name)
            wanted[key] = wanted.get(key, 0) + quantity(counter["value"])[0]
    # A counter that is overdrawn blocks all devices of the pool that consume any.
    return bool(wanted) and any(left_of(counter) < wanted.get(key, 0) for key, counter in counters.items())


def devices(world):
    pools, holders = pools_of(world), holders_of(world)
    rows, items = [], []
    published = {
        (*key, device["name"]): (one, device) for key, pool in pools.items() for one, device in pool.devices()
    }
    order = {key: at for at, key in enumerate(published)}
    every = sorted(
        set(published) | set(holders), key=lambda key: (key[:2], key not in published, order.get(key, 0), key)
    )
    for key in every:
        one, device = published.get(key, (None, None))
        held = holders.get(key, [])
        dedicated = any(takes(result) and "shareID" not in result for _, result in held)
        shared = any(takes(result) for _, result in held)
        state = "Allocated" if dedicated else "Shared" if shared else "Free"
        remarks = []
        if device is None:
            node = next((node_of_claim(claim)[0] for claim, _ in held), None)
            node_text = node or UNKNOWN
            remarks.append("Unpublished")
            classes, class_errors, capacity, counters = None, [], [], []
        else:
            node, node_text = node_of_device(one, device)
            pool = pools[key[:2]]
            of_pool = counters_of(pool, *key[:2], holders)
            if not shared:
                if len(pool.slices) != pool.expected:
                    remarks.append("PoolIncomplete")
                elif pool.ignored:
                    remarks.append("SliceIgnored")
                elif not pool.valid:
                    remarks.append("PoolInvalid")
                else:
                    if is_exhausted(of_pool, device):
                        remarks.append("CountersExhausted")
                    if any(taint["effect"] in ("NoSchedule", "NoExecute") for taint, _ in taints_of(world, pools, key)):
                        remarks.append("Tainted")
            # An attribute of a type that the server no longer knows makes every selector an error on the device.
            readable = all((device.get("attributes") or {}).values())
            every_class = world.all("DeviceClass")
            evaluated = [c for c in every_class if readable or not c["spec"].get("selectors")]
            classes = [name_of(c) for c in evaluated if class_matches(c, key[0])]
            class_errors = [name_of(c) for c in every_class if c not in evaluated]
            capacity = []
            for name, amount in sorted((device.get("capacity") or {}).items()):
                if not device.get("allowMultipleAllocations"):
                    capacity.append(f"{name}={amount['value']}")
                    continue
                taken = [
                    (result.get("consumedCapacity") or {}).get(name, "0") if "shareID" in result else amount["value"]
                    for _, result in held
                    if takes(result)
                ]
                capacity.append(f"{name}={less(amount['value'], taken)}/{amount['value']}")
            counters = [
                f"{c['counterSet']}/{name}={less(*of_pool[c['counterSet'], name])}/{of_pool[c['counterSet'], name][0]}"
                for c in device.get("consumesCounters") or []
                for name in sorted(c["counters"])
                if (c["counterSet"], name) in of_pool
            ]
        pods = unique(
            f"{namespace_of(claim)}/{name_of(pod)}" for claim, _ in held for pod in users(world, claim)
        )
        health = health_of(world, key, held)
        found = taints_of(world, pools, key)
        rows.append(
            [
                node_text,
                "/".join(key),
                ",".join([state, *remarks]),
                joined((classes or []) + ([UNKNOWN] if classes is None or class_errors else [])),
                joined(
                    f"{namespace_of(claim)}/{name_of(claim)}" + ("" if takes(result) else "(admin)")
                    for claim, result in held
                ),
                joined(pods),
                joined(taint_text(taint) for taint, _ in found),
                health or NONE,
                joined(capacity),
                joined(counters),
            ]
        )
        item = {
            "driver": key[0],
            "pool": key[1],
            "device": key[2],
            "state": state,
            "claims": [
                {
                    "namespace": namespace_of(claim),
                    "name": name_of(claim),
                    "uid": uid_of(claim),
                    **{field: result[field] for field in ("shareID", "adminAccess") if result.get(field)},
                }
                for claim, result in held
            ],
            "taints": [
                {field: taint[field] for field in ("key", "value", "effect", "timeAdded") if taint.get(field)}
                for taint, _ in found
            ],
        }
        if classes is not None:
            item["classes"] = classes
        if node:
            item["node"] = node
        if health:
            item["health"] = health
        if class_errors:
            item["classErrors"] = [{"class": name} for name in class_errors]
        items.append(item)
    header = "NODE DEVICE STATE CLASSES CLAIMS PODS TAINTS HEALTH CAPACITY COUNTERS".split()
    return header, rows, {"items": items}


def taints(world):
    pools, holders = pools_of(world), holders_of(world)
    published = [(*key, device["name"]) for key, pool in pools.items() for _, device in pool.devices()]
    unpublished = sorted(set(holders) - set(published))
    everything = sorted(published + unpublished, key=lambda key: key[:2])
    found = []
    for rule in world.all("DeviceTaintRule"):
        about = [device for device in everything if rule_is_about(rule, device)]
        found.append(("Rule", name_of(rule), rule["spec"]["taint"], about))
    for key, pool in pools.items():
        for one in pool.slices:
            groups = {}
            for device in one["spec"].get("devices") or []:
                for taint in device.get("taints") or []:
                    identity = tuple(taint.get(field) for field in ("key", "value", "effect", "timeAdded"))
                    group = groups.setdefault(identity, (taint, []))
                    if (*key, device["name"]) not in group[1]:
                        group[1].append((*key, device["name"]))
            found += [("Slice", name_of(one), taint, about) for taint, about in groups.values()]
    rows, items = [], []
    for source, name, taint, about in found:
        of_claims, of_pods, due = {}, {}, {}
        # One without an effect previews an eviction.
        acting = {**taint, "effect": "NoExecute"} if taint["effect"] == "None" else taint
        for device in about:
            for claim, result in holders.get(device, []):
                own = tolerated_for(result.get("tolerations") or [], acting)
                key = (namespace_of(claim), name_of(claim))
                of_claims[key] = (claim, sooner(of_claims[key][1], own) if key in of_claims else own)
        for claim, tolerance in of_claims.values():
            for pod in users(world, claim):
                key = (namespace_of(pod), name_of(pod))
                of_pods[key] = (pod, sooner(of_pods[key][1], tolerance) if key in of_pods else tolerance)
            if taint["effect"] != "NoExecute" or tolerance == FOREVER:
                continue
            instant_of = instant(taint["timeAdded"]).timestamp() + (tolerance or 0)
            due[id(claim)] = instant_of
            for pod in world.all("Pod"):
                if is_evicted_with(pod, claim):
                    key = (namespace_of(pod), name_of(pod))
                    of_pods.setdefault(key, (pod, tolerance))
                    due[id(pod)] = min(due.get(id(pod), instant_of), instant_of)

        preview = None
        if source == "Rule" and taint["effect"] == "None":
            held = [(claim, result) for device in about for claim, result in holders.get(device, [])]
            leaving = [claim for claim, result in held if tolerated_for(result.get("tolerations") or [], acting) != FOREVER]
            gone = {
                (namespace_of(pod), name_of(pod))
                for claim in leaving
                for pod in world.all("Pod")
                if is_evicted_with(pod, claim) and is_counted(pod, claim)
            }
            preview = {
                "publishedDevices": len([device for device in about if device in published]),
                "allocatedDevices": len(held),
                "pods": len(gone),
                "namespaces": len({namespace for namespace, _ in gone}),
            }

        def several(number, what):
            return f"{number} {what}" + ("" if number == 1 else "s")

        def written_at(seconds):
            return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

        def told(objects):
            for (namespace, object_name), (item, tolerance) in sorted(objects.items()):
                one = {"namespace": namespace, "name": object_name, "uid": uid_of(item)}
                if id(item) in due:
                    one["due"] = written_at(due[id(item)])
                if tolerance is None:
                    yield {**one, "tolerated": "No"}
                elif tolerance == FOREVER:
                    yield {**one, "tolerated": "Forever"}
                elif taint["effect"] == "None":
                    yield {**one, "tolerated": "Until"}
                else:
                    until = written_at(instant(taint["timeAdded"]).timestamp() + tolerance)
                    yield {**one, "tolerated": "Until", "until": until}

        claim_items, pod_items = list(told(of_claims)), list(told(of_pods))
        tolerating = []
        for pod in pod_items:
            if pod["tolerated"] != "No":
                until = "forever" if pod["tolerated"] == "Forever" else f"until-{pod['until']}" if "until" in pod else "for-a-time"
                tolerating.append(f"{pod['namespace']}/{pod['name']}:{until}")
        value = f"={taint['value']}" if taint.get("value") else ""
        rows.append(
            [
                f"{source.lower()}/{name}",
                taint["effect"],
                taint["key"] + value,
                age(taint.get("timeAdded"), world.now),
                joined("/".join(device) for device in about),
                joined(f"{one['namespace']}/{one['name']}" for one in claim_items),
                joined(f"{one['namespace']}/{one['name']}" for one in pod_items),
                joined(tolerating),
                joined(
                    f"{pod['namespace']}/{pod['name']}:"
                    + ("now" if instant(pod["due"]) <= world.now else pod["due"])
                    for pod in pod_items
                    if "due" in pod
                ),
                f"{several(preview['pods'], 'pod')} in {several(preview['namespaces'], 'namespace')}" if preview else "<none>",
            ]
        )
        item = {field: taint[field] for field in ("key", "value", "effect", "timeAdded") if taint.get(field)}
        items.append(
            {
                **item,
                "source": source,
                source.lower(): name,
                "devices": [dict(zip(("driver", "pool", "device"), device)) for device in about],
                "claims": claim_items,
                "pods": pod_items,
                **({"preview": preview} if preview else {}),
            }
        )
    header = "SOURCE EFFECT TAINT AGE DEVICES CLAIMS PODS TOLERATED EVICTED PREVIEW".split()
    return header, rows, {"items": items}


# Comparing


def cells(text):
    """The header and the rows of a printed table. A column starts where its header does."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None, []
    starts = [match.start() for match in re.finditer(r"\S+", lines[0])]
    ends = starts[1:] + [None]
    cut = lambda line: [line[start:end].rstrip() for start, end in zip(starts, ends)]
    return cut(lines[0]), [cut(line) for line in lines[1:]]


def compare_tables(command, header, rows, text):
    printed_header, printed = cells(text)
    if not rows and not printed:
        return []
    if printed_header != header:
        return [f"{command}: the columns are {printed_header}, expected {header}"]
    problems = []
    if len(printed) != len(rows):
        problems.append(f"{command}: {len(printed)} rows, expected {len(rows)}")
    for number, (is_row, row) in enumerate(zip(printed, rows), start=1):
        for column, is_cell, cell in zip(header, is_row, row):
            if is_cell != cell:
                problems.append(f"{command}: row {number}, {column}: {is_cell!r}, expected {cell!r}")
    return problems


def differences(path, expected, actual):
    """Where `actual` lacks what `expected` has. It may have more fields."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key, value in expected.items():
            if key in actual:
                yield from differences(f"{path}.{key}", value, actual[key])
            else:
                yield f"{path}.{key} is missing, expected {value!r}"
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{path} has {len(actual)} elements, expected {len(expected)}"
        for at, (one, other) in enumerate(zip(expected, actual)):
            yield from differences(f"{path}[{at}]", one, other)
    elif expected != actual:
        yield f"{path} is {actual!r}, expected {expected!r}"


OPTIONAL = (
    "node", "owner", "health", "rule", "value", "until", "shareID", "adminAccess", "classes", "classErrors", "taintsUnknown", "due",
    "preview",
)


def unexpected(path, expected, actual):
    """Optional fields that should not be there."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in OPTIONAL:
            # Taints of devices name their rule, which the comparison does not know.
            if key in actual and key not in expected and not (key == "rule" and ".taints" in path):
                yield f"{path}.{key} is {actual[key]!r}, expected nothing"
        for key in expected.keys() & actual.keys():
            yield from unexpected(f"{path}.{key}", expected[key], actual[key])
    elif isinstance(expected, list) and isinstance(actual, list):
        for at, (one, other) in enumerate(zip(expected, actual)):
            yield from unexpected(f"{path}[{at}]", one, other)


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        items = json.load(file)["items"]
    world = World(items, instant(sys.argv[2]))
    outputs = Path(sys.argv[3])
    problems, compared = [], 0
    for command, listing in (("claims", claims), ("reserved", reserved), ("devices", devices), ("taints", taints)):
        header, rows, expected = listing(world)
        text = (outputs / f"{command}.txt").read_text(encoding="utf-8")
        problems += compare_tables(command, header, rows, text)
        compared += sum(map(len, rows))
        actual = json.loads((outputs / f"{command}.json").read_text(encoding="utf-8"))
        problems += differences(command, expected, actual)
        problems += unexpected(command, expected, actual)
    for problem in problems:
        print(problem)
    print(f"{compared} cells compared, {len(problems)} differences")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
