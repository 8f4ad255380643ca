//! Questions, on stderr, to whoever sits at the terminal.

use std::io::{self, IsTerminal as _};

use dialoguer::Confirm;
use dialoguer::theme::SimpleTheme;

use super::printer::Printer;
use super::sanitize;

impl Printer {
    /// Whether somebody sits there who can be asked.
    #[expect(clippy::unused_self, reason = "who prints is who asks")]
    pub(crate) fn can_ask(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Asks a question that `n` answers unless the user says otherwise. Nothing where no user can be asked.
    ///
    /// # Errors
    /// When the terminal fails, or the user presses Ctrl-C instead of answering.
    pub(crate) fn confirm(&self, question: &str) -> io::Result<Option<bool>> {
        if !self.can_ask() {
            return Ok(None);
        }
        let answer = Confirm::with_theme(&SimpleTheme)
            .with_prompt(sanitize::for_terminal(question))
            .default(false)
            .interact_opt();
        match answer {
            Ok(answer) => Ok(Some(answer.unwrap_or(false))),
            Err(dialoguer::Error::IO(error)) => Err(error),
        }
    }
}
