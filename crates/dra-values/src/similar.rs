//! Names that were probably meant.

/// Returns whether `written` is `right` with one slip of the fingers, or with other case and other signs between its words.
pub fn is_similar(right: &str, written: &str) -> bool {
    let letters = |name: &str| -> String {
        let letters = name.chars().filter(|letter| letter.is_alphanumeric());
        letters.map(|letter| letter.to_ascii_lowercase()).collect()
    };
    if !right.is_empty() && letters(right) == letters(written) {
        return true;
    }
    let (right, written) = (right.as_bytes(), written.as_bytes());
    if right.len().abs_diff(written.len()) > 1 || right.len() < 3 {
        return false;
    }
    let same = |pair: &(&u8, &u8)| pair.0 == pair.1;
    let front = right.iter().zip(written).take_while(same).count();
    let (right, written) = (&right[front..], &written[front..]);
    let back = right
        .iter()
        .rev()
        .zip(written.iter().rev())
        .take_while(same)
        .count();
    let (right, written) = (&right[..right.len() - back], &written[..written.len() - back]);
    match (right, written) {
        ([], [_]) | ([_], [] | [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_letter_makes_a_name_similar() {
        for written in ["pol", "pooll", "poll", "POOL", "opol", "po_ol"] {
            assert!(is_similar("pool", written), "{written}");
        }
        for written in ["poolsss", "", "p", "tool2"] {
            assert!(!is_similar("pool", written), "{written}");
        }
    }
}
