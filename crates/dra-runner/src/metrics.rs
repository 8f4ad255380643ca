//! Metrics of a run, for Prometheus. Where kube-controller-manager has a metric for it, name and labels are the same.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tokio::time::Instant;

use super::workqueue_metrics::{WorkqueueMetrics, register, register_as};
use dra_model::{Claim, Kind};
use dra_rules::controllers::{ControllerName, Counts, Difference, Found, Outcome};

/// Labels and their values.
type Labels<const N: usize> = [(&'static str, &'static str); N];

/// Bounds of the latency of deletions, in seconds. Mirrors `pkg/controller/devicetainteviction/metrics/metrics.go`, `New`, v1.37.2.
const LATENCIES: [f64; 12] = [0.005, 0.025, 0.1, 0.5, 1., 2.5, 10., 30., 60., 120., 180., 240.];

/// The metrics of a run.
#[derive(Debug)]
pub(super) struct Metrics {
    /// Those of controllers.
    registry: Registry,
    /// Those of watches and rechecks, which an exporter has, too.
    watches: Registry,
    claims: Family<Labels<3>, Gauge>,
    pub(super) queues: WorkqueueMetrics,
    creates: Family<Labels<4>, Counter>,
    deletions: Counter,
    deletion_times: Histogram,
    jobs: Family<Labels<2>, Counter>,
    wishes: Family<Labels<1>, Gauge>,
    ended: Family<Labels<1>, Counter<u64, AtomicU64>>,
    findings: Family<Labels<2>, Counter>,
    rechecks: Family<Labels<1>, Counter>,
    differs: Gauge,
    in_step: Family<Labels<1>, Gauge>,
    troubles: Family<Labels<1>, Counter>,
    unreadable: Family<Labels<1>, Counter>,
}

impl Default for Metrics {
    fn default() -> Self {
        let (mut registry, mut watches) = (Registry::default(), Registry::default());
        let (to, of_watches) = (&mut registry, &mut watches);
        // Each help ends without a full stop, which the registry adds.
        let metrics = Self {
            queues: WorkqueueMetrics::registered(to),
            claims: register(
                to,
                "dynamic_resource_allocation_resource_claims",
                "Number of ResourceClaims, categorized by allocation status, admin access, and source",
            ),
            creates: register(
                to,
                "dynamic_resource_allocation_resourceclaim_creates",
                "Number of ResourceClaims creation requests, categorized by creation status, admin access, and owning API group and kind \
                 (either Pod or scheduling.k8s.io/PodGroup)",
            ),
            deletions: register(
                to,
                "device_taint_eviction_controller_pod_deletions",
                "Total number of Pods deleted by DeviceTaintEvictionController since its start",
            ),
            deletion_times: register_as(
                to,
                "device_taint_eviction_controller_pod_deletion_duration_seconds",
                "Latency, in seconds, between the time when a device taint effect has been activated and a Pod's deletion via \
                 DeviceTaintEvictionController",
                Histogram::new(LATENCIES),
            ),
            jobs: register(to, "kubectl_dra_jobs", "Jobs of a controller, by result"),
            rechecks: register(
                of_watches,
                "kubectl_dra_rechecks",
                "Checks for changed versions, served kinds and feature gates",
            ),
            differs: register(
                of_watches,
                "kubectl_dra_cluster_differs",
                "Whether the last check found a change",
            ),
            wishes: register(
                to,
                "kubectl_dra_shadow_wishes",
                "Writes that the rules want and that are not done yet; `open` includes `overdue`",
            ),
            ended: register(
                to,
                "kubectl_dra_shadow_wishes_ended",
                "Writes that are no longer wanted: `fulfilled` or `given-up`",
            ),
            findings: register(
                to,
                "kubectl_dra_shadow_findings",
                "Number of differences found, each write counted once",
            ),
            in_step: register(
                of_watches,
                "kubectl_dra_watch_in_step",
                "Whether the watch of a resource is open",
            ),
            troubles: register(
                of_watches,
                "kubectl_dra_watch_troubles",
                "Interruptions of watches",
            ),
            unreadable: register(
                of_watches,
                "kubectl_dra_unreadable_objects",
                "Number of times an object could not be decoded",
            ),
            registry,
            watches,
        };
        // A rate needs the zero before the one.
        for controller in ControllerName::ALL {
            for difference in Difference::ALL {
                drop(metrics.findings.get_or_create(&finding(difference, controller)));
            }
        }
        metrics
    }
}

impl Metrics {
    /// The number of claims goes by what became of one. Mirrors `pkg/controller/resourceclaim/controller.go`,
    /// `CollectWithStability`, v1.37.2, which counts all claims for each scrape.
    pub(super) fn claim_changed(&self, before: Option<Labels<3>>, after: Option<Labels<3>>) {
        if let Some(labels) = before {
            self.claims.get_or_create(&labels).dec();
        }
        if let Some(labels) = after {
            self.claims.get_or_create(&labels).inc();
        }
    }

    /// A claim was created, or the API server refused to. Mirrors `pkg/controller/resourceclaim/controller.go`,
    /// `getClaimCreateMetricLabels`, v1.37.2.
    pub(super) fn created(&self, claim: &Claim, is_there: bool) {
        let [_, (_, admin_access), _] = labels_of(claim);
        let of_pod = claim
            .metadata
            .controller()
            .is_none_or(|owner| owner.kind == "Pod");
        let (group, kind) = if of_pod {
            ("", "Pod")
        } else {
            ("scheduling.k8s.io", "PodGroup")
        };
        let labels = [
            ("status", if is_there { "success" } else { "failure" }),
            ("admin_access", admin_access),
            ("owner_api_group", group),
            ("owner_api_kind", kind),
        ];
        self.creates.get_or_create(&labels).inc();
    }

    /// A pod was deleted, so long after its eviction was due.
    pub(super) fn evicted(&self, late: Duration) {
        self.deletions.inc();
        self.deletion_times.observe(late.as_secs_f64());
    }

    /// A job has ended.
    pub(super) fn job(&self, controller: ControllerName, outcome: &Outcome) {
        let word = match outcome {
            Outcome::Answers(_) => "answered",
            Outcome::Done => "done",
            Outcome::Gone => "gone",
            Outcome::Conflict => "conflict",
            Outcome::Taken => "taken",
            Outcome::Refused(_) => "refused",
            Outcome::Unreachable => "unreachable",
            Outcome::Parked => "parked",
        };
        let labels = [("controller", controller.into()), ("outcome", word)];
        self.jobs.get_or_create(&labels).inc();
    }

    /// The cluster was compared with what the rules were made for: whether it differs, if the API server could be asked.
    pub(super) fn rechecked(&self, differs: Option<bool>) {
        let outcome = match differs {
            Some(false) => "same",
            Some(true) => "differs",
            None => "failed",
        };
        self.rechecks.get_or_create(&[("outcome", outcome)]).inc();
        if let Some(differs) = differs {
            self.differs.set(i64::from(differs));
        }
    }

    /// The number of wishes of the shadow has changed.
    pub(super) fn wishes(&self, counts: Counts) {
        for (state, count) in [("open", counts.open), ("overdue", counts.overdue)] {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            self.wishes.get_or_create(&[("state", state)]).set(count);
        }
        for (how, count) in [("fulfilled", counts.fulfilled), ("given-up", counts.moot)] {
            let counter = self.ended.get_or_create(&[("how", how)]);
            counter.inc_by(count.saturating_sub(counter.get()));
        }
    }

    /// Something was found.
    pub(super) fn found(&self, found: &Found) {
        let labels = finding(found.difference, found.wish.controller());
        self.findings.get_or_create(&labels).inc();
    }

    /// The watch of a kind is open, or interrupted.
    pub(super) fn watch(&self, kind: Kind, in_step: bool) {
        let labels = [("resource", kind.plural())];
        self.in_step.get_or_create(&labels).set(i64::from(in_step));
        if !in_step {
            self.troubles.get_or_create(&labels).inc();
        }
    }

    /// An object could not be read.
    pub(super) fn unreadable(&self, kind: Kind) {
        let labels = [("resource", kind.plural())];
        self.unreadable.get_or_create(&labels).inc();
    }

    /// Everything, in the text format of OpenMetrics.
    pub(super) fn text(&self) -> String {
        self.queues.refresh(Instant::now());
        let mut text = String::new();
        // A string takes whatever is written.
        _ = encode_registry(&mut text, &self.registry);
        self.finish(text)
    }

    /// `text` with the metrics of watches and the end of OpenMetrics.
    pub(super) fn finish(&self, mut text: String) -> String {
        // A string takes whatever is written.
        _ = encode_registry(&mut text, &self.watches);
        _ = encode_eof(&mut text);
        text
    }
}

/// The labels of a claim. Mirrors `pkg/controller/resourceclaim/controller.go`, `getAdminAccessMetricLabel`, v1.37.2.
pub(super) fn labels_of(claim: &Claim) -> Labels<3> {
    let word = |is: bool| if is { "true" } else { "false" };
    // Alternatives have no admin access.
    let mut requests = claim.spec.devices.requests.iter();
    let admin = requests.any(|request| {
        let exactly = request.exactly.as_ref();
        exactly.and_then(|exactly| exactly.admin_access) == Some(true)
    });
    let annotation = |key: &str| claim.metadata.annotation(key).map(|value| value.as_str());
    let source = if annotation("resource.kubernetes.io/extended-resource-claim") == Some("true") {
        "extended_resource"
    } else if annotation("resource.kubernetes.io/pod-claim-name").is_some_and(|entry| !entry.is_empty()) {
        "resource_claim_template"
    } else {
        ""
    };
    [
        ("allocated", word(claim.status.allocation.is_some())),
        ("admin_access", word(admin)),
        ("source", source),
    ]
}

fn finding(difference: Difference, controller: ControllerName) -> Labels<2> {
    [("finding", difference.into()), ("controller", controller.into())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::Object;

    fn claim(json: &str) -> Labels<3> {
        match Object::from_json(Kind::ResourceClaim, json.as_bytes()).unwrap() {
            Object::ResourceClaim(claim) => labels_of(&claim),
            _ => panic!("a claim"),
        }
    }

    #[test]
    fn claims_are_counted_as_upstream_does() {
        let plain = claim(r#"{"metadata":{"name":"a"}}"#);
        let made = claim(
            r#"{"metadata":{"name":"a","annotations":{"resource.kubernetes.io/pod-claim-name":"gpu"}},
                "spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c","adminAccess":true}}]}},
                "status":{"allocation":{"devices":{}}}}"#,
        );
        let extended = claim(
            r#"{"metadata":{"name":"a","annotations":{"resource.kubernetes.io/extended-resource-claim":"true"}},
                "spec":{"devices":{"requests":[{"name":"r","firstAvailable":[{"name":"s","deviceClassName":"c"}]}]}}}"#,
        );
        let metrics = Metrics::default();
        metrics.claim_changed(None, Some(plain));
        metrics.claim_changed(None, Some(plain));
        metrics.claim_changed(Some(plain), Some(made));
        metrics.claim_changed(None, Some(extended));
        let text = metrics.text();
        for line in [
            r#"{allocated="false",admin_access="false",source=""} 1"#,
            r#"{allocated="true",admin_access="true",source="resource_claim_template"} 1"#,
            r#"{allocated="false",admin_access="false",source="extended_resource"} 1"#,
        ] {
            let line = format!("dynamic_resource_allocation_resource_claims{line}\n");
            assert!(text.contains(&line), "{line}: {text}");
        }
        metrics.claim_changed(Some(plain), None);
        assert!(metrics.text().contains(r#"source=""} 0"#), "{}", metrics.text());
    }

    #[test]
    fn admin_access_is_what_any_request_has_itself() {
        let request = |admin: &str| format!(r#"{{"name":"r","exactly":{{"deviceClassName":"c"{admin}}}}}"#);
        let (unset, on, off) = (
            request(""),
            request(r#","adminAccess":true"#),
            request(r#","adminAccess":false"#),
        );
        let alternatives = r#"{"name":"r","firstAvailable":[{"name":"s","deviceClassName":"c"}]}"#;
        for (requests, expected) in [
            (String::new(), "false"),
            (off.clone(), "false"),
            (on.clone(), "true"),
            (alternatives.to_owned(), "false"),
            (format!("{off},{on},{alternatives}"), "true"),
            (format!("{unset},{off}"), "false"),
        ] {
            let json =
                format!(r#"{{"metadata":{{"name":"a"}},"spec":{{"devices":{{"requests":[{requests}]}}}}}}"#);
            assert_eq!(claim(&json)[1], ("admin_access", expected), "{requests}");
        }
    }

    #[test]
    fn counters_have_their_zeros_and_follow_the_shadow() {
        let metrics = Metrics::default();
        let zero =
            r#"kubectl_dra_shadow_findings_total{finding="Overdue",controller="resourceclaim-controller"} 0"#;
        assert!(metrics.text().contains(zero), "{}", metrics.text());
        let counts = |open, fulfilled| Counts {
            open,
            overdue: 1,
            fulfilled,
            moot: 0,
        };
        metrics.wishes(counts(3, 5));
        metrics.wishes(counts(2, 7));
        metrics.rechecked(Some(true));
        metrics.rechecked(None);
        metrics.watch(Kind::Pod, false);
        metrics.watch(Kind::Pod, true);
        metrics.unreadable(Kind::Pod);
        let text = metrics.text();
        for line in [
            r#"kubectl_dra_shadow_wishes{state="open"} 2"#,
            r#"kubectl_dra_shadow_wishes{state="overdue"} 1"#,
            r#"kubectl_dra_shadow_wishes_ended_total{how="fulfilled"} 7"#,
            r#"kubectl_dra_rechecks_total{outcome="failed"} 1"#,
            "kubectl_dra_cluster_differs 1",
            r#"kubectl_dra_watch_in_step{resource="pods"} 1"#,
            r#"kubectl_dra_watch_troubles_total{resource="pods"} 1"#,
            r#"kubectl_dra_unreadable_objects_total{resource="pods"} 1"#,
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}
