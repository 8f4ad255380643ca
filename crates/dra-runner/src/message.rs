//! Messages of a run.

use super::status::Status;
use dra_model::{Kind, NewerFields};
use dra_rules::controllers::{ControllerName, Counts, Found, Wish};
use dra_sources::live::{Trouble, Unreadable};

/// A message during a run.
#[derive(Debug)]
pub enum Message {
    /// A shadow has looked at everything that was there, and compares from now on.
    Watching(Counts),
    /// This replica leads, and its controllers write.
    Started,
    /// Another replica leads.
    Standby {
        /// Identity of the leader; empty if it is unknown.
        holder: String,
        /// Error of the last attempt to acquire the lease.
        trouble: Option<String>,
    },
    /// Current state of the run, for a terminal.
    Status(Status),
    /// A shadow found a difference.
    Found(Found),
    /// A supplement did what the built-in controllers had left undone.
    Supplied(Vec<Wish>),
    /// A job or a lookup failed; it is tried again.
    Failed {
        /// Controller that wants it.
        controller: ControllerName,
        /// Object or item that it is about.
        object: String,
        /// Error, or the reason why it is not tried again for now.
        why: String,
    },
    /// A watch was interrupted; it is resumed automatically.
    WatchInterrupted(Trouble),
    /// A watch is open, for the first time or again.
    WatchOpen(Kind),
    /// An object could not be decoded; its last known state counts.
    Unreadable(Unreadable),
    /// Fields that came with a later release than that of the rules are not read.
    NotRead(NewerFields),
    /// The clock of this machine or of the API server is off.
    Clock(String),
    /// Something about the cluster changed that the rules do not depend on.
    ClusterChanged(String),
}
