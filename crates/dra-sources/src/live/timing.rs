//! Timeouts for the API server.

use std::time::Duration;

/// Timeouts. A value, so that tests of slow servers need not be slow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// Until the server begins to answer. A consistent list of 100,000 pods takes it some seconds; after 60 it gives up itself.
    pub(super) first_byte: Duration,
    /// Time until the server continues within a response.
    pub(super) pause: Duration,
    /// The same within a watch, which is quiet when nothing happens; bookmarks come about once a minute.
    pub(super) watch_pause: Duration,
    /// Until a watch that lasts begins.
    pub(super) watch_opens: Duration,
    /// Time until the server continues within a lasting watch, which it is asked to end earlier.
    pub(super) lasting_watch_pause: Duration,
    /// Time after which an open, silent watch counts as waiting for changes, if earlier watches ended without a change.
    pub(super) watch_proof: Duration,
    /// Time to retry a lasting watch with rejected credentials.
    pub(super) unauthorized: Duration,
    /// Time to retry transient rejections. A server that cannot decode an object rejects forever, so this limits the
    /// wait for the error.
    pub(super) patience: Duration,
    /// First pause between tries; doubles each time.
    pub(super) first_delay: Duration,
    /// Longest pause between tries, also when the server asks for more.
    pub(super) longest_delay: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_secs(70),
            pause: Duration::from_secs(30),
            watch_pause: Duration::from_secs(150),
            watch_opens: Duration::from_secs(30),
            lasting_watch_pause: Duration::from_secs(40),
            watch_proof: Duration::from_millis(250),
            unauthorized: Duration::from_secs(300),
            patience: Duration::from_secs(10),
            first_delay: Duration::from_millis(200),
            longest_delay: Duration::from_secs(3),
        }
    }
}
