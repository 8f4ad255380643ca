//! Configuration of a control plane: components, feature gates and arguments.

use std::collections::{BTreeMap, BTreeSet};

/// A program of the control plane, in the order in which they start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Component {
    Etcd,
    ApiServer,
    Scheduler,
    ControllerManager,
}

impl Component {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [
        Self::Etcd,
        Self::ApiServer,
        Self::Scheduler,
        Self::ControllerManager,
    ];

    /// Those that know feature gates.
    pub(crate) const GATED: [Self; 3] = [Self::ApiServer, Self::Scheduler, Self::ControllerManager];

    /// Returns whether it keeps the objects, which the others are clients of.
    pub(super) fn is_server(self) -> bool {
        matches!(self, Self::Etcd | Self::ApiServer)
    }

    /// The program's name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::Scheduler => "kube-scheduler",
            Self::ControllerManager => "kube-controller-manager",
        }
    }
}

/// Everything a test may choose about its control plane. The default is Kubernetes' own, with two
/// exceptions: all API versions are served, and the controllers that need kubelets are off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    components: BTreeSet<Component>,
    gates: BTreeMap<Component, BTreeMap<String, bool>>,
    args: BTreeMap<Component, Vec<String>>,
    /// The release that a component is of, if not the everyday one.
    releases: BTreeMap<Component, String>,
    runtime_config: String,
    emulated_version: Option<String>,
    /// Whether nodes have kubelets with heartbeats.
    has_kubelets: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            components: Component::ALL.into(),
            gates: BTreeMap::new(),
            args: BTreeMap::new(),
            releases: BTreeMap::new(),
            runtime_config: "api/all=true".to_owned(),
            emulated_version: None,
            has_kubelets: false,
        }
    }
}

impl Options {
    /// Sets a feature gate in every component that has gates.
    pub(crate) fn gate(mut self, gate: &str, on: bool) -> Self {
        self.set_gate(&Component::GATED, gate, on);
        self
    }

    /// Sets a feature gate in some components, on a value that is changed in place, as in
    /// [`Cluster::reconfigure`](super::Cluster::reconfigure).
    pub(crate) fn set_gate(&mut self, components: &[Component], gate: &str, on: bool) {
        for component in components {
            self.gates
                .entry(*component)
                .or_default()
                .insert(gate.to_owned(), on);
        }
    }

    /// Takes back what was said of a component's feature gates.
    pub(crate) fn clear_gates(&mut self, component: Component) {
        self.gates.remove(&component);
    }

    /// Replaces a component by that of another release, such as `1.36`, which must be in `tests/go/releases`.
    pub(crate) fn set_release(&mut self, component: Component, minor: &str) {
        self.releases.insert(component, minor.to_owned());
    }

    /// Takes back that a component is of another release.
    pub(crate) fn clear_release(&mut self, component: Component) {
        self.releases.remove(&component);
    }

    /// The release that a component is of, if not the everyday one.
    pub(super) fn release(&self, component: Component) -> Option<&str> {
        self.releases.get(&component).map(String::as_str)
    }

    /// Sets which API versions are served, on a value that is changed in place.
    pub(crate) fn set_runtime_config(&mut self, value: &str) {
        value.clone_into(&mut self.runtime_config);
    }

    /// Adds an argument of one component. It comes last, so it wins over what the harness sets; a list, such
    /// as `--controllers`, is added to.
    pub(crate) fn arg(mut self, component: Component, arg: &str) -> Self {
        self.args.entry(component).or_default().push(arg.to_owned());
        self
    }

    /// Takes back every argument that was added to a component, on a value that is changed in place.
    pub(crate) fn clear_arguments(&mut self, component: Component) {
        self.args.remove(&component);
    }

    /// Leaves a component out.
    pub(crate) fn without(mut self, component: Component) -> Self {
        self.components.remove(&component);
        self
    }

    /// Sets which API versions are served, in the words of `--runtime-config`; empty for a release's default.
    pub(crate) fn runtime_config(mut self, value: &str) -> Self {
        self.set_runtime_config(value);
        self
    }

    /// Lets the API server behave like an older minor, such as `1.36`. It serves the older shapes; the other
    /// components stay as they are.
    pub(crate) fn emulated_version(mut self, minor: &str) -> Self {
        self.emulated_version = Some(minor.to_owned());
        self
    }

    /// Nodes have real kubelets, whose silence is noticed after a short while.
    pub(crate) fn with_kubelets(mut self) -> Self {
        self.has_kubelets = true;
        self
    }

    /// The components for which these and the other options have different arguments or releases, whether they are to run or not.
    pub(super) fn unlike(&self, other: &Self) -> Vec<Component> {
        let is_unlike = |component: &Component| {
            self.arguments(*component) != other.arguments(*component)
                || self.release(*component) != other.release(*component)
        };
        Component::ALL.into_iter().filter(is_unlike).collect()
    }

    /// Returns whether a component is to run.
    pub(super) fn has(&self, component: Component) -> bool {
        self.components.contains(&component)
    }

    /// The arguments that follow from the choices.
    pub(super) fn arguments(&self, component: Component) -> Vec<String> {
        let mut arguments = Vec::new();
        if component == Component::ApiServer {
            if !self.runtime_config.is_empty() {
                arguments.push(format!("--runtime-config={}", self.runtime_config));
            }
            if let Some(minor) = &self.emulated_version {
                arguments.push(format!("--emulated-version=kube={minor}"));
            }
        }
        if component == Component::ControllerManager && self.has_kubelets {
            arguments.extend(
                [
                    "--controllers=*,-node-ipam-controller",
                    "--node-monitor-period=1s",
                    "--node-monitor-grace-period=12s",
                ]
                .map(str::to_owned),
            );
        } else if component == Component::ControllerManager {
            // One of them would find that no kubelet has a heartbeat, the other wants a cloud.
            arguments.push("--controllers=*,-node-lifecycle-controller,-node-ipam-controller".to_owned());
        }
        if let Some(gates) = self.gates.get(&component) {
            let list: Vec<String> = gates.iter().map(|(gate, on)| format!("{gate}={on}")).collect();
            arguments.push(format!("--feature-gates={}", list.join(",")));
        }
        arguments.extend(self.args.get(&component).into_iter().flatten().cloned());
        arguments
    }
}
