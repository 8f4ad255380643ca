//! A real Kubernetes control plane for tests: etcd, API server, scheduler and controller manager on this
//! machine, with TLS and RBAC, in a temporary folder and on free ports. There is no kubelet; [`kubelet`]
//! has the little of one that is needed, and [`node`] is a real one.
//!
//! ```text
//! let cluster = Cluster::start(&Options::default());
//! cluster.add_gpu_nodes(2);
//! cluster.run(&[claim("shared", claim_spec([gpu()])), pod("reader").named_claim("gpu", "shared")]);
//! let run = cluster.kubectl_dra(["claims"]).run().exits(0);
//! ```
//!
//! It stops when the value is dropped. When the test process is killed, its components notice that their
//! standard input closed and end by themselves. What can be done with it is told in `docs/internals/testing.md`.

mod api;
mod component;
mod etcd;
pub(crate) mod faulty;
mod files;
pub(crate) mod kubelet;
pub(crate) mod machine;
pub(crate) mod node;
pub(crate) mod objects;
mod options;
mod pool;
mod restore;
pub(crate) mod scenario;
mod token;
mod tunnel;
mod user;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rustix::process::Signal;

pub(crate) use api::{path_of, reference, runtime};
pub(crate) use component::free_port;
pub(crate) use options::{Component, Options};
pub(crate) use restore::Recorded;
pub(crate) use user::User;

use self::api::Api;
use self::component::{Ports, Running, log_tail};
use self::files::{ETCD_SOCKET, Files, SIGNER};
use self::user::Programs;
use serde_json::{Value, json};

use crate::support::go;
use crate::support::wait::try_wait;

/// What the API server writes about each request.
const AUDIT_LOG: &str = "audit.json";

/// Number of start attempts if another process took a port meanwhile.
const ATTEMPTS: usize = 5;

/// A control plane as long as a test uses it. As a [`User`] it is its administrator.
pub(crate) struct Cluster {
    /// Empty only while it is dropped.
    plane: Option<Plane>,
    // Behind the control plane, which is to be stopped before another one starts.
    _permit: Option<Permit>,
}

/// A running control plane, which several tests may use one after the other.
pub(crate) struct Plane {
    state: Mutex<State>,
    admin: User,
    ports: Ports,
    control_plane: PathBuf,
    files: Files,
}

struct State {
    options: Options,
    running: BTreeMap<Component, Running>,
    /// The components that were changed or halted since the test got this control plane.
    disturbed: BTreeSet<Component>,
    /// Since when what is asked for counts for the test.
    audited_since: jiff::Timestamp,
    /// Where that begins in the audit log.
    audited_from: usize,
}

impl Deref for Cluster {
    type Target = Plane;

    fn deref(&self) -> &Plane {
        self.plane.as_ref().expect("it is not dropped")
    }
}

impl Deref for Plane {
    type Target = User;

    fn deref(&self) -> &User {
        &self.admin
    }
}

impl Cluster {
    /// Returns a control plane with nothing in it that is ready to use: a new one, or one that an earlier test has left behind.
    ///
    /// Only so many are in use at the same time as the machine can bear; further tests wait here for their turn.
    #[track_caller]
    pub(crate) fn start(options: &Options) -> Self {
        let permit = Permit::acquire();
        Self {
            plane: Some(pool::take(options).unwrap_or_else(|| Plane::start(options))),
            _permit: Some(permit),
        }
    }

    /// A control plane with other options that has the same objects: an API server of its own in front of the same etcd. It has to be
    /// dropped first.
    #[track_caller]
    pub(crate) fn beside(&self, options: &Options) -> Self {
        let permit = Permit::acquire();
        let plane = Plane::start_with(&options.clone().without(Component::Etcd), Some(&self.files));
        // No test gets it without its etcd.
        drop(plane.disturb(&[Component::ApiServer]));
        Self {
            plane: Some(plane),
            _permit: Some(permit),
        }
    }

    /// A control plane for tests that only read, started by the first that asks for it, with the scenario
    /// [`scenario::bound_pods`].
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(|| {
            let cluster = Self {
                plane: Some(Plane::start(&Options::default())),
                _permit: None,
            };
            scenario::bound_pods(&cluster);
            cluster
        })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let Some(plane) = self.plane.take() else { return };
        if std::thread::panicking() {
            let thread = std::thread::current();
            let logs = plane.files.keep_logs(thread.name().unwrap_or("unnamed"));
            let _ = writeln!(std::io::stderr(), "logs of the control plane: {}", logs.display());
        } else if plane.is_of_use() {
            pool::give(plane);
        }
    }
}

impl Plane {
    #[track_caller]
    fn start(options: &Options) -> Self {
        Self::start_with(options, None)
    }

    /// Starts a control plane, with etcd of its own or that of others.
    #[track_caller]
    fn start_with(options: &Options, others: Option<&Files>) -> Self {
        let control_plane = go::build("controlplane");
        for _ in 0..ATTEMPTS {
            let files = Files::create();
            if let Some(others) = others {
                files.link(others, ETCD_SOCKET);
            }
            let ports = Ports::pick();
            for user in ["system:kube-scheduler", "system:kube-controller-manager"] {
                files.kubeconfig(user, None, ports.api_server);
            }
            let programs = Programs::install(&files, &control_plane);
            let plane = Self {
                state: Mutex::new(State {
                    options: options.clone(),
                    running: BTreeMap::new(),
                    disturbed: BTreeSet::new(),
                    audited_since: jiff::Timestamp::now(),
                    audited_from: 0,
                }),
                admin: User::admin(&files, ports.api_server, programs),
                ports,
                control_plane: control_plane.clone(),
                files,
            };
            let ready = plane.bring_up(&mut plane.state(), &Component::ALL);
            match ready {
                Ok(()) => return plane,
                Err(why) if why.contains("address already in use") => drop(plane),
                Err(why) => panic!("{why}"),
            }
        }
        panic!("no free ports after {ATTEMPTS} attempts");
    }

    /// Returns whether its servers are as in a new control plane.
    fn is_of_use(&self) -> bool {
        let options = self.state().options.clone();
        self.differs(&options).is_some()
    }

    /// Returns how many of its clients are other than in a new control plane with these options; nothing where its servers are.
    fn differs(&self, options: &Options) -> Option<usize> {
        let mut state = self.state();
        let (servers, clients): (Vec<_>, Vec<_>) = state
            .unlike(options)
            .into_iter()
            .partition(|component| component.is_server());
        servers.is_empty().then_some(clients.len())
    }

    /// Makes its clients those of a new control plane with these options.
    fn become_like(&self, options: &Options) {
        let mut state = self.state();
        let unlike = state.unlike(options);
        for component in unlike.iter().rev() {
            take_down(&mut state, *component);
        }
        state.options = options.clone();
        state.disturbed.clear();
        self.bring_up(&mut state, &unlike)
            .unwrap_or_else(|why| panic!("{why}"));
    }

    /// Adds a user without rights.
    pub(crate) fn user(&self, name: &str) -> User {
        self.admin.another(name, &self.files, self.ports.api_server)
    }

    /// A service account as a user, with the rights that it has by itself.
    pub(crate) fn service_account(&self, namespace: &str, name: &str) -> User {
        self.admin
            .account(namespace, name, &self.files, self.ports.api_server)
    }

    /// A service account as a user whose token the API server refuses once `lifetime` is over.
    pub(crate) fn passing_service_account(&self, namespace: &str, name: &str, lifetime: Duration) -> User {
        let token = self.admin.service_account_token(namespace, name);
        let token = token::ending(&token, &self.files.path(SIGNER), lifetime);
        let user = format!("system:serviceaccount:{namespace}:{name}");
        let kubeconfig = self.files.kubeconfig_with(
            &format!("{user}:passing"),
            &json!({"token": token}),
            self.ports.api_server,
        );
        self.admin.known_as(&user, kubeconfig)
    }

    /// The address of the API server.
    pub(crate) fn server(&self) -> String {
        format!("https://127.0.0.1:{}", self.ports.api_server)
    }

    /// The certificate that the API server's is signed with.
    pub(crate) fn certificate_authority(&self) -> PathBuf {
        self.files.path("ca.crt")
    }

    /// The process ids of the running components.
    pub(crate) fn process_ids(&self) -> Vec<u32> {
        self.state().running.values().map(Running::id).collect()
    }

    /// Returns what a user has asked the API server for so far, in the order of the answers, as
    /// `verb /path?query code`.
    pub(crate) fn requests_of(&self, user: &str) -> Vec<String> {
        let log = std::fs::read_to_string(self.files.path(AUDIT_LOG)).expect("the API server writes it");
        // A watch of an earlier test is written down when it ends.
        let (since, from) = {
            let state = self.state();
            (state.audited_since, state.audited_from)
        };
        // A log that grows too large begins anew.
        let log = log.get(from..).unwrap_or(&log);
        // Few of them are decoded.
        let named = format!("{user:?}");
        let is_later = |entry: &Value| {
            let received = entry["requestReceivedTimestamp"].as_str();
            received.and_then(|time| time.parse::<jiff::Timestamp>().ok()) >= Some(since)
        };
        let entries = log
            .lines()
            .filter(|line| line.contains(&named))
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(is_later);
        let of_user = entries.filter(|entry| entry["user"]["username"] == user);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        of_user
            .map(|entry| {
                let code = &entry["responseStatus"]["code"];
                format!("{} {} {code}", text(&entry["verb"]), text(&entry["requestURI"]))
            })
            .collect()
    }

    /// Leaves out of the audit log what was asked so far.
    fn begin_audit(&self) {
        let log = std::fs::metadata(self.files.path(AUDIT_LOG)).expect("the API server writes it");
        let mut state = self.state();
        state.audited_since = jiff::Timestamp::now();
        state.audited_from = log.len() as usize;
    }

    /// The administrator's view of another component's own port, for its `/metrics`, `/configz` and the like.
    pub(crate) fn at(&self, component: Component) -> Api {
        Api::at_port(self.kubeconfig(), self.ports.of(component))
    }

    /// Stops a component, without a rest of it running when this returns.
    pub(crate) fn stop(&self, component: Component) {
        let mut state = self.state();
        self.let_clients_start(&mut state, &[component]);
        take_down(&mut state, component);
    }

    /// Sends a running component a signal, such as those that halt it and let it go on.
    pub(crate) fn signal(&self, component: Component, signal: Signal) {
        self.disturb(&[component]).running[&component].signal(signal);
    }

    /// Starts a component that was stopped, and waits until it is ready.
    #[track_caller]
    pub(crate) fn resume(&self, component: Component) {
        self.bring_up(&mut self.state(), &[component])
            .unwrap_or_else(|why| panic!("{why}"));
    }

    /// Changes the options and restarts the components whose arguments or release change by that. Data stays.
    #[track_caller]
    pub(crate) fn reconfigure(&self, change: impl FnOnce(&mut Options)) {
        let mut state = self.state();
        let mut options = state.options.clone();
        change(&mut options);
        let changed = options.unlike(&state.options);
        state.options = options;
        state.disturbed.extend(&changed);
        self.let_clients_start(&mut state, &changed);
        for component in changed.iter().rev() {
            take_down(&mut state, *component);
        }
        self.bring_up(&mut state, &changed)
            .unwrap_or_else(|why| panic!("{why}"));
    }

    fn bring_up(&self, state: &mut State, components: &[Component]) -> Result<(), String> {
        let wanted: Vec<Component> = components
            .iter()
            .copied()
            .filter(|component| state.options.has(*component))
            .collect();
        // The API server waits for etcd by itself; the others end when there is no API server.
        let (store, clients): (Vec<_>, Vec<_>) = wanted
            .into_iter()
            .partition(|component| *component <= Component::ApiServer);
        for group in [store, clients] {
            for component in &group {
                // One that runs already would have its port until it is gone, which takes a while on a busy machine.
                take_down(state, *component);
                let release = state.options.release(*component).map(older);
                let running = Running::spawn(
                    release.as_ref().unwrap_or(&self.control_plane),
                    self.files.dir(),
                    *component,
                    self.ports,
                    &state.options,
                );
                state.running.insert(*component, running);
            }
            for component in group {
                self.wait_ready(state, component)?;
            }
        }
        Ok(())
    }

    /// Where the API server goes and the controller manager stays, waits until the latter has made its controllers: while it does, an API
    /// server that is away, or does not know its rights yet, ends it.
    fn let_clients_start(&self, state: &mut State, going: &[Component]) {
        let client = Component::ControllerManager;
        if !going.contains(&Component::ApiServer) || going.contains(&client) {
            return;
        }
        let Some(running) = state.running.get_mut(&client) else {
            return;
        };
        // There is a check for each controller once all of them are made. `/healthz` answers long before.
        let api = self.at(client);
        let started = try_wait(|| {
            if running.ended().is_some() {
                return Ok(());
            }
            match api.try_request(
                &http::Method::GET,
                "/healthz?verbose",
                "application/json",
                Vec::new(),
            ) {
                Ok(answer) if answer.body.to_string().contains("-controller ok") => Ok(()),
                Ok(answer) => Err(format!("{answer:?}")),
                Err(error) => Err(error.to_string()),
            }
        });
        started.unwrap_or_else(|last| panic!("{} does not make its controllers: {last}", client.name()));
    }

    /// Waits until a component answers that it is ready, or has ended. The answer is known to be this
    /// component's, whoever else may have got hold of its port: no other process has such a certificate.
    fn wait_ready(&self, state: &mut State, component: Component) -> Result<(), String> {
        if component == Component::Etcd {
            return Ok(());
        }
        let path = if component == Component::ControllerManager {
            "/healthz"
        } else {
            "/readyz"
        };
        let api = self.at(component);
        let running = &mut state.running;
        let ready = try_wait(|| {
            for (component, process) in &mut *running {
                if let Some(status) = process.ended() {
                    let log = log_tail(self.files.dir(), *component);
                    return Ok(Err(format!("{} ended with {status}:\n{log}", component.name())));
                }
            }
            match api.try_request(&http::Method::GET, path, "application/json", Vec::new()) {
                Ok(answer) if answer.is_success() => Ok(Ok(())),
                Ok(answer) => Err(format!("{answer:?}")),
                Err(error) => Err(error.to_string()),
            }
        });
        ready.unwrap_or_else(|last| {
            let log = log_tail(self.files.dir(), component);
            Err(format!("{} does not get ready: {last}\n{log}", component.name()))
        })
    }

    /// The state, in which these components will not be as they were.
    fn disturb(&self, components: &[Component]) -> MutexGuard<'_, State> {
        let mut state = self.state();
        state.disturbed.extend(components);
        state
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    /// The components that are not as in a new control plane with these options.
    fn unlike(&mut self, options: &Options) -> Vec<Component> {
        let mut unlike: BTreeSet<Component> = options.unlike(&self.options).into_iter().collect();
        unlike.extend(&self.disturbed);
        let mut runs = |component: &Component| {
            let running = self.running.get_mut(component);
            running.is_some_and(|running| running.ended().is_none())
        };
        let is_for_one = |component: &Component| options.has(*component) != runs(component);
        unlike.extend(Component::ALL.into_iter().filter(is_for_one));
        unlike.into_iter().collect()
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        // Clients before servers, or they fill their logs with complaints.
        let mut state = self.state();
        while state.running.pop_last().is_some() {}
    }
}

/// Returns what a mutex holds, also where a test has failed while it held it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The control plane of another release, such as `1.36`, built if need be.
pub(crate) fn older(release: &str) -> PathBuf {
    go::build_with(
        "controlplane",
        &format!("releases/{release}.mod"),
        &format!("controlplane_{release}"),
    )
}

fn take_down(state: &mut State, component: Component) {
    if let Some(running) = state.running.remove(&component) {
        match component {
            // It would wait for open watches, and has nothing in memory that matters.
            Component::ApiServer => drop(running),
            // These may have events to send.
            _ => running.stop(),
        }
    }
}

/// The right to run a control plane, of which each takes more than half a gigabyte and a processor core to
/// start. A test that has one gets more without waiting, since it might wait for itself.
struct Permit;

static PERMITS_IN_USE: Mutex<usize> = Mutex::new(0);
static PERMIT_RETURNED: Condvar = Condvar::new();

thread_local! {
    static HELD_HERE: Cell<usize> = const { Cell::new(0) };
}

/// Returns how many control planes are used at the same time: tests spend most of their time waiting for them, so that it is more than there are
/// processors, as far as memory allows.
fn most_at_once() -> usize {
    static MOST: OnceLock<usize> = OnceLock::new();
    *MOST.get_or_init(|| {
        let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let free = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
        let kib = free.and_then(|text| text.trim().strip_suffix(" kB")?.parse::<usize>().ok());
        // With those that wait in the pool.
        let by_memory = kib.map_or(2, |kib| kib / (2 << 20));
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        by_memory.clamp(2, 3 * cores.max(2))
    })
}

impl Permit {
    fn acquire() -> Self {
        let most = most_at_once();
        let mut in_use = lock(&PERMITS_IN_USE);
        while HELD_HERE.get() == 0 && *in_use >= most {
            in_use = PERMIT_RETURNED
                .wait(in_use)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *in_use += 1;
        HELD_HERE.set(HELD_HERE.get() + 1);
        Self
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *lock(&PERMITS_IN_USE) -= 1;
        // A cluster that was handed to another thread may be dropped there.
        HELD_HERE.set(HELD_HERE.get().saturating_sub(1));
        PERMIT_RETURNED.notify_one();
    }
}
