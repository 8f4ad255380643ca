//! The nodes that are rejected in groups, and what keeps all of them from taking the pod: what people read first.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::report::{Amounts, DeviceCount, Explanation, NODE_OPERATIONS, NodeExplanation, NodeGroup, Reason};
use dra_allocator::devices::RuledOut;
use dra_allocator::{AlternativeExplanation, Unfit};
use dra_cel::Terms;
use dra_model::{AllocationMode, Claim, DeviceRequest, Gate, Quantity, Str};
use dra_rules::scheduling::Verdict;

/// How the devices of a node count for each request.
pub(super) fn counts(explanation: &dra_allocator::Explanation<'_>) -> Vec<DeviceCount> {
    let requests = explanation.requests.iter();
    let alternatives = requests.flat_map(|request| {
        let claim = explanation.claim(request.claim).to_string();
        let of = move |one| count(explanation, claim.clone(), one);
        request.alternatives.iter().map(of)
    });
    alternatives.collect()
}

/// The same for one request or subrequest.
pub(super) fn count(
    explanation: &dra_allocator::Explanation<'_>,
    claim: String,
    alternative: &AlternativeExplanation,
) -> DeviceCount {
    let mut count = DeviceCount {
        claim,
        request: alternative.name.clone(),
        wanted: u64::try_from(alternative.wanted)
            .ok()
            .filter(|wanted| *wanted > 0),
        matching: 0,
        in_use: 0,
        tainted: 0,
        blocked: 0,
        usable: 0,
        unknown: 0,
    };
    for (device, unfit) in alternative.devices.iter().enumerate() {
        let place = match unfit {
            Ok(()) => &mut count.usable,
            // Whether a device is in use is looked at before the selectors.
            Err(Unfit::RuledOut(RuledOut::InUse)) => match explanation.is_wanted(alternative, device) {
                Some(true) => &mut count.in_use,
                Some(false) => continue,
                None => &mut count.unknown,
            },
            Err(Unfit::RuledOut(RuledOut::Tainted)) => &mut count.tainted,
            Err(Unfit::RuledOut(why)) if why.is_selected() => &mut count.blocked,
            Err(Unfit::RuledOut(_)) => continue,
            Err(Unfit::Trouble(_)) => &mut count.unknown,
        };
        *place += 1;
    }
    count.matching = count.usable + count.in_use + count.tainted + count.blocked;
    count
}

impl NodeExplanation {
    /// The first reason, if it is about the node or about requests together rather than about a single device or request.
    fn general(&self) -> Option<&Reason> {
        let first = self.reasons.first()?;
        let is_of_pool = matches!(first.code, "PoolIncomplete" | "PoolInvalid");
        (first.request.is_none() || is_of_pool).then_some(first)
    }

    /// The cause in words. What is in use or tainted has its own numbers.
    fn words(&self, short: &[DeviceCount]) -> Option<String> {
        if let Some(general) = self.general() {
            return Some(general.in_short());
        }
        let Some(first) = short.first() else {
            return self.reasons.first().map(Reason::in_short);
        };
        let told = ["InUse", "Tainted", "TooFewDevices", "NotListed"];
        // A device that passes the class came further than one that does not.
        let furthest = |reason: &Reason| match reason.code {
            "ClassSelector" => 0,
            "RequestSelector" | "OtherNode" => 1,
            _ => 2,
        };
        let mut seen: BTreeMap<(i32, String), (usize, &Reason)> = BTreeMap::new();
        let reasons = self.reasons.iter().filter(|reason| {
            reason.request.as_ref() == Some(&first.request)
                && reason.claim.as_ref() == Some(&first.claim)
                && !told.contains(&reason.code)
        });
        for reason in reasons {
            let rank = furthest(reason);
            if rank == 2 || first.matching == 0 {
                let (count, most) = seen.entry((rank, reason.in_common())).or_insert((0, reason));
                *count += 1;
                if reason.left() > most.left() {
                    *most = reason;
                }
            }
        }
        let best = seen
            .into_iter()
            .max_by(|((rank, text), (count, _)), ((other, words), (more, _))| {
                rank.cmp(other)
                    .then(count.cmp(more))
                    .then_with(|| words.cmp(text))
            });
        best.map(|(_, (_, reason))| reason.in_short())
    }
}

impl Reason {
    /// What is left of an amount that is short.
    fn left(&self) -> Option<&Quantity> {
        self.amounts.as_ref().map(|amounts| &amounts.left)
    }

    /// What is alike for devices that have different amounts left of the same.
    fn in_common(&self) -> String {
        match &self.amounts {
            Some(Amounts { wanted, total, .. }) => format!("wants {wanted} of {total}"),
            None => self.in_short(),
        }
    }

    fn in_short(&self) -> String {
        if self.device.is_some() {
            return self.in_short_of_device();
        }
        self.brief.as_ref().unwrap_or(&self.message).clone()
    }

    /// What rules out a device, in short.
    pub(super) fn in_short_of_device(&self) -> String {
        if let Some(amounts) = &self.amounts {
            let Amounts { wanted, left, total } = amounts;
            return format!("wants {wanted}, {left} of {total} left");
        }
        self.brief.as_ref().unwrap_or(&self.message).clone()
    }
}

impl NodeGroup {
    /// The nodes that are rejected, in groups: those that lack least first.
    pub(super) fn of(nodes: &[NodeExplanation]) -> Vec<Self> {
        let mut alike: BTreeMap<(Vec<DeviceCount>, Option<String>), Vec<Str>> = BTreeMap::new();
        for node in nodes.iter().filter(|node| !node.fits) {
            let short = node.devices.iter().filter(|count| count.is_short());
            let short: Vec<DeviceCount> = match node.general() {
                Some(_) => Vec::new(),
                None => short.cloned().collect(),
            };
            let words = node.words(&short);
            alike.entry((short, words)).or_default().push(node.node.clone());
        }
        let mut groups: Vec<Self> = alike
            .into_iter()
            .map(|((devices, reason), nodes)| Self {
                nodes,
                devices,
                reason,
            })
            .collect();
        // What fails only together lacks no device of its own.
        let lacks = |group: &Self| {
            let first = group.devices.first();
            first.map(|first| {
                (
                    first.matching == 0,
                    first.wanted.unwrap_or(0).abs_diff(first.usable),
                )
            })
        };
        groups.sort_by(|a, b| {
            lacks(a)
                .is_none()
                .cmp(&lacks(b).is_none())
                .then_with(|| lacks(a).cmp(&lacks(b)))
                .then_with(|| b.nodes.len().cmp(&a.nodes.len()))
                .then_with(|| a.nodes.cmp(&b.nodes))
        });
        groups
    }
}

/// What the error says, without what is known from the rest of the report, and without advice.
pub(super) fn cause_of_error(verdict: &Verdict) -> Option<String> {
    let Verdict::Error(error) = verdict else {
        return None;
    };
    let error = error.split(". consider using CEL").next().unwrap_or(error);
    let error = match error
        .strip_prefix("claim ")
        .and_then(|rest| rest.split_once([':', ',']))
    {
        Some((key, rest)) if !key.contains(' ') => rest.trim_start(),
        _ => error,
    };
    let error = match error
        .strip_prefix("request ")
        .and_then(|rest| rest.split_once(": "))
    {
        Some((request, rest)) => format!("request {request} {rest}"),
        None => error.to_owned(),
    };
    Some(error.replacen(": CEL runtime error: ", ": ", 1))
}

/// That a claim of the pod is allocated for a node on which something else keeps the pod from running.
fn cause_of_place(report: &Explanation, claims: &[Arc<Claim>]) -> Option<String> {
    claims.iter().find_map(|claim| {
        let selector = claim.status.allocation.as_ref()?.node_selector.as_ref()?;
        let place = selector.single_node()?;
        let node = report.nodes.iter().find(|node| node.node == *place)?;
        let why = match node.plugin? {
            "NodeName" => "while the pod names another node".to_owned(),
            "NodeAffinity" => "which the pod's node selector or affinity rules out".to_owned(),
            "NodeUnschedulable" => "which is cordoned".to_owned(),
            "DynamicResources" => {
                let key = claim.key().to_string();
                let is_of_it =
                    |reason: &&Reason| reason.code == NODE_OPERATIONS && reason.claim.as_ref() == Some(&key);
                node.reasons.iter().find(is_of_it)?;
                format!(
                    "which does not declare the feature {}: its devices skip node operations",
                    Gate::DRAOptionalNodeOperations
                )
            }
            _ => {
                let reason = node.reasons.first()?;
                format!("which cannot take the pod: {}", reason.message)
            }
        };
        Some(format!(
            "claim/{} is allocated for node {place}, {why}",
            claim.key()
        ))
    })
}

/// That none of `nodes` nodes takes it.
pub(super) fn nowhere(nodes: usize) -> String {
    match nodes {
        0 => "there is no node".to_owned(),
        1 => "does not fit on the only node".to_owned(),
        _ => format!("fits on none of {nodes} nodes"),
    }
}

/// Why no node takes it.
pub(super) fn cause(report: &Explanation, claims: &[Arc<Claim>]) -> String {
    let all = report.nodes.len();
    let none = nowhere(all);
    if all == 0 {
        return none;
    }
    if let Some(text) = cause_of_place(report, claims) {
        return text;
    }
    if let [only] = report.node_groups.as_slice()
        && only.devices.is_empty()
        && let Some(reason) = &only.reason
    {
        return reason.clone();
    }
    // Nodes that other filters reject may have devices.
    let of_devices = report
        .nodes
        .iter()
        .filter(|node| node.plugin == Some("DynamicResources"));
    let judged = of_devices.clone().count();
    let which = match judged {
        0 => return none,
        _ if judged == all => "no node".to_owned(),
        1 => "no node that the other filters leave".to_owned(),
        left => format!("none of the {left} nodes that the other filters leave"),
    };
    let together = |node: &&NodeExplanation| {
        let first = node.general()?;
        matches!(first.code, "Constraint" | "CounterExhausted" | "NotTogether")
            .then(|| format!("on {}, {}", node.node, first.message))
    };
    if let Some(text) = of_devices.clone().find_map(|node| together(&node)) {
        return text;
    }
    let mut short = report.node_groups.iter().flat_map(|group| &group.devices);
    let Some(first) = short.next() else { return none };
    let is_same = |other: &DeviceCount| other.claim == first.claim && other.request == first.request;
    // The sentence is about every node: those that lack something else besides have to lack this, too.
    let lacks = |node: &NodeExplanation| {
        node.devices
            .iter()
            .any(|count| is_same(count) && count.is_short())
    };
    let Some(spec) = claims
        .iter()
        .find(|claim| claim.key().to_string() == first.claim)
        .and_then(|claim| spec(claim, &first.request))
    else {
        return none;
    };
    // What takes all devices wants another number on each node.
    if spec.allocation_mode != AllocationMode::ExactCount || !of_devices.clone().all(lacks) {
        return none;
    }
    let kind = kind(spec);
    match first.wanted {
        Some(1) => format!("{which} has a usable {kind}"),
        Some(wanted) => format!("{which} has {wanted} usable {}", several(&kind)),
        None => none,
    }
}

/// Several devices of this kind.
pub(super) fn several(kind: &str) -> String {
    match kind.strip_prefix("device ") {
        Some(rest) => format!("devices {rest}"),
        None => kind.to_owned(),
    }
}

/// What the request asks for; nothing where it has alternatives, none of which alone is the cause.
pub(super) fn spec<'c>(claim: &'c Claim, name: &str) -> Option<&'c DeviceRequest> {
    let mut requests = claim.spec.devices.requests.iter();
    requests.find(|request| request.name == name)?.exactly.as_ref()
}

/// What devices are called that a request asks for: by the attribute that its only selector compares, else by their class.
pub(super) fn kind(spec: &DeviceRequest) -> String {
    if let [selector] = spec.selectors.as_slice()
        && let Some(cel) = &selector.cel
        && let terms = Terms::of(&cel.expression)
        && let mut terms = terms.iter()
        && let (Some(only), None) = (terms.next(), terms.next())
        && let Some((attribute, value)) = compared(only)
    {
        // A model names devices by itself, as other values do not.
        let is_model = matches!(attribute, "model" | "productName");
        return if is_model {
            value.to_owned()
        } else {
            format!("device with {attribute} {value}")
        };
    }
    format!("device of class {}", spec.device_class_name)
}

/// The attribute that a term compares with a text, and the text, where it does nothing else.
fn compared(term: &str) -> Option<(&str, &str)> {
    let (attribute, value) = term.split_once(" == ")?;
    let attribute = attribute.trim().strip_prefix("device.attributes[")?;
    let is_path = |one: char| one.is_ascii_alphanumeric() || "_-./'\"[]".contains(one);
    let value = value.trim();
    let quote = value.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let inner = value.strip_prefix(quote)?.strip_suffix(quote)?;
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "-_. ".contains(one);
    let names_something = inner.chars().any(|one| one.is_ascii_alphabetic());
    let is_named = attribute.chars().all(is_path) && names_something && inner.chars().all(is_plain);
    // Behind the domain in brackets stands the name, with a dot or in brackets of its own.
    let (_, name) = attribute.split_once(']')?;
    let name = name.trim_matches(|one| "[]'\".".contains(one));
    (is_named && !name.is_empty()).then_some((name, inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_names_devices_only_if_it_compares_one_attribute() {
        for (term, name) in [
            (
                "device.attributes['d'].model == 'H100-SXM5-80GB'",
                Some(("model", "H100-SXM5-80GB")),
            ),
            (
                r#"device.attributes["d"].model == "A100""#,
                Some(("model", "A100")),
            ),
            (
                "device.attributes['d']['profile'] == 'full'",
                Some(("profile", "full")),
            ),
            ("device.attributes['d'] == 'full'", None),
            ("device.attributes['d'].model != 'A100'", None),
            ("device.attributes['d'].model == 'A100' || true", None),
            ("device.attributes['d'].model.lowerAscii() == 'a100'", None),
            ("device.attributes['d'].index == '0'", None),
            ("device.attributes['d'].model == 'a' + 'b'", None),
            ("device.driver == 'gpu.example.com'", None),
        ] {
            assert_eq!(compared(term), name, "{term}");
        }
    }
}
