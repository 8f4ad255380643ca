//! Number of repetitions of tests that prove one thing many times.
//!
//! `KUBECTL_DRA_TEST_EFFORT` is `small` (the default), `large` or `full` (`make test-all`).

/// The number for the effort that is asked for.
///
/// # Panics
/// When the variable has another value.
pub fn by_effort<T>(small: T, large: T, full: T) -> T {
    match std::env::var("KUBECTL_DRA_TEST_EFFORT").as_deref() {
        Err(_) | Ok("" | "small") => small,
        Ok("large") => large,
        Ok("full") => full,
        Ok(other) => panic!("KUBECTL_DRA_TEST_EFFORT is `{other}`, not `small`, `large` or `full`"),
    }
}

/// Some items of a list, spread evenly over it: at most `small` with small effort, otherwise all.
pub fn some_of<T>(items: &[T], small: usize) -> impl Iterator<Item = &T> {
    let count = by_effort(small, usize::MAX, usize::MAX).min(items.len());
    (0..count).map(move |place| &items[place * items.len() / count])
}

/// Some rows of a table that takes a control plane long, spread evenly over it: at most `small` with small effort, unless
/// `KUBECTL_DRA_TEST_TABLES` is set, as in CI; otherwise all.
pub fn some_rows<T>(rows: &[T], small: usize) -> impl Iterator<Item = &T> {
    let are_whole = std::env::var_os("KUBECTL_DRA_TEST_TABLES").is_some();
    some_of(rows, if are_whole { usize::MAX } else { small })
}

/// Pairs of the items of two lists. With small effort each item of either list stands in at least one pair, otherwise all are made.
pub fn some_pairs<'a, A, B>(first: &'a [A], second: &'a [B]) -> impl Iterator<Item = (&'a A, &'a B)> {
    let (rows, columns) = (first.len(), second.len());
    let all = rows * columns;
    let count = by_effort(rows.max(columns).min(all), all, all);
    (0..count).map(move |place| {
        // One behind the other where all are made, else along the diagonal.
        let row = by_effort(place, place / columns, place / columns);
        (&first[row % rows], &second[place % columns])
    })
}
