//! Running a program to its end or in the background, with both streams and the exit code kept.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
use serde_json::Value;
use tempfile::TempDir;

use super::wait::{PATIENCE, try_wait};

/// Writes a script that can be run.
///
/// Another process does it: a test that starts a program at the same moment would have the file open for writing for a moment, too, and what
/// is open for writing cannot be run. A shell takes the next program of that name then.
#[track_caller]
pub(crate) fn write_program(path: &Path, text: &str) {
    Invocation::new("install")
        .args(["-m", "755", "/dev/stdin"])
        .args([path])
        .stdin(text)
        .run()
        .exits(0);
}

/// A program about to run: arguments, environment (empty unless given), standard input (closed unless given).
pub(crate) struct Invocation {
    command: Command,
    input: Vec<u8>,
    /// Target of standard output if it is not captured.
    stdout: Option<Stdio>,
    home: Option<TempDir>,
}

impl Invocation {
    /// Runs `program`.
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        command.env_clear();
        Self {
            command,
            input: Vec::new(),
            stdout: None,
            home: None,
        }
    }

    /// Gives the program an empty home of its own, without a kubeconfig.
    pub(crate) fn at_home(mut self) -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        self.command
            .env("HOME", home.path())
            .env("KUBECONFIG", home.path().join("no-kubeconfig"));
        self.home = Some(home);
        self
    }

    /// Sends standard output there, instead of keeping it.
    pub(crate) fn stdout_to(mut self, stdout: impl Into<Stdio>) -> Self {
        self.stdout = Some(stdout.into());
        self
    }

    /// Adds arguments.
    pub(crate) fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(args);
        self
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Sets the working directory.
    pub(crate) fn current_dir(mut self, dir: &Path) -> Self {
        self.command.current_dir(dir);
        self
    }

    /// Runs it to its end with standard input from there.
    #[track_caller]
    pub(crate) fn run_with_stdin(mut self, input: impl Into<Stdio>) -> Run {
        self.command
            .stdin(input.into())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let (shown, mut child) = start(self.command);
        let stderr = Stream::collect(child.stderr.take().expect("standard error is a pipe"));
        Process::new(shown, child, stderr, self.home).finish()
    }

    /// Returns what the program reads from its standard input.
    pub(crate) fn stdin(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Runs it to its end, which must come within the usual patience.
    #[track_caller]
    pub(crate) fn run(self) -> Run {
        self.start_unguarded().finish()
    }

    /// Starts it and leaves it running, as a child that outlives this process if that is killed.
    #[track_caller]
    pub(crate) fn start_unguarded(self) -> Process {
        Process::spawn(self.command, self.input, self.stdout, self.home)
    }

    /// Starts it at a terminal: what is written to the returned file is typed, and what the terminal shows is standard error. Standard
    /// output goes to a pipe.
    #[track_caller]
    pub(crate) fn start_at_terminal(mut self) -> (Process, File) {
        let (keyboard, terminal) = terminal();
        let copy = |file: &File| file.try_clone().expect("file handles can be duplicated");
        self.command
            .stdin(copy(&terminal))
            .stdout(Stdio::piped())
            .stderr(terminal);
        let (shown, child) = start(self.command);
        let stderr = Stream::collect(copy(&keyboard));
        (Process::new(shown, child, stderr, self.home), keyboard)
    }

    /// Starts it with a screen of so many columns, which shows its streams as they are written: no carriage returns come in. What the
    /// screen shows is standard output, unless that goes elsewhere.
    #[track_caller]
    pub(crate) fn start_on_screen(mut self, columns: u16, shown: Screen) -> Process {
        let (screen, terminal) = terminal();
        let mut modes = tcgetattr(&terminal).expect("a terminal has modes");
        modes.make_raw();
        tcsetattr(&terminal, OptionalActions::Now, &modes).expect("a terminal has modes");
        resize(&terminal, columns, columns.min(24));
        let copy = || Stdio::from(terminal.try_clone().expect("file handles can be duplicated"));
        let (stdout, stderr) = match shown {
            Screen::Both => (copy(), copy()),
            Screen::Stdout => (copy(), Stdio::piped()),
            Screen::Stderr => (Stdio::piped(), copy()),
        };
        self.command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
        drop(terminal);
        let (command, mut child) = start(self.command);
        let piped = child.stderr.take();
        let screen = Stream::collect(screen);
        let (stdout, stderr) = match piped {
            Some(pipe) => (Some(screen), Stream::collect(pipe)),
            None if shown == Screen::Stderr => (child.stdout.take().map(Stream::collect), screen),
            None => (Some(screen), Stream::collect(std::io::empty())),
        };
        Process {
            command,
            child,
            stdout,
            stderr,
            home: self.home,
        }
    }

    /// Starts it as a user does at a terminal of this size: what is written to the returned file is typed, and what the terminal shows is
    /// standard output. Wrap it with `setsid --ctty`, so that the terminal is also the one that the program controls.
    #[track_caller]
    pub(crate) fn start_full_screen(mut self, columns: u16, lines: u16) -> (Process, File) {
        let (keyboard, terminal) = terminal();
        resize(&keyboard, columns, lines);
        let copy = || Stdio::from(terminal.try_clone().expect("file handles can be duplicated"));
        self.command.stdin(copy()).stdout(copy()).stderr(copy());
        drop(terminal);
        let (command, child) = start(self.command);
        let screen = keyboard.try_clone().expect("file handles can be duplicated");
        let process = Process {
            command,
            child,
            stdout: Some(Stream::collect(screen)),
            stderr: Stream::collect(std::io::empty()),
            home: self.home,
        };
        (process, keyboard)
    }

    /// Runs it to its end on a screen.
    #[track_caller]
    pub(crate) fn run_on_screen(self, columns: u16, shown: Screen) -> Run {
        self.start_on_screen(columns, shown).finish()
    }

    /// Starts it and leaves it running. It ends when the returned value is dropped, or, on Linux, when the test dies.
    #[track_caller]
    pub(crate) fn start(mut self) -> Process {
        if cfg!(target_os = "linux") {
            let mut guarded = Command::new("/usr/bin/setpriv");
            guarded
                .args(["--pdeathsig", "KILL", "--"])
                .arg(self.command.get_program())
                .args(self.command.get_args())
                .env_clear();
            for (name, value) in self.command.get_envs() {
                guarded.env(name, value.unwrap_or_default());
            }
            if let Some(dir) = self.command.get_current_dir() {
                guarded.current_dir(dir);
            }
            self.command = guarded;
        }
        self.start_unguarded()
    }
}

/// Streams shown on a screen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Screen {
    Both,
    Stdout,
    Stderr,
}

/// A terminal: where keys are pressed and the screen is seen, and where programs have it.
#[track_caller]
fn terminal() -> (File, File) {
    let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&keyboard).expect("a terminal");
    unlockpt(&keyboard).expect("a terminal");
    let name = ptsname(&keyboard, Vec::new()).expect("the terminal has a name");
    let terminal = File::options()
        .read(true)
        .write(true)
        .open(OsStr::from_bytes(name.as_bytes()))
        .expect("the terminal can be opened");
    (File::from(keyboard), terminal)
}

/// Gives a terminal this size. The programs that it controls are told.
#[track_caller]
pub(crate) fn resize(terminal: &File, columns: u16, lines: u16) {
    let size = Winsize {
        ws_row: lines,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(terminal, size).expect("a terminal has a size");
}

/// Starts a program; with it comes its command line. Its ends of pipes and terminals are closed here.
#[track_caller]
fn start(mut command: Command) -> (String, Child) {
    let shown = format!("{command:?}");
    let child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{shown} cannot be started: {error}"));
    (shown, child)
}

/// Exit status and output of a program.
#[derive(Debug)]
pub(crate) struct Run {
    /// The command line, for failure messages.
    pub(crate) command: String,
    /// The exit code, or none when a signal ended it.
    pub(crate) code: Option<i32>,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The home that it had for itself.
    pub(crate) home: Option<TempDir>,
}

impl Run {
    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "exit code of {} (signal {:?})\n--- stdout\n{}\n--- stderr\n{}",
            self.command,
            self.signal,
            self.stdout,
            self.stderr
        );
        self
    }

    /// Standard output as JSON, of a run that must have succeeded.
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        let run = self.exits(0);
        serde_json::from_str(&run.stdout)
            .unwrap_or_else(|error| panic!("{}: {error}\n{}", run.command, run.stdout))
    }
}

/// A running program. Dropping it kills it.
pub(crate) struct Process {
    command: String,
    child: Child,
    /// None when it goes elsewhere.
    stdout: Option<Stream>,
    stderr: Stream,
    home: Option<TempDir>,
}

impl Process {
    #[track_caller]
    fn spawn(mut command: Command, input: Vec<u8>, stdout: Option<Stdio>, home: Option<TempDir>) -> Self {
        command
            .stdin(if input.is_empty() {
                Stdio::null()
            } else {
                Stdio::piped()
            })
            .stdout(stdout.unwrap_or_else(Stdio::piped))
            .stderr(Stdio::piped());
        let (shown, mut child) = start(command);
        if let Some(mut pipe) = child.stdin.take() {
            // A program may end without reading its input.
            std::thread::spawn(move || _ = pipe.write_all(&input));
        }
        let stderr = Stream::collect(child.stderr.take().expect("standard error is a pipe"));
        Self::new(shown, child, stderr, home)
    }

    fn new(command: String, mut child: Child, stderr: Stream, home: Option<TempDir>) -> Self {
        let stdout = child.stdout.take().map(Stream::collect);
        Self {
            command,
            child,
            stdout,
            stderr,
            home,
        }
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Memory that is in use now, in bytes.
    pub(crate) fn resident(&self) -> u64 {
        let status = self.file("status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kib.and_then(|kib| kib.parse::<u64>().ok())
            .expect("an amount of memory")
            * 1024
    }

    /// Processor time so far, in user mode and in the kernel.
    pub(crate) fn processor_time(&self) -> Duration {
        let stat = self.file("stat");
        // Behind the name of the program, which may have any character in it.
        let (_, fields) = stat.rsplit_once(") ").expect("a name");
        let ticks = fields.split(' ').skip(11).take(2);
        let ticks = ticks.map(|ticks| ticks.parse::<u64>().expect("a number"));
        Duration::from_millis(ticks.sum::<u64>() * 10)
    }

    fn file(&self, name: &str) -> String {
        let path = format!("/proc/{}/{name}", self.child.id());
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Returns what it wrote to standard output so far.
    pub(crate) fn stdout(&self) -> String {
        self.stdout.as_ref().map(Stream::text).unwrap_or_default()
    }

    /// Returns what it wrote to standard error so far.
    pub(crate) fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Returns whether it has come to its end.
    pub(crate) fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Waits until what it wrote to standard output satisfies `condition`.
    #[track_caller]
    pub(crate) fn wait_for_stdout(&self, what: &str, condition: impl Fn(&str) -> bool) -> String {
        let written = try_wait(|| {
            let text = self.stdout();
            if condition(&text) { Ok(text) } else { Err(text) }
        });
        written.unwrap_or_else(|text| {
            panic!(
                "gave up on {}: {what}\n--- stdout\n{text}\n--- stderr\n{}",
                self.command,
                self.stderr()
            )
        })
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).unwrap_or_else(|error| panic!("{}: {error}", self.command));
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Run {
        let status = self.wait().unwrap_or_else(|| {
            panic!(
                "{} did not end within {} s\n--- stdout\n{}\n--- stderr\n{}",
                self.command,
                PATIENCE.as_secs(),
                self.stdout(),
                self.stderr()
            )
        });
        Run {
            command: std::mem::take(&mut self.command),
            code: status.code(),
            signal: status.signal(),
            stdout: self.stdout.as_mut().map(Stream::end).unwrap_or_default(),
            stderr: self.stderr.end(),
            home: self.home.take(),
        }
    }

    fn wait(&mut self) -> Option<ExitStatus> {
        // Short runs are waited for closely, since a test has many of them.
        for _ in 0..200 {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        try_wait(|| self.child.try_wait().ok().flatten().ok_or(())).ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = writeln!(
                std::io::stderr(),
                "standard error of the program:\n{}",
                self.stderr()
            );
        }
        // Fails only when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One output stream, collected while the program runs, so that a full pipe never blocks it.
struct Stream {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Stream {
    fn collect(mut pipe: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                sink.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .extend_from_slice(&buffer[..count]);
            }
        });
        Self {
            bytes,
            reader: Some(reader),
        }
    }

    /// Returns what came so far, in which a character may be cut in two.
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    fn end(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8(bytes.clone()).expect("programs write UTF-8")
    }
}
