//! Comparison of CEL errors with the real library's.

/// The error with no more of a syntax error than that there is one. cel-go lists all that it meets in its attempts to
/// continue, which is not reproduced: no such text gets into a cluster.
pub fn without_details(error: &str) -> String {
    match error.split_once("ERROR: <input>:") {
        Some((before, described)) if described.contains(": Syntax error: ") => {
            format!("{before}a syntax error")
        }
        _ => error.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_details;

    #[test]
    fn only_syntax_errors_lose_their_description() {
        for (error, compared) in [
            ("", ""),
            (
                "claim n/c: selector #0: CEL compile error: compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input",
                "claim n/c: selector #0: CEL compile error: compilation failed: a syntax error",
            ),
            (
                "compilation failed: ERROR: <input>:1:1: undeclared reference to 'a' (in container '')\n | a",
                "compilation failed: ERROR: <input>:1:1: undeclared reference to 'a' (in container '')\n | a",
            ),
        ] {
            assert_eq!(without_details(error), compared);
        }
    }
}
