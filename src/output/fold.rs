//! Running text on a terminal: long lines continue on the next line.

use super::width::width_of;

/// Non-breaking space. A private-use character that does not occur in displayed text.
const GLUE: char = '\u{f8ff}';

/// Words with their preceding spaces. Text in backticks is one word, and so is an argument in single quotes, because
/// users copy it.
pub(crate) fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut quote = None;
    let mut before = ' ';
    for (place, one) in line.char_indices() {
        let rest = &line[place + one.len_utf8()..];
        match quote {
            Some(open) if one == open => quote = None,
            // A mark without a second one quotes nothing.
            None if one == '`' && rest.contains('`') => quote = Some(one),
            // An apostrophe stands within a word or at its end.
            None if one == '\'' && matches!(before, ' ' | '=' | '`') && ends_quote(rest) => quote = Some(one),
            None if one == ' ' && before != ' ' => {
                words.push(&line[start..place]);
                start = place;
            }
            Some(_) | None => {}
        }
        before = one;
    }
    words.push(&line[start..]);
    words
}

/// The same, and what is between commas as words of their own: names in a list.
pub(super) fn parts(line: &str) -> impl Iterator<Item = &str> {
    words(line).into_iter().flat_map(|word| {
        let is_copied = word.trim_start().starts_with(['`', '\'']);
        let places = word.match_indices(',').map(|(place, comma)| place + comma.len());
        let ends = places
            .filter(|_| !is_copied)
            .filter(|end| *end < word.len())
            .chain([word.len()]);
        ends.scan(0, |start, end| Some(&word[std::mem::replace(start, end)..end]))
            .collect::<Vec<_>>()
    })
}

/// `text` in lines of `width` columns, as far as its words are not longer; lines are broken behind commas, too.
pub(super) fn within(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in parts(text) {
        let Some(line) = lines.last_mut() else { break };
        if !line.is_empty() && width_of(line) + width_of(part) > width {
            lines.push(part.trim_start_matches(' ').to_owned());
        } else {
            line.push_str(part);
        }
    }
    lines
}

/// Returns whether a single quote in `rest` ends an argument.
fn ends_quote(rest: &str) -> bool {
    rest.find('\'').is_some_and(|end| {
        let next = rest[end + 1..].chars().next();
        next.is_none_or(|next| !next.is_alphanumeric())
    })
}

/// `text` with every space that belongs to a word so marked that no line is broken there.
pub(crate) fn glued(text: &str) -> String {
    let words = words(text).into_iter().map(|word| {
        let bare = word.trim_start_matches(' ');
        let spaces = &word[..word.len() - bare.len()];
        format!("{spaces}{}", whole(bare))
    });
    words.collect()
}

/// `text` with every space so marked that no line is broken there.
pub(crate) fn whole(text: &str) -> String {
    text.replace(' ', GLUE.encode_utf8(&mut [0; 4]))
}

/// `text` with its spaces again.
pub(crate) fn unglued(text: &str) -> String {
    text.replace(GLUE, " ")
}

/// `text` with no line of more than `width` columns, as far as words are not longer; `taken` columns of the first line
/// are used before it. Continuation lines are indented by two columns. Words are never broken, because users copy them.
pub(crate) fn folded(text: &str, width: usize, taken: usize) -> String {
    const HANGING: usize = 2;
    let mut folded = String::with_capacity(text.len() + 16);
    for (number, line) in text.split('\n').enumerate() {
        let mut used = if number == 0 { taken } else { 0 };
        if number > 0 {
            folded.push('\n');
        }
        let indent = line.len() - line.trim_start_matches(' ').len();
        let begin = " ".repeat(indent + HANGING);
        let mut is_first = true;
        for word in words(line) {
            let columns = width_of(word);
            let bare = word.trim_start_matches(' ');
            if !is_first && used + columns > width && !bare.is_empty() {
                folded.push('\n');
                folded.push_str(&begin);
                folded.push_str(bare);
                used = begin.len() + width_of(bare);
            } else {
                folded.push_str(word);
                used += columns;
            }
            is_first = false;
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_lines_continue_on_the_next_line() {
        for (text, taken, expected) in [
            ("short", 7, "short"),
            ("one two three four", 7, "one two three\n  four"),
            (
                "one\n  two three four five six seven",
                0,
                "one\n  two three four five\n    six seven",
            ),
            (
                "see `kubectl get pods -A` for all",
                0,
                "see\n  `kubectl get pods -A`\n  for all",
            ),
            (
                "run kubectl get 'a b' --x='c d e' now",
                0,
                "run kubectl get 'a b'\n  --x='c d e' now",
            ),
            (
                "the pods' claim's end is not theirs' at all",
                0,
                "the pods' claim's end is\n  not theirs' at all",
            ),
            (
                "a lone ` quotes nothing at all",
                0,
                "a lone ` quotes nothing\n  at all",
            ),
            (
                "https://example.com/a/very/long/page here",
                7,
                "https://example.com/a/very/long/page\n  here",
            ),
            ("", 7, ""),
            ("  ends in a break\n", 0, "  ends in a break\n"),
        ] {
            assert_eq!(folded(text, 24, taken), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn only_breaks_and_spaces_are_added(text in "[a-c` \n]{0,80}", width in 20..60_usize, taken in 0..10_usize) {
            let folded = folded(&text, width, taken);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&folded), words(&text));
            // A line that is too long has one word.
            for line in folded.split('\n').skip(1).filter(|line| line.len() > width) {
                prop_assert!(super::words(line.trim_start()).len() == 1 || text.contains(line), "{line:?}");
            }
        }
    }
}
