//! kubectl-dra: inspects, explains and simulates Kubernetes Dynamic Resource Allocation (DRA).
//!
//! `docs/architecture.md` has the map: each crate and directory in reading order, and the rules between them. In short,
//! the crates below this one have the rules and reports, which know nothing of terminals, and this one the command
//! line. `main` ties them together: every way in which the process can end is in it.

#![cfg_attr(
    test,
    expect(clippy::disallowed_methods, reason = "tests read what they made")
)]

mod cli;
mod commands;
mod context;
mod error;
#[cfg(test)]
#[path = "../tests/it/support/generated.rs"]
mod generated;
mod output;

#[cfg(any(test, fuzzing))]
#[expect(clippy::disallowed_methods, reason = "targets read the files that they wrote")]
pub mod fuzzing;

pub use shell::main;

mod shell {
    use std::cell::Cell;
    use std::ffi::OsString;
    use std::future::{Future, pending, poll_fn};
    use std::path::Path;
    use std::pin::pin;
    use std::process::ExitCode;
    use std::sync::{Arc, mpsc};
    use std::task::Poll;
    use std::time::Duration;

    use anyhow::Context;
    use tokio::runtime::{Builder, Handle};
    #[cfg(unix)]
    use tokio::signal::unix::{SignalKind, signal};
    use tokio::time::sleep;

    use crate::cli::{self, Invocation};
    use crate::commands::{Command, STACK, Threads};
    use crate::context::{self, Ctx, Settings, SourceSetting};
    use crate::error::{self, Failure, Interrupted, Outcome, TimedOut};
    use crate::output::{Options, Printer, Terminal};
    use dra_reports::script::carrying;
    use dra_sources::live::end_programs;

    /// Completion that takes longer than this is no help any more.
    const COMPLETION_TIME: Duration = Duration::from_secs(3);

    /// Time for the last output of an interrupted command if a stream accepts nothing.
    const LAST_WORDS: Duration = Duration::from_secs(2);
    /// The same after Ctrl-C, where there is hardly anything to say.
    const LAST_SIGH: Duration = Duration::from_millis(100);

    /// Runs the command line `args`, the program's name first, and returns the process's exit code.
    pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
        let terminal = context::terminal();
        let args: Vec<OsString> = args.into_iter().collect();
        // Help, and errors of any command line, follow `--color`.
        let printer = || {
            let output = Options {
                color: cli::settings_of(args.get(1..).unwrap_or_default()).output.color,
                ..Options::default()
            };
            Printer::new(output, terminal)
        };
        match cli::parse(args.iter().cloned()) {
            Ok(Invocation::Run(mut settings, command)) => {
                settings.carried.typed = cli::printable(&args);
                let ctx = Arc::new(Ctx::new(*settings, terminal, cli::command_line));
                let result = run(*command, &ctx);
                end_programs();
                let code = match &result {
                    Err(error) if error.is::<TimedOut>() => last_words(result, &ctx, LAST_WORDS),
                    Err(error) if Failure::of(error) == Failure::Interrupted => {
                        last_words(result, &ctx, LAST_SIGH)
                    }
                    _ => {
                        ctx.end_computing();
                        end(result, ctx.printer())
                    }
                };
                // The process ends: what was loaded need not be taken apart before.
                std::mem::forget(ctx);
                code
            }
            Ok(Invocation::Show(text)) => {
                let printer = printer();
                let shown = printer.toned(cli::toned(&text));
                end(shown.map(|()| Outcome::Done).map_err(Into::into), &printer)
            }
            Ok(Invocation::Complete(words)) => {
                let printer = printer();
                let text = complete(&words, terminal);
                end(
                    printer.text(&text).map(|()| Outcome::Done).map_err(Into::into),
                    &printer,
                )
            }
            Err(error) => end(Err(error), &printer()),
        }
    }

    /// The exit code of a run, and its last words.
    fn end(result: anyhow::Result<Outcome>, printer: &Printer) -> ExitCode {
        let error = match result {
            Ok(outcome) => {
                printer.release_warnings();
                return outcome.into();
            }
            Err(error) => error,
        };
        let failure = Failure::of(&error);
        match failure {
            Failure::Usage | Failure::World | Failure::Unknown => match error.downcast_ref::<clap::Error>() {
                // The parser's message includes the usage. Its suggestions are called hints, as ours are.
                Some(error) => {
                    let text = error.render().to_string();
                    printer.formatted_error(&text.replace("\n  tip: ", "\nhint: "));
                }
                None => printer.error(&error::message(&error), &error::hints(&error)),
            },
            Failure::Interrupted => printer.interrupted(),
            Failure::ClosedPipe => {}
        }
        failure.into()
    }

    /// The exit code of a run that was cut off. The work continues meanwhile, and may block a stream that no process
    /// reads.
    fn last_words(result: anyhow::Result<Outcome>, ctx: &Arc<Ctx>, patience: Duration) -> ExitCode {
        let code = match &result {
            Ok(outcome) => ExitCode::from(*outcome),
            Err(error) => Failure::of(error).into(),
        };
        let (said, heard) = mpsc::channel();
        let speaking = Arc::clone(ctx);
        std::thread::spawn(move || {
            speaking.end_computing();
            speaking.printer().ask_no_more();
            end(result, speaking.printer());
            let _ = said.send(());
        });
        let _ = heard.recv_timeout(patience);
        code
    }

    /// The reason why work is ended from outside.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Cut {
        Interrupted,
        TimeIsOver,
    }

    /// Next step.
    enum Then {
        /// The work continues and finishes.
        GoOn,
        /// The work continues; after this much more time it is asked again.
        AskAgain(Duration),
        /// The work is cut off.
        End(anyhow::Error),
    }

    fn run(command: Command, ctx: &Arc<Ctx>) -> anyhow::Result<Outcome> {
        let carried = Arc::new(ctx.settings().carried.clone());
        let (threads, job) = command.job();
        let working = Arc::clone(ctx);
        // Of several clusters each has its own time.
        let limit = ctx.settings().timeout.filter(|_| ctx.settings().fleet.is_none());
        let timed_out = || {
            TimedOut {
                limit: limit.unwrap_or_default(),
                doing: ctx.doing(),
            }
            .into()
        };
        let is_over = Cell::new(false);
        let result = on_runtime(
            move || {
                carrying(carried, || match threads {
                    Threads::Many => Handle::current().block_on(job(&working)),
                    Threads::One => {
                        let runtime = Builder::new_current_thread()
                            .enable_all()
                            .thread_stack_size(STACK)
                            .build()
                            .context("cannot start the runtime")?;
                        let result = runtime.block_on(job(&working));
                        // As with the other runtime.
                        std::mem::forget(runtime);
                        result
                    }
                })
            },
            limit,
            |cut| match cut {
                Cut::Interrupted if ctx.interrupt() => Then::GoOn,
                Cut::Interrupted => Then::End(Interrupted.into()),
                Cut::TimeIsOver => match ctx.keeps_time() {
                    Some(more) => Then::AskAgain(more),
                    None => {
                        is_over.set(true);
                        let cut_off = timed_out();
                        if ctx.time_is_over() {
                            Then::GoOn
                        } else {
                            Then::End(cut_off)
                        }
                    }
                },
            },
        );
        match result {
            // The command finished, as after Ctrl-C.
            Err(error) if is_over.get() && Failure::of(&error) == Failure::Interrupted => Err(timed_out()),
            result => result,
        }
    }

    /// Runs `work` on a runtime until it ends, or until the user interrupts or `limit` is over and `cut` says that it ends then.
    ///
    /// The work has a thread of its own, since a command also computes, and reads what may never deliver: neither Ctrl-C nor the
    /// limit must wait for it.
    fn on_runtime<T: Send + 'static>(
        work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
        limit: Option<Duration>,
        cut: impl Fn(Cut) -> Then,
    ) -> anyhow::Result<T> {
        let runtime = Builder::new_multi_thread()
            .enable_all()
            .thread_stack_size(STACK)
            .build()
            .context("cannot start the runtime")?;
        let result = runtime.block_on(async {
            let mut interrupted = pin!(interrupted());
            // Listening begins with the first poll, which must not come after the work has begun.
            poll_fn(|task| Poll::Ready(interrupted.as_mut().poll(task).is_ready())).await;
            let mut time_is_over = pin!(sleep(limit.unwrap_or(Duration::MAX)));
            let mut work = tokio::task::spawn_blocking(work);
            loop {
                let why = tokio::select! {
                    done = &mut work => break match done {
                        Ok(result) => result,
                        Err(stopped) => match stopped.try_into_panic() {
                            Ok(panic) => std::panic::resume_unwind(panic),
                            Err(cancelled) => Err(cancelled.into()),
                        },
                    },
                    () = interrupted.as_mut() => {
                        interrupted.set(self::interrupted());
                        Cut::Interrupted
                    }
                    () = time_is_over.as_mut() => {
                        time_is_over.set(sleep(Duration::MAX));
                        Cut::TimeIsOver
                    }
                };
                match cut(why) {
                    Then::GoOn => {}
                    Then::AskAgain(time) => time_is_over.set(sleep(time)),
                    Then::End(error) => break Err(error),
                }
            }
        });
        // The work may still be running; the process ends without it. A runtime that is shut down makes what still runs panic.
        std::mem::forget(runtime);
        result
    }

    /// Ctrl-C, or what asks a process to end that has no terminal, such as that of a Job.
    async fn interrupted() {
        // If signals cannot be watched, they terminate the process.
        let ctrl_c = async {
            if tokio::signal::ctrl_c().await.is_err() {
                pending::<()>().await;
            }
        };
        let ended = async {
            #[cfg(unix)]
            if let Ok(mut ended) = signal(SignalKind::terminate()) {
                ended.recv().await;
                return;
            }
            pending::<()>().await;
        };
        tokio::select! {
            () = ctrl_c => {}
            () = ended => {}
        }
    }

    /// The answer to kubectl's completion: what the command line itself knows, and names from the cluster if there are
    /// some to be had in time. Failures are silent, the user is in the middle of a line.
    fn complete(words: &[OsString], terminal: Terminal) -> String {
        let root = cli::built();
        let mut completion = cli::complete(words, &root);
        if let Some((find, typed)) = completion.lookup.take() {
            let mut settings: Settings = cli::settings_so_far(words);
            settings.output.quiet = true;
            if !can_be_read(&settings) {
                return completion.to_string();
            }
            let ctx = Ctx::new(settings, terminal, cli::command_line);
            // The work may wait for a file or a server that does not answer.
            let names = on_runtime(
                move || Handle::current().block_on(find.names(&ctx, typed)),
                Some(COMPLETION_TIME),
                |_| Then::End(Interrupted.into()),
            );
            end_programs();
            completion.add(names.unwrap_or_default());
        }
        completion.to_string()
    }

    /// Returns whether the settings name regular files and directories: completing a word must not consume the content
    /// of a pipe or wait for it.
    fn can_be_read(settings: &Settings) -> bool {
        let is_plain = |path: &Path| {
            let found = std::fs::metadata(path);
            // What does not exist is an error like any other.
            found.map_or(true, |found| found.is_file() || found.is_dir())
        };
        match &settings.source {
            SourceSetting::Files(names) => names.iter().all(|name| name != "-" && is_plain(Path::new(name))),
            SourceSetting::Cluster(connection) => {
                let named = connection.kubeconfig.iter().cloned();
                let around = std::env::var_os("KUBECONFIG").unwrap_or_default();
                named
                    .chain(std::env::split_paths(&around))
                    .all(|path| is_plain(&path))
            }
        }
    }
}
