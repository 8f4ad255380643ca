//! Texts that are sound and say what cannot be.

use serde_json::{Value, json};

use super::{claim, list, slice, told};

#[test]
fn objects_that_cannot_be_are_named() {
    let pods = |count: usize| -> Vec<Value> {
        (0..count)
            .map(|number| json!({"resource": "pods", "name": format!("p{number}"), "uid": format!("u{number}")}))
            .collect()
    };
    let with = |key: &str, value: Value| {
        let mut object = claim("c", &json!({}));
        object[key] = value;
        list(&json!([object]))
    };
    let inputs = [
        ("no objects", "none.json", list(&json!([]))),
        ("items that are no list", "items.json", list(&json!(7))),
        (
            "items that are no objects",
            "scalars.json",
            list(&json!([1, "a", null, []])),
        ),
        ("no kind", "kindless.json", with("kind", Value::Null)),
        (
            "another version",
            "version.json",
            with("apiVersion", json!("resource.k8s.io/v9")),
        ),
        (
            "another group",
            "group.json",
            with("apiVersion", json!("resource.example.com/v1")),
        ),
        ("other kinds", "kinds.json", with("kind", json!("Deployment"))),
        (
            "no name",
            "nameless.json",
            with("metadata", json!({"namespace": "n"})),
        ),
        (
            "metadata of the wrong type",
            "metadata.json",
            with("metadata", json!([])),
        ),
        (
            "a status of the wrong type",
            "status.json",
            with("status", json!({"reservedFor": {"a": 1}})),
        ),
        (
            "a time that is none",
            "time.json",
            with("metadata", json!({"name": "c", "creationTimestamp": "yesterday"})),
        ),
        (
            "two of a name",
            "duplicates.json",
            list(&json!([
                claim("c", &json!({})),
                claim("c", &json!({"allocation": {}, "reservedFor": pods(1)}))
            ])),
        ),
        (
            "a claim that points to nothing",
            "nothing.json",
            list(&json!([claim(
                "c",
                &json!({"reservedFor": pods(1), "allocation": {"devices": {"results": [
                {"request": "none", "driver": "none", "pool": "none", "device": "none"}]}}})
            )])),
        ),
        (
            "10000 reservations",
            "reservations.json",
            list(&json!([claim(
                "c",
                &json!({"allocation": {}, "reservedFor": pods(10_000)})
            )])),
        ),
        (
            "half a pool",
            "half.json",
            list(&json!([slice(
                &json!({"pool": {"name": "p", "generation": 1, "resourceSliceCount": 2}})
            )])),
        ),
        (
            "a pool of less than nothing",
            "negative.json",
            list(&json!([slice(
                &json!({"pool": {"name": "p", "generation": -1, "resourceSliceCount": -2}})
            )])),
        ),
        (
            "devices of the wrong type",
            "devices.json",
            list(&json!([slice(&json!({"devices": 7}))])),
        ),
        (
            "two devices of a name",
            "same.json",
            list(&json!([slice(
                &json!({"devices": [{"name": "g"}, {"name": "g"}]})
            )])),
        ),
        (
            "a number that is too large",
            "huge.json",
            String::from_utf8(list(&json!([slice(
                &json!({"pool": {"name": "p", "generation": 77777}})
            )])))
            .expect("UTF-8")
            .replace("77777", "1e400")
            .into_bytes(),
        ),
        (
            "a quantity that is none",
            "quantity.json",
            list(&json!([slice(
                &json!({"devices": [{"name": "g", "capacity": {"m": {"value": "much"}}}]})
            )])),
        ),
        (
            "a quantity beyond all bounds",
            "exponent.json",
            list(&json!([slice(
                &json!({"devices": [{"name": "g", "allowMultipleAllocations": true,
                "capacity": {"m": {"value": "1e99999999999"}, "n": {"value": "1e-99999999999"}}}]})
            )])),
        ),
    ];
    insta::assert_snapshot!(told(&inputs), @"
    ## no objects
    all none.json: 0
    devices none.json --strict: 0
    ## items that are no list
    all items.json: 3
    error: `items.json` is not valid JSON at line 1: `items` of the list is not an array
    devices items.json --strict: 3
    error: `items.json` is not valid JSON at line 1: `items` of the list is not an array
    ## items that are no objects
    status scalars.json: 0
    warning: scalars.json:1 (items[0]): not an object
    warning: scalars.json:1 (items[1]): not an object
    warning: scalars.json:1 (items[2]): not an object
    warning: scalars.json:1 (items[3]): not an object
    warning: devices are unknown; claims and free devices are unknown; the health of devices in use is unknown; taints of rules are unknown; only nodes named in slices are known; some checks were incomplete: resourceslices, resourceclaims, pods, devicetaintrules, nodes, namespaces, deviceclasses, resourceclaimtemplates, podgroups, resourcequotas, events could not be read: 4 parts of the input may be of any kind
    claims, reserved scalars.json: 0
    warning: scalars.json:1 (items[0]): not an object
    warning: scalars.json:1 (items[1]): not an object
    warning: scalars.json:1 (items[2]): not an object
    warning: scalars.json:1 (items[3]): not an object
    devices scalars.json: 0
    warning: scalars.json:1 (items[0]): not an object
    warning: scalars.json:1 (items[1]): not an object
    warning: scalars.json:1 (items[2]): not an object
    warning: scalars.json:1 (items[3]): not an object
    warning: only devices in use are listed; whether a device is free is unknown; pods that use a device, and the health they report, are unknown; taints of rules are unknown; classes of devices are unknown: resourceslices, resourceclaims, pods, devicetaintrules, deviceclasses could not be read: 4 parts of the input may be of any kind
    taints scalars.json: 0
    warning: scalars.json:1 (items[0]): not an object
    warning: scalars.json:1 (items[1]): not an object
    warning: scalars.json:1 (items[2]): not an object
    warning: scalars.json:1 (items[3]): not an object
    warning: taints of slices are unknown; taints of rules are unknown; it is unknown which claims hold tainted devices; it is unknown which pods use tainted devices: resourceslices, devicetaintrules, resourceclaims, pods could not be read: 4 parts of the input may be of any kind
    check scalars.json: 4
    warning: scalars.json:1 (items[0]): not an object
    warning: scalars.json:1 (items[1]): not an object
    warning: scalars.json:1 (items[2]): not an object
    warning: scalars.json:1 (items[3]): not an object
    warning: unknown: 61 codes from DRA001 to DRA090 were not fully checked: namespaces, nodes, deviceclasses, resourceslices, devicetaintrules, resourceclaimtemplates, resourceclaims, pods, podgroups, resourcequotas, events could not be read: 4 parts of the input may be of any kind
    Nothing checked in all namespaces: none of 61 checks could run
    simulate eviction scalars.json: 4
    warning: scalars.json:1 (items[0]): not an object
    warning: scalars.json:1 (items[1]): not an object
    warning: scalars.json:1 (items[2]): not an object
    warning: scalars.json:1 (items[3]): not an object
    warning: resourceslices, devicetaintrules, resourceclaims, pods, podgroups, poddisruptionbudgets could not be read: 4 parts of the input may be of any kind
    devices scalars.json --strict: 3
    error: scalars.json:1 (items[0]): not an object
    hint: without --strict the object is skipped
    ## no kind
    status kindless.json: 0
    warning: kindless.json:1 (items[0]): `object/n/c`: has no `kind`
    warning: devices are unknown; claims and free devices are unknown; the health of devices in use is unknown; taints of rules are unknown; only nodes named in slices are known; some checks were incomplete: resourceslices, resourceclaims, pods, devicetaintrules, nodes, namespaces, deviceclasses, resourceclaimtemplates, podgroups, resourcequotas, events could not be read: 1 part of the input may be of any kind
    claims, reserved kindless.json: 0
    warning: kindless.json:1 (items[0]): `object/n/c`: has no `kind`
    devices kindless.json: 0
    warning: kindless.json:1 (items[0]): `object/n/c`: has no `kind`
    warning: only devices in use are listed; whether a device is free is unknown; pods that use a device, and the health they report, are unknown; taints of rules are unknown; classes of devices are unknown: resourceslices, resourceclaims, pods, devicetaintrules, deviceclasses could not be read: 1 part of the input may be of any kind
    taints kindless.json: 0
    warning: kindless.json:1 (items[0]): `object/n/c`: has no `kind`
    warning: taints of slices are unknown; taints of rules are unknown; it is unknown which claims hold tainted devices; it is unknown which pods use tainted devices: resourceslices, devicetaintrules, resourceclaims, pods could not be read: 1 part of the input may be of any kind
    check kindless.json: 4
    warning: kindless.json:1 (items[0]): `object/n/c`: has no `kind`
    warning: unknown: 61 codes from DRA001 to DRA090 were not fully checked: namespaces, nodes, deviceclasses, resourceslices, devicetaintrules, resourceclaimtemplates, resourceclaims, pods, podgroups, resourcequotas, events could not be read: 1 part of the input may be of any kind
    Nothing checked in all namespaces: none of 61 checks could run
    simulate eviction kindless.json: 4
    warning: kindless.json:1 (items[0]): `object/n/c`: has no `kind`
    warning: resourceslices, devicetaintrules, resourceclaims, pods, podgroups, poddisruptionbudgets could not be read: 1 part of the input may be of any kind
    devices kindless.json --strict: 3
    error: kindless.json:1 (items[0]): `object/n/c`: has no `kind`
    hint: without --strict the object is skipped
    ## another version
    status version.json: 0
    warning: version.json:1 (items[0]): `ResourceClaim/n/c`: unsupported version `resource.k8s.io/v9` of ResourceClaim; supported: v1, v1beta2, v1beta1
    warning: claims and free devices are unknown: resourceclaims in namespace/n could not be read: 1 malformed object
    claims, reserved version.json: 0
    warning: version.json:1 (items[0]): `ResourceClaim/n/c`: unsupported version `resource.k8s.io/v9` of ResourceClaim; supported: v1, v1beta2, v1beta1
    devices version.json: 0
    warning: version.json:1 (items[0]): `ResourceClaim/n/c`: unsupported version `resource.k8s.io/v9` of ResourceClaim; supported: v1, v1beta2, v1beta1
    warning: whether a device is free is unknown: resourceclaims in namespace/n could not be read: 1 malformed object
    taints version.json: 0
    warning: version.json:1 (items[0]): `ResourceClaim/n/c`: unsupported version `resource.k8s.io/v9` of ResourceClaim; supported: v1, v1beta2, v1beta1
    warning: it is unknown which claims hold tainted devices: resourceclaims in namespace/n could not be read: 1 malformed object
    check version.json: 4
    warning: version.json:1 (items[0]): `ResourceClaim/n/c`: unsupported version `resource.k8s.io/v9` of ResourceClaim; supported: v1, v1beta2, v1beta1
    warning: unknown: 49 codes from DRA001 to DRA090 were not fully checked: resourceclaims in namespace/n could not be read: 1 malformed object
    simulate eviction version.json: 4
    warning: version.json:1 (items[0]): `ResourceClaim/n/c`: unsupported version `resource.k8s.io/v9` of ResourceClaim; supported: v1, v1beta2, v1beta1
    warning: resourceclaims in namespace/n could not be read: 1 malformed object
    devices version.json --strict: 3
    error: version.json:1 (items[0]): `ResourceClaim/n/c`: unsupported version `resource.k8s.io/v9` of ResourceClaim; supported: v1, v1beta2, v1beta1
    hint: without --strict the object is skipped
    ## another group
    all group.json: 0
    warning: no DRA objects found in group.json, only 1 ResourceClaim of resource.example.com/v1
    devices group.json --strict: 0
    warning: no DRA objects found in group.json, only 1 ResourceClaim of resource.example.com/v1
    ## other kinds
    all kinds.json: 0
    warning: no DRA objects found in kinds.json, only 1 Deployment of resource.k8s.io/v1
    devices kinds.json --strict: 0
    warning: no DRA objects found in kinds.json, only 1 Deployment of resource.k8s.io/v1
    ## no name
    status nameless.json: 0
    warning: nameless.json:1 (items[0]): has no `metadata.name`
    warning: claims and free devices are unknown: resourceclaims could not be read: 1 malformed object
    claims, reserved nameless.json: 0
    warning: nameless.json:1 (items[0]): has no `metadata.name`
    devices nameless.json: 0
    warning: nameless.json:1 (items[0]): has no `metadata.name`
    warning: whether a device is free is unknown: resourceclaims could not be read: 1 malformed object
    taints nameless.json: 0
    warning: nameless.json:1 (items[0]): has no `metadata.name`
    warning: it is unknown which claims hold tainted devices: resourceclaims could not be read: 1 malformed object
    check nameless.json: 4
    warning: nameless.json:1 (items[0]): has no `metadata.name`
    warning: unknown: 49 codes from DRA001 to DRA090 were not fully checked: resourceclaims could not be read: 1 malformed object
    simulate eviction nameless.json: 4
    warning: nameless.json:1 (items[0]): has no `metadata.name`
    warning: resourceclaims could not be read: 1 malformed object
    devices nameless.json --strict: 3
    error: nameless.json:1 (items[0]): has no `metadata.name`
    hint: without --strict the object is skipped
    ## metadata of the wrong type
    status metadata.json: 0
    warning: metadata.json:1 (items[0]): metadata: must be an object, not a list
    warning: claims and free devices are unknown: resourceclaims could not be read: 1 malformed object
    claims, reserved metadata.json: 0
    warning: metadata.json:1 (items[0]): metadata: must be an object, not a list
    devices metadata.json: 0
    warning: metadata.json:1 (items[0]): metadata: must be an object, not a list
    warning: whether a device is free is unknown: resourceclaims could not be read: 1 malformed object
    taints metadata.json: 0
    warning: metadata.json:1 (items[0]): metadata: must be an object, not a list
    warning: it is unknown which claims hold tainted devices: resourceclaims could not be read: 1 malformed object
    check metadata.json: 4
    warning: metadata.json:1 (items[0]): metadata: must be an object, not a list
    warning: unknown: 49 codes from DRA001 to DRA090 were not fully checked: resourceclaims could not be read: 1 malformed object
    simulate eviction metadata.json: 4
    warning: metadata.json:1 (items[0]): metadata: must be an object, not a list
    warning: resourceclaims could not be read: 1 malformed object
    devices metadata.json --strict: 3
    error: metadata.json:1 (items[0]): metadata: must be an object, not a list
    hint: without --strict the object is skipped
    ## a status of the wrong type
    status status.json: 0
    warning: status.json:1 (items[0]): `ResourceClaim/n/c`: status.reservedFor: must be a list, not an object
    warning: claims and free devices are unknown: resourceclaims in namespace/n could not be read: 1 malformed object
    claims, reserved status.json: 0
    warning: status.json:1 (items[0]): `ResourceClaim/n/c`: status.reservedFor: must be a list, not an object
    devices status.json: 0
    warning: status.json:1 (items[0]): `ResourceClaim/n/c`: status.reservedFor: must be a list, not an object
    warning: whether a device is free is unknown: resourceclaims in namespace/n could not be read: 1 malformed object
    taints status.json: 0
    warning: status.json:1 (items[0]): `ResourceClaim/n/c`: status.reservedFor: must be a list, not an object
    warning: it is unknown which claims hold tainted devices: resourceclaims in namespace/n could not be read: 1 malformed object
    check status.json: 4
    warning: status.json:1 (items[0]): `ResourceClaim/n/c`: status.reservedFor: must be a list, not an object
    warning: unknown: 49 codes from DRA001 to DRA090 were not fully checked: resourceclaims in namespace/n could not be read: 1 malformed object
    simulate eviction status.json: 4
    warning: status.json:1 (items[0]): `ResourceClaim/n/c`: status.reservedFor: must be a list, not an object
    warning: resourceclaims in namespace/n could not be read: 1 malformed object
    devices status.json --strict: 3
    error: status.json:1 (items[0]): `ResourceClaim/n/c`: status.reservedFor: must be a list, not an object
    hint: without --strict the object is skipped
    ## a time that is none
    status time.json: 0
    warning: time.json:1 (items[0]): `ResourceClaim/c`: metadata.creationTimestamp: must be an RFC 3339 time, not a different string
    warning: claims and free devices are unknown: resourceclaims could not be read: 1 malformed object
    claims, reserved time.json: 0
    warning: time.json:1 (items[0]): `ResourceClaim/c`: metadata.creationTimestamp: must be an RFC 3339 time, not a different string
    devices time.json: 0
    warning: time.json:1 (items[0]): `ResourceClaim/c`: metadata.creationTimestamp: must be an RFC 3339 time, not a different string
    warning: whether a device is free is unknown: resourceclaims could not be read: 1 malformed object
    taints time.json: 0
    warning: time.json:1 (items[0]): `ResourceClaim/c`: metadata.creationTimestamp: must be an RFC 3339 time, not a different string
    warning: it is unknown which claims hold tainted devices: resourceclaims could not be read: 1 malformed object
    check time.json: 4
    warning: time.json:1 (items[0]): `ResourceClaim/c`: metadata.creationTimestamp: must be an RFC 3339 time, not a different string
    warning: unknown: 49 codes from DRA001 to DRA090 were not fully checked: resourceclaims could not be read: 1 malformed object
    simulate eviction time.json: 4
    warning: time.json:1 (items[0]): `ResourceClaim/c`: metadata.creationTimestamp: must be an RFC 3339 time, not a different string
    warning: resourceclaims could not be read: 1 malformed object
    devices time.json --strict: 3
    error: time.json:1 (items[0]): `ResourceClaim/c`: metadata.creationTimestamp: must be an RFC 3339 time, not a different string
    hint: without --strict the object is skipped
    ## two of a name
    status duplicates.json: 0
    warning: duplicates.json: `ResourceClaim/n/c`: appears more than once with different content; the last one is used, and results that depend on it are unknown
    warning: claims and free devices are unknown: resourceclaims in namespace/n could not be read: several objects have the same name but different content
    claims, reserved duplicates.json: 0
    warning: duplicates.json: `ResourceClaim/n/c`: appears more than once with different content; the last one is used, and results that depend on it are unknown
    devices duplicates.json: 0
    warning: duplicates.json: `ResourceClaim/n/c`: appears more than once with different content; the last one is used, and results that depend on it are unknown
    warning: whether a device is free is unknown: resourceclaims in namespace/n could not be read: several objects have the same name but different content
    taints duplicates.json: 0
    warning: duplicates.json: `ResourceClaim/n/c`: appears more than once with different content; the last one is used, and results that depend on it are unknown
    warning: it is unknown which claims hold tainted devices: resourceclaims in namespace/n could not be read: several objects have the same name but different content
    check duplicates.json: 1
    warning: duplicates.json: `ResourceClaim/n/c`: appears more than once with different content; the last one is used, and results that depend on it are unknown
    warning: unknown: 49 codes from DRA001 to DRA090 were not fully checked: resourceclaims in namespace/n could not be read: several objects have the same name but different content
    1 warning in all namespaces; 49 of 61 checks were incomplete
    simulate eviction duplicates.json: 4
    warning: duplicates.json: `ResourceClaim/n/c`: appears more than once with different content; the last one is used, and results that depend on it are unknown
    warning: resourceclaims in namespace/n could not be read: several objects have the same name but different content
    devices duplicates.json --strict: 3
    error: duplicates.json: `ResourceClaim/n/c`: appears more than once with different content; the last one is used, and results that depend on it are unknown
    hint: without --strict the object is skipped
    ## a claim that points to nothing
    status, claims, reserved, devices, taints, simulate eviction nothing.json: 0
    check nothing.json: 1
    2 warnings in all namespaces
    devices nothing.json --strict: 0
    ## 10000 reservations
    status, claims, reserved, devices, taints, simulate eviction reservations.json: 0
    check reservations.json: 1
    1 error, 10000 warnings in all namespaces
    devices reservations.json --strict: 0
    ## half a pool
    status, claims, reserved, devices, taints, simulate eviction half.json: 0
    check half.json: 1
    2 warnings in all namespaces
    devices half.json --strict: 0
    ## a pool of less than nothing
    status, claims, reserved, devices, taints, simulate eviction negative.json: 0
    check negative.json: 1
    2 warnings in all namespaces
    devices negative.json --strict: 0
    ## devices of the wrong type
    status devices.json: 0
    warning: devices.json:1 (items[0]): `ResourceSlice/s`: spec.devices: must be a list, not a number
    warning: devices are unknown: resourceslices could not be read: 1 malformed object
    claims, reserved devices.json: 0
    devices devices.json: 0
    warning: devices.json:1 (items[0]): `ResourceSlice/s`: spec.devices: must be a list, not a number
    warning: only devices in use are listed: resourceslices could not be read: 1 malformed object
    taints devices.json: 0
    warning: devices.json:1 (items[0]): `ResourceSlice/s`: spec.devices: must be a list, not a number
    warning: taints of slices are unknown: resourceslices could not be read: 1 malformed object
    check devices.json: 4
    warning: devices.json:1 (items[0]): `ResourceSlice/s`: spec.devices: must be a list, not a number
    warning: unknown: 21 codes from DRA002 to DRA090 were not fully checked: resourceslices could not be read: 1 malformed object
    simulate eviction devices.json: 4
    warning: devices.json:1 (items[0]): `ResourceSlice/s`: spec.devices: must be a list, not a number
    warning: resourceslices could not be read: 1 malformed object
    devices devices.json --strict: 3
    error: devices.json:1 (items[0]): `ResourceSlice/s`: spec.devices: must be a list, not a number
    hint: without --strict the object is skipped
    ## two devices of a name
    status, claims, reserved, devices, taints, simulate eviction same.json: 0
    check same.json: 1
    1 error, 1 warning in all namespaces
    devices same.json --strict: 0
    ## a number that is too large
    status huge.json: 0
    warning: huge.json:1 (items[0]): `ResourceSlice/s`: number out of range
    warning: devices are unknown: resourceslices could not be read: 1 malformed object
    claims, reserved huge.json: 0
    devices huge.json: 0
    warning: huge.json:1 (items[0]): `ResourceSlice/s`: number out of range
    warning: only devices in use are listed: resourceslices could not be read: 1 malformed object
    taints huge.json: 0
    warning: huge.json:1 (items[0]): `ResourceSlice/s`: number out of range
    warning: taints of slices are unknown: resourceslices could not be read: 1 malformed object
    check huge.json: 4
    warning: huge.json:1 (items[0]): `ResourceSlice/s`: number out of range
    warning: unknown: 21 codes from DRA002 to DRA090 were not fully checked: resourceslices could not be read: 1 malformed object
    simulate eviction huge.json: 4
    warning: huge.json:1 (items[0]): `ResourceSlice/s`: number out of range
    warning: resourceslices could not be read: 1 malformed object
    devices huge.json --strict: 3
    error: huge.json:1 (items[0]): `ResourceSlice/s`: number out of range
    hint: without --strict the object is skipped
    ## a quantity that is none
    status quantity.json: 0
    warning: quantity.json:1 (items[0]): `ResourceSlice/s`: spec.devices[0].capacity[m].value: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
    warning: devices are unknown: resourceslices could not be read: 1 malformed object
    claims, reserved quantity.json: 0
    devices quantity.json: 0
    warning: quantity.json:1 (items[0]): `ResourceSlice/s`: spec.devices[0].capacity[m].value: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
    warning: only devices in use are listed: resourceslices could not be read: 1 malformed object
    taints quantity.json: 0
    warning: quantity.json:1 (items[0]): `ResourceSlice/s`: spec.devices[0].capacity[m].value: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
    warning: taints of slices are unknown: resourceslices could not be read: 1 malformed object
    check quantity.json: 4
    warning: quantity.json:1 (items[0]): `ResourceSlice/s`: spec.devices[0].capacity[m].value: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
    warning: unknown: 21 codes from DRA002 to DRA090 were not fully checked: resourceslices could not be read: 1 malformed object
    simulate eviction quantity.json: 4
    warning: quantity.json:1 (items[0]): `ResourceSlice/s`: spec.devices[0].capacity[m].value: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
    warning: resourceslices could not be read: 1 malformed object
    devices quantity.json --strict: 3
    error: quantity.json:1 (items[0]): `ResourceSlice/s`: spec.devices[0].capacity[m].value: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
    hint: without --strict the object is skipped
    ## a quantity beyond all bounds
    status, claims, reserved, devices, taints, simulate eviction exponent.json: 0
    check exponent.json: 1
    1 warning in all namespaces
    devices exponent.json --strict: 0
    ");
}
