//! Which device a relaxed selector lets a request have, and how it differs from those that were asked for.

use std::cell::LazyCell;

use dra_allocator::devices::{ClassSelectors, slice_device};
use dra_cel::DeviceInput;
use dra_model::{Cluster, Device, DeviceId, DeviceRequest, Key, Str, lookup};
use dra_rules::scheduling::{Fix, Found};

use super::absence::selects;
use super::items::GetsItem;
use super::words::fixes as words;

/// Devices among which is looked for one that was asked for.
const MOST_LOOKED_AT: usize = 2_000;

/// What the requests get whose selectors `found` relaxes.
pub(super) fn of(cluster: &Cluster, found: &Found) -> Vec<GetsItem> {
    let selectors = LazyCell::new(|| ClassSelectors::of(cluster));
    let gets = found.changes.iter().filter_map(|fix| match fix {
        Fix::DropTerm {
            claim, request, term, ..
        } => gets(cluster, &selectors, found, (claim, request), term),
        _ => None,
    });
    gets.collect()
}

/// Returns whether an earlier alternative of a request gets a device by a relaxed selector that a later one requests: no more than that one would.
pub(super) fn is_of_later(cluster: &Cluster, found: &Found) -> bool {
    let selectors = LazyCell::new(|| ClassSelectors::of(cluster));
    let is_later = |claim: &Key, request: &Str| {
        let granted = found.granted.iter().find(|granted| granted.claim == *claim)?;
        let mut results = granted.allocation.devices.results.iter();
        let id = results.find(|result| result.request == *request)?.id();
        let (whole, name) = request.split_once('/')?;
        let mut requests = cluster.claim(claim)?.spec.devices.requests.iter();
        let alternatives = &requests.find(|request| request.name == whole)?.first_available;
        let mut later = alternatives.iter().skip_while(|spec| spec.name != name).skip(1);
        let pool = cluster.pool(&id.pool_id())?;
        let mut devices = selectors.devices(&pool);
        let (_, _, selectable) = devices.find(|(_, device, _)| device.name == id.device)?;
        Some(later.any(|spec| selects(&selectors, spec, &selectable)))
    };
    found.changes.iter().any(|fix| match fix {
        Fix::DropTerm { claim, request, .. } => is_later(claim, request) == Some(true),
        _ => false,
    })
}

fn gets(
    cluster: &Cluster,
    selectors: &ClassSelectors,
    found: &Found,
    (claim, request): (&Key, &Str),
    term: &str,
) -> Option<GetsItem> {
    let granted = found.granted.iter().find(|granted| granted.claim == *claim)?;
    let results = granted.allocation.devices.results.iter();
    let mut devices = results.filter(|result| result.request == *request);
    let first = devices.next()?.id();
    let (device, driver) = published(cluster, &first)?;
    let mut differs = seen(selectors, term, &driver, device);
    let spec = cluster.claim(claim)?.asked_for(request)?;
    if let Some(asked) = asked_for(cluster, selectors, spec, &first) {
        for (name, capacity) in &device.capacity {
            if let Some(other) = lookup(&asked.capacity, name).filter(|other| other.value != capacity.value) {
                let name = name.rsplit('/').next().unwrap_or(name);
                differs.push(words::differs(name, &capacity.value, &other.value));
            }
        }
    }
    Some(GetsItem {
        claim: claim.to_string(),
        request: request.clone(),
        device: first.to_string(),
        more: devices.count(),
        differs,
    })
}

fn published<'c>(cluster: &'c Cluster, id: &DeviceId) -> Option<(&'c Device, Str)> {
    let pool = cluster.pool(&id.pool_id())?;
    let (slice, device) = pool.device(&id.device)?;
    Some((device, slice.spec.driver.clone()))
}

/// The values that the term sees of the device.
fn seen(selectors: &ClassSelectors, term: &str, driver: &Str, device: &Device) -> Vec<String> {
    let selector = selectors.selector(&term.into());
    let Ok(program) = selector.program() else {
        return Vec::new();
    };
    let terms = program.explain(&DeviceInput::of(slice_device(driver, device)));
    let seen = terms.iter().flat_map(|term| &term.seen);
    seen.filter_map(|seen| {
        let value = seen.value.as_ref().ok()?;
        Some(words::sees(&seen.name, value))
    })
    .collect()
}

/// A device that class and selectors of the request select as they are, in the pool of `near` if it has one.
fn asked_for<'c>(
    cluster: &'c Cluster,
    selectors: &ClassSelectors,
    spec: &DeviceRequest,
    near: &DeviceId,
) -> Option<&'c Device> {
    let near = near.pool_id();
    let first = cluster.pool(&near).into_iter();
    let others = cluster.pools().filter(|pool| pool.id != near);
    let mut looked_at = 0;
    for pool in first.chain(others) {
        for (_, device, selectable) in selectors.devices(&pool) {
            looked_at += 1;
            if looked_at > MOST_LOOKED_AT {
                return None;
            }
            if selects(selectors, spec, &selectable) {
                return Some(device);
            }
        }
    }
    None
}
