//! What claims, templates and classes request, and what keeps it from being allocated: missing classes, claims and templates, broken
//! selectors, quotas.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::facts::{Changed, Fault, Request};
use super::finding::{Subject, claim_key, pod_key, scoped_key};
use super::{Code, Finding, Look, words};
use crate::explanation::{of_claim_controller, unmade_since};
use crate::remedy::Remedy;
use crate::script::{Command, NoCommand, Script, describe};
use dra_allocator::devices::{
    CachedSelector, ClassSelectors, SelectableDevice, SelectorError, first_unmatched,
};
use dra_model::{
    CREATION_EVENT, ClaimSpec, Cluster, Component, Device, DeviceId, DeviceRequest, Evidence, Gate, Key,
    Kind, Meta, Pod, Selector, Str, Time,
};
use dra_rules::quota::{Quotas, Refusal};
use dra_rules::reservation::{
    ClaimNameError, Lacks, Next, Origin, claim_name, is_done, refused_creation, unmade, unmade_of,
};

pub(super) fn look(look: &mut Look<'_>) {
    if look.wants(Code::ClassMissing) && !look.is_hidden(Kind::DeviceClass, "") {
        classes(look);
    }
    if look.wants_any(&[Code::SelectorInvalid, Code::SelectorFails]) {
        SelectorCheck::new(look).run(look);
    }
    if look.wants_any(&[Code::ClaimMissing, Code::QuotaExceeded, Code::ClaimNotMade]) {
        pods(look);
    }
}

/// Claims that have no devices yet, and templates, whose later claims have the same requests.
fn askers(cluster: &Cluster) -> impl Iterator<Item = (Kind, &Meta, &ClaimSpec)> {
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

/// Exact requests and alternatives.
fn requests_of(spec: &ClaimSpec) -> impl Iterator<Item = Request<'_>> {
    spec.devices.requests.iter().flat_map(|request| {
        let exactly = request.exactly.iter().map(|asked| Request {
            name: &request.name,
            alternative: None,
            asked,
        });
        let alternatives = request.first_available.iter().map(|asked| Request {
            name: &request.name,
            alternative: Some(&asked.name),
            asked,
        });
        exactly.chain(alternatives)
    })
}

/// What has to change for the object to have other requests.
pub(super) fn changed_for(look: &Look<'_>, kind: Kind, metadata: &Meta) -> Changed {
    let key = metadata.key();
    let claim = look.cluster.claim(&key).filter(|_| kind == Kind::ResourceClaim);
    match claim.map(|claim| Origin::of(look.cluster, claim)) {
        Some(Origin::Owner(owner)) => Changed::Owner(crate::words::controller(metadata, owner)),
        Some(origin) => Changed::Object(origin.object(&key)),
        None => match metadata.controller() {
            Some(owner) => Changed::Owner(crate::words::controller(metadata, owner)),
            None => Changed::Object(crate::words::object(kind, &key)),
        },
    }
}

fn evidence_of(kind: Kind, metadata: &Meta) -> (Kind, Key) {
    (kind, metadata.key())
}

fn classes(look: &mut Look<'_>) {
    for (kind, metadata, spec) in askers(look.cluster) {
        let missing: BTreeSet<&Str> = requests_of(spec)
            .map(|request| &request.asked.device_class_name)
            .filter(|class| look.cluster.class(class).is_none())
            .collect();
        if missing.is_empty() {
            continue;
        }
        let message = words::class_is_missing(kind, &missing);
        let classes = missing.iter().map(|class| scoped_key(Kind::DeviceClass, class));
        look.add(
            Finding::new(Code::ClassMissing, Subject::of(kind, metadata), message)
                .error_if(kind == Kind::ResourceClaim)
                .advice(words::class_or_other(
                    &missing,
                    &changed_for(look, kind, metadata),
                ))
                .look(Command::kubectl("get").arg("deviceclasses").done())
                .joins(classes)
                .joins([evidence_of(kind, metadata)]),
        );
    }
}

/// Result of the selectors of one request, computed once for all requests that are alike.
#[derive(Clone)]
enum Verdict {
    Good,
    /// A selector does not compile.
    Invalid(String),
    /// A selector fails on so many devices; this is the first.
    Fails {
        device: DeviceId,
        slice: Str,
        devices: usize,
        error: String,
    },
}

/// Compiles and evaluates the selectors of classes and requests on every device.
struct SelectorCheck<'a> {
    selectors: ClassSelectors,
    /// Of the newest generation of each pool.
    devices: Vec<(DeviceId, Str, SelectableDevice)>,
    /// Which devices belong to a class.
    of_class: BTreeMap<Str, Vec<u32>>,
    verdicts: HashMap<(&'a Str, Vec<&'a Str>), Verdict>,
    /// Classes whose devices are not all known, because the command has spent its work on expressions.
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
            // Devices of an unknown class are unknown, but a selector that does not compile never does.
            self.of_class.clear();
        }
        let mut given_up = 0;
        for (kind, metadata, spec) in askers(look.cluster) {
            for request in requests_of(spec) {
                if request.asked.selectors.is_empty() {
                    continue;
                }
                match self.verdict(request.asked) {
                    None => given_up += 1,
                    Some(verdict) => report(look, kind, metadata, &request, verdict),
                }
            }
        }
        if given_up > 0 {
            let text = words::not_evaluated(given_up, "request", "requests");
            look.found.unknown.add(text);
        }
    }

    /// Checks the classes, and determines which devices belong to them.
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
            let text = words::not_evaluated(self.not_judged.len(), "class", "classes");
            look.found.unknown.add(text);
        }
        for class in look.cluster.classes() {
            let about = || Subject::of(Kind::DeviceClass, &class.metadata);
            let show = || show(Kind::DeviceClass, &class.metadata);
            if let Some(error) = self.compile_error(&class.spec.selectors) {
                look.add(
                    Finding::new(Code::SelectorInvalid, about(), words::class_is_invalid(&error))
                        .advice(words::CORRECT_CLASS)
                        .look(show()),
                );
            } else if let Some((first, devices, error)) = fails.remove(&class.metadata.name) {
                let (device, slice, _) = &self.devices[first];
                let message = words::class_fails(&error, device, devices);
                look.add(
                    Finding::new(Code::SelectorFails, about(), message)
                        .advice(words::CORRECT_CLASS)
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
            let fault = match &selector.cel {
                None => Fault::NoExpression,
                Some(cel) => {
                    let selector = self.selectors.selector(&cel.expression);
                    Fault::Invalid(selector.program().err()?.to_string())
                }
            };
            Some(words::selector_fault(index, &fault))
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

    /// Whether selectors of a request fail on a device of the class: the class comes first, then they do in their order, up to the first
    /// that does not match.
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
                        let error = words::selector_fault(index, &Fault::Fails(error.to_string()));
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

fn report(look: &mut Look<'_>, kind: Kind, metadata: &Meta, request: &Request<'_>, verdict: Verdict) {
    let about = Subject::of(kind, metadata);
    let helped = |finding: Finding| {
        let advice = words::correct_request(&changed_for(look, kind, metadata));
        finding.advice(advice).look(show(kind, metadata))
    };
    match verdict {
        Verdict::Good => {}
        Verdict::Invalid(error) => {
            let message = words::request_is_invalid(request, &error);
            let finding = helped(Finding::new(Code::SelectorInvalid, about, message));
            look.add(finding);
        }
        Verdict::Fails {
            device,
            slice,
            devices,
            error,
        } => {
            let message = words::request_fails(request, &error, &device, devices);
            let finding = helped(Finding::new(Code::SelectorFails, about, message)).joins([
                evidence_of(kind, metadata),
                scoped_key(Kind::DeviceClass, &request.asked.device_class_name),
                scoped_key(Kind::ResourceSlice, &slice),
            ]);
            look.add(finding);
        }
    }
}

/// The object unchanged.
fn show(kind: Kind, metadata: &Meta) -> Result<Script, NoCommand> {
    let get = Command::kubectl("get").about(kind, &metadata.key());
    get.args(&["-o", "yaml"]).done()
}

/// Pods whose claims cannot be found or created.
fn pods(look: &mut Look<'_>) {
    let cluster = look.cluster;
    let quotas = Quotas::of(cluster);
    let mut unattended: Vec<(&Arc<Pod>, Time)> = Vec::new();
    let mut ungated: BTreeMap<Gate, Vec<&Arc<Pod>>> = BTreeMap::new();
    for pod in cluster.pods() {
        if is_done(pod) {
            continue;
        }
        let namespace = &pod.metadata.namespace;
        let refused = quotas.refused_of_pod(pod);
        if refused.is_none()
            && look.wants(Code::ClaimNotMade)
            && let Some(since) = not_made_since(look, pod)
        {
            unattended.push((pod, since));
        }
        if let Some(gate) = missing_gate(cluster, pod).filter(|_| look.wants(Code::ClaimNotMade)) {
            ungated.entry(gate).or_default().push(pod);
        }
        if refused.is_none()
            && look.wants(Code::ClaimNotMade)
            && let Some(why) = refused_by_server(cluster, pod)
        {
            let message = words::claim_not_accepted(&why);
            let finding = Finding::new(Code::ClaimNotMade, Subject::pod(pod), message);
            look.add(finding.advice(words::DO_AS_SAID).joins([pod_key(pod.key())]));
        }
        if let Some((template, refusal)) = refused {
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
    not_made(look, &unattended);
    for (gate, pods) in ungated {
        let message = words::claim_needs_gate(gate, pods.len() - 1);
        let finding = Finding::new(Code::ClaimNotMade, Subject::pod(pods[0]), message);
        let keys = pods.iter().map(|pod| pod_key(pod.key()));
        look.add(finding.advice(words::enable_in_controller(gate)).joins(keys));
    }
}

/// Why the API server refuses the claim of a pod, in the claim controller's words of after its template was made.
fn refused_by_server(cluster: &Cluster, pod: &Pod) -> Option<String> {
    let made = unmade(cluster, pod).find_map(|(_, unmade)| match (unmade.lacks, unmade.next) {
        (Lacks::Name, Next::Make(template)) => Some(template.metadata.creation_timestamp),
        _ => None,
    })?;
    let word = of_claim_controller(cluster, pod, made)?;
    refused_creation(&word.said).map(str::to_owned)
}

/// The gate that keeps kube-controller-manager from making a claim for a pod, as it is known to have it off.
fn missing_gate(cluster: &Cluster, pod: &Pod) -> Option<Gate> {
    let is_known = |gate: &Gate| {
        let state = cluster.environment().gate(Component::ControllerManager, *gate);
        let mut events = cluster.events_of(Kind::Pod, &pod.metadata).into_iter();
        state.evidence != Evidence::Assumed
            || events.any(|event| event.reason == CREATION_EVENT && event.message.contains(gate.name()))
    };
    let gate = unmade(cluster, pod).find_map(|(_, unmade)| match unmade.next {
        Next::GateOff(gate, _) => Some(gate),
        _ => None,
    });
    gate.filter(is_known)
}

/// Returns since when the claim controller has neither made the claims of a pod nor said why not. What asks for admin access may be refused.
fn not_made_since(look: &Look<'_>, pod: &Pod) -> Option<Time> {
    let namespace = &pod.metadata.namespace;
    if pod.metadata.is_deleting() || look.is_hidden(Kind::ResourceClaim, namespace) {
        return None;
    }
    unmade(look.cluster, pod).find_map(|(_, unmade)| {
        let (Lacks::Name, Next::Make(template)) = (unmade.lacks, unmade.next) else {
            return None;
        };
        let has_admin_access = |asked: Request<'_>| asked.asked.admin_access == Some(true);
        let is_refused = requests_of(&template.spec.spec).any(has_admin_access);
        unmade_since(look.cluster, pod, template, look.request.now).filter(|_| !is_refused)
    })
}

/// Pods whose claims the claim controller does not make: together, since what keeps it from one keeps it from all.
fn not_made(look: &mut Look<'_>, pods: &[(&Arc<Pod>, Time)]) {
    let Some((first, since)) = pods.iter().min_by_key(|(pod, since)| (*since, pod.key())) else {
        return;
    };
    let message = words::claim_not_made(*since, pods.len() - 1);
    let get = Command::kubectl("get").arg("pods").namespace("kube-system");
    let finding = Finding::new(Code::ClaimNotMade, Subject::pod(first), message);
    look.add(
        finding
            .advice(words::START_CLAIM_CONTROLLER)
            .look(
                get.option("--selector", "component=kube-controller-manager")
                    .done(),
            )
            .joins(pods.iter().map(|(pod, _)| pod_key(pod.key()))),
    );
}

fn missing(look: &mut Look<'_>, pod: &Pod, object: (Kind, Key)) {
    let (kind, key) = &object;
    let message = words::reference_is_missing(pod, *kind, key);
    // One of that name that is created by hand would not be the pod's.
    let is_generated = unmade(look.cluster, pod).any(|(_, unmade)| unmade.lacks == Lacks::Claim(key.clone()));
    let advice = words::create_reference(pod, *kind, key, is_generated);
    look.add(
        Finding::new(Code::ClaimMissing, Subject::pod(pod), message)
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

/// A claim that cannot be created, because it requests more than a quota leaves.
fn blocked(look: &mut Look<'_>, pod: &Pod, template: &Meta, refusal: &Refusal<'_>, remedy: Remedy) {
    let quota = &refusal.quota.metadata;
    let message = words::quota_refuses(template, refusal);
    look.add(
        Finding::new(Code::QuotaExceeded, Subject::pod(pod), message)
            .remedy(remedy)
            .look(describe(Kind::ResourceQuota, &quota.key()))
            .joins([
                pod_key(pod.key()),
                (Kind::ResourceClaimTemplate, template.key()),
                (Kind::ResourceQuota, quota.key()),
            ]),
    );
}
