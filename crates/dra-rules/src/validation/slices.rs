//! Slices and rules that taint devices. Mirrors `resource/validation/validation.go`, `validateResourceSliceSpec`, v1.37.2, and what it calls,
//! with what `v1/zz_generated.validations.go` adds.

use std::cmp::Ordering;
use std::collections::HashSet;

use serde::Deserialize as _;
use serde_json::Value;

use super::checker::{Checker, Place, entries, has, items, text};
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
const LISTS: [&str; 4] = ["bools", "ints", "strings", "versions"];

/// What a slice publishes.
pub(super) fn spec(checker: &mut Checker<'_>, at: &Place<'_>) {
    parts::driver(checker, &at.child("driver"));
    pool(checker, &at.child("pool"));
    nodes(checker, at);
    let spec = at.value;
    if has(spec, "sharedCounters") && has(spec, "devices") {
        checker.invalid_text(at, "", "only one of `sharedCounters` or `devices` is allowed");
    }
    let most = if items(spec, "devices").iter().any(is_advanced) {
        MOST_ADVANCED_DEVICES
    } else {
        MOST_DEVICES
    };
    let per_device = spec["perDeviceNodeSelection"] == true;
    checker.set(&at.child("devices"), most, "/name", |checker, at| {
        device(checker, at, per_device);
    });
    let sets = at.child("sharedCounters");
    checker.set(&sets, MOST_COUNTER_SETS, "/name", |checker, at| {
        counters(checker, at, "name");
    });
    let attribute = at.child("partitionTypeAttribute");
    if attribute.value.is_string() {
        partition_type(checker, at, &attribute);
    }
    skipped_operations(checker, &at.child("skipNodeOperations"));
}

/// Looks at a text.
type Look = fn(&mut Checker<'_>, &Place<'_>);

/// What a rule says. Mirrors `resource/validation/validation.go`, `validateDeviceTaintRuleSpec`, v1.37.2.
pub(super) fn rule(checker: &mut Checker<'_>, at: &Place<'_>) {
    let selector = at.child("deviceSelector");
    let named: [(&str, Look); 3] = [
        ("driver", parts::driver),
        ("pool", parts::pool),
        ("device", parts::label),
    ];
    for (field, look) in named {
        if selector.value[field].is_string() {
            look(checker, &selector.child(field));
        }
    }
    parts::taint(checker, &at.child("taint"));
}

fn pool(checker: &mut Checker<'_>, at: &Place<'_>) {
    parts::pool(checker, &at.child("name"));
    for (field, least, why) in [
        ("resourceSliceCount", 1, "must be greater than zero"),
        ("generation", 0, "must be greater than or equal to zero"),
    ] {
        let number = at.value[field].as_i64().unwrap_or_default();
        if number < least {
            checker.invalid(&at.child(field), number, why);
        }
    }
}

/// Which nodes reach the devices of a slice.
fn nodes(checker: &mut Checker<'_>, at: &Place<'_>) {
    let not_empty = "must be either unset or set to a non-empty string";
    let mut set = nodes_by_name_or_labels(checker, at, not_empty);
    if has(at.value, "nodeSelector") {
        let at = at.child("nodeSelector");
        let terms = items(at.value, "nodeSelectorTerms").len();
        if terms != 1 {
            let why = "must have exactly one node selector term";
            checker.invalid(&at.child("nodeSelectorTerms"), format_args!("{terms} terms"), why);
        }
    }
    set.extend(if_true(checker, at, "allNodes"));
    set.extend(if_true(checker, at, "perDeviceNodeSelection"));
    let one_of =
        "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
    exactly_one(checker, at, &set, one_of, ", but multiple fields are set");
}

/// Returns which of the fields are set that name nodes and that select them.
fn nodes_by_name_or_labels(checker: &mut Checker<'_>, at: &Place<'_>, not_empty: &str) -> Vec<&'static str> {
    let mut set = Vec::new();
    let (name, selector) = (at.child("nodeName"), at.child("nodeSelector"));
    match name.value.as_str() {
        None => {}
        Some("") => checker.invalid_text(&name, "", not_empty),
        Some(_) => {
            set.push("nodeName");
            parts::subdomain(checker, &name);
        }
    }
    if !selector.value.is_null() {
        set.push("nodeSelector");
        parts::node_selector(checker, &selector);
    }
    set
}

/// Returns the field if it is true.
fn if_true(checker: &mut Checker<'_>, at: &Place<'_>, field: &'static str) -> Option<&'static str> {
    let is_true = at.value[field].as_bool();
    if is_true == Some(false) {
        checker.invalid(&at.child(field), false, "must be either unset or set to true");
    }
    Some(field).filter(|_| is_true == Some(true))
}

fn exactly_one(checker: &mut Checker<'_>, at: &Place<'_>, set: &[&str], one_of: &str, several: &str) {
    match set {
        [] => checker.required(at, one_of),
        [_] => {}
        set => checker.invalid_text(
            at,
            &format!("{{`{}`}}", set.join("`, `")),
            format_args!("{one_of}{several}"),
        ),
    }
}

fn is_advanced(device: &Value) -> bool {
    let has_lists = || {
        let mut attributes = entries(&device["attributes"]);
        attributes.any(|(_, attribute)| LISTS.iter().any(|list| has(attribute, list)))
    };
    !items(device, "taints").is_empty() || !items(device, "consumesCounters").is_empty() || has_lists()
}

fn device(checker: &mut Checker<'_>, at: &Place<'_>, per_device: bool) {
    parts::label(checker, &at.child("name"));
    attributes_and_capacity(checker, at);
    checker.list(&at.child("taints"), MOST_TAINTS, parts::taint);
    let consumed = at.child("consumesCounters");
    checker.set(&consumed, MOST_CONSUMED_SETS, "/counterSet", |checker, at| {
        counters(checker, at, "counterSet");
        let groups = at.child("compatibilityGroups");
        checker.set(&groups, MOST_GROUPS, "", parts::label);
    });
    nodes_of_device(checker, at, per_device);
    binding(checker, at);
    node_resources(checker, at);
}

fn attributes_and_capacity(checker: &mut Checker<'_>, at: &Place<'_>) {
    let attributes = at.child("attributes");
    let capacities = at.child("capacity");
    let count = entries(attributes.value).count() + entries(capacities.value).count();
    if count > MOST_ATTRIBUTES_AND_CAPACITIES {
        let most = MOST_ATTRIBUTES_AND_CAPACITIES;
        let why = format_args!("the total number of attributes and capacities must not exceed {most}");
        checker.invalid(at, count, why);
    }
    let values_of = |attribute: &Value| {
        let listed: usize = LISTS.iter().map(|list| items(attribute, list).len()).sum();
        listed.max(1)
    };
    let values: usize = entries(attributes.value)
        .map(|(_, attribute)| values_of(attribute))
        .sum();
    if values > MOST_ATTRIBUTE_VALUES {
        let most = MOST_ATTRIBUTE_VALUES;
        let why = format_args!("the total number of attribute values must not exceed {most}");
        checker.invalid(at, values, why);
    }
    for (name, _) in entries(attributes.value) {
        parts::qualified_name(checker, &attributes, name);
        attribute(checker, &attributes.key(name));
    }
    let is_shared = at.value["allowMultipleAllocations"] == true;
    for (name, _) in entries(capacities.value) {
        parts::qualified_name(checker, &capacities, name);
        let capacity = capacities.key(name);
        let policy = capacity.child("requestPolicy");
        if policy.value.is_null() {
            continue;
        }
        if is_shared {
            request_policy(checker, &policy, &capacity.value["value"]);
        } else {
            checker.forbidden(&policy, "allowMultipleAllocations must be true");
        }
    }
}

fn attribute(checker: &mut Checker<'_>, at: &Place<'_>) {
    let of_type = |checker: &mut Checker<'_>, at: &Place<'_>, field: &str| match field {
        "string" | "strings" => of_length(checker, at),
        "version" | "versions" => version(checker, at),
        _ => {}
    };
    let mut set = 0;
    for field in ["bool", "int", "string", "version"] {
        if has(at.value, field) {
            set += 1;
            of_type(checker, &at.child(field), field);
        }
    }
    for field in LISTS {
        let at = at.child(field);
        if at.value.is_null() {
            continue;
        }
        set += 1;
        if at.each().next().is_none() {
            checker.invalid(&at, "[]", "must not be empty if specified");
        }
        for value in at.each() {
            of_type(checker, &value, field);
        }
    }
    if set != 1 {
        checker.invalid_text(at, "", "exactly one value must be specified");
    }
}

fn of_length(checker: &mut Checker<'_>, at: &Place<'_>) {
    if at.text().len() > LONGEST_VALUE {
        checker.too_long(at, LONGEST_VALUE);
    }
}

fn version(checker: &mut Checker<'_>, at: &Place<'_>) {
    if !is_semantic_version(at.text()) {
        let why = "must be a string compatible with semver.org spec 2.0.0";
        checker.invalid_text(at, at.text(), why);
    }
    of_length(checker, at);
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
fn counters(checker: &mut Checker<'_>, at: &Place<'_>, field: &str) {
    parts::needed(checker, &at.child(field), parts::label);
    let at = at.child("counters");
    let count = entries(at.value).count();
    if count == 0 {
        return checker.required(&at, "");
    }
    if checker.has_room(&at, count, MOST_COUNTERS) {
        for (name, _) in entries(at.value) {
            checker.all_invalid(&at, name, names::label(name.as_bytes()));
        }
    }
}

fn nodes_of_device(checker: &mut Checker<'_>, at: &Place<'_>, per_device: bool) {
    if per_device {
        let mut set = nodes_by_name_or_labels(checker, at, "must not be empty");
        set.extend(if_true(checker, at, "allNodes"));
        let one_of = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
        return exactly_one(checker, at, &set, one_of, "");
    }
    let mut fields = ["nodeName", "nodeSelector", "allNodes"].into_iter();
    if fields.any(|field| has(at.value, field)) {
        let why = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
        checker.invalid(at, "null", why);
    }
}

/// Mirrors `resource/validation/validation.go`, `validateDeviceBindingParameters`, v1.37.2.
fn binding(checker: &mut Checker<'_>, at: &Place<'_>) {
    let awaited = at.child("bindingConditions");
    let failing = at.child("bindingFailureConditions");
    for conditions in [&awaited, &failing] {
        checker.set(conditions, MOST_CONDITIONS, "", parts::label_key);
    }
    let first: HashSet<&str> = awaited.each().map(|condition| condition.text()).collect();
    for condition in failing.each() {
        if first.contains(condition.text()) {
            let why = "bindingFailureConditions must not overlap with bindingConditions";
            checker.invalid_text(&condition, condition.text(), why);
        }
    }
    let has_failing = failing.each().next().is_some();
    if first.is_empty() && has_failing {
        let why = "bindingConditions are required to use bindingFailureConditions";
        checker.invalid(&awaited, "null", why);
    }
    if !has_failing && !first.is_empty() {
        let why = "bindingFailureConditions are required to use bindingConditions";
        checker.invalid(&failing, "null", why);
    }
}

/// Mirrors `resource/validation/validation.go`, `validateNodeAllocatableResources`, v1.37.2.
fn node_resources(checker: &mut Checker<'_>, device: &Place<'_>) {
    let at = device.child("nodeAllocatableResources");
    for (name, resource) in entries(at.value) {
        let at = at.key(name);
        if !matches!(name, "cpu" | "memory") && !name.starts_with("hugepages-") {
            checker.invalid_text(&at, name, "must be a node allocatable resource name");
        }
        if !has(resource, "mapping") && !has(resource, "overhead") {
            checker.required(&at, "at least one of mapping or overhead must be set");
        }
        if has(resource, "mapping") {
            mapping(checker, &at.child("mapping"), &device.value["capacity"]);
        }
        if has(resource, "overhead") {
            overhead(checker, &at.child("overhead"));
        }
    }
}

fn mapping(checker: &mut Checker<'_>, at: &Place<'_>, capacity: &Value) {
    let positive = |checker: &mut Checker<'_>, at: &Place<'_>| {
        if let Some(amount) = quantity(at.value).filter(|amount| amount.sign() <= 0) {
            checker.invalid_text(at, &amount.to_string(), "must be positive");
        }
    };
    let (key, multiplier) = (at.child("capacityKey"), at.child("capacityMultiplier"));
    let has_multiplier = !multiplier.value.is_null();
    match key.value.as_str() {
        Some(name) => {
            if name.is_empty() {
                checker.invalid_text(&key, "", "capacityKey must not be an empty string");
            } else if !has(capacity, name) {
                checker.not_found(&key, name, "");
            }
            if has_multiplier {
                positive(checker, &multiplier);
            } else {
                let why = "capacityMultiplier is required when capacityKey is set";
                checker.required(&multiplier, why);
            }
        }
        None if has_multiplier => {
            checker.required(&key, "capacityKey is required when capacityMultiplier is set");
        }
        None => {}
    }
    positive(checker, &at.child("deviceMultiplier"));
    if has(at.value, "capacityKey") == has(at.value, "deviceMultiplier") {
        let why = "must specify exactly one of: `capacityKey`, `deviceMultiplier`";
        checker.invalid_text(at, "", why);
    }
}

fn overhead(checker: &mut Checker<'_>, at: &Place<'_>) {
    let fields = ["perPod", "perContainer"];
    if !fields.into_iter().any(|field| has(at.value, field)) {
        checker.invalid_text(at, "", "at least one of perPod or perContainer must be set");
    }
    for at in fields.iter().map(|field| at.child(field)) {
        if let Some(amount) = quantity(at.value).filter(|amount| amount.sign() < 0) {
            checker.invalid_text(&at, &amount.to_string(), "must be non-negative");
        }
    }
}

fn partition_type(checker: &mut Checker<'_>, at: &Place<'_>, named: &Place<'_>) {
    parts::fully_qualified_name(checker, named);
    let attribute = named.text();
    let devices = at.child("devices");
    let consuming = |device: &Place<'_>| !items(device.value, "consumesCounters").is_empty();
    let mut devices = devices.each().filter(consuming).peekable();
    if devices.peek().is_none() {
        let why = "may only be set on a slice which declares devices that consume counters";
        return checker.invalid_text(named, attribute, why);
    }
    let bare = attribute
        .strip_prefix(text(at.value, "driver"))
        .and_then(|rest| rest.strip_prefix('/'));
    for device in devices {
        let attributes = device.child("attributes");
        let at = attributes.key(attribute);
        let own = [Some(attribute), bare]
            .into_iter()
            .flatten()
            .map(|name| &attributes.value[name])
            .find(|own| !own.is_null());
        match own {
            None => checker.required(
                &at,
                "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set",
            ),
            Some(own) if !has(own, "string") => checker.invalid(
                &at,
                own,
                "must be a string value because `partitionTypeAttribute` names this attribute",
            ),
            Some(_) => {}
        }
    }
}

fn skipped_operations(checker: &mut Checker<'_>, at: &Place<'_>) {
    const KNOWN: [&str; 3] = ["*", "NodePrepareResources", "NodeUnprepareResources"];
    checker.set(at, usize::MAX, "", |checker, at| {
        if !KNOWN.contains(&at.text()) {
            checker.not_supported(at, at.text(), &KNOWN);
        }
    });
    let skips = |name: &str| at.each().any(|operation| operation.text() == name);
    if skips("NodePrepareResources") && !skips("NodeUnprepareResources") && !skips("*") {
        let why = "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped";
        checker.invalid(at, "[\"NodePrepareResources\"]", why);
    }
}

fn quantity(value: &Value) -> Option<Quantity> {
    Quantity::deserialize(value).ok()
}

/// How much of a capacity may be asked for. Mirrors `resource/validation/validation.go`, `validateRequestPolicy`, v1.37.2.
fn request_policy(checker: &mut Checker<'_>, at: &Place<'_>, capacity: &Value) {
    let Some(most) = quantity(capacity) else {
        return;
    };
    let (values, range) = (at.child("validValues"), at.child("validRange"));
    let (default, at_default) = (amount(at.value, "default"), at.child("default"));
    match (values.each().next().is_some(), !range.value.is_null()) {
        (true, true) => checker.forbidden(
            at,
            "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at the same time",
        ),
        (true, false) => match default {
            Some(default) => valid_values(checker, &values, &default, &most),
            None => checker.required(&at_default, "required when validValues is defined"),
        },
        (false, true) => match default {
            Some(default) => valid_range(checker, &range, &default, &most),
            None => checker.required(&at_default, "required when validRange is defined"),
        },
        (false, false) => {}
    }
}

fn valid_values(checker: &mut Checker<'_>, at: &Place<'_>, default: &Quantity, most: &Quantity) {
    if !checker.has_room(at, at.each().count(), MOST_VALID_VALUES) {
        return;
    }
    let values: Vec<Quantity> = at.each().filter_map(|at| quantity(at.value)).collect();
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

fn amount(of: &Value, field: &str) -> Option<Quantity> {
    Some(&of[field])
        .filter(|value| !value.is_null())
        .and_then(quantity)
}

/// A range of amounts that may be asked for. Mirrors `resource/validation/validation.go`, `validateRequestPolicyRange`, v1.37.2.
fn valid_range(checker: &mut Checker<'_>, at: &Place<'_>, default: &Quantity, capacity: &Quantity) {
    let Some(min) = &amount(at.value, "min") else {
        return checker.required(&at.child("min"), "required when validRange is defined");
    };
    let max = &amount(at.value, "max");
    let mut invalid = |is_wrong: bool, field: &str, shown: &Quantity, why: &str, by: &Quantity| {
        if is_wrong {
            let why = format_args!("{why}: {by}");
            checker.invalid_text(&at.child(field), &shown.to_string(), why);
        }
    };
    let larger = "is larger than capacity value";
    invalid(min > capacity, "min", min, &format!("min {larger}"), capacity);
    invalid(default < min, "default", default, "default is less than min", min);
    if let Some(max) = max {
        invalid(min > max, "max", min, "min is larger than max", max);
        invalid(max > capacity, "max", max, &format!("max {larger}"), capacity);
        invalid(default > max, "default", default, "default is more than max", max);
    }
    if let Some(step) = amount(at.value, "step") {
        steps(checker, at, [default, min, &step], max.as_ref(), capacity);
    }
}

fn steps(
    checker: &mut Checker<'_>,
    at: &Place<'_>,
    [default, min, step]: [&Quantity; 3],
    max: Option<&Quantity>,
    capacity: &Quantity,
) {
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
        ("max", max),
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
    for amount in [Some(default), max].into_iter().flatten() {
        let distance = amount.nanos().zip(min.nanos()).map(|(amount, min)| amount - min);
        if distance.is_some_and(|distance| distance % step_nanos != 0) {
            let why = format_args!("value is not a multiple of a given step ({step}) from ({min})");
            checker.invalid_text(&at_step, &amount.to_string(), why);
        }
    }
}
