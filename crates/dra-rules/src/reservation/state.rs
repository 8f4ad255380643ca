//! The state of a claim in kubectl's words.

use dra_model::Claim;

/// State of a claim in `kubectl get resourceclaims`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, schemars::JsonSchema, derive_more::Display,
)]
#[schemars(with = "String", extend("enum" = TEXTS))]
#[display("{}", self.text())]
pub struct ClaimState {
    /// Deletion was asked for.
    pub deleted: bool,
    /// Devices are allocated.
    pub allocated: bool,
    /// `status.reservedFor` has an entry. Shown only for allocated claims.
    pub reserved: bool,
}

impl ClaimState {
    /// The state of `claim`. Mirrors `pkg/printers/internalversion/printers.go`, `resourceClaimState`, v1.37.2.
    pub fn of(claim: &Claim) -> Self {
        let allocated = claim.status.allocation.is_some();
        Self {
            deleted: claim.metadata.is_deleting(),
            allocated,
            reserved: allocated && !claim.status.reserved_for.is_empty(),
        }
    }

    /// Neither deleted nor allocated.
    pub fn is_pending(self) -> bool {
        !self.deleted && !self.allocated
    }

    /// The text, as one of the six that there are.
    pub fn text(self) -> &'static str {
        let of_allocation = usize::from(self.allocated) + usize::from(self.allocated && self.reserved);
        TEXTS[3 * usize::from(self.deleted) + of_allocation]
    }
}

const TEXTS: [&str; 6] = [
    "pending",
    "allocated",
    "allocated,reserved",
    "deleted",
    "deleted,allocated",
    "deleted,allocated,reserved",
];

impl serde::Serialize for ClaimState {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::claim;
    use super::*;

    #[test]
    fn states_are_worded_as_kubectl_does() {
        let entry = r#"{"resource":"pods","name":"p","uid":"u"}"#;
        for (deleting, status, expected) in [
            (false, String::new(), "pending"),
            (false, r#""allocation":{}"#.to_owned(), "allocated"),
            (
                false,
                format!(r#""allocation":{{}},"reservedFor":[{entry}]"#),
                "allocated,reserved",
            ),
            // The API server does not allow it; kubectl would not show it either.
            (false, format!(r#""reservedFor":[{entry}]"#), "pending"),
            (true, String::new(), "deleted"),
            (true, r#""allocation":{}"#.to_owned(), "deleted,allocated"),
            (
                true,
                format!(r#""allocation":{{}},"reservedFor":[{entry}]"#),
                "deleted,allocated,reserved",
            ),
        ] {
            let deletion = if deleting {
                r#""deletionTimestamp":"2026-11-21T10:13:06Z""#
            } else {
                ""
            };
            let claim = claim(&format!(r#"{{"metadata":{{{deletion}}},"status":{{{status}}}}}"#));
            assert_eq!(ClaimState::of(&claim).to_string(), expected);
        }
    }
}
