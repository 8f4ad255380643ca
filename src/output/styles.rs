//! Colour: one decision per stream, and the few tones that text can have.
//!
//! Colour is decoration. Everything printed must be understood without it, and nothing outside this directory knows
//! whether it is on: text carries a [`Tone`], and [`Styles`] turns it into escape sequences or leaves it alone.

use std::borrow::Cow;

use colored::Colorize;

/// Color mode chosen by the user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal unless NO_COLOR is set, and in pipes if CLICOLOR_FORCE is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Color settings of the environment, read once at the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ColorWish {
    /// `NO_COLOR` is set and not empty.
    pub(crate) no_color: bool,
    /// `CLICOLOR_FORCE` is set, not empty and not `0`.
    pub(crate) force: bool,
    /// `TERM` is `dumb`: a terminal without escape sequences.
    pub(crate) dumb: bool,
}

/// Properties of the process's terminal.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Terminal {
    pub(crate) wish: ColorWish,
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
    /// True if characters beyond ASCII can be seen.
    pub(crate) unicode: bool,
}

/// Tone of a piece of text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    /// A zero or the like: a column that has nothing else is left out on a terminal.
    Nothing,
    /// As it should be.
    Good,
    /// Worth a look.
    Notice,
    /// Broken.
    Bad,
    /// Headers and the words a line is about.
    Strong,
    /// One of many, distinguished by letters; colors repeat.
    Number(usize),
}

impl Tone {
    /// Its color, if it has one.
    pub(super) fn color(self) -> Option<colored::Color> {
        use colored::Color;
        const NUMBERS: [Color; 6] = [
            Color::Cyan,
            Color::Magenta,
            Color::Blue,
            Color::BrightCyan,
            Color::BrightMagenta,
            Color::BrightBlue,
        ];
        match self {
            Self::Plain | Self::Nothing | Self::Strong => None,
            Self::Good => Some(Color::Green),
            Self::Notice => Some(Color::Yellow),
            Self::Bad => Some(Color::Red),
            Self::Number(number) => Some(NUMBERS[number % NUMBERS.len()]),
        }
    }
}

/// Turns tones into escape sequences, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Styles {
    enabled: bool,
}

impl Styles {
    /// No colors.
    pub(super) const PLAIN: Self = Self { enabled: false };

    /// Decides for one stream. The flag wins, then `NO_COLOR`, then `CLICOLOR_FORCE`, then whether anybody would see it.
    pub(super) fn decide(color: Color, wish: ColorWish, terminal: bool) -> Self {
        let enabled = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => !wish.no_color && (wish.force || (terminal && !wish.dumb)),
        };
        if enabled {
            // `colored` has a process-wide switch of its own. It stays on: the caller has decided.
            colored::control::set_override(true);
            #[cfg(windows)]
            {
                // Without it a console of Windows prints the sequences; failing leaves things as they are.
                let _ = colored::control::set_virtual_terminal(true);
            }
        }
        Self { enabled }
    }

    /// Returns whether tones have colors.
    pub(super) const fn are_on(self) -> bool {
        self.enabled
    }

    /// `text` in the given tone.
    pub(super) fn paint(self, tone: Tone, text: &str) -> Cow<'_, str> {
        if !self.enabled || text.is_empty() {
            return Cow::Borrowed(text);
        }
        match (tone, tone.color()) {
            (Tone::Strong, _) => Cow::Owned(text.bold().to_string()),
            (_, Some(color)) => Cow::Owned(text.color(color).to_string()),
            (_, None) => Cow::Borrowed(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_wins_over_the_environment_and_the_environment_over_the_terminal() {
        let quiet = ColorWish {
            no_color: true,
            ..ColorWish::default()
        };
        let force = ColorWish {
            force: true,
            ..ColorWish::default()
        };
        let both = ColorWish {
            no_color: true,
            force: true,
            dumb: false,
        };
        let dumb = ColorWish {
            dumb: true,
            ..ColorWish::default()
        };
        let unset = ColorWish::default();
        for (color, wish, terminal, expected) in [
            (Color::Auto, unset, true, true),
            (Color::Auto, unset, false, false),
            (Color::Auto, quiet, true, false),
            (Color::Auto, force, false, true),
            (Color::Auto, both, true, false),
            (Color::Auto, dumb, true, false),
            (Color::Always, both, false, true),
            (Color::Always, quiet, false, true),
            (Color::Never, force, true, false),
        ] {
            let styles = Styles::decide(color, wish, terminal);
            assert_eq!(
                styles.enabled, expected,
                "{color:?} {wish:?} terminal: {terminal}"
            );
        }
    }

    #[test]
    fn plain_styles_leave_text_alone_and_others_wrap_it() {
        assert_eq!(Styles::PLAIN.paint(Tone::Bad, "gone"), "gone");
        let styles = Styles::decide(Color::Always, ColorWish::default(), false);
        assert_eq!(styles.paint(Tone::Bad, "gone"), "\u{1b}[31mgone\u{1b}[0m");
        assert_eq!(styles.paint(Tone::Plain, "gone"), "gone");
        assert_eq!(styles.paint(Tone::Bad, ""), "");
    }
}
