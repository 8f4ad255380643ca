//! What the commands that ask the scheduler's rules have in common: manifests, threads, limits.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::allocator::Limits;
use crate::context::Ctx;
use crate::model::{Change, Claim, Cluster, Object};
use crate::scheduling::with_defaults;
use crate::sources::manifests;

/// Below this many nodes threads cost more than they save.
const FEW: usize = 64;

/// Runs `work` for each number on as many threads as there are processors.
pub(super) fn on_threads(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    if count < FEW || cores == 1 {
        return (0..count).for_each(work);
    }
    let next = AtomicUsize::new(0);
    let run = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            if place >= count {
                return;
            }
            work(place);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..cores {
            scope.spawn(run);
        }
        run();
    });
}

/// The limits of one attempt.
pub(super) fn limits(steps: Option<u64>) -> Limits {
    steps.map_or_else(Limits::default, Limits::steps)
}

/// Puts the objects of the manifests `files` into `cluster`, and returns them as they are then.
pub(super) fn add_manifests(
    ctx: &Ctx,
    cluster: &mut Cluster,
    files: &[String],
) -> anyhow::Result<Vec<Object>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let namespace = match &ctx.settings().scope {
        crate::context::Scope::Namespace(namespace) => namespace.clone(),
        _ => ctx.current_namespace(),
    };
    let found = manifests(files, &namespace)?;
    for warning in found.warnings {
        ctx.warn(warning);
    }
    let mut objects = Vec::with_capacity(found.objects.len());
    for object in found.objects {
        let object = match object {
            Object::ResourceClaim(claim) => {
                let mut claim = Claim::clone(&claim);
                with_defaults(&mut claim);
                Object::ResourceClaim(claim.into())
            }
            object => object,
        };
        cluster.apply(Change::Put(object.clone()));
        objects.push(object);
    }
    Ok(objects)
}
