//! Containers that do not start, that end, or that are not ready.

use std::sync::Arc;

use super::super::words::advice::{self as words, Exit};
use super::about::{About, Advice, named};
use crate::remedy::Remedy;
use crate::script::{Command, delete_in, describe, describe_node};
use dra_model::{ContainerEnd, ContainerWaiting, Key, Kind, Pod, Str};
use dra_rules::kubelet::{
    Evidence, OF_CORES, Party, has_word, injects_own, is_of_alignment, is_ready, missing_object,
    unreachable_registry,
};
use dra_rules::owners::{is_superseded, replacement};

/// The end of a pod of an earlier revision of its StatefulSet.
pub(crate) fn recreate_superseded(pod: &Pod) -> Advice {
    let key = pod.key();
    let delete = Remedy::command(delete_in(&key.namespace, Kind::Pod, [&key.name]));
    let kind = pod.metadata.controller().map(|owner| &owner.kind);
    let (message, why) = words::superseded(&key, kind.map_or("owner", Str::as_str));
    Advice::new("RecreatePod", format!("pod/{key}"), message, delete.note(why))
}

impl About<'_, '_> {
    pub(super) fn not_started(&self, container: &Str, waiting: &ContainerWaiting) -> Advice {
        let text = &waiting.message;
        if is_superseded(self.cluster(), self.pod) {
            return recreate_superseded(self.pod);
        }
        if self.pod.spec.runtime_class_name.is_some() && injects_own(text) {
            return self.of_template("CorrectPods", words::drop_runtime_class);
        }
        if let Some((host, error)) = unreachable_registry(text) {
            if error.contains("x509: ") {
                let elsewhere = self.runs_elsewhere();
                let text = words::trust_registry(host, self.node, error, elsewhere.as_ref());
                return self.of_events("RepairRuntime", self.of_node(), text);
            }
            return self.repair(words::reach_registry(host));
        }
        if let Some(exit) = self.exit(text) {
            return self.exits(exit);
        }
        if let Some(missing) = missing_object(text) {
            return self.repair(words::create_object(self.pod, missing));
        }
        let claim = self.bound_claim(text);
        let mut others = self.beside().into_iter();
        if let Some(claim) = &claim
            && let Some(other) = others.find(|other| has_word(text, &other.metadata.uid))
        {
            return self.of_template("CorrectPods", |owner| {
                words::own_claim(claim, &other.key(), words::FOR_ONE_CONTAINER, owner)
            });
        }
        if let Some((claim, other)) = claim.zip(self.other_container(container, text)) {
            return self.of_template("CorrectPods", |owner| {
                words::one_container(&claim, container, &other, owner)
            });
        }
        let is_named = |uid: &Str| !uid.is_empty() && text.contains(uid.as_str());
        let mut claims = self.stages.claims(self.pod);
        let is_of_pod = text.contains("NRI adjustment")
            || is_named(&self.pod.metadata.uid)
            || claims.any(|claim| is_named(&claim.metadata.uid));
        self.repair(match self.stuck.cause.party() {
            Party::User => words::start_container(container),
            party => words::start_for(party, self.node, container, is_of_pod),
        })
    }

    pub(super) fn ends(&self, container: &Str, end: Option<&ContainerEnd>) -> Advice {
        if is_superseded(self.cluster(), self.pod) {
            return recreate_superseded(self.pod);
        }
        if let Some(end) = end {
            if end.reason == "OOMKilled" {
                return self.repair(words::out_of_memory(container));
            }
            let others = self.beside();
            if lacks_device_memory(&end.message) && !others.is_empty() {
                return self.of_template("RepairContainer", |owner| {
                    words::own_device(container, owner, &named(&others))
                });
            }
            if let Some(exit) = self.exit(&end.message) {
                return self.exits(exit);
            }
        }
        let is_done = end.is_some_and(|end| end.exit_code == 0);
        let how = if is_done {
            words::ends_without_error(container)
        } else {
            words::keeps_exiting(container)
        };
        Advice::by_hand("RepairContainer", self.of_pod(), how).look(
            Command::kubectl("logs")
                .about(Kind::Pod, &self.pod.key())
                .option("--container", container)
                .args(&["--previous", "--tail=50"])
                .done(),
        )
    }

    /// What a probe has said, or nothing if the pod is not ready without a word of one.
    pub(super) fn not_ready(&self, container: Option<&Str>, text: Option<&str>) -> Advice {
        if is_superseded(self.cluster(), self.pod) {
            return recreate_superseded(self.pod);
        }
        self.repair(match text {
            None => words::make_pod_ready(),
            Some(text) => {
                // Of `kubelet/prober/prober_manager.go` and `prober.go`, `probe`, v1.37.2.
                let how = match text {
                    text if text.starts_with("Startup probe") => words::STARTS_TOO_SLOWLY,
                    text if text.starts_with("Liveness probe") => words::RESTARTED_FOR_LIVENESS,
                    _ => words::ACT_ON_KUBELET,
                };
                words::probe(container, how)
            }
        })
    }

    pub(super) fn has_event(&self) -> bool {
        let mut evidence = self.stuck.evidence.iter();
        evidence.any(|found| matches!(found, Evidence::Event(_)))
    }

    pub(super) fn failed(&self, reason: &str) -> Advice {
        if let Some(other) = replacement(self.cluster(), self.pod) {
            let remedy = Remedy::by_hand(words::REPLACED);
            let message = words::replaced_by(&other.key());
            return Advice::new("RecreatePod", self.of_pod(), message, remedy)
                .look(describe(Kind::Pod, &other.key()));
        }
        if is_of_alignment(reason) {
            let (target, owner) = self.made_from();
            let how = words::align(reason == OF_CORES, owner.as_ref());
            return Advice::by_hand("CorrectPods", target, how).look(describe_node(self.node));
        }
        match self.failed_job() {
            Some(job) => Advice::new(
                "RecreatePod",
                format!("job/{job}"),
                words::recreate_job(&job.to_string()),
                Remedy::by_hand(words::JOB_FAILED),
            ),
            None => self.again(Remedy::by_hand(words::FAILED)),
        }
    }

    fn repair(&self, text: words::Text) -> Advice {
        self.of_events("RepairContainer", self.of_pod(), text)
    }

    /// The Job of the pod, if it has failed for good.
    fn failed_job(&self) -> Option<Key> {
        let metadata = &self.pod.metadata;
        let owner = metadata.controller().filter(|owner| owner.kind == "Job")?;
        let owners = &self.cluster().environment().owners;
        let job = owners.find(owner, &metadata.namespace)?;
        job.condition("Failed", "True").map(|_| job.key.clone())
    }

    /// The claim of the pod whose UID a text about a container has: a driver that serves one container with a claim has bound it to another pod or
    /// container, if the text names one.
    fn bound_claim(&self, text: &str) -> Option<Key> {
        let mut claims = self.stages.claims(self.pod);
        let claim = claims.find(|claim| has_word(text, &claim.metadata.uid))?;
        Some(claim.key())
    }

    /// A container with a claim other than `own` that a text names.
    fn other_container(&self, own: &str, text: &str) -> Option<Str> {
        let mut others = self.pod.spec.containers.iter().filter(|other| other.name != *own);
        let other = others.find(|other| !other.resources.claims.is_empty() && has_word(text, &other.name))?;
        Some(other.name.clone())
    }

    /// What a program has said at its end, where that shows what is wrong: of the kernel, and of CUDA with its number or the name of that.
    fn exit(&self, text: &str) -> Option<Exit> {
        let (_, exit) = SAID.iter().find(|(said, _)| text.contains(said))?;
        let is_so = match exit {
            Exit::Exclusive => !self.beside().is_empty(),
            Exit::Architecture => self.architecture().is_some(),
            Exit::Fabric | Exit::NewerDriver => true,
        };
        is_so.then_some(*exit)
    }

    /// The architecture of the pod's node.
    fn architecture(&self) -> Option<&Str> {
        let node = self.cluster().node(self.pod.node()?)?;
        node.metadata.label("kubernetes.io/arch")
    }

    /// Advice about a program that has said what is wrong.
    fn exits(&self, exit: Exit) -> Advice {
        let (target, owner) = self.made_from();
        let arch = self.architecture().map_or("", Str::as_str);
        let text = words::exits(exit, owner.as_ref(), self.node, arch, &named(&self.beside()));
        match exit {
            Exit::Fabric => self.of_events("RestoreNode", self.of_node(), text),
            _ => self.of_events("CorrectPods", target, text),
        }
    }

    /// A ready pod of the same owner on another node.
    fn runs_elsewhere(&self) -> Option<Key> {
        let owner = self.pod.metadata.controller()?;
        let is_alike = |other: &&Arc<Pod>| {
            let same = other.metadata.controller();
            same.is_some_and(|same| same.uid == owner.uid)
                && other.node() != self.pod.node()
                && is_ready(other)
        };
        self.cluster().pods().find(is_alike).map(|other| other.key())
    }
}

/// Texts of programs that end, and what they show.
const SAID: [(&str, Exit); 7] = [
    ("exec format error", Exit::Architecture),
    ("system not yet initialized", Exit::Fabric),
    ("cudaErrorSystemNotReady", Exit::Fabric),
    (
        "forward compatibility was attempted on non supported HW",
        Exit::NewerDriver,
    ),
    ("cudaErrorCompatNotSupportedOnDevice", Exit::NewerDriver),
    (
        "CUDA-capable device(s) is/are busy or unavailable",
        Exit::Exclusive,
    ),
    ("cudaErrorDevicesUnavailable", Exit::Exclusive),
];

/// Returns whether a program found its device, or the memory of it, in use by others.
pub(crate) fn finds_device_in_use(text: &str) -> bool {
    let mut said = SAID.iter();
    lacks_device_memory(text)
        || said.any(|(said, exit)| matches!(exit, Exit::Exclusive) && text.contains(said))
}

/// Returns whether a program found too little memory of its device, in the words of CUDA or ROCm, of PyTorch for them, or of vLLM.
fn lacks_device_memory(text: &str) -> bool {
    const WORDS: [&str; 5] = [
        "CUDA out of memory",
        "CUDA_ERROR_OUT_OF_MEMORY",
        "cudaErrorMemoryAllocation",
        "HIP out of memory",
        "Free memory on device",
    ];
    WORDS.iter().any(|words| text.contains(words))
}
