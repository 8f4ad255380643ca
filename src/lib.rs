//! kubectl-dra: see, explain, simulate and maintain what Kubernetes Dynamic Resource Allocation does.
//!
//! The code in reading order. The pure core knows nothing of clusters, files, clocks or terminals:
//!
//! - [`model`]: the cluster as data, and the small languages it is written in;
//! - [`cel`]: the language of device selectors;
//! - [`script`]: commands that reports print.
//!
//! The shell around it is what the `cli` feature adds:
//!
//! - `cli`: the command line, which becomes settings and a command;
//! - `context` and `error`: what a command works with, and how a run ends;
//! - `commands`: one file per subcommand;
//! - `output`: reports, tables and everything else that is printed;
//! - [`sources`]: where clusters are read from, and what is known of them;
//! - [`conversion`]: the writes of `convert`.
//!
//! [`main`] ties them together: every way in which the process can end is in it.

pub mod allocator;
#[expect(
    clippy::float_cmp,
    clippy::match_same_arms,
    reason = "CEL compares numbers exactly, and its tables name each type and operator in upstream's order"
)]
pub mod cel;
pub mod controllers;
pub mod eviction;
pub mod inspect;
pub mod model;
pub mod reservation;
pub mod scheduling;
pub mod script;
pub mod simulation;

#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod commands;
#[cfg(feature = "cli")]
mod context;
#[cfg(feature = "cli")]
mod error;
#[cfg(feature = "cli")]
#[expect(
    dead_code,
    unused_imports,
    reason = "the commands that use all of it are still to come"
)]
mod output;

#[cfg(feature = "cli")]
pub mod conversion;
#[cfg(feature = "cli")]
pub mod sources;

#[cfg(feature = "cli")]
pub use shell::main;

#[cfg(feature = "cli")]
mod shell {
    use std::ffi::OsString;
    use std::future::{Future, poll_fn};
    use std::pin::pin;
    use std::process::ExitCode;
    use std::sync::Arc;
    use std::task::Poll;
    use std::time::Duration;

    use anyhow::Context;
    use tokio::runtime::{Handle, Runtime};

    use crate::cli::{self, Invocation};
    use crate::commands::{Command, Job};
    use crate::context::{Ctx, Environment, Settings};
    use crate::error::{self, Failure, Interrupted, Outcome};
    use crate::output::{Options, Printer};

    /// Completion that takes longer than this is no help any more.
    const COMPLETION_TIME: Duration = Duration::from_secs(3);

    /// Runs the command line `args`, the program's name first, and returns the process's exit code.
    pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
        let environment = Environment::read();
        let printer = || Printer::new(Options::default(), environment.terminal);
        let args: Vec<OsString> = args.into_iter().collect();
        match cli::parse(args.iter().cloned()) {
            Ok(Invocation::Run(settings, command)) => {
                let ctx = Arc::new(Ctx::new(*settings, environment, cli::command_line));
                let code = end(run(*command, &ctx), ctx.printer());
                // The process ends: what was loaded need not be taken apart before.
                std::mem::forget(ctx);
                code
            }
            Ok(Invocation::Show(text)) => {
                let printer = printer();
                end(
                    printer.text(&text).map(|()| Outcome::Done).map_err(Into::into),
                    &printer,
                )
            }
            Ok(Invocation::Complete(words)) => {
                let printer = printer();
                let text = complete(&words, environment);
                end(
                    printer.text(&text).map(|()| Outcome::Done).map_err(Into::into),
                    &printer,
                )
            }
            Err(error) => {
                // Whatever is wrong with the line, it may say that nobody wants color.
                let output = Options {
                    color: cli::settings_of(args.get(1..).unwrap_or_default()).output.color,
                    ..Options::default()
                };
                end(Err(error), &Printer::new(output, environment.terminal))
            }
        }
    }

    /// The exit code of a run, and its last words.
    fn end(result: anyhow::Result<Outcome>, printer: &Printer) -> ExitCode {
        let error = match result {
            Ok(outcome) => return outcome.into(),
            Err(error) => error,
        };
        let failure = Failure::of(&error);
        match failure {
            Failure::Usage | Failure::World => match error.downcast_ref::<clap::Error>() {
                // The parser's own words come with the usage below them.
                Some(error) => printer.formatted_error(&error.render().to_string()),
                None => printer.error(&error::message(&error), &error::hints(&error)),
            },
            Failure::Interrupted => printer.interrupted(),
            Failure::ClosedPipe => {}
        }
        failure.into()
    }

    fn run(command: Command, ctx: &Arc<Ctx>) -> anyhow::Result<Outcome> {
        match command.job() {
            Job::Here(job) => job(ctx),
            Job::Waiting(job) => {
                let working = Arc::clone(ctx);
                on_runtime(
                    move || Handle::current().block_on(job(&working)),
                    || ctx.interrupt(),
                )
            }
        }
    }

    /// Runs `work` on a runtime until it ends or the user interrupts and `tell` says that it will not end by itself then.
    ///
    /// The work has a thread of its own, since a command also computes: Ctrl-C must not wait for a search to yield.
    fn on_runtime<T: Send + 'static>(
        work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
        tell: impl Fn() -> bool,
    ) -> anyhow::Result<T> {
        let runtime = Runtime::new().context("cannot start the runtime")?;
        let result = runtime.block_on(async {
            let mut interrupted = pin!(interrupted());
            // Listening begins with the first poll, which must not come after the work has begun.
            poll_fn(|task| Poll::Ready(interrupted.as_mut().poll(task).is_ready())).await;
            let mut work = tokio::task::spawn_blocking(work);
            loop {
                tokio::select! {
                    done = &mut work => break match done {
                        Ok(result) => result,
                        Err(stopped) => match stopped.try_into_panic() {
                            Ok(panic) => std::panic::resume_unwind(panic),
                            Err(cancelled) => Err(cancelled.into()),
                        },
                    },
                    () = interrupted.as_mut() => {
                        if !tell() {
                            break Err(Interrupted.into());
                        }
                        interrupted.set(self::interrupted());
                    }
                }
            }
        });
        // The work may still be running; the process ends without it.
        runtime.shutdown_background();
        result
    }

    /// Ctrl-C, or what asks a process to end that nobody sits in front of, such as that of a Job.
    async fn interrupted() {
        // Where signals cannot be watched they end the process by themselves.
        let ctrl_c = async {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let ended = async {
                match signal(SignalKind::terminate()) {
                    Ok(mut ended) => _ = ended.recv().await,
                    Err(_) => std::future::pending::<()>().await,
                }
            };
            tokio::select! {
                () = ctrl_c => {}
                () = ended => {}
            }
        }
        #[cfg(not(unix))]
        ctrl_c.await;
    }

    /// The answer to kubectl's completion: what the command line itself knows, and names from the cluster if there are
    /// some to be had in time. Failures are silent, the user is in the middle of a line.
    fn complete(words: &[OsString], environment: Environment) -> String {
        let mut root = cli::command_line();
        root.build();
        let mut completion = cli::complete(words, &root);
        if let Some(lookup) = completion.lookup {
            let mut settings: Settings = cli::settings_so_far(words);
            settings.output.quiet = true;
            let ctx = Ctx::new(settings, environment, cli::command_line);
            let names = on_runtime(
                move || {
                    let names =
                        Handle::current().block_on(tokio::time::timeout(COMPLETION_TIME, lookup(&ctx)));
                    names.unwrap_or_else(|_| Ok(Vec::new()))
                },
                || false,
            );
            completion.add(names.unwrap_or_default());
        }
        completion.to_string()
    }
}
