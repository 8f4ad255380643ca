//! RE2's syntax. Mirrors `regexp/syntax/parse.go` (Go 1.26) with the flags `Perl`.
//!
//! Captures are not needed, so groups leave no trace in the tree.

mod escape;

use escape::{escape, parse_repeat};
use regex_syntax::ast::ClassAsciiKind;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, Look, Repetition};

/// Nesting of the tree. Go allows 1,000; the engine compiles recursively, and real expressions nest a few levels.
const MAX_DEPTH: u32 = 250;
/// Repetitions of one expression, also multiplied through nested ones.
const MAX_REPEAT: u32 = 1_000;

fn error(code: &str, expression: &str) -> String {
    format!("error parsing regexp: {code}: `{expression}`")
}

/// The error for an expression that would take too much memory.
pub(super) fn too_large(pattern: &str) -> String {
    error("expression too large", pattern)
}

#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    fold_case: bool,
    multi_line: bool,
    dot_newline: bool,
    non_greedy: bool,
}

/// A part of the tree with what has to be known of it when it is repeated.
struct Piece {
    hir: Hir,
    depth: u32,
    /// Number of repetitions of the innermost part.
    repeats: u32,
}

impl Piece {
    fn leaf(hir: Hir) -> Self {
        Self {
            hir,
            depth: 1,
            repeats: 1,
        }
    }
}

/// An open group: finished alternatives, the current one, and the flags to return to.
struct Group {
    alternatives: Vec<Piece>,
    current: Vec<Piece>,
    flags: Flags,
}

struct Parser<'p> {
    pattern: &'p str,
    flags: Flags,
    groups: Vec<Group>,
}

/// Reads `pattern`.
pub(super) fn parse(pattern: &str) -> Result<Hir, String> {
    let mut parser = Parser {
        pattern,
        flags: Flags::default(),
        groups: Vec::new(),
    };
    parser.open();
    parser.run()?;
    let root = parser.groups.pop();
    match root {
        Some(group) if parser.groups.is_empty() => Ok(close(group, pattern)?.hir),
        _ => Err(error("missing closing )", pattern)),
    }
}

/// The tree of a group that is complete.
fn close(mut group: Group, pattern: &str) -> Result<Piece, String> {
    let last = concatenate(std::mem::take(&mut group.current), pattern)?;
    if group.alternatives.is_empty() {
        return Ok(last);
    }
    group.alternatives.push(last);
    combine(group.alternatives, Hir::alternation, pattern)
}

fn concatenate(mut pieces: Vec<Piece>, pattern: &str) -> Result<Piece, String> {
    if pieces.len() == 1
        && let Some(only) = pieces.pop()
    {
        return Ok(only);
    }
    combine(pieces, Hir::concat, pattern)
}

fn combine(pieces: Vec<Piece>, with: fn(Vec<Hir>) -> Hir, pattern: &str) -> Result<Piece, String> {
    let depth = 1 + pieces.iter().map(|piece| piece.depth).max().unwrap_or(0);
    if depth > MAX_DEPTH {
        return Err(error("expression nests too deeply", pattern));
    }
    let repeats = pieces.iter().map(|piece| piece.repeats).max().unwrap_or(1);
    Ok(Piece {
        hir: with(pieces.into_iter().map(|piece| piece.hir).collect()),
        depth,
        repeats,
    })
}

fn class_of(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(
        ranges
            .iter()
            .map(|(start, end)| ClassUnicodeRange::new(*start, *end)),
    )
}

fn class(class: ClassUnicode) -> Hir {
    Hir::class(Class::Unicode(class))
}

const DIGIT: &[(char, char)] = &[('0', '9')];
const SPACE: &[(char, char)] = &[('\t', '\n'), ('\u{c}', '\r'), (' ', ' ')];
const WORD: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];

impl<'p> Parser<'p> {
    fn open(&mut self) {
        self.groups.push(Group {
            alternatives: Vec::new(),
            current: Vec::new(),
            flags: self.flags,
        });
    }

    fn push(&mut self, hir: Hir) {
        if let Some(group) = self.groups.last_mut() {
            group.current.push(Piece::leaf(hir));
        }
    }

    fn folded(&self, mut set: ClassUnicode) -> ClassUnicode {
        if self.flags.fold_case {
            // The tables for folding are compiled in, so that this cannot fail.
            let _ = set.try_case_fold_simple();
        }
        set
    }

    fn literal(&mut self, character: char) {
        let hir = if self.flags.fold_case {
            class(self.folded(class_of(&[(character, character)])))
        } else {
            Hir::literal(character.to_string().into_bytes())
        };
        self.push(hir);
    }

    fn run(&mut self) -> Result<(), String> {
        let mut rest = self.pattern;
        // The text of the repetition just read, which another may not follow.
        let mut last_repeat: Option<&'p str> = None;
        while let Some(character) = rest.chars().next() {
            let mut repeat = None;
            let after = &rest[character.len_utf8()..];
            match character {
                '(' if after.starts_with('?') => rest = self.perl_group(rest)?,
                '(' => {
                    self.open();
                    rest = after;
                }
                '|' => {
                    if let Some(group) = self.groups.last_mut() {
                        let current = std::mem::take(&mut group.current);
                        group.alternatives.push(concatenate(current, self.pattern)?);
                    }
                    rest = after;
                }
                ')' => {
                    let group = self.groups.pop().filter(|_| !self.groups.is_empty());
                    let group = group.ok_or_else(|| error("unexpected )", self.pattern))?;
                    self.flags = group.flags;
                    let piece = close(group, self.pattern)?;
                    if let Some(parent) = self.groups.last_mut() {
                        parent.current.push(piece);
                    }
                    rest = after;
                }
                '^' | '$' => {
                    self.push(Hir::look(match (character, self.flags.multi_line) {
                        ('^', false) => Look::Start,
                        ('^', true) => Look::StartLF,
                        (_, false) => Look::End,
                        (_, true) => Look::EndLF,
                    }));
                    rest = after;
                }
                '.' => {
                    let mut any = class_of(&[('\0', char::MAX)]);
                    if !self.flags.dot_newline {
                        any.difference(&class_of(&[('\n', '\n')]));
                    }
                    self.push(class(any));
                    rest = after;
                }
                '[' => rest = self.bracket(rest)?,
                '*' | '+' | '?' => {
                    let bounds = match character {
                        '*' => (0, None),
                        '+' => (1, None),
                        _ => (0, Some(1)),
                    };
                    repeat = Some(rest);
                    rest = self.repeat(bounds, false, rest, after, last_repeat)?;
                }
                '{' => match parse_repeat(rest) {
                    None => {
                        self.literal('{');
                        rest = after;
                    }
                    Some((min, max, after)) => {
                        let invalid =
                            min > MAX_REPEAT || max.is_some_and(|max| max > MAX_REPEAT || min > max);
                        if invalid {
                            let text = &rest[..rest.len() - after.len()];
                            return Err(error("invalid repeat count", text));
                        }
                        repeat = Some(rest);
                        rest = self.repeat((min, max), true, rest, after, last_repeat)?;
                    }
                },
                '\\' => rest = self.backslash(rest)?,
                _ => {
                    self.literal(character);
                    rest = after;
                }
            }
            last_repeat = repeat;
        }
        Ok(())
    }

    /// Repeats the last piece. `before` begins with the operator, `after` follows it.
    fn repeat(
        &mut self,
        (min, max): (u32, Option<u32>),
        counted: bool,
        before: &'p str,
        after: &'p str,
        last: Option<&'p str>,
    ) -> Result<&'p str, String> {
        let (lazy, after) = match after.strip_prefix('?') {
            Some(after) => (true, after),
            None => (false, after),
        };
        if let Some(last) = last {
            return Err(error(
                "invalid nested repetition operator",
                &last[..last.len() - after.len()],
            ));
        }
        let text = &before[..before.len() - after.len()];
        let piece = self.groups.last_mut().and_then(|group| group.current.pop());
        let Some(piece) = piece else {
            return Err(error("missing argument to repetition operator", text));
        };
        let mut repeats = piece.repeats;
        if counted {
            let count = max.unwrap_or(min);
            if count > 0 {
                repeats = repeats.saturating_mul(count);
            }
            if (min >= 2 || max.is_some_and(|max| max >= 2)) && repeats > MAX_REPEAT {
                return Err(error("invalid repeat count", text));
            }
        }
        let depth = piece.depth + 1;
        if depth > MAX_DEPTH {
            return Err(error("expression nests too deeply", self.pattern));
        }
        let greedy = lazy == self.flags.non_greedy;
        let hir = Hir::repetition(Repetition {
            min,
            max,
            greedy,
            sub: Box::new(piece.hir),
        });
        if let Some(group) = self.groups.last_mut() {
            group.current.push(Piece { hir, depth, repeats });
        }
        Ok(after)
    }

    /// `(?…`: a named group, flags, or a group with flags.
    fn perl_group(&mut self, rest: &'p str) -> Result<&'p str, String> {
        let name_start = if rest.len() > 4 && rest.starts_with("(?P<") {
            Some(4)
        } else if rest.len() > 3 && rest.starts_with("(?<") {
            Some(3)
        } else {
            None
        };
        if let Some(start) = name_start {
            let end = rest
                .find('>')
                .ok_or_else(|| error("invalid named capture", rest))?;
            let name = &rest[start..end];
            if name.is_empty()
                || !name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            {
                return Err(error("invalid named capture", &rest[..=end]));
            }
            self.open();
            return Ok(&rest[end + 1..]);
        }
        let mut flags = self.flags;
        let (mut value, mut seen) = (true, false);
        let mut position = 2;
        for character in rest[2..].chars() {
            position += character.len_utf8();
            match character {
                'i' => flags.fold_case = value,
                'm' => flags.multi_line = value,
                's' => flags.dot_newline = value,
                'U' => flags.non_greedy = value,
                '-' if value => {
                    value = false;
                    seen = false;
                    continue;
                }
                ':' | ')' if value || seen => {
                    if character == ':' {
                        self.open();
                    }
                    self.flags = flags;
                    return Ok(&rest[position..]);
                }
                _ => break,
            }
            seen = true;
        }
        Err(error("invalid or unsupported Perl syntax", &rest[..position]))
    }

    fn backslash(&mut self, rest: &'p str) -> Result<&'p str, String> {
        let look = match rest.as_bytes().get(1) {
            Some(b'A') => Some(Look::Start),
            Some(b'z') => Some(Look::End),
            Some(b'b') => Some(Look::WordAscii),
            Some(b'B') => Some(Look::WordAsciiNegate),
            Some(b'C') => return Err(error("invalid escape sequence", &rest[..2])),
            Some(b'Q') => {
                let (literal, after) = rest[2..].split_once("\\E").unwrap_or((&rest[2..], ""));
                for character in literal.chars() {
                    self.literal(character);
                }
                return Ok(after);
            }
            _ => None,
        };
        if let Some(look) = look {
            self.push(Hir::look(look));
            return Ok(&rest[2..]);
        }
        if let Some((set, after)) = self.class_escape(rest)? {
            self.push(class(set));
            return Ok(after);
        }
        let (character, after) = escape(rest)?;
        self.literal(character);
        Ok(after)
    }

    /// An escape that stands for a class.
    fn class_escape(&self, rest: &'p str) -> Result<Option<(ClassUnicode, &'p str)>, String> {
        let found = self.unicode_class(rest)?;
        Ok(found.or_else(|| self.perl_class(rest)))
    }

    /// `\d` and the like.
    fn perl_class(&self, rest: &'p str) -> Option<(ClassUnicode, &'p str)> {
        let (ranges, negated) = match rest.as_bytes() {
            [b'\\', b'd', ..] => (DIGIT, false),
            [b'\\', b'D', ..] => (DIGIT, true),
            [b'\\', b's', ..] => (SPACE, false),
            [b'\\', b'S', ..] => (SPACE, true),
            [b'\\', b'w', ..] => (WORD, false),
            [b'\\', b'W', ..] => (WORD, true),
            _ => return None,
        };
        let mut set = self.folded(class_of(ranges));
        if negated {
            set.negate();
        }
        Some((set, &rest[2..]))
    }

    /// `\pL`, `\p{Greek}`, `\P…`.
    fn unicode_class(&self, rest: &'p str) -> Result<Option<(ClassUnicode, &'p str)>, String> {
        let mut negated = match rest.as_bytes() {
            [b'\\', b'p', ..] => false,
            [b'\\', b'P', ..] => true,
            _ => return Ok(None),
        };
        let Some(first) = rest[2..].chars().next() else {
            return Ok(None);
        };
        let (text, mut name) = if first == '{' {
            let end = rest
                .find('}')
                .ok_or_else(|| error("invalid character class range", rest))?;
            (&rest[..=end], &rest[3..end])
        } else {
            let end = 2 + first.len_utf8();
            (&rest[..end], &rest[2..end])
        };
        if let Some(positive) = name.strip_prefix('^') {
            negated = !negated;
            name = positive;
        }
        let mut set = named_class(name).ok_or_else(|| error("invalid character class range", text))?;
        set = self.folded(set);
        if negated {
            set.negate();
        }
        Ok(Some((set, &rest[text.len()..])))
    }

    /// `[…]`.
    fn bracket(&mut self, whole: &'p str) -> Result<&'p str, String> {
        let mut rest = &whole[1..];
        let negated = rest.starts_with('^');
        if negated {
            rest = &rest[1..];
        }
        let mut set = ClassUnicode::empty();
        let mut first = true;
        while first || !rest.starts_with(']') {
            first = false;
            if rest.len() > 2
                && let Some(after) = rest.strip_prefix("[:")
                && let Some(end) = after.find(":]")
            {
                let text = &rest[..end + 4];
                let (name, negate) = match after[..end].strip_prefix('^') {
                    Some(name) => (name, true),
                    None => (&after[..end], false),
                };
                let named = posix_class(name).ok_or_else(|| error("invalid character class range", text))?;
                let mut named = self.folded(named);
                if negate {
                    named.negate();
                }
                set.union(&named);
                rest = &rest[text.len()..];
                continue;
            }
            if let Some((named, after)) = self.class_escape(rest)? {
                set.union(&named);
                rest = after;
                continue;
            }
            let range_start = rest;
            let (low, after) = class_character(rest, whole)?;
            rest = after;
            let mut high = low;
            if rest.len() >= 2 && rest.starts_with('-') && !rest[1..].starts_with(']') {
                (high, rest) = class_character(&rest[1..], whole)?;
                if high < low {
                    let text = &range_start[..range_start.len() - rest.len()];
                    return Err(error("invalid character class range", text));
                }
            }
            set.union(&self.folded(class_of(&[(low, high)])));
        }
        if negated {
            set.negate();
        }
        self.push(class(set));
        Ok(&rest[1..])
    }
}

fn class_character<'p>(rest: &'p str, whole: &str) -> Result<(char, &'p str), String> {
    match rest.chars().next() {
        None => Err(error("missing closing ]", whole)),
        Some('\\') => escape(rest),
        Some(character) => Ok((character, &rest[character.len_utf8()..])),
    }
}

/// A class by the name of a category or script.
fn named_class(name: &str) -> Option<ClassUnicode> {
    if name == "Any" {
        return Some(class_of(&[('\0', char::MAX)]));
    }
    if name.is_empty()
        || !name
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    {
        return None;
    }
    class_by_engine(&format!(r"\p{{{name}}}"))
}

/// A class by the name that POSIX gives it.
fn posix_class(name: &str) -> Option<ClassUnicode> {
    ClassAsciiKind::from_name(name)?;
    class_by_engine(&format!("[[:{name}:]]"))
}

/// Reads a pattern of one class that the engine's own syntax has, too.
fn class_by_engine(pattern: &str) -> Option<ClassUnicode> {
    match regex_syntax::Parser::new().parse(pattern).ok()?.into_kind() {
        regex_syntax::hir::HirKind::Class(Class::Unicode(set)) => Some(set),
        _ => None,
    }
}
