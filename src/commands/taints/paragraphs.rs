//! Terminal output of taints: a paragraph for each, with evicted pods and times.

use super::{previewed, source, tone};
use crate::commands::shown;
use crate::output::{Doc, Page, Tone, age, counted, span, when};
use dra_model::{NO_EFFECT, Time};
use dra_reports::{TaintItem, TaintList, Tolerated, Tolerates};

/// Indentation of a paragraph's sentences, and of their continuation.
const INDENT: &str = "    ";
const HANGING: usize = 6;

/// The taints of `list`.
pub(super) fn of(list: &TaintList, page: Page) -> Doc {
    let mut doc = Doc::new();
    for (number, item) in list.items.iter().enumerate() {
        if number > 0 {
            doc.gap();
        }
        paragraph(&mut doc, item, list.now, page);
    }
    let longest = list
        .items
        .iter()
        .filter_map(|item| Some(item.pods.as_ref()?.len()));
    let longest = longest.max().unwrap_or(0);
    if page.told(NAMED, longest) < longest {
        doc.gap().more();
    }
    doc
}

/// Number of pods of a taint to name.
const NAMED: usize = 20;

/// The names, and how many more there are.
fn named(names: impl IntoIterator<Item = impl std::fmt::Display>, page: Page) -> String {
    let names: Vec<_> = names.into_iter().collect();
    shown::first(&names, page.told(NAMED, names.len()))
}

fn paragraph(doc: &mut Doc, item: &TaintItem, now: Time, page: Page) {
    let tone = tone(item);
    let value = if item.value.is_empty() {
        String::new()
    } else {
        format!("={}", item.value)
    };
    doc.line(
        2,
        [
            span(tone, format!("{} {}", page.sign(tone), source(item))),
            span(
                Tone::Plain,
                format!(
                    " taints {} with {}{value}:{} since {}",
                    counted(item.devices.len(), "device", "devices"),
                    item.key,
                    item.effect,
                    age(now, item.time_added),
                ),
            ),
        ],
    );
    let mut say = |tone: Tone, text: String| {
        doc.line(HANGING, [span(Tone::Plain, INDENT), span(tone, text)]);
    };
    if !item.devices.is_empty() {
        let ids = item.devices.iter();
        let devices = shown::devices(ids.map(|id| (id.pool.as_str(), id.device.as_str())), page);
        say(Tone::Plain, format!("devices: {devices}"));
    }
    match &item.pods {
        Some(pods) => of_pods(item, pods, now, page, &mut say),
        None => say(Tone::Notice, "affected pods are unknown".to_owned()),
    }
    let claims = item.claims.iter().filter(|claim| claim.lacks_effect);
    let claims: Vec<&Tolerated> = claims.collect();
    if !claims.is_empty() {
        let names = named(claims.iter().map(|claim| claim.object.to_string()), page);
        say(
            Tone::Notice,
            format!(
                "tolerated without effect NoExecute, which does not stop the eviction, by claims {names}"
            ),
        );
    }
    match &item.preview {
        Some(preview) if preview.pods > 0 => {
            let text = format!("with NoExecute it would evict {}", previewed(preview));
            say(Tone::Notice, text);
        }
        Some(_) => say(
            Tone::Plain,
            "with NoExecute it would not evict any pod".to_owned(),
        ),
        None if item.rule.is_some() && item.effect == NO_EFFECT => say(
            Tone::Notice,
            "the number of pods it would evict with NoExecute is unknown".to_owned(),
        ),
        None => {}
    }
}

/// One sentence for the pods that go, one for those that may stay, and one for the rest.
fn of_pods(item: &TaintItem, pods: &[Tolerated], now: Time, page: Page, say: &mut impl FnMut(Tone, String)) {
    let pods_of = |number: usize| counted(number, "pod", "pods");
    let mut going: Vec<(&Tolerated, Time)> = pods.iter().filter_map(|pod| Some((pod, pod.due?))).collect();
    going.sort_by_key(|(_, due)| *due);
    if !going.is_empty() {
        let names = going
            .iter()
            .map(|(pod, due)| format!("{} {}", pod.object, due_in(*due, now)));
        say(
            Tone::Bad,
            format!("evicts {}: {}", pods_of(going.len()), named(names, page)),
        );
    }
    let staying: Vec<&Tolerated> = pods.iter().filter(|pod| pod.due.is_none()).collect();
    let (tolerating, others): (Vec<&Tolerated>, Vec<&Tolerated>) = staying
        .into_iter()
        .partition(|pod| pod.tolerated != Tolerates::No);
    if !tolerating.is_empty() {
        let names = tolerating.iter().map(|pod| match (pod.tolerated, pod.until) {
            (Tolerates::Until, Some(until)) => format!("{} until {until}", pod.object),
            (Tolerates::Until, None) => format!("{} for a time", pod.object),
            _ => pod.object.to_string(),
        });
        say(
            Tone::Good,
            format!(
                "tolerated by {}: {}",
                pods_of(tolerating.len()),
                named(names, page)
            ),
        );
    }
    if !others.is_empty() {
        let names = others.iter().map(|pod| &pod.object);
        let but = when(item.effect == "NoSchedule", ", which it does not evict");
        say(
            Tone::Plain,
            format!("used by {}{but}: {}", pods_of(others.len()), named(names, page)),
        );
    }
    if pods.is_empty() && !item.devices.is_empty() {
        let held = match item.claims.len() {
            0 => "no pod and no claim uses them".to_owned(),
            claims => {
                let names = item.claims.iter().map(|claim| &claim.object);
                let held = counted(claims, "claim holds", "claims hold");
                format!("no pod uses them, but {held} them: {}", named(names, page))
            }
        };
        say(Tone::Plain, held);
    }
}

/// `now`, `in 59m`.
fn due_in(due: Time, now: Time) -> String {
    if due <= now {
        "now".to_owned()
    } else {
        format!("in {}", age(due, Some(now)))
    }
}
