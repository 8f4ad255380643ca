//! Programs that are started for a command, which must not outlive it.
//!
//! A credential plugin may hang, and what it has started with it. The command ends all the same, when its time is over or the user wants
//! it to, and these programs have to end together with it: they would hold the terminal, or the pipe that a reader waits at.

use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The programs that run now.
static RUNNING: Mutex<Vec<Process>> = Mutex::new(Vec::new());

/// A program that runs.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Process {
    id: u32,
    /// True if it leads a process group of its own.
    leads: bool,
}

/// A program, until this is dropped.
pub(super) struct Running(Process);

impl Running {
    /// Starts a program that [`end_programs`] ends with what it has started. One that may ask on the terminal stays in the group that has it.
    pub(super) fn start(mut command: Command, asks: bool) -> io::Result<(Child, Self)> {
        let leads = cfg!(unix) && !asks;
        #[cfg(unix)]
        if leads {
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        // Terminating all of them waits for a process that is being started.
        let mut running = running();
        let child = command.spawn()?;
        let process = Process {
            id: child.id(),
            leads,
        };
        running.push(process);
        Ok((child, Self(process)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = running();
        if let Some(at) = running.iter().position(|process| *process == self.0) {
            running.swap_remove(at);
        }
    }
}

fn running() -> MutexGuard<'static, Vec<Process>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends what still runs, and what that has started. Call it when the process ends: no further program can be started.
pub fn end_programs() {
    let running = running();
    if !running.is_empty() {
        signals::end(&running);
    }
    std::mem::forget(running);
}

#[cfg(unix)]
mod signals {
    use std::collections::HashMap;
    use std::time::Duration;

    use rustix::process::{
        Pid, Signal, kill_process, kill_process_group, test_kill_process, test_kill_process_group,
    };

    use super::Process;

    /// Interval for checking whether a terminated program has exited.
    const LOOK: Duration = Duration::from_millis(5);
    /// Looks before a program is ended that does not do it itself.
    const LOOKS: u32 = 40;

    /// Something that is sent signals.
    enum Target {
        Group(Pid),
        One(Pid),
    }

    impl Target {
        fn send(&self, signal: Signal) {
            // What has ended meanwhile needs no signal.
            _ = match self {
                Self::Group(group) => kill_process_group(*group, signal),
                Self::One(process) => kill_process(*process, signal),
            };
        }

        fn is_there(&self) -> bool {
            match self {
                Self::Group(group) => test_kill_process_group(*group).is_ok(),
                Self::One(process) => test_kill_process(*process).is_ok(),
            }
        }
    }

    pub(super) fn end(running: &[Process]) {
        let targets: Vec<Target> = running.iter().copied().flat_map(targets).collect();
        for target in &targets {
            target.send(Signal::TERM);
        }
        for _ in 0..LOOKS {
            if !targets.iter().any(Target::is_there) {
                return;
            }
            std::thread::sleep(LOOK);
        }
        for target in &targets {
            target.send(Signal::KILL);
        }
    }

    /// A program with all that it has started.
    fn targets(process: Process) -> Vec<Target> {
        let Some(id) = i32::try_from(process.id).ok().and_then(Pid::from_raw) else {
            return Vec::new();
        };
        if process.leads {
            return vec![Target::Group(id)];
        }
        let children = children();
        let mut found = vec![id];
        let mut next = 0;
        while let Some(parent) = found.get(next) {
            let of_parent = children.get(parent).into_iter().flatten();
            found.extend(of_parent.copied().collect::<Vec<_>>());
            next += 1;
        }
        found.into_iter().map(Target::One).collect()
    }

    /// Every process that can be seen, by the one that started it.
    #[cfg(target_os = "linux")]
    fn children() -> HashMap<Pid, Vec<Pid>> {
        let mut children = HashMap::<_, Vec<Pid>>::new();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(id) = name.to_str().and_then(pid) else {
                continue;
            };
            #[expect(
                clippy::disallowed_methods,
                reason = "the system exposes its processes as files"
            )]
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            // Behind the name of the program, which may hold anything, come the state and the parent.
            let parent = stat
                .rsplit_once(')')
                .and_then(|(_, rest)| rest.split_whitespace().nth(1));
            if let Some(parent) = parent.and_then(pid) {
                children.entry(parent).or_default().push(id);
            }
        }
        children
    }

    /// Every process that can be seen, by the one that started it.
    #[cfg(not(target_os = "linux"))]
    fn children() -> HashMap<Pid, Vec<Pid>> {
        let mut children = HashMap::<_, Vec<Pid>>::new();
        let listed = std::process::Command::new("ps")
            .args(["-A", "-o", "pid=,ppid="])
            .output();
        let text = listed.map(|listed| listed.stdout).unwrap_or_default();
        for line in String::from_utf8_lossy(&text).lines() {
            let mut words = line.split_whitespace();
            if let (Some(id), Some(parent)) = (words.next().and_then(pid), words.next().and_then(pid)) {
                children.entry(parent).or_default().push(id);
            }
        }
        children
    }

    fn pid(text: &str) -> Option<Pid> {
        text.parse().ok().and_then(Pid::from_raw)
    }
}

#[cfg(not(unix))]
mod signals {
    use super::Process;

    /// Ends programs with what they have started.
    pub(super) fn end(running: &[Process]) {
        for process in running {
            // A process that exited meanwhile is not found.
            _ = std::process::Command::new("taskkill")
                .args(["/T", "/F", "/PID", &process.id.to_string()])
                .output();
        }
    }
}
