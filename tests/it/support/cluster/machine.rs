//! A node with the DRA code of the real kubelet, and drivers made of the real helper: `tests/go/cmd/kubelet`.
//!
//! What the node's file systems hold lies in a folder: a restart of the kubelet keeps it, a reboot loses `run`, and a lost checkpoint is
//! `state` removed.

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Cluster;
use super::kubelet::now;
use crate::support::go;
use crate::support::process::{Invocation, Process};
use crate::support::wait::{try_wait, wait_for};

/// The driver that a machine's devices are of.
pub(crate) const DRIVER: &str = "gpu.example.com";

/// Checkpoint file of the kubelet.
const CHECKPOINT: &str = "state/dra_manager_state";

/// Maximum number of devices in a slice.
const MOST_DEVICES: usize = 128;

/// A node whose pods a test follows.
pub(crate) trait Host {
    /// Its name.
    fn name(&self) -> &str;
    /// What its programs have written, for messages of failures.
    fn logs(&self) -> String;
    /// Waits like [`wait_for`], and fails with what its programs have written by then.
    #[track_caller]
    fn wait_for<T>(&self, what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
        let found = try_wait(|| probe().ok_or(()));
        found.unwrap_or_else(|()| panic!("gave up on {}: {what}\n{}", self.name(), self.logs()))
    }
}

/// A node with its kubelet and its driver. Both end with it.
pub(crate) struct Machine<'c> {
    cluster: &'c Cluster,
    /// The node's name.
    pub(crate) node: String,
    dir: TempDir,
    kubelet: Option<Process>,
    driver: Option<Process>,
}

impl<'c> Machine<'c> {
    /// A ready node with that many devices, whose kubelet and driver run.
    #[track_caller]
    pub(crate) fn start(cluster: &'c Cluster, node: &str, devices: usize) -> Self {
        let mut machine = Self::bare(cluster, node, devices);
        machine.start_driver();
        machine.wait_published();
        machine
    }

    /// The same without its driver.
    #[track_caller]
    pub(crate) fn bare(cluster: &'c Cluster, node: &str, devices: usize) -> Self {
        cluster.add_nodes([node]);
        cluster.patch(
            &format!("node/{node}"),
            &json!({"metadata": {"labels": {"example.com/machine": node}}}),
        );
        let mut machine = Self {
            cluster,
            node: node.to_owned(),
            // The paths of sockets are short.
            dir: tempfile::Builder::new()
                .prefix("kubelet")
                .tempdir_in("/tmp")
                .expect("a temporary directory"),
            kubelet: None,
            driver: None,
        };
        machine.publish(devices);
        machine.start_kubelet();
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// What the driver publishes, from now on if it runs.
    pub(crate) fn publish(&self, devices: usize) {
        let names: Vec<String> = (0..devices).map(|index| format!("gpu-{index}")).collect();
        let slices = names.chunks(MOST_DEVICES).map(|names| {
            let devices: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
            json!({"Devices": devices})
        });
        let slices: Vec<Value> = match names.len() {
            0 => vec![json!({"Devices": []})],
            _ => slices.collect(),
        };
        let resources = json!({"Pools": {&self.node: {"Slices": slices}}});
        self.write("resources.json", &resources.to_string());
    }

    /// A file that changes what the driver does, see `tests/go/cmd/kubelet/driver.go`.
    pub(crate) fn write(&self, name: &str, text: &str) {
        // Read whole or not at all.
        let next = self.path(&format!("{name}.next"));
        fs::write(&next, text).expect("the folder is writable");
        fs::rename(next, self.path(name)).expect("the folder is writable");
    }

    /// Removes such a file.
    pub(crate) fn remove(&self, name: &str) {
        let _ = fs::remove_file(self.path(name));
    }

    fn program(&self, what: &str) -> Invocation {
        let kubelet = go::build_with("kubelet", "kubelet.mod", "kubelet");
        Invocation::new(kubelet)
            .args([what, "--node", &self.node, "--kubeconfig"])
            .args([self.cluster.kubeconfig()])
            .args(["--dir"])
            .args([self.dir.path()])
    }

    /// Starts the kubelet, which must not run.
    #[track_caller]
    pub(crate) fn start_kubelet(&mut self) {
        let kubelet = self.program("node").start();
        kubelet.wait_for_stdout("the kubelet runs", |text| text.contains("running"));
        self.kubelet = Some(kubelet);
    }

    /// Stops the kubelet. Containers run on.
    pub(crate) fn stop_kubelet(&mut self) {
        stop(self.kubelet.take());
    }

    /// Starts the driver, which must not run.
    #[track_caller]
    pub(crate) fn start_driver(&mut self) {
        self.start_driver_in("plugins_registry");
    }

    /// The same for another folder than the kubelet's.
    #[track_caller]
    pub(crate) fn start_driver_in(&mut self, registry: &str) {
        self.driver = Some(self.launch(registry, ""));
    }

    /// Another instance of the driver starts beside the one that runs, which ends once the kubelet knows the new one: a rolling update.
    #[track_caller]
    pub(crate) fn upgrade_driver(&mut self) {
        let uid = format!("{:x}", jiff::Timestamp::now().as_nanosecond());
        let next = self.launch("plugins_registry", &uid);
        next.wait_for_stdout("the kubelet knows the driver", |text| text.contains("registered"));
        stop(self.driver.replace(next));
    }

    #[track_caller]
    fn launch(&self, registry: &str, uid: &str) -> Process {
        let driver = self
            .program("driver")
            .args([
                "--driver",
                DRIVER,
                "--uid",
                uid,
                "--registry",
                registry,
                "--resources",
            ])
            .args([self.path("resources.json")]);
        let driver = driver.start();
        driver.wait_for_stdout("the driver runs", |text| text.contains("published"));
        driver
    }

    /// Stops the driver.
    pub(crate) fn stop_driver(&mut self) {
        stop(self.driver.take());
    }

    /// The node starts anew: all of its processes end, what is not on disk is lost, and the kubelet tells of it, as `kubelet_node_status.go`,
    /// `recordNodeStatusEvent` and `nodestatus/setters.go`, `MachineInfo`, do.
    #[track_caller]
    pub(crate) fn reboot(&mut self) {
        self.stop_driver();
        self.stop_kubelet();
        let _ = fs::remove_dir_all(self.path("run"));
        let name = format!("{}.{:x}", self.node, jiff::Timestamp::now().as_nanosecond());
        let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "default"},
            "involvedObject": {"kind": "Node", "name": self.node, "uid": self.node}, "type": "Warning", "reason": "Rebooted",
            "message": format!("Node {} has been rebooted, boot id: 2", self.node), "source": {"component": "kubelet", "host": self.node},
            "firstTimestamp": now(), "lastTimestamp": now(), "count": 1});
        let answer = self
            .cluster
            .request(&http::Method::POST, "/api/v1/namespaces/default/events", &event);
        assert!(answer.is_success(), "{answer:?}");
        self.start_kubelet();
        self.start_driver();
    }

    /// The kubelet forgets what it has prepared. It must not run.
    pub(crate) fn lose_checkpoint(&self) {
        let _ = fs::remove_dir_all(self.path("state"));
    }

    /// The kubelet cannot write down what it prepares: a folder is where its checkpoint should be.
    pub(crate) fn block_checkpoint(&self) {
        let checkpoint = self.path(CHECKPOINT);
        let _ = fs::rename(&checkpoint, self.path("checkpoint"));
        fs::create_dir_all(checkpoint.join("folder")).expect("the folder is writable");
    }

    /// It can again.
    pub(crate) fn unblock_checkpoint(&self) {
        let checkpoint = self.path(CHECKPOINT);
        fs::remove_dir_all(&checkpoint).expect("the folder is writable");
        let _ = fs::rename(self.path("checkpoint"), checkpoint);
    }

    /// Waits until the driver's slices are there.
    #[track_caller]
    pub(crate) fn wait_published(&self) {
        wait_for(&format!("{} is published", self.node), || {
            let slices = self.cluster.list("slice");
            let own = slices.iter().any(|slice| {
                slice["spec"]["nodeName"] == self.node.as_str()
                    && slice["spec"]["devices"]
                        .as_array()
                        .is_some_and(|devices| !devices.is_empty())
            });
            own.then_some(())
        });
    }
}

impl Host for Machine<'_> {
    fn name(&self) -> &str {
        &self.node
    }

    fn logs(&self) -> String {
        let text = |process: &Option<Process>| {
            process
                .as_ref()
                .map(|process| format!("{}{}", process.stdout(), process.stderr()))
                .unwrap_or_default()
        };
        format!(
            "kubelet:\n{}\ndriver:\n{}",
            text(&self.kubelet),
            text(&self.driver)
        )
    }
}

/// Stops a process in order.
pub(super) fn stop(process: Option<Process>) {
    if let Some(process) = process {
        process.signal(Signal::TERM);
        process.finish();
    }
}
