//! Reading on one thread, decoding on others, and putting the results together in order.
//!
//! Cutting text into objects is several times faster than decoding them, so one thread reads and as many as wanted
//! decode. Results come back in the order of the text, whichever thread was faster: the same input gives the same cluster.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, ScopedJoinHandle};

use super::batch::{Found, ItemBatch};
use super::error::ReadError;
use super::options::{ReadOptions, Source};
use super::read::{Summary, read};

/// Enough text for a thread to be busy for some tenths of a millisecond, and little enough to stay in the cache.
const BATCH_BYTES: usize = 256 << 10;

/// A batch on its way to a worker, and the way of its result.
type Job<T> = (ItemBatch, SyncSender<T>);

/// Reads `sources`, has `workers` threads turn batches of objects into results with `decode`, and hands those to
/// `collect` in the order of the text.
///
/// About three batches for each worker exist at a time. When `collect` fails, reading stops. An error in reading is
/// returned after everything read before it was collected.
pub fn read_parallel<T, E, D, C>(
    sources: &[Source],
    options: &ReadOptions,
    workers: NonZeroUsize,
    decode: D,
    collect: C,
) -> Result<Summary, E>
where
    T: Send,
    E: From<ReadError>,
    D: Fn(&mut ItemBatch) -> T + Sync,
    C: FnMut(T) -> Result<(), E>,
{
    // Each batch gets a channel of its own for its result. These stand in the order of the text.
    let (line_up, results) = sync_channel(workers.get() * 3);
    let (jobs, inbox) = channel();
    let inbox = Mutex::new(inbox);
    // Batches that are decoded go back to the reader, so that their memory stays in the cache.
    let (give_back, empty) = channel();
    thread::scope(|scope| {
        let reader = scope.spawn(move || read_batches(sources, options, &line_up, &jobs, &empty));
        let start_worker = |_| scope.spawn(|| work(&inbox, &give_back, &decode));
        let workers: Vec<_> = (0..workers.get()).map(start_worker).collect();
        let collected = collect_in_order(results, collect);
        // Workers and reader stop automatically when the other side of their channel is gone.
        let outcome = joined(reader);
        workers.into_iter().for_each(joined);
        collected?;
        match outcome {
            Ok(summary) => Ok(summary),
            Err(Some(error)) => Err(error.into()),
            // Only a `collect` that failed, or a worker that panicked, ends the reader like this.
            Err(None) => Ok(Summary::default()),
        }
    })
}

/// Returns what a thread returned, or its panic as if it had happened here.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Reads until there is nothing more, or nothing that takes it: then there is no error either.
fn read_batches<T>(
    sources: &[Source],
    options: &ReadOptions,
    line_up: &SyncSender<Receiver<T>>,
    jobs: &Sender<Job<T>>,
    empty: &Receiver<ItemBatch>,
) -> Result<Summary, Option<ReadError>> {
    let mut batch = ItemBatch::default();
    let send = |mut batch: ItemBatch| {
        let read = options
            .bytes_read
            .as_ref()
            .map(|read| read.load(Ordering::Relaxed));
        batch.read = read.unwrap_or_default();
        let (result, place) = sync_channel(1);
        line_up.send(place).map_err(|_| None)?;
        jobs.send((batch, result)).map_err(|_| None)
    };
    let outcome = read(sources, options, |found: Found<'_>| {
        batch.push(found);
        if batch.bytes() >= BATCH_BYTES || batch.len() >= BATCH_BYTES / 256 {
            let next = empty.try_recv().unwrap_or_default();
            return send(std::mem::replace(&mut batch, next));
        }
        Ok(())
    });
    if !batch.is_empty() {
        send(batch)?;
    }
    outcome
}

fn work<T>(
    inbox: &Mutex<Receiver<Job<T>>>,
    give_back: &Sender<ItemBatch>,
    decode: impl Fn(&mut ItemBatch) -> T,
) {
    loop {
        // The lock is held while waiting: its holder takes the next batch, the others wait for the lock.
        let Ok(Ok((mut batch, result))) = inbox.lock().map(|inbox| inbox.recv()) else {
            return;
        };
        if result.send(decode(&mut batch)).is_err() {
            return;
        }
        batch.clear();
        // The reader may be done.
        let _ = give_back.send(batch);
    }
}

fn collect_in_order<T, E>(
    results: Receiver<Receiver<T>>,
    mut collect: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    for result in results {
        // Only a worker that panicked has none.
        let Ok(result) = result.recv() else { break };
        collect(result)?;
    }
    Ok(())
}
