//! The live view, at a terminal that a program reads as a user does.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use insta::assert_snapshot;

use crate::support::command::isolated;
use crate::support::process::{Invocation, Process, Run, resize};
use crate::support::wait::try_wait;

/// A user at a terminal with the live view.
pub(crate) struct User {
    process: Process,
    keyboard: File,
    size: (u16, u16),
}

impl User {
    /// Starts `top` on a terminal of so many columns and lines.
    fn at(args: &[&str], columns: u16, lines: u16) -> Self {
        Self::with(
            Self::invocation(env!("CARGO_BIN_EXE_kubectl-dra"), args),
            columns,
            lines,
        )
    }

    /// Starts `top` of `program` on the cluster of a kubeconfig.
    pub(crate) fn of_cluster(program: &str, kubeconfig: &Path, columns: u16, lines: u16) -> Self {
        let invocation = Self::invocation(program, &[]).env("KUBECONFIG", kubeconfig);
        Self::with(invocation, columns, lines)
    }

    fn invocation(program: &str, args: &[&str]) -> Invocation {
        isolated("setsid", &[&["--ctty", "--wait", program, "top"], args].concat())
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
    }

    fn with(invocation: Invocation, columns: u16, lines: u16) -> Self {
        let (process, keyboard) = invocation.start_full_screen(columns, lines);
        Self {
            process,
            keyboard,
            size: (columns, lines),
        }
    }

    /// The program.
    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.keyboard
            .write_all(keys.as_bytes())
            .expect("the terminal takes keys");
    }

    fn resizes(&mut self, columns: u16, lines: u16) {
        self.size = (columns, lines);
        resize(&self.keyboard, columns, lines);
    }

    /// What the terminal shows now: the last picture that is whole.
    fn screen(&self) -> String {
        const END_OF_PICTURE: &str = "\x1b[?2026l";
        let (columns, lines) = self.size;
        let mut terminal = vt100::Parser::new(lines, columns, 0);
        let written = self.process.stdout();
        let whole = written.rfind(END_OF_PICTURE).unwrap_or_default();
        terminal.process(&written.as_bytes()[..whole]);
        let contents = terminal.screen().contents();
        contents.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    /// Waits until the terminal shows `text`, and returns all that it shows.
    #[track_caller]
    pub(crate) fn sees(&self, text: &str) -> String {
        self.sees_that(text, |screen| screen.contains(text))
    }

    #[track_caller]
    fn sees_that(&self, what: &str, is: impl Fn(&str) -> bool) -> String {
        let seen = try_wait(|| {
            let screen = self.screen();
            if is(&screen) { Ok(screen) } else { Err(screen) }
        });
        seen.unwrap_or_else(|screen| panic!("never seen: {what}\n{screen}"))
    }

    /// Waits for the end of the program.
    #[track_caller]
    pub(crate) fn leaves(mut self) -> Run {
        self.types("q");
        self.process.finish().exits(0)
    }
}

#[test]
fn a_small_terminal_shows_nodes_use_causes_and_events() {
    let mut user = User::at(&["--from", "example:pending"], 80, 24);
    assert_snapshot!(user.sees("as of"), @"
    example:pending as of 10:12:37Z: 6/37 in use, 13 pending, findings: 5 errors, 6…
    [1 Nodes 4]   2 Use 1    3 Pending 13    4 Events 15
      NODE        DRIVER           IN USE               DEVICES
    > gpu-node-1  gpu.example.com  6/8      ███████▌··  dddddd.x
      gpu-node-1  nic.example.com  0/8      ··········  ........
      gpu-node-2  gpu.example.com  0/8      ··········  xxxxxxxx
      gpu-node-2  nic.example.com  0/8      ··········  ........
      gpu-node-3  gpu.example.com  0/4      ··········  ----
      gpu-node-4  gpu.example.com  0/1      ··········  .














    Enter explain  Tab next  / filter  s sort  r reverse  ? keys  q quit
    ");
    user.types("2");
    assert_snapshot!(user.sees("[2 Use"), @"
    example:pending as of 10:12:37Z: 6/37 in use, 13 pending, findings: 5 errors, 6…
     1 Nodes 4   [2 Use 1]   3 Pending 13    4 Events 15
      NAMESPACE   DRIVER           IN USE               SHARE   PENDING
    > default     gpu.example.com  6        ██▊·······  29%     10



















    Enter explain  Tab next  / filter  s sort  r reverse  ? keys  q quit
    ");
    user.types("3");
    assert_snapshot!(user.sees("[3 Pending"), @"
    example:pending as of 10:12:37Z: 6/37 in use, 13 pending, findings: 5 errors, 6…
     1 Nodes 4    2 Use 1   [3 Pending 13]   4 Events 15
      COUNT   VERDICT     FIRST                            CAUSE
    > 1       Error       pod/default/all-incomplete-pool  request gpu asks for all…
      1       Error       pod/default/cel-error            selector #0 on device gp…
      1       DoesNotFit  pod/default/cel-mismatch         none of 21 devices of cl…
      1       DoesNotFit  pod/default/constraint-conflict  no node has two availabl…
      1       Waits       pod/default/missing-claim        could not find ResourceC…
      1       DoesNotFit  pod/default/missing-class        request gpu: device clas…
      1       Waits       pod/default/missing-template     resourceclaimtemplate/de…
      1       DoesNotFit  pod/default/not-enough-free      no node has 3 available …
      1       DoesNotFit  pod/default/old-generation       no node has 2 available …
      1       DoesNotFit  pod/default/tainted              no node has 8 available …
      1       DoesNotFit  pod/default/too-many             no node has 9 available …
      1       DoesNotFit  pod/default/two-requests         requests a and b both se…
      1       DoesNotFit  pod/default/wrong-node           claim/default/on-node-1 …




    request gpu asks for all devices, but resource pool gpu.example.com/gpu-node-3
      is currently being updated

    Enter explain  Tab next  / filter  s sort  r reverse  ? keys  q quit
    ");
    user.types("\t");
    assert_snapshot!(user.sees("[4 Events"), @r#"
    example:pending as of 10:12:37Z: 6/37 in use, 13 pending, findings: 5 errors, 6…
     1 Nodes 4    2 Use 1    3 Pending 13   [4 Events 15]
      AGE   COUNT   REASON                  OBJECT                 MESSAGE
    > 0s    1       FailedScheduling        pod/defaul…wrong-node  0/4 nodes are av…
      0s    1       FailedScheduling        pod/defaul…o-requests  0/4 nodes are av…
      0s    1       FailedScheduling        pod/defaul…generation  0/4 nodes are av…
      0s    1       FailedScheduling        pod/defaul…plete-pool  running "Dynamic…
      0s    1       FailedScheduling        pod/defaul…sing-class  0/4 nodes are av…
      0s    1       FailedScheduling        pod/defaul…t-conflict  0/4 nodes are av…
      0s    1       FailedScheduling        pod/default/tainted    0/4 nodes are av…
      0s    1       FailedScheduling        pod/defaul…nough-free  0/4 nodes are av…
      0s    1       FailedScheduling        pod/default/too-many   0/4 nodes are av…
      0s    1       FailedScheduling        pod/default/cel-error  running "Dynamic…
      0s    1       FailedScheduling        pod/defaul…l-mismatch  0/4 nodes are av…
      0s    1       FailedResou…imCreation  pod/defaul…sing-class  PodResourceClaim…
      0s    8       FailedResou…imCreation  pod/defaul…g-template  PodResourceClaim…
      0s    1       Scheduled               pod/default/holder     Successfully ass…
      0s    1       Scheduled               pod/defaul…lls-node-1  Successfully ass…


    pod/default/wrong-node  0/4 nodes are available: 1 resourceclaim not available
      on the node, 3 node(s) didn't match Pod's node affinity/selector. preemption:
      0/4 nodes are available: 4 Preemption is not helpful for scheduling.
    Enter explain  Tab next  / filter  s sort  r reverse  ? keys  q quit
    "#);
    user.leaves();
}

#[test]
fn enter_explains_the_row_and_escape_goes_back() {
    let mut user = User::at(&["--from", "example:pending"], 80, 24);
    user.sees("as of");
    user.types("3");
    user.sees("[3 Pending");
    user.types("\r");
    let explained = user.sees_that("an explanation", |screen| {
        screen.starts_with("explain pod/") && !screen.contains("explaining ...")
    });
    assert_snapshot!(explained, @r#"
    explain pod/default/all-incomplete-pool
    × pod/default/all-incomplete-pool fails: request gpu asks for all devices, but
      resource pool gpu.example.com/gpu-node-3 is currently being updated

    Unknown whether waiting helps: every attempt ends with this error until the pool
      is complete and valid

    Scheduler: running "DynamicResources" filter plugin: claim
      default/all-incomplete-pool-gpu-sgsh4, request gpu: asks for all devices, but
      resource pool gpu.example.com/gpu-node-3 is currently being updated
    Note: a known bug: kube-scheduler before 1.38 rejects a pod on every node when a
      request wants all devices and the pool of one node is incomplete or invalid
      (kubernetes/kubernetes#141898)
    Note: pool/gpu.example.com/gpu-node-3 publishes 1 of 2 slices (generation 1):
      the driver is still publishing, or stopped halfway. kube-scheduler allocates
      none of its devices, and requests for all devices fail; the newest slice was
      created at 2026-11-21T10:12:36Z
    Filters:
      FILTER            NODES  MESSAGES
      DynamicResources  3      2 cannot allocate all claims, 1 claim
                               default/all-incomplete-pool-gpu-sgsh4, request gpu:
                               asks for all devices, but resource pool
                               gpu.example.com/gpu-node-3 is currently being updated
    Esc back  Up/Down, PgUp/PgDn scroll  q quit   lines 1-22 of 78
    "#);
    user.types("\u{1b}");
    user.sees("[3 Pending");
    user.types("1\r");
    user.sees("explain node/");
    user.leaves();
}

#[test]
fn rows_are_filtered_and_sorted() {
    let mut user = User::at(&["--from", "example:gpus", "--by", "owner"], 100, 30);
    user.sees("as of");
    user.types("2/train");
    user.sees("/train_");
    user.types("\r");
    let filtered = user.sees("only rows with `train`");
    assert_snapshot!(filtered, @"
    example:gpus as of 10:16:15Z: 23/48 in use, 1 pending, findings: none
     1 Nodes 3   [2 Use 3 of 7]   3 Pending 1    4 Events 7
      OWNER                   DRIVER           IN USE                         SHARE   PENDING
    > training/Pod/trainer-1  gpu.example.com  6        █████···············  25%     0
      training/Pod/trainer-1  nic.example.com  2        █▋··················  8%      0
      training/Job/sweep      gpu.example.com  4        ███▎················  17%     0
      training/Job/sweep      nic.example.com  4        ███▎················  17%     0
      training/Pod/trainer-0  gpu.example.com  2        █▋··················  8%      0
      training/Pod/trainer-0  nic.example.com  2        █▋··················  8%      0




















    only rows with `train`: Esc shows all   Enter explain  Tab next  / filter  s sort  r reverse  ? key…
    ");
    user.types("\u{1b}");
    user.sees_that("all rows", |screen| !screen.contains("only rows"));
    user.types("s");
    user.sees("OWNER▲");
    user.types("r");
    user.sees("OWNER▼");
    user.types("?");
    user.sees("sort by the next or previous column");
    user.leaves();
}

#[test]
fn a_terminal_changes_its_size() {
    let mut user = User::at(&["--from", "example:gpus"], 80, 24);
    user.sees("as of");
    user.resizes(40, 10);
    let narrow = user.sees_that("a smaller picture", |screen| {
        screen.lines().count() == 10 && screen.contains("[1 Nodes")
    });
    assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
    user.resizes(140, 50);
    user.sees_that("a larger picture", |screen| screen.lines().count() == 50);
    user.leaves();
}

#[test]
fn what_was_not_read_is_not_shown_as_nothing() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("nodes.json");
    let node = r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}}"#;
    std::fs::write(&file, node).expect("a file");
    let mut user = User::at(&["--from", file.to_str().expect("UTF-8")], 160, 40);
    let screen = user.sees("as of");
    assert!(screen.contains("<unknown> in use, <unknown> pending"), "{screen}");
    assert!(screen.contains("so far; not everything was read (?)"), "{screen}");
    for tab in ["1", "2", "3", "4"] {
        user.types(tab);
        user.sees(&format!("[{tab} "));
        user.sees("nothing among what was read");
    }
    user.types("?");
    user.sees("resourceclaims, pods");
    user.leaves();
}

#[test]
fn without_a_terminal_it_says_what_to_do() {
    let run = isolated(
        env!("CARGO_BIN_EXE_kubectl-dra"),
        &["top", "--from", "example:gpus"],
    )
    .run();
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert_snapshot!(run.stderr, @"
    error: `top` needs a terminal

    hint: kubectl dra status   (prints the state once)
    ");
}
