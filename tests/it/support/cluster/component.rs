//! One process of the control plane: its command line, its start, its end.

use std::fs::{self, File, OpenOptions};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::options::{Component, Options};

/// Time that a component needs to stop. Its program gives itself three seconds.
const GRACE: Duration = Duration::from_secs(10);

/// The ports of a control plane. etcd listens on Unix sockets and needs none.
#[derive(Clone, Copy)]
pub(super) struct Ports {
    pub(super) api_server: u16,
    scheduler: u16,
    controller_manager: u16,
}

impl Ports {
    /// Picks free ports.
    ///
    /// Another process may take one meanwhile; [`Cluster::start`](super::Cluster::start) then tries again.
    pub(super) fn pick() -> Self {
        Self {
            api_server: free_port(),
            scheduler: free_port(),
            controller_manager: free_port(),
        }
    }

    pub(super) fn of(self, component: Component) -> u16 {
        match component {
            Component::Etcd => unreachable!("etcd listens on a socket"),
            Component::ApiServer => self.api_server,
            Component::Scheduler => self.scheduler,
            Component::ControllerManager => self.controller_manager,
        }
    }
}

/// A free port that this process has not picked before, so that a component which is down for a moment finds its port free again.
///
/// For the same reason it lies below the range from which outgoing connections get theirs.
pub(crate) fn free_port() -> u16 {
    const PORTS: std::ops::Range<u32> = 20_000..32_000;
    static PICKED: AtomicU32 = AtomicU32::new(0);
    let is_free = |port: &u16| TcpListener::bind(("0.0.0.0", *port)).is_ok();
    // Test programs that run at the same time begin far apart.
    let begin = std::process::id().wrapping_mul(7_919);
    std::iter::repeat_with(|| begin.wrapping_add(PICKED.fetch_add(1, Ordering::Relaxed)))
        .filter_map(|number| u16::try_from(PORTS.start + number % PORTS.len() as u32).ok())
        .find(is_free)
        .expect("some port is free")
}

/// A running component. Dropping it kills it.
pub(super) struct Running {
    child: Child,
}

impl Running {
    /// Starts a component in the folder of its control plane, where its log goes to.
    pub(super) fn spawn(
        binary: &Path,
        dir: &Path,
        component: Component,
        ports: Ports,
        options: &Options,
    ) -> Self {
        let log = log_file(dir, component);
        let child = Command::new(binary)
            .arg(component.name())
            .args(arguments(component, ports))
            .args(options.arguments(component))
            .current_dir(dir)
            // No proxy, no kubeconfig of the person who runs the tests.
            .env_clear()
            .env("HOME", dir)
            // Starting makes much garbage once, and no test makes much: it is collected only where memory would grow large.
            .env("GOGC", "off")
            .env("GOMEMLIMIT", "768MiB")
            // The component ends when this pipe closes, however this process ends.
            .stdin(Stdio::piped())
            .stdout(log.try_clone().expect("file handles can be duplicated"))
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("{} cannot be started: {error}", binary.display()));
        Self { child }
    }

    /// Its process id.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal.
    pub(super) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the component runs");
    }

    /// Returns how it ended, if it did.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Asks it to end, and kills it if that takes too long.
    pub(super) fn stop(mut self) {
        drop(self.child.stdin.take());
        let deadline = Instant::now() + GRACE;
        while self.ended().is_none() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails only when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The end of a component's log.
pub(super) fn log_tail(dir: &Path, component: Component) -> String {
    let log = fs::read(dir.join(format!("{}.log", component.name()))).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

fn log_file(dir: &Path, component: Component) -> File {
    let path = dir.join(format!("{}.log", component.name()));
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .expect("the temporary folder is writable")
}

/// Returns what every control plane starts a component with. Paths are relative to its folder.
fn arguments(component: Component, ports: Ports) -> Vec<String> {
    let port = |component| format!("--secure-port={}", ports.of(component));
    let serving = [
        "--bind-address=127.0.0.1",
        "--tls-cert-file=server.crt",
        "--tls-private-key-file=server.key",
    ];
    let client = |kubeconfig: &str| {
        ["", "authentication-", "authorization-"].map(|flag| format!("--{flag}kubeconfig={kubeconfig}"))
    };
    let mut arguments: Vec<String> = Vec::new();
    match component {
        Component::Etcd => return arguments,
        Component::ApiServer => arguments.extend(
            [
                "--etcd-servers=unix://etcd.sock",
                "--client-ca-file=ca.crt",
                "--service-account-key-file=sa.pub",
                "--service-account-signing-key-file=sa.key",
                "--service-account-issuer=https://kubernetes.default.svc",
                "--service-cluster-ip-range=10.0.0.0/24",
                "--kubelet-client-certificate=system-apiserver.crt",
                "--kubelet-client-key=system-apiserver.key",
                "--kubelet-preferred-address-types=InternalIP",
                "--authorization-mode=RBAC",
                // Pods would have to wait for the service account of their namespace.
                "--disable-admission-plugins=ServiceAccount",
                "--endpoint-reconciler-type=none",
                "--audit-policy-file=audit-policy.json",
                "--audit-log-path=audit.json",
            ]
            .map(str::to_owned),
        ),
        Component::Scheduler => {
            arguments.extend(client("system-kube-scheduler.kubeconfig"));
            arguments.push("--leader-elect=false".to_owned());
        }
        Component::ControllerManager => {
            arguments.extend(client("system-kube-controller-manager.kubeconfig"));
            arguments.extend(
                [
                    "--leader-elect=false",
                    "--service-account-private-key-file=sa.key",
                    "--use-service-account-credentials=true",
                ]
                .map(str::to_owned),
            );
        }
    }
    arguments.push(port(component));
    arguments.extend(serving.map(str::to_owned));
    arguments
}
