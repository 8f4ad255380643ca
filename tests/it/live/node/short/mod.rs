//! Situations that come about within seconds.

mod ending;
mod restarting;
mod starting;
