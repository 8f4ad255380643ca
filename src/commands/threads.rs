//! Ways to run the core's work on the processors there are.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dra_reports::script::{carried, carrying};
use dra_rules::scheduling::in_order;

/// The stack of a thread that computes. Texts and values from outside are read, checked, evaluated and let go of by recursion whose
/// depth is bounded, at some thousand levels; only what is used of a stack takes memory.
pub(crate) const STACK: usize = 64 << 20;

/// Below this many nodes threads cost more than they save.
const FEW: usize = 64;

/// Runs `work` for each node on as many threads as there are processors, if there are enough of them.
pub(super) fn each_node(count: usize, work: &(dyn Fn(usize) + Sync)) {
    if count < FEW {
        in_order(count, work);
    } else {
        on_all(count, work);
    }
}

/// Runs `work` for each number on as many threads as there are processors.
pub(super) fn on_all(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    if cores == 1 {
        return in_order(count, work);
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
    let flags = carried();
    std::thread::scope(|scope| {
        for _ in 1..cores {
            let flags = Arc::clone(&flags);
            // Without a further thread the others do its work.
            let _ = std::thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, move || carrying(flags, run));
        }
        run();
    });
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use dra_reports::script::{Carried, Command};

    use super::*;

    #[test]
    fn commands_of_all_threads_carry_the_flags_of_the_thread_that_wants_them() {
        let threads = ["a", "b", "c"].map(|context| {
            std::thread::spawn(move || {
                let flags = Carried {
                    connection: vec![format!("--context={context}")],
                    ..Carried::default()
                };
                let lines = Mutex::new(Vec::new());
                carrying(Arc::new(flags), || {
                    on_all(1_000, &|_| {
                        let line = Command::dra("check").done().expect("no names").to_string();
                        lines.lock().expect("no panic").push(line);
                    });
                });
                let lines = lines.into_inner().expect("no panic");
                assert_eq!(
                    lines,
                    vec![format!("kubectl dra check --context={context}"); 1_000]
                );
                // Afterwards the thread has no flags.
                assert_eq!(*carried(), Carried::default());
            })
        });
        for thread in threads {
            thread.join().expect("no panic");
        }
    }
}
