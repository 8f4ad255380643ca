//! What claims, templates and classes ask for, and what keeps it from being answered: classes, selectors, claims and templates that
//! are not there, quotas.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::finding::{Subject, claim_key, counted, pod_key, scoped_key, some};
use super::{Code, Finding, Look, Severity};
use crate::remedy::Remedy;
use crate::script::{Command, NoCommand, Script};
use dra_allocator::devices::{
    CachedSelector, ClassSelectors, SelectableDevice, SelectorError, first_unmatched,
};
use dra_model::{
    ClaimSpec, Device, DeviceId, DeviceRequest, Key, Kind, Meta, Pod, Selector, Str, TOO_MUCH_WORK,
};
use dra_rules::quota::{Quotas, Refusal};
use dra_rules::reservation::{
    ClaimNameError, Lacks, Next, Origin, claim_name, is_done, manager, unmade, unmade_of,
};

pub(super) fn look(look: &mut Look<'_>) {
    if look.wants(Code::ClassMissing) && !look.is_hidden(Kind::DeviceClass, "") {
        classes(look);
    }
    if look.wants_any(&[Code::SelectorInvalid, Code::SelectorFails]) {
        SelectorCheck::new(look).run(look);
    }
    if look.wants_any(&[Code::ClaimMissing, Code::QuotaExceeded]) {
        pods(look);
    }
}

/// Who asks: claims that have no devices yet, and templates, whose next claims will ask.
fn askers<'a>(look: &Look<'a>) -> impl Iterator<Item = (Kind, &'a Meta, &'a ClaimSpec)> {
    let cluster = look.cluster;
    let claims = cluster
        .claims()
        .filter(|claim| claim.status.allocation.is_none() && !claim.metadata.is_deleting())
        .map(|claim| (Kind::ResourceClaim, &claim.metadata, &claim.spec));
    let templates = cluster.templates().map(|template| {
        (
            Kind::ResourceClaimTemplate,
            &template.metadata,
            &template.spec.spec,
        )
    });
    claims.chain(templates)
}

/// Exact requests and alternatives, with the name that results carry.
fn requests_of(spec: &ClaimSpec) -> impl Iterator<Item = (String, &DeviceRequest)> {
    spec.devices.requests.iter().flat_map(|request| {
        let exactly = request
            .exactly
            .iter()
            .map(|exactly| (request.name.to_string(), exactly));
        let alternatives = request
            .first_available
            .iter()
            .map(|alternative| (format!("{}/{}", request.name, alternative.name), alternative));
        exactly.chain(alternatives)
    })
}

/// What has to be made again for what asks to ask for something else: the template of a claim, or else the object itself.
pub(super) fn changed_for(look: &Look<'_>, kind: Kind, metadata: &Meta) -> String {
    let key = metadata.key();
    match look.cluster.claim(&key).filter(|_| kind == Kind::ResourceClaim) {
        Some(claim) => match Origin::of(look.cluster, claim) {
            Origin::Owner(owner) => manager(owner),
            origin => origin.object(&key),
        },
        None => match metadata.controller() {
            Some(owner) => manager(owner),
            None => format!("template/{key}"),
        },
    }
}

fn evidence_of(kind: Kind, metadata: &Meta) -> (Kind, Key) {
    (kind, metadata.key())
}

fn classes(look: &mut Look<'_>) {
    let mut found = Vec::new();
    for (kind, metadata, spec) in askers(look) {
        let missing: BTreeSet<&Str> = requests_of(spec)
            .map(|(_, request)| &request.device_class_name)
            .filter(|class| look.cluster.class(class).is_none())
            .collect();
        if missing.is_empty() {
            continue;
        }
        let (severity, waits) = if kind == Kind::ResourceClaim {
            (Severity::Error, "no pod that uses it is scheduled")
        } else {
            (Severity::Warning, "no pod that uses it will be scheduled")
        };
        let message = format!(
            "asks for {} {}, which {} not exist: {waits}",
            if missing.len() == 1 {
                "the device class"
            } else {
                "the device classes"
            },
            some(&missing),
            if missing.len() == 1 { "does" } else { "do" },
        );
        let classes = missing.iter().map(|class| scoped_key(Kind::DeviceClass, class));
        found.push(
            Finding::new(Code::ClassMissing, Subject::of(kind, metadata), message)
                .severity(severity)
                .advice(format!(
                    "an administrator of the cluster creates {}, often with the driver of the devices; or the owner of {} makes it again with \
                     a class that exists, since no spec of a claim or a template can be changed",
                    some(missing.iter().map(|class| format!("deviceclass/{class}"))),
                    changed_for(look, kind, metadata),
                ))
                .look(Command::kubectl("get").arg("deviceclasses").done())
                .joins(classes)
                .joins([evidence_of(kind, metadata)]),
        );
    }
    for finding in found {
        look.add(finding);
    }
}

/// What the selectors of one request come to, worked out once for all requests that are alike.
#[derive(Clone)]
enum Verdict {
    Good,
    /// A selector does not compile.
    Invalid(String),
    /// A selector fails on so many devices, the first of which is this one.
    Fails {
        device: DeviceId,
        slice: Str,
        devices: usize,
        error: String,
    },
}

/// Compiles and evaluates the selectors of classes and requests on every device that there is.
struct SelectorCheck<'a> {
    selectors: ClassSelectors,
    /// Of the newest generation of each pool.
    devices: Vec<(DeviceId, Str, SelectableDevice)>,
    /// Which devices belong to a class.
    of_class: BTreeMap<Str, Vec<u32>>,
    verdicts: HashMap<(&'a Str, Vec<&'a Str>), Verdict>,
    /// Classes of which not all devices are known, as the command has spent its work on expressions.
    not_judged: BTreeSet<Str>,
}

impl<'a> SelectorCheck<'a> {
    fn new(look: &Look<'a>) -> Self {
        let mut check = Self {
            selectors: ClassSelectors::of(look.cluster),
            devices: Vec::new(),
            of_class: BTreeMap::new(),
            verdicts: HashMap::new(),
            not_judged: BTreeSet::new(),
        };
        if look.wants(Code::SelectorFails) {
            for pool in look.cluster.pools() {
                let devices = check.selectors.devices(&pool);
                check.devices.extend(devices.map(|(slice, device, selectable)| {
                    let id = pool.device_id(&device.name);
                    (id, slice.metadata.name.clone(), selectable)
                }));
            }
        }
        check
    }

    fn run(mut self, look: &mut Look<'a>) {
        self.classes(look);
        if look.is_hidden(Kind::DeviceClass, "") {
            // Devices of a class that is not known are not known either, but what does not compile never does.
            self.of_class.clear();
        }
        let askers: Vec<_> = askers(look).collect();
        let mut given_up = 0;
        for (kind, metadata, spec) in askers {
            for (name, request) in requests_of(spec) {
                if request.selectors.is_empty() {
                    continue;
                }
                match self.verdict(request) {
                    None => given_up += 1,
                    Some(verdict) => report(
                        look,
                        kind,
                        metadata,
                        &format!("request {name}: "),
                        request,
                        verdict,
                    ),
                }
            }
        }
        if given_up > 0 {
            look.found.unknown.add(format!(
                "selectors of {} were not tried on all devices: {TOO_MUCH_WORK}",
                counted(given_up, "request", "requests")
            ));
        }
    }

    /// Looks at the classes, and finds out which devices belong to them.
    fn classes(&mut self, look: &mut Look<'a>) {
        let mut fails: BTreeMap<Str, (usize, usize, String)> = BTreeMap::new();
        for (number, (_, _, device)) in self.devices.iter().enumerate() {
            let classes = self.selectors.classes(device);
            for name in classes.names {
                self.of_class.entry(name).or_default().push(number as u32);
            }
            self.not_judged.extend(classes.not_judged);
            for (name, error) in classes.errors {
                fails.entry(name).or_insert((number, 0, error)).1 += 1;
            }
        }
        if !self.not_judged.is_empty() {
            look.found.unknown.add(format!(
                "selectors of {} were not tried on all devices: {TOO_MUCH_WORK}",
                counted(self.not_judged.len(), "class", "classes")
            ));
        }
        for class in look.cluster.classes() {
            let about = || Subject::of(Kind::DeviceClass, &class.metadata);
            let who = "an administrator of the cluster corrects the selector: the spec of a device class can be changed in place";
            let show = || show(Kind::DeviceClass, &class.metadata);
            if let Some(error) = self.compile_error(&class.spec.selectors) {
                let message = format!("{error}; no device can be allocated by it");
                look.add(
                    Finding::new(Code::SelectorInvalid, about(), message)
                        .advice(who)
                        .look(show()),
                );
            } else if let Some((first, devices, error)) = fails.remove(&class.metadata.name) {
                let (device, slice, _) = &self.devices[first];
                let message = format!(
                    "{error}, on {device}{}: a pod that asks for the class is not scheduled on any node once the scheduler looks at it",
                    and_more(devices)
                );
                look.add(
                    Finding::new(Code::SelectorFails, about(), message)
                        .advice(who)
                        .look(show())
                        .joins([
                            scoped_key(Kind::DeviceClass, &class.metadata.name),
                            scoped_key(Kind::ResourceSlice, slice),
                        ]),
                );
            }
        }
    }

    fn compile_error(&self, selectors: &[Selector]) -> Option<String> {
        selectors.iter().enumerate().find_map(|(index, selector)| {
            let Some(cel) = &selector.cel else {
                return Some(format!("selector #{index} has no CEL expression"));
            };
            let selector = self.selectors.selector(&cel.expression);
            let error = selector.program().err()?.to_string();
            Some(format!(
                "selector #{index} does not compile: {}",
                one_line(&error)
            ))
        })
    }

    /// Nothing where the work would be too much.
    fn verdict(&mut self, request: &'a DeviceRequest) -> Option<Verdict> {
        let expressions: Vec<&Str> = request
            .selectors
            .iter()
            .filter_map(|selector| selector.cel.as_ref().map(|cel| &cel.expression))
            .collect();
        let complete = expressions.len() == request.selectors.len();
        let key = (&request.device_class_name, expressions);
        if let Some(verdict) = self.verdicts.get(&key).filter(|_| complete) {
            return Some(verdict.clone());
        }
        let verdict = match self.compile_error(&request.selectors) {
            Some(error) => Verdict::Invalid(error),
            None => self.evaluate(&request.device_class_name, &key.1)?,
        };
        if complete {
            self.verdicts.insert(key, verdict.clone());
        }
        Some(verdict)
    }

    /// Whether selectors of a request fail on a device of the class: the class decides first, then they do in their order, up to the
    /// first that does not match.
    fn evaluate(&self, class: &Str, expressions: &[&Str]) -> Option<Verdict> {
        if self.not_judged.contains(class) {
            return None;
        }
        let selectors = expressions
            .iter()
            .map(|expression| self.selectors.selector(expression));
        let selectors: Vec<_> = selectors.collect();
        let devices = self.of_class.get(class).map_or(&[][..], Vec::as_slice);
        let mut first = None;
        let mut failures = 0;
        for number in devices {
            let (id, slice, device) = &self.devices[*number as usize];
            let matches =
                |(_, selector): &(usize, &Arc<CachedSelector>)| self.selectors.is_selected(selector, device);
            match first_unmatched(selectors.iter().enumerate(), matches) {
                Ok(_) => {}
                Err((_, SelectorError::NotTried)) => return None,
                Err(((index, _), error)) => {
                    failures += 1;
                    first.get_or_insert_with(|| {
                        let error = format!("selector #{index} fails: {}", one_line(&error.to_string()));
                        (id.clone(), slice.clone(), error)
                    });
                }
            }
        }
        Some(match first {
            None => Verdict::Good,
            Some((device, slice, error)) => Verdict::Fails {
                device,
                slice,
                devices: failures,
                error,
            },
        })
    }
}

/// Whether an attribute of the device is a list.
pub(super) fn has_list(device: &Device) -> bool {
    device.attributes.iter().any(|(_, value)| value.is_list())
}

/// An error of several lines, which show where in the expression it is, in one.
fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_end().to_owned()
}

fn and_more(devices: usize) -> String {
    match devices.saturating_sub(1) {
        0 => String::new(),
        1 => " and one more device".to_owned(),
        more => format!(" and {more} more devices"),
    }
}

fn report(
    look: &mut Look<'_>,
    kind: Kind,
    metadata: &Meta,
    place: &str,
    request: &DeviceRequest,
    verdict: Verdict,
) {
    let about = Subject::of(kind, metadata);
    // What the selector is meant to say nobody else knows.
    let who = format!(
        "the owner of {} makes it again with a selector that works: no spec of a claim or a template can be changed",
        changed_for(look, kind, metadata)
    );
    let helped = |finding: Finding| finding.advice(who.as_str()).look(show(kind, metadata));
    match verdict {
        Verdict::Good => {}
        Verdict::Invalid(error) => {
            let message = format!("{place}{error}; the scheduler ends every attempt with an error");
            look.add(helped(Finding::new(Code::SelectorInvalid, about, message)));
        }
        Verdict::Fails {
            device,
            slice,
            devices,
            error,
        } => {
            let message = format!(
                "{place}{error}, on {device}{}: the scheduler ends the attempt with an error when it looks at such a device",
                and_more(devices)
            );
            look.add(helped(Finding::new(Code::SelectorFails, about, message)).joins([
                evidence_of(kind, metadata),
                scoped_key(Kind::DeviceClass, &request.device_class_name),
                scoped_key(Kind::ResourceSlice, &slice),
            ]));
        }
    }
}

/// The object as it is.
fn show(kind: Kind, metadata: &Meta) -> Result<Script, NoCommand> {
    let get = Command::kubectl("get").object(kind, &metadata.name);
    let get = if kind.is_namespaced() {
        get.namespace(&metadata.namespace)
    } else {
        get
    };
    get.args(&["-o", "yaml"]).done()
}

/// Pods whose claims cannot be found or made.
fn pods(look: &mut Look<'_>) {
    let cluster = look.cluster;
    let quotas = Quotas::of(cluster);
    for pod in cluster.pods() {
        if is_done(pod) {
            continue;
        }
        let namespace = &pod.metadata.namespace;
        if let Some((template, refusal)) = quotas.refused_of_pod(pod) {
            let remedy = Remedy::raising(&quotas, namespace, quotas.to_be_made(pod));
            blocked(look, pod, &template.metadata, &refusal, remedy);
        }
        for entry in &pod.spec.resource_claims {
            match claim_name(pod, entry) {
                Ok(name) => {
                    let Some(key) = name.key() else { continue };
                    if cluster.claim(&key).is_none() && !look.is_hidden(Kind::ResourceClaim, namespace) {
                        missing(look, pod, claim_key(key));
                    }
                }
                Err(ClaimNameError::Unsupported { .. }) => {}
                Err(ClaimNameError::NotCreated { .. }) => {
                    if let Some(Next::NoTemplate(key)) =
                        unmade_of(cluster, pod, entry).map(|unmade| unmade.next)
                        && !look.is_hidden(Kind::ResourceClaimTemplate, namespace)
                    {
                        missing(look, pod, (Kind::ResourceClaimTemplate, key));
                    }
                }
            }
        }
    }
}

fn missing(look: &mut Look<'_>, pod: &Pod, object: (Kind, Key)) {
    let (kind, key) = &object;
    let waits = if pod.node().is_some() {
        "its containers cannot be started again"
    } else {
        "it is not scheduled"
    };
    let message = format!(
        "names {}/{key}, which does not exist: {waits}",
        if *kind == Kind::ResourceClaim {
            "claim"
        } else {
            "template"
        },
    );
    // One of that name, made by hand, would not be the pod's.
    let is_made = unmade(look.cluster, pod).any(|(_, unmade)| unmade.lacks == Lacks::Claim(key.clone()));
    let advice = match (is_made, *kind) {
        (true, _) if pod.node().is_some() => "make the pod again, so that it gets a claim with devices".to_owned(),
        (true, _) => "restart kube-controller-manager, which then makes another claim from the template, or make the pod again".to_owned(),
        (false, Kind::ResourceClaim) => {
            format!("whoever owns the pod creates claim/{key}, or makes the pod again with the name of one that exists")
        }
        (false, _) => {
            format!("whoever owns the pod creates template/{key}, or makes the pod again with the name of one that exists")
        }
    };
    look.add(
        Finding::new(Code::ClaimMissing, Subject::of(Kind::Pod, &pod.metadata), message)
            .advice(advice)
            .look(
                Command::kubectl("get")
                    .arg(kind.plural())
                    .namespace(&key.namespace)
                    .done(),
            )
            .joins([pod_key(pod.key()), object]),
    );
}

/// A claim that cannot be made, as it asks for more than a quota leaves.
fn blocked(look: &mut Look<'_>, pod: &Pod, template: &Meta, refusal: &Refusal<'_>, remedy: Remedy) {
    let quota = &refusal.quota.metadata;
    let message = format!("needs a claim from template/{}, which {refusal}", template.key());
    look.add(
        Finding::new(
            Code::QuotaExceeded,
            Subject::of(Kind::Pod, &pod.metadata),
            message,
        )
        .remedy(remedy)
        .look(
            Command::kubectl("describe")
                .object(Kind::ResourceQuota, &quota.name)
                .namespace(&quota.namespace)
                .done(),
        )
        .joins([
            pod_key(pod.key()),
            (Kind::ResourceClaimTemplate, template.key()),
            (Kind::ResourceQuota, quota.key()),
        ]),
    );
}
