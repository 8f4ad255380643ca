//! Steps that several searches may take together.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Limits;

/// Steps that all searches for one answer may take together.
///
/// A search is given what is left before it begins, and what it took is taken off once it is over: the answers depend on the order of
/// the searches and on nothing else.
#[derive(Debug)]
pub struct Budget {
    left: AtomicU64,
}

impl Budget {
    /// So many steps.
    pub const fn new(steps: u64) -> Self {
        Self {
            left: AtomicU64::new(steps),
        }
    }

    /// Steps that are left.
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// Returns whether no search can take a step any more.
    pub fn is_spent(&self) -> bool {
        self.left() == 0
    }

    /// The limits of a search that may take what is left, but no more than `most`.
    pub fn limits(&self, most: u64) -> Limits {
        Limits::steps(self.left().min(most))
    }

    /// Takes the steps of a search off.
    pub fn spend(&self, steps: u64) {
        self.left
            .store(self.left().saturating_sub(steps), Ordering::Relaxed);
    }
}
