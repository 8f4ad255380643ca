//! What people see on a terminal while `kubectl dra run` goes on, below its findings.

use std::cell::Cell;

use crate::context::Ctx;
use crate::output::{LiveView, age, counted};
use dra_reports::object_of;
use dra_runner::{Done, Glance};

/// The lines that show how it stands.
pub(super) struct Viewing<'a> {
    view: Option<LiveView>,
    /// What the cluster is called.
    cluster: &'a str,
    findings: Cell<usize>,
}

impl<'a> Viewing<'a> {
    /// Lines on the terminal, if somebody sees them.
    pub(super) fn begin(ctx: &Ctx, cluster: &'a str) -> Self {
        // The cluster is read, and what goes on from here on is shown by these lines.
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

    /// Something was found.
    pub(super) fn count(&self) {
        self.findings.update(|findings| findings + 1);
    }

    pub(super) fn show(&self, glance: &Glance) {
        if let Some(view) = &self.view {
            view.show(&lines(glance, self.findings.get(), self.cluster));
        }
    }

    /// It no longer goes on.
    pub(super) fn clear(&self) {
        if let Some(view) = &self.view {
            view.show(&[]);
        }
    }
}

/// What matters comes first: a narrow terminal cuts the ends of lines.
fn lines(glance: &Glance, findings: usize, cluster: &str) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(counts) = glance.wishes {
        parts.push(format!("{} wanted", counts.open));
        parts.push(format!("{} overdue", counts.overdue));
        if glance.done.is_none() {
            parts.push(format!("{} done", counts.fulfilled));
            parts.push(counted(findings, "finding", "findings"));
        }
    }
    let (due, out) = glance
        .busy
        .iter()
        .fold((0, 0), |(due, out), (_, more_due, more_out)| {
            (due + more_due, out + more_out)
        });
    if !glance.busy.is_empty() {
        parts.push(format!("{due} due"));
        parts.push(format!("{out} under way"));
    }
    if let Some(Done { carried, refused }) = glance.done {
        parts.push(format!("{carried} done"));
        parts.push(format!("{refused} refused"));
    }
    let mut lines = vec![format!("{} in {cluster}", parts.join(", "))];
    for (wish, since, is_overdue) in &glance.oldest {
        let word = if *is_overdue { "overdue" } else { "wanted" };
        let age = age(glance.now, Some(*since));
        let object = object_of(&wish.object());
        lines.push(format!("  {word:7}  {age:>5}  {} for {object}", wish.write()));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use dra_model::{Key, Time};
    use dra_rules::controllers::{ControllerName, Counts, PodRef, Wish};

    #[test]
    fn what_matters_fits_into_sixty_columns() {
        let now: Time = "2026-11-23T10:01:00Z".parse().unwrap();
        let pod = PodRef {
            key: Key::new("ml", "train-7"),
            uid: "u".into(),
        };
        let shadow = Glance {
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
            busy: Vec::new(),
            done: None,
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

        let take_over = Glance {
            wishes: None,
            oldest: Vec::new(),
            busy: vec![
                (ControllerName::ResourceClaim, 4, 50),
                (ControllerName::DeviceTaintEviction, 1, 0),
            ],
            done: Some(Done {
                carried: 240,
                refused: 1,
            }),
            ..shadow.clone()
        };
        assert_eq!(
            lines(&take_over, 0, "prod"),
            ["5 due, 50 under way, 240 done, 1 refused in prod"]
        );
        let supplement = Glance {
            done: take_over.done,
            ..shadow
        };
        assert_eq!(
            lines(&supplement, 0, "prod")[0],
            "12 wanted, 1 overdue, 240 done, 1 refused in prod"
        );
    }
}
