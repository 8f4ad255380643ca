//! Reading on one thread, decoding on others, and putting the results together in order.
//!
//! Cutting text into objects is several times faster than decoding them, so one thread reads and as many as wanted
//! decode. Results come back in the order of the text, whichever thread was faster: the same input gives the same cluster.

use std::collections::BTreeMap;
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

/// Reads `sources`, has `workers` threads turn batches of objects into results with `decode`, and hands those to
/// `collect` in the order of the text.
///
/// At most three batches for each worker exist at a time. When `collect` fails, reading stops. An error in reading is
/// returned after everything read before it was collected.
pub fn read_parallel<T, E, D, C>(
    sources: &[Source],
    options: &ReadOptions,
    workers: NonZeroUsize,
    decode: D,
    mut collect: C,
) -> Result<Summary, E>
where
    T: Send,
    E: From<ReadError> + Send,
    D: Fn(&ItemBatch) -> T + Sync,
    C: FnMut(T) -> Result<(), E>,
{
    let batches = workers.get() * 3;
    // Empty batches go round: from here to the reader, to a worker, and back when their result has been collected.
    let (give_back, empty) = channel();
    for _ in 0..batches {
        // Both ends are here.
        let _ = give_back.send(ItemBatch::default());
    }
    let (read_batch, full) = sync_channel::<(u64, ItemBatch)>(batches);
    let (decoded, results) = sync_channel::<(u64, ItemBatch, T)>(batches);
    let full = Mutex::new(full);
    thread::scope(|scope| {
        let reader = scope.spawn(move || read_batches(sources, options, empty, read_batch));
        let start_worker = |decoded: SyncSender<_>| {
            let (full, decode) = (&full, &decode);
            scope.spawn(move || work(full, &decoded, decode))
        };
        let workers: Vec<_> = (0..workers.get())
            .map(|_| start_worker(decoded.clone()))
            .collect();
        drop(decoded);
        let collected = collect_in_order(results, give_back, &mut collect);
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
fn read_batches(
    sources: &[Source],
    options: &ReadOptions,
    empty: Receiver<ItemBatch>,
    full: SyncSender<(u64, ItemBatch)>,
) -> Result<Summary, Option<ReadError>> {
    let mut number = 0;
    let mut batch: Option<ItemBatch> = None;
    let mut send = |mut batch: ItemBatch| {
        number += 1;
        let read = options
            .bytes_read
            .as_ref()
            .map(|read| read.load(Ordering::Relaxed));
        batch.read = read.unwrap_or_default();
        full.send((number - 1, batch)).map_err(|_| None)
    };
    let outcome = read(sources, options, |found: Found<'_>| {
        let mut current = match batch.take() {
            Some(batch) => batch,
            None => empty.recv().map_err(|_| None)?,
        };
        current.push(found);
        if current.bytes() >= BATCH_BYTES || current.len() >= BATCH_BYTES / 256 {
            return send(current);
        }
        batch = Some(current);
        Ok(())
    });
    if let Some(batch) = batch {
        send(batch)?;
    }
    outcome
}

fn work<T>(
    full: &Mutex<Receiver<(u64, ItemBatch)>>,
    decoded: &SyncSender<(u64, ItemBatch, T)>,
    decode: impl Fn(&ItemBatch) -> T,
) {
    loop {
        // The lock is held while waiting: its holder takes the next batch, the others wait for the lock.
        let Ok(next) = full.lock().map(|full| full.recv()) else {
            return;
        };
        let Ok((number, batch)) = next else { return };
        let result = decode(&batch);
        if decoded.send((number, batch, result)).is_err() {
            return;
        }
    }
}

fn collect_in_order<T, E>(
    results: Receiver<(u64, ItemBatch, T)>,
    give_back: Sender<ItemBatch>,
    collect: &mut impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    for (number, batch, result) in results {
        waiting.insert(number, (batch, result));
        while let Some((mut batch, result)) = waiting.remove(&next) {
            next += 1;
            collect(result)?;
            batch.clear();
            // The reader may be done.
            let _ = give_back.send(batch);
        }
    }
    Ok(())
}
