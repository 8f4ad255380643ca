//! What benchmarks of rules share: objects as text, and how long something takes beside decoding them.
//!
//! A shared machine is slow at times, so everything is given as a ratio to a baseline of the same run: decoding the same objects from
//! JSON and indexing them. Processor time is what the goals are about; what others do on the machine hardly changes it.

use std::time::{Duration, Instant};

use dra_model::{Cluster, ClusterBuilder, Environment, Kind, Object};
use serde_json::Value;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Objects of a cluster, as text.
#[derive(Default)]
pub(crate) struct Objects(Vec<(Kind, String)>);

impl Objects {
    /// Adds an object.
    pub(crate) fn add(&mut self, kind: Kind, object: &Value) {
        self.0.push((kind, object.to_string()));
    }

    /// The same in the order in which servers list them: by kind, namespace and name.
    pub(crate) fn in_order_of_lists(mut self) -> Self {
        let key = |(kind, json): &(Kind, String)| {
            let object = Object::from_json(*kind, json.as_bytes()).expect("an object");
            (*kind as usize, object.metadata().key())
        };
        self.0.sort_by_cached_key(key);
        self
    }

    /// The cluster of these objects.
    pub(crate) fn load(&self, environment: Environment) -> Cluster {
        let mut builder = ClusterBuilder::default();
        for (kind, json) in &self.0 {
            builder.add(Object::from_json(*kind, json.as_bytes()).expect("an object"));
        }
        builder.build(environment).0
    }
}

/// The least wall and processor time of some runs, and what the last of them returned.
pub(crate) fn least<T>(runs: usize, mut work: impl FnMut() -> T) -> (Duration, Duration, T) {
    let mut best = (Duration::MAX, Duration::MAX);
    let mut last = None;
    for _ in 0..runs {
        let (wall, cpu) = (Instant::now(), processor_time());
        last = Some(work());
        best.0 = best.0.min(wall.elapsed());
        best.1 = best.1.min(processor_time().saturating_sub(cpu));
    }
    (best.0, best.1, last.expect("at least one run"))
}

/// Prints the head of the table.
pub(crate) fn head() {
    println!("| What | Found | Wall | CPU | CPU, to decoding |\n|---|---:|---:|---:|---:|");
}

/// Prints a line of the table. `decoding` is the processor time of the baseline.
pub(crate) fn row(what: &str, found: usize, (wall, cpu): (Duration, Duration), decoding: Duration) {
    println!(
        "| {what} | {found} | {:.2} s | {:.2} s | {:.2} |",
        wall.as_secs_f64(),
        cpu.as_secs_f64(),
        cpu.as_secs_f64() / decoding.as_secs_f64()
    );
}

/// Processor time of this process so far, in user mode, in hundredths of a second; zero where `/proc` does not tell.
fn processor_time() -> Duration {
    let ticks = || -> Option<u64> {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        // Behind the name of the program, which may have any character in it.
        text.rsplit_once(") ")?.1.split(' ').nth(11)?.parse().ok()
    };
    Duration::from_millis(ticks().unwrap_or(0) * 10)
}
