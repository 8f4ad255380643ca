//! Waiting for a condition, with a deadline instead of a fixed sleep.

use std::time::{Duration, Instant};

/// Timeout of a condition before the test fails. Far more than anything takes on an idle machine:
/// a busy one shall not decide a test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Polling interval of a condition: a tenth of the time that it has been waited for, within these limits. What is asked costs the machine
/// that is waited for.
const SHORTEST: Duration = Duration::from_millis(30);
const LONGEST: Duration = Duration::from_millis(300);

/// Calls `probe` until it returns something, and fails the test when that takes longer than [`PATIENCE`].
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    match try_wait(|| probe().ok_or(())) {
        Ok(value) => value,
        Err(()) => panic!("gave up after {} s: {what}", PATIENCE.as_secs()),
    }
}

/// Calls `probe` until it succeeds, at most for [`PATIENCE`], and returns its last error otherwise.
pub(crate) fn try_wait<T, E>(mut probe: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    let begin = Instant::now();
    loop {
        let last = probe();
        let waited = begin.elapsed();
        if last.is_ok() || waited >= PATIENCE {
            return last;
        }
        std::thread::sleep((waited / 10).clamp(SHORTEST, LONGEST));
    }
}
