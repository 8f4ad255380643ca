//! Possible and actual consumers of a claim, and the meaning of an entry of `status.reservedFor`.
//!
//! The rules of the `resourceclaim` library and of the claim controller, as pure functions over the model. Inspection shows their
//! answers, the taint rules build on them. `conversion` plans what to write where an entry is not a pod.

mod binding;
mod claim_name;
mod consumers;
pub mod conversion;
mod entry;
mod origin;
mod owner;
mod reserved;
mod running;
mod state;
mod unlisted;
mod unmade;
mod usable;

pub use binding::asks_for_binding;
pub use claim_name::{ClaimName, ClaimNameError, GroupClaimNameError, claim_name, group_claim_name};
pub use consumers::{claim_names, has_consumer, is_consumer, is_done, resolves_to, users};
pub use entry::{
    Entry, EntryStatus, GroupsIgnored, GroupsKnown, consumers_of_entry, former_pods, groups_are_ignored,
    groups_are_known, is_abandoned, is_former, is_kept, judge, looked_up_kind, pod_of_entry, status_of,
};
use entry::{Meant, meant_by};
pub use origin::{EXTENDED, Origin, manager};
pub use owner::{
    ENTRY_ANNOTATION, NotOwner, NotOwnerReason, claim_of_template, claims_made_for, is_group, lost_pod,
    owning_group, owns,
};
pub use reserved::{
    BindError, NoGroup, PodGroups, bind_to, group_of_member, is_reserved_for, missing_consumer,
};
pub use running::{may_run, runs_with};
pub use state::ClaimState;
pub use unlisted::{Unlisted, UnlistedDevices, unlisted};
pub use unmade::{Lacks, Next, Unmade, refused_creation, unmade, unmade_of};
pub use usable::Unusable;

#[cfg(test)]
mod testing;
