//! Parts shared by the table and the screen of an eviction: times, and nodes of replacements.

use std::collections::BTreeMap;

use jiff::SignedDuration;

use crate::output::{Column, human_duration, list_or_none};
use dra_model::{Str, Time};
use dra_rules::owners::Replacing;
use dra_rules::simulation::{EventType, EvictionReport, Fit, PodItem};

/// Fate of the work of an evicted pod.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    /// The pod is recreated, and fits.
    Restarts,
    /// The pod is recreated, fits, and is evicted again.
    Again,
    /// The pod is recreated, and pending.
    Waits,
    /// Unknown whether it is recreated, or whether it fits then.
    Unknown,
    /// The pod had already finished.
    Done,
    /// The pod is not recreated.
    Lost,
}

impl Fate {
    pub(super) fn of(pod: &PodItem) -> Self {
        match &pod.replacement {
            Some(replacement) if replacement.evicted_again => Self::Again,
            Some(replacement) => match replacement.fits {
                Fit::Fits => Self::Restarts,
                Fit::DoesNotFit => Self::Waits,
                Fit::Unknown => Self::Unknown,
            },
            None => match pod.replacing {
                Some(Replacing::AtOnce | Replacing::OnceGone | Replacing::Unknown) => Self::Unknown,
                Some(Replacing::Ended) => Self::Done,
                Some(Replacing::Never) | None => Self::Lost,
            },
        }
    }
}

/// Events at one instant.
pub(super) struct Step {
    at: Time,
    deleted: usize,
    gone: usize,
    released: usize,
    /// Number of remaining pods, as a number and as a bar.
    left: String,
}

pub(super) const STEPS: &[Column<Step, Time>] = &[
    Column::inner("AFTER", |step, cell| cell.text(after(*cell.context, step.at))),
    Column::inner("DELETED", |step, cell| cell.text(step.deleted)),
    Column::inner("GONE", |step, cell| cell.text(step.gone)),
    Column::inner("RELEASED", |step, cell| cell.text(step.released)),
    Column::inner("LEFT", |step, cell| cell.text(&step.left)),
];

/// Number of nodes a cell names.
const NODES: usize = 3;

/// Longest bar of the graph.
const BAR: usize = 40;

/// One line for each instant, with a bar of the pods that are still to be deleted then.
pub(super) fn steps(report: &EvictionReport) -> impl Iterator<Item = Step> {
    let mut steps: BTreeMap<Time, Step> = BTreeMap::new();
    let mut total = 0;
    for event in &report.events {
        let count: fn(&mut Step) -> &mut usize = match event.type_ {
            EventType::PodDeleted => |step| &mut step.deleted,
            EventType::PodGone => |step| &mut step.gone,
            EventType::ClaimReleased => |step| &mut step.released,
            _ => continue,
        };
        let step = steps.entry(event.at).or_insert(Step {
            at: event.at,
            deleted: 0,
            gone: 0,
            released: 0,
            left: String::new(),
        });
        *count(step) += 1;
        total += usize::from(event.type_ == EventType::PodDeleted);
    }
    let mut left = total;
    steps.into_values().map(move |step| {
        left -= step.deleted;
        // The graph falls as pods go.
        let bar = "#".repeat((left * BAR.min(total)).div_ceil(total.max(1)));
        let left = format!("{left} {bar}").trim_end().to_owned();
        Step { left, ..step }
    })
}

/// Returns how long after the start: `0s`, `20s`, `60m`; a condition from before has no distance.
pub(super) fn after(start: Time, at: Time) -> String {
    if at < start {
        return "before".to_owned();
    }
    human_duration(SignedDuration::try_from(at.since(start)).unwrap_or(SignedDuration::MAX))
}

/// Returns where a replacement fits, in words.
pub(super) fn fitting_nodes(nodes: &[Str]) -> String {
    if nodes.len() > NODES {
        format!("fits on {} nodes", nodes.len())
    } else {
        format!("fits on {}", list_or_none(nodes))
    }
}
