//! Output shared by several commands: abbreviated names, and the cost of a downgrade.

use std::collections::HashMap;
use std::fmt::Display;

use itertools::Itertools as _;

use crate::output::{Doc, Page, Tone, counted, span};
use dra_model::{Key, by_number};
use dra_reports::conversion::DowngradeCost;

/// Names that differ by their last number only, one after the other.
struct Run {
    before: String,
    first: u64,
    last: u64,
}

impl Run {
    /// A name that ends in a number as one counts.
    fn of(name: &str) -> Option<Self> {
        let before = name.trim_end_matches(|one: char| one.is_ascii_digit());
        let digits = &name[before.len()..];
        let number = digits.parse().ok()?;
        let is_padded = digits.len() > 1 && digits.starts_with('0');
        (!is_padded).then(|| Self {
            before: before.to_owned(),
            first: number,
            last: number,
        })
    }

    fn goes_on_with(&self, next: &Self) -> bool {
        self.before == next.before && self.last.checked_add(1) == Some(next.first)
    }

    /// The reported items, and the number of each.
    fn tell(&self, page: Page, told: &mut Vec<(String, usize)>) {
        /// Number above which they are abbreviated to the first and last one.
        const MANY: usize = 3;
        let Self { before, first, last } = self;
        let count = usize::try_from(last - first).map_or(usize::MAX, |more| more.saturating_add(1));
        if count >= MANY {
            told.push((format!("{before}{first}{}{last}", page.either("…", "..")), count));
        } else {
            told.extend((*first..=*last).map(|number| (format!("{before}{number}"), 1)));
        }
    }
}

/// Names in their order, those that follow each other by number as one: `gpu-0…3`.
pub(super) fn folded<N: AsRef<str>>(names: impl IntoIterator<Item = N>, page: Page) -> Vec<String> {
    let told = counted_runs(names, page);
    told.into_iter().map(|(text, _)| text).collect()
}

/// Names in the order of their numbers, those that follow each other as one. Otherwise the tenth comes before the second.
pub(super) fn numbered<'n>(names: impl IntoIterator<Item = &'n str>, page: Page) -> Vec<String> {
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_by_cached_key(|name| by_number(name));
    folded(names, page)
}

/// The same, with how many names each stands for.
fn counted_runs<N: AsRef<str>>(names: impl IntoIterator<Item = N>, page: Page) -> Vec<(String, usize)> {
    let mut told = Vec::new();
    let mut run: Option<Run> = None;
    for name in names {
        let name = name.as_ref();
        match (&mut run, Run::of(name)) {
            (Some(run), Some(next)) if run.goes_on_with(&next) => run.last = next.last,
            (_, next) => {
                if let Some(run) = run.take() {
                    run.tell(page, &mut told);
                }
                if next.is_none() {
                    told.push((name.to_owned(), 1));
                }
                run = next;
            }
        }
    }
    if let Some(run) = run {
        run.tell(page, &mut told);
    }
    told
}

/// Devices by pool and name, those of pools that are alike as one: `gpu-node-1…3/gpu-0…7 and those of 1 more pool`.
pub(super) fn devices<'d>(devices: impl IntoIterator<Item = (&'d str, &'d str)>, page: Page) -> String {
    /// Pools, or several that are alike, whose devices are named.
    const SHOWN: usize = 3;
    let mut pools: Vec<(&str, Vec<&str>)> = Vec::new();
    for (pool, device) in devices {
        match pools.last_mut() {
            Some((last, names)) if *last == pool => names.push(device),
            _ => pools.push((pool, vec![device])),
        }
    }
    // In the order in which they are met first.
    let mut alike: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    let mut places: HashMap<Vec<&str>, usize> = HashMap::new();
    for (pool, names) in pools {
        match places.get(&names) {
            Some(place) => alike[*place].1.push(pool),
            None => {
                places.insert(names.clone(), alike.len());
                alike.push((names, vec![pool]));
            }
        }
    }
    let mut told = Vec::new();
    for (names, mut pools) in alike {
        let names = folded(names, page).join(",");
        // By name, the tenth comes before the second.
        pools.sort_by_cached_key(|pool| by_number(pool));
        let pools = counted_runs(pools, page).into_iter();
        told.extend(pools.map(|(pool, count)| (format!("{pool}/{names}"), count)));
    }
    let more: usize = told.iter().skip(SHOWN).map(|(_, count)| count).sum();
    let shown = told.iter().take(SHOWN).map(|(text, _)| text).join(", ");
    match more {
        0 => shown,
        more => format!(
            "{shown} and those of {}",
            counted(more, "more pool", "more pools")
        ),
    }
}

/// The first of `names`, and how many more there are.
pub(super) fn first<N: Display>(names: &[N], shown: usize) -> String {
    let told = names.iter().take(shown).join(", ");
    match names.len().saturating_sub(shown) {
        0 => told,
        more => format!("{told} and {more} more"),
    }
}

/// Cost of a downgrade: one line each for stopped pods, conversions, decisions, and deletions.
pub(super) fn cost(doc: &mut Doc, cost: &DowngradeCost) {
    /// Number of names to print.
    const SHOWN: usize = 6;
    let DowngradeCost {
        ending,
        ending_pods,
        waiting_pods,
        converted,
        later,
        pending,
        refused,
        foreign,
        rules,
        enforced_rules,
        groups,
        workloads,
    } = cost;
    let mut say = |word: &str, tone: Tone, text: String| {
        doc.line(
            11,
            [
                span(Tone::Plain, "  "),
                span(tone, format!("{word:<9}")),
                span(Tone::Plain, text),
            ],
        );
    };
    let named = |keys: &[Key]| first(keys, SHOWN);
    if !ending.is_empty() {
        let waiting = match waiting_pods {
            0 => String::new(),
            waiting => format!(", {waiting} pending"),
        };
        say(
            "stop",
            Tone::Bad,
            format!(
                "{} ({}{waiting}) to resolve with their owners: {}",
                counted(ending.len(), "group", "groups"),
                counted(*ending_pods, "running pod", "running pods"),
                named(ending),
            ),
        );
    }
    if *converted > 0 || *later > 0 {
        let pending: Vec<_> = pending.iter().collect();
        let later = match later {
            0 => String::new(),
            later => format!(
                "; {later} more once {} {} scheduled",
                first(&pending, 3),
                if pending.len() == 1 { "is" } else { "are" }
            ),
        };
        let text = format!(
            "{} while their pods run{later}",
            counted(*converted, "claim", "claims")
        );
        say("convert", Tone::Good, text);
    }
    if !refused.is_empty() {
        let claims = counted(refused.len(), "claim", "claims");
        let text = format!("{claims} that `convert` cannot convert: {}", named(refused));
        say("ask", Tone::Notice, text);
    }
    if !foreign.is_empty() {
        let claims = counted(foreign.len(), "claim", "claims");
        let text = format!(
            "{claims} reserved for other kinds (see `convert --kind`): {}",
            named(foreign)
        );
        say("ask", Tone::Notice, text);
    }
    let mut deleted = Vec::new();
    if *rules > 0 {
        let rules = counted(*rules, "taint rule", "taint rules");
        deleted.push(format!("{rules} ({enforced_rules} enforced today)"));
    }
    if *groups > 0 {
        deleted.push(counted(*groups, "PodGroup", "PodGroups"));
    }
    if *workloads > 0 {
        deleted.push(counted(*workloads, "Workload", "Workloads"));
    }
    if !deleted.is_empty() {
        say("delete", Tone::Notice, deleted.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_names_are_abbreviated_to_both_ends() {
        let names = [
            "gpu-0",
            "gpu-1",
            "gpu-2",
            "gpu-3",
            "gpu-5",
            "gpu-6",
            "nic",
            "gpu-7",
            "gpu-08",
            "gpu-9",
            "10",
            "11",
            "12",
            "a-18446744073709551615",
        ];
        let told = folded(names, Page::terminal(Some(80), true));
        let expected = [
            "gpu-0…3",
            "gpu-5",
            "gpu-6",
            "nic",
            "gpu-7",
            "gpu-08",
            "gpu-9",
            "10…12",
            "a-18446744073709551615",
        ];
        assert_eq!(told, expected);
        assert_eq!(
            folded(["a0", "a1", "a2"], Page::terminal(Some(80), false)),
            ["a0..2"]
        );
    }

    #[test]
    fn equal_pools_are_printed_together() {
        let devices_of = |pool: &'static str, count: usize| {
            let names = ["gpu-0", "gpu-1", "gpu-2"];
            names.into_iter().take(count).map(move |name| (pool, name))
        };
        let page = Page::terminal(Some(80), true);
        let all = devices_of("n1", 3)
            .chain(devices_of("n2", 3))
            .chain(devices_of("n3", 3))
            .chain(devices_of("n4", 2))
            .chain(devices_of("n5", 3))
            .chain(devices_of("n6", 2))
            .chain(devices_of("n7", 2));
        assert_eq!(
            devices(all, page),
            "n1…3/gpu-0…2, n5/gpu-0…2, n4/gpu-0,gpu-1 and those of 2 more pools"
        );
        let by_name = ["n1", "n10", "n11", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"];
        assert_eq!(devices(by_name.map(|pool| (pool, "gpu-0")), page), "n1…11/gpu-0");
        assert_eq!(devices([], page), "");
    }
}
