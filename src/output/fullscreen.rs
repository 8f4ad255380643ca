//! The whole terminal as one picture that is drawn again and again, and the keys that are pressed meanwhile.
//!
//! `ratatui` keeps the picture that the terminal has and writes what differs. As behind a [`Gate`](super::gate::Gate), no text can drive
//! the terminal: what it would obey is shown.

use std::io;

use ratatui::DefaultTerminal;
pub(crate) use ratatui::crossterm::event::KeyCode;
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate};
use ratatui::crossterm::{execute, queue};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text;
use tokio::sync::mpsc;

use super::doc::Span;
use super::sanitize;
use super::styles::{Styles, Tone};

/// Ctrl-C, which is a key like others on such a terminal.
pub(crate) const INTERRUPT: KeyCode = KeyCode::Char('\u{3}');

/// The key that is pressed, as users of a pager expect; none at all, which draws again, where the terminal has another size now.
fn pressed(event: &Event) -> Option<KeyCode> {
    let Event::Key(KeyEvent {
        code,
        modifiers,
        kind: KeyEventKind::Press | KeyEventKind::Repeat,
        ..
    }) = event
    else {
        return matches!(event, Event::Resize(..)).then_some(KeyCode::Null);
    };
    match code {
        code if !modifiers.contains(KeyModifiers::CONTROL) => Some(*code),
        KeyCode::Char('c' | 'd') => Some(INTERRUPT),
        KeyCode::Char('b') => Some(KeyCode::PageUp),
        KeyCode::Char('f') => Some(KeyCode::PageDown),
        KeyCode::Char(_) => None,
        code => Some(*code),
    }
}

/// The terminal while it belongs to the program. It is given back when this is dropped, and before a panic is reported.
pub(crate) struct FullScreen {
    terminal: DefaultTerminal,
    styles: Styles,
}

impl FullScreen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When it cannot be set up.
    pub(super) fn open(styles: Styles) -> io::Result<Self> {
        let terminal = ratatui::try_init().inspect_err(|_| ratatui::restore())?;
        Ok(Self { terminal, styles })
    }

    /// The keys from now on. There is nothing more when the terminal is gone.
    ///
    /// # Errors
    /// When there are no more threads.
    pub(crate) fn keys() -> io::Result<mpsc::UnboundedReceiver<KeyCode>> {
        let (sender, receiver) = mpsc::unbounded_channel();
        // It waits for a key when the program ends, and ends with it.
        std::thread::Builder::new().spawn(move || {
            while let Ok(event) = event::read() {
                if let Some(key) = pressed(&event)
                    && sender.send(key).is_err()
                {
                    return;
                }
            }
        })?;
        Ok(receiver)
    }

    /// Its columns and lines.
    ///
    /// # Errors
    /// When the terminal does not say.
    pub(crate) fn size(&self) -> io::Result<(usize, usize)> {
        let size = self.terminal.size()?;
        Ok((usize::from(size.width), usize::from(size.height)))
    }

    /// Shows these lines. What the terminal has no room for is left out.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(crate) fn draw(&mut self, lines: &[Vec<Span>]) -> io::Result<()> {
        let styles = self.styles;
        // A terminal that knows it shows no half of a picture.
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.terminal.draw(|frame| {
            let area = frame.area();
            for (row, spans) in area.rows().zip(lines) {
                let spans = spans.iter().map(|(tone, text)| {
                    text::Span::styled(sanitize::for_terminal(text), style(*tone, styles))
                });
                let line: text::Line<'_> = spans.collect();
                frame.buffer_mut().set_line(row.x, row.y, &line, row.width);
            }
        })?;
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// How a tone looks. Without colors what is strong still is.
fn style(tone: Tone, styles: Styles) -> Style {
    match (tone, tone.color()) {
        (Tone::Strong, _) => Style::new().add_modifier(Modifier::BOLD),
        (_, Some(color)) if styles.are_on() => Style::new().fg(Color::Indexed(palette(color))),
        _ => Style::new(),
    }
}

/// The place of a color in the palette of terminals: as in the escape sequence, normal colors from 30 on and bright ones from 90 on.
fn palette(color: colored::Color) -> u8 {
    match color.to_fg_str().parse() {
        Ok(code @ 30..=37) => code - 30,
        Ok(code @ 90..=97) => code - 90 + 8,
        // No tone has another one; this is white.
        _ => 7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_what_users_of_a_pager_expect() {
        let key = |code, modifiers| pressed(&Event::Key(KeyEvent::new(code, modifiers)));
        let (none, control) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
        for (code, modifiers, expected) in [
            (KeyCode::Char('q'), none, Some(KeyCode::Char('q'))),
            (KeyCode::Char('S'), KeyModifiers::SHIFT, Some(KeyCode::Char('S'))),
            (KeyCode::Char('c'), control, Some(INTERRUPT)),
            (KeyCode::Char('f'), control, Some(KeyCode::PageDown)),
            (KeyCode::Char('x'), control, None),
            (KeyCode::Esc, none, Some(KeyCode::Esc)),
            (KeyCode::F(1), none, Some(KeyCode::F(1))),
        ] {
            assert_eq!(key(code, modifiers), expected, "{code:?} {modifiers:?}");
        }
        // Windows reports that a key is let go, too.
        let released = KeyEvent::new_with_kind(KeyCode::Char('q'), none, KeyEventKind::Release);
        assert_eq!(pressed(&Event::Key(released)), None);
        assert_eq!(pressed(&Event::Resize(80, 24)), Some(KeyCode::Null));
    }

    #[test]
    fn colors_are_decoration() {
        let on = Styles::decide(
            super::super::styles::Color::Always,
            super::super::styles::ColorWish::default(),
            true,
        );
        assert_eq!(style(Tone::Bad, on), Style::new().fg(Color::Indexed(1)));
        assert_eq!(style(Tone::Number(5), on), Style::new().fg(Color::Indexed(12)));
        assert_eq!(style(Tone::Bad, Styles::PLAIN), Style::new());
        assert_eq!(style(Tone::Strong, Styles::PLAIN), style(Tone::Strong, on));
    }
}
