//! What to replace in the text for one change.

use std::ops::Range;

use serde_json::Value;

use super::Edit;
use super::nodes::{Member, Node, Shape};

/// A range of the text and what stands there instead.
type Change = (Range<usize>, String);
/// Why a value is not changed.
type Refused = &'static str;

const FIXED: Refused = "it has an anchor, an alias or a tag, which is not changed";
const SPACE_ONLY: Refused = "there is something between its values that is not understood";
const MISSING: Refused = "what is to be changed is not there";
const OTHER: Refused = "its list is not the one that was read";

/// What `edit` does to `object`.
pub(super) fn change(text: &str, object: &Node, edit: &Edit) -> Result<Vec<Change>, Refused> {
    match edit {
        Edit::List { path, keep, add } => list(text, object, path, keep, add),
        Edit::Remove { path, keys } => remove_members(text, mapping(object, path)?, keys),
    }
}

/// The mapping at the end of `path`.
fn mapping<'n>(object: &'n Node, path: &[String]) -> Result<&'n Node, Refused> {
    let mut node = object;
    for step in path {
        node = &node.member(step).ok_or(MISSING)?.value;
        if node.fixed {
            return Err(FIXED);
        }
    }
    Ok(node)
}

fn list(
    text: &str,
    object: &Node,
    path: &[String],
    keep: &[bool],
    add: &[Value],
) -> Result<Vec<Change>, Refused> {
    let (key, above) = path.split_last().ok_or(MISSING)?;
    let parent = mapping(object, above)?;
    let Some(member) = parent.member(key) else {
        return if keep.is_empty() {
            add_member(text, parent, key, add).map(|change| vec![change])
        } else {
            Err(MISSING)
        };
    };
    let node = &member.value;
    if node.fixed {
        return Err(FIXED);
    }
    let empty = matches!(node.scalar(), Some("" | "null" | "~"));
    let elements = match node.elements() {
        Some(elements) => elements,
        None if empty => &[],
        None => return Err(OTHER),
    };
    if elements.len() != keep.len() {
        return Err(OTHER);
    }
    if elements.iter().any(|element| element.fixed) {
        return Err(FIXED);
    }
    if elements.is_empty() {
        let (start, end) = if node.start == node.end {
            (member.key_end + 1, member.key_end + 1)
        } else {
            (node.start, node.end)
        };
        let space = if start == member.key_end + 1 { " " } else { "" };
        return Ok(vec![(start..end, format!("{space}{}", compact(add)))]);
    }
    if node.block {
        block_list(text, elements, keep, add)
    } else {
        flow_list(text, node, elements, keep, add).map(|change| vec![change])
    }
}

/// The list as JSON in one line.
fn compact(values: &[Value]) -> String {
    let values: Vec<String> = values.iter().map(Value::to_string).collect();
    format!("[{}]", values.join(","))
}

/// Where the line of `at` begins.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// Where the line behind `at` begins; the end of the text behind the last one.
fn next_line(text: &str, at: usize) -> usize {
    if at > 0 && text.as_bytes()[at - 1] == b'\n' {
        return at;
    }
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// How lines end.
fn line_feed(text: &str) -> &'static str {
    if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) {
        "\r\n"
    } else {
        "\n"
    }
}

/// Lines of their own for each element: whole lines go and come.
fn block_list(text: &str, elements: &[Node], keep: &[bool], add: &[Value]) -> Result<Vec<Change>, Refused> {
    let mut starts = Vec::with_capacity(elements.len());
    let mut indent = "";
    for element in elements {
        let before = text[..element.start].trim_end();
        if !before.ends_with('-') {
            return Err(SPACE_ONLY);
        }
        let dash = before.len() - 1;
        let start = line_start(text, dash);
        indent = &text[start..dash];
        if !indent.bytes().all(|byte| byte == b' ') {
            return Err(SPACE_ONLY);
        }
        starts.push(start);
    }
    let last = elements.last().ok_or(MISSING)?;
    let end = next_line(text, last.content_end());
    let mut changes: Vec<Change> = Vec::new();
    for (at, kept) in keep.iter().enumerate() {
        if !kept {
            let next = starts.get(at + 1).copied().unwrap_or(end);
            changes.push((starts[at]..next, String::new()));
        }
    }
    if !add.is_empty() {
        let feed = line_feed(text);
        let mut lines = String::new();
        if !text[..end].ends_with('\n') {
            lines.push_str(feed);
        }
        block_lines(&mut lines, indent, feed, add)?;
        changes.push((end..end, lines));
    }
    Ok(changes)
}

/// The values as elements of a block sequence, each a mapping of plain values.
fn block_lines(lines: &mut String, indent: &str, feed: &str, values: &[Value]) -> Result<(), Refused> {
    for value in values {
        let fields = value.as_object().ok_or(OTHER)?;
        let mut lead = "- ";
        for (key, value) in fields {
            // JSON is YAML, and quotes leave nothing to guess.
            for part in [indent, lead, key, ": ", &value.to_string(), feed] {
                lines.push_str(part);
            }
            lead = "  ";
        }
    }
    Ok(())
}

/// The space between `from` and `to`; nothing else may be there but one of `marks`.
fn gap<'t>(text: &'t str, from: usize, to: usize, marks: &[char]) -> Result<&'t str, Refused> {
    let between = text.get(from..to).ok_or(SPACE_ONLY)?;
    let known = |character: char| character.is_ascii_whitespace() || marks.contains(&character);
    if between.chars().all(known) {
        Ok(between)
    } else {
        Err(SPACE_ONLY)
    }
}

/// A list in brackets: put together anew from what stays, in the layout of its first elements.
fn flow_list(
    text: &str,
    node: &Node,
    elements: &[Node],
    keep: &[bool],
    add: &[Value],
) -> Result<Change, Refused> {
    let (first, last) = (elements.first().ok_or(MISSING)?, elements.last().ok_or(MISSING)?);
    let open = gap(text, node.start + 1, first.start, &[])?;
    let close = gap(text, last.end, node.end.saturating_sub(1), &[','])?;
    for pair in elements.windows(2) {
        gap(text, pair[0].end, pair[1].start, &[','])?;
    }
    let separator = match elements {
        [one, two, ..] => gap(text, one.end, two.start, &[','])?.to_owned(),
        _ if open.contains('\n') => format!(",{open}"),
        _ if text[first.start..first.end].contains(": ") => ", ".to_owned(),
        _ => ",".to_owned(),
    };
    let layout = Layout::of(text, first)?;
    let mut parts: Vec<String> = elements
        .iter()
        .zip(keep)
        .filter(|(_, keep)| **keep)
        .map(|(element, _)| text[element.start..element.end].to_owned())
        .collect();
    for value in add {
        parts.push(layout.write(value)?);
    }
    let list = if parts.is_empty() {
        String::new()
    } else {
        format!(
            "{open}{}{}",
            parts.join(&separator),
            close.trim_start_matches(',')
        )
    };
    Ok((node.start + 1..node.end.saturating_sub(1), list))
}

/// The space in an object in braces.
struct Layout<'t> {
    open: &'t str,
    colon: &'t str,
    separator: String,
    close: &'t str,
}

impl<'t> Layout<'t> {
    fn of(text: &'t str, node: &Node) -> Result<Self, Refused> {
        let compact = Self {
            open: "",
            colon: ":",
            separator: ",".to_owned(),
            close: "",
        };
        let Some([first, rest @ ..]) = node.members() else {
            return Ok(compact);
        };
        let last = rest.last().unwrap_or(first);
        let open = gap(text, node.start + 1, first.key_start, &[])?;
        let separator = match rest.first() {
            Some(second) => gap(text, first.value.end, second.key_start, &[','])?.to_owned(),
            None if open.contains('\n') => format!(",{open}"),
            None => ",".to_owned(),
        };
        Ok(Self {
            open,
            colon: gap(text, first.key_end, first.value.start, &[':'])?,
            separator,
            close: gap(text, last.value.end, node.end.saturating_sub(1), &[','])?,
        })
    }

    fn write(&self, value: &Value) -> Result<String, Refused> {
        let fields = value.as_object().ok_or(OTHER)?;
        let members: Vec<String> = fields
            .iter()
            .map(|(key, value)| format!("{}{}{value}", Value::from(key.as_str()), self.colon))
            .collect();
        Ok(format!(
            "{{{}{}{}}}",
            self.open,
            members.join(&self.separator),
            self.close.trim_start_matches(',')
        ))
    }
}

/// Takes fields out.
fn remove_members(text: &str, parent: &Node, keys: &[String]) -> Result<Vec<Change>, Refused> {
    let members = parent.members().ok_or(MISSING)?;
    let goes = |member: &Member| keys.contains(&member.key);
    if members.iter().filter(|member| goes(member)).count() != keys.len() {
        return Err(MISSING);
    }
    let (Some(first), Some(last)) = (members.first(), members.last()) else {
        return Err(MISSING);
    };
    let everything = first.key_start..last.content_end();
    if members.iter().all(goes) {
        // A mapping of nothing is written in braces.
        let nothing = if parent.block { "{}" } else { "" };
        return Ok(vec![(everything, nothing.to_owned())]);
    }
    if !parent.block {
        for pair in members.windows(2) {
            gap(text, pair[0].value.end, pair[1].key_start, &[','])?;
        }
        let kept: Vec<&str> = members
            .iter()
            .filter(|member| !goes(member))
            .map(|member| &text[member.key_start..member.value.end])
            .collect();
        let separator = separator_of(text, parent, members)?;
        return Ok(vec![(everything, kept.join(&separator))]);
    }
    members
        .iter()
        .filter(|member| goes(member))
        .map(|member| {
            let start = line_start(text, member.key_start);
            if text[start..member.key_start].bytes().all(|byte| byte == b' ') {
                Ok((start..next_line(text, member.content_end()), String::new()))
            } else {
                Err(SPACE_ONLY)
            }
        })
        .collect()
}

/// Adds a list as the last field.
fn add_member(text: &str, parent: &Node, key: &str, values: &[Value]) -> Result<Change, Refused> {
    let members = parent.members().ok_or(MISSING)?;
    let Some(last) = members.last() else {
        return match parent.shape {
            Shape::Map(_) if !parent.block => Ok((
                parent.start + 1..parent.start + 1,
                format!("{}: {}", Value::from(key), compact(values)),
            )),
            _ => Err(MISSING),
        };
    };
    if !parent.block {
        let colon = gap(text, last.key_end, last.value.start, &[':'])?;
        let separator = separator_of(text, parent, members)?;
        let member = format!("{separator}{}{colon}{}", Value::from(key), compact(values));
        return Ok((last.value.end..last.value.end, member));
    }
    let start = line_start(text, last.key_start);
    let indent = &text[start..last.key_start];
    if !indent.bytes().all(|byte| byte == b' ') {
        return Err(SPACE_ONLY);
    }
    let end = next_line(text, last.content_end());
    let feed = line_feed(text);
    let mut lines = String::new();
    if !text[..end].ends_with('\n') {
        lines.push_str(feed);
    }
    lines.push_str(indent);
    lines.push_str(key);
    lines.push(':');
    lines.push_str(feed);
    block_lines(&mut lines, indent, feed, values)?;
    Ok((end..end, lines))
}

/// What stands between two fields in braces.
fn separator_of(text: &str, parent: &Node, members: &[Member]) -> Result<String, Refused> {
    match members {
        [one, two, ..] => Ok(gap(text, one.value.end, two.key_start, &[','])?.to_owned()),
        [one] => {
            let open = gap(text, parent.start + 1, one.key_start, &[])?;
            Ok(if open.contains('\n') {
                format!(",{open}")
            } else {
                ",".to_owned()
            })
        }
        [] => Ok(String::new()),
    }
}
