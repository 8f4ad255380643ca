//! Questions on stderr to the user at the terminal.

#![expect(
    clippy::disallowed_methods,
    reason = "a library asks there with text that was escaped"
)]

use std::io::{self, IsTerminal as _};

use dialoguer::Confirm;
use dialoguer::console::Term;
use dialoguer::theme::SimpleTheme;
use parking_lot::Mutex;

use super::sanitize;

/// Terminal mode before an unanswered question: keys arrive one by one meanwhile, and there is no cursor.
#[derive(Debug, Default)]
pub(super) struct Question(Mutex<Option<Modes>>);

#[cfg(unix)]
type Modes = rustix::termios::Termios;
#[cfg(not(unix))]
type Modes = ();

impl Question {
    /// Makes the terminal what it was before a question that will not be answered any more.
    pub(super) fn give_up(&self) {
        let modes = self.0.lock().take();
        if let Some(modes) = modes {
            // Nothing better can be done about a terminal that does not listen.
            #[cfg(unix)]
            let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, &modes);
            #[cfg(not(unix))]
            let () = modes;
            let _ = Term::stderr().show_cursor();
        }
    }

    /// Asks a question that `n` answers unless the user says otherwise. Nothing where no user can be asked.
    ///
    /// # Errors
    /// When the terminal fails, or the user presses Ctrl-C instead of answering.
    pub(super) fn ask(&self, question: &str) -> io::Result<Option<bool>> {
        if !can_ask() {
            return Ok(None);
        }
        #[cfg(unix)]
        let modes = rustix::termios::tcgetattr(io::stdin()).ok();
        #[cfg(not(unix))]
        let modes = Some(());
        *self.0.lock() = modes;
        let answer = Confirm::with_theme(&SimpleTheme)
            .with_prompt(sanitize::for_terminal(question))
            .default(false)
            .interact_opt();
        match answer {
            Ok(answer) => {
                // The terminal is as it was.
                *self.0.lock() = None;
                Ok(Some(answer.unwrap_or(false)))
            }
            Err(dialoguer::Error::IO(error)) => {
                self.give_up();
                Err(error)
            }
        }
    }
}

/// Returns whether a user can be asked.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
