//! Messages of the kubelet about a pod's devices, recognized by their structure.
//!
//! The texts come from Go's error wrapping: each begins with the failed operation, followed by the reason. So a text is
//! read from its beginning, and a driver's text in it is never treated as the kubelet's own.
//! `tests/data/kubelet-texts.tsv` has those of 1.34 to 1.37, and since when and up to when there is each.

use dra_model::Event;

/// The reason why the kubelet could not read a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unread {
    /// The API server does not serve the version that it asks for.
    NotServed,
    /// The API server does not let it.
    Refused,
    /// Something else.
    Failed,
}

impl Unread {
    /// By the words of the client.
    pub(super) fn of(text: &str) -> Self {
        if text.contains("the server could not find the requested resource") {
            Self::NotServed
        } else if text.contains("is forbidden") || text.contains("Unauthorized") {
            Self::Refused
        } else {
            Self::Failed
        }
    }
}

/// Message of the kubelet, as in `kubelet/cm/dra/manager.go`, `prepareResources`, `kubelet/cm/dra/claiminfo.go`, `newClaimInfoFromClaim`,
/// and `kubelet/cm/dra/plugin/dra_plugin_manager.go`, `GetPlugin`, write it in v1.34.10 to v1.37.2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said<'e> {
    /// The driver has no socket that the kubelet knows.
    NotRegistered { driver: &'e str },
    /// The driver refuses a claim, in its own words.
    Refused { claim: &'e str, text: &'e str },
    /// The driver did not answer as it should, in the words of gRPC or the kubelet.
    NoAnswer { text: &'e str },
    /// The claim is not reserved for the pod, as far as this kubelet knows.
    NotAllowed { claim: &'e str },
    /// The claim was made for another pod, as far as this kubelet knows.
    NotOwner,
    /// The claim could not be read.
    NotFetched { claim: &'e str, text: &'e str },
    /// There is no claim yet.
    NotCreated,
    /// The claim has no devices.
    NotAllocated { claim: &'e str },
    /// The kubelet still has an earlier claim of that name prepared.
    EarlierClaim { claim: &'e str, uid: &'e str },
    /// The kubelet has the claim taken back at this moment.
    BeingUnprepared { claim: &'e str },
    /// The claim needs a feature that is off in this kubelet.
    FeatureOff { gate: &'e str },
    /// The container runtime does not find the CDI devices.
    Unresolvable { devices: Vec<&'e str> },
    /// The kubelet does not know what was prepared for the claim, although the pod's sandbox was made after that.
    NotPrepared { claim: &'e str },
    /// The container runtime does not answer.
    RuntimeDown { text: &'e str },
    /// The container runtime does not make the pod's sandbox.
    NoSandbox { text: &'e str },
    /// The network of the node is not ready, so no pod is created.
    NoNetwork { text: &'e str },
    /// Volumes of the pod are not mounted.
    NotMounted { text: &'e str },
    /// The files of a volume get the group of the pod.
    OwnershipChanges { text: &'e str },
    /// A probe of a container fails.
    Unhealthy { text: &'e str },
    /// Something unrecognized about devices.
    Else { text: &'e str },
}

/// A name as Kubernetes lets objects and drivers have it: what stands where a name should and is none makes the text an unknown one.
fn is_name(text: &str) -> bool {
    let alphanumeric = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= 253
        && alphanumeric(bytes.first())
        && alphanumeric(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.'))
}

/// A name in front of `separator`, and what is behind.
fn name_before<'e>(text: &'e str, separator: &str) -> Option<(&'e str, &'e str)> {
    let (name, rest) = text.split_once(separator)?;
    is_name(name).then_some((name, rest))
}

/// The UIDs that a driver's text gives to claims, as in `requested device gpu-0 is already allocated to different claim 0c…`. Each driver has
/// words of its own, and devices have UUIDs too: only what stands right behind the word claim is meant.
pub(super) fn claims_named(text: &str) -> Vec<&str> {
    const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];
    let is_uid = |word: &&str| {
        let groups = word.split('-');
        let is_hex = |group: &str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
        groups.clone().map(str::len).eq(GROUPS) && groups.into_iter().all(is_hex)
    };
    let is_claim = |word: &str| {
        let word = word.to_ascii_lowercase();
        word == "claim" || word == "resourceclaim"
    };
    let is_filler = |word: &str| word.eq_ignore_ascii_case("uid") || word.eq_ignore_ascii_case("with");
    let apart = |character: char| !(character.is_ascii_alphanumeric() || character == '-');
    let words: Vec<&str> = text.split(apart).filter(|word| !word.is_empty()).collect();
    let found = words.iter().enumerate().filter(|(place, word)| {
        let mut before = words[..*place].iter().rev().skip_while(|word| is_filler(word));
        is_uid(word) && before.next().is_some_and(|word| is_claim(word))
    });
    found.map(|(_, word)| *word).collect()
}

pub(super) const PREPARE: &str = "FailedPrepareDynamicResources";
/// The reason of the controller that attaches volumes.
pub(super) const ATTACH: &str = "FailedAttachVolume";
pub(super) const MOUNT: &str = "FailedMount";
/// Event of a volume with many files that get the group of the pod. Mirrors `volume/volume_linux.go`, `logWarning`, v1.37.2.
const OWNERSHIP: &str = "VolumePermissionChangeInProgress";
pub(super) const SANDBOX: &str = "FailedCreatePodSandBox";
/// Event of a hook that the kubelet runs when it has started a container, which it ends if the hook fails.
pub(super) const POST_START: &str = "FailedPostStartHook";
/// Event of a probe that fails.
pub(super) const UNHEALTHY: &str = "Unhealthy";

/// Returns whether it reports the failure of a startup probe.
pub(super) fn is_of_startup(event: &Event) -> bool {
    event.reason == UNHEALTHY && event.message.starts_with("Startup probe ")
}

/// Returns whether it reports the failure of a probe that makes the kubelet restart the container once it has failed as often as it may.
///
/// Mirrors `prober/prober.go`, `probe`, and `prober/worker.go`, `doProbe`, v1.37.2.
pub(super) fn is_of_restarting_probe(event: &Event) -> bool {
    is_of_startup(event) || event.reason == UNHEALTHY && event.message.starts_with("Liveness probe ")
}

/// Reasons of the kubelet's events about starting a pod, in the order in which it gets to them.
const STEPS: [&str; 17] = [
    "FailedValidation",
    "NetworkNotReady",
    ATTACH,
    MOUNT,
    "FailedMapVolume",
    OWNERSHIP,
    PREPARE,
    SANDBOX,
    "FailedSync",
    "Pulling",
    "Pulled",
    "InspectFailed",
    "Failed",
    "Created",
    "Started",
    UNHEALTHY,
    "BackOff",
];

/// Returns how far a pod is that has an event with this reason: where several are of the same second, the latest is that of the furthest step.
pub(super) fn step(reason: &str) -> Option<usize> {
    STEPS.iter().position(|step| *step == reason)
}

/// Returns whether a message of the gRPC client reports that the peer does not respond. A server's own message has
/// different words after the code.
pub(super) fn is_unanswered(text: &str) -> bool {
    const OF_CLIENT: [&str; 6] = [
        "connection error",
        "error reading from server",
        "connection closed",
        "transport is closing",
        "keepalive ping failed",
        // containerd, until it is ready.
        "server is not initialized yet",
    ];
    let rest = text
        .split_once("code = Unavailable desc = ")
        .map(|(_, rest)| rest);
    rest.is_some_and(|rest| OF_CLIENT.iter().any(|words| rest.starts_with(words)))
}

/// Returns whether a driver left claims out of its answer and reports no error. That for NVIDIA's ComputeDomains does so where it has tried for 45 seconds what
/// may still succeed (`cmd/compute-domain-kubelet-plugin/driver.go`, `PrepareResourceClaims`).
pub(super) fn is_left_out(text: &str) -> bool {
    text.starts_with("NodePrepareResources skipped ")
}

/// Returns whether NVIDIA's driver refuses a claim as the ComputeDomain is not ready on the node (`cmd/compute-domain-kubelet-plugin/computedomain.go`,
/// `AssertComputeDomainReady`, of NVIDIA's driver).
pub(super) fn is_of_domain(text: &str) -> bool {
    text.contains("not ready in ComputeDomain")
}

/// Returns whether a driver refuses a claim as it finds nothing of a device to give to containers, in the words of the CDI library
/// (`container-device-interface/pkg/cdi/device.go`, `validate`).
pub(super) fn lacks_edits(text: &str) -> bool {
    text.contains("empty device edits")
}

/// Returns whether a driver refuses a claim as more than one pod uses it: drivers have words of their own for that, DRANET those of its
/// `pkg/driver/dra_hooks.go`, `prepareResourceClaim`.
pub(super) fn is_of_sharing(text: &str) -> bool {
    const WORDS: [&str; 8] = [
        "one pod",
        "single pod",
        "another pod",
        "different pod",
        "multiple pods",
        "cannot be shared",
        "not shareable",
        "exclusively",
    ];
    WORDS.iter().any(|words| text.contains(words))
}

impl<'e> Said<'e> {
    /// Returns what an event of the kubelet about a pod says of its devices; nothing if it is about something else.
    pub(super) fn of_event(event: &'e Event) -> Option<Self> {
        if event.type_ != "Warning" {
            return None;
        }
        // client-go's `tools/record/events_cache.go`, `EventAggregate`, of many that differ.
        let text = event.message.trim();
        let text = text
            .strip_prefix("(combined from similar events): ")
            .unwrap_or(text);
        if event.reason == PREPARE {
            return Some(Self::of_prepare(text));
        }
        let of_container = Self::of_container(text.strip_prefix("Error: ").unwrap_or(text));
        if of_container.is_some() {
            return of_container;
        }
        if event.reason != "FailedKillPod" && is_unanswered(text) {
            return Some(Self::RuntimeDown { text });
        }
        match event.reason.as_str() {
            SANDBOX => return Some(Self::NoSandbox { text }),
            "NetworkNotReady" => return Some(Self::NoNetwork { text }),
            UNHEALTHY => return Some(Self::Unhealthy { text }),
            "FailedValidation" => return Some(Self::Else { text }),
            OWNERSHIP => return Some(Self::OwnershipChanges { text }),
            ATTACH | MOUNT | "FailedMapVolume" => return Some(Self::NotMounted { text }),
            _ => {}
        }
        let about_devices = ["dynamic resources", "ResourceClaim", "DRA driver"];
        let is_start = matches!(
            event.reason.as_str(),
            "UnexpectedAdmissionError" | "Failed" | "FailedSync"
        );
        (is_start && about_devices.iter().any(|word| text.contains(word))).then_some(Self::Else { text })
    }

    /// The text of an event that preparing failed.
    fn of_prepare(text: &'e str) -> Self {
        let inner = text
            .strip_prefix("Failed to prepare dynamic resources: ")
            .unwrap_or(text);
        let inner = inner.strip_prefix("prepare dynamic resources: ").unwrap_or(inner);
        Self::of_error(inner).unwrap_or(Self::Else { text })
    }

    fn of_error(text: &'e str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix("DRA driver ") {
            let (driver, rest) = name_before(rest, " ")?;
            return (rest == "is not registered").then_some(Self::NotRegistered { driver });
        }
        if let Some(rest) = text.strip_prefix("NodePrepareResources failed for ResourceClaim ") {
            let (claim, text) = name_before(rest, ": ")?;
            return Some(Self::Refused { claim, text });
        }
        if let Some(text) = text.strip_prefix("NodePrepareResources: ") {
            return Some(Self::NoAnswer { text });
        }
        if is_left_out(text)
            || text.starts_with("NodePrepareResources returned result for unknown claim UID ")
        {
            return Some(Self::NoAnswer { text });
        }
        if let Some(rest) = text.strip_prefix("fetch ResourceClaim ") {
            let (claim, text) = name_before(rest, ": ")?;
            return Some(Self::NotFetched { claim, text });
        }
        // Kubelets before 1.34, which read a version of the API that newer servers do not serve.
        if let Some(rest) = text.strip_prefix("failed to fetch ResourceClaim ") {
            let (claim, rest) = name_before(rest, " referenced by pod ")?;
            let (_, text) = name_before(rest, ": ")?;
            return Some(Self::NotFetched { claim, text });
        }
        if let Some(rest) = text.strip_prefix("old ResourceClaim with same name ") {
            let (claim, rest) = name_before(rest, " and different UID ")?;
            let (uid, rest) = name_before(rest, " ")?;
            return rest
                .starts_with("still exists")
                .then_some(Self::EarlierClaim { claim, uid });
        }
        if let Some(rest) = text.strip_prefix("ResourceClaim ") {
            // `NAMESPACE/CLAIM was not created for Pod NAMESPACE/POD (Pod is not owner)`, in small letters before 1.36.
            if rest.contains(" was not created for ") {
                return Some(Self::NotOwner);
            }
            if let Some((claim, rest)) = name_before(rest, ": ") {
                return match rest.strip_suffix(" feature gate is disabled on kubelet") {
                    Some(gate) => Some(Self::FeatureOff { gate }),
                    None => (rest == "not allocated").then_some(Self::NotAllocated { claim }),
                };
            }
            let (claim, rest) = name_before(rest, " ")?;
            return (rest == "is being unprepared").then_some(Self::BeingUnprepared { claim });
        }
        if let Some(rest) = text.strip_prefix("pod ") {
            if rest.ends_with(": ResourceClaim not created yet") {
                return Some(Self::NotCreated);
            }
            let (_, rest) = rest.split_once(" is not allowed to use ResourceClaim ")?;
            let (claim, _) = name_before(rest, " ")?;
            return Some(Self::NotAllowed { claim });
        }
        None
    }

    /// Returns why a container of a pod that has its sandbox is not made.
    pub(super) fn of_container(text: &'e str) -> Option<Self> {
        let inner = text.strip_prefix("internal error: ").unwrap_or(text);
        let Some(rest) = inner.strip_prefix("unable to get claim info for ") else {
            return Self::of_runtime(text);
        };
        // `claim C in namespace N` up to 1.35, `ResourceClaim C in namespace N` since.
        let rest = rest
            .strip_prefix("claim ")
            .or_else(|| rest.strip_prefix("ResourceClaim "))?;
        let claim = rest.split_once(" in namespace ").map_or(rest, |(claim, _)| claim);
        is_name(claim).then_some(Self::NotPrepared { claim })
    }

    /// Returns what a container runtime says where it does not know CDI devices. containerd and CRI-O take the words from the same library
    /// (`container-device-interface/pkg/cdi`, `Cache.InjectDevices`), each with its own in front.
    fn of_runtime(text: &'e str) -> Option<Self> {
        let (_, rest) = text.split_once("unresolvable CDI devices ")?;
        let names = rest
            .split([',', ' '])
            .map(|name| name.trim_matches(['[', ']', '"', '\\', ':', '.']));
        let is_device = |name: &&str| {
            let parts = name.split_once('=').and_then(|(kind, _)| kind.split_once('/'));
            parts.is_some_and(|(vendor, class)| is_name(vendor) && !class.is_empty())
        };
        let devices: Vec<&str> = names
            .filter(|name| !name.is_empty())
            .take_while(is_device)
            .collect();
        (!devices.is_empty()).then_some(Self::Unresolvable { devices })
    }
}

/// The registry of an image that cannot be asked, and why, in the words of containerd (`core/remotes/docker`) or CRI-O (`containers/image/docker`).
pub fn unreachable_registry(text: &str) -> Option<(&str, &str)> {
    let begins = ["failed to do request: ", "pinging container registry "];
    let mut rests = begins.iter().filter_map(|begin| Some(text.split_once(begin)?.1));
    let (_, rest) = rests.next()?.split_once("://")?;
    let (url, error) = rest.split_once("\": ")?;
    let host = url.split('/').next()?;
    (!host.is_empty()).then_some((host, error))
}

/// Returns whether a volume is not attached as another node has it. Mirrors `attachdetach/reconciler/reconciler.go`, `reportMultiAttachError`, v1.37.2, and
/// its words of earlier releases.
pub fn is_attached_elsewhere(text: &str) -> bool {
    ["Multi-Attach error", "Waiting for detach for volume"]
        .iter()
        .any(|begin| text.starts_with(begin))
}

/// The first pod of the namespace that uses the volume there, as far as it is named.
pub(super) fn user_of_volume(text: &str) -> Option<&str> {
    let (_, names) = text.split_once(" is already used by pod(s) ")?;
    names
        .split([',', ' '])
        .next()
        .filter(|_| is_attached_elsewhere(text))
}

/// The Secret or ConfigMap that the kubelet does not find, or a key of it: its resource, its name and the key. Mirrors `kubelet/kubelet_pods.go`,
/// `makeEnvironmentVariables`, v1.37.2, and the errors of the API server.
pub fn missing_object(text: &str) -> Option<(&'static str, &str, Option<&str>)> {
    let resource = |kind: &str| {
        let mut known = ["secret", "configmap"].into_iter();
        known.find(|known| kind.trim_end_matches('s').eq_ignore_ascii_case(known))
    };
    let last = text.rsplit(": ").next()?;
    if let Some(rest) = last.strip_prefix("couldn't find key ") {
        let (key, object) = rest.split_once(" in ")?;
        let (kind, object) = object.split_once(' ')?;
        return Some((resource(kind)?, object.split_once('/')?.1, Some(key)));
    }
    let (kind, name) = last.strip_suffix("\" not found")?.split_once(" \"")?;
    Some((resource(kind)?, name, None))
}

/// Returns whether NVIDIA's container runtime does not find the devices that it injects automatically: those are none of a driver.
pub fn injects_own(text: &str) -> bool {
    matches!(Said::of_runtime(text), Some(Said::Unresolvable { devices }) if are_of_runtime(&devices))
}

/// Returns whether these devices are those that NVIDIA's container runtime injects automatically.
pub(super) fn are_of_runtime(devices: &[&str]) -> bool {
    devices
        .iter()
        .all(|device| device.starts_with("runtime.nvidia.com/"))
}

/// Returns whether the text has the name as a word of its own.
pub fn has_word(text: &str, name: &str) -> bool {
    let is_of_name =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | ':');
    text.split(|character| !is_of_name(character))
        .any(|word| word.trim_end_matches(['.', ':']) == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::{Kind, Object};

    fn event(reason: &str, message: &str) -> std::sync::Arc<Event> {
        let json = serde_json::json!({"metadata": {"namespace": "n", "name": "e"}, "type": "Warning", "reason": reason, "message": message});
        match Object::from_json(Kind::Event, json.to_string().as_bytes()).unwrap() {
            Object::Event(event) => event,
            _ => unreachable!(),
        }
    }

    fn prepare(text: &str) -> String {
        let whole = format!("Failed to prepare dynamic resources: prepare dynamic resources: {text}");
        format!("{:?}", Said::of_event(&event(PREPARE, &whole)).unwrap())
    }

    /// Each text of `prepareResources` of 1.34 to 1.37, and how an unknown or misleading one is classified.
    #[test]
    fn texts_are_recognized_by_their_structure() {
        for (text, expected) in [
            (
                "DRA driver gpu.example.com is not registered",
                r#"NotRegistered { driver: "gpu.example.com" }"#,
            ),
            (
                "NodePrepareResources failed for ResourceClaim c: DRA driver x is not registered",
                r#"Refused { claim: "c", text: "DRA driver x is not registered" }"#,
            ),
            (
                "NodePrepareResources: rpc error: code = DeadlineExceeded desc = context deadline exceeded",
                r#"NoAnswer { text: "rpc error: code = DeadlineExceeded desc = context deadline exceeded" }"#,
            ),
            (
                "NodePrepareResources skipped 1 ResourceClaims",
                r#"NoAnswer { text: "NodePrepareResources skipped 1 ResourceClaims" }"#,
            ),
            (
                r#"fetch ResourceClaim c: resourceclaims.resource.k8s.io "c" not found"#,
                r#"NotFetched { claim: "c", text: "resourceclaims.resource.k8s.io \"c\" not found" }"#,
            ),
            (
                "pod p (1-2) is not allowed to use ResourceClaim c (3-4)",
                r#"NotAllowed { claim: "c" }"#,
            ),
            (
                "failed to fetch ResourceClaim c referenced by pod p: the server could not find the requested resource",
                r#"NotFetched { claim: "c", text: "the server could not find the requested resource" }"#,
            ),
            (r#"pod "n/p": ResourceClaim not created yet"#, "NotCreated"),
            ("ResourceClaim c: not allocated", r#"NotAllocated { claim: "c" }"#),
            (
                "old ResourceClaim with same name c and different UID 1-2 still exists (previous pod force-deleted?!)",
                r#"EarlierClaim { claim: "c", uid: "1-2" }"#,
            ),
            (
                "ResourceClaim n/c was not created for Pod n/p (Pod is not owner)",
                "NotOwner",
            ),
            (
                "ResourceClaim n/c was not created for pod n/p (pod is not owner)",
                "NotOwner",
            ),
            (
                "ResourceClaim n/c was not created for Pod n/p (neither Pod nor PodGroup g is the owner)",
                "NotOwner",
            ),
            (
                "ResourceClaim c is being unprepared",
                r#"BeingUnprepared { claim: "c" }"#,
            ),
            (
                "ResourceClaim c: DRAOptionalNodeOperations feature gate is disabled on kubelet",
                r#"FeatureOff { gate: "DRAOptionalNodeOperations" }"#,
            ),
        ] {
            assert_eq!(prepare(text), expected);
        }
        for unknown in [
            "",
            "something new",
            "DRA driver  is not registered",
            "DRA driver \u{1b}[31mx is not registered",
            "DRA driver x is not registered any more",
            "le pilote DRA x n'est pas enregistré",
            "old ResourceClaim with same name c and different UID",
            "checkpoint ResourceClaim cache: disk full",
        ] {
            assert!(prepare(unknown).starts_with("Else"), "{unknown}");
        }
    }

    /// The table is held against the modules by `tests/it/kubelet_texts.rs`.
    #[test]
    fn the_texts_of_every_release_are_recognized() {
        const TABLE: &str = include_str!("../../../../tests/data/kubelet-texts.tsv");
        for row in TABLE.lines().skip(1) {
            let cells: Vec<&str> = row.split('\t').collect();
            let (function, example, means) = (cells[3], cells[5], cells[6]);
            let event = match function {
                "GetResources" => event("Failed", &format!("Error: {example}")),
                _ => event(
                    PREPARE,
                    &format!("Failed to prepare dynamic resources: prepare dynamic resources: {example}"),
                ),
            };
            let said = format!("{:?}", Said::of_event(&event));
            assert!(said.starts_with(&format!("Some({means}")), "{example}: {said}");
        }
    }

    #[test]
    fn devices_that_a_runtime_does_not_know_are_named() {
        for text in [
            "Error: failed to create containerd task: CDI device injection failed: unresolvable CDI devices gpu.example.com/gpu=a, gpu.example.com/gpu=b",
            "Error: CDI device injection failed: unresolvable CDI devices gpu.example.com/gpu=a gpu.example.com/gpu=b: unknown",
        ] {
            let event = event("Failed", text);
            assert_eq!(
                Said::of_event(&event),
                Some(Said::Unresolvable {
                    devices: vec!["gpu.example.com/gpu=a", "gpu.example.com/gpu=b"]
                })
            );
        }
        assert!(injects_own("unresolvable CDI devices runtime.nvidia.com/gpu=all"));
        assert!(!injects_own("unresolvable CDI devices gpu.example.com/gpu=a"));
        assert_eq!(Said::of_runtime("unresolvable CDI devices nothing"), None);
        assert_eq!(Said::of_event(&event("Failed", "Error: ErrImagePull")), None);
        assert_eq!(
            Said::of_event(&event("BackOff", "DRA driver x is not registered")),
            None
        );
    }

    #[test]
    fn a_claim_is_named_only_where_the_driver_says_that_it_is_one() {
        let uid = "0c6e7f0a-1111-2222-3333-444455556666";
        for text in [
            format!("requested device gpu-0 is already allocated to different claim {uid}"),
            format!("device \"gpu-0\" is prepared for claim \"{uid}\""),
            format!("already in use by ResourceClaim with UID {uid} (see logs)"),
        ] {
            assert_eq!(claims_named(&text), [uid], "{text}");
        }
        for text in [
            format!("device GPU-{uid} is busy"),
            format!("claim on device {uid} failed"),
            format!("claim {uid}0"),
            "already allocated to different claim".to_owned(),
            String::new(),
        ] {
            assert!(claims_named(&text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_missing_object_is_read_from_errors_of_containers_and_volumes() {
        for (text, found) in [
            (
                "secret \"hf-token\" not found",
                Some(("secret", "hf-token", None)),
            ),
            ("configmaps \"c\" not found", Some(("configmap", "c", None))),
            (
                "MountVolume.SetUp failed for volume \"v\" : configmap \"c\" not found",
                Some(("configmap", "c", None)),
            ),
            (
                "couldn't find key token in Secret llm/hf-token",
                Some(("secret", "hf-token", Some("token"))),
            ),
            (
                "couldn't find key a in ConfigMap n/c",
                Some(("configmap", "c", Some("a"))),
            ),
            ("runtimeclass \"r\" not found", None),
            ("secret not found", None),
        ] {
            assert_eq!(missing_object(text), found, "{text}");
        }
    }
}
