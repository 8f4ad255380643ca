//! What the nodes say: the verdict for each of them, why none of them takes the subject, and what would help.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::absence::{Absence, ForNodes};
use super::coming::{Unpublished, coming_node, unknown_devices};
use super::diagnosis::{Answer, Beside, Cause, Diagnosis, NodeDiagnosis, NodeGroup, Reason};
use super::fact::{Brief, Evidence, Fact, Limited};
use super::helped::Helped;
use super::items::{ClusterVerdict, FilterCount, FixItem};
use super::word::SILENT_SECONDS;
use super::{Explained, absence, groups, namesake, outdated, reasons, shortage, unserved, waiting, words};
use crate::allocation::{Settings, Trust, caveats, evicting_at_once, is_open, timeouts};
use dra_allocator::devices::{ClassSelectors, RuledOut, rule_matches_pool};
use dra_allocator::{ErrorSubject, Failure};
use dra_cel::{Terms, guarded};
use dra_model::{
    Change, Claim, Component, Gate, Key, Kind, Node, Object, Pod, PoolId, Quantity, Str, Taint, TaintRule,
    lookup,
};
use dra_rules::kubelet::{BrokenLink, Stages};
use dra_rules::reservation::{self, Origin};
use dra_rules::scheduling::{
    Cycle, Fix, Refusal, Start, Subject, Verdict, classes_of_resources, fits_on_new, implicit_class,
    judge_all, makes_room, message, pod_requests, smallest,
};

/// Pods that are tried to be run on another node.
const MOST_MOVED: usize = 16;

impl Explained<'_> {
    /// Judges all nodes, and says what follows for the subject.
    pub(super) fn nodes(&self, report: &mut Diagnosis, cycle: &Cycle<'_>, trust: &mut Trust) {
        let nodes: Vec<&Arc<Node>> = self.cluster().nodes().collect();
        let settings = self.settings;
        let answers = judge_all(cycle, &nodes, settings.budget, settings.observer, settings.run);
        trust.see(answers.iter().map(|(node, judgment)| (*node, judgment)));
        report.notes.append(&mut trust.notes);
        let timeouts = timeouts(cycle, &answers, settings);
        trust.see_time(timeouts.is_feared);
        report.notes.extend(timeouts.note);
        let open = answers.iter().filter(|(_, judgment)| is_open(judgment));
        let open: Vec<Str> = open.map(|(node, _)| node.metadata.name.clone()).collect();
        let verdicts: Vec<(&Arc<Node>, Verdict)> = answers
            .into_iter()
            .map(|(node, judgment)| (node, judgment.verdict))
            .collect();
        let fitting = verdicts.iter().filter_map(|(node, verdict)| match verdict {
            Verdict::Fits(granted) => Some((*node, granted.as_slice())),
            _ => None,
        });
        let pod = self.pod.map(|pod| &**pod);
        let evicting = || evicting_at_once(self.cluster(), fitting.clone(), self.settings.now);
        let evicted = pod.and_then(|pod| Some((pod, evicting()?)));
        report.notes.splice(..0, caveats(self.cluster(), pod, fitting));
        let selectors = ClassSelectors::of(self.cluster());
        let looks = reasons::Looks::new(&selectors);
        report.nodes = verdicts
            .iter()
            .map(|(node, verdict)| NodeDiagnosis::new(cycle, node, verdict, &looks))
            .collect();
        report.filters = FilterCount::of(&report.nodes);
        let not_ready = cycle.not_ready().into_iter();
        let not_ready = not_ready.map(|(claim, state)| Reason::of_claim(claim.key(), Fact::Binding(state)));
        report.reasons.extend(not_ready);
        let full = cycle.full_claims().map(|claim| claim.key());
        let full = full.map(|key| Reason::of_claim(key, Fact::TooManyConsumers));
        report.reasons.extend(full);
        let mut incomplete = None;
        let is_sure = |node: &Node| !open.contains(&node.metadata.name);
        let fitting = verdicts
            .iter()
            .filter(|(node, verdict)| verdict.fits() && is_sure(node));
        let fits = fitting.count();
        let any = |is: fn(&Verdict) -> bool| verdicts.iter().any(|(_, verdict)| is(verdict));
        let gave_up = any(|verdict| matches!(verdict, Verdict::GaveUp));
        let exhausted = self.cluster().meter().exhausted();
        let error = verdicts.iter().find_map(|(_, verdict)| match verdict {
            Verdict::Error(error) => Some(error),
            _ => None,
        });
        if let Some(error) = error {
            report.message = message(cycle, &verdicts).and_then(|message| message.text().map(str::to_owned));
            report.conclude(Answer::Error);
            match &error.failure {
                Failure::Pool(pool) => {
                    report.add_incomplete(self.cluster(), &pool.0, self.settings.now);
                }
                Failure::Disabled(gate) => {
                    let minor = self.cluster().environment().emulated_minor;
                    let fix = FixItem::enable(*gate, &[Component::Scheduler], minor);
                    report.fixes.push(fix);
                }
                Failure::NoSuchKey(_) => report.fixes.extend(self.guard_class(&error.subject)),
                _ => {}
            }
            report.cause = Some(Cause::Error(error.clone()));
            waiting::add_error(report);
        } else if fits > 0 && !(gave_up && exhausted.is_some()) {
            self.fitting(report, cycle, &verdicts, (fits, nodes.len()), evicted);
            return;
        } else if gave_up {
            report.conclude(Answer::GaveUp(exhausted));
            return;
        } else if let Some(first) = open.first() {
            report.conclude(Answer::OpenNode(first.clone()));
            return;
        } else {
            report.message = message(cycle, &verdicts).and_then(|message| message.text().map(str::to_owned));
            report.conclude(Answer::Nowhere(nodes.len()));
            if any(|verdict| matches!(verdict, Verdict::Refused(Refusal::LeftBehind)))
                && let Some(left) = cycle.left_behind()
            {
                return self.once_deleted(report, left);
            }
            incomplete = self.nowhere(report, cycle, &selectors);
            if matches!(report.cause, Some(Cause::Republishing(_))) {
                return;
            }
        }
        self.releases(report, cycle, &verdicts);
        self.fixes(report);
        self.before_ends(report, incomplete);
    }

    /// Says what follows once kube-scheduler has deleted the claim that its earlier attempt left: that it fits, or why it does not even then.
    fn once_deleted(&self, report: &mut Diagnosis, left: &Claim) {
        let key = left.key();
        let mut cluster = self.cluster().clone();
        cluster.apply(Change::Delete(Kind::ResourceClaim, key.clone()));
        let scheduler = self.scheduler.fork(&cluster);
        let mut found = Diagnosis::new(report.target.clone());
        let explained = Explained {
            scheduler: &scheduler,
            subject: self.subject.clone(),
            ..*self
        };
        explained.start(&mut found, &self.subject.start(&scheduler));
        if found.verdict() == ClusterVerdict::Fits {
            let fitting = found.nodes.into_iter().filter(|node| node.fits);
            waiting::add_deletion(report, &key, fitting.map(|node| node.node).collect());
            let created = left.metadata.creation_timestamp;
            let lasts = |created| self.settings.now.since(created).as_secs() >= SILENT_SECONDS;
            report
                .fixes
                .push(FixItem::delete_left(&key, created.is_some_and(lasts)));
            report.cause = Some(Cause::Alike(Brief::Fact(Fact::LeftBehind(key))));
        } else {
            let was = std::mem::replace(report, found);
            report.message = was.message;
            report.said = was.said;
            report.events = was.events;
            report.not_simulated = was.not_simulated;
            report.notes.splice(..0, was.notes);
            report.notes.push(words::left_behind(&key));
        }
    }

    /// Says of a subject that fits on some of the nodes what may still keep it from running there.
    fn fitting(
        &self,
        report: &mut Diagnosis,
        cycle: &Cycle<'_>,
        verdicts: &[(&Arc<Node>, Verdict)],
        (fits, all): (usize, usize),
        evicted: Option<(&Pod, Taint)>,
    ) {
        match cycle.full_claims().next() {
            // The scheduler learns of it only when it writes.
            Some(full) => {
                report.conclude(Answer::Full(fits, all, full.key()));
                report.cause = Some(Cause::TooManyConsumers(full.key()));
                report.notes.push(words::FULL.to_owned());
                report.fixes.extend(FixItem::of_former(self.cluster(), full));
            }
            None if let Some((pod, taint)) = evicted => {
                report.conclude(Answer::Evicted(fits, all));
                let fix = FixItem::of_toleration(self.cluster(), pod, &taint);
                report.fixes.push(fix);
            }
            None => report.conclude(Answer::Fits(fits, all)),
        }
        let mut fitting = verdicts.iter().filter(|(_, verdict)| verdict.fits());
        if self.pod.is_none() && fitting.all(|(node, _)| node.spec.unschedulable) {
            report.notes.push(words::CORDONED_ONLY.to_owned());
        }
        for (claim, state) in cycle.not_ready() {
            report.add_binding(self.cluster(), claim, &state);
        }
    }

    /// Says why it fits on no node, what waits for what, and what drivers and kubelets have to do with it. Returns a pool without some of its slices, if
    /// that is not the cause.
    fn nowhere(
        &self,
        report: &mut Diagnosis,
        cycle: &Cycle<'_>,
        selectors: &ClassSelectors,
    ) -> Option<PoolId> {
        report.node_groups = NodeGroup::of(&report.nodes);
        report.cause = Some(shortage::cause(report, cycle, selectors));
        let pools = groups::facts(&report.nodes).filter_map(|fact| match fact {
            Fact::PoolIncomplete(pool, _) => Some(pool.clone()),
            _ => None,
        });
        let mut incomplete = pools.min();
        let is_cause = matches!(
            report.cause,
            Some(Cause::Alike(
                Brief::Slices(..) | Brief::Fact(Fact::PoolIncomplete(..))
            ))
        );
        if let Some(pool) = incomplete.take_if(|_| is_cause) {
            report.add_incomplete(self.cluster(), &pool, self.settings.now);
        }
        if let Some(Cause::AllocatedNowhere(key, selector)) = &report.cause {
            let fix = FixItem::of_labels(self.cluster(), key, selector);
            report.fixes.push(fix);
        }
        if let Some(Cause::Alike(Brief::Fact(Fact::NotShared(claim)))) = &report.cause {
            let fix = self
                .pod
                .map(|pod| FixItem::share_no_claim(pod, claim, words::FOR_ONE_POD));
            report.fixes.extend(fix);
        }
        if let Some(Cause::NotAll(not_all)) = &report.cause
            && not_all.in_use > 0
        {
            report.notes.push(words::ADMIN_ACCESS.to_owned());
        }
        if let Some(Cause::Filtered(node, .., why)) = &report.cause {
            // It is the one of its group that matters.
            for group in &mut report.node_groups {
                group.nodes.sort_by_key(|other| other != node);
            }
            let cluster = self.cluster();
            let pages = why
                .iter()
                .find_map(|why| FixItem::of_huge_pages(cluster, node, why));
            report.fixes.extend(pages);
            let had = |pod: &&Arc<Pod>| shortage::nodes_of_siblings(cluster, pod).contains(node);
            let pod = self.pod.filter(had).zip(cluster.node(node));
            report
                .fixes
                .extend(pod.and_then(|(pod, node)| FixItem::of_selector(pod, node)));
        }
        waiting::add(report, self);
        self.skipped_operations(report);
        report.notes.extend(self.rounded(report));
        if let Some((note, fix)) = self.took_all(report) {
            report.notes.push(note);
            report.fixes.extend(fix);
        }
        if let Some(found) = unserved::republishing(report, cycle, selectors, self.settings.now) {
            waiting::add_republishing(report, &found);
            if found.is_cause {
                report.cause = Some(Cause::Republishing(found));
                return None;
            }
            report.notes.push(words::republishing(&found));
            report.fixes.extend(FixItem::await_publishing(&found.nodes));
        }
        outdated::add(report, cycle, selectors);
        let is_of_resources = |node: &NodeDiagnosis| node.plugin == Some("NodeResourcesFit");
        if report.nodes.iter().any(is_of_resources)
            && let Some(pod) = self.pod
            && let Some(cause) = shortage::unoffered(self.cluster(), pod, selectors)
        {
            if let Cause::Unoffered(resource, _) = &cause {
                waiting::add_unoffered(report, resource);
                if let Some(class) = implicit_class(resource) {
                    let missing = Key::new("", class);
                    let found = report.tell_namesake(self.cluster(), Kind::DeviceClass, &missing);
                    if found.is_none() && self.cluster().class(class).is_none() {
                        let all = self.cluster().classes().map(|class| &class.metadata.name);
                        report.notes.push(words::other_classes(class, all));
                    }
                }
            }
            report.cause = Some(cause);
        }
        if let Some(Cause::Alike(Brief::Fact(Fact::RuledOut(_, Evidence::Lacking(lacking))))) = &report.cause
        {
            report.notes.extend(words::keeps_alignment(lacking));
        }
        self.drivers(report, cycle, selectors);
        report
            .notes
            .extend(unserved::lost_devices(report, cycle, selectors));
        self.shared_resources(report);
        self.rules_of_taints(report);
        groups::add_same_pools(report, self.cluster());
        if let Some(hidden) = shortage::hidden_by_plugin(report, self.cluster(), selectors) {
            let fix = FixItem::stop_plugin(&hidden.node, Some(&hidden.resource), &hidden.users);
            report.fixes.push(fix);
            report.add_beside(Beside::Hidden(hidden));
        }
        incomplete
    }

    /// Names the component that keeps devices off which skip node operations, and enables the gate there, where that is the cause.
    fn skipped_operations(&self, report: &mut Diagnosis) {
        let skips = |fact: &Fact| matches!(fact, Fact::RuledOut(RuledOut::NodeOperations, _));
        if !matches!(&report.cause, Some(Cause::Alike(Brief::Fact(fact))) if skips(fact)) {
            return;
        }
        let gate = Gate::DRAOptionalNodeOperations;
        let is_on = |component| self.cluster().environment().enabled(component, gate);
        let mut pools = BTreeSet::new();
        let mut nodes = BTreeSet::new();
        for node in &report.nodes {
            let skipping = node.reasons.iter().filter(|reason| skips(&reason.fact));
            for pool in skipping.filter_map(|reason| Some(reason.device.as_ref()?.pool_id())) {
                pools.insert(pool);
                nodes.insert(node.node.clone());
            }
        }
        let nodes: Vec<Str> = nodes.into_iter().collect();
        report.fixes.push(if is_on(Component::Scheduler) {
            report.cause = Some(Cause::SkipsOperations(pools, Component::Kubelet, nodes.clone()));
            FixItem::enable_in_kubelets(gate, &nodes)
        } else {
            report.cause = Some(Cause::SkipsOperations(pools, Component::Scheduler, nodes));
            let minor = self.cluster().environment().emulated_minor;
            FixItem::enable(gate, &[Component::Scheduler], minor)
        });
    }

    /// Puts what harms no pod before the fixes that end pods: a node that is about to have devices, one that an autoscaler could add, and a driver
    /// that publishes the rest of a pool.
    fn before_ends(&self, report: &mut Diagnosis, incomplete: Option<PoolId>) {
        let mut proven = report.fixes.iter().filter(|fix| fix.proven && !fix.risky);
        if proven.all(|fix| matches!(fix.kind, "ReleaseClaim" | "AddNode" | "RecreatePod")) {
            report.repair_devices(self.cluster());
            if let Some(pool) = incomplete {
                report.add_incomplete(self.cluster(), &pool, self.settings.now);
                report.fixes.rotate_right(1);
            }
            if let Some(pod) = self.pod {
                self.add_node(report, pod);
            }
            let unpublished = Unpublished::of(self.cluster(), self.settings.now);
            self.restore_node(report, &unpublished);
            let starting = self.await_new_nodes(report, &unpublished);
            waiting::add_starting(report, &starting);
            self.await_updated_node(report, &unpublished);
        }
    }

    /// Notes which of several classes counts that name an extended resource of the pod.
    fn shared_resources(&self, report: &mut Diagnosis) {
        let Some(pod) = self.pod else { return };
        let environment = self.cluster().environment();
        if !environment.enabled(Component::Scheduler, Gate::DRAExtendedResource) {
            return;
        }
        let requests = pod_requests(pod);
        for (resource, classes) in classes_of_resources(self.cluster()) {
            if let [first, others @ ..] = classes.as_slice()
                && !others.is_empty()
                && requests.contains_key(resource)
            {
                report.notes.push(words::shared_class(resource, first, others));
            }
        }
    }

    /// Notes which devices the rules taint that set untolerated taints.
    fn rules_of_taints(&self, report: &mut Diagnosis) {
        let facts = groups::facts(&report.nodes);
        let taints: Vec<&Taint> = facts
            .filter_map(|fact| match fact {
                Fact::RuledOut(RuledOut::Tainted, Evidence::Taints(taints)) => Some(taints),
                _ => None,
            })
            .flatten()
            .collect();
        let own = self.pod.map(|pod| &pod.spec.tolerations);
        let misplaced = own.and_then(|own| {
            let is_named = |taint: &Taint| own.iter().any(|known| known.key == taint.key);
            let mut named = taints.iter().filter(|taint| is_named(taint));
            named.find(|taint| own.tolerate(taint)).copied().cloned()
        });
        let is_of = |rule: &&Arc<TaintRule>| {
            let Taint {
                key, value, effect, ..
            } = &rule.spec.taint;
            let mut all = taints.iter();
            all.any(|taint| (&taint.key, &taint.value, &taint.effect) == (key, value, effect))
        };
        let rules: Vec<&Arc<TaintRule>> = self.cluster().rules().filter(is_of).collect();
        for rule in &rules {
            let selector = rule.spec.device_selector.as_ref();
            let of_all = selector.filter(|selector| selector.pool.is_none() && selector.device.is_none());
            match (of_all, &report.cause) {
                (Some(selector), Some(Cause::TooFew(.., Some(lost)))) if lost.tainted > 0 => {
                    let name = rule.metadata.name.clone();
                    report.add_beside(Beside::TaintsAll(name, selector.driver.clone()));
                }
                _ => report.notes.push(words::tainting(rule)),
            }
        }
        if let Some(taint) = misplaced {
            let has_it = |reason: &Reason| matches!(&reason.fact, Fact::RuledOut(RuledOut::Tainted, Evidence::Taints(taints)) if taints.contains(&taint));
            let nodes = report.nodes.iter().filter(|node| node.reasons.iter().any(has_it));
            let nodes = nodes.map(|node| node.node.clone()).collect();
            report.add_beside(Beside::Misplaced(taint, nodes));
        }
        let narrowed = rules.into_iter().filter(|_| self.has_fixes);
        report
            .fixes
            .extend(narrowed.filter_map(|rule| self.narrowed(rule)));
    }

    /// Narrows a rule that names a device of several pools to one of them, if it fits then.
    fn narrowed(&self, rule: &Arc<TaintRule>) -> Option<FixItem> {
        let selector = rule.spec.device_selector.as_ref()?;
        let device = selector.device.as_ref().filter(|_| selector.pool.is_none())?;
        let pools = self.cluster().pools();
        let pools = pools.filter(|pool| rule_matches_pool(rule, &pool.id) && pool.device(device).is_some());
        let pools: Vec<PoolId> = pools.map(|pool| pool.id.clone()).collect();
        // With the first one all others are free of the taint, with the second one the first is.
        pools.iter().take(2).filter(|_| pools.len() > 1).find_map(|pool| {
            let mut narrowed = TaintRule::clone(rule);
            let selector = narrowed.spec.device_selector.as_mut()?;
            selector.pool = Some(pool.pool.clone());
            let mut cluster = self.cluster().clone();
            cluster.apply(Change::Put(Object::DeviceTaintRule(Arc::new(narrowed))));
            let scheduler = self.scheduler.fork(&cluster);
            let Start::Cycle(cycle) = self.subject.start(&scheduler) else {
                return None;
            };
            let nodes: Vec<&Arc<Node>> = cluster.nodes().collect();
            let Settings {
                budget,
                observer,
                run,
                ..
            } = *self.settings;
            let judged = judge_all(&cycle, &nodes, budget, observer, run).into_iter();
            let fitting = judged.filter(|(_, judgment)| judgment.verdict.fits());
            let fitting: Vec<Str> = fitting.map(|(node, _)| node.metadata.name.clone()).collect();
            (!fitting.is_empty()).then(|| FixItem::narrow_rule(rule, device, &pools, fitting))
        })
    }

    /// Finds the driver that is to publish devices which the pod lacks.
    fn drivers(&self, report: &mut Diagnosis, cycle: &Cycle<'_>, selectors: &ClassSelectors) {
        let mut fix_of_class = match &report.cause {
            Some(Cause::Absent(Absence::Unreached {
                pool,
                nodes: ForNodes::Named(named),
                ..
            })) => Some(FixItem::of_named(self.cluster(), &pool.driver, named)),
            _ => None,
        };
        if let Some(Cause::Absent(Absence::OtherClasses(class, ..) | Absence::Unpublished(class))) =
            &report.cause
        {
            if let Some((driver, other)) = namesake::misspelled_driver(self.cluster(), class) {
                report
                    .notes
                    .push(words::misspelled_driver(class, &driver, &other));
            } else if let stages = Stages::of(self.cluster(), self.settings.now)
                && !absence::only_driver(self.cluster(), class)
                    .is_some_and(|driver| unserved::is_starting(report, &stages, &driver))
            {
                fix_of_class = FixItem::of_class(self.cluster(), class);
            }
        }
        let fix = match unserved::unserved(report, cycle, selectors, self.settings.now) {
            Some((unserved, is_cause)) => {
                let unscaled = self.pod.and_then(|pod| unknown_devices(self.cluster(), pod));
                let unscaled = unscaled.map(|event| event.component().clone());
                let (fix, beside) = match (&unserved.link, unscaled) {
                    (BrokenLink::Unselected(set, asked), Some(autoscaler)) => {
                        let fix = FixItem::scale_group(set, asked, &autoscaler);
                        (fix, Some(Beside::NotScaledUp(autoscaler)))
                    }
                    _ => {
                        let of_daemon = FixItem::of_daemon(&unserved, self.pod).filter(|_| is_cause);
                        let missing =
                            || FixItem::of_missing_labels(self.cluster(), &unserved, self.settings.now);
                        let fix = of_daemon.or_else(missing);
                        (fix.unwrap_or_else(|| FixItem::serve(&unserved)), None)
                    }
                };
                if is_cause {
                    report.cause = Some(Cause::Unserved(unserved));
                } else {
                    report.add_fault(Cause::Unserved(unserved));
                }
                if let Some(beside) = beside {
                    report.add_beside(beside);
                }
                Some(fix)
            }
            None => fix_of_class,
        };
        report.fixes.extend(fix);
        if let Some((pool, fact)) = unserved::invalid_pool(report, cycle, selectors) {
            report.fixes.push(FixItem::correct_pool(&pool));
            report.add_fault(fact.into());
        }
    }

    /// That the policy of the devices makes more of the amount of a capacity that is requested, where that is short.
    fn rounded(&self, report: &Diagnosis) -> Option<String> {
        let short = report.node_groups.iter().find_map(|group| match &group.reason {
            Some(Brief::Amounts(Limited::Capacity(name), amounts)) => Some((name, &amounts.wanted)),
            _ => None,
        });
        let (name, wanted) = short?;
        let claims = self.subject.own_claims(self.cluster());
        let mut specs = claims.iter().flat_map(|claim| claim.spec.devices.requests.iter());
        let asked = specs.find_map(|request| {
            let mut specs = request.exactly.iter().chain(&request.first_available);
            specs.find_map(|spec| lookup(&spec.capacity.as_ref()?.requests, name))
        })?;
        (asked < wanted).then(|| words::rounded(name, asked, wanted))
    }

    /// That a claim has all of a capacity that is short, as it requests no amount of it, and what lets it have less.
    fn took_all(&self, report: &Diagnosis) -> Option<(String, Option<FixItem>)> {
        let (holders, shortage) = groups::facts(&report.nodes).find_map(|fact| match fact {
            Fact::RuledOut(_, Evidence::Held(by, Some(shortage))) if shortage.set.is_none() => {
                Some((by, shortage))
            }
            _ => None,
        })?;
        let took_all = |claim: &&Arc<Claim>| {
            claim.results().iter().any(|result| {
                let asks_for_none = groups::spec(claim, &result.request).is_some_and(|spec| {
                    let capacity = spec.capacity.as_ref();
                    capacity.is_none_or(|capacity| capacity.requests.is_empty())
                });
                asks_for_none && lookup(&result.consumed_capacity, &shortage.name) == Some(&shortage.total)
            })
        };
        let mut holders = holders.iter().filter_map(|key| self.cluster().claim(key));
        let holder = holders.find(took_all)?;
        let maker = Origin::of(self.cluster(), holder).object(&holder.key());
        let mut rest = shortage.total.clone();
        rest.sub(&shortage.wanted);
        let users = reservation::users(self.cluster(), holder).unwrap_or_default();
        let fix = (rest > Quantity::default() && !users.is_empty())
            .then(|| FixItem::ask_amount(&maker, &shortage.name, &rest, users.iter().map(|pod| pod.key())));
        let note = words::took_all(&holder.key(), &maker, &shortage.name, &shortage.total);
        Some((note, fix))
    }

    /// Has a class leave out the devices that lack what its selector reads, on which it fails.
    fn guard_class(&self, failed: &ErrorSubject) -> Option<FixItem> {
        let ErrorSubject::ClassSelector(class, place, _) = failed else {
            return None;
        };
        let selector = self.cluster().class(class)?.spec.selectors.get(*place)?;
        let written = selector.cel.as_ref()?.expression.to_string();
        let places = Terms::of(&written).iter().count();
        let changed = (0..places).fold(written.clone(), |text, place| {
            let terms = Terms::of(&text);
            let term = terms.iter().nth(place).and_then(guarded);
            term.and_then(|term| terms.with(place, &term)).unwrap_or(text)
        });
        (changed != written).then(|| FixItem::guard_class(class, &changed))
    }

    /// Searches the changes that help.
    pub(super) fn fixes(&self, report: &mut Diagnosis) {
        if !self.has_fixes {
            return;
        }
        let mut fixes = smallest(
            self.scheduler,
            &self.subject,
            &self.effort(report.verdict() == ClusterVerdict::Error),
        );
        // A claim is not freed of those that it is for.
        if let Subject::Claims(keys) = &self.subject {
            let ends_user =
                |fix: &Fix| matches!(fix, Fix::Release { claim, in_use: true } if keys.contains(claim));
            fixes.found.retain(|found| !found.changes.iter().any(ends_user));
        }
        let is_new = match &self.subject {
            Subject::Pod(pod) => pod.metadata.is_of_manifest(),
            Subject::Claims(keys) => {
                let mut claims = keys.iter().filter_map(|key| self.cluster().claim(key));
                claims.any(|claim| claim.metadata.is_of_manifest())
            }
        };
        let helped = Helped {
            cluster: self.cluster(),
            pod: self.pod,
            is_recreated: false,
            is_new,
            enough: report.enough.clone(),
            now: self.settings.now,
        };
        // All of a group have to fit together.
        let is_alone = self.pod.is_none_or(|pod| pod.pod_group().is_none());
        // Devices of a new node would count as in use, too.
        let is_alone = is_alone && !matches!(report.cause, Some(Cause::Besides(_, Beside::SamePool(_))));
        let new_node = |nodes: &[Str]| {
            let nodes = if is_alone { nodes } else { &[] };
            fits_on_new(self.scheduler, &self.subject, nodes, &self.effort(false)).cloned()
        };
        // It comes before those that end pods with devices.
        let place = report.fixes.len();
        let room = self.make_room(report);
        report.fixes.extend(room);
        let has_room = report.fixes.len() > place;
        report.add_fixes(&helped, &fixes, new_node);
        if has_room {
            let fix = report.fixes.remove(place);
            let is_end = |fix: &FixItem| matches!(fix.kind, "ReleaseClaim" | "AddNode") || fix.sets_up_node();
            let end = report.fixes.iter().position(is_end);
            report.fixes.insert(end.unwrap_or(report.fixes.len()), fix);
        }
        report.prove_limit(self.cluster(), &fixes);
        // What ends pods with hardware of a device plugin is not tested.
        let is_plugin = |fix: &FixItem| fix.kind == "StopPlugin";
        let is_other = |fix: &FixItem| fix.proven && !fix.risky && fix.kind != "AddNode";
        if matches!(&report.cause, Some(Cause::Besides(_, Beside::Hidden(hidden))) if !hidden.users.is_empty())
            && report.fixes.iter().any(is_other)
            && let Some(place) = report.fixes.iter().position(is_plugin)
        {
            report.fixes[place..].rotate_left(1);
        }
    }

    /// Has a pod without devices run on another node, where that is enough.
    fn make_room(&self, report: &mut Diagnosis) -> Option<FixItem> {
        let pod = self.pod.filter(|pod| !pod.metadata.is_of_manifest())?;
        if coming_node(self.cluster(), pod, self.settings.now).is_some() {
            return None;
        }
        let effort = self.effort(false);
        let nodes = report.waiting.as_ref().map_or(&[][..], |waiting| &waiting.nodes);
        let others = report.enough.iter().filter_map(|key| self.cluster().pod(key));
        let (key, fix) = others.take(MOST_MOVED).find_map(|other| {
            let (node, elsewhere) = makes_room(self.scheduler, pod, other, nodes, &effort)?;
            let fix = FixItem::make_room(self.cluster(), pod, other, node, &elsewhere)?;
            Some((other.key(), fix))
        })?;
        report.ended.insert(key);
        let ahead = report.ahead.len();
        Some(FixItem { ahead, ..fix })
    }
}
