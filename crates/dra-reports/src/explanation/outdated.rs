//! Devices that only slices of an older generation have, which the scheduler ignores.

use std::collections::BTreeSet;

use super::absence::selects;
use super::diagnosis::{Beside, Cause, Diagnosis, Outdated};
use super::groups;
use dra_allocator::devices::ClassSelectors;
use dra_model::{DeviceRequest, Pool, Str};
use dra_rules::scheduling::Cycle;

/// Names the outdated slice that has devices for the request that has too few.
pub(super) fn add(report: &mut Diagnosis, cycle: &Cycle<'_>, selectors: &ClassSelectors) {
    let is_short = matches!(report.cause, Some(Cause::TooFew(..) | Cause::Absent(_)));
    if let Some(found) = outdated(report, cycle, selectors).filter(|_| is_short) {
        report.add_beside(Beside::Outdated(found));
    }
}

fn outdated(report: &Diagnosis, cycle: &Cycle<'_>, selectors: &ClassSelectors) -> Option<Outdated> {
    let short = report.short().next()?;
    let spec = groups::spec_of(cycle, &short.claim, &short.request)?;
    let pools = cycle.scheduler().cluster().pools();
    let mut outdated = pools.filter(|pool| !pool.outdated.is_empty());
    outdated.find_map(|pool| of_pool(&pool, selectors, spec))
}

fn of_pool(pool: &Pool<'_>, selectors: &ClassSelectors, spec: &DeviceRequest) -> Option<Outdated> {
    let current: BTreeSet<&Str> = pool.devices().map(|(_, device)| &device.name).collect();
    let older = Pool {
        slices: pool.outdated.clone(),
        ..pool.clone()
    };
    let mut found: Option<Outdated> = None;
    for (slice, device, selectable) in selectors.devices(&older) {
        if current.contains(&device.name) || !selects(selectors, spec, &selectable) {
            continue;
        }
        found
            .get_or_insert_with(|| Outdated {
                slice: slice.metadata.name.clone(),
                generation: slice.spec.pool.generation,
                current: pool.generation,
                devices: 0,
            })
            .devices += 1;
    }
    found
}
