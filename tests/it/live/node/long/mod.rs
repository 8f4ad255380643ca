//! Situations that take minutes, or more than one node.

mod hanging;
mod pods;
mod two;
