//! Interpretation of file events: item kinds from lists, lists in lists, and missing objects.

use std::borrow::Cow;
use std::sync::Arc;

use super::batch::{Found, ItemBatch};
use super::error::ReadError;
use super::item::{Format, Origin, RawItem};
use super::json::{self, JsonEvent, JsonItem, JsonItems, JsonLimits};
use super::list_head::ListHead;
use super::options::{ReadOptions, Source};
use super::paths;
use super::stream::walk;
use crate::decode::group_version;
use crate::needs::Problem;
use dra_model::Kind;

/// Amount read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files, standard input included.
    pub files: u64,
    /// Number of returned objects.
    pub items: u64,
    /// Lists that ended, those in other lists included.
    pub lists: u64,
    /// Problems reported.
    pub problems: u64,
}

/// Reads everything in `sources`, in their order, and passes it to `sink` as it is found.
///
/// Memory use does not grow with the size of the sources. A source without any object or list is an error; so is one
/// that cannot be read to its end. Malformed objects are passed to `sink` as [`Found::Problem`], which determines
/// whether to continue.
pub fn read<E: From<ReadError>>(
    sources: &[Source],
    options: &ReadOptions,
    mut sink: impl FnMut(Found<'_>) -> Result<(), E>,
) -> Result<Summary, E> {
    let mut reader = Reader {
        options,
        sink: &mut sink,
        summary: Summary::default(),
        source: Arc::default(),
    };
    for source in sources {
        let before = reader.summary;
        let name = reader.source(source)?;
        if (reader.summary.items, reader.summary.lists) == (before.items, before.lists) {
            return Err(ReadError::NoObjects { file: name }.into());
        }
    }
    Ok(reader.summary)
}

/// The whole text of one source that is no directory, unpacked.
///
/// # Errors
/// When it cannot be read to its end.
pub fn text(source: &Source, options: &ReadOptions) -> Result<String, ReadError> {
    let mut text = source.open(options)?;
    let mut whole = String::new();
    while text.advance()? {
        whole.push_str(text.piece());
    }
    Ok(whole)
}

/// Returns whether an object may have more than `limit` values, each using up to a hundred times its text.
fn has_more_values(json: &[u8], limit: usize) -> bool {
    // Two bytes are the least that a value takes.
    json.len() / 2 > limit && memchr::memchr2_iter(b',', b'[', json).count() > limit
}

struct Reader<'a, E> {
    options: &'a ReadOptions,
    sink: &'a mut dyn FnMut(Found<'_>) -> Result<(), E>,
    summary: Summary,
    /// The file or directory being read, for errors.
    source: Arc<str>,
}

/// State of the list being read, beyond its content.
#[derive(Default)]
struct Progress {
    /// Lists of this file that have ended.
    lists: u64,
    /// The list's head, found by reading ahead.
    ahead: Option<ListHead>,
    /// Items whose kind will be known at the end of the list.
    held: ItemBatch,
    /// Item kinds that the end of the list confirms or refutes.
    claimed: Vec<Claimed>,
}

/// Identity claimed by an item.
struct Claimed {
    kind: String,
    api_version: String,
}

fn is_known(kind: &str, api_version: &str) -> bool {
    let (group, _) = group_version(api_version);
    Kind::find(group, kind).is_some()
}

impl Progress {
    /// Notes what an item says that it is, once for all items of one kind, and for all of kinds that do not matter.
    fn claim(&mut self, item: &RawItem<'_>) {
        let Some(kind) = item.kind.as_deref() else { return };
        let api_version = item.api_version.as_deref().unwrap_or_default();
        let is_alike = |claimed: &Claimed| {
            (claimed.kind == kind && claimed.api_version == api_version)
                || (is_known(kind, api_version) == is_known(&claimed.kind, &claimed.api_version)
                    && (claimed.kind == kind || (!Kind::is_name(kind) && !Kind::is_name(&claimed.kind))))
        };
        if !self.claimed.iter().rev().any(is_alike) {
            self.claimed.push(Claimed {
                kind: kind.to_owned(),
                api_version: api_version.to_owned(),
            });
        }
    }
}

impl Claimed {
    /// Returns what is wrong with the kinds in the list, which is now completely read.
    fn contradicts(&self, list: &ListHead) -> Option<String> {
        let version = Some(&*self.api_version).filter(|version| !version.is_empty());
        let listed = list.contradicted_by(Some(&self.kind), version)?;
        Some(format!("is a list of `{listed}` that contains a `{}`", self.kind))
    }
}

impl<E: From<ReadError>> Reader<'_, E> {
    /// Reads one source, and returns its name.
    fn source(&mut self, source: &Source) -> Result<Arc<str>, E> {
        let Source::Path(path) = source else {
            return self.file(source);
        };
        if !path.is_dir() {
            return self.file(source);
        }
        for file in paths::files_of(path)? {
            let before = self.summary;
            let name = self.file(&Source::Path(file))?;
            let found = |summary| Summary { files: 0, ..summary };
            if self.options.no_empty_files && found(self.summary) == found(before) {
                return Err(ReadError::NoObjects { file: name }.into());
            }
        }
        Ok(paths::display(path))
    }

    fn file(&mut self, source: &Source) -> Result<Arc<str>, E> {
        self.summary.files += 1;
        self.source = source.name();
        let mut progress = Progress::default();
        let options = self.options;
        walk(source, options, &mut |event, format| {
            self.event(source, &mut progress, event, format)
        })?;
        Ok(Arc::clone(&self.source))
    }

    fn event(
        &mut self,
        source: &Source,
        progress: &mut Progress,
        event: JsonEvent<'_>,
        format: Format,
    ) -> Result<(), E> {
        let file = Arc::clone(&self.source);
        let origin = |line, index| Origin {
            file: Arc::clone(&file),
            line,
            index,
        };
        match event {
            JsonEvent::Item(item) => {
                let origin = origin(item.line, item.index);
                self.listed(source, progress, &item, origin, format)
            }
            JsonEvent::Bad {
                line,
                index,
                message,
                head,
            } => self.bad(&origin(line, index), message, head),
            JsonEvent::ListEnd(head) => {
                progress.lists += 1;
                progress.ahead = None;
                for claimed in std::mem::take(&mut progress.claimed) {
                    if let Some(message) = claimed.contradicts(head) {
                        self.bad(&origin(head.line, None), message, None)?;
                    }
                }
                let mut held = std::mem::take(&mut progress.held);
                for found in held.drain() {
                    if let Found::Item(item) = found {
                        self.item(item.kind_from(Some(head)), 0)?;
                    }
                }
                self.list(head, origin(head.line, None))
            }
        }
    }

    /// Completes an object's kind by that of its list.
    fn listed(
        &mut self,
        source: &Source,
        progress: &mut Progress,
        item: &JsonItem<'_>,
        origin: Origin,
        format: Format,
    ) -> Result<(), E> {
        let list = progress.ahead.as_ref().or(item.list);
        let head = match list {
            // The decoder of such an item sees its own kind later.
            Some(list) if list.is_of_known_kind() => json::leading_head(item.json),
            _ => json::head(item.json),
        };
        let raw = RawItem {
            json: item.json.into(),
            api_version: head.api_version,
            kind: head.kind,
            listed_as: None,
            origin,
            format,
        };
        let is_open = list.is_some_and(|list| list.kind.is_none());
        if progress.ahead.is_none() && is_open {
            progress.claim(&raw);
        }
        let unknown = raw.kind.is_none() && is_open;
        if unknown && progress.ahead.is_none() && source.can_be_read_again() {
            progress.ahead = Some(self.read_ahead(source, progress.lists)?);
        } else if progress.ahead.is_none() && (unknown || !progress.held.is_empty()) {
            let limit = self.options.limits.held_bytes;
            if progress.held.memory() + raw.json.len() > limit {
                return Err(ReadError::KindTooLate {
                    file: Arc::clone(&self.source),
                    limit,
                }
                .into());
            }
            progress.held.push(Found::Item(raw));
            return Ok(());
        }
        self.item(raw.kind_from(progress.ahead.as_ref().or(item.list)), 0)
    }

    /// Reads the file once more, up to the end of the list that comes after `lists` others.
    fn read_ahead(&self, source: &Source, lists: u64) -> Result<ListHead, E> {
        // What is read twice is counted once.
        let options = ReadOptions {
            bytes_read: None,
            ..self.options.clone()
        };
        let (mut seen, mut found) = (0, None);
        // An error that is none ends the reading.
        let outcome = walk::<Option<ReadError>>(source, &options, &mut |event, _| {
            let JsonEvent::ListEnd(head) = event else {
                return Ok(());
            };
            seen += 1;
            if seen <= lists {
                return Ok(());
            }
            found = Some(head.clone());
            Err(None)
        });
        match outcome {
            Err(Some(error)) => Err(error.into()),
            // Without one the file has changed in between.
            Err(None) | Ok(()) => Ok(found.unwrap_or_default()),
        }
    }

    /// Returns an object, or its items if it is a list.
    fn item(&mut self, item: RawItem<'_>, depth: u32) -> Result<(), E> {
        let is_list =
            item.kind.as_deref().is_some_and(|kind| kind.ends_with("List")) && json::has_items(&item.json);
        if is_list && depth >= self.options.limits.list_depth {
            let message = format!(
                "lists are nested more than {} levels deep",
                self.options.limits.list_depth
            );
            return self.unusable(&item, message);
        }
        if is_list {
            return self.nested(&item, depth + 1);
        }
        let limit = self.options.limits.values;
        if has_more_values(&item.json, limit) {
            return self.unusable(&item, format!("more than {limit} values in one object"));
        }
        self.summary.items += 1;
        (self.sink)(Found::Item(item))
    }

    /// Returns the objects of a list that is an item of a list.
    fn nested(&mut self, list: &RawItem<'_>, depth: u32) -> Result<(), E> {
        let limits = JsonLimits {
            item_bytes: self.options.limits.item_bytes,
            depth: self.options.limits.depth,
        };
        // The list is in memory, so that its head can be found first.
        let mut items = JsonItems::new(limits);
        let mut feed = items.feed(&list.json);
        let head = loop {
            match feed.next_event() {
                Ok(Some(JsonEvent::ListEnd(head))) => break head.clone(),
                Ok(Some(_)) => {}
                Ok(None) => break ListHead::default(),
                Err(error) => return self.unusable(list, error.to_string()),
            }
        };
        let mut items = JsonItems::new(limits);
        let mut feed = items.feed(&list.json);
        loop {
            let lines_before = |line: u64| match list.format {
                Format::Json => list.origin.line + line - 1,
                Format::Yaml => list.origin.line,
            };
            let origin = |line, index| Origin {
                file: Arc::clone(&list.origin.file),
                line: lines_before(line),
                index,
            };
            match feed.next_event() {
                Ok(Some(JsonEvent::Item(item))) => {
                    let own = json::head(item.json);
                    let raw = RawItem {
                        json: item.json.into(),
                        api_version: own.api_version,
                        kind: own.kind,
                        listed_as: None,
                        origin: origin(item.line, item.index),
                        format: list.format,
                    };
                    self.item(raw.kind_from(Some(&head)), depth)?;
                }
                Ok(Some(JsonEvent::Bad {
                    line,
                    index,
                    message,
                    head,
                })) => self.bad(&origin(line, index), message, head)?,
                Ok(Some(JsonEvent::ListEnd(_))) => self.list(&head, list.origin.clone())?,
                Ok(None) => return Ok(()),
                Err(error) => return self.unusable(list, error.to_string()),
            }
        }
    }

    fn list(&mut self, head: &ListHead, origin: Origin) -> Result<(), E> {
        self.summary.lists += 1;
        let head = Cow::Borrowed(head);
        (self.sink)(Found::List { head, origin })
    }

    /// A file with only problems is not a file of objects, and describing all of them would take forever.
    fn refuse_other_things(&self) -> Result<(), E> {
        let limit = self.options.limits.problems;
        if self.summary.problems <= limit {
            return Ok(());
        }
        let file = Arc::clone(&self.source);
        Err(ReadError::TooManyProblems { file, limit }.into())
    }

    /// An object that cannot be used.
    fn unusable(&mut self, item: &RawItem<'_>, message: String) -> Result<(), E> {
        self.problem(item.problem(message), item.head())
    }

    /// Something in the place of an object.
    fn bad(&mut self, origin: &Origin, message: String, head: Option<(String, String)>) -> Result<(), E> {
        let problem = Problem {
            place: origin.to_string(),
            object: None,
            message,
        };
        self.problem(problem, head)
    }

    fn problem(&mut self, problem: Problem, head: Option<(String, String)>) -> Result<(), E> {
        self.summary.problems += 1;
        self.refuse_other_things()?;
        (self.sink)(Found::Problem { problem, head })
    }
}
