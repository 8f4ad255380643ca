//! Differences between Kubernetes releases in expressions.

/// The first release, 1.x, whose expressions are known.
pub(crate) const OLDEST: u32 = 34;

/// The last one.
const NEWEST: u32 = 37;

/// The rules of one release, as facts with names. This is the only place of this crate that compares versions for a rule: code asks for the
/// fact. Since when there is which function stands beside its declaration in `library`.
///
/// Releases before 1.37 have cel-go v0.26, later ones v0.29.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    minor: u32,
    /// `cel.Lists` is among what expressions may use (`environment/base.go`).
    pub(crate) extends_lists: bool,
    /// Attributes of devices can be lists, where the gate is on (`compile.go`, `newCompiler`).
    pub(crate) knows_lists: bool,
    /// Whatever the gate is.
    pub(crate) lists_need_no_gate: bool,
    /// An expression whose type is an attribute's selects devices (`CompileCELExpression`).
    pub(crate) selects_by_any: bool,
    /// `list` and `map` as values are of type variables rather than of anything.
    pub(crate) declares_type_variables: bool,
    /// `optional_type` has no parameter.
    pub(crate) optional_type_is_bare: bool,
    /// What is in an optional becomes a Go value on the way through an attribute: an optional in it comes to what it holds, and a type to
    /// its name.
    pub(crate) opens_optionals: bool,
    /// `or` and `orValue` give their other operand whatever it is.
    pub(crate) takes_any_other_operand: bool,
    /// `matches` that is called as a function is estimated at one.
    pub(crate) overlooks_matches: bool,
    /// `indexOf` and `lastIndexOf` find the empty text at any offset, one outside of the text included.
    pub(crate) trusts_offsets: bool,
    /// What `flatten`, `startsWith`, `endsWith`, `matches` and `includes` cost when they are called does not follow what they do.
    pub(crate) miscounts_calls: bool,
}

impl Release {
    /// The rules of 1.`minor`. What is older or newer than what is known has the rules of the nearest.
    pub(crate) fn of(minor: u32) -> Self {
        Self::used(minor.clamp(OLDEST, NEWEST))
    }

    /// The same for a release that bounds what may be used, which can be older than any whose rules are known.
    pub(crate) fn used(minor: u32) -> Self {
        let before = |other| minor < other;
        Self {
            minor,
            extends_lists: !before(34),
            knows_lists: !before(36),
            lists_need_no_gate: !before(37),
            selects_by_any: before(37),
            declares_type_variables: before(37),
            optional_type_is_bare: before(37),
            opens_optionals: before(37),
            takes_any_other_operand: before(37),
            overlooks_matches: before(37),
            trusts_offsets: before(37),
            miscounts_calls: before(37),
        }
    }

    /// Returns whether it is from the first to the last of `minors`.
    pub(crate) fn is_in(self, (first, last): (u32, u32)) -> bool {
        (first..=last).contains(&self.minor)
    }

    /// The older one of both, but none older than those whose rules are known.
    pub(crate) fn bounded_by(self, used: Self) -> Self {
        Self::of(self.minor.min(used.minor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fact, and the releases at which it begins and ends.
    type Row = (&'static str, fn(&Release) -> bool, u32, u32);

    #[test]
    fn facts_begin_and_end_with_their_release() {
        const STILL: u32 = u32::MAX;
        let rows: [Row; 11] = [
            ("extends_lists", |of| of.extends_lists, 34, STILL),
            ("knows_lists", |of| of.knows_lists, 36, STILL),
            ("lists_need_no_gate", |of| of.lists_need_no_gate, 37, STILL),
            ("selects_by_any", |of| of.selects_by_any, 0, 37),
            ("declares_type_variables", |of| of.declares_type_variables, 0, 37),
            ("optional_type_is_bare", |of| of.optional_type_is_bare, 0, 37),
            ("opens_optionals", |of| of.opens_optionals, 0, 37),
            ("takes_any_other_operand", |of| of.takes_any_other_operand, 0, 37),
            ("overlooks_matches", |of| of.overlooks_matches, 0, 37),
            ("trusts_offsets", |of| of.trusts_offsets, 0, 37),
            ("miscounts_calls", |of| of.miscounts_calls, 0, 37),
        ];
        for minor in 33..=38 {
            for (name, fact, since, until) in &rows {
                assert_eq!(
                    fact(&Release::used(minor)),
                    (*since..*until).contains(&minor),
                    "{name} in 1.{minor}"
                );
            }
        }
        assert_eq!(Release::of(33), Release::used(OLDEST));
        assert_eq!(Release::of(99), Release::used(NEWEST));
        // A fact without a row would go untested.
        let shown = format!("{:?}", Release::of(37));
        assert_eq!(shown.matches(": ").count(), rows.len() + 1);
        for (name, ..) in rows {
            assert!(shown.contains(&format!("{name}: ")), "{name}");
        }
    }
}
