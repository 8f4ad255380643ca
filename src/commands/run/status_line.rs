//! The lines at the bottom of a terminal that show the current state of `kubectl dra run`.

use std::cell::Cell;

use crate::context::Ctx;
use crate::output::{LiveView, age, counted};
use dra_reports::object_of;
use dra_runner::{JobCounts, Status};

/// The lines that show the current state.
pub(in crate::commands) struct StatusLine<'a> {
    view: Option<LiveView>,
    /// Name of the cluster.
    cluster: &'a str,
    findings: Cell<usize>,
}

impl<'a> StatusLine<'a> {
    /// Lines on the terminal, if there is one.
    pub(in crate::commands) fn begin(ctx: &Ctx, cluster: &'a str) -> Self {
        // The cluster was read; these lines show the following changes.
        ctx.end_computing();
        Self {
            view: ctx.printer().live_view(),
            cluster,
            findings: Cell::new(0),
        }
    }

    pub(super) fn is_seen(&self) -> bool {
        self.view.is_some()
    }

    /// Counts a finding.
    pub(super) fn count(&self) {
        self.findings.update(|findings| findings + 1);
    }

    pub(super) fn show(&self, status: &Status) {
        if let Some(view) = &self.view {
            view.show(&lines(status, self.findings.get(), self.cluster));
        }
    }

    /// Clears the lines at the end.
    pub(super) fn clear(&self) {
        if let Some(view) = &self.view {
            view.show(&[]);
        }
    }
}

/// The lines, most important first: a narrow terminal cuts their ends.
fn lines(status: &Status, findings: usize, cluster: &str) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(counts) = status.wishes {
        parts.push(format!("{} wanted", counts.open));
        parts.push(format!("{} overdue", counts.overdue));
        if status.jobs.is_none() {
            parts.push(format!("{} done", counts.fulfilled));
            parts.push(counted(findings, "finding", "findings"));
        }
    }
    if let Some((due, under_way)) = status.queued {
        parts.push(format!("{due} due"));
        parts.push(format!("{under_way} in progress"));
    }
    if let Some(JobCounts { carried_out, refused }) = status.jobs {
        parts.push(format!("{carried_out} done"));
        parts.push(format!("{refused} rejected"));
    }
    let mut lines = vec![format!("{} in {cluster}", parts.join(", "))];
    for (wish, since, is_overdue) in &status.oldest {
        let word = if *is_overdue { "overdue" } else { "wanted" };
        let age = age(status.now, Some(*since));
        let object = object_of(&wish.object());
        lines.push(format!("  {word:7}  {age:>5}  {} for {object}", wish.write()));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::{Key, Time};
    use dra_rules::controllers::{Counts, PodRef, Wish};

    #[test]
    fn what_matters_fits_into_sixty_columns() {
        let now: Time = "2026-11-23T10:01:00Z".parse().unwrap();
        let pod = PodRef {
            key: Key::new("ml", "train-7"),
            uid: "u".into(),
        };
        let shadow = Status {
            now,
            wishes: Some(Counts {
                open: 12,
                overdue: 1,
                fulfilled: 1240,
                moot: 3,
            }),
            oldest: vec![
                (
                    Wish::Evict(pod.clone()),
                    "2026-11-23T10:00:15Z".parse().unwrap(),
                    true,
                ),
                (Wish::Evict(pod), now, false),
            ],
            queued: None,
            jobs: None,
        };
        let seen = lines(&shadow, 2, "prod");
        assert_eq!(
            seen,
            [
                "12 wanted, 1 overdue, 1240 done, 2 findings in prod",
                "  overdue    45s  evict pod for pod/ml/train-7",
                "  wanted      0s  evict pod for pod/ml/train-7",
            ]
        );
        assert!(seen.iter().all(|line| line.len() <= 60));

        let take_over = Status {
            wishes: None,
            oldest: Vec::new(),
            queued: Some((5, 50)),
            jobs: Some(JobCounts {
                carried_out: 240,
                refused: 1,
            }),
            ..shadow.clone()
        };
        assert_eq!(
            lines(&take_over, 0, "prod"),
            ["5 due, 50 in progress, 240 done, 1 rejected in prod"]
        );
        let supplement = Status {
            jobs: take_over.jobs,
            ..shadow
        };
        assert_eq!(
            lines(&supplement, 0, "prod")[0],
            "12 wanted, 1 overdue, 240 done, 1 rejected in prod"
        );
    }
}
