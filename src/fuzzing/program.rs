//! The program run inside this process, with streams that are kept.

use std::ffi::OsString;
use std::io::{self, Write};
#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::cli::{self, Invocation};
use crate::context::Ctx;
use crate::error::{self, Failure, Outcome};
use crate::output::{Options, Printer, Terminal};

/// Result of a run.
pub(super) struct Run {
    pub(super) code: u8,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Memory that a printer writes to.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().clone()).expect("the program prints UTF-8")
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs `kubectl dra` with `args`, as on a terminal or into pipes.
pub(super) fn run<'a>(args: impl IntoIterator<Item = &'a str>, terminal: bool) -> Run {
    let (out, err) = (Memory::default(), Memory::default());
    let terminal = Terminal {
        stdout: terminal,
        stderr: terminal,
        ..Terminal::default()
    };
    let printer =
        |options: Options| Printer::with(Box::new(out.clone()), Box::new(err.clone()), options, terminal);
    let code = match end_of(args.into_iter().map(OsString::from), printer) {
        End::Ran(_, Ok(outcome)) => outcome.code(),
        End::Ran(ctx, Err(error)) => failed(&error, ctx.printer()),
        End::Shown => 0,
        End::Refused(error) => failed(&error, &printer(Options::default())),
    };
    Run {
        code,
        stdout: out.text(),
        stderr: err.text(),
    }
}

/// Ending of a command line.
enum End {
    /// The command ran.
    Ran(Box<Ctx>, anyhow::Result<Outcome>),
    /// It asks for help or for a completion.
    Shown,
    /// It is none.
    Refused(anyhow::Error),
}

fn end_of(args: impl Iterator<Item = OsString>, printer: impl FnOnce(Options) -> Printer) -> End {
    match cli::parse(std::iter::once("kubectl-dra".into()).chain(args)) {
        Ok(Invocation::Run(settings, command)) => {
            let printer = printer(settings.output.clone());
            let ctx = Ctx::with(*settings, printer, cli::command_line);
            let (_, job) = command.job();
            let result = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime")
                .block_on(job(&ctx));
            End::Ran(Box::new(ctx), result)
        }
        Ok(Invocation::Show(_) | Invocation::Complete(_)) => End::Shown,
        Err(error) => End::Refused(error),
    }
}

/// Returns what the words of `line` come to on `file`, without a sound.
///
/// # Panics
/// When they are no command line.
#[cfg(test)]
pub(crate) fn result_on(line: &str, file: &Path) -> anyhow::Result<Outcome> {
    let from = ["--from".into(), file.into()];
    let args = line.split(' ').map(OsString::from).chain(from);
    match end_of(args, Printer::silent) {
        End::Ran(_, result) => result,
        End::Shown | End::Refused(_) => panic!("{line} is no command line"),
    }
}

fn failed(error: &anyhow::Error, printer: &Printer) -> u8 {
    match error.downcast_ref::<clap::Error>() {
        Some(error) => printer.formatted_error(&error.render().to_string()),
        None => printer.error(&error::message(error), &error::hints(error)),
    }
    Failure::of(error).code()
}

/// A file `name` with `content` in a directory of this process, and its path.
pub(super) fn file(name: &str, content: &[u8]) -> String {
    thread_local! {
        static FOLDER: PathBuf = tempfile::tempdir().expect("a temporary directory").keep();
    }
    FOLDER.with(|folder| {
        let path = folder.join(name);
        std::fs::write(&path, content).expect("a file of this process");
        path.to_str().expect("UTF-8").to_owned()
    })
}
