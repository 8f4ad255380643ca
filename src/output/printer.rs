//! The printer: reports go to stdout, everything else to stderr, each as the user wants it.

#![expect(clippy::disallowed_methods, reason = "the one way out")]

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use serde::Serialize;
use thiserror::Error;

use super::envelope::{Document, Envelope};
use super::fold::folded;
use super::fullscreen::FullScreen;
use super::gate::Gate;
use super::log::LogFormat;
use super::page::Detail;
use super::page::Page;
use super::progress::{Lines, LiveView, Progress};
use super::prompt::{Question, can_ask};
use super::report::{Format, Report, View};
use super::sanitize::{self, Notation};
use super::sort::{SortBy, SortError};
use super::stream::Stream;
use super::styles::{Color, Styles, Terminal, Tone};
use super::table::{Table, Widths};
use super::{html, json, log, markdown, yaml};
use dra_reports::script::{Script, carried};

/// Output options of the user.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Options {
    /// `table`, `wide`, `json`, `yaml` or `name`
    #[arg(
        id = "output",
        long = "output",
        short = 'o',
        value_enum,
        hide_possible_values = true,
        default_value = "table",
        hide_default_value = true,
        value_name = "FORMAT"
    )]
    pub(crate) format: Format,

    /// Show everything, fitted to the terminal
    ///
    /// All evidence, rows and columns, where `-o wide` does not break lines.
    #[arg(long)]
    pub(crate) details: bool,

    /// Omit the header line
    #[arg(long)]
    pub(crate) no_headers: bool,

    /// Sort by a column such as `NODE` or a field such as `.node`
    ///
    /// Fields refer to the JSON items and accept kubectl's form, such as `{.devices[0].driver}`.
    #[arg(long, value_name = "COLUMN|PATH")]
    pub(crate) sort_by: Option<SortBy>,

    /// Watch for changes after printing the table
    #[arg(long, short)]
    pub(crate) watch: bool,

    /// Color mode
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub(crate) color: Color,

    /// Use ASCII characters only
    #[arg(long)]
    pub(crate) ascii: bool,

    /// Print only results and errors
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Log level on stderr; 6 logs requests
    #[arg(long = "v", short = 'v', default_value_t = 0, value_name = "LEVEL")]
    pub(crate) verbosity: u8,
}

/// The reason why a report was not printed.
#[derive(Debug, Error)]
pub(crate) enum PrintError {
    #[error(transparent)]
    Sort(#[from] SortError),
    #[error("cannot write to standard output")]
    Write(#[source] io::Error),
}

/// Prints for one run of the program.
pub(crate) struct Printer {
    options: Options,
    out: Stream,
    err: Arc<Stream>,
    /// True if a log collector reads stderr, so that every line must be JSON.
    logs_json: AtomicBool,
    lines: Lines,
    question: Question,
    /// Warnings that wait for the report, if they do.
    held: Mutex<Option<Vec<String>>>,
}

/// The columns of one stream: the two may be different terminals.
macro_rules! columns_of {
    ($stream:expr) => {
        || terminal_size::terminal_size_of($stream).map(|(width, _)| usize::from(width.0))
    };
}

impl Printer {
    /// A printer on the process's own streams.
    pub(crate) fn new(options: Options, terminal: Terminal) -> Self {
        Self::with(Box::new(io::stdout()), Box::new(io::stderr()), options, terminal)
    }

    /// A printer without output.
    #[cfg(test)]
    pub(crate) fn silent(options: Options) -> Self {
        Self::into_nothing(options, Terminal::default())
    }

    /// A printer without output, for a report that this one prints.
    pub(crate) fn muted(&self) -> Self {
        let terminal = Terminal {
            stdout: self.out.terminal,
            ..Terminal::default()
        };
        Self::into_nothing(self.options.clone(), terminal)
    }

    fn into_nothing(options: Options, terminal: Terminal) -> Self {
        Self::with(Box::new(io::sink()), Box::new(io::sink()), options, terminal)
    }

    /// A printer on other streams, which may stand for a terminal.
    pub(crate) fn with(
        out: Box<dyn Write + Send>,
        err: Box<dyn Write + Send>,
        options: Options,
        terminal: Terminal,
    ) -> Self {
        let lines = Lines::new(terminal.stderr && !options.quiet && options.verbosity == 0);
        let stream = |writer, is_terminal, width| Stream {
            writer: Mutex::new(writer),
            terminal: is_terminal,
            styles: Styles::decide(options.color, terminal.wish, is_terminal),
            width,
            unicode: terminal.unicode && !options.ascii,
        };
        Self {
            out: stream(out, terminal.stdout, columns_of!(io::stdout())),
            err: Arc::new(stream(err, terminal.stderr, columns_of!(io::stderr()))),
            logs_json: AtomicBool::new(false),
            options,
            lines,
            question: Question::default(),
            held: Mutex::new(None),
        }
    }

    /// Prints `report` in the format asked for; `envelope` are the facts behind it.
    pub(crate) fn report<R: Report>(&self, envelope: &Envelope, report: &mut R) -> Result<(), PrintError> {
        let printed = self.report_on(&self.out, envelope, report);
        self.release_warnings();
        printed
    }

    /// Warnings are now delayed until after the report if both streams are a terminal: the answer comes first.
    pub(crate) fn hold_warnings(&self) {
        if self.has_screen() && self.err.terminal {
            self.held.lock().get_or_insert_default();
        }
    }

    /// Prints the warnings that waited. Those that follow wait no more.
    pub(crate) fn release_warnings(&self) {
        let held = self.held.lock().take();
        for text in held.into_iter().flatten() {
            self.warning(&text);
        }
    }

    /// Prints `report` on stderr, where stdout is for something else.
    pub(crate) fn report_aside<R: Report>(
        &self,
        envelope: &Envelope,
        report: &mut R,
    ) -> Result<(), PrintError> {
        self.report_on(&self.err, envelope, report)
    }

    fn report_on<R: Report>(
        &self,
        stream: &Stream,
        envelope: &Envelope,
        report: &mut R,
    ) -> Result<(), PrintError> {
        if let Some(by) = &self.options.sort_by {
            report.sort(by)?;
        }
        let report = &*report;
        let document = Document::new(envelope, report);
        match self.options.format {
            Format::Table | Format::Wide => self.view(stream, report),
            Format::Json => self.on(stream, |gate| {
                gate.document(Notation::Json, |out| json::to_writer(out, &document))
            }),
            Format::Yaml => self.on(stream, |gate| {
                gate.document(Notation::Yaml, |out| yaml::to_writer(out, &document))
            }),
            Format::Ndjson => self.on(stream, |gate| {
                gate.document(Notation::Json, |out| json::to_line(out, &document))
            }),
            Format::Sarif => self.on(stream, |gate| {
                let text = report.export(Format::Sarif).unwrap_or_default();
                gate.document(Notation::Json, |out| out.write_all(text.as_bytes()))
            }),
            Format::Html => {
                let page = self.web_page(envelope, report);
                self.on(stream, |gate| gate.text(&page))
            }
            format @ (Format::Junit | Format::Github | Format::Markdown) => {
                let text = report.export(format).unwrap_or_else(|| self.markdown(report));
                self.on(stream, |gate| gate.text(&text))
            }
            Format::Name => self.on(stream, |gate| {
                report.names().iter().try_for_each(|name| {
                    gate.text(&sanitize::for_cell(name))?;
                    gate.text("\n")
                })
            }),
        }
    }

    /// The detail of a format for people.
    fn detail(&self) -> Detail {
        if self.options.details || self.options.format == Format::Wide {
            Detail::Wide
        } else {
            Detail::Normal
        }
    }

    /// The report as a web page, with the command for its title.
    fn web_page<R: Report>(&self, envelope: &Envelope, report: &R) -> String {
        let title = match carried().typed.as_slice() {
            [] => R::KIND.to_owned(),
            typed => Script::typed(typed.iter().map(String::as_str)).to_string(),
        };
        html::of_report(&title, envelope, report, self.detail(), Self::more())
    }

    /// The report as Markdown, as much of it as a terminal gets.
    fn markdown<R: Report>(&self, report: &R) -> String {
        match report.view(Page::endless(self.detail(), true)) {
            View::Table(table) => markdown::of_table(&table),
            View::Doc(doc) => markdown::of_doc(&doc, Self::more().as_ref()),
        }
    }

    /// The command that shows everything, if the one typed can be repeated.
    fn more() -> Option<Script> {
        let carried = carried();
        let typed = carried.typed.as_slice();
        let end = typed.iter().position(|word| word == "--").unwrap_or(typed.len());
        let (options, names) = typed.split_at(end);
        let words = options.iter().map(String::as_str);
        let words = words.chain(["--details"]).chain(names.iter().map(String::as_str));
        (!typed.is_empty()).then(|| Script::typed(words))
    }

    fn view<R: Report>(&self, stream: &Stream, report: &R) -> Result<(), PrintError> {
        let page = self.page(stream);
        match report.view(page) {
            View::Table(table) if table.is_empty() => {
                if let Some(nothing) = report.nothing() {
                    self.note(&nothing);
                }
                Ok(())
            }
            View::Table(table) => {
                let (table, same) = table.on(page, 0, false);
                if let Some(same) = same {
                    self.on(stream, |gate| {
                        let same = folded(&gate.shown(&same), page.width(), 0);
                        gate.text(&same)?;
                        gate.text("\n")
                    })?;
                }
                self.rows_on(stream, &table, page, &mut Widths::default())
            }
            View::Doc(doc) => self.on(stream, |gate| {
                doc.print(gate, stream.width(), page, Self::more().as_ref())
            }),
        }
    }

    /// Prints the rows of `table` below those that `widths` remembers, with headers if it remembers none.
    pub(crate) fn rows(&self, table: &Table, widths: &mut Widths) -> Result<(), PrintError> {
        self.rows_on(&self.out, table, self.page(&self.out), widths)
    }

    /// The page of a table or a document on `stream`.
    fn page(&self, stream: &Stream) -> Page {
        stream.page(self.detail(), self.options.format == Format::Table)
    }

    fn rows_on(
        &self,
        stream: &Stream,
        table: &Table,
        page: Page,
        widths: &mut Widths,
    ) -> Result<(), PrintError> {
        let headers = !self.options.no_headers && widths.is_new();
        self.on(stream, |gate| table.print(gate, 0, headers, page, widths))
    }

    /// Prints the program's own text on stdout, such as a completion script.
    pub(crate) fn text(&self, text: &str) -> Result<(), PrintError> {
        self.on(&self.out, |gate| gate.text(text))
    }

    /// Prints the program's own text in parts with their tones, such as help.
    pub(crate) fn toned<'t>(&self, parts: impl Iterator<Item = (Tone, &'t str)>) -> Result<(), PrintError> {
        self.on(&self.out, |gate| {
            for (tone, text) in parts {
                gate.toned(tone, text)?;
            }
            Ok(())
        })
    }

    /// Prints on stdout what is no report but JSON.
    pub(crate) fn json(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), PrintError> {
        self.on(&self.out, |gate| gate.document(Notation::Json, write))
    }

    /// Prints `value` on stdout as a line of JSON.
    pub(crate) fn line(&self, value: &impl Serialize) -> Result<(), PrintError> {
        self.json(|out| json::to_line(out, value))
    }

    /// Prints what stands above one of several reports. Before the first no line is empty.
    pub(crate) fn heading(&self, text: &str, is_first: bool) -> Result<(), PrintError> {
        let text = sanitize::for_cell(text);
        self.on(&self.out, |gate| {
            gate.text(if is_first { "" } else { "\n" })?;
            if self.options.format == Format::Markdown {
                gate.text(&format!("## {}\n\n", markdown::plain(&text)))
            } else {
                gate.toned(Tone::Strong, &text)?;
                gate.text("\n")
            }
        })
    }

    /// Prints on stdout what is no report but JSON or YAML.
    pub(crate) fn manifest(&self, text: &str) -> Result<(), PrintError> {
        let notation = if text.trim_start().starts_with(['{', '[']) {
            Notation::Json
        } else {
            Notation::Yaml
        };
        self.on(&self.out, |gate| {
            gate.document(notation, |out| out.write_all(text.as_bytes()))
        })
    }

    fn on(
        &self,
        stream: &Stream,
        print: impl FnOnce(&mut Gate<'_>) -> io::Result<()>,
    ) -> Result<(), PrintError> {
        self.lines
            .aside(|| stream.print(print))
            .map_err(PrintError::Write)
    }

    /// From here on what happens is logged on stderr, and with JSON everything else on it as well.
    pub(crate) fn begin_log(&self, format: LogFormat) {
        self.logs_json.store(format == LogFormat::Json, Ordering::Relaxed);
        let verbosity = (!self.options.quiet).then_some(self.options.verbosity);
        log::begin(Arc::clone(&self.err), format, verbosity);
    }

    /// Tells the user something on stderr that is no part of the report.
    pub(crate) fn note(&self, text: &str) {
        if self.logs_json.load(Ordering::Relaxed) {
            tracing::info!("{}", text.trim_end());
        } else if !self.options.quiet {
            self.stderr(None, text);
        }
    }

    /// Tells the user on stderr about something that they should know to read the report rightly.
    pub(crate) fn warning(&self, text: &str) {
        if let Some(held) = self.held.lock().as_mut() {
            held.push(text.to_owned());
        } else if self.logs_json.load(Ordering::Relaxed) {
            tracing::warn!("{text}");
        } else if !self.options.quiet {
            self.stderr(Some((Tone::Notice, "warning")), &sanitize::for_cell(text));
        }
    }

    /// Tells the user why the program could not do its job, and what could help.
    pub(crate) fn error(&self, text: &str, hints: &[String]) {
        self.release_warnings();
        if self.logs_json.load(Ordering::Relaxed) {
            tracing::error!(hints = hints.join("; "), "{}", text.trim_end());
            return;
        }
        // What stands in a message cannot begin a line as one of ours begins.
        self.stderr(Some((Tone::Bad, "error")), &text.trim_end().replace('\n', "\n  "));
        if !hints.is_empty() {
            self.stderr(None, "");
        }
        for hint in hints {
            self.stderr(Some((Tone::Strong, "hint")), hint);
        }
    }

    /// Prints on stderr what a library has put into words and lines already.
    pub(crate) fn formatted_error(&self, text: &str) {
        self.release_warnings();
        self.stderr(None, text.trim_end());
    }

    /// Restores the terminal if the program is interrupted during a question.
    pub(crate) fn ask_no_more(&self) {
        self.question.give_up();
    }

    /// Asks a question that `n` answers unless the user says otherwise. Nothing where no user can be asked.
    ///
    /// # Errors
    /// When the terminal fails, or the user presses Ctrl-C instead of answering.
    pub(crate) fn confirm(&self, question: &str) -> io::Result<Option<bool>> {
        self.question.ask(question)
    }

    /// Returns whether a report is shown on a terminal, in the form that is made for it.
    pub(crate) fn has_screen(&self) -> bool {
        self.options.format == Format::Table && self.out.terminal
    }

    /// The page of a terminal that a user looks at and can type on, if there is one.
    pub(crate) fn screen(&self) -> Option<Page> {
        let is_screen = self.has_screen() && can_ask();
        is_screen.then(|| self.out.page(Detail::Normal, true))
    }

    /// Takes the terminal for pictures.
    ///
    /// # Errors
    /// When it cannot be set up.
    pub(crate) fn full_screen(&self) -> io::Result<FullScreen> {
        FullScreen::open(self.out.styles)
    }

    /// All of `report` as `page`, a terminal, shows it, without colors.
    pub(crate) fn text_of<R: Report>(report: &R, page: Page) -> io::Result<String> {
        let page = page.with(Detail::Wide);
        let mut text = Vec::new();
        let mut gate = Gate::new(&mut text, Styles::PLAIN, true);
        match report.view(page) {
            View::Table(table) => table.print(&mut gate, 0, true, page, &mut Widths::default())?,
            View::Doc(doc) => doc.print(&mut gate, Some(page.width()), page, None)?,
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Ends a line that Ctrl-C left open on a terminal.
    pub(crate) fn interrupted(&self) {
        self.release_warnings();
        if self.err.terminal {
            self.stderr(None, "");
        }
    }

    fn stderr(&self, label: Option<(Tone, &str)>, text: &str) {
        let page = self.err.page(Detail::Normal, true);
        let print = |gate: &mut Gate<'_>| {
            let mut taken = 0;
            if let Some((tone, label)) = label {
                gate.toned(tone, &format!("{label}:"))?;
                gate.text(" ")?;
                taken = label.len() + 2;
            }
            if page.is_terminal() {
                gate.text(&folded(&gate.shown(text), page.width(), taken))?;
            } else {
                gate.text(text)?;
            }
            gate.text("\n")
        };
        // There is no other place to say that stderr cannot be written to, and the report is not at fault.
        let _ = self.lines.aside(|| self.err.print(print));
    }

    /// Shows the progress of `what`, once it takes long; `total` is the number of steps, if known.
    pub(crate) fn progress(&self, what: &str, total: Option<u64>) -> Progress {
        self.lines.start(what, total)
    }

    /// Redrawn lines below all other output, if a user sees them: on a terminal, and not with `-q`, `-v` or a log for
    /// collectors.
    pub(crate) fn live_view(&self) -> Option<LiveView> {
        let is_for_people = !self.logs_json.load(Ordering::Relaxed);
        self.lines.view().filter(|_| is_for_people)
    }

    /// Returns what is being done, as far as it is shown.
    pub(crate) fn doing(&self) -> Option<String> {
        self.lines.doing()
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde::Serialize;

    use super::super::sort::SortBy;
    use super::super::table::Column;
    use super::super::{GateState, Source};
    use super::*;

    /// Memory that the printer writes to and the test reads.
    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Memory {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().clone()).expect("UTF-8")
        }
    }

    /// A reader that has gone.
    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::BrokenPipe))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const COLUMNS: &[Column<Item>] = &[
        Column::new("NAME", ".name", |item, cell| cell.text(item.name)),
        Column::new("SIZE", ".size", |item, cell| cell.text(item.size)),
        Column::wide("NOTE", ".note", |item, cell| cell.text(item.note)),
    ];

    #[derive(Serialize, Clone)]
    struct Boxes {
        items: Vec<Item>,
    }

    #[derive(Serialize, Clone)]
    struct Item {
        name: &'static str,
        size: u32,
        note: &'static str,
    }

    impl Report for Boxes {
        const KIND: &'static str = "BoxList";

        fn view(&self, page: Page) -> View {
            Table::new(COLUMNS, page.detail(), &self.items).into()
        }

        fn names(&self) -> Vec<String> {
            self.items
                .iter()
                .map(|item| format!("box/{}", item.name))
                .collect()
        }

        fn sort(&mut self, by: &SortBy) -> Result<(), SortError> {
            by.sort(&mut self.items, COLUMNS)
        }

        fn nothing(&self) -> Option<String> {
            Some("No boxes found in namespace `attic`".to_owned())
        }
    }

    fn boxes() -> Boxes {
        Boxes {
            items: vec![
                Item {
                    name: "b",
                    size: 10,
                    note: "x",
                },
                Item {
                    name: "a",
                    size: 9,
                    note: "\u{9b}31m",
                },
            ],
        }
    }

    fn print(options: Options, terminal: Terminal, mut report: Boxes) -> (String, String) {
        let (out, err) = (Memory::default(), Memory::default());
        let printer = Printer::with(Box::new(out.clone()), Box::new(err.clone()), options, terminal);
        let envelope = Envelope {
            kubernetes_version: Some("1.37".to_owned()),
            feature_gates: vec![GateState {
                name: "DRADeviceTaints".to_owned(),
                enabled: true,
                component: "kube-scheduler".to_owned(),
                evidence: "Flag".to_owned(),
            }],
            source: Some(Source::Files {
                names: vec!["x.yaml".to_owned()],
            }),
            warnings: vec!["half a pool".to_owned()],
        };
        printer
            .report(&envelope, &mut report)
            .expect("memory can be written");
        (out.text(), err.text())
    }

    fn with(format: Format) -> Options {
        Options {
            format,
            ..Options::default()
        }
    }

    #[test]
    fn each_format_prints_the_same_items_in_the_order_asked_for() {
        let sorted = |format| Options {
            sort_by: Some("size".parse().expect("a column")),
            ..with(format)
        };
        for (options, expected) in [
            (with(Format::Table), "NAME   SIZE\nb      10\na      9\n"),
            (sorted(Format::Table), "NAME   SIZE\na      9\nb      10\n"),
            (
                with(Format::Wide),
                "NAME   SIZE   NOTE\nb      10     x\na      9      \u{9b}31m\n",
            ),
            (sorted(Format::Name), "box/a\nbox/b\n"),
            (
                Options {
                    no_headers: true,
                    ..with(Format::Table)
                },
                "b     10\na     9\n",
            ),
        ] {
            let (out, err) = print(options.clone(), Terminal::default(), boxes());
            assert_eq!(out, expected, "{options:?}");
            assert_eq!(err, "", "{options:?}");
        }
        let (json, _) = print(sorted(Format::Json), Terminal::default(), boxes());
        let (yaml, _) = print(sorted(Format::Yaml), Terminal::default(), boxes());
        let from_json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let from_yaml: serde_json::Value = serde_saphyr::from_str(&yaml).expect("YAML");
        assert_eq!(from_json, from_yaml);
        assert_eq!(from_json["items"][0]["name"], "a");
    }

    #[test]
    fn a_document_begins_with_its_envelope() {
        let (json, _) = print(
            with(Format::Json),
            Terminal::default(),
            Boxes { items: Vec::new() },
        );
        assert_eq!(
            json,
            r#"{
    "apiVersion": "dra.kubectl.io/v1",
    "kind": "BoxList",
    "kubernetesVersion": "1.37",
    "featureGates": [
        {
            "name": "DRADeviceTaints",
            "enabled": true,
            "component": "kube-scheduler",
            "evidence": "Flag"
        }
    ],
    "source": {
        "type": "Files",
        "names": [
            "x.yaml"
        ]
    },
    "warnings": [
        "half a pool"
    ],
    "items": []
}
"#
        );
    }

    #[test]
    fn an_empty_list_says_so_on_stderr_unless_quiet() {
        let empty = Boxes { items: Vec::new() };
        let (out, err) = print(with(Format::Table), Terminal::default(), empty.clone());
        assert_eq!(
            (out.as_str(), err.as_str()),
            ("", "No boxes found in namespace `attic`\n")
        );
        let (out, err) = print(
            Options {
                quiet: true,
                ..with(Format::Table)
            },
            Terminal::default(),
            empty,
        );
        assert_eq!((out.as_str(), err.as_str()), ("", ""));
    }

    #[test]
    fn on_a_terminal_no_format_passes_control_characters_on() {
        let terminal = Terminal {
            stdout: true,
            stderr: true,
            ..Terminal::default()
        };
        for format in [Format::Wide, Format::Json, Format::Yaml] {
            let options = Options {
                color: Color::Never,
                ..with(format)
            };
            let (out, _) = print(options, terminal, boxes());
            assert!(!out.contains('\u{9b}'), "{format:?}: {out:?}");
            assert!(out.to_lowercase().contains("9b"), "{format:?}: {out:?}");
        }
    }

    #[test]
    fn a_closed_pipe_is_known_by_its_cause_in_every_format() {
        for format in [
            Format::Table,
            Format::Wide,
            Format::Json,
            Format::Yaml,
            Format::Name,
        ] {
            let err = Box::new(Memory::default());
            let printer = Printer::with(Box::new(Closed), err, with(format), Terminal::default());
            let error = printer
                .report(&Envelope::default(), &mut boxes())
                .expect_err("no process reads");
            let PrintError::Write(cause) = error else {
                panic!("{format:?}: {error:?}")
            };
            assert_eq!(cause.kind(), io::ErrorKind::BrokenPipe, "{format:?}");
        }
    }

    #[test]
    fn an_error_comes_with_its_hints_below() {
        let err = Memory::default();
        let printer = Printer::with(
            Box::new(io::sink()),
            Box::new(err.clone()),
            Options::default(),
            Terminal::default(),
        );
        printer.error(
            "cannot read `x`",
            &["look there".to_owned(), "or there".to_owned()],
        );
        printer.warning("half");
        assert_eq!(
            err.text(),
            "error: cannot read `x`\n\nhint: look there\nhint: or there\nwarning: half\n"
        );
    }
}
