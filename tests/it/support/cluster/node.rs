//! A real node: containerd, runc and the kubelet, with drivers made of the real helper, and containers that run.
//!
//! Everything lies in a folder, but for cgroups, sockets of shims, links to logs and some kernel settings. All of that goes with the value; what
//! a killed test leaves behind goes when its number is taken again.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::UdpSocket;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::Cluster;
use super::component::free_port;
use super::machine::{Host, stop};
use crate::support::go;
use crate::support::process::{Invocation, Process};
use crate::support::wait::try_wait;

/// Folders of nodes, whose names are short enough for the paths of sockets.
const ROOT: &str = "/var/lib/kubectl-dra-tests";

/// The image of `tests/go/cmd/app`.
pub(crate) const IMAGE: &str = "localhost/dra/app:1";

/// The same under the name that sandboxes have.
pub(crate) const PAUSE: &str = "localhost/dra/pause:1";

/// Where distributions install CNI plugins.
const CNI: [&str; 3] = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const CGROUPS: &str = "/sys/fs/cgroup";

/// Limit of what watches files: six instances of a kubelet, fourteen of it and its control plane. Most systems allow 128, which all tests
/// together exceed, and a kubelet without any runs on and registers no node. It is not lowered again: nodes of other tests may need it.
const WATCHERS: (&str, u32) = ("/proc/sys/fs/inotify/max_user_instances", 1024);

/// What the kubelet sets in the kernel.
const SETTINGS: [&str; 7] = [
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
    "net/ipv4/ip_forward",
];

/// Why this machine cannot run a node; nothing if it can.
pub(crate) fn obstacles() -> Vec<String> {
    let mut found = Vec::new();
    if !rustix::process::geteuid().is_root() {
        found.push("root is needed".to_owned());
    }
    let probe = cgroups("kubectl-dra-probe");
    if probe.is_empty() || !probe.iter().all(|folder| fs::create_dir_all(folder).is_ok()) {
        found.push(format!("cgroups in {CGROUPS} are missing or read-only"));
    }
    for folder in probe {
        let _ = fs::remove_dir(folder);
    }
    let systems = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    if !systems.contains("overlay") {
        found.push("the file system overlay is missing".to_owned());
    }
    let is_missing = |tool: &&&str| !PATH.split(':').any(|dir| Path::new(dir).join(tool).is_file());
    for tool in ["runc", "umount"].iter().filter(is_missing) {
        found.push(format!("{tool} is missing"));
    }
    if cni().is_none() {
        found.push("CNI plugins are missing (Debian: containernetworking-plugins)".to_owned());
    }
    if address().is_none() {
        found.push("the machine has no address but that of the loopback interface".to_owned());
    }
    found
}

fn cni() -> Option<&'static str> {
    CNI.into_iter().find(|dir| Path::new(dir).join("ptp").is_file())
}

/// The address that packets for other machines are sent from. None is sent.
fn address() -> Option<String> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip().to_string())
}

/// The folders of a cgroup: one, or one for each controller of cgroup v1.
fn cgroups(name: &str) -> Vec<PathBuf> {
    let root = Path::new(CGROUPS);
    if root.join("cgroup.controllers").is_file() {
        return vec![root.join(name)];
    }
    let controllers = fs::read_dir(root).into_iter().flatten().flatten();
    controllers
        .filter(|entry| entry.path().join("cgroup.procs").is_file())
        .map(|entry| entry.path().join(name))
        .collect()
}

/// A folder and those below it, the deepest first.
fn with_folders_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut found: Vec<PathBuf> = below
        .flat_map(|entry| with_folders_below(&entry.path()))
        .collect();
    found.push(folder.to_owned());
    found
}

fn kill(pid: &str) {
    if let Some(pid) = pid.parse().ok().and_then(Pid::from_raw) {
        // Fails only when it has ended already.
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// A number that no other node of this machine has, with a folder.
struct Place {
    number: u8,
    dir: PathBuf,
    _in_use: File,
}

impl Place {
    fn take() -> Self {
        fs::create_dir_all(ROOT).expect("root may write there");
        let free = (1..=u8::MAX).find_map(|number| {
            let lock = File::create(format!("{ROOT}/{number}.lock")).expect("root may write there");
            lock.try_lock().is_ok().then_some((number, lock))
        });
        let (number, lock) = free.expect("fewer than 255 nodes run");
        let place = Self {
            number,
            dir: Path::new(ROOT).join(number.to_string()),
            _in_use: lock,
        };
        place.clear();
        place
    }

    fn cgroup(&self) -> String {
        format!("kubectl-dra-{}", self.number)
    }

    /// Makes the cgroup that the kubelet's are in, with all processors and controllers.
    fn make_cgroup(&self) {
        for folder in cgroups(&self.cgroup()) {
            fs::create_dir_all(&folder).expect("cgroups are writable");
            let parent = folder.parent().expect("it has a parent");
            for file in ["cpuset.cpus", "cpuset.mems"] {
                if let Ok(value) = fs::read(parent.join(file)) {
                    fs::write(folder.join(file), value).expect("cgroups are writable");
                }
            }
            for controller in fs::read_to_string(parent.join("cgroup.controllers"))
                .unwrap_or_default()
                .split_whitespace()
            {
                // One that cannot be had is missed by the kubelet if it is needed.
                let _ = fs::write(parent.join("cgroup.subtree_control"), format!("+{controller}"));
            }
        }
    }

    fn kill_containers(&self) {
        let folders = || {
            let tops = cgroups(&self.cgroup()).into_iter();
            tops.flat_map(|top| with_folders_below(&top))
        };
        // One that stays would show by its cgroup, which could not be removed.
        let _ = try_wait(|| {
            let processes: String = folders()
                .filter_map(|folder| fs::read_to_string(folder.join("cgroup.procs")).ok())
                .collect();
            processes.lines().for_each(kill);
            if processes.is_empty() { Ok(()) } else { Err(()) }
        });
    }

    /// What a reboot loses: shims with their sockets, mounts, the state of containerd, what drivers wrote and where they listen.
    fn forget_runtime(&self) {
        let socket = self.dir.join("containerd.sock");
        for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let command = fs::read(process.path().join("cmdline")).unwrap_or_default();
            let mut words = command.split(|byte| *byte == 0);
            let is_shim = words
                .next()
                .is_some_and(|program| program.ends_with(b"containerd-shim-runc-v2"));
            if is_shim && words.any(|word| word == socket.as_os_str().as_bytes()) {
                kill(&process.file_name().to_string_lossy());
            }
        }
        let state = self.dir.join("state");
        for folder in with_folders_below(&state) {
            let text = fs::read_to_string(folder.join("bootstrap.json")).unwrap_or_default();
            let bootstrap: Value = serde_json::from_str(&text).unwrap_or_default();
            if let Some(socket) = bootstrap["address"]
                .as_str()
                .and_then(|text| text.strip_prefix("unix://"))
            {
                let _ = fs::remove_file(socket);
            }
        }
        Self::unmount(&state);
        for lost in ["state", "cdi", "kubelet/plugins_registry"] {
            let _ = fs::remove_dir_all(self.dir.join(lost));
        }
        fs::create_dir_all(self.dir.join("cdi")).expect("root may write there");
    }

    fn unmount(below: &Path) {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
        let own: Vec<&str> = points
            .filter(|point| Path::new(point).starts_with(below))
            .collect();
        for point in own.iter().rev() {
            let _ = Command::new("umount").args(["-l", point]).status();
        }
    }

    /// Removes everything that a node with this number may have made.
    fn clear(&self) {
        self.kill_containers();
        self.forget_runtime();
        Self::unmount(&self.dir);
        for folder in cgroups(&self.cgroup())
            .iter()
            .flat_map(|top| with_folders_below(top))
        {
            let _ = fs::remove_dir(folder);
        }
        for link in fs::read_dir("/var/log/containers")
            .into_iter()
            .flatten()
            .flatten()
        {
            if fs::read_link(link.path()).is_ok_and(|target| target.starts_with(&self.dir)) {
                let _ = fs::remove_file(link.path());
            }
        }
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.clear();
        for (file, value) in settings() {
            let _ = fs::write(file, value);
        }
    }
}

/// What the kernel's settings were before the first node.
fn settings() -> &'static [(PathBuf, Vec<u8>)] {
    static BEFORE: OnceLock<Vec<(PathBuf, Vec<u8>)>> = OnceLock::new();
    BEFORE.get_or_init(|| {
        let files = SETTINGS.iter().map(|name| Path::new("/proc/sys").join(name));
        files
            .filter_map(|file| Some((file.clone(), fs::read(file).ok()?)))
            .collect()
    })
}

fn allow_watchers() {
    let (file, wanted) = WATCHERS;
    let allowed = fs::read_to_string(file)
        .ok()
        .and_then(|text| text.trim().parse().ok());
    if allowed.is_some_and(|allowed: u32| allowed < wanted) {
        // Where this is not permitted, they may still suffice.
        let _ = fs::write(file, wanted.to_string());
    }
}

/// A node with its kubelet, its container runtime and its drivers. All of them end with it.
pub(crate) struct Node<'c> {
    cluster: &'c Cluster,
    name: String,
    port: u16,
    drivers: BTreeMap<String, Process>,
    kubelet: Option<Process>,
    containerd: Option<Process>,
    // Behind the processes, which are to end first.
    place: Place,
}

impl Host for Node<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    /// The last that each of its programs has written.
    fn logs(&self) -> String {
        let named = |name: &str, process: &Process| {
            let text = format!("{}{}", process.stdout(), process.stderr());
            let lines: Vec<&str> = text.lines().collect();
            format!(
                "{name}:\n{}\n",
                lines[lines.len().saturating_sub(40)..].join("\n")
            )
        };
        let runtime = self.containerd.iter().map(|process| named("containerd", process));
        let kubelet = self.kubelet.iter().map(|process| named("kubelet", process));
        let drivers = self
            .drivers
            .iter()
            .map(|(driver, process)| named(driver, process));
        runtime.chain(kubelet).chain(drivers).collect()
    }
}

impl<'c> Node<'c> {
    /// A ready node whose drivers have published their devices, four each.
    #[track_caller]
    pub(crate) fn start(cluster: &'c Cluster, name: &str, drivers: &[&str]) -> Self {
        let obstacles = obstacles();
        assert!(
            obstacles.is_empty(),
            "this machine cannot run a node: {}",
            obstacles.join("; ")
        );
        settings();
        allow_watchers();
        let place = Place::take();
        let mut node = Self {
            cluster,
            name: name.to_owned(),
            port: free_port(),
            drivers: BTreeMap::new(),
            kubelet: None,
            containerd: None,
            place,
        };
        node.configure();
        node.start_containerd();
        node.load_images();
        node.start_kubelet();
        node.wait_ready("True");
        // Until the controller has seen it, a taint keeps pods off.
        node.cluster
            .wait(&format!("node/{name}"), "it has no taint", |node| {
                node["spec"]["taints"].is_null()
            });
        for driver in drivers {
            node.start_driver(driver);
        }
        for driver in drivers {
            node.wait_published(driver);
        }
        node
    }

    /// The path of something in its folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.dir.join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("root may write there");
        // Read whole or not at all.
        let next = path.with_extension("next");
        fs::write(&next, text).expect("root may write there");
        fs::rename(next, path).expect("root may write there");
    }

    fn configure(&self) {
        let (dir, number) = (self.place.dir.display(), self.place.number);
        for folder in ["cdi", "kubelet", "drivers"] {
            fs::create_dir_all(self.path(folder)).expect("root may write there");
        }
        self.place.make_cgroup();
        let network = json!({"cniVersion": "1.0.0", "name": "kubectl-dra", "plugins": [{"type": "ptp", "ipMasq": false, "ipam": {
            "type": "host-local", "dataDir": self.path("addresses"), "ranges": [[{"subnet": format!("10.231.{number}.0/24")}]]}}]});
        self.write("cni/10-ptp.conflist", network.to_string());
        self.new_boot();
        let cni = cni().expect("the machine can run a node");
        let shim = go::containerd("containerd-shim-runc-v2", "shim");
        self.write(
            "containerd.toml",
            format!(
                r#"version = 3
root = "{dir}/root"
state = "{dir}/state"
[grpc]
  address = "{dir}/containerd.sock"
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "overlayfs"
  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = "{PAUSE}"
[plugins."io.containerd.cri.v1.runtime"]
  enable_cdi = true
  cdi_spec_dirs = ["{dir}/cdi"]
  netns_mounts_under_state_dir = true
  # Without CAP_SYS_RESOURCE, as in some virtual machines, runc cannot lower the score that a pod asks for.
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["{cni}"]
    conf_dir = "{dir}/cni"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    runtime_path = "{shim}"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
      SystemdCgroup = false
[plugins."io.containerd.nri.v1.nri"]
  socket_path = "{dir}/nri.sock"
"#,
                shim = shim.display()
            ),
        );
        let kubelet = json!({"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
            "cgroupRoot": format!("/{}", self.place.cgroup()), "cgroupDriver": "cgroupfs", "failCgroupV1": false,
            "failSwapOn": false, "makeIPTablesUtilChains": false,
            "containerRuntimeEndpoint": format!("unix://{dir}/containerd.sock"),
            "address": address(), "port": self.port, "healthzPort": 0,
            "authentication": {"anonymous": {"enabled": false}, "webhook": {"enabled": false},
                "x509": {"clientCAFile": self.cluster.certificate_authority()}},
            "authorization": {"mode": "AlwaysAllow"},
            "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
            "imageGCHighThresholdPercent": 100, "podLogsDir": self.path("logs"), "volumePluginDir": self.path("volume-plugins"),
            "resolvConf": "", "clusterDNS": ["10.0.0.10"], "clusterDomain": "cluster.local",
            // A silent kubelet is to be noticed soon.
            "nodeStatusUpdateFrequency": "2s", "nodeStatusReportFrequency": "5s", "nodeLeaseDurationSeconds": 8, "syncFrequency": "20s"});
        self.write("kubelet.json", kubelet.to_string());
    }

    fn new_boot(&self) {
        self.write("boot_id", jiff::Timestamp::now().as_nanosecond().to_string());
    }

    /// Starts the container runtime, which must not run.
    #[track_caller]
    pub(crate) fn start_containerd(&mut self) {
        let containerd = Invocation::new(go::containerd("containerd", "containerd"))
            .env("PATH", PATH)
            .args(["--config".into(), self.path("containerd.toml")])
            .start();
        self.containerd = Some(containerd);
        self.wait_for("containerd answers", || {
            (self.ctr(&["version"]).code == Some(0)).then_some(())
        });
    }

    /// Stops the container runtime. Containers run on.
    pub(crate) fn stop_containerd(&mut self) {
        stop(self.containerd.take());
    }

    /// A request to the container runtime.
    pub(crate) fn ctr(&self, args: &[&str]) -> crate::support::process::Run {
        Invocation::new(go::containerd("ctr", "ctr"))
            .args(["--address".into(), self.path("containerd.sock")])
            .args(["--namespace", "k8s.io"])
            .args(args)
            .run()
    }

    /// Gives the container runtime the images that it lacks.
    #[track_caller]
    pub(crate) fn load_images(&self) {
        let archive = self.path("image.tar");
        let file = File::create(&archive).expect("root may write there");
        let image = Invocation::new(go::build_static("app")).args(["image", IMAGE, PAUSE]);
        image.stdout_to(file).run().exits(0);
        self.ctr(&["images", "import", &archive.to_string_lossy()])
            .exits(0);
    }

    /// Starts the kubelet, which must not run.
    #[track_caller]
    pub(crate) fn start_kubelet(&mut self) {
        let flag = |name: &str, value: &str| format!("--{name}={value}");
        let path = |name: &str| self.path(name).display().to_string();
        let kubelet = Invocation::new(go::build_with("node", "kubelet.mod", "node"))
            .env("PATH", PATH)
            .env("BOOT_ID_FILE", self.path("boot_id"))
            .args([
                flag("config", &path("kubelet.json")),
                flag("kubeconfig", &self.cluster.kubeconfig().display().to_string()),
                flag("root-dir", &path("kubelet")),
                flag("cert-dir", &path("kubelet/pki")),
                flag("hostname-override", &self.name),
                flag("node-ip", &address().expect("the machine can run a node")),
                "-v=1".to_owned(),
            ])
            .start();
        self.kubelet = Some(kubelet);
    }

    /// Stops the kubelet. Containers run on.
    pub(crate) fn stop_kubelet(&mut self) {
        stop(self.kubelet.take());
    }

    /// The kubelet and the drivers start anew, and containers run on: for a minute from now on, the kubelet does not look for pods that were
    /// deleted by force, whose devices it gives back.
    #[track_caller]
    pub(crate) fn restart(&mut self, drivers: &[&str]) {
        self.stop_kubelet();
        for driver in drivers {
            self.stop_driver(driver);
        }
        self.start_kubelet();
        // Drivers that run meanwhile would publish their slices again only half a minute later.
        for driver in drivers {
            self.wait_withdrawn(driver);
        }
        for driver in drivers {
            self.start_driver(driver);
            self.wait_published(driver);
        }
    }

    /// Waits for what the node says of its readiness.
    #[track_caller]
    pub(crate) fn wait_ready(&self, status: &str) {
        self.wait_for(&format!("it is ready: {status}"), || {
            let node = self.cluster.find(&format!("node/{}", self.name))?;
            let conditions = node["status"]["conditions"].as_array()?;
            let ready = conditions.iter().find(|condition| condition["type"] == "Ready")?;
            (ready["status"] == status).then_some(())
        });
    }

    /// Arguments of a driver, for a process or a pod.
    pub(crate) fn driver_command(&self, driver: &str) -> Vec<String> {
        let resources = format!("drivers/{driver}/resources.json");
        if !self.path(&resources).exists() {
            let prefix = driver.split('.').next().unwrap_or_default();
            let devices: Vec<Value> = (0..4)
                .map(|index| json!({"name": format!("{prefix}-{index}")}))
                .collect();
            let text = json!({"Pools": {&self.name: {"Slices": [{"Devices": devices}]}}});
            self.write(&resources, text.to_string());
        }
        let path = |name: &str| self.path(name).display().to_string();
        let program = go::build_with("kubelet", "kubelet.mod", "kubelet");
        let flags = [
            ("driver", driver.to_owned()),
            ("node", self.name.clone()),
            ("kubeconfig", self.cluster.kubeconfig().display().to_string()),
            ("dir", path(&format!("drivers/{driver}"))),
            ("kubelet-dir", path("kubelet")),
            ("cdi", path("cdi")),
            ("resources", path(&resources)),
        ];
        let flags = flags.into_iter().map(|(name, value)| format!("--{name}={value}"));
        [program.display().to_string(), "driver".to_owned()]
            .into_iter()
            .chain(flags)
            .collect()
    }

    /// Starts a driver as a process of the node.
    #[track_caller]
    pub(crate) fn start_driver(&mut self, driver: &str) {
        let command = self.driver_command(driver);
        let process = Invocation::new(&command[0]).args(&command[1..]).start();
        process.wait_for_stdout("the driver runs", |text| text.contains("published"));
        self.drivers.insert(driver.to_owned(), process);
    }

    /// Stops a driver in order: it takes its sockets away.
    pub(crate) fn stop_driver(&mut self, driver: &str) {
        stop(self.drivers.remove(driver));
    }

    /// Kills a driver, or lets one go that has crashed: its sockets stay.
    pub(crate) fn kill_driver(&mut self, driver: &str) {
        self.drivers.remove(driver);
    }

    /// A file that changes what a driver does, see `tests/go/cmd/kubelet/driver.go`.
    pub(crate) fn tell(&self, driver: &str, file: &str, text: &str) {
        self.write(&format!("drivers/{driver}/{file}"), text);
    }

    /// Removes such a file.
    pub(crate) fn untell(&self, driver: &str, file: &str) {
        fs::remove_file(self.path(&format!("drivers/{driver}/{file}"))).expect("the driver was told");
    }

    /// Waits until a driver's slices are there.
    #[track_caller]
    pub(crate) fn wait_published(&self, driver: &str) {
        self.wait_for(&format!("{driver} publishes"), || {
            self.publishes(driver).then_some(())
        });
    }

    /// Waits until no slice of a driver is there: the kubelet deletes them half a minute after it is gone.
    #[track_caller]
    pub(crate) fn wait_withdrawn(&self, driver: &str) {
        self.wait_for(&format!("the slices of {driver} go"), || {
            (!self.publishes(driver)).then_some(())
        });
    }

    fn publishes(&self, driver: &str) -> bool {
        let slices = self.cluster.list("slice");
        slices
            .iter()
            .any(|slice| slice["spec"]["nodeName"] == self.name.as_str() && slice["spec"]["driver"] == driver)
    }

    /// Deletes the CDI files.
    pub(crate) fn lose_cdi_files(&self) {
        for file in fs::read_dir(self.path("cdi")).into_iter().flatten().flatten() {
            let _ = fs::remove_file(file.path());
        }
    }

    /// The node starts anew, with no driver yet: processes, containers, `/run` and CDI files are gone, disks stay.
    #[track_caller]
    pub(crate) fn reboot(&mut self) {
        self.drivers.clear();
        self.kubelet = None;
        self.place.kill_containers();
        self.containerd = None;
        self.place.forget_runtime();
        self.new_boot();
        self.start_containerd();
        self.start_kubelet();
    }
}
