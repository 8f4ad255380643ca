//! What becomes of a pod on its node, as far as devices go, in words: at which stage it is, what keeps it there, and what ends that.

mod fact;
mod item;
mod remedy;
#[cfg(test)]
mod tests;
mod words;

pub(super) use fact::{StageFact, Subject};
pub use item::{PodStageItem, StageCount, StageItem, StuckItem};
pub(super) use remedy::{
    Advice, advise, advise_besides, finds_device_in_use, logs_of, look_at_link, pods_on, recreate_superseded,
    with_crashing,
};
pub(super) use words::advice::link as mend_link;
pub use words::party_text;
pub(super) use words::{
    asked_text, broken_link_text, cause_of_node, cause_text, doing_text, ended_text, kept_off_text,
    labels_text, republishing_text, restarted_text, stuck_text, template_missing, unknown_text,
    unlisted_text, waits_text,
};
