//! Slices and rules that taint devices. Mirrors `resource/validation/validation.go`, `validateResourceSliceSpec`, v1.37.2, and what it calls,
//! with what `v1/zz_generated.validations.go` adds.

use std::cmp::Ordering;
use std::collections::HashSet;

use serde::Deserialize as _;
use serde_json::Value;

use super::checker::{Checker, Path, as_text, entries, has, items, text};
use super::parts;
use dra_model::{Quantity, names};

const MOST_DEVICES: usize = 128;
/// Most devices where some have taints, counters or lists as attributes.
const MOST_ADVANCED_DEVICES: usize = 64;
const MOST_COUNTER_SETS: usize = 8;
const MOST_COUNTERS: usize = 32;
const MOST_CONSUMED_SETS: usize = 2;
const MOST_GROUPS: usize = 2;
const MOST_TAINTS: usize = 16;
const MOST_ATTRIBUTES_AND_CAPACITIES: usize = 32;
const MOST_ATTRIBUTE_VALUES: usize = 48;
const MOST_CONDITIONS: usize = 4;
const MOST_VALID_VALUES: usize = 10;
const LONGEST_VALUE: usize = 64;
const UNSET_OR_TRUE: &str = "must be either unset or set to true";
const LISTS: [&str; 4] = ["bools", "ints", "strings", "versions"];

/// What a slice publishes.
pub(super) fn spec(checker: &mut Checker<'_>, at: &Path<'_>, spec: &Value) {
    parts::driver(checker, &at.child("driver"), text(spec, "driver"));
    pool(checker, &at.child("pool"), &spec["pool"]);
    nodes(checker, at, spec);
    if has(spec, "sharedCounters") && has(spec, "devices") {
        checker.invalid_text(at, "", "only one of `sharedCounters` or `devices` is allowed");
    }
    let devices = items(spec, "devices");
    let most = if devices.iter().any(is_advanced) {
        MOST_ADVANCED_DEVICES
    } else {
        MOST_DEVICES
    };
    let per_device = spec["perDeviceNodeSelection"] == true;
    checker.set(
        &at.child("devices"),
        devices,
        most,
        |device| text(device, "name"),
        |checker, at, device| self::device(checker, at, device, per_device),
    );
    checker.set(
        &at.child("sharedCounters"),
        items(spec, "sharedCounters"),
        MOST_COUNTER_SETS,
        |set| text(set, "name"),
        |checker, at, set| {
            counters(checker, at, set, "name");
        },
    );
    if let Some(attribute) = spec["partitionTypeAttribute"].as_str() {
        partition_type(checker, at, spec, attribute);
    }
    skipped_operations(
        checker,
        &at.child("skipNodeOperations"),
        items(spec, "skipNodeOperations"),
    );
}

/// Looks at a name.
type Look = fn(&mut Checker<'_>, &Path<'_>, &str);

/// What a rule says. Mirrors `resource/validation/validation.go`, `validateDeviceTaintRuleSpec`, v1.37.2.
pub(super) fn rule(checker: &mut Checker<'_>, at: &Path<'_>, spec: &Value) {
    let selector = &spec["deviceSelector"];
    let at_selector = at.child("deviceSelector");
    let named: [(&str, Look); 3] = [
        ("driver", parts::driver),
        ("pool", parts::pool),
        ("device", parts::label),
    ];
    for (field, look) in named {
        if let Some(name) = selector[field].as_str() {
            look(checker, &at_selector.child(field), name);
        }
    }
    parts::taint(checker, &at.child("taint"), &spec["taint"]);
}

fn pool(checker: &mut Checker<'_>, at: &Path<'_>, pool: &Value) {
    parts::pool(checker, &at.child("name"), text(pool, "name"));
    let number = |field: &str| pool[field].as_i64().unwrap_or_default();
    let (count, generation) = (number("resourceSliceCount"), number("generation"));
    if count <= 0 {
        checker.invalid(
            &at.child("resourceSliceCount"),
            count,
            "must be greater than zero",
        );
    }
    if generation < 0 {
        checker.invalid(
            &at.child("generation"),
            generation,
            "must be greater than or equal to zero",
        );
    }
}

/// Which nodes reach the devices of a slice.
fn nodes(checker: &mut Checker<'_>, at: &Path<'_>, spec: &Value) {
    let mut set = Vec::new();
    if let Some(name) = spec["nodeName"].as_str() {
        let at = at.child("nodeName");
        if name.is_empty() {
            checker.invalid_text(&at, name, "must be either unset or set to a non-empty string");
        } else {
            set.push("`nodeName`");
            parts::subdomain(checker, &at, name);
        }
    }
    if has(spec, "nodeSelector") {
        set.push("`nodeSelector`");
        let at = at.child("nodeSelector");
        let selector = &spec["nodeSelector"];
        parts::node_selector(checker, &at, selector);
        let terms = items(selector, "nodeSelectorTerms").len();
        if terms != 1 {
            let why = "must have exactly one node selector term";
            checker.invalid(&at.child("nodeSelectorTerms"), format_args!("{terms} terms"), why);
        }
    }
    for (field, quoted) in [
        ("allNodes", "`allNodes`"),
        ("perDeviceNodeSelection", "`perDeviceNodeSelection`"),
    ] {
        match spec[field].as_bool() {
            Some(true) => set.push(quoted),
            Some(false) => checker.invalid(&at.child(field), false, UNSET_OR_TRUE),
            None => {}
        }
    }
    let one_of =
        "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
    exactly_one(checker, at, &set, one_of, ", but multiple fields are set");
}

fn exactly_one(checker: &mut Checker<'_>, at: &Path<'_>, set: &[&str], one_of: &str, several: &str) {
    match set {
        [] => checker.required(at, one_of),
        [_] => {}
        set => checker.invalid_text(
            at,
            &format!("{{{}}}", set.join(", ")),
            format_args!("{one_of}{several}"),
        ),
    }
}

fn is_advanced(device: &Value) -> bool {
    let has_lists = || {
        let mut attributes = entries(device, "attributes");
        attributes.any(|(_, attribute)| LISTS.iter().any(|list| has(attribute, list)))
    };
    !items(device, "taints").is_empty() || !items(device, "consumesCounters").is_empty() || has_lists()
}

fn device(checker: &mut Checker<'_>, at: &Path<'_>, device: &Value, per_device: bool) {
    parts::label(checker, &at.child("name"), text(device, "name"));
    attributes_and_capacity(checker, at, device);
    let taints = items(device, "taints");
    let at_taints = at.child("taints");
    if checker.has_room(&at_taints, taints.len(), MOST_TAINTS) {
        for (index, taint) in taints.iter().enumerate() {
            parts::taint(checker, &at_taints.index(index), taint);
        }
    }
    checker.set(
        &at.child("consumesCounters"),
        items(device, "consumesCounters"),
        MOST_CONSUMED_SETS,
        |consumed| text(consumed, "counterSet"),
        |checker, at, consumed| {
            counters(checker, at, consumed, "counterSet");
            let label = |checker: &mut Checker<'_>, at: &Path<'_>, group: &Value| {
                parts::label(checker, at, as_text(group));
            };
            let groups = items(consumed, "compatibilityGroups");
            checker.set(
                &at.child("compatibilityGroups"),
                groups,
                MOST_GROUPS,
                as_text,
                label,
            );
        },
    );
    nodes_of_device(checker, at, device, per_device);
    binding(checker, at, device);
    node_resources(checker, &at.child("nodeAllocatableResources"), device);
}

fn attributes_and_capacity(checker: &mut Checker<'_>, at: &Path<'_>, device: &Value) {
    let count = entries(device, "attributes").count() + entries(device, "capacity").count();
    if count > MOST_ATTRIBUTES_AND_CAPACITIES {
        let most = MOST_ATTRIBUTES_AND_CAPACITIES;
        let why = format_args!("the total number of attributes and capacities must not exceed {most}");
        checker.invalid(at, count, why);
    }
    let values_of = |attribute: &Value| {
        let listed: usize = LISTS.iter().map(|list| items(attribute, list).len()).sum();
        listed.max(1)
    };
    let values: usize = entries(device, "attributes")
        .map(|(_, attribute)| values_of(attribute))
        .sum();
    if values > MOST_ATTRIBUTE_VALUES {
        let most = MOST_ATTRIBUTE_VALUES;
        checker.invalid(
            at,
            values,
            format_args!("the total number of attribute values must not exceed {most}"),
        );
    }
    let at_attributes = at.child("attributes");
    for (name, attribute) in entries(device, "attributes") {
        parts::qualified_name(checker, &at_attributes, name);
        self::attribute(checker, &at_attributes.key(name), attribute);
    }
    let is_shared = device["allowMultipleAllocations"] == true;
    let at_capacity = at.child("capacity");
    for (name, capacity) in entries(device, "capacity") {
        parts::qualified_name(checker, &at_capacity, name);
        if !has(capacity, "requestPolicy") {
            continue;
        }
        let at = at_capacity.key(name);
        let at = at.child("requestPolicy");
        if is_shared {
            request_policy(checker, &at, capacity);
        } else {
            checker.forbidden(&at, "allowMultipleAllocations must be true");
        }
    }
}

fn attribute(checker: &mut Checker<'_>, at: &Path<'_>, attribute: &Value) {
    let mut set = 0;
    for field in ["bool", "int", "string", "version"] {
        if !has(attribute, field) {
            continue;
        }
        set += 1;
        let value = text(attribute, field);
        match field {
            "string" => of_length(checker, &at.child(field), value),
            "version" => version(checker, &at.child(field), value),
            _ => {}
        }
    }
    for field in LISTS {
        if !has(attribute, field) {
            continue;
        }
        set += 1;
        let at = at.child(field);
        let values = items(attribute, field);
        if values.is_empty() {
            checker.invalid(&at, "[]", "must not be empty if specified");
        }
        for (index, value) in values.iter().map(as_text).enumerate() {
            match field {
                "strings" => of_length(checker, &at.index(index), value),
                "versions" => version(checker, &at.index(index), value),
                _ => {}
            }
        }
    }
    if set != 1 {
        checker.invalid_text(at, "", "exactly one value must be specified");
    }
}

fn of_length(checker: &mut Checker<'_>, at: &Path<'_>, value: &str) {
    if value.len() > LONGEST_VALUE {
        checker.too_long(at, LONGEST_VALUE);
    }
}

fn version(checker: &mut Checker<'_>, at: &Path<'_>, value: &str) {
    if !is_semantic_version(value) {
        checker.invalid_text(
            at,
            value,
            "must be a string compatible with semver.org spec 2.0.0",
        );
    }
    of_length(checker, at, value);
}

/// Returns what the regular expression of the server matches, which knows no bounds of numbers.
fn is_semantic_version(text: &str) -> bool {
    let is_identifier = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = |part: &str| is_digits(part) && (part == "0" || !part.starts_with('0'));
    let (rest, build) = match text.split_once('+') {
        Some((rest, build)) => (rest, Some(build)),
        None => (text, None),
    };
    let (core, pre) = match rest.split_once('-') {
        Some((core, pre)) => (core, Some(pre)),
        None => (rest, None),
    };
    let numbers: Vec<&str> = core.split('.').collect();
    numbers.len() == 3
        && numbers.into_iter().all(is_number)
        && pre.is_none_or(|pre| {
            pre.split('.')
                .all(|part| is_identifier(part) && (!is_digits(part) || is_number(part)))
        })
        && build.is_none_or(|build| build.split('.').all(is_identifier))
}

/// A set of counters, or what a device takes of one, which `field` names.
fn counters(checker: &mut Checker<'_>, at: &Path<'_>, of: &Value, field: &str) {
    let name = text(of, field);
    if name.is_empty() {
        checker.required(&at.child(field), "");
    } else {
        parts::label(checker, &at.child(field), name);
    }
    let at = at.child("counters");
    let count = entries(of, "counters").count();
    if count == 0 {
        return checker.required(&at, "");
    }
    if checker.has_room(&at, count, MOST_COUNTERS) {
        for (name, _) in entries(of, "counters") {
            parts::label(checker, &at, name);
        }
    }
}

fn nodes_of_device(checker: &mut Checker<'_>, at: &Path<'_>, device: &Value, per_device: bool) {
    let fields = ["nodeName", "nodeSelector", "allNodes"];
    if !per_device {
        if fields.into_iter().any(|field| has(device, field)) {
            let why = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
            checker.invalid(at, "null", why);
        }
        return;
    }
    let mut set = Vec::new();
    if let Some(name) = device["nodeName"].as_str() {
        if name.is_empty() {
            checker.invalid_text(&at.child("nodeName"), name, "must not be empty");
        } else {
            set.push("`nodeName`");
            parts::subdomain(checker, &at.child("nodeName"), name);
        }
    }
    if has(device, "nodeSelector") {
        set.push("`nodeSelector`");
        parts::node_selector(checker, &at.child("nodeSelector"), &device["nodeSelector"]);
    }
    match device["allNodes"].as_bool() {
        Some(true) => set.push("`allNodes`"),
        Some(false) => checker.invalid(&at.child("allNodes"), false, UNSET_OR_TRUE),
        None => {}
    }
    let one_of = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    exactly_one(checker, at, &set, one_of, "");
}

/// Mirrors `resource/validation/validation.go`, `validateDeviceBindingParameters`, v1.37.2.
fn binding(checker: &mut Checker<'_>, at: &Path<'_>, device: &Value) {
    let (awaited, failing) = ("bindingConditions", "bindingFailureConditions");
    for field in [awaited, failing] {
        let conditions = items(device, field);
        checker.set(
            &at.child(field),
            conditions,
            MOST_CONDITIONS,
            as_text,
            |checker, at, condition| {
                let condition = as_text(condition);
                checker.all_invalid(at, condition, names::qualified_name(condition));
            },
        );
    }
    let first: HashSet<&str> = items(device, awaited).iter().map(as_text).collect();
    let at_failing = at.child(failing);
    for (index, condition) in items(device, failing).iter().map(as_text).enumerate() {
        if first.contains(condition) {
            let why = "bindingFailureConditions must not overlap with bindingConditions";
            checker.invalid_text(&at_failing.index(index), condition, why);
        }
    }
    for (field, other) in [(awaited, failing), (failing, awaited)] {
        if items(device, field).is_empty() && !items(device, other).is_empty() {
            checker.invalid(
                &at.child(field),
                "null",
                format_args!("{field} are required to use {other}"),
            );
        }
    }
}

/// Mirrors `resource/validation/validation.go`, `validateNodeAllocatableResources`, v1.37.2.
fn node_resources(checker: &mut Checker<'_>, at: &Path<'_>, device: &Value) {
    for (name, resource) in entries(device, "nodeAllocatableResources") {
        let at = at.key(name);
        if !matches!(name, "cpu" | "memory") && !name.starts_with("hugepages-") {
            checker.invalid_text(&at, name, "must be a node allocatable resource name");
        }
        if !has(resource, "mapping") && !has(resource, "overhead") {
            checker.required(&at, "at least one of mapping or overhead must be set");
        }
        if has(resource, "mapping") {
            mapping(checker, &at.child("mapping"), &resource["mapping"], device);
        }
        if has(resource, "overhead") {
            overhead(checker, &at.child("overhead"), &resource["overhead"]);
        }
    }
}

fn mapping(checker: &mut Checker<'_>, at: &Path<'_>, mapping: &Value, device: &Value) {
    let positive = |checker: &mut Checker<'_>, field: &str| {
        if let Some(amount) = quantity(&mapping[field]).filter(|amount| amount.sign() <= 0) {
            checker.invalid_text(&at.child(field), &amount.to_string(), "must be positive");
        }
    };
    match mapping["capacityKey"].as_str() {
        Some(key) => {
            if key.is_empty() {
                let why = "capacityKey must not be an empty string";
                checker.invalid_text(&at.child("capacityKey"), "", why);
            } else if !has(&device["capacity"], key) {
                checker.not_found(&at.child("capacityKey"), key, "");
            }
            if has(mapping, "capacityMultiplier") {
                positive(checker, "capacityMultiplier");
            } else {
                let why = "capacityMultiplier is required when capacityKey is set";
                checker.required(&at.child("capacityMultiplier"), why);
            }
        }
        None if has(mapping, "capacityMultiplier") => {
            let why = "capacityKey is required when capacityMultiplier is set";
            checker.required(&at.child("capacityKey"), why);
        }
        None => {}
    }
    positive(checker, "deviceMultiplier");
    if has(mapping, "capacityKey") == has(mapping, "deviceMultiplier") {
        checker.invalid_text(
            at,
            "",
            "must specify exactly one of: `capacityKey`, `deviceMultiplier`",
        );
    }
}

fn overhead(checker: &mut Checker<'_>, at: &Path<'_>, overhead: &Value) {
    let fields = ["perPod", "perContainer"];
    if !fields.into_iter().any(|field| has(overhead, field)) {
        checker.invalid_text(at, "", "at least one of perPod or perContainer must be set");
    }
    for field in fields {
        if let Some(amount) = quantity(&overhead[field]).filter(|amount| amount.sign() < 0) {
            checker.invalid_text(&at.child(field), &amount.to_string(), "must be non-negative");
        }
    }
}

fn partition_type(checker: &mut Checker<'_>, at: &Path<'_>, spec: &Value, attribute: &str) {
    let at_attribute = at.child("partitionTypeAttribute");
    parts::fully_qualified_name(checker, &at_attribute, attribute);
    let devices = items(spec, "devices");
    let consuming = |device: &Value| !items(device, "consumesCounters").is_empty();
    if !devices.iter().any(consuming) {
        let why = "may only be set on a slice which declares devices that consume counters";
        return checker.invalid_text(&at_attribute, attribute, why);
    }
    let bare = attribute
        .strip_prefix(text(spec, "driver"))
        .and_then(|rest| rest.strip_prefix('/'));
    let at_devices = at.child("devices");
    for (index, device) in devices.iter().enumerate().filter(|(_, device)| consuming(device)) {
        let at = at_devices.index(index);
        let at = at.child("attributes");
        let at = at.key(attribute);
        let attributes = &device["attributes"];
        let own = [Some(attribute), bare]
            .into_iter()
            .flatten()
            .find(|name| has(attributes, name));
        match own {
            None => checker.required(
                &at,
                "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set",
            ),
            Some(name) if !has(&attributes[name], "string") => checker.invalid(
                &at,
                &attributes[name],
                "must be a string value because `partitionTypeAttribute` names this attribute",
            ),
            Some(_) => {}
        }
    }
}

fn skipped_operations(checker: &mut Checker<'_>, at: &Path<'_>, operations: &[Value]) {
    const KNOWN: [&str; 3] = ["*", "NodePrepareResources", "NodeUnprepareResources"];
    checker.set(at, operations, usize::MAX, as_text, |checker, at, operation| {
        let operation = as_text(operation);
        if !KNOWN.contains(&operation) {
            checker.not_supported(at, operation, &KNOWN);
        }
    });
    let skips = |name: &str| operations.iter().any(|operation| operation == name);
    if skips("NodePrepareResources") && !skips("NodeUnprepareResources") && !skips("*") {
        let why = "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped";
        checker.invalid(at, "[\"NodePrepareResources\"]", why);
    }
}

fn quantity(value: &Value) -> Option<Quantity> {
    Quantity::deserialize(value).ok()
}

/// How much of a capacity may be asked for. Mirrors `resource/validation/validation.go`, `validateRequestPolicy`, v1.37.2.
fn request_policy(checker: &mut Checker<'_>, at: &Path<'_>, capacity: &Value) {
    let policy = &capacity["requestPolicy"];
    let Some(most) = quantity(&capacity["value"]) else {
        return;
    };
    let values = items(policy, "validValues");
    let default = Some(&policy["default"])
        .filter(|value| !value.is_null())
        .and_then(quantity);
    match (values.is_empty(), has(policy, "validRange")) {
        (false, true) => checker.forbidden(
            at,
            "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at the same time",
        ),
        (false, false) => match default {
            Some(default) => valid_values(checker, &at.child("validValues"), values, &default, &most),
            None => checker.required(&at.child("default"), "required when validValues is defined"),
        },
        (true, true) => match default {
            Some(default) => {
                Range::of(&policy["validRange"], default, most).check(checker, &at.child("validRange"));
            }
            None => checker.required(&at.child("default"), "required when validRange is defined"),
        },
        (true, false) => {}
    }
}

fn valid_values(
    checker: &mut Checker<'_>,
    at: &Path<'_>,
    values: &[Value],
    default: &Quantity,
    most: &Quantity,
) {
    if !checker.has_room(at, values.len(), MOST_VALID_VALUES) {
        return;
    }
    let values: Vec<Quantity> = values.iter().filter_map(quantity).collect();
    for (index, pair) in values.windows(2).enumerate() {
        if pair[0] > pair[1] {
            let why = "values must be sorted in ascending order";
            checker.invalid_text(&at.index(index + 1), &pair[1].to_string(), why);
        }
    }
    for (index, value) in values.iter().enumerate() {
        let at = at.index(index);
        if value > most {
            let why = format_args!("option is larger than capacity value: {most}");
            checker.invalid_text(&at, &value.to_string(), why);
        }
        if values[..index].contains(value) {
            checker.duplicate(&at, &value.to_string());
        }
    }
    if !values.contains(default) {
        let why = "default value is not valid according to the requestPolicy";
        checker.invalid_text(at, &default.to_string(), why);
    }
}

/// A range of amounts that may be asked for.
struct Range {
    min: Option<Quantity>,
    max: Option<Quantity>,
    step: Option<Quantity>,
    default: Quantity,
    capacity: Quantity,
}

impl Range {
    fn of(range: &Value, default: Quantity, capacity: Quantity) -> Self {
        let amount = |field: &str| {
            Some(&range[field])
                .filter(|value| !value.is_null())
                .and_then(quantity)
        };
        Self {
            min: amount("min"),
            max: amount("max"),
            step: amount("step"),
            default,
            capacity,
        }
    }

    /// Mirrors `resource/validation/validation.go`, `validateRequestPolicyRange`, v1.37.2.
    fn check(&self, checker: &mut Checker<'_>, at: &Path<'_>) {
        let Self {
            max,
            step,
            default,
            capacity,
            ..
        } = self;
        let Some(min) = &self.min else {
            return checker.required(&at.child("min"), "required when validRange is defined");
        };
        let mut compared =
            |field: &str, shown: &Quantity, wrong: Ordering, by: (&Quantity, &Quantity), why: &str| {
                if by.0.cmp(by.1) == wrong {
                    let why = format!("{why}: {}", by.1);
                    checker.invalid_text(&at.child(field), &shown.to_string(), why);
                }
            };
        let (less, greater) = (Ordering::Less, Ordering::Greater);
        compared(
            "min",
            min,
            greater,
            (min, capacity),
            "min is larger than capacity value",
        );
        compared(
            "default",
            default,
            less,
            (default, min),
            "default is less than min",
        );
        if let Some(max) = max {
            compared("max", min, greater, (min, max), "min is larger than max");
            compared(
                "max",
                max,
                greater,
                (max, capacity),
                "max is larger than capacity value",
            );
            compared(
                "default",
                default,
                greater,
                (default, max),
                "default is more than max",
            );
        }
        if let Some(step) = step {
            self.steps(checker, at, min, step);
        }
    }

    fn steps(&self, checker: &mut Checker<'_>, at: &Path<'_>, min: &Quantity, step: &Quantity) {
        let Self {
            max,
            default,
            capacity,
            ..
        } = self;
        let at_step = at.child("step");
        if step.sign() <= 0 {
            return checker.invalid_text(&at_step, &step.to_string(), "must be greater than zero");
        }
        let mut one_step = min.clone();
        one_step.add(step);
        if one_step > *capacity {
            let why = format_args!("one step {one_step} is larger than capacity value: {capacity}");
            checker.invalid_text(&at_step, &step.to_string(), why);
        }
        let amounts = [
            ("default", Some(default)),
            ("min", Some(min)),
            ("max", max.as_ref()),
            ("step", Some(step)),
        ];
        let mut is_exact = true;
        for (field, amount) in amounts {
            let Some(amount) = amount else { continue };
            let why = if amount.sign() < 0 {
                "must be greater than or equal to 0"
            } else if amount.cmp_int(i64::MAX) == Ordering::Greater {
                "must not be larger than 9223372036854775807"
            } else {
                continue;
            };
            checker.invalid_text(&at.child(field), &amount.to_string(), why);
            is_exact = false;
        }
        let Some(step_nanos) = step.nanos().filter(|_| is_exact) else {
            return;
        };
        for amount in [Some(default), max.as_ref()].into_iter().flatten() {
            let distance = amount.nanos().zip(min.nanos()).map(|(amount, min)| amount - min);
            if distance.is_some_and(|distance| distance % step_nanos != 0) {
                let why = format_args!("value is not a multiple of a given step ({step}) from ({min})");
                checker.invalid_text(&at_step, &amount.to_string(), why);
            }
        }
    }
}
